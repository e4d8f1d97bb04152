//! Joints as stiff springs and dampers between two bodies (the paper on modular simulation, eq 29): forces that penalise separation of the
//! joint points and bending of the joint axes, friction and a motor about (or along) the free axis.
//!
//! Everything acts on the first body, the reaction on the second. The motor torque belongs here (the printed algorithm
//! computes it and never uses it).

use super::{Elements, Mode, Observation};
use crate::body::Frame;
use crate::element::curve::{SteadyCurve, with_curve};
use crate::element::laws::{Tangential, with_law, with_law_of};
use crate::network::lock::JointType;
use crate::network::lock::bending;
use crate::network::port::Attachment;
use crate::network::stage::{LoadSource, Stage};
use nalgebra::{Matrix3, Vector3};
use stickslip_core::friction::{Bristle, MOST_NUMBERS, Slip};

/// A penalty joint.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Number of the element in the network.
    pub element: usize,
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
    /// Translational stiffness and damping.
    pub translation: [f64; 2],
    /// Rotational stiffness and damping.
    pub rotation: [f64; 2],
    /// Friction of the free motion of a revolute or prismatic joint.
    pub friction: Tangential,
    /// Its curve.
    pub curve: SteadyCurve,
    /// What the curve is multiplied with.
    pub load: LoadSource,
    /// The signal that says how fast that changes, where it is known and the law asks for it.
    pub load_rate: Option<usize>,
    /// Where the friction's states begin.
    pub state: usize,
    /// Signal of the motor.
    pub motor: Option<usize>,
    /// Natural distance of the joint points: 0 except for springs.
    pub length: f64,
    /// A spring between points: its force column is the whole force.
    pub spring: bool,
}

/// Penalty joints.
#[derive(Clone, Debug, Default)]
pub struct Joints(pub Vec<Joint>);

impl Joint {
    fn bending(&self, first: &Frame, second: &Frame) -> Vector3<f64> {
        bending(self.kind, &self.axis, &self.rest, first, second)
    }

    /// How many states friction keeps; one even if it needs none.
    pub(crate) fn states(&self) -> usize {
        self.friction.kept(1)
    }

    /// 1 − cos of the angle of bending: a torque K·sin stores K times this.
    fn bent(&self, first: &Frame, second: &Frame) -> f64 {
        match self.kind {
            JointType::Spherical => 0.0,
            JointType::Revolute => {
                let apart = second.rotation * self.axis[1] - first.rotation * self.axis[0];
                0.5 * apart.norm_squared()
            }
            JointType::Prismatic | JointType::Fixed => {
                0.25 * (second.rotation * self.rest.transpose() - first.rotation).norm_squared()
            }
        }
    }
}

impl Joints {
    #[inline(always)]
    fn run<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for joint in &self.0 {
            let [first, second] = joint
                .bodies
                .map(|body| body.frame(stage.network, stage.state, stage.frames, stage.linkages));
            let points = [first.point_position(&joint.at[0]), second.point_position(&joint.at[1])];
            // Force and reaction act at one point, so that neither makes a torque of its own; the velocity is taken there too,
            // so that the power is exactly F·v + τ·spin.
            let velocity = first.point_velocity(&points[0]) - second.point_velocity(&points[0]);
            let spin = first.angular_velocity - second.angular_velocity;
            let axis = second.rotation * joint.axis[1];
            let mut apart = points[0] - points[1];
            let mut parting = velocity;
            let mut twist = spin;
            let along = |vector: Vector3<f64>| axis.dot(&vector) * axis;
            match joint.kind {
                JointType::Revolute => twist -= along(spin),
                JointType::Prismatic => {
                    apart -= along(apart);
                    parting -= along(velocity);
                }
                JointType::Spherical => twist = Vector3::zeros(),
                JointType::Fixed => (),
            }
            if joint.length > 0.0 {
                // Along the line between the points.
                let distance = apart.norm();
                let line = if distance > 0.0 {
                    apart / distance
                } else {
                    Vector3::zeros()
                };
                apart = (distance - joint.length) * line;
                parting = line.dot(&velocity) * line;
            }
            let bend = joint.bending(&first, &second);
            let mut force = -joint.translation[0] * apart - joint.translation[1] * parting;
            let mut torque = -joint.rotation[0] * bend - joint.rotation[1] * twist;

            // Friction and motor about the free axis, or along it.
            let free = match joint.kind {
                JointType::Revolute => axis.dot(&spin),
                JointType::Prismatic => axis.dot(&velocity),
                _ => 0.0,
            };
            let slip = Slip {
                velocity: [free],
                load: joint.load.value(stage.signals, stage.compression),
            };
            let load_rate = joint.load_rate.map_or(0.0, |signal| stage.signals[signal]);
            let states = joint.state..joint.state + joint.states();
            let (mut numbers, mut rates) = ([0.0; MOST_NUMBERS], [0.0; MOST_NUMBERS]);
            numbers[..states.len()].copy_from_slice(&stage.state[states.clone()]);
            let state = &numbers;
            let [mut drive] = with_law!(
                &joint.friction,
                |law| with_curve!(&joint.curve, |c| law
                    .respond_in_contact(c, &slip, load_rate, state, stage.tau, &mut rates)),
                [0.0]
            );
            let count = states.len();
            stage.rate[states].copy_from_slice(&rates[..count]);
            if OBSERVE {
                let sticks = with_law!(
                    &joint.friction,
                    |law| with_curve!(&joint.curve, |c| law.sticks(c, &slip, state)),
                    true
                );
                let bristle = with_law!(&joint.friction, |law| law.stored::<1>(state), 0.0);
                let carried = with_law!(&joint.friction, |law| law.carried::<1>(state, slip.load), 0.0);
                let separation = 0.5 * joint.translation[0] * apart.norm_squared();
                seen[joint.element] = Observation {
                    // The force column shows the friction; power is that of the whole joint less its motor.
                    mode: Mode::stuck(sticks),
                    stored: separation + joint.rotation[0] * joint.bent(&first, &second) + bristle,
                    normal: force.norm(),
                    gap: apart.norm(),
                    carried,
                    ..Observation::of(&[drive], &[free])
                };
                if joint.spring {
                    seen[joint.element].force = force.into();
                    seen[joint.element].velocity = velocity.into();
                }
            }
            let motor = joint.motor.map_or(0.0, |signal| stage.signals[signal]);
            drive += motor;
            match joint.kind {
                JointType::Revolute => torque += drive * axis,
                JointType::Prismatic => force += drive * axis,
                _ => (),
            }
            if OBSERVE {
                seen[joint.element].power = force.dot(&velocity) + torque.dot(&spin) - motor * free;
                stage.motor_power += motor * free;
            }
            let [a, b] = joint.bodies;
            a.apply(stage, &force, &torque, &points[0]);
            b.apply(stage, &(-force), &(-torque), &points[0]);
            stage.compression[joint.element] = force.norm();
        }
    }
}

impl Elements for Joints {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run::<false>(stage, &mut []);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run::<true>(stage, seen);
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        // Of all that is here only springs run with steps that regather.
        for joint in self.0.iter().filter(|joint| joint.spring) {
            let [first, second] = joint
                .bodies
                .map(|body| body.frame(stage.network, stage.state, stage.frames, stage.linkages));
            let point = first.point_position(&joint.at[0]);
            let velocity = first.point_velocity(&point) - second.point_velocity(&point);
            let seen = &mut seen[joint.element];
            seen.power = Vector3::from(seen.force).dot(&velocity);
            seen.velocity = velocity.into();
        }
    }
}
