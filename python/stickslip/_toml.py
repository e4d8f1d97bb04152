"""Python values as TOML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, ScenarioError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DEEPEST = 40


def is_text(value: object) -> bool:
    """A str without lone surrogates, which nothing outside of Python can read."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def is_number(value: object) -> TypeGuard[float]:
    """A real number, of Python or of NumPy, that a double holds. True and False are none."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**1023
    return isinstance(value, (float, np.integer, np.floating))


def text(value: str) -> str:
    out = []
    for c in value:
        if c in '"\\':
            out.append("\\" + c)
        elif ord(c) < 32 or ord(c) == 127:
            out.append(f"\\u{ord(c):04X}")
        elif 0xD800 <= ord(c) <= 0xDFFF:
            raise ScenarioError(f"the text {value!r} is not valid Unicode", help="remove the lone surrogate")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def key(name: object) -> str:
    if not isinstance(name, str):
        raise ScenarioError(f"a key of a scenario is a text, found {name!r}", help="write names as str")
    return name if _BARE.fullmatch(name) else text(name)


def copied(item: Any, depth: int = 0) -> Any:
    """What a value is now, whatever becomes of it: plain dicts and lists. What is no value of a scenario is left for `value` to refuse."""
    if depth > _DEEPEST:
        raise ScenarioError("the scenario is nested too deeply", help="does it contain itself?")
    if isinstance(item, np.ndarray):
        return plain(item)
    if isinstance(item, Mapping):
        return {k: copied(v, depth + 1) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [copied(v, depth + 1) for v in item]
    return item


def reals(values: Any) -> NDArray[np.float64]:
    """Numbers as an array of doubles; a `ValueError` or `TypeError` where that would leave out what is complex or masked."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError("masked")
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(array.dtype.name)
    return array.astype(np.float64)


def plain(array: NDArray[Any]) -> Any:
    """An array as lists; one that leaves values open is no array of numbers."""
    if isinstance(array, np.ma.MaskedArray) and np.any(array.mask):
        raise ArgumentError(f"expected numbers, found a masked array in which {np.sum(array.mask)} are masked: fill or leave out these")
    return array.tolist()


def value(item: Any, depth: int = 0) -> str:
    """A value on one line."""
    if depth > _DEEPEST:
        raise ScenarioError("the scenario is nested too deeply", help="does it contain itself?")
    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    if isinstance(item, str):
        return text(item)
    if isinstance(item, (int, np.integer)):
        # Beyond 64 bits TOML has no whole numbers.
        return str(int(item)) if -(2**63) <= item < 2**63 else number(_float(item))
    if isinstance(item, (float, np.floating)):
        return number(float(item))
    if isinstance(item, np.ndarray):
        return value(plain(item), depth)
    if isinstance(item, Mapping):
        inside = ", ".join(f"{key(k)} = {value(v, depth + 1)}" for k, v in item.items() if v is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(item, (list, tuple, range)):
        return "[" + ", ".join(value(v, depth + 1) for v in item) + "]"
    raise ScenarioError(
        f"{item!r} of type {type(item).__name__} is no value of a scenario",
        help="numbers, texts, booleans, lists and dicts are",
    )


def _float(item: Any) -> float:
    try:
        return float(item)
    except OverflowError:
        raise ScenarioError("the number is too large", help="write it as a float") from None


def number(x: float) -> str:
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return repr(x)


def document(tree: Mapping[str, Any], path: str = "", depth: int = 0) -> str:
    """A dict as the text of a scenario file: plain values, then tables under headings."""
    if depth > _DEEPEST:
        raise ScenarioError("the scenario is nested too deeply", help="does it contain itself?")
    lines = [f"{key(k)} = {value(v)}" for k, v in tree.items() if v is not None and not isinstance(v, Mapping)]
    parts = ["\n".join(lines)] if lines else []
    for k, v in tree.items():
        if isinstance(v, Mapping):
            name = f"{path}{key(k)}"
            inside = document(v, f"{name}.", depth + 1)
            plain = not v or any(not isinstance(item, Mapping) for item in v.values())
            parts.append((f"[{name}]\n" if plain else "") + inside)
    return "\n\n".join(part for part in parts if part)
