//! One evaluation of the network: place bodies, gather motion, evaluate elements, scatter forces, accelerate.

use super::groups::{Groups, Observation};
use super::signals::SignalValues;
use super::{Network, Scratch};
use crate::body::{Frame, LinkageScratch};
use stickslip_core::scalar::Real;

/// Where the factor of a friction curve comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadSource {
    /// A signal: a constant or a profile, never taken below 0.
    Signal(usize),
    /// The compressive force of an element.
    Element(usize),
}

impl LoadSource {
    /// The factor now.
    #[inline(always)]
    pub fn value<R: Real>(self, signals: &[R], compression: &[R]) -> R {
        match self {
            LoadSource::Signal(signal) => signals[signal].max(R::zero()),
            LoadSource::Element(element) => compression[element],
        }
    }
}

/// What elements see of the network, and where their answers go.
pub struct Stage<'a> {
    /// The network itself.
    pub network: &'a Network,
    /// Step of the stage, which laws in proxy form need (the paper on modular simulation, eq 22).
    pub tau: f64,
    /// The flat state: positions, velocities, element states, the ground.
    pub state: &'a [f64],
    /// Present values of profiles.
    pub signals: &'a [f64],
    /// Placement of the rigid bodies.
    pub frames: &'a [Frame],
    /// Linkages: placement of links, and loads on them.
    pub linkages: &'a mut [LinkageScratch],
    /// Generalised force on each velocity.
    pub load: &'a mut [f64],
    /// Rate of the state; elements write the part of their own states.
    pub rate: &'a mut [f64],
    /// Compressive force of each element, for frictions that depend on it.
    pub compression: &'a mut [f64],
    /// Power of motors inside joints, noted when elements are observed.
    pub motor_power: f64,
}

/// What elements between coordinates see of it: the same for one network and for several side by side.
pub struct Coordinates<'a, R> {
    /// Step of the stage.
    pub tau: R,
    /// The same for laws whose states settle no faster than in a stage; where forces are only looked at, that of the run.
    pub settling: R,
    /// The flat state.
    pub state: &'a [R],
    /// Present values of profiles.
    pub signals: &'a [R],
    /// Generalised force on each velocity.
    pub load: &'a mut [R],
    /// Rate of the state.
    pub rate: &'a mut [R],
    /// Compressive force of each element.
    pub compression: &'a mut [R],
}

impl Stage<'_> {
    /// The part that elements between coordinates see.
    #[inline(always)]
    pub fn coordinates(&mut self) -> Coordinates<'_, f64> {
        Coordinates {
            tau: self.tau,
            settling: if self.tau > 0.0 {
                self.tau
            } else {
                self.network.settling_step
            },
            state: self.state,
            signals: self.signals,
            load: self.load,
            rate: self.rate,
            compression: self.compression,
        }
    }

    /// Stage step of contact laws: where forces are only looked at between given steps, that of the run, since their states
    /// are those of its backward Euler rule.
    #[inline(always)]
    pub fn contact_step(&self) -> f64 {
        if self.tau > 0.0 {
            self.tau
        } else {
            self.network.reporting_step
        }
    }
}

/// The buffers of one evaluation. They borrow a [`Scratch`], or arrays on the stack where a network is small.
pub(crate) struct Room<'a> {
    pub(crate) rate: &'a mut [f64],
    pub(crate) load: &'a mut [f64],
    pub(crate) frames: &'a mut [Frame],
    pub(crate) linkages: &'a mut [LinkageScratch],
    pub(crate) signals: &'a mut SignalValues,
    pub(crate) compression: &'a mut [f64],
    pub(crate) seen: &'a mut [Observation],
    pub(crate) motor_power: &'a mut f64,
}

/// The rate of the state `scratch.trial` at grid index `index` (half steps) with stage step `tau`, into `scratch.rate`.
/// `OBSERVE` also notes what every element does.
pub(crate) fn evaluate<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, index: u64, tau: f64) {
    let (state, _, mut room) = scratch.parts();
    evaluate_in::<OBSERVE>(network, state, &mut room, index, tau);
}

/// Gathers motion from `scratch.trial`, evaluates the elements and scatters their forces.
pub(crate) fn apply<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, tau: f64) {
    let (state, _, mut room) = scratch.parts();
    apply_in::<OBSERVE, _>(network, &network.elements, state, &mut room, tau);
}

/// The rate of `state` at grid index `index` (half steps) with stage step `tau`, into `room.rate`.
#[inline(always)]
pub(crate) fn evaluate_in<const OBSERVE: bool>(
    network: &Network,
    state: &mut [f64],
    room: &mut Room<'_>,
    index: u64,
    tau: f64,
) {
    network.signals.sample(index, room.signals);
    network.place_drives(state, room.signals, index);
    network.place_bodies(state, room.frames, room.linkages);
    apply_in::<OBSERVE, _>(network, &network.elements, state, room, tau);
    network.accelerate(
        state,
        room.frames,
        room.linkages,
        room.signals.get(),
        room.load,
        room.rate,
    );
}

/// The rate of `state` at any time, into `room.rate`: the plain differential equations, with stage step 0.
pub(crate) fn evaluate_at<const OBSERVE: bool>(network: &Network, state: &mut [f64], room: &mut Room<'_>, time: f64) {
    evaluate_groups_at::<OBSERVE, _>(network, &network.elements, state, room, time);
}

/// The same with elements asked in another way.
pub(crate) fn evaluate_groups_at<const OBSERVE: bool, G: Groups>(
    network: &Network,
    groups: &G,
    state: &mut [f64],
    room: &mut Room<'_>,
    time: f64,
) {
    network.signals.sample_at(time, room.signals);
    network.place_drives_at(state, room.signals.get(), time);
    network.place_bodies(state, room.frames, room.linkages);
    apply_in::<OBSERVE, _>(network, groups, state, room, 0.0);
    network.accelerate(
        state,
        room.frames,
        room.linkages,
        room.signals.get(),
        room.load,
        room.rate,
    );
}

/// Gathers motion, evaluates the elements and scatters their forces.
#[inline(always)]
pub(crate) fn apply_in<const OBSERVE: bool, G: Groups>(
    network: &Network,
    groups: &G,
    state: &[f64],
    room: &mut Room<'_>,
    tau: f64,
) {
    room.load[network.layout.velocities()].fill(0.0);
    for (linkage, scratch) in network.linkages.iter().zip(room.linkages.iter_mut()) {
        linkage.body.clear_loads(scratch);
    }
    let mut stage = Stage {
        network,
        tau,
        state,
        signals: room.signals.get(),
        frames: room.frames,
        linkages: room.linkages,
        load: room.load,
        rate: room.rate,
        compression: room.compression,
        motor_power: 0.0,
    };
    for force in &network.forces {
        stage.load[force.velocity] += stage.signals[force.signal];
    }
    for (linkage, scratch) in network.linkages.iter().zip(stage.linkages.iter_mut()) {
        if !linkage.pushes.is_empty() {
            linkage.push(stage.signals, scratch, stage.load);
        }
    }
    groups.respond::<OBSERVE>(&mut stage, room.seen);
    *room.motor_power = stage.motor_power;
}

/// Power that drivers, actuators and applied forces put in, given the loads of the last evaluation. Motors inside
/// joints are counted by the joints themselves.
pub(crate) fn input_power(
    network: &Network,
    state: &[f64],
    load: &[f64],
    linkages: &[LinkageScratch],
    signals: &[f64],
    seen: &[Observation],
) -> f64 {
    let drivers: f64 = network.layout.driver_velocities().map(|v| -load[v] * state[v]).sum();
    let forces: f64 = network
        .forces
        .iter()
        .map(|f| signals[f.signal] * state[f.velocity])
        .sum();
    let pushes: f64 = (network.linkages.iter().zip(linkages))
        .filter(|(linkage, _)| !linkage.pushes.is_empty())
        .map(|(linkage, scratch)| linkage.pushing_power(state, scratch))
        .sum();
    let actuators: f64 = network.sources.iter().map(|&element| seen[element].power).sum();
    drivers + forces + pushes + actuators
}
