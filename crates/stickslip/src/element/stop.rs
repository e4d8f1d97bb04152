//! Stops: a compliant end of travel, lower ≤ r₁·q₁ − r₂·q₂ ≤ upper.

use super::normal::AnyNormal;
use super::{Elements, Mode, Observation};
use crate::network::port::Pair;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;
use std::ops::Range;

/// A compliant stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Number of the element in the network.
    pub element: usize,
    /// What it limits.
    pub pair: Pair,
    /// Lowest position, or minus infinity.
    pub lower: f64,
    /// Highest position, or infinity.
    pub upper: f64,
    /// The force.
    pub normal: AnyNormal,
    /// Where the states begin: those of the lower end, then those of the upper.
    pub state: usize,
}

impl Stop {
    /// The states of the lower (0) or upper (1) end.
    pub(crate) fn states(&self, end: usize) -> Range<usize> {
        let count = self.normal.states();
        let first = self.state + end * count;
        first..first + count
    }
}

/// Compliant stops.
#[derive(Clone, Debug, Default)]
pub struct Stops(pub Vec<Stop>);

impl Stops {
    #[inline(always)]
    fn run(&self, stage: &mut Stage<'_>, mut note: impl FnMut(&Stop, &Stage<'_>, [f64; 2], f64, [f64; 2])) {
        for stop in &self.0 {
            let [position] = stop.pair.position::<1>(stage.state);
            let [velocity] = stop.pair.velocity::<1>(stage.state);
            let gaps = [position - stop.lower, stop.upper - position];
            let normals = [0, 1].map(|end| {
                let gap_rate = if end == 0 { velocity } else { -velocity };
                let own = stop.states(end);
                let tau = stage.contact_step();
                let (state, rate) = (&stage.state[own.clone()], &mut stage.rate[own]);
                stop.normal.respond(gaps[end], gap_rate, state, tau, rate)
            });
            stop.pair.scatter(stage.load, &[normals[0] - normals[1]]);
            stage.compression[stop.element] = normals[0].max(0.0) + normals[1].max(0.0);
            note(stop, stage, normals, velocity, gaps);
        }
    }
}

impl Elements for Stops {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage, |_, _, _, _, _| ());
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run(stage, |stop, stage, normals, velocity, gaps| {
            let stored = |end: usize| stop.normal.stored(gaps[end], &stage.state[stop.states(end)]);
            let open = normals == [0.0; 2];
            seen[stop.element] = Observation {
                mode: if open { Mode::Open } else { Mode::Stick },
                stored: stored(0) + stored(1),
                normal: normals[0] + normals[1],
                gap: gaps[0].min(gaps[1]),
                ..Observation::of(&[normals[0] - normals[1]], &[velocity])
            };
        });
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        for stop in &self.0 {
            let [position] = stop.pair.position::<1>(tangent.state);
            let [velocity] = stop.pair.velocity::<1>(tangent.state);
            let gaps = [position - stop.lower, stop.upper - position];
            for (end, sign) in [1.0, -1.0].into_iter().enumerate() {
                // The force of either end by its own gap, the rate of that gap, and its state.
                let own = stop.states(end);
                let state = &tangent.state[own.clone()];
                let [force, state_rate] = stop.normal.tangent(gaps[end], sign * velocity, state, tangent.tau);
                tangent.add_stiffness(&stop.pair, 0, 0, force[0]);
                tangent.add_damping(&stop.pair, 0, 0, force[1]);
                for state in own {
                    tangent.add_force(&stop.pair, 0, state, sign * force[2]);
                    tangent.add_position_rate(state, &stop.pair, 0, sign * state_rate[0]);
                    tangent.add_rate(state, &stop.pair, 0, sign * state_rate[1]);
                    tangent.add(state, state, state_rate[2]);
                }
            }
        }
        true
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for stop in &self.0 {
            stop.pair.regather::<1>(stage.state, &mut seen[stop.element]);
        }
    }
}
