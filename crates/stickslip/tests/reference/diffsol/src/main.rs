//! Reference values for seed 001 by diffsol: systems written out by hand as plain equations, with nothing of this project in
//! them.
//!
//!     cargo run --release > ../diffsol.csv
//!
//! Each is integrated by the explicit pair Tsit45, whose values are kept, and by BDF of variable order; the difference of the
//! two is kept beside the value. The right-hand sides have kinks, so the limit on failures of Newton's method is raised.
use diffsol::{NalgebraLU, NalgebraMat, OdeBuilder, OdeSolverMethod};
use std::error::Error;

type Rate = fn(f64, &[f64], &mut [f64]);

/// A system, its start, the times at which its input breaks, and what is kept: times, names and numbers of states.
struct System {
    name: &'static str,
    rate: Rate,
    start: &'static [f64],
    breaks: &'static [f64],
    times: &'static [f64],
    kept: &'static [(&'static str, usize)],
}

fn sat(limit: f64, x: f64) -> f64 {
    x.clamp(-limit, limit)
}

/// Relaxed contact, seed 001 eq 15: force and rate of e.
fn contact(k: f64, beta: f64, alpha: f64, p: f64, e: f64) -> (f64, f64) {
    let rate = (-e / beta).max(-(p + e) / alpha);
    (k * (e - beta * (p + e) / alpha).max(0.0), rate)
}

/// Relaxed friction, seed 001 eq 9: resisting force and rate of a.
fn friction(limit: f64, k: f64, beta: f64, v: f64, a: f64) -> (f64, f64) {
    let force = sat(limit, k * (a + beta * v));
    (force, (force / k - a) / beta)
}

/// Fig 3, eq 10: 1 kg, F = 0.5 N, K = 1e5 N/m, beta = 5 ms, under a ramp and, from 4 s on, a trembling load.
fn trembling(t: f64, y: &[f64], d: &mut [f64]) {
    let load = (0.3 * t).min(0.52);
    trembling_with(load, y, d);
}

fn trembling_later(t: f64, y: &[f64], d: &mut [f64]) {
    trembling_with(0.336 + 0.144 * (100.0 * t).sin(), y, d);
}

fn trembling_with(load: f64, y: &[f64], d: &mut [f64]) {
    let (f, a) = friction(0.5, 1e5, 5e-3, y[1], y[2]);
    (d[0], d[1], d[2]) = (y[1], load - f, a);
}

/// Fig 5: 1 kg falling from 0.1 m on K = 1e4 N/m, beta = 10 ms, alpha = 3.5 ms.
fn bouncing(_: f64, y: &[f64], d: &mut [f64]) {
    let (f, e) = contact(1e4, 1e-2, 3.5e-3, y[0], y[2]);
    (d[0], d[1], d[2]) = (y[1], f - 9.8, e);
}

/// Example 1: 0.5 kg thrown on a rough floor, eqs 20-22 with the sign of the friction reversed and gravity.
fn thrown(_: f64, y: &[f64], d: &mut [f64]) {
    let (k, beta, mu, mass) = (1e4, 0.01, 0.3, 0.5);
    let (n, e) = contact(k, beta, 0.005, y[2], y[8]);
    let wanted = [k * (y[6] + beta * y[3]), k * (y[7] + beta * y[4])];
    let length = wanted[0].hypot(wanted[1]);
    let factor = if length > mu * n { mu * n / length } else { 1.0 };
    let f = [wanted[0] * factor, wanted[1] * factor];
    d[..3].copy_from_slice(&y[3..6]);
    (d[3], d[4], d[5]) = (-f[0] / mass, -f[1] / mass, n / mass - 9.8);
    (d[6], d[7], d[8]) = ((f[0] / k - y[6]) / beta, (f[1] / k - y[7]) / beta, e);
}

/// Example 2, eq 33: two blocks, a wall and a conveyor. States: p1x, p1y, p2x, p2y, their velocities, e1 to e3, a1 to a3.
fn conveyor(_: f64, y: &[f64], d: &mut [f64]) {
    let (k, beta, alpha) = (2e4, 5e-3, 2.5e-3);
    let (m1, m2, spring, mu, belt) = (1.0, 2.0, 200.0, [0.2, 0.3, 0.4], 0.5);
    let (n1, e1) = contact(k, beta, alpha, y[0], y[8]);
    let (n2, e2) = contact(k, beta, alpha, y[2] - y[0], y[9]);
    let (n3, e3) = contact(k, beta, alpha, y[3], y[10]);
    let (f1, a1) = friction(mu[0] * n1, k, beta, y[5], y[11]);
    let (f2, a2) = friction(mu[1] * n2, k, beta, y[5] - y[7], y[12]);
    let (f3, a3) = friction(mu[2] * n3, k, beta, y[6] + belt, y[13]);
    d[..4].copy_from_slice(&y[4..8]);
    d[4] = (n1 - n2) / m1;
    d[5] = (-spring * y[1] - f1 - f2) / m1;
    d[6] = (n2 - f3) / m2;
    d[7] = (f2 + n3) / m2 - 9.8;
    d[8..].copy_from_slice(&[e1, e2, e3, a1, a2, a3]);
}

/// A block on a rough floor, shaken between two walls by a spring: 0.8 kg, 60 N/m, 3 N of friction, walls at 20 mm, driven by
/// 12·sin(9 t) N. States: p, v, a, e of the left and of the right wall.
fn shaken(t: f64, y: &[f64], d: &mut [f64]) {
    let (f, a) = friction(3.0, 3e4, 4e-3, y[1], y[2]);
    let (left, e_left) = contact(5e3, 8e-3, 2e-3, y[0] + 0.02, y[3]);
    let (right, e_right) = contact(5e3, 8e-3, 2e-3, 0.02 - y[0], y[4]);
    let force = 12.0 * (9.0 * t).sin() - 60.0 * y[0] - f + left - right;
    (d[0], d[1], d[2], d[3], d[4]) = (y[1], force / 0.8, a, e_left, e_right);
}

const SYSTEMS: [System; 5] = [
    System {
        name: "trembling",
        rate: trembling,
        start: &[0.0; 3],
        breaks: &[4.0],
        times: &[1.5, 3.0, 4.5, 7.0, 15.0],
        kept: &[("p", 0), ("v", 1), ("a", 2)],
    },
    System {
        name: "bouncing",
        rate: bouncing,
        start: &[0.1, 0.0, 0.0],
        breaks: &[],
        times: &[0.148, 0.25, 0.4, 0.6, 1.0],
        kept: &[("p", 0), ("v", 1), ("e", 2)],
    },
    System {
        name: "thrown",
        rate: thrown,
        start: &[0.0, 0.0, 0.02, 0.8, 0.6, 0.0, 0.0, 0.0, 0.0],
        breaks: &[],
        times: &[0.07, 0.15, 0.3, 0.5],
        kept: &[("x", 0), ("y", 1), ("z", 2)],
    },
    System {
        name: "conveyor",
        rate: conveyor,
        start: &[0.0, 0.15, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        breaks: &[],
        times: &[0.1, 0.5, 1.5, 2.5],
        kept: &[("p1x", 0), ("p1y", 1), ("p2x", 2), ("p2y", 3)],
    },
    System {
        name: "shaken",
        rate: shaken,
        start: &[0.0; 5],
        breaks: &[],
        times: &[0.2, 0.5, 1.0, 1.5],
        kept: &[("p", 0), ("v", 1)],
    },
];

/// States at `times`, the first of which may be the start.
fn integrate(
    rate: Rate,
    start: &[f64],
    from: f64,
    times: &[f64],
    explicit: bool,
) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let n = start.len();
    let initial = start.to_vec();
    let mut problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .t0(from)
        .h0(1e-6)
        .rtol(if explicit { 1e-12 } else { 1e-11 })
        .atol(vec![1e-15; n])
        .p(Vec::<f64>::new())
        .rhs_implicit(
            move |y, _, t, d| rate(t, y, d),
            // A central difference along the direction: Newton's method needs no more.
            move |y, _, t, direction, product| {
                let size = direction.iter().fold(1e-300f64, |most, x| most.max(x.abs()));
                let change = 1e-9 / size;
                let moved = |sign: f64| -> Vec<f64> {
                    let at: Vec<f64> = y.iter().zip(direction).map(|(y, x)| y + sign * change * x).collect();
                    let mut d = vec![0.0; at.len()];
                    rate(t, &at, &mut d);
                    d
                };
                for ((product, high), low) in product.iter_mut().zip(moved(1.0)).zip(moved(-1.0)) {
                    *product = (high - low) / (2.0 * change);
                }
            },
        )
        .init(move |_, _, y| y.copy_from_slice(&initial), n)
        .build()?;
    problem.ode_options.max_nonlinear_solver_failures = usize::MAX;
    problem.ode_options.max_error_test_failures = usize::MAX;
    problem.ode_options.min_timestep = 1e-16;
    let (table, _) = if explicit {
        problem.tsit45()?.solve_dense(times)?
    } else {
        problem.bdf::<NalgebraLU<f64>>()?.solve_dense(times)?
    };
    Ok((0..times.len())
        .map(|k| (0..n).map(|i| table[(i, k)]).collect())
        .collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("# diffsol 0.18: Tsit45 with rtol 1e-12, and what BDF with rtol 1e-11 differs by; atol 1e-15");
    println!("system,t,state,value,difference");
    for system in &SYSTEMS {
        let found = [true, false].map(|explicit| -> Result<_, Box<dyn Error>> {
            let mut state = system.start.to_vec();
            let (mut from, mut rate, mut rows) = (0.0, system.rate, Vec::new());
            for &end in system.breaks.iter().chain([&f64::INFINITY]) {
                let mut times: Vec<f64> = system.times.iter().copied().filter(|&t| from < t && t <= end).collect();
                let kept = times.len();
                if end.is_finite() {
                    times.push(end);
                }
                let mut part = integrate(rate, &state, from, &times, explicit)?;
                if end.is_finite() {
                    state = part.pop().unwrap_or_default();
                    (from, rate) = (end, trembling_later);
                }
                rows.extend(part.into_iter().take(kept));
            }
            Ok(rows)
        });
        let [explicit, implicit] = found;
        let (explicit, implicit) = (explicit?, implicit?);
        for (k, t) in system.times.iter().enumerate() {
            for &(name, i) in system.kept {
                let (value, other) = (explicit[k][i], implicit[k][i]);
                println!("{},{t},{name},{value:e},{:.1e}", system.name, other - value);
            }
        }
    }
    Ok(())
}
