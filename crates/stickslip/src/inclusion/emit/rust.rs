//! Rust with the standard library only.

use super::names::{Identifiers, Language};
use super::print::Style;
use super::{Inclusion, Listing, Value, table_words};

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let names = Identifiers::new(inclusion, Language::Rust);
    let listing = Listing::new(inclusion, Style::Rust, &names);
    let mut out = String::new();
    for line in listing.head() {
        out += &format!("//! {line}\n");
    }
    out += "// Names are those of the equations.\n#![allow(non_snake_case, non_upper_case_globals, clippy::all)]\n";
    for (about, group) in &listing.constants {
        out += &format!("\n// {about}\n");
        for constant in group {
            out += &format!(
                "const {}: f64 = {};\n",
                constant.name,
                Style::Rust.number(constant.value)
            );
        }
    }
    let n = listing.states.len();
    let states: Vec<String> = listing.states.iter().map(|name| format!("\"{name}\"")).collect();
    out += &format!(
        "\n/// Names of the states.\npub const STATES: [&str; {n}] = [{}];\n",
        states.join(", ")
    );
    out += &format!(
        "/// Their initial values.\npub const INITIAL: [f64; {n}] = [{}];\n",
        Style::Rust.numbers(&listing.initial)
    );
    let time = if listing.uses_time { "t" } else { "_" };
    let mut rhs =
        format!("\n/// Rates of the states y at time t.\npub fn rhs({time}: f64, y: &[f64; {n}]) -> [f64; {n}] {{\n");
    let variables = listing.variables.iter();
    let variables = variables.map(|(name, used)| if *used { name.as_str() } else { "_" });
    rhs += &format!("    let [{}] = *y;\n", variables.collect::<Vec<_>>().join(", "));
    for local in &listing.locals {
        if !local.about.is_empty() {
            rhs += &format!("    // {}\n", local.about);
        }
        let value = match &local.value {
            Value::Expression(text) => text.clone(),
            Value::Table(i) => table(&listing, *i),
            Value::Limited(bound, parts) => format!("sat_vector({bound}, [{}])", parts.join(", ")),
        };
        match local.name.as_slice() {
            [name] => rhs += &format!("    let {name} = {value};\n"),
            several => rhs += &format!("    let [{}] = {value};\n", several.join(", ")),
        }
    }
    rhs += "    [\n";
    for (rate, state) in listing.rates.iter().zip(&listing.states) {
        rhs += &format!("        {rate}, // {state}\n");
    }
    rhs += "    ]\n}\n";
    out + &helpers(&listing, &rhs) + &rhs
}

fn table(listing: &Listing, input: usize) -> String {
    let Some((_, points)) = listing.tables.iter().find(|(i, _)| *i == input) else {
        return "f64::NAN".to_string();
    };
    let (step, after) = table_words(points);
    let (times, values) = (
        Style::Rust.numbers(points.times()),
        Style::Rust.numbers(points.values()),
    );
    format!("table(t, &[{times}], &[{values}], {step}, \"{after}\")")
}

fn helpers(listing: &Listing, rhs: &str) -> String {
    let mut out = String::new();
    for (name, sign) in [("lesser", "<"), ("greater", ">")] {
        if rhs.contains(&format!("{name}(")) {
            out += &format!(
                "\n/// The {name} of two numbers; NaN if one is.\npub fn {name}(a: f64, b: f64) -> f64 {{\n    \
                 if a {sign} b || a.is_nan() {{ a }} else {{ b }}\n}}\n"
            );
        }
    }
    if listing.limits_scalar {
        out += "\n/// x limited to the size of the bound; a negative bound counts as 0.\npub fn sat(bound: f64, x: f64) -> f64 {\n    \
                let bound = if bound < 0.0 { 0.0 } else { bound };\n    \
                if x < -bound {\n        -bound\n    } else if x > bound {\n        bound\n    } else {\n        x\n    }\n}\n";
    }
    if listing.limits_vector {
        out += "\n/// The vector x limited to the length of the bound; a negative bound counts as 0.\n\
                pub fn sat_vector<const N: usize>(bound: f64, x: [f64; N]) -> [f64; N] {\n    \
                let bound = if bound < 0.0 { 0.0 } else { bound };\n    let length = x.iter().fold(0.0, |length, &part| f64::hypot(length, part));\n    \
                if length > bound { x.map(|part| bound / length * part) } else { x }\n}\n";
    }
    if listing.uses_sign {
        out += "\n/// -1, 0 or 1.\npub fn sign(x: f64) -> f64 {\n    if x == 0.0 { 0.0 } else { x.signum() }\n}\n";
    }
    if !listing.tables.is_empty() {
        out += "\n/// The value of a table at time t.\n\
                pub fn table(mut t: f64, times: &[f64], values: &[f64], step: bool, after: &str) -> f64 {\n    \
                let (first, last) = (times[0], times[times.len() - 1]);\n    \
                if t > last && after == \"zero\" {\n        return 0.0;\n    }\n    \
                let mut slack = 0.0; // for times such as 0.3 with period 0.1\n    \
                if t >= last && after == \"repeat\" {\n        slack = 8.9e-16 * t;\n        \
                t -= (last - first) * ((t - first + slack) / (last - first)).floor();\n    }\n    \
                let i = times.iter().filter(|&&time| time <= t + slack).count().saturating_sub(1);\n    \
                if step || t <= times[i] || i + 1 == times.len() {\n        return values[i];\n    }\n    \
                values[i] + (values[i + 1] - values[i]) * (t - times[i]) / (times[i + 1] - times[i])\n}\n";
    }
    if out.is_empty() {
        return out;
    }
    // In a module, where no constant of the equations can take the place of a local name.
    let lines = out.trim_start().lines();
    let lines = lines.map(|line| {
        if line.is_empty() {
            String::new()
        } else {
            format!("    {line}")
        }
    });
    let lines: Vec<String> = lines.collect();
    format!("\nuse helpers::*;\n\nmod helpers {{\n{}\n}}\n", lines.join("\n"))
}
