//! exp and ln of f64 against the libm crate, correctly rounded values and exact identities.
#![allow(missing_docs, clippy::approx_constant, clippy::excessive_precision)]

use proptest::prelude::*;
use stickslip_core::scalar::elementary::{exp, ln};

/// How many representable numbers apart two finite numbers are.
fn ulps(a: f64, b: f64) -> u64 {
    let ordered = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}

/// Correctly rounded from 200-bit arithmetic, with the worst arguments found in 400 000 random ones.
const EXP: [(f64, f64); 24] = [
    (1.0, 2.718281828459045),
    (-1.0, 0.36787944117144233),
    (0.5, 1.6487212707001282),
    (1e-10, 1.0000000001),
    (-1e-17, 1.0),
    (0.3465735902799726, 1.414213562373095),
    (0.34657359027997275, 1.4142135623730951),
    (-0.3465735902799726, 0.7071067811865476),
    (2.0, 7.38905609893065),
    (10.0, 22026.465794806718),
    (-20.5, 1.2501528663867426e-09),
    (88.7, 3.325986980250579e+38),
    (-88.7, 3.006626321563833e-39),
    (300.25, 2.4941248615349213e+130),
    (700.0, 1.0142320547350045e+304),
    (709.782712893384, 1.7976931348622732e+308),
    (-700.0, 9.85967654375977e-305),
    (-708.3964185322641, 2.2250738585072626e-308),
    (-708.5, 2.006132305331306e-308),
    (-720.125, 1.79343738846e-313),
    (-744.0, 1e-323),
    (-745.1332191019411, 5e-324),
    (16.990801988065446, 23933793.8800792),
    (-708.5835478500342, 1.845334924905688e-308),
];

const LN: [(f64, f64); 21] = [
    (2.0, 0.6931471805599453),
    (10.0, 2.302585092994046),
    (0.5, -0.6931471805599453),
    (1.0000000000000002, 2.2204460492503128e-16),
    (0.9999999999999999, -1.1102230246251565e-16),
    (1.1, 0.09531017980432493),
    (0.9, -0.10536051565782628),
    (0.7071067811865475, -0.34657359027997275),
    (0.7071067811865476, -0.3465735902799726),
    (1.4142135623730951, 0.3465735902799727),
    (1.4142135623730954, 0.34657359027997287),
    (0.7009945795750679, -0.35525512439531964),
    (3.0, 1.0986122886681098),
    (1e-05, -11.512925464970229),
    (123456.789, 11.723646487185881),
    (1e+100, 230.25850929940458),
    (1e-300, -690.7755278982137),
    (1.7976931348623157e+308, 709.782712893384),
    (2.2250738585072014e-308, -708.3964185322641),
    (1e-310, -713.8013788281542),
    (5e-324, -744.4400719213812),
];

#[test]
fn known_values_to_one_unit_in_the_last_place() {
    for (x, expected) in EXP {
        assert!(ulps(exp(x), expected) <= 1, "exp({x}) = {}", exp(x));
    }
    for (x, expected) in LN {
        assert!(ulps(ln(x), expected) <= 1, "ln({x}) = {}", ln(x));
    }
    // Below 1 ulp each, most are the correctly rounded number itself.
    let exact = EXP.iter().filter(|(x, e)| exp(*x) == *e).count() + LN.iter().filter(|(x, e)| ln(*x) == *e).count();
    assert!(exact >= 40, "{exact} of 45");
}

#[test]
fn special_arguments_of_exp() {
    assert_eq!(exp(0.0), 1.0);
    assert_eq!(exp(-0.0), 1.0);
    assert_eq!(exp(5e-324), 1.0);
    assert_eq!(exp(f64::INFINITY), f64::INFINITY);
    assert_eq!(exp(f64::NEG_INFINITY).to_bits(), 0.0f64.to_bits());
    assert_eq!(exp(f64::MAX), f64::INFINITY);
    assert_eq!(exp(f64::MIN).to_bits(), 0.0f64.to_bits());
    // The first arguments beyond the largest number and below half the smallest.
    assert_eq!(exp(709.782_712_893_384_1), f64::INFINITY);
    assert_eq!(exp(-745.133_219_101_941_2).to_bits(), 0.0f64.to_bits());
    assert!(exp(f64::NAN).is_nan());
    assert!(exp(-f64::NAN).is_nan());
}

#[test]
fn special_arguments_of_ln() {
    assert_eq!(ln(1.0).to_bits(), 0.0f64.to_bits());
    assert_eq!(ln(0.0), f64::NEG_INFINITY);
    assert_eq!(ln(-0.0), f64::NEG_INFINITY);
    assert_eq!(ln(f64::INFINITY), f64::INFINITY);
    for x in [-5e-324, -1.0, f64::MIN, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
        assert!(ln(x).is_nan(), "ln({x})");
    }
}

#[test]
fn powers_of_two() {
    for k in -1074..=1023 {
        let power = libm::ldexp(1.0, k);
        assert!(
            ulps(ln(power), f64::from(k) * core::f64::consts::LN_2) <= 1,
            "ln(2^{k})"
        );
    }
}

fn exp_argument() -> impl Strategy<Value = f64> {
    prop_oneof![-746.0..710.0, -0.7..0.7, -30.0..30.0, -1e-8..1e-8, -746.0..-707.0]
}

fn ln_argument() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1..f64::INFINITY.to_bits()).prop_map(f64::from_bits),
        (1..f64::MIN_POSITIVE.to_bits()).prop_map(f64::from_bits),
        0.5..2.0,
        0.99..1.01,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    // libm stays below 1 ulp too, so the two may at most be neighbours.
    #[test]
    fn exp_is_libms_or_its_neighbour(x in exp_argument()) {
        prop_assert!(ulps(exp(x), libm::exp(x)) <= 1);
    }

    #[test]
    fn ln_is_libms_or_its_neighbour(x in ln_argument()) {
        prop_assert!(ulps(ln(x), libm::log(x)) <= 1);
    }

    #[test]
    fn each_undoes_the_other(x in -700.0..700.0) {
        prop_assert!((ln(exp(x)) - x).abs() <= 2.0 * f64::EPSILON * f64::max(x.abs(), 1.0));
    }

    #[test]
    fn exp_of_the_opposite_is_the_reciprocal(x in -700.0..700.0) {
        prop_assert!((exp(x) * exp(-x) - 1.0).abs() <= 2.0 * f64::EPSILON);
    }
}
