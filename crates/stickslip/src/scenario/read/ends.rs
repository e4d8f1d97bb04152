//! What elements are attached to: ports, how their motion is counted, and which can be joined.

use super::bodies::Body;
pub(super) use super::rules::Motion;
use super::*;

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
pub(in crate::scenario) struct Ends {
    pub ports: [Port; 2],
    pub motions: [Motion; 2],
}

impl Ends {
    /// Dimensions of the relative motion of two points.
    pub fn dimension(&self) -> usize {
        Motion::dimension(self.motions)
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
}

/// What the elements may refer to.
pub(in crate::scenario) struct Surroundings<'a> {
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

    /// Whether a `ratio` that is written as a length stands at a body that turns: it makes a distance of an angle. Of a distance it would make an
    /// area.
    pub(super) fn check_lengths(&mut self, section: &Section<'_>, ends: &Ends, around: &Surroundings<'_>) -> bool {
        let Some(Value::List(entries)) = section.table.get("ratio").map(|entry| &entry.node.value) else {
            return true;
        };
        let length = |node: &Node| match &node.value {
            Value::Text(text) => matches!(parse_quantity(text), Ok(Some((_, Dimension::LENGTH)))),
            _ => false,
        };
        let mut places = entries.iter().zip(ends.motions).zip(ends.ports);
        let Some(((_, _), port)) = places.find(|((node, motion), _)| length(node) && *motion == Motion::Point(1))
        else {
            return true;
        };
        let names = around.ports.iter().find(|(_, other, _)| *other == port);
        let name = names.map_or("ground", |(name, ..)| name.as_str());
        let message = format!(
            "`{}` is a length at `{name}`, which moves along a line: a length belongs to what turns",
            section.path_of("ratio")
        );
        let help = format!(
            "write a length at the body that turns, or give the motion of `{name}` as an angle: \"60 rpm\", \"1 rad/s\""
        );
        self.report_at(section, "ratio", message, help);
        false
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
        let joined = rules::Joined {
            kind,
            path: &section.path,
            names: [name(0), name(1)],
            ports: ends.ports,
            motions: ends.motions,
            has_ratio,
        };
        match rules::ends_fault(&joined) {
            Some((message, help)) => {
                self.report_at(section, key, message, help);
                false
            }
            None => true,
        }
    }
}

/// Everything an element can name.
pub(super) fn ports(bodies: &[Body]) -> Vec<(String, Port, Motion)> {
    let mut ports = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        let Some(spec) = &body.spec else { continue };
        let parts: Vec<(String, Port)> = match spec {
            BodySpec::Own(own) => {
                let (coordinates, frames) = (own.body.coordinates(), own.body.frames());
                let joints = coordinates.iter().enumerate();
                let links = frames.iter().enumerate();
                joints
                    .map(|(link, name)| (name.to_string(), Port::Joint { body: index, link }))
                    .chain(links.map(|(link, name)| (name.to_string(), Port::Link { body: index, link })))
                    .collect()
            }
            BodySpec::Linkage(linkage) => {
                let links = linkage.links.iter().enumerate();
                links
                    .flat_map(|(link, spec)| {
                        [
                            (spec.joint.clone(), Port::Joint { body: index, link }),
                            (spec.name.clone(), Port::Link { body: index, link }),
                        ]
                    })
                    .collect()
            }
            _ => {
                let motion = Motion::of(spec, Port::Body(index)).unwrap_or(Motion::Unread);
                ports.push((body.name.clone(), Port::Body(index), motion));
                continue;
            }
        };
        for (part, port) in parts {
            let motion = Motion::of(spec, port).unwrap_or(Motion::Unread);
            ports.push((format!("{}.{part}", body.name), port, motion));
        }
    }
    ports.push(("ground".to_string(), Port::Ground, Motion::Ground));
    ports
}
