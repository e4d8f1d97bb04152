//! Expressions such as `if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))`, compiled while they are read.
//!
//! The program is a flat list for a stack machine whose top stays in a register; a constant or variable on the right of an
//! operator is part of the instruction. `if` jumps over the branch it does not take.

use super::parser::{Binary, Builder, Comparison, ExpressionError, Unary, error, parse};
use crate::math::{cosines, sines};
use std::ops::Range;

/// Room on the stack of the largest machine; the deepest nesting that is read needs less.
const LARGEST_STACK: usize = 256;
/// How many points are evaluated at once, and the largest stack for which they are.
pub const BLOCK: usize = 32;
const BLOCK_STACK: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    Constant(f64),
    Variable(u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Instruction {
    Push(Operand),
    Unary(Unary),
    /// Takes the right operand from the top of the stack and the left from below it.
    Binary(Binary),
    /// The left operand is the top of the stack.
    BinaryWith(Binary, Operand),
    /// Takes the condition and, if it is 0, passes over so many instructions.
    SkipIfZero(u32),
    Skip(u32),
}

/// An instruction as it runs: what is common needs one decision only.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Constant(f64),
    Variable(u8),
    Add(f64),
    Subtract(f64),
    Multiply(f64),
    Divide(f64),
    Min(f64),
    Max(f64),
    Less(f64),
    LessOrEqual(f64),
    With(Binary, f64),
    WithVariable(Binary, u8),
    Unary(Unary),
    Binary(Binary),
    SkipIfZero(u32),
    Skip(u32),
}

impl From<Instruction> for Step {
    fn from(instruction: Instruction) -> Self {
        match instruction {
            Instruction::Push(Operand::Constant(value)) => Self::Constant(value),
            Instruction::Push(Operand::Variable(index)) => Self::Variable(index),
            Instruction::BinaryWith(operation, Operand::Variable(index)) => Self::WithVariable(operation, index),
            Instruction::BinaryWith(operation, Operand::Constant(value)) => match operation {
                Binary::Add => Self::Add(value),
                Binary::Subtract => Self::Subtract(value),
                Binary::Multiply => Self::Multiply(value),
                Binary::Divide => Self::Divide(value),
                Binary::Min => Self::Min(value),
                Binary::Max => Self::Max(value),
                Binary::Compare(Comparison::Less) => Self::Less(value),
                Binary::Compare(Comparison::LessOrEqual) => Self::LessOrEqual(value),
                _ => Self::With(operation, value),
            },
            Instruction::Unary(function) => Self::Unary(function),
            Instruction::Binary(operation) => Self::Binary(operation),
            Instruction::SkipIfZero(count) => Self::SkipIfZero(count),
            Instruction::Skip(count) => Self::Skip(count),
        }
    }
}

/// A comparison of a variable with a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    pub(super) variable: u8,
    pub(super) comparison: Comparison,
    pub(super) value: f64,
}

/// A compiled function of a few variables. Evaluation allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    code: Vec<Instruction>,
    /// The code as it runs.
    steps: Vec<Step>,
    stack: usize,
    thresholds: Vec<Threshold>,
    /// Variables appear only in comparisons with constants.
    stepwise: bool,
}

impl Expression {
    /// Reads an expression in which the names in `variables` may appear.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        let mut compiler = Compiler {
            variables,
            code: Vec::new(),
            thresholds: Vec::new(),
        };
        let term = parse(text, &mut compiler)?;
        let expression = Self {
            stack: stack_needed(&compiler.code),
            steps: compiler.code.iter().map(|&instruction| instruction.into()).collect(),
            code: compiler.code,
            thresholds: compiler.thresholds,
            stepwise: term.stepwise,
        };
        match expression.constant() {
            Some(value) if !value.is_finite() => error("the value is not finite", 0..text.len()),
            _ if expression.stack > LARGEST_STACK => error("nested too deeply", 0..text.len()),
            _ => Ok(expression),
        }
    }

    /// The value, if no variable appears.
    pub fn constant(&self) -> Option<f64> {
        match self.code[..] {
            [Instruction::Push(Operand::Constant(value))] => Some(value),
            _ => None,
        }
    }

    /// Whether the value may depend on the variable at this index of the list given to [`Expression::parse`].
    pub fn uses(&self, variable: usize) -> bool {
        self.code.iter().any(|instruction| match *instruction {
            Instruction::Push(Operand::Variable(index)) | Instruction::BinaryWith(_, Operand::Variable(index)) => {
                usize::from(index) == variable
            }
            _ => false,
        })
    }

    /// The value at the given variables, in the order of the list given to [`Expression::parse`].
    #[inline]
    pub fn evaluate(&self, variables: &[f64]) -> f64 {
        match self.stack {
            0..=8 => self.run::<8>(variables),
            9..=32 => self.run::<32>(variables),
            _ => self.run::<LARGEST_STACK>(variables),
        }
    }

    /// SIZE is a power of two, at least `self.stack`; the mask replaces a bounds check that never fails.
    #[inline(never)]
    fn run<const SIZE: usize>(&self, variables: &[f64]) -> f64 {
        let mut stack = [0.0; SIZE];
        let mut height = 0_usize;
        let mut top = 0.0;
        let mut at = 0;
        let variable = |index: u8| variables.get(usize::from(index)).copied().unwrap_or(f64::NAN);
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match *step {
                Step::Constant(value) => {
                    stack[height & (SIZE - 1)] = top;
                    height += 1;
                    top = value;
                }
                Step::Variable(index) => {
                    stack[height & (SIZE - 1)] = top;
                    height += 1;
                    top = variable(index);
                }
                Step::Add(value) => top = Binary::Add.apply(top, value),
                Step::Subtract(value) => top = Binary::Subtract.apply(top, value),
                Step::Multiply(value) => top = Binary::Multiply.apply(top, value),
                Step::Divide(value) => top = Binary::Divide.apply(top, value),
                Step::Min(value) => top = Binary::Min.apply(top, value),
                Step::Max(value) => top = Binary::Max.apply(top, value),
                Step::Less(value) => top = Binary::Compare(Comparison::Less).apply(top, value),
                Step::LessOrEqual(value) => top = Binary::Compare(Comparison::LessOrEqual).apply(top, value),
                Step::With(operation, value) => top = operation.apply(top, value),
                Step::WithVariable(operation, index) => top = operation.apply(top, variable(index)),
                Step::Unary(function) => top = function.apply(top),
                Step::Binary(operation) => {
                    height -= 1;
                    top = operation.apply(stack[height & (SIZE - 1)], top);
                }
                Step::SkipIfZero(count) => {
                    if top == 0.0 {
                        at += count as usize;
                    }
                    height -= 1;
                    top = stack[height & (SIZE - 1)];
                }
                Step::Skip(count) => at += count as usize,
            }
        }
        top
    }

    /// The value at `point` of the first variable, the only one, and its slope there. At a kink the slope is that of the
    /// side which the value takes; a comparison is flat.
    pub fn value_and_slope(&self, point: f64) -> [f64; 2] {
        let mut stack = [[0.0; 2]; LARGEST_STACK];
        let mut height = 0_usize;
        let mut at = 0;
        let operand = |operand: Operand| match operand {
            Operand::Constant(value) => [value, 0.0],
            Operand::Variable(_) => [point, 1.0],
        };
        while let Some(instruction) = self.code.get(at) {
            at += 1;
            match *instruction {
                Instruction::Push(value) => {
                    stack[height & (LARGEST_STACK - 1)] = operand(value);
                    height += 1;
                }
                Instruction::Unary(function) => {
                    let top = &mut stack[(height - 1) & (LARGEST_STACK - 1)];
                    *top = [function.apply(top[0]), function.slope(top[0]) * top[1]];
                }
                Instruction::Binary(operation) => {
                    height -= 1;
                    let right = stack[height & (LARGEST_STACK - 1)];
                    let top = &mut stack[(height - 1) & (LARGEST_STACK - 1)];
                    *top = operation.with_slope(*top, right);
                }
                Instruction::BinaryWith(operation, value) => {
                    let top = &mut stack[(height - 1) & (LARGEST_STACK - 1)];
                    *top = operation.with_slope(*top, operand(value));
                }
                Instruction::SkipIfZero(count) => {
                    height -= 1;
                    if stack[height & (LARGEST_STACK - 1)][0] == 0.0 {
                        at += count as usize;
                    }
                }
                Instruction::Skip(count) => at += count as usize,
            }
        }
        stack[0]
    }

    /// The smallest constant above `after` that the first variable is compared with: the value may jump or kink there.
    pub fn next_threshold(&self, after: f64) -> f64 {
        let of_first = self.thresholds.iter().filter(|threshold| threshold.variable == 0);
        let later = of_first.map(|threshold| threshold.value).filter(|value| *value > after);
        later.fold(f64::INFINITY, f64::min)
    }

    /// The values at many values of the first variable, the only one. The same as one by one, with one decision on what
    /// to do for all of them.
    pub fn evaluate_block(&self, points: &[f64; BLOCK], values: &mut [f64; BLOCK]) {
        if self.stack > BLOCK_STACK || !self.run_block(points, values) {
            *values = points.map(|point| self.evaluate(&[point]));
        }
    }

    /// False if the points take different branches.
    fn run_block(&self, points: &[f64; BLOCK], values: &mut [f64; BLOCK]) -> bool {
        let mut stack = [[0.0; BLOCK]; BLOCK_STACK];
        // The top of the stack is in `values`.
        let mut height = 0_usize;
        let mut at = 0;
        let each = |values: &mut [f64; BLOCK], function: &dyn Fn(f64) -> f64| *values = values.map(function);
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match *step {
                Step::Constant(_) | Step::Variable(_) => {
                    stack[height & (BLOCK_STACK - 1)] = *values;
                    height += 1;
                    *values = match *step {
                        Step::Constant(value) => [value; BLOCK],
                        _ => *points,
                    };
                }
                Step::Add(value) => *values = values.map(|x| Binary::Add.apply(x, value)),
                Step::Subtract(value) => *values = values.map(|x| Binary::Subtract.apply(x, value)),
                Step::Multiply(value) => *values = values.map(|x| Binary::Multiply.apply(x, value)),
                Step::Divide(value) => *values = values.map(|x| Binary::Divide.apply(x, value)),
                Step::Min(value) => *values = values.map(|x| Binary::Min.apply(x, value)),
                Step::Max(value) => *values = values.map(|x| Binary::Max.apply(x, value)),
                Step::Less(value) => *values = values.map(|x| Binary::Compare(Comparison::Less).apply(x, value)),
                Step::LessOrEqual(value) => {
                    *values = values.map(|x| Binary::Compare(Comparison::LessOrEqual).apply(x, value));
                }
                Step::With(operation, value) => each(values, &|x| operation.apply(x, value)),
                Step::WithVariable(operation, _) => {
                    for (value, point) in values.iter_mut().zip(points) {
                        *value = operation.apply(*value, *point);
                    }
                }
                Step::Unary(Unary::Sin) => sines(values),
                Step::Unary(Unary::Cos) => cosines(values),
                Step::Unary(function) => each(values, &|x| function.apply(x)),
                Step::Binary(operation) => {
                    height -= 1;
                    for (value, left) in values.iter_mut().zip(&stack[height & (BLOCK_STACK - 1)]) {
                        *value = operation.apply(*left, *value);
                    }
                }
                Step::SkipIfZero(count) => {
                    let zeros = values.iter().filter(|condition| **condition == 0.0).count();
                    match zeros {
                        0 => {}
                        BLOCK => at += count as usize,
                        _ => return false,
                    }
                    height -= 1;
                    *values = stack[height & (BLOCK_STACK - 1)];
                }
                Step::Skip(count) => at += count as usize,
            }
        }
        true
    }

    /// The same expression times `factor`. A factor 1/n divides by n, which rounds once (9 mm is 9/1000, not 9·0.001).
    pub fn scaled(mut self, factor: f64) -> Self {
        let (operation, operand) = match whole_inverse(factor) {
            Some(divisor) => (Binary::Divide, divisor),
            None => (Binary::Multiply, factor),
        };
        match &mut self.code[..] {
            [Instruction::Push(Operand::Constant(value))] => *value = operation.apply(*value, operand),
            _ => self
                .code
                .push(Instruction::BinaryWith(operation, Operand::Constant(operand))),
        }
        self.steps = self.code.iter().map(|&instruction| instruction.into()).collect();
        self
    }

    /// Where the value may change, if it is constant between; `None` for any other expression.
    pub(super) fn thresholds(&self) -> Option<&[Threshold]> {
        self.stepwise.then_some(&self.thresholds[..])
    }
}

/// n, if `factor` is the double nearest to 1/n for a whole n > 1.
pub(super) fn whole_inverse(factor: f64) -> Option<f64> {
    let inverse = (1.0 / factor).round();
    ((2.0..=1e15).contains(&inverse.abs()) && 1.0 / inverse == factor).then_some(inverse)
}

/// The greatest height of the stack. Both branches of an `if` start from the height before the condition.
fn stack_needed(code: &[Instruction]) -> usize {
    let mut height = 0_usize;
    let mut greatest = 0;
    for instruction in code {
        match instruction {
            Instruction::Push(_) => height += 1,
            Instruction::Binary(_) | Instruction::SkipIfZero(_) | Instruction::Skip(_) => height -= 1,
            Instruction::Unary(_) | Instruction::BinaryWith(..) => {}
        }
        greatest = greatest.max(height);
    }
    greatest
}

/// The code from `start` to the end computes one value.
#[derive(Clone, Copy)]
struct Term {
    start: usize,
    stepwise: bool,
}

/// Makes the program while the text is read.
struct Compiler<'a> {
    variables: &'a [&'a str],
    code: Vec<Instruction>,
    thresholds: Vec<Threshold>,
}

impl Builder for Compiler<'_> {
    type Term = Term;

    fn names(&self) -> Vec<&str> {
        self.variables.to_vec()
    }

    fn constant(&mut self, value: f64, _: Range<usize>) -> Term {
        self.push(Operand::Constant(value))
    }

    fn name(&mut self, name: &str, at: Range<usize>) -> Result<Option<Term>, ExpressionError> {
        let Some(index) = self.variables.iter().position(|variable| *variable == name) else {
            return Ok(None);
        };
        match u8::try_from(index) {
            Ok(index) => Ok(Some(self.push(Operand::Variable(index)))),
            Err(_) => error("too many variables", at),
        }
    }

    fn unary(&mut self, function: Unary, term: Term, _: Range<usize>) -> Term {
        match self.constant_at(term.start..self.code.len()) {
            Some(value) => {
                self.code.truncate(term.start);
                self.push(Operand::Constant(function.apply(value)))
            }
            None => {
                self.code.push(Instruction::Unary(function));
                term
            }
        }
    }

    fn binary(&mut self, operation: Binary, left: Term, right: Term, _: Range<usize>) -> Term {
        use Operand::{Constant, Variable};
        let a = self.operand_at(left.start..right.start);
        let b = self.operand_at(right.start..self.code.len());
        let mut stepwise = left.stepwise && right.stepwise;
        match (operation, a, b) {
            (_, Some(Constant(a)), Some(Constant(b))) => {
                self.code.truncate(left.start);
                return self.push(Constant(operation.apply(a, b)));
            }
            (Binary::Compare(comparison), Some(Variable(variable)), Some(Constant(value))) => {
                stepwise = true;
                self.thresholds.push(Threshold {
                    variable,
                    comparison,
                    value,
                });
            }
            (Binary::Compare(comparison), Some(Constant(value)), Some(Variable(variable))) => {
                stepwise = true;
                let comparison = comparison.mirrored();
                self.thresholds.push(Threshold {
                    variable,
                    comparison,
                    value,
                });
            }
            _ => {}
        }
        match (operation, a, b) {
            // x·x rounds correctly and is many times faster than a general power.
            (Binary::Power, _, Some(Constant(2.0))) => {
                self.code.pop();
                self.code.push(Instruction::Unary(Unary::Square));
            }
            (_, _, Some(operand)) => {
                self.code.pop();
                self.code.push(Instruction::BinaryWith(operation, operand));
            }
            // Jumps are relative and lie inside the right operand, so they stay true when the left one is taken out.
            (_, Some(operand), None) if operation.mirrored().is_some() => {
                let mirrored = operation.mirrored().unwrap_or(operation);
                self.code.remove(left.start);
                self.code.push(Instruction::BinaryWith(mirrored, operand));
            }
            _ => self.code.push(Instruction::Binary(operation)),
        }
        Term {
            start: left.start,
            stepwise,
        }
    }

    fn after_condition(&mut self) {
        self.code.push(Instruction::SkipIfZero(0));
    }

    fn after_first(&mut self) {
        self.code.push(Instruction::Skip(0));
    }

    /// The code is: condition, SkipIfZero → second, first, Skip → end, second.
    fn choice(&mut self, condition: Term, first: Term, second: Term, _: Range<usize>) -> Term {
        let (to_second, to_end) = (first.start - 1, second.start - 1);
        match self.constant_at(condition.start..to_second) {
            Some(0.0) => {
                self.code.drain(condition.start..second.start);
                return Term {
                    start: condition.start,
                    ..second
                };
            }
            Some(_) => {
                self.code.truncate(to_end);
                self.code.drain(condition.start..first.start);
                return Term {
                    start: condition.start,
                    ..first
                };
            }
            None => {}
        }
        // No text is so long that the counts do not fit: an instruction takes at least one byte of it.
        let count = |from: usize, to: usize| u32::try_from(to - from).unwrap_or(u32::MAX);
        self.code[to_second] = Instruction::SkipIfZero(count(to_second + 1, second.start));
        self.code[to_end] = Instruction::Skip(count(second.start, self.code.len()));
        Term {
            start: condition.start,
            stepwise: condition.stepwise && first.stepwise && second.stepwise,
        }
    }
}

impl Compiler<'_> {
    fn push(&mut self, operand: Operand) -> Term {
        self.code.push(Instruction::Push(operand));
        Term {
            start: self.code.len() - 1,
            stepwise: matches!(operand, Operand::Constant(_)),
        }
    }

    /// The operand, if this piece of code only loads one.
    fn operand_at(&self, code: Range<usize>) -> Option<Operand> {
        match self.code[code] {
            [Instruction::Push(operand)] => Some(operand),
            _ => None,
        }
    }

    fn constant_at(&self, code: Range<usize>) -> Option<f64> {
        match self.operand_at(code) {
            Some(Operand::Constant(value)) => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::{E, LN_2, PI, SQRT_2};

    fn at(text: &str, t: f64) -> f64 {
        match Expression::parse(text, &["t"]) {
            Ok(expression) => expression.evaluate(&[t]),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    fn refused(text: &str) -> ExpressionError {
        match Expression::parse(text, &["t"]) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => error,
        }
    }

    #[test]
    fn values_by_hand() {
        for (text, t, value) in [
            ("1 + 2*3", 0.0, 7.0),
            ("(1 + 2)*3", 0.0, 9.0),
            ("-2^2", 0.0, -4.0),
            ("2^-1", 0.0, 0.5),
            ("2^3^2", 0.0, 512.0),
            ("-t^2", 3.0, -9.0),
            ("2^-t*3", 1.0, 1.5),
            ("-t*2 + 1", 3.0, -5.0),
            ("8/4/2", 0.0, 1.0),
            ("8 - 4 - 2", 0.0, 2.0),
            ("8 - t - 2", 4.0, 2.0),
            ("8/t/2", 4.0, 1.0),
            ("+t - -t", 2.0, 4.0),
            ("1e-3*t", 2.0, 0.002),
            ("1.5E2 + .5 + 2.", 0.0, 152.5),
            ("t^3", 2.0, 8.0),
            ("t <= 2", 2.0, 1.0),
            ("t < 2", 2.0, 0.0),
            ("2 >= t", 2.0, 1.0),
            ("2 > t", 2.0, 0.0),
            ("t == 2", 2.0, 1.0),
            ("t != 2", 2.0, 0.0),
            ("1 + t < 3 + 1", 2.5, 1.0),
            ("(0 < t)*(t < 1)", 0.5, 1.0),
            ("if(t <= 2, 2, 0)", 2.0, 2.0),
            ("if(t <= 2, 2, 0)", 2.0000000000000004, 0.0),
            ("if(t < 1, 10, if(t < 2, 20, 30)) + t", 1.5, 21.5),
            ("1 - if(t < 1, t, 2*t)*3", 0.5, -0.5),
            ("2*min(t, 2)", 1.5, 3.0),
            ("min(0.52, 0.3*t)", 10.0, 0.52),
            ("min(0.5, 0.25*t)", 1.0, 0.25),
            ("max(t, 1, 5, 2)", 3.0, 5.0),
            ("abs(-t)", 3.0, 3.0),
            ("sign(t)", -0.5, -1.0),
            ("sign(t)", 0.0, 0.0),
            ("sqrt(t)", 6.25, 2.5),
            ("exp(0) + ln(1)", 0.0, 1.0),
            ("sin(pi/2)", 0.0, 1.0),
            ("cos(t)", 0.0, 1.0),
            ("tan(t) + tanh(t)", 0.0, 0.0),
            ("if(0, t, 7)", 1.0, 7.0),
            ("1 + if(1, t, 7)", 1.0, 2.0),
            ("3 - (t - (2 - (t + 1)))", 1.0, 2.0),
            ("max(1, 2 - if(t > 0, t, -t))", 0.5, 1.5),
        ] {
            assert_eq!(at(text, t), value, "{text} at {t}");
        }
        // tanh 1 and sin 1 from tables.
        for (text, value) in [
            ("exp(t)", E),
            ("ln(t + 1)", LN_2),
            ("tanh(t)", 0.761_594_155_955_764_9),
            ("sin(t)", 0.841_470_984_807_896_5),
            ("tan(pi*t/4)", 1.0),
            ("t^0.5*2^0.5", SQRT_2),
        ] {
            assert!((at(text, 1.0) - value).abs() < 5e-16, "{text}");
        }
    }

    #[test]
    fn the_motor_of_the_arm() {
        let text = "if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))";
        assert_eq!(at(text, 1.0), 0.3);
        assert_eq!(at(text, 3.0), 0.52);
        // sin(400) = -0.850919359639...
        assert!((at(text, 4.0) - (0.336 - 0.144 * 0.850_919_359_639_176_6)).abs() < 1e-15);
    }

    #[test]
    fn constants_fold() {
        for (text, value) in [
            ("2*pi*3^2", 18.0 * PI),
            ("if(1 < 2, sin(0), 1)", 0.0),
            ("-(1 + 2)", -3.0),
        ] {
            let expression = Expression::parse(text, &["t"]).unwrap();
            assert_eq!(expression.constant(), Some(value), "{text}");
            assert!(!expression.uses(0));
        }
        let motor = Expression::parse("min(0.52, 0.3*t)", &["t"]).unwrap();
        assert_eq!(motor.constant(), None);
        assert!(motor.uses(0));
        assert_eq!(motor.code.len(), 3);
    }

    #[test]
    fn several_variables() {
        let expression = Expression::parse("10*y + x", &["x", "y"]).unwrap();
        assert_eq!(expression.evaluate(&[1.0, 2.0]), 21.0);
        assert!(Expression::parse("t", &["x", "y"]).is_err());
    }

    #[test]
    fn errors_show_the_place_and_the_nearest_name() {
        for (text, span, part) in [
            ("2*sine(t)", 2..6, "did you mean \"sin\"?"),
            ("2*T", 2..3, "did you mean \"t\"?"),
            ("2*", 2..2, "expected a value"),
            ("(1 + t", 6..6, "\")\""),
            ("1 + t)", 5..6, "unmatched"),
            ("if(t < 1, 2)", 11..12, "if(condition, a, b)"),
            ("min(t)", 5..6, "at least two"),
            ("t = 2", 2..3, "=="),
            ("10 N + t", 3..4, "without units"),
            ("10*mm", 3..5, "without units"),
            ("0 < t < 1", 6..7, "chain"),
            ("é", 0..2, "unknown name"),
            ("t # 2", 2..3, "unexpected character"),
            ("1e999", 0..5, "not finite"),
            ("1/0", 0..3, "not finite"),
            ("", 0..0, "expected a value"),
            ("2 3", 2..3, "operator"),
            ("1.2.3", 3..5, "operator"),
            (".", 0..1, "number"),
        ] {
            let error = refused(text);
            assert_eq!(error.span, span, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_long_chains_are_not() {
        for (open, close) in [
            ("(", ")"),
            ("-", ""),
            ("sin(", ")"),
            ("2^", ""),
            ("1+(t*", ")"),
            ("if(t<1,1,", ")"),
        ] {
            let nested = |n: usize| format!("{}t{}", open.repeat(n), close.repeat(n));
            assert!(Expression::parse(&nested(90), &["t"]).is_ok(), "{open}");
            assert!(refused(&nested(100_000)).message.contains("nested"), "{open}");
        }
        let chain = format!("t{}", " + t".repeat(100_000));
        assert_eq!(at(&chain, 1.0), 100_001.0);
        // 98 pending operands need the largest stack; t - (t - x) = x, an even number of times.
        let pending = format!("{}t{}", "t-(".repeat(98), ")".repeat(98));
        assert_eq!(at(&pending, 3.0), 3.0);
    }

    #[test]
    fn scaling_divides_where_it_can() {
        let scaled =
            |text: &str, factor: f64, t: f64| Expression::parse(text, &["t"]).unwrap().scaled(factor).evaluate(&[t]);
        assert_eq!(scaled("3*t", 0.001, 3.0), 0.009);
        assert_eq!(scaled("11*t", 0.001, 3.0), 0.033);
        assert_eq!(scaled("11", 0.001, 0.0), 0.011);
        assert_eq!(scaled("t", 2.5, 2.0), 5.0);
        assert_eq!(scaled("t", 0.0, 2.0), 0.0);
    }

    /// Random formula as text, with its value computed beside it by plain arithmetic.
    fn formula() -> impl Strategy<Value = (String, f64)> {
        let leaf = prop_oneof![
            Just(("t".to_string(), 0.75)),
            (0u32..1000).prop_map(|n| (format!("{n}"), f64::from(n))),
        ];
        leaf.prop_recursive(5, 40, 3, |inner| {
            (inner.clone(), inner.clone(), inner, 0..9).prop_map(|((a, x), (b, y), (c, z), kind)| match kind {
                0 => (format!("({a} + {b})"), x + y),
                1 => (format!("({a} - {b})"), x - y),
                2 => (format!("({a}*{b})"), x * y),
                3 => (format!("(({a})/({b}))"), x / y),
                4 => (format!("min({a}, {b})"), if x.is_nan() || x < y { x } else { y }),
                5 => (format!("((-{a})^2)"), x * x),
                6 => (format!("({a} < {b})"), if x < y { 1.0 } else { 0.0 }),
                7 => (format!("if({a}, {b}, {c})"), if x != 0.0 { y } else { z }),
                _ => (format!("abs({a})"), x.abs()),
            })
        })
    }

    proptest! {
        #[test]
        fn random_formulas_have_the_value_of_plain_arithmetic((text, value) in formula()) {
            match Expression::parse(&text, &["t"]) {
                Ok(expression) => {
                    let found = expression.evaluate(&[0.75]);
                    prop_assert!(found == value || found.is_nan() && value.is_nan(), "{} = {} not {}", text, found, value);
                }
                Err(error) => prop_assert!(!value.is_finite() && error.message.contains("finite"), "{}: {}", text, error),
            }
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,60}", near in "[0-9tpisn.e+*/^()<>=!, -]{0,60}") {
            for text in [text, near] {
                match Expression::parse(&text, &["t"]) {
                    Ok(expression) => drop(expression.evaluate(&[0.5])),
                    Err(error) => prop_assert!(text.get(error.span.clone()).is_some()),
                }
            }
        }
    }
}
