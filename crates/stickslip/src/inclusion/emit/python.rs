//! Python, with the standard library only.

use super::names::{Identifiers, Language};
use super::print::Style;
use super::{Inclusion, Listing, Value, table_words};

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let names = Identifiers::new(inclusion, Language::Python);
    let listing = Listing::new(inclusion, Style::Python, &names);
    let mut body = constants(&listing);
    body += &format!("\nSTATES = [{}]\n", quoted(&listing.states));
    body += &format!("INITIAL = [{}]\n", Style::Python.numbers(&listing.initial));
    let mut rhs = String::from("\n\ndef rhs(t, y):\n    \"\"\"Rates of the states y at time t.\"\"\"\n");
    let variables: Vec<&str> = listing.variables.iter().map(|(name, _)| name.as_str()).collect();
    let tuple = match variables.as_slice() {
        [one] => format!("[{one}]"),
        several => several.join(", "),
    };
    rhs += &format!("    {tuple} = y\n");
    for local in &listing.locals {
        if !local.about.is_empty() {
            rhs += &format!("    # {}\n", local.about);
        }
        let value = match &local.value {
            Value::Expression(text) => text.clone(),
            Value::Table(i) => format!("table(t, *TABLE_{})", i + 1),
            Value::Limited(bound, parts) => format!("sat_vector({bound}, {})", parts.join(", ")),
        };
        rhs += &format!("    {} = {value}\n", local.name.join(", "));
    }
    rhs += "    return [\n";
    for (rate, state) in listing.rates.iter().zip(&listing.states) {
        rhs += &format!("        {rate},  # {state}\n");
    }
    rhs += "    ]\n";
    body += &helpers(&listing, &rhs);
    body += &rhs;
    let math = if body.contains("math.") { "import math\n\n" } else { "" };
    let head = listing.head().join("\n\n").replace('\\', "\\\\").replace('"', "'");
    format!("\"\"\"{head}\"\"\"\n\n{math}{}", body.trim_start())
}

fn constants(listing: &Listing) -> String {
    let mut out = String::new();
    for (about, group) in &listing.constants {
        out += &format!("\n# {about}\n");
        for constant in group {
            out += &format!("{} = {}\n", constant.name, Style::Python.number(constant.value));
        }
    }
    for (i, table) in &listing.tables {
        let (step, after) = table_words(table);
        out += &format!(
            "\n# Table of the input {}: times, values, step or line, what comes after.\n",
            i + 1
        );
        out += &format!(
            "TABLE_{} = ([{}], [{}], {}, \"{after}\")\n",
            i + 1,
            Style::Python.numbers(table.times()),
            Style::Python.numbers(table.values()),
            if step { "True" } else { "False" }
        );
    }
    out
}

/// Functions that give what the tool gives where Python would raise an exception: name, arguments, what it is, body.
const FUNCTIONS: [(&str, &str, &str, &str); 10] = [
    (
        "lesser",
        "a, b",
        "The lesser of two; nan if one is.",
        "return a if a < b or a != a else b",
    ),
    (
        "greater",
        "a, b",
        "The greater of two; nan if one is.",
        "return a if a > b or a != a else b",
    ),
    (
        "divide",
        "a, b",
        "a/b, also by 0.",
        "if b != 0:\n        return a/b\n    return math.nan if a == 0 or a != a else math.copysign(1.0, a)*math.copysign(math.inf, b)",
    ),
    (
        "power",
        "a, b",
        "a to the power b; infinite or nan where there is no finite value.",
        "odd = abs(b) < 2.0**53 and b % 2.0 == 1.0\n    try:\n        return math.pow(a, b)\n    except OverflowError:\n        \
         return -math.inf if a < 0 and odd else math.inf\n    except ValueError:\n        \
         return math.nan if a != 0 else math.copysign(math.inf, a) if odd else math.inf",
    ),
    (
        "sqrt",
        "x",
        "nan below 0.",
        "return math.sqrt(x) if x >= 0 else math.nan",
    ),
    (
        "ln",
        "x",
        "nan below 0.",
        "return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan",
    ),
    (
        "exp",
        "x",
        "Infinite where it is too large.",
        "try:\n        return math.exp(x)\n    except OverflowError:\n        return math.inf",
    ),
    (
        "sin",
        "x",
        "nan of what is infinite.",
        "return math.sin(x) if math.isfinite(x) else math.nan",
    ),
    (
        "cos",
        "x",
        "nan of what is infinite.",
        "return math.cos(x) if math.isfinite(x) else math.nan",
    ),
    (
        "tan",
        "x",
        "nan of what is infinite.",
        "return math.tan(x) if math.isfinite(x) else math.nan",
    ),
];

fn helpers(listing: &Listing, rhs: &str) -> String {
    let mut out = String::new();
    for (name, arguments, about, body) in FUNCTIONS {
        if rhs.contains(&format!("{name}(")) {
            out += &format!("\n\ndef {name}({arguments}):\n    \"\"\"{about}\"\"\"\n    {body}\n");
        }
    }
    if listing.limits_scalar {
        out += "\n\ndef sat(bound, x):\n    \"\"\"x limited to the size bound; a negative bound counts as 0.\"\"\"\n    \
                bound = 0.0 if bound < 0 else bound\n    return -bound if x < -bound else bound if x > bound else x\n";
    }
    if listing.limits_vector {
        out += "\n\ndef sat_vector(bound, *x):\n    \"\"\"The vector x limited to the length bound; a negative bound counts as 0.\"\"\"\n    \
                bound, length = 0.0 if bound < 0 else bound, math.hypot(*x)\n    \
                return tuple(bound/length*part for part in x) if length > bound else x\n";
    }
    if listing.uses_sign {
        out += "\n\ndef sign(x):\n    \"\"\"-1, 0 or 1.\"\"\"\n    return x if x != x else float((x > 0) - (x < 0))\n";
    }
    if !listing.tables.is_empty() {
        out += "\n\ndef table(t, times, values, step, after):\n    \"\"\"The value of a table at time t.\"\"\"\n    \
                if t > times[-1] and after == \"zero\":\n        return 0.0\n    \
                slack = 0.0\n    if t >= times[-1] and after == \"repeat\":\n        \
                period, slack = times[-1] - times[0], 8.9e-16*t  # for times such as 0.3 with period 0.1\n        \
                t -= period*math.floor((t - times[0] + slack)/period)\n    \
                i = max(0, sum(time <= t + slack for time in times) - 1)\n    \
                if step or t <= times[i] or i + 1 == len(times):\n        return values[i]\n    \
                return values[i] + (values[i + 1] - values[i])*(t - times[i])/(times[i + 1] - times[i])\n";
    }
    out
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("\"{name}\""))
        .collect::<Vec<_>>()
        .join(", ")
}
