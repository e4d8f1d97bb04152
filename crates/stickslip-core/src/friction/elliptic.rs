//! Friction that is stronger across a direction than along it.
//!
//! A friction of maximal dissipation whose limits form an ellipse with the half axes μ₁·N along a direction e and μ₂·N across it
//! (Michałowski and Mróz 1978; Goyal, Ruina and Papadopoulos 1991) is
//!
//! f = −N·(μ₁²·v₁, μ₂²·v₂)/√(μ₁²·v₁² + μ₂²·v₂²).
//!
//! With S = e·eᵀ + β·(1 − e·eᵀ), β = μ₂/μ₁, that is f = S·g(S·v), g the isotropic friction of the coefficient μ₁: of the velocities
//! across e a law sees β times as much, and of its force across e β times as much acts. Power is kept, f·v = g·S·v. So every isotropic
//! law becomes an elliptic one, and its promises hold: along e it is the law as it is, across it forces are β times as large, speeds
//! (of a Stribeck curve, of a threshold) are reached at 1/β of the velocity, and stiffness and damping are β² times as large.
//!
//! The states of a law are those of the isotropic law: a stretch has β times its part across e.

use super::curve::Curve;
use super::{Applied, Bristle, Lift, Slip};
use crate::scalar::Real;
use crate::scalar::vector::vector;

/// A direction, and how much stronger friction is across it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse<R> {
    /// Unit vector e of the first coefficient; on two axes its third part counts nothing.
    pub direction: [R; 3],
    /// β: coefficient across over coefficient along, above 0.
    pub across: R,
}

impl<R: Real> Ellipse<R> {
    /// S·x.
    #[inline(always)]
    pub fn scaled<const N: usize>(&self, x: [R; N]) -> [R; N] {
        self.by(self.across, x)
    }

    /// S⁻¹·x.
    #[inline(always)]
    pub fn unscaled<const N: usize>(&self, x: [R; N]) -> [R; N] {
        self.by(R::one() / self.across, x)
    }

    #[inline(always)]
    fn by<const N: usize>(&self, factor: R, x: [R; N]) -> [R; N] {
        let mut along = R::zero();
        for (e, x) in self.direction.iter().zip(&x) {
            along += *e * *x;
        }
        let along = along * (R::one() - factor);
        vector(|i| factor * x[i] + along * self.direction[i])
    }
}

/// An isotropic law on two axes made elliptic.
#[derive(Clone, Copy, Debug)]
pub struct Elliptic<L, R = f64> {
    /// The law along the direction.
    pub law: L,
    /// Where friction is stronger.
    pub ellipse: Ellipse<R>,
}

impl<R: Real, L> Elliptic<L, R> {
    #[inline(always)]
    fn seen<const N: usize>(&self, slip: &Slip<R, N>) -> Slip<R, N> {
        Slip {
            velocity: self.ellipse.scaled(slip.velocity),
            load: slip.load,
        }
    }
}

impl<R: Real, L: Bristle<R>> Bristle<R> for Elliptic<L, R> {
    const STATES: usize = L::STATES;
    const VECTORS: usize = L::VECTORS;
    const KNOWS_LOAD_RATE: bool = L::KNOWS_LOAD_RATE;
    const MAPPED: usize = L::MAPPED;
    const SETTLES: bool = L::SETTLES;

    #[inline(always)]
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        let force = self.law.respond(curve, &self.seen(slip), state, tau, rate);
        self.ellipse.scaled(force)
    }

    #[inline(always)]
    fn respond_to_changing_load<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        load_rate: R,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        let seen = self.seen(slip);
        let force = self
            .law
            .respond_to_changing_load(curve, &seen, load_rate, state, tau, rate);
        self.ellipse.scaled(force)
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
        let force = self.law.advance(curve, &self.seen(slip), state, step, next);
        self.ellipse.scaled(force)
    }

    #[inline(always)]
    fn advance_to<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        end: [R; N],
        load_rate: R,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        let (seen, end) = (self.seen(slip), self.ellipse.scaled(end));
        let force = self.law.advance_to(curve, &seen, end, load_rate, state, step, next);
        self.ellipse.scaled(force)
    }

    fn begin<const N: usize>(&self, state: &mut [R]) {
        self.law.begin::<N>(state);
    }

    fn maps<const N: usize>(&self) -> bool {
        self.law.maps::<N>()
    }

    fn restore<const N: usize>(&self, state: &mut [R], load: R) {
        self.law.restore::<N>(state, load);
    }

    fn stored<const N: usize>(&self, state: &[R]) -> R {
        self.law.stored::<N>(state)
    }

    fn carried<const N: usize>(&self, state: &[R], load: R) -> R {
        self.law.carried::<N>(state, load)
    }

    fn sticks<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask {
        self.law.sticks(curve, &self.seen(slip), state)
    }
}

/// Elliptic frictions do not go side by side, so that numbers of this one are all that is asked for.
impl<L: Lift> Lift for Elliptic<L> {
    type Of<R: Real> = Elliptic<L::Of<R>, R>;

    const LANES: bool = false;

    #[inline(always)]
    fn lift<R: Real>(&self, _number: impl Fn(fn(&Self) -> f64) -> R) -> Self::Of<R> {
        Elliptic {
            law: self.law.lift(|get| R::lit(get(&self.law))),
            ellipse: Ellipse {
                direction: self.ellipse.direction.map(R::lit),
                across: R::lit(self.ellipse.across),
            },
        }
    }
}

impl<L: Applied> Applied for Elliptic<L> {
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, applied: [f64; N]) -> [f64; N] {
        let force = self.law.force(curve, &self.seen(slip), self.ellipse.unscaled(applied));
        self.ellipse.scaled(force)
    }

    fn sticks<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>) -> bool {
        self.law.sticks(curve, &self.seen(slip))
    }
}
