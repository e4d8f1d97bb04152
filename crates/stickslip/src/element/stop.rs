//! Stops: a compliant end of travel, lower ≤ r₁·q₁ − r₂·q₂ ≤ upper.

use super::{Elements, Mode, Observation};
use crate::network::port::Pair;
use crate::network::stage::Stage;
use stickslip_core::contact::Normal;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;

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
    pub normal: KelvinVoigt<f64>,
}

/// Compliant stops.
#[derive(Clone, Debug, Default)]
pub struct Stops(pub Vec<Stop>);

impl Stops {
    #[inline(always)]
    fn run(&self, stage: &mut Stage<'_>, mut note: impl FnMut(&Stop, f64, f64, [f64; 2])) {
        for stop in &self.0 {
            let [position] = stop.pair.position::<1>(stage.state);
            let [velocity] = stop.pair.velocity::<1>(stage.state);
            let gaps = [position - stop.lower, stop.upper - position];
            let push = stop.normal.respond(gaps[0], velocity, &[], stage.tau, &mut []);
            let pull = stop.normal.respond(gaps[1], -velocity, &[], stage.tau, &mut []);
            let force = push - pull;
            stop.pair.scatter(stage.load, &[force]);
            stage.compression[stop.element] = force.abs();
            note(stop, force, velocity, gaps);
        }
    }
}

impl Elements for Stops {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage, |_, _, _, _| ());
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run(stage, |stop, force, velocity, gaps| {
            let gap = gaps[0].min(gaps[1]);
            seen[stop.element] = Observation {
                mode: if gap < 0.0 { Mode::Stick } else { Mode::Open },
                stored: stop.normal.stored(gap, &[]),
                normal: force.abs(),
                gap,
                ..Observation::of(&[force], &[velocity])
            };
        });
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for stop in &self.0 {
            stop.pair.regather::<1>(stage.state, &mut seen[stop.element]);
        }
    }
}
