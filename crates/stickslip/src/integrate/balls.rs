//! The implicit step of balls, each alone on a fixed rigid plane, with or without friction.
//!
//! Nothing joins one ball to another, so each does all its steps in a row and stays in registers. The arithmetic is that of
//! the general step (`crate::network::ball`), in the same order, and gives the same bytes (tested). What the general step
//! computes and does not need here is left out: how far a ball in touch could reach, the size of positions where the gap is
//! exactly zero.

use crate::body::Frame;
use crate::body::rigid_body::advance_rotation;
use crate::element::contact::Surface;
use crate::network::ball::RoundContact;
use crate::network::port::Attachment;
use crate::network::rigid::{Rigid, RigidKind, tangents};
use crate::network::{Network, NetworkState, PlacedBody, Scratch};
use nalgebra::Vector3;

/// A ball, its plane, and what does not change from step to step.
struct Ball<'a> {
    placed: &'a PlacedBody,
    rigid: &'a Rigid,
    step: f64,
    /// Gravity in the world.
    gravity: Vector3<f64>,
    /// Acceleration of the free ball.
    acceleration: Vector3<f64>,
    normal: Vector3<f64>,
    contact: RoundContact,
    offset: f64,
    radius: f64,
    friction: [f64; 2],
}

/// The motion of a ball and whether it sticks.
#[derive(Clone, Copy)]
struct Motion {
    position: Vector3<f64>,
    rotation: [f64; 4],
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    stuck: bool,
    /// Normal force of the last step.
    normal: f64,
}

/// Whether a network is nothing but balls, each on a fixed plane.
pub(crate) fn are_all(network: &Network) -> bool {
    let bodies = network.bodies.len();
    let nothing_else = network.layout.scalars() == 0
        && network.linkages.is_empty()
        && network.own_bodies.is_empty()
        && network.forces.is_empty()
        && network.elements.is_empty()
        && network.frictions.is_empty()
        && network.stiff_springs.is_empty();
    bodies > 0
        && nothing_else
        && network.islands.len() == bodies
        && network.rigid.len() == bodies
        && network.rigid.iter().all(|rigid| Ball::of(network, rigid).is_some())
        && network
            .islands
            .iter()
            .all(|island| network.lone_contact(island).is_some())
}

/// Does many steps of a network of which [`are_all`] holds. The state is left as it was, and false returned, if a number does
/// not stay finite: the general step says which.
pub(crate) fn advance(network: &Network, state: &mut NetworkState, scratch: &mut Scratch, steps: u64) -> bool {
    let after = &mut scratch.sum;
    after.copy_from_slice(&state.values);
    for rigid in &network.rigid {
        let Some(ball) = Ball::of(network, rigid) else {
            return false;
        };
        let (q, v) = (ball.placed.q, ball.placed.v);
        let triple = |at: usize| Vector3::new(after[at], after[at + 1], after[at + 2]);
        let mut motion = Motion {
            position: triple(q),
            rotation: [3, 4, 5, 6].map(|i| after[q + i]),
            velocity: triple(v),
            spin: triple(v + 3),
            stuck: after[rigid.state] != 0.0,
            normal: 0.0,
        };
        for _ in 0..steps {
            motion = ball.step(motion);
        }
        after[q..q + 3].copy_from_slice(motion.position.as_slice());
        after[q + 3..q + 7].copy_from_slice(&motion.rotation);
        after[v..v + 3].copy_from_slice(motion.velocity.as_slice());
        after[v + 3..v + 6].copy_from_slice(motion.spin.as_slice());
        after[rigid.state] = f64::from(u8::from(motion.stuck));
        scratch.compression[rigid.element] = motion.normal;
    }
    // What has become infinite or undefined never becomes finite again: one look at the end is enough.
    if !after.iter().all(|value| value.is_finite()) {
        return false;
    }
    std::mem::swap(&mut state.values, after);
    state.step += steps;
    true
}

impl<'a> Ball<'a> {
    /// The ball of a contact, if that is one, on a plane of the ground.
    fn of(network: &'a Network, rigid: &'a Rigid) -> Option<Self> {
        let RigidKind::Contact {
            geometry,
            friction,
            planar: false,
        } = &rigid.kind
        else {
            return None;
        };
        let (Attachment::Rigid(body), Attachment::Ground, Surface::Plane { normal, offset }) =
            (geometry.first, geometry.second, geometry.surface)
        else {
            return None;
        };
        let placed = &network.bodies[body];
        let inertia = placed.body.inertia()[(0, 0)];
        if !placed.body.is_isotropic() || inertia <= 0.0 {
            return None;
        }
        let force = Vector3::zeros() + placed.body.mass() * network.world_gravity;
        let inverse_mass = placed.body.inverse_mass();
        let normal = Frame::ground().rotation * normal;
        let (first, second) = tangents(&normal, false);
        Some(Ball {
            placed,
            rigid,
            step: network.step,
            gravity: network.world_gravity,
            acceleration: force * inverse_mass,
            normal,
            contact: RoundContact::new(
                [normal, first, second],
                geometry.radius,
                network.step,
                inverse_mass,
                1.0 / inertia,
            ),
            offset,
            radius: geometry.radius,
            friction: friction.unwrap_or([0.0; 2]),
        })
    }

    /// One step.
    #[inline(always)]
    fn step(&self, before: Motion) -> Motion {
        let step = self.step;
        let mut after = before;
        after.velocity += step * self.acceleration;
        // No torque; the sum turns −0 into 0 as the general one does.
        after.spin += Vector3::zeros();
        (after.stuck, after.normal) = (false, 0.0);

        let gap = self.normal.dot(&before.position) - self.offset - self.radius;
        if gap <= 1e-9 || self.reaches(before, after, gap) {
            let target = if gap == 0.0 && self.rigid.restitution == 0.0 {
                0.0
            } else {
                self.target(before, gap)
            };
            let (free, touch) = self.contact.touch(
                &after.velocity,
                &after.spin,
                [0.0; 3],
                target,
                self.friction,
                before.stuck,
            );
            let (change, turn) = self.contact.changes(&free, &touch);
            after.velocity += change;
            after.spin += turn;
            (after.stuck, after.normal) = (touch.stuck, touch.normal);
        }
        after.position += step * after.velocity;
        after.rotation = advance_rotation(before.rotation, &after.spin, step);
        after
    }

    /// The touching point, and how fast it comes nearer.
    fn approach(&self, before: Motion) -> (Vector3<f64>, f64) {
        let point = before.position - self.radius * self.normal;
        let velocity = before.velocity + before.spin.cross(&(point - before.position));
        (point, self.normal.dot(&velocity))
    }

    /// Smallest admissible normal velocity. By value, as below: a motion whose address is taken does not stay in registers.
    #[cold]
    #[inline(never)]
    fn target(&self, before: Motion, gap: f64) -> f64 {
        let (point, approach) = self.approach(before);
        let size = point.norm() + before.position.norm();
        self.rigid.target(gap, size, approach, self.step)
    }

    /// Whether a ball off the plane may touch it within the step (as `Rigid::candidates` decides).
    #[cold]
    #[inline(never)]
    fn reaches(&self, before: Motion, after: Motion, gap: f64) -> bool {
        let (point, approach) = self.approach(before);
        let turn = (point - before.position).cross(&self.normal);
        let free: f64 = (0..3)
            .map(|i| self.normal[i] * after.velocity[i] + turn[i] * after.spin[i])
            .sum();
        let speed = before.velocity.norm() + self.gravity.norm() * self.step;
        let reach = (before.position - point).norm() * before.spin.norm();
        gap <= 4.0 * self.step * (speed + reach + approach.abs() + free.abs()) + 1e-9
    }
}
