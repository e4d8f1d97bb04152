"""Runs and studies: one call each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _native, _toml
from ._progress import Progress
from ._toml import is_number
from .errors import ArgumentError, Error, Interrupted, MissingError, RunError
from .result import Comparison, Contacts, Cycles, Experiment, Map, Result, Table
from .scenario import Given, Scenario, _changes, _source

if TYPE_CHECKING:
    from ._types import Source

__all__ = ["run", "evaluate", "sweep", "map", "compare", "experiment", "experiments", "analyse", "rewrite", "laws"]

#: Values of a key: a list or array, or a text as the command line takes it: ``"log:1 N:100 N:20"``.
Values: TypeAlias = "Sequence[Any] | NDArray[Any] | str"


def run(
    scenario: Given, *, set: Mapping[str, Any] | None = None, every: int = 1, threads: int | None = None, contacts: bool = False
) -> Result:
    """Runs a scenario to its end.

    >>> import stickslip as ss
    >>> block = {
    ...     "simulation": {"duration": "2 s", "step": "1 ms", "integrator": "implicit-euler"},
    ...     "bodies": {"block": {"kind": "mass", "mass": "2 kg", "velocity": "3 m/s"}},
    ...     "elements": {"floor": {"kind": "friction", "between": ["block", "ground"], "law": "implicit", "kinetic": "10 N"}},
    ... }
    >>> result = ss.run(block)
    >>> round(float(result["block.position"][-1]), 3)  # v²/(2a) = 0.9 m, and the step
    0.899
    >>> ss.run(block, set={"elements.floor.kinetic": "20 N"}).report["final"]["block.velocity"]
    0.0

    Args:
        scenario: A file, a dict, a text or a `Scenario`.
        set: Changes by key, as ``--set`` of the command line.
        every: A row every so many steps; the first and the last are always there.
        threads: For the blocks of a chain or many spheres; anything else needs one.
        contacts: Keep the contacts that the program finds between shapes, as ``contacts`` of the result.

    Raises:
        ScenarioError: The scenario is wrong; with ``line``, ``column`` and ``help``.
        RunError: The run failed; with ``time`` and the ``result`` up to there.
        Interrupted: Ctrl-C; with the ``result`` up to there.
    """
    source = _source(scenario, set)
    every, threads, contacts = _whole(every, "every"), _threads(threads), _yes(contacts, "contacts")
    with Progress("of the run") as progress:
        names, arrays, report, warnings, failure, raised, touching, drawn, outlines = _native.run(source, every, threads, contacts, progress)
    result = Result(names, arrays, report, warnings, None if touching is None else Contacts(*touching), drawn, outlines)
    if raised is not None:
        _interrupted(raised, result)
    if failure is not None:
        raise RunError(failure[0], time=failure[1], result=result)
    return result


def evaluate(scenario: Given, set: Mapping[str, Any] | None = None, measure: str | Sequence[str] = ()) -> Any:
    """Runs a scenario once and gives what is measured: a number, or a list of them.

    A plain function of plain arguments, which processes can hand to each other: for Optuna, SciPy, joblib.

    >>> import stickslip as ss
    >>> block = ss.Scenario(step=1e-3).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0)
    >>> round(ss.evaluate(block, {"elements.floor.kinetic": 20.0}, "final.block.position"), 3)  # v²/(2a), less half a step
    0.099

    Args:
        scenario: A file, a dict, a text or a `Scenario`.
        set: Changes by key.
        measure: A path in the run report (``"final.block.position"``), or several.

    Raises:
        RunError: The run failed; with ``time`` and the ``result`` up to there, as from `run`, which is done for that.
    """
    paths = _texts(measure, "measure")
    if not paths:
        raise ArgumentError("say what to measure: a path in the run report, such as \"final.block.position\"")
    source = _source(scenario, set)
    _, _, columns, _, raised = _native.sweep(source, [], paths, None, 1, None)
    if raised is not None:
        _interrupted(raised, None)
    values = [column[0] if isinstance(column, np.ndarray) else json.loads(column)[0] for column in columns]
    if values[-1] != "ok":
        # A row has one line of text for it. The run itself has when, what there was until then, and what to do.
        run(scenario, set=set)
        raise RunError(str(values[-1]))
    found = [value.item() if isinstance(value, np.generic) else value for value in values[:-1]]
    return found[0] if isinstance(measure, str) else found


def sweep(
    scenario: Given,
    vary: Mapping[str, Values],
    measure: str | Sequence[str],
    *,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    client: Any = None,
    chunk: int | None = None,
) -> Table:
    """Runs a scenario over a grid of values and measures each run.

    >>> import stickslip as ss
    >>> block = ss.Scenario(step=1e-3, duration=2).mass("block", 1.0, velocity=4.0).friction("floor", "block", kinetic=10.0)
    >>> table = ss.sweep(block, {"elements.floor.kinetic": [10.0, 20.0, 40.0]}, "final.block.position")
    >>> table["final.block.position"].round(2)  # v²/(2a), less half a step
    array([0.8, 0.4, 0.2])

    Args:
        scenario: A file, a dict, a text or a `Scenario`.
        vary: Values by key, the last varies fastest: a list, an array, or ``"lin:a:b:n"``, ``"log:a:b:n"``.
        measure: Paths in the run report.
        set: Changes by key for all runs.
        threads: In this process; default: one per core.
        client: A Dask ``Client``: rows go to its workers in chunks. The rows come in order and are the same bytes for any number of workers;
            those of a worker that is lost are done again by another one.
        chunk: Rows a thread of a worker takes at once; default: chosen from the number of rows.
    """
    source, paths, axes = _source(scenario, set), _texts(measure, "measure"), _axes(vary)
    if client is not None:
        from ._cluster import sweep_on

        table = sweep_on(client, source, axes, paths, None if chunk is None else _whole(chunk, "chunk"))
    else:
        with Progress("of the runs") as progress:
            table = _native.sweep(source, axes, paths, None, _threads(threads), progress)
    names = [axis.partition("=")[0] for axis in axes] + paths + ["status"]
    return _table(names, table)


def map(
    scenario: Given,
    x: Mapping[str, Values],
    y: Mapping[str, Values],
    *,
    set: Mapping[str, Any] | None = None,
    trace_boundary: bool = False,
    tolerance: float = 0.02,
    threads: int | None = None,
    client: Any = None,
) -> Map:
    """A stability map over two values: each cell is a run, classified by the scenario's ``[analysis] stick_slip``.

    Args:
        x: One key and its values.
        y: One key and its values.
        trace_boundary: Look for the boundary only, by bisection along y (which then is ``"lin:a:b:n"`` or ``"log:a:b:n"``).
        tolerance: Relative accuracy of the boundary.
        client: A Dask ``Client`` whose workers do the cells of a grid, see `sweep`.
    """
    source, (x_axis,), (y_axis,) = _source(scenario, set), _axes(x, 1), _axes(y, 1)
    trace_boundary = _yes(trace_boundary, "trace_boundary")
    if trace_boundary and not isinstance(next(iter(y.values())), str):
        raise ArgumentError("the boundary is looked for between two ends: write y as \"lin:a:b:n\" or \"log:a:b:n\"")
    if not is_number(tolerance) or not 0 < tolerance < 1:
        raise ArgumentError(f"expected a tolerance between 0 and 1, found {tolerance!r}")
    # What is wrong with the scenario is found here, once, before anything is sent.
    cells, labels = _native.map_plan(source, x_axis, y_axis)
    if client is not None:
        if trace_boundary:
            raise ArgumentError("the boundary is looked for in this process: leave out `client` or `trace_boundary`")
        from ._cluster import map_on

        table = map_on(client, source, x_axis, y_axis, cells)
        points: list[tuple[float, float, float, float, bool]] = []
    else:
        with Progress("of the map") as progress:
            table, points = _native.map(
                source, x_axis, y_axis, float(tolerance) if trace_boundary else None, None, _threads(threads), progress
            )
    return _map(x_axis, y_axis, table, points, labels)


def compare(scenario: Given, element: str, laws: str | Sequence[str], *, set: Mapping[str, Any] | None = None) -> Comparison:
    """The same scenario under several friction laws.

    >>> import stickslip as ss
    >>> block = ss.Scenario(step=1e-3).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0)
    >>> found = ss.compare(block, "floor", ["implicit", "karnopp:epsilon=0.01"])
    >>> [(row["law"], round(row["residual_velocity"], 6)) for row in found.rows]
    [('implicit', 0.0), ('karnopp:epsilon=0.01', 0.01)]
    """
    source = _source(scenario, set)
    if not _toml.is_text(element):
        raise ArgumentError(f"expected the name of an element, found {element!r}")
    with Progress("of the laws") as progress:
        report, curves, labels, raised = _native.compare(source, element, _texts(laws, "laws"), progress)
    names = ("t", "velocity", "force", "slip")
    found = Comparison(json.loads(report), {law: dict(zip(names, columns)) for law, columns in curves}, labels)
    if raised is not None:
        _interrupted(raised, found)
    return found


def experiment(name: str, law: str | Sequence[str], *, set: Mapping[str, Any] | None = None) -> Experiment:
    """A standard experiment on one or several laws, or on ``"all"``.

    >>> import stickslip as ss
    >>> found = ss.experiment("presliding", ["implicit", "lugre"])
    >>> found.laws["implicit"]["loop_20_um"] > 0
    True
    """
    if not _toml.is_text(name):
        raise ArgumentError(f"expected the name of an experiment, found {name!r}")
    with Progress("of the laws") as progress:
        report, axes, curves, raised = _native.experiment(name, _texts(law, "law"), _changes({} if set is None else set), progress)
    found = Experiment(json.loads(report), axes, {law: (x, y) for law, (x, y) in curves})
    if raised is not None:
        _interrupted(raised, found)
    return found


def experiments() -> dict[str, str]:
    """The standard experiments and what each does.

    >>> import stickslip as ss
    >>> sorted(ss.experiments())
    ['frictional-lag', 'no-drift', 'presliding', 'slide-hold-slide', 'stick-slip', 'velocity-step']
    """
    return dict(_native.experiments_known())


def analyse(
    *data: str | os.PathLike[str],
    signal: str | None = None,
    law: str | None = None,
    test: Mapping[str, str | os.PathLike[str]] | None = None,
    record: str | None = None,
    time: str | None = None,
    displacement: str | None = None,
    velocity: str | None = None,
    force: str | None = None,
    normal_force: str | float | None = None,
    unit: Mapping[str, str] | None = None,
    known: Mapping[str, str | float] | None = None,
    evolution: str = "log",
    start: float | None = None,
    until: float | None = None,
    detrend: bool = False,
) -> Cycles:
    """Measured data: stick-slip cycles of a column, or the parameters of a friction law.

    Args:
        data: CSV files with a row of column names.
        signal: The column to look at for stick-slip cycles.
        law: Find the parameters of this law: ``"subloading"``.
        test: Files by the test they hold: ``{"long-hold": "a.csv"}``.
        unit: Units by column: ``{"x": "mm"}``.
        known: Parameters that are known: ``{"eta_exponent": 1}``.
        start, until: Look only at what is between these times, s.
        detrend: Take off a straight line first.
    """
    try:
        paths = [os.fspath(path) for path in data]
        tests = [f"{name}={os.fspath(path)}" for name, path in ({} if test is None else test).items()]
    except (TypeError, AttributeError):
        raise ArgumentError("expected paths of CSV files") from None
    columns = (record, time, displacement, velocity, force)
    for text in (signal, law, *columns, evolution, *paths, *tests):
        if text is not None and not _toml.is_text(text):
            raise ArgumentError(f"expected a name as str, found {text!r}")
    for mapping in (unit, known):
        if mapping is not None and not isinstance(mapping, Mapping):
            raise ArgumentError(f"expected a dict, found {mapping!r}")
    for moment in (start, until):
        if moment is not None and not (is_number(moment) and abs(float(moment)) < 1e300):
            raise ArgumentError(f"expected a time in seconds, found {moment!r}")
    units = [f"{column}={text}" for column, text in (unit or {}).items()]
    given = [f"{key}={value}" for key, value in (known or {}).items()]
    pressed = f"{float(normal_force)!r} N" if is_number(normal_force) and abs(float(normal_force)) < 1e300 else normal_force
    if pressed is not None and not (isinstance(pressed, str) and _toml.is_text(pressed)):
        raise ArgumentError(f"expected a normal force, found {pressed!r}")
    window = (None if start is None else float(start), None if until is None else float(until), _yes(detrend, "detrend"))
    report, values = _native.analyse(paths, signal, law, (tests, units, given), columns, pressed, evolution, window)
    return Cycles(json.loads(report), values, signal)


def rewrite(scenario: Given, emit: str = "text", *, set: Mapping[str, Any] | None = None) -> str:
    """The ordinary differential equation that an ``[inclusion]`` becomes.

    ``emit`` is ``"text"``, ``"latex"``, ``"rust"``, ``"c"`` or ``"python"``.
    """
    if not _toml.is_text(emit):
        raise ArgumentError(f"expected the name of a form, found {emit!r}")
    return _native.rewrite(_source(scenario, set), emit)


def laws(name: str | None = None) -> Any:
    """The friction and contact laws: a list of dicts, or the one of this name.

    >>> import stickslip as ss
    >>> ss.laws("lugre")["integrators"][0]
    'rk4'
    >>> len(ss.laws()) > 10
    True
    """
    rows: list[dict[str, Any]] = json.loads(_native.laws_known())
    if name is None:
        return rows
    found = [row for row in rows if isinstance(name, str) and row["name"] == name]
    if not found:
        known = [row["name"] for row in rows]
        near = _native.nearest(name, known) if _toml.is_text(name) else None
        raise MissingError(f"there is no law {name!r}" + (f"; did you mean {near!r}?" if near else "") + f" ({', '.join(known)})")
    return found[0] if len(found) == 1 else found


# What the calls have in common


def _whole(value: object, name: str, least: int = 1) -> int:
    if isinstance(value, (bool, float)) or not isinstance(value, (int, np.integer)) or not least <= value < 2**63:
        raise ArgumentError(f"expected a whole number of at least {least} for `{name}`, found {value!r}")
    return int(value)


def _yes(value: object, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"expected True or False for `{name}`, found {value!r}")
    return bool(value)


def _threads(threads: object) -> int:
    cores = os.cpu_count() or 1
    return cores if threads is None else min(_whole(threads, "threads"), cores)


def _texts(given: object, name: str) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, (list, tuple)) or not all(_toml.is_text(text) for text in texts):
        raise ArgumentError(f"expected a text or a list of texts for `{name}`, found {given!r}")
    return [text.strip() for text in texts]


def _axes(vary: object, wanted: int | None = None) -> list[str]:
    """Axes as ``--vary`` takes them."""
    if not isinstance(vary, Mapping) or (wanted is not None and len(vary) != wanted):
        raise ArgumentError(f"expected a dict of keys and values, found {vary!r}")
    axes = []
    for key, values in vary.items():
        if not _toml.is_text(key) or "=" in key:
            raise ArgumentError(f"expected a key such as \"bodies.block.mass\", found {key!r}")
        if isinstance(values, str) and _toml.is_text(values):
            axes.append(f"{key}={values}")
            continue
        if isinstance(values, np.ndarray):
            values = _toml.plain(values)
        if not isinstance(values, (list, tuple, range)) or not values:
            raise ArgumentError(f"expected a list of values for {key!r}, found {values!r}")
        axes.append(f"{key}=list:{','.join(_item(value) for value in values)}")
    return axes


def _item(value: Any) -> str:
    """One value of a list as the command line takes it: words and numbers with a unit stand without quotes."""
    plain = isinstance(value, str) and _toml.is_text(value) and value.strip() == value and value and not any(c in value for c in ',"[]{}\\\n\r')
    return value if plain else _toml.value(value)


def _column(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    values = json.loads(column)
    if values and all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=bool)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _table(names: Sequence[str], native: tuple[str, str, list[Any], list[str], BaseException | None]) -> Table:
    header, lines, columns, doubts, raised = native
    # A sweep that was stopped before its first row has no columns.
    arrays = [_column(column) for column in columns] or [np.empty(0, dtype=object) for _ in names]
    table = Table(header, lines, dict(zip(names, arrays)), doubts)
    if raised is not None:
        _interrupted(raised, table)
    return table


def _map(x: str, y: str, native: Any, points: Sequence[tuple[float, float, float, float, bool]], labels: Sequence[str]) -> Map:
    names = [axis.partition("=")[0] for axis in (x, y)]
    names += ["amplitude", "period", "stable", "region", "linear_growth"]
    boundary = np.array(points, dtype=[("x", float), ("y", float), ("below", float), ("above", float), ("stable_above", bool)])
    header, lines, columns, doubts, raised = native
    found = Map(_table(names, (header, lines, columns, doubts, None)), boundary, labels)
    if raised is not None:
        _interrupted(raised, found)
    return found


def _interrupted(raised: BaseException, result: Any) -> None:
    """Ctrl-C hands on what there is; what another handler raised goes on as it is."""
    if isinstance(raised, KeyboardInterrupt):
        raise Interrupted("interrupted; `result` of this exception holds what was computed", result=result) from None
    raise raised
