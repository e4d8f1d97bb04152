//! Numbers with units: `"10 N/mm"` becomes `10000.0` and the dimension of a stiffness.
//!
//! The conversion moves the decimal point in the text and rounds once, so `"0.9 mm"` is the same double as `0.0009`.

use crate::profile::suggest::nearest;
use std::f64::consts::PI;
use std::fmt;
use std::ops::Range;

/// A physical dimension: the exponents of metre, kilogram and second. Angles are dimensionless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// Exponent of the metre.
    pub length: i8,
    /// Exponent of the kilogram.
    pub mass: i8,
    /// Exponent of the second.
    pub time: i8,
}

impl Dimension {
    /// A plain number.
    pub const NONE: Self = Self::new(0, 0, 0);
    /// rad, which is a plain number.
    pub const ANGLE: Self = Self::NONE;
    /// m
    pub const LENGTH: Self = Self::new(1, 0, 0);
    /// m^2
    pub const AREA: Self = Self::new(2, 0, 0);
    /// 1/m
    pub const PER_LENGTH: Self = Self::new(-1, 0, 0);
    /// kg
    pub const MASS: Self = Self::new(0, 1, 0);
    /// s
    pub const TIME: Self = Self::new(0, 0, 1);
    /// 1/s
    pub const FREQUENCY: Self = Self::new(0, 0, -1);
    /// rad/s
    pub const ANGULAR_VELOCITY: Self = Self::FREQUENCY;
    /// rad/s^2
    pub const ANGULAR_ACCELERATION: Self = Self::new(0, 0, -2);
    /// m/s
    pub const VELOCITY: Self = Self::new(1, 0, -1);
    /// m/s^2
    pub const ACCELERATION: Self = Self::new(1, 0, -2);
    /// N
    pub const FORCE: Self = Self::new(1, 1, -2);
    /// N m
    pub const TORQUE: Self = Self::new(2, 1, -2);
    /// J, the same as N m
    pub const ENERGY: Self = Self::TORQUE;
    /// W
    pub const POWER: Self = Self::new(2, 1, -3);
    /// Pa
    pub const PRESSURE: Self = Self::new(-1, 1, -2);
    /// N/m
    pub const STIFFNESS: Self = Self::new(0, 1, -2);
    /// N/m^3, a stiffness per area
    pub const SURFACE_STIFFNESS: Self = Self::new(-2, 1, -2);
    /// N s/m
    pub const DAMPING: Self = Self::new(0, 1, -1);
    /// N s
    pub const MOMENTUM: Self = Self::new(1, 1, -1);
    /// kg m^2
    pub const INERTIA: Self = Self::new(2, 1, 0);
    /// kg/m³.
    pub const DENSITY: Self = Self::new(-3, 1, 0);
    /// N m/rad, the same as N m
    pub const ROTATIONAL_STIFFNESS: Self = Self::TORQUE;
    /// N m s/rad
    pub const ROTATIONAL_DAMPING: Self = Self::new(2, 1, -1);

    /// The dimension m^length kg^mass s^time.
    pub const fn new(length: i8, mass: i8, time: i8) -> Self {
        Self { length, mass, time }
    }

    /// What such a quantity is called, with its article ("a stiffness"), if it has a name.
    pub fn name(self) -> Option<&'static str> {
        self.named().map(|&(_, name, _)| name)
    }

    fn named(self) -> Option<&'static (Dimension, &'static str, &'static str)> {
        NAMED.iter().find(|(dimension, ..)| *dimension == self)
    }

    /// "a force (N)", or the base units of a quantity without a name.
    fn described(self) -> String {
        match self.named() {
            Some((Self::NONE, name, _)) => (*name).to_string(),
            Some((_, name, symbol)) => format!("{name} ({symbol})"),
            None => format!("a quantity in {self}"),
        }
    }

    /// `self` · `other`^`exponent`, or `None` out of range.
    fn times(self, other: Self, exponent: i8) -> Option<Self> {
        let sum = |a: i8, b: i8| a.checked_add(b.checked_mul(exponent)?);
        Some(Self {
            length: sum(self.length, other.length)?,
            mass: sum(self.mass, other.mass)?,
            time: sum(self.time, other.time)?,
        })
    }
}

/// Dimensions that have a name of their own, and the unit to show for them.
const NAMED: &[(Dimension, &str, &str)] = &[
    (Dimension::NONE, "a plain number or an angle", "1"),
    (Dimension::LENGTH, "a length", "m"),
    (Dimension::AREA, "an area", "m^2"),
    (Dimension::PER_LENGTH, "a number per length", "1/m"),
    (Dimension::MASS, "a mass", "kg"),
    (Dimension::TIME, "a time", "s"),
    (Dimension::FREQUENCY, "a frequency or angular velocity", "1/s"),
    (Dimension::ANGULAR_ACCELERATION, "an angular acceleration", "rad/s^2"),
    (Dimension::VELOCITY, "a velocity", "m/s"),
    (Dimension::ACCELERATION, "an acceleration", "m/s^2"),
    (Dimension::FORCE, "a force", "N"),
    (Dimension::TORQUE, "a torque or energy", "N m"),
    (Dimension::POWER, "a power", "W"),
    (Dimension::PRESSURE, "a pressure", "Pa"),
    (Dimension::STIFFNESS, "a stiffness", "N/m"),
    (Dimension::SURFACE_STIFFNESS, "a stiffness per area", "N/m^3"),
    (Dimension::DAMPING, "a damping", "N s/m"),
    (Dimension::MOMENTUM, "a momentum", "N s"),
    (Dimension::INERTIA, "a moment of inertia", "kg m^2"),
    (Dimension::ROTATIONAL_DAMPING, "a rotational damping", "N m s/rad"),
];

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, _, symbol)) = self.named() {
            return f.write_str(symbol);
        }
        // As it can be read back, from left to right: no parentheses.
        let bases = [("kg", self.mass), ("m", self.length), ("s", self.time)];
        let power = |unit: &str, exponent: i8| match exponent.unsigned_abs() {
            1 => unit.to_string(),
            size => format!("{unit}^{size}"),
        };
        let powers = |over: bool| {
            let chosen = bases
                .iter()
                .filter(move |(_, exponent)| *exponent != 0 && (*exponent > 0) == over);
            chosen
                .map(|&(unit, exponent)| power(unit, exponent))
                .collect::<Vec<_>>()
        };
        let over = powers(true);
        f.write_str(if over.is_empty() { "1" } else { "" })?;
        f.write_str(&over.join(" "))?;
        powers(false).iter().try_for_each(|under| write!(f, "/{under}"))
    }
}

/// What is wrong with the text of a quantity. `span` is a range of bytes in that text.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantityError {
    /// A name that is no unit.
    UnknownUnit {
        /// The name as written.
        unit: String,
        /// The unit that was probably meant.
        suggestion: Option<&'static str>,
        /// Where it stands.
        span: Range<usize>,
    },
    /// The unit is not a product of powers, or the text is no quantity at all.
    Malformed {
        /// What was expected.
        message: String,
        /// Where.
        span: Range<usize>,
    },
    /// The number does not fit in a double.
    NotFinite {
        /// Where it stands.
        span: Range<usize>,
    },
    /// A well-formed quantity of the wrong kind.
    WrongDimension {
        /// What the place needs.
        expected: Dimension,
        /// What was written.
        found: Dimension,
        /// The text as written.
        text: String,
    },
}

impl QuantityError {
    /// The range of bytes at fault.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::UnknownUnit { span, .. } | Self::Malformed { span, .. } | Self::NotFinite { span } => span.clone(),
            Self::WrongDimension { text, .. } => 0..text.len(),
        }
    }

    fn malformed(message: impl Into<String>, span: Range<usize>) -> Self {
        Self::Malformed {
            message: message.into(),
            span,
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownUnit { unit, suggestion, .. } => {
                write!(f, "unknown unit \"{unit}\"")?;
                match suggestion {
                    Some(suggestion) => write!(f, "; did you mean \"{suggestion}\"?"),
                    None => Ok(()),
                }
            }
            Self::Malformed { message, .. } => f.write_str(message),
            Self::NotFinite { .. } => f.write_str("the number is not finite"),
            Self::WrongDimension { expected, found, text } => {
                let found = found.name().map_or_else(|| format!("in {found}"), str::to_string);
                write!(f, "expected {}, found \"{text}\" ({found})", expected.described())
            }
        }
    }
}

impl std::error::Error for QuantityError {}

/// The size of a unit, kept exact: 10^decimal · numerator / denominator · π^pi.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factor {
    decimal: i32,
    numerator: u64,
    denominator: u64,
    pi: i32,
}

const fn power_of_ten(decimal: i32) -> Factor {
    Factor {
        decimal,
        numerator: 1,
        denominator: 1,
        pi: 0,
    }
}

const fn seconds(numerator: u64, decimal: i32) -> Factor {
    Factor {
        numerator,
        ..power_of_ten(decimal)
    }
}

/// π / denominator · 10^−1
const fn tenth_of_pi_over(denominator: u64) -> Factor {
    Factor {
        decimal: -1,
        numerator: 1,
        denominator,
        pi: 1,
    }
}

const fn two_pi() -> Factor {
    Factor {
        numerator: 2,
        pi: 1,
        ..power_of_ten(0)
    }
}

const UNITS: &[(&str, Factor, Dimension)] = &[
    ("m", power_of_ten(0), Dimension::LENGTH),
    ("mm", power_of_ten(-3), Dimension::LENGTH),
    ("um", power_of_ten(-6), Dimension::LENGTH),
    // The micro sign and the Greek letter look alike.
    ("\u{b5}m", power_of_ten(-6), Dimension::LENGTH),
    ("\u{3bc}m", power_of_ten(-6), Dimension::LENGTH),
    ("cm", power_of_ten(-2), Dimension::LENGTH),
    ("km", power_of_ten(3), Dimension::LENGTH),
    ("s", power_of_ten(0), Dimension::TIME),
    ("ms", power_of_ten(-3), Dimension::TIME),
    ("us", power_of_ten(-6), Dimension::TIME),
    ("min", seconds(6, 1), Dimension::TIME),
    ("h", seconds(36, 2), Dimension::TIME),
    ("kg", power_of_ten(0), Dimension::MASS),
    ("g", power_of_ten(-3), Dimension::MASS),
    ("t", power_of_ten(3), Dimension::MASS),
    ("N", power_of_ten(0), Dimension::FORCE),
    ("mN", power_of_ten(-3), Dimension::FORCE),
    ("kN", power_of_ten(3), Dimension::FORCE),
    ("Nm", power_of_ten(0), Dimension::TORQUE),
    ("rad", power_of_ten(0), Dimension::ANGLE),
    ("mrad", power_of_ten(-3), Dimension::ANGLE),
    ("deg", tenth_of_pi_over(18), Dimension::ANGLE),
    ("turn", two_pi(), Dimension::ANGLE),
    ("rpm", tenth_of_pi_over(3), Dimension::ANGULAR_VELOCITY),
    ("Hz", power_of_ten(0), Dimension::FREQUENCY),
    ("Pa", power_of_ten(0), Dimension::PRESSURE),
    ("kPa", power_of_ten(3), Dimension::PRESSURE),
    ("MPa", power_of_ten(6), Dimension::PRESSURE),
    ("GPa", power_of_ten(9), Dimension::PRESSURE),
    ("J", power_of_ten(0), Dimension::ENERGY),
    ("W", power_of_ten(0), Dimension::POWER),
    ("%", power_of_ten(-2), Dimension::NONE),
];

/// A unit such as `mm` or `N*m/rad`: its size in SI and its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    factor: Factor,
    dimension: Dimension,
}

impl Unit {
    /// SI: every value stays as it is.
    pub const ONE: Self = Self {
        factor: power_of_ten(0),
        dimension: Dimension::NONE,
    };

    /// Reads a unit: names with integer powers, joined by `*`, `/` or spaces, from left to right (`N/m s` is (N/m)·s).
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_unit(text, 0)
    }

    /// The dimension of the unit.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The value of one unit in SI.
    pub fn factor(&self) -> f64 {
        self.factor.convert("1", 0)
    }

    /// `value` of this unit in SI, by moving the decimal point of the shortest decimal that reads as `value`.
    pub fn to_si(&self, value: f64) -> f64 {
        if !value.is_finite() {
            return value;
        }
        let text = format!("{value:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) => self.factor.convert(mantissa, exponent.parse().unwrap_or(0)),
            None => value * self.factor(),
        }
    }

    /// `self` · `other`^`exponent`, or `None` out of range.
    fn times(self, other: Self, exponent: i8) -> Option<Self> {
        let times = u32::from(exponent.unsigned_abs());
        let numerator = other.factor.numerator.checked_pow(times)?;
        let denominator = other.factor.denominator.checked_pow(times)?;
        let (over, under) = match exponent {
            0.. => (numerator, denominator),
            _ => (denominator, numerator),
        };
        let power = |a: i32, b: i32| a.saturating_add(b.saturating_mul(exponent.into()));
        let over = self.factor.numerator.checked_mul(over)?;
        let under = self.factor.denominator.checked_mul(under)?;
        let common = greatest_common_divisor(over.into(), under.into()) as u64;
        Some(Self {
            factor: Factor {
                decimal: power(self.factor.decimal, other.factor.decimal),
                numerator: over / common,
                denominator: under / common,
                pi: power(self.factor.pi, other.factor.pi),
            },
            dimension: self.dimension.times(other.dimension, exponent)?,
        })
    }
}

impl Factor {
    /// mantissa · 10^exponent · factor. One rounding, at the end, when the factor is a power of ten times a whole number.
    fn convert(&self, mantissa: &str, exponent: i32) -> f64 {
        let decimal =
            |mantissa: &str, exponent: i32| format!("{mantissa}e{exponent}").parse::<f64>().unwrap_or(f64::NAN);
        let exponent = exponent.saturating_add(self.decimal);
        if self.numerator == 1 && self.denominator == 1 && self.pi == 0 {
            return decimal(mantissa, exponent);
        }
        let (value, denominator) = self.exact_product(mantissa).map_or_else(
            || (decimal(mantissa, exponent) * self.numerator as f64, self.denominator),
            |(product, places, denominator)| {
                let exponent = exponent.saturating_sub(places);
                (decimal(&product, exponent), denominator)
            },
        );
        let pi = (0..self.pi.unsigned_abs()).fold(1.0, |product, _| product * PI);
        let value = if self.pi < 0 { value / pi } else { value * pi };
        value / denominator as f64
    }

    /// mantissa · numerator / denominator in lowest terms: the digits of the product, how many of them are decimal places,
    /// and what remains of the denominator. `None` when the digits do not fit in an integer.
    fn exact_product(&self, mantissa: &str) -> Option<(String, i32, u64)> {
        let (sign, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let places = i32::try_from(fraction.len()).ok()?;
        let integer: u128 = format!("{whole}{fraction}").parse().ok()?;
        let product = integer.checked_mul(self.numerator.into())?;
        let common = greatest_common_divisor(product, self.denominator.into());
        let denominator = u128::from(self.denominator) / common;
        Some((
            format!("{sign}{}", product / common),
            places,
            u64::try_from(denominator).ok()?,
        ))
    }
}

/// The largest integer that divides both; never 0, since one of them is not 0 wherever it is used.
pub(crate) fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Whether `name` is the name of a unit.
pub(crate) fn is_unit(name: &str) -> bool {
    UNITS.iter().any(|(unit, ..)| *unit == name)
}

/// Reads a number followed by a unit: its value in SI and its dimension.
///
/// `None` when the text has another form: a plain number, or an expression such as `2*t` (which is not two tonnes: between
/// a number and its unit stands nothing or a space).
pub fn parse_quantity(text: &str) -> Result<Option<(f64, Dimension)>, QuantityError> {
    let Some(number) = Number::scan(text) else {
        return not_a_number(text);
    };
    let rest = text[number.end..].trim_start();
    let unit_start = text.len() - rest.len();
    let unit = match unit_form(rest) {
        UnitForm::None => return Ok(None),
        UnitForm::Unit => parse_unit(rest, unit_start)?,
        // `1/s` is a rate, but `1/t` and `1/pi` are expressions.
        UnitForm::Slash if names(rest).any(|name| name == "t") => return Ok(None),
        UnitForm::Slash => match parse_unit(&format!("1{rest}"), 0) {
            Ok(unit) => unit,
            Err(_) => return Ok(None),
        },
    };
    let value = unit.factor.convert(number.mantissa, number.exponent);
    if !value.is_finite() {
        return Err(QuantityError::NotFinite {
            span: number.start..number.end,
        });
    }
    Ok(Some((value, unit.dimension)))
}

/// Keys that take an angular velocity where something turns. Hertz are turns per second there, and plain 1/s elsewhere.
const TURNING: &[&str] = &[
    "velocity",
    "angular_velocity",
    "stribeck_velocity",
    "epsilon",
    "reference_velocity",
];

/// Whether a unit at this place of a scenario (`bodies.wheel.velocity`) is that of turning: `Hz` at a key for velocities.
pub(crate) fn turns(path: &str, unit: &str) -> bool {
    let mut parts = path
        .rsplit('.')
        .filter(|part| part.parse::<usize>().is_err() && *part != "unit");
    unit.trim() == "Hz" && parts.next().is_some_and(|key| TURNING.contains(&key)) && !path.starts_with("inclusion.")
}

/// As [`parse_quantity`], for the value at a place of a scenario.
pub(crate) fn parse_quantity_at(path: &str, text: &str) -> Result<Option<(f64, Dimension)>, QuantityError> {
    match Number::scan(text) {
        Some(number) if turns(path, &text[number.end..]) => parse_quantity(&format!("{} turn/s", &text[..number.end])),
        _ => parse_quantity(text),
    }
}

/// Reads a quantity and checks its dimension. A number without a unit is in SI.
pub fn quantity(text: &str, expected: Dimension) -> Result<f64, QuantityError> {
    match parse_quantity(text)? {
        Some((value, found)) => check_dimension(text, expected, found).map(|()| value),
        None => match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err(QuantityError::NotFinite { span: 0..text.len() }),
            Err(_) => Err(QuantityError::malformed(
                format!(
                    "expected {}: a number and a unit, found \"{text}\"",
                    expected.described()
                ),
                0..text.len(),
            )),
        },
    }
}

/// Refuses a quantity of another dimension than `expected`.
pub fn check_dimension(text: &str, expected: Dimension, found: Dimension) -> Result<(), QuantityError> {
    if expected == found {
        return Ok(());
    }
    Err(QuantityError::WrongDimension {
        expected,
        found,
        text: text.to_string(),
    })
}

/// A decimal number at the beginning of a text.
struct Number<'a> {
    start: usize,
    end: usize,
    mantissa: &'a str,
    exponent: i32,
}

impl<'a> Number<'a> {
    fn scan(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let start = text.len() - text.trim_start().len();
        let whole = start + usize::from(matches!(bytes.get(start), Some(b'+' | b'-')));
        let mut end = digits(whole);
        let mut count = end - whole;
        if bytes.get(end) == Some(&b'.') {
            let point = end;
            end = digits(point + 1);
            count += end - point - 1;
        }
        if count == 0 {
            return None;
        }
        let mantissa = &text[start..end];
        let mut exponent = 0;
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = end + 1;
            let first = sign + usize::from(matches!(bytes.get(sign), Some(b'+' | b'-')));
            let last = digits(first);
            // Without digits the `e` is the beginning of a unit's name.
            if last > first {
                // Beyond this everything is 0 or infinite unless the mantissa is absurdly long.
                const HUGE: i32 = 1_000_000_000;
                let size = text[first..last].parse::<i32>().unwrap_or(HUGE).min(HUGE);
                exponent = if bytes[sign] == b'-' { -size } else { size };
                end = last;
            }
        }
        Some(Self {
            start,
            end,
            mantissa,
            exponent,
        })
    }
}

/// `inf N` and `nan N` are refused as numbers; anything else is simply no quantity.
fn not_a_number(text: &str) -> Result<Option<(f64, Dimension)>, QuantityError> {
    let trimmed = text.trim_start();
    let start = text.len() - trimmed.len();
    let word = trimmed.split_whitespace().next().unwrap_or("");
    match word.parse::<f64>() {
        Ok(value) if !value.is_finite() => Err(QuantityError::NotFinite {
            span: start..start + word.len(),
        }),
        _ => Ok(None),
    }
}

enum UnitForm {
    None,
    Unit,
    Slash,
}

/// Whether the text after a number can only be meant as a unit.
fn unit_form(rest: &str) -> UnitForm {
    let mut previous = ' ';
    for c in rest.chars() {
        let signs_exponent = matches!(c, '+' | '-') && previous == '^';
        if !(is_name(c) || c.is_ascii_digit() || matches!(c, '*' | '/' | '^' | ' ') || signs_exponent) {
            return UnitForm::None;
        }
        previous = if c == ' ' { previous } else { c };
    }
    let mut characters = rest.chars();
    match characters.next() {
        Some(c) if is_name(c) => UnitForm::Unit,
        Some('1') if characters.as_str().trim_start().starts_with('/') => UnitForm::Unit,
        Some('/') => UnitForm::Slash,
        _ => UnitForm::None,
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '%'
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_name(c)).filter(|name| !name.is_empty())
}

/// Reads `text` as a unit; spans of errors are moved by `offset`.
fn parse_unit(text: &str, offset: usize) -> Result<Unit, QuantityError> {
    let mut rest = text.trim_start();
    let mut unit = Unit::ONE;
    let mut divide = false;
    let position = |rest: &str| offset + text.len() - rest.len();
    let mut first = true;
    loop {
        let start = position(rest);
        let word = rest.split(|c| !is_name(c)).next().unwrap_or("");
        let (factor, after) = if !word.is_empty() {
            (named_unit(word, start)?, &rest[word.len()..])
        } else if let (true, Some(after)) = (first, rest.strip_prefix('1')) {
            (Unit::ONE, after)
        } else {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            return Err(QuantityError::malformed(
                "expected a unit such as mm or N/m",
                start..start + length,
            ));
        };
        first = false;
        let (exponent, after) = parse_exponent(after.trim_start(), position)?;
        let exponent = if divide { -exponent } else { exponent };
        unit = unit
            .times(factor, exponent)
            .ok_or_else(|| QuantityError::malformed("the power is too large", start..position(after)))?;
        rest = after.trim_start();
        let Some(operator) = rest.chars().next() else {
            return Ok(unit);
        };
        divide = operator == '/';
        if matches!(operator, '*' | '/') {
            rest = rest[1..].trim_start();
        } else if !is_name(operator) {
            let start = position(rest);
            return Err(QuantityError::malformed(
                "expected *, /, ^ or the end of the unit (a power is written m^2)",
                start..start + operator.len_utf8(),
            ));
        }
    }
}

fn named_unit(word: &str, start: usize) -> Result<Unit, QuantityError> {
    match UNITS.iter().find(|(name, ..)| *name == word) {
        Some(&(_, factor, dimension)) => Ok(Unit { factor, dimension }),
        None => Err(QuantityError::UnknownUnit {
            unit: word.to_string(),
            suggestion: nearest(word, UNITS.iter().map(|&(name, ..)| name)),
            span: start..start + word.len(),
        }),
    }
}

/// The power after a unit's name, 1 if there is none, and the text after it.
fn parse_exponent(rest: &str, position: impl Fn(&str) -> usize) -> Result<(i8, &str), QuantityError> {
    let Some(power) = rest.strip_prefix('^') else {
        return Ok((1, rest));
    };
    let power = power.trim_start();
    let length = power
        .char_indices()
        .find(|&(i, c)| !(c.is_ascii_digit() || i == 0 && matches!(c, '+' | '-')))
        .map_or(power.len(), |(i, _)| i);
    match power[..length].parse::<i8>() {
        Ok(exponent) if exponent.unsigned_abs() <= 20 => Ok((exponent, &power[length..])),
        _ => Err(QuantityError::malformed(
            "expected a whole power from -20 to 20",
            position(rest)..position(&power[length..]),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn si(text: &str) -> f64 {
        match parse_quantity(text) {
            Ok(Some((value, _))) => value,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values_of_the_unit_table() {
        // Right-hand sides from the definitions of the units (SI brochure), not from the table.
        for (text, value) in [
            ("1 m", 1.0),
            ("0.9 mm", 0.0009),
            ("3 um", 3e-6),
            ("3 \u{b5}m", 3e-6),
            ("3 \u{3bc}m", 3e-6),
            ("1 s", 1.0),
            ("1 ms", 0.001),
            ("1.5 min", 90.0),
            ("2 h", 7200.0),
            ("2 kg", 2.0),
            ("5 g", 0.005),
            ("1.2 t", 1200.0),
            ("10 N", 10.0),
            ("3.7 kN", 3700.0),
            ("4 Nm", 4.0),
            ("4 N m", 4.0),
            ("4 N*m/rad", 4.0),
            ("180 deg", PI),
            ("30 deg", PI / 6.0),
            ("60 rpm", 2.0 * PI),
            ("3 turn/s", 6.0 * PI),
            ("30 1/min", 0.5),
            ("50 Hz", 50.0),
            ("10 kPa", 1e4),
            ("2.1 MPa", 2.1e6),
            ("7 J", 7.0),
            ("7 W", 7.0),
            ("5 %", 0.05),
            ("10 N/mm", 10000.0),
            ("10N/mm", 10000.0),
            ("100 1/mm", 1e5),
            ("100 mm^-1", 1e5),
            ("7 1/s", 7.0),
            ("7/s", 7.0),
            ("9.8 m/s^2", 9.8),
            ("-1.5e-3 kN", -1.5),
            ("+.5 mm", 0.0005),
            ("36 km/h", 10.0),
            ("2 kg m^2", 2.0),
            ("2 N/mm^2", 2e6),
        ] {
            assert_eq!(si(text), value, "{text}");
        }
    }

    #[test]
    fn dimensions() {
        for (text, dimension) in [
            ("1 N/mm", Dimension::STIFFNESS),
            ("1 kg m/s^2", Dimension::FORCE),
            ("1 N*m/rad", Dimension::TORQUE),
            ("1 J", Dimension::TORQUE),
            ("1 N m s/rad", Dimension::ROTATIONAL_DAMPING),
            ("1 MPa", Dimension::new(-1, 1, -2)),
            ("1 W", Dimension::new(2, 1, -3)),
            ("1 1/mm", Dimension::PER_LENGTH),
            ("1 rpm", Dimension::FREQUENCY),
            ("3 %", Dimension::NONE),
            ("1 m^3 s^-1/kg", Dimension::new(3, -1, -1)),
        ] {
            let parsed = parse_quantity(text).unwrap().unwrap();
            assert_eq!(parsed.1, dimension, "{text}");
        }
        assert_eq!(Dimension::STIFFNESS.to_string(), "N/m");
        assert_eq!(Dimension::new(3, -1, -1).to_string(), "m^3/kg/s");
        assert_eq!(Dimension::new(-2, 0, 0).to_string(), "1/m^2");
        assert_eq!(Dimension::new(1, 1, 0).to_string(), "kg m");
        // A message names a unit that can be written.
        for dimension in [
            Dimension::new(-2, 3, -4),
            Dimension::new(0, -1, -20),
            Dimension::new(5, -1, -1),
        ] {
            assert_eq!(quantity(&format!("2 {dimension}"), dimension), Ok(2.0), "{dimension}");
        }
    }

    #[test]
    fn expressions_are_not_quantities() {
        for text in [
            "2*t",
            "0.3*t",
            "2 * t",
            "1/t",
            "2/pi",
            "t",
            "",
            "  ",
            "5",
            "1e3",
            "2*min(t,2)",
            "10 - 5*t",
            "10 N + 2",
            "2 sin(t)",
            "-t",
            "e",
            ".",
            "+",
            "1/2",
            "3^2",
            "1 000",
        ] {
            assert_eq!(parse_quantity(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn errors_name_the_place_and_the_nearest_unit() {
        let error = parse_quantity("10 N/mn").unwrap_err();
        assert_eq!(error.span(), 5..7);
        assert!(error.to_string().contains("unknown unit \"mn\""), "{error}");
        assert!(error.to_string().contains("did you mean"), "{error}");
        let error = parse_quantity("3 kn").unwrap_err();
        assert!(error.to_string().contains("\"kN\""), "{error}");
        assert_eq!(parse_quantity("3 m^x").unwrap_err().span(), 3..4);
        assert_eq!(parse_quantity("3 m/").unwrap_err().span(), 4..4);
        assert_eq!(parse_quantity("3 m2").unwrap_err().span(), 3..4);
        for text in ["1e999 N", "inf N", "nan m", "-inf s", "1e308 km"] {
            let error = parse_quantity(text).unwrap_err();
            assert!(matches!(error, QuantityError::NotFinite { .. }), "{text}");
        }
        assert!(parse_quantity("1 m^21").is_err());
        assert!(parse_quantity("1 min^20 min^20").is_err());
    }

    #[test]
    fn wrong_dimension_reads_well() {
        let error = quantity("10 N", Dimension::STIFFNESS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a stiffness (N/m), found \"10 N\" (a force)"
        );
        assert_eq!(quantity("10 N/mm", Dimension::STIFFNESS), Ok(1e4));
        assert_eq!(quantity("0.25", Dimension::STIFFNESS), Ok(0.25));
        assert!(quantity("abc", Dimension::MASS).is_err());
        assert!(quantity("inf", Dimension::MASS).is_err());
    }

    #[test]
    fn units_apply_to_numbers() {
        assert_eq!(Unit::parse("mm").unwrap().to_si(0.9), 0.0009);
        assert_eq!(Unit::parse("mm").unwrap().factor(), 0.001);
        assert_eq!(Unit::parse("h").unwrap().to_si(-0.1), -360.0);
        assert!(Unit::parse("").is_err());
        assert!(Unit::parse("m m/").is_err());
    }

    proptest! {
        #[test]
        fn decimal_units_give_the_double_of_the_decimal(digits in 1u64..10_000_000_000_000_000, places in 0usize..18) {
            let text = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = text.split_at(text.len() - places);
            let number = format!("{whole}.{fraction}");
            for (unit, shift) in [("mm", -3), ("kPa", 3), ("um", -6), ("N/mm", 3), ("g/mm^3", 6), ("%", -2)] {
                let expected: f64 = format!("{number}e{shift}").parse().unwrap();
                prop_assert_eq!(si(&format!("{number} {unit}")), expected);
            }
            let hours: f64 = format!("{}e-{places}", u128::from(digits) * 3600).parse().unwrap();
            prop_assert_eq!(si(&format!("{number} h")), hours);
        }

        #[test]
        fn doubles_convert_like_their_text(value in proptest::num::f64::NORMAL) {
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap();
            let exponent: i32 = exponent.parse().unwrap();
            let expected: f64 = format!("{mantissa}e{}", exponent - 3).parse().unwrap();
            prop_assert_eq!(Unit::parse("mm").unwrap().to_si(value), expected);
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,40}", unit in "[0-9a-zA-Zµ%*/^ +.-]{0,30}") {
            let _ = parse_quantity(&text);
            let _ = parse_quantity(&format!("1{text}"));
            let _ = parse_quantity(&format!("1 {unit}"));
            let _ = Unit::parse(&unit);
            let _ = quantity(&unit, Dimension::FORCE);
        }
    }
}
