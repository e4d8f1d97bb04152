//! `cargo xtask bench trace`: what a CSV trace of every step adds to a run, per number, as the command line writes it.

use crate::bench::keep;
use crate::root;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

/// Steps of each run: long enough for a clock that counts hundredths of a second.
const DURATION: &str = "simulation.duration=400";
const TURNS: usize = 4;

/// `bench trace [--json]`.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let folder = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = folder.parent().unwrap_or(Path::new(".")).to_path_buf();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "stickslip-cli"])
        .current_dir(root())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("the command cannot be built".into());
    }
    let program = folder.join("stickslip");
    let file = folder.join("bench-trace.csv");
    let (mut traced, mut plain) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        plain = plain.min(seconds(&program, None)?);
        traced = traced.min(seconds(&program, Some(&file))?);
    }
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&file);
    let rows = text.lines().skip(1).count();
    let columns = text.lines().next().map_or(0, |line| line.split(',').count());
    let numbers = (rows * columns) as f64;
    let result = json!({
        "name": "trace",
        "rows": rows,
        "columns": columns,
        "bytes_per_number": text.len() as f64 / numbers,
        "ns_per_number": (traced - plain) * 1e9 / numbers,
    });
    if let Some(object) = result.as_object() {
        keep("trace", object)?;
    }
    match arguments.contains(&"--json") {
        true => println!("{result}"),
        false => println!("{result:#}"),
    }
    Ok(())
}

/// CPU time of a run of w1, s, with a trace or without.
fn seconds(program: &Path, trace: Option<&Path>) -> Result<f64, String> {
    let before = of_children()?;
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(root().join("benches/scenarios/w1.toml"))
        .args(["--quiet", "--set", DURATION]);
    if let Some(trace) = trace {
        command.arg("--out").arg(trace);
    }
    let status = command
        .stdout(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("the run ended with {status}"));
    }
    Ok(of_children()? - before)
}

/// CPU time of all programs that were started here and have ended, s.
fn of_children() -> Result<f64, String> {
    const TICKS: f64 = 100.0;
    let text =
        std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("no CPU time of a child: {error}"))?;
    // The name of the program stands in brackets and may hold spaces; user and system time of children are the 16th and 17th field.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS),
        _ => Err("no CPU time of a child".into()),
    }
}
