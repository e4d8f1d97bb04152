//! `cargo xtask bench rewrite`: the right side of a rewritten inclusion beside the same equations written by hand in Rust,
//! on the conveyor of seed 001 (eq 33). All take turns in one run, and the least time of each counts.

use crate::root;
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;
use stickslip::scenario::Scenario;

const EVALUATIONS: u32 = 20_000;
const TURNS: usize = 60;

/// Eq 33 as one would write it, with the numbers as variables that the compiler does not know.
#[inline(never)]
fn by_hand(numbers: &[f64; 11], y: &[f64; 14]) -> [f64; 14] {
    let [m1, m2, ks, mu1, mu2, mu3, u, g, k, beta, alpha] = *numbers;
    let [p1x, p1y, p2x, p2y, v1x, v1y, v2x, v2y, e1, e2, e3, a1, a2, a3] = *y;
    let contact = |p: f64, e: f64| {
        (
            k * f64::max(0.0, e - beta * (p + e) / alpha),
            f64::max(-e / beta, -(p + e) / alpha),
        )
    };
    let friction = |bound: f64, a: f64, v: f64| {
        let force = f64::max(-bound, f64::min(bound, k * (a + beta * v)));
        (force, (force / k - a) / beta)
    };
    let ((psi1, e1), (psi2, e2), (psi3, e3)) = (contact(p1x, e1), contact(p2x - p1x, e2), contact(p2y, e3));
    let (theta1, a1) = friction(mu1 * psi1, a1, v1y);
    let (theta2, a2) = friction(mu2 * psi2, a2, v1y - v2y);
    let (theta3, a3) = friction(mu3 * psi3, a3, v2x + u);
    [
        v1x,
        v1y,
        v2x,
        v2y,
        (psi1 - psi2) / m1,
        (-ks * p1y - theta1 - theta2) / m1,
        (-theta3 + psi2) / m2,
        (theta2 + psi3) / m2 - g,
        e1,
        e2,
        e3,
        a1,
        a2,
        a3,
    ]
}

/// Nanoseconds of one evaluation.
fn time(mut evaluate: impl FnMut(&[f64; 14], &mut [f64; 14]), y: &[f64; 14], rates: &mut [f64; 14]) -> f64 {
    let start = Instant::now();
    for _ in 0..EVALUATIONS {
        evaluate(black_box(y), rates);
        black_box(&mut *rates);
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(EVALUATIONS)
}

/// `bench rewrite [--json]`.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let path = root().join("scenarios/fig001-conveyor-equations.toml");
    let scenario = Scenario::read(&path, &[]).map_err(|error| error.to_string())?;
    let inclusion = scenario.inclusion.ok_or("the scenario has no inclusion")?;
    let program = inclusion.program();
    let numbers = black_box([1.0, 2.0, 200.0, 0.2, 0.3, 0.4, 0.5, 9.8, 2e4, 5e-3, 2.5e-3]);
    // Touching everywhere, one friction sticks and two slip.
    let y = [
        -3e-4, -8e-3, -7e-4, -9e-4, 1e-3, 1e-3, -0.4, 2e-4, 3e-4, 4e-4, 9e-4, 4e-5, 5e-5, 4e-4,
    ];
    let (mut hand, mut bytecode, mut native) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let mut rates = [[0.0; 14]; 3];
    #[cfg(feature = "jit")]
    let code = stickslip::inclusion::native::Native::compile(program, &[]).ok_or("no native code on this machine")?;
    for _ in 0..TURNS {
        hand = hand.min(time(|y, rates| *rates = by_hand(&numbers, y), &y, &mut rates[0]));
        bytecode = bytecode.min(time(|y, rates| program.rates(0.0, y, &[], rates), &y, &mut rates[1]));
        #[cfg(feature = "jit")]
        {
            native = native.min(time(|y, rates| code.rates(y, &[], rates), &y, &mut rates[2]));
        }
    }
    // Without the feature the third side did nothing.
    if !native.is_finite() {
        native = f64::NAN;
        rates[2] = rates[1];
    }
    if rates[0] != rates[1] || rates[1] != rates[2] {
        return Err(format!("the sides differ: {rates:?}"));
    }
    let ratio = |ns: f64| if ns.is_nan() { None } else { Some(ns / hand) };
    if arguments.contains(&"--json") {
        let row = |name: &str, ns: f64| {
            json!({
                "name": name,
                "ns_per_step": if ns.is_nan() { None } else { Some(ns) },
                "limit_ns": hand,
                "ratio": ratio(ns),
                "outcome": rates[1],
            })
        };
        let mut result = row("rewrite", bytecode);
        result["variants"] = json!([row("rewrite, native", native)]);
        println!("{result}");
        return Ok(());
    }
    println!(
        "one right side of eq 33, seed 001: {} steps of the program",
        program.len()
    );
    println!("  by hand   {hand:>7.2} ns");
    println!("  program   {bytecode:>7.2} ns, {:.2} times as long", bytecode / hand);
    match ratio(native) {
        Some(ratio) => println!("  native    {native:>7.2} ns, {ratio:.2} times as long"),
        None => println!("  native    not measured: add --jit"),
    }
    Ok(())
}
