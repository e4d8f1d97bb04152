//! A ball or a point alone on a rigid surface: normal and tangential motion do not influence each other there, so the
//! implicit step has a closed form.

use super::implicit::{ImplicitStage, Island, IslandBody};
use super::port::Attachment;
use super::rigid::RigidKind;
use super::{Network, Scratch};
use nalgebra::Vector3;
use stickslip_core::contact::rigid::{Touch, resolve};

impl Network {
    /// The rigid contact of an island that is nothing but a ball, or a point, on the ground or on a driven surface.
    pub(crate) fn lone_contact(&self, island: &Island) -> Option<usize> {
        let ([body], [], [], [rigid]) = (
            &island.bodies[..],
            &island.frictions[..],
            &island.springs[..],
            &island.rigid[..],
        ) else {
            return None;
        };
        let RigidKind::Contact { geometry, .. } = &self.rigid[*rigid].kind else {
            return None;
        };
        let round = match *body {
            IslandBody::Rigid { body, .. } => {
                geometry.first == Attachment::Rigid(body) && self.bodies[body].body.is_isotropic()
            }
            IslandBody::Masses { .. } => matches!(geometry.first, Attachment::Point { .. }),
            IslandBody::Linkage { .. } | IslandBody::Own { .. } => false,
        };
        (round && geometry.points.len() == 1 && geometry.points[0] == Vector3::zeros()).then_some(*rigid)
    }
}

/// A ball (or a point, whose radius and inverse inertia are 0) that touches a surface.
pub(crate) struct RoundContact {
    /// Normal of the surface and two tangents.
    directions: [Vector3<f64>; 3],
    /// From the centre to the touching point.
    arm: Vector3<f64>,
    /// arm × direction: what the spin adds to the velocity along each direction.
    turns: [Vector3<f64>; 3],
    /// Change of velocity and of spin by a unit of force and of torque.
    mobility: [f64; 2],
    /// Change of the normal and of the tangential velocity by a unit of force.
    compliance: [f64; 2],
}

impl RoundContact {
    #[inline]
    pub(crate) fn new(
        directions: [Vector3<f64>; 3],
        radius: f64,
        step: f64,
        inverse_mass: f64,
        inverse_inertia: f64,
    ) -> Self {
        let arm = -radius * directions[0];
        RoundContact {
            arm,
            turns: directions.map(|direction| arm.cross(&direction)),
            directions,
            mobility: [step * inverse_mass, step * inverse_inertia],
            compliance: [
                step * inverse_mass,
                step * (inverse_mass + inverse_inertia * radius * radius),
            ],
        }
    }

    /// The relative velocity without contact, and the contact, on a surface that moves with the given velocities along the
    /// directions.
    #[inline(always)]
    pub(crate) fn touch(
        &self,
        velocity: &Vector3<f64>,
        spin: &Vector3<f64>,
        surface: [f64; 3],
        target: f64,
        [mu_static, mu_kinetic]: [f64; 2],
        was_stuck: bool,
    ) -> ([f64; 3], Touch<f64>) {
        let along = |k: usize| self.directions[k].dot(velocity) + self.turns[k].dot(spin) - surface[k];
        let free = [along(0), along(1), along(2)];
        let [normal, tangential] = self.compliance;
        let solve = |mu: f64| resolve(free[0], [free[1], free[2]], target, normal, tangential, mu);
        // A contact that stuck has its static coefficient until it breaks away.
        let mut touch = solve(if was_stuck { mu_static } else { mu_kinetic });
        if was_stuck && !touch.stuck && mu_static != mu_kinetic {
            touch = solve(mu_kinetic);
        }
        (free, touch)
    }

    /// What the contact changes of velocity and spin. The normal velocity is assigned, not computed.
    #[inline(always)]
    pub(crate) fn changes(&self, free: &[f64; 3], touch: &Touch<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let rubbing = self.directions[1] * touch.friction[0] + self.directions[2] * touch.friction[1];
        (
            (touch.normal_velocity - free[0]) * self.directions[0] + self.mobility[0] * rubbing,
            self.mobility[1] * self.arm.cross(&rubbing),
        )
    }
}

/// The step of a ball or point on a rigid surface; `scratch.sum` holds v̄ and receives the velocities at the end.
pub(crate) fn solve_ball<const OBSERVE: bool>(network: &Network, rigid: usize, scratch: &mut Scratch) {
    let rigid = &network.rigid[rigid];
    let Scratch {
        trial,
        sum,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        implicit: room,
        ..
    } = scratch;
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    let step = network.step;
    compression[rigid.element] = 0.0;
    after[rigid.state] = 0.0;
    room.touching.clear();
    rigid.candidates(
        network,
        before,
        after,
        frames,
        linkages,
        step,
        &mut room.inertia,
        &mut room.touching,
    );
    let Some(candidate) = room.touching.first() else { return };
    let RigidKind::Contact { geometry, .. } = &rigid.kind else {
        return;
    };
    let (v, inverse_mass, inverse_inertia, axes) = match geometry.first {
        Attachment::Rigid(body) => {
            let placed = &network.bodies[body];
            let inertia = placed.body.inertia()[(0, 0)];
            (
                placed.v,
                placed.body.inverse_mass(),
                if inertia > 0.0 { 1.0 / inertia } else { 0.0 },
                3,
            )
        }
        Attachment::Point { coordinate, axes } => (
            coordinate.v,
            network.inverse_mass[coordinate.v - network.layout.positions],
            0.0,
            axes,
        ),
        _ => return,
    };
    let (point, directions) = candidate.place();
    let ball = RoundContact::new(directions, geometry.radius, step, inverse_mass, inverse_inertia);
    let mut motion = [Vector3::zeros(); 2];
    for i in 0..axes {
        motion[0][i] = after[v + i];
    }
    if inverse_inertia > 0.0 {
        motion[1] = Vector3::new(after[v + 3], after[v + 4], after[v + 5]);
    }
    let surface = directions.map(|direction| {
        geometry
            .second
            .speed(network, after, frames, linkages, &point, &direction, &mut [])
    });
    let (target, mu, was_stuck) = candidate.law();
    let (free, touch) = ball.touch(&motion[0], &motion[1], surface, target, mu, was_stuck);
    let (mut change, turn) = ball.changes(&free, &touch);
    if inverse_inertia > 0.0 {
        for i in 0..3 {
            after[v + 3 + i] += turn[i];
        }
    } else {
        // The tangential velocity of a point is assigned, not computed.
        change = (touch.normal_velocity - free[0]) * directions[0];
        change += (touch.slip[0] - free[1]) * directions[1] + (touch.slip[1] - free[2]) * directions[2];
    }
    if inverse_inertia == 0.0 && touch.stuck && target == 0.0 {
        // A point that sticks moves with the surface, exactly.
        let carried = geometry.second.velocity(after);
        after[v..v + axes].copy_from_slice(&carried[..axes]);
    } else {
        for i in 0..axes {
            after[v + i] += change[i];
        }
    }
    compression[rigid.element] = touch.normal;
    let seen = if OBSERVE { Some(&mut seen[..]) } else { None };
    let mut stage = ImplicitStage {
        network,
        step,
        before,
        after,
        load,
        signals: signals.get(),
        compression,
        seen,
    };
    let force = [touch.normal, touch.friction[0], touch.friction[1]];
    let velocity = [touch.normal_velocity, touch.slip[0], touch.slip[1]];
    let rows = candidate.axes;
    candidate.settle(&mut stage, &force[..rows], &velocity[..rows], touch.stuck);
}
