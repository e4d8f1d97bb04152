//! Contact laws: the normal force of a unilateral contact. One file per law.
//!
//! The gap is positive where the bodies are apart; the force pushes them apart when positive.

pub mod hunt_crossley;
pub mod kelvin_voigt;
pub mod proxy;
pub mod relaxed;
pub mod rigid;

use crate::scalar::Real;

/// A compliant contact: gap and its rate in, normal force out.
pub trait Normal<R: Real>: Copy {
    /// How many scalar states the law has.
    const STATES: usize;

    /// Normal force and the rate of every state; `tau` as in [`crate::friction::Bristle::respond`].
    fn respond(&self, gap: R, gap_rate: R, state: &[R], tau: R, rate: &mut [R]) -> R;

    /// Elastic energy held at this gap and state.
    fn stored(&self, gap: R, state: &[R]) -> R;
}
