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
        doubts.extend(row.doubts);
        Ok(())
    };
    sweep.run(0..2, 1, None, &mut take).unwrap();
    assert!(doubts.iter().any(|doubt| doubt.contains("spring")), "{doubts:?}");
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
