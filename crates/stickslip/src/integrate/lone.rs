//! The implicit step of a network with one free coordinate: a block, a shaft or a slider with springs to the ground and
//! to drivers, applied forces, and friction on the ground or on a driver. It is the commonest system of all with friction.
//!
//! Between two changes of a profile only the coordinate and the drivers move. The step is written once, for one run or
//! for several side by side (lanes); its arithmetic is that of the general step, in the same order, and gives the same
//! bytes (tested).

use super::lanes::{Lane, fence};
use crate::element::curve::SteadyCurve;
use crate::element::friction::{Friction, Frictions, Implicit};
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

/// Lanes of a pack: two vectors of 256 bits, whose instructions mix.
const WIDTH: usize = 8;

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

/// What a dragged block needs in each step, close together: memory that lies scattered would cost half as much again.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Hot<R> {
    /// The coordinate.
    x: R,
    v: R,
    /// How much speed friction can stop now.
    limit: R,
    /// Sum of the velocities of the first driver, and its velocity in the coming steps.
    sum: R,
    travel: R,
    /// Stiffness of the first spring.
    stiffness: R,
    inverse_mass: R,
    dry: Dry<R>,
}

/// How much speed dry friction stops within a step, sliding and at rest; at rest not less.
#[derive(Clone, Copy, PartialEq)]
struct Dry<R> {
    slides: R,
    holds: R,
}

/// The rest. A spring is seen from the coordinate: its stretch is (other end − coordinate) − length. The stiffness of the
/// first spring and the sum of the first driver are those in [`Hot`].
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Rest<R: Real> {
    gravity: R,
    applied: R,
    stiffness: [R; MOST_SPRINGS],
    damping: [R; MOST_SPRINGS],
    length: [R; MOST_SPRINGS],
    /// Where drivers start, their velocities in the step before and in the coming steps, and sums of their velocities.
    start: [R; MOST_DRIVERS],
    before: [R; MOST_DRIVERS],
    travel: [R; MOST_DRIVERS],
    sum: [R; MOST_DRIVERS],
    compliance: R,
    load: R,
    curve: Stribeck<R>,
    stuck: R::Mask,
}

/// One step; whether the coordinate sticks.
#[inline(always)]
fn step<R: Real>(shape: Shape, hot: &mut Hot<R>, rest: &mut Rest<R>, step: R) -> R::Mask {
    let (free, dry) = (free_velocity(shape, hot, rest, step), hot.dry);
    rub(shape, (hot, rest), free, dry, step)
}

/// The first half of a step: the velocity without friction.
#[inline(always)]
fn free_velocity<R: Real>(shape: Shape, hot: &Hot<R>, rest: &Rest<R>, step: R) -> R {
    let mut force = rest.applied;
    for i in 0..shape.springs {
        let end = shape.ends[i];
        let (mut position, mut velocity) = (R::zero(), R::zero());
        if end != GROUND {
            position = step * if end == 0 { hot.sum } else { rest.sum[end] };
            if shape.shifted {
                position = rest.start[end] + position;
            }
            velocity = rest.before[end];
        }
        let mut stretch = position - hot.x;
        if shape.long {
            stretch -= rest.length[i];
        }
        let mut pull = if i == 0 { hot.stiffness } else { rest.stiffness[i] } * stretch;
        if shape.damped {
            pull += rest.damping[i] * (velocity - hot.v);
        }
        // 0 + pull is pull, but for the sign of a zero; with friction the velocity it is added to is never −0.
        force = if i == 0 && !shape.pushed && shape.friction != Rubbing::None {
            pull
        } else {
            force + pull
        };
    }
    if shape.massive {
        force = force * hot.inverse_mass;
    }
    if shape.heavy {
        force += rest.gravity;
    }
    hot.v + step * force
}

/// The second half: friction, then positions; whether the coordinate sticks.
#[inline(always)]
fn rub<R: Real>(
    shape: Shape,
    (hot, rest): (&mut Hot<R>, &mut Rest<R>),
    free: R,
    Dry { slides, holds }: Dry<R>,
    step: R,
) -> R::Mask {
    let mut stuck = rest.stuck;
    hot.v = free;
    if shape.friction != Rubbing::None {
        let moves = shape.under != GROUND;
        let under = match shape.under {
            0 => hot.travel,
            GROUND => R::zero(),
            driver => rest.travel[driver],
        };
        let slip = if moves { free - under } else { free };
        let velocity = if shape.friction == Rubbing::Dry {
            // The closed form of `resolve` for one force at every speed, v̄ − clamp(v̄, ±W·F): what slips is beyond ±W·F.
            stuck = slip.abs().le(hot.limit);
            hot.limit = R::select(stuck, holds, slides);
            R::select(stuck, R::zero(), slip - slides.copysign(slip))
        } else {
            let (velocity, now) = slide(rest, slip);
            stuck = now;
            rest.stuck = now;
            velocity
        };
        hot.v = if moves { velocity + under } else { velocity };
    }
    hot.x += step * hot.v;
    if shape.drivers > 0 {
        hot.sum += hot.travel;
    }
    for i in 1..shape.drivers {
        rest.sum[i] += rest.travel[i];
    }
    stuck
}

/// Velocity by a force that depends on speed, and whether it is 0. A function of its own: its root search with exponentials
/// would make every loop that it is part of many times as long.
#[inline(never)]
fn slide<R: Real>(rest: &Rest<R>, slip: R) -> (R, R::Mask) {
    let outcome = resolve(&rest.curve, rest.load, [slip], rest.compliance, rest.stuck);
    (outcome.velocity[0], outcome.stuck)
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
fn alone(shape: Shape, run: &mut Run, length: f64, steps: u64) {
    with_shape!(shape, |shape| {
        let (mut hot, mut rest) = *run;
        for _ in 0..steps {
            rest.stuck = step(shape, &mut hot, &mut rest, length);
        }
        *run = (hot, rest);
    });
}

/// Steps of several runs, all of them one step and then the next: while one waits for its sums the others go on.
#[multiversion(targets("x86_64+avx2"))]
fn together(shape: Shape, (hots, rests): (&mut [Hot<Wide>], &mut [Rest<Wide>]), length: f64, steps: u64) {
    let Some(dry) = hots.first().map(|hot| hot.dry) else {
        return;
    };
    // Friction that is the same in all runs stays in registers.
    let same = dry.slides == Lanes::lit(dry.slides.0[0]) && dry.holds == Lanes::lit(dry.holds.0[0]);
    let length = Lanes::lit(length);
    if same && hots.iter().all(|hot| hot.dry == dry) {
        with_shape!(shape, |shape| in_turns(shape, (hots, rests), |_| dry, length, steps));
    } else {
        with_shape!(shape, |shape| in_turns(
            shape,
            (hots, rests),
            |hot| hot.dry,
            length,
            steps
        ));
    }
}

/// The free velocity of a pack is found while friction has its part in the pack before: the processor looks only so far
/// ahead, and finds work of both.
#[inline(always)]
fn in_turns(
    shape: Shape,
    (hots, rests): (&mut [Hot<Wide>], &mut [Rest<Wide>]),
    dry: impl Fn(&Hot<Wide>) -> Dry<Wide>,
    length: Wide,
    steps: u64,
) {
    let ([first, more @ ..], [first_rest, more_rests @ ..]) = (hots, rests) else {
        return;
    };
    for _ in 0..steps {
        let mut free = free_velocity(shape, first, first_rest, length);
        let mut before = (&mut *first, &mut *first_rest);
        for (hot, rest) in more.iter_mut().zip(more_rests.iter_mut()) {
            fence();
            let next = free_velocity(shape, hot, rest, length);
            let own = dry(before.0);
            rub(shape, before, free, own, length);
            (free, before) = (next, (hot, rest));
        }
        let own = dry(before.0);
        rub(shape, before, free, own, length);
    }
}

/// One step of several runs, after which it is known which of them stick.
#[inline(never)]
fn once(shape: Shape, (hots, rests): (&mut [Hot<Wide>], &mut [Rest<Wide>]), length: f64) {
    for (hot, rest) in hots.iter_mut().zip(rests.iter_mut()) {
        rest.stuck = step(shape, hot, rest, Lanes::lit(length));
    }
}

/// The numbers of one run.
type Run = (Hot<f64>, Rest<f64>);
type Wide = Lanes<WIDTH>;

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
        let Some((shape, mut run)) = self.numbers(state, scratch) else {
            return 0;
        };
        let length = self.network.step;
        alone(shape, &mut run, length, 1);
        if steps > 1 {
            run.1.settle_drivers();
            alone(shape, &mut run, length, steps - 1);
        }
        if self.take_over(&run, state, steps) { steps } else { 0 }
    }

    /// Brings the signals to the end of the coming step; how many steps keep their values.
    fn constant_steps(&self, state: &NetworkState, scratch: &mut Scratch) -> u64 {
        let index = 2 * (state.step + 1);
        self.network.signals.sample(index, &mut scratch.signals);
        scratch.signals.constant_steps(index)
    }

    /// The numbers of the coming steps; none if the state is one that only the general step can take up.
    fn numbers(&self, state: &NetworkState, scratch: &Scratch) -> Option<(Shape, Run)> {
        let network = self.network;
        let (signals, values) = (scratch.signals.get(), &state.values);
        let (x, v) = (values[0], values[self.velocity]);
        if v == 0.0 && v.is_sign_negative() {
            return None;
        }
        let mut rest = Rest {
            gravity: network.gravity[0],
            applied: network
                .forces
                .iter()
                .fold(0.0, |sum, force| sum + signals[force.signal]),
            stiffness: [0.0; MOST_SPRINGS],
            damping: [0.0; MOST_SPRINGS],
            length: [0.0; MOST_SPRINGS],
            start: [0.0; MOST_DRIVERS],
            before: [0.0; MOST_DRIVERS],
            travel: [0.0; MOST_DRIVERS],
            sum: [0.0; MOST_DRIVERS],
            compliance: 0.0,
            load: 0.0,
            curve: Stribeck::coulomb(0.0),
            stuck: false,
        };
        for (i, drive) in network.drives.iter().enumerate() {
            rest.start[i] = drive.start;
            rest.before[i] = values[drive.coordinate.v];
            rest.travel[i] = signals[drive.signal];
            rest.sum[i] = values[drive.sum];
            if values[drive.coordinate.q] != drive.start + network.step * rest.sum[i] {
                return None;
            }
        }
        for (i, spring) in self.springs.iter().enumerate() {
            // Seen from its other end a spring has the opposite stretch, to the last bit, if its length counts the other way.
            let first = spring.pair.first.q == 0;
            rest.stiffness[i] = spring.stiffness;
            rest.damping[i] = spring.damping;
            rest.length[i] = if first { -spring.length } else { spring.length };
        }
        let mut hot = Hot {
            x,
            v,
            limit: 0.0,
            sum: rest.sum[0],
            travel: rest.travel[0],
            stiffness: rest.stiffness[0],
            inverse_mass: network.inverse_mass[0],
            dry: Dry {
                slides: 0.0,
                holds: 0.0,
            },
        };
        let mut rubbing = Rubbing::None;
        if let Some(Rub {
            friction, curve, load, ..
        }) = &self.friction
        {
            let (load, compliance) = (signals[*load].max(0.0), friction.compliance());
            let slides = curve.dry(0.0, load);
            hot.dry = Dry {
                slides: compliance * slides,
                holds: compliance * slides.max(curve.holding(load)),
            };
            (rest.load, rest.compliance, rest.curve) = (load, compliance, **curve);
            rest.stuck = values[friction.state] != 0.0;
            hot.limit = if rest.stuck { hot.dry.holds } else { hot.dry.slides };
            rubbing = if Curve::<f64>::constant(*curve) {
                Rubbing::Dry
            } else {
                Rubbing::Curve {
                    falling: curve.is_falling(),
                }
            };
        }
        let some = |numbers: &[f64]| numbers.iter().any(|&x| x != 0.0);
        let shape = Shape {
            drivers: network.drives.len(),
            springs: self.springs.len(),
            ends: self.ends,
            damped: some(&rest.damping),
            long: some(&rest.length),
            pushed: rest.applied != 0.0 || self.springs.is_empty(),
            heavy: rest.gravity != 0.0,
            massive: hot.inverse_mass != 1.0,
            shifted: some(&rest.start),
            friction: rubbing,
            under: self.friction.as_ref().map_or(GROUND, |rub| rub.under),
        };
        Some((shape, (hot, rest)))
    }

    /// Puts the end of some steps into the state, unless a number is not finite: what has become infinite or undefined
    /// never becomes finite again, so that one look at the end is enough.
    fn take_over(&self, (hot, rest): &Run, state: &mut NetworkState, steps: u64) -> bool {
        let network = self.network;
        let sum = |i: usize| if i == 0 { hot.sum } else { rest.sum[i] };
        let position = |i: usize| rest.start[i] + network.step * sum(i);
        let drivers = 0..network.drives.len();
        if !(hot.x.is_finite() && hot.v.is_finite() && drivers.clone().all(|i| position(i).is_finite())) {
            return false;
        }
        let values = &mut state.values;
        (values[0], values[self.velocity]) = (hot.x, hot.v);
        if let Some(rub) = &self.friction {
            values[rub.friction.state] = f64::from(u8::from(rest.stuck));
        }
        for (i, drive) in network.drives.iter().enumerate() {
            values[drive.coordinate.q] = position(i);
            values[drive.coordinate.v] = rest.travel[i];
            values[drive.sum] = sum(i);
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

impl<R: Real> Rest<R> {
    /// After the first step the drivers have had the velocities of the coming ones.
    fn settle_drivers(&mut self) {
        self.before = self.travel;
    }
}

/// Several runs side by side.
fn side_by_side(runs: &[&Run; WIDTH]) -> (Hot<Wide>, Rest<Wide>) {
    let hot = |get: fn(&Hot<f64>) -> f64| Lanes(std::array::from_fn(|i| get(&runs[i].0)));
    let rest = |get: fn(&Rest<f64>) -> f64| Lanes(std::array::from_fn(|i| get(&runs[i].1)));
    let several =
        |get: fn(&Rest<f64>) -> &[f64; 4]| std::array::from_fn(|k| Lanes(std::array::from_fn(|i| get(&runs[i].1)[k])));
    (
        Hot {
            x: hot(|run| run.x),
            v: hot(|run| run.v),
            limit: hot(|run| run.limit),
            sum: hot(|run| run.sum),
            travel: hot(|run| run.travel),
            stiffness: hot(|run| run.stiffness),
            inverse_mass: hot(|run| run.inverse_mass),
            dry: Dry {
                slides: hot(|run| run.dry.slides),
                holds: hot(|run| run.dry.holds),
            },
        },
        Rest {
            gravity: rest(|run| run.gravity),
            applied: rest(|run| run.applied),
            stiffness: several(|run| &run.stiffness),
            damping: several(|run| &run.damping),
            length: several(|run| &run.length),
            start: several(|run| &run.start),
            before: several(|run| &run.before),
            travel: several(|run| &run.travel),
            sum: several(|run| &run.sum),
            compliance: rest(|run| run.compliance),
            load: rest(|run| run.load),
            curve: Stribeck::side_by_side(&std::array::from_fn(|i| runs[i].1.curve)),
            stuck: LaneMask::new(std::array::from_fn(|i| runs[i].1.stuck)),
        },
    )
}

/// Where one of them is now, in place of where it was.
fn separate((hot, rest): (&Hot<Wide>, &Rest<Wide>), lane: usize, run: &mut Run) {
    run.0.x = hot.x.0[lane];
    run.0.v = hot.v.0[lane];
    run.0.sum = hot.sum.0[lane];
    for (sum, sums) in run.1.sum.iter_mut().zip(&rest.sum) {
        *sum = sums.0[lane];
    }
    run.1.stuck = rest.stuck.lane(lane);
}

/// Moves several networks side by side. Those that are not built alike, or whose numbers do not stay finite, are left where
/// the others parted from them.
pub(super) fn run_lanes(lanes: &mut [Lane<'_>], mut steps: u64) {
    let networks: Vec<&Network> = lanes.iter().map(|lane| lane.network).collect();
    let plans: Vec<Option<Lone<'_>>> = networks.into_iter().map(Lone::of).collect();
    let mut members: Vec<(&mut Lane<'_>, &Lone<'_>)> = (lanes.iter_mut().zip(&plans))
        .filter_map(|(lane, plan)| Some((lane, plan.as_ref()?)))
        .collect();
    let mut runs: Vec<Run> = Vec::with_capacity(members.len());
    let packs = members.len().div_ceil(WIDTH);
    let mut packs = (Vec::with_capacity(packs), Vec::with_capacity(packs));
    while steps > 0 {
        let mut count = steps;
        let mut shape: Option<Shape> = None;
        runs.clear();
        members.retain_mut(|(lane, plan)| {
            let constant = plan.constant_steps(lane.state, lane.scratch);
            let Some((own, run)) = plan.numbers(lane.state, lane.scratch) else {
                return false;
            };
            let Some(both) = shape.map_or(Some(own), |shape| shape.with(own)) else {
                return false;
            };
            shape = Some(both);
            count = count.min(constant);
            runs.push(run);
            true
        });
        let (Some(shape), Some((lane, _))) = (shape, members.first()) else {
            return;
        };
        advance(shape, &mut runs, &mut packs, lane.network.step, count);
        let mut ends = runs.iter();
        members.retain_mut(|(lane, plan)| ends.next().is_some_and(|end| plan.take_over(end, lane.state, count)));
        steps -= count;
    }
}

/// Moves runs of one shape, the last of them repeated to fill its pack.
fn advance(
    shape: Shape,
    runs: &mut [Run],
    (hots, rests): &mut (Vec<Hot<Wide>>, Vec<Rest<Wide>>),
    length: f64,
    steps: u64,
) {
    hots.clear();
    rests.clear();
    for runs in runs.chunks(WIDTH) {
        let (hot, rest) = side_by_side(&std::array::from_fn(|i| &runs[i.min(runs.len() - 1)]));
        hots.push(hot);
        rests.push(rest);
    }
    once(shape, (hots, rests), length);
    if steps > 1 {
        rests.iter_mut().for_each(Rest::settle_drivers);
        together(shape, (hots, rests), length, steps - 2);
        once(shape, (hots, rests), length);
    }
    for (i, run) in runs.iter_mut().enumerate() {
        separate((&hots[i / WIDTH], &rests[i / WIDTH]), i % WIDTH, run);
    }
}
