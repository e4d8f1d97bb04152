//! Dual numbers: a value together with its derivatives.

use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::{LookUp, Real};

/// A number with its derivatives with respect to `N` variables, carried along by every operation (forward mode).
///
/// The value is computed by exactly the operations the plain number would use. Where a function has no derivative,
/// these conventions hold, so that a kink or an end of the domain never makes a NaN out of finite numbers:
///
/// - [`Real::select`] takes the derivative of the side it chooses; `min` and `max` that of the number they return, of
///   `other` when both are equal.
/// - `abs` and `copysign` have derivative 0 where the magnitude is 0; `copysign` does not depend on `sign` otherwise.
/// - `sqrt`, `ln` and `powf` have derivative 0 where their argument is 0 or negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<R, const N: usize> {
    /// The number itself.
    pub value: R,
    /// Its derivative with respect to each variable.
    pub grad: [R; N],
}

impl<R: Real, const N: usize> Dual<R, N> {
    /// A number that depends on no variable.
    #[inline(always)]
    pub fn constant(value: R) -> Self {
        Self {
            value,
            grad: [R::zero(); N],
        }
    }

    /// The variable with the given index; an index of `N` or more gives a constant.
    #[inline(always)]
    pub fn variable(value: R, index: usize) -> Self {
        let mut variable = Self::constant(value);
        if let Some(grad) = variable.grad.get_mut(index) {
            *grad = R::one();
        }
        variable
    }

    /// A function of this number, from its value and its slope here (chain rule).
    #[inline(always)]
    pub fn chain(mut self, value: R, slope: R) -> Self {
        for grad in &mut self.grad {
            *grad = *grad * slope;
        }
        self.value = value;
        self
    }

    /// The sign of the value as −1, 0 or 1.
    #[inline(always)]
    fn sign(self) -> R {
        let negative = R::select(self.value.lt(R::zero()), -R::one(), R::zero());
        R::select(R::zero().lt(self.value), R::one(), negative)
    }
}

impl<R: Real, const N: usize> Add for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<R: Real, const N: usize> AddAssign for Dual<R, N> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        for (a, b) in self.grad.iter_mut().zip(other.grad) {
            *a += b;
        }
    }
}

impl<R: Real, const N: usize> Sub for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl<R: Real, const N: usize> SubAssign for Dual<R, N> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        self.value -= other.value;
        for (a, b) in self.grad.iter_mut().zip(other.grad) {
            *a -= b;
        }
    }
}

impl<R: Real, const N: usize> Mul for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(mut self, other: Self) -> Self {
        for (a, b) in self.grad.iter_mut().zip(other.grad) {
            *a = *a * other.value + self.value * b;
        }
        self.value = self.value * other.value;
        self
    }
}

impl<R: Real, const N: usize> Div for Dual<R, N> {
    type Output = Self;
    // (a/b)' = (a' − (a/b) b')/b: no square of the denominator that could under- or overflow.
    #[inline(always)]
    fn div(mut self, other: Self) -> Self {
        let quotient = self.value / other.value;
        for (a, b) in self.grad.iter_mut().zip(other.grad) {
            *a = (*a - quotient * b) / other.value;
        }
        self.value = quotient;
        self
    }
}

impl<R: Real, const N: usize> Neg for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        self.value = -self.value;
        for a in &mut self.grad {
            *a = -*a;
        }
        self
    }
}

impl<R: Real, const N: usize> Real for Dual<R, N> {
    type Mask = R::Mask;

    #[inline(always)]
    fn lit(value: f64) -> Self {
        Self::constant(R::lit(value))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let positive = R::zero().lt(self.value);
        let slope = R::lit(0.5) / R::select(positive, root, R::one());
        self.chain(root, R::select(positive, slope, R::zero()))
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let value = self.value.exp();
        self.chain(value, value)
    }

    // Divides each derivative, as 1/x overflows where x is subnormal and would turn a derivative of 0 into NaN.
    #[inline(always)]
    fn ln(mut self) -> Self {
        let positive = R::zero().lt(self.value);
        let denominator = R::select(positive, self.value, R::one());
        for grad in &mut self.grad {
            *grad = R::select(positive, *grad / denominator, R::zero());
        }
        self.value = self.value.ln();
        self
    }

    #[inline(always)]
    fn held(self) -> Self {
        Self::constant(self.value)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.chain(self.value.abs(), self.sign())
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.value.lt(other.value), self, other)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.value.lt(self.value), self, other)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> R::Mask {
        self.value.lt(other.value)
    }

    #[inline(always)]
    fn le(self, other: Self) -> R::Mask {
        self.value.le(other.value)
    }

    #[inline(always)]
    fn same(self, other: Self) -> R::Mask {
        self.value.same(other.value)
    }

    #[inline(always)]
    fn select(mask: R::Mask, mut yes: Self, no: Self) -> Self {
        yes.value = R::select(mask, yes.value, no.value);
        for (a, b) in yes.grad.iter_mut().zip(no.grad) {
            *a = R::select(mask, *a, b);
        }
        yes
    }

    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        let value = self.value.copysign(sign.value);
        self.chain(value, self.sign() * R::one().copysign(sign.value))
    }

    #[inline(always)]
    fn through(self, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> Self {
        let at = self.value.through(value, &slope);
        // Second derivatives are not carried: the slope counts as constant.
        let slope = self.value.through(slope, |_| 0.0);
        self.chain(at, slope)
    }

    #[inline(always)]
    fn look_up<const J: usize, const K: usize>(by: [Self; J], table: &impl LookUp<J, K>) -> [Self; K] {
        R::look_up(by.map(|number| number.value), table).map(Self::constant)
    }

    // d(x^p) = p x^(p−1) dx + x^p ln x dp. The chain through exp and ln would meet 0·∞ where x is subnormal.
    #[inline(always)]
    fn powf(mut self, power: Self) -> Self {
        let positive = R::zero().lt(self.value);
        let base = R::select(positive, self.value, R::one());
        let value = self.value.powf(power.value);
        let base_slope = power.value * base.powf(power.value - R::one());
        let power_slope = value * base.ln();
        for (x, p) in self.grad.iter_mut().zip(power.grad) {
            let slope = *x * base_slope + p * power_slope;
            *x = R::select(positive, slope, R::zero());
        }
        self.value = value;
        self
    }
}
