//! Forces that keep what touches at rest: all contacts and frictions of an island stuck, points that would pull open.
//!
//! Without these forces the rows of J accelerate by J·a. The forces solve W·f = −J·a with W = J·A⁻¹·Jᵀ, normal forces
//! not negative. Where several splits do so (a box on four corners, a ball in a groove), the one with the least friction
//! is taken, and among those the one with the smallest normal forces.

use crate::math::symmetric_eigen;
use nalgebra::{DMatrix, DVector};
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
    /// W = J·A⁻¹·Jᵀ.
    pub(super) compliance: DMatrix<f64>,
    open: Vec<bool>,
    known: HashMap<Vec<bool>, Rc<Holding>>,
}

/// Forces for one set of open points, as a linear map.
struct Holding {
    map: DMatrix<f64>,
    /// Rows whose force could be any without disturbing the rest.
    loose: Vec<bool>,
}

/// Eigenvalues below this part of the largest belong to redundant directions.
const REDUNDANT: f64 = 1e-11;
/// Multiplications that sets of open points of one island may take, about, and at least so many sets.
const BUDGET: usize = 200_000_000;
const LEAST_SETS: usize = 6;
/// A pull below this part of the largest force is rounding.
const ROUNDING: f64 = 1e-9;

impl Island {
    pub(super) fn new(rows: Vec<usize>, kinds: Vec<Row>, compliance: DMatrix<f64>) -> Island {
        let open = vec![false; rows.len()];
        Island {
            rows,
            kinds,
            compliance,
            open,
            known: HashMap::new(),
        }
    }

    /// The forces against `accelerations`, the rows of J·a; and whether each follows from statics alone. `None` if a
    /// number is not finite or no forces are found.
    pub(super) fn hold(&mut self, accelerations: &DVector<f64>) -> Option<(DVector<f64>, Vec<bool>)> {
        if !accelerations.iter().all(|a| a.is_finite()) {
            return None;
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
        let rubs = |i: &usize| matches!(self.kinds[closed[*i]], Row::Rubbing | Row::Tangent(_));
        let (rubbing, other): (Vec<usize>, Vec<usize>) = (0..m).partition(rubs);
        for part in [&rubbing, &other] {
            if free.ncols() == 0 || part.is_empty() {
                continue;
            }
            for &i in part.iter() {
                loose[closed[i]] = free.row(i).norm() > 1e-6 * scale[i];
            }
            let (inverse, rest) = least(&free.select_rows(part), free.norm_squared())?;
            map -= &free * (inverse * map.select_rows(part));
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
