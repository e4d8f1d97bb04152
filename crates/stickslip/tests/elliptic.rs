//! Elliptic friction in the plane: limits μ₁·N along a direction and μ₂·N across it, maximal dissipation.
//!
//! Expected values are closed forms, and integrations by another program (`reference/elliptic.py`).

mod common;

use common::{close, finish, written};
use stickslip::Simulation;
use stickslip::advice::advise;
use stickslip::handle::{Body, Element};
use stickslip::scenario::Scenario;

const RIGID: &str = "normal = { law = \"rigid\" }";
const SOFT: &str = "normal = { law = \"kelvin-voigt\", stiffness = 2e6, damping = 400 }";

fn head(integrator: &str, step: f64, duration: f64) -> String {
    format!("[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{integrator}\"\n")
}

/// A mass in the plane with one friction on the ground.
fn puck(mass: f64, velocity: [f64; 2], force: &str, friction: &str) -> String {
    format!(
        "[bodies.puck]\nkind = \"mass\"\nmass = {mass}\nposition = [0, 0]\nvelocity = {velocity:?}\nforce = {force}\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"puck\", \"ground\"]\n{friction}\n"
    )
}

fn advanced(text: &str) -> Simulation {
    let mut simulation = written(text, &[]);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap();
    simulation
}

/// Position and velocity along x and y at the end.
fn ends(text: &str) -> [f64; 4] {
    let simulation = advanced(text);
    let (x, v) = (simulation.position(Body::nth(0)), simulation.velocity(Body::nth(0)));
    [x[0], x[1], v[0], v[1]]
}

/// Ends of a method of first order, extrapolated from two steps.
fn extrapolated(text: impl Fn(f64) -> String, step: f64) -> [f64; 4] {
    let (coarse, fine) = (ends(&text(step)), ends(&text(0.5 * step)));
    std::array::from_fn(|i| 2.0 * fine[i] - coarse[i])
}

fn same(what: &str, found: [f64; 4], expected: [f64; 4], tolerance: f64) {
    for (i, name) in ["x", "y", "vx", "vy"].into_iter().enumerate() {
        close(&format!("{what}, {name}"), found[i], expected[i], tolerance);
    }
}

fn refusal(text: &str) -> String {
    let scenario = match Scenario::parse(text, "ellipse.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    match Simulation::new(scenario) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn one_implicit_step_is_the_one_of_maximal_dissipation() {
    // v̄ = (10, 15) mm/s, W = 1e-3: roots of Σ (μᵢ·v̄ᵢ·λ/(1 + W·λ·μᵢ²))² = N².
    let expected = [
        (20.0, [8.1628492916e-3, 7.8936993380e-3]),
        (60.0, [0.54774796265e-3, 0.21420527366e-3]),
        (100.0, [0.0, 0.0]),
    ];
    for (normal, velocity) in expected {
        let friction = format!("law = \"implicit\"\nmu = [0.2, 0.4]\ndirection = [1, 0, 0]\nnormal_force = {normal}");
        let element = head("implicit-euler", 1e-3, 1e-3) + &puck(1.0, [0.01, 0.015], "[0, 0]", &friction);
        // The same in a rigid contact, where the coefficient along the direction is the larger one.
        let contact = head("implicit-euler", 1e-3, 1e-3)
            + &format!(
                "gravity = [0, 0, {}]\n[bodies.puck]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 0]\nvelocity = [0.01, 0.015, 0]\n\
                 [elements.floor]\nkind = \"contact\"\nbetween = [\"puck\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{RIGID}\n\
                 friction = {{ law = \"implicit\", mu = [0.4, 0.2], direction = [0, -3, 0] }}\n",
                -normal
            );
        for text in [element, contact] {
            let mut simulation = written(&text, &[]);
            simulation.advance_observed(1).unwrap();
            simulation.observe();
            for i in 0..2 {
                close("velocity", simulation.velocity(Body::nth(0))[i], velocity[i], 1e-13);
                let force = (velocity[i] - [0.01, 0.015][i]) / 1e-3;
                close("force", simulation.force(Element::nth(0))[i], force, 1e-9);
            }
            if normal == 100.0 {
                assert_eq!(simulation.velocity(Body::nth(0))[..2], [0.0, 0.0], "sticks exactly");
            }
        }
    }
}

#[test]
fn sliding_friction_points_towards_the_rough_axis() {
    // −f at these angles to the direction, and power over N·speed, for μ 0.2 and 0.4.
    let expected = [
        (30.0_f64, 66.586775554_f64, 0.26457513111),
        (45.0, 75.963756532, 0.31622776602),
        (60.0, 81.786789298, 0.36055512755),
    ];
    // A belt without inertia: every law answers to a given motion. Bristles have settled after a second.
    let laws = [
        ("implicit-euler", "implicit", ""),
        ("implicit-euler", "karnopp", "epsilon = 1e-6"),
        ("implicit-euler", "quinn", "epsilon = 1e-6"),
        ("implicit-euler", "proxy", "stiffness = 1e5\ndamping = 100"),
        ("rk4", "proxy", "stiffness = 1e5\ndamping = 100"),
        ("rk4", "relaxed", "stiffness = 1e4\nbeta = 0.01"),
        ("rk4", "lugre", "stiffness = 2e3\ndamping = 10"),
        ("stiff", "dahl", "stiffness = 1e4"),
        ("rk4", "martins-oden", "epsilon = 1e-6"),
        (
            "trapezoidal",
            "subloading",
            "tangential_stiffness = 1e5\nkappa = 0\neta = 0\nr = 1e4",
        ),
    ];
    for (integrator, law, keys) in laws {
        for (degrees, resisting, power) in expected {
            // The direction itself lies at 20 degrees to x.
            let at = |degrees: f64| ((degrees + 20.0).to_radians().cos(), (degrees + 20.0).to_radians().sin());
            let ((x, y), (ex, ey)) = (at(degrees), at(0.0));
            let text = head(integrator, 1e-3, 1.0)
                + &format!(
                    "[bodies.belt]\nkind = \"driver\"\nvelocity = [{}, {}]\n[elements.floor]\nkind = \"friction\"\n\
                     between = [\"belt\", \"ground\"]\nlaw = \"{law}\"\nmu_kinetic = [0.2, 0.4]\nmu_static = [0.2, 0.4]\n\
                     direction = [{ex}, {ey}, 0]\nnormal_force = 5\n{keys}\n",
                    0.3 * x,
                    0.3 * y
                );
            let run = finish(written(&text, &[]), 1000);
            let [fx, fy] = ["x", "y"].map(|axis| run.at(&format!("floor.force.{axis}"), 1.0));
            let found = (-fy).atan2(-fx).to_degrees() - 20.0;
            let what = format!("{law} with {integrator} at {degrees}");
            close(&format!("{what}: angle"), found, resisting, 1e-6);
            close(&format!("{what}: power"), -(fx * x + fy * y) / 5.0, power, 1e-8);
        }
    }
}

#[test]
fn it_holds_within_the_ellipse_and_breaks_away_at_its_rim() {
    // Limits of 6 N along a direction at −40 degrees and 2.4 N across it. The rim in a direction at an angle β from it:
    // 1/√(cos²β/6² + sin²β/2.4²).
    let (a, b) = (6.0_f64, 2.4_f64);
    for degrees in [0.0_f64, 20.0, 55.0, 90.0, 130.0, 260.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let rim = 1.0 / ((cos / a).powi(2) + (sin / b).powi(2)).sqrt();
        let (y, x) = (degrees - 40.0).to_radians().sin_cos();
        let (ey, ex) = (-40.0_f64).to_radians().sin_cos();
        let element = |force: [f64; 2]| {
            let friction = format!("law = \"implicit\"\nkinetic = [6, 2.4]\ndirection = [{ex}, {ey}]");
            head("implicit-euler", 1e-2, 1.0) + &puck(1.5, [0.0; 2], &format!("{force:?}"), &friction)
        };
        let contact = |force: [f64; 2]| {
            // A crate of 1.2 kg on four corners, pressed by 12 N: 0.5 and 0.2.
            head("implicit-euler", 1e-2, 1.0)
                + &format!(
                    "[bodies.crate]\nkind = \"rigid-body\"\nshape = {{ box = [0.4, 0.3, 1e-9] }}\nmass = 1.2\nforce = [{}, {}, -12]\n\
                     [elements.floor]\nkind = \"contact\"\nbetween = [\"crate\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
                     {RIGID}\nfriction = {{ law = \"implicit\", mu = [0.5, 0.2], direction = [{ex}, {ey}, 0.7] }}\n",
                    force[0], force[1]
                )
        };
        for (share, holds) in [(0.999, true), (1.001, false)] {
            let force = [share * rim * x, share * rim * y];
            for (what, text) in [("element", element(force)), ("contact", contact(force))] {
                let simulation = advanced(&text);
                let (position, velocity) = (simulation.position(Body::nth(0)), simulation.velocity(Body::nth(0)));
                // A crate is let down by rounding in its first step.
                let moved = velocity[..2] != [0.0; 2] || position[..2].iter().any(|x| x.abs() > 1e-17);
                assert_eq!(
                    moved, !holds,
                    "{what}, {degrees} degrees, {share} of the rim: {position:?} {velocity:?}"
                );
            }
        }
    }
}

#[test]
fn a_static_level_belongs_to_both_axes() {
    // Holds 1.5 times what it resists in sliding, along and across.
    for (force, holds) in [
        ("[2.98, 0]", true),
        ("[3.02, 0]", false),
        ("[0, 5.98]", true),
        ("[0, 6.02]", false),
    ] {
        for holding in ["3", "[3, 6]"] {
            let friction = format!("law = \"implicit\"\nkinetic = [2, 4]\nstatic = {holding}\ndirection = [1, 0]");
            let [x, y, ..] = ends(&(head("implicit-euler", 1e-3, 0.1) + &puck(1.0, [0.0; 2], force, &friction)));
            assert_eq!(x == 0.0 && y == 0.0, holds, "{force} against {holding}");
        }
    }
}

#[test]
fn a_puck_curves_towards_the_smooth_axis_and_stops_where_it_should() {
    // 1 m/s at 45 degrees, μ 0.2 and 0.4, g = 9.81: v_x ∝ v_y^(1/4).
    let speed = 0.5_f64.sqrt();
    let text = |step: f64| {
        let friction = "law = \"implicit\"\nmu = [0.2, 0.4]\ndirection = [2, 0]\nnormal_force = 9.81";
        head("implicit-euler", step, 0.5) + &puck(1.0, [speed, speed], "[0, 0]", friction)
    };
    let stopped = [0.173824600135, 0.0835365350895, 0.0, 0.0];
    same("puck", extrapolated(text, 1e-4), stopped, 2e-7);
    let run = finish(written(&text(2.5e-5), &[]), 1);
    let [stop] = run.changes("floor", "stick")[..] else {
        panic!("{:?}", run.report.events);
    };
    close("time of the stop", stop, 0.436630002, 5e-5);
    let (x, y) = (run.column("puck.velocity.x"), run.column("puck.velocity.y"));
    for k in (0..=12000).step_by(2000) {
        close("v_x over v_y^(1/4)", x[k] / y[k].powf(0.25), speed.powf(0.75), 2e-4);
    }
    // All of its energy becomes heat, but for what the method itself loses.
    let energy = run.report.energy.as_ref().unwrap();
    close("ledger", energy.residual, energy.numerical.unwrap(), 1e-13);
    close("heat", run.element("floor", "dissipated"), 0.5, 5e-5);
}

#[test]
fn a_pushed_puck_follows_the_path_of_another_program() {
    let (ey, ex) = 25.0_f64.to_radians().sin_cos();
    let expected = [0.471594948257, -0.113077003347, 0.679053038851, 0.227288619014];
    let levels = format!("mu = [0.15, 0.35], direction = [{ex}, {ey}, 0]");
    let element = |step: f64| {
        let friction = format!(
            "law = \"implicit\"\n{}\nnormal_force = 19",
            levels.replace("], ", "]\n")
        );
        head("implicit-euler", step, 0.5) + &puck(2.0, [1.2, -0.9], "[1.5, 0.6]", &friction)
    };
    same("element", extrapolated(element, 1e-3), expected, 1e-5);
    let contact = |integrator: &str, step: f64, laws: &str| {
        head(integrator, step, 0.5)
            + &format!(
                "[bodies.puck]\nkind = \"mass\"\nmass = 2\nposition = [0, 0, 0]\nvelocity = [1.2, -0.9, 0]\nforce = [1.5, 0.6, -19]\n\
                 [elements.floor]\nkind = \"contact\"\nbetween = [\"puck\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{laws}\n"
            )
    };
    let rigid = |step: f64| {
        contact(
            "implicit-euler",
            step,
            &format!("{RIGID}\nfriction = {{ law = \"implicit\", {levels} }}"),
        )
    };
    same("rigid", extrapolated(rigid, 1e-3), expected, 1e-5);
    // It begins 19/2e6 m above its balance and unloaded: a few µm.
    for (integrator, law) in [
        ("rk4", "law = \"proxy\", stiffness = 1e6, damping = 300"),
        ("stiff", "law = \"lugre\", stiffness = 1e6, damping = 30"),
        ("rk4", "law = \"martins-oden\", epsilon = 1e-6"),
    ] {
        let text = contact(integrator, 2e-5, &format!("{SOFT}\nfriction = {{ {law}, {levels} }}"));
        same(law, ends(&text), expected, 1e-4);
    }
}

/// A ball that cannot be turned, of 0.5 kg, pressed by 4 N on a table that cannot be moved.
fn ball(integrator: &str, step: f64, duration: f64, spins: [f64; 2], start: [f64; 2], contact: &str) -> String {
    let heavy = "mass = 1e12\ninertia = [1e12, 1e12, 1e12]";
    head(integrator, step, duration)
        + &format!(
            "[bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 0.5\ninertia = [1e9, 1e9, 1e9]\n\
             position = [{}, {}, 0.1]\nvelocity = [1.8, 0.4, 0]\nangular_velocity = [0, 0, {}]\nforce = [0, 0, -4]\n\
             [bodies.table]\nkind = \"rigid-body\"\n{heavy}\nangular_velocity = [0, 0, {}]\n\
             [elements.table_top]\nkind = \"contact\"\nbetween = [\"ball\", \"table\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{contact}\n",
            start[0], start[1], spins[0], spins[1]
        )
}

#[test]
fn the_direction_turns_with_the_body_that_has_it() {
    let (ey, ex) = 10.0_f64.to_radians().sin_cos();
    let levels = format!("mu = [0.05, 0.3], direction = [{ex}, {ey}, 0]");
    let rigid = |on: &str| format!("{RIGID}\nfriction = {{ law = \"implicit\", {levels}{on} }}");
    let soft =
        |on: &str| format!("{SOFT}\nfriction = {{ law = \"proxy\", stiffness = 1e6, damping = 300, {levels}{on} }}");
    // A blade on the ball that turns; the table stands.
    let skate = [1.16062116607, 0.859850913964, 0.216300768587, 1.12503650303];
    let on = ", direction_on = \"first\"";
    let case = |step: f64| ball("implicit-euler", step, 1.0, [1.5, 0.0], [0.0; 2], &rigid(on));
    same("skate, rigid", extrapolated(case, 2e-3), skate, 2e-5);
    let text = ball("rk4", 5e-5, 1.0, [1.5, 0.0], [0.0; 2], &soft(on));
    same("skate, compliant", ends(&text), skate, 1e-4);
    // Grain of a table that turns, whether the ball does or not.
    let table = [1.22500350157, 0.636008759881, 1.18966994425, 1.42131001058];
    for (spin, on) in [(0.0, ""), (1.5, ", direction_on = \"second\"")] {
        let case = |step: f64| ball("implicit-euler", step, 0.6, [spin, 0.8], [0.3, 0.1], &rigid(on));
        same("turntable, rigid", extrapolated(case, 2e-3), table, 2e-5);
        for integrator in ["rk4", "stiff"] {
            let text = ball(integrator, 5e-5, 0.6, [spin, 0.8], [0.3, 0.1], &soft(on));
            same("turntable, compliant", ends(&text), table, 1e-4);
        }
    }
}

#[test]
fn a_bristle_law_agrees_with_another_program() {
    let (ey, ex) = (-35.0_f64).to_radians().sin_cos();
    let friction = format!(
        "law = \"lugre\"\nmu = [0.3, 0.2]\ndirection = [{ex}, {ey}]\nnormal_force = 10\nstiffness = 2000\ndamping = 30"
    );
    let text = |integrator: &str, step: f64| {
        let force = "[\"4*sin(3*t)\", \"3*cos(5*t)\"]";
        head(integrator, step, 1.5) + &puck(1.0, [0.0; 2], force, &friction)
    };
    let expected = [0.432978129155, -0.00847810742011, -0.333932582705, 0.263284920842];
    same("rk4", ends(&text("rk4", 1e-4)), expected, 1e-8);
    for integrator in ["adaptive", "stiff"] {
        same(integrator, ends(&text(integrator, 1e-2)), expected, 1e-4);
    }
    same("trapezoidal", ends(&text("trapezoidal", 2e-5)), expected, 1e-4);
    same(
        "implicit-euler",
        extrapolated(|step| text("implicit-euler", step), 2e-4),
        expected,
        1e-5,
    );
}

#[test]
fn equal_coefficients_are_the_same_in_all_directions() {
    for (integrator, law) in [
        ("implicit-euler", "implicit"),
        ("rk4", "proxy"),
        ("implicit-euler", "lugre"),
    ] {
        let text = |levels: &str| {
            let friction = format!("law = \"{law}\"\n{levels}\nnormal_force = 10");
            head(integrator, 1e-3, 0.3) + &puck(1.0, [0.5, 0.8], "[1, -0.4]", &friction)
        };
        let plain = ends(&text("mu = 0.3"));
        same(law, ends(&text("mu = [0.3, 0.3]\ndirection = [3, 1, 0]")), plain, 1e-12);
    }
}

#[test]
fn check_tells_what_holds_along_and_across() {
    // 1.5 N along and 2 N across of at most 3 N and 5 N: √(0.5² + 0.4²) of the rim.
    let friction = "law = \"implicit\"\nmu = [0.3, 0.5]\ndirection = [0, 1, 0]\nnormal_force = 10";
    let element = head("implicit-euler", 1e-3, 0.1) + &puck(1.0, [0.0; 2], "[2, 1.5]", friction);
    let contact = head("implicit-euler", 1e-3, 0.1)
        + &format!(
            "[bodies.crate]\nkind = \"rigid-body\"\nshape = {{ box = [0.2, 0.2, 1e-9] }}\nmass = 1\nforce = [2, 1.5, -10]\n\
             [elements.floor]\nkind = \"contact\"\nbetween = [\"crate\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{RIGID}\n\
             friction = {{ law = \"implicit\", mu = [0.3, 0.5], direction = [0, 1, 0] }}\n"
        );
    for text in [element, contact] {
        let advice = advise(&written(&text, &[]));
        let line = &advice.frictions[0];
        let share = (0.25_f64 + 0.16).sqrt();
        close("margin", line.stick_margin.unwrap(), 1.0 - share, 1e-6);
        close("load", line.peak_load.unwrap(), 2.5, 1e-6);
        close("limit towards the load", line.holding_limit.unwrap(), 2.5 / share, 1e-5);
        let [along, across] = line.holding_limits.unwrap();
        close("along", along, 3.0, 1e-6);
        close("across", across, 5.0, 1e-6);
        assert_eq!(line.holds, Some(true));
    }
}

#[test]
fn what_cannot_be_elliptic_is_refused() {
    let in_plane = |keys: &str| {
        let friction = format!("law = \"implicit\"\nnormal_force = 10\n{keys}");
        head("implicit-euler", 1e-3, 0.1) + &puck(1.0, [0.0; 2], "[0, 0]", &friction)
    };
    let along_a_line = head("implicit-euler", 1e-3, 0.1)
        + "[bodies.block]\nkind = \"mass\"\nmass = 1\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\n\
           law = \"implicit\"\nkinetic = [1, 2]\ndirection = [1, 0, 0]\n";
    let in_space = along_a_line.replace("mass = 1\n", "mass = 1\nposition = [0, 0, 0]\n");
    let spheres = head("implicit-euler", 1e-3, 0.1)
        + &["a", "b"]
            .map(|name| format!("[bodies.{name}]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 1\n"))
            .concat()
            .replacen("mass = 1\n", "mass = 1\nposition = [1, 0, 0]\n", 1)
        + &format!(
            "[elements.touch]\nkind = \"contact\"\nbetween = [\"a\", \"b\"]\n{RIGID}\n\
             friction = {{ law = \"implicit\", mu = [0.1, 0.2], direction = [0, 0, 1] }}\n"
        );
    let standing = ball(
        "implicit-euler",
        1e-3,
        0.1,
        [0.0; 2],
        [0.0; 2],
        &format!("{RIGID}\nfriction = {{ law = \"implicit\", mu = [0.1, 0.2], direction = [0, 0, 2] }}"),
    );
    let chain = head("implicit-euler", 1e-3, 0.1)
        + "[chain]\ncount = 3\nbody = { mass = 1 }\nfriction = { law = \"implicit\", kinetic = [1, 2], direction = [1, 0, 0] }\n\
           neighbour = { stiffness = 1 }\ndrive = { stiffness = 1, velocity = 1 }\n";
    let cases = [
        (in_plane("mu = [0.2, 0.4]"), "there is no `direction`"),
        (
            in_plane("mu = 0.2\ndirection = [1, 0, 0]"),
            "belongs to friction with two levels",
        ),
        (in_plane("mu = [0.2, 0]\ndirection = [1, 0, 0]"), "greater than 0"),
        (in_plane("mu = [0.2, 0.3, 0.4]\ndirection = [1, 0, 0]"), "a list of two"),
        (in_plane("mu = [0.2, 0.4]\ndirection = [0, 0, 0]"), "points nowhere"),
        (in_plane("mu = [0.2, 0.4]\ndirection = [0, 0, 1]"), "has no part"),
        (
            in_plane("mu = [0.2, 0.4]\nmu_static = [0.3, 0.5]\ndirection = [1, 0, 0]"),
            "the same shape",
        ),
        (
            in_plane("mu = 0.2\nmu_static = [0.3, 0.5]\ndirection = [1, 0, 0]"),
            "the kinetic level has one",
        ),
        (
            in_plane("mu = [0.2, 0.4]\ndirection = [1, 0, 0]\ndirection_on = \"first\""),
            "unknown key `direction_on`",
        ),
        (along_a_line, "nothing across"),
        (in_space, "acts in a plane"),
        (spheres, "two spheres"),
        (standing, "stands on the surface"),
        (chain, "along one line"),
    ];
    for (text, words) in cases {
        let message = refusal(&text);
        assert!(message.contains(words), "{words}: {message}");
    }
}
