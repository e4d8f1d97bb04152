//! Nothing a user can write makes the builder or a step panic; the registry and the scenario reader agree.
#![allow(missing_docs)]

use proptest::prelude::*;
use stickslip::Simulation;
use stickslip::core::registry::{Family, LAWS, Law, Parameter};
use stickslip::scenario::Scenario;

fn scenarios() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect()
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
    for text in scenarios() {
        let run = |observed: bool, chunk: u64| {
            let scenario = Scenario::parse(&text, "x.toml", &[]).unwrap();
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
