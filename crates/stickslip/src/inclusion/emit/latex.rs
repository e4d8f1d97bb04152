//! A LaTeX document. Added states and their numbers are called as in the paper: e, a, K, β, α with their index (Xiong, Kikuuwe and Yamamoto,
//! eq 18).

use super::print::comparison;
use super::{Inclusion, relation, unseen};
use crate::inclusion::graph::{Id, Op};
use crate::inclusion::rewrite::AXES;
use crate::inclusion::tree::Name;
use crate::profile::Profile;
use crate::profile::parser::{Binary, Comparison, FUNCTIONS, Unary};

const GREEK: &[(&str, char)] = &[
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
    ("Omega", 'Ω'),
    ("Phi", 'Φ'),
    ("Theta", 'Θ'),
    ("Delta", 'Δ'),
    ("Sigma", 'Σ'),
];

pub(super) fn emit(inclusion: &Inclusion) -> String {
    let latex = Latex(inclusion);
    let title = match inclusion.description.title.as_str() {
        "" => "A differential inclusion".to_string(),
        title => escaped(&title.replace(unseen, " ")),
    };
    let mut out = format!(
        "\\documentclass{{article}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage{{amsmath}}\n\\allowdisplaybreaks\n\
         \\begin{{document}}\n\\section*{{{title}}}\n\nThe differential inclusion\n"
    );
    let rate = |state: usize, relation: &str, right: String| {
        format!(
            "\\frac{{\\mathrm{{d}}}}{{\\mathrm{{d}}t}} {} &{relation} {right}",
            latex.state(state)
        )
    };
    let rows = inclusion.written.iter().enumerate();
    out += &align(
        rows.map(|(i, &right)| rate(i, relation(inclusion, right, "\\in"), latex.text(right)))
            .collect(),
    );
    let inputs: Vec<String> = inclusion
        .description
        .inputs
        .iter()
        .enumerate()
        .filter_map(|(i, input)| {
            let value = match (&input.profile, inclusion.inputs[i]) {
                (Profile::Constant(value), _) => number(*value),
                (_, formula) => latex.text(formula?),
            };
            Some(format!("{} &= {value}", symbol(&input.name)))
        })
        .collect();
    if !inputs.is_empty() {
        out += "with\n";
        out += &align(inputs);
    }
    out += "becomes the ordinary differential equation\n";
    let mut rows: Vec<String> = inclusion
        .rates
        .iter()
        .enumerate()
        .map(|(i, &right)| rate(i, "=", latex.text(right)))
        .collect();
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let state = inclusion.written_states() + i;
        let (e, n, psi) = (latex.state(state), i + 1, latex.at_least(contact.argument, 3));
        let right =
            format!("\\max\\left(-\\frac{{{e}}}{{\\beta_{{d{n}}}}}, -\\frac{{{psi} + {e}}}{{\\alpha_{{{n}}}}}\\right)");
        rows.push(rate(state, "=", right));
    }
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        for c in 0..friction.arguments.len() {
            let (state, n) = (inclusion.friction_state(i) + c, i + 1);
            let force = latex.friction(i, c);
            let right = format!(
                "\\frac{{{force}/K_{{s{n}}} - {}}}{{\\beta_{{s{n}}}}}",
                latex.state(state)
            );
            rows.push(rate(state, "=", right));
        }
    }
    out += &align(rows);
    let mut rows = Vec::new();
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let (e, n) = (latex.state(inclusion.written_states() + i), i + 1);
        let psi = latex.at_least(contact.argument, 3);
        rows.push(format!(
            "{} &= K_{{d{n}}} \\max\\left(0, {e} - \\beta_{{d{n}}} \\frac{{{psi} + {e}}}{{\\alpha_{{{n}}}}}\\right)",
            latex.contact(i)
        ));
    }
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        let n = i + 1;
        let state = inclusion.friction_state(i);
        let parts = friction.arguments.iter().enumerate();
        let parts: Vec<String> = parts
            .map(|(c, id)| format!("{} + \\beta_{{s{n}}} {}", latex.state(state + c), latex.at_least(id, 6)))
            .collect();
        let forces: Vec<String> = (0..parts.len()).map(|c| latex.friction(i, c)).collect();
        let column = |parts: &[String]| match parts {
            [one] => one.clone(),
            several => format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", several.join(" \\\\ ")),
        };
        rows.push(format!(
            "{} &= K_{{s{n}}} \\operatorname{{sat}}\\left(\\frac{{{}}}{{K_{{s{n}}}}}, {}\\right)",
            column(&forces),
            latex.text(friction.bound),
            column(&parts)
        ));
    }
    if !rows.is_empty() {
        out += "with\n";
        out += &align(rows);
    }
    out + "\\end{document}\n"
}

fn align(rows: Vec<String>) -> String {
    format!("\\begin{{align*}}\n  {}\n\\end{{align*}}\n", rows.join(" \\\\\n  "))
}

/// A text outside of formulas.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => format!("\\{letter}"),
            '~' | '^' | '\\' => " ".to_string(),
            letter => letter.to_string(),
        })
        .collect()
}

/// 2·10⁴ instead of 20000.0.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{} \\cdot 10^{{{exponent}}}", digits.trim_end_matches(".0")),
        None => text.trim_end_matches(".0").to_string(),
    }
}

/// A name as a letter with an index: `p1x`, `mu1`, `f_e`.
fn symbol(name: &str) -> String {
    let greek = GREEK.iter().find_map(|(word, letter)| {
        let rest = name.strip_prefix(word).or(name.strip_prefix(*letter))?;
        (rest.is_empty() || !rest.starts_with(char::is_alphabetic)).then(|| (format!("\\{word}"), rest))
    });
    // A word stays a word.
    if greek.is_none() && name.len() > 2 && name.chars().all(|letter| letter.is_ascii_alphabetic()) {
        return format!("\\mathrm{{{name}}}");
    }
    let (letter, rest) = greek.unwrap_or_else(|| {
        let mut letters = name.chars();
        let first = letters.next().unwrap_or(' ');
        let first = if first.is_ascii_alphabetic() {
            first.to_string()
        } else {
            format!("\\text{{{}}}", escaped(&first.to_string()))
        };
        (first, letters.as_str())
    });
    match rest.trim_start_matches('_') {
        "" => letter,
        index if index.len() == 1 && index.is_ascii() => format!("{letter}_{index}"),
        index => format!("{letter}_{{\\mathrm{{{}}}}}", escaped(index)),
    }
}

/// Prints nodes; levels are those of the grammar: 3 sum, 5 product, 7 sign, 9 power.
struct Latex<'a>(&'a Inclusion);

impl Latex<'_> {
    fn state(&self, index: usize) -> String {
        let written = self.0.written_states();
        if index < written {
            return symbol(&self.0.states[index]);
        }
        if index < written + self.0.contacts.len() {
            return format!("e_{{{}}}", index - written + 1);
        }
        let name = self.0.states[index].trim_start_matches("sgn");
        format!(
            "a_{{{}}}",
            name.replace('.', "\\mathrm{") + if name.contains('.') { "}" } else { "" }
        )
    }

    fn contact(&self, index: usize) -> String {
        format!("f_{{d{}}}", index + 1)
    }

    fn friction(&self, index: usize, component: usize) -> String {
        let axis = if self.0.frictions[index].arguments.len() > 1 {
            format!("\\mathrm{{{}}}", AXES[component])
        } else {
            String::new()
        };
        format!("f_{{s{}{axis}}}", index + 1)
    }

    fn text(&self, id: Id) -> String {
        self.render(id).0
    }

    fn at_least(&self, id: Id, least: u8) -> String {
        let (text, level) = self.render(id);
        if level < least {
            format!("\\left({text}\\right)")
        } else {
            text
        }
    }

    fn call(&self, name: &str, arguments: &[Id]) -> (String, u8) {
        let texts: Vec<String> = arguments.iter().map(|&id| self.text(id)).collect();
        (format!("{name}\\left({}\\right)", texts.join(", ")), 10)
    }

    fn render(&self, id: Id) -> (String, u8) {
        match self.0.graph.op(id) {
            Op::Number(bits) if f64::from_bits(bits) == std::f64::consts::PI => ("\\pi".to_string(), 10),
            Op::Number(bits) => {
                let text = number(f64::from_bits(bits));
                let level = if text.starts_with('-') || text.contains("cdot") {
                    5
                } else {
                    10
                };
                (text, level)
            }
            Op::Name(Name::Time) => ("t".to_string(), 10),
            Op::Name(Name::State(i)) => (self.state(i), 10),
            Op::Name(Name::Parameter(i)) => (symbol(&self.0.description.parameters[i].0), 10),
            Op::Name(Name::Input(i)) => (symbol(&self.0.description.inputs[i].name), 10),
            Op::Unary(Unary::Negate, a) => (format!("-{}", self.at_least(a, 5)), 3),
            Op::Unary(Unary::Sqrt, a) => (format!("\\sqrt{{{}}}", self.text(a)), 10),
            Op::Unary(Unary::Abs, a) => (format!("\\left|{}\\right|", self.text(a)), 10),
            Op::Unary(function, a) => {
                let known = FUNCTIONS
                    .iter()
                    .find(|(_, other)| *other == function)
                    .map_or("", |(name, _)| *name);
                let name = if function == Unary::Sign {
                    "\\operatorname{sign}".to_string()
                } else {
                    format!("\\{known}")
                };
                self.call(&name, &[a])
            }
            Op::Binary(operation, a, b) => self.binary(operation, a, b),
            Op::Choose(condition, a, b) => {
                let (condition, a, b) = (self.condition(condition), self.text(a), self.text(b));
                (
                    format!(
                        "\\begin{{cases}} {a} & \\text{{if }} {condition} \\\\ {b} & \\text{{otherwise}} \\end{{cases}}"
                    ),
                    4,
                )
            }
            Op::Dio(argument) => self.call("\\operatorname{dio}", &[argument]),
            Op::Sgn(arguments, component) => {
                let arguments: Vec<Id> = arguments.iter().collect();
                let (text, level) = self.call("\\operatorname{sgn}", &arguments);
                match arguments.len() {
                    1 => (text, level),
                    _ => (format!("{text}_{{\\mathrm{{{}}}}}", AXES[component]), level),
                }
            }
            Op::Contact(i) => (self.contact(i), 10),
            Op::Friction(i, component) => (self.friction(i, component), 10),
        }
    }

    fn condition(&self, id: Id) -> String {
        match self.0.graph.op(id) {
            Op::Binary(Binary::Compare(sign), a, b) => self.compared(sign, a, b),
            _ => format!("{} \\neq 0", self.at_least(id, 3)),
        }
    }

    fn compared(&self, sign: Comparison, a: Id, b: Id) -> String {
        let sign = match comparison(sign) {
            "<=" => "\\le",
            ">=" => "\\ge",
            "==" => "=",
            "!=" => "\\ne",
            sign => sign,
        };
        format!("{} {sign} {}", self.at_least(a, 3), self.at_least(b, 3))
    }

    fn begins_with_sign(&self, id: Id) -> bool {
        match self.0.graph.op(id) {
            Op::Unary(Unary::Negate, _) => true,
            Op::Binary(Binary::Multiply, a, _) => self.begins_with_sign(a),
            _ => false,
        }
    }

    fn binary(&self, operation: Binary, a: Id, b: Id) -> (String, u8) {
        match operation {
            Binary::Add => (format!("{} + {}", self.at_least(a, 3), self.at_least(b, 4)), 3),
            Binary::Subtract => (format!("{} - {}", self.at_least(a, 3), self.at_least(b, 4)), 3),
            Binary::Multiply => {
                // A sign in front of a product needs no bracket.
                let signed = self.begins_with_sign(a);
                let (left, right) = (self.at_least(a, if signed { 3 } else { 5 }), self.at_least(b, 6));
                let dot = if right.starts_with(|c: char| c.is_ascii_digit()) {
                    "\\cdot"
                } else {
                    "\\,"
                };
                (format!("{left} {dot} {right}"), if signed { 3 } else { 5 })
            }
            Binary::Divide => (format!("\\frac{{{}}}{{{}}}", self.text(a), self.text(b)), 8),
            Binary::Power => (format!("{{{}}}^{{{}}}", self.at_least(a, 10), self.text(b)), 9),
            Binary::Min => self.call("\\min", &[a, b]),
            Binary::Max => self.call("\\max", &[a, b]),
            Binary::Compare(sign) => (format!("\\left[{}\\right]", self.compared(sign, a, b)), 10),
        }
    }
}
