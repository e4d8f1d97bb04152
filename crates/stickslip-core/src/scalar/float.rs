//! `f64` and `f32` as numbers of a law.

use super::{LookUp, Real, elementary};

macro_rules! float {
    ($float:ty, $sqrt:path, $exp:path, $ln:path) => {
        impl Real for $float {
            type Mask = bool;
            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                #[cfg(feature = "std")]
                return <$float>::sqrt(self);
                #[cfg(not(feature = "std"))]
                return $sqrt(self);
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn same(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$float>::copysign(self, sign)
            }
            #[inline(always)]
            fn through(self, value: impl Fn(f64) -> f64, _slope: impl Fn(f64) -> f64) -> Self {
                value(self as f64) as $float
            }
            #[inline(always)]
            fn look_up<const J: usize, const K: usize>(by: [Self; J], table: &impl LookUp<J, K>) -> [Self; K] {
                table
                    .find(by.map(|number| [number as f64]))
                    .map(|[number]| number as $float)
            }
        }
    };
}

float!(f64, libm::sqrt, elementary::exp, elementary::ln);
float!(f32, libm::sqrtf, libm::expf, libm::logf);
