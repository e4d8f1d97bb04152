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
use crate::network::dense::{lu_apply, lu_factor};

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

/// The matrix of derivatives and the factors of I − d·h·J.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    jacobian: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    /// d·h of the factors; 0 if there are none.
    factored: f64,
    /// Whether the derivatives may serve.
    usable: bool,
}

impl Memory {
    pub(crate) fn new(size: usize) -> Memory {
        Memory {
            jacobian: vec![0.0; size * size],
            factors: vec![0.0; size * size],
            order: vec![0; size],
            factored: 0.0,
            usable: false,
        }
    }

    /// The derivatives must be found anew.
    pub(crate) fn forget(&mut self) {
        self.usable = false;
    }

    /// Factors I − scale·J. False if it is singular, or if its determinant is negative: then a motion grows so fast that the step
    /// would damp it, as an L-stable method does beyond its pole. Such a step is too long, however small its error looks: it would
    /// step over the onset of a slip.
    fn factor(&mut self, scale: f64) -> bool {
        let n = self.order.len();
        for (factor, slope) in self.factors.iter_mut().zip(&self.jacobian) {
            *factor = -scale * slope;
        }
        for i in 0..n {
            self.factors[i * n + i] += 1.0;
        }
        self.factored = scale;
        let regular = lu_factor(&mut self.factors, n, &mut self.order);
        let turned = (0..n).filter(|&k| (self.factors[k * n + k] < 0.0) != (self.order[k] != k));
        regular && turned.count() % 2 == 0
    }

    fn solve(&self, x: &mut [f64]) {
        lu_apply(&self.factors, self.order.len(), &self.order, x);
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
}

impl Stage<'_, '_> {
    /// Minus the residual at `y`.
    fn residual(&mut self, y: &[f64], known: &[f64], rate: &mut [f64]) {
        self.bench.rate::<false>(y, self.time, rate);
        for i in 0..self.driven.len() {
            rate[i] = known[i] + self.scale * rate[i] - y[i];
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
        } = &mut *self.bench;
        trial[..n].copy_from_slice(&y[..n]);
        crate::network::stage::evaluate_at::<false>(network, trial, room, self.time);
        let mut memory = std::mem::take(&mut self.march.memory);
        let march = &*self.march;
        let evaluations = network.jacobian(trial, room, |i| march.typical(network, i), &mut memory.jacobian, base);
        statistics.rates += 1 + evaluations;
        statistics.jacobians += 1;
        statistics.factorisations += 1;
        memory.usable = true;
        let regular = memory.factor(self.scale);
        self.march.memory = memory;
        regular
    }

    /// Newton's method from the guess in `y`.
    fn solve(&mut self, y: &mut [f64], known: &[f64], change: &mut [f64], base: &mut [f64]) -> Result<(), Failure> {
        let mut renew = !self.march.memory.usable;
        let mut singular = false;
        if renew {
            singular = !self.tangent(y, base);
        } else if self.march.memory.factored != self.scale {
            self.bench.statistics.factorisations += 1;
            // Derivatives of an earlier moment may say what is no longer so.
            singular = !self.march.memory.factor(self.scale) && !self.tangent(y, base);
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
                return Ok(());
            }
            if renew || iteration + 1 >= KEPT || contraction > 0.5 && iteration > 0 {
                renew = true;
                singular = !self.tangent(y, base);
                last = f64::INFINITY;
            }
            last = if renew { norm } else { norm.min(last) };
        }
        self.march.memory.forget();
        Err(Failure::Unsolved(index))
    }
}

/// Tries a step; the error over the tolerance, and the number it belongs to.
pub(crate) fn attempt<const OBSERVE: bool>(
    bench: &mut Bench<'_>,
    control: &StepControl,
    march: &mut March,
    stages: &mut [Vec<f64>; 7],
    next: &mut [f64],
    driven: &[bool],
    interval: &Interval,
) -> Result<(f64, usize), Failure> {
    let n = driven.len();
    let size = next.len();
    let h = interval.length;
    let scale = D * h;
    let [first, middle, last, known, change, base, power] = stages;
    first[..size].copy_from_slice(&march.rate);
    for i in 0..n {
        known[i] = march.front[i] + scale * first[i];
        next[i] = march.front[i] + GAMMA * h * first[i];
    }
    let mut stage = Stage {
        bench: &mut *bench,
        control,
        march: &mut *march,
        driven,
        time: interval.at(GAMMA),
        scale,
    };
    stage.solve(&mut next[..n], known, change, base)?;
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
    let mut stage = Stage {
        bench: &mut *bench,
        control,
        march: &mut *march,
        driven,
        time: interval.at(1.0),
        scale,
    };
    stage.solve(&mut next[..n], known, change, base)?;
    for i in 0..n {
        last[i] = (next[i] - known[i]) / scale;
        change[i] = h * (ERROR[0] * first[i] + ERROR[1] * middle[i] + ERROR[2] * last[i]);
    }
    if OBSERVE {
        bench.rate::<true>(next, interval.at(1.0), power);
        last[n..size].copy_from_slice(&power[n..size]);
    } else {
        last[n..size].fill(0.0);
    }
    for i in n..size {
        next[i] = march.front[i] + h * (W * (first[i] + middle[i]) + D * last[i]);
    }
    march.memory.solve(&mut change[..n]);
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
