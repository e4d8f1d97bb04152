//! `stickslip sweep FILE --vary KEY=SPEC --measure PATH`.

use super::run::{Progress, threads};
use crate::failure::{Failure, note, print_data};
use crate::row_file::{self, Description, RowFile};
use crate::shards::{self, Shard};
use crate::stop::{self, stop_flag};
use crate::text::about;
use clap::Args;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stickslip::scenario::Draft;
use stickslip::sweep::{self, Axis, Row};
use stickslip_study::rows::{key_fields, shard, sweep_header, sweep_line as line};
use stickslip_study::warnings::Warnings;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip sweep block.toml --vary \"elements.floor.kinetic=lin:5 N:15 N:11\" --measure final.block.position
  stickslip sweep block.toml --vary bodies.block.mass=log:0.1:10:20 --vary elements.floor.law=list:implicit,lugre \\
    --measure energy.dissipated,elements.floor.stick_time --out sweep.csv
  stickslip sweep block.toml … --out sweep.csv --resume
  stickslip sweep block.toml … --shard 2/8 --out part-2.csv     then: stickslip merge part-*.csv --out sweep.csv
  stickslip sweep block.toml … --out sweep.csv --slurm 8 > job.sh";

/// Run a scenario many times with other values and measure each run
///
/// Several --vary make a grid of which the last varies fastest. SPEC is lin:a:b:n, log:a:b:n or list:x,y,z; values may
/// carry a unit. PATH is a path in the run report, as `run --json` prints it. Rows have the varied keys in SI units, the
/// measures, and `status`, which is `ok` or says why a run failed.
///
/// Rows are written as soon as they are there, to FILE.part, which becomes FILE at the end. After Ctrl-C, a kill or a
/// full disk --resume goes on where the rows end. The result is the same for any number of threads.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Sweep {
    /// The scenario file
    file: PathBuf,
    /// A key and its values: KEY=lin:a:b:n, KEY=log:a:b:n or KEY=list:x,y,z
    #[arg(long, value_name = "KEY=SPEC", required = true)]
    vary: Vec<String>,
    /// What to measure: paths in the run report, separated by commas
    #[arg(long, value_name = "PATH", value_delimiter = ',', required = true)]
    measure: Vec<String>,
    /// Change a value for all runs
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write the rows to this file: .csv or .parquet; without it they go to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Threads to use; default and most: one per core. The result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,
    /// Continue the file of a sweep that was interrupted
    #[arg(long, requires = "out")]
    resume: bool,
    /// Do only part I of N of the rows, counted from 1
    #[arg(long, value_name = "I/N", value_parser = part)]
    shard: Option<(u64, u64)>,
    /// Do nothing but print a script for Slurm: an array of PARTS jobs (16 unless given), each with a --shard of the rows
    #[arg(long, value_name = "PARTS", requires = "out", conflicts_with_all = ["shard", "resume"], num_args = 0..=1, default_missing_value = "16", value_parser = clap::value_parser!(u64).range(1..))]
    slurm: Option<u64>,
    /// Show no progress and no summary
    #[arg(long)]
    quiet: bool,
}

/// Reads `I/N`.
pub fn part(text: &str) -> Result<(u64, u64), String> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((i, n)) if i >= 1 && i <= n => Ok((i, n)),
        _ => Err("write I/N with I from 1 to N: 1/4, 2/4, 3/4, 4/4".to_string()),
    }
}

/// What rows depend on, for the state of a file.
pub fn description(draft: &Draft, arguments: &[(&str, &[String])]) -> Description {
    let mut description = Description::new();
    description.insert("version".to_string(), env!("CARGO_PKG_VERSION").into());
    let scenario = draft.sources().first().map_or("", |source| &source.text);
    description.insert("scenario".to_string(), scenario.into());
    for (name, values) in arguments {
        description.insert((*name).to_string(), values.to_vec().into());
    }
    description
}

impl Sweep {
    /// Runs the sweep.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.out {
            row_file::check(path)?;
        }
        let draft = Draft::read(&self.file, &self.set)?;
        let axes = self
            .vary
            .iter()
            .map(|text| Axis::parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        let sweep = sweep::Sweep::new(draft, axes, &self.measure)?;
        if let (Some(parts), Some(out)) = (self.slurm, &self.out) {
            let mut words = vec!["sweep".to_string(), self.file.display().to_string()];
            words.extend(self.vary.iter().flat_map(|vary| ["--vary".to_string(), vary.clone()]));
            words.extend(["--measure".to_string(), self.measure.join(",")]);
            words.extend(self.set.iter().flat_map(|set| ["--set".to_string(), set.clone()]));
            return print_data(&shards::slurm(&words, out, parts));
        }
        for warning in sweep.warnings() {
            note(warning.trim_end());
        }
        let rows = shard(sweep.rows(), self.shard.unwrap_or((1, 1)));
        let header = sweep_header(&sweep, &self.measure);
        match &self.out {
            None => self.to_standard_output(&sweep, rows, &header),
            Some(path) => self.to_file(&sweep, rows, &header, path),
        }
    }

    fn to_standard_output(&self, sweep: &sweep::Sweep, rows: Range<u64>, header: &str) -> Result<(), Failure> {
        print_data(&format!("{header}\n"))?;
        let mut broken = None;
        let mut sink = |row: Row| {
            print_data(&(line(&row) + "\n")).map_err(|failure| {
                broken = Some(failure);
                io::Error::from(io::ErrorKind::BrokenPipe)
            })
        };
        let kept = stop::keep_rows(None);
        let outcome = self.drive(sweep, rows, &mut sink);
        drop(kept);
        match broken {
            Some(failure) => Err(failure),
            None => outcome.map_err(|error| Failure::Work(error.to_string()))?.end(None),
        }
    }

    fn to_file(&self, sweep: &sweep::Sweep, mut rows: Range<u64>, header: &str, path: &Path) -> Result<(), Failure> {
        let span = [format!("{} to {} of {}", rows.start + 1, rows.end, sweep.rows())];
        let description = description(
            sweep.draft(),
            &[
                ("set", &self.set),
                ("vary", &self.vary),
                ("measure", &self.measure),
                ("rows", &span),
            ],
        );
        let mut file = if self.resume {
            let mut last = String::new();
            let range = rows.clone();
            let mut check = |number: u64, text: &str| {
                let number = range.start + number;
                if number >= range.end {
                    return Err("it is one more than this sweep has".to_string());
                }
                let keys = key_fields(&sweep.keys(number));
                last = text.to_string();
                let same = text.starts_with(&keys);
                same.then_some(())
                    .ok_or_else(|| format!("it should begin with {keys} and is {text}"))
            };
            let (found, done) = RowFile::find(path, header, &description, &mut check)?;
            rows.start += done;
            // What no description holds, such as a file that the scenario names, shows in a row that is done again.
            if done > 0 && !self.measure.iter().any(|path| path == "seconds") {
                let again = sweep.runner().run(sweep.keys(rows.start - 1), None);
                let again = again.as_ref().map(line).unwrap_or_default();
                if again != last {
                    return Err(Failure::input(
                        format!(
                            "cannot continue {}: its last row is {last} and would now be {again}",
                            path.display()
                        ),
                        "something it depends on has changed: start anew without --resume",
                    ));
                }
            }
            found.go_on(header, &description)?
        } else {
            RowFile::create(path, header, &description)?
        };
        let kept = stop::keep_rows(file.rows_at());
        let shard = self.shard.map(|part| Shard {
            study: description,
            rows: shard(sweep.rows(), part),
            total: sweep.rows(),
        });
        let outcome = self.drive(sweep, rows, &mut |row| file.row(&line(&row)));
        drop(kept);
        match outcome {
            Ok(done) if done.whole => {
                file.finish()?;
                shard.map_or(Ok(()), |shard| shard.write(path))?;
                done.end(None)
            }
            Ok(done) => done.end(file.interrupt()),
            Err(error) => Err(file.broken(&error)),
        }
    }

    /// Does the rows with a bar.
    fn drive(
        &self,
        sweep: &sweep::Sweep,
        rows: Range<u64>,
        sink: &mut dyn FnMut(Row) -> io::Result<()>,
    ) -> io::Result<Done> {
        let mut done = Done {
            quiet: self.quiet,
            total: rows.end - rows.start,
            ..Done::default()
        };
        let stop = stop_flag();
        let start = Instant::now();
        let mut progress = Progress::of_runs(done.total, self.quiet);
        let outcome = sweep.run(rows, threads(self.threads), Some(stop), &mut |row| {
            if let Some(reason) = &row.failure {
                done.failed += 1;
                done.reason.get_or_insert_with(|| reason.clone());
            }
            done.warnings.take(&row.warnings);
            sink(row)?;
            done.rows += 1;
            progress.show(done.rows);
            Ok(())
        });
        progress.clear();
        outcome?;
        done.seconds = start.elapsed().as_secs_f64();
        done.whole = done.rows == done.total;
        Ok(done)
    }
}

/// What a sweep came to.
#[derive(Default)]
struct Done {
    quiet: bool,
    /// Rows to do, and done.
    total: u64,
    rows: u64,
    whole: bool,
    seconds: f64,
    failed: u64,
    /// Why the first failed.
    reason: Option<String>,
    warnings: Warnings,
}

/// Says each kind of warning once, with the number of runs that it concerns.
pub fn say(warnings: &Warnings) {
    for sentence in warnings.sentences() {
        note(&format!("warning: {sentence}"));
    }
}

impl Done {
    /// Says so. `left` is where the rows of an interrupted sweep are.
    fn end(self, left: Option<PathBuf>) -> Result<(), Failure> {
        say(&self.warnings);
        let Done {
            total, rows, failed, ..
        } = self;
        if !self.whole {
            let kept = left.map_or(String::new(), |path| {
                format!("; {} holds them: continue with --resume", path.display())
            });
            return Err(Failure::Work(format!("stopped after {rows} of {total} runs{kept}")));
        }
        if rows > 0 && failed == rows {
            let reason = self.reason.unwrap_or_default();
            return Err(Failure::Work(format!(
                "error: every run failed, the first because {reason}"
            )));
        }
        if !self.quiet {
            let each = if rows > 0 {
                format!(" ({} each)", about(self.seconds / rows as f64))
            } else {
                String::new()
            };
            let failures = self.reason.map_or(String::new(), |reason| {
                format!("; {failed} failed, the first because {reason}")
            });
            note(&format!("{rows} runs in {}{each}{failures}", about(self.seconds)));
        }
        Ok(())
    }
}
