"""Wrong types and shapes everywhere: exceptions of the package, never anything else."""

from __future__ import annotations

import random

import numpy as np
import pytest

import stickslip as ss

CART = ss.Scenario(step=1e-3, duration=0.05).mass("cart", 2.0).friction("rail", "cart", kinetic=6.0).actuator("motor", "cart")

ODD = [
    None, True, 0, -1, 2**70, -(2**70), 1.5, float("nan"), float("inf"), 1e308, "", "cart", "rail", "motor", "no such", "x" * 10000, "\0", "\ud800",
    "a = 1\n[", b"", b"stkslip\x01", b"\xff" * 100, [], [1.0], [1.0, 2.0], [[1.0]], ["a"], [None], (), {}, {"a": 1}, {1: 2}, {"simulation": 3},
    {"simulation": {"step": "x"}}, object(), int, lambda: 1, range(3), np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.zeros((2, 2, 2)),
    np.float32(1), np.int8(3), np.array(["a"]), np.array([1, 2], dtype=np.int32), np.zeros(4)[::2], np.array(5.0), 1j, {"a"}, Exception("x"),
    np.complex64(1j), np.zeros(3, dtype=complex), np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.ma.masked, np.array([True]),
]  # fmt: skip


SCENE = ss.Scenario(step=1e-3, duration=0.01, gravity=[0, 0, -9.81]).contacts(friction={"law": "implicit", "mu": 0.5})
SCENE = SCENE.fixed("table", shape={"plane": {"normal": [0, 0, 1]}}).rigid_body("box", 1.0, shape={"box": [0.2, 0.2, 0.1]}, position=[0, 0, 0.05])
RESULT = ss.run(CART)
TASK = dict(actions=["motor"], observations=["cart.position"], reward="cart.position")
ENV, MANY = ss.gym.make(CART, **TASK), ss.gym.make_vector(CART, 2, **TASK)
ENV.reset()
MANY.reset()


def close(figure) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)


class Odd(ss.Element):
    between = ("cart", "ground")

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def force(self, t, x, v, z):
        return self.answer


def calls(pick):
    """One call of everything there is, with values that `pick` gives."""
    simulation, batch = ss.Simulation(CART), ss.Batch([CART] * 3)
    some = lambda good: pick(good)
    yield lambda: ss.run(some(CART), set=some({}), every=some(1), threads=some(1))
    yield lambda: ss.Scenario(some(CART), set=some({}))
    yield lambda: ss.run(ss.Scenario(step=some(1e-3), duration=some(0.05)).mass(some("m"), some(1.0), velocity=some(1.0)))
    yield lambda: CART.set(some("bodies.cart.mass"), some(1.0)).check()
    yield lambda: CART.spring(some("s"), some("cart"), some("ground"), stiffness=some(1.0)).to_toml()
    yield lambda: ss.evaluate(CART, some({}), some("t_end"))
    yield lambda: ss.sweep(CART, some({"bodies.cart.mass": some([1.0])}), some("t_end"), threads=some(1), chunk=some(None))
    yield lambda: ss.map(CART, some({"bodies.cart.mass": [1.0]}), some({"elements.rail.kinetic": some([1.0])}), tolerance=some(0.1), trace_boundary=some(False))
    yield lambda: ss.compare(CART, some("rail"), some(["implicit"]), set=some({}))
    yield lambda: ss.experiment(some("presliding"), some("nonsense"), set=some({}))
    yield lambda: ss.analyse(some("no.csv"), signal=some("x"), unit=some({}), normal_force=some(None), start=some(None), detrend=some(False))
    yield lambda: ss.rewrite(some(CART), some("text"))
    yield lambda: ss.laws(some("implicit"))
    yield lambda: ss.Simulation(some(CART), elements=some({}))
    yield lambda: ss.Simulation(CART, elements={"odd": some(Odd(some(1.0)))}).step(some(2))
    yield lambda: simulation.step(some(1))
    yield lambda: (simulation.position(some("cart")), simulation.velocity(some("cart")), simulation.force(some("rail")))
    yield lambda: (simulation.signal(some("t")), simulation.mode(some("rail")))
    yield lambda: (simulation.set(some("motor"), some(1.0)), simulation.step())
    yield lambda: (simulation.set_position(some("cart"), some(1.0)), simulation.set_velocity(some("cart"), some(1.0)))
    yield lambda: setattr(simulation, "state", some(simulation.state))
    yield lambda: ss.Batch(some([some(CART)]), threads=some(1))
    yield lambda: (batch.set(some("motor"), some(1.0)), batch.step(some(1)))
    yield lambda: (batch.position(some("cart")), batch.force(some("rail")), batch.signal(some("t")))
    yield lambda: batch.reset(some([0]))
    yield lambda: batch.set_position(some("cart"), some([1.0]), some([0]))
    yield lambda: batch.set_velocity(some("cart"), some([[1.0], [2.0], [3.0]]), some(None))
    yield lambda: setattr(batch, "state", some(batch.state))
    yield lambda: RESULT[some("cart.position")]
    yield lambda: close(RESULT.plot(some("cart.position"), x=some("t"), start=some(None), until=some(None)))
    yield lambda: close(RESULT.animate(seconds=some(1.0), frames=some(2), view=some("xz"))._fig)
    yield lambda: ss.run(CART, contacts=some(False)).contacts
    yield lambda: ss.run(SCENE, contacts=some(True), every=some(1)).contacts[some("force.x")]
    yield lambda: CART.contacts(some("all"), friction=some({"law": "implicit", "mu": some(0.5)}), normal=some(None)).check()
    yield lambda: SCENE.material(some("steel"), mu=some(0.1)).fixed(some("wall"), shape=some({"box": some([1, 1, 1])}), position=some([0, 0, 0])).check()
    yield lambda: CART.body(some("p"), some("mass"), mass=some(1.0)).check()
    yield lambda: CART.element(some("e"), some("spring"), some("cart"), some("ground"), stiffness=some(1.0)).check()
    yield lambda: CART.joint(some("j"), some("cart"), some("ground"), type=some("fixed"), at=some([[0, 0, 0], [0, 0, 0]])).check()
    yield lambda: ss.Simulation(CART, elements={"own": type("Own", (Odd,), {"between": some(("cart", "ground")), "states": some({"z": some(0.0)})})(1.0)})
    yield lambda: ss.gym.make(
        some(CART), actions=some(["motor"]), observations=some(["cart.position"]), reward=some("cart.position"), terminated=some(None),
        limits=some({"motor": some((-1.0, 1.0))}), steps=some(1), noise=some(None),
    ).reset()  # fmt: skip
    yield lambda: ss.gym.make_vector(CART, some(2), actions=["motor"], observations=["cart.position"], reward="cart.position", noise=some({"cart": some(0.1)})).reset()
    yield lambda: (ENV.reset(seed=some(1)), MANY.reset(seed=some(1)))
    yield lambda: ENV.step(some([0.0]))
    yield lambda: MANY.step(some([[0.0], [0.0]]))


@pytest.mark.parametrize("seed", range(300))
def test_wrong_arguments_raise_errors_of_the_package(seed: int) -> None:
    chance = random.Random(seed)

    def pick(good: object) -> object:
        odd = chance.choice(ODD)
        # A huge count is no mistake, only long.
        return good if chance.random() < 0.5 or (isinstance(odd, int) and odd > 10**6) else odd

    for number, call in enumerate(calls(pick)):
        try:
            call()
        except ss.Error:
            pass
        except Exception as error:  # noqa: BLE001
            raise AssertionError(f"call {number} raised {type(error).__name__}: {error}") from error


def test_random_texts_never_break_it() -> None:
    chance = random.Random(7)
    text = CART.to_toml()
    for _ in range(300):
        broken = list(text)
        for _ in range(chance.randint(1, 6)):
            broken[chance.randrange(len(broken))] = chance.choice("[]{}=\".,\n0 aé\t-")
        try:
            ss.run("".join(broken) + "\n")
        except ss.Error:
            pass
