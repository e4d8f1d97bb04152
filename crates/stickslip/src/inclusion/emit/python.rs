//! Python, with the standard library only.

use super::names::{Identifiers, Language};
use super::print::Style;
use super::{Inclusion, Listing, Value, table_words};

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let names = Identifiers::new(inclusion, Language::Python);
    let listing = Listing::new(inclusion, Style::Python, &names);
    let mut body = constants(&listing);
    body += &format!("\nSTATES = [{}]\n", quoted(&listing.states));
    body += &format!("INITIAL = [{}]\n", numbers(&listing.initial));
    body += &helpers(&listing);
    body += "\n\ndef rhs(t, y):\n    \"\"\"Rates of the states y at time t.\"\"\"\n";
    let variables: Vec<&str> = listing.variables.iter().map(|(name, _)| name.as_str()).collect();
    let tuple = match variables.as_slice() {
        [one] => format!("[{one}]"),
        several => several.join(", "),
    };
    body += &format!("    {tuple} = y\n");
    for local in &listing.locals {
        if !local.about.is_empty() {
            body += &format!("    # {}\n", local.about);
        }
        let value = match &local.value {
            Value::Expression(text) => text.clone(),
            Value::Table(i) => format!("table(t, *TABLE_{})", i + 1),
            Value::Limited(bound, parts) => format!("sat_vector({bound}, {})", parts.join(", ")),
        };
        body += &format!("    {} = {value}\n", local.name.join(", "));
    }
    body += "    return [\n";
    for (rate, state) in listing.rates.iter().zip(&listing.states) {
        body += &format!("        {rate},  # {state}\n");
    }
    body += "    ]\n";
    let math = if body.contains("math.") { "import math\n\n" } else { "" };
    let head = listing.head().join("\n\n").replace('\\', "\\\\").replace('"', "'");
    format!("\"\"\"{head}\"\"\"\n\n{math}{}", body.trim_start())
}

fn constants(listing: &Listing) -> String {
    let mut out = String::new();
    for (about, group) in &listing.constants {
        out += &format!("\n# {about}\n");
        for constant in group {
            out += &format!("{} = {:?}\n", constant.name, constant.value);
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
            numbers(table.times()),
            numbers(table.values()),
            if step { "True" } else { "False" }
        );
    }
    out
}

fn helpers(listing: &Listing) -> String {
    let mut out = String::new();
    if listing.limits_scalar {
        out += "\n\ndef sat(bound, x):\n    \"\"\"x limited to the size bound; a negative bound counts as 0.\"\"\"\n    bound = max(0.0, bound)\n    return max(-bound, min(bound, x))\n";
    }
    if listing.limits_vector {
        out += "\n\ndef sat_vector(bound, *x):\n    \"\"\"The vector x limited to the length bound; a negative bound counts as 0.\"\"\"\n    \
                bound, length = max(0.0, bound), math.hypot(*x)\n    return x if length <= bound else tuple(bound / length * part for part in x)\n";
    }
    if listing.uses_sign {
        out += "\n\ndef sign(x):\n    \"\"\"-1, 0 or 1.\"\"\"\n    return float((x > 0) - (x < 0))\n";
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

fn numbers(values: &[f64]) -> String {
    values
        .iter()
        .map(|value| format!("{value:?}"))
        .collect::<Vec<_>>()
        .join(", ")
}
