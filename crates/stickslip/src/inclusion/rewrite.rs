//! The rewriting procedure (Xiong, Kikuuwe and Yamamoto, section 3.3) and the conditions under which it may be applied.

use super::graph::{Graph, Id, Op, Vector};
use super::program::Program;
use super::signs::{Interval, Known, bounds, factors, product_is_not_negative};
use super::tree::{Kind, Name, Tree};
use super::{Contact, Description, Finding, Friction, Inclusion, Place, Relaxation};
use crate::profile::parser::{Binary, Unary, is_name, is_word};
use crate::profile::suggest::nearest;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Axes of vectors, in names of states and components.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// Rewrites the equations of a whole system, or those of a part of one, whose first states are `given` from outside: they are not
/// named by the user, and what they are at the start is not known here.
pub(super) fn rewrite(description: Description, given: Option<usize>) -> Result<Inclusion, Vec<Finding>> {
    let mut findings = check_names(&description, given.unwrap_or(0));
    if given.is_none() {
        findings.extend(check_equations(&description));
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let names = names(&description);
    let mut graph = Graph::default();
    let asserted = asserted(&description, &names, &mut graph, &mut findings);
    let inputs = formulas(&description, &mut graph);
    let equations = equations(&description, &names, &mut graph, &mut findings);
    if !findings.is_empty() {
        return Err(findings);
    }
    let parameters: Vec<f64> = description.parameters.iter().map(|(_, value)| *value).collect();
    let input_bounds = input_bounds(&description, &graph, &inputs);
    let known = Known {
        parameters: &parameters,
        inputs: &input_bounds,
        asserted: &asserted,
    };
    let bounds = bounds(&graph, &known);
    for (i, text) in description.nonnegative.iter().enumerate() {
        findings.extend(contradiction(&description, i, text));
    }
    let mut products: Vec<Vec<Id>> = asserted.iter().map(|&id| factors(&graph, id)).collect();
    // Longer products first, then a fixed order.
    products.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    let mut rewriter = Rewriter {
        description: &description,
        asserted: products,
        graph,
        bounds,
        contacts: Vec::new(),
        frictions: Vec::new(),
        contact_of: HashMap::new(),
        friction_of: HashMap::new(),
        findings,
    };
    let (mut written, mut rates) = (Vec::new(), Vec::new());
    // Numbers of added states follow the order of the equations, rates the order of the states.
    let mut by_state = vec![None; description.states.len()];
    for equation in &equations {
        rewriter.check_use(equation);
        let rate = rewriter.term(equation, equation.tree.root());
        by_state[equation.state] = Some((equation.ids[equation.tree.root()], rate));
    }
    for (as_written, rate) in by_state.into_iter().flatten() {
        written.push(as_written);
        rates.push(rate);
    }
    rewriter.relax();
    let Rewriter {
        graph,
        contacts,
        frictions,
        mut findings,
        ..
    } = rewriter;
    if !findings.is_empty() {
        findings.dedup();
        return Err(findings);
    }
    let mut states: Vec<String> = description.states.iter().map(|(name, _)| name.clone()).collect();
    states.extend((1..=contacts.len()).map(|i| format!("dio{i}")));
    for (i, friction) in frictions.iter().enumerate() {
        match friction.arguments.len() {
            1 => states.push(format!("sgn{}", i + 1)),
            n => states.extend(AXES[..n].iter().map(|axis| format!("sgn{}.{axis}", i + 1))),
        }
    }
    let mut initial: Vec<f64> = description.states.iter().map(|(_, value)| *value).collect();
    initial.resize(states.len(), 0.0);
    let mut inclusion = Inclusion {
        description,
        states,
        initial,
        graph,
        written,
        rates,
        contacts,
        frictions,
        inputs,
        program: Program::default(),
    };
    inclusion.program = Program::compile(&inclusion).map_err(|finding| vec![finding])?;
    let findings = match given {
        Some(_) => Vec::new(),
        None => check_start(&inclusion, &equations),
    };
    if findings.is_empty() {
        Ok(inclusion)
    } else {
        Err(findings)
    }
}

/// One equation.
struct Equation {
    /// Its number and that of its state.
    number: usize,
    state: usize,
    tree: Tree,
    /// Nodes of its terms as written.
    ids: Vec<Id>,
}

impl Equation {
    fn finding(&self, term: usize, message: impl Into<String>, help: impl Into<String>) -> Finding {
        let at = self.tree.terms[term].at.clone();
        Finding::new(Place::Equation(self.number), message, help).at(at)
    }

    fn kind(&self, term: usize) -> Kind {
        self.tree.terms[term].kind
    }
}

/// Names that expressions may use.
fn names(description: &Description) -> Vec<(&str, Name)> {
    let states = description
        .states
        .iter()
        .enumerate()
        .map(|(i, (name, _))| (name.as_str(), Name::State(i)));
    let parameters = description.parameters.iter().enumerate();
    let parameters = parameters.map(|(i, (name, _))| (name.as_str(), Name::Parameter(i)));
    let inputs = description.inputs.iter().enumerate();
    let inputs = inputs.map(|(i, input)| (input.name.as_str(), Name::Input(i)));
    states
        .chain(parameters)
        .chain(inputs)
        .chain([("t", Name::Time)])
        .collect()
}

/// Names are usable in expressions and all different, but for those of states that are given.
fn check_names(description: &Description, given: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    let motions = description.states.iter().take(given);
    // `x` stands for the vector of `x.x` and `x.y`.
    let whole = motions.map(|(name, _)| (name.split('.').next().unwrap_or(name), "motion"));
    let mut seen: Vec<(&str, &str)> = whole.collect();
    let states = description.states.iter().enumerate().skip(given);
    let states = states.map(|(i, (name, _))| (name, "state", Place::State(i)));
    let parameters = description.parameters.iter().enumerate();
    let parameters = parameters.map(|(i, (name, _))| (name, "parameter", Place::Parameter(i)));
    let inputs = description.inputs.iter().enumerate();
    let inputs = inputs.map(|(i, input)| (&input.name, "input", Place::Input(i)));
    for (name, what, place) in states.chain(parameters).chain(inputs) {
        if !is_name(name) {
            let message = format!("the {what} `{name}` cannot be named in an expression");
            findings.push(Finding::new(
                place,
                message,
                "use letters, digits and `_`, beginning with a letter",
            ));
        } else if name == "t" {
            let message = format!("a {what} cannot be named `t`");
            findings.push(Finding::new(place, message, "`t` is the time; choose another name"));
        } else if is_word(name) {
            let message = format!("a {what} cannot be named `{name}`");
            findings.push(Finding::new(
                place,
                message,
                "it is a word of the expressions; choose another name",
            ));
        } else if is_added(name) {
            let message = format!("a {what} cannot be named `{name}`");
            let help = "names such as dio1 and sgn1 belong to the states that the rewriting adds; choose another name";
            findings.push(Finding::new(place, message, help));
        } else if let Some((_, other)) = seen.iter().find(|(known, _)| known == name) {
            let message = format!("`{name}` names a {what} and also a {other}");
            findings.push(Finding::new(
                place,
                message,
                "every name may be used once: rename one of the two",
            ));
        } else {
            seen.push((name, what));
        }
    }
    findings
}

/// Every state has one equation and every equation a state.
fn check_equations(description: &Description) -> Vec<Finding> {
    let mut findings = Vec::new();
    if description.states.is_empty() {
        findings.push(Finding::new(
            Place::Whole,
            "there is no state",
            "for example: states = { p = 0, v = 0.2 }",
        ));
    }
    for (i, (name, _)) in description.states.iter().enumerate() {
        if !description.equations.iter().any(|(state, _)| state == name) {
            let message = format!("the state `{name}` has no equation");
            findings.push(Finding::new(
                Place::State(i),
                message,
                format!("add its rate to `equations`: {name} = \"…\""),
            ));
        }
    }
    for (i, (name, _)) in description.equations.iter().enumerate() {
        if description.equations[..i].iter().any(|(other, _)| other == name) {
            let message = format!("`{name}` has two equations");
            findings.push(Finding::new(Place::Equation(i), message, "keep one of them"));
        }
        if !description.states.iter().any(|(state, _)| state == name) {
            let message = format!("there is an equation for `{name}`, which is no state");
            let states = description.states.iter().map(|(state, _)| state.as_str());
            let help = match nearest(name, states) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add it to `states` with its initial value: {name} = 0"),
            };
            findings.push(Finding::new(Place::Equation(i), message, help));
        }
    }
    findings
}

/// Whether a name is one that the rewriting may add.
fn is_added(name: &str) -> bool {
    let number = name.strip_prefix("dio").or(name.strip_prefix("sgn"));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Terms that the user says are never negative.
fn asserted(
    description: &Description,
    names: &[(&str, Name)],
    graph: &mut Graph,
    findings: &mut Vec<Finding>,
) -> HashSet<Id> {
    let mut asserted = HashSet::new();
    for (i, text) in description.nonnegative.iter().enumerate() {
        match Tree::parse(text, names, Place::Nonnegative(i)) {
            Ok(tree) => {
                let ids = graph.take(&tree);
                asserted.insert(ids[tree.root()]);
            }
            Err(mut finding) => {
                finding.help = "`nonnegative` holds names, or terms in them, such as \"mu*N\"".into();
                findings.push(finding);
            }
        }
    }
    asserted
}

/// What is said to be not negative is checked where its value is known.
fn contradiction(description: &Description, index: usize, text: &str) -> Option<Finding> {
    let (name, value) = description.parameters.iter().find(|(name, _)| name == text.trim())?;
    (*value < 0.0).then(|| {
        let message = format!("`{name}` is said to be never negative, but it is {value}");
        Finding::new(
            Place::Nonnegative(index),
            message,
            "change its value, or take it out of `nonnegative`",
        )
    })
}

/// Inputs written as expressions in t; they were read as profiles before, so they have no errors.
fn formulas(description: &Description, graph: &mut Graph) -> Vec<Option<Id>> {
    let time = [("t", Name::Time)];
    let mut formulas = Vec::new();
    for (i, input) in description.inputs.iter().enumerate() {
        let tree = input.formula.as_ref().and_then(|(text, factor)| {
            let tree = Tree::parse(text, &time, Place::Input(i)).ok()?;
            Some((tree, *factor))
        });
        formulas.push(tree.map(|(tree, factor)| {
            let root = graph.take(&tree)[tree.root()];
            if factor == 1.0 {
                return root;
            }
            let factor = graph.number(factor);
            graph.node(Op::Binary(Binary::Multiply, root, factor))
        }));
    }
    formulas
}

fn input_bounds(description: &Description, graph: &Graph, formulas: &[Option<Id>]) -> Vec<Interval> {
    let known = Known {
        parameters: &vec![f64::NAN; description.parameters.len()],
        inputs: &vec![Interval::ANY; description.inputs.len()],
        asserted: &HashSet::new(),
    };
    let of_time = bounds(graph, &known);
    let each = description.inputs.iter().zip(formulas);
    each.map(|(input, formula)| match (input.profile.bounds(), formula) {
        (Some((low, high)), _) => Interval::new(low, high),
        (None, Some(id)) => of_time[id.index()],
        (None, None) => Interval::ANY,
    })
    .collect()
}

fn equations(
    description: &Description,
    names: &[(&str, Name)],
    graph: &mut Graph,
    findings: &mut Vec<Finding>,
) -> Vec<Equation> {
    let mut equations = Vec::new();
    for (number, (name, text)) in description.equations.iter().enumerate() {
        let state = description.states.iter().position(|(state, _)| state == name);
        match (Tree::parse(text, names, Place::Equation(number)), state) {
            (Ok(tree), Some(state)) => {
                let ids = graph.take(&tree);
                equations.push(Equation {
                    number,
                    state,
                    tree,
                    ids,
                });
            }
            (Err(mut finding), _) => {
                finding.help =
                    "an expression in the states, parameters, inputs and t, such as \"(f - F*sgn(v))/M\"".into();
                findings.push(finding);
            }
            (Ok(_), None) => {}
        }
    }
    equations
}

/// What a term holds.
#[derive(Clone, Copy, Default)]
struct Holds {
    state: bool,
    sgn: Option<usize>,
    dio: Option<usize>,
    /// A term that jumps as the state moves: `sign`, a comparison, an `if`.
    jump: Option<usize>,
}

struct Rewriter<'a> {
    description: &'a Description,
    graph: Graph,
    /// Bounds of the nodes as written.
    bounds: Vec<Interval>,
    /// Factors of the terms that are said to be never negative, sorted.
    asserted: Vec<Vec<Id>>,
    contacts: Vec<Contact>,
    frictions: Vec<Friction>,
    contact_of: HashMap<Id, usize>,
    /// By the factors of χ after step 1, in order of their nodes, and θ.
    friction_of: HashMap<(Vec<Id>, Vector<Id>), usize>,
    findings: Vec<Finding>,
}

impl Rewriter<'_> {
    /// The conditions of section 3.3 on how sgn and dio may be used, all but the sign of χ.
    fn check_use(&mut self, equation: &Equation) {
        let mut all: Vec<Holds> = Vec::with_capacity(equation.tree.terms.len());
        for (i, term) in equation.tree.terms.iter().enumerate() {
            let mut holds = Holds::default();
            for operand in term.kind.operands().iter() {
                let other = all[operand];
                holds.state |= other.state;
                holds.sgn = holds.sgn.or(other.sgn);
                holds.dio = holds.dio.or(other.dio);
                holds.jump = holds.jump.or(other.jump);
            }
            let finding = self.check_term(equation, i, &all);
            self.findings.extend(finding);
            match term.kind {
                Kind::Name(Name::State(_)) => holds.state = true,
                Kind::Dio(_) => holds.dio = Some(i),
                Kind::Sgn(..) => holds.sgn = Some(i),
                Kind::Unary(Unary::Sign, _) | Kind::Binary(Binary::Compare(_), ..) if holds.state => {
                    holds.jump = Some(i);
                }
                Kind::Choose(condition, ..) if all[condition].state => holds.jump = Some(i),
                _ => {}
            }
            all.push(holds);
        }
    }

    fn check_term(&self, equation: &Equation, index: usize, all: &[Holds]) -> Option<Finding> {
        let text = |term: usize| {
            let at: Range<usize> = equation.tree.terms[term].at.clone();
            self.description.equations[equation.number].1[at].to_string()
        };
        let jumps = |sgn: usize, jump: usize| {
            let message = format!(
                "`{}` is multiplied by `{}`, which jumps: the rewriting holds for products of sgn with dio and with \
                 continuous terms only",
                text(sgn),
                text(jump)
            );
            let help = "replace the jump by a continuous term, such as tanh(x/width), or make it a function of t alone";
            equation.finding(jump, message, help)
        };
        let nested = |term: usize, inner: usize| {
            let message = format!(
                "`{}` stands inside `{}`: sgn and dio cannot be nested",
                text(inner),
                text(term)
            );
            let help = "the argument of sgn and dio is a term of states, parameters and inputs";
            equation.finding(inner, message, help)
        };
        match equation.kind(index) {
            Kind::Dio(_) | Kind::Sgn(..) => {
                let arguments = equation.kind(index).operands();
                let inner = arguments.iter().find_map(|a| all[a].sgn.or(all[a].dio))?;
                Some(nested(index, inner))
            }
            Kind::Binary(Binary::Multiply, a, b) => match (all[a], all[b]) {
                (Holds { sgn: Some(first), .. }, Holds { sgn: Some(second), .. }) => {
                    let message = format!("`{}` is multiplied by `{}`", text(first), text(second));
                    let help =
                        "sgn may be multiplied by dio and by continuous terms; a product of two jumps has no rewriting";
                    Some(equation.finding(second, message, help))
                }
                (Holds { sgn: Some(sgn), .. }, Holds { jump: Some(jump), .. })
                | (Holds { jump: Some(jump), .. }, Holds { sgn: Some(sgn), .. }) => Some(jumps(sgn, jump)),
                _ => None,
            },
            Kind::Binary(operation @ (Binary::Divide | Binary::Power), a, b) => match (all[a], all[b]) {
                (Holds { sgn: Some(sgn), .. }, Holds { jump: Some(jump), .. }) => Some(jumps(sgn, jump)),
                (_, Holds { sgn: Some(sgn), .. }) => {
                    let what = if operation == Binary::Divide {
                        "a divisor"
                    } else {
                        "an exponent"
                    };
                    let message = format!("`{}` stands in {what}", text(sgn));
                    Some(equation.finding(sgn, message, "only terms χ·sgn(θ) can be rewritten"))
                }
                (Holds { sgn: Some(sgn), .. }, _) if operation == Binary::Power => {
                    let message = format!("a power of `{}` is a product of sgn with itself", text(sgn));
                    Some(equation.finding(index, message, "only terms χ·sgn(θ) can be rewritten"))
                }
                _ => None,
            },
            Kind::Binary(Binary::Compare(_), a, b) => {
                let sgn = all[a].sgn.or(all[b].sgn)?;
                let message = format!("`{}` is compared, but it has no single value at 0", text(sgn));
                Some(equation.finding(sgn, message, "compare the argument of sgn itself"))
            }
            Kind::Unary(Unary::Sign, a) => {
                let sgn = all[a].sgn?;
                let message = format!("`{}` stands inside sign, but it has no single value at 0", text(sgn));
                Some(equation.finding(sgn, message, "take the sign of its argument"))
            }
            Kind::Choose(condition, a, b) => {
                if let Some(sgn) = all[condition].sgn {
                    let message = format!("`{}` decides an if, but it has no single value at 0", text(sgn));
                    return Some(equation.finding(sgn, message, "compare the argument of sgn itself"));
                }
                let sgn = all[a].sgn.or(all[b].sgn)?;
                all[condition].state.then(|| {
                    let message = format!(
                        "`{}` stands in an if that depends on the state: that is a product of sgn with a jump",
                        text(sgn)
                    );
                    let help = "let the condition depend on t alone, or put the if into a continuous factor of sgn";
                    equation.finding(index, message, help)
                })
            }
            _ => None,
        }
    }

    /// The node that takes the place of a term.
    fn term(&mut self, equation: &Equation, index: usize) -> Id {
        let op = match equation.kind(index) {
            Kind::Number(value) => Op::Number(value.to_bits()),
            Kind::Name(name) => Op::Name(name),
            Kind::Dio(argument) => {
                let (argument, written) = (equation.ids[argument], equation.ids[index]);
                Op::Contact(self.contact(argument, written, equation.state))
            }
            Kind::Sgn(..) | Kind::Binary(Binary::Multiply, ..) => return self.product(equation, index),
            Kind::Unary(function, a) => Op::Unary(function, self.term(equation, a)),
            Kind::Binary(operation, a, b) => {
                let a = self.term(equation, a);
                Op::Binary(operation, a, self.term(equation, b))
            }
            Kind::Choose(condition, a, b) => {
                let condition = self.term(equation, condition);
                let a = self.term(equation, a);
                Op::Choose(condition, a, self.term(equation, b))
            }
        };
        self.graph.node(op)
    }

    /// Step 1: dio(ψ), one state for each ψ.
    fn contact(&mut self, argument: Id, written: Id, state: usize) -> usize {
        let number = self.contacts.len();
        let number = *self.contact_of.entry(argument).or_insert(number);
        if number == self.contacts.len() {
            self.contacts.push(Contact {
                argument,
                stiffness: 0.0,
                beta: 0.0,
                alpha: 0.0,
                written,
                used_in: Vec::new(),
            });
        }
        note(&mut self.contacts[number].used_in, state);
        number
    }

    /// A product a·b·c …; a group in brackets on the right of a sign is one factor. If one of the factors is sgn(θ), the
    /// others are χ.
    fn product(&mut self, equation: &Equation, index: usize) -> Id {
        let mut factors = Vec::new();
        let mut head = index;
        while let Kind::Binary(Binary::Multiply, left, right) = equation.kind(head) {
            factors.push(right);
            head = left;
        }
        factors.push(head);
        factors.reverse();
        // −F·sgn(v): the sign stays outside, so that χ = F.
        let mut negative = false;
        let plain = |mut factor: usize| {
            let mut flips = false;
            while let Kind::Unary(Unary::Negate, inner) = equation.kind(factor) {
                flips = !flips;
                factor = inner;
            }
            (factor, flips)
        };
        let is_sgn = |factor: usize| matches!(equation.kind(plain(factor).0), Kind::Sgn(..));
        let Some(position) = factors.iter().position(|&factor| is_sgn(factor)) else {
            let mut product = self.term(equation, factors[0]);
            for &factor in &factors[1..] {
                let factor = self.term(equation, factor);
                product = self.graph.node(Op::Binary(Binary::Multiply, product, factor));
            }
            return product;
        };
        let mut chi = Vec::new();
        for &factor in &factors {
            let (inner, flips) = plain(factor);
            negative ^= flips;
            chi.push(inner);
        }
        let sgn = chi.remove(position);
        let force = self.friction(equation, sgn, &chi);
        if negative {
            self.graph.node(Op::Unary(Unary::Negate, force))
        } else {
            force
        }
    }

    /// Step 2: χ·sgn(θ), one state for each pair.
    fn friction(&mut self, equation: &Equation, sgn: usize, chi: &[usize]) -> Id {
        let Kind::Sgn(arguments, component) = equation.kind(sgn) else {
            return equation.ids[sgn];
        };
        self.check_sign(equation, sgn, chi);
        let mut factors = Vec::new();
        for &factor in chi {
            factors.push(self.term(equation, factor));
        }
        let arguments = arguments.map(|argument| equation.ids[argument]);
        let mut key = factors.clone();
        key.sort();
        let number = self.frictions.len();
        let number = *self.friction_of.entry((key, arguments)).or_insert(number);
        if number == self.frictions.len() {
            let written: Vec<Id> = chi.iter().map(|&factor| equation.ids[factor]).collect();
            let bound = self.multiply(&factors);
            let bound = bound.unwrap_or_else(|| self.graph.number(1.0));
            let written = (self.multiply(&written), equation.ids[sgn]);
            self.frictions.push(Friction {
                bound,
                arguments,
                stiffness: 0.0,
                beta: 0.0,
                written,
                used_in: Vec::new(),
            });
        }
        note(&mut self.frictions[number].used_in, equation.state);
        self.graph.node(Op::Friction(number, component))
    }

    fn multiply(&mut self, factors: &[Id]) -> Option<Id> {
        let (&first, rest) = factors.split_first()?;
        Some(rest.iter().fold(first, |product, &factor| {
            self.graph.node(Op::Binary(Binary::Multiply, product, factor))
        }))
    }

    /// χ is never negative, or the reason why that is not known.
    fn check_sign(&mut self, equation: &Equation, sgn: usize, chi: &[usize]) {
        let bounds = |factor: usize| self.bounds[equation.ids[factor].index()];
        let whole = chi.iter().fold(Interval::new(1.0, 1.0), |product, &factor| {
            product.times(bounds(factor))
        });
        let mut all: Vec<Id> = chi
            .iter()
            .flat_map(|&factor| factors(&self.graph, equation.ids[factor]))
            .collect();
        all.sort();
        if whole.is_not_negative() || product_is_not_negative(all, &self.bounds, &self.asserted) {
            return;
        }
        let text = &self.description.equations[equation.number].1;
        let of = |term: usize| &text[equation.tree.terms[term].at.clone()];
        let Some(&factor) = chi.iter().find(|&&factor| !bounds(factor).is_not_negative()) else {
            return;
        };
        // A factor that is refused for another reason needs no sign.
        let at = &equation.tree.terms[factor].at;
        let refused = |finding: &Finding| {
            let span = finding.span.as_ref();
            finding.place == Place::Equation(equation.number)
                && span.is_some_and(|span| at.start <= span.start && span.end <= at.end)
        };
        if self.findings.iter().any(refused) {
            return;
        }
        let in_product = |term: usize| match equation.kind(term) {
            Kind::Binary(Binary::Multiply | Binary::Divide | Binary::Power | Binary::Min | Binary::Max, ..) => {
                of(term).to_string()
            }
            Kind::Binary(..) => format!("({})", of(term)),
            _ => of(term).to_string(),
        };
        let others = chi.iter().filter(|&&other| other != factor);
        let rest: String = others.map(|&other| format!("{}*", in_product(other))).collect();
        let (message, help) = if bounds(factor).high < 0.0 {
            let value = bounds(factor);
            let known = if value.low == value.high {
                format!("is {}", value.low)
            } else {
                "is negative".into()
            };
            (
                format!(
                    "`{}` multiplies {} and {known}: friction would drive the motion",
                    of(factor),
                    of(sgn)
                ),
                "the factor of sgn must not be negative: put the sign outside, as in -F*sgn(v)".to_string(),
            )
        } else {
            (
                format!("`{}` multiplies {} and may be negative", of(factor), of(sgn)),
                format!(
                    "if it never is, say so: nonnegative = [\"{0}\"]; if its sign changes, keep it outside of the rewritten \
                     product with a bracket: {1}*({rest}{2})",
                    of(factor),
                    in_product(factor),
                    of(sgn)
                ),
            )
        };
        self.findings.push(equation.finding(factor, message, help));
    }

    /// Gives every relaxed term its K, β and α.
    fn relax(&mut self) {
        let relax = &self.description.relax;
        let known: Vec<String> = ["sgn".to_string(), "dio".to_string()]
            .into_iter()
            .chain((1..=self.frictions.len()).map(|i| format!("sgn{i}")))
            .chain((1..=self.contacts.len()).map(|i| format!("dio{i}")))
            .collect();
        for (i, (name, values)) in relax.iter().enumerate() {
            let mut refuse = |key: &'static str, message: String, help: String| {
                self.findings.push(Finding::new(Place::Relax(i, key), message, help));
            };
            if !known.contains(name) {
                let all = || known.iter().map(String::as_str);
                let help = match nearest(name, all()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", all().collect::<Vec<_>>().join(", ")),
                };
                refuse(
                    "",
                    format!("`{name}` is no term of these equations that can be relaxed"),
                    help,
                );
            }
            if name.starts_with("sgn") && values.alpha.is_some() {
                let message = format!("`{name}` has no alpha");
                refuse(
                    "alpha",
                    message,
                    "alpha belongs to dio; sgn has stiffness and beta".into(),
                );
            }
            for (key, value) in [
                ("stiffness", values.stiffness),
                ("beta", values.beta),
                ("alpha", values.alpha),
            ] {
                if let Some(value) = value
                    && (value.is_nan() || value <= 0.0)
                {
                    let message = format!("{key} of `{name}` must be greater than 0, found {value}");
                    refuse(
                        key,
                        message,
                        "K, alpha and beta are positive numbers (Xiong, Kikuuwe and Yamamoto, section 3.3)".into(),
                    );
                }
            }
        }
        let mut given = Given {
            relax,
            said: HashSet::new(),
            findings: &mut self.findings,
        };
        let text = |id: Id| super::emit::plain(self.description, &self.graph, id);
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            let own = format!("dio{}", i + 1);
            let values = given.values("dio", &own, ["stiffness", "beta", "alpha"], || text(contact.written));
            if let Some([stiffness, beta, alpha]) = values {
                (contact.stiffness, contact.beta, contact.alpha) = (stiffness, beta, alpha);
                given.check_alpha(&own, alpha, beta);
            }
        }
        for (i, friction) in self.frictions.iter_mut().enumerate() {
            let own = format!("sgn{}", i + 1);
            let values = given.values("sgn", &own, ["stiffness", "beta"], || text(friction.written.1));
            if let Some([stiffness, beta]) = values {
                (friction.stiffness, friction.beta) = (stiffness, beta);
            }
        }
    }
}

/// What `relax` gives, and what it was found not to give.
struct Given<'a> {
    relax: &'a [(String, Relaxation)],
    /// What has been said once need not be said for each term.
    said: HashSet<&'static str>,
    findings: &'a mut Vec<Finding>,
}

impl Given<'_> {
    fn number(&self, name: &str) -> Option<usize> {
        self.relax.iter().position(|(other, _)| other == name)
    }

    /// The entry that gives a number: that of the term itself, or that for all of its kind.
    fn entry(&self, group: &str, own: &str, key: &str) -> Option<(usize, f64)> {
        [own, group].iter().find_map(|name| {
            let number = self.number(name)?;
            let values = &self.relax[number].1;
            let value = match key {
                "stiffness" => values.stiffness,
                "beta" => values.beta,
                _ => values.alpha,
            };
            Some((number, value?))
        })
    }

    /// The numbers of a term, or word of those that are missing.
    fn values<const N: usize>(
        &mut self,
        group: &'static str,
        own: &str,
        keys: [&'static str; N],
        term: impl Fn() -> String,
    ) -> Option<[f64; N]> {
        let found = keys.map(|key| self.entry(group, own, key).map(|(_, value)| value));
        let missing = keys.iter().zip(&found).filter(|(_, value)| value.is_none());
        let missing: Vec<&str> = missing.map(|(key, _)| *key).collect();
        if missing.is_empty() {
            return Some(found.map(|value| value.unwrap_or(1.0)));
        }
        if self.said.insert(group) {
            let place = self.number(own).or(self.number(group));
            let place = place.map_or(Place::Whole, |number| Place::Relax(number, ""));
            let message = format!(
                "`{}` becomes a state `{own}`, but `relax` gives no {} for it",
                term(),
                missing.join(", no ")
            );
            let help = match group {
                "dio" => "for example: relax = { dio = { stiffness = 1e4, beta = 0.01, alpha = 0.005 } }",
                _ => "for example: relax = { sgn = { stiffness = 1e5, beta = 5e-3 } }",
            };
            self.findings.push(Finding::new(place, message, help));
        }
        None
    }

    /// α > β makes a contact that adds energy (restitution above 1).
    fn check_alpha(&mut self, own: &str, alpha: f64, beta: f64) {
        if alpha > beta && self.said.insert("alpha > beta") {
            let number = self.entry("dio", own, "alpha").map_or(0, |(number, _)| number);
            let message = format!("alpha of `{own}` ({alpha} s) is greater than beta ({beta} s)");
            let help = "such a contact adds energy; use 0 < alpha <= beta: alpha = beta bounces back fully, smaller alpha less";
            self.findings
                .push(Finding::new(Place::Relax(number, "alpha"), message, help));
        }
    }
}

fn note(list: &mut Vec<usize>, state: usize) {
    if !list.contains(&state) {
        list.push(state);
    }
}

/// The rates at the start are numbers; if not, the term that is to blame.
fn check_start(inclusion: &Inclusion, equations: &[Equation]) -> Vec<Finding> {
    let inputs = inclusion
        .description
        .inputs
        .iter()
        .map(|input| input.profile.value(0.0));
    let inputs: Vec<f64> = inputs.collect();
    let blamed = equations.iter().filter_map(|equation| {
        let values = values(inclusion, equation, &inputs);
        let broken = !values[equation.tree.root()].is_finite();
        broken.then(|| blame(inclusion, equation, &values))
    });
    blamed.collect()
}

/// The values of the terms of an equation at the start.
fn values(inclusion: &Inclusion, equation: &Equation, inputs: &[f64]) -> Vec<f64> {
    let description = &inclusion.description;
    let mut values: Vec<f64> = Vec::with_capacity(equation.tree.terms.len());
    for term in &equation.tree.terms {
        let value = match term.kind {
            Kind::Number(value) => value,
            Kind::Name(Name::Time) => 0.0,
            Kind::Name(Name::State(i)) => description.states[i].1,
            Kind::Name(Name::Parameter(i)) => description.parameters[i].1,
            Kind::Name(Name::Input(i)) => inputs[i],
            Kind::Unary(function, a) => function.apply(values[a]),
            Kind::Binary(operation, a, b) => operation.apply(values[a], values[b]),
            Kind::Choose(condition, a, b) => values[if values[condition] == 0.0 { b } else { a }],
            // Added states begin at 0; a force is not finite if the argument is not.
            Kind::Dio(a) => {
                let argument = equation.ids[a];
                let contact = inclusion.contacts.iter().find(|contact| contact.argument == argument);
                let force = contact.map_or(0.0, |c| c.stiffness * f64::max(0.0, -c.beta * values[a] / c.alpha));
                force + 0.0 * values[a]
            }
            Kind::Sgn(arguments, _) => arguments.iter().map(|a| 0.0 * values[a]).sum(),
        };
        values.push(value);
    }
    values
}

/// The smallest term that is not finite although what it is made of is.
fn blame(inclusion: &Inclusion, equation: &Equation, values: &[f64]) -> Finding {
    let mut term = equation.tree.root();
    loop {
        let operands = match equation.kind(term) {
            Kind::Choose(condition, a, b) => Vector::new(&[condition, if values[condition] == 0.0 { b } else { a }]),
            kind => kind.operands(),
        };
        match operands.iter().find(|&operand| !values[operand].is_finite()) {
            Some(operand) => term = operand,
            None => break,
        }
    }
    let text = &inclusion.description.equations[equation.number].1;
    let of = |term: usize| &text[equation.tree.terms[term].at.clone()];
    let help = "check the initial values of the states and the parameters in it";
    let message = match equation.kind(term) {
        Kind::Binary(Binary::Divide, _, b) if values[b] == 0.0 => {
            format!("division by zero at the start: `{}` is 0", of(b))
        }
        Kind::Unary(Unary::Sqrt | Unary::Ln, a) => {
            format!("`{}` has no value at the start: `{}` is {}", of(term), of(a), values[a])
        }
        _ => format!("`{}` is not finite at the start", of(term)),
    };
    equation.finding(term, message, help)
}
