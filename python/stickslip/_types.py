"""What goes to and comes from the compiled part, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.integer[Any]]"
Values: TypeAlias = "float | Sequence[float] | Sequence[Sequence[float]] | Floats"
Source: TypeAlias = "tuple[str, str, str | None, list[str]]"
Tell: TypeAlias = "Callable[[float], None] | None"
Table: TypeAlias = "tuple[str, str, list[Floats | str], list[str], BaseException | None]"
Touching: TypeAlias = "tuple[list[str], list[NDArray[np.uintp]], list[Floats]]"
Curves: TypeAlias = "list[tuple[str, list[Floats]]]"
Drawn: TypeAlias = "list[tuple[str, int, str, str]]"
Outlines: TypeAlias = "list[tuple[str, list[float] | None, list[list[list[float]]]]]"
