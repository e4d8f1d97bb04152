//! Observed orders of the integrators on motion with a closed form.

mod common;

use common::{orders, written};
use stickslip::integrate::METHODS;

/// x(t), v(t) of x″ = −w²·x − 2·d·x′ with d < w.
fn damped(w2: f64, d: f64, x0: f64, v0: f64, t: f64) -> [f64; 2] {
    let w = (w2 - d * d).sqrt();
    let (sin, cos) = (w * t).sin_cos();
    let b = (v0 + d * x0) / w;
    let fall = (-d * t).exp();
    [
        fall * (x0 * cos + b * sin),
        fall * ((v0 * cos) - (d * b + w * x0) * sin),
    ]
}

/// Two equal masses between walls, with springs and dampers: they swing together and against each other, and each of
/// the two motions is a damped vibration of its own.
const PAIR: &str = r#"
[simulation]
duration = 1
step = 0.01
integrator = "rk4"
[bodies.a]
kind = "mass"
mass = 2
position = 0.3
velocity = -0.4
[bodies.b]
kind = "mass"
mass = 2
position = -0.1
velocity = 0.7
[elements.left]
kind = "spring"
between = ["a", "ground"]
stiffness = 30
damping = 0.6
implicit = false
[elements.right]
kind = "spring"
between = ["b", "ground"]
stiffness = 30
damping = 0.6
implicit = false
[elements.middle]
kind = "spring"
between = ["a", "b"]
stiffness = 25
damping = 0.8
implicit = false
"#;

/// Error of positions and velocities at 1 s.
fn pair_error(integrator: &str, step: f64) -> f64 {
    let sets = [
        format!("simulation.step={step:e}"),
        format!("simulation.integrator={integrator}"),
    ];
    let mut simulation = written(PAIR, &[&sets[0], &sets[1]]);
    simulation.advance(simulation.built().steps).unwrap();
    let together = damped(15.0, 0.15, 0.1, 0.15, 1.0);
    let against = damped(40.0, 0.55, 0.2, -0.55, 1.0);
    let mut worst: f64 = 0.0;
    for (name, sign) in [("a", 1.0), ("b", -1.0)] {
        let body = simulation.body(name).unwrap();
        let found = [simulation.position(body)[0], simulation.velocity(body)[0]];
        for i in 0..2 {
            worst = worst.max((found[i] - together[i] - sign * against[i]).abs());
        }
    }
    worst
}

#[test]
fn every_method_has_its_order_on_smooth_motion() {
    for row in METHODS {
        // These choose their steps by an error estimate, so they have an accuracy and no order in the output interval.
        if matches!(row.name, "adaptive" | "stiff") {
            assert!(pair_error(row.name, 0.01) < 1e-4, "{}", row.name);
            continue;
        }
        let errors: Vec<f64> = [0.01, 0.005, 0.0025, 0.00125]
            .iter()
            .map(|step| pair_error(row.name, *step))
            .collect();
        for order in orders(&errors) {
            assert!(
                (order - f64::from(row.order)).abs() < 0.1,
                "{} has order {order} with errors {errors:?}",
                row.name
            );
        }
    }
}

/// A block held by friction far below its limit, under a constant push: the bristle is a spring and damper, and the
/// block vibrates to rest. m·x″ = h − K·x − B·x′ as long as it sticks.
fn stuck_error(friction: &str, step: f64) -> f64 {
    let text = format!(
        "[simulation]\nduration = 0.5\nstep = {step:e}\nintegrator = \"rk4\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 2\nforce = 3\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nkinetic = 100\nstiffness = 800\n{friction}\n"
    );
    let mut simulation = written(&text, &[]);
    simulation.advance(simulation.built().steps).unwrap();
    let block = simulation.body("block").unwrap();
    let rest = 3.0 / 800.0;
    let [x, v] = damped(400.0, 4.0, -rest, 0.0, 0.5);
    let apart = [
        simulation.position(block)[0] - (x + rest),
        simulation.velocity(block)[0] - v,
    ];
    apart[0].abs().max(apart[1].abs())
}

#[test]
fn proxy_is_of_first_order_in_stick_and_relaxed_of_fourth() {
    let steps = [2e-3, 1e-3, 5e-4, 2.5e-4];
    let errors = |friction: &str| -> Vec<f64> { steps.iter().map(|step| stuck_error(friction, *step)).collect() };
    let proxy = errors("law = \"proxy\"\ndamping = 16");
    for order in orders(&proxy) {
        assert!((order - 1.0).abs() < 0.07, "proxy {order}: {proxy:?}");
    }
    let relaxed = errors("law = \"relaxed\"\nbeta = 0.02");
    for order in orders(&relaxed) {
        assert!((order - 4.0).abs() < 0.15, "relaxed {order}: {relaxed:?}");
    }
}

/// Sliding without a change of mode: v′ = −F/m, where bristle laws are saturated and the motion is a parabola.
#[test]
fn sliding_is_exact_once_the_bristle_is_saturated() {
    for friction in ["law = \"proxy\"\ndamping = 16", "law = \"relaxed\"\nbeta = 0.02"] {
        let text = format!(
            "[simulation]\nduration = 0.5\nstep = 1e-3\nintegrator = \"rk4\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 2\nvelocity = 50\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nkinetic = 10\nstiffness = 800\n{friction}\n"
        );
        let mut simulation = written(&text, &[]);
        simulation.advance(500).unwrap();
        let block = simulation.body("block").unwrap();
        // The bristle is saturated from the start: (B + τK)·v > F.
        assert!((simulation.velocity(block)[0] - (50.0 - 5.0 * 0.5)).abs() < 1e-10);
        assert!((simulation.position(block)[0] - (25.0 - 0.5 * 5.0 * 0.25)).abs() < 1e-10);
    }
}

/// A pendulum of one link in gravity: the period of a swing of 120 degrees to each side is 4·sqrt(l/g)·K(sin 60°)
/// (the link's effective length is J/(m·c)). After a period it is where it began.
fn pendulum_error(step: f64) -> f64 {
    // K(k) by the arithmetic-geometric mean: pi/2/agm(1, sqrt(1 - k²)), k² = 3/4.
    let (mut a, mut b) = (1.0f64, 0.5f64);
    for _ in 0..20 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let quarter = std::f64::consts::FRAC_PI_2 / a;
    let length = (0.02 + 0.5 * 0.2 * 0.2) / (0.5 * 0.2);
    let period = 4.0 * (length / 9.81f64).sqrt() * quarter;
    let step = period / (period / step).round();
    let text = format!(
        "[simulation]\nduration = {period}\nstep = {step}\nintegrator = \"rk4\"\ngravity = [0, 0, -9.81]\n\
         [bodies.swing]\nkind = \"linkage\"\nlinks = [{{ name = \"rod\", parent = \"ground\", joint = \"pivot\", type = \"revolute\", \
         axis = [0, 1, 0], mass = 0.5, com = [0, 0, -0.2], inertia = [0.02, 0.02, 0.001], position = \"120 deg\" }}]\n"
    );
    let mut simulation = written(&text, &[]);
    simulation.advance(simulation.built().steps).unwrap();
    let swing = simulation.body("swing").unwrap();
    let start = 120f64.to_radians();
    (simulation.position(swing)[0] - start)
        .abs()
        .max(simulation.velocity(swing)[0].abs())
}

#[test]
fn pendulum_returns_at_the_exact_period_with_fourth_order() {
    let errors: Vec<f64> = [0.01, 0.005, 0.0025].iter().map(|step| pendulum_error(*step)).collect();
    for order in orders(&errors) {
        assert!((order - 4.0).abs() < 0.25, "order {order}: {errors:?}");
    }
}
