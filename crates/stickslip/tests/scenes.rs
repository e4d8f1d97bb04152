//! The scenes of `scenarios/`: what must hold in each. Expected values are closed forms, or that what rests does not move.
#![allow(missing_docs)]

mod common;

use common::{finish, simulation, written};
use stickslip::Simulation;

/// Positions of all bodies that move.
fn poses(simulation: &Simulation, names: &[&str]) -> Vec<f64> {
    let of = |name: &&str| simulation.position(simulation.body(name).unwrap()).to_vec();
    names.iter().flat_map(of).collect()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// How far bodies move in so many seconds once a scene has settled, at steps of 0.5, 1 and 2 ms.
fn drifts(file: &str, names: &[&str], settled: f64, rest: f64) {
    for step in [0.5e-3, 1e-3, 2e-3] {
        let mut scene = simulation(file, &[&format!("simulation.step={step}")]);
        let steps = |time: f64| (time / step).round() as u64;
        scene.advance(steps(settled)).unwrap_or_else(|e| panic!("{e}"));
        let start = poses(&scene, names);
        scene.advance(steps(rest)).unwrap_or_else(|e| panic!("{e}"));
        let moved = farthest(&start, &poses(&scene, names));
        assert!(moved < 1e-9, "{file}: {moved} m at steps of {step} s");
    }
}

const CARDS: [&str; 7] = [
    "west_left",
    "west_right",
    "east_left",
    "east_right",
    "across",
    "top_left",
    "top_right",
];

#[test]
fn a_card_house_stands() {
    drifts("card-house.toml", &CARDS, 0.0, 6.0);
    // Mirrored cards stay mirrored.
    let mut scene = simulation("card-house.toml", &[]);
    scene.advance(1000).unwrap();
    let (left, right) = (poses(&scene, &["west_left"]), poses(&scene, &["east_right"]));
    assert!((left[0] + right[0]).abs() < 1e-9 && (left[2] - right[2]).abs() < 1e-9);
    // With less than what the upper pair needs it falls.
    let mut scene = simulation("card-house.toml", &["contacts.friction.mu=0.15"]);
    scene.advance(500).unwrap_or_else(|e| panic!("{e}"));
    assert!(poses(&scene, &["top_left"])[2] < 0.1);
}

#[test]
fn two_cards_lean_on_each_other_from_their_closed_form_on() {
    // Card of length l and thickness d, at α: its weight acts l/2·sin α − d/2·cos α from its foot, its partner pushes l·cos α above.
    let (alpha, length, thick): (f64, f64, f64) = (20f64.to_radians(), 0.09, 0.002);
    let limit = 0.5 * alpha.tan() - 0.5 * thick / length;
    let (low, reach) = (
        0.5 * (length * alpha.cos() + thick * alpha.sin()),
        0.5 * (length * alpha.sin() + thick * alpha.cos()),
    );
    let card = |name: &str, side: f64| {
        format!(
            "[bodies.{name}]\nkind = \"rigid-body\"\nmass = 0.002\nshape = {{ box = [{thick}, 0.06, {length}] }}\n\
             position = [{}, 0, {low}]\nrotation = [{}, 0, {}, 0]\n",
            -side * reach,
            (0.5 * alpha).cos(),
            side * (0.5 * alpha).sin()
        )
    };
    for (part, stands) in [(1.001, true), (0.999, false)] {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
             [contacts]\nfriction = {{ law = \"implicit\", mu = {} }}\n\
             [bodies.table]\nkind = \"fixed\"\nshape = {{ plane = {{ normal = [0, 0, 1] }} }}\n{}{}",
            limit * part,
            card("left", 1.0),
            card("right", -1.0)
        );
        let mut scene = written(&text, &[]);
        let start = poses(&scene, &["left", "right"]);
        scene.advance(1000).unwrap_or_else(|e| panic!("{e}"));
        let moved = farthest(&start, &poses(&scene, &["left", "right"]));
        assert_eq!(moved < 1e-9, stands, "{part}: {moved}");
    }
}

/// Forces of different pairs balance: their sum says nothing. A block between two jaws that press with F each is held by F on either side, and a
/// pile presses on its floor with all its weight, whichever body is named first.
#[test]
fn the_largest_force_of_contacts_is_that_of_one_pair() {
    let head = |gravity: &str, integrator: &str| {
        format!(
            "[simulation]\nduration = 0.2\nstep = 0.001\nintegrator = \"{integrator}\"\ngravity = [0, 0, {gravity}]\n\
             [contacts]\nfriction = {{ law = \"implicit\", mu = 0.4 }}\n"
        )
    };
    let brick = |name: &str, mass: f64, position: &str, more: &str| {
        format!(
            "[bodies.{name}]\nkind = \"rigid-body\"\nmass = {mass}\nshape = {{ box = [0.2, 0.1, 0.06] }}\nposition = {position}\n{more}\n"
        )
    };
    for integrator in ["implicit-euler", "implicit-midpoint"] {
        let jaws = head("0", integrator)
            + &brick("block", 0.8, "[0, 0, 0]", "")
            + &brick("west", 0.3, "[-0.2, 0, 0]", "force = [37, 0, 0]")
            + &brick("east", 0.5, "[0.2, 0, 0]", "force = [-37, 0, 0]");
        let floor = "[bodies.floor]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\n";
        let pile = |first: &str, last: &str| {
            head("-9.81", integrator)
                + first
                + &brick("middle", 0.7, "[0.01, 0, 0.09]", "")
                + &brick("top", 2.1, "[0, 0, 0.15]", "")
                + &brick("bottom", 1.2, "[0, 0, 0.03]", "")
                + last
        };
        for (text, expected) in [
            (jaws, 37.0),
            (pile(floor, ""), 4.0 * 9.81),
            (pile("", floor), 4.0 * 9.81),
        ] {
            let report = finish(written(&text, &[]), 1).report;
            let contacts = &report.elements["contacts"];
            let found = contacts["max_force"].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-6 * expected,
                "{integrator}: {found}, {expected}"
            );
            assert!(contacts["sign_changes"].is_null());
        }
    }
}

#[test]
fn a_hand_lifts_a_box_that_does_not_slide() {
    drifts("gripper.toml", &["part"], 3.0, 5.0);
    let run = finish(simulation("gripper.toml", &[]), 1);
    let above = |time: f64| run.at("part.position.z", time) - run.at("hand.up.position", time);
    assert!((above(3.0) - above(0.4)).abs() < 1e-9, "{}", above(3.0) - above(0.4));
    assert!((run.at("part.position.z", 3.0) - 0.15).abs() < 2e-3);
    // 2·μ·F must carry its weight.
    let mu = 9.81 / 40.0;
    for (part, lifted) in [(1.1, true), (0.99, false)] {
        let mut scene = simulation("gripper.toml", &[&format!("contacts.friction.mu={}", mu * part)]);
        scene.advance(3000).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(poses(&scene, &["part"])[2] > 0.1, lifted, "{part}");
    }
}

#[test]
fn a_ball_comes_to_rest_in_a_bowl() {
    drifts("bowl.toml", &["ball"], 9.0, 6.0);
    let run = finish(simulation("bowl.toml", &[]), 10);
    let height = run.at("ball.position.z", 10.0);
    // It rests on the 24 triangles around the lowest point, which slope as the arc does up to 0.15 rad.
    let slope = (1.0 - 0.15f64.cos()) / 0.15f64.sin() / (std::f64::consts::PI / 24.0).cos();
    let expected = 0.05 * (1.0 + slope * slope).sqrt();
    assert!((height - expected).abs() < 1e-6, "{height} and {expected}");
    let energy = run.report.energy.as_ref().unwrap();
    assert!(energy.final_ < energy.initial);
}

#[test]
fn a_wedge_lifts_a_block_from_its_closed_form_on_and_locks_itself() {
    let (alpha, phi) = (10f64.to_radians(), 0.2f64.atan());
    let force = 20.0 * 9.81 * (alpha + 2.0 * phi).tan() + 9.81 * phi.tan();
    for (part, moves) in [(0.999, false), (1.001, true)] {
        let push = format!("bodies.wedge.force=[{}, 0, 0]", force * part);
        let mut scene = simulation("wedge.toml", &[&push]);
        let start = poses(&scene, &["wedge", "block"]);
        scene.advance(500).unwrap_or_else(|e| panic!("{e}"));
        let moved = farthest(&start, &poses(&scene, &["wedge", "block"]));
        assert_eq!(moved > 1e-9, moves, "{part}: {moved}");
    }
    // As written it moves once the push is there, lifts by tan α of its way, and stays.
    let run = finish(simulation("wedge.toml", &[]), 1);
    let first = run.column("wedge.velocity.x").iter().position(|v| *v > 0.0).unwrap();
    assert!((first as f64 * 1e-3 - force / 140.0).abs() <= 1e-3, "{first}");
    let way = |column: &str| run.at(column, 2.0) - run.at(column, 0.0);
    let (along, up) = (way("wedge.position.x"), way("block.position.z"));
    assert!(along > 1e-3 && (up - along * alpha.tan()).abs() < 1e-9, "{along} {up}");
    drifts("wedge.toml", &["wedge", "block"], 1.5, 5.0);
}

#[test]
fn a_box_slides_off_the_edge_of_a_table() {
    let run = finish(simulation("table-edge.toml", &[]), 1);
    // It slows by μ·g and does not turn until the table can no longer press where it must: μ·h/2 ahead of the middle, as friction acts below it.
    let passes = (0.8 - (0.64f64 - 2.0 * 0.981 * (0.2 - 0.1 * 0.05)).sqrt()) / 0.981;
    let tips = run.column("box.wy").iter().position(|w| *w > 1e-6).unwrap();
    assert!((tips as f64 * 1e-3 - passes).abs() < 3e-3, "{tips} ms and {passes} s");
    let speed = run.at("box.velocity.x", 0.2);
    assert!((speed - (0.8 - 0.981 * 0.2)).abs() < 1e-9, "{speed}");
    // Then it falls freely, past the table and turning.
    let (late, later) = (run.at("box.velocity.z", 0.7), run.at("box.velocity.z", 0.8));
    assert!((late - later - 0.981).abs() < 1e-9, "{late} {later}");
    assert!(run.at("box.wy", 0.8) > 1.0 && run.at("box.position.z", 0.8) < -0.3);
    let energy = run.report.energy.as_ref().unwrap();
    assert!(energy.final_ <= energy.initial);
}

/// What the program warns of a scene, but for overlaps.
fn warned(text: &str) -> Vec<String> {
    let simulation = written(text, &[]);
    simulation
        .built()
        .warnings
        .iter()
        .map(|warning| warning.message.clone())
        .collect()
}

#[test]
fn shapes_that_touch_nothing_are_named() {
    let head = |gravity: &str| {
        format!("[simulation]\nduration = 0.1\nstep = 1e-3\nintegrator = \"implicit-euler\"\n{gravity}\n")
    };
    let falls = "gravity = [0, -9.8, 0]";
    let bed = "[bodies.bed]\nkind = \"fixed\"\nshape = { box = [2, 0.2, 2] }\n";
    let ball = |name: &str, more: &str| {
        format!(
            "[bodies.{name}]\nkind = \"rigid-body\"\nmass = 2\nshape = {{ sphere = 0.3 }}\nposition = [0, 0.5, 0]\n{more}\n"
        )
    };
    let hangs = "[elements.cord]\nkind = \"spring\"\nbetween = [\"bob\", \"ground\"]\nstiffness = 50\nlength = 0.2\n";
    let contact = "[elements.c]\nkind = \"contact\"\nbetween = [\"rock\", \"ground\"]\nsurface = { plane = { normal = [0, 1, 0] } }\nnormal = { law = \"rigid\" }\n";
    let scene = "[contacts]\nfriction = { law = \"implicit\", mu = 0.3 }\n";
    for (text, words) in [
        // What was to land falls through.
        (
            head(falls) + bed + &ball("rock", ""),
            Some("\"bed\" and \"rock\" have shapes that touch nothing"),
        ),
        (
            head("") + bed + &ball("rock", "velocity = [0, -1, 0]"),
            Some("\"bed\" has a shape that touches nothing"),
        ),
        (
            head(falls) + &ball("bob", "") + &ball("rock", "") + hangs,
            Some("\"rock\" has a shape"),
        ),
        // Shapes for the inertia: a throw, a pendulum, free spins; and one that a named contact uses.
        (head(falls) + &ball("rock", "velocity = [1, 2, 0]"), None),
        (head(falls) + &ball("bob", "") + hangs, None),
        (
            head("") + &ball("a", "angular_velocity = [1, 0, 3]") + &ball("b", "angular_velocity = [0, 1, 3]"),
            None,
        ),
        (head(falls) + &ball("rock", "") + contact, None),
        (head(falls) + scene + bed + &ball("rock", ""), None),
        // A scene in which nothing can happen, and some in which something does.
        (
            head("") + scene + bed + &ball("rock", ""),
            Some("nothing moves and nothing pushes"),
        ),
        (head("") + scene + bed + &ball("rock", "force = [0, -1, 0]"), None),
        (
            head("") + scene + bed + &ball("rock", "angular_velocity = [0, 0, 1]"),
            None,
        ),
    ] {
        let found = warned(&text);
        match words {
            None => assert_eq!(found, Vec::<String>::new(), "{text}"),
            Some(words) => assert!(found.len() == 1 && found[0].contains(words), "{found:?}\n{text}"),
        }
    }
    // Gravity into the half space, along it, and out of it.
    let plane = "[bodies.bed]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 1, 0] } }\n";
    for (gravity, away) in [("[0, -3, 0]", false), ("[2, 0, 0]", false), ("[1, 3, 0]", true)] {
        let found = warned(&(head(&format!("gravity = {gravity}")) + scene + plane + &ball("rock", "")));
        assert_eq!(found.len(), usize::from(away), "{found:?}");
        assert!(
            found
                .iter()
                .all(|message| message.contains("gravity points away from \"bed\""))
        );
    }
}

#[test]
fn no_scenario_of_the_repository_has_shapes_that_touch_nothing() {
    let folder = common::scenario_path("");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let name = file.file_name().unwrap().to_str().unwrap().to_string();
        if name == "earthquake-chain.toml" {
            continue; // Many blocks, no shapes.
        }
        let scenario = simulation(&name, &[]);
        for warning in &scenario.built().warnings {
            for words in ["touch", "nothing moves", "points away"] {
                assert!(!warning.message.contains(words), "{name}: {}", warning.message);
            }
        }
        count += 1;
    }
    assert!(count > 50);
}
