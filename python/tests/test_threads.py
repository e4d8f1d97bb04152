"""Threads of Python: what each computes is what it computes alone, and one simulation in two threads is refused in words."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stickslip as ss

CART = ss.Scenario(step=1e-3, duration=0.5).mass("cart", 2.0).friction("rail", "cart", kinetic=6.0, static=8.0).actuator("motor", "cart")
LONG = ss.Scenario(step=1e-6, duration=1000).mass("a", 1.0).mass("b", 1.0, velocity=1.0)
LONG = LONG.spring("ab", "a", "b", stiffness=100.0).friction("fa", "a", kinetic=0.1)


def work(seed: int) -> tuple[object, ...]:
    """A bit of everything; the numbers follow from the seed."""
    random = np.random.default_rng(seed)
    mass = float(random.uniform(1, 3))
    cart = CART.set("bodies.cart.mass", mass)
    result = ss.run(cart, set={"elements.motor.value": 12.0})
    simulation, batch = ss.Simulation(cart), ss.Batch([cart] * 40)
    forces = random.uniform(0, 20, 40)
    batch.set("motor", forces)
    batch.step(200)
    simulation.set("motor", float(forces[0]))
    simulation.step(200)
    table = ss.sweep(cart, {"elements.motor.value": forces.tolist()}, "final.cart.position", threads=2)
    try:
        ss.run(cart, set={"bodies.cart.mas": seed})
    except ss.ScenarioError as error:
        text = str(error)
    return result["cart.position"].tobytes(), simulation.state, tuple(batch.state), table.to_csv(), text


def test_many_threads_compute_what_each_computes_alone() -> None:
    seeds = list(range(24))
    alone = [work(seed) for seed in seeds]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, seeds)) == alone


@pytest.mark.parametrize("kind", ["simulation", "batch"])
def test_one_simulation_in_two_threads_is_refused(kind: str) -> None:
    shared = ss.Simulation(LONG) if kind == "simulation" else ss.Batch([LONG] * 3)
    began = threading.Event()
    failures: list[BaseException] = []

    def step() -> None:
        began.set()
        shared.step(300_000)

    thread = threading.Thread(target=step)
    thread.start()
    began.wait()
    while thread.is_alive() and not failures:
        try:
            shared.position("a")
        except ss.Error as error:
            failures.append(error)
    thread.join()
    assert "another call is stepping" in str(failures[0]) and "copy()" in str(failures[0])
    assert np.all(np.asarray(shared.time) == 0.3)  # what the other thread did is whole


def test_exceptions_of_elements_stay_in_their_thread() -> None:
    class Some(ss.Element):
        between = ("a", "ground")

        def force(self, t, x, v, z):
            if threading.current_thread().name == "bad" or x > 1e9:
                raise LookupError("in the bad thread")
            return -1.0 * x

    first = ss.Simulation(ss.Scenario(step=1e-4, duration=1, integrator="rk4").mass("a", 1.0, velocity=1.0), elements={"own": Some()})
    copies = [first.copy() for _ in range(2)]
    outcomes: dict[str, BaseException | float] = {}

    def step(simulation: ss.Simulation) -> None:
        name = threading.current_thread().name
        try:
            for _ in range(2000):
                simulation.step()
            outcomes[name] = simulation.position("a")
        except LookupError as error:
            outcomes[name] = error

    threads = [threading.Thread(target=step, args=(copy,), name=name) for copy, name in zip(copies, ("bad", "good"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(outcomes["bad"], LookupError)
    assert outcomes["good"] == pytest.approx(np.sin(0.2), rel=1e-9)  # x'' = -x


def test_an_element_cannot_use_the_simulation_it_is_part_of() -> None:
    parts: dict[str, ss.Simulation] = {}

    class Curious(ss.Element):
        between = ("a", "ground")

        def force(self, t, x, v, z):
            return parts["whole"].position("a") if parts else 0.0

    parts["whole"] = ss.Simulation(ss.Scenario(step=1e-3, integrator="rk4").mass("a", 1.0), elements={"own": Curious()})
    for steps in (1, 100_000):
        with pytest.raises(ss.Error, match="another call is stepping"):
            parts["whole"].step(steps)
    assert parts["whole"].time == 0.0
