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

/// The most states a law may have, and the most numbers that they are on three axes: the one cap, for everything that makes room for them.
pub const MOST_STATES: usize = 4;
/// See [`MOST_STATES`].
pub const MOST_NUMBERS: usize = 3 * MOST_STATES;

/// A law that answers relative motion with a force and the rate of its states (states are vectors of the slip's size,
/// stored one after the other).
pub trait Bristle<R: Real>: Copy {
    /// How many vector states the law has, at most [`MOST_STATES`].
    const STATES: usize;

    /// How many of them are vectors along the slip; the others are numbers, each in the place of a vector.
    const VECTORS: usize = Self::STATES;

    /// Whether the law asks how fast the load changes.
    const KNOWS_LOAD_RATE: bool = false;

    /// Whether the stage step only bounds how fast the states settle, in a law that is a plain differential equation where it resolves that.
    /// Newmark's rule, which takes laws as plain equations at the start of its step, passes its step to these alone.
    const SETTLES: bool = false;

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
        // The rates are not needed.
        let mut rate = [R::zero(); MOST_NUMBERS];
        self.respond(curve, &at_end, next, R::zero(), &mut rate[..next.len()])
    }

    /// How many numbers of state a contact or a penalty joint keeps of the law; vectors first, as in `respond`.
    fn kept<const N: usize>() -> usize {
        // A law without state has room for a vector all the same: where points lie in the state does not depend on the law.
        Self::STATES.max(1) * N
    }

    /// As [`Bristle::respond_to_changing_load`] in a contact or a penalty joint, whose load begins and ends.
    #[inline(always)]
    fn respond_in_contact<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        load_rate: R,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        self.respond_to_changing_load(curve, slip, load_rate, state, tau, rate)
    }

    /// What the states are at the start, where that is not 0.
    fn begin<const N: usize>(&self, _state: &mut [R]) {}

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

/// A bristle law whose parameters can be written in another kind of number: dual numbers for its tangent, lanes for laws
/// side by side.
pub trait Lift: Bristle<f64> {
    /// The law in another kind of number.
    type Of<R: Real>: Bristle<R>;

    /// Whether frictions of several runs go side by side in lanes.
    const LANES: bool = true;

    /// The law with other numbers for its parameters: `number` receives a getter and returns the converted parameter.
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> Self::Of<R>;
}

/// A bristle law of the table ([`crate::bristle_laws`]): all that scenarios need to use it by its name.
pub trait FrictionLaw: Lift + core::fmt::Debug + Send + Sync + 'static {
    /// The name of its row in the [`crate::registry`].
    const NAME: &'static str;

    /// Whether the implicit step takes its force from the velocity at the start of the step, in place of solving for that at the end.
    const AT_START: bool = false;

    /// Sizes of the states, below which an error counts little to a method that chooses its steps; what is not written has none.
    fn sizes<const N: usize>(&self, _sizes: &mut [f64]) {}

    /// The same in a contact or a joint, which may be pressed by next to nothing; `weight` is 0 where none is known.
    fn sizes_in_contact<const N: usize>(&self, _weight: f64, _sizes: &mut [f64]) {}
}

/// A law made of the numbers of its row alone.
pub trait OfNumbers {
    /// The law from its parameters, in the order of its row.
    fn of(parameters: &[f64]) -> Self;
}

/// A law that follows from the velocity at the start of a step and the force applied then (the paper on model P, eqs 7-9).
pub trait Applied: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// Force on the first body.
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, applied: [f64; N]) -> [f64; N];

    /// Whether it counts as sticking.
    fn sticks<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>) -> bool;
}

/// A law of [`Applied`] that stands in the table ([`crate::applied_laws`]).
pub trait AppliedLaw: Applied {
    /// The name of its row in the [`crate::registry`].
    const NAME: &'static str;
}

/// A bristle law asked at the start of a step.
#[derive(Clone, Copy, Debug)]
pub struct AtStart<L>(pub L);

impl<L: Bristle<f64> + core::fmt::Debug + Send + Sync + 'static> Applied for AtStart<L> {
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, _applied: [f64; N]) -> [f64; N] {
        self.0.respond(curve, slip, &[], 0.0, &mut [])
    }

    fn sticks<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>) -> bool {
        self.0.sticks(curve, slip, &[])
    }
}

/// The bristle laws: variant, field, type over the kind of number R, and the function of the engine's builder that reads its parameters.
///
/// This list and the row in the [`crate::registry`] are all that the engine knows of a law besides its file. The builder's
/// `plain_law` reads parameters by the rules of their row; a law whose parameters depend on each other has a reader of its own there.
#[macro_export]
macro_rules! bristle_laws {
    ($then:ident! $($more:tt)*) => {
        $then! {
            $($more)*
            MartinsOden martins_oden: $crate::friction::martins_oden::MartinsOden<R>, plain_law;
            Proxy proxy: $crate::friction::proxy::Proxy<R, true>, plain_law;
            Relaxed relaxed: $crate::friction::proxy::Proxy<R, false>, plain_law;
            Dahl dahl: $crate::friction::dahl::Dahl<R>, plain_law;
            Lugre lugre: $crate::friction::lugre::Lugre<R>, plain_law;
            Subloading subloading: $crate::friction::subloading::Subloading<R>, subloading;
        }
    };
}

/// The laws that follow from the start of a step and the applied force, in the same form; they have no other kind of number.
#[macro_export]
macro_rules! applied_laws {
    ($then:ident! $($more:tt)*) => {
        $then! {
            $($more)*
            Karnopp karnopp: $crate::friction::karnopp::Karnopp<f64>, plain_law;
            Quinn quinn: $crate::friction::quinn::Quinn<f64>, plain_law;
        }
    };
}

/// No law of the table needs more room for states than there is.
macro_rules! check_states {
    ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {
        const _: () = {
            type R = f64;
            $(assert!(<$law as Bristle<f64>>::STATES <= MOST_STATES);)*
        };
    };
}
bristle_laws!(check_states!);

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
