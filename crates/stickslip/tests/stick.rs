//! What sticks, sticks: exactly, at any step, for an hour of simulated time (DESIGN, section 5).
#![allow(missing_docs)]

use stickslip::scenario::Scenario;
use stickslip::{Body, Element, Simulation};

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// A block pushed with part of the friction limit, for an hour.
fn block(axes: usize, law: &str, integrator: &str, step: f64, load: f64) -> Simulation {
    let zero = vec!["0"; axes].join(", ");
    let limit = 10.0;
    // Along a direction that is no axis, of the wanted magnitude.
    let direction = [[1.0, 0.0, 0.0], [0.6, -0.8, 0.0], [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]][axes - 1];
    let force: Vec<String> = direction[..axes]
        .iter()
        .map(|d| format!("{}", d * load * limit))
        .collect();
    simulation(&format!(
        "[simulation]\nduration = \"1 h\"\nstep = {step}\nintegrator = \"{integrator}\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 0.7\nposition = [{zero}]\nforce = [{}]\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nkinetic = {limit}\n",
        force.join(", ")
    ))
}

#[test]
fn implicit_holds_for_an_hour_without_moving_at_all() {
    for axes in 1..=3 {
        for step in [1e-4, 1e-3, 7e-3, 2e-2] {
            // The finest step takes 36 million steps: one dimension shows it.
            if step < 1e-3 && axes > 1 {
                continue;
            }
            for load in [0.6, 0.99] {
                let mut simulation = block(axes, "implicit", "implicit-euler", step, load);
                let steps = simulation.built().steps;
                simulation.advance(steps - 1).unwrap();
                simulation.advance_observed(1).unwrap();
                assert!(
                    simulation.position(Body::nth(0)).iter().all(|&x| x == 0.0),
                    "moved: {:?}",
                    simulation.position(Body::nth(0))
                );
                assert!(simulation.velocity(Body::nth(0)).iter().all(|&v| v == 0.0));
                let held: f64 = simulation
                    .force(Element::nth(0))
                    .iter()
                    .map(|f| f * f)
                    .sum::<f64>()
                    .sqrt();
                assert!(
                    (held - load * 10.0).abs() < 1e-12 * held,
                    "friction {held} does not balance the load"
                );
            }
        }
    }
}

#[test]
fn implicit_slips_just_above_the_limit_and_slides_to_a_dead_stop() {
    let mut simulation = block(1, "implicit", "implicit-euler", 1e-3, 1.01);
    simulation.advance(1000).unwrap();
    // m·v = (load − limit)·t
    assert!((simulation.velocity(Body::nth(0))[0] - 0.1 / 0.7).abs() < 1e-12);

    let mut sliding = simulation_with_velocity(2.0);
    let stop = (0.7f64 * 2.0 / (1e-3 * 10.0)).ceil() as u64;
    sliding.advance(stop - 1).unwrap();
    assert!(sliding.velocity(Body::nth(0))[0] > 0.0);
    sliding.advance(2).unwrap();
    let at = sliding.position(Body::nth(0))[0];
    assert_eq!(sliding.velocity(Body::nth(0))[0].to_bits(), 0.0f64.to_bits());
    sliding.advance(1_000_000).unwrap();
    assert_eq!(
        sliding.position(Body::nth(0))[0].to_bits(),
        at.to_bits(),
        "creeps after the stop"
    );
}

fn simulation_with_velocity(v: f64) -> Simulation {
    simulation(&format!(
        "[simulation]\nduration = \"1 h\"\nstep = \"1 ms\"\nintegrator = \"implicit-euler\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 0.7\nvelocity = {v}\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 10\n"
    ))
}

/// Laws that hold elastically stay within their presliding, with the parameters chosen for the user.
#[test]
fn bristle_laws_stay_within_presliding_for_an_hour() {
    for (law, integrator) in [
        ("proxy", "rk4"),
        ("relaxed", "rk4"),
        ("proxy", "implicit-euler"),
        ("relaxed", "implicit-euler"),
    ] {
        for step in [1e-3, 2e-2] {
            for load in [0.6, 0.99] {
                let mut simulation = block(1, law, integrator, step, load);
                let stiffness = simulation.built().choices[0].value;
                let settle = 1000;
                simulation.advance(settle).unwrap();
                let at = simulation.position(Body::nth(0))[0];
                let presliding = load * 10.0 / stiffness;
                // Put on suddenly, 99 % of the limit overshoots it and slides a little first; 60 % does not.
                if load < 0.8 {
                    assert!(
                        (at - presliding).abs() < 1e-6 * presliding,
                        "{law} {integrator} {step}: {at} vs {presliding}"
                    );
                }
                let steps = simulation.built().steps;
                simulation.advance(steps - settle).unwrap();
                let moved = (simulation.position(Body::nth(0))[0] - at).abs();
                assert!(
                    moved < 1e-12,
                    "{law} with {integrator} at {step} s crept {moved} m in an hour"
                );
            }
        }
    }
}

/// A box on a plane under a side load: held by four corners, not a bit moves.
#[test]
fn a_box_on_a_rough_plane_is_held_still() {
    let mut simulation = simulation(
        "[simulation]\nduration = 60\nstep = \"5 ms\"\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.8]\n\
         [bodies.box]\nkind = \"rigid-body\"\nshape = { box = [0.4, 0.3, 0.1] }\nmass = 2\nposition = [0, 0, 0.05]\n\
         force = [4.0, 3.0, 0]\n\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"box\", \"ground\"]\n\
         surface = { plane = { normal = [0, 0, 1], offset = 0 } }\nnormal = { law = \"rigid\" }\n\
         friction = { law = \"implicit\", mu = 0.4 }\n",
    );
    simulation.advance(2).unwrap();
    let start = simulation.position(Body::nth(0)).to_vec();
    simulation.advance(10_000).unwrap();
    simulation.advance_observed(1).unwrap();
    assert_eq!(simulation.position(Body::nth(0)), start.as_slice());
    assert_eq!(simulation.velocity(Body::nth(0)), &[0.0; 6]);
    let force = simulation.force(Element::nth(0));
    for (force, expected) in force.iter().zip([-4.0, -3.0, 19.6]) {
        assert!((force - expected).abs() < 1e-11, "{force} should balance {expected}");
    }
    assert!(
        start[0].hypot(start[1]) < 1e-12,
        "the load is 64 % of the limit: nothing should have slid"
    );
}

/// A two-joint arm held against gravity by joint friction alone.
#[test]
fn an_arm_is_held_against_gravity_by_its_joints() {
    let mut simulation = simulation(
        "[simulation]\nduration = 600\nstep = \"2 ms\"\nintegrator = \"implicit-euler\"\ngravity = [0, -9.8, 0]\n\
         [bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
         { name = \"upper\", parent = \"ground\", joint = \"shoulder\", type = \"revolute\", axis = [0, 0, 1], mass = 1, com = [0.2, 0, 0], inertia = [0, 0.013, 0.013], position = 0.3 },\n\
         { name = \"lower\", parent = \"upper\", joint = \"elbow\", type = \"revolute\", axis = [0, 0, 1], origin = [0.4, 0, 0], mass = 0.6, com = [0.15, 0, 0], inertia = [0, 0.006, 0.006], position = -0.7 },\n]\n\
         [elements.shoulder]\nkind = \"friction\"\non = \"arm.shoulder\"\nlaw = \"implicit\"\nkinetic = 5.2\n\
         [elements.elbow]\nkind = \"friction\"\non = \"arm.elbow\"\nlaw = \"implicit\"\nkinetic = 0.9\n",
    );
    simulation.advance(299_999).unwrap();
    simulation.advance_observed(1).unwrap();
    assert_eq!(simulation.position(Body::nth(0)), &[0.3, -0.7]);
    assert_eq!(simulation.velocity(Body::nth(0)), &[0.0, 0.0]);
    // The torques of gravity, by statics.
    let (q1, q12) = (0.3f64, 0.3f64 - 0.7);
    let elbow = 0.6 * 9.8 * 0.15 * q12.cos();
    let shoulder = 1.0 * 9.8 * 0.2 * q1.cos() + 0.6 * 9.8 * 0.4 * q1.cos() + elbow;
    let [found_shoulder, found_elbow] = [0, 1].map(|element| simulation.force(Element::nth(element))[0]);
    assert!(
        (found_shoulder - shoulder).abs() < 1e-10,
        "{found_shoulder} vs {shoulder}"
    );
    assert!((found_elbow - elbow).abs() < 1e-10, "{found_elbow} vs {elbow}");
}
