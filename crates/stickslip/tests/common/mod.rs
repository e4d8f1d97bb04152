//! Runs the scenarios of the repository and keeps their traces, for the reference tests.

#![allow(dead_code)] // each test binary uses its own part

use std::path::PathBuf;
use stickslip::Simulation;
use stickslip::report::{Report, Reporter};
use stickslip::scenario::Scenario;
use stickslip::trace::Columns;

/// A finished run.
pub struct Run {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    /// Its report.
    pub report: Report,
}

/// The path of a scenario in the repository.
pub fn scenario_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(name)
}

fn owned(sets: &[&str]) -> Vec<String> {
    sets.iter().map(|set| set.to_string()).collect()
}

/// A simulation of a scenario of the repository with `--set` arguments.
pub fn simulation(name: &str, sets: &[&str]) -> Simulation {
    let scenario = Scenario::read(scenario_path(name), &owned(sets)).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// A simulation of a scenario written in a test.
pub fn written(text: &str, sets: &[&str]) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &owned(sets)).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario of the repository with `--set` arguments to its end.
pub fn run(name: &str, sets: &[&str]) -> Run {
    finish(simulation(name, sets), 1)
}

/// Runs a scenario and keeps every n-th row.
pub fn run_every(name: &str, every: u64, sets: &[&str]) -> Run {
    finish(simulation(name, sets), every)
}

/// Runs a simulation to its end, keeping the first row and every n-th one.
pub fn finish(mut simulation: Simulation, every: u64) -> Run {
    let columns = Columns::new(&simulation);
    let mut reporter = Reporter::new(&mut simulation, &columns);
    let mut row = Vec::new();
    columns.read(&simulation, &mut row);
    let mut rows = vec![row.clone()];
    let steps = simulation.built().steps;
    for step in 1..=steps {
        simulation.advance_observed(1).unwrap_or_else(|error| panic!("{error}"));
        simulation.observe();
        reporter.watch(&simulation, &columns);
        if step % every == 0 {
            columns.read(&simulation, &mut row);
            rows.push(row.clone());
        }
    }
    let report = reporter.finish(&mut simulation, &columns, 0.0);
    Run {
        names: columns.names().to_vec(),
        rows,
        report,
    }
}

impl Run {
    /// The names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of a column.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let Some(index) = self.names.iter().position(|other| other == name) else {
            panic!("no column {name}; there are {:?}", self.names);
        };
        self.rows.iter().map(|row| row[index]).collect()
    }

    /// The value of a column in the row nearest to a time.
    pub fn at(&self, name: &str, time: f64) -> f64 {
        let times = self.column("t");
        let near = |index: usize| (times[index] - time).abs();
        let index = (0..times.len()).min_by(|&a, &b| near(a).total_cmp(&near(b))).unwrap();
        assert!(near(index) < 1e-9, "no row at {time} s");
        self.column(name)[index]
    }

    /// Times at which an element changed into a mode.
    pub fn changes(&self, element: &str, to: &str) -> Vec<f64> {
        let events = self.report.events.iter();
        events
            .filter(|event| event.element == element && event.to == to)
            .map(|event| event.t)
            .collect()
    }

    /// A number of an element's report.
    pub fn element(&self, element: &str, key: &str) -> f64 {
        let value = &self.report.elements[element][key];
        value.as_f64().unwrap_or_else(|| panic!("{element}.{key} is {value}"))
    }

    /// Energy that went to and fro.
    pub fn moved(&self) -> f64 {
        let energy = self.report.energy.as_ref().unwrap();
        let elements = self.report.elements.values();
        let heat: f64 = elements
            .map(|element| element["dissipated"].as_f64().unwrap().abs())
            .sum();
        energy.input.abs() + heat + (energy.final_ - energy.initial).abs() + energy.stored
    }
}

/// Fails unless the numbers agree.
#[track_caller]
pub fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {value:.15e} where {expected:.15e} is expected, {error:.2e} apart, {tolerance:.0e} allowed"
    );
}

/// Observed orders of errors at steps halved from one to the next.
pub fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

/// Numbers that look random and are the same in every run (Steele, Lea and Flood's SplitMix64).
pub struct Chance(pub u64);

impl Chance {
    /// From 0 to 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// A vector with numbers of up to this size.
    pub fn vector(&mut self, size: f64) -> nalgebra::Vector3<f64> {
        nalgebra::Vector3::from_fn(|_, _| self.between(-size, size))
    }
}
