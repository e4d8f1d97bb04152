mod bad;
mod corpus;
mod good;
mod robust;
mod schema;
mod set;

use super::*;

/// The scenario, or the findings as a panic.
fn parse(text: &str) -> Scenario {
    parse_with(text, &[])
}

fn parse_with(text: &str, sets: &[&str]) -> Scenario {
    match Scenario::parse(text, "test.toml", &owned(sets)) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn fail(text: &str, sets: &[&str]) -> ScenarioError {
    match Scenario::parse(text, "test.toml", &owned(sets)) {
        Ok(_) => panic!("this should be refused:\n{text}\n{sets:?}"),
        Err(error) => error,
    }
}

fn owned(sets: &[&str]) -> Vec<String> {
    sets.iter().map(ToString::to_string).collect()
}
