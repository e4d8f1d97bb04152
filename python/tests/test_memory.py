"""Nothing is kept of runs that are over."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
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


@pytest.mark.parametrize("copied", [False, True])
def test_an_element_that_refers_to_its_simulation_is_let_go_of(copied: bool) -> None:
    class Own(ss.Element):
        between = ("block", "ground")

        def force(self, t, x, v, z):
            return -x

    element = Own()
    element.simulation = ss.Simulation(BLOCK, elements={"own": element})
    if copied:
        element.other = element.simulation.copy()
    element.simulation.step(3)
    there = weakref.ref(element)
    del element
    gc.collect()
    assert there() is None


def test_a_copy_keeps_its_elements() -> None:
    class Own(ss.Element):
        between = ("block", "ground")

        def force(self, t, x, v, z):
            return -x

    simulation = ss.Simulation(BLOCK, elements={"own": Own()})
    copy = simulation.copy()
    del simulation
    gc.collect()
    copy.step(3)
    assert copy.force("own") == -copy.position("block")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")
@pytest.mark.parametrize(
    "call",
    [
        "ss.run(C, set={'simulation.duration': 1e7})",  # 1e10 steps
        "ss.run(C, set={'simulation.duration': 6e4})",
        "ss.Batch([C] * 3_000_000)",
        "[B.copy() for B in [ss.Batch([C] * 50_000)] for _ in range(100) for B in [keep(B.copy())]]",
        "ss.sweep(C, {'bodies.block.mass': 'lin:1:2:1000000000'}, 't_end')",
    ],
)
def test_what_does_not_fit_is_refused_before_it_begins(call: str) -> None:
    script = f"""
import resource
import stickslip as ss
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
C = ss.Scenario(step=1e-3).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0)
kept = []
keep = lambda made: (kept.append(made), made)[1]
try:
    {call}
except ss.Error as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "B of memory, and " in done.stdout and "help: " in done.stdout, done.stdout
