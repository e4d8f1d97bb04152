//! The compliant normal force of a contact or a stop: one of the laws of `stickslip_core::contact`.

use stickslip_core::contact::Normal;
use stickslip_core::contact::hunt_crossley::HuntCrossley;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::contact::proxy::Proxy;
use stickslip_core::contact::relaxed::Relaxed;
use stickslip_core::scalar::{Dual, Real};

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

    /// Derivatives of the normal force and of the rate of the state, each with respect to the gap, its rate and the state,
    /// for the laws that are differential equations (stage step 0).
    pub fn tangent(&self, gap: f64, gap_rate: f64, state: &[f64]) -> [[f64; 3]; 2] {
        fn of<L: Normal<Dual<f64, 3>>>(law: L, gap: f64, gap_rate: f64, state: &[f64]) -> [[f64; 3]; 2] {
            let state = [Dual::variable(state.first().copied().unwrap_or(0.0), 2)];
            let mut rate = [Dual::lit(0.0)];
            let (gap, gap_rate) = (Dual::variable(gap, 0), Dual::variable(gap_rate, 1));
            let force = law.respond(
                gap,
                gap_rate,
                &state[..L::STATES],
                Dual::lit(0.0),
                &mut rate[..L::STATES],
            );
            [force.grad, rate[0].grad]
        }
        match *self {
            NormalLaw::KelvinVoigt(KelvinVoigt { stiffness, damping }) => {
                let [stiffness, damping] = [stiffness, damping].map(Dual::lit);
                of(KelvinVoigt { stiffness, damping }, gap, gap_rate, state)
            }
            NormalLaw::Relaxed(Relaxed { stiffness, beta, alpha }) => {
                let [stiffness, beta, alpha] = [stiffness, beta, alpha].map(Dual::lit);
                of(Relaxed { stiffness, beta, alpha }, gap, gap_rate, state)
            }
            NormalLaw::HuntCrossley(HuntCrossley {
                stiffness,
                damping,
                exponent,
            }) => {
                let [stiffness, damping, exponent] = [stiffness, damping, exponent].map(Dual::lit);
                let law = HuntCrossley {
                    stiffness,
                    damping,
                    exponent,
                };
                of(law, gap, gap_rate, state)
            }
            // It is no differential equation, and the methods that ask for derivatives do not run it.
            NormalLaw::Proxy(_) => [[0.0; 3]; 2],
        }
    }
}
