//! The implicit step of one island of coupled frictions, contacts and locks (the paper on model P, eqs 11-20, for several elements at once).
//!
//! Unknown are the forces f on the first body of each element and the relative velocities at the end of the step,
//! w = w̄ + W·f with W = T·J·A⁻¹·Jᵀ symmetric positive semi-definite. Each block of one to three rows obeys one law.
//!
//! * One isotropic friction has the closed form of the paper on model P, eqs 12 and 20.
//! * Scalar frictions, locks and frictionless contacts are a convex problem with bounds, solved by pivoting (`bounded`).
//! * Everything else is solved by Newton's method on the natural map f = Proj(f − ρ·w), each step accepted only if the residual
//!   falls below its last few values. Where it stops, the way goes through laws with rounded corners, for contacts through friction
//!   limits held fixed, and through block Gauss–Seidel sweeps (every block solved exactly for itself).
//!
//! **Breaking away.** A block that was stuck at the start of the step has its holding limit. If it slips even so, it drops to its
//! kinetic law and the step is solved again; it does not get the holding limit back within the step, so there are at most as many
//! passes as blocks, and one. A block that broke may still be caught by its kinetic limit: it is stuck at the end of the step then.
//!
//! **Redundant blocks.** When W is singular the velocities are still unique but the forces are not (parallel elements, four corners
//! of a box). The solution returned is the one with the smallest Σ f²/F over the blocks at rest, F being the limit, or one common
//! value for contacts and locks: parallel elements share a load in proportion to their limits.
//!
//! **Several solutions.** With a falling curve, a block sticks if that is admissible; otherwise it takes the slip velocity reached from
//! the side of its free velocity (the fastest one when the roots are well apart). Rigid contact with friction may have several
//! solutions or none; then the best iterate is returned and `converged` is false.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::bounded::{Bounded, Pivoting};
use super::dense::{affine, dot, eliminate, ldlt_factor, ldlt_solve, length, lu_solve, rank};
use super::local::{Law, Matrix, natural_map, outside, solve_alone, unbiased};
use crate::stop::{Stop, is_set};

/// The law of one block.
#[derive(Clone, Copy)]
pub enum Block {
    /// Dry friction of constant limit: f = −limit·w/|w| when slipping, |f| ≤ limit when w = 0.
    Dry {
        /// Limit while the block holds from the last step.
        holding: Level,
        /// Limit otherwise.
        kinetic: Level,
        /// Whether it was stuck at the start of the step.
        was_stuck: bool,
    },
    /// f = −g(|w|)·w/|w| with g by [`Blocks::steady`] when slipping, |f| ≤ limit when w = 0; the limit is `holding` if it was stuck, else g(0⁺).
    Curve {
        /// Limit while the block holds from the last step.
        holding: Level,
        /// Whether it was stuck at the start of the step.
        was_stuck: bool,
    },
    /// A smooth law: f = −ψ(w), with ψ by [`Blocks::smooth`]. Never counts as stuck.
    Smooth,
    /// Rigid contact, row 0 normal and the other rows tangential (0, 1 or 2): 0 ≤ N ⊥ w_n − target ≥ 0 and dry friction of limit
    /// μ·N. Counts as stuck when it is closed and does not slide.
    Contact {
        /// The normal velocity a closed contact takes.
        target: f64,
        /// Coefficient while it holds from the last step.
        mu_static: f64,
        /// Coefficient otherwise.
        mu_kinetic: f64,
        /// Whether it was stuck at the start of the step.
        was_stuck: bool,
    },
    /// Bilateral: w = 0 with any force.
    Lock,
}

/// A friction force that may differ by direction, on one axis: −(limit − bias) when sliding forward, limit + bias backward; at rest
/// anything between. Friction that does not has no bias.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The mean of both directions, not negative.
    pub limit: f64,
    /// Half of what sliding backward takes more.
    pub bias: f64,
}

impl Level {
    /// From what resists sliding forward and backward.
    pub fn new(forward: f64, backward: f64) -> Self {
        // A limit beyond all numbers holds everything, as the greatest number does.
        let [forward, backward] = [forward, backward].map(|limit| limit.clamp(0.0, f64::MAX / 4.0));
        Level {
            limit: 0.5 * (forward + backward),
            bias: 0.5 * (backward - forward),
        }
    }
}

impl From<f64> for Level {
    /// The same in all directions.
    fn from(limit: f64) -> Self {
        Level::new(limit, limit)
    }
}

/// The laws of an island, asked for during the solution.
pub trait Blocks {
    /// The law of block i.
    fn block(&self, i: usize) -> Block;
    /// Value and slope of the steady curve of block i at a speed ≥ 0; the value at 0 is the limit from above, g(0⁺).
    fn steady(&self, i: usize, speed: f64) -> (Level, Level);
    /// Writes ψ(w) (d numbers) of block i and its tangent dψ/dw (d×d, row by row).
    fn smooth(&self, i: usize, velocity: &[f64], resistance: &mut [f64], tangent: &mut [f64]);
}

/// The curve or the smooth law of one block.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    laws: &'a dyn Blocks,
    block: usize,
}

impl Asked<'_> {
    /// Value and slope of the steady curve.
    pub(super) fn at(self, speed: f64) -> (Level, Level) {
        self.laws.steady(self.block, speed)
    }

    /// ψ(w) and its tangent.
    pub(super) fn evaluate(self, velocity: &[f64], resistance: &mut [f64], tangent: &mut [f64]) {
        self.laws.smooth(self.block, velocity, resistance, tangent);
    }
}

/// How the solution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Largest defect |Proj(f − ρ·w) − f| of a law, relative to the scale of the forces: the largest limit or |w̄_i|/W_ii.
    pub residual: f64,
    /// Rounds of pivoting, Newton steps and sweeps, over all passes.
    pub iterations: usize,
    /// Whether every law holds within 1e-12 of that scale, or within the rounding of w̄ + W·f if that is more (redundant blocks of very
    /// different compliance).
    pub converged: bool,
}

/// Below this residual (relative to the force scale) a step counts as solved.
const TOLERANCE: f64 = 1e-12;
/// Pivots of W below this part of their diagonal are taken as zero: rounding of J·A⁻¹·Jᵀ is far below, real mass ratios above.
const SINGULAR: f64 = 1e-13;
/// Pivots of the scaled linear system of a singular island below this are taken as zero.
const DEPENDENT: f64 = 1e-12;
/// Limits below this part of the force scale take no part in sharing a load.
const NEGLIGIBLE: f64 = 1e-9;
/// A Newton step must beat the largest of this many last residuals.
const MEMORY: usize = 4;
const NEWTON_STEPS: usize = 40;
const ITERATIONS: usize = 2000;
/// Rescues where bristles are among the blocks: their force may fall with the velocity, and a shorter step helps more.
const SMOOTH_RESCUES: usize = 3;

/// Solver of one island with the buffers it needs.
#[derive(Default)]
pub struct Solver {
    offsets: Vec<usize>,
    broken: Vec<bool>,
    rho: Vec<[f64; 2]>,
    work: Work,
    /// Ends a solve early, unsolved.
    pub(super) stop: Option<Stop>,
}

/// Buffers of the solution of one pass.
#[derive(Default)]
struct Work {
    pivoting: Pivoting,
    lower: Vec<f64>,
    upper: Vec<f64>,
    shifted: Vec<f64>,
    ridge: Vec<f64>,
    centre: Vec<f64>,
    matrix: Vec<f64>,
    gram: Vec<f64>,
    order: Vec<usize>,
    frozen: Vec<bool>,
    step: Vec<f64>,
    trial: Vec<f64>,
    trial_velocity: Vec<f64>,
    best: Vec<f64>,
    held: Vec<f64>,
}

/// One island in one pass, read only.
struct Island<'a> {
    dims: &'a [usize],
    offsets: &'a [usize],
    matrix: &'a [f64],
    free: &'a [f64],
    laws: &'a dyn Blocks,
    broken: &'a [bool],
    /// The unit of force for residuals; positive.
    scale: f64,
    /// The factors ρ of each block's natural map, force per velocity: of its first row (for friction: of all rows) and of the others.
    rho: &'a [[f64; 2]],
    singular: bool,
    /// Friction limits of the contacts while they are held fixed.
    held: Option<&'a [f64]>,
    stop: Option<&'a Stop>,
}

impl Solver {
    /// Buffers for islands of up to this size; a larger island makes them grow once.
    pub fn new(max_rows: usize, max_blocks: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(max_rows, max_blocks);
        solver
    }

    fn reserve(&mut self, rows: usize, blocks: usize) {
        if self.offsets.len() < blocks {
            self.offsets.resize(blocks, 0);
            self.broken.resize(blocks, false);
            self.rho.resize(blocks, [0.0; 2]);
            self.work.frozen.resize(blocks, false);
            self.work.held.resize(blocks, 0.0);
        }
        let work = &mut self.work;
        if work.step.len() < rows {
            work.pivoting.reserve(rows);
            for buffer in [
                &mut work.lower,
                &mut work.upper,
                &mut work.shifted,
                &mut work.ridge,
                &mut work.centre,
                &mut work.step,
                &mut work.trial,
                &mut work.trial_velocity,
                &mut work.best,
            ] {
                buffer.resize(rows, 0.0);
            }
            work.matrix.resize(rows * rows, 0.0);
            work.gram.resize(rows * rows, 0.0);
            work.order.resize(rows, 0);
        }
    }

    /// Solves one island. `dims` are the rows of each block, `w_matrix` is W row by row, `w_bar` the free relative velocities.
    /// `force` is the warm start (any values, also not finite) and receives the solution; `velocity` receives w, exactly 0.0 in
    /// the rows of stuck blocks (a closed contact: exactly its target in the normal row); `stuck` tells which blocks are at rest.
    ///
    /// Input that is no problem at all (lengths that do not fit, numbers that are not finite) gives zero forces, `converged = false`
    /// and an infinite residual.
    #[allow(clippy::too_many_arguments)]
    pub fn solve(
        &mut self,
        dims: &[usize],
        w_matrix: &[f64],
        w_bar: &[f64],
        laws: &dyn Blocks,
        force: &mut [f64],
        velocity: &mut [f64],
        stuck: &mut [bool],
    ) -> Outcome {
        let (n, m) = (w_bar.len(), dims.len());
        let fits = dims.iter().sum::<usize>() == n
            && dims.iter().all(|d| (1..=3).contains(d))
            && w_matrix.len() == n * n
            && (force.len(), velocity.len(), stuck.len()) == (n, n, m);
        if !fits || w_matrix.iter().chain(w_bar).any(|value| !value.is_finite()) {
            force.fill(0.0);
            velocity.fill(0.0);
            stuck.fill(false);
            return Outcome {
                residual: f64::INFINITY,
                iterations: 0,
                converged: false,
            };
        }
        if m == 1 && closed_form(w_matrix, w_bar, laws.block(0), force, velocity, stuck) {
            return Outcome {
                residual: 0.0,
                iterations: 1,
                converged: true,
            };
        }
        self.reserve(n, m);
        let mut row = 0;
        for (offset, d) in self.offsets.iter_mut().zip(dims) {
            *offset = row;
            row += d;
        }
        self.broken.fill(false);
        let (singular, ridge) = self.work.find_ridge(w_matrix, n);
        self.work.fill_ridge(w_matrix, n, ridge);
        self.work.pivoting.forget();
        if force.iter().any(|f| !f.is_finite()) {
            force.fill(0.0);
        }

        let mut iterations = 0;
        loop {
            let mut island = Island {
                dims,
                offsets: &self.offsets[..m],
                matrix: w_matrix,
                free: w_bar,
                laws,
                broken: &self.broken[..m],
                scale: 1.0,
                rho: &[],
                singular,
                held: None,
                stop: self.stop.as_ref(),
            };
            island.scale = island.force_scale();
            for i in 0..m {
                self.rho[i] = island.factors(i);
            }
            island.rho = &self.rho[..m];
            let work = &mut self.work;
            let bounded = work.bounds(&island);
            iterations += match bounded {
                true => work.pivot(&island, force, velocity),
                false => work.iterate(&island, force, velocity),
            };
            if bounded && island.residual(force, velocity, 0.0).0 > 1e3 * TOLERANCE {
                // Rounding defeated the pivoting.
                iterations += work.iterate(&island, force, velocity);
            }
            if singular {
                work.share(&island, force, velocity);
            }
            let (mut residual, mut converged) = island.settle(force, velocity, stuck);
            if !converged && residual < 1e3 * TOLERANCE {
                // A force put on its limit disturbed a block of much smaller compliance.
                affine(w_matrix, w_bar, force, velocity);
                iterations += work.newton(&island, force, velocity, 0.0);
                if singular {
                    work.share(&island, force, velocity);
                }
                (residual, converged) = island.settle(force, velocity, stuck);
            }
            let mut breaks = false;
            for i in 0..m {
                if !stuck[i] && !self.broken[i] && would_drop(laws.block(i), force, self.offsets[i]) {
                    self.broken[i] = true;
                    breaks = true;
                }
            }
            if !breaks || is_set(self.stop.as_ref()) {
                return Outcome {
                    residual,
                    iterations,
                    converged,
                };
            }
        }
    }
}

/// Whether a block that slips in spite of its holding limit has another law to drop to.
fn would_drop(block: Block, force: &[f64], offset: usize) -> bool {
    match block {
        Block::Dry {
            holding,
            kinetic,
            was_stuck,
        } => was_stuck && holding != kinetic,
        Block::Curve { was_stuck, .. } => was_stuck,
        Block::Contact {
            mu_static,
            mu_kinetic,
            was_stuck,
            ..
        } => was_stuck && mu_static != mu_kinetic && force[offset] > 0.0,
        Block::Smooth | Block::Lock => false,
    }
}

/// One friction whose compliance is the same in all directions (the paper on model P, eqs 12, 19 and 20). False if it is not that case.
fn closed_form(
    w: &[f64],
    w_bar: &[f64],
    block: Block,
    force: &mut [f64],
    velocity: &mut [f64],
    stuck: &mut [bool],
) -> bool {
    let Block::Dry {
        holding,
        kinetic,
        was_stuck,
    } = block
    else {
        return false;
    };
    let d = w_bar.len();
    let compliance = w[0];
    let isotropic = (0..d * d).all(|k| w[k] == if k % (d + 1) == 0 { compliance } else { 0.0 });
    if !isotropic || compliance < 0.0 {
        return false;
    }
    if kinetic.bias != 0.0 || holding.bias != 0.0 {
        return false;
    }
    let speed = length(w_bar);
    let kinetic = kinetic.limit;
    let limit = if was_stuck { holding.limit.max(kinetic) } else { kinetic };
    stuck[0] = speed <= compliance * limit;
    for k in 0..d {
        if stuck[0] {
            let stopping = if compliance > 0.0 { -w_bar[k] / compliance } else { 0.0 };
            force[k] = if d == 1 {
                stopping.clamp(-limit, limit)
            } else {
                stopping
            };
            velocity[k] = 0.0;
        } else {
            force[k] = -kinetic * (w_bar[k] / speed);
            velocity[k] = w_bar[k] * (1.0 - compliance * kinetic / speed);
        }
    }
    if d == 1 && !stuck[0] {
        velocity[0] = w_bar[0] + compliance * force[0];
    }
    true
}

impl<'a> Island<'a> {
    fn law(&self, i: usize) -> Law<'a> {
        let law = Law::of(
            self.laws.block(i),
            Asked {
                laws: self.laws,
                block: i,
            },
            self.broken[i],
        );
        match (law, self.held) {
            (Law::Contact { target, .. }, Some(held)) => Law::Contact {
                target,
                mu: 0.0,
                base: held[i],
            },
            _ => law,
        }
    }

    fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i] + self.dims[i]
    }

    fn diagonal(&self, row: usize) -> f64 {
        self.matrix[row * (self.free.len() + 1)].max(0.0)
    }

    /// √W_ii: forces times this are comparable between rows.
    fn unit(&self, row: usize) -> f64 {
        let unit = self.diagonal(row).sqrt();
        if unit > 0.0 { unit } else { 1.0 }
    }

    fn force_scale(&self) -> f64 {
        let mut scale = 0.0f64;
        for i in 0..self.dims.len() {
            let law = self.law(i);
            if let Some(limit) = law.limit()
                && limit.is_finite()
            {
                scale = scale.max(limit);
            }
            for row in self.rows(i) {
                let target = match law {
                    Law::Contact { target, .. } if row == self.offsets[i] => target,
                    _ => 0.0,
                };
                if self.diagonal(row) > 0.0 {
                    scale = scale.max((self.free[row] - target).abs() / self.diagonal(row));
                }
            }
        }
        if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
    }

    fn factors(&self, i: usize) -> [f64; 2] {
        let rows = self.rows(i);
        let largest = |rows: std::ops::Range<usize>| rows.map(|row| self.diagonal(row)).fold(0.0, f64::max);
        let (first, others) = match self.law(i) {
            Law::Contact { .. } => (rows.start..rows.start + 1, rows.start + 1..rows.end),
            _ => (rows.clone(), rows.clone()),
        };
        [first, others].map(|rows| {
            let compliance = largest(rows.clone());
            let speed = length(&self.free[rows]);
            if compliance > 0.0 {
                1.0 / compliance
            } else if speed > 0.0 {
                // Nothing moves this block: any factor that carries f − ρ·w̄ over the limit.
                4.0 * self.scale / speed
            } else {
                1.0
            }
        })
    }

    /// Largest defect of a law relative to the force scale, and the sum of squares.
    fn residual(&self, force: &[f64], velocity: &[f64], smoothing: f64) -> (f64, f64) {
        let (mut largest, mut squares) = (0.0f64, 0.0);
        let mut add = |r: f64| {
            let defect = (r / self.scale).abs();
            largest = if defect.is_nan() {
                f64::INFINITY
            } else {
                largest.max(defect)
            };
            squares += defect * defect;
        };
        for i in 0..self.dims.len() {
            let rows = self.rows(i);
            let (f, w) = (&force[rows.clone()], &velocity[rows]);
            match (self.law(i), f) {
                (Law::Dry(Level { limit, bias }), [f]) if smoothing == 0.0 => {
                    let f = f - bias;
                    add((f - self.rho[i][0] * w[0]).max(-limit).min(limit) - f);
                }
                (law, _) => {
                    let map = natural_map(law, f, w, self.rho[i], smoothing);
                    map.residual[..f.len()].iter().for_each(|r| add(*r));
                }
            }
        }
        (largest, if squares.is_nan() { f64::INFINITY } else { squares })
    }

    /// The size of velocities that are rounding of w̄ + W·f, relative to the terms of the rows.
    fn rounding(&self, rows: std::ops::Range<usize>, force: &[f64]) -> f64 {
        let n = self.free.len();
        let size = |row: usize| -> f64 {
            let terms = self.matrix[row * n..(row + 1) * n].iter().zip(force);
            self.free[row].abs() + terms.map(|(w, f)| (w * f).abs()).sum::<f64>()
        };
        16.0 * f64::EPSILON * rows.map(size).fold(0.0, f64::max)
    }

    fn at_rest(&self, law: Law, i: usize, force: &[f64], velocity: &[f64]) -> bool {
        let rows = self.rows(i);
        let (f, w, rho) = (&force[rows.clone()], &velocity[rows.clone()], self.rho[i]);
        let slow = |w: &[f64], rows| length(w) <= self.rounding(rows, force);
        match law {
            Law::Lock => true,
            Law::Smooth(_) => false,
            Law::Dry(level) => {
                outside(&unbiased(f, level)[..f.len()], w, rho[0], level.limit).is_none() || slow(w, rows)
            }
            Law::Curve(curve) => {
                let level = curve.at(length(w)).0;
                outside(&unbiased(f, level)[..f.len()], w, rho[0], level.limit).is_none() || slow(w, rows)
            }
            Law::Contact { target, mu, .. } => {
                let normal = f[0] - rho[0] * (w[0] - target);
                let tangential = rows.start + 1..rows.end;
                normal > 0.0 && (outside(&f[1..], &w[1..], rho[1], mu * normal).is_none() || slow(&w[1..], tangential))
            }
        }
    }

    /// Says which blocks are stuck, removes what rounding left (slipping forces are at their limit, stuck velocities are 0.0, open
    /// contacts carry nothing) and returns the residual of what is then there, with w computed from the forces.
    fn settle(&self, force: &mut [f64], velocity: &mut [f64], stuck: &mut [bool]) -> (f64, bool) {
        self.clean(force, velocity, stuck);
        affine(self.matrix, self.free, force, velocity);
        // Putting a force on its limit can set a block of much smaller compliance in motion: then look again.
        let creeps = |i: usize| self.rho[i][1] * length(&velocity[self.rows(i)]) > TOLERANCE * self.scale;
        if (0..self.dims.len()).any(|i| stuck[i] && creeps(i)) {
            self.clean(force, velocity, stuck);
            affine(self.matrix, self.free, force, velocity);
        }
        let (residual, _) = self.residual(force, velocity, 0.0);
        let converged = residual <= TOLERANCE || self.solved(force, velocity);
        for i in 0..self.dims.len() {
            let rows = self.rows(i);
            if stuck[i] {
                velocity[rows.clone()].fill(0.0);
            }
            if let Law::Contact { target, .. } = self.law(i)
                && force[rows.start] > 0.0
            {
                velocity[rows.start] = target;
            }
        }
        (residual, converged)
    }

    /// Says which blocks are stuck and puts their forces where their law has them.
    fn clean(&self, force: &mut [f64], velocity: &[f64], stuck: &mut [bool]) {
        for i in 0..self.dims.len() {
            let law = self.law(i);
            stuck[i] = self.at_rest(law, i, force, velocity);
            let rho = self.rho[i];
            let rows = self.rows(i);
            let (f, w) = (&mut force[rows.clone()], &velocity[rows]);
            match law {
                Law::Dry(level) => bound(f, w, rho[0], level, stuck[i]),
                Law::Curve(curve) => {
                    let speed = if stuck[i] { 0.0 } else { length(w) };
                    bound(f, w, rho[0], curve.at(speed).0, stuck[i]);
                }
                Law::Contact { target, mu, .. } => {
                    if f[0] - rho[0] * (w[0] - target) > 0.0 {
                        f[0] = f[0].max(0.0);
                        let limit = mu * f[0];
                        bound(&mut f[1..], &w[1..], rho[1], limit.into(), stuck[i]);
                    } else {
                        f.fill(0.0);
                    }
                }
                Law::Smooth(_) | Law::Lock => {}
            }
        }
    }

    /// Whether every law holds so.
    fn solved(&self, force: &[f64], velocity: &[f64]) -> bool {
        (0..self.dims.len()).all(|i| self.holds(i, force, velocity))
    }

    /// Whether the law of a block holds within the tolerance and the rounding of its velocity.
    fn holds(&self, i: usize, force: &[f64], velocity: &[f64]) -> bool {
        let rows = self.rows(i);
        let d = rows.len();
        let rounding = self.rounding(rows.clone(), force);
        let (f, w) = (&force[rows.clone()], &velocity[rows]);
        let map = natural_map(self.law(i), f, w, self.rho[i], 0.0);
        (0..d).all(|k| {
            let sensitivity = map.by_velocity[k].iter().fold(0.0f64, |a, b| a.max(b.abs()));
            map.residual[k].abs() <= TOLERANCE * self.scale + sensitivity * rounding
        })
    }
}

/// Puts a slipping force on its limit and keeps a sticking one within it.
fn bound(f: &mut [f64], w: &[f64], rho: f64, Level { limit, bias }: Level, stuck: bool) {
    if let [component] = f
        && bias != 0.0
    {
        let mut shifted = [*component - bias];
        bound(&mut shifted, w, rho, limit.into(), stuck);
        *component = shifted[0] + bias;
        return;
    }
    if stuck {
        let size = length(f);
        if size > limit {
            f.iter_mut().for_each(|component| *component *= limit / size);
        }
        if let [component] = f {
            *component = component.max(-limit).min(limit);
        }
    } else if let Some(direction) = outside(f, w, rho, limit) {
        for (component, towards) in f.iter_mut().zip(direction) {
            *component = limit * towards;
        }
    }
}

impl Work {
    /// Whether W is singular, and the ridge (relative to the diagonal) that makes it safely definite: far above rounding, and far
    /// below the smallest real pivot so that a few rounds of removing its effect suffice.
    fn find_ridge(&mut self, w_matrix: &[f64], n: usize) -> (bool, f64) {
        let copy = &mut self.matrix[..n * n];
        copy.copy_from_slice(w_matrix);
        let (rank, smallest) = rank(copy, n, &mut self.step[..n], SINGULAR);
        (rank < n, if rank < n { (1e-6 * smallest).max(1e-12) } else { 0.0 })
    }

    fn fill_ridge(&mut self, w_matrix: &[f64], n: usize, ridge: f64) {
        let largest = (0..n).map(|i| w_matrix[i * (n + 1)]).fold(0.0, f64::max);
        for i in 0..n {
            let own = w_matrix[i * (n + 1)];
            // A row that nothing moves needs some stiffness too.
            let unit = if own > 0.0 {
                own
            } else if largest > 0.0 {
                largest
            } else {
                1.0
            };
            self.ridge[i] = ridge * unit;
        }
    }

    /// Writes the island as a problem with bounds if it is one.
    fn bounds(&mut self, island: &Island) -> bool {
        for i in 0..island.dims.len() {
            let law = island.law(i);
            for row in island.rows(i) {
                let first = row == island.offsets[i];
                let (lower, upper, target) = match law {
                    Law::Lock => (f64::NEG_INFINITY, f64::INFINITY, 0.0),
                    Law::Dry(Level { limit, bias }) if island.dims[i] == 1 || limit == 0.0 => {
                        (bias - limit, bias + limit, 0.0)
                    }
                    Law::Contact { target, .. } if first => (0.0, f64::INFINITY, target),
                    Law::Contact { mu: 0.0, .. } => (0.0, 0.0, 0.0),
                    _ => return false,
                };
                (self.lower[row], self.upper[row]) = (lower, upper);
                self.shifted[row] = island.free[row] - target;
            }
        }
        true
    }

    /// Pivoting; with a ridge several times, each time pulled to the last solution, which removes the effect of the ridge. The first
    /// pull is to zero, so that the forces that do not matter stay small.
    fn pivot(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64]) -> usize {
        let n = force.len();
        let problem = Bounded {
            matrix: island.matrix,
            free: &self.shifted[..n],
            lower: &self.lower[..n],
            upper: &self.upper[..n],
            ridge: &self.ridge[..n],
        };
        let (mut iterations, mut last) = (0, f64::INFINITY);
        self.centre[..n].fill(0.0);
        loop {
            iterations += self.pivoting.solve(&problem, &self.centre[..n], force, island.stop);
            for i in 0..n {
                // Not `clamp`, which panics at a bound that is no number.
                let (lower, upper) = (self.lower[i], self.upper[i]);
                force[i] = match force[i] {
                    f if f < lower => lower,
                    f if f > upper => upper,
                    f => f,
                };
            }
            affine(island.matrix, island.free, force, velocity);
            if !island.singular {
                return iterations;
            }
            let (residual, _) = island.residual(force, velocity, 0.0);
            // Also where the residual is no number, or infinite for ever: a row that nothing moves.
            let stalls = !residual.is_finite() || residual > 0.5 * last;
            last = residual;
            if residual == 0.0 || stalls {
                break;
            }
            self.centre[..n].copy_from_slice(force);
        }
        if last > 1e-15 {
            iterations += self.newton(island, force, velocity, 0.0);
        }
        iterations
    }

    /// Newton's method; where it stops, once the way through smoothed laws, once through held limits, then sweeps (a falling curve: sweeps
    /// first, which choose its root). Ends with the best iterate in `force` and `velocity`.
    fn iterate(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64]) -> usize {
        let n = force.len();
        // Where forces or roots are not unique, the answer must not depend on the warm start.
        let has_curve = (0..island.dims.len()).any(|i| matches!(island.law(i), Law::Curve(_)));
        let has_contact = (0..island.dims.len()).any(|i| matches!(island.law(i), Law::Contact { .. }));
        let smooth = (0..island.dims.len()).filter(|&i| matches!(island.law(i), Law::Smooth(_)));
        let smooth = smooth.count();
        let most = if smooth > 0 { SMOOTH_RESCUES } else { usize::MAX };
        let absurd = 1e3 * island.scale;
        if island.singular || has_curve || force.iter().any(|f| f.abs() > absurd) {
            force.fill(0.0);
        }
        affine(island.matrix, island.free, force, velocity);
        sweep(island, force, velocity, 1);
        affine(island.matrix, island.free, force, velocity);
        self.best[..n].fill(0.0);
        let (mut iterations, mut sweeps, mut rescues, mut best) = (1, 8, 0, f64::INFINITY);
        loop {
            iterations += self.newton(island, force, velocity, 0.0);
            let (defect, _) = island.residual(force, velocity, 0.0);
            if defect < best {
                best = defect;
                self.best[..n].copy_from_slice(force);
            }
            // Where rounding of the velocities is more than the tolerance there is nothing more to find.
            let enough = || best <= TOLERANCE || (defect == best && island.solved(force, velocity));
            let spent = iterations > ITERATIONS || rescues == most || is_set(island.stop);
            if best <= 0.1 * TOLERANCE || (rescues > 0 && enough()) || spent {
                break;
            }
            rescues += 1;
            // Smooth laws have no corners.
            if rescues == 1 + usize::from(has_curve) && smooth < island.dims.len() {
                iterations += self.follow_smoothing(island, force, velocity);
            } else if has_contact && rescues == 2 {
                iterations += self.hold_limits(island, force, velocity);
            } else {
                iterations += sweeps;
                sweep(island, force, velocity, sweeps);
                affine(island.matrix, island.free, force, velocity);
                sweeps = (2 * sweeps).min(256);
            }
        }
        force.copy_from_slice(&self.best[..n]);
        affine(island.matrix, island.free, force, velocity);
        iterations
    }

    /// Solves the laws with rounded corners, sharper and sharper. Rounded dry friction is smooth and monotone, so Newton's method with
    /// a line search finds it from anywhere; each solution is a good start for the next.
    fn follow_smoothing(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64]) -> usize {
        let mut iterations = 0;
        let mut smoothing = island.scale;
        while smoothing > 1e-12 * island.scale {
            let steps = self.newton(island, force, velocity, smoothing);
            iterations += steps;
            smoothing *= if steps <= 4 { 0.03 } else { 0.2 };
        }
        iterations
    }

    /// Contacts with friction limits fixed at μ·N of the last solution are a convex problem, which is solved reliably; repeating it
    /// with the new normal forces (Haslinger) comes close to the true solution unless friction is very strong.
    fn hold_limits(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64]) -> usize {
        let mut held = std::mem::take(&mut self.held);
        let mut iterations = 0;
        held.fill(0.0);
        for round in 0..40 {
            let fixed = Island {
                held: Some(&held),
                ..*island
            };
            iterations += self.newton(&fixed, force, velocity, 0.0);
            if fixed.residual(force, velocity, 0.0).0 > 1e-9 {
                iterations += self.follow_smoothing(&fixed, force, velocity);
                iterations += self.newton(&fixed, force, velocity, 0.0);
            }
            let mut change = 0.0f64;
            for i in 0..island.dims.len() {
                if let Law::Contact { mu, .. } = island.law(i) {
                    let limit = mu * force[island.offsets[i]].max(0.0);
                    let next = if round < 10 { limit } else { 0.5 * (limit + held[i]) };
                    change = change.max((next - held[i]).abs());
                    held[i] = next;
                }
            }
            if change <= 1e-9 * island.scale || is_set(island.stop) {
                break;
            }
        }
        self.held = held;
        iterations
    }

    /// Newton's method on the natural map as long as the residual falls. Returns the number of steps.
    fn newton(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64], smoothing: f64) -> usize {
        let (mut defect, mut merit) = island.residual(force, velocity, smoothing);
        // Far from the solution the way there may lead uphill: the largest of the last values is what must be beaten.
        let mut recent = [merit; MEMORY];
        for step in 0..NEWTON_STEPS {
            if defect <= 1e-17 || is_set(island.stop) {
                return step + 1;
            }
            recent[step % MEMORY] = merit;
            let to_beat = if defect > 1e-6 {
                recent.iter().copied().fold(0.0, f64::max)
            } else {
                merit
            };
            // Far away the ridge keeps the step small; close by it would slow down the convergence.
            let ridge_first = !island.singular || smoothing > 0.0 || defect > 1e-4;
            let mut improved = false;
            for ridge in [ridge_first, !ridge_first] {
                improved = improved
                    || (ridge || island.singular)
                        && self.newton_step(island, force, velocity, smoothing, ridge)
                        && self.search(island, force, velocity, smoothing, to_beat);
            }
            if !improved {
                return step + 1;
            }
            let before = defect;
            (defect, merit) = island.residual(force, velocity, smoothing);
            if defect <= 0.1 * TOLERANCE && defect > 0.5 * before {
                return step + 1;
            }
        }
        NEWTON_STEPS
    }

    /// The Newton step of the natural map into `step`: (∂r/∂f + ∂r/∂w·W)·δ = −r, with the ridge added to W, or without it and leaving
    /// alone the forces that do not matter.
    fn newton_step(&mut self, island: &Island, force: &[f64], velocity: &[f64], smoothing: f64, ridge: bool) -> bool {
        let n = force.len();
        for i in 0..island.dims.len() {
            let rows = island.rows(i);
            let (f, w) = (&force[rows.clone()], &velocity[rows.clone()]);
            let map = natural_map(island.law(i), f, w, island.rho[i], smoothing);
            for (k, row) in rows.clone().enumerate() {
                // Rows in comparable units, so that the choice of pivots means something.
                let unit = island.unit(row);
                let line = &mut self.matrix[row * n..(row + 1) * n];
                line.fill(0.0);
                for (l, other) in rows.clone().enumerate() {
                    let weight = unit * map.by_velocity[k][l];
                    if weight != 0.0 {
                        for (entry, w) in line.iter_mut().zip(&island.matrix[other * n..(other + 1) * n]) {
                            *entry += weight * w;
                        }
                        if ridge {
                            line[other] += weight * self.ridge[other];
                        }
                    }
                    line[other] += unit * map.by_force[k][l];
                }
                self.step[row] = -unit * map.residual[k];
            }
        }
        let (matrix, step) = (&mut self.matrix[..n * n], &mut self.step[..n]);
        if ridge {
            return lu_solve(matrix, n, step);
        }
        for line in matrix.chunks_exact_mut(n) {
            for (j, entry) in line.iter_mut().enumerate() {
                *entry /= island.unit(j);
            }
        }
        let basic = eliminate(matrix, n, step, &mut self.order[..n], DEPENDENT);
        self.trial[..n].fill(0.0);
        for k in 0..basic {
            self.trial[self.order[k]] = step[k] / island.unit(self.order[k]);
        }
        step.copy_from_slice(&self.trial[..n]);
        step.iter().all(|value| value.is_finite())
    }

    /// Goes along `step` as far as the sum of squares of the residual falls well. False if it does not anywhere.
    fn search(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64], smoothing: f64, merit: f64) -> bool {
        let n = force.len();
        for fraction in [1.0, 0.5, 0.25, 0.1, 0.03] {
            for i in 0..n {
                self.trial[i] = force[i] + fraction * self.step[i];
            }
            affine(
                island.matrix,
                island.free,
                &self.trial[..n],
                &mut self.trial_velocity[..n],
            );
            let (_, after) = island.residual(&self.trial[..n], &self.trial_velocity[..n], smoothing);
            if after <= (1.0 - 0.2 * fraction) * merit {
                force.copy_from_slice(&self.trial[..n]);
                velocity.copy_from_slice(&self.trial_velocity[..n]);
                return true;
            }
        }
        false
    }

    /// Moves the forces to the smallest Σ f²/F among the sets that give the same velocities: along the null space of the rows at
    /// rest, as far as the limits allow. A block that meets its limit is frozen there and the others go on; at the end each frozen block is
    /// tried free again, and stays free if that leads on.
    fn share(&mut self, island: &Island, force: &mut [f64], velocity: &mut [f64]) {
        let m = island.dims.len();
        let allowed = (0.1 * TOLERANCE).max(2.0 * island.residual(force, velocity, 0.0).0);
        self.frozen[..m].fill(false);
        for _ in 0..4 * m + 4 {
            if let Some(i) = self.share_more(island, force, velocity, allowed).1 {
                self.frozen[i] = true;
                continue;
            }
            let leads_on = (0..m).any(|i| {
                if !std::mem::take(&mut self.frozen[i]) {
                    return false;
                }
                let (moved, blocking) = self.share_more(island, force, velocity, allowed);
                if let Some(blocking) = blocking {
                    self.frozen[blocking] = true;
                }
                let leads_on = moved > 1e-14 * island.scale;
                self.frozen[i] |= !leads_on;
                leads_on
            });
            if !leads_on {
                return;
            }
        }
    }

    /// One move of `share`, with the frozen blocks left alone. Returns the largest change of a force and the block that ended the move.
    fn share_more(
        &mut self,
        island: &Island,
        force: &mut [f64],
        velocity: &mut [f64],
        allowed: f64,
    ) -> (f64, Option<usize>) {
        let (n, m) = (force.len(), island.dims.len());
        let (mut moved, mut dependent) = (0.0f64, SINGULAR);
        for _ in 0..4 {
            if !self.sharing_direction(island, force, velocity, dependent) {
                return (moved, None);
            }
            let (fraction, blocking) = room(island, force, velocity, &self.step[..n], &self.frozen[..m]);
            let largest = fraction * self.step[..n].iter().fold(0.0f64, |a, b| a.max(b.abs()));
            self.best[..n].copy_from_slice(force);
            for i in 0..n {
                force[i] += fraction * self.step[i];
            }
            affine(island.matrix, island.free, force, velocity);
            let accurate = island.residual(force, velocity, 0.0).0 <= allowed;
            if !accurate {
                // Null vectors are as good as the pivots taken for zero are small (frozen rows move by their square root, for W is the
                // square of a matrix). Newton's method leads back to the solutions, a little beside the smallest; the next, much
                // shorter move mends that. Where it does not, a pivot was none: be stricter.
                self.newton(island, force, velocity, 0.0);
                if island.residual(force, velocity, 0.0).0 > allowed {
                    force.copy_from_slice(&self.best[..n]);
                    affine(island.matrix, island.free, force, velocity);
                    dependent *= 0.1;
                    continue;
                }
            }
            moved = moved.max(largest);
            if accurate || blocking.is_some() {
                return (moved, blocking);
            }
        }
        (moved, None)
    }

    /// Writes the way to the smallest Σ f²/F along the null space (pivots up to `dependent` are zero) into `step`; false if there is no
    /// null space.
    fn sharing_direction(&mut self, island: &Island, force: &[f64], velocity: &[f64], dependent: f64) -> bool {
        let n = force.len();
        let unit = |row: usize| island.unit(row);
        // Rows at rest: (W·δ) = 0. Others: δ = 0, except the friction of a sliding contact, which follows its normal force.
        self.matrix[..n * n].fill(0.0);
        for i in 0..island.dims.len() {
            let (law, rows) = (island.law(i), island.rows(i));
            let start = rows.start;
            let rest = !self.frozen[i] && !negligible(island, law) && island.at_rest(law, i, force, velocity);
            let closed = matches!(law, Law::Contact { .. }) && !self.frozen[i] && force[start] > 0.0;
            for row in rows {
                let line = &mut self.matrix[row * n..(row + 1) * n];
                if rest || (closed && row == start) {
                    for (j, entry) in line.iter_mut().enumerate() {
                        *entry = island.matrix[row * n + j] / (unit(row) * unit(j));
                    }
                    if island.diagonal(row) == 0.0 {
                        line[row] = 1.0;
                    }
                } else {
                    line[row] = 1.0;
                    if closed {
                        line[start] = -force[row] / force[start] * unit(row) / unit(start);
                    }
                }
            }
        }
        let rank = eliminate(
            &mut self.matrix[..n * n],
            n,
            &mut self.step[..n],
            &mut self.order[..n],
            dependent,
        );
        let nullity = n - rank;
        if nullity == 0 {
            return false;
        }
        // Weights 1/F; (Zᵀ·D·Z)·t = −Zᵀ·D·f, the step is Z·t.
        let weight = &mut self.trial[..n];
        for i in 0..island.dims.len() {
            let limit = island
                .law(i)
                .limit()
                .filter(|limit| limit.is_finite())
                .unwrap_or(island.scale);
            weight[island.rows(i)].fill(island.scale / limit.max(NEGLIGIBLE * island.scale));
        }
        let (matrix, order) = (&self.matrix, &self.order);
        // Null vector c has these entries (in forces); everything else is 0.
        let entry = |c: usize, k: usize| -matrix[k * n + rank + c] / unit(order[k]);
        for a in 0..nullity {
            let own = order[rank + a];
            for b in 0..=a {
                let sum: f64 = (0..rank).map(|k| entry(a, k) * weight[order[k]] * entry(b, k)).sum();
                let diagonal = if a == b {
                    weight[own] / (unit(own) * unit(own))
                } else {
                    0.0
                };
                self.gram[a * nullity + b] = sum + diagonal;
            }
        }
        ldlt_factor(&mut self.gram[..nullity * nullity], nullity);
        // The second round is iterative refinement: limits, and so weights, may differ by many powers of ten.
        self.step[..n].fill(0.0);
        for _ in 0..2 {
            for a in 0..nullity {
                let own = order[rank + a];
                let gradient = |row: usize| weight[row] * (force[row] + self.step[row]);
                let sum: f64 = (0..rank).map(|k| entry(a, k) * gradient(order[k])).sum();
                self.trial_velocity[a] = -sum - gradient(own) / unit(own);
            }
            ldlt_solve(
                &self.gram[..nullity * nullity],
                nullity,
                &mut self.trial_velocity[..nullity],
            );
            for c in 0..nullity {
                let amount = self.trial_velocity[c];
                self.step[order[rank + c]] += amount / unit(order[rank + c]);
                for k in 0..rank {
                    self.step[order[k]] += amount * entry(c, k);
                }
            }
        }
        true
    }
}

/// Whether a block carries so little that its share does not matter: its weight 1/F would drown the others.
fn negligible(island: &Island, law: Law) -> bool {
    law.limit().is_some_and(|limit| limit <= NEGLIGIBLE * island.scale)
}

/// How far along `step` (at most 1) the forces stay admissible, and the block that ends it.
fn room(island: &Island, force: &[f64], velocity: &[f64], step: &[f64], frozen: &[bool]) -> (f64, Option<usize>) {
    let (mut fraction, mut blocking) = (1.0, None);
    for i in (0..island.dims.len()).filter(|&i| !frozen[i]) {
        let law = island.law(i);
        let rows = island.rows(i);
        let (f, s) = (&force[rows.clone()], &step[rows]);
        let mut own = 1.0f64;
        match law {
            Law::Dry(_) | Law::Curve(_) => {
                let Level { limit, bias } = law.level().unwrap_or(f64::INFINITY.into());
                let f = &unbiased(f, Level { limit, bias })[..f.len()];
                own = crossing(dot(s, s), dot(f, s), dot(f, f) - limit * limit);
            }
            Law::Contact { mu, .. } => {
                if s[0] < 0.0 {
                    own = (f[0] / -s[0]).clamp(0.0, 1.0);
                }
                if f.len() > 1 && island.at_rest(law, i, force, velocity) {
                    let (f, s, n, s_n) = (&f[1..], &s[1..], mu * f[0], mu * s[0]);
                    own = own.min(crossing(dot(s, s) - s_n * s_n, dot(f, s) - n * s_n, dot(f, f) - n * n));
                }
            }
            Law::Smooth(_) | Law::Lock => {}
        }
        if own < fraction {
            (fraction, blocking) = (own, Some(i));
        }
    }
    (fraction, blocking)
}

/// The first t in [0, 1] from which a·t² + 2b·t + c is positive, else 1.
fn crossing(a: f64, b: f64, c: f64) -> f64 {
    if a + 2.0 * b + c <= 0.0 && (c < 0.0 || b <= 0.0) {
        return 1.0;
    }
    if c >= 0.0 {
        return if b > 0.0 || (b == 0.0 && a > 0.0) { 0.0 } else { 1.0 };
    }
    // c < 0: the root with the sign change from below.
    let root = (b * b - a * c).max(0.0).sqrt();
    let t = if b > 0.0 { -c / (b + root) } else { (root - b) / a };
    if t.is_finite() { t.clamp(0.0, 1.0) } else { 1.0 }
}

/// Block Gauss–Seidel: every block in turn takes the force that solves its own law, forwards and backwards alternately.
fn sweep(island: &Island, force: &mut [f64], velocity: &mut [f64], times: usize) {
    let (n, m) = (force.len(), island.dims.len());
    for time in 0..times {
        let mut largest = 0.0f64;
        for step in 0..m {
            let i = if time % 2 == 0 { step } else { m - 1 - step };
            let rows = island.rows(i);
            let (d, start) = (rows.len(), rows.start);
            let mut own: Matrix = [[0.0; 3]; 3];
            let (mut q, mut f) = ([0.0; 3], [0.0; 3]);
            for k in 0..d {
                own[k][..d].copy_from_slice(&island.matrix[(start + k) * n + start..(start + k) * n + start + d]);
                f[k] = force[start + k];
                q[k] = velocity[start + k] - dot(&own[k][..d], &force[rows.clone()]);
            }
            solve_alone(island.law(i), &own, &q[..d], &mut f[..d]);
            for k in 0..d {
                let change = f[k] - force[start + k];
                if change == 0.0 || !change.is_finite() {
                    continue;
                }
                largest = largest.max(change.abs());
                force[start + k] = f[k];
                for (row, w) in velocity.iter_mut().enumerate() {
                    *w += island.matrix[row * n + start + k] * change;
                }
            }
        }
        if largest <= 1e-16 * island.scale || is_set(island.stop) {
            return;
        }
    }
}
