//! Shortcuts give the same bytes as the general step. A call for many steps takes them, calls for one step each do not.

mod common;

use proptest::prelude::*;
use stickslip::simulation::RunError;

const STEPS: u64 = 60;

/// Runs a scenario in one call and step by step; the states and the outcomes.
fn both_ways(text: &str) -> [(Vec<u64>, Result<(), RunError>); 2] {
    [STEPS, 1].map(|chunk| {
        let mut simulation = common::written(text, &[]);
        // Not from the start of the grid, where velocities of drivers are found differently.
        simulation.advance(3).unwrap();
        let mut outcome = Ok(());
        for _ in 0..STEPS / chunk {
            outcome = outcome.and_then(|()| simulation.advance(chunk));
        }
        simulation.advance(1).ok();
        (simulation.state().values.iter().map(|x| x.to_bits()).collect(), outcome)
    })
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), -2.0..2.0]
}

/// Functions of time: constant, constant piece by piece, smooth.
fn profile() -> impl Strategy<Value = String> {
    prop_oneof![
        number().prop_map(|x| format!("{x}")),
        number().prop_map(|x| format!("\"if(t < 0.02, {x}, -1)\"")),
        (number(), 1.0..200.0).prop_map(|(x, w)| format!("\"{x}*sin({w:.3}*t) + cos(7*t)\"")),
        number().prop_map(|x| format!("\"{x}*min(t, 0.03)\"")),
    ]
}

fn integrator() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("euler"), Just("rk4"), Just("rk4")]
}

fn law() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("proxy"), Just("relaxed")];
    (
        name,
        0.0..3.0,
        100.0..1e4,
        1.0..50.0,
        prop::bool::ANY,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(name, kinetic, stiffness, damping, pressed, viscous)| {
            let (normal, key) = if pressed {
                ("normal_force = \"2 + sin(90*t)\"\n", "mu")
            } else {
                ("", "kinetic")
            };
            let viscous = if viscous { "viscous = 0.3\n" } else { "" };
            let damping = if name == "proxy" {
                format!("damping = {damping}")
            } else {
                "beta = 0.004".into()
            };
            format!("law = \"{name}\"\n{key} = {kinetic}\nstiffness = {stiffness}\n{damping}\n{normal}{viscous}")
        })
}

prop_compose! {
    /// One or two masses, maybe a driver, springs and frictions between any of them.
    fn masses()(
        integrator in integrator(),
        step in prop_oneof![Just(1e-3), Just(7e-4), Just(0.4)],
        bodies in prop::collection::vec((0.2..3.0, number(), number(), prop::option::of(profile())), 1..=2),
        driver in prop::option::of((prop::bool::ANY, profile())),
        springs in prop::collection::vec((0usize..4, 0usize..4, 1.0..300.0, number(), number()), 0..4),
        frictions in prop::collection::vec((0usize..4, 0usize..4, law()), 0..3),
    ) -> String {
        let mut text = format!("[simulation]\nduration = 40\nstep = {step}\nintegrator = \"{integrator}\"\n");
        let mut names = vec!["ground"];
        for (name, (mass, position, velocity, force)) in ["one", "two"].into_iter().zip(bodies) {
            text += &format!("[bodies.{name}]\nkind = \"mass\"\nmass = {mass}\nposition = {position}\nvelocity = {velocity}\n");
            if let Some(force) = force {
                text += &format!("force = {force}\n");
            }
            names.push(name);
        }
        if let Some((by_position, profile)) = driver {
            let key = if by_position { "position" } else { "velocity" };
            text += &format!("[bodies.hook]\nkind = \"driver\"\n{key} = {profile}\n");
            names.push("hook");
        }
        let ends = |a: usize, b: usize| (names[a % names.len()], names[b % names.len()]);
        for (i, (a, b, stiffness, damping, length)) in springs.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                text += &format!(
                    "[elements.s{i}]\nkind = \"spring\"\nbetween = [\"{a}\", \"{b}\"]\nstiffness = {stiffness}\n\
                     damping = {}\nlength = {}\n", damping.abs(), length.abs());
            }
        }
        for (i, (a, b, law)) in frictions.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                text += &format!("[elements.f{i}]\nkind = \"friction\"\nbetween = [\"{a}\", \"{b}\"]\n{law}");
            }
        }
        text
    }
}

prop_compose! {
    /// Two hinges in a row, with gravity or without, motors and friction in some joints.
    fn arms()(
        integrator in integrator(),
        gravity in prop_oneof![Just(0.0), Just(-9.8)],
        sense in prop_oneof![Just(1), Just(-1)],
        start in [-3.0..3.0, -3.0..3.0],
        joints in [(prop::option::of(profile()), prop::option::of(law())), (prop::option::of(profile()), prop::option::of(law()))],
    ) -> String {
        let mut text = format!(
            "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"{integrator}\"\ngravity = [0, {gravity}, 0]\n\
             [bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
             {{ name = \"upper\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 0, 1],\n\
                origin = [0, 0, 0], mass = 1, com = [0.25, 0.02, 0], inertia = [0, 0.02, 0.02], position = {} }},\n\
             {{ name = \"lower\", parent = \"upper\", joint = \"b\", type = \"revolute\", axis = [0, 0, {sense}],\n\
                origin = [0.5, 0, 0], mass = 0.8, com = [0.2, 0, 0], inertia = [0, 0.01, 0.01], position = {} }},\n]\n", start[0], start[1]);
        for (joint, (motor, friction)) in ["a", "b"].into_iter().zip(joints) {
            if let Some(motor) = motor {
                text += &format!("[elements.m{joint}]\nkind = \"actuator\"\non = \"arm.{joint}\"\nvalue = {motor}\n");
            }
            if let Some(law) = friction {
                text += &format!("[elements.f{joint}]\nkind = \"friction\"\non = \"arm.{joint}\"\n{law}");
            }
        }
        text
    }
}

prop_compose! {
    /// Balls on planes of any slope, at rest on them, above or a little inside, with friction, restitution, spin.
    fn balls()(
        step in prop_oneof![Just(1e-3), Just(7e-4), Just(0.1)],
        gravity in prop_oneof![Just([0.0, 0.0, -9.8]), Just([1.0, -2.0, -9.0]), Just([0.0; 3])],
        balls in prop::collection::vec((
            (0.1..3.0, 0.05..0.5, prop_oneof![Just([0.0, 0.0, 1.0]), [-1.0..1.0, -1.0..1.0, 0.3..1.0]]),
            prop_oneof![Just(0.0), -1e-3..0.05, Just(0.7)],
            [number(), number(), number()],
            [number(), number(), number()],
            prop::option::of((prop_oneof![Just(0.0), 0.0..1.2], prop::bool::ANY)),
            prop_oneof![Just(0.0), 0.0..1.0],
        ), 1..=3),
    ) -> String {
        let mut text = format!("[simulation]\nduration = 40\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = {gravity:?}\n");
        for (i, (mass, radius, slope, height, velocity, spin, friction, restitution)) in
            balls.into_iter().map(|((m, r, n), h, v, w, f, e)| (m, r, n, h, v, w, f, e)).enumerate()
        {
            let length = slope.iter().map(|x| x * x).sum::<f64>().sqrt();
            let normal = slope.map(|x| x / length);
            let position = normal.map(|x| x * (radius + height + 0.3));
            let friction = friction.map_or(String::new(), |(mu, sticky)| {
                let more = if sticky { format!(", mu_static = {}", 1.3 * mu) } else { String::new() };
                format!("friction = {{ law = \"implicit\", mu = {mu}{more} }}\n")
            });
            text += &format!(
                "[bodies.b{i}]\nkind = \"rigid-body\"\nshape = {{ sphere = {radius} }}\nmass = {mass}\nposition = {position:?}\n\
                 velocity = {velocity:?}\nangular_velocity = {spin:?}\n\
                 [elements.c{i}]\nkind = \"contact\"\nbetween = [\"b{i}\", \"ground\"]\n\
                 surface = {{ plane = {{ normal = {normal:?}, offset = 0.3 }} }}\n\
                 normal = {{ law = \"rigid\", restitution = {restitution} }}\n{friction}");
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn balls_in_one_call_or_step_by_step(text in balls()) {
        let [many, single] = both_ways(&text);
        prop_assert_eq!(many, single, "{}", text);
    }

    #[test]
    fn masses_in_one_call_or_step_by_step(text in masses()) {
        let [many, single] = both_ways(&text);
        prop_assert_eq!(many, single, "{}", text);
    }

    #[test]
    fn an_arm_in_one_call_or_step_by_step(text in arms()) {
        let [many, single] = both_ways(&text);
        prop_assert_eq!(many, single, "{}", text);
    }
}
