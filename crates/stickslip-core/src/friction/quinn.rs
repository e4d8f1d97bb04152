//! Quinn's model: a continuous friction that balances the applied force at rest (the paper on model P, eq 9). A baseline: with an
//! applied force above the limit it can push a body across zero velocity, doing positive work.

use super::{Applied, AppliedLaw, OfNumbers, Slip, curve::Curve};
use crate::scalar::Real;
use crate::scalar::vector::{add, norm, scale};
use crate::sets::gsat;

/// Quinn's model.
#[derive(Clone, Copy, Debug)]
pub struct Quinn<R> {
    /// Width ε of the speeds over which the force changes sign.
    pub epsilon: R,
}

impl<R: Real> Quinn<R> {
    /// Force on the body from the velocity at the start of the step and the applied force h.
    ///
    /// With v̄ = v + ε·h/F (|h| ≤ F; else v + ε·h/|h|): f = −F·v̄/ε inside |v̄| ≤ ε, else −F·v̄/|v̄|. In one line:
    /// f = −gsat(F, F·v/ε + gsat(F, h)). The model is defined for Coulomb friction; F is the curve at this speed, in the direction
    /// of v, and at rest in that of h.
    #[inline]
    pub fn force<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, applied: [R; N]) -> [R; N] {
        let speed = norm(slip.velocity);
        let rests = speed.same(R::zero());
        let motion = core::array::from_fn(|i| R::select(rests, applied[i], slip.velocity[i]));
        let limit = curve.toward::<N>(motion).total(speed, slip.load);
        let v_bar = add(scale(slip.velocity, limit / self.epsilon), gsat(limit, applied));
        scale(gsat(limit, v_bar), -R::one())
    }

    /// Whether the law sticks: the speed is at most ε.
    #[inline]
    pub fn sticks<const N: usize>(&self, velocity: &[R; N]) -> R::Mask {
        norm(*velocity).le(self.epsilon)
    }
}

impl Applied for Quinn<f64> {
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, applied: [f64; N]) -> [f64; N] {
        Quinn::force(self, curve, slip, applied)
    }

    fn sticks<C: Curve<f64>, const N: usize>(&self, _curve: &C, slip: &Slip<f64, N>) -> bool {
        Quinn::sticks(self, &slip.velocity)
    }
}

impl AppliedLaw for Quinn<f64> {
    const NAME: &'static str = "quinn";
}

impl OfNumbers for Quinn<f64> {
    fn of(parameters: &[f64]) -> Self {
        Quinn { epsilon: parameters[0] }
    }
}
