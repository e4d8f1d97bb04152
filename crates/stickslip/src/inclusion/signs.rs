//! Bounds of terms by interval arithmetic: enough to prove that a factor of sgn is never negative.

use super::graph::{Graph, Id, Op};
use super::tree::Name;
use crate::profile::parser::{Binary, Unary};
use std::collections::HashSet;

/// Numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub(crate) const ANY: Self = Self::new(f64::NEG_INFINITY, f64::INFINITY);
    pub(crate) const NOT_NEGATIVE: Self = Self::new(0.0, f64::INFINITY);

    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Interval { low, high }
    }

    pub(crate) fn is_not_negative(self) -> bool {
        self.low >= 0.0
    }

    fn negated(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    fn plus(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }

    /// The smallest and the largest product of the ends; 0·∞ is 0, as ∞ stands for numbers without bound.
    pub(crate) fn times(self, other: Self) -> Self {
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        Self::new(
            ends.iter().copied().fold(f64::INFINITY, f64::min),
            ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    fn inverse(self) -> Self {
        if self.low < 0.0 && self.high > 0.0 {
            return Self::ANY;
        }
        // An end that is 0 is taken from the side where the numbers are.
        let low = if self.high == 0.0 {
            f64::NEG_INFINITY
        } else {
            1.0 / self.high
        };
        let high = if self.low == 0.0 { f64::INFINITY } else { 1.0 / self.low };
        Self::new(low, high)
    }

    fn magnitude(self) -> Self {
        let largest = self.low.abs().max(self.high.abs());
        let smallest = if self.low <= 0.0 && self.high >= 0.0 {
            0.0
        } else {
            self.low.abs().min(self.high.abs())
        };
        Self::new(smallest, largest)
    }

    fn through(self, function: impl Fn(f64) -> f64) -> Self {
        Self::new(function(self.low), function(self.high))
    }
}

/// What is known of names and terms.
pub(crate) struct Known<'a> {
    /// Values of the parameters.
    pub parameters: &'a [f64],
    /// Bounds of the inputs.
    pub inputs: &'a [Interval],
    /// Terms the user says are never negative.
    pub asserted: &'a HashSet<Id>,
}

/// The factors of a term, sorted; brackets do not matter.
pub(crate) fn factors(graph: &Graph, term: Id) -> Vec<Id> {
    let (mut left, mut factors) = (vec![term], Vec::new());
    while let Some(id) = left.pop() {
        match graph.op(id) {
            Op::Binary(Binary::Multiply, a, b) => left.extend([a, b]),
            _ => factors.push(id),
        }
    }
    factors.sort();
    factors
}

/// Whether a product of sorted factors is never negative: products among `asserted` are not, nor are squares.
pub(crate) fn product_is_not_negative(mut factors: Vec<Id>, all: &[Interval], asserted: &[Vec<Id>]) -> bool {
    let bounds = |factors: &[Id]| {
        let equal = factors.chunk_by(|a, b| a == b);
        equal.fold(Interval::new(1.0, 1.0), |product, equal| {
            let x = all[equal[0].index()];
            let square = x.magnitude().times(x.magnitude());
            let squares = (0..equal.len() / 2).fold(product, |product, _| product.times(square));
            if equal.len() % 2 == 0 {
                squares
            } else {
                squares.times(x)
            }
        })
    };
    if bounds(&factors).is_not_negative() {
        return true;
    }
    for known in asserted {
        while let Some(rest) = without(&factors, known) {
            factors = rest;
        }
    }
    bounds(&factors).is_not_negative()
}

/// Sorted factors with some of them taken out, if all of these are there.
fn without(factors: &[Id], taken: &[Id]) -> Option<Vec<Id>> {
    let mut rest = factors.to_vec();
    for id in taken {
        rest.remove(rest.binary_search(id).ok()?);
    }
    Some(rest)
}

/// The bounds of every node.
pub(crate) fn bounds(graph: &Graph, known: &Known<'_>) -> Vec<Interval> {
    let mut all: Vec<Interval> = Vec::with_capacity(graph.len());
    for id in graph.ids() {
        let mut bounds = bound(graph.op(id), &all, known);
        if bounds.low.is_nan() || bounds.high.is_nan() {
            bounds = Interval::ANY;
        }
        if known.asserted.contains(&id) {
            bounds.low = bounds.low.max(0.0);
            bounds.high = bounds.high.max(bounds.low);
        }
        all.push(bounds);
    }
    all
}

fn bound(op: Op, all: &[Interval], known: &Known<'_>) -> Interval {
    let of = |id: Id| all[id.index()];
    match op {
        Op::Number(bits) => Interval::new(f64::from_bits(bits), f64::from_bits(bits)),
        Op::Name(Name::Time) => Interval::NOT_NEGATIVE,
        Op::Name(Name::State(_)) => Interval::ANY,
        Op::Name(Name::Parameter(i)) => Interval::new(known.parameters[i], known.parameters[i]),
        Op::Name(Name::Input(i)) => known.inputs[i],
        Op::Dio(_) | Op::Contact(_) => Interval::NOT_NEGATIVE,
        Op::Sgn(..) => Interval::new(-1.0, 1.0),
        Op::Friction(..) => Interval::ANY,
        Op::Choose(_, a, b) => of(a).union(of(b)),
        Op::Unary(function, a) => {
            let x = of(a);
            match function {
                Unary::Negate => x.negated(),
                Unary::Abs => x.magnitude(),
                Unary::Square => {
                    let size = x.magnitude();
                    size.times(size)
                }
                Unary::Sqrt => Interval::new(x.low.max(0.0), x.high.max(0.0)).through(f64::sqrt),
                Unary::Exp => x.through(libm::exp),
                Unary::Ln if x.low > 0.0 => x.through(libm::log),
                Unary::Tanh => x.through(libm::tanh),
                Unary::Sign | Unary::Sin | Unary::Cos => Interval::new(-1.0, 1.0),
                Unary::Ln | Unary::Tan => Interval::ANY,
            }
        }
        Op::Binary(operation, a, b) => {
            let (x, y) = (of(a), of(b));
            match operation {
                Binary::Add => x.plus(y),
                Binary::Subtract => x.plus(y.negated()),
                Binary::Multiply if a == b => {
                    let size = x.magnitude();
                    size.times(size)
                }
                Binary::Multiply => x.times(y),
                Binary::Divide => x.times(y.inverse()),
                Binary::Min => Interval::new(x.low.min(y.low), x.high.min(y.high)),
                Binary::Max => Interval::new(x.low.max(y.low), x.high.max(y.high)),
                Binary::Compare(_) => Interval::new(0.0, 1.0),
                // An even whole power, or any power of what is never negative.
                Binary::Power if y.low == y.high && y.low % 2.0 == 0.0 => Interval::NOT_NEGATIVE,
                Binary::Power if x.is_not_negative() => Interval::NOT_NEGATIVE,
                Binary::Power => Interval::ANY,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inclusion::Place;
    use crate::inclusion::tree::Tree;

    fn bounds_of(text: &str) -> Interval {
        let names = [
            ("t", Name::Time),
            ("x", Name::State(0)),
            ("y", Name::State(1)),
            ("F", Name::Parameter(0)),
            ("G", Name::Parameter(1)),
            ("u", Name::Input(0)),
        ];
        let mut graph = Graph::default();
        let ids = graph.take(&Tree::parse(text, &names, Place::Whole).unwrap());
        let asserted = HashSet::from([graph.node(Op::Name(Name::State(1)))]);
        let known = Known {
            parameters: &[0.5, -2.0],
            inputs: &[Interval::new(1.0, 3.0)],
            asserted: &asserted,
        };
        bounds(&graph, &known)[ids[ids.len() - 1].index()]
    }

    #[test]
    fn what_is_never_negative() {
        for text in [
            "2",
            "F",
            "t",
            "y",
            "u",
            "F*y",
            "F + y*t",
            "dio(x)",
            "F*dio(x - y)",
            "abs(x)",
            "x*x",
            "x^2",
            "(x - 1)^4",
            "sqrt(x)",
            "exp(x)",
            "exp(-x)",
            "max(x, 0)",
            "max(0, x)*F",
            "-G",
            "G*G",
            "G*-3",
            "F/u",
            "y/exp(x)",
            "if(x > 0, F, y)",
            "1 - 0.5*tanh(x)",
            "u - 1",
            "1 + sin(x)",
            "min(y, F)",
            "x < 1",
            "y^0.5",
            "abs(x)/u + 3*F",
            "F + 0.2*cos(x)",
            "-x*-x + F",
        ] {
            let found = bounds_of(text);
            // -x*-x is a product of two terms that are equal, as they are one node.
            assert!(found.is_not_negative(), "{text}: {found:?}");
        }
    }

    #[test]
    fn what_may_be_negative() {
        for text in [
            "x",
            "G",
            "-F",
            "F - y",
            "sin(x)",
            "x*y",
            "x^3",
            "x*x*x",
            "ln(y)",
            "min(x, 1)",
            "sgn(x)",
            "u - 2",
            "F/x",
            "tan(y)",
            "if(x > 0, F, x)",
            "1/G",
            "F*G",
            "y - 1e-9",
            "max(x, -1)",
            "t - 1",
        ] {
            let found = bounds_of(text);
            assert!(!found.is_not_negative(), "{text}: {found:?}");
        }
    }
}
