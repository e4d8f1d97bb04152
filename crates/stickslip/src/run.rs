//! A run from its start to its end: rows to a sink, a report at the end, word of progress, and a way to stop.
//!
//! ```
//! use stickslip::run::{Ended, Options, recorded_columns, run};
//! use stickslip::{Simulation, scenario::Scenario};
//!
//! let text = r#"
//! [simulation]
//! duration = "1 s"
//! step = "0.1 s"
//! integrator = "implicit-euler"
//! [bodies.block]
//! kind = "mass"
//! mass = "1 kg"
//! velocity = "1 m/s"
//! [elements.floor]
//! kind = "friction"
//! between = ["block", "ground"]
//! law = "implicit"
//! kinetic = "2 N"
//! "#;
//! let mut simulation = Simulation::new(Scenario::parse(text, "block.toml", &[])?)?;
//! let columns = recorded_columns(&simulation)?;
//! let mut times = Vec::new();
//! let mut keep = |row: &[f64]| {
//!     times.push(row[0]);
//!     Ok(())
//! };
//! let options = Options { every: 4, ..Options::default() };
//! let outcome = run(&mut simulation, Some((&columns, &mut keep)), options)?;
//! assert_eq!(outcome.ended, Ended::Complete);
//! assert_eq!(times, [0.0, 0.4, 0.8, 1.0]); // the first and the last row are always there
//! assert_eq!(outcome.report.final_["block.velocity"], 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::divergence::{Watch, not_finite};
use crate::ledger;
use crate::report::{Report, Reporter};
use crate::scenario::diagnostic::nearest;
use crate::scenario::{Diagnostic, ScenarioError};
use crate::simulation::{RunError, Simulation};
use crate::stop::{Stop, is_set};
use crate::trace::Columns;
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

/// How a run is driven.
#[derive(Default)]
pub struct Options<'a> {
    /// A row every so many steps (0 counts as 1); the first and the last row are always among them.
    pub every: u64,
    /// The run ends once this is set, with the last step that was done.
    pub stop: Option<&'a Stop>,
    /// Told the number of steps done, now and then.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// Told of every row, whether rows are stored or not: for what has no place in a column, such as the contacts of a scene.
    pub rows: Option<&'a mut Glance<'a>>,
}

/// Looks at a simulation.
pub type Glance<'a> = dyn FnMut(&Simulation) -> io::Result<()> + 'a;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All steps were done.
    Complete,
    /// It was told to stop.
    Stopped,
    /// It could not go on.
    Failed(RunError),
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Stopped { .. } => Ended::Stopped,
            error => Ended::Failed(error),
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The report up to where the run ended.
    pub report: Report,
    /// Why it ended.
    pub ended: Ended,
}

/// Takes rows: one number per column.
pub type Sink<'a> = dyn FnMut(&[f64]) -> io::Result<()> + 'a;

/// Steps between two words of progress.
const PULSE: u64 = 1024;

/// Most steps of many bodies between two looks at the stop flag.
const STRIDE: u64 = 64;

/// The columns to record: those of `[output] columns`, or all.
///
/// # Errors
/// If `[output]` or `[analysis]` names a column that the scenario does not have.
pub fn recorded_columns(simulation: &Simulation) -> Result<Columns, ScenarioError> {
    let scenario = simulation.scenario();
    let mut columns = Columns::new(simulation);
    let unknown = |path: &str, name: &str| -> Diagnostic {
        let names = || columns.names().iter().map(String::as_str);
        let nearest = |name: &str| nearest(name, names().chain(columns.places()));
        let help = match nearest(name) {
            Some(near) => format!("did you mean \"{near}\"? The columns are {}", list(names())),
            None => format!("the columns are {}", list(names())),
        };
        scenario
            .diagnostic(path, format!("there is no column \"{name}\""))
            .help(help)
    };
    let mut findings = Vec::new();
    for (i, name) in scenario.columns.iter().flatten().enumerate() {
        if !columns.offers(name) {
            findings.push(unknown(&format!("output.columns.{i}"), name));
        }
    }
    if let Some(spec) = &scenario.stick_slip
        && !columns.names().contains(&spec.signal)
    {
        findings.push(unknown("analysis.stick_slip.signal", &spec.signal));
    }
    if !findings.is_empty() {
        return Err(scenario.error(findings));
    }
    if let Some(names) = &scenario.columns {
        // Every name was found above.
        let _ = columns.select(names);
    }
    Ok(columns)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Runs a simulation from where it is to its end. Without `rows` nothing is stored.
///
/// A run that fails or is stopped still has its report, and its last good row is written.
///
/// # Errors
/// Only those of the sink.
pub fn run(
    simulation: &mut Simulation,
    rows: Option<(&Columns, &mut Sink<'_>)>,
    mut options: Options<'_>,
) -> io::Result<Outcome> {
    simulation.heed(options.stop);
    let all = Columns::new(simulation);
    let mut reporter = Reporter::new(simulation, &all);
    let steps = simulation.built().steps;
    let chosen = simulation.method().chooses_steps();
    let every = options.every.max(1);
    let mut recorder = rows.map(|(columns, sink)| Recorder {
        columns,
        sink,
        row: Vec::new(),
        written: false,
    });
    if let Some(recorder) = &mut recorder {
        recorder.take(simulation, true)?;
    }
    if let Some(glance) = &mut options.rows {
        glance(simulation)?;
    }
    // Many bodies are moved from row to row; their own sums see every step. Only a signal under analysis is looked at in
    // each.
    let stride = if simulation.crowd() && simulation.scenario().stick_slip.is_none() {
        STRIDE
    } else {
        1
    };
    let mut ended = Ended::Complete;
    let mut energies = Watch::new(simulation);
    // Small networks keep what the report needs by themselves, from one row or look to the next.
    let mut keeps = true;
    let start = Instant::now();
    while simulation.steps_done() < steps {
        if is_set(options.stop) {
            ended = Ended::Stopped;
            break;
        }
        let before = simulation.steps_done();
        if keeps {
            let rows = recorder.is_some() || options.rows.is_some();
            let row = if rows { every - before % every } else { u64::MAX };
            let look = energies.next_look().max(before + 1) - before;
            let most = row.min(look).min(PULSE - before % PULSE).min(steps - before);
            keeps = reporter.advance(simulation, most) > 0;
            if keeps {
                energies.look(simulation);
                let done = simulation.steps_done();
                if let Some(recorder) = &mut recorder {
                    recorder.take(simulation, done.is_multiple_of(every))?;
                }
                if let Some(glance) = &mut options.rows
                    && (done.is_multiple_of(every) || done == steps)
                {
                    glance(simulation)?;
                }
                if done.is_multiple_of(PULSE)
                    && let Some(progress) = &mut options.progress
                {
                    progress(done);
                }
                continue;
            }
        }
        let mut watch = |simulation: &Simulation| {
            reporter.watch(simulation, &all);
            match is_set(options.stop) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        if stride > 1 {
            let next_row = if recorder.is_some() {
                every - before % every
            } else {
                stride
            };
            let outcome = simulation.advance_observed(next_row.min(stride).min(steps - before));
            if let Some(recorder) = &mut recorder {
                recorder.written &= simulation.steps_done() == before;
            }
            if let Err(error) = outcome {
                ended = error.into();
                break;
            }
            energies.look(simulation);
            let done = simulation.steps_done();
            if let Some(recorder) = &mut recorder
                && done.is_multiple_of(every)
            {
                simulation.observe();
                if let Some(error) = not_finite(simulation, recorder.columns) {
                    recorder.written = true;
                    ended = Ended::Failed(error);
                    break;
                }
                recorder.take(simulation, true)?;
            }
            if let Some(progress) = &mut options.progress {
                progress(done);
            }
            continue;
        }
        match simulation.advance_watched(&mut watch) {
            Err(error) => {
                ended = error.into();
                break;
            }
            // Told to stop between two rows.
            Ok(ControlFlow::Break(())) if simulation.steps_done() == before => continue,
            Ok(_) => (),
        }
        energies.look(simulation);
        if reporter.saw_broken()
            && let Some(error) = not_finite(simulation, &all)
        {
            ended = Ended::Failed(error);
            break;
        }
        let done = simulation.steps_done();
        if let Some(recorder) = &mut recorder {
            recorder.take(simulation, done.is_multiple_of(every))?;
        }
        if let Some(glance) = &mut options.rows
            && (done.is_multiple_of(every) || done == steps)
        {
            glance(simulation)?;
        }
        // Where steps are output intervals each may take long.
        if (chosen || done.is_multiple_of(PULSE))
            && let Some(progress) = &mut options.progress
        {
            progress(done);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    simulation.heed(None);
    if let Some(recorder) = &mut recorder {
        if stride > 1 && !recorder.written {
            // Sums over many bodies are taken for rows only.
            simulation.observe();
            recorder.take(simulation, true)?;
        }
        recorder.finish()?;
    }
    let mut report = reporter.finish(simulation, &all, seconds);
    if ended == Ended::Complete
        && let Some(error) = not_finite(simulation, &all).or_else(|| energies.judge(simulation, options.stop))
    {
        ended = Ended::Failed(error);
    }
    if ended == Ended::Complete {
        examine_energy(&mut report, simulation, &energies);
    }
    match &ended {
        Ended::Complete => (),
        Ended::Stopped => report.warnings.push(format!("stopped at t = {} s", report.t_end)),
        Ended::Failed(error) => report.warnings.push(error.to_string()),
    }
    Ok(Outcome { report, ended })
}

/// Adds to the report of a run that came to its end what its energy ledger warns of. `energies` followed the run.
pub fn examine_energy(report: &mut Report, simulation: &Simulation, energies: &Watch) {
    report.doubts = ledger::doubts(simulation, report, energies.most());
    report.warnings.extend_from_slice(&report.doubts);
}

/// The row now, and whether it is already in the sink: the last one is written whatever its number.
struct Recorder<'a> {
    columns: &'a Columns,
    sink: &'a mut Sink<'a>,
    row: Vec<f64>,
    written: bool,
}

impl Recorder<'_> {
    fn take(&mut self, simulation: &Simulation, due: bool) -> io::Result<()> {
        self.columns.read(simulation, &mut self.row);
        self.written = due;
        if due { (self.sink)(&self.row) } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.written { Ok(()) } else { (self.sink)(&self.row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::sync::atomic::Ordering;

    const BLOCK: &str =
        "[simulation]\nduration = 1\nstep = 0.1\nintegrator = \"rk4\"\n[bodies.block]\nkind = \"mass\"\nmass = 1\n";

    fn simulation(text: &str) -> Simulation {
        Simulation::new(Scenario::parse(text, "test.toml", &[]).unwrap()).unwrap()
    }

    fn times(simulation: &mut Simulation, every: u64) -> (Vec<f64>, Ended) {
        let columns = recorded_columns(simulation).unwrap();
        let mut times = Vec::new();
        let mut keep = |row: &[f64]| {
            times.push(row[0]);
            Ok(())
        };
        let options = Options {
            every,
            ..Options::default()
        };
        let outcome = run(simulation, Some((&columns, &mut keep)), options).unwrap();
        (times, outcome.ended)
    }

    #[test]
    fn first_and_last_rows_are_always_written_once() {
        for (every, expected) in [
            (0, vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
            (3, vec![0.0, 0.3, 0.6, 0.9, 1.0]),
            (5, vec![0.0, 0.5, 1.0]),
            (1000, vec![0.0, 1.0]),
        ] {
            assert_eq!(times(&mut simulation(BLOCK), every).0, expected, "every {every}");
        }
    }

    #[test]
    fn a_run_that_diverges_keeps_its_last_good_row() {
        // An undamped spring with omega*T = 1e19 overflows within a few steps; a row with a number that is not finite is not good.
        let text = format!(
            "{BLOCK}position = 1\n[elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1e40\n"
        );
        let (all, ended) = times(&mut simulation(&text), 1);
        let Ended::Failed(RunError::Diverged { time, .. }) = ended else {
            panic!("{ended:?}")
        };
        let last = *all.last().unwrap();
        assert!(all.len() > 2 && last <= time && time < 1.0, "{all:?}, {time}");
        assert_eq!(times(&mut simulation(&text), 1000).0, [0.0, last]);
    }

    #[test]
    fn a_run_that_explodes_fails_though_all_numbers_are_finite() {
        // RK4 is stable on an undamped spring up to omega*T = 2*sqrt(2): k = 800 N/m with 1 kg and 0.1 s.
        let spring = |stiffness: f64| {
            format!(
                "{BLOCK}position = 1\n[elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = {stiffness}\n"
            )
            .replace("duration = 1", "duration = 10")
        };
        let (_, ended) = times(&mut simulation(&spring(790.0)), 1000);
        assert_eq!(ended, Ended::Complete);
        let (_, ended) = times(&mut simulation(&spring(1000.0)), 1000);
        let Ended::Failed(RunError::Exploded { time, what, .. }) = ended else {
            panic!("{ended:?}")
        };
        assert!(time <= 10.0 && what == "block.velocity", "{time} {what}");
    }

    #[test]
    fn an_explosion_in_the_first_steps_is_no_energy_that_there_was() {
        // Two spheres meet with 0.5 J in a contact whose damper is far too hard for the step.
        let meet = |damping: f64, gap: f64| {
            format!(
                "[simulation]\nduration = 0.5\nstep = 1e-4\nintegrator = \"rk4\"\n\
                 [bodies.a]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.05 }}\nmass = 1\nposition = [{}, 0.03, 0]\nvelocity = [1, 0, 0]\n\
                 [bodies.b]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.05 }}\nmass = 1\n\
                 [elements.hit]\nkind = \"contact\"\nbetween = [\"a\", \"b\"]\n\
                 normal = {{ law = \"kelvin-voigt\", stiffness = 1e5, damping = {damping} }}\n",
                -gap
            )
        };
        for (damping, gap, explodes) in [(100.0, 0.0954, false), (1e6, 0.0954, true), (1e6, 0.2, true)] {
            let (_, ended) = times(&mut simulation(&meet(damping, gap)), 100_000);
            let exploded =
                matches!(ended, Ended::Failed(RunError::Exploded { known, .. }) if (known - 0.5).abs() < 1e-9);
            assert_eq!(exploded, explodes, "{damping} {gap}: {ended:?}");
        }
    }

    #[test]
    fn much_energy_that_was_given_is_no_explosion() {
        let mass = "[bodies.block]\nkind = \"mass\"\nmass = 1\n";
        let run_with = |integrator: &str, gravity: &str, more: &str| {
            let text = format!(
                "[simulation]\nduration = 10\nstep = 0.001\nintegrator = \"{integrator}\"\n{gravity}{mass}{more}"
            );
            times(&mut simulation(&text), 100_000).1
        };
        // A fall from 0 J, a fall onto a stiff floor at the very end, a push, and a push taken back; a start in the floor,
        // pulls by drivers, one of which jumps.
        let fall = "position = [0, 0, 0]\n";
        let floor = "[elements.floor]\nkind = \"contact\"\nbetween = [\"block\", \"ground\"]\n\
                     surface = { plane = { normal = [0, 0, 1], offset = -490 } }\n\
                     normal = { law = \"kelvin-voigt\", stiffness = 1e4, damping = 0 }\n";
        let proxy = floor.replace(
            "kelvin-voigt\", stiffness = 1e4, damping = 0",
            "proxy\", stiffness = 1e4, beta = 0.01",
        );
        let spring = "[elements.spring]\nkind = \"spring\"\nbetween = [\"block\", \"hook\"]\nstiffness = 1e4\n\
                      [bodies.hook]\nkind = \"driver\"\n";
        for (gravity, more) in [
            ("gravity = [0, 0, -9.8]\n", fall.to_string()),
            ("gravity = [0, 0, -9.8]\n", format!("{fall}{floor}")),
            ("", "force = \"if(t < 9.9, 0, 1e6)\"\n".to_string()),
            ("", "force = \"if(t < 5, 1e3, -1e3)\"\n".to_string()),
            ("", format!("{fall}{}", floor.replace("-490", "0.1"))),
            ("", format!("{fall}{}", proxy.replace("-490", "0.1"))),
            ("", format!("{spring}velocity = \"1e3*sin(t)\"\n")),
            ("", format!("{spring}position = \"if(t < 0.1, 0, 1)\"\n")),
        ] {
            assert_eq!(run_with("rk4", gravity, &more), Ended::Complete, "{more}");
        }
        // Whenever it jumps.
        let late = format!("{spring}position = \"if(t < 7.1, 0, 1)\"\n");
        for integrator in ["implicit-euler", "adaptive", "stiff"] {
            assert_eq!(run_with(integrator, "", &late), Ended::Complete, "{integrator}");
        }
    }

    #[test]
    fn a_stop_flag_ends_the_run() {
        let mut simulation = simulation(BLOCK);
        let stop = Stop::default();
        stop.store(true, Ordering::Relaxed);
        let options = Options {
            stop: Some(&stop),
            ..Options::default()
        };
        let outcome = run(&mut simulation, None, options).unwrap();
        assert_eq!(outcome.ended, Ended::Stopped);
        assert_eq!(outcome.report.steps, 0);
    }

    #[test]
    fn a_chain_that_is_stopped_between_rows_ends_with_a_row_of_that_moment() {
        let chain = "[chain]\ncount = 5\nbody = { mass = 1, position = \"0.1*i^2\" }\nneighbour = { stiffness = 9 }\n\
                     drive = { stiffness = 1, velocity = 1 }\nfriction = { law = \"implicit\", kinetic = 0.1 }\n";
        let text = |steps: u64| {
            let time = steps as f64 / 10.0;
            format!("[simulation]\nduration = {time}\nstep = 0.1\nintegrator = \"implicit-euler\"\n{chain}")
        };
        let last_row = |steps: u64, stopped: bool| {
            let mut simulation = simulation(&text(steps));
            let columns = recorded_columns(&simulation).unwrap();
            let (mut last, stop) = (Vec::new(), Stop::default());
            let mut keep = |row: &[f64]| {
                last = row.to_vec();
                Ok(())
            };
            let options = Options {
                every: 1000,
                stop: Some(&stop),
                progress: Some(&mut |_| stop.store(stopped, Ordering::Relaxed)),
                ..Options::default()
            };
            let outcome = run(&mut simulation, Some((&columns, &mut keep)), options).unwrap();
            (outcome.report.steps, last)
        };
        // Stopped after the first portion: the row is that of a run which ends there.
        let (steps, row) = last_row(5000, true);
        assert_eq!(steps, STRIDE);
        assert_eq!(row, last_row(STRIDE, false).1);
        assert!(row[1] > 0.0 && row.iter().all(|value| value.is_finite()), "{row:?}");
    }

    #[test]
    fn an_error_of_the_sink_comes_back() {
        let mut simulation = simulation(BLOCK);
        let columns = recorded_columns(&simulation).unwrap();
        let mut full = |_: &[f64]| Err(io::Error::from(io::ErrorKind::StorageFull));
        let error = run(&mut simulation, Some((&columns, &mut full)), Options::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn unknown_columns_are_refused_with_the_nearest() {
        let text = format!("{BLOCK}[output]\ncolumns = [\"t\", \"block.speed\", \"block.positon\"]\n");
        let error = recorded_columns(&simulation(&text)).unwrap_err().to_string();
        assert!(
            error.contains("block.speed") && error.contains("did you mean \"block.position\""),
            "{error}"
        );
    }
}
