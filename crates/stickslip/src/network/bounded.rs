//! Scalar frictions and locks: find f within lower ≤ f ≤ upper so that w = w̄ + W·f is 0 where f is strictly inside, ≥ 0 at the
//! lower bound and ≤ 0 at the upper one. This is a convex problem, and principal pivoting solves it in finitely many steps.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::dense::{dot, ldlt_factor, ldlt_solve};
use crate::stop::{Stop, is_set};

/// Where the force of a row is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Lower,
    Inside,
    Upper,
}

/// One problem; a `ridge` added to the diagonal of W makes it strictly convex when W is singular.
pub(super) struct Bounded<'a> {
    pub(super) matrix: &'a [f64],
    pub(super) free: &'a [f64],
    pub(super) lower: &'a [f64],
    pub(super) upper: &'a [f64],
    pub(super) ridge: &'a [f64],
}

/// The pivoting and its buffers.
#[derive(Default)]
pub(super) struct Pivoting {
    places: Vec<Place>,
    next: Vec<Place>,
    inside: Vec<usize>,
    factored: Vec<usize>,
    factor: Vec<f64>,
    side: Vec<f64>,
}

impl Pivoting {
    pub(super) fn reserve(&mut self, rows: usize) {
        if self.places.len() < rows {
            self.places.resize(rows, Place::Inside);
            self.next.resize(rows, Place::Inside);
            self.inside = Vec::with_capacity(rows);
            self.factored = Vec::with_capacity(rows);
            self.factor.resize(rows * rows, 0.0);
            self.side.resize(rows, 0.0);
        }
    }

    /// To be called when the matrix or its ridge is another one: the factor is kept as long as the same rows are inside.
    pub(super) fn forget(&mut self) {
        self.factored.clear();
    }

    /// Block principal pivoting (Júdice and Pires): every row in a wrong place moves at once while that lowers the number of
    /// wrong rows; when it has not for ten rounds only the last wrong row moves (Murty), which is finite for a positive
    /// definite matrix. `force` gives the first guess and receives the solution; `centre` is the point the ridge pulls to.
    /// Returns the number of rounds; rounding can make a tie cycle, so there is a cap. `stop` ends it early.
    pub(super) fn solve(&mut self, problem: &Bounded, centre: &[f64], force: &mut [f64], stop: Option<&Stop>) -> usize {
        let n = force.len();
        for i in 0..n {
            self.places[i] = if force[i] <= problem.lower[i] {
                Place::Lower
            } else if force[i] >= problem.upper[i] {
                Place::Upper
            } else {
                Place::Inside
            };
        }
        let (mut fewest, mut patience) = (n + 1, 10);
        let rounds = 200 + 20 * n;
        for round in 1..=rounds {
            self.keep_places(problem, centre, force);
            let (mut wrong, mut last) = (0, 0);
            for i in 0..n {
                self.next[i] = place(problem, centre, force, i, self.places[i]);
                if self.next[i] != self.places[i] {
                    (wrong, last) = (wrong + 1, i);
                }
            }
            if wrong == 0 || is_set(stop) {
                return round;
            }
            if wrong < fewest {
                (fewest, patience) = (wrong, 10);
            } else if patience > 0 {
                patience -= 1;
            }
            if patience > 0 {
                self.places[..n].copy_from_slice(&self.next[..n]);
            } else {
                self.places[last] = self.next[last];
            }
        }
        rounds
    }

    /// The forces that put the rows inside at rest while the others stay at their bounds.
    fn keep_places(&mut self, problem: &Bounded, centre: &[f64], force: &mut [f64]) {
        let n = force.len();
        self.inside.clear();
        for i in 0..n {
            match self.places[i] {
                Place::Lower => force[i] = problem.lower[i],
                Place::Upper => force[i] = problem.upper[i],
                Place::Inside => {
                    force[i] = 0.0;
                    self.inside.push(i);
                }
            }
        }
        let size = self.inside.len();
        if size == 0 {
            return;
        }
        if self.inside != self.factored {
            for (k, &i) in self.inside.iter().enumerate() {
                for (l, &j) in self.inside.iter().enumerate().take(k + 1) {
                    self.factor[k * size + l] = problem.matrix[i * n + j];
                }
                self.factor[k * size + k] += problem.ridge[i];
            }
            ldlt_factor(&mut self.factor[..size * size], size);
            self.factored.clone_from(&self.inside);
        }
        // The second round is iterative refinement: it makes every row small against its own terms, whatever the mass ratios.
        for _ in 0..2 {
            for (k, &i) in self.inside.iter().enumerate() {
                self.side[k] = -velocity(problem, centre, force, i);
            }
            ldlt_solve(&self.factor[..size * size], size, &mut self.side[..size]);
            for (k, &i) in self.inside.iter().enumerate() {
                force[i] += self.side[k];
            }
        }
    }
}

/// Relative velocity of row i, with the pull of the ridge to the centre.
fn velocity(problem: &Bounded, centre: &[f64], force: &[f64], i: usize) -> f64 {
    let n = force.len();
    let row = &problem.matrix[i * n..(i + 1) * n];
    problem.free[i] + dot(row, force) + problem.ridge[i] * (force[i] - centre[i])
}

/// The place where row i should be, as far as one row alone can tell; ties within rounding stay where they are.
fn place(problem: &Bounded, centre: &[f64], force: &[f64], i: usize, now: Place) -> Place {
    let n = force.len();
    let (lower, upper) = (problem.lower[i], problem.upper[i]);
    let row = &problem.matrix[i * n..(i + 1) * n];
    let terms: f64 = row.iter().zip(force).map(|(a, f)| (a * f).abs()).sum();
    let rounding = 8.0 * f64::EPSILON * (problem.free[i].abs() + terms);
    if now == Place::Inside {
        let slack = if row[i] > 0.0 { rounding / row[i] } else { 0.0 };
        return if force[i] < lower - slack {
            Place::Lower
        } else if force[i] > upper + slack {
            Place::Upper
        } else {
            now
        };
    }
    let w = velocity(problem, centre, force, i);
    let wrong = if now == Place::Lower {
        w < -rounding
    } else {
        w > rounding
    };
    match (wrong, lower < upper, row[i] > 0.0) {
        (false, ..) | (_, false, _) => now,
        (true, true, true) => Place::Inside,
        // Nothing moves this row: it slips at the other bound.
        (true, true, false) => {
            if now == Place::Lower {
                Place::Upper
            } else {
                Place::Lower
            }
        }
    }
}
