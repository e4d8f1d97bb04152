//! Lanes equal scalar f64 bit for bit, for every operation and any numbers, NaN and infinities included.
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip_core::scalar::{Dual, F64x8, LaneMask, Lanes, Mask, Real, vector};
use stickslip_core::sets::{dead_zone, dio_resolvent, gsat, sat, soft_threshold};

/// Any number at all, with the special ones often.
fn number() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        709.79,
        -745.2,
    ];
    prop_oneof![
        2 => prop::sample::select(special.to_vec()),
        2 => any::<u64>().prop_map(f64::from_bits),
        3 => -800.0..800.0,
        3 => -2.0..2.0,
    ]
}

fn eight() -> impl Strategy<Value = [f64; 8]> {
    prop::array::uniform8(number())
}

/// The same bits, or both NaN: the sign and payload of a NaN that an operation makes are not defined by the language.
fn equal(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Compares an expression over lanes with the same expression over f64, lane by lane.
macro_rules! check {
    ($a:ident, $b:ident, $c:ident: $($expression:expr),+ $(,)?) => {$({
        fn law<R: Real>($a: R, $b: R, $c: R) -> R {
            let _ = ($a, $b, $c);
            $expression
        }
        let lanes = law(Lanes($a), Lanes($b), Lanes($c));
        for lane in 0..8 {
            let single = law($a[lane], $b[lane], $c[lane]);
            prop_assert!(
                equal(lanes.0[lane], single),
                "{} of {} {} {}: {} in lanes, {} alone",
                stringify!($expression), $a[lane], $b[lane], $c[lane], lanes.0[lane], single
            );
        }
    })+};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_operation(a in eight(), b in eight(), c in eight()) {
        check!(a, b, c:
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            { let mut s = a; s += b; s -= c; s },
            a.sqrt(),
            a.exp(),
            a.ln(),
            a.abs(),
            a.min(b),
            a.max(b),
            a.copysign(b),
            a.clamp(b, c),
            a.powf(b),
            R::lit(0.1),
            R::zero() - R::one(),
            R::select(a.lt(b), a, c),
            R::select(a.le(b), a, c),
            R::select(a.same(b), a, c),
            R::select(!a.lt(b), a, c),
            R::select(a.lt(b) & b.lt(c), a, c),
            R::select(a.lt(b) | b.lt(c), a, c),
        );
    }

    #[test]
    fn resolvents_and_vectors(a in eight(), b in eight(), c in eight()) {
        check!(a, b, c:
            sat(a, b),
            gsat(a, [b])[0],
            gsat(a, [b, c])[0],
            gsat(a, [b, c, a])[1],
            soft_threshold(a, [b, c])[1],
            soft_threshold(a, [b])[0],
            dead_zone(a, b),
            dio_resolvent(a),
            vector::dot([a, b], [b, c]),
            vector::norm([a, b, c]),
        );
    }

    #[test]
    fn comparisons(a in eight(), b in eight()) {
        for lane in 0..8 {
            prop_assert_eq!(Lanes(a).lt(Lanes(b)).lane(lane), a[lane] < b[lane]);
            prop_assert_eq!(Lanes(a).le(Lanes(b)).lane(lane), a[lane] <= b[lane]);
            prop_assert_eq!(Lanes(a).same(Lanes(b)).lane(lane), a[lane] == b[lane]);
        }
    }

    #[test]
    fn masks(a in any::<[bool; 8]>(), b in any::<[bool; 8]>()) {
        let (x, y) = (LaneMask::new(a), LaneMask::new(b));
        for lane in 0..8 {
            prop_assert_eq!((x & y).lane(lane), a[lane] & b[lane]);
            prop_assert_eq!((x | y).lane(lane), a[lane] | b[lane]);
            prop_assert_eq!((!x).lane(lane), !a[lane]);
        }
        prop_assert_eq!(x.all(), a == [true; 8]);
        prop_assert_eq!(x.any(), a != [false; 8]);
    }

    #[test]
    fn derivatives_in_lanes(a in prop::array::uniform8(0.1..3.0), b in prop::array::uniform8(-2.0..2.0)) {
        fn law<R: Real>(x: R, p: R) -> R {
            sat(R::one(), x * p) + (x.powf(p) / (R::one() + p * p)).sqrt() * (-(x * x)).exp()
        }
        let lanes: Dual<F64x8, 2> = law(Dual::variable(Lanes(a), 0), Dual::variable(Lanes(b), 1));
        for lane in 0..8 {
            let single: Dual<f64, 2> = law(Dual::variable(a[lane], 0), Dual::variable(b[lane], 1));
            prop_assert!(equal(lanes.value.0[lane], single.value));
            prop_assert!(equal(lanes.grad[0].0[lane], single.grad[0]));
            prop_assert!(equal(lanes.grad[1].0[lane], single.grad[1]));
        }
    }
}

#[test]
fn all_and_any_of_one_exception() {
    for lane in 0..8 {
        let mut truth = [false; 8];
        truth[lane] = true;
        let mask = LaneMask::new(truth);
        assert!(mask.any() && !mask.all());
        assert!((!mask).any() && !(!mask).all());
    }
}
