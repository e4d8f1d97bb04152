//! `cargo xtask bench w4`: a sweep by the engine, from reading its scenario to its rows, and by a hand-written C program.

use crate::bench::{build_limit, cpu_seconds, keep, run_limit, same};
use crate::root;
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::time::Instant;
use stickslip::scenario::Draft;
use stickslip::sweep::{Axis, Row, Sweep};

/// Runs, and steps of each; the same in the limit program. The engine's first step finds the spring slack.
pub const RUNS: u64 = 10_032;
const STEPS: u64 = 100_000;
/// Values of each axis; the last runs of the grid are left out.
const SIDE: u64 = 101;
const STEP: f64 = 1e-3;
const TURNS: usize = 3;
/// Rows that are timed together: a short piece is more likely to meet a quiet moment, on either side. It must not be too
/// short: the clock of CPU time may miss a few milliseconds of a thread that has just ended.
const PIECE: u64 = RUNS / 4;
/// One run in so many is done alone too, to see that it is the same to the last bit.
const SAMPLE: usize = 209;

/// The sweep with other values for some keys.
pub fn prepare(sets: &[&str]) -> Result<Sweep, String> {
    // The limit program divides the intervals by SIDE, not by SIDE - 1.
    let axis = |key: &str, low: f64, width: f64| {
        let high = low + width * (SIDE - 1) as f64 / SIDE as f64;
        Axis::parse(&format!("{key}=lin:{low:?}:{high:?}:{SIDE}")).map_err(|error| error.to_string())
    };
    let axes = vec![
        axis("bodies.hook.velocity", 0.05, 1.95)?,
        axis("elements.spring.stiffness", 10.0, 190.0)?,
    ];
    of_scenario("w4", sets, axes, &["final.hook.position", "final.block.position"])
}

/// Runs with friction that falls with speed, and steps of each; the same in the limit program.
const CURVED_RUNS: u64 = 1008;
const CURVED_STEPS: u64 = 20_000;

/// The same sweep with such friction: nanoseconds per step and run, and the mean stretch of runs without a tie.
fn curved(sweep: &Sweep) -> Result<(f64, f64), String> {
    let (all, cpu, _) = rows(sweep, 0..CURVED_RUNS, 1)?;
    let decided: Vec<f64> = (all.iter().filter(|row| !tie(row)))
        .map(stretch)
        .collect::<Result<_, _>>()?;
    let mean = decided.iter().sum::<f64>() / decided.len() as f64;
    Ok((cpu * 1e9 / (CURVED_RUNS * CURVED_STEPS) as f64, mean))
}

/// A sweep of a scenario among those that are measured.
pub fn of_scenario(name: &str, sets: &[&str], axes: Vec<Axis>, measures: &[&str]) -> Result<Sweep, String> {
    let owned = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_string()).collect() };
    let path = root().join("benches/scenarios").join(format!("{name}.toml"));
    let draft = Draft::read(path, &owned(sets)).map_err(|error| error.to_string())?;
    Sweep::new(draft, axes, &owned(measures)).map_err(|error| error.to_string())
}

/// Some rows, and the CPU time and wall time they took, s.
fn rows(sweep: &Sweep, range: Range<u64>, threads: usize) -> Result<(Vec<Row>, f64, f64), String> {
    let mut rows = Vec::with_capacity((range.end - range.start) as usize);
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let mut keep = |row| {
        rows.push(row);
        Ok(())
    };
    sweep
        .run(range, threads, None, &mut keep)
        .map_err(|error| error.to_string())?;
    Ok((rows, cpu_seconds() - cpu, wall.elapsed().as_secs_f64()))
}

/// All rows by one thread, and the least CPU time of a piece of them, s.
fn in_pieces(sweep: &Sweep) -> Result<(Vec<Row>, f64), String> {
    let (mut all, mut least) = (Vec::new(), f64::INFINITY);
    for start in (0..RUNS).step_by(PIECE as usize) {
        let end = RUNS.min(start + PIECE);
        let (rows, cpu, _) = rows(sweep, start..end, 1)?;
        if end - start == PIECE {
            least = least.min(cpu);
        }
        all.extend(rows);
    }
    Ok((all, least))
}

/// Stretch of the spring in the last step: its end moves on afterwards.
fn stretch(row: &Row) -> Result<f64, String> {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).ok_or("a run has failed");
    let speed = row.keys.first().and_then(|key| key.number).ok_or("a row has no key")?;
    Ok(number(row.values.first())? - STEP * speed - number(row.values.get(1))?)
}

/// Whether the pull of a run reaches the 13 N that hold the block exactly at the end of a step: rounding then decides whether it
/// starts at that step or at the next, and the engine and the limit program may each be right.
fn tie(row: &Row) -> bool {
    const HOLDS: f64 = 13.0;
    let numbers: Vec<f64> = row.keys.iter().filter_map(|key| key.number).collect();
    let steps = HOLDS / (numbers.iter().product::<f64>() * STEP);
    (steps - steps.round()).abs() < 1e-9 * steps
}

/// `bench w4 [--json]`.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let sweep = prepare(&[])?;
    let short = prepare(&["simulation.duration=1 ms"])?;
    let falling = prepare(&["simulation.duration=20.001 s", "elements.floor.stribeck_velocity=0.1"])?;
    let limit = build_limit("w4")?;
    let (mut curved_ns, mut curved_mean, mut curved_limit) = (f64::INFINITY, 0.0, None);
    let (mut whole, mut set_up, mut least) = (f64::INFINITY, f64::INFINITY, None);
    let (mut one, mut two) = (f64::INFINITY, (f64::INFINITY, 0.0));
    let mut last = Vec::new();
    for _ in 0..TURNS {
        if let Some(program) = &limit {
            for (name, ns, outcome) in run_limit(std::process::Command::new(program).arg("1"))? {
                let least = if name == "w4" { &mut least } else { &mut curved_limit };
                let before = least.as_ref().map_or(ns, |(before, _): &(f64, Vec<f64>)| *before);
                *least = Some((ns.min(before), outcome));
            }
        }
        let (ns, mean) = curved(&falling)?;
        (curved_ns, curved_mean) = (curved_ns.min(ns), mean);
        let (all, cpu) = in_pieces(&sweep)?;
        (whole, last) = (whole.min(cpu), all);
        set_up = set_up.min(in_pieces(&short)?.1);
        one = one.min(rows(&sweep, 0..RUNS, 1)?.2);
        let (all, cpu, wall) = rows(&sweep, 0..RUNS, 2)?;
        if all != last {
            return Err("two threads give other rows than one".into());
        }
        if wall < two.0 {
            two = (wall, cpu / wall);
        }
    }
    // Setting up a run counts in: a sweep does it for every row.
    let steps = (PIECE * STEPS) as f64;
    let cost = whole * 1e9 / steps;
    let stepping = (whole - set_up) * 1e9 / steps;
    let (alone, equal) = one_by_one(&sweep, &last)?;
    if !equal {
        return Err("a run in a lane differs from the run alone".into());
    }
    let mean = last.iter().map(stretch).sum::<Result<f64, _>>()? / RUNS as f64;
    let decided: Vec<f64> = (last.iter().filter(|row| !tie(row)))
        .map(stretch)
        .collect::<Result<_, _>>()?;
    let without_ties = decided.iter().sum::<f64>() / decided.len() as f64;
    let (limit_ns, limit_outcome) = least.unzip();
    if let Some(limit) = limit_outcome.as_ref().and_then(|outcome: &Vec<f64>| outcome.get(1)) {
        same("w4 without ties", &[without_ties], &[*limit])?;
    }
    let (curved_limit_ns, curved_outcome) = curved_limit.unzip();
    if let Some(limit) = curved_outcome.as_ref().and_then(|outcome: &Vec<f64>| outcome.get(1)) {
        same("w4-stribeck without ties", &[curved_mean], &[*limit])?;
    }
    let curved = json!({
        "name": "w4-stribeck",
        "ns_per_step": curved_ns,
        "limit_ns": curved_limit_ns,
        "ratio": curved_limit_ns.map(|limit| curved_ns / limit),
        "outcome": curved_mean,
    });
    let result = json!({
        "name": "w4",
        "ns_per_step": cost,
        "limit_ns": limit_ns,
        "ratio": limit_ns.map(|limit| cost / limit),
        "outcome": mean,
        "limit_outcome": limit_outcome.as_ref().and_then(|outcome| outcome.first().copied()),
        "outcome_without_ties": without_ties,
        "limit_outcome_without_ties": limit_outcome.as_ref().and_then(|outcome| outcome.get(1).copied()),
        "ties": RUNS - decided.len() as u64,
        "equal_to_runs_alone": equal,
        "alone_ns": alone,
        "microseconds_to_set_up_a_run": set_up * 1e6 / PIECE as f64,
        "ns_per_step_with_set_up": cost,
        "ns_per_step_without_set_up": stepping,
        "ratio_without_set_up": limit_ns.map(|limit| stepping / limit),
        "variants": [curved],
        "threads": { "one_s": one, "two_s": two.0, "speedup": one / two.0, "cores_obtained": two.1 },
    });
    let object: Map<String, Value> = result.as_object().cloned().unwrap_or_default();
    keep("w4", &object)?;
    if arguments.contains(&"--json") {
        println!("{result}");
    } else {
        for (name, value) in &object {
            println!("{name:<30} {value}");
        }
    }
    Ok(())
}

/// Nanoseconds per step of runs alone, and whether they are those of the sweep to the last bit.
fn one_by_one(sweep: &Sweep, rows: &[Row]) -> Result<(f64, bool), String> {
    let mut runner = sweep.runner();
    let bits = |row: &Row| -> Vec<Option<u64>> {
        row.values
            .iter()
            .map(|value| value.as_f64().map(f64::to_bits))
            .collect()
    };
    let start = cpu_seconds();
    let (mut count, mut equal) = (0, true);
    for row in rows.iter().step_by(SAMPLE) {
        let alone = runner.run(row.keys.clone(), None).ok_or("a run was stopped")?;
        equal &= bits(&alone) == bits(row);
        count += 1;
    }
    Ok(((cpu_seconds() - start) * 1e9 / (count * (STEPS + 1)) as f64, equal))
}
