//! Springs and dampers between coordinates (the paper on modular simulation, eq 10): force on the first −k(x₁ − x₂ − length) − d(v₁ − v₂).

use super::{Elements, Observation};
use crate::network::abreast::{Kernel, RespondAbreast, Vectorised, WIDTH, Wide, common, join, of_one_kind, side};
use crate::network::port::Pair;
use crate::network::stage::{Coordinates, Stage};
use crate::network::tangent::Tangent;
use std::any::Any;
use stickslip_core::scalar::vector::{dot, scale, vector};
use stickslip_core::scalar::{Mask, Real};

/// A spring and damper.
#[derive(Clone, Copy, Debug)]
pub struct Spring<R = f64> {
    /// Number of the element in the network.
    pub element: usize,
    /// What it connects.
    pub pair: Pair<R>,
    /// Stiffness k.
    pub stiffness: R,
    /// Damping d.
    pub damping: R,
    /// Natural length; in the plane and in space along the line between the ends.
    pub length: R,
}

impl<R: Real> Spring<R> {
    /// Force on the first coordinate, relative velocity and stretch.
    #[inline(always)]
    fn force<const N: usize>(&self, state: &[R]) -> ([R; N], [R; N], R) {
        let offset: [R; N] = self.pair.position(state);
        let velocity: [R; N] = self.pair.velocity(state);
        if N == 1 || self.length.same(R::zero()).all() {
            let natural = if N == 1 { self.length } else { R::zero() };
            let (mut stretch, mut force) = (R::zero(), velocity);
            for i in 0..N {
                let s = offset[i] - natural;
                stretch += s * s;
                force[i] = -self.stiffness * s - self.damping * velocity[i];
            }
            // The stretch of one axis keeps its sign: it decides between compression and tension.
            let stretch = if N == 1 { offset[0] - natural } else { stretch.sqrt() };
            return (force, velocity, stretch);
        }
        let distance = dot(offset, offset).sqrt();
        let apart = R::zero().lt(distance);
        let divisor = R::select(apart, distance, R::one());
        let direction = vector(|i| R::select(apart, offset[i] / divisor, R::zero()));
        let closing = dot(direction, velocity);
        let stretch = distance - self.length;
        let pull = -self.stiffness * stretch - self.damping * closing;
        (scale(direction, pull), velocity, stretch)
    }
}

impl Spring {
    /// Derivatives of the force. Along a line with unit vector u, distance r and closing speed c = u·v the force is p·u with
    /// p = −k(r − length) − d·c, and du/dx = (1 − u·uᵀ)/r.
    fn tangent<const N: usize>(&self, tangent: &mut Tangent<'_>) {
        if N == 1 || self.length == 0.0 {
            for i in 0..N {
                tangent.add_stiffness(&self.pair, i, i, -self.stiffness);
                tangent.add_damping(&self.pair, i, i, -self.damping);
            }
            return;
        }
        let offset: [f64; N] = self.pair.position(tangent.state);
        let velocity: [f64; N] = self.pair.velocity(tangent.state);
        let distance = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
        if distance == 0.0 {
            return;
        }
        let line = offset.map(|x| x / distance);
        let closing: f64 = (0..N).map(|i| line[i] * velocity[i]).sum();
        let pull = -self.stiffness * (distance - self.length) - self.damping * closing;
        for i in 0..N {
            for j in 0..N {
                let across = if i == j { 1.0 } else { 0.0 } - line[i] * line[j];
                let sideways = (velocity[j] - closing * line[j]) / distance;
                let along = -self.stiffness * line[j] - self.damping * sideways;
                tangent.add_stiffness(&self.pair, i, j, along * line[i] + pull * across / distance);
                tangent.add_damping(&self.pair, i, j, -self.damping * line[i] * line[j]);
            }
        }
    }
}

/// Springs between coordinates of `N` axes.
#[derive(Clone, Debug, Default)]
pub struct Springs<const N: usize, R = f64>(pub Vec<Spring<R>>);

impl<const N: usize, R: Real> Springs<N, R> {
    #[inline(always)]
    pub(crate) fn act(&self, at: Coordinates<'_, R>, mut note: impl FnMut(usize, &[R; N], &[R; N], R, R)) {
        for spring in &self.0 {
            let (force, velocity, stretch) = spring.force::<N>(at.state);
            spring.pair.scatter(at.load, &force);
            at.compression[spring.element] = (-spring.stiffness * stretch).max(R::zero());
            note(spring.element, &force, &velocity, stretch, spring.stiffness);
        }
    }
}

impl<const N: usize> Kernel<Coordinates<'_, Wide>> for Springs<N, Wide> {
    #[inline(always)]
    fn run(&self, at: Coordinates<'_, Wide>) {
        self.act(at, |_, _, _, _, _| ());
    }
}

impl<const N: usize> Elements for Springs<N> {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.act(stage.coordinates(), |_, _, _, _, _| ());
    }

    fn abreast(&self, all: &[&dyn Elements; WIDTH]) -> Option<RespondAbreast> {
        let all = of_one_kind::<Springs<1>>(all.map(|group| group as &dyn Any))?;
        let springs = join(all.map(|own| &own.0), |each| {
            Some(Spring {
                element: common(each, |one| one.element)?,
                pair: Pair::abreast(each.map(|one| &one.pair))?,
                stiffness: side(each, |one| one.stiffness),
                damping: side(each, |one| one.damping),
                length: side(each, |one| one.length),
            })
        })?;
        Some(Box::new(Vectorised(Springs::<1, Wide>(springs))))
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.act(stage.coordinates(), |element, force, velocity, stretch, stiffness| {
            seen[element] = Observation {
                stored: 0.5 * stiffness * stretch * stretch,
                curvature: stiffness,
                normal: (-stiffness * stretch).max(0.0),
                ..Observation::of(force, velocity)
            };
        });
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        self.0.iter().for_each(|spring| spring.tangent::<N>(tangent));
        true
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for spring in &self.0 {
            let seen = &mut seen[spring.element];
            spring.pair.regather::<N>(stage.state, seen);
            seen.hauled = stage.network.hauled::<N>(&spring.pair, stage.state);
        }
    }
}
