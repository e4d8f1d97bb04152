//! The table of laws (`stickslip_core::bristle_laws`) as the engine uses it: one value for the bristle law of a contact or a joint.
//!
//! Nothing here names a law; what differs between them they say themselves (`stickslip_core::friction::Bristle` and `FrictionLaw`).

use stickslip_core::bristle_laws;
use stickslip_core::friction::{Bristle, FrictionLaw, Lift};
use stickslip_core::scalar::{Dual, Real};

/// A law in dual numbers, with zero derivatives.
#[inline(always)]
pub(crate) fn lifted<L: Lift, const N: usize>(law: &L) -> L::Of<Dual<f64, N>> {
    law.lift(|get| Dual::lit(get(law)))
}

/// Runs an expression with the concrete law of a [`Tangential`].
macro_rules! with_law {
    ($law:expr, |$l:ident| $body:expr, $none:expr) => {
        stickslip_core::bristle_laws!(with_law_of![$law, $l, $body, $none])
    };
}

/// The arms of [`with_law`].
macro_rules! with_law_of {
    ([$law:expr, $l:ident, $body:expr, $none:expr] $($variant:ident $field:ident: $type:ty, $reader:ident;)*) => {
        match $law {
            $crate::element::laws::Tangential::None => $none,
            $($crate::element::laws::Tangential::$variant($l) => $body,)*
        }
    };
}
pub(crate) use with_law;
pub(crate) use with_law_of;

/// Runs an expression with the number of axes as a constant.
macro_rules! with_axes {
    ($axes:expr, $n:ident => $body:expr) => {
        match $axes {
            1 => {
                const $n: usize = 1;
                $body
            }
            2 => {
                const $n: usize = 2;
                $body
            }
            _ => {
                const $n: usize = 3;
                $body
            }
        }
    };
}

macro_rules! tangential {
    ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {
        /// The friction law of a compliant contact or a penalty joint: any bristle law, or none.
        #[derive(Clone, Copy, Debug)]
        pub enum Tangential<R = f64> {
            /// No friction.
            None,
            $(
                #[doc = concat!("The law `", stringify!($variant), "`.")]
                $variant($law),
            )*
        }

        impl Tangential {
            /// The same law in dual numbers.
            pub(crate) fn lift<const N: usize>(&self) -> Tangential<Dual<f64, N>> {
                match self {
                    Tangential::None => Tangential::None,
                    $(Tangential::$variant(law) => Tangential::$variant(lifted(law)),)*
                }
            }

            /// How many numbers of state a contact (three axes) or a joint (one) keeps of the law with this name.
            pub(crate) fn kept_of(name: Option<&str>, axes: usize) -> usize {
                type R = f64;
                $(
                    if name == Some(<$law as FrictionLaw>::NAME) {
                        return with_axes!(axes, N => <$law as Bristle<f64>>::kept::<N>());
                    }
                )*
                axes
            }
        }
    };
}
bristle_laws!(tangential!);

impl<R: Real> Tangential<R> {
    /// How many vectors there are among the states.
    #[inline(always)]
    pub(crate) fn vectors(&self) -> usize {
        fn of<R: Real, L: Bristle<R>>(_: &L) -> usize {
            L::VECTORS
        }
        with_law!(self, |law| of(law), 0)
    }

    /// Whether the law asks how fast the load changes.
    #[inline(always)]
    pub(crate) fn knows_load_rate(&self) -> bool {
        fn of<R: Real, L: Bristle<R>>(_: &L) -> bool {
            L::KNOWS_LOAD_RATE
        }
        with_law!(self, |law| of(law), false)
    }
}

impl Tangential {
    /// How many numbers of state a contact (three axes) or a joint (one) keeps.
    pub(crate) fn kept(&self, axes: usize) -> usize {
        fn of<L: Bristle<f64>>(_: &L, axes: usize) -> usize {
            with_axes!(axes, N => L::kept::<N>())
        }
        with_law!(self, |law| of(law, axes), axes)
    }

    /// Writes what the states are at the start.
    pub(crate) fn begin(&self, axes: usize, state: &mut [f64]) {
        with_law!(self, |law| with_axes!(axes, N => law.begin::<N>(state)), ());
    }

    /// Writes the sizes of the states.
    pub(crate) fn sizes(&self, axes: usize, sizes: &mut [f64]) {
        with_law!(self, |law| with_axes!(axes, N => law.sizes::<N>(sizes)), ());
    }

    /// The same in a contact or a joint.
    pub(crate) fn sizes_in_contact(&self, axes: usize, weight: f64, sizes: &mut [f64]) {
        with_law!(
            self,
            |law| with_axes!(axes, N => law.sizes_in_contact::<N>(weight, sizes)),
            ()
        );
    }
}
