//! Rigid contacts and stops of the implicit step: 0 ≤ N ⊥ gap + T·v_n ≥ 0, with friction bounded by μ·N of the same step.

use super::coupled::{Block, Rows, Side};
use super::implicit::{Hold, ImplicitStage, pair_sides};
use super::port::{Attachment, Pair};
use super::sparse::Pattern;
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
    /// Gap at the start of the step, exactly 0 where it is rounding.
    pub(super) gap: f64,
    /// Normal velocity at the start of the step, and the tangential ones of an impact.
    pub(super) approach: f64,
    slip: [f64; 2],
    /// Whether it closes within the step by the velocity of its start.
    pub(super) impact: bool,
    restitution: f64,
    /// Whether the same points touch in the next step: a closed corner, not the changing point of a ball.
    lasting: bool,
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
                    let size = touch.point.norm() + first.position.norm();
                    out.push(Candidate {
                        element: self.element,
                        axes: self.axes(),
                        reach: Reach::Point {
                            bodies,
                            point: touch.point,
                            directions: [touch.normal, t1, t2],
                        },
                        target: self.target(touch.gap, size, approach, step),
                        gap: self.rounded(touch.gap, size),
                        approach,
                        slip: [0.0; 2],
                        impact: approach * step < -touch.gap.max(0.0) - ROUNDING * size,
                        restitution: self.restitution,
                        lasting: geometry.radius == 0.0 && self.rounded(touch.gap, size) == 0.0,
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
                        gap: self.rounded(gap, position.abs()),
                        approach: sign * velocity,
                        slip: [0.0; 2],
                        impact: sign * velocity * step < -gap.max(0.0) - ROUNDING * position.abs(),
                        restitution: self.restitution,
                        lasting: false,
                        friction: [0.0; 2],
                        was_stuck: false,
                        state: self.state + side,
                    });
                }
            }
        }
    }

    /// Smallest admissible normal velocity: the one that just closes the gap, −gap/T, or Newton's rebound for a
    /// contact that closes within this step. Bodies that overlap do not approach; they part without velocity ([`RECOVERY`]).
    ///
    /// `size` is the scale of the positions the gap is a difference of: a gap within their rounding is closed, so that
    /// a body at rest is not moved about by rounding.
    pub(crate) fn target(&self, gap: f64, size: f64, approach: f64, step: f64) -> f64 {
        let closing = if gap <= ROUNDING * size { 0.0 } else { -gap / step };
        if self.restitution > 0.0 && approach < closing.min(0.0) {
            -self.restitution * approach
        } else {
            closing
        }
    }

    /// The speed at which a contact leaves an overlap.
    pub(crate) fn parting(&self, gap: f64, size: f64, step: f64) -> f64 {
        (-self.rounded(gap, size).min(0.0) / step).min(RECOVERY)
    }

    fn rounded(&self, gap: f64, size: f64) -> f64 {
        // Positions near 0 have hardly any rounding of their own; what lies below atoms is no overlap.
        if gap.abs() <= (ROUNDING * size).max(1e-15) {
            0.0
        } else {
            gap
        }
    }
}

/// Gaps below this part of the positions they are differences of are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Speed at which bodies that overlap part, m/s. It moves them and is no velocity: they have none afterwards.
pub(crate) const RECOVERY: f64 = 0.1;

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

/// The mean velocity of a point over a step less its velocity at the start, from the turning of its body: the centre of a rigid body
/// moves straight and the body turns about it; a link turns about its axis, where all velocities turn with it.
fn bent(body: &Attachment, frame: &Frame, point: &Vector3<f64>, step: f64) -> Vector3<f64> {
    let turn = step * frame.angular_velocity;
    let angle = turn.norm();
    if angle == 0.0 {
        return Vector3::zeros();
    }
    let (sin, cos) = angle.sin_cos();
    match body {
        Attachment::Rigid(_) => {
            // (R(θ) − 1)·r/T − ω × r.
            let arm = point - frame.position;
            let across = turn.cross(&arm);
            let along = turn.cross(&across);
            let (first, second) = if angle < 1e-4 {
                (-angle * angle / 6.0, 0.5)
            } else {
                (sin / angle - 1.0, (1.0 - cos) / (angle * angle))
            };
            (first * across + second * along) / step
        }
        Attachment::Link { .. } => {
            // The mean of R(s·θ)·v over s from 0 to 1, less v.
            let velocity = frame.point_velocity(point);
            let across = turn.cross(&velocity);
            let along = turn.cross(&across);
            let (first, second) = if angle < 1e-4 {
                (0.5, 1.0 / 6.0)
            } else {
                ((1.0 - cos) / (angle * angle), (angle - sin) / (angle * angle * angle))
            };
            first * across + second * along
        }
        _ => Vector3::zeros(),
    }
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

    /// Whether it rebounds.
    pub(super) fn rebounds(&self) -> bool {
        self.impact && self.restitution > 0.0
    }

    /// In a step with other contacts an impact happens as a whole, wherever in the step the gap closes: the normal velocity after it is
    /// that of Newton's law, with `part` of its coefficient.
    pub(super) fn collide(&mut self, part: f64) {
        if self.impact {
            self.target = -part * self.restitution * self.approach;
        }
    }

    /// The part of the step before an impact.
    pub(super) fn before_impact(&self, step: f64) -> f64 {
        (self.gap.max(0.0) / (-self.approach * step)).clamp(0.0, 1.0)
    }

    /// The law of the displacement that parts bodies, as a velocity: contacts that overlap open, no other one closes.
    pub(super) fn parting(&self, step: f64) -> Block {
        Block::Contact {
            target: (-self.gap / step).min(RECOVERY),
            mu_static: 0.0,
            mu_kinetic: 0.0,
            was_stuck: false,
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

    /// Writes the rows of the Jacobian, and the relative velocities along them without contact forces.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn rows(
        &mut self,
        network: &Network,
        before: &[f64],
        after: &[f64],
        step: f64,
        (frames, linkages): (&[Frame], &[LinkageScratch]),
        (hold, pattern, local): (&Hold, &Pattern, &[usize]),
        rows: &mut Rows,
        jacobian: &mut Vec<f64>,
        free: &mut Vec<f64>,
        room: &mut [f64],
    ) {
        let (bodies, point, directions) = match self.reach {
            Reach::Point {
                bodies,
                point,
                directions,
            } => (bodies, point, directions),
            Reach::Travel { pair, sign } => {
                pair_sides(&pair, 1, sign, hold, local, rows, jacobian);
                free.push(sign * pair.velocity::<1>(after)[0]);
                return;
            }
        };
        for which in 0..2 {
            let body = hold.bodies[which];
            if body != Side::NONE.body {
                let len = pattern.size(body);
                let at = jacobian.len();
                jacobian.resize(at + self.axes * len, 0.0);
                rows.sides[which] = Side {
                    body,
                    first: 0,
                    len,
                    at,
                };
            }
        }
        // What touches is followed over the whole step: the paths of turning bodies are curved.
        let bend = match self.lasting && !self.impact {
            true => {
                let [first, second] = bodies.map(|body| body.frame(network, before, frames, linkages));
                bent(&bodies[0], &first, &point, step) - bent(&bodies[1], &second, &point, step)
            }
            false => Vector3::zeros(),
        };
        for axis in 0..self.axes {
            let direction = &directions[axis];
            let mut velocity = direction.dot(&bend);
            for (which, (body, sign)) in bodies.iter().zip([1.0, -1.0]).enumerate() {
                // Two links of one linkage share a side.
                let inside = network.first_velocity(*body).is_some_and(|v| local[v] != usize::MAX);
                let shared = inside && rows.sides[which].len == 0;
                let side = rows.sides[if shared { 0 } else { which }];
                if inside {
                    let line = &mut jacobian[side.at + axis * side.len..side.at + (axis + 1) * side.len];
                    body.add_row(network, frames, linkages, &point, direction, sign, local, line, room);
                }
                velocity += sign * body.speed(network, after, frames, linkages, &point, direction, room);
                if self.impact && axis > 0 {
                    self.slip[axis - 1] +=
                        sign * body.speed(network, before, frames, linkages, &point, direction, room);
                }
            }
            free.push(velocity);
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
        // An impulse works on the mean of the velocities before and after it; friction between impacts on the velocity after.
        seen.power += 0.5 * force[0] * (self.approach + velocity[0]);
        seen.impact += 0.5 * force[0] * (velocity[0] - self.approach);
        for (k, (f, v)) in force.iter().zip(velocity).enumerate().skip(1) {
            let before = if self.impact { self.slip[k - 1] } else { *v };
            seen.power += 0.5 * f * (before + v);
            seen.impact += 0.5 * f * (v - before);
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

    /// The first velocity of what a contact takes hold of.
    fn first_velocity(&self, attachment: Attachment) -> Option<usize> {
        let range = self.velocities_of(attachment);
        (!range.is_empty()).then_some(range.start)
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
