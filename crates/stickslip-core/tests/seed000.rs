//! The reference numbers of seed 000 at the level of the laws, and the exact checks of seeds 000, 001 and 004
//! (science page, sections 3 and 4).
#![allow(missing_docs)]

mod block;

use block::{Block, Noise, Rule};
use proptest::prelude::*;
use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::implicit::{resolve, resolve_approximate, resolve_constant};
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::quinn::Quinn;
use stickslip_core::friction::{Bristle, Slip};
use stickslip_core::scalar::vector::{add, dot, norm, scale, sub};
use stickslip_core::sets::gsat;

fn viscous() -> Stribeck<f64> {
    Stribeck::new(10.0, 10.0, 5.0, None, 2.0)
}

fn stribeck() -> Stribeck<f64> {
    Stribeck::new(10.0, 15.0, 0.0, Some(0.1), 2.0)
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

fn vector() -> impl Strategy<Value = [f64; 3]> {
    any::<u64>().prop_map(|seed| Noise(seed).vector())
}

// ---- Reference numbers of seed 000 ----------------------------------------------------------------------------------

/// φ̂ for M = 1: exact (eq 14) and approximate (eq 16).
#[test]
fn phi_hat_has_the_values_of_the_table() {
    for (curve, step, v_bar, exact, approximate) in [
        (viscous(), 1e-3, 0.5, -12.437810945274, -12.45),
        (viscous(), 1e-3, 1.0, -14.925373134328, -14.95),
        (stribeck(), 1e-3, 0.05, -14.404987496575, -14.423529524717),
        (stribeck(), 1e-3, 0.1, -12.317806360933, -12.427684475770),
        (stribeck(), 1e-2, 0.2, -13.110512656211, -13.894003915357),
        (stribeck(), 1e-2, 0.3, -10.095121133073, -10.526996122809),
    ] {
        let outcome = resolve(&curve, 1.0, [v_bar], step, false);
        close(outcome.force[0], exact, 1e-11);
        close(outcome.velocity[0], v_bar + step * exact, 1e-13);
        // The force is that of the curve at the new velocity, without a residual.
        assert_eq!(outcome.force[0] + curve.total(outcome.velocity[0], 1.0), 0.0);
        let outcome = resolve_approximate(&curve, 1.0, [v_bar], step, false);
        close(outcome.force[0], approximate, 1e-11);
        // Both are odd.
        assert_eq!(
            resolve_approximate(&curve, 1.0, [-v_bar], step, false).force[0],
            -outcome.force[0]
        );
    }
}

/// Viscous free stop from v₀ = 1: 82 steps (continuous: ln(1.5)/5 = 0.0810930 s).
#[test]
fn viscous_block_stops_in_82_steps() {
    let mut block = Block::new(Rule::Implicit, viscous(), 1.0, 1e-3, [1.0]);
    let steps = (1..).find(|_| {
        block.step([0.0]);
        block.velocity == [0.0]
    });
    assert_eq!(steps, Some(82));
}

/// T·B/M = 5: the exact φ̂ comes to rest, eq 16 reverses and diverges.
#[test]
fn strong_viscosity_stops_the_exact_law_and_not_the_approximation() {
    let curve = Stribeck::new(10.0, 10.0, 5000.0, None, 2.0);
    let mut v = 1.0;
    for expected in [0.165, 0.025_833_333_333_333_33, 0.002_638_888_888_888_889, 0.0] {
        v = resolve(&curve, 1.0, [v], 1e-3, false).velocity[0];
        close(v, expected, 1e-16);
    }
    assert_eq!(v, 0.0);
    let mut v = 1.0;
    for expected in [-3.96, 15.8, -63.16] {
        v = resolve_approximate(&curve, 1.0, [v], 1e-3, false).velocity[0];
        close(v, expected, 1e-12);
    }
}

/// Fig. 10: v₀ = −0.13, h = 40, FC = 10, T = 1e-3, Quinn ε = 0.01.
#[test]
fn figure_10() {
    let run = |rule| {
        let mut block = Block::new(rule, Stribeck::coulomb(10.0), 1.0, 1e-3, [-0.13]);
        let mut work = 0.0;
        let rows: Vec<(f64, f64)> = (0..8)
            .map(|_| {
                let did = block.step([40.0]);
                work += (-did.work).max(0.0);
                (block.velocity[0], did.force[0])
            })
            .collect();
        (rows, work)
    };
    let (rows, work) = run(Rule::Quinn(Quinn { epsilon: 0.01 }));
    for (k, v, f) in [
        (1, -0.08, 10.0),
        (2, -0.03, 10.0),
        (3, 0.02, 10.0),
        (4, 0.05, -10.0),
        (5, 0.08, -10.0),
        (8, 0.17, -10.0),
    ] {
        close(rows[k - 1].0, v, 1e-14);
        close(rows[k - 1].1, f, 1e-14);
    }
    close(work, 2e-4, 1e-15);
    close(0.5 * rows[7].0 * rows[7].0 - 0.5 * 0.162 * 0.162, 1.328e-3, 1e-14);

    let (rows, work) = run(Rule::Implicit);
    for (k, v, f) in [
        (1, -0.08, 10.0),
        (2, -0.03, 10.0),
        // The body arrives at zero with the whole limit: 0 to rounding.
        (3, 0.0, -10.0),
        (4, 0.03, -10.0),
        (5, 0.06, -10.0),
        (8, 0.15, -10.0),
    ] {
        close(rows[k - 1].0, v, 1e-14);
        close(rows[k - 1].1, f, 1e-11);
    }
    assert_eq!(work, 0.0);
    close(0.5 * rows[7].0 * rows[7].0 - 0.5 * 0.162 * 0.162, -1.872e-3, 1e-14);
}

/// Two bodies that rub on each other (eq 18): relative velocity and compliance T·(1/Ma + 1/Mb).
struct Two {
    velocity: [f64; 2],
}

impl Two {
    const MASS: [f64; 2] = [1.0, 2.0];
    const STEP: f64 = 1e-3;

    /// Returns the friction on the first body and whether they stick.
    fn step(&mut self, push: [f64; 2]) -> (f64, bool) {
        let [ma, mb] = Self::MASS;
        let free = [0, 1].map(|i| self.velocity[i] + Self::STEP * push[i] / Self::MASS[i]);
        let compliance = Self::STEP * (1.0 / ma + 1.0 / mb);
        let outcome = resolve_constant([free[0] - free[1]], compliance, 3.0);
        self.velocity[0] = free[0] + Self::STEP * outcome.force[0] / ma;
        self.velocity[1] = self.velocity[0] - outcome.velocity[0];
        (outcome.force[0], outcome.stuck)
    }

    fn momentum(&self) -> f64 {
        Self::MASS[0] * self.velocity[0] + Self::MASS[1] * self.velocity[1]
    }
}

#[test]
fn two_bodies_lock_and_slip_as_stated() {
    // They lock after 1/3 s, at rest.
    let mut two = Two { velocity: [1.0, -0.5] };
    let steps = (1..).find(|_| two.step([0.0; 2]).1);
    assert_eq!(steps, Some(334));
    close(two.velocity[0], 0.0, 1e-13);
    assert_eq!(two.velocity[0], two.velocity[1]);
    close(two.momentum(), 0.0, 1e-13);

    for (push, velocity, force, stuck) in [(2.0, [2.0 / 3.0; 2], -4.0 / 3.0, true), (6.0, [3.0, 1.5], -3.0, false)] {
        let mut two = Two { velocity: [0.0; 2] };
        for k in 1..=1000 {
            let (f, held) = two.step([push, 0.0]);
            close(f, force, 1e-12);
            assert_eq!(held, stuck);
            close(two.momentum(), push * Two::STEP * f64::from(k), 1e-12);
        }
        close(two.velocity[0], velocity[0], 1e-12);
        close(two.velocity[1], velocity[1], 1e-12);
    }
}

/// v₀ = (1, 0), h = (0, 5), FC = 10: 134 steps (exact 2/15 s).
#[test]
fn vector_stop() {
    let mut block = Block::new(Rule::Implicit, Stribeck::coulomb(10.0), 1.0, 1e-3, [1.0, 0.0]);
    let steps = (1..).find(|_| {
        block.step([0.0, 5.0]);
        block.velocity == [0.0; 2]
    });
    assert_eq!(steps, Some(134));
    close(block.position[0], 0.05286677784797, 1e-13);
    close(block.position[1], 0.01650055555232, 1e-13);
    let force = block.step([0.0, 5.0]).force;
    close(force[0], 0.0, 0.0);
    close(force[1], -5.0, 1e-14);

    let mut free = Block::new(Rule::Implicit, Stribeck::coulomb(10.0), 1.0, 1e-3, [0.3, 0.4]);
    let steps = (1..).find(|_| {
        free.step([0.0; 2]);
        free.velocity == [0.0; 2]
    });
    assert_eq!(steps, Some(50));
}

/// Eqs 12b and 12c as printed leave a residue of order 1e-18 in some of the sticking steps (how many depends on the order
/// of operations and the numbers: 2 % to 10 % on the science page, 12 % and 6 % here); resolved it is exactly 0.
#[test]
fn stick_is_exact_where_the_printed_form_leaves_a_residue() {
    for (mass, step) in [(1.0, 1e-3), (0.7, 1e-4)] {
        let mut noise = Noise(7);
        let mut residues = 0;
        for _ in 0..100_000 {
            let v_bar = noise.next() * 10.0 * step / mass;
            // f = −(M/T)·v̄, v = v̄ + T·f/M.
            let printed = v_bar + step * (-mass / step * v_bar) / mass;
            assert!(printed.abs() < 1e-17);
            residues += u32::from(printed != 0.0);
            let outcome = resolve_constant([v_bar], step / mass, 10.0);
            assert!(outcome.stuck && outcome.velocity == [0.0]);
            let vector = resolve_constant([v_bar, 0.3 * v_bar], step / mass, 20.0);
            assert!(vector.stuck && vector.velocity == [0.0; 2]);
        }
        let share = f64::from(residues) / 1e5;
        assert!(0.02 < share && share < 0.2, "{share}");
    }
}

/// Eq 19: the static limit FS = 13 acts only on a contact that was stuck; one that slips is caught by FC = 10.
#[test]
fn static_limit_needs_the_memory_of_stick() {
    let curve = Stribeck::new(10.0, 13.0, 0.0, None, 2.0);
    for (v_bar, was_stuck, stuck, force) in [
        (0.0115, true, true, -11.5),
        (0.0115, false, false, -10.0),
        (0.0095, false, true, -9.5),
        (0.0135, true, false, -10.0),
    ] {
        for outcome in [
            resolve(&curve, 1.0, [v_bar], 1e-3, was_stuck),
            resolve_approximate(&curve, 1.0, [v_bar], 1e-3, was_stuck),
        ] {
            assert_eq!(outcome.stuck, stuck, "v̄ = {v_bar}, stuck before: {was_stuck}");
            close(outcome.force[0], force, 1e-13);
            close(outcome.velocity[0], if stuck { 0.0 } else { v_bar - 0.01 }, 1e-17);
        }
    }
}

// ---- Exact checks of seed 000 ---------------------------------------------------------------------------------------

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    /// v == 0.0 after ceil(M·|v₀|/(T·F)) steps, one more where rounding leaves a residue; never earlier.
    #[test]
    fn free_block_stops_in_finite_time(
        mass in decades(1e-3, 1e3), step in decades(1e-5, 1e-1), limit in decades(1e-3, 1e3), ratio in 0.01..300.0f64,
    ) {
        let mut block = Block::new(Rule::Implicit, Stribeck::coulomb(limit), mass, step, [ratio * step * limit / mass]);
        let expected = ratio.ceil() as i32;
        let steps = (1..).find(|_| {
            block.step([0.0]);
            block.velocity == [0.0]
        }).unwrap();
        let residue = (ratio - ratio.round()).abs() < 1e-12 * ratio;
        prop_assert!(steps == expected || (residue && (steps - expected).abs() == 1), "{} steps, not {}", steps, expected);
    }

    /// f = φ(v) where it slips, f·v ≤ 0, |v| ≤ |v̄|, and v never turns against v̄; on any number of axes.
    #[test]
    fn friction_only_brakes(
        v_bar in vector(), compliance in decades(1e-9, 1e3), ratio in 1.0..3.0f64, viscous in prop_oneof![Just(0.0), decades(1e-3, 1e3)],
        velocity in decades(1e-3, 1e3), exponent in 0.3..3.0f64, load in 0.0..3.0f64, was_stuck: bool,
    ) {
        let curve = Stribeck::new(1.0, ratio, viscous, Some(velocity), exponent);
        let one = resolve(&curve, load, [v_bar[0]], compliance, was_stuck);
        prop_assert!(one.force[0] * one.velocity[0] <= 0.0);
        prop_assert!(one.velocity[0].abs() <= v_bar[0].abs() && one.velocity[0] * v_bar[0] >= 0.0);
        if one.stuck {
            prop_assert_eq!(one.velocity[0], 0.0);
        } else {
            prop_assert_eq!(one.force[0], -curve.total(one.velocity[0].abs(), load) * v_bar[0].signum());
        }
        let three = resolve(&curve, load, v_bar, compliance, was_stuck);
        prop_assert!(dot(three.force, three.velocity) <= 0.0);
        prop_assert!(norm(three.velocity) <= norm(v_bar) * (1.0 + 4.0 * f64::EPSILON));
        // v = v̄ + W·f.
        let off = norm(sub(three.velocity, add(v_bar, scale(three.force, compliance))));
        prop_assert!(off <= 1e-14 * norm(v_bar), "momentum off by {}", off);
        let slip = norm(three.velocity);
        if !three.stuck {
            let phi = curve.total(slip, load);
            prop_assert!((norm(three.force) - phi).abs() <= 1e-13 * phi.max(norm(v_bar) / compliance));
        }
    }

    /// At the edge of stick the force is at most the limit to the last bit, though v̄/W may round above it.
    #[test]
    fn holding_force_does_not_round_above_the_limit(compliance in decades(1e-9, 1e3), limit in decades(1e-3, 1e3)) {
        let edge = compliance * limit;
        for v_bar in [edge.next_down(), edge, edge.next_up(), -edge] {
            let force = resolve_constant([v_bar], compliance, limit).force[0];
            prop_assert!(force.abs() <= limit && force.abs() >= limit * (1.0 - 4.0 * f64::EPSILON));
            let held = resolve(&Stribeck::new(0.5 * limit, limit, 0.0, None, 2.0), 1.0, [v_bar], compliance, true).force[0];
            prop_assert!(held.abs() <= limit);
        }
    }

    /// Quinn with ε = T·F/M is the implicit law while |h| ≤ F.
    #[test]
    fn quinn_is_implicit_below_the_limit(seed: u64, mass in 0.1..10.0f64, step in decades(1e-4, 1e-2), limit in 0.1..10.0f64, start in -5.0..5.0f64) {
        let kick = step * limit / mass;
        let curve = Stribeck::coulomb(limit);
        let mut quinn = Block::new(Rule::Quinn(Quinn { epsilon: kick }), curve, mass, step, [start * kick]);
        let mut implicit = Block::new(Rule::Implicit, curve, mass, step, [start * kick]);
        let mut noise = Noise(seed);
        for _ in 0..100 {
            let push = [noise.next() * limit];
            quinn.step(push);
            implicit.step(push);
            prop_assert!((quinn.velocity[0] - implicit.velocity[0]).abs() <= 1e-12 * kick);
        }
    }

    /// Two bodies stick if |Mb·ha − Ma·hb|/(Ma + Mb) ≤ F, from rest; momentum is kept.
    #[test]
    fn two_bodies_stick_below_the_limit(first in -12.0..12.0f64, second in -12.0..12.0f64) {
        let [ma, mb] = Two::MASS;
        let shared = (mb * first - ma * second).abs() / (ma + mb);
        prop_assume!((shared - 3.0).abs() > 1e-12);
        let mut two = Two { velocity: [0.0; 2] };
        for k in 1..=50 {
            let (_, stuck) = two.step([first, second]);
            prop_assert_eq!(stuck, shared < 3.0);
            prop_assert!((two.momentum() - f64::from(k) * Two::STEP * (first + second)).abs() < 1e-12);
        }
    }

    /// Under a constant h < F a vector stops after M·v₀·(F + h·cos θ₀)/(F² − h²): within a step for h ≤ F/2, whatever the
    /// number of steps (here up to 2000); nearer to F the way the vector turns costs more.
    #[test]
    fn vector_stops_when_the_closed_form_says(angle in 0.0..std::f64::consts::PI, share in 0.0..0.5f64, speed in 50.0..1000.0f64) {
        let (limit, mass, step) = (10.0, 2.0, 1e-3);
        let kick = step * limit / mass;
        let v0 = speed * kick;
        let h = share * limit;
        let expected = mass * v0 * (limit + h * angle.cos()) / (limit * limit - h * h);
        let mut block = Block::new(Rule::Implicit, Stribeck::coulomb(limit), mass, step, [v0 * angle.cos(), v0 * angle.sin()]);
        let steps = (1..).find(|_| {
            block.step([h, 0.0]);
            block.velocity == [0.0; 2]
        }).unwrap();
        let late = f64::from(steps) - expected / step;
        prop_assert!((-1.0..=1.0).contains(&late), "{} steps late", late);
    }

    /// The outcome turns with v̄.
    #[test]
    fn resolve_turns_with_the_velocity(v_bar in vector(), angle in 0.0..std::f64::consts::TAU, compliance in 0.01..2.0f64) {
        let turn = |v: [f64; 3]| {
            let (s, c) = angle.sin_cos();
            [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]
        };
        let curve = Stribeck::new(0.5, 0.8, 0.3, Some(0.2), 2.0);
        let plain = resolve(&curve, 1.0, v_bar, compliance, false);
        let turned = resolve(&curve, 1.0, turn(v_bar), compliance, false);
        prop_assert!(norm(sub(turn(plain.force), turned.force)) <= 1e-13);
        prop_assert!(norm(sub(turn(plain.velocity), turned.velocity)) <= 1e-13);
    }
}

// ---- Exact checks of seeds 001 and 004 ------------------------------------------------------------------------------

/// While sticking p − a is constant: ε = v exactly, so RK4 moves both by the same. No drift over 1e5 steps.
#[test]
fn bristle_moves_with_the_block_while_it_sticks() {
    let (stiffness, damping) = (1e5, 500.0);
    for rule in [
        Rule::Relaxed(Proxy { stiffness, damping }),
        Rule::Proxy(Proxy { stiffness, damping }),
    ] {
        let mut block = Block::new(rule, Stribeck::coulomb(0.5), 1.0, 1e-4, [0.0, 0.0]);
        let mut worst = 0.0f64;
        for k in 0..100_000 {
            let phase = f64::from(k) * 1e-3;
            block.step([0.35 * phase.sin(), 0.3 * (1.7 * phase).sin()]);
            worst = worst.max(norm(sub(block.position, block.bristle)));
        }
        assert!(worst <= 1e-14, "{worst} for {rule:?}");
        // The presliding is that of the spring: the check was not idle.
        assert!(norm(block.position) > 1e-7);
    }
}

/// A block of 1 kg with the proxy friction of seed 001 that slides to rest ends at M·v₀²/(2F) − F/K from where it started
/// (rigid path less the springing back of the bristle), to the first order of K⁻¹.
#[test]
fn free_slip_ends_at_the_rest_point() {
    let (v0, force, stiffness) = (0.1, 2.0, 1e5);
    let law = Proxy {
        stiffness,
        damping: 600.0,
    };
    let mut block = Block::new(Rule::Relaxed(law), Stribeck::coulomb(force), 1.0, 1e-5, [v0]);
    block.bristle = [force / stiffness];
    for _ in 0..20_000 {
        block.step([0.0]);
    }
    close(block.position[0], v0 * v0 / (2.0 * force) - force / stiffness, 2e-8);
    close(block.bristle[0], 0.0, 1e-9);
}

fn state() -> impl Strategy<Value = ([f64; 3], [f64; 3], f64, f64, f64, f64)> {
    (
        vector(),
        vector(),
        decades(1e-2, 1e2),
        decades(1e-2, 1e2),
        decades(1e-3, 10.0),
        0.1..2.0f64,
    )
}

proptest! {
    #![proptest_config(config(1000))]

    /// Seed 001: |f| ≤ F, and the dissipation f·v − d/dt(K·a²/2) is F·|v − a'| + K·β·a'².
    #[test]
    fn relaxed_friction_dissipates_as_stated((velocity, state, stiffness, damping, _, limit) in state()) {
        let law = Proxy::<f64, false> { stiffness, damping };
        let curve = Stribeck::coulomb(limit);
        let mut rate = [0.0; 3];
        let force = law.respond(&curve, &Slip { velocity, load: 1.0 }, &state, 0.7, &mut rate);
        prop_assert!(norm(force) <= limit * (1.0 + 4.0 * f64::EPSILON));
        let dissipation = -dot(force, velocity) - stiffness * dot(state, rate);
        let expected = limit * norm(sub(velocity, rate)) + damping * dot(rate, rate);
        let size = limit * norm(velocity) + stiffness * norm(state) * norm(rate) + expected;
        // Sticking (v = a') makes the first term a rounding error times F.
        prop_assert!((dissipation - expected).abs() <= 1e-13 * size, "{} and {}", dissipation, expected);
        // One axis: the bound is exact.
        let mut rate = [0.0];
        let force = law.respond(&curve, &Slip { velocity: [velocity[0]], load: 1.0 }, &state[..1], 0.0, &mut rate);
        prop_assert!(force[0].abs() <= limit);
    }

    /// Seed 004: (14) solves (16), (19) with τ = T is (14), and f·v·T ≥ W_k − W_{k−1}.
    #[test]
    fn proxy_step_solves_its_inclusion((velocity, before, stiffness, damping, step, limit) in state()) {
        let law = Proxy::<f64, true> { stiffness, damping };
        let curve = Stribeck::coulomb(limit);
        let slip = Slip { velocity, load: 1.0 };
        let mut after = [0.0; 3];
        let force = scale(law.advance(&curve, &slip, &before, step, &mut after), -1.0);
        // (14) as printed.
        let trial = add(scale(velocity, damping + step * stiffness), scale(before, stiffness));
        let printed = gsat(limit, trial);
        let printed_after = scale(add(scale(before, damping), scale(printed, step)), 1.0 / (damping + step * stiffness));
        let size = limit + norm(trial);
        prop_assert!(norm(sub(force, printed)) <= 1e-14 * size);
        prop_assert!(norm(sub(after, printed_after)) <= 1e-13 * (norm(before) + norm(after)));
        // (16b): f = K·e + B·(e − e₋)/T.
        let rate = scale(sub(after, before), 1.0 / step);
        let carried = add(scale(after, stiffness), scale(rate, damping));
        let rounding = 1e-13 * (size + stiffness * norm(after) + damping / step * (norm(after) + norm(before)));
        prop_assert!(norm(sub(carried, force)) <= rounding);
        // (16a): f ∈ F·sgn(v − ė): along v − ė with length F, or shorter if v = ė.
        let sliding = sub(velocity, rate);
        if norm(trial) > limit * (1.0 + 1e-9) {
            let along = scale(sliding, limit / norm(sliding));
            prop_assert!(norm(sub(along, force)) <= 1e-12 * limit + rounding / (damping + step * stiffness) * limit / norm(sliding));
        } else if norm(trial) < limit {
            prop_assert!(norm(sliding) * (damping + step * stiffness) <= rounding);
        }
        // (20): the staged rate with τ = T.
        let mut staged = [0.0; 3];
        let staged_force = scale(law.respond(&curve, &slip, &before, step, &mut staged), -1.0);
        prop_assert_eq!(staged_force, force);
        prop_assert_eq!(add(before, scale(staged, step)), after);
        // Energy.
        let work = step * dot(force, velocity);
        let gain = 0.5 * stiffness * (dot(after, after) - dot(before, before));
        let moved = step * norm(force) * norm(velocity) + 0.5 * stiffness * (dot(after, after) + dot(before, before));
        prop_assert!(work >= gain - 1e-14 * moved, "{} J stored of {} J", gain, work);
    }
}
