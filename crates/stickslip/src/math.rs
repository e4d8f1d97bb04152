//! Elementary functions that give the same bits on every machine, and decompositions of matrices that always end.

pub(crate) mod dense;

use nalgebra::{DMatrix, DVector, Matrix3, SVD, SymmetricEigen, Vector3};

/// Largest magnitude reduced here; up to it the multiple of π/2 fits in 17 bits, so its products with the 33-bit parts
/// of π/2 are exact.
const REDUCTION_LIMIT: f64 = 1e5;
/// Adding 1.5·2⁵² leaves the nearest integer in the low bits of the sum.
const ROUND_TO_INTEGER: f64 = 6755399441055744.0;
/// π/2 in three parts: 33 bits, 33 bits, 53 bits (the sum is π/2 to 1e-37).
const HALF_PI: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];
/// What the first part leaves of π/2, as one number.
const HALF_PI_AFTER_FIRST: f64 = 6.077100506506192e-11;

/// (sin y − y)/y³ as a polynomial in y² on |y| ≤ π/4, relative error of the sine below 4e-18 (Remez exchange).
const SINE: [f64; 6] = [
    -0.1666666666666663,
    0.008333333333322118,
    -0.00019841269829589655,
    2.7557313621425008e-06,
    -2.5050747768855068e-08,
    1.58962304966016e-10,
];
/// (cos y − 1 + y²/2)/y⁴ as a polynomial in y² on |y| ≤ π/4, relative error of the cosine below 6e-20 (Remez exchange).
const COSINE: [f64; 6] = [
    0.041666666666666595,
    -0.0013888888888873056,
    2.4801587288851836e-05,
    -2.7557314179334666e-07,
    2.0875700847099503e-09,
    -1.1358536785332708e-11,
];

/// Sine and cosine of one angle, each within one unit in the last place.
///
/// Both share one reduction to |y| ≤ π/4 (Cody and Waite, three parts of π/2), which is why the pair costs little more
/// than one of them. Beyond 1e5 rad, and for values that are not finite, `libm` answers.
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() < REDUCTION_LIMIT {
        sin_cos_reduced(x)
    } else {
        sin_cos_large(x)
    }
}

/// Sines of many angles, each as [`sin_cos`] gives it.
pub fn sines<const N: usize>(angles: &mut [f64; N]) {
    shifted_sines(angles, 0, |x| sin_cos(x).0);
}

/// Cosines of many angles, each as [`sin_cos`] gives it.
pub fn cosines<const N: usize>(angles: &mut [f64; N]) {
    shifted_sines(angles, 1, |x| sin_cos(x).1);
}

/// Sines of angles that are `quarters` right angles larger. Nothing is decided in the loop, so that several are computed at
/// once; `one` is for angles that are too large for that.
#[inline(always)]
fn shifted_sines<const N: usize>(angles: &mut [f64; N], quarters: u64, one: impl Fn(f64) -> f64) {
    if !angles.iter().fold(true, |small, x| small & (x.abs() < REDUCTION_LIMIT)) {
        *angles = angles.map(one);
        return;
    }
    for x in angles {
        let (y, tail, quadrant) = reduce(*x);
        let (sine, cosine) = near_zero(y, tail);
        let quadrant = quadrant.wrapping_add(quarters);
        // All bits set in odd quadrants, where sine and cosine change places; the sign changes in the upper two.
        let swap = (quadrant & 1).wrapping_neg();
        let magnitude = (cosine.to_bits() & swap) | (sine.to_bits() & !swap);
        *x = f64::from_bits(magnitude ^ ((quadrant & 2) << 62));
    }
}

#[cold]
#[inline(never)]
fn sin_cos_large(x: f64) -> (f64, f64) {
    (libm::sin(x), libm::cos(x))
}

#[inline(always)]
fn sin_cos_reduced(x: f64) -> (f64, f64) {
    // No reduction needed: the same bits as below with k = 0, without waiting for them.
    if x.abs() < core::f64::consts::FRAC_PI_4 {
        return near_zero(x, 0.0);
    }
    let (y, tail, quadrant) = reduce(x);
    let (sine, cosine) = near_zero(y, tail);
    match quadrant & 3 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// y, tail and k (in its last two bits) of x − kπ/2 = y + tail with |y| ≤ π/4.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64, u64) {
    let shifted = x * core::f64::consts::FRAC_2_PI + ROUND_TO_INTEGER;
    let k = shifted - ROUND_TO_INTEGER;
    // The products with the first two parts are exact, and so are the first difference and the recovery of what y has
    // rounded off; only the last product and the last two differences round.
    let coarse = x - k * HALF_PI[0];
    let y = coarse - k * HALF_PI_AFTER_FIRST;
    let tail = ((coarse - y) - k * HALF_PI[1]) - k * HALF_PI[2];
    (y, tail, shifted.to_bits())
}

/// Sine and cosine of y + tail for |y| ≤ π/4 and a tail below the last place of y.
#[inline(always)]
fn near_zero(y: f64, tail: f64) -> (f64, f64) {
    let z = y * y;
    let z2 = z * z;
    let z4 = z2 * z2;
    let p = (SINE[0] + SINE[1] * z) + z2 * (SINE[2] + SINE[3] * z) + z4 * (SINE[4] + SINE[5] * z);
    let q = (COSINE[0] + COSINE[1] * z) + z2 * (COSINE[2] + COSINE[3] * z) + z4 * (COSINE[4] + COSINE[5] * z);
    let half = 0.5 * z;
    let leading = 1.0 - half;
    // sin(y + tail) = sin y + tail·cos y and cos(y + tail) = cos y − tail·sin y, to first order in the tail.
    let sine = y + (y * z * p + tail * leading);
    let cosine = leading + (((1.0 - leading) - half) + (z2 * q - y * tail));
    (sine, cosine)
}

/// Rounds in which eigenvalues must be found; a few for each are usual.
const MOST_ROUNDS: usize = 10_000;

/// Eigenvalues and eigenvectors of a symmetric matrix; `None` if a number is not finite or they are not found.
pub(crate) fn symmetric_eigen(matrix: DMatrix<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    if matrix.is_empty() {
        return Some((DVector::zeros(0), matrix));
    }
    let finite = matrix.iter().all(|entry| entry.is_finite());
    let eigen = finite.then(|| SymmetricEigen::try_new(matrix, f64::EPSILON, MOST_ROUNDS))??;
    Some((eigen.eigenvalues, eigen.eigenvectors))
}

/// Eigenvalues of a symmetric matrix; `None` if a number is not finite or they are not found.
pub(crate) fn symmetric_eigenvalues(matrix: &Matrix3<f64>) -> Option<Vector3<f64>> {
    let finite = matrix.iter().all(|entry| entry.is_finite());
    let found = finite.then(|| SymmetricEigen::try_new(*matrix, f64::EPSILON, MOST_ROUNDS))?;
    found.map(|eigen| eigen.eigenvalues)
}

/// The pseudo-inverse: 0 along directions in which the matrix is less than `least` of its largest entry. `None` if a number is not
/// finite or it is not found.
pub(crate) fn pseudo_inverse(matrix: &DMatrix<f64>, least: f64) -> Option<DMatrix<f64>> {
    let most = matrix.amax();
    if most == 0.0 || matrix.is_empty() {
        return Some(matrix.transpose());
    }
    if !matrix.iter().all(|entry| entry.is_finite()) {
        return None;
    }
    // Squares of large entries must not overflow; a power of two does not round.
    let scale = libm::exp2(-libm::floor(libm::log2(most)).clamp(-1000.0, 1000.0));
    let found = SVD::try_new(matrix * scale, true, true, f64::EPSILON, MOST_ROUNDS)?;
    let inverse = found.pseudo_inverse(least * (most * scale)).ok()? * scale;
    inverse.iter().all(|entry| entry.is_finite()).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of `reference`.
    fn ulps(value: f64, reference: f64) -> f64 {
        let ulp = f64::from_bits(reference.abs().to_bits() + 1) - reference.abs();
        (value - reference).abs() / ulp
    }

    #[test]
    fn agrees_with_libm_to_one_unit_in_the_last_place() {
        // libm's own error is below one ulp, so a difference of one step of the grid is what both may show.
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for limit in [0.7, 4.0, 100.0, 99_999.0] {
            for _ in 0..200_000 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let x = limit * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
                let (s, c) = sin_cos(x);
                assert!(ulps(s, libm::sin(x)) <= 1.0, "sin {x}: {s} {}", libm::sin(x));
                assert!(ulps(c, libm::cos(x)) <= 1.0, "cos {x}: {c} {}", libm::cos(x));
            }
        }
    }

    #[test]
    fn error_is_below_one_unit_against_many_digit_values() {
        // (x, nearest double of sin, remainder of sin, the same for cos), computed with mpmath to 60 digits; the angles
        // include the doubles next to multiples of π/2, where the reduction cancels most.
        let table = include_str!("../tests/reference/sin_cos.csv");
        let mut rows = 0;
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let n: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            let (s, c) = sin_cos(n[0]);
            for (value, near, rest) in [(s, n[1], n[2]), (c, n[3], n[4])] {
                let ulp = f64::from_bits(near.abs().to_bits() + 1) - near.abs();
                let error = ((value - near) - rest).abs() / ulp;
                assert!(error < 1.0, "{}: {value} {near} {error}", n[0]);
            }
            rows += 1;
        }
        assert!(rows > 500);
    }

    #[test]
    fn many_at_once_are_the_same_as_one_by_one() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for limit in [0.7, 4.0, 99_999.0, 1.2e5] {
            for _ in 0..2000 {
                let angles: [f64; 8] = std::array::from_fn(|i| {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    let x = limit * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
                    if i == 7 {
                        core::f64::consts::FRAC_PI_2 * x.round()
                    } else {
                        x
                    }
                });
                let (mut s, mut c) = (angles, angles);
                sines(&mut s);
                cosines(&mut c);
                for (i, x) in angles.into_iter().enumerate() {
                    assert_eq!((s[i].to_bits(), c[i].to_bits()), {
                        let (s, c) = sin_cos(x);
                        (s.to_bits(), c.to_bits())
                    });
                }
            }
        }
        let mut zero = [0.0, -0.0];
        sines(&mut zero);
        assert_eq!(zero.map(f64::to_bits), [0.0, -0.0].map(|x| sin_cos(x).0.to_bits()));
    }

    #[test]
    fn large_and_non_finite_angles_go_to_libm() {
        for x in [1e5, -3.7e8, 1e300] {
            assert_eq!(sin_cos(x), (libm::sin(x), libm::cos(x)));
        }
        assert!(sin_cos(f64::NAN).0.is_nan() && sin_cos(f64::INFINITY).1.is_nan());
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }
}
