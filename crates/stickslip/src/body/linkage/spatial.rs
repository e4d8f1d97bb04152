//! The kernels for any tree.
//!
//! Everything is in world axes, seen at each link's own origin, so moving a quantity from a link to its parent is a shift
//! by the offset between their origins. Motion is (angular acceleration α, acceleration a of the origin) as an observer at
//! rest measures them, not their spatial counterparts; then velocity enters only through ω and the joint rates:
//!
//!   a_child = a + α × r + ω × (ω × r)  [+ 2 ω × s·q' + s·q'' for a slide]
//!   force on a rigid link f = m(a + α × c + ω × (ω × c)), torque n = c × f + J α + ω × J ω
//!
//! Gravity is the ground accelerating by −g.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::{JointKind, Linkage, LinkageError, LinkageScratch};
use crate::math::symmetric_eigenvalues;

/// What acts besides generalised forces: velocity terms; weight and loads.
pub(super) const VELOCITY: u8 = 1;
pub(super) const LOADS: u8 = 2;
pub(super) const ALL: u8 = VELOCITY | LOADS;

/// Intermediate values of one link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState {
    /// World axis of the joint; zero for a floating root.
    pub axis: Vector3<f64>,
    /// From the parent's origin to the link's origin.
    pub offset: Vector3<f64>,
    /// External load, torque about the link's origin.
    pub load_force: Vector3<f64>,
    /// External torque about the link's origin.
    pub load_torque: Vector3<f64>,
    inertia: Articulated,
    bias: Wrench,
    /// Inertia times joint axis, its inverse joint component, and the joint force left to accelerate the joint.
    axis_inertia: Wrench,
    inverse: f64,
    drive: f64,
    /// Acceleration from velocity alone, and the total.
    drift: Motion,
    motion: Motion,
}

/// Force and torque about a link's origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wrench {
    pub torque: Vector3<f64>,
    pub force: Vector3<f64>,
}

/// Acceleration (or velocity) of a link: angular, and of its origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub angular: Vector3<f64>,
    pub linear: Vector3<f64>,
}

/// Symmetric 6×6 inertia in blocks: torque = turn·α + mixed·a, force = mixedᵀ·α + push·a.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Articulated {
    pub turn: Matrix3<f64>,
    pub mixed: Matrix3<f64>,
    pub push: Matrix3<f64>,
}

impl Wrench {
    /// The same load seen from a point `offset` before the present one.
    #[inline]
    pub fn shifted(&self, offset: &Vector3<f64>) -> Wrench {
        Wrench {
            torque: self.torque + offset.cross(&self.force),
            force: self.force,
        }
    }

    #[inline]
    pub fn add(&mut self, other: &Wrench) {
        self.torque += other.torque;
        self.force += other.force;
    }
}

impl Motion {
    /// Adds so many units of joint motion.
    #[inline]
    pub fn add(&mut self, unit: &Motion, rate: f64) {
        self.angular += unit.angular * rate;
        self.linear += unit.linear * rate;
    }
}

impl Articulated {
    /// A rigid link: mass, centre of mass from the origin, inertia about the centre of mass.
    #[inline]
    pub fn rigid(mass: f64, com: &Vector3<f64>, inertia: &Matrix3<f64>) -> Articulated {
        let moment = mass * com;
        let turn = inertia + Matrix3::from_diagonal_element(moment.dot(com)) - moment * com.transpose();
        Articulated {
            turn,
            mixed: moment.cross_matrix(),
            push: Matrix3::from_diagonal_element(mass),
        }
    }

    #[inline]
    fn times(&self, motion: &Motion) -> Wrench {
        Wrench {
            torque: self.turn * motion.angular + self.mixed * motion.linear,
            force: self.mixed.tr_mul(&motion.angular) + self.push * motion.linear,
        }
    }

    /// I − U Uᵀ·inverse: what remains when the joint is free to give way.
    #[inline]
    fn yielding(&self, u: &Wrench, inverse: f64) -> Articulated {
        let torque = u.torque * inverse;
        let force = u.force * inverse;
        Articulated {
            turn: self.turn - torque * u.torque.transpose(),
            mixed: self.mixed - torque * u.force.transpose(),
            push: self.push - force * u.force.transpose(),
        }
    }

    /// The same inertia seen from a point `offset` before the present one.
    #[inline]
    fn shifted(&self, offset: &Vector3<f64>) -> Articulated {
        let cross = offset.cross_matrix();
        let mixed = self.mixed + cross * self.push;
        let lever = self.mixed * cross;
        // turn − mixed·[r] + [r]·mixedᵀ − [r]·push·[r], and [r]·mixedᵀ is −(mixed·[r])ᵀ
        let turn = self.turn - lever - lever.transpose() - cross * self.push * cross;
        Articulated {
            turn,
            mixed,
            push: self.push,
        }
    }

    #[inline]
    fn add(&mut self, other: &Articulated) {
        self.turn += other.turn;
        self.mixed += other.mixed;
        self.push += other.push;
    }

    /// The 6×6 matrix in the order of the velocities of a floating root: linear, angular.
    fn matrix(&self) -> Matrix6<f64> {
        let mut m = Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.push);
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&self.mixed.transpose());
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&self.mixed);
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.turn);
        m
    }
}

impl Linkage {
    /// Rigid-body inertia of a placed link, and its force from velocity (if `TERMS` has it) and loads.
    #[inline]
    fn rigid<const TERMS: u8>(&self, i: usize, scratch: &LinkageScratch) -> (Articulated, Wrench) {
        let (link, frame, state) = (&self.links[i], &scratch.frames[i], &scratch.states[i]);
        let com = frame.rotation * link.com;
        let inertia = frame.rotation * link.inertia * frame.rotation.transpose();
        let mut bias = Wrench::default();
        if TERMS & VELOCITY != 0 {
            let spin = frame.angular_velocity;
            bias.force = link.mass * spin.cross(&spin.cross(&com));
            bias.torque = com.cross(&bias.force) + spin.cross(&(inertia * spin));
        }
        if TERMS & LOADS != 0 {
            bias.torque -= state.load_torque;
            bias.force -= state.load_force;
        }
        (Articulated::rigid(link.mass, &com, &inertia), bias)
    }

    /// Acceleration of a link, with its parent at rest in acceleration and the joint rate constant.
    #[inline]
    fn drift<const TERMS: u8>(&self, i: usize, v: &[f64], scratch: &LinkageScratch) -> Motion {
        let (Some(vi), true) = (self.joint_velocity_index(i), TERMS & VELOCITY != 0) else {
            return Motion::default();
        };
        let spin = self.links[i]
            .parent
            .map_or_else(Vector3::zeros, |p| scratch.frames[p].angular_velocity);
        let state = &scratch.states[i];
        let centripetal = spin.cross(&spin.cross(&state.offset));
        let turned = spin.cross(&state.axis) * v[vi];
        match self.links[i].kind {
            JointKind::Revolute => Motion {
                angular: turned,
                linear: centripetal,
            },
            JointKind::Prismatic => Motion {
                angular: Vector3::zeros(),
                linear: centripetal + 2.0 * turned,
            },
        }
    }

    /// The component of a load along the joint.
    #[inline]
    pub(super) fn along(&self, i: usize, axis: &Vector3<f64>, load: &Wrench) -> f64 {
        match self.links[i].kind {
            JointKind::Revolute => axis.dot(&load.torque),
            JointKind::Prismatic => axis.dot(&load.force),
        }
    }

    /// A unit of joint motion.
    #[inline]
    pub(super) fn unit(&self, i: usize, axis: &Vector3<f64>) -> Motion {
        match self.links[i].kind {
            JointKind::Revolute => Motion {
                angular: *axis,
                linear: Vector3::zeros(),
            },
            JointKind::Prismatic => Motion {
                angular: Vector3::zeros(),
                linear: *axis,
            },
        }
    }

    /// Acceleration the parent gives to the origin of link `i`.
    #[inline]
    fn carried<const TERMS: u8>(&self, i: usize, scratch: &LinkageScratch) -> Motion {
        let state = &scratch.states[i];
        let parent = match self.links[i].parent {
            Some(p) => scratch.states[p].motion,
            None if TERMS & LOADS == 0 => Motion::default(),
            None => Motion {
                angular: Vector3::zeros(),
                linear: -self.gravity,
            },
        };
        Motion {
            angular: parent.angular + state.drift.angular,
            linear: parent.linear + parent.angular.cross(&state.offset) + state.drift.linear,
        }
    }

    /// Articulated inertias and biases from the leaves to the root.
    #[inline]
    fn articulate<const TERMS: u8>(&self, v: &[f64], tau: &[f64], scratch: &mut LinkageScratch) {
        for i in 0..self.links.len() {
            let (inertia, bias) = self.rigid::<TERMS>(i, scratch);
            let drift = self.drift::<TERMS>(i, v, scratch);
            let state = &mut scratch.states[i];
            (state.inertia, state.bias, state.drift) = (inertia, bias, drift);
        }
        for i in (0..self.links.len()).rev() {
            let Some(vi) = self.joint_velocity_index(i) else {
                break;
            };
            let axis = scratch.states[i].axis;
            let unit = self.unit(i, &axis);
            let state = &mut scratch.states[i];
            let u = state.inertia.times(&unit);
            state.axis_inertia = u;
            state.inverse = 1.0 / self.along(i, &axis, &u);
            state.drive = tau[vi] - self.along(i, &axis, &state.bias);
            let Some(p) = self.links[i].parent else {
                continue;
            };
            let rest = state.inertia.yielding(&u, state.inverse);
            let mut load = rest.times(&state.drift);
            let share = state.drive * state.inverse;
            load.torque += state.bias.torque + u.torque * share;
            load.force += state.bias.force + u.force * share;
            let (rest, load) = (rest.shifted(&state.offset), load.shifted(&state.offset));
            scratch.states[p].inertia.add(&rest);
            scratch.states[p].bias.add(&load);
        }
    }

    /// Articulated-body algorithm on placed frames and applied loads.
    pub(super) fn accelerate_spatial<const TERMS: u8>(
        &self,
        v: &[f64],
        tau: &[f64],
        scratch: &mut LinkageScratch,
        out: &mut [f64],
    ) {
        self.articulate::<TERMS>(v, tau, scratch);
        for i in 0..self.links.len() {
            let Some(vi) = self.joint_velocity_index(i) else {
                self.accelerate_root(tau, scratch, out);
                continue;
            };
            let mut motion = self.carried::<TERMS>(i, scratch);
            let state = &mut scratch.states[i];
            let u = &state.axis_inertia;
            let resisted = u.torque.dot(&motion.angular) + u.force.dot(&motion.linear);
            let rate = (state.drive - resisted) * state.inverse;
            match self.links[i].kind {
                JointKind::Revolute => motion.angular += state.axis * rate,
                JointKind::Prismatic => motion.linear += state.axis * rate,
            }
            state.motion = motion;
            out[vi] = rate;
        }
    }

    fn accelerate_root(&self, tau: &[f64], scratch: &mut LinkageScratch, out: &mut [f64]) {
        let state = &mut scratch.states[0];
        let bias = &state.bias;
        let right = Vector6::from_fn(|k, _| tau[k] - if k < 3 { bias.force[k] } else { bias.torque[k - 3] });
        // Construction has shown that the inertia is positive definite; only a state that is not finite fails here.
        let solved = match state.inertia.matrix().cholesky() {
            Some(factor) => factor.solve(&right),
            None => Vector6::repeat(f64::NAN),
        };
        state.motion.linear = solved.fixed_rows::<3>(0).into();
        state.motion.angular = solved.fixed_rows::<3>(3).into();
        for k in 0..6 {
            out[k] = solved[k] + if k < 3 { self.gravity[k] } else { 0.0 };
        }
    }

    /// The matrix H of H(q)·v' = tau − bias, row by row (composite-rigid-body algorithm), after [`Linkage::place`].
    pub fn mass_matrix(&self, scratch: &mut LinkageScratch, out: &mut [f64]) {
        let n = self.velocity_count();
        out[..n * n].fill(0.0);
        self.compose(scratch);
        for i in (0..self.links.len()).rev() {
            let state = &scratch.states[i];
            let Some(row) = self.joint_velocity_index(i) else {
                let matrix = state.inertia.matrix();
                for r in 0..6 {
                    for c in 0..6 {
                        // one triangle for both: rounding leaves the blocks not quite symmetric
                        out[r * n + c] = matrix[(r.min(c), r.max(c))];
                    }
                }
                continue;
            };
            let mut load = state.inertia.times(&self.unit(i, &state.axis));
            out[row * n + row] = self.along(i, &state.axis, &load);
            let mut j = i;
            while let Some(p) = self.links[j].parent {
                load = load.shifted(&scratch.states[j].offset);
                j = p;
                match self.joint_velocity_index(j) {
                    Some(column) => {
                        let value = self.along(j, &scratch.states[j].axis, &load);
                        out[row * n + column] = value;
                        out[column * n + row] = value;
                    }
                    None => {
                        for k in 0..3 {
                            for (column, value) in [(k, load.force[k]), (3 + k, load.torque[k])] {
                                out[row * n + column] = value;
                                out[column * n + row] = value;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Inertia of each link with all it carries, joints locked.
    fn compose(&self, scratch: &mut LinkageScratch) {
        for i in 0..self.links.len() {
            scratch.states[i].inertia = self.rigid::<0>(i, scratch).0;
        }
        for i in (1..self.links.len()).rev() {
            if let Some(p) = self.links[i].parent {
                let shifted = scratch.states[i].inertia.shifted(&scratch.states[i].offset);
                scratch.states[p].inertia.add(&shifted);
            }
        }
    }

    /// The generalised force that keeps v constant against velocity terms, gravity and the applied loads, so that
    /// H(q)·v' = tau − bias (recursive Newton-Euler), after [`Linkage::place`].
    pub fn bias(&self, v: &[f64], scratch: &mut LinkageScratch, out: &mut [f64]) {
        self.newton_euler::<ALL>(v, scratch, out);
    }

    /// The generalised force that keeps v constant against what `TERMS` has, after [`Linkage::place`].
    pub(super) fn newton_euler<const TERMS: u8>(&self, v: &[f64], scratch: &mut LinkageScratch, out: &mut [f64]) {
        for i in 0..self.links.len() {
            scratch.states[i].drift = self.drift::<TERMS>(i, v, scratch);
            let motion = self.carried::<TERMS>(i, scratch);
            let (inertia, mut load) = self.rigid::<TERMS>(i, scratch);
            load.add(&inertia.times(&motion));
            scratch.states[i].motion = motion;
            scratch.states[i].bias = load;
        }
        for i in (0..self.links.len()).rev() {
            let state = &scratch.states[i];
            match self.joint_velocity_index(i) {
                Some(row) => out[row] = self.along(i, &state.axis, &state.bias),
                None => {
                    for k in 0..3 {
                        out[k] = state.bias.force[k];
                        out[3 + k] = state.bias.torque[k];
                    }
                }
            }
            if let Some(p) = self.links[i].parent {
                let load = state.bias.shifted(&state.offset);
                scratch.states[p].bias.add(&load);
            }
        }
    }

    /// Refuses a joint that moves no inertia.
    ///
    /// The inertia felt at a joint is an analytic function of the coordinates: if it vanishes at coordinates chosen without
    /// regard to the linkage it vanishes everywhere. The straight posture is tried first, since it needs no length scale.
    pub(super) fn require_inertia(&self) -> Result<(), LinkageError> {
        let length = self
            .links
            .iter()
            .map(|link| link.origin.norm().max(link.com.norm()))
            .fold(0.0, f64::max);
        self.inertia_at(0.0, 0.0).or_else(|_| self.inertia_at(0.7, length))
    }

    fn inertia_at(&self, angle: f64, length: f64) -> Result<(), LinkageError> {
        const NEGLIGIBLE: f64 = 1e-13;
        let mut scratch = self.scratch();
        let mut q = vec![0.0; self.position_count()];
        let v = vec![0.0; self.velocity_count()];
        if self.floating {
            q[3] = 1.0;
        }
        for (i, link) in self.links.iter().enumerate() {
            if let Some(qi) = self.joint_position_index(i) {
                let scale = if link.kind == JointKind::Revolute {
                    angle
                } else {
                    length
                };
                q[qi] = scale * (1.0 + 0.61 * i as f64);
            }
        }
        self.place(&q, &v, &mut scratch);
        self.compose(&mut scratch);
        let whole: Vec<Articulated> = scratch.states.iter().map(|state| state.inertia).collect();
        self.articulate::<ALL>(&v, &v, &mut scratch);
        for i in (0..self.links.len()).rev() {
            let state = &scratch.states[i];
            let enough = match (self.joint_velocity_index(i), self.links[i].kind) {
                (Some(_), JointKind::Revolute) => 1.0 / state.inverse > NEGLIGIBLE * whole[i].turn.trace(),
                (Some(_), JointKind::Prismatic) => 1.0 / state.inverse > NEGLIGIBLE * whole[i].push.trace(),
                (None, _) => state.inertia.is_definite(NEGLIGIBLE, &whole[i]),
            };
            if !enough {
                return Err(LinkageError::MotionWithoutInertia { link: i });
            }
        }
        Ok(())
    }
}

impl Articulated {
    /// Whether every motion meets inertia, measured against the joints-locked inertia `whole`.
    fn is_definite(&self, negligible: f64, whole: &Articulated) -> bool {
        let Some(inverse) = self.push.try_inverse() else {
            return false;
        };
        let about_centre = self.turn - self.mixed * inverse * self.mixed.transpose();
        let smallest = |m: &Matrix3<f64>| symmetric_eigenvalues(m).map_or(0.0, |values| values.min());
        smallest(&self.push) > negligible * whole.push.trace()
            && smallest(&about_centre) > negligible * whole.turn.trace()
    }
}
