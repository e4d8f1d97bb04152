//! Tasks around the workspace: `cargo xtask test`, `cargo xtask guard` and `cargo xtask bench`.

mod bench;
#[cfg(target_os = "linux")]
mod fuzz;
mod guard;
#[cfg(unix)]
mod kill;
mod rewrite;
mod scaling;
mod scenes;
mod sweep;
mod table;
mod test;
mod trace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <task>

tasks
  test [--features]       formatting, lints, tests, documentation and licences: everything that must pass;
                          --features adds native code of inclusions and Parquet files, whose build takes minutes
  guard [--renew]         instructions per step of the hot loops against the kept counts (valgrind), or keep them anew
  bench NAME [--json]     a work beside its hand-written limit; NAME is one of w1 to w6
  bench trace [--json]    what a trace of every step costs, per number
  bench rewrite [--jit] [--json]
                          a rewritten inclusion beside the same equations by hand; --jit measures native code too
  bench scenes [NAME ...] [--json]
                          scenes of several bodies beside MuJoCo, if the Python of the variable PYTHON has it, and how cost grows
  fuzz N SEED [--threads COUNT] [--only CASE] [--program FILE]
                          N random scenarios through check, a fifth of them through run, some through sweep, map and
                          compare (Linux)
  kill STARTS SEED        end sweeps and maps at random moments, continue them, and compare the bytes
  table                   write the costs kept in benches/results into README.md
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::run(false),
        ["test", "--features"] => test::run(true),
        // Only an optimised build may be timed or counted; the other checks do without one, which saves them minutes.
        ["bench" | "guard", ..] if cfg!(debug_assertions) => optimised(&words),
        ["bench", "rewrite", rest @ ..] => rewrite::run(rest),
        ["bench", "trace", rest @ ..] => trace::run(rest),
        ["bench", "w4", rest @ ..] | ["bench", rest @ .., "w4"] => sweep::run(rest),
        ["bench", "scenes", rest @ ..] => scenes::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        #[cfg(target_os = "linux")]
        ["fuzz", rest @ ..] => fuzz::run(rest),
        #[cfg(unix)]
        ["kill", rest @ ..] => kill(rest),
        ["table"] => table::run(),
        ["guard"] => guard::run(false),
        ["guard", "--renew"] => guard::run(true),
        ["steps", name, count] => guard::steps(name, count),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the command with all formats and disturbs it.
#[cfg(unix)]
fn kill(arguments: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = std::process::Command::new(cargo)
        .args(["build", "--quiet", "--package=stickslip-cli", "--features=parquet"])
        .current_dir(root())
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the command was not built".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join("tmp").join(format!("kill-{}", std::process::id()));
    let outcome = kill::run(&target.join("debug/stickslip"), &folder, arguments);
    if outcome.is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    outcome
}

/// Runs the same task in an optimised build.
fn optimised(words: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask"])
        .args(words.contains(&"--jit").then_some("--features=jit"))
        .arg("--")
        .args(words)
        .current_dir(root())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err("the optimised build failed, or its run".into())
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
