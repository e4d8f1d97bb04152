//! The implicit step of a network with one free coordinate: a block, a shaft or a slider with springs to the ground and
//! to drivers, applied forces, and friction on the ground or on a driver. It is the commonest system of all with friction.
//!
//! Between two changes of a profile only the coordinate and the drivers move. The step is written once, for one run, for one whose
//! report is kept step by step, and for several side by side (lanes); its arithmetic is that of the general step, in the same order,
//! and gives the same bytes (tested).

// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::Work;
use super::lanes::{Lane, fence};
use crate::element::actuator::Actuators;
use crate::element::curve::SteadyCurve;
use crate::element::friction::{Frictions, Implicit};
use crate::element::spring::{Spring, Springs};
use crate::element::{Mode, Observation};
use crate::network::port::{Coordinate, Pair};
use crate::network::stage::LoadSource;
use crate::network::{Network, NetworkState, Scratch};
use crate::tally::{Change, Spell, Tallies, Trend};
use multiversion::multiversion;
use std::any::Any;
use std::ops::Range;
use stickslip_core::friction::Resolved;
use stickslip_core::friction::curve::{Curve, Form, Stribeck};
use stickslip_core::friction::implicit::resolve;
use stickslip_core::scalar::{LaneMask, Lanes, Real};
use stickslip_core::sets::sat;

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
    actuated: bool,
    heavy: bool,
    /// Some mass is not 1.
    massive: bool,
    /// Some driver does not start from 0.
    shifted: bool,
    friction: FrictionTerm,
    under: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrictionTerm {
    None,
    /// One force at every speed, and one at rest.
    Dry,
    /// A force that depends on speed.
    Curve(Form),
}

/// Not by `==`, which would be called as a function and leave code that is compiled for wide vectors.
impl FrictionTerm {
    #[inline(always)]
    fn acts(self) -> bool {
        !matches!(self, FrictionTerm::None)
    }

    #[inline(always)]
    fn is_dry(self) -> bool {
        matches!(self, FrictionTerm::Dry)
    }
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
        actuated: false,
        heavy: false,
        massive: true,
        shifted: false,
        friction: FrictionTerm::Dry,
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

    /// A motor against dry friction, which controllers and learners step one by one.
    const STEERED: Shape = Shape {
        drivers: 0,
        springs: 0,
        ends: [GROUND; MOST_SPRINGS],
        pushed: true,
        actuated: true,
        ..Shape::DRAGGED
    };

    /// Whether it is the steered one; a mass of 1 may be multiplied by, too.
    fn is_steered(self) -> bool {
        Shape { massive: true, ..self } == Shape::STEERED
    }

    /// The terms that either has; none if they are not built alike.
    fn with(self, other: Shape) -> Option<Shape> {
        let alike = |shape: Shape| (shape.drivers, shape.springs, shape.ends, shape.friction, shape.under);
        (alike(self) == alike(other)).then_some(Shape {
            damped: self.damped | other.damped,
            long: self.long | other.long,
            pushed: self.pushed | other.pushed,
            actuated: self.actuated | other.actuated,
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
    actuated: R,
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
    /// Force of sliding, and the one that holds at rest.
    held: [R; 2],
    curve: Stribeck<R>,
    /// Force of friction that depends on speed, in the last step.
    force: R,
    stuck: R::Mask,
}

/// One step; whether the coordinate sticks.
#[inline(always)]
fn step<R: Real>(shape: Shape, hot: &mut Hot<R>, rest: &mut Rest<R>, step: R) -> R::Mask {
    let (free, dry) = (free_velocity(shape, hot, rest, step), hot.dry);
    rub(shape, (hot, rest), free, dry, step)
}

/// Force of a spring on the coordinate.
#[inline(always)]
fn pull<R: Real>(shape: Shape, hot: &Hot<R>, rest: &Rest<R>, step: R, i: usize) -> R {
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
    pull
}

/// The first half of a step: the velocity without friction.
#[inline(always)]
fn free_velocity<R: Real>(shape: Shape, hot: &Hot<R>, rest: &Rest<R>, step: R) -> R {
    let mut force = rest.applied;
    for i in 0..shape.springs {
        let pull = pull(shape, hot, rest, step, i);
        // 0 + pull is pull, but for the sign of a zero; with friction the velocity it is added to is never −0.
        force = if i == 0 && !shape.pushed && shape.friction.acts() {
            pull
        } else {
            force + pull
        };
    }
    if shape.actuated {
        force += rest.actuated;
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
    if shape.friction.acts() {
        let moves = shape.under != GROUND;
        let under = match shape.under {
            0 => hot.travel,
            GROUND => R::zero(),
            driver => rest.travel[driver],
        };
        let slip = if moves { free - under } else { free };
        let velocity = if shape.friction.is_dry() {
            // The closed form of `resolve` for one force at every speed, v̄ − clamp(v̄, ±W·F): what slips is beyond ±W·F.
            stuck = slip.abs().le(hot.limit);
            hot.limit = R::select(stuck, holds, slides);
            R::select(stuck, R::zero(), slip - slides.copysign(slip))
        } else {
            let outcome = slide(rest, slip);
            stuck = outcome.stuck;
            (rest.stuck, rest.force) = (stuck, outcome.force[0]);
            outcome.velocity[0]
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

/// Velocity by a force that depends on speed. A function of its own: its root search with exponentials
/// would make every loop that it is part of many times as long.
#[multiversion(targets("x86_64+avx2"))]
fn slide<R: Real>(rest: &Rest<R>, slip: R) -> Resolved<R, 1> {
    resolve(&rest.curve, rest.load, [slip], rest.compliance, rest.stuck)
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

/// What the report keeps of an element over some steps.
#[derive(Clone, Copy)]
struct Account {
    element: usize,
    /// 1 where the coordinate is the first end of the element, −1 where it is the second.
    toward: f64,
    /// Energy that it delivered, and the part of it that is the method's own: ½·k·T² times the square of its velocity.
    delivered: f64,
    own: f64,
    curvature: f64,
    trend: Trend,
}

/// What the report keeps of a run over some steps.
#[derive(Clone, Copy)]
struct Book {
    input: f64,
    kinetic: f64,
    springs: [Account; MOST_SPRINGS],
    motor: Account,
    floor: Account,
    spell: Spell,
}

impl Account {
    /// Takes note of a force on the coordinate that worked at a relative velocity.
    #[inline(always)]
    fn note(&mut self, force: f64, velocity: f64, step: f64) -> f64 {
        let power = force * velocity;
        self.delivered += step * power;
        self.trend.note(force);
        power
    }
}

impl Book {
    /// One step, the `number`th of the run.
    #[inline(always)]
    fn step(
        &mut self,
        shape: Shape,
        (hot, rest): (&mut Hot<f64>, &mut Rest<f64>),
        step: f64,
        number: u64,
        changes: &mut Vec<Change>,
    ) {
        let (was, was_stuck, dry) = (hot.v, rest.stuck, hot.dry);
        let mut pulls = [0.0; MOST_SPRINGS];
        for (i, felt) in pulls.iter_mut().enumerate().take(shape.springs) {
            *felt = pull(shape, hot, rest, step, i);
        }
        let free = free_velocity(shape, hot, rest, step);
        let stuck = rub(shape, (hot, rest), free, dry, step);
        let change = hot.v - was;
        let kinetic = 0.5 * change * change;
        self.kinetic += if shape.massive {
            kinetic / hot.inverse_mass
        } else {
            kinetic
        };
        let travel = |driver: End| if driver == 0 { hot.travel } else { rest.travel[driver] };
        let mut loads = [0.0; MOST_DRIVERS];
        for i in 0..shape.springs {
            let end = shape.ends[i];
            let velocity = if end == GROUND { hot.v } else { hot.v - travel(end) };
            if end != GROUND {
                loads[end] -= pulls[i];
            }
            let account = &mut self.springs[i];
            account.note(pulls[i], velocity, step);
            account.own += account.curvature * (velocity * velocity);
        }
        if shape.friction.acts() {
            let moves = shape.under != GROUND;
            let velocity = if moves { hot.v - travel(shape.under) } else { hot.v };
            let force = if shape.friction.is_dry() {
                let slip = if moves { free - travel(shape.under) } else { free };
                // As `compose` has it: what stops the coordinate, cut off at the limit, or the force of sliding.
                let bound = rest.held[usize::from(was_stuck)];
                let hold = if rest.compliance > 0.0 && bound > 0.0 {
                    (-slip / rest.compliance).clamp(-bound, bound)
                } else {
                    0.0
                };
                if stuck { hold } else { -rest.held[0].copysign(slip) }
            } else {
                rest.force
            };
            if moves {
                loads[shape.under] -= force;
            }
            self.floor.note(force, velocity, step);
            self.spell.note(Mode::stuck(stuck), number, changes);
        }
        let mut input = 0.0;
        for i in 0..shape.drivers {
            input += -loads[i] * travel(i);
        }
        if shape.pushed {
            input += rest.applied * hot.v;
        }
        if shape.actuated {
            input += self.motor.note(rest.actuated, hot.v, step);
        }
        self.input += step * input;
        rest.stuck = stuck;
    }
}

/// Steps of one run of which the report keeps its sums; the first of them is the `number`th of the run.
#[inline(never)]
fn watched(shape: Shape, run: &mut Run, book: &mut Book, length: f64, numbers: Range<u64>, changes: &mut Vec<Change>) {
    with_shape!(shape, |shape| {
        let ((mut hot, mut rest), mut own) = (*run, *book);
        for number in numbers {
            own.step(shape, (&mut hot, &mut rest), length, number, changes);
        }
        (*run, *book) = ((hot, rest), own);
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

/// What was before a step.
struct Before {
    x: f64,
    v: f64,
    /// Sums of the velocities of drivers, and their velocities.
    sum: [f64; MOST_DRIVERS],
    velocity: [f64; MOST_DRIVERS],
    stuck: bool,
    /// The velocity that the step would reach without friction.
    free: f64,
}

impl Before {
    #[inline(always)]
    fn of(shape: Shape, (hot, rest): &Run, step: f64) -> Self {
        let mut sum = rest.sum;
        sum[0] = hot.sum;
        Before {
            x: hot.x,
            v: hot.v,
            sum,
            velocity: rest.before,
            stuck: rest.stuck,
            free: free_velocity(shape, hot, rest, step),
        }
    }
}

/// One free coordinate and what acts on it.
#[derive(Clone)]
pub(crate) struct OneCoordinate {
    velocity: usize,
    springs: Vec<Spring>,
    motor: Option<Motor>,
    friction: Option<Rub>,
    /// The numbers of a run as far as they do not change, and which terms they have.
    fixed: Run,
    shape: Shape,
    /// Whether nothing acts but a motor and dry friction.
    steered: bool,
}

/// An actuator between the coordinate and the ground.
#[derive(Clone, Copy)]
struct Motor {
    element: usize,
    signal: usize,
    toward: f64,
}

#[derive(Clone, Copy)]
struct Rub {
    element: usize,
    load: usize,
    state: usize,
    toward: f64,
}

/// 1 for an element whose first end is the coordinate, −1 for one whose second is.
fn toward(pair: &Pair) -> f64 {
    if pair.first.q == 0 { 1.0 } else { -1.0 }
}

impl OneCoordinate {
    /// The coordinate of a network, if there is just one that is free and nothing acts that is not known here.
    pub(crate) fn of(network: &Network) -> Option<Self> {
        let layout = &network.layout;
        let alone = layout.masses == 1
            && layout.velocities == 1 + network.drives.len()
            && network.drives.len() <= MOST_DRIVERS
            && network.drives.iter().all(|drive| !drive.position)
            && network.islands.is_empty()
            // A stop between a driver and the ground moves nothing and is in no island; its gap is seen even so.
            && network.rigid.is_empty();
        if !alone {
            return None;
        }
        let (mut springs, mut motor): (&[Spring], _) = (&[], None);
        // Springs come first: that is the order of the sums.
        for (place, group) in network.elements.iter().enumerate() {
            let group: &dyn Any = group.as_ref();
            if let Some(group) = group.downcast_ref::<Springs<1>>()
                && place == 0
            {
                springs = &group.0;
            } else if let [actuator] = &group.downcast_ref::<Actuators>()?.0[..]
                && other_end(network, &actuator.pair)? == GROUND
            {
                motor = Some(Motor {
                    element: actuator.element,
                    signal: actuator.signal,
                    toward: toward(&actuator.pair),
                });
            } else {
                return None;
            }
        }
        if springs.len() > MOST_SPRINGS {
            return None;
        }
        let hot = Hot {
            x: 0.0,
            v: 0.0,
            limit: 0.0,
            sum: 0.0,
            travel: 0.0,
            stiffness: springs.first().map_or(0.0, |spring| spring.stiffness),
            inverse_mass: network.inverse_mass[0],
            dry: Dry {
                slides: 0.0,
                holds: 0.0,
            },
        };
        let mut rest = Rest {
            gravity: network.gravity[0],
            applied: 0.0,
            actuated: 0.0,
            stiffness: [0.0; MOST_SPRINGS],
            damping: [0.0; MOST_SPRINGS],
            length: [0.0; MOST_SPRINGS],
            start: [0.0; MOST_DRIVERS],
            before: [0.0; MOST_DRIVERS],
            travel: [0.0; MOST_DRIVERS],
            sum: [0.0; MOST_DRIVERS],
            compliance: 0.0,
            load: 0.0,
            held: [0.0; 2],
            curve: Stribeck::coulomb(0.0),
            force: 0.0,
            stuck: false,
        };
        let (mut rubbing, mut under) = (FrictionTerm::None, GROUND);
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
                (rest.compliance, rest.curve) = (friction.compliance(), *curve);
                rubbing = if Curve::<f64>::constant(curve) {
                    FrictionTerm::Dry
                } else {
                    FrictionTerm::Curve(curve.form())
                };
                under = other_end(network, &friction.pair)?;
                Some(Rub {
                    element: friction.element,
                    load,
                    state: friction.state,
                    toward: toward(&friction.pair),
                })
            }
            _ => return None,
        };
        let mut ends = [GROUND; MOST_SPRINGS];
        for (i, spring) in springs.iter().enumerate() {
            ends[i] = other_end(network, &spring.pair)?;
            // Seen from its other end a spring has the opposite stretch, to the last bit, if its length counts the other way.
            let first = spring.pair.first.q == 0;
            rest.stiffness[i] = spring.stiffness;
            rest.damping[i] = spring.damping;
            rest.length[i] = if first { -spring.length } else { spring.length };
        }
        for (start, drive) in rest.start.iter_mut().zip(&network.drives) {
            *start = drive.start;
        }
        let some = |numbers: &[f64]| numbers.iter().any(|&x| x != 0.0);
        let shape = Shape {
            drivers: network.drives.len(),
            springs: springs.len(),
            ends,
            damped: some(&rest.damping),
            long: some(&rest.length),
            pushed: springs.is_empty(),
            actuated: motor.is_some(),
            heavy: rest.gravity != 0.0,
            massive: hot.inverse_mass != 1.0,
            shifted: some(&rest.start),
            friction: rubbing,
            under,
        };
        Some(OneCoordinate {
            velocity: layout.positions,
            springs: springs.to_vec(),
            motor,
            friction,
            fixed: (hot, rest),
            steered: shape.is_steered(),
            shape,
        })
    }

    /// Does steps up to the next change of a profile, at most `most`. The state is left as it was, and 0 returned, if a
    /// number does not stay finite: the general step says which.
    pub(crate) fn advance(&self, network: &Network, state: &mut NetworkState, scratch: &mut Scratch, most: u64) -> u64 {
        let steps = constant_steps(network, state, scratch).min(most);
        let Some((shape, mut run)) = self.numbers(network, state, scratch) else {
            return 0;
        };
        let length = network.step;
        alone(shape, &mut run, length, 1);
        if steps > 1 {
            run.1.settle_drivers();
            alone(shape, &mut run, length, steps - 1);
        }
        if self.take_over(shape, network, &run, state, steps) {
            steps
        } else {
            0
        }
    }

    /// Does one step, after which it is as well known as if it had been observed. On `false` the state is left as it was.
    pub(crate) fn advance_seen(&self, network: &Network, state: &mut NetworkState, scratch: &mut Scratch) -> bool {
        network.signals.sample(2 * (state.step + 1), &mut scratch.signals);
        if scratch.signals.broken().is_some() {
            return false;
        }
        match self.steered {
            true => self.advance_like(Shape::STEERED, network, state, scratch),
            false => self.advance_like(self.shape, network, state, scratch),
        }
    }

    /// The same with signals that are known. A shape that is a constant leaves out all that it does not have.
    #[inline(always)]
    fn advance_like(&self, like: Shape, network: &Network, state: &mut NetworkState, scratch: &mut Scratch) -> bool {
        let mut run = self.fixed;
        let Some(shape) = self.fill(like, network, state, scratch, &mut run) else {
            return false;
        };
        let before = Before::of(shape, &run, network.step);
        let (hot, rest) = &mut run;
        let dry = hot.dry;
        rest.stuck = rub(shape, (hot, rest), before.free, dry, network.step);
        if !self.take_over(shape, network, &run, state, 1) {
            return false;
        }
        self.show(shape, &before, &run, network.step, scratch);
        true
    }

    /// Does steps up to the next change of a profile, at most `most`, and keeps what the report needs of them. The last is shown.
    pub(crate) fn advance_tallied(
        &self,
        network: &Network,
        state: &mut NetworkState,
        scratch: &mut Scratch,
        (work, tallies): (&mut Work, &mut Tallies),
        most: u64,
    ) -> u64 {
        let steps = constant_steps(network, state, scratch).min(most);
        // Work of several applied forces is summed force by force; a network like this hardly has more than one.
        if scratch.signals.broken().is_some() || network.forces.len() > 1 {
            return 0;
        }
        let Some((shape, mut run)) = self.numbers(network, state, scratch) else {
            return 0;
        };
        let (length, first, marked) = (network.step, state.step + 1, tallies.changes.len());
        let mut book = self.open(network, work, tallies);
        let end = first + steps;
        if steps > 1 {
            watched(
                shape,
                &mut run,
                &mut book,
                length,
                first..first + 1,
                &mut tallies.changes,
            );
            run.1.settle_drivers();
            watched(
                shape,
                &mut run,
                &mut book,
                length,
                first + 1..end - 1,
                &mut tallies.changes,
            );
        }
        let before = Before::of(shape, &run, length);
        watched(shape, &mut run, &mut book, length, end - 1..end, &mut tallies.changes);
        if !self.take_over(shape, network, &run, state, steps) {
            tallies.changes.truncate(marked);
            return 0;
        }
        self.close(&book, work, tallies, marked);
        self.show(shape, &before, &run, length, scratch);
        steps
    }

    /// The sums so far.
    fn open(&self, network: &Network, work: &Work, tallies: &Tallies) -> Book {
        let account = |element: usize, toward: f64, stiffness: f64| Account {
            element,
            toward,
            delivered: work.delivered[element],
            own: work.own[element],
            curvature: 0.5 * stiffness * network.step * network.step,
            trend: tallies.trend(element, toward),
        };
        let nothing = Account {
            element: 0,
            toward: 1.0,
            delivered: 0.0,
            own: 0.0,
            curvature: 0.0,
            trend: Trend::default(),
        };
        Book {
            input: work.input,
            kinetic: work.kinetic,
            springs: std::array::from_fn(|i| {
                let spring = self.springs.get(i);
                spring.map_or(nothing, |spring| {
                    account(spring.element, toward(&spring.pair), spring.stiffness)
                })
            }),
            motor: self
                .motor
                .map_or(nothing, |motor| account(motor.element, motor.toward, 0.0)),
            floor: self
                .friction
                .map_or(nothing, |rub| account(rub.element, rub.toward, 0.0)),
            spell: tallies.spell(self.friction.map_or(0, |rub| rub.element)),
        }
    }

    /// Puts the sums back; changes of mode are in the list already, from the place `marked` on.
    fn close(&self, book: &Book, work: &mut Work, tallies: &mut Tallies, marked: usize) {
        (work.input, work.kinetic) = (book.input, book.kinetic);
        let springs = &book.springs[..self.springs.len()];
        let motor = self.motor.map(|_| &book.motor);
        let floor = self.friction.map(|_| &book.floor);
        for account in springs.iter().chain(motor).chain(floor) {
            work.delivered[account.element] = account.delivered;
            work.own[account.element] = account.own;
            tallies.add_trend(account.element, account.toward, &account.trend);
        }
        if floor.is_some() {
            tallies.add_spell(&book.spell, marked);
        }
    }

    /// Notes what elements did in the last step, from the numbers before and after it, as the general step does.
    #[inline(always)]
    fn show(&self, shape: Shape, before: &Before, (after, rest): &Run, length: f64, scratch: &mut Scratch) {
        let seen = &mut scratch.seen;
        let other = |end: End| {
            let position = |end: End| rest.start[end] + length * before.sum[end];
            if end == GROUND {
                [0.0; 3]
            } else {
                [position(end), before.velocity[end], rest.travel[end]]
            }
        };
        for (spring, &end) in self.springs.iter().zip(&shape.ends).take(shape.springs) {
            let (own, other) = ([before.x, before.v, after.v], other(end));
            let [first, second] = if spring.pair.first.q == 0 {
                [own, other]
            } else {
                [other, own]
            };
            let stretch = (first[0] - second[0]) - spring.length;
            let force = -spring.stiffness * stretch - spring.damping * (first[1] - second[1]);
            let normal = (-spring.stiffness * stretch).max(0.0);
            scratch.compression[spring.element] = normal;
            seen[spring.element] = Observation {
                stored: 0.5 * spring.stiffness * stretch * stretch,
                curvature: spring.stiffness,
                normal,
                ..Observation::of(&[force], &[first[2] - second[2]])
            };
        }
        if let Some(motor) = self.motor {
            let velocity = if motor.toward > 0.0 {
                after.v - 0.0
            } else {
                0.0 - after.v
            };
            let force = motor.toward * rest.actuated;
            let seen = &mut seen[motor.element];
            (seen.force[0], seen.velocity[0]) = (force, velocity);
            seen.power = 0.0 + force * velocity;
        }
        if let Some(rub) = self.friction {
            let under = other(shape.under)[2];
            let difference = |own: f64| if rub.toward > 0.0 { own - under } else { under - own };
            let slip = [difference(before.free)];
            let force = if shape.friction.is_dry() {
                // What `resolve` gives for one force at every speed.
                let limit = rest.held[usize::from(before.stuck)];
                let holds = rest.compliance > 0.0 && limit > 0.0;
                match rest.stuck {
                    true if holds => sat(limit, -slip[0] / rest.compliance),
                    true => sat(limit, 0.0),
                    false => -rest.held[0] * 1f64.copysign(slip[0]),
                }
            } else {
                resolve(&rest.curve, rest.load, slip, rest.compliance, before.stuck).force[0]
            };
            seen[rub.element] = Observation {
                mode: Mode::stuck(rest.stuck),
                normal: rest.load,
                ..Observation::of(&[force], &[difference(after.v)])
            };
        }
    }

    /// The numbers of the coming steps; none if the state is one that only the general step can take up.
    fn numbers(&self, network: &Network, state: &NetworkState, scratch: &Scratch) -> Option<(Shape, Run)> {
        let mut run = self.fixed;
        let shape = self.fill(self.shape, network, state, scratch, &mut run)?;
        Some((shape, run))
    }

    /// Puts the numbers of the coming steps beside those that do not change; none if the state is one that only the general step can
    /// take up.
    #[inline(always)]
    fn fill(
        &self,
        mut shape: Shape,
        network: &Network,
        state: &NetworkState,
        scratch: &Scratch,
        (hot, rest): &mut Run,
    ) -> Option<Shape> {
        let (signals, values) = (scratch.signals.get(), &state.values);
        (hot.x, hot.v) = (values[0], values[self.velocity]);
        if hot.v == 0.0 && hot.v.is_sign_negative() {
            return None;
        }
        for force in &network.forces {
            rest.applied += signals[force.signal];
        }
        shape.pushed |= rest.applied != 0.0;
        if let Some(motor) = &self.motor {
            rest.actuated = motor.toward * signals[motor.signal];
        }
        for (i, drive) in network.drives.iter().take(shape.drivers).enumerate() {
            rest.before[i] = values[drive.coordinate.v];
            rest.travel[i] = signals[drive.signal];
            rest.sum[i] = values[drive.sum];
            if values[drive.coordinate.q] != drive.start + network.step * rest.sum[i] {
                return None;
            }
        }
        (hot.sum, hot.travel) = (rest.sum[0], rest.travel[0]);
        if let Some(rub) = &self.friction {
            let (load, compliance) = (signals[rub.load].max(0.0), rest.compliance);
            let slides = rest.curve.dry(0.0, load);
            rest.held = [slides, slides.max(rest.curve.holding(load))];
            hot.dry = Dry {
                slides: compliance * rest.held[0],
                holds: compliance * rest.held[1],
            };
            rest.load = load;
            rest.stuck = values[rub.state] != 0.0;
            hot.limit = if rest.stuck { hot.dry.holds } else { hot.dry.slides };
        }
        Some(shape)
    }

    /// Puts the end of some steps into the state, unless a number is not finite: what has become infinite or undefined
    /// never becomes finite again, so that one look at the end is enough.
    #[inline(always)]
    fn take_over(
        &self,
        shape: Shape,
        network: &Network,
        (hot, rest): &Run,
        state: &mut NetworkState,
        steps: u64,
    ) -> bool {
        let sum = |i: usize| if i == 0 { hot.sum } else { rest.sum[i] };
        let position = |i: usize| rest.start[i] + network.step * sum(i);
        let drivers = 0..shape.drivers;
        if !(hot.x.is_finite() && hot.v.is_finite() && drivers.clone().all(|i| position(i).is_finite())) {
            return false;
        }
        let values = &mut state.values;
        (values[0], values[self.velocity]) = (hot.x, hot.v);
        if let Some(rub) = &self.friction {
            values[rub.state] = f64::from(u8::from(rest.stuck));
        }
        for (i, drive) in network.drives.iter().take(shape.drivers).enumerate() {
            values[drive.coordinate.q] = position(i);
            values[drive.coordinate.v] = rest.travel[i];
            values[drive.sum] = sum(i);
        }
        state.step += steps;
        true
    }
}

/// Brings the signals to the end of the coming step; how many steps keep their values.
fn constant_steps(network: &Network, state: &NetworkState, scratch: &mut Scratch) -> u64 {
    let index = 2 * (state.step + 1);
    network.signals.sample(index, &mut scratch.signals);
    scratch.signals.constant_steps(index)
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
            actuated: rest(|run| run.actuated),
            stiffness: several(|run| &run.stiffness),
            damping: several(|run| &run.damping),
            length: several(|run| &run.length),
            start: several(|run| &run.start),
            before: several(|run| &run.before),
            travel: several(|run| &run.travel),
            sum: several(|run| &run.sum),
            compliance: rest(|run| run.compliance),
            load: rest(|run| run.load),
            held: std::array::from_fn(|k| Lanes(std::array::from_fn(|i| runs[i].1.held[k]))),
            curve: Stribeck::side_by_side(&std::array::from_fn(|i| runs[i].1.curve)),
            force: rest(|run| run.force),
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
    let mut members: Vec<(&mut Lane<'_>, &OneCoordinate)> = (lanes.iter_mut())
        .filter_map(|lane| {
            let plan = super::one_coordinate(lane.network)?;
            Some((lane, plan))
        })
        .collect();
    let mut runs: Vec<Run> = Vec::with_capacity(members.len());
    let packs = members.len().div_ceil(WIDTH);
    let mut packs = (Vec::with_capacity(packs), Vec::with_capacity(packs));
    while steps > 0 {
        let mut count = steps;
        let mut shape: Option<Shape> = None;
        runs.clear();
        members.retain_mut(|(lane, plan)| {
            let constant = constant_steps(lane.network, lane.state, lane.scratch);
            let Some((own, run)) = plan.numbers(lane.network, lane.state, lane.scratch) else {
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
        members.retain_mut(|(lane, plan)| {
            ends.next()
                .is_some_and(|end| plan.take_over(plan.shape, lane.network, end, lane.state, count))
        });
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
