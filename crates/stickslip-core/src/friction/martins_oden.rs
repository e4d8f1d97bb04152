//! Viscosity in place of dry friction near zero velocity (Martins and Oden; the paper on model P, eq 8). A baseline: it creeps
//! under any static load.

use super::{Bristle, FrictionLaw, Lift, OfNumbers, Slip, curve::Curve};
use crate::scalar::Real;
use crate::scalar::vector::{norm, scale};

/// The viscosity approximation.
#[derive(Clone, Copy, Debug)]
pub struct MartinsOden<R> {
    /// Speed ε below which the force is proportional to velocity.
    pub epsilon: R,
}

impl<R: Real> Bristle<R> for MartinsOden<R> {
    const STATES: usize = 0;

    /// f = −g(|v|)·v/max(|v|, ε).
    #[inline(always)]
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        _state: &[R],
        _tau: R,
        _rate: &mut [R],
    ) -> [R; N] {
        let speed = norm(slip.velocity);
        let force = curve.toward(slip.velocity).total(speed, slip.load);
        if N == 1 {
            // Beyond ε the magnitude is exact.
            let sliding = -force.copysign(slip.velocity[0]);
            let creeping = -force * slip.velocity[0] / self.epsilon;
            return [R::select(speed.lt(self.epsilon), creeping, sliding); N];
        }
        scale(slip.velocity, -force / speed.max(self.epsilon))
    }

    #[inline(always)]
    fn advance<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        self.respond(curve, slip, state, step, next)
    }

    fn stored<const N: usize>(&self, _state: &[R]) -> R {
        R::zero()
    }

    #[inline]
    fn sticks<C: Curve<R>, const N: usize>(&self, _curve: &C, slip: &Slip<R, N>, _state: &[R]) -> R::Mask {
        norm(slip.velocity).le(self.epsilon)
    }
}

impl Lift for MartinsOden<f64> {
    type Of<R: Real> = MartinsOden<R>;

    #[inline(always)]
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> MartinsOden<R> {
        MartinsOden {
            epsilon: number(|law| law.epsilon),
        }
    }
}

impl FrictionLaw for MartinsOden<f64> {
    const NAME: &'static str = "martins-oden";
    /// As in the paper on model P, which compares with it.
    const AT_START: bool = true;
}

impl OfNumbers for MartinsOden<f64> {
    fn of(parameters: &[f64]) -> Self {
        MartinsOden { epsilon: parameters[0] }
    }
}
