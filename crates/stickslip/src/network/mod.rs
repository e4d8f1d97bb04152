//! The network: bodies joined by elements. Three types share the work: [`Network`] is fixed once built,
//! [`NetworkState`] is what changes from step to step, [`Scratch`] is room to compute in, sized once.

pub mod abreast;
pub(crate) mod ball;
mod cones;
pub mod coupled;
pub mod geometry;
pub mod groups;
pub mod implicit;
mod local;
pub mod lock;
pub mod march;
pub mod newmark;
pub mod port;
pub mod rigid;
pub mod scene;
pub mod signals;
pub mod span;
pub mod sparse;
pub mod stage;
pub mod tangent;
pub mod work;

use crate::body::frame::vector;
use crate::body::own::PlacedOwn;
use crate::body::{Frame, Linkage, LinkageScratch, RigidBody, quaternion_rate};
pub(crate) use crate::math::dense;
use crate::snapshot::{Carried, Reader, SnapshotError, carried};
use crate::stop::Stop;
use groups::{Elements, Observation, Resolve};
use implicit::{ImplicitScratch, Island, StiffSpring};
use march::{March, MarchRoom, Statistics, StepControl};
use nalgebra::Vector3;
use newmark::NewmarkRoom;
use signals::{SignalValues, Signals};
use std::any::Any;
use std::ops::Range;
use std::sync::OnceLock;
use stickslip_core::scalar::Real;

/// How the flat state is laid out: positions, velocities, element states, and six zeros that stand for the ground.
///
/// Positions and velocities begin with the scalar coordinates in the same order (masses and inertias, drivers, joints
/// of linkages on a fixed base and coordinates of the user's own bodies), so that position i belongs to velocity i there; rigid bodies and linkages with a free
/// base follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Number of coordinates that are masses or inertias.
    pub masses: usize,
    /// Number of coordinates that are driven.
    pub drivers: usize,
    /// Number of coordinates that are joints of linkages on a fixed base or of the user's own bodies.
    pub joints: usize,
    /// Number of positions.
    pub positions: usize,
    /// Number of velocities.
    pub velocities: usize,
    /// Number of element states.
    pub states: usize,
}

impl Layout {
    /// Scalar coordinates: position and velocity have the same number.
    pub fn scalars(&self) -> usize {
        self.masses + self.drivers + self.joints
    }
    /// Where velocities are.
    pub fn velocities(&self) -> Range<usize> {
        self.positions..self.positions + self.velocities
    }
    /// Where the velocities of drivers are.
    pub fn driver_velocities(&self) -> Range<usize> {
        let first = self.positions + self.masses;
        first..first + self.drivers
    }
    /// Length of the part that is integrated.
    pub fn integrated(&self) -> usize {
        self.positions + self.velocities + self.states
    }
    /// Where element states begin.
    pub fn first_state(&self) -> usize {
        self.positions + self.velocities
    }
    /// The coordinate that never moves.
    pub fn ground(&self) -> port::Coordinate {
        port::Coordinate {
            q: self.integrated(),
            v: self.integrated() + 3,
        }
    }
    /// Length of the flat state.
    pub fn len(&self) -> usize {
        self.integrated() + 6
    }
    /// True when nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.integrated() == 0
    }
}

/// A force of a profile on one velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedForce {
    /// Index of the velocity.
    pub velocity: usize,
    /// The signal.
    pub signal: usize,
}

/// A driven coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Drive<R = f64> {
    /// The coordinate.
    pub coordinate: port::Coordinate,
    /// The signal that prescribes it.
    pub signal: usize,
    /// True if the signal is a position, false if a velocity.
    pub position: bool,
    /// Position at the start of a drive by velocity.
    pub start: R,
    /// State that sums the velocities of a drive by velocity: its position in the implicit step is start + T·sum, so that
    /// a velocity whose sums are exact (2 m/s) leaves one rounding however many steps were done.
    pub sum: usize,
}

/// A rigid body and where its state is.
#[derive(Clone, Debug)]
pub struct PlacedBody {
    /// Mass and inertia.
    pub body: RigidBody,
    /// First position.
    pub q: usize,
    /// First velocity.
    pub v: usize,
}

/// Profiles that push a link.
#[derive(Clone, Debug)]
pub struct Push {
    /// The link.
    pub link: usize,
    /// Where the force acts, in the axes of the link.
    pub point: Vector3<f64>,
    /// The signals of the force and the torque, in world axes.
    pub signals: [[Option<usize>; 3]; 2],
}

/// A linkage and where its state is.
pub struct PlacedLinkage {
    /// The tree of links.
    pub body: Linkage,
    /// First position.
    pub q: usize,
    /// First velocity.
    pub v: usize,
    /// Number of positions.
    pub positions: usize,
    /// Number of velocities.
    pub velocities: usize,
    /// Whether elements or pushes need the placement of links.
    pub placed: bool,
    /// What pushes its links.
    pub pushes: Vec<Push>,
}

/// A mechanical system, fixed once built.
pub struct Network {
    /// Layout of the flat state.
    pub layout: Layout,
    /// Time step.
    pub step: f64,
    /// Stage step with which forces are reported between steps: that of the run, 0 where the method chooses its own.
    pub reporting_step: f64,
    /// Stage step of laws whose states settle no faster than in a stage ([`stickslip_core::friction::Bristle::SETTLES`]), where forces are looked
    /// at between steps: that of the run under the methods that are explicit in these states, else 0.
    pub settling_step: f64,
    /// Inverse mass of each scalar coordinate; 0 for drivers.
    pub inverse_mass: Vec<f64>,
    /// Acceleration by gravity of each scalar coordinate.
    pub gravity: Vec<f64>,
    /// Gravity in the world.
    pub world_gravity: Vector3<f64>,
    /// Driven coordinates.
    pub drives: Vec<Drive>,
    /// Rigid bodies.
    pub bodies: Vec<PlacedBody>,
    /// Linkages.
    pub linkages: Vec<PlacedLinkage>,
    /// Bodies of the user's own.
    pub own_bodies: Vec<PlacedOwn>,
    /// Applied forces.
    pub forces: Vec<AppliedForce>,
    /// Elements that answer motion with force, by kind.
    pub elements: Vec<Box<dyn Elements>>,
    /// Frictions of the implicit step, by law.
    pub frictions: Vec<Box<dyn Resolve>>,
    /// Parts of the network whose implicit step is solved together.
    pub islands: Vec<Island>,
    /// Springs the implicit step takes at its end.
    pub stiff_springs: Vec<StiffSpring>,
    /// Rigid contacts and stops of the implicit step.
    pub rigid: Vec<rigid::Rigid>,
    /// Springs between points of bodies that the implicit step takes at its end.
    pub point_springs: Vec<implicit::PointSpring>,
    /// Rigid gears and joints of the implicit step.
    pub locks: Vec<lock::Lock>,
    /// Shapes whose contacts the program finds.
    pub scene: Option<scene::Scene>,
    /// Elements whose power is input: actuators.
    pub sources: Vec<usize>,
    /// Profiles.
    pub signals: Signals,
    /// Number of elements.
    pub element_count: usize,
    /// Whether the energy of every spring is quadratic in its stretch.
    pub quadratic: bool,
    /// How steps are chosen, for the methods that choose their own.
    pub control: Option<StepControl>,
    /// The rule of `newmark` and `trapezoidal`.
    pub newmark: Option<newmark::Rule>,
    /// The state to start from.
    pub initial: Vec<f64>,
    /// What methods have found out about the network once and for all.
    pub(crate) prepared: Prepared,
}

/// What methods have found out about a network, once one of them has asked. Methods know the network, and it knows nothing of them.
#[derive(Default)]
pub(crate) struct Prepared(OnceLock<Box<dyn Any + Send + Sync>>);

impl Prepared {
    /// What was found, or is found now. There is one type of it.
    #[inline(always)]
    pub(crate) fn get<T: Any + Send + Sync>(&self, find: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(find())).downcast_ref()
    }
}

/// What changes from step to step: the flat state and the number of the step.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkState {
    /// Positions, velocities and element states, as [`Layout`] says.
    pub values: Vec<f64>,
    /// Steps done.
    pub step: u64,
    /// How far a method that chooses its own steps has gone ahead; empty for the others.
    pub march: March,
}

/// Room to compute in, sized once; nothing is allocated afterwards.
pub struct Scratch {
    pub(crate) trial: Vec<f64>,
    pub(crate) rate: Vec<f64>,
    pub(crate) sum: Vec<f64>,
    pub(crate) load: Vec<f64>,
    pub(crate) frames: Vec<Frame>,
    /// What the gyroscopic torque of each rigid body took from its angular momentum in an implicit step, in its axes.
    pub(crate) turned: Vec<Vector3<f64>>,
    pub(crate) linkages: Vec<LinkageScratch>,
    pub(crate) signals: SignalValues,
    pub(crate) compression: Vec<f64>,
    pub(crate) seen: Vec<Observation>,
    pub(crate) motor_power: f64,
    pub(crate) implicit: ImplicitScratch,
    pub(crate) march: MarchRoom,
    pub(crate) newmark: NewmarkRoom,
    /// Ends long work early.
    pub(crate) stop: Option<Stop>,
}

carried!(NetworkState: values, step, march; not);

// Of the room itself: what profiles were taken over, forces that act on the step after, what was seen, and what was counted.
impl Carried for Scratch {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.signals.save(bytes);
        self.compression.save(bytes);
        self.seen.save(bytes);
        self.implicit.worst.save(bytes);
        self.implicit.jammed.save(bytes);
        self.newmark.save(bytes);
        self.march.statistics.save(bytes);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.signals.load(bytes)?;
        self.compression.load(bytes)?;
        self.seen.load(bytes)?;
        self.implicit.worst.load(bytes)?;
        self.implicit.jammed.load(bytes)?;
        self.newmark.load(bytes)?;
        self.march.statistics.load(bytes)
    }
}

impl Scratch {
    /// Room of the same network in which the next step has the same bytes.
    pub(crate) fn copy(&self, network: &Network) -> Scratch {
        let mut copy = network.scratch();
        let mut bytes = Vec::new();
        self.save(&mut bytes);
        let loaded = copy.load(&mut Reader(&bytes));
        debug_assert!(loaded.is_ok(), "both are of one network");
        copy.heed(self.stop.as_ref());
        copy
    }

    /// As it was when it was made, with the flag that it heeds.
    pub(crate) fn reset(&mut self, network: &Network) {
        for buffer in [&mut self.rate, &mut self.sum, &mut self.load, &mut self.compression] {
            buffer.fill(0.0);
        }
        self.trial.copy_from_slice(&network.initial);
        self.seen.fill(Observation::default());
        network.signals.reset(&mut self.signals);
        self.motor_power = 0.0;
        (self.implicit.worst, self.implicit.unsolved) = (0.0, 0.0);
        self.implicit.jammed = None;
        self.newmark.reset();
        self.march.statistics = Statistics::default();
    }

    /// Makes the room of one network that of another, as if it were new; false if it does not fit.
    pub(crate) fn renew(&mut self, before: &Network, now: &Network) -> bool {
        // Other networks keep more than plain buffers.
        let same = before.layout == now.layout && before.element_count == now.element_count;
        if !(same && before.is_simple() && now.is_simple()) {
            return false;
        }
        self.trial.copy_from_slice(&now.initial);
        for buffer in [&mut self.rate, &mut self.sum, &mut self.load, &mut self.compression] {
            buffer.fill(0.0);
        }
        self.seen.fill(Observation::default());
        self.signals = now.signals.values();
        self.motor_power = 0.0;
        true
    }

    /// Ends long work once this flag is set.
    pub(crate) fn heed(&mut self, stop: Option<&Stop>) {
        self.stop = stop.cloned();
        self.implicit.heed(stop);
    }

    /// The buffers of a stage, the buffer of sums, and the room to evaluate in.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut [f64], &mut [f64], stage::Room<'_>) {
        let room = stage::Room {
            rate: &mut self.rate,
            load: &mut self.load,
            frames: &mut self.frames,
            linkages: &mut self.linkages,
            signals: &mut self.signals,
            compression: &mut self.compression,
            seen: &mut self.seen,
            motor_power: &mut self.motor_power,
        };
        (&mut self.trial, &mut self.sum, room)
    }
}

impl Network {
    /// Whether there are only masses and drivers, in fixed steps that solve no equations.
    pub(crate) fn is_simple(&self) -> bool {
        self.layout.positions == self.layout.masses + self.layout.drivers
            && self.islands.is_empty()
            && self.control.is_none()
            && self.newmark.is_none()
    }

    /// The state at the start.
    pub fn initial_state(&self) -> NetworkState {
        NetworkState {
            values: self.initial.clone(),
            step: 0,
            march: March::new(self),
        }
    }

    /// Brings the memory of stick, which laws of the implicit step keep, in line with velocities that were set from outside: what does
    /// not move sticks, as at the start.
    pub(crate) fn remember(&self, state: &mut [f64], changed: &Range<usize>) {
        for group in &self.frictions {
            group.remember(state, changed);
        }
        self.remember_rigid(state, changed);
    }

    /// Room for computing with this network.
    pub fn scratch(&self) -> Scratch {
        let n = self.layout.len();
        Scratch {
            trial: self.initial.clone(),
            rate: vec![0.0; n],
            sum: vec![0.0; n],
            load: vec![0.0; n],
            frames: vec![Frame::ground(); self.bodies.len()],
            turned: vec![Vector3::zeros(); self.bodies.len()],
            linkages: self.linkages.iter().map(|linkage| linkage.body.scratch()).collect(),
            signals: self.signals.values(),
            compression: vec![0.0; self.element_count],
            seen: vec![Observation::default(); self.element_count],
            motor_power: 0.0,
            implicit: ImplicitScratch::new(self),
            march: MarchRoom::new(self),
            newmark: NewmarkRoom::new(self),
            stop: None,
        }
    }

    /// Time of a step.
    #[inline(always)]
    pub fn time(&self, step: u64) -> f64 {
        self.signals.grid().time(2 * step)
    }

    /// Sets driven coordinates to their profiles.
    #[inline(always)]
    pub(crate) fn place_drives(&self, state: &mut [f64], signals: &mut SignalValues, index: u64) {
        for drive in &self.drives {
            let value = signals.get()[drive.signal];
            if drive.position {
                state[drive.coordinate.q] = value;
                state[drive.coordinate.v] = self.signals.slope(drive.signal, index, signals);
            } else {
                state[drive.coordinate.v] = value;
            }
        }
    }

    /// Sets driven coordinates to their profiles at any time, which the signals have been brought to.
    pub(crate) fn place_drives_at(&self, state: &mut [f64], signals: &[f64], time: f64) {
        for drive in &self.drives {
            let value = signals[drive.signal];
            if drive.position {
                state[drive.coordinate.q] = value;
                state[drive.coordinate.v] = self.signals.profile(drive.signal).slope(time);
            } else {
                state[drive.coordinate.v] = value;
            }
        }
    }

    /// Finds the placement of bodies in a state.
    #[inline(always)]
    pub(crate) fn place_bodies(&self, state: &[f64], frames: &mut [Frame], linkages: &mut [LinkageScratch]) {
        for (placed, frame) in self.bodies.iter().zip(frames) {
            *frame = placed
                .body
                .place(&state[placed.q..placed.q + 7], &state[placed.v..placed.v + 6]);
        }
        for (placed, scratch) in self.linkages.iter().zip(linkages) {
            if placed.placed {
                let (q, v) = placed.motion(state);
                placed.body.place(q, v, scratch);
            }
        }
    }

    /// Kinetic energy the implicit step loses by itself before it moves anything: ½·Δvᵀ·M·Δv, with M where bodies were solved, and the work ω⁺·`turned` against
    /// gyroscopic torques. A rotation by T·ω⁺ keeps the energy of ω⁺. `linkages` lose their placement; `change` is room for a state.
    pub(crate) fn kinetic_loss(
        &self,
        (before, after): (&[f64], &[f64]),
        (frames, turned): (&[Frame], &[Vector3<f64>]),
        change: &mut [f64],
        linkages: &mut [LinkageScratch],
    ) -> f64 {
        let first = self.layout.positions;
        let masses = self.inverse_mass[..self.layout.masses].iter().enumerate();
        let scalar: f64 = masses
            .map(|(i, inverse_mass)| {
                let change = after[first + i] - before[first + i];
                0.5 * change * change / inverse_mass
            })
            .sum();
        let rigid: f64 = self
            .bodies
            .iter()
            .zip(frames.iter().zip(turned))
            .map(|(placed, (frame, turned))| {
                let change: [f64; 6] = std::array::from_fn(|i| after[placed.v + i] - before[placed.v + i]);
                let frame = Frame {
                    velocity: vector(&change, 0),
                    angular_velocity: vector(&change, 3),
                    ..*frame
                };
                let lost = placed.body.kinetic_energy(&frame);
                if placed.body.is_isotropic() {
                    return lost;
                }
                let spin = Vector3::from_column_slice(&after[placed.v + 3..placed.v + 6]);
                lost + frame.rotation.tr_mul(&spin).dot(turned)
            })
            .sum();
        let mut linked = 0.0;
        for (placed, scratch) in self.linkages.iter().zip(linkages) {
            let v = placed.v..placed.v + placed.velocities;
            for i in v.clone() {
                change[i] = after[i] - before[i];
            }
            placed.body.place(placed.motion(before).0, &change[v], scratch);
            linked += placed.body.kinetic_energy(scratch);
        }
        scalar + rigid + linked
    }

    /// The relative velocity of a pair times the part of it that drivers given by position make.
    pub(crate) fn hauled<const N: usize>(&self, pair: &port::Pair, state: &[f64]) -> f64 {
        let velocity: [f64; N] = pair.velocity(state);
        let ends = [(pair.first.v, pair.ratio[0]), (pair.second.v, -pair.ratio[1])];
        let drives = self.drives.iter().filter(|drive| drive.position);
        let parts = drives.flat_map(|drive| {
            let axis = move |(v, ratio): (usize, f64)| {
                let axis = drive.coordinate.v.checked_sub(v).filter(|axis| *axis < N)?;
                Some((axis, ratio * state[drive.coordinate.v]))
            };
            ends.into_iter().filter_map(axis)
        });
        // Not `sum`, which of nothing is −0: the short ways through a step show 0.
        parts.fold(0.0, |sum, (axis, part)| sum + velocity[axis] * part)
    }

    /// Whether the method's own part of the energy ledger is known: springs are quadratic in the stretch, and all bodies are of the
    /// engine's own kinds.
    pub(crate) fn has_numerical_part(&self) -> bool {
        self.own_bodies.is_empty() && self.quadratic
    }

    /// Kinetic and gravitational energy of a state; `scratch` loses its placement of bodies.
    pub(crate) fn mechanical_energy(&self, state: &[f64], scratch: &mut Scratch) -> f64 {
        self.place_bodies(state, &mut scratch.frames, &mut scratch.linkages);
        let first = self.layout.positions;
        let mut energy = 0.0;
        for i in 0..self.layout.masses {
            let mass = 1.0 / self.inverse_mass[i];
            energy += 0.5 * mass * state[first + i] * state[first + i] - mass * self.gravity[i] * state[i];
        }
        for (placed, frame) in self.bodies.iter().zip(&scratch.frames) {
            energy += placed.body.kinetic_energy(frame);
            energy -= placed.body.mass() * self.world_gravity.dot(&frame.position);
        }
        for (placed, scratch) in self.linkages.iter().zip(&mut scratch.linkages) {
            let (q, v) = placed.motion(state);
            placed.body.place(q, v, scratch);
            energy += placed.body.kinetic_energy(scratch) + placed.body.potential_energy(scratch);
        }
        let signals = scratch.signals.get();
        let own = self.own_bodies.iter().map(|placed| placed.energy(state, signals));
        energy + own.sum::<f64>()
    }

    /// The rate of the state `scratch.trial` under the loads there, into `scratch.rate`.
    pub(crate) fn accelerate_in(&self, scratch: &mut Scratch) {
        let (state, _, room) = scratch.parts();
        self.accelerate(
            state,
            room.frames,
            room.linkages,
            room.signals.get(),
            room.load,
            room.rate,
        );
    }

    /// The rate of positions and velocities under the given loads.
    #[allow(clippy::too_many_arguments)] // The parts of a room.
    #[inline(always)]
    pub(crate) fn accelerate(
        &self,
        state: &[f64],
        frames: &[Frame],
        linkages: &mut [LinkageScratch],
        signals: &[f64],
        load: &[f64],
        rate: &mut [f64],
    ) {
        let scalars = self.layout.scalars();
        let first = self.layout.positions;
        let (position_rate, velocity_rate) = rate.split_at_mut(first);
        position_rate[..scalars].copy_from_slice(&state[first..first + scalars]);
        let masses = self.layout.masses + self.layout.drivers;
        let inertial = (&self.inverse_mass[..masses], &self.gravity[..masses]);
        accelerate_masses(inertial, &load[first..first + masses], &mut velocity_rate[..masses]);
        for (placed, frame) in self.bodies.iter().zip(frames) {
            let force =
                Vector3::from_column_slice(&load[placed.v..placed.v + 3]) + placed.body.mass() * self.world_gravity;
            let torque = Vector3::from_column_slice(&load[placed.v + 3..placed.v + 6]);
            rate[placed.q..placed.q + 3].copy_from_slice(frame.velocity.as_slice());
            let q = [3, 4, 5, 6].map(|i| state[placed.q + i]);
            rate[placed.q + 3..placed.q + 7].copy_from_slice(&quaternion_rate(q, &frame.angular_velocity));
            rate[placed.v..placed.v + 6].copy_from_slice(&placed.body.accelerate(frame, &force, &torque));
        }
        for (placed, scratch) in self.linkages.iter().zip(linkages) {
            placed.accelerate(state, load, scratch, rate);
        }
        for placed in &self.own_bodies {
            placed.accelerate(state, signals, load, rate);
        }
    }
}

/// Accelerations of masses and drivers, from inverse masses and gravity.
#[inline(always)]
pub(crate) fn accelerate_masses<R: Real>((inverse_mass, gravity): (&[R], &[R]), load: &[R], rate: &mut [R]) {
    let inertial = inverse_mass.iter().zip(gravity);
    for ((rate, force), (inverse_mass, gravity)) in rate.iter_mut().zip(load).zip(inertial) {
        *rate = *force * *inverse_mass + *gravity;
    }
}

impl PlacedLinkage {
    /// Adds the forces of the profiles that push links to the load, and notes them in the room, whose links are placed.
    pub(crate) fn push(&self, signals: &[f64], scratch: &mut LinkageScratch, load: &mut [f64]) {
        let mut pushed = std::mem::take(&mut scratch.pushed);
        pushed.fill(0.0);
        for push in &self.pushes {
            let [force, torque] = push
                .signals
                .map(|signals_of| Vector3::from(signals_of.map(|signal| signal.map_or(0.0, |signal| signals[signal]))));
            let arm = self.body.frame(scratch, push.link).rotation * push.point;
            let torque = torque + arm.cross(&force);
            self.body
                .generalised(scratch, push.link, &force, &torque, |row, value| pushed[row] += value);
        }
        for (load, pushed) in load[self.v..].iter_mut().zip(&pushed) {
            *load += pushed;
        }
        scratch.pushed = pushed;
    }

    /// The power of these forces at the velocities of a state.
    pub(crate) fn pushing_power(&self, state: &[f64], scratch: &LinkageScratch) -> f64 {
        (state[self.v..].iter().zip(&scratch.pushed))
            .map(|(velocity, force)| velocity * force)
            .sum()
    }

    /// Positions and velocities of the linkage in a state.
    #[inline(always)]
    pub fn motion<'a>(&self, state: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        (
            &state[self.q..self.q + self.positions],
            &state[self.v..self.v + self.velocities],
        )
    }

    #[inline(always)]
    pub(crate) fn accelerate(&self, state: &[f64], load: &[f64], scratch: &mut LinkageScratch, rate: &mut [f64]) {
        let (q, v) = self.motion(state);
        let tau = &load[self.v..self.v + self.velocities];
        if self.positions != self.velocities {
            rate[self.q..self.q + 3].copy_from_slice(&v[..3]);
            let angular = Vector3::new(v[3], v[4], v[5]);
            rate[self.q + 3..self.q + 7].copy_from_slice(&quaternion_rate([q[3], q[4], q[5], q[6]], &angular));
            rate[self.q + 7..self.q + self.positions].copy_from_slice(&v[6..]);
        }
        let out = &mut rate[self.v..self.v + self.velocities];
        if self.placed {
            self.body.accelerate(q, v, tau, scratch, out);
        } else {
            self.body.accelerate_unloaded(q, v, tau, scratch, out);
        }
    }
}
