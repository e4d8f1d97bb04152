//! What the energy ledger of a run gives cause to doubt: an element that can only take energy and gave some, energy that nothing explains,
//! impacts that gained energy. Each is said if it is above 1 % of the energy moved.

use crate::handle::Body;
use crate::integrate::Method;
use crate::report::Report;
use crate::scenario::{BodySpec, ElementSpec, Scenario};
use crate::simulation::Simulation;
use stickslip_core::registry::{Face, Family, law};

/// Part of the energy moved from which on something is said. Methods that resolve the motion stay far below.
const SHARE: f64 = 0.01;

/// Rounding of energies.
const ROUNDING: f64 = 1e-9;

/// Whether an element can only take energy out of the motion: springs and dampers, and laws that promise it.
fn passive(scenario: &Scenario, element: &ElementSpec) -> bool {
    let keeps = |family: Family, name: &str| law(family, name).is_some_and(|law| law.properties.passive);
    let rubs =
        |element: &ElementSpec| (element.friction()).is_none_or(|friction| keeps(Family::Friction, &friction.law));
    match element {
        ElementSpec::Spring(_) | ElementSpec::Gear(_) => true,
        ElementSpec::Friction(_) | ElementSpec::Joint(_) => rubs(element),
        ElementSpec::Contact(contact) => keeps(Family::Contact, &contact.normal.law) && rubs(element),
        ElementSpec::Found(found) => keeps(Family::Contact, &found.normal.law) && rubs(element),
        ElementSpec::Own(own) => own.law.0.stores(),
        ElementSpec::Stop(stop) => {
            let stiff = Method::named(&scenario.simulation.integrator).is_some_and(Method::implicit);
            (stop.normal.as_ref()).map_or(stiff, |normal| keeps(Family::Contact, &normal.law))
        }
        _ => false,
    }
}

/// What the ledger of a run that came to its end warns of. `most` is the most energy in motion and springs that was met.
pub(crate) fn doubts(simulation: &Simulation, report: &Report, most: f64) -> Vec<String> {
    let Some(energy) = &report.energy else {
        return Vec::new();
    };
    let scenario = simulation.scenario();
    let heat = |name: &str| -> f64 {
        let entry = report.elements.get(name).and_then(|element| element.get("dissipated"));
        entry.and_then(|heat| heat.as_f64()).unwrap_or(0.0)
    };
    let taken: f64 = scenario.elements.iter().map(|(name, _)| heat(name).max(0.0)).sum();
    let delivered = simulation
        .work()
        .delivered
        .iter()
        .fold(0.0, |most: f64, work| most.max(work.abs()));
    let moved = most
        .max(energy.input.abs())
        .max(taken)
        .max(energy.dissipated)
        .max(delivered);
    // Energies of gravity may be large where nothing moves, and are rounded.
    let rounding = ROUNDING * (energy.initial.abs() + energy.final_.abs());
    // Where everything rests, forces leave the rounding of what they would do in a step if nothing held them.
    let forces = (report.elements.values()).filter_map(|element| element.get("max_force")?.as_f64());
    let impulse = report.step * forces.fold(0.0, f64::max);
    let mass = simulation.mass();
    let held = if mass > 0.0 {
        0.5 * impulse * impulse / mass
    } else {
        0.0
    };
    // Where large forces balance, each does as much work in a step as positions are rounded by.
    let all_forces: f64 = (report.elements.values())
        .filter_map(|element| element.get("max_force")?.as_f64())
        .sum();
    let network = &simulation.built().network;
    let positions = simulation.state().values[..network.layout.positions].iter();
    let farthest = positions.fold(0.0, |most: f64, x| most.max(x.abs()));
    let shaken = report.steps as f64 * all_forces * f64::EPSILON * farthest;
    let large = |part: f64| part > SHARE * moved + rounding + ROUNDING * held + shaken;
    let unexplained = energy.residual - energy.numerical.unwrap_or(0.0) + simulation.work().within;
    // What was lost without heat never came: the work of an element was counted wrong, which is said below.
    let lost = f64::max(0.0, unexplained);
    let mut doubts = Vec::new();
    for (name, element) in &scenario.elements {
        let given = -heat(name);
        if large(given - lost) && passive(scenario, element) {
            let why = match element {
                ElementSpec::Contact(_) | ElementSpec::Stop(_) | ElementSpec::Found(_) => {
                    "its bodies began inside each other, or the step is too long for it"
                }
                ElementSpec::Own(_) => {
                    "the step is too long for it, or its equations put energy in that `stored` does not tell"
                }
                _ => "the step is too long for it, or what drives it jumps",
            };
            doubts.push(format!(
                "\"{name}\" gave {given:.3e} J to the motion, of {moved:.3e} J moved, and can only take energy: {why}"
            ));
        }
    }
    let path_of_energy = || -> String {
        let flows = simulation.work().delivered.iter().zip(&scenario.elements);
        let active = flows.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        match active {
            Some((flow, (name, _))) if *flow != 0.0 => format!(" (most energy went through \"{name}\")"),
            _ => fastest(simulation).map_or_else(String::new, |name| format!(" (\"{name}\" is fastest)")),
        }
    };
    // A body of equations may lose or gain energy within itself. Explicit steps count how much.
    let own = |(_, body): &(String, BodySpec)| matches!(body, BodySpec::Own(_));
    let known = simulation.method().needs_small_steps() || !scenario.bodies.iter().any(own);
    if large(unexplained.abs()) && known {
        let what = if unexplained < 0.0 {
            "came from nowhere"
        } else {
            "was lost without heat"
        };
        doubts.push(format!(
            "the energy ledger does not close: {:.3e} J of {moved:.3e} J moved {what}{}; use a smaller step",
            unexplained.abs(),
            path_of_energy()
        ));
    }
    // What the method loses in the velocities is negative only where impacts gain, or weights of linkages that move far in a step.
    let gained = -simulation.work().kinetic;
    if energy.numerical.is_some() && large(gained) {
        let rigid = |element: &ElementSpec| match element {
            ElementSpec::Contact(contact) => {
                law(Family::Contact, &contact.normal.law).is_some_and(|law| law.face == Face::Resolve)
            }
            ElementSpec::Stop(_) | ElementSpec::Found(_) => true,
            _ => false,
        };
        let hit = scenario.elements.iter().filter(|(_, element)| rigid(element));
        let names: Vec<String> = hit.map(|(name, _)| format!("\"{name}\"")).collect();
        let why = if names.is_empty() {
            let name = fastest(simulation).unwrap_or_default();
            format!("\"{name}\" turns too fast for the step; use a smaller one, or integrator = \"rk4\"")
        } else {
            format!("impacts on {} or fast rotations", names.join(", "))
        };
        doubts.push(format!(
            "the method gained {gained:.3e} J by itself, of {moved:.3e} J moved: {why}"
        ));
    }
    doubts
}

/// The body whose velocity is largest.
fn fastest(simulation: &Simulation) -> Option<&str> {
    let speed = |body: usize| {
        simulation
            .velocity(Body::nth(body))
            .iter()
            .map(|v| v.abs())
            .fold(0.0, f64::max)
    };
    let bodies = &simulation.scenario().bodies;
    let fastest = (0..bodies.len()).max_by(|&a, &b| speed(a).total_cmp(&speed(b)))?;
    Some(&bodies[fastest].0)
}
