//! C99 with the mathematical library.

use super::names::{Identifiers, Language};
use super::print::Style;
use super::{Inclusion, Listing, Value, table_words};

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let names = Identifiers::new(inclusion, Language::C);
    let listing = Listing::new(inclusion, Style::C, &names);
    let mut out = String::from("/*\n");
    for line in listing.head() {
        out += &format!(" * {}\n", line.replace("*/", "* /"));
    }
    out += " */\n#include <math.h>\n";
    for (about, group) in &listing.constants {
        out += &format!("\n/* {about} */\n");
        for constant in group {
            let value = Style::C.number(constant.value);
            out += &format!("static const double {} = {value};\n", constant.name);
        }
    }
    for (i, table) in &listing.tables {
        out += &format!("\n/* Table of the input {}. */\n", i + 1);
        out += &format!(
            "static const double TIMES_{}[] = {{{}}};\n",
            i + 1,
            Style::C.numbers(table.times())
        );
        out += &format!(
            "static const double VALUES_{}[] = {{{}}};\n",
            i + 1,
            Style::C.numbers(table.values())
        );
    }
    let n = listing.states.len();
    let states: Vec<String> = listing.states.iter().map(|name| format!("\"{name}\"")).collect();
    out += &format!("\nenum {{ N = {n} }};\n");
    out += &format!("const char *const STATES[N] = {{{}}};\n", states.join(", "));
    out += &format!(
        "const double INITIAL[N] = {{{}}};\n",
        Style::C.numbers(&listing.initial)
    );
    let mut rhs = String::from(
        "\n/* Rates of the states y at time t. */\nvoid rhs(double t, const double y[N], double rates[N])\n{\n",
    );
    if !listing.uses_time {
        rhs += "    (void)t;\n";
    }
    for (i, (variable, _)) in listing.variables.iter().enumerate().filter(|(_, (_, used))| *used) {
        rhs += &format!("    const double {variable} = y[{i}];\n");
    }
    for local in &listing.locals {
        if !local.about.is_empty() {
            rhs += &format!("    /* {} */\n", local.about);
        }
        match &local.value {
            Value::Expression(text) => rhs += &format!("    const double {} = {text};\n", local.name[0]),
            Value::Table(i) => rhs += &table(&listing, *i, &local.name[0]),
            Value::Limited(bound, parts) => {
                let (first, count) = (&local.name[0], parts.len());
                let vector = names.free(&format!("{}_vector", first.trim_end_matches("_x")));
                rhs += &format!("    double {vector}[{count}] = {{{}}};\n", parts.join(", "));
                rhs += &format!("    sat_vector({bound}, {vector}, {count});\n");
                for (i, name) in local.name.iter().enumerate() {
                    rhs += &format!("    const double {name} = {vector}[{i}];\n");
                }
            }
        }
    }
    for (i, (rate, state)) in listing.rates.iter().zip(&listing.states).enumerate() {
        rhs += &format!("    rates[{i}] = {rate}; /* {state} */\n");
    }
    rhs += "}\n";
    out + &helpers(&listing, &rhs) + &rhs
}

fn table(listing: &Listing, input: usize, name: &str) -> String {
    let Some((_, points)) = listing.tables.iter().find(|(i, _)| *i == input) else {
        return String::new();
    };
    let (step, after) = table_words(points);
    let number = input + 1;
    format!(
        "    const double {name} = table(t, TIMES_{number}, VALUES_{number}, {}, {}, '{}');\n",
        points.times().len(),
        u8::from(step),
        &after[..1]
    )
}

fn helpers(listing: &Listing, rhs: &str) -> String {
    let mut out = String::new();
    for (name, sign) in [("lesser", "<"), ("greater", ">")] {
        if rhs.contains(&format!("{name}(")) {
            out += &format!(
                "\n/* The {name} of two numbers; NaN if one is. */\nstatic double {name}(double a, double b)\n{{\n    \
                 return a {sign} b || a != a ? a : b;\n}}\n"
            );
        }
    }
    if listing.limits_scalar {
        out += "\n/* x limited to the size bound; a negative bound counts as 0. */\nstatic double sat(double bound, double x)\n{\n    \
                bound = bound < 0.0 ? 0.0 : bound;\n    return x < -bound ? -bound : x > bound ? bound : x;\n}\n";
    }
    if listing.limits_vector {
        out += "\n/* The vector x limited to the length bound; a negative bound counts as 0. */\nstatic void sat_vector(double bound, double *x, int n)\n{\n    \
                double length = 0.0;\n    bound = bound < 0.0 ? 0.0 : bound;\n    for (int i = 0; i < n; i++)\n        length = hypot(length, x[i]);\n    \
                if (length > bound)\n        for (int i = 0; i < n; i++)\n            x[i] *= bound / length;\n}\n";
    }
    if listing.uses_sign {
        out +=
            "\n/* -1, 0 or 1. */\nstatic double sign(double x)\n{\n    return x != x ? x : (x > 0.0) - (x < 0.0);\n}\n";
    }
    if !listing.tables.is_empty() {
        out += "\n/* The value of a table at time t; after its end it holds, repeats or is zero. */\n\
                static double table(double t, const double *times, const double *values, int n, int step, char after)\n{\n    \
                const double last = times[n - 1];\n    if (t > last && after == 'z')\n        return 0.0;\n    \
                double slack = 0.0; /* for times such as 0.3 with period 0.1 */\n    \
                if (t >= last && after == 'r') {\n        slack = 8.9e-16*t;\n        \
                t -= (last - times[0])*floor((t - times[0] + slack)/(last - times[0]));\n    }\n    int i = 0;\n    \
                while (i + 1 < n && times[i + 1] <= t + slack)\n        i++;\n    \
                if (step || t <= times[i] || i + 1 == n)\n        return values[i];\n    \
                return values[i] + (values[i + 1] - values[i])*(t - times[i])/(times[i + 1] - times[i]);\n}\n";
    }
    out
}
