//! Values as written: words, flags, and numbers with their units.

use super::*;
use crate::math::sin_cos;
use crate::scenario::also_called::word_meant;

impl Reader {
    pub(super) fn text(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let entry = self.entry(section, key)?;
        match &entry.node.value {
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.wrong_type(&entry.node, &section.path_of(key), "a string", section.keys.get(key));
                None
            }
        }
    }

    /// A list of texts with the places of each.
    pub(super) fn texts(&mut self, section: &Section<'_>, key: &str) -> Option<Vec<(String, Span)>> {
        let entry = self.entry(section, key)?;
        let listed = section.keys.get(key);
        let (least, most) = match listed.map(|key| key.form) {
            Some(Form::Texts(least, most)) => (least, most),
            _ => (0, usize::MAX),
        };
        let expected = if least == most {
            format!("a list of {least} names")
        } else {
            "a list of names".to_string()
        };
        let Value::List(items) = &entry.node.value else {
            self.wrong_type(&entry.node, &section.path_of(key), &expected, listed);
            return None;
        };
        if items.len() < least || items.len() > most {
            self.wrong_type(&entry.node, &section.path_of(key), &expected, listed);
            return None;
        }
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push((text.clone(), item.span)),
                _ => {
                    self.wrong_type(item, &section.path_of(key), "a list of strings", listed);
                    return None;
                }
            }
        }
        Some(texts)
    }

    /// One of the words listed for the key.
    pub(super) fn word(&mut self, section: &Section<'_>, key: &str) -> Option<&'static str> {
        let text = self.text(section, key)?;
        let Some(Form::Word(words)) = section.keys.get(key).map(|key| key.form) else {
            return None;
        };
        if let Some(&word) = words.iter().find(|word| **word == text) {
            return Some(word);
        }
        let span = section.get(key)?.node.span;
        self.unknown_word(span, key, &text, words);
        None
    }

    pub(super) fn unknown_word(&mut self, span: Span, what: &str, text: &str, words: &[&str]) {
        let choice = format!("`{what}` is one of {}", list_words(words.iter().copied()));
        let help = match word_meant(what, text, words) {
            Some(word) => format!("did you mean \"{word}\"? {choice}"),
            None => choice,
        };
        self.report(span, format!("unknown {what} \"{}\"", shorten(text)), help);
    }

    pub(super) fn flag(&mut self, section: &Section<'_>, key: &str) -> Option<bool> {
        let entry = self.entry(section, key)?;
        match entry.node.value {
            Value::Flag(flag) => Some(flag),
            _ => {
                self.wrong_type(
                    &entry.node,
                    &section.path_of(key),
                    "true or false",
                    section.keys.get(key),
                );
                None
            }
        }
    }

    /// A number in SI whose unit, if written, has one of `dimensions` (none listed: any).
    pub(super) fn number(
        &mut self,
        section: &Section<'_>,
        key: &str,
        dimensions: &[Dimension],
        sign: Sign,
    ) -> Option<f64> {
        let entry = self.entry(section, key)?;
        let path = section.path_of(key);
        let listed = section.keys.get(key);
        let value = self.number_in(&entry.node, &path, dimensions, listed)?.value;
        self.check_sign(&entry.node, &path, value, sign, listed)
            .then_some(value)
    }

    pub(super) fn check_sign(&mut self, node: &Node, path: &str, value: f64, sign: Sign, listed: Option<&Key>) -> bool {
        let fault = number_fault(path, value, sign);
        let fine = fault.is_none();
        if let Some(message) = fault {
            self.report_example(node.span, message, listed);
        }
        fine
    }

    pub(super) fn number_in(
        &mut self,
        node: &Node,
        path: &str,
        dimensions: &[Dimension],
        listed: Option<&Key>,
    ) -> Option<Number> {
        let number = match &node.value {
            Value::Number(value) => Number {
                value: *value,
                dimension: None,
            },
            Value::Text(text) => match parse_quantity_at(path, text) {
                Ok(Some((value, found))) => {
                    if !dimensions.is_empty() && !dimensions.contains(&found) {
                        let wanted: Vec<String> = dimensions.iter().map(|d| describe(*d)).collect();
                        let message = format!(
                            "`{path}` should be {}, but \"{text}\" is {}",
                            wanted.join(" or "),
                            describe(found)
                        );
                        let help = listed.map(|key| example_in(key, dimensions));
                        self.report(node.span, message, help.unwrap_or_default());
                        return None;
                    }
                    Number {
                        value,
                        dimension: Some(found),
                    }
                }
                Ok(None) => match text.trim().parse() {
                    Ok(value) => Number { value, dimension: None },
                    Err(_) => {
                        let point = text.replace(',', ".");
                        if text.contains(',')
                            && (point.trim().parse::<f64>().is_ok() || matches!(parse_quantity(&point), Ok(Some(_))))
                        {
                            let message = format!("`{path}` has a decimal comma: \"{}\"", shorten(text));
                            self.report(node.span, message, format!("write a point: \"{}\"", shorten(&point)));
                        } else {
                            self.wrong_type(node, path, &expected_number(dimensions), listed);
                        }
                        return None;
                    }
                },
                Err(error) => {
                    self.bad_quantity(node, path, &error, listed);
                    return None;
                }
            },
            _ => {
                self.wrong_type(node, path, &expected_number(dimensions), listed);
                return None;
            }
        };
        self.check_sign(node, path, number.value, Sign::Any, listed)
            .then_some(number)
    }

    pub(super) fn bad_quantity(&mut self, node: &Node, path: &str, error: &QuantityError, listed: Option<&Key>) {
        let span = self.inside(node, error.span());
        self.report_example(span, format!("`{path}`: {error}"), listed);
    }

    /// The place of a range of bytes of a string value, where the source shows the string unchanged.
    pub(super) fn inside(&self, node: &Node, range: std::ops::Range<usize>) -> Span {
        let Value::Text(text) = &node.value else {
            return node.span;
        };
        let written = node.span.end.saturating_sub(node.span.start);
        let shift = match written.checked_sub(text.len()) {
            Some(0) => 0,
            Some(2) => 1,
            _ => return node.span,
        };
        Span {
            start: node.span.start + shift + range.start,
            end: node.span.start + shift + range.end,
            ..node.span
        }
    }

    /// A list of numbers as long as the table of keys says.
    pub(super) fn vector(&mut self, section: &Section<'_>, key: &str, dimensions: &[Dimension]) -> Option<Vec<f64>> {
        let entry = self.entry(section, key)?;
        let listed = section.keys.get(key)?;
        let Form::Vector(least, most) = listed.form else {
            return None;
        };
        let expected = match (least, most) {
            (least, usize::MAX) => format!("a list of at least {least} numbers"),
            (least, most) if least == most => format!("a list of {least} numbers"),
            (least, most) => format!("a list of {least} or {most} numbers"),
        };
        self.numbers_in(
            &entry.node,
            &section.path_of(key),
            dimensions,
            Some(listed),
            (least, most),
            &expected,
        )
    }

    /// Exactly three components.
    pub(super) fn vector3(&mut self, section: &Section<'_>, key: &str, dimensions: &[Dimension]) -> Option<[f64; 3]> {
        self.vector(section, key, dimensions).map(|v| padded(&v))
    }

    pub(super) fn numbers_in(
        &mut self,
        node: &Node,
        path: &str,
        dimensions: &[Dimension],
        listed: Option<&Key>,
        (least, most): (usize, usize),
        expected: &str,
    ) -> Option<Vec<f64>> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, path, expected, listed);
            return None;
        };
        // "3 or 6" has nothing between.
        let count = items.len();
        if count < least || count > most || (most == 6 && least == 3 && count != 3 && count != 6) {
            self.wrong_type(node, path, expected, listed);
            return None;
        }
        let numbers: Vec<Option<Number>> = items
            .iter()
            .map(|item| self.number_in(item, path, dimensions, listed))
            .collect();
        numbers
            .into_iter()
            .map(|number| number.map(|number| number.value))
            .collect()
    }

    /// A number or a list of at most three; a number is a list of one.
    pub(super) fn number_or_vector(
        &mut self,
        section: &Section<'_>,
        key: &str,
        dimensions: &[Dimension],
    ) -> Option<Vec<f64>> {
        let entry = self.entry(section, key)?;
        let path = section.path_of(key);
        let listed = section.keys.get(key);
        match &entry.node.value {
            Value::List(_) => self.numbers_in(
                &entry.node,
                &path,
                dimensions,
                listed,
                (1, 3),
                "a number or a list of 2 or 3 numbers",
            ),
            _ => self
                .number_in(&entry.node, &path, dimensions, listed)
                .map(|number| vec![number.value]),
        }
    }

    /// A direction of unit length.
    pub(super) fn direction(&mut self, section: &Section<'_>, key: &str) -> Option<[f64; 3]> {
        let vector = self.vector3(section, key, &[Dimension::NONE])?;
        self.unit(section, key, vector)
    }

    /// A rotation as a unit quaternion.
    pub(super) fn rotation(&mut self, section: &Section<'_>, key: &str) -> Option<[f64; 4]> {
        let quaternion = self.vector(section, key, &[Dimension::NONE]);
        let angles = self.vector3(section, "rpy", &[Dimension::ANGLE]);
        match (section.get(key), section.get("rpy")) {
            (Some(_), Some(_)) => {
                let message = format!("`{}` has both `{key}` and `rpy`", section.path);
                self.report_at(section, "rpy", message, "leave out one of them");
                None
            }
            (_, Some(_)) => angles.map(by_angles),
            (_, None) => {
                let quaternion: [f64; 4] = quaternion?.try_into().ok()?;
                self.unit(section, key, quaternion)
            }
        }
    }

    /// Scaled to length 1. What is 1 to rounding stays as it is written.
    pub(super) fn unit<const N: usize>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        vector: [f64; N],
    ) -> Option<[f64; N]> {
        let largest = vector.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        if largest == 0.0 {
            let path = section.path_of(key);
            let message = format!("`{path}` has length 0, so it has no direction");
            self.report_example(section.span_of(key), message, section.keys.get(key));
            return None;
        }
        let scaled = vector.map(|x| x / largest);
        let length = largest * scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (length - 1.0).abs() <= 1e-14 {
            return Some(vector);
        }
        let short = length / largest;
        Some(scaled.map(|x| x / short))
    }
}

/// The quaternion w, x, y, z of turns about x, then y, then z, axes that stay where they are.
fn by_angles(angles: [f64; 3]) -> [f64; 4] {
    let [[sr, cr], [sp, cp], [sy, cy]] = angles.map(|angle| {
        let (sine, cosine) = sin_cos(0.5 * angle);
        [sine, cosine]
    });
    [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
}

/// An example line of one of these dimensions.
fn example_in(key: &Key, dimensions: &[Dimension]) -> String {
    let fits = |text: &str| match parse_quantity(text.trim_matches('"')) {
        Ok(Some((_, dimension))) => dimensions.contains(&dimension),
        _ => false,
    };
    let unit = match dimensions.first() {
        None => return example(key).unwrap_or_default(),
        Some(&Dimension::NONE) => "rad".to_string(),
        Some(unit) => unit.to_string(),
    };
    if fits(key.example) || !key.example.starts_with('"') && dimensions == [Dimension::NONE] {
        return example(key).unwrap_or_default();
    }
    format!("write it in {unit}, for example: {} = \"1 {unit}\"", key.name)
}

/// "a mass (kg)".
pub(super) fn describe(dimension: Dimension) -> String {
    match dimension.name() {
        Some(name) if dimension == Dimension::NONE => name.to_string(),
        Some(name) => format!("{name} ({dimension})"),
        None => format!("a quantity in {dimension}"),
    }
}

fn expected_number(dimensions: &[Dimension]) -> String {
    let names: Vec<String> = dimensions
        .iter()
        .filter(|d| **d != Dimension::NONE)
        .map(|d| describe(*d))
        .collect();
    if names.is_empty() {
        "a number".to_string()
    } else {
        format!("a number: {}", names.join(" or "))
    }
}

/// Two components are x and y.
pub(super) fn padded(vector: &[f64]) -> [f64; 3] {
    let at = |index: usize| vector.get(index).copied().unwrap_or(0.0);
    [at(0), at(1), at(2)]
}
