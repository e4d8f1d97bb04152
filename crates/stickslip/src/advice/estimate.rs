//! What a run will take: time by a short trial, memory and rows by counting.

use crate::scenario::{ElementSpec, Scenario, ScenarioError};
use crate::simulation::{RunError, Simulation};
use crate::stop::Stop;
use crate::trace::Columns;
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a run will take, about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Memory of the state and of the room to compute in, bytes.
    pub memory_bytes: u64,
    /// Computing time on this machine, s; `None` if the trial did not come far enough.
    pub seconds: Option<f64>,
    /// Rows of a trace with every step.
    pub rows: u64,
    /// Size of that trace as CSV, bytes.
    pub trace_bytes: u64,
    /// How the time was found, or why there is none.
    pub time_from: String,
}

/// Blocks of a chain or spheres that are moved to be looked at; more are like these.
const LOOKED_AT: usize = 10_000;
/// Computing time of the trial.
const TRIAL: Duration = Duration::from_millis(10);
/// When it is stopped within a step: a method that chooses its own steps may need very many of them for one.
const PATIENCE: Duration = Duration::from_millis(300);

/// A scenario built to be looked at: of very many blocks or spheres only the first move, though all are examined.
pub struct Glance {
    /// The simulation.
    pub simulation: Simulation,
    /// How many there are for each that was built.
    pub times: f64,
    /// How many blocks or spheres there are.
    pub count: usize,
}

impl Glance {
    /// Builds as much of a scenario as can be looked at in little time.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        let chain = scenario.chain.as_ref().map(|chain| chain.count);
        let spheres = scenario.spheres.as_ref().map(|spheres| spheres.count);
        let count = chain.or(spheres).unwrap_or(0);
        let times = count.max(1) as f64 / count.clamp(1, LOOKED_AT) as f64;
        let simulation = Simulation::of_the_first(scenario, LOOKED_AT)?;
        Ok(Glance {
            simulation,
            times,
            count,
        })
    }

    /// What a run will take, with these columns in its trace. The simulation goes on for a few steps.
    pub fn estimate(&mut self, columns: &Columns) -> Estimate {
        let simulation = &mut self.simulation;
        let steps = simulation.built().steps;
        let memory = memory(simulation, self.times);
        let mut row = Vec::new();
        columns.read(simulation, &mut row);
        let mut length = csv_length(&row);
        let stop = Stop::default();
        let (over, watched) = channel::<()>();
        let watch = std::thread::Builder::new().spawn({
            let stop = stop.clone();
            move || {
                if watched.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        // Without a thread to spare the trial takes as long as it takes.
        simulation.heed(watch.is_ok().then_some(&stop));
        let start = Instant::now();
        let mut failed = None;
        let mut pace = 1;
        while start.elapsed() < TRIAL && simulation.steps_done() < steps {
            let left = steps - simulation.steps_done();
            if let Err(error) = simulation.advance_observed(left.min(pace)) {
                failed = Some(error);
                break;
            }
            pace = (2 * pace).min(1024);
            columns.read(simulation, &mut row);
            length = length.max(csv_length(&row));
        }
        let elapsed = start.elapsed().as_secs_f64();
        drop(over);
        if let Ok(watch) = watch {
            let _ = watch.join();
        }
        simulation.heed(None);
        let done = simulation.steps_done();
        let seconds = (failed.is_none() && done > 0).then(|| elapsed / done as f64 * steps as f64 * self.times);
        let rows = steps.saturating_add(1);
        let elements = &simulation.scenario().elements;
        let meets = |element: &ElementSpec| {
            matches!(
                element,
                ElementSpec::Contact(_) | ElementSpec::Stop(_) | ElementSpec::Found(_)
            )
        };
        let meets = elements.iter().any(|(_, element)| meets(element));
        let time_from = match failed {
            Some(RunError::Stopped { .. }) => {
                format!("none: step {} takes longer than {} s", done + 1, PATIENCE.as_secs_f64())
            }
            Some(error) => format!("none: {}", error.to_string().lines().next().unwrap_or_default()),
            None if done == steps => "the whole run, which is short".to_string(),
            None if simulation.method().chooses_steps() => {
                format!("a guess: the first {done} of {steps} steps, and the method chooses shorter ones where it must")
            }
            None if simulation.crowd() => format!("the first {done} of {steps} steps, on one core"),
            None if meets => format!("the first {done} of {steps} steps; contacts that close later take longer"),
            None => format!("the first {done} of {steps} steps"),
        };
        Estimate {
            memory_bytes: memory,
            seconds: seconds.filter(|seconds| seconds.is_finite()),
            rows,
            trace_bytes: rows.saturating_mul(length),
            time_from,
        }
    }
}

/// Bytes of a row as CSV.
fn csv_length(row: &[f64]) -> u64 {
    row.iter().map(|value| value.to_string().len() as u64 + 1).sum()
}

/// The flat state with the buffers of a step, matrices of the largest island, and what stands for blocks and spheres.
fn memory(simulation: &Simulation, times: f64) -> u64 {
    let network = &simulation.built().network;
    let largest =
        |size: fn(&crate::network::implicit::Island) -> usize| network.islands.iter().map(size).max().unwrap_or(0);
    let (rows, size) = (largest(|island| island.rows), largest(|island| island.size));
    let numbers = 8 * network.layout.len() + 6 * rows * rows + 2 * rows * size + size * size;
    let links: usize = network.linkages.iter().map(|linkage| 100 * linkage.velocities).sum();
    let crowd = simulation.chain().map_or(0, |(chain, state)| state.bytes(chain))
        + simulation.spheres().map_or(0, |(_, state)| state.bytes());
    (8 * (numbers + links)) as u64 + (crowd as f64 * times) as u64
}
