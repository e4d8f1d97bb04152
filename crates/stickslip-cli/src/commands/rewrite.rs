//! `stickslip rewrite FILE`.

use crate::failure::{Failure, print_data, warn};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use stickslip::inclusion::emit::Form;
use stickslip::scenario::Scenario;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip new inclusion block.toml
  stickslip rewrite block.toml
  stickslip rewrite block.toml --emit python > block.py";

/// Show the ordinary differential equation that a differential inclusion becomes
///
/// The equations of `[inclusion]` with the set-valued maps sgn (dry friction) and dio (rigid contact) are rewritten term
/// by term (Xiong, Kikuuwe and Yamamoto, section 3.3). Programs define STATES, INITIAL and rhs(t, y), and need nothing but the standard
/// library of their language.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Rewrite {
    /// The scenario file
    file: PathBuf,
    /// Change a value: inclusion.parameters.F=0.7
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = PossibleValuesParser::new(Form::ALL.map(|(name, _)| name)))]
    emit: String,
}

impl Rewrite {
    /// Rewrites the inclusion.
    pub fn execute(self) -> Result<(), Failure> {
        let scenario = Scenario::read(&self.file, &self.set)?;
        let Some(inclusion) = &scenario.inclusion else {
            return Err(Failure::input(
                format!(
                    "{} has no `[inclusion]`: there is nothing to rewrite",
                    self.file.display()
                ),
                "bodies and elements run as they are; `stickslip new inclusion FILE.toml` writes equations to start from",
            ));
        };
        warn(&scenario, &scenario.warnings);
        let form = Form::ALL.iter().find(|(name, _)| *name == self.emit);
        print_data(&inclusion.emit(form.map_or(Form::Text, |(_, form)| *form)))
    }
}
