//! Many simulations at once: arrays over runs.

use crate::error::{self, argument, count};
use crate::simulation::{Moving, Names, check_values, step_cost};
use crate::source::{Source, of_any};
use crate::work::{Single, guard, perform, perform_whole};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use stickslip::memory::{held, in_units, lacking};
use stickslip::scenario::ScenarioError;
use stickslip::{Body, Element, RunError, SetError, Simulation, Snapshot};

/// Work of less than about this many ns is done at once, by one thread: to begin others takes a part of it.
const SHORT: u64 = 1_000_000;

/// Long work looks for Ctrl-C after about so many ns.
const PIECE: u64 = 20_000_000;

/// Many simulations at once: values are arrays over the runs.
///
/// `scenarios` is a list of scenarios, or of one scenario repeated: `[scenario] * 1000`. Runs of one kind go side by side in the
/// vector unit; long calls use several threads. Results are those of single simulations, to the last bit.
///
/// >>> import stickslip as ss
/// >>> cart = ss.Scenario(step=1e-3).mass("cart", 1.0).friction("rail", "cart", "ground", kinetic=5.0)
/// >>> batch = ss.Batch([cart.actuator("motor", "cart", "ground")] * 3)
/// >>> batch.set("motor", [2.0, 5.0, 8.0])
/// >>> batch.step(1000)
/// >>> batch.velocity("cart").round(9)  # only the last is above the friction of 5 N
/// array([0., 0., 3.])
#[pyclass(module = "stickslip", frozen)]
pub struct Batch {
    runs: Single<Vec<Simulation>>,
    names: Arc<[Names]>,
    /// Which of the names belong to a run.
    named: Vec<usize>,
    threads: usize,
    cost: u64,
}

/// One number a run, or a row of numbers a run.
#[derive(FromPyObject)]
enum Values<'py> {
    One(f64),
    Each(PyReadonlyArray1<'py, f64>),
    Rows(PyReadonlyArray2<'py, f64>),
    List(Vec<f64>),
    Lists(Vec<Vec<f64>>),
}

impl Values<'_> {
    /// The numbers run by run, and how many there are of each; 0 where the rows are not of one length.
    fn flat(self, runs: usize) -> (Vec<f64>, usize) {
        match self {
            Self::One(value) => (vec![value; runs], 1),
            Self::Each(values) => (values.as_array().to_vec(), 1),
            Self::List(values) => (values, 1),
            Self::Rows(values) => (values.as_array().iter().copied().collect(), values.as_array().ncols()),
            Self::Lists(rows) => {
                let width = rows.first().map_or(0, Vec::len);
                let even = rows.iter().all(|row| row.len() == width);
                (rows.concat(), if even { width } else { 0 })
            }
        }
    }
}

impl Batch {
    fn runs(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Vec<Simulation>>> {
        self.runs.take(py)
    }

    /// Numbers of all runs: an array over runs, with a second axis where there are several numbers each.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        get: impl Fn(&Simulation, &Names) -> PyResult<Vec<f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let runs = self.runs(py)?;
        let mut all = Vec::with_capacity(runs.len());
        let mut width = None;
        for (run, &named) in runs.iter().zip(&self.named) {
            let numbers = get(run, &self.names[named])?;
            if *width.get_or_insert(numbers.len()) != numbers.len() {
                return Err(error::plain(
                    py,
                    &format!("the {what} has another number of axes in other runs"),
                ));
            }
            all.extend(numbers);
        }
        match width.unwrap_or(1) {
            1 => Ok(all.into_pyarray(py).into_any()),
            width => {
                let rows = Array2::from_shape_vec((runs.len(), width), all);
                let rows = rows.map_err(|error| error::plain(py, &error.to_string()))?;
                Ok(rows.into_pyarray(py).into_any())
            }
        }
    }

    /// One number of each run, without a list for each; what the name stands for is found once for each kind of run.
    fn column<'py, Handle: Copy>(
        &self,
        py: Python<'py>,
        find: impl Fn(&Names) -> PyResult<Handle>,
        get: impl Fn(&Simulation, &Names, Handle) -> Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let handles: Vec<Handle> = self.names.iter().map(find).collect::<PyResult<_>>()?;
        let runs = self.runs(py)?;
        let array = PyArray1::zeros(py, runs.len(), false);
        {
            let mut room = array.readwrite();
            let room = room.as_slice_mut()?;
            for ((place, run), &named) in room.iter_mut().zip(&*runs).zip(&self.named) {
                match get(run, &self.names[named], handles[named]) {
                    Some(value) => *place = value,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(array.into_any()))
    }

    /// Position, or velocity if `rate`, of what has one of each in every run.
    fn motion<'py>(&self, py: Python<'py>, name: &str, rate: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        let find = |names: &Names| names.moving(py, name, ["position", "velocity"][usize::from(rate)]);
        let handles: Vec<Moving> = self.names.iter().map(find).collect::<PyResult<_>>()?;
        let bodies: Option<Vec<Body>> = handles.iter().map(|moving| moving.body()).collect();
        let Some(bodies) = bodies else {
            return self.column(py, find, |run, names, moving| match moving {
                Moving::Body(body) if rate => only(run.velocity(body)),
                Moving::Body(body) => only(run.position(body)),
                Moving::Column(column) => Some(names.columns().value(run, column)),
            });
        };
        let runs = self.runs(py)?;
        let array = PyArray1::zeros(py, runs.len(), false);
        let all = {
            let mut room = array.readwrite();
            let runs = runs.iter().zip(self.named.iter().map(|&named| bodies[named]));
            stickslip::batch::coordinates(runs, rate, room.as_slice_mut()?)
        };
        Ok(all.then_some(array.into_any()))
    }

    /// Numbers of runs that are there; all, if none are named.
    fn which(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        let count = self.named.len();
        let Some(which) = which else {
            return Ok((0..count).collect());
        };
        let which: Vec<usize> = argument(which, "numbers of runs")?;
        match which.iter().find(|run| **run >= count) {
            Some(run) => Err(error::plain(py, &format!("there is no run {run} among {count}"))),
            None => Ok(which),
        }
    }

    /// Refuses numbers that are not one, or one row, for each of so many runs.
    fn check_count(&self, py: Python<'_>, name: &str, numbers: &[f64], width: usize, runs: usize) -> PyResult<()> {
        if width > 0 && numbers.len() == runs * width {
            return Ok(());
        }
        let given = numbers.len() / width.max(1);
        let message = format!("there are {runs} runs, and {given} values for \"{name}\"");
        Err(error::plain(py, &message))
    }

    /// Gives a body another position or velocity. A call that fails changes no run.
    fn put(
        &self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        which: Option<&Bound<'_, PyAny>>,
        put: impl Fn(&mut Simulation, Body, &[f64]) -> Result<(), SetError>,
    ) -> PyResult<()> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let value: Values<'_> = error::numbers(value, "a number, one number a run, or a row of numbers a run")?;
        let which = self.which(py, which)?;
        let bodies: Vec<Body> = self
            .names
            .iter()
            .map(|names| names.body(py, name))
            .collect::<PyResult<_>>()?;
        let (numbers, width) = value.flat(which.len());
        self.check_count(py, name, &numbers, width, which.len())?;
        let mut runs = self.runs(py)?;
        guard(py, || {
            let mut changed = Vec::with_capacity(which.len());
            for (&run, numbers) in which.iter().zip(numbers.chunks(width)) {
                let mut simulation = runs[run].clone();
                put(&mut simulation, bodies[self.named[run]], numbers)
                    .map_err(|error| error::plain(py, &format!("run {run}: {error}")))?;
                changed.push(simulation);
            }
            for (run, simulation) in which.into_iter().zip(changed) {
                runs[run] = simulation;
            }
            Ok(())
        })
    }

    fn failed(&self, py: Python<'_>, failed: &[(usize, RunError)]) -> PyResult<()> {
        let Some((run, error)) = failed.first() else {
            return Ok(());
        };
        let error = error::run(py, error);
        let text = format!("run {run}: {}", error.value(py));
        let value = error.value(py);
        value.setattr("args", (text,))?;
        value.setattr("runs", failed.iter().map(|(run, _)| *run).collect::<Vec<_>>())?;
        Err(error)
    }
}

/// Less memory than this says nothing about what a run takes, bytes.
const MEANINGFUL: u64 = 1 << 20;

/// Copies of simulations, as many as there are; refused once it is known that there is no memory for all of them.
fn copies<'a>(py: Python<'_>, runs: impl ExactSizeIterator<Item = &'a Simulation>) -> PyResult<Vec<Simulation>> {
    let total = runs.len() as u64;
    let refuse = |missing: String| {
        let message = format!("{total} runs take {missing}\nhelp: use several batches, one after the other");
        Err(error::plain(py, &message))
    };
    let mut copies: Vec<Simulation> = Vec::new();
    let bytes = total.saturating_mul(size_of::<Simulation>() as u64);
    if let Some(missing) = lacking(bytes) {
        return refuse(format!("more than {missing}"));
    }
    if copies.try_reserve_exact(runs.len()).is_err() {
        return refuse(format!(
            "more than {} of memory, which the system does not give",
            in_units(bytes)
        ));
    }
    let before = held();
    for run in runs {
        let done = copies.len() as u64;
        // What they hold beside themselves is seen in those that are there.
        if done.is_power_of_two()
            && let (Some(before), Some(now)) = (before, held())
        {
            let taken = now.saturating_sub(before);
            let more = (total - done).saturating_mul(taken / done);
            if taken > MEANINGFUL && lacking(more).is_some() {
                let all = total.saturating_mul(taken / done);
                return refuse(lacking(all).unwrap_or_else(|| in_units(all)));
            }
        }
        copies.push(run.clone());
    }
    Ok(copies)
}

fn only(numbers: &[f64]) -> Option<f64> {
    match numbers {
        [one] => Some(*one),
        _ => None,
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (scenarios, threads = None))]
    fn new(scenarios: &Bound<'_, PyAny>, threads: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = scenarios.py();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads: usize = match threads {
            Some(given) => match count(given, "a number of threads")? {
                0 => return Err(error::wrong(py, given, "a number of threads of at least 1")),
                threads => threads,
            },
            None => cores(),
        };
        let given: Vec<Bound<'_, PyAny>> = match scenarios.cast::<pyo3::types::PyString>() {
            Ok(_) => return Err(error::wrong(py, scenarios, "a list of scenarios")),
            Err(_) => argument(scenarios, "a list of scenarios")?,
        };
        // One scenario many times is read once.
        let mut known: HashMap<usize, usize> = HashMap::new();
        let (mut sources, mut which): (Vec<Source>, Vec<usize>) = (Vec::new(), Vec::new());
        for scenario in &given {
            let number = match known.get(&(scenario.as_ptr() as usize)) {
                Some(&number) => number,
                None => {
                    sources.push(of_any(scenario)?);
                    known.insert(scenario.as_ptr() as usize, sources.len() - 1);
                    sources.len() - 1
                }
            };
            which.push(number);
        }
        let built = perform_whole(py, |_| -> Result<Vec<Simulation>, (usize, ScenarioError)> {
            let patterns = sources.iter().enumerate().map(|(number, source)| {
                let simulation = source.scenario().and_then(Simulation::new);
                simulation.map_err(|error| (number, error))
            });
            patterns.collect()
        })?;
        let patterns = built.map_err(|(number, error)| sources[number].raise(py, error))?;
        guard(py, || {
            Ok(Batch {
                runs: Single::new(copies(py, which.iter().map(|number| &patterns[*number]))?),
                names: patterns.iter().map(Names::of).collect(),
                cost: patterns.iter().map(step_cost).max().unwrap_or(1),
                named: which,
                threads,
            })
        })
    }

    fn __len__(&self) -> usize {
        self.named.len()
    }

    /// Every run goes `n` steps on. Where runs fail the others go on; then the first failure is raised, with `runs`, the numbers of all that
    /// failed. Ctrl-C ends it at the last step that each run has done; `time` shows which.
    #[pyo3(signature = (n = None), text_signature = "($self, n=1)")]
    fn step(&self, py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let n: u64 = n.map_or(Ok(1), |n| count(n, "a number of steps"))?;
        let mut runs = self.runs(py)?;
        let (runs, threads, cost) = (&mut *runs, self.threads, self.cost);
        let work = (runs.len() as u64)
            .saturating_mul(n)
            .saturating_mul(self.cost.min(1_000_000) / 64 + 1);
        if work <= SHORT {
            let failed = guard(py, || Ok(stickslip::batch::advance(runs, n)))?;
            return self.failed(py, &failed);
        }
        let (failed, raised) = perform(py, None, |stop| {
            let share = runs.len().div_ceil(threads).max(1);
            let part = |(number, part): (usize, &mut [Simulation])| {
                part.iter_mut().for_each(|run| run.heed(Some(stop)));
                // Runs in lanes do not look at the flag on their way.
                let piece = (PIECE / (part.len() as u64).saturating_mul(cost).max(1)).max(256);
                let (mut failed, mut left) = (BTreeMap::new(), n);
                while left > 0 && !stop.load(Ordering::Relaxed) {
                    let steps = left.min(piece);
                    left -= steps;
                    for (run, error) in stickslip::batch::advance(part, steps) {
                        failed.entry(run).or_insert(error);
                    }
                }
                part.iter_mut().for_each(|run| run.heed(None));
                failed
                    .into_iter()
                    .map(move |(run, error)| (number * share + run, error))
                    .collect::<Vec<_>>()
            };
            std::thread::scope(|scope| {
                let parts: Vec<_> = runs
                    .chunks_mut(share)
                    .enumerate()
                    .map(|chunk| scope.spawn(move || part(chunk)))
                    .collect();
                let joined = parts
                    .into_iter()
                    .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                joined.flatten().collect::<Vec<_>>()
            })
        })?;
        match raised {
            Some(raised) => Err(raised),
            None => self.failed(py, &failed),
        }
    }

    #[getter]
    /// Times of the runs.
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let times = self.runs(py)?.iter().map(Simulation::time).collect();
        Ok(PyArray1::from_vec(py, times))
    }

    #[getter]
    /// Names of all columns of the first run.
    fn columns(&self) -> Vec<String> {
        self.names
            .first()
            .map_or(Vec::new(), |names| names.columns().names().to_vec())
    }

    /// Position of a body, or of a joint such as `"arm.elbow"`, in every run.
    fn position<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        match self.motion(py, name, false)? {
            Some(array) => Ok(array),
            None => self.gather(py, "position", |run, names| {
                Ok(run.position(names.body(py, name)?).to_vec())
            }),
        }
    }

    /// Velocity of a body, or of a joint such as `"arm.elbow"`, in every run.
    fn velocity<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        match self.motion(py, name, true)? {
            Some(array) => Ok(array),
            None => self.gather(py, "velocity", |run, names| {
                Ok(run.velocity(names.body(py, name)?).to_vec())
            }),
        }
    }

    /// Force of an element in every run.
    fn force<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let find = |names: &Names| names.element(py, name);
        let fast = self.column(py, find, |run, _, element| only(run.force(element)))?;
        match fast {
            Some(array) => Ok(array),
            None => self.gather(py, "force", |run, names| {
                Ok(run.force(names.element(py, name)?).to_vec())
            }),
        }
    }

    /// Value of a column in every run.
    fn signal<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let find = |names: &Names| names.column(py, name);
        let column = self.column(py, find, |run, names, column| Some(names.columns().value(run, column)))?;
        column.ok_or_else(|| error::plain(py, "there is no such column"))
    }

    /// Takes an actuator over in all runs: one value for all, one each, or a row of axes each.
    fn set(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, name): (_, &str) = (name.py(), argument(name, "a name")?);
        let value: Values<'_> = error::numbers(value, "a number, one number a run, or a row of numbers a run")?;
        let elements: Vec<(Element, usize)> = self
            .names
            .iter()
            .map(|names| names.actuator(py, name))
            .collect::<PyResult<_>>()?;
        let (numbers, width) = value.flat(self.named.len());
        self.check_count(py, name, &numbers, width, self.named.len())?;
        // Before any run is changed: a call that fails changes none.
        for (_, axes) in &elements {
            check_values(py, name, *axes, width, &numbers)?;
        }
        let mut runs = self.runs(py)?;
        for axis in 0..width {
            let elements = self.named.iter().map(|&named| elements[named].0);
            let values = numbers.iter().skip(axis).step_by(width).copied();
            if let Err(run) = stickslip::batch::set_actuators(runs.iter_mut().zip(elements), axis, values) {
                return Err(error::plain(py, &format!("run {run} has no actuator \"{name}\"")));
            }
        }
        Ok(())
    }

    /// A copy whose runs go on with the same bytes.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        guard(py, || {
            Ok(Batch {
                runs: Single::new(copies(py, self.runs(py)?.iter())?),
                names: Arc::clone(&self.names),
                named: self.named.clone(),
                threads: self.threads,
                cost: self.cost,
            })
        })
    }

    /// Puts a body elsewhere in all runs, or in those with these numbers: one value for all, one each, or a row of numbers each.
    #[pyo3(signature = (name, value, which = None))]
    fn set_position(
        &self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.put(name, value, which, Simulation::set_position)
    }

    /// Gives a body another velocity in all runs, or in those with these numbers: one value for all, one each, or a row of numbers each.
    #[pyo3(signature = (name, value, which = None))]
    fn set_velocity(
        &self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.put(name, value, which, Simulation::set_velocity)
    }

    /// Puts all runs, or those with these numbers, back to the start.
    #[pyo3(signature = (which = None))]
    fn reset(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let which = self.which(py, which)?;
        let mut runs = self.runs(py)?;
        guard(py, || {
            for run in which {
                runs[run].reset();
            }
            Ok(())
        })
    }

    #[getter]
    /// States of all runs, see `Simulation.state`.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let runs = self.runs(py)?;
        Ok(runs
            .iter()
            .map(|run| PyBytes::new(py, &run.snapshot().to_bytes()))
            .collect())
    }

    #[setter]
    fn set_state(&self, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, states): (_, Vec<Vec<u8>>) = (states.py(), argument(states, "a list of states")?);
        let mut runs = self.runs(py)?;
        if states.len() != runs.len() {
            let message = format!("there are {} runs, and {} states", runs.len(), states.len());
            return Err(error::plain(py, &message));
        }
        guard(py, || {
            let mut changed = copies(py, runs.iter())?;
            for (run, bytes) in changed.iter_mut().zip(states) {
                let outcome = Snapshot::from_bytes(&bytes).and_then(|snapshot| run.restore(&snapshot));
                outcome.map_err(|error| error::plain(py, &error.to_string()))?;
            }
            *runs = changed;
            Ok(())
        })
    }
}
