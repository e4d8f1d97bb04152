//! Friction curves given as expressions and points, alike or different in both directions, with a static limit above them.
//!
//! Expected values are closed forms: direction dependence by hand, velocity weakening g = F₀/(1 + v/v_c) of Carlson and Langer
//! (1989), whose implicit step is a quadratic equation and whose slip is an ordinary differential equation (reference values from an
//! integration with 40 digits).

use stickslip::scenario::Scenario;
use stickslip::{Body, Simulation};

fn simulation(text: &str) -> Simulation {
    Simulation::new(Scenario::parse(text, "curve.toml", &[]).unwrap()).unwrap()
}

fn refusal(text: &str) -> String {
    let scenario = match Scenario::parse(text, "curve.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    match Simulation::new(scenario) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// A block with a force on it and one friction.
fn block(step: f64, duration: f64, force: &str, friction: &str) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"implicit-euler\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 1\nforce = \"{force}\"\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\n{friction}\n"
    )
}

fn ends(text: &str) -> (f64, f64) {
    let mut simulation = simulation(text);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap();
    (
        simulation.position(Body::nth(0))[0],
        simulation.velocity(Body::nth(0))[0],
    )
}

#[test]
fn friction_that_is_weaker_one_way_lets_a_symmetric_push_drift() {
    // 1 kg, 2 N forward and 4 N backward, pushed by 5 N forward and backward for half a second each, from rest: 3 m/s² for 0.5 s,
    // then −7 m/s² to rest and −1 m/s². The limits written as constants, as points and as expressions of speed.
    let exact = {
        let (v, x): (f64, f64) = (3.0 * 0.5, 1.5 * 0.25);
        let stop: f64 = v / 7.0;
        x + v * stop / 2.0 - (0.5 - stop) * (0.5 - stop) / 2.0
    };
    assert!((exact - 0.49489795918).abs() < 1e-11);
    let push = "if(t <= 0.5, 5, -5)";
    let forms = [
        "curve = \"2\"\ncurve_backward = \"4\"",
        "table = { speed = [0, 3], force = [2, 2], backward = [4, 4] }",
        "curve = \"2 + 0*v\"\ncurve_backward = \"4 + 0*v\"",
    ];
    for form in forms {
        // First order: the largest speed is 1.5 m/s, the largest jump of the acceleration 10 m/s².
        for step in [1e-3, 1e-4, 1e-5] {
            let error = ends(&block(step, 1.0, push, form)).0 - exact;
            assert!(error.abs() < step, "{form}, step {step}: {error}");
        }
    }
}

#[test]
fn each_direction_holds_up_to_its_own_limit() {
    let form = "curve = \"2/(1 + v)\"\ncurve_backward = \"4/(1 + v)\"";
    for (force, moves) in [("1.999", false), ("2.001", true), ("-3.999", false), ("-4.001", true)] {
        let (x, v) = ends(&block(1e-3, 2.0, force, form));
        assert_eq!((x != 0.0, v != 0.0), (moves, moves), "{force} N");
    }
    // A ratio of −1 turns the direction round.
    for (force, moves) in [("3.999", false), ("4.001", true), ("-1.999", false), ("-2.001", true)] {
        let text = block(1e-3, 2.0, force, &format!("{form}\nratio = [-1, 1]"));
        assert_eq!(ends(&text).0 != 0.0, moves, "{force} N, turned round");
    }
}

#[test]
fn the_step_of_velocity_weakening_friction_is_its_quadratic_root() {
    // W = T/m = 0.1, F₀ = 1, v_c = 0.5, free velocity 0.15: s = ((A − v_c) + √((A + v_c)² − 4·v_c·W·F₀))/2 = 0.060849528301.
    let text = block(0.1, 0.1, "0", "curve = \"1/(1 + v/0.5)\"\ninitial = \"slip\"")
        .replace("mass = 1\n", "mass = 1\nvelocity = 0.15\n");
    let (_, v) = ends(&text);
    assert!((v - 0.060849528301).abs() < 1e-12, "{v}");
    // Free velocity up to W·F₀: it stops.
    let (_, v) = ends(&text.replace("velocity = 0.15", "velocity = 0.0999"));
    assert_eq!(v, 0.0);
}

#[test]
fn a_slip_of_velocity_weakening_friction_has_the_length_of_its_differential_equation() {
    // m = k = F₀ = 1, pulled at 0.01 from balance at rest. Length and peak of the slip that follows, for three v_c.
    for (v_c, length, peak) in [
        (0.5, 0.67521820578, 0.30290142305),
        (0.1, 1.7531497338, 0.86299445804),
        (2.0, 0.083599783612, 0.032231996543),
    ] {
        let measure = |step: f64| {
            let text = format!(
                "[simulation]\nduration = 8\nstep = {step}\nintegrator = \"implicit-euler\"\n\
                 [bodies.pull]\nkind = \"driver\"\nvelocity = 0.01\nstart = 1\n\
                 [bodies.block]\nkind = \"mass\"\nmass = 1\n\
                 [elements.spring]\nkind = \"spring\"\nbetween = [\"pull\", \"block\"]\nstiffness = 1\n\
                 [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\n\
                 curve = \"1/(1 + v/{v_c})\"\n"
            );
            let mut simulation = simulation(&text);
            let (mut fastest, mut moved) = (0.0f64, false);
            for _ in 0..simulation.built().steps {
                simulation.advance(1).unwrap();
                let v = simulation.velocity(Body::nth(1))[0];
                fastest = fastest.max(v);
                moved |= v > 0.0;
                if moved && v == 0.0 {
                    break;
                }
            }
            [simulation.position(Body::nth(1))[0] - length, fastest - peak]
        };
        let (coarse, fine) = (measure(4e-4), measure(2e-4));
        for (which, (coarse, fine)) in coarse.into_iter().zip(fine).enumerate() {
            let size = [length, peak][which];
            // First order: Richardson's extrapolation removes what is left.
            assert!(
                (2.0 * fine - coarse).abs() < 2e-4 * size,
                "v_c = {v_c}: {coarse} {fine}"
            );
            assert!(fine.abs() < 0.01 * size, "v_c = {v_c}: {fine}");
        }
    }
}

#[test]
fn an_expression_is_the_curve_that_it_spells() {
    // The built-in Stribeck curve against the same formula, dragged through stick and slip by a spring.
    let drag = |friction: &str, law: &str, integrator: &str| {
        let text = format!(
            "[simulation]\nduration = 2\nstep = 1e-3\nintegrator = \"{integrator}\"\n\
             [bodies.hook]\nkind = \"driver\"\nvelocity = \"0.4*sin(3*t)\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 2\n\
             [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 300\ndamping = 1\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\n{friction}\n"
        );
        let mut simulation = simulation(&text);
        simulation.advance(simulation.built().steps).unwrap();
        simulation.position(Body::nth(1))[0]
    };
    let built_in = "kinetic = 8\nstatic = 12\nstribeck_velocity = 0.1\nviscous = 3";
    let spelt = "curve = \"8 + 4*exp(-(v/0.1)^2) + 3*v\"";
    let bristle = "\nstiffness = 2e4\ndamping = 80";
    for (law, integrator, more) in [
        ("implicit", "implicit-euler", ""),
        ("proxy", "rk4", bristle),
        ("proxy", "implicit-euler", bristle),
        ("proxy", "stiff", bristle),
        ("martins-oden", "rk4", "\nepsilon = 0.01"),
    ] {
        let run = |curve: &str| drag(&format!("{curve}{more}"), law, integrator);
        let (a, b) = (run(built_in), run(spelt));
        // Viscosity inside the limit of a bristle is another law than viscosity beside it.
        let tolerance = if law == "proxy" { 2e-2 } else { 1e-9 };
        assert!(
            a.abs() > 0.01 && (a - b).abs() < tolerance * a.abs(),
            "{law} with {integrator}: {a} {b}"
        );
    }
    // Without viscosity every law agrees.
    let (built_in, spelt) = (
        "kinetic = 8\nstatic = 12\nstribeck_velocity = 0.1",
        "curve = \"8 + 4*exp(-(v/0.1)^2)\"",
    );
    for (law, integrator, more) in [
        ("proxy", "rk4", bristle),
        ("proxy", "implicit-euler", bristle),
        ("lugre", "rk4", bristle),
        ("lugre", "stiff", bristle),
        ("karnopp", "implicit-euler", "\nepsilon = 0.01"),
    ] {
        let run = |curve: &str| drag(&format!("{curve}{more}"), law, integrator);
        let (a, b) = (run(built_in), run(spelt));
        // Rounding changes the steps that `stiff` chooses: its relative tolerance is 1e-6 a step.
        let tolerance = if integrator == "stiff" { 1e-5 } else { 1e-9 };
        assert!(
            a.abs() > 0.01 && (a - b).abs() < tolerance * a.abs(),
            "{law} with {integrator}: {a} {b}"
        );
    }
}

#[test]
fn bristles_carry_the_limit_of_the_direction() {
    // A driver drags the contact at ±0.2 m/s: in steady sliding the force is that of the curve, whatever the law.
    for (law, integrator, more) in [
        ("proxy", "rk4", "stiffness = 1e4\ndamping = 50"),
        ("relaxed", "rk4", "stiffness = 1e4\nbeta = 5e-3"),
        ("dahl", "rk4", "stiffness = 1e3"),
        ("lugre", "stiff", "stiffness = 1e3\ndamping = 5"),
        ("proxy", "implicit-euler", "stiffness = 1e4\ndamping = 50"),
        ("implicit", "implicit-euler", ""),
    ] {
        for (velocity, force) in [(0.2, -3.0 / 1.2), (-0.2, 5.0 / 1.2)] {
            let text = format!(
                "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"{integrator}\"\n\
                 [bodies.rig]\nkind = \"driver\"\nvelocity = {velocity}\n\
                 [elements.floor]\nkind = \"friction\"\nbetween = [\"rig\", \"ground\"]\nlaw = \"{law}\"\n{more}\n\
                 curve = \"3/(1 + v)\"\ncurve_backward = \"5/(1 + v)\"\n"
            );
            let mut simulation = simulation(&text);
            simulation.advance_observed(simulation.built().steps).unwrap();
            let found = simulation.observations()[0].force[0];
            assert!(
                (found - force).abs() < 1e-9,
                "{law} with {integrator}: {found} in place of {force}"
            );
        }
    }
}

#[test]
fn in_an_island_two_halves_do_what_the_whole_does() {
    // Two frictions in parallel on a block that also rubs on a second one: solved together. Their sum is one friction.
    let text = |frictions: &str| {
        format!(
            "[simulation]\nduration = 3\nstep = 2e-3\nintegrator = \"implicit-euler\"\n\
             [bodies.low]\nkind = \"mass\"\nmass = 2\nforce = \"14*sin(2*t)\"\n\
             [bodies.top]\nkind = \"mass\"\nmass = 1\n\
             [elements.between]\nkind = \"friction\"\nbetween = [\"low\", \"top\"]\nlaw = \"implicit\"\nkinetic = 1.5\n{frictions}"
        )
    };
    let floor = |name: &str, friction: &str| {
        format!(
            "[elements.{name}]\nkind = \"friction\"\nbetween = [\"low\", \"ground\"]\nlaw = \"implicit\"\n{friction}\n"
        )
    };
    let pairs = [
        (
            "curve = \"4\"\ncurve_backward = \"9\"",
            "curve = \"1\"\ncurve_backward = \"3\"",
            "curve = \"3\"\ncurve_backward = \"6\"",
        ),
        (
            "curve = \"2 + 2/(1 + v)\"\ncurve_backward = \"5 + 3/(1 + 2*v)\"\nstatic = 9",
            "curve = \"1 + 1/(1 + v)\"\ncurve_backward = \"2.5 + 1.5/(1 + 2*v)\"\nstatic = 4.5",
            "curve = \"1 + 1/(1 + v)\"\ncurve_backward = \"2.5 + 1.5/(1 + 2*v)\"\nstatic = 4.5",
        ),
    ];
    for (whole, one, other) in pairs {
        let mut single = simulation(&text(&floor("floor", whole)));
        let mut double = simulation(&text(&(floor("one", one) + &floor("other", other))));
        let mut moved = 0.0f64;
        let (mut forward, mut backward) = (false, false);
        for step in 0..single.built().steps {
            single.advance(1).unwrap();
            double.advance(1).unwrap();
            for body in [0, 1] {
                let (a, b) = (single.position(Body::nth(body))[0], double.position(Body::nth(body))[0]);
                assert!((a - b).abs() < 1e-11, "step {step}, body {body}: {a} {b}");
                moved = moved.max(a.abs());
            }
            forward |= single.velocity(Body::nth(0))[0] > 0.1;
            backward |= single.velocity(Body::nth(0))[0] < -0.1;
        }
        assert!(moved > 0.1 && forward && backward, "{whole}: {moved}");
        assert!(double.worst_residual() < 1e-12);
    }
}

#[test]
fn a_static_limit_above_a_curve_holds_what_rests() {
    for curve in [
        "curve = \"10/(1 + v)\"\nstatic = 12",
        "table = { speed = [0, 1], force = [10, 8] }\nstatic = 12",
    ] {
        // 11.9 N are held from rest; 12.1 N break it loose; 11 N keep it going, 9.9 N let it stop.
        assert_eq!(ends(&block(1e-3, 1.0, "11.9", curve)).0, 0.0);
        assert!(ends(&block(1e-3, 1.0, "12.1", curve)).0 > 0.5);
        assert!(ends(&block(1e-3, 3.0, "if(t < 0.1, 12.1, 11)", curve)).1 > 1.0);
        assert_eq!(ends(&block(1e-3, 3.0, "if(t < 0.1, 12.1, 5)", curve)).1, 0.0);
    }
}

#[test]
fn beside_a_normal_force_the_values_are_coefficients() {
    let pressed = "curve = \"0.2 + 0.1/(1 + v)\"\nmu_static = 0.4\nnormal_force = 50";
    assert_eq!(ends(&block(1e-3, 1.0, "19.9", pressed)).0, 0.0);
    assert!(ends(&block(1e-3, 1.0, "20.1", pressed)).0 > 0.5);
}

#[test]
fn a_chain_takes_expressions() {
    let chain = |friction: &str| {
        let text = format!(
            "[simulation]\nduration = 40\nstep = 0.01\nintegrator = \"implicit-euler\"\n\
             [chain]\ncount = 100\n[chain.body]\nmass = 1\nposition = \"0.01*sin(7*i)\"\n\
             [chain.neighbour]\nstiffness = 20\n[chain.drive]\nstiffness = 1\nvelocity = 0.1\n\
             [chain.friction]\nlaw = \"implicit\"\n{friction}\n"
        );
        let mut simulation = simulation(&text);
        simulation.advance(simulation.built().steps).unwrap();
        simulation.energy().0
    };
    let (a, b) = (
        chain("kinetic = 0.6\nstatic = 1\nstribeck_velocity = 0.5"),
        chain("curve = \"0.6 + 0.4*exp(-(v/0.5)^2)\""),
    );
    assert!(a > 0.0 && (a - b).abs() < 1e-6 * a, "{a} {b}");
}

#[test]
fn what_is_no_friction_curve_is_refused() {
    for (friction, words) in [
        ("curve = \"1 - v\"", "at a speed of"),
        ("curve = \"ln(v)\"", "not a finite number"),
        ("curve = \"10/(1 + w)\"", "w"),
        ("curve = \"10\"\nkinetic = 3", "both `curve` and `kinetic`"),
        ("curve = \"10\"\nstatic = 9", "below the curve at rest"),
        ("curve_backward = \"10\"", "curve"),
        ("curve = \"10\"\ntable = { speed = [0], force = [1] }", "both"),
        ("curve = \"10\"\nmu_static = 0.5", "static"),
        (
            "table = { speed = [0, 1], force = [1, 2], backward = [1] }",
            "2 speeds but 1 forces",
        ),
    ] {
        let message = refusal(&block(1e-3, 1.0, "0", friction));
        assert!(message.contains(words), "{friction}: {message}");
    }
    let plane =
        block(1e-3, 1.0, "0", "curve = \"1\"\ncurve_backward = \"2\"").replace("force = \"0\"", "position = [0, 0]");
    assert!(refusal(&plane).contains("no forward and backward"));
    let bristle = block(1e-3, 1.0, "0", "curve = \"10/(1 + v)\"\nstatic = 12")
        .replace("implicit-euler", "rk4")
        .replace("law = \"implicit\"", "law = \"proxy\"");
    assert!(
        refusal(&bristle).contains("no memory of sticking"),
        "{}",
        refusal(&bristle)
    );
}
