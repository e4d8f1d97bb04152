//! The convex problem behind sticking: forces in friction cones that stop what was at rest, by an interior-point method.
//!
//! With a fixed shift s ≥ 0 of the normal velocity, "f in the cone K of |f_t| ≤ μ·f_n, w + s·n in its dual cone, both orthogonal" is
//! the optimality condition of a strictly convex problem in the velocities (De Saxcé and Feng 1998; Cadoux 2009). Coulomb's law is its fixed
//! point s = μ·|w_t|. With s = 0 for what was stuck, w = 0 is the only solution if forces exist that hold everything.
//!
//! A friction of fixed limit F is a cone whose head is fixed at F. Pairs x (force) and z (velocity) in the standard cone x₀ ≥ |x₁| follow
//! the central path with the scaling of Nesterov and Todd and the predictor and corrector of Mehrotra; each round has one factorisation
//! on the pattern of the island.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::coupled::{Iterate, Pass, Work};
use super::dense::length;
use super::local::{Law, Matrix};
use crate::stop::is_set;

/// Rounds after which the problem counts as one without a solution.
const ROUNDS: usize = 40;
/// Part of the way to the boundary of the cones.
const PART: f64 = 0.99;
/// Complementarity and residual, relative to the scale, at which the way ends.
const CLOSE: f64 = 1e-11;

/// A vector of a cone: head and up to three other components.
type Point = [f64; 4];

/// How a block becomes a cone.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// No cone: locks and smooth laws.
    Plain,
    /// x = (μ·f_n, f_t), z = ((w_n − target + s)/μ, w_t).
    Contact { mu: f64, shift: f64 },
    /// x = f_n, z = w_n − target: a contact without friction. Other rows carry nothing.
    Push { shift: f64 },
    /// x = (F, f), z = (any, w).
    Limited { bias: f64 },
    /// Carries nothing.
    Idle,
}

#[derive(Clone, Copy, Debug)]
struct Cone {
    kind: Kind,
    /// Components besides the head.
    tail: usize,
    x: Point,
    z: Point,
    /// What z lacks to the velocity.
    lack: Point,
    dx: Point,
    dz: Point,
    scaling: Scaling,
    /// What the head of a limited force was to change by.
    head: f64,
}

/// The scaling of Nesterov and Todd: W·z = W⁻¹·x, W² = η²(2·w·wᵀ − diag(1, −1, …)).
#[derive(Clone, Copy, Debug, Default)]
struct Scaling {
    eta: f64,
    w: Point,
}

/// Buffers of the method.
#[derive(Default)]
pub(super) struct Cones {
    cones: Vec<Cone>,
}

fn dot(a: &Point, b: &Point) -> f64 {
    (0..4).map(|k| a[k] * b[k]).sum()
}

/// x₀² − |x₁|², by the product that does not cancel.
fn determinant(x: &Point) -> f64 {
    let tail = (x[1] * x[1] + x[2] * x[2] + x[3] * x[3]).sqrt();
    (x[0] - tail) * (x[0] + tail)
}

impl Scaling {
    fn of(x: &Point, z: &Point) -> Self {
        let (dx, dz) = (determinant(x).sqrt(), determinant(z).sqrt());
        let gamma = (0.5 * (1.0 + dot(x, z) / (dx * dz))).sqrt();
        let mut w = [0.0; 4];
        for k in 0..4 {
            let sign = if k == 0 { 1.0 } else { -1.0 };
            w[k] = (x[k] / dx + sign * z[k] / dz) / (2.0 * gamma);
        }
        Scaling {
            eta: (dx / dz).sqrt(),
            w,
        }
    }

    /// W·v, or W⁻¹·v.
    fn apply(&self, v: &Point, inverse: bool) -> Point {
        let sign = if inverse { -1.0 } else { 1.0 };
        let eta = if inverse { 1.0 / self.eta } else { self.eta };
        let along: f64 = (1..4).map(|k| self.w[k] * v[k]).sum();
        let mut out = [eta * (self.w[0] * v[0] + sign * along); 4];
        for k in 1..4 {
            out[k] = eta * (v[k] + self.w[k] * (sign * v[0] + along / (1.0 + self.w[0])));
        }
        out
    }

    /// W².
    fn square(&self) -> [Point; 4] {
        let mut square = [[0.0; 4]; 4];
        let eta = self.eta * self.eta;
        for k in 0..4 {
            for l in 0..4 {
                square[k][l] = 2.0 * eta * self.w[k] * self.w[l];
            }
            square[k][k] += if k == 0 { -eta } else { eta };
        }
        square
    }
}

/// The product of the cone's algebra, (a·b, a₀·b₁ + b₀·a₁).
fn product(a: &Point, b: &Point) -> Point {
    let mut out = [dot(a, b); 4];
    for k in 1..4 {
        out[k] = a[0] * b[k] + b[0] * a[k];
    }
    out
}

/// The v with product(a, v) = b.
fn quotient(a: &Point, b: &Point) -> Point {
    let along: f64 = (1..4).map(|k| a[k] * b[k]).sum();
    let mut out = [(a[0] * b[0] - along) / determinant(a); 4];
    for k in 1..4 {
        out[k] = (b[k] - out[0] * a[k]) / a[0];
    }
    out
}

/// The largest part of the step d that keeps x in the cone, at most 1/PART.
fn room(x: &Point, d: &Point) -> f64 {
    let sign = |a: &Point, b: &Point| a[0] * b[0] - (1..4).map(|k| a[k] * b[k]).sum::<f64>();
    let (a, b, c) = (sign(d, d), sign(x, d), determinant(x).max(0.0));
    let most = 1.0 / PART;
    let mut part = most;
    if d[0] < 0.0 {
        part = part.min(-x[0] / d[0]);
    }
    // c + 2·b·t + a·t² = 0.
    let discriminant = b * b - a * c;
    if discriminant >= 0.0 {
        let root = discriminant.sqrt();
        for t in [c / (root - b), c / (-root - b)] {
            if t > 0.0 && t < part {
                part = t;
            }
        }
    }
    part
}

impl Cones {
    pub(super) fn reserve(&mut self, _rows: usize, blocks: usize) {
        if self.cones.capacity() < blocks {
            self.cones.reserve(blocks - self.cones.len());
        }
    }

    /// Leaves forces and velocities close to the solution of the convex problem whose shifts are those of slip velocities and whose arms are those of forces, a
    /// number for each row. Returns the rounds.
    pub(super) fn solve(&mut self, pass: &Pass, work: &mut Work, at: &mut Iterate, given: (&[f64], &[f64])) -> usize {
        let problem = &pass.problem;
        let scale = pass.scale(at.force);
        self.begin(pass, at, scale, given);
        let degree = self
            .cones
            .iter()
            .filter(|cone| !matches!(cone.kind, Kind::Plain | Kind::Idle))
            .count();
        if degree == 0 {
            return 0;
        }
        let mut last = f64::INFINITY;
        for round in 0..ROUNDS {
            self.measure(pass, at);
            let gap = self.cones.iter().map(Cone::gap).sum::<f64>() / degree as f64;
            let lack = self.largest_lack(pass);
            if !gap.is_finite() || !lack.is_finite() || is_set(pass.stop) {
                return round;
            }
            if gap <= CLOSE * CLOSE * scale * scale && lack <= CLOSE * scale {
                return round;
            }
            // Where rounding stops it, it is as close as it gets.
            if round > 12 && gap > 0.5 * last && gap < 1e-12 * scale * scale {
                return round;
            }
            last = gap;
            // Predictor.
            for (i, cone) in self.cones.iter_mut().enumerate() {
                cone.scaling = if cone.is_cone() {
                    Scaling::of(&cone.x, &cone.z)
                } else {
                    Scaling::default()
                };
                let target = cone.x.map(|x| -x);
                cone.respond(pass, work, i, &target, at);
            }
            if !work.factor(problem) {
                return round;
            }
            work.solve(problem, at.defect);
            let part = self.follow(pass, work).min(1.0);
            if !part.is_finite() {
                return round;
            }
            let after: f64 = self.cones.iter().map(|cone| cone.gap_after(part)).sum::<f64>() / degree as f64;
            let centring = (after / gap).clamp(0.0, 1.0).powi(3);
            // Corrector: λ∘q = σ·gap·e − λ∘λ − (W⁻¹·dx)∘(W·dz), dx = W·q − W²·dz.
            for (i, cone) in self.cones.iter_mut().enumerate() {
                if !cone.is_cone() {
                    continue;
                }
                let lambda = cone.scaling.apply(&cone.z, false);
                let mut right = product(&lambda, &lambda).map(|value| -value);
                let second = product(
                    &cone.scaling.apply(&cone.dx, true),
                    &cone.scaling.apply(&cone.dz, false),
                );
                for k in 0..4 {
                    right[k] -= second[k];
                }
                right[0] += centring * gap;
                let target = cone.scaling.apply(&quotient(&lambda, &right), false);
                cone.respond(pass, work, i, &target, at);
            }
            work.solve(problem, at.defect);
            let part = (PART * self.follow(pass, work)).min(1.0);
            let sound = work.step[..problem.pattern.rows()].iter().all(|step| step.is_finite());
            if !sound || !part.is_finite() || part <= 0.0 {
                return round;
            }
            work.go(problem, at, part);
            for cone in self.cones.iter_mut().filter(|cone| cone.is_cone()) {
                for k in 0..4 {
                    cone.x[k] += part * cone.dx[k];
                    cone.z[k] += part * cone.dz[k];
                }
            }
        }
        ROUNDS
    }

    fn begin(&mut self, pass: &Pass, at: &mut Iterate, scale: f64, (slip, pressed): (&[f64], &[f64])) {
        self.cones.clear();
        for (i, rows) in pass.problem.rows.iter().enumerate() {
            let d = rows.count;
            let unit = pass.unit[rows.first];
            let (mut x, mut z) = ([0.0; 4], [0.0; 4]);
            let mut tail = d;
            let kind = match pass.law(i, pressed) {
                Law::Lock | Law::Smooth(_) => Kind::Plain,
                Law::Contact { mu, .. } => {
                    let shift = mu * length(&slip[rows.first + 1..rows.first + d]);
                    tail = d - 1;
                    if mu > 0.0 && d > 1 {
                        let across = pass.unit[rows.first + 1];
                        (x[0], z[0]) = (scale / across, scale * across);
                        Kind::Contact { mu, shift }
                    } else {
                        tail = 0;
                        (x[0], z[0]) = (scale / unit, scale * unit);
                        Kind::Push { shift }
                    }
                }
                law @ (Law::Dry(_) | Law::Curve(_)) => {
                    let speed = length(&pass.problem.free[rows.first..rows.first + d]);
                    let level = match law {
                        Law::Curve(curve) => curve.at(speed).0,
                        Law::Dry(level) => level,
                        _ => Default::default(),
                    };
                    // A limit that nothing reaches is none: the numbers of the method must be comparable.
                    let limit = level.limit.min(1e8 * scale / unit);
                    if limit > 1e-12 * scale / unit {
                        (x[0], z[0]) = (limit, scale * unit);
                        Kind::Limited { bias: level.bias }
                    } else {
                        Kind::Idle
                    }
                }
            };
            // The forces begin where the cones do.
            let mut force = [0.0; 3];
            match kind {
                Kind::Contact { mu, .. } => force[0] = x[0] / mu,
                Kind::Push { .. } => force[0] = x[0],
                Kind::Limited { bias } => force[0] = bias,
                Kind::Plain | Kind::Idle => {}
            }
            at.force[rows.first..rows.first + d].copy_from_slice(&force[..d]);
            pass.problem.scatter(rows, -pass.problem.step, &force, at.defect);
            self.cones.push(Cone {
                kind,
                tail,
                x,
                z,
                lack: [0.0; 4],
                dx: [0.0; 4],
                dz: [0.0; 4],
                scaling: Scaling::default(),
                head: 0.0,
            });
        }
    }

    /// What z lacks to the velocities; the head of a limited force is free.
    fn measure(&mut self, pass: &Pass, at: &Iterate) {
        for (i, cone) in self.cones.iter_mut().enumerate() {
            let rows = &pass.problem.rows[i];
            let w = &at.velocity[rows.first..rows.first + rows.count];
            let mut aim = cone.z;
            match cone.kind {
                Kind::Contact { mu, shift } => {
                    aim[0] = (w[0] - pass.target(i) + shift) / mu;
                    aim[1..=cone.tail].copy_from_slice(&w[1..]);
                }
                Kind::Push { shift } => aim[0] = w[0] - pass.target(i) + shift,
                Kind::Limited { .. } => aim[1..=cone.tail].copy_from_slice(w),
                Kind::Plain | Kind::Idle => {}
            }
            for k in 0..4 {
                cone.lack[k] = aim[k] - cone.z[k];
            }
        }
    }

    fn largest_lack(&self, pass: &Pass) -> f64 {
        let mut largest = 0.0f64;
        for (cone, rows) in self.cones.iter().zip(pass.problem.rows) {
            let unit = pass.unit[rows.first];
            let size = cone.lack.iter().fold(0.0f64, |a, b| a.max(b.abs())) / unit;
            largest = if size.is_nan() {
                f64::INFINITY
            } else {
                largest.max(size)
            };
        }
        largest
    }

    /// dx and dz from the step of the velocities, and how far it may go.
    fn follow(&mut self, pass: &Pass, work: &Work) -> f64 {
        let mut part = 1.0 / PART;
        for (i, cone) in self.cones.iter_mut().enumerate() {
            let rows = &pass.problem.rows[i];
            let range = rows.first..rows.first + rows.count;
            let (df, dw) = (&work.force_step[range.clone()], &work.velocity_step[range]);
            match cone.kind {
                Kind::Contact { mu, .. } => {
                    cone.dx[0] = mu * df[0];
                    cone.dz[0] = dw[0] / mu + cone.lack[0];
                    for k in 1..=cone.tail {
                        cone.dx[k] = df[k];
                        cone.dz[k] = dw[k] + cone.lack[k];
                    }
                }
                Kind::Push { .. } => {
                    cone.dx[0] = df[0];
                    cone.dz[0] = dw[0] + cone.lack[0];
                }
                Kind::Limited { .. } => {
                    cone.dx[0] = 0.0;
                    for k in 1..=cone.tail {
                        cone.dx[k] = df[k - 1];
                        cone.dz[k] = dw[k - 1] + cone.lack[k];
                    }
                    // dx₀ = 0 fixes dz₀.
                    let square = cone.scaling.square();
                    let along: f64 = (1..4).map(|k| square[0][k] * cone.dz[k]).sum();
                    cone.dz[0] = (cone.head - along) / square[0][0];
                }
                Kind::Plain | Kind::Idle => continue,
            }
            let own = room(&cone.x, &cone.dx).min(room(&cone.z, &cone.dz));
            // Not `min`, which would hide what is no number.
            part = if own < part || own.is_nan() { own } else { part };
        }
        part
    }
}

impl Cone {
    fn is_cone(&self) -> bool {
        !matches!(self.kind, Kind::Plain | Kind::Idle)
    }

    fn gap(&self) -> f64 {
        if self.is_cone() { dot(&self.x, &self.z) } else { 0.0 }
    }

    fn gap_after(&self, part: f64) -> f64 {
        if !self.is_cone() {
            return 0.0;
        }
        (0..4)
            .map(|k| (self.x[k] + part * self.dx[k]) * (self.z[k] + part * self.dz[k]))
            .sum()
    }

    /// G and f₀ of the block: dx = target − W²·(dz + lack), in the rows of the block.
    fn respond(&mut self, pass: &Pass, work: &mut Work, i: usize, target: &Point, at: &Iterate) {
        let d = pass.problem.rows[i].count;
        let first = pass.problem.rows[i].first;
        let (mut gain, mut offset): (Matrix, [f64; 3]) = ([[0.0; 3]; 3], [0.0; 3]);
        let square = self.scaling.square();
        let lacking = |k: usize| -> f64 { (0..4).map(|l| square[k][l] * self.lack[l]).sum() };
        match self.kind {
            Kind::Contact { mu, .. } => {
                let weight = |k: usize| if k == 0 { 1.0 / mu } else { 1.0 };
                for k in 0..d {
                    offset[k] = weight(k) * (target[k] - lacking(k));
                    for l in 0..d {
                        gain[k][l] = weight(k) * square[k][l] * weight(l);
                    }
                }
            }
            Kind::Push { .. } => {
                offset[0] = target[0] - lacking(0);
                gain[0][0] = square[0][0];
                for k in 1..d {
                    offset[k] = -at.force[first + k];
                }
            }
            Kind::Limited { .. } => {
                // The head's velocity is chosen so that the head stays: 0 = target₀ − W²₀·(dz + lack), lack₀ = 0.
                self.head = target[0];
                for k in 1..=d {
                    offset[k - 1] = target[k] - lacking(k) - square[k][0] / square[0][0] * (target[0] - lacking(0));
                    for l in 1..=d {
                        gain[k - 1][l - 1] = square[k][l] - square[k][0] * square[0][l] / square[0][0];
                    }
                }
            }
            Kind::Idle => {
                for k in 0..d {
                    offset[k] = -at.force[first + k];
                }
            }
            Kind::Plain => {
                let map = pass.map(i, at.force, at.velocity);
                (gain, offset) = super::coupled::response(&map, d, 1e-8);
            }
        }
        work.set(i, d, gain, offset);
    }
}
