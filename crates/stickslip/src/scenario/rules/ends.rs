//! Rules of what elements act between, for the reader (`read/ends.rs`) and for models in Rust.

use super::{Fault, Faults, Sign, count_of_ends};
use crate::scenario::keys;
use crate::scenario::spec::*;

/// How the motion of a port is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::scenario) enum Motion {
    /// Does not move.
    Ground,
    /// A point in 1, 2 or 3 dimensions, in m.
    Point(usize),
    /// An angle, in rad.
    Turn,
    /// One coordinate that may be m or rad.
    Scalar,
    /// A rigid body or a link.
    Rigid,
    /// A joint without a single coordinate.
    NoCoordinate,
    /// A body that could not be read.
    Unread,
}

impl Motion {
    pub fn is_scalar(self) -> bool {
        matches!(
            self,
            Self::Ground | Self::Point(1) | Self::Turn | Self::Scalar | Self::Unread
        )
    }

    pub fn describe(self) -> String {
        match self {
            Self::Point(1) => "moves along a line".into(),
            Self::Point(n) => format!("is a point in {n} dimensions"),
            Self::Turn => "turns".into(),
            Self::Rigid => "is a rigid body".into(),
            Self::NoCoordinate => "is a joint without a single coordinate".into(),
            Self::Ground => "is the fixed world".into(),
            Self::Scalar | Self::Unread => "has one coordinate".into(),
        }
    }

    /// Of a port of a body; `None` if the body has no such port, or is a linkage as a whole.
    pub fn of(body: &BodySpec, port: Port) -> Option<Self> {
        Some(match (body, port) {
            (BodySpec::Mass(mass), Port::Body(_)) => Self::Point(mass.position.len()),
            (BodySpec::Inertia(_), Port::Body(_)) => Self::Turn,
            (BodySpec::Driver(driver), Port::Body(_)) => match (driver.motion.profiles().len(), driver.angular) {
                (1, None) => Self::Scalar,
                (1, Some(true)) => Self::Turn,
                (count, _) => Self::Point(count),
            },
            (BodySpec::RigidBody(_), Port::Body(_)) => Self::Rigid,
            (BodySpec::Linkage(linkage), Port::Link { link, .. }) => linkage.links.get(link).map(|_| Self::Rigid)?,
            (BodySpec::Linkage(linkage), Port::Joint { link, .. }) => match linkage.links.get(link)?.joint_type {
                _ if linkage.floating && link == 0 => Self::NoCoordinate,
                JointType::Revolute => Self::Turn,
                JointType::Prismatic => Self::Point(1),
                JointType::Spherical | JointType::Fixed => Self::NoCoordinate,
            },
            (BodySpec::Own(_), Port::Joint { .. }) => Self::Scalar,
            (BodySpec::Own(_), Port::Link { .. }) => Self::Rigid,
            _ => return None,
        })
    }

    /// Dimensions of the relative motion of two points.
    pub fn dimension(motions: [Self; 2]) -> usize {
        let count = |motion: Self| match motion {
            Self::Point(n) => n,
            Self::Rigid => 3,
            _ => 1,
        };
        count(motions[0]).max(count(motions[1]))
    }
}

fn motion(scenario: &Scenario, port: Port) -> Option<Motion> {
    match port.body() {
        None => Some(Motion::Ground),
        Some(body) => Motion::of(&scenario.bodies.get(body)?.1, port),
    }
}

/// Why two motions have no difference, as advice; `None` if they have one.
fn mismatch(motions: [Motion; 2], has_ratio: bool) -> Option<&'static str> {
    match motions {
        [Motion::Ground, _] | [_, Motion::Ground] => None,
        [Motion::Point(1), Motion::Turn] | [Motion::Turn, Motion::Point(1)] => (!has_ratio).then_some(
            "say how m and rad are related, for example: ratio = [1, \"50 mm\"] for a line driven by a pulley of 50 mm",
        ),
        [Motion::Scalar, other] | [other, Motion::Scalar] if other.is_scalar() => None,
        [Motion::Turn, Motion::Turn] => None,
        [Motion::Rigid, Motion::Rigid | Motion::Point(3)] | [Motion::Point(3), Motion::Rigid] => None,
        [Motion::Point(a), Motion::Point(b)] if a == b => None,
        _ => {
            Some("give both bodies the same number of dimensions: a list as `position`, or as the profile of a driver")
        }
    }
}

/// The two ends of an element.
pub(in crate::scenario) struct Joined<'a> {
    pub kind: &'a str,
    pub path: &'a str,
    pub names: [&'a str; 2],
    pub ports: [Port; 2],
    pub motions: [Motion; 2],
    pub has_ratio: bool,
}

/// Why an element of this kind cannot act between its ends.
pub(in crate::scenario) fn ends_fault(joined: &Joined<'_>) -> Option<Fault> {
    let Joined {
        kind,
        path,
        names,
        ports,
        motions,
        has_ratio,
    } = *joined;
    if motions.contains(&Motion::Unread) {
        return None;
    }
    let scalar = motions.iter().all(|motion| motion.is_scalar());
    let described = [0, 1]
        .map(|i| format!("`{}` {}", names[i], motions[i].describe()))
        .join(" and ");
    let (message, help) = if ports[0] == ports[1] {
        (
            format!("`{path}` joins `{}` to itself", names[0]),
            "name two different bodies; `ground` is the fixed world",
        )
    } else if let Some(i) = motions.iter().position(|motion| *motion == Motion::NoCoordinate) {
        (
            format!("the joint `{}` has no single coordinate to act on", names[i]),
            "act on a revolute or prismatic joint, or between the links",
        )
    } else {
        match kind {
            "stop" | "gear" if !scalar => (
                format!("a {kind} acts between bodies with one coordinate, but {described}"),
                "use it on masses along a line, inertias and joints of linkages; for bodies in space use `contact` or `joint`",
            ),
            "friction" if motions.contains(&Motion::Rigid) => (
                format!("friction cannot act on a whole rigid body: {described}"),
                "use `kind = \"contact\"` with `friction`, or act `on` a joint",
            ),
            "joint"
                if !motions
                    .iter()
                    .all(|motion| matches!(motion, Motion::Rigid | Motion::Ground)) =>
            {
                (
                    format!("a joint holds rigid bodies, but {described}"),
                    "joint two rigid bodies, links, or one of them and the ground",
                )
            }
            "contact" if motions.contains(&Motion::Turn) => (
                format!("a contact needs bodies with a place, but {described}"),
                "for the end of a rotation use a `stop`",
            ),
            "contact" if motions[0] == Motion::Ground => (
                "the first body of a contact is the one that touches; here it is the ground".into(),
                "swap the two: the surface belongs to the second",
            ),
            _ if has_ratio && !scalar => (
                format!("`ratio` is for bodies with one coordinate, but {described}"),
                "leave out `ratio`",
            ),
            "contact" | "joint" => return None,
            _ => (
                format!("these two do not fit together: {described}"),
                mismatch(motions, has_ratio)?,
            ),
        }
    };
    Some((message, help))
}

/// What is wrong with where a spring is at rest: the key, and why. `length` and `preload` as they were given, `at` if points were.
pub(in crate::scenario) fn spring_faults(
    path: &str,
    motions: [Motion; 2],
    (length, preload, at): (Option<f64>, bool, bool),
) -> Vec<(&'static str, Fault)> {
    let mut faults = Vec::new();
    if length.is_some() && preload {
        let message = format!("`{path}` has both `length` and `preload`");
        let help = "either one says how far the spring is stretched at the start: keep one";
        faults.push(("preload", (message, help)));
    }
    if Motion::dimension(motions) > 1 && length.is_some_and(|length| length < 0.0) {
        let message = "a spring in the plane or in space cannot have a negative length".into();
        faults.push(("length", (message, "lengths below 0 have a meaning only along a line")));
    }
    if at && motions.iter().all(|motion| motion.is_scalar()) && !motions.contains(&Motion::Unread) {
        let message = "`at` is for springs between points in 2-D or 3-D".into();
        faults.push(("at", (message, "along a line write `length`, the distance at rest")));
    }
    faults
}

/// What is wrong with the two ends of a stop that has both.
pub(in crate::scenario) fn stop_fault(lower: f64, upper: f64) -> Option<Fault> {
    (lower >= upper).then(|| {
        (
            format!("`lower` ({lower}) is not below `upper` ({upper})"),
            "swap the two",
        )
    })
}

/// A stop without ends.
pub(in crate::scenario) fn no_stop(path: &str) -> Fault {
    (
        format!("`{path}` has neither `lower` nor `upper`"),
        "add, for example: upper = \"10 mm\"",
    )
}

/// Why the weight of a body gives no normal force to a coefficient of friction; `body` is what rubs on the ground.
pub(in crate::scenario) fn weight_fault(body: Option<&BodySpec>, gravity: bool) -> Option<&'static str> {
    match body {
        Some(BodySpec::Mass(mass)) if mass.position.len() == 1 => match (mass.axis, gravity) {
            (None, _) => Some("the body has no `axis`, so its weight has no part across the motion"),
            (Some(_), false) => Some("there is no gravity"),
            (Some(_), true) => None,
        },
        Some(_) => Some("the weight is taken for a mass along a line only"),
        None => Some("the weight is taken only where the partner is the ground"),
    }
}

impl Faults<'_> {
    /// Whether an element can act between its ports, which exist.
    pub(super) fn ends(&mut self, path: &str, element: &ElementSpec, ports: [Port; 2], has_ratio: bool) {
        let names = ports.map(|port| self.scenario.port_name(port));
        let between = format!("{path}.between");
        let motions = ports.map(|port| motion(self.scenario, port));
        for (name, motion) in names.iter().zip(motions) {
            if motion.is_none() {
                let message = format!("`{name}` is a linkage: say which joint or link");
                return self.note(&between, message, "take a port of it: `joint_port` or `link_port`");
            }
        }
        let motions = motions.map(|motion| motion.unwrap_or(Motion::Ground));
        let joined = Joined {
            kind: element.kind(),
            path,
            names: [&names[0], &names[1]],
            ports,
            motions,
            has_ratio,
        };
        match ends_fault(&joined) {
            Some((message, help)) => self.note(&between, message, help),
            None => self.fitted(path, element, motions),
        }
    }

    /// Rules that need to know how the ends of an element move, once they fit.
    fn fitted(&mut self, path: &str, element: &ElementSpec, motions: [Motion; 2]) {
        let at = |key: &str| format!("{path}.{key}");
        let dimension = Motion::dimension(motions);
        match element {
            ElementSpec::Spring(spring) => {
                let length = (spring.length != 0.0).then_some(spring.length);
                let given = (length, spring.preload.is_some(), spring.at != [[0.0; 3]; 2]);
                for (key, (message, help)) in spring_faults(path, motions, given) {
                    self.note(&at(key), message, help);
                }
            }
            ElementSpec::Contact(contact)
                if contact.surface.is_none()
                    && !are_spheres(contact.between, |body| Some(&self.scenario.bodies.get(body)?.1)) =>
            {
                let contact = keys::ELEMENTS.iter().find(|(kind, _)| *kind == "contact");
                let says = contact
                    .and_then(|(_, keys)| keys.get("surface"))
                    .map_or("", |key| key.doc);
                let help = "only two spheres touch without one: give a plane";
                self.note(&at("surface"), format!("`{path}` has no `surface` ({says})"), help);
            }
            ElementSpec::Actuator(actuator) if actuator.value.len() != dimension => {
                let (message, help) = count_of_ends(&at("value"), actuator.value.len(), dimension);
                self.note(&at("value"), message, help);
            }
            ElementSpec::Friction(spec)
                if spec.friction.curve.limit.is_coefficient() && spec.friction.normal_force.is_none() =>
            {
                self.weight(path, spec.between);
            }
            _ => (),
        }
    }

    /// Without a normal force, a coefficient needs the weight of a 1-D mass on the ground.
    fn weight(&mut self, path: &str, between: [Port; 2]) {
        let body = match between {
            [Port::Body(body), Port::Ground] | [Port::Ground, Port::Body(body)] => Some(&self.scenario.bodies[body].1),
            _ => None,
        };
        let Some(reason) = weight_fault(body, self.scenario.simulation.gravity.is_some()) else {
            return;
        };
        let message = format!("`{path}.mu` needs a normal force: {reason}");
        self.note(path, message, "give it a normal force, or the limit itself in N");
    }

    /// The law of a normal force.
    pub(super) fn normal(&mut self, path: &str, normal: &NormalLawSpec) {
        for parameter in &normal.parameters {
            let sign = match parameter.name.as_str() {
                "stiffness" | "damping" | "restitution" => Sign::NotNegative,
                _ => Sign::Any,
            };
            if let ParameterValue::Number(number) = parameter.value {
                self.number(&format!("{path}.{}", parameter.name), number.value, sign);
            }
        }
    }
}

/// Whether both ports are spheres, which touch without a surface.
pub(in crate::scenario) fn are_spheres<'a>(ports: [Port; 2], body: impl Fn(usize) -> Option<&'a BodySpec>) -> bool {
    let shape = |port: Port| match (body(port.body()?)?, port) {
        (BodySpec::RigidBody(rigid), Port::Body(_)) => rigid.shape.as_ref(),
        (BodySpec::Linkage(linkage), Port::Link { link, .. }) => linkage.links.get(link)?.shape.as_ref(),
        _ => None,
    };
    ports
        .into_iter()
        .all(|port| matches!(shape(port), Some(Shape::Sphere(_))))
}
