//! Rules that hold for a scenario whether it was read from a file or put together in Rust, and the words that refuse what breaks
//! them. The reader asks for one rule at a time, where it knows the place in the file; [`verify`] asks for all of them.

mod bodies;
mod ends;

use super::diagnostic::Diagnostic;
use super::spec::*;
use super::tree::shorten;
use crate::element::curve::CurveSide;
use crate::profile::Profile;
pub(crate) use bodies::{NO_ROTATION, parent_fault, unit};
pub(super) use bodies::{box_fault, floating_fault, inertia_fault, limits_fault, massless_fault, no_links, part_taken};
pub(super) use ends::{Joined, Motion, are_spheres, ends_fault, no_stop, spring_faults, stop_fault, weight_fault};

/// What was found wrong while parts were put together: the path, what is wrong, what to do.
pub(crate) type PartFault = (String, String, String);

/// What is wrong, and what to do.
pub(super) type Fault = (String, &'static str);

/// Which signs a number may have.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sign {
    Any,
    NotNegative,
    Positive,
}

/// What is wrong with a number.
pub(super) fn number_fault(path: &str, value: f64, sign: Sign) -> Option<String> {
    if !value.is_finite() {
        return Some(format!("`{path}` must be a finite number, found {value}"));
    }
    let wanted = match sign {
        Sign::NotNegative if value < 0.0 => "must not be negative",
        Sign::Positive if value <= 0.0 => "must be greater than 0",
        _ => return None,
    };
    Some(format!("`{path}` {wanted}, found {value}"))
}

/// What is wrong with the name of a body or an element, and what to do. A name becomes part of a column (`block.position`) and of a
/// path (`arm.shoulder`).
pub(super) fn name_fault(name: &str, what: &str) -> Option<(String, &'static str)> {
    let plain = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    match name {
        "" => Some((
            format!("a {what} has an empty name"),
            "give it a name of letters, digits, `_` and `-`",
        )),
        "ground" => Some((
            format!("a {what} cannot be named `ground`"),
            "`ground` is the fixed world and needs no table; choose another name",
        )),
        "t" => Some((
            format!("a {what} cannot be named `t`"),
            "`t` is the time; choose another name",
        )),
        _ if !name.chars().all(plain) => Some((
            format!(
                "the name `{}` has letters that names of a {what} cannot have",
                shorten(name)
            ),
            "use letters, digits, `_` and `-` only",
        )),
        _ => None,
    }
}

/// A name that a body has already, for an element.
pub(super) fn taken(name: &str) -> (String, &'static str) {
    (
        format!("the name `{name}` is taken by a body"),
        "names of bodies and elements are all different, since both name columns: rename one",
    )
}

/// What is wrong with a static limit below the kinetic one.
pub(super) fn limit_fault(kinetic: (&str, f64), holding: (&str, f64)) -> Option<Diagnostic> {
    let ((kinetic_key, kinetic), (static_key, holding)) = (kinetic, holding);
    if holding >= kinetic {
        return None;
    }
    let message = format!("`{static_key}` ({holding}) is below `{kinetic_key}` ({kinetic})");
    let help = format!("make `{static_key}` at least {kinetic}, or leave it out: it is then equal to `{kinetic_key}`");
    Some(
        Diagnostic::new(message, None)
            .note("what holds more weakly than it slides would let go, be slowed at once, hold again, and so on without end")
            .help(help),
    )
}

/// What is wrong with the points of a table of friction over speed: the key, and why.
pub(super) fn curve_fault(speed: &[f64], (key, force): (&'static str, &[f64])) -> Option<(&'static str, String)> {
    if speed.len() != force.len() {
        return Some((key, format!("{} speeds but {} forces", speed.len(), force.len())));
    }
    if let Some(first) = speed.first().filter(|first| **first < 0.0) {
        return Some(("speed", format!("speeds are not negative, found {first}")));
    }
    if let Some(pair) = speed.windows(2).find(|pair| pair[0] >= pair[1]) {
        let message = format!("speeds must increase, but {} is followed by {}", pair[0], pair[1]);
        return Some(("speed", message));
    }
    let negative = force.iter().find(|force| **force < 0.0)?;
    Some((key, format!("friction must not be negative, found {negative}")))
}

/// Words for a vector of another length than the body has dimensions.
pub(super) fn count_mismatch(path: &str, key: &str, count: usize, dimension: usize) -> (String, String) {
    let message = format!(
        "`{path}` has {count} {}, but the body has {dimension} {}",
        plural(count, "component"),
        plural(dimension, "dimension")
    );
    let value = match dimension {
        1 => "0".to_string(),
        _ => format!("[{}]", vec!["0"; dimension].join(", ")),
    };
    (message, format!("write one component per dimension: {key} = {value}"))
}

/// Words for an actuator with another number of profiles than its bodies have dimensions.
pub(super) fn count_of_ends(path: &str, count: usize, dimension: usize) -> Fault {
    let message = format!(
        "`{path}` has {count} {}, but the bodies have {dimension} {}",
        plural(count, "component"),
        plural(dimension, "dimension")
    );
    (message, "write one profile per axis: value = [\"sin(t)\", 0, 0]")
}

/// Words for a ratio that disconnects a body.
pub(super) fn ratio_fault(path: &str, ratio: &[f64]) -> Option<String> {
    let zero = ratio.contains(&0.0);
    zero.then(|| format!("`{path}` has a 0, which disconnects a body"))
}

pub(super) fn plural(count: usize, word: &str) -> String {
    match count {
        1 => word.to_string(),
        _ => format!("{word}s"),
    }
}

/// Every fault of a scenario that was put together in Rust, as a file with it would be refused, after those that were found on the way.
pub(crate) fn verify(scenario: &Scenario, parts: Vec<PartFault>) -> Vec<Diagnostic> {
    let mut faults = Faults {
        scenario,
        found: Vec::new(),
    };
    faults.parts(parts);
    faults.simulation();
    for (i, (name, body)) in scenario.bodies.iter().enumerate() {
        faults.name(name, "body", scenario.bodies[..i].iter().map(|(other, _)| other));
        faults.body(&format!("bodies.{name}"), body);
    }
    for (i, (name, element)) in scenario.elements.iter().enumerate() {
        faults.name(name, "element", scenario.elements[..i].iter().map(|(other, _)| other));
        if scenario.bodies.iter().any(|(body, _)| body == name) {
            let (message, help) = taken(name);
            faults.note(&format!("elements.{name}"), message, help);
        }
        faults.element(&format!("elements.{name}"), element);
    }
    faults.found
}

struct Faults<'a> {
    scenario: &'a Scenario,
    found: Vec<Diagnostic>,
}

impl Faults<'_> {
    fn note(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(self.scenario.diagnostic(path, message).help(help));
    }

    fn number(&mut self, path: &str, value: f64, sign: Sign) {
        if let Some(message) = number_fault(path, value, sign) {
            self.found.push(self.scenario.diagnostic(path, message));
        }
    }

    fn numbers<'v>(&mut self, path: &str, values: impl IntoIterator<Item = &'v f64>) {
        for value in values {
            self.number(path, *value, Sign::Any);
        }
    }

    fn profiles<'p>(&mut self, path: &str, profiles: impl IntoIterator<Item = &'p Profile>) {
        for profile in profiles {
            if let Profile::Constant(value) = profile {
                self.number(path, *value, Sign::Any);
            }
        }
    }

    fn name<'n>(&mut self, name: &str, what: &str, mut others: impl Iterator<Item = &'n String>) {
        if let Some((message, help)) = name_fault(name, what) {
            self.note(name, message, help);
        }
        if others.any(|other| other == name) {
            self.note(
                name,
                format!("there are two of the name `{name}`"),
                "names of bodies and elements are all different: rename one",
            );
        }
    }

    fn simulation(&mut self) {
        let simulation = &self.scenario.simulation;
        self.number("simulation.step", simulation.step, Sign::Positive);
        if self.found.is_empty() {
            self.number("simulation.duration", simulation.duration, Sign::Positive);
        }
        self.numbers("simulation.gravity", simulation.gravity.iter().flatten());
        let positive = [
            ("relative_tolerance", Some(simulation.relative_tolerance)),
            ("absolute_tolerance", simulation.absolute_tolerance),
            ("max_step", simulation.max_step),
            ("min_step", simulation.min_step),
        ];
        for (key, value) in positive {
            if let Some(value) = value {
                self.number(&format!("simulation.{key}"), value, Sign::Positive);
            }
        }
    }

    fn counts(&mut self, path: &str, counts: &[(&str, usize)], dimension: usize) {
        for &(key, count) in counts {
            if count != dimension {
                let at = format!("{path}.{key}");
                let (message, help) = count_mismatch(&at, key, count, dimension);
                self.note(&at, message, help);
            }
        }
    }

    fn body(&mut self, path: &str, body: &BodySpec) {
        let at = |key: &str| format!("{path}.{key}");
        match body {
            BodySpec::Mass(mass) => {
                self.number(&at("mass"), mass.mass, Sign::Positive);
                self.numbers(&at("position"), &mass.position);
                self.numbers(&at("velocity"), &mass.velocity);
                self.numbers(&at("axis"), mass.axis.iter().flatten());
                self.profiles(&at("force"), &mass.force);
                let dimension = mass.position.len();
                if !(1..=3).contains(&dimension) {
                    let message = format!("`{}` should be a number or a list of 2 or 3 numbers", at("position"));
                    self.note(&at("position"), message, "give one number for each of 1, 2 or 3 axes");
                    return;
                }
                self.counts(path, &[("velocity", mass.velocity.len())], dimension);
                if !mass.force.is_empty() {
                    self.counts(path, &[("force", mass.force.len())], dimension);
                }
            }
            BodySpec::Inertia(inertia) => {
                self.number(&at("inertia"), inertia.inertia, Sign::Positive);
                self.number(&at("position"), inertia.position, Sign::Any);
                self.number(&at("velocity"), inertia.velocity, Sign::Any);
                self.profiles(&at("torque"), &inertia.torque);
            }
            BodySpec::Driver(driver) => {
                let profiles = driver.motion.profiles();
                let key = match driver.motion {
                    DriverMotion::Position(_) => "position",
                    DriverMotion::Velocity(_) => "velocity",
                };
                self.profiles(&at(key), profiles);
                self.numbers(&at("start"), &driver.start);
                if !(1..=3).contains(&profiles.len()) {
                    let message = format!("`{}` should be a profile or a list of 2 or 3 profiles", at(key));
                    self.note(&at(key), message, "give one profile for each of 1, 2 or 3 axes");
                    return;
                }
                self.counts(path, &[("start", driver.start.len())], profiles.len());
            }
            BodySpec::RigidBody(body) => {
                self.number(&at("mass"), body.mass, Sign::Positive);
                self.shape(path, body.shape.as_ref());
                self.inertia(path, (body.mass, body.inertia, body.shape.as_ref()), Sign::Positive);
                self.numbers(&at("position"), &body.position);
                self.numbers(&at("velocity"), &body.velocity);
                self.numbers(&at("angular_velocity"), &body.angular_velocity);
                self.unit(&at("rotation"), &body.rotation);
                for (key, profiles) in [("force", &body.force), ("torque", &body.torque)] {
                    self.profiles(&at(key), profiles);
                    if !profiles.is_empty() {
                        self.counts(path, &[(key, profiles.len())], 3);
                    }
                }
            }
            BodySpec::Linkage(linkage) => self.linkage(path, linkage),
            // The builder asks the body itself.
            BodySpec::Own(body) => {
                self.numbers(&at("position"), &body.position);
                self.numbers(&at("velocity"), &body.velocity);
            }
        }
    }

    fn element(&mut self, path: &str, element: &ElementSpec) {
        let at = |key: &str| format!("{path}.{key}");
        let (between, ratio) = match element {
            ElementSpec::Spring(spring) => {
                self.number(&at("stiffness"), spring.stiffness, Sign::NotNegative);
                self.number(&at("damping"), spring.damping, Sign::NotNegative);
                self.number(&at("length"), spring.length, Sign::Any);
                self.numbers(&at("preload"), &spring.preload);
                self.numbers(&at("at"), spring.at.iter().flatten());
                (spring.between, spring.ratio)
            }
            ElementSpec::Friction(spec) => {
                self.friction(path, &spec.friction);
                (spec.between, spec.ratio)
            }
            ElementSpec::Contact(contact) => {
                self.normal(&at("normal"), &contact.normal);
                if let Some(friction) = &contact.friction {
                    self.friction(&at("friction"), friction);
                    if let LimitSpec::Force { .. } = friction.curve.limit {
                        let message = "friction of a contact follows its normal force, so `kinetic` has no place here";
                        self.note(&at("friction"), message, "write the coefficient: mu = 0.3");
                    }
                }
                if let Some(plane) = &contact.surface {
                    self.unit(&at("surface.plane.normal"), &plane.normal);
                    self.number(&at("surface.plane.offset"), plane.offset, Sign::Any);
                }
                (contact.between, None)
            }
            ElementSpec::Found(found) => {
                self.normal(&at("normal"), &found.normal);
                if let Some(friction) = &found.friction {
                    self.friction(&at("friction"), friction);
                }
                return;
            }
            ElementSpec::Stop(stop) => {
                self.numbers(&at("lower"), &stop.lower);
                self.numbers(&at("upper"), &stop.upper);
                let fault = match (stop.lower, stop.upper) {
                    (None, None) => Some((path.to_string(), no_stop(path))),
                    (Some(lower), Some(upper)) => stop_fault(lower, upper).map(|fault| (at("lower"), fault)),
                    _ => None,
                };
                if let Some((place, (message, help))) = fault {
                    self.note(&place, message, help);
                }
                if let Some(normal) = &stop.normal {
                    self.normal(&at("normal"), normal);
                }
                (stop.between, stop.ratio)
            }
            ElementSpec::Joint(joint) => {
                let numbers = [
                    ("stiffness", joint.stiffness),
                    ("damping", joint.damping),
                    ("rotational_stiffness", joint.rotational_stiffness),
                    ("rotational_damping", joint.rotational_damping),
                ];
                for (key, value) in numbers {
                    if let Some(value) = value {
                        self.number(&at(key), value, Sign::NotNegative);
                    }
                }
                self.numbers(&at("at"), joint.at.iter().flatten());
                if matches!(joint.joint_type, JointType::Revolute | JointType::Prismatic) {
                    self.unit(&at("axis"), &joint.axis[0]);
                    if joint.axis[0] != joint.axis[1] {
                        self.unit(&at("second_axis"), &joint.axis[1]);
                    }
                }
                self.profiles(&at("torque"), &joint.torque);
                if let Some(friction) = &joint.friction {
                    self.friction(&at("friction"), friction);
                    if friction.curve.limit.is_coefficient() && friction.normal_force.is_none() {
                        let message = format!("`{}` has a coefficient but no normal force", at("friction"));
                        let help = "write the limit itself: kinetic = \"0.5 Nm\", or add normal_force";
                        self.note(&at("friction"), message, help);
                    }
                }
                if joint.joint_type == JointType::Fixed {
                    let idle = [
                        ("torque", joint.torque.is_some()),
                        ("friction", joint.friction.is_some()),
                    ];
                    if let Some((key, _)) = idle.into_iter().find(|(_, given)| *given) {
                        let message = format!("a fixed joint does not move, so `{key}` has no effect");
                        self.note(&at(key), message, "leave it out, or choose another type");
                    }
                }
                (joint.between, None)
            }
            ElementSpec::Actuator(actuator) => {
                self.profiles(&at("value"), &actuator.value);
                (actuator.between, actuator.ratio)
            }
            ElementSpec::Gear(gear) => {
                for (key, value, sign) in [
                    ("stiffness", gear.stiffness, Sign::Positive),
                    ("damping", gear.damping, Sign::NotNegative),
                ] {
                    if let Some(value) = value {
                        self.number(&at(key), value, sign);
                    }
                }
                (gear.between, Some(gear.ratio))
            }
            ElementSpec::Own(own) => {
                for held in &own.connections {
                    self.hold(path, element, held.between, held.ratio);
                    self.numbers(&at("at"), held.at.iter().flatten());
                }
                return;
            }
            ElementSpec::OwnContact(contact) => {
                if let Some(plane) = &contact.surface {
                    self.unit(&at("surface.plane.normal"), &plane.normal);
                    self.number(&at("surface.plane.offset"), plane.offset, Sign::Any);
                }
                (contact.between, None)
            }
        };
        self.hold(path, element, between, ratio);
    }

    /// What an element takes hold of.
    fn hold(&mut self, path: &str, element: &ElementSpec, between: [Port; 2], ratio: Option<[f64; 2]>) {
        let at = |key: &str| format!("{path}.{key}");
        self.numbers(&at("ratio"), ratio.iter().flatten());
        if let Some(message) = ratio.and_then(|ratio| ratio_fault(&at("ratio"), &ratio)) {
            self.note(&at("ratio"), message, "write, for example: ratio = [1, 2]");
        }
        if between.into_iter().all(|port| self.port(path, port)) {
            self.ends(path, element, between, ratio.is_some());
        }
    }

    /// Whether a port is there: one of another model may name what this one does not have.
    fn port(&mut self, path: &str, port: Port) -> bool {
        let bodies = &self.scenario.bodies;
        let there = match port {
            Port::Ground => true,
            Port::Body(body) => body < bodies.len(),
            Port::Link { body, link } | Port::Joint { body, link } => match bodies.get(body) {
                Some((_, BodySpec::Linkage(linkage))) => link < linkage.links.len(),
                Some((_, BodySpec::Own(own))) => {
                    let parts = match port {
                        Port::Link { .. } => own.body.frames(),
                        _ => own.body.coordinates(),
                    };
                    link < parts.len()
                }
                _ => false,
            },
        };
        if !there {
            let message = format!("`{path}` is attached to {port:?}, which this model does not have");
            self.note(
                path,
                message,
                "use what this model's `mass`, `driver`, `body` … returned",
            );
        }
        there
    }

    fn parameters(&mut self, path: &str, parameters: &[ParameterSpec]) {
        for parameter in parameters {
            let at = format!("{path}.{}", parameter.name);
            match &parameter.value {
                ParameterValue::Number(number) => self.number(&at, number.value, Sign::Any),
                ParameterValue::Numbers(numbers) => self.numbers(&at, numbers.iter().map(|number| &number.value)),
                ParameterValue::Word(_) | ParameterValue::Flag(_) => (),
            }
        }
    }

    fn friction(&mut self, path: &str, friction: &FrictionLawSpec) {
        let at = |key: &str| format!("{path}.{key}");
        let curve = &friction.curve;
        let (keys, levels) = match &curve.limit {
            LimitSpec::Force { kinetic, static_ } => (["kinetic", "static"], Some([*kinetic, *static_])),
            LimitSpec::Coefficient { kinetic, static_ } => (["mu", "mu_static"], Some([*kinetic, *static_])),
            LimitSpec::Given {
                forward,
                backward,
                static_,
                ..
            } => {
                for (key, side) in [("force", Some(forward)), ("backward", backward.as_ref())] {
                    let Some(CurveSide::Points(speed, force)) = side else {
                        continue;
                    };
                    self.numbers(&at("table.speed"), speed);
                    self.numbers(&at(&format!("table.{key}")), force);
                    if let Some((key, message)) = curve_fault(speed, (key, force)) {
                        let message = format!("`{}`: {message}", at("table"));
                        self.note(
                            &at(&format!("table.{key}")),
                            message,
                            "one force for every speed, speeds increasing from 0",
                        );
                    }
                }
                if let Some(holding) = static_ {
                    self.number(&at("static"), *holding, Sign::NotNegative);
                }
                (["", ""], None)
            }
        };
        if let Some([kinetic, holding]) = levels {
            self.number(&at(keys[0]), kinetic, Sign::NotNegative);
            // One that was left out is equal, and has no fault of its own.
            if holding.to_bits() != kinetic.to_bits() {
                self.number(&at(keys[1]), holding, Sign::NotNegative);
                self.found.extend(limit_fault((keys[0], kinetic), (keys[1], holding)));
            }
        }
        if let Some(ellipse) = &friction.ellipse {
            self.number(&at("across"), ellipse.across, Sign::Positive);
            self.numbers(&at("direction"), &ellipse.direction);
        }
        self.number(&at("viscous"), curve.viscous, Sign::NotNegative);
        if let Some(velocity) = curve.stribeck_velocity {
            self.number(&at("stribeck_velocity"), velocity, Sign::Positive);
        }
        self.number(&at("stribeck_exponent"), curve.stribeck_exponent, Sign::Positive);
        match &friction.normal_force {
            Some(NormalForce::Profile(profile)) => self.profiles(&at("normal_force"), [profile]),
            Some(NormalForce::Element(index)) if *index >= self.scenario.elements.len() => {
                let message = format!("there is no element number {index}");
                self.note(
                    &at("normal_force"),
                    message,
                    "use the number that this model's `element` returned",
                );
            }
            _ => (),
        }
        self.parameters(path, &friction.parameters);
    }
}
