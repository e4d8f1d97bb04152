//! The rewritten equation as text, LaTeX and standalone programs.

mod c;
mod latex;
mod names;
mod print;
mod python;
mod rust;
mod text;

use super::graph::{Graph, Id, Op, Vector};
use super::rewrite::AXES;
use super::tree::Name;
use super::{Description, Inclusion};
use crate::profile::parser::Unary;
use crate::profile::{After, Interpolation, Profile, Table};
use names::Identifiers;
use print::{Level, Printer, Style};
use std::collections::HashMap;

/// What a rewritten inclusion can be shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for people, term by term.
    Text,
    /// A LaTeX document.
    Latex,
    /// A Rust module: `STATES`, `INITIAL`, `rhs`.
    Rust,
    /// A C file: `STATES`, `INITIAL`, `rhs`.
    C,
    /// A Python module with the standard library only: `STATES`, `INITIAL`, `rhs(t, y)`.
    Python,
}

impl Form {
    /// Every form with its name on the command line.
    pub const ALL: [(&'static str, Form); 5] = [
        ("text", Form::Text),
        ("latex", Form::Latex),
        ("rust", Form::Rust),
        ("c", Form::C),
        ("python", Form::Python),
    ];
}

impl Inclusion {
    /// The rewritten equation in a form.
    pub fn emit(&self, form: Form) -> String {
        match form {
            Form::Text => text::emit(self),
            Form::Latex => latex::emit(self),
            Form::Rust => rust::emit(self),
            Form::C => c::emit(self),
            Form::Python => python::emit(self),
        }
    }
}

/// A node in the language of expressions itself.
pub(super) fn plain(description: &Description, graph: &Graph, id: Id) -> String {
    let names = Identifiers::plain(description);
    let printer = Printer {
        graph,
        names: &names,
        style: Style::Plain,
        named: HashMap::new(),
    };
    printer.text(id)
}

/// A local value of a program.
struct Local {
    /// Its name, or the names of its components.
    name: Vec<String>,
    value: Value,
    /// Where it comes from; may be empty.
    about: String,
}

/// How a local value is computed.
enum Value {
    /// An expression.
    Expression(String),
    /// The value of a table at time t.
    Table(usize),
    /// A vector limited in length: the bound and the components.
    Limited(String, Vec<String>),
}

/// A named number.
struct Constant {
    name: String,
    value: f64,
}

/// What every program is made of.
struct Listing {
    title: String,
    states: Vec<String>,
    /// Names of the states in the program, and whether it uses them.
    variables: Vec<(String, bool)>,
    initial: Vec<f64>,
    /// Parameters, then one group for each relaxed term with its explanation.
    constants: Vec<(String, Vec<Constant>)>,
    /// Inputs that are tables, by number.
    tables: Vec<(usize, Table)>,
    locals: Vec<Local>,
    /// The rate of each state, in order.
    rates: Vec<String>,
    /// Whether a scalar is limited in size, a vector in length, and whether `sign` is used.
    limits_scalar: bool,
    limits_vector: bool,
    uses_sign: bool,
    /// Whether `t` is used.
    uses_time: bool,
}

impl Listing {
    fn new(inclusion: &Inclusion, style: Style, names: &Identifiers) -> Self {
        let mut maker = Maker::new(inclusion, style, names);
        maker.inputs();
        maker.contacts();
        maker.frictions();
        let rates = maker.rates();
        let graph = &inclusion.graph;
        let used_name = |name: Name| {
            let is = |id: &Id| maker.uses[id.index()] > 0 && graph.op(*id) == Op::Name(name);
            graph.ids().any(|id| is(&id))
        };
        let used = |test: fn(Op) -> bool| graph.ids().any(|id| maker.uses[id.index()] > 0 && test(graph.op(id)));
        let state = |i: usize| i >= inclusion.written_states() || used_name(Name::State(i));
        let used_states: Vec<bool> = (0..inclusion.states.len()).map(state).collect();
        let tables: Vec<(usize, Table)> = inclusion
            .description
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(i, input)| match &input.profile {
                Profile::Table(table) => Some((i, table.clone())),
                _ => None,
            })
            .collect();
        let uses_time = !tables.is_empty() || used_name(Name::Time);
        Listing {
            title: inclusion.description.title.clone(),
            states: inclusion.states.clone(),
            variables: names.states.iter().cloned().zip(used_states).collect(),
            initial: inclusion.initial.clone(),
            constants: constants(inclusion, names),
            uses_sign: used(|op| matches!(op, Op::Unary(Unary::Sign, _))),
            uses_time,
            limits_scalar: inclusion.frictions.iter().any(|friction| friction.arguments.len() == 1),
            limits_vector: inclusion.frictions.iter().any(|friction| friction.arguments.len() > 1),
            tables,
            rates,
            locals: maker.locals,
        }
    }

    /// What the file is.
    fn head(&self) -> Vec<String> {
        let title = if self.title.is_empty() {
            "A differential inclusion"
        } else {
            &self.title
        };
        vec![
            format!("{}.", title.trim_end_matches('.').replace(unseen, " ")),
            "Rewritten as an ordinary differential equation (Xiong, Kikuuwe and Yamamoto, section 3.3) by stickslip."
                .to_string(),
        ]
    }
}

/// Letters that are not seen, which compilers may refuse in comments: control characters and those that turn the direction of text.
fn unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Parameters and the numbers of the relaxation.
fn constants(inclusion: &Inclusion, names: &Identifiers) -> Vec<(String, Vec<Constant>)> {
    let description = &inclusion.description;
    let constant = |name: &String, value: f64| Constant {
        name: name.clone(),
        value,
    };
    let parameters = names.parameters.iter().zip(&description.parameters);
    let parameters: Vec<Constant> = parameters.map(|(name, (_, value))| constant(name, *value)).collect();
    let mut groups = Vec::new();
    if !parameters.is_empty() {
        groups.push(("Parameters.".to_string(), parameters));
    }
    for (i, contact) in inclusion.contacts.iter().enumerate() {
        let about = format!(
            "{}: stiffness, beta and alpha of its relaxation.",
            plain(description, &inclusion.graph, contact.written)
        );
        let [k, beta, alpha] = &names.contacts[i].numbers;
        groups.push((
            about,
            vec![
                constant(k, contact.stiffness),
                constant(beta, contact.beta),
                constant(alpha, contact.alpha),
            ],
        ));
    }
    for (i, friction) in inclusion.frictions.iter().enumerate() {
        let about = format!("{}: stiffness and beta of its relaxation.", written(inclusion, i));
        let [k, beta, _] = &names.frictions[i].numbers;
        groups.push((
            about,
            vec![constant(k, friction.stiffness), constant(beta, friction.beta)],
        ));
    }
    groups
}

/// χ·sgn(θ) as it was written; of a vector without the component.
fn written(inclusion: &Inclusion, friction: usize) -> String {
    let Inclusion { description, graph, .. } = inclusion;
    let (chi, sgn) = inclusion.frictions[friction].written;
    let mut map = plain(description, graph, sgn);
    if inclusion.frictions[friction].arguments.len() > 1 {
        map.truncate(map.len() - 2);
    }
    match chi {
        Some(chi) => {
            let names = Identifiers::plain(description);
            let printer = Printer {
                graph,
                names: &names,
                style: Style::Plain,
                named: HashMap::new(),
            };
            format!("{}*{map}", printer.at_least(chi, Level::PRODUCT))
        }
        None => map,
    }
}

/// The sign between a rate and its right side as written: `element` if sgn or dio appears in it.
fn relation<'a>(inclusion: &Inclusion, root: Id, element: &'a str) -> &'a str {
    let mut left = vec![root];
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = left.pop() {
        let op = inclusion.graph.op(id);
        if matches!(op, Op::Dio(_) | Op::Sgn(..)) {
            return element;
        }
        if seen.insert(id) {
            left.extend(op.operands().iter());
        }
    }
    "="
}

/// Operations within one expression of a program: Python refuses 200 brackets within each other.
const DEEPEST: usize = 60;

/// Makes the locals of a program in the order in which they are needed.
struct Maker<'a> {
    inclusion: &'a Inclusion,
    names: &'a Identifiers,
    printer: Printer<'a>,
    uses: Vec<usize>,
    locals: Vec<Local>,
    shared: usize,
}

impl<'a> Maker<'a> {
    fn new(inclusion: &'a Inclusion, style: Style, names: &'a Identifiers) -> Self {
        let mut roots: Vec<Id> = inclusion.inputs.iter().flatten().copied().collect();
        roots.extend(inclusion.rates.iter());
        for contact in &inclusion.contacts {
            // In the force and in the rate.
            roots.extend([contact.argument; 2]);
        }
        for friction in &inclusion.frictions {
            roots.push(friction.bound);
            roots.extend(friction.arguments.iter());
        }
        Maker {
            inclusion,
            names,
            printer: Printer {
                graph: &inclusion.graph,
                names,
                style,
                named: HashMap::new(),
            },
            uses: inclusion.graph.uses(&roots),
            locals: Vec::new(),
            shared: 0,
        }
    }

    fn push(&mut self, name: String, value: Value, about: String) {
        self.locals.push(Local {
            name: vec![name],
            value,
            about,
        });
    }

    /// Gives names to the terms that a node needs, itself included, and that are used more than once or nested deeply.
    fn share(&mut self, root: Id, gap: Option<usize>) {
        let mut needed = vec![root];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = needed.pop() {
            if !self.printer.named.contains_key(&id) && seen.insert(id) {
                needed.extend(self.printer.graph.op(id).operands().iter());
            }
        }
        // In the order of the graph operands come first.
        let mut depths: HashMap<Id, usize> = HashMap::new();
        for id in seen {
            let operands = self.printer.graph.op(id).operands();
            let deepest = operands.iter().filter_map(|operand| depths.get(&operand)).max();
            let depth = deepest.map_or(0, |depth| depth + 1);
            let shared = self.uses[id.index()] >= 2 && operands.len() > 0 && !self.trivial(id);
            if !shared && depth < DEEPEST {
                depths.insert(id, depth);
                continue;
            }
            let name = match gap {
                Some(i) if id == root => self.names.contacts[i].argument.clone(),
                _ => {
                    self.shared += 1;
                    self.names.shared(self.shared)
                }
            };
            let value = Value::Expression(self.printer.text(id));
            self.push(name.clone(), value, String::new());
            self.printer.named.insert(id, name);
        }
    }

    /// A sign before a name or a number is no work to be saved.
    fn trivial(&self, id: Id) -> bool {
        match self.printer.graph.op(id) {
            Op::Unary(Unary::Negate, a) => self.printer.graph.op(a).operands().len() == 0,
            _ => false,
        }
    }

    fn inputs(&mut self) {
        for (i, input) in self.inclusion.description.inputs.iter().enumerate() {
            let name = self.names.inputs[i].clone();
            let value = match (&input.profile, self.inclusion.inputs[i]) {
                (Profile::Constant(value), _) => Value::Expression(self.printer.number(*value)),
                (Profile::Table(_), _) => Value::Table(i),
                (Profile::Expression(_), Some(formula)) => {
                    self.share(formula, None);
                    Value::Expression(self.printer.text(formula))
                }
                // Inputs are read from a file, which knows no profile that is the slope of another.
                (Profile::Expression(_), None) | (Profile::Slope(_), _) => {
                    Value::Expression(self.printer.number(f64::NAN))
                }
            };
            self.push(name, value, String::new());
        }
    }

    /// f = K·max(0, e − β·(ψ + e)/α) (Xiong, Kikuuwe and Yamamoto, eq 15b).
    fn contacts(&mut self) {
        for (i, contact) in self.inclusion.contacts.iter().enumerate() {
            let about = plain(&self.inclusion.description, &self.inclusion.graph, contact.written);
            let first = self.locals.len();
            self.share(contact.argument, Some(i));
            let named = &self.names.contacts[i];
            let [k, beta, alpha] = &named.numbers;
            let e = &self.names.states[self.inclusion.written_states() + i];
            let sum = format!("({} + {e})", self.printer.at_least(contact.argument, Level::SUM));
            let times = self.printer.style.times();
            let inner = format!("{e} - {beta}{times}{sum}/{alpha}");
            let force = format!(
                "{k}{times}{}",
                self.printer.style.max(&self.printer.number(0.0), &inner)
            );
            self.push(named.force[0].clone(), Value::Expression(force), String::new());
            self.locals[first].about = about;
        }
    }

    /// f = sat(χ, K·(a + β·θ)), which is K·sat(χ/K, a + β·θ) (Xiong, Kikuuwe and Yamamoto, eq 9b) with |f| ≤ χ to the last digit.
    fn frictions(&mut self) {
        for (i, friction) in self.inclusion.frictions.iter().enumerate() {
            let first = self.locals.len();
            self.share(friction.bound, None);
            for argument in friction.arguments.iter() {
                self.share(argument, None);
            }
            let state = self.inclusion.friction_state(i);
            let named = &self.names.frictions[i];
            let [k, beta, _] = &named.numbers;
            let times = self.printer.style.times();
            let trial = |c: usize, argument: Id| {
                let theta = self.printer.at_least(argument, Level::FACTOR);
                format!("{k}{times}({} + {beta}{times}{theta})", self.names.states[state + c])
            };
            let trials: Vec<String> = friction
                .arguments
                .iter()
                .enumerate()
                .map(|(c, id)| trial(c, id))
                .collect();
            let bound = self.printer.text(friction.bound);
            let value = match trials.as_slice() {
                [one] => Value::Expression(format!("{}({bound}, {one})", self.names.sat)),
                _ => Value::Limited(bound, trials),
            };
            self.locals.push(Local {
                name: named.force.clone(),
                value,
                about: String::new(),
            });
            self.locals[first].about = written(self.inclusion, i);
        }
    }

    fn rates(&mut self) -> Vec<String> {
        for &rate in &self.inclusion.rates {
            self.share(rate, None);
        }
        let mut rates: Vec<String> = self
            .inclusion
            .rates
            .iter()
            .map(|&rate| self.printer.text(rate))
            .collect();
        for (i, contact) in self.inclusion.contacts.iter().enumerate() {
            let [_, beta, alpha] = &self.names.contacts[i].numbers;
            let e = &self.names.states[self.inclusion.written_states() + i];
            let sum = format!("({} + {e})", self.printer.at_least(contact.argument, Level::SUM));
            rates.push(
                self.printer
                    .style
                    .max(&format!("-{e}/{beta}"), &format!("-{sum}/{alpha}")),
            );
        }
        for (i, friction) in self.inclusion.frictions.iter().enumerate() {
            let state = self.inclusion.friction_state(i);
            let [k, beta, _] = &self.names.frictions[i].numbers;
            for c in 0..friction.arguments.len() {
                let force = &self.names.frictions[i].force[c];
                rates.push(format!("({force}/{k} - {})/{beta}", self.names.states[state + c]));
            }
        }
        rates
    }
}

/// Numbers of a table for a program: times, values, whether it steps, and what comes after its end.
fn table_words(table: &Table) -> (bool, &'static str) {
    let after = match table.after() {
        After::Hold => "hold",
        After::Repeat => "repeat",
        After::Zero => "zero",
    };
    (table.interpolation() == Interpolation::Step, after)
}

/// The components of a vector sgn as words: `f_sgn1_x`.
fn components(name: &str, arguments: &Vector<Id>) -> Vec<String> {
    match arguments.len() {
        1 => vec![name.to_string()],
        n => AXES[..n].iter().map(|axis| format!("{name}_{axis}")).collect(),
    }
}
