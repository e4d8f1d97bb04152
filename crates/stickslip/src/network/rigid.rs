//! Rigid contacts and stops of the implicit step: 0 ≤ N ⊥ gap + T·v_n ≥ 0, with friction bounded by μ·N of the same step.

use super::coupled::{Block, Rows, Side};
use super::geometry::{Geometry, Grain, Touch};
use super::groups::{Mode, Observation};
use super::implicit::{Hold, ImplicitStage, Span, pair_sides};
use super::port::{Attachment, Pair};
use super::sparse::Pattern;
use super::{Network, Scratch};
use crate::body::{Frame, LinkageScratch};
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
    /// Where its states begin: one per point, 1 while the point sticks, `SLID` while a corner slides; then one per point that says whether
    /// its resistance to rolling (1), to spinning (2) or both (3) hold.
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
        /// Moment arms of the resistance to rolling and to spinning.
        arms: [f64; 2],
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
    /// Normal and tangential velocities at the start of the step.
    pub(super) approach: f64,
    slip: [f64; 2],
    /// Whether it closes within the step by the velocity of its start.
    pub(super) impact: bool,
    restitution: f64,
    /// What loads and weight change of its normal velocity after an impact, in the rest of the step.
    pub(super) carried: f64,
    /// Whether it would close within the step, but after the impact of others.
    pub(super) late: bool,
    /// On which velocities its force works.
    works: Works,
    /// Where the points of both bodies that touched at the start are in the middle of the step.
    touched: [Vector3<f64>; 2],
    /// Whether the same points touch in the next step: a closed corner, not the changing point of a ball.
    lasting: bool,
    /// Whether it is one of several points of its element.
    corner: bool,
    friction: [f64; 2],
    was_stuck: bool,
    /// Moment arms of the resistance to rolling and to spinning, and which of them held at the start of the step.
    pub(super) arms: [f64; 2],
    pub(super) held: [bool; 2],
    /// Where it keeps whether it sticks, and which resistances hold; beyond all states for a contact that the program found.
    state: usize,
    holding: usize,
    /// Its number among the contacts that the program found.
    pub(super) found: Option<usize>,
    /// How fast the surface of the first body runs along it, less that of the second: conveyors.
    belt: Vector3<f64>,
    /// Speed at which it leaves an overlap.
    recovery: f64,
}

/// A point where two bodies meet, before a step.
pub(super) struct Meeting {
    pub(super) element: usize,
    pub(super) bodies: [Attachment; 2],
    pub(super) touch: Touch,
    /// Normal and tangential directions.
    pub(super) directions: [Vector3<f64>; 3],
    pub(super) axes: usize,
    pub(super) friction: [f64; 2],
    pub(super) arms: [f64; 2],
    pub(super) held: [bool; 2],
    pub(super) restitution: f64,
    pub(super) was_stuck: bool,
    /// The gap, exactly 0 where it is rounding.
    pub(super) gap: f64,
    /// Whether the same points touch in the next step.
    pub(super) lasting: bool,
    /// Whether it is one of several points of its element.
    pub(super) corner: bool,
    pub(super) belt: Vector3<f64>,
    pub(super) recovery: f64,
}

/// On which velocities a force of the step works.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Works {
    /// Those of its end; an impact on the mean of those before and after it.
    End,
    /// Those of its middle, which the law saw.
    Middle,
    /// The mean of start and end.
    Mean,
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
            RigidKind::Contact { geometry, arms, .. } => {
                let points = geometry.points.len();
                // Rolling has two axes, spinning one.
                let extra = [2, 1].into_iter().zip(arms).filter(|(_, arm)| **arm > 0.0);
                let (blocks, rows) = extra.fold((0, 0), |(blocks, rows), (axes, _)| (blocks + 1, rows + axes));
                (points * (1 + blocks), points * (self.axes() + rows))
            }
            RigidKind::Stop { .. } => (2, 2),
        }
    }

    /// How many states say what its points hold.
    pub(super) fn memory(&self) -> usize {
        match &self.kind {
            RigidKind::Contact { geometry, .. } => 2 * geometry.points.len(),
            RigidKind::Stop { .. } => 2,
        }
    }

    /// Whether a link of a linkage touches.
    pub(super) fn is_on_link(&self) -> bool {
        match &self.kind {
            RigidKind::Contact { geometry, .. } => {
                let bodies = [geometry.first, geometry.second];
                bodies.iter().any(|body| matches!(body, Attachment::Link { .. }))
            }
            RigidKind::Stop { .. } => false,
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
                arms,
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
                    let memory = before[self.state + index];
                    let holding = self.state + geometry.points.len() + index;
                    let size = touch.point.norm() + first.position.norm();
                    let corner = geometry.points.len() > 1;
                    let gap = kept_gap(touch.gap, size, corner && memory != 0.0);
                    let (t1, t2) = directions(&touch.normal, *planar, grain.as_ref(), &first, &second);
                    let meeting = Meeting {
                        element: self.element,
                        bodies,
                        touch,
                        directions: [touch.normal, t1, t2],
                        axes: self.axes(),
                        friction: friction.unwrap_or([0.0; 2]),
                        arms: *arms,
                        held: held_by(before[holding]),
                        restitution: self.restitution,
                        was_stuck: memory == 1.0,
                        gap,
                        lasting: geometry.radius == 0.0 && gap == 0.0,
                        corner,
                        belt: Vector3::zeros(),
                        recovery: RECOVERY,
                    };
                    out.push(Candidate {
                        state: self.state + index,
                        holding,
                        ..meeting.candidate(&first, &second, approach, step)
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
                        target: target(self.restitution, gap, position.abs(), sign * velocity, step),
                        gap: rounded(gap, position.abs()),
                        approach: sign * velocity,
                        slip: [0.0; 2],
                        impact: is_impact(gap, position.abs(), sign * velocity, step),
                        restitution: self.restitution,
                        carried: 0.0,
                        late: false,
                        works: Works::End,
                        touched: [Vector3::zeros(); 2],
                        lasting: false,
                        corner: false,
                        friction: [0.0; 2],
                        was_stuck: false,
                        arms: [0.0; 2],
                        held: [false; 2],
                        state: self.state + side,
                        holding: usize::MAX,
                        found: None,
                        belt: Vector3::zeros(),
                        recovery: RECOVERY,
                    });
                }
            }
        }
    }

    /// Takes the geometry of a candidate from a later state within the step. Returns its gap there; none of a stop.
    pub(super) fn move_candidate(
        &self,
        candidate: &mut Candidate,
        network: &Network,
        (start, begun, begun_links): (&[f64], &[Frame], &[LinkageScratch]),
        (state, frames, linkages): (&[f64], &[Frame], &[LinkageScratch]),
    ) -> Option<f64> {
        let RigidKind::Contact {
            geometry,
            planar,
            grain,
            ..
        } = &self.kind
        else {
            return None;
        };
        let bodies = [geometry.first, geometry.second];
        let [first, second] = bodies.map(|body| body.frame(network, state, frames, linkages));
        if let Reach::Point { point, .. } = candidate.reach {
            let before = bodies.map(|body| body.frame(network, start, begun, begun_links));
            let moved = |before: &Frame, now: &Frame| {
                now.position + now.rotation * before.rotation.tr_mul(&(point - before.position))
            };
            candidate.touched = [moved(&before[0], &first), moved(&before[1], &second)];
        }
        let touch = geometry.touch(candidate.state - self.state, &first, &second);
        let (t1, t2) = directions(&touch.normal, *planar, grain.as_ref(), &first, &second);
        candidate.reach = Reach::Point {
            bodies,
            point: touch.point,
            directions: [touch.normal, t1, t2],
        };
        Some(touch.gap)
    }

    /// Smallest admissible normal velocity: the one that just closes the gap, −gap/T, or Newton's rebound for a
    /// contact that closes within this step. Bodies that overlap do not approach; they part without velocity ([`RECOVERY`]).
    ///
    /// `size` is the scale of the positions the gap is a difference of: a gap within their rounding is closed, so that
    /// a body at rest is not moved about by rounding.
    pub(crate) fn target(&self, gap: f64, size: f64, approach: f64, step: f64) -> f64 {
        target(self.restitution, gap, size, approach, step)
    }

    /// The speed at which a contact leaves an overlap.
    pub(crate) fn parting(&self, gap: f64, size: f64, step: f64) -> f64 {
        (-rounded(gap, size).min(0.0) / step).min(RECOVERY)
    }
}

/// See [`Rigid::target`].
fn target(restitution: f64, gap: f64, size: f64, approach: f64, step: f64) -> f64 {
    let closing = if gap <= ROUNDING * size { 0.0 } else { -gap / step };
    if restitution > 0.0 && approach < closing.min(0.0) {
        -restitution * approach
    } else {
        closing
    }
}

/// Whether a speed of approach closes a gap within the step.
pub(crate) fn is_impact(gap: f64, size: f64, approach: f64, step: f64) -> bool {
    approach * step < -gap.max(0.0) - ROUNDING * size
}

/// A gap, 0 where it is rounding.
fn rounded(gap: f64, size: f64) -> f64 {
    // Positions near 0 have hardly any rounding of their own; what lies below atoms is no overlap.
    if gap.abs() <= (ROUNDING * size).max(1e-15) {
        0.0
    } else {
        gap
    }
}

/// The scale of the positions that a gap is a difference of, whichever body is named first.
pub(super) fn positions_size(point: &Vector3<f64>, first: &Frame, second: &Frame) -> f64 {
    point.norm() + first.position.norm().max(second.position.norm())
}

/// The gap of a point, 0 where it is rounding; a point that touched goes on touching within the slack.
pub(super) fn kept_gap(gap: f64, size: f64, touched: bool) -> f64 {
    if touched && gap.abs() <= SLACK * size {
        0.0
    } else {
        rounded(gap, size)
    }
}

impl Meeting {
    /// The point in a step; `approach` is the normal velocity at its start.
    pub(super) fn candidate(&self, first: &Frame, second: &Frame, approach: f64, step: f64) -> Candidate {
        let touch = &self.touch;
        let [_, t1, t2] = &self.directions;
        let slip = first.point_velocity(&touch.point) - second.point_velocity(&touch.point) + self.belt;
        let size = positions_size(&touch.point, first, second);
        Candidate {
            element: self.element,
            axes: self.axes,
            reach: Reach::Point {
                bodies: self.bodies,
                point: touch.point,
                directions: self.directions,
            },
            target: target(self.restitution, self.gap, size, approach, step),
            gap: self.gap,
            approach,
            slip: [t1.dot(&slip), t2.dot(&slip)],
            impact: is_impact(touch.gap, size, approach, step),
            restitution: self.restitution,
            carried: 0.0,
            late: false,
            works: Works::End,
            touched: [touch.point; 2],
            lasting: self.lasting,
            corner: self.corner,
            friction: self.friction,
            was_stuck: self.was_stuck,
            arms: self.arms,
            held: self.held,
            state: usize::MAX,
            holding: usize::MAX,
            found: None,
            belt: self.belt,
            recovery: self.recovery,
        }
    }
}

/// Gaps below this part of the positions they are differences of are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// A corner that touched in the last step goes on touching while its gap is below this part of the positions: four corners of a face that
/// turns a little are not all at gap 0, and which of them carry would change from step to step.
const SLACK: f64 = 1e-10;
/// The memory of a corner that touches and slides.
const SLID: f64 = 0.5;
/// The memory of a point whose resistances to rolling and to spinning both hold.
pub(crate) const HELD: f64 = 3.0;

/// Which resistances hold, rolling and spinning, by the memory of a point.
fn held_by(memory: f64) -> [bool; 2] {
    [memory == 1.0 || memory == HELD, memory == 2.0 || memory == HELD]
}

/// Speed at which bodies that overlap part, m/s. It moves them and is no velocity: they have none afterwards.
pub(crate) const RECOVERY: f64 = 0.1;

/// The tangential directions of a contact: along and across its grain, if it has one. Friction is isotropic in velocities scaled by the
/// ellipse: so is the row across.
fn directions(
    normal: &Vector3<f64>,
    planar: bool,
    grain: Option<&Grain>,
    first: &Frame,
    second: &Frame,
) -> (Vector3<f64>, Vector3<f64>) {
    match grain.and_then(|grain| grain.along(normal, first, second)) {
        Some(ellipse) => {
            let along = Vector3::from(ellipse.direction);
            (along, ellipse.across * normal.cross(&along))
        }
        None => tangents(normal, planar),
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

/// The mean velocity over a step of the point of a rigid body that touched at its start, less the velocity of the body at `point`: the centre moves straight and the body
/// turns about it. `touched` is where the point is in the frame of the body: at the start of the step, or in its middle.
fn bent(frame: &Frame, touched: &Vector3<f64>, point: &Vector3<f64>, span: Span) -> Vector3<f64> {
    let turn = span.whole * frame.angular_velocity;
    let arm = touched - frame.position;
    let beyond = match span.apart {
        true => curved(&(0.5 * turn), &arm) - curved(&(-0.5 * turn), &arm),
        false => curved(&turn, &arm),
    };
    (beyond + turn.cross(&(touched - point))) / span.whole
}

/// The same of a link, which the joints before it move along any path: by where it is at the start and the end of the step. Differences of frames are rounded;
/// written by the angles of the turns, the rounding is one that the touching body can follow, and not one that differs from corner to corner.
fn bent_link(
    [start, frame, ahead]: [&Frame; 3],
    touched: &Vector3<f64>,
    point: &Vector3<f64>,
    step: f64,
) -> Vector3<f64> {
    if frame.angular_velocity == Vector3::zeros() {
        return Vector3::zeros();
    }
    let arm = touched - frame.position;
    let (before, after) = (turned(start, frame), turned(frame, ahead));
    let shift = (ahead.position - start.position) / step - frame.velocity;
    let spin = (before + after) / step - frame.angular_velocity;
    let beyond = curved(&after, &arm) - curved(&-before, &arm);
    shift + spin.cross(&arm) + beyond / step + frame.angular_velocity.cross(&(touched - point))
}

/// What a turn by an angle does to an arm beyond the first order, (exp(θ) − 1 − θ×)·r.
fn curved(turn: &Vector3<f64>, arm: &Vector3<f64>) -> Vector3<f64> {
    let angle = turn.norm();
    let (first, second) = if angle < 1e-4 {
        (-angle * angle / 6.0, 0.5)
    } else {
        let half = libm::sin(0.5 * angle);
        (libm::sin(angle) / angle - 1.0, 2.0 * half * half / (angle * angle))
    };
    let across = turn.cross(arm);
    first * across + second * turn.cross(&across)
}

/// The angle of the turn from one frame to another.
fn turned(from: &Frame, to: &Frame) -> Vector3<f64> {
    let turn = to.rotation * from.rotation.transpose();
    let across = 0.5
        * Vector3::new(
            turn[(2, 1)] - turn[(1, 2)],
            turn[(0, 2)] - turn[(2, 0)],
            turn[(1, 0)] - turn[(0, 1)],
        );
    let sin = across.norm();
    match sin > 0.0 {
        true => across * (libm::atan2(sin, 0.5 * (turn.trace() - 1.0)) / sin),
        false => across,
    }
}

/// The bodies of a contact that may turn against each other, where they touch, and unit vectors: the normal and two across it.
pub(super) type Turns = ([Attachment; 2], Vector3<f64>, [Vector3<f64>; 3]);

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

    /// The bodies that this candidate holds together if it sticks, and where.
    pub(super) fn holds(&self) -> Option<([Attachment; 2], Vector3<f64>)> {
        match &self.reach {
            Reach::Point { bodies, point, .. } if self.target == 0.0 && self.belt == Vector3::zeros() => {
                // In the plane it holds a point mass of two axes.
                let flat = matches!(
                    bodies,
                    [
                        Attachment::Point { axes: 2, .. },
                        Attachment::Ground | Attachment::Point { .. }
                    ]
                );
                (self.axes == 3 || flat).then_some((*bodies, *point))
            }
            _ => None,
        }
    }

    /// Whether it touches and does not move.
    pub(super) fn rests(&self) -> bool {
        self.gap <= 0.0 && self.approach == 0.0 && self.slip == [0.0; 2]
    }

    /// The power that conveyors put in by these forces.
    pub(super) fn belt_power(&self, force: &[f64]) -> f64 {
        let Reach::Point { directions, .. } = &self.reach else {
            return 0.0;
        };
        directions
            .iter()
            .zip(force)
            .map(|(direction, f)| -f * direction.dot(&self.belt))
            .sum()
    }

    /// Takes point and normal from the middle of the step, and where the points that touched at its start are then.
    pub(super) fn move_to(&mut self, touch: &Touch, begun: [&Frame; 2], now: [&Frame; 2]) {
        let Reach::Point { bodies, point, .. } = self.reach else {
            return;
        };
        let moved = |before: &Frame, now: &Frame| {
            now.position + now.rotation * before.rotation.tr_mul(&(point - before.position))
        };
        self.touched = [moved(begun[0], now[0]), moved(begun[1], now[1])];
        let (t1, t2) = tangents(&touch.normal, false);
        self.reach = Reach::Point {
            bodies,
            point: touch.point,
            directions: [touch.normal, t1, t2],
        };
    }

    /// The contact as one that keeps, by all its rows, what it does at the end of the step. Where it holds two points together (`true`) these do not move against
    /// each other; elsewhere, as where something rolls or slides, the velocities that it has along these rows stay what they are.
    pub(super) fn keeping(&self, stuck: bool, frame: &Frame) -> (Candidate, Vector3<f64>, bool) {
        let holds = stuck && self.lasting && !self.impact;
        let kept = Candidate {
            axes: if stuck { self.axes } else { 1 },
            target: if holds { 0.0 } else { 1.0 },
            lasting: false,
            arms: [0.0; 2],
            ..*self
        };
        let arm = frame.rotation.tr_mul(&(self.touched[0] - frame.position));
        (kept, arm, holds)
    }

    /// The first of the bodies that touch.
    pub(super) fn first_body(&self) -> Attachment {
        match self.reach {
            Reach::Point { bodies, .. } => bodies[0],
            Reach::Travel { .. } => Attachment::Ground,
        }
    }

    /// Puts the touching point where a body carries it.
    pub(super) fn carry(&mut self, frame: &Frame, arm: &Vector3<f64>) {
        if let Reach::Point { point, .. } = &mut self.reach {
            *point = frame.position + frame.rotation * arm;
        }
    }

    /// Its normal velocity in a motion.
    pub(super) fn normal_speed(
        &self,
        network: &Network,
        state: &[f64],
        frames: &[Frame],
        linkages: &[LinkageScratch],
        room: &mut [f64],
    ) -> f64 {
        match &self.reach {
            Reach::Point {
                bodies,
                point,
                directions,
            } => {
                let [first, second] =
                    bodies.map(|body| body.speed(network, state, frames, linkages, point, &directions[0], room));
                first - second
            }
            Reach::Travel { pair, sign } => sign * pair.velocity::<1>(state)[0],
        }
    }

    /// Has its force work on the mean of start and end, or on the velocities that its law sees.
    pub(super) fn work_on_mean(&mut self, mean: bool) {
        self.works = if mean { Works::Mean } else { Works::Middle };
    }

    /// The tangential velocity at the start of the step.
    pub(super) fn slip(&self) -> [f64; 2] {
        self.slip
    }

    /// Whether it rebounds.
    pub(super) fn rebounds(&self) -> bool {
        self.impact && self.restitution > 0.0
    }

    /// An impact happens as a whole, wherever in the step the gap closes: the normal velocity at the end of the step is that of Newton's law, with `part`
    /// of its coefficient, and what loads and weight make of it in the rest of the step.
    pub(super) fn collide(&mut self, part: f64) {
        if self.rebounds() {
            let rebound = -self.restitution * self.approach + self.carried.max(0.0);
            self.target = (part * rebound + self.carried.min(0.0)).max(0.0);
        } else if self.impact {
            self.target = 0.0;
        }
    }

    /// Whether it closes with the first of its bodies' impacts, later, or not in this step: by its gap then and the rest of the step. What closes later may
    /// not enter; what does not may go on as it does.
    pub(super) fn classify(&mut self, gap: f64, step: f64, rest: f64) {
        let (size, closing) = (self.place().0.norm(), self.approach.min(0.0) * step);
        if gap <= 1e-9 * -closing + 16.0 * ROUNDING * size && closing < 0.0 {
            return;
        }
        self.impact = false;
        self.late = rest > 0.0 && gap + self.approach * rest < 0.0;
        self.target = match self.late {
            true => -gap / rest,
            false => self.approach.min(-self.gap.max(0.0) / step),
        };
    }

    /// Its velocities at the start of the step: normal, then tangential.
    pub(super) fn start(&self, row: usize) -> f64 {
        if row == 0 { self.approach } else { self.slip[row - 1] }
    }

    /// Whether an element made it.
    pub(super) fn is_of(&self, rigid: &Rigid) -> bool {
        (rigid.state..rigid.state + rigid.memory()).contains(&self.state)
    }

    /// Normal and tangential velocities of a motion where it is now.
    pub(super) fn approach_at(
        &mut self,
        network: &Network,
        state: &[f64],
        (frames, linkages): (&[Frame], &[LinkageScratch]),
        room: &mut [f64],
    ) {
        let Reach::Point {
            bodies,
            point,
            directions,
        } = self.reach
        else {
            return;
        };
        let mut along = |direction: &Vector3<f64>| {
            let [first, second] =
                bodies.map(|body| body.speed(network, state, frames, linkages, &point, direction, room));
            first - second + direction.dot(&self.belt)
        };
        (self.approach, self.slip) = (along(&directions[0]), [along(&directions[1]), along(&directions[2])]);
    }

    /// The part of the step before an impact.
    pub(super) fn before_impact(&self, step: f64) -> f64 {
        (self.gap.max(0.0) / (-self.approach * step)).clamp(0.0, 1.0)
    }

    /// The law of the displacement that parts bodies, as a velocity: contacts that overlap open, no other one closes.
    pub(super) fn parting(&self, step: f64) -> Block {
        Block::Contact {
            target: (-self.gap / step).min(self.recovery),
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

    /// What may turn in it; nothing does in a stop.
    pub(super) fn turning(&self) -> Option<Turns> {
        match self.reach {
            Reach::Point {
                bodies,
                point,
                directions: [normal, along, _],
            } => Some((bodies, point, [normal, along, normal.cross(&along)])),
            Reach::Travel { .. } => None,
        }
    }

    /// Takes over what the resistance to rolling or spinning does: `start` are its angular velocities at the start of the step.
    pub(super) fn settle_turning(
        &self,
        stage: &mut ImplicitStage<'_>,
        which: usize,
        (moment, start, velocity): (&[f64], &[f64], &[f64]),
        (holds, struck): (bool, bool),
    ) {
        if let Some(memory) = stage.after.get_mut(self.holding)
            && holds
        {
            *memory += [1.0, 2.0][which];
        }
        let Some(seen) = &mut stage.seen else { return };
        for ((m, u), w) in moment.iter().zip(start).zip(velocity) {
            let speed = match self.works {
                Works::Mean => 0.5 * (u + w),
                Works::End if struck => 0.5 * (u + w),
                Works::End | Works::Middle => *w,
            };
            seen[self.element].power += m * speed;
            if self.works == Works::End {
                seen[self.element].impact += m * (w - speed);
            }
        }
    }

    /// Writes the rows of the Jacobian, and the relative velocities along them without contact forces.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn rows(
        &mut self,
        network: &Network,
        (before, placed, after): (&[f64], &[f64], &[f64]),
        span: Span,
        (frames, linkages, paths): (&[Frame], &[LinkageScratch], [&[LinkageScratch]; 2]),
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
                let path = |which: usize| {
                    let (body, touched) = (&bodies[which], &self.touched[which]);
                    let frame = body.frame(network, placed, frames, linkages);
                    match *body {
                        Attachment::Link { linkage, link } => {
                            let place = |linkages: &[LinkageScratch]| {
                                *network.linkages[linkage].body.frame(&linkages[linkage], link)
                            };
                            let [start, ahead] = paths.map(place);
                            bent_link([&start, &frame, &ahead], touched, &point, span.whole)
                        }
                        Attachment::Rigid(_) => bent(&frame, touched, &point, span),
                        _ => Vector3::zeros(),
                    }
                };
                path(0) - path(1)
            }
            false => Vector3::zeros(),
        };
        // Bodies move with the mean of their velocities u at the start and u⁺ at the end: what stuck sticks on with it, u + u⁺ = 0.
        let by_mean = span.apart && !span.is_middle() && self.lasting && self.was_stuck && !self.impact;
        let count = if by_mean { 2.0 } else { 1.0 };
        for axis in 0..self.axes {
            let direction = &directions[axis];
            let mut velocity = count * (direction.dot(&bend) + direction.dot(&self.belt));
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
                if by_mean {
                    velocity += sign * body.speed(network, before, frames, linkages, &point, direction, room);
                }
            }
            free.push(velocity);
        }
    }

    /// Takes over the outcome: whether it sticks, and whether the island was struck in this step.
    pub(super) fn settle(
        &self,
        stage: &mut ImplicitStage<'_>,
        force: &[f64],
        velocity: &[f64],
        (stuck, struck): (bool, bool),
    ) {
        if let Some(memory) = stage.after.get_mut(self.state) {
            *memory = match stuck {
                true => 1.0,
                false if self.corner && force[0] > 0.0 => SLID,
                false => 0.0,
            };
        }
        let Some(seen) = &mut stage.seen else { return };
        let seen = &mut seen[self.element];
        let closed = force[0] > 0.0;
        // A friction far below the rounding of the solve counts as 0.
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
        seen.touching += f64::from(u8::from(closed));
        // An impulse works on the mean of the velocities before and after it; friction between impacts on the velocity after.
        for (k, (f, v)) in force.iter().zip(velocity).enumerate() {
            let start = if k == 0 { self.approach } else { self.slip[k - 1] };
            let before = match self.works {
                Works::Middle => *v,
                Works::Mean => start,
                Works::End if k == 0 || struck => start,
                Works::End => *v,
            };
            seen.power += 0.5 * f * (before + v);
            if self.works == Works::End {
                seen.impact += 0.5 * f * (v - before);
            }
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
pub(crate) fn clear_observations(network: &Network, before: &[f64], seen: &mut [Observation]) {
    for element in &network.rigid {
        seen[element.element] = Observation {
            mode: Mode::Open,
            gap: element.clearance(before),
            ..Observation::default()
        };
    }
    if let Some(scene) = &network.scene {
        seen[scene.element] = Observation {
            mode: Mode::Open,
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
                let points = geometry.points.len();
                state[rigid.state..rigid.state + points].fill(f64::from(u8::from(rest)));
                state[rigid.state + points..rigid.state + 2 * points].fill(if rest { HELD } else { 0.0 });
            }
        }
        self.remember_scene(state);
    }

    /// The first velocity of what a contact takes hold of.
    fn first_velocity(&self, attachment: Attachment) -> Option<usize> {
        let range = self.velocities_of(attachment);
        (!range.is_empty()).then_some(range.start)
    }

    /// Where the velocities of what a contact takes hold of are.
    pub(super) fn velocities_of(&self, attachment: Attachment) -> Range<usize> {
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
            let points = match &rigid.kind {
                RigidKind::Contact { geometry, .. } => geometry.points.len(),
                RigidKind::Stop { .. } => 2,
            };
            let held = state[rigid.state..rigid.state + points]
                .iter()
                .all(|&memory| memory == 1.0);
            let seen = &mut seen[rigid.element];
            seen.mode = if seen.gap > 1e-12 {
                Mode::Open
            } else {
                Mode::stuck(held)
            };
        }
    }

    /// Rigid contacts whose bodies overlap at the start, with the depth.
    pub(crate) fn overlaps(&self) -> Vec<(usize, f64)> {
        if self.rigid.is_empty() {
            return Vec::new();
        }
        let mut frames = vec![Frame::ground(); self.bodies.len()];
        let mut linkages: Vec<LinkageScratch> = self.linkages.iter().map(|placed| placed.body.scratch()).collect();
        self.place_bodies(&self.initial, &mut frames, &mut linkages);
        let mut found = Vec::new();
        for rigid in &self.rigid {
            let RigidKind::Contact { geometry, .. } = &rigid.kind else {
                continue;
            };
            let [first, second] =
                [geometry.first, geometry.second].map(|body| body.frame(self, &self.initial, &frames, &linkages));
            let touches = (0..geometry.points.len()).map(|i| geometry.touch(i, &first, &second));
            let depth = touches
                .map(|touch| {
                    let size = touch.point.norm() + first.position.norm();
                    // Positions written in decimals are rounded.
                    if -touch.gap > 1e-9 * size { -touch.gap } else { 0.0 }
                })
                .fold(0.0, f64::max);
            if depth > 0.0 {
                found.push((rigid.element, depth));
            }
        }
        found
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
