//! Karnopp's model: a band of velocities that counts as zero (the paper on model P, eq 7). A baseline: it creeps inside its band.

use super::{Applied, AppliedLaw, OfNumbers, Slip, along, curve::Curve};
use crate::scalar::Real;
use crate::scalar::vector::norm;
use crate::sets::gsat;

/// Karnopp's model.
#[derive(Clone, Copy, Debug)]
pub struct Karnopp<R> {
    /// Half width ε of the band of speeds taken as zero.
    pub epsilon: R,
}

impl<R: Real> Karnopp<R> {
    /// Force on the body from the velocity at the start of the step and the applied force h.
    #[inline]
    pub fn force<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, applied: [R; N]) -> [R; N] {
        let speed = norm(slip.velocity);
        let balance = gsat(curve.toward(applied).holding(slip.load), applied);
        let sliding = along(slip.velocity, curve.toward(slip.velocity).total(speed, slip.load));
        let inside = speed.le(self.epsilon);
        core::array::from_fn(|i| -R::select(inside, balance[i], sliding[i]))
    }

    /// Whether the law sticks: the speed is inside the band.
    #[inline]
    pub fn sticks<const N: usize>(&self, velocity: &[R; N]) -> R::Mask {
        norm(*velocity).le(self.epsilon)
    }
}

impl Applied for Karnopp<f64> {
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, applied: [f64; N]) -> [f64; N] {
        Karnopp::force(self, curve, slip, applied)
    }

    fn sticks<C: Curve<f64>, const N: usize>(&self, _curve: &C, slip: &Slip<f64, N>) -> bool {
        Karnopp::sticks(self, &slip.velocity)
    }
}

impl AppliedLaw for Karnopp<f64> {
    const NAME: &'static str = "karnopp";
}

impl OfNumbers for Karnopp<f64> {
    fn of(parameters: &[f64]) -> Self {
        Karnopp { epsilon: parameters[0] }
    }
}
