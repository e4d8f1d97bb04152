//! For people: what was written, what each term became, and the equation that results.

use super::names::{Identifiers, Language};
use super::print::{Level, Printer, Style};
use super::{Inclusion, plain, relation, unseen, written};
use crate::profile::Profile;
use std::collections::HashMap;

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let mut names = Identifiers::new(inclusion, Language::Plain);
    names.states = inclusion.states.clone();
    let printer = Printer {
        graph: &inclusion.graph,
        names: &names,
        style: Style::Text,
        named: HashMap::new(),
    };
    let (before, after) = (inclusion.written_states(), inclusion.states.len());
    let mut out = String::new();
    if !inclusion.description.title.is_empty() {
        out += &format!("{}\n", inclusion.description.title.replace(unseen, " "));
    }
    let grow = if after > before {
        format!("{before} states become {after}")
    } else {
        format!("{before} states")
    };
    out += &format!("Rewritten by the procedure of Xiong, Kikuuwe and Yamamoto, section 3.3: {grow}.\n");
    out += "\nDifferential inclusion\n";
    let width = inclusion
        .states
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    for (name, &right) in inclusion.states.iter().zip(&inclusion.written) {
        let relation = relation(inclusion, right, "∈");
        out += &format!("  d/dt {name:width$} {relation} {}\n", printer.text(right));
    }
    if !inclusion.description.inputs.is_empty() {
        out += "\nInputs\n";
    }
    for (i, input) in inclusion.description.inputs.iter().enumerate() {
        let value = match (&input.profile, inclusion.inputs[i]) {
            (Profile::Constant(value), _) => printer.number(*value),
            (Profile::Table(table), _) => format!("a table of {} points", table.times().len()),
            (_, Some(formula)) => printer.text(formula),
            (_, None) => "a function of t".to_string(),
        };
        out += &format!("  {} = {value}\n", input.name);
    }
    out += &contacts(inclusion, &printer);
    out += &frictions(inclusion, &printer);
    out += "\nOrdinary differential equation\n";
    for (state, rate) in inclusion.states.iter().zip(rates(inclusion, &printer)) {
        out += &format!("  d/dt {state:width$} = {rate}\n");
    }
    out + &numbers(inclusion, &printer)
}

/// "in the equations of v1x, v1y".
fn place(inclusion: &Inclusion, used_in: &[usize]) -> String {
    let names: Vec<&str> = used_in.iter().map(|&state| inclusion.states[state].as_str()).collect();
    format!(
        "in the equation{} of {}",
        if names.len() > 1 { "s" } else { "" },
        names.join(", ")
    )
}

fn contacts(inclusion: &Inclusion, printer: &Printer<'_>) -> String {
    if inclusion.contacts.is_empty() {
        return String::new();
    }
    let mut out =
        "\nStep 1: dio(ψ) becomes K·max(0, e - β·(ψ + e)/α), with a state d/dt e = max(-e/β, -(ψ + e)/α) (eq 15)\n"
            .to_string();
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let named = &printer.names.contacts[i];
        let [k, beta, alpha] = &named.numbers;
        let e = &inclusion.states[inclusion.written_states() + i];
        let sum = format!("({} + {e})", printer.at_least(contact.argument, Level::SUM));
        out += &format!("  {} = {k}·max(0, {e} - {beta}·{sum}/{alpha})\n", named.force[0]);
        let from = plain(&inclusion.description, &inclusion.graph, contact.written).replace('*', "·");
        out += &format!("    from {from} {}\n", place(inclusion, &contact.used_in));
    }
    out
}

fn frictions(inclusion: &Inclusion, printer: &Printer<'_>) -> String {
    if inclusion.frictions.is_empty() {
        return String::new();
    }
    let mut out =
        "\nStep 2: χ·sgn(θ) becomes K·sat(χ/K, a + β·θ), with a state d/dt a = (sat(χ/K, a + β·θ) - a)/β (eq 9); a negative χ counts as 0\n"
            .to_string();
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        let named = &printer.names.frictions[i];
        let [k, beta, _] = &named.numbers;
        let state = inclusion.friction_state(i);
        let arguments: Vec<String> = friction
            .arguments
            .iter()
            .enumerate()
            .map(|(c, id)| {
                format!(
                    "{} + {beta}·{}",
                    inclusion.states[state + c],
                    printer.at_least(id, Level::FACTOR)
                )
            })
            .collect();
        let vector = |parts: &[String]| match parts {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let bound = printer.at_least(friction.bound, Level::PRODUCT);
        out += &format!(
            "  {} = {k}·sat({bound}/{k}, {})\n",
            vector(&named.force),
            vector(&arguments)
        );
        let from = written(inclusion, i).replace('*', "·");
        out += &format!("    from {from} {}\n", place(inclusion, &friction.used_in));
    }
    out
}

fn rates(inclusion: &Inclusion, printer: &Printer<'_>) -> Vec<String> {
    let mut rates: Vec<String> = inclusion.rates.iter().map(|&rate| printer.text(rate)).collect();
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let [_, beta, alpha] = &printer.names.contacts[i].numbers;
        let e = &inclusion.states[inclusion.written_states() + i];
        let sum = format!("({} + {e})", printer.at_least(contact.argument, Level::SUM));
        rates.push(format!("max(-{e}/{beta}, -{sum}/{alpha})"));
    }
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        let named = &printer.names.frictions[i];
        let [k, beta, _] = &named.numbers;
        for c in 0..friction.arguments.len() {
            let a = &inclusion.states[inclusion.friction_state(i) + c];
            rates.push(format!("({}/{k} - {a})/{beta}", named.force[c]));
        }
    }
    rates
}

fn numbers(inclusion: &Inclusion, printer: &Printer<'_>) -> String {
    let mut lines = Vec::new();
    let parameters = &inclusion.description.parameters;
    if !parameters.is_empty() {
        let parts: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name} = {}", printer.number(*value)))
            .collect();
        lines.push(parts.join(", "));
    }
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let [k, beta, alpha] = &printer.names.contacts[i].numbers;
        let [x, y, z] = [contact.stiffness, contact.beta, contact.alpha].map(|value| printer.number(value));
        lines.push(format!("{k} = {x}, {beta} = {y}, {alpha} = {z}"));
    }
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        let [k, beta, _] = &printer.names.frictions[i].numbers;
        let [x, y] = [friction.stiffness, friction.beta].map(|value| printer.number(value));
        lines.push(format!("{k} = {x}, {beta} = {y}"));
    }
    let start: Vec<String> = inclusion
        .states
        .iter()
        .zip(&inclusion.initial)
        .map(|(name, value)| format!("{name} = {}", printer.number(*value)))
        .collect();
    let mut out = String::new();
    if !lines.is_empty() {
        out += &format!("\nNumbers\n  {}\n", lines.join("\n  "));
    }
    out + &format!("\nAt the start\n  {}\n", start.join(", "))
}
