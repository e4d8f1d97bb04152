"""Ctrl-C ends long work within 0.1 s and keeps what was computed, in every call that may take long."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stickslip as ss

LONG = ss.Scenario(step=1e-6, duration=1000).mass("a", 1.0).mass("b", 1.0, velocity=1.0)
LONG = LONG.spring("ab", "a", "b", stiffness=100.0).friction("fa", "a", kinetic=0.1).friction("fb", "b", kinetic=0.1)
SHORT = ss.Scenario(step=1e-5, duration=1).mass("a", 1.0, velocity=1.0).spring("s", "a", stiffness=100.0).friction("f", "a", kinetic=0.01)
MASSES = [1 + i / 100000 for i in range(100000)]


def interrupted(call: Callable[[], object], threads: int = 1) -> Any:
    """What Ctrl-C raised. It counts what the process computes until then: other work on the machine makes it wait, but not compute."""
    lateness = []
    for _ in range(3):
        sent: list[float] = []

        def send() -> None:
            time.sleep(0.5)
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=send)
        thread.start()
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
        lateness.append(time.process_time() - sent[0])
        thread.join()
        assert isinstance(caught.value, ss.Interrupted)
        if lateness[-1] < 0.1 * threads:
            return caught.value
    raise AssertionError(f"s after Ctrl-C: {lateness}")


def test_a_run_keeps_its_rows() -> None:
    result = interrupted(lambda: ss.run(LONG, every=1000)).result
    assert 1 < len(result.t) and 0 < result.t[-1] < 1000
    assert result.report["t_end"] == result.t[-1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sweep_keeps_its_rows(threads: int) -> None:
    quick, key = SHORT.set("simulation.duration", 0.02), "bodies.a.mass"
    result = interrupted(lambda: ss.sweep(quick, {key: "lin:1:2:1000001"}, "final.a.position", threads=threads), threads).result
    rows = len(result["status"])
    assert 0 < rows < 1000001
    assert result[key].tolist() == pytest.approx([1 + i / 1e6 for i in range(rows)])
    whole = ss.sweep(quick, {key: result[key]}, "final.a.position")
    assert result.to_csv() == whole.to_csv()
    assert result["final.a.position"].tolist() == whole["final.a.position"].tolist()


def test_rows_that_take_long_do_not_hold_it_up() -> None:
    nothing = interrupted(lambda: ss.sweep(SHORT, {"simulation.duration": [1e5]}, "final.a.position")).result
    assert len(nothing["status"]) == 0 and nothing.columns == ["simulation.duration", "final.a.position", "status"]
    assert nothing.to_csv() == "simulation.duration,final.a.position,status\n"
    assert isinstance(interrupted(lambda: ss.evaluate(SHORT, {"simulation.duration": 1e5}, "final.a.position")), ss.Interrupted)


@pytest.mark.parametrize("trace", [False, True])
def test_a_map_keeps_its_cells(trace: bool, scenarios: Path) -> None:
    x, y = {"elements.spring.stiffness": "log:1 N/mm:100 N/mm:200"}, {"bodies.hook.velocity": "log:1e-2 mm/s:1 mm/s:200"}
    found = interrupted(lambda: ss.map(scenarios / "stick-slip-map.toml", x, y, trace_boundary=trace, tolerance=1e-9), 2).result
    assert isinstance(found, ss.Map)
    assert len(found["amplitude"]) < 200 * 200
    assert found.columns[:2] == ["elements.spring.stiffness", "bodies.hook.velocity"]


def test_a_comparison_keeps_the_laws_that_are_done() -> None:
    laws = [f"karnopp:epsilon={0.01 + i / 1e6}" for i in range(100)]
    quick = SHORT.set("simulation.duration", 3.0)
    found = interrupted(lambda: ss.compare(quick, "f", laws)).result
    assert 0 < len(found.rows) < 100
    assert [row["law"] for row in found.rows] == laws[: len(found.rows)] == list(found.curves)
    assert all(curve["t"][-1] == 3.0 for curve in found.curves.values())


def test_an_experiment_keeps_the_laws_that_are_done() -> None:
    found = interrupted(lambda: ss.experiment("no-drift", ["implicit", "lugre", "all"], set={"simulation.duration": 1e5})).result
    assert found.report["experiment"] == "no-drift" and len(found.laws) < 10


def test_steps_stop_where_they_are() -> None:
    simulation = ss.Simulation(LONG)
    interrupted(lambda: simulation.step(10**10))
    at = simulation.steps_done
    assert at > 1000
    simulation.step(10)
    assert simulation.steps_done == at + 10
    batch = ss.Batch([LONG] * 20, threads=2)
    interrupted(lambda: batch.step(10**10), 2)
    assert (batch.time > 0).all()


def test_a_step_that_calls_python_stops() -> None:
    class Nothing(ss.Element):
        between = ("a", "ground")

        def force(self, t, x, v, z):
            return 0.0

    simulation = ss.Simulation(LONG, elements={"own": Nothing()})
    interrupted(lambda: simulation.step(10**10))
    assert simulation.time > 0


@pytest.mark.parametrize(
    "work",
    [
        lambda: ss.run(LONG.set("simulation.duration", 1.0), every=10**6),
        lambda: ss.Simulation(LONG).step(10**6),
        lambda: ss.Batch([LONG] * 8).step(10**5),
        lambda: ss.sweep(SHORT, {"bodies.a.mass": MASSES[:300]}, "final.a.position"),
        lambda: ss.compare(SHORT, "f", ["implicit"] * 20),
        lambda: ss.experiment("no-drift", "implicit"),
    ],
    ids=["run", "step", "batch", "sweep", "compare", "experiment"],
)
def test_other_threads_go_on(work: Callable[[], object]) -> None:
    longest, done, last = 0.0, threading.Event(), time.monotonic()

    def tick() -> None:
        nonlocal longest, last
        while not done.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    work()
    lasted = time.monotonic() - start
    done.set()
    thread.join()
    assert longest < max(0.5 * lasted, 0.03), (longest, lasted)
