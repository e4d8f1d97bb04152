//! Copies and snapshots go on with exactly the bytes of the run without a break: every scenario and template, with every integrator
//! that takes it. Snapshots of other systems and damaged ones are refused.

mod common;

use stickslip::element::Mode;
use stickslip::integrate::{METHODS, Method};
use stickslip::model::{Friction, GROUND, Model};
use stickslip::scenario::{Scenario, TEMPLATES};
use stickslip::{Body, Element, RunError, Simulation, Snapshot, SnapshotError};

/// Systems with something that carries and that no scenario has.
const OTHERS: &[(&str, &str)] = &[
    (
        "spheres near each other",
        r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.8]
[spheres]
count = 50
body = { shape = { sphere = 0.2 }, mass = 0.3, position = [0, 0, 0.25], velocity = [2, 0, 0] }
spacing = 0.5
spread = { velocity = 0.02, seed = 3 }
[spheres.contact]
surface = { plane = { normal = [0, 0, 1] } }
normal = { law = "rigid", restitution = 0.4 }
friction = { law = "implicit", mu = 0.1, mu_static = 0.2 }
"#,
    ),
    (
        "friction by the force of a rigid stop in the step before",
        r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "implicit-euler"
[bodies.pad]
kind = "mass"
mass = 0.5
force = "5 + 3*sin(40*t)"
[bodies.belt]
kind = "mass"
mass = 2
velocity = 1.5
[elements.stop]
kind = "stop"
between = ["pad", "ground"]
upper = 0.001
[elements.rubbing]
kind = "friction"
between = ["belt", "ground"]
law = "implicit"
mu = 0.3
normal_force = { element = "stop" }
"#,
    ),
    (
        "a driver by position, a motor that hums, a spring that presses",
        r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "rk4"
[bodies.hook]
kind = "driver"
position = "0.02*sin(30*t)"
[bodies.block]
kind = "mass"
mass = 0.8
[elements.spring]
kind = "spring"
between = ["block", "hook"]
stiffness = 400
damping = 2
[elements.motor]
kind = "actuator"
between = ["block", "ground"]
value = "sin(70*t) + if(t < 0.1, 1, 0)"
[elements.rubbing]
kind = "friction"
between = ["block", "ground"]
law = "lugre"
mu = 0.3
stiffness = 1e4
damping = 20
normal_force = { element = "spring" }
"#,
    ),
];

/// Every scenario and template with every integrator that it can be built with: a name, and a way to build it anew.
fn every_system(mut visit: impl FnMut(&str, &dyn Fn() -> Simulation)) {
    let mut texts: Vec<(String, String)> = TEMPLATES
        .iter()
        .map(|template| (template.name.to_string(), template.text.to_string()))
        .chain(OTHERS.iter().map(|(name, text)| (name.to_string(), text.to_string())))
        .collect();
    for entry in std::fs::read_dir(common::scenario_path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.to_str().unwrap().to_string();
            texts.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    texts.sort();
    assert!(texts.len() >= 50, "{} texts", texts.len());
    for (name, text) in &texts {
        // Files beside a scenario are found from where it is.
        let scenario = |sets: &[String]| match name.ends_with(".toml") {
            true => Scenario::read(name, sets),
            false => Scenario::parse(text, name, sets),
        };
        let written = scenario(&[]).unwrap_or_else(|error| panic!("{error}"));
        for method in METHODS {
            let own = written.simulation.integrator == method.name;
            let set = [format!("simulation.integrator={}", method.name)];
            let built = || {
                let sets = if own { &[][..] } else { &set };
                scenario(sets).and_then(Simulation::new)
            };
            match built() {
                Ok(_) => visit(&format!("{name}, {}", method.name), &|| built().unwrap()),
                Err(error) => assert!(!own, "{error}"),
            }
        }
    }
}

/// Some steps, observed or not.
fn go(simulation: &mut Simulation, steps: u64, observed: bool) -> Result<(), RunError> {
    if observed {
        simulation.advance_observed(steps)
    } else {
        simulation.advance(steps)
    }
}

#[test]
fn a_restored_simulation_goes_on_as_if_there_had_been_no_break() {
    let (mut systems, mut failed) = (0, 0);
    every_system(|name, build| {
        for observed in [true, false] {
            let mut whole = build();
            let before = whole.built().steps.min(150);
            if go(&mut whole, before, observed).is_err() {
                failed += 1; // The integrator is not for this system.
                continue;
            }
            let bytes = whole.snapshot().to_bytes();
            let mut copy = whole.clone();
            let ended = go(&mut whole, 50, observed);

            let mut new = build();
            new.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
            assert_eq!(new.snapshot().to_bytes(), bytes, "{name}: taken again at once");
            assert_eq!(go(&mut new, 50, observed), ended, "{name}");
            assert_eq!(
                new.snapshot().to_bytes(),
                whole.snapshot().to_bytes(),
                "{name}: restored"
            );

            assert_eq!(go(&mut copy, 50, observed), ended, "{name}");
            assert_eq!(
                copy.snapshot().to_bytes(),
                whole.snapshot().to_bytes(),
                "{name}: copied"
            );

            // Room that was used for other steps leaves no trace.
            let _ = go(&mut copy, 20, !observed);
            copy.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
            assert_eq!(go(&mut copy, 50, observed), ended, "{name}");
            assert_eq!(
                copy.snapshot().to_bytes(),
                whole.snapshot().to_bytes(),
                "{name}: used before"
            );

            // Back at the start, it is as it was when it was built.
            copy.reset();
            assert_eq!(copy.snapshot(), build().snapshot(), "{name}: at the start");
            go(&mut copy, before, observed).unwrap();
            assert_eq!(copy.snapshot().to_bytes(), bytes, "{name}: from the start again");
        }
        systems += 1;
    });
    assert!(systems >= 150, "{systems} systems");
    assert!(failed < systems / 4, "{failed} of {systems} do not run");
}

/// A block on a spring that rubs, with a motor.
fn driven_block(method: Method) -> (Simulation, Body, Element) {
    let mut model = Model::new(5e-4, method);
    let block = model.mass("block", 1.5, &[0.0], &[0.0]);
    let motor = model.actuator("motor", block, GROUND);
    model.spring("spring", block, GROUND, 60.0, 0.3);
    let law = match method {
        Method::ImplicitEuler => Friction::law("implicit", 0.8).holding(1.1),
        _ => Friction::law("dahl", 0.8).parameter("stiffness", 400.0),
    };
    model.friction("floor", block, GROUND, law);
    (model.build().unwrap_or_else(|error| panic!("{error}")), block, motor)
}

/// Copies go to other threads.
#[test]
fn copies_run_in_threads_of_their_own() {
    let (simulation, block, motor) = driven_block(Method::Rk4);
    let ends: Vec<f64> = std::thread::scope(|scope| {
        let runs: Vec<_> = [1.0, -1.0, 1.0]
            .map(|sign| {
                let mut copy = simulation.clone();
                scope.spawn(move || {
                    copy.set_actuator(motor, 0, 3.0 * sign);
                    copy.advance(300).unwrap();
                    copy.position(block)[0]
                })
            })
            .into();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(ends[0] > 0.0 && ends[1] == -ends[0] && ends[2] == ends[0], "{ends:?}");
}

#[test]
fn what_is_set_in_a_copy_stays_in_it() {
    for row in METHODS {
        let (mut one, block, motor) = driven_block(row.method);
        let (mut alone, ..) = driven_block(row.method);
        for simulation in [&mut one, &mut alone] {
            assert!(simulation.set_actuator(motor, 0, 4.0));
            simulation.advance(100).unwrap();
        }
        let mut copy = one.clone();
        assert!(copy.set_actuator(motor, 0, -4.0));
        copy.set_position(block, &[0.5]).unwrap();
        copy.set_velocity(block, &[-0.25]).unwrap();
        copy.advance(100).unwrap();
        one.advance(100).unwrap();
        alone.advance(100).unwrap();
        assert_eq!(one.snapshot(), alone.snapshot(), "{}", row.name);
        assert_ne!(one.position(block), copy.position(block), "{}", row.name);

        // The motor that was taken over is part of the snapshot, and at the start it is back at its profile.
        let (mut new, ..) = driven_block(row.method);
        new.restore(&copy.snapshot()).unwrap();
        new.advance(50).unwrap();
        copy.advance(50).unwrap();
        assert_eq!(new.snapshot(), copy.snapshot(), "{}", row.name);
        new.reset();
        new.advance(50).unwrap();
        assert_eq!(new.position(block), &[0.0], "{}: nothing pushes it", row.name);
    }
}

/// m·x'' = −k·x without friction: x = x₀·cos(ω·t) + v₀/ω·sin(ω·t) from wherever it is put.
#[test]
fn motion_that_is_set_goes_on_from_there() {
    let (m, k): (f64, f64) = (0.7, 35.0);
    let omega = (k / m).sqrt();
    for row in METHODS {
        let mut model = Model::new(1e-4, row.method);
        let block = model.mass("block", m, &[0.3], &[0.0]);
        model.spring("spring", block, GROUND, k, 0.0);
        let mut simulation = model.build().unwrap();
        simulation.advance(777).unwrap();
        simulation.set_position(block, &[-0.02]).unwrap();
        simulation.set_velocity(block, &[0.11]).unwrap();
        assert_eq!(
            (simulation.position(block), simulation.velocity(block)),
            (&[-0.02][..], &[0.11][..])
        );
        assert_eq!(simulation.steps_done(), 777);
        simulation.advance(2000).unwrap();
        let expected = -0.02 * (omega * 0.2).cos() + 0.11 / omega * (omega * 0.2).sin();
        // Methods of first order leave ½·T·ω²·t of the amplitude, 0.1 %; the others far less.
        let tolerance = match row.order {
            1 => 2e-5,
            _ => 1e-7,
        };
        common::close(row.name, simulation.position(block)[0], expected, tolerance);
    }
}

/// What begins to move has lost its hold, and what is stopped holds: 1.0 N of friction in motion, 1.4 N at rest.
#[test]
fn a_friction_that_is_set_moving_slips_and_one_that_is_stopped_sticks() {
    let mut model = Model::new(1e-2, Method::ImplicitEuler);
    let block = model.mass("block", 2.0, &[0.0], &[0.0]);
    let motor = model.actuator("motor", block, GROUND);
    let floor = model.friction("floor", block, GROUND, Friction::law("implicit", 1.0).holding(1.4));
    let mut simulation = model.build().unwrap();
    simulation.set_actuator(motor, 0, 1.2);
    simulation.advance(5).unwrap();
    assert_eq!(simulation.velocity(block), &[0.0], "held by 1.4 N");
    // 1 mm/s and 1.2 N would be stopped by 1.4 N within a step of 10 ms; 1.0 N lets it go on, faster by 0.2 N·T/m.
    simulation.set_velocity(block, &[1e-3]).unwrap();
    simulation.advance(1).unwrap();
    common::close(
        "velocity",
        simulation.velocity(block)[0],
        1e-3 + 0.2 * 1e-2 / 2.0,
        1e-15,
    );
    assert_eq!(simulation.mode(floor), Some(Mode::Slip));
    simulation.set_velocity(block, &[0.0]).unwrap();
    simulation.advance(1).unwrap();
    assert_eq!(simulation.velocity(block), &[0.0], "held again");
    assert_eq!(
        (simulation.force(floor), simulation.mode(floor)),
        (&[-1.2][..], Some(Mode::Stick))
    );
}

#[test]
fn motion_that_cannot_be_set_is_refused() {
    let mut model = Model::new(1e-3, Method::Rk4);
    let block = model.mass("block", 1.0, &[0.0, 0.0], &[0.0, 0.0]);
    let hook = model.driver("hook", 0.1);
    model.friction(
        "floor",
        block,
        GROUND,
        Friction::law("dahl", 1.0).parameter("stiffness", 1e4),
    );
    let mut simulation = model.build().unwrap();
    let before = simulation.snapshot();
    let refused = [
        (
            simulation.set_position(hook, &[1.0]),
            "the motion of the driver `hook` is prescribed",
        ),
        (simulation.set_velocity(block, &[1.0]), "has 2 numbers, found 1"),
        (
            simulation.set_position(block, &[f64::NAN, 0.0]),
            "finite number, found NaN",
        ),
        (
            simulation.set_velocity(block, &[0.0, f64::INFINITY]),
            "finite number, found inf",
        ),
        (simulation.set_position(Body::nth(7), &[0.0]), "one of another system"),
    ];
    for (outcome, words) in refused {
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(simulation.snapshot(), before);

    let text = "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"rk4\"\n\
                [bodies.top]\nkind = \"rigid-body\"\nmass = 2\ninertia = [0.1, 0.2, 0.3]\n";
    let mut top = common::written(text, &[]);
    let body = top.body("top").unwrap();
    let error = top
        .set_position(body, &[0.0, 0.0, 0.0, 0.7, 0.7, 0.0, 0.0])
        .unwrap_err()
        .to_string();
    assert!(error.contains("should have length 1"), "{error}");
    // A quaternion in single precision is made one of length 1.
    let [w, x] = [0.8f32 as f64, 0.6f32 as f64];
    top.set_position(body, &[1.0, 2.0, 3.0, w, x, 0.0, 0.0]).unwrap();
    let length: f64 = top.position(body)[3..].iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-15 && top.position(body)[..3] == [1.0, 2.0, 3.0]);
    // What the engine gave comes back as it was.
    top.set_velocity(body, &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).unwrap();
    top.advance(100).unwrap();
    let was = top.position(body).to_vec();
    top.set_position(body, &was).unwrap();
    assert_eq!(top.position(body), was);
}

#[test]
fn a_snapshot_of_another_system_is_refused() {
    let base = "arm-holding.toml";
    let build = |sets: &[&str]| common::simulation(base, sets);
    let mut simulation = build(&[]);
    simulation.advance(20).unwrap();
    let snapshot = simulation.snapshot();
    let text = std::fs::read_to_string(common::scenario_path(base)).unwrap();
    // Neither a comment, nor how long it runs, nor what is recorded makes it another one.
    let duration = format!(
        "simulation.duration={}",
        2.0 * simulation.scenario().simulation.duration
    );
    assert_eq!(build(&[&duration]).restore(&snapshot), Ok(()));
    let commented = format!("# Another comment, by which everything stands elsewhere.\n\n{text}");
    assert_eq!(common::written(&commented, &[]).restore(&snapshot), Ok(()));
    for set in ["simulation.step=0.9 ms", "simulation.gravity=[0, 0, -9.7]"] {
        let mut other = build(&[set]);
        let before = other.snapshot();
        assert_eq!(other.restore(&snapshot), Err(SnapshotError::OtherSystem), "{set}");
        assert_eq!(other.snapshot(), before, "{set}: left as it was");
    }
    let names: Vec<String> = simulation
        .scenario()
        .elements
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let renamed = text.replace(&format!("elements.{}", names[0]), "elements.otherwise");
    assert_eq!(
        common::written(&renamed, &[]).restore(&snapshot),
        Err(SnapshotError::OtherSystem)
    );
}

/// Whatever the bytes are, and whoever made a sum for them: nothing panics, and what is refused leaves a simulation that runs.
#[test]
fn forged_snapshots_do_no_harm() {
    let sum = |bytes: &[u8]| {
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let systems = ["arm-holding.toml", "fig001-example2.toml", "fig004-1-drop.toml"];
    for (name, integrator) in systems.into_iter().zip(["implicit-euler", "rk4", "stiff"]) {
        let set = format!("simulation.integrator={integrator}");
        let mut simulation = common::simulation(name, &[&set]);
        simulation.advance(30).unwrap();
        let bytes = simulation.snapshot().to_bytes();
        let mut refused = 0;
        for at in 24..bytes.len() - 8 {
            let mut forged = bytes.clone();
            forged[at] ^= 0xff;
            let end = forged.len() - 8;
            let sum = sum(&forged[..end]);
            forged[end..].copy_from_slice(&sum.to_le_bytes());
            let forged = Snapshot::from_bytes(&forged).unwrap();
            if simulation.restore(&forged).is_err() {
                refused += 1;
                assert_eq!(simulation.steps_done(), 0, "{name}, byte {at}: at its start");
            }
        }
        assert!(refused > 0, "{name}");
        simulation.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
        simulation.advance(10).unwrap();
    }
}
