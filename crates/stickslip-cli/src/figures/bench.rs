//! Runs of the repository's scenarios, each done once and kept.

use std::collections::BTreeMap;
use std::rc::Rc;
use stickslip::Simulation;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::Scenario;
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
    "fig004-1-drop",
    "fig004-1-rest",
    "fig004-2-lugre",
    "fig004-2-proxy",
    "fig004-3",
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
}

impl Bench {
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
        let run = Rc::new(simulate(scenario, sets, every).map_err(|why| format!("{scenario}.toml: {why}"))?);
        self.done.insert(key, Rc::clone(&run));
        Ok(run)
    }
}

fn simulate(scenario: &str, sets: &[String], every: u64) -> Result<Run, String> {
    let text = SCENARIOS
        .iter()
        .find(|(name, _)| *name == scenario)
        .ok_or("there is no such scenario")?;
    let read = Scenario::parse(text.1, scenario, sets).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(read).map_err(|error| error.to_string())?;
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
    })
}
