//! Runs of the repository's scenarios, each done once and kept.

use std::collections::BTreeMap;
use std::rc::Rc;
use stickslip::Simulation;
use stickslip::analysis::stick_slip::StickSlipReport;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::{Draft, Scenario};
use stickslip::sweep::{Axis, Row, Sweep, Value};
use stickslip::trace::Columns;

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../scenarios/", $name, ".toml")))),*]
    };
}

/// The scenarios that figures are made from, inside the program so that it works anywhere.
const SCENARIOS: &[(&str, &str)] = scenarios![
    "fig000-8-k1",
    "fig000-8-k2",
    "fig000-8-k3",
    "fig000-8-q1",
    "fig000-8-q2",
    "fig000-8-q3",
    "fig000-8-p",
    "fig000-8-martins-oden",
    "fig000-9-k2",
    "fig000-9-p",
    "fig000-10-quinn",
    "fig000-10-p",
    "fig000-stribeck",
    "fig000-two-bodies",
    "fig000-vector",
    "fig001-3-relaxed",
    "fig001-3-lugre",
    "fig001-5",
    "fig001-force",
    "fig001-example1-drop",
    "fig001-example1-push",
    "fig001-conveyor-equations",
    "fig001-example2",
    "fig002-3",
    "fig003-3",
    "fig003-4",
    "fig003-5",
    "fig003-8",
    "fig003-9",
    "fig003-cyclic",
    "fig004-1-drop",
    "fig004-1-rest",
    "fig004-2-lugre",
    "fig004-2-proxy",
    "fig004-3",
    "fig004-parallel",
];

/// Whether there is such a scenario.
#[cfg(test)]
pub fn is_scenario(name: &str) -> bool {
    SCENARIOS.iter().any(|(other, _)| *other == name)
}

/// A finished run: every column at the rows kept.
pub struct Run {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    /// Changes of mode: time, element, new mode.
    pub events: Vec<(f64, String, &'static str)>,
    /// Stick-slip of the signal under analysis, if there is one.
    pub stick_slip: Option<StickSlipReport>,
}

/// A cell of a stability map, in SI.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The value along x.
    pub x: f64,
    /// The value along y.
    pub y: f64,
    /// Amplitude of the signal under analysis.
    pub amplitude: f64,
    /// Whether the amplitude is at most the threshold.
    pub stable: bool,
    /// Whether mass and spring govern the cycle, rather than the creep of friction; only where it is not stable.
    pub inertial: bool,
    /// Whether a smaller tolerance gives the same class.
    pub settled: bool,
}

impl Run {
    /// The values of a column.
    pub fn column(&self, name: &str) -> Result<&[f64], String> {
        match self.names.iter().position(|other| other == name) {
            Some(index) => Ok(&self.columns[index]),
            None => Err(format!("the run has no column \"{name}\"")),
        }
    }

    /// The times of the rows, s.
    pub fn times(&self) -> &[f64] {
        &self.columns[0]
    }

    /// The value of a column in the row nearest to a time.
    pub fn at(&self, name: &str, time: f64) -> Result<f64, String> {
        let values = self.column(name)?;
        let near = |index: &usize| (self.times()[*index] - time).abs();
        let index = (0..values.len()).min_by(|a, b| near(a).total_cmp(&near(b)));
        index.map(|index| values[index]).ok_or("the run has no rows".into())
    }

    /// The value of a column in the last row.
    pub fn last(&self, name: &str) -> Result<f64, String> {
        self.column(name)?.last().copied().ok_or("the run has no rows".into())
    }

    /// The stick-slip that was looked for.
    pub fn cycle(&self) -> Result<&StickSlipReport, String> {
        self.stick_slip
            .as_ref()
            .ok_or_else(|| "the analysis never began".into())
    }

    /// Times at which an element changed into a mode.
    pub fn changes(&self, element: &str, to: &str) -> Vec<f64> {
        let events = self.events.iter();
        events
            .filter(|(_, name, mode)| name == element && *mode == to)
            .map(|event| event.0)
            .collect()
    }
}

/// Runs scenarios and keeps what came out.
#[derive(Default)]
pub struct Bench {
    done: BTreeMap<String, Rc<Run>>,
    maps: BTreeMap<String, Rc<Vec<Cell>>>,
    /// Whether long runs are done too, whose outcome is otherwise taken from a file.
    pub all: bool,
}

impl Bench {
    /// Cells that several figures need, made once.
    pub fn cells(
        &mut self,
        key: &str,
        make: impl FnOnce(&mut Self) -> Result<Vec<Cell>, String>,
    ) -> Result<Rc<Vec<Cell>>, String> {
        if let Some(cells) = self.maps.get(key) {
            return Ok(Rc::clone(cells));
        }
        let cells = Rc::new(make(self)?);
        self.maps.insert(key.into(), Rc::clone(&cells));
        Ok(cells)
    }

    /// Runs a scenario as it is written, keeping every row.
    pub fn run(&mut self, scenario: &str) -> Result<Rc<Run>, String> {
        self.variant(scenario, &[], 1)
    }

    /// Runs a scenario with some keys set to other values (as `--set` does), keeping every n-th row and the last.
    pub fn variant(&mut self, scenario: &str, sets: &[String], every: u64) -> Result<Rc<Run>, String> {
        let key = format!("{scenario} {} {every}", sets.join(" "));
        if let Some(run) = self.done.get(&key) {
            return Ok(Rc::clone(run));
        }
        let run = Rc::new(simulate(scenario, sets, every, 0.0).map_err(|why| format!("{scenario}.toml: {why}"))?);
        self.done.insert(key, Rc::clone(&run));
        Ok(run)
    }

    /// The same, keeping every row from a time on; the analysis begins there too.
    pub fn late(&mut self, scenario: &str, sets: &[String], from: f64) -> Result<Rc<Run>, String> {
        let run = simulate(scenario, sets, 1, from).map_err(|why| format!("{scenario}.toml: {why}"))?;
        Ok(Rc::new(run))
    }

    /// Runs a scenario with several lists of changes on all cores, keeping the first and the last row.
    pub fn several(&mut self, scenario: &str, lists: &[Vec<String>]) -> Result<Vec<Run>, String> {
        let run = |sets: &Vec<String>| simulate(scenario, sets, u64::MAX, 0.0);
        on_all_cores(lists, run)
            .into_iter()
            .map(|run| run.map_err(|why| format!("{scenario}.toml: {why}")))
            .collect()
    }

    /// Measures of a run for each value of an axis, on all cores; `None` where the run failed.
    pub fn sweep(
        &mut self,
        scenario: &str,
        sets: &[String],
        axis: &str,
        measures: &[&str],
    ) -> Result<Vec<Option<Vec<f64>>>, String> {
        let draft = Draft::parse(text_of(scenario)?, scenario, sets).map_err(|error| error.to_string())?;
        let axis = Axis::parse(axis).map_err(|error| error.to_string())?;
        let measures: Vec<String> = measures.iter().map(|path| (*path).to_string()).collect();
        let sweep = Sweep::new(draft, vec![axis], &measures).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        let mut take = |row: Row| {
            let values = row
                .values
                .iter()
                .map(|value| value.as_f64().unwrap_or(f64::NAN))
                .collect();
            rows.push(row.failure.is_none().then_some(values));
            Ok(())
        };
        sweep
            .run(0..sweep.rows(), cores(), None, &mut take)
            .map_err(|error| error.to_string())?;
        Ok(rows)
    }

    /// A stability map on all cores.
    pub fn map(&mut self, scenario: &str, sets: &[String], x: &str, y: &str) -> Result<Rc<Vec<Cell>>, String> {
        let key = format!("{scenario} {} {x} {y}", sets.join(" "));
        if let Some(cells) = self.maps.get(&key) {
            return Ok(Rc::clone(cells));
        }
        let sweep = sweep(scenario, sets, x, y)?;
        let mut cells = Vec::new();
        let mut failure = None;
        let mut take = |row: Row| {
            match (
                row.keys[0].number,
                row.keys[1].number,
                row.values[0].as_f64(),
                row.values[2].as_bool(),
            ) {
                (Some(x), Some(y), Some(amplitude), Some(stable)) => cells.push(Cell {
                    x,
                    y,
                    amplitude,
                    stable,
                    inertial: row.values[3].as_str() == Some("inertial"),
                    settled: false,
                }),
                _ => failure = failure.take().or(row.failure),
            }
            Ok(())
        };
        sweep
            .run(0..sweep.rows(), cores(), None, &mut take)
            .map_err(|error| error.to_string())?;
        if let Some(why) = failure {
            return Err(format!("{scenario}.toml: {why}"));
        }
        let cells = Rc::new(cells);
        self.maps.insert(key, Rc::clone(&cells));
        Ok(cells)
    }

    /// The boundary of a stability map: x and y, in SI; y is NaN where there is none.
    pub fn boundary(&mut self, scenario: &str, sets: &[String], x: &str, y: &str) -> Result<Vec<(f64, f64)>, String> {
        let sweep = sweep(scenario, sets, x, y)?;
        let mut points = edges(&sweep, cores(), &|_| None)?;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(points)
    }

    /// The same where cells of the map are known: each search is for one value of x and begins between two cells of different class.
    /// Searches go side by side on all cores.
    pub fn boundary_between(&mut self, scenario: &str, searches: &[Search]) -> Result<Vec<f64>, String> {
        let find = |search: &Search| {
            let Search { sets, x, cells, .. } = search;
            let sweep = sweep(scenario, sets, x, &search.range())?;
            let known = |keys: &[Value]| {
                let y = keys[1].number?;
                let cell = cells.iter().find(|cell| (y / cell.y - 1.0).abs() < 1e-9)?;
                let values = vec![cell.amplitude.into(), serde_json::Value::Null, cell.stable.into()];
                Some(Row {
                    keys: keys.to_vec(),
                    values,
                    failure: None,
                    warnings: Vec::new(),
                })
            };
            Ok(edges(&sweep, 1, &known)?.first().map_or(f64::NAN, |edge| edge.1))
        };
        on_all_cores(searches, find).into_iter().collect()
    }
}

/// A search for the boundary of a stability map at one value of x.
pub struct Search {
    /// Changes of the scenario.
    pub sets: Vec<String>,
    /// The axis with its one value.
    pub x: String,
    /// The key along y.
    pub y: &'static str,
    /// The last cell before the boundary and the first behind it.
    pub cells: [Cell; 2],
}

impl Search {
    /// So many points that the stick-slip behind the boundary is looked at every two or three percent: small cycles cross the threshold to
    /// and fro, and the smallest critical speed is wanted.
    fn range(&self) -> String {
        let [below, above] = self.cells;
        format!("{}=log:{:e}:{:e}:9", self.y, below.y, above.y)
    }
}

/// What is known of a row of a map before it is run.
type Known<'a> = dyn Fn(&[Value]) -> Option<Row> + Sync + 'a;

/// The boundary of a map, column by column: x and y.
fn edges(sweep: &Sweep, threads: usize, known: &Known) -> Result<Vec<(f64, f64)>, String> {
    let mut points = Vec::new();
    let mut take = |column: stickslip::sweep::Column| {
        let y = column.boundary.and_then(|boundary| boundary.y.number);
        points.push((column.x.number.unwrap_or(f64::NAN), y.unwrap_or(f64::NAN)));
        Ok(())
    };
    sweep
        .trace(0.02, threads, None, known, &mut take)
        .map_err(|error| error.to_string())?;
    Ok(points)
}

/// What `work` makes of each item, in order; the items go to as many threads as there are cores.
fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((index, item)) = {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            items.get(index).map(|item| (index, item))
        } {
            done.push((index, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(take)).collect();
        let done = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
        done.collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// How many threads are worth having.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn text_of(scenario: &str) -> Result<&'static str, String> {
    let found = SCENARIOS.iter().find(|(name, _)| *name == scenario);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| "there is no such scenario".into())
}

fn sweep(scenario: &str, sets: &[String], x: &str, y: &str) -> Result<Sweep, String> {
    let draft = Draft::parse(text_of(scenario)?, scenario, sets).map_err(|error| error.to_string())?;
    let axis = |text: &str| Axis::parse(text).map_err(|error| error.to_string());
    Sweep::map(draft, axis(x)?, axis(y)?).map_err(|error| error.to_string())
}

/// Whether a run comes to its end.
pub fn completed(scenario: &str, sets: &[String]) -> Result<bool, String> {
    let read = Scenario::parse(text_of(scenario)?, scenario, sets).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(read).map_err(|error| error.to_string())?;
    let steps = simulation.built().steps;
    Ok(simulation.advance(steps).is_ok())
}

fn simulate(scenario: &str, sets: &[String], every: u64, from: f64) -> Result<Run, String> {
    let read = Scenario::parse(text_of(scenario)?, scenario, sets).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(read).map_err(|error| error.to_string())?;
    let skipped = libm::floor(from / simulation.built().network.step) as u64;
    simulation.advance(skipped).map_err(|error| error.to_string())?;
    let columns = Columns::new(&simulation);
    let mut kept = vec![Vec::new(); columns.names().len()];
    let mut keep = |row: &[f64]| {
        for (column, value) in kept.iter_mut().zip(row) {
            column.push(*value);
        }
        Ok(())
    };
    let options = Options {
        every,
        ..Options::default()
    };
    let outcome = run(&mut simulation, Some((&columns, &mut keep)), options).map_err(|error| error.to_string())?;
    if let Ended::Failed(error) = outcome.ended {
        return Err(error.to_string());
    }
    Ok(Run {
        names: columns.names().to_vec(),
        columns: kept,
        events: outcome
            .report
            .events
            .into_iter()
            .map(|event| (event.t, event.element, event.to))
            .collect(),
        stick_slip: outcome.report.stick_slip,
    })
}
