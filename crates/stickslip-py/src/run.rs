//! A run from start to end, kept in memory.

use crate::error::{self, time_of};
use crate::outline::{Outline, outlines};
use crate::source::Source;
use crate::work::{Progress, guard, perform, perform_whole};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::Cell;
use std::collections::TryReserveError;
use std::sync::atomic::Ordering;
use stickslip::element::Mode;
use stickslip::inclusion::emit::Form;
use stickslip::memory::{in_units, lacking};
use stickslip::run::{Ended, Glance, Options, Outcome, recorded_columns};
use stickslip::scenario::ScenarioError;
use stickslip::{Simulation, Stop};
use stickslip_study::panels::shown;

/// Columns of a trace that grow row by row.
struct Recorded {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    outcome: Outcome,
    unit_warnings: Vec<String>,
    touching: Option<Touching>,
    panels: Vec<Drawn>,
    outlines: Vec<Outline>,
    /// The memory was at its end before the run was.
    full: bool,
}

/// A column that is drawn: the place of its panel, the label of that, and what its curve is called.
type Drawn = (String, u8, &'static str, String);

/// Numbers of a contact: time, point, normal, force, slip, gap and mode.
const CONTACT: usize = 15;

/// The contacts that were found in the steps that were recorded, one after the other.
#[derive(Default)]
struct Touching {
    /// Names of bodies and links, each once.
    names: Vec<String>,
    /// The two that touch, as numbers of their names.
    pairs: [Vec<usize>; 2],
    numbers: [Vec<f64>; CONTACT],
}

impl Touching {
    /// Keeps the contacts of the last step, unless there is no memory for them.
    fn look(&mut self, simulation: &Simulation) -> Result<(), TryReserveError> {
        let (time, count) = (simulation.time(), simulation.found_contacts().count());
        self.pairs.iter_mut().try_for_each(|pair| pair.try_reserve(count))?;
        self.numbers
            .iter_mut()
            .try_for_each(|column| column.try_reserve(count))?;
        for contact in simulation.found_contacts() {
            for (pair, name) in self.pairs.iter_mut().zip([contact.first, contact.second]) {
                let known = self.names.iter().position(|other| other == name);
                pair.push(known.unwrap_or(self.names.len()));
                if known.is_none() {
                    self.names.push(name.to_string());
                }
            }
            let vectors = [contact.point, contact.normal, contact.force, contact.slip];
            let last = [contact.gap, f64::from(contact.mode as u8)];
            let row = [time].into_iter().chain(vectors.into_iter().flatten()).chain(last);
            for (column, number) in self.numbers.iter_mut().zip(row) {
                column.push(number);
            }
        }
        Ok(())
    }
}

fn record(
    source: &Source,
    every: u64,
    threads: usize,
    contacts: bool,
    stop: &Stop,
    progress: &Progress,
) -> Result<Recorded, ScenarioError> {
    let mut simulation = Simulation::new(source.scenario()?)?;
    simulation.use_threads(threads);
    let mut touching = (contacts || simulation.scenario().contact_rows).then(Touching::default);
    if contacts && !simulation.has_scene() {
        let help = "`contacts` are those that the program finds between shapes";
        let missing = stickslip::scenario::Diagnostic::new("the scenario has no [contacts]", None).help(help);
        return Err(simulation.scenario().error(vec![missing]));
    }
    progress.total.store(simulation.built().steps, Ordering::Relaxed);
    let chosen = recorded_columns(&simulation)?;
    let names = chosen.names().to_vec();
    let mut columns = room(&names, simulation.built().steps / every.max(1) + 2).map_err(|missing| {
        let message = format!("the rows of this run take {missing}");
        let help = "`every` keeps a row every so many steps: every=1000";
        let found = stickslip::scenario::Diagnostic::new(message, None).help(help);
        simulation.scenario().error(vec![found])
    })?;
    let drawn = names.iter().filter_map(|name| {
        let (quantity, curve) = shown(simulation.scenario(), name)?;
        Some((name.clone(), quantity as u8, quantity.label(), curve))
    });
    let panels = drawn.collect();
    let warnings = simulation.built().warnings.iter();
    let unit_warnings = warnings
        .map(|warning| warning.render("warning", &simulation.scenario().sources, false))
        .collect();
    // Without memory for more it ends as it does at Ctrl-C: with what there is.
    let full = Cell::new(false);
    let end = |_| {
        full.set(true);
        stop.store(true, Ordering::Relaxed);
    };
    let mut keep = |row: &[f64]| {
        match columns.iter_mut().try_for_each(|column| column.try_reserve(1)) {
            Err(error) => end(error),
            Ok(()) => columns
                .iter_mut()
                .zip(row)
                .for_each(|(column, value)| column.push(*value)),
        }
        Ok(())
    };
    let mut list = touching.as_mut().map(|touching| {
        |simulation: &Simulation| {
            touching.look(simulation).unwrap_or_else(end);
            Ok(())
        }
    });
    let options = Options {
        every,
        stop: Some(stop),
        progress: Some(&mut |steps| progress.done.store(steps, Ordering::Relaxed)),
        rows: list.as_mut().map(|list| list as &mut Glance<'_>),
    };
    let outcome = stickslip::run::run(&mut simulation, Some((&chosen, &mut keep)), options);
    // The sink never fails.
    let mut outcome = outcome.map_err(|error| {
        simulation
            .scenario()
            .error(vec![stickslip::scenario::Diagnostic::new(error.to_string(), None)])
    })?;
    outcome.report.examine_steady_sliding(&simulation, Some(stop));
    // Of a run that ended early: what was never written to is given back.
    columns.iter_mut().for_each(Vec::shrink_to_fit);
    Ok(Recorded {
        full: full.get(),
        names,
        columns,
        outcome,
        unit_warnings,
        touching,
        panels,
        outlines: outlines(&simulation),
    })
}

/// Columns with room for so many rows, or how much memory that takes and how much there is.
fn room(names: &[String], rows: u64) -> Result<Vec<Vec<f64>>, String> {
    let bytes = rows.saturating_mul(8).saturating_mul(names.len() as u64);
    if let Some(missing) = lacking(bytes) {
        return Err(missing);
    }
    let column = |_| -> Result<Vec<f64>, String> {
        let mut column = Vec::new();
        let outcome = column.try_reserve_exact(usize::try_from(rows).unwrap_or(usize::MAX));
        outcome.map_err(|_| format!("{} of memory, which the system does not give", in_units(bytes)))?;
        Ok(column)
    };
    names.iter().map(column).collect()
}

/// Contacts of all recorded steps: names, the numbers of the names of each two, and columns of numbers.
type Touches<'py> = (
    Vec<String>,
    Vec<Bound<'py, PyArray1<usize>>>,
    Vec<Bound<'py, PyArray1<f64>>>,
);

/// Names, columns, report, warnings, failure (text and time), what Ctrl-C raised, contacts, what is drawn of it, shapes.
type Ran<'py> = (
    Vec<String>,
    Vec<Bound<'py, PyArray1<f64>>>,
    String,
    Vec<String>,
    Option<(String, f64)>,
    Option<PyErr>,
    Option<Touches<'py>>,
    Vec<Drawn>,
    Vec<Outline>,
);

/// Runs a scenario. `progress` is called with a part from 0 to 1, now and then.
#[pyfunction]
pub fn run<'py>(
    py: Python<'py>,
    source: Source,
    every: u64,
    threads: usize,
    contacts: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ran<'py>> {
    let progress = Progress::new(progress);
    let (recorded, raised) = perform(py, Some(&progress), |stop| {
        record(&source, every, threads, contacts, stop, &progress)
    })?;
    let recorded = recorded.map_err(|error| source.raise(py, error))?;
    let Outcome { report, ended } = recorded.outcome;
    let failure = match &ended {
        Ended::Failed(error) => Some((error.to_string(), time_of(error))),
        _ if recorded.full => {
            let help = "`every` keeps a row every so many steps: every=1000";
            let text = format!("there is no memory for rows after t = {} s\nhelp: {help}", report.t_end);
            Some((text, report.t_end))
        }
        _ => None,
    };
    let report = serde_json::to_string(&report).unwrap_or_default();
    let columns = recorded
        .columns
        .into_iter()
        .map(|column| column.into_pyarray(py))
        .collect();
    let touches = recorded.touching.map(|touching| {
        let pairs = touching.pairs.into_iter().map(|pair| pair.into_pyarray(py)).collect();
        let numbers = touching.numbers.into_iter().map(|column| column.into_pyarray(py));
        (touching.names, pairs, numbers.collect())
    });
    let warnings = recorded.unit_warnings;
    let (names, panels, outlines) = (recorded.names, recorded.panels, recorded.outlines);
    Ok((
        names, columns, report, warnings, failure, raised, touches, panels, outlines,
    ))
}

/// The contacts that a simulation found in its last step, a dict each.
pub fn contacts_of<'py>(py: Python<'py>, simulation: &Simulation) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for contact in simulation.found_contacts() {
        let entry = PyDict::new(py);
        entry.set_item("first", contact.first)?;
        entry.set_item("second", contact.second)?;
        for (name, vector) in [
            ("point", contact.point),
            ("normal", contact.normal),
            ("force", contact.force),
            ("slip", contact.slip),
        ] {
            entry.set_item(name, PyArray1::from_slice(py, &vector))?;
        }
        entry.set_item("gap", contact.gap)?;
        entry.set_item("mode", mode_name(Some(contact.mode)))?;
        list.append(entry)?;
    }
    Ok(list)
}

/// What a mode is called.
pub fn mode_name(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Stick) => "stick",
        Some(Mode::Slip) => "slip",
        _ => "open",
    }
}

/// The differential equation that an inclusion becomes.
#[pyfunction]
pub fn rewrite(py: Python<'_>, source: Source, emit: &str) -> PyResult<String> {
    let forms = || Form::ALL.iter().map(|(name, _)| *name);
    let Some((_, form)) = Form::ALL.iter().find(|(name, _)| *name == emit) else {
        return Err(error::missing(py, "form", emit, forms()));
    };
    let emitted = perform_whole(py, |_| {
        let scenario = source.scenario()?;
        Ok(scenario.inclusion.as_ref().map(|inclusion| inclusion.emit(*form)))
    })?;
    let emitted = emitted.map_err(|error| source.raise(py, error))?;
    emitted.ok_or_else(|| {
        let message = format!("{} has no `[inclusion]`: there is nothing to rewrite", source.1);
        error::input(py, &message, "bodies and elements run as they are")
    })
}

/// The name that is probably meant.
#[pyfunction]
pub fn nearest(name: &str, known: &Bound<'_, PyList>) -> PyResult<Option<String>> {
    let known: Vec<String> = known.extract()?;
    let near = stickslip::scenario::diagnostic::nearest(name, known.iter().map(String::as_str));
    Ok(near.map(str::to_string))
}

/// A formula of named numbers, in the language of scenario files; names may have dots.
#[pyclass(module = "stickslip._native", frozen)]
pub struct Expression(stickslip::profile::Expression, usize);

#[pymethods]
impl Expression {
    /// `names` are those that the text uses, `known` those that it might.
    #[new]
    fn new(py: Python<'_>, text: &str, names: Vec<String>, known: Vec<String>) -> PyResult<Self> {
        guard(py, || {
            let plain = words(text, &names);
            let variables: Vec<String> = (0..names.len()).map(|i| format!("v{i}_")).collect();
            let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
            let read = stickslip::profile::Expression::parse(&plain, &variables);
            let expression = read.map_err(|error| {
                // The names of the user in place of those that the language has for them.
                let plainly = |i: usize| format!("v{i}_");
                let mut found = (0..names.len()).rev().fold(error.message.clone(), |message, i| {
                    message.replace(&plainly(i), &names[i])
                });
                if found.starts_with("unknown name") {
                    let word = plain.get(error.span.start..).unwrap_or_default();
                    let word = word.split(|c| !in_word(c)).next().unwrap_or_default();
                    let near = stickslip::scenario::diagnostic::nearest(word, known.iter().map(String::as_str));
                    if let Some(near) = near {
                        found = format!("unknown name \"{word}\"; did you mean \"{near}\"?");
                    } else if found.contains("variables here") || found.contains("no variable") {
                        found = format!("unknown name \"{word}\"");
                    }
                }
                let message = format!("cannot read the formula \"{text}\": {found}");
                let listed = error::listed(known.iter().map(String::as_str));
                error::input(py, &message, &format!("names that it may use: {listed}"))
            })?;
            Ok(Expression(expression, names.len()))
        })
    }

    fn __call__(&self, py: Python<'_>, values: Vec<f64>) -> PyResult<f64> {
        match values.len() == self.1 {
            true => Ok(self.0.evaluate(&values)),
            false => Err(error::plain(
                py,
                &format!("expected {} numbers, found {}", self.1, values.len()),
            )),
        }
    }

    /// Its value for each row of numbers.
    fn rows<'py>(&self, py: Python<'py>, rows: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = rows.as_array();
        if rows.ncols() != self.1 {
            let message = format!("expected rows of {} numbers, found {}", self.1, rows.ncols());
            return Err(error::plain(py, &message));
        }
        let values = rows.outer_iter().map(|row| self.0.evaluate(&row.to_vec()));
        Ok(values.collect::<Vec<_>>().into_pyarray(py))
    }
}

/// Whether a name of a column may have it.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The text with every name that is known in place of a plain one: the language of formulas has no dots in names.
fn words(text: &str, names: &[String]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if in_word(c) {
            word.push(c);
            continue;
        }
        match names.iter().position(|name| *name == word) {
            Some(number) => out += &format!("v{number}_"),
            None => out += &word,
        }
        word.clear();
        out.push(c);
    }
    out.trim_end().to_string()
}
