//! `[inclusion]`.

use super::*;
use crate::inclusion::{Description, Finding, Inclusion, Input, Place, Relaxation};
use crate::profile::Profile;
use crate::quantity::Unit;

impl Reader {
    pub(super) fn inclusion(&mut self, root: &Section<'_>, title: &str) -> Option<Inclusion> {
        let key_span = root.get("inclusion")?.key_span;
        if let Some(other) = ["bodies", "elements"].iter().find(|other| root.get(other).is_some()) {
            self.report(
                key_span,
                format!("a scenario has `[inclusion]` or `[{other}]`, not both"),
                "write the bodies as equations too, or describe the whole system with bodies and elements",
            );
            return None;
        }
        self.columns_are_states = true;
        if let Some(entry) = root.get("simulation")
            && let Value::Table(simulation) = &entry.node.value
            && let Some(gravity) = simulation.get("gravity")
        {
            let warning = Diagnostic::new("gravity does not act on equations", Some(gravity.key_span));
            self.warnings
                .push(warning.help("write it into the equations, as in \"(f - F*sgn(v))/M - 9.81\""));
        }
        let before = self.diagnostics.len();
        let section = self.subsection(root, "inclusion", &keys::INCLUSION)?;
        let states = self.named(&section, "states");
        let parameters = self.named(&section, "parameters");
        let inputs = self.named(&section, "inputs");
        let equations = self.named(&section, "equations");
        let relax = self.named(&section, "relax");
        let nonnegative = match section.get("nonnegative") {
            Some(_) => self.texts(&section, "nonnegative"),
            None => Some(Vec::new()),
        };
        let description = Description {
            title: title.to_string(),
            states: self.named_numbers(states.as_ref()),
            parameters: self.named_numbers(parameters.as_ref()),
            inputs: self.inputs(inputs.as_ref()),
            equations: self.formulas(equations.as_ref()),
            relax: self.relaxations(relax.as_ref()),
            nonnegative: nonnegative.iter().flatten().map(|(text, _)| text.clone()).collect(),
        };
        // What could not be read would be reported again as missing.
        if self.diagnostics.len() > before {
            return None;
        }
        match Inclusion::new(description) {
            Ok(inclusion) => Some(inclusion),
            Err(findings) => {
                let tables = Tables {
                    section: &section,
                    states,
                    parameters,
                    inputs,
                    equations,
                    relax,
                };
                for finding in findings {
                    self.tell(finding, &tables);
                }
                None
            }
        }
    }

    /// A table with names of the user's.
    pub(super) fn named<'t>(&mut self, section: &Section<'t>, key: &str) -> Option<Section<'t>> {
        let entry = self.entry(section, key)?;
        let Value::Table(table) = &entry.node.value else {
            let path = section.path_of(key);
            self.wrong_type(&entry.node, &path, "a table of names", section.keys.get(key));
            return None;
        };
        let path = section.path_of(key);
        self.spans.insert(path.clone(), entry.key_span);
        for inner in &table.entries {
            self.spans.insert(format!("{path}.{}", inner.key), inner.node.span);
        }
        Some(Section {
            path,
            table,
            span: entry.key_span,
            keys: section.keys,
        })
    }

    /// Names of the user's with a number each.
    pub(super) fn named_numbers(&mut self, section: Option<&Section<'_>>) -> Vec<(String, f64)> {
        let Some(section) = section else { return Vec::new() };
        let read = section.table.entries.iter().filter_map(|entry| {
            let number = self.number_in(&entry.node, &section.path_of(&entry.key), &[], None)?;
            Some((entry.key.clone(), number.value))
        });
        read.collect()
    }

    pub(super) fn inputs(&mut self, section: Option<&Section<'_>>) -> Vec<Input> {
        let mut inputs = Vec::new();
        let Some(section) = section else { return inputs };
        for entry in &section.table.entries {
            let path = section.path_of(&entry.key);
            let Some((profile, _)) = self.profile_in(&entry.node, &path, &[], None) else {
                continue;
            };
            let formula = matches!(profile, Profile::Expression(_))
                .then(|| formula(&entry.node))
                .flatten();
            inputs.push(Input {
                name: entry.key.clone(),
                profile,
                formula,
            });
        }
        inputs
    }

    pub(super) fn formulas(&mut self, section: Option<&Section<'_>>) -> Vec<(String, String)> {
        let mut formulas = Vec::new();
        let Some(section) = section else { return formulas };
        for entry in &section.table.entries {
            let text = match &entry.node.value {
                Value::Text(text) => text.clone(),
                Value::Number(number) if number.is_finite() => format!("{number:?}"),
                _ => {
                    let path = section.path_of(&entry.key);
                    self.wrong_type(&entry.node, &path, "an expression in quotes", None);
                    continue;
                }
            };
            formulas.push((entry.key.clone(), text));
        }
        formulas
    }

    pub(super) fn relaxations(&mut self, section: Option<&Section<'_>>) -> Vec<(String, Relaxation)> {
        let mut relaxations = Vec::new();
        let Some(section) = section else { return relaxations };
        for entry in &section.table.entries {
            let Some(inner) = self.table_of(section, entry, &keys::RELAX) else {
                continue;
            };
            let time = &[Dimension::TIME];
            let relaxation = Relaxation {
                stiffness: self.number(&inner, "stiffness", &[], Sign::Positive),
                beta: self.number(&inner, "beta", time, Sign::Positive),
                alpha: self.number(&inner, "alpha", time, Sign::Positive),
            };
            relaxations.push((entry.key.clone(), relaxation));
        }
        relaxations
    }

    /// Notes a finding where it stands in the file.
    fn tell(&mut self, finding: Finding, tables: &Tables<'_, '_>) {
        let nth = |section: &Option<Section<'_>>, index: usize| -> Option<(Span, Node)> {
            let entry = section.as_ref()?.table.entries.get(index)?;
            Some((entry.key_span, entry.node.clone()))
        };
        let whole = tables.section.span;
        let span = match finding.place {
            Place::Whole => whole,
            Place::State(i) => nth(&tables.states, i).map_or(whole, |(key, _)| key),
            Place::Parameter(i) => nth(&tables.parameters, i).map_or(whole, |(key, _)| key),
            Place::Input(i) => nth(&tables.inputs, i).map_or(whole, |(key, _)| key),
            Place::Equation(i) => match (nth(&tables.equations, i), &finding.span) {
                (Some((_, node)), Some(range)) => self.inside(&node, range.clone()),
                (Some((key, _)), None) => key,
                (None, _) => whole,
            },
            Place::Nonnegative(i) => match tables.section.get("nonnegative").map(|entry| &entry.node.value) {
                Some(Value::List(items)) if i < items.len() => match &finding.span {
                    Some(range) => self.inside(&items[i], range.clone()),
                    None => items[i].span,
                },
                _ => whole,
            },
            Place::Relax(i, key) => match nth(&tables.relax, i) {
                Some((span, node)) => match &node.value {
                    Value::Table(table) => table.get(key).map_or(span, |entry| entry.node.span),
                    _ => span,
                },
                None => whole,
            },
        };
        let path = match finding.place {
            Place::Equation(i) => nth(&tables.equations, i).map(|_| {
                let entry = tables.equations.as_ref().map(|section| &section.table.entries[i].key);
                format!("`inclusion.equations.{}`: ", entry.map_or("", |name| name))
            }),
            _ => None,
        };
        let message = format!("{}{}", path.unwrap_or_default(), finding.message);
        let mut diagnostic = Diagnostic::new(message, Some(span));
        diagnostic.help = (!finding.help.is_empty()).then_some(finding.help);
        self.diagnostics.push(diagnostic);
    }

    /// In a scenario with an inclusion a column is `t` or a state; true if that has been checked here.
    pub(super) fn inclusion_names_columns(&mut self, column: &str, span: Span, states: &[&str]) -> bool {
        // Without states the inclusion has errors of its own.
        if self.columns_are_states && !states.is_empty() && !states.contains(&column) {
            let help = match nearest(column, states.iter().copied()) {
                Some(state) => format!("did you mean `{state}`?"),
                None => format!("a column is `t` or a state: {}", list_words(states.iter().copied())),
            };
            self.report(span, format!("there is no column `{}`", shorten(column)), help);
        }
        self.columns_are_states
    }
}

/// The tables of `[inclusion]`.
struct Tables<'a, 't> {
    section: &'a Section<'t>,
    states: Option<Section<'t>>,
    parameters: Option<Section<'t>>,
    inputs: Option<Section<'t>>,
    equations: Option<Section<'t>>,
    relax: Option<Section<'t>>,
}

/// The expression of an input and the factor to SI.
fn formula(node: &Node) -> Option<(String, f64)> {
    match &node.value {
        Value::Text(text) => Some((text.clone(), 1.0)),
        Value::Table(table) => {
            let text = |key: &str| match &table.get(key)?.node.value {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            };
            let factor = match text("unit") {
                Some(unit) => Unit::parse(&unit).ok()?.factor(),
                None => 1.0,
            };
            Some((text("expr")?, factor))
        }
        _ => None,
    }
}
