//! Networks of masses, inertias and drivers side by side: the general steps of the methods, over lanes.

use super::Method;
use super::implicit_euler::{drive_velocities, free_masses, move_drives, move_scalars};
use super::lanes::Lane;
use super::runge_kutta::{EULER, RK4, System, Tableau, step};
use crate::network::abreast::{Abreast, Ends, WIDTH, Wide};
use crate::network::stage::Coordinates;
use crate::network::{Network, accelerate_masses};
use multiversion::multiversion;
use stickslip_core::scalar::{Lanes, Real};

/// Whether a network can be moved beside others.
pub(super) fn takes(method: Method, network: &Network) -> bool {
    matches!(method, Method::Euler | Method::Rk4 | Method::ImplicitEuler) && Abreast::of(&[network; WIDTH]).is_some()
}

/// Moves several networks side by side, as far as they are alike and stay finite.
pub(super) fn run_lanes(method: Method, lanes: &mut [Lane<'_>], steps: u64) {
    for lanes in lanes.chunks_mut(WIDTH) {
        let first = lanes[0].network;
        let mut members: Vec<&mut Lane<'_>> = lanes.iter_mut().collect();
        let networks: Vec<&Network> = members.iter().map(|lane| lane.network).collect();
        let mut network = abreast(&networks);
        if network.is_none() {
            members.retain(|lane| abreast(&[first, lane.network]).is_some());
            let networks: Vec<&Network> = members.iter().map(|lane| lane.network).collect();
            network = abreast(&networks);
        }
        // One that is left over goes faster alone.
        let (Some(network), 2..) = (network, members.len()) else {
            continue;
        };
        let mut pack = Pack::new(network, &mut members);
        let check = match method {
            Method::ImplicitEuler => implicit(&mut pack, steps),
            Method::Euler => explicit(&EULER, &mut pack, steps),
            Method::Rk4 => explicit(&RK4, &mut pack, steps),
            _ => return,
        };
        let Pack { x, .. } = pack;
        for (i, lane) in members.into_iter().enumerate() {
            if check.0[i] == 0.0 {
                for (value, wide) in lane.state.values.iter_mut().zip(&x) {
                    *value = wide.0[i];
                }
                lane.state.step += steps;
            } else {
                // It starts anew alone, and its profiles with it.
                lane.scratch.signals = lane.network.signals.values();
            }
        }
    }
}

/// Several networks as one, the last of them repeated in lanes that are left; none where there is no network, or they differ.
fn abreast(networks: &[&Network]) -> Option<Abreast> {
    let last = networks.len().checked_sub(1)?;
    Abreast::of(&std::array::from_fn(|i| networks[i.min(last)]))
}

/// Whether no lane has stayed finite, asked now and then.
#[inline(always)]
fn lost(done: u64, check: Wide) -> bool {
    done.is_multiple_of(1024) && !check.0.contains(&0.0)
}

/// Steps of an explicit method. Returned is a sum of all numbers times 0: it is 0 in lanes that stayed finite. A bristle that
/// was infinite may come back, so every step counts.
#[multiversion(targets("x86_64+avx2"))]
fn explicit<const S: usize>(tableau: &Tableau<S>, pack: &mut Pack<'_, '_, '_>, steps: u64) -> Wide {
    let Pack { x, room, start } = pack;
    let n = room.network.layout.integrated();
    let (mut trial, mut sum) = (x.clone(), x.clone());
    let mut check = Wide::zero();
    for done in *start..*start + steps {
        if lost(done, check) {
            break;
        }
        let length = room.network.step;
        check += step(tableau, room, n, length, done, (x, &mut trial, &mut sum));
        x[..n].copy_from_slice(&trial[..n]);
        room.sample(2 * (done + 1));
        room.place_drives(x, 2 * (done + 1));
    }
    check
}

/// As [`explicit`], for the implicit step of masses whose frictions are alone.
#[multiversion(targets("x86_64+avx2"))]
fn implicit(pack: &mut Pack<'_, '_, '_>, steps: u64) -> Wide {
    let Pack { x, room, start } = pack;
    let mut after = x.clone();
    let mut check = Wide::zero();
    for done in *start..*start + steps {
        if lost(done, check) {
            break;
        }
        room.sample(2 * (done + 1));
        room.apply(x, room.network.step);
        let Room {
            network,
            load,
            signals,
            compression,
            ..
        } = &mut *room;
        let length = Wide::lit(network.step);
        let inertial = (&network.inverse_mass[..], &network.gravity[..]);
        free_masses(&network.layout, inertial, length, load, x, &mut after);
        drive_velocities(&network.drives, signals, length, x, &mut after);
        for group in &network.frictions {
            group.run(Ends {
                before: x,
                after: &mut after,
                signals,
                compression,
            });
        }
        move_scalars(&network.layout, length, x, &mut after);
        move_drives(&network.drives, signals, length, x, &mut after);
        for number in &after[..network.layout.integrated()] {
            check += *number * Wide::zero();
        }
        std::mem::swap(x, &mut after);
    }
    check
}

/// Up to as many networks as there are lanes; the last of them is repeated in lanes that are left.
struct Pack<'r, 'm, 'a> {
    /// The flat states.
    x: Vec<Wide>,
    room: Room<'r, 'm, 'a>,
    /// Steps done before.
    start: u64,
}

/// The networks, and room to evaluate them in.
struct Room<'r, 'm, 'a> {
    members: &'r mut [&'m mut Lane<'a>],
    network: Abreast,
    rate: Vec<Wide>,
    load: Vec<Wide>,
    compression: Vec<Wide>,
    signals: Vec<Wide>,
    /// Grid index from which some profile has another value.
    next: u64,
}

impl<'r, 'm, 'a> Pack<'r, 'm, 'a> {
    fn new(network: Abreast, members: &'r mut [&'m mut Lane<'a>]) -> Self {
        let last = members.len() - 1;
        let member = |i: usize| &members[i.min(last)];
        let n = network.layout.len();
        let x = (0..n).map(|k| Lanes(std::array::from_fn(|i| member(i).state.values[k])));
        Pack {
            x: x.collect(),
            start: member(0).state.step,
            room: Room {
                rate: vec![Wide::zero(); n],
                load: vec![Wide::zero(); n],
                compression: vec![Wide::zero(); network.element_count],
                signals: vec![Wide::zero(); network.signals],
                next: 0,
                members,
                network,
            },
        }
    }
}

impl Room<'_, '_, '_> {
    /// Brings the profiles of all networks to a grid index.
    #[inline(always)]
    fn sample(&mut self, index: u64) {
        if index >= self.next {
            self.renew(index);
        }
    }

    #[inline(never)]
    fn renew(&mut self, index: u64) {
        self.next = u64::MAX;
        let last = self.members.len() - 1;
        for (i, lane) in self.members.iter_mut().enumerate() {
            let Lane { network, scratch, .. } = &mut **lane;
            network.signals.sample(index, &mut scratch.signals);
            self.next = self.next.min(scratch.signals.constant_until());
            for (wide, value) in self.signals.iter_mut().zip(scratch.signals.get()) {
                let repeated = if i == last { WIDTH } else { i + 1 };
                wide.0[i..repeated].fill(*value);
            }
        }
    }

    /// Sets driven coordinates to their profiles, which have been brought to the grid index.
    #[inline(always)]
    fn place_drives(&mut self, state: &mut [Wide], index: u64) {
        for drive in &self.network.drives {
            let value = self.signals[drive.signal];
            if drive.position {
                let last = self.members.len() - 1;
                let slope = |i: usize| {
                    let Lane { network, scratch, .. } = &mut *self.members[i.min(last)];
                    network.signals.slope(drive.signal, index, &mut scratch.signals)
                };
                state[drive.coordinate.q] = value;
                state[drive.coordinate.v] = Lanes(std::array::from_fn(slope));
            } else {
                state[drive.coordinate.v] = value;
            }
        }
    }

    /// Gathers motion, evaluates the elements and scatters their forces.
    #[inline(always)]
    fn apply(&mut self, state: &[Wide], tau: f64) {
        let network = &self.network;
        self.load[network.layout.velocities()].fill(Wide::zero());
        for force in &network.forces {
            self.load[force.velocity] += self.signals[force.signal];
        }
        for group in &network.elements {
            group.run(Coordinates {
                tau: Wide::lit(tau),
                settling: Wide::lit(tau),
                state,
                signals: &self.signals,
                load: &mut self.load,
                rate: &mut self.rate,
                compression: &mut self.compression,
            });
        }
    }
}

impl System<Wide> for Room<'_, '_, '_> {
    #[inline(always)]
    fn evaluate(&mut self, state: &mut [Wide], index: u64, tau: f64, _share: f64) {
        self.sample(index);
        self.place_drives(state, index);
        self.apply(state, tau);
        let Room {
            network, load, rate, ..
        } = self;
        let (positions, velocities) = rate.split_at_mut(network.layout.positions);
        let moving = network.layout.velocities();
        positions.copy_from_slice(&state[moving.clone()]);
        let inertial = (&network.inverse_mass[..], &network.gravity[..]);
        accelerate_masses(inertial, &load[moving], velocities);
    }

    #[inline(always)]
    fn rate(&self) -> &[Wide] {
        &self.rate
    }
}
