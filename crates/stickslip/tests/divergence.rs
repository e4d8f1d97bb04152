//! The one rule of divergence: runs, rows of sweeps, chains, spheres and equations whose numbers are not finite or cannot be true fail, and those
//! with much energy that was given do not.

use std::sync::Mutex;
use stickslip::Simulation;
use stickslip::run::{Ended, Options, recorded_columns, run};
use stickslip::scenario::{Draft, Scenario};
use stickslip::simulation::RunError;
use stickslip::sweep::{Axis, Sweep};

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn ended(text: &str) -> Ended {
    let mut simulation = simulation(text);
    let columns = recorded_columns(&simulation).unwrap();
    let mut rows = |row: &[f64]| {
        assert!(row[0].is_finite());
        Ok(())
    };
    run(&mut simulation, Some((&columns, &mut rows)), Options::default())
        .unwrap()
        .ended
}

/// The status of each row that varies a key and asks for a final value.
fn statuses(text: &str, vary: &str, measure: &str) -> Vec<Option<String>> {
    let draft = Draft::parse(text, "test.toml", &[]).unwrap();
    let sweep = Sweep::new(draft, vec![Axis::parse(vary).unwrap()], &[measure.to_string()]).unwrap();
    let rows = Mutex::new(Vec::new());
    sweep
        .run(0..sweep.rows(), 2, None, &mut |row| {
            rows.lock().unwrap().push(row.failure);
            Ok(())
        })
        .unwrap();
    rows.into_inner().unwrap()
}

const BLOCK: &str = "[bodies.block]\nkind = \"mass\"\nmass = 2\n";
const SPRING: &str = "[elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\n";

fn time(integrator: &str, step: f64, duration: f64) -> String {
    format!("[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{integrator}\"\n")
}

fn driven(integrator: &str, step: f64, motion: &str, spring: &str) -> String {
    let time = time(integrator, step, 4.0);
    format!("{time}{BLOCK}[bodies.hook]\nkind = \"driver\"\n{motion}\n{SPRING}{spring}\n")
}

#[test]
fn springs_that_the_step_cannot_follow_explode_whatever_drives_them() {
    // Explicit Euler: |λ|² = 1 − T·d/m + T²·k/m = 1 − 0.25 + 5 per step.
    for motion in [
        "position = 0.3",
        "position = \"0.3*sin(t)\"",
        "position = \"if(t < 1, 0, 0.3)\"",
        "velocity = 0.3",
    ] {
        let text = driven("euler", 0.01, motion, "stiffness = 1e5\ndamping = 50");
        let text = text.replace("duration = 4", "duration = 1.2");
        let Ended::Failed(error) = ended(&text) else {
            panic!("{motion}")
        };
        assert!(error.to_string().contains("block"), "{motion}: {error}");
        let Some(failure) = &statuses(&text, "bodies.block.mass=list:2", "final.block.position")[0] else {
            panic!("{motion}: the row is ok")
        };
        assert_eq!(*failure, error.to_string().lines().next().unwrap(), "{motion}");
        let soft = text.replace("1e5", "1e2");
        assert_eq!(ended(&soft), Ended::Complete, "{motion}");
        assert_eq!(
            statuses(&soft, "bodies.block.mass=list:2,2.5", "final.block.position"),
            [None, None],
            "{motion}"
        );
    }
}

#[test]
fn rows_of_a_sweep_have_the_verdict_of_runs() {
    // RK4 is stable on an undamped spring while ω·T < 2√2: with T = 0.02 s and k = 2e4 N/m while m > 1 kg.
    let text = |mass: f64| {
        format!(
            "{}[bodies.block]\nkind = \"mass\"\nmass = {mass}\nvelocity = 0.5\n[elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 2e4\n",
            time("rk4", 0.02, 30.0)
        )
    };
    let masses = [0.9, 0.95, 1.05, 3.0];
    let list = masses.map(|mass| mass.to_string()).join(",");
    let rows = statuses(
        &text(1.0),
        &format!("bodies.block.mass=list:{list}"),
        "final.block.position",
    );
    for (mass, row) in masses.into_iter().zip(rows) {
        match ended(&text(mass)) {
            Ended::Complete => assert_eq!((row, mass > 1.0), (None, true), "{mass}"),
            Ended::Failed(error) => {
                assert!(mass < 1.0, "{mass}: {error}");
                assert_eq!(row.as_deref(), error.to_string().lines().next(), "{mass}");
            }
            Ended::Stopped => panic!(),
        }
    }
}

#[test]
fn energy_that_was_given_is_no_divergence() {
    let jumps = [
        "if(t < 2.3, 0, 5)",
        "if(sin(9*t) > 0, 0.2, 0)",
        "if(t < 1, 0, if(t < 1.5, 3, -3))",
    ];
    for integrator in ["rk4", "implicit-euler", "adaptive", "stiff", "trapezoidal"] {
        for jump in jumps {
            for damping in [0.0, 5.0] {
                let spring = format!("stiffness = 400\ndamping = {damping}");
                let text = driven(integrator, 1e-3, &format!("position = \"{jump}\""), &spring);
                assert_eq!(ended(&text), Ended::Complete, "{integrator}, {jump}, {damping}");
                let rows = statuses(&text, "bodies.block.mass=list:1,2", "final.block.position");
                assert_eq!(rows, [None, None], "{integrator}, {jump}, {damping}");
            }
        }
    }
    // An undamped resonance, a force that grows, a fall, and work that goes in and out.
    let pushed = |force: &str, more: &str| {
        let time = time("rk4", 1e-3, 20.0);
        format!(
            "{time}{more}{BLOCK}force = \"{force}\"\n[elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 200\n"
        )
    };
    for (force, more) in [("3*sin(10*t)", ""), ("exp(t)", ""), ("1e4*cos(50*t)", "")] {
        let text = pushed(force, more);
        assert_eq!(ended(&text), Ended::Complete, "{force}");
        let rows = statuses(&text, "bodies.block.mass=list:1.9,2,2.1", "final.block.velocity");
        assert_eq!(rows, [None, None, None], "{force}");
    }
}

/// A weight that begins deep in the floor rises at `recovery_speed`, and what that takes is m·g·v·t.
#[test]
fn parting_bodies_that_overlap_is_no_divergence() {
    for method in ["implicit-euler", "implicit-midpoint"] {
        let text = format!(
            "{}gravity = [0, 0, -9.81]\n[contacts]\nrecovery_speed = 0.3\n\
             [bodies.floor]\nkind = \"fixed\"\nshape = {{ box = [3, 3, 1], position = [0, 0, -0.5] }}\n\
             [bodies.ball]\nkind = \"rigid-body\"\nmass = 7\nshape = {{ sphere = 0.25 }}\nposition = [0, 0, 0.1]\n",
            time(method, 2e-3, 0.06)
        );
        let mut ball = simulation(&text);
        let outcome = run(&mut ball, None, Options::default()).unwrap();
        assert_eq!(outcome.ended, Ended::Complete, "{method}");
        let energy = outcome.report.energy.unwrap();
        let taken = 7.0 * 9.81 * 0.3 * 0.06;
        assert!(
            (energy.final_ - energy.initial - taken).abs() < 1e-9 * taken,
            "{method}: {energy:?}"
        );
        let rows = statuses(&text, "bodies.ball.mass=list:7,11", "final.ball.position.z");
        assert_eq!(rows, [None, None], "{method}");
    }
}

#[test]
fn a_profile_that_is_no_number_ends_the_run_though_no_body_feels_it() {
    let between_drivers = |integrator: &str| {
        format!(
            "{}{BLOCK}[bodies.a]\nkind = \"driver\"\nvelocity = 0.1\n[bodies.b]\nkind = \"driver\"\nvelocity = 0.3\n[elements.push]\nkind = \"actuator\"\nbetween = [\"a\", \"b\"]\nvalue = \"sqrt(0.37 - t)\"\n",
            time(integrator, 0.01, 1.0)
        )
    };
    for integrator in [
        "euler",
        "rk4",
        "implicit-euler",
        "newmark",
        "trapezoidal",
        "adaptive",
        "stiff",
    ] {
        let text = between_drivers(integrator);
        let Ended::Failed(RunError::Diverged { time, what, .. }) = ended(&text) else {
            panic!("{integrator}: {:?}", ended(&text))
        };
        assert_eq!(what, "push.force", "{integrator}");
        assert!(time > 0.37 && time < 0.39, "{integrator}: {time}");
        let rows = statuses(&text, "bodies.block.mass=list:1,2,3", "final.block.position");
        assert!(
            rows.iter()
                .all(|row| row.as_ref().is_some_and(|why| why.contains("push.force"))),
            "{rows:?}"
        );
    }
    for (integrator, law) in [("implicit-euler", "implicit"), ("rk4", "lugre"), ("rk4", "proxy")] {
        let text = format!(
            "{}{BLOCK}velocity = 4\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nmu = 0.2\nnormal_force = \"1/(t - 0.5) + 9/(t - 0.5)\"\n",
            time(integrator, 0.125, 1.0)
        );
        let Ended::Failed(RunError::Diverged { time, what, .. }) = ended(&text) else {
            panic!("{law}: {:?}", ended(&text))
        };
        assert!(
            what.contains("floor") && (time - 0.5).abs() < 1e-9,
            "{law}: {what} at {time}"
        );
    }
}

#[test]
fn spheres_and_chains_have_the_same_rule() {
    let spheres = |speed: f64| {
        format!(
            "{}[spheres]\ncount = 9\n[spheres.body]\nshape = {{ sphere = 0.1 }}\nmass = 0.5\nposition = [0, 0, 0.1]\nvelocity = [0, 1, {speed}]\n[spheres.contact]\nnormal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.2 }}\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n",
            time("implicit-euler", 1e-3, 0.03)
        )
    };
    // The square of 1e170 is beyond all numbers.
    let Ended::Failed(error) = ended(&spheres(1e170)) else {
        panic!()
    };
    assert!(error.to_string().contains("spheres."), "{error}");
    assert_eq!(ended(&spheres(1e3)), Ended::Complete);
    let row = &statuses(
        &spheres(1e170),
        "spheres.body.mass=list:0.5",
        "final.spheres.velocity.x",
    )[0];
    assert!(row.is_some());

    // Springs of a chain that the step cannot follow are refused before the run; blocks that are too fast, in it.
    let chain = |velocity: f64| {
        format!(
            "{}[chain]\ncount = 40\nbody = {{ mass = 1, velocity = {velocity:e} }}\nneighbour = {{ stiffness = 9e3 }}\ndrive = {{ stiffness = 1, velocity = 0.01 }}\nfriction = {{ law = \"implicit\", kinetic = 1e-4 }}\n",
            time("implicit-euler", 0.01, 0.6)
        )
    };
    assert_eq!(ended(&chain(1e3)), Ended::Complete);
    let Ended::Failed(error) = ended(&chain(1e160)) else {
        panic!()
    };
    // Blocks are moved through many steps at once: the time that is named is that of the portion.
    let words = error
        .to_string()
        .lines()
        .next()
        .and_then(|line| line.split(": ").nth(1).map(str::to_string));
    let rows = statuses(&chain(1e160), "chain.body.mass=list:1", "final.chain.position");
    assert!(
        rows[0]
            .as_ref()
            .zip(words)
            .is_some_and(|(row, words)| row.ends_with(&words)),
        "{rows:?}"
    );
}

#[test]
fn equations_may_grow_but_not_by_their_step() {
    let text = |rate: &str, relax: &str, step: f64| {
        format!(
            "{}[inclusion]\nstates = {{ x = 0.1, v = 1 }}\nparameters = {{ k = 3 }}\n[inclusion.equations]\nx = \"v\"\nv = \"{rate}\"\n{relax}",
            time("rk4", step, 20.0)
        )
    };
    // e^(√3·20) = 1e15 times the start is the motion itself.
    assert_eq!(ended(&text("k*x", "", 0.05)), Ended::Complete);
    let relax = "[inclusion.relax]\nsgn = { stiffness = 1e4, beta = 4e-3 }\n";
    let rubbing = |step: f64| text("-k*x - 0.5*sgn(v)", relax, step).replace("duration = 20", "duration = 2");
    assert_eq!(ended(&rubbing(1e-3)), Ended::Complete);
    let coarse = simulation(&rubbing(0.05));
    let warned = coarse
        .built()
        .warnings
        .iter()
        .any(|warning| warning.message.contains("beta = 0.004"));
    assert!(warned, "{:?}", coarse.built().warnings);
    let Ended::Failed(error) = ended(&rubbing(0.05)) else {
        panic!()
    };
    assert!(matches!(error, RunError::Unconverged { .. }), "{error}");
    let rows = statuses(&rubbing(0.05), "inclusion.parameters.k=list:3", "final.x");
    assert_eq!(rows[0].as_deref(), error.to_string().lines().next());
}

/// RK4 with ω·T = 2.832 lets the energy of a vibration grow by 1 − z⁶/72 + z⁸/576 = 1.0179 a step, by a factor of a million in 800
/// steps. A hook that goes far could have put in as much, but did not.
#[test]
fn an_explosion_is_one_though_the_drive_could_have_put_in_as_much() {
    let text = |mass: f64| {
        format!(
            "{}[bodies.block]\nkind = \"mass\"\nmass = {mass}\n[bodies.hook]\nkind = \"driver\"\nvelocity = 0.3\n{SPRING}stiffness = {}\n",
            time("rk4", 0.02, 16.0),
            0.5 * 141.6 * 141.6
        )
    };
    let Ended::Failed(RunError::Exploded { what, .. }) = ended(&text(0.5)) else {
        panic!("{:?}", ended(&text(0.5)))
    };
    assert_eq!(what, "block.velocity");
    assert_eq!(ended(&text(0.6)), Ended::Complete);
    let rows = statuses(&text(0.5), "bodies.block.mass=list:0.5,0.6", "final.block.position");
    assert!(rows[0].as_ref().is_some_and(|why| why.contains("block")), "{rows:?}");
    assert_eq!(rows[1], None);
}

/// Explicit Euler lets the energy grow by 1 + ω²T² = 1 + 2e-4 a step: e^4 in 20 000 steps.
#[test]
fn rows_of_final_values_tell_what_their_ledger_doubts() {
    let text = format!(
        "{}{BLOCK}velocity = 0.5\n[elements.spring]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 4\n",
        time("euler", 0.01, 200.0)
    );
    let draft = Draft::parse(&text, "test.toml", &[]).unwrap();
    let axis = Axis::parse("bodies.block.velocity=list:0.5,1").unwrap();
    let sweep = Sweep::new(draft, vec![axis], &["final.block.position".to_string()]).unwrap();
    let mut doubts = Vec::new();
    let mut take = |row: stickslip::sweep::Row| {
        assert_eq!(row.failure, None);
        doubts.extend(row.warnings);
        Ok(())
    };
    sweep.run(0..2, 1, None, &mut take).unwrap();
    let gave = |doubt: &String| doubt.contains("spring") && doubt.contains("gave");
    assert!(doubts.iter().any(gave), "{doubts:?}");
}

/// The implicit step takes a force at its end: sin(a·t)/t is never asked for at 0. Where it is seen there, or is still undefined at
/// the end of the first step, the run ends.
#[test]
fn a_profile_that_is_undefined_at_the_start_only_is_not_missed() {
    let pushed = |integrator: &str, force: &str| format!("{}{BLOCK}force = \"{force}\"\n", time(integrator, 0.02, 1.0));
    let text = pushed("implicit-euler", "sin(5*t)/t");
    assert_eq!(ended(&text), Ended::Complete);
    let mut simulation = simulation(&text);
    simulation.advance(50).unwrap();
    let sum: f64 = (1..=50).map(|k| 0.02 * f64::from(k)).map(|t| (5.0 * t).sin() / t).sum();
    let expected = 0.02 * sum / 2.0;
    let block = simulation.body("block").unwrap();
    assert!((simulation.velocity(block)[0] - expected).abs() < 1e-12);
    assert_eq!(
        statuses(&text, "bodies.block.mass=list:2,3", "final.block.position"),
        [None, None]
    );
    for text in [
        pushed("rk4", "sin(5*t)/t"),
        pushed("implicit-euler", "if(t < 0.03, 0/0, 1)"),
        pushed("implicit-euler", "sqrt(t - 0.01) + sqrt(t - 0.03)"),
        driven("implicit-euler", 0.02, "velocity = \"sin(5*t)/t\"", "stiffness = 10"),
    ] {
        assert!(
            matches!(ended(&text), Ended::Failed(RunError::Diverged { .. })),
            "{text}"
        );
    }
}

fn own(integrator: &str, step: f64, duration: f64, element: &str) -> String {
    format!(
        "{}{BLOCK}position = 0.02\n[elements.own]\nkind = \"equations\"\nbetween = [\"block\", \"ground\"]\n{element}\n",
        time(integrator, step, duration)
    )
}

/// The verdict of a run, and that of the row of a sweep, which must be the same.
fn verdict(text: &str, vary: &str) -> Option<String> {
    let why = match ended(text) {
        Ended::Complete => None,
        Ended::Failed(error) => error.to_string().lines().next().map(str::to_string),
        Ended::Stopped => panic!("{text}"),
    };
    assert_eq!(
        statuses(text, vary, "final.block.position"),
        std::slice::from_ref(&why),
        "{text}"
    );
    why
}

/// A spring of equations, ω = 40 1/s on 2 kg: explicit Euler lets its energy grow by 1 + ω²T² a step, by e^(ω²·T·t) in all.
#[test]
fn equations_that_the_step_makes_explode_fail() {
    let spring = "parameters = { k = 3200 }\nforce = \"-k*x\"";
    for spring in [spring.to_string(), format!("{spring}\nstored = \"0.5*k*x^2\"")] {
        let mass = "bodies.block.mass=list:2";
        // e^12.8 and e^0.64 of the start.
        let why = verdict(&own("euler", 2e-3, 4.0, &spring), mass).unwrap();
        assert!(
            why.contains("block.velocity") && why.contains("2 times shorter"),
            "{why}"
        );
        assert_eq!(verdict(&own("euler", 1e-4, 4.0, &spring), mass), None);
        for integrator in ["rk4", "implicit-euler", "newmark", "adaptive", "stiff"] {
            assert_eq!(
                verdict(&own(integrator, 2e-3, 4.0, &spring), mass),
                None,
                "{integrator}"
            );
        }
        // RK4 with ω·T = 2.84: each step multiplies the energy by 1 − z⁶/72 + z⁸/576 = 1.05.
        let why = verdict(&own("rk4", 0.071, 20.0, &spring), mass).unwrap();
        assert!(why.contains("shorter"), "{why}");
    }
    // A state that moves nothing: |1 − 50·T| = 1.5 a step.
    let idle = "states = { z = 0.3 }\nrates = { z = \"-50*z\" }\nforce = \"-4*x\"";
    let why = verdict(&own("euler", 0.05, 3.0, idle), "bodies.block.mass=list:2").unwrap();
    assert!(why.contains("own.z"), "{why}");
    assert_eq!(
        verdict(&own("euler", 0.01, 3.0, idle), "bodies.block.mass=list:2"),
        None
    );
}

#[test]
fn equations_may_put_in_energy() {
    let mass = "bodies.block.mass=list:2";
    for (integrator, step) in [
        ("rk4", 1e-3),
        ("implicit-euler", 1e-4),
        ("newmark", 1e-3),
        ("euler", 1e-5),
    ] {
        for element in [
            // Growth by e^(5·t/2) in the amplitude, a motor, one that begins late, one that ever accelerates.
            "force = \"10*v - 200*x\"",
            "force = \"50\"",
            "force = \"if(t < 2.1, -300*x - 40*v, 1e4)\"",
            "force = \"20*exp(3*t)\"",
            "states = { p = 0 }\nrates = { p = \"1e6*t^3\" }\nforce = \"-p*1e-6 - 10*x\"",
            // Its energy has nothing to do with its force.
            "force = \"-max(-5, min(5, 30*v))\"\nstored = \"1e7*(x + 1)^2*exp(t)\"",
        ] {
            assert_eq!(
                verdict(&own(integrator, step, 3.0, element), mass),
                None,
                "{integrator}: {element}"
            );
        }
    }
}

#[test]
fn bodies_of_equations_have_the_same_rule() {
    let pendulum = |integrator: &str, step: f64, force: &str| {
        format!(
            "{}[bodies.p]\nkind = \"equations\"\ncoordinates = {{ a = 0.2 }}\nparameters = {{ m = 3 }}\nmass_matrix = [[\"m\"]]\nforce = [\"{force}\"]\n",
            time(integrator, step, 6.0)
        )
    };
    let row = |text: &str| statuses(text, "bodies.p.parameters.m=list:3", "final.p.a.position");
    // ω = 30 1/s and T = 2 ms: e^10.8 in the energy with explicit Euler.
    let text = pendulum("euler", 2e-3, "-2700*a");
    let Ended::Failed(error) = ended(&text) else { panic!() };
    assert!(error.to_string().contains("p.a.velocity"), "{error}");
    assert_eq!(row(&text)[0].as_deref(), error.to_string().lines().next());
    for text in [
        pendulum("rk4", 2e-3, "-2700*a"),
        pendulum("implicit-euler", 2e-3, "-2700*a"),
        pendulum("rk4", 2e-3, "6*a_dot"),
        pendulum("implicit-euler", 2e-3, "6*a_dot - 30*a"),
        pendulum("rk4", 2e-3, "40*sin(a)"),
    ] {
        assert_eq!(ended(&text), Ended::Complete, "{text}");
        assert_eq!(row(&text), [None], "{text}");
    }
}

/// Viscous friction with c/m·T = 2.8: each step of RK4 multiplies the velocity by −(1 − 2.8 + 2.8²/2 − 2.8³/6 + 2.8⁴/24) = −1.0224, the
/// energy by 1.045. Nothing says so before; and the force on the other body could have put in as much had it met the block.
#[test]
fn rows_of_final_values_find_explosions_of_which_nothing_was_known() {
    let text = |viscous: f64| {
        format!(
            "{}{BLOCK}velocity = 0.5\n[bodies.other]\nkind = \"mass\"\nmass = 1e6\nforce = 200\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"martins-oden\"\nkinetic = 1e-6\nepsilon = 0.1\nviscous = {viscous}\n",
            time("rk4", 0.01, 2.5)
        )
    };
    let mass = "bodies.other.mass=list:1e6";
    let why = verdict(&text(560.0), mass).unwrap();
    assert!(why.contains("block.velocity"), "{why}");
    assert_eq!(verdict(&text(540.0), mass), None);
    // Side by side, too.
    let masses = "bodies.other.mass=lin:1e6:2e6:12";
    let rows = statuses(&text(560.0), masses, "final.block.position");
    assert!(rows.iter().all(Option::is_some), "{rows:?}");
    let rows = statuses(&text(540.0), masses, "final.block.position");
    assert!(rows.iter().all(Option::is_none), "{rows:?}");
}

/// The square of 1e200 is beyond all numbers, at the start and at the end.
#[test]
fn energy_beyond_all_numbers_fails_in_rows_too() {
    let text = format!("{}{BLOCK}velocity = 1e200\n", time("rk4", 1e-3, 0.02));
    assert!(verdict(&text, "bodies.block.mass=list:2").is_some_and(|why| why.contains("beyond all numbers")));
    // A body of equations, whose energy the ledger does not follow.
    let text = format!(
        "{}[bodies.arm]\nkind = \"equations\"\ncoordinates = {{ q = 0.5 }}\nvelocities = {{ q = 3e190 }}\nparameters = {{ j = 0.4 }}\nmass_matrix = [[\"j\"]]\nforce = [0]\n",
        time("implicit-euler", 1e-3, 0.02)
    );
    assert!(ended(&text) != Ended::Complete);
    let rows = statuses(&text, "bodies.arm.parameters.j=list:0.4,0.9", "final.arm.q.position");
    assert!(
        rows.iter()
            .all(|why| why.as_ref().is_some_and(|why| why.contains("beyond all numbers"))),
        "{rows:?}"
    );
}

/// Friction that is taken at the start of the step changes the velocity by T·F/m: above 2·ε it overshoots, in a row of final values too, though
/// friction could have taken as much as it gives.
#[test]
fn friction_that_overshoots_fails_in_rows_too() {
    for law in ["martins-oden", "karnopp", "quinn"] {
        let text = |kinetic: f64| {
            let spring = "stiffness = 70\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\n";
            let floor = format!("law = \"{law}\"\nkinetic = {kinetic}\nepsilon = 0.02\n");
            let text = driven("implicit-euler", 1e-3, "velocity = 1.5", &format!("{spring}{floor}"));
            text.replace("duration = 4", "duration = 0.09")
        };
        // 2·ε·m/T = 80 N.
        for (kinetic, overshoots) in [(70.0, false), (4e5, true)] {
            let text = text(kinetic);
            let warned = (simulation(&text).built().warnings.iter()).any(|warning| warning.message.contains("epsilon"));
            assert_eq!(warned, overshoots, "{law} {kinetic}");
            // The other two hold what is at rest.
            if law == "martins-oden" {
                let failed = verdict(&text, "bodies.block.mass=list:2");
                assert_eq!(failed.is_some(), overshoots, "{kinetic}: {failed:?}");
            }
        }
    }
}
