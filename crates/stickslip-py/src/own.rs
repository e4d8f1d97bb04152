//! An element of the user's own, written as a Python class. Every evaluation is a call into Python, so it is slow: about a microsecond
//! each, several in a step.

use crate::error;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType, PyWeakrefMethods, PyWeakrefReference};
use std::cell::RefCell;
use std::sync::Arc;
use stickslip::element::own::{Motion, OwnElement, OwnLaw};
use stickslip::scenario::{BodySpec, ElementSpec, Port, Scenario};
use stickslip::scenario::{Connection, OwnElementSpec};

thread_local! {
    /// The first exception of an element in the work that this thread does. By thread, as copies of a simulation share their elements.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What an element raised in this thread since this was last asked. The step that ran into it was refused, so the state is the last good one.
pub fn raised() -> Option<PyErr> {
    RAISED.take()
}

struct PythonElement {
    object: Held,
    names: Vec<String>,
    initial: Vec<f64>,
    about: String,
}

/// An object of the user's own. It belongs to the simulations in Python, whose collector of garbage then sees what refers to what: an element
/// may refer to its simulation. What cannot be referred to weakly (`__slots__`) belongs to the engine.
enum Held {
    Weakly(Py<PyWeakrefReference>),
    Here(Py<PyAny>),
}

impl Held {
    fn new(object: &Bound<'_, PyAny>) -> Self {
        match PyWeakrefReference::new(object) {
            Ok(weak) => Self::Weakly(weak.unbind()),
            Err(_) => Self::Here(object.clone().unbind()),
        }
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Here(object) => Ok(object.bind(py).clone()),
            Self::Weakly(weak) => (weak.bind(py).upgrade())
                .ok_or_else(|| error::plain(py, "an element of a simulation that Python has given up is gone")),
        }
    }
}

/// One number as a float, several as an array.
fn number<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyAny> {
    match values {
        [one] => one
            .into_pyobject(py)
            .map(Bound::into_any)
            .unwrap_or_else(|never| match never {}),
        several => PyArray1::from_slice(py, several).into_any(),
    }
}

/// Writes what a method gave: a float, or as many numbers as wanted.
fn take(given: &Bound<'_, PyAny>, wanted: &mut [f64], what: &str) -> PyResult<()> {
    if let [one] = wanted
        && let Ok(value) = error::numbers::<f64>(given, "a number")
    {
        *one = value;
        return Ok(());
    }
    let values: Vec<f64> = error::numbers(given, &format!("{} numbers from {what}", wanted.len()))?;
    if values.len() != wanted.len() {
        let message = format!("{what} should give {} numbers, and gave {}", wanted.len(), values.len());
        return Err(error::plain(given.py(), &message));
    }
    wanted.copy_from_slice(&values);
    Ok(())
}

impl PythonElement {
    fn ask(&self, py: Python<'_>, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]) -> PyResult<()> {
        let object = self.object.get(py)?;
        let arguments = (
            motion.time,
            number(py, motion.position),
            number(py, motion.velocity),
            PyTuple::new(py, motion.state)?,
        );
        take(&object.call_method1("force", arguments.clone())?, force, "force()")?;
        if !rate.is_empty() {
            take(&object.call_method1("rates", arguments)?, rate, "rates()")?;
        }
        Ok(())
    }
}

impl OwnElement for PythonElement {
    fn initial(&self, _: usize) -> Vec<f64> {
        self.initial.clone()
    }

    fn state_names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn respond(&self, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]) {
        if RAISED.with_borrow(Option::is_none) {
            let asked = Python::attach(|py| self.ask(py, motion, rate, force));
            match asked {
                Ok(()) => return,
                Err(raised) => RAISED.set(Some(raised)),
            }
        }
        // No number: the engine refuses the step and keeps the state before it.
        rate.fill(f64::NAN);
        force.fill(f64::NAN);
    }

    fn about(&self) -> String {
        self.about.clone()
    }
}

/// The ports of a scenario, by their names in files.
fn ports(scenario: &Scenario) -> Vec<(String, Port)> {
    let mut known = vec![Port::Ground];
    for (body, (_, spec)) in scenario.bodies.iter().enumerate() {
        match spec {
            BodySpec::Linkage(linkage) => {
                let parts = 0..linkage.links.len();
                known.extend(parts.clone().map(|link| Port::Joint { body, link }));
                known.extend(parts.map(|link| Port::Link { body, link }));
            }
            _ => known.push(Port::Body(body)),
        }
    }
    let named = known.into_iter().map(|port| (scenario.port_name(port), port));
    named.collect()
}

/// Adds elements that are Python objects to a scenario: `between` names two ports, `states` a dict of initial values.
pub fn add(py: Python<'_>, scenario: &mut Scenario, elements: &[(String, Py<PyAny>)]) -> PyResult<()> {
    for (name, object) in elements {
        let bound = object.bind(py);
        if scenario.elements.iter().any(|(other, _)| other == name)
            || scenario.bodies.iter().any(|(other, _)| other == name)
        {
            let message = format!("the name \"{name}\" of an element is taken");
            return Err(error::input(py, &message, "names of bodies and elements are unique"));
        }
        if bound.is_instance_of::<PyType>() {
            let what = format!(
                "an element for \"{name}\" (a class is called: {}())",
                bound.cast::<PyType>()?.name()?
            );
            return Err(error::wrong(py, bound, &what));
        }
        for method in ["force", "rates"] {
            let found = bound.getattr_opt(method)?;
            // Only what has states needs rates, which is asked where they are missing.
            if found.as_ref().map_or(method == "force", |found| !found.is_callable()) {
                let found = found.unwrap_or_else(|| py.None().into_bound(py));
                return Err(error::wrong(
                    py,
                    &found,
                    &format!("a method `{method}(self, t, x, v, z)` of the element \"{name}\""),
                ));
            }
        }
        let wrong = || {
            let message = format!("the element \"{name}\" has no `between` of two names");
            error::input(py, &message, "between = (\"block\", \"ground\")")
        };
        let between: (String, String) = bound
            .getattr("between")
            .and_then(|b| b.extract())
            .map_err(|_| wrong())?;
        let known = ports(scenario);
        let find = |end: &str| {
            let found = known.iter().find(|(name, _)| name == end);
            let names = known.iter().map(|(name, _)| name.as_str());
            found
                .map(|(_, port)| *port)
                .ok_or_else(|| error::missing(py, "body or joint", end, names))
        };
        let ends = [find(&between.0)?, find(&between.1)?];
        let states: Vec<(String, f64)> = match bound.getattr_opt("states")? {
            Some(states) => {
                let items = states.call_method0("items").and_then(|items| items.try_iter());
                let items =
                    items.map_err(|_| error::wrong(py, &states, "a dict of states and their initial values"))?;
                items
                    .map(|item| error::argument(&item?, "a name and a number"))
                    .collect::<PyResult<_>>()?
            }
            None => Vec::new(),
        };
        let most = stickslip::element::own::MOST_STATES;
        if states.len() > most {
            let message = format!(
                "the element \"{name}\" has {} states, and at most {most} are possible",
                states.len()
            );
            return Err(error::input(py, &message, "write it in Rust for more"));
        }
        let law = PythonElement {
            about: format!("{} {states:?}", bound.get_type().qualname()?),
            object: Held::new(bound),
            names: states.iter().map(|(name, _)| name.clone()).collect(),
            initial: states.iter().map(|(_, value)| *value).collect(),
        };
        let spec = OwnElementSpec {
            connections: vec![Connection::between(ends[0], ends[1])],
            law: OwnLaw(Arc::new(law)),
        };
        scenario.elements.push((name.clone(), ElementSpec::Own(spec)));
    }
    Ok(())
}
