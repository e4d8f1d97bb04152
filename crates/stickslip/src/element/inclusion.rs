//! A rewritten inclusion: its states move by themselves, without bodies.

use super::{Elements, Observation};
use crate::inclusion::program::Program;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;

/// The right side of a rewritten inclusion in a network.
pub struct InclusionGroup {
    /// The right side.
    pub program: Program,
    /// Where its states begin in the flat state.
    pub first: usize,
    /// The signal of each input, and that of the time if the equations use it.
    pub signals: Vec<usize>,
    /// The same as native code, where there is any for this machine.
    #[cfg(feature = "jit")]
    pub native: Option<crate::inclusion::native::Native>,
}

impl Elements for InclusionGroup {
    fn respond(&self, stage: &mut Stage<'_>) {
        let range = self.first..self.first + self.program.states();
        let (states, rates) = (&stage.state[range.clone()], &mut stage.rate[range]);
        #[cfg(feature = "jit")]
        if let Some(native) = &self.native {
            return native.rates(states, stage.signals, rates);
        }
        self.program.evaluate(states, |i| stage.signals[self.signals[i]], rates);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, _seen: &mut [Observation]) {
        self.respond(stage);
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        let states = &tangent.state[self.first..self.first + self.program.states()];
        let signals = tangent.signals;
        let add = |row: usize, column: usize, value: f64| tangent.add(self.first + row, self.first + column, value);
        self.program.derivatives(states, |i| signals[self.signals[i]], add);
        true
    }

    fn regather(&self, _stage: &Stage<'_>, _seen: &mut [Observation]) {}
}
