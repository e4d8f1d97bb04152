//! `stickslip experiment`: numbers against closed forms.

mod common;

use common::Folder;
use serde_json::Value;

/// What an experiment finds for each law.
fn tried(folder: &Folder, name: &str, laws: &str, more: &[&str]) -> Vec<Value> {
    let arguments = [&["experiment", name, "--law", laws, "--json"][..], more].concat();
    let report = folder.run(&arguments).ok().json();
    assert_eq!(report["experiment"], name);
    report["laws"].as_array().unwrap().clone()
}

#[track_caller]
fn near(law: &Value, number: &str, expected: f64, tolerance: f64) {
    let found = law["numbers"][number]
        .as_f64()
        .unwrap_or_else(|| panic!("no {number} in {law}"));
    let name = &law["law"];
    assert!(
        (found - expected).abs() <= tolerance,
        "{name}: {number} is {found} and not {expected}"
    );
}

/// Friction falls from 12 N to 10 N: F(v) = 10 + 2 exp(-(v/v_s)²).
fn curve(speed: f64, stribeck: f64) -> f64 {
    10.0 + 2.0 * (-(speed / stribeck).powi(2)).exp()
}

#[test]
fn plateaus_lie_on_the_steady_curve() {
    let folder = Folder::new("experiment-step");
    for law in tried(
        &folder,
        "velocity-step",
        "implicit,lugre,dahl,proxy,relaxed,martins-oden,quinn",
        &[],
    ) {
        near(&law, "plateau_1_mm_s", curve(1e-3, 0.01), 1e-3);
        near(&law, "plateau_100_mm_s", 10.0, 1e-6);
        near(&law, "plateau_after", curve(1e-3, 0.01), 1e-3);
        near(&law, "static_peak", curve(1e-3, 0.01), 0.02);
        // At the step the bristle carries g(1 mm/s), yields at the rate v (1 - g(1 mm/s)/10 N), which its damper resists,
        // and relaxes at K v/10 N = 1000 1/s. It is first read 0.2 ms later, of which rk4 gave a sixth of a step the old speed.
        let left = (curve(1e-3, 0.01) - 10.0) * (-0.2f64 + 0.1 / 6.0).exp();
        match law["law"].as_str().unwrap() {
            "dahl" => near(&law, "transient_at_step", left, 0.01),
            "lugre" => near(&law, "transient_at_step", left - 300.0 * 0.1 * left / 10.0, 0.01),
            _ => near(&law, "transient_at_step", 0.0, 1e-9),
        }
    }
}

#[test]
fn no_time_no_recovery() {
    let folder = Folder::new("experiment-hold");
    // None of these laws knows time at rest, so the peak after a hold is that of a first slide, however long it was.
    for law in tried(&folder, "slide-hold-slide", "implicit,lugre,dahl", &[]) {
        near(&law, "plateau", curve(0.01, 0.01), 1e-3);
        let short = law["numbers"]["recovery_0.1_s"].as_f64().unwrap();
        near(&law, "recovery_10_s", short, 1e-6);
    }
}

#[test]
fn loops_have_the_area_of_their_closed_form() {
    let folder = Folder::new("experiment-loop");
    let laws = tried(&folder, "presliding", "implicit,dahl,lugre,proxy,relaxed", &[]);
    // Coulomb: 4 A F. Whatever the displacement, the force is the limit.
    near(&laws[0], "loop_400_um", 4.0 * 4e-4 * 10.0, 4e-6);
    near(&laws[0], "loop_20_um", 4.0 * 2e-5 * 10.0, 4e-7);
    // Dahl: f' = K (1 - f/F) along the motion; the loop closes at ±F tanh(K A/F).
    let area = |reach: f64| {
        let (stiffness, limit) = (1e5, 10.0f64);
        let end = limit * (stiffness * reach / limit).tanh();
        let rest = (limit + end) * limit / stiffness * (1.0 - (-2.0 * stiffness * reach / limit).exp());
        2.0 * (2.0 * reach * limit - rest)
    };
    near(&laws[1], "loop_400_um", area(4e-4), 1e-3 * area(4e-4));
    near(&laws[1], "loop_20_um", area(2e-5), 5e-3 * area(2e-5));
    near(&laws[2], "loop_400_um", area(4e-4), 0.02 * area(4e-4));
    // Elastic below the limit: f = K x, no loop but that of the damper, pi B omega A².
    let damper = std::f64::consts::PI * 300.0 * 0.1 * std::f64::consts::PI * 2e-5f64.powi(2);
    near(&laws[3], "loop_20_um", damper, 0.02 * damper);
    near(&laws[4], "loop_20_um", damper, 0.05 * damper);
    // A slider behind a spring: 4 F (A - F/K).
    near(&laws[3], "loop_400_um", 4.0 * 10.0 * (4e-4 - 1e-4), 0.01 * 0.012);
    for law in &laws[1..] {
        near(law, "stiffness_at_rest", 1e5, 3e3);
    }
}

#[test]
fn who_drifts_and_who_does_not() {
    let folder = Folder::new("experiment-drift");
    let laws = tried(&folder, "no-drift", "all", &[]);
    let drift = |name: &str| {
        let law = laws.iter().find(|law| law["law"] == name).unwrap();
        law["numbers"]["drift"].as_f64().unwrap()
    };
    assert_eq!(drift("implicit"), 0.0);
    assert!(drift("proxy").abs() < 1e-12, "{}", drift("proxy"));
    assert!(drift("relaxed").abs() < 1e-12, "{}", drift("relaxed"));
    // Bristles that always yield creep in the direction of the load.
    assert!(drift("dahl") > 1e-6 && drift("lugre") > 1e-6);
    // Viscosity in place of dry friction: epsilon times load over limit, 1 mm/s * 6/10.
    assert!((drift("martins-oden") - 6e-4).abs() < 1e-5, "{}", drift("martins-oden"));
}

#[test]
fn a_spring_slider_has_the_cycle_of_its_closed_form() {
    let folder = Folder::new("experiment-cycle");
    // Slip is a free vibration that begins 2 N above the kinetic force with the speed of the hook against it: the
    // spring force swings by 2 sqrt(2² + k m v²); the slip lasts 2 (pi - atan(omega*2/(k v)))/omega, the stick 2*2/(k v).
    let (stiffness, speed, drop, omega) = (100.0f64, 0.1, 2.0, 10.0);
    let amplitude = 2.0 * (drop * drop + stiffness * speed * speed).sqrt();
    let slip = 2.0 * (std::f64::consts::PI - (omega * drop / (stiffness * speed)).atan()) / omega;
    let period = slip + 2.0 * drop / (stiffness * speed);
    let laws = tried(&folder, "stick-slip", "implicit", &[]);
    near(&laws[0], "amplitude", amplitude, 0.02);
    near(&laws[0], "period", period, 2e-3);
    near(&laws[0], "peak", 10.0 + 0.5 * amplitude, 0.02);
    near(&laws[0], "minimum", 10.0 - 0.5 * amplitude, 0.02);
    // No difference between rest and motion, no cycle.
    let laws = tried(
        &folder,
        "stick-slip",
        "implicit",
        &["--set", "elements.floor.static=10"],
    );
    assert!(laws[0]["numbers"]["amplitude"].as_f64().unwrap() < 2.1, "{}", laws[0]);
}

#[test]
fn bristles_lag_as_their_linear_form_says() {
    let folder = Folder::new("experiment-lag");
    let laws = tried(&folder, "frictional-lag", "implicit,dahl,lugre", &[]);
    near(&laws[0], "lag", 0.0, 1e-4);
    near(&laws[0], "loop_width", 0.0, 1e-2);
    // About a speed v the bristle follows the curve with the time constant g/(K v); damping B leads by B/K:
    // force over curve is (1 + s B/K)/(1 + s g/(K v)).
    let omega = 10.0 * std::f64::consts::PI;
    let slow = (omega * curve(0.02, 0.02) / (1e5 * 0.02)).atan() / omega;
    let lead = (omega * 300.0 / 1e5f64).atan() / omega;
    near(&laws[1], "lag", slow, 0.05 * slow);
    near(&laws[2], "lag", slow - lead, 0.05 * slow);
}

#[test]
fn every_law_takes_every_experiment() {
    let folder = Folder::new("experiment-all");
    for name in [
        "velocity-step",
        "slide-hold-slide",
        "presliding",
        "no-drift",
        "stick-slip",
        "frictional-lag",
    ] {
        let ran = folder
            .run(&["experiment", name, "--law", "all", "--plot", "a.svg"])
            .ok();
        assert_eq!(ran.err, "", "{name}");
        let svg = folder.read("a.svg");
        for law in [
            "implicit",
            "karnopp",
            "quinn",
            "martins-oden",
            "proxy",
            "relaxed",
            "dahl",
            "lugre",
        ] {
            assert!(
                ran.out.contains(law) && svg.contains(law),
                "{name}: no {law} in\n{}",
                ran.out
            );
        }
        assert!(
            ran.out.contains("epsilon = 1e-3 m/s"),
            "what was chosen is not said:\n{}",
            ran.out
        );
    }
}

#[test]
fn wrong_input_is_refused() {
    let folder = Folder::new("experiment-wrong");
    folder
        .run(&["experiment", "presliding", "--law", "lugree"])
        .fails(2, &["did you mean \"lugre\""]);
    folder
        .run(&["experiment", "preslidin", "--law", "lugre"])
        .fails(2, &["did you mean \"presliding\"", "no-drift"]);
    folder.run(&["experiment", "presliding"]).fails(2, &["--law"]);
    folder
        .run(&[
            "experiment",
            "presliding",
            "--law",
            "lugre",
            "--set",
            "elements.flor.kinetic=3",
        ])
        .fails(2, &["elements.floor.kinetic"]);
    folder
        .run(&["experiment", "presliding", "--law", "lugre", "--plot", "a.pdf"])
        .fails(2, &[".svg or .png"]);
}

/// The limits of the friction and its parameters are printed as the run had them.
#[test]
fn what_the_friction_had_is_printed() {
    let folder = Folder::new("experiment-given");
    let change = [
        "--set",
        "elements.floor.eta=0.25",
        "--set",
        "elements.floor.mu_static=0.14",
    ];
    let law = &tried(&folder, "velocity-step", "subloading", &change)[0];
    for (name, value) in [
        ("mu_static", "0.14"),
        ("mu_kinetic", "0.1"),
        ("normal_force", "100 N"),
        ("eta", "0.25 1/s"),
        ("kappa", "2e3 1/m"),
    ] {
        assert_eq!(law["given"][name], value, "{law}");
    }
    let law = &tried(&folder, "velocity-step", "lugre", &[])[0];
    assert_eq!(
        (&law["given"]["kinetic"], &law["given"]["static"]),
        (&"10 N".into(), &"12 N".into())
    );
}

#[test]
fn the_table_says_what_was_measured_and_what_the_friction_had() {
    let folder = Folder::new("experiment-table");
    let ran = folder.run(&["experiment", "velocity-step", "--law", "lugre"]).ok();
    for word in ["plateau 1 mm/s", "plateau 100 mm/s", "stribeck_velocity = 0.01 m/s"] {
        assert!(ran.out.contains(word), "no {word:?} in:\n{}", ran.out);
    }
    let changed = ["--set", "elements.floor.stribeck_velocity=\"5 mm/s\""];
    let given = &tried(&folder, "velocity-step", "lugre", &changed)[0]["given"];
    assert_eq!(given["stribeck_velocity"], "0.005 m/s");
    // No steady curve, no Stribeck velocity.
    let given = &tried(&folder, "no-drift", "subloading", &[])[0]["given"];
    assert!(
        given["mu_static"].is_string() && given["stribeck_velocity"].is_null(),
        "{given}"
    );
    let takes = |law: &str| {
        folder
            .run(&["laws", law])
            .ok()
            .out
            .contains("it takes no stribeck_velocity")
    };
    assert!(takes("subloading") && !takes("lugre"));
}

/// The text of an experiment is seen by nobody: what is wrong is shown at the argument.
#[test]
fn a_change_that_does_not_fit_is_shown_where_it_was_made() {
    let folder = Folder::new("experiment-blame");
    let with = |change: &str| {
        let change = format!("elements.floor.{change}");
        folder.run(&["experiment", "stick-slip", "--law", "lugre", "--set", &change])
    };
    for (change, words) in [
        (
            "static=8",
            &["--set elements.floor.static=8", "`static` (8) is below"][..],
        ),
        ("law=dahl", &["--law dahl"]),
        ("kind=spring", &["needs its friction"]),
        (
            "kinetic=-3",
            &["--set elements.floor.kinetic=-3", "must not be negative"],
        ),
    ] {
        let ran = with(change).fails(2, words);
        assert!(!ran.err.contains("--> experiment"), "{}", ran.err);
    }
    // What is given alone takes the static limit along: it is a fifth above.
    for (change, limit, value) in [
        ("kinetic=\"30 N\"", "static", "36 N"),
        ("mu=0.4", "mu_static", "0.48"),
        ("mu_kinetic=0.25", "mu_static", "0.3"),
    ] {
        let change = format!("elements.floor.{change}");
        let normal = ["--set", &change, "--set", "elements.floor.normal_force=\"50 N\""];
        let sets = if limit == "static" { &normal[..2] } else { &normal[..] };
        for law in ["lugre", "implicit"] {
            assert_eq!(
                tried(&folder, "stick-slip", law, sets)[0]["given"][limit],
                value,
                "{law} {change}"
            );
        }
    }
    // 4 N at any speed.
    with("curve=\"4 + 0*v\"").ok();
    with("table={speed=[0, 1], force=[4, 4]}").ok();
}
