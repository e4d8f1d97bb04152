//! Roots of functions of one number: searches in a bracket that cannot fail.

use crate::scalar::{Mask, Real};

/// Rounds of Newton's method before the bracket is only halved.
pub const NEWTON_ROUNDS: usize = 40;
/// Halvings that take any bracket to neighbouring numbers.
pub const HALVINGS: usize = 1100;

/// The root of a function that rises from `low` to `high`, by Newton's method inside the bracket, from `start`.
///
/// `function` gives value and slope; `near` is told the place, the next one by Newton's method, the value, and whether that next one lies inside,
/// and says whether it is good enough. The last move is one of Newton's method wherever possible: it also makes the derivative of a dual number
/// exact. A lane that has `settled` keeps its root, so that it does not depend on its neighbours.
#[inline(always)]
pub fn within<R: Real>(
    [mut low, mut high]: [R; 2],
    start: R,
    mut settled: R::Mask,
    function: impl Fn(R) -> (R, R),
    near: impl Fn(R, R, R, R::Mask) -> R::Mask,
) -> R {
    let mut x = start;
    for round in 0..NEWTON_ROUNDS + HALVINGS {
        if settled.all() {
            break;
        }
        let (value, slope) = function(x);
        let above = R::zero().lt(value);
        high = R::select(settled, high, R::select(above, x, high));
        low = R::select(settled, low, R::select(above, low, x));
        let newton = x - value / slope;
        let halved = (low + high) * R::lit(0.5);
        let inside = low.lt(newton) & newton.lt(high);
        let near = near(x, newton, value, inside);
        let closed = halved.same(low) | halved.same(high);
        let next = if round < NEWTON_ROUNDS {
            R::select(inside | near, newton, halved)
        } else {
            halved
        };
        x = R::select(settled, x, next);
        settled = settled | near | closed;
    }
    x
}

/// The bracket of the place where `below` changes from true to false, after so many halvings.
pub fn bisect([mut low, mut high]: [f64; 2], halvings: usize, below: impl Fn(f64) -> bool) -> [f64; 2] {
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    [low, high]
}

/// Root of a function that crosses zero upwards, from its value and slope: Newton's method inside a bracket that is
/// first widened from `start` until it holds the root.
pub fn rising(function: impl Fn(f64) -> (f64, f64), start: f64) -> f64 {
    let (mut at, _) = function(start);
    if at == 0.0 {
        return start;
    }
    let (mut low, mut high) = (start, start);
    let mut width = at.abs();
    for _ in 0..200 {
        if at > 0.0 {
            (low, high) = (low - width, low);
        } else {
            (low, high) = (high, high + width);
        }
        let (value, _) = function(if at > 0.0 { low } else { high });
        if value == 0.0 {
            return if at > 0.0 { low } else { high };
        }
        if (value > 0.0) != (at > 0.0) {
            break;
        }
        at = value;
        width *= 2.0;
    }
    let mut x = if start > low && start < high {
        start
    } else {
        0.5 * (low + high)
    };
    for _ in 0..200 {
        let (value, slope) = function(x);
        if value == 0.0 {
            return x;
        }
        if value > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        // The function is a difference of numbers as large as `start`: below their rounding there is nothing to find.
        if (next - x).abs() <= 2.0 * f64::EPSILON * x.abs().max(start.abs()) || next == low || next == high {
            return next;
        }
        x = next;
    }
    x
}
