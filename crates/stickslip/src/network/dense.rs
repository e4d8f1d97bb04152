//! Small dense linear algebra in place on row-major slices: what the coupled step needs and no more.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use crate::stop::{Stop, is_set};

/// Scalar product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Length of a vector of at most three components.
pub(super) fn length(a: &[f64]) -> f64 {
    match a {
        [x] => x.abs(),
        _ => dot(a, a).sqrt(),
    }
}

/// out = offset + A·x for the square matrix A.
pub(super) fn affine(matrix: &[f64], offset: &[f64], x: &[f64], out: &mut [f64]) {
    let rows = matrix.chunks_exact(x.len().max(1));
    for ((value, base), row) in out.iter_mut().zip(offset).zip(rows) {
        *value = base + dot(row, x);
    }
}

/// Replaces the lower triangle of a symmetric positive definite matrix by its LDLᵀ factor (D on the diagonal). A pivot that
/// is not above rounding is replaced by the rounding level of its row, so the factor always exists.
pub(crate) fn ldlt_factor(a: &mut [f64], n: usize) {
    for i in 0..n {
        let (done, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            row[j] -= dot(&row[..j], &done[j * n..j * n + j]);
        }
        let floor = f64::EPSILON * row[i].abs() + f64::MIN_POSITIVE;
        let mut pivot = row[i];
        for j in 0..i {
            let l = row[j] / done[j * n + j];
            pivot -= l * row[j];
            row[j] = l;
        }
        row[i] = if pivot > floor { pivot } else { floor };
    }
}

/// Solves L·D·Lᵀ·x = x in place.
pub(crate) fn ldlt_solve(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        x[i] -= dot(&factor[i * n..i * n + i], &x[..i]);
    }
    for i in 0..n {
        x[i] /= factor[i * n + i];
    }
    for i in (0..n).rev() {
        let value = x[i];
        for j in 0..i {
            x[j] -= factor[i * n + j] * value;
        }
    }
}

/// Solves A·x = x in place by elimination with row exchanges, destroying A. False if A is singular to working precision.
pub(crate) fn lu_solve(a: &mut [f64], n: usize, x: &mut [f64]) -> bool {
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        let pivot = a[best * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        if best != k {
            for j in k..n {
                a.swap(best * n + j, k * n + j);
            }
            x.swap(best, k);
        }
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n + k + 1..];
        for (i, row) in lower.chunks_exact_mut(n).enumerate() {
            let factor = row[k] / pivot;
            if factor != 0.0 {
                for (value, above) in row[k + 1..].iter_mut().zip(pivot_row) {
                    *value -= factor * above;
                }
                x[k + 1 + i] -= factor * x[k];
            }
        }
    }
    for i in (0..n).rev() {
        let sum = dot(&a[i * n + i + 1..(i + 1) * n], &x[i + 1..n]);
        x[i] = (x[i] - sum) / a[i * n + i];
    }
    x[..n].iter().all(|value| value.is_finite())
}

/// Replaces A by its factors L and U, with the row exchanges in `order`. False if A is singular to working precision, or if a large
/// one was stopped.
pub(crate) fn lu_factor(a: &mut [f64], n: usize, order: &mut [usize], stop: Option<&Stop>) -> bool {
    for k in 0..n {
        if k % 64 == 63 && is_set(stop) {
            return false;
        }
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        order[k] = best;
        let pivot = a[best * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        if best != k {
            for j in 0..n {
                a.swap(best * n + j, k * n + j);
            }
        }
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n + k + 1..];
        for row in lower.chunks_exact_mut(n) {
            if row[k] != 0.0 {
                let factor = row[k] / pivot;
                row[k] = factor;
                for (value, above) in row[k + 1..].iter_mut().zip(pivot_row) {
                    *value -= factor * above;
                }
            }
        }
    }
    true
}

/// Solves A·x = x in place with the factors of [`lu_factor`].
pub(crate) fn lu_apply(factors: &[f64], n: usize, order: &[usize], x: &mut [f64]) {
    for k in 0..n {
        x.swap(k, order[k]);
    }
    for i in 0..n {
        x[i] -= dot(&factors[i * n..i * n + i], &x[..i]);
    }
    for i in (0..n).rev() {
        let sum = dot(&factors[i * n + i + 1..(i + 1) * n], &x[i + 1..n]);
        x[i] = (x[i] - sum) / factors[i * n + i];
    }
}

/// The smallest pivot, relative to its diagonal entry, met by a Cholesky elimination with diagonal pivoting that stops below
/// `tolerance`, and the number of pivots found (the rank). Destroys the matrix; `diagonal` is scratch.
pub(super) fn rank(a: &mut [f64], n: usize, diagonal: &mut [f64], tolerance: f64) -> (usize, f64) {
    for i in 0..n {
        diagonal[i] = a[i * n + i];
    }
    let mut smallest = 1.0;
    for k in 0..n {
        let relative = |a: &[f64], d: &[f64], i: usize| if d[i] > 0.0 { a[i * n + i] / d[i] } else { 0.0 };
        let mut best = k;
        for i in k + 1..n {
            if relative(a, diagonal, i) > relative(a, diagonal, best) {
                best = i;
            }
        }
        let pivot = relative(a, diagonal, best);
        if pivot.is_nan() || pivot <= tolerance {
            return (k, smallest);
        }
        smallest = pivot.min(smallest);
        if best != k {
            for j in 0..n {
                a.swap(best * n + j, k * n + j);
            }
            for i in 0..n {
                a.swap(i * n + best, i * n + k);
            }
            diagonal.swap(best, k);
        }
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n..];
        for row in lower.chunks_exact_mut(n) {
            let factor = row[k] / pivot_row[k];
            for (value, above) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                *value -= factor * above;
            }
        }
    }
    (n, smallest)
}

/// Gauss–Jordan elimination of A·x = b with complete pivoting. Returns the rank r; afterwards `order` lists the columns as they stand, the
/// r basic ones first: `x[order[k]] = b[k]` for k < r (0 elsewhere) solves the system as far as it can be, and the null space is spanned by
/// one vector per position c in r..n: 1 at `order[c]` and `−a[k·n + c]` at `order[k]`, k < r.
pub(super) fn eliminate(a: &mut [f64], n: usize, b: &mut [f64], order: &mut [usize], tolerance: f64) -> usize {
    for (j, column) in order.iter_mut().enumerate() {
        *column = j;
    }
    for k in 0..n {
        let (mut row, mut column, mut largest) = (k, k, 0.0);
        for i in k..n {
            for j in k..n {
                if a[i * n + j].abs() > largest {
                    (row, column, largest) = (i, j, a[i * n + j].abs());
                }
            }
        }
        if largest <= tolerance {
            return k;
        }
        order.swap(k, column);
        b.swap(k, row);
        for i in 0..n {
            a.swap(i * n + k, i * n + column);
        }
        for j in k..n {
            a.swap(row * n + j, k * n + j);
        }
        // Columns up to k are unit vectors from here on and never read again.
        let (above, rest) = a.split_at_mut(k * n);
        let (pivot_row, below) = rest.split_at_mut(n);
        let pivot = pivot_row[k];
        pivot_row[k + 1..].iter_mut().for_each(|value| *value /= pivot);
        b[k] /= pivot;
        for (i, line) in above.chunks_exact_mut(n).chain(below.chunks_exact_mut(n)).enumerate() {
            let i = if i < k { i } else { i + 1 };
            let factor = line[k];
            if factor != 0.0 {
                for (value, over) in line[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *value -= factor * over;
                }
                b[i] -= factor * b[k];
            }
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    // A = [[4,2,0],[2,5,3],[0,3,10]], x = (1,2,3): A·x = (8,21,36).
    const MATRIX: [f64; 9] = [4.0, 2.0, 0.0, 2.0, 5.0, 3.0, 0.0, 3.0, 10.0];

    #[test]
    fn both_factorisations_solve_a_known_system() {
        let (mut a, mut x) = (MATRIX, [8.0, 21.0, 36.0]);
        ldlt_factor(&mut a, 3);
        ldlt_solve(&a, 3, &mut x);
        assert!(
            x.iter().zip([1.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-14),
            "{x:?}"
        );
        // Zero diagonal: only row exchanges solve it.
        let (mut a, mut x) = ([0.0, 2.0, 3.0, 0.0], [4.0, 9.0]);
        assert!(lu_solve(&mut a, 2, &mut x));
        assert_eq!(x, [3.0, 2.0]);
        assert!(!lu_solve(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut [1.0, 1.0]));
    }

    #[test]
    fn kept_factors_solve_for_many_right_sides() {
        // A·(1, 2, 3) = (7, 4, 14) and A·(0, 1, 0) = (2, 0, 4), with an exchange of rows at every pivot.
        let (mut a, mut order) = ([0.0, 2.0, 1.0, 4.0, 0.0, 0.0, 1.0, 4.0, 5.0 / 3.0], [0; 3]);
        assert!(lu_factor(&mut a, 3, &mut order, None));
        let (mut x, mut y) = ([7.0, 4.0, 14.0], [2.0, 0.0, 4.0]);
        lu_apply(&a, 3, &order, &mut x);
        lu_apply(&a, 3, &order, &mut y);
        for (found, expected) in x.iter().chain(&y).zip([1.0, 2.0, 3.0, 0.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-13, "{x:?} {y:?}");
        }
        assert!(!lu_factor(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut [0; 2], None));
    }

    #[test]
    fn rank_and_null_space_of_a_known_matrix() {
        let singular = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0];
        let (mut a, mut order) = (singular, [0; 3]);
        assert_eq!(rank(&mut a, 3, &mut [0.0; 3], 1e-13).0, 2);
        a = singular;
        let mut b = [3.0, 3.0, 4.0];
        assert_eq!(eliminate(&mut a, 3, &mut b, &mut order, 1e-12), 2);
        let mut x = [0.0; 3];
        x[order[0]] = b[0];
        x[order[1]] = b[1];
        assert_eq!((x[0] + x[1], x[2]), (3.0, 2.0));
        // The null vector is (1, −1, 0) up to scale.
        let mut z = [0.0; 3];
        z[order[2]] = 1.0;
        for k in 0..2 {
            z[order[k]] = -a[k * 3 + 2];
        }
        assert_eq!((z[0] + z[1], z[2]), (0.0, 0.0));
        assert_eq!(rank(&mut MATRIX.clone(), 3, &mut [0.0; 3], 1e-13).0, 3);
    }
}
