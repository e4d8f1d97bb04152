//! Where elements take hold of bodies: gathering motion and scattering force with the same geometry.

use super::Network;
use super::stage::Stage;
use super::tangent::Tangent;
use crate::body::frame::{FrameSlope, turn_by_component, unit};
use crate::body::{Frame, LinkageScratch};
use nalgebra::Vector3;
use stickslip_core::scalar::Real;
use stickslip_core::scalar::vector::vector;

/// A coordinate, or the first of a run of them, in the flat state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Index of the position.
    pub q: usize,
    /// Index of the velocity; the generalised force has the same index.
    pub v: usize,
}

/// Two coordinates and their ratios: relative motion r₁·q₁ − r₂·q₂, force r₁·f on the first and −r₂·f on the second.
/// The same numbers gather and scatter, so no power is lost or made (Ψ and Φ of the paper on modular simulation, eq 13).
#[derive(Clone, Copy, Debug)]
pub struct Pair<R = f64> {
    /// The first coordinate.
    pub first: Coordinate,
    /// The second coordinate; the ground is a coordinate that never moves.
    pub second: Coordinate,
    /// r₁ and r₂.
    pub ratio: [R; 2],
    /// 1/r₁ and 1/r₂ (0 where a ratio is 0).
    pub inverse_ratio: [R; 2],
}

impl Pair {
    /// Two coordinates with their ratios.
    pub fn new(first: Coordinate, second: Coordinate, ratio: [f64; 2]) -> Self {
        let inverse_ratio = ratio.map(|r| if r == 0.0 { 0.0 } else { 1.0 / r });
        Pair {
            first,
            second,
            ratio,
            inverse_ratio,
        }
    }
}

impl<R: Real> Pair<R> {
    /// Relative position.
    #[inline(always)]
    pub fn position<const N: usize>(&self, state: &[R]) -> [R; N] {
        self.difference(state, self.first.q, self.second.q)
    }

    /// Relative velocity.
    #[inline(always)]
    pub fn velocity<const N: usize>(&self, state: &[R]) -> [R; N] {
        self.difference(state, self.first.v, self.second.v)
    }

    #[inline(always)]
    fn difference<const N: usize>(&self, state: &[R], first: usize, second: usize) -> [R; N] {
        let (first, second) = (&state[first..first + N], &state[second..second + N]);
        vector(|i| self.ratio[0] * first[i] - self.ratio[1] * second[i])
    }

    /// Adds a force on the first coordinate and its reaction on the second.
    #[inline(always)]
    pub fn scatter<const N: usize>(&self, load: &mut [R], force: &[R; N]) {
        for (slot, f) in load[self.first.v..self.first.v + N].iter_mut().zip(force) {
            *slot += self.ratio[0] * *f;
        }
        for (slot, f) in load[self.second.v..self.second.v + N].iter_mut().zip(force) {
            *slot -= self.ratio[1] * *f;
        }
    }
}

impl Pair {
    /// Velocity and power of an observed force, after the velocities have changed.
    pub fn regather<const N: usize>(&self, state: &[f64], seen: &mut super::groups::Observation) {
        let velocity: [f64; N] = self.velocity(state);
        seen.velocity[..N].copy_from_slice(&velocity);
        seen.power = seen.force.iter().zip(&velocity).map(|(f, v)| f * v).sum();
    }
}

/// A body that an element takes hold of at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// The fixed world.
    Ground,
    /// A point mass or a driver with two or three axes.
    Point {
        /// Its first coordinate.
        coordinate: Coordinate,
        /// Number of axes.
        axes: usize,
    },
    /// A rigid body.
    Rigid(usize),
    /// A link of a linkage.
    Link {
        /// The linkage.
        linkage: usize,
        /// The link.
        link: usize,
    },
    /// A frame of a body of the user's own.
    Own {
        /// The body.
        own: usize,
        /// The frame.
        frame: usize,
    },
}

impl Attachment {
    /// Velocity of a body that does not turn: the ground, a point or a driver.
    pub(crate) fn velocity(self, state: &[f64]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        if let Attachment::Point { coordinate, axes } = self {
            velocity[..axes].copy_from_slice(&state[coordinate.v..coordinate.v + axes]);
        }
        velocity
    }

    /// Placement and motion of the body.
    #[inline]
    pub fn frame(self, network: &Network, state: &[f64], frames: &[Frame], linkages: &[LinkageScratch]) -> Frame {
        match self {
            Attachment::Ground => Frame::ground(),
            Attachment::Point { coordinate, axes } => {
                let mut frame = Frame::ground();
                for i in 0..axes {
                    frame.position[i] = state[coordinate.q + i];
                    frame.velocity[i] = state[coordinate.v + i];
                }
                frame
            }
            Attachment::Rigid(body) => frames[body],
            Attachment::Link { linkage, link } => *network.linkages[linkage].body.frame(&linkages[linkage], link),
            Attachment::Own { own, frame } => network.own_bodies[own].frame(frame, state),
        }
    }

    /// Adds a force at a point and a torque, both in world axes.
    #[inline]
    pub fn apply(self, stage: &mut Stage<'_>, force: &Vector3<f64>, torque: &Vector3<f64>, point: &Vector3<f64>) {
        match self {
            Attachment::Ground => (),
            Attachment::Point { coordinate, axes } => {
                for i in 0..axes {
                    stage.load[coordinate.v + i] += force[i];
                }
            }
            Attachment::Rigid(body) => {
                let v = stage.network.bodies[body].v;
                let moment = torque + (point - stage.frames[body].position).cross(force);
                for i in 0..3 {
                    stage.load[v + i] += force[i];
                    stage.load[v + 3 + i] += moment[i];
                }
            }
            Attachment::Link { linkage, link } => {
                let body = &stage.network.linkages[linkage].body;
                body.apply(&mut stage.linkages[linkage], link, force, torque, point);
            }
            Attachment::Own { own, frame } => {
                let placed = &stage.network.own_bodies[own];
                let columns = placed.columns(frame, stage.state);
                let (position, _) = placed.body.place(frame, placed.position(stage.state));
                let moment = torque + (point - position).cross(force);
                for i in 0..placed.count {
                    stage.load[placed.v + i] += columns.position[i].dot(force) + columns.turn[i].dot(&moment);
                }
            }
        }
    }

    /// Calls `add` with every velocity that a force at a point and a torque work on, and how much.
    #[inline]
    pub(crate) fn work_on(
        self,
        network: &Network,
        frames: &[Frame],
        linkages: &[LinkageScratch],
        (force, torque, point): (&Vector3<f64>, &Vector3<f64>, &Vector3<f64>),
        mut add: impl FnMut(usize, f64),
    ) {
        match self {
            Attachment::Ground => (),
            Attachment::Point { coordinate, axes } => (0..axes).for_each(|i| add(coordinate.v + i, force[i])),
            Attachment::Rigid(body) => {
                let placed = &network.bodies[body];
                (0..3).for_each(|i| add(placed.v + i, force[i]));
                if !placed.body.is_point() {
                    let moment = torque + (point - frames[body].position).cross(force);
                    (0..3).for_each(|i| add(placed.v + 3 + i, moment[i]));
                }
            }
            Attachment::Link { linkage, link } => {
                let placed = &network.linkages[linkage];
                let arm = point - placed.body.frame(&linkages[linkage], link).position;
                let moment = torque + arm.cross(force);
                placed
                    .body
                    .generalised(&linkages[linkage], link, force, &moment, |row, value| {
                        add(placed.v + row, value)
                    });
            }
            // Not in steps that are solved at their end.
            Attachment::Own { .. } => (),
        }
    }

    /// Adds to a Jacobian row the velocity of the body's point along `direction`, times `sign`. Velocities outside the
    /// island (`local` beyond the row) are given and add nothing.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn add_row(
        self,
        network: &Network,
        frames: &[Frame],
        linkages: &[LinkageScratch],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
        sign: f64,
        local: &[usize],
        row: &mut [f64],
        room: &mut [f64],
    ) {
        let mut add = |v: usize, value: f64| {
            if let Some(slot) = row.get_mut(local[v]) {
                *slot += sign * value;
            }
        };
        match self {
            Attachment::Ground => (),
            Attachment::Point { coordinate, axes } => {
                for i in 0..axes {
                    add(coordinate.v + i, direction[i]);
                }
            }
            Attachment::Rigid(body) => {
                let placed = &network.bodies[body];
                let turn = (point - frames[body].position).cross(direction);
                for i in 0..3 {
                    add(placed.v + i, direction[i]);
                    if !placed.body.is_point() {
                        add(placed.v + 3 + i, turn[i]);
                    }
                }
            }
            Attachment::Link { linkage, link } => {
                let placed = &network.linkages[linkage];
                let n = placed.velocities;
                placed
                    .body
                    .point_jacobian(&linkages[linkage], link, point, &mut room[..3 * n]);
                for i in 0..n {
                    add(placed.v + i, (0..3).map(|k| direction[k] * room[k * n + i]).sum());
                }
            }
            // Not in steps that are solved at their end.
            Attachment::Own { .. } => (),
        }
    }
}

impl Attachment {
    /// Velocity of the body's point along `direction`, with the velocities in `state` and the placement of the frames.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn speed(
        self,
        network: &Network,
        state: &[f64],
        frames: &[Frame],
        linkages: &[LinkageScratch],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
        room: &mut [f64],
    ) -> f64 {
        match self {
            Attachment::Ground | Attachment::Own { .. } => 0.0,
            Attachment::Point { coordinate, axes } => (0..axes).map(|i| direction[i] * state[coordinate.v + i]).sum(),
            Attachment::Rigid(body) => {
                let v = network.bodies[body].v;
                let turn = (point - frames[body].position).cross(direction);
                (0..3)
                    .map(|i| direction[i] * state[v + i] + turn[i] * state[v + 3 + i])
                    .sum()
            }
            Attachment::Link { linkage, link } => {
                let placed = &network.linkages[linkage];
                let n = placed.velocities;
                placed
                    .body
                    .point_jacobian(&linkages[linkage], link, point, &mut room[..3 * n]);
                let row = |k: usize| (0..n).map(|i| room[k * n + i] * state[placed.v + i]).sum::<f64>();
                (0..3).map(|k| direction[k] * row(k)).sum()
            }
        }
    }
}

impl Attachment {
    /// Calls `visit` with every number of the state that moves the body, and how its frame changes with it.
    pub(crate) fn frame_slopes(
        self,
        network: &Network,
        state: &[f64],
        linkages: &[LinkageScratch],
        mut visit: impl FnMut(usize, FrameSlope),
    ) {
        let shifted = |i: usize| FrameSlope {
            position: unit(i),
            ..FrameSlope::default()
        };
        let pushed = |i: usize| FrameSlope {
            velocity: unit(i),
            ..FrameSlope::default()
        };
        match self {
            // Contacts with frames of the user's own are differenced as a whole.
            Attachment::Ground | Attachment::Own { .. } => (),
            Attachment::Point { coordinate, axes } => {
                for i in 0..axes {
                    visit(coordinate.q + i, shifted(i));
                    visit(coordinate.v + i, pushed(i));
                }
            }
            Attachment::Rigid(body) => {
                let placed = &network.bodies[body];
                for i in 0..3 {
                    visit(placed.q + i, shifted(i));
                    visit(placed.v + i, pushed(i));
                    let spun = FrameSlope {
                        spin: unit(i),
                        ..FrameSlope::default()
                    };
                    visit(placed.v + 3 + i, spun);
                }
                let q = [3, 4, 5, 6].map(|i| state[placed.q + i]);
                for i in 0..4 {
                    let turned = FrameSlope {
                        turn: turn_by_component(q, i),
                        ..FrameSlope::default()
                    };
                    visit(placed.q + 3 + i, turned);
                }
            }
            Attachment::Link { linkage, link } => {
                let placed = &network.linkages[linkage];
                let (q, _) = placed.motion(state);
                placed
                    .body
                    .frame_slopes(&linkages[linkage], q, link, [placed.q, placed.v], visit);
            }
        }
    }

    /// Adds the derivatives, with respect to the number at `column`, of a force on the body and of its torque about the
    /// body's reference point.
    pub(crate) fn add_load_slope(
        self,
        tangent: &mut Tangent<'_>,
        column: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) {
        match self {
            // Contacts with frames of the user's own are differenced as a whole.
            Attachment::Ground | Attachment::Own { .. } => (),
            Attachment::Point { coordinate, axes } => {
                (0..axes).for_each(|i| tangent.add(coordinate.v + i, column, force[i]));
            }
            Attachment::Rigid(body) => {
                let v = tangent.network.bodies[body].v;
                for i in 0..3 {
                    tangent.add(v + i, column, force[i]);
                    tangent.add(v + 3 + i, column, torque[i]);
                }
            }
            Attachment::Link { linkage, link } => {
                let (network, linkages) = (tangent.network, tangent.linkages);
                let placed = &network.linkages[linkage];
                placed
                    .body
                    .generalised(&linkages[linkage], link, force, torque, |row, value| {
                        tangent.add(placed.v + row, column, value);
                    });
            }
        }
    }
}
