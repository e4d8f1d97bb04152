//! Shortcuts give the same bytes as the general step. A call for many steps takes them, observed steps one by one do not; a whole run
//! takes those that keep the sums of its report.

mod common;

use proptest::prelude::*;
use stickslip::report::{Report, Reporter};
use stickslip::run::{Ended, Options, run};
use stickslip::simulation::RunError;
use stickslip::trace::Columns;

const STEPS: u64 = 60;

/// Runs a scenario in one call and step by step; the states and the outcomes.
fn both_ways(text: &str) -> [(Vec<u64>, Result<(), RunError>); 2] {
    [STEPS, 1].map(|chunk| {
        let mut simulation = common::written(text, &[]);
        // Not from the start of the grid, where velocities of drivers are found differently.
        simulation.advance(3).unwrap();
        let mut outcome = Ok(());
        for _ in 0..STEPS / chunk {
            outcome = outcome.and_then(|()| match chunk {
                1 => simulation.advance_observed(1),
                many => simulation.advance(many),
            });
        }
        simulation.advance(1).ok();
        (simulation.state().values.iter().map(|x| x.to_bits()).collect(), outcome)
    })
}

/// Rows by their bits, observations as text, and the report.
type Reported = (Vec<Vec<u64>>, String, Report);

/// A run by `run`, with a row every so many steps, and the same by general steps: rows, what was seen last, and the report.
fn reported_both_ways(text: &str, every: u64) -> Option<[Reported; 2]> {
    let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let quiet = |mut report: Report| {
        (report.seconds, report.warnings, report.doubts) = (0.0, Vec::new(), Vec::new());
        report
    };
    let mut simulation = common::written(text, &[]);
    let columns = Columns::new(&simulation);
    let (mut rows, mut keep) = (Vec::new(), Vec::new());
    let mut sink = |row: &[f64]| {
        rows.push(bits(row));
        Ok(())
    };
    let options = Options {
        every,
        ..Options::default()
    };
    let outcome = run(&mut simulation, Some((&columns, &mut sink)), options).unwrap();
    if outcome.ended != Ended::Complete {
        return None;
    }
    let first = (rows, format!("{:?}", simulation.observations()), quiet(outcome.report));
    let mut simulation = common::written(text, &[]);
    let mut reporter = Reporter::new(&mut simulation, &columns);
    let mut row = Vec::new();
    columns.read(&simulation, &mut row);
    keep.push(bits(&row));
    let steps = simulation.built().steps;
    for step in 1..=steps {
        simulation.advance_observed(1).unwrap();
        simulation.observe();
        reporter.watch(&simulation, &columns);
        if step % every == 0 || step == steps {
            columns.read(&simulation, &mut row);
            keep.push(bits(&row));
        }
    }
    let seen = format!("{:?}", simulation.observations());
    let report = reporter.finish(&mut simulation, &columns, 0.0);
    Some([first, (keep, seen, quiet(report))])
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

prop_compose! {
    /// One mass in the implicit step: springs to the ground and to drivers by velocity, a motor, a force, friction of several curves.
    fn blocks()(
        step in prop_oneof![Just(1e-3), Just(7e-3)],
        (mass, velocity) in (prop_oneof![Just(1.0), 0.2..3.0], number()),
        force in prop::option::of(profile()),
        motor in prop::option::of((profile(), prop::bool::ANY)),
        drivers in prop::collection::vec((profile(), number()), 0..3),
        springs in prop::collection::vec((0usize..4, 1.0..300.0, number(), number(), prop::bool::ANY), 0..4),
        friction in prop::option::of((0usize..4, 0.0..4.0, 0usize..4, prop::bool::ANY)),
    ) -> String {
        let mut text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"implicit-euler\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = {mass}\nvelocity = {velocity}\n", 90.0 * step);
        if let Some(force) = force {
            text += &format!("force = {force}\n");
        }
        let mut names = vec!["ground"];
        for (name, (profile, start)) in ["one", "two"].into_iter().zip(drivers) {
            text += &format!("[bodies.{name}]\nkind = \"driver\"\nvelocity = {profile}\nstart = {start}\n");
            names.push(name);
        }
        let pair = |other: usize, first: bool| {
            let other = names[other % names.len()];
            if first { format!("[\"block\", \"{other}\"]") } else { format!("[\"{other}\", \"block\"]") }
        };
        for (i, (other, stiffness, damping, length, first)) in springs.into_iter().enumerate() {
            text += &format!(
                "[elements.s{i}]\nkind = \"spring\"\nbetween = {}\nstiffness = {stiffness}\ndamping = {}\nlength = {}\n",
                pair(other, first), damping.abs(), length.abs());
        }
        if let Some((value, first)) = motor {
            text += &format!("[elements.motor]\nkind = \"actuator\"\nbetween = {}\nvalue = {value}\n", pair(0, first));
        }
        if let Some((other, kinetic, form, first)) = friction {
            let more = ["", "static = 5", "static = 5\nstribeck_velocity = 0.1", "viscous = 0.7"][form];
            text += &format!(
                "[elements.rub]\nkind = \"friction\"\nbetween = {}\nlaw = \"implicit\"\nkinetic = {kinetic}\n{more}\n",
                pair(other, first));
        }
        text
    }
}

/// The same system for a short time.
fn briefly(text: &str) -> String {
    text.replace("duration = 40", "duration = 0.8")
        .replace("duration = 1\n", "duration = 0.1\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_block_in_one_call_or_step_by_step(text in blocks()) {
        let [many, single] = both_ways(&text);
        prop_assert_eq!(many, single, "{}", text);
    }

    #[test]
    fn the_report_of_a_block_is_that_of_its_steps(text in blocks(), every in 1u64..30) {
        if let Some([short, general]) = reported_both_ways(&text, every) {
            prop_assert_eq!(short, general, "{}", text);
        }
    }

    #[test]
    fn the_report_of_masses_is_that_of_their_steps(text in masses(), every in 1u64..30) {
        if let Some([short, general]) = reported_both_ways(&briefly(&text), every) {
            prop_assert_eq!(short, general, "{}", text);
        }
    }

    #[test]
    fn the_report_of_an_arm_is_that_of_its_steps(text in arms(), every in 1u64..30) {
        if let Some([short, general]) = reported_both_ways(&briefly(&text), every) {
            prop_assert_eq!(short, general, "{}", text);
        }
    }

    #[test]
    fn the_report_of_a_ball_is_that_of_its_steps(text in balls(), every in 1u64..30) {
        if let Some([short, general]) = reported_both_ways(&briefly(&text), every) {
            prop_assert_eq!(short, general, "{}", text);
        }
    }
}

/// Controllers set an actuator between single steps: forces, modes and energies that they see are those of the general step.
#[test]
fn a_step_under_control_shows_what_a_general_step_shows() {
    let rope = "[elements.rope]\nkind = \"spring\"\nbetween = [\"ground\", \"cart\"]\nstiffness = 30\ndamping = 0.4\n";
    let limits = [
        "kinetic = 2.5\nstatic = 4",
        "kinetic = 3",
        "kinetic = 0",
        "mu = 0.3\nmu_static = 0.5\nnormal_force = \"if(t < 0.4, 9, 0)\"",
        "kinetic = 2\nviscous = 0.7",
    ];
    for (limit, mass, ends, rope, push) in carts(&limits, rope) {
        let text = format!(
            "[simulation]\nduration = 1\nstep = 2e-3\nintegrator = \"implicit-euler\"\n\
             [bodies.cart]\nkind = \"mass\"\nmass = {mass}\n{push}\
             [elements.motor]\nkind = \"actuator\"\nbetween = {ends}\nvalue = 0\n{rope}\
             [elements.rail]\nkind = \"friction\"\nbetween = {ends}\nlaw = \"implicit\"\n{limit}\n"
        );
        let [mut short, mut general] = [(); 2].map(|()| common::written(&text, &[]));
        let motor = short.element("motor").unwrap();
        for step in 0..300u32 {
            let force = 6.0 * f64::from(step / 40 % 3) - 5.0;
            assert!(short.set_actuator(motor, 0, force) && general.set_actuator(motor, 0, force));
            short.advance(1).unwrap();
            general.advance_observed(1).unwrap();
            let values =
                [&short, &general].map(|one| one.state().values.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            assert_eq!(values[0], values[1], "step {step}\n{text}");
            let seen = [&short, &general].map(|one| format!("{:?}", one.observations()));
            assert_eq!(seen[0], seen[1], "step {step}\n{text}");
        }
        assert_eq!(short.work().input, 0.0, "steps that are not observed are not counted");
    }
}

/// Carts with all of these limits, of mass 1 and another, either way round, with a rope and without, pushed and not.
fn carts<'a>(
    limits: &'a [&'a str],
    rope: &'a str,
) -> impl Iterator<Item = (&'a str, f64, &'static str, &'a str, &'static str)> {
    limits.iter().flat_map(move |limit| {
        (0..16).map(move |bits: usize| {
            (
                *limit,
                [1.0, 1.6][bits & 1],
                ["[\"cart\", \"ground\"]", "[\"ground\", \"cart\"]"][bits >> 1 & 1],
                ["", rope][bits >> 2 & 1],
                ["", "force = 1.5\n"][bits >> 3],
            )
        })
    })
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

/// A stop between a driver and the ground moves nothing, and its gap is that of every step all the same: upper − x.
#[test]
fn the_gap_of_a_stop_on_a_driver_is_that_of_now() {
    let text = "[simulation]\nduration = 0.4\nstep = 1e-3\nintegrator = \"implicit-euler\"\n[bodies.idle]\nkind = \"mass\"\nmass = 3\n\
                [bodies.hook]\nkind = \"driver\"\nvelocity = 0.05\n[elements.end]\nkind = \"stop\"\nbetween = [\"hook\", \"ground\"]\nupper = 0.3\n";
    let mut simulation = common::written(text, &[]);
    let columns = Columns::new(&simulation);
    let gap = columns.names().iter().position(|name| name == "end.gap").unwrap();
    let mut sink = |row: &[f64]| {
        let expected = 0.3 - 0.05 * row[0];
        assert!((row[gap] - expected).abs() < 1e-12, "{} {}", row[0], row[gap]);
        Ok(())
    };
    let outcome = run(&mut simulation, Some((&columns, &mut sink)), Options::default()).unwrap();
    assert_eq!(outcome.ended, Ended::Complete);
}

/// Contacts of a scene have no columns; who lists them is shown every row, and each as it is after the general step.
#[test]
fn contacts_of_every_row_are_shown_whatever_steps_a_run_takes() {
    let text = "[simulation]\nduration = 0.1\nstep = 1e-3\nintegrator = \"implicit-euler\"\ngravity = [5, 0, -8]\n\
                [contacts]\nfriction = { law = \"implicit\", mu = 0.5 }\n\
                [bodies.table]\nkind = \"fixed\"\nshape = { box = [4, 4, 0.1] }\nposition = [0, 0, -0.05]\n\
                [bodies.box]\nkind = \"rigid-body\"\ndensity = 600\nshape = { box = [0.2, 0.2, 0.1] }\nposition = [0, 0, 0.05]\n";
    let shown = |simulation: &stickslip::Simulation| -> Vec<String> {
        let contacts = simulation.found_contacts();
        contacts
            .map(|contact| {
                format!(
                    "{} {} {:?} {:?} {:?} {}",
                    simulation.time(),
                    contact.first,
                    contact.point,
                    contact.force,
                    contact.slip,
                    contact.gap
                )
            })
            .collect()
    };
    for every in [1, 7] {
        let mut stepped = common::written(text, &[]);
        let mut expected = shown(&stepped);
        for step in 1..=100u64 {
            stepped.advance_observed(1).unwrap();
            if step.is_multiple_of(every) || step == 100 {
                expected.extend(shown(&stepped));
            }
        }
        assert!(expected.len() >= 4 * 100 / 7);
        for stored in [false, true] {
            let mut simulation = common::written(text, &[]);
            let columns = Columns::new(&simulation);
            let mut found = Vec::new();
            let mut list = |simulation: &stickslip::Simulation| {
                found.extend(shown(simulation));
                Ok(())
            };
            let options = Options {
                every,
                rows: Some(&mut list),
                ..Options::default()
            };
            let mut sink = |_: &[f64]| Ok(());
            let rows = stored.then_some((&columns, &mut sink as &mut stickslip::run::Sink<'_>));
            run(&mut simulation, rows, options).unwrap();
            assert_eq!(found, expected, "every {every}, stored {stored}");
        }
    }
}
