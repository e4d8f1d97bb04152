//! Friction for constant-step simulation that reaches zero velocity in finite time (the paper on model P, eqs 11-20).
//!
//! The law asks for the force and the velocity at the END of the step together:
//!
//! v_k = v̄ + W·f_k,  f_k ∈ −g(|v_k|)·Sgn(v_k)
//!
//! where v̄ is the velocity the step would reach without this friction and W = T/M the compliance along the slip
//! (two bodies: T·(1/M_a + 1/M_b), the paper on model P, eq 18). No threshold, no parameter.

use super::{Resolved, along, curve::Curve};
use crate::roots::{HALVINGS, NEWTON_ROUNDS};
use crate::scalar::vector::norm;
use crate::scalar::{Mask, Real};
use crate::sets::sat;

/// Coulomb friction in closed form (the paper on model P, eq 12): v = v̄ − clamp(v̄, ±W·F).
///
/// Written as a soft threshold the velocity of a contact that sticks is v̄ − v̄, exactly 0; the printed form leaves a
/// residue of order 1e-18 in 2 % to 10 % of the sticking steps. Vectors: sgn(x) becomes x/|x| (the paper on model P, eq 20).
#[inline(always)]
pub fn resolve_constant<R: Real, const N: usize>(v_bar: [R; N], compliance: R, limit: R) -> Resolved<R, N> {
    let speed = norm(v_bar);
    let reach = compliance * limit;
    let sliding = Sliding {
        speed: speed - reach,
        force: limit,
    };
    compose(v_bar, compliance, limit, sliding, speed.le(reach))
}

/// The general curve with the exact φ̂ of the paper on model P, eq 14, and the stick memory of eq 19.
///
/// `was_stuck` is the memory s_{k−1}. Eq 19b is used in its corrected form: it compares |v̄| with W·|φ(±0)|, since φ̂
/// has no value inside that band. A contact sticks if W·g(0⁺) can stop it, or if it was stuck and the holding force
/// can; otherwise it slips with the speed s that solves s + W·g(s) = |v̄|. That function is negative at 0 and not
/// negative at |v̄|, so the bracket [0, |v̄|] always holds a root: the solve cannot fail.
///
/// A curve that falls faster than 1/W can have several roots. The search comes down from |v̄|; on a Stribeck curve it
/// ends at the fastest root, since three roots are only possible where g is convex from the fastest one up, and there
/// Newton's method descends without stepping over it.
#[inline(always)]
pub fn resolve<R: Real, C: Curve<R>, const N: usize>(
    curve: &C,
    load: R,
    v_bar: [R; N],
    compliance: R,
    was_stuck: R::Mask,
) -> Resolved<R, N> {
    let (speed, curve) = (norm(v_bar), &curve.toward(v_bar));
    let (limit, stuck) = rest(curve, load, speed, compliance, was_stuck);
    let slip = if curve.constant() {
        speed - compliance * curve.dry(R::zero(), load)
    } else {
        slip_speed(curve, load, speed, compliance, stuck)
    };
    let sliding = Sliding {
        speed: slip,
        force: curve.total(slip, load),
    };
    compose(v_bar, compliance, limit, sliding, stuck)
}

/// The velocity that [`resolve`] gives, for contacts that slip along one axis: |v̄| > W·g(0⁺). One with v̄ = 0 keeps that.
#[inline(always)]
pub fn slip_velocity<R: Real, C: Curve<R>>(curve: &C, load: R, v_bar: R, compliance: R) -> R {
    let (speed, curve, still) = (v_bar.abs(), &curve.toward([v_bar]), v_bar.same(R::zero()));
    let slip = if curve.constant() {
        speed - compliance * curve.dry(R::zero(), load)
    } else {
        slip_speed(curve, load, speed, compliance, still)
    };
    let [velocity] = along([v_bar], slip);
    R::select(still, R::zero(), velocity)
}

/// The approximation of the paper on model P, eq 16, kept for comparison: φ̂(v̄) ≈ φ(v̄ − sgn(v̄)·W·|φ(±0)|).
///
/// It is explicit in the rate-dependent part: with viscosity B it reverses the velocity when T·B/M > 1 and diverges
/// when T·B/M > 2. [`resolve`] does not.
#[inline(always)]
pub fn resolve_approximate<R: Real, C: Curve<R>, const N: usize>(
    curve: &C,
    load: R,
    v_bar: [R; N],
    compliance: R,
    was_stuck: R::Mask,
) -> Resolved<R, N> {
    let (speed, curve) = (norm(v_bar), &curve.toward(v_bar));
    let (limit, stuck) = rest(curve, load, speed, compliance, was_stuck);
    let reach = compliance * curve.dry(R::zero(), load);
    let force = curve.total((speed - reach).max(R::zero()), load);
    let sliding = Sliding {
        speed: speed - compliance * force,
        force,
    };
    compose(v_bar, compliance, limit, sliding, stuck)
}

/// The largest force at rest, |φ(±0)| or for a contact that was stuck the holding force if that is larger, and whether
/// it stops the contact.
#[inline(always)]
fn rest<R: Real, C: Curve<R>>(curve: &C, load: R, speed: R, compliance: R, was_stuck: R::Mask) -> (R, R::Mask) {
    let released = curve.dry(R::zero(), load);
    let held = released.max(curve.holding(load));
    let limit = R::select(was_stuck, held, released);
    (limit, speed.le(compliance * limit))
}

/// How a contact that does not stick goes on, along v̄.
struct Sliding<R> {
    /// Slip speed; the approximation can make it negative.
    speed: R,
    /// Magnitude of the friction.
    force: R,
}

/// The outcome as vectors. A contact that sticks gets the velocity 0 and the force −v̄/W that stops it. |v̄| ≤ W·F does
/// not keep the rounded quotient below F: on one axis it is cut off there, so that the limit holds to the last bit.
#[inline(always)]
fn compose<R: Real, const N: usize>(
    v_bar: [R; N],
    compliance: R,
    limit: R,
    sliding: Sliding<R>,
    stuck: R::Mask,
) -> Resolved<R, N> {
    let friction = along(v_bar, -sliding.force);
    let slip = along(v_bar, sliding.speed);
    // 0 without a limit, and between two bodies whose motion is prescribed (W = 0): they stick only if they do not move,
    // and then nothing says which force below the limit acts.
    let held = R::zero().lt(compliance) & R::zero().lt(limit);
    let safe = R::select(held, compliance, R::one());
    if N == 1 {
        // Written out: a closure is not always inlined, and a call would leave code that is compiled for wide vectors.
        let hold = sat(limit, R::select(held, -v_bar[0] / safe, R::zero()));
        return Resolved {
            force: [R::select(stuck, hold, friction[0]); N],
            velocity: [R::select(stuck, R::zero(), slip[0]); N],
            stuck,
        };
    }
    let hold = |v: R| R::select(held, -v / safe, R::zero());
    Resolved {
        force: core::array::from_fn(|i| R::select(stuck, hold(v_bar[i]), friction[i])),
        velocity: slip.map(|v| R::select(stuck, R::zero(), v)),
        stuck,
    }
}

/// The slip speed s + W·g(s) = |v̄| where friction depends on it: in closed form where the curve has one, else by a search.
#[inline(always)]
fn slip_speed<R: Real, C: Curve<R>>(curve: &C, load: R, speed: R, compliance: R, ignore: R::Mask) -> R {
    match curve.slip_speed(load, speed, compliance) {
        None => searched_slip_speed(curve, load, speed, compliance, ignore),
        Some((slip, found)) if (found | ignore).all() => slip,
        Some((slip, found)) => {
            let searched = searched_slip_speed(curve, load, speed, compliance, ignore | found);
            R::select(found, slip, searched)
        }
    }
}

/// Solves s + W·g(s) = |v̄| for the slip speed by Newton's method inside a bracket.
///
/// It ends where the residual is rounding (below 2 ulp of |v̄|, which g itself is not better than) or where the bracket
/// has closed. The last move is a Newton step wherever possible: it also makes the derivative of a dual number exact.
#[inline(always)]
fn searched_slip_speed<R: Real, C: Curve<R>>(curve: &C, load: R, speed: R, compliance: R, ignore: R::Mask) -> R {
    let mut low = R::zero();
    let mut high = speed;
    let mut slip = speed;
    // What is not finite has no root: a lane that diverges does not keep the others waiting.
    let mut settled = ignore | !(speed * R::zero()).same(R::zero());
    // A smooth curve takes about five rounds.
    for round in 0..NEWTON_ROUNDS + HALVINGS {
        let (total, rise) = curve.total_and_rise(slip, load);
        let excess = slip + compliance * total - speed;
        let above = R::zero().lt(excess);
        high = R::select(above, slip, high);
        low = R::select(above, low, slip);
        let gradient = R::one() + compliance * rise;
        let rising = R::zero().lt(gradient);
        let newton = slip - excess / R::select(rising, gradient, R::one());
        let inside = low.lt(newton) & newton.lt(high);
        let rounding = (speed + excess * R::lit(0.25)).same(speed);
        let halved = (low + high) * R::lit(0.5);
        let usable = rising & (inside | newton.same(slip));
        let next = if round < NEWTON_ROUNDS {
            R::select(usable, newton, R::select(rounding, slip, halved))
        } else {
            R::select(rounding, slip, halved)
        };
        let closed = next.same(slip) | halved.same(low) | halved.same(high);
        // A lane that has settled keeps its root, so that it does not depend on its neighbours.
        slip = R::select(settled, slip, next);
        settled = settled | rounding | closed;
        if settled.all() {
            break;
        }
    }
    slip
}
