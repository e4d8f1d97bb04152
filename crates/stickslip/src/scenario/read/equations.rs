//! `kind = "equations"`: elements and bodies of the user's own.

use super::elements::Placing;
use super::ends::Motion;
use super::*;
use crate::body::own::{MOST_COORDINATES, OwnBodySpec};
use crate::equations::{BodyEquations, BodyPart, BodyTexts, ElementEquations, FrameTexts, Names};
use crate::inclusion::{Finding, Place};
use crate::profile::parser::{is_name, is_word};
use std::sync::Arc;

/// A text and where it stands.
type Written = (String, Node);

/// The tables of names that expressions use.
struct Tables<'t> {
    states: Option<Section<'t>>,
    parameters: Option<Section<'t>>,
    inputs: Option<Section<'t>>,
    relax: Option<Section<'t>>,
}

fn texts(written: &[Written]) -> Vec<String> {
    written.iter().map(|(text, _)| text.clone()).collect()
}

impl Reader {
    /// An expression: a text, or a number.
    fn formula_in(&mut self, node: &Node, path: &str, key: Option<&Key>) -> Option<Written> {
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Number(number) if number.is_finite() => format!("{number:?}"),
            _ => {
                self.wrong_type(node, path, "an expression in quotes", key);
                return None;
            }
        };
        Some((text, node.clone()))
    }

    /// One expression or a list of them.
    fn formula_list(&mut self, section: &Section<'_>, key: &str) -> Option<Vec<Written>> {
        let entry = self.entry(section, key)?;
        let path = section.path_of(key);
        let key = section.keys.get(key);
        self.spans.insert(path.clone(), entry.node.span);
        match &entry.node.value {
            Value::List(items) => {
                // Each is blamed where it stands.
                for (k, item) in items.iter().enumerate() {
                    self.spans.insert(format!("{path}.{k}"), item.span);
                }
                items.iter().map(|item| self.formula_in(item, &path, key)).collect()
            }
            _ => Some(vec![self.formula_in(&entry.node, &path, key)?]),
        }
    }

    /// At most one expression.
    fn one_formula(&mut self, section: &Section<'_>, key: &str) -> Option<Written> {
        section.get(key)?;
        let mut list = self.formula_list(section, key)?;
        if list.len() != 1 {
            let message = format!("`{}` is one expression, found {}", section.path_of(key), list.len());
            self.report_at(section, key, message, "leave the list out");
            return None;
        }
        list.pop()
    }

    fn names<'t>(&mut self, section: &Section<'t>) -> (Names, Tables<'t>) {
        let tables = Tables {
            states: self.named(section, "states"),
            parameters: self.named(section, "parameters"),
            inputs: self.named(section, "inputs"),
            relax: self.named(section, "relax"),
        };
        let nonnegative = match section.get("nonnegative") {
            Some(_) => self.texts(section, "nonnegative"),
            None => None,
        };
        let names = Names {
            states: self.named_numbers(tables.states.as_ref()),
            parameters: self.named_numbers(tables.parameters.as_ref()),
            inputs: self.inputs(tables.inputs.as_ref()),
            relax: self.relaxations(tables.relax.as_ref()),
            nonnegative: nonnegative.into_iter().flatten().map(|(text, _)| text).collect(),
        };
        (names, tables)
    }

    /// The rates of the states, in their order: each state has one and each is of a state.
    fn rates(&mut self, section: &Section<'_>, names: &Names) -> Vec<Written> {
        let table = self.named(section, "rates");
        let path = section.path_of("rates");
        let mut read: Vec<(String, Written)> = Vec::new();
        for entry in table.iter().flat_map(|table| &table.table.entries) {
            if let Some(written) =
                self.formula_in(&entry.node, &format!("{path}.{}", entry.key), section.keys.get("rates"))
            {
                read.push((entry.key.clone(), written));
            }
            if !names.states.iter().any(|(state, _)| *state == entry.key) {
                let states = names.states.iter().map(|(state, _)| state.as_str());
                let help = match nearest(&entry.key, states) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add its initial value: states = {{ {} = 0 }}", entry.key),
                };
                let message = format!("there is a rate of `{}`, which is no state", shorten(&entry.key));
                self.report(entry.key_span, message, help);
            }
        }
        let mut rates = Vec::new();
        for (state, _) in &names.states {
            match read.iter().find(|(name, _)| name == state) {
                Some((_, written)) => rates.push(written.clone()),
                None if table.is_some() || section.get("rates").is_none() => {
                    let message = format!("the state `{}` has no rate", shorten(state));
                    let span = self
                        .spans
                        .get(&format!("{}.{state}", section.path_of("states")))
                        .copied();
                    let help = format!("add, for example: rates = {{ {state} = \"0\" }}");
                    self.report(span.unwrap_or(section.span), message, help);
                }
                None => {}
            }
        }
        rates
    }

    pub(super) fn element_equations(&mut self, section: &Section<'_>, place: &Placing<'_>) -> Option<ElementSpec> {
        let ends = place.ends;
        let before = self.diagnostics.len();
        let (names, tables) = self.names(section);
        let force = self.formula_list(section, "force");
        let stored = self.one_formula(section, "stored");
        let rates = self.rates(section, &names);
        let at = self.points_at(section);
        let force = force?;
        let axes = ends.dimension();
        if !ends.motions.contains(&Motion::Unread) && force.len() != axes {
            let message = format!(
                "`{}` has {} expression{}, and the motion has {axes} {}",
                section.path_of("force"),
                force.len(),
                if force.len() == 1 { "" } else { "s" },
                if axes == 1 { "axis" } else { "axes" }
            );
            let help = match axes {
                1 => "write one expression in x and v, such as \"-k*x - c*v\"",
                2 => "write one for each axis, such as [\"-k*x.x\", \"-k*x.y\"]",
                _ => "write one for each axis, such as [\"-k*x.x\", \"-k*x.y\", \"-k*x.z\"]",
            };
            self.report_at(section, "force", message, help);
        }
        if !(1..=3).contains(&force.len()) || self.diagnostics.len() > before {
            return None;
        }
        if names.states.iter().any(|(state, _)| state == "force") {
            let message = "a state cannot be named `force`: its column would be that of the force";
            self.report_at(section, "states", message, "choose another name");
            return None;
        }
        let written: Vec<&Written> = force.iter().chain(&stored).chain(&rates).collect();
        let stored = stored.as_ref().map(|(text, _)| text.clone());
        match ElementEquations::new(&names, &texts(&force), stored.as_ref(), &texts(&rates)) {
            Ok(law) => {
                self.warn_of_idle_parameters(section, &names, |parameter| law.uses_parameter(parameter));
                Some(place.with_law(law, at))
            }
            Err(findings) => {
                let motion = if axes == 1 { "x, v" } else { "x.x, v.x, …" };
                let help = format!("an expression in {motion}, the states, parameters, inputs and t");
                for finding in findings {
                    self.tell_of_equations(finding, section, &tables, &written, &help);
                }
                None
            }
        }
    }

    pub(super) fn body_equations(&mut self, section: &Section<'_>) -> Option<OwnBodySpec> {
        let before = self.diagnostics.len();
        let (names, tables) = self.names(section);
        let coordinates = self.named(section, "coordinates");
        let velocities = self.named(section, "velocities");
        let turns = |name: &str| {
            let of = |table: &Option<Section<'_>>, length: Dimension, angle: Dimension| {
                let entry = table.as_ref()?.table.entries.iter().find(|entry| entry.key == name)?;
                let crate::scenario::tree::Value::Text(text) = &entry.node.value else {
                    return None;
                };
                match parse_quantity(text) {
                    Ok(Some((_, dimension))) if dimension == length => Some(false),
                    Ok(Some((_, dimension))) if dimension == angle => Some(true),
                    _ => None,
                }
            };
            of(&coordinates, Dimension::LENGTH, Dimension::ANGLE)
                .or_else(|| of(&velocities, Dimension::VELOCITY, Dimension::ANGULAR_VELOCITY))
        };
        let turns = |names: &[(String, f64)]| names.iter().map(|(name, _)| turns(name)).collect::<Vec<_>>();
        let (coordinates, velocities, turns) = {
            let numbers = self.named_numbers(coordinates.as_ref());
            let turns = turns(&numbers);
            (numbers, self.named_numbers(velocities.as_ref()), turns)
        };
        self.check_coordinates(section, &coordinates, &names);
        for (name, _) in &velocities {
            if !coordinates.iter().any(|(coordinate, _)| coordinate == name) {
                let span = self
                    .spans
                    .get(&format!("{}.{name}", section.path_of("velocities")))
                    .copied();
                let known = coordinates.iter().map(|(coordinate, _)| coordinate.as_str());
                let message = format!("there is a velocity of `{}`, which is no coordinate", shorten(name));
                let help = format!("the coordinates are {}", list_words(known));
                self.report(span.unwrap_or(section.span), message, help);
            }
        }
        let force = self.formula_list(section, "force");
        let potential = self.one_formula(section, "potential");
        let rates = self.rates(section, &names);
        let rows = self.mass_matrix(section, coordinates.len());
        let frames = self.frames(section);
        let (force, rows) = (force?, rows?);
        if force.len() != coordinates.len() {
            let message = format!(
                "`{}` has {} expressions for {} coordinates",
                section.path_of("force"),
                force.len(),
                coordinates.len()
            );
            self.report_at(
                section,
                "force",
                message,
                "write one for each coordinate, in their order",
            );
        }
        if self.diagnostics.len() > before {
            return None;
        }
        let body = BodyTexts {
            coordinates: coordinates.iter().map(|(name, _)| name.clone()).collect(),
            mass_matrix: texts(&rows),
            force: texts(&force),
            rates: texts(&rates),
            potential: potential.as_ref().map(|(text, _)| text.clone()),
            frames: frames.iter().map(|(frame, _)| frame.clone()).collect(),
        };
        match BodyEquations::new(&names, &body) {
            Ok(body) => {
                self.warn_of_idle_parameters(section, &names, |parameter| body.uses_parameter(parameter));
                let speed = |(name, _): &(String, f64)| {
                    let written = velocities.iter().find(|(other, _)| other == name);
                    written.map_or(0.0, |(_, speed)| *speed)
                };
                Some(OwnBodySpec {
                    position: coordinates.iter().map(|(_, position)| *position).collect(),
                    velocity: coordinates.iter().map(speed).collect(),
                    body: Arc::new(body),
                    turns,
                })
            }
            Err(findings) => {
                let count = coordinates.len();
                for (part, finding) in findings {
                    let (written, of): (Vec<&Written>, _) = match part {
                        BodyPart::Motion => (
                            force.iter().chain(&potential).chain(&rates).collect(),
                            "the coordinates, their velocities such as theta_dot, the states, parameters, inputs and t",
                        ),
                        BodyPart::Row(i) => (
                            rows[i * count..(i + 1) * count].iter().collect(),
                            "the coordinates, parameters, inputs and t",
                        ),
                        BodyPart::Frame(i) => (frames[i].1.iter().collect(), "the coordinates and parameters"),
                    };
                    self.tell_of_equations(finding, section, &tables, &written, &format!("an expression in {of}"));
                }
                None
            }
        }
    }

    /// A parameter that no expression names is a slip, of the file or of `--set`.
    fn warn_of_idle_parameters(&mut self, section: &Section<'_>, names: &Names, used: impl Fn(usize) -> bool) {
        for (i, (name, _)) in names.parameters.iter().enumerate().filter(|(i, _)| !used(*i)) {
            let path = format!("{}.{name}", section.path_of("parameters"));
            let others = names.parameters.iter().enumerate().filter(|(other, _)| *other != i);
            let help = match nearest(name, others.map(|(_, (other, _))| other.as_str())) {
                Some(near) => format!("did you mean `{near}`? Else leave it out"),
                None => "leave it out, or use it".to_string(),
            };
            let span = self.spans.get(&path).copied().unwrap_or(section.span);
            let message = format!("no expression uses the parameter `{}`", shorten(name));
            self.warnings.push(Diagnostic::new(message, Some(span)).help(help));
        }
    }

    /// Coordinates are names of ports and columns, and of variables of expressions.
    fn check_coordinates(&mut self, section: &Section<'_>, coordinates: &[(String, f64)], names: &Names) {
        let most = MOST_COORDINATES;
        if !(1..=most).contains(&coordinates.len()) && section.get("coordinates").is_some() {
            let message = format!("a body has 1 to {most} coordinates, found {}", coordinates.len());
            self.report_at(section, "coordinates", message, "make several bodies of it");
        }
        let others: Vec<&String> = (names.states.iter().chain(&names.parameters).map(|(name, _)| name))
            .chain(names.inputs.iter().map(|input| &input.name))
            .collect();
        for (name, _) in coordinates {
            let span = self
                .spans
                .get(&format!("{}.{name}", section.path_of("coordinates")))
                .copied();
            let span = span.unwrap_or(section.span);
            let fault = match name.as_str() {
                _ if !is_name(name) => Some("use letters, digits and `_`, beginning with a letter"),
                "t" => Some("`t` is the time; choose another name"),
                _ if is_word(name) => Some("it is a word of the expressions; choose another name"),
                _ if others
                    .iter()
                    .any(|other| *other == name || **other == format!("{name}_dot")) =>
                {
                    Some("another thing here has this name, or that of its velocity; choose another")
                }
                _ if coordinates.iter().any(|(other, _)| *other == format!("{name}_dot")) => {
                    Some("another coordinate has the name of its velocity; choose another")
                }
                _ => None,
            };
            if let Some(help) = fault {
                self.report(span, format!("a coordinate cannot be named `{}`", shorten(name)), help);
            }
        }
    }

    /// The mass matrix, row by row.
    fn mass_matrix(&mut self, section: &Section<'_>, count: usize) -> Option<Vec<Written>> {
        let entry = self.entry(section, "mass_matrix")?;
        let path = section.path_of("mass_matrix");
        self.spans.insert(path.clone(), entry.node.span);
        let expected = format!("{count} rows of {count} expressions, [[…], …]");
        let Value::List(rows) = &entry.node.value else {
            self.wrong_type(&entry.node, &path, &expected, section.keys.get("mass_matrix"));
            return None;
        };
        let mut all = Vec::new();
        for row in rows {
            let Value::List(items) = &row.value else {
                self.wrong_type(row, &path, &expected, section.keys.get("mass_matrix"));
                return None;
            };
            if items.len() != count || rows.len() != count {
                let message = format!("`{path}` should be {expected}");
                self.report(row.span, message, "one row and one column for each coordinate");
                return None;
            }
            for item in items {
                all.push(self.formula_in(item, &path, section.keys.get("mass_matrix"))?);
            }
        }
        if all.len() != count * count {
            self.wrong_type(&entry.node, &path, &expected, section.keys.get("mass_matrix"));
            return None;
        }
        Some(all)
    }

    fn frames(&mut self, section: &Section<'_>) -> Vec<(FrameTexts, Vec<Written>)> {
        let mut frames = Vec::new();
        let Some(table) = self.named(section, "frames") else {
            return frames;
        };
        for entry in &table.table.entries {
            self.check_name(&entry.key, entry.key_span, "frame");
            if self
                .spans
                .contains_key(&format!("{}.{}", section.path_of("coordinates"), entry.key))
            {
                let message = format!("a coordinate is named `{}`, too", shorten(&entry.key));
                self.report(entry.key_span, message, "choose another name for the frame");
            }
            let Some(inner) = self.table_of(&table, entry, &keys::FRAME) else {
                continue;
            };
            let position = self.formula_list(&inner, "position");
            let axis = match inner.get("axis") {
                Some(_) => self.direction(&inner, "axis"),
                None => None,
            };
            let angle = self.one_formula(&inner, "angle");
            if inner.get("axis").is_some() != inner.get("angle").is_some() {
                let message = format!("`{}` has one of `axis` and `angle`", inner.path);
                self.report(inner.span, message, "a frame that turns needs both");
            }
            let Some(position) = position else { continue };
            let [x, y, z] = &position[..] else {
                let message = format!("`{}` has {} expressions", inner.path_of("position"), position.len());
                self.report_at(&inner, "position", message, "write three: x, y and z");
                continue;
            };
            let frame = FrameTexts {
                name: entry.key.clone(),
                position: [x, y, z].map(|(text, _)| text.clone()),
                turn: axis.zip(angle.as_ref().map(|(text, _)| text.clone())),
            };
            let written = position.into_iter().chain(angle).collect();
            frames.push((frame, written));
        }
        frames
    }

    /// Notes a finding where it stands in the file.
    fn tell_of_equations(
        &mut self,
        finding: Finding,
        section: &Section<'_>,
        tables: &Tables<'_>,
        written: &[&Written],
        help: &str,
    ) {
        let nth = |table: &Option<Section<'_>>, index: usize| -> Option<Span> {
            Some(table.as_ref()?.table.entries.get(index)?.key_span)
        };
        let span = match finding.place {
            Place::Whole => None,
            Place::State(i) => nth(&tables.states, i),
            Place::Parameter(i) => nth(&tables.parameters, i),
            Place::Input(i) => nth(&tables.inputs, i),
            Place::Relax(i, _) => nth(&tables.relax, i),
            Place::Nonnegative(_) => section.get("nonnegative").map(|entry| entry.node.span),
            Place::Equation(i) => written.get(i).map(|(_, node)| match &finding.span {
                Some(range) => self.inside(node, range.clone()),
                None => node.span,
            }),
        };
        // The help of a reading error speaks of inclusions.
        let unread = matches!(finding.place, Place::Equation(_)) && finding.help.starts_with("an expression in");
        let help = if unread || finding.help.is_empty() {
            help.to_string()
        } else {
            finding.help
        };
        self.report(span.unwrap_or(section.span), finding.message, help);
    }
}
