"""A cart on a rail with friction, brought to its place by a controller in Python."""

from __future__ import annotations

import numpy as np

import stickslip as ss

cart = ss.Scenario(step=1e-3, duration=3).mass("cart", 2.0)
cart = cart.friction("rail", "cart", "ground", kinetic=6.0, static=8.0).actuator("motor", "cart", "ground")

simulation = ss.Simulation(cart)
target, integral = 0.1, 0.0
position = np.empty(3000)
for i in range(len(position)):
    error = target - float(simulation.position("cart"))
    integral += error * simulation.step_size
    simulation.set("motor", 800.0 * error + 400.0 * integral - 60.0 * float(simulation.velocity("cart")))
    simulation.step()
    position[i] = simulation.position("cart")
print(f"after 3 s the cart stands {1e3 * abs(position[-1] - target):.2f} mm off its target: {simulation.mode('rail')}")

table: ss.Table = ss.sweep(cart, {"elements.rail.kinetic": [2.0, 4.0, 6.0]}, ["energy.dissipated"], set={"elements.motor.value": 10})
result: ss.Result = ss.run(cart, set={"elements.motor.value": 10})
worst: float = float(np.abs(result["cart.velocity"]).max())
print(table["energy.dissipated"], worst)
try:
    ss.run(cart, set={"bodies.cart.mas": 1})
except ss.ScenarioError as problem:
    print(problem.line, problem.column, problem.help)
