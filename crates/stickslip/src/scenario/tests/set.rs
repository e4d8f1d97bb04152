//! `--set`.

use super::corpus::*;
use super::*;

fn mass_of(scenario: &Scenario, name: &str) -> f64 {
    match &scenario.bodies.iter().find(|(other, _)| other == name).unwrap().1 {
        BodySpec::Mass(mass) => mass.mass,
        _ => panic!(),
    }
}

#[test]
fn numbers_units_words_and_lists() {
    let scenario = parse_with(
        BLOCK,
        &[
            "bodies.block.mass=2",
            "elements.floor.law=lugre",
            "elements.spring.stiffness=10 N/mm",
            "elements.floor.kinetic=\"3 N\"",
            "simulation.integrator = rk4",
            "bodies.hook.velocity=if(t < 1, 3, 0)",
            "title=\"A = B\"",
        ],
    );
    assert_eq!(mass_of(&scenario, "block"), 2.0);
    let ElementSpec::Spring(spring) = &scenario.elements[0].1 else {
        panic!()
    };
    assert_eq!(spring.stiffness, 10_000.0);
    let law = scenario.elements[1].1.friction().unwrap();
    assert_eq!(law.law, "lugre");
    assert_eq!(
        law.curve.limit,
        LimitSpec::Force {
            kinetic: 3.0,
            static_: 3.0
        }
    );
    assert_eq!(scenario.simulation.integrator, "rk4");
    assert_eq!(scenario.title, "A = B");
    let BodySpec::Driver(hook) = &scenario.bodies[1].1 else {
        panic!()
    };
    assert_eq!(hook.motion.profiles()[0].value(0.5), 3.0);
}

#[test]
fn absent_keys_and_tables_may_be_added() {
    let scenario = parse_with(
        BLOCK,
        &[
            "elements.floor.static=12 N",
            "simulation.gravity=[0, 0, -9.81]",
            "simulation.newmark.beta=0.3",
            "analysis.stick_slip.signal=floor.force",
            "output.columns=[t, block.position]",
            "elements.second={ kind = \"spring\", between = [\"block\", \"ground\"], stiffness = 5 }",
        ],
    );
    let law = scenario.elements[1].1.friction().unwrap();
    assert_eq!(
        law.curve.limit,
        LimitSpec::Force {
            kinetic: 10.0,
            static_: 12.0
        }
    );
    assert_eq!(scenario.simulation.gravity, Some([0.0, 0.0, -9.81]));
    assert_eq!(scenario.simulation.newmark, Some(NewmarkSpec { beta: 0.3, gamma: 0.5 }));
    assert_eq!(scenario.stick_slip.unwrap().signal, "floor.force");
    assert_eq!(scenario.columns.unwrap(), ["t", "block.position"]);
    assert_eq!(scenario.elements[2].0, "second");
}

#[test]
fn links_are_reached_by_name_and_lists_by_index() {
    let scenario = parse_with(
        ARM,
        &[
            "bodies.arm.upper.mass=1",
            "bodies.arm.lower.com.0=\"20 cm\"",
            "bodies.arm.links.lower.position=30 deg",
        ],
    );
    let BodySpec::Linkage(arm) = &scenario.bodies[0].1 else {
        panic!()
    };
    assert_eq!((arm.links[0].mass, arm.links[1].com[0]), (1.0, 0.2));
    assert!((arm.links[1].position - std::f64::consts::PI / 6.0).abs() < 1e-16);
}

#[test]
fn lists_of_unquoted_quantities() {
    let scenario = parse_with(SPHERE, &["bodies.ball.position=[1 mm, 2 cm, 0.3]"]);
    let BodySpec::RigidBody(ball) = &scenario.bodies[0].1 else {
        panic!()
    };
    assert_eq!(ball.position, [0.001, 0.02, 0.3]);
}

#[test]
fn the_last_of_two_wins() {
    assert_eq!(
        mass_of(
            &parse_with(BLOCK, &["bodies.block.mass=2", "bodies.block.mass=3"]),
            "block"
        ),
        3.0
    );
}

#[test]
fn slips_name_the_key_and_the_nearest() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "bodies.blok.mass=1",
            "there is no `bodies.blok.mass`",
            "did you mean `bodies.block.mass`?",
        ),
        (
            "elements.flor.law=lugre",
            "there is no `elements.flor.law`",
            "did you mean `elements.floor.law`?",
        ),
        (
            "elements.xyzzy.law=lugre",
            "there is no `elements.xyzzy.law`",
            "`elements` has `spring`, `floor`",
        ),
        (
            "simulaton.step=1",
            "unknown key `simulaton` at the top of the file",
            "did you mean `simulation`?",
        ),
        (
            "simulation.stp=1",
            "unknown key `stp` in `simulation`",
            "did you mean `step`?",
        ),
        (
            "bodies.block.mas=1",
            "unknown key `mas` in `bodies.block`",
            "did you mean `mass`?",
        ),
        (
            "bodies.block.mass=-1",
            "`bodies.block.mass` must be greater than 0, found -1",
            "mass = \"1 kg\"",
        ),
        (
            "bodies.block.mass=3 s",
            "should be a mass (kg), but \"3 s\" is a time (s)",
            "mass = \"1 kg\"",
        ),
        (
            "bodies.block.mass.x=1",
            "`bodies.block.mass` is the string \"1 kg\"",
            "--set bodies.block.mass=VALUE",
        ),
        ("bodies.block.mass", "has no `=`", "--set KEY=VALUE"),
        ("bodies.block.mass=", "has no value", "bodies.block.mass=1"),
        ("bodies..mass=1", "has an empty part", "bodies.block.mass"),
        (
            "simulation.integrator=rk5",
            "unknown integrator \"rk5\"",
            "did you mean \"rk4\"?",
        ),
    ];
    for (set, message, help) in cases {
        let error = fail(BLOCK, &[set]);
        let text = error.to_string();
        let finding = &error.diagnostics[0];
        assert!(finding.message.contains(message), "{set}\n{text}");
        assert!(finding.help.as_deref().unwrap_or("").contains(help), "{set}\n{text}");
        // It is shown as an argument, not as a line of the file.
        assert!(
            text.contains("on the command line") && text.contains(&format!("--set {set}")),
            "{text}"
        );
    }
}

#[test]
fn an_argument_is_underlined_where_it_is_wrong() {
    let text = fail(BLOCK, &["bodies.block.mass=-1"]).to_string();
    let expected = "\
error: `bodies.block.mass` must be greater than 0, found -1
--> on the command line
 |
 | --set bodies.block.mass=-1
 |                         ^^
 = help: for example: mass = \"1 kg\"";
    assert_eq!(text, expected);
}
