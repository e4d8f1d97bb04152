//! The implicit step of a network with one free coordinate: a block, a shaft or a slider with any number of springs to
//! the ground and to drivers, constant forces, and Coulomb friction. It is the commonest system of all with friction.
//!
//! Between two changes of a profile only the coordinate and the drivers move, so the coordinate stays in registers for
//! all the steps between. The arithmetic is that of the general step, in the same order, and gives the same bytes
//! (tested).

use crate::element::friction::{Friction, Frictions, Implicit, SteadyCurve};
use crate::element::spring::{Spring, Springs};
use crate::network::stage::LoadSource;
use crate::network::{Network, NetworkState, Scratch};
use std::any::Any;
use stickslip_core::friction::implicit::resolve_constant;

/// Most drivers of a network that is taken here.
const MOST_DRIVERS: usize = 4;

/// One free coordinate and what acts on it.
pub(crate) struct Lone<'a> {
    network: &'a Network,
    position: usize,
    velocity: usize,
    springs: &'a [Spring],
    friction: Option<(&'a Friction<Implicit>, f64, usize)>,
}

/// The driven end of springs.
#[derive(Clone, Copy, Default)]
struct Driven {
    position: f64,
    velocity: f64,
    /// Sum of its velocities, start and velocity of the coming steps.
    sum: f64,
    start: f64,
    travel: f64,
}

impl<'a> Lone<'a> {
    /// The coordinate of a network, if there is just one that is free and nothing acts that is not known here.
    pub(crate) fn of(network: &'a Network) -> Option<Self> {
        let layout = &network.layout;
        let alone = layout.masses == 1
            && layout.velocities == 1 + network.drives.len()
            && network.drives.len() <= MOST_DRIVERS
            && network.drives.iter().all(|drive| !drive.position)
            && network.islands.is_empty();
        let springs: &[Spring] = match &network.elements[..] {
            [] => &[],
            [group] => {
                let group: &dyn Any = group.as_ref();
                &group.downcast_ref::<Springs<1>>()?.0
            }
            _ => return None,
        };
        let friction = match &network.frictions[..] {
            [] => None,
            [group] => {
                let group: &dyn Any = group.as_ref();
                let [friction] = &group.downcast_ref::<Frictions<Implicit, 1>>()?.0[..] else {
                    return None;
                };
                let (SteadyCurve::Stribeck(curve), LoadSource::Signal(load)) = (&friction.curve, friction.load) else {
                    return None;
                };
                let on_ground = friction.pair.first.q == 0 && friction.pair.second == layout.ground();
                if !(curve.is_coulomb() && on_ground && friction.pair.ratio[0] == 1.0) {
                    return None;
                }
                Some((friction, curve.kinetic, load))
            }
            _ => return None,
        };
        // A spring between two drivers does not act on the coordinate; ratios cost a product each and are left to the
        // general step.
        let plain = |spring: &Spring| {
            (spring.pair.first.q == 0) != (spring.pair.second.q == 0) && spring.pair.ratio == [1.0, 1.0]
        };
        let (position, velocity) = (0, layout.positions);
        (alone && springs.iter().all(plain)).then_some(Lone {
            network,
            position,
            velocity,
            springs,
            friction,
        })
    }

    /// Does steps up to the next change of a profile, at most `most`. The state is left as it was, and 0 returned, if a
    /// number does not stay finite: the general step says which.
    pub(crate) fn advance(&self, state: &mut NetworkState, scratch: &mut Scratch, most: u64) -> u64 {
        let network = self.network;
        let index = 2 * (state.step + 1);
        network.signals.sample(index, &mut scratch.signals);
        let steps = scratch.signals.constant_steps(index).min(most);
        let signals = scratch.signals.get();
        let values = &mut state.values;
        let mut driven = [Driven::default(); MOST_DRIVERS];
        for (end, drive) in driven.iter_mut().zip(&network.drives) {
            *end = Driven {
                position: values[drive.coordinate.q],
                velocity: values[drive.coordinate.v],
                sum: values[drive.sum],
                start: drive.start,
                travel: signals[drive.signal],
            };
        }
        let applied: f64 = network
            .forces
            .iter()
            .fold(0.0, |sum, force| sum + signals[force.signal]);
        let limit = self
            .friction
            .map_or(0.0, |(_, kinetic, load)| kinetic * signals[load].max(0.0));
        let (x, v, stuck) = self.steps(
            (values[self.position], values[self.velocity]),
            &mut driven,
            applied,
            limit,
            steps,
        );
        // What has become infinite or undefined never becomes finite again: one look at the end is enough.
        let finite = |end: &Driven| end.position.is_finite() && end.sum.is_finite();
        if !(x.is_finite() && v.is_finite() && driven.iter().all(finite)) {
            return 0;
        }
        (values[self.position], values[self.velocity]) = (x, v);
        if let Some((friction, ..)) = self.friction {
            values[friction.state] = f64::from(u8::from(stuck));
        }
        for (end, drive) in driven.iter().zip(&network.drives) {
            values[drive.coordinate.q] = end.position;
            values[drive.coordinate.v] = end.velocity;
            values[drive.sum] = end.sum;
        }
        state.step += steps;
        steps
    }

    /// The steps themselves: position and velocity at their end, and whether the coordinate sticks.
    #[inline(never)]
    fn steps(
        &self,
        (mut x, mut v): (f64, f64),
        driven: &mut [Driven; MOST_DRIVERS],
        applied: f64,
        limit: f64,
        steps: u64,
    ) -> (f64, f64, bool) {
        let (step, inverse_mass, gravity) = (self.network.step, self.network.inverse_mass[0], self.network.gravity[0]);
        let compliance = self.friction.map_or(0.0, |(friction, ..)| friction.compliance());
        let drivers = self.network.drives.len();
        let mut stuck = false;
        for _ in 0..steps {
            let mut force = applied;
            for spring in self.springs {
                let first = spring.pair.first.q == 0;
                let other = if first {
                    spring.pair.second.q
                } else {
                    spring.pair.first.q
                };
                // The ground comes after all drivers and does not move.
                let end = driven
                    .get(other - 1)
                    .map_or((0.0, 0.0), |end| (end.position, end.velocity));
                let stretch = if first { x - end.0 } else { end.0 - x } - spring.length;
                let mut pull = -spring.stiffness * stretch;
                // A term that is 0 is left out: the next step would have to wait for it.
                if spring.damping != 0.0 {
                    pull -= spring.damping * if first { v - end.1 } else { end.1 - v };
                }
                force = if first { force + pull } else { force - pull };
            }
            let mut change = force * inverse_mass;
            if gravity != 0.0 {
                change += gravity;
            }
            v += step * change;
            if compliance > 0.0 {
                let outcome = resolve_constant([v], compliance, limit);
                [v] = outcome.velocity;
                stuck = outcome.stuck;
            }
            x += step * v;
            for end in &mut driven[..drivers] {
                end.sum += end.travel;
                end.position = end.start + step * end.sum;
                end.velocity = end.travel;
            }
        }
        (x, v, stuck)
    }
}
