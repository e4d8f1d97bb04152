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
}

impl InclusionGroup {
    /// Derivatives of the rates by the states at a state of the network, row by row, from dual numbers.
    pub fn jacobian(&self, state: &[f64], signals: &[f64], jacobian: &mut [f64]) {
        let states = &state[self.first..self.first + self.program.states()];
        self.program
            .jacobian_with(states, |i| signals[self.signals[i]], jacobian);
    }
}

impl Elements for InclusionGroup {
    fn respond(&self, stage: &mut Stage<'_>) {
        let range = self.first..self.first + self.program.states();
        let (states, rates) = (&stage.state[range.clone()], &mut stage.rate[range]);
        self.program.evaluate(states, |i| stage.signals[self.signals[i]], rates);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, _seen: &mut [Observation]) {
        self.respond(stage);
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        // An inclusion is alone in its network: its states are the whole state.
        let (state, signals, matrix) = tangent.whole();
        self.jacobian(state, signals, matrix);
        true
    }

    fn regather(&self, _stage: &Stage<'_>, _seen: &mut [Observation]) {}
}
