//! Parts of a sweep or a map that were done apart (`--shard I/N`): what each of them is, beside its file, and the script that does them all.

use crate::failure::Failure;
use crate::output::{beside, write_whole};
use crate::row_file::Description;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;

/// A part of a study.
#[derive(Debug)]
pub struct Shard {
    /// What the rows depend on: scenario, changes, what is varied and measured.
    pub study: Description,
    /// Its rows, counted from 0.
    pub rows: Range<u64>,
    /// How many rows the study has.
    pub total: u64,
}

impl Shard {
    /// Notes it beside the file of its rows.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut study = self.study.clone();
        study.remove("rows");
        let value = json!({ "study": study, "first": self.rows.start, "end": self.rows.end, "of": self.total });
        write_whole(&beside(path, ".shard"), format!("{value}\n").as_bytes())
    }

    /// Reads what is beside a file of rows.
    ///
    /// # Errors
    /// If there is nothing, or it cannot be understood.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let place = beside(path, ".shard");
        let strange = |reason: &str| {
            Failure::input(
                format!(
                    "cannot tell which rows {} holds: {} {reason}",
                    path.display(),
                    place.display()
                ),
                "merge takes files that were written with --shard I/N, and the .shard file beside each",
            )
        };
        let text = std::fs::read_to_string(&place).map_err(|error| strange(&format!("cannot be read ({error})")))?;
        let value: Value = serde_json::from_str(&text).map_err(|_| strange("is damaged"))?;
        let number = |key: &str| value[key].as_u64();
        match (value["study"].as_object(), number("first"), number("end"), number("of")) {
            (Some(study), Some(first), Some(end), Some(total)) if first <= end && end <= total => Ok(Shard {
                study: study.clone(),
                rows: first..end,
                total,
            }),
            _ => Err(strange("is damaged")),
        }
    }
}

/// A word for a shell.
fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The script of a Slurm array of `parts` jobs that each do a part of a command. `arguments` are those of the command without `--out`,
/// `--shard` and `--threads`; rows of part I go to OUT with I before its ending.
pub fn slurm(arguments: &[String], out: &Path, parts: u64) -> String {
    let stem = out.with_extension("");
    let ending = out
        .extension()
        .map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    let (stem, whole) = (word(&stem.to_string_lossy()), word(&out.to_string_lossy()));
    let command: Vec<String> = arguments.iter().map(|argument| word(argument)).collect();
    format!(
        "#!/bin/bash\n\
         #SBATCH --job-name=stickslip\n\
         #SBATCH --array=1-{parts}\n\
         #SBATCH --cpus-per-task=4\n\
         # sbatch this file. A part that was interrupted goes on where its rows end when it is submitted again.\n\
         # When all parts are done: stickslip merge {stem}-*{ending} --out {whole}\n\
         set -euo pipefail\n\
         part=\"$SLURM_ARRAY_TASK_ID\"\n\
         exec stickslip {} --shard \"$part/{parts}\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --out {stem}-\"$part\"{ending} --resume --quiet\n",
        command.join(" ")
    )
}
