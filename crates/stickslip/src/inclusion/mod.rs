//! Differential inclusions ẋ ∈ Φ(x) with the set-valued maps `sgn` and `dio`, turned into ordinary differential equations by
//! the procedure of Xiong, Kikuuwe and Yamamoto, section 3.3.
//!
//! Step 1 replaces each dio(ψ) by K·max(0, e − β·(ψ + e)/α) and adds a state ė = max(−e/β, −(ψ + e)/α) (eq 15). Step 2
//! replaces each χ·sgn(θ) by K·sat(χ/K, a + β·θ) and adds a state ȧ = (sat(χ/K, a + β·θ) − a)/β (eq 9): one per pair
//! (χ, θ), however often it appears.
//!
//! ```
//! use stickslip::inclusion::{Description, Inclusion, Relaxation};
//!
//! // A block on a floor: M·v̇ ∈ f − F·sgn(v).
//! let inclusion = Inclusion::new(Description {
//!     states: vec![("p".into(), 0.0), ("v".into(), 0.2)],
//!     parameters: vec![("M".into(), 1.0), ("F".into(), 0.5)],
//!     equations: vec![("p".into(), "v".into()), ("v".into(), "-F*sgn(v)/M".into())],
//!     relax: vec![("sgn".into(), Relaxation { stiffness: Some(1e5), beta: Some(5e-3), alpha: None })],
//!     ..Description::default()
//! })
//! .map_err(|findings| findings[0].message.clone())?;
//! assert_eq!(inclusion.states(), ["p", "v", "sgn1"]);
//! let mut rates = [0.0; 3];
//! inclusion.program().rates(0.0, &[0.0, 0.2, 0.0], &[], &mut rates);
//! assert_eq!(rates[1], -0.5); // it slides: friction is at its limit
//! # Ok::<(), String>(())
//! ```

pub mod emit;
mod graph;
#[cfg(feature = "jit")]
pub mod native;
pub mod program;
mod rewrite;
mod signs;
mod tree;

use crate::profile::Profile;
use graph::{Graph, Id, Vector};
use program::Program;
use std::ops::Range;

/// A differential inclusion as the user writes it.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Title, for emitted code.
    pub title: String,
    /// States with their initial values.
    pub states: Vec<(String, f64)>,
    /// Constants.
    pub parameters: Vec<(String, f64)>,
    /// Functions of time.
    pub inputs: Vec<Input>,
    /// The rate of each state, as text.
    pub equations: Vec<(String, String)>,
    /// Numbers of the relaxation: under `sgn` and `dio` for all, under `sgn1`, `dio2` … for one of them.
    pub relax: Vec<(String, Relaxation)>,
    /// Terms the user says are never negative, as text.
    pub nonnegative: Vec<String>,
}

/// A function of time that equations may use.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its value.
    pub profile: Profile,
    /// The expression it was written as and the factor to SI, for emitted code; a profile without one is a constant or a
    /// table.
    pub formula: Option<(String, f64)>,
}

/// K, β and α of a relaxed `sgn` or `dio`, as far as they are given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Relaxation {
    /// K.
    pub stiffness: Option<f64>,
    /// β, s.
    pub beta: Option<f64>,
    /// α, s; only of `dio`.
    pub alpha: Option<f64>,
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The inclusion as a whole.
    Whole,
    /// A state, by number.
    State(usize),
    /// A parameter.
    Parameter(usize),
    /// An input.
    Input(usize),
    /// An equation; the range of bytes is within its text.
    Equation(usize),
    /// A text of `nonnegative`.
    Nonnegative(usize),
    /// An entry of `relax`, by number, and the key in it.
    Relax(usize, &'static str),
}

/// Why an inclusion cannot be rewritten, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// The range of bytes at fault in the text of the place.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
}

impl Finding {
    fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Finding {
            place,
            span: None,
            message: message.into(),
            help: help.into(),
        }
    }

    fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }
}

/// A dio(ψ) and its state e.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub argument: Id,
    pub stiffness: f64,
    pub beta: f64,
    pub alpha: f64,
    /// As written: dio(ψ).
    pub written: Id,
    /// States in whose equations it appears.
    pub used_in: Vec<usize>,
}

/// A χ·sgn(θ) and its state a, a vector if θ is one.
#[derive(Clone, Debug)]
pub(crate) struct Friction {
    /// χ after step 1.
    pub bound: Id,
    pub arguments: Vector<Id>,
    pub stiffness: f64,
    pub beta: f64,
    /// χ and sgn(θ) as written; no χ if it is 1.
    pub written: (Option<Id>, Id),
    pub used_in: Vec<usize>,
}

/// A differential inclusion and the ordinary differential equation it became.
#[derive(Clone, Debug)]
pub struct Inclusion {
    description: Description,
    states: Vec<String>,
    initial: Vec<f64>,
    graph: Graph,
    /// Right sides as written and as rewritten, by state.
    written: Vec<Id>,
    rates: Vec<Id>,
    contacts: Vec<Contact>,
    frictions: Vec<Friction>,
    /// Inputs that are expressions in t, for emitted code.
    inputs: Vec<Option<Id>>,
    program: Program,
}

impl Inclusion {
    /// Rewrites an inclusion as an ordinary differential equation.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the description.
    pub fn new(description: Description) -> Result<Self, Vec<Finding>> {
        rewrite::rewrite(description, None)
    }

    /// Compiles the equations of a part of a system, whose first states are `given` from outside.
    pub(crate) fn of_part(description: Description, given: usize) -> Result<Self, Vec<Finding>> {
        rewrite::rewrite(description, Some(given))
    }

    /// What it was made from.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Names of all states: those written, then `dio1` …, then `sgn1` … (`sgn1.x`, `sgn1.y` if it is a vector).
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// Initial values of all states; those added begin at 0.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// The compiled right side.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the time itself appears in the equations.
    pub fn uses_time(&self) -> bool {
        self.program.uses_time()
    }

    /// Whether a state appears in the equations.
    pub(crate) fn uses_state(&self, state: usize) -> bool {
        let name = graph::Op::Name(tree::Name::State(state));
        self.graph.ids().any(|id| self.graph.op(id) == name)
    }

    /// Whether a parameter appears in the equations.
    pub(crate) fn uses_parameter(&self, parameter: usize) -> bool {
        let name = graph::Op::Name(tree::Name::Parameter(parameter));
        self.graph.ids().any(|id| self.graph.op(id) == name)
    }

    /// Number of states that were written.
    fn written_states(&self) -> usize {
        self.description.states.len()
    }

    /// First state of the friction with this number.
    fn friction_state(&self, index: usize) -> usize {
        let before: usize = self.frictions[..index]
            .iter()
            .map(|friction| friction.arguments.len())
            .sum();
        self.written_states() + self.contacts.len() + before
    }
}

#[cfg(test)]
mod tests;
