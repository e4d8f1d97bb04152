"""Arguments: what is taken, what is refused with an exception of the package, and that nothing of the caller's is held on to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss

CART = ss.Scenario(step=1e-3, duration=0.5).mass("cart", 1.0).friction("rail", "cart", kinetic=2.0).actuator("motor", "cart")
MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


def test_a_scenario_does_not_change_with_what_it_was_made_of() -> None:
    place, links, tree = np.array([0.0, 0.0]), {"a": [1.0]}, {"simulation": {"step": 1e-3, "duration": 1, "integrator": "implicit-euler"}, "bodies": {}}
    built, read = ss.Scenario(step=1e-3), ss.Scenario(tree)
    for i in range(3):
        place[0], links["a"][0] = i, float(i)
        built = built.mass(f"m{i}", 1.0, position=place).body(f"b{i}", "mass", mass=1.0, force=links["a"])
    tree["bodies"]["late"] = {"kind": "mass", "mass": 1.0}
    tree["simulation"]["step"] = 1.0
    simulation = ss.Simulation(built)
    assert [simulation.position(f"m{i}")[0] for i in range(3)] == [0.0, 1.0, 2.0]
    assert [f"force = [{float(i)}]" in built.to_toml() for i in range(3)] == [True] * 3
    more = read.mass("m", 1.0)
    assert ss.Simulation(more).step_size == 1e-3 and ss.Simulation(more).bodies == ["m"]


def test_tables_that_are_none_are_named() -> None:
    tree = {"simulation": {"step": 1e-3, "duration": 1, "integrator": "implicit-euler"}, "bodies": 3}
    with pytest.raises(ss.ScenarioError, match="bodies"):
        ss.Scenario(tree).mass("m", 1.0)


def test_without_gymnasium_everything_else_is_there() -> None:
    script = """
import sys
sys.modules["gymnasium"] = None
from stickslip import *
import stickslip as ss
assert run is ss.run and not hasattr(ss, "gym") and "gym" in dir(ss)
try:
    ss.gym
except ss.Error as error:
    assert "pip install gymnasium" in str(error)
try:
    ss.no_such
except AttributeError as error:
    assert not isinstance(error, ss.Error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_evaluate_says_as_much_as_a_run_of_what_failed() -> None:
    wild = ss.Scenario(step=0.1, duration=1e3, integrator="rk4").mass("cart", 1.0, position=1.0).element("wild", "equations", "cart", force="1e6*x")
    with pytest.raises(ss.RunError, match="help: ") as alone:
        ss.run(wild, set={"bodies.cart.mass": 2.0})
    with pytest.raises(ss.RunError) as caught:
        ss.evaluate(wild, {"bodies.cart.mass": 2.0}, "final.cart.position")
    assert str(caught.value) == str(alone.value)
    assert caught.value.time == alone.value.time is not None
    assert np.array_equal(caught.value.result.t, alone.value.result.t) and len(caught.value.result.t) > 1


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    times = np.arange(0, 10, 0.01)
    file.write_text("time,x\n" + "".join(f"{t},{np.sin(5 * t)}\n" for t in times))
    plain = ss.analyse(file, signal="x", start=1, until=3.0, detrend=True).report
    assert ss.analyse(file, signal="x", start=np.int64(1), until=np.float32(3), detrend=np.True_).report == plain
    x, y = {"bodies.cart.mass": [1.0]}, {"elements.rail.kinetic": "lin:1:2:2"}
    with pytest.raises(ss.ScenarioError, match="stick_slip"):  # all else is taken
        ss.map(CART, x, y, tolerance=np.float32(0.1))
    result = ss.run(CART)
    assert len(result.plot("cart.velocity", start=np.int64(0), until=np.float32(0.25)).axes[0].lines[0].get_xdata()) == 251
    assert result.animate(seconds=np.float32(1), frames=np.int32(2)) is not None
    simulation, batch = ss.Simulation(CART), ss.Batch([CART] * 2, threads=np.int64(1))
    simulation.step(np.int32(2))
    for number in (np.float32(1), np.int8(1), np.float64(1), np.array(1.0), 1):
        simulation.set("motor", number)
        batch.set("motor", number)
    for numbers in (np.array([1, 2]), np.array([1, 2], dtype=np.float32), [np.float32(1), 2], (1, 2), np.ma.array([1.0, 2.0])):
        batch.set("motor", numbers)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ss.map(CART, {"bodies.cart.mass": [1.0]}, {"elements.rail.kinetic": "lin:1:2:2"}, trace_boundary=np.zeros(2)),
        lambda: ss.analyse("no.csv", signal="x", detrend=np.zeros(2)),
        lambda: ss.analyse("no.csv", signal="x", start=True),
        lambda: ss.Simulation(CART).step(True),
        lambda: ss.Batch([CART]).step(True),
        lambda: ss.Batch([CART], threads=True),
        lambda: ss.run(CART, every=True),
        lambda: ss.Simulation(CART).set("motor", 1j),
        lambda: ss.Simulation(CART).set("motor", np.complex64(1j)),
        lambda: ss.Simulation(CART).set("motor", np.array(1j)),
        lambda: ss.Simulation(CART).set("motor", [np.complex128(1)]),
        lambda: ss.Simulation(CART).set_position("cart", np.array([1j])),
        lambda: ss.Batch([CART] * 3).set("motor", np.zeros(3, dtype=complex)),
        lambda: ss.Batch([CART] * 3).set("motor", [[1.0], [np.complex64(1)], [1.0]]),
        lambda: ss.Batch([CART] * 3).set("motor", MASKED),
        lambda: ss.Batch([CART] * 3).set_velocity("cart", MASKED),
        lambda: ss.Simulation(CART).set("motor", np.ma.masked),
        lambda: ss.sweep(CART, {"bodies.cart.mass": MASKED}, "t_end"),
        lambda: CART.mass("other", 1.0, position=MASKED),
        lambda: CART.set("bodies.cart.mass", MASKED[1]),
    ],
)
def test_what_means_nothing_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ss.ArgumentError):
        call()


def test_an_element_is_an_object_with_methods() -> None:
    class Nothing(ss.Element):
        between = ("cart", "ground")

        def force(self, t, x, v, z):
            return 0.0

    class Number(Nothing):
        force = "nan"

    class Rates(Nothing):
        states = {"z": 0.0}
        rates = 3

    with pytest.raises(ss.ArgumentError, match=r"Nothing\(\)"):
        ss.Simulation(CART, elements={"own": Nothing})
    for wrong, method in ((Number(), "force"), (Rates(), "rates"), (type("Bare", (), {"between": ("cart", "ground")})(), "force")):
        with pytest.raises(ss.ArgumentError, match=method):
            ss.Simulation(CART, elements={"own": wrong})

    class Slots:
        __slots__ = ()
        between = ("cart", "ground")

        def force(self, t, x, v, z):
            return 1.0

    simulation = ss.Simulation(CART, elements={"own": Slots(), "other": Nothing()})
    simulation.copy().step(10)
    simulation.step(10)
    assert simulation.force("own") == 1.0
    class Complex(Nothing):
        def force(self, t, x, v, z):
            return np.complex64(1j)

    with pytest.raises(ss.ArgumentError, match="1 numbers from force"):
        ss.Simulation(CART, elements={"own": Complex()}).step()
