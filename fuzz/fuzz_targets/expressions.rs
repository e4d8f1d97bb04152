//! Expressions: every way to evaluate one gives the same bits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::profile::{BLOCK, Expression, Profile};
use stickslip::quantity::Dimension;

/// Points where functions tend to change: zeros, poles, ends of ranges.
const POINTS: [f64; BLOCK] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.25,
    1e-3,
    -1e-3,
    1e-9,
    7.0,
    10.0,
    -10.0,
    100.0,
    1e3,
    -1e3,
    1e6,
    1e9,
    1e15,
    1e16,
    -1e16,
    1e100,
    -1e100,
    1e300,
    1e-300,
    5e-324,
    f64::MAX,
    f64::MIN,
    0.1,
    0.3,
];

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fuzz_target!(|text: &str| {
    let expression = match Expression::parse(text, &["t"]) {
        Ok(expression) => expression,
        Err(error) => {
            let span = &error.span;
            assert!(
                span.start <= span.end && span.end <= text.len(),
                "{span:?} is not in the text"
            );
            assert!(
                text.is_char_boundary(span.start) && text.is_char_boundary(span.end),
                "{span:?} cuts a character"
            );
            assert!(!error.to_string().is_empty());
            // A profile reads more: quantities.
            let _ = Profile::parse(text, Dimension::FORCE);
            return;
        }
    };
    let again = Expression::parse(&format!(" {text} "), &["t"]).expect("space around an expression means nothing");
    assert_eq!(
        expression.constant().map(f64::to_bits),
        again.constant().map(f64::to_bits)
    );

    let mut block = [0.0; BLOCK];
    expression.evaluate_block(&POINTS, &mut block);
    for (&t, &value) in POINTS.iter().zip(&block) {
        let alone = expression.evaluate(&[t]);
        assert!(same(alone, value), "at {t}: {alone} alone, {value} in a block");
        let [with_slope, _] = expression.value_and_slope(t);
        assert!(
            same(alone, with_slope),
            "at {t}: {alone}, {with_slope} beside its slope"
        );
        if let Some(constant) = expression.constant() {
            assert!(same(alone, constant) && constant.is_finite());
        }
        let next = expression.next_threshold(t);
        assert!(next > t, "the threshold after {t} is {next}");
    }
    // All points take the same branch: the block does not fall back to one by one.
    for t in POINTS {
        expression.evaluate_block(&[t; BLOCK], &mut block);
        let alone = expression.evaluate(&[t]);
        assert!(
            block.iter().all(|&value| same(value, alone)),
            "at {t}: {alone} alone, {block:?}"
        );
    }
});
