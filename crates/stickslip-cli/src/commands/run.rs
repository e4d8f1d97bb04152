//! `stickslip run FILE`.

mod summary;

use crate::failure::{Failure, note, print, print_json, warn};
use crate::output::{PendingFile, is_standard_output};
use crate::picture::{self, Recording, Window};
use crate::stop::{self, stop_flag};
use crate::trace_file::{Format, TraceFile};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use stickslip::Simulation;
use stickslip::quantity::{Dimension, parse_quantity};
use stickslip::run::{Ended, Glance, Options, Sink, recorded_columns, run};
use stickslip::scenario::Scenario;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip run block.toml --plot block.svg
  stickslip run block.toml --plot end.svg --from 3 --until 3.5
  stickslip run block.toml --set elements.floor.law=lugre --out block.csv
  stickslip run block.toml --json | jq .energy";

/// Simulate a scenario: print a summary, write the trace and a picture
///
/// The trace has one row per step (or every Nth), with the columns the scenario chooses or all. Rows go to FILE.part, which
/// becomes FILE at the end; Ctrl-C, a failing run and a full disk leave what was reached. A pipe or device, such as
/// /dev/stdout, is written to as it is, as CSV unless its name says otherwise.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    /// The scenario file
    file: PathBuf,
    /// Change a value: elements.floor.law=lugre, bodies.block.mass="2 kg"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write the trace to this file: .csv, .json or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the contacts that the program found to this file: .csv, one line for each contact and recorded step
    #[arg(long, value_name = "FILE")]
    contacts: Option<PathBuf>,
    /// Draw velocities, forces and positions to this file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw only what is after this time: 8000, "2 h"
    #[arg(long, value_name = "TIME", requires = "plot", value_parser = time)]
    from: Option<f64>,
    /// Draw only what is before this time
    #[arg(long, value_name = "TIME", requires = "plot", value_parser = time)]
    until: Option<f64>,
    /// Record every Nth step; the first and the last are always recorded
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Threads for the blocks of a chain or for many spheres; default and most: one per core. Anything else needs one; results are the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,
    /// Print the run report as JSON instead of the summary
    #[arg(long)]
    json: bool,
    /// Print no summary and no progress
    #[arg(long)]
    quiet: bool,
}

/// A time in s, or with a unit.
pub(super) fn time(text: &str) -> Result<f64, String> {
    let seconds = match parse_quantity(text) {
        Ok(Some((value, Dimension::TIME))) => Some(value),
        _ => text.trim().parse().ok(),
    };
    seconds
        .filter(|seconds: &f64| seconds.is_finite())
        .ok_or_else(|| "write a time: 8000, \"8000 s\" or \"2 h\"".to_string())
}

impl Run {
    /// Runs the scenario.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.out {
            Format::of(path)?;
        }
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        if let Some(path) = &self.contacts
            && !matches!(Format::of(path)?, Format::Csv)
        {
            return Err(Failure::input(
                "contacts are written as CSV",
                "name a file that ends in .csv",
            ));
        }
        let mut simulation = Simulation::new(Scenario::read(&self.file, &self.set)?)?;
        if simulation.chain().is_some() || simulation.spheres().is_some() {
            simulation.use_threads(threads(self.threads));
        }
        if self.contacts.is_some() && !simulation.has_scene() {
            let help = "--contacts writes the contacts that the program finds between shapes";
            return Err(Failure::input("the scenario has no [contacts]", help));
        }
        let mut contacts = match (&self.contacts, simulation.scenario().contact_rows) {
            (Some(path), _) => Some((path, PendingFile::create(path)?)),
            (None, true) => {
                note("warning: `[output] contacts = true` writes to the file of --contacts, which is not given");
                None
            }
            (None, false) => None,
        };
        if let Some((path, file)) = &mut contacts {
            let header = "t,first,second,point.x,point.y,point.z,normal.x,normal.y,normal.z,force.x,force.y,force.z,slip.x,slip.y,slip.z,gap,mode";
            writeln!(file, "{header}").map_err(|error| Failure::write(path, &error))?;
        }
        let mut list = contacts
            .as_mut()
            .map(|(_, file)| |simulation: &Simulation| contact_rows(simulation, file));
        let columns = recorded_columns(&simulation)?;
        let steps = simulation.built().steps;
        let scenario = simulation.scenario();
        let rows = steps / self.every + 2;
        let recording = match &self.plot {
            Some(_) => {
                let window = Window::new(self.from, self.until, scenario.simulation.duration)?;
                Some(Recording::new(scenario, columns.names(), rows, window)?)
            }
            None => None,
        };
        let trace = match &self.out {
            Some(path) => Some(TraceFile::create(path, columns.names())?),
            None => None,
        };
        if !self.json {
            warn(scenario, &simulation.built().warnings);
        }

        let results = Arc::new(Mutex::new(Results {
            trace,
            recording,
            last: 0.0,
        }));
        let mut sink = |row: &[f64]| results.lock().unwrap_or_else(PoisonError::into_inner).row(row);
        let wanted = self.out.is_some() || self.plot.is_some();
        let mut progress = Progress::new(steps, self.quiet);
        let options = Options {
            every: self.every,
            stop: Some(stop_flag()),
            progress: Some(&mut |done| progress.show(done)),
            rows: list.as_mut().map(|list| list as &mut Glance<'_>),
        };
        let rows = wanted.then_some((&columns, &mut sink as &mut Sink<'_>));
        let kept = stop::keep({
            let (results, plot) = (Arc::clone(&results), self.plot.clone());
            move || Results::leave(&results, plot.as_deref(), wanted)
        });
        let outcome = run(&mut simulation, rows, options);
        drop(kept);
        progress.clear();
        let Results { trace, recording, .. } =
            std::mem::take(&mut *results.lock().unwrap_or_else(PoisonError::into_inner));
        let mut outcome = match (outcome, trace) {
            // The trace is whole before anything else is tried.
            (Ok(outcome), Some(trace)) => {
                trace.finish()?;
                outcome
            }
            (Ok(outcome), None) => outcome,
            (Err(error), Some(trace)) => return Err(trace.rescue(&error)),
            (Err(error), None) => return Err(Failure::Work(error.to_string())),
        };
        if let Some((path, file)) = &mut contacts {
            file.commit().map_err(|error| Failure::write(path, &error))?;
        }
        outcome.report.examine_steady_sliding(&simulation, Some(stop_flag()));
        if let (Some(recording), Some(path)) = (recording, &self.plot) {
            let mut figure = recording.figure();
            if let Some(events) = &outcome.report.slip_events {
                picture::add_sizes(&mut figure, events, simulation.scenario().slip_events);
            }
            picture::save(&figure, path)?;
        }
        if self.json {
            print_json(&outcome.report)?;
        } else if !self.quiet && !matches!(outcome.ended, Ended::Failed(_)) {
            // Numbers of a run that went astray say nothing; the error does.
            let text = summary::text(&simulation, &outcome.report);
            // Rows on standard output are not mixed with words.
            let rows_there = self.out.as_deref().is_some_and(is_standard_output);
            if rows_there { note(&text) } else { print(&text)? }
        }
        if !self.json {
            for doubt in &outcome.report.doubts {
                note(&format!("warning: {doubt}"));
            }
        }
        match outcome.ended {
            Ended::Complete => Ok(()),
            Ended::Stopped => Err(Failure::Work(format!(
                "stopped at t = {} s; files hold everything up to there",
                outcome.report.t_end
            ))),
            Ended::Failed(error) => Err(Failure::Work(format!("error: {error}"))),
        }
    }
}

/// The contacts of a step, a line each.
fn contact_rows(simulation: &Simulation, file: &mut PendingFile) -> io::Result<()> {
    let time = simulation.time();
    for contact in simulation.found_contacts() {
        write!(file, "{time},{},{}", contact.first, contact.second)?;
        for vector in [contact.point, contact.normal, contact.force, contact.slip] {
            for number in vector {
                write!(file, ",{number}")?;
            }
        }
        writeln!(file, ",{},{}", contact.gap, contact.mode as u8)?;
    }
    Ok(())
}

/// What a run leaves: rows so far.
#[derive(Default)]
struct Results {
    trace: Option<TraceFile>,
    recording: Option<Recording>,
    /// Time of the last row, s.
    last: f64,
}

impl Results {
    fn row(&mut self, row: &[f64]) -> io::Result<()> {
        self.last = row.first().copied().unwrap_or_default();
        if let Some(recording) = &mut self.recording {
            recording.row(row);
        }
        self.trace.as_mut().map_or(Ok(()), |trace| trace.row(row))
    }

    /// Completes the files while the run is within a step that takes long.
    fn leave(results: &Mutex<Self>, plot: Option<&Path>, wanted: bool) -> Failure {
        // Whoever reads a pipe may never take the row that is being written.
        const PATIENCE: Duration = Duration::from_millis(50);
        let start = Instant::now();
        let mut results = loop {
            match results.try_lock() {
                Ok(results) => break results,
                Err(TryLockError::Poisoned(results)) => break results.into_inner(),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => return Failure::Work("stopped while a row was written".to_string()),
            }
        };
        let Results { trace, recording, last } = std::mem::take(&mut *results);
        let finished = trace.map_or(Ok(()), TraceFile::finish);
        let drawn = match (recording, plot) {
            (Some(recording), Some(path)) => picture::save(&recording.figure(), path),
            _ => Ok(()),
        };
        match finished.and(drawn) {
            Ok(()) if wanted => Failure::Work(format!(
                "stopped within a step that takes long; files hold everything up to t = {last} s"
            )),
            Ok(()) => Failure::Work("stopped within a step that takes long".to_string()),
            Err(failure) => failure,
        }
    }
}

/// How many threads to use: as many as are wanted, but no more than there are cores. The others would only wait.
pub fn threads(wanted: Option<u64>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.map_or(cores, |wanted| wanted.min(cores as u64) as usize)
}

/// A bar on a terminal, once the work has lasted a while.
pub struct Progress {
    total: u64,
    template: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
    wanted: bool,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Of so many steps.
    pub fn new(total: u64, quiet: bool) -> Self {
        Self::with_template(total, quiet, "{bar:40} {percent:>3} %  {eta} left")
    }

    /// Of so many runs.
    pub fn of_runs(total: u64, quiet: bool) -> Self {
        Self::with_template(total, quiet, "{bar:40} {pos} of {len} runs  {per_sec}  {eta} left")
    }

    /// Of so many columns of a map.
    pub fn of_columns(total: u64, quiet: bool) -> Self {
        Self::with_template(total, quiet, "{bar:40} {pos} of {len} columns  {eta} left")
    }

    fn with_template(total: u64, quiet: bool, template: &'static str) -> Self {
        Progress {
            total,
            template,
            start: Instant::now(),
            bar: None,
            wanted: !quiet && io::stderr().is_terminal(),
        }
    }

    /// So many are done.
    pub fn show(&mut self, done: u64) {
        if !self.wanted || (self.bar.is_none() && self.start.elapsed() < Self::PATIENCE) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(self.total);
            if let Ok(style) = ProgressStyle::with_template(self.template) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_completed_in_place_of_a_run_that_does_not_end() {
        let path = std::env::temp_dir().join(format!("left-{}.csv", std::process::id()));
        let names = ["t".to_string(), "x".to_string()];
        let mut results = Results {
            trace: Some(TraceFile::create(&path, &names).unwrap()),
            ..Results::default()
        };
        results.row(&[0.0, 1.5]).unwrap();
        results.row(&[0.25, -3.0]).unwrap();
        let results = Mutex::new(results);
        // Within a row there is nothing to complete.
        let row = results.lock().unwrap();
        let Failure::Work(text) = Results::leave(&results, None, true) else {
            panic!()
        };
        assert_eq!(text, "stopped while a row was written");
        drop(row);
        let Failure::Work(text) = Results::leave(&results, None, true) else {
            panic!()
        };
        assert!(text.ends_with("files hold everything up to t = 0.25 s"), "{text}");
        let file = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file, "t,x\n0.0,1.5\n0.25,-3.0\n");
    }
}
