//! Rules of what elements act between, in the words of the reader (`read/ends.rs`).

use super::{Faults, Sign, plural};
use crate::scenario::keys;
use crate::scenario::spec::*;

/// How the motion of a port is counted.
#[derive(Clone, Copy, PartialEq)]
enum Motion {
    Ground,
    /// A point in so many dimensions.
    Point(usize),
    Turn,
    /// One coordinate, m or rad.
    Scalar,
    Rigid,
    /// A joint without a single coordinate.
    NoCoordinate,
}

impl Motion {
    fn is_scalar(self) -> bool {
        matches!(self, Self::Ground | Self::Point(1) | Self::Turn | Self::Scalar)
    }

    fn describe(self) -> String {
        match self {
            Self::Point(1) => "moves along a line".into(),
            Self::Point(n) => format!("is a point in {n} dimensions"),
            Self::Turn => "turns".into(),
            Self::Rigid => "is a rigid body".into(),
            Self::NoCoordinate => "is a joint without a single coordinate".into(),
            Self::Ground => "is the fixed world".into(),
            Self::Scalar => "has one coordinate".into(),
        }
    }
}

/// How a port moves; `None` if it is none of this scenario, or a linkage as a whole.
fn motion(scenario: &Scenario, port: Port) -> Option<Motion> {
    let body = match port {
        Port::Ground => return Some(Motion::Ground),
        Port::Body(body) | Port::Link { body, .. } | Port::Joint { body, .. } => &scenario.bodies.get(body)?.1,
    };
    Some(match (body, port) {
        (BodySpec::Mass(mass), Port::Body(_)) => Motion::Point(mass.position.len()),
        (BodySpec::Inertia(_), Port::Body(_)) => Motion::Turn,
        (BodySpec::Driver(driver), Port::Body(_)) => match (driver.motion.profiles().len(), driver.angular) {
            (1, None) => Motion::Scalar,
            (1, Some(true)) => Motion::Turn,
            (count, _) => Motion::Point(count),
        },
        (BodySpec::RigidBody(_), Port::Body(_)) => Motion::Rigid,
        (BodySpec::Linkage(linkage), Port::Link { link, .. }) => linkage.links.get(link).map(|_| Motion::Rigid)?,
        (BodySpec::Linkage(linkage), Port::Joint { link, .. }) => match linkage.links.get(link)?.joint_type {
            _ if linkage.floating && link == 0 => Motion::NoCoordinate,
            JointType::Revolute => Motion::Turn,
            JointType::Prismatic => Motion::Point(1),
            JointType::Spherical | JointType::Fixed => Motion::NoCoordinate,
        },
        (BodySpec::Own(_), Port::Joint { .. }) => Motion::Scalar,
        (BodySpec::Own(_), Port::Link { .. }) => Motion::Rigid,
        _ => return None,
    })
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

fn kind(element: &ElementSpec) -> &'static str {
    match element {
        ElementSpec::Spring(_) => "spring",
        ElementSpec::Friction(_) => "friction",
        ElementSpec::Contact(_) => "contact",
        ElementSpec::Stop(_) => "stop",
        ElementSpec::Joint(_) => "joint",
        ElementSpec::Actuator(_) => "actuator",
        ElementSpec::Gear(_) => "gear",
        ElementSpec::Own(_) => "equations",
        ElementSpec::OwnContact(_) => "contact",
    }
}

impl Faults<'_> {
    /// Whether an element can act between its ports, which exist.
    pub(super) fn ends(&mut self, path: &str, element: &ElementSpec, ports: [Port; 2], has_ratio: bool) {
        let names = ports.map(|port| self.scenario.port_name(port));
        let between = format!("{path}.between");
        if ports[0] == ports[1] {
            let message = format!("`{path}` joins `{}` to itself", names[0]);
            let help = "name two different bodies; `ground` is the fixed world";
            return self.note(&between, message, help);
        }
        let motions = ports.map(|port| motion(self.scenario, port));
        for (name, motion) in names.iter().zip(motions) {
            if motion.is_none() {
                let message = format!("`{name}` is a linkage: say which joint or link");
                return self.note(&between, message, "take a port of it: `joint_port` or `link_port`");
            }
        }
        let motions = motions.map(|motion| motion.unwrap_or(Motion::Ground));
        let kind = kind(element);
        let scalar = motions.iter().all(|motion| motion.is_scalar());
        let described = [0, 1]
            .map(|i| format!("`{}` {}", names[i], motions[i].describe()))
            .join(" and ");
        let (message, help) = if let Some(i) = motions.iter().position(|motion| *motion == Motion::NoCoordinate) {
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
                    "use a contact with friction, or act on a joint",
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
                    "for the end of a rotation use a stop",
                ),
                "contact" if motions[0] == Motion::Ground => (
                    "the first body of a contact is the one that touches; here it is the ground".into(),
                    "swap the two: the surface belongs to the second",
                ),
                _ if has_ratio && !scalar => (
                    format!("`ratio` is for bodies with one coordinate, but {described}"),
                    "leave out `ratio`",
                ),
                "contact" | "joint" => return self.fitted(path, element, motions),
                _ => match mismatch(motions, has_ratio) {
                    Some(help) => (format!("these two do not fit together: {described}"), help),
                    None => return self.fitted(path, element, motions),
                },
            }
        };
        self.note(&between, message, help);
    }

    /// Rules that need to know how the ends of an element move, once they fit.
    fn fitted(&mut self, path: &str, element: &ElementSpec, motions: [Motion; 2]) {
        let at = |key: &str| format!("{path}.{key}");
        let scalar = motions.iter().all(|motion| motion.is_scalar());
        let dimension = motions.iter().map(|motion| match motion {
            Motion::Point(n) => *n,
            Motion::Rigid => 3,
            _ => 1,
        });
        let dimension = dimension.max().unwrap_or(1);
        match element {
            ElementSpec::Spring(spring) => {
                if spring.length != 0.0 && spring.preload.is_some() {
                    let help = "either one says how far the spring is stretched at the start: keep one";
                    self.note(
                        &at("preload"),
                        format!("`{path}` has both `length` and `preload`"),
                        help,
                    );
                }
                if dimension > 1 && spring.length < 0.0 {
                    let message = "a spring in the plane or in space cannot have a negative length";
                    self.note(
                        &at("length"),
                        message,
                        "lengths below 0 have a meaning only along a line",
                    );
                }
                if scalar && spring.at != [[0.0; 3]; 2] {
                    let message = "`at` is for springs between points in 2-D or 3-D";
                    self.note(&at("at"), message, "along a line write `length`, the distance at rest");
                }
            }
            ElementSpec::Contact(contact) if contact.surface.is_none() => {
                let shapes = contact.between.map(|port| shape_of(self.scenario, port));
                if !shapes.iter().all(|shape| matches!(shape, Some(Shape::Sphere(_)))) {
                    let contact = keys::ELEMENTS.iter().find(|(kind, _)| *kind == "contact");
                    let says = contact
                        .and_then(|(_, keys)| keys.get("surface"))
                        .map_or("", |key| key.doc);
                    let help = "only two spheres touch without one: give a plane";
                    self.note(&at("surface"), format!("`{path}` has no `surface` ({says})"), help);
                }
            }
            ElementSpec::Actuator(actuator) if actuator.value.len() != dimension => {
                let count = actuator.value.len();
                let message = format!(
                    "`{}` has {count} {}, but the bodies have {dimension} {}",
                    at("value"),
                    plural(count, "component"),
                    plural(dimension, "dimension")
                );
                self.note(&at("value"), message, "give one profile per axis");
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
        let gravity = self.scenario.simulation.gravity.is_some();
        let reason = match body {
            Some(BodySpec::Mass(mass)) if mass.position.len() == 1 => match (mass.axis, gravity) {
                (None, _) => "the body has no `axis`, so its weight has no part across the motion",
                (Some(_), false) => "there is no gravity",
                (Some(_), true) => return,
            },
            Some(_) => "the weight is taken for a mass along a line only",
            None => "the weight is taken only where the partner is the ground",
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

fn shape_of(scenario: &Scenario, port: Port) -> Option<Shape> {
    match port {
        Port::Body(body) => match &scenario.bodies.get(body)?.1 {
            BodySpec::RigidBody(rigid) => rigid.shape,
            _ => None,
        },
        Port::Link { body, link } => match &scenario.bodies.get(body)?.1 {
            BodySpec::Linkage(linkage) => linkage.links.get(link)?.shape,
            _ => None,
        },
        _ => None,
    }
}
