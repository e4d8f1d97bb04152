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

/// A compliant law of the table ([`crate::normal_laws`]): all that scenarios need to use it by its name.
pub trait NormalLaw<R: Real>: Normal<R> {
    /// The name of its row in the [`crate::registry`].
    const NAME: &'static str;

    /// The law in another kind of number.
    type Of<T: Real>: Normal<T>;

    /// The law with a function applied to its numbers.
    fn map<T: Real>(&self, f: impl Fn(R) -> T) -> Self::Of<T>;

    /// K and n of its force K·depthⁿ at rest.
    fn elastic(&self) -> [R; 2];
}

/// The compliant contact laws: variant, type over the kind of number R, and the function of the engine's builder that reads its parameters.
#[macro_export]
macro_rules! normal_laws {
    ($then:ident! $($more:tt)*) => {
        $then! {
            $($more)*
            KelvinVoigt: $crate::contact::kelvin_voigt::KelvinVoigt<R>, kelvin_voigt;
            Relaxed: $crate::contact::relaxed::Relaxed<R>, relaxed_contact;
            Proxy: $crate::contact::proxy::Proxy<R>, proxy_contact;
            HuntCrossley: $crate::contact::hunt_crossley::HuntCrossley<R>, hunt_crossley;
        }
    };
}
