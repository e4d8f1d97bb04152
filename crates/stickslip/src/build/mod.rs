//! From a checked scenario to a network: coordinates, laws with their parameters, groups by kind, islands.

mod automatic;
mod bodies;
mod chain;
mod elements;
mod friction_groups;
pub(crate) mod identity;
mod idle;
mod inclusion;
mod islands;
mod laws;
mod normal;
mod scene;
mod shapes;
mod spheres;

pub(crate) use chain::start_of_block;
pub(crate) use elements::UNDEFINED;
pub(crate) use spheres::start_of_ball;

use crate::body::RigidBody;
use crate::body::own::PlacedOwn;
use crate::chain::{Chain, ChainState};
use crate::element::contact::Geometry;
use crate::integrate::march::StepControl;
use crate::integrate::{METHODS, Method, newmark};
use crate::network::implicit::{PointSpring, StiffSpring};
use crate::network::lock::Lock;
use crate::network::port::{Attachment, Coordinate, Pair};
use crate::network::rigid::{RECOVERY, Rigid};
use crate::network::scene::Scene;
use crate::network::signals::Signals;
use crate::network::{AppliedForce, Drive, Layout, Network, PlacedBody, PlacedLinkage};
use crate::profile::{Expression, Profile, TimeGrid};
use crate::scenario::{BodySpec, Diagnostic, Port, Scenario, ScenarioError};
use crate::spheres::{Spheres, SpheresState};
use nalgebra::Vector3;

/// A parameter that was chosen for the user, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The key: `elements.floor.stiffness`.
    pub key: String,
    /// The value, SI.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Why this value.
    pub reason: String,
}

/// Where the motion of a body of the scenario is in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Scalar coordinates: a mass, an inertia or a driver.
    Coordinates {
        /// The first.
        first: Coordinate,
        /// How many.
        axes: usize,
        /// Whether the motion is prescribed.
        driven: bool,
    },
    /// A rigid body.
    Rigid(usize),
    /// A linkage.
    Linkage(usize),
    /// A body of the user's own.
    Own(usize),
}

/// A network and what was decided on the way to it.
pub struct Built {
    /// The network.
    pub network: Network,
    /// The method of integration.
    pub method: Method,
    /// Number of steps.
    pub steps: u64,
    /// Where each body of the scenario is.
    pub places: Vec<Place>,
    /// States of each element of the scenario: first index and count.
    pub states: Vec<(usize, usize)>,
    /// Number of axes of each element's force column.
    pub axes: Vec<usize>,
    /// r₁ of each element: the force on its first body is r₁ times the force of the element.
    pub first_ratio: Vec<f64>,
    /// Signals of each actuator element, one per axis.
    pub actuators: Vec<Vec<usize>>,
    /// Parameters chosen for the user.
    pub choices: Vec<Choice>,
    /// Who touches whom, for each contact element.
    pub contacts: Vec<(usize, Geometry)>,
    /// Springs taken at the end of the step.
    pub implicit_springs: Vec<usize>,
    /// Inverse of the mass felt along the motion of each friction element; 0 where nothing is free.
    pub inverse_mass_felt: Vec<f64>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Whether the step is too long for a spring, a bristle or a contact, so that motion may grow without bound.
    pub unstable: bool,
    /// The chain that the drive of the network pulls.
    pub chain: Option<Chain>,
    /// How it begins, until a simulation takes it.
    pub(crate) chain_start: Option<ChainState>,
    /// Many spheres on a plane.
    pub spheres: Option<Spheres>,
    /// How they begin, until a simulation takes them.
    pub(crate) spheres_start: Option<SpheresState>,
}

/// Everything collected while building.
struct Builder<'a> {
    scenario: &'a Scenario,
    method: Method,
    step: f64,
    grid: TimeGrid,
    layout: Layout,
    places: Vec<Place>,
    /// Inverse mass of each scalar coordinate: masses, drivers, joints (the largest over poses).
    inverse_mass: Vec<f64>,
    gravity: Vec<f64>,
    world_gravity: Vector3<f64>,
    initial: Vec<f64>,
    /// A size of each state of an element, where one is known; else 0.
    sizes: Vec<f64>,
    /// What the first coordinate rubs on, and how far it goes along with that ([`newmark::Rule::carrier`]).
    carrier: Option<(usize, f64)>,
    drives: Vec<Drive>,
    bodies: Vec<PlacedBody>,
    linkages: Vec<PlacedLinkage>,
    own_bodies: Vec<PlacedOwn>,
    forces: Vec<AppliedForce>,
    profiles: Vec<Profile>,
    /// The signal that is always 1, once one is needed.
    unit: Option<usize>,
    /// The signal of the time.
    clock: Option<usize>,
    groups: elements::Groups,
    stiff_springs: Vec<StiffSpring>,
    point_springs: Vec<PointSpring>,
    locks: Vec<Lock>,
    rigid: Vec<Rigid>,
    scene: Option<Scene>,
    sources: Vec<usize>,
    next_state: usize,
    states: Vec<(usize, usize)>,
    axes: Vec<usize>,
    actuators: Vec<Vec<usize>>,
    choices: Vec<Choice>,
    contacts: Vec<(usize, Geometry)>,
    implicit_springs: Vec<usize>,
    inverse_mass_felt: Vec<f64>,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    groups_are_quadratic: bool,
    unstable: bool,
}

/// Builds the network of a scenario.
pub fn build(scenario: &Scenario) -> Result<Built, ScenarioError> {
    build_first(scenario, usize::MAX)
}

/// As [`build`], but of a chain or of many spheres at most the `first` are built. The others are examined all the same, so that
/// this refuses what [`build`] does.
pub(crate) fn build_first(scenario: &Scenario, first: usize) -> Result<Built, ScenarioError> {
    let fail = |diagnostic: Diagnostic| scenario.error(vec![diagnostic]);
    let simulation = &scenario.simulation;
    let method = Method::named(&simulation.integrator).ok_or_else(|| {
        let known = METHODS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        let message = format!("the integrator \"{}\" is not in this version", simulation.integrator);
        fail(
            scenario
                .diagnostic("simulation.integrator", message)
                .help(format!("use one of {known}")),
        )
    })?;
    let (grid, _) = TimeGrid::new(simulation.duration, simulation.step)
        .map_err(|error| fail(scenario.diagnostic("simulation.step", error.to_string())))?;
    let (half, _) = TimeGrid::new(simulation.duration, simulation.step / 2.0)
        .map_err(|error| fail(scenario.diagnostic("simulation.step", error.to_string())))?;
    if scenario.bodies.is_empty() && scenario.inclusion.is_none() && scenario.spheres.is_none() {
        let help = "add one, for example:\n[bodies.block]\nkind = \"mass\"\nmass = \"1 kg\"";
        return Err(fail(
            scenario.diagnostic("bodies", "the scenario has no body").help(help),
        ));
    }
    let mut builder = Builder {
        scenario,
        method,
        step: simulation.step,
        grid: half,
        layout: Layout::default(),
        places: Vec::new(),
        inverse_mass: Vec::new(),
        gravity: Vec::new(),
        world_gravity: Vector3::from(simulation.gravity.unwrap_or([0.0; 3])),
        initial: Vec::new(),
        carrier: None,
        sizes: Vec::new(),
        drives: Vec::new(),
        bodies: Vec::new(),
        linkages: Vec::new(),
        own_bodies: Vec::new(),
        forces: Vec::new(),
        profiles: Vec::new(),
        unit: None,
        clock: None,
        groups: elements::Groups::default(),
        stiff_springs: Vec::new(),
        point_springs: Vec::new(),
        locks: Vec::new(),
        rigid: Vec::new(),
        scene: None,
        sources: Vec::new(),
        next_state: 0,
        states: vec![(0, 0); scenario.elements.len()],
        axes: vec![1; scenario.elements.len()],
        actuators: vec![Vec::new(); scenario.elements.len()],
        choices: Vec::new(),
        contacts: Vec::new(),
        implicit_springs: Vec::new(),
        inverse_mass_felt: vec![0.0; scenario.elements.len()],
        warnings: scenario.warnings.clone(),
        errors: Vec::new(),
        groups_are_quadratic: true,
        unstable: false,
    };
    builder.refuse_other_bodies();
    if let Some(inclusion) = &scenario.inclusion {
        builder.add_inclusion(inclusion);
    } else {
        builder.lay_out_bodies();
        if builder.errors.is_empty() {
            builder.add_elements();
        }
    }
    let spheres = match &scenario.spheres {
        Some(spec) if builder.errors.is_empty() => builder.add_spheres(spec, spec.count.min(first)),
        _ => None,
    };
    let chain = match &scenario.chain {
        Some(spec) if builder.errors.is_empty() => builder.add_chain(spec, spec.count.min(first)),
        _ => None,
    };
    if !builder.errors.is_empty() {
        return Err(scenario.error(builder.errors));
    }
    builder.warn_of_idle_keys();
    builder.warn_of_shapes();
    let (chain, chain_start) = chain.unzip();
    let (spheres, spheres_start) = spheres.unzip();
    Ok(Built {
        chain,
        chain_start,
        spheres,
        spheres_start,
        ..builder.finish(grid.steps(), grid.end())
    })
}

impl<'a> Builder<'a> {
    fn error(&mut self, path: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.errors.push(self.scenario.diagnostic(path, message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    fn warn(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(self.scenario.diagnostic(path, message).help(help));
    }

    /// The signal of a profile. Equal ones do not share it: what is equal in one variant of a scenario differs in another, and
    /// variants go side by side only if they are built alike.
    fn signal(&mut self, profile: &Profile) -> usize {
        self.profiles.push(profile.clone());
        self.profiles.len() - 1
    }

    /// The signal that is always 1: the load of frictions whose curve is a force.
    fn unit_signal(&mut self) -> usize {
        if let Some(signal) = self.unit {
            return signal;
        }
        let signal = self.signal(&Profile::Constant(1.0));
        *self.unit.insert(signal)
    }

    /// The signal of the time.
    fn time_signal(&mut self) -> usize {
        if let Some(signal) = self.clock {
            return signal;
        }
        let time = Expression::parse("t", &["t"]).map_or(Profile::Constant(0.0), Profile::from);
        let signal = self.signal(&time);
        *self.clock.insert(signal)
    }

    /// The scalar coordinates of a port, with their number of axes; `None` for rigid bodies and links.
    fn coordinates(&self, port: Port) -> Option<(Coordinate, usize)> {
        match port {
            Port::Ground => Some((self.layout.ground(), 0)),
            Port::Body(body) => match self.places[body] {
                Place::Coordinates { first, axes, .. } => Some((first, axes)),
                _ => None,
            },
            Port::Joint { body, link } => match self.places[body] {
                Place::Linkage(index) => {
                    let placed = &self.linkages[index];
                    let q = placed.q + placed.body.joint_position_index(link)?;
                    let v = placed.v + placed.body.joint_velocity_index(link)?;
                    Some((Coordinate { q, v }, 1))
                }
                Place::Own(index) => {
                    let placed = &self.own_bodies[index];
                    let (q, v) = (placed.q + link, placed.v + link);
                    (link < placed.count).then_some((Coordinate { q, v }, 1))
                }
                _ => None,
            },
            Port::Link { .. } => None,
        }
    }

    /// The pair of an element between scalar coordinates, and its number of axes.
    fn pair(&mut self, path: &str, between: [Port; 2], ratio: Option<[f64; 2]>) -> Option<(Pair, usize)> {
        let ends = between.map(|port| self.coordinates(port));
        let [Some((first, n1)), Some((second, n2))] = ends else {
            let name = self
                .scenario
                .port_name(if ends[0].is_none() { between[0] } else { between[1] });
            self.error(
                path,
                format!("this element acts between masses, inertias, drivers and joints, not on \"{name}\""),
            )
            .help = Some("rigid bodies and links are joined by `contact`, `joint` and `spring` elements".into());
            return None;
        };
        let axes = n1.max(n2);
        if axes == 0 {
            self.error(path, "both ends are the ground: nothing can move");
            return None;
        }
        if n1 != 0 && n2 != 0 && n1 != n2 {
            let names = between.map(|port| self.scenario.port_name(port));
            self.error(
                path,
                format!("\"{}\" has {n1} axes and \"{}\" has {n2}", names[0], names[1]),
            );
            return None;
        }
        let pair = Pair::new(first, second, ratio.unwrap_or([1.0, 1.0]));
        let start = [
            ("positions", pair.position::<3>(&self.initial)),
            ("velocities", pair.velocity::<3>(&self.initial)),
        ];
        for (what, values) in start {
            // A driver may be undefined at the very start.
            if values[..axes].iter().any(|value| value.is_infinite()) {
                let message = format!("the difference of the {what} at the start is beyond all numbers");
                self.error(path, message).help = Some("use smaller numbers, or a smaller ratio".into());
                return None;
            }
        }
        Some((pair, axes))
    }

    /// Number of axes of the larger of two ports.
    fn axes_between(&self, between: [Port; 2]) -> usize {
        between
            .iter()
            .filter_map(|&port| self.coordinates(port))
            .map(|(_, axes)| axes)
            .max()
            .unwrap_or(0)
    }

    /// The body of a port as something to take hold of at a point.
    fn attachment(&self, port: Port) -> Option<Attachment> {
        match port {
            Port::Ground => Some(Attachment::Ground),
            Port::Body(body) => match self.places[body] {
                Place::Coordinates { first, axes, .. } if axes >= 2 => Some(Attachment::Point {
                    coordinate: first,
                    axes,
                }),
                Place::Coordinates { .. } => None,
                Place::Rigid(index) => Some(Attachment::Rigid(index)),
                Place::Linkage(_) | Place::Own(_) => None,
            },
            Port::Link { body, link } => match self.places[body] {
                Place::Linkage(linkage) => Some(Attachment::Link { linkage, link }),
                Place::Own(own) => Some(Attachment::Own { own, frame: link }),
                _ => None,
            },
            Port::Joint { .. } => None,
        }
    }

    fn rigid_body(&self, attachment: Attachment) -> Option<&RigidBody> {
        match attachment {
            Attachment::Rigid(index) => Some(&self.bodies[index].body),
            _ => None,
        }
    }

    /// Inverse mass of the coordinate with velocity index `v`; 0 for the ground and drivers.
    fn inverse_mass_of(&self, v: usize) -> f64 {
        let index = v - self.layout.positions;
        self.inverse_mass.get(index).copied().unwrap_or(0.0)
    }

    /// Acceleration by gravity of the coordinate with velocity index `v`; 0 for joints, the ground and drivers.
    fn gravity_of(&self, v: usize) -> f64 {
        let index = v - self.layout.positions;
        self.gravity.get(index).copied().unwrap_or(0.0)
    }

    /// Inverse of the mass felt along the motion of a pair: r₁²/m₁ + r₂²/m₂.
    fn inverse_mass_along(&self, pair: &Pair) -> f64 {
        let [r1, r2] = pair.ratio;
        r1 * r1 * self.inverse_mass_of(pair.first.v) + r2 * r2 * self.inverse_mass_of(pair.second.v)
    }

    fn take_states(&mut self, element: usize, count: usize) -> usize {
        let first = self.next_state;
        self.next_state += count;
        debug_assert!(
            self.next_state <= self.layout.integrated(),
            "more states than were counted"
        );
        self.states[element] = (first, count);
        first
    }

    /// The step that chosen stiffnesses are for, and how it is written in a reason. Where the method chooses its steps,
    /// `step` is the interval of the output, which may be long and says nothing about the motion: 1 ms then, or less.
    fn resolved_step(&self) -> (f64, String) {
        const LONGEST: f64 = 1e-3;
        if self.method.chooses_steps() && self.step > LONGEST {
            let said = format!("step = {LONGEST} s, as that of the file is the interval of the output");
            return (LONGEST, said);
        }
        (self.step, format!("step = {} s", self.step))
    }

    /// How steps are chosen, if the method chooses them; a warning if the scenario says how and it does not.
    fn step_control(&mut self, end: f64) -> Option<StepControl> {
        let simulation = &self.scenario.simulation;
        if self.method.chooses_steps() {
            return Some(StepControl {
                relative: simulation.relative_tolerance,
                absolute: simulation.absolute_tolerance,
                // A system at rest must not step over what happens later; ten output intervals cost no more than the output.
                longest: simulation
                    .max_step
                    .unwrap_or((10.0 * self.step).min(end / 50.0).max(self.step)),
                shortest: simulation.min_step.unwrap_or(0.0),
                end,
                stiff: self.method == Method::Stiff,
                sizes: std::mem::take(&mut self.sizes),
            });
        }
        for key in ["relative_tolerance", "absolute_tolerance", "max_step", "min_step"] {
            let path = format!("simulation.{key}");
            if self.scenario.spans.contains_key(&path) {
                let name = self.method.row().name;
                self.warn(
                    &path,
                    format!("{key} has no effect with the integrator \"{name}\", whose steps are all alike"),
                    "use integrator = \"adaptive\" or \"stiff\", or leave it out",
                );
            }
        }
        None
    }

    /// Newmark's rules move masses and inertias only.
    fn refuse_other_bodies(&mut self) {
        if !self.method.moves_masses_only() {
            return;
        }
        let name = self.method.row().name;
        let others = self
            .scenario
            .bodies
            .iter()
            .filter(|(_, body)| !matches!(body, BodySpec::Mass(_) | BodySpec::Inertia(_) | BodySpec::Driver(_)));
        let mut paths: Vec<String> = others.map(|(body, _)| format!("bodies.{body}")).collect();
        if self.scenario.inclusion.is_some() {
            paths.push("inclusion".into());
        }
        for path in paths {
            let message = format!("the integrator \"{name}\" moves masses, inertias and drivers only");
            self.error(&path, message).help = Some("write integrator = \"stiff\" or \"rk4\" in [simulation]".into());
        }
    }

    /// The rule of `newmark` and `trapezoidal`; a warning if another method is given its numbers.
    fn newmark_rule(&mut self) -> Option<newmark::Rule> {
        let written = self.scenario.simulation.newmark;
        if written.is_some() && self.method != Method::Newmark {
            let name = self.method.row().name;
            self.warn(
                "simulation.newmark",
                format!("beta and gamma have no effect with the integrator \"{name}\""),
                "use integrator = \"newmark\", or leave them out",
            );
        }
        if self.scenario.spans.contains_key("simulation.motion") && self.method != Method::Trapezoidal {
            let name = self.method.row().name;
            self.warn(
                "simulation.motion",
                format!("motion has no effect with the integrator \"{name}\""),
                "use integrator = \"trapezoidal\", or leave it out",
            );
        }
        let linear = self.method == Method::Newmark;
        let (beta, gamma, mean) = match written {
            Some(spec) if linear => (spec.beta, spec.gamma, 0.5),
            _ if self.scenario.simulation.backward_motion && !linear => (1.0, 1.0, 1.0),
            _ => (0.25, 0.5, 0.5),
        };
        self.method.moves_masses_only().then_some(newmark::Rule {
            carrier: self.carrier,
            beta,
            gamma,
            mean,
            linear,
            plain: self.groups.as_published,
        })
    }

    fn finish(mut self, steps: u64, end: f64) -> Built {
        let control = self.step_control(end);
        let newmark = self.newmark_rule();
        let (elements, mut frictions) = self.groups.take();
        let islands = self.islands(&mut frictions);
        let quadratic = self.groups_are_quadratic;
        self.initial[self.layout.integrated()..].fill(0.0);
        let mut inverse_mass = self.inverse_mass;
        inverse_mass.truncate(self.layout.masses + self.layout.drivers);
        let mut network = Network {
            step: self.step,
            reporting_step: if self.method.chooses_steps() { 0.0 } else { self.step },
            settling_step: if self.method.needs_small_steps_of_bristles() {
                self.step
            } else {
                0.0
            },
            inverse_mass,
            gravity: self.gravity,
            world_gravity: self.world_gravity,
            drives: self.drives,
            bodies: self.bodies,
            linkages: self.linkages,
            own_bodies: self.own_bodies,
            forces: self.forces,
            elements,
            frictions,
            islands,
            stiff_springs: self.stiff_springs,
            point_springs: self.point_springs,
            locks: self.locks,
            rigid: self.rigid,
            scene: self.scene,
            sources: self.sources,
            signals: Signals::new(self.profiles, self.grid),
            element_count: self.states.len(),
            quadratic,
            control,
            newmark,
            initial: self.initial,
            layout: self.layout,
            prepared: Default::default(),
        };
        let mut start = std::mem::take(&mut network.initial);
        network.remember_scene(&mut start);
        network.initial = start;
        let mut warnings = self.warnings;
        for (names, depth) in network.deepest(&network.initial) {
            let message = format!(
                "\"{}\" and \"{}\" overlap by {depth:.3e} m at the start",
                names[0], names[1]
            );
            let help = "move them apart; otherwise they part slowly (`recovery_speed`), and gain no speed by it";
            warnings.push(self.scenario.diagnostic("contacts", message).help(help));
        }
        for (element, depth) in network.overlaps() {
            let message = format!("the bodies overlap by {depth:.3e} m at the start");
            let help = format!(
                "move them apart; otherwise they part at {} m/s or less, and gain no speed by it",
                RECOVERY
            );
            let path = format!("elements.{}", self.scenario.elements[element].0);
            warnings.push(self.scenario.diagnostic(&path, message).help(help));
        }
        Built {
            network,
            method: self.method,
            steps,
            places: self.places,
            states: self.states,
            axes: self.axes,
            first_ratio: self
                .scenario
                .elements
                .iter()
                .map(|(_, element)| element.ratio()[0])
                .collect(),
            actuators: self.actuators,
            choices: self.choices,
            contacts: self.contacts,
            implicit_springs: self.implicit_springs,
            inverse_mass_felt: self.inverse_mass_felt,
            warnings,
            unstable: self.unstable,
            chain: None,
            chain_start: None,
            spheres: None,
            spheres_start: None,
        }
    }
}
