//! The simulations of seed 004 (modular architecture with Runge-Kutta) against the reference numbers of the science
//! page, closed forms, and a Runge-Kutta of the whole system written here by hand.

mod common;

use common::{Run, close, finish, orders, run, run_every, scenario_path, simulation, written};
use stickslip::RunError;

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

fn range(values: &[f64]) -> f64 {
    largest(values) - values.iter().copied().fold(f64::MAX, f64::min)
}

// Simulation I: a ball of 0.3 kg and 0.2 m.

/// Velocity of the point of the ball that touches the floor: v_x − R·ω_y.
fn slip(run: &Run) -> Vec<f64> {
    let (v, w) = (run.column("ball.velocity.x"), run.column("ball.wy"));
    v.iter().zip(&w).map(|(v, w)| v - 0.2 * w).collect()
}

/// Time of the last row where the slip is above a bound.
fn last_above(run: &Run, bound: f64) -> f64 {
    let slip = slip(run);
    let last = (0..slip.len()).rfind(|&k| slip[k].abs() > bound).unwrap();
    run.column("t")[last]
}

/// Friction acts at the floor, so the angular momentum about a line on the floor stays: M·R·v_x + J·ω_y.
fn check_momentum(run: &Run) {
    let (v, w) = (run.column("ball.velocity.x"), run.column("ball.wy"));
    for (v, w) in v.iter().zip(&w) {
        close("momentum", 0.3 * 0.2 * v + 0.4 * 0.3 * 0.2 * 0.2 * w, 0.12, 1e-14);
    }
}

#[test]
fn sphere_from_rest_on_the_floor() {
    let run = run("fig004-1-rest.toml", &[]);
    let slip = slip(&run);
    close("slip at 0.3 s", slip[3000], 0.971, 1e-9);
    close("slip above 1 mm/s until", last_above(&run, 1e-3), 0.5827, 1e-12);
    close("v_x(1)", run.at("ball.velocity.x", 1.0), 10.0 / 7.0, 1e-11);
    close("w_y(1)", run.at("ball.wy", 1.0), 50.0 / 7.0, 1e-10);
    close("x(1)", run.at("ball.position.x", 1.0), 1.595168671, 1e-8);
    close("height", run.at("ball.position.z", 1.0), 0.2 - 0.3 * 9.8 / 1e7, 1e-12);
    // Rigid body on a rigid floor: rolling from 2/(g·mu·(1 + M·R²/J)) = 0.583090 s on.
    let rolls = run.changes("floor", "stick");
    assert_eq!(rolls.len(), 1);
    close("rolling from", rolls[0], 2.0 / (0.1 * 9.8 * 3.5), 3e-4);
    check_momentum(&run);
}

#[test]
fn sphere_deflects_its_bristle_as_far_as_friction_reaches() {
    let mut simulation = simulation("fig004-1-rest.toml", &[]);
    let floor = simulation.element("floor").unwrap();
    let mut most: f64 = 0.0;
    for _ in 0..10_000 {
        simulation.advance(1).unwrap();
        let e = simulation.element_state(floor);
        most = most.max(e[0].hypot(e[1]).hypot(e[2]));
    }
    close("largest deflection", most, 2.94e-8, 1e-11); // mu·M·g/K
}

#[test]
fn sphere_dropped_from_a_little_above() {
    let coarse = run("fig004-1-drop.toml", &[]);
    // From a Runge-Kutta of x, z, v_x, v_z, ω_y and e written apart. Every bounce enlarges a difference fourfold (the force
    // is stiff against the step), so the time of the last slip is known within some bounces only: a change of the start
    // by 1e-15 m moves it between 0.554 s and 0.585 s.
    close("z(0.1)", coarse.at("ball.position.z", 0.1), 0.19999965745946308, 1e-14);
    close("v_x(0.1)", coarse.at("ball.velocity.x", 0.1), 1.8830239715348434, 1e-13);
    close("z(0.3)", coarse.at("ball.position.z", 0.3), 0.20072172893693743, 1e-9);
    close("v_x(0.3)", coarse.at("ball.velocity.x", 0.3), 1.6920209447632384, 1e-8);
    close("slip above 0.05 m/s until", last_above(&coarse, 0.05), 0.57, 0.02);
    close("v_x(1)", coarse.at("ball.velocity.x", 1.0), 10.0 / 7.0, 1e-4);
    let height = coarse.column("ball.position.z");
    let landings = height.windows(2).filter(|z| z[0] >= 0.2 && z[1] < 0.2).count();
    assert!((26..=30).contains(&landings), "{landings} bounces");
    check_momentum(&coarse);
    let fine = run_every("fig004-1-drop.toml", 5, &["simulation.step=2e-6"]);
    close("slip above 0.05 m/s until", last_above(&fine, 0.05), 0.5567, 5e-3);
    close("v_x(1)", fine.at("ball.velocity.x", 1.0), 1.4286898825, 1e-7);
    check_momentum(&fine);
}

#[test]
fn sphere_without_the_stage_step_diverges() {
    // The law of seed 001 (tau = 0) has T·K/B = 100 here, and Runge-Kutta is stable up to 2.78 in slip.
    let text = std::fs::read_to_string(scenario_path("fig004-1-rest.toml")).unwrap();
    let plain = text.replace(
        "law = \"proxy\", mu = 0.1, stiffness = 1e7, damping = 10",
        "law = \"relaxed\", mu = 0.1, stiffness = 1e7, beta = 1e-6",
    );
    assert_ne!(text, plain);
    let mut simulation = written(&plain, &[]);
    let outcome = simulation.advance(10_000);
    let slid = matches!(outcome, Err(RunError::Diverged { .. }));
    let ball = simulation.body("ball").unwrap();
    assert!(slid || simulation.velocity(ball)[0].abs() > 1e3, "{outcome:?}");
}

// Simulation II: the arm as a linkage.

const SHOULDER: &str = "arm.shoulder.position";
const ELBOW: &str = "arm.elbow.position";

#[track_caller]
fn angles(what: &str, run: &Run, t: f64, expected: [f64; 2], tolerance: f64) {
    close(
        &format!("{what} shoulder({t})"),
        run.at(SHOULDER, t),
        expected[0],
        tolerance,
    );
    close(&format!("{what} elbow({t})"), run.at(ELBOW, t), expected[1], tolerance);
}

/// Limit for a step of 0, from a reference with tight tolerance.
const LIMIT: [(f64, [f64; 2]); 4] = [
    (2.0, [9.41488882879e-5, 0.0604315952586]),
    (4.0, [0.821457772216, 2.41751898017]),
    (5.0, [1.18022149325, 2.45187107967]),
    (10.0, [1.18026082417, 2.45191460598]),
];

#[test]
fn arm_with_proxy_friction() {
    let run = run("fig004-2-proxy.toml", &[]);
    angles("arm", &run, 2.0, [9.41435987938e-5, 0.060431508184], 1e-9);
    angles("arm", &run, 4.0, [0.821457438349, 2.41751880992], 1e-9);
    angles("arm", &run, 5.0, [1.18014945399, 2.4518424387], 1e-9);
    angles("arm", &run, 10.0, [1.18018838761, 2.45188625003], 1e-9);
    for (joint, last) in [("shoulder", 4.5401), ("elbow", 4.0866)] {
        let (t, mode) = (run.column("t"), run.column(&format!("{joint}_friction.mode")));
        let slips = (0..t.len()).rfind(|&k| mode[k] == 1.0).unwrap();
        close(&format!("last slip of the {joint}"), t[slips], last, 1e-12);
        // While it sticks, the proxy does not move: theta − e stays the same number for five seconds.
        let theta = run.column(&format!("arm.{joint}.position"));
        let e = run.column(&format!("{joint}_friction.e"));
        let proxy: Vec<f64> = (50_000..t.len()).map(|k| theta[k] - e[k]).collect();
        assert!(range(&proxy) < 5e-14, "{joint} proxy moved by {:e}", range(&proxy));
        let force = run.column(&format!("{joint}_friction.force"));
        assert!(force.iter().all(|f| f.abs() <= 0.5 * (1.0 + 1e-15)));
    }
}

/// Shift of the mean between 5 s and 9 s, over whole periods of the tremble: 10 of them, 2·pi/100 s each.
fn shift(run: &Run, column: &str) -> f64 {
    let values = run.column(column);
    let mean = |from: f64| {
        let first = (from * 1e4).round() as usize;
        let length = 20.0 * std::f64::consts::PI / 100.0 * 1e4;
        let whole = length.floor();
        let sum: f64 = values[first..first + whole as usize].iter().sum();
        (sum + (length - whole) * values[first + whole as usize]) / length
    };
    // 4 s is no whole number of periods: the second window begins at the same phase, a little later.
    let period = std::f64::consts::PI / 50.0;
    let cycles = (4.0 / period).round();
    (mean(5.0 + cycles * period) - mean(5.0)) * 4.0 / (cycles * period)
}

#[test]
fn arm_stays_with_proxy_and_drifts_with_lugre() {
    let proxy = run("fig004-2-proxy.toml", &[]);
    for column in [SHOULDER, ELBOW] {
        assert!(
            shift(&proxy, column).abs() < 3e-9,
            "{column} {:e}",
            shift(&proxy, column)
        );
    }
    let lugre = run("fig004-2-lugre.toml", &[]);
    close("shoulder", shift(&lugre, SHOULDER), 0.0217245, 2e-5);
    close("elbow", shift(&lugre, ELBOW), 0.0251236, 2e-5);
    for (t, expected) in [
        (2.0, [5.12263e-4, 0.0649245917]),
        (4.0, [0.8374782867, 2.4177246503]),
        (5.0, [1.2029444806, 2.4557350028]),
        (10.0, [1.2300621364, 2.4873268426]),
    ] {
        angles("LuGre", &lugre, t, expected, 1e-9);
    }
}

#[test]
fn arm_with_proxy_friction_is_of_first_order() {
    let steps = ["4e-4", "2e-4", "1e-4", "5e-5", "2.5e-5"];
    let expected = [2.65e-4, 1.39e-4, 7.20e-5, 3.68e-5, 1.86e-5];
    let mut errors = Vec::new();
    for (step, expected) in steps.iter().zip(expected) {
        let sets = [format!("simulation.step={step}"), "simulation.duration=5 s".into()];
        let run = run_every("fig004-2-proxy.toml", 100, &[&sets[0], &sets[1]]);
        let apart = [
            run.at(SHOULDER, 5.0) - LIMIT[2].1[0],
            run.at(ELBOW, 5.0) - LIMIT[2].1[1],
        ];
        let error = apart[0].abs().max(apart[1].abs());
        close(&format!("error at step {step}"), error, expected, 0.006 * expected);
        errors.push(error);
    }
    for order in orders(&errors) {
        assert!((order - 1.0).abs() < 0.08, "order {order}");
    }
}

/// The arm with the law of seed 001 (tau = 0, beta = B/K). The torque takes the mean of both sides where it jumps, so
/// that the two stages that see the jump together give the right impulse.
fn relaxed_arm(step: &str, duration: &str) -> Run {
    let text = std::fs::read_to_string(scenario_path("fig004-2-proxy.toml")).unwrap();
    let mut plain = text
        .replace("law = \"proxy\"", "law = \"relaxed\"")
        .replace("damping = \"1 Nm s/rad\"", "beta = 2e-4");
    for wave in ["sin", "cos"] {
        plain = plain.replace(
            &format!("if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*{wave}(100*t))"),
            &format!(
                "if(t < 4, min(0.52, 0.3*t), if(t > 4, 0.336 + 0.144*{wave}(100*t), 0.5*(0.52 + 0.336 + 0.144*{wave}(400))))"
            ),
        );
    }
    assert!(plain.contains("sin(400)") && plain.contains("cos(400)") && plain.contains("beta"));
    let sets = [
        format!("simulation.step={step}"),
        format!("simulation.duration={duration}"),
    ];
    finish(written(&plain, &[&sets[0], &sets[1]]), 100)
}

#[test]
fn arm_with_relaxed_friction_is_near_the_limit() {
    let run = relaxed_arm("1e-4", "10 s");
    for (t, expected) in LIMIT {
        angles("relaxed", &run, t, expected, 2e-7);
    }
    let fine = relaxed_arm("2.5e-5", "5 s");
    for (t, expected) in &LIMIT[..3] {
        angles("relaxed, fine", &fine, *t, *expected, 1.2e-8);
    }
}

// The whole arm as one differential equation, by hand.

/// Torque of the two motors in simulation II (eq 28c, d).
fn motors(t: f64) -> [f64; 2] {
    if t < 4.0 {
        [f64::min(0.52, 0.3 * t); 2]
    } else {
        [
            0.336 + 0.144 * libm::sin(100.0 * t),
            0.336 + 0.144 * libm::cos(100.0 * t),
        ]
    }
}

/// Rates of (theta, omega, e) with the stage step tau: two equal rods with m = 0.5, l = 0.3, centre of mass in the
/// middle, inertia m·l²/12 about it.
///
/// H = [ a + 2c·cos θ₁, b + c·cos θ₁; b + c·cos θ₁, b ],  c(θ, ω) = c·sin θ₁·[ −ω₁(2ω₀ + ω₁), ω₀² ]
/// with b = m·l²/3, c = m·l²/2, a = 2b + m·l².
fn arm_rate(state: &[f64; 6], t: f64, tau: f64) -> [f64; 6] {
    let [_, theta, w0, w1, e0, e1] = *state;
    let ml2 = 0.5 * 0.3 * 0.3;
    let (b, c) = (ml2 / 3.0, ml2 / 2.0);
    let a = 2.0 * b + ml2;
    let mut torque = motors(t);
    let mut rate = [w0, w1, 0.0, 0.0, 0.0, 0.0];
    for (i, (w, e)) in [(w0, e0), (w1, e1)].into_iter().enumerate() {
        // Eq 19: f = gsat(F, (B + τK)·ω + K·e), e′ = (f − K·e)/(B + τK).
        let f = ((1.0 + tau * 5000.0) * w + 5000.0 * e).clamp(-0.5, 0.5);
        rate[4 + i] = (f - 5000.0 * e) / (1.0 + tau * 5000.0);
        torque[i] -= f;
    }
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let h = [[a + 2.0 * c * cos, b + c * cos], [b + c * cos, b]];
    let rest = [
        torque[0] + c * sin * w1 * (2.0 * w0 + w1),
        torque[1] - c * sin * w0 * w0,
    ];
    let determinant = h[0][0] * h[1][1] - h[0][1] * h[1][0];
    rate[2] = (h[1][1] * rest[0] - h[0][1] * rest[1]) / determinant;
    rate[3] = (h[0][0] * rest[1] - h[1][0] * rest[0]) / determinant;
    rate
}

/// One step of eq 21.
fn arm_step(state: &[f64; 6], k: u64, step: f64) -> [f64; 6] {
    let t = |half: u64| (2 * k + half) as f64 / 20_000.0;
    let moved = |h: f64, rate: &[f64; 6]| std::array::from_fn::<f64, 6, _>(|i| state[i] + h * rate[i]);
    let first = arm_rate(state, t(0), step / 2.0);
    let second = arm_rate(&moved(step / 2.0, &first), t(1), step / 2.0);
    let third = arm_rate(&moved(step / 2.0, &second), t(1), step);
    let fourth = arm_rate(&moved(step, &third), t(2), step);
    std::array::from_fn(|i| state[i] + step / 6.0 * (first[i] + 2.0 * second[i] + 2.0 * third[i] + fourth[i]))
}

#[test]
fn modular_equals_monolithic() {
    let run = run("fig004-2-proxy.toml", &["simulation.duration=6 s"]);
    let columns = [
        "arm.shoulder.position",
        "arm.elbow.position",
        "arm.shoulder.velocity",
        "arm.elbow.velocity",
        "shoulder_friction.e",
        "elbow_friction.e",
    ]
    .map(|name| run.column(name));
    let mut state = [0.0; 6];
    let mut worst = [0.0f64; 6];
    for k in 0..60_000 {
        state = arm_step(&state, k, 1e-4);
        for i in 0..6 {
            worst[i] = worst[i].max((columns[i][k as usize + 1] - state[i]).abs());
        }
    }
    // Different order of the same operations, over sliding and sticking.
    assert!(worst.iter().all(|w| *w < 1e-11), "{worst:?}");
}

// Simulation III: the arm as free bodies and penalty joints.

/// Joint angles from the rotations of both links about an axis.
fn penalty_angles(run: &Run, axis: [f64; 3]) -> [Vec<f64>; 2] {
    let turned = |body: &str| -> Vec<f64> {
        let q = ["qw", "qx", "qy", "qz"].map(|part| run.column(&format!("{body}.{part}")));
        (0..q[0].len())
            .map(|k| {
                let along = axis[0] * q[1][k] + axis[1] * q[2][k] + axis[2] * q[3][k];
                2.0 * along.atan2(q[0][k])
            })
            .collect()
    };
    let (upper, lower) = (turned("upper"), turned("lower"));
    let relative = upper.iter().zip(&lower).map(|(u, l)| l - u).collect();
    [upper, relative]
}

const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn apart(a: &[Vec<f64>; 2], b: &[Vec<f64>; 2]) -> f64 {
    let mut worst: f64 = 0.0;
    for i in 0..2 {
        assert_eq!(a[i].len(), b[i].len());
        for (a, b) in a[i].iter().zip(&b[i]) {
            worst = worst.max((a - b).abs());
        }
    }
    worst
}

fn stiffness_sets(stiffness: f64, damping: f64) -> Vec<String> {
    ["shoulder", "elbow"]
        .iter()
        .flat_map(|joint| {
            [
                format!("elements.{joint}.stiffness={stiffness:e}"),
                format!("elements.{joint}.damping={damping:e}"),
            ]
        })
        .collect()
}

#[test]
fn penalty_arm_is_the_linkage_up_to_its_stiffness() {
    let linkage = run_every("fig004-2-proxy.toml", 10, &[]);
    let reference = [linkage.column(SHOULDER), linkage.column(ELBOW)];
    let standard = run_every("fig004-3.toml", 10, &[]);
    let found = penalty_angles(&standard, Z);
    // The reference applies the joint force at each body's own point, 1 µm apart: 1.4e-8 rad.
    close("shoulder(10)", *found[0].last().unwrap(), 1.18017480209, 3e-8);
    close("elbow(10)", *found[1].last().unwrap(), 2.45188299833, 3e-8);
    let mut errors = vec![];
    for (stiffness, damping, expected) in [(1e4, 30.0, 1.53e-3), (1e5, 95.0, 1.89e-4), (1e6, 300.0, 3.3e-5)] {
        let sets = stiffness_sets(stiffness, damping);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let run = run_every("fig004-3.toml", 10, &sets);
        let error = apart(&penalty_angles(&run, Z), &reference);
        // The damping of the joints at other stiffnesses is not on record, so only the size is compared.
        assert!(
            error > 0.7 * expected && error < 1.3 * expected,
            "{stiffness:e}: {error:e} against {expected:e}"
        );
        errors.push(error);
    }
    assert!(errors[0] > 5.0 * errors[1] && errors[1] > 5.0 * errors[2]);
    let gaps = [standard.column("shoulder.gap"), standard.column("elbow.gap")];
    assert!(largest(&gaps[0]).max(largest(&gaps[1])) < 2.4e-6);
    // No drift: the friction's proxy stays while the arm trembles.
    let window = 7_000..10_000;
    for (joint, angle) in ["shoulder", "elbow"].iter().zip(&found) {
        let e = standard.column(&format!("{joint}.e"));
        let proxy: Vec<f64> = window.clone().map(|k| angle[k] - e[k]).collect();
        let trend = proxy[2_900..].iter().sum::<f64>() / 100.0 - proxy[..100].iter().sum::<f64>() / 100.0;
        assert!(trend.abs() < 1e-9, "{joint} {trend:e}");
    }
}

#[test]
fn penalty_arm_ten_times_stiffer() {
    let fine = "simulation.step=5e-5";
    let linkage = run_every("fig004-2-proxy.toml", 20, &[fine]);
    let mut sets = stiffness_sets(1e7, 950.0);
    sets.push(fine.into());
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let run = run_every("fig004-3.toml", 20, &sets);
    let error = apart(
        &penalty_angles(&run, Z),
        &[linkage.column(SHOULDER), linkage.column(ELBOW)],
    );
    assert!(error > 2.3e-6 && error < 4.3e-6, "{error:e} against 3.3e-6");
}

/// Rotates a vector by the unit quaternion w, x, y, z.
fn rotated(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let u = [q[1], q[2], q[3]];
    let t = cross(u, v).map(|x| 2.0 * x);
    let turn = cross(u, t);
    std::array::from_fn(|i| v[i] + q[0] * t[i] + turn[i])
}

#[test]
fn penalty_arm_does_not_care_where_its_base_points() {
    let straight = run_every("fig004-3.toml", 10, &["simulation.duration=5 s"]);
    // The same arm drawn in other axes: every vector and the inertia turned by one rotation.
    let q = {
        let raw = [0.3, -0.5, 0.7, 0.4];
        let norm = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
        raw.map(|x: f64| x / norm)
    };
    let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], Z].map(|axis| rotated(q, axis));
    let moments = [2e-4, 3.75e-3, 3.75e-3];
    let inertia = |i: usize, j: usize| (0..3).map(|k| moments[k] * columns[k][i] * columns[k][j]).sum::<f64>();
    let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|(i, j)| inertia(i, j));
    let point = |x: f64| rotated(q, [x, 0.0, 0.0]);
    let mut sets = vec!["simulation.duration=5 s".to_string()];
    for (body, x) in [("upper", 0.15), ("lower", 0.45)] {
        sets.push(format!("bodies.{body}.inertia={entries:?}"));
        sets.push(format!("bodies.{body}.position={:?}", point(x)));
    }
    for (joint, other) in [("shoulder", 0.0), ("elbow", 0.15)] {
        sets.push(format!("elements.{joint}.axis={:?}", columns[2]));
        sets.push(format!("elements.{joint}.at=[{:?}, {:?}]", point(-0.15), point(other)));
    }
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let turned = run_every("fig004-3.toml", 10, &sets);
    let worst = apart(&penalty_angles(&straight, Z), &penalty_angles(&turned, columns[2]));
    assert!(worst < 5e-12, "{worst:e}");
}

/// Twist of two links about their length: J·φ₀″ = −K·φ₀ − B·φ₀′ + K·(φ₁ − φ₀) + B·(φ₁′ − φ₀′), J·φ₁″ = −(the same coupling).
fn twist_rate(s: [f64; 4]) -> [f64; 4] {
    let (k, b, j) = (200.0, 0.2, 2e-4);
    let coupling = k * (s[1] - s[0]) + b * (s[3] - s[2]);
    [s[2], s[3], (coupling - k * s[0] - b * s[2]) / j, -coupling / j]
}

#[test]
fn twist_of_a_link_decays() {
    // The lower link begins turned by 0.02 rad about its length: the axes of the elbow do not agree.
    let (sin, cos) = 0.01f64.sin_cos();
    let rotation = format!("bodies.lower.rotation=[{cos}, {sin}, 0, 0]");
    let sets = [
        "simulation.duration=0.1 s",
        &rotation,
        "elements.shoulder.torque=0",
        "elements.elbow.torque=0",
    ];
    let run = run("fig004-3.toml", &sets);
    let twist = |body: &str| -> Vec<f64> {
        let (w, x) = (run.column(&format!("{body}.qw")), run.column(&format!("{body}.qx")));
        w.iter().zip(&x).map(|(w, x)| 2.0 * x.atan2(*w)).collect()
    };
    let found = [twist("upper"), twist("lower")];
    let mut s = [0.0, 0.02, 0.0, 0.0];
    for (upper, lower) in found[0].iter().zip(&found[1]).skip(1).take(1000) {
        // Ten small Runge-Kutta steps for each step of the run.
        for _ in 0..10 {
            let h = 1e-5;
            let moved = |h: f64, r: [f64; 4]| std::array::from_fn(|i| s[i] + h * r[i]);
            let a = twist_rate(s);
            let b = twist_rate(moved(h / 2.0, a));
            let c = twist_rate(moved(h / 2.0, b));
            let d = twist_rate(moved(h, c));
            s = std::array::from_fn(|i| s[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        // The joints pull with the sine of the angle: 0.02³/6 apart.
        close("twist of the upper link", *upper, s[0], 3e-6);
        close("twist of the lower link", *lower, s[1], 3e-6);
    }
    close("twist left after 0.1 s", found[1][1000], s[1], 1e-12);
    assert!(found[0][1000].abs().max(found[1][1000].abs()) < 1.5e-10);
}
