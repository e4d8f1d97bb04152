//! The open bucket for bodies: equations of motion written by the user, over `f64`, without an entry anywhere.

use super::Frame;
use crate::math::dense::{ldlt_factor, ldlt_solve};
use nalgebra::{Matrix3, Vector3};
use std::fmt;
use std::sync::Arc;

/// Most states of an element or a body of the user's own.
pub const MOST_STATES: usize = 12;
/// Most coordinates of a body of the user's own.
pub const MOST_COORDINATES: usize = 6;

/// What an element, or a body, of the user's own sees of the system.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Time, s.
    pub time: f64,
    /// Step of the stage, s: 0 where the method chooses its steps or forces are only looked at.
    pub step: f64,
    /// Normal force, for the friction of a contact and for friction with a normal force; 1 elsewhere.
    pub load: f64,
    /// Relative position of the first end to the second, one number per axis; the gap of a contact; coordinates of a body.
    pub position: &'a [f64],
    /// Its rate.
    pub velocity: &'a [f64],
    /// States of its own.
    pub state: &'a [f64],
}

/// A body of the user's own: coordinates q with velocities v = q̇, states z beyond motion, and the equations
///
/// M(q)·v̇ = load + h(q, v, z, t),  ż = rates(q, v, z, t)
///
/// The load is what elements at its ports exert. Every method uses the equations as they are; the implicit step takes M, h and the
/// rates at the start of the step, as for linkages. See [`crate::model::Model::own_body`] for an example.
pub trait OwnBody: Send + Sync {
    /// Names of the coordinates, one to [`MOST_COORDINATES`]: ports and columns of the trace are called after them.
    fn coordinates(&self) -> Vec<&str>;

    /// Writes M, row by row; it must be symmetric and positive definite. `matrix` comes filled with 0.
    ///
    /// The mass that elements feel at a port, from which their automatic parameters follow, is 1/(M⁻¹)ᵢᵢ at the start.
    fn inertia(&self, motion: &Motion<'_>, matrix: &mut [f64]);

    /// Writes h: gravity, springs within the body, centrifugal and Coriolis terms. `force` comes filled with 0.
    fn force(&self, motion: &Motion<'_>, force: &mut [f64]) {
        let _ = (motion, force);
    }

    /// Energy of the part of [`OwnBody::force`] that has a potential; kinetic energy is ½·vᵀ·M·v.
    fn potential(&self, motion: &Motion<'_>) -> f64 {
        let _ = motion;
        0.0
    }

    /// States beyond motion, at the start: at most [`MOST_STATES`].
    fn initial(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Names of those states, for columns of the trace; states without one have no column.
    fn state_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Writes the rates of those states.
    fn rates(&self, motion: &Motion<'_>, rate: &mut [f64]) {
        let _ = (motion, rate);
    }

    /// What it is, with its numbers: snapshots of systems whose bodies say different things do not fit each other.
    fn about(&self) -> String {
        "a body of the user's own".into()
    }

    /// Names of the places on the body that elements can take hold of as of a rigid body: contacts, joints, springs between points.
    fn frames(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Where a frame is at the coordinates `q`: its position, m, and how it is turned, in world axes.
    fn place(&self, frame: usize, q: &[f64]) -> (Vector3<f64>, Matrix3<f64>) {
        let _ = (frame, q);
        (Vector3::zeros(), Matrix3::identity())
    }
}

/// Whether a matrix is symmetric but for rounding.
pub(crate) fn is_symmetric(matrix: &[f64], n: usize) -> bool {
    let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
    (0..n).all(|i| (0..i).all(|j| alike(matrix[i * n + j], matrix[j * n + i])))
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
    /// Whether each coordinate is an angle or a length, where that is known: the units in which it is shown.
    pub turns: Vec<Option<bool>>,
}

impl fmt::Debug for OwnBodySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnBodySpec")
            .field("body", &self.body.about())
            .field("coordinates", &self.body.coordinates())
            .field("position", &self.position)
            .field("velocity", &self.velocity)
            .finish()
    }
}

/// A body of the user's own and where its state is.
#[derive(Clone)]
pub struct PlacedOwn {
    /// Its equations.
    pub body: Arc<dyn OwnBody>,
    /// First position.
    pub q: usize,
    /// First velocity.
    pub v: usize,
    /// Number of coordinates.
    pub count: usize,
    /// First of the states beyond motion.
    pub state: usize,
    /// Number of these.
    pub states: usize,
    /// The signal of the time.
    pub time: usize,
}

/// How a frame moves with the coordinates of its body: columns of the Jacobians of position and rotation.
pub(crate) struct FrameColumns {
    pub(crate) position: [Vector3<f64>; MOST_COORDINATES],
    pub(crate) turn: [Vector3<f64>; MOST_COORDINATES],
}

impl PlacedOwn {
    /// Positions and velocities in a state.
    fn motion<'a>(&self, state: &'a [f64], signals: &[f64]) -> Motion<'a> {
        Motion {
            // Before the signals are known the time is 0.
            time: signals.get(self.time).copied().unwrap_or(0.0),
            step: 0.0,
            load: 1.0,
            position: &state[self.q..self.q + self.count],
            velocity: &state[self.v..self.v + self.count],
            state: &state[self.state..self.state + self.states],
        }
    }

    /// Positions in a state.
    pub(crate) fn position<'a>(&self, state: &'a [f64]) -> &'a [f64] {
        &state[self.q..self.q + self.count]
    }

    /// M, row by row, in the first numbers.
    pub(crate) fn inertia(&self, state: &[f64], signals: &[f64]) -> [f64; MOST_COORDINATES * MOST_COORDINATES] {
        let mut matrix = [0.0; MOST_COORDINATES * MOST_COORDINATES];
        self.body
            .inertia(&self.motion(state, signals), &mut matrix[..self.count * self.count]);
        matrix
    }

    /// Its own forces, and the rates of its states, in the first numbers.
    pub(crate) fn forces(&self, state: &[f64], signals: &[f64]) -> ([f64; MOST_COORDINATES], [f64; MOST_STATES]) {
        let motion = self.motion(state, signals);
        let (mut force, mut rates) = ([0.0; MOST_COORDINATES], [0.0; MOST_STATES]);
        self.body.force(&motion, &mut force[..self.count]);
        if self.states > 0 {
            self.body.rates(&motion, &mut rates[..self.states]);
        }
        (force, rates)
    }

    /// v̇ = M⁻¹·(load + h) and the rates of states, into the rate of the state. Not inlined: networks without such bodies must not pay
    /// for it.
    #[inline(never)]
    pub(crate) fn accelerate(&self, state: &[f64], signals: &[f64], load: &[f64], rate: &mut [f64]) {
        let motion = self.motion(state, signals);
        let mut force = [0.0; MOST_COORDINATES];
        let force = &mut force[..self.count];
        self.body.force(&motion, force);
        for (force, load) in force.iter_mut().zip(&load[self.v..]) {
            *force += load;
        }
        let mut matrix = self.inertia(state, signals);
        let symmetric = is_symmetric(&matrix, self.count);
        let sizes: [f64; MOST_COORDINATES] = std::array::from_fn(|i| matrix[i * self.count + i]);
        ldlt_factor(&mut matrix, self.count);
        // The factors are kept away from 0: what came near it is no inertia, and the run ends with a velocity that is no number.
        let positive = (0..self.count).all(|i| matrix[i * self.count + i] > 4.0 * f64::EPSILON * sizes[i].abs());
        ldlt_solve(&matrix, self.count, force);
        if !(symmetric && positive) {
            force.fill(f64::NAN);
        }
        rate[self.v..self.v + self.count].copy_from_slice(force);
        if self.states > 0 {
            let mut rates = [0.0; MOST_STATES];
            self.body.rates(&motion, &mut rates[..self.states]);
            rate[self.state..self.state + self.states].copy_from_slice(&rates[..self.states]);
        }
    }

    /// Kinetic and potential energy.
    pub(crate) fn energy(&self, state: &[f64], signals: &[f64]) -> f64 {
        self.energy_of(&self.motion(state, signals))
    }

    fn energy_of(&self, motion: &Motion<'_>) -> f64 {
        let mut matrix = [0.0; MOST_COORDINATES * MOST_COORDINATES];
        self.body.inertia(motion, &mut matrix[..self.count * self.count]);
        let v = motion.velocity;
        let momentum = |i: usize| (0..self.count).map(|j| matrix[i * self.count + j] * v[j]).sum::<f64>();
        let kinetic: f64 = (0..self.count).map(|i| 0.5 * v[i] * momentum(i)).sum();
        kinetic + self.body.potential(motion)
    }

    /// The power of its own forces that its energy does not hold: how fast its energy changes at a rate of the state, less the power of the
    /// loads. By a central difference along the motion, as inertia and potential are any functions.
    pub(crate) fn power_within(&self, state: &[f64], signals: &[f64], load: &[f64], rate: &[f64]) -> f64 {
        let motion = self.motion(state, signals);
        let (count, states) = (self.count, self.states);
        let rates = [
            motion.velocity,
            &rate[self.v..self.v + count],
            &rate[self.state..self.state + states],
        ];
        let most = |values: [&[f64]; 3]| {
            values
                .iter()
                .flat_map(|part| part.iter())
                .fold(0.0f64, |most, x| most.max(x.abs()))
        };
        let fastest = most(rates);
        let given: f64 = motion
            .velocity
            .iter()
            .zip(&load[self.v..])
            .map(|(v, load)| v * load)
            .sum();
        // The third root of the rounding balances rounding against curvature; what is at rest may still have a potential that changes with time.
        let size = most([motion.position, motion.velocity, motion.state]).max(1e-3);
        let change = 6e-6 * if fastest > 0.0 { size / fastest } else { 1.0 };
        let ends = [1.0, -1.0].map(|sign| {
            let (mut q, mut v, mut z) = ([0.0; MOST_COORDINATES], [0.0; MOST_COORDINATES], [0.0; MOST_STATES]);
            let parts: [&mut [f64]; 3] = [&mut q[..count], &mut v[..count], &mut z[..states]];
            let values = [motion.position, motion.velocity, motion.state];
            for ((part, values), rates) in parts.into_iter().zip(values).zip(rates) {
                for ((number, value), rate) in part.iter_mut().zip(values).zip(rates) {
                    *number = value + sign * change * rate;
                }
            }
            self.energy_of(&Motion {
                time: motion.time + sign * change,
                position: &q[..count],
                velocity: &v[..count],
                state: &z[..states],
                ..motion
            })
        });
        (ends[0] - ends[1]) / (2.0 * change) - given
    }

    /// How a frame moves with the coordinates, by central differences: ∂p/∂qᵢ, and the vector of (∂R/∂qᵢ)·Rᵀ.
    pub(crate) fn columns(&self, frame: usize, state: &[f64]) -> FrameColumns {
        let mut q = [0.0; MOST_COORDINATES];
        q[..self.count].copy_from_slice(&state[self.q..self.q + self.count]);
        let (_, rotation) = self.body.place(frame, &q[..self.count]);
        let mut columns = FrameColumns {
            position: [Vector3::zeros(); MOST_COORDINATES],
            turn: [Vector3::zeros(); MOST_COORDINATES],
        };
        for i in 0..self.count {
            let middle = q[i];
            let change = 6e-6 * middle.abs().max(1.0);
            q[i] = middle + change;
            let (ahead, ahead_turned) = self.body.place(frame, &q[..self.count]);
            q[i] = middle - change;
            let (behind, behind_turned) = self.body.place(frame, &q[..self.count]);
            q[i] = middle;
            columns.position[i] = (ahead - behind) / (2.0 * change);
            let spin = (ahead_turned - behind_turned) / (2.0 * change) * rotation.transpose();
            columns.turn[i] = 0.5
                * Vector3::new(
                    spin[(2, 1)] - spin[(1, 2)],
                    spin[(0, 2)] - spin[(2, 0)],
                    spin[(1, 0)] - spin[(0, 1)],
                );
        }
        columns
    }

    /// Placement and motion of a frame.
    pub(crate) fn frame(&self, frame: usize, state: &[f64]) -> Frame {
        let (position, rotation) = self.body.place(frame, self.position(state));
        let columns = self.columns(frame, state);
        let (mut velocity, mut angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        for i in 0..self.count {
            velocity += columns.position[i] * state[self.v + i];
            angular_velocity += columns.turn[i] * state[self.v + i];
        }
        Frame {
            rotation,
            position,
            velocity,
            angular_velocity,
        }
    }
}
