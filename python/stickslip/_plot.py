"""Pictures in the style of the command line's, drawn with matplotlib, which is imported here only."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ._progress import in_notebook
from ._toml import is_number
from .errors import ArgumentError, Error

try:
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
except ImportError as error:
    raise Error("pictures need matplotlib\nhelp: pip install matplotlib") from error

if TYPE_CHECKING:
    from .result import Comparison, Cycles, Experiment, Map, Result

#: The colours of the figures of the command line (Okabe and Ito 2008), which people see apart who see few colours.
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#808080"]
STYLE: Any = {
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.edgecolor": "#282828",
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "font.family": "sans-serif",
    "font.sans-serif": ["Liberation Sans", "Arial", "Helvetica", "DejaVu Sans"],
    "axes.formatter.use_mathtext": True,
    "font.size": 9.0,
    "lines.linewidth": 1.4,
    "legend.frameon": True,
    "legend.edgecolor": "#cdcdcd",
    "legend.fancybox": False,
    "axes.xmargin": 0.0,
    "figure.dpi": 110,
}
MOST_PANELS, MOST_CURVES = 4, 8
#: Dashes of the curves of a panel, so that they are told apart without colour, too.
DASHES: list[Any] = ["solid", (0, (5, 2)), (0, (5, 1.5, 1.5, 1.5)), (0, (1.5, 1.5)), (0, (9, 2.5)), (0, (6, 1.5, 1.5, 1.5, 1.5, 1.5))]
#: A curve that turns more often fills an area, in which dashes would only look like more motion.
DENSE = 60
#: The part of its range by which a curve must swing back for a turn that is seen, and points that are looked at.
SEEN, MOST_LOOKED_AT = 0.05, 3000
#: More names than this stand above a panel, where they cover nothing.
MOST_INSIDE = 4
STABLE, CREEP, INERTIAL, FAILED = "#c6dbef", ("#fee0c2", "#a63603"), ("#dabce4", "#6a1b86"), "#bebebe"


@contextmanager
def _style() -> Iterator[None]:
    """Our style, and nothing but it: a context of matplotlib would also take back the backend that a notebook has just chosen."""
    before: Any = {key: plt.rcParams[key] for key in STYLE}
    plt.rcParams.update(STYLE)
    try:
        yield
    finally:
        plt.rcParams.update(before)


class _Picture(Figure):
    """A figure that a notebook shows once, also where it is the last value of a cell and would be shown as that, too."""

    def _ipython_display_(self) -> None:
        if "inline" not in plt.get_backend() and not (_shows_nothing() and in_notebook()):
            raise NotImplementedError  # IPython then shows it as any figure
        notebook, picture = import_module("IPython.display"), BytesIO()
        self.savefig(picture, format="png", bbox_inches="tight")
        notebook.display(notebook.Image(picture.getvalue()))
        plt.close(self)


#: The last picture, where none of them can be shown in a window.
_last: Callable[[], Figure | None] = lambda: None


def _shows_nothing() -> bool:
    return plt.get_backend().lower() in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def _figure(rows: int, height: float = 1.7, width: float = 5.6) -> tuple[Figure, list[Axes]]:
    global _last
    with _style():
        figure, axes = plt.subplots(rows, 1, sharex=True, squeeze=False, figsize=(width, height * rows + 0.6), layout="constrained", FigureClass=_Picture)
    if _shows_nothing():
        # pyplot keeps every figure until it is closed, for a window that there is not. It has the last one only, for `pyplot.savefig`.
        before, _last = _last(), weakref.ref(figure)
        if before is not None:
            plt.close(before)
    return figure, list(axes[:, 0])


def _legend(axes: Axes) -> None:
    names = axes.get_legend_handles_labels()[1]
    if names:
        above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.06), "ncols": 4, "frameon": False}
        with _style():
            axes.legend(fontsize=8, **(above if len(names) > MOST_INSIDE else {"loc": "best"}))


def _dashes(number: int, values: Any) -> Any:
    """How a curve is dashed; solid where it turns often, small ripple aside."""
    if len(values) == 0:
        return "solid"
    least = SEEN * float(np.ptp(values))
    turns, rising, extreme = 0, True, float(values[0])
    for value in values[:: max(1, len(values) // MOST_LOOKED_AT)].tolist():
        ahead = value - extreme if rising else extreme - value
        if ahead > 0:
            extreme = value
        elif ahead < -least:
            rising, extreme, turns = not rising, value, turns + 1
    return DASHES[number % len(DASHES)] if turns <= DENSE else "solid"


def trace(result: Result, columns: Sequence[str] | None, x: str, start: float | None, until: float | None) -> Figure:
    for moment in (start, until):
        if moment is not None and not (is_number(moment) and moment == moment):
            raise ArgumentError(f"expected a time in seconds, found {moment!r}")
    within = (result.t >= (-np.inf if start is None else start)) & (result.t <= (np.inf if until is None else until))
    across = result[x][within]
    if not len(across):
        raise Error(f"there is nothing to draw from {start} s until {until} s\nhelp: the run lasts {result.report['t_end']} s")
    if columns is not None:
        if not isinstance(columns, (list, tuple)) or not columns:
            raise ArgumentError(f"expected the names of columns to draw, found {columns!r}")
        for name in columns:
            result[name]  # a name that is missing is said before there is a figure
        labels = {_label(result, name) for name in columns}
        panels = [(labels.pop() if len(labels) == 1 else "", {name: name for name in columns})]
    else:
        panels = _panels(result, x)
    figure, all_axes = _figure(len(panels), 2.6 if len(panels) == 1 else 1.6)
    colours: dict[str, str] = {}
    said: list[list[str]] = []
    for axes, (label, curves) in zip(all_axes, panels):
        for number, (name, curve) in enumerate(curves.items()):
            # What is called the same has the same colour in all panels.
            colour = colours.setdefault(curve, PALETTE[len(colours) % len(PALETTE)])
            values = result[name][within]
            axes.plot(across, values, label=curve, color=colour, linestyle=_dashes(number, values))
        axes.set_ylabel(label or ", ".join(curves))
        names = list(curves.values())
        # Many names are said once.
        if any(names) and (len(curves) > 1 or columns is None) and (len(names) <= MOST_INSIDE or names not in said):
            _legend(axes)
        said.append(names)
    all_axes[-1].set_xlabel("time (s)" if x == "t" else _at_axis(result, x))
    figure.suptitle(str(result.report["title"]), fontsize=10)
    return figure


def _label(result: Result, column: str) -> str:
    """Quantity and unit of a column, or nothing."""
    return result._drawn[column][1] if column in result._drawn else ""


def _at_axis(result: Result, column: str) -> str:
    label = _label(result, column)
    return f"{column} {label[label.find('('):]}" if "(" in label else column


def _panels(result: Result, x: str) -> list[tuple[str, dict[str, str]]]:
    """Panels as those of ``stickslip run --plot``: a label, and curves by column."""
    panels: dict[tuple[int, str], dict[str, str]] = {}
    for name, (place, label, curve) in result._drawn.items():
        if name != x:
            panels.setdefault((place, label), {})[name] = curve
    if not panels:
        raise Error("no column shows motion or force\nhelp: name what to draw: plot([\"a.column\"])")
    alike = {label: curves for (_, label), curves in panels.items()}
    largest = {name: float(np.abs(np.asarray(result[name])).max(initial=0.0)) for curves in panels.values() for name in curves}
    rounding = _rounding({label: [largest[name] for name in curves] for (_, label), curves in panels.items()}, float(np.ptp(result[x])))

    def idle(name: str, label: str, curve: str) -> bool:
        """Whether it is a component of a vector that is never more than rounding."""
        return "$" in curve and largest[name] <= rounding.get(label, ROUNDING * max(largest[other] for other in alike[label]))

    found = []
    for (_, label), curves in sorted(panels.items(), key=lambda panel: panel[0]):
        # Components that never differ from zero only fill the legend. A joint that stays at 0 is told so.
        moving = {name: curve for name, curve in curves.items() if not idle(name, label, curve)}
        found.append((label, dict(list((moving or curves).items())[:MOST_CURVES]), bool(moving)))
    # Nothing turns in many scenes: what is 0 in all its components takes no room beside what is not.
    anything = any(moves for _, _, moves in found)
    return [(label, curves) for label, curves, moves in found if moves or not anything][:MOST_PANELS]


#: Part of the size of a quantity that is rounding, which long runs add up.
ROUNDING = 1e-12


def _rounding(sizes: dict[str, list[float]], time: float) -> dict[str, float]:
    """The magnitude up to which velocities and turns are rounding: a turn has a size of its own, and a velocity moves by no more in the whole time."""

    def largest(label: str) -> float:
        return max(sizes.get(label, []), default=0.0)

    turn = max(largest("angle (rad)"), 1.0)
    time = time or 1.0
    return {
        "angle (rad)": ROUNDING * turn,
        "angular velocity (rad/s)": ROUNDING * max(turn / time, largest("angular velocity (rad/s)")),
        "velocity (m/s)": ROUNDING * max(largest("position (m)") / time, largest("velocity (m/s)")),
    }


def stability(cells: Map) -> Figure:
    figure, (axes,) = _figure(1, 3.2)
    names = cells.columns
    title, x_label, y_label, what = cells._labels
    x, y = np.asarray(cells[names[0]], float), np.asarray(cells[names[1]], float)
    amplitude = np.nan_to_num(np.asarray(cells["amplitude"], float))
    stable, region = cells["stable"], cells["region"]
    unstable = np.array([value is not None and not value for value in stable])
    largest = float(amplitude[unstable].max()) if unstable.any() else 1.0
    xs, ys = np.unique(x), np.unique(y)
    grid = len(x) == len(xs) * len(ys) and len(xs) > 1 and len(ys) > 1
    creep, inertial = (LinearSegmentedColormap.from_list("", pair) for pair in (CREEP, INERTIAL))

    def colour(i: int) -> Any:
        if stable[i] is None:
            return to_rgba(FAILED)
        if stable[i]:
            return to_rgba(STABLE)
        return (inertial if region[i] == "inertial" else creep)(amplitude[i] / max(largest, 1e-300))

    if grid:
        picture = np.ones((len(ys), len(xs), 4))
        for i in range(len(x)):
            picture[np.searchsorted(ys, y[i]), np.searchsorted(xs, x[i])] = colour(i)
        edges = [_edges(values) for values in (xs, ys)]
        axes.pcolormesh(edges[0], edges[1], picture)
        axes.grid(False)
        classes: list[tuple[str, Any]] = [("stable", STABLE)] if any(value for value in stable) else []
        inertia = np.array([kind == "inertial" for kind in region])
        for scale, name, there in ((creep, "by creep", unstable & ~inertia), (inertial, "by inertia", unstable & inertia)):
            if there.any():
                bar = figure.colorbar(ScalarMappable(Normalize(0, largest), scale), ax=axes, fraction=0.06, pad=0.02)
                bar.set_label(f"{what}, {name}" if any(region) else what)
                classes.append((name if any(region) else "stick-slip", scale(0.6)))
        if not all(value is not None for value in stable):
            classes.append(("failed", FAILED))
        axes.legend(handles=[Patch(color=shade, label=name) for name, shade in classes], loc="upper right", fontsize=8)
    else:
        axes.scatter(x, y, c=[colour(i) for i in range(len(x))], s=14, edgecolors="#282828", linewidths=0.3)
    if len(cells.boundary):
        axes.plot(cells.boundary["x"], cells.boundary["y"], color="black", label="boundary")
        _legend(axes)
    for values, set_scale in ((xs, axes.set_xscale), (ys, axes.set_yscale)):
        if _is_log(values):
            set_scale("log")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    figure.suptitle(title, fontsize=10)
    return figure


def _is_log(values: Any) -> bool:
    if len(values) < 3 or values[0] <= 0:
        return False
    ratios, steps = np.diff(np.log(values)), np.diff(values)
    return bool(np.ptp(ratios) / ratios.max() < np.ptp(steps) / steps.max())


def _edges(values: Any) -> Any:
    places = np.log(values) if _is_log(values) else values
    middle = 0.5 * (places[1:] + places[:-1])
    edges = np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])
    if _is_log(values):
        return np.exp(edges)
    # What is positive by its nature has no other sign at the edge of a cell.
    if values[0] >= 0:
        edges[0] = max(edges[0], 0)
    if values[-1] <= 0:
        edges[-1] = min(edges[-1], 0)
    return edges


def comparison(found: Comparison) -> Figure:
    figure, all_axes = _figure(3, 1.6)
    for axes, quantity, label in zip(all_axes, ("velocity", "force", "slip"), found._labels):
        for number, (law, curve) in enumerate(found.curves.items()):
            axes.plot(curve["t"], curve[quantity], label=law, linestyle=_dashes(number, curve[quantity]))
        axes.set_ylabel(label)
    all_axes[-1].set_xlabel("time (s)")
    title, element = found.report["title"], found.report["element"]
    figure.suptitle(f"{title} ({element})" if title else element, fontsize=10)
    # Below the panels: names of laws with their parameters are long, and would cover curves.
    with _style():
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return figure


def experiment(found: Experiment) -> Figure:
    figure, (axes,) = _figure(1, 3.0)
    for law, (x, y) in found.curves.items():
        axes.plot(x, y, marker="o" if len(x) < 20 else None, label=law)
        if len(x) < 20:
            axes.set_xscale("log")
    axes.set_xlabel(found.axes[0])
    axes.set_ylabel(found.axes[1])
    axes.set_title(str(found.report["experiment"]), fontsize=10)
    _legend(axes)
    return figure


def cycles(found: Cycles, name: str) -> Figure:
    if found.t is None or found.values is None:
        raise Error("there is no signal to draw: it is drawn where `signal` was given")
    figure, (axes,) = _figure(1, 2.6)
    axes.plot(found.t, found.values, linewidth=0.8, label=name)
    for part, marker in (("peaks", "^"), ("valleys", "v")):
        points = found.report["stick_slip"].get(part) or []
        pairs = [(p["t"], p["value"]) for p in points if isinstance(p, dict) and "t" in p and "value" in p]
        if pairs:
            axes.plot(*zip(*pairs), linestyle="none", marker=marker, markersize=4, label=part)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(name)
    _legend(axes)
    return figure


def animation(result: Result, seconds: float, frames: int, view: str) -> Any:
    """Bodies along one axis as boxes, those in space with their shapes."""
    from matplotlib.animation import FuncAnimation

    class Movie(FuncAnimation):
        """Plays in a notebook without being asked to; matplotlib's own shows no more than its name there."""

        def _repr_html_(self) -> str:
            # Drawn once: the player holds all frames, and the figure would stand below it as a picture.
            html: str = self.to_jshtml()
            plt.close(figure)
            return html

    whole = isinstance(frames, (int, np.integer)) and not isinstance(frames, bool)
    if not (whole and 1 < frames <= 100_000 and is_number(seconds) and 0 < seconds <= 86_400):
        raise ArgumentError("expected 2 to 100000 frames, and a time above 0 s of at most a day")
    # Those of NumPy are none for matplotlib.
    seconds, frames = float(seconds), int(frames)
    if not (isinstance(view, str) and len(view) == 2 and set(view) <= set("xyz") and view[0] != view[1]):
        raise ArgumentError(f"expected two different axes of xyz for `view`, found {view!r}")
    scalar = [name[: -len(".position")] for name in result.columns if name.endswith(".position")]
    points = [name[: -len(".position.x")] for name in result.columns if name.endswith(".position.x")]
    if not scalar and not points:
        raise Error("there is no position to play: the trace needs columns such as block.position")
    rows = np.linspace(0, len(result.t) - 1, frames).round().astype(int)
    modes = [result[name] for name in result.columns if name.endswith(".mode")]
    slips = np.any([mode == 1 for mode in modes], axis=0) if modes else np.ones(len(result.t), bool)
    if points:
        figure, (axes,) = _figure(1, 3.2)
        draw_bodies = _in_space(result, axes, points, view, rows)
    else:
        figure, (axes,) = _figure(1, 1.2 + 0.3 * len(scalar))
        draw_bodies = _along_an_axis(result, axes, scalar, slips)

    def draw(frame: int) -> list[Any]:
        row = rows[frame]
        state = f", {'slip' if slips[row] else 'stick'}" if modes else ""
        axes.set_title(f"t = {result.t[row]:.3f} s{state}", fontsize=9)
        return draw_bodies(row)

    return Movie(figure, draw, frames=frames, interval=1000 * seconds / frames, blit=False)


def _along_an_axis(result: Result, axes: Axes, bodies: list[str], slips: Any) -> Callable[[int], list[Any]]:
    every = [result[f"{body}.position"] for body in bodies]
    low, high = min(float(v.min()) for v in every), max(float(v.max()) for v in every)
    margin = 0.1 * (high - low) or 0.1
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(-0.6, len(bodies) - 0.4)
    axes.set_yticks(range(len(bodies)), bodies)
    axes.set_xlabel("position (m, rad)")
    marks = [axes.plot([], [], marker="s", markersize=14, linestyle="none")[0] for _ in bodies]

    def draw(row: int) -> list[Any]:
        for height, (mark, positions) in enumerate(zip(marks, every)):
            mark.set_data([positions[row]], [height])
            mark.set_color(PALETTE[1] if slips[row] else PALETTE[0])
        return marks

    return draw


def _in_space(result: Result, axes: Axes, bodies: list[str], view: str, rows: Any) -> Callable[[int], list[Any]]:
    """Seen from a side: each convex part of a body is the hull of its corners."""
    if not any(f"{body}.position.z" in result for body in bodies):
        view = "xy"
    seen = ["xyz".index(axis) for axis in view]
    nowhere = np.zeros(len(result.t))
    places = {body: np.stack([result.get(f"{body}.position.{axis}", nowhere) for axis in "xyz"], axis=1) for body in bodies}
    turns = {
        body: np.stack([result[f"{body}.q{part}"] for part in "wxyz"], axis=1) for body in bodies if f"{body}.qw" in result
    }
    shapes = {name: [np.array(part) for part in parts] for name, _, parts in result._outlines}

    def outline(body: str, row: int, part: Any) -> Any:
        turned = _turned(turns[body][row], part) if body in turns else part
        return _hull((places[body][row] + turned)[:, seen])

    for name, pose, parts in result._outlines:
        if pose is not None:
            for points in parts:
                edge = _hull((np.array(pose[:3]) + _turned(np.array(pose[3:]), np.array(points)))[:, seen])
                axes.fill(*edge.T, facecolor="#e6e9ed", edgecolor="#808080", linewidth=0.8, zorder=1)
    drawn: list[tuple[str, Any, Any]] = []
    corners: list[Any] = []
    for number, body in enumerate(bodies):
        colour = PALETTE[number % len(PALETTE)]
        for i, part in enumerate(shapes.get(body, [])):
            (patch,) = axes.fill([], [], facecolor=to_rgba(colour, 0.4), edgecolor=colour, linewidth=1.0, zorder=2, label=None if i else body)
            drawn.append((body, patch, part))
            corners += [outline(body, row, part) for row in rows]
        if not shapes.get(body):
            (mark,) = axes.plot([], [], marker="o", markersize=8, linestyle="none", color=colour, zorder=3, label=body)
            drawn.append((body, mark, None))
            corners.append(places[body][rows][:, seen])
    reach = np.concatenate(corners)
    low, high = reach.min(axis=0), reach.max(axis=0)
    margin = 0.08 * float((high - low).max()) or 0.1
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    axes.set_aspect("equal")
    axes.set_xlabel(f"{view[0]} (m)")
    axes.set_ylabel(f"{view[1]} (m)")
    if len(bodies) <= MOST_CURVES:
        with _style():
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)

    def draw(row: int) -> list[Any]:
        for body, artist, part in drawn:
            if part is None:
                x, y = places[body][row][seen]
                artist.set_data([x], [y])
            else:
                artist.set_xy(outline(body, row, part))
        return [artist for _, artist, _ in drawn]

    return draw


def _turned(quaternion: Any, points: Any) -> Any:
    """Points in the axes of a body, turned as the body is."""
    w, vector = quaternion[0], quaternion[1:]
    twice = 2 * np.cross(vector, points)
    return points + w * twice + np.cross(vector, twice)


def _hull(points: Any) -> Any:
    """Corners of the convex hull of points in a plane, around it (Andrew 1979)."""
    ordered = [tuple(point) for point in points[np.lexsort((points[:, 1], points[:, 0]))].tolist()]

    def chain(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        corners: list[tuple[float, ...]] = []
        for c in points:
            while len(corners) > 1:
                a, b = corners[-2:]
                if (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0:
                    break
                corners.pop()
            corners.append(c)
        return corners[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]) or ordered[:1])
