//! Loads and limits that `check` states, against statics by hand.

use stickslip::Simulation;
use stickslip::advice::{Advice, FrictionLine, Glance, advise};
use stickslip::scenario::Scenario;

const G: f64 = 9.81;

fn advice(text: &str) -> Advice {
    advise(&Simulation::new(Scenario::parse(text, "test.toml", &[]).unwrap()).unwrap())
}

fn line<'a>(advice: &'a Advice, name: &str) -> &'a FrictionLine {
    advice.frictions.iter().find(|line| line.element == name).unwrap()
}

/// Load and limit of a friction.
#[track_caller]
fn holds(advice: &Advice, name: &str, load: f64, limit: f64) {
    let line = line(advice, name);
    for (found, expected) in [(line.peak_load, load), (line.holding_limit, limit)] {
        let found = found.unwrap_or_else(|| panic!("{name}: {line:?}"));
        assert!(
            (found - expected).abs() <= 1e-7 * expected.abs().max(1e-3),
            "{name}: {found} in place of {expected}: {line:?}"
        );
    }
}

fn scenario(integrator: &str, rest: &str) -> String {
    format!("[simulation]\nduration = 3\nstep = 0.001\nintegrator = \"{integrator}\"\ngravity = [0, 0, -{G}]\n{rest}")
}

fn cuboid(name: &str, mass: f64, position: [f64; 3], more: &str) -> String {
    format!(
        "[bodies.{name}]\nkind = \"rigid-body\"\nshape = {{ box = [0.4, 0.3, 0.2] }}\nmass = {mass}\nposition = {position:?}\n{more}\n"
    )
}

fn on_plane(name: &str, between: [&str; 2], offset: f64, normal: &str, mu: f64) -> String {
    let friction = if normal == "rigid" { "implicit" } else { "proxy" };
    let normal = if normal == "rigid" {
        "{ law = \"rigid\" }".to_string()
    } else {
        format!("{{ law = \"{normal}\", stiffness = 1e6 }}")
    };
    format!(
        "[elements.{name}]\nkind = \"contact\"\nbetween = {between:?}\nsurface = {{ plane = {{ normal = [0, 0, 1], offset = {offset} }} }}\n\
         normal = {normal}\nfriction = {{ law = \"{friction}\", mu = {mu} }}\n"
    )
}

#[test]
fn every_contact_of_a_stack_carries_the_weight_above_it() {
    let masses = [7.0, 0.5, 4.0, 1.25];
    let mut text = scenario("implicit-euler", "");
    for (i, mass) in masses.iter().enumerate() {
        // Not one straight above the other: the normal forces at the corners differ.
        let shift = [0.0, 0.03, -0.02, 0.01][i];
        let force = if i == 3 { "force = [\"2*sin(3*t)\", 0, 0]" } else { "" };
        text += &cuboid(&format!("b{i}"), *mass, [shift, 0.0, 0.1 + 0.2 * i as f64], force);
        let below = if i == 0 {
            "ground".to_string()
        } else {
            format!("b{}", i - 1)
        };
        text += &on_plane(
            &format!("c{i}"),
            [&format!("b{i}"), &below],
            if i == 0 { 0.0 } else { 0.1 },
            "rigid",
            0.4,
        );
    }
    let advice = advice(&text);
    for i in 0..masses.len() {
        let above: f64 = masses[i..].iter().sum();
        let line = line(&advice, &format!("c{i}"));
        let (load, limit) = (line.peak_load.unwrap(), line.holding_limit.unwrap());
        assert!((limit - 0.4 * above * G).abs() < 1e-7 * limit, "{line:?}");
        // The side force goes through every contact below; it peaks between two samples.
        assert!((load - 2.0).abs() < 1e-5, "{line:?}");
    }
}

#[test]
fn a_box_on_a_slope_rests_on_redundant_corners() {
    let (mass, angle, mu) = (3.0, 0.35_f64, 0.6);
    let gravity = [-G * angle.sin(), 0.0, -G * angle.cos()];
    for (integrator, normal) in [("implicit-euler", "rigid"), ("rk4", "kelvin-voigt")] {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 1e-4\nintegrator = \"{integrator}\"\ngravity = {gravity:?}\n{}{}",
            cuboid("box", mass, [0.0, 0.0, 0.1], ""),
            on_plane("slope", ["box", "ground"], 0.0, normal, mu)
        );
        let advice = advice(&text);
        let weight = mass * G;
        holds(&advice, "slope", weight * angle.sin(), mu * weight * angle.cos());
        let margin = line(&advice, "slope").stick_margin.unwrap();
        assert!((margin - (1.0 - angle.tan() / mu)).abs() < 1e-9);
    }
}

const FLOOR: &str = "[bodies.floor]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1] } }\n";

fn contacts(mu: f64, more: &str) -> String {
    format!("[contacts]\nfriction = {{ law = \"implicit\", mu = {mu} }}\n{more}\n")
}

/// The line of two bodies of a scene, in either order.
#[track_caller]
fn pair<'a>(advice: &'a Advice, names: [&str; 2]) -> &'a FrictionLine {
    let about = |line: &&FrictionLine| {
        let between = line.between.as_ref();
        between.is_some_and(|between| names.iter().all(|name| between.iter().any(|other| other == name)))
    };
    let found = advice.frictions.iter().find(about);
    found.unwrap_or_else(|| panic!("{names:?}: {:?}", advice.frictions))
}

/// Boxes on each other, the uppermost pushed aside: each pair carries the weight above it and the push. The program finds who touches whom.
#[test]
fn every_pair_of_a_scene_that_touches_has_its_margin() {
    let (masses, mu, push) = ([6.0, 1.5, 2.25], 0.35, 3.2);
    let mut text = scenario("implicit-euler", "") + &contacts(mu, "") + FLOOR;
    for (i, mass) in masses.iter().enumerate() {
        let force = if i == 2 {
            format!("force = [{push}, 0, 0]")
        } else {
            String::new()
        };
        text += &cuboid(&format!("b{i}"), *mass, [0.0, 0.0, 0.1 + 0.2 * i as f64], &force);
    }
    // In the air, and beside the others: nothing to say of them.
    text += &cuboid("flies", 1.0, [0.0, 0.0, 3.0], "velocity = [0, 0, -2]");
    let advice = advice(&text);
    assert_eq!(advice.frictions.len(), 3, "{:?}", advice.frictions);
    for i in 0..masses.len() {
        let below = if i == 0 {
            "floor".to_string()
        } else {
            format!("b{}", i - 1)
        };
        let line = pair(&advice, [&format!("b{i}"), &below]);
        let limit = mu * G * masses[i..].iter().sum::<f64>();
        for (found, expected) in [
            (line.peak_load, push),
            (line.holding_limit, limit),
            (line.stick_margin, 1.0 - push / limit),
        ] {
            assert!((found.unwrap() - expected).abs() < 1e-7 * expected, "{line:?}");
        }
        assert_eq!((line.element.as_str(), line.holds), ("contacts", Some(true)));
    }
}

/// On a slope the margin is 1 − tan α/μ, of materials that of their pair.
#[test]
fn a_box_of_a_scene_on_a_slope_has_the_margin_of_its_materials() {
    let angle = 0.28_f64;
    let gravity = [-G * angle.sin(), 0.0, -G * angle.cos()];
    let materials = "[materials.felt]\nmu = 0.1\n[materials.ice]\nmu = 0.1\n";
    for (pairs, mu) in [
        ("", 0.1),
        ("[[contacts.materials]]\npair = [\"felt\", \"ice\"]\nmu = 0.44\n", 0.44),
    ] {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-midpoint\"\ngravity = {gravity:?}\n{}{materials}{}material = \"ice\"\n{}",
            contacts(0.9, pairs),
            FLOOR,
            cuboid("box", 3.0, [0.0, 0.0, 0.1], "material = \"felt\"")
        );
        let advice = advice(&text);
        let line = pair(&advice, ["box", "floor"]);
        let margin = line.stick_margin.unwrap();
        assert!((margin - (1.0 - angle.tan() / mu)).abs() < 1e-9, "{mu}: {line:?}");
        assert_eq!(line.holds, Some(mu > angle.tan()));
    }
}

#[test]
fn a_ball_in_a_groove_presses_both_sides_and_needs_no_friction() {
    let (mass, half) = (2.0, 0.6_f64);
    let (s, c) = half.sin_cos();
    let side = |name: &str, x: f64| {
        format!(
            "[elements.{name}]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
             surface = {{ plane = {{ normal = [{x}, 0, {s}] }} }}\nnormal = {{ law = \"rigid\" }}\n\
             friction = {{ law = \"implicit\", mu = 0.5 }}\n"
        )
    };
    let text = scenario("implicit-euler", "")
        + &format!(
            "[bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = {mass}\nposition = [0, 0, {}]\n",
            0.1 / s
        )
        + &side("left", c)
        + &side("right", -c);
    let advice = advice(&text);
    for name in ["left", "right"] {
        holds(&advice, name, 0.0, 0.5 * mass * G / (2.0 * s));
        assert_eq!(line(&advice, name).holds, Some(true));
    }
}

#[test]
fn a_ball_on_a_slope_rolls_with_two_sevenths_of_the_pull() {
    let gravity = [3.0, 0.0, -9.0];
    let text = format!(
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-euler\"\ngravity = {gravity:?}\n\
         [bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.2 }}\nmass = 5\nposition = [0, 0, 0.2]\n{}",
        on_plane("floor", ["ball", "ground"], 0.0, "rigid", 0.3)
    );
    let advice = advice(&text);
    holds(&advice, "floor", 2.0 / 7.0 * 5.0 * 3.0, 0.3 * 5.0 * 9.0);
    let words = &line(&advice, "floor").counted;
    assert!(words.contains("rolls or tips"), "{words}");
}

#[test]
fn a_force_beside_the_centre_is_borne_by_some_corners_only() {
    // Weight W at the centre and F down at 0.18 of 0.2: no corner may pull, and the sum is W + F.
    let (mass, push) = (1.0, 40.0);
    let torque = push * 0.18;
    let more = format!("force = [0, 0, -{push}]\ntorque = [0, {torque}, 0]");
    let text = scenario("implicit-euler", "")
        + &cuboid("box", mass, [0.0, 0.0, 0.1], &more)
        + &on_plane("floor", ["box", "ground"], 0.0, "rigid", 0.25);
    holds(&advice(&text), "floor", 0.0, 0.25 * (mass * G + push));
}

#[test]
fn a_table_that_shakes_carries_its_load_along() {
    let text = scenario(
        "implicit-euler",
        r#"
        [bodies.block]
        kind = "mass"
        mass = 2
        position = [0, 0, 0]
        force = [3, 0, 0]
        [bodies.table]
        kind = "driver"
        position = ["0.002*sin(20*t)", 0, 0]
        [elements.top]
        kind = "contact"
        between = ["block", "table"]
        surface = { plane = { normal = [0, 0, 1] } }
        normal = { law = "rigid" }
        friction = { law = "implicit", mu = 0.5 }
        "#,
    );
    let advice = advice(&text);
    let line = line(&advice, "top");
    assert!((line.holding_limit.unwrap() - 0.5 * 2.0 * G).abs() < 1e-7, "{line:?}");
    // Pulled by 3 N, and carried along by the table: 2 kg at 0.002·20² m/s².
    assert!(
        (line.peak_load.unwrap() - (3.0 + 2.0 * 0.002 * 400.0)).abs() < 2e-3,
        "{line:?}"
    );
    assert!(line.counted.contains("acceleration of drivers"), "{}", line.counted);
}

#[test]
fn a_link_presses_by_its_weight_and_its_motor() {
    // A rod hinged at one end, a ball at its middle on the floor: N·0.5 = m·g·0.5 + 3 Nm.
    let text = scenario(
        "implicit-euler",
        r#"
        [bodies.arm]
        kind = "linkage"
        links = [ { name = "rod", parent = "ground", joint = "hinge", type = "revolute", axis = [0, 1, 0], mass = 6,
                    com = [0.5, 0, 0], inertia = [0.001, 0.5, 0.5], shape = { sphere = 0.1 } } ]
        [elements.motor]
        kind = "actuator"
        on = "arm.hinge"
        value = 3
        [elements.floor]
        kind = "contact"
        between = ["arm.rod", "ground"]
        surface = { plane = { normal = [0, 0, 1], offset = -0.1 } }
        normal = { law = "rigid" }
        friction = { law = "implicit", mu = 0.2 }
        "#,
    );
    holds(&advice(&text), "floor", 0.0, 0.2 * (6.0 * G + 6.0));
}

fn dragged(position: &str, step: f64, damping: f64) -> Advice {
    advice(&format!(
        "[simulation]\nduration = 2\nstep = {step}\nintegrator = \"implicit-euler\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 1\n[bodies.hook]\nkind = \"driver\"\nposition = \"{position}\"\n\
         [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 30\ndamping = {damping}\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 50\n"
    ))
}

#[test]
fn a_reference_that_jumps_loads_by_its_jump_over_the_step() {
    // 0.4 m at once, at a time between two steps: the spring feels 30·0.4, the damper 5·0.4/step for one step.
    for step in [1e-3, 4e-3] {
        let advice = dragged("if(t < 0.7321, 0, 0.4)", step, 5.0);
        holds(&advice, "floor", 30.0 * 0.4 + 5.0 * 0.4 / step, 50.0);
        let words = &line(&advice, "floor").counted;
        assert!(words.contains("for one step, at most 12 N otherwise"), "{words}");
    }
    // Without a damper there is nothing sudden to tell of.
    let advice = dragged("if(t < 0.7321, 0, 0.4)", 1e-3, 0.0);
    holds(&advice, "floor", 12.0, 50.0);
    assert!(!line(&advice, "floor").counted.contains("jumps"));
    // A smooth motion has its own velocity.
    let advice = dragged("0.1*sin(4*t)", 1e-3, 5.0);
    let peak = (f64::hypot(30.0 * 0.1, 5.0 * 0.1 * 4.0) - line(&advice, "floor").peak_load.unwrap()).abs();
    assert!(peak < 1e-4, "{peak}");
}

#[test]
fn a_limit_of_nothing_holds_nothing() {
    let floor = |force: f64| {
        advice(&scenario(
            "implicit-euler",
            &format!(
                "[bodies.block]\nkind = \"mass\"\nmass = 1\nforce = {force}\n[elements.floor]\nkind = \"friction\"\n\
                 between = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 0\n"
            ),
        ))
    };
    let idle = floor(0.0);
    let line = line(&idle, "floor");
    assert_eq!((line.stick_margin, line.holds), (None, Some(true)));
    let pushed = floor(2.0);
    let line = self::line(&pushed, "floor");
    assert_eq!(
        (line.stick_margin, line.holds, line.peak_load),
        (None, Some(false), Some(2.0))
    );
    let json = serde_json::to_string(&pushed).unwrap();
    assert!(!json.contains("inf") && !json.contains("NaN"), "{json}");
}

#[test]
fn a_friction_takes_the_normal_force_of_a_stop_that_a_spring_presses() {
    let text = scenario(
        "implicit-euler",
        r#"
        [bodies.post]
        kind = "mass"
        mass = 4
        axis = [0, 0, 1]
        [bodies.slider]
        kind = "mass"
        mass = 1
        force = 5
        [bodies.pusher]
        kind = "driver"
        position = -0.02
        [elements.press]
        kind = "spring"
        between = ["post", "pusher"]
        stiffness = 500
        [elements.seat]
        kind = "stop"
        between = ["post", "ground"]
        lower = 0
        normal = { law = "rigid" }
        [elements.guide]
        kind = "friction"
        between = ["slider", "ground"]
        law = "implicit"
        mu = 0.3
        normal_force = { element = "seat" }
        "#,
    );
    // The weight of the post, and a spring that is stretched by 20 mm.
    holds(&advice(&text), "guide", 5.0, 0.3 * (4.0 * G + 10.0));
}

#[test]
fn a_thousand_boxes_and_a_long_arm_are_checked_in_little_time() {
    let mut text = scenario("implicit-euler", "");
    for i in 0..1000 {
        let x = i as f64;
        text += &cuboid(&format!("b{i}"), 1.0 + x, [x, 0.0, 0.1], "force = [\"sin(t)\", 0, 0]");
        text += &on_plane(&format!("c{i}"), [&format!("b{i}"), "ground"], 0.0, "rigid", 0.5);
    }
    let advice = advice(&text);
    let last = line(&advice, "c999").holding_limit.unwrap();
    assert!((last - 0.5 * 1000.0 * G).abs() < 1e-6 * last);
}

/// Motor and load turn together, so the torques 2.4 and 14/4 of the two frictions hold the motor against 5.9: either both hold or
/// neither does.
#[test]
fn frictions_on_both_sides_of_a_gear_slip_together() {
    let text = |torque: f64, inertia: f64, rigid: bool| {
        format!(
            "[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"implicit-euler\"\n\
             [bodies.motor]\nkind = \"inertia\"\ninertia = 0.02\ntorque = {torque}\n\
             [bodies.load]\nkind = \"inertia\"\ninertia = {inertia}\n\
             [elements.mesh]\nkind = \"gear\"\nbetween = [\"motor\", \"load\"]\nratio = [1, 4]\nrigid = {rigid}\n\
             [elements.brush]\nkind = \"friction\"\nbetween = [\"motor\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 2.4\n\
             [elements.seal]\nkind = \"friction\"\nbetween = [\"load\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 14\n"
        )
    };
    let rigs = [(4.72, 0.3), (4.72, 20.0), (5.9 * 1.25, 1.0)];
    for ((torque, inertia), rigid) in rigs.into_iter().flat_map(|rig| [(rig, false), (rig, true)]) {
        let advice = advice(&text(torque, inertia, rigid));
        let part = torque / 5.9;
        holds(&advice, "brush", part * 2.4, 2.4);
        holds(&advice, "seal", part * 14.0, 14.0);
    }
}

/// Two brakes on one block: 30 N of 40 N, whichever way they are split they hold.
#[test]
fn frictions_side_by_side_slip_together() {
    let brake = |name: &str, limit: f64| {
        format!(
            "[elements.{name}]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = {limit}\n"
        )
    };
    let text = scenario(
        "implicit-euler",
        "[bodies.block]\nkind = \"mass\"\nmass = 3\nforce = 30\n",
    );
    let advice = advice(&(text + &brake("weak", 4.0) + &brake("strong", 36.0)));
    holds(&advice, "weak", 3.0, 4.0);
    holds(&advice, "strong", 27.0, 36.0);
}

/// A pile of plates, each rubbing on the one below: the push on the top plate goes through all of them.
#[test]
fn many_frictions_in_a_row_are_checked_and_too_many_are_counted() {
    let pile = |plates: usize| {
        let mut text = scenario("rk4", "");
        for i in 0..plates {
            let below = if i == 0 {
                "ground".to_string()
            } else {
                format!("p{}", i - 1)
            };
            let push = if i + 1 == plates { "force = 0.7\n" } else { "" };
            text += &format!(
                "[bodies.p{i}]\nkind = \"mass\"\nmass = 0.3\n{push}[elements.f{i}]\nkind = \"friction\"\n\
                 between = [\"p{i}\", \"{below}\"]\nlaw = \"lugre\"\nkinetic = 2.5\nstiffness = 1e4\n"
            );
        }
        advice(&text)
    };
    let some = pile(400);
    for name in ["f0", "f200", "f399"] {
        let line = line(&some, name);
        let load = line.peak_load.unwrap();
        assert!((load - 0.7).abs() < 1e-6 && line.holding_limit == Some(2.5), "{line:?}");
    }
    let many = pile(1100);
    let words = &line(&many, "f500").counted;
    assert!(words.starts_with("not estimated: 1100 directions"), "{words}");
}

/// `check` builds a part of a chain and refuses what `run` does.
#[test]
fn what_is_wrong_far_down_a_chain_is_found_by_check() {
    let chain = |more: &str| {
        format!(
            "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"implicit-euler\"\n[chain]\ncount = 60000\n\
             neighbour = {{ stiffness = 1000 }}\ndrive = {{ stiffness = 1, velocity = 0.1 }}\n{more}\n\
             [chain.friction]\nlaw = \"implicit\"\nkinetic = 1\n"
        )
    };
    let root = "body = { mass = 1, position = \"sqrt(40000 - i)\" }";
    let count = "body = { mass = 1, velocity = \"1/(n - 60000)\" }";
    for (more, words) in [(root, "position of block 40001"), (count, "velocity of block 0")] {
        let scenario = || Scenario::parse(&chain(more), "chain.toml", &[]).unwrap();
        let built = Simulation::new(scenario()).err().unwrap().to_string();
        let looked_at = Glance::new(scenario()).err().unwrap().to_string();
        assert_eq!(built, looked_at);
        assert!(built.contains(words), "{built}");
    }
}

/// The same where numbers are drawn: the step just stable for the first blocks is not for all of them.
#[test]
fn the_stiffest_of_all_blocks_decides_in_check_too() {
    let chain = |mass: f64| {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"implicit-euler\"\n[chain]\ncount = 100000\n\
             body = {{ mass = {mass} }}\nneighbour = {{ stiffness = 1000 }}\ndrive = {{ stiffness = 1, velocity = 0.1 }}\n\
             spread = {{ mass = 0.9, seed = 5 }}\n[chain.friction]\nlaw = \"implicit\"\nkinetic = 1\n"
        );
        Scenario::parse(&text, "chain.toml", &[]).unwrap()
    };
    let (mut seen, mut mass) = ([false; 2], 0.9);
    // From surely unstable to surely stable: 4·1000/(0.1·m) 1/s² is 40 000 1/s² at m = 1.
    while mass < 1.05 {
        let stable = Simulation::new(chain(mass)).is_ok();
        assert_eq!(Glance::new(chain(mass)).is_ok(), stable, "{mass}");
        seen[usize::from(stable)] = true;
        mass += 0.002;
    }
    assert_eq!(seen, [true; 2]);
}

/// A bristle so soft that eight of its periods are more steps than can be counted.
#[test]
fn a_bristle_of_any_softness_is_looked_at() {
    for stiffness in ["1e-300", "1e-60", "1e-30", "1e-20"] {
        let text = format!(
            "[simulation]\nduration = 1e4\nstep = 1e-4\nintegrator = \"rk4\"\n[bodies.block]\nkind = \"mass\"\nmass = 2\n\
             force = \"3*sin(7*t)\"\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"lugre\"\n\
             kinetic = 4\nstiffness = {stiffness}\n"
        );
        let advice = advice(&text);
        assert_eq!(line(&advice, "floor").load_line, None, "{stiffness}");
    }
}

/// A pulse far shorter than the time between two looks is met where its table bends: 7 N, held by 10 N.
#[test]
fn a_short_pulse_is_not_missed() {
    let text = "[simulation]\nduration = 100\nstep = 1e-3\nintegrator = \"implicit-euler\"\n[bodies.block]\nkind = \"mass\"\nmass = 2\n\
                force = { times = [3.333, 3.334, 3.336, 3.337], values = [0, 7, 7, 0] }\n\
                [elements.floor]\nkind = \"friction\"\non = \"block\"\nlaw = \"implicit\"\nkinetic = 10\n";
    holds(&advice(text), "floor", 7.0, 10.0);
}
