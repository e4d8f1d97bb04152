"""The exceptions of the package."""

from __future__ import annotations

from typing import Any

__all__ = ["Error", "ScenarioError", "RunError", "MissingError", "ArgumentError", "Interrupted"]


class Error(Exception):
    """Something that stickslip cannot do; the text says what and what to try."""


class ScenarioError(Error):
    """The input is wrong: a scenario, a change of one, what to vary or to measure.

    >>> import stickslip as ss
    >>> try:
    ...     ss.run("[simulation]\\nduration = 1\\nstep = -0.1\\nintegrator = 'rk4'\\n[bodies.m]\\nkind = 'mass'\\nmass = 1")
    ... except ss.ScenarioError as error:
    ...     print(error.line, error.column)
    3 8

    Attributes:
        line: Line of the first finding, from 1, or ``None``.
        column: Column there, from 1, or ``None``.
        source: Name of the file or of the argument that the line is in.
        help: What to write instead, or ``None``.
    """

    def __init__(
        self,
        message: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        source: str | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.source = source
        self.help = help

    def __reduce__(self) -> Any:
        return _again, (type(self), str(self), vars(self))


class RunError(Error):
    """A run could not go on: it diverged, its step was too large, or friction and contact could not be solved.

    Attributes:
        time: Time of the last good state in seconds, or ``None``.
        result: What was computed up to there, or ``None``.
        runs: Numbers of the runs of a `Batch` that failed.
    """

    def __init__(self, message: str = "", *, time: float | None = None, result: Any = None) -> None:
        super().__init__(message)
        self.time = time
        self.result = result
        self.runs: list[int] = []

    def __reduce__(self) -> Any:
        return _again, (type(self), str(self), vars(self))


class MissingError(Error, KeyError):
    """A name that does not exist; the text has the nearest one that does. It is a `KeyError` as well."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _AbsentError(Error, AttributeError):
    """A part of the package that needs another one, which is not installed."""


class ArgumentError(Error, TypeError, ValueError):
    """An argument of the wrong type, shape or range. It is a `TypeError` and a `ValueError` as well."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended long work. It is a `KeyboardInterrupt`.

    Attributes:
        result: What was computed up to there.
    """

    def __init__(self, message: str = "interrupted", *, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


def _again(kind: type[Error], message: str, attributes: dict[str, Any]) -> Error:
    """An exception from its parts, for processes that hand it on."""
    error = kind(message)
    vars(error).update(attributes)
    return error
