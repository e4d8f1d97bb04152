//! `cargo xtask bench`: a work by the engine and by a hand-written C program, side by side on the same machine.
//!
//! Both sides take turns, so that a busy machine disturbs both alike, and the least CPU time of all turns counts.

use crate::root;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use stickslip::Simulation;
use stickslip::run::{Ended, Options};
use stickslip::scenario::Scenario;
use stickslip::spheres::Ball;

/// A work: its variants, the main one first. Each is a scenario file and a line that the limit program prints.
struct Work {
    name: &'static str,
    variants: &'static [Variant],
    /// Runs of each side in a turn: short runs need more of them to meet a quiet moment.
    runs: usize,
}

struct Variant {
    name: &'static str,
    outcome: Outcome,
}

/// What shows that both sides did the same work, and what must hold of it: a cost without that is worth nothing.
enum Outcome {
    /// Position of a body at the end, when nothing of it may be faster than this, m/s.
    AtRest(&'static str, f64),
    /// The same with a controller in the loop: it reads where the body is and sets the actuator of the next step to the force of a
    /// spring whose end moves.
    Controlled(&'static str, f64),
    /// Angles of an arm at the end, which trembles but must not creep by more than this, rad.
    Trembling(&'static str, f64),
    /// Sum of the positions of all blocks of a chain at the end; costs are per block.
    SumOfPositions,
    /// Largest error of the velocity of many sliding spheres against v − μ·g·t with this v and μ·g, and their lift.
    Sliding(f64, f64),
    /// End of the first step after which the sphere of this name and radius rolls on the plane z = 0. The third number is
    /// when it should, 2·v/(7·μ·g); it may be a step away, and the sphere must not lift off.
    EndOfSlip(&'static str, f64, f64),
}

/// Digits of an outcome that must be those of the limit program, as a relative error.
const SAME: f64 = 1e-12;
/// Steps of 22 periods of the torque on the arm, 2π/100 s: so nearly whole that a mean over them is one over periods.
const TREMBLES: u64 = 13_823;
/// What counts as creep from one such mean to the one after the next, rad; the joints give by 1e-5 rad as they tremble.
const CREEP: f64 = 1e-9;
/// Largest error of the velocity of sliding spheres, m/s.
const SLIDING: f64 = 1e-12;

/// Slip speed below which a sphere counts as rolling, m/s; the same in the limit program.
const ROLLING: f64 = 1e-4;

const WORKS: &[Work] = &[
    Work {
        name: "w1",
        variants: &[
            Variant {
                name: "w1",
                outcome: Outcome::AtRest("block", 0.0),
            },
            Variant {
                name: "w1-control",
                outcome: Outcome::Controlled("block", 0.0),
            },
            Variant {
                name: "w1-rk4",
                outcome: Outcome::AtRest("block", 1e-15),
            },
        ],
        runs: 100,
    },
    Work {
        name: "w2",
        variants: &[
            Variant {
                name: "w2",
                // Bristles as soft as these resonate with the torque: the shoulder slips in every period and does creep, in
                // the limit program as well.
                outcome: Outcome::Trembling("arm", f64::INFINITY),
            },
            Variant {
                name: "w2-stiff",
                outcome: Outcome::Trembling("arm", CREEP),
            },
        ],
        runs: 2,
    },
    Work {
        name: "w3",
        variants: &[
            Variant {
                name: "w3",
                outcome: Outcome::EndOfSlip("ball", 0.2, 2.0 * 2.0 / (7.0 * 0.1 * 9.8)),
            },
            Variant {
                name: "w3-rk4",
                outcome: Outcome::EndOfSlip("ball", 0.2, 2.0 * 2.0 / (7.0 * 0.1 * 9.8)),
            },
        ],
        runs: 10,
    },
    Work {
        name: "w5",
        variants: &[
            Variant {
                name: "w5",
                outcome: Outcome::SumOfPositions,
            },
            Variant {
                name: "w5-slipping",
                outcome: Outcome::SumOfPositions,
            },
            Variant {
                name: "w5-stribeck",
                outcome: Outcome::SumOfPositions,
            },
            Variant {
                name: "w5-table",
                outcome: Outcome::SumOfPositions,
            },
            Variant {
                name: "w5-large",
                outcome: Outcome::SumOfPositions,
            },
        ],
        runs: 1,
    },
    // The limit is what Rapier takes.
    Work {
        name: "w6",
        variants: &[Variant {
            name: "w6",
            outcome: Outcome::Sliding(2.0, 0.98),
        }],
        runs: 3,
    },
];

const TURNS: usize = 6;

/// One line of the table.
struct Row {
    name: String,
    ns_per_step: f64,
    limit_ns: Option<f64>,
    outcome: Vec<f64>,
    limit_outcome: Vec<f64>,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.limit_ns.map(|limit| self.ns_per_step / limit)
    }

    fn json(&self) -> Map<String, Value> {
        let outcome = match self.outcome.as_slice() {
            [single] => json!(single),
            several => json!(several),
        };
        let row = json!({
            "name": self.name,
            "ns_per_step": self.ns_per_step,
            "limit_ns": self.limit_ns,
            "ratio": self.ratio(),
            "outcome": outcome,
        });
        match row {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }
}

/// `bench NAME [--json]`.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let as_json = arguments.contains(&"--json");
    let names: Vec<&str> = arguments.iter().copied().filter(|word| *word != "--json").collect();
    let known = || WORKS.iter().map(|work| work.name).collect::<Vec<_>>().join(", ");
    let [name] = names.as_slice() else {
        return Err(format!("name one work: {}", known()));
    };
    let work = WORKS
        .iter()
        .find(|work| work.name == *name)
        .ok_or_else(|| format!("no work is called \"{name}\"; there are {}", known()))?;
    let rows = measure(work)?;
    let [main, extra @ ..] = rows.as_slice() else {
        return Err("the work has no variant".into());
    };
    let mut result = main.json();
    let variants = extra.iter().map(|row| Value::Object(row.json())).collect();
    result.insert("variants".into(), Value::Array(variants));
    if work.name == "w5" {
        result.insert("threads".into(), crate::scaling::two_threads("w5-threads")?);
    }
    keep(work.name, &result)?;
    if as_json {
        println!("{}", Value::Object(result));
    } else {
        print_table(&rows);
        if let Some(threads) = result.get("threads") {
            println!("{threads}");
        }
    }
    Ok(())
}

fn measure(work: &Work) -> Result<Vec<Row>, String> {
    let limit = match work.name {
        "w6" => build_rapier(),
        name => build_limit(name)?,
    };
    let sides: Vec<Side> = work.variants.iter().map(Side::new).collect::<Result<_, _>>()?;
    let mut outcomes = Vec::with_capacity(sides.len());
    for (variant, side) in work.variants.iter().zip(&sides) {
        let outcome = side.outcome(&variant.outcome);
        outcomes.push(outcome.map_err(|reason| format!("{}: {reason}", variant.name))?);
    }
    let mut fast = vec![f64::INFINITY; sides.len()];
    let mut observed = fast.clone();
    let mut limits: Vec<Option<(f64, Vec<f64>)>> = vec![None; sides.len()];
    for _ in 0..TURNS {
        if let Some(program) = &limit {
            for (name, ns, outcome) in run_limit(Command::new(program).arg(work.runs.to_string()))? {
                let Some(i) = work.variants.iter().position(|variant| variant.name == name) else {
                    continue;
                };
                let least = limits[i].as_ref().map_or(ns, |(before, _)| before.min(ns));
                limits[i] = Some((least, outcome));
            }
        }
        for (i, side) in sides.iter().enumerate() {
            for _ in 0..work.runs {
                observed[i] = observed[i].min(side.run_timed()?);
                fast[i] = fast[i].min(side.advance_timed()?);
            }
        }
    }
    let mut rows = Vec::new();
    for (i, (variant, outcome)) in work.variants.iter().zip(outcomes).enumerate() {
        let (limit_ns, limit_outcome) = limits[i].clone().unzip();
        let limit_outcome = limit_outcome.unwrap_or_default();
        if limit_ns.is_none() && limits.iter().any(Option::is_some) {
            return Err(format!("the limit program does not know {}", variant.name));
        }
        // Rapier answers in its own way.
        if work.name != "w6" && limit_ns.is_some() {
            same(variant.name, &outcome, &limit_outcome)?;
        }
        for (name, ns_per_step) in [
            (variant.name.to_string(), fast[i]),
            (format!("{}, with report", variant.name), observed[i]),
        ] {
            // Nobody reports on a controller's steps.
            if ns_per_step == f64::INFINITY {
                continue;
            }
            rows.push(Row {
                name,
                ns_per_step,
                limit_ns,
                outcome: outcome.clone(),
                limit_outcome: limit_outcome.clone(),
            });
        }
    }
    Ok(rows)
}

/// The engine's side of a variant.
struct Side {
    scenario: Scenario,
    /// What a user runs: of chains the slip events are wanted too.
    reported: Scenario,
    steps: u64,
    /// Blocks or spheres that each step moves, where there are many.
    blocks: usize,
    controlled: bool,
}

impl Side {
    fn new(variant: &Variant) -> Result<Self, String> {
        let path = root().join("benches/scenarios").join(format!("{}.toml", variant.name));
        let read = |sets: &[String]| Scenario::read(&path, sets).map_err(|error| error.to_string());
        let scenario = read(&[])?;
        let reported = match scenario.chain {
            Some(_) => read(&["analysis.slip_events.bins=5".to_string()])?,
            None => scenario.clone(),
        };
        let steps = (scenario.simulation.duration / scenario.simulation.step).round() as u64;
        let spheres = scenario.spheres.as_ref().map_or(1, |spheres| spheres.count);
        let blocks = scenario.chain.as_ref().map_or(spheres, |chain| chain.count);
        Ok(Side {
            scenario,
            reported,
            steps,
            blocks,
            controlled: matches!(variant.outcome, Outcome::Controlled(..)),
        })
    }

    fn start(&self) -> Result<Simulation, String> {
        Simulation::new(self.scenario.clone()).map_err(|error| error.to_string())
    }

    /// CPU seconds as nanoseconds per step, and per block where there are many.
    fn each(&self, seconds: f64) -> f64 {
        seconds * 1e9 / (self.steps as f64 * self.blocks as f64)
    }

    /// Nanoseconds per step of one run from a fresh start, as fast as it goes.
    fn advance_timed(&self) -> Result<f64, String> {
        let mut simulation = self.start()?;
        let start = cpu_seconds();
        self.advance(&mut simulation)?;
        Ok(self.each(cpu_seconds() - start))
    }

    /// The same as the program runs a scenario, from the first step to the report.
    fn run_timed(&self) -> Result<f64, String> {
        if self.controlled {
            return Ok(f64::INFINITY);
        }
        let mut simulation = Simulation::new(self.reported.clone()).map_err(|error| error.to_string())?;
        let start = cpu_seconds();
        let outcome = stickslip::run::run(&mut simulation, None, Options::default());
        let seconds = cpu_seconds() - start;
        match outcome.map_err(|error| error.to_string())?.ended {
            Ended::Complete => Ok(self.each(seconds)),
            other => Err(format!("the run did not end as it should: {other:?}")),
        }
    }

    fn advance(&self, simulation: &mut Simulation) -> Result<(), String> {
        if self.controlled {
            return self.control(simulation);
        }
        simulation.advance(self.steps).map_err(|error| error.to_string())
    }

    /// Steps with a controller that pulls the block of w1 as its spring does.
    fn control(&self, simulation: &mut Simulation) -> Result<(), String> {
        const STIFFNESS: f64 = 90.0;
        let (block, motor) = (simulation.body("block"), simulation.element("motor"));
        let (block, motor) = block.zip(motor).ok_or("the block or its motor is missing")?;
        let travel = 2.0 * self.scenario.simulation.step;
        for step in 0..self.steps {
            let end = travel * step.min(self.steps / 2) as f64;
            let force = STIFFNESS * (end - simulation.position(block)[0]);
            simulation.set_actuator(motor, 0, force);
            simulation.advance(1).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn outcome(&self, outcome: &Outcome) -> Result<Vec<f64>, String> {
        let mut simulation = self.start()?;
        match *outcome {
            Outcome::AtRest(name, most) | Outcome::Controlled(name, most) => {
                self.advance(&mut simulation)?;
                let body = simulation.body(name).ok_or("the body is missing")?;
                let speed = largest(simulation.velocity(body));
                hold(speed <= most, || {
                    format!("the {name} moves at {speed:e} m/s at the end, more than {most:e}")
                })?;
                Ok(simulation.position(body).to_vec())
            }
            Outcome::Trembling(name, most) => {
                let body = simulation.body(name).ok_or("the body is missing")?;
                let advance = |simulation: &mut Simulation, steps: u64| {
                    simulation.advance(steps).map_err(|error| error.to_string())
                };
                let mean = |simulation: &mut Simulation| -> Result<Vec<f64>, String> {
                    let mut sum = vec![0.0; simulation.position(body).len()];
                    for _ in 0..TREMBLES {
                        advance(simulation, 1)?;
                        let position = simulation.position(body);
                        sum.iter_mut().zip(position).for_each(|(sum, angle)| *sum += angle);
                    }
                    Ok(sum.iter().map(|sum| sum / TREMBLES as f64).collect())
                };
                advance(&mut simulation, self.steps - 3 * TREMBLES)?;
                let before = mean(&mut simulation)?;
                advance(&mut simulation, TREMBLES)?;
                let after = mean(&mut simulation)?;
                let moved: Vec<f64> = after
                    .iter()
                    .zip(&before)
                    .map(|(after, before)| after - before)
                    .collect();
                hold(largest(&moved) <= most, || {
                    format!("the {name} creeps by {moved:?} rad in {} steps", 2 * TREMBLES)
                })?;
                Ok(simulation.position(body).to_vec())
            }
            Outcome::SumOfPositions => {
                self.advance(&mut simulation)?;
                let (_, state) = simulation.chain().ok_or("the chain is missing")?;
                Ok(vec![state.positions().iter().sum()])
            }
            Outcome::Sliding(speed, slowing) => {
                self.advance(&mut simulation)?;
                let expected = speed - slowing * simulation.time();
                let (spheres, state) = simulation.spheres().ok_or("the spheres are missing")?;
                let worst = |of: &dyn Fn(&Ball) -> f64| state.balls().iter().map(of).fold(0.0, f64::max);
                let error = worst(&|ball| (ball.velocity.x - expected).abs());
                let lift = worst(&|ball| (ball.position.z - spheres.radius).abs());
                hold(error <= SLIDING, || {
                    format!("a sphere is {error:e} m/s from v − μ·g·t, more than {SLIDING:e}")
                })?;
                hold(lift == 0.0, || format!("a sphere is {lift:e} m off the plane"))?;
                Ok(vec![error, lift])
            }
            Outcome::EndOfSlip(name, radius, exact) => {
                let body = simulation.body(name).ok_or("the body is missing")?;
                let (mut rolls, mut lift) = (None, 0.0_f64);
                for _ in 0..self.steps {
                    simulation.advance(1).map_err(|error| error.to_string())?;
                    lift = lift.max(simulation.position(body)[2] - radius);
                    let v = simulation.velocity(body);
                    if rolls.is_none() && (v[0] - radius * v[4]).hypot(v[1] + radius * v[3]) < ROLLING {
                        rolls = Some(simulation.time());
                    }
                }
                let rolls = rolls.ok_or("the sphere never rolls")?;
                hold((rolls - exact).abs() <= self.scenario.simulation.step, || {
                    format!("the {name} rolls from {rolls} s on, more than a step from {exact} s")
                })?;
                hold(lift == 0.0, || format!("the {name} lifts off by {lift:e} m"))?;
                Ok(vec![rolls])
            }
        }
    }
}

/// An error with this reason, unless a condition holds.
fn hold(condition: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(reason()) }
}

/// The largest size of a number; not a number if one of them is not.
fn largest(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .fold(0.0, |most, x| if x.abs() <= most { most } else { x.abs() })
}

/// Whether an outcome is that of the limit program in all digits that count.
pub(crate) fn same(name: &str, ours: &[f64], limit: &[f64]) -> Result<(), String> {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * a.abs().max(b.abs());
    hold(ours.len() == limit.len() && ours.iter().zip(limit).all(close), || {
        format!("{name}: the outcome is {ours:?}, that of the limit program {limit:?}")
    })
}

/// Builds the limit program; none if there is no C compiler.
pub(crate) fn build_limit(name: &str) -> Result<Option<PathBuf>, String> {
    let beside = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = beside.parent().unwrap_or(Path::new(".")).join("limit");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let program = folder.join(name);
    let source = root().join("benches/limit").join(format!("{name}.c"));
    let named = std::env::var("CC").ok();
    for compiler in named.as_deref().into_iter().chain(["gcc", "cc", "clang"]) {
        let mut command = Command::new(compiler);
        command.args(["-O3", "-march=native", "-fno-math-errno"]);
        if cfg!(target_arch = "x86_64") {
            // The limits are those of AVX2, the widest vectors that the engine is built for.
            command.arg("-mno-avx512f");
        }
        let status = command.arg("-o").args([&program, &source]).arg("-lm").status();
        match status {
            Ok(status) if status.success() => return Ok(Some(program)),
            Ok(_) => return Err(format!("{compiler} cannot compile {}", source.display())),
            Err(_) => (),
        }
    }
    eprintln!("no C compiler found: the engine is measured alone");
    Ok(None)
}

/// Builds the program that does work 6 in Rapier, a workspace of its own; none if that cannot be had.
fn build_rapier() -> Option<PathBuf> {
    let folder = root().join("benches/rapier");
    let target = std::env::current_exe().ok()?.parent()?.join("rapier");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("Rapier cannot be built: the engine is measured alone");
        return None;
    }
    Some(target.join("release/rapier-spheres"))
}

/// Name, nanoseconds per step and outcome of every variant.
pub(crate) fn run_limit(program: &mut Command) -> Result<Vec<(String, f64, Vec<f64>)>, String> {
    let output = program.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the limit program ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_string();
            let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
            match numbers.as_deref() {
                Some([ns, outcome @ ..]) => Ok((name, *ns, outcome.to_vec())),
                _ => Err(format!("the limit program printed \"{line}\"")),
            }
        })
        .collect()
}

/// CPU time of this process, s: time that other programs take does not count.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Time since the first call, s, where the CPU time of the process cannot be asked for.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Adds the result to the history of the work, in place of an earlier one of the same commit.
pub(crate) fn keep(name: &str, result: &Map<String, Value>) -> Result<(), String> {
    let path = root().join("benches/results").join(format!("{name}.json"));
    let mut history: Vec<Value> = std::fs::read_to_string(&path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let commit = command_line("git", &["rev-parse", "--short", "HEAD"]);
    history.retain(|entry| entry.get("commit") != Some(&json!(commit)));
    let mut entry = Map::new();
    entry.insert("commit".into(), json!(commit));
    entry.insert("machine".into(), json!(machine()));
    entry.extend(result.clone());
    history.push(Value::Object(entry));
    let text = serde_json::to_string_pretty(&history).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(|error| error.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// What a command prints, if it can be run.
fn command_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

/// The processor, where the system tells.
fn machine() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn print_table(rows: &[Row]) {
    println!(
        "{:<24} {:>12} {:>12} {:>8}  outcome",
        "work", "ns per step", "limit, ns", "ratio"
    );
    let number = |value: Option<f64>| value.map_or("-".to_string(), |x| format!("{x:.2}"));
    for row in rows {
        println!(
            "{:<24} {:>12.2} {:>12} {:>8}  {:?} (limit {:?})",
            row.name,
            row.ns_per_step,
            number(row.limit_ns),
            number(row.ratio()),
            row.outcome,
            row.limit_outcome
        );
    }
}
