//! What the energy ledger warns of, and warnings about steps and keys that are known before a run.

use stickslip::Simulation;
use stickslip::report::Report;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::Scenario;

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn report(text: &str) -> Report {
    let outcome = run(&mut simulation(text), None, Options::default()).unwrap();
    assert_eq!(outcome.ended, Ended::Complete, "{text}");
    outcome.report
}

fn time(integrator: &str, step: f64, duration: f64) -> String {
    format!("[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{integrator}\"\n")
}

/// A damper whose driver jumps: its force comes a step late, when the driver stands still again, and gives (d·δ)²/m.
const KICK: &str = "[bodies.hand]\nkind = \"driver\"\nposition = \"if(t < 0.2, 0, 0.5)\"\n[elements.pad]\nkind = \"spring\"\nbetween = [\"hand\", \"m\"]\nstiffness = 2\ndamping = 3\n";

#[test]
fn a_damper_that_gives_energy_is_named_and_the_ledger_closes() {
    let text = format!(
        "{}[bodies.m]\nkind = \"mass\"\nmass = 1.5\n{KICK}",
        time("implicit-euler", 1e-3, 2.0)
    );
    let report = report(&text);
    let energy = report.energy.as_ref().unwrap();
    let heat = report.elements["pad"]["dissipated"].as_f64().unwrap();
    // The kick: an impulse d·δ = 1.5 N·s brings 1.5 kg to 1 m/s, so the late force gives 1.5 J. The damper then takes the 0.75 J of the motion
    // and the ½·k·δ² = 0.25 J of the spring, but for what is left at the end.
    assert!((heat + 0.5 + energy.final_).abs() < 3e-3, "{heat}");
    assert!((energy.residual - energy.numerical.unwrap()).abs() < 1e-10);
    assert_eq!(report.doubts.len(), 1, "{:?}", report.doubts);
    assert!(report.doubts[0].contains("\"pad\"") && report.warnings.contains(&report.doubts[0]));
}

#[test]
fn the_ledger_of_a_geared_arm_closes_too() {
    let text = format!(
        "{}gravity = [0, 0, -9.81]\n[bodies.m]\nkind = \"inertia\"\ninertia = 2e-4\n{}[bodies.arm]\nkind = \"linkage\"\nlinks = [{{ name = \"l\", parent = \"ground\", joint = \"j\", type = \"revolute\", axis = [0, -1, 0], mass = 3, com = [0.2, 0, 0], inertia = [0.01, 0.1, 0.1] }}]\n[elements.g]\nkind = \"gear\"\nbetween = [\"m\", \"arm.j\"]\nratio = [0.02, 1]\n[elements.f]\nkind = \"friction\"\non = \"arm.j\"\nlaw = \"implicit\"\nkinetic = 4\nviscous = 2\n",
        time("implicit-euler", 1e-3, 3.0),
        KICK.replace("0.5)", "20)")
            .replace("stiffness = 2\n", "stiffness = 0.03\n")
            .replace("damping = 3\n", "damping = 0.003\n")
    );
    let report = report(&text);
    let energy = report.energy.as_ref().unwrap();
    let apart = (energy.residual - energy.numerical.unwrap()).abs();
    assert!(
        energy.residual.abs() > 1.0,
        "the kick is lost by the method: {energy:?}"
    );
    assert!(apart < 0.01 * energy.residual.abs(), "{apart} of {}", energy.residual);
    assert!(
        report.doubts.iter().any(|doubt| doubt.contains("\"pad\"")),
        "{:?}",
        report.doubts
    );
}

#[test]
fn a_passive_system_that_gains_energy_is_named() {
    // Explicit Euler multiplies the energy of a spring by 1 + ω²T² a step: by e^0.2 here.
    let spring = |method: &str| {
        format!(
            "{}[bodies.m]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n[elements.s]\nkind = \"spring\"\nbetween = [\"m\", \"ground\"]\nstiffness = 100\n",
            time(method, 1e-3, 2.0)
        )
    };
    let euler = report(&spring("euler"));
    let energy = euler.energy.as_ref().unwrap();
    assert!(
        (energy.final_ / energy.initial / 0.2f64.exp() - 1.0).abs() < 1e-3,
        "{energy:?}"
    );
    assert!(
        euler.doubts.iter().any(|doubt| doubt.contains("\"s\"")),
        "{:?}",
        euler.doubts
    );
    for method in ["rk4", "implicit-euler", "trapezoidal", "adaptive", "stiff"] {
        assert_eq!(report(&spring(method)).doubts, Vec::<String>::new(), "{method}");
    }
}

/// The trapezoidal rule keeps the energy of a spring at any step, and the sum of force times velocity at the ends of steps is not the work of a
/// vibration that takes 1.6 of them: what is missing is said, with the way that the energy went.
#[test]
fn a_ledger_that_does_not_close_is_told() {
    let spring = |step: f64| {
        let text = format!(
            "{}[bodies.m]\nkind = \"mass\"\nmass = 1\nvelocity = 0.1\n[elements.own]\nkind = \"equations\"\non = \"m\"\nforce = \"-4e4*x\"\nstored = \"2e4*x^2\"\n",
            time("newmark", step, 1.4)
        );
        report(&text)
    };
    let coarse = spring(0.02);
    let energy = coarse.energy.as_ref().unwrap();
    assert!((energy.final_ / energy.initial - 1.0).abs() < 1e-9, "{energy:?}");
    assert_eq!(coarse.doubts.len(), 1, "{:?}", coarse.doubts);
    let doubt = &coarse.doubts[0];
    assert!(doubt.contains("does not close") && doubt.contains("\"own\""), "{doubt}");
    assert_eq!(spring(1e-4).doubts, Vec::<String>::new());
}

#[test]
fn systems_that_lose_energy_as_they_should_are_not_doubted() {
    for (integrator, law) in [
        ("implicit-euler", "implicit"),
        ("rk4", "proxy"),
        ("adaptive", "dahl"),
        ("stiff", "proxy"),
    ] {
        let text = format!(
            "{}[bodies.m]\nkind = \"mass\"\nmass = 1.2\nvelocity = 2\n[elements.s]\nkind = \"spring\"\nbetween = [\"m\", \"ground\"]\nstiffness = 30\ndamping = 0.1\n[elements.f]\nkind = \"friction\"\nbetween = [\"m\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 0.8\n",
            time(integrator, 1e-3, 3.0)
        );
        assert_eq!(report(&text).doubts, Vec::<String>::new(), "{law}");
    }
}

/// The warnings before a run, but for those on the number of steps.
fn warnings(text: &str) -> Vec<String> {
    let simulation = simulation(text);
    let messages = simulation
        .built()
        .warnings
        .iter()
        .map(|warning| warning.message.clone());
    messages
        .filter(|message| !message.contains("whole number of steps"))
        .collect()
}

#[test]
fn steps_near_the_period_of_a_spring_are_warned_of() {
    let spring = |method: &str, step: f64, more: &str| {
        format!(
            "{}[bodies.m]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n[elements.s]\nkind = \"spring\"\nbetween = [\"m\", \"ground\"]\nstiffness = 100\n{more}",
            time(method, step, 2.0)
        )
    };
    // ω = 10 rad/s.
    for (method, step, more, expected) in [
        ("rk4", 0.01, "", None),
        ("rk4", 0.09, "", None),
        ("rk4", 0.2, "", Some("near the period")),
        ("rk4", 0.3, "", Some("will diverge")),
        ("rk4", 0.01, "damping = 300", Some("will diverge")),
        ("euler", 1e-4, "", None),
        ("euler", 0.01, "", Some("adds energy")),
        ("euler", 0.01, "damping = 2", None),
        ("implicit-euler", 0.01, "", None),
        ("implicit-euler", 0.3, "", None),
        ("implicit-euler", 0.15, "implicit = false", Some("near the period")),
        ("implicit-euler", 0.21, "implicit = false", Some("will diverge")),
        ("trapezoidal", 0.05, "", None),
        ("trapezoidal", 0.2, "", Some("near the period")),
        ("stiff", 0.5, "", None),
        ("adaptive", 0.5, "", None),
    ] {
        let found = warnings(&spring(method, step, more));
        match expected {
            None => assert_eq!(found, Vec::<String>::new(), "{method} {step} {more}"),
            Some(words) => assert!(
                found.len() == 1 && found[0].contains(words),
                "{method} {step} {more}: {found:?}"
            ),
        }
    }
    // Symplectic Euler is stable up to ωT = 2, as warned.
    let explicit = |step: f64| {
        let text = spring("implicit-euler", step, "implicit = false").replace("duration = 2", "duration = 60");
        run(&mut simulation(&text), None, Options::default()).unwrap().ended
    };
    assert_eq!(explicit(0.19), Ended::Complete);
    assert!(matches!(explicit(0.21), Ended::Failed(_)));
}

#[test]
fn keys_without_effect_are_named() {
    let text = |simulation: &str, body: &str, friction: &str| {
        format!(
            "{}{simulation}\n[bodies.m]\nkind = \"mass\"\nmass = 1\n{body}\n[elements.s]\nkind = \"spring\"\nbetween = [\"m\", \"ground\"]\nstiffness = 100\nSPRING\n[elements.f]\nkind = \"friction\"\nbetween = [\"m\", \"ground\"]\n{friction}\n",
            time("rk4", 1e-3, 1.0)
        )
    };
    let proxy = "law = \"proxy\"\nkinetic = 1\n";
    let plain = |simulation: &str, body: &str, friction: &str| text(simulation, body, friction).replace("SPRING", "");
    assert_eq!(warnings(&plain("", "", proxy)), Vec::<String>::new());
    assert_eq!(
        warnings(&plain("gravity = [0, 0, -9.8]", "axis = [0, 0, 1]", proxy)),
        Vec::<String>::new()
    );
    assert_eq!(
        warnings(&plain(
            "",
            "",
            &format!("{proxy}static = 2\nstribeck_velocity = 0.1\nstribeck_exponent = 1")
        )),
        Vec::<String>::new()
    );
    for (text, words) in [
        (
            plain("gravity = [0, 0, -9.8]", "", proxy),
            "gravity does not act on \"m\"",
        ),
        (
            text("", "", proxy).replace("SPRING", "implicit = true"),
            "implicit has no effect",
        ),
        (
            plain("", "", &format!("{proxy}stribeck_exponent = 1")),
            "stribeck_exponent has no effect",
        ),
        (
            plain("", "", &format!("{proxy}stribeck_velocity = 0.1")),
            "stribeck_velocity has no effect",
        ),
        (
            plain("", "", &format!("{proxy}initial = \"slip\"")),
            "initial has no effect",
        ),
        (plain("newmark = { beta = 0.25 }", "", proxy), "no effect"),
        (plain("max_step = 0.1", "", proxy), "max_step has no effect"),
    ] {
        let found = warnings(&text);
        assert!(found.len() == 1 && found[0].contains(words), "{words}: {found:?}");
    }
}

#[test]
fn a_joint_too_stiff_for_the_step_and_its_idle_keys_are_named() {
    let joint = |kind: &str, more: &str| {
        format!(
            "{}[bodies.a]\nkind = \"rigid-body\"\nmass = 1\nshape = {{ sphere = 0.1 }}\n[bodies.b]\nkind = \"rigid-body\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0.6, 0, 0]\n[elements.j]\nkind = \"joint\"\nbetween = [\"a\", \"b\"]\ntype = \"{kind}\"\nat = [[0.3, 0, 0], [-0.3, 0, 0]]\n{more}\n",
            time("rk4", 1e-3, 0.1)
        )
    };
    assert_eq!(warnings(&joint("spherical", "")), Vec::<String>::new());
    assert_eq!(
        warnings(&joint("revolute", "axis = [0, 0, 1]\ntorque = 1")),
        Vec::<String>::new()
    );
    let stiff = warnings(&joint("spherical", "stiffness = 1e9\ndamping = 1"));
    assert!(stiff.len() == 1 && stiff[0].contains("will diverge"), "{stiff:?}");
    let idle = warnings(&joint("spherical", "axis = [0, 0, 1]\nrotational_stiffness = 10"));
    assert!(
        idle.len() == 2 && idle.iter().all(|warning| warning.contains("no effect")),
        "{idle:?}"
    );
}

/// A spring of 400 N/m whose end jumps by 0.3 m: ½·k·δ² = 18 J.
fn jump(method: &str, step: f64, duration: f64, drive: &str, spring: &str) -> Report {
    report(&format!(
        "{}[bodies.hand]\nkind = \"driver\"\nposition = {drive}\n[bodies.m]\nkind = \"mass\"\nmass = 2\n{}\
         [elements.s]\nkind = \"spring\"\nbetween = [\"m\", \"hand\"]\nstiffness = 400\n{spring}\n",
        time(method, step, duration),
        if drive.starts_with('[') {
            "position = [0, 0]\n"
        } else {
            ""
        }
    ))
}

#[test]
fn the_jump_of_a_driver_is_work_put_in() {
    let along = "\"if(t < 0.7, 0.1, 0.4)\"";
    // In a plane by (0.18, 0.24), which is 0.3 long.
    let aside = "[\"if(t < 0.7, 0, 0.18)\", \"if(t < 0.7, 0, 0.24)\"]";
    for method in ["adaptive", "stiff"] {
        for (drive, length) in [(along, "\nlength = -0.1"), (aside, "")] {
            let damped = jump(method, 0.01, 9.0, drive, &format!("damping = 8{length}"));
            let energy = damped.energy.as_ref().unwrap();
            let heat = damped.elements["s"]["dissipated"].as_f64().unwrap();
            assert!((energy.input - 18.0).abs() < 1e-6, "{method} {drive}: {energy:?}");
            assert!((heat - 18.0).abs() < 2e-3, "{method} {drive}: {heat}");
            assert_eq!(damped.doubts, Vec::<String>::new());
        }
    }
    for (method, spring) in [
        ("adaptive", "damping = 0"),
        ("stiff", "damping = 0"),
        ("implicit-euler", "implicit = false"),
        ("implicit-euler", "implicit = true"),
    ] {
        let free = jump(method, 1e-3, 2.0, along, &format!("{spring}\nlength = -0.1"));
        let energy = free.energy.as_ref().unwrap();
        // A spring taken at the end of the step lets the mass go by k·T²/m of the way within it.
        assert!(
            (energy.input / 18.0 - 1.0).abs() < 3e-4,
            "{method} {spring}: {energy:?}"
        );
        assert_eq!(free.doubts, Vec::<String>::new(), "{method} {spring}");
        if let Some(numerical) = energy.numerical {
            assert!(
                (energy.residual - numerical).abs() < 1e-10,
                "{method} {spring}: {energy:?}"
            );
        }
    }
    // At the very end of a run.
    for method in ["adaptive", "stiff"] {
        let energy = jump(method, 0.01, 0.7, along, "damping = 8\nlength = -0.1")
            .energy
            .unwrap();
        assert!(
            (energy.stored - 18.0).abs() < 1e-9 && energy.residual.abs() < 1e-9,
            "{method}: {energy:?}"
        );
    }
}

/// A constant force of equations draws a damped spring out to F/k: F²/k = 0.72 J are put in, half of it becomes heat. Equations that take energy
/// stay heat.
#[test]
fn what_equations_without_a_store_give_counts_as_put_in() {
    for method in ["implicit-euler", "rk4", "adaptive"] {
        let body = "[bodies.m]\nkind = \"mass\"\nmass = 1.3\n";
        let drawn = report(&format!(
            "{}{body}[elements.s]\nkind = \"spring\"\non = \"m\"\nstiffness = 50\ndamping = 8\n\
             [elements.pull]\nkind = \"equations\"\non = \"m\"\nforce = \"6\"\n",
            time(method, 1e-3, 6.0)
        ));
        let energy = drawn.energy.as_ref().unwrap();
        assert!((energy.input - 0.72).abs() < 2e-3, "{method}: {energy:?}");
        assert!((energy.dissipated - 0.36).abs() < 4e-3, "{method}: {energy:?}");
        assert_eq!(drawn.elements["pull"]["dissipated"].as_f64(), Some(0.0));
        let braked = report(&format!(
            "{}{body}velocity = 2\n[elements.brake]\nkind = \"equations\"\non = \"m\"\nforce = \"-4*v\"\n",
            time(method, 1e-3, 6.0)
        ));
        let energy = braked.energy.as_ref().unwrap();
        assert!(
            energy.input == 0.0 && (energy.dissipated - 2.6).abs() < 1e-2,
            "{method}: {energy:?}"
        );
    }
}

/// A rigid body on a spring of equations at its corner. The implicit step takes that at its start, so a long step makes energy from nothing.
fn cornered(step: f64, stiffness: f64) -> String {
    format!(
        "{}[bodies.b]\nkind = \"rigid-body\"\nmass = 2\nshape = {{ box = [0.3, 0.2, 0.2] }}\nposition = [0.15, 0, 0.05]\nvelocity = [0, 0.2, 0]\n\
         [elements.e]\nkind = \"equations\"\nbetween = [\"b\", \"ground\"]\nat = [[0.15, 0, 0], [0, 0, 0]]\nparameters = {{ k = {stiffness}, c = 20 }}\n\
         force = [\"-(k*x.x+c*v.x)\", \"-(k*x.y+c*v.y)\", \"-(k*x.z+c*v.z)\"]\nstored = \"0.5*k*(x.x^2+x.y^2+x.z^2)\"\n",
        time("implicit-euler", step, 2.0)
    )
}

#[test]
fn equations_that_give_more_than_they_store_are_named_or_end_the_run() {
    // √(k·(1/m + r²/I)) = 155 rad/s: 3.1 radians in a step of 20 ms.
    match run(&mut simulation(&cornered(0.02, 6e3)), None, Options::default())
        .unwrap()
        .ended
    {
        Ended::Failed(error) => assert!(error.to_string().contains("step"), "{error}"),
        other => panic!("{other:?}"),
    }
    // Near the limit of 2 radians what is made from nothing is lost again.
    let passing = report(&cornered(0.02, 4e3)).doubts;
    assert!(passing.iter().any(|doubt| doubt.contains("\"e\" gave")), "{passing:?}");
    assert_eq!(report(&cornered(1e-3, 6e3)).doubts, Vec::<String>::new());
    // Explicit Euler multiplies the energy of a spring by 1 + ω²T² a step: by e^0.18 here, too little to end the run.
    let mild = report(&format!(
        "{}[bodies.m]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n[elements.own]\nkind = \"equations\"\non = \"m\"\nforce = \"-90*x\"\nstored = \"45*x^2\"\n",
        time("euler", 1e-3, 2.0)
    ));
    assert!(
        mild.doubts.iter().any(|doubt| doubt.contains("\"own\" gave")),
        "{:?}",
        mild.doubts
    );
}

/// What grows beyond all numbers has the step to blame, not the expression of the energy it stores.
#[test]
fn a_store_that_overflows_blames_the_step() {
    let text = format!(
        "{}[bodies.b]\nkind = \"mass\"\nmass = 1\nposition = [0.2, 0]\nvelocity = [0, 0.3]\n[elements.e]\nkind = \"equations\"\non = \"b\"\n\
         force = [\"-3e5*x.x-20*v.x\", \"-3e5*x.y-20*v.y\"]\nstored = \"1.5e5*(x.x^2+x.y^2)\"\n",
        time("rk4", 0.02, 1.6)
    );
    match run(&mut simulation(&text), None, Options::default()).unwrap().ended {
        Ended::Failed(error) => {
            let error = error.to_string();
            assert!(
                error.contains("step well below") && !error.contains("expression"),
                "{error}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// A body of equations is exempt for what its own forces do, not for what the method does, and no other body is.
#[test]
fn a_body_of_equations_excuses_nothing_but_itself() {
    let arm = "gravity = [0, 0, -9.81]\n[bodies.arm]\nkind = \"linkage\"\nlinks = [{ name = \"l\", parent = \"ground\", joint = \"j\", type = \"revolute\", \
               axis = [0, 1, 0], mass = 2, com = [0, 0, -0.4], inertia = [0.001, 0.001, 0.001], position = 1.2 }]\n";
    let idle =
        "[bodies.idle]\nkind = \"equations\"\ncoordinates = { q = 0 }\nmass_matrix = [[\"1\"]]\nforce = [\"0\"]\n";
    for bodies in [arm.to_string(), format!("{arm}{idle}")] {
        let doubts = report(&format!("{}{bodies}", time("euler", 0.02, 3.0))).doubts;
        assert!(
            doubts.iter().any(|doubt| doubt.contains("came from nowhere")),
            "{doubts:?}"
        );
    }
    let pendulum = |method: &str, step: f64, more: &str| {
        report(&format!(
            "{}[bodies.p]\nkind = \"equations\"\ncoordinates = {{ theta = 0.9 }}\nmass_matrix = [[\"0.3\"]]\nforce = [\"-4*sin(theta){more}\"]\n\
             potential = \"-4*cos(theta)\"\n",
            time(method, step, 3.0)
        ))
        .doubts
    };
    assert!(pendulum("euler", 0.02, "")[0].contains("came from nowhere"));
    // What it loses by a damper of its own, and what a force of its own puts in, is its own affair.
    for more in ["", "-0.2*theta_dot", "+3*sin(7*t)"] {
        assert_eq!(pendulum("rk4", 0.02, more), Vec::<String>::new(), "{more}");
    }
}

/// Boxes that are pressed together by equal forces stand still: nothing but rounding moves.
#[test]
fn rounding_of_forces_that_balance_is_not_doubted() {
    let cube = |name: &str, x: f64, force: f64| {
        format!(
            "[bodies.{name}]\nkind = \"rigid-body\"\nmass = 0.7\nshape = {{ box = [0.2, 0.2, 0.2] }}\nposition = [{x}, 0, 0]\nforce = [{force}, 0, 0]\n"
        )
    };
    let text = format!(
        "{}[contacts]\nfriction = {{ law = \"implicit\", mu = 0.4 }}\n{}{}{}",
        time("implicit-euler", 2e-3, 1.0),
        cube("a", -0.2, 260.0),
        cube("b", 0.0, 0.0),
        cube("c", 0.2, -260.0)
    );
    assert_eq!(report(&text).doubts, Vec::<String>::new());
}
