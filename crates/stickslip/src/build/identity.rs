//! Which system it is: a snapshot fits no other.

use super::Choice;
use crate::scenario::{ParameterSpec, Scenario, SimulationSpec};
use crate::snapshot::Sum;
use std::fmt::Write;

/// A number that tells a system from others: bodies, elements, equations, integrator and step, and the numbers that were chosen for the user;
/// not how long it runs, what is recorded, or where in a file something is written.
pub(crate) fn system(scenario: &Scenario, choices: &[Choice]) -> u64 {
    let Scenario {
        simulation,
        bodies,
        elements,
        inclusion,
        chain,
        spheres,
        ..
    } = scenario;
    let simulation = SimulationSpec {
        duration: 0.0,
        ..simulation.clone()
    };
    let mut elements = elements.clone();
    let written = elements.iter_mut().flat_map(|(_, element)| element.parameters_mut());
    written.for_each(|parameter| parameter.span = None);
    let (mut chain, mut spheres) = (chain.clone(), spheres.clone());
    if let Some(chain) = &mut chain {
        forget_places(&mut chain.friction.parameters);
    }
    if let Some(spheres) = &mut spheres {
        forget_places(&mut spheres.normal.parameters);
        let friction = &mut spheres.friction;
        friction.iter_mut().for_each(|law| forget_places(&mut law.parameters));
    }
    let inclusion = inclusion.as_ref().map(|inclusion| inclusion.description());
    let mut sum = Sum::new();
    let written = write!(
        sum,
        "{simulation:?}{bodies:?}{elements:?}{inclusion:?}{chain:?}{spheres:?}{choices:?}"
    );
    debug_assert!(written.is_ok(), "a sum takes any text");
    sum.0
}

fn forget_places(parameters: &mut [ParameterSpec]) {
    for parameter in parameters {
        parameter.span = None;
    }
}
