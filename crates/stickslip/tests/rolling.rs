//! Resistance to rolling and spinning: moments of at most an arm times the normal force of the same step.
//!
//! Expected values are closed forms: with moment arm δ a wheel of radius R and inertia k·m·R² on a slope α has the acceleration
//! g·(sin α − (δ/R)·cos α)/(1 + k), and holds while tan α ≤ min(δ/R, μ).
#![allow(missing_docs)]

mod common;

use common::{Run, finish, written};
use stickslip::Simulation;
use stickslip::scenario::Scenario;

const G: f64 = 9.81;
const RADIUS: f64 = 0.05;
const ARM: f64 = 5e-4;
const METHODS: [&str; 2] = ["implicit-euler", "implicit-midpoint"];
/// How the contact is written: found between shapes, or named.
const WAYS: [bool; 2] = [true, false];

/// Gravity on a slope that falls towards +x.
fn slope(angle: f64) -> [f64; 3] {
    [G * angle.sin(), 0.0, -G * angle.cos()]
}

/// One ball on a plane. `friction` has what else is in the friction, `ball` what else is in the body.
fn ball(method: &str, found: bool, step: f64, duration: f64, gravity: [f64; 3], friction: &str, ball: &str) -> String {
    let friction = format!("friction = {{ law = \"implicit\", {friction} }}");
    let surface = match found {
        true => format!(
            "[contacts]\n{friction}\n[bodies.table]\nkind = \"fixed\"\nshape = {{ plane = {{ normal = [0, 0, 1] }} }}\n"
        ),
        false => format!(
            "[elements.contacts]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
             normal = {{ law = \"rigid\" }}\n{friction}\n"
        ),
    };
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{method}\"\ngravity = {gravity:?}\n{surface}\
         [bodies.ball]\nkind = \"rigid-body\"\nmass = 0.7\nshape = {{ sphere = {RADIUS} }}\nposition = [0, 0, {RADIUS}]\n{ball}\n"
    )
}

fn state(simulation: &Simulation, name: &str) -> (Vec<f64>, Vec<f64>) {
    let body = simulation.body(name).unwrap();
    (simulation.position(body).to_vec(), simulation.velocity(body).to_vec())
}

/// The first time a column is exactly 0.
fn stops(run: &Run, column: &str, step: f64) -> f64 {
    let values = run.column(column);
    let first = values.iter().position(|v| *v == 0.0);
    first.unwrap_or_else(|| panic!("{column} does not stop")) as f64 * step
}

/// What the ledger does not account for, relative to the energies that were moved.
fn open(run: &Run) -> f64 {
    let energy = run.report.energy.as_ref().unwrap();
    (energy.residual - energy.numerical.unwrap_or(0.0)).abs() / run.moved()
}

#[test]
fn a_ball_holds_on_a_slope_exactly_up_to_its_arm_over_its_radius() {
    let limit = 0.572_938_697_68f64.to_radians();
    for method in METHODS {
        for found in WAYS {
            for step in [1e-3, 1e-2] {
                for spinning in ["", ", spinning = \"1 mm\""] {
                    let friction = format!("mu = 0.3, rolling = \"0.5 mm\"{spinning}");
                    let of = |part: f64| {
                        let text = ball(method, found, step, 10.0, slope(part * limit), &friction, "");
                        let mut simulation = written(&text, &[]);
                        let start = state(&simulation, "ball");
                        simulation.advance(1000).unwrap_or_else(|e| panic!("{e}"));
                        (start, state(&simulation, "ball"))
                    };
                    let (start, end) = of(0.999);
                    assert_eq!(start.0, end.0, "{method} {found} {step}");
                    assert_eq!(end.1, vec![0.0; 6], "{method} {found} {step}");
                    // A thousandth above, it rolls with what is left.
                    let (_, (_, motion)) = of(1.001);
                    let angle = 1.001 * limit;
                    let expected = 5.0 / 7.0 * G * (angle.sin() - ARM / RADIUS * angle.cos()) * 1000.0 * step;
                    assert!(
                        (motion[0] - expected).abs() < 1e-6 * expected,
                        "{method} {found} {step}: {} and {expected}",
                        motion[0]
                    );
                }
            }
        }
    }
}

#[test]
fn a_ball_with_less_friction_than_its_arm_over_its_radius_slides() {
    // tan α ≤ min(δ/R, μ), with μ the smaller.
    for (part, holds) in [(0.999, true), (1.001, false)] {
        let gravity = slope((0.005f64).atan() * part);
        let text = ball(
            "implicit-euler",
            true,
            1e-3,
            1.0,
            gravity,
            "mu = 0.005, rolling = \"0.5 mm\"",
            "",
        );
        let mut simulation = written(&text, &[]);
        simulation.advance(1000).unwrap();
        assert_eq!(state(&simulation, "ball").1 == vec![0.0; 6], holds, "{part}");
    }
}

#[test]
fn a_rolling_ball_comes_to_rest_where_its_resistance_says() {
    let start = "velocity = [1, 0, 0]\nangular_velocity = [0, 20, 0]";
    for method in METHODS {
        for found in WAYS {
            for step in [1e-3, 1e-2] {
                let text = ball(
                    method,
                    found,
                    step,
                    15.0,
                    slope(0.0),
                    "mu = 0.3, rolling = \"0.5 mm\"",
                    start,
                );
                let run = finish(written(&text, &[]), 1);
                let time = stops(&run, "ball.velocity.x", step);
                assert!(
                    (time - 14.271_151_886).abs() <= 1.01 * step,
                    "{method} {found} {step}: {time}"
                );
                // The implicit step moves by the velocity of its end: v·T/2 less until it stops.
                let way = run.at("ball.position.x", 15.0);
                let expected = 7.135_575_942_9;
                match method {
                    "implicit-euler" => assert!(
                        (way - (expected - 0.5 * step)).abs() < 1e-2 * step,
                        "{found} {step}: {way}"
                    ),
                    _ => assert!((way - expected).abs() < 1e-7, "{found} {step}: {way}"),
                }
                // All of its energy has become heat: 7/10·m·v².
                let heat = run.element("contacts", "dissipated");
                let lost = run.report.energy.as_ref().unwrap().numerical.unwrap_or(0.0).abs();
                assert!(
                    (heat + lost - 0.7 * 0.7).abs() < 1e-9,
                    "{method} {found} {step}: {heat} {lost}"
                );
                assert!(open(&run) < 1e-10, "{method} {found} {step}: {}", open(&run));
            }
        }
    }
}

#[test]
fn a_ball_rolls_down_a_slope_with_what_is_left_of_its_weight() {
    for method in METHODS {
        for found in WAYS {
            for step in [1e-3, 1e-2] {
                let gravity = slope(2f64.to_radians());
                let text = ball(method, found, step, 1.0, gravity, "mu = 0.3, rolling = \"0.5 mm\"", "");
                let run = finish(written(&text, &[]), 1);
                let speed = run.at("ball.velocity.x", 1.0);
                assert!(
                    (speed - 0.174_517_016_09).abs() < 1e-9,
                    "{method} {found} {step}: {speed}"
                );
                assert!(open(&run) < 1e-10, "{method} {found} {step}: {}", open(&run));
            }
        }
    }
}

#[test]
fn a_ball_that_slides_begins_to_roll_and_then_stops() {
    for method in METHODS {
        for found in WAYS {
            for step in [1e-3, 1e-2] {
                let text = ball(
                    method,
                    found,
                    step,
                    12.0,
                    slope(0.0),
                    "mu = 0.3, rolling = \"0.5 mm\"",
                    "velocity = [1, 0, 0]",
                );
                let run = finish(written(&text, &[]), 1);
                // While it slides it slows by μ·g; afterwards by (5/7)·g·δ/R. The lines cross where it begins to roll.
                let rolls = 0.099_450_535_790;
                let (early, late) = ((0.05 / step).round() * step, 1.0);
                let slides = run.at("ball.velocity.x", early);
                assert!(
                    (slides - (1.0 - 0.3 * G * early)).abs() < 1e-9,
                    "{method} {found} {step}: {slides}"
                );
                let slows = 5.0 / 7.0 * G * ARM / RADIUS;
                let after = run.at("ball.velocity.x", late) + slows * (late - rolls);
                // First order in the one step in which it begins to roll: that is rolling with δ·N in part of it.
                let tolerance = if method == "implicit-euler" { step } else { 1e-6 };
                assert!(
                    (after - 0.707_317_073_17).abs() < tolerance,
                    "{method} {found} {step}: {after}"
                );
                let way = run.at("ball.position.x", 12.0);
                let expected = 3.654_807_190_3;
                let tolerance = if method == "implicit-euler" { step } else { 1e-5 };
                assert!((way - expected).abs() < tolerance, "{method} {found} {step}: {way}");
                assert!(open(&run) < 1e-10, "{method} {found} {step}: {}", open(&run));
            }
        }
    }
}

#[test]
fn a_spinning_ball_stops_where_its_resistance_says() {
    for method in METHODS {
        for found in WAYS {
            for step in [1e-3, 1e-2] {
                let text = ball(
                    method,
                    found,
                    step,
                    1.2,
                    slope(0.0),
                    "mu = 0.3, spinning = \"1 mm\"",
                    "angular_velocity = [0, 0, 10]",
                );
                let run = finish(written(&text, &[]), 1);
                let time = stops(&run, "ball.wz", step);
                assert!(
                    (time - 1.019_367_991_8).abs() <= 1.01 * step,
                    "{method} {found} {step}: {time}"
                );
                // The angle of the turn about z, with the whole turns before: half a turn is passed once.
                let angle = 2.0 * f64::atan2(run.at("ball.qz", 1.2), run.at("ball.qw", 1.2));
                let turns = angle.rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU;
                let (expected, tolerance) = match method {
                    "implicit-euler" => (
                        0.811_187_273_66 - 0.5 * 10.0 * step / std::f64::consts::TAU,
                        1e-1 * step,
                    ),
                    _ => (0.811_187_273_66, 1e-6),
                };
                assert!((turns - expected).abs() < tolerance, "{method} {found} {step}: {turns}");
                assert!(open(&run) < 1e-10, "{method} {found} {step}: {}", open(&run));
            }
        }
    }
}

/// A wheel across the slope, found.
fn wheel(method: &str, shape: &str, gravity: [f64; 3], surface: &str) -> String {
    format!(
        "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"{method}\"\ngravity = {gravity:?}\n\
         [contacts]\nfriction = {{ law = \"implicit\", mu = 0.5, rolling = \"1 mm\" }}\n\
         [bodies.table]\nkind = \"fixed\"\nshape = {surface}\n\
         [bodies.wheel]\nkind = \"rigid-body\"\nmass = 3\nshape = {shape}\nposition = [0, 0, 0.1]\n\
         rotation = [0.7071067811865476, 0.7071067811865476, 0, 0]\n"
    )
}

#[test]
fn cylinders_and_capsules_resist_with_all_their_points() {
    let (r, l): (f64, f64) = (0.1, 0.3);
    let part = 4.0 / 3.0 * r / (4.0 / 3.0 * r + l);
    let shapes = [
        ("{ sphere = 0.1 }", 0.4),
        ("{ cylinder = { radius = 0.1, length = 0.3 } }", 0.5),
        (
            "{ capsule = { radius = 0.1, length = 0.3 } }",
            0.5 * (1.0 - part) + 0.4 * part,
        ),
    ];
    for method in METHODS {
        for surface in [
            "{ plane = { normal = [0, 0, 1] } }",
            "[{ box = [9, 4, 1], position = [0, 0, -0.5] }]",
        ] {
            for (shape, inertia) in shapes {
                let of = |tangent: f64| {
                    let text = wheel(method, shape, slope(tangent.atan()), surface);
                    let mut simulation = written(&text, &[]);
                    // The rotation as written is rounded; the first steps make it one.
                    simulation.advance(10).unwrap_or_else(|e| panic!("{e}"));
                    let start = state(&simulation, "wheel").0;
                    simulation.advance(990).unwrap_or_else(|e| panic!("{e}"));
                    let (end, motion) = state(&simulation, "wheel");
                    (start == end && motion == vec![0.0; 6], motion)
                };
                let (holds, motion) = of(0.00999);
                assert!(holds, "{method} {shape} {surface}: {motion:?}");
                for tangent in [0.01001, 0.2] {
                    let angle = f64::atan(tangent);
                    let expected = G * (angle.sin() - 0.01 * angle.cos()) / (1.0 + inertia);
                    let (_, motion) = of(tangent);
                    assert!(
                        (motion[0] - expected).abs() < 1e-6 * expected,
                        "{method} {shape} {surface}: {} and {expected}",
                        motion[0]
                    );
                }
            }
        }
    }
}

#[test]
fn materials_give_the_arms_and_the_order_of_bodies_does_not_matter() {
    let head = "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
                [contacts]\nfriction = { law = \"implicit\", mu = 0.5 }\n\
                [[contacts.materials]]\npair = [\"rubber\", \"steel\"]\nrolling = \"1 mm\"\nspinning = \"3 mm\"\n\
                [materials.rubber]\nrolling = \"4 mm\"\n[materials.steel]\nrolling = \"9 mm\"\n[materials.felt]\nrolling = \"1 mm\"\nspinning = \"2 mm\"\n\
                [bodies.table]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\nmaterial = \"steel\"\n";
    let part = |name: &str, y: f64| {
        format!(
            "[bodies.{name}]\nkind = \"rigid-body\"\nmass = 0.7\nmaterial = \"{name}\"\nshape = {{ sphere = 0.05 }}\n\
             position = [0, {y}, 0.05]\nvelocity = [1, 0, 0]\nangular_velocity = [0, 20, 10]\n"
        )
    };
    let parts = [part("rubber", 0.0), part("felt", 1.0)];
    let run = |order: [usize; 2]| {
        let text = format!("{head}{}{}", parts[order[0]], parts[order[1]]);
        let mut simulation = written(&text, &[]);
        simulation.advance(100).unwrap();
        simulation
    };
    let (one, other) = (run([0, 1]), run([1, 0]));
    // Of a pair its own arms; of others the mean, and the only one that is given.
    for (name, rolling, spinning) in [("rubber", 1e-3, 3e-3), ("felt", 3e-3, 2e-3)] {
        let motion = state(&one, name).1;
        let speed = 1.0 - 5.0 / 7.0 * G * rolling / RADIUS * 0.1;
        let spin = 10.0 - 2.5 * G * spinning / (RADIUS * RADIUS) * 0.1;
        assert!((motion[0] - speed).abs() < 1e-9, "{name}: {} and {speed}", motion[0]);
        assert!((motion[5] - spin).abs() < 1e-9, "{name}: {} and {spin}", motion[5]);
        assert_eq!(state(&one, name), state(&other, name));
    }
}

#[test]
fn a_ball_on_a_box_that_slopes_holds() {
    // What holds fast to the table is such a surface itself.
    let text = "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0.08, 0, -9.81]\n\
                [contacts]\nfriction = { law = \"implicit\", mu = 0.5, rolling = \"1 mm\", spinning = \"1 mm\" }\n\
                [bodies.table]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\n\
                [bodies.sled]\nkind = \"rigid-body\"\nmass = 2\nshape = { box = [0.4, 0.4, 0.1] }\nposition = [0, 0, 0.05]\n\
                [bodies.ball]\nkind = \"rigid-body\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0.03, 0.02, 0.2]\n";
    let mut simulation = written(text, &[]);
    let start = ["ball", "sled"].map(|name| state(&simulation, name));
    simulation.advance(1000).unwrap();
    assert_eq!(start, ["ball", "sled"].map(|name| state(&simulation, name)));
}

#[test]
fn balls_that_resist_rolling_make_a_heap_that_rests() {
    // Three balls in a triangle and one on top, pressed apart by it: without resistance and with little friction they would roll away.
    let mut text = String::from(
        "[simulation]\nduration = 10\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
         [contacts]\nfriction = { law = \"implicit\", mu = 0.6, rolling = \"20 mm\" }\n\
         [bodies.table]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\n",
    );
    let edge = 0.1001 / 3f64.sqrt();
    for k in 0..3 {
        let angle = std::f64::consts::TAU / 3.0 * f64::from(k) + 0.1;
        let (x, y) = (edge * angle.cos(), edge * angle.sin());
        text += &format!(
            "[bodies.low{k}]\nkind = \"rigid-body\"\nmass = 1\nshape = {{ sphere = 0.05 }}\nposition = [{x}, {y}, 0.05]\n"
        );
    }
    let height = 0.05 + (0.01 - edge * edge).sqrt();
    text += &format!(
        "[bodies.top]\nkind = \"rigid-body\"\nmass = 1\nshape = {{ sphere = 0.05 }}\nposition = [0, 0, {height}]\n"
    );
    let names = ["low0", "low1", "low2", "top"];
    let mut simulation = written(&text, &[]);
    simulation.advance(2000).unwrap_or_else(|e| panic!("{e}"));
    let start = names.map(|name| state(&simulation, name).0);
    simulation.advance(8000).unwrap_or_else(|e| panic!("{e}"));
    for (name, start) in names.iter().zip(start) {
        let end = state(&simulation, name).0;
        let moved = start.iter().zip(&end).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-9, "{name}: {moved}");
        assert!(end[2] > 0.049);
    }
    assert!(state(&simulation, "top").0[2] > 0.12);
}

#[test]
fn copies_go_on_with_the_same_bytes() {
    let text = ball(
        "implicit-euler",
        true,
        1e-3,
        20.0,
        slope(0.0),
        "mu = 0.3, rolling = \"0.5 mm\", spinning = \"1 mm\"",
        "velocity = [0.01, 0, 0]\nangular_velocity = [0, 0.2, 1]",
    );
    let mut simulation = written(&text, &[]);
    simulation.advance(130).unwrap();
    let snapshot = simulation.snapshot();
    simulation.advance(300).unwrap();
    let mut other = written(&text, &[]);
    other.restore(&snapshot).unwrap();
    other.advance(300).unwrap();
    assert_eq!(state(&simulation, "ball"), state(&other, "ball"));
}

#[test]
fn what_does_not_roll_is_refused_in_words() {
    let refuse = |text: &str, words: &[&str]| {
        let error = match Scenario::parse(text, "a.toml", &[]) {
            Err(error) => error.to_string(),
            Ok(scenario) => match Simulation::new(scenario) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("not refused: {text}"),
            },
        };
        for word in words {
            assert!(error.contains(word), "{word} in:\n{error}");
        }
    };
    let good = ball(
        "implicit-euler",
        false,
        1e-3,
        1.0,
        slope(0.0),
        "mu = 0.3, rolling = \"1 mm\"",
        "",
    );
    refuse(
        &good
            .replace(
                "law = \"rigid\"",
                "law = \"hunt-crossley\", stiffness = 1e4, damping = 1",
            )
            .replace("implicit-euler", "rk4")
            .replace("law = \"implicit\"", "law = \"lugre\", stiffness = 1e3"),
        &["only a rigid contact resists rolling"],
    );
    refuse(&good.replace("\"1 mm\"", "-1e-3"), &["rolling", "0"]);
    refuse(&good.replace("\"1 mm\"", "\"1 kg\""), &["rolling"]);
    refuse(&good.replace("rolling", "roling"), &["roling", "rolling"]);
    refuse(
        "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
         [bodies.bead]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 0]\nvelocity = [0, 0, 0]\n\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"bead\", \"ground\"]\nsurface = { plane = { normal = [0, 0, 1] } }\n\
         normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.3, spinning = 0.001 }\n",
        &["neither of these bodies turns"],
    );
}
