//! Forces that keep what touches at rest: all contacts and frictions of an island stuck, points that would pull open.
//!
//! Without these forces the rows of J accelerate by J·a. The forces solve W·f = −J·a with W = J·A⁻¹·Jᵀ, normal forces
//! not negative. Where several splits do so (a box on four corners, a ball in a groove), the one with the least friction
//! is taken, and among those the one with the smallest normal forces. Friction elements that hold one motion together, as those on
//! both sides of a gear, share it in the ratio of what they can hold: they slip together, so that either all hold or none.

use crate::math::symmetric_eigen;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use std::collections::HashMap;
use std::rc::Rc;

/// What a row of J keeps at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A gear: takes either sign and costs nothing.
    Tied,
    /// A direction of a friction element.
    Rubbing,
    /// The normal direction of the point with this number.
    Normal(usize),
    /// A tangential direction of this point.
    Tangent(usize),
}

/// Rows that share free bodies.
pub(super) struct Island {
    /// Numbers of the rows among all rows.
    pub(super) rows: Vec<usize>,
    kinds: Vec<Row>,
    /// Force that a row can hold, where it is known beforehand.
    limits: Vec<Option<f64>>,
    /// W = J·A⁻¹·Jᵀ.
    pub(super) compliance: DMatrix<f64>,
    /// How W·f = −J·a is solved where there are many rows; then f is the only solution.
    firm: Option<Firm>,
    open: Vec<bool>,
    known: HashMap<Vec<bool>, Rc<Holding>>,
}

/// Forces for one set of open points, as a linear map.
struct Holding {
    map: DMatrix<f64>,
    /// Rows whose force could be any without disturbing the rest.
    loose: Vec<bool>,
}

/// Factors of W with a unit diagonal.
struct Firm {
    scale: DVector<f64>,
    factors: Cholesky<f64, Dyn>,
}

/// More rows than this in one island are not solved in general: the matrices are dense.
pub(super) const MOST_ROWS: usize = 240;
/// More rows than this are not solved where only one split of the loads is possible.
pub(super) const MOST_FIRM_ROWS: usize = 1000;
/// Eigenvalues below this part of the largest belong to redundant directions.
const REDUNDANT: f64 = 1e-11;
/// Multiplications that sets of open points of one island may take, about, and at least so many sets.
const BUDGET: usize = 200_000_000;
const LEAST_SETS: usize = 6;
/// A pull below this part of the largest force is rounding.
const ROUNDING: f64 = 1e-9;

impl Firm {
    /// `None` where forces could be split in several ways, or nearly so.
    fn new(compliance: &DMatrix<f64>) -> Option<Firm> {
        let scale = compliance.diagonal().map(|own| own.sqrt().recip());
        let n = scale.len();
        let matrix = DMatrix::from_fn(n, n, |i, j| scale[i] * compliance[(i, j)] * scale[j]);
        let factors = matrix.cholesky()?;
        let clear = |pivot: &f64| pivot * pivot > REDUNDANT;
        let clear = factors.l_dirty().diagonal().iter().all(clear);
        clear.then_some(Firm { scale, factors })
    }

    fn forces(&self, accelerations: &DVector<f64>) -> DVector<f64> {
        let scaled = -accelerations.component_mul(&self.scale);
        self.factors.solve(&scaled).component_mul(&self.scale)
    }
}

impl Island {
    /// The rows again if there are too many of them to be solved.
    pub(super) fn new(
        rows: Vec<usize>,
        kinds: Vec<Row>,
        limits: Vec<Option<f64>>,
        compliance: DMatrix<f64>,
    ) -> Result<Island, Vec<usize>> {
        let open = vec![false; rows.len()];
        let firm = (rows.len() > MOST_ROWS).then(|| Firm::new(&compliance));
        if matches!(firm, Some(None)) {
            return Err(rows);
        }
        Ok(Island {
            rows,
            kinds,
            limits,
            compliance,
            firm: firm.flatten(),
            open,
            known: HashMap::new(),
        })
    }

    /// As [`Island::hold`] for an island of one row: a push that nothing else could take.
    pub(super) fn hold_alone(&self, acceleration: f64) -> Option<f64> {
        let force = -acceleration / self.compliance[(0, 0)];
        match self.kinds[0] {
            _ if !force.is_finite() => None,
            Row::Normal(_) => Some(force.max(0.0)),
            _ => Some(force),
        }
    }

    /// The forces against `accelerations`, the rows of J·a; and whether each follows from statics alone. `None` if a
    /// number is not finite or no forces are found.
    pub(super) fn hold(&mut self, accelerations: &DVector<f64>) -> Option<(DVector<f64>, Vec<bool>)> {
        if !accelerations.iter().all(|a| a.is_finite()) {
            return None;
        }
        if let Some(firm) = &self.firm {
            let force = firm.forces(accelerations);
            let known = vec![true; self.rows.len()];
            return force.iter().all(|f| f.is_finite()).then_some((force, known));
        }
        for round in 0..4 * self.rows.len() + 4 {
            let holding = self.holding()?;
            let force = &holding.map * -accelerations;
            let most = force.amax();
            let pulls = |row: &usize| matches!(self.kinds[*row], Row::Normal(_)) && force[*row] < -ROUNDING * most;
            let mut pulling: Vec<usize> = (0..self.rows.len()).filter(pulls).collect();
            if !pulling.is_empty() {
                // All at once is quick; one by one, the worst first, cannot go round in circles as easily.
                pulling.sort_by(|a, b| force[*a].total_cmp(&force[*b]));
                pulling.truncate(if round < 3 { pulling.len() } else { 1 });
                pulling.into_iter().for_each(|row| self.set_point(row, true));
                continue;
            }
            let moved = &self.compliance * &force + accelerations;
            let fast = ROUNDING * accelerations.amax();
            let closes =
                |row: &usize| matches!(self.kinds[*row], Row::Normal(_)) && self.open[*row] && moved[*row] < -fast;
            let worst = (0..self.rows.len())
                .filter(closes)
                .min_by(|a, b| moved[*a].total_cmp(&moved[*b]));
            let Some(row) = worst else {
                let known = holding.loose.iter().map(|loose| !loose).collect();
                return Some((force, known));
            };
            self.set_point(row, false);
        }
        None
    }

    /// Opens or closes the point of a normal row, with its tangential rows.
    fn set_point(&mut self, normal: usize, open: bool) {
        let Row::Normal(point) = self.kinds[normal] else { return };
        for (row, kind) in self.kinds.iter().enumerate() {
            if matches!(kind, Row::Normal(p) | Row::Tangent(p) if *p == point) {
                self.open[row] = open;
            }
        }
    }

    fn holding(&mut self) -> Option<Rc<Holding>> {
        if let Some(known) = self.known.get(&self.open) {
            return Some(Rc::clone(known));
        }
        let most = BUDGET / (20 * self.rows.len().pow(3)).max(1);
        if self.known.len() >= most.max(LEAST_SETS) {
            return None;
        }
        let holding = Rc::new(self.solve()?);
        self.known.insert(self.open.clone(), Rc::clone(&holding));
        Some(holding)
    }

    fn solve(&self) -> Option<Holding> {
        let n = self.rows.len();
        let closed: Vec<usize> = (0..n).filter(|row| !self.open[*row]).collect();
        let m = closed.len();
        // Rows in metres and rows in radians are made comparable: a unit diagonal.
        let scale: Vec<f64> = closed
            .iter()
            .map(|&row| self.compliance[(row, row)].sqrt().recip())
            .collect();
        let matrix = DMatrix::from_fn(m, m, |i, j| {
            scale[i] * self.compliance[(closed[i], closed[j])] * scale[j]
        });
        let (values, vectors) = symmetric_eigen(matrix)?;
        let most = values.iter().copied().fold(0.0, f64::max);
        let (firm, redundant): (Vec<usize>, Vec<usize>) = (0..m).partition(|&i| values[i] > REDUNDANT * most);
        let basis = |columns: &[usize]| DMatrix::from_fn(m, columns.len(), |i, j| scale[i] * vectors[(i, columns[j])]);
        let firm_basis = basis(&firm);
        let inverse = DMatrix::from_diagonal(&DVector::from_iterator(
            firm.len(),
            firm.iter().map(|&i| 1.0 / values[i]),
        ));
        let mut map = &firm_basis * inverse * firm_basis.transpose();
        let mut loose = vec![false; n];
        // Forces that disturb nothing: first against friction, what is left of them against the other forces.
        let mut free = basis(&redundant);
        let shares = if redundant.is_empty() {
            None
        } else {
            self.shares(&closed)
        };
        let rubs = |i: &usize| matches!(self.kinds[closed[*i]], Row::Rubbing | Row::Tangent(_));
        let (rubbing, other): (Vec<usize>, Vec<usize>) = (0..m).partition(rubs);
        for part in [&rubbing, &other] {
            if free.ncols() == 0 || part.is_empty() {
                continue;
            }
            for &i in part.iter() {
                loose[closed[i]] = free.row(i).norm() > 1e-6 * scale[i];
            }
            let shares = part.iter().map(|&i| shares.as_ref().map_or(1.0, |shares| shares[i]));
            let shares = DVector::from_iterator(part.len(), shares);
            let weighed = |mut rows: DMatrix<f64>| {
                rows.row_iter_mut()
                    .zip(shares.iter())
                    .for_each(|(mut row, share)| row *= *share);
                rows
            };
            let (inverse, rest) = least(&weighed(free.select_rows(part)), free.norm_squared())?;
            map -= &free * (inverse * weighed(map.select_rows(part)));
            free = &free * rest;
        }
        let mut whole = DMatrix::zeros(n, n);
        for (i, &row) in closed.iter().enumerate() {
            for (j, &column) in closed.iter().enumerate() {
                whole[(row, column)] = map[(i, j)];
            }
        }
        Some(Holding { map: whole, loose })
    }
}

impl Island {
    /// Weights of the rows with which the smallest forces are those in the ratio of what each can hold; `None` unless all that
    /// rubs are friction elements with a known limit.
    ///
    /// Rows that hold one motion q together move by c_i·q. The least Σ w_i²·f_i² with Σ c_i·f_i given has f_i ~ c_i/w_i²: with
    /// w_i² = |c_i|/limit_i all reach their limits together. What remains of W when gears hold is c_i·c_j/m.
    fn shares(&self, closed: &[usize]) -> Option<Vec<f64>> {
        let of_kind = |kind: Row| (0..closed.len()).filter(move |&i| self.kinds[closed[i]] == kind);
        let (rubbing, tied): (Vec<usize>, Vec<usize>) = (of_kind(Row::Rubbing).collect(), of_kind(Row::Tied).collect());
        if rubbing.len() + tied.len() < closed.len() {
            return None;
        }
        let limits: Vec<f64> = rubbing.iter().map(|&i| self.limits[closed[i]]).collect::<Option<_>>()?;
        let strongest = limits.iter().copied().fold(0.0, f64::max);
        if !(strongest > 0.0 && strongest.is_finite()) {
            return None;
        }
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
                self.compliance[(closed[rows[i]], closed[columns[j]])]
            })
        };
        let across = part(&tied, &rubbing);
        let (inverse, _) = least(&part(&tied, &tied), part(&tied, &tied).norm_squared())?;
        let passed = across.tr_mul(&(inverse * &across));
        let mut shares = vec![1.0; closed.len()];
        for (k, (&i, limit)) in rubbing.iter().zip(limits).enumerate() {
            let own = self.compliance[(closed[i], closed[i])];
            let moves = (own - passed[(k, k)]).max(1e-12 * own).sqrt();
            shares[i] = (moves / limit.max(1e-9 * strongest)).sqrt();
        }
        let heaviest = rubbing.iter().map(|&i| shares[i]).fold(0.0, f64::max);
        rubbing.iter().for_each(|&i| shares[i] /= heaviest);
        Some(shares)
    }
}

/// The pseudo-inverse of a matrix, and a basis of what it maps to 0; `size` is the square of the size of its entries.
fn least(matrix: &DMatrix<f64>, size: f64) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let (values, vectors) = symmetric_eigen(matrix.tr_mul(matrix))?;
    let (firm, rest): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|&i| values[i] > 1e-16 * size);
    let firm_vectors = vectors.select_columns(&firm);
    let inverse = DMatrix::from_diagonal(&DVector::from_iterator(
        firm.len(),
        firm.iter().map(|&i| 1.0 / values[i]),
    ));
    let inverse = &firm_vectors * inverse * firm_vectors.transpose() * matrix.transpose();
    Some((inverse, vectors.select_columns(&rest)))
}
