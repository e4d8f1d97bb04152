//! Explicit steps of the smallest networks: one or two masses, or the arm of two hinges, with springs, profiles and dry
//! friction by bristles. All stages are one piece of code over arrays of fixed size, so that the state stays in registers
//! from step to step. The arithmetic is that of the general step, in the same order, and gives the same bytes (tested).
//!
//! Terms that are 0 by their parameters are left out: a load begins with +0.0, so adding a zero of either sign to it never
//! changes it.

use super::runge_kutta::Tableau;
use super::{NotFinite, finite};
use crate::body::TwoHinges;
use crate::element::actuator::Actuators;
use crate::element::friction::{Frictions, SteadyCurve};
use crate::element::spring::Springs;
use crate::network::port::{Coordinate, Pair};
use crate::network::signals::SignalValues;
use crate::network::stage::LoadSource;
use crate::network::{Network, NetworkState, Scratch};
use std::any::Any;
use stickslip_core::friction::curve::Curve;
use stickslip_core::friction::proxy::Proxy;

/// Most springs of a network that is taken here. It may have one driver.
const MOST_SPRINGS: usize = 4;

/// How the free coordinates of a network accelerate under their loads.
trait Bodies<const N: usize> {
    fn accelerate(&self, q: [f64; N], v: [f64; N], load: [f64; N]) -> [f64; N];
}

/// Masses and inertias: inverse mass and gravity of each.
struct Masses<const N: usize>([(f64, f64); N]);

impl<const N: usize> Bodies<N> for Masses<N> {
    #[inline(always)]
    fn accelerate(&self, _: [f64; N], _: [f64; N], load: [f64; N]) -> [f64; N] {
        std::array::from_fn(|i| {
            let (inverse_mass, gravity) = self.0[i];
            load[i] * inverse_mass + gravity
        })
    }
}

impl Bodies<2> for TwoHinges {
    #[inline(always)]
    fn accelerate(&self, q: [f64; 2], v: [f64; 2], load: [f64; 2]) -> [f64; 2] {
        TwoHinges::accelerate(self, q, v, load)
    }
}

/// A free coordinate (below `N`), the driver (`N`) or the ground (`N` + 1).
type Seat = usize;

#[derive(Clone, Copy, Default)]
struct Tie {
    /// What it connects; the first is a free coordinate.
    ends: [Seat; 2],
    stiffness: f64,
    damping: f64,
    length: f64,
}

#[derive(Clone, Copy)]
struct Rub {
    /// Whether the coordinate rubs on the driver, or else on the ground.
    on_driver: bool,
    law: Proxy<f64, true>,
    /// Whether the law uses the stage step (`proxy`) or not (`relaxed`).
    staged: bool,
    kinetic: f64,
    load: usize,
    /// Where its bristle is in the flat state.
    state: usize,
}

#[derive(Clone, Copy)]
struct Driver {
    /// Its number among all coordinates.
    number: usize,
    signal: usize,
    position: bool,
}

/// A network as a few numbers: `N` free coordinates, and at most as many frictions.
struct Plan<const N: usize> {
    /// Number of the first free coordinate among all.
    first_axis: usize,
    driver: Option<Driver>,
    ties: [Tie; MOST_SPRINGS],
    tie_count: usize,
    /// The friction of each coordinate.
    rubs: [Option<Rub>; N],
    /// Signals of applied forces and of actuators.
    applied: [Option<usize>; N],
    actuated: [Option<usize>; N],
    /// Whether anything asks for the velocity of the driver.
    driver_velocity: bool,
}

/// Free coordinates and bristles; and their rates.
#[derive(Clone, Copy)]
struct Motion<const N: usize> {
    q: [f64; N],
    v: [f64; N],
    bristle: [f64; N],
}

impl<const N: usize> Default for Motion<N> {
    fn default() -> Self {
        let zero = [0.0; N];
        Motion {
            q: zero,
            v: zero,
            bristle: zero,
        }
    }
}

/// What a step has found so far: the rate in the stage before, the weighted sum of rates, the driver in the stage before,
/// and the weighted sum of its velocities.
struct Stage<const N: usize> {
    rate: Motion<N>,
    sum: Motion<N>,
    driver: Driven,
    travel: f64,
}

/// What profiles say at one grid index.
#[derive(Clone, Copy)]
struct Given<const N: usize> {
    applied: [f64; N],
    actuated: [f64; N],
    limit: [f64; N],
    driver: f64,
    slope: f64,
}

/// The driver in a stage.
#[derive(Clone, Copy, Default)]
struct Driven {
    q: f64,
    v: f64,
}

impl<const N: usize> Plan<N> {
    const DRIVER: Seat = N;
    const GROUND: Seat = N + 1;

    /// The plan of a network whose free coordinates begin with number `first_axis`.
    fn of(network: &Network, first_axis: usize) -> Option<Self> {
        let driver = match network.drives[..] {
            [] => None,
            [drive] => Some(Driver {
                number: drive.coordinate.q,
                signal: drive.signal,
                position: drive.position,
            }),
            _ => return None,
        };
        let mut plan = Plan {
            first_axis,
            driver,
            ties: [Tie::default(); MOST_SPRINGS],
            tie_count: 0,
            rubs: [None; N],
            applied: [None; N],
            actuated: [None; N],
            driver_velocity: false,
        };
        for force in &network.forces {
            let axis = force.velocity.checked_sub(network.layout.positions + first_axis)?;
            take(plan.applied.get_mut(axis)?, force.signal)?;
        }
        // The order in which the builder puts groups, which is the order of the sums.
        let mut last = 0;
        for group in &network.elements {
            let group: &dyn Any = group.as_ref();
            let place;
            if let Some(Springs(springs)) = group.downcast_ref::<Springs<1>>() {
                place = 1;
                for spring in springs {
                    let [first, second] = plan.ends(network, &spring.pair)?;
                    // Seen from its other end a spring has the opposite stretch, velocity and force, to the last bit, if
                    // its length counts the other way.
                    let (ends, length) = if first < N {
                        ([first, second], spring.length)
                    } else {
                        ([second, first], -spring.length)
                    };
                    *plan.ties.get_mut(plan.tie_count)? = Tie {
                        ends,
                        stiffness: spring.stiffness,
                        damping: spring.damping,
                        length,
                    };
                    plan.tie_count += 1;
                    plan.driver_velocity |= spring.damping != 0.0;
                }
            } else if let Some(Actuators(actuators)) = group.downcast_ref::<Actuators>() {
                place = 2;
                for actuator in actuators {
                    let [axis, other] = plan.ends(network, &actuator.pair)?;
                    (other == Self::GROUND).then_some(())?;
                    take(plan.actuated.get_mut(axis)?, actuator.signal)?;
                }
            } else {
                place = 3;
                if let Some(frictions) = group.downcast_ref::<Frictions<Proxy<f64, true>, 1>>() {
                    plan.rub(network, frictions)?;
                } else {
                    plan.rub(network, group.downcast_ref::<Frictions<Proxy<f64, false>, 1>>()?)?;
                }
            }
            if place < last {
                return None;
            }
            last = place;
        }
        Some(plan)
    }

    /// The ends of an element whose ratios are 1, which saves products; other networks are left to the general step.
    fn ends(&self, network: &Network, pair: &Pair) -> Option<[Seat; 2]> {
        let seat = |end: Coordinate| {
            let axis = end.q.wrapping_sub(self.first_axis);
            if end == network.layout.ground() {
                Some(Self::GROUND)
            } else if axis < N {
                Some(axis)
            } else {
                self.driver
                    .is_some_and(|driver| driver.number == end.q)
                    .then_some(Self::DRIVER)
            }
        };
        let ends = [seat(pair.first)?, seat(pair.second)?];
        (pair.ratio == [1.0, 1.0] && ends[0] != ends[1] && ends.iter().any(|&end| end < N)).then_some(ends)
    }

    /// Takes up frictions between a free coordinate and what does not depend on the motion.
    fn rub<const STAGED: bool>(&mut self, network: &Network, group: &Frictions<Proxy<f64, STAGED>, 1>) -> Option<()> {
        for friction in &group.0 {
            let (SteadyCurve::Stribeck(curve), LoadSource::Signal(load)) = (&friction.curve, friction.load) else {
                return None;
            };
            let [axis, other] = self.ends(network, &friction.pair)?;
            if !Curve::<f64>::constant(curve) || other < N {
                return None;
            }
            let Proxy { stiffness, damping } = friction.law;
            let rub = Rub {
                on_driver: other == Self::DRIVER,
                law: Proxy { stiffness, damping },
                staged: STAGED,
                kinetic: curve.kinetic,
                load,
                state: friction.state,
            };
            self.driver_velocity |= rub.on_driver;
            take(self.rubs.get_mut(axis)?, rub)?;
        }
        Some(())
    }

    /// Brings the signals to a grid index.
    #[inline(always)]
    fn given(&self, network: &Network, signals: &mut SignalValues, index: u64) -> Given<N> {
        network.signals.sample(index, signals);
        let mut given = {
            let values = signals.get();
            let value = |signal: Option<usize>| signal.map_or(0.0, |signal| values[signal]);
            Given {
                applied: self.applied.map(value),
                actuated: self.actuated.map(value),
                limit: self
                    .rubs
                    .map(|rub| rub.map_or(0.0, |rub| rub.kinetic * values[rub.load].max(0.0))),
                driver: value(self.driver.map(|driver| driver.signal)),
                slope: 0.0,
            }
        };
        if let Some(driver) = self.driver
            && driver.position
            && self.driver_velocity
        {
            given.slope = network.signals.slope(driver.signal, index, signals);
        }
        given
    }

    /// Rate of the motion with the stage step `tau`.
    #[inline(always)]
    fn rate(&self, bodies: &impl Bodies<N>, at: &Motion<N>, given: &Given<N>, driver: Driven, tau: f64) -> Motion<N> {
        let mut load = [0.0; N];
        for (load, (value, signal)) in load.iter_mut().zip(given.applied.iter().zip(&self.applied)) {
            if signal.is_some() {
                *load += value;
            }
        }
        for tie in self.ties.iter().take(self.tie_count) {
            let [q1, q2] = tie.ends.map(|end| pick(&at.q, driver.q, end));
            let mut force = -tie.stiffness * (q1 - q2 - tie.length);
            if tie.damping != 0.0 {
                let [v1, v2] = tie.ends.map(|end| pick(&at.v, driver.v, end));
                force -= tie.damping * (v1 - v2);
            }
            put(&mut load, tie.ends, force);
        }
        for (load, (value, signal)) in load.iter_mut().zip(given.actuated.iter().zip(&self.actuated)) {
            if signal.is_some() {
                *load += value;
            }
        }
        let mut bristle = [0.0; N];
        for i in 0..N {
            if let Some(rub) = &self.rubs[i] {
                let mut velocity = at.v[i];
                if rub.on_driver {
                    velocity -= driver.v;
                }
                let tau = if rub.staged { tau } else { 0.0 };
                let ([force], [rate]) = rub.law.held(given.limit[i], [velocity], [at.bristle[i]], tau);
                bristle[i] = rate;
                load[i] -= force;
            }
        }
        Motion {
            q: at.v,
            v: bodies.accelerate(at.q, at.v, load),
            bristle,
        }
    }

    /// Many steps of a network that this is the plan of.
    fn run<const S: usize>(
        &self,
        tableau: &Tableau<S>,
        network: &Network,
        bodies: &impl Bodies<N>,
        NetworkState { values, step: done, .. }: &mut NetworkState,
        Scratch { trial, signals, .. }: &mut Scratch,
        steps: u64,
    ) -> Result<(), NotFinite> {
        let step = network.step;
        let (mut at, mut travelled) = self.gather(network, values);
        let mut now = self.given(network, signals, 2 * *done);
        let mut outcome = Ok(());
        for _ in 0..steps {
            let index = 2 * *done;
            let middle = if tableau.nodes.contains(&1) {
                self.given(network, signals, index + 1)
            } else {
                now
            };
            let next = self.given(network, signals, index + 2);
            let mut stage = Stage {
                rate: Motion::default(),
                sum: Motion::default(),
                driver: Driven::default(),
                travel: 0.0,
            };
            self.stage::<S, 0>(
                tableau,
                bodies,
                &mut stage,
                (&at, travelled),
                [&now, &middle, &next],
                step,
            );
            // Written out: a loop over stages would keep the state in memory.
            if S == 4 {
                self.stage::<S, 1>(
                    tableau,
                    bodies,
                    &mut stage,
                    (&at, travelled),
                    [&now, &middle, &next],
                    step,
                );
                self.stage::<S, 2>(
                    tableau,
                    bodies,
                    &mut stage,
                    (&at, travelled),
                    [&now, &middle, &next],
                    step,
                );
                self.stage::<S, 3>(
                    tableau,
                    bodies,
                    &mut stage,
                    (&at, travelled),
                    [&now, &middle, &next],
                    step,
                );
            }
            let Stage {
                rate,
                sum,
                driver,
                travel,
            } = stage;
            let weight = tableau.weights[S - 1];
            let after = at.along(step, &sum.along(weight, &rate));
            let ahead = travelled + step * (travel + weight * driver.v);
            let check = after.check() + ahead * 0.0;
            if check != 0.0 {
                outcome = self.refuse(network, after, ahead, values, trial);
                break;
            }
            (at, travelled, now) = (after, ahead, next);
            *done += 1;
        }
        self.scatter(network, at, travelled, values);
        if let Some(driver) = self.driver {
            let (q, v) = (driver.number, network.layout.positions + driver.number);
            if driver.position {
                values[q] = now.driver;
                values[v] = network.signals.slope(driver.signal, 2 * *done, signals);
            } else {
                values[v] = now.driver;
            }
        }
        outcome
    }

    /// Stage `R` of a step (seed 004, eqs 13 and 22).
    #[inline(always)]
    fn stage<const S: usize, const R: usize>(
        &self,
        tableau: &Tableau<S>,
        bodies: &impl Bodies<N>,
        Stage {
            rate,
            sum,
            driver,
            travel,
        }: &mut Stage<N>,
        (at, travelled): (&Motion<N>, f64),
        given: [&Given<N>; 3],
        step: f64,
    ) {
        let given = given[tableau.nodes[R] as usize];
        let h = step * 0.5 * tableau.nodes[R] as f64;
        let weight = if R == 0 { 0.0 } else { tableau.weights[R - 1] };
        let mut trial = *at;
        if R > 0 {
            trial = at.along(h, rate);
            *sum = sum.along(weight, rate);
        }
        if self.driver.is_some_and(|driver| driver.position) {
            (driver.q, driver.v) = (given.driver, given.slope);
        } else {
            // Its velocity is prescribed, its position integrated with the velocity of the stage before.
            driver.q = travelled + h * driver.v;
            *travel += weight * driver.v;
            driver.v = given.driver;
        }
        *rate = self.rate(bodies, &trial, given, *driver, step * tableau.steps[R]);
    }

    /// The motion in a flat state, and the position of the driver.
    fn gather(&self, network: &Network, values: &[f64]) -> (Motion<N>, f64) {
        let q = self.first_axis;
        let v = network.layout.positions + q;
        let motion = Motion {
            q: std::array::from_fn(|i| values[q + i]),
            v: std::array::from_fn(|i| values[v + i]),
            bristle: self.rubs.map(|rub| rub.map_or(0.0, |rub| values[rub.state])),
        };
        (motion, self.driver.map_or(0.0, |driver| values[driver.number]))
    }

    /// Not inlined and by value, so that the motion need not be in memory before.
    #[inline(never)]
    fn scatter(&self, network: &Network, motion: Motion<N>, travelled: f64, values: &mut [f64]) {
        let q = self.first_axis;
        let v = network.layout.positions + q;
        values[q..q + N].copy_from_slice(&motion.q);
        values[v..v + N].copy_from_slice(&motion.v);
        for (rub, bristle) in self.rubs.iter().zip(motion.bristle) {
            if let Some(rub) = rub {
                values[rub.state] = bristle;
            }
        }
        if let Some(driver) = self.driver {
            values[driver.number] = travelled;
        }
    }

    /// Says which number of a step is not finite.
    #[cold]
    #[inline(never)]
    fn refuse(
        &self,
        network: &Network,
        after: Motion<N>,
        travelled: f64,
        values: &[f64],
        trial: &mut [f64],
    ) -> Result<(), NotFinite> {
        trial.copy_from_slice(values);
        self.scatter(network, after, travelled, trial);
        finite(f64::NAN, &trial[..network.layout.integrated()])
    }
}

impl<const N: usize> Motion<N> {
    /// The motion `h` further on at a rate.
    #[inline(always)]
    fn along(&self, h: f64, rate: &Motion<N>) -> Motion<N> {
        Motion {
            q: std::array::from_fn(|i| self.q[i] + h * rate.q[i]),
            v: std::array::from_fn(|i| self.v[i] + h * rate.v[i]),
            bristle: std::array::from_fn(|i| self.bristle[i] + h * rate.bristle[i]),
        }
    }

    /// 0 if every number is finite, otherwise not a number.
    #[inline(always)]
    fn check(&self) -> f64 {
        let all = |numbers: &[f64; N]| numbers.iter().map(|x| x * 0.0).sum::<f64>();
        all(&self.q) + all(&self.v) + all(&self.bristle)
    }
}

/// Many steps, if the network is one of those that are known here.
pub(super) fn run<const S: usize>(
    tableau: &Tableau<S>,
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    steps: u64,
) -> Option<Result<(), NotFinite>> {
    let layout = &network.layout;
    if layout.positions != layout.scalars() || !network.own_bodies.is_empty() {
        return None;
    }
    match (layout.masses, &network.linkages[..]) {
        (1, []) => masses::<1, S>(tableau, network, state, scratch, steps),
        (2, []) => masses::<2, S>(tableau, network, state, scratch, steps),
        (0, [arm]) if !arm.placed => {
            let bodies = arm.body.two_hinges()?;
            let plan = Plan::<2>::of(network, layout.drivers)?;
            Some(plan.run(tableau, network, bodies, state, scratch, steps))
        }
        _ => None,
    }
}

fn masses<const N: usize, const S: usize>(
    tableau: &Tableau<S>,
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    steps: u64,
) -> Option<Result<(), NotFinite>> {
    let bodies = Masses::<N>(std::array::from_fn(|i| (network.inverse_mass[i], network.gravity[i])));
    let plan = Plan::<N>::of(network, 0)?;
    Some(plan.run(tableau, network, &bodies, state, scratch, steps))
}

/// Takes up the only thing of its kind on a coordinate.
fn take<T>(slot: &mut Option<T>, item: T) -> Option<()> {
    slot.replace(item).is_none().then_some(())
}

/// The number at a seat. Comparing is quicker than indexing, which would need the numbers in memory.
#[inline(always)]
fn pick<const N: usize>(own: &[f64; N], driver: f64, seat: Seat) -> f64 {
    for (i, value) in own.iter().enumerate() {
        if seat == i {
            return *value;
        }
    }
    if seat == N { driver } else { 0.0 }
}

/// Adds a force on the first of two seats and its reaction on the second.
#[inline(always)]
fn put<const N: usize>(load: &mut [f64; N], [first, second]: [Seat; 2], force: f64) {
    for (i, load) in load.iter_mut().enumerate() {
        if first == i {
            *load += force;
        } else if second == i {
            *load -= force;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Simulation;
    use crate::integrate::runge_kutta::RK4;
    use crate::scenario::Scenario;

    /// The works that are measured take this path.
    #[test]
    fn the_block_and_the_arm_are_known() {
        for (name, known) in [("w1-rk4", true), ("w2", true), ("w2-stiff", true), ("w3-rk4", false)] {
            let path = format!("{}/../../benches/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let scenario = Scenario::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
            let network = &simulation.built().network;
            let (mut state, mut scratch) = (network.initial_state(), network.scratch());
            let outcome = super::run(&RK4, network, &mut state, &mut scratch, 10);
            assert_eq!(outcome, known.then_some(Ok(())), "{name}");
            assert_eq!(state.step, if known { 10 } else { 0 });
        }
    }
}
