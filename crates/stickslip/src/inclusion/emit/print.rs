//! Expressions in the notation of a language, with as few brackets as it allows.

use super::names::Identifiers;
use crate::inclusion::graph::{Graph, Id, Op};
use crate::inclusion::rewrite::AXES;
use crate::inclusion::tree::Name;
use crate::profile::parser::{Binary, Comparison, FUNCTIONS, Unary};
use std::collections::HashMap;

/// How strongly the outermost operation of a text binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(u8);

impl Level {
    const COMPARISON: Level = Level(1);
    const COMPARED: Level = Level(2);
    pub(super) const SUM: Level = Level(3);
    const TERM: Level = Level(4);
    pub(super) const PRODUCT: Level = Level(5);
    pub(super) const FACTOR: Level = Level(6);
    const SIGN: Level = Level(7);
    const SIGNED: Level = Level(8);
    const POWER: Level = Level(9);
    const ATOM: Level = Level(10);
}

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The language of expressions.
    Plain,
    /// For people.
    Text,
    Rust,
    C,
    Python,
}

impl Style {
    pub(super) fn times(self) -> &'static str {
        if self == Style::Text { "·" } else { "*" }
    }

    pub(super) fn max(self, a: &str, b: &str) -> String {
        self.extremum("max", a, b)
    }

    fn extremum(self, name: &str, a: &str, b: &str) -> String {
        match (self, name) {
            (Style::Plain | Style::Text, _) => format!("{name}({a}, {b})"),
            // Those of the languages do not all let a number through that is none.
            (_, "min") => format!("lesser({a}, {b})"),
            _ => format!("greater({a}, {b})"),
        }
    }

    /// A number that is read back as the same.
    pub(super) fn number(self, value: f64) -> String {
        let text = format!("{value:?}");
        let sign = if value < 0.0 { "-" } else { "" };
        match self {
            // 1 instead of 1.0 for people.
            Style::Plain | Style::Text => text.strip_suffix(".0").unwrap_or(&text).to_string(),
            Style::Rust if value.is_nan() => "f64::NAN".to_string(),
            Style::C if value.is_nan() => "NAN".to_string(),
            Style::Python if value.is_nan() => "math.nan".to_string(),
            Style::Rust if value.is_infinite() => format!("{sign}f64::INFINITY"),
            Style::C if value.is_infinite() => format!("{sign}INFINITY"),
            Style::Python if value.is_infinite() => format!("{sign}math.inf"),
            _ => text,
        }
    }

    /// Numbers in a row.
    pub(super) fn numbers(self, values: &[f64]) -> String {
        let numbers: Vec<String> = values.iter().map(|value| self.number(*value)).collect();
        numbers.join(", ")
    }

    fn function(self, function: Unary) -> String {
        let known = FUNCTIONS.iter().find(|(_, other)| *other == function);
        let name = known.map_or("", |(name, _)| *name);
        match (self, function) {
            (Style::Plain | Style::Text, _) | (_, Unary::Sign) => name.to_string(),
            (Style::Rust, _) => format!("f64::{name}"),
            (Style::C, Unary::Abs) => "fabs".to_string(),
            (Style::C, Unary::Ln) => "log".to_string(),
            (Style::Python, Unary::Tanh) => "math.tanh".to_string(),
            // The others of Python's raise exceptions where there is no finite value.
            (Style::Python | Style::C, _) => name.to_string(),
        }
    }
}

pub(super) fn comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
    }
}

/// Prints nodes of a graph.
pub(super) struct Printer<'a> {
    pub graph: &'a Graph,
    pub names: &'a Identifiers,
    pub style: Style,
    /// Nodes that have a name of their own.
    pub named: HashMap<Id, String>,
}

impl Printer<'_> {
    /// A node without brackets around it.
    pub(super) fn text(&self, id: Id) -> String {
        self.render(id).0
    }

    /// A node, in brackets if it binds less strongly than this.
    pub(super) fn at_least(&self, id: Id, least: Level) -> String {
        let (text, level) = self.render(id);
        if level < least { format!("({text})") } else { text }
    }

    /// A number that is read back as the same.
    pub(super) fn number(&self, value: f64) -> String {
        self.style.number(value)
    }

    fn render(&self, id: Id) -> (String, Level) {
        if let Some(name) = self.named.get(&id) {
            return (name.clone(), Level::ATOM);
        }
        match self.graph.op(id) {
            Op::Number(bits) => {
                let value = f64::from_bits(bits);
                let level = if value.is_sign_negative() {
                    Level::SIGN
                } else {
                    Level::ATOM
                };
                (self.number(value), level)
            }
            Op::Name(name) => (self.name(name), Level::ATOM),
            Op::Unary(Unary::Negate, a) => (format!("-{}", self.at_least(a, Level::SIGNED)), Level::SIGN),
            Op::Unary(function, a) => (
                format!("{}({})", self.style.function(function), self.text(a)),
                Level::ATOM,
            ),
            Op::Binary(operation, a, b) => self.binary(operation, a, b),
            Op::Choose(condition, a, b) => self.choose(condition, a, b),
            Op::Dio(argument) => (format!("dio({})", self.text(argument)), Level::ATOM),
            Op::Sgn(arguments, component) => {
                let texts: Vec<String> = arguments.iter().map(|argument| self.text(argument)).collect();
                let text = match texts.as_slice() {
                    [one] => format!("sgn({one})"),
                    several => format!("sgn([{}]).{}", several.join(", "), AXES[component]),
                };
                (text, Level::ATOM)
            }
            Op::Contact(i) => (self.names.contacts[i].force[0].clone(), Level::ATOM),
            Op::Friction(i, component) => (self.names.frictions[i].force[component].clone(), Level::ATOM),
        }
    }

    fn name(&self, name: Name) -> String {
        match name {
            Name::Time => "t".to_string(),
            Name::State(i) => self.names.states[i].clone(),
            Name::Parameter(i) => self.names.parameters[i].clone(),
            Name::Input(i) => self.names.inputs[i].clone(),
        }
    }

    fn binary(&self, operation: Binary, a: Id, b: Id) -> (String, Level) {
        let infix = |sign: &str, left: Level, right: Level, level: Level| {
            (
                format!("{}{sign}{}", self.at_least(a, left), self.at_least(b, right)),
                level,
            )
        };
        match operation {
            Binary::Add => infix(" + ", Level::SUM, Level::TERM, Level::SUM),
            Binary::Subtract => infix(" - ", Level::SUM, Level::TERM, Level::SUM),
            Binary::Multiply => infix(self.style.times(), Level::PRODUCT, Level::FACTOR, Level::PRODUCT),
            Binary::Divide if self.style == Style::Python && !self.divides(b) => {
                (format!("divide({}, {})", self.text(a), self.text(b)), Level::ATOM)
            }
            Binary::Divide => infix("/", Level::PRODUCT, Level::FACTOR, Level::PRODUCT),
            Binary::Min => (self.style.extremum("min", &self.text(a), &self.text(b)), Level::ATOM),
            Binary::Max => (self.style.extremum("max", &self.text(a), &self.text(b)), Level::ATOM),
            Binary::Power => match self.style {
                Style::Plain | Style::Text => infix("^", Level::ATOM, Level::POWER, Level::POWER),
                Style::Python => (format!("power({}, {})", self.text(a), self.text(b)), Level::ATOM),
                Style::Rust => (format!("f64::powf({}, {})", self.text(a), self.text(b)), Level::ATOM),
                Style::C => (format!("pow({}, {})", self.text(a), self.text(b)), Level::ATOM),
            },
            Binary::Compare(sign) => {
                let sign = format!(" {} ", comparison(sign));
                let (text, level) = infix(&sign, Level::COMPARED, Level::COMPARED, Level::COMPARISON);
                match self.style {
                    Style::Plain | Style::Text => (text, level),
                    Style::Rust => (format!("f64::from({text})"), Level::ATOM),
                    Style::C => (format!("({text} ? 1.0 : 0.0)"), Level::ATOM),
                    Style::Python => (format!("float({text})"), Level::ATOM),
                }
            }
        }
    }

    /// Whether a node is never 0.
    fn divides(&self, id: Id) -> bool {
        match self.graph.op(id) {
            Op::Number(bits) => f64::from_bits(bits) != 0.0,
            Op::Name(Name::Parameter(i)) => self.names.divisors[i],
            _ => false,
        }
    }

    /// A condition in the language's own way.
    fn condition(&self, id: Id) -> String {
        match self.graph.op(id) {
            Op::Binary(Binary::Compare(sign), a, b) if !self.named.contains_key(&id) => {
                let (a, b) = (self.at_least(a, Level::COMPARED), self.at_least(b, Level::COMPARED));
                format!("{a} {} {b}", comparison(sign))
            }
            _ => format!("{} != {}", self.at_least(id, Level::COMPARED), self.number(0.0)),
        }
    }

    fn choose(&self, condition: Id, a: Id, b: Id) -> (String, Level) {
        let (first, second) = (self.text(a), self.text(b));
        match self.style {
            Style::Plain | Style::Text => (format!("if({}, {first}, {second})", self.text(condition)), Level::ATOM),
            Style::Rust => (
                format!("(if {} {{ {first} }} else {{ {second} }})", self.condition(condition)),
                Level::ATOM,
            ),
            Style::C => (
                format!("({} ? {first} : {second})", self.condition(condition)),
                Level::ATOM,
            ),
            Style::Python => (
                format!("({first} if {} else {second})", self.condition(condition)),
                Level::ATOM,
            ),
        }
    }
}
