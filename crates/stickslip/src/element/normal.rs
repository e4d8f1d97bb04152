//! The compliant normal force of a contact or a stop: one of the laws of `stickslip_core::contact`.

use stickslip_core::contact::Normal;
use stickslip_core::contact::hunt_crossley::HuntCrossley;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::contact::proxy::Proxy;
use stickslip_core::contact::relaxed::Relaxed;

/// A compliant contact law with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormalLaw {
    /// Spring and damper.
    KelvinVoigt(KelvinVoigt<f64>),
    /// Seed 001, eq 15.
    Relaxed(Relaxed<f64>),
    /// Seed 001, eq 13, by backward Euler.
    Proxy(Proxy<f64>),
    /// Damping that grows with the depth.
    HuntCrossley(HuntCrossley<f64>),
}

/// Runs an expression with the concrete law.
macro_rules! with_normal {
    ($law:expr, |$l:ident| $body:expr) => {
        match $law {
            NormalLaw::KelvinVoigt($l) => $body,
            NormalLaw::Relaxed($l) => $body,
            NormalLaw::Proxy($l) => $body,
            NormalLaw::HuntCrossley($l) => $body,
        }
    };
}

impl NormalLaw {
    /// Number of states for each touching point.
    pub fn states(&self) -> usize {
        fn of<L: Normal<f64>>(_: &L) -> usize {
            L::STATES
        }
        with_normal!(self, |law| of(law))
    }

    /// The state of a contact that has been resting at this gap: e = −gap, which the laws with a state then keep.
    pub fn rest(gap: f64) -> f64 {
        f64::max(0.0, -gap)
    }

    /// Normal force and the rates of the states.
    #[inline]
    pub fn respond(&self, gap: f64, gap_rate: f64, state: &[f64], tau: f64, rate: &mut [f64]) -> f64 {
        with_normal!(self, |law| law.respond(gap, gap_rate, state, tau, rate))
    }

    /// Elastic energy held.
    pub fn stored(&self, gap: f64, state: &[f64]) -> f64 {
        with_normal!(self, |law| law.stored(gap, state))
    }
}
