//! Elements of the user's own: a force as a function of motion, time and states of its own (seed 004, eqs 6 and 9), without an
//! entry in any registry.

use super::friction::{Friction, Frictions, Resolve};
use super::{Elements, Mode, Observation};
pub use crate::body::own::{MOST_STATES, Motion};
use crate::math::dense::lu_solve;
use crate::network::coupled::Block;
use crate::network::implicit::{ImplicitStage, ImplicitView};
use crate::network::port::{Attachment, Pair};
use crate::network::span::{Course, Span};
use crate::network::stage::{LoadSource, Stage};
use crate::network::tangent::Tangent;
use nalgebra::Vector3;
use std::fmt;
use std::sync::Arc;
use stickslip_core::friction::Resolved;
use stickslip_core::roots::rising;

/// Most components of the force of an element of the user's own.
pub const MOST_AXES: usize = 3;
/// Rounds of Newton's method in which the states of an element are found.
const ROUNDS: usize = 40;
/// Defect of the equations of states, relative to their terms, that is rounding.
const ROUNDED: f64 = 32.0 * f64::EPSILON;
/// The same below which they count as solved.
const SOLVED: f64 = 1e-6;

/// How the states of an element go through a step that is solved at its end (`implicit-euler`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// By the backward Euler rule, z⁺ = z + T·rate at the end of the step, which the engine solves.
    #[default]
    Solved,
    /// By a rule of their own: with [`Motion::step`] = T, `state + T*rate` are the states at the end of the step, and the force is the
    /// one there.
    Own,
    /// Force and rates are taken at the start of the step. A run warns of it: such an element may need small steps.
    Explicit,
}

/// An element of the user's own: friction, a bushing, a controller, the law of a contact.
///
/// It may act between two coordinates, between points of bodies, or on up to three pairs of coordinates at once, and runs with
/// every integrator. See [`crate::model::Model::own_element`] for an example.
pub trait OwnElement: Send + Sync {
    /// The states it keeps for `axes` axes, at the start.
    fn initial(&self, axes: usize) -> Vec<f64> {
        let _ = axes;
        Vec::new()
    }

    /// Names of the states, for columns of the trace; states without one have no column.
    fn state_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Writes the force on the first body, one number per axis, and the rate of every state.
    fn respond(&self, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]);

    /// How the states go through an implicit step.
    fn update(&self) -> Update {
        Update::Solved
    }

    /// Writes derivatives, row by row: those of the force, then those of the rates; by the position, the velocity and the states. Where
    /// it returns false (as by default) the engine takes differences.
    fn derivatives(&self, motion: &Motion<'_>, matrix: &mut [f64]) -> bool {
        let _ = (motion, matrix);
        false
    }

    /// Whether it sticks, for the column `mode`.
    fn sticks(&self, motion: &Motion<'_>) -> bool {
        motion.velocity.iter().all(|&v| v == 0.0)
    }

    /// What it is, with its numbers: snapshots of systems whose elements say different things do not fit each other.
    fn about(&self) -> String {
        "an element of the user's own".into()
    }

    /// The word of its kind in messages: that of an element of the user's own.
    fn kind(&self) -> &'static str {
        "equations"
    }

    /// Energy that it stores, for the energy ledger.
    fn stored(&self, motion: &Motion<'_>) -> f64 {
        let _ = motion;
        0.0
    }

    /// Whether [`OwnElement::stored`] says all that it can give back. What such an element gives beyond that is doubted, as that of a spring;
    /// what any other gives over a run counts as put in, as that of an actuator.
    fn stores(&self) -> bool {
        false
    }
}

/// An element of the user's own, shared by the systems that have it.
#[derive(Clone)]
pub struct OwnLaw(pub Arc<dyn OwnElement>);

impl fmt::Debug for OwnLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.about())
    }
}

/// What a placed element takes hold of.
#[derive(Clone, Copy, Debug)]
pub enum Hold {
    /// Coordinates.
    Pair(Pair, usize),
    /// Points of two bodies, in the axes of each: force and velocity are in world axes.
    Points([Attachment; 2], [Vector3<f64>; 2]),
}

/// The law of an element of the user's own and what it needs to be asked.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What it does.
    pub law: OwnLaw,
    /// The signal of the time.
    pub time: usize,
    /// Number of states.
    pub states: usize,
}

/// An element of the user's own, evaluated in every stage.
#[derive(Clone, Debug)]
pub struct Own {
    /// Number of the element in the network.
    pub element: usize,
    /// What it takes hold of.
    pub holds: Vec<Hold>,
    /// Number of axes of all together.
    pub axes: usize,
    /// The law.
    pub placed: Placed,
    /// The normal force.
    pub load: LoadSource,
    /// Where the states begin.
    pub state: usize,
}

/// Derivatives of force and rates by position, velocity and states.
struct Slopes {
    matrix: [f64; (MOST_AXES + MOST_STATES) * (2 * MOST_AXES + MOST_STATES)],
    columns: usize,
}

impl Slopes {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.matrix[row * self.columns + column]
    }

    /// 1 − h·∂rate/∂z, of a step h of the states, in the first numbers.
    fn of_step(&self, axes: usize, count: usize, h: f64) -> [f64; MOST_STATES * MOST_STATES] {
        let mut matrix = [0.0; MOST_STATES * MOST_STATES];
        for i in 0..count {
            for j in 0..count {
                let unit = if i == j { 1.0 } else { 0.0 };
                matrix[i * count + j] = unit - h * self.at(axes + i, 2 * axes + j);
            }
        }
        matrix
    }
}

impl Placed {
    fn respond(&self, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]) {
        self.law.0.respond(motion, rate, force);
    }

    /// Derivatives at a motion: the law's own, or central differences.
    fn slopes(&self, motion: &Motion<'_>) -> Slopes {
        let (axes, states) = (motion.velocity.len(), motion.state.len());
        let columns = 2 * axes + states;
        let mut slopes = Slopes {
            matrix: [0.0; (MOST_AXES + MOST_STATES) * (2 * MOST_AXES + MOST_STATES)],
            columns,
        };
        let matrix = &mut slopes.matrix[..(axes + states) * columns];
        if self.law.0.derivatives(motion, matrix) {
            return slopes;
        }
        let mut numbers = [0.0; 2 * MOST_AXES + MOST_STATES];
        numbers[..axes].copy_from_slice(motion.position);
        numbers[axes..2 * axes].copy_from_slice(motion.velocity);
        numbers[2 * axes..columns].copy_from_slice(motion.state);
        for column in 0..columns {
            let middle = numbers[column];
            // The third root of the rounding balances rounding against curvature.
            let change = 6e-6 * middle.abs().max(1e-3);
            let mut ends = [[0.0; MOST_AXES + MOST_STATES]; 2];
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                numbers[column] = middle + sign * change;
                let moved = Motion {
                    position: &numbers[..axes],
                    velocity: &numbers[axes..2 * axes],
                    state: &numbers[2 * axes..columns],
                    ..*motion
                };
                let (force, rate) = end[..axes + states].split_at_mut(axes);
                self.respond(&moved, rate, force);
            }
            numbers[column] = middle;
            for row in 0..axes + states {
                matrix[row * columns + column] = (ends[0][row] - ends[1][row]) / (2.0 * change);
            }
        }
        slopes
    }

    /// Stiffness and damping along one axis.
    pub(crate) fn firmness(&self, motion: &Motion<'_>) -> [f64; 2] {
        let slopes = self.slopes(motion);
        [-slopes.at(0, 0), -slopes.at(0, 1)]
    }

    /// Force at the end of a step and the states there. `motion` is that of the end, with the states of the start; `weight` is that of
    /// the end in the rates: z⁺ = z + T·rate with z⁺·weight + z·(1 − weight) in it.
    fn advance(&self, motion: &Motion<'_>, weight: f64, next: &mut [f64], force: &mut [f64]) {
        let count = motion.state.len();
        let step = motion.step;
        let mut rate = [0.0; MOST_STATES];
        if count == 0 || self.law.0.update() == Update::Own {
            self.respond(motion, &mut rate[..count], force);
            for ((next, z), rate) in next.iter_mut().zip(motion.state).zip(&rate) {
                *next = z + step * rate;
            }
            return;
        }
        next.copy_from_slice(motion.state);
        let at = |states: &[f64], rate: &mut [f64], force: &mut [f64]| {
            let within = Motion {
                state: states,
                step: 0.0,
                ..*motion
            };
            self.respond(&within, rate, force);
        };
        let between = |next: &[f64]| {
            let mut states = [0.0; MOST_STATES];
            for ((state, next), z) in states.iter_mut().zip(next).zip(motion.state) {
                *state = if weight == 1.0 {
                    *next
                } else {
                    weight * next + (1.0 - weight) * z
                };
            }
            states
        };
        let defect = |next: &[f64], rate: &mut [f64], force: &mut [f64]| {
            at(&between(next)[..count], rate, force);
            let mut defect = [0.0; MOST_STATES];
            let mut size = 0.0f64;
            for i in 0..count {
                let change = step * rate[i];
                defect[i] = motion.state[i] + change - next[i];
                // Relative to the numbers it is a difference of; where all are 0 there is none.
                let scale = next[i].abs() + motion.state[i].abs() + change.abs();
                let part = if scale == 0.0 { 0.0 } else { defect[i].abs() / scale };
                // What is no number stays so.
                if part > size || part.is_nan() {
                    size = part;
                }
            }
            (defect, size)
        };
        let (mut wrong, mut size) = defect(next, &mut rate[..count], force);
        for _ in 0..ROUNDS {
            if size <= ROUNDED || !size.is_finite() {
                break;
            }
            let states = between(next);
            let within = Motion {
                state: &states[..count],
                step: 0.0,
                ..*motion
            };
            let mut matrix = self
                .slopes(&within)
                .of_step(motion.velocity.len(), count, step * weight);
            let mut change = wrong;
            if !lu_solve(&mut matrix[..count * count], count, &mut change[..count]) {
                break;
            }
            let (mut fraction, mut better) = (1.0, false);
            while fraction > 1e-3 {
                let mut trial = [0.0; MOST_STATES];
                for i in 0..count {
                    trial[i] = next[i] + fraction * change[i];
                }
                let (trial_wrong, trial_size) = defect(&trial[..count], &mut rate[..count], force);
                if trial_size < size {
                    next.copy_from_slice(&trial[..count]);
                    (wrong, size, better) = (trial_wrong, trial_size, true);
                    break;
                }
                fraction *= 0.5;
            }
            if !better {
                break;
            }
        }
        at(next, &mut rate[..count], force);
        // States that solve nothing must not go on: the run ends where a force is no number.
        if size > SOLVED || size.is_nan() {
            force.fill(f64::NAN);
        }
    }

    /// How the force of [`Placed::advance`] changes with the velocity at the end, the position following it as x + T·w.
    fn tangent(&self, motion: &Motion<'_>, next: &[f64], tangent: &mut [f64]) {
        let (axes, count, step) = (motion.velocity.len(), motion.state.len(), motion.step);
        let own = self.law.0.update() == Update::Own;
        let end = Motion {
            state: if own { motion.state } else { next },
            step: if own { step } else { 0.0 },
            ..*motion
        };
        let slopes = self.slopes(&end);
        let along = |row: usize, by: usize| step * slopes.at(row, by) + slopes.at(row, axes + by);
        for i in 0..axes {
            for j in 0..axes {
                tangent[i * axes + j] = along(i, j);
            }
        }
        if own || count == 0 {
            return;
        }
        // dz⁺/dw = (1 − T·∂rate/∂z)⁻¹·T·(T·∂rate/∂x + ∂rate/∂v).
        for by in 0..axes {
            let mut matrix = slopes.of_step(axes, count, step);
            let mut column = [0.0; MOST_STATES];
            for (i, entry) in column[..count].iter_mut().enumerate() {
                *entry = step * along(axes + i, by);
            }
            if !lu_solve(&mut matrix[..count * count], count, &mut column[..count]) {
                continue;
            }
            for i in 0..axes {
                let by_states: f64 = (0..count).map(|j| slopes.at(i, 2 * axes + j) * column[j]).sum();
                tangent[i * axes + by] += by_states;
            }
        }
    }
}

/// What was gathered of the motion of an element.
#[derive(Clone, Copy, Default)]
struct Gathered {
    position: [f64; MOST_AXES],
    velocity: [f64; MOST_AXES],
}

impl Own {
    fn gather(&self, stage: &Stage<'_>) -> Gathered {
        // Points have three axes, so there is nothing beside them.
        let [Hold::Points(bodies, points)] = &self.holds[..] else {
            return self.gather_pairs(stage.state);
        };
        let [first, second] = bodies.map(|body| body.frame(stage.network, stage.state, stage.frames, stage.linkages));
        let ends = [first.point_position(&points[0]), second.point_position(&points[1])];
        let velocity = first.point_velocity(&ends[0]) - second.point_velocity(&ends[1]);
        Gathered {
            position: (ends[0] - ends[1]).into(),
            velocity: velocity.into(),
        }
    }

    /// The motion of the coordinates among what it takes hold of.
    fn gather_pairs(&self, state: &[f64]) -> Gathered {
        let mut gathered = Gathered::default();
        let mut at = 0;
        for hold in &self.holds {
            if let Hold::Pair(pair, axes) = hold {
                let (x, v) = (pair.position::<3>(state), pair.velocity::<3>(state));
                gathered.position[at..at + axes].copy_from_slice(&x[..*axes]);
                gathered.velocity[at..at + axes].copy_from_slice(&v[..*axes]);
                at += axes;
            }
        }
        gathered
    }

    /// Force and states at the end of a step with the rates of its start, and how they change with the motion at the end, linearised at
    /// that of the start (seed 003, eqs 26 and 33). Rows of the slopes are the force and the states.
    fn linearised(&self, span: &Span<'_>, time: f64, load: f64) -> ([f64; MOST_AXES + MOST_STATES], Slopes) {
        let (axes, count) = (self.axes, self.placed.states);
        let start = self.gather_pairs(span.before);
        let mut numbers = [0.0; MOST_AXES + MOST_STATES];
        let (force, next) = numbers.split_at_mut(axes);
        let motion = Motion {
            time,
            step: 0.0,
            load,
            position: &start.position[..axes],
            velocity: &start.velocity[..axes],
            state: &span.before[self.state..self.state + count],
        };
        let mut rate = [0.0; MOST_STATES];
        self.placed.respond(&motion, &mut rate[..count], force);
        let of_rates = self.placed.slopes(&motion);
        for ((next, z), rate) in next.iter_mut().zip(motion.state).zip(&rate) {
            *next = z + span.step * rate;
        }
        let moved = Motion {
            state: &next[..count],
            ..motion
        };
        let mut unused = [0.0; MOST_STATES];
        self.placed.respond(&moved, &mut unused[..count], force);
        let mut slopes = self.placed.slopes(&moved);
        let columns = slopes.columns;
        for by in 0..2 * axes {
            for i in 0..axes {
                let through: f64 = (0..count)
                    .map(|j| slopes.at(i, 2 * axes + j) * span.step * of_rates.at(axes + j, by))
                    .sum();
                slopes.matrix[i * columns + by] += through;
            }
            for j in 0..count {
                slopes.matrix[(axes + j) * columns + by] = span.step * of_rates.at(axes + j, by);
            }
        }
        (numbers, slopes)
    }

    /// The end of a step by [`Own::linearised`].
    fn linear(&self, stage: &mut Stage<'_>, span: &Span<'_>) {
        let (axes, count) = (self.axes, self.placed.states);
        let (start, end) = (self.gather_pairs(span.before), self.gather_pairs(stage.state));
        let time = stage.signals[self.placed.time];
        let load = self.load.value(stage.signals, stage.compression);
        let (mut numbers, slopes) = self.linearised(span, time, load);
        for (row, number) in numbers[..axes + count].iter_mut().enumerate() {
            for by in 0..axes {
                *number += slopes.at(row, by) * (end.position[by] - start.position[by]);
                *number += slopes.at(row, axes + by) * (end.velocity[by] - start.velocity[by]);
            }
        }
        let before = &span.before[self.state..self.state + count];
        let rates = &mut stage.rate[self.state..self.state + count];
        for ((rate, next), before) in rates.iter_mut().zip(&numbers[axes..]).zip(before) {
            *rate = (next - before) / span.step;
        }
        let mut force = [0.0; MOST_AXES];
        force[..axes].copy_from_slice(&numbers[..axes]);
        self.scatter(stage, &force);
    }

    fn scatter(&self, stage: &mut Stage<'_>, force: &[f64; MOST_AXES]) {
        let mut at = 0;
        for hold in &self.holds {
            match hold {
                Hold::Pair(pair, axes) => {
                    match axes {
                        1 => pair.scatter(stage.load, &[force[at]]),
                        2 => pair.scatter(stage.load, &[force[at], force[at + 1]]),
                        _ => pair.scatter(stage.load, force),
                    }
                    at += axes;
                }
                Hold::Points(bodies, points) => {
                    let force = Vector3::from(*force);
                    for (body, (point, sign)) in bodies.iter().zip(points.iter().zip([1.0, -1.0])) {
                        let frame = body.frame(stage.network, stage.state, stage.frames, stage.linkages);
                        let end = frame.point_position(point);
                        body.apply(stage, &(sign * force), &Vector3::zeros(), &end);
                    }
                    at += 3;
                }
            }
        }
    }

    fn motion<'a>(&self, stage: &'a Stage<'_>, gathered: &'a Gathered) -> Motion<'a> {
        Motion {
            time: stage.signals[self.placed.time],
            step: stage.tau,
            load: self.load.value(stage.signals, stage.compression),
            position: &gathered.position[..self.axes],
            velocity: &gathered.velocity[..self.axes],
            state: &stage.state[self.state..self.state + self.placed.states],
        }
    }

    /// Asks the law, writes the rates and scatters the force.
    fn act(&self, stage: &mut Stage<'_>) -> (Gathered, [f64; MOST_AXES]) {
        let gathered = self.gather(stage);
        let (mut force, mut rate) = ([0.0; MOST_AXES], [0.0; MOST_STATES]);
        let count = self.placed.states;
        let motion = self.motion(stage, &gathered);
        self.placed
            .respond(&motion, &mut rate[..count], &mut force[..self.axes]);
        stage.rate[self.state..self.state + count].copy_from_slice(&rate[..count]);
        self.scatter(stage, &force);
        (gathered, force)
    }

    /// The pair of an element between two coordinates.
    fn pair(&self) -> Option<&Pair> {
        match &self.holds[..] {
            [Hold::Pair(pair, _)] => Some(pair),
            _ => None,
        }
    }
}

/// All elements of the user's own that are evaluated in every stage.
#[derive(Default)]
pub struct Owns(pub Vec<Own>);

impl Elements for Owns {
    fn respond(&self, stage: &mut Stage<'_>) {
        for own in &self.0 {
            own.act(stage);
        }
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for own in &self.0 {
            let (gathered, force) = own.act(stage);
            let motion = own.motion(stage, &gathered);
            seen[own.element] = Observation {
                mode: Mode::stuck(own.placed.law.0.sticks(&motion)),
                stored: own.placed.law.0.stored(&motion),
                normal: motion.load,
                ..Observation::of(&force, &gathered.velocity)
            };
        }
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        let follows = |own: &Own| matches!(own.load, LoadSource::Element(_));
        if self.0.iter().any(|own| own.pair().is_none() || follows(own)) {
            return false;
        }
        for own in &self.0 {
            let Some(pair) = own.pair() else { continue };
            let (position, velocity) = (pair.position::<3>(tangent.state), pair.velocity::<3>(tangent.state));
            let (axes, states) = (own.axes, own.state..own.state + own.placed.states);
            let slopes = own.placed.slopes(&Motion {
                time: tangent.signals[own.placed.time],
                step: 0.0,
                load: own.load.value(tangent.signals, &[]),
                position: &position[..axes],
                velocity: &velocity[..axes],
                state: &tangent.state[states.clone()],
            });
            for i in 0..axes {
                for j in 0..axes {
                    tangent.add_stiffness(pair, i, j, slopes.at(i, j));
                    tangent.add_damping(pair, i, j, slopes.at(i, axes + j));
                }
                for (j, column) in states.clone().enumerate() {
                    tangent.add_force(pair, i, column, slopes.at(i, 2 * axes + j));
                }
            }
            for (i, row) in states.clone().enumerate() {
                for j in 0..axes {
                    tangent.add_position_rate(row, pair, j, slopes.at(axes + i, j));
                    tangent.add_rate(row, pair, j, slopes.at(axes + i, axes + j));
                }
                for (j, column) in states.clone().enumerate() {
                    tangent.add(row, column, slopes.at(axes + i, 2 * axes + j));
                }
            }
        }
        true
    }

    /// States by the rule of the step, at the mean of the motion; the force at its end.
    fn finish(&self, stage: &mut Stage<'_>, span: &Span<'_>) {
        for own in &self.0 {
            let count = own.placed.states;
            if span.course == Course::Linear {
                own.linear(stage, span);
                continue;
            }
            if span.course == Course::Mapped || count == 0 {
                own.act(stage);
                continue;
            }
            let end = own.gather(stage);
            let start = own.gather_pairs(span.before);
            let weight = span.weights[2];
            let mut mean = end;
            for i in 0..MOST_AXES {
                mean.position[i] = weight * end.position[i] + (1.0 - weight) * start.position[i];
                mean.velocity[i] = weight * end.velocity[i] + (1.0 - weight) * start.velocity[i];
            }
            let before = &span.before[own.state..own.state + count];
            let (mut next, mut force) = ([0.0; MOST_STATES], [0.0; MOST_AXES]);
            let within = Motion {
                step: span.step,
                state: before,
                ..own.motion(stage, &mean)
            };
            own.placed
                .advance(&within, weight, &mut next[..count], &mut force[..own.axes]);
            let mut unused = [0.0; MOST_STATES];
            let ended = Motion {
                state: &next[..count],
                step: 0.0,
                ..own.motion(stage, &end)
            };
            own.placed.respond(&ended, &mut unused[..count], &mut force[..own.axes]);
            let rates = &mut stage.rate[own.state..own.state + count];
            for ((rate, next), before) in rates.iter_mut().zip(&next).zip(before) {
                *rate = (next - before) / span.step;
            }
            own.scatter(stage, &force);
        }
    }

    fn finish_tangent(&self, tangent: &mut Tangent<'_>, span: &Span<'_>) -> bool {
        if span.course == Course::Linear {
            for own in &self.0 {
                let Some(pair) = own.pair() else { return false };
                let time = tangent.signals[own.placed.time];
                let load = own.load.value(tangent.signals, &[]);
                let (_, slopes) = own.linearised(span, time, load);
                let axes = own.axes;
                for i in 0..axes {
                    for j in 0..axes {
                        tangent.add_stiffness(pair, i, j, slopes.at(i, j));
                        tangent.add_damping(pair, i, j, slopes.at(i, axes + j));
                    }
                }
            }
            return true;
        }
        let stateless = self.0.iter().all(|own| own.placed.states == 0);
        (stateless || span.course == Course::Mapped) && self.tangent(tangent)
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for own in &self.0 {
            let seen = &mut seen[own.element];
            seen.velocity = own.gather(stage).velocity;
            seen.power = (0..3).map(|i| seen.force[i] * seen.velocity[i]).sum();
        }
    }
}

/// Elements of the user's own between coordinates in the implicit step: force and states at its end.
#[derive(Clone, Debug)]
pub struct OwnSteps<const N: usize>(pub Frictions<Placed, N>);

impl<const N: usize> OwnSteps<N> {
    /// The position at the end of the step with a velocity.
    fn position(own: &Friction<Placed>, view: &ImplicitView<'_>, velocity: &[f64]) -> [f64; N] {
        let before: [f64; N] = own.pair.position(view.before);
        std::array::from_fn(|i| before[i] + view.step * velocity[i])
    }

    fn motion<'a>(
        own: &Friction<Placed>,
        view: &ImplicitView<'a>,
        position: &'a [f64; N],
        velocity: &'a [f64],
    ) -> Motion<'a> {
        Motion {
            time: view.signals[own.law.time],
            step: view.step,
            load: own.load.value(view.signals, view.compression),
            position,
            velocity,
            state: &view.before[own.state..own.state + own.law.states],
        }
    }

    /// Force on the first body at a velocity, the states there, and how the force changes with the velocity.
    fn answer(
        own: &Friction<Placed>,
        view: &ImplicitView<'_>,
        velocity: &[f64],
        tangent: Option<&mut [f64]>,
    ) -> ([f64; N], [f64; MOST_STATES]) {
        let position = Self::position(own, view, velocity);
        let motion = Self::motion(own, view, &position, velocity);
        let (mut force, mut next) = ([0.0; N], [0.0; MOST_STATES]);
        let count = own.law.states;
        own.law.advance(&motion, 1.0, &mut next[..count], &mut force);
        if let Some(tangent) = tangent {
            own.law.tangent(&motion, &next[..count], tangent);
        }
        (force, next)
    }

    /// Takes over the states with the final velocity and notes the outcome. `acted` is the force that the coupled solve found: with laws in the
    /// middle of the step it is not the one that belongs to the states at its end, and the ledger counts what acted.
    fn advance(
        own: &Friction<Placed>,
        stage: &mut ImplicitStage<'_>,
        velocity: [f64; N],
        acted: Option<[f64; N]>,
    ) -> [f64; N] {
        let (force, next) = Self::answer(own, &stage.view(), &velocity, None);
        let force = acted.unwrap_or(force);
        let count = own.law.states;
        stage.after[own.state..own.state + count].copy_from_slice(&next[..count]);
        let position = Self::position(own, &stage.view(), &velocity);
        let view = stage.view();
        let ended = Motion {
            state: &next[..count],
            step: 0.0,
            ..Self::motion(own, &view, &position, &velocity)
        };
        let (stuck, stored) = (own.law.law.0.sticks(&ended), own.law.law.0.stored(&ended));
        own.note(stage, &Resolved { force, velocity, stuck }, stored, 0.0);
        force
    }
}

impl<const N: usize> Resolve for OwnSteps<N> {
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.0.begin_with(view, seen, |own, slip| {
            let position = own.pair.position::<N>(view.before);
            own.law
                .law
                .0
                .sticks(&Self::motion(own, view, &position, &slip.velocity))
        });
        for own in &self.0.0 {
            let (position, velocity) = (own.pair.position::<N>(view.before), own.pair.velocity::<N>(view.before));
            let motion = Motion {
                step: 0.0,
                ..Self::motion(own, view, &position, &velocity)
            };
            seen[own.element].stored = own.law.law.0.stored(&motion);
        }
    }

    fn resolve(&self, stage: &mut ImplicitStage<'_>) {
        for own in self.0.0.iter().filter(|own| !own.coupled) {
            // v = v̄ + W·f(v), on one axis; several go through the coupled solve.
            let v_bar = own.pair.velocity::<N>(stage.after);
            let compliance = stage.share * own.compliance();
            let view = stage.view();
            let excess = |v: f64| {
                let mut tangent = [0.0; MOST_AXES * MOST_AXES];
                let (force, _) = Self::answer(own, &view, &[v; N], Some(&mut tangent[..N * N]));
                (v - v_bar[0] - compliance * force[0], 1.0 - compliance * tangent[0])
            };
            let velocity = if compliance == 0.0 {
                v_bar
            } else {
                [rising(excess, v_bar[0]); N]
            };
            let force = Self::advance(own, stage, velocity, None);
            let outcome = Resolved {
                force,
                velocity,
                stuck: false,
            };
            own.settle(stage.after, &outcome, stage.share);
        }
    }

    fn regather(&self, state: &[f64], seen: &mut [Observation]) {
        self.0.regather_all(state, seen);
    }

    fn size(&self) -> (usize, usize) {
        (self.0.0.len(), N)
    }

    fn pair(&self, index: usize) -> &Pair {
        &self.0.0[index].pair
    }

    fn couple(&mut self, index: usize) {
        self.0.0[index].coupled = true;
    }

    fn solves_alone(&self, _index: usize) -> bool {
        N == 1
    }

    fn block(&self, _index: usize, _view: &ImplicitView<'_>) -> Block {
        Block::Smooth
    }

    fn smooth(&self, index: usize, view: &ImplicitView<'_>, velocity: &[f64], force: &mut [f64], tangent: &mut [f64]) {
        let (found, _) = Self::answer(&self.0.0[index], view, velocity, Some(&mut *tangent));
        for (force, found) in force.iter_mut().zip(found) {
            *force = -found;
        }
        tangent.iter_mut().for_each(|slope| *slope = -*slope);
    }

    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], _stuck: bool) {
        let (force, velocity) = (std::array::from_fn(|i| force[i]), std::array::from_fn(|i| velocity[i]));
        Self::advance(&self.0.0[index], stage, velocity, Some(force));
    }
}
