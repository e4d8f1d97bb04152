//! The command `stickslip`.

mod commands;
mod failure;
mod figures;
mod output;
#[cfg(feature = "parquet")]
mod parquet_file;
mod picture;
mod row_file;
mod shards;
mod spool;
mod stop;
mod text;
mod trace_file;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;
use stickslip::scenario::diagnostic::printable;

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
    match Arguments::try_parse() {
        Ok(arguments) => match arguments.command.execute() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        Err(error) => refused(&error),
    }
}

/// Tells of arguments that cannot be read, or shows the help that was asked for.
fn refused(error: &clap::Error) -> ExitCode {
    let command = Arguments::command();
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let known = command.get_subcommands().map(clap::Command::get_name);
        return Failure::unknown("command", name, known).report();
    }
    // What was written is shown in the message: nothing of it may reach the terminal as a control character.
    let harmless = |argument: std::ffi::OsString| argument.to_str().is_some_and(|text| printable(text) == text);
    if !error.use_stderr() || std::env::args_os().all(harmless) {
        error.exit();
    }
    Failure::Input(error.render().to_string()).report()
}
