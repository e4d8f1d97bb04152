//! Friction laws. One file per law, one row per law in the [`crate::registry`].
//!
//! Convention: a law returns the force ON the first body, so that a dissipative law has force · velocity ≤ 0 (less the
//! rate of its stored energy). Velocity is that of the first body relative to the second.
//!
//! A law shows up to two faces. `respond` (the trait [`Bristle`]) turns relative motion into a force and the rate of
//! the law's states, for the integrators of ordinary differential equations. `resolve` (functions of the modules
//! [`implicit`], [`karnopp`], [`quinn`]) finds force and velocity at the end of a step together, for the implicit step.
//! A bristle law joins the implicit step through [`Bristle::advance`].

pub mod curve;
pub mod dahl;
pub mod elliptic;
pub mod implicit;
pub mod karnopp;
pub mod lugre;
pub mod martins_oden;
pub mod proxy;
pub mod quinn;
pub mod subloading;

use crate::scalar::Real;
use crate::scalar::vector::{Range, vector};
use curve::Curve;

/// The relative motion a friction law sees.
#[derive(Clone, Copy, Debug)]
pub struct Slip<R, const N: usize> {
    /// Velocity of the first body relative to the second.
    pub velocity: [R; N],
    /// What the steady curve is multiplied with: the normal force where the curve is a coefficient, else 1.
    pub load: R,
}

/// A law that answers relative motion with a force and the rate of its states (states are vectors of the slip's size,
/// stored one after the other).
pub trait Bristle<R: Real>: Copy {
    /// How many vector states the law has.
    const STATES: usize;

    /// Force on the first body, and the rate of every state.
    ///
    /// `tau` is the step of the stage (the paper on modular simulation, eq 22): `state + tau * rate` is the law's own implicit update. Laws
    /// that are plain differential equations ignore it.
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N];

    /// As [`Bristle::respond`], where it is known how fast the load changes. Few laws ask for it.
    #[inline(always)]
    fn respond_to_changing_load<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        _load_rate: R,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        self.respond(curve, slip, state, tau, rate)
    }

    /// Force at the end of a step in which the slip velocity is constant, by the backward Euler rule of the law's
    /// equations; writes the states at the end of the step.
    fn advance<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N];

    /// As [`Bristle::advance`] for a velocity that changes within the step: `slip` has its mean and the load at the end,
    /// `end` is the velocity at the end, `load_rate` how fast the load changes there.
    ///
    /// States move with the mean, by the backward Euler rule of the law; the force is that of the law at the end, where a force
    /// that is proportional to velocity must be taken lest an implicit method turns unstable. What `next` holds before is a guess of
    /// the states at the end, or 0.
    #[allow(clippy::too_many_arguments)] // The two ends of a step.
    #[inline(always)]
    fn advance_to<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        end: [R; N],
        _load_rate: R,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        self.advance(curve, slip, state, step, next);
        let at_end = Slip {
            velocity: end,
            load: slip.load,
        };
        // Room for three states of three axes; the rates are not needed.
        let mut rate = [R::zero(); 9];
        self.respond(curve, &at_end, next, R::zero(), &mut rate[..next.len()])
    }

    /// Whether [`Bristle::advance_to`] is of second order along `N` axes and holds for steps of any length: a method that chooses
    /// its steps then lets the states follow from the displacement, in place of integrating their rates.
    fn maps<const N: usize>(&self) -> bool {
        false
    }

    /// How many of the states have an error of their own where the law maps steps; the rest follow from them.
    const MAPPED: usize = 0;

    /// Brings the rest in line, after the states have been set from outside.
    fn restore<const N: usize>(&self, _state: &mut [R], _load: R) {}

    /// Elastic energy held by the states.
    fn stored<const N: usize>(&self, state: &[R]) -> R;

    /// Share of the sliding limit that the states carry, for laws that show it in a trace.
    fn carried<const N: usize>(&self, _state: &[R], _load: R) -> R {
        R::zero()
    }

    /// Whether the law sticks, in the sense of the trace column `mode`.
    fn sticks<C: Curve<R>, const N: usize>(&self, curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask;
}

/// What the `resolve` face of a law gives back.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<R: Real, const N: usize> {
    /// Force on the first body during the step.
    pub force: [R; N],
    /// Relative velocity at the end of the step; exactly zero where the contact sticks.
    pub velocity: [R; N],
    /// Whether the contact sticks at the end of the step.
    pub stuck: R::Mask,
}

/// Reads vector state number `index` of a law.
#[inline(always)]
pub fn vector_state<R: Real, const N: usize>(state: &[R], index: usize) -> [R; N] {
    vector(|i| state[index * N + i])
}

/// The direction of `x` times `length`; 0 where a vector `x` is 0. On one axis the magnitude is exact.
#[inline(always)]
fn along<R: Real, const N: usize>(x: [R; N], length: R) -> [R; N] {
    if N == 1 {
        return [length * R::one().copysign(x[0]); N];
    }
    // As in gsat: a vector of any size neither overflows the quotient nor loses it.
    let range = Range::of(x);
    let norm = range.norm(x);
    let factor = length / R::select(R::zero().lt(norm), norm, R::one());
    x.map(|x| x * range.to * factor)
}
