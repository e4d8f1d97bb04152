//! The times of a run: t_k is the double nearest to the decimal k·step, never a running sum.

use crate::quantity::greatest_common_divisor;
use std::fmt::{self, Write};

/// Why a duration and a step make no grid.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeGridError {
    /// The step is not a positive, finite time.
    Step(f64),
    /// The duration is not a positive, finite time.
    Duration(f64),
    /// The step is longer than the duration.
    StepTooLong {
        /// The step in s.
        step: f64,
        /// The duration in s.
        duration: f64,
    },
    /// More steps than can be counted exactly.
    TooManySteps(f64),
}

impl fmt::Display for TimeGridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => write!(f, "the step must be a positive time, found {step} s"),
            Self::Duration(duration) => {
                write!(f, "the duration must be a positive time, found {duration} s")
            }
            Self::StepTooLong { step, duration } => {
                write!(f, "the step ({step} s) is longer than the duration ({duration} s)")
            }
            Self::TooManySteps(steps) => write!(f, "{steps:.0} steps are too many to count"),
        }
    }
}

impl std::error::Error for TimeGridError {}

/// Where in a step an integrator looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// k·step
    Start,
    /// (k + 1/2)·step
    Middle,
    /// (k + 1)·step
    End,
}

/// Whole numbers up to here are exact in a double.
const EXACT: u64 = 1 << 53;

/// Equal steps from time 0.
///
/// The step is held as a fraction of whole numbers, so that a time is one integer product and one correctly rounded division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeGrid {
    step: f64,
    steps: u64,
    numerator: u64,
    denominator: f64,
    /// Up to this multiple of step/2 the fraction is exact.
    exact_halves: u64,
    /// step = digits · 10^exponent, for times beyond.
    digits: u64,
    exponent: i32,
}

impl TimeGrid {
    /// round(duration/step) steps, and a warning if the duration is not that many steps.
    pub fn new(duration: f64, step: f64) -> Result<(Self, Option<String>), TimeGridError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(TimeGridError::Step(step));
        }
        if !(duration.is_finite() && duration > 0.0) {
            return Err(TimeGridError::Duration(duration));
        }
        if step > duration {
            return Err(TimeGridError::StepTooLong { step, duration });
        }
        let ratio = duration / step;
        let steps = ratio.round();
        if steps.is_nan() || steps > EXACT as f64 {
            return Err(TimeGridError::TooManySteps(steps));
        }
        let grid = Self::with_steps(step, steps as u64);
        // The ratio itself is rounded.
        let tolerance = (2.0 * f64::EPSILON * ratio).max(1e-6);
        let warning = ((ratio - steps).abs() > tolerance).then(|| {
            format!(
                "the duration {duration} s is not a whole number of steps of {step} s; the run ends at {} s",
                grid.end()
            )
        });
        Ok((grid, warning))
    }

    fn with_steps(step: f64, steps: u64) -> Self {
        let (digits, exponent) = shortest_decimal(step);
        let (numerator, denominator) = fraction(step, digits, exponent).unwrap_or((0, 1.0));
        Self {
            step,
            steps,
            numerator,
            denominator,
            exact_halves: EXACT.checked_div(numerator).unwrap_or(0),
            digits,
            exponent,
        }
    }

    /// The step in s.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The time of the last step.
    pub fn end(&self) -> f64 {
        self.time(self.steps)
    }

    /// k·step
    #[inline]
    pub fn time(&self, k: u64) -> f64 {
        if k <= self.exact_halves {
            return (k * self.numerator) as f64 / self.denominator;
        }
        self.distant(u128::from(k) * 2)
    }

    /// (k + c)·step with c = 0, 1/2 or 1.
    #[inline]
    pub fn stage(&self, k: u64, stage: Stage) -> f64 {
        match stage {
            Stage::Start => self.time(k),
            Stage::Middle => self.middle(k),
            Stage::End => self.time(k.saturating_add(1)),
        }
    }

    /// (k + 1/2)·step
    #[inline]
    pub fn middle(&self, k: u64) -> f64 {
        if k < self.exact_halves / 2 {
            return ((2 * k + 1) * self.numerator) as f64 / (2.0 * self.denominator);
        }
        self.distant(u128::from(k) * 2 + 1)
    }

    /// halves·step/2 where the fraction is not exact: the digits of the product, read as a decimal. k < 2^64 and 17 digits
    /// of the step give at most 2^65 · 10^17 · 5 < 10^38, within an u128.
    #[cold]
    fn distant(&self, halves: u128) -> f64 {
        let product = halves * u128::from(self.digits) * 5;
        let mut text = ShortText::default();
        match write!(text, "{product}e{}", self.exponent - 1) {
            Ok(()) => text.as_str().parse().unwrap_or(f64::NAN),
            Err(_) => halves as f64 * 0.5 * self.step,
        }
    }
}

/// (digits, exponent) of the shortest decimal that reads as `value` > 0: at most 17 digits.
fn shortest_decimal(value: f64) -> (u64, i32) {
    // On the stack: every run of a sweep does this.
    let mut text = Decimal::default();
    if write!(text, "{value:e}").is_err() {
        return (0, 0);
    }
    let (mut digits, mut places, mut fraction) = (0, 0, false);
    let mut rest = text.bytes[..text.length].iter();
    for byte in rest.by_ref().take_while(|byte| **byte != b'e') {
        match byte {
            b'.' => fraction = true,
            _ => {
                digits = 10 * digits + u64::from(byte - b'0');
                places += i32::from(fraction);
            }
        }
    }
    let exponent = std::str::from_utf8(rest.as_slice()).map_or(0, |text| text.parse().unwrap_or(0));
    (digits, exponent - places)
}

/// A number in scientific notation: at most 17 digits, a point, `e` and an exponent.
#[derive(Default)]
struct Decimal {
    bytes: [u8; 32],
    length: usize,
}

impl Write for Decimal {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len());
        room.ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

/// The step as a fraction of two whole numbers that are exact in a double: 1/n if 1/step is a whole n to within rounding,
/// else its shortest decimal in lowest terms (10^p in lowest terms is 2^a·5^b with b ≤ 22, exact in a double).
fn fraction(step: f64, digits: u64, exponent: i32) -> Option<(u64, f64)> {
    // A larger n would be whole by accident of rounding.
    const LARGEST_WHOLE: f64 = 1e12;
    let inverse = 1.0 / step;
    let whole = inverse.round();
    if (1.0..=LARGEST_WHOLE).contains(&whole) && (inverse - whole).abs() <= 4.0 * f64::EPSILON * whole {
        return Some((1, whole));
    }
    match exponent {
        0..=16 => {
            let numerator = digits.checked_mul(10_u64.checked_pow(exponent.unsigned_abs())?)?;
            (numerator <= EXACT).then_some((numerator, 1.0))
        }
        -22..=-1 => {
            let ten = 10_u128.pow(exponent.unsigned_abs());
            let common = greatest_common_divisor(digits.into(), ten);
            Some((digits / common as u64, (ten / common) as f64))
        }
        _ => None,
    }
}

/// A text on the stack, long enough for an u128 and an exponent.
struct ShortText {
    bytes: [u8; 48],
    length: usize,
}

impl Default for ShortText {
    fn default() -> Self {
        Self {
            bytes: [0; 48],
            length: 0,
        }
    }
}

impl ShortText {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(step: f64) -> TimeGrid {
        TimeGrid::new(step * 1e6, step).unwrap().0
    }

    /// k·step from the decimal digits of the step as typed: the product in integers, read back as text.
    fn decimal(k: u128, digits: u128, exponent: i32) -> f64 {
        format!("{}e{exponent}", k * digits).parse().unwrap()
    }

    /// (step as typed, digits, exponent)
    const STEPS: &[(f64, u128, i32)] = &[
        (0.001, 1, -3),
        (0.0001, 1, -4),
        (0.0025, 25, -4),
        (0.003, 3, -3),
        (0.00007, 7, -5),
        (0.02, 2, -2),
        (0.1, 1, -1),
        (0.7, 7, -1),
        (1.5, 15, -1),
        (40.0, 4, 1),
        (3e20, 3, 20),
        (1.7e-25, 17, -26),
        (1.234_567_890_123_45e-4, 123_456_789_012_345, -18),
    ];

    #[test]
    fn steps_and_warnings() {
        let (grid, warning) = TimeGrid::new(4.0, 0.001).unwrap();
        assert_eq!((grid.steps(), warning, grid.end()), (4000, None, 4.0));
        let (grid, warning) = TimeGrid::new(1.0, 0.3).unwrap();
        assert_eq!(grid.steps(), 3);
        assert!(warning.unwrap().contains("0.9"));
        assert_eq!(TimeGrid::new(0.3, 0.1).unwrap().1, None);
        assert_eq!(TimeGrid::new(1e5, 1e-6).unwrap().1, None);
        assert_eq!(TimeGrid::new(1.0, 1.0).unwrap().0.steps(), 1);
    }

    #[test]
    fn impossible_grids_are_refused() {
        for (duration, step) in [
            (1.0, 0.0),
            (1.0, -0.1),
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
            (f64::NAN, 0.1),
            (f64::INFINITY, 0.1),
            (-1.0, 0.1),
            (0.0, 0.1),
            (1.0, 1.1),
            (1e300, 1e-300),
            (1e10, 1e-10),
        ] {
            assert!(TimeGrid::new(duration, step).is_err(), "{duration} {step}");
        }
    }

    #[test]
    fn thirds_end_on_whole_seconds() {
        let grid = grid(1.0 / 3.0);
        assert_eq!((grid.time(3), grid.time(4), grid.time(300_000)), (1.0, 4.0 / 3.0, 1e5));
        assert_eq!(grid.middle(1), 0.5);
    }

    proptest! {
        #[test]
        fn times_are_the_nearest_doubles(index in 0..STEPS.len(), k in 0u64..10_000_000_000, far in 0u64..EXACT) {
            let (step, digits, exponent) = STEPS[index];
            let grid = grid(step);
            for k in [k % 100_000, k, far] {
                let wide = u128::from(k);
                prop_assert_eq!(grid.time(k), decimal(wide, digits, exponent), "step {} k {}", step, k);
                prop_assert_eq!(grid.middle(k), decimal(2 * wide + 1, 5 * digits, exponent - 1), "step {} k {}", step, k);
                prop_assert_eq!(grid.stage(k, Stage::End), grid.time(k + 1));
                prop_assert_eq!(grid.stage(k, Stage::Start), grid.time(k));
            }
        }

        #[test]
        fn any_step_increases_and_never_panics(step in 1e-300f64..1e300, k in any::<u64>()) {
            let grid = TimeGrid::new(step, step).unwrap().0;
            prop_assert_eq!(grid.time(1), step);
            prop_assert!(grid.time(k) <= grid.middle(k));
            prop_assert!(grid.middle(k) <= grid.stage(k, Stage::End));
        }
    }
}
