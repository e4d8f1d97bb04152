//! Stops: a compliant end of travel, lower ≤ r₁·q₁ − r₂·q₂ ≤ upper.

use super::{Elements, Mode, Observation};
use crate::network::port::Pair;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;
use stickslip_core::contact::Normal;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::scalar::{Dual, Real};

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

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        for stop in &self.0 {
            let [position] = stop.pair.position::<1>(tangent.state);
            let [velocity] = stop.pair.velocity::<1>(tangent.state);
            let law = KelvinVoigt {
                stiffness: Dual::<f64, 2>::lit(stop.normal.stiffness),
                damping: Dual::lit(stop.normal.damping),
            };
            // The force of either end by its own gap and the rate of that gap.
            let end = |gap: f64, rate: f64| {
                let (gap, rate) = (Dual::variable(gap, 0), Dual::variable(rate, 1));
                law.respond(gap, rate, &[], Dual::lit(0.0), &mut []).grad
            };
            let push = end(position - stop.lower, velocity);
            let pull = end(stop.upper - position, -velocity);
            tangent.add_stiffness(&stop.pair, 0, 0, push[0] + pull[0]);
            tangent.add_damping(&stop.pair, 0, 0, push[1] + pull[1]);
        }
        true
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for stop in &self.0 {
            stop.pair.regather::<1>(stage.state, &mut seen[stop.element]);
        }
    }
}
