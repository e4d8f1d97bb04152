//! Damping that grows with the depth (Hunt and Crossley 1975, Xiong, Kikuuwe and Yamamoto's reference 6).
//!
//! N = K·depthⁿ·(1 + λ·depth′) while the bodies overlap. The force begins and ends at 0, but pulls where they part faster
//! than 1/λ. It is given as published, not clamped; friction on such a contact takes max(0, N).

use super::{Normal, NormalLaw};
use crate::scalar::Real;

/// The Hunt-Crossley contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HuntCrossley<R> {
    /// Stiffness K, N/mⁿ.
    pub stiffness: R,
    /// Damping λ, s/m.
    pub damping: R,
    /// Exponent n.
    pub exponent: R,
}

impl<R: Real> Normal<R> for HuntCrossley<R> {
    const STATES: usize = 0;

    #[inline(always)]
    fn respond(&self, gap: R, gap_rate: R, _state: &[R], _tau: R, _rate: &mut [R]) -> R {
        let depth = R::zero().max(-gap);
        self.stiffness * depth.powf(self.exponent) * (R::one() - self.damping * gap_rate)
    }

    #[inline(always)]
    fn stored(&self, gap: R, _state: &[R]) -> R {
        let depth = R::zero().max(-gap);
        let power = self.exponent + R::one();
        self.stiffness * depth.powf(power) / power
    }
}

impl<R: Real> NormalLaw<R> for HuntCrossley<R> {
    const NAME: &'static str = "hunt-crossley";

    type Of<U: Real> = HuntCrossley<U>;

    #[inline(always)]
    fn map<U: Real>(&self, f: impl Fn(R) -> U) -> HuntCrossley<U> {
        HuntCrossley {
            stiffness: f(self.stiffness),
            damping: f(self.damping),
            exponent: f(self.exponent),
        }
    }

    fn elastic(&self) -> [R; 2] {
        [self.stiffness, self.exponent]
    }
}
