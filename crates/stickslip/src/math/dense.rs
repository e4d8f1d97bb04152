//! Small dense linear algebra in place on row-major slices: what the coupled step needs and no more.
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use crate::stop::{Stop, is_set};

/// Scalar product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Length of a vector of at most three components.
pub(crate) fn length(a: &[f64]) -> f64 {
    match a {
        [x] => x.abs(),
        _ => dot(a, a).sqrt(),
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

/// Solves A·x = x in place with the factors of [`lu_factor`]. Small systems have code of their own length: loops whose length is not known take longer than what is
/// in them.
pub(crate) fn lu_apply(factors: &[f64], n: usize, order: &[usize], x: &mut [f64]) {
    match n {
        2 => apply(factors, 2, order, x),
        3 => apply(factors, 3, order, x),
        4 => apply(factors, 4, order, x),
        5 => apply(factors, 5, order, x),
        6 => apply(factors, 6, order, x),
        _ => apply(factors, n, order, x),
    }
}

#[inline(always)]
fn apply(factors: &[f64], n: usize, order: &[usize], x: &mut [f64]) {
    let (factors, order, x) = (&factors[..n * n], &order[..n], &mut x[..n]);
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
}
