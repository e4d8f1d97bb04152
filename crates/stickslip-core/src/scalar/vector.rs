//! Small vectors `[R; N]` of numbers: tangential velocity, friction force, bristle deflection.

use super::Real;

/// The vector with the given components. As `core::array::from_fn`, which is not always inlined: a call would leave code that
/// is compiled for wide vectors.
#[inline(always)]
pub fn vector<R: Real, const N: usize>(mut component: impl FnMut(usize) -> R) -> [R; N] {
    let mut vector = [R::zero(); N];
    for (i, own) in vector.iter_mut().enumerate() {
        *own = component(i);
    }
    vector
}

/// Sum of the products of the components.
#[inline(always)]
pub fn dot<R: Real, const N: usize>(a: [R; N], b: [R; N]) -> R {
    let mut sum = R::zero();
    // By reference: an array that is given away to be walked through goes through memory.
    for (index, (a, b)) in a.iter().zip(&b).enumerate() {
        // The compiler may not drop an addition to 0, so the first product starts the sum.
        sum = if index == 0 { *a * *b } else { sum + *a * *b };
    }
    sum
}

/// Product of two vectors in space that is normal to both.
#[inline(always)]
pub fn cross<R: Real>(a: [R; 3], b: [R; 3]) -> [R; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Every component times `factor`.
#[inline(always)]
pub fn scale<R: Real, const N: usize>(mut a: [R; N], factor: R) -> [R; N] {
    for a in &mut a {
        *a = *a * factor;
    }
    a
}

/// Sum.
#[inline(always)]
pub fn add<R: Real, const N: usize>(mut a: [R; N], b: [R; N]) -> [R; N] {
    for (a, b) in a.iter_mut().zip(&b) {
        *a += *b;
    }
    a
}

/// Difference.
#[inline(always)]
pub fn sub<R: Real, const N: usize>(mut a: [R; N], b: [R; N]) -> [R; N] {
    for (a, b) in a.iter_mut().zip(&b) {
        *a -= *b;
    }
    a
}

/// Euclidean length; exactly the magnitude when there is one component.
///
/// Squares neither overflow nor vanish in the range of `f64`. With dual numbers the derivative at 0 is 0.
#[inline(always)]
pub fn norm<R: Real, const N: usize>(a: [R; N]) -> R {
    if N == 1 {
        return a[0].abs();
    }
    let range = Range::of(a);
    range.norm(a) * range.back
}

/// A power of two that brings a vector to where its square is representable, and the way back. Both are 1 unless the
/// largest component lies beyond 2^±500, so ordinary results are not touched.
pub(crate) struct Range<R> {
    /// Multiplies the vector.
    pub(crate) to: R,
    /// Multiplies what was computed from it.
    pub(crate) back: R,
}

impl<R: Real> Range<R> {
    #[inline(always)]
    pub(crate) fn of<const N: usize>(a: [R; N]) -> Self {
        const LARGE: f64 = two_to(500);
        const SMALL: f64 = two_to(-500);
        const UP: f64 = two_to(600);
        const DOWN: f64 = two_to(-600);
        let largest = a.into_iter().fold(R::zero(), |m, a| m.max(a.abs()));
        let large = R::lit(LARGE).lt(largest);
        let small = largest.lt(R::lit(SMALL));
        let choose = |if_large: f64, if_small: f64| {
            R::select(large, R::lit(if_large), R::select(small, R::lit(if_small), R::one()))
        };
        Self {
            to: choose(DOWN, UP),
            back: choose(UP, DOWN),
        }
    }

    /// Length of the vector brought into range.
    #[inline(always)]
    pub(crate) fn norm<const N: usize>(&self, a: [R; N]) -> R {
        let a = scale(a, self.to);
        dot(a, a).sqrt()
    }
}

/// 2 to an integer power within the exponents of normal numbers.
const fn two_to(power: i64) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}
