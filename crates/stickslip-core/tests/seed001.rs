//! Seed 001's contact laws (eqs 13 and 15) against closed forms and the reference numbers of an independent implementation.
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip_core::contact::Normal;
use stickslip_core::contact::proxy::Proxy;
use stickslip_core::contact::relaxed::{Circumstances, Relaxed, alpha_for, alpha_for_rebound, impact};
use stickslip_core::scalar::{Dual, Real};

/// The restitution of a free impact, by an independent implementation, to 1e-10.
#[test]
fn restitution_is_that_of_the_linear_system() {
    let table = [
        (0.1, [1.0, 0.956556953548, 0.928002040339, 0.872314407798]),
        (0.5, [1.0, 0.851780358526, 0.746508298127, 0.547487235269]),
        (1.0, [1.0, 0.822967295285, 0.677949856487, 0.351387766456]),
        (2.0, [1.0, 0.848115212514, 0.711803841076, 0.224878359544]),
    ];
    for (b, row) in table {
        for (ratio, expected) in [1.0, 0.7, 0.5, 0.1].into_iter().zip(row) {
            let found = impact(ratio * b, b).restitution;
            assert!((found - expected).abs() < 1e-10, "{b} {ratio}: {found}, {expected}");
        }
    }
    // α > β is active: it would give back more than it took.
    assert!((impact(1.3, 1.0).restitution - 1.14220).abs() < 5e-6);
}

/// α = β is the spring alone: depth v·√(M/K). α → 0 is spring and damper side by side, released where the force is 0:
/// restitution exp(−ζ/√(1 − ζ²)·acos(2ζ² − 1)) with ζ = b/2.
#[test]
fn limits_of_the_impact_have_closed_forms() {
    for b in [0.1, 1.0, 4.0] {
        let spring = impact(b, b);
        assert!((spring.restitution - 1.0).abs() < 1e-12 && (spring.depth - 1.0).abs() < 1e-12);
    }
    for b in [0.4, 1.0, 1.6] {
        let zeta: f64 = 0.5 * b;
        let root = (1.0 - zeta * zeta).sqrt();
        let expected = (-zeta / root * (2.0 * zeta * zeta - 1.0).acos()).exp();
        let found = impact(1e-4, b).restitution;
        assert!((found - expected).abs() < 2e-4, "{b}: {found}, {expected}");
    }
}

#[test]
fn the_restitution_grows_with_alpha() {
    for b in [0.3, 1.0, 2.0, 3.0, 5.0, 8.0] {
        let mut last = 0.0;
        for i in 1..=200 {
            let found = impact(b * f64::from(i) / 200.0, b).restitution;
            assert!(found > last, "{b}: {found} after {last}");
            last = found;
        }
    }
}

#[test]
fn alpha_gives_the_restitution_back() {
    for (restitution, b, least) in [(0.6, 1.0, 0.2), (0.3, 2.0, 0.2), (0.11, 3.0, 0.1), (0.99, 1.0, 0.2)] {
        let alpha = alpha_for(restitution, b, least).unwrap();
        assert!((impact(alpha, b).restitution - restitution).abs() < 1e-12);
    }
    assert_eq!(alpha_for(1.0, 1.5, 0.2), Some(1.5));
    assert_eq!(alpha_for(0.3, 1.0, 0.2), None);
    assert_eq!(alpha_for(1.01, 1.0, 0.2), None);
    assert_eq!(alpha_for(f64::NAN, 1.0, 0.2), None);
}

/// An impact by steps is the closed form where it is free; a load costs what its first order says, and nothing where the
/// contact is a spring. Explicit Euler lets an undamped half vibration grow by exp(π·step/2), as (1 + step²)^(π/(2·step)).
#[test]
fn rebounds_have_their_limits() {
    let free = Circumstances {
        load: 0.0,
        euler_step: None,
    };
    for (a, b) in [(0.7, 1.0), (0.4, 1.0), (0.3, 2.0), (0.15, 3.0)] {
        let closed = impact(a, b);
        assert!((free.rebound(a, b, 0.0).unwrap() - closed.restitution).abs() < 2e-4 * closed.restitution);
        let load = 1e-3 / closed.loss_under_load();
        let loss = 1.0 - Circumstances { load, ..free }.rebound(a, b, 0.0).unwrap() / closed.restitution;
        assert!((loss - 1e-3).abs() < 2e-4, "{a} {b}: {loss}");
        let euler = Circumstances {
            load: 0.02,
            euler_step: Some(0.03),
        };
        let alpha = alpha_for_rebound(closed.restitution, b, 0.05, &euler).unwrap();
        for part in [0.0, 0.3, 0.9] {
            let found = in_euler_steps(alpha, b, 0.02, 0.03, part);
            assert!(
                (found - closed.restitution).abs() < 0.01 * closed.restitution,
                "{found} {closed:?}"
            );
            assert!((euler.rebound(alpha, b, part).unwrap() - found).abs() < 1e-12);
        }
    }
    let pressed = Circumstances { load: 0.3, ..free };
    assert!((pressed.rebound(1.0, 1.0, 0.0).unwrap() - 1.0).abs() < 2e-4);
    for step in [0.01, 0.05] {
        let euler = Circumstances {
            euler_step: Some(step),
            ..free
        };
        let expected = (core::f64::consts::FRAC_PI_2 * step).exp();
        assert!((euler.rebound(1.0, 1.0, 0.0).unwrap() - expected).abs() < 0.5 * step * step);
    }
    assert_eq!(alpha_for_rebound(0.1, 1.0, 0.2, &free), None);
    // A body that is too heavy stays.
    let heavy = Circumstances { load: 0.3, ..free };
    assert_eq!(heavy.rebound(0.1, 3.0, 0.0), None);
    // However fine the steps are.
    let fine = Circumstances {
        euler_step: Some(1e-8),
        ..free
    };
    let closed = impact(0.4, 1.0).restitution;
    assert!((fine.rebound(0.4, 1.0, 0.0).unwrap() - closed).abs() < 1e-3 * closed);
    // Where the rebound depends on the place of the touch-down there is no α for it.
    let rough = Circumstances {
        euler_step: Some(0.08),
        ..free
    };
    let (first, other) = (
        in_euler_steps(0.16, 8.0, 0.0, 0.08, 0.0),
        in_euler_steps(0.16, 8.0, 0.0, 0.08, 0.75),
    );
    assert!((first - other).abs() > 0.03 * first, "{first} {other}");
    assert_eq!(alpha_for_rebound(first, 8.0, 0.08, &rough), None);
}

/// Where the proxy changes from free to resting, over 1e-7 of the way, slopes are those of the part that rests: f = part·K·(−p − β·ṗ)
/// and ė = −e/β + part·(e/β − ṗ), with the part as it is. Those of the change itself would be millions of times as large.
#[test]
fn the_change_of_a_proxy_has_no_slope_of_its_own() {
    let (stiffness, beta, gap_rate, e) = (70.0, 0.05, -0.3, 0.01);
    let law = Proxy {
        stiffness: Dual::<f64, 3>::lit(stiffness),
        beta: Dual::lit(beta),
    };
    for part in [0.25, 0.5, 0.9] {
        let gap = -e + (1.0 - part) * 1e-7 * (beta * 0.3 + e);
        let mut rate = [Dual::lit(0.0)];
        let state = [Dual::variable(e, 2)];
        let force = law.respond(
            Dual::variable(gap, 0),
            Dual::variable(gap_rate, 1),
            &state,
            Dual::lit(0.0),
            &mut rate,
        );
        assert!((force.value / (part * stiffness * (-gap - beta * gap_rate)) - 1.0).abs() < 1e-6);
        let expected = [
            (force.grad, [-part * stiffness, -part * stiffness * beta, 0.0]),
            (rate[0].grad, [0.0, -part, (part - 1.0) / beta]),
        ];
        for (found, expected) in expected {
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                    "{found} {expected}"
                );
            }
        }
    }
}

/// An impact of a mass 1 on eq 15 with K = 1 in steps of explicit Euler that begin `part` of a step above the obstacle.
fn in_euler_steps(alpha: f64, beta: f64, load: f64, step: f64, part: f64) -> f64 {
    let (mut p, mut v, mut e) = (part * step, -1.0f64, 0.0f64);
    loop {
        let force = f64::max(0.0, e - beta * (p + e) / alpha);
        let e_rate = f64::max(-e / beta, -(p + e) / alpha);
        (p, v, e) = (p + step * v, v + step * (force - load), e + step * e_rate);
        if p > 0.0 && v > 0.0 {
            return (v * v + 2.0 * load * p).sqrt();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The force is K·(e + β·ė), never pulls, and is 0 where the bodies are apart.
    #[test]
    fn the_force_balances_spring_and_damper(
        gap in -1.0..1.0f64, e in 0.0..1.0f64, beta in 1e-3..1.0, ratio in 0.01..1.0
    ) {
        let law = Relaxed { stiffness: 70.0f64, beta, alpha: ratio * beta };
        let mut rate = [0.0];
        let force = law.respond(gap, 0.0, &[e], 0.0, &mut rate);
        let balance = 70.0 * (e + beta * rate[0]);
        prop_assert!((force - balance).abs() <= 1e-12 * 70.0 * (e + (gap.abs() + e) / ratio));
        prop_assert!(force >= 0.0 && (gap < 0.0 || force == 0.0));
        // Continuous: a small change of gap changes the force by at most K·β/α times that.
        let near = law.respond(gap + 1e-9, 0.0, &[e], 0.0, &mut rate);
        prop_assert!((near - force).abs() <= 70.0 / ratio * 1.1e-9 + 1e-12 * force);
    }

    /// The proxy contact at once is the limit of its backward Euler rule: for a proxy that rests on the obstacle and for
    /// one that is clear of it. At every instant it takes at least the power that its spring stores, and never pulls.
    #[test]
    fn the_proxy_at_once_is_the_limit_of_its_steps(
        e in 0.01..1.0f64, clear in prop_oneof![Just(0.0), 0.01..1.0f64], gap_rate in -1.0..1.0f64, beta in 0.05..2.0f64
    ) {
        let law = Proxy { stiffness: 70.0, beta };
        let gap = clear - e;
        let at = |tau: f64| {
            let mut rate = [0.0];
            let force = law.respond(gap, gap_rate, &[e], tau, &mut rate);
            (force, rate[0])
        };
        let (force, rate) = at(0.0);
        let tau = 1e-7;
        let (near, near_rate) = at(tau);
        // A step moves gap and state by τ times their rates; rounding of the quotient is 1e-16/τ.
        let size = 1.0 + gap_rate.abs() + e / beta;
        prop_assert!((force - near).abs() <= 70.0 * (1.0 + beta) * 3.0 * size * 1e-7, "{} {}", force, near);
        prop_assert!((rate - near_rate).abs() <= (2.0 + 2.0 / beta) * size * 1e-7, "{} {}", rate, near_rate);
        prop_assert!(force >= 0.0);
        let (power, stored) = (-force * gap_rate, 70.0 * e * rate);
        prop_assert!(power >= stored - 1e-12 * (power.abs() + stored.abs()), "{} {}", power, stored);
    }

    /// How far the proxy is inside the obstacle, which an integrator keeps to its tolerance, changes neither the force nor how
    /// the proxy follows.
    #[test]
    fn a_proxy_inside_the_obstacle_counts_as_resting(
        depth in 0.01..1.0f64, inside in 1e-12..1e-3f64, gap_rate in -1.0..1.0f64, beta in 0.05..2.0f64
    ) {
        let law = Proxy { stiffness: 70.0, beta };
        let (mut on_edge, mut rate) = ([0.0], [0.0]);
        let expected = law.respond(-depth, gap_rate, &[depth], 0.0, &mut on_edge);
        let force = law.respond(-depth, gap_rate, &[depth - inside], 0.0, &mut rate);
        prop_assert_eq!(force, expected);
        prop_assert!((rate[0] - on_edge[0]).abs() <= 1.0001 * inside / beta);
    }
}
