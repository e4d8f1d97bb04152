//! Actuators: prescribed force or torque between two coordinates.

use super::{Elements, Observation};
use crate::network::abreast::{Kernel, RespondAbreast, Vectorised, WIDTH, Wide, common, join, of_one_kind};
use crate::network::port::Pair;
use crate::network::stage::{Coordinates, Stage};
use crate::network::tangent::Tangent;
use std::any::Any;
use stickslip_core::scalar::Real;

/// One axis of an actuator.
#[derive(Clone, Copy, Debug)]
pub struct Actuator<R = f64> {
    /// Number of the element in the network.
    pub element: usize,
    /// Which component of the element's force it is.
    pub axis: usize,
    /// What it acts between.
    pub pair: Pair<R>,
    /// The signal that gives its value.
    pub signal: usize,
}

/// All actuators.
#[derive(Clone, Debug, Default)]
pub struct Actuators<R = f64>(pub Vec<Actuator<R>>);

impl<R: Real> Actuators<R> {
    #[inline(always)]
    pub(crate) fn act(&self, at: Coordinates<'_, R>) {
        for actuator in &self.0 {
            actuator.pair.scatter(at.load, &[at.signals[actuator.signal]]);
        }
    }
}

impl Kernel<Coordinates<'_, Wide>> for Actuators<Wide> {
    #[inline(always)]
    fn run(&self, at: Coordinates<'_, Wide>) {
        self.act(at);
    }
}

impl Elements for Actuators {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.act(stage.coordinates());
    }

    fn abreast(&self, all: &[&dyn Elements; WIDTH]) -> Option<RespondAbreast> {
        let all = of_one_kind::<Self>(all.map(|group| group as &dyn Any))?;
        let actuators = join(all.map(|own| &own.0), |each| {
            Some(Actuator {
                element: common(each, |one| one.element)?,
                axis: common(each, |one| one.axis)?,
                pair: Pair::abreast(each.map(|one| &one.pair))?,
                signal: common(each, |one| one.signal)?,
            })
        })?;
        Some(Box::new(Vectorised(Actuators::<Wide>(actuators))))
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
