//! `cargo xtask test`: everything that must pass before a change is taken.

use crate::{guard, optimised, root};
use std::process::{Command, Stdio};

/// One check: what it is for, the arguments of cargo, and extra environment.
struct Check {
    name: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const CHECKS: &[Check] = &[
    Check {
        name: "formatting",
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Check {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        environment: &[],
    },
    Check {
        name: "tests, with those in the documentation",
        arguments: &["test", "--workspace"],
        // The cases of the property tests, the same every time; see .cargo/config.toml.
        environment: &[("PROPTEST_RNG_SEED", "2005")],
    },
    Check {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps", "--document-private-items"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Off by default, as the features take minutes to build; not optimised, which would take several times as long. Both are built
/// with both features, so that the engine is built once.
const FEATURES: &[Check] = &[
    Check {
        name: "native code of inclusions, rows of tables",
        arguments: &[
            "test",
            "--package=stickslip",
            "--package=stickslip-cli",
            "--features=stickslip/jit,stickslip-cli/parquet",
            "--test=inclusions",
            "--test=parquet",
        ],
        environment: UNOPTIMISED,
    },
    Check {
        name: "native code of inclusions, in its parts",
        arguments: &[
            "test",
            "--package=stickslip",
            "--package=stickslip-cli",
            "--features=stickslip/jit,stickslip-cli/parquet",
            "--lib",
            "inclusion",
        ],
        environment: UNOPTIMISED,
    },
];

const UNOPTIMISED: &[(&str, &str)] = &[
    ("CARGO_PROFILE_TEST_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_TEST_DEBUG", "0"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
];

const LICENCES: Check = Check {
    name: "licences and sources of dependencies",
    arguments: &["deny", "check", "licenses", "bans", "sources"],
    environment: &[],
};

/// Runs every check and stops at the first that fails.
pub fn run(with_features: bool) -> Result<(), String> {
    CHECKS.iter().try_for_each(check)?;
    if with_features {
        fuzz()?;
        FEATURES.iter().try_for_each(check)?;
    }
    let has_deny = cargo(&["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if has_deny {
        check(&LICENCES)?;
    } else {
        eprintln!("\n== {}: skipped, cargo-deny is not installed", LICENCES.name);
    }
    match guard::obstacle() {
        Some(obstacle) => eprintln!("\n== instructions of the hot loops: skipped, {obstacle}"),
        None => {
            eprintln!("\n== instructions of the hot loops: cargo xtask guard");
            optimised(&["guard"])?;
        }
    }
    eprintln!("\nall checks passed");
    Ok(())
}

/// A few random scenarios, the same every time, through the program that the tests have just been built with: it is optimised
/// and watches for overflow.
#[cfg(target_os = "linux")]
fn fuzz() -> Result<(), String> {
    let program = root().join("target/debug/stickslip");
    let program = program.to_string_lossy();
    eprintln!("\n== random scenarios: cargo xtask fuzz 2000 1 --program {program}");
    crate::fuzz::run(&["2000", "1", "--program", &program])
}

#[cfg(not(target_os = "linux"))]
fn fuzz() -> Result<(), String> {
    Ok(())
}

fn check(check: &Check) -> Result<(), String> {
    let environment: String = check.environment.iter().map(|(k, v)| format!("{k}=\"{v}\" ")).collect();
    let line = format!("{environment}cargo {}", check.arguments.join(" "));
    eprintln!("\n== {}: {line}", check.name);
    let status = cargo(check.arguments)
        .envs(check.environment.iter().copied())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed; run again with: {line}", check.name))
    }
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}
