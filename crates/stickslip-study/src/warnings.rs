//! Warnings of many runs, each kind once: the runs of a sweep or a map warn of the same with other numbers.

use serde::Serialize;

/// Kinds that are said one by one; how many more there are is said after them.
const MOST_SAID: usize = 10;

/// A warning that runs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Common {
    /// As the first of them says it.
    pub message: String,
    /// How many runs say it.
    pub runs: u64,
    /// Whether they say it with different numbers.
    #[serde(skip)]
    pub varies: bool,
    #[serde(skip)]
    pattern: String,
}

/// What many runs warn of.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    runs: u64,
    kinds: Vec<Common>,
}

/// A message without its numbers. What stands in quotation marks, such as the name of an element, stays.
fn pattern(message: &str) -> String {
    let mut pattern = String::with_capacity(message.len());
    let (mut quoted, mut number, mut word) = (false, false, false);
    let mut before = ' ';
    for character in message.chars() {
        quoted ^= character == '"';
        // The rest of 1.5e-3; a full stop after a number does no harm, as all messages of a kind have it.
        let more = matches!(character, '.' | 'e') || (before == 'e' && matches!(character, '-' | '+'));
        let part = !quoted && !word && (character.is_ascii_digit() || (number && more));
        if !part {
            pattern.push(character);
        } else if !number {
            pattern.push('#');
        }
        number = part;
        // Digits within a word belong to it.
        word = !part && (character.is_alphabetic() || (word && character.is_alphanumeric()));
        before = character;
    }
    pattern
}

impl Warnings {
    /// Takes note of what a run warns of.
    pub fn take(&mut self, warnings: &[String]) {
        self.runs += 1;
        let mut seen: Vec<usize> = Vec::new();
        for message in warnings {
            let kind = pattern(message);
            let known = self.kinds.iter().position(|other| other.pattern == kind);
            let place = known.unwrap_or(self.kinds.len());
            if known.is_none() {
                self.kinds.push(Common {
                    message: message.clone(),
                    runs: 0,
                    varies: false,
                    pattern: kind,
                });
            }
            let common = &mut self.kinds[place];
            common.varies |= common.message != *message;
            // A run that says the same of several things counts once.
            if !seen.contains(&place) {
                common.runs += 1;
                seen.push(place);
            }
        }
    }

    /// What there is, in the order in which it was first said.
    pub fn kinds(&self) -> &[Common] {
        &self.kinds
    }

    /// The same as sentences.
    pub fn sentences(&self) -> Vec<String> {
        let said = self.kinds.iter().take(MOST_SAID).map(|common| {
            let numbers = if common.varies {
                ", with the numbers of the first"
            } else {
                ""
            };
            let runs = if self.runs == 1 { "run" } else { "runs" };
            format!("{} ({} of {} {runs}{numbers})", common.message, common.runs, self.runs)
        });
        let mut sentences: Vec<String> = said.collect();
        if self.kinds.len() > MOST_SAID {
            sentences.push(format!("{} more kinds of warnings", self.kinds.len() - MOST_SAID));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_said_once_with_the_number_of_its_runs() {
        let mut warnings = Warnings::default();
        let rows: [&[&str]; 4] = [
            &[
                "\"pad1\": a step of 2e-3 s is too long",
                "\"pad2\": a step of 2e-3 s is too long",
            ],
            &["\"pad1\": a step of 0.015 s is too long"],
            &[],
            &[
                "no gravity",
                "\"pad1\": a step of 1.2e+1 s is too long",
                "\"pad1\": a step of 3 s is too long",
            ],
        ];
        for row in rows {
            let row: Vec<String> = row.iter().map(|text| text.to_string()).collect();
            warnings.take(&row);
        }
        let found = warnings.sentences();
        assert_eq!(
            found,
            [
                "\"pad1\": a step of 2e-3 s is too long (3 of 4 runs, with the numbers of the first)",
                "\"pad2\": a step of 2e-3 s is too long (1 of 4 runs)",
                "no gravity (1 of 4 runs)",
            ]
        );
    }

    #[test]
    fn units_and_names_are_no_numbers() {
        // A number in a name outside quotation marks belongs to the name.
        assert_ne!(pattern("body b12 is fast"), pattern("body b13 is fast"));
        assert_eq!(pattern("at 1.5e-3 m/s"), pattern("at 20 m/s"));
        assert_ne!(pattern("at 1.5 m/s"), pattern("at 1.5 m"));
    }
}
