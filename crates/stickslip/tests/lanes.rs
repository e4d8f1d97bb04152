//! A sweep does many runs side by side in lanes. Every row is the one of a run alone, to the last bit, for any number of
//! threads; a run that fails fails with the same words.

use proptest::prelude::*;
use std::collections::BTreeSet;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::{Draft, Scenario};
use stickslip::sweep::{Axis, Row, Sweep};
use stickslip::{Body, Simulation};

/// A scenario, what is varied and what is measured.
#[derive(Clone, Debug)]
struct Study {
    text: String,
    axes: Vec<String>,
    measures: Vec<String>,
}

fn check(study: &Study) -> Result<(), TestCaseError> {
    let draft = match Draft::parse(&study.text, "test.toml", &[]) {
        Ok(draft) => draft,
        Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}", study.text))),
    };
    let axes = study.axes.iter().map(|axis| Axis::parse(axis).unwrap()).collect();
    let sweep = match Sweep::new(draft, axes, &study.measures) {
        Ok(sweep) => sweep,
        Err(error) => return Err(TestCaseError::fail(format!("{error}\n{study:?}"))),
    };
    let mut runner = sweep.runner();
    let alone: Vec<Row> = (0..sweep.rows())
        .map(|row| runner.run(sweep.keys(row), None).unwrap())
        .collect();
    for row in &alone {
        let general = step_by_step(study, row);
        let general = general.map_or([None; 2], |numbers| numbers.map(Some));
        prop_assert_eq!(&bits(row)[..2], &general, "{:?}", study);
    }
    for threads in [1, 3] {
        let mut rows = Vec::new();
        let mut keep = |row: Row| {
            rows.push(row);
            Ok(())
        };
        sweep.run(0..sweep.rows(), threads, None, &mut keep).unwrap();
        for (row, alone) in rows.iter().zip(&alone) {
            prop_assert_eq!(bits(row), bits(alone), "{} threads, {:?}", threads, study);
            prop_assert_eq!(&row.failure, &alone.failure, "{} threads, {:?}", threads, study);
        }
        prop_assert_eq!(rows.len(), alone.len());
    }
    Ok(())
}

/// Position and velocity of the first body at the end of a row's run, done step by step: no shortcut is taken.
fn step_by_step(study: &Study, row: &Row) -> Option<[u64; 2]> {
    let keys = study.axes.iter().map(|axis| axis.split('=').next().unwrap_or_default());
    let sets: Vec<String> = keys
        .zip(&row.keys)
        .map(|(key, value)| format!("{key}={}", value.written))
        .collect();
    let begin = || Simulation::new(Scenario::parse(&study.text, "test.toml", &sets).ok()?).ok();
    // The row of a run that has diverged says so.
    let outcome = run(&mut begin()?, None, Options::default()).ok()?;
    if outcome.ended != Ended::Complete {
        return None;
    }
    let mut simulation = begin()?;
    for _ in 0..simulation.built().steps {
        simulation.advance(1).ok()?;
    }
    Some([
        simulation.position(Body::nth(0))[0].to_bits(),
        simulation.velocity(Body::nth(0))[0].to_bits(),
    ])
}

fn bits(row: &Row) -> Vec<Option<u64>> {
    row.values
        .iter()
        .map(|value| value.as_f64().map(f64::to_bits))
        .collect()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), -2.0..2.0]
}

/// Functions of time: constant, constant piece by piece, smooth, tables.
fn profile() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => number().prop_map(|x| format!("{x}")),
        1 => number().prop_map(|x| format!("\"if(t < 0.02, {x}, -1)\"")),
        1 => (number(), 1.0..200.0).prop_map(|(x, w)| format!("\"{x}*sin({w:.3}*t) + cos(7*t)\"")),
        1 => (number(), prop_oneof![Just("linear"), Just("step")], prop_oneof![Just("hold"), Just("repeat"), Just("zero")]).prop_map(
            |(x, between, after)| format!(
                "{{ times = [0, 0.004, 0.011], values = [{x}, 1, -0.5], interpolation = \"{between}\", after = \"{after}\" }}"
            )
        ),
    ]
}

/// The steady curve of a friction: its numbers as lines of a table.
fn curve() -> impl Strategy<Value = String> {
    let extra = prop_oneof![
        3 => Just(String::new()),
        1 => (0.1..3.0).prop_map(|b| format!("viscous = {b}\n")),
        1 => (0.01..0.5).prop_map(|v| format!("stribeck_velocity = {v}\n")),
    ];
    (
        0.1..5.0,
        prop_oneof![Just(0.0), 0.1..3.0],
        extra,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(kinetic, more, extra, pressed)| {
            let (normal, unit) = if pressed {
                ("normal_force = \"2 + sin(90*t)\"\n", ["mu", "mu_static"])
            } else {
                ("", ["kinetic", "static"])
            };
            format!(
                "{} = {kinetic}\n{} = {}\n{extra}{normal}",
                unit[0],
                unit[1],
                kinetic + more
            )
        })
}

/// A key and the ends of its interval.
type Range = (String, f64, f64);

/// Up to two of the keys that may be varied, each with so many values.
fn pick(keys: &[Range], varied: &BTreeSet<usize>, counts: [u64; 2]) -> Vec<String> {
    let places: BTreeSet<usize> = varied.iter().map(|i| i % keys.len()).collect();
    (places.into_iter().zip(counts))
        .map(|(i, count)| format!("{}=lin:{}:{}:{count}", keys[i].0, keys[i].1, keys[i].2))
        .collect()
}

/// A law of one bristle and its numbers.
fn bristle() -> impl Strategy<Value = String> {
    let law = prop_oneof![Just("proxy"), Just("relaxed"), Just("lugre"), Just("dahl")];
    (
        law,
        0.1..3.0,
        100.0..1e4,
        1.0..50.0,
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(law, kinetic, stiffness, damping, pressed, stribeck)| {
            let (normal, key) = if pressed {
                ("normal_force = \"2 + sin(90*t)\"\n", "mu")
            } else {
                ("", "kinetic")
            };
            let damping = match law {
                "relaxed" => "beta = 0.004\n".to_string(),
                "dahl" => String::new(),
                _ => format!("damping = {damping}\n"),
            };
            let stribeck = if stribeck && law != "dahl" {
                let more = if pressed { "mu_static" } else { "static" };
                format!("{more} = {}\nstribeck_velocity = 0.1\nviscous = 0.2\n", kinetic + 0.5)
            } else {
                String::new()
            };
            format!("{key} = {kinetic}\nlaw = \"{law}\"\nstiffness = {stiffness}\n{damping}{normal}{stribeck}")
        })
}

prop_compose! {
    /// One or two masses, maybe a driver, springs and bristles between them, in explicit steps.
    fn masses()(
        integrator in prop_oneof![Just("euler"), Just("rk4")],
        step in prop_oneof![Just(1e-3), Just(7e-4), Just(0.4)],
        steps in 1..60u64,
        bodies in prop::collection::vec((0.2..3.0, number(), number(), prop::option::of(profile())), 1..=2),
        driver in prop::option::of((prop::bool::ANY, profile())),
        springs in prop::collection::vec((0usize..4, 0usize..4, 1.0..300.0, number(), number()), 0..4),
        frictions in prop::collection::vec((0usize..4, 0usize..4), 0..3),
        law in bristle(),
        varied in prop::collection::btree_set(0usize..12, 1..=2),
        counts in [1u64..24, 1u64..4],
    ) -> Study {
        let mut axes: Vec<Range> = Vec::new();
        let mut vary = |key: String, low: f64, high: f64| axes.push((key, low, high));
        let mut text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"{integrator}\"\n", step * steps as f64);
        let mut names = vec!["ground"];
        for (name, (mass, position, velocity, force)) in ["one", "two"].into_iter().zip(bodies) {
            text += &format!("[bodies.{name}]\nkind = \"mass\"\nmass = {mass}\nposition = {position}\nvelocity = {velocity}\n");
            vary(format!("bodies.{name}.mass"), 0.5, 2.0);
            vary(format!("bodies.{name}.velocity"), -1.0, 3.0);
            if let Some(force) = force {
                text += &format!("force = {force}\n");
                vary(format!("bodies.{name}.force"), -3.0, 5.0);
            }
            names.push(name);
        }
        if let Some((by_position, profile)) = driver {
            let key = if by_position { "position" } else { "velocity" };
            text += &format!("[bodies.hook]\nkind = \"driver\"\n{key} = {profile}\n");
            vary(format!("bodies.hook.{key}"), -1.0, 2.0);
            names.push("hook");
        }
        let ends = |a: usize, b: usize| (names[a % names.len()], names[b % names.len()]);
        for (i, (a, b, stiffness, damping, length)) in springs.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                text += &format!(
                    "[elements.s{i}]\nkind = \"spring\"\nbetween = [\"{a}\", \"{b}\"]\nstiffness = {stiffness}\n\
                     damping = {}\nlength = {}\n", damping.abs(), length.abs());
                // The stiffest of them overflow within a run.
                vary(format!("elements.s{i}.stiffness"), 1.0, if i == 0 { 1e40 } else { 1e3 });
            }
        }
        for (i, (a, b)) in frictions.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                text += &format!("[elements.f{i}]\nkind = \"friction\"\nbetween = [\"{a}\", \"{b}\"]\n{law}");
                vary(format!("elements.f{i}.{}", if law.starts_with("mu") { "mu" } else { "kinetic" }), 0.1, 0.6);
                vary(format!("elements.f{i}.stiffness"), 100.0, 1000.0);
            }
        }
        let measures = vec!["final.one.position".to_string(), "final.one.velocity".into()];
        Study { axes: pick(&axes, &varied, counts), text, measures }
    }
}

prop_compose! {
    /// One coordinate with drivers, springs and friction in the implicit step.
    fn blocks()(
        step in prop_oneof![Just(1e-3), Just(7e-4), Just(0.1)],
        steps in 1..120u64,
        shaft in prop::bool::weighted(0.2),
        mass in prop_oneof![Just(1.0), 0.2..3.0],
        (position, velocity) in (number(), number()),
        force in prop::option::of(profile()),
        drivers in prop::collection::vec((profile(), number()), 0..=2),
        springs in prop::collection::vec((0usize..3, prop::bool::ANY, 1.0..300.0, number(), number()), 0..3),
        friction in prop::option::of((0usize..3, prop::bool::ANY, curve())),
        varied in prop::collection::btree_set(0usize..12, 1..=2),
        counts in [1u64..24, 1u64..4],
    ) -> Study {
        let mut axes: Vec<Range> = Vec::new();
        let mut vary = |key: String, low: f64, high: f64| axes.push((key, low, high));
        let mut text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"implicit-euler\"\n", step * steps as f64);
        let (kind, amount) = if shaft { ("inertia", "inertia") } else { ("mass", "mass") };
        text += &format!("[bodies.block]\nkind = \"{kind}\"\n{amount} = {mass}\nposition = {position}\nvelocity = {velocity}\n");
        let mut names = vec!["ground"];
        vary(format!("bodies.block.{amount}"), 0.5, 2.0);
        vary("bodies.block.velocity".into(), -1.0, 3.0);
        vary("bodies.block.position".into(), -1.0, 1.0);
        if let (Some(force), false) = (&force, shaft) {
            text += &format!("force = {force}\n");
            vary("bodies.block.force".into(), -3.0, 5.0);
        }
        for (name, (profile, start)) in ["hook", "belt"].into_iter().zip(drivers) {
            text += &format!("[bodies.{name}]\nkind = \"driver\"\nvelocity = {profile}\nstart = {start}\n");
            vary(format!("bodies.{name}.velocity"), -1.0, 2.0);
            names.push(name);
        }
        for (i, (other, first, stiffness, damping, length)) in springs.into_iter().enumerate() {
            let other = names[other % names.len()];
            let ends = if first { ["block", other] } else { [other, "block"] };
            text += &format!(
                "[elements.s{i}]\nkind = \"spring\"\nbetween = [\"{}\", \"{}\"]\nstiffness = {stiffness}\ndamping = {}\n\
                 length = {}\nimplicit = false\n", ends[0], ends[1], damping.abs(), length.abs());
            // The stiffest of them overflow within a run.
            vary(format!("elements.s{i}.stiffness"), 1.0, if i == 0 { 1e9 } else { 1e3 });
        }
        if let Some((other, first, curve)) = friction {
            let other = names[other % names.len()];
            let ends = if first { ["block", other] } else { [other, "block"] };
            text += &format!("[elements.floor]\nkind = \"friction\"\nbetween = [\"{}\", \"{}\"]\nlaw = \"implicit\"\n{curve}", ends[0], ends[1]);
            let key = if curve.starts_with("mu") { "mu" } else { "kinetic" };
            vary(format!("elements.floor.{key}"), 0.1, 1.0);
        }
        let axes = pick(&axes, &varied, counts);
        let mut measures = vec!["final.block.position".to_string(), "final.block.velocity".into()];
        if text.contains("floor") {
            measures.push("final.floor.force".into());
        }
        Study { text, axes, measures }
    }
}

/// A law that goes in lanes under the integrator, and its numbers.
fn law(implicit: bool) -> BoxedStrategy<String> {
    let dry = curve().prop_map(|curve| format!("law = \"implicit\"\n{curve}"));
    if implicit {
        return dry.boxed();
    }
    let subloading = (0.1..0.5, 1.0..20.0).prop_map(|(more, load)| {
        format!("law = \"subloading\"\nmu = 0.3\nmu_static = {}\ntangential_stiffness = 1e4\nnormal_force = {load}\nr = 1e4\nkappa = 10\neta = 1\n", 0.3 + more)
    });
    let rounded = (0.5..3.0, 0.01..0.1)
        .prop_map(|(force, epsilon)| format!("law = \"martins-oden\"\nkinetic = {force}\nepsilon = {epsilon}\n"));
    prop_oneof![6 => bristle(), 1 => subloading, 1 => rounded].boxed()
}

/// So many numbers as a value of a key.
fn list(axes: usize, numbers: &[f64; 3]) -> String {
    if axes == 1 {
        format!("{}", numbers[0])
    } else {
        format!("{:?}", &numbers[..axes])
    }
}

prop_compose! {
    /// One or two balls on planes of any slope: they rest, roll, slip, bounce or fly.
    fn balls()(
        step in prop_oneof![Just(1e-3), Just(1e-4), Just(0.02)],
        steps in 1..200u64,
        balls in prop::collection::vec((
            prop_oneof![Just(0.0), 0.0..0.01],
            [number(), number(), number()],
            [-20.0..20.0, -20.0..20.0, -300.0..300.0],
            (prop_oneof![Just(0.0), 0.05..0.6], prop_oneof![Just(0.0), 0.01..0.3]),
            prop_oneof![3 => Just(0.0), 1 => 0.1..0.9],
        ), 1..=2),
        slope in prop_oneof![Just(0.0), -0.5..0.5],
        varied in prop::collection::btree_set(0usize..8, 1..=2),
        counts in [2u64..24, 1u64..4],
    ) -> Study {
        let mut ranges: Vec<Range> = Vec::new();
        let mut vary = |key: String, low: f64, high: f64| ranges.push((key, low, high));
        let mut text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = [{slope}, 0, -9.8]\n", step * steps as f64);
        for (i, (height, velocity, spin, (mu, more), restitution)) in balls.into_iter().enumerate() {
            text += &format!(
                "[bodies.b{i}]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.2 }}\nmass = 0.3\nposition = [0, {i}, {}]\n\
                 velocity = {velocity:?}\nangular_velocity = {spin:?}\n\
                 [elements.c{i}]\nkind = \"contact\"\nbetween = [\"b{i}\", \"ground\"]\n\
                 surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\nnormal = {{ law = \"rigid\", restitution = {restitution} }}\n\
                 friction = {{ law = \"implicit\", mu = {mu}, mu_static = {} }}\n", 0.2 + height, mu + more);
            vary(format!("bodies.b{i}.mass"), 0.1, 2.0);
            vary(format!("elements.c{i}.friction.mu"), 0.0, 0.05);
            vary(format!("bodies.b{i}.velocity.0"), -1.0, 3.0);
        }
        let measures = vec!["final.b0.position.x".to_string(), "final.b0.velocity.x".into(), "final.b0.position.z".into(), "final.b0.velocity.z".into()];
        Study { axes: pick(&ranges, &varied, counts), text, measures }
    }
}

prop_compose! {
    /// Any number of masses on one to three axes, drivers, springs and frictions of any law that goes in lanes.
    fn networks(integrator: &'static str)(
        axes in prop_oneof![3 => Just(1usize), 1 => Just(2), 1 => Just(3)],
        step in prop_oneof![Just(1e-3), Just(7e-4), Just(0.05)],
        steps in 1..60u64,
        bodies in prop::collection::vec((0.2..3.0, [number(), number(), number()], [number(), number(), number()], prop::option::of(profile())), 1..=5),
        drivers in prop::collection::vec((prop::bool::ANY, profile(), [number(), number(), number()]), 0..=2),
        springs in prop::collection::vec((0usize..8, 0usize..8, 1.0..300.0, number(), number()), 0..6),
        frictions in prop::collection::vec((0usize..8, 0usize..8, law(integrator == "implicit-euler"), prop::option::weighted(0.1, 0usize..6)), 0..5),
        ratio in prop::option::weighted(0.3, (0.2..3.0, -2.0..2.0)),
        actuators in prop::collection::vec((0usize..8, 0usize..8, profile()), 0..=2),
        varied in prop::collection::btree_set(0usize..40, 1..=2),
        counts in [2u64..24, 1u64..4],
    ) -> Study {
        let mut ranges: Vec<Range> = Vec::new();
        let mut vary = |key: String, low: f64, high: f64| ranges.push((key, low, high));
        let mut text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"{integrator}\"\n", step * steps as f64);
        let mut names = vec!["ground".to_string()];
        for (i, (mass, position, velocity, force)) in bodies.into_iter().enumerate() {
            text += &format!("[bodies.b{i}]\nkind = \"mass\"\nmass = {mass}\nposition = {}\nvelocity = {}\n", list(axes, &position), list(axes, &velocity));
            vary(format!("bodies.b{i}.mass"), 0.5, 2.0);
            if axes == 1 {
                vary(format!("bodies.b{i}.velocity"), -1.0, 3.0);
                if let Some(force) = force {
                    text += &format!("force = {force}\n");
                    vary(format!("bodies.b{i}.force"), -3.0, 5.0);
                }
            }
            names.push(format!("b{i}"));
        }
        for (i, (by_position, profile, start)) in drivers.into_iter().enumerate() {
            let key = if by_position { "position" } else { "velocity" };
            let profiles = if axes == 1 { profile } else { format!("[{}]", vec![profile; axes].join(", ")) };
            text += &format!("[bodies.d{i}]\nkind = \"driver\"\n{key} = {profiles}\n");
            if !by_position {
                text += &format!("start = {}\n", list(axes, &start));
            }
            if axes == 1 {
                vary(format!("bodies.d{i}.{key}"), -1.0, 2.0);
            }
            names.push(format!("d{i}"));
        }
        let ends = |a: usize, b: usize| (&names[a % names.len()], &names[b % names.len()]);
        let ratio = match ratio {
            Some((first, second)) if axes == 1 => format!("ratio = [{first}, {second}]\n"),
            _ => String::new(),
        };
        for (i, (a, b, value)) in actuators.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b && axes == 1 {
                text += &format!("[elements.a{i}]\nkind = \"actuator\"\nbetween = [\"{a}\", \"{b}\"]\nvalue = {value}\n{ratio}");
                vary(format!("elements.a{i}.value"), -2.0, 2.0);
            }
        }
        let mut springy = Vec::new();
        for (i, (a, b, stiffness, damping, length)) in springs.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                let explicit = if integrator == "implicit-euler" { "implicit = false\n" } else { "" };
                text += &format!(
                    "[elements.s{i}]\nkind = \"spring\"\nbetween = [\"{a}\", \"{b}\"]\nstiffness = {stiffness}\n\
                     damping = {}\nlength = {}\n{explicit}{ratio}", damping.abs(), length.abs());
                // The stiffest of them overflow within a run.
                vary(format!("elements.s{i}.stiffness"), 1.0, if i == 0 { 1e40 } else { 1e3 });
                // Only on one axis a spring presses on something.
                if axes == 1 {
                    springy.push(i);
                }
            }
        }
        for (i, (a, b, law, pressed)) in frictions.into_iter().enumerate() {
            let (a, b) = ends(a, b);
            if a != b {
                // Some are pressed on by a spring.
                let law = match pressed.and_then(|spring| springy.get(spring)) {
                    Some(spring) if law.contains("normal_force") => law.lines().map(|line| {
                        if line.starts_with("normal_force") { format!("normal_force = {{ element = \"s{spring}\" }}\n") } else { format!("{line}\n") }
                    }).collect(),
                    _ => law,
                };
                text += &format!("[elements.f{i}]\nkind = \"friction\"\nbetween = [\"{a}\", \"{b}\"]\n{law}{ratio}");
                let key = if law.contains("mu = ") { "mu" } else { "kinetic" };
                vary(format!("elements.f{i}.{key}"), 0.1, 0.3);
            }
        }
        let measures = vec![if axes == 1 { "final.b0.position" } else { "final.b0.position.x" }.to_string(), if axes == 1 { "final.b0.velocity" } else { "final.b0.velocity.x" }.to_string()];
        Study { axes: pick(&ranges, &varied, counts), text, measures }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn networks_in_the_implicit_step_side_by_side_or_alone(study in networks("implicit-euler")) {
        check(&study)?;
    }

    #[test]
    fn balls_side_by_side_or_alone(study in balls()) {
        check(&study)?;
    }

    #[test]
    fn networks_in_stages_side_by_side_or_alone(study in prop_oneof![networks("rk4"), networks("euler")]) {
        check(&study)?;
    }

    #[test]
    fn blocks_side_by_side_or_alone(study in blocks()) {
        check(&study)?;
    }

    #[test]
    fn masses_side_by_side_or_alone(study in masses()) {
        check(&study)?;
    }
}

/// Lanes and runs alone stop now and then to see whether they are wanted still; more steps than lie between two such stops.
#[test]
fn long_runs_side_by_side_or_alone() {
    for (integrator, law) in [("implicit-euler", "implicit"), ("rk4", "proxy")] {
        for blocks in [1, 3] {
            let mut text = format!("[simulation]\nduration = 70.001\nstep = 1e-3\nintegrator = \"{integrator}\"\n");
            for i in 0..blocks {
                let before = if i == 0 {
                    "hook".to_string()
                } else {
                    format!("b{}", i - 1)
                };
                text += &format!(
                    "[bodies.b{i}]\nkind = \"mass\"\nmass = 1\n\
                     [elements.s{i}]\nkind = \"spring\"\nbetween = [\"{before}\", \"b{i}\"]\nstiffness = 30\n\
                     [elements.f{i}]\nkind = \"friction\"\nbetween = [\"b{i}\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 2\n"
                );
            }
            text += "[bodies.hook]\nkind = \"driver\"\nvelocity = \"0.1 + 0.05*sin(t)\"\n";
            let study = Study {
                text,
                axes: vec!["elements.f0.kinetic=lin:0.5:3:11".into()],
                measures: ["final.b0.position", "final.b0.velocity"].map(String::from).to_vec(),
            };
            check(&study).unwrap();
        }
    }
}

/// What many blocks or spheres do is not in the network, which is a drive or nothing: their rows are done alone.
#[test]
fn many_blocks_and_spheres_are_swept_as_they_run() {
    let chain = "[simulation]\nduration = 0.2\nstep = 1e-3\nintegrator = \"implicit-euler\"\n\
        [chain]\ncount = 20\nbody = { mass = 1 }\nneighbour = { stiffness = 100 }\n\
        drive = { stiffness = 40, velocity = 10 }\nfriction = { law = \"implicit\", kinetic = 1 }\n";
    let spheres = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/scenarios/w6.toml"));
    let spheres = spheres.unwrap();
    for (text, sets, key, range, measure) in [
        (
            chain,
            vec![],
            "chain.friction.kinetic",
            "lin:0.1:0.9:12",
            "final.chain.moment",
        ),
        (
            spheres.as_str(),
            vec!["spheres.count=9".to_string(), "simulation.duration=0.2".to_string()],
            "spheres.contact.friction.mu",
            "lin:0.05:0.3:12",
            "final.spheres.velocity.x",
        ),
    ] {
        let draft = Draft::parse(text, "test.toml", &sets).unwrap_or_else(|error| panic!("{error}"));
        let axes = vec![Axis::parse(&format!("{key}={range}")).unwrap()];
        let sweep = Sweep::new(draft, axes, &[measure.to_string()]).unwrap_or_else(|error| panic!("{error}"));
        let mut rows = Vec::new();
        let mut keep = |row: Row| {
            rows.push(row);
            Ok(())
        };
        sweep.run(0..sweep.rows(), 1, None, &mut keep).unwrap();
        assert_eq!(rows.len(), 12);
        for row in rows {
            let mut sets = sets.clone();
            sets.push(format!("{key}={}", row.keys[0].written));
            let mut alone = Simulation::new(Scenario::parse(text, "test.toml", &sets).unwrap()).unwrap();
            let report = stickslip::run::run(&mut alone, None, stickslip::run::Options::default());
            let report = report.unwrap().report;
            let column = measure.trim_start_matches("final.");
            assert_eq!(row.values[0].as_f64(), report.final_[column].as_f64(), "{sets:?}");
        }
    }
}
