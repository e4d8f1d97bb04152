//! The steady curves against closed forms, and the slip speed of seed 000, eq 14 for any of them.
#![allow(missing_docs)]

use proptest::prelude::*;
use std::cell::Cell;
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::friction::implicit::resolve;
use stickslip_core::scalar::{Dual, F64x8, Lanes, Real};

fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// FC = 10, FS = 15, v_s = 0.1, δ = 2: the example of the science page.
fn example() -> Stribeck<f64> {
    Stribeck::new(10.0, 15.0, 0.0, Some(0.1), 2.0)
}

#[test]
fn stribeck_curve_has_the_values_of_its_equation() {
    let curve = example();
    assert_eq!(curve.dry(0.0, 1.0), 15.0);
    // exp(−1) = 0.36787944117144233, exp(−4) = 0.01831563888873418.
    assert!((curve.dry(0.1, 1.0) - (10.0 + 5.0 * 0.367_879_441_171_442_33)).abs() < 4e-15);
    assert!((curve.dry(0.2, 3.0) - 3.0 * (10.0 + 5.0 * 0.018_315_638_888_734_18)).abs() < 1e-14);
    assert_eq!(curve.dry(100.0, 1.0), 10.0);
    assert_eq!(curve.holding(2.0), 30.0);
    // d/dv at v_s: −(FS − FC)·2/v_s·exp(−1).
    assert!((curve.slope(0.1, 1.0) + 100.0 * 0.367_879_441_171_442_33).abs() < 1e-13);
    let viscous = Stribeck::new(10.0, 10.0, 5.0, None, 2.0);
    assert_eq!(viscous.total(0.5, 2.0), 22.5);
    assert_eq!((viscous.slope(0.5, 2.0), viscous.viscous), (0.0, 5.0));
    // Without a Stribeck velocity the static limit acts only at rest (seed 000, eq 4).
    let memory = Stribeck::new(10.0, 13.0, 0.0, None, 2.0);
    assert_eq!((memory.dry(0.0, 1.0), memory.holding(1.0)), (10.0, 13.0));
    assert!(Curve::<f64>::constant(&memory) && !Curve::<f64>::constant(&viscous) && !Curve::<f64>::constant(&curve));
}

/// (14) has one solution if (T/M)·max|dg/dv| < 1: M = 1 gives T < 0.0233164 s (science page, errors of seed 000, 3).
#[test]
fn steepest_fall_gives_the_limit_of_uniqueness() {
    assert!((1.0 / example().steepest_fall() - 0.023_316_4).abs() < 5e-8);
    // δ = 2: v_s/((FS − FC)·√(2/e)); δ = 1: v_s/(FS − FC); δ < 1: never.
    let closed = 0.1 / (5.0 * (2.0 / std::f64::consts::E).sqrt());
    assert!((1.0 / example().steepest_fall() - closed).abs() < 1e-16);
    let fall = |exponent| Stribeck::new(10.0, 15.0, 0.0, Some(0.1), exponent).steepest_fall();
    assert!((fall(1.0) - 50.0).abs() < 1e-12);
    assert_eq!(fall(0.5), f64::INFINITY);
    assert_eq!(Stribeck::coulomb(10.0).steepest_fall(), 0.0);
    assert_eq!(Stribeck::new(10.0, 5.0, 0.0, Some(0.1), 2.0).steepest_fall(), 0.0);
}

#[test]
fn table_is_linear_between_its_points() {
    let table = Table::new(&[0.0, 0.5, 2.0], &[3.0, 1.0, 4.0]).unwrap();
    for (speed, force, slope) in [
        (0.0, 3.0, -4.0),
        (0.25, 2.0, -4.0),
        (0.5, 1.0, 2.0),
        (1.0, 2.0, 2.0),
        (1.75, 3.5, 2.0),
        (2.0, 4.0, 0.0),
        (9.0, 4.0, 0.0),
    ] {
        assert_eq!(
            (table.dry(speed, 2.0), table.slope(speed, 2.0)),
            (2.0 * force, 2.0 * slope)
        );
    }
    assert_eq!(Curve::<f64>::holding(&table, 2.0), 6.0);
    assert_eq!(Curve::<f64>::steepest_fall(&table), 4.0);
    assert!(!Curve::<f64>::constant(&table));
    assert!(Curve::<f64>::constant(&Table::new(&[0.0], &[3.0]).unwrap()));
}

#[test]
fn impossible_tables_are_refused() {
    for (speed, force) in [
        (&[][..], &[][..]),
        (&[0.1], &[1.0]),
        (&[0.0, 1.0], &[1.0]),
        (&[0.0, 0.0], &[1.0, 2.0]),
        (&[0.0, 1.0, 0.5], &[1.0, 2.0, 3.0]),
        (&[0.0, 1.0], &[1.0, -2.0]),
        (&[0.0, 1.0], &[1.0, f64::NAN]),
        (&[0.0, f64::INFINITY], &[1.0, 2.0]),
        (&[0.0, 1e-310], &[1.0, 2.0]),
    ] {
        assert!(Table::new(speed, force).is_none(), "{speed:?} {force:?}");
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// The slope against the dual number that goes through `dry`, and against a difference.
    #[test]
    fn slope_is_the_derivative(
        kinetic in 0.1..10.0f64, extra in -0.05..10.0f64, velocity in decades(1e-3, 10.0), exponent in 0.3..4.0f64,
        ratio in decades(0.05, 4.0), load in 0.0..5.0f64,
    ) {
        let curve = Stribeck::new(kinetic, kinetic + extra, 0.0, Some(velocity), exponent);
        let speed = ratio * velocity;
        let slope = curve.slope(speed, load);
        let dual = curve.lift::<Dual<f64, 1>>().dry(Dual::variable(speed, 0), Dual::lit(load)).grad[0];
        let size = 1e-12 + load * extra.abs() / speed;
        prop_assert!((slope - dual).abs() <= 1e-12 * size, "{slope} and {dual}");
        let h = 1e-5 * speed;
        let difference = (curve.dry(speed + h, load) - curve.dry(speed - h, load)) / (2.0 * h);
        let rounding = 1e-10 * load * (kinetic + extra.abs()) / speed;
        prop_assert!((slope - difference).abs() <= 1e-7 * size + rounding, "{slope} and {difference}");
        // The steepest fall bounds it.
        prop_assert!(-slope <= load * curve.steepest_fall() * (1.0 + 1e-12) + 1e-300);
    }
}

// ---- The slip speed -------------------------------------------------------------------------------------------------

/// Counts evaluations of a curve.
struct Counted<'a, C> {
    curve: &'a C,
    evaluations: &'a Cell<u32>,
}

impl<R: Real, C: Curve<R>> Curve<R> for Counted<'_, C> {
    fn dry(&self, speed: R, load: R) -> R {
        self.evaluations.set(self.evaluations.get() + 1);
        self.curve.dry(speed, load)
    }
    fn slope(&self, speed: R, load: R) -> R {
        self.curve.slope(speed, load)
    }
    fn viscous(&self) -> R {
        self.curve.viscous()
    }
    fn holding(&self, load: R) -> R {
        self.curve.holding(load)
    }
    fn constant(&self) -> bool {
        self.curve.constant()
    }
    fn steepest_fall(&self) -> f64 {
        self.curve.steepest_fall()
    }
}

/// What a search may cost: the rounds of Newton's method, then the halvings from a bracket that Newton's method left.
const MOST_EVALUATIONS: u32 = 160;

/// Solves s + W·g(s) = |v̄| and checks the root: no number is nearer to it than rounding allows.
fn check<C: Curve<f64>>(curve: &C, load: f64, speed: f64, compliance: f64) -> Result<u32, TestCaseError> {
    let evaluations = Cell::new(0);
    let counted = Counted {
        curve,
        evaluations: &evaluations,
    };
    let outcome = resolve(&counted, load, [speed], compliance, false);
    let slip = outcome.velocity[0];
    prop_assert!((0.0..=speed).contains(&slip), "slip {} of {}", slip, speed);
    prop_assert!(
        evaluations.get() <= MOST_EVALUATIONS,
        "{} evaluations",
        evaluations.get()
    );
    if outcome.stuck {
        prop_assert!(slip == 0.0 && speed <= compliance * curve.dry(0.0, load));
        return Ok(0);
    }
    // f = φ(v) exactly.
    prop_assert_eq!(outcome.force[0], -curve.total(slip, load));
    let excess = |s: f64| s + compliance * curve.total(s, load) - speed;
    // Rounding of the sum, and of the curve at a speed that is one ulp away.
    let ulp = f64::EPSILON * speed;
    let sensitivity = compliance * curve.slope(slip, load).abs() * slip * f64::EPSILON;
    let good = excess(slip).abs() <= 4.0 * ulp + 2.0 * sensitivity;
    // Or the sign changes between neighbours: a kink of a table, steeper than numbers can resolve.
    let crossing = excess(slip.next_down()) <= 0.0 && excess(slip.next_up()) >= 0.0;
    prop_assert!(
        good || crossing,
        "slip {} of {}: residual {} ulp",
        slip,
        speed,
        excess(slip) / ulp
    );
    Ok(evaluations.get())
}

/// A speed that slips: 1 + `above` times what the friction at rest can stop.
fn slipping<C: Curve<f64>>(curve: &C, load: f64, compliance: f64, above: f64) -> f64 {
    (compliance * curve.dry(0.0, load)).max(1e-300) * (1.0 + above)
}

proptest! {
    #![proptest_config(config(5000))]

    #[test]
    fn stribeck_slip_speed_never_fails(
        kinetic in decades(1e-3, 1e3), ratio in 1.0..5.0f64, viscous in prop_oneof![Just(0.0), decades(1e-6, 1e6)],
        velocity in decades(1e-6, 1e3), exponent in 0.2..5.0f64, compliance in decades(1e-12, 1e8), load in decades(1e-3, 1e3),
        above in prop_oneof![decades(1e-15, 1e-3), decades(1e-3, 1e6)],
    ) {
        let curve = Stribeck::new(kinetic, ratio * kinetic, viscous, Some(velocity), exponent);
        check(&curve, load, slipping(&curve, load, compliance, above), compliance)?;
    }

    #[test]
    fn table_slip_speed_never_fails(
        gaps in prop::collection::vec(decades(1e-6, 1e2), 1..8), forces in prop::collection::vec(prop_oneof![Just(0.0), decades(1e-3, 1e3)], 9),
        compliance in decades(1e-12, 1e8), above in prop_oneof![decades(1e-15, 1e-3), decades(1e-3, 1e6)],
    ) {
        let mut speeds = vec![0.0];
        for gap in gaps {
            speeds.push(speeds[speeds.len() - 1] + gap);
        }
        let table = Table::new(&speeds, &forces[..speeds.len()]).unwrap();
        check(&table, 1.0, slipping(&table, 1.0, compliance, above), compliance)?;
    }

    #[test]
    fn lanes_find_the_same_slip_speed(
        compliance in decades(1e-8, 1e8), velocity in decades(1e-3, 1e3), exponent in 0.2..5.0f64,
        above in prop::array::uniform8(decades(1e-15, 1e6)),
    ) {
        let curve = Stribeck::new(1.0, 3.0, 0.1, Some(velocity), exponent);
        let speeds = above.map(|above| slipping(&curve, 1.0, compliance, above));
        let lanes = resolve(
            &curve.lift::<F64x8>(), F64x8::one(), [Lanes(speeds)], F64x8::lit(compliance), F64x8::one().lt(F64x8::zero()),
        );
        for (lane, speed) in speeds.into_iter().enumerate() {
            let single = resolve(&curve, 1.0, [speed], compliance, false);
            prop_assert_eq!(lanes.velocity[0].0[lane].to_bits(), single.velocity[0].to_bits());
            prop_assert_eq!(lanes.force[0].0[lane].to_bits(), single.force[0].to_bits());
        }
    }

    /// Where W·g falls faster than 1 there may be three roots: the fastest is taken. It is found here by walking down
    /// from |v̄| on a fine grid until the residual changes sign.
    #[test]
    fn several_roots_give_the_fastest(exponent in 0.5..3.0f64, ratio in 1.5..4.0f64, width in 0.01..0.5f64, above in 0.001..1.0f64) {
        let curve = Stribeck::new(1.0, ratio, 0.0, Some(width), exponent);
        let speed = slipping(&curve, 1.0, 1.0, above);
        let slip = resolve(&curve, 1.0, [speed], 1.0, false).velocity[0];
        let excess = |s: f64| s + curve.dry(s, 1.0) - speed;
        const GRID: usize = 20_000;
        let first = (0..=GRID).rev().map(|i| speed * i as f64 / GRID as f64).find(|s| excess(*s) <= 0.0).unwrap();
        // `first` lies below the fastest root by at most a cell; a slower root would be below it.
        prop_assert!(slip >= first, "slip {} but the fastest root is above {}", slip, first);
    }
}

/// The documented example of several roots: M = 1, T = 0.1 s is above the limit of uniqueness 0.0233 s. With
/// v̄ = 1.502 the residual s − 0.502 + ½·exp(−100·s²) has the roots 0.0023, 0.0178 and 0.502: sliding goes on at 0.502.
#[test]
fn sliding_continues_at_the_fastest_of_three_roots() {
    let curve = example();
    let excess = |s: f64| s + 0.1 * curve.dry(s, 1.0) - 1.502;
    assert!(excess(0.0) < 0.0 && excess(0.01) > 0.0 && excess(0.05) < 0.0 && excess(0.6) > 0.0);
    let slip = resolve(&curve, 1.0, [1.502], 0.1, false).velocity[0];
    assert!((slip - 0.502).abs() < 1e-10, "{slip}");
}

/// The usual case takes few evaluations: one at rest, five or so in the search, one for the force.
#[test]
fn usual_slips_are_found_in_a_few_rounds() {
    let curve = example();
    for (speed, step) in [(0.05, 1e-3), (0.1, 1e-3), (0.2, 1e-2), (0.3, 1e-2), (5.0, 1e-3)] {
        let evaluations = check(&curve, 1.0, speed, step).unwrap();
        assert!(evaluations <= 9, "{evaluations} evaluations for {speed}");
    }
}
