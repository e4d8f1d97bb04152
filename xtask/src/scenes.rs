//! `cargo xtask bench scenes`: scenes of several bodies beside MuJoCo, if Python has it, and how their cost grows.
//!
//! MuJoCo's contacts are soft and give way; ours are rigid. So the outcome stands beside the cost: what should rest must, and every law must hold.

use crate::bench::{cpu_seconds, keep, run_limit};
use crate::root;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::process::Command;
use stickslip::Simulation;
use stickslip::run::{Ended, Options};
use stickslip::scenario::Scenario;

/// A scene, the most that it may cost beside MuJoCo (alone and with a report), and what must come out.
struct Scene {
    name: &'static str,
    text: fn(usize) -> String,
    count: usize,
    most: [f64; 2],
    /// A body that must not have moved along an axis since the start.
    rests: Option<(&'static str, usize)>,
}

/// Largest defect of a law, relative to the force scale.
const RESIDUAL: f64 = 1e-12;
/// How far a body at rest may have moved, m.
const CREEP: f64 = 1e-12;
/// Turns of both sides; the least counts.
const TURNS: usize = 4;
/// Cost grows with this power of the number of bodies at most, between these numbers.
const GROWTH: f64 = 1.2;
const GROWING: [usize; 2] = [50, 1000];

const SCENES: &[Scene] = &[
    Scene {
        name: "row-300",
        text: row,
        count: 300,
        most: [1.0, 1.5],
        rests: None,
    },
    Scene {
        name: "spheres-40",
        text: spheres,
        count: 40,
        most: [1.0, 2.0],
        rests: Some(("b7", 2)),
    },
    Scene {
        name: "spheres-200",
        text: spheres,
        count: 200,
        most: [1.0, 2.0],
        rests: Some(("b7", 2)),
    },
    Scene {
        name: "boxes-16",
        text: boxes,
        count: 16,
        most: [1.0, 2.0],
        rests: Some(("b7", 2)),
    },
    Scene {
        name: "gripper",
        text: gripper,
        count: 1,
        most: [1.0, 2.0],
        rests: Some(("box", 2)),
    },
    Scene {
        name: "stack-10",
        text: stack,
        count: 10,
        most: [1.0, 2.0],
        rests: Some(("b9", 2)),
    },
    Scene {
        name: "arm-7",
        text: arm,
        count: 7,
        most: [1.0, 1.5],
        rests: None,
    },
    Scene {
        name: "arm-30",
        text: arm,
        count: 30,
        most: [1.0, 1.5],
        rests: None,
    },
    Scene {
        name: "dominoes",
        text: dominoes,
        count: 5,
        most: [3.0, 3.0],
        rests: None,
    },
];

/// A rigid contact of a body with a plane of another.
fn contact(text: &mut String, name: &str, bodies: [&str; 2], normal: &str, offset: f64, mu: f64) {
    let [first, second] = bodies;
    let _ = write!(
        text,
        "[elements.{name}]\nkind = \"contact\"\nbetween = [\"{first}\", \"{second}\"]\n\
         surface = {{ plane = {{ normal = {normal}, offset = {offset} }} }}\n\
         normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = {mu} }}\n"
    );
}

fn head(duration: f64, step: f64) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n"
    )
}

/// Blocks that rub on the ground and on their neighbours, each pushed to and fro.
fn row(count: usize) -> String {
    let mut text = head(0.5, 1e-3);
    for i in 0..count {
        let _ = write!(
            text,
            "[bodies.b{i}]\nkind = \"mass\"\nmass = 1.0\nforce = \"3*sin({}*t)\"\n\
             [elements.g{i}]\nkind = \"friction\"\nbetween = [\"b{i}\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 1.0\n",
            5 + i % 7
        );
        if i > 0 {
            let _ = write!(
                text,
                "[elements.r{i}]\nkind = \"friction\"\nbetween = [\"b{}\", \"b{i}\"]\nlaw = \"implicit\"\nkinetic = 0.8\n",
                i - 1
            );
        }
    }
    text
}

/// Spheres that touch in a line on a plane, the first of which is pushed.
fn spheres(count: usize) -> String {
    let mut text = head(if count > 100 { 0.5 } else { 2.0 }, 1e-3);
    for i in 0..count {
        let _ = write!(
            text,
            "[bodies.b{i}]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 1.0\nposition = [{}, 0, 0.1]\nvelocity = [{}, 0, 0]\n",
            0.2 * i as f64,
            if i == 0 { 1 } else { 0 }
        );
        contact(
            &mut text,
            &format!("g{i}"),
            [&format!("b{i}"), "ground"],
            "[0, 0, 1]",
            0.0,
            0.3,
        );
        if i > 0 {
            let _ = write!(
                text,
                "[elements.c{i}]\nkind = \"contact\"\nbetween = [\"b{}\", \"b{i}\"]\nnormal = {{ law = \"rigid\" }}\n\
                 friction = {{ law = \"implicit\", mu = 0.3 }}\n",
                i - 1
            );
        }
    }
    text
}

/// Boxes that slide on a plane, apart from each other.
fn boxes(count: usize) -> String {
    let mut text = head(2.0, 1e-3);
    for i in 0..count {
        let _ = write!(
            text,
            "[bodies.b{i}]\nkind = \"rigid-body\"\nshape = {{ box = [0.2, 0.2, 0.1] }}\nmass = 1.0\nposition = [{}, 0, 0.05]\n\
             velocity = [1, 0.2, 0]\nangular_velocity = [0, 0, 1]\n",
            0.5 * i as f64
        );
        contact(
            &mut text,
            &format!("g{i}"),
            [&format!("b{i}"), "ground"],
            "[0, 0, 1]",
            0.0,
            0.3,
        );
    }
    text
}

/// Boxes on each other.
fn stack(count: usize) -> String {
    let mut text = head(2.0, 1e-3);
    for i in 0..count {
        let _ = write!(
            text,
            "[bodies.b{i}]\nkind = \"rigid-body\"\nshape = {{ box = [0.2, 0.2, 0.1] }}\nmass = 1.0\nposition = [0, 0, {}]\n",
            0.05 + 0.1 * i as f64
        );
        let (below, offset) = match i {
            0 => ("ground".to_string(), 0.0),
            _ => (format!("b{}", i - 1), 0.05),
        };
        contact(
            &mut text,
            &format!("c{i}"),
            [&format!("b{i}"), &below],
            "[0, 0, 1]",
            offset,
            0.5,
        );
    }
    text
}

/// A box between two fingers that press with 20 N and are kept in the middle by a spring.
fn gripper(_: usize) -> String {
    let mut text = head(2.0, 1e-3)
        + "[bodies.hand]\nkind = \"linkage\"\nlinks = [\n\
           { name = \"left\", parent = \"ground\", joint = \"lf\", type = \"prismatic\", axis = [1, 0, 0], origin = [-0.05, 0, 0], mass = 0.1 },\n\
           { name = \"right\", parent = \"ground\", joint = \"rf\", type = \"prismatic\", axis = [1, 0, 0], origin = [0.05, 0, 0], mass = 0.1 },\n]\n\
           [elements.squeeze]\nkind = \"actuator\"\nbetween = [\"hand.lf\", \"hand.rf\"]\nvalue = 20\n\
           [elements.centre]\nkind = \"spring\"\nbetween = [\"hand.lf\", \"hand.rf\"]\nratio = [1, -1]\nstiffness = 1e4\ndamping = 50\n\
           [bodies.box]\nkind = \"rigid-body\"\nshape = { box = [0.1, 0.1, 0.1] }\nmass = 1\n";
    contact(&mut text, "cl", ["box", "hand.left"], "[1, 0, 0]", 0.0, 0.5);
    contact(&mut text, "cr", ["box", "hand.right"], "[-1, 0, 0]", 0.0, 0.5);
    text
}

/// An arm whose hinges rub.
fn arm(joints: usize) -> String {
    let mut text = head(1.0, 1e-3) + "[bodies.arm]\nkind = \"linkage\"\nlinks = [\n";
    for i in 0..joints {
        let parent = if i == 0 { "ground".into() } else { format!("l{}", i - 1) };
        let axis = ["[0, 0, 1]", "[0, 1, 0]"][i % 2];
        let height = if i == 0 { 0.0 } else { 0.2 };
        let _ = writeln!(
            text,
            "{{ name = \"l{i}\", parent = \"{parent}\", joint = \"j{i}\", type = \"revolute\", axis = {axis}, origin = [0, 0, {height}], \
             mass = 1.0, com = [0.02, 0, 0.1], inertia = [0.01, 0.01, 0.005], position = 0.3, velocity = 0.5 }},"
        );
    }
    text += "]\n";
    for i in 0..joints {
        let _ = write!(
            text,
            "[elements.f{i}]\nkind = \"friction\"\non = \"arm.j{i}\"\nlaw = \"implicit\"\nkinetic = 2.0\n"
        );
    }
    text
}

/// Dominoes of which the first is pushed over.
fn dominoes(count: usize) -> String {
    let mut text = head(2.0, 5e-4);
    for i in 0..count {
        let push = if i == 0 {
            "angular_velocity = [0, 6, 0]\nvelocity = [0.144, 0, 0]\n"
        } else {
            ""
        };
        let _ = write!(
            text,
            "[bodies.d{i}]\nkind = \"rigid-body\"\nshape = {{ box = [0.008, 0.024, 0.048] }}\nmass = 0.01\nposition = [{}, 0, 0.024]\n{push}",
            0.02 * i as f64
        );
        contact(
            &mut text,
            &format!("g{i}"),
            [&format!("d{i}"), "ground"],
            "[0, 0, 1]",
            0.0,
            0.5,
        );
        if i > 0 {
            let pair = [format!("d{}", i - 1), format!("d{i}")];
            contact(
                &mut text,
                &format!("c{i}"),
                [&pair[0], &pair[1]],
                "[-1, 0, 0]",
                0.004,
                0.2,
            );
        }
    }
    text
}

fn scenario(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "scene.toml", &[]).map_err(|error| error.to_string())
}

/// CPU nanoseconds per step: the steps alone, and a run with its report.
fn timed(scenario: &Scenario) -> Result<[f64; 2], String> {
    let start = || Simulation::new(scenario.clone()).map_err(|error| error.to_string());
    let mut alone = start()?;
    let steps = alone.built().steps;
    let begin = cpu_seconds();
    alone.advance(steps).map_err(|error| error.to_string())?;
    let kernel = cpu_seconds() - begin;
    let mut reported = start()?;
    let begin = cpu_seconds();
    let outcome = stickslip::run::run(&mut reported, None, Options::default());
    let whole = cpu_seconds() - begin;
    match outcome.map_err(|error| error.to_string())?.ended {
        Ended::Complete => Ok([kernel, whole].map(|seconds| seconds * 1e9 / steps as f64)),
        other => Err(format!("the run did not end as it should: {other:?}")),
    }
}

/// The residual, and how far what should rest has moved.
fn outcome(scene: &Scene, scenario: &Scenario) -> Result<(f64, Option<f64>), String> {
    let mut simulation = Simulation::new(scenario.clone()).map_err(|error| error.to_string())?;
    let position = |simulation: &Simulation| {
        scene.rests.and_then(|(name, axis)| {
            let body = simulation.body(name)?;
            simulation.position(body).get(axis).copied()
        })
    };
    let before = position(&simulation);
    let steps = simulation.built().steps;
    simulation.advance(steps).map_err(|error| error.to_string())?;
    let residual = simulation.worst_residual();
    let creep = before
        .zip(position(&simulation))
        .map(|(before, after)| (after - before).abs());
    if residual > RESIDUAL {
        eprintln!(
            "{}: a law lacks {residual:e} of the force scale, more than {RESIDUAL:e}",
            scene.name
        );
    }
    match creep {
        Some(creep) if creep > CREEP => Err(format!("what should rest moved by {creep:e} m, more than {CREEP:e}")),
        _ => Ok((residual, creep)),
    }
}

/// `bench scenes [NAME ...] [--json]`. Python is that of the variable `PYTHON`, or `python3`.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let as_json = arguments.contains(&"--json");
    let names: Vec<&str> = arguments.iter().copied().filter(|word| *word != "--json").collect();
    let known = |name: &&str| *name == "growth" || SCENES.iter().any(|scene| scene.name == *name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = SCENES.iter().map(|scene| scene.name).chain(["growth"]).collect();
        return Err(format!("no scene is called \"{name}\"; there are {}", all.join(", ")));
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let chosen: Vec<&Scene> = SCENES.iter().filter(|scene| wanted(scene.name)).collect();
    let python = peer();
    let mut rows = Vec::new();
    for scene in chosen {
        let scenario = scenario(&(scene.text)(scene.count))?;
        let (residual, creep) = outcome(scene, &scenario).map_err(|reason| format!("{}: {reason}", scene.name))?;
        let mut best = [f64::INFINITY; 2];
        let mut peer: Option<(f64, Vec<f64>)> = None;
        for _ in 0..TURNS {
            if let Some(python) = &python {
                for (_, ns, outcome) in run_limit(mujoco(python).args(["1", scene.name]))? {
                    let least = peer.as_ref().map_or(ns, |(before, _)| before.min(ns));
                    peer = Some((least, outcome));
                }
            }
            let now = timed(&scenario)?;
            best = [0, 1].map(|k| best[k].min(now[k]));
        }
        let (limit, peer_outcome) = peer.unzip();
        rows.push(json!({
            "name": scene.name,
            "ns_per_step": best[0],
            "with_report_ns": best[1],
            "mujoco_ns": limit,
            "ratios": limit.map(|limit| best.map(|ns| ns / limit)),
            "most": scene.most,
            "residual": residual,
            "creep": creep,
            "mujoco_outcome": peer_outcome,
        }));
        if !as_json {
            let times = |k: usize| {
                limit.map_or("-".into(), |limit| {
                    format!("{:.2} (at most {})", best[k] / limit, scene.most[k])
                })
            };
            println!(
                "{:<12} {:>9.2} us, {:>9.2} us with report; MuJoCo {:>9} us; {} and {}; residual {residual:.0e}, creep {creep:?}",
                scene.name,
                best[0] * 1e-3,
                best[1] * 1e-3,
                limit.map_or("-".into(), |limit| format!("{:.2}", limit * 1e-3)),
                times(0),
                times(1),
            );
        }
    }
    let mut result = Map::new();
    result.insert("scenes".into(), Value::Array(rows));
    if wanted("growth") {
        let growth = json!({ "row": growth(row)?, "spheres": growth(spheres)?, "most": GROWTH });
        if !as_json {
            println!("power of the number of bodies: {growth}");
        }
        result.insert("growth".into(), growth);
    }
    if names.is_empty() {
        keep("scenes", &result)?;
    }
    if as_json {
        println!("{}", Value::Object(result));
    }
    Ok(())
}

/// The power of the number of bodies with which the cost of a step grows.
fn growth(text: fn(usize) -> String) -> Result<f64, String> {
    let mut costs = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        for (cost, count) in costs.iter_mut().zip(GROWING) {
            let scenario = scenario(&text(count))?;
            *cost = cost.min(timed(&scenario)?[0]);
        }
    }
    let [few, many] = GROWING.map(|count| count as f64);
    Ok((costs[1] / costs[0]).ln() / (many / few).ln())
}

/// The Python that has MuJoCo, if there is one.
fn peer() -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import mujoco"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("{python} has no package mujoco: the engine is measured alone");
    None
}

fn mujoco(python: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(root().join("benches/mujoco/scenes.py"));
    command
}
