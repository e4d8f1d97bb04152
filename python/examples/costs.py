"""What a step costs from Python: a closed loop of one simulation, a batch of a thousand, and memory over many runs.

    python examples/costs.py [RUNS]     RUNS for the memory, default 2000
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import stickslip as ss

CART = ss.Scenario(step=1e-3, duration=1).mass("cart", 2.0).friction("rail", "cart", kinetic=6.0, static=8.0).actuator("motor", "cart")


def best(works: Sequence[Callable[[], object]], count: int, repeats: int) -> list[float]:
    """Seconds of one of `count` pieces of each work, the best of several. In turns: other work on the machine slows all of them."""
    times = [float("inf")] * len(works)
    for _ in range(repeats):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            times[number] = min(times[number], time.perf_counter() - start)
    return [time / count for time in times]


class Nothing:
    """The calls of a simulation that do nothing: what Python itself takes."""

    def set(self, name: str, value: float) -> None: ...
    def step(self) -> None: ...
    def reset(self) -> None: ...
    def position(self, name: str) -> float:
        return 0.0


def loop(simulation: ss.Simulation | Nothing, steps: int) -> None:
    simulation.reset()  # it swings for a while, and sticks then
    for _ in range(steps):
        simulation.set("motor", 20.0 - 40.0 * float(simulation.position("cart")))
        simulation.step()


def closed_loop(repeats: int = 300) -> tuple[float, float]:
    """Seconds a step of a loop that reads, decides, sets and steps, and what of it Python's own calls take."""
    # Short pieces, many times: on a busy machine only those are free of other work.
    steps, simulation = 500, ss.Simulation(CART)
    ours, python = best([lambda: loop(simulation, steps), lambda: loop(Nothing(), steps)], steps, repeats)
    return ours, python


def batch(repeats: int = 300) -> tuple[float, float]:
    """Seconds a step and system of a thousand with an array for the actuators, and what of it NumPy takes."""
    count, steps = 1000, 20
    # Two of five stick, the others slide.
    runs, position, pushed = ss.Batch([CART] * count), np.zeros(count), np.linspace(0.0, 20.0, count)

    def numpy_alone() -> None:
        for _ in range(steps):
            force = pushed - 1e-3 * position
            force.sum()

    def all_of_it() -> None:
        for _ in range(steps):
            runs.set("motor", pushed - 1e-3 * runs.position("cart"))
            runs.step()

    whole, alone = best([all_of_it, numpy_alone], steps * count, repeats)
    return whole, alone


def parts(repeats: int = 300) -> dict[str, float]:
    """Seconds a system of each call of a batch of a thousand."""
    count, steps = 1000, 20
    runs, force = ss.Batch([CART] * count), np.linspace(0.0, 20.0, count)
    calls: dict[str, Callable[[], object]] = {
        "step": runs.step,
        "set": lambda: runs.set("motor", force),
        "position": lambda: runs.position("cart"),
    }

    def repeat(call: Callable[[], object]) -> None:
        for _ in range(steps):
            call()

    works = [lambda call=call: repeat(call) for call in calls.values()]
    return dict(zip(calls, best(works, steps * count, repeats)))


def memory(runs: int) -> tuple[float, float] | None:
    """Resident memory in MB before and after so many runs, where it can be read."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return None

    def resident() -> float:
        gc.collect()
        return int(status.read_text().split()[1]) * 4096 / 1e6

    short = CART.set("simulation.duration", 0.02)
    for _ in range(500):
        ss.run(short)
    before = resident()
    for _ in range(runs):
        ss.run(short)
    return before, resident()


if __name__ == "__main__":
    ours, python = closed_loop()
    print(f"closed loop (set, step, position): {1e9 * ours:.0f} ns a step, {1e9 * python:.0f} ns of them Python's own calls")
    simulation = ss.Simulation(CART)
    (engine,) = best([lambda: simulation.step(100_000)], 100_000, 20)
    print(f"many steps in one call: {1e9 * engine:.1f} ns a step")
    whole, alone = batch()
    print(f"batch of 1000 (set, step, position): {1e9 * (whole - alone):.1f} ns a step and system beyond NumPy's {1e9 * alone:.1f} ns")
    print(f"  of these: {', '.join(f'{name} {1e9 * cost:.1f}' for name, cost in parts().items())}")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    resident = memory(runs)
    if resident is not None:
        print(f"resident memory: {resident[0]:.1f} MB before and {resident[1]:.1f} MB after {runs} runs")
