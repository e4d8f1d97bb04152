//! The implicit step of balls, each alone on a fixed rigid plane, with or without friction.
//!
//! Nothing joins one ball to another, so each does all its steps in a row and stays in registers. The arithmetic is that of
//! the general step (`crate::network::ball`), in the same order, and gives the same bytes (tested). What the general step
//! computes and does not need here is left out: how far a ball in touch could reach, the size of positions where the gap is
//! exactly zero. It is written once, for one run or for several side by side (lanes).

use super::Work;
use super::lanes::Lane;
use crate::body::Frame;
use crate::body::rigid_body::{advance_rotation, small_turn};
use crate::element::Mode;
use crate::element::contact::Surface;
use crate::network::abreast::{WIDTH, Wide, common, side};
use crate::network::ball::RoundContact;
use crate::network::port::Attachment;
use crate::network::rigid::{Rigid, RigidKind, is_impact, tangents};
use crate::network::{Network, NetworkState, Scratch};
use crate::tally::Tallies;
use multiversion::multiversion;
use nalgebra::Vector3;
use stickslip_core::scalar::vector::{add, dot, scale, vector};
use stickslip_core::scalar::{LaneMask, Lanes, Mask, Real};

/// A ball, its plane, and what does not change from step to step.
#[derive(Clone, Copy)]
struct PlaneBall<R = f64> {
    step: f64,
    /// Acceleration of the free ball.
    acceleration: [R; 3],
    contact: RoundContact<R>,
    offset: R,
    radius: R,
    friction: [R; 2],
    restitution: R,
}

/// A ball of a network.
struct PlacedBall<'a> {
    rigid: &'a Rigid,
    /// Where its positions and velocities begin.
    q: usize,
    v: usize,
    ball: PlaneBall,
    /// Size of gravity.
    gravity: f64,
}

/// The motion of a ball and whether it sticks.
#[derive(Clone, Copy)]
struct BallMotion<R: Real> {
    position: [R; 3],
    rotation: [R; 4],
    velocity: [R; 3],
    spin: [R; 3],
    stuck: R::Mask,
    /// Whether there was an impact on the way, which the general step has to solve.
    struck: R::Mask,
    /// Normal force of the last step.
    normal: R,
}

/// What a contact did in a step: force and velocity along the normal and two tangents.
#[derive(Clone, Copy)]
struct ContactForce<R: Real> {
    touching: R::Mask,
    force: [R; 3],
    velocity: [R; 3],
}

/// Functions that are called rarely, not inlined. They take copies of numbers, not references: a motion whose address is taken does not stay
/// in registers.
trait Rare<R: Real> {
    /// Whether balls touch within the step, whether that is an impact, their smallest admissible normal velocity, and the speed at which they leave an
    /// overlap, from position, velocity and spin at its start, velocity and spin at its end without contact, and the gap.
    fn touching(&self, before: [[R; 3]; 3], free: [[R; 3]; 2], gap: R) -> ([R::Mask; 2], [R; 2]);
    /// A rotation after any turn.
    fn turn(&self, motion: ([R; 4], [R; 3]), step: f64) -> [R; 4];
}

impl<R: Real> PlaneBall<R> {
    /// One step.
    #[inline(always)]
    fn step(&self, before: BallMotion<R>, rare: &impl Rare<R>) -> BallMotion<R> {
        self.touching_step(before, rare).0
    }

    /// One step, and what the contact did in it.
    #[inline(always)]
    fn touching_step(&self, before: BallMotion<R>, rare: &impl Rare<R>) -> (BallMotion<R>, ContactForce<R>) {
        let step = R::lit(self.step);
        let mut after = before;
        after.velocity = add(before.velocity, scale(self.acceleration, step));
        // No torque; the sum turns −0 into 0 as the general one does.
        after.spin = add(before.spin, [R::zero(); 3]);
        let gap = dot(self.contact.directions[0], before.position) - self.offset - self.radius;
        // An impact is more than rounding of the positions, which are no smaller than the radius.
        let falls =
            (dot(self.contact.directions[0], before.velocity) * step).lt(R::lit(-8.0 * f64::EPSILON) * self.radius);
        let rests = gap.same(R::zero()) & self.restitution.same(R::zero()) & !falls;
        let none = R::one().lt(R::zero());
        let ([touching, struck], [target, parting]) = if rests.all() {
            ([rests, none], [R::zero(); 2])
        } else {
            let motion = [before.position, before.velocity, before.spin];
            rare.touching(motion, [after.velocity, after.spin], gap)
        };
        after.normal = R::zero();
        after.stuck = touching;
        after.struck = before.struck | struck;
        let mut pressed = ContactForce {
            touching,
            force: [R::zero(); 3],
            velocity: [R::zero(); 3],
        };
        if touching.any() {
            let (velocity, spin) = (after.velocity, after.spin);
            let (free, touch) =
                (self.contact).touch(velocity, spin, [R::zero(); 3], target, self.friction, before.stuck);
            let (change, turn) = self.contact.changes(&free, &touch);
            let put = |was: [R; 3], change: [R; 3]| vector(|i| R::select(touching, was[i] + change[i], was[i]));
            after.velocity = put(velocity, change);
            after.spin = put(spin, turn);
            after.stuck = touching & touch.stuck;
            after.normal = R::select(touching, touch.normal, R::zero());
            pressed.force = [touch.normal, touch.friction[0], touch.friction[1]];
            pressed.velocity = [touch.normal_velocity, touch.slip[0], touch.slip[1]];
        }
        let moving = add(after.velocity, scale(self.contact.directions[0], parting));
        let moving = vector(|i| R::select(parting.same(R::zero()), after.velocity[i], moving[i]));
        after.position = add(before.position, scale(moving, step));
        let (rotation, spin) = (before.rotation, after.spin);
        after.rotation = small_turn(rotation, spin, self.step, || rare.turn((rotation, spin), self.step));
        (after, pressed)
    }
}

impl Rare<f64> for PlacedBall<'_> {
    #[cold]
    #[inline(never)]
    fn touching(&self, before: [[f64; 3]; 3], free: [[f64; 3]; 2], gap: f64) -> ([bool; 2], [f64; 2]) {
        let (step, normal) = (self.ball.step, Vector3::from(self.ball.contact.directions[0]));
        let [position, velocity, spin] = before.map(Vector3::from);
        let point = position - self.ball.radius * normal;
        let approach = normal.dot(&(velocity + spin.cross(&(point - position))));
        // As `Rigid::candidates` decides.
        let reaches = || {
            let turn = (point - position).cross(&normal);
            let free: f64 = (0..3).map(|i| normal[i] * free[0][i] + turn[i] * free[1][i]).sum();
            let speed = velocity.norm() + self.gravity * step;
            let reach = (position - point).norm() * spin.norm();
            gap <= 4.0 * step * (speed + reach + approach.abs() + free.abs()) + 1e-9
        };
        if gap <= 1e-9 || reaches() {
            let size = point.norm() + position.norm();
            let target = self.rigid.target(gap, size, approach, step);
            let struck = is_impact(gap, size, approach, step);
            ([true, struck], [target, self.rigid.parting(gap, size, step)])
        } else {
            ([false; 2], [0.0; 2])
        }
    }

    #[cold]
    #[inline(never)]
    fn turn(&self, (rotation, spin): ([f64; 4], [f64; 3]), step: f64) -> [f64; 4] {
        advance_rotation(rotation, &Vector3::from(spin), step)
    }
}

impl Rare<Wide> for [PlacedBall<'_>; WIDTH] {
    #[inline(never)]
    fn touching(&self, before: [[Wide; 3]; 3], free: [[Wide; 3]; 2], gap: Wide) -> ([LaneMask<WIDTH>; 2], [Wide; 2]) {
        let each: [([bool; 2], [f64; 2]); WIDTH] = std::array::from_fn(|i| {
            let lane = |vector: [Wide; 3]| vector.map(|x| x.0[i]);
            self[i].touching(before.map(lane), free.map(lane), gap.0[i])
        });
        (
            [0, 1].map(|k| LaneMask::new(each.map(|one| one.0[k]))),
            [0, 1].map(|k| Lanes(each.map(|one| one.1[k]))),
        )
    }

    #[inline(never)]
    fn turn(&self, (rotation, spin): ([Wide; 4], [Wide; 3]), step: f64) -> [Wide; 4] {
        let each: [[f64; 4]; WIDTH] =
            std::array::from_fn(|i| self[i].turn((rotation.map(|q| q.0[i]), spin.map(|w| w.0[i])), step));
        std::array::from_fn(|k| Lanes(each.map(|rotation| rotation[k])))
    }
}

impl BallMotion<Wide> {
    /// The motion of one of them.
    fn lane(&self, i: usize) -> BallMotion<f64> {
        BallMotion {
            position: self.position.map(|x| x.0[i]),
            rotation: self.rotation.map(|x| x.0[i]),
            velocity: self.velocity.map(|x| x.0[i]),
            spin: self.spin.map(|x| x.0[i]),
            stuck: self.stuck.lane(i),
            struck: self.struck.lane(i),
            normal: self.normal.0[i],
        }
    }

    /// Motions side by side.
    fn abreast(each: &[BallMotion<f64>; WIDTH]) -> Self {
        let side = |get: &dyn Fn(&BallMotion<f64>) -> f64| Lanes(std::array::from_fn(|i| get(&each[i])));
        BallMotion {
            position: std::array::from_fn(|k| side(&|own| own.position[k])),
            rotation: std::array::from_fn(|k| side(&|own| own.rotation[k])),
            velocity: std::array::from_fn(|k| side(&|own| own.velocity[k])),
            spin: std::array::from_fn(|k| side(&|own| own.spin[k])),
            stuck: LaneMask::new(each.map(|own| own.stuck)),
            struck: LaneMask::new(each.map(|own| own.struck)),
            normal: side(&|own| own.normal),
        }
    }
}

impl PlaneBall<Wide> {
    fn abreast(each: &[&PlaneBall; WIDTH]) -> Self {
        let triple = |get: &dyn Fn(&PlaneBall) -> [f64; 3]| std::array::from_fn(|k| side(each, |own| get(own)[k]));
        PlaneBall {
            step: each[0].step,
            acceleration: triple(&|own| own.acceleration),
            contact: RoundContact::abreast(&each.map(|own| &own.contact)),
            offset: side(each, |own| own.offset),
            radius: side(each, |own| own.radius),
            friction: std::array::from_fn(|k| side(each, |own| own.friction[k])),
            restitution: side(each, |own| own.restitution),
        }
    }
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
        && network.scene.is_none()
        && network.islands.len() == bodies
        && network.rigid.len() == bodies
        && network
            .rigid
            .iter()
            .all(|rigid| PlacedBall::of(network, rigid).is_some())
        && network
            .islands
            .iter()
            .all(|island| network.lone_contact(island).is_some())
}

/// Does steps of a network of which [`are_all`] holds, up to the first one with an impact, and returns how many. The state is left as it was, and none
/// returned, if a number does not stay finite: the general step says which.
pub(crate) fn advance(network: &Network, state: &mut NetworkState, scratch: &mut Scratch, steps: u64) -> Option<u64> {
    scratch.sum.copy_from_slice(&state.values);
    let mut most = steps;
    loop {
        let mut least = most;
        for rigid in &network.rigid {
            let placed = PlacedBall::of(network, rigid)?;
            let mut motion = placed.read(&state.values);
            for done in 0..least {
                let next = placed.ball.step(motion, &placed);
                if next.struck {
                    least = done;
                    break;
                }
                motion = next;
            }
            placed.write(motion, scratch);
        }
        // Those that went farther than the last one go again.
        if least == most {
            break;
        }
        most = least;
    }
    (most == 0 || take_over(state, scratch, most)).then_some(most)
}

/// Does many steps of one ball, and keeps what the report needs of them. The state is left as it was, and false returned, if there are
/// more balls, or if a number does not stay finite.
pub(crate) fn advance_tallied(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    (work, tallies): (&mut Work, &mut Tallies),
    steps: u64,
) -> bool {
    let ([rigid], [body]) = (&network.rigid[..], &network.bodies[..]) else {
        return false;
    };
    let Some(placed) = PlacedBall::of(network, rigid) else {
        return false;
    };
    scratch.sum.copy_from_slice(&state.values);
    let (element, step, marked) = (rigid.element, network.step, tallies.changes.len());
    let (mut delivered, mut kinetic) = (work.delivered[element], work.kinetic);
    let mut spell = tallies.spell(element);
    let mut trend = tallies.trend(element, 1.0);
    let mut largest = 0.0f64;
    let [normal, first, second] = placed.ball.contact.directions;
    let mut motion = placed.read(&state.values);
    for number in state.step + 1..state.step + 1 + steps {
        let before = motion;
        let pressed;
        (motion, pressed) = placed.ball.touching_step(before, &placed);
        // The method's own loss, as `Network::kinetic_loss` has it.
        let mut change = [0.0; 6];
        let mut pose = [0.0; 7];
        for i in 0..3 {
            change[i] = motion.velocity[i] - before.velocity[i];
            change[3 + i] = motion.spin[i] - before.spin[i];
        }
        pose[3..].copy_from_slice(&before.rotation);
        kinetic += body.body.kinetic_energy(&body.body.place(&pose, &change));
        let (mut mode, mut force) = (Mode::Open, [0.0; 3]);
        if pressed.touching {
            // As `Candidate::settle` counts it.
            let [press, ..] = pressed.force;
            let kept = pressed.force.map(|f| if f.abs() > 1e-13 * press { f } else { 0.0 });
            let approach = placed.approach(&before);
            // Impacts and overlaps are counted by the general step.
            let height = dot(normal, before.position);
            let gap = height - placed.ball.offset - placed.ball.radius;
            let rounding = 8.0 * f64::EPSILON * (height.abs() + placed.ball.radius);
            if gap < -rounding || approach * step < -gap.max(0.0) - rounding {
                tallies.changes.truncate(marked);
                return false;
            }
            let power = 0.5 * kept[0] * (approach + pressed.velocity[0]);
            let power = power + kept[1] * pressed.velocity[1] + kept[2] * pressed.velocity[2];
            delivered += step * power;
            kinetic -= step * (0.5 * kept[0] * (pressed.velocity[0] - approach));
            force = std::array::from_fn(|i| kept[0] * normal[i] + kept[1] * first[i] + kept[2] * second[i]);
            if press > 0.0 {
                mode = Mode::stuck(motion.stuck);
            }
        }
        let square = force[0] * force[0] + force[1] * force[1] + force[2] * force[2];
        largest = if square > largest { square } else { largest };
        trend.note(force[0]);
        spell.note(mode, number, &mut tallies.changes);
    }
    placed.write(motion, scratch);
    if !(largest + delivered + kinetic).is_finite() || !take_over(state, scratch, steps) {
        tallies.changes.truncate(marked);
        return false;
    }
    (work.delivered[element], work.kinetic) = (delivered, kinetic);
    trend.largest = largest.sqrt();
    tallies.add_trend(element, 1.0, &trend);
    tallies.add_spell(&spell, marked);
    true
}

/// Makes the buffer the state, if all its numbers are finite. What has become infinite or undefined never becomes finite
/// again: one look at the end is enough.
fn take_over(state: &mut NetworkState, scratch: &mut Scratch, steps: u64) -> bool {
    if !scratch.sum.iter().all(|value| value.is_finite()) {
        return false;
    }
    std::mem::swap(&mut state.values, &mut scratch.sum);
    state.step += steps;
    true
}

/// Moves several networks of which [`are_all`] holds side by side. Those that are not built alike, that have an impact, or whose numbers do not
/// stay finite, are left where they are.
pub(super) fn run_lanes(lanes: &mut [Lane<'_>], steps: u64) {
    for lanes in lanes.chunks_mut(WIDTH).filter(|lanes| lanes.len() > 1) {
        let last = lanes.len() - 1;
        let networks: [&Network; WIDTH] = std::array::from_fn(|i| lanes[i.min(last)].network);
        let form = |network: &Network| {
            let seats = network.rigid.iter().map(|rigid| (rigid.element, rigid.state));
            (network.layout.clone(), seats.collect::<Vec<_>>())
        };
        if common(&networks, form).is_none() || !networks.iter().all(|network| are_all(network)) {
            continue;
        }
        for lane in &mut *lanes {
            lane.scratch.sum.copy_from_slice(&lane.state.values);
        }
        let mut struck = [false; WIDTH];
        for i in 0..networks[0].rigid.len() {
            let Some(placed) = placed_abreast(&networks, i) else {
                return;
            };
            let ball = PlaneBall::abreast(&placed.each_ref().map(|own| &own.ball));
            let each = std::array::from_fn(|k| placed[k].read(&lanes[k.min(last)].state.values));
            let motion = together(&ball, &placed, BallMotion::abreast(&each), steps);
            for (k, lane) in lanes.iter_mut().enumerate() {
                let motion = motion.lane(k);
                struck[k] |= motion.struck;
                placed[k].write(motion, lane.scratch);
            }
        }
        for (lane, _) in lanes.iter_mut().zip(struck).filter(|(_, struck)| !struck) {
            take_over(lane.state, lane.scratch, steps);
        }
    }
}

/// The ball of a contact in each of several networks.
fn placed_abreast<'a>(networks: &[&'a Network; WIDTH], contact: usize) -> Option<[PlacedBall<'a>; WIDTH]> {
    let placed = networks
        .iter()
        .map(|network| PlacedBall::of(network, &network.rigid[contact]));
    placed.collect::<Option<Vec<_>>>()?.try_into().ok()
}

#[multiversion(targets("x86_64+avx2"))]
fn together(
    ball: &PlaneBall<Wide>,
    rare: &[PlacedBall<'_>; WIDTH],
    motion: BallMotion<Wide>,
    steps: u64,
) -> BallMotion<Wide> {
    let mut motion = motion;
    for _ in 0..steps {
        motion = ball.step(motion, rare);
    }
    motion
}

impl<'a> PlacedBall<'a> {
    /// The ball of a contact, if that is one, on a plane of the ground.
    fn of(network: &'a Network, rigid: &'a Rigid) -> Option<Self> {
        let RigidKind::Contact {
            geometry,
            friction,
            planar: false,
            grain: None,
            ..
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
        Some(PlacedBall {
            rigid,
            q: placed.q,
            v: placed.v,
            gravity: network.world_gravity.norm(),
            ball: PlaneBall {
                step: network.step,
                acceleration: (force * inverse_mass).into(),
                contact: RoundContact::new(
                    [normal, first, second].map(Into::into),
                    geometry.radius,
                    network.step,
                    inverse_mass,
                    1.0 / inertia,
                ),
                offset,
                radius: geometry.radius,
                friction: friction.unwrap_or([0.0; 2]),
                restitution: rigid.restitution,
            },
        })
    }

    /// Velocity along the normal at the touching point.
    #[inline(always)]
    fn approach(&self, motion: &BallMotion<f64>) -> f64 {
        let normal = Vector3::from(self.ball.contact.directions[0]);
        let [position, velocity, spin] = [motion.position, motion.velocity, motion.spin].map(Vector3::from);
        let point = position - self.ball.radius * normal;
        normal.dot(&(velocity + spin.cross(&(point - position))))
    }

    /// Its motion in a state.
    fn read(&self, state: &[f64]) -> BallMotion<f64> {
        let (q, v) = (self.q, self.v);
        BallMotion {
            position: std::array::from_fn(|i| state[q + i]),
            rotation: std::array::from_fn(|i| state[q + 3 + i]),
            velocity: std::array::from_fn(|i| state[v + i]),
            spin: std::array::from_fn(|i| state[v + 3 + i]),
            stuck: state[self.rigid.state] != 0.0,
            struck: false,
            normal: 0.0,
        }
    }

    /// Its motion at the end of some steps.
    fn write(&self, motion: BallMotion<f64>, scratch: &mut Scratch) {
        let (q, v, after) = (self.q, self.v, &mut scratch.sum);
        after[q..q + 3].copy_from_slice(&motion.position);
        after[q + 3..q + 7].copy_from_slice(&motion.rotation);
        after[v..v + 3].copy_from_slice(&motion.velocity);
        after[v + 3..v + 6].copy_from_slice(&motion.spin);
        after[self.rigid.state] = f64::from(u8::from(motion.stuck));
        scratch.compression[self.rigid.element] = motion.normal;
    }
}
