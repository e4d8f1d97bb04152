"""Nothing is kept of runs that are over."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import stickslip as ss

BLOCK = ss.Scenario(step=1e-2, duration=0.2).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0).actuator("m", "block")


def resident() -> int:
    """Resident memory in bytes."""
    status = Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("resident memory is read from /proc")
    return int(status.read_text().split()[1]) * 4096


def work(count: int) -> None:
    for _ in range(count):
        ss.run(BLOCK)
        simulation = ss.Simulation(BLOCK)
        simulation.step(3)
        simulation.copy()
        try:
            ss.run(BLOCK, set={"bodies.block.mass": -1})
        except ss.ScenarioError:
            pass


def test_no_run_leaves_anything_behind() -> None:
    work(300)
    gc.collect()
    before = resident()
    work(3000)
    gc.collect()
    # A list of rows of 3000 runs would be 3 MB; what the allocator keeps for itself is less.
    assert resident() - before < 2_000_000
