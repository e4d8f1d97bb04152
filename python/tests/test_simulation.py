"""Simulations that Python steps: closed forms, the trace of a run, copies and states."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss


def cart() -> ss.Scenario:
    scenario = ss.Scenario(step=1e-3, duration=1).mass("cart", 2.0)
    return scenario.friction("rail", "cart", "ground", kinetic=6.0, static=8.0).actuator("motor", "cart", "ground")


def test_steps_are_those_of_a_run(scenarios: Path) -> None:
    for name in ("drawer.toml", "fig000-8-p.toml"):
        result = ss.run(scenarios / name)
        simulation = ss.Simulation(scenarios / name)
        for row in range(1, 200):
            simulation.step()
            assert simulation.time == result.t[row]
            for column in result.columns:
                assert simulation.signal(column) == result[column][row], (name, column, row)


def test_an_actuator_below_the_limit_moves_nothing_and_above_it_does() -> None:
    simulation = ss.Simulation(cart())
    simulation.set("motor", 7.9)
    simulation.step(1000)
    assert simulation.velocity("cart") == 0.0 and simulation.mode("rail") == "stick"
    simulation.set("motor", 10.0)
    simulation.step(1000)
    assert simulation.velocity("cart") == pytest.approx((10 - 6) / 2 * 1.0, abs=1e-9)
    assert simulation.force("rail") == -6.0


def test_copy_state_and_reset() -> None:
    simulation = ss.Simulation(cart())
    simulation.set("motor", 10.0)
    simulation.step(100)
    state, copy = simulation.state, simulation.copy()
    simulation.step(50)
    copy.step(50)
    assert copy.position("cart") == simulation.position("cart")
    other = ss.Simulation(cart())
    other.state = state
    other.step(50)
    assert other.position("cart") == simulation.position("cart")
    simulation.reset()
    assert simulation.time == 0.0 and simulation.position("cart") == 0.0
    with pytest.raises(ss.Error):
        simulation.state = state[:-1]
    with pytest.raises(ss.Error, match="another system"):
        ss.Simulation(cart().set("bodies.cart.mass", 3.0)).state = state


def test_motion_can_be_set() -> None:
    simulation = ss.Simulation(cart())
    simulation.set_position("cart", 0.5)
    simulation.set_velocity("cart", [2.0])
    simulation.step(2000)
    # 2 m/s stop within 2/3 s under 3 m/s².
    assert simulation.position("cart") == pytest.approx(0.5 + 4 / 6, abs=2e-3)
    with pytest.raises(ss.Error, match="1 numbers, found 2"):
        simulation.set_position("cart", [1.0, 2.0])


def test_vectors_are_arrays() -> None:
    puck = ss.Scenario(step=1e-3).mass("puck", 1.0, position=[0, 0], velocity=[3.0, 4.0]).friction("ice", "puck", kinetic=1.0)
    simulation = ss.Simulation(puck)
    simulation.step(1000)
    velocity = simulation.velocity("puck")
    assert isinstance(velocity, np.ndarray) and np.hypot(*velocity) == pytest.approx(4.0)


class Maxwell(ss.Element):
    """A spring in series with a damper: z is the force."""

    between = ("mass", "ground")
    states = {"z": 0.0}

    def force(self, t, x, v, z):
        return -z[0]

    def rates(self, t, x, v, z):
        return [400.0 * v - z[0] / 0.05]


@pytest.mark.parametrize("integrator", ["rk4", "implicit-euler"])
def test_an_element_of_the_users_own_equals_the_same_equations_in_a_file(integrator: str) -> None:
    mass = ss.Scenario(step=1e-4, integrator=integrator, duration=1).mass("mass", 1.0, position=0.1, velocity=1.0)
    own = ss.Simulation(mass, elements={"m": Maxwell()})
    equations = mass.element(
        "m", "equations", "mass", "ground", states={"z": 0}, parameters={"k": 400, "tau": 0.05}, force="-z", rates={"z": "k*v - z/tau"}
    )
    same = ss.Simulation(equations)
    own.step(300)
    same.step(300)
    assert own.position("mass") == pytest.approx(same.position("mass"), rel=1e-7)
    assert own.signal("m.z") == pytest.approx(same.signal("m.z"), rel=1e-6)


def test_a_law_of_the_users_own_equals_that_of_the_engine() -> None:
    """Dahl's law as a Python class: s*z with dz/dt = v*(1 - s*z*sign(v)/F)."""

    class Dahl(ss.Element):
        between = ("block", "ground")
        states = {"z": 0.0}

        def force(self, t, x, v, z):
            return -1e4 * z[0]

        def rates(self, t, x, v, z):
            return [v - abs(v) * 1e4 / 5.0 * z[0]]

    block = ss.Scenario(step=1e-5, duration=1, integrator="rk4").mass("block", 1.0, force="8*sin(20*t)")
    own = ss.Simulation(block, elements={"floor": Dahl()})
    theirs = ss.Simulation(block.friction("floor", "block", law="dahl", kinetic=5.0, stiffness=1e4))
    for _ in range(4):
        own.step(2500)
        theirs.step(2500)
        assert own.position("block") == pytest.approx(theirs.position("block"), rel=1e-6)
        assert own.force("floor") == pytest.approx(theirs.force("floor"), rel=1e-6)


def test_joints_are_read_by_their_names() -> None:
    links = [
        dict(name="upper", parent="ground", joint="shoulder", type="revolute", axis=[0, 1, 0], mass=1.0, com=[0.2, 0, 0], inertia=[0.01] * 3),
        dict(name="lower", parent="upper", joint="elbow", type="revolute", axis=[0, 1, 0], origin=[0.4, 0, 0], mass=1.0, com=[0.2, 0, 0], inertia=[0.01] * 3),
    ]
    arm = ss.Scenario(step=1e-3, duration=1, gravity=[0, 0, -9.81]).linkage("arm", links)
    simulation, batch = ss.Simulation(arm), ss.Batch([arm] * 2)
    simulation.step(50)
    batch.step(50)
    both = simulation.position("arm")
    assert [simulation.position("arm.shoulder"), simulation.position("arm.elbow")] == both.tolist()
    assert simulation.velocity("arm.elbow") == simulation.velocity("arm")[1] != 0
    assert batch.position("arm").tolist() == [both.tolist()] * 2
    assert batch.velocity("arm.elbow").tolist() == [simulation.velocity("arm.elbow")] * 2
    with pytest.raises(KeyError, match="arm"):
        simulation.position("arm.wrist")


def test_an_element_that_raises_is_heard() -> None:
    class Broken(ss.Element):
        between = ("mass", "ground")

        def force(self, t, x, v, z):
            if t > 0.01:
                raise LookupError("no table here")
            return 0.0

    simulation = ss.Simulation(ss.Scenario(step=1e-3, integrator="rk4").mass("mass", 1.0), elements={"b": Broken()})
    with pytest.raises(LookupError, match="no table"):
        simulation.step(100)
    # The steps before it count, the one that ran into it does not.
    assert simulation.time == pytest.approx(0.01, abs=1.5e-3) and simulation.steps_done in (9, 10)
    with pytest.raises(LookupError, match="no table"):
        simulation.step()
    wrong = type("Wrong", (ss.Element,), {"between": ("mass", "ground"), "force": lambda self, t, x, v, z: [1.0, 2.0]})
    with pytest.raises(ss.Error, match="gave 2"):
        ss.Simulation(ss.Scenario(step=1e-3, integrator="rk4").mass("mass", 1.0), elements={"w": wrong()}).step()
    with pytest.raises(KeyError, match="mass"):
        nowhere = type("Nowhere", (ss.Element,), {"between": ("mas", "ground")})
        ss.Simulation(ss.Scenario(step=1e-3).mass("mass", 1.0), elements={"n": nowhere()})


def test_batches_equal_single_simulations() -> None:
    masses = [0.5 + 0.1 * i for i in range(40)]
    scenarios = [cart().set("bodies.cart.mass", mass) for mass in masses]
    batch = ss.Batch(scenarios, threads=2)
    singles = [ss.Simulation(scenario) for scenario in scenarios]
    forces = np.array([10.0 * math.sin(i) + 9 for i in range(40)])
    for n in (1, 7, 40, 3000):
        batch.set("motor", forces)
        for single, force in zip(singles, forces):
            single.set("motor", force)
            single.step(n)
        batch.step(n)
        for what in ("position", "velocity"):
            assert getattr(batch, what)("cart").tolist() == [getattr(single, what)("cart") for single in singles], n
        assert batch.force("rail").tolist() == [single.force("rail") for single in singles]
        assert batch.signal("rail.mode").tolist() == [single.signal("rail.mode") for single in singles]
        forces = -0.7 * forces
    batch.reset([3, 5])
    assert batch.time[3] == 0 and batch.time[4] > 0
    with pytest.raises(ss.Error, match="40 runs, and 39 values"):
        batch.set("motor", forces[:-1])


def test_one_scenario_many_times() -> None:
    batch = ss.Batch([cart()] * 5)
    assert len(batch) == 5
    batch.set("motor", 10.0)
    batch.step(10)
    assert len(set(batch.velocity("cart").tolist())) == 1
    state = batch.state
    batch.step(10)
    batch.state = state
    assert batch.time.tolist() == [0.01] * 5
    pair = ss.Batch([ss.Scenario(step=1e-3).mass("m", 1.0, position=[0, 0], velocity=[1.0, 2.0])] * 3)
    assert pair.velocity("m").shape == (3, 2)


def test_runs_of_a_batch_that_fail_are_named() -> None:
    wild = ss.Scenario(step=0.1, integrator="rk4").mass("m", 1.0, position=1.0)
    batch = ss.Batch([wild.spring("s", "m", stiffness=k) for k in (1.0, 1e40, 2.0)])
    with pytest.raises(ss.RunError, match="run 1") as caught:
        batch.step(100)
    assert caught.value.runs == [1]
    assert batch.time[0] == pytest.approx(10.0) and batch.time[2] == pytest.approx(10.0)


def test_motion_of_a_batch_can_be_set() -> None:
    batch = ss.Batch([cart()] * 4)
    batch.set_velocity("cart", [1.0, 2.0, 3.0, 4.0])
    batch.set_position("cart", 0.5, [1, 3])
    batch.step(2000)
    # v²/(2a) with a = 3 m/s², less half a step of the start velocity.
    ways = batch.position("cart") - [0, 0.5, 0, 0.5]
    assert ways == pytest.approx([v * v / 6 - 0.5e-3 * v for v in (1, 2, 3, 4)], abs=2e-6)
    before = batch.state
    for wrong in (lambda: batch.set_position("cart", [1.0, 2.0]), lambda: batch.set_velocity("cart", 1.0, [0, 4]),
                  lambda: batch.set_position("cart", [1.0, 2.0, 3.0, math.nan]), lambda: batch.set_position("cart", [[1.0, 2.0]] * 4)):  # fmt: skip
        with pytest.raises(ss.Error):
            wrong()
        assert batch.state == before
    with pytest.raises(ss.Error, match="snapshot"):
        batch.state = [*ss.Batch([cart()] * 3).state, b"nonsense"]
    assert batch.state == before
    pucks = ss.Batch([ss.Scenario(step=1e-3).mass("puck", 1.0, position=[0, 0])] * 3)
    pucks.set_velocity("puck", [[1, 0], [0, 2], [3, 4]])
    pucks.step(1000)
    assert pucks.position("puck") == pytest.approx(np.array([[1, 0], [0, 2], [3, 4]]), rel=1e-12)


def test_an_actuator_takes_a_value_for_each_axis() -> None:
    puck = ss.Scenario(step=1e-3).mass("puck", 1.0, position=[0, 0]).actuator("fan", "puck", value=[0, 0])
    simulation, batch = ss.Simulation(puck), ss.Batch([puck] * 2)
    for one in (simulation, batch):
        for wrong in (1.0, [1.0, 2.0, 3.0], [[1.0], [2.0]]):
            with pytest.raises(ss.Error):
                one.set("fan", wrong)
    with pytest.raises(ss.Error, match="2, found 1"):
        simulation.set("fan", 1.0)
    with pytest.raises(ss.Error, match="finite"):
        simulation.set("fan", [3.0, math.inf])
    simulation.step(100)
    assert simulation.velocity("puck").tolist() == [0, 0]  # calls that fail change nothing
    simulation.set("fan", [3.0, -4.0])
    batch.set("fan", [[3.0, -4.0], [0.0, 1.0]])
    simulation.step(1000)
    batch.step(1000)
    assert simulation.velocity("puck") == pytest.approx([3, -4])
    assert batch.velocity("puck") == pytest.approx(np.array([[3, -4], [0, 1]]))


def test_messages_about_names_are_the_same_every_time() -> None:
    scenario = ss.Scenario(step=1e-3)
    for i in range(100):
        scenario = scenario.mass(f"m{i:02}", 1.0)
    texts = set()
    for _ in range(5):
        with pytest.raises(ss.MissingError, match="there are 100: m00, m01") as caught:
            ss.Simulation(scenario).position("m")
        texts.add(str(caught.value))
    assert len(texts) == 1 and len(texts.pop()) < 400
    arm = dict(name="upper", parent="ground", joint="shoulder", type="revolute", axis=[0, 1, 0], mass=1.0, com=[0.2, 0, 0], inertia=[0.01] * 3)
    lost = type("Lost", (ss.Element,), {"between": ("arm.sholder", "ground")})
    with pytest.raises(ss.MissingError, match='mean "arm.shoulder"'):
        ss.Simulation(ss.Scenario(step=1e-3).linkage("arm", [arm]), elements={"own": lost()})
