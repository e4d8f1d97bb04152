//! Errors as exceptions of the package, which are Python classes in `python/stickslip/errors.py`.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PyTuple, PyType};
use stickslip::RunError;
use stickslip::scenario::ScenarioError;
use stickslip::sweep::{Mistake, SweepError};

fn raise(py: Python<'_>, class: &str, message: &str, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("stickslip.errors")?.getattr(class)?.cast_into::<PyType>()?;
        let named = PyDict::new(py);
        fill(&named)?;
        Ok(PyErr::from_value(class.call((message,), Some(&named))?))
    };
    made().unwrap_or_else(|error| error)
}

/// An error without a place: wrong use, or something that is broken.
pub fn plain(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "Error", message, |_| Ok(()))
}

/// Wrong input.
pub fn input(py: Python<'_>, message: &str, help: &str) -> PyErr {
    let help = (!help.is_empty()).then_some(help);
    let text = help.map_or(message.to_string(), |help| format!("{message}\nhelp: {help}"));
    raise(py, "ScenarioError", &text, |named| named.set_item("help", help))
}

/// A scenario that cannot be used: the place and the help are those of the first finding.
pub fn scenario(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let first = error.diagnostics.first();
    let place = first.and_then(|first| first.place(&error.sources));
    // The changes of a call are shown as the command line takes them, but nobody wrote them there.
    let text = error.to_string();
    let text = text.replace(
        "--> on the command line",
        "--> in the arguments, as on the command line",
    );
    raise(py, "ScenarioError", &text, |named| {
        named.set_item("line", place.map(|(_, line, _)| line))?;
        named.set_item("column", place.map(|(_, _, column)| column))?;
        named.set_item("source", place.map(|(source, ..)| source.name.clone()))?;
        named.set_item("help", first.and_then(|first| first.help.clone()))
    })
}

/// A wrong axis or measure.
pub fn mistake(py: Python<'_>, mistake: &Mistake) -> PyErr {
    input(py, &mistake.message, &mistake.help)
}

/// Why a sweep cannot begin.
pub fn sweep(py: Python<'_>, error: &SweepError) -> PyErr {
    match error {
        SweepError::Scenario(error) => scenario(py, error),
        SweepError::Mistake(error) => mistake(py, error),
    }
}

/// What a handler of signals raised; Ctrl-C becomes an exception of the package, which is a `KeyboardInterrupt`, too.
pub fn interrupted(py: Python<'_>, raised: PyErr) -> PyErr {
    match raised.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        true => raise(py, "Interrupted", "interrupted", |_| Ok(())),
        false => raised,
    }
}

/// The time of a run that failed.
pub fn time_of(error: &RunError) -> f64 {
    match error {
        RunError::Diverged { time, .. }
        | RunError::Exploded { time, .. }
        | RunError::Unconverged { time, .. }
        | RunError::Stalled { time, .. }
        | RunError::Unsupported { time, .. }
        | RunError::Unsolved { time, .. }
        | RunError::Stopped { time } => *time,
    }
}

/// A run that failed, without a result.
pub fn run(py: Python<'_>, error: &RunError) -> PyErr {
    raise(py, "RunError", &error.to_string(), |named| {
        named.set_item("time", time_of(error))
    })
}

/// Most names that a message lists.
const MOST_LISTED: usize = 30;

/// Names one after the other, of very many the first.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    if names.len() > MOST_LISTED {
        names.truncate(MOST_LISTED);
        names.push("...");
    }
    names.join(", ")
}

/// Something that is missing: a `KeyError` with the nearest name.
pub fn missing<'a>(py: Python<'_>, what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> PyErr {
    let known: Vec<&str> = known.collect();
    let near = stickslip::scenario::diagnostic::nearest(name, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    let list = match known.len() {
        0 => "there is none".to_string(),
        count if count > MOST_LISTED => format!("there are {count}: {}", listed(known.into_iter())),
        _ => format!("each there is: {}", listed(known.into_iter())),
    };
    let message = format!("there is no {what} \"{name}\"{near} ({list})");
    raise(py, "MissingError", &message, |_| Ok(()))
}

/// Takes an argument, or says what is wrong with it: an `ArgumentError`, which is a `TypeError` and a `ValueError` too.
pub fn argument<'a, 'py, T: FromPyObject<'a, 'py>>(value: &'a Bound<'py, PyAny>, what: &str) -> PyResult<T> {
    value.extract().map_err(|_| wrong(value.py(), value, what))
}

/// A whole number that counts something. Python takes True for 1, which nobody means.
pub fn count<T: for<'a, 'py> FromPyObject<'a, 'py>>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<T> {
    match value.is_instance_of::<PyBool>() {
        true => Err(wrong(value.py(), value, what)),
        false => argument(value, what),
    }
}

/// Takes numbers, or says what is wrong with them. NumPy would leave out what makes complex numbers complex, and masks.
pub fn numbers<'a, 'py, T: FromPyObject<'a, 'py>>(value: &'a Bound<'py, PyAny>, what: &str) -> PyResult<T> {
    if !value.is_exact_instance_of::<PyFloat>() && !real(value)? {
        return Err(wrong(value.py(), value, what));
    }
    argument(value, what)
}

/// Whether nothing of it is complex or masked.
fn real(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        let masked = || -> PyResult<bool> {
            match value.getattr_opt("mask")? {
                Some(mask) => value.py().import("numpy")?.call_method1("any", (mask,))?.is_truthy(),
                None => Ok(false),
            }
        };
        return Ok(array.dtype().kind() != b'c' && (value.cast_exact::<PyUntypedArray>().is_ok() || !masked()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        for item in value.try_iter()? {
            let item = item?;
            if !item.is_exact_instance_of::<PyFloat>() && !real(&item)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    // Scalars of NumPy: some are complex, without being those of Python.
    match value.is_exact_instance_of::<PyInt>() {
        true => Ok(true),
        false => match value.getattr_opt("imag")? {
            Some(_) if value.is_instance_of::<PyComplex>() => Ok(false),
            Some(_) => match value.getattr_opt("dtype")? {
                Some(dtype) => Ok(dtype.getattr("kind")?.extract::<String>()? != "c"),
                None => Ok(true),
            },
            None => Ok(true),
        },
    }
}

/// An argument that is none.
pub fn wrong(py: Python<'_>, value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let shown = value.repr().map(|text| text.to_string()).unwrap_or_default();
    let short: String = shown.chars().take(60).collect();
    raise(py, "ArgumentError", &format!("expected {what}, found {short}"), |_| {
        Ok(())
    })
}
