//! Why a study could not be done.

use std::fmt;
use stickslip::core::registry::{Family, names};
use stickslip::scenario::diagnostic::nearest;
use stickslip::scenario::{ScenarioError, law_meant};

/// Why a study could not be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The scenario is wrong.
    Scenario(Box<ScenarioError>),
    /// What was asked for is wrong.
    Input {
        /// What is wrong.
        message: String,
        /// What to write instead; empty if there is nothing to say.
        help: String,
    },
    /// It was well asked for and could not be done.
    Work(String),
    /// It was told to stop.
    Stopped,
}

impl Fault {
    /// Wrong input, with advice.
    pub fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input {
            message: message.into(),
            help: help.into(),
        }
    }

    /// A name that does not exist, with the nearest one and the list of all.
    pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::input(format!("there is no {what} \"{name}\""), suggestion(name, what, known))
    }

    /// A friction law that does not exist, with the one that is meant.
    pub fn unknown_law(name: &str) -> Self {
        let (message, help) = unknown_law(name);
        Self::input(message, help)
    }
}

impl From<ScenarioError> for Fault {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Input { message, help } if help.is_empty() => f.write_str(message),
            Self::Input { message, help } => write!(f, "{message}\nhelp: {help}"),
            Self::Work(text) => f.write_str(text),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Fault {}

/// "did you mean" and the list of what there is.
pub fn suggestion<'a>(name: &str, what: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let list = known.join(", ");
    match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"? Each {what} there is: {list}"),
        None => format!("each {what} there is: {list}"),
    }
}

/// What is said of a friction law that does not exist, and what is meant.
pub fn unknown_law(name: &str) -> (String, String) {
    let known = names(Family::Friction).collect::<Vec<_>>().join(", ");
    let help = match law_meant(Family::Friction, name) {
        Some(meant) => format!("did you mean \"{meant}\"? The laws are {known}"),
        None => format!("the laws are {known}"),
    };
    (format!("there is no friction law \"{name}\""), help)
}
