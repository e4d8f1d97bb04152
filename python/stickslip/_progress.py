"""How far long work is: a line on a terminal, a bar in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


def in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    # By its ancestors: hosted notebooks have kinds of their own.
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)


#: Work that is over sooner shows nothing, s.
_PATIENCE = 2.0


class Progress:
    """Shows how far the work is, once it has lasted a while."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._shown = -1
        self._handle: Any = None
        self._notebook = in_notebook()
        self._wanted = self._notebook or bool(getattr(sys.stderr, "isatty", lambda: False)())

    def __enter__(self) -> Callable[[float], None] | None:
        return self._tell if self._wanted else None

    def __exit__(self, *_: object) -> None:
        if self._shown < 0:
            return
        if self._notebook:
            self._handle.update(_Bar("", 1.0))
        else:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _tell(self, part: float) -> None:
        percent = int(100 * min(max(part, 0.0), 1.0))
        if percent == self._shown or time.monotonic() - self._began < _PATIENCE:
            return
        self._shown = percent
        if not self._notebook:
            bar = "#" * (percent * 40 // 100)
            print(f"\r{bar:40} {percent:3} %  {self._what}", end="", file=sys.stderr, flush=True)
            return
        display: Any = sys.modules["IPython"].display.display

        shown = _Bar(self._what, part)
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


class _Bar:
    def __init__(self, what: str, part: float) -> None:
        self._what, self._part = what, part

    def _repr_html_(self) -> str:
        return f"<progress value='{self._part:.3f}' max='1'></progress> {self._what}" if self._what else ""

    def __repr__(self) -> str:
        return f"{self._what} {100 * self._part:.0f} %" if self._what else ""
