"""What pictures show: panels and units as those of the command line, shapes where they are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import stickslip as ss


@pytest.fixture(autouse=True)
def close() -> object:
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["drawer", "arm-holding", "earthquake-chain", "own-body", "fig001-5", "stack"])
def test_panels_are_those_of_the_command_line(name: str, scenarios: Path, command: Callable[..., str], tmp_path: Path) -> None:
    file, svg = scenarios / f"{name}.toml", tmp_path / "run.svg"
    simulation = ss.Simulation(file)
    changes = {"simulation.duration": min(simulation.duration, 300 * simulation.step_size)}
    if re.search(r"^(stick_slip|slip_events)", file.read_text(), re.M):
        changes.update({f"analysis.{kind}.from": 0 for kind in re.findall(r"^(stick_slip|slip_events) =.*from", file.read_text(), re.M)})
    command("run", file, "--quiet", "--plot", svg, *(word for key, value in changes.items() for word in ("--set", f"{key}={value!r}")))
    theirs = re.sub(r"<[^>]*>", "\n", svg.read_text())
    figure = ss.run(file, set=changes).plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    # Slip events have a panel of their own there, in place of some.
    for label in labels[:2]:
        assert label in theirs.splitlines() and label, (label, labels)
    assert figure.axes[-1].get_xlabel() == "time (s)"


def test_a_stretch_of_time_is_drawn(scenarios: Path) -> None:
    result = ss.run(scenarios / "drawer.toml")
    curve = result.plot("drawer.velocity", start=1.0, until=2.0).axes[0].lines[0]
    assert (curve.get_xdata()[0], curve.get_xdata()[-1]) == (1.0, 2.0)
    with pytest.raises(ss.Error, match="nothing to draw"):
        result.plot(start=1e3)


def test_pictures_that_no_window_shows_are_not_kept() -> None:
    result = ss.run(ss.Scenario(step=1e-2).mass("a", 1.0, velocity=1.0).friction("f", "a", kinetic=2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pictures = [result.plot() for _ in range(25)]
    assert len(plt.get_fignums()) == 1 and plt.gcf() is pictures[-1]
    own = plt.figure()
    result.plot()
    assert plt.fignum_exists(own.number) and len(plt.get_fignums()) == 2
    picture = BytesIO()
    pictures[0].savefig(picture)  # it is still a picture
    assert picture.getvalue()


def test_axes_have_units(scenarios: Path) -> None:
    result = ss.run(scenarios / "arm-holding.toml", set={"simulation.duration": 0.1})
    loop = result.plot("arm.shoulder.velocity", x="arm.shoulder.position").axes[0]
    assert (loop.get_xlabel(), loop.get_ylabel()) == ("arm.shoulder.position (rad)", "angular velocity (rad/s)")
    x, y = {"elements.spring.stiffness": "log:1 N/mm:100 N/mm:2"}, {"bodies.hook.velocity": "log:1e-2 mm/s:1 mm/s:2"}
    cells = ss.map(scenarios / "stick-slip-map.toml", x, y).plot().axes[0]
    assert cells.get_xlabel() == "elements.spring.stiffness (N/m)" and cells.get_ylabel() == "bodies.hook.velocity (m/s)"
    shaft = ss.Scenario(step=1e-3).inertia("shaft", 1.0, velocity=1.0).friction("bearing", "shaft", kinetic=2.0)
    labels = [axes.get_ylabel() for axes in ss.compare(shaft, "bearing", ["implicit"]).plot().axes]
    assert labels == ["sliding angular velocity (rad/s)", "friction torque (N m)", "slip (rad)"]


def test_shapes_are_drawn_where_bodies_are() -> None:
    half = 0.5**0.5
    scene = ss.Scenario(step=1e-3, duration=0.1, gravity=[0, 0, -9.81]).contacts(friction={"law": "implicit", "mu": 0.5})
    scene = scene.fixed("table", shape={"plane": {"normal": [0, 0, 1]}})
    scene = scene.rigid_body("box", 1.0, shape={"box": [0.4, 0.2, 0.1]}, position=[1, 0, 0.2], rotation=[half, 0, half, 0])
    scene = scene.rigid_body("ball", 1.0, shape={"sphere": 0.1}, position=[2, 0, 0.1])
    movie = ss.run(scene).animate(frames=3)
    movie._func(2)
    axes = movie._fig.axes[0]
    shown = {patch.get_label(): patch.get_xy() for patch in axes.patches if patch.get_label() in ("box", "ball")}
    # The box stands on its end: turned by 90 degrees about y.
    low, high = shown["box"].min(axis=0), shown["box"].max(axis=0)
    assert low == pytest.approx([0.95, 0.0], abs=1e-3) and high == pytest.approx([1.05, 0.4], abs=1e-3)
    assert np.hypot(*(shown["ball"] - [2, 0.1]).T) == pytest.approx(0.1, abs=2e-3)
    assert axes.get_aspect() == 1.0
    for wrong in ("x", "xx", "xw", 3):
        with pytest.raises(ss.ArgumentError, match="view"):
            ss.run(scene).animate(view=wrong)
