//! The small set of operations a law may use.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

/// The outcome of a comparison: one truth value, or one per lane.
pub trait Mask: Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// True when every lane is true.
    fn all(self) -> bool;
    /// True when at least one lane is true.
    fn any(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
}

/// A table in which `J` numbers find `K` others.
pub trait LookUp<const J: usize, const K: usize> {
    /// Those of `N` lanes, which do not depend on one another. It should be `#[inline(always)]`: a call would leave code that is
    /// compiled for wide vectors.
    fn find<const N: usize>(&self, by: [[f64; N]; J]) -> [[f64; N]; K];
}

/// A number a law can be written for.
///
/// Laws choose between values with [`Real::select`] instead of `if`, so the same source runs one block or eight at
/// once and carries derivatives where the number is dual. Elementary functions are this project's own or those of the
/// `libm` crate, the same for every kind of number: results do not depend on the processor.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// What a comparison of two such numbers gives.
    type Mask: Mask;

    /// The number nearest to `value`, in every lane, with zero derivative.
    fn lit(value: f64) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// e to the power of the number.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// The smaller of two numbers; `other` if either is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers; `other` if either is NaN.
    fn max(self, other: Self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other` by value.
    fn same(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, `no` elsewhere; the derivative part follows the choice.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// A function of the number that is known for plain numbers only, by its value and its slope: the value in every lane, the
    /// derivatives by the chain rule.
    fn through(self, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> Self;
    /// Numbers of a table that are found by others; they carry no derivatives.
    fn look_up<const J: usize, const K: usize>(by: [Self; J], table: &impl LookUp<J, K>) -> [Self; K];

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::lit(0.0)
    }
    /// One.
    #[inline(always)]
    fn one() -> Self {
        Self::lit(1.0)
    }
    /// The number without the derivatives that it carries: what depends on it is taken not to change with it.
    #[inline(always)]
    fn held(self) -> Self {
        self
    }
    /// The number limited to the interval from `low` to `high`; NaN stays NaN.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        let raised = Self::select(self.lt(low), low, self);
        Self::select(high.lt(raised), high, raised)
    }
    /// `self` raised to a positive or negative real power; `self` must not be negative. 0 to a positive power is 0.
    #[inline(always)]
    fn powf(self, power: Self) -> Self {
        let positive = Self::zero().lt(self);
        let base = Self::select(positive, self, Self::one());
        Self::select(positive, (power * base.ln()).exp(), Self::zero())
    }
}
