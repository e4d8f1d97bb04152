//! What is written comes out in SI and with its names resolved.

use super::corpus::*;
use super::*;
use crate::element::curve::CurveSide;
use crate::profile::Profile;
use crate::quantity::Dimension;

fn body<'a>(scenario: &'a Scenario, name: &str) -> &'a BodySpec {
    &scenario.bodies.iter().find(|(other, _)| other == name).unwrap().1
}

fn element<'a>(scenario: &'a Scenario, name: &str) -> &'a ElementSpec {
    &scenario.elements.iter().find(|(other, _)| other == name).unwrap().1
}

#[test]
fn the_block_of_the_contract() {
    let scenario = parse(BLOCK);
    assert_eq!(scenario.title, "Block dragged by a spring over a Coulomb floor");
    assert_eq!(scenario.simulation.duration, 4.0);
    assert_eq!(scenario.simulation.step, 0.001);
    assert_eq!(scenario.simulation.integrator, "implicit-euler");
    assert_eq!(scenario.simulation.gravity, None);
    assert_eq!(scenario.simulation.relative_tolerance, 1e-6);
    let names: Vec<&str> = scenario.bodies.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["block", "hook"]);
    let BodySpec::Mass(block) = body(&scenario, "block") else {
        panic!()
    };
    assert_eq!(
        (block.mass, &block.position[..], &block.velocity[..]),
        (1.0, &[0.0][..], &[0.0][..])
    );
    assert_eq!(block.force, [Profile::Constant(0.0)]);
    let BodySpec::Driver(hook) = body(&scenario, "hook") else {
        panic!()
    };
    let DriverMotion::Velocity(velocity) = &hook.motion else {
        panic!()
    };
    assert_eq!([velocity[0].value(2.0), velocity[0].value(2.1)], [2.0, 0.0]);
    let ElementSpec::Spring(spring) = element(&scenario, "spring") else {
        panic!()
    };
    assert_eq!(spring.between, [Port::Body(1), Port::Body(0)]);
    assert_eq!(
        (spring.stiffness, spring.damping, spring.length, spring.implicit),
        (90.0, 0.0, 0.0, None)
    );
    let ElementSpec::Friction(floor) = element(&scenario, "floor") else {
        panic!()
    };
    assert_eq!(floor.between, [Port::Body(0), Port::Ground]);
    assert_eq!(floor.friction.law, "implicit");
    assert_eq!(
        floor.friction.curve.limit,
        LimitSpec::Force {
            kinetic: 10.0,
            static_: 10.0
        }
    );
    assert_eq!(floor.friction.curve.stribeck_exponent, 2.0);
    assert!(floor.friction.parameters.is_empty());
    assert!(scenario.warnings.is_empty());
}

#[test]
fn the_sphere_of_the_contract() {
    let scenario = parse(SPHERE);
    assert_eq!(scenario.simulation.gravity, Some([0.0, 0.0, -9.8]));
    let BodySpec::RigidBody(ball) = body(&scenario, "ball") else {
        panic!()
    };
    assert_eq!(ball.shape, Some(Shape::Sphere(0.2)));
    // 2/5 m r² = 0.4 · 0.3 · 0.04
    for moment in &ball.inertia[..3] {
        assert!((moment - 0.0048).abs() < 1e-17);
    }
    assert_eq!(ball.position, [0.0, 0.0, 0.202]);
    assert_eq!(ball.rotation, [1.0, 0.0, 0.0, 0.0]);
    let ElementSpec::Contact(floor) = element(&scenario, "floor") else {
        panic!()
    };
    assert_eq!(
        floor.surface,
        Some(Plane {
            normal: [0.0, 0.0, 1.0],
            offset: 0.0
        })
    );
    assert_eq!(floor.normal.law, "kelvin-voigt");
    let number = |value| ParameterValue::Number(Number { value, dimension: None });
    let read: Vec<_> = floor
        .normal
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.value.clone()))
        .collect();
    assert_eq!(read, [("stiffness", number(1e7)), ("damping", number(10.0))]);
    let friction = floor.friction.as_ref().unwrap();
    assert_eq!(
        friction.curve.limit,
        LimitSpec::Coefficient {
            kinetic: 0.1,
            static_: 0.1
        }
    );
    assert_eq!(friction.parameters.len(), 2);
}

#[test]
fn the_arm_of_the_contract() {
    let scenario = parse(ARM);
    let BodySpec::Linkage(arm) = body(&scenario, "arm") else {
        panic!()
    };
    assert!(!arm.floating);
    let lower = &arm.links[1];
    assert_eq!(
        (lower.name.as_str(), lower.joint.as_str(), lower.parent),
        ("lower", "elbow", Some(0))
    );
    assert_eq!(arm.links[0].parent, None);
    assert_eq!(
        (lower.joint_type, lower.axis, lower.origin),
        (JointType::Revolute, [0.0, 0.0, 1.0], [0.3, 0.0, 0.0])
    );
    assert_eq!((lower.mass, lower.com), (0.5, [0.15, 0.0, 0.0]));
    assert_eq!(lower.inertia, [0.0, 0.00375, 0.00375, 0.0, 0.0, 0.0]);
    let ElementSpec::Actuator(motor) = element(&scenario, "shoulder_motor") else {
        panic!()
    };
    assert_eq!(motor.between, [Port::Joint { body: 0, link: 0 }, Port::Ground]);
    assert_eq!(motor.value[0].value(1.0), 0.3);
    let ElementSpec::Friction(friction) = element(&scenario, "shoulder_friction") else {
        panic!()
    };
    assert_eq!(
        friction.friction.curve.limit,
        LimitSpec::Force {
            kinetic: 0.5,
            static_: 0.5
        }
    );
    assert_eq!(scenario.port_name(motor.between[0]), "arm.shoulder");
}

#[test]
fn every_key_comes_out_in_si() {
    let scenario = parse(EVERYTHING);
    let simulation = &scenario.simulation;
    assert_eq!(simulation.gravity, Some([0.0, -9.81, 0.0]));
    assert_eq!((simulation.max_step, simulation.min_step), (Some(0.01), Some(1e-6)));
    assert_eq!(simulation.newmark, Some(NewmarkSpec { beta: 0.3, gamma: 0.6 }));
    assert!(simulation.backward_motion);
    let BodySpec::Mass(slider) = body(&scenario, "slider") else {
        panic!()
    };
    assert_eq!(
        (slider.mass, slider.position[0], slider.velocity[0]),
        (0.5, 0.01, -0.001)
    );
    assert_eq!(slider.axis, Some([0.6, 0.8, 0.0]));
    assert_eq!(slider.force[0].value(1.5), 3000.0);
    let BodySpec::Mass(puck) = body(&scenario, "puck") else {
        panic!()
    };
    assert_eq!(puck.position, [0.01, 0.5]);
    assert_eq!(puck.force[1].value(59.0), 1.0);
    let BodySpec::Inertia(wheel) = body(&scenario, "wheel") else {
        panic!()
    };
    assert_eq!(wheel.position, std::f64::consts::FRAC_PI_2);
    assert!((wheel.velocity - std::f64::consts::TAU).abs() < 1e-15);
    assert_eq!(wheel.torque.as_ref().unwrap().value(0.5), 1.5);
    let BodySpec::Driver(belt) = body(&scenario, "belt") else {
        panic!()
    };
    assert_eq!(belt.start, [0.001, 0.0]);
    let BodySpec::RigidBody(brick) = body(&scenario, "brick") else {
        panic!()
    };
    // m(b² + c²)/12
    assert_eq!(brick.inertia, [13.0, 10.0, 5.0, 0.0, 0.0, 0.0]);
    assert_eq!(brick.rotation, [1.0, 0.0, 0.0, 0.0]);
    let BodySpec::Linkage(robot) = body(&scenario, "robot") else {
        panic!()
    };
    assert!(robot.floating);
    assert_eq!(robot.links[1].axis, [0.0, 1.0, 0.0]);
    assert_eq!(
        robot.links[1].limits,
        Some([-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2])
    );
    let ElementSpec::Spring(rope) = element(&scenario, "rope") else {
        panic!()
    };
    assert_eq!(
        (rope.stiffness, rope.length, rope.at[1]),
        (10_000.0, 0.2, [1.0, 1.0, 0.0])
    );
    let ElementSpec::Spring(pulley) = element(&scenario, "pulley") else {
        panic!()
    };
    assert_eq!(pulley.ratio, Some([1.0, 0.05]));
    let ElementSpec::Friction(pad) = element(&scenario, "pad") else {
        panic!()
    };
    assert!(matches!(pad.friction.normal_force, Some(NormalForce::Element(1))));
    assert_eq!(pad.friction.initial, Some(InitialMode::Slip));
    let stiffness = &pad.friction.parameters[0];
    assert_eq!(
        stiffness.value,
        ParameterValue::Number(Number {
            value: 1e5,
            dimension: Some(Dimension::STIFFNESS)
        })
    );
    let ElementSpec::Friction(fault) = element(&scenario, "fault") else {
        panic!()
    };
    let Some(NormalForce::Profile(load)) = &fault.friction.normal_force else {
        panic!()
    };
    assert_eq!(load.value(1.0), 2000.0);
    let evolution = fault
        .friction
        .parameters
        .iter()
        .find(|p| p.name == "evolution")
        .unwrap();
    assert_eq!(evolution.value, ParameterValue::Word("ratio".into()));
    let ElementSpec::Friction(rim) = element(&scenario, "rim") else {
        panic!()
    };
    assert_eq!(
        rim.friction.curve.limit,
        LimitSpec::Given {
            forward: CurveSide::Points(vec![0.0, 0.1, 1.0], vec![12.0, 10.0, 11.0]),
            backward: None,
            static_: None,
            coefficient: false,
        }
    );
    let ElementSpec::Friction(many) = element(&scenario, "many") else {
        panic!()
    };
    assert_eq!(
        many.friction.parameters[0].value,
        ParameterValue::Number(Number {
            value: 2e5,
            dimension: Some(Dimension::STIFFNESS)
        })
    );
    let ElementSpec::Contact(touch) = element(&scenario, "touch") else {
        panic!()
    };
    assert_eq!(touch.surface.unwrap().normal, [0.0, 0.0, 1.0]);
    assert_eq!(touch.between[0], Port::Link { body: 8, link: 2 });
    assert_eq!(
        scenario.columns.as_deref().unwrap(),
        ["t", "slider.position", "pad.force"]
    );
    let analysis = scenario.stick_slip.as_ref().unwrap();
    assert_eq!(
        (analysis.scale, analysis.from, analysis.threshold),
        (100.0, 1.0, Some(0.02))
    );
}

#[test]
fn a_map_has_times_that_follow_its_cells() {
    let scenario = parse(MAP);
    // Seed 003, eq 35: (12 N - 10 N)/4/20.
    assert_eq!(scenario.stick_slip.unwrap().threshold, Some(0.025));
    let map = scenario.map.unwrap();
    assert_eq!(map.duration.unwrap().evaluate(&[4.0, 3.0]), 8.0);
    assert_eq!(map.from.unwrap().evaluate(&[4.0, 3.0]), 1.0);
}

#[test]
fn templates_are_valid_and_named_once() {
    for template in TEMPLATES {
        let scenario = parse(template.text);
        assert!(scenario.warnings.is_empty(), "{}", template.name);
        assert!(!scenario.title.is_empty());
        assert_eq!(Template::find(template.name), Some(template));
    }
}

#[test]
fn a_unit_string_is_the_same_double_as_the_decimal() {
    for (text, value) in [
        ("\"0.9 mm\"", 0.0009),
        ("\"10 um\"", 1e-5),
        ("0.3", 0.3),
        ("1_000", 1000.0),
        ("0x10", 16.0),
    ] {
        let scenario = parse(&BLOCK.replace("position = 0 ", &format!("position = {text} ")));
        let BodySpec::Mass(block) = body(&scenario, "block") else {
            panic!()
        };
        assert_eq!(block.position[0], value, "{text}");
    }
}

#[test]
fn an_uneven_duration_is_a_warning() {
    let scenario = parse(&BLOCK.replace("\"4 s\"", "\"4.0004 s\""));
    assert_eq!(scenario.warnings.len(), 1);
    assert_eq!(scenario.warnings[0].line(&scenario.sources), Some(4));
}

#[test]
fn later_stages_can_point_at_a_key() {
    let scenario = parse(BLOCK);
    let finding = scenario
        .diagnostic("elements.floor.law", "no such law")
        .help("did you mean `implicit`?");
    assert_eq!(finding.line(&scenario.sources), Some(28));
    let text = scenario.error(vec![finding]).to_string();
    assert!(text.contains("test.toml:28:7"), "{text}");
    // An absent key points at its table.
    assert_eq!(
        scenario
            .diagnostic("elements.floor.epsilon", "")
            .line(&scenario.sources),
        Some(25)
    );
}
