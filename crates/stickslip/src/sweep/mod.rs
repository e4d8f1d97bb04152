//! Sweeps: the same scenario run again and again with other values, on all cores, row by row in order.
//!
//! Every run is one thread and touches nothing of another, so the rows are the same bytes for any number of threads.
//! Rows that are ready too early wait for the one before them; only so many may wait, so memory does not grow with
//! the number of runs.
//!
//! ```
//! use stickslip::scenario::Draft;
//! use stickslip::sweep::{Axis, Sweep};
//!
//! let text = r#"
//! [simulation]
//! duration = "2 s"
//! step = "1 ms"
//! integrator = "implicit-euler"
//! [bodies.block]
//! kind = "mass"
//! mass = "1 kg"
//! velocity = "4 m/s"
//! [elements.floor]
//! kind = "friction"
//! between = ["block", "ground"]
//! law = "implicit"
//! kinetic = "10 N"
//! "#;
//! let draft = Draft::parse(text, "block.toml", &[])?;
//! let axis = Axis::parse("elements.floor.kinetic=lin:10 N:40 N:4")?;
//! let sweep = Sweep::new(draft, vec![axis], &["final.block.position".to_string()])?;
//! let mut stops = Vec::new();
//! sweep.run(0..sweep.rows(), 2, None, &mut |row| {
//!     stops.push(row.values[0].as_f64().unwrap());
//!     Ok(())
//! })?;
//! for (stop, force) in stops.iter().zip([10.0, 20.0, 30.0, 40.0]) {
//!     assert!((stop - 8.0 / force).abs() < 3e-3); // v²/(2a)
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod boundary;
mod measure;

pub use axis::{Axis, Spacing, Value};
pub use boundary::{Boundary, Column};
pub use measure::Measure;

use crate::divergence::{self, Growth};
use crate::report::warnings;
use crate::run::{Ended, Options, recorded_columns, run};
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::{Draft, MapSpec, Scenario, ScenarioError};
use crate::simulation::{RunError, Simulation};
use crate::stop::{Stop, is_set};
use crate::trace::Columns;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// What is wrong with what was asked, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Mistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Mistake {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.message, self.help)
    }
}

impl std::error::Error for Mistake {}

/// Why a sweep cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepError {
    /// The scenario of the first row.
    Scenario(ScenarioError),
    /// An axis or a measure.
    Mistake(Mistake),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Mistake(mistake) => mistake.fmt(f),
        }
    }
}

impl std::error::Error for SweepError {}

impl From<ScenarioError> for SweepError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<Mistake> for SweepError {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The values of the axes.
    pub keys: Vec<Value>,
    /// The measures; null where there is none, and all null if the run failed.
    pub values: Vec<serde_json::Value>,
    /// Why the run failed, if it did, in one line.
    pub failure: Option<String>,
    /// What the run warns of, as [`run`] has it in its report; without the energy ledger where only final values are
    /// measured, which needs none. Empty if the run failed.
    pub warnings: Vec<String>,
}

/// A grid of runs. The last axis varies fastest.
#[derive(Clone, Debug)]
pub struct Sweep {
    draft: Draft,
    axes: Vec<Axis>,
    measures: Vec<Measure>,
    rows: u64,
    map: Option<MapSpec>,
    /// How many rows are done at once, side by side.
    abreast: usize,
    /// What the first row is warned of at the keys that vary.
    warnings: Vec<String>,
}

/// Steps between two looks at the stop flag where a run is not watched.
const PULSE: u64 = 1 << 16;
/// Rows that may wait for an earlier one, for every thread.
const WAITING: u64 = 64;
/// Time between two looks at the stop flag while no row comes.
const GLANCE: Duration = Duration::from_millis(50);
/// What a map has of each cell.
const MAP_MEASURES: [&str; 5] = [
    "stick_slip.amplitude",
    "stick_slip.period",
    "stick_slip.stable",
    "stick_slip.region",
    "stick_slip.linear_growth",
];
/// Where among these the class is.
const CLASS: usize = 2;
/// The option that values of axes are written with, for messages.
const OPTION: &str = "--vary";
/// How many values of an axis are looked at for words.
const MOST_WORDS: u64 = 1000;

impl Sweep {
    /// Prepares a sweep. The first row is built, not run, so that a wrong key, value or measure is found here.
    ///
    /// # Errors
    /// If it cannot be built, or the report would not have what is measured.
    pub fn new(draft: Draft, axes: Vec<Axis>, measures: &[String]) -> Result<Self, SweepError> {
        let mut sweep = Self::without_measures(draft, axes)?;
        let mut simulation = sweep.first()?;
        for path in measures {
            sweep.measures.push(Measure::parse(path, &mut simulation)?);
        }
        // What is measured on the way needs every step of a run to be looked at.
        let at_the_end = sweep.measures.iter().all(|measure| measure.column().is_some());
        if at_the_end {
            sweep.abreast = simulation.abreast();
        }
        Ok(sweep)
    }

    /// Prepares a stability map: two axes x and y; amplitude, period, class and region of the scenario's stick-slip
    /// analysis, and how fast a disturbance of steady sliding grows; `[map]` gives the time of each cell.
    ///
    /// # Errors
    /// If it cannot be built, has no analysis, or an axis has values that are not numbers.
    pub fn map(draft: Draft, x: Axis, y: Axis) -> Result<Self, SweepError> {
        for axis in [&x, &y] {
            if let Some(word) = (0..axis.count().min(1000))
                .map(|i| axis.value(i))
                .find(|value| value.number.is_none())
            {
                return Err(Mistake::new(
                    format!("the axes of a map are numbers, and \"{}\" is none", word.cell),
                    "use `sweep` to compare words, or give numbers",
                )
                .into());
            }
        }
        let mut sweep = Self::without_measures(draft, vec![x, y])?;
        sweep.map = sweep.draft.scenario()?.map;
        let mut simulation = sweep.first()?;
        for path in MAP_MEASURES {
            sweep.measures.push(Measure::parse(path, &mut simulation)?);
        }
        Ok(sweep)
    }

    fn without_measures(draft: Draft, axes: Vec<Axis>) -> Result<Self, SweepError> {
        for (i, axis) in axes.iter().enumerate() {
            if axes[..i].iter().any(|other| other.key == axis.key) {
                return Err(Mistake::new(
                    format!("`{}` is varied twice", axis.key),
                    "give all its values in one list",
                )
                .into());
            }
        }
        let rows = axes.iter().try_fold(1u64, |rows, axis| rows.checked_mul(axis.count()));
        let rows = rows.ok_or_else(|| Mistake::new("the grid has more than 2^64 rows", "vary fewer values"))?;
        Ok(Sweep {
            draft,
            axes,
            measures: Vec::new(),
            rows,
            map: None,
            abreast: 1,
            warnings: Vec::new(),
        })
    }

    fn first(&mut self) -> Result<Simulation, SweepError> {
        let mut draft = self.draft.clone();
        let scenario = draft.vary(OPTION, &self.changes(&self.keys(0)))?;
        let simulation = Simulation::new(scenario)?;
        recorded_columns(&simulation)?;
        let sources = &simulation.scenario().sources;
        let varied = |diagnostic: &&Diagnostic| {
            let source = diagnostic.span.and_then(|span| sources.get(span.source));
            source.is_some_and(|source| source.name == OPTION)
        };
        let warnings = simulation.built().warnings.iter().filter(varied);
        self.warnings = warnings
            .map(|warning| warning.render("warning", sources, false))
            .collect();
        self.refuse_words_among_numbers()?;
        Ok(simulation)
    }

    /// Values of a list that are no numbers beside others that are: each is an expression or a mistake, which reading it tells. Rows may fail for
    /// many reasons; that a key takes no such value is known before the first.
    fn refuse_words_among_numbers(&self) -> Result<(), SweepError> {
        for (i, axis) in self.axes.iter().enumerate() {
            let values = || (0..axis.count().min(MOST_WORDS)).map(|value| axis.value(value));
            if !values().any(|value| value.number.is_some()) {
                continue;
            }
            for word in values().filter(|value| value.number.is_none()) {
                let mut keys = self.keys(0);
                keys[i] = word;
                self.draft.clone().vary(OPTION, &self.changes(&keys))?;
            }
        }
        Ok(())
    }

    /// What the first row is warned of at the keys that vary, as text.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many runs there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What is varied.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The scenario as written.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The values of the axes in a row.
    pub fn keys(&self, mut row: u64) -> Vec<Value> {
        let mut keys: Vec<Value> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            keys.push(axis.value(row % axis.count()));
            row /= axis.count();
        }
        keys.reverse();
        keys
    }

    /// The numbers of a row by their keys.
    fn numbers<'a>(&'a self, keys: &'a [Value]) -> impl Iterator<Item = (&'a str, f64)> {
        let numbers = keys.iter().map(|value| value.number.unwrap_or(f64::NAN));
        self.axes.iter().map(|axis| axis.key.as_str()).zip(numbers)
    }

    /// What is set for a run: the keys, and for a map what follows from them.
    fn changes(&self, keys: &[Value]) -> Vec<(&str, String)> {
        let mut changes: Vec<(&str, String)> = (self.axes.iter().zip(keys))
            .map(|(axis, value)| (axis.key.as_str(), value.written.clone()))
            .collect();
        if let Some(map) = &self.map {
            let cell: Vec<f64> = keys.iter().map(|value| value.number.unwrap_or(f64::NAN)).collect();
            for (key, expression) in [
                ("simulation.duration", &map.duration),
                ("analysis.stick_slip.from", &map.from),
            ] {
                if let Some(expression) = expression {
                    changes.push((key, format!("{:?}", expression.evaluate(&cell))));
                }
            }
        }
        changes
    }

    /// Something that does single runs of this sweep.
    pub fn runner(&self) -> Runner<'_> {
        Runner {
            sweep: self,
            draft: self.draft.clone(),
            pattern: None,
            looked: false,
            done: Vec::new(),
        }
    }

    /// Does the rows of a range and gives them to `sink` in order. Ends early, without error, once `stop` is true; rows
    /// given by then are whole.
    ///
    /// # Errors
    /// Only those of the sink, after which no further row is given.
    pub fn run(
        &self,
        rows: Range<u64>,
        threads: usize,
        stop: Option<&Stop>,
        sink: &mut dyn FnMut(Row) -> io::Result<()>,
    ) -> io::Result<()> {
        let threads = threads.max(1);
        let next = AtomicU64::new(rows.start);
        // Set when the user stops the sweep or the sink breaks.
        let halt = Stop::default();
        // The first row that is not yet given to the sink.
        let given = Mutex::new(rows.start);
        let moved = Condvar::new();
        let window = WAITING * threads as u64;
        // Every thread should have something to do, and more than once, as some rows take longer than others.
        let share = (rows.end.saturating_sub(rows.start)) / (2 * threads as u64);
        let batch = share.clamp(1, self.abreast as u64);
        let (sender, receiver) = mpsc::channel();
        let work = |sender: mpsc::Sender<(u64, Vec<Row>)>| {
            let mut runner = self.runner();
            loop {
                let number = next.fetch_add(batch, Ordering::Relaxed);
                if number >= rows.end {
                    return;
                }
                let batch = number..rows.end.min(number + batch);
                let mut first = given.lock().unwrap_or_else(PoisonError::into_inner);
                while number >= first.saturating_add(window) && !halt.load(Ordering::Relaxed) {
                    first = moved.wait(first).unwrap_or_else(PoisonError::into_inner);
                }
                drop(first);
                if halt.load(Ordering::Relaxed) {
                    return;
                }
                if !runner.run_batch(batch, Some(&halt), &mut |number, done| {
                    sender.send((number, done)).is_ok()
                }) {
                    return;
                }
            }
        };
        // Whoever waits looks at the flag under the lock, so none misses it.
        let end = || {
            let first = given.lock().unwrap_or_else(PoisonError::into_inner);
            halt.store(true, Ordering::Relaxed);
            drop(first);
            moved.notify_all();
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut expected = rows.start;
            loop {
                match receiver.recv_timeout(GLANCE) {
                    Ok((number, done)) => {
                        waiting.insert(number, done);
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => (),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                }
                while let Some(done) = waiting.remove(&expected) {
                    expected += done.len() as u64;
                    if let Err(error) = done.into_iter().try_for_each(&mut *sink) {
                        end();
                        return Err(error);
                    }
                }
                *given.lock().unwrap_or_else(PoisonError::into_inner) = expected;
                moved.notify_all();
                if is_set(stop) {
                    end();
                }
            }
        })
    }
}

/// The measures of a row, and what its run warns of.
type Measured = (Vec<serde_json::Value>, Vec<String>);

/// The simulation of a row, or why there is none.
type Prepared = Result<Simulation, String>;

/// Does single runs of a sweep.
pub struct Runner<'a> {
    sweep: &'a Sweep,
    draft: Draft,
    /// A scenario that was read, if all rows differ from it in plain numbers only.
    pattern: Option<Pattern>,
    /// Whether it is known if they do.
    looked: bool,
    /// Simulations of the pattern that have been measured: the next rows take their room.
    done: Vec<Simulation>,
}

struct Pattern {
    scenario: Scenario,
    /// The columns of its trace, once a run has been measured.
    columns: Option<Columns>,
}

impl Runner<'_> {
    /// Runs the scenario with these values of the axes; `None` if it was stopped.
    pub fn run(&mut self, keys: Vec<Value>, stop: Option<&Stop>) -> Option<Row> {
        let simulation = self.simulation(&keys);
        let growth = simulation.as_ref().ok().map(Growth::of_row);
        self.finish(keys, simulation, growth, stop)
    }

    /// The rows of a range, side by side as far as they can go together, each with the number of the first of them. Those that
    /// came to the end together are given at once: to wake the other side takes as long as to set up a run. What has to go alone
    /// is given when it is done. False if they were stopped, or nobody takes them any more.
    fn run_batch(
        &mut self,
        numbers: Range<u64>,
        stop: Option<&Stop>,
        give: &mut dyn FnMut(u64, Vec<Row>) -> bool,
    ) -> bool {
        let mut number = numbers.start;
        let mut runs: Vec<(Vec<Value>, Prepared, Option<Growth>)> = numbers
            .map(|number| {
                let keys = self.sweep.keys(number);
                let simulation = self.simulation(&keys);
                let growth = simulation.as_ref().ok().map(Growth::of_row);
                (keys, simulation, growth)
            })
            .collect();
        if runs.len() > 1 {
            let mut together: Vec<&mut Simulation> = Vec::with_capacity(runs.len());
            let mut growths: Vec<&mut Growth> = Vec::with_capacity(runs.len());
            for (_, simulation, growth) in &mut runs {
                if let (Ok(simulation), Some(growth)) = (simulation, growth)
                    && together.first().is_none_or(|first| first.keeps_time_with(simulation))
                {
                    together.push(simulation);
                    growths.push(growth);
                }
            }
            // The last step is done alone, and observed.
            let all = together
                .first()
                .map_or(0, |first| first.built().steps.saturating_sub(1));
            let mut front = 0;
            while front < all {
                if is_set(stop) {
                    return false;
                }
                let bodies = together
                    .first()
                    .map_or(1, |first| first.built().network.layout.positions);
                let pulse = (PULSE / bodies.max(1) as u64).max(256);
                let look = growths.first().map_or(u64::MAX, |growth| growth.next()).max(front + 1);
                Simulation::advance_together(&mut together, (all.min(look) - front).min(pulse));
                let reached = together.iter().map(|simulation| simulation.steps_done()).max();
                match reached {
                    Some(reached) if reached > front => front = reached,
                    // Nobody can go with the others.
                    _ => break,
                }
                // Who was left behind goes on alone.
                let there: Vec<bool> = (together.iter())
                    .map(|simulation| simulation.steps_done() == front)
                    .collect();
                let mut kept = there.iter();
                growths.retain(|_| kept.next() == Some(&true));
                together.retain(|simulation| simulation.steps_done() == front);
                for (growth, simulation) in growths.iter_mut().zip(&mut together) {
                    growth.look(simulation);
                }
            }
        }
        let mut ready = Vec::with_capacity(runs.len());
        for (keys, simulation, growth) in runs {
            let alone = simulation
                .as_ref()
                .is_ok_and(|simulation| simulation.steps_done() + 1 < simulation.built().steps);
            if alone && !ready.is_empty() {
                let count = ready.len() as u64;
                if !give(number, std::mem::take(&mut ready)) {
                    return false;
                }
                number += count;
            }
            match self.finish(keys, simulation, growth, stop) {
                Some(row) => ready.push(row),
                None => {
                    give(number, ready);
                    return false;
                }
            }
        }
        give(number, ready)
    }

    /// The scenario of a row: that of another row with other numbers, where that comes to the same, or else read anew.
    fn scenario(&mut self, keys: &[Value]) -> Result<Scenario, ScenarioError> {
        let sweep = self.sweep;
        let with_numbers = |mut scenario: Scenario| scenario.put_numbers(sweep.numbers(keys)).then_some(scenario);
        let pattern = self.pattern.as_ref();
        if let Some(scenario) = pattern.and_then(|pattern| with_numbers(pattern.scenario.clone())) {
            return Ok(scenario);
        }
        let scenario = self.draft.vary(OPTION, &sweep.changes(keys))?;
        if !self.looked {
            self.looked = true;
            let uniform = sweep.axes.iter().all(Axis::is_uniform);
            let scenario = uniform.then(|| with_numbers(scenario.clone())).flatten();
            self.pattern = scenario.map(|scenario| Pattern {
                scenario,
                columns: None,
            });
        }
        Ok(scenario)
    }

    fn simulation(&mut self, keys: &[Value]) -> Prepared {
        let outcome = match self.done.pop() {
            Some(mut done) => match done.renew(self.sweep.numbers(keys)) {
                Ok(true) => return Ok(done),
                Ok(false) => self.scenario(keys).and_then(Simulation::new),
                Err(error) => Err(error),
            },
            None => self.scenario(keys).and_then(Simulation::new),
        };
        outcome.map_err(|error| {
            let first = error.diagnostics.into_iter().next();
            first.map_or_else(String::new, |diagnostic| diagnostic.message)
        })
    }

    /// The row of a run, which is finished from where it stands; `None` if it was stopped.
    fn finish(
        &mut self,
        keys: Vec<Value>,
        simulation: Prepared,
        growth: Option<Growth>,
        stop: Option<&Stop>,
    ) -> Option<Row> {
        let outcome = match simulation {
            Ok(mut simulation) => {
                let growth = growth.unwrap_or_else(|| Growth::of_row(&simulation));
                let outcome = self.measure(&mut simulation, growth, stop)?;
                // Variants of the pattern share its places in the text; what was read anew may differ in more than numbers.
                let spans = |scenario: &Scenario| Arc::as_ptr(&scenario.spans);
                let pattern = self.pattern.as_ref().map(|pattern| spans(&pattern.scenario));
                if pattern == Some(spans(simulation.scenario())) {
                    self.done.push(simulation);
                }
                outcome
            }
            Err(reason) => Err(reason),
        };
        let (values, failure, warnings) = match outcome {
            Ok((values, warnings)) => (values, None, warnings),
            Err(reason) => {
                let line = reason.lines().next().unwrap_or("failed").to_string();
                let nothing = vec![serde_json::Value::Null; self.sweep.measures.len()];
                (nothing, Some(line), Vec::new())
            }
        };
        Some(Row {
            keys,
            values,
            failure,
            warnings,
        })
    }

    /// The measures of a run, or why it failed; `None` if it was stopped.
    fn measure(
        &mut self,
        simulation: &mut Simulation,
        mut growth: Growth,
        stop: Option<&Stop>,
    ) -> Option<Result<Measured, String>> {
        let measures = &self.sweep.measures;
        let columns: Option<Vec<&str>> = measures.iter().map(Measure::column).collect();
        let Some(wanted) = columns else {
            let options = Options {
                stop,
                ..Options::default()
            };
            let mut outcome = run(simulation, None, options).ok()?;
            if measures
                .iter()
                .any(|measure| measure.path.starts_with("stick_slip.linear"))
            {
                outcome.report.examine_steady_sliding(simulation, stop);
                if is_set(stop) {
                    return None;
                }
            }
            return match outcome.ended {
                Ended::Complete => {
                    let values = measures.iter().map(|measure| measure.of(&outcome.report));
                    Some(Ok((values.collect(), outcome.report.warnings.clone())))
                }
                Ended::Stopped => None,
                Ended::Failed(error) => Some(Err(error.to_string())),
            };
        };
        // Only the last row is asked for: nothing on the way there is watched.
        simulation.heed(stop);
        let steps = simulation.built().steps;
        let many = simulation.crowd().then(|| divergence::start(simulation)).flatten();
        while simulation.steps_done() + 1 < steps {
            let done = simulation.steps_done();
            let left = (steps - 1).min(growth.next().max(done + 1)) - done;
            match simulation.advance_unobserved(left.min(PULSE)) {
                Ok(()) => growth.look(simulation),
                Err(RunError::Stopped { .. }) => return None,
                Err(error) => return Some(Err(error.to_string())),
            }
        }
        match simulation.advance_observed(1) {
            Ok(()) => (),
            Err(RunError::Stopped { .. }) => return None,
            Err(error) => return Some(Err(error.to_string())),
        }
        simulation.observe();
        // Rows that differ in numbers only have the same columns.
        let known = self.pattern.as_mut().map(|pattern| &mut pattern.columns);
        let mut own = None;
        let columns = known
            .unwrap_or(&mut own)
            .get_or_insert_with(|| Columns::new(simulation));
        if let Some(error) = divergence::not_finite(simulation, columns) {
            return Some(Err(error.to_string()));
        }
        let mut warnings = warnings(simulation);
        let start = many.or_else(|| divergence::start(simulation));
        growth.look(simulation);
        if divergence::suspect(simulation, start, &growth) {
            // Only an observed run knows what was put in.
            let mut again = match Simulation::new(simulation.scenario().clone()) {
                Ok(again) => again,
                Err(error) => return Some(Err(error.to_string())),
            };
            let options = Options {
                stop,
                ..Options::default()
            };
            let outcome = run(&mut again, None, options).ok()?;
            match outcome.ended {
                Ended::Complete => warnings = outcome.report.warnings,
                Ended::Stopped => return None,
                Ended::Failed(error) => return Some(Err(error.to_string())),
            }
        }
        let value = |name: &&str| {
            let column = columns.names().iter().position(|other| other == name)?;
            Some(columns.value(simulation, column).into())
        };
        let values = wanted.iter().map(|name| value(name).unwrap_or(serde_json::Value::Null));
        Some(Ok((values.collect(), warnings)))
    }
}

#[cfg(test)]
mod tests;
