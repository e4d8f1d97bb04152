//! Rigid contact with Coulomb friction over one step, in closed form.
//!
//! 0 ≤ N ⊥ gap + T·v_n ≥ 0 with v_n the normal velocity at the end of the step: the bodies may not overlap, the force
//! may not pull, and it acts only if they touch. The friction is that of the paper on model P, eq 20 with the limit μ·N of this step.

use crate::friction::implicit::resolve_constant;
use crate::scalar::Real;

/// Force and velocity of a contact at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct Touch<R: Real> {
    /// Normal force, never negative.
    pub normal: R,
    /// Normal velocity (the rate of the gap).
    pub normal_velocity: R,
    /// Friction force on the first body in the two tangential directions.
    pub friction: [R; 2],
    /// Tangential velocity.
    pub slip: [R; 2],
    /// Whether the contact is closed.
    pub closed: R::Mask,
    /// Whether it sticks.
    pub stuck: R::Mask,
}

impl<R: Real> Touch<R> {
    /// `yes` where the mask is true, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        let both = |yes: [R; 2], no: [R; 2]| [R::select(mask, yes[0], no[0]), R::select(mask, yes[1], no[1])];
        Touch {
            normal: R::select(mask, yes.normal, no.normal),
            normal_velocity: R::select(mask, yes.normal_velocity, no.normal_velocity),
            friction: both(yes.friction, no.friction),
            slip: both(yes.slip, no.slip),
            closed: (mask & yes.closed) | (!mask & no.closed),
            stuck: (mask & yes.stuck) | (!mask & no.stuck),
        }
    }
}

/// A contact whose normal and tangential motions do not influence each other, as a sphere on a plane.
///
/// `target` is the smallest admissible normal velocity, −gap/T (with restitution e: −e times the speed of approach).
#[inline(always)]
pub fn resolve<R: Real>(
    normal_velocity: R,
    slip: [R; 2],
    target: R,
    normal_compliance: R,
    slip_compliance: R,
    mu: R,
) -> Touch<R> {
    let closed = normal_velocity.lt(target);
    let normal = R::select(closed, (target - normal_velocity) / normal_compliance, R::zero());
    let tangential = resolve_constant(slip, slip_compliance, mu * normal);
    Touch {
        normal,
        normal_velocity: normal_velocity.max(target),
        friction: tangential.force,
        slip: tangential.velocity,
        closed,
        stuck: closed & tangential.stuck,
    }
}
