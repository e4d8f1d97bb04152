//! The language of expressions, read once: profiles and differential inclusions have the same grammar, and differ only in what
//! they build from it ([`Builder`]) and in the names they know.

use super::suggest::nearest;
use crate::math::sin_cos;
use crate::quantity::is_unit;
use std::fmt;
use std::ops::Range;

/// Deepest nesting of parentheses, functions, signs and right-hand operands that is accepted.
const DEEPEST: usize = 200;

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// What was expected, or the nearest valid name.
    pub message: String,
    /// The range of bytes at fault.
    pub span: Range<usize>,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExpressionError {}

pub(crate) fn error<T>(message: impl Into<String>, span: Range<usize>) -> Result<T, ExpressionError> {
    Err(ExpressionError {
        message: message.into(),
        span,
    })
}

/// A function of one variable from the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Square,
    Abs,
    Sign,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Tanh,
}

pub(crate) const FUNCTIONS: &[(&str, Unary)] = &[
    ("abs", Unary::Abs),
    ("sign", Unary::Sign),
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("ln", Unary::Ln),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("tanh", Unary::Tanh),
];

/// Names of the language that are not in `FUNCTIONS`.
const OTHER_NAMES: &[&str] = &["if", "min", "max", "pi"];
const SET_VALUED_NAMES: &[&str] = &["sgn", "dio"];

impl Unary {
    #[inline(always)]
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Square => x * x,
            Self::Abs => x.abs(),
            // Not `signum`, which is 1 at 0. NaN stays NaN.
            Self::Sign if x == 0.0 => 0.0,
            Self::Sign => x.signum(),
            Self::Sqrt => x.sqrt(),
            Self::Exp => libm::exp(x),
            Self::Ln => libm::log(x),
            Self::Sin => sin_cos(x).0,
            Self::Cos => sin_cos(x).1,
            Self::Tan => libm::tan(x),
            Self::Tanh => libm::tanh(x),
        }
    }

    /// The derivative at `x`.
    pub(crate) fn slope(self, x: f64) -> f64 {
        match self {
            Self::Negate => -1.0,
            Self::Square => 2.0 * x,
            Self::Abs if x < 0.0 => -1.0,
            Self::Abs => 1.0,
            Self::Sign => 0.0,
            Self::Sqrt => 0.5 / x.sqrt(),
            Self::Exp => libm::exp(x),
            Self::Ln => 1.0 / x,
            Self::Sin => libm::cos(x),
            Self::Cos => -libm::sin(x),
            Self::Tan => 1.0 + libm::tan(x) * libm::tan(x),
            Self::Tanh => 1.0 - libm::tanh(x) * libm::tanh(x),
        }
    }
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
    Compare(Comparison),
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    #[inline(always)]
    pub(crate) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
            Self::Equal => a == b,
            Self::NotEqual => a != b,
        }
    }

    /// The comparison with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }
}

impl Binary {
    #[inline(always)]
    pub(crate) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => libm::pow(a, b),
            // Unlike `f64::min` these let a NaN through, so that it is noticed.
            Self::Min if a < b || a.is_nan() => a,
            Self::Max if a > b || a.is_nan() => a,
            Self::Min | Self::Max => b,
            Self::Compare(comparison) => f64::from(u8::from(comparison.holds(a, b))),
        }
    }

    /// The operation on two numbers that come with their derivatives.
    pub(crate) fn with_slope(self, [a, da]: [f64; 2], [b, db]: [f64; 2]) -> [f64; 2] {
        let value = self.apply(a, b);
        let slope = match self {
            Self::Add => da + db,
            Self::Subtract => da - db,
            Self::Multiply => da * b + a * db,
            Self::Divide => (da - value * db) / b,
            // Each part only where its operand varies: ln a need not exist for a constant power.
            Self::Power => {
                let by_base = if da == 0.0 { 0.0 } else { b * libm::pow(a, b - 1.0) * da };
                let by_power = if db == 0.0 { 0.0 } else { value * libm::log(a) * db };
                by_base + by_power
            }
            Self::Min | Self::Max if value == a => da,
            Self::Min | Self::Max => db,
            Self::Compare(_) => 0.0,
        };
        [value, slope]
    }

    /// The operation that gives the same with its operands exchanged.
    pub(super) fn mirrored(self) -> Option<Self> {
        match self {
            Self::Add | Self::Multiply | Self::Min | Self::Max => Some(self),
            Self::Compare(comparison) => Some(Self::Compare(comparison.mirrored())),
            Self::Subtract | Self::Divide | Self::Power => None,
        }
    }
}

/// A set-valued map (Xiong, Kikuuwe and Yamamoto, eqs 1 and 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SetValued {
    /// x/‖x‖, and the unit ball at 0.
    Sgn,
    /// 0 above 0, and all of [0, ∞) at 0.
    Dio,
}

/// What is made of an expression while it is read. Terms come bottom up, operands from left to right; `at` is the range
/// of bytes of the term.
pub(crate) trait Builder {
    /// A part of the expression.
    type Term: Copy;
    /// Whether `sgn` and `dio` are words of the language here.
    const SET_VALUED: bool = false;

    /// The names that may be used, for suggestions.
    fn names(&self) -> Vec<&str>;
    /// A number.
    fn constant(&mut self, value: f64, at: Range<usize>) -> Self::Term;
    /// A name, if it is known.
    fn name(&mut self, name: &str, at: Range<usize>) -> Result<Option<Self::Term>, ExpressionError>;
    /// A function of a term.
    fn unary(&mut self, function: Unary, term: Self::Term, at: Range<usize>) -> Self::Term;
    /// An operation on two terms.
    fn binary(&mut self, operation: Binary, left: Self::Term, right: Self::Term, at: Range<usize>) -> Self::Term;
    /// The condition of an `if` has been read.
    fn after_condition(&mut self) {}
    /// The first branch of an `if` has been read.
    fn after_first(&mut self) {}
    /// `if(condition, first, second)`.
    fn choice(&mut self, condition: Self::Term, first: Self::Term, second: Self::Term, at: Range<usize>) -> Self::Term;
    /// A set-valued map of one number or of the components of a vector; `component` is the one that was asked for.
    fn set_valued(
        &mut self,
        map: SetValued,
        arguments: &[Self::Term],
        component: Option<usize>,
        at: Range<usize>,
    ) -> Result<Self::Term, ExpressionError> {
        let _ = (map, arguments, component);
        error("a set-valued map has no place here", at)
    }
}

/// Reads a whole expression.
pub(crate) fn parse<B: Builder>(text: &str, builder: &mut B) -> Result<B::Term, ExpressionError> {
    let mut parser = Parser {
        lexer: Lexer { text, position: 0 },
        next: (Token::End, 0..0),
        last: 0,
        builder,
        depth: 0,
    };
    parser.advance()?;
    let term = parser.expression(0)?;
    match &parser.next {
        (Token::End, _) => Ok(term),
        (Token::Name(name), span) => {
            let hint = if is_unit(name) {
                "; expressions are in SI, without units"
            } else {
                ""
            };
            error(format!("expected an operator before \"{name}\"{hint}"), span.clone())
        }
        (Token::Symbol(symbol @ (")" | "]")), span) => error(format!("unmatched \"{symbol}\""), span.clone()),
        (_, span) => error("expected an operator", span.clone()),
    }
}

/// Whether a word has a meaning in the language, so that it cannot be a name of the user's.
pub(crate) fn is_word(name: &str) -> bool {
    OTHER_NAMES.contains(&name)
        || SET_VALUED_NAMES.contains(&name)
        || FUNCTIONS.iter().any(|(function, _)| *function == name)
}

/// Whether a text can be used as a name in an expression.
pub(crate) fn is_name(text: &str) -> bool {
    let mut lexer = Lexer { text, position: 0 };
    matches!(lexer.token(), Ok((Token::Name(name), _)) if name == text)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Symbol(&'static str),
    End,
}

/// Longer symbols first.
const SYMBOLS: &[&str] = &[
    "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",", "[", "]", ".",
];

struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) -> Result<(Token<'a>, Range<usize>), ExpressionError> {
        let rest = self.text[self.position..].trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok((Token::End, start..start));
        };
        // A point before a letter takes a component, any other begins a number.
        let component = first == '.' && rest[1..].chars().next().is_some_and(char::is_alphabetic);
        let (token, length) = if first.is_ascii_digit() || (first == '.' && !component) {
            let length = number_length(rest.as_bytes());
            match rest[..length].parse::<f64>() {
                Ok(value) if value.is_finite() => (Token::Number(value), length),
                Ok(_) => return error("the number is not finite", start..start + length),
                Err(_) => return error("expected a number", start..start + length),
            }
        } else if first.is_alphabetic() || first == '_' {
            let length = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            (Token::Name(&rest[..length]), length)
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            let hint = if first == '=' { " (equality is ==)" } else { "" };
            return error(
                format!("unexpected character {first:?}{hint}"),
                start..start + first.len_utf8(),
            );
        };
        self.position = start + length;
        Ok((token, start..start + length))
    }
}

/// The length of the number at the beginning of `bytes`; an `e` without digits does not belong to it.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        from + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let first = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let last = digits(first);
        if last > first {
            end = last;
        }
    }
    end
}

/// Binding strength of the prefix minus: above * and /, below ^, so that -2^2 = -4.
const PREFIX: u8 = 7;

/// The operation of a symbol, how strongly it binds to the left, and the least strength accepted on its right.
fn infix(symbol: &str) -> Option<(Binary, u8, u8)> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let comparison = |comparison| Some((Binary::Compare(comparison), 1, 2));
    match symbol {
        "<" => comparison(Less),
        "<=" => comparison(LessOrEqual),
        ">" => comparison(Greater),
        ">=" => comparison(GreaterOrEqual),
        "==" => comparison(Equal),
        "!=" => comparison(NotEqual),
        "+" => Some((Binary::Add, 3, 4)),
        "-" => Some((Binary::Subtract, 3, 4)),
        "*" => Some((Binary::Multiply, 5, 6)),
        "/" => Some((Binary::Divide, 5, 6)),
        // To the right first: 2^3^2 = 2^9.
        "^" => Some((Binary::Power, 9, 8)),
        _ => None,
    }
}

struct Parser<'a, B> {
    lexer: Lexer<'a>,
    next: (Token<'a>, Range<usize>),
    /// End of the token before.
    last: usize,
    builder: &'a mut B,
    depth: usize,
}

impl<B: Builder> Parser<'_, B> {
    fn advance(&mut self) -> Result<(), ExpressionError> {
        self.last = self.next.1.end;
        self.next = self.lexer.token()?;
        Ok(())
    }

    fn expect(&mut self, symbol: &'static str, context: &str) -> Result<(), ExpressionError> {
        if self.next.0 == Token::Symbol(symbol) {
            return self.advance();
        }
        error(format!("expected \"{symbol}\" {context}"), self.next.1.clone())
    }

    /// Reads operators that bind at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<B::Term, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return error(format!("nested more than {DEEPEST} levels deep"), self.next.1.clone());
        }
        let start = self.next.1.start;
        let mut left = self.prefix()?;
        let mut compared = false;
        while let Token::Symbol(symbol) = self.next.0 {
            let Some((operation, strength, right_least)) = infix(symbol) else {
                break;
            };
            if strength < least {
                break;
            }
            let is_comparison = matches!(operation, Binary::Compare(_));
            if is_comparison && compared {
                return error(
                    "comparisons do not chain; for both write (a < b)*(b < c)",
                    self.next.1.clone(),
                );
            }
            compared |= is_comparison;
            self.advance()?;
            let right = self.expression(right_least)?;
            left = self.builder.binary(operation, left, right, start..self.last);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// A sign, number, name, call or parenthesis.
    fn prefix(&mut self) -> Result<B::Term, ExpressionError> {
        let (token, span) = self.next.clone();
        if token != Token::End {
            self.advance()?;
        }
        match token {
            Token::Number(value) => Ok(self.builder.constant(value, span)),
            Token::Symbol("-") => {
                let term = self.expression(PREFIX)?;
                Ok(self.builder.unary(Unary::Negate, term, span.start..self.last))
            }
            Token::Symbol("+") => self.expression(PREFIX),
            Token::Symbol("(") => {
                let term = self.expression(0)?;
                self.expect(")", "to close the parenthesis")?;
                Ok(term)
            }
            Token::Name(name) => self.name(name, span),
            Token::End => error("expected a value, found the end", span),
            Token::Symbol(symbol) => error(format!("expected a value, found \"{symbol}\""), span),
        }
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<B::Term, ExpressionError> {
        if self.next.0 == Token::Symbol(".") {
            return self.component(name, span);
        }
        if let Some(term) = self.builder.name(name, span.clone())? {
            return Ok(term);
        }
        match name {
            "pi" => return Ok(self.builder.constant(std::f64::consts::PI, span)),
            "if" => return self.choice(span.start),
            "min" => return self.extremum("min", Binary::Min, span.start),
            "max" => return self.extremum("max", Binary::Max, span.start),
            "sgn" if B::SET_VALUED => return self.sgn(span.start),
            "dio" if B::SET_VALUED => return self.dio(span.start),
            _ => {}
        }
        let Some(&(_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            return self.unknown(name, span);
        };
        self.expect("(", &format!("after {name}"))?;
        let term = self.expression(0)?;
        self.expect(")", &format!("after the argument of {name}"))?;
        Ok(self.builder.unary(function, term, span.start..self.last))
    }

    /// A name with a component, `x.y`.
    fn component(&mut self, name: &str, span: Range<usize>) -> Result<B::Term, ExpressionError> {
        self.advance()?;
        let Token::Name(component) = self.next.0 else {
            return error("expected a component such as .x", self.next.1.clone());
        };
        self.advance()?;
        let (whole, span) = (format!("{name}.{component}"), span.start..self.last);
        match self.builder.name(&whole, span.clone())? {
            Some(term) => Ok(term),
            None => self.unknown(&whole, span),
        }
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> Result<B::Term, ExpressionError> {
        let names = self.builder.names();
        let functions = FUNCTIONS.iter().map(|&(known, _)| known);
        let maps: &[&str] = if B::SET_VALUED { SET_VALUED_NAMES } else { &[] };
        let known = names.iter().copied().chain(functions).chain(maps.iter().copied());
        let hint = match nearest(name, known.chain(OTHER_NAMES.iter().copied())) {
            _ if is_unit(name) => "expressions are in SI, without units".to_string(),
            Some(near) => format!("did you mean \"{near}\"?"),
            None if self.next.0 == Token::Symbol("(") => {
                let functions = FUNCTIONS.iter().map(|&(known, _)| known);
                let all = functions.chain(["if", "min", "max"]).chain(maps.iter().copied());
                format!("functions here: {}", all.collect::<Vec<_>>().join(", "))
            }
            None if names.is_empty() => "no variable can be used here".to_string(),
            None => format!("variables here: {}", names.join(", ")),
        };
        error(format!("unknown name \"{name}\"; {hint}"), span)
    }

    fn extremum(&mut self, name: &str, operation: Binary, start: usize) -> Result<B::Term, ExpressionError> {
        self.expect("(", &format!("after {name}"))?;
        let mut term = self.expression(0)?;
        if self.next.0 != Token::Symbol(",") {
            return error(format!("{name} needs at least two arguments"), self.next.1.clone());
        }
        while self.next.0 == Token::Symbol(",") {
            self.advance()?;
            let right = self.expression(0)?;
            term = self.builder.binary(operation, term, right, start..self.last);
        }
        self.expect(")", &format!("after the arguments of {name}"))?;
        Ok(term)
    }

    fn choice(&mut self, start: usize) -> Result<B::Term, ExpressionError> {
        const FORM: &str = "in if(condition, a, b)";
        self.expect("(", FORM)?;
        let condition = self.expression(0)?;
        self.expect(",", FORM)?;
        self.builder.after_condition();
        let first = self.expression(0)?;
        self.expect(",", FORM)?;
        self.builder.after_first();
        let second = self.expression(0)?;
        self.expect(")", FORM)?;
        Ok(self.builder.choice(condition, first, second, start..self.last))
    }

    fn dio(&mut self, start: usize) -> Result<B::Term, ExpressionError> {
        self.expect("(", "after dio")?;
        if self.next.0 == Token::Symbol("[") {
            return error("dio takes one number: one gap, one normal force", self.next.1.clone());
        }
        let argument = self.expression(0)?;
        self.expect(")", "after the argument of dio")?;
        self.builder
            .set_valued(SetValued::Dio, &[argument], None, start..self.last)
    }

    /// `sgn(v)`, or a component of `sgn([vx, vy])`.
    fn sgn(&mut self, start: usize) -> Result<B::Term, ExpressionError> {
        const AXES: [&str; 3] = ["x", "y", "z"];
        self.expect("(", "after sgn")?;
        if self.next.0 != Token::Symbol("[") {
            let argument = self.expression(0)?;
            self.expect(")", "after the argument of sgn")?;
            return self
                .builder
                .set_valued(SetValued::Sgn, &[argument], None, start..self.last);
        }
        self.advance()?;
        let mut arguments = vec![self.expression(0)?];
        while self.next.0 == Token::Symbol(",") {
            self.advance()?;
            arguments.push(self.expression(0)?);
        }
        self.expect("]", "to close the vector")?;
        self.expect(")", "after the argument of sgn")?;
        let vector = start..self.last;
        if !(2..=3).contains(&arguments.len()) {
            let message = format!("a vector has 2 or 3 components, found {}", arguments.len());
            return error(message, vector);
        }
        let axes = &AXES[..arguments.len()];
        let form = format!("say which component of the vector: sgn([…]).{}", axes.join(" or ."));
        if self.next.0 != Token::Symbol(".") {
            return error(form, vector);
        }
        self.advance()?;
        let component = match self.next.0 {
            Token::Name(name) => axes.iter().position(|axis| *axis == name),
            _ => None,
        };
        if component.is_none() {
            return error(form, self.next.1.clone());
        }
        self.advance()?;
        self.builder
            .set_valued(SetValued::Sgn, &arguments, component, start..self.last)
    }
}
