//! Loads on frictions with everything stuck, and whether they hold.

use super::modes::{bristle_modes, strongest_line};
use super::{FrictionLine, angular, kind, levels, normal_force, stiffness};
use crate::build::Place;
use crate::network::stage::evaluate;
use crate::network::{Network, Scratch};
use crate::profile::Profile;
use crate::scenario::{
    BodySpec, ContactSpec, ElementSpec, LimitSpec, NormalLawSpec, Number, ParameterSpec, ParameterValue, Port,
    Scenario, Shape,
};
use crate::simulation::Simulation;
use nalgebra::{DMatrix, DVector, Vector3};

/// Rubbing directions of one element: rows of J from `first`, one per axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) element: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// The scenario without its frictions, held at its initial positions.
pub(super) struct Held {
    pub(super) simulation: Simulation,
    /// Whether the scenario itself runs by the implicit step.
    implicit: bool,
    pub(super) rows: Vec<Rows>,
    jacobian: DMatrix<f64>,
    /// W = J·A⁻¹·Jᵀ.
    pub(super) compliance: DMatrix<f64>,
    /// Its inverse where it has one: redundant frictions share a load evenly.
    holding: DMatrix<f64>,
}

pub(super) const NEGLIGIBLE: f64 = 1e-12;

impl Held {
    fn new(simulation: &Simulation) -> Option<Held> {
        let smooth = Simulation::new(without_friction(simulation.scenario())).ok()?;
        let (jacobian, rows) = jacobian(&smooth);
        let network = &smooth.built().network;
        let mut scratch = network.scratch();
        rest(network, &mut scratch, &network.initial);
        evaluate::<false>(network, &mut scratch, 0, 0.0);
        let velocities = network.layout.velocities();
        let mut accelerations = |load: Option<usize>| -> DVector<f64> {
            let Scratch {
                trial,
                rate,
                load: loads,
                frames,
                linkages,
                ..
            } = &mut scratch;
            loads[velocities.clone()].fill(0.0);
            if let Some(row) = load {
                for (force, part) in loads[velocities.clone()].iter_mut().zip(jacobian.row(row).iter()) {
                    *force = *part;
                }
            }
            network.accelerate(trial, frames, linkages, loads, rate);
            DVector::from_column_slice(&rate[velocities.clone()])
        };
        let unloaded = accelerations(None);
        let n = jacobian.nrows();
        if n == 0 {
            return None;
        }
        let mut compliance = DMatrix::zeros(n, n);
        for row in 0..n {
            let column = &jacobian * (accelerations(Some(row)) - &unloaded);
            compliance.set_column(row, &column);
        }
        if !compliance.iter().all(|value| value.is_finite()) {
            return None;
        }
        let compliance = 0.5 * (&compliance + compliance.transpose());
        let scale = compliance.amax();
        let holding = compliance
            .clone()
            .pseudo_inverse(NEGLIGIBLE * scale.max(f64::MIN_POSITIVE))
            .ok()?;
        Some(Held {
            simulation: smooth,
            implicit: simulation.method().implicit(),
            rows,
            jacobian,
            compliance,
            holding,
        })
    }

    /// Calls `each` with the time and the loads along the rubbing directions at every `stride`-th step from `from` to
    /// `to`.
    pub(super) fn scan(&self, from: u64, to: u64, stride: u64, mut each: impl FnMut(f64, &DVector<f64>)) {
        let network = &self.simulation.built().network;
        let mut scratch = network.scratch();
        let mut state = network.initial.clone();
        let velocities = network.layout.velocities();
        let mut step = from;
        let mut last: Option<(f64, Vec<f64>)> = None;
        while step <= to {
            let t = network.time(step);
            self.move_drivers(t, &mut last, &mut state);
            rest(network, &mut scratch, &state);
            evaluate::<false>(network, &mut scratch, 2 * step, 0.0);
            let accelerations = DVector::from_column_slice(&scratch.rate[velocities.clone()]);
            each(t, &(&self.holding * (&self.jacobian * accelerations)));
            step += stride;
        }
    }

    /// Moves drivers given by velocity to time `t`: as the implicit step does, by the velocity at its end, or to second
    /// order. `last` is the time before and the velocities then.
    fn move_drivers(&self, t: f64, last: &mut Option<(f64, Vec<f64>)>, state: &mut [f64]) {
        let network = &self.simulation.built().network;
        let speeds = network
            .drives
            .iter()
            .map(|drive| network.signals.profile(drive.signal).value(t));
        let speeds: Vec<f64> = speeds.collect();
        if let Some((before, old)) = last {
            for ((drive, new), old) in network.drives.iter().zip(&speeds).zip(old) {
                let mean = if self.implicit { *new } else { 0.5 * (new + *old) };
                if !drive.position {
                    state[drive.coordinate.q] += mean * (t - *before);
                }
            }
        }
        *last = Some((t, speeds));
    }
}

/// Puts the positions of `state` into the scratch, at rest.
fn rest(network: &Network, scratch: &mut Scratch, state: &[f64]) {
    let n = network.layout.integrated();
    scratch.trial[..n].copy_from_slice(&state[..n]);
    scratch.trial[network.layout.velocities()].fill(0.0);
}

/// The same scenario with frictions that do nothing; elements keep their places. Contacts and stops do next to nothing.
fn without_friction(scenario: &Scenario) -> Scenario {
    let number = |name: &str, value: f64| ParameterSpec {
        name: name.to_string(),
        value: ParameterValue::Number(Number { value, dimension: None }),
        span: None,
    };
    let soft = NormalLawSpec {
        law: "kelvin-voigt".to_string(),
        parameters: vec![number("stiffness", 1e-12), number("damping", 0.0)],
    };
    let mut scenario = scenario.clone();
    scenario.simulation.integrator = "rk4".to_string();
    for (_, element) in &mut scenario.elements {
        match element {
            ElementSpec::Friction(spec) => {
                let friction = &mut spec.friction;
                friction.law = "martins-oden".to_string();
                friction.curve.limit = LimitSpec::Force {
                    kinetic: 0.0,
                    static_: 0.0,
                };
                friction.curve.viscous = 0.0;
                friction.normal_force = None;
                friction.parameters = vec![number("epsilon", 1.0)];
            }
            ElementSpec::Contact(spec) => (spec.normal, spec.friction) = (soft.clone(), None),
            ElementSpec::Stop(spec) => spec.normal = Some(soft.clone()),
            ElementSpec::Joint(spec) => spec.friction = None,
            ElementSpec::Spring(_) | ElementSpec::Actuator(_) | ElementSpec::Gear(_) => (),
        }
    }
    scenario
}

/// Index of the first velocity of a port with scalar motion, counted in the velocities.
fn velocity_of(simulation: &Simulation, port: Port) -> Option<usize> {
    let built = simulation.built();
    let positions = built.network.layout.positions;
    match port {
        Port::Body(body) => match built.places[body] {
            Place::Coordinates { first, .. } => Some(first.v - positions),
            _ => None,
        },
        Port::Joint { body, link } => match built.places[body] {
            Place::Linkage(index) => {
                let placed = &built.network.linkages[index];
                Some(placed.v - positions + placed.body.joint_velocity_index(link)?)
            }
            Place::Own(index) => Some(built.network.own_bodies[index].v - positions + link),
            _ => None,
        },
        Port::Ground | Port::Link { .. } => None,
    }
}

/// J: one row per axis of every friction element between scalar motions, and of every gear, which passes loads on.
fn jacobian(simulation: &Simulation) -> (DMatrix<f64>, Vec<Rows>) {
    let scenario = simulation.scenario();
    let built = simulation.built();
    let mut rows = Vec::new();
    let mut entries: Vec<[(Option<usize>, f64); 2]> = Vec::new();
    for (index, (_, element)) in scenario.elements.iter().enumerate() {
        let ratio = match element {
            ElementSpec::Friction(spec) => spec.ratio.unwrap_or([1.0, 1.0]),
            ElementSpec::Gear(spec) => spec.ratio,
            _ => continue,
        };
        let ends = element.between().map(|port| velocity_of(simulation, port));
        let count = built.axes[index];
        rows.push(Rows {
            element: index,
            first: entries.len(),
            count,
        });
        for axis in 0..count {
            entries.push([
                (ends[0].map(|v| v + axis), ratio[0]),
                (ends[1].map(|v| v + axis), -ratio[1]),
            ]);
        }
    }
    let mut jacobian = DMatrix::zeros(entries.len(), built.network.layout.velocities);
    for (row, ends) in entries.iter().enumerate() {
        for (velocity, ratio) in ends {
            if let Some(v) = velocity {
                jacobian[(row, *v)] += ratio;
            }
        }
    }
    (jacobian, rows)
}

/// Samples of a load along the run when its peak is looked for.
const SAMPLES: u64 = 4000;

pub(super) fn friction_lines(simulation: &Simulation) -> Vec<FrictionLine> {
    let scenario = simulation.scenario();
    let held = Held::new(simulation);
    let modes = held
        .as_ref()
        .map(|held| bristle_modes(simulation, held))
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (index, (name, element)) in scenario.elements.iter().enumerate() {
        let Some(friction) = element.friction() else { continue };
        let stiffness = stiffness(simulation, index);
        let rotation = angular(scenario, element);
        let mut line = FrictionLine {
            element: name.clone(),
            law: friction.law.clone(),
            unit: if rotation { "Nm" } else { "N" },
            holding_limit: None,
            peak_load: None,
            stick_margin: None,
            counted: String::new(),
            stiffness,
            presliding: None,
            bristle_mode: None,
            load_line: None,
        };
        let rows = held
            .as_ref()
            .and_then(|held| Some((held, *held.rows.iter().find(|rows| rows.element == index)?)));
        match (element, rows) {
            (ElementSpec::Friction(_), Some((held, rows))) => {
                margin(simulation, held, rows, &mut line);
                line.bristle_mode = modes[rows.first..rows.first + rows.count]
                    .iter()
                    .flatten()
                    .copied()
                    .reduce(f64::min);
                if let (Some(mode), Some(limit)) = (line.bristle_mode, line.holding_limit) {
                    line.load_line = strongest_line(held, rows, mode, limit);
                }
            }
            (ElementSpec::Contact(contact), _) => {
                contact_margin(simulation, contact, &mut line);
                let inverse_mass = simulation.built().inverse_mass_felt[index];
                line.bristle_mode = stiffness.map(|k| (k * inverse_mass).sqrt()).filter(|mode| *mode > 0.0);
            }
            (ElementSpec::Joint(_), _) => {
                let (holding, _) = levels(friction);
                line.holding_limit = (friction.normal_force.is_none()
                    && !matches!(friction.curve.limit, LimitSpec::Coefficient { .. }))
                .then_some(holding);
                line.counted = "not estimated for penalty joints".to_string();
            }
            _ => line.counted = "not estimated: the scenario cannot be held at rest".to_string(),
        }
        line.presliding = match (line.holding_limit, stiffness) {
            (Some(limit), Some(stiffness)) if stiffness > 0.0 => Some(limit / stiffness),
            _ => None,
        };
        lines.push(line);
    }
    lines
}

/// What is counted as load, in words.
fn counted(scenario: &Scenario) -> String {
    let mut parts = Vec::new();
    let pushed = scenario.bodies.iter().any(|(_, body)| match body {
        BodySpec::Mass(mass) => !mass.force.is_empty(),
        BodySpec::Inertia(inertia) => inertia.torque.is_some(),
        BodySpec::RigidBody(body) => !body.force.is_empty() || !body.torque.is_empty(),
        BodySpec::Driver(_) | BodySpec::Linkage(_) | BodySpec::Own(_) => false,
    });
    let has = |word: &str| scenario.elements.iter().any(|(_, element)| kind(element) == word);
    if pushed {
        parts.push("applied forces");
    }
    if has("actuator") {
        parts.push("actuators");
    }
    if scenario.simulation.gravity.is_some_and(|g| g != [0.0; 3]) {
        parts.push("gravity");
    }
    if has("spring") {
        let driven = scenario
            .bodies
            .iter()
            .any(|(_, body)| matches!(body, BodySpec::Driver(_)));
        parts.push(if driven {
            "springs with their drivers moved"
        } else {
            "springs"
        });
    }
    match parts.split_last() {
        None => "no load found".to_string(),
        Some((last, [])) => format!("{last}, all bodies held at their start"),
        Some((last, rest)) => format!("{} and {last}, all bodies held at their start", rest.join(", ")),
    }
}

fn margin(simulation: &Simulation, held: &Held, rows: Rows, line: &mut FrictionLine) {
    let built = simulation.built();
    let friction = simulation.scenario().elements[rows.element].1.friction();
    let Some((holding, _)) = friction.map(levels) else {
        return;
    };
    line.counted = counted(simulation.scenario());
    let stride = built.steps.div_ceil(SAMPLES).max(1);
    let mut worst: Option<(f64, f64, f64)> = None;
    held.scan(0, built.steps, stride, |t, loads| {
        let load = loads.rows(rows.first, rows.count).norm();
        let Some(normal) = normal_force(simulation, rows.element, t) else {
            return;
        };
        let limit = holding * normal;
        let load = if load > NEGLIGIBLE * limit { load } else { 0.0 };
        let margin = if load == 0.0 { 1.0 } else { 1.0 - load / limit };
        if worst.is_none_or(|(least, ..)| margin < least) {
            worst = Some((margin, load, limit));
        }
    });
    if let Some((margin, load, limit)) = worst {
        line.holding_limit = Some(limit);
        line.peak_load = Some(load);
        line.stick_margin = margin.is_finite().then_some(margin);
    }
    if friction.is_some_and(|friction| friction.law == "rate-and-state") {
        (line.holding_limit, line.stick_margin) = (None, None);
        line.counted = "this law always slips".to_string();
    }
}

/// Tangential load and normal force of a body on a plane of the ground at time `t`, from its weight and the force on it.
pub(super) fn contact_loads(simulation: &Simulation, contact: &ContactSpec, t: f64) -> Option<(f64, f64)> {
    let scenario = simulation.scenario();
    let (Port::Body(body), Port::Ground, Some(plane)) = (contact.between[0], contact.between[1], contact.surface)
    else {
        return None;
    };
    let (mass, force): (f64, &[Profile]) = match &scenario.bodies[body].1 {
        BodySpec::Mass(mass) => (mass.mass, &mass.force),
        // A ball rolls away under any load: a margin of sticking would mislead.
        BodySpec::RigidBody(body) if !matches!(body.shape, Some(Shape::Sphere(_))) => (body.mass, &body.force),
        _ => return None,
    };
    let mut total = mass * simulation.built().network.world_gravity;
    for (sum, profile) in total.iter_mut().zip(force) {
        *sum += profile.value(t);
    }
    let normal = Vector3::from(plane.normal);
    let pressing = -normal.dot(&total);
    Some(((total + pressing * normal).norm(), pressing))
}

fn contact_margin(simulation: &Simulation, contact: &ContactSpec, line: &mut FrictionLine) {
    let Some((holding, _)) = contact.friction.as_ref().map(levels) else {
        return;
    };
    let duration = simulation.scenario().simulation.duration;
    line.counted = "weight and applied force of the body on the plane".to_string();
    let mut worst: Option<(f64, f64, f64)> = None;
    for i in 0..=SAMPLES {
        let Some((load, normal)) = contact_loads(simulation, contact, duration * (i as f64 / SAMPLES as f64)) else {
            line.counted = "not estimated: only bodies that cannot roll, on a plane of the ground, are".to_string();
            return;
        };
        if normal <= 0.0 {
            continue;
        }
        let margin = if load == 0.0 {
            1.0
        } else {
            1.0 - load / (holding * normal)
        };
        if worst.is_none_or(|(least, ..)| margin < least) {
            worst = Some((margin, load, holding * normal));
        }
    }
    match worst {
        Some((margin, load, limit)) => {
            line.holding_limit = Some(limit);
            line.peak_load = Some(load);
            line.stick_margin = margin.is_finite().then_some(margin);
        }
        None => line.counted = "not estimated: nothing presses the body on the plane".to_string(),
    }
}
