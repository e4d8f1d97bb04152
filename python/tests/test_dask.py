"""Sweeps on a real cluster of processes: the same bytes, whatever becomes of a worker."""

from __future__ import annotations

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


def test_ctrl_c_keeps_the_rows_before_the_first_that_is_missing(client) -> None:
    masses = [1 + i * 1e-4 for i in range(20000)]
    lateness = []

    def done(dask_scheduler):
        return [key for key, task in dask_scheduler.tasks.items() if task.state == "memory"]

    for _ in range(5):
        before = set(client.run_on_scheduler(done))
        sent: list[float] = []

        def send() -> None:
            # Once some rows of this call are there, which takes as long as it takes.
            while len(set(client.run_on_scheduler(done)) - before) < 5:
                time.sleep(0.1)
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=send)
        thread.start()
        with pytest.raises(ss.Interrupted) as caught:
            ss.sweep(BLOCK, {"bodies.block.mass": masses}, MEASURE, client=client, chunk=20)
        lateness.append(time.process_time() - sent[0])
        thread.join()
        table = caught.value.result
        rows = len(table["status"])
        assert rows < len(masses) and rows % 20 == 0
        if rows == 0:  # the first chunk is not always the first that is done
            continue
        assert table.to_csv() == ss.sweep(BLOCK, {"bodies.block.mass": masses[:rows]}, MEASURE).to_csv()
        if lateness[-1] < 0.1:
            return
    raise AssertionError(f"s after Ctrl-C: {lateness}")


def test_a_boundary_is_not_looked_for_on_a_cluster(client, scenarios: Path) -> None:
    x, y = {"elements.spring.stiffness": [1e3]}, {"bodies.hook.velocity": "log:1e-2 mm/s:1 mm/s:2"}
    with pytest.raises(ss.ArgumentError, match="trace_boundary"):
        ss.map(scenarios / "stick-slip-map.toml", x, y, client=client, trace_boundary=True)
