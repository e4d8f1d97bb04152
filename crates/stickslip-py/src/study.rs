//! Comparisons, experiments, measured data and laws: as JSON, like the command line prints them, and curves as arrays.

use crate::error;
use crate::source::Source;
use crate::work::{Progress, perform, perform_whole};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use stickslip::advice::angular;
use stickslip::analysis::cycles::Window;
use stickslip::core::registry::LAWS;
use stickslip_study::analyse::Data;
use stickslip_study::compare::{Comparison, measure};
use stickslip_study::{Fault, experiments, laws, panels};

fn raise(py: Python<'_>, fault: Fault) -> PyErr {
    match fault {
        Fault::Scenario(error) => error::scenario(py, &error),
        Fault::Input { message, help } => error::input(py, &message, &help),
        fault => error::plain(py, &fault.to_string()),
    }
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Several columns of equal length under a name.
type Curves<'py> = Vec<(String, Vec<Bound<'py, PyAny>>)>;

fn arrays<'py>(py: Python<'py>, curves: Vec<(String, Vec<Vec<f64>>)>) -> Curves<'py> {
    let array = |column: Vec<f64>| -> Bound<'py, PyArray1<f64>> { column.into_pyarray(py) };
    let each = curves.into_iter();
    each.map(|(name, columns)| {
        (
            name,
            columns.into_iter().map(|column| array(column).into_any()).collect(),
        )
    })
    .collect()
}

/// What `compare --json` prints; time, velocity, force and slip under each law; labels of these; what Ctrl-C raised.
type Compared<'py> = (String, Curves<'py>, [String; 3], Option<PyErr>);

/// The same scenario under several laws; of those that were done where Ctrl-C ended it.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    source: Source,
    element: &str,
    laws: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Compared<'py>> {
    let progress = Progress::new(progress);
    let (done, raised) = perform(py, Some(&progress), |stop| -> Result<_, Fault> {
        let comparison = Comparison {
            read: &|sets| source.draft_with(sets)?.scenario(),
            element,
            laws: &laws,
            set: &source.3,
        };
        let scenario = source.scenario()?;
        let index = comparison.element_index(&scenario)?;
        let candidates = comparison.candidates(index)?;
        let steps = candidates.iter().map(|candidate| candidate.simulation.built().steps);
        progress.total.store(steps.sum(), Ordering::Relaxed);
        let (mut rows, mut curves, mut before) = (Vec::new(), Vec::new(), 0);
        for candidate in candidates {
            let steps = candidate.simulation.built().steps;
            let mut columns = vec![Vec::new(); 4];
            let mut watch = |t: f64, [velocity, force, slip]: [f64; 3]| {
                for (column, value) in columns.iter_mut().zip([t, velocity, force, slip]) {
                    column.push(value);
                }
            };
            let mut tell = |done| progress.done.store(before + done, Ordering::Relaxed);
            let row = match measure(candidate, index, stop, &mut watch, &mut tell) {
                Err(Fault::Stopped) => break,
                row => row?,
            };
            before += steps;
            curves.push((row.law.clone(), columns));
            rows.push(row);
        }
        let value = json!({ "title": scenario.title, "element": element, "laws": rows });
        let labels = panels::of_comparison(angular(&scenario, &scenario.elements[index].1));
        Ok((text(&value), curves, labels))
    })?;
    let (report, curves, labels) = done.map_err(|fault| raise(py, fault))?;
    Ok((report, arrays(py, curves), labels, raised))
}

/// Report, labels of the axes, a curve of each law, what Ctrl-C raised.
type Experimented<'py> = (String, (&'static str, &'static str), Curves<'py>, Option<PyErr>);

/// A standard experiment: what `experiment --json` prints, the labels of its axes, and a curve of each law; of those that were done where
/// Ctrl-C ended it.
#[pyfunction]
pub fn experiment<'py>(
    py: Python<'py>,
    name: &str,
    law: Vec<String>,
    set: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Experimented<'py>> {
    let progress = Progress::new(progress);
    let (done, raised) = perform(py, Some(&progress), |stop| -> Result<_, Fault> {
        let (experiment, laws) = (experiments::find(name)?, experiments::laws(&law)?);
        progress.total.store(laws.len() as u64, Ordering::Relaxed);
        let mut tried = Vec::new();
        let mut keep = |law| {
            tried.push(law);
            progress.done.fetch_add(1, Ordering::Relaxed);
        };
        match experiments::try_laws(experiment, &laws, &set, stop, &mut keep) {
            Err(Fault::Stopped) => (),
            outcome => outcome?,
        }
        let curves = tried.iter().filter_map(|tried| {
            let curve = &tried.outcome.as_ref().ok()?.curve;
            let (x, y) = curve.iter().copied().unzip();
            Some((tried.law.name.to_string(), vec![x, y]))
        });
        let curves: Vec<_> = curves.collect();
        Ok((text(&experiments::report(experiment, &tried)), experiment.axes, curves))
    })?;
    let (report, axes, curves) = done.map_err(|fault| raise(py, fault))?;
    Ok((report, axes, arrays(py, curves), raised))
}

/// Names of the experiments.
#[pyfunction]
pub fn experiments_known() -> Vec<(&'static str, &'static str)> {
    experiments::EXPERIMENTS
        .iter()
        .map(|experiment| (experiment.name, experiment.summary))
        .collect()
}

/// The laws as `laws --json` prints them.
#[pyfunction]
pub fn laws_known() -> String {
    text(&LAWS.iter().map(laws::value).collect::<Vec<_>>())
}

/// Times and values that cycles were found in.
type Signal<'py> = Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)>;

/// Measured data: what `analyse --json` prints, and times and values of the signal.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the command
pub fn analyse<'py>(
    py: Python<'py>,
    data: Vec<PathBuf>,
    signal: Option<String>,
    law: Option<String>,
    lists: (Vec<String>, Vec<String>, Vec<String>),
    columns: [Option<String>; 5],
    normal_force: Option<String>,
    evolution: String,
    window: (Option<f64>, Option<f64>, bool),
) -> PyResult<(String, Signal<'py>)> {
    let (test, unit, known) = lists;
    let [record, time, displacement, velocity, force] = columns;
    let (from, until, detrend) = window;
    let given = Data {
        data,
        signal,
        test,
        record,
        time,
        displacement,
        velocity,
        force,
        normal_force,
        unit,
        known,
        evolution,
    };
    let done = perform_whole(py, |stop| -> Result<_, Fault> {
        match (&law, &given.signal) {
            (Some(law), _) => {
                let found = given.identify(law, stop)?;
                match found.is_empty() {
                    true => Err(Fault::Work("the records tell no parameter of the law".to_string())),
                    false => Ok((text(&found.value()), None)),
                }
            }
            (None, Some(signal)) => {
                let found = given.cycles(signal, Window { from, until, detrend })?;
                Ok((text(&found.value()), Some((found.times, found.values))))
            }
            (None, None) => Err(Fault::input(
                "say what to look for in the data",
                "signal=COLUMN finds stick-slip cycles, law=\"subloading\" the parameters of that law",
            )),
        }
    })?;
    let (report, signal) = done.map_err(|fault| raise(py, fault))?;
    Ok((
        report,
        signal.map(|(times, values)| (times.into_pyarray(py), values.into_pyarray(py))),
    ))
}
