"""Sweeps on a real cluster of processes: the same bytes, whatever becomes of a worker."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss
from stickslip._cluster import _chunks

distributed = pytest.importorskip("distributed")

BLOCK = ss.Scenario(step=1e-4, duration=2).mass("block", 1.0, velocity=4.0).spring("s", "block", stiffness=50.0)
BLOCK = BLOCK.friction("floor", "block", kinetic=3.0, static=4.0)
VARY = {"bodies.block.mass": [1 + 0.05 * i for i in range(40)], "elements.floor.law": ["implicit", "karnopp"]}
MEASURE = ["final.block.position", "elements.floor.dissipated", "energy.residual"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    cluster = distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    )
    yield cluster
    cluster.close()


@pytest.fixture
def client(cluster: object) -> Iterator[object]:
    client = distributed.Client(cluster)
    client.wait_for_workers(4, timeout=60)
    yield client
    client.close()


@pytest.fixture(scope="module")
def alone() -> str:
    return ss.sweep(BLOCK, VARY, MEASURE).to_csv()


def test_four_workers_give_the_same_bytes(client, alone: str) -> None:
    for chunk in (None, 7):
        table = ss.sweep(BLOCK, VARY, MEASURE, client=client, chunk=chunk)
        assert table.to_csv() == alone
    whole = ss.sweep(BLOCK, VARY, MEASURE)
    for name in whole:
        floats = whole[name].dtype == float
        assert table[name].dtype == whole[name].dtype
        assert np.array_equal(table[name], whole[name], equal_nan=floats), name


def test_a_worker_that_is_killed_changes_nothing(client, alone: str) -> None:
    slow = BLOCK.set("simulation.step", 5e-7)
    measure = ["final.block.position", "elements.floor.dissipated"]
    wanted = ss.sweep(slow, {"bodies.block.mass": VARY["bodies.block.mass"]}, measure).to_csv()
    pids = client.run(os.getpid)
    victims = list(pids.values())

    killed = []

    def kill() -> None:
        # Once the worker has some of the work, however long that takes.
        busy = False
        while not busy:
            time.sleep(0.01)
            held = client.processing()
            busy = any(pids.get(worker) == victims[0] and keys for worker, keys in held.items())
        os.kill(victims[0], signal.SIGKILL)
        killed.append(time.monotonic())

    thread = threading.Thread(target=kill)
    thread.start()
    table = ss.sweep(slow, {"bodies.block.mass": VARY["bodies.block.mass"]}, measure, client=client, chunk=2)
    ended = time.monotonic()
    thread.join()
    assert killed[0] < ended  # in the middle of it
    assert table.to_csv() == wanted
    assert victims[0] not in client.run(os.getpid).values()


def test_an_error_of_the_scenario_is_raised_once_with_its_text(client) -> None:
    with pytest.raises(ss.ScenarioError, match="mas.*\n") as caught:
        ss.sweep(BLOCK, {"bodies.block.mas": [1.0, 2.0]}, MEASURE, client=client)
    assert "mass" in (caught.value.help or "")
    with pytest.raises(ss.ScenarioError, match="velocit"):
        ss.sweep(BLOCK, {"bodies.block.mass": [1.0]}, ["final.block.velocit"], client=client)
    with pytest.raises(ss.Error, match="client"):
        ss.sweep(BLOCK, {"bodies.block.mass": [1.0]}, MEASURE, client=object())


def test_a_client_that_vanishes_leaves_the_cluster_free(cluster, client, alone: str, tmp_path: Path) -> None:
    script = tmp_path / "vanish.py"
    script.write_text(
        f"import distributed, os, threading, time, stickslip as ss\n"
        f"client = distributed.Client({cluster.scheduler_address!r})\n"
        f"block = ss.Scenario({BLOCK.to_toml()!r})\n"
        f"threading.Thread(target=lambda: (time.sleep(1.0), os._exit(7))).start()\n"
        f"ss.sweep(block, {{'bodies.block.mass': [1 + i * 1e-4 for i in range(100000)]}}, ['energy.residual'], client=client, chunk=50)\n"
    )
    done = subprocess.run([sys.executable, str(script)], timeout=60)
    assert done.returncode == 7
    assert ss.sweep(BLOCK, VARY, MEASURE, client=client).to_csv() == alone
    for _ in range(100):
        if not client.run_on_scheduler(lambda dask_scheduler: [k for k in dask_scheduler.tasks if str(k).startswith("stickslip")]):
            return
        time.sleep(0.1)
    raise AssertionError("work of the client that is gone is still there")


def test_maps_on_the_cluster(client, scenarios: Path) -> None:
    x, y = {"elements.spring.stiffness": "log:1 N/mm:100 N/mm:3"}, {"bodies.hook.velocity": "log:1e-2 mm/s:1 mm/s:2"}
    file = scenarios / "stick-slip-map.toml"
    assert ss.map(file, x, y, client=client).to_csv() == ss.map(file, x, y).to_csv()


def at_part(monkeypatch, least: float, act) -> None:
    """Does something once that part of the rows is there, however long that takes."""

    class Watched:
        def __init__(self, what: str) -> None:
            self.thread: threading.Thread | None = None

        def __enter__(self):
            return self.tell

        def tell(self, part: float) -> None:
            if part >= least and self.thread is None:
                self.thread = threading.Thread(target=act)
                self.thread.start()

        def __exit__(self, *_: object) -> None:
            if self.thread is not None:
                self.thread.join()

    monkeypatch.setattr("stickslip._cluster.Progress", Watched)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("chunk", [20, None])
def test_ctrl_c_keeps_the_rows_before_the_first_that_is_missing(client, monkeypatch, chunk: int | None) -> None:
    masses = [1 + i * 1e-4 for i in range(20000)]
    # What the first thread computes from then on: other threads of the process have the scheduler, and waiting is not computing.
    clock = time.pthread_getcpuclockid(threading.main_thread().ident)
    lateness: list[float] = []
    for _ in range(5):
        sent: list[float] = []

        def act() -> None:
            sent.append(time.clock_gettime(clock))
            interrupt()

        at_part(monkeypatch, 0.1 if chunk else 0.6, act)
        with pytest.raises(ss.Interrupted) as caught:
            ss.sweep(BLOCK, {"bodies.block.mass": masses}, MEASURE, client=client, chunk=chunk)
        lateness.append(time.clock_gettime(clock) - sent[0])
        table = caught.value.result
        rows = len(table["status"])
        assert rows < len(masses) and (chunk is None or rows % chunk == 0)
        if rows == 0:  # the worker that has the first chunk waits for a processor
            continue
        assert table.to_csv() == ss.sweep(BLOCK, {"bodies.block.mass": masses[:rows]}, MEASURE).to_csv()
        if lateness[-1] < 0.1:
            return
    raise AssertionError(f"rows: {rows}, s after Ctrl-C: {lateness}")


def test_ctrl_c_before_anything_is_sent(client, monkeypatch) -> None:
    ask = client.nthreads

    def late():
        interrupt()
        return ask()

    monkeypatch.setattr(client, "nthreads", late)
    with pytest.raises(ss.Interrupted) as caught:
        ss.sweep(BLOCK, VARY, MEASURE, client=client)
    assert len(caught.value.result["status"]) == 0
    assert caught.value.result.columns == [*VARY, *MEASURE, "status"]


def test_ctrl_c_that_a_callback_of_the_garbage_collector_would_swallow(client, monkeypatch) -> None:
    # As that of Dask, which measures every collection: what is raised there is printed, and lost.
    def measure(phase: str, info: object) -> None:
        if phase == "start" and threading.current_thread() is threading.main_thread() and not sent:
            sent.append(True)
            interrupt()
            time.sleep(0.01)

    sent: list[bool] = []
    send = client.map
    monkeypatch.setattr(client, "map", lambda *rest, **named: (gc.collect(), send(*rest, **named))[1])
    gc.callbacks.append(measure)
    try:
        with pytest.raises(ss.Interrupted):
            ss.sweep(BLOCK, VARY, MEASURE, client=client)
    finally:
        gc.callbacks.remove(measure)


def test_rows_that_take_long_do_not_hold_it_up(client, alone: str, monkeypatch) -> None:
    # 1e10 steps a row, on every worker: Ctrl-C does not wait for them, and they do not go on for nobody.
    at_part(monkeypatch, 0.0, lambda: (time.sleep(1), interrupt()))
    with pytest.raises(ss.Interrupted) as caught:
        ss.sweep(BLOCK, {"simulation.duration": [1e6 + i for i in range(8)]}, MEASURE, client=client)
    assert len(caught.value.result["status"]) == 0
    monkeypatch.undo()
    assert ss.sweep(BLOCK, VARY, MEASURE, client=client).to_csv() == alone


def test_first_chunks_are_short() -> None:
    ranges = _chunks(100_000, 8, None)
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges[:-1])] and ranges[-1][1] == 100_000
    # Whenever it is stopped, no more is under way than twice what was done before, or a row a thread.
    sizes = [end - start for start, end in ranges]
    assert sizes[:8] == [1] * 8 and max(sizes) == 3125
    assert all(sum(sizes[i : i + 8]) <= 8 + 2 * sum(sizes[:i]) for i in range(len(sizes)))
    assert _chunks(10, 0, 4) == [(0, 4), (4, 8), (8, 10)] and _chunks(0, 4, None) == []


def test_a_client_that_is_closed_is_an_error_of_ours(cluster, monkeypatch) -> None:
    other = distributed.Client(cluster, set_as_default=False)
    assert len(ss.sweep(BLOCK, {"bodies.block.mass": [1.0]}, MEASURE, client=other)["status"]) == 1
    at_part(monkeypatch, 0.01, other.close)
    with pytest.raises(ss.Error, match="client"):
        ss.sweep(BLOCK, {"bodies.block.mass": [1 + i * 1e-4 for i in range(20000)]}, MEASURE, client=other, chunk=20)
    with pytest.raises(ss.Error, match="client is closed\nhelp"):
        ss.sweep(BLOCK, VARY, MEASURE, client=other)


def test_what_dask_raises_is_the_cause_of_an_error_of_ours(client, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the line is dead")

    # What fails afterwards does not hide it.
    send, count = client.map, []
    monkeypatch.setattr(distributed.Future, "release", broken)
    monkeypatch.setattr(client, "map", lambda *rest, **named: broken() if count else (count.append(1), send(*rest, **named))[1])
    with pytest.raises(ss.Error, match="OSError: the line is dead") as caught:
        ss.sweep(BLOCK, VARY, MEASURE, client=client)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_boundary_is_not_looked_for_on_a_cluster(client, scenarios: Path) -> None:
    x, y = {"elements.spring.stiffness": [1e3]}, {"bodies.hook.velocity": "log:1e-2 mm/s:1 mm/s:2"}
    with pytest.raises(ss.ArgumentError, match="trace_boundary"):
        ss.map(scenarios / "stick-slip-map.toml", x, y, client=client, trace_boundary=True)
