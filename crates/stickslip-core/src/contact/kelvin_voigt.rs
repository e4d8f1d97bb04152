//! Spring and damper side by side, acting while the bodies overlap (the paper on modular simulation, eq 23a).
//!
//! The force jumps by B·(approach speed) at touch-down and pulls before release: the price of its simplicity. Friction
//! on such a contact takes max(0, N) as its normal force.

use super::{Normal, NormalLaw};
use crate::scalar::Real;

/// The Kelvin-Voigt contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KelvinVoigt<R> {
    /// Stiffness K.
    pub stiffness: R,
    /// Damping B.
    pub damping: R,
}

impl<R: Real> Normal<R> for KelvinVoigt<R> {
    const STATES: usize = 0;

    #[inline(always)]
    fn respond(&self, gap: R, gap_rate: R, _state: &[R], _tau: R, _rate: &mut [R]) -> R {
        let force = -(self.stiffness * gap + self.damping * gap_rate);
        R::select(gap.lt(R::zero()), force, R::zero())
    }

    #[inline(always)]
    fn stored(&self, gap: R, _state: &[R]) -> R {
        let depth = gap.min(R::zero());
        self.stiffness * R::lit(0.5) * depth * depth
    }
}

impl<R: Real> NormalLaw<R> for KelvinVoigt<R> {
    const NAME: &'static str = "kelvin-voigt";

    type Of<U: Real> = KelvinVoigt<U>;

    #[inline(always)]
    fn map<U: Real>(&self, f: impl Fn(R) -> U) -> KelvinVoigt<U> {
        KelvinVoigt {
            stiffness: f(self.stiffness),
            damping: f(self.damping),
        }
    }

    fn elastic(&self) -> [R; 2] {
        [self.stiffness, R::one()]
    }
}
