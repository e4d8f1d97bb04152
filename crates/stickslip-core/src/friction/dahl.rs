//! The Dahl model (the paper on modular simulation, eq 11): ė = v − |v|·K·e/F, f = K·e (resisting). It is the LuGre model without bristle
//! damping, and drifts like it.

use super::{Bristle, FrictionLaw, Lift, OfNumbers, Slip, curve::Curve, lugre::Lugre};
use crate::scalar::Real;

/// The Dahl model.
#[derive(Clone, Copy, Debug)]
pub struct Dahl<R> {
    /// Stiffness K of the contact at rest.
    pub stiffness: R,
}

impl<R: Real> Dahl<R> {
    /// The LuGre model that it is: the one without damping.
    #[inline(always)]
    pub fn as_lugre(&self) -> Lugre<R> {
        Lugre {
            stiffness: self.stiffness,
            damping: R::zero(),
        }
    }
}

impl<R: Real> Bristle<R> for Dahl<R> {
    const STATES: usize = 1;
    const SETTLES: bool = true;

    #[inline(always)]
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        self.as_lugre().respond(curve, slip, state, tau, rate)
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
        self.as_lugre().advance(curve, slip, state, step, next)
    }

    fn stored<const N: usize>(&self, state: &[R]) -> R {
        self.as_lugre().stored::<N>(state)
    }

    #[inline]
    fn sticks<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask {
        self.as_lugre().sticks(curve, slip, state)
    }
}

impl Lift for Dahl<f64> {
    type Of<R: Real> = Dahl<R>;

    #[inline(always)]
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> Dahl<R> {
        Dahl {
            stiffness: number(|law| law.stiffness),
        }
    }
}

impl FrictionLaw for Dahl<f64> {
    const NAME: &'static str = "dahl";
}

impl OfNumbers for Dahl<f64> {
    fn of(parameters: &[f64]) -> Self {
        Dahl {
            stiffness: parameters[0],
        }
    }
}
