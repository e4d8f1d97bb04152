//! The resolvents against the inclusions they solve (seed 001, eqs 1 to 5; seed 004, eqs 15 and 18).
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip_core::scalar::{Real, vector};
use stickslip_core::sets::{dead_zone, dio_resolvent, gsat, sat, soft_threshold};

/// Length by libm's hypot, not by our code.
fn length<const N: usize>(a: [f64; N]) -> f64 {
    a.into_iter().fold(0.0, libm::hypot)
}

/// How far y is from the set bound·sgn(d), and what rounding of d = x − y allows.
fn distance_to_friction_set<const N: usize>(bound: f64, x: [f64; N], y: [f64; N]) -> (f64, f64) {
    let d: [f64; N] = core::array::from_fn(|i| x[i] - y[i]);
    let slip = length(d);
    if slip == 0.0 {
        return (f64::max(length(y) - bound, 0.0), 2.0 * f64::EPSILON * bound);
    }
    let distance = length(core::array::from_fn::<f64, N, _>(|i| y[i] - bound * d[i] / slip));
    (distance, 8.0 * f64::EPSILON * bound * (1.0 + length(x) / slip))
}

/// (Σ y² − F²)/(2F²) with the rounding errors of squares and sum added back.
fn relative_excess<const N: usize>(bound: f64, y: [f64; N]) -> f64 {
    let square = |a: f64| (a * a, libm::fma(a, a, -(a * a)));
    let (limit, limit_error) = square(bound);
    let (mut sum, mut errors) = (-limit, -limit_error);
    for y in y {
        let (product, error) = square(y);
        let next = sum + product;
        let lost = if sum.abs() > product.abs() {
            (sum - next) + product
        } else {
            (product - next) + sum
        };
        errors += error + lost;
        sum = next;
    }
    (sum + errors) / (2.0 * limit)
}

/// Everything a saturation in N dimensions must do.
fn saturation<const N: usize>(bound: f64, x: [f64; N], other: [f64; N], factor: f64) -> Result<(), TestCaseError> {
    let y = gsat(bound, x);

    // y = gsat(F, x) ⟹ y ∈ F sgn(x − y)
    let (distance, allowed) = distance_to_friction_set(bound, x, y);
    prop_assert!(distance <= allowed, "{distance} from the set, {allowed} allowed");

    // y ∈ F sgn(x − y) ⟹ y = gsat(F, x): every such pair is (y, y) inside the ball or (y, y + s y) on its surface.
    let inside = vector::scale(other, 0.99 * bound / f64::max(length(other), 1.0));
    prop_assert_eq!(gsat(bound, inside), inside);
    let size = length(other);
    if size > 0.0 {
        let surface = vector::scale(other, bound / size);
        let beyond = vector::scale(surface, 1.0 + factor);
        let back = gsat(bound, beyond);
        prop_assert!(length(vector::sub(back, surface)) <= 8.0 * f64::EPSILON * bound);
    }

    // It is the nearest point of the ball: (x − y)·(w − y) ≤ 0 for every w of the ball.
    let work = vector::dot(vector::sub(x, y), vector::sub(inside, y));
    prop_assert!(work <= 1e-14 * bound * (bound + length(x)));

    // Unchanged inside, on the surface to 4 ulp (an ulp is at least half an epsilon) outside.
    if length(x) <= bound * (1.0 - 4.0 * f64::EPSILON) {
        prop_assert_eq!(y, x);
    }
    if length(x) >= bound * (1.0 + 4.0 * f64::EPSILON) {
        prop_assert!(relative_excess(bound, y).abs() <= 2.0 * f64::EPSILON);
    }

    // The threshold is what saturation leaves.
    let left = soft_threshold(bound, x);
    let tolerance = 8.0 * f64::EPSILON * (length(x) + bound);
    prop_assert!(length(vector::sub(vector::sub(x, y), left)) <= tolerance);
    prop_assert_eq!(left == [0.0; N], x == y);
    Ok(())
}

fn component() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -10.0..10.0, 1 => -1e6..1e6, 1 => Just(0.0), 1 => Just(-0.0), 1 => -1e-6..1e-6]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn friction_set_in_one_dimension(f in 1e-3..20.0, x in component(), w in component(), s in 0.0..3.0) {
        saturation(f, [x], [w], s)?;
        // One component: the clamp of the standard library, exactly.
        prop_assert_eq!(sat(f, x), f64::clamp(x, -f, f));
        prop_assert_eq!(gsat(f, [x]), [f64::clamp(x, -f, f)]);
        prop_assert_eq!(soft_threshold(f, [x]), [dead_zone(f, x)]);
        prop_assert_eq!(dead_zone(f, x), if x > f { x - f } else if x < -f { x + f } else { 0.0 });
    }

    #[test]
    fn friction_set_in_two_dimensions(
        f in 1e-3..20.0, x in prop::array::uniform2(component()), w in prop::array::uniform2(component()), s in 0.0..3.0
    ) {
        saturation(f, x, w, s)?;
    }

    #[test]
    fn friction_set_in_three_dimensions(
        f in 1e-3..20.0, x in prop::array::uniform3(component()), w in prop::array::uniform3(component()), s in 0.0..3.0
    ) {
        saturation(f, x, w, s)?;
    }

    // y ∈ dio(x + y) ⟺ y = max(0, −x): no force with a gap left, any force ≥ 0 without, no overlap.
    #[test]
    fn contact_set(x in component(), push in 0.0..1e3f64) {
        let y = dio_resolvent(x);
        let gap = x + y;
        prop_assert!(y >= 0.0 && gap >= 0.0 && (gap == 0.0 || y == 0.0));
        prop_assert_eq!(dio_resolvent(-push), push);
        prop_assert_eq!(dio_resolvent(push), 0.0);
    }

    #[test]
    fn length_of_any_size(x in prop::array::uniform3(-1.0..1.0), power in -1070..1020) {
        let x = x.map(|x| libm::ldexp(x, power));
        let (ours, expected) = (vector::norm(x), length(x));
        prop_assert!((ours - expected).abs() <= 4.0 * f64::EPSILON * expected + 5e-324, "{ours} {expected}");
    }
}

#[test]
fn no_nan_at_zero() {
    for f in [0.0, 1.0, f64::MAX, 5e-324, -1.0] {
        assert_eq!(sat(f, 0.0), 0.0);
        assert_eq!(gsat(f, [0.0; 2]), [0.0; 2]);
        assert_eq!(gsat(f, [0.0; 3]), [0.0; 3]);
        assert_eq!(soft_threshold(f, [0.0; 3]), [0.0; 3]);
        assert_eq!(dead_zone(f, 0.0), 0.0);
    }
    // A bound of 0 or below lets nothing through and holds nothing back.
    for f in [0.0, -0.0, -2.0] {
        assert_eq!(gsat(f, [3.0]), [0.0]);
        assert_eq!(gsat(f, [3.0, -4.0]), [0.0; 2]);
        assert_eq!(soft_threshold(f, [3.0, -4.0]), [3.0, -4.0]);
    }
}

#[test]
fn exact_triangle() {
    assert_eq!(gsat(5.0, [6.0, 8.0]), [3.0, 4.0]);
    assert_eq!(gsat(5.0, [3.0, 4.0]), [3.0, 4.0]);
    assert_eq!(soft_threshold(5.0, [6.0, 8.0]), [3.0, 4.0]);
    assert_eq!(gsat(5.0f32, [6.0, 8.0]), [3.0, 4.0]);
    assert_eq!(vector::norm([3.0, -4.0]), 5.0);
    assert_eq!(vector::dot([3.0, 4.0], [2.0, -1.0]), 2.0);
    assert_eq!(vector::add([3.0, 4.0], [2.0, -1.0]), [5.0, 3.0]);
}

#[test]
fn squares_that_overflow_or_vanish() {
    let half = core::f64::consts::FRAC_1_SQRT_2;
    for size in [1e300, 1.7e308, 1e-300] {
        for bound in [1.0, 1e-150, 1e200] {
            let y = gsat(bound, [size, size]);
            let expected = if size < bound { size } else { bound * half };
            assert!((y[0] / expected - 1.0).abs() < 1e-15, "{size} {bound} {y:?}");
            assert_eq!(y[0], y[1]);
        }
    }
    assert_eq!(gsat(1e-310, [3e-320, 4e-320]), [3e-320, 4e-320]);
}

#[test]
fn nan_is_not_hidden() {
    assert!(sat(1.0, f64::NAN).is_nan());
    assert!(gsat(1.0, [f64::NAN, 0.0])[0].is_nan());
    assert!(soft_threshold(1.0, [f64::NAN])[0].is_nan());
    assert!(soft_threshold(1.0, [f64::NAN, 0.0])[0].is_nan());
    assert!(dead_zone(1.0, f64::NAN).is_nan());
    assert!(dio_resolvent(f64::NAN).is_nan());
    assert!(Real::clamp(f64::NAN, -1.0, 1.0).is_nan());
}
