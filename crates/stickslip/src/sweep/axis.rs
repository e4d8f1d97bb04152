//! What is varied: a key of the scenario and its values, written `KEY=lin:a:b:n`, `KEY=log:a:b:n` or `KEY=list:x,y,z`.

use super::Mistake;
use crate::quantity::{parse_quantity, parse_quantity_at};
use crate::scenario::diagnostic::nearest;
use crate::scenario::tree::split_top_level;

/// A key and the values it takes, each worked out when it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Path of the key: `elements.floor.kinetic`.
    pub key: String,
    values: Values,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As `--set` takes it: `5.0 mm`.
    pub written: String,
    /// In a table of results: a number in SI units, or a word.
    pub cell: String,
    /// In SI units, if it is a number.
    pub number: Option<f64>,
}

impl Value {
    /// A number without a unit.
    fn plain(number: f64) -> Self {
        let written = format!("{number:?}");
        Value {
            cell: written.clone(),
            number: Some(number),
            written,
        }
    }

    fn new(key: &str, written: String) -> Self {
        let number = match parse_quantity_at(key, &written) {
            Ok(Some((number, _))) => Some(number),
            _ => written.parse().ok(),
        };
        let cell = number.map_or_else(|| written.trim_matches('"').to_string(), |number| format!("{number:?}"));
        Value { written, cell, number }
    }
}

/// How the values between two ends are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences.
    Linear,
    /// Equal ratios.
    Log,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// From one end to the other, in a unit.
    Range {
        spacing: Spacing,
        ends: (f64, f64),
        count: u64,
        unit: String,
    },
    List(Vec<String>),
}

const FORMS: &str = "write lin:a:b:n, log:a:b:n or list:x,y,z, for example elements.floor.kinetic=\"lin:1 N:10 N:10\"";

impl Axis {
    /// Reads `KEY=SPEC`.
    ///
    /// # Errors
    /// If it is not of that form, or a value is none.
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        let Some((key, spec)) = text.split_once('=') else {
            return Err(Mistake::new(format!("\"{text}\" has no `=`"), FORMS));
        };
        let (key, spec) = (key.trim(), spec.trim());
        if key.is_empty() {
            return Err(Mistake::new(format!("\"{text}\" has no key"), FORMS));
        }
        let values = match spec.split_once(':') {
            Some(("lin", rest)) => range(text, rest, Spacing::Linear)?,
            Some(("log", rest)) => range(text, rest, Spacing::Log)?,
            Some(("list", rest)) => list(text, rest)?,
            Some((form, _)) => {
                let meant = nearest(form, ["lin", "log", "list"]);
                let meant = meant.map_or(String::new(), |meant| format!("did you mean {meant}:? Otherwise "));
                return Err(Mistake::new(
                    format!("cannot read the values of \"{text}\""),
                    format!("{meant}{FORMS}"),
                ));
            }
            None if !spec.trim().is_empty() => {
                return Err(Mistake::new(
                    format!("cannot read the values of \"{text}\""),
                    format!("write {key}=list:{spec} for a single value; otherwise {FORMS}"),
                ));
            }
            None => return Err(Mistake::new(format!("cannot read the values of \"{text}\""), FORMS)),
        };
        Ok(Axis {
            key: key.to_string(),
            values,
        })
    }

    /// How many values it has, at least one.
    pub fn count(&self) -> u64 {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::List(items) => items.len() as u64,
        }
    }

    /// The value with this number, from 0 on.
    pub fn value(&self, index: u64) -> Value {
        match &self.values {
            Values::Range {
                ends,
                count,
                spacing,
                unit,
            } => {
                let number = between(*ends, *spacing, index, *count);
                if unit.is_empty() {
                    return Value::plain(number);
                }
                Value::new(&self.key, format!("{number:?} {unit}"))
            }
            Values::List(items) => Value::new(&self.key, items[index as usize].clone()),
        }
    }

    /// Whether all values are numbers written in one way: if one is accepted with its unit, all are.
    pub(crate) fn is_uniform(&self) -> bool {
        match &self.values {
            Values::Range { .. } => true,
            Values::List(items) => items.iter().all(|item| item.parse::<f64>().is_ok()),
        }
    }

    /// The ends of a range and how it is spaced; `None` of a list.
    pub fn range(&self) -> Option<((f64, f64), Spacing)> {
        match &self.values {
            Values::Range { ends, spacing, .. } => Some((*ends, *spacing)),
            Values::List(_) => None,
        }
    }

    /// A value of a range that need not be one of its points, given in its unit.
    pub fn value_at(&self, number: f64) -> Value {
        let unit = match &self.values {
            Values::Range { unit, .. } => unit.as_str(),
            Values::List(_) => "",
        };
        Value::new(&self.key, format!("{number:?} {unit}").trim_end().to_string())
    }

    /// The unit its ends are written in, or nothing.
    pub fn unit(&self) -> &str {
        match &self.values {
            Values::Range { unit, .. } => unit,
            Values::List(_) => "",
        }
    }
}

/// Point `index` of `count` points. Whole numbers divided into tenths give the doubles nearest to tenths.
fn between((a, b): (f64, f64), spacing: Spacing, index: u64, count: u64) -> f64 {
    let last = count - 1;
    match index {
        0 => a,
        _ if index == last => b,
        _ => match spacing {
            Spacing::Linear => (a * (last - index) as f64 + b * index as f64) / last as f64,
            Spacing::Log => {
                let (low, high) = (libm::log10(a), libm::log10(b));
                let value = libm::exp10((low * (last - index) as f64 + high * index as f64) / last as f64);
                // Fifteen digits: decades come out as decades.
                format!("{value:.14e}").parse().unwrap_or(value)
            }
        },
    }
}

fn range(text: &str, rest: &str, spacing: Spacing) -> Result<Values, Mistake> {
    let parts: Vec<&str> = rest.split(':').map(str::trim).collect();
    let [a, b, n] = parts[..] else {
        return Err(Mistake::new(
            format!("\"{text}\" needs two ends and a count after the first `:`"),
            FORMS,
        ));
    };
    let (first, unit) = number(text, a)?;
    let (second, other) = number(text, b)?;
    if unit != other {
        return Err(Mistake::new(
            format!("the ends of \"{text}\" have different units"),
            "write both ends in the same unit, or both as plain numbers in SI",
        ));
    }
    if spacing == Spacing::Log && !(first > 0.0 && second > 0.0) {
        return Err(Mistake::new(
            format!("\"{text}\" has no logarithmic steps: both ends must be greater than 0"),
            "use lin:a:b:n for a range that reaches zero or changes sign",
        ));
    }
    let count = n.parse::<u64>().ok().filter(|count| *count > 0).ok_or_else(|| {
        Mistake::new(
            format!("\"{n}\" in \"{text}\" is no number of points"),
            format!("write a whole number from 1 to {}", u64::MAX),
        )
    })?;
    Ok(Values::Range {
        spacing,
        ends: (first, second),
        count,
        unit: unit.to_string(),
    })
}

fn list(text: &str, rest: &str) -> Result<Values, Mistake> {
    let items: Vec<String> = split_top_level(rest)
        .into_iter()
        .map(|(_, item)| item.trim().to_string())
        .collect();
    if items.is_empty() || items.iter().any(String::is_empty) {
        return Err(Mistake::new(format!("\"{text}\" has an empty value"), FORMS));
    }
    for item in &items {
        if item.parse::<f64>().is_ok_and(|value| !value.is_finite()) {
            return Err(not_finite(text, item));
        }
    }
    Ok(Values::List(items))
}

fn not_finite(text: &str, item: &str) -> Mistake {
    Mistake::new(format!("\"{item}\" in \"{text}\" is not a finite number"), FORMS)
}

/// A number and the unit behind it.
fn number<'a>(text: &str, item: &'a str) -> Result<(f64, &'a str), Mistake> {
    let ends = item.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let split = ends
        .rev()
        .find_map(|end| Some((item[..end].parse::<f64>().ok()?, item[end..].trim())));
    let Some((value, unit)) = split else {
        return Err(Mistake::new(
            format!("\"{item}\" in \"{text}\" is no number"),
            "write a number, or a number with a unit: 5, 1e-3, 5 mm",
        ));
    };
    if !value.is_finite() {
        return Err(not_finite(text, item));
    }
    match parse_quantity(item) {
        Err(error) => Err(Mistake::new(format!("\"{item}\" in \"{text}\": {error}"), FORMS)),
        Ok(None) if !unit.is_empty() => Err(Mistake::new(format!("\"{unit}\" in \"{text}\" is no unit"), FORMS)),
        Ok(_) => Ok((value, unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(spec: &str) -> Vec<String> {
        let axis = Axis::parse(&format!("a.b={spec}")).unwrap();
        (0..axis.count()).map(|i| axis.value(i).cell).collect()
    }

    #[test]
    fn values_are_the_nearest_doubles() {
        assert_eq!(cells("lin:0:1:11")[..4], ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(cells("lin:1 mm:5 mm:5"), ["0.001", "0.002", "0.003", "0.004", "0.005"]);
        assert_eq!(cells("lin:2:-2:3"), ["2.0", "0.0", "-2.0"]);
        assert_eq!(cells("log:1:1000:4"), ["1.0", "10.0", "100.0", "1000.0"]);
        assert_eq!(cells("log:1e-4 m:1 m:5"), ["0.0001", "0.001", "0.01", "0.1", "1.0"]);
        assert_eq!(cells("log:100:1:3"), ["100.0", "10.0", "1.0"]);
        assert_eq!(cells("lin:5:9:1"), ["5.0"]);
        assert_eq!(cells("list:lugre, dahl,\"implicit\""), ["lugre", "dahl", "implicit"]);
        assert_eq!(cells("list:2 mm,0.5,[1,2]"), ["0.002", "0.5", "[1,2]"]);
        let axis = Axis::parse("a=lin:1 N/mm:3 N/mm:3").unwrap();
        assert_eq!(axis.value(1).written, "2.0 N/mm");
        assert_eq!(axis.value(1).number, Some(2000.0));
    }

    #[test]
    fn bad_specifications_are_refused_with_a_remedy() {
        for (text, word) in [
            ("a.b", "no `=`"),
            ("=lin:0:1:2", "no key"),
            ("a=1", "a=list:1"),
            ("a=lst:1,2", "did you mean list:"),
            ("a=", "cannot read the values"),
            ("a=exp:1:2:3", "cannot read the values"),
            ("a=lin:0:1", "two ends and a count"),
            ("a=lin:0:1:2:3", "two ends and a count"),
            ("a=lin:0:1:0", "is no number of points"),
            ("a=lin:0:1:2.5", "is no number of points"),
            ("a=lin:0:1:-3", "is no number of points"),
            ("a=lin:x:1:3", "is no number"),
            ("a=lin:NaN:1:3", "not a finite number"),
            ("a=lin:0:inf:3", "not a finite number"),
            ("a=lin:1 mm:5:3", "different units"),
            ("a=lin:1 parsec:5 parsec:3", "parsec"),
            ("a=log:0:1:3", "greater than 0"),
            ("a=log:-1:1:3", "greater than 0"),
            ("a=list:", "empty value"),
            ("a=list:1,,2", "empty value"),
            ("a=list:1,nan", "not a finite number"),
        ] {
            let mistake = Axis::parse(text).unwrap_err();
            assert!(mistake.to_string().contains(word), "{text}: {mistake:?}");
            assert!(!mistake.help.is_empty());
        }
    }
}
