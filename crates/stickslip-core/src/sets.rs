//! Resolvents of the set-valued maps of friction and rigid contact.
//!
//! Coulomb friction f ∈ F·sgn(v) and a rigid contact f ∈ dio(p) are not functions, but each inclusion that contains the
//! unknown on both sides has exactly one solution, and that is a function: the ones below. They choose with
//! [`Real::select`], divide by nothing that can be zero, and let a NaN argument through.

use crate::scalar::Real;
use crate::scalar::vector::Range;

/// `x` limited to magnitude `bound`: the solution y of y ∈ bound·sgn(x − y) (Xiong, Kikuuwe and Yamamoto, eqs 2 and 4).
///
/// The result is `x` or ±`bound` exactly. A negative bound, as from a contact that pulls, counts as 0.
#[inline(always)]
pub fn sat<R: Real>(bound: R, x: R) -> R {
    let bound = R::zero().max(bound);
    x.clamp(-bound, bound)
}

/// The vector `x` shortened to length `bound` where it is longer: the projection onto a ball, and the solution y of
/// y ∈ bound·sgn(x − y) (the paper on modular simulation, eq 15; Xiong, Kikuuwe and Yamamoto, eqs 2 and 4).
///
/// A vector within the ball is returned unchanged, one outside comes out with length `bound` to within 4 ulp. With one
/// component this is [`sat`], exactly. A negative bound counts as 0.
#[inline(always)]
pub fn gsat<R: Real, const N: usize>(bound: R, mut x: [R; N]) -> [R; N] {
    if N == 1 {
        x[0] = sat(bound, x[0]);
        return x;
    }
    let bound = R::zero().max(bound);
    let range = Range::of(x);
    let norm = range.norm(x);
    let outside = (bound * range.to).lt(norm);
    let factor = bound / R::select(outside, norm, R::one());
    for x in &mut x {
        *x = R::select(outside, *x * range.to * factor, *x);
    }
    x
}

/// Force of a rigid contact: the solution y ≥ 0 of y ∈ dio(x + y), which is max(0, −x) (Xiong, Kikuuwe and Yamamoto, eq 5).
#[inline(always)]
pub fn dio_resolvent<R: Real>(x: R) -> R {
    R::zero().max(-x)
}

/// What is left of `x` outside an interval of half-width `width`: 0 within, the distance to the nearer end outside.
///
/// A negative width counts as 0.
#[inline(always)]
pub fn dead_zone<R: Real>(width: R, x: R) -> R {
    x - sat(width, x)
}

/// The vector `x` shortened by `bound`, exactly 0 where it is no longer than that.
///
/// It is x − gsat(bound, x), the solution y of x ∈ y + bound·sgn(y): a velocity after a step of Coulomb friction whose
/// impulse per mass is `bound`. With one component this is [`dead_zone`], exactly. A negative bound counts as 0.
#[inline(always)]
pub fn soft_threshold<R: Real, const N: usize>(bound: R, mut x: [R; N]) -> [R; N] {
    if N == 1 {
        x[0] = dead_zone(bound, x[0]);
        return x;
    }
    let bound = R::zero().max(bound);
    let range = Range::of(x);
    let norm = range.norm(x);
    let within = norm.le(bound * range.to);
    let factor = (norm - bound * range.to) / R::select(within, R::one(), norm);
    for x in &mut x {
        *x = R::select(within, R::zero(), *x * factor);
    }
    x
}
