//! A ball or a point alone on a rigid surface: normal and tangential motion do not influence each other there, so the
//! implicit step has a closed form.

use super::implicit::{ImplicitStage, Island, IslandBody};
use super::port::Attachment;
use super::rigid::RigidKind;
use super::{Network, Scratch};
use nalgebra::Vector3;
use stickslip_core::contact::rigid::{Touch, resolve};
use stickslip_core::scalar::vector::{add, cross, dot, scale, vector};
use stickslip_core::scalar::{Mask, Real};

impl Network {
    /// The rigid contact of an island that is nothing but a ball, or a point, on the ground or on a driven surface.
    pub(crate) fn lone_contact(&self, island: &Island) -> Option<usize> {
        let ([body], [rigid]) = (&island.bodies[..], &island.rigid[..]) else {
            return None;
        };
        if island.holds.len() > 1 {
            return None;
        }
        let RigidKind::Contact {
            geometry,
            grain: None,
            arms,
            ..
        } = &self.rigid[*rigid].kind
        else {
            return None;
        };
        // What resists rolling is solved with the others.
        if *arms != [0.0; 2] {
            return None;
        }
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
#[derive(Clone, Copy)]
pub(crate) struct RoundContact<R = f64> {
    /// Normal of the surface and two tangents.
    pub(crate) directions: [[R; 3]; 3],
    /// From the centre to the touching point.
    pub(super) arm: [R; 3],
    /// arm × direction: what the spin adds to the velocity along each direction.
    pub(super) turns: [[R; 3]; 3],
    /// Change of velocity and of spin by a unit of force and of torque.
    pub(super) mobility: [R; 2],
    /// Change of the normal and of the tangential velocity by a unit of force.
    pub(super) compliance: [R; 2],
}

impl<R: Real> RoundContact<R> {
    #[inline(always)]
    pub(crate) fn new(directions: [[R; 3]; 3], radius: R, step: R, inverse_mass: R, inverse_inertia: R) -> Self {
        let arm = scale(directions[0], -radius);
        let [normal, first, second] = directions;
        RoundContact {
            arm,
            turns: [cross(arm, normal), cross(arm, first), cross(arm, second)],
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
        velocity: [R; 3],
        spin: [R; 3],
        surface: [R; 3],
        target: R,
        [mu_static, mu_kinetic]: [R; 2],
        was_stuck: R::Mask,
    ) -> ([R; 3], Touch<R>) {
        let free = vector(|k| dot(self.directions[k], velocity) + dot(self.turns[k], spin) - surface[k]);
        let [normal, tangential] = self.compliance;
        let slip = [free[1], free[2]];
        // A contact that stuck has its static coefficient until it breaks away.
        let mu = R::select(was_stuck, mu_static, mu_kinetic);
        let mut touch = resolve(free[0], slip, target, normal, tangential, mu);
        let breaks = was_stuck & !touch.stuck & !mu_static.same(mu_kinetic);
        if breaks.any() {
            let sliding = resolve(free[0], slip, target, normal, tangential, mu_kinetic);
            touch = Touch::select(breaks, &sliding, &touch);
        }
        (free, touch)
    }

    /// What the contact changes of velocity and spin. The normal velocity is assigned, not computed.
    #[inline(always)]
    pub(crate) fn changes(&self, free: &[R; 3], touch: &Touch<R>) -> ([R; 3], [R; 3]) {
        let [normal, first, second] = self.directions;
        let rubbing = add(scale(first, touch.friction[0]), scale(second, touch.friction[1]));
        (
            add(
                scale(normal, touch.normal_velocity - free[0]),
                scale(rubbing, self.mobility[0]),
            ),
            scale(cross(self.arm, rubbing), self.mobility[1]),
        )
    }
}

/// The step of a ball or point on a rigid surface; `scratch.sum` holds v̄ and receives the velocities at the end. False, with nothing done, for an impact: that
/// is solved as all others are.
pub(crate) fn solve_ball<const OBSERVE: bool>(
    network: &Network,
    rigid: usize,
    scratch: &mut Scratch,
    step: f64,
) -> bool {
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
    let Some(candidate) = room.touching.first().copied() else {
        return true;
    };
    let RigidKind::Contact { geometry, .. } = &rigid.kind else {
        return true;
    };
    if candidate.impact {
        return false;
    }
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
        _ => return true,
    };
    let (point, directions) = candidate.place();
    let ball = RoundContact::new(
        directions.map(Into::into),
        geometry.radius,
        step,
        inverse_mass,
        inverse_inertia,
    );
    let mut motion = [[0.0; 3]; 2];
    motion[0][..axes].copy_from_slice(&after[v..v + axes]);
    if inverse_inertia > 0.0 {
        motion[1].copy_from_slice(&after[v + 3..v + 6]);
    }
    let surface = directions.map(|direction| {
        geometry
            .second
            .speed(network, after, frames, linkages, &point, &direction, &mut [])
    });
    let (target, mu, was_stuck) = candidate.law();
    let (free, touch) = ball.touch(motion[0], motion[1], surface, target, mu, was_stuck);
    let (mut change, turn) = ball.changes(&free, &touch);
    if inverse_inertia > 0.0 {
        for i in 0..3 {
            after[v + 3 + i] += turn[i];
        }
    } else {
        // The tangential velocity of a point is assigned, not computed.
        let along = (touch.slip[0] - free[1]) * directions[1] + (touch.slip[1] - free[2]) * directions[2];
        change = ((touch.normal_velocity - free[0]) * directions[0] + along).into();
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
    if candidate.gap < 0.0 {
        // Out of the surface by a displacement, not by a velocity.
        let parting = (-candidate.gap / step).min(super::rigid::RECOVERY);
        for i in 0..axes {
            let weight = match geometry.first {
                Attachment::Rigid(_) => network.world_gravity[i] / inverse_mass,
                _ => network.gravity[v - network.layout.positions + i] / inverse_mass,
            };
            room.shift[v + i] = parting * directions[0][i];
            room.lifted += (load[v + i] + weight) * room.shift[v + i];
        }
        room.shifted = true;
    }
    compression[rigid.element] = touch.normal;
    let seen = if OBSERVE { Some(&mut seen[..]) } else { None };
    let mut stage = ImplicitStage {
        network,
        step,
        share: step / network.step,
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
    candidate.settle(&mut stage, &force[..rows], &velocity[..rows], (touch.stuck, false));
    true
}
