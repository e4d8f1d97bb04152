//! The open bucket for bodies: equations of motion written by the user, over `f64`, without an entry anywhere.

use crate::network::dense::{ldlt_factor, ldlt_solve};
use std::fmt;
use std::sync::Arc;

/// Most coordinates of a body of the user's own.
pub const MOST_COORDINATES: usize = 6;

/// A body of the user's own: coordinates q with velocities v = q̇ and the equation
///
/// M(q)·v̇ = load + h(q, v)
///
/// The load is what elements at its ports exert. Every method uses the equation as it is; the implicit step takes M and h
/// at the start of the step, as for linkages. See [`crate::model::Model::own_body`] for an example.
pub trait OwnBody: Send + Sync {
    /// Names of the coordinates, one to [`MOST_COORDINATES`]: ports and columns of the trace are called after them.
    fn coordinates(&self) -> &[&str];

    /// Writes M(q), row by row; it must be symmetric and positive definite. `matrix` comes filled with 0.
    ///
    /// The mass that elements feel at a port, from which their automatic parameters follow, is 1/(M⁻¹)ᵢᵢ at the start.
    fn inertia(&self, q: &[f64], matrix: &mut [f64]);

    /// Writes h(q, v): gravity, springs within the body, centrifugal and Coriolis terms. `force` comes filled with 0.
    fn force(&self, q: &[f64], v: &[f64], force: &mut [f64]) {
        let _ = (q, v, force);
    }

    /// Energy of the part of [`OwnBody::force`] that has a potential; kinetic energy is ½·vᵀ·M·v.
    fn potential(&self, q: &[f64]) -> f64 {
        let _ = q;
        0.0
    }
}

/// A body of the user's own and its initial motion.
#[derive(Clone)]
pub struct OwnBodySpec {
    /// Its equations.
    pub body: Arc<dyn OwnBody>,
    /// Initial positions, one per coordinate.
    pub position: Vec<f64>,
    /// Initial velocities, one per coordinate.
    pub velocity: Vec<f64>,
}

impl fmt::Debug for OwnBodySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnBodySpec")
            .field("coordinates", &self.body.coordinates())
            .field("position", &self.position)
            .field("velocity", &self.velocity)
            .finish()
    }
}

/// A body of the user's own and where its state is.
pub struct PlacedOwn {
    /// Its equations.
    pub body: Arc<dyn OwnBody>,
    /// First position.
    pub q: usize,
    /// First velocity.
    pub v: usize,
    /// Number of coordinates.
    pub count: usize,
}

impl PlacedOwn {
    /// Positions and velocities in a state.
    fn motion<'a>(&self, state: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        (&state[self.q..self.q + self.count], &state[self.v..self.v + self.count])
    }

    /// M(q), row by row, in the first numbers.
    pub(crate) fn inertia(&self, state: &[f64]) -> [f64; MOST_COORDINATES * MOST_COORDINATES] {
        let mut matrix = [0.0; MOST_COORDINATES * MOST_COORDINATES];
        self.body
            .inertia(self.motion(state).0, &mut matrix[..self.count * self.count]);
        matrix
    }

    /// v̇ = M⁻¹·(load + h), into the rate of the state. Not inlined: networks without such bodies must not pay for it.
    #[inline(never)]
    pub(crate) fn accelerate(&self, state: &[f64], load: &[f64], rate: &mut [f64]) {
        let (q, v) = self.motion(state);
        let mut force = [0.0; MOST_COORDINATES];
        let force = &mut force[..self.count];
        self.body.force(q, v, force);
        for (force, load) in force.iter_mut().zip(&load[self.v..]) {
            *force += load;
        }
        let mut matrix = self.inertia(state);
        ldlt_factor(&mut matrix, self.count);
        ldlt_solve(&matrix, self.count, force);
        rate[self.v..self.v + self.count].copy_from_slice(force);
    }

    /// Kinetic and potential energy.
    pub(crate) fn energy(&self, state: &[f64]) -> f64 {
        let (q, v) = self.motion(state);
        let matrix = self.inertia(state);
        let momentum = |i: usize| (0..self.count).map(|j| matrix[i * self.count + j] * v[j]).sum::<f64>();
        let kinetic: f64 = (0..self.count).map(|i| 0.5 * v[i] * momentum(i)).sum();
        kinetic + self.body.potential(q)
    }
}
