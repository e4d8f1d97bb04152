//! Coupled networks in the implicit step, against closed forms: frictions on one shaft, stacks, springs the step cannot
//! resolve, drivers, stops, gears.
#![allow(missing_docs)]

use stickslip::scenario::Scenario;
use stickslip::{Body, Element, Simulation};

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected} ± {tolerance}"
    );
}

const HEAD: &str = "[simulation]\nduration = 10\nstep = \"1 ms\"\nintegrator = \"implicit-euler\"\n";

#[test]
fn two_frictions_on_one_shaft_share_a_load_in_proportion_to_their_limits() {
    let mut shaft = simulation(&format!(
        "{HEAD}[bodies.shaft]\nkind = \"inertia\"\ninertia = 0.2\ntorque = 4.5\n\
         [elements.seal]\nkind = \"friction\"\nbetween = [\"shaft\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 2\n\
         [elements.bearing]\nkind = \"friction\"\nbetween = [\"shaft\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 3\n"
    ));
    shaft.advance_observed(1000).unwrap();
    assert_eq!(shaft.velocity(Body::nth(0)), &[0.0]);
    close(shaft.force(Element::nth(0))[0], -4.5 * 0.4, 1e-9);
    close(shaft.force(Element::nth(1))[0], -4.5 * 0.6, 1e-9);
    close(
        shaft.force(Element::nth(0))[0] + shaft.force(Element::nth(1))[0],
        -4.5,
        1e-12,
    );
}

/// A block of 2 kg on one of 3 kg on the ground, both pushed: the four regimes have closed forms.
#[test]
fn a_stack_of_two_blocks_sticks_and_slips_as_statics_says() {
    let stack = |upper: f64, lower: f64| {
        simulation(&format!(
            "{HEAD}[bodies.upper]\nkind = \"mass\"\nmass = 2\nforce = {upper}\n\
             [bodies.lower]\nkind = \"mass\"\nmass = 3\nforce = {lower}\n\
             [elements.between]\nkind = \"friction\"\nbetween = [\"upper\", \"lower\"]\nlaw = \"implicit\"\nkinetic = 4\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"lower\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 6\n"
        ))
    };
    let run = |upper: f64, lower: f64| {
        let mut simulation = stack(upper, lower);
        simulation.advance_observed(1000).unwrap();
        let forces = [
            simulation.force(Element::nth(0))[0],
            simulation.force(Element::nth(1))[0],
        ];
        (
            simulation.velocity(Body::nth(0))[0],
            simulation.velocity(Body::nth(1))[0],
            forces,
        )
    };
    // Everything at rest.
    let (a, b, f) = run(3.0, 2.0);
    assert_eq!((a, b), (0.0, 0.0));
    close(f[0], -3.0, 1e-12);
    close(f[1], -5.0, 1e-12);
    // Both slide together: (3 + 6 − 6)/5.
    let (a, b, f) = run(3.0, 6.0);
    assert_eq!(a.to_bits(), b.to_bits(), "stuck together: one velocity");
    close(a, 0.6, 1e-12);
    close(f[0], -(3.0 - 2.0 * 0.6), 1e-12);
    // The upper slides on the lower, which rests: (7 − 4)/2; the floor carries 4.
    let (a, b, f) = run(7.0, 0.0);
    assert_eq!(b, 0.0);
    close(a, 1.5, 1e-12);
    close(f[1], -4.0, 1e-12);
    // Both slide, apart: (10 − 4)/2 and (4 + 5 − 6)/3.
    let (a, b, _) = run(10.0, 5.0);
    close(a, 3.0, 1e-11);
    close(b, 1.0, 1e-11);
}

#[test]
fn friction_between_free_bodies_conserves_momentum() {
    let mut pair = simulation(&format!(
        "{HEAD}[bodies.a]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n[bodies.b]\nkind = \"mass\"\nmass = 2\nvelocity = -0.5\n\
         [elements.rub]\nkind = \"friction\"\nbetween = [\"a\", \"b\"]\nlaw = \"implicit\"\nkinetic = 3\n"
    ));
    // Seed 000 (18): locks at 1/3 s with common velocity 0.
    pair.advance(333).unwrap();
    assert!(pair.velocity(Body::nth(0))[0] != pair.velocity(Body::nth(1))[0]);
    pair.advance(1).unwrap();
    assert_eq!(
        pair.velocity(Body::nth(0))[0].to_bits(),
        pair.velocity(Body::nth(1))[0].to_bits()
    );
    // 334 steps, each rounding velocities of order 1.
    close(pair.velocity(Body::nth(0))[0], 0.0, 334.0 * f64::EPSILON);
}

/// A spring far stiffer than the step resolves is taken at the end of the step: stable, and statically exact.
#[test]
fn a_stiff_spring_stays_stable_at_a_large_step() {
    let text = "[simulation]\nduration = 10\nstep = \"10 ms\"\nintegrator = \"implicit-euler\"\n\
         [bodies.a]\nkind = \"mass\"\nmass = 1\nforce = 5\n[bodies.b]\nkind = \"mass\"\nmass = 1\nvelocity = 0.3\n\
         [elements.rod]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = 1e8\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"b\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 8\n";
    let mut rod = simulation(text);
    assert_eq!(rod.built().implicit_springs, vec![0]);
    rod.advance_observed(1000).unwrap();
    assert_eq!(rod.velocity(Body::nth(1)), &[0.0]);
    close(rod.velocity(Body::nth(0))[0], 0.0, 1e-12);
    close(rod.force(Element::nth(1))[0], -5.0, 1e-9);
    close(
        rod.position(Body::nth(0))[0] - rod.position(Body::nth(1))[0],
        5e-8,
        1e-15,
    );
    // Taken at the start of the step it diverges, and says so.
    let explicit = text.replace("stiffness = 1e8", "stiffness = 1e8\nimplicit = false");
    let error = simulation(&explicit).advance(1000).unwrap_err().to_string();
    assert!(
        error.contains("diverged") && error.contains("implicit = true"),
        "{error}"
    );
}

#[test]
fn a_driver_rubbing_on_the_ground_shows_the_steady_curve() {
    for law in [
        "implicit",
        "proxy",
        "lugre",
        "dahl",
        "relaxed",
        "karnopp",
        "quinn",
        "martins-oden",
    ] {
        let epsilon = if ["karnopp", "quinn", "martins-oden"].contains(&law) {
            "epsilon = 1e-3\n"
        } else {
            ""
        };
        let mut rig = simulation(&format!(
            "{HEAD}[bodies.belt]\nkind = \"driver\"\nvelocity = 0.05\n\
             [elements.pad]\nkind = \"friction\"\nbetween = [\"belt\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 10\n\
             static = 15\nstribeck_velocity = 0.1\nviscous = 2\n{epsilon}"
        ));
        rig.advance_observed(5000).unwrap();
        let curve = 10.0 + 5.0 * (-(0.05f64 / 0.1).powi(2)).exp() + 2.0 * 0.05;
        close(rig.force(Element::nth(0))[0], -curve, 1e-6);
    }
}

#[test]
fn a_rigid_stop_stops_and_a_restitution_rebounds() {
    let run = |restitution: f64| {
        let mut carriage = simulation(&format!(
            "{HEAD}[bodies.carriage]\nkind = \"mass\"\nmass = 3\nvelocity = 2\n\
             [elements.end]\nkind = \"stop\"\nbetween = [\"carriage\", \"ground\"]\nupper = 0.5\n\
             normal = {{ law = \"rigid\", restitution = {restitution} }}\n"
        ));
        let mut highest = 0.0f64;
        for _ in 0..1000 {
            carriage.advance(1).unwrap();
            highest = highest.max(carriage.position(Body::nth(0))[0]);
        }
        (
            carriage.velocity(Body::nth(0))[0],
            highest,
            carriage.position(Body::nth(0))[0],
        )
    };
    let (v, highest, x) = run(0.0);
    assert_eq!(v, 0.0);
    assert_eq!(x, 0.5);
    assert!(highest <= 0.5);
    let (v, highest, _) = run(0.6);
    close(v, -1.2, 1e-12);
    assert!(highest <= 0.5 + 2e-3, "overshoot of at most one step: {highest}");
}

/// A motor drives a load through a 3:1 gear; friction on the load shaft is felt at the motor as a third.
#[test]
fn a_gear_transmits_torque_with_its_ratio() {
    let train = |torque: f64| {
        let mut train = simulation(&format!(
            "{HEAD}[bodies.motor]\nkind = \"inertia\"\ninertia = 0.01\ntorque = {torque}\n\
             [bodies.load]\nkind = \"inertia\"\ninertia = 0.5\n\
             [elements.mesh]\nkind = \"gear\"\nbetween = [\"motor\", \"load\"]\nratio = [1, 3]\n\
             [elements.bearing]\nkind = \"friction\"\nbetween = [\"load\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 3\n"
        ));
        train.advance_observed(3000).unwrap();
        (
            train.velocity(Body::nth(0))[0],
            train.velocity(Body::nth(1))[0],
            train.force(Element::nth(1))[0],
        )
    };
    let (motor, load, friction) = train(0.9);
    assert_eq!(load, 0.0);
    close(motor, 0.0, 1e-9);
    close(friction, -2.7, 1e-9);
    // Above 1 Nm it turns: α = (3·1.3 − 3)/(0.5 + 9·0.01) at the load.
    let (motor, load, _) = train(1.3);
    close(motor / load, 3.0, 1e-3);
    close(load, 0.9 / 0.59 * 3.0, 2e-2);
}

/// Three blocks in a row on the ground, coupled by a bristle law and dry friction in one step.
#[test]
fn bristles_and_dry_friction_are_solved_in_one_step() {
    let mut row = simulation(&format!(
        "{HEAD}[bodies.a]\nkind = \"mass\"\nmass = 1\nforce = 3\n[bodies.b]\nkind = \"mass\"\nmass = 2\n\
         [elements.glue]\nkind = \"friction\"\nbetween = [\"a\", \"b\"]\nlaw = \"proxy\"\nkinetic = 5\nstiffness = 2e5\ndamping = 300\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"b\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 4\n"
    ));
    row.advance_observed(5000).unwrap();
    assert_eq!(row.velocity(Body::nth(1)), &[0.0]);
    close(row.force(Element::nth(0))[0], -3.0, 1e-9);
    close(row.force(Element::nth(1))[0], -3.0, 1e-9);
    close(
        row.position(Body::nth(0))[0] - row.position(Body::nth(1))[0],
        3.0 / 2e5,
        1e-12,
    );
    assert!(row.worst_residual() <= 1e-12);
}

/// An actuator under a program's control shares nothing with other constants of the same value.
#[test]
fn an_actuator_that_is_taken_over_leaves_everything_else_alone() {
    let mut block = simulation(&format!(
        "{HEAD}[bodies.block]\nkind = \"mass\"\nmass = 1\nvelocity = 3\n\
         [elements.motor]\nkind = \"actuator\"\nbetween = [\"block\", \"ground\"]\nvalue = 1\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 5\n"
    ));
    assert!(block.set_actuator(Element::nth(0), 0, 0.0));
    block.advance_observed(10).unwrap();
    assert_eq!(block.force(Element::nth(1)), &[-5.0]);
    close(block.velocity(Body::nth(0))[0], 3.0 - 5.0 * 0.01, 1e-12);
}

/// Laws that balance the applied force count the weight and stiff springs into it.
#[test]
fn karnopp_and_quinn_hold_against_weight_and_stiff_springs() {
    for law in ["karnopp", "quinn"] {
        let mut block = simulation(&format!(
            "[simulation]\nduration = 10\nstep = \"1 ms\"\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.8]\n\
             [bodies.block]\nkind = \"mass\"\nmass = 2\naxis = [0.8, 0, -0.6]\n\
             [elements.slope]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 14\nepsilon = 0.007\n"
        ));
        block.advance_observed(1000).unwrap();
        close(block.position(Body::nth(0))[0], 0.0, 1e-12);
        close(block.force(Element::nth(0))[0], -2.0 * 9.8 * 0.6, 1e-9);
        let mut spring = simulation(&format!(
            "{HEAD}[bodies.block]\nkind = \"mass\"\nmass = 1\nposition = 1e-5\n\
             [elements.rod]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1e6\nimplicit = true\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 50\nepsilon = 0.05\n"
        ));
        spring.advance_observed(100).unwrap();
        close(spring.position(Body::nth(0))[0], 1e-5, 1e-8);
    }
}

/// The force column is the force on the first body: r₁ times that of the mesh.
#[test]
fn the_force_column_is_that_on_the_first_body() {
    let mut train = simulation(&format!(
        "{HEAD}[bodies.motor]\nkind = \"inertia\"\ninertia = 0.01\ntorque = 0.9\n\
         [bodies.load]\nkind = \"inertia\"\ninertia = 0.5\n\
         [elements.mesh]\nkind = \"gear\"\nbetween = [\"motor\", \"load\"]\nratio = [0.5, 1.5]\n\
         [elements.bearing]\nkind = \"friction\"\nbetween = [\"load\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 3\n"
    ));
    train.advance_observed(3000).unwrap();
    let columns = stickslip::trace::Columns::new(&train);
    let mesh = columns.names().iter().position(|name| name == "mesh.force").unwrap();
    // The motor rests: the mesh holds its torque.
    close(columns.value(&train, mesh), -0.9, 1e-9);
}

/// A step that the chosen method cannot stand is warned about before the run.
#[test]
fn steps_too_large_for_a_bristle_or_a_spring_are_warned_about() {
    let warnings = |step: &str, law: &str| {
        let block = simulation(&format!(
            "[simulation]\nduration = 3\nstep = \"{step}\"\nintegrator = \"rk4\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 3\n\
             [elements.pull]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 2e6\n\
             [elements.rails]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 8\n"
        ));
        block.built().warnings.len()
    };
    assert_eq!(warnings("10 ms", "proxy\"\nstiffness = \"1e7 N/m"), 2);
    assert_eq!(warnings("10 ms", "proxy"), 1);
    assert_eq!(warnings("0.5 ms", "proxy"), 0);
}
