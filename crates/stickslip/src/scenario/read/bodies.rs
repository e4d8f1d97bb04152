//! `[bodies.NAME]`.

use super::*;
use crate::integrate::Method;
use crate::profile::Profile;

/// A body as far as it could be read.
pub(super) struct Body {
    pub name: String,
    pub spec: Option<BodySpec>,
}

impl Reader {
    pub(super) fn bodies(&mut self, root: &Section<'_>, other_model: bool) -> Vec<Body> {
        let mut bodies = Vec::new();
        let Some(entry) = root.get("bodies") else {
            if !other_model {
                self.missing(root, "bodies");
            }
            return bodies;
        };
        let Value::Table(table) = &entry.node.value else {
            self.wrong_type(&entry.node, "bodies", "a table of bodies, [bodies.NAME]", None);
            return bodies;
        };
        if table.entries.is_empty() {
            self.report(
                entry.key_span,
                "there is no body in `[bodies]`",
                "add a table [bodies.block] with kind = \"mass\"",
            );
        }
        self.spans.insert("bodies".to_string(), entry.key_span);
        for entry in &table.entries {
            self.check_name(&entry.key, entry.key_span, "body");
            let spec = self
                .named_section("bodies", entry, keys::BODIES)
                .and_then(|(kind, section)| self.body(kind, &section));
            bodies.push(Body {
                name: entry.key.clone(),
                spec,
            });
        }
        bodies
    }

    pub(super) fn check_name(&mut self, name: &str, span: Span, what: &str) {
        if let Some((message, help)) = rules::name_fault(name, what) {
            self.report(span, message, help);
        }
    }

    /// The table of a named thing and its kind.
    pub(super) fn named_section<'t>(
        &mut self,
        group: &str,
        entry: &'t Entry,
        kinds: &'static [(&'static str, &'static Keys)],
    ) -> Option<(&'static str, Section<'t>)> {
        let path = format!("{group}.{}", entry.key);
        self.spans.insert(path.clone(), entry.key_span);
        let Value::Table(table) = &entry.node.value else {
            self.wrong_type(&entry.node, &path, "a table", None);
            return None;
        };
        let words: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
        let Some(kind) = table.get("kind") else {
            let meant = nearest("kind", table.keys());
            let help = match meant {
                Some(key) => format!("did you mean `kind` where `{key}` stands?"),
                None => format!(
                    "add, for example: kind = \"{}\" (or {})",
                    words[0],
                    list_words(words[1..].iter().copied())
                ),
            };
            self.report(entry.key_span, format!("`{path}` has no `kind`"), help);
            return None;
        };
        let Value::Text(text) = &kind.node.value else {
            self.wrong_type(&kind.node, &format!("{path}.kind"), "a string", None);
            return None;
        };
        let Some((kind, keys)) = kinds.iter().find(|(kind, _)| kind == text) else {
            self.unknown_word(kind.node.span, "kind", text, &words);
            return None;
        };
        Some((kind, self.section(&path, table, entry.key_span, keys)))
    }

    fn body(&mut self, kind: &str, section: &Section<'_>) -> Option<BodySpec> {
        match kind {
            "mass" => self.mass(section).map(BodySpec::Mass),
            "inertia" => self.inertia(section).map(BodySpec::Inertia),
            "driver" => self.driver(section).map(BodySpec::Driver),
            "fixed" => self.fixed(section).map(BodySpec::Driver),
            "rigid-body" => self.rigid_body(section).map(BodySpec::RigidBody),
            "linkage" => self.linkage(section).map(BodySpec::Linkage),
            _ => self.body_equations(section).map(BodySpec::Own),
        }
    }

    fn mass(&mut self, section: &Section<'_>) -> Option<MassSpec> {
        let before = self.diagnostics.len();
        let mass = self.number(section, "mass", &[Dimension::MASS], Sign::Positive);
        let position = self.number_or_vector(section, "position", &[Dimension::LENGTH]);
        let velocity = self.number_or_vector(section, "velocity", &[Dimension::VELOCITY]);
        let axis = self.direction(section, "axis");
        let force = self
            .profiles(section, "force", &[Dimension::FORCE])
            .map(|(force, _)| force);
        if self.diagnostics.len() > before {
            return None;
        }
        // Whatever is written as a vector says how many dimensions there are; the position first.
        let force_count = force.as_ref().map(Vec::len);
        let dimension = position
            .as_ref()
            .map(Vec::len)
            .or(velocity.as_ref().map(Vec::len))
            .or(force_count)
            .unwrap_or(1);
        for (key, count) in [("velocity", velocity.as_ref().map(Vec::len)), ("force", force_count)] {
            if let Some(count) = count
                && count != dimension
            {
                self.count_mismatch(section, key, count, dimension);
            }
        }
        if dimension > 1 && axis.is_some() {
            self.report_at(
                section,
                "axis",
                format!(
                    "`axis` is for 1-D masses, but `{}` has {dimension} dimensions",
                    section.path
                ),
                "leave out `axis`: a 2-D or 3-D mass moves in world axes and feels gravity as it is",
            );
        }
        (self.diagnostics.len() == before).then(|| MassSpec {
            mass: mass.unwrap_or(1.0),
            velocity: velocity.unwrap_or_else(|| vec![0.0; dimension]),
            position: position.unwrap_or_else(|| vec![0.0; dimension]),
            axis,
            force: force.unwrap_or_default(),
        })
    }

    fn count_mismatch(&mut self, section: &Section<'_>, key: &str, count: usize, dimension: usize) {
        let (message, help) = rules::count_mismatch(&section.path_of(key), key, count, dimension);
        self.report_at(section, key, message, help);
    }

    fn inertia(&mut self, section: &Section<'_>) -> Option<InertiaSpec> {
        let inertia = self.number(section, "inertia", &[Dimension::INERTIA], Sign::Positive);
        let position = self.number(section, "position", &[Dimension::ANGLE], Sign::Any);
        let velocity = self.number(section, "velocity", &[Dimension::ANGULAR_VELOCITY], Sign::Any);
        let torque = self
            .profile(section, "torque", &[Dimension::TORQUE])
            .map(|(torque, _)| torque);
        Some(InertiaSpec {
            inertia: inertia?,
            position: position.unwrap_or(0.0),
            velocity: velocity.unwrap_or(0.0),
            torque,
        })
    }

    pub(super) fn driver(&mut self, section: &Section<'_>) -> Option<DriverSpec> {
        match (section.get("position"), section.get("velocity")) {
            (Some(_), Some(velocity)) => {
                self.report(
                    velocity.key_span,
                    format!("`{}` has both `position` and `velocity`", section.path),
                    "a driver is given by one of them; to begin elsewhere than at 0 write `velocity` and `start`",
                );
                return None;
            }
            (None, None) => {
                self.report(
                    section.span,
                    format!("`{}` has neither `position` nor `velocity`", section.path),
                    "say how the driver moves, for example: velocity = \"10 mm/s\"",
                );
                return None;
            }
            _ => {}
        }
        let (motion, found, angle) = if section.get("position").is_some() {
            let (profiles, found) = self.profiles(section, "position", &[Dimension::LENGTH, Dimension::ANGLE])?;
            (DriverMotion::Position(profiles), found, Dimension::ANGLE)
        } else {
            let (profiles, found) =
                self.profiles(section, "velocity", &[Dimension::VELOCITY, Dimension::ANGULAR_VELOCITY])?;
            (DriverMotion::Velocity(profiles), found, Dimension::ANGULAR_VELOCITY)
        };
        let dimension = motion.profiles().len();
        let angular = found.map(|found| found == angle);
        if let (Some(true), 2..) = (angular, dimension) {
            self.report_at(
                section,
                "velocity",
                format!("`{}` turns in {dimension} dimensions", section.path),
                "a driver that turns has one angle; a driver in 2-D or 3-D is a point and moves in m",
            );
            return None;
        }
        let start_dimension = match angular {
            Some(true) => &[Dimension::ANGLE][..],
            Some(false) => &[Dimension::LENGTH],
            None => &[Dimension::LENGTH, Dimension::ANGLE],
        };
        let start = match section.get("start") {
            Some(_) => self.number_or_vector(section, "start", start_dimension)?,
            None => vec![0.0; dimension],
        };
        if section.get("start").is_some() && matches!(motion, DriverMotion::Position(_)) {
            self.report_at(
                section,
                "start",
                "`start` is for drivers given by `velocity`",
                "leave it out: `position` says where the driver begins",
            );
            return None;
        }
        if start.len() != dimension {
            self.count_mismatch(section, "start", start.len(), dimension);
            return None;
        }
        // The drive of a chain has none.
        let shaped = section.keys.get("shape").is_some();
        let shape = if shaped {
            self.driven_shape(section, false)
        } else {
            None
        };
        for key in ["rotation", "rpy", "surface_velocity", "material"] {
            if shaped && section.get("shape").is_none() && section.get(key).is_some() {
                let message = format!("`{}` has no effect without `shape`", section.path_of(key));
                self.report_at(section, key, message, "add a shape, or leave it out");
            }
        }
        if shape.is_some() && dimension != 3 {
            let message = format!("`{}` has a shape, and moves in {dimension} dimensions", section.path);
            let help = "give its motion as a list of three: velocity = [\"10 mm/s\", 0, 0]";
            self.report_at(section, "shape", message, help);
            return None;
        }
        Some(DriverSpec {
            motion,
            start,
            angular,
            shape,
        })
    }

    /// A body that does not move: a driver that stays where it is.
    fn fixed(&mut self, section: &Section<'_>) -> Option<DriverSpec> {
        if section.get("shape").is_none() {
            self.missing(section, "shape");
        }
        let shape = self.driven_shape(section, true);
        let position = self
            .vector3(section, "position", &[Dimension::LENGTH])
            .unwrap_or_default();
        Some(DriverSpec {
            motion: DriverMotion::Position(position.map(Profile::Constant).to_vec()),
            start: vec![0.0; 3],
            angular: Some(false),
            shape: Some(shape?),
        })
    }

    pub(super) fn rigid_body(&mut self, section: &Section<'_>) -> Option<RigidBodySpec> {
        let before = self.diagnostics.len();
        let shape = self.shape(section, false);
        let mass = self.mass_of(section, shape.as_ref());
        let inertia = self.inertia_tensor(section, Sign::Positive);
        if inertia.is_none() && section.get("inertia").is_none() && section.get("shape").is_none() {
            self.report(
                section.span,
                format!("`{}` has neither `inertia` nor `shape`", section.path),
                "add, for example: shape = { sphere = \"0.1 m\" }, from which the inertia follows",
            );
        }
        let position = self.vector3(section, "position", &[Dimension::LENGTH]);
        let rotation = self.rotation(section, "rotation");
        let velocity = self.vector3(section, "velocity", &[Dimension::VELOCITY]);
        let angular_velocity = self.vector3(section, "angular_velocity", &[Dimension::ANGULAR_VELOCITY]);
        let force = self.three_profiles(section, "force", Dimension::FORCE);
        let torque = self.three_profiles(section, "torque", Dimension::TORQUE);
        if self.diagnostics.len() > before {
            return None;
        }
        let mass = mass?;
        // Where the inertia follows from the shape so does the centre of mass, which is the origin of the body.
        let shape = if inertia.is_none() {
            shape.map(Shape::centred)
        } else {
            shape
        };
        Some(RigidBodySpec {
            mass,
            inertia: inertia.or_else(|| shape.as_ref().map(|shape| shape.inertia(mass)))?,
            shape,
            position: position.unwrap_or_default(),
            rotation: rotation.unwrap_or(rules::NO_ROTATION),
            velocity: velocity.unwrap_or_default(),
            angular_velocity: angular_velocity.unwrap_or_default(),
            force,
            torque,
        })
    }

    /// The mass as written, or from the density and the shape.
    fn mass_of(&mut self, section: &Section<'_>, shape: Option<&Shape>) -> Option<f64> {
        let density = self.number(section, "density", &[Dimension::DENSITY], Sign::Positive);
        let Some(entry) = section.get("density") else {
            if section.get("mass").is_none() {
                self.missing(section, "mass");
            }
            return self.number(section, "mass", &[Dimension::MASS], Sign::Positive);
        };
        if section.table.get("mass").is_some() {
            self.report(
                entry.key_span,
                format!("`{}` has both `mass` and `density`", section.path),
                "leave out one of them",
            );
            return None;
        }
        let volume = shape.map_or(0.0, Shape::volume);
        if volume == 0.0 && section.get("shape").is_some_and(|_| shape.is_some()) || section.get("shape").is_none() {
            let message = format!("`{}` needs a shape with a volume", section.path_of("density"));
            self.report_at(
                section,
                "density",
                message,
                "give the mass, or a shape other than a point",
            );
            return None;
        }
        density.filter(|_| shape.is_some()).map(|density| density * volume)
    }

    fn three_profiles(&mut self, section: &Section<'_>, key: &str, dimension: Dimension) -> Vec<Profile> {
        let Some((profiles, _)) = self.profiles(section, key, &[dimension]) else {
            return Vec::new();
        };
        if profiles.len() != 3 {
            self.count_mismatch(section, key, profiles.len(), 3);
        }
        profiles
    }

    /// xx, yy, zz and perhaps xy, xz, yz: a tensor that some distribution of mass has.
    fn inertia_tensor(&mut self, section: &Section<'_>, sign: Sign) -> Option<[f64; 6]> {
        let numbers = self.vector(section, "inertia", &[Dimension::INERTIA])?;
        let mut tensor = [0.0; 6];
        for (place, number) in tensor.iter_mut().zip(&numbers) {
            *place = *number;
        }
        if let Some((message, help)) = rules::inertia_fault(&section.path_of("inertia"), tensor, sign) {
            self.report_at(section, "inertia", message, help);
            return None;
        }
        Some(tensor)
    }

    fn linkage(&mut self, section: &Section<'_>) -> Option<LinkageSpec> {
        let before = self.diagnostics.len();
        let floating = self.flag(section, "floating").unwrap_or(false);
        let entry = self.entry(section, "links")?;
        let Value::List(items) = &entry.node.value else {
            self.wrong_type(
                &entry.node,
                &section.path_of("links"),
                "a list of links",
                section.keys.get("links"),
            );
            return None;
        };
        if items.is_empty() {
            let (message, help) = rules::no_links(&section.path);
            self.report(entry.node.span, message, help);
        }
        let all_names: Vec<&str> = items.iter().filter_map(|item| text_of(item, "name")).collect();
        let mut links: Vec<LinkSpec> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Value::Table(table) = &item.value else {
                self.wrong_type(
                    item,
                    &section.path_of("links"),
                    "a list of tables",
                    section.keys.get("links"),
                );
                continue;
            };
            // Links are reached by name, as in `--set bodies.arm.upper.mass=1`.
            let name = text_of(item, "name").map_or(format!("links.{index}"), str::to_string);
            let path = section.path_of(&name);
            self.spans.insert(path.clone(), item.span);
            let head = Span {
                end: item.span.end.min(item.span.start + 1),
                ..item.span
            };
            let span = table.get("name").map_or(head, |entry| entry.node.span);
            let inner = self.section(&path, table, span, &keys::LINK);
            if let Some(link) = self.link(&inner, &links, &all_names, floating && index == 0) {
                let carries = items.iter().any(|other| text_of(other, "parent") == Some(&link.name));
                if let Some((message, help)) = rules::massless_fault(&link, carries) {
                    self.report_at(&inner, "mass", message, help);
                }
                links.push(link);
            }
        }
        if let Some((message, help)) = rules::floating_fault(&section.path, floating, &links) {
            self.report_at(section, "floating", message, help);
        }
        let base = self.base(section, floating);
        (self.diagnostics.len() == before).then(|| LinkageSpec::new(links, floating, base))
    }

    /// Where a free root begins.
    fn base(&mut self, section: &Section<'_>, floating: bool) -> BaseSpec {
        let Some(inner) = self.subsection(section, "base", &keys::BASE) else {
            return BaseSpec::default();
        };
        if !floating {
            let message = format!("`{}` has no effect: the linkage hangs on the ground", inner.path);
            self.report_at(section, "base", message, "write floating = true, or leave it out");
        }
        let position = self.vector3(&inner, "position", &[Dimension::LENGTH]);
        let rotation = self.rotation(&inner, "rotation");
        let velocity = self.vector3(&inner, "velocity", &[Dimension::VELOCITY]);
        let angular_velocity = self.vector3(&inner, "angular_velocity", &[Dimension::ANGULAR_VELOCITY]);
        BaseSpec {
            position: position.unwrap_or_default(),
            rotation: rotation.unwrap_or(rules::NO_ROTATION),
            velocity: velocity.unwrap_or_default(),
            angular_velocity: angular_velocity.unwrap_or_default(),
        }
    }

    fn link(&mut self, section: &Section<'_>, earlier: &[LinkSpec], all: &[&str], free_root: bool) -> Option<LinkSpec> {
        let before = self.diagnostics.len();
        let name = self.text(section, "name");
        if let (Some(name), Some(entry)) = (&name, section.get("name")) {
            self.check_name(name, entry.node.span, "link");
        }
        let parent = self
            .text(section, "parent")
            .and_then(|parent| self.parent(section, &parent, earlier, all));
        let joint = match (section.get("joint"), &name) {
            (Some(_), _) => self.text(section, "joint"),
            (None, name) => name.as_ref().map(|name| format!("{name}_joint")),
        };
        if let (Some(joint), Some(entry)) = (&joint, section.get("joint")) {
            self.check_name(joint, entry.node.span, "joint");
        }
        if let (Some(name), Some(joint)) = (&name, &joint) {
            for (key, (message, help)) in rules::part_taken(name, joint, earlier) {
                self.report_at(section, key, message, help);
            }
        }
        let joint_type = if free_root && section.get("type").is_none() {
            Some(JointType::Fixed)
        } else if section.get("type").is_none() {
            self.missing(section, "type");
            None
        } else {
            self.word(section, "type").map(joint_type)
        };
        let axis = self.axis_of(section, joint_type);
        let (length, speed) = match joint_type {
            Some(JointType::Prismatic) => (&[Dimension::LENGTH], &[Dimension::VELOCITY]),
            _ => (&[Dimension::ANGLE], &[Dimension::ANGULAR_VELOCITY]),
        };
        let origin = self.vector3(section, "origin", &[Dimension::LENGTH]);
        let rotation = self.rotation(section, "rotation");
        let motion = self.profile(section, "motion", length).map(|(motion, _)| motion);
        let force = self.three_profiles(section, "force", Dimension::FORCE);
        let torque = self.three_profiles(section, "torque", Dimension::TORQUE);
        let idle: &[&str] = match joint_type {
            _ if free_root => &["rotation", "rpy", "position", "velocity", "limits", "motion"],
            Some(JointType::Fixed) => &["axis", "position", "velocity", "limits", "motion"],
            _ if section.get("motion").is_some() => &["position", "velocity", "limits"],
            _ => &[],
        };
        for key in idle {
            if section.get(key).is_some() {
                let (why, help) = match joint_type {
                    _ if free_root => ("the root is free", "say in `base` of the linkage where the root begins"),
                    Some(JointType::Fixed) => ("the joint does not move", "leave it out"),
                    _ => ("`motion` says where the joint is", "leave it out"),
                };
                self.report_at(
                    section,
                    key,
                    format!("`{}` has no effect: {why}", section.path_of(key)),
                    help,
                );
            }
        }
        let mass = self.number(section, "mass", &[Dimension::MASS], Sign::NotNegative);
        let com = self.vector3(section, "com", &[Dimension::LENGTH]);
        let shape = self.shape(section, false);
        let inertia = self.inertia_tensor(section, Sign::NotNegative);
        let position = self.number(section, "position", length, Sign::Any).unwrap_or(0.0);
        let velocity = self.number(section, "velocity", speed, Sign::Any).unwrap_or(0.0);
        let limits = self
            .vector(section, "limits", length)
            .map(|limits| [limits[0], limits[1]]);
        if let Some((message, help)) = limits.and_then(|limits| rules::limits_fault(limits, position)) {
            self.report_at(section, "limits", message, help);
        }
        if self.diagnostics.len() > before {
            return None;
        }
        let mass = mass?;
        Some(LinkSpec {
            name: name?,
            parent: parent?,
            joint: joint?,
            joint_type: joint_type?,
            axis,
            origin: origin.unwrap_or_default(),
            rotation: rotation.unwrap_or(rules::NO_ROTATION),
            mass,
            com: com.unwrap_or_default(),
            inertia: inertia
                .or_else(|| shape.as_ref().map(|shape| shape.inertia(mass)))
                .unwrap_or_default(),
            position,
            velocity,
            limits,
            motion,
            force,
            torque,
            shape,
        })
    }

    /// The index of the parent; `Some(None)` is the ground.
    fn parent(
        &mut self,
        section: &Section<'_>,
        parent: &str,
        earlier: &[LinkSpec],
        all: &[&str],
    ) -> Option<Option<usize>> {
        if parent == "ground" {
            return Some(None);
        }
        if let Some(index) = earlier.iter().position(|link| link.name == parent) {
            return Some(Some(index));
        }
        let own_name = text_in(section.table, "name").unwrap_or("");
        let place = |name: &str| all.iter().position(|other| *other == name);
        if own_name != parent && place(parent).is_some() && place(parent) < place(own_name) {
            // It was listed in time and could not be read, which has been reported.
            return None;
        }
        let (message, help) = rules::parent_fault(own_name, parent, all);
        self.report_at(section, "parent", message, help);
        None
    }

    /// The joint axis where the type has one.
    pub(super) fn axis_of(&mut self, section: &Section<'_>, joint_type: Option<JointType>) -> [f64; 3] {
        let has_axis = matches!(joint_type, Some(JointType::Revolute | JointType::Prismatic));
        if has_axis && section.get("axis").is_none() {
            self.missing(section, "axis");
        }
        self.direction(section, "axis").unwrap_or_default()
    }
}

/// A joint with `motion` is held by a gear to a driver that moves so: rigid where the method has that, stiff elsewhere.
pub(super) fn drive_joints(
    bodies: &mut Vec<Body>,
    elements: &mut Vec<(String, Option<ElementSpec>)>,
    simulation: &SimulationSpec,
) {
    let rigid = Method::named(&simulation.integrator).is_some_and(Method::implicit);
    for body in 0..bodies.len() {
        let Some(BodySpec::Linkage(linkage)) = &bodies[body].spec else {
            continue;
        };
        let driven = linkage.links.iter().enumerate().filter_map(|(link, spec)| {
            let motion = spec.motion.clone()?;
            let driver = DriverSpec {
                motion: DriverMotion::Position(vec![motion]),
                start: vec![0.0],
                angular: Some(spec.joint_type == JointType::Revolute),
                shape: None,
            };
            Some((link, format!("{}.{}", bodies[body].name, spec.joint), driver))
        });
        for (link, name, driver) in driven.collect::<Vec<_>>() {
            let between = [Port::Joint { body, link }, Port::Body(bodies.len())];
            bodies.push(Body {
                name: format!("{name}.motion"),
                spec: Some(BodySpec::Driver(driver)),
            });
            let gear = GearSpec {
                between,
                ratio: [1.0, 1.0],
                stiffness: None,
                damping: None,
                rigid,
            };
            elements.push((format!("{name}.drive"), Some(ElementSpec::Gear(gear))));
        }
    }
}

/// The type a listed word stands for.
pub(super) fn joint_type(word: &str) -> JointType {
    match word {
        "revolute" => JointType::Revolute,
        "prismatic" => JointType::Prismatic,
        "spherical" => JointType::Spherical,
        _ => JointType::Fixed,
    }
}

fn text_of<'t>(node: &'t Node, key: &str) -> Option<&'t str> {
    match &node.value {
        Value::Table(table) => text_in(table, key),
        _ => None,
    }
}

fn text_in<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    match &table.get(key)?.node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
