//! Rigid contact through a massless proxy behind a spring and a damper, by its own backward Euler rule over the step of
//! a stage (Xiong, Kikuuwe and Yamamoto, eq 13).
//!
//! 0 ∈ K·(e + β·ė) − dio(p + e), f ∈ dio(p + e): the proxy at p + e may not enter the obstacle. With ė = (e⁺ − e)/τ and the
//! gap p⁺ = p + τ·ṗ at the end of the stage, eq 5 gives
//!
//! f = K·(1 + β/τ)·max(0, −p⁺ − e·β/(β + τ)),  e⁺ = max(−p⁺, e·β/(β + τ))
//!
//! While it pushes this is a Kelvin-Voigt contact with the gap at the end of the stage; it begins and ends without a jump
//! and never pulls. The limit τ → 0 is a differential equation, in which the proxy stays outside (e ≥ −p):
//!
//! - p + e > 0: the proxy is free, f = 0 and ė = −e/β;
//! - p + e = 0: it rests on the obstacle, f = K·max(0, −p − β·ṗ) and ė = max(−e/β, −ṗ).
//!
//! Its force jumps at touch-down as that of Kelvin-Voigt does, and ends without a jump. An integrator meets the edge
//! p + e = 0 to its tolerance only, so a proxy inside the obstacle counts as resting, and the force does not depend on how
//! far inside it is. Just above the edge (1e-7 of the way β·|ṗ| + e that an impact goes) the proxy changes from free to
//! resting in proportion, so that rounding does not make a proxy that rests a free one. Derivatives leave that proportion
//! as it is: a slope of 1e7 that lasts for 1e-7 of the way would tell an implicit method nothing of its next step, and let
//! it think every error small.

use super::{Normal, NormalLaw};
use crate::scalar::Real;

/// The proxy contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proxy<R> {
    /// Stiffness K.
    pub stiffness: R,
    /// Time constant β: damping over stiffness.
    pub beta: R,
}

/// Height of the change from free to resting over β·|ṗ| + e: far above rounding, far below what a tolerance can tell.
const CHANGE: f64 = 1e-7;

impl<R: Real> Proxy<R> {
    /// Force and ė over a stage step τ > 0.
    #[inline(always)]
    fn over_step(&self, gap: R, gap_rate: R, e: R, tau: R) -> (R, R) {
        let depth = -(gap + tau * gap_rate);
        let relaxed = e * (self.beta / (self.beta + tau));
        let force = self.stiffness * (R::one() + self.beta / tau) * R::zero().max(depth - relaxed);
        (force, (depth.max(relaxed) - e) / tau)
    }

    /// Force and ė in the limit τ → 0.
    #[inline(always)]
    fn at_once(&self, gap: R, gap_rate: R, e: R) -> (R, R) {
        let above = R::zero().max(gap + e);
        let height = R::lit(CHANGE) * (self.beta * gap_rate.abs() + e);
        let part = above / R::select(R::zero().lt(height), height, R::one());
        let resting = R::select(
            above.lt(height),
            R::one() - part,
            R::select(above.le(R::zero()), R::one(), R::zero()),
        )
        .held();
        let force = self.stiffness * R::zero().max(-(gap + self.beta * gap_rate));
        let free = -e / self.beta;
        (resting * force, free + resting * (-gap_rate - free).max(R::zero()))
    }
}

impl<R: Real> Normal<R> for Proxy<R> {
    const STATES: usize = 1;

    #[inline(always)]
    fn respond(&self, gap: R, gap_rate: R, state: &[R], tau: R, rate: &mut [R]) -> R {
        let stepped = R::zero().lt(tau);
        let (force, e_rate) = self.over_step(gap, gap_rate, state[0], R::select(stepped, tau, R::one()));
        let (limit, limit_rate) = self.at_once(gap, gap_rate, state[0]);
        rate[0] = R::select(stepped, e_rate, limit_rate);
        R::select(stepped, force, limit)
    }

    #[inline(always)]
    fn stored(&self, _gap: R, state: &[R]) -> R {
        self.stiffness * R::lit(0.5) * state[0] * state[0]
    }
}

impl<R: Real> NormalLaw<R> for Proxy<R> {
    const NAME: &'static str = "proxy";

    type Of<U: Real> = Proxy<U>;

    #[inline(always)]
    fn map<U: Real>(&self, f: impl Fn(R) -> U) -> Proxy<U> {
        Proxy {
            stiffness: f(self.stiffness),
            beta: f(self.beta),
        }
    }

    fn elastic(&self) -> [R; 2] {
        [self.stiffness, R::one()]
    }
}
