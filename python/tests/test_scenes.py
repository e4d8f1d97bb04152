"""Scenes of shapes: contacts of a run and of a step, built here or read from a file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss

WEIGHT = 0.2 * 0.2 * 0.1 * 600 * 9.81


def boxes(tilt: float = 0.0, mu: float = 0.5) -> ss.Scenario:
    """A box on a table, under gravity that leans by an angle."""
    gravity = [9.81 * np.sin(tilt), 0, -9.81 * np.cos(tilt)]
    scene = ss.Scenario(step=1e-3, duration=0.2, gravity=gravity).contacts(friction={"law": "implicit", "mu": mu})
    scene = scene.fixed("table", shape={"box": [4, 4, 0.1]}, position=[0, 0, -0.05])
    return scene.rigid_body("box", density="600 kg/m^3", shape={"box": [0.2, 0.2, 0.1]}, position=[0, 0, 0.05])


def test_contacts_of_a_run_carry_the_weight() -> None:
    result = ss.run(boxes(tilt=0.3), contacts=True)
    touching = result.contacts
    last = touching["t"] == result.t[-1]
    # The force is that on the first, which is pressed down and dragged along.
    assert set(touching["first"][last]) == {"table"} and set(touching["second"][last]) == {"box"}
    assert touching["force.z"][last].sum() == pytest.approx(-WEIGHT * np.cos(0.3), rel=1e-9)
    assert touching["force.x"][last].sum() == pytest.approx(WEIGHT * np.sin(0.3), rel=1e-9)
    assert (touching["mode"][last] == 0).all() and result["box.position.x"][-1] == 0.0
    assert touching.to_pandas()["second"].iloc[-1] == "box"
    with pytest.raises(KeyError, match="force.x"):
        touching["forc.x"]


def test_contacts_of_a_step_are_those_of_the_run() -> None:
    # Above the cone it slides, with the friction of the cone.
    simulation = ss.Simulation(boxes(tilt=0.6))
    simulation.step(100)
    now, touching = simulation.contacts(), ss.run(boxes(tilt=0.6), contacts=True).contacts
    then = np.flatnonzero(touching["t"] == simulation.time)
    assert len(now) == len(then) > 0
    for contact, row in zip(now, then):
        assert contact["first"] == touching["first"][row] and contact["mode"] == "slip"
        assert contact["force"].tolist() == [touching[f"force.{axis}"][row] for axis in "xyz"]
    force = sum(contact["force"] for contact in now)
    assert -force[0] / force[2] == pytest.approx(0.5, rel=1e-9)
    copy = simulation.copy()
    simulation.step(20)
    copy.step(20)
    other = ss.Simulation(boxes(tilt=0.6))
    other.step(100)
    other.state = copy.state
    assert other.position("box").tolist() == simulation.position("box").tolist()
    assert simulation.signal("contacts.count") == len([c for c in simulation.contacts() if c["force"][2] != 0])
    simulation.reset()
    simulation.step(100)
    assert [c["gap"] for c in simulation.contacts()] == [c["gap"] for c in now]


def test_contacts_are_those_of_the_command_line(scenarios: Path, command, tmp_path: Path) -> None:
    file, written = scenarios / "stack.toml", tmp_path / "contacts.csv"
    command("run", file, "--contacts", written, "--every", 50, "--quiet", "--set", "simulation.duration=0.2")
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    found = ss.run(file, set={"simulation.duration": 0.2}, every=50, contacts=True).contacts
    assert found.columns == list(rows[0]) and len(found["t"]) == len(rows) > 0
    for name in found.columns:
        theirs = [row[name] for row in rows]
        assert found[name].tolist() == (theirs if name in ("first", "second") else [float(value) for value in theirs]), name


def test_materials_and_a_conveyor() -> None:
    scene = ss.Scenario(step=1e-3, duration=1.0, gravity=[0, 0, -9.81]).contacts().material("steel", mu=0.1).material("rubber", mu=0.4)
    scene = scene.fixed("belt", shape={"plane": {"normal": [0, 0, 1]}}, surface_velocity=[1, 0, 0], material="rubber")
    scene = scene.rigid_body("box", 2.0, shape={"box": [0.2, 0.2, 0.1]}, position=[0, 0, 0.05], material="steel")
    # The geometric mean of 0.1 and 0.4 is 0.2: it takes 1/(0.2 g) s to go with the belt.
    result = ss.run(scene)
    taken = result.t[np.flatnonzero(result["box.velocity.x"] < 0.999)[-1]]
    assert taken == pytest.approx(1 / (0.2 * 9.81), abs=3e-3)


def test_what_has_no_contacts_says_so() -> None:
    block = ss.Scenario(step=1e-3).mass("block", 1.0)
    with pytest.raises(ss.ScenarioError, match=r"no \[contacts\]") as raised:
        ss.run(block, contacts=True)
    assert raised.value.help
    with pytest.raises(ss.Error, match="contacts=True"):
        ss.run(block).contacts
    assert ss.Simulation(block).contacts() == []
    # A scenario may ask for them itself.
    assert len(ss.run(boxes().set("output.contacts", True)).contacts["t"]) > 0


def test_scenes_in_a_batch_and_a_sweep() -> None:
    batch = ss.Batch([boxes(tilt=tilt) for tilt in (0.2, 0.4, 0.6)])
    batch.step(100)
    copy = batch.copy()
    for many in (batch, copy):
        many.step(100)
    assert np.array_equal(batch.position("box"), copy.position("box"))
    assert (batch.position("box")[:, 0] > 1e-3).tolist() == [False, False, True]  # tan 0.6 is above 0.5
    table = ss.sweep(boxes(tilt=0.6), {"contacts.friction.mu": [0.4, 0.5, 0.7]}, "final.box.velocity.x")
    wanted = [max(0.0, 9.81 * (np.sin(0.6) - mu * np.cos(0.6)) * 0.2) for mu in (0.4, 0.5, 0.7)]
    assert table["final.box.velocity.x"] == pytest.approx(wanted, abs=1e-8)
