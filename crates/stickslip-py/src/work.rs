//! Long work: without the interpreter's lock, ended by Ctrl-C, panics kept away from Python.

use crate::error;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;
use stickslip::Stop;

/// Time between two looks for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(20);

/// How far the work is, and whom to tell.
pub struct Progress {
    /// Called with a part from 0 to 1, now and then; `None` if nobody wants to know.
    pub tell: Option<Py<PyAny>>,
    /// Counts what is done.
    pub done: AtomicU64,
    /// Of so many.
    pub total: AtomicU64,
}

impl Progress {
    /// Work before anything is done.
    pub fn new(tell: Option<Py<PyAny>>) -> Self {
        Progress {
            tell,
            done: AtomicU64::new(0),
            total: AtomicU64::new(1),
        }
    }

    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let [done, total] = [&self.done, &self.total].map(|count| count.load(Ordering::Relaxed) as f64);
        match &self.tell {
            Some(tell) => tell.call1(py, (done / total.max(1.0),)).map(drop),
            None => Ok(()),
        }
    }
}

/// Does the work in a thread of its own while this one looks for signals, which Python handles in its first thread only. Once there
/// is one the flag is set, and the work ends with what it has: the second part is then what the handler raised.
pub fn perform<T: Send>(
    py: Python<'_>,
    progress: Option<&Progress>,
    work: impl FnOnce(&Stop) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let stop = Stop::default();
    let mut raised = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let stop = &stop;
            let worker = std::thread::Builder::new().spawn_scoped(scope, move || {
                // Known to Python from here on, without its lock: elements of the user's own call it many times, and being made known is slow.
                let outcome = catch_unwind(AssertUnwindSafe(|| Python::attach(|py| py.detach(|| work(stop)))));
                let _ = sender.send(());
                outcome
            });
            let worker = worker.map_err(|error| Box::new(error.to_string()) as Box<dyn Any + Send>)?;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(GLANCE) {
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    match progress {
                        Some(progress) => progress.show(py),
                        None => Ok(()),
                    }
                });
                if let Err(error) = told
                    && raised.is_none()
                {
                    raised = Some(Python::attach(|py| error::interrupted(py, error)));
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join().and_then(|outcome| outcome)
        })
    });
    match outcome {
        Ok(value) => Ok((value, raised)),
        Err(panic) => Err(broken(py, &*panic)),
    }
}

/// As [`perform`] for work without results that could be kept: Ctrl-C raises what its handler raised.
pub fn perform_whole<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    match perform(py, None, work)? {
        (_, Some(raised)) => Err(raised),
        (value, None) => Ok(value),
    }
}

/// What one call at a time may use. A long call lets other threads run, which may then ask for the same simulation.
pub struct Single<T>(Mutex<T>);

impl<T> Single<T> {
    /// Around a value.
    pub fn new(value: T) -> Self {
        Single(Mutex::new(value))
    }

    /// The value, unless another call has it. It does not wait: an element of the user's own that asks the simulation it is part of would
    /// wait for ever.
    pub fn take(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(value) => Ok(value),
            // Panics end inside of what holds the value, and leave it as the last good step did.
            Err(TryLockError::Poisoned(value)) => Ok(value.into_inner()),
            Err(TryLockError::WouldBlock) => Err(error::plain(
                py,
                "another call is stepping this simulation\nhelp: give every thread its own, with copy()",
            )),
        }
    }
}

/// Short work in this thread; a panic becomes an exception of the package.
pub fn guard<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome,
        Err(panic) => Err(broken(py, &*panic)),
    }
}

fn broken(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    let words = words.unwrap_or_else(|| "no reason was given".to_string());
    error::plain(
        py,
        &format!("internal error: {words}\nhelp: this is a defect of stickslip; please report it with the scenario"),
    )
}
