//! The implicit step of a network with one free coordinate: a block, a shaft or a slider with springs to the ground and
//! to drivers, applied forces, and friction on the ground or on a driver. It is the commonest system of all with friction.
//!
//! Between two changes of a profile only the coordinate and the drivers move. The step is written once, for one run or
//! for several side by side (lanes); its arithmetic is that of the general step, in the same order, and gives the same
//! bytes (tested).

use super::lanes::{Lane, WIDTH, fence};
use crate::element::friction::{Friction, Frictions, Implicit, SteadyCurve};
use crate::element::spring::{Spring, Springs};
use crate::network::port::{Coordinate, Pair};
use crate::network::stage::LoadSource;
use crate::network::{Network, NetworkState, Scratch};
use multiversion::multiversion;
use std::any::Any;
use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::implicit::resolve;
use stickslip_core::scalar::{LaneMask, Lanes, Real};

/// Most drivers and springs of a network that is taken here.
const MOST_DRIVERS: usize = 4;
const MOST_SPRINGS: usize = 4;

/// The other end of a spring or a friction: a driver by its number, or the ground.
type End = usize;
const GROUND: End = MOST_DRIVERS;

/// Which terms the step has. Terms that are 0 and factors that are 1 by their parameters, in all lanes, are left out: that
/// changes no bit, and the next step need not wait for them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    drivers: usize,
    springs: usize,
    ends: [End; MOST_SPRINGS],
    damped: bool,
    long: bool,
    pushed: bool,
    heavy: bool,
    /// Some mass is not 1.
    massive: bool,
    /// Some driver does not start from 0.
    shifted: bool,
    friction: Rubbing,
    under: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rubbing {
    None,
    /// One force at every speed, and one at rest.
    Dry,
    /// A force that depends on speed.
    Curve {
        falling: bool,
    },
}

impl Shape {
    /// A block dragged over the floor by a spring whose end moves: compiled on its own, as are its lighter forms.
    const DRAGGED: Shape = Shape {
        drivers: 1,
        springs: 1,
        ends: [0, GROUND, GROUND, GROUND],
        damped: false,
        long: false,
        pushed: false,
        heavy: false,
        massive: true,
        shifted: false,
        friction: Rubbing::Dry,
        under: GROUND,
    };
    const DRAGGED_UNIT: Shape = Shape {
        massive: false,
        ..Shape::DRAGGED
    };
    /// A block held by a spring on a moving belt.
    const BELT: Shape = Shape {
        ends: [GROUND; MOST_SPRINGS],
        under: 0,
        ..Shape::DRAGGED
    };

    /// The terms that either has; none if they are not built alike.
    fn with(self, other: Shape) -> Option<Shape> {
        let alike = |shape: Shape| (shape.drivers, shape.springs, shape.ends, shape.friction, shape.under);
        (alike(self) == alike(other)).then_some(Shape {
            damped: self.damped | other.damped,
            long: self.long | other.long,
            pushed: self.pushed | other.pushed,
            heavy: self.heavy | other.heavy,
            massive: self.massive | other.massive,
            shifted: self.shifted | other.shifted,
            ..self
        })
    }
}

/// A spring seen from the coordinate: its stretch is (other end − coordinate) − length.
#[derive(Clone, Copy)]
struct Tie<R> {
    stiffness: R,
    damping: R,
    length: R,
}

/// A driver: where it starts, its velocity in the step before and in the coming steps.
#[derive(Clone, Copy)]
struct Driver<R> {
    start: R,
    before: R,
    travel: R,
}

/// What does not change between two changes of a profile.
#[derive(Clone, Copy)]
struct Fixed<R: Real> {
    inverse_mass: R,
    gravity: R,
    applied: R,
    ties: [Tie<R>; MOST_SPRINGS],
    drivers: [Driver<R>; MOST_DRIVERS],
    /// Dry friction stops this much speed within a step, sliding and at rest; the first also with the other sign.
    slides: R,
    holds: R,
    below: R,
    compliance: R,
    load: R,
    curve: Stribeck<R>,
}

/// What moves: the coordinate, how much speed friction can stop now, the sums of the drivers' velocities.
#[derive(Clone, Copy)]
struct Moving<R: Real> {
    x: R,
    v: R,
    limit: R,
    sums: [R; MOST_DRIVERS],
    stuck: R::Mask,
}

/// One run, or several side by side.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pack<R: Real> {
    at: Moving<R>,
    fixed: Fixed<R>,
}

/// One step; whether the coordinate sticks.
#[inline(always)]
fn step<R: Real>(shape: Shape, at: &mut Moving<R>, fixed: &Fixed<R>, step: R) -> R::Mask {
    let rubs = shape.friction != Rubbing::None;
    let mut force = fixed.applied;
    for i in 0..shape.springs {
        let (tie, end) = (&fixed.ties[i], shape.ends[i]);
        let (mut position, mut velocity) = (R::zero(), R::zero());
        if end != GROUND {
            position = step * at.sums[end];
            if shape.shifted {
                position = fixed.drivers[end].start + position;
            }
            velocity = fixed.drivers[end].before;
        }
        let mut stretch = position - at.x;
        if shape.long {
            stretch = stretch - tie.length;
        }
        let mut pull = tie.stiffness * stretch;
        if shape.damped {
            pull = pull + tie.damping * (velocity - at.v);
        }
        // 0 + pull is pull, but for the sign of a zero; with friction the velocity it is added to is never −0.
        force = if i == 0 && !shape.pushed && rubs {
            pull
        } else {
            force + pull
        };
    }
    if shape.massive {
        force = force * fixed.inverse_mass;
    }
    if shape.heavy {
        force = force + fixed.gravity;
    }
    let free = at.v + step * force;
    let mut stuck = at.stuck;
    at.v = free;
    if rubs {
        let moves = shape.under != GROUND;
        let under = if moves {
            fixed.drivers[shape.under].travel
        } else {
            R::zero()
        };
        let slip = if moves { free - under } else { free };
        let velocity = if shape.friction == Rubbing::Dry {
            // The closed form of `resolve` for one force at every speed: v̄ − clamp(v̄, ±W·F).
            stuck = slip.abs().le(at.limit);
            at.limit = R::select(stuck, fixed.holds, fixed.slides);
            R::select(stuck, R::zero(), slip - slip.max(fixed.below).min(fixed.slides))
        } else {
            let outcome = resolve(&fixed.curve, fixed.load, [slip], fixed.compliance, at.stuck);
            stuck = outcome.stuck;
            at.stuck = stuck;
            outcome.velocity[0]
        };
        at.v = if moves { velocity + under } else { velocity };
    }
    at.x = at.x + step * at.v;
    for i in 0..shape.drivers {
        at.sums[i] = at.sums[i] + fixed.drivers[i].travel;
    }
    stuck
}

/// Calls a function with the shape, as a constant where it is a common one.
macro_rules! with_shape {
    ($shape:expr, |$s:ident| $body:expr) => {
        match $shape {
            Shape::DRAGGED => {
                let $s = Shape::DRAGGED;
                $body
            }
            Shape::DRAGGED_UNIT => {
                let $s = Shape::DRAGGED_UNIT;
                $body
            }
            Shape::BELT => {
                let $s = Shape::BELT;
                $body
            }
            $s => $body,
        }
    };
}

/// Steps of one run, which stays in registers.
#[inline(never)]
fn alone(shape: Shape, pack: &mut Pack<f64>, step_length: f64, steps: u64) {
    with_shape!(shape, |shape| {
        let Pack { mut at, fixed } = *pack;
        for _ in 0..steps {
            at.stuck = step(shape, &mut at, &fixed, step_length);
        }
        pack.at = at;
    });
}

/// Steps of several runs, all of them one step and then the next: while one waits for its sums the others go on.
#[multiversion(targets("x86_64+avx2"))]
fn together(shape: Shape, packs: &mut [Pack<Lanes<WIDTH>>], step_length: f64, steps: u64) {
    let length = Lanes::lit(step_length);
    with_shape!(shape, |shape| for _ in 0..steps {
        for pack in packs.iter_mut() {
            fence();
            step(shape, &mut pack.at, &pack.fixed, length);
        }
    });
}

/// One step of several runs, after which it is known which of them stick.
#[multiversion(targets("x86_64+avx2"))]
fn once(shape: Shape, packs: &mut [Pack<Lanes<WIDTH>>], step_length: f64) {
    for pack in packs.iter_mut() {
        pack.at.stuck = step(shape, &mut pack.at, &pack.fixed, Lanes::lit(step_length));
    }
}

/// One free coordinate and what acts on it.
pub(crate) struct Lone<'a> {
    network: &'a Network,
    velocity: usize,
    springs: &'a [Spring],
    ends: [End; MOST_SPRINGS],
    friction: Option<Rub<'a>>,
}

struct Rub<'a> {
    friction: &'a Friction<Implicit>,
    curve: &'a Stribeck<f64>,
    load: usize,
    under: End,
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
        if !alone || springs.len() > MOST_SPRINGS {
            return None;
        }
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
                if friction.law.approximate && !curve.is_coulomb() {
                    return None;
                }
                Some(Rub {
                    friction,
                    curve,
                    load,
                    under: other_end(network, &friction.pair)?,
                })
            }
            _ => return None,
        };
        let mut ends = [GROUND; MOST_SPRINGS];
        for (end, spring) in ends.iter_mut().zip(springs) {
            *end = other_end(network, &spring.pair)?;
        }
        Some(Lone {
            network,
            velocity: layout.positions,
            springs,
            ends,
            friction,
        })
    }

    /// Does steps up to the next change of a profile, at most `most`. The state is left as it was, and 0 returned, if a
    /// number does not stay finite: the general step says which.
    pub(crate) fn advance(&self, state: &mut NetworkState, scratch: &mut Scratch, most: u64) -> u64 {
        let steps = self.constant_steps(state, scratch).min(most);
        let Some((shape, mut pack)) = self.pack(state, scratch) else {
            return 0;
        };
        let length = self.network.step;
        alone(shape, &mut pack, length, 1);
        if steps > 1 {
            pack.fixed.settle_drivers();
            alone(shape, &mut pack, length, steps - 1);
        }
        if self.unpack(&pack, state, steps) { steps } else { 0 }
    }

    /// Brings the signals to the end of the coming step; how many steps keep their values.
    fn constant_steps(&self, state: &NetworkState, scratch: &mut Scratch) -> u64 {
        let index = 2 * (state.step + 1);
        self.network.signals.sample(index, &mut scratch.signals);
        scratch.signals.constant_steps(index)
    }

    /// The numbers of the coming steps; none if the state is one that only the general step can take up.
    fn pack(&self, state: &NetworkState, scratch: &Scratch) -> Option<(Shape, Pack<f64>)> {
        let network = self.network;
        let (signals, values) = (scratch.signals.get(), &state.values);
        let (x, v) = (values[0], values[self.velocity]);
        if v == 0.0 && v.is_sign_negative() {
            return None;
        }
        let mut drivers = [Driver::default(); MOST_DRIVERS];
        let mut sums = [0.0; MOST_DRIVERS];
        for ((driver, sum), drive) in drivers.iter_mut().zip(&mut sums).zip(&network.drives) {
            *driver = Driver {
                start: drive.start,
                before: values[drive.coordinate.v],
                travel: signals[drive.signal],
            };
            *sum = values[drive.sum];
            if values[drive.coordinate.q] != drive.start + network.step * *sum {
                return None;
            }
        }
        let mut ties = [Tie::default(); MOST_SPRINGS];
        for (tie, spring) in ties.iter_mut().zip(self.springs) {
            // Seen from its other end a spring has the opposite stretch, to the last bit, if its length counts the other way.
            let first = spring.pair.first.q == 0;
            *tie = Tie {
                stiffness: spring.stiffness,
                damping: spring.damping,
                length: if first { -spring.length } else { spring.length },
            };
        }
        let applied = network
            .forces
            .iter()
            .fold(0.0, |sum, force| sum + signals[force.signal]);
        let mut fixed = Fixed {
            inverse_mass: network.inverse_mass[0],
            gravity: network.gravity[0],
            applied,
            ties,
            drivers,
            slides: 0.0,
            holds: 0.0,
            below: 0.0,
            compliance: 0.0,
            load: 0.0,
            curve: Stribeck::coulomb(0.0),
        };
        let mut stuck = false;
        let mut rubbing = Rubbing::None;
        if let Some(Rub {
            friction, curve, load, ..
        }) = &self.friction
        {
            let (load, compliance) = (signals[*load].max(0.0), friction.compliance());
            let slides = curve.dry(0.0, load);
            fixed.slides = compliance * slides;
            fixed.holds = compliance * slides.max(curve.holding(load));
            fixed.below = -fixed.slides;
            (fixed.load, fixed.compliance, fixed.curve) = (load, compliance, **curve);
            stuck = values[friction.state] != 0.0;
            rubbing = if Curve::<f64>::constant(*curve) {
                Rubbing::Dry
            } else {
                Rubbing::Curve {
                    falling: curve.is_falling(),
                }
            };
        }
        let springs = &ties[..self.springs.len()];
        let shape = Shape {
            drivers: network.drives.len(),
            springs: springs.len(),
            ends: self.ends,
            damped: springs.iter().any(|tie| tie.damping != 0.0),
            long: springs.iter().any(|tie| tie.length != 0.0),
            pushed: applied != 0.0 || springs.is_empty(),
            heavy: fixed.gravity != 0.0,
            massive: fixed.inverse_mass != 1.0,
            shifted: drivers.iter().any(|driver| driver.start != 0.0),
            friction: rubbing,
            under: self.friction.as_ref().map_or(GROUND, |rub| rub.under),
        };
        let limit = if stuck { fixed.holds } else { fixed.slides };
        let at = Moving {
            x,
            v,
            limit,
            sums,
            stuck,
        };
        Some((shape, Pack { at, fixed }))
    }

    /// Puts the end of some steps into the state, unless a number is not finite: what has become infinite or undefined
    /// never becomes finite again, so that one look at the end is enough.
    fn unpack(&self, Pack { at, fixed }: &Pack<f64>, state: &mut NetworkState, steps: u64) -> bool {
        let network = self.network;
        let drivers = || fixed.drivers.iter().zip(&at.sums).zip(&network.drives);
        let position = |start: f64, sum: f64| start + network.step * sum;
        let finite = |((driver, sum), _): ((&Driver<f64>, &f64), _)| position(driver.start, *sum).is_finite();
        if !(at.x.is_finite() && at.v.is_finite() && drivers().all(finite)) {
            return false;
        }
        let values = &mut state.values;
        (values[0], values[self.velocity]) = (at.x, at.v);
        if let Some(rub) = &self.friction {
            values[rub.friction.state] = f64::from(u8::from(at.stuck));
        }
        for ((driver, &sum), drive) in drivers() {
            values[drive.coordinate.q] = position(driver.start, sum);
            values[drive.coordinate.v] = driver.travel;
            values[drive.sum] = sum;
        }
        state.step += steps;
        true
    }
}

/// The other end of an element on the coordinate, if its ratios are 1; ratios cost a product each and are left to the
/// general step, as are elements between two drivers.
fn other_end(network: &Network, pair: &Pair) -> Option<End> {
    let other = match (pair.first.q, pair.second.q) {
        (0, _) => pair.second,
        (_, 0) => pair.first,
        _ => return None,
    };
    let end = |coordinate: Coordinate| {
        let driver = network.drives.iter().position(|drive| drive.coordinate == coordinate);
        driver.or((coordinate == network.layout.ground()).then_some(GROUND))
    };
    // The ground has no ratio that matters; elsewhere 1·q is q.
    (pair.ratio == [1.0, 1.0] && other.q != 0).then(|| end(other))?
}

impl<R: Real> Fixed<R> {
    /// After the first step the drivers have had the velocities of the coming ones.
    fn settle_drivers(&mut self) {
        for driver in &mut self.drivers {
            driver.before = driver.travel;
        }
    }
}

impl Default for Tie<f64> {
    fn default() -> Self {
        Tie {
            stiffness: 0.0,
            damping: 0.0,
            length: 0.0,
        }
    }
}

impl Default for Driver<f64> {
    fn default() -> Self {
        Driver {
            start: 0.0,
            before: 0.0,
            travel: 0.0,
        }
    }
}

impl Pack<Lanes<WIDTH>> {
    /// Several runs side by side.
    fn of(runs: &[&Pack<f64>; WIDTH]) -> Self {
        let side = |get: &dyn Fn(&Pack<f64>) -> f64| Lanes(std::array::from_fn(|i| get(runs[i])));
        Pack {
            at: Moving {
                x: side(&|run| run.at.x),
                v: side(&|run| run.at.v),
                limit: side(&|run| run.at.limit),
                sums: std::array::from_fn(|i| side(&|run| run.at.sums[i])),
                stuck: LaneMask::new(std::array::from_fn(|i| runs[i].at.stuck)),
            },
            fixed: Fixed {
                inverse_mass: side(&|run| run.fixed.inverse_mass),
                gravity: side(&|run| run.fixed.gravity),
                applied: side(&|run| run.fixed.applied),
                ties: std::array::from_fn(|i| Tie {
                    stiffness: side(&|run| run.fixed.ties[i].stiffness),
                    damping: side(&|run| run.fixed.ties[i].damping),
                    length: side(&|run| run.fixed.ties[i].length),
                }),
                drivers: std::array::from_fn(|i| Driver {
                    start: side(&|run| run.fixed.drivers[i].start),
                    before: side(&|run| run.fixed.drivers[i].before),
                    travel: side(&|run| run.fixed.drivers[i].travel),
                }),
                slides: side(&|run| run.fixed.slides),
                holds: side(&|run| run.fixed.holds),
                below: side(&|run| run.fixed.below),
                compliance: side(&|run| run.fixed.compliance),
                load: side(&|run| run.fixed.load),
                curve: Stribeck::side_by_side(&std::array::from_fn(|i| runs[i].fixed.curve)),
            },
        }
    }

    /// Where one of them is now, in place of where it was.
    fn lane(&self, lane: usize, run: &mut Pack<f64>) {
        run.at.x = self.at.x.0[lane];
        run.at.v = self.at.v.0[lane];
        for (sum, sums) in run.at.sums.iter_mut().zip(&self.at.sums) {
            *sum = sums.0[lane];
        }
        run.at.stuck = self.at.stuck.lane(lane);
    }
}

/// Moves several networks side by side. Those that are not built alike, or whose numbers do not stay finite, are left where
/// the others parted from them.
pub(super) fn run_lanes(lanes: &mut [Lane<'_>], mut steps: u64) {
    let networks: Vec<&Network> = lanes.iter().map(|lane| lane.network).collect();
    let plans: Vec<Option<Lone<'_>>> = networks.into_iter().map(Lone::of).collect();
    let mut members: Vec<(&mut Lane<'_>, &Lone<'_>)> = (lanes.iter_mut().zip(&plans))
        .filter_map(|(lane, plan)| Some((lane, plan.as_ref()?)))
        .collect();
    let mut runs: Vec<Pack<f64>> = Vec::with_capacity(members.len());
    let mut packs = Vec::with_capacity(members.len().div_ceil(WIDTH));
    while steps > 0 {
        let mut count = steps;
        let mut shape: Option<Shape> = None;
        runs.clear();
        members.retain_mut(|(lane, plan)| {
            let constant = plan.constant_steps(lane.state, lane.scratch);
            let Some((own, pack)) = plan.pack(lane.state, lane.scratch) else {
                return false;
            };
            let Some(both) = shape.map_or(Some(own), |shape| shape.with(own)) else {
                return false;
            };
            shape = Some(both);
            count = count.min(constant);
            runs.push(pack);
            true
        });
        let (Some(shape), Some((lane, _))) = (shape, members.first()) else {
            return;
        };
        advance(shape, &mut runs, &mut packs, lane.network.step, count);
        let mut ends = runs.iter();
        members.retain_mut(|(lane, plan)| ends.next().is_some_and(|end| plan.unpack(end, lane.state, count)));
        steps -= count;
    }
}

/// Moves runs of one shape, the last of them repeated to fill its pack.
fn advance(shape: Shape, runs: &mut [Pack<f64>], packs: &mut Vec<Pack<Lanes<WIDTH>>>, length: f64, steps: u64) {
    packs.clear();
    packs.extend(
        runs.chunks(WIDTH)
            .map(|runs| Pack::of(&std::array::from_fn(|i| &runs[i.min(runs.len() - 1)]))),
    );
    once(shape, packs, length);
    if steps > 1 {
        for pack in packs.iter_mut() {
            pack.fixed.settle_drivers();
        }
        together(shape, packs, length, steps - 2);
        once(shape, packs, length);
    }
    for (i, run) in runs.iter_mut().enumerate() {
        packs[i / WIDTH].lane(i % WIDTH, run);
    }
}
