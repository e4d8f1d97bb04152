//! The compliant normal force of a contact or a stop: one of the laws of `stickslip_core::contact`.

use stickslip_core::contact::{Normal, NormalLaw as _};
use stickslip_core::normal_laws;
use stickslip_core::scalar::{Dual, Real};

macro_rules! normal_law {
    ($($variant:ident: $law:ty, $reader:ident;)*) => {
        /// A compliant contact law with its numbers.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnyNormal<R = f64> {
            $(
                #[doc = concat!("The law `", stringify!($variant), "`.")]
                $variant($law),
            )*
        }

        impl<R: Real> AnyNormal<R> {
            /// The same law with a function applied to its numbers.
            #[inline(always)]
            fn map<T: Real>(&self, f: impl Fn(R) -> T) -> AnyNormal<T> {
                match self {
                    $(AnyNormal::$variant(law) => AnyNormal::$variant(law.map(f)),)*
                }
            }
        }
    };
}
normal_laws!(normal_law!);

/// Runs an expression with the concrete law.
macro_rules! with_normal {
    ($law:expr, |$l:ident| $body:expr) => {
        normal_laws!(with_normal_of![$law, $l, $body])
    };
}

/// The arms of [`with_normal`].
macro_rules! with_normal_of {
    ([$law:expr, $l:ident, $body:expr] $($variant:ident: $type:ty, $reader:ident;)*) => {
        match $law {
            $(AnyNormal::$variant($l) => $body,)*
        }
    };
}

impl<R: Real> AnyNormal<R> {
    /// Number of states for each touching point.
    pub fn states(&self) -> usize {
        fn of<R: Real, L: Normal<R>>(_: &L) -> usize {
            L::STATES
        }
        with_normal!(self, |law| of(law))
    }

    /// Normal force and the rates of the states.
    #[inline]
    pub fn respond(&self, gap: R, gap_rate: R, state: &[R], tau: R, rate: &mut [R]) -> R {
        with_normal!(self, |law| law.respond(gap, gap_rate, state, tau, rate))
    }

    /// How fast the force changes, as far as the gap and the state tell: the part of an acceleration is left out.
    #[inline(always)]
    pub fn rate_of_force(&self, gap: R, gap_rate: R, state: &[R], rate: &[R], tau: R) -> R {
        let moving = |value: R, rate: R| Dual { value, grad: [rate] };
        let zero = R::zero();
        let mut unused = [Dual::<R, 1>::lit(0.0)];
        let mut states = unused;
        for (dual, (&value, &rate)) in states.iter_mut().zip(state.iter().zip(rate)) {
            *dual = moving(value, rate);
        }
        let law = self.map(|number| moving(number, zero));
        let force = law.respond(
            moving(gap, gap_rate),
            moving(gap_rate, zero),
            &states[..state.len()],
            moving(tau, zero),
            &mut unused[..state.len()],
        );
        force.grad[0]
    }

    /// K and n of its force K·depthⁿ at rest.
    pub fn elastic(&self) -> [R; 2] {
        with_normal!(self, |law| law.elastic())
    }

    /// Elastic energy held.
    pub fn stored(&self, gap: R, state: &[R]) -> R {
        with_normal!(self, |law| law.stored(gap, state))
    }
}

impl AnyNormal {
    /// The state of a contact that has been resting at this gap: e = −gap, which the laws with a state then keep.
    pub fn rest(gap: f64) -> f64 {
        f64::max(0.0, -gap)
    }

    /// The same law in dual numbers.
    pub fn lift<const N: usize>(&self) -> AnyNormal<Dual<f64, N>> {
        self.map(Dual::lit)
    }

    /// Derivatives of the normal force and of the rate of the state, each with respect to the gap, its rate and the state.
    pub fn tangent(&self, gap: f64, gap_rate: f64, state: &[f64], tau: f64) -> [[f64; 3]; 2] {
        let mut rate = [Dual::lit(0.0)];
        let [gap, gap_rate, e] = [gap, gap_rate, state.first().copied().unwrap_or(0.0)];
        let states = state.len();
        let force = self.lift().respond(
            Dual::variable(gap, 0),
            Dual::variable(gap_rate, 1),
            &[Dual::variable(e, 2)][..states],
            Dual::lit(tau),
            &mut rate[..states],
        );
        [force.grad, rate[0].grad]
    }
}
