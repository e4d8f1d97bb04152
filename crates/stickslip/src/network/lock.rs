//! Rigid couplings of the implicit step: gears that do not give, and joints that close loops of bodies.
//!
//! A gear keeps r₁·q₁ − r₂·q₂; a joint keeps two points together, or on a line, and axes parallel. Both are rows of the coupled solve that end with
//! velocity 0 under any force ([`Block::Lock`](super::coupled::Block)).
//!
//! **Closed to rounding.** The rows of a joint turn with its bodies, so that motion along them would leave the loop by T² in each step. Its rows therefore get
//! the velocities with which the *positions* at the end of the step close it: the island is solved again with what is open, until nothing is (SHAKE: Ryckaert,
//! Ciccotti and Berendsen 1977). Afterwards the velocities at the end of the step lose what would open it there (RATTLE: Andersen 1983), which takes energy
//! and never gives any. Both forces together are that of the joint.

// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::Network;
use super::coupled::{Rows, Side};
use super::implicit::{Hold, pair_sides};
use super::port::{Attachment, Pair};
use super::rigid::tangents;
use super::sparse::Pattern;
use crate::body::{Frame, LinkageScratch};
use nalgebra::{Matrix3, Vector3};

/// How two bodies are jointed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointType {
    /// Turns about an axis.
    Revolute,
    /// Slides along an axis.
    Prismatic,
    /// Turns about a point.
    Spherical,
    /// Does not move.
    Fixed,
}

/// A rigid coupling.
#[derive(Clone, Debug)]
pub struct Lock {
    /// Number of the element in the network.
    pub element: usize,
    /// What it couples.
    pub kind: LockKind,
}

/// What a rigid coupling holds.
#[derive(Clone, Debug)]
pub enum LockKind {
    /// A pair of coordinates whose relative motion stays what it was.
    Gear(Pair),
    /// Two bodies.
    Joint(RigidJoint),
}

/// A joint that does not give.
#[derive(Clone, Debug)]
pub struct RigidJoint {
    /// What moves freely.
    pub kind: JointType,
    /// The joined bodies.
    pub bodies: [Attachment; 2],
    /// Joint point in the axes of each body.
    pub at: [Vector3<f64>; 2],
    /// Joint axis in the axes of each body.
    pub axis: [Vector3<f64>; 2],
    /// How the second body is turned in the axes of the first at the start: what counts as not bent.
    pub rest: Matrix3<f64>,
}

/// Which rows of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Those that keep points together.
    Place,
    /// Those that keep directions.
    Turn,
}

/// Where bodies are.
pub(crate) type Placed<'a> = (&'a [Frame], &'a [LinkageScratch]);
/// How an element takes hold of the bodies of its island.
pub(crate) type Taken<'a> = (&'a Hold, &'a Pattern, &'a [usize]);

impl Lock {
    /// How many blocks and rows it has.
    pub fn size(&self) -> (usize, usize) {
        match &self.kind {
            LockKind::Gear(_) => (1, 1),
            LockKind::Joint(joint) => {
                let rows = [Keeps::Place, Keeps::Turn].map(|keeps| joint.rows(keeps));
                (1 + usize::from(rows[1] > 0), rows[0] + rows[1])
            }
        }
    }

    /// The joint, if it is one.
    pub(crate) fn joint(&self) -> Option<&RigidJoint> {
        match &self.kind {
            LockKind::Joint(joint) => Some(joint),
            LockKind::Gear(_) => None,
        }
    }
}

/// A joint where its bodies are now.
pub(crate) struct Standing {
    /// The joint point of each body.
    pub(crate) points: [Vector3<f64>; 2],
    /// Directions along or about which nothing moves, and how far the joint is open there.
    pub(crate) directions: [Vector3<f64>; 3],
    pub(crate) open: [f64; 3],
    /// Openings below this are rounding.
    pub(crate) rounding: f64,
}

impl RigidJoint {
    /// How many rows it has of a kind.
    pub(crate) fn rows(&self, keeps: Keeps) -> usize {
        match (self.kind, keeps) {
            (JointType::Prismatic, Keeps::Place) | (JointType::Revolute, Keeps::Turn) => 2,
            (JointType::Spherical, Keeps::Turn) => 0,
            _ => 3,
        }
    }

    /// The rows of a kind, where the bodies are.
    pub(crate) fn stand(&self, keeps: Keeps, network: &Network, state: &[f64], (frames, linkages): Placed) -> Standing {
        let [first, second] = self.bodies.map(|body| body.frame(network, state, frames, linkages));
        let points = [first.point_position(&self.at[0]), second.point_position(&self.at[1])];
        let axis = second.rotation * self.axis[1];
        // Free motion of the joint along or about its axis comes last, and is left out. Otherwise the axis comes first: in loops that lie in a
        // plane nothing moves along it, and its row is empty.
        let directions = if axis == Vector3::zeros() {
            [Vector3::x(), Vector3::y(), Vector3::z()]
        } else {
            let (one, other) = tangents(&axis, false);
            match self.rows(keeps) {
                2 => [one, other, axis],
                _ => [axis, one, other],
            }
        };
        let apart = match keeps {
            Keeps::Place => points[0] - points[1],
            Keeps::Turn => bending(self.kind, &self.axis, &self.rest, &first, &second),
        };
        let size = match keeps {
            Keeps::Place => {
                let sizes = [&first, &second].map(|frame| frame.position.norm());
                sizes[0] + sizes[1] + self.at[0].norm() + self.at[1].norm()
            }
            Keeps::Turn => 1.0,
        };
        Standing {
            points,
            directions,
            open: directions.map(|direction| direction.dot(&apart)),
            rounding: 4.0 * f64::EPSILON * size,
        }
    }
}

/// Bending of a joint: the rotation vector that would turn the second body's side of it into the first's, to first order in the angle, in world axes.
pub(crate) fn bending(
    kind: JointType,
    axis: &[Vector3<f64>; 2],
    rest: &Matrix3<f64>,
    first: &Frame,
    second: &Frame,
) -> Vector3<f64> {
    match kind {
        JointType::Spherical => Vector3::zeros(),
        // Only the axes must agree: their cross product is the small angle between them.
        JointType::Revolute => (second.rotation * axis[1]).cross(&(first.rotation * axis[0])),
        JointType::Prismatic | JointType::Fixed => {
            let held = second.rotation * rest.transpose();
            let mut bend = Vector3::zeros();
            for k in 0..3 {
                bend += 0.5 * held.column(k).cross(&first.rotation.column(k));
            }
            bend
        }
    }
}

/// Entries of a row, m/s for a velocity of 1, that are rounding.
const IMMOVABLE: f64 = 1e-12;

/// Writes rows of the Jacobian: velocities of a point of each body along directions, or their turning about them, the first less the second; and these
/// velocities in a state. A row along which nothing moves is empty, and so is its velocity if all that it holds is in the island.
#[allow(clippy::too_many_arguments)]
pub(crate) fn write_point_rows(
    network: &Network,
    (bodies, points): ([Attachment; 2], &[Vector3<f64>; 2]),
    (directions, keeps): (&[Vector3<f64>], Keeps),
    after: &[f64],
    (frames, linkages): Placed,
    (hold, pattern, local): Taken,
    jacobian: &mut Vec<f64>,
    free: &mut Vec<f64>,
) -> Rows {
    let count = directions.len();
    let mut rows = Rows {
        first: free.len(),
        count,
        sides: [Side::NONE; 2],
        across: hold.across,
    };
    for which in 0..2 {
        let body = hold.bodies[which];
        if body != Side::NONE.body {
            let (at, len) = (jacobian.len(), pattern.size(body));
            jacobian.resize(at + count * len, 0.0);
            rows.sides[which] = Side {
                body,
                first: 0,
                len,
                at,
            };
        }
    }
    for (axis, direction) in directions.iter().enumerate() {
        let (mut velocity, mut size, mut given) = (0.0, 0.0, false);
        for (which, (body, sign)) in bodies.iter().zip([1.0, -1.0]).enumerate() {
            // Two links of one linkage share a side.
            let side = match rows.sides[which].len {
                0 => rows.sides[0],
                _ => rows.sides[which],
            };
            let (force, torque) = match keeps {
                Keeps::Place => (*direction, Vector3::zeros()),
                Keeps::Turn => (Vector3::zeros(), *direction),
            };
            body.work_on(
                network,
                frames,
                linkages,
                (&force, &torque, &points[which]),
                |v, value| {
                    velocity += sign * value * after[v];
                    size += (value * after[v]).abs();
                    if local[v] == usize::MAX {
                        given |= value != 0.0;
                    } else {
                        jacobian[side.at + axis * side.len + local[v]] += sign * value;
                    }
                },
            );
        }
        // Rounding is no motion.
        if velocity.abs() <= 16.0 * f64::EPSILON * size {
            velocity = 0.0;
        }
        let lines = rows
            .sides
            .map(|side| side.at + axis * side.len..side.at + (axis + 1) * side.len);
        if lines
            .iter()
            .all(|line| jacobian[line.clone()].iter().all(|entry| entry.abs() <= IMMOVABLE))
        {
            lines.into_iter().for_each(|line| jacobian[line].fill(0.0));
            if !given {
                velocity = 0.0;
            }
        }
        free.push(velocity);
    }
    rows
}

/// Writes the row of a gear.
pub(crate) fn write_gear_row(
    pair: &Pair,
    after: &[f64],
    (hold, _, local): Taken,
    jacobian: &mut Vec<f64>,
    free: &mut Vec<f64>,
) -> Rows {
    let mut rows = Rows {
        first: free.len(),
        count: 1,
        sides: [Side::NONE; 2],
        across: hold.across,
    };
    pair_sides(pair, 1, 1.0, hold, local, &mut rows, jacobian);
    free.push(pair.velocity::<1>(after)[0]);
    rows
}
