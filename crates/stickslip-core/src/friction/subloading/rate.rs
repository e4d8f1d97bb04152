//! The differential equation of the law, along the contact and in space.

use super::{Subloading, direction, gsat};
use crate::scalar::Real;
use crate::scalar::vector::{add, dot, norm, scale, sub};

/// Outcome of the differential equation.
#[derive(Clone, Copy, Debug)]
pub struct Rate<R, const N: usize> {
    /// Resistance q; without the part of the contact time, which is τ_c·α times `damped_rate`.
    pub resistance: [R; N],
    /// u̇ᵉ.
    pub stretch_rate: [R; N],
    /// The same without what a stretch beyond the limit gives back, which is no motion of the bodies; 0 where the contact is open.
    pub damped_rate: [R; N],
    /// μ̇.
    pub mu_rate: R,
    /// Rate of plastic slip λ; 0 where the contact is elastic.
    pub slip_rate: R,
}

/// A contact that moves in space: what [`Subloading::traction_rate`] is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceMotion<R> {
    /// Unit normal on which the body is pressed, the direction of the normal part of the traction.
    pub normal: [R; 3],
    /// Velocity of the body relative to the surface at the contact.
    pub velocity: [R; 3],
    /// Angular velocity of the surface.
    pub spin: [R; 3],
    /// Stiffness of the contact along the normal α_n.
    pub normal_stiffness: R,
}

/// Rates of traction and friction coefficient in space.
#[derive(Clone, Copy, Debug)]
pub struct TractionRate<R> {
    /// Rate of the traction ON the body, in fixed axes.
    pub traction_rate: [R; 3],
    /// μ̇.
    pub mu_rate: R,
    /// Rate of plastic slip λ.
    pub slip_rate: R,
}

impl<R: Real> Subloading<R> {
    /// Rate of plastic slip (Ozaki, Hashiguchi and Chen 2007, eq 25): with t·v the speed along the resistance,
    ///
    /// λ = max(0, (α·t·v − R·g·F − R·μ·Ḟ)/(α + U·μ·F − R·h·F)).
    ///
    /// It is 0 where q = 0: U is infinite there. Where the denominator is not positive the contact snaps; the quotient
    /// is then taken with a denominator of 1e-3 α: a slip a thousand times as fast as the motion.
    #[inline(always)]
    fn slip_rate(&self, ratio: R, mu: R, along: R, normal_force: R, normal_rate: R) -> R {
        let pushed = self.stiffness * along - ratio * (self.healing(mu) * normal_force + mu * normal_rate);
        let resisting = self.stiffness + (self.approach(ratio) * mu - ratio * self.softening(mu)) * normal_force;
        let slip = pushed / resisting.max(self.stiffness * R::lit(1e-3));
        R::select(R::zero().lt(ratio), R::zero().max(slip), R::zero())
    }

    /// The differential equation for elastic stretch and friction coefficient (Ozaki, Hashiguchi and Chen 2007, eqs 5-29), along the contact
    /// surface.
    ///
    /// The stretch is the state and not q/F, because a change of the normal force alone leaves q as it is; but a normal
    /// force that falls makes R rise and so slip, and `normal_rate` is Ḟ, 0 if it is not known. Without it a falling
    /// normal force leaves the stretch longer than μ·F/α. There R counts as 1, the resistance is cut off at μ·F, and the
    /// rest ε of the stretch is given back by more slip,
    ///
    /// λ = λ(R = 1) + ε·(r·|v| + 1/τ_c):
    ///
    /// within the length of slip that R needs to come near 1 from below, and the contact time, if there is one; but not in less than
    /// `step` where that is given (above 0). So the rate has no jump at R = 1, where a stretch that just stopped would make steps of chosen length
    /// chatter; and λ ≥ t·v·ε/|uᵉ|, as the force cut off would else store more than it takes. An open contact (F ≤ 0) carries nothing, and what stretch it has is such a rest.
    #[inline(always)]
    pub fn rate<const N: usize>(
        &self,
        stretch: [R; N],
        mu: R,
        velocity: [R; N],
        normal_force: R,
        normal_rate: R,
        step: R,
    ) -> Rate<R, N> {
        self.rate_below(R::one(), stretch, mu, velocity, normal_force, normal_rate, step)
    }

    /// The same for an R of at most `most` in place of 1.
    ///
    /// Where bodies meet, stretch and normal force begin at 0 together, and R = α·|uᵉ|/(μ·F) could be anything: under a normal force
    /// that is next to 0 it stays what it is (U·μ·F = 0). It begins at 0, as it does everywhere, and no slip γ since then
    /// brings it beyond its flow from there: [`Evolution::ratio`](super::Evolution::ratio) of r·γ is the most.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // A bound beside what `rate` is asked.
    pub fn rate_below<const N: usize>(
        &self,
        most: R,
        stretch: [R; N],
        mu: R,
        velocity: [R; N],
        normal_force: R,
        normal_rate: R,
        step: R,
    ) -> Rate<R, N> {
        let loaded = R::zero().lt(normal_force);
        let limit = mu * R::zero().max(normal_force);
        let bound = most * limit;
        let (t, length) = direction(stretch);
        let carried = self.stiffness * length / R::select(loaded, limit, R::one());
        let along = dot(t, velocity);
        let slip = self.slip_rate(most.min(carried), mu, along, normal_force, normal_rate);
        let rest = R::zero().max(length - bound / self.stiffness);
        let stepped = R::zero().lt(step);
        let per_step = R::one() / R::select(stepped, step, R::one());
        let damped = R::zero().lt(self.contact_time);
        let per_time = R::select(
            damped,
            R::one() / R::select(damped, self.contact_time, R::one()),
            R::zero(),
        );
        let release = self.r * norm(velocity) + per_time;
        let released = rest * R::select(stepped, release.min(per_step), release);
        // A step of given length takes neither the stretch beyond 0 nor μ beyond μ_k and μ_s: too long a step is then wrong, but bounded.
        let longest = R::zero().max(along + length * per_step);
        let bounded = |slip: R| R::select(loaded, R::select(stepped, slip.min(longest), slip), R::zero());
        // A force that is cut off at the limit must not store more than it takes: α·|uᵉ|·(t·v − λ) ≤ μ·F·t·v.
        let passive = along * rest / R::select(R::zero().lt(length), length, R::one());
        let (plain, slip) = (bounded(slip), bounded((slip + released).max(passive)));
        let closed = R::select(loaded, R::one(), R::zero());
        let (fall, rise) = (self.softening(mu) * slip, self.healing(mu));
        let fallen = (mu - self.mu_kinetic).abs() * per_step;
        let risen = (self.mu_static - mu) * per_step;
        let fall = R::select(stepped, fall.abs().min(fallen).copysign(fall), fall);
        let rise = R::select(stepped, rise.min(risen), rise);
        Rate {
            resistance: gsat(bound, scale(stretch, self.stiffness)),
            stretch_rate: std::array::from_fn(|i| R::select(loaded, velocity[i] - t[i] * slip, -t[i] * released)),
            damped_rate: std::array::from_fn(|i| closed * (velocity[i] - t[i] * plain)),
            mu_rate: rise - fall,
            slip_rate: slip,
        }
    }

    /// The same in space, for the whole traction f ON the body with its normal part (Ozaki, Hashiguchi and Chen 2007, eqs 3-29).
    ///
    /// Ḟ = −α_n·n·v. Left sides of Ozaki, Hashiguchi and Chen (2007), eqs 7 and 26 are corotational rates: f turns with the surface, ω × f is added.
    #[inline(always)]
    pub fn traction_rate(&self, traction: [R; 3], mu: R, motion: &SurfaceMotion<R>) -> TractionRate<R> {
        let SurfaceMotion {
            normal: n,
            velocity,
            spin,
            normal_stiffness,
        } = *motion;
        let pressed = dot(n, traction);
        let tangential = sub(traction, scale(n, pressed));
        let opening = dot(n, velocity);
        let sliding = sub(velocity, scale(n, opening));
        let stretch = scale(tangential, -R::one() / self.stiffness);
        let normal_rate = -normal_stiffness * opening;
        let moved = self.rate(stretch, mu, sliding, pressed, normal_rate, R::zero());
        let corotational = sub(scale(n, normal_rate), scale(moved.stretch_rate, self.stiffness));
        let turned = [
            spin[1] * traction[2] - spin[2] * traction[1],
            spin[2] * traction[0] - spin[0] * traction[2],
            spin[0] * traction[1] - spin[1] * traction[0],
        ];
        TractionRate {
            traction_rate: add(corotational, turned),
            mu_rate: moved.mu_rate,
            slip_rate: moved.slip_rate,
        }
    }
}
