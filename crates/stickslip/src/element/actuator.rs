//! Actuators: prescribed force or torque between two coordinates.

use super::{Elements, Observation};
use crate::network::port::Pair;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;

/// One axis of an actuator.
#[derive(Clone, Copy, Debug)]
pub struct Actuator {
    /// Number of the element in the network.
    pub element: usize,
    /// Which component of the element's force it is.
    pub axis: usize,
    /// What it acts between.
    pub pair: Pair,
    /// The signal that gives its value.
    pub signal: usize,
}

/// All actuators.
#[derive(Clone, Debug, Default)]
pub struct Actuators(pub Vec<Actuator>);

impl Actuators {
    #[inline(always)]
    pub(crate) fn run(&self, stage: &mut Stage<'_>) {
        for actuator in &self.0 {
            actuator.pair.scatter(stage.load, &[stage.signals[actuator.signal]]);
        }
    }
}

impl Elements for Actuators {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.respond(stage);
        for actuator in &self.0 {
            seen[actuator.element].force[actuator.axis] = stage.signals[actuator.signal];
        }
        self.regather(stage, seen);
    }

    fn tangent(&self, _tangent: &mut Tangent<'_>) -> bool {
        // The force does not depend on the state.
        true
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for actuator in &self.0 {
            seen[actuator.element].power = 0.0;
        }
        for actuator in &self.0 {
            let [velocity] = actuator.pair.velocity::<1>(stage.state);
            let seen = &mut seen[actuator.element];
            seen.velocity[actuator.axis] = velocity;
            seen.power += seen.force[actuator.axis] * velocity;
        }
    }
}
