//! What elements are attached to: ports, how their motion is counted, and which can be joined.

use super::bodies::Body;
use super::*;

/// How the motion of a port is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    /// Does not move.
    Ground,
    /// A point in 1, 2 or 3 dimensions, in m.
    Point(usize),
    /// An angle, in rad.
    Turn,
    /// A driver of one coordinate that may be m or rad.
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
}

/// Units of an element: of a line, of a rotation, or whichever is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Nature {
    Linear,
    Angular,
    Either,
}

impl Nature {
    pub fn pick(self, both: &'static [Dimension; 2]) -> &'static [Dimension] {
        match self {
            Self::Linear => &both[..1],
            Self::Angular => &both[1..],
            Self::Either => both,
        }
    }
    pub fn force(self) -> &'static [Dimension] {
        self.pick(&[Dimension::FORCE, Dimension::TORQUE])
    }
    pub fn stiffness(self) -> &'static [Dimension] {
        self.pick(&[Dimension::STIFFNESS, Dimension::ROTATIONAL_STIFFNESS])
    }
    pub fn damping(self) -> &'static [Dimension] {
        self.pick(&[Dimension::DAMPING, Dimension::ROTATIONAL_DAMPING])
    }
    pub fn length(self) -> &'static [Dimension] {
        self.pick(&[Dimension::LENGTH, Dimension::ANGLE])
    }
    pub fn velocity(self) -> &'static [Dimension] {
        self.pick(&[Dimension::VELOCITY, Dimension::ANGULAR_VELOCITY])
    }
}

/// The two ports of an element.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub ports: [Port; 2],
    pub motions: [Motion; 2],
}

impl Ends {
    /// Dimensions of the relative motion of two points.
    pub fn dimension(&self) -> usize {
        let count = |motion: &Motion| match motion {
            Motion::Point(n) => *n,
            Motion::Rigid => 3,
            _ => 1,
        };
        self.motions.iter().map(count).max().unwrap_or(1)
    }

    pub fn nature(&self, has_ratio: bool) -> Nature {
        let any = |wanted: fn(&Motion) -> bool| self.motions.iter().any(wanted);
        if has_ratio || any(|motion| *motion == Motion::Unread) {
            Nature::Either
        } else if any(|motion| matches!(motion, Motion::Point(_) | Motion::Rigid)) {
            Nature::Linear
        } else if any(|motion| *motion == Motion::Turn) {
            Nature::Angular
        } else {
            Nature::Either
        }
    }

    pub fn both_scalar(&self) -> bool {
        self.motions.iter().all(|motion| motion.is_scalar())
    }
}

/// What the elements may refer to.
pub(super) struct Surroundings<'a> {
    pub bodies: &'a [Body],
    pub ports: Vec<(String, Port, Motion)>,
    pub elements: Vec<&'a str>,
    pub gravity: bool,
}

impl Reader {
    pub(super) fn ratio(&mut self, section: &Section<'_>) -> Option<[f64; 2]> {
        let ratio = self.vector(section, "ratio", &[Dimension::NONE, Dimension::LENGTH])?;
        if let Some(message) = rules::ratio_fault(&section.path_of("ratio"), &ratio) {
            self.report_at(
                section,
                "ratio",
                message,
                "relative motion is r1*q1 - r2*q2, for example: ratio = [\"50 mm\", 1]",
            );
            return None;
        }
        Some([ratio[0], ratio[1]])
    }

    pub(super) fn ends(&mut self, section: &Section<'_>, around: &Surroundings<'_>) -> Option<Ends> {
        let on = if section.keys.get("on").is_some() {
            section.get("on")
        } else {
            None
        };
        let takes_on = section.keys.get("on").is_some();
        let (first, second) = match (section.get("between"), on) {
            (Some(_), Some(on)) => {
                self.report(
                    on.key_span,
                    format!("`{}` has both `between` and `on`", section.path),
                    "`between` names two bodies, `on` one joint (or one body, against the ground): keep one",
                );
                return None;
            }
            (None, None) => {
                let help = if takes_on {
                    "add, for example: between = [\"block\", \"ground\"], or on = \"arm.shoulder\""
                } else {
                    "add, for example: between = [\"block\", \"ground\"]"
                };
                self.report(
                    section.span,
                    format!("`{}` does not say what it acts on", section.path),
                    help,
                );
                return None;
            }
            (Some(_), None) => {
                let names = self.texts(section, "between")?;
                let ends: Vec<_> = names
                    .iter()
                    .map(|(name, span)| self.port(name, *span, around))
                    .collect();
                (ends[0]?, ends[1]?)
            }
            (None, Some(entry)) => {
                let name = self.text(section, "on")?;
                (
                    self.port(&name, entry.node.span, around)?,
                    (Port::Ground, Motion::Ground),
                )
            }
        };
        Some(Ends {
            ports: [first.0, second.0],
            motions: [first.1, second.1],
        })
    }

    fn port(&mut self, name: &str, span: Span, around: &Surroundings<'_>) -> Option<(Port, Motion)> {
        if let Some((_, port, motion)) = around.ports.iter().find(|(port, ..)| port == name) {
            return Some((*port, *motion));
        }
        let (body, part) = name.split_once('.').unwrap_or((name, ""));
        // What could not be read has been reported: no second finding for it.
        if let Some(index) = around
            .bodies
            .iter()
            .position(|other| other.name == body && other.spec.is_none())
        {
            return Some((Port::Body(index), Motion::Unread));
        }
        if self.strays.iter().any(|stray| stray == body) {
            return None;
        }
        let names = around.ports.iter().map(|(port, ..)| port.as_str());
        let parts: Vec<&str> = names
            .clone()
            .filter(|port| port.strip_prefix(body).is_some_and(|rest| rest.starts_with('.')))
            .collect();
        let (message, help) = if part.is_empty() && !parts.is_empty() {
            (
                match around
                    .bodies
                    .iter()
                    .find(|other| other.name == body)
                    .map(|other| &other.spec)
                {
                    Some(Some(BodySpec::Own(_))) => {
                        format!("`{name}` is a body of equations: say which coordinate or frame")
                    }
                    _ => format!("`{name}` is a linkage: say which joint or link"),
                },
                format!("it has {}", list_words(parts)),
            )
        } else {
            let help = match nearest(name, names.clone()) {
                Some(port) => format!("did you mean \"{port}\"?"),
                None if !parts.is_empty() => format!("`{body}` has {}", list_words(parts)),
                None if around.elements.contains(&name) => {
                    format!("`{name}` is an element; elements act on bodies: {}", list_words(names))
                }
                None => format!("the bodies are {}", list_words(names)),
            };
            (format!("there is no body `{}`", shorten(name)), help)
        };
        self.report(span, message, help);
        None
    }

    /// Whether this kind of element can act between such ports.
    pub(super) fn check_ends(
        &mut self,
        kind: &str,
        section: &Section<'_>,
        ends: &Ends,
        around: &Surroundings<'_>,
        has_ratio: bool,
    ) -> bool {
        let key = if section.table.get("between").is_some() {
            "between"
        } else {
            "on"
        };
        let name = |index: usize| {
            let port = ends.ports[index];
            around
                .ports
                .iter()
                .find(|(_, other, _)| *other == port)
                .map_or("ground", |(name, ..)| name.as_str())
        };
        if ends.motions.contains(&Motion::Unread) {
            return true;
        }
        let described: Vec<String> = (0..2)
            .map(|i| format!("`{}` {}", name(i), ends.motions[i].describe()))
            .collect();
        let described = described.join(" and ");
        let refusal: Option<(String, String)> = if ends.ports[0] == ends.ports[1] {
            Some((
                format!("`{}` joins `{}` to itself", section.path, name(0)),
                "name two different bodies; `ground` is the fixed world".into(),
            ))
        } else if ends.motions.contains(&Motion::NoCoordinate) {
            let index = usize::from(ends.motions[1] == Motion::NoCoordinate);
            Some((
                format!("the joint `{}` has no single coordinate to act on", name(index)),
                "act on a revolute or prismatic joint, or between the links".into(),
            ))
        } else {
            match kind {
                "stop" | "gear" if !ends.both_scalar() => Some((
                    format!("a {kind} acts between bodies with one coordinate, but {described}"),
                    "use it on masses along a line, inertias and joints of linkages; for bodies in space use `contact` or `joint`".into(),
                )),
                "friction" if ends.motions.contains(&Motion::Rigid) => Some((
                    format!("friction cannot act on a whole rigid body: {described}"),
                    "use kind = \"contact\" with `friction = { law = … }`, or act `on` a joint".into(),
                )),
                "joint" if !ends.motions.iter().all(|motion| matches!(motion, Motion::Rigid | Motion::Ground)) => Some((
                    format!("a joint holds rigid bodies, but {described}"),
                    "joint two bodies of kind = \"rigid-body\", links, or one of them and \"ground\"".into(),
                )),
                "contact" if ends.motions.iter().any(|motion| matches!(motion, Motion::Turn)) => Some((
                    format!("a contact needs bodies with a place, but {described}"),
                    "for the end of a rotation use kind = \"stop\"".into(),
                )),
                "contact" if ends.motions[0] == Motion::Ground => Some((
                    "the first body of a contact is the one that touches; here it is the ground".into(),
                    "swap the two names: the surface belongs to the second".into(),
                )),
                _ if has_ratio && !ends.both_scalar() => Some((
                    format!("`ratio` is for bodies with one coordinate, but {described}"),
                    "leave out `ratio`".into(),
                )),
                "contact" | "joint" => None,
                _ => mismatch(ends, has_ratio).map(|help| (format!("these two do not fit together: {described}"), help.to_string())),
            }
        };
        match refusal {
            Some((message, help)) => {
                self.report_at(section, key, message, help);
                false
            }
            None => true,
        }
    }
}

/// Why two motions have no difference, as advice; `None` if they have one.
fn mismatch(ends: &Ends, has_ratio: bool) -> Option<&'static str> {
    match ends.motions {
        [Motion::Ground, _] | [_, Motion::Ground] => None,
        [Motion::Point(1), Motion::Turn] | [Motion::Turn, Motion::Point(1)] => (!has_ratio).then_some(
            "say how m and rad are related, for example: ratio = [1, \"50 mm\"] for a line driven by a pulley of 50 mm",
        ),
        [Motion::Scalar, Motion::Point(1) | Motion::Turn] | [Motion::Point(1) | Motion::Turn, Motion::Scalar] => None,
        [Motion::Scalar, Motion::Scalar] | [Motion::Turn, Motion::Turn] => None,
        [Motion::Rigid, Motion::Rigid | Motion::Point(3)] | [Motion::Point(3), Motion::Rigid] => None,
        [Motion::Point(a), Motion::Point(b)] if a == b => None,
        _ => {
            Some("give both bodies the same number of dimensions: a list as `position`, or as the profile of a driver")
        }
    }
}

/// Everything an element can name.
pub(super) fn ports(bodies: &[Body]) -> Vec<(String, Port, Motion)> {
    let mut ports = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        let motion = match &body.spec {
            None => continue,
            Some(BodySpec::Own(own)) => {
                for (link, coordinate) in own.body.coordinates().iter().enumerate() {
                    let port = Port::Joint { body: index, link };
                    ports.push((format!("{}.{coordinate}", body.name), port, Motion::Scalar));
                }
                for (link, frame) in own.body.frames().iter().enumerate() {
                    let port = Port::Link { body: index, link };
                    ports.push((format!("{}.{frame}", body.name), port, Motion::Rigid));
                }
                continue;
            }
            Some(BodySpec::Mass(mass)) => Motion::Point(mass.position.len()),
            Some(BodySpec::Inertia(_)) => Motion::Turn,
            Some(BodySpec::Driver(driver)) => match (driver.motion.profiles().len(), driver.angular) {
                (1, None) => Motion::Scalar,
                (1, Some(true)) => Motion::Turn,
                (count, _) => Motion::Point(count),
            },
            Some(BodySpec::RigidBody(_)) => Motion::Rigid,
            Some(BodySpec::Linkage(linkage)) => {
                for (link, spec) in linkage.links.iter().enumerate() {
                    let motion = match spec.joint_type {
                        _ if linkage.floating && link == 0 => Motion::NoCoordinate,
                        JointType::Revolute => Motion::Turn,
                        JointType::Prismatic => Motion::Point(1),
                        JointType::Spherical | JointType::Fixed => Motion::NoCoordinate,
                    };
                    ports.push((
                        format!("{}.{}", body.name, spec.joint),
                        Port::Joint { body: index, link },
                        motion,
                    ));
                    ports.push((
                        format!("{}.{}", body.name, spec.name),
                        Port::Link { body: index, link },
                        Motion::Rigid,
                    ));
                }
                continue;
            }
        };
        ports.push((body.name.clone(), Port::Body(index), motion));
    }
    ports.push(("ground".to_string(), Port::Ground, Motion::Ground));
    ports
}
