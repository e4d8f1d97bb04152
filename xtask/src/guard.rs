//! `cargo xtask guard`: instructions per step of the hot loops, counted by valgrind, beside the counts that are kept.
//!
//! Counts do not depend on how busy the machine is, so a change of a few in a hundred is a change of the code. They do depend
//! on the compiler; the version they were made with is kept beside them.

use crate::root;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;
use stickslip::Simulation;
use stickslip::scenario::Scenario;
use stickslip::sweep::Axis;

/// What is counted, between how many steps: those of the first number are done before counting starts. Those of `w4` are the
/// steps of 64 runs, 32 of them side by side; those of `train` of 16 networks, 8 of them side by side. Chains and spheres are
/// so few that their steps take no longer than others. Those of `start` read, check and build a scenario.
const WORKS: [(&str, [u64; 2]); 10] = [
    ("w1", [500, 2500]),
    ("w1-rk4", [500, 2500]),
    ("w2", [500, 2500]),
    ("w3", [500, 2500]),
    ("w4", [500, 2500]),
    ("train", [100, 500]),
    ("train-implicit", [100, 500]),
    ("w5", [64, 192]),
    ("w6", [20, 60]),
    ("start", [500, 2500]),
];
/// Change that is taken for the same.
const BAND: f64 = 0.05;
const RENEW: &str = "cargo xtask guard --renew";

/// Does so many steps of a work, for valgrind to count.
pub fn steps(name: &str, count: &str) -> Result<(), String> {
    if name == "w4" {
        let sweep = crate::sweep::prepare(&[&format!("simulation.duration={count} ms")])?;
        // One thread takes half of its rows at once.
        return sweep
            .run(0..64, 1, None, &mut |_| Ok(()))
            .map_err(|error| error.to_string());
    }
    if let "train" | "train-implicit" = name {
        let implicit = ["floor", "table", "bearing"].map(|element| format!("elements.{element}.law=implicit"));
        let mut sets = vec!["simulation.integrator=implicit-euler"];
        sets.extend(implicit.iter().map(String::as_str));
        if name == "train" {
            sets.clear();
        }
        let duration = format!("simulation.duration={count} ms");
        sets.push(&duration);
        let axis = Axis::parse("elements.ab.stiffness=lin:100:200:16").map_err(|error| error.to_string())?;
        return crate::sweep::of_scenario("train", &sets, vec![axis], &["final.a.position"])?
            .run(0..16, 1, None, &mut |_| Ok(()))
            .map_err(|error| error.to_string());
    }
    let count = count
        .parse()
        .map_err(|_| format!("\"{count}\" is no number of steps"))?;
    let file = if name == "start" { "w1" } else { name };
    let path = root().join("benches/scenarios").join(format!("{file}.toml"));
    if name == "start" {
        for _ in 0..count {
            let scenario = Scenario::read(&path, &[]).map_err(|error| error.to_string())?;
            std::hint::black_box(Simulation::new(scenario).map_err(|error| error.to_string())?);
        }
        return Ok(());
    }
    let sets: &[String] = match name {
        "w5" => &["chain.count=4000".to_string()],
        "w6" => &["spheres.count=500".to_string()],
        _ => &[],
    };
    let scenario = Scenario::read(&path, sets).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    simulation.advance(count).map_err(|error| error.to_string())
}

/// Why instructions cannot be compared here; none if they can.
pub fn obstacle() -> Option<String> {
    if output("valgrind", &["--version"]).is_none() {
        return Some("valgrind is not installed".into());
    }
    let (kept, here) = (kept()?.get("rustc")?.as_str()?.to_string(), compiler());
    (kept != here).then(|| format!("the counts were made with {kept}, this is {here}; renew them with: {RENEW}"))
}

/// Compares the counts of this build with the kept ones, or keeps them.
pub fn run(renew: bool) -> Result<(), String> {
    if !renew && let Some(obstacle) = obstacle() {
        println!("skipped: {obstacle}");
        return Ok(());
    }
    let kept = kept().unwrap_or_default();
    let mut counts = Map::new();
    let mut exceeded = Vec::new();
    for (name, steps) in WORKS {
        let count = per_step(name, steps)?;
        counts.insert(name.into(), json!(count));
        let before = kept.get("instructions").and_then(|counts| counts.get(name)?.as_f64());
        // Work that has no count yet is not guarded: that is a failure, too.
        let change = before.map_or(f64::INFINITY, |before| count / before - 1.0);
        println!(
            "{name:<14} {count:>9.1} instructions per step ({:+.1} %)",
            100.0 * change
        );
        if change > BAND {
            exceeded.push(name);
        } else if change < -BAND && !renew {
            println!("               fewer than are kept: hold the gain with {RENEW}");
        }
    }
    if renew {
        let text = serde_json::to_string_pretty(&json!({ "rustc": compiler(), "instructions": counts }))
            .map_err(|error| error.to_string())?;
        return std::fs::write(path(), text + "\n").map_err(|error| format!("cannot write the counts: {error}"));
    }
    if exceeded.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} take more than {} % more instructions than kept in benches/results/instructions.json; if that is meant: {RENEW}",
        exceeded.join(", "),
        100.0 * BAND
    ))
}

/// Instructions of one step: of many steps less those of a few, so that starting up does not count.
fn per_step(name: &str, [few, many]: [u64; 2]) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let count = |steps: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&program)
            .args(["steps", name, &steps.to_string()])
            .output()
            .map_err(|error| format!("cannot run valgrind: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let number = text
            .split("Collected :")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next());
        number
            .and_then(|number| number.parse::<f64>().ok())
            .filter(|_| output.status.success())
            .ok_or_else(|| format!("valgrind counted nothing for {name}:\n{text}"))
    };
    Ok((count(many)? - count(few)?) / (many - few) as f64)
}

fn path() -> PathBuf {
    root().join("benches/results/instructions.json")
}

fn kept() -> Option<Map<String, Value>> {
    serde_json::from_str(&std::fs::read_to_string(path()).ok()?).ok()
}

fn compiler() -> String {
    output("rustc", &["--version"]).unwrap_or_else(|| "an unknown compiler".into())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
