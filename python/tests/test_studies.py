"""Sweeps, maps, comparisons, experiments, measured data: the command line's numbers, bit for bit."""

from __future__ import annotations

import csv
import io
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss


def test_a_sweep_is_that_of_the_command_line(scenarios: Path, command) -> None:
    file = scenarios / "drawer.toml"
    keys = ss.run(file, every=10**9).report["elements"]
    element = next(iter(keys))
    measures = ["energy.dissipated", f"elements.{element}.max_force", "t_end"]
    text = command("sweep", file, "--vary", "simulation.step=list:1e-3,2e-3,5e-3", "--measure", ",".join(measures), "--quiet")
    for threads in (1, 2):
        table = ss.sweep(file, {"simulation.step": [1e-3, 2e-3, 5e-3]}, measures, threads=threads)
        assert table.to_csv() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert table[measures[0]].tolist() == [float(row[measures[0]]) for row in rows]
    assert table.ok.all()


def test_words_units_and_failures_in_a_sweep() -> None:
    block = ss.Scenario(step=1e-3).mass("block", 1.0, velocity=2.0).friction("floor", "block", kinetic=10.0)
    table = ss.sweep(block, {"elements.floor.law": ["implicit", "nonsense"], "elements.floor.kinetic": ["5 N", "10 N"]}, ["final.block.position"])
    assert table["elements.floor.law"].tolist() == ["implicit"] * 2 + ["nonsense"] * 2
    assert table["elements.floor.kinetic"].tolist() == [5.0, 10.0] * 2
    assert table.ok.tolist() == [True, True, False, False]
    assert np.isnan(table["final.block.position"][2])
    assert len(table.to_pandas()) == 4


def test_evaluate_is_a_function_for_optimisers() -> None:
    block = ss.Scenario(step=1e-3, duration=2).mass("block", 1.0, velocity=4.0).friction("floor", "block", kinetic=10.0)
    assert ss.evaluate(block, {"elements.floor.kinetic": 20.0}, "final.block.position") == pytest.approx(0.4 - 0.002)
    assert ss.evaluate(block, measure=["final.block.velocity", "t_end"]) == [0.0, 2.0]
    assert pickle.loads(pickle.dumps(ss.evaluate)) is ss.evaluate
    assert pickle.loads(pickle.dumps(block)) == block
    optimise = pytest.importorskip("scipy.optimize")
    # Which friction stops it after 0.5 m? v²/(2x) = 16 N.
    found = optimise.brentq(lambda f: ss.evaluate(block, {"elements.floor.kinetic": f}, "final.block.position") - 0.498, 5, 40)
    assert found == pytest.approx(16.0, rel=1e-6)
    joblib = pytest.importorskip("joblib")
    values = joblib.Parallel(n_jobs=2)(joblib.delayed(ss.evaluate)(block, {"elements.floor.kinetic": f}, "final.block.position") for f in (10.0, 20.0))
    assert values == pytest.approx([0.798, 0.398])


def test_a_map_is_that_of_the_command_line(scenarios: Path, command, tmp_path: Path) -> None:
    file = scenarios / "stick-slip-map.toml"
    x, y = "elements.spring.stiffness=log:1 N/mm:100 N/mm:3", "bodies.hook.velocity=log:0.1 mm/s:10 mm/s:3"
    scenario = ss.Scenario(file)
    text = scenario.to_toml()
    keys = [line for line in text.splitlines() if line.startswith("[")]
    assert "[elements.spring]" in keys and "[bodies.hook]" in keys
    csv_text = command("map", file, "--x", x, "--y", y, "--quiet")
    found = ss.map(file, {x.split("=")[0]: x.split("=")[1]}, {y.split("=")[0]: y.split("=")[1]})
    assert found.to_csv() == csv_text
    assert found["stable"].dtype == bool or None in found["stable"]
    found.plot().savefig(tmp_path / "map.png")


def test_a_comparison_is_that_of_the_command_line(command, tmp_path: Path) -> None:
    block = ss.Scenario(step=1e-3).mass("block", 1.0, velocity=2.0).friction("floor", "block", "ground", kinetic=10.0)
    file = tmp_path / "block.toml"
    file.write_text(block.to_toml())
    laws = ["implicit", "karnopp", "lugre:stiffness=1e5:damping=300"]
    theirs = json.loads(command("compare", file, "--element", "floor", "--laws", ",".join(laws), "--json"))
    ours = ss.compare(file, "floor", laws)
    for row in theirs["laws"] + ours.rows:
        row.pop("ns_per_step")
    assert ours.report == theirs
    implicit = ours.curves["implicit"]
    assert implicit["slip"][-1] == pytest.approx(0.2, abs=2e-3)
    ours.plot().savefig(tmp_path / "compare.png")
    assert list(ours.to_pandas().index) == laws
    with pytest.raises(ss.ScenarioError, match="lugre"):
        ss.compare(block, "floor", "lugr")


def test_an_experiment_is_that_of_the_command_line(command, tmp_path: Path) -> None:
    theirs = json.loads(command("experiment", "slide-hold-slide", "--law", "implicit,lugre", "--set", "elements.floor.kinetic=8", "--json"))
    ours = ss.experiment("slide-hold-slide", ["implicit", "lugre"], set={"elements.floor.kinetic": 8})
    assert ours.report == theirs
    ours.plot().savefig(tmp_path / "experiment.png")
    with pytest.raises(ss.ScenarioError, match="slide-hold-slide"):
        ss.experiment("slide-hold", "implicit")


def test_measured_data(command, tmp_path: Path) -> None:
    file = tmp_path / "saw.csv"
    with file.open("w") as out:
        out.write("t,force\n")
        for i in range(4000):
            t = i * 1e-3
            out.write(f"{t:.3f},{10 + 4 * (t % 0.5) + 0.01 * math.sin(7919 * i)}\n")
    theirs = json.loads(command("analyse", file, "--signal", "force", "--json"))
    ours = ss.analyse(file, signal="force")
    assert ours.report == theirs
    # A saw of period 0.5 s and 2 N.
    assert ours["period"] == pytest.approx(0.5, rel=0.02)
    ours.plot().savefig(tmp_path / "cycles.png")
    with pytest.raises(ss.ScenarioError, match="force"):
        ss.analyse(file, signal="forc")
    with pytest.raises(ss.ScenarioError):
        ss.analyse(file)


def test_rewriting(scenarios: Path, command) -> None:
    file = scenarios / "fig001-3-equations.toml"
    for form in ("text", "python", "c"):
        assert ss.rewrite(file, form) == command("rewrite", file, "--emit", form)
    space: dict[str, object] = {}
    exec(ss.rewrite(file, "python"), space)
    assert len(space["STATES"]) == len(space["INITIAL"])
    with pytest.raises(KeyError):
        ss.rewrite(file, "fortran")
