//! A scenario as Python hands it over: its text, where it is from, and changes as `--set` takes them.

use crate::error;
use crate::work::perform_whole;
use pyo3::prelude::*;
use std::path::PathBuf;
use stickslip::advice::{Glance, advise_at_a_glance};
use stickslip::run::recorded_columns;
use stickslip::scenario::{Draft, Scenario, ScenarioError};

/// Text, name for messages, folder of the files it names, changes.
#[derive(Clone, Debug, FromPyObject)]
pub struct Source(pub String, pub String, pub Option<PathBuf>, pub Vec<String>);

impl Source {
    /// As a draft.
    pub fn draft(&self) -> Result<Draft, ScenarioError> {
        self.draft_with(&self.3)
    }

    /// As a draft with other changes.
    pub fn draft_with(&self, sets: &[String]) -> Result<Draft, ScenarioError> {
        Draft::parse_in(self.2.as_deref(), &self.0, &self.1, sets)
    }

    /// Checked.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        self.draft().and_then(|draft| draft.scenario())
    }

    /// Points findings at the change that causes them, as the command line does.
    pub fn blame(&self, error: ScenarioError) -> ScenarioError {
        error.blame_arguments(|sets| {
            let scenario = self.draft_with(sets).and_then(|draft| draft.scenario());
            scenario.is_ok_and(|scenario| Glance::new(scenario).is_ok())
        })
    }

    /// The exception of an error.
    pub fn raise(&self, py: Python<'_>, error: ScenarioError) -> PyErr {
        let blamed = py.detach(|| self.blame(error));
        error::scenario(py, &blamed)
    }
}

/// The text of a scenario file.
#[pyfunction]
pub fn read_text(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let draft = perform_whole(py, |_| Draft::read(&path, &[]))?;
    let sources = match &draft {
        Ok(draft) => draft.sources(),
        // What is no TOML has its text; what cannot be read has none.
        Err(error) if error.sources.first().is_some_and(|source| !source.text.is_empty()) => &error.sources,
        Err(error) => return Err(error::scenario(py, error)),
    };
    Ok(sources.first().map_or(String::new(), |source| source.text.clone()))
}

/// The scenario with its changes, as TOML.
#[pyfunction]
pub fn to_toml(py: Python<'_>, source: Source) -> PyResult<String> {
    let toml = perform_whole(py, |_| source.draft().and_then(|draft| draft.to_toml()))?;
    toml.map_err(|error| source.raise(py, error))
}

/// What `check --json` prints.
#[pyfunction]
pub fn check(py: Python<'_>, source: Source) -> PyResult<String> {
    let advice = perform_whole(py, |_| -> Result<String, ScenarioError> {
        let mut glance = Glance::new(source.scenario()?)?;
        let columns = recorded_columns(&glance.simulation)?;
        let advice = advise_at_a_glance(&mut glance, &columns);
        Ok(serde_json::to_string(&advice).unwrap_or_default())
    })?;
    advice.map_err(|error| source.raise(py, error))
}

/// What Python calls a scenario: a file, a dict, a text or a `Scenario`.
pub fn of_any(scenario: &Bound<'_, PyAny>) -> PyResult<Source> {
    let module = scenario.py().import("stickslip.scenario")?;
    module.getattr("_source")?.call1((scenario,))?.extract()
}
