//! Explicit steps of the smallest networks: one or two masses, or the arm of two hinges, with springs, profiles and dry
//! friction by bristles. All stages are one piece of code over arrays of fixed size, so that the state stays in registers
//! from step to step. The arithmetic is that of the general step, in the same order, and gives the same bytes (tested). It is
//! written once, for one run or for several masses side by side (lanes).
//!
//! Terms that are 0 by their parameters are left out: a load begins with +0.0, so adding a zero of either sign to it never
//! changes it.

pub(super) mod lanes;

use super::runge_kutta::Tableau;
use super::{NotFinite, Work, finite};
use crate::body::TwoHinges;
use crate::element::Mode;
use crate::element::actuator::Actuators;
use crate::element::curve::SteadyCurve;
use crate::element::friction::Frictions;
use crate::element::spring::Springs;
use crate::network::port::{Coordinate, Pair};
use crate::network::signals::SignalValues;
use crate::network::stage::LoadSource;
use crate::network::{Network, NetworkState, Scratch};
use crate::tally::{Change, Spell, Tallies, Trend};
use std::any::Any;
use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::dahl::Dahl;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::{Bristle, Slip};
use stickslip_core::scalar::Real;

/// Most springs of a network that is taken here. It may have one driver.
const MOST_SPRINGS: usize = 4;

/// How the free coordinates of a network accelerate under their loads.
trait Bodies<R, const N: usize> {
    fn accelerate(&self, q: [R; N], v: [R; N], load: [R; N]) -> [R; N];
}

/// Masses and inertias: inverse mass and gravity of each.
#[derive(Clone, Copy)]
struct Masses<R, const N: usize>([(R, R); N]);

impl<R: Real, const N: usize> Bodies<R, N> for Masses<R, N> {
    #[inline(always)]
    fn accelerate(&self, _: [R; N], _: [R; N], load: [R; N]) -> [R; N] {
        std::array::from_fn(|i| {
            let (inverse_mass, gravity) = self.0[i];
            load[i] * inverse_mass + gravity
        })
    }
}

impl Bodies<f64, 2> for TwoHinges {
    #[inline(always)]
    fn accelerate(&self, q: [f64; 2], v: [f64; 2], load: [f64; 2]) -> [f64; 2] {
        TwoHinges::accelerate(self, q, v, load)
    }
}

impl<const N: usize> Masses<f64, N> {
    fn of(network: &Network) -> Self {
        Masses(std::array::from_fn(|i| (network.inverse_mass[i], network.gravity[i])))
    }
}

/// A free coordinate (below `N`), the driver (`N`) or the ground (`N` + 1).
type Seat = usize;

#[derive(Clone, Copy)]
struct Tie<R> {
    /// What it connects; the first is a free coordinate.
    ends: [Seat; 2],
    stiffness: R,
    damping: R,
    length: R,
    damped: bool,
    element: usize,
    /// 1 if it is seen from its own first end, else −1.
    toward: f64,
}

/// A law of friction with one bristle.
trait Law<R: Real>: Copy {
    /// Resisting force and rate of the bristle under a load; `tau` is the stage step.
    fn resist(&self, load: R, velocity: R, bristle: R, tau: R) -> (R, R);
}

/// A law that tells whether it sticks.
trait Sticks: Law<f64> {
    fn sticks(&self, load: f64, velocity: f64, bristle: f64) -> bool;
}

impl Sticks for Dry<f64> {
    #[inline(always)]
    fn sticks(&self, load: f64, velocity: f64, bristle: f64) -> bool {
        (velocity * self.law.damping + bristle * self.law.stiffness).abs() < load
    }
}

/// Dry friction by `proxy`, which uses the stage step, or `relaxed`, which does not. Its load is the friction force.
#[derive(Clone, Copy)]
struct Dry<R> {
    law: Proxy<R, true>,
    staged: bool,
}

impl<R: Real> Law<R> for Dry<R> {
    #[inline(always)]
    fn resist(&self, load: R, velocity: R, bristle: R, tau: R) -> (R, R) {
        let tau = if self.staged { tau } else { R::zero() };
        let ([force], [rate]) = self.law.held(load, [velocity], [bristle], tau);
        (force, rate)
    }
}

/// `lugre`, or `dahl`, which is the same without damping.
#[derive(Clone, Copy)]
struct Worn<R> {
    law: Lugre<R>,
    curve: Stribeck<R>,
    /// Stage step where forces are only looked at.
    step: R,
}

impl<R: Real> Law<R> for Worn<R> {
    /// Not part of the loop over steps: four stages of exponentials would make it very long.
    #[inline(never)]
    fn resist(&self, load: R, velocity: R, bristle: R, tau: R) -> (R, R) {
        let slip = Slip {
            velocity: [velocity],
            load,
        };
        let mut rate = [R::zero()];
        let tau = R::select(R::zero().lt(tau), tau, self.step);
        let [force] = self.law.respond(&self.curve, &slip, &[bristle], tau, &mut rate);
        (-force, rate[0])
    }
}

#[derive(Clone, Copy)]
struct Rub<L> {
    /// Whether the coordinate rubs on the driver, or else on the ground.
    on_driver: bool,
    law: L,
    /// What the load is multiplied with: the friction force where the law wants that, else 1.
    factor: f64,
    load: usize,
    /// Where its bristle is in the flat state.
    state: usize,
    element: usize,
}

const NO_TIE: Tie<f64> = Tie {
    ends: [0; 2],
    stiffness: 0.0,
    damping: 0.0,
    length: 0.0,
    damped: false,
    element: 0,
    toward: 1.0,
};

#[derive(Clone, Copy)]
struct Driver {
    /// Its number among all coordinates.
    number: usize,
    signal: usize,
    position: bool,
}

/// A network as a few numbers: `N` free coordinates, and at most as many frictions.
#[derive(Clone, Copy)]
struct Plan<R, L, const N: usize> {
    /// Number of the first free coordinate among all.
    first_axis: usize,
    driver: Option<Driver>,
    ties: [Tie<R>; MOST_SPRINGS],
    tie_count: usize,
    /// The friction of each coordinate.
    rubs: [Option<Rub<L>>; N],
    /// Signals of applied forces and of actuators.
    applied: [Option<usize>; N],
    actuated: [Option<usize>; N],
    /// Elements of the actuators.
    motors: [usize; N],
    /// Whether anything asks for the velocity of the driver.
    driver_velocity: bool,
}

/// Forces in a stage: loads of the coordinates, rates of the bristles, what springs and frictions do, load of the driver.
#[derive(Clone, Copy)]
struct Forces<R, const N: usize> {
    load: [R; N],
    bristle: [R; N],
    ties: [R; MOST_SPRINGS],
    rubs: [R; N],
    driver: R,
}

/// Free coordinates and bristles; and their rates.
#[derive(Clone, Copy)]
struct Motion<R, const N: usize> {
    q: [R; N],
    v: [R; N],
    bristle: [R; N],
}

impl<R: Real, const N: usize> Default for Motion<R, N> {
    fn default() -> Self {
        let zero = [R::zero(); N];
        Motion {
            q: zero,
            v: zero,
            bristle: zero,
        }
    }
}

/// What a step has found so far: the rate in the stage before, the weighted sum of rates, the driver in the stage before,
/// and the weighted sum of its velocities.
struct Stage<R, const N: usize> {
    rate: Motion<R, N>,
    sum: Motion<R, N>,
    driver: Driven<R>,
    travel: R,
}

/// What profiles say at one grid index.
#[derive(Clone, Copy)]
struct Given<R, const N: usize> {
    applied: [R; N],
    actuated: [R; N],
    load: [R; N],
    driver: R,
    slope: R,
}

/// The driver in a stage.
#[derive(Clone, Copy)]
struct Driven<R> {
    q: R,
    v: R,
}

/// A law that a group of frictions may have here.
trait Group: Sized {
    /// Takes up frictions, if the group is one of this law.
    fn take_up<const N: usize>(plan: &mut Plan<f64, Self, N>, network: &Network, group: &dyn Any) -> Option<()>;
}

impl Group for Dry<f64> {
    fn take_up<const N: usize>(plan: &mut Plan<f64, Self, N>, network: &Network, group: &dyn Any) -> Option<()> {
        if let Some(group) = group.downcast_ref::<Frictions<Proxy<f64, true>, 1>>() {
            plan.rub(network, group, |law, curve| dry(law, true, curve))
        } else {
            let group = group.downcast_ref::<Frictions<Proxy<f64, false>, 1>>()?;
            plan.rub(network, group, |law, curve| dry(law, false, curve))
        }
    }
}

fn dry<const STAGED: bool>(
    Proxy { stiffness, damping }: Proxy<f64, STAGED>,
    staged: bool,
    curve: &Stribeck<f64>,
) -> Option<(Dry<f64>, f64)> {
    let law = Proxy { stiffness, damping };
    Curve::<f64>::constant(curve).then_some((Dry { law, staged }, curve.kinetic))
}

impl Group for Worn<f64> {
    fn take_up<const N: usize>(plan: &mut Plan<f64, Self, N>, network: &Network, group: &dyn Any) -> Option<()> {
        if let Some(group) = group.downcast_ref::<Frictions<Lugre<f64>, 1>>() {
            let step = network.step;
            plan.rub(network, group, |law, &curve| Some((Worn { law, curve, step }, 1.0)))
        } else {
            let group = group.downcast_ref::<Frictions<Dahl<f64>, 1>>()?;
            plan.rub(network, group, |law, &curve| {
                Some((
                    Worn {
                        law: law.as_lugre(),
                        curve,
                        step: network.step,
                    },
                    1.0,
                ))
            })
        }
    }
}

impl<R, L, const N: usize> Plan<R, L, N> {
    const DRIVER: Seat = N;
    const GROUND: Seat = N + 1;
}

impl<R: Real, L: Law<R>, const N: usize> Plan<R, L, N> {
    /// Rate of the motion with the stage step `tau`, and the forces that make it.
    #[inline(always)]
    fn rate(
        &self,
        bodies: &impl Bodies<R, N>,
        at: &Motion<R, N>,
        given: &Given<R, N>,
        driver: Driven<R>,
        tau: R,
    ) -> (Motion<R, N>, Forces<R, N>) {
        let felt = self.forces(at, given, driver, tau);
        let rate = Motion {
            q: at.v,
            v: bodies.accelerate(at.q, at.v, felt.load),
            bristle: felt.bristle,
        };
        (rate, felt)
    }

    /// Forces with the stage step `tau`.
    #[inline(always)]
    fn forces(&self, at: &Motion<R, N>, given: &Given<R, N>, driver: Driven<R>, tau: R) -> Forces<R, N> {
        let mut load = [R::zero(); N];
        let (mut ties, mut rubs, mut on_driver) = ([R::zero(); MOST_SPRINGS], [R::zero(); N], R::zero());
        for (load, (value, signal)) in load.iter_mut().zip(given.applied.iter().zip(&self.applied)) {
            if signal.is_some() {
                *load += *value;
            }
        }
        for (tie, felt) in self.ties.iter().zip(&mut ties).take(self.tie_count) {
            let [q1, q2] = tie.ends.map(|end| pick(&at.q, driver.q, end));
            let mut force = -tie.stiffness * (q1 - q2 - tie.length);
            if tie.damped {
                let [v1, v2] = tie.ends.map(|end| pick(&at.v, driver.v, end));
                force -= tie.damping * (v1 - v2);
            }
            put(&mut load, tie.ends, force);
            *felt = force;
            if tie.ends[1] == Self::DRIVER {
                on_driver -= force;
            }
        }
        for (load, (value, signal)) in load.iter_mut().zip(given.actuated.iter().zip(&self.actuated)) {
            if signal.is_some() {
                *load += *value;
            }
        }
        let mut bristle = [R::zero(); N];
        for i in 0..N {
            if let Some(rub) = &self.rubs[i] {
                let mut velocity = at.v[i];
                if rub.on_driver {
                    velocity -= driver.v;
                }
                let (force, rate) = rub.law.resist(given.load[i], velocity, at.bristle[i], tau);
                bristle[i] = rate;
                load[i] -= force;
                rubs[i] = -force;
                if rub.on_driver {
                    on_driver += force;
                }
            }
        }
        Forces {
            load,
            bristle,
            ties,
            rubs,
            driver: on_driver,
        }
    }

    /// One step: the motion and the position of the driver at its end.
    #[inline(always)]
    fn step<const S: usize>(
        &self,
        tableau: &Tableau<S>,
        bodies: &impl Bodies<R, N>,
        at: (&Motion<R, N>, R),
        given: [&Given<R, N>; 3],
        step: f64,
        note: &mut impl Note<R, L, N>,
    ) -> (Motion<R, N>, R) {
        let still = Driven {
            q: R::zero(),
            v: R::zero(),
        };
        let mut stage = Stage {
            rate: Motion::default(),
            sum: Motion::default(),
            driver: still,
            travel: R::zero(),
        };
        self.stage::<S, 0>(tableau, bodies, &mut stage, at, given, step, note);
        // Written out: a loop over stages would keep the state in memory.
        if S == 4 {
            self.stage::<S, 1>(tableau, bodies, &mut stage, at, given, step, note);
            self.stage::<S, 2>(tableau, bodies, &mut stage, at, given, step, note);
            self.stage::<S, 3>(tableau, bodies, &mut stage, at, given, step, note);
        }
        let Stage {
            rate,
            sum,
            driver,
            travel,
        } = stage;
        let (weight, step) = (R::lit(tableau.weights[S - 1]), R::lit(step));
        let after = at.0.along(step, &sum.along(weight, &rate));
        (after, at.1 + step * (travel + weight * driver.v))
    }

    /// Stage `STAGE` of a step (the paper on modular simulation, eqs 13 and 22). `note` is shown its motion, its forces and how long they count.
    #[allow(clippy::too_many_arguments)] // What a stage is made of.
    #[inline(always)]
    fn stage<const S: usize, const STAGE: usize>(
        &self,
        tableau: &Tableau<S>,
        bodies: &impl Bodies<R, N>,
        Stage {
            rate,
            sum,
            driver,
            travel,
        }: &mut Stage<R, N>,
        (at, travelled): (&Motion<R, N>, R),
        given: [&Given<R, N>; 3],
        step: f64,
        note: &mut impl Note<R, L, N>,
    ) {
        let given = given[tableau.nodes[STAGE] as usize];
        let h = R::lit(step * 0.5 * tableau.nodes[STAGE] as f64);
        let weight = R::lit(if STAGE == 0 { 0.0 } else { tableau.weights[STAGE - 1] });
        let mut trial = *at;
        if STAGE > 0 {
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
        let felt;
        (*rate, felt) = self.rate(bodies, &trial, given, *driver, R::lit(step * tableau.steps[STAGE]));
        note.stage(self, &trial, given, *driver, &felt, step * tableau.weights[STAGE]);
    }
}

impl<L: Group + Law<f64>, const N: usize> Plan<f64, L, N> {
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
            ties: [NO_TIE; MOST_SPRINGS],
            tie_count: 0,
            rubs: [None; N],
            applied: [None; N],
            actuated: [None; N],
            motors: [0; N],
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
                        damped: spring.damping != 0.0,
                        element: spring.element,
                        toward: if first < N { 1.0 } else { -1.0 },
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
                    plan.motors[axis] = actuator.element;
                }
            } else {
                place = 3;
                L::take_up(&mut plan, network, group)?;
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

    /// Takes up frictions between a free coordinate and what does not depend on the motion. `law` gives a law and what its
    /// load is multiplied with.
    fn rub<B: Copy>(
        &mut self,
        network: &Network,
        group: &Frictions<B, 1>,
        law: impl Fn(B, &Stribeck<f64>) -> Option<(L, f64)>,
    ) -> Option<()> {
        for friction in &group.0 {
            let (SteadyCurve::Stribeck(curve), LoadSource::Signal(load)) = (&friction.curve, friction.load) else {
                return None;
            };
            let [axis, other] = self.ends(network, &friction.pair)?;
            if other < N {
                return None;
            }
            let (law, factor) = law(friction.law, curve)?;
            let rub = Rub {
                on_driver: other == Self::DRIVER,
                law,
                factor,
                load,
                state: friction.state,
                element: friction.element,
            };
            self.driver_velocity |= rub.on_driver;
            take(self.rubs.get_mut(axis)?, rub)?;
        }
        Some(())
    }

    /// Brings the signals to a grid index.
    #[inline(always)]
    fn given(&self, network: &Network, signals: &mut SignalValues, index: u64) -> Given<f64, N> {
        network.signals.sample(index, signals);
        let mut given = {
            let values = signals.get();
            let value = |signal: Option<usize>| signal.map_or(0.0, |signal| values[signal]);
            Given {
                applied: self.applied.map(value),
                actuated: self.actuated.map(value),
                load: self
                    .rubs
                    .map(|rub| rub.map_or(0.0, |rub| rub.factor * values[rub.load].max(0.0))),
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

    /// Many steps of a network that this is the plan of.
    fn run<const S: usize>(
        &self,
        tableau: &Tableau<S>,
        network: &Network,
        bodies: &impl Bodies<f64, N>,
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
            let given = [&now, &middle, &next];
            let (after, ahead) = self.step(tableau, bodies, (&at, travelled), given, step, &mut ());
            let check = after.check() + ahead * 0.0;
            if check != 0.0 {
                outcome = self.refuse(network, after, ahead, values, trial);
                break;
            }
            (at, travelled, now) = (after, ahead, next);
            *done += 1;
        }
        let done = *done;
        self.scatter(network, at, travelled, values);
        self.place_driver(network, values, done, now.driver, signals);
        outcome
    }

    /// Sets the driver to its profile after so many steps.
    fn place_driver(&self, network: &Network, values: &mut [f64], done: u64, profile: f64, signals: &mut SignalValues) {
        if let Some(driver) = self.driver {
            let (q, v) = (driver.number, network.layout.positions + driver.number);
            if driver.position {
                values[q] = profile;
                values[v] = network.signals.slope(driver.signal, 2 * done, signals);
            } else {
                values[v] = profile;
            }
        }
    }

    /// The motion in a flat state, and the position of the driver.
    fn gather(&self, network: &Network, values: &[f64]) -> (Motion<f64, N>, f64) {
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
    fn scatter(&self, network: &Network, motion: Motion<f64, N>, travelled: f64, values: &mut [f64]) {
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
        after: Motion<f64, N>,
        travelled: f64,
        values: &[f64],
        trial: &mut [f64],
    ) -> Result<(), NotFinite> {
        trial.copy_from_slice(values);
        self.scatter(network, after, travelled, trial);
        finite(f64::NAN, &trial[..network.layout.integrated()])
    }
}

impl<R: Real, const N: usize> Motion<R, N> {
    /// The motion `h` further on at a rate.
    #[inline(always)]
    fn along(&self, h: R, rate: &Motion<R, N>) -> Motion<R, N> {
        Motion {
            q: std::array::from_fn(|i| self.q[i] + h * rate.q[i]),
            v: std::array::from_fn(|i| self.v[i] + h * rate.v[i]),
            bristle: std::array::from_fn(|i| self.bristle[i] + h * rate.bristle[i]),
        }
    }
}

impl<const N: usize> Motion<f64, N> {
    /// 0 if every number is finite, otherwise not a number.
    #[inline(always)]
    fn check(&self) -> f64 {
        let all = |numbers: &[f64; N]| numbers.iter().map(|x| x * 0.0).sum::<f64>();
        all(&self.q) + all(&self.v) + all(&self.bristle)
    }
}

/// Looks at every stage. A trait: a closure would not always be inlined.
trait Note<R, L, const N: usize> {
    /// The motion of a stage, its forces, and how long they count.
    fn stage(
        &mut self,
        plan: &Plan<R, L, N>,
        at: &Motion<R, N>,
        given: &Given<R, N>,
        driver: Driven<R>,
        felt: &Forces<R, N>,
        share: f64,
    );
}

/// Nobody looks.
impl<R, L, const N: usize> Note<R, L, N> for () {
    #[inline(always)]
    fn stage(&mut self, _: &Plan<R, L, N>, _: &Motion<R, N>, _: &Given<R, N>, _: Driven<R>, _: &Forces<R, N>, _: f64) {}
}

/// What the report keeps of an element over some steps: the energy it delivered, and its force.
#[derive(Clone, Copy, Default)]
struct Account {
    delivered: f64,
    trend: Trend,
}

/// What the report keeps of a network over some steps.
#[derive(Clone, Copy)]
struct Book<const N: usize> {
    input: f64,
    ties: [Account; MOST_SPRINGS],
    motors: [Account; N],
    rubs: [Account; N],
    spells: [Spell; N],
}

impl<const N: usize> Book<N> {
    fn open<L>(plan: &Plan<f64, L, N>, work: &Work, tallies: &Tallies) -> Self {
        let account = |element: usize, toward: f64| Account {
            delivered: work.delivered[element],
            trend: tallies.trend(element, toward),
        };
        let springs = plan.tie_count;
        Book {
            input: work.input,
            ties: std::array::from_fn(|i| match plan.ties[i] {
                tie if i < springs => account(tie.element, tie.toward),
                _ => Account::default(),
            }),
            motors: std::array::from_fn(|i| match plan.actuated[i] {
                Some(_) => account(plan.motors[i], 1.0),
                None => Account::default(),
            }),
            rubs: std::array::from_fn(|i| {
                let rub = plan.rubs[i].as_ref();
                rub.map_or(Account::default(), |rub| account(rub.element, 1.0))
            }),
            spells: std::array::from_fn(|i| tallies.spell(plan.rubs[i].as_ref().map_or(0, |rub| rub.element))),
        }
    }

    /// Puts the sums back; changes of mode are in the list already, from the place `marked` on.
    fn close<L>(&self, plan: &Plan<f64, L, N>, work: &mut Work, tallies: &mut Tallies, marked: usize) {
        work.input = self.input;
        let mut put = |element: usize, toward: f64, account: &Account| {
            work.delivered[element] = account.delivered;
            tallies.add_trend(element, toward, &account.trend);
        };
        for (tie, account) in plan.ties.iter().zip(&self.ties).take(plan.tie_count) {
            put(tie.element, tie.toward, account);
        }
        for i in 0..N {
            if plan.actuated[i].is_some() {
                put(plan.motors[i], 1.0, &self.motors[i]);
            }
            if let Some(rub) = &plan.rubs[i] {
                put(rub.element, 1.0, &self.rubs[i]);
            }
        }
        for (spell, _) in self.spells.iter().zip(&plan.rubs).filter(|(_, rub)| rub.is_some()) {
            tallies.add_spell(spell, marked);
        }
    }

    /// Forces and modes at the end of a step, the `number`th of the run.
    #[inline(always)]
    fn end<L: Sticks>(
        &mut self,
        plan: &Plan<f64, L, N>,
        at: &Motion<f64, N>,
        given: &Given<f64, N>,
        driver: Driven<f64>,
        number: u64,
        changes: &mut Vec<Change>,
    ) {
        let (felt, before) = (plan.forces(at, given, driver, 0.0), changes.len());
        for (account, force) in self.ties.iter_mut().zip(felt.ties).take(plan.tie_count) {
            account.trend.note(force);
        }
        for i in 0..N {
            if plan.actuated[i].is_some() {
                self.motors[i].trend.note(given.actuated[i]);
            }
            if let Some(rub) = &plan.rubs[i] {
                self.rubs[i].trend.note(felt.rubs[i]);
                let velocity = if rub.on_driver { at.v[i] - driver.v } else { at.v[i] };
                let sticks = rub.law.sticks(given.load[i], velocity, at.bristle[i]);
                self.spells[i].note(Mode::stuck(sticks), number, changes);
            }
        }
        // Changes of one step are in the order of elements.
        if changes.len() > before + 1 {
            changes[before..].sort_unstable_by_key(|change| change.element);
        }
    }
}

impl<L, const N: usize> Note<f64, L, N> for Book<N> {
    /// Energies of a stage that counts for so long.
    #[inline(always)]
    fn stage(
        &mut self,
        plan: &Plan<f64, L, N>,
        at: &Motion<f64, N>,
        given: &Given<f64, N>,
        driver: Driven<f64>,
        felt: &Forces<f64, N>,
        share: f64,
    ) {
        for (i, tie) in plan.ties.iter().enumerate().take(plan.tie_count) {
            let [v1, v2] = tie.ends.map(|end| pick(&at.v, driver.v, end));
            self.ties[i].delivered += share * (felt.ties[i] * (v1 - v2));
        }
        let (mut applied, mut actuated) = (0.0, 0.0);
        for i in 0..N {
            if plan.applied[i].is_some() {
                applied += given.applied[i] * at.v[i];
            }
            if plan.actuated[i].is_some() {
                let power = given.actuated[i] * at.v[i];
                self.motors[i].delivered += share * power;
                actuated += power;
            }
            if let Some(rub) = &plan.rubs[i] {
                let velocity = if rub.on_driver { at.v[i] - driver.v } else { at.v[i] };
                self.rubs[i].delivered += share * (felt.rubs[i] * velocity);
            }
        }
        let driven = if plan.driver.is_some() {
            -felt.driver * driver.v
        } else {
            0.0
        };
        self.input += share * (driven + applied + actuated);
    }
}

impl<L: Group + Sticks, const N: usize> Plan<f64, L, N> {
    /// Many steps of which the report keeps its sums; none of them, and 0, if a number does not stay finite.
    #[allow(clippy::too_many_arguments)] // Those of a run, and the report.
    fn run_tallied<const S: usize>(
        &self,
        tableau: &Tableau<S>,
        network: &Network,
        bodies: &impl Bodies<f64, N>,
        NetworkState { values, step: done, .. }: &mut NetworkState,
        Scratch { signals, .. }: &mut Scratch,
        (work, tallies): (&mut Work, &mut Tallies),
        steps: u64,
    ) -> u64 {
        let plan = &Plan {
            driver_velocity: true,
            ..*self
        };
        let (step, start, marked) = (network.step, *done, tallies.changes.len());
        let mut book = Book::open(plan, work, tallies);
        let (mut at, mut travelled) = plan.gather(network, values);
        let mut now = plan.given(network, signals, 2 * start);
        for number in start..start + steps {
            let index = 2 * number;
            let middle = if tableau.nodes.contains(&1) {
                plan.given(network, signals, index + 1)
            } else {
                now
            };
            let next = plan.given(network, signals, index + 2);
            let given = [&now, &middle, &next];
            (at, travelled) = plan.step(tableau, bodies, (&at, travelled), given, step, &mut book);
            now = next;
            let driver = match plan.driver {
                Some(driver) if driver.position => Driven {
                    q: next.driver,
                    v: next.slope,
                },
                _ => Driven {
                    q: travelled,
                    v: next.driver,
                },
            };
            book.end(plan, &at, &next, driver, number + 1, &mut tallies.changes);
        }
        // What has become infinite or undefined never becomes finite again. A profile that is not finite is left to the general step.
        let check = at.check() + travelled * 0.0 + book.input * 0.0;
        if check != 0.0 || signals.broken().is_some() {
            tallies.changes.truncate(marked);
            signals.forgive();
            signals.begin_anew();
            return 0;
        }
        book.close(plan, work, tallies, marked);
        *done += steps;
        plan.scatter(network, at, travelled, values);
        plan.place_driver(network, values, *done, now.driver, signals);
        steps
    }
}

/// The plan of a network that is one of those known here.
pub(crate) struct Small(Kind);

enum Kind {
    One(Plan<f64, Dry<f64>, 1>),
    Two(Plan<f64, Dry<f64>, 2>),
    Arm(Plan<f64, Dry<f64>, 2>),
}

impl Small {
    /// The plan of a network.
    pub(crate) fn of(network: &Network) -> Option<Self> {
        let layout = &network.layout;
        if layout.positions != layout.scalars() || !network.own_bodies.is_empty() {
            return None;
        }
        let kind = match (layout.masses, &network.linkages[..]) {
            (1, []) => Plan::of(network, 0).map(Kind::One),
            (2, []) => Plan::of(network, 0).map(Kind::Two),
            (0, [arm]) if !arm.placed && arm.body.two_hinges().is_some() => {
                Plan::of(network, layout.drivers).map(Kind::Arm)
            }
            _ => None,
        };
        kind.map(Small)
    }

    /// Whether the work of every element is a product of one force with one velocity, as the report takes it here.
    fn one_force_each(&self, network: &Network) -> bool {
        let motors: &[usize] = match &self.0 {
            Kind::One(_) => &[],
            Kind::Two(plan) | Kind::Arm(plan) => match plan.actuated {
                [Some(_), Some(_)] => &plan.motors,
                _ => &[],
            },
        };
        let forces: Vec<usize> = network.forces.iter().map(|force| force.velocity).collect();
        motors.windows(2).all(|pair| pair[0] != pair[1]) && forces.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Many steps of which the report keeps its sums; how many were done.
    pub(super) fn run_tallied<const S: usize>(
        &self,
        tableau: &Tableau<S>,
        network: &Network,
        state: &mut NetworkState,
        scratch: &mut Scratch,
        report: (&mut Work, &mut Tallies),
        steps: u64,
    ) -> u64 {
        if scratch.signals.broken().is_some() || !self.one_force_each(network) {
            return 0;
        }
        match &self.0 {
            Kind::One(plan) => plan.run_tallied(tableau, network, &Masses::of(network), state, scratch, report, steps),
            Kind::Two(plan) => plan.run_tallied(tableau, network, &Masses::of(network), state, scratch, report, steps),
            Kind::Arm(plan) => match network.linkages.first().and_then(|arm| arm.body.two_hinges()) {
                Some(arm) => plan.run_tallied(tableau, network, arm, state, scratch, report, steps),
                None => 0,
            },
        }
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
    Some(match &super::fused(network)?.0 {
        Kind::One(plan) => plan.run(tableau, network, &Masses::of(network), state, scratch, steps),
        Kind::Two(plan) => plan.run(tableau, network, &Masses::of(network), state, scratch, steps),
        Kind::Arm(plan) => {
            let arm = network.linkages.first()?.body.two_hinges()?;
            plan.run(tableau, network, arm, state, scratch, steps)
        }
    })
}

/// Takes up the only thing of its kind on a coordinate.
fn take<T>(slot: &mut Option<T>, item: T) -> Option<()> {
    slot.replace(item).is_none().then_some(())
}

/// The number at a seat. Comparing is quicker than indexing, which would need the numbers in memory.
#[inline(always)]
fn pick<R: Real, const N: usize>(own: &[R; N], driver: R, seat: Seat) -> R {
    for (i, value) in own.iter().enumerate() {
        if seat == i {
            return *value;
        }
    }
    if seat == N { driver } else { R::zero() }
}

/// Adds a force on the first of two seats and its reaction on the second.
#[inline(always)]
fn put<R: Real, const N: usize>(load: &mut [R; N], [first, second]: [Seat; 2], force: R) {
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
