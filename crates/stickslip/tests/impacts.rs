//! A restitution and a penetration written in a scenario are what the simulation shows; combinations that cannot be are
//! refused with the reason.
#![allow(missing_docs)]

mod common;

use common::{close, written};
use stickslip::scenario::Scenario;
use stickslip::{Body, Simulation};

/// A mass that flies into a stop: speed after over speed before, and the deepest penetration.
fn impact(mass: f64, speed: f64, step: f64, integrator: &str, normal: &str) -> (f64, f64) {
    let mut body = flying(mass, speed, (step, 0.3), integrator, normal);
    assert!(body.built().warnings.is_empty(), "{:?}", body.built().warnings);
    rebound(&mut body, speed)
}

/// A mass that touches down `part` of a step after the sixth.
fn flying(mass: f64, speed: f64, (step, part): (f64, f64), integrator: &str, normal: &str) -> Simulation {
    let text = format!(
        "[simulation]\nduration = 1\nstep = {step:e}\nintegrator = \"{integrator}\"\n\
         [bodies.body]\nkind = \"mass\"\nmass = {mass}\nposition = {}\nvelocity = {}\n\
         [elements.wall]\nkind = \"stop\"\nbetween = [\"body\", \"ground\"]\nlower = 0\nnormal = {{ law = \"relaxed\", {normal} }}\n",
        speed * (6.0 + part) * step,
        -speed
    );
    written(&text, &[])
}

fn rebound(body: &mut Simulation, speed: f64) -> (f64, f64) {
    let mut depth = 0.0f64;
    loop {
        body.advance(1).unwrap();
        let (p, v) = (body.position(Body::nth(0))[0], body.velocity(Body::nth(0))[0]);
        depth = depth.max(-p);
        if v > 0.0 && p > 0.0 {
            return (v / speed, depth);
        }
    }
}

/// Within 2 % for any mass, speed and step, with the stiffness chosen for the user.
#[test]
fn a_restitution_is_met_with_the_chosen_stiffness() {
    for restitution in [1.0, 0.95, 0.8, 0.6, 0.5, 0.41, 0.3, 0.2, 0.1, 0.05, 0.02] {
        for (mass, speed, step) in [(1.0, 1.0, 1e-4), (0.02, 3.0, 1e-3), (500.0, 0.1, 1e-5)] {
            let (found, _) = impact(mass, speed, step, "rk4", &format!("restitution = {restitution}"));
            close(
                &format!("{restitution}, {mass} kg"),
                found,
                restitution,
                0.02 * restitution,
            );
        }
    }
}

/// Within 2 % with every integrator that the law runs with, wherever between two steps the body touches down.
#[test]
fn a_restitution_is_met_with_every_integrator() {
    for integrator in ["rk4", "euler", "adaptive", "stiff"] {
        for restitution in [1.0, 0.97, 0.6, 0.45, 0.3, 0.2, 0.12, 0.1, 0.07, 0.05, 0.03] {
            for part in PARTS {
                let normal = format!("restitution = {restitution}");
                let mut body = flying(1.3, 0.9, (1e-4, part), integrator, &normal);
                assert!(body.built().warnings.is_empty(), "{:?}", body.built().warnings);
                let what = format!("{restitution}, {integrator}, {part} of a step");
                close(&what, rebound(&mut body, 0.9).0, restitution, 0.02 * restitution);
            }
        }
    }
}

const PARTS: [f64; 5] = [0.0, 0.2, 0.4, 0.6, 0.8];

/// With a stiffness of the user's own, and with a β, explicit Euler meets a restitution as well or warns that it does not.
/// It warns where it must: 1e6 takes steps of 0.1 rad. It does not where it need not.
#[test]
fn explicit_euler_meets_a_restitution_or_warns() {
    let (mut met, mut warned) = (0, 0);
    for restitution in [0.9, 0.6, 0.3, 0.15, 0.1, 0.07, 0.03] {
        for stiffness in [1e3, 1e4, 1e5, 4e5, 8e5, 1e6, 3e6] {
            for beta in ["", ", beta = 0.01", ", beta = 0.03"] {
                let normal = format!("restitution = {restitution}, stiffness = {stiffness}{beta}");
                let text = format!(
                    "[simulation]\nduration = 1\nstep = 1e-4\nintegrator = \"euler\"\n[bodies.body]\nkind = \"mass\"\nmass = 1\n\
                     [elements.wall]\nkind = \"stop\"\nbetween = [\"body\", \"ground\"]\nlower = 0\n\
                     normal = {{ law = \"relaxed\", {normal} }}\n"
                );
                let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
                // What this β cannot have is refused with any integrator.
                let Ok(simulation) = Simulation::new(scenario) else {
                    continue;
                };
                if !simulation.built().warnings.is_empty() {
                    warned += 1;
                    assert!(stiffness > 1e4 || restitution < 0.2 || !beta.is_empty(), "{normal}");
                    continue;
                }
                met += 1;
                for part in PARTS {
                    let mut body = flying(1.0, 1.0, (1e-4, part), "euler", &normal);
                    let what = format!("{normal}, {part} of a step");
                    close(&what, rebound(&mut body, 1.0).0, restitution, 0.02 * restitution);
                }
            }
        }
    }
    assert!(met > 30 && warned > 20, "{met} {warned}");
}

/// However soft the contact is for the step: here 1e-6 rad of the impact in a step, and less.
#[test]
fn a_soft_contact_under_fine_steps_of_euler_loses_what_it_should() {
    for (stiffness, restitution) in [(1.0, 0.6), (0.04, 0.3)] {
        let normal = format!("restitution = {restitution}, stiffness = {stiffness}");
        let fine = flying(1.0, 1.0, (1e-6, 0.3), "euler", &normal);
        let rough = flying(1.0, 1.0, (1e-6, 0.3), "rk4", &normal);
        let alpha = [&fine, &rough].map(|body| body.built().choices.last().unwrap().value);
        close(&normal, alpha[0], alpha[1], 2e-3 * alpha[1]);
    }
}

/// And with a stiffness of the user's own.
#[test]
fn a_restitution_is_met_with_a_given_stiffness() {
    for restitution in [1.0, 0.9, 0.6, 0.35, 0.15] {
        for (mass, stiffness, step) in [(1.0, 1e4, 1e-4), (0.3, 1e6, 1e-5), (80.0, 2e5, 2e-4)] {
            let normal = format!("stiffness = {stiffness}, restitution = {restitution}");
            let (found, _) = impact(mass, 1.0, step, "rk4", &normal);
            close(&normal, found, restitution, 0.005 * restitution);
            // β of the user's own: β√(K/m) = 0.8 reaches from 0.43 to 1.
            if restitution > 0.5 {
                let beta = 0.8 * (mass / stiffness).sqrt();
                let (found, _) = impact(mass, 1.0, step, "rk4", &format!("{normal}, beta = {beta}"));
                close(&format!("{normal}, beta"), found, restitution, 0.005 * restitution);
            }
        }
    }
}

#[test]
fn a_penetration_is_met() {
    // Of an impact.
    for (restitution, depth, speed) in [(0.6, 1e-3, 2.0), (0.2, 1e-2, 1.0), (1.0, 1e-4, 0.5)] {
        let normal = format!("restitution = {restitution}, penetration = {depth}, impact_speed = {speed}");
        let (found, deepest) = impact(0.7, speed, 1e-6, "rk4", &normal);
        close(&normal, deepest, depth, 1e-3 * depth);
        close(&normal, found, restitution, 1e-3 * restitution);
    }
    // At rest under the weight: a ball, and a box whose four corners share it.
    for (shape, height) in [("{ sphere = 0.1 }", 0.1), ("{ box = [0.3, 0.4, 0.2] }", 0.1)] {
        let text = format!(
            "[simulation]\nduration = 2\nstep = 1e-4\nintegrator = \"rk4\"\ngravity = [0, 0, -9.8]\n\
             [bodies.body]\nkind = \"rigid-body\"\nshape = {shape}\nmass = 3\nposition = [0, 0, {height}]\n\
             [elements.floor]\nkind = \"contact\"\nbetween = [\"body\", \"ground\"]\n\
             surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
             normal = {{ law = \"relaxed\", restitution = 0.3, penetration = \"0.2 mm\" }}\n"
        );
        let mut body = written(&text, &[]);
        body.advance(20_000).unwrap();
        close(shape, body.position(Body::nth(0))[2], height - 2e-4, 1e-10);
    }
}

/// A ball under gravity, dropped from a height: the weight changes a fast impact little.
#[test]
fn a_dropped_ball_rebounds_as_wanted() {
    for (restitution, mass) in [(0.6, 0.3), (0.85, 2.0), (0.25, 0.05)] {
        let text = format!(
            "[simulation]\nduration = 2\nstep = 1e-4\nintegrator = \"rk4\"\ngravity = [0, 0, -9.81]\n\
             [bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.05 }}\nmass = {mass}\nposition = [0, 0, 1.05]\n\
             [elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
             surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
             normal = {{ law = \"relaxed\", restitution = {restitution} }}\n"
        );
        let mut ball = written(&text, &[]);
        let (mut fallen, mut speed) = (false, 0.0);
        while speed == 0.0 {
            ball.advance(1).unwrap();
            let (gap, v) = (ball.position(Body::nth(0))[2] - 0.05, ball.velocity(Body::nth(0))[2]);
            fallen |= gap < 0.0;
            if fallen && gap > 0.0 {
                // Speed at the height of the floor.
                speed = (v * v + 2.0 * 9.81 * gap).sqrt();
            }
        }
        let found = speed / (2.0f64 * 9.81).sqrt();
        close(&format!("{restitution}"), found, restitution, 0.02 * restitution);
        // What was chosen and why can be read.
        let keys: Vec<&str> = ball.built().choices.iter().map(|choice| choice.key.as_str()).collect();
        assert_eq!(
            keys,
            ["stiffness", "beta", "alpha"].map(|key| format!("elements.floor.normal.{key}"))
        );
        assert!(
            ball.built().choices[2]
                .reason
                .contains(&format!("restitution of {restitution}"))
        );
    }
}

/// A drop from a height: the restitution found, or `None` where the contact is warned about as too soft. A contact that is
/// warned about as soft must meet it, too.
fn dropped(restitution: f64, height: f64, step: f64, integrator: &str) -> Option<f64> {
    let text = format!(
        "[simulation]\nduration = 2\nstep = {step:e}\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n\
         [bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.05 }}\nmass = 0.3\nposition = [0, 0, {}]\n\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
         surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
         normal = {{ law = \"relaxed\", restitution = {restitution} }}\n",
        height + 0.05
    );
    let mut ball = written(&text, &[]);
    if let Some(warning) = ball.built().warnings.first() {
        assert!(format!("{warning:?}").contains("soft"), "{warning:?}");
        if format!("{warning:?}").contains("too soft") {
            return None;
        }
    }
    for _ in 0..(1.0 / step) as usize {
        ball.advance(1).unwrap();
        let (gap, v) = (ball.position(Body::nth(0))[2] - 0.05, ball.velocity(Body::nth(0))[2]);
        if v > 0.0 && gap > 0.0 {
            return Some(((v * v + 2.0 * 9.81 * gap) / (2.0 * 9.81 * height)).sqrt());
        }
    }
    panic!("no rebound: {integrator}, {restitution}, {height} m, step {step}");
}

/// Within 2 % also for low falls: the integrators that choose their steps whatever the interval of the output, those with
/// fixed steps or else with a warning.
#[test]
fn the_weight_does_not_spoil_a_restitution_unseen() {
    for restitution in [0.3, 0.6, 0.9] {
        for height in [1.0, 0.1] {
            for (integrator, step) in [
                ("rk4", 1e-4),
                ("rk4", 1e-3),
                ("euler", 1e-5),
                ("euler", 1e-4),
                ("adaptive", 1e-2),
                ("stiff", 1e-2),
            ] {
                let what = format!("{integrator}, {restitution}, {height} m, step {step}");
                let found = dropped(restitution, height, step, integrator);
                close(&what, found.expect(&what), restitution, 0.02 * restitution);
            }
        }
    }
    // Of a fall of 5 mm on a contact for steps of 1 ms the weight would take most.
    assert_eq!(dropped(0.3, 0.005, 1e-3, "rk4"), None);
}

/// Speeds at the height of the floor over those of the touch-down before, of a mass of 1 kg dropped with the text `more`
/// in its table; and the warnings.
fn bounces(height: f64, integrator: &str, step: f64, normal: &str, more: &str) -> (Vec<f64>, Vec<String>) {
    let text = format!(
        "[simulation]\nduration = 3\nstep = {step:e}\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n\
         [bodies.p]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, {height}]\n{more}\n\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"p\", \"ground\"]\n\
         surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\nnormal = {{ law = \"relaxed\", {normal} }}\n"
    );
    let mut p = written(&text, &[]);
    let warnings = p
        .built()
        .warnings
        .iter()
        .map(|warning| format!("{warning:?}"))
        .collect();
    let weight = if more.contains("9.81") { 0.0 } else { 9.81 };
    let (mut found, mut down, mut touched) = (Vec::new(), 0.0, false);
    for _ in 0..(2.0 / step) as usize {
        p.advance(1).unwrap();
        let (z, v) = (p.position(Body::nth(0))[2], p.velocity(Body::nth(0))[2]);
        let speed = (v * v + 2.0 * weight * z).max(0.0).sqrt();
        match (z > 0.0, v > 0.0) {
            (true, false) => down = speed,
            (true, true) if touched => found.push(speed / down),
            _ => (),
        }
        touched = z <= 0.0;
    }
    (found, warnings)
}

/// α makes up for the weight at the first touch-down only. The next one misses by loss·(1/r − 1), and the warning says so.
#[test]
fn a_second_bounce_that_misses_is_told_of() {
    for (restitution, step, told) in [
        (0.3, 5e-4, true),
        (0.35, 4e-4, true),
        (0.6, 1e-4, false),
        (0.9, 2e-4, false),
    ] {
        let (found, warnings) = bounces(1.0, "rk4", step, &format!("restitution = {restitution}"), "");
        close("first", found[0], restitution, 0.02 * restitution);
        let missed = 1.0 - found[1] / restitution;
        assert_eq!(missed > 0.02, told, "{missed}");
        assert_eq!(!warnings.is_empty(), told, "{warnings:?}");
        if told {
            let words = warnings[0].split("misses it by about ").nth(1).expect(&warnings[0]);
            let part: f64 = words.split(' ').next().unwrap().parse().unwrap();
            close("told", 0.01 * part, missed, 0.3 * missed);
            assert!(warnings[0].contains("first touch-down"));
        }
    }
    // Where the steps are chosen, so is a stiffness at which both are met, down to a third.
    for restitution in [0.4, 0.6] {
        let (found, warnings) = bounces(1.0, "adaptive", 1e-3, &format!("restitution = {restitution}"), "");
        assert!(warnings.is_empty(), "{warnings:?}");
        for found in &found[..2] {
            close("adaptive", *found, restitution, 0.02 * restitution);
        }
    }
    let (_, warnings) = bounces(1.0, "adaptive", 1e-3, "restitution = 0.2", "");
    assert!(warnings[0].contains("misses it by about 4.0 %"), "{warnings:?}");
}

/// A weight that another force may balance is not made up for: the free impact is met, with a warning of the weight.
#[test]
fn a_weight_that_may_not_act_is_not_made_up_for() {
    let hovering = "velocity = [0, 0, -1]\nforce = [0, 0, 9.81]";
    for (restitution, step) in [(0.6, 1e-3), (0.5, 5e-4)] {
        let (found, warnings) = bounces(0.01, "rk4", step, &format!("restitution = {restitution}"), hovering);
        close("hovering", found[0], restitution, 0.02 * restitution);
        assert!(warnings[0].contains("too soft"), "{warnings:?}");
    }
    // So with a spring at the body.
    let spring = "[elements.s]\nkind = \"spring\"\nbetween = [\"p\", \"ground\"]\nstiffness = 1\nlength = 1\n";
    let alpha = |more: &str| {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 1e-4\nintegrator = \"rk4\"\ngravity = [0, 0, -9.81]\n\
             [bodies.p]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 1]\n{more}\
             [elements.floor]\nkind = \"contact\"\nbetween = [\"p\", \"ground\"]\n\
             surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\nnormal = {{ law = \"relaxed\", restitution = 0.6 }}\n"
        );
        written(&text, &[]).built().choices.last().unwrap().value
    };
    assert!(alpha("") > 1.001 * alpha(spring));
}

/// Where the steps are chosen, a stiffness does not follow the interval of the output.
#[test]
fn a_long_interval_of_output_makes_no_contact_soft() {
    for law in ["proxy", "kelvin-voigt"] {
        for integrator in ["adaptive", "stiff"] {
            let text = format!(
                "[simulation]\nduration = 3\nstep = 0.1\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.8]\n\
                 [bodies.p]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 0.5]\n\
                 [elements.floor]\nkind = \"contact\"\nbetween = [\"p\", \"ground\"]\n\
                 surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
                 normal = {{ law = \"{law}\" }}\nfriction = {{ law = \"relaxed\", mu = 0.3 }}\n"
            );
            let mut p = written(&text, &[]);
            p.advance(30).unwrap();
            // m·g/K for K = m·(0.5/1 ms)².
            close(law, p.position(Body::nth(0))[2], -9.8 / 2.5e5, 1e-6);
            let stiffnesses = p
                .built()
                .choices
                .iter()
                .filter(|choice| choice.key.ends_with("stiffness"));
            assert!(stiffnesses.clone().count() == 2 && stiffnesses.clone().all(|choice| choice.value >= 2.4e5));
        }
    }
}

fn refused(body: &str, normal: &str) -> String {
    let text = format!(
        "[simulation]\nduration = 1\nstep = 1e-4\nintegrator = \"rk4\"\n[bodies.body]\n{body}\n\
         [elements.wall]\nkind = \"stop\"\nbetween = [\"body\", \"ground\"]\nlower = 0\nnormal = {{ {normal} }}\n"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    match Simulation::new(scenario) {
        Ok(_) => panic!("{normal} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let mass = "kind = \"mass\"\nmass = 1";
    for (normal, words) in [
        (
            "law = \"relaxed\", restitution = 0",
            &["use 0.015 or more", "rigid"][..],
        ),
        ("law = \"relaxed\", restitution = 1.2", &["energy from nothing"]),
        (
            "law = \"relaxed\", restitution = 0.2, stiffness = 1e4, beta = 0.001",
            &["use 0.8", "cannot have"],
        ),
        // So short a memory leaves nothing to choose, and must not take long to find out.
        (
            "law = \"relaxed\", restitution = 0.9, stiffness = 1e4, beta = 1e-9",
            &["cannot have", "a larger beta"],
        ),
        (
            "law = \"relaxed\", beta = 0.01, alpha = 0.02",
            &["above beta", "0 < alpha <= beta"],
        ),
        ("law = \"relaxed\", alpha = 0.02", &["without \"beta\""]),
        (
            "law = \"relaxed\", beta = 0.01, alpha = 0.005, restitution = 0.5",
            &["keep one"],
        ),
        ("law = \"relaxed\", stiffness = 1e4, penetration = 1e-3", &["keep one"]),
        ("law = \"relaxed\", penetration = 1e-3", &["no weight", "impact_speed"]),
        ("law = \"relaxed\", impact_speed = 1", &["without \"penetration\""]),
        ("law = \"relaxed\", penetration = 0", &["greater than 0"]),
        ("law = \"relaxed\", penetration = \"1 kg\"", &["expected"]),
        (
            "law = \"proxy\", alpha = 1",
            &["no parameter \"alpha\"", "stiffness, beta"],
        ),
        ("law = \"hunt-crossley\"", &["needs \"stiffness\""]),
        (
            "law = \"hunt-crossley\", stiffness = \"1 N/mm\"",
            &["N/m^1.5", "plain number"],
        ),
        ("law = \"hunt-crossley\", stiffness = 1, exponent = 0.5", &["1 or more"]),
    ] {
        let message = refused(mass, normal);
        for word in words {
            assert!(message.contains(word), "{normal}:\n{message}");
        }
        assert!(message.contains("test.toml:"), "no place: {message}");
    }
    let driven = refused(
        "kind = \"driver\"\nposition = \"sin(t)\"",
        "law = \"relaxed\", restitution = 0.5",
    );
    assert!(driven.contains("free to move"), "{driven}");
}

/// A step that does not resolve the impact is warned about.
#[test]
fn a_large_step_is_warned_about() {
    for (step, warned) in [(1e-4, false), (2e-3, false), (6e-3, true), (5e-2, true)] {
        let text = format!(
            "[simulation]\nduration = 1\nstep = {step}\nintegrator = \"rk4\"\n[bodies.body]\nkind = \"mass\"\nmass = 1\n\
             [elements.wall]\nkind = \"stop\"\nbetween = [\"body\", \"ground\"]\nlower = 0\n\
             normal = {{ law = \"relaxed\", stiffness = 1e4, restitution = 0.6 }}\n"
        );
        let warnings = written(&text, &[]).built().warnings.len();
        assert_eq!(warnings > 0, warned, "step {step}");
    }
}

#[test]
fn the_heat_of_a_blow_is_the_energy_it_takes_also_where_bodies_touched_before() {
    // No weight: what is lost is lost in the blow. A ball strikes a box that touches a table; the box is pressed on it and slides.
    // With resistance to rolling, its moment takes part in the blow.
    let blows = [
        (0.0, 3.0, 1e-3, 0.0),
        (0.0, -1.0, 1e-2, 0.0),
        (0.4, 2.0, 1e-3, 0.0),
        (0.8, 5.0, 2e-3, 0.0),
        (0.0, 3.0, 1e-3, 2e-3),
    ];
    for (restitution, across, step, rolling) in blows {
        let text = format!(
            "[simulation]\nduration = {}\nstep = {step:e}\nintegrator = \"implicit-euler\"\n\
             [contacts]\nnormal = {{ law = \"rigid\", restitution = {restitution} }}\nfriction = {{ law = \"implicit\", mu = 0.3, rolling = {rolling} }}\n\
             [bodies.table]\nkind = \"fixed\"\nshape = {{ box = [4, 4, 0.2] }}\nposition = [0, 0, -0.1]\n\
             [bodies.box]\nkind = \"rigid-body\"\nmass = 0.8\nshape = {{ box = [0.2, 0.2, 0.1] }}\nposition = [0, 0, 0.05]\n\
             [bodies.ball]\nkind = \"rigid-body\"\nmass = 0.5\nshape = {{ sphere = 0.05 }}\nposition = [0.02, 0.01, 0.16]\n\
             velocity = [{across}, 0.5, -4]\n",
            10.0 * step
        );
        let report = common::finish(written(&text, &[]), 1).report;
        let energy = report.energy.expect("a ledger");
        let lost = energy.initial - energy.final_;
        assert!(lost > 0.2 * energy.initial, "{lost} of {}", energy.initial);
        close("heat", energy.dissipated, lost, 1e-10 * energy.initial);
    }
}

/// A ball in a corner without weight: what is left of its velocity into the walls is rounding, which no force must stop.
#[test]
fn a_ball_that_leaves_a_corner_without_weight_goes_on() {
    for (vx, vy, wy) in [(-1.3, 4.1, 2.0), (-0.4, -7.9, -3.1), (-5.2, 0.7, 1.1), (-2.6, 9.4, 0.3)] {
        let text = format!(
            "[simulation]\nduration = 0.5\nstep = 0.01\nintegrator = \"implicit-euler\"\n\
             [bodies.b]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 1.3\nposition = [0.1, 0, 0.104]\n\
             velocity = [{vx}, {vy}, -3.3]\nangular_velocity = [3.1, {wy}, 1.7]\n\
             [elements.f]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
             normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.35 }}\n\
             [elements.w]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [1, 0, 0], offset = 0 }} }}\n\
             normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.35 }}\n"
        );
        let mut ball = written(&text, &[]);
        ball.advance(50).unwrap_or_else(|error| panic!("{vx}, {vy}: {error}"));
        // Nothing pulls it back: it keeps clear of both walls.
        let position = ball.position(ball.body("b").unwrap());
        assert!(position[0] >= 0.1 - 1e-12 && position[2] >= 0.1 - 1e-12, "{position:?}");
    }
}
