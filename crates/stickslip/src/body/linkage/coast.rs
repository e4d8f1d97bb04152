//! Free motion through a step: what gyroscopic, centrifugal and Coriolis forces do to the velocities.
//!
//! Loads, friction and contact change the velocities at the placement q of the start of the step, through the mass matrix H(q) there. With
//! these velocities v the linkage then moves to q⁺ = q + T·v. Here follow the velocities v⁺ that it has there. While it moves, each link goes on
//! as if it were alone: its centre of mass keeps its velocity u, and in axes of the link the angular momentum ℓ = J·Ω follows Euler's equation
//! with the new Ω⁺ in the gyroscopic torque, J·Ω⁺ + T·Ω⁺ × ℓ = ℓ. At q⁺ the joints take hold again by the impulses that they can give, which do no work on
//! motions that they allow:
//!
//!   Σ Jᵀ(q⁺)·[m·(u⁺ − u),  J·(Ω⁺ − Ω) + T·Ω⁺ × ℓ] = 0,   u⁺ and Ω⁺ = J(q⁺)·v⁺
//!
//! (Newton and Euler with d'Alembert's principle at the end of the step; the term of Euler as in implicit gyroscopic torques, Catto 2015.)
//! Multiplied by v⁺ the gyroscopic torque drops out, and what remains is a balance at the two placements, for every step T and every tree:
//!
//!   kinetic energy at q⁺ = kinetic energy at q − Σ ½·m·|u⁺ − u|² − Σ ½·(Ω⁺ − Ω)·J·(Ω⁺ − Ω)
//!
//! The equations are linear. The tree is eliminated from the tips as in the articulated-body algorithm; the gyroscopic term is a skew matrix beside the
//! inertia, so pivots stay positive.
//!
//! One loss is too much: where u turns by an angle φ, as on a circle, the chord takes ½·m·|u|²·φ² even if the speed stays, and likewise where Ω turns in the link, as
//! of a top. A second solution with the impulses m·κ·u⁺, κ = (|u|·|u⁺| − u·u⁺)/|u⁺|², and those of J and Ω alike gives it back and leaves ½·m·(|u⁺| − |u|)²; one hinge then
//! turns for ever. If impulses that were taken from the first solution would give more than was lost, only a part of them is taken. With a free base u and
//! u⁺ count from the common centre of mass, and the mean of the impulses is left out: the momentum of the whole stays as it is.
//!
//! A joint whose rate was exactly zero before and after the push (stuck friction, a stop) is kept at rest here, since what holds it is not known. Its velocity
//! terms are a load of the next step instead ([`Linkage::push`]). If it gives way there, that load does work, which velocity terms never do; it is taken from the motion of the whole
//! linkage.

use nalgebra::{Const, LU, Matrix3, Matrix6, Vector3, Vector6};

use super::spatial::{Articulated, Motion, Wrench};
use super::{Linkage, LinkageScratch};

/// Intermediate values of one link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coasting {
    /// Velocity of the centre of mass at the start; angular velocity and momentum in link axes.
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    momentum: Vector3<f64>,
    /// Centre of mass from the link's origin, at the end.
    com: Vector3<f64>,
    inertia: Tilted,
    impulse: Wrench,
    /// Inertia times joint axis, joint axis times inertia, and the inverse of axis times inertia times axis.
    column: Wrench,
    row: Wrench,
    inverse: f64,
    drive: f64,
    /// What the impulses bring about: motion of the link, and rate of its joint.
    motion: Motion,
    rate: f64,
    /// The same by the first solution.
    first: (Motion, f64),
}

/// The factors of a free base.
type Factors = LU<f64, Const<6>, Const<6>>;

/// Inertia with gyroscopic terms, not symmetric: torque = turn·ω + lever·v, force = lag·ω + push·v.
#[derive(Clone, Copy, Debug, Default)]
struct Tilted {
    turn: Matrix3<f64>,
    lever: Matrix3<f64>,
    lag: Matrix3<f64>,
    push: Matrix3<f64>,
}

impl Tilted {
    #[inline]
    fn times(&self, motion: &Motion) -> Wrench {
        Wrench {
            torque: self.turn * motion.angular + self.lever * motion.linear,
            force: self.lag * motion.angular + self.push * motion.linear,
        }
    }

    #[inline]
    fn transposed_times(&self, motion: &Motion) -> Wrench {
        Wrench {
            torque: self.turn.tr_mul(&motion.angular) + self.lag.tr_mul(&motion.linear),
            force: self.lever.tr_mul(&motion.angular) + self.push.tr_mul(&motion.linear),
        }
    }

    /// What remains when the joint is free to give way: I − column·rowᵀ·inverse.
    #[inline]
    fn yielding(&self, column: &Wrench, row: &Wrench, inverse: f64) -> Tilted {
        let (torque, force) = (column.torque * inverse, column.force * inverse);
        Tilted {
            turn: self.turn - torque * row.torque.transpose(),
            lever: self.lever - torque * row.force.transpose(),
            lag: self.lag - force * row.torque.transpose(),
            push: self.push - force * row.force.transpose(),
        }
    }

    /// The same inertia seen from a point `offset` before the present one.
    #[inline]
    fn shifted(&self, offset: &Vector3<f64>) -> Tilted {
        let cross = offset.cross_matrix();
        let lag = self.lag - self.push * cross;
        Tilted {
            turn: self.turn - self.lever * cross + cross * lag,
            lever: self.lever + cross * self.push,
            lag,
            push: self.push,
        }
    }

    #[inline]
    fn add(&mut self, other: &Tilted) {
        self.turn += other.turn;
        self.lever += other.lever;
        self.lag += other.lag;
        self.push += other.push;
    }

    /// The 6×6 matrix in the order of the velocities of a floating root: linear, angular.
    fn matrix(&self) -> Matrix6<f64> {
        let mut m = Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.push);
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&self.lag);
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&self.lever);
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.turn);
        m
    }
}

impl Linkage {
    /// Whether velocities change though nothing pushes: not so with one joint on the ground.
    pub(crate) fn has_velocity_terms(&self) -> bool {
        self.floating || self.links.len() > 1
    }

    /// Turns `v` into the velocities at `q_next`, which the linkage has reached from `q` with `v` in the time `step`; see the head of this file. `start`
    /// are the velocities that the step began with.
    ///
    /// Returns the loss of energy in motion and weight, where the weight is taken to work as at the start: what the method itself takes. Placement
    /// and loads in the scratch are not preserved.
    pub(crate) fn coast(
        &self,
        (q, q_next): (&[f64], &[f64]),
        step: f64,
        (start, v): (&[f64], &mut [f64]),
        scratch: &mut LinkageScratch,
    ) -> f64 {
        self.place(q, v, scratch);
        let given: f64 = scratch
            .standing
            .iter()
            .zip(&*v)
            .map(|(load, rate)| step * load * rate)
            .sum();
        // Energies that are lost: of motion, in the end, and of weight.
        let (mut lost, mut weight) = (0.0, 0.0);
        let (mut mass, mut common) = (0.0, Vector3::zeros());
        for ((link, frame), coasting) in self.links.iter().zip(&scratch.frames).zip(&mut scratch.coasting) {
            let com = frame.rotation * link.com;
            let spin = frame.rotation.tr_mul(&frame.angular_velocity);
            coasting.velocity = frame.velocity + frame.angular_velocity.cross(&com);
            (coasting.spin, coasting.momentum) = (spin, link.inertia * spin);
            lost += 0.5 * (link.mass * coasting.velocity.norm_squared() + spin.dot(&coasting.momentum));
            weight -= link.mass * self.gravity.dot(&(frame.position + com + step * coasting.velocity));
            mass += link.mass;
            common += link.mass * coasting.velocity;
        }
        self.place(q_next, v, scratch);
        for ((link, frame), coasting) in self.links.iter().zip(&scratch.frames).zip(&mut scratch.coasting) {
            coasting.com = frame.rotation * link.com;
            weight += link.mass * self.gravity.dot(&(frame.position + coasting.com));
        }
        if !self.has_velocity_terms() {
            return weight;
        }
        let kinetic = lost;
        let root = self.take_apart(step, (start, v), scratch);
        self.solve(root.as_ref(), scratch);
        // On the ground nothing is common, and impulses have no mean that would have to stay zero.
        let shared = if self.floating { 1.0 / mass } else { 0.0 };
        common *= shared;
        let mut mean = Vector3::zeros();
        for ((link, frame), coasting) in self.links.iter().zip(&scratch.frames).zip(&mut scratch.coasting) {
            coasting.first = (coasting.motion, coasting.rate);
            let (velocity, spin) = coasting.parts(&coasting.motion, &frame.rotation);
            let momentum = link.inertia * spin;
            let turning = spin.dot(&momentum);
            lost -= 0.5 * (link.mass * velocity.norm_squared() + turning);
            let (was, is) = (coasting.velocity - common, velocity - common);
            let straight = bend(was.norm_squared(), was.dot(&is), is.norm_squared());
            let round = bend(
                coasting.spin.dot(&coasting.momentum),
                spin.dot(&coasting.momentum),
                turning,
            );
            coasting.impulse = Wrench {
                torque: frame.rotation * (round * momentum),
                force: link.mass * straight * is,
            };
            mean += coasting.impulse.force * shared;
        }
        for (link, coasting) in self.links.iter().zip(&mut scratch.coasting) {
            coasting.impulse.force -= link.mass * mean;
            coasting.impulse.torque += coasting.com.cross(&coasting.impulse.force);
        }
        self.solve(root.as_ref(), scratch);
        // A share s of the second solution gives back along·s + square·s².
        let (mut along, mut square) = (0.0, 0.0);
        for ((link, frame), coasting) in self.links.iter().zip(&scratch.frames).zip(&scratch.coasting) {
            let (velocity, spin) = coasting.parts(&coasting.first.0, &frame.rotation);
            let (change, turn) = coasting.parts(&coasting.motion, &frame.rotation);
            let momentum = link.inertia * turn;
            along += link.mass * velocity.dot(&change) + spin.dot(&momentum);
            square += 0.5 * (link.mass * change.norm_squared() + turn.dot(&momentum));
        }
        let spare = (lost - given.max(0.0)).max(0.0);
        let share = if along + square <= spare {
            1.0
        } else if spare == 0.0 {
            0.0
        } else {
            2.0 * spare / (along + (along * along + 4.0 * square * spare).sqrt())
        };
        lost -= share * (along + share * square);
        // What is still missing comes from all motion against the common centre of mass.
        let left = kinetic - lost - 0.5 * mass * common.norm_squared();
        let mut scale = 1.0;
        if lost < given && left > 0.0 {
            let taken = (given - lost).min(left);
            scale = (1.0 - taken / left).sqrt();
            lost += taken;
        }
        for i in 0..self.links.len() {
            let Coasting {
                motion, rate, first, ..
            } = &scratch.coasting[i];
            match self.joint_velocity_index(i) {
                // A joint at rest is at 0, not at −0.
                Some(vi) => v[vi] = scale * (first.1 + share * rate) + 0.0,
                None => {
                    for k in 0..3 {
                        let linear = first.0.linear[k] + share * motion.linear[k];
                        v[k] = scale * linear + (1.0 - scale) * common[k];
                        v[3 + k] = scale * (first.0.angular[k] + share * motion.angular[k]);
                    }
                }
            }
        }
        lost - given + weight
    }

    /// Inertias and impulses of the links alone, then the inertias that the joints feel, from the tips inwards. Returns the factors of a free base.
    fn take_apart(&self, step: f64, (start, v): (&[f64], &[f64]), scratch: &mut LinkageScratch) -> Option<Factors> {
        for ((link, frame), coasting) in self.links.iter().zip(&scratch.frames).zip(&mut scratch.coasting) {
            let inertia = frame.rotation * link.inertia * frame.rotation.transpose();
            let momentum = frame.rotation * coasting.momentum;
            let rigid = Articulated::rigid(link.mass, &coasting.com, &inertia);
            coasting.inertia = Tilted {
                // T·ω × ℓ = −T·ℓ × ω
                turn: rigid.turn - step * momentum.cross_matrix(),
                lever: rigid.mixed,
                lag: -rigid.mixed,
                push: rigid.push,
            };
            let force = link.mass * coasting.velocity;
            coasting.impulse = Wrench {
                torque: coasting.com.cross(&force) + momentum,
                force,
            };
        }
        for i in (0..self.links.len()).rev() {
            let (state, coasting) = (&scratch.states[i], &mut scratch.coasting[i]);
            let Some(vi) = self.joint_velocity_index(i) else {
                return Some(coasting.inertia.matrix().lu());
            };
            let unit = self.unit(i, &state.axis);
            coasting.column = coasting.inertia.times(&unit);
            coasting.row = coasting.inertia.transposed_times(&unit);
            // A joint that rested through the step is kept so.
            coasting.inverse = if start[vi] == 0.0 && v[vi] == 0.0 {
                0.0
            } else {
                1.0 / self.along(i, &state.axis, &coasting.column)
            };
            if let Some(p) = self.links[i].parent {
                let rest = coasting
                    .inertia
                    .yielding(&coasting.column, &coasting.row, coasting.inverse);
                let rest = rest.shifted(&state.offset);
                scratch.coasting[p].inertia.add(&rest);
            }
        }
        None
    }

    /// The motion that the impulses bring about: from the tips inwards what is left to each joint, then outwards. Impulses are used up.
    fn solve(&self, root: Option<&Factors>, scratch: &mut LinkageScratch) {
        for i in (0..self.links.len()).rev() {
            let (state, coasting) = (&scratch.states[i], &mut scratch.coasting[i]);
            if self.joint_velocity_index(i).is_none() {
                break;
            }
            coasting.drive = self.along(i, &state.axis, &coasting.impulse);
            if let Some(p) = self.links[i].parent {
                let share = coasting.drive * coasting.inverse;
                let mut rest = coasting.impulse;
                rest.torque -= coasting.column.torque * share;
                rest.force -= coasting.column.force * share;
                let rest = rest.shifted(&state.offset);
                scratch.coasting[p].impulse.add(&rest);
            }
        }
        for i in 0..self.links.len() {
            if let (None, Some(factors)) = (self.joint_velocity_index(i), root) {
                let Wrench { torque, force } = scratch.coasting[i].impulse;
                let right = Vector6::from_fn(|k, _| if k < 3 { force[k] } else { torque[k - 3] });
                // Only a state that is not finite has no solution: the inertia is positive definite.
                let solved = factors.solve(&right).unwrap_or_else(|| Vector6::repeat(f64::NAN));
                scratch.coasting[i].motion = Motion {
                    linear: solved.fixed_rows::<3>(0).into(),
                    angular: solved.fixed_rows::<3>(3).into(),
                };
                continue;
            }
            let state = &scratch.states[i];
            let mut motion = match self.links[i].parent {
                Some(p) => {
                    let parent = scratch.coasting[p].motion;
                    Motion {
                        angular: parent.angular,
                        linear: parent.linear + parent.angular.cross(&state.offset),
                    }
                }
                None => Motion::default(),
            };
            let coasting = &mut scratch.coasting[i];
            let row = &coasting.row;
            let resisted = row.torque.dot(&motion.angular) + row.force.dot(&motion.linear);
            coasting.rate = (coasting.drive - resisted) * coasting.inverse;
            motion.add(&self.unit(i, &state.axis), coasting.rate);
            coasting.motion = motion;
        }
    }
}

impl Coasting {
    /// Velocity of the centre of mass, and angular velocity in link axes.
    #[inline]
    fn parts(&self, motion: &Motion, rotation: &Matrix3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let velocity = motion.linear + motion.angular.cross(&self.com);
        (velocity, rotation.tr_mul(&motion.angular))
    }
}

/// κ by the squares of u and u⁺ and their product.
#[inline]
fn bend(was: f64, product: f64, is: f64) -> f64 {
    let both = (was * is).sqrt();
    // What came nearly to rest or turned back was on no circle.
    if 4.0 * is > was && 2.0 * product > both {
        (both - product) / is
    } else {
        0.0
    }
}
