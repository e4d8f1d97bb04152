//! The LuGre model (the paper on modular simulation, eq 12): ė = v − |v|·K·e/g(|v|), f = K·e + B·ė + D·v (resisting).
//!
//! It drifts under an oscillating load below the limit: its bristle creeps while |e| is below its steady value. In
//! the paper on modular simulation g is a length; here it is the steady curve, a force, divided by K.
//!
//! Sliding settles the bristle at the rate |v|·K/g, which grows without bound with the speed, so that no stiffness and no step are safe for
//! an explicit method at every speed. In a stage of length τ > 0 (fixed steps of explicit methods) the bristle therefore settles at 1/τ at most,
//! towards the same steady stretch: ė = σ·(v − |v|·K·e/g) with σ = 1/max(1, τ·|v|·K/g), and K·e is that of e + (1 − σ)·τ·ė. Where the stage
//! resolves the rate σ is 1. With x = e·K/g and a = 1/σ the elastic force takes power while a·(x + (1 − σ)·(1 − x)) ≥ x·(1 − x), which is
//! x² + a − 1 ≥ 0: the share 1 − σ of the way to the end of the stage is the least that gives no energy, whatever the stretch.

use super::{Bristle, FrictionLaw, Lift, OfNumbers, Slip, curve::Curve, vector_state};
use crate::scalar::Real;
use crate::scalar::vector::{add, dot, norm, scale, sub};

/// The LuGre model; the viscous part D is that of the steady curve.
#[derive(Clone, Copy, Debug)]
pub struct Lugre<R> {
    /// Bristle stiffness K (often written σ₀).
    pub stiffness: R,
    /// Bristle damping B (often written σ₁).
    pub damping: R,
}

/// |v|·K/g: how fast sliding wears the bristle's deflection down, and 1; both are 0 where the contact can carry nothing
/// (g = 0: an open contact). There the bristle is free and keeps its deflection.
#[inline(always)]
fn wear_and_carried<R: Real, C: Curve<R>, const N: usize>(curve: &C, slip: &Slip<R, N>, stiffness: R) -> (R, R) {
    let speed = norm(slip.velocity);
    let limit = curve.toward(slip.velocity).dry(speed, slip.load);
    let loaded = R::zero().lt(limit);
    let wear = speed * stiffness / R::select(loaded, limit, R::one());
    (
        R::select(loaded, wear, R::zero()),
        R::select(loaded, R::one(), R::zero()),
    )
}

/// Share of the velocity that moves the bristle in a stage of length `tau`, and how fast it settles there: 1 and the wear itself where the stage
/// resolves it, else what settles within the stage at the same steady deflection v/wear.
#[inline(always)]
fn within_stage<R: Real>(wear: R, tau: R) -> (R, R) {
    let turns = tau * wear;
    let fast = R::one().lt(turns);
    let share = R::one() / R::select(fast, turns, R::one());
    (share, R::select(fast, R::one() / tau, wear))
}

/// Whether the deflection is below 99 % of its steady value g/K.
#[inline]
fn below_steady<R: Real, C: Curve<R>, const N: usize>(
    curve: &C,
    slip: &Slip<R, N>,
    state: &[R],
    stiffness: R,
) -> R::Mask {
    let bristle: [R; N] = vector_state(state, 0);
    let steady = curve.toward(bristle).dry(norm(slip.velocity), slip.load);
    (stiffness * norm(bristle)).lt(steady * R::lit(0.99))
}

impl<R: Real> Bristle<R> for Lugre<R> {
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
        let bristle = vector_state(state, 0);
        let (wear, carried) = wear_and_carried(curve, slip, self.stiffness);
        let (share, wear) = within_stage(wear, tau);
        let e_rate = scale(sub(scale(slip.velocity, share), scale(bristle, wear)), carried);
        rate[..N].copy_from_slice(&e_rate);
        let stretch = add(bristle, scale(e_rate, (R::one() - share) * tau));
        let elastic = scale(stretch, carried * self.stiffness);
        let resisting = add(elastic, scale(e_rate, self.damping));
        scale(add(resisting, scale(slip.velocity, curve.viscous())), -R::one())
    }

    /// Backward Euler: e' = (e + T·v)/(1 + T·|v|·K/g).
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
        let (wear, carried) = wear_and_carried(curve, slip, self.stiffness);
        let shrink = R::one() / (R::one() + step * wear);
        let moved = scale(add(bristle, scale(slip.velocity, step * carried)), shrink);
        let e_rate = scale(sub(moved, bristle), R::one() / step);
        next[..N].copy_from_slice(&moved);
        let resisting = scale(add(scale(moved, self.stiffness), scale(e_rate, self.damping)), carried);
        scale(add(resisting, scale(slip.velocity, curve.viscous())), -R::one())
    }

    fn stored<const N: usize>(&self, state: &[R]) -> R {
        let bristle: [R; N] = vector_state(state, 0);
        self.stiffness * R::lit(0.5) * dot(bristle, bristle)
    }

    #[inline]
    fn sticks<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask {
        below_steady(curve, slip, state, self.stiffness)
    }
}

impl Lift for Lugre<f64> {
    type Of<R: Real> = Lugre<R>;

    #[inline(always)]
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> Lugre<R> {
        Lugre {
            stiffness: number(|law| law.stiffness),
            damping: number(|law| law.damping),
        }
    }
}

impl FrictionLaw for Lugre<f64> {
    const NAME: &'static str = "lugre";
}

impl OfNumbers for Lugre<f64> {
    fn of(parameters: &[f64]) -> Self {
        Lugre {
            stiffness: parameters[0],
            damping: parameters[1],
        }
    }
}
