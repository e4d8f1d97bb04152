//! Rigid contacts and stops of the implicit step: 0 ≤ N ⊥ gap + T·v_n ≥ 0, with friction bounded by μ·N of the same step.

use super::coupled::Block;
use super::implicit::{ImplicitStage, pair_row};
use super::port::{Attachment, Pair};
use super::{Network, Scratch};
use crate::body::{Frame, LinkageScratch};
use crate::element::contact::{Geometry, Grain};
use crate::element::{Mode, Observation};
use nalgebra::Vector3;
use std::ops::Range;

/// A rigid contact or stop.
#[derive(Clone, Debug)]
pub struct Rigid {
    /// Number of the element in the network.
    pub element: usize,
    /// What it keeps apart.
    pub kind: RigidKind,
    /// Newton's coefficient of restitution.
    pub restitution: f64,
    /// Where its states begin: one per point, 1 while the point sticks.
    pub state: usize,
}

/// What a rigid element keeps apart.
#[derive(Clone, Debug)]
pub enum RigidKind {
    /// Points of a body and a surface, with friction coefficients (static and kinetic) if it is rough.
    Contact {
        /// Who touches whom.
        geometry: Geometry,
        /// Coefficients of static and kinetic friction.
        friction: Option<[f64; 2]>,
        /// A body in a plane has one tangential direction, in space two.
        planar: bool,
        /// Where friction is stronger across a direction.
        grain: Option<Grain>,
    },
    /// An end of travel of a pair of coordinates.
    Stop {
        /// What it limits.
        pair: Pair,
        /// Lowest position.
        lower: f64,
        /// Highest position.
        upper: f64,
    },
}

/// A point that may touch within the step.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    element: usize,
    /// Rows: normal, then tangential.
    pub(super) axes: usize,
    reach: Reach,
    pub(super) target: f64,
    /// Normal velocity at the start of the step.
    approach: f64,
    friction: [f64; 2],
    was_stuck: bool,
    state: usize,
}

/// How the rows of a candidate are made.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Point {
        bodies: [Attachment; 2],
        point: Vector3<f64>,
        directions: [Vector3<f64>; 3],
    },
    Travel {
        pair: Pair,
        sign: f64,
    },
}

/// Whether two ranges have a number in common.
pub(crate) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

impl Rigid {
    /// How many blocks and rows it can make.
    pub fn size(&self) -> (usize, usize) {
        match &self.kind {
            RigidKind::Contact { geometry, .. } => (geometry.points.len(), geometry.points.len() * self.axes()),
            RigidKind::Stop { .. } => (2, 2),
        }
    }

    fn axes(&self) -> usize {
        match &self.kind {
            RigidKind::Contact {
                friction: Some(_),
                planar,
                ..
            } => 3 - usize::from(*planar),
            _ => 1,
        }
    }

    /// Adds the points that may touch within the step. `after` holds the velocities without contact.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn candidates(
        &self,
        network: &Network,
        before: &[f64],
        after: &[f64],
        frames: &[Frame],
        linkages: &[LinkageScratch],
        step: f64,
        room: &mut [f64],
        out: &mut Vec<Candidate>,
    ) {
        match &self.kind {
            RigidKind::Contact {
                geometry,
                friction,
                planar,
                grain,
            } => {
                let bodies = [geometry.first, geometry.second];
                let [first, second] = bodies.map(|body| body.frame(network, before, frames, linkages));
                for index in 0..geometry.points.len() {
                    let touch = geometry.touch(index, &first, &second);
                    let approach = touch
                        .normal
                        .dot(&(first.point_velocity(&touch.point) - second.point_velocity(&touch.point)));
                    // Where the step would take it without contact; bodies pulled along by other contacts may come
                    // closer than that, so keep whatever is within a few times the reach.
                    let mut free = |body: Attachment| {
                        body.speed(network, after, frames, linkages, &touch.point, &touch.normal, room)
                    };
                    let free = free(geometry.first) - free(geometry.second);
                    let speed = first.velocity.norm() + second.velocity.norm() + network.world_gravity.norm() * step;
                    let reach = (first.position - touch.point).norm() * first.angular_velocity.norm();
                    if touch.gap > 4.0 * step * (speed + reach + approach.abs() + free.abs()) + 1e-9 {
                        continue;
                    }
                    let (t1, t2) = match grain
                        .as_ref()
                        .and_then(|grain| grain.along(&touch.normal, &first, &second))
                    {
                        // Friction is isotropic in velocities scaled by the ellipse: so is the row across.
                        Some(ellipse) => {
                            let along = Vector3::from(ellipse.direction);
                            (along, ellipse.across * touch.normal.cross(&along))
                        }
                        None => tangents(&touch.normal, *planar),
                    };
                    out.push(Candidate {
                        element: self.element,
                        axes: self.axes(),
                        reach: Reach::Point {
                            bodies,
                            point: touch.point,
                            directions: [touch.normal, t1, t2],
                        },
                        target: self.target(touch.gap, touch.point.norm() + first.position.norm(), approach, step),
                        approach,
                        friction: friction.unwrap_or([0.0; 2]),
                        was_stuck: before[self.state + index] != 0.0,
                        state: self.state + index,
                    });
                }
            }
            RigidKind::Stop { pair, lower, upper } => {
                let [position] = pair.position::<1>(before);
                let [velocity] = pair.velocity::<1>(before);
                let [free] = pair.velocity::<1>(after);
                for (side, (gap, sign)) in [(position - lower, 1.0), (upper - position, -1.0)]
                    .into_iter()
                    .enumerate()
                {
                    if gap > 4.0 * step * (velocity.abs() + free.abs()) + 1e-9 {
                        continue;
                    }
                    out.push(Candidate {
                        element: self.element,
                        axes: 1,
                        reach: Reach::Travel { pair: *pair, sign },
                        target: self.target(gap, position.abs(), sign * velocity, step),
                        approach: sign * velocity,
                        friction: [0.0; 2],
                        was_stuck: false,
                        state: self.state + side,
                    });
                }
            }
        }
    }

    /// Smallest admissible normal velocity: the one that just closes the gap, −gap/T, or Newton's rebound for a
    /// contact that closes within this step.
    ///
    /// `size` is the scale of the positions the gap is a difference of: a gap within their rounding is closed, so that
    /// a body at rest is not moved about by rounding.
    pub(crate) fn target(&self, gap: f64, size: f64, approach: f64, step: f64) -> f64 {
        let closing = if gap.abs() <= 8.0 * f64::EPSILON * size {
            0.0
        } else {
            -gap / step
        };
        if self.restitution > 0.0 && approach < closing.min(0.0) {
            -self.restitution * approach
        } else {
            closing
        }
    }
}

/// Two unit vectors that span the plane normal to a unit vector; the first lies in the x-y plane if the motion does.
pub(crate) fn tangents(normal: &Vector3<f64>, planar: bool) -> (Vector3<f64>, Vector3<f64>) {
    if planar {
        return (Vector3::new(-normal.y, normal.x, 0.0), Vector3::z());
    }
    // The world axis least along the normal.
    let a = normal.abs();
    let axis = if a.x <= a.y && a.x <= a.z {
        Vector3::x()
    } else if a.y <= a.z {
        Vector3::y()
    } else {
        Vector3::z()
    };
    let first = (axis - normal.dot(&axis) * normal).normalize();
    (first, normal.cross(&first))
}

impl Candidate {
    /// Touching point, and the normal and tangential directions.
    pub(super) fn place(&self) -> (Vector3<f64>, [Vector3<f64>; 3]) {
        match &self.reach {
            Reach::Point { point, directions, .. } => (*point, *directions),
            Reach::Travel { .. } => (Vector3::zeros(), [Vector3::zeros(); 3]),
        }
    }

    /// Smallest admissible normal velocity, static and kinetic coefficient, and whether the contact was stuck.
    pub(super) fn law(&self) -> (f64, [f64; 2], bool) {
        (self.target, self.friction, self.was_stuck)
    }

    /// The element it belongs to.
    pub(super) fn element(&self) -> usize {
        self.element
    }

    /// The body that this candidate holds fast if it sticks, to which surface (the ground or a driver), and where.
    pub(super) fn holds(&self) -> Option<(usize, Attachment, Vector3<f64>)> {
        match &self.reach {
            Reach::Point {
                bodies: [Attachment::Rigid(body), surface],
                point,
                ..
            } if self.target == 0.0
                && self.axes == 3
                && matches!(surface, Attachment::Ground | Attachment::Point { .. }) =>
            {
                Some((*body, *surface, *point))
            }
            _ => None,
        }
    }

    /// The law, for the solver.
    pub(super) fn block(&self) -> Block {
        Block::Contact {
            target: self.target,
            mu_static: self.friction[0],
            mu_kinetic: self.friction[1],
            was_stuck: self.was_stuck,
        }
    }

    /// Writes row `axis` of the Jacobian and returns the relative velocity along it without contact forces.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn row(
        &self,
        network: &Network,
        axis: usize,
        after: &[f64],
        frames: &[Frame],
        linkages: &[LinkageScratch],
        local: &[usize],
        row: &mut [f64],
        room: &mut [f64],
    ) -> f64 {
        match &self.reach {
            Reach::Point {
                bodies,
                point,
                directions,
            } => {
                let direction = &directions[axis];
                let mut velocity = 0.0;
                for (body, sign) in bodies.iter().zip([1.0, -1.0]) {
                    body.add_row(network, frames, linkages, point, direction, sign, local, row, room);
                    velocity += sign * body.speed(network, after, frames, linkages, point, direction, room);
                }
                velocity
            }
            Reach::Travel { pair, sign } => {
                pair_row(pair, 0, *sign, local, row);
                sign * pair.velocity::<1>(after)[0]
            }
        }
    }

    /// Takes over the outcome.
    pub(super) fn settle(&self, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], stuck: bool) {
        stage.after[self.state] = f64::from(u8::from(stuck));
        let Some(seen) = &mut stage.seen else { return };
        let seen = &mut seen[self.element];
        let closed = force[0] > 0.0;
        // Friction far below the rounding of the solve is none.
        let mut kept = [0.0; 3];
        for (kept, &f) in kept.iter_mut().zip(force) {
            *kept = if f.abs() > 1e-13 * force[0] { f } else { 0.0 };
        }
        let force = &kept[..force.len()];
        let mode = match (closed, stuck) {
            (false, _) => Mode::Open,
            (true, true) => Mode::Stick,
            (true, false) => Mode::Slip,
        };
        seen.mode = seen.mode.with_point(mode);
        seen.normal += force[0];
        // An impulse works on the mean of the velocities before and after it; friction on the velocity after.
        seen.power += 0.5 * force[0] * (self.approach + velocity[0]);
        seen.impact += 0.5 * force[0] * (velocity[0] - self.approach);
        for (f, v) in force.iter().zip(velocity).skip(1) {
            seen.power += f * v;
        }
        match &self.reach {
            Reach::Point { directions, .. } => {
                for (direction, f) in directions.iter().zip(force) {
                    for i in 0..3 {
                        seen.force[i] += f * direction[i];
                    }
                }
                // Where the surface is driven, its driver does work.
                self.react(stage, force);
            }
            Reach::Travel { pair, sign } => {
                seen.force[0] += sign * force[0];
                seen.velocity[0] = sign * velocity[0];
                pair.scatter(stage.load, &[sign * force[0]]);
            }
        }
    }

    /// Puts the reaction on a driven surface into the loads, for the energy ledger.
    fn react(&self, stage: &mut ImplicitStage<'_>, force: &[f64]) {
        let Reach::Point { bodies, directions, .. } = &self.reach else {
            return;
        };
        for (body, sign) in bodies.iter().zip([1.0, -1.0]) {
            if let Attachment::Point { coordinate, axes } = body {
                for (direction, f) in directions.iter().zip(force) {
                    for i in 0..*axes {
                        stage.load[coordinate.v + i] += sign * f * direction[i];
                    }
                }
            }
        }
    }
}

/// Forgets what rigid elements did in the last step.
pub(crate) fn clear_observations(rigid: &[Rigid], before: &[f64], seen: &mut [Observation]) {
    for element in rigid {
        seen[element.element] = Observation {
            mode: Mode::Open,
            gap: element.clearance(before),
            ..Observation::default()
        };
    }
}

impl Network {
    /// The part of rigid contacts in [`Network::remember`].
    pub(super) fn remember_rigid(&self, state: &mut [f64], changed: &Range<usize>) {
        for rigid in &self.rigid {
            let RigidKind::Contact { geometry, .. } = &rigid.kind else {
                continue;
            };
            let bodies = [geometry.first, geometry.second].map(|body| self.velocities_of(body));
            if bodies.iter().any(|range| overlap(range, changed)) {
                let rest = bodies.into_iter().flatten().all(|v| state[v] == 0.0);
                state[rigid.state..rigid.state + geometry.points.len()].fill(f64::from(u8::from(rest)));
            }
        }
    }

    /// Where the velocities of what a contact takes hold of are.
    fn velocities_of(&self, attachment: Attachment) -> Range<usize> {
        match attachment {
            Attachment::Ground => 0..0,
            Attachment::Point { coordinate, axes } => coordinate.v..coordinate.v + axes,
            Attachment::Rigid(body) => self.bodies[body].v..self.bodies[body].v + 6,
            Attachment::Link { linkage, .. } => {
                let placed = &self.linkages[linkage];
                placed.v..placed.v + placed.velocities
            }
            Attachment::Own { own, .. } => {
                let placed = &self.own_bodies[own];
                placed.v..placed.v + placed.count
            }
        }
    }

    /// Notes the modes of rigid contacts and stops before the first step, from their gaps and their memory of sticking.
    pub(crate) fn begin_rigid(&self, state: &[f64], seen: &mut [Observation]) {
        for rigid in &self.rigid {
            let (points, _) = rigid.size();
            let held = state[rigid.state..rigid.state + points]
                .iter()
                .all(|&memory| memory != 0.0);
            let seen = &mut seen[rigid.element];
            seen.mode = if seen.gap > 1e-12 {
                Mode::Open
            } else {
                Mode::stuck(held)
            };
        }
    }

    /// Notes the gaps of rigid contacts and stops in a state whose bodies are placed.
    pub(crate) fn observe_gaps(&self, state: &[f64], scratch: &mut Scratch) {
        for rigid in &self.rigid {
            scratch.seen[rigid.element].gap = match &rigid.kind {
                RigidKind::Stop { .. } => rigid.clearance(state),
                RigidKind::Contact { geometry, .. } => {
                    let [first, second] = [geometry.first, geometry.second]
                        .map(|body| body.frame(self, state, &scratch.frames, &scratch.linkages));
                    (0..geometry.points.len())
                        .map(|i| geometry.touch(i, &first, &second).gap)
                        .fold(f64::INFINITY, f64::min)
                }
            };
        }
    }
}

impl Rigid {
    /// Gap of a stop; contacts report theirs through the trace, which knows the placement of bodies.
    fn clearance(&self, state: &[f64]) -> f64 {
        match &self.kind {
            RigidKind::Stop { pair, lower, upper } => {
                let [position] = pair.position::<1>(state);
                (position - lower).min(upper - position)
            }
            RigidKind::Contact { .. } => f64::INFINITY,
        }
    }
}
