//! The right side of a rewritten inclusion as a program for a register machine: one source for single numbers, lanes and
//! dual numbers. Evaluation allocates nothing.
//!
//! Registers hold constants, states, inputs, and values on their way; a value's register is used again after its last
//! use. Both branches of an `if` are computed and one is chosen, so that all lanes do the same. A relaxed dio or sgn is one
//! instruction that gives its force and the rate of its state.

use super::graph::{Graph, Id, Op};
use super::tree::Name;
use super::{Finding, Inclusion, Place};
use crate::profile::parser::{Binary, Comparison, Unary};
use std::collections::HashMap;
use stickslip_core::scalar::{Dual, F64x8, Lanes, Real};
use stickslip_core::sets::gsat;

/// Most registers of a program.
const MOST: usize = 4096;
/// States whose derivatives are taken at once for the Jacobian.
const SEEDS: usize = 4;

/// A number that programs run on.
pub(crate) trait Number: Real {
    /// A function of the language.
    fn unary(self, function: Unary) -> Self;
    /// The general power.
    fn power(self, exponent: Self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn unary(self, function: Unary) -> Self {
        function.apply(self)
    }
    #[inline(always)]
    fn power(self, exponent: Self) -> Self {
        Binary::Power.apply(self, exponent)
    }
}

impl<const N: usize> Number for Lanes<N> {
    #[inline(always)]
    fn unary(mut self, function: Unary) -> Self {
        for x in &mut self.0 {
            *x = function.apply(*x);
        }
        self
    }
    #[inline(always)]
    fn power(mut self, exponent: Self) -> Self {
        for (x, p) in self.0.iter_mut().zip(exponent.0) {
            *x = Binary::Power.apply(*x, p);
        }
        self
    }
}

impl<const N: usize> Number for Dual<f64, N> {
    fn unary(self, function: Unary) -> Self {
        let value = function.apply(self.value);
        self.chain(value, slope(function, self.value, value))
    }

    /// d(x^p) = p·x^(p−1)·dx + x^p·ln x·dp.
    fn power(mut self, exponent: Self) -> Self {
        let (x, p) = (self.value, exponent.value);
        let value = Binary::Power.apply(x, p);
        let by_base = if p == 0.0 {
            0.0
        } else {
            p * Binary::Power.apply(x, p - 1.0)
        };
        let by_exponent = if x > 0.0 { value * Unary::Ln.apply(x) } else { 0.0 };
        for (dx, dp) in self.grad.iter_mut().zip(exponent.grad) {
            *dx = by_base * *dx + if dp == 0.0 { 0.0 } else { by_exponent * dp };
        }
        self.value = value;
        self
    }
}

/// The derivative of a function at `x`, where its value is `value`; 0 where it has none.
fn slope(function: Unary, x: f64, value: f64) -> f64 {
    match function {
        Unary::Negate => -1.0,
        Unary::Square => 2.0 * x,
        Unary::Abs => Unary::Sign.apply(x),
        Unary::Sign => 0.0,
        Unary::Sqrt if x > 0.0 => 0.5 / value,
        Unary::Ln if x > 0.0 => 1.0 / x,
        Unary::Sqrt | Unary::Ln => 0.0,
        Unary::Exp => value,
        Unary::Sin => Unary::Cos.apply(x),
        Unary::Cos => -Unary::Sin.apply(x),
        Unary::Tan => 1.0 + value * value,
        Unary::Tanh => 1.0 - value * value,
    }
}

/// Number of a register.
pub(crate) type Register = u16;

/// A relaxed dio: f = K·max(0, e − β·(ψ + e)/α), ė = max(−e/β, −(ψ + e)/α) (Xiong, Kikuuwe and Yamamoto, eq 15).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContactStep {
    pub force: Register,
    pub argument: Register,
    /// Register of e, and its number among the states.
    pub state: Register,
    pub rate: u16,
    pub stiffness: f64,
    pub beta: f64,
    pub alpha: f64,
}

/// A relaxed sgn with its bound χ: f = sat(χ, K·(a + β·θ)), ȧ = (f/K − a)/β (Xiong, Kikuuwe and Yamamoto, eq 9 with K·sat(χ/K, x) written as
/// sat(χ, K·x), so that |f| ≤ χ exactly).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrictionStep {
    /// First of as many registers as θ has components.
    pub force: Register,
    pub bound: Register,
    pub arguments: [Register; 3],
    pub axes: u16,
    /// First register of a, and its number among the states.
    pub state: Register,
    pub rate: u16,
    pub stiffness: f64,
    pub beta: f64,
}

/// One step of a program. The first register is the one that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Add(Register, Register, Register),
    Subtract(Register, Register, Register),
    Multiply(Register, Register, Register),
    Divide(Register, Register, Register),
    Min(Register, Register, Register),
    Max(Register, Register, Register),
    Power(Register, Register, Register),
    Compare(Comparison, Register, Register, Register),
    Unary(Unary, Register, Register),
    /// Condition, then what holds if it is not 0, then what holds if it is.
    Choose(Register, Register, Register, Register),
    Contact(ContactStep),
    Friction(FrictionStep),
    /// Rate of a state from a register.
    Rate(u16, Register),
}

/// The right side of a rewritten inclusion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub(crate) steps: Vec<Step>,
    /// The first registers.
    pub(crate) constants: Vec<f64>,
    pub(crate) states: usize,
    /// Inputs, and the time after them if it is used.
    pub(crate) inputs: usize,
    pub(crate) registers: usize,
    time: bool,
}

/// Gives registers to values.
struct Allocator<'a> {
    inclusion: &'a Inclusion,
    program: Program,
    /// Values of nodes that are constant.
    folded: Vec<Option<f64>>,
    constants: HashMap<u64, Register>,
    /// Register of each node that has been computed.
    of: HashMap<Id, Register>,
    /// Uses of each node that are still to come.
    left: Vec<usize>,
    free: Vec<Register>,
    next: usize,
    first_state: usize,
    first_input: usize,
    forces: HashMap<Op, Register>,
}

impl Program {
    /// Compiles the equations of an inclusion.
    pub(super) fn compile(inclusion: &Inclusion) -> Result<Self, Finding> {
        let graph = &inclusion.graph;
        let mut roots: Vec<Id> = inclusion.contacts.iter().map(|contact| contact.argument).collect();
        for friction in &inclusion.frictions {
            roots.push(friction.bound);
            roots.extend(friction.arguments.iter());
        }
        roots.extend(&inclusion.rates);
        let uses = graph.uses(&roots);
        let folded = fold(graph, inclusion);
        let time = graph
            .ids()
            .any(|id| uses[id.index()] > 0 && graph.op(id) == Op::Name(Name::Time));
        // Every constant that may be needed is known before the first register is given.
        let mut constants = HashMap::new();
        let mut values = Vec::new();
        for id in graph.ids().filter(|id| uses[id.index()] > 0) {
            if let Some(value) = folded[id.index()] {
                constants.entry(value.to_bits()).or_insert_with(|| {
                    values.push(value);
                    (values.len() - 1) as Register
                });
            }
        }
        let states = inclusion.states.len();
        let inputs = inclusion.description.inputs.len() + usize::from(time);
        let first_state = values.len();
        let first_input = first_state + states;
        let mut allocator = Allocator {
            inclusion,
            program: Program {
                constants: values,
                states,
                inputs,
                time,
                ..Program::default()
            },
            folded,
            constants,
            of: HashMap::new(),
            left: uses,
            free: Vec::new(),
            next: first_input + inputs,
            first_state,
            first_input,
            forces: HashMap::new(),
        };
        allocator.contacts();
        allocator.frictions();
        for (state, &rate) in inclusion.rates.iter().enumerate() {
            let register = allocator.value(rate);
            allocator.program.steps.push(Step::Rate(state as u16, register));
            allocator.used(rate);
        }
        if allocator.next > MOST {
            let message = format!("the equations need more than {MOST} numbers at once");
            return Err(Finding::new(
                Place::Whole,
                message,
                "divide the system, or shorten its formulas",
            ));
        }
        allocator.program.registers = allocator.next;
        Ok(allocator.program)
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Number of steps it takes.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn uses_time(&self) -> bool {
        self.time
    }

    /// The rates of the states at a time, with the values of the inputs then.
    pub fn rates(&self, t: f64, states: &[f64], inputs: &[f64], rates: &mut [f64]) {
        self.evaluate(states, |i| inputs.get(i).copied().unwrap_or(t), rates);
    }

    /// Eight systems at once, each exactly as [`Program::rates`].
    pub fn rates_of_eight(&self, t: F64x8, states: &[F64x8], inputs: &[F64x8], rates: &mut [F64x8]) {
        self.evaluate(states, |i| inputs.get(i).copied().unwrap_or(t), rates);
    }

    /// The derivatives of the rates by the states, row by row: `jacobian[i*n + j]` is that of rate i by state j.
    pub fn jacobian(&self, t: f64, states: &[f64], inputs: &[f64], jacobian: &mut [f64]) {
        let n = self.states;
        let put = |row: usize, column: usize, value: f64| jacobian[row * n + column] = value;
        self.derivatives(states, |i| inputs.get(i).copied().unwrap_or(t), put);
    }

    /// Hands over the derivative of each rate by each state: row, column, value.
    pub(crate) fn derivatives(&self, states: &[f64], input: impl Fn(usize) -> f64, put: impl FnMut(usize, usize, f64)) {
        match self.registers {
            0..=64 => self.derivatives_in::<64>(states, input, put),
            65..=256 => self.derivatives_in::<256>(states, input, put),
            _ => self.derivatives_in::<MOST>(states, input, put),
        }
    }

    /// By a few states at a time.
    #[inline(never)]
    fn derivatives_in<const SIZE: usize>(
        &self,
        states: &[f64],
        input: impl Fn(usize) -> f64,
        mut put: impl FnMut(usize, usize, f64),
    ) {
        let n = self.states;
        for first in (0..n).step_by(SEEDS) {
            let state = |i: usize| match i.checked_sub(first) {
                Some(seed) => Dual::<f64, SEEDS>::variable(states[i], seed),
                None => Dual::constant(states[i]),
            };
            let seeds = SEEDS.min(n - first);
            let rate = |row: usize, rate: Dual<f64, SEEDS>| {
                for (seed, &value) in rate.grad[..seeds].iter().enumerate() {
                    put(row, first + seed, value);
                }
            };
            self.run::<_, SIZE>(state, |i| Dual::constant(input(i)), rate);
        }
    }

    #[inline(always)]
    pub(crate) fn evaluate<R: Number>(&self, states: &[R], input: impl Fn(usize) -> R, rates: &mut [R]) {
        let (state, mut rate) = (|i: usize| states[i], |i: usize, value: R| rates[i] = value);
        match self.registers {
            0..=64 => self.run::<R, 64>(state, input, &mut rate),
            65..=256 => self.run::<R, 256>(state, input, &mut rate),
            _ => self.run::<R, MOST>(state, input, &mut rate),
        }
    }

    /// SIZE is a power of two, at least the number of registers; the mask replaces a bounds check that never fails.
    #[inline(always)]
    fn run<R: Number, const SIZE: usize>(
        &self,
        state: impl Fn(usize) -> R,
        input: impl Fn(usize) -> R,
        mut rate: impl FnMut(usize, R),
    ) {
        let mut file = [R::zero(); SIZE];
        let (constants, rest) = file.split_at_mut(self.constants.len());
        for (register, &value) in constants.iter_mut().zip(&self.constants) {
            *register = R::lit(value);
        }
        let (states, inputs) = rest.split_at_mut(self.states);
        for (i, register) in states.iter_mut().enumerate() {
            *register = state(i);
        }
        for (i, register) in inputs[..self.inputs].iter_mut().enumerate() {
            *register = input(i);
        }
        macro_rules! at {
            ($register:expr) => {
                file[usize::from($register) & (SIZE - 1)]
            };
        }
        for step in &self.steps {
            match *step {
                Step::Add(to, a, b) => at!(to) = at!(a) + at!(b),
                Step::Subtract(to, a, b) => at!(to) = at!(a) - at!(b),
                Step::Multiply(to, a, b) => at!(to) = at!(a) * at!(b),
                Step::Divide(to, a, b) => at!(to) = at!(a) / at!(b),
                Step::Min(to, a, b) => at!(to) = min(at!(a), at!(b)),
                Step::Max(to, a, b) => at!(to) = max(at!(a), at!(b)),
                Step::Unary(Unary::Negate, to, a) => at!(to) = -at!(a),
                Step::Contact(contact) => {
                    let (force, e_rate) = relax_dio(&contact, at!(contact.argument), at!(contact.state));
                    at!(contact.force) = force;
                    rate(usize::from(contact.rate), e_rate);
                }
                Step::Friction(friction) if friction.axes == 1 => {
                    let (force, [a_rate]) = relax_sgn(
                        &friction,
                        at!(friction.bound),
                        [at!(friction.arguments[0])],
                        [at!(friction.state)],
                    );
                    at!(friction.force) = force[0];
                    rate(usize::from(friction.rate), a_rate);
                }
                Step::Friction(friction) => {
                    let [x, y, z] = friction.arguments;
                    let state = [0, 1, 2].map(|i| at!(friction.state + i));
                    if friction.axes == 2 {
                        let theta = [at!(x), at!(y)];
                        let (force, rates) = relax_sgn(&friction, at!(friction.bound), theta, [state[0], state[1]]);
                        for (i, (force, a_rate)) in (0u16..).zip(force.into_iter().zip(rates)) {
                            at!(friction.force + i) = force;
                            rate(usize::from(friction.rate + i), a_rate);
                        }
                    } else {
                        let theta = [at!(x), at!(y), at!(z)];
                        let (force, rates) = relax_sgn(&friction, at!(friction.bound), theta, state);
                        for (i, (force, a_rate)) in (0u16..).zip(force.into_iter().zip(rates)) {
                            at!(friction.force + i) = force;
                            rate(usize::from(friction.rate + i), a_rate);
                        }
                    }
                }
                Step::Rate(number, from) => rate(usize::from(number), at!(from)),
                Step::Power(to, a, b) => at!(to) = at!(a).power(at!(b)),
                Step::Compare(comparison, to, a, b) => at!(to) = compare(comparison, at!(a), at!(b)),
                Step::Unary(function, to, a) => at!(to) = at!(a).unary(function),
                Step::Choose(to, condition, a, b) => {
                    let zero = at!(condition).same(R::zero());
                    at!(to) = R::select(zero, at!(b), at!(a));
                }
            }
        }
    }
}

/// Force and rate of the state of a relaxed dio (Xiong, Kikuuwe and Yamamoto, eq 15).
#[inline(always)]
fn relax_dio<R: Real>(contact: &ContactStep, argument: R, e: R) -> (R, R) {
    let (k, beta, alpha) = (R::lit(contact.stiffness), R::lit(contact.beta), R::lit(contact.alpha));
    let sum = argument + e;
    (k * R::zero().max(e - beta * sum / alpha), max(-e / beta, -sum / alpha))
}

/// Force and rate of the state of a relaxed sgn (Xiong, Kikuuwe and Yamamoto, eq 9).
#[inline(always)]
fn relax_sgn<R: Real, const N: usize>(friction: &FrictionStep, bound: R, theta: [R; N], a: [R; N]) -> ([R; N], [R; N]) {
    let (k, beta) = (R::lit(friction.stiffness), R::lit(friction.beta));
    let mut trial = a;
    for (trial, theta) in trial.iter_mut().zip(theta) {
        *trial = k * (*trial + beta * theta);
    }
    let force = gsat(bound, trial);
    let mut rate = a;
    for (rate, force) in rate.iter_mut().zip(force) {
        *rate = (force / k - *rate) / beta;
    }
    (force, rate)
}

/// The smaller of two numbers; NaN if the first is. As [`Binary::apply`].
#[inline(always)]
fn min<R: Real>(a: R, b: R) -> R {
    R::select(a.lt(b) | !a.same(a), a, b)
}

/// The larger of two numbers; NaN if the first is.
#[inline(always)]
fn max<R: Real>(a: R, b: R) -> R {
    R::select(b.lt(a) | !a.same(a), a, b)
}

/// 1 where the comparison holds, 0 elsewhere.
#[inline(always)]
fn compare<R: Real>(comparison: Comparison, a: R, b: R) -> R {
    let holds = match comparison {
        Comparison::Less => a.lt(b),
        Comparison::LessOrEqual => a.le(b),
        Comparison::Greater => b.lt(a),
        Comparison::GreaterOrEqual => b.le(a),
        Comparison::Equal => a.same(b),
        Comparison::NotEqual => !a.same(b),
    };
    R::select(holds, R::one(), R::zero())
}

/// Values of nodes that neither time, state nor inputs change.
fn fold(graph: &Graph, inclusion: &Inclusion) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = Vec::with_capacity(graph.len());
    for id in graph.ids() {
        let of = |id: Id| values[id.index()];
        let value = match graph.op(id) {
            Op::Number(bits) => Some(f64::from_bits(bits)),
            Op::Name(Name::Parameter(i)) => Some(inclusion.description.parameters[i].1),
            Op::Unary(function, a) => of(a).map(|a| function.apply(a)),
            // x² rounds once as x·x; so it does for what is not constant.
            Op::Binary(Binary::Power, a, b) if of(b) == Some(2.0) => of(a).map(|a| a * a),
            Op::Binary(operation, a, b) => of(a).zip(of(b)).map(|(a, b)| operation.apply(a, b)),
            _ => None,
        };
        values.push(value);
    }
    values
}

impl Allocator<'_> {
    /// Emits the code that computes a node, unless it has been computed; its register.
    fn value(&mut self, id: Id) -> Register {
        if let Some(value) = self.folded[id.index()] {
            return self.constants.get(&value.to_bits()).copied().unwrap_or(0);
        }
        if let Some(&register) = self.of.get(&id) {
            return register;
        }
        let op = self.inclusion.graph.op(id);
        let register = match op {
            Op::Name(Name::State(i)) => (self.first_state + i) as Register,
            Op::Name(Name::Input(i)) => (self.first_input + i) as Register,
            Op::Name(Name::Time) => (self.first_input + self.program.inputs - 1) as Register,
            Op::Contact(_) | Op::Friction(..) => self.forces.get(&op).copied().unwrap_or(0),
            Op::Unary(function, a) => {
                let from = self.value(a);
                self.used(a);
                let to = self.take();
                self.program.steps.push(Step::Unary(function, to, from));
                to
            }
            Op::Binary(operation, a, b) => {
                let (first, second) = (self.value(a), self.value(b));
                self.used(a);
                self.used(b);
                let to = self.take();
                let step = match operation {
                    Binary::Add => Step::Add(to, first, second),
                    Binary::Subtract => Step::Subtract(to, first, second),
                    Binary::Multiply => Step::Multiply(to, first, second),
                    Binary::Divide => Step::Divide(to, first, second),
                    Binary::Min => Step::Min(to, first, second),
                    Binary::Max => Step::Max(to, first, second),
                    Binary::Power if self.folded[b.index()] == Some(2.0) => Step::Multiply(to, first, first),
                    Binary::Power => Step::Power(to, first, second),
                    Binary::Compare(comparison) => Step::Compare(comparison, to, first, second),
                };
                self.program.steps.push(step);
                to
            }
            Op::Choose(condition, a, b) => {
                let registers = [condition, a, b].map(|id| self.value(id));
                for id in [condition, a, b] {
                    self.used(id);
                }
                let to = self.take();
                let [condition, a, b] = registers;
                self.program.steps.push(Step::Choose(to, condition, a, b));
                to
            }
            // Constants were folded; what is as written was rewritten.
            Op::Number(_) | Op::Name(Name::Parameter(_)) | Op::Dio(_) | Op::Sgn(..) => 0,
        };
        self.of.insert(id, register);
        register
    }

    /// One use of a node is over; after the last its register is free, if it holds a value on its way.
    fn used(&mut self, id: Id) {
        let left = &mut self.left[id.index()];
        *left = left.saturating_sub(1);
        let computed = matches!(
            self.inclusion.graph.op(id),
            Op::Unary(..) | Op::Binary(..) | Op::Choose(..)
        );
        if *left == 0
            && computed
            && let Some(register) = self.of.remove(&id)
        {
            self.free.push(register);
        }
    }

    fn take(&mut self) -> Register {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            // Programs with too many registers are refused before they run.
            (self.next - 1).min(MOST) as Register
        })
    }

    fn contacts(&mut self) {
        for (i, contact) in self.inclusion.contacts.iter().enumerate() {
            let argument = self.value(contact.argument);
            self.used(contact.argument);
            let force = self.take();
            let number = self.inclusion.written_states() + i;
            self.forces.insert(Op::Contact(i), force);
            self.program.steps.push(Step::Contact(ContactStep {
                force,
                argument,
                state: (self.first_state + number) as Register,
                rate: number as u16,
                stiffness: contact.stiffness,
                beta: contact.beta,
                alpha: contact.alpha,
            }));
        }
    }

    fn frictions(&mut self) {
        for (i, friction) in self.inclusion.frictions.iter().enumerate() {
            let bound = self.value(friction.bound);
            let mut arguments = [0; 3];
            for (register, argument) in arguments.iter_mut().zip(friction.arguments.iter()) {
                *register = self.value(argument);
            }
            self.used(friction.bound);
            for argument in friction.arguments.iter() {
                self.used(argument);
            }
            // Forces of a vector lie side by side, so they are not put into registers that have become free.
            let axes = friction.arguments.len();
            let force = self.next.min(MOST) as Register;
            self.next += axes;
            for component in 0..axes {
                self.forces
                    .insert(Op::Friction(i, component), force + component as Register);
            }
            let number = self.inclusion.friction_state(i);
            self.program.steps.push(Step::Friction(FrictionStep {
                force,
                bound,
                arguments,
                axes: axes as u16,
                state: (self.first_state + number) as Register,
                rate: number as u16,
                stiffness: friction.stiffness,
                beta: friction.beta,
            }));
        }
    }
}
