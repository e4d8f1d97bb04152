"""Runs, scenarios and errors: closed forms, and the command line's own files, byte for byte."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY

import stickslip as ss

BLOCK = """\
title = "Block"
[simulation]
duration = "2 s"
step = "1 ms"
integrator = "implicit-euler"
[bodies.block]
kind = "mass"
mass = "2 kg"
velocity = "3 m/s"
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "10 N"
"""


def builder() -> ss.Scenario:
    scenario = ss.Scenario(title="Block", duration="2 s", step="1 ms").mass("block", "2 kg", velocity="3 m/s")
    return scenario.friction("floor", "block", "ground", kinetic="10 N")


def test_block_stops_where_the_closed_form_says() -> None:
    result = ss.run(BLOCK)
    # v²/(2a) with a = 5 m/s²; the implicit step ends half a step of the start velocity short.
    assert result["block.position"][-1] == pytest.approx(0.9 - 0.5e-3 * 3, abs=1e-12)
    assert result["block.velocity"][-1] == 0.0
    assert len(result.t) == 2001
    assert result.t[1] == 0.001


def test_text_dict_file_and_builder_are_the_same(tmp_path: Path) -> None:
    tree = {
        "title": "Block",
        "simulation": {"duration": "2 s", "step": "1 ms", "integrator": "implicit-euler"},
        "bodies": {"block": {"kind": "mass", "mass": "2 kg", "velocity": "3 m/s"}},
        "elements": {"floor": {"kind": "friction", "between": ["block", "ground"], "law": "implicit", "kinetic": "10 N"}},
    }
    file = tmp_path / "block.toml"
    file.write_text(BLOCK)
    wanted = ss.run(BLOCK)
    for other in (tree, file, str(file), builder(), ss.Scenario(tree), ss.Scenario(BLOCK).to_toml()):
        found = ss.run(other)
        assert found.columns == wanted.columns
        for name in wanted:
            assert np.array_equal(found[name], wanted[name])


def test_results_are_arrays_without_copies() -> None:
    result = ss.run(BLOCK)
    column = result["block.position"]
    assert column.dtype == np.float64 and column.flags.c_contiguous
    assert result["block.position"] is column
    assert not column.flags.owndata  # the memory is that of the run


SCENARIOS = sorted(path.name for path in (REPOSITORY / "scenarios").glob("*.toml"))
MOST_STEPS = 3000


@pytest.mark.parametrize("name", SCENARIOS)
def test_traces_and_reports_equal_those_of_the_command_line(name: str, scenarios: Path, command, tmp_path: Path) -> None:
    file, out = scenarios / name, tmp_path / "trace.json"
    simulation = ss.Simulation(file)
    # The start of each is enough to see that they are the same.
    shorter = min(simulation.duration, MOST_STEPS * simulation.step_size)
    changes = {"simulation.duration": shorter}
    changes.update({f"analysis.{kind}.from": shorter / 2 for kind in re.findall(r"^(stick_slip|slip_events) =.*from", file.read_text(), re.M)})
    arguments = [word for key, value in changes.items() for word in ("--set", f"{key}={value!r}")]
    report = json.loads(command("run", file, "--json", "--every", 10, "--out", out, *arguments))
    trace = json.loads(out.read_text())
    result = ss.run(file, set=changes, every=10)
    own = dict(result.report)
    report.pop("seconds"), own.pop("seconds")
    assert own == report
    assert result.columns == list(trace)
    for column in result.columns:
        assert result[column].tolist() == trace[column], column


def test_all_scenarios_are_there() -> None:
    assert len(SCENARIOS) > 40


def test_changes_reach_every_key() -> None:
    heavy = ss.run(BLOCK, set={"bodies.block.mass": 4, "elements.floor.kinetic": "20 N", "simulation.step": 2e-3})
    assert heavy.report["step"] == 2e-3
    assert ss.run(builder().set("bodies.block.mass", 4.0)).report["t_end"] == 2.0
    with pytest.raises(ss.ScenarioError, match="mas"):
        ss.run(BLOCK, set={"bodies.block.mas": 4})


def test_toml_reads_back() -> None:
    odd = ss.Scenario(BLOCK).set("title", 'a "quoted" \\ title\twith a tab')
    assert ss.run(odd.to_toml()).report["title"] == 'a "quoted" \\ title\twith a tab'
    again = ss.Scenario(odd.to_toml())
    assert again.to_toml() == odd.to_toml()


def test_errors_have_line_column_and_help() -> None:
    with pytest.raises(ss.ScenarioError) as caught:
        ss.run(BLOCK.replace('"implicit"\n', '"implict"\n'))
    assert (caught.value.line, caught.value.column) == (13, 7)
    assert "implicit" in (caught.value.help or "")
    assert isinstance(caught.value, ss.Error)
    assert pickle.loads(pickle.dumps(caught.value)).line == 13
    with pytest.raises(ss.ScenarioError) as caught:
        ss.run("no/such/file.toml")
    assert caught.value.line is None


def test_a_run_that_fails_has_its_time_and_result() -> None:
    # RK4 on an undamped spring is stable up to omega*T = 2*sqrt(2); this one overflows within a few steps.
    wild = ss.Scenario(step=0.1, duration=10, integrator="rk4").mass("block", 1.0, position=1.0).spring("s", "block", stiffness=1e40)
    with pytest.raises(ss.RunError) as caught:
        ss.run(wild)
    error = caught.value
    assert error.time is not None and error.time < 10
    assert error.result["block.position"][0] == 1.0
    assert error.result.t[-1] <= error.time


def test_a_missing_column_is_a_key_error_that_names_the_nearest() -> None:
    result = ss.run(BLOCK)
    with pytest.raises(KeyError, match="block.position"):
        result["block.postion"]
    assert isinstance(pytest.raises(ss.Error, lambda: result["x"]).value, KeyError)


def test_pandas_and_xarray() -> None:
    pandas = pytest.importorskip("pandas")
    result = ss.run(BLOCK)
    frame = result.to_pandas()
    assert frame.index.name == "t" and frame["block.velocity"].iloc[-1] == 0
    assert isinstance(frame, pandas.DataFrame)
    pytest.importorskip("xarray")
    data = result.to_xarray()
    assert float(data["block.velocity"].sel(t=0.1, method="nearest")) == pytest.approx(2.5)


def test_nothing_is_imported_before_it_is_wanted() -> None:
    import subprocess
    import sys

    late = "import stickslip, sys; print([m for m in ('pandas', 'xarray', 'matplotlib', 'dask', 'gymnasium') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", late], capture_output=True, text=True).stdout.strip() == "[]"


def test_laws_are_those_of_the_command_line(command) -> None:
    assert ss.laws() == json.loads(command("laws", "--json"))
    with pytest.raises(KeyError, match="lugre"):
        ss.laws("lugr")


def test_check_is_that_of_the_command_line(scenarios: Path, command) -> None:
    for name in ("drawer.toml", "brake.toml"):
        ours, theirs = ss.Scenario(scenarios / name).check(), json.loads(command("check", scenarios / name, "--json"))
        for found in (ours, theirs):
            found.pop("estimate")  # of this machine now
        assert ours == theirs


def test_pictures(tmp_path: Path) -> None:
    result = ss.run(BLOCK)
    for figure in (result.plot(), result.plot("floor.force", x="block.position")):
        figure.savefig(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 5000
    # What a notebook shows of the last value of a cell.
    html = result.animate(frames=4)._repr_html_()
    assert "<img" in html and html.count("data:image/png;base64") >= 4


def test_the_builder_reaches_every_kind(command) -> None:
    """One of each kind that the schema of the program knows: built, checked, run, and read back from its text."""
    link = dict(name="upper", parent="ground", joint="shoulder", type="revolute", axis=[0, 1, 0], mass=1.0, com=[0.2, 0, 0], inertia=[0.01, 0.02, 0.02])
    all_kinds = (
        ss.Scenario(step=1e-3, duration=0.05, integrator="rk4", gravity=[0, 0, -9.81])
        .mass("block", 1.0, velocity=1.0)
        .inertia("shaft", 0.1, velocity=2.0)
        .driver("hook", velocity=0.1)
        .rigid_body("ball", 0.3, shape={"sphere": 0.1}, position=[0, 0, 0.1])
        .rigid_body("bar", 0.3, shape={"box": [0.1, 0.1, 0.4]}, position=[1, 0, 0])
        .linkage("arm", [link])
        .fixed("table", shape={"box": [1, 1, 0.1]}, position=[0, 0, -5])
        .body("pendulum", "equations", coordinates={"theta": 0.3}, mass_matrix=[["m*l^2"]], force=["-m*9.81*l*sin(theta)"], parameters={"m": 1, "l": 0.5})
        .spring("spring", "hook", "block", stiffness=90.0, damping=1.0)
        .friction("floor", "block", law="proxy", kinetic=2.0)
        .friction("bearing", on="arm.shoulder", law="lugre", kinetic=1.0, stiffness=50.0, damping=1.0)
        .contact("ground_contact", "ball", surface={"plane": {"normal": [0, 0, 1]}}, normal={"law": "kelvin-voigt", "stiffness": 1e5, "damping": 10})
        .stop("end", "block", upper=0.5, normal={"law": "kelvin-voigt", "stiffness": 1e5, "damping": 10})
        .joint("hinge", "bar", type="revolute", at=[[0, 0, 0.2], [1, 0, 0.2]], axis=[0, 1, 0])
        .gear("gear", "shaft", "block", ratio=[0.1, 1.0])
        .actuator("motor", "shaft", value="0.1*sin(t)")
        .element("bushing", "equations", "block", force="-k*x", parameters={"k": 10.0})
    )
    schema, made = json.loads(command("schema")), all_kinds._tree
    assert made is not None
    for table in ("bodies", "elements"):
        known = [entry["$ref"].split("/")[-1] for entry in schema["properties"][table]["additionalProperties"]["oneOf"]]
        kinds = {schema["$defs"][name]["properties"]["kind"]["const"] for name in known}
        assert {entry["kind"] for entry in made[table].values()} == kinds, table
    assert all_kinds.check()["title"] == ""
    result = ss.run(all_kinds)
    again = ss.run(all_kinds.to_toml())
    assert all(np.array_equal(result[name], again[name]) for name in result.columns)
    # Every other table of a file, and any key: `set`.
    analysed = all_kinds.set("analysis.stick_slip", {"signal": "floor.force", "from": 0.01}).set("output.columns", ["floor.force"])
    assert ss.run(analysed).columns == ["t", "floor.force"] and ss.run(analysed).report["stick_slip"] is not None
    # The same calls go on from a file.
    assert "second" in ss.Simulation(ss.Scenario(BLOCK).mass("second", 1.0).spring("s", "second", "block", stiffness=1.0)).bodies


def test_names_of_files_may_have_an_equals_sign(tmp_path: Path) -> None:
    file = tmp_path / "mass=2.toml"
    file.write_text(BLOCK)
    assert ss.run(str(file)).report["title"] == "Block"
    with pytest.raises(ss.ScenarioError, match="mass=3.toml"):
        ss.run(str(tmp_path / "mass=3.toml"))
    # One line of text that is no name of a file.
    with pytest.raises(ss.ScenarioError) as caught:
        ss.run("title = 'x'")
    assert "simulation" in str(caught.value)


def test_a_given_scenario_takes_a_title_and_keys_of_the_simulation(tmp_path: Path) -> None:
    file = tmp_path / "block.toml"
    file.write_text(BLOCK)
    for given in (file, BLOCK, builder()):
        report = ss.run(ss.Scenario(given, title="Other", step="2 ms")).report
        assert (report["title"], report["step"]) == ("Other", 0.002)


def test_names_are_unique_in_files_too(tmp_path: Path) -> None:
    file = tmp_path / "block.toml"
    file.write_text(BLOCK)
    for given in (ss.Scenario(file), builder()):
        with pytest.raises(ss.ScenarioError, match="block"):
            given.mass("block", 1.0).check()
        with pytest.raises(ss.ScenarioError, match="floor"):
            given.spring("floor", "block", stiffness=1.0).check()


def test_results_are_compared_as_objects() -> None:
    one, other = ss.run(BLOCK), ss.run(BLOCK)
    assert one == one and one != other and len({one, other}) == 2
    again = pickle.loads(pickle.dumps(one))
    assert again.report == one.report and np.array_equal(again["block.position"], one["block.position"])


def test_what_is_not_installed_is_named() -> None:
    import subprocess
    import sys

    script = """
import sys
for name in ("pandas", "xarray", "matplotlib", "gymnasium"):
    sys.modules[name] = None
import stickslip as ss
result = ss.run(ss.Scenario(step=1e-2).mass("m", 1.0))
for name, call in {"pandas": result.to_pandas, "xarray": result.to_xarray, "matplotlib": result.plot, "gymnasium": lambda: ss.gym}.items():
    try:
        call()
    except ss.Error as error:
        assert f"pip install {name}" in str(error), error
    else:
        raise AssertionError(name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
