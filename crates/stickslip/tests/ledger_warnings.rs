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
