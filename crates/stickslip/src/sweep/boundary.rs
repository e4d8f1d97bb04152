//! The boundary between stable and unstable cells of a map, found by bisection from column to column: each begins near
//! the boundary of its neighbour, so far fewer runs are needed than a grid has cells.

use super::{Axis, CLASS, Row, Spacing, Sweep, Value};
use crate::stop::Stop;
use std::io;

/// One value of x with the runs that were done there.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The value of x.
    pub x: Value,
    /// The runs, in the order they were done.
    pub rows: Vec<Row>,
    /// Where the class changes along y; `None` if it does not within the range, or a run failed.
    pub boundary: Option<Boundary>,
}

/// A change of class along y.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// The middle of the last bracket.
    pub y: Value,
    /// Lower and upper end of the last bracket.
    pub bracket: (Value, Value),
    /// Whether cells above are stable; those below are of the other class.
    pub stable_above: bool,
}

/// Where to begin: a place along y and the class below it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Guess {
    at: f64,
    stable_below: bool,
}

/// A range along y, as its spacing measures it.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
    /// Between two points of the grid.
    step: f64,
    points: u64,
    spacing: Spacing,
}

impl Range {
    fn new(axis: &Axis) -> Option<Self> {
        let ((a, b), spacing) = axis.range()?;
        let measure = |value: f64| match spacing {
            Spacing::Linear => value,
            Spacing::Log => libm::log10(value),
        };
        let (low, high) = (measure(a.min(b)), measure(a.max(b)));
        let points = axis.count().max(2);
        (high > low).then_some(Range {
            low,
            high,
            step: (high - low) / (points - 1) as f64,
            points,
            spacing,
        })
    }

    /// The number at a place; fifteen digits are enough and look better.
    fn number(&self, at: f64) -> f64 {
        let number = match self.spacing {
            Spacing::Linear => at,
            Spacing::Log => libm::exp10(at),
        };
        format!("{number:.14e}").parse().unwrap_or(number)
    }

    /// Whether a bracket is narrow enough: relative to its middle, or to the range if that reaches zero.
    fn narrow(&self, (a, b): (f64, f64), tolerance: f64) -> bool {
        let (low, high) = (self.number(a), self.number(b));
        let size = if self.number(self.low) > 0.0 {
            0.5 * (low + high)
        } else {
            self.number(self.high) - self.number(self.low)
        };
        // Half a bracket each way is what the middle can be wrong by.
        0.5 * (high - low) <= tolerance * size.abs() || 0.5 * (a + b) <= a || 0.5 * (a + b) >= b
    }
}

/// Looks at the side of stick-slip behind a change, a quarter of a step of the grid apart.
const LOOKS: i32 = 4;

/// Finds where the class changes: lower end, upper end, class below. `class` gives whether a place is stable, or `None`
/// if that cannot be known.
///
/// Behind the edge of stick-slip small cycles may cross the threshold to and fro, so that there are several changes; the
/// one wanted bounds the stick-slip. So once a change is found the side of stick-slip is looked at, and where that has a
/// stable place the search goes on behind it.
fn bracket(
    range: Range,
    guess: Option<Guess>,
    tolerance: f64,
    class: &mut dyn FnMut(f64) -> Option<bool>,
) -> Option<(f64, f64, bool)> {
    let mut found = match guess {
        Some(guess) => near(range, guess, class)?,
        None => anywhere(range, class)?,
    };
    loop {
        found = halve(range, found, tolerance, class)?;
        match beyond(range, found, class) {
            Some(other) => found = other,
            None => return Some(found),
        }
    }
}

/// Halves a bracket until it is narrow.
fn halve(
    range: Range,
    (mut low, mut high, below): (f64, f64, bool),
    tolerance: f64,
    class: &mut dyn FnMut(f64) -> Option<bool>,
) -> Option<(f64, f64, bool)> {
    while !range.narrow((low, high), tolerance) {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if class(middle)? == below {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some((low, high, below))
}

/// Another change on the side of stick-slip, between two looks there, if there is one.
fn beyond(
    range: Range,
    (low, high, below): (f64, f64, bool),
    class: &mut dyn FnMut(f64) -> Option<bool>,
) -> Option<(f64, f64, bool)> {
    let (edge, away) = if below { (high, range.step) } else { (low, -range.step) };
    let (mut other, mut last_stable) = (None, None);
    for look in 1.. {
        let at = edge + 0.25 * f64::from(look) * away;
        if at < range.low || at > range.high {
            break;
        }
        if class(at)? {
            last_stable = Some(at);
            continue;
        }
        if let Some(stable) = last_stable.take() {
            other = Some(if below {
                (stable, at, below)
            } else {
                (at, stable, below)
            });
        }
        if look >= LOOKS {
            break;
        }
    }
    other
}

/// From the boundary of the neighbour away, in steps that double, towards where the class must change.
fn near(range: Range, guess: Guess, class: &mut dyn FnMut(f64) -> Option<bool>) -> Option<(f64, f64, bool)> {
    let first = class(guess.at)?;
    let up = first == guess.stable_below;
    let (mut from, mut step) = (guess.at, 0.25 * range.step);
    loop {
        let end = if up { range.high } else { range.low };
        let to = if up {
            (from + step).min(end)
        } else {
            (from - step).max(end)
        };
        if to == from {
            return None;
        }
        let second = class(to)?;
        if second != first {
            return Some(if up { (from, to, first) } else { (to, from, second) });
        }
        (from, step) = (to, 2.0 * step);
    }
}

/// Between the ends if they differ, otherwise at the first change from point to point of the grid.
fn anywhere(range: Range, class: &mut dyn FnMut(f64) -> Option<bool>) -> Option<(f64, f64, bool)> {
    let (first, last) = (class(range.low)?, class(range.high)?);
    if first != last {
        return Some((range.low, range.high, first));
    }
    let place = |i: u64| range.low + range.step * i as f64;
    for i in 1..range.points - 1 {
        if class(place(i))? != first {
            return Some((place(i - 1), place(i), first));
        }
    }
    None
}

impl Sweep {
    /// Traces the boundary of a map along its first axis, to a relative tolerance of y. The first column is that in the
    /// middle; from there it goes both ways, two columns at a time if there are two threads. Columns go to `sink` in an
    /// order that does not depend on the threads: the middle, then one to the right, one to the left, and so on. A row
    /// that `known` already has is not run again. False if it was stopped.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn trace(
        &self,
        tolerance: f64,
        threads: usize,
        stop: Option<&Stop>,
        known: &(dyn Fn(&[Value]) -> Option<Row> + Sync),
        sink: &mut dyn FnMut(Column) -> io::Result<()>,
    ) -> io::Result<bool> {
        let [x, y] = &self.axes[..] else { return Ok(true) };
        let Some(range) = Range::new(y) else { return Ok(true) };
        let column =
            |index: u64, guess: Option<Guess>| self.column(x.value(index), (y, range), guess, tolerance, stop, known);
        let middle = (x.count() - 1) / 2;
        let Some((first, start)) = column(middle, None) else {
            return Ok(false);
        };
        sink(first)?;
        let mut guesses = [start, start];
        for distance in 1..x.count() {
            let right = middle.checked_add(distance).filter(|index| *index < x.count());
            let left = middle.checked_sub(distance);
            let todo: Vec<(usize, u64)> = [right, left]
                .into_iter()
                .enumerate()
                .filter_map(|(side, index)| Some((side, index?)))
                .collect();
            if todo.is_empty() {
                break;
            }
            let done: Vec<_> = if threads < 2 {
                todo.iter().map(|&(side, index)| column(index, guesses[side])).collect()
            } else {
                std::thread::scope(|scope| {
                    let column = &column;
                    let handles: Vec<_> = (todo.iter())
                        .map(|&(side, index)| scope.spawn(move || column(index, guesses[side])))
                        .collect();
                    handles
                        .into_iter()
                        .map(|handle| handle.join().unwrap_or(None))
                        .collect()
                })
            };
            for ((side, _), done) in todo.into_iter().zip(done) {
                let Some((column, guess)) = done else {
                    return Ok(false);
                };
                guesses[side] = guess.or(guesses[side]);
                sink(column)?;
            }
        }
        Ok(true)
    }

    /// One column, and where its neighbour should begin; `None` if it was stopped.
    fn column(
        &self,
        x: Value,
        (y, range): (&Axis, Range),
        guess: Option<Guess>,
        tolerance: f64,
        stop: Option<&Stop>,
        known: &(dyn Fn(&[Value]) -> Option<Row> + Sync),
    ) -> Option<(Column, Option<Guess>)> {
        let mut runner = self.runner();
        let mut rows = Vec::new();
        let mut stopped = false;
        let mut class = |at: f64| {
            let keys = vec![x.clone(), y.value_at(range.number(at))];
            let row = match known(&keys) {
                Some(row) => row,
                None => match runner.run(keys, stop) {
                    Some(row) => row,
                    None => {
                        stopped = true;
                        return None;
                    }
                },
            };
            let stable = row.values.get(CLASS).and_then(serde_json::Value::as_bool);
            rows.push(row);
            stable
        };
        let found = bracket(range, guess, tolerance, &mut class);
        if stopped {
            return None;
        }
        let value = |at: f64| y.value_at(range.number(at));
        let boundary = found.map(|(low, high, below)| Boundary {
            y: value(0.5 * (low + high)),
            bracket: (value(low), value(high)),
            stable_above: !below,
        });
        let next = found.map(|(low, high, stable_below)| Guess {
            at: 0.5 * (low + high),
            stable_below,
        });
        Some((Column { x, rows, boundary }, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(spec: &str) -> Range {
        Range::new(&Axis::parse(spec).unwrap()).unwrap()
    }

    #[test]
    fn a_known_boundary_is_found_with_few_looks() {
        let range = range("v=log:1e-4:1:25");
        let mut guess = None;
        // The first is looked for between the ends: 2 looks, and 8 halvings of 4 decades to ±2 %. From a neighbour: one
        // look, k steps of 0.042·2^j that together pass the distance, k + 1 halvings. The last two are 1.6 and 3.4 decades away.
        // Four more look at the side of stick-slip.
        for (edge, most) in [
            (0.013, 14),
            (0.0151, 12),
            (0.02, 12),
            (0.011, 12),
            (3e-4, 18),
            (0.7, 20),
        ] {
            let mut looks = 0;
            let mut class = |at: f64| {
                looks += 1;
                Some(libm::exp10(at) > edge)
            };
            let (low, high, below) = bracket(range, guess, 0.02, &mut class).unwrap();
            let middle = libm::exp10(0.5 * (low + high));
            assert!((middle / edge - 1.0).abs() < 0.02, "{middle} for {edge}");
            assert!(!below);
            assert!(looks <= most, "{looks} looks for {edge}");
            guess = Some(Guess {
                at: 0.5 * (low + high),
                stable_below: below,
            });
        }
    }

    #[test]
    fn an_island_is_found_and_an_absent_boundary_is_none() {
        let range = range("v=lin:-1:1:21");
        let island = |at: f64| Some(!(0.2..0.45).contains(&at));
        let (low, high, below) = bracket(range, None, 0.01, &mut { island }).unwrap();
        assert!(below && (0.5 * (low + high) - 0.2).abs() < 0.021, "{low} {high}");
        assert_eq!(bracket(range, None, 0.01, &mut |_| Some(true)), None);
        let guess = Some(Guess {
            at: 0.3,
            stable_below: false,
        });
        assert_eq!(bracket(range, guess, 0.01, &mut |_| Some(true)), None);
        assert_eq!(bracket(range, guess, 0.01, &mut |_| Some(false)), None);
        assert_eq!(bracket(range, guess, 0.01, &mut |_| None), None);
    }

    #[test]
    fn of_several_changes_the_one_at_the_stick_slip_is_found() {
        let range = range("v=log:1e-4:1:25");
        // Stable from 0.0193, with stick-slip again at 0.021 … 0.027 and 0.03 … 0.036.
        let stable = |v: f64| v > 0.0193 && !(0.021..0.027).contains(&v) && !(0.03..0.036).contains(&v);
        for start in [1e-3, 0.0152, 0.025, 0.04, 0.3] {
            let guess = Some(Guess {
                at: libm::log10(start),
                stable_below: false,
            });
            let found = bracket(range, guess, 0.02, &mut |at| Some(stable(libm::exp10(at)))).unwrap();
            let middle = libm::exp10(0.5 * (found.0 + found.1));
            assert!((middle / 0.0193 - 1.0).abs() < 0.02, "{middle} from {start}");
            // The same upside down: stick-slip above.
            let guess = guess.map(|guess| Guess {
                at: -4.0 - guess.at,
                stable_below: true,
            });
            let mirrored = bracket(range, guess, 0.02, &mut |at| Some(stable(libm::exp10(-4.0 - at)))).unwrap();
            assert!((mirrored.0 + found.1 + 4.0).abs() < 0.02, "{mirrored:?} {found:?}");
        }
    }

    #[test]
    fn the_class_may_change_either_way() {
        let range = range("v=log:1:1000:4");
        for stable_below in [true, false] {
            for start in [1.3, 15.0, 700.0] {
                let guess = Some(Guess {
                    at: libm::log10(start),
                    stable_below,
                });
                let mut class = |at: f64| Some((libm::exp10(at) < 20.0) == stable_below);
                let (low, high, below) = bracket(range, guess, 0.01, &mut class).unwrap();
                assert_eq!(below, stable_below);
                assert!((libm::exp10(0.5 * (low + high)) / 20.0 - 1.0).abs() < 0.01);
            }
        }
    }
}
