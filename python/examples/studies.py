"""Every study once, with its types: what a call takes and what it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stickslip as ss

block: ss.Scenario = ss.Scenario(title="Block", step=1e-3, duration=2.0).mass("block", 1.0, velocity=2.0)
block = block.friction("floor", "block", kinetic=10.0)
pulled = ss.Scenario(step=1e-3, duration=4).mass("block", 1.0).driver("hook", velocity=0.1)
pulled = pulled.spring("spring", "hook", "block", stiffness=90.0).friction("floor", "block", kinetic=4.0, static=5.0)
pulled = pulled.set("analysis.stick_slip", {"signal": "spring.force"})

chosen: dict[str, Any] = block.check()
result: ss.Result = ss.run(block, set={"bodies.block.mass": "2 kg"}, every=10)
velocity: NDArray[np.float64] = result["block.velocity"]
print(f"{result.columns}: {len(velocity)} rows, it slips until {result.events[-1]['t']:.3f} s")

table: ss.Table = ss.sweep(block, {"elements.floor.kinetic": [5.0, 10.0]}, ["final.block.position"], threads=1)
ways: NDArray[Any] = table["final.block.position"][table.ok]
value: float = ss.evaluate(block, {"elements.floor.kinetic": 20.0}, "final.block.position")
print(f"ways {ways.round(3)} m, and {value:.3f} m with twice the friction")

cells: ss.Map = ss.map(pulled, {"elements.spring.stiffness": [50.0, 90.0]}, {"bodies.hook.velocity": [0.01, 0.1]})
print(f"{int(np.sum(cells['stable'] == True))} of {len(cells['stable'])} cells are steady")  # noqa: E712

found: ss.Comparison = ss.compare(block, "floor", ["implicit", "lugre"])
print([(row["law"], row["residual_velocity"]) for row in found.rows])
tried: ss.Experiment = ss.experiment("presliding", "lugre")
print(tried.laws["lugre"])
equation: str = ss.laws("implicit")["equation"]
print(equation)


class Bushing(ss.Element):
    between = ("cart", "ground")

    def force(self, t: float, x: float, v: float, z: tuple[float, ...]) -> float:
        return -100.0 * x - 0.5 * v


cart = ss.Scenario(step=1e-3, integrator="rk4").mass("cart", 1.0, position=0.1).actuator("motor", "cart")
simulation: ss.Simulation = ss.Simulation(cart, elements={"bushing": Bushing()})
simulation.step(10)
state: bytes = simulation.state
simulation.reset()
simulation.state = state
print(f"{simulation.time:.3f} s, {simulation.signal('bushing.force'):.3f} N")

batch: ss.Batch = ss.Batch([cart] * 3)
batch.set("motor", [1.0, 2.0, 3.0])
batch.set_velocity("cart", np.zeros(3))
batch.step(100)
positions: NDArray[np.float64] = batch.position("cart")
print(positions.round(4))
