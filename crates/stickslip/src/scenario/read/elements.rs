//! `[elements.NAME]`.

use super::bodies::{Body, joint_type};
use super::ends::{Ends, Motion, Nature, Surroundings, ports};
use super::friction::Role;
use super::*;
use crate::element::own::{OwnElement, OwnLaw};
use crate::scenario::{Connection, OwnElementSpec};
use std::sync::Arc;

/// Where an element is: its ends, its `ratio`, and what else there is.
pub(in crate::scenario) struct Placing<'p> {
    pub(super) ends: &'p Ends,
    ratio: Option<[f64; 2]>,
    around: &'p Surroundings<'p>,
}

impl Placing<'_> {
    /// An element with this law between its two ends, at these points of bodies.
    pub(super) fn with_law(&self, law: impl OwnElement + 'static, at: [[f64; 3]; 2]) -> ElementSpec {
        ElementSpec::Own(OwnElementSpec {
            connections: vec![Connection {
                between: self.ends.ports,
                ratio: self.ratio,
                at,
                bodies: [None; 2],
            }],
            law: OwnLaw(Arc::new(law)),
        })
    }
}

/// Reads the keys of an element; what is wrong with them is reported.
pub(in crate::scenario) type ReadElement = fn(&mut Reader, &Section<'_>, &Placing<'_>) -> Option<ElementSpec>;

// One for each kind, named by its keys.
pub(in crate::scenario) const SPRING: ReadElement =
    |reader, section, at| reader.spring(section, at.ends, at.ratio).map(ElementSpec::Spring);
pub(in crate::scenario) const FRICTION: ReadElement =
    |reader, section, at| (reader.friction(section, at.ends, at.ratio, at.around)).map(ElementSpec::Friction);
pub(in crate::scenario) const CONTACT: ReadElement =
    |reader, section, at| reader.contact(section, at.ends, at.around).map(ElementSpec::Contact);
pub(in crate::scenario) const STOP: ReadElement =
    |reader, section, at| reader.stop(section, at.ends, at.ratio).map(ElementSpec::Stop);
pub(in crate::scenario) const JOINT: ReadElement =
    |reader, section, at| reader.joint(section, at.ends, at.around).map(ElementSpec::Joint);
pub(in crate::scenario) const ACTUATOR: ReadElement =
    |reader, section, at| reader.actuator(section, at.ends, at.ratio).map(ElementSpec::Actuator);
pub(in crate::scenario) const GEAR: ReadElement =
    |reader, section, at| reader.gear(section, at.ends, at.ratio).map(ElementSpec::Gear);
pub(in crate::scenario) const EQUATIONS: ReadElement = |reader, section, at| reader.element_equations(section, at);

impl Reader {
    pub(super) fn elements(
        &mut self,
        root: &Section<'_>,
        bodies: &[Body],
        simulation: &SimulationSpec,
    ) -> Vec<(String, Option<ElementSpec>)> {
        let Some(entry) = root.get("elements") else {
            return Vec::new();
        };
        let Value::Table(table) = &entry.node.value else {
            self.wrong_type(&entry.node, "elements", "a table of elements, [elements.NAME]", None);
            return Vec::new();
        };
        self.spans.insert("elements".to_string(), entry.key_span);
        let surroundings = Surroundings {
            bodies,
            ports: ports(bodies),
            elements: table.keys().collect(),
            gravity: simulation.gravity.is_some(),
        };
        let mut elements = Vec::new();
        for entry in &table.entries {
            self.check_name(&entry.key, entry.key_span, "element");
            if bodies.iter().any(|body| body.name == entry.key) {
                let (message, help) = rules::taken(&entry.key);
                self.report(entry.key_span, message, help);
            }
            let spec = self
                .named_section("elements", entry, keys::ELEMENTS)
                .and_then(|(kind, section)| self.element(kind, &section, &surroundings));
            elements.push((entry.key.clone(), spec));
        }
        elements
    }

    fn element(&mut self, kind: &str, section: &Section<'_>, around: &Surroundings<'_>) -> Option<ElementSpec> {
        let before = self.diagnostics.len();
        let ratio = if section.keys.get("ratio").is_some() {
            self.ratio(section)
        } else {
            None
        };
        let has_ratio = section.table.get("ratio").is_some();
        let ends = self
            .ends(section, around)
            .filter(|ends| self.check_ends(kind, section, ends, around, has_ratio))
            .filter(|ends| self.check_lengths(section, ends, around));
        // Without its ends an element is still read, so that its other slips show too.
        let ends_or = ends.unwrap_or(Ends {
            ports: [Port::Ground; 2],
            motions: [Motion::Unread; 2],
        });
        let place = Placing {
            ends: &ends_or,
            ratio,
            around,
        };
        let spec = section.keys.element.and_then(|read| read(self, section, &place));
        if self.diagnostics.len() > before { None } else { spec }
    }

    fn spring(&mut self, section: &Section<'_>, ends: &Ends, ratio: Option<[f64; 2]>) -> Option<SpringSpec> {
        let nature = ends.nature(section.get("ratio").is_some());
        let stiffness = self.number(section, "stiffness", nature.stiffness(), Sign::NotNegative);
        let damping = self.number(section, "damping", nature.damping(), Sign::NotNegative);
        let length = self.number(section, "length", nature.length(), Sign::Any);
        let preload = self.number(section, "preload", nature.force(), Sign::Any);
        let at = self.points_at(section);
        let given = |key: &str| section.get(key).is_some();
        // A length that could not be read has been reported.
        let written = length.or(given("length").then_some(0.0));
        let faults = rules::spring_faults(&section.path, ends.motions, (written, given("preload"), given("at")));
        for (key, (message, help)) in faults {
            match section.get(key) {
                Some(entry) if key != "length" => self.report(entry.key_span, message, help),
                _ => self.report_at(section, key, message, help),
            }
        }
        let implicit = self.flag(section, "implicit");
        Some(SpringSpec {
            between: ends.ports,
            stiffness: stiffness?,
            damping: damping.unwrap_or(0.0),
            length: length.unwrap_or(0.0),
            preload,
            at,
            ratio,
            implicit,
        })
    }

    /// Two points, each of two or three components.
    pub(super) fn points_at(&mut self, section: &Section<'_>) -> [[f64; 3]; 2] {
        let Some(entry) = section.get("at") else {
            return [[0.0; 3]; 2];
        };
        let path = section.path_of("at");
        let listed = section.keys.get("at");
        match &entry.node.value {
            Value::List(items) if items.len() == 2 => {
                let mut point = |node: &Node| {
                    let numbers = self.numbers_in(
                        node,
                        &path,
                        &[Dimension::LENGTH],
                        listed,
                        (2, 3),
                        "two points of 2 or 3 numbers",
                    );
                    numbers.map(|numbers| padded(&numbers)).unwrap_or_default()
                };
                [point(&items[0]), point(&items[1])]
            }
            _ => {
                self.wrong_type(&entry.node, &path, "a list of two points", listed);
                [[0.0; 3]; 2]
            }
        }
    }

    pub(super) fn plane(&mut self, surface: &Section<'_>) -> Option<Plane> {
        let plane = self.subsection(surface, "plane", &keys::PLANE)?;
        Some(Plane {
            normal: self.direction(&plane, "normal")?,
            offset: self
                .number(&plane, "offset", &[Dimension::LENGTH], Sign::Any)
                .unwrap_or(0.0),
        })
    }

    pub(super) fn normal_law(&mut self, section: &Section<'_>) -> Option<NormalLawSpec> {
        let inner = self.subsection(section, "normal", &keys::NORMAL)?;
        let law = self.text(&inner, "law");
        let parameters = self.parameters(&inner, |key| key == "law");
        for parameter in &parameters {
            let ParameterValue::Number(number) = parameter.value else {
                continue;
            };
            if number.value < 0.0 && matches!(parameter.name.as_str(), "stiffness" | "damping" | "restitution") {
                let message = format!(
                    "`{}` must not be negative, found {}",
                    inner.path_of(&parameter.name),
                    number.value
                );
                let listed = inner.keys.get(&parameter.name);
                self.report_example(inner.span_of(&parameter.name), message, listed);
            }
        }
        Some(NormalLawSpec { law: law?, parameters })
    }

    fn contact(&mut self, section: &Section<'_>, ends: &Ends, around: &Surroundings<'_>) -> Option<ContactSpec> {
        let surface = match self.subsection(section, "surface", &keys::SURFACE) {
            Some(surface) => self.plane(&surface),
            None => {
                let spheres = rules::are_spheres(ends.ports, |body| around.bodies.get(body)?.spec.as_ref());
                if section.get("surface").is_none() && !spheres && !ends.motions.contains(&Motion::Unread) {
                    self.missing(section, "surface");
                }
                None
            }
        };
        let normal = self.normal_law(section);
        let friction = match self.subsection(section, "friction", &keys::FRICTION_LAW) {
            Some(inner) => self.friction_law(&inner, Nature::Linear, Role::Contact, around),
            None => None,
        };
        Some(ContactSpec {
            between: ends.ports,
            surface,
            normal: normal?,
            friction,
        })
    }

    fn stop(&mut self, section: &Section<'_>, ends: &Ends, ratio: Option<[f64; 2]>) -> Option<StopSpec> {
        let nature = ends.nature(section.get("ratio").is_some());
        let lower = self.number(section, "lower", nature.length(), Sign::Any);
        let upper = self.number(section, "upper", nature.length(), Sign::Any);
        if section.get("lower").is_none() && section.get("upper").is_none() {
            let (message, help) = rules::no_stop(&section.path);
            self.report(section.span, message, help);
        }
        if let (Some(lower), Some(upper)) = (lower, upper)
            && let Some((message, help)) = rules::stop_fault(lower, upper)
        {
            self.report_at(section, "lower", message, help);
        }
        let normal = self.normal_law(section);
        Some(StopSpec {
            between: ends.ports,
            lower,
            upper,
            normal,
            ratio,
        })
    }

    fn joint(&mut self, section: &Section<'_>, ends: &Ends, around: &Surroundings<'_>) -> Option<JointSpec> {
        let kind = self.word(section, "type").map(joint_type);
        let at = self.points_at(section);
        let axis = self.axis_of(section, kind);
        let axis = [axis, self.direction(section, "second_axis").unwrap_or(axis)];
        let stiffness = self.number(section, "stiffness", &[Dimension::STIFFNESS], Sign::NotNegative);
        let damping = self.number(section, "damping", &[Dimension::DAMPING], Sign::NotNegative);
        let rotational_stiffness = self.number(
            section,
            "rotational_stiffness",
            &[Dimension::ROTATIONAL_STIFFNESS],
            Sign::NotNegative,
        );
        let rotational_damping = self.number(
            section,
            "rotational_damping",
            &[Dimension::ROTATIONAL_DAMPING],
            Sign::NotNegative,
        );
        let nature = match kind {
            Some(JointType::Prismatic) => Nature::Linear,
            None => Nature::Either,
            _ => Nature::Angular,
        };
        let friction = match self.subsection(section, "friction", &keys::FRICTION_LAW) {
            Some(inner) => {
                let friction = self.friction_law(&inner, nature, Role::Joint, around);
                if let Some(law) = &friction
                    && law.curve.limit.is_coefficient()
                    && law.normal_force.is_none()
                {
                    self.report_at(
                        &inner,
                        "mu",
                        format!("`{}` has a coefficient but no normal force", inner.path),
                        "write the limit itself: kinetic = \"0.5 Nm\", or add normal_force",
                    );
                }
                friction
            }
            None => None,
        };
        let torque = self
            .profile(section, "torque", nature.force())
            .map(|(torque, _)| torque);
        if let (Some(JointType::Fixed), Some(entry)) = (kind, section.get("torque").or(section.get("friction"))) {
            self.report(
                entry.key_span,
                format!("a fixed joint does not move, so `{}` has no effect", entry.key),
                "leave it out, or choose another type",
            );
        }
        let idle = ["stiffness", "damping", "rotational_stiffness", "rotational_damping"];
        let rigid = self.rigid(section, &idle);
        for key in ["friction", "torque"].iter().filter(|_| rigid) {
            if let Some(entry) = section.get(key) {
                self.report(
                    entry.key_span,
                    format!("a rigid joint has no `{key}` of its own"),
                    "make the other joints of the loop those of a linkage, and write a friction or an actuator `on` one of them",
                );
            }
        }
        Some(JointSpec {
            between: ends.ports,
            joint_type: kind?,
            at,
            axis,
            stiffness,
            damping,
            rotational_stiffness,
            rotational_damping,
            friction,
            torque,
            rigid,
        })
    }

    fn actuator(&mut self, section: &Section<'_>, ends: &Ends, ratio: Option<[f64; 2]>) -> Option<ActuatorSpec> {
        let nature = ends.nature(section.get("ratio").is_some());
        let (value, _) = self.profiles(section, "value", nature.force())?;
        let dimension = ends.dimension();
        if value.len() != dimension && !ends.motions.contains(&Motion::Unread) {
            let (message, help) = rules::count_of_ends(&section.path_of("value"), value.len(), dimension);
            self.report_at(section, "value", message, help);
        }
        Some(ActuatorSpec {
            between: ends.ports,
            value,
            ratio,
        })
    }

    fn gear(&mut self, section: &Section<'_>, ends: &Ends, ratio: Option<[f64; 2]>) -> Option<GearSpec> {
        let stiffness = self.number(section, "stiffness", Nature::Either.stiffness(), Sign::Positive);
        let damping = self.number(section, "damping", Nature::Either.damping(), Sign::NotNegative);
        Some(GearSpec {
            between: ends.ports,
            ratio: ratio?,
            stiffness,
            damping,
            rigid: self.rigid(section, &["stiffness", "damping"]),
        })
    }

    /// The flag `rigid`, beside which some keys have no effect.
    fn rigid(&mut self, section: &Section<'_>, idle: &[&str]) -> bool {
        let rigid = self.flag(section, "rigid") == Some(true);
        for key in idle.iter().filter(|_| rigid) {
            if let Some(entry) = section.get(key) {
                self.report(
                    entry.key_span,
                    format!("`{key}` has no effect beside rigid = true"),
                    "leave one of them out",
                );
            }
        }
        rigid
    }
}
