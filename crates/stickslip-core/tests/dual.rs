//! Derivatives of dual numbers against central differences, closed forms and their conventions at kinks.
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip_core::scalar::{Dual, Real, vector};
use stickslip_core::sets::{gsat, sat, soft_threshold};

type D = Dual<f64, 2>;

/// Compares both derivatives of an expression in x and y with central differences of the same expression in f64, and
/// the value with f64 bit for bit.
macro_rules! check {
    ($x:ident, $y:ident: $($expression:expr),+ $(,)?) => {$({
        fn law<R: Real>($x: R, $y: R) -> R {
            let _ = ($x, $y);
            $expression
        }
        let dual: D = law(Dual::variable($x, 0), Dual::variable($y, 1));
        prop_assert_eq!(dual.value.to_bits(), law::<f64>($x, $y).to_bits());
        let h = 1e-5;
        let slopes = [
            (law::<f64>($x + h, $y) - law::<f64>($x - h, $y)) / (2.0 * h),
            (law::<f64>($x, $y + h) - law::<f64>($x, $y - h)) / (2.0 * h),
        ];
        for (grad, slope) in dual.grad.into_iter().zip(slopes) {
            let error = (grad - slope).abs() / f64::max(slope.abs(), 1.0);
            prop_assert!(error < 1e-6, "{} at {} {}: {grad}, difference {slope}", stringify!($expression), $x, $y);
        }
    })+};
}

/// A magnitude away from 0 and 1, where the kinks are, with either sign.
fn smooth() -> impl Strategy<Value = f64> {
    prop_oneof![0.1..0.99, 1.01..3.0, -0.99..-0.1, -3.0..-1.01]
}

proptest! {
    #[test]
    fn operations(x in smooth(), y in smooth()) {
        prop_assume!((x - y).abs() > 1e-3);
        check!(x, y:
            x + y,
            x - y,
            x * y,
            x / y,
            -x,
            { let mut s = x * x; s += y; s -= x; s },
            x.exp(),
            x.abs().ln() + y.abs().sqrt(),
            x.abs(),
            x.min(y),
            x.max(y),
            (x * x).copysign(y),
            x.copysign(y),
            x.clamp(-R::one(), R::one()),
            x.abs().powf(y),
            R::lit(2.0).powf(y),
            R::select(x.lt(y), x * x, y * x),
            R::lit(3.0),
        );
    }

    #[test]
    fn laws(x in smooth(), y in smooth()) {
        prop_assume!(((x * x + y * y).sqrt() - 1.0).abs() > 1e-3);
        check!(x, y:
            sat(R::one(), x),
            gsat(R::one(), [x, y])[0],
            gsat(R::one(), [x, y, R::zero()])[1],
            gsat(x.abs() * R::lit(0.1), [R::lit(2.0), y])[0],
            soft_threshold(R::one(), [x, y])[1],
            vector::norm([x, y, R::one()]),
            // Stribeck curve with its exponent as the second variable.
            R::lit(0.6) + R::lit(0.4) * (-(x.abs() * R::lit(0.5)).powf(y.abs())).exp(),
        );
    }
}

#[test]
fn derivative_is_zero_where_there_is_none() {
    let zero = D::variable(0.0, 0);
    let tiny = D::variable(5e-324, 1);
    let one = D::constant(1.0);
    for (name, number) in [
        ("sqrt", zero.sqrt()),
        ("abs", zero.abs()),
        ("copysign", zero.copysign(-one)),
        ("powf", zero.powf(D::lit(0.5))),
        ("powf of both", zero.powf(D::variable(0.5, 1))),
        ("ln", zero.ln()),
        ("ln below zero", (zero - one).ln()),
        ("norm", vector::norm([zero, D::variable(0.0, 1)])),
    ] {
        assert_eq!(number.grad, [0.0, 0.0], "{name}");
    }
    // Next to the end of the domain slopes are huge or tiny, but a variable that is not there contributes 0.
    for number in [tiny.sqrt(), tiny.ln(), tiny.powf(D::lit(0.5)), tiny.powf(D::lit(2.0))] {
        assert_eq!(number.grad[0], 0.0);
        assert!(!number.grad[1].is_nan());
    }
}

#[test]
fn saturation_at_zero() {
    // The identity inside the ball, also at its centre; nothing moves in a ball of radius 0.
    let at = [D::variable(0.0, 0), D::variable(0.0, 1)];
    assert_eq!(gsat(D::one(), at).map(|y| y.grad), [[1.0, 0.0], [0.0, 1.0]]);
    let at = [D::variable(3.0, 0), D::variable(4.0, 1)];
    assert_eq!(gsat(D::zero(), at).map(|y| y.grad), [[0.0; 2]; 2]);
    assert_eq!(sat(D::zero(), D::variable(0.0, 0)).value, 0.0);
}

#[test]
fn choice_drops_the_other_side() {
    let x = D::variable(0.0, 0);
    let singular = D::one() / x;
    assert!(singular.grad[0].is_infinite());
    let chosen = D::select(D::zero().lt(x), singular, x);
    assert_eq!((chosen.value, chosen.grad), (0.0, [1.0, 0.0]));
}

#[test]
fn ties_take_the_second_number() {
    let (x, y) = (D::variable(1.0, 0), D::variable(1.0, 1));
    assert_eq!(x.min(y).grad, [0.0, 1.0]);
    assert_eq!(x.max(y).grad, [0.0, 1.0]);
}

#[test]
fn second_derivative_by_nesting() {
    // (x³)'' = 6x
    let x = Dual::<Dual<f64, 1>, 1> {
        value: Dual::variable(2.0, 0),
        grad: [Dual::constant(1.0)],
    };
    let cube = x * x * x;
    assert_eq!(cube.value.value, 8.0);
    assert_eq!(cube.grad[0].value, 12.0);
    assert_eq!(cube.grad[0].grad[0], 12.0);
}

#[test]
fn variable_out_of_range_is_constant() {
    assert_eq!(D::variable(2.0, 2), D::constant(2.0));
}
