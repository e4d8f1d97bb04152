//! What Newmark's rules are given, and their room; the methods themselves are in `crate::integrate::newmark`.

use super::Network;
use crate::snapshot::carried;

/// The rule of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Weight of the new acceleration in the position.
    pub beta: f64,
    /// Weight of the new acceleration in the velocity.
    pub gamma: f64,
    /// Weight of the new velocity in the mean velocity of the step: ½, or 1 for backward differences.
    pub mean: f64,
    /// Friction is linearised at the start of the step, and the step solved once.
    pub linear: bool,
    /// Newton's method without safeguards, as published: it can fail.
    pub plain: bool,
    /// What the first coordinate rubs on: a position, and how far the first coordinate goes along with it.
    pub carrier: Option<(usize, f64)>,
}

/// Room for the equations of a step; empty for other methods.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewmarkRoom {
    /// State and accelerations at the start.
    pub(crate) before: Vec<f64>,
    pub(crate) acceleration: Vec<f64>,
    /// Unknown velocities, the residual there, and the change of a round.
    pub(crate) velocity: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) change: Vec<f64>,
    pub(crate) trial: Vec<f64>,
    /// Derivatives over the flat state, and those of the residual, factored.
    pub(crate) tangent: Vec<f64>,
    pub(crate) factors: Vec<f64>,
    pub(crate) order: Vec<usize>,
    /// The greatest speed so far.
    pub(crate) reach: f64,
    /// Powers at the start of a part, and the energies of the parts so far.
    pub(crate) power: Vec<f64>,
    pub(crate) energy: Vec<f64>,
    /// State at the start of the step.
    pub(crate) start: Vec<f64>,
    /// Times that the equations may still be evaluated in this step.
    pub(crate) left: u32,
}

carried!(
    NewmarkRoom: reach;
    not before, acceleration, velocity, residual, change, trial, tangent, factors, order, power, energy, start, left
);

impl NewmarkRoom {
    /// Forgets the steps so far.
    pub(crate) fn reset(&mut self) {
        self.reach = 0.0;
    }

    pub(crate) fn new(network: &Network) -> Self {
        if network.newmark.is_none() {
            return NewmarkRoom::default();
        }
        let (n, all) = (network.layout.masses, network.layout.integrated());
        NewmarkRoom {
            before: vec![0.0; network.layout.len()],
            acceleration: vec![0.0; n],
            velocity: vec![0.0; n],
            residual: vec![0.0; n],
            change: vec![0.0; n],
            trial: vec![0.0; n],
            tangent: vec![0.0; all * all],
            factors: vec![0.0; n * n],
            order: vec![0; n],
            reach: 0.0,
            power: vec![0.0; 1 + network.element_count],
            energy: vec![0.0; 1 + network.element_count],
            start: vec![0.0; network.layout.len()],
            left: 0,
        }
    }
}
