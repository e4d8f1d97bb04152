//! What can be said of a scenario before it runs: what was built, what was chosen, whether frictions hold, and what
//! looks unwise (`stickslip check`).
//!
//! Loads are found with all frictions stuck and all bodies at their initial positions, drivers moved as prescribed.
//! Without friction the network accelerates by a(t); forces f along the rubbing directions J that keep it at rest
//! solve (J·A⁻¹·Jᵀ)·f = −J·a. The same matrix W = J·A⁻¹·Jᵀ gives the bristle modes: the eigenvalues of √K·W·√K are
//! the squares of their angular frequencies.

use crate::analysis::steady::SteadySliding;
use crate::build::{Choice, Place};
use crate::network::stage::evaluate;
use crate::network::{Network, Scratch};
use crate::profile::Profile;
use crate::scenario::{
    BodySpec, ContactSpec, Diagnostic, ElementSpec, FrictionLawSpec, JointType, LimitSpec, NormalForce, NormalLawSpec,
    Number, ParameterSpec, ParameterValue, Port, Scenario, Shape,
};
use crate::simulation::Simulation;
use nalgebra::{DMatrix, DVector, Vector3};
use serde::Serialize;
use std::f64::consts::PI;
use stickslip_core::registry::{Family, law};

/// Presliding above which `check` warns, m.
pub const LONGEST_PRESLIDING: f64 = 1e-4;
/// The same for rotation, rad: 0.1 mm at an arm of 0.1 m.
pub const WIDEST_PRESLIDING: f64 = 1e-3;
/// A load line within this factor of a bristle mode is a warning: even a law that does not drift creeps there.
pub const RESONANCE: f64 = 3.0;

/// A body in a few words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BodyLine {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Mass, axes, links.
    pub about: String,
}

/// An element in a few words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ElementLine {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// What it acts between.
    pub between: [String; 2],
    /// Its laws, if it has any.
    pub laws: Vec<String>,
    /// How many numbers of state it keeps.
    pub states: usize,
    /// For springs of the implicit step: whether they are taken at its end.
    pub implicit: Option<bool>,
}

/// A parameter that was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoiceLine {
    /// The key.
    pub key: String,
    /// The value, SI.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Why.
    pub reason: String,
}

impl From<&Choice> for ChoiceLine {
    fn from(choice: &Choice) -> Self {
        ChoiceLine {
            key: choice.key.clone(),
            value: choice.value,
            unit: choice.unit,
            reason: choice.reason.clone(),
        }
    }
}

/// Whether a friction holds, and how it answers at rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrictionLine {
    /// The element.
    pub element: String,
    /// Its law.
    pub law: String,
    /// Unit of forces: N or Nm.
    pub unit: &'static str,
    /// What it can hold at the moment of the least margin.
    pub holding_limit: Option<f64>,
    /// What it must hold then, everything at rest.
    pub peak_load: Option<f64>,
    /// 1 − load/limit, the smallest over the run; negative if it cannot hold.
    pub stick_margin: Option<f64>,
    /// What was counted as load, or why there is no number.
    pub counted: String,
    /// Stiffness of the contact at rest.
    pub stiffness: Option<f64>,
    /// Elastic displacement before slip, limit over stiffness, m or rad.
    pub presliding: Option<f64>,
    /// Lowest bristle mode with every bristle stuck, rad/s.
    pub bristle_mode: Option<f64>,
    /// Strongest line of the load in the second half of the run, rad/s.
    pub load_line: Option<f64>,
}

/// The blocks of a chain, or many spheres.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainLine {
    /// How many there are.
    pub blocks: usize,
    /// Memory that each takes, bytes.
    pub bytes_per_block: usize,
    /// Memory of all and of the room to move them, bytes.
    pub bytes: usize,
}

/// What `check` says.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Title of the scenario.
    pub title: String,
    /// Integrator.
    pub integrator: &'static str,
    /// Step, s.
    pub step: f64,
    /// Number of steps.
    pub steps: u64,
    /// Numbers in the state: positions, velocities, states of elements.
    pub states: usize,
    /// Whether a sweep that measures final values moves variants side by side in lanes.
    pub lanes: bool,
    /// Bodies.
    pub bodies: Vec<BodyLine>,
    /// The blocks of a chain.
    pub chain: Option<ChainLine>,
    /// Many spheres.
    pub spheres: Option<ChainLine>,
    /// Elements.
    pub elements: Vec<ElementLine>,
    /// Parameters that were chosen, and why.
    pub choices: Vec<ChoiceLine>,
    /// Frictions.
    pub frictions: Vec<FrictionLine>,
    /// Linear stability of steady sliding, where there is such a motion.
    pub steady_sliding: Option<SteadySliding>,
    /// Warnings as sentences.
    pub warnings: Vec<String>,
    /// The same with their places in the file.
    #[serde(skip)]
    pub diagnostics: Vec<Diagnostic>,
}

/// Examines a simulation that has not begun.
pub fn advise(simulation: &Simulation) -> Advice {
    let scenario = simulation.scenario();
    let built = simulation.built();
    let layout = &built.network.layout;
    let mut advice = Advice {
        title: scenario.title.clone(),
        integrator: simulation.method().row().name,
        step: built.network.step,
        steps: built.steps,
        lanes: simulation.abreast() > 1,
        states: layout.integrated() + simulation.chain().map_or(0, |(chain, _)| 2 * chain.count()),
        bodies: scenario
            .bodies
            .iter()
            .map(|(name, body)| body_line(name, body))
            .collect(),
        chain: simulation.chain().map(|(chain, state)| ChainLine {
            blocks: chain.count(),
            bytes_per_block: chain.bytes_per_block(),
            bytes: state.bytes(chain),
        }),
        spheres: simulation.spheres().map(|(spheres, state)| ChainLine {
            blocks: spheres.count,
            bytes_per_block: size_of::<crate::spheres::Ball>(),
            bytes: state.bytes(),
        }),
        elements: (0..scenario.elements.len())
            .map(|i| element_line(simulation, i))
            .collect(),
        choices: built.choices.iter().map(ChoiceLine::from).collect(),
        frictions: friction_lines(simulation),
        steady_sliding: SteadySliding::of(simulation),
        warnings: Vec::new(),
        diagnostics: built.warnings.clone(),
    };
    for line in &advice.frictions {
        advice.diagnostics.extend(presliding_warning(simulation, line));
        advice.diagnostics.extend(resonance_warning(simulation, line));
    }
    advice.warnings = advice.diagnostics.iter().map(|d| d.message.clone()).collect();
    advice
}

fn body_line(name: &str, body: &BodySpec) -> BodyLine {
    let (kind, about) = match body {
        BodySpec::Mass(mass) => ("mass", format!("{} kg, {}", mass.mass, axes(mass.position.len()))),
        BodySpec::Inertia(inertia) => ("inertia", format!("{} kg m^2", inertia.inertia)),
        BodySpec::Driver(driver) => (
            "driver",
            format!("prescribed, {}", axes(driver.motion.profiles().len())),
        ),
        BodySpec::RigidBody(body) => ("rigid-body", format!("{} kg, free in space", body.mass)),
        BodySpec::Linkage(linkage) => {
            let count = linkage.links.len();
            let mass: f64 = linkage.links.iter().map(|link| link.mass).sum();
            let root = if linkage.floating { "free root" } else { "fixed root" };
            let plural = if count == 1 { "" } else { "s" };
            ("linkage", format!("{count} link{plural}, {mass} kg, {root}"))
        }
        BodySpec::Own(own) => ("own", format!("coordinates {}", own.body.coordinates().join(", "))),
    };
    BodyLine {
        name: name.to_string(),
        kind,
        about,
    }
}

fn axes(count: usize) -> &'static str {
    ["one axis", "two axes", "three axes"][count.clamp(1, 3) - 1]
}

/// The word of an element's kind.
pub fn kind(element: &ElementSpec) -> &'static str {
    match element {
        ElementSpec::Spring(_) => "spring",
        ElementSpec::Friction(_) => "friction",
        ElementSpec::Contact(_) => "contact",
        ElementSpec::Stop(_) => "stop",
        ElementSpec::Joint(_) => "joint",
        ElementSpec::Actuator(_) => "actuator",
        ElementSpec::Gear(_) => "gear",
    }
}

fn element_line(simulation: &Simulation, index: usize) -> ElementLine {
    let (scenario, built) = (simulation.scenario(), simulation.built());
    let (name, element) = &scenario.elements[index];
    let mut laws = Vec::new();
    match element {
        ElementSpec::Contact(spec) => laws.push(spec.normal.law.clone()),
        ElementSpec::Stop(spec) => laws.extend(spec.normal.as_ref().map(|normal| normal.law.clone())),
        _ => (),
    }
    laws.extend(element.friction().map(|friction| friction.law.clone()));
    let spring = matches!(element, ElementSpec::Spring(_) | ElementSpec::Gear(_));
    ElementLine {
        name: name.clone(),
        kind: kind(element),
        between: element.between().map(|port| scenario.port_name(port)),
        laws,
        states: built.states[index].1,
        implicit: (spring && simulation.method().implicit()).then(|| built.implicit_springs.contains(&index)),
    }
}

/// Whether a port turns (`Some(true)`) or slides.
pub fn turns(scenario: &Scenario, port: Port) -> Option<bool> {
    match port {
        Port::Body(body) => match &scenario.bodies[body].1 {
            BodySpec::Mass(_) | BodySpec::RigidBody(_) => Some(false),
            BodySpec::Inertia(_) => Some(true),
            BodySpec::Driver(driver) => driver.angular,
            BodySpec::Linkage(_) | BodySpec::Own(_) => None,
        },
        Port::Joint { body, link } => match &scenario.bodies[body].1 {
            BodySpec::Linkage(linkage) => Some(linkage.links[link].joint_type == JointType::Revolute),
            _ => None,
        },
        Port::Ground | Port::Link { .. } => None,
    }
}

/// Whether an element answers rotation with torque.
pub fn angular(scenario: &Scenario, element: &ElementSpec) -> bool {
    if let ElementSpec::Joint(joint) = element {
        return joint.joint_type == JointType::Revolute;
    }
    let [first, second] = element.between();
    turns(scenario, first).or(turns(scenario, second)) == Some(true)
}

/// The path of the table that holds an element's friction law.
fn law_path(name: &str, element: &ElementSpec) -> String {
    match element {
        ElementSpec::Friction(_) => format!("elements.{name}"),
        _ => format!("elements.{name}.friction"),
    }
}

/// Static and kinetic level of the steady curve: forces, or coefficients where a normal force belongs to them.
fn levels(friction: &FrictionLawSpec) -> (f64, f64) {
    let [holding, kinetic] = friction.curve.limit.levels();
    (holding, kinetic)
}

/// The normal force of a friction element between scalar motions at time `t`; 1 where its levels are forces.
fn normal_force(simulation: &Simulation, index: usize, t: f64) -> Option<f64> {
    let scenario = simulation.scenario();
    let element = &scenario.elements[index].1;
    let friction = element.friction()?;
    match &friction.normal_force {
        Some(NormalForce::Profile(profile)) => return Some(profile.value(t).max(0.0)),
        Some(NormalForce::Element(other)) => return Some(simulation.observations()[*other].normal.max(0.0)),
        None => (),
    }
    if !friction.curve.limit.is_coefficient() {
        return Some(1.0);
    }
    let body = element.between().into_iter().find_map(|port| match port {
        Port::Body(body) => Some(body),
        _ => None,
    })?;
    let BodySpec::Mass(mass) = &scenario.bodies[body].1 else {
        return None;
    };
    mass.weight_across(simulation.built().network.world_gravity.into())
}

/// Kinetic friction force of a friction element at the start, N or Nm, where it is known.
pub fn kinetic_force(simulation: &Simulation, index: usize) -> Option<f64> {
    let element = &simulation.scenario().elements[index].1;
    let (_, kinetic) = levels(element.friction()?);
    let normal = match element {
        ElementSpec::Contact(contact) => {
            let held = contact_loads(simulation, contact, 0.0)?;
            held.1
        }
        _ => normal_force(simulation, index, 0.0)?,
    };
    Some(kinetic * normal)
}

/// Stiffness of a friction at rest, if its law has one: as written or as chosen.
fn stiffness(simulation: &Simulation, index: usize) -> Option<f64> {
    let (name, element) = &simulation.scenario().elements[index];
    let friction = element.friction()?;
    let row = law(Family::Friction, &friction.law)?;
    if !row.parameters.iter().any(|parameter| parameter.name == "stiffness") {
        return None;
    }
    let written = friction
        .parameters
        .iter()
        .find(|p| p.name == "stiffness")
        .map(|p| &p.value);
    match written {
        Some(ParameterValue::Number(number)) => Some(number.value),
        Some(ParameterValue::Numbers(numbers)) => Some(numbers.iter().map(|number| number.value).sum()),
        Some(_) => None,
        None => {
            let key = format!("{}.stiffness", law_path(name, element));
            let choices = &simulation.built().choices;
            choices
                .iter()
                .find(|choice| choice.key == key)
                .map(|choice| choice.value)
        }
    }
}

/// Rubbing directions of one element: rows of J from `first`, one per axis.
#[derive(Clone, Copy, Debug)]
struct Rows {
    element: usize,
    first: usize,
    count: usize,
}

/// The scenario without its frictions, held at its initial positions.
struct Held {
    simulation: Simulation,
    /// Whether the scenario itself runs by the implicit step.
    implicit: bool,
    rows: Vec<Rows>,
    jacobian: DMatrix<f64>,
    /// W = J·A⁻¹·Jᵀ.
    compliance: DMatrix<f64>,
    /// Its inverse where it has one: redundant frictions share a load evenly.
    holding: DMatrix<f64>,
}

const NEGLIGIBLE: f64 = 1e-12;

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
    fn scan(&self, from: u64, to: u64, stride: u64, mut each: impl FnMut(f64, &DVector<f64>)) {
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

fn friction_lines(simulation: &Simulation) -> Vec<FrictionLine> {
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
                line.holding_limit =
                    (friction.normal_force.is_none() && !friction.curve.limit.is_coefficient()).then_some(holding);
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

/// Lowest bristle mode that each rubbing direction takes part in, with every bristle stuck; `None` without a bristle.
fn bristle_modes(simulation: &Simulation, held: &Held) -> Vec<Option<f64>> {
    let n = held.compliance.nrows();
    let mut root = vec![0.0; n];
    for rows in &held.rows {
        let stiffness = stiffness(simulation, rows.element).unwrap_or(0.0);
        root[rows.first..rows.first + rows.count].fill(stiffness.sqrt());
    }
    let bristles: Vec<usize> = (0..n)
        .filter(|&i| root[i] > 0.0 && held.compliance[(i, i)] > 0.0)
        .collect();
    let mut modes = vec![None; n];
    if bristles.is_empty() {
        return modes;
    }
    let matrix = DMatrix::from_fn(bristles.len(), bristles.len(), |i, j| {
        let (i, j) = (bristles[i], bristles[j]);
        root[i] * held.compliance[(i, j)] * root[j]
    });
    let eigen = matrix.symmetric_eigen();
    let greatest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
    for (row, &bristle) in bristles.iter().enumerate() {
        // A direction takes part in a mode if its share of the mode is not a rounding error; modes without stiffness
        // are bristles in parallel, of which only the sum counts.
        modes[bristle] = (0..bristles.len())
            .filter(|&mode| eigen.eigenvalues[mode] > NEGLIGIBLE * greatest)
            .filter(|&mode| eigen.eigenvectors[(row, mode)].abs() > 1e-3)
            .map(|mode| eigen.eigenvalues[mode].sqrt())
            .reduce(f64::min);
    }
    modes
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
fn contact_loads(simulation: &Simulation, contact: &ContactSpec, t: f64) -> Option<(f64, f64)> {
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

/// Length of the spectrum.
const SPECTRUM: usize = 4096;
/// A line weaker than this part of the limit cannot shake a bristle loose.
const FAINT: f64 = 1e-3;

/// The strongest line of the load in the second half of the run, rad/s. Sampled so that lines up to eight times the
/// mode show.
fn strongest_line(held: &Held, rows: Rows, mode: f64, limit: f64) -> Option<f64> {
    let built = held.simulation.built();
    let step = built.network.step;
    let from = built.steps / 2;
    let stride = ((PI / (8.0 * mode) / step) as u64).max(1);
    let to = built.steps.min(from + stride * (SPECTRUM as u64 - 1));
    let mut samples = vec![Vec::new(); rows.count];
    held.scan(from, to, stride, |_, loads| {
        for (axis, samples) in samples.iter_mut().enumerate() {
            samples.push(loads[rows.first + axis]);
        }
    });
    let lines = samples
        .iter()
        .filter_map(|samples| line_of(samples, stride as f64 * step));
    let (line, amplitude) = lines.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (amplitude > FAINT * limit).then_some(line)
}

/// Angular frequency and amplitude of the strongest line of equally spaced samples, their trend removed.
fn line_of(samples: &[f64], spacing: f64) -> Option<(f64, f64)> {
    let n = samples.len();
    if n < 16 || !samples.iter().all(|x| x.is_finite()) {
        return None;
    }
    // Least-squares line through the samples.
    let centre = (n as f64 - 1.0) / 2.0;
    let mean = samples.iter().sum::<f64>() / n as f64;
    let (mut rise, mut run) = (0.0, 0.0);
    for (i, x) in samples.iter().enumerate() {
        let offset = i as f64 - centre;
        rise += offset * (x - mean);
        run += offset * offset;
    }
    let length = (2 * n).next_power_of_two();
    let mut spectrum = vec![(0.0, 0.0); length];
    for (i, (bin, x)) in spectrum.iter_mut().zip(samples).enumerate() {
        // Hann's window keeps a strong line from drowning its neighbours.
        let window = 0.5 - 0.5 * libm::cos(2.0 * PI * (i as f64 + 0.5) / n as f64);
        bin.0 = window * (x - mean - rise / run * (i as f64 - centre));
    }
    fourier(&mut spectrum);
    let power = |bin: &(f64, f64)| bin.0 * bin.0 + bin.1 * bin.1;
    let (peak, bin) = spectrum[..length / 2]
        .iter()
        .enumerate()
        .max_by(|a, b| power(a.1).total_cmp(&power(b.1)))?;
    // The top of a parabola through the peak and its neighbours.
    let side = |i: usize| spectrum.get(i).map_or(0.0, |bin| power(bin).sqrt());
    let (left, top, right) = (side(peak.max(1) - 1), side(peak), side(peak + 1));
    let bend = left - 2.0 * top + right;
    let shift = if bend < 0.0 { 0.5 * (left - right) / bend } else { 0.0 };
    let frequency = 2.0 * PI * (peak as f64 + shift) / (length as f64 * spacing);
    // The window sums to n/2, and a line of amplitude a puts a/2 of it in its bin.
    Some((frequency, 4.0 * power(bin).sqrt() / n as f64))
}

/// Discrete Fourier transform in place; the length is a power of two (decimation in time).
fn fourier(x: &mut [(f64, f64)]) {
    let n = x.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            x.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let angle = -PI * k as f64 / half as f64;
            let (sin, cos) = libm::sincos(angle);
            for start in (k..n).step_by(2 * half) {
                let (a, b) = (x[start], x[start + half]);
                let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                x[start] = (a.0 + turned.0, a.1 + turned.1);
                x[start + half] = (a.0 - turned.0, a.1 - turned.1);
            }
        }
        half *= 2;
    }
}

fn presliding_warning(simulation: &Simulation, line: &FrictionLine) -> Option<Diagnostic> {
    let presliding = line.presliding?;
    let scenario = simulation.scenario();
    let rotation = line.unit == "Nm";
    let (most, unit) = if rotation {
        (WIDEST_PRESLIDING, "rad")
    } else {
        (LONGEST_PRESLIDING, "m")
    };
    if presliding <= most {
        return None;
    }
    let index = simulation.element(&line.element)?;
    let element = &scenario.elements[index].1;
    let key = format!("{}.stiffness", law_path(&line.element, element));
    let message = format!(
        "\"{}\" gives way elastically by {presliding:.2e} {unit} before it slips (limit/stiffness)",
        line.element
    );
    let step = simulation.built().network.step;
    // The chosen stiffness grows as 1/step², so the presliding shrinks as step².
    let chosen = simulation.built().choices.iter().any(|choice| choice.key == key);
    let help = if chosen {
        let advised = step * (most / presliding).sqrt();
        format!("a step of {advised:.1e} s or less keeps it below {most} {unit}, or give the stiffness yourself")
    } else {
        let stiffness = line.holding_limit? / most;
        let unit_k = if rotation { "Nm/rad" } else { "N/m" };
        format!("stiffness = \"{stiffness:.2e} {unit_k}\" or more keeps it below {most} {unit}; check the step then")
    };
    Some(scenario.diagnostic(&key, message).help(help))
}

fn resonance_warning(simulation: &Simulation, line: &FrictionLine) -> Option<Diagnostic> {
    let (mode, load) = (line.bristle_mode?, line.load_line?);
    if !(mode / load < RESONANCE && load / mode < RESONANCE) {
        return None;
    }
    let scenario = simulation.scenario();
    let element = &scenario.elements[simulation.element(&line.element)?].1;
    let key = format!("{}.stiffness", law_path(&line.element, element));
    let message = format!(
        "the load on \"{}\" oscillates at {load:.1} rad/s, near the lowest bristle mode of {mode:.1} rad/s: it may creep",
        line.element
    );
    let factor = RESONANCE * load / mode;
    let stiffer = line.stiffness? * factor * factor;
    Some(
        scenario
            .diagnostic(&key, message)
            .note("a bristle in resonance swings beyond its limit in every cycle, whatever the law")
            .help(format!(
                "stiffness = {stiffer:.2e} moves the mode to {RESONANCE} times the load; or use law = \"implicit\", which has no bristle"
            )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(text: &str) -> Advice {
        advise(&Simulation::new(Scenario::parse(text, "test.toml", &[]).unwrap()).unwrap())
    }

    fn near(a: f64, b: f64, relative: f64) {
        assert!((a - b).abs() <= relative * b.abs(), "{a} against {b}");
    }

    /// Two equal rods in a horizontal plane with friction in both joints (seed 004, Simulation II).
    fn arm(mass: f64, length: f64, stiffness: f64) -> String {
        let (half, inertia) = (length / 2.0, mass * length * length / 12.0);
        format!(
            r#"
            [simulation]
            duration = "10 s"
            step = "0.1 ms"
            integrator = "rk4"
            [bodies.arm]
            kind = "linkage"
            links = [
              {{ name = "upper", parent = "ground", joint = "shoulder", type = "revolute", axis = [0, 0, 1],
                 origin = [0, 0, 0], mass = {mass}, com = [{half}, 0, 0], inertia = [0, {inertia}, {inertia}] }},
              {{ name = "lower", parent = "upper", joint = "elbow", type = "revolute", axis = [0, 0, 1],
                 origin = [{length}, 0, 0], mass = {mass}, com = [{half}, 0, 0], inertia = [0, {inertia}, {inertia}] }},
            ]
            [elements.motor]
            kind = "actuator"
            on = "arm.shoulder"
            value = "if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))"
            [elements.shoulder]
            kind = "friction"
            on = "arm.shoulder"
            law = "proxy"
            kinetic = 0.5
            stiffness = {stiffness}
            damping = 1
            [elements.elbow]
            kind = "friction"
            on = "arm.elbow"
            law = "proxy"
            kinetic = 0.5
            stiffness = {stiffness}
            damping = 1
            "#
        )
    }

    #[test]
    fn the_arm_of_seed_004_is_warned_of_its_bristle_resonance() {
        let (m, l, k) = (1.0, 0.5, 5000.0);
        let advice = advice(&arm(m, l, k));
        // Straight rods: H = m·l²·[[8/3, 5/6], [5/6, 1/3]]; the lowest mode belongs to its larger eigenvalue.
        let (a, b, d) = (8.0 / 3.0, 5.0 / 6.0, 1.0 / 3.0);
        let largest: f64 = (a + d) / 2.0 + (((a - d) / 2.0_f64).powi(2) + b * b).sqrt();
        let mode = (k / (m * l * l * largest)).sqrt();
        for line in &advice.frictions {
            near(line.bristle_mode.unwrap(), mode, 1e-9);
        }
        let shoulder = &advice.frictions[0];
        near(shoulder.load_line.unwrap(), 100.0, 1e-3);
        near(shoulder.peak_load.unwrap(), 0.52, 1e-9);
        near(shoulder.stick_margin.unwrap(), 1.0 - 0.52 / 0.5, 1e-9);
        // All joints stuck, the motor loads only its own joint.
        assert_eq!(advice.frictions[1].load_line, None);
        assert!(advice.frictions[1].stick_margin.unwrap() > 0.999);
        assert_eq!(advice.warnings.len(), 1, "{:?}", advice.warnings);
        assert!(advice.warnings[0].contains("bristle mode"), "{:?}", advice.warnings);
        // Sixteen times as stiff, the mode is 3.3 times the load.
        assert!(super::tests::advice(&arm(m, l, 16.0 * k)).warnings.is_empty());
    }

    fn scenario(rest: &str) -> String {
        format!(
            "[simulation]\nduration = 4\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n{rest}"
        )
    }

    #[test]
    fn the_margin_of_a_block_on_a_slope() {
        let advice = advice(&scenario(
            r#"
            [bodies.block]
            kind = "mass"
            mass = 2
            axis = [0.8, 0, -0.6]
            force = "if(t > 1, 1, 0)*sin(t)"
            [elements.slope]
            kind = "friction"
            between = ["block", "ground"]
            law = "implicit"
            mu = 0.7
            mu_static = 0.9
            "#,
        ));
        let line = &advice.frictions[0];
        // sin t reaches 1 at pi/2, between two samples.
        let (load, limit) = (2.0 * 9.81 * 0.6 + 1.0, 0.9 * 2.0 * 9.81 * 0.8);
        near(line.holding_limit.unwrap(), limit, 1e-12);
        near(line.peak_load.unwrap(), load, 1e-6);
        near(line.stick_margin.unwrap(), 1.0 - load / limit, 1e-5);
        assert_eq!(
            line.counted,
            "applied forces and gravity, all bodies held at their start"
        );
    }

    #[test]
    fn springs_are_counted_with_their_drivers_moved() {
        let advice = advice(&scenario(
            r#"
            [bodies.block]
            kind = "mass"
            mass = 1
            [bodies.hook]
            kind = "driver"
            velocity = "if(t <= 2, 2, 0)"
            [elements.spring]
            kind = "spring"
            between = ["hook", "block"]
            stiffness = 90
            [elements.floor]
            kind = "friction"
            between = ["block", "ground"]
            law = "implicit"
            kinetic = 10
            "#,
        ));
        near(advice.frictions[0].peak_load.unwrap(), 90.0 * 4.0, 1e-9);
        assert_eq!(advice.elements[0].implicit, Some(false));
    }

    #[test]
    fn a_gear_passes_the_load_on_and_two_bodies_share_it() {
        let advice = advice(&scenario(
            r#"
            [bodies.motor]
            kind = "inertia"
            inertia = 0.002
            torque = 0.5
            [bodies.table]
            kind = "mass"
            mass = 40
            [bodies.load]
            kind = "mass"
            mass = 10
            force = 30
            [elements.screw]
            kind = "gear"
            between = ["motor", "table"]
            ratio = [0.002, 1]
            [elements.guide]
            kind = "friction"
            between = ["table", "ground"]
            law = "implicit"
            kinetic = 400
            [elements.rub]
            kind = "friction"
            between = ["load", "table"]
            law = "implicit"
            kinetic = 100
            "#,
        ));
        let line = |name: &str| advice.frictions.iter().find(|line| line.element == name).unwrap();
        near(line("guide").peak_load.unwrap(), 0.5 / 0.002 + 30.0, 1e-9);
        near(line("rub").peak_load.unwrap(), 30.0, 1e-9);
    }

    #[test]
    fn a_soft_bristle_is_reported_with_a_step_that_cures_it() {
        let text = |step: f64| {
            format!(
                r#"
                [simulation]
                duration = 1
                step = {step}
                integrator = "rk4"
                [bodies.block]
                kind = "mass"
                mass = 1
                [elements.floor]
                kind = "friction"
                between = ["block", "ground"]
                law = "proxy"
                kinetic = 10
                "#
            )
        };
        // K = m(0.5/T)²: F/K = 10·(T/0.5)² is 1 mm at 5 ms and 0.1 mm at 5/√10 = 1.58 ms.
        let soft = advice(&text(0.005));
        near(soft.frictions[0].presliding.unwrap(), 1e-3, 1e-12);
        assert_eq!(soft.warnings.len(), 1);
        assert!(
            soft.diagnostics[0].help.as_ref().unwrap().contains("1.6e-3 s"),
            "{soft:?}"
        );
        assert!(advice(&text(0.00125)).warnings.is_empty());
    }

    #[test]
    fn the_strongest_line_of_a_known_signal() {
        let signal = |i: i32| {
            let t = f64::from(i) * 0.01;
            3.0 * t + 0.5 * libm::sin(20.0 * t) + 0.2 * libm::sin(55.0 * t)
        };
        let samples: Vec<f64> = (0..3000).map(signal).collect();
        let (frequency, amplitude) = line_of(&samples, 0.01).unwrap();
        near(frequency, 20.0, 1e-3);
        near(amplitude, 0.5, 0.05);
        assert_eq!(line_of(&samples[..3], 0.01), None);
    }
}
