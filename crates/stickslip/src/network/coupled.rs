//! The implicit step of one island of coupled frictions, contacts and locks (the paper on model P, eqs 11-20, for several elements at once).
//!
//! Unknown are the change δ of the velocities and the forces f on the first body of each element:
//!
//! A·δ = T·Jᵀ·f,  w = w̄ + J·δ,  each block of one to three rows of J obeys one law between its f and its w.
//!
//! A is a matrix of blocks, one for each body, joined by stiff springs (`sparse`); no matrix of all contacts is ever formed, so that the
//! cost grows with the number of bodies. Newton's method on the natural maps r = Proj(f − ρ·w) − f gives per block
//! df = f₀ − G·J·dδ, which leaves one system on the pattern of A: (A + T·Jᵀ·G·J)·dδ = A·δ − T·Jᵀ·f + T·Jᵀ·f₀.
//!
//! * One isotropic friction has the closed form of the paper on model P, eqs 12 and 20.
//! * **Sticking first.** What was stuck begins stuck. If then something that was stuck would slide, or Newton's method stops, the
//!   convex problem in which it sticks is solved by an interior-point method (`cones`): if forces within the limits exist that hold
//!   everything, it finds them (De Saxcé and Feng 1998; Cadoux 2009; Acary and Brogliato 2008). Newton's method goes on from there.
//! * What is left (impacts in heaps, mostly) goes through laws with a compliance that is taken away step by step.
//!
//! **Breaking away.** A block that was stuck at the start of the step has its holding limit. If it slips even so, it drops to its
//! kinetic law and the step is solved again; it does not get the holding limit back within the step, so there are at most as many
//! passes as blocks, and one. A block that broke may still be caught by its kinetic limit: it is stuck at the end of the step then.
//! A curve is dry friction with its limit at rest at first: it sticks if that is admissible.
//!
//! **Redundant blocks.** The velocities are unique but the forces may not be (parallel elements, four corners of a box). Each law has
//! a compliance ε far below that of the bodies, proportional to 1/F with F its limit (one common value for contacts and locks),
//! whose effect on the velocities is removed by the iteration. From zero it leads to the smallest Σ f²/F over the blocks at rest: parallel
//! elements share a load in proportion to their limits.
//!
//! **Several solutions.** With a falling curve, a block sticks if that is admissible; otherwise it takes the slip velocity reached from
//! the side of its free velocity. Rigid contact with friction may have several solutions or none; then the best iterate is returned and
//! `converged` is false.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::cones::Cones;
use super::dense::{dot, length};
use super::local::{
    Law, Matrix, NaturalMap, Vector, invert_small, natural_map, outside, smooth, solve_alone, unbiased,
};
use super::sparse::Pattern;
use crate::stop::{Stop, is_set};
use multiversion::multiversion;

/// The law of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Dry friction whose limit is what a contact carries in the same step times an arm: what resists rolling or spinning there.
    Arm {
        /// The block of the contact, before this one.
        contact: usize,
        /// The limit by the normal force.
        arm: f64,
        /// Whether it was stuck at the start of the step.
        was_stuck: bool,
    },
    /// Bilateral: w = 0 with any force.
    Lock,
}

impl Block {
    pub(super) fn target(&self) -> f64 {
        match *self {
            Block::Contact { target, .. } => target,
            _ => 0.0,
        }
    }

    pub(super) fn was_stuck(&self) -> bool {
        match *self {
            Block::Dry { was_stuck, .. }
            | Block::Curve { was_stuck, .. }
            | Block::Contact { was_stuck, .. }
            | Block::Arm { was_stuck, .. } => was_stuck,
            Block::Lock => true,
            Block::Smooth => false,
        }
    }
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
        let within = |limit: f64| limit.clamp(0.0, f64::MAX / 4.0);
        let (forward, backward) = (within(forward), within(backward));
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

/// One body among the rows of a block: `rows` lines of `len` numbers from `at` on in the Jacobian, for the velocities from `first` on of
/// the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The body; [`Side::NONE`] where the block takes hold of the ground or of something that is driven.
    pub body: usize,
    /// First velocity of the body that counts.
    pub first: usize,
    /// How many count.
    pub len: usize,
    /// Where the numbers begin.
    pub at: usize,
}

impl Side {
    /// Nothing that moves freely.
    pub const NONE: Side = Side {
        body: usize::MAX,
        first: 0,
        len: 0,
        at: 0,
    };
}

/// The rows of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows {
    /// The first row.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// The bodies it takes hold of, different ones.
    pub sides: [Side; 2],
    /// Where the blocks (first body, second body) and (second, first) of a matrix are stored, if there are two bodies.
    pub across: [usize; 2],
}

impl Rows {
    fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.sides.iter().filter(|side| side.len > 0)
    }
}

/// An island in one step.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Which bodies influence each other.
    pub pattern: &'a Pattern,
    /// A, on this pattern; symmetric, positive definite.
    pub inertia: &'a [f64],
    /// Whether A joins bodies.
    pub joined: bool,
    /// The step T.
    pub step: f64,
    /// The rows of each block.
    pub rows: &'a [Rows],
    /// J: numbers of all sides.
    pub jacobian: &'a [f64],
    /// w̄, a number for each row.
    pub free: &'a [f64],
    /// The largest velocity of a body: rows are differences of such, and what is left of rounding is no motion.
    pub speed: f64,
}

impl Problem<'_> {
    /// Velocities of the rows of one block by velocities of the bodies.
    #[inline(always)]
    pub(super) fn gather(&self, rows: &Rows, velocities: &[f64]) -> Vector {
        let mut out = [0.0; 3];
        for side in rows.sides() {
            let start = self.pattern.start(side.body) + side.first;
            // The sizes that are common are known to the compiler.
            match (rows.count, side.len) {
                (1, 1) => out[0] += self.jacobian[side.at] * velocities[start],
                (3, 6) => {
                    let (lines, velocities) = (&self.jacobian[side.at..side.at + 18], &velocities[start..start + 6]);
                    for k in 0..3 {
                        out[k] += dot(&lines[6 * k..6 * k + 6], velocities);
                    }
                }
                (count, len) => {
                    let velocities = &velocities[start..start + len];
                    for k in 0..count {
                        let line = &self.jacobian[side.at + k * len..side.at + (k + 1) * len];
                        out[k] += dot(line, velocities);
                    }
                }
            }
        }
        out
    }

    /// Adds Jᵀ·force of one block, times `factor`.
    #[inline(always)]
    pub(super) fn scatter(&self, rows: &Rows, factor: f64, force: &[f64], out: &mut [f64]) {
        for side in rows.sides() {
            let start = self.pattern.start(side.body) + side.first;
            if (rows.count, side.len) == (1, 1) {
                out[start] += factor * force[0] * self.jacobian[side.at];
                continue;
            }
            let out = &mut out[start..start + side.len];
            for k in 0..rows.count {
                let amount = factor * force[k];
                if amount != 0.0 {
                    let line = &self.jacobian[side.at + k * side.len..side.at + (k + 1) * side.len];
                    for (out, j) in out.iter_mut().zip(line) {
                        *out += amount * j;
                    }
                }
            }
        }
    }

    /// Adds Jᵀ·G·J of one block, times `factor`.
    #[inline(always)]
    pub(super) fn add_gram(&self, rows: &Rows, factor: f64, gain: &Matrix, matrix: &mut [f64]) {
        let d = rows.count;
        for (a, one) in rows.sides.iter().enumerate() {
            for (b, other) in rows.sides.iter().enumerate() {
                if one.len == 0 || other.len == 0 {
                    continue;
                }
                let place = if a == b {
                    self.pattern.place(one.body, one.body).unwrap_or(usize::MAX)
                } else {
                    rows.across[a]
                };
                let width = self.pattern.size(other.body);
                let corner = place + one.first * width + other.first;
                let (left, right) = (&self.jacobian[one.at..], &self.jacobian[other.at..]);
                match (d, one.len, other.len) {
                    (1, 1, 1) => matrix[corner] += factor * gain[0][0] * left[0] * right[0],
                    (3, 6, 6) if width == 6 => gram_fixed::<3, 6>(factor, gain, left, right, &mut matrix[corner..]),
                    (2, 6, 6) if width == 6 => gram_fixed::<2, 6>(factor, gain, left, right, &mut matrix[corner..]),
                    (1, 6, 6) if width == 6 => gram_fixed::<1, 6>(factor, gain, left, right, &mut matrix[corner..]),
                    _ => {
                        let [rows, columns] = [one.len, other.len];
                        // A piece of G·B at a time, on the stack.
                        let mut from = 0;
                        while from < columns {
                            let to = columns.min(from + PIECE);
                            let mut product = [[0.0; PIECE]; 3];
                            for k in 0..d {
                                for l in 0..d {
                                    let amount = factor * gain[k][l];
                                    let line = &right[l * columns + from..l * columns + to];
                                    for (sum, j) in product[k].iter_mut().zip(line) {
                                        *sum += amount * j;
                                    }
                                }
                            }
                            for i in 0..rows {
                                let at = corner + i * width;
                                let line = &mut matrix[at + from..at + to];
                                for k in 0..d {
                                    let amount = left[k * rows + i];
                                    if amount != 0.0 {
                                        for (entry, product) in line.iter_mut().zip(&product[k]) {
                                            *entry += amount * product;
                                        }
                                    }
                                }
                            }
                            from = to;
                        }
                    }
                }
            }
        }
    }
}

/// Columns of a product that are formed at once.
const PIECE: usize = 8;

/// C += factor·Aᵀ·G·B for A and B of D × N.
#[inline(always)]
fn gram_fixed<const D: usize, const N: usize>(factor: f64, gain: &Matrix, a: &[f64], b: &[f64], c: &mut [f64]) {
    let (a, b, c) = (&a[..D * N], &b[..D * N], &mut c[..N * N]);
    let mut product = [[0.0; N]; D];
    for k in 0..D {
        for l in 0..D {
            let amount = factor * gain[k][l];
            for j in 0..N {
                product[k][j] += amount * b[l * N + j];
            }
        }
    }
    for i in 0..N {
        let mut line = [0.0; N];
        for k in 0..D {
            let amount = a[k * N + i];
            for j in 0..N {
                line[j] += amount * product[k][j];
            }
        }
        for j in 0..N {
            c[i * N + j] += line[j];
        }
    }
}

/// How the solution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Largest defect of a law or of the balance of momentum, relative to the largest force or free velocity (all in units of √energy).
    pub residual: f64,
    /// Systems of equations solved, over all passes.
    pub iterations: usize,
    /// Whether every law holds within 1e-12 of that scale.
    pub converged: bool,
    /// The block that is furthest from its law.
    pub furthest: usize,
    /// Whether forces without bound would be needed: closed contacts or locks that nothing stops.
    pub impossible: bool,
}

/// Below this residual a step counts as solved.
const TOLERANCE: f64 = 1e-12;
/// Below this residual a step is accurate enough not to be done in halves.
pub(crate) const SOLVED: f64 = 1e-10;
/// Below this residual nothing is left to do.
const EXACT: f64 = 2e-15;
/// Below this residual Newton's method ends where it no longer gains a digit.
const CLOSE: f64 = 1e-12;
/// Compliance of the laws relative to that of the heaviest body, and the least relative to their own.
const COMPLIANCE: f64 = 1e-8;
const LEAST_COMPLIANCE: f64 = 1e-13;
const NEWTON_STEPS: usize = 60;
/// A Newton step must beat the largest of this many last residuals.
const MEMORY: usize = 3;
/// Steps of Newton's method without progress before it is given up.
const PATIENCE: usize = 5;
/// Velocities of closed contacts relative to the free ones above which no force stops them.
const UNSTOPPED: f64 = 1e-6;
/// Steps in which the shares of redundant forces come no closer before they stay as they were found.
const SHARES: usize = 12;
/// Balance of forces that are shared, relative to the scale.
const SHARED: f64 = 2e-12;
/// Rounds of sweeps for laws that fall with velocity.
const RESCUES: usize = 3;
/// Convex problems that look for the slip velocities their shifts belong to.
const SHIFTS: usize = 30;

/// An island that was solved and found at rest. While nothing changes, neither does the solution: the next step has the same numbers, which need not be found
/// again.
#[derive(Default)]
pub struct Rest {
    step: f64,
    free: Vec<f64>,
    blocks: Vec<Block>,
    rows: Vec<Rows>,
    jacobian: Vec<f64>,
    inertia: Vec<f64>,
    change: Vec<f64>,
    force: Vec<f64>,
    velocity: Vec<f64>,
    stuck: Vec<bool>,
    outcome: Option<Outcome>,
}

impl Rest {
    /// Room for an island of so many rows and blocks, and so many numbers in its Jacobian.
    pub fn new(rows: usize, blocks: usize, jacobian: usize, pattern: &Pattern) -> Self {
        Rest {
            free: Vec::with_capacity(rows),
            blocks: Vec::with_capacity(blocks),
            rows: Vec::with_capacity(blocks),
            jacobian: Vec::with_capacity(jacobian),
            inertia: Vec::with_capacity(pattern.stored()),
            change: Vec::with_capacity(pattern.rows()),
            force: Vec::with_capacity(rows),
            velocity: Vec::with_capacity(rows),
            stuck: Vec::with_capacity(blocks),
            ..Rest::default()
        }
    }

    /// Whether a problem is the one that was solved.
    fn is(&self, problem: &Problem, blocks: &[Block]) -> bool {
        self.outcome.is_some()
            && self.step == problem.step
            && self.free == problem.free
            && self.blocks == blocks
            && self.rows == problem.rows
            && self.jacobian == problem.jacobian
            && self.inertia == problem.inertia[..problem.pattern.stored()]
    }
}

/// Solver of islands with the buffers it needs.
#[derive(Default)]
pub struct Solver {
    /// The change δ of the velocities.
    pub change: Vec<f64>,
    /// The forces f and relative velocities w, a number for each row.
    pub force: Vec<f64>,
    /// See `force`.
    pub velocity: Vec<f64>,
    /// Which blocks are at rest: those of friction that do not slip, contacts that are closed and do not slide.
    pub stuck: Vec<bool>,
    /// Ends a solve early, unsolved.
    pub(super) stop: Option<Stop>,
    /// The residual up to which what Newton's method finds is taken, where that is more than the usual one.
    rough: Option<f64>,
    blocks: Vec<Block>,
    broken: Vec<bool>,
    root: Vec<usize>,
    /// Compliance of each block alone, T·J·A⁻¹·Jᵀ with A of each body alone.
    own: Vec<Matrix>,
    rho: Vec<[f64; 2]>,
    /// √W_ii: forces times this and velocities over it are comparable between rows.
    unit: Vec<f64>,
    /// How much more the heaviest body feels of a defect.
    sharper: Vec<f64>,
    /// 1/√(A_ii·T).
    impulse_unit: Vec<f64>,
    /// Relative compliance of each law.
    weight: Vec<f64>,
    common: f64,
    driven: f64,
    furthest: usize,
    impossible: bool,
    /// Slip velocities that the shifts of the convex problem belong to, and forces that arms belong to.
    slip: Vec<f64>,
    pressed: Vec<f64>,
    /// Factors of each body's own inertia.
    alone: Vec<f64>,
    pub(super) work: Work,
    cones: Cones,
    kept: Kept,
    nearest: Kept,
}

/// Buffers of an iteration.
#[derive(Default)]
pub(super) struct Work {
    /// A·δ − T·Jᵀ·f.
    defect: Vec<f64>,
    pub(super) matrix: Vec<f64>,
    pivots: Vec<u32>,
    gain: Vec<Matrix>,
    offset: Vec<Vector>,
    /// What each block carries in proportion to others.
    shares: Vec<f64>,
    pub(super) step: Vec<f64>,
    product: Vec<f64>,
    pub(super) force_step: Vec<f64>,
    pub(super) velocity_step: Vec<f64>,
    trial_force: Vec<f64>,
    trial_velocity: Vec<f64>,
    centre: Vec<f64>,
    /// The best iterate of Newton's method where it is close.
    best: Kept,
}

/// A solution that was found and may be returned.
#[derive(Default)]
struct Kept {
    change: Vec<f64>,
    force: Vec<f64>,
    velocity: Vec<f64>,
    defect: Vec<f64>,
}

/// One island in one pass, read only.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) problem: Problem<'a>,
    laws: &'a dyn Blocks,
    pub(super) blocks: &'a [Block],
    broken: &'a [bool],
    pub(super) rho: &'a [[f64; 2]],
    pub(super) unit: &'a [f64],
    weight: &'a [f64],
    sharper: &'a [f64],
    /// 1/√(A_ii·T): momentum times this is comparable with forces in `unit`.
    impulse_unit: &'a [f64],
    own: &'a [Matrix],
    /// The largest force that can matter.
    common: f64,
    /// The size of the free velocities, in √energy.
    driven: f64,
    pub(super) stop: Option<&'a Stop>,
}

/// What the laws of an island lack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Residual {
    largest: f64,
    squares: f64,
    force: f64,
}

/// Where an iteration begins, or is.
pub(super) struct Iterate<'a> {
    pub(super) change: &'a mut [f64],
    pub(super) force: &'a mut [f64],
    pub(super) velocity: &'a mut [f64],
    pub(super) defect: &'a mut [f64],
}

impl<'a> Pass<'a> {
    /// The law of a block; where its limit follows the force of another, that is the one in `force`. (No derivative by that force is taken: arms are short,
    /// and each round of Newton's method leaves a small part of the change.)
    #[inline]
    pub(super) fn law(&self, i: usize, force: &[f64]) -> Law<'a> {
        let asked = Asked {
            laws: self.laws,
            block: i,
        };
        match self.blocks[i] {
            // Sticks if that is admissible: dry friction with the limit at rest, until it slips even so.
            Block::Curve { was_stuck: false, .. } if !self.broken[i] => Law::Dry(asked.at(0.0).0),
            block => Law::of(block, asked, self.broken[i], |contact| {
                force[self.problem.rows[contact].first].max(0.0)
            }),
        }
    }

    pub(super) fn target(&self, i: usize) -> f64 {
        self.blocks[i].target()
    }

    /// The velocities that closed contacts and locks leave, relative to the free velocities, and the block that leaves most: where no
    /// force solves an island its forces grow without bound, and what is left seems small beside them.
    fn unstopped(&self, force: &[f64], velocity: &[f64]) -> (f64, usize) {
        let (mut left, mut most, mut worst) = (0.0f64, f64::MIN_POSITIVE, 0);
        // Less than this is what rounding leaves of the velocities of the bodies.
        let beyond = |speed: f64| (speed.abs() - 64.0 * f64::EPSILON * self.problem.speed).max(0.0);
        for (i, rows) in self.problem.rows.iter().enumerate() {
            let row = rows.first;
            let free = (self.problem.free[row] - self.target(i)).abs();
            most = most.max(free.max(f64::EPSILON * self.problem.speed) / self.unit[row]);
            if let Block::Lock = self.blocks[i] {
                for row in rows.range() {
                    most = most.max(self.problem.free[row].abs() / self.unit[row]);
                    left = left.max(beyond(velocity[row]) / self.unit[row]);
                }
            }
            let closed = match self.blocks[i] {
                Block::Contact { target, .. } => force[row] > self.rho[i][0] * (velocity[row] - target),
                _ => false,
            };
            let speed = beyond(velocity[row] - self.target(i)) / self.unit[row];
            if closed && speed > left {
                (left, worst) = (speed, i);
            }
        }
        (left / most, worst)
    }

    /// How far slip velocities differ, in √energy.
    fn change_of_slip(&self, before: &[f64], after: &[f64]) -> f64 {
        let both = before.iter().zip(after).zip(self.unit);
        both.fold(0.0, |most, ((a, b), unit)| most.max((a - b).abs() / unit))
    }

    /// The block with the largest defect of its law.
    fn furthest(&self, force: &[f64], velocity: &[f64]) -> usize {
        let defect = |i: &usize| {
            let map = self.map(*i, force, velocity);
            let rows = &self.problem.rows[*i];
            let part = |k: usize| (map.residual[k] * self.unit[rows.first + k]).abs();
            (0..rows.count).map(part).fold(0.0, f64::max)
        };
        let blocks = 0..self.problem.rows.len();
        blocks.max_by(|a, b| defect(a).total_cmp(&defect(b))).unwrap_or(0)
    }

    /// The size of forces and velocities, in √energy.
    pub(super) fn scale(&self, force: &[f64]) -> f64 {
        self.sizes(force).0
    }

    /// That size, and the largest force that can matter.
    fn sizes(&self, force: &[f64]) -> (f64, f64) {
        let (mut scale, mut largest) = (self.driven, self.common);
        for (force, unit) in force.iter().zip(self.unit) {
            let force = force.abs();
            scale = scale.max(force * unit);
            largest = largest.max(force);
        }
        (scale, largest)
    }

    pub(super) fn map(&self, i: usize, force: &[f64], velocity: &[f64]) -> NaturalMap {
        let range = self.problem.rows[i].range();
        natural_map(self.law(i, force), &force[range.clone()], &velocity[range], self.rho[i])
    }

    /// df = f₀ − G·dw of a block with its compliance, as [`response`] gives it; what is `held` sticks, whatever its force. Blocks that stick or are
    /// open need no inverse.
    #[inline]
    fn linear(&self, i: usize, force: &[f64], velocity: &[f64], compliance: f64, held: bool) -> (Matrix, Vector) {
        let rows = &self.problem.rows[i];
        let (d, rho) = (rows.count, self.rho[i]);
        let (f, w) = (&force[rows.range()], &velocity[rows.range()]);
        let law = self.law(i, force);
        let sticks = held
            || match law {
                Law::Dry(level) if d == 1 => {
                    let trial = f[0] - level.bias - rho[0] * w[0];
                    if trial.abs() > level.limit {
                        // A scalar slips with a constant force.
                        let force = level.limit.copysign(trial) + level.bias;
                        return ([[0.0; 3]; 3], [(force - f[0]) / (1.0 + compliance), 0.0, 0.0]);
                    }
                    true
                }
                Law::Contact { target, mu } => {
                    let normal = f[0] - rho[0] * (w[0] - target);
                    if normal <= 0.0 {
                        let mut offset = [0.0; 3];
                        (0..d).for_each(|k| offset[k] = -f[k] / (1.0 + compliance));
                        return ([[0.0; 3]; 3], offset);
                    }
                    let beyond = |k: usize| (f[k] - rho[1] * w[k]).powi(2);
                    (1..d).map(beyond).sum::<f64>().sqrt() <= mu * normal
                }
                _ => false,
            };
        if sticks {
            let (mut gain, mut offset) = ([[0.0; 3]; 3], [0.0; 3]);
            let softness = -1.0 / compliance;
            for k in 0..d {
                let rho = rho[k.min(1)];
                let target = if k == 0 { self.target(i) } else { 0.0 };
                gain[k][k] = softness * -rho;
                offset[k] = -softness * (-rho * (w[k] - target));
            }
            return (gain, offset);
        }
        response(&natural_map(law, f, w, rho), d, compliance)
    }

    /// Largest defect of a law, and the sum of squares, in √energy; the largest defect as a force.
    pub(super) fn residual(&self, force: &[f64], velocity: &[f64]) -> Residual {
        let mut sum = Residual::default();
        let mut add = |i: usize, defect: f64, unit: f64| {
            let part = defect * unit;
            sum.force = sum.force.max(defect.abs() * self.sharper[i]);
            sum.largest = sum.largest.max(part.abs());
            sum.squares += part * part;
        };
        for (i, rows) in self.problem.rows.iter().enumerate() {
            let row = rows.first;
            match (self.blocks[i], rows.count) {
                (Block::Dry { .. } | Block::Arm { .. }, 1) => {
                    let Law::Dry(Level { limit, bias }) = self.law(i, force) else {
                        continue;
                    };
                    let f = force[row] - bias;
                    add(
                        i,
                        (f - self.rho[i][0] * velocity[row]).max(-limit).min(limit) - f,
                        self.unit[row],
                    );
                }
                _ => {
                    let map = self.map(i, force, velocity);
                    (0..rows.count).for_each(|k| add(i, map.residual[k], self.unit[row + k]));
                }
            }
        }
        if sum.squares.is_nan() {
            sum.largest = f64::INFINITY;
            sum.squares = f64::INFINITY;
        }
        sum
    }

    /// What rounding of the velocities makes of stiff smooth laws, in √energy: no iteration gets below it.
    fn blur(&self, force: &[f64], velocity: &[f64]) -> f64 {
        let mut largest = 0.0f64;
        for (i, rows) in self.problem.rows.iter().enumerate() {
            if !matches!(self.blocks[i], Block::Smooth) {
                continue;
            }
            let map = self.map(i, force, velocity);
            let size = rows
                .range()
                .map(|row| self.problem.free[row].abs() + velocity[row].abs())
                .fold(0.0, f64::max);
            for k in 0..rows.count {
                let steepest = map.by_velocity[k].iter().fold(0.0f64, |a, b| a.max(b.abs()));
                largest = largest.max(16.0 * f64::EPSILON * size * steepest * self.unit[rows.first + k]);
            }
        }
        largest
    }

    /// Largest part of A·δ − T·Jᵀ·f that is left, in √energy.
    fn imbalance(&self, defect: &[f64]) -> f64 {
        let (mut largest, mut sum) = (0.0f64, 0.0);
        for (defect, unit) in defect.iter().zip(self.impulse_unit) {
            let part = (defect * unit).abs();
            largest = if part > largest { part } else { largest };
            sum += part;
        }
        if f64::is_nan(sum) { f64::INFINITY } else { largest }
    }

    /// Whether a block is at rest: its force lies within its limits, or its velocity is rounding.
    fn at_rest(&self, i: usize, force: &[f64], velocity: &[f64], change: &[f64], scale: f64) -> bool {
        let rows = &self.problem.rows[i];
        let range = rows.range();
        let (f, w, rho) = (&force[range.clone()], &velocity[range.clone()], self.rho[i]);
        let slow = |skip: usize| {
            let row = rows.first + skip;
            let moved = self.problem.gather(rows, change);
            let size = (skip..rows.count)
                .map(|k| self.problem.free[rows.first + k].abs() + moved[k].abs())
                .fold(0.0, f64::max);
            length(&w[skip..]) <= (16.0 * f64::EPSILON * size).max(TOLERANCE * scale * self.unit[row])
        };
        match self.law(i, force) {
            Law::Lock => true,
            Law::Smooth(_) => false,
            Law::Dry(level) => outside(&unbiased(f, level)[..f.len()], w, rho[0], level.limit).is_none() || slow(0),
            Law::Curve(curve) => {
                let level = curve.at(length(w)).0;
                outside(&unbiased(f, level)[..f.len()], w, rho[0], level.limit).is_none() || slow(0)
            }
            Law::Contact { target, mu } => {
                let normal = f[0] - rho[0] * (w[0] - target);
                normal > 0.0 && (f.len() == 1 || outside(&f[1..], &w[1..], rho[1], mu * normal).is_none() || slow(1))
            }
        }
    }
}

impl Work {
    fn reserve(&mut self, rows: usize, blocks: usize, pattern: &Pattern) {
        let (bodies, stored) = (pattern.rows(), pattern.stored());
        // Three vectors of one body, too.
        let product = bodies.max(3 * pattern.largest());
        self.product.resize(product.max(self.product.len()), 0.0);
        for buffer in [&mut self.defect, &mut self.step] {
            buffer.resize(bodies.max(buffer.len()), 0.0);
        }
        for buffer in [
            &mut self.force_step,
            &mut self.velocity_step,
            &mut self.trial_force,
            &mut self.trial_velocity,
            &mut self.centre,
        ] {
            buffer.resize(rows.max(buffer.len()), 0.0);
        }
        self.matrix.resize(stored.max(self.matrix.len()), 0.0);
        self.pivots.resize(bodies.max(self.pivots.len()), 0);
        self.gain.resize(blocks.max(self.gain.len()), [[0.0; 3]; 3]);
        self.offset.resize(blocks.max(self.offset.len()), [0.0; 3]);
        self.shares.resize(blocks.max(self.shares.len()), 0.0);
        self.best.reserve(rows, bodies);
    }

    /// Puts G and f₀ of a block in place. True if G is what it was.
    pub(super) fn set(&mut self, i: usize, count: usize, gain: Matrix, offset: Vector) -> bool {
        self.offset[i] = offset;
        let same = same_gain(count, &self.gain[i], &gain);
        self.gain[i] = gain;
        same
    }

    /// Factors A + T·Jᵀ·G·J.
    pub(super) fn factor(&mut self, problem: &Problem) -> bool {
        factor_with(problem, &self.gain, &mut self.matrix, &mut self.pivots)
    }

    /// The step dδ into `step`, J·dδ and df.
    pub(super) fn solve(&mut self, problem: &Problem, defect: &[f64]) {
        let n = problem.pattern.rows();
        let step = &mut self.step[..n];
        for (step, defect) in step.iter_mut().zip(defect) {
            *step = -defect;
        }
        for (i, rows) in problem.rows.iter().enumerate() {
            problem.scatter(rows, problem.step, &self.offset[i], step);
        }
        problem.pattern.solve(&self.matrix, &self.pivots, step);
        for (i, rows) in problem.rows.iter().enumerate() {
            let moved = problem.gather(rows, step);
            if rows.count == 1 {
                self.velocity_step[rows.first] = moved[0];
                self.force_step[rows.first] = self.offset[i][0] - self.gain[i][0][0] * moved[0];
                continue;
            }
            for k in 0..rows.count {
                self.velocity_step[rows.first + k] = moved[k];
                self.force_step[rows.first + k] =
                    self.offset[i][k] - (0..rows.count).map(|l| self.gain[i][k][l] * moved[l]).sum::<f64>();
            }
        }
    }

    /// Takes a part of the Newton step. Velocities and the balance are updated by increments, never computed anew: forces amplify the
    /// rounding of velocities.
    pub(super) fn go(&mut self, problem: &Problem, at: &mut Iterate, part: f64) {
        let n = problem.pattern.rows();
        let product = &mut self.product[..n];
        product.fill(0.0);
        problem
            .pattern
            .multiply_add(problem.inertia, problem.joined, &self.step[..n], product);
        for rows in problem.rows {
            problem.scatter(rows, -problem.step, &self.force_step[rows.range()], product);
        }
        for i in 0..n {
            at.change[i] += part * self.step[i];
            at.defect[i] += part * product[i];
        }
        for row in 0..at.force.len() {
            at.force[row] += part * self.force_step[row];
            at.velocity[row] += part * self.velocity_step[row];
        }
    }

    /// Newton's method on the natural maps. With `hold`, blocks that were stuck begin so. Returns the number of systems solved, and
    /// the residual relative to the scale.
    fn newton(&mut self, pass: &Pass, at: &mut Iterate, hold: Option<&[bool]>) -> (usize, f64) {
        let problem = &pass.problem;
        let rows = at.force.len();
        let mut now = pass.residual(at.force, at.velocity);
        let mut recent = [now.squares; MEMORY];
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut softness = 1.0;
        let mut factored = false;
        let mut kept: Option<(f64, f64)> = None;
        let mut most = 0.0f64;
        let mut rounds = 0;
        for round in 0..NEWTON_STEPS {
            rounds = round;
            let (scale, largest) = pass.sizes(at.force);
            let forced = round == 0 && hold.is_some();
            let left = now.largest.max(pass.imbalance(at.defect)) / scale;
            // Light bodies among heavy ones: no force may be off by more than the largest force's last digits.
            let strict = left.max(now.force / largest);
            most = most.max(scale);
            if !forced && left <= CLOSE && most > 1e2 * scale {
                // Forces on the way were far larger: what they left of rounding is removed by computing everything anew.
                self.renew(pass, at);
                most = scale;
                now = pass.residual(at.force, at.velocity);
                kept = None;
            } else if !forced && strict <= EXACT {
                return (round, left);
            } else if !forced && (left <= CLOSE || kept.is_some_and(|(best, _)| best <= CLOSE)) {
                // Rounding is amplified where forces are redundant: the step after the last may lead away again.
                if kept.is_some_and(|(best, before)| best <= CLOSE && strict > 0.5 * before) {
                    break;
                }
                kept = Some((left, strict));
                self.best.take(at);
            } else if !forced && kept.is_none_or(|(best, _)| left < best) {
                kept = Some((left, strict));
                self.best.take(at);
            }
            let mut same = factored;
            for i in 0..problem.rows.len() {
                let held = forced && hold.is_some_and(|hold| hold[i]);
                let (gain, offset) = pass.linear(i, at.force, at.velocity, softness * pass.weight[i], held);
                same &= self.set(i, problem.rows[i].count, gain, offset);
            }
            if !same {
                factored = self.factor(problem);
                if !factored || is_set(pass.stop) {
                    return (round + 1, f64::INFINITY);
                }
            }
            self.solve(problem, at.defect);
            let to_beat = recent.iter().copied().fold(0.0, f64::max);
            let (mut part, mut chosen) = (1.0, None::<(Residual, f64)>);
            for _ in 0..7 {
                for row in 0..rows {
                    self.trial_force[row] = at.force[row] + part * self.force_step[row];
                    self.trial_velocity[row] = at.velocity[row] + part * self.velocity_step[row];
                }
                let trial = pass.residual(&self.trial_force[..rows], &self.trial_velocity[..rows]);
                let enough = forced || trial.squares < to_beat;
                if trial.squares.is_finite() && (enough || chosen.is_none_or(|(best, _)| trial.squares < best.squares))
                {
                    chosen = Some((trial, part));
                }
                if enough {
                    break;
                }
                part *= 0.5;
            }
            let Some((found, part)) = chosen else {
                return (round + 1, f64::INFINITY);
            };
            self.go(problem, at, part);
            let before = now.largest;
            now = found;
            if forced {
                recent = [now.squares; MEMORY];
            } else {
                recent[round % MEMORY] = now.squares;
            }
            // The same regimes and little progress: the compliance is felt.
            if same && now.largest > 0.03 * before && softness > 1e-7 {
                softness *= 0.01;
                factored = false;
            }
            if now.squares < 0.81 * best {
                best = now.squares;
                idle = 0;
            } else {
                idle += 1;
            }
            if idle >= PATIENCE {
                break;
            }
        }
        let left = now.largest.max(pass.imbalance(at.defect)) / pass.scale(at.force);
        match kept {
            Some((best, _)) if best <= CLOSE || best < left => {
                self.best.give(at);
                (rounds + 1, best)
            }
            _ => (rounds + 1, left),
        }
    }

    /// The true laws with a compliance e·W that is taken away step by step, about the forces found so far (a proximal-point
    /// method): f = Proj(f_k − w·ρ/e). Returns the number of systems solved.
    fn soften(&mut self, pass: &Pass, at: &mut Iterate, kept: &mut Kept) -> (usize, f64) {
        let problem = &pass.problem;
        let (rows, n) = (at.force.len(), problem.pattern.rows());
        let mut solved = 0;
        let mut softness = 1e-2;
        let mut residual = f64::INFINITY;
        kept.take(at);
        for _ in 0..60 {
            self.centre[..rows].copy_from_slice(&kept.force[..rows]);
            let scale = pass.scale(&self.centre[..rows]);
            // Newton's method on the balance of momentum, forces by the compliant laws.
            let mut done = None;
            let mut size = self.compliant(pass, at, softness);
            for round in 0..30 {
                if size <= 1e-4 * scale {
                    done = Some(round);
                    break;
                }
                if is_set(pass.stop) || !size.is_finite() || !self.factor(problem) {
                    break;
                }
                solved += 1;
                for i in 0..n {
                    self.step[i] = -at.defect[i];
                }
                problem.pattern.solve(&self.matrix, &self.pivots, &mut self.step[..n]);
                for rows in problem.rows {
                    let moved = problem.gather(rows, &self.step);
                    self.velocity_step[rows.range()].copy_from_slice(&moved[..rows.count]);
                }
                let mut part = 1.0;
                let start = size;
                self.trial_velocity[..rows].copy_from_slice(at.velocity);
                self.product[..n].copy_from_slice(at.change);
                loop {
                    for i in 0..n {
                        at.change[i] = self.product[i] + part * self.step[i];
                    }
                    for row in 0..rows {
                        at.velocity[row] = self.trial_velocity[row] + part * self.velocity_step[row];
                    }
                    size = self.compliant(pass, at, softness);
                    if size < (1.0 - 0.1 * part) * start || part < 1e-3 {
                        break;
                    }
                    part *= 0.5;
                }
                if part < 1e-3 {
                    break;
                }
            }
            match done {
                None => {
                    kept.give(at);
                    softness *= 3.0;
                    if softness > 10.0 || is_set(pass.stop) {
                        break;
                    }
                    continue;
                }
                Some(rounds) => {
                    let moved = (0..rows)
                        .map(|row| (at.force[row] - self.centre[row]).abs() * pass.unit[row])
                        .fold(0.0, f64::max);
                    kept.take(at);
                    if softness * moved <= 1e-6 * scale {
                        let (more, left) = self.newton(pass, at, None);
                        solved += more;
                        if left < residual {
                            residual = left;
                        }
                        if left <= TOLERANCE {
                            return (solved, left);
                        }
                        kept.give(at);
                        if softness < 1e-12 {
                            break;
                        }
                    }
                    softness *= if rounds <= 6 {
                        0.3
                    } else if rounds <= 12 {
                        0.55
                    } else {
                        1.0
                    };
                }
            }
        }
        let (more, left) = self.newton(pass, at, None);
        (solved + more, left)
    }

    /// Forces of the compliant laws about `centre`, their derivatives as G, and the balance; its size in √energy.
    fn compliant(&mut self, pass: &Pass, at: &mut Iterate, softness: f64) -> f64 {
        let problem = &pass.problem;
        at.defect.fill(0.0);
        problem
            .pattern
            .multiply_add(problem.inertia, problem.joined, at.change, at.defect);
        for (i, rows) in problem.rows.iter().enumerate() {
            let range = rows.range();
            let rho = pass.rho[i].map(|rho| rho / softness);
            let map = natural_map(
                pass.law(i, at.force),
                &self.centre[range.clone()],
                &at.velocity[range.clone()],
                rho,
            );
            self.gain[i] = map.by_velocity.map(|line| line.map(|entry| -entry));
            for k in 0..rows.count {
                at.force[rows.first + k] = self.centre[rows.first + k] + map.residual[k];
            }
            problem.scatter(rows, -problem.step, &at.force[range], at.defect);
        }
        pass.imbalance(at.defect)
    }

    /// Moves the forces of the blocks at rest to the smallest Σ f²/F among the admissible ones that give the same velocities: with
    /// g ∝ F, f = Proj(g·J·y) with the y for which T·Jᵀ·f is the change of momentum, by Newton's method. The friction of a contact that
    /// slides follows its normal force. False, and nothing changes, if it is not found.
    fn share(&mut self, pass: &Pass, at: &mut Iterate, stuck: &[bool]) -> bool {
        let problem = &pass.problem;
        let (rows, n) = (at.force.len(), problem.pattern.rows());
        let scale = pass.scale(at.force);
        // Far stiffer than the bodies.
        let stiffest = pass.rho.iter().fold(0.0f64, |most, rho| most.max(rho[0]).max(rho[1]));
        let multiplier = &mut at.defect;
        multiplier.fill(0.0);
        let (mut last, mut part, mut ascent) = (f64::INFINITY, 1.0, 0.0);
        self.step[..n].fill(0.0);
        let mut factored = false;
        let blocks = problem.rows.len();
        for (i, share) in self.shares[..blocks].iter_mut().enumerate() {
            *share = share_of(pass, i, at.force);
        }
        let stiff = stiffest / COMPLIANCE;
        let (mut least, mut idle) = (f64::INFINITY, 0);
        for round in 0..60 {
            // From no force at all, where laws say nothing, the first step goes by the slopes at the forces that were found.
            let first = round == 0;
            let mut inside = true;
            // What the bodies lack: the change of momentum less what the forces give.
            self.product[..n].fill(0.0);
            let product = &mut self.product[..n];
            problem
                .pattern
                .multiply_add(problem.inertia, problem.joined, at.change, product);
            for (i, rows) in problem.rows.iter().enumerate() {
                let range = rows.range();
                let force = &at.force[range.clone()];
                let gain = self.shares[i] * stiff;
                let mut wanted = [0.0; 3];
                if first {
                    wanted[..rows.count].copy_from_slice(force);
                } else {
                    wanted = problem.gather(rows, multiplier);
                    wanted.iter_mut().for_each(|w| *w *= gain);
                }
                let (mut found, mut slope) = ([0.0; 3], [[0.0; 3]; 3]);
                let sliding = matches!(pass.blocks[i], Block::Contact { .. }) && !stuck[i] && force[0] > 0.0;
                // The contact of an arm has had its turn.
                let law = pass.law(i, if first { at.force } else { &self.trial_force });
                if let (true, Law::Dry(Level { limit, bias }), 1) = (stuck[i], law, rows.count) {
                    let within = (wanted[0] - bias).abs() <= limit;
                    found[0] = if within {
                        wanted[0]
                    } else {
                        limit.copysign(wanted[0] - bias) + bias
                    };
                    slope[0][0] = f64::from(u8::from(within));
                    inside &= within;
                } else if stuck[i] {
                    (found, slope) = project(law, &wanted[..rows.count]);
                    inside &= (0..rows.count).all(|k| found[k] == wanted[k]);
                } else if sliding {
                    let normal: f64 = (0..rows.count).map(|k| force[k] / force[0] * wanted[k]).sum();
                    for k in 0..rows.count {
                        found[k] = normal.max(0.0) * force[k] / force[0];
                        for l in 0..rows.count {
                            let closed = if normal > 0.0 { 1.0 } else { 0.0 };
                            slope[k][l] = closed * (force[k] / force[0]) * (force[l] / force[0]);
                        }
                    }
                } else {
                    found[..rows.count].copy_from_slice(force);
                }
                if first {
                    for k in 0..rows.count {
                        found[k] -= (0..rows.count).map(|l| slope[k][l] * wanted[l]).sum::<f64>();
                    }
                }
                let d = rows.count;
                let gains = &mut self.gain[i];
                for k in 0..d {
                    for l in 0..d {
                        let entry = gain * slope[k][l];
                        factored &= gains[k][l] == entry;
                        gains[k][l] = entry;
                    }
                }
                self.trial_force[range].copy_from_slice(&found[..rows.count]);
                problem.scatter(rows, -problem.step, &found, product);
            }
            let left = pass.imbalance(product);
            if left <= 2e-19 * scale || (last <= SHARED * scale && left > 0.3 * last) {
                last = last.min(left);
                break;
            }
            // The forces minimise a convex function of y whose gradient is what the bodies lack: beyond the least along the step, go
            // half the way back.
            let slope = dot(&self.product[..n], &self.step[..n]);
            if slope < -0.5 * ascent && part > 1e-3 {
                part *= 0.5;
                for i in 0..n {
                    multiplier[i] -= part * self.step[i];
                }
                continue;
            }
            last = left;
            part = 1.0;
            if left < 0.5 * least {
                (least, idle) = (left, 0);
            } else if idle < SHARES {
                idle += 1;
            } else {
                return false;
            }
            // Where all limits are reached nothing but the bodies resists a step: the farther away, the stiffer.
            let stiffness = 0.1 * (left / scale).min(1.0) * stiff;
            if !inside {
                for (i, rows) in problem.rows.iter().enumerate() {
                    if stuck[i] {
                        let own = self.shares[i] * stiffness;
                        (0..rows.count).for_each(|k| self.gain[i][k][k] += own);
                    }
                }
            }
            // Within all limits the forces are linear, and one factor serves for all steps.
            if !(factored && inside) {
                if !self.factor(problem) {
                    return false;
                }
                factored = inside;
            }
            self.step[..n].copy_from_slice(&self.product[..n]);
            problem.pattern.solve(&self.matrix, &self.pivots, &mut self.step[..n]);
            ascent = dot(&self.product[..n], &self.step[..n]);
            for i in 0..n {
                multiplier[i] += self.step[i];
            }
        }
        if last > SHARED * scale {
            return false;
        }
        at.force.copy_from_slice(&self.trial_force[..rows]);
        true
    }

    /// Block Gauss–Seidel: every block in turn takes the force that solves its own law, forwards and backwards alternately; afterwards
    /// the velocities follow the forces.
    fn sweep(&mut self, pass: &Pass, at: &mut Iterate, alone: &[f64], times: usize) -> bool {
        let problem = &pass.problem;
        let (pattern, count) = (problem.pattern, problem.rows.len());
        for time in 0..times {
            for step in 0..count {
                let i = if time % 2 == 0 { step } else { count - 1 - step };
                let rows = &problem.rows[i];
                let d = rows.count;
                let own = &pass.own[i];
                let moved = problem.gather(rows, at.change);
                let (mut f, mut q) = ([0.0; 3], [0.0; 3]);
                for k in 0..d {
                    f[k] = at.force[rows.first + k];
                    q[k] = problem.free[rows.first + k] + moved[k] - dot(&own[k][..d], &at.force[rows.range()]);
                }
                solve_alone(pass.law(i, at.force), own, &q[..d], &mut f[..d]);
                let mut change = [0.0; 3];
                for k in 0..d {
                    change[k] = f[k] - at.force[rows.first + k];
                    if !change[k].is_finite() {
                        change[k] = 0.0;
                    }
                    at.force[rows.first + k] += change[k];
                }
                for side in rows.sides() {
                    let (size, start) = (pattern.size(side.body), pattern.start(side.body));
                    let impulse = &mut self.product[..size];
                    impulse.fill(0.0);
                    for j in 0..side.len {
                        impulse[side.first + j] = (0..d)
                            .map(|k| problem.jacobian[side.at + k * side.len + j] * change[k])
                            .sum::<f64>()
                            * problem.step;
                    }
                    pattern.divide_diagonal(alone, side.body, impulse);
                    for (change, moved) in at.change[start..start + size].iter_mut().zip(impulse) {
                        *change += *moved;
                    }
                }
            }
            if is_set(pass.stop) {
                return false;
            }
        }
        self.follow(pass, at, alone)
    }

    /// Relative velocities and the balance as they follow from velocities and forces.
    fn renew(&mut self, pass: &Pass, at: &mut Iterate) {
        let problem = &pass.problem;
        at.defect.fill(0.0);
        problem
            .pattern
            .multiply_add(problem.inertia, problem.joined, at.change, at.defect);
        for rows in problem.rows {
            problem.scatter(rows, -problem.step, &at.force[rows.range()], at.defect);
            let moved = problem.gather(rows, at.change);
            for k in 0..rows.count {
                at.velocity[rows.first + k] = problem.free[rows.first + k] + moved[k];
            }
        }
    }

    /// One step of Newton's method with what is at rest held so, whatever rounding says of it.
    fn polish(&mut self, pass: &Pass, at: &mut Iterate, stuck: &[bool]) -> bool {
        let problem = &pass.problem;
        for i in 0..problem.rows.len() {
            let (gain, offset) = pass.linear(i, at.force, at.velocity, pass.weight[i], stuck[i]);
            self.set(i, problem.rows[i].count, gain, offset);
        }
        if !self.factor(problem) {
            return false;
        }
        self.solve(problem, at.defect);
        self.go(problem, at, 1.0);
        true
    }

    /// The change of the velocities by forces; `alone` has the factors of the bodies alone.
    fn accelerate(&mut self, problem: &Problem, force: &[f64], alone: &[f64], change: &mut [f64]) -> bool {
        let pattern = problem.pattern;
        let impulse = &mut self.step[..pattern.rows()];
        impulse.fill(0.0);
        for rows in problem.rows {
            problem.scatter(rows, problem.step, &force[rows.range()], impulse);
        }
        if problem.joined {
            let stored = pattern.stored();
            self.matrix[..stored].copy_from_slice(&problem.inertia[..stored]);
            if !pattern.factor(&mut self.matrix[..stored], &mut self.pivots) {
                return false;
            }
            change.copy_from_slice(impulse);
            pattern.solve(&self.matrix, &self.pivots, change);
            return true;
        }
        change.copy_from_slice(impulse);
        for body in 0..pattern.blocks() {
            let (size, start) = (pattern.size(body), pattern.start(body));
            pattern.divide_diagonal(alone, body, &mut change[start..start + size]);
        }
        true
    }

    /// Velocities that follow from the forces.
    fn follow(&mut self, pass: &Pass, at: &mut Iterate, alone: &[f64]) -> bool {
        if !self.accelerate(&pass.problem, at.force, alone, at.change) {
            return false;
        }
        self.renew(pass, at);
        true
    }
}

/// Whether the G of a block of so many rows is what it was.
#[inline]
fn same_gain(count: usize, before: &Matrix, now: &Matrix) -> bool {
    match count {
        1 => before[0][0] == now[0][0],
        _ => before == now,
    }
}

/// Factors A + T·Jᵀ·G·J, into `matrix`.
#[multiversion(targets("x86_64+avx2"))]
fn factor_with(problem: &Problem<'_>, gain: &[Matrix], matrix: &mut [f64], pivots: &mut [u32]) -> bool {
    let stored = problem.pattern.stored();
    let matrix = &mut matrix[..stored];
    // Where no spring joins bodies, nothing stands beside the diagonal.
    let given = if problem.joined {
        stored
    } else {
        problem.pattern.diagonal()
    };
    matrix[..given].copy_from_slice(&problem.inertia[..given]);
    matrix[given..].fill(0.0);
    for (rows, gain) in problem.rows.iter().zip(gain) {
        if *gain != [[0.0; 3]; 3] {
            problem.add_gram(rows, problem.step, gain, matrix);
        }
    }
    problem.pattern.factor(matrix, pivots)
}

impl Kept {
    fn reserve(&mut self, rows: usize, bodies: usize) {
        self.change.resize(bodies.max(self.change.len()), 0.0);
        self.defect.resize(bodies.max(self.defect.len()), 0.0);
        self.force.resize(rows.max(self.force.len()), 0.0);
        self.velocity.resize(rows.max(self.velocity.len()), 0.0);
    }

    fn take(&mut self, at: &Iterate) {
        self.change[..at.change.len()].copy_from_slice(at.change);
        self.defect[..at.defect.len()].copy_from_slice(at.defect);
        self.force[..at.force.len()].copy_from_slice(at.force);
        self.velocity[..at.velocity.len()].copy_from_slice(at.velocity);
    }

    fn give(&self, at: &mut Iterate) {
        at.change.copy_from_slice(&self.change[..at.change.len()]);
        at.defect.copy_from_slice(&self.defect[..at.defect.len()]);
        at.force.copy_from_slice(&self.force[..at.force.len()]);
        at.velocity.copy_from_slice(&self.velocity[..at.velocity.len()]);
    }
}

impl Iterate<'_> {
    /// No forces: the free velocities.
    fn begin(&mut self, free: &[f64]) {
        self.change.fill(0.0);
        self.defect.fill(0.0);
        self.force.fill(0.0);
        self.velocity.copy_from_slice(free);
    }
}

/// df = f₀ − G·dw from the natural map with the compliance: (∂r/∂f − ε)·df + ∂r/∂w·dw = −r.
pub(super) fn response(map: &NaturalMap, d: usize, compliance: f64) -> (Matrix, Vector) {
    let (mut gain, mut offset) = ([[0.0; 3]; 3], [0.0; 3]);
    if d == 1 {
        let inverse = 1.0 / (map.by_force[0][0] - compliance);
        gain[0][0] = inverse * map.by_velocity[0][0];
        offset[0] = -inverse * map.residual[0];
        return (gain, offset);
    }
    let mut by_force = map.by_force;
    for k in 0..d {
        by_force[k][k] -= compliance;
    }
    let inverse = invert_small(&by_force, d);
    for k in 0..d {
        for j in 0..d {
            gain[k][j] = (0..d).map(|l| inverse[k][l] * map.by_velocity[l][j]).sum();
        }
        offset[k] = -(0..d).map(|l| inverse[k][l] * map.residual[l]).sum::<f64>();
    }
    (gain, offset)
}

impl Solver {
    /// Buffers for islands of up to this many rows and blocks, and on these patterns.
    pub fn new<'a>(rows: usize, blocks: usize, patterns: impl IntoIterator<Item = &'a Pattern>) -> Self {
        let mut solver = Self::default();
        for pattern in patterns {
            solver.reserve(rows, blocks, pattern);
        }
        solver
    }

    /// A solver that looks no further where Newton's method ends at this residual or less.
    pub fn rough(enough: f64) -> Self {
        Solver {
            rough: Some(enough),
            ..Solver::default()
        }
    }

    fn reserve(&mut self, rows: usize, blocks: usize, pattern: &Pattern) {
        let (bodies, stored) = (pattern.rows(), pattern.stored());
        self.change.resize(bodies.max(self.change.len()), 0.0);
        self.impulse_unit.resize(bodies.max(self.impulse_unit.len()), 0.0);
        self.alone.resize(stored.max(self.alone.len()), 0.0);
        for buffer in [
            &mut self.force,
            &mut self.velocity,
            &mut self.unit,
            &mut self.slip,
            &mut self.pressed,
        ] {
            buffer.resize(rows.max(buffer.len()), 0.0);
        }
        let blocks = blocks.max(self.blocks.len());
        self.stuck.resize(blocks, false);
        self.broken.resize(blocks, false);
        self.root.resize((bodies + 1).max(self.root.len()), 0);
        self.blocks.resize(blocks, Block::Smooth);
        self.own.resize(blocks, [[0.0; 3]; 3]);
        self.rho.resize(blocks, [0.0; 2]);
        self.weight.resize(blocks, 0.0);
        self.sharper.resize(blocks, 0.0);
        self.work.reserve(rows, blocks, pattern);
        self.cones.reserve(rows, blocks);
        self.kept.reserve(rows, bodies);
        self.nearest.reserve(rows, bodies);
    }

    /// Solves one island. Afterwards `change`, `force`, `velocity` and `stuck` hold the solution: velocities are exactly 0.0 in the rows
    /// of stuck blocks (a closed contact: exactly its target in the normal row).
    ///
    /// Input that is no problem at all (numbers that are not finite, a body without mass) gives zero forces, `converged = false` and an
    /// infinite residual.
    pub fn solve(&mut self, problem: &Problem, laws: &dyn Blocks) -> Outcome {
        self.ask(problem, laws);
        self.solve_asked(problem, laws)
    }

    /// The laws of the blocks in this step, and room for them.
    fn ask(&mut self, problem: &Problem, laws: &dyn Blocks) {
        let m = problem.rows.len();
        self.reserve(problem.free.len(), m, problem.pattern);
        for i in 0..m {
            self.blocks[i] = laws.block(i);
        }
    }

    fn solve_asked(&mut self, problem: &Problem, laws: &dyn Blocks) -> Outcome {
        let (n, m, bodies) = (problem.free.len(), problem.rows.len(), problem.pattern.rows());
        self.broken[..m].fill(false);
        self.stuck[..m].fill(false);
        self.force[..n].fill(0.0);
        self.change[..bodies].fill(0.0);
        self.velocity[..n].copy_from_slice(problem.free);
        if !self.prepare(problem, laws) {
            return Outcome {
                residual: f64::INFINITY,
                iterations: 0,
                converged: false,
                furthest: 0,
                impossible: false,
            };
        }
        if m == 1 && !problem.joined && self.closed_form(problem) {
            let change = &mut self.change[..bodies];
            self.work.accelerate(problem, &self.force[..n], &self.alone, change);
            return Outcome {
                residual: 0.0,
                iterations: 1,
                converged: true,
                furthest: 0,
                impossible: false,
            };
        }
        let mut iterations = 0;
        // Afterwards a step that could not be solved by one way may be by another: how far a pass got counts at the end.
        loop {
            let (solved, residual) = self.pass(problem, laws);
            iterations += solved;
            let mut breaks = false;
            for i in 0..m {
                if !self.stuck[i] && !self.broken[i] && would_drop(self.blocks[i], self.force[problem.rows[i].first]) {
                    self.broken[i] = true;
                    breaks = true;
                }
            }
            if !breaks || is_set(self.stop.as_ref()) {
                return Outcome {
                    residual,
                    iterations,
                    converged: residual <= TOLERANCE,
                    furthest: self.furthest,
                    impossible: self.impossible,
                };
            }
        }
    }

    /// As [`Solver::solve`], but with the solution at rest that is remembered, if the problem is the same.
    pub fn solve_or_rest(&mut self, problem: &Problem, laws: &dyn Blocks, rest: &mut Rest) -> Outcome {
        let (n, m, bodies) = (problem.free.len(), problem.rows.len(), problem.pattern.rows());
        self.ask(problem, laws);
        if let Some(outcome) = rest.outcome.filter(|_| rest.is(problem, &self.blocks[..m])) {
            self.change[..bodies].copy_from_slice(&rest.change);
            self.force[..n].copy_from_slice(&rest.force);
            self.velocity[..n].copy_from_slice(&rest.velocity);
            self.stuck[..m].copy_from_slice(&rest.stuck);
            self.broken[..m].fill(false);
            return outcome;
        }
        let outcome = self.solve_asked(problem, laws);
        rest.outcome = None;
        // Laws that are asked during the solution may change unseen.
        let rests = |i: usize| match self.blocks[i] {
            Block::Dry { .. } | Block::Arm { .. } | Block::Lock => self.stuck[i],
            Block::Contact { .. } => self.stuck[i] || self.force[problem.rows[i].first] == 0.0,
            Block::Curve { .. } | Block::Smooth => false,
        };
        if outcome.converged && (0..m).all(rests) {
            fn keep<T: Copy>(to: &mut Vec<T>, from: &[T]) {
                to.clear();
                to.extend_from_slice(from);
            }
            rest.step = problem.step;
            keep(&mut rest.free, problem.free);
            keep(&mut rest.blocks, &self.blocks[..m]);
            keep(&mut rest.rows, problem.rows);
            keep(&mut rest.jacobian, problem.jacobian);
            keep(&mut rest.inertia, &problem.inertia[..problem.pattern.stored()]);
            keep(&mut rest.change, &self.change[..bodies]);
            keep(&mut rest.force, &self.force[..n]);
            keep(&mut rest.velocity, &self.velocity[..n]);
            keep(&mut rest.stuck, &self.stuck[..m]);
            rest.outcome = Some(outcome);
        }
        outcome
    }

    /// Compliances of the blocks alone, and what follows from them. False if a number is not finite.
    fn prepare(&mut self, problem: &Problem, laws: &dyn Blocks) -> bool {
        let pattern = problem.pattern;
        if problem.free.iter().any(|value| !value.is_finite())
            || !pattern.factor_diagonal(problem.inertia, &mut self.alone)
        {
            return false;
        }
        for body in 0..pattern.blocks() {
            let (size, start) = (pattern.size(body), pattern.start(body));
            let place = pattern.place(body, body).unwrap_or(0);
            for i in 0..size {
                let inertia = problem.inertia[place + i * (size + 1)] * problem.step;
                self.impulse_unit[start + i] = 1.0 / inertia.sqrt();
            }
        }
        let mut finite = true;
        let mut heaviest = f64::INFINITY;
        let mut largest = 0.0f64;
        let noise = f64::EPSILON * problem.speed;
        for (i, rows) in problem.rows.iter().enumerate() {
            let d = rows.count;
            let mut own = [[0.0; 3]; 3];
            for side in rows.sides() {
                let lines = &problem.jacobian[side.at..side.at + d * side.len];
                let product =
                    pattern.compliance(&self.alone, (side.body, side.first), d, lines, &mut self.work.product);
                let mut lightest = 0.0f64;
                for k in 0..d {
                    for l in 0..=k {
                        own[k][l] += problem.step * product[k][l];
                    }
                    lightest = lightest.max(problem.step * product[k][k]);
                }
                // A link that its joint hardly lets go along one row is no heavy body: what counts is where it moves best.
                if lightest > 0.0 {
                    heaviest = heaviest.min(lightest);
                }
            }
            for k in 0..d {
                for l in 0..k {
                    own[l][k] = own[k][l];
                }
                finite &= own[k][k].is_finite();
                largest = largest.max(own[k][k]);
            }
            self.own[i] = own;
        }
        if !finite {
            return false;
        }
        // The largest force that can matter: a limit, or what stops a row alone.
        let mut common = 0.0f64;
        for (i, rows) in problem.rows.iter().enumerate() {
            let limit = match self.blocks[i] {
                Block::Dry {
                    holding,
                    kinetic,
                    was_stuck,
                } => Some(if was_stuck { holding } else { kinetic }.limit),
                Block::Curve {
                    holding,
                    was_stuck: true,
                } => Some(holding.limit),
                Block::Curve { .. } => Some(laws.steady(i, 0.0).0.limit),
                Block::Contact { .. } | Block::Arm { .. } | Block::Lock | Block::Smooth => None,
            };
            common = limit
                .filter(|limit| *limit < 1e100)
                .map_or(common, |limit| common.max(limit));
            let own = self.own[i][0][0];
            if own > 1e-9 * largest {
                let free = (problem.free[rows.first] - self.blocks[i].target()).abs();
                common = common.max(free.max(noise) / own);
            }
        }
        self.common = common.max(f64::MIN_POSITIVE);
        let common = if common > 0.0 { common } else { 1.0 };
        let mut driven = f64::MIN_POSITIVE;
        for (i, rows) in problem.rows.iter().enumerate() {
            let d = rows.count;
            // What no force moves needs a unit too: one that carries f − ρ·w over every limit.
            let widest = |range: std::ops::Range<usize>| {
                let speed = length(&problem.free[rows.first + range.start..rows.first + range.end]);
                let own = range.map(|k| self.own[i][k][k]).fold(0.0, f64::max);
                if own > 1e-15 * largest && own > 0.0 {
                    own
                } else if speed > 0.0 {
                    speed / (4.0 * common)
                } else {
                    1.0
                }
            };
            let compliance = match self.blocks[i] {
                Block::Contact { .. } if d > 1 => [widest(0..1), widest(1..d)],
                _ => [widest(0..d); 2],
            };
            self.rho[i] = compliance.map(|compliance| 1.0 / compliance);
            for k in 0..d {
                let least = 1e-9 * compliance[k.min(1)];
                let unit = self.own[i][k][k].max(least).sqrt();
                self.unit[rows.first + k] = unit;
                let target = if k == 0 { self.blocks[i].target() } else { 0.0 };
                driven = driven.max((problem.free[rows.first + k] - target).abs().max(noise) / unit);
            }
        }
        self.driven = driven;
        for (i, weight) in self.weight[..problem.rows.len()].iter_mut().enumerate() {
            // The heaviest body leans on the lighter ones.
            let heavier = (heaviest * self.rho[i][0]).clamp(1e-12, 1.0);
            self.sharper[i] = 1.0 / heavier;
            *weight = (COMPLIANCE * heavier).max(LEAST_COMPLIANCE);
        }
        true
    }

    /// One friction whose compliance is the same in all directions (the paper on model P, eqs 12, 19 and 20). False if it is not that
    /// case.
    fn closed_form(&mut self, problem: &Problem) -> bool {
        let Block::Dry {
            holding,
            kinetic,
            was_stuck,
        } = self.blocks[0]
        else {
            return false;
        };
        let d = problem.rows[0].count;
        let own = &self.own[0];
        let compliance = own[0][0];
        let isotropic = (0..d).all(|k| (0..d).all(|l| own[k][l] == if k == l { compliance } else { 0.0 }));
        if !isotropic || compliance <= 0.0 || kinetic.bias != 0.0 || holding.bias != 0.0 {
            return false;
        }
        let free = problem.free;
        let speed = length(&free[..d]);
        let kinetic = kinetic.limit;
        let limit = if was_stuck { holding.limit.max(kinetic) } else { kinetic };
        let stuck = speed <= compliance * limit;
        self.stuck[0] = stuck;
        for k in 0..d {
            if stuck {
                let stopping = -free[k] / compliance;
                self.force[k] = if d == 1 {
                    stopping.clamp(-limit, limit)
                } else {
                    stopping
                };
                self.velocity[k] = 0.0;
            } else {
                self.force[k] = -kinetic * (free[k] / speed);
                self.velocity[k] = free[k] * (1.0 - compliance * kinetic / speed);
            }
        }
        if d == 1 && !stuck {
            self.velocity[0] = free[0] + compliance * self.force[0];
        }
        true
    }

    /// Whether forces at rest may not be unique: coordinates and the ground with the blocks that hold them together form a ring. A block that takes hold of
    /// several coordinates of a body stands for all of them.
    fn redundant(root: &mut [usize], problem: &Problem, stuck: &[bool], force: &[f64]) -> bool {
        let pattern = problem.pattern;
        let ground = pattern.rows();
        for (node, root) in root[..=ground].iter_mut().enumerate() {
            *root = node;
        }
        fn find(root: &mut [usize], mut node: usize) -> usize {
            while root[node] != node {
                root[node] = root[root[node]];
                node = root[node];
            }
            node
        }
        let acts = |i: usize| stuck[i] || force[problem.rows[i].first] != 0.0;
        for (_, rows) in problem.rows.iter().enumerate().filter(|(i, _)| acts(*i)) {
            for side in rows.sides().filter(|side| side.len > 1) {
                let start = pattern.start(side.body);
                for i in 1..pattern.size(side.body) {
                    let (a, b) = (find(root, start), find(root, start + i));
                    root[a.max(b)] = a.min(b);
                }
            }
        }
        for (_, rows) in problem.rows.iter().enumerate().filter(|(i, _)| acts(*i)) {
            let [a, b] = rows.sides.map(|side| match side.len {
                0 => ground,
                _ => pattern.start(side.body) + side.first,
            });
            if a == b {
                // Nothing moves it.
                continue;
            }
            let (a, b) = (find(root, a), find(root, b));
            if a == b {
                return true;
            }
            root[a] = b;
        }
        false
    }

    /// One pass: all blocks with the limits they have now. Returns the number of systems solved and the residual.
    fn pass(&mut self, problem: &Problem, laws: &dyn Blocks) -> (usize, f64) {
        let (n, m, bodies) = (problem.free.len(), problem.rows.len(), problem.pattern.rows());
        let pass = Pass {
            problem: *problem,
            laws,
            blocks: &self.blocks[..m],
            broken: &self.broken[..m],
            rho: &self.rho[..m],
            unit: &self.unit[..n],
            weight: &self.weight[..m],
            sharper: &self.sharper[..m],
            impulse_unit: &self.impulse_unit[..bodies],
            own: &self.own[..m],
            common: self.common,
            driven: self.driven,
            stop: self.stop.as_ref(),
        };
        let mut defect = std::mem::take(&mut self.work.defect);
        let mut at = Iterate {
            change: &mut self.change[..bodies],
            force: &mut self.force[..n],
            velocity: &mut self.velocity[..n],
            defect: &mut defect[..bodies],
        };
        let smooth = (0..m).any(|i| matches!(pass.blocks[i], Block::Smooth));
        at.begin(problem.free);
        for i in 0..m {
            self.stuck[i] = pass.blocks[i].was_stuck() && !pass.broken[i];
        }
        // Bristles may have several roots, and their force may fall with velocity: each block by itself shows the way.
        let swept = smooth && self.work.sweep(&pass, &mut at, &self.alone, 1);
        let hold = if swept { None } else { Some(&self.stuck[..m]) };
        let (mut solved, mut residual) = self.work.newton(&pass, &mut at, hold);
        let enough = |at: &Iterate, residual: f64| {
            let blur = if smooth {
                pass.blur(at.force, at.velocity) / pass.scale(at.force)
            } else {
                0.0
            };
            if residual > TOLERANCE && residual <= blur.min(1e-9) {
                TOLERANCE
            } else {
                residual
            }
        };
        residual = enough(&at, residual);
        if self
            .rough
            .is_some_and(|enough| residual > TOLERANCE && residual <= enough)
        {
            self.work.defect = defect;
            return (solved, residual);
        }
        let curved = (0..m).any(|i| matches!(pass.law(i, at.force), Law::Curve(_) | Law::Smooth(_)));
        if residual > TOLERANCE && curved && !is_set(pass.stop) {
            // Laws that may fall with velocity: every block by itself finds the root it should have.
            let mut sweeps = 8;
            at.begin(problem.free);
            for _ in 0..RESCUES {
                if !self.work.sweep(&pass, &mut at, &self.alone, sweeps) {
                    break;
                }
                self.kept.take(&at);
                let (more, left) = self.work.newton(&pass, &mut at, None);
                solved += more + sweeps;
                residual = enough(&at, left);
                if residual <= TOLERANCE {
                    break;
                }
                self.kept.give(&mut at);
                sweeps *= 2;
            }
        }
        let slides = |at: &Iterate, scale: f64| {
            (0..m).any(|i| {
                matches!(pass.blocks[i], Block::Contact { was_stuck: true, .. })
                    && !pass.broken[i]
                    && at.force[problem.rows[i].first] > 0.0
                    && !pass.at_rest(i, at.force, at.velocity, at.change, scale)
            })
        };
        let scale = pass.scale(at.force);
        // Whether all that was stuck was found to stick, though sliding solves the laws too.
        let mut holds = false;
        // Bristles whose force falls with velocity: a shorter step helps more.
        let hopeless = smooth && residual > TOLERANCE;
        if (residual > TOLERANCE || slides(&at, scale)) && !hopeless && !is_set(pass.stop) {
            self.kept.take(&at);
            let first = residual;
            // What was stuck sticks in the convex problem; what slid is thought to slide on as it would freely.
            self.slip[..n].copy_from_slice(problem.free);
            for (i, rows) in problem.rows.iter().enumerate() {
                if pass.blocks[i].was_stuck() {
                    self.slip[rows.range()].fill(0.0);
                }
            }
            let (mut nearest, mut change) = (f64::INFINITY, f64::INFINITY);
            for round in 0..SHIFTS {
                // Arms keep the normal forces that were found last.
                self.pressed[..n].copy_from_slice(at.force);
                at.begin(problem.free);
                let given = (&self.slip[..n], &self.pressed[..n]);
                solved += self.cones.solve(&pass, &mut self.work, &mut at, given);
                let last = std::mem::replace(&mut change, pass.change_of_slip(&self.slip[..n], at.velocity));
                self.slip[..n].copy_from_slice(at.velocity);
                let (more, left) = self.work.newton(&pass, &mut at, None);
                solved += more;
                residual = left;
                if residual < nearest {
                    nearest = residual;
                    self.nearest.take(&at);
                }
                holds = residual <= SOLVED && !slides(&at, pass.scale(at.force));
                // Rounds whose slips do not come closer lead nowhere.
                let hopeless = round > 1 && (change.is_nan() || change > 0.7 * last);
                // In large heaps rounding leaves more than in small ones, and another round leaves as much.
                let rounded = round > 0 && nearest <= SOLVED;
                if residual <= TOLERANCE || first <= TOLERANCE || hopeless || rounded || is_set(pass.stop) {
                    break;
                }
            }
            if residual > TOLERANCE && first > TOLERANCE && nearest > SOLVED {
                let mut kept = std::mem::take(&mut self.kept);
                let (more, left) = self.work.soften(&pass, &mut at, &mut kept);
                self.kept = kept;
                solved += more;
                residual = left;
            }
            // What can be held is held, also where forces at the edge of their cones leave more of rounding than those of sliding.
            if residual > TOLERANCE && !holds && nearest.min(first) < residual {
                if first < nearest {
                    self.kept.give(&mut at);
                } else {
                    self.nearest.give(&mut at);
                }
                residual = nearest.min(first);
            }
        }
        let enough_found = if holds { SOLVED } else { TOLERANCE };
        let mut sharing = m > 1 && self.rough.is_none();
        let found = residual;
        self.nearest.take(&at);
        for attempt in 0..4 {
            let (unstopped, block) = pass.unstopped(at.force, at.velocity);
            self.impossible = unstopped > UNSTOPPED;
            self.furthest = block;
            if residual <= enough_found && self.impossible {
                residual = unstopped;
            }
            let scale = pass.scale(at.force);
            for i in 0..m {
                self.stuck[i] = pass.at_rest(i, at.force, at.velocity, at.change, scale);
            }
            clean(&pass, &mut at, &self.stuck[..m]);
            let mut shared = false;
            if residual <= enough_found && sharing {
                self.kept.take(&at);
                if Self::redundant(&mut self.root, problem, &self.stuck[..m], at.force) {
                    shared = self.work.share(&pass, &mut at, &self.stuck[..m]);
                    if !shared {
                        self.kept.give(&mut at);
                    }
                }
            }
            // Velocities by the forces that are returned: what was lost on the way shows.
            if residual > enough_found || !self.work.follow(&pass, &mut at, &self.alone) {
                break;
            }
            let reached = pass.residual(at.force, at.velocity);
            let (exact, left) = (reached.force / pass.common, reached.largest / pass.scale(at.force));
            if shared && left > 0.5 * TOLERANCE && attempt > 0 {
                // The forces as they were found obey their laws better.
                self.kept.give(&mut at);
                sharing = false;
                continue;
            }
            let left = enough(&at, left);
            if exact <= 1e-13
                || attempt >= 2
                || (smooth && left <= TOLERANCE)
                || !self.work.polish(&pass, &mut at, &self.stuck[..m])
            {
                residual = left;
                break;
            }
        }
        if residual > enough_found && found <= enough_found && !self.impossible {
            // What was to make it smoother led away.
            self.nearest.give(&mut at);
            residual = found;
            let scale = pass.scale(at.force);
            for i in 0..m {
                self.stuck[i] = pass.at_rest(i, at.force, at.velocity, at.change, scale);
            }
            clean(&pass, &mut at, &self.stuck[..m]);
        }
        for (i, rows) in problem.rows.iter().enumerate() {
            let closed = matches!(pass.blocks[i], Block::Contact { .. }) && at.force[rows.first] > 0.0;
            if closed {
                at.velocity[rows.first] = pass.target(i);
            }
            if self.stuck[i] {
                let first = rows.first + usize::from(closed);
                at.velocity[first..rows.first + rows.count].fill(0.0);
            }
        }
        if residual > TOLERANCE && !self.impossible {
            self.furthest = pass.furthest(at.force, at.velocity);
        }
        self.work.defect = defect;
        (solved, residual)
    }
}

/// The nearest force that a law at rest admits, and its derivative.
fn project(law: Law, f: &[f64]) -> (Vector, Matrix) {
    let d = f.len();
    let (mut found, mut slope) = ([0.0; 3], [[0.0; 3]; 3]);
    let mut identity = || {
        for k in 0..d {
            found[k] = f[k];
            slope[k][k] = 1.0;
        }
    };
    match law {
        Law::Smooth(_) | Law::Lock => identity(),
        Law::Dry(_) | Law::Curve(_) => {
            let level = match law {
                Law::Curve(curve) => curve.at(0.0).0,
                Law::Dry(level) => level,
                _ => Level::default(),
            };
            let shifted = unbiased(f, level);
            let size = length(&shifted[..d]);
            if size <= level.limit {
                identity();
            } else {
                let share = level.limit / size;
                for k in 0..d {
                    found[k] = share * shifted[k];
                    for l in 0..d {
                        let along = shifted[k] * shifted[l] / (size * size);
                        slope[k][l] = share * (if k == l { 1.0 } else { 0.0 } - along);
                    }
                }
                if d == 1 {
                    (found[0], slope[0][0]) = (level.limit.copysign(shifted[0]), 0.0);
                }
                found[0] += level.bias;
            }
        }
        Law::Contact { mu, .. } => {
            let size = length(&f[1..]);
            if f[0] >= 0.0 && size <= mu * f[0] {
                identity();
            } else if f[0] + mu * size > 0.0 {
                // On the surface of the cone.
                let normal = (f[0] + mu * size) / (1.0 + mu * mu);
                let mut towards = [1.0, 0.0, 0.0];
                for k in 1..d {
                    towards[k] = if size > 0.0 { mu * f[k] / size } else { 0.0 };
                }
                for k in 0..d {
                    found[k] = normal * towards[k];
                    for l in 0..d {
                        slope[k][l] = towards[k] * towards[l] / (1.0 + mu * mu);
                        if k > 0 && l > 0 && size > 0.0 {
                            let along = f[k] * f[l] / (size * size);
                            slope[k][l] += mu * normal / size * (if k == l { 1.0 } else { 0.0 } - along);
                        }
                    }
                }
            }
        }
    }
    (found, slope)
}

/// What a block carries in proportion to others: its limit, or the common value. A limit of nothing takes no part.
fn share_of(pass: &Pass, i: usize, force: &[f64]) -> f64 {
    let limit = match pass.law(i, force) {
        Law::Dry(level) => level.limit,
        Law::Curve(curve) => curve.at(0.0).0.limit,
        _ => pass.common,
    };
    let share = (limit / pass.common).min(1e6);
    if share > 1e-12 { share } else { 0.0 }
}

/// Whether a block that slips in spite of its holding limit has another law to drop to.
fn would_drop(block: Block, normal: f64) -> bool {
    match block {
        Block::Dry {
            holding,
            kinetic,
            was_stuck,
        } => was_stuck && holding != kinetic,
        Block::Curve { .. } => true,
        Block::Contact {
            mu_static,
            mu_kinetic,
            was_stuck,
            ..
        } => was_stuck && mu_static != mu_kinetic && normal > 0.0,
        Block::Arm { .. } | Block::Smooth | Block::Lock => false,
    }
}

/// Removes what rounding left: slipping forces are at their limit, stuck velocities are 0.0, open contacts carry nothing.
fn clean(pass: &Pass, at: &mut Iterate, stuck: &[bool]) {
    for (i, rows) in pass.problem.rows.iter().enumerate() {
        let rho = pass.rho[i];
        let range = rows.range();
        let law = pass.law(i, at.force);
        let (f, w) = (&mut at.force[range.clone()], &mut at.velocity[range]);
        match law {
            Law::Dry(level) => bound(f, w, rho[0], level, stuck[i]),
            Law::Curve(curve) => {
                let speed = if stuck[i] { 0.0 } else { length(w) };
                bound(f, w, rho[0], curve.at(speed).0, stuck[i]);
            }
            Law::Contact { target, mu } => {
                if f[0] - rho[0] * (w[0] - target) > 0.0 {
                    f[0] = f[0].max(0.0);
                    let limit = mu * f[0];
                    bound(&mut f[1..], &w[1..], rho[1], limit.into(), stuck[i]);
                    w[0] = target;
                } else {
                    f.fill(0.0);
                }
                if stuck[i] {
                    w[1..].fill(0.0);
                }
                continue;
            }
            Law::Smooth(force) => {
                let (psi, _) = smooth(force, w);
                (0..f.len()).for_each(|k| f[k] = -psi[k]);
            }
            Law::Lock => {}
        }
        if stuck[i] {
            w.fill(0.0);
        }
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
