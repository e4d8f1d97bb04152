//! `stickslip merge FILE...`.

use crate::failure::{Failure, note, print_data};
use crate::output::write_whole;
use crate::shards::Shard;
use clap::Args;
use std::path::{Path, PathBuf};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip merge part-*.csv --out sweep.csv
  stickslip merge part-1.csv part-2.csv part-3.csv > sweep.csv";

/// Join the parts of a sweep or a map that were done apart with --shard
///
/// The rows come out in order, as if the study had been done in one piece. Parts of different studies are refused; where rows are missing
/// it says which, and writes nothing. Beside each file there must be its FILE.shard, which says what its rows are.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// The parts: .csv files that were written with --shard I/N, in any order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the rows to this file; without it they go to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A part with its text.
struct Part<'a> {
    path: &'a Path,
    shard: Shard,
    text: String,
}

impl Part<'_> {
    fn header(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    fn rows(&self) -> impl Iterator<Item = &str> {
        self.text.lines().skip(1)
    }
}

fn read(path: &Path) -> Result<Part<'_>, Failure> {
    let wrong = |message: String, help: &str| Failure::input(format!("{}: {message}", path.display()), help);
    if path
        .extension()
        .is_none_or(|ending| !ending.eq_ignore_ascii_case("csv"))
    {
        return Err(wrong(
            "only parts in .csv files can be merged".into(),
            "write the parts with --out NAME.csv",
        ));
    }
    let shard = Shard::read(path)?;
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| wrong(format!("cannot be read: {error}"), "name the files of the parts"))?;
    let part = Part { path, shard, text };
    let (found, wanted) = (part.rows().count() as u64, part.shard.rows.end - part.shard.rows.start);
    if found != wanted || !part.text.ends_with('\n') {
        return Err(wrong(
            format!("it holds {found} rows, and its part has {wanted}"),
            "do this part again, or continue it with --resume",
        ));
    }
    Ok(part)
}

/// Refuses parts of another study than the first.
fn check_same(first: &Part<'_>, other: &Part<'_>) -> Result<(), Failure> {
    let (a, b) = (&first.shard.study, &other.shard.study);
    let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key));
    let reason = match key {
        Some(key) if key == "scenario" => "their scenario files differ".to_string(),
        Some(key) => {
            let shown =
                |study: &crate::row_file::Description| study.get(key).map_or("nothing".into(), |v| v.to_string());
            format!("`{key}` is {} in one and {} in the other", shown(a), shown(b))
        }
        None if first.shard.total != other.shard.total || first.header() != other.header() => {
            "their rows are of different kinds".to_string()
        }
        None => return Ok(()),
    };
    Err(Failure::input(
        format!(
            "{} and {} are parts of different studies: {reason}",
            first.path.display(),
            other.path.display()
        ),
        "merge the parts of one study only",
    ))
}

impl Merge {
    /// Joins the parts.
    pub fn execute(self) -> Result<(), Failure> {
        let mut parts = self
            .files
            .iter()
            .map(|path| read(path))
            .collect::<Result<Vec<_>, _>>()?;
        let Some(first) = parts.first() else {
            return Ok(());
        };
        parts.iter().try_for_each(|other| check_same(first, other))?;
        parts.sort_by_key(|part| (part.shard.rows.start, part.shard.rows.end));
        let total = parts[0].shard.total;
        let mut missing = Vec::new();
        let mut text = format!("{}\n", parts[0].header());
        let mut next = 0;
        for part in &parts {
            let rows = &part.shard.rows;
            if rows.start > next {
                missing.push(next..rows.start);
            }
            // A part that is there twice is taken once.
            for row in part.rows().skip(next.saturating_sub(rows.start) as usize) {
                text += row;
                text.push('\n');
            }
            next = next.max(rows.end);
        }
        if next < total {
            missing.push(next..total);
        }
        if !missing.is_empty() {
            let missing: Vec<String> = missing
                .iter()
                .map(|rows| format!("{} to {}", rows.start + 1, rows.end))
                .collect();
            return Err(Failure::Work(format!(
                "error: rows {} of {total} are missing\nhelp: do the parts that hold them, and merge again",
                missing.join(", ")
            )));
        }
        match &self.out {
            None => print_data(&text),
            Some(path) => {
                write_whole(path, text.as_bytes())?;
                note(&format!("{total} rows of {} parts in {}", parts.len(), path.display()));
                Ok(())
            }
        }
    }
}
