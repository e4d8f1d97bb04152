//! Scenario files: reading the same text twice gives the same, and what is accepted can be checked and moved a few steps.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use stickslip::Simulation;
use stickslip::advice::advise;
use stickslip::run::{Ended, Options, recorded_columns, run};
use stickslip::scenario::Scenario;

/// Larger ones are a matter of time and memory, not of form.
const MOST_BODIES: usize = 12;
const MOST_STEPS: u64 = 12;
const MOST_BLOCKS: usize = 200;

fuzz_target!(|text: &str| -> Corpus {
    // Other files are not part of the input.
    if text.contains("csv") || text.len() > 5000 {
        return Corpus::Reject;
    }
    let mut scenario = match Scenario::parse(text, "fuzz.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(!error.diagnostics.is_empty());
            let rendered = error.render(true);
            assert!(!rendered.is_empty());
            let again = Scenario::parse(text, "fuzz.toml", &[]).expect_err("it was refused before");
            assert_eq!(rendered, again.render(true));
            return Corpus::Keep;
        }
    };
    let again = Scenario::parse(text, "fuzz.toml", &[]).expect("it was read before");
    assert_eq!(format!("{:?}", scenario.bodies), format!("{:?}", again.bodies));
    assert_eq!(format!("{:?}", scenario.elements), format!("{:?}", again.elements));

    let count = scenario.chain.as_ref().map_or(0, |chain| chain.count);
    let spheres = scenario.spheres.as_ref().map_or(0, |spheres| spheres.count);
    if scenario.bodies.len() > MOST_BODIES || scenario.elements.len() > MOST_BODIES || count.max(spheres) > MOST_BLOCKS
    {
        return Corpus::Reject;
    }
    let step = scenario.simulation.step;
    scenario.simulation.duration = scenario.simulation.duration.min(MOST_STEPS as f64 * step);
    let Ok(mut simulation) = Simulation::new(scenario) else {
        return Corpus::Keep;
    };
    if recorded_columns(&simulation).is_err() {
        return Corpus::Keep;
    }
    advise(&simulation);
    let columns = recorded_columns(&simulation).expect("it had columns before");
    let mut finite = true;
    let mut sink = |row: &[f64]| {
        finite &= row.iter().all(|value| value.is_finite());
        Ok(())
    };
    let outcome = run(&mut simulation, Some((&columns, &mut sink)), Options::default()).expect("nothing is written");
    if matches!(outcome.ended, Ended::Complete) {
        assert!(
            finite,
            "a run that is said to be complete has a number that is not finite"
        );
    }
    Corpus::Keep
});
