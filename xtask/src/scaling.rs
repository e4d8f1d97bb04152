//! What a second thread brings. Wall time counts here, and it says something only if both cores were really free: CPU time
//! over wall time shows how many cores the threads had.

use crate::bench::cpu_seconds;
use crate::root;
use serde_json::{Value, json};
use std::time::Instant;
use stickslip::Simulation;
use stickslip::scenario::Scenario;

/// Turns of each side; the fastest counts.
const TURNS: usize = 5;

/// Wall time per block and step of a chain by one thread and by two, taking turns, and the cores that the two had.
pub fn two_threads(name: &str) -> Result<Value, String> {
    let path = root().join("benches/scenarios").join(format!("{name}.toml"));
    let scenario = Scenario::read(&path, &[]).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let blocks = simulation.chain().map_or(1, |(chain, _)| chain.count());
    let steps = simulation.built().steps;
    let mut best = [(f64::INFINITY, 0.0); 2];
    for _ in 0..TURNS {
        for (threads, best) in (1..).zip(&mut best) {
            simulation.use_threads(threads);
            let (wall, cpu) = (Instant::now(), cpu_seconds());
            simulation.advance(steps).map_err(|error| error.to_string())?;
            let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
            if wall < best.0 {
                *best = (wall, cpu / wall);
            }
        }
    }
    let each = |seconds: f64| seconds * 1e9 / (steps as f64 * blocks as f64);
    let [one, two] = best;
    Ok(json!({
        "name": name,
        "one_thread_ns": each(one.0),
        "two_threads_ns": each(two.0),
        "speedup": one.0 / two.0,
        "cores_obtained": two.1,
    }))
}
