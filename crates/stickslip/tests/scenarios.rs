//! Every scenario of the repository runs, and those of real uses do what their comments say, against hand calculations.

mod common;

use common::{close, run, simulation};
use stickslip::trace::Columns;

#[test]
fn every_scenario_runs_to_its_end() {
    let directory = common::scenario_path("");
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{name} does not say what it shows");
        let mut simulation = simulation(name, &[]);
        assert!(!simulation.scenario().title.is_empty(), "{name} has no title");
        // The parameters of seed 003, section 4.2, are at the margin of uniqueness, and that is to be said.
        let margin = ["fig002-3.toml", "fig003-5.toml", "fig003-8.toml", "fig003-9.toml"].contains(&name);
        // Seed 002 has no contact time.
        let undamped = name == "fig002-3.toml";
        // What the paper on model P shows with them: ε far below T·F/M = 0.01 m/s, and friction that overshoots.
        let overshoots = ["fig000-8-k3.toml", "fig000-8-q3.toml"].contains(&name);
        assert_eq!(
            simulation.built().warnings.len(),
            usize::from(margin) + usize::from(undamped) + usize::from(overshoots),
            "{name} has warnings"
        );
        // The first tenth is enough to see that it is well posed; the tests of the figures run them whole.
        let steps = simulation.built().steps / 10;
        simulation
            .advance_observed(steps.max(1))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let columns = Columns::new(&simulation);
        let mut row = Vec::new();
        columns.read(&simulation, &mut row);
        assert!(row.iter().all(|value| value.is_finite()), "{name}");
        count += 1;
    }
    assert!(count >= 26, "{count} scenarios");
}

#[test]
fn incline_holds_at_99_percent() {
    let held = run("incline.toml", &["simulation.duration=5 s"]);
    assert!(held.column("crate.velocity").iter().all(|v| *v == 0.0));
    assert!(held.column("crate.position").iter().all(|x| *x == 0.0));
    let weight = 60.0 * 9.81 * 20f64.to_radians().sin();
    close("force", held.at("ramp.force", 5.0), -weight, 1e-10);
    let limit = 0.367646701 * 60.0 * 9.81 * 20f64.to_radians().cos();
    close("load over limit", weight / limit, 0.99, 1e-8);
    // Just too smooth: it slides with g·(sin − mu·cos).
    let slides = run("incline.toml", &["simulation.duration=5 s", "elements.ramp.mu=0.363"]);
    let pull = 9.81 * (20f64.to_radians().sin() - 0.363 * 20f64.to_radians().cos());
    close("speed", slides.at("crate.velocity", 5.0), 5.0 * pull, 1e-9);
}

#[test]
fn brake_stops_holds_and_releases() {
    let run = run("brake.toml", &[]);
    // 2·0.12 m·0.38·1200 N = 109.44 N m against 20 N m of the motor; the force rises within 0.15 s.
    let stops = run.changes("pad_friction", "stick");
    assert_eq!(stops.len(), 1);
    let slowing = |from: f64, to: f64| (to - from) * (0.24 * 0.38 * 1200.0 - 20.0) / 1.5;
    // While the force rises from 0.1 s to 0.25 s the brake gives half of it on average; the motor pulls from 0.2 s on.
    let at_full = 900.0 * std::f64::consts::PI / 30.0 - 0.24 * 0.38 * 600.0 * 0.15 / 1.5 + 20.0 * 0.05 / 1.5;
    let expected = 0.25 + at_full / (slowing(0.0, 1.0));
    close("stop", stops[0], expected, 0.01);
    let (t, v) = (run.column("t"), run.column("disc.velocity"));
    assert!(t.iter().zip(&v).all(|(t, v)| *t < stops[0] || *t > 2.99 || *v == 0.0));
    // Released at 3 s: 1 s of 20 N m on 1.5 kg m².
    close("speed at the end", run.at("disc.velocity", 4.0), 20.0 / 1.5, 0.1);
    let heat = run.element("pad_friction", "dissipated");
    let kinetic = 0.5 * 1.5 * (900.0 * std::f64::consts::PI / 30.0f64).powi(2);
    let motor = 20.0 * (stops[0] - 0.2) * 0.5 * at_full;
    close("heat", heat, kinetic + motor, 0.02 * kinetic);
}

#[test]
fn drawer_stays_between_its_stops() {
    let run = run("drawer.toml", &[]);
    let x = run.column("drawer.position");
    assert!(x.iter().all(|x| *x >= -1e-3 && *x <= 0.451));
    assert!(run.element("ends", "dissipated") > 0.0);
    assert_eq!(run.at("drawer.velocity", 2.9), 0.0);
    assert_eq!(run.at("drawer.velocity", 6.0), 0.0);
    // At rest the slides carry the spring.
    close(
        "balance",
        run.at("slides.force", 6.0),
        15.0 * run.at("drawer.position", 6.0),
        1e-9,
    );
}

#[test]
fn arm_is_held_by_friction() {
    let run = run("arm-holding.toml", &[]);
    let (t, shoulder, elbow) = (
        run.column("t"),
        run.column("arm.shoulder.velocity"),
        run.column("arm.elbow.velocity"),
    );
    for k in 0..t.len() {
        if t[k] < 2.9995 || t[k] > 3.7 {
            assert_eq!((shoulder[k], elbow[k]), (0.0, 0.0), "{} s", t[k]);
        }
    }
    // Torque of the weights about the joints, with the links at 20 and −15 degrees to the horizontal.
    let [upper, lower] = [20f64, -15.0].map(|degrees| degrees.to_radians().cos());
    let at_elbow = 9.81 * 0.5 * 0.175 * lower;
    let at_shoulder = 9.81 * (0.8 * 0.2 * upper + 0.5 * 0.4 * upper) + at_elbow;
    close("elbow", run.at("elbow_friction.force", 0.5), at_elbow, 1e-9);
    close("shoulder", run.at("shoulder_friction.force", 0.5), at_shoulder, 1e-9);
    close(
        "elbow under the tool",
        run.at("elbow_friction.force", 2.0),
        at_elbow + 1.0,
        1e-9,
    );
}

#[test]
fn drive_train_starts_when_the_torque_overcomes_both_frictions() {
    let run = run("drive-train.toml", &[]);
    let start = run.changes("table_bearing", "slip")[0];
    // The table breaks away when 50·(motor torque − motor friction) reaches 6 N m and the load; the motor's friction is
    // between kinetic and static as it creeps.
    let gear = |friction: f64| 50.0 * (0.4 * start / 3.0 - friction);
    let needed = 6.0 + 5.0 * (0.5 * start).sin();
    assert!(gear(0.04) < needed + 0.1 && gear(0.03) > needed - 0.1, "{start} s");
    let (motor, table) = (run.column("motor.position"), run.column("table.position"));
    let worst = motor.iter().zip(&table).map(|(m, t)| (m / 50.0 - t).abs());
    assert!(worst.fold(0.0, f64::max) < 1e-3);
    assert_eq!(run.at("table.velocity", 6.0), 0.0);
}

#[test]
fn parcels_on_a_conveyor() {
    let run = run("conveyor.toml", &[]);
    for t in [0.5, 1.0, 2.4] {
        assert_eq!(run.at("upper.velocity", t), run.at("belt.velocity", t));
    }
    // Cardboard carries 0.35·9.8 = 3.43 m/s², so the upper parcel slides when the belt stops with 5 m/s².
    assert_eq!(run.report.elements["belt_contact"]["transitions"], 0);
    let slides = run.changes("top_contact", "slip");
    close("slip", slides[0], 2.5, 2e-3);
    close("rest", run.changes("top_contact", "stick")[0], 2.5 + 1.5 / 3.43, 2e-3);
}

#[test]
fn press_meets_its_die_and_rests_on_it() {
    let mut press = simulation("press.toml", &[]);
    let report = stickslip::run::run(&mut press, None, stickslip::run::Options::default())
        .unwrap()
        .report;
    let last = |column: &str| report.final_[column].as_f64().unwrap();
    // (2000 − 150) N on 20 kg over 50 mm; events lie between rows.
    let stroke = (2.0 * 0.05 * 20.0 / 1850.0f64).sqrt();
    let first = report.events.iter().find(|event| event.element == "die").unwrap();
    assert_eq!((first.from, first.to), ("open", "stick"));
    close("first touch", first.t, stroke, 2e-5);
    // At rest friction carries up to 150 N either way; the die gives by 1 mm per 200 kN.
    let (push, depth) = (-last("die.force"), last("slide.position") - 0.05);
    assert!((1850.0..=2150.0).contains(&push), "{push}");
    close("depth", depth, push / 200e6, 1e-12);
    close("balance", 2000.0 - push + last("guide.force"), 0.0, 1e-3);
}

#[test]
fn stage_yields_elastically() {
    let run = run("presliding.toml", &[]);
    // Quasi-static: 1 Hz against a resonance of sqrt(1e6/0.5)/2π = 225 Hz. The damper of the bristle lags by β.
    let omega = 2.0 * std::f64::consts::PI;
    for t in [0.25, 1.25, 2.5, 3.6, 5.0] {
        let expected = 3e-6 * (omega * (t - 0.5e-3)).sin();
        close("position", run.at("stage.position", t), expected, 2e-10);
    }
    assert_eq!(run.report.events_total, 0);
}
