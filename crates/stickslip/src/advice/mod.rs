//! What can be said of a scenario before it runs: what was built, what was chosen, whether frictions hold, and what
//! looks unwise (`stickslip check`).
//!
//! Loads are found with all frictions and contacts stuck and all bodies at their initial positions, drivers moved as
//! prescribed. Without these forces the network accelerates by a(t); forces f along the directions J that they hold
//! solve (J·A⁻¹·Jᵀ)·f = −J·a. The same matrix W = J·A⁻¹·Jᵀ gives the bristle modes: the eigenvalues of √K·W·√K are
//! the squares of their angular frequencies.

mod estimate;
mod loads;
mod modes;
mod statics;

use crate::analysis::steady::SteadySliding;
use crate::build::Choice;
use crate::scenario::{BodySpec, Diagnostic, ElementSpec, FrictionLawSpec, JointType, ParameterValue, Port, Scenario};
use crate::simulation::Simulation;
use crate::trace::Columns;
pub use estimate::{Estimate, Glance};
use loads::{friction_lines, pressed_at_start};
use serde::Serialize;
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

/// What contacts that the program finds act between.
pub const SHAPES: &str = "shapes";

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
    /// The two bodies, of contacts that the program finds: each pair that touches at the start has a line.
    pub between: Option<[String; 2]>,
    /// Its law.
    pub law: String,
    /// Unit of forces: N or Nm.
    pub unit: &'static str,
    /// What it can hold at the moment of the least margin; elliptic friction in the direction of the load then.
    pub holding_limit: Option<f64>,
    /// What elliptic friction can hold then along its direction and across it.
    pub holding_limits: Option<[f64; 2]>,
    /// What it must hold then, everything at rest.
    pub peak_load: Option<f64>,
    /// 1 − load/limit, the smallest over the run; negative if it cannot hold. `None` if there is no limit, or one of 0.
    pub stick_margin: Option<f64>,
    /// Whether the load never exceeds the limit, where both are known.
    pub holds: Option<bool>,
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

impl FrictionLine {
    /// A line of which nothing is known but the unit of its forces.
    fn of_force(unit: &'static str) -> Self {
        FrictionLine {
            element: String::new(),
            between: None,
            law: String::new(),
            unit,
            holding_limit: None,
            holding_limits: None,
            peak_load: None,
            stick_margin: None,
            holds: None,
            counted: String::new(),
            stiffness: None,
            presliding: None,
            bristle_mode: None,
            load_line: None,
        }
    }
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
    /// Why there is none, if so.
    pub linear_reason: Option<String>,
    /// What the run will take.
    pub estimate: Option<Estimate>,
    /// Warnings as sentences.
    pub warnings: Vec<String>,
    /// The same with their places in the file.
    #[serde(skip)]
    pub diagnostics: Vec<Diagnostic>,
}

/// Examines a scenario, and says what its run will take with these columns in its trace.
pub fn advise_at_a_glance(glance: &mut Glance, columns: &Columns) -> Advice {
    let mut advice = advise(&glance.simulation);
    for crowd in [&mut advice.chain, &mut advice.spheres].into_iter().flatten() {
        crowd.blocks = glance.count;
        crowd.bytes = (crowd.bytes as f64 * glance.times) as usize;
        let built = glance.simulation.chain().map_or(0, |(chain, _)| chain.count());
        if built > 0 {
            advice.states += 2 * (glance.count - built);
        }
    }
    let estimate = glance.estimate(columns);
    if let Some(failure) = estimate.time_from.strip_prefix("none: the run ") {
        let message = format!("the run {failure}");
        advice.warnings.push(message.clone());
        advice.diagnostics.push(Diagnostic::new(message, None));
    }
    advice.estimate = Some(estimate);
    advice
}

/// Examines a simulation that has not begun.
pub fn advise(simulation: &Simulation) -> Advice {
    let scenario = simulation.scenario();
    let built = simulation.built();
    let layout = &built.network.layout;
    let (steady_sliding, linear_reason) = match SteadySliding::of(simulation) {
        Ok(steady) => (Some(steady), None),
        Err(reason) => (None, Some(reason)),
    };
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
        steady_sliding,
        linear_reason,
        estimate: None,
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
        BodySpec::Mass(mass) => (
            "mass",
            format!("{} kg, {}", plain(mass.mass), axes(mass.position.len())),
        ),
        BodySpec::Inertia(inertia) => ("inertia", format!("{} kg m^2", plain(inertia.inertia))),
        BodySpec::Driver(driver) if driver.is_fixed() => ("fixed", "does not move".to_string()),
        BodySpec::Driver(driver) => (
            "driver",
            format!("prescribed, {}", axes(driver.motion.profiles().len())),
        ),
        BodySpec::RigidBody(body) => ("rigid-body", format!("{} kg, free in space", plain(body.mass))),
        BodySpec::Linkage(linkage) => {
            let count = linkage.links.len();
            let mass: f64 = linkage.links.iter().map(|link| link.mass).sum();
            let root = if linkage.floating { "free root" } else { "fixed root" };
            let plural = if count == 1 { "" } else { "s" };
            ("linkage", format!("{count} link{plural}, {} kg, {root}", plain(mass)))
        }
        BodySpec::Own(own) => (
            "equations",
            format!("coordinates {}", own.body.coordinates().join(", ")),
        ),
    };
    BodyLine {
        name: name.to_string(),
        kind,
        about,
    }
}

/// A number without the rounding of what it was made of: sums and products of decimals end in ...0000002.
fn plain(x: f64) -> String {
    let rounded = format!("{x:.11e}").parse::<f64>();
    rounded.unwrap_or(x).to_string()
}

fn axes(count: usize) -> &'static str {
    ["one axis", "two axes", "three axes"][count.clamp(1, 3) - 1]
}

fn element_line(simulation: &Simulation, index: usize) -> ElementLine {
    let (scenario, built) = (simulation.scenario(), simulation.built());
    let (name, element) = &scenario.elements[index];
    let mut laws = Vec::new();
    match element {
        ElementSpec::Contact(spec) => laws.push(spec.normal.law.clone()),
        ElementSpec::Found(spec) => {
            laws.push(spec.normal.law.clone());
            laws.extend(spec.friction.as_ref().map(|friction| friction.law.clone()));
        }
        ElementSpec::Stop(spec) => laws.extend(spec.normal.as_ref().map(|normal| normal.law.clone())),
        _ => (),
    }
    laws.extend(element.friction().map(|friction| friction.law.clone()));
    // What is rigid is no spring.
    let spring = match element {
        ElementSpec::Spring(_) => true,
        ElementSpec::Gear(gear) => !gear.rigid,
        _ => false,
    };
    ElementLine {
        name: name.clone(),
        kind: element.kind(),
        between: match element {
            ElementSpec::Found(_) => [SHAPES; 2].map(String::from),
            _ => element.between().map(|port| scenario.port_name(port)),
        },
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
            BodySpec::Own(own) => own.turns.get(link).copied().flatten(),
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

/// Kinetic friction force of a friction element at the start, N or Nm, where it is known.
pub fn kinetic_force(simulation: &Simulation, index: usize) -> Option<f64> {
    let element = &simulation.scenario().elements[index].1;
    let friction = element.friction()?;
    let (_, kinetic) = levels(friction);
    let plain = friction.normal_force.is_none() && !friction.curve.limit.is_coefficient();
    if plain && !matches!(element, ElementSpec::Contact(_)) {
        return Some(kinetic);
    }
    Some(kinetic * pressed_at_start(simulation, index)?)
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
    let element = &scenario.elements[index.number()].1;
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
    let element = &scenario.elements[simulation.element(&line.element)?.number()].1;
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

    /// Two equal rods in a horizontal plane with friction in both joints (the paper on modular simulation, Simulation II).
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
}
