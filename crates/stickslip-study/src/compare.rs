//! The same scenario under several friction laws.

use crate::{Fault, suggestion, unknown_law};
use serde::Serialize;
use std::ops::Range;
use std::time::Instant;
use stickslip::advice::{ChoiceLine, angular, kinetic_force};
use stickslip::core::registry::{Family, Law, law};
use stickslip::divergence::Watch;
use stickslip::report::{Reporter, StickSlipReport};
use stickslip::run::{Ended, Options, examine_energy, run};
use stickslip::scenario::{
    Diagnostic, ElementSpec, FrictionLawSpec, LimitSpec, Number, ParameterSpec, ParameterValue, Scenario,
    ScenarioError, Source, Span,
};
use stickslip::trace::Columns;
use stickslip::{RunError, Simulation, Stop};

/// One law in the comparison.
#[derive(Serialize)]
pub struct Row {
    /// As it was written.
    pub law: String,
    /// The integrator it ran with.
    pub integrator: &'static str,
    /// End of the last motion, s; `null` if it still moves, or rests for no longer than between two motions before, as in stick-slip.
    pub rest: Option<f64>,
    /// Greatest speed in the last quarter.
    pub residual_velocity: Option<f64>,
    /// Displacement over the last quarter.
    pub drift: Option<f64>,
    /// Changes of sign of the force per second.
    pub chatter: Option<f64>,
    /// Energy turned into heat by the element, J.
    pub dissipated: Option<f64>,
    /// Computing time of a step.
    pub ns_per_step: Option<f64>,
    /// Stick-slip of the signal that `[analysis]` names, if it names one.
    pub stick_slip: Option<StickSlipReport>,
    /// Parameters chosen for this law.
    pub chosen: Vec<ChoiceLine>,
    /// What the run warns of.
    pub warnings: Vec<String>,
    /// Why the run ended early, if it did.
    pub failed: Option<String>,
}

/// Speed below this part of the greatest counts as rest.
const REST: f64 = 1e-6;

/// What is compared.
pub struct Comparison<'a> {
    /// Reads the scenario with these changes (`KEY=VALUE`).
    pub read: &'a dyn Fn(&[String]) -> Result<Scenario, ScenarioError>,
    /// The element whose law is exchanged.
    pub element: &'a str,
    /// The laws: NAME or NAME:KEY=VALUE:KEY=VALUE.
    pub laws: &'a [String],
    /// Changes of the scenario for all of them.
    pub set: &'a [String],
}

/// A simulation under one of the laws.
pub struct Candidate {
    /// The law as it was written.
    pub law: String,
    /// The simulation.
    pub simulation: Simulation,
    /// Parameters that were chosen for the law.
    pub chosen: Vec<ChoiceLine>,
}

impl Comparison<'_> {
    /// The simulations under each law. Everything is built before anything runs, so that a slip in the last law costs no time.
    ///
    /// # Errors
    /// If the scenario or a law is wrong.
    pub fn candidates(&self, index: usize) -> Result<Vec<Candidate>, Fault> {
        let each = self.laws.iter().enumerate();
        each.map(|(number, written)| {
            let (simulation, chosen) = self.under(number, index)?;
            let law = written.trim().to_string();
            Ok(Candidate {
                law,
                simulation,
                chosen,
            })
        })
        .collect()
    }

    /// The number of the element in the scenario.
    ///
    /// # Errors
    /// If there is none, or it has no friction law.
    pub fn element_index(&self, scenario: &Scenario) -> Result<usize, Fault> {
        let rubs = |element: &ElementSpec| element.friction().is_some();
        let names = (scenario.elements.iter())
            .filter(|(_, element)| rubs(element))
            .map(|(name, _)| name.as_str());
        match scenario.elements.iter().position(|(name, _)| name == self.element) {
            Some(index) if rubs(&scenario.elements[index].1) => Ok(index),
            Some(_) => Err(scenario
                .error(vec![
                    scenario
                        .diagnostic(
                            &format!("elements.{}", self.element),
                            format!("\"{}\" has no friction law to exchange", self.element),
                        )
                        .help(suggestion(self.element, "friction", names)),
                ])
                .into()),
            None => Err(Fault::unknown("element", self.element, names)),
        }
    }

    /// A finding about part of `--laws`: bytes of the law with this number.
    fn mistake(&self, number: usize, place: Range<usize>, message: String, help: String) -> Fault {
        let (laws, span) = self.written(number, place, 0);
        let diagnostics = vec![Diagnostic::new(message, Some(span)).help(help)];
        let sources = vec![laws];
        ScenarioError { sources, diagnostics }.into()
    }

    /// `--laws` as a source with this number, and a place in it: bytes of one of the laws.
    fn written(&self, number: usize, place: Range<usize>, source: usize) -> (Source, Span) {
        let before: usize = self.laws[..number].iter().map(|law| law.len() + 1).sum();
        let written = &self.laws[number];
        let start = before + written.len() - written.trim_start().len();
        let laws = Source {
            name: "--laws".to_string(),
            text: self.laws.join(","),
        };
        let span = Span {
            source,
            start: start + place.start,
            end: start + place.end,
        };
        (laws, span)
    }

    /// An error of the scenario under a law, shown where its cause is: the file is right, so it is the law in `--laws` or a
    /// parameter behind it. `places` are those of the parameters.
    fn blame(&self, mut error: ScenarioError, number: usize, places: &[Range<usize>], table: &str) -> ScenarioError {
        let written = self.laws[number].trim();
        let name = 0..written.find(':').unwrap_or(written.len());
        let first = 1 + self.set.len();
        let laws = error.sources.len();
        for diagnostic in &mut error.diagnostics {
            let at = match diagnostic.span {
                // A parameter was set as `elements.floor.KEY=VALUE`.
                Some(span) if span.source >= first && span.source - first < places.len() => {
                    let place = &places[span.source - first];
                    let inside = |byte: usize| place.start + byte.saturating_sub(table.len() + 1);
                    inside(span.start)..inside(span.end).min(place.end)
                }
                Some(span) if span.source > 0 => continue,
                _ => name.clone(),
            };
            diagnostic.span = Some(self.written(number, at, laws).1);
        }
        error.sources.push(self.written(number, name, laws).0);
        error
    }

    /// The simulation with the law exchanged, and the parameters chosen for it.
    fn under(&self, number: usize, index: usize) -> Result<(Simulation, Vec<ChoiceLine>), Fault> {
        let written = self.laws[number].trim();
        let mut parts = written.split(':');
        let name = parts.next().unwrap_or_default();
        let Some(row) = law(Family::Friction, name) else {
            let (message, help) = unknown_law(name);
            return Err(self.mistake(number, 0..name.len(), message, help));
        };
        let probe = (self.read)(self.set)?;
        let table = match probe.elements[index].1 {
            ElementSpec::Friction(_) => format!("elements.{}", self.element),
            _ => format!("elements.{}.friction", self.element),
        };
        // If the file cannot be run by itself, that is not the fault of a law.
        let file_is_right = Simulation::new(probe).is_ok();
        let mut sets = self.set.to_vec();
        let mut given = Vec::new();
        let mut places = Vec::new();
        let mut start = name.len() + 1;
        for parameter in parts {
            let place = start..start + parameter.len();
            start = place.end + 1;
            let Some((key, _)) = parameter.split_once('=') else {
                let message = format!("\"{parameter}\" is not KEY=VALUE");
                return Err(self.mistake(number, place, message, "write for example karnopp:epsilon=0.01".into()));
            };
            given.push(key.trim().to_string());
            sets.push(format!("{table}.{parameter}"));
            places.push(place);
        }
        let blame = |error: ScenarioError| match file_is_right {
            true => self.blame(error, number, &places, &table),
            false => error,
        };
        let mut scenario = (self.read)(&sets).map_err(blame)?;
        if !row.integrators.contains(&scenario.simulation.integrator.as_str()) {
            scenario.simulation.integrator = row.integrators[0].to_string();
        }
        if let Some(friction) = friction_mut(&mut scenario.elements[index].1) {
            friction.law = row.name.to_string();
            // What belongs to the law of the file does not belong to another one.
            friction
                .parameters
                .retain(|parameter| given.contains(&parameter.name) || has(row, &parameter.name));
            let curve = &mut friction.curve;
            if !row.steady_curve && !given.iter().any(|key| key == "stribeck_velocity") {
                curve.stribeck_velocity = None;
            }
            let falls = match &curve.limit {
                LimitSpec::Given { .. } => false,
                limit => limit.levels()[0] > limit.levels()[1],
            };
            // Written in the file it would go to all of the laws, and some refuse it.
            if row.needs_stribeck && falls && curve.stribeck_velocity.is_none() {
                let message = format!(
                    "the law \"{}\" keeps no memory of sticking, so static > kinetic needs a Stribeck velocity",
                    row.name
                );
                let help = format!("write it after the name: --laws {written}:stribeck_velocity=0.001");
                return Err(self.mistake(number, 0..name.len(), message, help));
            }
        }
        let epsilon = self.default_epsilon(&mut scenario, row, index, &table)?;
        let simulation = Simulation::new(scenario).map_err(blame)?;
        let prefix = format!("{table}.");
        let choices = simulation
            .built()
            .choices
            .iter()
            .filter(|choice| choice.key.starts_with(&prefix));
        let mut chosen: Vec<ChoiceLine> = choices.map(ChoiceLine::from).collect();
        chosen.extend(epsilon);
        Ok((simulation, chosen))
    }

    /// Gives a law that needs epsilon and has none T·F/M: the explicit step then removes a small velocity at one stroke.
    fn default_epsilon(
        &self,
        scenario: &mut Scenario,
        row: &Law,
        index: usize,
        table: &str,
    ) -> Result<Option<ChoiceLine>, Fault> {
        let Some(friction) = friction_mut(&mut scenario.elements[index].1) else {
            return Ok(None);
        };
        let needed = row
            .parameters
            .iter()
            .any(|parameter| parameter.name == "epsilon" && parameter.default.is_none());
        if !needed || friction.parameters.iter().any(|parameter| parameter.name == "epsilon") {
            return Ok(None);
        }
        let original = Simulation::new((self.read)(self.set)?)?;
        let inverse_mass = original.built().inverse_mass_felt[index];
        let step = original.built().network.step;
        let limit = kinetic_force(&original, index).unwrap_or(0.0);
        let value = step * limit * inverse_mass;
        if !(value > 0.0 && value.is_finite()) {
            return Err(Fault::input(
                format!(
                    "the law \"{}\" needs epsilon, and none follows from this scenario",
                    row.name
                ),
                format!("write it after the name: --laws {}:epsilon=0.01", row.name),
            ));
        }
        friction.parameters.push(ParameterSpec {
            name: "epsilon".to_string(),
            value: ParameterValue::Number(Number { value, dimension: None }),
            span: None,
        });
        let angular = angular(original.scenario(), &original.scenario().elements[index].1);
        Ok(Some(ChoiceLine {
            key: format!("{table}.epsilon"),
            value,
            unit: if angular { "rad/s" } else { "m/s" },
            reason: "step*limit/mass, at which explicit steps come to rest fastest".to_string(),
        }))
    }
}

fn has(law: &Law, name: &str) -> bool {
    law.parameters.iter().any(|parameter| parameter.name == name)
}

fn friction_mut(element: &mut ElementSpec) -> Option<&mut FrictionLawSpec> {
    match element {
        ElementSpec::Friction(spec) => Some(&mut spec.friction),
        ElementSpec::Contact(spec) => spec.friction.as_mut(),
        ElementSpec::Joint(spec) => spec.friction.as_mut(),
        _ => None,
    }
}

/// A vector as one number: itself along one axis, otherwise its length.
fn magnitude(vector: &[f64]) -> f64 {
    match vector {
        [one] => *one,
        _ => vector.iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

/// Runs a candidate to its end and measures its element. `watch` sees the time, the velocity, the force and the displacement of the
/// element in every step, and `progress` the number of steps now and then.
///
/// # Errors
/// If it was stopped.
pub fn measure(
    candidate: Candidate,
    index: usize,
    stop: &Stop,
    watch: &mut dyn FnMut(f64, [f64; 3]),
    progress: &mut dyn FnMut(u64),
) -> Result<Row, Fault> {
    let Candidate {
        law,
        mut simulation,
        chosen,
    } = candidate;
    simulation.heed(Some(stop));
    let steps = simulation.built().steps;
    let step = simulation.built().network.step;
    let axes = simulation.built().axes[index];
    let implicit = simulation.method().implicit();
    let columns = Columns::new(&simulation);
    let mut reporter = Reporter::new(&mut simulation, &columns);
    let first = simulation.observations()[index];
    watch(
        0.0,
        [magnitude(&first.velocity[..axes]), magnitude(&first.force[..axes]), 0.0],
    );
    let (mut slip, mut before) = ([0.0; 3], first.velocity);
    let mut at_quarter = slip;
    let (mut fastest, mut residual) = (0.0f64, 0.0f64);
    let (mut last, mut pause) = (0.0, 0.0f64);
    let mut failed = None;
    let mut energies = Watch::new(&mut simulation);
    let start = Instant::now();
    while simulation.steps_done() < steps {
        match simulation.advance_observed(1) {
            Ok(()) => (),
            Err(RunError::Stopped { .. }) => return Err(Fault::Stopped),
            Err(error) => {
                failed = Some(error.to_string());
                break;
            }
        }
        if !implicit {
            simulation.observe();
        }
        reporter.watch(&simulation, &columns);
        energies.look(&mut simulation);
        let seen = simulation.observations()[index];
        for axis in 0..3 {
            // As the step moves positions: by the new velocity, or to second order.
            let mean = if implicit {
                seen.velocity[axis]
            } else {
                0.5 * (seen.velocity[axis] + before[axis])
            };
            slip[axis] += step * mean;
        }
        before = seen.velocity;
        let done = simulation.steps_done();
        let speed = magnitude(&seen.velocity[..axes]);
        // The greatest speed does not grow after the last motion, so this compares with the greatest of the whole run.
        fastest = fastest.max(speed.abs());
        if speed.abs() > REST * fastest {
            // The wait before the first motion is no pause between two.
            if last > 0.0 {
                pause = pause.max(simulation.time() - last);
            }
            last = simulation.time();
        }
        if done == steps - steps / 4 {
            at_quarter = slip;
        }
        if done > steps - steps / 4 {
            residual = residual.max(speed.abs());
        }
        let force = magnitude(&seen.force[..axes]);
        watch(simulation.time(), [speed, force, magnitude(&slip[..axes])]);
        if done.is_multiple_of(1024) {
            progress(done);
        }
    }
    if failed.is_none() {
        let verdict = energies.judge(&mut simulation, Some(stop));
        failed = verdict.map(|error| error.to_string());
    }
    let mut report = reporter.finish(&mut simulation, &columns, start.elapsed().as_secs_f64());
    if failed.is_none() {
        examine_energy(&mut report, &simulation, &energies);
    }
    let entry = &simulation.scenario().elements[index].0;
    let number = |key: &str| {
        report
            .elements
            .get(entry)
            .and_then(|e| e.get(key)?.as_f64())
            .unwrap_or(0.0)
    };
    let difference: Vec<f64> = (0..axes).map(|axis| slip[axis] - at_quarter[axis]).collect();
    let done = failed.is_none();
    Ok(Row {
        law,
        integrator: simulation.method().row().name,
        // A motion that pauses is not over in a pause: what goes on sticking and slipping rests in every cycle.
        rest: (done && (last == 0.0 || last + pause.max(step) < simulation.time() - 0.5 * step)).then_some(last),
        residual_velocity: done.then_some(residual),
        drift: done.then(|| magnitude(&difference).abs()),
        chatter: done.then(|| number("sign_changes") / report.t_end.max(step)),
        dissipated: done.then(|| number("dissipated")),
        ns_per_step: cost(simulation.scenario(), stop)?,
        stick_slip: report.stick_slip.filter(|_| done),
        warnings: report.warnings,
        chosen,
        failed,
    })
}

/// Time of a step as `stickslip run` does it, with its report and without a trace, ns: the best of three runs, each from the start,
/// so that all laws are timed over the same motion.
fn cost(scenario: &Scenario, stop: &Stop) -> Result<Option<f64>, Fault> {
    const MOST: u64 = 20_000;
    let mut scenario = scenario.clone();
    let simulation = &mut scenario.simulation;
    simulation.duration = simulation.duration.min(MOST as f64 * simulation.step);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut simulation = Simulation::new(scenario.clone())?;
        let steps = simulation.built().steps.max(1);
        let options = Options {
            stop: Some(stop),
            ..Options::default()
        };
        let start = Instant::now();
        let outcome = run(&mut simulation, None, options);
        let seconds = start.elapsed().as_secs_f64();
        match outcome.map(|outcome| outcome.ended) {
            Ok(Ended::Complete) => (),
            Ok(Ended::Stopped) => return Err(Fault::Stopped),
            _ => break,
        }
        best = best.min(seconds * 1e9 / steps as f64);
    }
    Ok(best.is_finite().then_some(best))
}
