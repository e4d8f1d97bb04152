//! What the publications claim and the numbers that must come out, as the files of `figures/` state them.

use serde::Deserialize;
use std::collections::BTreeMap;
use stickslip_plot::page::{Claim, Value, Verdict};

/// A file of `figures/`: one publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Its heading on the page: authors and year, as far as they are known.
    pub paper: String,
    /// The figures, in the order of the page.
    pub figure: Vec<FigureText>,
}

/// The text of one figure and its claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureText {
    /// Its name on the command line.
    pub name: String,
    /// Heading of its section.
    pub heading: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// What is claimed.
    #[serde(default)]
    pub claim: Vec<ClaimText>,
    /// What cannot be put to the test.
    #[serde(default)]
    pub open: Vec<OpenClaim>,
}

/// A published statement and the numbers it is judged by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimText {
    /// The statement in our words.
    pub claim: String,
    /// Where it stands in the publication.
    pub place: String,
    /// The scenarios that measure it, with what was set to another value.
    pub scenario: String,
    /// What must come out if the statement is true. Where it does not, the statement is contradicted.
    #[serde(default)]
    pub says: Vec<Check>,
    /// What must come out in any case: numbers of the reference study, closed forms. Where they do not, the claim fails.
    #[serde(default)]
    pub check: Vec<Check>,
    /// What to know about the outcome.
    #[serde(default)]
    pub remark: String,
}

/// A statement that cannot be put to the test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenClaim {
    /// The statement in our words.
    pub claim: String,
    /// Where it stands in the publication.
    pub place: String,
    /// Why it cannot.
    pub reason: String,
}

/// One number: either a value with a tolerance, or a range open on one side or closed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name in the code that measures it.
    pub id: String,
    /// What it is, in words.
    pub what: String,
    /// The value expected.
    pub value: Option<f64>,
    /// How far it may be off.
    #[serde(default)]
    pub tolerance: f64,
    /// The smallest value that agrees.
    pub least: Option<f64>,
    /// The largest value that agrees.
    pub most: Option<f64>,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Where the expected value comes from.
    pub source: String,
}

/// What was measured, by name.
#[derive(Debug, Default)]
pub struct Found(BTreeMap<String, f64>);

impl Found {
    /// Notes a number. What does not exist (a rest that is never reached) is NaN.
    pub fn note(&mut self, id: impl Into<String>, value: f64) {
        self.0.insert(id.into(), value);
    }

    /// What was noted under a name.
    pub fn get(&self, id: &str) -> f64 {
        self.0.get(id).copied().unwrap_or(f64::NAN)
    }

    /// Names that no check asks for.
    #[cfg(test)]
    pub fn unused(&self, figure: &FigureText) -> Vec<&str> {
        let asked = |id: &str| {
            figure
                .claim
                .iter()
                .flat_map(ClaimText::numbers)
                .any(|check| check.id == id)
        };
        self.0.keys().map(String::as_str).filter(|id| !asked(id)).collect()
    }
}

impl Check {
    /// Whether it states what is expected, and in one way only.
    #[cfg(test)]
    pub fn is_complete(&self) -> bool {
        self.value.is_some() != (self.least.is_some() || self.most.is_some())
    }

    /// Whether what agrees spans more than 10 % on either side.
    #[cfg(test)]
    pub fn is_wide(&self) -> bool {
        match (self.value, self.least, self.most) {
            (Some(value), ..) => value != 0.0 && self.tolerance > 0.1 * value.abs(),
            (None, Some(least), Some(most)) => most - least > 0.1 * (most + least).abs(),
            _ => false,
        }
    }

    fn holds(&self, measured: f64) -> bool {
        let near = self
            .value
            .is_none_or(|value| (measured - value).abs() <= self.tolerance);
        let above = self.least.is_none_or(|least| measured >= least);
        let below = self.most.is_none_or(|most| measured <= most);
        measured.is_finite() && near && above && below
    }

    fn expected(&self) -> String {
        let quantity = |digits: String| {
            if self.unit.is_empty() {
                digits
            } else {
                format!("{digits} {}", self.unit)
            }
        };
        match (self.value, self.least, self.most) {
            (Some(value), ..) if self.tolerance == 0.0 => format!("{} exactly", quantity(plain(value))),
            (Some(value), ..) => quantity(format!("{} ± {}", self.digits(value), plain(self.tolerance))),
            (None, Some(least), Some(most)) => quantity(format!("{} to {}", plain(least), plain(most))),
            (None, Some(least), None) => format!("at least {}", quantity(plain(least))),
            (None, None, Some(most)) => format!("at most {}", quantity(plain(most))),
            (None, None, None) => "any".into(),
        }
    }

    fn measured(&self, measured: f64) -> String {
        if !measured.is_finite() {
            return "none".into();
        }
        format!("{} {}", self.digits(measured), self.unit)
            .trim_end()
            .to_string()
    }

    /// A number to the digits that its check is about: those above the tolerance, or a few.
    fn digits(&self, number: f64) -> String {
        let scale = |number: f64| libm::floor(libm::log10(number.abs())) as i32;
        match self.value {
            Some(_) if self.tolerance == 0.0 => plain(number),
            // Counts are shown whole.
            None if number.fract() == 0.0 => plain(number),
            // What should be zero, or is only bounded, shows its size.
            None | Some(0.0) => rounded(number, 3),
            Some(value) => rounded(number, scale(value) - scale(self.tolerance) + 1),
        }
    }
}

/// The shortest text of a number, with an exponent where there would be many zeros.
fn plain(value: f64) -> String {
    let value = value + 0.0; // no "-0"
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A number rounded to so many significant digits, in its shortest text.
fn rounded(value: f64, digits: i32) -> String {
    let text = format!("{value:.*e}", (digits - 1).max(0) as usize);
    text.parse().map_or(text, plain)
}

impl ClaimText {
    /// All numbers asked for.
    pub fn numbers(&self) -> impl Iterator<Item = &Check> {
        self.says.iter().chain(&self.check)
    }

    /// The claim beside what was measured, or beside why nothing was.
    pub fn judge(&self, found: &Result<Found, String>) -> Claim {
        let measured = |check: &Check| match found {
            Ok(found) => found.get(&check.id),
            Err(_) => f64::NAN,
        };
        let values = self.numbers().map(|check| Value {
            what: check.what.clone(),
            expected: check.expected(),
            measured: check.measured(measured(check)),
            agrees: check.holds(measured(check)),
            source: linked(&check.source),
        });
        let all_measured = self.numbers().all(|check| measured(check).is_finite());
        let as_it_must = self.check.iter().all(|check| check.holds(measured(check)));
        let as_said = self.says.iter().all(|check| check.holds(measured(check)));
        let verdict = match (all_measured && as_it_must, as_said) {
            (false, _) => Verdict::Fails,
            (true, false) => Verdict::Contradicted,
            (true, true) => Verdict::Holds,
        };
        Claim {
            claim: self.claim.clone(),
            source: linked(&self.place),
            values: values.collect(),
            remark: match found {
                Ok(_) => linked(&self.remark),
                Err(why) => format!("Not measured: {why}"),
            },
            verdict,
            scenario: self.scenario.clone(),
        }
    }
}

/// The text with links to the reference study, and with the indices of coefficients set as such.
pub fn linked(text: &str) -> String {
    let mut text = text.to_string();
    if !text.contains('$') {
        for symbol in ["μ_s", "μ_k", "F_C", "F_S"] {
            text = text.replace(symbol, &format!("${symbol}$"));
        }
    }
    text.replace("reference study", "[reference study](science.html)")
}

impl OpenClaim {
    /// The claim as one that cannot be put to the test.
    pub fn judge(&self) -> Claim {
        Claim {
            claim: self.claim.clone(),
            source: linked(&self.place),
            values: Vec::new(),
            remark: String::new(),
            verdict: Verdict::NotTestable(linked(&self.reason)),
            scenario: String::new(),
        }
    }
}
