//! The command `stickslip`.

mod commands;
mod experiments;
mod failure;
mod figures;
mod output;
#[cfg(feature = "parquet")]
mod parquet_file;
mod picture;
mod row_file;
mod spool;
mod stop;
mod text;
mod trace_file;

use clap::Parser;
use std::process::ExitCode;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip new block block.toml
  stickslip check block.toml
  stickslip run block.toml --plot block.svg";

/// Simulates mechanical systems with friction and contact, from scenario files in TOML.
///
/// Results go to standard output or the files you name, everything else to standard error. The exit status is 0 when
/// the work is done, 1 when a run failed, and 2 when the input is wrong.
#[derive(Parser)]
#[command(name = "stickslip", version, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
