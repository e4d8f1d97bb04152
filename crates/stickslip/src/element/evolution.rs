//! U(R) of subloading friction as an expression of the user's: dR/dγ = U(R) with the plastic slip γ (seed 003, eqs 17 and 18).
//!
//! What has a closed form for the built-in functions is a table here: the travel w(R) = ∫ dR/(U/r) from R = 0, in steps that are finer
//! towards R = 0 and R = 1, where U changes fastest. Each step is integrated by Gauss's rule with eight points. Between them w
//! and its inverse are polynomials of order 5 that have values, slopes and curvatures of the ends, since these follow from U.

use crate::profile::Expression;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};
use stickslip_core::friction::subloading::OwnEvolution;

/// U/r as an expression, with its table.
#[derive(Debug)]
pub struct GivenEvolution {
    speed: Expression,
    points: Vec<Point>,
}

/// R, the travel to it, and U/r with its slope there.
#[derive(Clone, Copy, Debug)]
struct Point {
    ratio: f64,
    travel: f64,
    speed: f64,
    slope: f64,
}

/// Octaves of R below ½, down to 1e-37, and of 1 − R, up to the number next to 1.
const OCTAVES: [i32; 2] = [122, 52];
/// Steps of the table in an octave.
const STEPS: i32 = 64;
/// R beyond 1 up to which U is looked at.
const BEYOND: f64 = 1.5;

/// Nodes and weights of Gauss's rule on −1 to 1, those above 0.
const GAUSS: [[f64; 2]; 4] = [
    [0.183_434_642_495_649_78, 0.362_683_783_378_361_66],
    [0.525_532_409_916_329, 0.313_706_645_877_886_9],
    [0.796_666_477_413_626_7, 0.222_381_034_453_374_43],
    [0.960_289_856_497_536_2, 0.101_228_536_290_377_06],
];

/// Values of R at which a table has its points, and a condition is looked at, between 0 and 1.
fn ratios() -> Vec<f64> {
    let parts = |octave: i32| (0..STEPS).map(move |i| (1.0 + f64::from(i) / f64::from(STEPS)) * 0.5_f64.powi(octave));
    let mut below: Vec<f64> = (2..=OCTAVES[0]).rev().flat_map(parts).collect();
    below.push(0.5);
    let mut above: Vec<f64> = (2..=OCTAVES[1]).rev().flat_map(parts).map(|rest| 1.0 - rest).collect();
    above.reverse();
    below.append(&mut above);
    // Next to 1 there are fewer numbers than steps.
    below.dedup();
    below
}

impl GivenEvolution {
    /// U as written, an expression in R and r, for this r: U/r. Each is made once for as long as the program runs; where U is in
    /// proportion to r, one serves all r.
    ///
    /// # Errors
    /// If it is no such expression, or does not meet the conditions of seed 003, eq 18: which, and at what R.
    pub fn of(text: &str, r: f64) -> Result<&'static GivenEvolution, String> {
        let with = |r: f64| -> Result<(String, Expression), String> {
            let text = with_number(text, "r", r);
            let parsed = Expression::parse(&text, &["R"]).map_err(|error| error.to_string())?;
            Ok((format!("{text} over {r}"), parsed.scaled(1.0 / r)))
        };
        let ([(unit, plain), (_, twice)], own) = ([with(1.0)?, with(2.0)?], with(r)?);
        let proportional = [0.1, 0.3, 0.6, 0.9, 0.99].into_iter().all(|ratio| {
            let [one, two, this] = [&plain, &twice, &own.1].map(|speed| speed.evaluate(&[ratio]));
            (two - one).abs() <= 1e-15 * one.abs() && (this - one).abs() <= 1e-15 * one.abs()
        });
        let (text, speed) = if proportional { (unit, plain) } else { own };
        GivenEvolution::known(&text, speed)
    }

    fn known(text: &str, speed: Expression) -> Result<&'static GivenEvolution, String> {
        static KNOWN: OnceLock<Mutex<BTreeMap<String, &'static GivenEvolution>>> = OnceLock::new();
        // A thread that panicked while it held this left a map that is whole.
        let known = KNOWN.get_or_init(Mutex::default).lock();
        let mut known = known.unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(found) = known.get(text) {
            return Ok(found);
        }
        check(&speed)?;
        let made: &'static GivenEvolution = Box::leak(Box::new(GivenEvolution::new(speed)));
        known.insert(text.to_string(), made);
        Ok(made)
    }

    fn new(speed: Expression) -> Self {
        let mut points: Vec<Point> = Vec::new();
        for ratio in ratios() {
            let [value, slope] = speed.value_and_slope(ratio);
            if points.is_empty() && !(value.is_finite() && slope.is_finite()) {
                // Next to 0, where U is beyond all numbers, nothing is travelled.
                continue;
            }
            let travel = match points.last() {
                // U hardly changes on the way from 0 to the first point.
                None => ratio / value,
                Some(last) => last.travel + integral(&speed, last.ratio, ratio),
            };
            // Next to 1 rounding may leave no U at all: the table ends there.
            if !(value > 0.0 && travel.is_finite()) {
                break;
            }
            points.push(Point {
                ratio,
                travel,
                speed: value,
                slope,
            });
        }
        GivenEvolution { speed, points }
    }

    /// The points of the table on both sides of a place, found by one of their numbers.
    fn around(&self, place: f64, number: impl Fn(&Point) -> f64) -> [&Point; 2] {
        let after = self.points.partition_point(|point| number(point) <= place);
        let after = after.clamp(1, self.points.len() - 1);
        [&self.points[after - 1], &self.points[after]]
    }
}

/// A text with a number in the place of a name.
fn with_number(text: &str, name: &str, number: f64) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        // The `e` of a number is part of it.
        let of_number = rest[..start].ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let word = &rest[start..];
        let end = word
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(word.len());
        out += &rest[..start];
        match &word[..end] {
            found if found == name && !of_number => out += &format!("({number:e})"),
            found => out += found,
        }
        rest = &word[end..];
    }
    out + rest
}

/// U of the expression at R = 1/e, which for U = −r·ln R is r.
///
/// # Errors
/// If it is no expression in R.
pub fn natural_rate(text: &str) -> Result<f64, String> {
    let parsed = Expression::parse(text, &["R"]).map_err(|error| error.to_string())?;
    Ok(parsed.evaluate(&[(-1.0_f64).exp()]))
}

/// ∫ dR/(U/r) between two values of R.
fn integral(speed: &Expression, from: f64, to: f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let sum: f64 = GAUSS
        .iter()
        .flat_map(|[node, weight]| [(-node, weight), (*node, weight)])
        .map(|(node, weight)| weight / speed.evaluate(&[middle + half * node]))
        .sum();
    half * sum
}

/// The polynomial of order 5 with values, slopes and curvatures at the ends of a step of this length, at a share of it.
fn between(length: f64, [from, to]: [[f64; 3]; 2], share: f64) -> f64 {
    // By differences, so that a short step loses no digits: d is what the value rises, the rest in units of the step.
    let d = to[0] - from[0];
    let ([a, b], [e, f]) = (
        [from[1] * length, to[1] * length],
        [from[2] * length * length, to[2] * length * length],
    );
    let c3 = 10.0 * d - 6.0 * a - 4.0 * b - 1.5 * e + 0.5 * f;
    let c4 = -15.0 * d + 8.0 * a + 7.0 * b + 1.5 * e - f;
    let c5 = 6.0 * d - 3.0 * (a + b) - 0.5 * (e - f);
    from[0] + share * (a + share * (0.5 * e + share * (c3 + share * (c4 + share * c5))))
}

impl OwnEvolution for GivenEvolution {
    fn speed(&self, ratio: f64) -> [f64; 2] {
        self.speed.value_and_slope(ratio)
    }

    fn travel(&self, ratio: f64) -> f64 {
        let ends = self.around(ratio, |point| point.ratio);
        // w' = 1/U, w'' = −U'/U².
        let jets = ends.map(|point| {
            let slope = 1.0 / point.speed;
            [point.travel, slope, -point.slope * slope * slope]
        });
        let length = ends[1].ratio - ends[0].ratio;
        let share = ((ratio - ends[0].ratio) / length).clamp(0.0, 1.0);
        between(length, jets, share)
    }

    fn ratio(&self, travel: f64) -> f64 {
        let (first, last) = (&self.points[0], &self.points[self.points.len() - 1]);
        if travel <= first.travel {
            return first.ratio;
        }
        if travel >= last.travel {
            // Beyond the last number below 1 that is told from it, the way goes on as U falls off there.
            return 1.0;
        }
        let ends = self.around(travel, |point| point.travel);
        // R' = U, R'' = U·U'.
        let jets = ends.map(|point| [point.ratio, point.speed, point.speed * point.slope]);
        let length = ends[1].travel - ends[0].travel;
        let share = (travel - ends[0].travel) / length;
        let ratio = between(length, jets, share).clamp(ends[0].ratio, ends[1].ratio);
        // What its travel misses, so that a travel there and back ends where it began.
        let missed = travel - self.travel(ratio);
        (ratio + missed * self.speed.evaluate(&[ratio])).clamp(ends[0].ratio, ends[1].ratio)
    }
}

/// The conditions of seed 003, eq 18: U falls with R from +∞ at R = 0 to 0 at R = 1, and is negative beyond.
fn check(speed: &Expression) -> Result<(), String> {
    let at = |ratio: f64| speed.evaluate(&[ratio]);
    let start = at(0.0);
    // An expression may be undefined at 0 itself: then it must go on growing towards it.
    let grows = at(1e-300) > at(1e-200) && at(1e-200) > at(1e-100) && at(1e-100) > at(1e-10);
    if !(start == f64::INFINITY || start.is_nan() && grows) {
        return Err(format!("U must be +infinity at R = 0, but it is {start} there"));
    }
    let mut last = (0.0, f64::INFINITY);
    for ratio in ratios().into_iter().step_by(4) {
        let value = at(ratio);
        // So small an R that U is beyond all numbers says nothing.
        if value == f64::INFINITY && last.1 == f64::INFINITY && ratio < 1e-3 {
            continue;
        }
        if !value.is_finite() {
            return Err(format!(
                "U must be a number between R = 0 and 1, but it is {value} at R = {ratio}"
            ));
        }
        // Next to 1 rounding is all that is left of U.
        if value >= last.1 && value.abs() > 1e-12 * at(0.5).abs() {
            return Err(format!(
                "U must fall as R rises, but from R = {} to {ratio} it goes from {} to {value}",
                last.0, last.1
            ));
        }
        if value <= 0.0 && ratio < 1.0 - 1e-9 {
            return Err(format!(
                "U must be above 0 below R = 1, but it is {value} at R = {ratio}"
            ));
        }
        last = (ratio, value);
    }
    let end = at(1.0);
    if end.is_nan() || end.abs() > 1e-12 * at(0.5) {
        return Err(format!("U must be 0 at R = 1, but it is {end} there"));
    }
    last = (1.0, end);
    for i in 1..=64 {
        let ratio = 1.0 + (BEYOND - 1.0) * f64::from(i) / 64.0;
        let value = at(ratio);
        if value.is_nan() || value >= 0.0 {
            return Err(format!(
                "U must be negative beyond R = 1, but it is {value} at R = {ratio}"
            ));
        }
        if value > last.1 {
            return Err(format!(
                "U must fall as R rises, but from R = {} to {ratio} it goes from {} to {value}",
                last.0, last.1
            ));
        }
        last = (ratio, value);
    }
    Ok(())
}
