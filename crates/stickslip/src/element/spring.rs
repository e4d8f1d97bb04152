//! Springs and dampers between coordinates (seed 004, eq 10): force on the first −k(x₁ − x₂ − length) − d(v₁ − v₂).

use super::{Elements, Observation};
use crate::network::port::Pair;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;

/// A spring and damper.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// Number of the element in the network.
    pub element: usize,
    /// What it connects.
    pub pair: Pair,
    /// Stiffness k.
    pub stiffness: f64,
    /// Damping d.
    pub damping: f64,
    /// Natural length; in the plane and in space along the line between the ends.
    pub length: f64,
}

impl Spring {
    /// Force on the first coordinate, relative velocity and stretch.
    #[inline(always)]
    fn force<const N: usize>(&self, state: &[f64]) -> ([f64; N], [f64; N], f64) {
        let offset: [f64; N] = self.pair.position(state);
        let velocity: [f64; N] = self.pair.velocity(state);
        if N == 1 || self.length == 0.0 {
            let natural = if N == 1 { self.length } else { 0.0 };
            let mut stretch = 0.0;
            let force = std::array::from_fn(|i| {
                let s = offset[i] - natural;
                stretch += s * s;
                -self.stiffness * s - self.damping * velocity[i]
            });
            // The stretch of one axis keeps its sign: it decides between compression and tension.
            let stretch = if N == 1 { offset[0] - natural } else { stretch.sqrt() };
            return (force, velocity, stretch);
        }
        let distance = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
        let direction: [f64; N] = std::array::from_fn(|i| if distance > 0.0 { offset[i] / distance } else { 0.0 });
        let closing: f64 = (0..N).map(|i| direction[i] * velocity[i]).sum();
        let stretch = distance - self.length;
        let pull = -self.stiffness * stretch - self.damping * closing;
        (std::array::from_fn(|i| pull * direction[i]), velocity, stretch)
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
pub struct Springs<const N: usize>(pub Vec<Spring>);

impl<const N: usize> Springs<N> {
    #[inline(always)]
    pub(crate) fn run(&self, stage: &mut Stage<'_>, mut note: impl FnMut(usize, &[f64; N], &[f64; N], f64, f64)) {
        for spring in &self.0 {
            let (force, velocity, stretch) = spring.force::<N>(stage.state);
            spring.pair.scatter(stage.load, &force);
            stage.compression[spring.element] = (-spring.stiffness * stretch).max(0.0);
            note(spring.element, &force, &velocity, stretch, spring.stiffness);
        }
    }
}

impl<const N: usize> Elements for Springs<N> {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage, |_, _, _, _, _| ());
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run(stage, |element, force, velocity, stretch, stiffness| {
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
            spring.pair.regather::<N>(stage.state, &mut seen[spring.element]);
        }
    }
}
