//! Several `f64` side by side: one law evaluation for several systems at once.

use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Neg, Not, Sub, SubAssign};

use super::{LookUp, Mask, Real};

/// `N` numbers that go through the same operations, each exactly as a single `f64` would.
///
/// The operations are loops over a plain array. Called from a function compiled for a wider instruction set they become
/// vector instructions; 8 lanes (two 256-bit vectors) hide the latency of division and square root better than 4.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Lanes<const N: usize>(pub [f64; N]);

/// Eight lanes, the width sweeps use.
pub type F64x8 = Lanes<8>;

/// The outcome of a comparison per lane: all bits set for true, none for false, which is what a vector blend takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct LaneMask<const N: usize>([u64; N]);

impl<const N: usize> LaneMask<N> {
    /// The mask with the given truth values.
    #[inline(always)]
    pub fn new(truth: [bool; N]) -> Self {
        let mut mask = [0; N];
        for (bits, truth) in mask.iter_mut().zip(truth) {
            *bits = all_bits(truth);
        }
        Self(mask)
    }

    /// The truth value of one lane; `lane` must be below `N`.
    #[inline(always)]
    pub fn lane(self, lane: usize) -> bool {
        self.0[lane] != 0
    }
}

#[inline(always)]
fn all_bits(truth: bool) -> u64 {
    if truth { u64::MAX } else { 0 }
}

impl<const N: usize> Mask for LaneMask<N> {
    #[inline(always)]
    fn all(self) -> bool {
        self.0.iter().fold(u64::MAX, |all, bits| all & bits) != 0
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |any, bits| any | bits) != 0
    }
}

impl<const N: usize> BitAnd for LaneMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= b;
        }
        self
    }
}

impl<const N: usize> BitOr for LaneMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
        self
    }
}

impl<const N: usize> Not for LaneMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for a in &mut self.0 {
            *a = !*a;
        }
        self
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl<const N: usize> $assign for Lanes<N> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                for (a, b) in self.0.iter_mut().zip(other.0) {
                    a.$assign_method(b);
                }
            }
        }
        impl<const N: usize> $trait for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                self.$assign_method(other);
                self
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign);
operator!(Sub, sub, SubAssign, sub_assign);
operator!(Mul, mul, MulAssign, mul_assign);
operator!(Div, div, DivAssign, div_assign);

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        for a in &mut self.0 {
            *a = -*a;
        }
        self
    }
}

/// Methods of `f64` applied lane by lane: one argument, two, or two with a mask as result.
macro_rules! lane_by_lane {
    (unary: $($method:ident)*) => {$(
        #[inline(always)]
        fn $method(mut self) -> Self {
            for a in &mut self.0 {
                *a = Real::$method(*a);
            }
            self
        }
    )*};
    (binary: $($method:ident)*) => {$(
        #[inline(always)]
        fn $method(mut self, other: Self) -> Self {
            for (a, b) in self.0.iter_mut().zip(other.0) {
                *a = Real::$method(*a, b);
            }
            self
        }
    )*};
    (comparison: $($method:ident)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> LaneMask<N> {
            let mut mask = [0; N];
            for ((bits, a), b) in mask.iter_mut().zip(self.0).zip(other.0) {
                *bits = all_bits(Real::$method(a, b));
            }
            LaneMask(mask)
        }
    )*};
}

impl<const N: usize> Real for Lanes<N> {
    type Mask = LaneMask<N>;

    #[inline(always)]
    fn lit(value: f64) -> Self {
        Self([value; N])
    }

    lane_by_lane!(unary: sqrt exp ln abs);
    lane_by_lane!(binary: min max copysign);
    lane_by_lane!(comparison: lt le same);

    #[inline(always)]
    fn select(mask: LaneMask<N>, mut yes: Self, no: Self) -> Self {
        for ((a, b), bits) in yes.0.iter_mut().zip(no.0).zip(mask.0) {
            *a = if bits != 0 { *a } else { b };
        }
        yes
    }

    #[inline(always)]
    fn through(mut self, value: impl Fn(f64) -> f64, _slope: impl Fn(f64) -> f64) -> Self {
        for a in &mut self.0 {
            *a = value(*a);
        }
        self
    }

    #[inline(always)]
    fn look_up<const J: usize, const K: usize>(by: [Self; J], table: &impl LookUp<J, K>) -> [Self; K] {
        table.find(by.map(|lanes| lanes.0)).map(Self)
    }
}
