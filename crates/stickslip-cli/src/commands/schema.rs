//! `stickslip schema`.

use crate::failure::{Failure, print_data};
use clap::Args;

/// Shown below the help.
const EXAMPLES: &str = "\
Example:
  stickslip schema > stickslip.schema.json";

/// Print the JSON schema of scenario files, for completion and checks in an editor
///
/// Save it beside your scenarios and name it in their first line: #:schema ./stickslip.schema.json (extension Even Better
/// TOML and others).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Schema {}

impl Schema {
    /// Prints the schema.
    pub fn execute(self) -> Result<(), Failure> {
        print_data(&(stickslip::scenario::schema() + "\n"))
    }
}
