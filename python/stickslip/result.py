"""What comes back: traces, tables of sweeps, maps, comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._toml import is_text
from .errors import Error, MissingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._types import Outlines

__all__ = ["Result", "Contacts", "Table", "Map", "Comparison", "Experiment", "Cycles"]

Floats = NDArray[np.float64]
Column = NDArray[Any]


def _missing(what: str, name: object, known: Sequence[str]) -> MissingError:
    near = _native.nearest(str(name), list(known)) if is_text(name) else None
    meant = f"; did you mean {near!r}?" if near else ""
    return MissingError(f"there is no {what} {name!r}{meant} ({what}s: {', '.join(known)})")


def _late(name: str) -> Any:
    """A package that is not needed otherwise."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Error(f"this needs {name}\nhelp: pip install {name}") from error


class _Columns(Mapping[str, Column]):
    """Arrays by name."""

    _data: dict[str, Column]

    # That of a mapping would compare arrays, of which numpy does not say whether they are equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._data)

    def __getitem__(self, name: str) -> Column:
        try:
            return self._data[name]
        except (KeyError, TypeError):
            raise _missing("column", name, list(self._data)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def to_pandas(self) -> Any:
        """As a pandas ``DataFrame``."""
        pandas = _late("pandas")
        return pandas.DataFrame(self._data)


class Result(_Columns):
    """A run: its trace as NumPy arrays and its report.

    >>> import stickslip as ss
    >>> block = ss.Scenario(step=1e-2).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0)
    >>> result = ss.run(block)
    >>> result.columns
    ['t', 'block.position', 'block.velocity', 'floor.force', 'floor.mode']
    >>> float(result["block.velocity"][-1])
    0.0
    >>> result["block.speed"]
    Traceback (most recent call last):
        ...
    stickslip.errors.MissingError: there is no column 'block.speed'...
    """

    def __init__(
        self,
        columns: Sequence[str],
        arrays: Sequence[Floats],
        report: str,
        warnings: Sequence[str],
        contacts: Contacts | None = None,
        drawn: Sequence[tuple[str, int, str, str]] = (),
        outlines: Outlines = [],
    ) -> None:
        self._data = dict(zip(columns, arrays))
        self._contacts = contacts
        # By column: the place of its panel, what stands at that, and what the curve is called.
        self._drawn = {name: (place, label, curve) for name, place, label, curve in drawn}
        # Shapes of bodies, for `animate`.
        self._outlines = outlines
        self._text = report
        self._report: dict[str, Any] | None = None
        self.warnings = list(warnings)

    @property
    def t(self) -> Floats:
        """Times of the rows, s."""
        return self._data["t"] if "t" in self._data else np.arange(0.0)

    @property
    def report(self) -> dict[str, Any]:
        """The run report, as ``stickslip run --json`` prints it."""
        if self._report is None:
            self._report = json.loads(self._text)
        return self._report

    @property
    def events(self) -> list[dict[str, Any]]:
        """Changes between stick, slip and open: time, element, from, to."""
        events: list[dict[str, Any]] = self.report["events"]
        return events

    @property
    def contacts(self) -> Contacts:
        """The contacts that the program found between shapes, where they were asked for: ``run(..., contacts=True)``."""
        if self._contacts is None:
            raise Error("the contacts of this run were not recorded\nhelp: run(..., contacts=True) of a scenario with [contacts]")
        return self._contacts

    def to_pandas(self) -> Any:
        """The trace as a pandas ``DataFrame`` with the time as index."""
        frame = super().to_pandas()
        return frame.set_index("t") if "t" in self._data else frame

    def to_xarray(self) -> Any:
        """The trace as an xarray ``Dataset`` over time."""
        xarray = _late("xarray")
        data = {name: ("t", values) for name, values in self._data.items() if name != "t"}
        return xarray.Dataset(data, coords={"t": self.t}, attrs={"title": self.report["title"]})

    def plot(
        self, columns: str | Sequence[str] | None = None, *, x: str = "t", start: float | None = None, until: float | None = None
    ) -> Figure:
        """Draws velocities, forces and positions over time, or the columns that are named.

        ``x`` is the column along the abscissa: ``r.plot("floor.force", x="block.position")`` draws a loop. Only what is between the times
        ``start`` and ``until`` is drawn.
        """
        from ._plot import trace

        names = [columns] if isinstance(columns, str) else columns
        return trace(self, names, x, start, until)

    def animate(self, *, seconds: float = 5.0, frames: int = 100, view: str = "xz") -> Any:
        """Plays the motion in a notebook: bodies along one axis as boxes, coloured by stick and slip; bodies in space with their shapes.

        ``view`` names the axes to the right and up; of what moves in a plane they are ``"xy"``.
        """
        from ._plot import animation

        return animation(self, seconds, frames, view)

    def __repr__(self) -> str:
        rows = len(self.t)
        return f"<Result {self.report['title']!r}: {rows} rows, {len(self._data)} columns, t = 0 ... {self.report['t_end']:g} s>"


#: Columns of contacts, as ``run --contacts`` of the command line writes them.
_CONTACT = [f"{vector}.{axis}" for vector in ("point", "normal", "force", "slip") for axis in "xyz"] + ["gap", "mode"]


class Contacts(_Columns):
    """Contacts of a run: an entry for each contact and recorded step.

    Columns are ``t``, the names ``first`` and ``second``, ``point.x`` to ``.z``, ``normal.x`` (towards the first), ``force.x`` on the first,
    ``slip.x`` (velocity of the first over the second), ``gap`` at the start of the step, and ``mode`` (0 stick, 1 slip, 2 open).
    """

    def __init__(self, names: Sequence[str], pairs: Sequence[NDArray[Any]], numbers: Sequence[Floats]) -> None:
        known = np.array([*names, ""], dtype=object)
        first, second = (known[pair] for pair in pairs)
        self._data = {"t": numbers[0], "first": first, "second": second, **dict(zip(_CONTACT, numbers[1:]))}

    def __repr__(self) -> str:
        return f"<Contacts: {len(self._data['t'])} rows of {', '.join(self._data)}>"


class Table(_Columns):
    """Rows of a sweep: varied keys, measures and status as arrays."""

    def __init__(self, header: str, lines: str, columns: Mapping[str, Column], doubts: Sequence[str] = ()) -> None:
        self._header = header
        self._lines = lines
        self._data = dict(columns)
        #: What runs warn of, each kind once with the number of runs that it concerns.
        self.doubts = list(doubts)

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which runs came to their end."""
        return np.asarray(self._data["status"] == "ok", dtype=bool)

    def to_csv(self) -> str:
        """The rows as the command line writes them, byte for byte."""
        return f"{self._header}\n{self._lines}"

    def to_xarray(self) -> Any:
        """As an xarray ``Dataset`` over rows."""
        xarray = _late("xarray")
        return xarray.Dataset({name: ("row", values) for name, values in self._data.items()})

    def __repr__(self) -> str:
        rows = len(next(iter(self._data.values()), np.arange(0)))
        return f"<{type(self).__name__}: {rows} rows of {', '.join(self._data)}>"


class Map(Table):
    """A stability map: cells with amplitude, period, class; the boundary where it was traced.

    Attributes:
        x_key, y_key: The two keys.
        boundary: One row for each x: x, y, lower and upper end of the bracket, whether cells above are stable.
    """

    def __init__(self, table: Table, boundary: NDArray[Any], labels: Sequence[str]) -> None:
        super().__init__(table._header, table._lines, table._data, table.doubts)
        self.boundary = boundary
        # Title, x, y, amplitude: what the picture says.
        self._labels = list(labels)
        names = [*self._data, "", ""]
        self.x_key, self.y_key = names[0], names[1]

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which cells could be classified."""
        return np.array([value is not None for value in self._data["stable"]], dtype=bool)

    def plot(self) -> Figure:
        """Draws the map in the style of ``stickslip map --plot``."""
        from ._plot import stability

        return stability(self)


class Comparison:
    """The same scenario under several laws.

    Attributes:
        report: What ``stickslip compare --json`` prints.
        rows: One dict a law: integrator, rest, residual velocity, drift, chatter, dissipated energy, cost.
        curves: By law: arrays ``t``, ``velocity``, ``force`` and ``slip`` of the element.
    """

    def __init__(self, report: dict[str, Any], curves: dict[str, dict[str, Floats]], labels: Sequence[str]) -> None:
        self.report = report
        self._labels = list(labels)
        self.rows: list[dict[str, Any]] = report["laws"]
        self.curves = curves

    def to_pandas(self) -> Any:
        """The table as a pandas ``DataFrame`` with the law as index."""
        pandas = _late("pandas")
        rows = [{k: v for k, v in row.items() if k != "chosen"} for row in self.rows]
        return pandas.DataFrame(rows).set_index("law")

    def plot(self) -> Figure:
        """Draws velocity, force and slip under all laws."""
        from ._plot import comparison

        return comparison(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.curves)} in {self.report['element']!r}>"


class Experiment:
    """A standard experiment on laws.

    Attributes:
        report: What ``stickslip experiment --json`` prints.
        laws: By law: a dict of the numbers that were read.
        curves: By law: abscissae and ordinates of the curve.
        axes: Labels of the two axes.
    """

    def __init__(self, report: dict[str, Any], axes: tuple[str, str], curves: dict[str, tuple[Floats, Floats]]) -> None:
        self.report = report
        self.axes = axes
        self.curves = curves
        self.laws: dict[str, dict[str, Any]] = {law["law"]: law["numbers"] for law in report["laws"]}

    def to_pandas(self) -> Any:
        """The numbers as a pandas ``DataFrame`` with the law as index."""
        pandas = _late("pandas")
        return pandas.DataFrame.from_dict(self.laws, orient="index")

    def plot(self) -> Figure:
        """Draws the curves."""
        from ._plot import experiment

        return experiment(self)

    def __repr__(self) -> str:
        return f"<Experiment {self.report['experiment']} on {', '.join(self.laws)}>"


class Cycles:
    """What was found in measured data.

    Attributes:
        report: What ``stickslip analyse --json`` prints.
        t, values: Times and values of the signal, where cycles were looked for.
    """

    def __init__(self, report: dict[str, Any], signal: tuple[Floats, Floats] | None, name: str | None) -> None:
        self.report = report
        self.t: Floats | None = None if signal is None else signal[0]
        self.values: Floats | None = None if signal is None else signal[1]
        self._name = name or ""

    def __getitem__(self, key: str) -> Any:
        inside = self.report.get("stick_slip", self.report)
        if key not in inside:
            raise _missing("entry", key, list(inside))
        return inside[key]

    def plot(self) -> Figure:
        """Draws the signal with its static peaks and kinetic plateaus."""
        from ._plot import cycles

        return cycles(self, self._name)

    def __repr__(self) -> str:
        return f"<Cycles {json.dumps(self.report)[:70]}...>"
