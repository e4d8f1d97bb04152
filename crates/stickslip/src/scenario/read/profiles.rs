//! Functions of time as written: a number, a quantity, an expression, or a table of one of three forms.

use super::*;
use crate::profile::{After, Expression, Interpolation, Profile, Table as Points};
use crate::quantity::{Unit, turns};

impl Reader {
    /// The profile of a key, and the dimension of its unit if one is written.
    pub(super) fn profile(
        &mut self,
        section: &Section<'_>,
        key: &str,
        dimensions: &[Dimension],
    ) -> Option<(Profile, Option<Dimension>)> {
        let entry = self.entry(section, key)?;
        self.profile_in(&entry.node, &section.path_of(key), dimensions, section.keys.get(key))
    }

    /// One profile per axis; a single one is a list of one.
    pub(super) fn profiles(
        &mut self,
        section: &Section<'_>,
        key: &str,
        dimensions: &[Dimension],
    ) -> Option<(Vec<Profile>, Option<Dimension>)> {
        let entry = self.entry(section, key)?;
        let path = section.path_of(key);
        let listed = section.keys.get(key);
        let Value::List(items) = &entry.node.value else {
            let (profile, found) = self.profile_in(&entry.node, &path, dimensions, listed)?;
            return Some((vec![profile], found));
        };
        if items.is_empty() || items.len() > 3 {
            self.wrong_type(
                &entry.node,
                &path,
                "one profile, or a list with one per axis (at most 3)",
                listed,
            );
            return None;
        }
        let read: Vec<_> = items
            .iter()
            .map(|item| self.profile_in(item, &path, dimensions, listed))
            .collect();
        let read: Vec<_> = read.into_iter().collect::<Option<_>>()?;
        let found = read.iter().find_map(|(_, found)| *found);
        Some((read.into_iter().map(|(profile, _)| profile).collect(), found))
    }

    pub(super) fn profile_in(
        &mut self,
        node: &Node,
        path: &str,
        dimensions: &[Dimension],
        listed: Option<&Key>,
    ) -> Option<(Profile, Option<Dimension>)> {
        match &node.value {
            Value::Text(text) if matches!(parse_quantity(text), Ok(None)) => {
                Some((self.expression(node, text, path)?, None))
            }
            Value::Table(table) => {
                let inner = self.profile_table(node, table, path)?;
                self.tabulated(&inner, dimensions)
            }
            Value::Text(_) | Value::Number(_) => {
                let number = self.number_in(node, path, dimensions, listed)?;
                Some((number.value.into(), number.dimension))
            }
            _ => {
                self.wrong_type(node, path, "a number, an expression in t or a table", listed);
                None
            }
        }
    }

    fn expression(&mut self, node: &Node, text: &str, path: &str) -> Option<Profile> {
        match Expression::parse(text, &["t"]) {
            Ok(expression) => Some(expression.into()),
            Err(error) => {
                let span = self.inside(node, error.span.clone());
                self.report(
                    span,
                    format!("`{path}`: {error}"),
                    "an expression in t, in SI units, such as \"if(t <= 2, 2, 0)\"; or a number with a unit",
                );
                None
            }
        }
    }

    /// Which of the three forms a table has.
    fn profile_table<'t>(&mut self, node: &Node, table: &'t Table, path: &str) -> Option<Section<'t>> {
        let has = |key: &str| table.get(key).is_some();
        let keys = if has("expr") {
            &keys::EXPRESSION_PROFILE
        } else if has("csv") {
            &keys::CSV_PROFILE
        } else if has("times") || has("values") {
            &keys::TABLE_PROFILE
        } else {
            self.report(node.span, format!("`{path}`: this table is no function of time"), "write { expr = \"2*t\", unit = \"mm\" }, { times = [0, 1], values = [0, 5] } or { csv = \"file.csv\", column = \"name\" }");
            return None;
        };
        Some(self.section(path, table, node.span, keys))
    }

    fn tabulated(&mut self, section: &Section<'_>, dimensions: &[Dimension]) -> Option<(Profile, Option<Dimension>)> {
        let unit = match section.get("unit") {
            Some(entry) => Some(self.unit_of(section, entry, dimensions)?),
            None => None,
        };
        let profile: Profile = if section.keys.name == keys::EXPRESSION_PROFILE.name {
            let text = self.text(section, "expr")?;
            let entry = section.get("expr")?;
            self.expression(&entry.node, &text, &section.path_of("expr"))?
        } else {
            self.points(section, dimensions, unit.is_some())?.into()
        };
        let profile = match &unit {
            Some(unit) => profile.in_unit(unit),
            None => profile,
        };
        Some((profile, unit.map(|unit| unit.dimension())))
    }

    fn unit_of(&mut self, section: &Section<'_>, entry: &Entry, dimensions: &[Dimension]) -> Option<Unit> {
        let text = self.text(section, "unit")?;
        let turning = turns(&section.path_of("unit"), &text);
        match Unit::parse(if turning { "turn/s" } else { &text }) {
            Ok(unit) if dimensions.is_empty() || dimensions.contains(&unit.dimension()) => Some(unit),
            Ok(unit) => {
                let wanted: Vec<String> = dimensions.iter().map(|d| describe(*d)).collect();
                let message = format!(
                    "`{}` should be the unit of {}, but \"{text}\" is that of {}",
                    section.path_of("unit"),
                    wanted.join(" or "),
                    describe(unit.dimension())
                );
                self.report(entry.node.span, message, "leave out `unit` for SI units");
                None
            }
            Err(error) => {
                let span = self.inside(&entry.node, error.span());
                self.report(
                    span,
                    format!("`{}`: {error}", section.path_of("unit")),
                    "for example: unit = \"mm\"",
                );
                None
            }
        }
    }

    /// Points from two lists or from two columns of a file.
    fn points(&mut self, section: &Section<'_>, dimensions: &[Dimension], has_unit: bool) -> Option<Points> {
        let interpolation = match section.get("interpolation") {
            Some(_) => self.word(section, "interpolation")?,
            None => "linear",
        };
        let interpolation = if interpolation == "step" {
            Interpolation::Step
        } else {
            Interpolation::Linear
        };
        let after = match section.get("after") {
            Some(_) => self.word(section, "after")?,
            None => "hold",
        };
        let after = match after {
            "repeat" => After::Repeat,
            "zero" => After::Zero,
            _ => After::Hold,
        };
        let (points, blamed) = if section.keys.name == keys::CSV_PROFILE.name {
            let file = self.text(section, "csv");
            let column = self.text(section, "column");
            let time = if section.get("time").is_some() {
                self.text(section, "time")?
            } else {
                "t".to_string()
            };
            let path = self.directory.as_deref().unwrap_or(Path::new("")).join(file?);
            (
                Points::from_csv(path, &time, &column?).and_then(|points| points.with(interpolation, after)),
                "csv",
            )
        } else {
            let times = self.vector(section, "times", &[Dimension::TIME]);
            let plain = [Dimension::NONE];
            let values = self.vector(section, "values", if has_unit { &plain } else { dimensions });
            (Points::new(times?, values?, interpolation, after), "times")
        };
        match points {
            Ok(points) => Some(points),
            Err(error) => {
                let help = match blamed {
                    "csv" => {
                        "name the columns of the file: { csv = \"file.csv\", column = \"force\", time = \"t\" }; the times must increase"
                    }
                    _ => "one value for every time, times increasing: { times = [0, 1, 2], values = [0, 5, 0] }",
                };
                self.report_at(section, blamed, format!("`{}`: {error}", section.path), help);
                None
            }
        }
    }
}
