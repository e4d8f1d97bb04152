//! Rigid contact through a massless proxy behind a spring and a damper, by its own backward Euler rule over the step of
//! a stage (seed 001, eq 13).
//!
//! 0 ∈ K·(e + β·ė) − dio(p + e), f ∈ dio(p + e): the proxy at p + e may not enter the obstacle. With ė = (e⁺ − e)/τ and the
//! gap p⁺ = p + τ·ṗ at the end of the stage, eq 5 gives
//!
//! f = K·(1 + β/τ)·max(0, −p⁺ − e·β/(β + τ)),  e⁺ = max(−p⁺, e·β/(β + τ))
//!
//! While it pushes this is a Kelvin-Voigt contact with the gap at the end of the stage; it begins and ends without a jump
//! and never pulls. There is no limit τ → 0: it is not a differential equation.

use super::Normal;
use crate::scalar::Real;

/// The proxy contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proxy<R> {
    /// Stiffness K.
    pub stiffness: R,
    /// Time constant β: damping over stiffness.
    pub beta: R,
}

impl<R: Real> Normal<R> for Proxy<R> {
    const STATES: usize = 1;

    #[inline(always)]
    fn respond(&self, gap: R, gap_rate: R, state: &[R], tau: R, rate: &mut [R]) -> R {
        let depth = -(gap + tau * gap_rate);
        let relaxed = state[0] * (self.beta / (self.beta + tau));
        rate[0] = (depth.max(relaxed) - state[0]) / tau;
        self.stiffness * (R::one() + self.beta / tau) * R::zero().max(depth - relaxed)
    }

    #[inline(always)]
    fn stored(&self, _gap: R, state: &[R]) -> R {
        self.stiffness * R::lit(0.5) * state[0] * state[0]
    }
}
