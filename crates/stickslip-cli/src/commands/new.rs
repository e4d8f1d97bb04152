//! `stickslip new TEMPLATE [FILE]`.

use crate::failure::{Failure, note, print};
use crate::output::PendingFile;
use crate::text::list;
use clap::Args;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use stickslip::scenario::{TEMPLATES, Template};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip new
  stickslip new block block.toml
  stickslip new arm | less";

/// Write a scenario to start from; without a template, list them
///
/// An existing file is never overwritten.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct New {
    /// The template: one of those that `stickslip new` lists
    template: Option<String>,
    /// The file to write; standard output if left out
    file: Option<PathBuf>,
}

impl New {
    /// Writes the template.
    pub fn execute(self) -> Result<(), Failure> {
        let Some(name) = self.template else {
            let rows: Vec<Vec<String>> = TEMPLATES
                .iter()
                .map(|template| vec![template.name.to_string(), template.description.to_string()])
                .collect();
            return print(&list(&rows, ""));
        };
        let template = Template::find(&name)
            .ok_or_else(|| Failure::unknown("template", &name, TEMPLATES.iter().map(|template| template.name)))?;
        let Some(path) = self.file else {
            return print(template.text);
        };
        let written = if path.symlink_metadata().is_ok() {
            Err(ErrorKind::AlreadyExists.into())
        } else {
            let mut file = PendingFile::create(&path)?;
            file.write_all(template.text.as_bytes())
                .and_then(|()| file.commit_new())
        };
        match written {
            Ok(()) => {
                note(&format!(
                    "wrote {0}: {1}\ntry: stickslip run {0}",
                    path.display(),
                    template.description
                ));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::input(
                format!("{} exists already and is left as it is", path.display()),
                "choose another name, or remove the file first",
            )),
            Err(error) => Err(Failure::write(&path, &error)),
        }
    }
}
