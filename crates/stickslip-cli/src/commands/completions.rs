//! `stickslip completions SHELL`.

use crate::failure::{Failure, print_data};
use clap::{Args, CommandFactory};

/// Shown below the help.
const EXAMPLES: &str = "\
Example:
  stickslip completions bash > ~/.local/share/bash-completion/completions/stickslip";

/// Print the completions of a shell, to be sourced by it
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    /// Prints the script.
    pub fn execute(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "stickslip", &mut script);
        print_data(&String::from_utf8_lossy(&script))
    }
}
