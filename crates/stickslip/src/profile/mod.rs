//! Functions of time: forces, motions of drivers and normal forces, given as a number, an expression or a table.

mod expression;
pub(crate) mod parser;
pub mod suggest;
mod table;
mod time_grid;

pub use expression::{BLOCK, Expression};
pub use parser::ExpressionError;
pub use table::{After, Interpolation, Table, TableError};
pub(crate) use table::{delimiter, open_csv};
pub use time_grid::{Stage, TimeGrid, TimeGridError};

use crate::quantity::{Dimension, QuantityError, Unit, check_dimension, parse_quantity};
use expression::{Threshold, whole_inverse};
use parser::Comparison;
use std::fmt;
use std::ops::Range;

/// A function of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Profile {
    /// The same value always.
    Constant(f64),
    /// An expression in `t`.
    Expression(Expression),
    /// Points with a rule between and after them.
    Table(Table),
    /// How fast another profile changes.
    Slope(Box<Profile>),
}

/// Why a text is no profile.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileError {
    /// It is a number with a unit, but a wrong one.
    Quantity(QuantityError),
    /// It is no valid expression.
    Expression(ExpressionError),
}

impl ProfileError {
    /// The range of bytes at fault.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Quantity(error) => error.span(),
            Self::Expression(error) => error.span.clone(),
        }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantity(error) => error.fmt(f),
            Self::Expression(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProfileError {}

impl From<QuantityError> for ProfileError {
    fn from(error: QuantityError) -> Self {
        Self::Quantity(error)
    }
}

impl From<ExpressionError> for ProfileError {
    fn from(error: ExpressionError) -> Self {
        Self::Expression(error)
    }
}

impl From<f64> for Profile {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl From<Table> for Profile {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Expression> for Profile {
    /// The expression's first variable is the time.
    fn from(expression: Expression) -> Self {
        match expression.constant() {
            Some(value) => Self::Constant(value),
            None => Self::Expression(expression),
        }
    }
}

impl Profile {
    /// Reads a quantity of the expected dimension (`"10 N"`), or else an expression in `t`, in SI.
    pub fn parse(text: &str, expected: Dimension) -> Result<Self, ProfileError> {
        match parse_quantity(text)? {
            Some((value, found)) => {
                check_dimension(text, expected, found)?;
                Ok(Self::Constant(value))
            }
            None => Ok(Expression::parse(text, &["t"])?.into()),
        }
    }

    /// The value at time `t`.
    #[inline]
    pub fn value(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Expression(expression) => expression.evaluate(&[t]),
            Self::Table(table) => table.value(t),
            Self::Slope(profile) => profile.slope(t),
        }
    }

    /// The values at many times at once, the same as one by one.
    pub fn values(&self, times: &[f64; BLOCK], values: &mut [f64; BLOCK]) {
        match self {
            Self::Constant(value) => values.fill(*value),
            Self::Expression(expression) => expression.evaluate_block(times, values),
            Self::Table(table) => *values = times.map(|t| table.value(t)),
            Self::Slope(profile) => *values = times.map(|t| profile.slope(t)),
        }
    }

    /// The slope at time `t`; that of a slope is not known and given as 0.
    pub fn slope(&self, t: f64) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Expression(expression) => expression.value_and_slope(t)[1],
            Self::Table(table) => table.slope(t),
            Self::Slope(_) => 0.0,
        }
    }

    /// The first time after `after` at which the profile is known to jump or to have a kink: a constant that `t` is
    /// compared with, a point of a table. Infinity if none is known.
    pub fn next_break(&self, after: f64) -> f64 {
        match self {
            Self::Constant(_) => f64::INFINITY,
            Self::Expression(expression) => expression.next_threshold(after),
            Self::Table(table) => table.next_point(after),
            Self::Slope(profile) => profile.next_break(after),
        }
    }

    /// Whether nothing is known of when the value changes: [`Profile::constant_until`] is always the next index.
    pub fn always_changes(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Expression(expression) => expression.thresholds().is_none(),
            Self::Table(table) => table.interpolation() != Interpolation::Step,
            Self::Slope(profile) => profile.always_changes(),
        }
    }

    /// The same profile times `factor`; a factor 1/n divides by n, which rounds once.
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |value: f64| match whole_inverse(factor) {
            Some(divisor) => value / divisor,
            None => value * factor,
        };
        match self {
            Self::Constant(value) => Self::Constant(scale(value)),
            Self::Expression(expression) => Self::Expression(expression.scaled(factor)),
            Self::Table(table) => Self::Table(table.map_values(scale)),
            Self::Slope(profile) => Self::Slope(Box::new(profile.scaled(factor))),
        }
    }

    /// This profile, written in `unit`, in SI. Numbers and tables convert exactly as their decimals do.
    pub fn in_unit(self, unit: &Unit) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(unit.to_si(value)),
            Self::Expression(expression) => Self::Expression(expression.scaled(unit.factor())),
            Self::Table(table) => Self::Table(table.map_values(|value| unit.to_si(value))),
            Self::Slope(profile) => Self::Slope(Box::new(profile.in_unit(unit))),
        }
    }

    /// The integral from `a` to `b` where it has a closed form; `None` for an expression.
    pub fn integral(&self, a: f64, b: f64) -> Option<f64> {
        match self {
            Self::Constant(value) => Some(value * (b - a)),
            Self::Expression(_) | Self::Slope(_) => None,
            Self::Table(table) => Some(table.integral(a, b)),
        }
    }

    /// The smallest and the largest value, where they are plain to see; `None` for an expression.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::Constant(value) => Some((*value, *value)),
            Self::Expression(_) | Self::Slope(_) => None,
            Self::Table(table) => {
                let end = (table.after() == After::Zero).then_some(0.0);
                let values = table.values().iter().copied().chain(end);
                Some(values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                }))
            }
        }
    }

    /// The greatest |value| at `n` + 1 equally spaced times from `t0` to `t1`.
    pub fn peak(&self, t0: f64, t1: f64, n: usize) -> f64 {
        if let Self::Constant(value) = self {
            return value.abs();
        }
        let intervals = n.max(1) as f64;
        (0..=n)
            .map(|i| self.value(t0 + (t1 - t0) * (i as f64 / intervals)).abs())
            .fold(0.0, f64::max)
    }

    /// The first index after `k` at which the value may differ from the one at `k`; `u64::MAX` if there is none.
    ///
    /// Exact for profiles that are constant piece by piece: a number, a step table, or an expression that uses `t` only to
    /// compare it with constants. `k` + 1 for any other.
    #[inline]
    pub fn constant_until(&self, k: u64, grid: &TimeGrid) -> u64 {
        match self {
            Self::Constant(_) => u64::MAX,
            Self::Expression(expression) => match expression.thresholds() {
                Some(thresholds) => next_crossing(thresholds, k, grid),
                None => k.saturating_add(1),
            },
            Self::Table(table) if table.interpolation() == Interpolation::Step => next_segment(table, k, grid),
            Self::Table(_) => k.saturating_add(1),
            Self::Slope(profile) => profile.constant_until(k, grid),
        }
    }
}

/// The first index after `k` at which one of the comparisons has another outcome than at `k`.
#[cold]
fn next_crossing(thresholds: &[Threshold], k: u64, grid: &TimeGrid) -> u64 {
    thresholds
        .iter()
        .filter(|threshold| threshold.variable == 0)
        .map(|threshold| crossing(threshold, k, grid))
        .min()
        .unwrap_or(u64::MAX)
}

/// The first index after `k` at which a step table has moved on.
#[cold]
fn next_segment(table: &Table, k: u64, grid: &TimeGrid) -> u64 {
    let segment = table.segment(grid.time(k));
    first_after(k, |index| table.segment(grid.time(index)) != segment)
}

/// The first index after `k` at which the comparison has another outcome than at `k`.
fn crossing(threshold: &Threshold, k: u64, grid: &TimeGrid) -> u64 {
    let &Threshold { comparison, value, .. } = threshold;
    let now = comparison.holds(grid.time(k), value);
    if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        return first_after(k, |index| comparison.holds(grid.time(index), value) != now);
    }
    if grid.time(k) == value {
        return k.saturating_add(1);
    }
    // Times increase, so only the first one not below the value can be equal to it.
    let reached = first_after(k, |index| grid.time(index) >= value);
    match reached {
        u64::MAX => u64::MAX,
        _ if grid.time(reached) == value => reached,
        _ => u64::MAX,
    }
}

/// The first index after `k` from which `changed` holds (once true it stays true), by doubling and then halving an
/// interval; `u64::MAX` if there is none that counts.
fn first_after(k: u64, changed: impl Fn(u64) -> bool) -> u64 {
    // No run has more steps (see TimeGrid::new).
    const FARTHEST: u64 = 1 << 53;
    let mut before = k;
    let mut stride = 1;
    let mut after = loop {
        let index = before.saturating_add(stride).min(FARTHEST);
        if index <= before {
            return u64::MAX;
        }
        if changed(index) {
            break index;
        }
        before = index;
        stride *= 2;
    };
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if changed(middle) {
            after = middle;
        } else {
            before = middle;
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn force(text: &str) -> Profile {
        Profile::parse(text, Dimension::FORCE).unwrap()
    }

    fn grid(step: f64) -> TimeGrid {
        TimeGrid::new(10.0, step).unwrap().0
    }

    #[test]
    fn a_text_is_a_quantity_or_an_expression() {
        assert_eq!(force("10 kN"), Profile::Constant(10_000.0));
        assert_eq!(force("2*3"), Profile::Constant(6.0));
        assert_eq!(force("5"), Profile::Constant(5.0));
        assert_eq!(force("2*t").value(1.5), 3.0);
        let error = Profile::parse("10 mm", Dimension::FORCE).unwrap_err();
        assert_eq!(error.to_string(), "expected a force (N), found \"10 mm\" (a length)");
        let error = Profile::parse("2*u", Dimension::FORCE).unwrap_err();
        assert_eq!(error.span(), 2..3);
    }

    #[test]
    fn units_scale_profiles() {
        let mm = Unit::parse("mm").unwrap();
        assert_eq!(Profile::Constant(0.9).in_unit(&mm), Profile::Constant(0.0009));
        assert_eq!(force("2*min(t,2)").in_unit(&mm).value(1.5), 0.003);
        let table = Table::new(vec![0.0, 1.0], vec![0.9, 1.1], Interpolation::Step, After::Hold).unwrap();
        let table = Profile::from(table);
        assert_eq!(table.clone().in_unit(&mm).value(1.0), 0.0011);
        assert_eq!(table.scaled(-2.0).value(0.5), -1.8);
        assert_eq!(Profile::Constant(9.0).scaled(0.001), Profile::Constant(0.009));
    }

    #[test]
    fn many_values_at_once_are_the_values_one_by_one() {
        let deep = format!("{}t{}", "(1 + 2*".repeat(20), ")".repeat(20));
        let line = Table::new(vec![0.0, 1.0], vec![1.0, 3.0], Interpolation::Linear, After::Repeat).unwrap();
        let mut profiles = vec![Profile::Constant(3.0), Profile::from(line), force(&deep)];
        for text in [
            "if(t < 1.6, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))",
            "if(t < 1.6, if(t <= 0.8, 1, cos(t)), if(t > 2.4, tanh(t)/t, max(t, 2)))",
            "(t + 1)*(t - 1)/(2 + t*t) - exp(-t)^1.5",
            "abs(sin(t)) - sign(t - 1)*sqrt(t)",
        ] {
            profiles.push(force(text));
        }
        // The later the start, the more points have passed the jumps.
        for start in [0.0, 0.7, 1.0, 1.5, 2.0, 5.0] {
            let times = std::array::from_fn(|i| start + 0.05 * i as f64);
            for profile in &profiles {
                let mut values = [f64::NAN; BLOCK];
                profile.values(&times, &mut values);
                let single = times.map(|t| profile.value(t).to_bits());
                assert_eq!(values.map(f64::to_bits), single, "{profile:?} from {start}");
            }
        }
    }

    #[test]
    fn integrals_and_peaks() {
        assert_eq!(Profile::Constant(3.0).integral(1.0, 3.0), Some(6.0));
        assert_eq!(force("t").integral(0.0, 1.0), None);
        assert_eq!(force("t - 3").peak(0.0, 4.0, 4), 3.0);
        assert_eq!(Profile::Constant(-3.0).peak(0.0, 4.0, 0), 3.0);
    }

    #[test]
    fn slopes_are_those_of_calculus() {
        let t = 0.7;
        for (text, slope) in [
            ("3*t^2 - 2*t + 1", 6.0 * t - 2.0),
            ("2^t", libm::pow(2.0, t) * libm::log(2.0)),
            (
                "sin(3*t)*exp(-t)",
                libm::exp(-t) * (3.0 * libm::cos(3.0 * t) - libm::sin(3.0 * t)),
            ),
            ("if(t < 1, t/(1 + t), 5)", 1.0 / (1.7 * 1.7)),
            ("if(t > 1, 7, cos(t))", -libm::sin(t)),
            ("min(0.3*t, 0.52) + max(t, 2)", 0.3),
            ("abs(t - 1) + sign(t)", -1.0),
            ("tanh(t) + ln(t) + sqrt(t) - tan(t)", {
                let (tanh, tan) = (libm::tanh(t), libm::tan(t));
                1.0 - tanh * tanh + 1.0 / t + 0.5 / t.sqrt() - 1.0 - tan * tan
            }),
            ("-(t - 2)^2", 2.6),
        ] {
            let found = force(text).slope(t);
            assert!((found - slope).abs() < 1e-14, "{text}: {found} in place of {slope}");
        }
        let table = |after| {
            let points = (vec![1.0, 2.0, 4.0], vec![10.0, 20.0, -20.0]);
            Profile::from(Table::new(points.0, points.1, Interpolation::Linear, after).unwrap())
        };
        let slopes = [0.5, 1.0, 1.5, 2.0, 4.0, 4.5].map(|t| table(After::Hold).slope(t));
        assert_eq!(slopes, [0.0, 10.0, 10.0, -20.0, 0.0, 0.0]);
        assert_eq!(table(After::Repeat).slope(4.5), 10.0);
    }

    #[test]
    fn breaks_are_compared_times_and_points_of_tables() {
        let text = force("if(t < 4, min(0.52, 0.3*t), if(2.5 >= t, 1, sin(100*t)))");
        let breaks = [0.0, 2.5, 3.9, 4.0].map(|after| text.next_break(after));
        assert_eq!(breaks, [2.5, 4.0, 4.0, f64::INFINITY]);
        let table = |after| {
            Profile::from(Table::new(vec![1.0, 2.0, 4.0], vec![10.0, 20.0, -20.0], Interpolation::Step, after).unwrap())
        };
        let breaks = |table: Profile| [0.0, 1.5, 2.0, 4.0, 4.5, 6.9].map(|after| table.next_break(after));
        let none = f64::INFINITY;
        assert_eq!(breaks(table(After::Hold)), [1.0, 2.0, 4.0, none, none, none]);
        assert_eq!(breaks(table(After::Repeat)), [1.0, 2.0, 4.0, 5.0, 5.0, 7.0]);
    }

    #[test]
    fn constant_until_knows_the_last_equal_index() {
        let grid = grid(1e-3);
        for (text, from, until) in [
            ("if(t <= 2, 2, 0)", 0, 2001),
            ("if(t <= 2, 2, 0)", 2000, 2001),
            ("if(t <= 2, 2, 0)", 2001, u64::MAX),
            ("if(t < 2, 2, 0)", 0, 2000),
            ("if(t < 2, 2, 0)", 1999, 2000),
            ("if(2 >= t, 2, 0)", 5, 2001),
            ("if(2 > t, 2, 0)", 5, 2000),
            ("3*(t > 2)", 5, 2001),
            ("3*(t >= 2)", 5, 2000),
            ("(1 < t)*(t < 2)", 0, 1001),
            ("(1 < t)*(t < 2)", 1001, 2000),
            ("t == 2", 0, 2000),
            ("t == 2", 2000, 2001),
            ("t == 2", 2001, u64::MAX),
            ("t != 2.0005", 0, u64::MAX),
            ("t < 2.0005", 0, 2001),
            ("t < -1", 0, u64::MAX),
            ("t < 1e300", 0, u64::MAX),
            ("if(t < 1, 5, t)", 0, 1),
            ("t", 7, 8),
            ("2*t < 4", 7, 8),
        ] {
            assert_eq!(force(text).constant_until(from, &grid), until, "{text} from {from}");
        }
        assert_eq!(Profile::Constant(1.0).constant_until(3, &grid), u64::MAX);
    }

    #[test]
    fn constant_until_of_step_tables() {
        let grid = grid(0.1);
        let table = |after| {
            Profile::from(
                Table::new(
                    vec![0.5, 1.0, 1.25, 1.5],
                    vec![1.0, 2.0, 3.0, 4.0],
                    Interpolation::Step,
                    after,
                )
                .unwrap(),
            )
        };
        let changes = |profile: &Profile| {
            let mut changes = vec![];
            let mut k = 0;
            while changes.len() < 6 && k != u64::MAX {
                k = profile.constant_until(k, &grid);
                changes.push(k);
            }
            changes
        };
        assert_eq!(changes(&table(After::Hold)), [10, 13, 15, u64::MAX]);
        assert_eq!(changes(&table(After::Zero)), [10, 13, 15, 16, u64::MAX]);
        assert_eq!(changes(&table(After::Repeat)), [10, 13, 15, 20, 23, 25]);
        let line = table(After::Hold);
        let Profile::Table(line) = line else { unreachable!() };
        let line = Profile::from(line.with(Interpolation::Linear, After::Hold).unwrap());
        assert_eq!(line.constant_until(4, &grid), 5);
    }

    proptest! {
        /// Against stepping index by index.
        #[test]
        fn constant_until_equals_a_scan(
            threshold in 0u32..300, tenths in 0u32..2, k in 0u64..300, operator in 0usize..6, step in 0usize..4,
        ) {
            let operator = ["<", "<=", ">", ">=", "==", "!="][operator];
            let (step, exponent) = [(0.001, -3), (0.0001, -4), (0.003, -3), (0.00007, -5)][step];
            let profile = force(&format!("if(t {operator} {threshold}.{}e{exponent}, 1, 2)", 5 * tenths));
            let grid = grid(step);
            let value = profile.value(grid.time(k));
            let scanned = (k + 1..1000).find(|&index| profile.value(grid.time(index)) != value);
            prop_assert_eq!(profile.constant_until(k, &grid), scanned.unwrap_or(u64::MAX));
        }
    }
}
