//! Numbers with units: what is read is printed and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::quantity::{Dimension, QuantityError, Unit, parse_quantity, quantity};

fn sound(text: &str, error: &QuantityError) {
    let span = error.span();
    assert!(
        span.start <= span.end && span.end <= text.len(),
        "{span:?} is not in {text:?}"
    );
    assert!(
        text.is_char_boundary(span.start) && text.is_char_boundary(span.end),
        "{span:?} cuts a character of {text:?}"
    );
    assert!(!error.to_string().is_empty());
}

/// Whether its powers are ones that may be written, which go to 20; products of units may have larger ones.
fn readable(dimension: Dimension) -> bool {
    [dimension.length, dimension.mass, dimension.time]
        .iter()
        .all(|power| power.unsigned_abs() <= 20)
}

fuzz_target!(|text: &str| {
    match parse_quantity(text) {
        Ok(Some((value, dimension))) => {
            assert!(value.is_finite(), "{value}");
            assert_eq!(quantity(text, dimension), Ok(value));
            let printed = match dimension {
                Dimension::NONE => format!("{value:e}"),
                _ => format!("{value:e} {dimension}"),
            };
            let read = quantity(&printed, dimension);
            if !readable(dimension) {
                return;
            }
            assert_eq!(
                read.as_ref().map(|value| value.to_bits()),
                Ok(value.to_bits()),
                "{printed:?} is {read:?}"
            );
        }
        Ok(None) => {
            if let Ok(value) = quantity(text, Dimension::FORCE) {
                assert!(value.is_finite());
                assert_eq!(text.trim().parse(), Ok(value));
            }
        }
        Err(error) => sound(text, &error),
    }
    match Unit::parse(text) {
        Ok(unit) => {
            let printed = unit.dimension().to_string();
            if readable(unit.dimension()) {
                assert_eq!(
                    Unit::parse(&printed).map(|unit| unit.dimension()),
                    Ok(unit.dimension()),
                    "{printed:?}"
                );
            }
            for value in [0.0, 1.0, -2.5, 0.9, 1e-7, 1e20, 5e-324, f64::MAX] {
                let converted = unit.to_si(value);
                assert!(!converted.is_nan(), "{value} {text} is not a number");
                if let Ok(Some((read, dimension))) = parse_quantity(&format!("{value:e} {text}")) {
                    assert_eq!(
                        (read.to_bits(), dimension),
                        (converted.to_bits(), unit.dimension()),
                        "{value} {text}"
                    );
                }
            }
        }
        Err(error) => sound(text, &error),
    }
});
