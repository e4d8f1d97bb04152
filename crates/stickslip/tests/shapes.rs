//! Shapes that touch: what rests stays at rest, thresholds of sliding, tipping and rolling, impacts, conveyors, fingers.
//!
//! Expected values are closed forms, symmetry, or energies.
#![allow(missing_docs)]

mod common;

use common::{finish, written};
use stickslip::Simulation;
use stickslip::scenario::Scenario;

const G: f64 = 9.81;

/// The head of a scene: gravity as a vector, friction, and what else is in `[contacts]`.
fn scene(step: f64, duration: f64, gravity: [f64; 3], mu: f64, contacts: &str, bodies: &str) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = {gravity:?}\n\
         [contacts]\nbetween = \"all\"\nfriction = {{ law = \"implicit\", mu = {mu} }}\n{contacts}\n{bodies}"
    )
}

const DOWN: [f64; 3] = [0.0, 0.0, -G];

/// Gravity on a slope that falls towards +x by this tangent.
fn slope(tangent: f64) -> [f64; 3] {
    let angle = tangent.atan();
    [G * angle.sin(), 0.0, -G * angle.cos()]
}

/// A fixed box whose top is at z = 0.
const TABLE: &str = "[bodies.table]\nkind = \"fixed\"\nshape = { box = [4, 4, 0.2] }\nposition = [0, 0, -0.1]\n";
/// The same as a half space.
const GROUND: &str = "[bodies.table]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\n";

fn body(name: &str, mass: f64, shape: &str, position: [f64; 3], more: &str) -> String {
    format!("[bodies.{name}]\nkind = \"rigid-body\"\nmass = {mass}\nshape = {shape}\nposition = {position:?}\n{more}\n")
}

fn pose(simulation: &Simulation, name: &str) -> Vec<f64> {
    let body = simulation.body(name).unwrap();
    simulation.position(body).to_vec()
}

fn speeds(simulation: &Simulation, name: &str) -> Vec<f64> {
    let body = simulation.body(name).unwrap();
    simulation.velocity(body).to_vec()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Lets a scene settle, and returns how far the named bodies move afterwards.
fn drift(text: &str, names: &[String], settle: f64, rest: f64) -> f64 {
    let mut simulation = written(text, &[]);
    let step = simulation.scenario().simulation.step;
    simulation
        .advance((settle / step).round() as u64)
        .unwrap_or_else(|e| panic!("{e}"));
    let start: Vec<Vec<f64>> = names.iter().map(|name| pose(&simulation, name)).collect();
    let mut most = 0.0f64;
    for _ in 0..10 {
        simulation
            .advance((0.1 * rest / step).round() as u64)
            .unwrap_or_else(|e| panic!("{e}"));
        for (name, start) in names.iter().zip(&start) {
            most = most.max(farthest(&pose(&simulation, name), start));
        }
    }
    most
}

fn stack(count: usize, step: f64, duration: f64) -> (String, Vec<String>) {
    let names: Vec<String> = (0..count).map(|i| format!("b{i}")).collect();
    let boxes: String = (0..count)
        .map(|i| {
            let shift = |k: usize| 0.01 * ((i * k) % 3) as f64 - 0.01;
            let height = 0.05 + 0.1 * i as f64 + 0.001 * (i + 1) as f64;
            body(
                &names[i],
                1.0,
                "{ box = [0.2, 0.2, 0.1] }",
                [shift(7), shift(5), height],
                "",
            )
        })
        .collect();
    (scene(step, duration, DOWN, 0.5, "", &format!("{TABLE}{boxes}")), names)
}

#[test]
fn a_stack_of_ten_boxes_rests() {
    for step in [0.5e-3, 1e-3, 2e-3] {
        let (text, names) = stack(10, step, 4.0);
        let moved = drift(&text, &names, 1.0, 2.0);
        assert!(moved <= 1e-12, "{moved} m at {step} s");
    }
}

#[test]
fn the_weight_of_a_stack_reaches_the_table() {
    let (text, names) = stack(10, 1e-3, 1.0);
    let mut simulation = written(&text, &[]);
    simulation.advance(999).unwrap();
    simulation.advance_observed(1).unwrap();
    simulation.observe();
    // k boxes press on the interface below them, in all: Σ k = 55.
    let seen = &simulation.observations()[0];
    assert!((seen.normal - 55.0 * G).abs() < 1e-9 * 55.0 * G, "{}", seen.normal);
    // Four corners below the lowest; boxes that are shifted overlap in four points too.
    assert_eq!(seen.touching, 40.0);
    for name in &names {
        assert!(speeds(&simulation, name).iter().all(|v| *v == 0.0));
    }
}

/// Whether a body on a slope stays where it is; how far its velocity has come after a while if not.
fn slides(shape: &str, ground: &str, height: f64, more: &str, tangent: f64, mu: f64) -> bool {
    let text = scene(
        1e-3,
        1.0,
        slope(tangent),
        mu,
        "",
        &format!("{ground}{}", body("part", 2.0, shape, [0.0, 0.0, height], more)),
    );
    let mut simulation = written(&text, &[]);
    simulation.advance(500).unwrap_or_else(|e| panic!("{e}"));
    let motion = speeds(&simulation, "part");
    let fast = motion.iter().map(|v| v.abs()).fold(0.0, f64::max);
    assert!(!(1e-12..=1e-4).contains(&fast), "{shape}: {motion:?} at {tangent}");
    fast > 1e-12
}

#[test]
fn every_shape_slides_from_the_angle_of_friction_on() {
    // A capsule and a cylinder along the slope do not roll.
    let along = "rotation = [0.7071067811865476, 0, 0.7071067811865476, 0]";
    let tetrahedron = "{ hull = [[0.1, 0.1, -0.05], [-0.2, 0.1, -0.05], [0.1, -0.2, -0.05], [0, 0, 0.15]] }";
    let shapes = [
        ("{ box = [0.3, 0.2, 0.1] }", 0.05, ""),
        ("{ cylinder = { radius = 0.15, length = 0.1 } }", 0.05, ""),
        ("{ cylinder = { radius = 0.1, length = 0.5 } }", 0.1, along),
        ("{ capsule = { radius = 0.1, length = 0.5 } }", 0.1, along),
        (tetrahedron, 0.05, ""),
    ];
    for ground in [TABLE, GROUND] {
        for (shape, height, more) in shapes {
            assert!(!slides(shape, ground, height, more, 0.3 * 0.999, 0.3), "{shape} slides");
            assert!(slides(shape, ground, height, more, 0.3 * 1.001, 0.3), "{shape} holds");
        }
    }
}

#[test]
fn boxes_and_cylinders_tip_where_the_weight_leaves_the_base() {
    for ground in [TABLE, GROUND] {
        for (shape, height, base) in [
            ("{ box = [0.1, 0.2, 0.4] }", 0.2, 0.05),
            ("{ cylinder = { radius = 0.06, length = 0.4 } }", 0.2, 0.06),
        ] {
            let limit = base / height;
            assert!(!slides(shape, ground, height, "", limit * 0.999, 2.0), "{shape} tips");
            assert!(slides(shape, ground, height, "", limit * 1.001, 2.0), "{shape} stands");
        }
    }
}

#[test]
fn round_bodies_roll_as_their_inertia_says() {
    // Across the slope: the axis along y.
    let across = "rotation = [0.7071067811865476, 0.7071067811865476, 0, 0]";
    let (r, l): (f64, f64) = (0.1, 0.3);
    let ball = 4.0 / 3.0 * r / (4.0 / 3.0 * r + l);
    let capsule = 0.5 * (1.0 - ball) + 0.4 * ball;
    for ground in [TABLE, GROUND] {
        for (shape, more, inertia) in [
            ("{ sphere = 0.1 }", "", 0.4),
            ("{ cylinder = { radius = 0.1, length = 0.3 } }", across, 0.5),
            ("{ capsule = { radius = 0.1, length = 0.3 } }", across, capsule),
        ] {
            let text = scene(
                1e-3,
                1.0,
                slope(0.2),
                0.5,
                "",
                &format!("{ground}{}", body("wheel", 3.0, shape, [0.0, 0.0, 0.1], more)),
            );
            let mut simulation = written(&text, &[]);
            simulation.advance(500).unwrap_or_else(|e| panic!("{e}"));
            let expected = slope(0.2)[0] / (1.0 + inertia) * 0.5;
            let motion = speeds(&simulation, "wheel");
            assert!(
                (motion[0] - expected).abs() < 1e-9 * expected,
                "{shape}: {} and {expected}",
                motion[0]
            );
            // It rolls without slip, straight, and stays on the ground.
            assert!((motion[4] * r - motion[0]).abs() < 1e-9, "{shape}: {motion:?}");
            assert!(
                motion[1].abs() < 1e-9 && pose(&simulation, "wheel")[2] - 0.1 < 1e-9,
                "{shape}: {motion:?}"
            );
        }
    }
}

/// Two fingers on slides squeeze a box from both sides and lift it.
fn gripper(step: f64, squeeze: f64, mass: f64) -> String {
    let bodies = format!(
        "[bodies.hand]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"lift\", parent = \"ground\", joint = \"up\", type = \"prismatic\", axis = [0, 0, 1], mass = 0.5 }},\n\
         {{ name = \"left\", parent = \"lift\", joint = \"l\", type = \"prismatic\", axis = [1, 0, 0], origin = [-0.061, 0, 0.05], mass = 0.2, shape = {{ box = [0.02, 0.04, 0.06] }} }},\n\
         {{ name = \"right\", parent = \"lift\", joint = \"r\", type = \"prismatic\", axis = [1, 0, 0], origin = [0.061, 0, 0.05], mass = 0.2, shape = {{ box = [0.02, 0.04, 0.06] }} }},\n]\n\
         [elements.close_left]\nkind = \"actuator\"\non = \"hand.l\"\nvalue = {squeeze}\n\
         [elements.close_right]\nkind = \"actuator\"\non = \"hand.r\"\nvalue = -{squeeze}\n\
         [bodies.hook]\nkind = \"driver\"\nposition = \"0.1*min(max(t - 0.5, 0), 1)\"\n\
         [elements.rope]\nkind = \"spring\"\nbetween = [\"hand.up\", \"hook\"]\nstiffness = 2e4\ndamping = 200\n{TABLE}{}",
        body("part", mass, "{ box = [0.1, 0.1, 0.1] }", [0.0, 0.0, 0.05], "")
    );
    scene(step, 10.0, DOWN, 0.6, "", &bodies)
}

#[test]
fn fingers_of_finite_size_lift_a_box_that_does_not_slide() {
    for step in [0.5e-3, 1e-3, 2e-3] {
        let mut simulation = written(&gripper(step, 20.0, 1.0), &[]);
        let rest = (3.0 / step).round() as u64;
        simulation
            .advance((0.4 / step).round() as u64)
            .unwrap_or_else(|e| panic!("{e}"));
        let held = pose(&simulation, "part")[2] - pose(&simulation, "hand")[0];
        simulation.advance(rest).unwrap_or_else(|e| panic!("{e}"));
        let [lifted, finger] = ["part", "hand"].map(|name| pose(&simulation, name));
        assert!((lifted[2] - 0.15).abs() < 2e-3, "{lifted:?}");
        simulation.advance(rest).unwrap();
        let [after, hand] = ["part", "hand"].map(|name| pose(&simulation, name));
        assert!(
            farthest(&after, &lifted) < 1e-9,
            "{:?} and {:?} at {step}",
            after,
            lifted
        );
        assert!(farthest(&finger, &hand) < 1e-9);
        // It has moved with the hand since it was held, and did not slide.
        assert!(
            (after[2] - hand[0] - held).abs() < 1e-9,
            "{} and {held}",
            after[2] - hand[0]
        );
    }
    // 2·μ·F holds 24 N.
    let mut heavy = written(&gripper(1e-3, 20.0, 2.5), &[]);
    heavy.advance(3000).unwrap();
    assert!(pose(&heavy, "part")[2] < 0.06, "{:?}", pose(&heavy, "part"));
}

/// A link that moves along one axis only has hardly any row along the others once the box has turned by a rounding; that makes it no heavy body.
#[test]
fn a_box_between_fingers_stays_where_it_is_at_any_step_mass_and_coefficient() {
    // Twice μ times the squeeze is more than the weight and the jerk of the lift need. Sideways the fingers push it about together.
    for (step, squeeze, mass, mu, push) in [
        (0.2e-3, 20.0, 1.0, 0.6, "0"),
        (0.7e-3, 20.0, 1.0, 0.6, "0"),
        (5e-3, 20.0, 1.0, 0.6, "0"),
        (1e-2, 20.0, 1.0, 0.6, "0"),
        (1e-3, 20.0, 0.05, 0.6, "0"),
        (1e-3, 45.0, 1.0, 0.3, "0"),
        (2e-3, 12.0, 1.0, 1.2, "0"),
        (1e-3, 20.0, 1.0, 0.6, "3*sin(20*t)"),
        (2e-3, 20.0, 1.0, 0.6, "1.5*sin(7*t)"),
    ] {
        let text = gripper(step, squeeze, mass)
            .replace("mu = 0.6", &format!("mu = {mu}"))
            .replace(
                &format!("value = {squeeze}"),
                &format!("value = \"{squeeze} + {push}\""),
            )
            .replace(
                &format!("value = -{squeeze}"),
                &format!("value = \"-{squeeze} + {push}\""),
            );
        let mut simulation = written(&text, &[]);
        let place = |simulation: &Simulation| {
            let (part, hand) = (pose(simulation, "part"), pose(simulation, "hand"));
            let mut place = part.clone();
            place[0] -= hand[1];
            place[2] -= hand[0];
            place
        };
        let tenth = (0.1 / step).round() as u64;
        simulation.advance(4 * tenth).unwrap_or_else(|e| panic!("{e}"));
        let held = place(&simulation);
        for _ in 0..36 {
            simulation.advance(tenth).unwrap_or_else(|e| panic!("{e}"));
            let moved = farthest(&place(&simulation), &held);
            assert!(
                moved < 1e-12,
                "{moved} m at {step} s, {squeeze} N, {mass} kg, {mu}, {push}"
            );
        }
    }
}

/// A box that is too heavy stays on the table; the fingers slide up along it, and the rope carries them and 2·μ·F.
#[test]
fn fingers_that_slide_along_a_box_pull_with_the_force_of_their_law() {
    for (step, squeeze, mass) in [(1e-3, 20.0, 3.0), (0.5e-3, 20.0, 2.6), (1e-3, 15.0, 2.5)] {
        let mut simulation = written(&gripper(step, squeeze, mass), &[]);
        simulation
            .advance((1.0 / step).round() as u64)
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(speeds(&simulation, "part").iter().all(|v| *v == 0.0));
        // The hook is at 0.05 m and rises steadily: only the spring pulls.
        let pull = 2e4 * (0.05 - pose(&simulation, "hand")[0]);
        let expected = 0.9 * G + 2.0 * 0.6 * squeeze;
        assert!((pull - expected).abs() < 1e-8 * expected, "{pull} and {expected} N");
    }
}

#[test]
fn a_ball_rebounds_with_its_restitution_and_does_not_tunnel() {
    let bodies = format!(
        "{TABLE}{}",
        body("ball", 0.2, "{ sphere = 0.05 }", [0.3, -0.2, 1.05], "")
    );
    let text = scene(
        1e-3,
        1.0,
        DOWN,
        0.3,
        "normal = { law = \"rigid\", restitution = 0.8 }",
        &bodies,
    );
    let run = finish(written(&text, &[]), 1);
    let fall = (2.0 * 1.0 / G).sqrt();
    let after = run.at("ball.velocity.z", ((fall * 1000.0).round() + 5.0) / 1000.0);
    let expected = 0.8 * (2.0 * G * 1.0f64).sqrt() - G * 0.005;
    assert!((after - expected).abs() < 0.02, "{after} and {expected}");
    // 40 m/s on a plate of 5 mm: 40 mm a step.
    let plate = "[bodies.plate]\nkind = \"fixed\"\nshape = { box = [1, 1, 0.005] }\n";
    let shot = body(
        "ball",
        0.2,
        "{ sphere = 0.05 }",
        [0.1, 0.1, 1.0],
        "velocity = [0, 0, -40]",
    );
    let mut simulation = written(&scene(1e-3, 1.0, DOWN, 0.3, "", &format!("{plate}{shot}")), &[]);
    simulation.advance(200).unwrap();
    let height = pose(&simulation, "ball")[2];
    assert!((height - 0.0525).abs() < 1e-12, "{height}");
}

#[test]
fn a_conveyor_carries_a_box_and_the_ledger_closes() {
    let belt = "[bodies.belt]\nkind = \"fixed\"\nshape = { box = [4, 1, 0.1] }\nposition = [0, 0, -0.05]\nsurface_velocity = [0.5, 0, 0]\n";
    let bodies = format!(
        "{belt}{}",
        body("parcel", 2.0, "{ box = [0.2, 0.2, 0.1] }", [0.0, 0.0, 0.05], "")
    );
    let run = finish(written(&scene(1e-3, 1.0, DOWN, 0.25, "", &bodies), &[]), 1);
    // v/(μ·g) until it goes along, and the same heat as energy of motion.
    let time = 0.5 / (0.25 * G);
    let before = run.at("parcel.velocity.x", 0.1);
    assert!((before - 0.25 * G * 0.1).abs() < 1e-9, "{before}");
    assert!((run.at("parcel.velocity.x", 1.0) - 0.5).abs() < 1e-12);
    let way = run.at("parcel.position.x", 1.0);
    assert!((way - (0.5 * (1.0 - time) + 0.25 * time)).abs() < 1e-3, "{way}");
    let energy = run.report.energy.as_ref().unwrap();
    let heat = run.element("contacts", "dissipated");
    assert!(
        (heat - 0.25).abs() < 3e-3 && (energy.input - 0.5).abs() < 3e-3,
        "{heat} {}",
        energy.input
    );
    let open = energy.residual - energy.numerical.unwrap_or(0.0);
    assert!(open.abs() < 1e-10 * run.moved(), "{open}");
}

#[test]
fn the_order_of_bodies_does_not_matter_and_mirrored_scenes_stay_mirrored() {
    let parts = [
        body("left", 1.0, "{ box = [0.2, 0.2, 0.1] }", [-0.15, 0.0, 0.05], ""),
        body("right", 1.0, "{ box = [0.2, 0.2, 0.1] }", [0.15, 0.0, 0.05], ""),
        body("bridge", 1.0, "{ box = [0.5, 0.2, 0.1] }", [0.0, 0.0, 0.16], ""),
        body("one", 0.5, "{ sphere = 0.05 }", [-0.2, 0.0, 0.4], ""),
        body("other", 0.5, "{ sphere = 0.05 }", [0.2, 0.0, 0.4], ""),
    ];
    let run = |order: &[usize]| {
        let bodies: String = order.iter().map(|&i| parts[i].as_str()).collect();
        let mut simulation = written(&scene(1e-3, 1.0, DOWN, 0.5, "", &format!("{TABLE}{bodies}")), &[]);
        simulation.advance(600).unwrap_or_else(|e| panic!("{e}"));
        simulation
    };
    let names = ["left", "right", "bridge", "one", "other"];
    let (forward, backward) = (run(&[0, 1, 2, 3, 4]), run(&[4, 2, 0, 3, 1]));
    for name in names {
        let gap = farthest(&pose(&forward, name), &pose(&backward, name));
        assert!(gap < 1e-9, "{name}: {gap}");
    }
    for (a, b) in [("left", "right"), ("one", "other"), ("bridge", "bridge")] {
        let (a, b) = (pose(&forward, a), pose(&forward, b));
        assert!((a[0] + b[0]).abs() < 1e-9 && (a[2] - b[2]).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn a_box_slides_off_the_edge_of_a_table() {
    let table = "[bodies.table]\nkind = \"fixed\"\nshape = { box = [1, 1, 0.1] }\nposition = [-0.5, 0, -0.05]\n";
    let part = body(
        "part",
        1.0,
        "{ box = [0.2, 0.1, 0.1] }",
        [-0.2, 0.0, 0.05],
        "velocity = [0.8, 0, 0]",
    );
    let run = finish(
        written(&scene(1e-3, 1.5, DOWN, 0.1, "", &format!("{table}{part}")), &[]),
        1,
    );
    // It tips over the edge once its middle has passed it, and falls.
    assert!(run.at("part.wy", 0.2).abs() < 1e-9);
    assert!(run.at("part.wy", 0.45) > 0.1 && run.at("part.position.z", 1.5) < -0.3);
    let energy = run.report.energy.as_ref().unwrap();
    assert!(energy.final_ <= energy.initial + 1e-12);
}

#[test]
fn copies_go_on_with_the_same_bytes() {
    let (text, names) = stack(4, 1e-3, 1.0);
    let mut simulation = written(&text, &[]);
    simulation.advance(37).unwrap();
    let snapshot = simulation.snapshot();
    simulation.advance(100).unwrap();
    let mut other = written(&text, &[]);
    other.restore(&snapshot).unwrap();
    other.advance(100).unwrap();
    for name in names {
        assert_eq!(pose(&simulation, &name), pose(&other, &name));
    }
}

#[test]
fn compounds_and_densities_have_their_mass_and_inertia() {
    // Two halves of a box make the box; so does a hull of its corners, wherever it is drawn.
    let whole = "[bodies.part]\nkind = \"rigid-body\"\ndensity = 500\nshape = { box = [0.4, 0.2, 0.1] }\nposition = [0, 0, 1]\n";
    let halves = whole.replace(
        "{ box = [0.4, 0.2, 0.1] }",
        "[{ box = [0.2, 0.2, 0.1], position = [0.2, 0, 0.3] }, { box = [0.2, 0.2, 0.1], position = [0.4, 0, 0.3] }]",
    );
    let corners: Vec<[f64; 3]> = (0..8)
        .map(|i| {
            [
                if i & 1 == 0 { 0.1 } else { 0.5 },
                if i & 2 == 0 { 0.0 } else { 0.2 },
                if i & 4 == 0 { 0.0 } else { 0.1 },
            ]
        })
        .collect();
    let hull = whole.replace("{ box = [0.4, 0.2, 0.1] }", &format!("{{ hull = {corners:?} }}"));
    let expected = [4.0 * 0.05 / 12.0, 4.0 * 0.17 / 12.0, 4.0 * 0.2 / 12.0];
    for text in [whole.to_string(), halves, hull] {
        let scenario = Scenario::parse(
            &scene(1e-3, 1.0, DOWN, 0.5, "", &format!("{TABLE}{text}")),
            "a.toml",
            &[],
        )
        .unwrap();
        let stickslip::scenario::BodySpec::RigidBody(part) = &scenario.bodies[1].1 else {
            panic!()
        };
        assert!((part.mass - 4.0).abs() < 1e-12);
        for (i, expected) in expected.iter().enumerate() {
            assert!((part.inertia[i] - expected).abs() < 1e-12, "{:?}", part.inertia);
            assert!(part.inertia[3 + i].abs() < 1e-12);
        }
        // It falls on the table and rests.
        let mut simulation = Simulation::new(scenario).unwrap();
        simulation.advance(1000).unwrap();
        assert!(
            (pose(&simulation, "part")[2] - 0.05).abs() < 1e-12,
            "{:?}",
            pose(&simulation, "part")
        );
    }
}

#[test]
fn wrong_scenes_are_refused_in_words() {
    let refuse = |bodies: &str, contacts: &str, words: &[&str]| {
        let text = scene(1e-3, 1.0, DOWN, 0.5, contacts, bodies);
        let error = match Scenario::parse(&text, "a.toml", &[]) {
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
    let part = |shape: &str| format!("{TABLE}{}", body("part", 1.0, shape, [0.0, 0.0, 1.0], ""));
    refuse(
        &part("{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }"),
        "",
        &["at least four", "found 3"],
    );
    refuse(
        &part("{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }"),
        "",
        &["one plane", "no volume"],
    );
    refuse(&part("{ box = [0.1, 0, 0.1] }"), "", &["box"]);
    refuse(
        &part("{ capsule = { radius = 0, length = 1 } }"),
        "",
        &["greater than 0"],
    );
    refuse(
        &part("{ plane = { normal = [0, 0, 1] } }"),
        "",
        &["do not move", "fixed"],
    );
    refuse(&part("{ mesh = \"none.stl\" }"), "", &["do not move"]);
    refuse(&part("{ hull = \"none.stl\" }"), "", &["cannot read", "none.stl"]);
    refuse(TABLE, "", &["no body that moves has a shape"]);
    refuse(
        &part("{ sphere = 0.1 }"),
        "except = [[\"part\", \"tabel\"]]",
        &["no body \"tabel\"", "table"],
    );
    refuse(
        &part("{ sphere = 0.1 }"),
        "normal = { law = \"kelvin-voigt\", stiffness = 1e4 }",
        &["rigid"],
    );
    refuse(
        &format!("{}material = \"stone\"\n", part("{ sphere = 0.1 }")),
        "",
        &["no material \"stone\""],
    );
    // Overlap at the start: who, and how deep.
    let text = scene(
        1e-3,
        1.0,
        DOWN,
        0.5,
        "",
        &part("{ box = [0.2, 0.2, 0.2] }").replace("[0.0, 0.0, 1.0]", "[0, 0, 0.09]"),
    );
    let simulation = written(&text, &[]);
    let warnings: Vec<String> = simulation.built().warnings.iter().map(|w| w.message.clone()).collect();
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("overlap by 1.000e-2") && w.contains("part") && w.contains("table")),
        "{warnings:?}"
    );
}

#[test]
fn materials_say_how_pairs_rub_and_rebound() {
    let bodies = format!(
        "{TABLE}material = \"steel\"\n{}{}",
        body(
            "tyre",
            1.0,
            "{ box = [0.2, 0.2, 0.1] }",
            [0.0, 0.5, 0.05],
            "velocity = [1, 0, 0]\nmaterial = \"rubber\""
        ),
        body(
            "sled",
            1.0,
            "{ box = [0.2, 0.2, 0.1] }",
            [0.0, -0.5, 0.05],
            "velocity = [1, 0, 0]\nmaterial = \"ice\""
        )
    );
    let contacts = "[[contacts.materials]]\npair = [\"rubber\", \"steel\"]\nmu = 0.9\n\
                    [materials.rubber]\nmu = 0.1\n[materials.steel]\nmu = 0.4\n[materials.ice]\nmu = 0.1\n";
    let mut simulation = written(&scene(1e-3, 1.0, DOWN, 0.5, contacts, &bodies), &[]);
    simulation.advance(50).unwrap();
    for (name, mu) in [("tyre", 0.9), ("sled", (0.4f64 * 0.1).sqrt())] {
        let speed = speeds(&simulation, name)[0];
        assert!((speed - (1.0 - mu * G * 0.05)).abs() < 1e-9, "{name}: {speed}");
    }
}

/// A bowl as an STL file in the folder of temporary files: a spherical hollow in a block of revolution, in so many segments.
fn bowl(name: &str, segments: usize, change: impl Fn(&mut Vec<[[f64; 3]; 3]>)) -> String {
    let arc = (1..=6).map(|k| {
        let angle = 0.15 * f64::from(k);
        [0.3 * angle.sin(), 0.3 * (1.0 - angle.cos())]
    });
    let mut profile: Vec<[f64; 2]> = vec![[0.0, 0.0]];
    profile.extend(arc);
    let rim = profile[6];
    profile.extend([[rim[0] + 0.02, rim[1]], [rim[0] + 0.02, -0.02], [0.0, -0.02]]);
    let at = |[r, z]: [f64; 2], k: usize| {
        let angle = std::f64::consts::TAU * (k % segments) as f64 / segments as f64;
        [r * angle.cos(), r * angle.sin(), z]
    };
    let mut triangles = Vec::new();
    for pair in profile.windows(2) {
        for k in 0..segments {
            let [a, b, c, d] = [at(pair[0], k), at(pair[1], k), at(pair[1], k + 1), at(pair[0], k + 1)];
            // Normals outwards: up in the hollow, down below.
            if pair[1][0] > 0.0 {
                triangles.push([a, b, c]);
            }
            if pair[0][0] > 0.0 {
                triangles.push(if pair[1][0] > 0.0 { [a, c, d] } else { [a, b, d] });
            }
        }
    }
    change(&mut triangles);
    let mut text = String::from("solid bowl\n");
    for triangle in &triangles {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in triangle {
            text += &format!("vertex {x:?} {y:?} {z:?}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text += "endsolid bowl\n";
    let path = std::env::temp_dir().join(format!("stickslip-{}-{name}.stl", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_ball_rests_in_a_bowl_of_triangles() {
    let file = bowl("rest", 24, |_| ());
    let bodies = format!(
        "[bodies.bowl]\nkind = \"fixed\"\nshape = {{ mesh = \"{file}\" }}\n{}",
        body("ball", 0.5, "{ sphere = 0.05 }", [0.0, 0.0, 0.06], "")
    );
    for step in [0.5e-3, 1e-3, 2e-3] {
        let text = scene(step, 4.0, DOWN, 0.3, "", &bodies);
        let moved = drift(&text, &["ball".to_string()], 1.0, 2.0);
        assert!(moved < 1e-9, "{moved} at {step}");
    }
    // From the side it comes back, and the energy does not grow.
    let bodies = bodies.replace("[0.0, 0.0, 0.06]", "[0.1, 0.03, 0.1]");
    let run = finish(written(&scene(1e-3, 1.0, DOWN, 0.3, "", &bodies), &[]), 10);
    let energy = run.report.energy.as_ref().unwrap();
    assert!(energy.final_ < energy.initial);
    assert!(
        run.column("ball.position.z").iter().all(|z| *z > 0.045),
        "through the bowl"
    );
    std::fs::remove_file(file).unwrap();
}

#[test]
fn broken_meshes_are_named() {
    type Change<'a> = &'a dyn Fn(&mut Vec<[[f64; 3]; 3]>);
    let refuse = |name: &str, change: Change, word: &str| {
        let file = bowl(name, 8, |triangles| change(triangles));
        let bodies = format!(
            "[bodies.bowl]\nkind = \"fixed\"\nshape = {{ mesh = \"{file}\" }}\n{}",
            body("ball", 0.5, "{ sphere = 0.05 }", [0.0, 0.0, 1.0], "")
        );
        let error = Scenario::parse(&scene(1e-3, 1.0, DOWN, 0.3, "", &bodies), "a.toml", &[])
            .unwrap_err()
            .to_string();
        assert!(error.contains(word), "{word} in {error}");
        std::fs::remove_file(file).unwrap();
    };
    refuse("hole", &|t| t.truncate(t.len() - 1), "has a hole");
    refuse("turned", &|t| t[3].swap(0, 1), "turned against each other");
    refuse("inside", &|t| t.iter_mut().for_each(|t| t.swap(0, 1)), "face inwards");
    refuse("number", &|t| t[3][0][0] = f64::NAN, "not a finite number");
    refuse("empty", &|t| t.clear(), "no triangle");
}

#[test]
fn a_part_walks_over_a_vibrating_plate_as_a_point_does() {
    // A linear feeder: friction at μ·N with N = m·(g + z̈), the motion of a point on a plate, integrated finely here.
    let (amplitude, frequency, mu): (f64, f64, f64) = (0.8e-3, 25.0, 0.3);
    let (along, up) = (
        amplitude * 20f64.to_radians().cos(),
        amplitude * 20f64.to_radians().sin(),
    );
    let omega = std::f64::consts::TAU * frequency;
    let text = scene(
        5e-5,
        1.0,
        DOWN,
        mu,
        "",
        &format!(
            "[bodies.plate]\nkind = \"driver\"\nshape = {{ box = [4, 0.4, 0.02] }}\n\
             position = [\"{along}*sin({omega}*t)\", 0, \"-0.01 + {up}*sin({omega}*t)\"]\n{}",
            body("part", 0.05, "{ box = [0.04, 0.03, 0.02] }", [0.0, 0.0, 0.01], "")
        ),
    );
    let mut simulation = written(&text, &[]);
    // Ten periods, once it walks steadily.
    simulation.advance(12_000).unwrap_or_else(|e| panic!("{e}"));
    let start = pose(&simulation, "part")[0];
    simulation.advance(8_000).unwrap_or_else(|e| panic!("{e}"));
    let walked = pose(&simulation, "part")[0] - start;
    let (mut x, mut v, h) = (0.0, along * omega, 1e-6);
    for step in 0..1_000_000 {
        if step == 600_000 {
            x = 0.0;
        }
        let t = h * f64::from(step);
        let plate = along * omega * (omega * t).cos();
        let press = G - up * omega * omega * (omega * t).sin();
        let carried = -along * omega * omega * (omega * t).sin();
        let slip: f64 = v - plate;
        let limit = mu * press * h;
        // Goes along where friction can, slides otherwise.
        v = if (slip - carried * h).abs() <= limit {
            plate + carried * h
        } else {
            v - limit * slip.signum()
        };
        x += v * h;
    }
    assert!((walked - x).abs() < 0.01 * x.abs(), "{walked} and {x}");
}

#[test]
fn the_midpoint_rule_holds_and_slides_as_well() {
    let text = |mu: f64| {
        let part = body("part", 2.0, "{ box = [0.3, 0.2, 0.1] }", [0.0, 0.0, 0.05], "");
        scene(1e-3, 1.0, slope(0.3), mu, "", &format!("{TABLE}{part}")).replace("implicit-euler", "implicit-midpoint")
    };
    let mut held = written(&text(0.31), &[]);
    held.advance(300).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        speeds(&held, "part").iter().all(|v| v.abs() < 1e-12),
        "{:?}",
        speeds(&held, "part")
    );
    let mut sliding = written(&text(0.2), &[]);
    sliding.advance(300).unwrap_or_else(|e| panic!("{e}"));
    let angle = 0.3f64.atan();
    let expected = G * (angle.sin() - 0.2 * angle.cos()) * 0.3;
    assert!(
        (speeds(&sliding, "part")[0] - expected).abs() < 1e-6,
        "{:?}",
        speeds(&sliding, "part")
    );
    let way = pose(&sliding, "part")[0];
    assert!((way - 0.5 * expected * 0.3).abs() < 1e-5, "{way}");
}

#[test]
fn balls_poured_into_a_box_come_to_rest() {
    let mut bodies = String::from(TABLE);
    for (name, x, y) in [
        ("w1", 0.21, 0.0),
        ("w2", -0.21, 0.0),
        ("w3", 0.0, 0.21),
        ("w4", 0.0, -0.21),
    ] {
        let [a, b] = if x == 0.0 { [0.44, 0.02] } else { [0.02, 0.44] };
        bodies += &format!(
            "[bodies.{name}]\nkind = \"fixed\"\nshape = {{ box = [{a}, {b}, 0.6] }}\nposition = [{x}, {y}, 0.3]\n"
        );
    }
    for i in 0..24 {
        let (a, b, c) = (i % 3, i / 3 % 3, i / 9);
        let at = |k: i32, s: i32| -0.11 + 0.11 * f64::from(k) + 0.007 * f64::from((s * 7) % 5 - 2);
        bodies += &body(
            &format!("p{i}"),
            0.3,
            "{ sphere = 0.05 }",
            [at(a, i), at(b, i + 3), 0.06 + 0.12 * f64::from(c)],
            "",
        );
    }
    let mut simulation = written(&scene(1e-3, 3.0, DOWN, 0.4, "", &bodies), &[]);
    simulation.advance(2500).unwrap_or_else(|e| panic!("{e}"));
    for i in 0..24 {
        let (position, motion) = (
            pose(&simulation, &format!("p{i}")),
            speeds(&simulation, &format!("p{i}")),
        );
        assert!(
            position[0].abs() <= 0.15 + 1e-6 && position[1].abs() <= 0.15 + 1e-6 && position[2] >= 0.05 - 1e-6,
            "{position:?}"
        );
        assert!(motion[..3].iter().all(|v| v.abs() < 0.2), "p{i}: {motion:?}");
    }
}
