//! `cargo xtask test`: everything that must pass before a change is taken.

use crate::{guard, optimised, root};
use std::ffi::OsString;
use std::path::Path;
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
    python()?;
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
    // This task is in the same folder.
    let program = std::env::current_exe().map_err(|error| format!("cannot find the program: {error}"))?;
    let program = program.with_file_name("stickslip");
    let program = program.to_string_lossy();
    eprintln!("\n== random scenarios: cargo xtask fuzz 2000 1 --program {program}");
    crate::fuzz::run(&["2000", "1", "--program", &program])
}

#[cfg(not(target_os = "linux"))]
fn fuzz() -> Result<(), String> {
    Ok(())
}

/// What the tests of the Python package need, by name; the package itself needs NumPy alone.
const PACKAGES: &[&str] = &[
    "maturin>=1.9,<2",
    "numpy",
    "pytest",
    "mypy",
    "matplotlib",
    "pandas",
    "pandas-stubs",
    "xarray",
    "scipy",
    "joblib",
    "distributed",
    "gymnasium",
    "nbclient",
    "ipykernel",
];

/// The Python package: a wheel with the profile of this task, for which the engine was built already, in a fresh environment; its tests, the
/// examples in its documentation and its types.
fn python() -> Result<(), String> {
    let found = ["python3", "python"].into_iter().find(|name| {
        let version = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        version.is_ok_and(|status| status.success())
    });
    let Some(interpreter) = found else {
        eprintln!("\n== Python package: skipped, there is no Python");
        return Ok(());
    };
    // This task is in the folder of the other programs.
    let program = std::env::current_exe().map_err(|error| format!("cannot find the program: {error}"))?;
    let program = program.with_file_name(format!("stickslip{}", std::env::consts::EXE_SUFFIX));
    let target = program.parent().and_then(Path::parent).unwrap_or(Path::new("target"));
    let (environment, wheels) = (target.join("python"), target.join("python-wheels"));
    // Left over from the last time: a wheel of another version would be tested in place of this one.
    let _ = std::fs::remove_dir_all(&wheels);
    let package = root().join("python");
    let bin = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let call = |what: &str, command: &mut Command| {
        eprintln!("\n== Python package, {what}");
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("Python package, {what}: failed; {command:?}")),
            Err(error) => Err(format!("Python package, {what}: cannot run {command:?}: {error}")),
        }
    };
    // Not in the folder of the package: Python would take it, which holds no compiled part, in place of the wheel.
    let in_environment = |name: &str| {
        let mut command = Command::new(bin.join(name));
        command.env("STICKSLIP_PROGRAM", &program).env_remove("PYTHONPATH");
        command.current_dir(target);
        command
    };
    let venv = ["-m", "venv", "--clear"].map(OsString::from);
    call("environment", Command::new(interpreter).args(venv).arg(&environment))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    call(
        "what its tests need",
        in_environment("python").args(install).args(PACKAGES),
    )?;
    let build = ["build", "--profile", "dev", "--compatibility", "linux", "--out"];
    let mut maturin = in_environment("maturin");
    call("wheel", maturin.args(build).arg(&wheels).current_dir(&package))?;
    let wheel = std::fs::read_dir(&wheels).ok().and_then(|mut files| files.next()?.ok());
    let wheel = wheel.ok_or("Python package: there is no wheel")?.path();
    call(
        "installation",
        in_environment("python")
            .args(install)
            .arg("--force-reinstall")
            .arg("--no-deps")
            .arg(wheel),
    )?;
    let pytest = ["-m", "pytest", "-p", "no:cacheprovider", "-c"].map(OsString::from);
    let settings = package.join("pyproject.toml");
    let pytest = || {
        let mut command = in_environment("python");
        command.args(&pytest).arg(&settings);
        command
    };
    call("tests", pytest().arg(package.join("tests")))?;
    call("examples in docstrings", pytest().args(["--pyargs", "stickslip"]))?;
    let strict = ["-m", "mypy", "--strict", "--cache-dir"];
    call(
        "types",
        in_environment("python")
            .args(strict)
            .arg(target.join("mypy"))
            .args(["stickslip", "examples"])
            .current_dir(&package),
    )
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
