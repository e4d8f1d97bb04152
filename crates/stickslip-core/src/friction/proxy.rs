//! Dry friction on a massless proxy tied to the body by a spring and a damper (the paper on modular simulation, eqs 14-19), and its plain
//! differential-equation form (Xiong, Kikuuwe and Yamamoto, eq 9).
//!
//! f = F·sgn(v − ė),  f = K·e + B·ė   (f resisting; the paper on modular simulation, eq 17)
//!
//! The backward Euler rule over a step τ solves both at once (the paper on modular simulation, eq 19):
//!
//! f = gsat(F, (B + τK)·v + K·e),  ė = (f − K·e)/(B + τK)
//!
//! so e + τ·ė is the implicit update. With τ = 0 it is the ordinary differential equation of Xiong, Kikuuwe and Yamamoto with B = K·β.
//! The term τ·K·v is artificial damping: in stick the staged Runge-Kutta form is of first order only; τ = 0 is of
//! fourth order in stick, but in slip it needs T·K/B < 2.78.

use super::{Bristle, FrictionLaw, Lift, OfNumbers, Slip, curve::Curve, vector_state};
use crate::scalar::Real;
use crate::scalar::vector::{add, dot, norm, scale, sub};
use crate::sets::gsat;

/// Proxy friction. `STAGED` is true for the modular simulation paper's form, which uses the step of the stage, and false for Xiong, Kikuuwe and Yamamoto's.
#[derive(Clone, Copy, Debug)]
pub struct Proxy<R, const STAGED: bool> {
    /// Stiffness K of the bristle.
    pub stiffness: R,
    /// Damping B of the bristle.
    pub damping: R,
}

impl<R: Real, const STAGED: bool> Proxy<R, STAGED> {
    /// (B + τK)·v + K·e: the force the bristle would carry without slip.
    #[inline(always)]
    fn trial<const N: usize>(&self, velocity: [R; N], bristle: [R; N], tau: R) -> [R; N] {
        add(
            scale(velocity, self.damping + tau * self.stiffness),
            scale(bristle, self.stiffness),
        )
    }

    /// Eq 19 for a stage step τ: resisting bristle force and ė.
    #[inline(always)]
    fn evaluate<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        bristle: [R; N],
        tau: R,
    ) -> ([R; N], [R; N]) {
        // The bristle pulls where it yields, which may be against the motion of the body for a while.
        let curve = curve.toward(self.trial(slip.velocity, bristle, tau));
        let limit = if curve.constant() {
            curve.dry(R::zero(), slip.load)
        } else {
            curve.dry(norm(slip.velocity), slip.load)
        };
        self.held(limit, slip.velocity, bristle, tau)
    }

    /// Eq 19 with dry friction `limit`: resisting bristle force and ė.
    #[inline(always)]
    pub fn held<const N: usize>(&self, limit: R, velocity: [R; N], bristle: [R; N], tau: R) -> ([R; N], [R; N]) {
        let force = gsat(limit, self.trial(velocity, bristle, tau));
        let rate = scale(
            sub(force, scale(bristle, self.stiffness)),
            R::one() / (self.damping + tau * self.stiffness),
        );
        (force, rate)
    }
}

impl<R: Real, const STAGED: bool> Bristle<R> for Proxy<R, STAGED> {
    const STATES: usize = 1;

    #[inline(always)]
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        let tau = if STAGED { tau } else { R::zero() };
        let (force, e_rate) = self.evaluate(curve, slip, vector_state(state, 0), tau);
        rate[..N].copy_from_slice(&e_rate);
        scale(add(force, scale(slip.velocity, curve.viscous())), -R::one())
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
        let bristle = vector_state(state, 0);
        let (force, e_rate) = self.evaluate(curve, slip, bristle, step);
        next[..N].copy_from_slice(&add(bristle, scale(e_rate, step)));
        scale(add(force, scale(slip.velocity, curve.viscous())), -R::one())
    }

    fn stored<const N: usize>(&self, state: &[R]) -> R {
        let bristle: [R; N] = vector_state(state, 0);
        self.stiffness * R::lit(0.5) * dot(bristle, bristle)
    }

    #[inline]
    fn sticks<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask {
        let trial = self.trial(slip.velocity, vector_state(state, 0), R::zero());
        norm(trial).lt(curve.toward(trial).dry(norm(slip.velocity), slip.load))
    }
}

impl<const STAGED: bool> Lift for Proxy<f64, STAGED> {
    type Of<R: Real> = Proxy<R, STAGED>;

    #[inline(always)]
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> Proxy<R, STAGED> {
        Proxy {
            stiffness: number(|law| law.stiffness),
            damping: number(|law| law.damping),
        }
    }
}

impl FrictionLaw for Proxy<f64, true> {
    const NAME: &'static str = "proxy";
}

impl OfNumbers for Proxy<f64, true> {
    fn of(parameters: &[f64]) -> Self {
        Proxy {
            stiffness: parameters[0],
            damping: parameters[1],
        }
    }
}

impl FrictionLaw for Proxy<f64, false> {
    const NAME: &'static str = "relaxed";
}

impl OfNumbers for Proxy<f64, false> {
    fn of(parameters: &[f64]) -> Self {
        let [stiffness, beta] = [parameters[0], parameters[1]];
        Proxy {
            stiffness,
            damping: stiffness * beta,
        }
    }
}
