//! A ball or a point alone on a rigid surface: normal and tangential motion do not influence each other there, so the
//! implicit step has a closed form.

use super::implicit::{ImplicitStage, Island, IslandBody};
use super::port::Attachment;
use super::rigid::RigidKind;
use super::{Network, Scratch};
use nalgebra::Vector3;
use stickslip_core::contact::rigid::resolve;

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
    let along = |direction: &Vector3<f64>, after: &[f64]| {
        let of = |body: Attachment| body.speed(network, after, frames, linkages, &point, direction, &mut []);
        of(geometry.first) - of(geometry.second)
    };
    let free = directions.map(|direction| along(&direction, after));
    let arm = match geometry.first {
        Attachment::Rigid(body) => point - frames[body].position,
        _ => Vector3::zeros(),
    };
    let compliance = [
        step * inverse_mass,
        step * (inverse_mass + inverse_inertia * arm.norm_squared()),
    ];
    let (target, [mu_static, mu_kinetic], was_stuck) = candidate.law();
    let solve = |mu: f64| resolve(free[0], [free[1], free[2]], target, compliance[0], compliance[1], mu);
    // A contact that stuck has its static coefficient until it breaks away.
    let mut touch = solve(if was_stuck { mu_static } else { mu_kinetic });
    if was_stuck && !touch.stuck {
        touch = solve(mu_kinetic);
    }
    let rubbing = directions[1] * touch.friction[0] + directions[2] * touch.friction[1];
    // The normal velocity is assigned, not computed; so is the tangential one of a point.
    let mut change = (touch.normal_velocity - free[0]) * directions[0];
    if inverse_inertia > 0.0 {
        change += step * inverse_mass * rubbing;
        let turn = step * inverse_inertia * arm.cross(&rubbing);
        for i in 0..3 {
            after[v + 3 + i] += turn[i];
        }
    } else {
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
