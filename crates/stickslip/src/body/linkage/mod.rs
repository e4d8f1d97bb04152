//! A tree of links joined by revolute and prismatic joints, on the ground or floating.
//!
//! Accelerations come from the articulated-body algorithm (Featherstone), in two kernels: a spatial one for every tree,
//! and a planar one for trees on the ground whose links all move in parallel planes. Two hinges in a row
//! without loads, the arm of the paper on modular simulation, have a third one: their equations in closed form. Link frames sit at the joint that
//! carries the link. Joint coordinates are the state of a linkage on the ground; a floating one has the placement of its
//! first link (as a rigid body, seen at the link's origin) before the coordinates of the remaining joints.

mod coast;
mod description;
mod planar;
mod spatial;
#[cfg(test)]
mod tests;
mod two_hinges;

pub use description::{FixedLink, JointKind, LinkDescription, LinkageError};

use nalgebra::{Matrix3, Vector3};

use super::Frame;
use super::frame::{FrameSlope, rotation_matrix, turn_by_component, unit, vector};
use crate::math::sin_cos;
use coast::Coasting;
use planar::{Planar, PlanarState};
use spatial::{ALL, LOADS, LinkState, VELOCITY};
pub(crate) use two_hinges::TwoHinges;

/// One link as the kernels see it.
#[derive(Clone, Debug)]
struct Link {
    parent: Option<usize>,
    kind: JointKind,
    /// Unit axis of the joint in the parent's axes.
    axis: Vector3<f64>,
    origin: Vector3<f64>,
    rotation: Matrix3<f64>,
    /// Rotation of the link in its parent = steady + cos q · cosine + sin q · sine (Rodrigues).
    steady: Matrix3<f64>,
    cosine: Matrix3<f64>,
    sine: Matrix3<f64>,
    mass: f64,
    com: Vector3<f64>,
    inertia: Matrix3<f64>,
}

/// Where a link is that a fixed joint carries.
#[derive(Clone, Debug)]
struct Carried {
    carrier: Option<usize>,
    origin: Vector3<f64>,
    rotation: Matrix3<f64>,
}

/// A tree of links: the description is fixed, the state belongs to the caller, intermediate values to
/// [`LinkageScratch`].
#[derive(Clone, Debug)]
pub struct Linkage {
    links: Vec<Link>,
    names: Vec<String>,
    /// Links without motion of their own; they count behind those that have joints which move.
    fixed: Vec<Carried>,
    floating: bool,
    gravity: Vector3<f64>,
    planar: Option<Planar>,
    two_hinges: Option<TwoHinges>,
}

/// Intermediate values of one linkage, sized once.
#[derive(Clone, Debug)]
pub struct LinkageScratch {
    frames: Vec<Frame>,
    states: Vec<LinkState>,
    planar: Vec<PlanarState>,
    coasting: Vec<Coasting>,
    /// Generalised forces, velocities of a linkage at rest, and what velocity terms load joints at rest with.
    forces: Vec<f64>,
    rest: Vec<f64>,
    standing: Vec<f64>,
    /// Generalised forces of the profiles that push links.
    pub(crate) pushed: Vec<f64>,
}

impl Linkage {
    /// Checks the description and prepares the kernels.
    ///
    /// A floating linkage frees its first link, which must be the only one carried by the ground; the joint of that link
    /// is ignored. A joint that would move nothing with inertia is refused.
    pub fn new(links: &[LinkDescription], floating: bool, gravity: Vector3<f64>) -> Result<Self, LinkageError> {
        Self::with_fixed(links, &[], floating, gravity)
    }

    /// As [`Linkage::new`], with links that move with others: they add mass to these, and have frames of their own. Their numbers count on
    /// behind those of `links`.
    pub fn with_fixed(
        links: &[LinkDescription],
        fixed: &[FixedLink],
        floating: bool,
        gravity: Vector3<f64>,
    ) -> Result<Self, LinkageError> {
        let mut whole = links.to_vec();
        for link in fixed {
            if let Some(carrier) = link.carrier {
                link.join(&mut whole[carrier]);
            }
        }
        description::check(&whole, floating, &gravity)?;
        let names = links.iter().map(|link| &link.name);
        let mut linkage = Linkage {
            links: whole.iter().map(Link::new).collect(),
            names: names.chain(fixed.iter().map(|link| &link.name)).cloned().collect(),
            fixed: fixed.iter().map(Carried::new).collect(),
            floating,
            gravity,
            planar: None,
            two_hinges: None,
        };
        linkage.require_inertia()?;
        linkage.planar = Planar::detect(&linkage);
        linkage.two_hinges = linkage.planar.as_ref().and_then(TwoHinges::detect);
        Ok(linkage)
    }

    /// Buffers for the methods of this linkage.
    pub fn scratch(&self) -> LinkageScratch {
        LinkageScratch {
            frames: vec![Frame::ground(); self.names.len()],
            states: vec![LinkState::default(); self.links.len()],
            planar: vec![PlanarState::default(); self.planar.as_ref().map_or(0, |_| self.links.len())],
            coasting: vec![Coasting::default(); self.links.len()],
            forces: vec![0.0; self.velocity_count()],
            rest: vec![0.0; self.velocity_count()],
            standing: vec![0.0; self.velocity_count()],
            pushed: vec![0.0; self.velocity_count()],
        }
    }

    /// Number of links, with those that fixed joints carry.
    pub fn link_count(&self) -> usize {
        self.names.len()
    }

    /// The link with a joint that moves it, or a free root, that a link moves with: itself, or what it is fixed to; none for the ground.
    #[inline]
    fn carrier(&self, link: usize) -> Option<usize> {
        match link.checked_sub(self.links.len()) {
            None => Some(link),
            Some(fixed) => self.fixed[fixed].carrier,
        }
    }

    /// Name of a link.
    pub fn link_name(&self, link: usize) -> &str {
        &self.names[link]
    }

    /// Index of the link with this name.
    pub fn link_index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Whether the first link is free.
    pub fn is_floating(&self) -> bool {
        self.floating
    }

    /// Whether accelerations come from the planar kernel.
    pub fn is_planar(&self) -> bool {
        self.planar.is_some()
    }

    /// The equations of two hinges in a row in a plane, if that is what the linkage is.
    pub(crate) fn two_hinges(&self) -> Option<&TwoHinges> {
        self.two_hinges.as_ref()
    }

    /// Number of position coordinates: 7 for a floating root, 1 for each joint.
    pub fn position_count(&self) -> usize {
        self.links.len() + if self.floating { 6 } else { 0 }
    }

    /// Number of velocity coordinates: 6 for a floating root, 1 for each joint.
    pub fn velocity_count(&self) -> usize {
        self.links.len() + if self.floating { 5 } else { 0 }
    }

    /// Index in the positions of the coordinate of the joint that carries `link`; none for a floating root and a fixed joint.
    #[inline]
    pub fn joint_position_index(&self, link: usize) -> Option<usize> {
        match (self.floating, link) {
            _ if link >= self.links.len() => None,
            (false, _) => Some(link),
            (true, 0) => None,
            (true, _) => Some(link + 6),
        }
    }

    /// Index in the velocities of the rate of the joint that carries `link`; none for a floating root and a fixed joint.
    #[inline]
    pub fn joint_velocity_index(&self, link: usize) -> Option<usize> {
        match (self.floating, link) {
            _ if link >= self.links.len() => None,
            (false, _) => Some(link),
            (true, 0) => None,
            (true, _) => Some(link + 5),
        }
    }

    /// Placement and motion of every link (forward kinematics).
    pub fn place(&self, q: &[f64], v: &[f64], scratch: &mut LinkageScratch) {
        debug_assert!(q.len() == self.position_count() && v.len() == self.velocity_count());
        for (i, link) in self.links.iter().enumerate() {
            let (Some(qi), Some(vi)) = (self.joint_position_index(i), self.joint_velocity_index(i)) else {
                scratch.frames[0] = Frame {
                    rotation: rotation_matrix([q[3], q[4], q[5], q[6]]),
                    position: vector(q, 0),
                    velocity: vector(v, 0),
                    angular_velocity: vector(v, 3),
                };
                scratch.states[0].offset = scratch.frames[0].position;
                continue;
            };
            let ground = Frame::ground();
            let parent = link.parent.map_or(&ground, |p| &scratch.frames[p]);
            let state = &mut scratch.states[i];
            let axis = parent.rotation * link.axis;
            state.axis = axis;
            let frame = match link.kind {
                JointKind::Revolute => {
                    let (sine, cosine) = sin_cos(q[qi]);
                    let turn = link.steady + link.cosine * cosine + link.sine * sine;
                    state.offset = parent.rotation * link.origin;
                    Frame {
                        rotation: parent.rotation * turn,
                        position: parent.position + state.offset,
                        velocity: parent.velocity + parent.angular_velocity.cross(&state.offset),
                        angular_velocity: parent.angular_velocity + axis * v[vi],
                    }
                }
                JointKind::Prismatic => {
                    state.offset = parent.rotation * link.origin + axis * q[qi];
                    Frame {
                        rotation: parent.rotation * link.rotation,
                        position: parent.position + state.offset,
                        velocity: parent.velocity + parent.angular_velocity.cross(&state.offset) + axis * v[vi],
                        angular_velocity: parent.angular_velocity,
                    }
                }
            };
            scratch.frames[i] = frame;
        }
        for (i, fixed) in self.fixed.iter().enumerate() {
            let ground = Frame::ground();
            let carrier = fixed.carrier.map_or(&ground, |carrier| &scratch.frames[carrier]);
            scratch.frames[self.links.len() + i] = fixed.on(carrier);
        }
    }

    /// Where a link is at the positions `q`, and how it is turned. It needs no room, and takes the time of the joints before it.
    pub fn pose(&self, q: &[f64], link: usize) -> (Vector3<f64>, Matrix3<f64>) {
        let Some(carrier) = self.carrier(link) else {
            let fixed = &self.fixed[link - self.links.len()];
            return (fixed.origin, fixed.rotation);
        };
        if carrier != link {
            let fixed = &self.fixed[link - self.links.len()];
            let (position, rotation) = self.pose(q, carrier);
            return (position + rotation * fixed.origin, rotation * fixed.rotation);
        }
        let Some(qi) = self.joint_position_index(link) else {
            return (vector(q, 0), rotation_matrix([q[3], q[4], q[5], q[6]]));
        };
        let own = &self.links[link];
        let parent = own.parent.map(|parent| self.pose(q, parent));
        let (position, rotation) = parent.unwrap_or((Vector3::zeros(), Matrix3::identity()));
        match own.kind {
            JointKind::Revolute => {
                let (sine, cosine) = sin_cos(q[qi]);
                let turn = own.steady + own.cosine * cosine + own.sine * sine;
                (position + rotation * own.origin, rotation * turn)
            }
            JointKind::Prismatic => {
                let offset = rotation * (own.origin + own.axis * q[qi]);
                (position + offset, rotation * own.rotation)
            }
        }
    }

    /// Frame of a link after [`Linkage::place`]; its reference point is the link's origin, on the joint that carries it.
    #[inline]
    pub fn frame<'a>(&self, scratch: &'a LinkageScratch, link: usize) -> &'a Frame {
        &scratch.frames[link]
    }

    /// World axis of the joint that carries `link`, after [`Linkage::place`]; zero for a floating root.
    #[inline]
    pub fn joint_axis<'a>(&self, scratch: &'a LinkageScratch, link: usize) -> &'a Vector3<f64> {
        &scratch.states[link].axis
    }

    /// Forgets the external loads.
    pub fn clear_loads(&self, scratch: &mut LinkageScratch) {
        for state in &mut scratch.states {
            state.load_force = Vector3::zeros();
            state.load_torque = Vector3::zeros();
        }
    }

    /// Adds an external load on a link: a force at a point and a torque, in world axes, after [`Linkage::place`].
    #[inline]
    pub fn apply(
        &self,
        scratch: &mut LinkageScratch,
        link: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        point: &Vector3<f64>,
    ) {
        let Some(link) = self.carrier(link) else { return };
        let arm = point - scratch.frames[link].position;
        let state = &mut scratch.states[link];
        state.load_force += force;
        state.load_torque += torque + arm.cross(force);
    }

    /// Rate of v under the generalised forces `tau`, gravity and the applied loads.
    ///
    /// [`Linkage::place`] has been called with the same `q` and `v`, and the loads cleared and applied since.
    pub fn accelerate(&self, q: &[f64], v: &[f64], tau: &[f64], scratch: &mut LinkageScratch, out: &mut [f64]) {
        match &self.planar {
            Some(planar) => {
                planar.gather_loads(&scratch.states, &mut scratch.planar);
                planar.accelerate::<true>(q, v, tau, &mut scratch.planar, out);
            }
            None => self.accelerate_spatial::<ALL>(v, tau, scratch, out),
        }
    }

    /// Rate of v under the generalised forces `tau` and gravity alone. Nothing has to be called before; loads and frames
    /// in the scratch are not preserved.
    #[inline(always)]
    pub fn accelerate_unloaded(
        &self,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        scratch: &mut LinkageScratch,
        out: &mut [f64],
    ) {
        match (&self.two_hinges, &self.planar) {
            (Some(arm), _) => {
                let pair = |values: &[f64]| [values[0], values[1]];
                out[..2].copy_from_slice(&arm.accelerate(pair(q), pair(v), pair(tau)));
            }
            (None, Some(planar)) => planar.accelerate::<false>(q, v, tau, &mut scratch.planar, out),
            (None, None) => {
                self.place(q, v, scratch);
                self.clear_loads(scratch);
                self.accelerate_spatial::<ALL>(v, tau, scratch, out);
            }
        }
    }

    /// Rate of v under the generalised forces `tau`, gravity and the applied loads alone: velocity terms act while the linkage moves
    /// ([`Linkage::coast`]), except on joints at rest, where they are a load.
    ///
    /// If `loaded`, [`Linkage::place`] has been called with the same `q` and `v`, and the loads cleared and applied since; if not, there are none.
    pub(crate) fn push(
        &self,
        (q, v): (&[f64], &[f64]),
        loaded: bool,
        tau: &[f64],
        scratch: &mut LinkageScratch,
        out: &mut [f64],
    ) {
        let moving = v.iter().any(|rate| *rate != 0.0);
        scratch.standing.fill(0.0);
        if !(moving && self.has_velocity_terms()) {
            return match loaded {
                true => self.accelerate(q, v, tau, scratch, out),
                false => self.accelerate_unloaded(q, v, tau, scratch, out),
            };
        }
        let first = if self.floating { 6 } else { 0 };
        let stands = v[first..].contains(&0.0);
        if !loaded && (stands || self.planar.is_none()) {
            self.place(q, v, scratch);
            self.clear_loads(scratch);
        }
        // They leave the scratch while it is used whole.
        let mut forces = std::mem::take(&mut scratch.forces);
        let mut standing = std::mem::take(&mut scratch.standing);
        let rest = std::mem::take(&mut scratch.rest);
        forces.copy_from_slice(tau);
        if stands {
            self.newton_euler::<VELOCITY>(v, scratch, &mut standing);
            for (i, load) in standing.iter_mut().enumerate() {
                *load = if i >= first && v[i] == 0.0 { -*load } else { 0.0 };
                forces[i] += *load;
            }
        }
        self.accelerate_from_rest(q, loaded, &rest, &forces, scratch, out);
        (scratch.forces, scratch.standing, scratch.rest) = (forces, standing, rest);
    }

    /// Mass of all links.
    pub(crate) fn mass(&self) -> f64 {
        self.links.iter().map(|link| link.mass).sum()
    }

    /// [`Linkage::push`] with velocity terms among the generalised forces, as [`Linkage::velocity_terms`] gives them.
    pub(crate) fn push_with(
        &self,
        (q, v): (&[f64], &[f64]),
        loaded: bool,
        tau: &[f64],
        scratch: &mut LinkageScratch,
        out: &mut [f64],
    ) {
        if !loaded && self.planar.is_none() {
            self.place(q, v, scratch);
            self.clear_loads(scratch);
        }
        let rest = std::mem::take(&mut scratch.rest);
        self.accelerate_from_rest(q, loaded, &rest, tau, scratch, out);
        scratch.rest = rest;
    }

    fn accelerate_from_rest(
        &self,
        q: &[f64],
        loaded: bool,
        rest: &[f64],
        tau: &[f64],
        scratch: &mut LinkageScratch,
        out: &mut [f64],
    ) {
        match (self.is_planar(), loaded) {
            (true, true) => self.accelerate(q, rest, tau, scratch, out),
            (true, false) => self.accelerate_unloaded(q, rest, tau, scratch, out),
            (false, _) => self.accelerate_spatial::<LOADS>(rest, tau, scratch, out),
        }
    }

    /// Adds the centrifugal, Coriolis and gyroscopic forces of a motion to the generalised forces `tau`.
    pub(crate) fn velocity_terms(&self, q: &[f64], v: &[f64], scratch: &mut LinkageScratch, tau: &mut [f64]) {
        self.place(q, v, scratch);
        let mut terms = std::mem::take(&mut scratch.standing);
        self.newton_euler::<VELOCITY>(v, scratch, &mut terms);
        for (tau, term) in tau.iter_mut().zip(&terms) {
            *tau -= term;
        }
        scratch.standing = terms;
    }

    /// Velocity of a point of `link` per unit of each velocity coordinate: 3 rows, one column for each velocity, row by
    /// row. [`Linkage::place`] has been called.
    pub fn point_jacobian(&self, scratch: &LinkageScratch, link: usize, point: &Vector3<f64>, out: &mut [f64]) {
        let columns = self.velocity_count();
        out[..3 * columns].fill(0.0);
        let mut set = |column: usize, value: Vector3<f64>| {
            for row in 0..3 {
                out[row * columns + column] = value[row];
            }
        };
        let mut next = self.carrier(link);
        while let Some(i) = next {
            let arm = point - scratch.frames[i].position;
            let axis = scratch.states[i].axis;
            match (self.joint_velocity_index(i), self.links[i].kind) {
                (Some(column), JointKind::Revolute) => set(column, axis.cross(&arm)),
                (Some(column), JointKind::Prismatic) => set(column, axis),
                (None, _) => {
                    for (k, unit) in [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().enumerate() {
                        set(k, unit);
                        set(3 + k, unit.cross(&arm));
                    }
                }
            }
            next = self.links[i].parent;
        }
    }

    /// Calls `visit` with each position and each velocity that moves `link`, counted from `at`, and how its frame changes with
    /// it, after [`Linkage::place`].
    ///
    /// What lies beyond a joint turns about it as a whole: of the link's motion, the part relative to the joint's own link
    /// (u = v − vᵢ − ωᵢ × r at the distance r) turns along, and the rest follows the new r.
    pub(crate) fn frame_slopes(
        &self,
        scratch: &LinkageScratch,
        q: &[f64],
        link: usize,
        at: [usize; 2],
        mut visit: impl FnMut(usize, FrameSlope),
    ) {
        let frame = &scratch.frames[link];
        let mut next = self.carrier(link);
        while let Some(i) = next {
            let own = &scratch.frames[i];
            let arm = frame.position - own.position;
            let spin = frame.angular_velocity - own.angular_velocity;
            let relative = frame.velocity - own.velocity - own.angular_velocity.cross(&arm);
            let turned = |turn: Vector3<f64>| {
                let position = turn.cross(&arm);
                FrameSlope {
                    position,
                    turn,
                    velocity: turn.cross(&relative) + own.angular_velocity.cross(&position),
                    spin: turn.cross(&spin),
                }
            };
            let turning = |axis: Vector3<f64>| FrameSlope {
                velocity: axis.cross(&arm),
                spin: axis,
                ..FrameSlope::default()
            };
            let pushing = |axis: Vector3<f64>| FrameSlope {
                velocity: axis,
                ..FrameSlope::default()
            };
            let axis = scratch.states[i].axis;
            match (self.joint_position_index(i), self.joint_velocity_index(i)) {
                (Some(qi), Some(vi)) if self.links[i].kind == JointKind::Revolute => {
                    visit(at[0] + qi, turned(axis));
                    visit(at[1] + vi, turning(axis));
                }
                (Some(qi), Some(vi)) => {
                    let shifted = FrameSlope {
                        position: axis,
                        velocity: own.angular_velocity.cross(&axis),
                        ..FrameSlope::default()
                    };
                    visit(at[0] + qi, shifted);
                    visit(at[1] + vi, pushing(axis));
                }
                _ => {
                    for k in 0..3 {
                        let shifted = FrameSlope {
                            position: unit(k),
                            ..FrameSlope::default()
                        };
                        visit(at[0] + k, shifted);
                        visit(at[1] + k, pushing(unit(k)));
                        visit(at[1] + 3 + k, turning(unit(k)));
                    }
                    for k in 0..4 {
                        visit(at[0] + 3 + k, turned(turn_by_component([q[3], q[4], q[5], q[6]], k)));
                    }
                }
            }
            next = self.links[i].parent;
        }
    }

    /// The generalised forces of a force on `link` and a torque about its origin, in world axes, after [`Linkage::place`].
    pub(crate) fn generalised(
        &self,
        scratch: &LinkageScratch,
        link: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        mut add: impl FnMut(usize, f64),
    ) {
        let mut next = self.carrier(link);
        while let Some(i) = next {
            let arm = scratch.frames[link].position - scratch.frames[i].position;
            let about = torque + arm.cross(force);
            let axis = scratch.states[i].axis;
            match (self.joint_velocity_index(i), self.links[i].kind) {
                (Some(row), JointKind::Revolute) => add(row, axis.dot(&about)),
                (Some(row), JointKind::Prismatic) => add(row, axis.dot(force)),
                (None, _) => {
                    for k in 0..3 {
                        add(k, force[k]);
                        add(3 + k, about[k]);
                    }
                }
            }
            next = self.links[i].parent;
        }
    }

    /// Kinetic energy, J, after [`Linkage::place`].
    pub fn kinetic_energy(&self, scratch: &LinkageScratch) -> f64 {
        let each = |(link, frame): (&Link, &Frame)| {
            let velocity = frame.velocity + frame.angular_velocity.cross(&(frame.rotation * link.com));
            let spin = frame.rotation.tr_mul(&frame.angular_velocity);
            0.5 * link.mass * velocity.norm_squared() + 0.5 * spin.dot(&(link.inertia * spin))
        };
        self.links.iter().zip(&scratch.frames).map(each).sum()
    }

    /// Potential energy in the gravity field, zero at the world's origin, J, after [`Linkage::place`].
    pub fn potential_energy(&self, scratch: &LinkageScratch) -> f64 {
        let each = |(link, frame): (&Link, &Frame)| -link.mass * self.gravity.dot(&frame.point_position(&link.com));
        self.links.iter().zip(&scratch.frames).map(each).sum()
    }
}

impl Carried {
    fn new(link: &FixedLink) -> Self {
        Carried {
            carrier: link.carrier,
            origin: link.origin,
            rotation: rotation_matrix(link.rotation),
        }
    }

    #[inline]
    fn on(&self, carrier: &Frame) -> Frame {
        let offset = carrier.rotation * self.origin;
        Frame {
            rotation: carrier.rotation * self.rotation,
            position: carrier.position + offset,
            velocity: carrier.velocity + carrier.angular_velocity.cross(&offset),
            angular_velocity: carrier.angular_velocity,
        }
    }
}

impl Link {
    fn new(description: &LinkDescription) -> Self {
        let rotation = rotation_matrix(description.rotation);
        let axis = description.axis.try_normalize(0.0).unwrap_or_else(Vector3::z);
        let steady = rotation * axis * axis.transpose();
        Link {
            parent: description.parent,
            kind: description.kind,
            axis: rotation * axis,
            origin: description.origin,
            rotation,
            steady,
            cosine: rotation - steady,
            sine: rotation * axis.cross_matrix(),
            mass: description.mass,
            com: description.com,
            inertia: description.inertia,
        }
    }
}
