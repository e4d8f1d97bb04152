//! Friction laws as written: the steady curve, the normal force, and the parameters of the law.

use super::ends::{Ends, Motion, Nature, Surroundings};
use super::*;
use crate::element::curve::CurveSide;
use stickslip_core::registry::{self, Family};

/// Where a friction law is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Element,
    Contact,
    Joint,
}

impl Reader {
    pub(super) fn friction(
        &mut self,
        section: &Section<'_>,
        ends: &Ends,
        ratio: Option<[f64; 2]>,
        around: &Surroundings<'_>,
    ) -> Option<FrictionSpec> {
        let nature = ends.nature(section.get("ratio").is_some());
        let friction = self.friction_law(section, nature, Role::Element, around)?;
        if friction.curve.limit.is_coefficient() && friction.normal_force.is_none() {
            self.check_weight(section, ends, around);
        }
        Some(FrictionSpec {
            between: ends.ports,
            ratio,
            friction,
        })
    }

    /// Without a normal force, a coefficient needs the weight of a 1-D mass on the ground.
    fn check_weight(&mut self, section: &Section<'_>, ends: &Ends, around: &Surroundings<'_>) {
        // What is wrong with a pressure is said where it stands.
        if ends.motions.contains(&Motion::Unread) || section.get("pressure").is_some() {
            return;
        }
        let body = match ends.ports {
            [Port::Body(body), Port::Ground] | [Port::Ground, Port::Body(body)] => around.bodies[body].spec.as_ref(),
            _ => None,
        };
        let Some(reason) = rules::weight_fault(body, around.gravity) else {
            return;
        };
        let key = ["mu", "mu_kinetic"]
            .into_iter()
            .find(|key| section.get(key).is_some())
            .unwrap_or("mu");
        let help = match around.gravity {
            false => {
                "add gravity = [0, 0, -9.81] to [simulation] and an `axis` to the body, or normal_force = \"100 N\" here"
            }
            true => "add, for example: normal_force = \"100 N\", or write the limit itself: kinetic = \"10 N\"",
        };
        let message = format!("`{}` needs a normal force: {reason}", section.path_of(key));
        self.report_at(section, key, message, help);
    }

    pub(super) fn friction_law(
        &mut self,
        section: &Section<'_>,
        nature: Nature,
        role: Role,
        around: &Surroundings<'_>,
    ) -> Option<FrictionLawSpec> {
        let law = self.text(section, "law");
        let (curve, ellipse) = self.curve(section, nature, role, law.as_deref()).unzip();
        let area = self.area(section, nature, law.as_deref());
        let normal_force = match section.get("pressure") {
            Some(_) => self.pressure(section, role, area),
            None => self.normal_force(section, role, around),
        };
        let initial = self.word(section, "initial").map(|word| {
            if word == "stick" {
                InitialMode::Stick
            } else {
                InitialMode::Slip
            }
        });
        let own: &[&str] = &[
            "kind",
            "between",
            "on",
            "ratio",
            "law",
            "normal_force",
            "initial",
            "table",
            "curve",
            "curve_backward",
            "direction",
            "area",
            "pressure",
        ];
        let of_contacts = ["direction_on", "rolling", "spinning"];
        let taken = |key: &str| own.contains(&key) || (of_contacts.contains(&key) && role != Role::Element);
        let [rolling, spinning] = ["rolling", "spinning"].map(|key| self.moment_arm(section, role, key));
        let mut parameters = self.parameters(section, |key| taken(key) || CURVE_KEYS.contains(&key));
        if let Some(area) = area {
            self.stiffness_of_area(section, area, &mut parameters);
        }
        Some(FrictionLawSpec {
            law: law?,
            curve: curve?,
            ellipse: ellipse?,
            rolling,
            spinning,
            normal_force,
            initial,
            parameters,
        })
    }

    /// The moment arm of the resistance of a contact to turning.
    fn moment_arm(&mut self, section: &Section<'_>, role: Role, key: &str) -> Option<f64> {
        match role {
            // A friction between coordinates has no such key.
            Role::Element => None,
            Role::Contact => self.number(section, key, &[Dimension::LENGTH], Sign::NotNegative),
            Role::Joint => {
                section.get(key)?;
                let message = format!("`{}` is for contacts: a joint has one axis", section.path_of(key));
                self.report_at(
                    section,
                    key,
                    message,
                    "write the friction about the axis: kinetic = \"0.1 N m\"",
                );
                None
            }
        }
    }

    /// The steady curve, and where it is only that along a direction, what it is across.
    fn curve(
        &mut self,
        section: &Section<'_>,
        nature: Nature,
        role: Role,
        law: Option<&str>,
    ) -> Option<(CurveSpec, Option<EllipseSpec>)> {
        let force = nature.force();
        let plain = &[Dimension::NONE];
        let mut across = Vec::new();
        let mut level = |key: &'static str, dimensions: &[Dimension]| {
            let [first, second] = self.level(section, key, dimensions)?;
            across.extend(first.zip(second).map(|(first, second)| (key, second / first)));
            first
        };
        let kinetic = level("kinetic", force);
        let holding = level("static", force);
        let mu = level("mu", plain);
        let mu_kinetic = level("mu_kinetic", plain);
        let mu_static = level("mu_static", plain);
        let ellipse = self.ellipse(section, role, &across)?;
        let viscous = self
            .number(section, "viscous", nature.damping(), Sign::NotNegative)
            .unwrap_or(0.0);
        let stribeck_velocity = self.number(section, "stribeck_velocity", nature.velocity(), Sign::Positive);
        let stribeck_exponent = self
            .number(section, "stribeck_exponent", plain, Sign::Positive)
            .unwrap_or(2.0);
        let given = |key: &str| section.get(key).is_some();
        let has_force = given("kinetic") || given("static");
        let has_coefficient = given("mu") || given("mu_kinetic") || given("mu_static");
        let mut conflict = |first: &str, second: &str, help: &str| {
            let span = section.table.get(second).map_or(section.span, |entry| entry.key_span);
            self.report(
                span,
                format!("`{}` has both `{first}` and `{second}`", section.path),
                help,
            );
        };
        let first_of = |keys: &[&'static str]| keys.iter().copied().find(|key| given(key)).unwrap_or("kinetic");
        let forces = first_of(&["kinetic", "static"]);
        let coefficients = first_of(&["mu", "mu_kinetic", "mu_static"]);
        if given("mu") && given("mu_kinetic") {
            conflict("mu", "mu_kinetic", "they are two names of the same number: keep one");
            return None;
        }
        if has_force && has_coefficient {
            conflict(
                forces,
                coefficients,
                "write the limit in N (`kinetic`, `static`) or as coefficients of the normal force (`mu`, `mu_static`), not both",
            );
            return None;
        }
        if given("table") || given("curve") || given("curve_backward") {
            return self.given_curve(section, nature, role).map(|curve| (curve, ellipse));
        }
        if role == Role::Contact && has_force {
            self.report_at(
                section,
                forces,
                format!("friction of a contact follows its normal force, so `{forces}` has no place here"),
                "write the coefficient: mu = 0.3",
            );
            return None;
        }
        let limit = if has_coefficient {
            // The name that goes with the law's own documentation.
            let paired = law.is_some_and(has_own_curve) && !given("mu");
            let kinetic_key = if given("mu_kinetic") || paired {
                "mu_kinetic"
            } else {
                "mu"
            };
            let (kinetic, static_) = self.limit(section, (kinetic_key, mu.or(mu_kinetic)), ("mu_static", mu_static))?;
            LimitSpec::Coefficient { kinetic, static_ }
        } else if has_force {
            let (kinetic, static_) = self.limit(section, ("kinetic", kinetic), ("static", holding))?;
            LimitSpec::Force { kinetic, static_ }
        } else {
            // Misspelt rather than missing: that has been said already.
            let strengths = ["kinetic", "static", "mu", "mu_kinetic", "mu_static", "table"];
            let unknown = section.table.keys().filter(|name| section.keys.get(name).is_none());
            let mut meant = unknown.filter_map(|name| nearest(name, section.keys.names()));
            if meant.any(|name| strengths.contains(&name)) {
                return None;
            }
            let help = match role {
                Role::Contact => "add, for example: mu = 0.3",
                _ => {
                    "add, for example: kinetic = \"10 N\" (and static = \"12 N\"), or mu = 0.3 with normal_force = \"100 N\""
                }
            };
            self.report(
                section.span,
                format!("`{}` does not say how strong the friction is", section.path),
                help,
            );
            return None;
        };
        let curve = CurveSpec {
            limit,
            viscous,
            stribeck_velocity,
            stribeck_exponent,
        };
        Some((curve, ellipse))
    }

    /// A level of friction: one number, or one along and one across a direction.
    fn level(&mut self, section: &Section<'_>, key: &str, dimensions: &[Dimension]) -> Option<[Option<f64>; 2]> {
        let entry = section.get(key)?;
        if !matches!(entry.node.value, Value::List(_)) {
            return Some([self.number(section, key, dimensions, Sign::NotNegative), None]);
        }
        let (path, listed) = (section.path_of(key), section.keys.get(key));
        let expected = "a number, or a list of two: along and across a direction";
        let pair = self.numbers_in(&entry.node, &path, dimensions, listed, (2, 2), expected)?;
        if pair.iter().all(|level| *level > 0.0) {
            return Some([Some(pair[0]), Some(pair[1])]);
        }
        let message = format!("`{path}` must be greater than 0 along the direction and across it");
        self.report(
            entry.node.span,
            message,
            "for almost no friction write a small number, as in [0.001, 0.3]",
        );
        None
    }

    /// What the levels given as pairs, with the second over the first, and `direction` make of each other. The outer option is none
    /// after an error.
    fn ellipse(
        &mut self,
        section: &Section<'_>,
        role: Role,
        across: &[(&'static str, f64)],
    ) -> Option<Option<EllipseSpec>> {
        let keys: &[&str] = match role {
            Role::Element => &["direction"],
            _ => &["direction", "direction_on"],
        };
        let Some(&(key, ratio)) = across.first() else {
            for key in keys {
                if let Some(entry) = section.get(key) {
                    self.report(
                        entry.key_span,
                        format!("`{}` belongs to friction with two levels", section.path_of(key)),
                        "write two levels, along the direction and across it: mu = [0.2, 0.4]; or leave it out",
                    );
                    return None;
                }
            }
            return Some(None);
        };
        if role == Role::Joint {
            let message = format!(
                "`{}` has two numbers, but a joint moves along one axis",
                section.path_of(key)
            );
            self.report_at(section, key, message, "write one number");
            return None;
        }
        if let Some((other, second)) = across[1..]
            .iter()
            .find(|(_, second)| (second / ratio - 1.0).abs() > 1e-9)
        {
            let message = format!(
                "`{other}` is {second} times as large across the direction as along it, `{key}` {ratio} times: the ellipses of sticking \
                 and sliding must have the same shape"
            );
            let help = format!("write `{other}` as one number: it is that along the direction");
            self.report_at(section, other, message, help);
            return None;
        }
        if !matches!(key, "kinetic" | "mu" | "mu_kinetic") {
            let message = format!(
                "`{}` has two numbers, but the kinetic level has one",
                section.path_of(key)
            );
            self.report_at(
                section,
                key,
                message,
                "write the kinetic level as two numbers, along and across",
            );
            return None;
        }
        if section.get("direction").is_none() {
            let message = format!(
                "`{}` has two numbers, along a direction and across it, but there is no `direction`",
                section.path_of(key)
            );
            self.report_at(section, key, message, "add, for example: direction = [1, 0, 0]");
            return None;
        }
        let direction = self.vector3(section, "direction", &[Dimension::NONE, Dimension::LENGTH])?;
        if direction.iter().all(|part| *part == 0.0) {
            let message = format!("`{}` is 0 and points nowhere", section.path_of("direction"));
            self.report_at(section, "direction", message, "for example direction = [1, 0, 0]");
            return None;
        }
        let on_first = match role {
            Role::Contact if section.get("direction_on").is_some() => self.word(section, "direction_on")? == "first",
            _ => false,
        };
        Some(Some(EllipseSpec {
            direction,
            across: ratio,
            on_first,
        }))
    }

    /// Kinetic and static level of a curve; the static one is not below.
    fn limit(
        &mut self,
        section: &Section<'_>,
        kinetic: (&str, Option<f64>),
        holding: (&str, Option<f64>),
    ) -> Option<(f64, f64)> {
        let (kinetic_key, kinetic) = kinetic;
        let (static_key, holding) = holding;
        if section.get(kinetic_key).is_none() {
            self.missing(section, kinetic_key);
        }
        let kinetic = kinetic?;
        if section.get(static_key).is_some() && holding.is_none() {
            return None;
        }
        let holding = holding.unwrap_or(kinetic);
        if let Some(mut diagnostic) = rules::limit_fault((kinetic_key, kinetic), (static_key, holding)) {
            diagnostic.span = Some(section.span_of(static_key));
            self.diagnostics.push(diagnostic);
            return None;
        }
        Some((kinetic, holding))
    }

    /// A curve of points or expressions; its values are coefficients in a contact and beside a normal force.
    fn given_curve(&mut self, section: &Section<'_>, nature: Nature, role: Role) -> Option<CurveSpec> {
        let given = |key: &str| section.get(key).is_some();
        let form = if given("table") { "table" } else { "curve" };
        let coefficient = role == Role::Contact || given("normal_force");
        let own_static = if coefficient { "mu_static" } else { "static" };
        let others = CURVE_KEYS.iter().chain(&["table", "curve", "curve_backward"]).copied();
        let fits = |key: &str| key == form || key == own_static || (form == "curve" && key == "curve_backward");
        if let Some(other) = others.into_iter().find(|key| given(key) && !fits(key)) {
            let help = match other {
                "static" | "mu_static" => format!("the static limit is `{own_static}` here"),
                _ => format!("`{form}` is the whole steady curve: keep either it or the other keys"),
            };
            let span = section.table.get(other).map_or(section.span, |entry| entry.key_span);
            self.report(
                span,
                format!("`{}` has both `{form}` and `{other}`", section.path),
                help,
            );
            return None;
        }
        if !given(form) {
            self.missing(section, form);
            return None;
        }
        let plain = &[Dimension::NONE];
        let dimension = if coefficient { plain } else { nature.force() };
        let static_ = match given(own_static) {
            true => Some(self.number(section, own_static, dimension, Sign::NotNegative)?),
            false => None,
        };
        let (forward, backward) = if form == "table" {
            self.curve_table(section, nature.velocity(), dimension)?
        } else {
            let backward = match given("curve_backward") {
                true => Some(self.curve_formula(section, "curve_backward")?),
                false => None,
            };
            (self.curve_formula(section, "curve")?, backward)
        };
        if role == Role::Contact && backward.is_some() {
            let key = if form == "table" { "table" } else { "curve_backward" };
            self.report_at(
                section,
                key,
                "a contact slides in a plane, so its friction has no forward and backward",
                "leave the curve of sliding backward out",
            );
            return None;
        }
        Some(CurveSpec {
            limit: LimitSpec::Given {
                forward,
                backward,
                static_,
                coefficient,
            },
            viscous: 0.0,
            stribeck_velocity: None,
            stribeck_exponent: 2.0,
        })
    }

    fn curve_formula(&mut self, section: &Section<'_>, key: &str) -> Option<CurveSide> {
        let text = self.text(section, key)?;
        match Expression::parse(&text, &["v"]) {
            Ok(expression) => Some(CurveSide::Formula(expression)),
            Err(error) => {
                let entry = section.get(key)?;
                let span = self.inside(&entry.node, error.span.clone());
                let message = format!("`{}`: {error}", section.path_of(key));
                self.report(
                    span,
                    message,
                    "an expression in the speed v, which is not negative, in SI units: \"10/(1 + v/0.1)\"",
                );
                None
            }
        }
    }

    fn curve_table(
        &mut self,
        section: &Section<'_>,
        velocity: &[Dimension],
        level: &[Dimension],
    ) -> Option<(CurveSide, Option<CurveSide>)> {
        let inner = self.subsection(section, "table", &keys::CURVE_TABLE)?;
        let speed = self.vector(&inner, "speed", velocity);
        let force = self.vector(&inner, "force", level);
        let backward = match inner.get("backward") {
            Some(_) => Some(self.vector(&inner, "backward", level)?),
            None => None,
        };
        let (speed, force) = (speed?, force?);
        let forces = [("force", Some(&force)), ("backward", backward.as_ref())];
        let fault = forces
            .into_iter()
            .find_map(|(key, forces)| rules::curve_fault(&speed, (key, forces?)));
        if let Some((key, message)) = fault {
            self.report_at(
                &inner,
                key,
                format!("`{}`: {message}", inner.path),
                "one force for every speed, speeds increasing from 0: { speed = [0, 0.1, 1], force = [12, 10, 11] }",
            );
            return None;
        }
        let backward = backward.map(|level| CurveSide::Points(speed.clone(), level));
        Some((CurveSide::Points(speed, force), backward))
    }

    /// The area of a contact whose numbers are given per area (seed 002, eq 32: S).
    fn area(&mut self, section: &Section<'_>, nature: Nature, law: Option<&str>) -> Option<f64> {
        let entry = section.get("area")?;
        let fault = match (law, nature) {
            (Some(law), _) if !has_own_curve(law) => {
                let those: Vec<String> = registry::names(Family::Friction)
                    .filter(|name| has_own_curve(name))
                    .map(|name| format!("\"{name}\""))
                    .collect();
                Some(format!(
                    "`area` belongs to the law {}, and this is \"{law}\"",
                    those.join(" or ")
                ))
            }
            (_, Nature::Angular) => Some("`area` is for sliding, and these bodies turn".to_string()),
            _ => None,
        };
        if let Some(message) = fault {
            self.report(
                entry.key_span,
                message,
                "leave it out, and write the numbers of the whole contact",
            );
            return None;
        }
        self.number(section, "area", &[Dimension::AREA], Sign::Positive)
    }

    /// The normal force that a pressure makes on an area.
    fn pressure(&mut self, section: &Section<'_>, role: Role, area: Option<f64>) -> Option<NormalForce> {
        let entry = section.get("pressure")?;
        let path = section.path_of("pressure");
        let fault = if role == Role::Contact {
            Some(("the normal force of a contact is its own", "leave out `pressure`"))
        } else if section.get("normal_force").is_some() {
            Some((
                "there are both `pressure` and `normal_force`",
                "keep one: normal_force = pressure x area",
            ))
        } else if section.get("area").is_none() {
            Some((
                "a pressure needs the `area` that it acts on",
                "add, for example: area = \"4 cm^2\"",
            ))
        } else {
            None
        };
        if let Some((message, help)) = fault {
            self.report(entry.key_span, format!("`{path}`: {message}"), help);
            return None;
        }
        let (profile, _) = self.profile_in(&entry.node, &path, &[Dimension::PRESSURE], section.keys.get("pressure"))?;
        if let crate::profile::Profile::Constant(value) = profile
            && value < 0.0
        {
            let message = format!("`{path}` must not be negative, found {value}");
            self.report(
                entry.node.span,
                message,
                "it presses the two together: write it positive",
            );
            return None;
        }
        Some(NormalForce::Profile(profile.scaled(area?)))
    }

    /// Beside an area the stiffness of a contact is one per area: from here on it is that of the whole contact.
    fn stiffness_of_area(&mut self, section: &Section<'_>, area: f64, parameters: &mut [ParameterSpec]) {
        let key = "tangential_stiffness";
        let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == key) else {
            return;
        };
        let ParameterValue::Number(number) = &mut parameter.value else {
            return;
        };
        let found = number.dimension;
        (number.value, number.dimension) = (number.value * area, None);
        if let Some(found) = found.filter(|found| *found != Dimension::SURFACE_STIFFNESS) {
            let message = format!(
                "`{}` should be {} beside an `area`, but it is {}",
                section.path_of(key),
                describe(Dimension::SURFACE_STIFFNESS),
                describe(found)
            );
            self.report_at(
                section,
                key,
                message,
                "write it per area, as in \"2.5e9 N/m^3\", or leave `area` out",
            );
        }
    }

    fn normal_force(&mut self, section: &Section<'_>, role: Role, around: &Surroundings<'_>) -> Option<NormalForce> {
        let entry = section.get("normal_force")?;
        let path = section.path_of("normal_force");
        if role == Role::Contact {
            self.report(
                entry.key_span,
                "the normal force of a contact is its own",
                "leave out `normal_force`",
            );
            return None;
        }
        if let Some(other) = ["kinetic", "static"].into_iter().find(|key| section.get(key).is_some()) {
            self.report(
                entry.key_span,
                format!("`normal_force` has no effect beside `{other}`"),
                "write the coefficient `mu` in place of `kinetic`, or leave out `normal_force`",
            );
            return None;
        }
        if let Value::Table(table) = &entry.node.value
            && (table.get("element").is_some() || nearest("element", table.keys()).is_some())
        {
            let inner = self.section(&path, table, entry.key_span, &keys::NORMAL_FORCE);
            let name = self.text(&inner, "element")?;
            let span = inner.get("element")?.node.span;
            let own = section.path.split('.').nth(1);
            if own == Some(name.as_str()) {
                self.report(
                    span,
                    format!("`{name}` cannot be its own normal force"),
                    "name the element that presses the two together",
                );
                return None;
            }
            if let Some(index) = around.elements.iter().position(|element| *element == name) {
                return Some(NormalForce::Element(index));
            }
            let help = match nearest(&name, around.elements.iter().copied()) {
                Some(element) => format!("did you mean \"{element}\"?"),
                None => format!("the elements are {}", list_words(around.elements.iter().copied())),
            };
            self.report(span, format!("there is no element `{}`", shorten(&name)), help);
            return None;
        }
        let (profile, _) = self.profile_in(
            &entry.node,
            &path,
            &[Dimension::FORCE],
            section.keys.get("normal_force"),
        )?;
        if let crate::profile::Profile::Constant(value) = profile
            && value < 0.0
        {
            self.report(
                entry.node.span,
                format!("`{path}` must not be negative, found {value}"),
                "a normal force presses the two together: write it positive",
            );
            return None;
        }
        Some(NormalForce::Profile(profile))
    }

    /// Keys that belong to the law, with their values as written.
    pub(super) fn parameters(&mut self, section: &Section<'_>, taken: impl Fn(&str) -> bool) -> Vec<ParameterSpec> {
        let mut parameters = Vec::new();
        for entry in &section.table.entries {
            let reported = || section.keys.get(&entry.key).is_none() && unknown_key(section.keys, &entry.key).is_some();
            if taken(&entry.key) || reported() {
                continue;
            }
            let path = section.path_of(&entry.key);
            let listed = section.keys.get(&entry.key);
            let value = match &entry.node.value {
                Value::Flag(flag) => Some(ParameterValue::Flag(*flag)),
                // The evolution may be an expression, too.
                Value::Text(text) if is_word(text) || entry.key == "evolution" => {
                    Some(ParameterValue::Word(text.clone()))
                }
                Value::List(items) => {
                    let numbers: Vec<_> = items
                        .iter()
                        .map(|item| self.number_in(item, &path, &[], listed))
                        .collect();
                    numbers
                        .into_iter()
                        .collect::<Option<Vec<_>>>()
                        .map(ParameterValue::Numbers)
                }
                _ => self
                    .number_in(&entry.node, &path, &[], listed)
                    .map(ParameterValue::Number),
            };
            parameters.extend(value.map(|value| ParameterSpec {
                name: entry.key.clone(),
                value,
                span: Some(entry.node.span),
            }));
        }
        parameters
    }
}

/// Keys that say the steady curve other than by points or expressions.
const CURVE_KEYS: &[&str] = &[
    "kinetic",
    "static",
    "mu",
    "mu_kinetic",
    "mu_static",
    "viscous",
    "stribeck_velocity",
    "stribeck_exponent",
];

/// Letters and dashes only: a word, not a quantity.
fn is_word(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_')
}

/// Whether the states of a law say how friction falls, in place of a steady curve.
fn has_own_curve(law: &str) -> bool {
    registry::law(Family::Friction, law).is_some_and(|row| !row.steady_curve)
}
