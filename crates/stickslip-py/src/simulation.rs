//! A simulation that Python steps, reads and steers.

use crate::error::{self, argument, count, numbers};
use crate::own;
use crate::run::{contacts_of, mode_name};
use crate::source::of_any;
use crate::work::{Single, guard, perform, perform_whole};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use stickslip::trace::Columns;
use stickslip::{Body, Element, RunError, Snapshot};

/// What names stand for, shared by copies.
pub struct Names {
    bodies: HashMap<String, Body>,
    elements: HashMap<String, Element>,
    /// Elements whose forces may be taken over, with their numbers of axes.
    actuators: HashMap<String, (Element, usize)>,
    columns: Columns,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Those of a simulation.
    pub fn of(simulation: &stickslip::Simulation) -> Self {
        let scenario = simulation.scenario();
        let columns = Columns::new(simulation);
        let names = |named: &[String]| named.iter().cloned().enumerate().map(|(i, name)| (name, i)).collect();
        Names {
            bodies: (scenario.bodies.iter().map(|(name, _)| name.clone()))
                .zip(simulation.bodies())
                .collect(),
            elements: (scenario.elements.iter().map(|(name, _)| name.clone()))
                .zip(simulation.elements())
                .collect(),
            actuators: (scenario.elements.iter().zip(simulation.elements()))
                .zip(&simulation.built().actuators)
                .filter(|(_, signals)| !signals.is_empty())
                .map(|(((name, _), element), signals)| (name.clone(), (element, signals.len())))
                .collect(),
            numbers: names(columns.names()),
            columns,
        }
    }

    /// The body with this name.
    pub fn body(&self, py: Python<'_>, name: &str) -> PyResult<Body> {
        find(py, &self.bodies, "body", name)
    }

    /// What has this name and moves: a body, or a joint such as `arm.elbow`, which has a column of its `position` and one of its `velocity`.
    pub fn moving(&self, py: Python<'_>, name: &str, what: &str) -> PyResult<Moving> {
        if let Some(body) = self.bodies.get(name) {
            return Ok(Moving::Body(*body));
        }
        match self.numbers.get(&format!("{name}.{what}")) {
            Some(column) => Ok(Moving::Column(*column)),
            None => self.body(py, name).map(Moving::Body),
        }
    }

    /// The element with this name.
    pub fn element(&self, py: Python<'_>, name: &str) -> PyResult<Element> {
        find(py, &self.elements, "element", name)
    }

    /// The actuator with this name, and its number of axes.
    pub fn actuator(&self, py: Python<'_>, name: &str) -> PyResult<(Element, usize)> {
        find(py, &self.actuators, "actuator", name)
    }

    /// The number of the column with this name.
    pub fn column(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let known = || self.columns.names().iter().map(String::as_str);
        self.numbers
            .get(name)
            .copied()
            .ok_or_else(|| error::missing(py, "column", name, known()))
    }

    /// All columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }
}

fn find<Found: Copy>(py: Python<'_>, known: &HashMap<String, Found>, what: &str, name: &str) -> PyResult<Found> {
    known.get(name).copied().ok_or_else(|| {
        // In an order that is the same every time.
        let mut names: Vec<&str> = known.keys().map(String::as_str).collect();
        names.sort_unstable();
        error::missing(py, what, name, names.into_iter())
    })
}

/// What moves.
#[derive(Clone, Copy)]
pub enum Moving {
    /// A body, with one or several numbers.
    Body(Body),
    /// A column of the trace.
    Column(usize),
}

impl Moving {
    /// The body, if it is one.
    pub fn body(self) -> Option<Body> {
        match self {
            Self::Body(body) => Some(body),
            Self::Column(_) => None,
        }
    }
}

/// Steps that take less time together are done at once, without giving the interpreter away: about a millisecond.
const SHORT: u64 = 1_000_000;

/// About how long a step takes at most, ns.
pub fn step_cost(simulation: &stickslip::Simulation) -> u64 {
    let size = simulation.state().values.len() as u64 + 8;
    let many = simulation.chain().map_or(0, |(chain, _)| chain.count()) as u64;
    let many = many + simulation.spheres().map_or(0, |(_, state)| state.balls().len() as u64) * 32;
    match simulation.method().chooses_steps() {
        true => SHORT,
        false => 20 * size * size + 20 * many,
    }
}

/// A scenario in motion: step it, read it, steer it.
///
/// `scenario` is a `Scenario`, a file, a dict or a text; `elements` are elements of your own by their names, see `Element`.
///
/// >>> import stickslip as ss
/// >>> block = ss.Scenario(step=1e-3).mass("block", 2.0, velocity=3.0)
/// >>> block = block.friction("floor", "block", "ground", kinetic=10.0, static=12.0).actuator("motor", "block", "ground")
/// >>> simulation = ss.Simulation(block)
/// >>> simulation.step(700)  # friction of 10 N stops it within 0.6 s
/// >>> simulation.velocity("block")
/// 0.0
/// >>> simulation.set("motor", 11.0)  # below the 12 N that hold it
/// >>> simulation.step(100)
/// >>> simulation.velocity("block"), simulation.force("floor")
/// (0.0, -11.0)
#[pyclass(module = "stickslip", name = "Simulation", frozen)]
pub struct Simulation {
    inner: Single<stickslip::Simulation>,
    names: Arc<Names>,
    /// Elements of the user's own, which the engine refers to weakly.
    own: Mutex<Vec<Py<PyAny>>>,
    has_own: bool,
    cost: u64,
}

/// One number as a float, several as an array.
fn shown<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    match values {
        [one] => Ok(one.into_pyobject(py)?.into_any()),
        several => Ok(PyArray1::from_slice(py, several).into_any()),
    }
}

/// A float or a list, tuple or array of floats.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    One(f64),
    Array(PyReadonlyArray1<'py, f64>),
    Several(Vec<f64>),
}

impl Numbers<'_> {
    /// As a list.
    pub fn list(&self) -> Vec<f64> {
        match self {
            Self::One(value) => vec![*value],
            Self::Array(values) => values.as_array().to_vec(),
            Self::Several(values) => values.clone(),
        }
    }
}

impl Simulation {
    fn inner(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, stickslip::Simulation>> {
        self.inner.take(py)
    }
}

/// Steps on; an exception of an element of the user's own goes before what it led to.
fn advance(simulation: &mut stickslip::Simulation, steps: u64) -> Result<Result<(), RunError>, PyErr> {
    let outcome = simulation.advance(steps);
    own::raised().map_or(Ok(outcome), Err)
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, elements = None))]
    fn new(scenario: &Bound<'_, PyAny>, elements: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = scenario.py();
        let source = of_any(scenario)?;
        let elements: Vec<(String, Py<PyAny>)> = match elements {
            Some(elements) => {
                let items = elements
                    .call_method0("items")
                    .and_then(|items| items.try_iter()?.collect::<PyResult<Vec<_>>>());
                let items = items.map_err(|_| error::wrong(py, elements, "a dict of elements"))?;
                (items.iter())
                    .map(|item| argument(item, "a name and an element"))
                    .collect::<PyResult<_>>()?
            }
            None => Vec::new(),
        };
        let built = perform_whole(py, |_| -> PyResult<_> {
            let mut scenario = (source.scenario()).map_err(|error| Python::attach(|py| source.raise(py, error)))?;
            Python::attach(|py| own::add(py, &mut scenario, &elements))?;
            let built = stickslip::Simulation::new(scenario);
            if let Some(raised) = own::raised() {
                return Err(raised);
            }
            built.map_err(|error| {
                Python::attach(|py| match elements.is_empty() {
                    true => source.raise(py, error),
                    false => error::scenario(py, &error),
                })
            })
        })?;
        let inner = built?;
        Ok(Simulation {
            names: Arc::new(Names::of(&inner)),
            cost: step_cost(&inner),
            has_own: !elements.is_empty(),
            own: Mutex::new(elements.into_iter().map(|(_, element)| element).collect()),
            inner: Single::new(inner),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Where another thread has them they are in use.
        let Ok(own) = self.own.try_lock() else { return Ok(()) };
        own.iter().try_for_each(|element| visit.call(element))
    }

    fn __clear__(&self) {
        // Let go of outside of the lock: that may run anything.
        let own = self.own.lock().map(|mut own| std::mem::take(&mut *own));
        drop(own);
    }

    /// Goes `n` steps on. Long calls let other threads run and end at Ctrl-C, at the last step that was done.
    #[pyo3(signature = (n = None), text_signature = "($self, n=1)")]
    fn step(&self, py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let n: u64 = n.map_or(Ok(1), |n| count(n, "a number of steps"))?;
        let mut inner = self.inner(py)?;
        let inner = &mut *inner;
        let outcome = if n.saturating_mul(self.cost) <= SHORT || self.has_own && n == 1 {
            guard(py, || advance(inner, n))?
        } else {
            let (outcome, raised) = perform(py, None, |stop| {
                inner.heed(Some(stop));
                let outcome = advance(inner, n);
                inner.heed(None);
                outcome
            })?;
            match raised {
                Some(raised) => return Err(raised),
                None => outcome?,
            }
        };
        outcome.map_err(|error| error::run(py, &error))
    }

    #[getter]
    /// Time now, s.
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner(py)?.time())
    }

    #[getter]
    /// Steps done.
    fn steps_done(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.inner(py)?.steps_done())
    }

    #[getter]
    /// Names of all columns, for `signal`.
    fn columns(&self) -> Vec<String> {
        self.names.columns().names().to_vec()
    }

    #[getter]
    /// Names of the bodies.
    fn bodies(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let inner = self.inner(py)?;
        Ok(inner.scenario().bodies.iter().map(|(name, _)| name.clone()).collect())
    }

    #[getter]
    /// Names of the elements.
    fn elements(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let inner = self.inner(py)?;
        Ok(inner.scenario().elements.iter().map(|(name, _)| name.clone()).collect())
    }

    #[getter]
    /// The step, s.
    fn step_size(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner(py)?.built().network.step)
    }

    #[getter]
    /// The duration of the scenario, s; stepping may go beyond.
    fn duration(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner(py)?.scenario().simulation.duration)
    }

    /// Position of a body: a float, or an array of its axes or joints (a rigid body: x, y, z and the quaternion w, x, y, z); `"arm.elbow"` is one joint.
    fn position<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (name.py(), argument(name, "a name")?);
        let inner = self.inner(py)?;
        match self.names.moving(py, name, "position")? {
            Moving::Body(body) => shown(py, inner.position(body)),
            Moving::Column(column) => shown(py, &[self.names.columns().value(&inner, column)]),
        }
    }

    /// Velocity of a body: a float, or an array (a rigid body: velocity and angular velocity in world axes); `"arm.elbow"` is one joint.
    fn velocity<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (name.py(), argument(name, "a name")?);
        let inner = self.inner(py)?;
        match self.names.moving(py, name, "velocity")? {
            Moving::Body(body) => shown(py, inner.velocity(body)),
            Moving::Column(column) => shown(py, &[self.names.columns().value(&inner, column)]),
        }
    }

    /// Force of an element on its first body in the last step.
    fn force<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (name.py(), argument(name, "a name")?);
        shown(py, self.inner(py)?.force(self.names.element(py, name)?))
    }

    /// `"stick"`, `"slip"` or `"open"`: what an element did in the last step.
    fn mode(&self, name: &Bound<'_, PyAny>) -> PyResult<&'static str> {
        let (py, name) = (name.py(), argument(name, "a name")?);
        let element = self.names.element(py, name)?;
        Ok(mode_name(self.inner(py)?.mode(element)))
    }

    /// Value of any column now, as it would stand in the trace.
    fn signal(&self, name: &Bound<'_, PyAny>) -> PyResult<f64> {
        let (py, name) = (name.py(), argument(name, "a name")?);
        Ok(self
            .names
            .columns()
            .value(&*self.inner(py)?, self.names.column(py, name)?))
    }

    /// The contacts that were found between shapes in the last step, a dict each: `first`, `second`, `point`, `normal` (towards the first),
    /// `force` on the first, `slip` (velocity of the first over the second), `gap` at the start of the step, `mode`.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        contacts_of(py, &*self.inner(py)?)
    }

    /// Takes an actuator over: it gives this value from now on.
    fn set(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let value: Numbers<'_> = numbers(value, "a number, or a list of numbers")?;
        let (element, axes) = self.names.actuator(py, name)?;
        let several;
        let values = match &value {
            Numbers::One(value) => std::slice::from_ref(value),
            value => {
                several = value.list();
                &several
            }
        };
        check_values(py, name, axes, values.len(), values)?;
        let inner = &mut *self.inner(py)?;
        for (axis, value) in values.iter().enumerate() {
            inner.set_actuator(element, axis, *value);
        }
        Ok(())
    }

    /// Puts a body elsewhere.
    fn set_position(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let value: Numbers<'_> = numbers(value, "a number, or a list of numbers")?;
        let body = self.names.body(py, name)?;
        let outcome = self.inner(py)?.set_position(body, &value.list());
        outcome.map_err(|error| error::plain(py, &error.to_string()))
    }

    /// Gives a body another velocity.
    fn set_velocity(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let value: Numbers<'_> = numbers(value, "a number, or a list of numbers")?;
        let body = self.names.body(py, name)?;
        let outcome = self.inner(py)?.set_velocity(body, &value.list());
        outcome.map_err(|error| error::plain(py, &error.to_string()))
    }

    /// A copy that goes on with the same bytes.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        guard(py, || {
            let own = self
                .own
                .lock()
                .map(|own| own.iter().map(|element| element.clone_ref(py)).collect());
            Ok(Simulation {
                inner: Single::new(self.inner(py)?.clone()),
                names: Arc::clone(&self.names),
                own: Mutex::new(own.unwrap_or_default()),
                has_own: self.has_own,
                cost: self.cost,
            })
        })
    }

    /// Goes back to the start.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.inner(py)?.reset();
        Ok(())
    }

    #[getter]
    /// Everything that carries from step to step, as bytes; set it to go on from there, also in another process.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner(py)?.snapshot().to_bytes()))
    }

    #[setter]
    fn set_state(&self, bytes: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, bytes): (_, &[u8]) = (bytes.py(), argument(bytes, "bytes of a state")?);
        let inner = &mut *self.inner(py)?;
        let outcome = guard(py, || {
            Ok(Snapshot::from_bytes(bytes).and_then(|snapshot| inner.restore(&snapshot)))
        })?;
        outcome.map_err(|error| error::plain(py, &error.to_string()))
    }
}

/// Refuses values of an actuator of which there are not as many as axes, or that are no numbers: a call that fails changes nothing.
pub fn check_values(py: Python<'_>, name: &str, axes: usize, given: usize, values: &[f64]) -> PyResult<()> {
    if given != axes {
        let message = format!("the actuator \"{name}\" takes a value for each of its axes: {axes}, found {given}");
        return Err(error::plain(py, &message));
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => {
            let message = format!("the value of \"{name}\" must be a finite number, found {value}");
            Err(error::plain(py, &message))
        }
        None => Ok(()),
    }
}
