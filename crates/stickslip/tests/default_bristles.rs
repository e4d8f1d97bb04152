//! What `dahl` and `lugre` do with the stiffness and damping that are chosen for them, under the methods that are explicit in the bristle.
//! Expected values: dry friction, m·v̇ = f − F.

use stickslip::Simulation;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::Scenario;

const LAWS: [&str; 2] = ["dahl", "lugre"];
const METHODS: [&str; 3] = ["rk4", "euler", "newmark"];

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn text(method: &str, step: f64, duration: f64, body: &str, friction: &str) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{method}\"\n[bodies.m]\nkind = \"mass\"\n{body}\n\
         [elements.f]\nkind = \"friction\"\nbetween = [\"m\", \"ground\"]\n{friction}\n"
    )
}

/// Where the body ends, and the largest force of the friction.
fn end(text: &str) -> (Vec<f64>, f64) {
    let mut simulation = simulation(text);
    let outcome = run(&mut simulation, None, Options::default()).unwrap();
    assert_eq!(outcome.ended, Ended::Complete, "{text}");
    let position = simulation.position(simulation.body("m").unwrap()).to_vec();
    let peak = outcome.report.elements["f"]["max_force"].as_f64().unwrap();
    (position, peak)
}

/// A puck of 2 kg at 1.7 m/s against 5 N stops after m·v²/(2·F) = 0.578 m, but for what it moves while the bristle finds its stretch: that takes
/// a few steps.
#[test]
fn a_sliding_puck_stops_where_dry_friction_stops_it() {
    for law in LAWS {
        for method in METHODS {
            for step in [1e-2, 1e-3, 1e-4] {
                let friction = format!("law = \"{law}\"\nkinetic = 5");
                let (position, peak) = end(&text(method, step, 1.2, "mass = 2\nvelocity = 1.7", &friction));
                assert!(
                    (position[0] - 0.578).abs() < 3.0 * 1.7 * step,
                    "{law} {method} {step}: {position:?}"
                );
                // B·ė of a bristle that settles within a stage is at most 2·F·T/τ on top of F.
                assert!(peak < 5.0 * (1.0 + 4.0), "{law} {method} {step}: {peak} N");
            }
        }
    }
}

/// The same on a plane, along the diagonal.
#[test]
fn so_does_one_in_the_plane() {
    for law in LAWS {
        for method in METHODS {
            let step = 1e-3;
            let friction = format!("law = \"{law}\"\nmu = 0.25\nnormal_force = 20");
            let body = "mass = 2\nposition = [0, 0]\nvelocity = [1.02, 1.36]";
            let (position, _) = end(&text(method, step, 1.2, body, &friction));
            for (found, share) in position.iter().zip([0.6, 0.8]) {
                assert!(
                    (found - share * 0.578).abs() < 3.0 * 1.7 * step,
                    "{law} {method}: {position:?}"
                );
            }
        }
    }
}

/// From rest, 7 N against 4 N on 1.5 kg for 1.6 s: ½·(f − F)/m·t² = 2.56 m. Nothing tells beforehand how fast it becomes.
#[test]
fn a_block_that_is_pushed_off_is_as_fast_as_dry_friction_lets_it() {
    for law in LAWS {
        for method in METHODS {
            for step in [1e-2, 1e-3, 1e-4] {
                let friction = format!("law = \"{law}\"\nkinetic = 4");
                let (position, _) = end(&text(method, step, 1.6, "mass = 1.5\nforce = 7", &friction));
                // The bristle holds back late by a few steps of the motion, and by half of its vibration at break-away.
                assert!(
                    (position[0] - 2.56).abs() < 8.0 * 2.0 * 1.6 * step,
                    "{law} {method} {step}: {position:?}"
                );
            }
        }
    }
}

/// A stiffness of the user's own, a hundred times what an explicit step can follow while sliding: the steady force is that of the curve all the
/// same, in lanes and in the short ways too.
#[test]
fn a_given_stiffness_is_no_limit_of_speed() {
    for law in LAWS {
        for method in ["rk4", "euler"] {
            let friction = format!(
                "law = \"{law}\"\nkinetic = 4\nviscous = 0.5\nstiffness = 2e4{}",
                if law == "lugre" { "\ndamping = 100" } else { "" }
            );
            let text = text(method, 1e-3, 0.5, "mass = 1.5\nvelocity = 20", &friction);
            let (position, _) = end(&text);
            // m·v̇ = −F − d·v: x = (v₀ + F/d)·m/d·(1 − e^(−d·t/m)) − F/d·t.
            let (decay, ratio) = (0.5 / 1.5, 4.0 / 0.5);
            let expected = (20.0 + ratio) / decay * (1.0 - libm::exp(-decay * 0.5)) - ratio * 0.5;
            assert!(
                (position[0] - expected).abs() < 0.03,
                "{law} {method}: {position:?} {expected}"
            );
            let mut short = simulation(&text);
            short.advance(500).unwrap();
            assert!((short.position(short.body("m").unwrap())[0] - position[0]).abs() < 1e-12);
        }
    }
}

/// What is chosen fits together: the damping is √(K·m) of the stiffness that is used, at any speed.
#[test]
fn the_damping_that_is_chosen_is_that_of_the_stiffness() {
    for law in ["lugre", "proxy"] {
        for velocity in ["0", "3"] {
            let built = simulation(&text(
                "rk4",
                1e-3,
                1.0,
                &format!("mass = 0.7\nvelocity = {velocity}"),
                &format!("law = \"{law}\"\nkinetic = 2"),
            ));
            let chosen = |key: &str| {
                let choices = &built.built().choices;
                choices.iter().find(|choice| choice.key.ends_with(key)).unwrap().value
            };
            assert!((chosen("stiffness") / (0.7 * 500.0 * 500.0) - 1.0).abs() < 1e-12);
            assert!((chosen("damping") / (chosen("stiffness") * 0.7).sqrt() - 1.0).abs() < 1e-12);
        }
    }
}
