//! Traces: what is recorded of a run, column by column.

use crate::build::Place;
use crate::chain::Aggregates;
use crate::element::laws::Tangential;
use crate::scenario::{BodySpec, ElementSpec};
use crate::simulation::Simulation;
use crate::spheres::SpheresSeen;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use stickslip_core::registry::{Face, Family, law};

/// Where the number of a column comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Time,
    State(usize),
    Force(usize, usize),
    Magnitude(usize),
    Mode(usize),
    Normal(usize),
    Gap(usize),
    Carried(usize),
    Touching(usize),
    Depth,
    /// A number of the place of a link: linkage, link, which of x, y, z, qw, qx, qy, qz.
    Place([usize; 3]),
    Chain(fn(&Aggregates) -> f64),
    Spheres(fn(&SpheresSeen) -> f64),
}

/// The columns of a run's trace.
#[derive(Clone, Debug)]
pub struct Columns {
    names: Vec<String>,
    sources: Vec<Source>,
    /// Where links are: columns that are there if they are asked for.
    links: Vec<(String, Source)>,
}

const AXES: [&str; 3] = [".x", ".y", ".z"];

/// A column of many bodies: its name and what it is of what was seen.
type Named<T> = (&'static str, fn(&T) -> f64);

/// Columns of a chain.
const CHAIN: &[Named<Aggregates>] = &[
    ("slipping", |chain| chain.slipping),
    ("moment", |chain| chain.moment),
    ("position", |chain| chain.position),
    ("velocity", |chain| chain.velocity),
    ("speed", |chain| chain.speed),
    ("force", |chain| chain.force),
];

/// Columns of many spheres.
const SPHERES: &[Named<SpheresSeen>] = &[
    ("touching", |spheres| spheres.touching),
    ("slipping", |spheres| spheres.slipping),
    ("position.x", |spheres| spheres.position.x),
    ("position.y", |spheres| spheres.position.y),
    ("position.z", |spheres| spheres.position.z),
    ("velocity.x", |spheres| spheres.velocity.x),
    ("velocity.y", |spheres| spheres.velocity.y),
    ("velocity.z", |spheres| spheres.velocity.z),
    ("speed", |spheres| spheres.speed),
    ("lowest", |spheres| spheres.gap[0]),
    ("highest", |spheres| spheres.gap[1]),
];

/// Suffixes of a quantity with so many axes.
fn suffixes(axes: usize) -> &'static [&'static str] {
    if axes == 1 { &[""] } else { &AXES[..axes] }
}

impl Columns {
    /// Every column of a simulation, in the order of the scenario.
    pub fn new(simulation: &Simulation) -> Self {
        let mut columns = Columns {
            names: Vec::new(),
            sources: Vec::new(),
            links: Vec::new(),
        };
        columns.push("t".into(), Source::Time);
        let scenario = simulation.scenario();
        for (index, (name, body)) in scenario.bodies.iter().enumerate() {
            columns.add_body(simulation, index, name, body);
        }
        if let Some(inclusion) = &scenario.inclusion {
            let first = simulation.built().network.layout.first_state();
            for (i, name) in inclusion.states().iter().enumerate() {
                columns.push(name.clone(), Source::State(first + i));
            }
        }
        if scenario.chain.is_some() {
            for &(name, of) in CHAIN {
                columns.push(format!("chain.{name}"), Source::Chain(of));
            }
        }
        if scenario.spheres.is_some() {
            for &(name, of) in SPHERES {
                columns.push(format!("spheres.{name}"), Source::Spheres(of));
            }
        }
        for (index, (name, element)) in scenario.elements.iter().enumerate() {
            columns.add_element(simulation, index, name, element);
        }
        columns
    }

    fn push(&mut self, name: String, source: Source) {
        self.names.push(name);
        self.sources.push(source);
    }

    fn pose(&mut self, name: &str, q: usize, v: usize) {
        for (i, axis) in AXES.iter().enumerate() {
            self.push(format!("{name}.position{axis}"), Source::State(q + i));
        }
        for (i, axis) in AXES.iter().enumerate() {
            self.push(format!("{name}.velocity{axis}"), Source::State(v + i));
        }
        for (i, part) in ["qw", "qx", "qy", "qz"].iter().enumerate() {
            self.push(format!("{name}.{part}"), Source::State(q + 3 + i));
        }
        for (i, part) in ["wx", "wy", "wz"].iter().enumerate() {
            self.push(format!("{name}.{part}"), Source::State(v + 3 + i));
        }
    }

    fn add_body(&mut self, simulation: &Simulation, index: usize, name: &str, body: &BodySpec) {
        let network = &simulation.built().network;
        if let BodySpec::Driver(driver) = body
            && driver.is_fixed()
        {
            return;
        }
        match simulation.built().places[index] {
            Place::Coordinates { first, axes, .. } => {
                for (i, axis) in suffixes(axes).iter().enumerate() {
                    self.push(format!("{name}.position{axis}"), Source::State(first.q + i));
                }
                for (i, axis) in suffixes(axes).iter().enumerate() {
                    self.push(format!("{name}.velocity{axis}"), Source::State(first.v + i));
                }
            }
            Place::Rigid(rigid) => {
                let placed = &network.bodies[rigid];
                self.pose(name, placed.q, placed.v);
            }
            Place::Linkage(linkage) => {
                let placed = &network.linkages[linkage];
                if placed.body.is_floating() {
                    self.pose(name, placed.q, placed.v);
                }
                let BodySpec::Linkage(spec) = body else { return };
                for (link, description) in spec.links.iter().enumerate() {
                    let q = placed.body.joint_position_index(link);
                    let v = placed.body.joint_velocity_index(link);
                    for (part, word) in ["x", "y", "z", "qw", "qx", "qy", "qz"].into_iter().enumerate() {
                        let column = format!("{name}.{}.{word}", description.name);
                        self.links.push((column, Source::Place([linkage, link, part])));
                    }
                    if let (Some(q), Some(v)) = (q, v) {
                        let joint = &description.joint;
                        self.push(format!("{name}.{joint}.position"), Source::State(placed.q + q));
                        self.push(format!("{name}.{joint}.velocity"), Source::State(placed.v + v));
                    }
                }
            }
            Place::Own(own) => {
                let placed = &network.own_bodies[own];
                for (i, coordinate) in placed.body.coordinates().iter().enumerate() {
                    self.push(format!("{name}.{coordinate}.position"), Source::State(placed.q + i));
                    self.push(format!("{name}.{coordinate}.velocity"), Source::State(placed.v + i));
                }
                for (i, state) in placed.body.state_names().iter().take(placed.states).enumerate() {
                    self.push(format!("{name}.{state}"), Source::State(placed.state + i));
                }
            }
        }
    }

    fn add_element(&mut self, simulation: &Simulation, index: usize, name: &str, element: &ElementSpec) {
        if let ElementSpec::Found(_) = element {
            self.push(format!("{name}.count"), Source::Touching(index));
            self.push(format!("{name}.max_depth"), Source::Depth);
            self.push(format!("{name}.mode"), Source::Mode(index));
            return;
        }
        let axes = simulation.built().axes[index];
        for (i, axis) in suffixes(axes).iter().enumerate() {
            self.push(format!("{name}.force{axis}"), Source::Force(index, i));
        }
        match element {
            ElementSpec::Friction(spec) => {
                if axes > 1 {
                    self.push(format!("{name}.force.magnitude"), Source::Magnitude(index));
                }
                self.push(format!("{name}.mode"), Source::Mode(index));
                self.bristle(simulation, index, name, &spec.friction.law, axes);
            }
            ElementSpec::Contact(spec) => {
                self.push(format!("{name}.normal"), Source::Normal(index));
                self.push(format!("{name}.gap"), Source::Gap(index));
                self.push(format!("{name}.mode"), Source::Mode(index));
                // The states of a contact with one point: those of the friction, then that of the normal force.
                let (first, count) = simulation.built().states[index];
                let normal = law(Family::Contact, &spec.normal.law);
                let own = normal.map_or(0, |normal| normal.states);
                let rubs = count - own.min(count);
                let one_point =
                    rubs == Tangential::kept_of(spec.friction.as_ref().map(|friction| friction.law.as_str()), 3);
                if normal.is_some_and(|normal| one_point && normal.face == Face::Respond) {
                    if let Some(friction) = &spec.friction {
                        self.bristle(simulation, index, name, &friction.law, 3);
                    }
                    if let Some(state) = normal.and_then(|normal| normal.state_name) {
                        self.push(format!("{name}.{state}"), Source::State(first + rubs));
                    }
                }
            }
            ElementSpec::Stop(spec) => {
                self.push(format!("{name}.gap"), Source::Gap(index));
                self.push(format!("{name}.mode"), Source::Mode(index));
                let normal = spec
                    .normal
                    .as_ref()
                    .and_then(|normal| law(Family::Contact, &normal.law));
                if let Some(state) = normal.and_then(|normal| normal.state_name) {
                    let first = simulation.built().states[index].0;
                    let ends = [(spec.lower, "lower"), (spec.upper, "upper")];
                    let both = spec.lower.is_some() && spec.upper.is_some();
                    for (end, (limit, word)) in ends.into_iter().enumerate() {
                        if limit.is_some() {
                            let column = if both {
                                format!("{name}.{state}.{word}")
                            } else {
                                format!("{name}.{state}")
                            };
                            self.push(column, Source::State(first + end));
                        }
                    }
                }
            }
            ElementSpec::Joint(spec) => {
                self.push(format!("{name}.gap"), Source::Gap(index));
                if let Some(friction) = &spec.friction {
                    self.push(format!("{name}.mode"), Source::Mode(index));
                    self.bristle(simulation, index, name, &friction.law, 1);
                }
            }
            ElementSpec::Own(spec) => {
                let (first, count) = simulation.built().states[index];
                for (i, state) in spec.law.0.state_names().iter().take(count).enumerate() {
                    self.push(format!("{name}.{state}"), Source::State(first + i));
                }
            }
            ElementSpec::OwnContact(_) => {
                self.push(format!("{name}.normal"), Source::Normal(index));
                self.push(format!("{name}.gap"), Source::Gap(index));
                self.push(format!("{name}.mode"), Source::Mode(index));
            }
            _ => (),
        }
    }

    fn bristle(&mut self, simulation: &Simulation, index: usize, name: &str, law_name: &str, axes: usize) {
        let Some(state) = law(Family::Friction, law_name).and_then(|law| law.state_name) else {
            return;
        };
        let (first, _) = simulation.built().states[index];
        for (place, state) in state.split(' ').enumerate() {
            match (place, state) {
                (0, _) => {
                    for (i, axis) in suffixes(axes).iter().enumerate() {
                        self.push(format!("{name}.{state}{axis}"), Source::State(first + i));
                    }
                }
                (_, "R") => self.push(format!("{name}.R"), Source::Carried(index)),
                _ => self.push(format!("{name}.{state}"), Source::State(first + place * axes)),
            }
        }
    }

    /// Keeps only the named columns (and the time), in the order given; the first unknown name is returned.
    pub fn select(&mut self, names: &[String]) -> Result<(), String> {
        let mut chosen = Columns {
            names: vec!["t".into()],
            sources: vec![Source::Time],
            links: Vec::new(),
        };
        for name in names.iter().filter(|name| *name != "t") {
            let place = self.names.iter().position(|other| other == name);
            let of_link = || self.links.iter().find(|(other, _)| other == name);
            match place
                .map(|i| self.sources[i])
                .or_else(|| of_link().map(|(_, source)| *source))
            {
                Some(source) => chosen.push(name.clone(), source),
                None => return Err(name.clone()),
            }
        }
        *self = chosen;
        Ok(())
    }

    /// Whether [`Columns::select`] finds this column.
    pub fn offers(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name) || self.places().any(|other| other == name)
    }

    /// Names of the columns that are there if they are asked for: where links are.
    pub(crate) fn places(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|(name, _)| name.as_str())
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of the columns now, into `row`.
    pub fn read(&self, simulation: &Simulation, row: &mut Vec<f64>) {
        row.clear();
        row.extend(self.sources.iter().map(|&source| value(simulation, source)));
    }

    /// The value of one column now.
    pub fn value(&self, simulation: &Simulation, column: usize) -> f64 {
        value(simulation, self.sources[column])
    }

    /// The column that shows a number of the state, for messages.
    pub(crate) fn name_of_state(&self, index: usize) -> String {
        match (self.sources.iter()).position(|source| matches!(source, Source::State(state) if *state == index)) {
            Some(i) => self.names[i].clone(),
            None => "a state of an element".into(),
        }
    }
}

/// w, x, y, z of a rotation.
fn quaternion(rotation: &Matrix3<f64>) -> [f64; 4] {
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*rotation));
    [q.w, q.i, q.j, q.k]
}

fn value(simulation: &Simulation, source: Source) -> f64 {
    let seen = simulation.observations();
    match source {
        Source::Time => simulation.time(),
        Source::State(index) => simulation.state().values[index],
        Source::Force(element, axis) => simulation.built().first_ratio[element] * seen[element].force[axis],
        Source::Magnitude(element) => {
            let [x, y, z] = seen[element].force;
            simulation.built().first_ratio[element].abs() * libm::sqrt(x * x + y * y + z * z)
        }
        Source::Mode(element) => f64::from(seen[element].mode as u8),
        Source::Normal(element) => seen[element].normal,
        Source::Gap(element) => seen[element].gap,
        Source::Carried(element) => seen[element].carried,
        Source::Touching(element) => seen[element].touching,
        Source::Depth => {
            let network = &simulation.built().network;
            network.depth(&simulation.state().values)
        }
        Source::Place([linkage, link, part]) => {
            let placed = &simulation.built().network.linkages[linkage];
            let (q, _) = placed.motion(&simulation.state().values);
            let (position, rotation) = placed.body.pose(q, link);
            match part {
                0..3 => position[part],
                _ => quaternion(&rotation)[part - 3],
            }
        }
        Source::Chain(of) => of(simulation.aggregates()),
        Source::Spheres(of) => of(simulation.spheres_seen()),
    }
}
