//! TR-BDF2: half a trapezoidal step, then the backward difference formula of second order; L-stable (Bank et al., 1985, in the
//! one-step form of Hosea and Shampine, Applied Numerical Mathematics 20, 1996):
//!
//! Y₂ = y + d·h·(f₁ + f₂) at t + γh,  Y₃ = y + h·(w·f₁ + w·f₂ + d·f₃) at t + h,  γ = 2 − √2, d = γ/2, w = √2/4
//!
//! Both stages have the matrix I − d·h·J and the last rate is the first of the next step. The error is the difference to the
//! embedded formula of third order, with its stiff part taken out by that matrix. Stages are solved by Newton's method; J
//! is kept from step to step as long as it converges fast, and found anew in every iteration where it does not: at the
//! change between stick and slip, touch and release.

use super::march::{Bench, Failure, Interval, March, StepControl, hermite, worst};
use crate::math::dense::{lu_apply, lu_factor};
use crate::network::groups::AtEnd;
use crate::network::march::{Memory, Rows};
use crate::network::span::{Course, Span};
use crate::network::stage::{evaluate_at, evaluate_groups_at};
use crate::stop::Stop;

/// Power of the step that the error estimate falls with.
pub(crate) const ESTIMATE: f64 = 3.0;
/// Where the rate at the end of the step is kept.
pub(crate) const LAST: usize = 2;

/// γ = 2 − √2
const GAMMA: f64 = 2.0 - std::f64::consts::SQRT_2;
/// d = γ/2
const D: f64 = 0.5 * GAMMA;
/// w = √2/4
const W: f64 = 0.25 * std::f64::consts::SQRT_2;
/// Weights of second order less those of third.
const ERROR: [f64; 3] = [W - (1.0 - W) / 3.0, W - (3.0 * W + 1.0) / 3.0, D - D / 3.0];

/// Iterations with a matrix that was kept, and with new ones.
const KEPT: usize = 5;
const RENEWED: usize = 20;

/// Steps that derivatives serve, and by what factor steps may grow meanwhile.
const OLDEST: u32 = 50;
const GROWN: f64 = 4.0;

/// A last change, over the tolerance, that states which follow from the displacement need not see: contacts stretch by less than
/// bodies move, but not by so much.
const UNSEEN: f64 = 1e-7;

impl Memory {
    /// Forgets derivatives that have grown old. Those of a law that was far stiffer then would make every change small, and a solution that
    /// is none look found: no iteration would show it.
    fn refresh(&mut self, scale: f64) {
        self.age += 1;
        if self.age > OLDEST || scale > GROWN * self.found_at {
            self.forget();
        }
    }

    /// Factors I − scale·J of a state of `size` numbers. False if it is singular, or if its determinant is negative: then a motion
    /// grows so fast that the step would damp it, as an L-stable method does beyond its pole. Such a step is too long, however small
    /// its error looks: it would step over the onset of a slip.
    fn factor(&mut self, scale: f64, size: usize, stop: Option<&Stop>) -> bool {
        let n = self.unknown.len();
        for (row, i) in self.unknown.iter().enumerate() {
            for (column, j) in self.unknown.iter().enumerate() {
                let unit = if row == column { 1.0 } else { 0.0 };
                self.factors[row * n + column] = unit - scale * self.jacobian[i * size + j];
            }
        }
        self.factored = scale;
        let regular = lu_factor(&mut self.factors, n, &mut self.order, stop);
        let turned = (0..n).filter(|&k| (self.factors[k * n + k] < 0.0) != (self.order[k] != k));
        regular && turned.count() % 2 == 0
    }

    fn solve(&mut self, x: &mut [f64]) {
        let Memory {
            unknown,
            factors,
            order,
            side,
            ..
        } = self;
        for (side, &i) in side.iter_mut().zip(&*unknown) {
            *side = x[i];
        }
        lu_apply(factors, order.len(), order, side);
        for (side, &i) in side.iter().zip(&*unknown) {
            x[i] = *side;
        }
    }
}

/// The equation of a stage, Y − known − d·h·f(Y) = 0, with its tangent. Whatever gives a residual and a tangent of this kind
/// can stand in its place.
struct Stage<'a, 'b> {
    bench: &'a mut Bench<'b>,
    control: &'a StepControl,
    march: &'a mut March,
    driven: &'a [bool],
    time: f64,
    /// d·h
    scale: f64,
    /// What laws that map steps see, and their states; none if there are no such laws.
    span: Option<(Span<'a>, &'a [usize])>,
    /// Position and velocity of the only unknown coordinate, if there is but one and no other state.
    one_coordinate: Option<[usize; 2]>,
}

impl Stage<'_, '_> {
    /// Minus the residual at `y`; states that follow from the displacement are put into `y`.
    fn residual(&mut self, y: &mut [f64], known: &[f64], rate: &mut [f64]) {
        match self.span {
            None => self.bench.rate::<false>(y, self.time, rate),
            Some((span, mapped)) => self.bench.map(y, self.time, span, mapped, rate),
        }
        for i in 0..self.driven.len() {
            rate[i] = known[i] + self.scale * rate[i] - y[i];
        }
        for &i in self.span.iter().flat_map(|(_, mapped)| *mapped) {
            rate[i] = 0.0;
        }
    }

    /// Finds the derivatives at `y` and factors the matrix. False if it is of no use.
    fn tangent(&mut self, y: &[f64], base: &mut [f64]) -> bool {
        let n = self.driven.len();
        let Bench {
            network,
            trial,
            room,
            statistics,
            stop,
        } = &mut *self.bench;
        trial[..n].copy_from_slice(&y[..n]);
        match self.span {
            None => evaluate_at::<false>(network, trial, room, self.time),
            Some((span, _)) => {
                evaluate_groups_at::<false, _>(network, &AtEnd(&network.elements, span), trial, room, self.time)
            }
        }
        let mut memory = std::mem::take(&mut self.march.memory);
        let march = &*self.march;
        let typical = |i| march.typical(network, i);
        let evaluations = network.jacobian(trial, room, typical, &mut memory.jacobian, base, self.span);
        statistics.rates += 1 + evaluations;
        statistics.jacobians += 1;
        statistics.factorisations += 1;
        memory.usable = true;
        (memory.found_at, memory.age) = (self.scale, 0);
        let regular = memory.factor(self.scale, n, *stop);
        self.march.memory = memory;
        regular
    }

    /// Newton's method from the guess in `y`. The last change over the tolerance.
    fn solve(&mut self, y: &mut [f64], known: &[f64], change: &mut [f64], base: &mut [f64]) -> Result<f64, Failure> {
        let mut renew = !self.march.memory.usable;
        let mut singular = false;
        if renew {
            singular = !self.tangent(y, base);
        } else if self.march.memory.factored != self.scale {
            self.bench.statistics.factorisations += 1;
            // Derivatives of an earlier moment may say what is no longer so.
            let (size, stop) = (self.driven.len(), self.bench.stop);
            singular = !self.march.memory.factor(self.scale, size, stop) && !self.tangent(y, base);
        }
        // A matrix found at the guess counts as kept until it fails to converge.
        renew = false;
        let mut last = f64::INFINITY;
        let mut index = 0;
        for iteration in 0..KEPT + RENEWED {
            if singular {
                return Err(Failure::Unsolved(index));
            }
            self.residual(y, known, change);
            let n = self.driven.len();
            self.march.memory.solve(&mut change[..n]);
            y.iter_mut().zip(&change[..n]).for_each(|(y, change)| *y += change);
            let (norm, largest) = worst(self.march, self.bench.network, self.control, self.driven, y, |i| {
                change[i]
            })?;
            index = largest;
            let contraction = norm / last;
            let ahead = if contraction < 1.0 {
                norm * contraction / (1.0 - contraction)
            } else {
                norm
            };
            // What is left must not be seen by the error estimate. Below a tenth of the tolerance it may be rounding that does
            // not get smaller any more.
            if norm <= 1e-3 || (iteration > 0 && ahead <= 1e-3) || (renew && norm <= 0.1 && contraction > 0.5) {
                return Ok(norm);
            }
            if renew || iteration + 1 >= KEPT || contraction > 0.5 && iteration > 0 {
                renew = true;
                singular = !self.tangent(y, base);
                last = f64::INFINITY;
            }
            last = if renew { norm } else { norm.min(last) };
        }
        self.march.memory.forget();
        // A slope that has turned negative is that of a motion that the step cannot follow.
        if self.bracket(y, known, change) && self.tangent(y, base) {
            return Ok(0.0);
        }
        Err(Failure::Unsolved(index))
    }

    /// Where one velocity is the only unknown: its equation in a bracket. The residual rises with the velocity for good, as the
    /// mass does, so a bracket that is widened holds a root. False if there are more unknowns, or a number is not finite.
    fn bracket(&mut self, y: &mut [f64], known: &[f64], rate: &mut [f64]) -> bool {
        let Some([q, v]) = self.one_coordinate else {
            return false;
        };
        let mut at = |velocity: f64| {
            y[v] = velocity;
            y[q] = known[q] + self.scale * velocity;
            self.residual(y, known, rate);
            -rate[v]
        };
        let mut near = known[v];
        let mut value = at(near);
        let (mut far, mut beyond, mut width) = (near, value, value.abs());
        while (beyond > 0.0) == (value > 0.0) && beyond != 0.0 {
            if !beyond.is_finite() {
                return false;
            }
            (near, value) = (far, beyond);
            far = near - width.copysign(value);
            beyond = at(far);
            width *= 2.0;
        }
        // The chord, with the value of an end that stays halved (the Illinois rule); halving where that is slow.
        for round in 0..200 {
            let chord = far - beyond * (far - near) / (beyond - value);
            let next = if round % 3 == 2 || !chord.is_finite() {
                0.5 * (near + far)
            } else {
                chord
            };
            if next == near || next == far || beyond == 0.0 {
                break;
            }
            let found = at(next);
            if !found.is_finite() {
                return false;
            }
            if (found > 0.0) == (beyond > 0.0) {
                value *= 0.5;
            } else {
                (near, value) = (far, beyond);
            }
            (far, beyond) = (next, found);
        }
        at(far).is_finite()
    }
}

/// Tries a step; the error over the tolerance, and the number it belongs to.
#[allow(clippy::too_many_arguments)] // The step, what is known of the state, and room.
pub(crate) fn attempt<const OBSERVE: bool>(
    bench: &mut Bench<'_>,
    control: &StepControl,
    march: &mut March,
    stages: &mut [Vec<f64>; 7],
    next: &mut [f64],
    rows: &Rows,
    ends: &mut [Vec<f64>; 2],
    interval: &Interval,
) -> Result<(f64, usize), Failure> {
    let Rows {
        driven,
        mapped,
        one_coordinate,
    } = rows;
    let n = driven.len();
    let size = next.len();
    let h = interval.length;
    let scale = D * h;
    march.memory.refresh(scale);
    let [first, middle, last, known, change, base, power] = stages;
    let [begin, middle_state] = ends;
    let maps = !mapped.is_empty();
    if maps {
        begin[..n].copy_from_slice(&march.front[..n]);
        bench.network.signals.sample_at(interval.at(0.0), bench.room.signals);
        bench
            .network
            .place_drives_at(begin, bench.room.signals.get(), interval.at(0.0));
    }
    first[..size].copy_from_slice(&march.rate);
    for i in 0..n {
        known[i] = march.front[i] + scale * first[i];
        next[i] = march.front[i] + GAMMA * h * first[i];
    }
    mapped.iter().for_each(|&i| next[i] = march.front[i]);
    // Mean velocities are those whose displacement the stages have: d·h·(v₁ + v₂) first, h·(w·v₁ + w·v₂ + d·v₃) in all.
    let to_middle = Span {
        before: begin,
        step: GAMMA * h,
        course: Course::Mapped,
        other: begin,
        weights: [0.5, 0.0, 0.5],
    };
    let mut stage = Stage {
        bench: &mut *bench,
        control,
        march: &mut *march,
        driven,
        time: interval.at(GAMMA),
        scale,
        span: maps.then_some((to_middle, mapped)),
        one_coordinate: *one_coordinate,
    };
    let change_left = stage.solve(&mut next[..n], known, change, base)?;
    if maps {
        // The states that belong to the solution.
        if change_left > UNSEEN {
            bench.map(next, interval.at(GAMMA), to_middle, mapped, change);
        }
        // Drivers as they were placed, all else as it was found.
        middle_state.copy_from_slice(bench.trial);
        let found = (0..n).filter(|&i| !driven[i]).chain(mapped.iter().copied());
        found.for_each(|i| middle_state[i] = next[i]);
    }
    // The rate that belongs to the solution: a stiff law would magnify what Newton's method left.
    for i in 0..n {
        middle[i] = (next[i] - known[i]) / scale;
    }
    if OBSERVE {
        bench.rate::<true>(next, interval.at(GAMMA), power);
        middle[n..size].copy_from_slice(&power[n..size]);
    } else {
        middle[n..size].fill(0.0);
    }
    // The guess lets the rate go on changing as it did.
    let rest = (1.0 - GAMMA) * h;
    for i in 0..n {
        known[i] = march.front[i] + W * h * (first[i] + middle[i]);
        next[i] += rest * (middle[i] + (middle[i] - first[i]) * (1.0 - GAMMA) / (2.0 * GAMMA));
    }
    mapped.iter().for_each(|&i| next[i] = middle_state[i]);
    let to_end = Span {
        before: middle_state,
        step: rest,
        course: Course::Mapped,
        other: begin,
        weights: [W - D, W - D, D].map(|weight| weight / (1.0 - GAMMA)),
    };
    let mut stage = Stage {
        bench: &mut *bench,
        control,
        march: &mut *march,
        driven,
        time: interval.at(1.0),
        scale,
        span: maps.then_some((to_end, mapped)),
        one_coordinate: *one_coordinate,
    };
    let change_left = stage.solve(&mut next[..n], known, change, base)?;
    if change_left > UNSEEN && maps {
        bench.map(next, interval.at(1.0), to_end, mapped, change);
    }
    for i in 0..n {
        last[i] = (next[i] - known[i]) / scale;
        change[i] = h * (ERROR[0] * first[i] + ERROR[1] * middle[i] + ERROR[2] * last[i]);
    }
    if OBSERVE || maps {
        bench.rate::<OBSERVE>(next, interval.at(1.0), power);
        last[n..size].copy_from_slice(&power[n..size]);
    } else {
        last[n..size].fill(0.0);
    }
    mapped.iter().for_each(|&i| last[i] = power[i]);
    for i in n..size {
        next[i] = march.front[i] + h * (W * (first[i] + middle[i]) + D * last[i]);
    }
    mapped.iter().for_each(|&i| change[i] = 0.0);
    march.memory.solve(&mut change[..n]);
    if maps {
        // One map over the whole step in place of two tells what it matters that the speed changed.
        known[..n].copy_from_slice(&next[..n]);
        let whole = Span {
            before: begin,
            step: h,
            course: Course::Mapped,
            other: middle_state,
            weights: [W, W, D],
        };
        bench.map(known, interval.at(1.0), whole, mapped, base);
        for &i in mapped {
            let bend = h * first[i] - (next[i] - begin[i]);
            let turn = (next[i] - begin[i]) - h * last[i] - bend;
            let at_middle = begin[i] + GAMMA * ((next[i] - begin[i]) + (1.0 - GAMMA) * (bend + GAMMA * turn));
            let between = at_middle - middle_state[i];
            change[i] = (next[i] - known[i]).abs().max(between.abs());
        }
    }
    worst(march, bench.network, control, driven, next, |i| change[i])
}

/// The interpolant of a step that is kept.
pub(crate) fn finish(
    length: f64,
    front: &[f64],
    next: &[f64],
    stages: &[Vec<f64>; 7],
    interpolant: &mut [Vec<f64>; 5],
) {
    hermite(length, [front, next], [&stages[0], &stages[LAST]], interpolant);
}
