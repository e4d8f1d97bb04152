//! Nothing a user can write makes the builder or a step panic; the registry and the scenario reader agree.
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip::advice::Glance;
use stickslip::core::registry::{Family, LAWS, Law, Parameter};
use stickslip::integrate::Method;
use stickslip::model::{Friction, GROUND, Model};
use stickslip::run::{Ended, Options, recorded_columns, run};
use stickslip::scenario::Scenario;
use stickslip::{Body, Element, RunError, Simulation};

fn files() -> Vec<std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn scenarios() -> Vec<String> {
    let read = |file| std::fs::read_to_string(file).unwrap();
    files().iter().map(read).collect()
}

/// Reads, builds and, if that works, runs a few steps; every failure must be an error with a text.
fn survive(text: &str) {
    let outcome = Scenario::parse(text, "mutated.toml", &[]).and_then(Simulation::new);
    match outcome {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut simulation) => {
            if let Err(error) = simulation.advance_observed(20) {
                assert!(error.to_string().contains("help"));
            }
            assert!(
                simulation.state().values.iter().all(|x| x.is_finite()),
                "the last good state is kept"
            );
        }
    }
}

const ODD: &[&str] = &[
    "0",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e-308",
    "1e-300",
    "5e300",
    "\"\"",
    "[]",
    "[1, 2, 3]",
    "{}",
    "true",
    "\"t\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios_never_panic(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..6u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let all = scenarios();
        let mut lines: Vec<String> = which.get(&all).lines().map(str::to_string).collect();
        for (line, kind, other, odd) in edits {
            let (i, j) = (line.index(lines.len()), other.index(lines.len()));
            match kind {
                0 => { lines.remove(i); }
                1 => { let copy = lines[i].clone(); lines.insert(j, copy); }
                2 => lines.swap(i, j),
                3 | 4 => {
                    if let Some((key, _)) = lines[i].clone().split_once('=') {
                        lines[i] = format!("{key} = {}", odd.get(ODD));
                    }
                }
                _ => {
                    let words = ["ground", "block", "implicit", "proxy", "rk4", "mass", "driver", "rigid", "arm.elbow"];
                    if let Some((key, _)) = lines[i].clone().split_once('=') {
                        lines[i] = format!("{key} = \"{}\"", odd.get(&words));
                    }
                }
            }
            if lines.is_empty() { break; }
        }
        survive(&lines.join("\n"));
    }

    #[test]
    fn odd_numbers_never_panic(
        magnitudes in prop::array::uniform5(-300.0..300.0f64),
        v in any::<f64>(),
        law in 0..8usize,
    ) {
        let [mass, stiffness, limit, step, epsilon] = magnitudes.map(|power| 10f64.powf(power));
        let law = ["implicit", "proxy", "lugre", "dahl", "relaxed", "karnopp", "quinn", "martins-oden"][law];
        let own = if ["karnopp", "quinn", "martins-oden"].contains(&law) { format!("epsilon = {epsilon:?}") } else { String::new() };
        for integrator in ["euler", "rk4", "implicit-euler"] {
            survive(&format!(
                "[simulation]\nduration = {:?}\nstep = {step:?}\nintegrator = \"{integrator}\"\n\
                 [bodies.a]\nkind = \"mass\"\nmass = {mass:?}\nvelocity = {v:?}\n[bodies.b]\nkind = \"driver\"\nposition = \"sin(t)\"\n\
                 [elements.s]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = {stiffness:?}\n\
                 [elements.f]\nkind = \"friction\"\nbetween = [\"a\", \"ground\"]\nlaw = \"{law}\"\nkinetic = {limit:?}\n{own}\n",
                step * 100.0
            ));
        }
    }
}

/// Every parameter of every law can be written in a scenario, and the law then runs.
#[test]
fn every_registered_parameter_is_a_scenario_key() {
    for law in LAWS {
        let line = |parameter: &Parameter| match parameter.default {
            Some(number) if number.parse::<f64>().is_ok() => format!("{} = {number}", parameter.name),
            Some(word) if parameter.unit.is_empty() && !word.contains(' ') => {
                format!("{} = \"{word}\"", parameter.name)
            }
            _ => format!("{} = 0.5", parameter.name),
        };
        // Those of a relaxed contact that take each other's place are written one after the other.
        let instead: &[&[&str]] = match (law.family, law.name) {
            (Family::Contact, "relaxed") => &[
                &["restitution", "penetration", "impact_speed"],
                &["stiffness", "beta", "alpha"],
            ],
            _ => &[&[]],
        };
        for without in instead {
            let parameters = law.parameters.iter().filter(|known| !without.contains(&known.name));
            every_integrator_runs(law, &parameters.map(line).collect::<Vec<_>>());
        }
    }
}

/// Runs a law with these parameters under each of its integrators.
fn every_integrator_runs(law: &Law, parameters: &[String]) {
    for integrator in law.integrators {
        let body = "[bodies.ball]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 0]\n";
        let strength = if law.name == "subloading" {
            "mu = 0.5\nnormal_force = 2"
        } else {
            "kinetic = 1"
        };
        let element = match law.family {
            Family::Friction => format!(
                "[elements.e]\nkind = \"friction\"\nbetween = [\"ball\", \"ground\"]\nlaw = \"{}\"\n{strength}\n{}\n",
                law.name,
                parameters.join("\n")
            ),
            Family::Contact => format!(
                "[elements.e]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
                 surface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\nnormal = {{ law = \"{}\", {} }}\n",
                law.name,
                parameters.join(", ")
            ),
        };
        let text = format!("[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"{integrator}\"\n{body}{element}");
        let scenario = Scenario::parse(&text, law.name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        simulation.advance_observed(10).unwrap();
    }
}

/// The same input gives the same bytes, however the steps are called.
#[test]
fn runs_are_the_same_to_the_last_bit() {
    for file in files() {
        let run = |observed: bool, chunk: u64| {
            let scenario = Scenario::read(&file, &[]).unwrap();
            let mut simulation = Simulation::new(scenario).unwrap();
            let steps = simulation.built().steps.min(2000);
            let mut done = 0;
            while done < steps {
                let now = chunk.min(steps - done);
                if observed {
                    simulation.advance_observed(now)
                } else {
                    simulation.advance(now)
                }
                .unwrap();
                if observed {
                    simulation.observe();
                    simulation.energy();
                }
                done += now;
            }
            simulation
                .state()
                .values
                .iter()
                .map(|x| x.to_bits())
                .collect::<Vec<_>>()
        };
        let first = run(false, u64::MAX);
        assert_eq!(first, run(true, 7), "observing changes the motion");
        assert_eq!(first, run(false, 1), "the number of steps per call changes the motion");
    }
}

/// Every template of `stickslip new` runs as it is, to its end.
#[test]
fn every_template_runs() {
    for template in stickslip::scenario::TEMPLATES {
        let scenario = Scenario::parse(template.text, template.name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        let steps = simulation.built().steps;
        simulation
            .advance(steps)
            .unwrap_or_else(|error| panic!("{}: {error}", template.name));
    }
}

/// A sled on a driven plate, with the rest of the file.
fn on_a_plate(integrator: &str, velocity: &str, law: &str) -> String {
    format!(
        "[simulation]\nduration = 2\nstep = 1e-3\nintegrator = \"{integrator}\"\n\
         [bodies.plate]\nkind = \"driver\"\nvelocity = {velocity}\n\
         [elements.rub]\nkind = \"friction\"\nbetween = [\"plate\", \"ground\"]\n{law}\n"
    )
}

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A driver that rubs on the ground, in one to three dimensions: after long sliding the force is the kinetic one, against the motion.
#[test]
fn a_driver_rubs_on_the_ground_with_every_law() {
    let mut tried = 0;
    for law in LAWS.iter().filter(|law| law.family == Family::Friction) {
        let numbers = match law.name {
            "subloading" => {
                "mu_static = 0.3\nmu_kinetic = 0.25\nnormal_force = 8\ntangential_stiffness = 1e4\nkappa = 1e3\neta = 0.1\nr = 1e3"
            }
            "karnopp" | "quinn" | "martins-oden" => "kinetic = 2\nepsilon = 1e-3",
            "relaxed" => "kinetic = 2\nstiffness = 2e3\nbeta = 2e-3",
            "implicit" => "kinetic = 2",
            "dahl" => "kinetic = 2\nstiffness = 2e3",
            _ => "kinetic = 2\nstiffness = 2e3\ndamping = 3",
        };
        for integrator in law.integrators {
            for velocity in [vec![0.3], vec![0.18, -0.24], vec![0.1, 0.2, -0.2]] {
                let text = on_a_plate(
                    integrator,
                    &format!("{velocity:?}"),
                    &format!("law = \"{}\"\n{numbers}", law.name),
                );
                let text = match velocity.as_slice() {
                    [speed] => text.replace(&format!("{velocity:?}"), &speed.to_string()),
                    _ => text,
                };
                // What a law does not do in the plane it refuses with a reason.
                let Ok(mut plate) = Scenario::parse(&text, "plate.toml", &[]).and_then(Simulation::new) else {
                    assert!(velocity.len() > 1, "{text}");
                    continue;
                };
                plate.advance(2000).unwrap_or_else(|error| panic!("{error}\n{text}"));
                for (force, v) in plate.force(Element::nth(0)).iter().zip(&velocity) {
                    let expected = -2.0 * v / 0.3;
                    assert!((force - expected).abs() < 2e-3, "{text}\n{force} and not {expected}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

/// What nothing holds and what is too stiff for floating numbers has no linear stability, and says why.
#[test]
fn linear_stability_that_cannot_be_had_is_a_reason_in_words() {
    use stickslip::analysis::steady::SteadySliding;
    let head = "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"rk4\"\n[bodies.belt]\nkind = \"driver\"\nvelocity = 0.3\n\
                [bodies.sled]\nkind = \"mass\"\nmass = 2\n";
    let rub = |stiffness: &str| {
        format!(
            "{head}[elements.tie]\nkind = \"spring\"\nbetween = [\"sled\", \"ground\"]\nstiffness = {stiffness}\n[elements.rub]\n\
             kind = \"friction\"\nbetween = [\"sled\", \"belt\"]\nlaw = \"lugre\"\nkinetic = 3\nstiffness = 1e5\ndamping = 20\n"
        )
    };
    let reason = |text: &str| SteadySliding::of(&simulation(text)).map_err(|reason| !reason.is_empty());
    assert_eq!(reason(head), Err(true));
    assert!(reason(&rub("40")).is_ok());
    for stiffness in ["1e308", "1e200", "1e160"] {
        assert_eq!(reason(&rub(stiffness)), Err(true), "{stiffness}");
    }
}

/// Two bodies that rub by a law without rhyme or reason, whose equations no method solves.
struct Noise {
    calls: std::sync::Arc<std::sync::atomic::AtomicU64>,
    /// Sets the flag at this call.
    stop: Option<(u64, stickslip::Stop)>,
}

impl stickslip::element::own::OwnElement for Noise {
    fn respond(&self, motion: &stickslip::element::own::Motion<'_>, _: &mut [f64], force: &mut [f64]) {
        use std::sync::atomic::Ordering::Relaxed;
        let calls = self.calls.fetch_add(1, Relaxed);
        if let Some((at, stop)) = &self.stop
            && calls == *at
        {
            stop.store(true, Relaxed);
        }
        // SplitMix64 of the bits of the velocity: any force between -1e6 N and 1e6 N.
        let mut bits = motion.velocity[0].to_bits().wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        force[0] = (bits >> 11) as f64 / (1u64 << 52) as f64 * 1e6 - 1e6;
    }
}

fn noisy(
    method: Method,
    stop: Option<(u64, stickslip::Stop)>,
) -> (Simulation, std::sync::Arc<std::sync::atomic::AtomicU64>) {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut model = Model::new(1e-2, method);
    let bodies = [0.0, 1.0].map(|x| model.mass(&format!("b{x}"), 1.0, &[x], &[0.1]));
    let noise = Noise {
        calls: calls.clone(),
        stop,
    };
    model.own_element("noise", bodies[0], bodies[1], noise);
    (model.build().unwrap(), calls)
}

#[test]
fn equations_that_nothing_solves_end_with_an_error() {
    let (mut simulation, calls) = noisy(Method::Trapezoidal, None);
    let outcome = simulation.advance(5);
    let calls = calls.load(std::sync::atomic::Ordering::Relaxed);
    assert!(
        matches!(outcome, Err(RunError::Stalled { .. })),
        "{outcome:?} after {calls} calls"
    );
    assert_eq!(simulation.steps_done(), 0);
    assert!((1000..1_000_000).contains(&calls), "{calls}");
}

/// The flag is set while a step is being solved: it ends there and is left undone.
#[test]
fn a_step_that_takes_long_is_stopped_within_it() {
    for method in [Method::Trapezoidal, Method::Adaptive, Method::Stiff] {
        let stop = stickslip::Stop::default();
        let (mut simulation, calls) = noisy(method, Some((200, stop.clone())));
        let options = Options {
            stop: Some(&stop),
            ..Options::default()
        };
        let outcome = run(&mut simulation, None, options).unwrap();
        let calls = calls.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(outcome.ended, Ended::Stopped, "{method:?}");
        assert!((200..1200).contains(&calls), "{method:?}: {calls} calls");
    }
}

/// A flag that is set before ends every kind of simulation at once, with its state as it was.
#[test]
fn whatever_runs_heeds_a_stop() {
    let stop = stickslip::Stop::default();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for text in scenarios() {
        let Ok(mut simulation) = Scenario::parse(&text, "test.toml", &[]).and_then(Simulation::new) else {
            continue;
        };
        let before = simulation.state().values.clone();
        simulation.heed(Some(&stop));
        for outcome in [simulation.advance(100), simulation.advance_observed(100)] {
            assert!(matches!(outcome, Err(RunError::Stopped { .. })), "{outcome:?}\n{text}");
        }
        assert_eq!(
            (simulation.steps_done(), &simulation.state().values),
            (0, &before),
            "{text}"
        );
    }
}

/// Forces after many steps at once are those after the same steps one by one.
#[test]
fn forces_are_fresh_after_many_steps() {
    let block = "[bodies.hook]\nkind = \"driver\"\nvelocity = 0.05\n[bodies.block]\nkind = \"mass\"\nmass = 2\n\
                 [elements.pull]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 30\n\
                 [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nkinetic = 4\n";
    let two = "[bodies.other]\nkind = \"mass\"\nmass = 1\n[elements.tie]\nkind = \"spring\"\nbetween = [\"block\", \"other\"]\nstiffness = 20\n";
    let ball = "[bodies.ball]\nkind = \"rigid-body\"\nshape = { sphere = 0.1 }\nmass = 1\nposition = [0, 0, 0.1]\nvelocity = [1, 0, 0]\n\
                [elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\nsurface = { plane = { normal = [0, 0, 1], offset = 0 } }\n\
                normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.2 }\n";
    for (integrator, rest) in [
        ("implicit-euler", format!("{block}law = \"implicit\"\n")),
        ("implicit-euler", format!("{block}law = \"implicit\"\n{two}")),
        (
            "implicit-euler",
            format!("{block}law = \"proxy\"\nstiffness = 1e4\ndamping = 20\n"),
        ),
        ("implicit-euler", ball.to_string()),
        (
            "rk4",
            format!("{block}law = \"proxy\"\nstiffness = 1e4\ndamping = 20\n"),
        ),
        (
            "rk4",
            format!("{block}law = \"lugre\"\nstiffness = 1e4\ndamping = 20\n{two}"),
        ),
        (
            "stiff",
            format!("{block}law = \"lugre\"\nstiffness = 1e4\ndamping = 20\n"),
        ),
        (
            "trapezoidal",
            format!("{block}law = \"lugre\"\nstiffness = 1e4\ndamping = 20\n"),
        ),
    ] {
        let text = format!(
            "[simulation]\nduration = 9\nstep = 1e-3\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n{rest}"
        );
        let (mut many, mut single, mut seen) = (simulation(&text), simulation(&text), simulation(&text));
        // Stuck, then slipping; after few steps and after many.
        for steps in [1, 3, 996, 1500, 500] {
            many.advance(steps).unwrap();
            for _ in 0..steps {
                single.advance(1).unwrap();
                seen.advance_observed(1).unwrap();
            }
            seen.observe();
            for element in many.elements() {
                assert_eq!(
                    many.force(element),
                    single.force(element),
                    "{integrator}, {steps}\n{text}"
                );
                assert_eq!(
                    many.force(element),
                    seen.force(element),
                    "{integrator}, {steps}\n{text}"
                );
            }
            assert_eq!(many.work().input, 0.0, "energy is counted over observed steps only");
        }
    }
    // Stuck under 30 N/m * 0.05 m/s * 2 s = 3 N.
    let text = format!(
        "[simulation]\nduration = 9\nstep = 1e-3\nintegrator = \"implicit-euler\"\n{block}law = \"implicit\"\n"
    );
    let mut stuck = simulation(&text);
    stuck.advance(2000).unwrap();
    // The spring is taken at the start of the step, a step before.
    let pull = 30.0 * 0.05 * 1.999;
    assert!(
        (stuck.force(Element::nth(1))[0] + pull).abs() < 1e-9,
        "{:?} and not {pull}",
        stuck.force(Element::nth(1))
    );
    assert_eq!(stuck.velocity(Body::nth(1)), [0.0]);
}

#[test]
fn sums_over_many_bodies_are_fresh_after_many_steps() {
    let text = "[simulation]\nduration = 9\nstep = 1e-2\nintegrator = \"implicit-euler\"\n[chain]\ncount = 7\n\
                body = { mass = 1, position = \"0.2*i\" }\nneighbour = { stiffness = 5 }\ndrive = { stiffness = 1, velocity = 1 }\n\
                friction = { law = \"implicit\", kinetic = 0.2 }\n";
    let (mut many, mut single) = (simulation(text), simulation(text));
    many.advance(300).unwrap();
    (0..300).for_each(|_| single.advance_observed(1).unwrap());
    single.observe();
    assert_eq!(format!("{:?}", many.aggregates()), format!("{:?}", single.aggregates()));
    assert!(many.aggregates().kinetic > 0.0);
}

/// A model in Rust is refused as a file with the same numbers is, in the same words.
#[test]
fn a_model_refuses_what_a_file_refuses() {
    type Change = fn(&mut Numbers);
    /// A block on a floor behind a spring.
    #[derive(Clone)]
    struct Numbers {
        step: f64,
        mass: f64,
        position: Vec<f64>,
        velocity: Vec<f64>,
        law: &'static str,
        limits: [f64; 2],
        viscous: f64,
        stiffness: f64,
        name: &'static str,
    }
    let usual = Numbers {
        step: 1e-3,
        mass: 2.0,
        position: vec![0.1],
        velocity: vec![0.0],
        law: "implicit",
        limits: [4.0, 5.0],
        viscous: 0.1,
        stiffness: 20.0,
        name: "block",
    };
    let model = |numbers: &Numbers| {
        let mut model = Model::new(numbers.step, Method::ImplicitEuler);
        let block = model.mass(numbers.name, numbers.mass, &numbers.position, &numbers.velocity);
        let friction = Friction::law(numbers.law, numbers.limits[0]).holding(numbers.limits[1]);
        model.friction("floor", block, GROUND, friction.viscous(numbers.viscous));
        model.spring("tie", block, GROUND, numbers.stiffness, 0.0);
        model.build()
    };
    let file = |numbers: &Numbers| {
        let list = |values: &[f64]| match values {
            [one] => format!("{one:?}"),
            several => format!("{several:?}"),
        };
        let [kinetic, holding] = numbers.limits;
        let text = format!(
            "[simulation]\nduration = {:?}\nstep = {:?}\nintegrator = \"implicit-euler\"\n[bodies.{name}]\nkind = \"mass\"\nmass = {:?}\n\
             position = {}\nvelocity = {}\n[elements.floor]\nkind = \"friction\"\nbetween = [\"{name}\", \"ground\"]\nlaw = \"{}\"\n\
             kinetic = {kinetic:?}\nstatic = {holding:?}\nviscous = {:?}\n[elements.tie]\nkind = \"spring\"\nbetween = [\"{name}\", \"ground\"]\n\
             stiffness = {:?}\n",
            1e6 * numbers.step,
            numbers.step,
            numbers.mass,
            list(&numbers.position),
            list(&numbers.velocity),
            numbers.law,
            numbers.viscous,
            numbers.stiffness,
            name = numbers.name,
        );
        Scenario::parse(&text.replace("NaN", "nan"), "test.toml", &[]).and_then(Simulation::new)
    };
    assert!(model(&usual).is_ok() && file(&usual).is_ok());
    let changes: [Change; 19] = [
        |n| n.mass = -1.5,
        |n| n.mass = 0.0,
        |n| n.mass = f64::NAN,
        |n| n.mass = f64::INFINITY,
        |n| n.position = vec![f64::NAN],
        |n| n.velocity = vec![f64::NEG_INFINITY],
        |n| n.position = vec![0.0, 1.0],
        |n| n.velocity = vec![0.0, 1.0, 2.0],
        |n| n.limits = [-10.0, 5.0],
        |n| n.limits = [f64::NAN, 5.0],
        |n| n.limits = [4.0, f64::INFINITY],
        |n| n.limits = [4.0, 3.5],
        |n| n.viscous = -1.0,
        |n| n.stiffness = -20.0,
        |n| n.stiffness = f64::NAN,
        |n| n.law = "coulomb-amontons",
        |n| n.name = "ground",
        |n| n.name = "floor",
        |n| n.name = "t",
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut numbers = usual.clone();
        change(&mut numbers);
        let words = |outcome: Result<Simulation, stickslip::scenario::ScenarioError>| match outcome {
            Ok(_) => panic!("change {i} is accepted"),
            Err(error) => error.diagnostics[0].message.clone(),
        };
        assert_eq!(words(model(&numbers)), words(file(&numbers)), "change {i}");
    }
    for step in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let numbers = Numbers { step, ..usual.clone() };
        assert!(model(&numbers).is_err() && file(&numbers).is_err(), "a step of {step}");
    }
    // What only Rust can say.
    let mut twins = Model::new(1e-3, Method::Rk4);
    twins.mass("a", 1.0, &[0.0], &[0.0]);
    twins.mass("a", 1.0, &[0.0], &[0.0]);
    assert!(twins.build().is_err());
    let mut elsewhere = Model::new(1e-3, Method::Rk4);
    elsewhere.mass("a", 1.0, &[0.0], &[0.0]);
    let far = elsewhere.mass("b", 1.0, &[0.0], &[0.0]);
    let mut model = Model::new(1e-3, Method::Rk4);
    let own = model.mass("a", 1.0, &[0.0], &[0.0]);
    model.spring("tie", own, far, 1.0, 0.0);
    assert!(model.build().is_err());
    let mut nowhere = Model::new(1e-3, Method::Rk4);
    nowhere.mass("a", 1.0, &[], &[]);
    assert!(nowhere.build().is_err());
}

/// A hinge about y and a floor whose normal is y: no motion opens the contact, whose gap is below 0.
#[test]
fn a_rigid_contact_that_no_motion_opens_does_not_hold_the_run_up() {
    let arm = r#"
        [simulation]
        duration = 0.4
        step = 0.02
        integrator = "implicit-euler"
        [bodies.arm]
        kind = "linkage"
        links = [{ name = "rod", parent = "ground", joint = "hinge", type = "revolute", axis = [0, 1, 0], mass = 2, com = [0.3, 0, 0],
                   inertia = [0.01, 0.02, 0.02], velocity = 1.5, shape = { sphere = 0.1 } }]
        [elements.spring]
        kind = "spring"
        on = "arm.hinge"
        stiffness = 40
    "#;
    let floor = r#"
        [elements.floor]
        kind = "contact"
        between = ["arm.rod", "ground"]
        normal = { law = "rigid" }
        surface = { plane = { normal = [0, 1, 0], offset = 0.07 } }
    "#;
    let end = |text: &str| {
        let mut simulation = Simulation::new(Scenario::parse(text, "arm.toml", &[]).unwrap()).unwrap();
        simulation.advance(20).unwrap();
        [
            simulation.position(Body::nth(0))[0],
            simulation.velocity(Body::nth(0))[0],
        ]
    };
    let (free, touching) = (end(arm), end(&format!("{arm}{floor}")));
    for (free, touching) in free.iter().zip(touching) {
        assert!(
            (free - touching).abs() < 1e-9,
            "{touching} where it is {free} without the contact"
        );
    }
}

/// One step of output holds a hundred million turns: the trial that `check` makes ends all the same.
#[test]
fn a_trial_step_that_takes_for_ever_is_given_up() {
    let text = r#"
        [simulation]
        duration = 2
        step = 0.05
        integrator = "adaptive"
        [bodies.top]
        kind = "rigid-body"
        mass = 3
        shape = { box = [0.1, 0.2, 0.3] }
        angular_velocity = [2e10, 1e10, 3e8]
    "#;
    let mut glance = Glance::new(Scenario::parse(text, "top.toml", &[]).unwrap()).unwrap();
    let columns = recorded_columns(&glance.simulation).unwrap();
    let estimate = glance.estimate(&columns);
    assert_eq!(estimate.seconds, None);
    assert!(
        estimate.time_from.contains("step 1 takes longer"),
        "{}",
        estimate.time_from
    );
}

/// The square of the weight is beyond all numbers, its friction is not: μ·m·g on the level.
#[test]
fn forces_beyond_the_root_of_all_numbers_have_a_size() {
    let text = r#"
        [simulation]
        duration = 0.01
        step = 0.001
        integrator = "implicit-euler"
        gravity = [0, 0, -2]
        [bodies.star]
        kind = "mass"
        mass = 4e250
        axis = [1, 0, 0]
        velocity = 3
        [elements.floor]
        kind = "friction"
        between = ["star", "ground"]
        law = "implicit"
        mu = 0.25
    "#;
    let mut simulation = Simulation::new(Scenario::parse(text, "star.toml", &[]).unwrap()).unwrap();
    let outcome = run(&mut simulation, None, Options::default()).unwrap();
    assert_eq!(outcome.ended, Ended::Complete);
    let force = outcome.report.elements["floor"]["max_force"].as_f64().unwrap();
    assert!((force / 2e250 - 1.0).abs() < 1e-12, "{force}");
}

#[test]
fn a_solve_without_a_residual_names_none() {
    let unsolved = |residual: f64| RunError::Unsolved {
        time: 0.5,
        residual,
        what: String::new(),
        remedy: "use a smaller step".to_string(),
    };
    assert!(unsolved(0.25).to_string().contains("residual 2.5e-1"));
    let words = unsolved(f64::INFINITY).to_string();
    assert!(!words.contains("inf") && words.contains("smaller step"), "{words}");
}

/// Where friction falls beyond all numbers the warning says so in words.
#[test]
fn a_fall_beyond_all_numbers_is_warned_of_in_words() {
    let text = r#"
        [simulation]
        duration = 0.1
        step = 0.01
        integrator = "implicit-euler"
        [bodies.block]
        kind = "mass"
        mass = 1
        [elements.floor]
        kind = "friction"
        between = ["block", "ground"]
        law = "subloading"
        mu_static = 0.6
        mu_kinetic = 0.3
        normal_force = 3e301
        tangential_stiffness = 1e6
        kappa = 2e12
        eta = 0.01
        r = 1e5
    "#;
    let simulation = Simulation::new(Scenario::parse(text, "block.toml", &[]).unwrap()).unwrap();
    let warnings = &simulation.built().warnings;
    assert!(
        warnings
            .iter()
            .any(|warning| warning.message.contains("faster with slip")),
        "{warnings:?}"
    );
    let odd = |message: &str| message.split_whitespace().any(|word| word == "inf" || word == "NaN");
    assert!(!warnings.iter().any(|warning| odd(&warning.message)), "{warnings:?}");
}

/// Numbers that overflow on their way are named, not printed.
#[test]
fn what_is_beyond_all_numbers_is_said_in_words() {
    let text = |method: &str, body: &str, element: &str| {
        format!(
            "[simulation]\nduration = 0.02\nstep = 1e-3\nintegrator = \"{method}\"\n[bodies.b]\nkind = \"mass\"\n{body}\n\
             [elements.e]\non = \"b\"\n{element}\n"
        )
    };
    let cases = [
        text(
            "implicit-euler",
            "mass = 0.7\nposition = -3e300",
            "kind = \"stop\"\nlower = 0\nratio = [1e20, 1]",
        ),
        text(
            "rk4",
            "mass = 1e-308",
            "kind = \"friction\"\nlaw = \"proxy\"\nkinetic = 1\nstiffness = 1e308\ndamping = 1",
        ),
        text(
            "implicit-euler",
            "mass = 0.7\nposition = -3e290",
            "kind = \"stop\"\nlower = 0",
        ),
        text(
            "euler",
            "mass = 1.5e308",
            "kind = \"friction\"\nlaw = \"lugre\"\nkinetic = 3",
        ),
        text(
            "rk4",
            "mass = 2e305",
            "kind = \"friction\"\nlaw = \"proxy\"\nkinetic = 3",
        ),
    ];
    for text in cases {
        let said = match Scenario::parse(&text, "far.toml", &[]).and_then(Simulation::new) {
            Err(error) => error.to_string(),
            Ok(mut simulation) => {
                let built = simulation.built();
                let warnings = built.warnings.iter().map(|warning| format!("{warning:?}"));
                let choices = built.choices.iter().map(|choice| format!("{choice:?}"));
                let mut said: Vec<String> = warnings.chain(choices).collect();
                let mut watch = stickslip::divergence::Watch::new(&mut simulation);
                let ended = simulation.advance_observed(15).map_err(|error| error.to_string());
                let judged = watch.judge(&mut simulation, None).map(|error| error.to_string());
                said.extend(ended.err());
                said.extend(judged);
                said.join("\n")
            }
        };
        assert!(!said.is_empty(), "{text}");
        let mut words = said.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(|word| word == "inf" || word == "NaN"), "{said}");
    }
}
