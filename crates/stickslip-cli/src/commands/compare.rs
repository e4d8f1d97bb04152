//! `stickslip compare FILE --element NAME --laws A,B,C`.

use super::run::Progress;
use crate::failure::{Failure, print, print_json, suggestion, unknown_law, warn};
use crate::picture::{self, Curve, Quantity};
use crate::stop::{self, stop_flag};
use crate::text::{list, number, table};
use clap::Args;
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;
use stickslip::advice::{ChoiceLine, angular, kinetic_force};
use stickslip::core::registry::{Family, Law, law};
use stickslip::divergence::Watch;
use stickslip::report::Reporter;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::{
    Diagnostic, ElementSpec, FrictionLawSpec, LimitSpec, Number, ParameterSpec, ParameterValue, Scenario,
    ScenarioError, Source, Span,
};
use stickslip::trace::Columns;
use stickslip::{RunError, Simulation};
use stickslip_plot::Panel;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip compare block.toml --element floor --laws implicit,lugre --plot laws.svg
  stickslip compare block.toml --element floor --laws implicit,karnopp:epsilon=0.01";

/// Run the same scenario under several friction laws and compare them
///
/// A law that the integrator of the file cannot run uses its own first integrator; the table shows which. Parameters
/// of a law may follow its name. A law that needs epsilon and has none gets step*limit/mass, the value at which explicit
/// steps come to rest fastest.
///
/// The table shows when the last motion ended (speed below 1e-6 of the greatest), the greatest speed and the displacement
/// in the last quarter of the run, changes of sign of the force per second, energy turned into heat, and computing time
/// per step.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// The scenario file
    file: PathBuf,
    /// The element whose law is exchanged
    #[arg(long, value_name = "NAME")]
    element: String,
    /// The laws: NAME or NAME:KEY=VALUE:KEY=VALUE, separated by commas
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    laws: Vec<String>,
    /// Change a value of the scenario for all of them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Draw the velocity, force and displacement under all laws to this file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One law in the comparison.
#[derive(Serialize)]
struct Row {
    law: String,
    integrator: &'static str,
    /// End of the last motion, s; `null` if it still moves.
    rest: Option<f64>,
    /// Greatest speed in the last quarter.
    residual_velocity: Option<f64>,
    /// Displacement over the last quarter.
    drift: Option<f64>,
    /// Changes of sign of the force per second.
    chatter: Option<f64>,
    /// Energy turned into heat by the element, J.
    dissipated: Option<f64>,
    /// Computing time of a step.
    ns_per_step: Option<f64>,
    /// Parameters chosen for this law.
    chosen: Vec<ChoiceLine>,
    /// Why the run ended early, if it did.
    failed: Option<String>,
}

/// Speed below this part of the greatest counts as rest.
const REST: f64 = 1e-6;

impl Compare {
    /// Runs the scenario under each law.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        let scenario = Scenario::read(&self.file, &self.set)?;
        let index = self.element_index(&scenario)?;
        // Everything is built before anything runs, so that a slip in the last law costs no time.
        let mut simulations = Vec::new();
        for (number, written) in self.laws.iter().enumerate() {
            simulations.push((written.trim(), self.under(number, index)?));
        }
        if let Some((_, (simulation, _))) = simulations.first()
            && !self.json
        {
            warn(simulation.scenario(), &simulation.scenario().warnings);
        }
        let angular = angular(&scenario, &scenario.elements[index].1);
        let mut panels = panels(angular);
        let mut rows = Vec::new();
        let kept = stop::keep_nothing();
        for (written, (simulation, chosen)) in simulations {
            let name = written.to_string();
            let (row, curves) = measure(simulation, index, &name, chosen)?;
            // A run that failed has left every scale; its row says so.
            if row.failed.is_none() {
                for (panel, curve) in panels.iter_mut().zip(curves) {
                    panel.series.push(curve.series(&name));
                }
            }
            rows.push(row);
        }
        drop(kept);
        if let Some(path) = &self.plot {
            let title = format!("{} ({})", scenario.title, self.element).replace('$', "");
            picture::save(&picture::figure(title.trim().to_string(), panels), path)?;
        }
        if self.json {
            let value = serde_json::json!({ "title": scenario.title, "element": self.element, "laws": rows });
            print_json(&value)?;
        } else {
            print(&text(&rows, angular))?;
        }
        match rows.iter().find_map(|row| Some((&row.law, row.failed.as_ref()?))) {
            Some((law, reason)) => Err(Failure::Work(format!("error: under \"{law}\" {reason}"))),
            None => Ok(()),
        }
    }

    fn element_index(&self, scenario: &Scenario) -> Result<usize, Failure> {
        let rubs = |element: &ElementSpec| element.friction().is_some();
        let names = (scenario.elements.iter())
            .filter(|(_, element)| rubs(element))
            .map(|(name, _)| name.as_str());
        match scenario.elements.iter().position(|(name, _)| *name == self.element) {
            Some(index) if rubs(&scenario.elements[index].1) => Ok(index),
            Some(_) => Err(scenario
                .error(vec![
                    scenario
                        .diagnostic(
                            &format!("elements.{}", self.element),
                            format!("\"{}\" has no friction law to exchange", self.element),
                        )
                        .help(suggestion(&self.element, "friction", names)),
                ])
                .into()),
            None => Err(Failure::unknown("element", &self.element, names)),
        }
    }

    /// A finding about part of `--laws`: bytes of the law with this number.
    fn mistake(&self, number: usize, place: Range<usize>, message: String, help: String) -> Failure {
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
    fn under(&self, number: usize, index: usize) -> Result<(Simulation, Vec<ChoiceLine>), Failure> {
        let written = self.laws[number].trim();
        let mut parts = written.split(':');
        let name = parts.next().unwrap_or_default();
        let Some(row) = law(Family::Friction, name) else {
            let (message, help) = unknown_law(name);
            return Err(self.mistake(number, 0..name.len(), message, help));
        };
        let probe = Scenario::read(&self.file, &self.set)?;
        let table = match probe.elements[index].1 {
            ElementSpec::Friction(_) => format!("elements.{}", self.element),
            _ => format!("elements.{}.friction", self.element),
        };
        // If the file cannot be run by itself, that is not the fault of a law.
        let file_is_right = Simulation::new(probe).is_ok();
        let mut sets = self.set.clone();
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
        let mut scenario = Scenario::read(&self.file, &sets).map_err(blame)?;
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
            if row.name == "subloading" && !given.iter().any(|key| key == "stribeck_velocity") {
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
    ) -> Result<Option<ChoiceLine>, Failure> {
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
        let original = Simulation::new(Scenario::read(&self.file, &self.set)?)?;
        let inverse_mass = original.built().inverse_mass_felt[index];
        let step = original.built().network.step;
        let limit = kinetic_force(&original, index).unwrap_or(0.0);
        let value = step * limit * inverse_mass;
        if !(value > 0.0 && value.is_finite()) {
            return Err(Failure::input(
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

fn panels(angular: bool) -> Vec<Panel> {
    let quantities = if angular {
        [Quantity::AngularVelocity, Quantity::Torque, Quantity::Angle]
    } else {
        [Quantity::Velocity, Quantity::Force, Quantity::Position]
    };
    let mut panels: Vec<Panel> = quantities
        .iter()
        .map(|q| Panel::new(picture::TIME, q.label()))
        .collect();
    for (panel, what) in panels.iter_mut().zip(["sliding ", "friction ", "sliding "]) {
        panel.y_label.insert_str(0, what);
    }
    panels[2].y_label = if angular { "slip (rad)" } else { "slip (m)" }.to_string();
    panels
}

/// A vector as one number: itself along one axis, otherwise its length.
fn magnitude(vector: &[f64]) -> f64 {
    match vector {
        [one] => *one,
        _ => vector.iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

/// Runs a simulation to its end and measures its element; the curves are velocity, force and displacement.
fn measure(
    mut simulation: Simulation,
    index: usize,
    name: &str,
    chosen: Vec<ChoiceLine>,
) -> Result<(Row, [Curve; 3]), Failure> {
    simulation.heed(Some(stop_flag()));
    let steps = simulation.built().steps;
    let step = simulation.built().network.step;
    let axes = simulation.built().axes[index];
    let implicit = simulation.method().implicit();
    let columns = Columns::new(&simulation);
    let mut reporter = Reporter::new(&mut simulation, &columns);
    let mut curves = [Curve::new(steps), Curve::new(steps), Curve::new(steps)];
    let first = simulation.observations()[index];
    for (curve, value) in
        curves
            .iter_mut()
            .zip([magnitude(&first.velocity[..axes]), magnitude(&first.force[..axes]), 0.0])
    {
        curve.push(0.0, value);
    }
    let (mut slip, mut before) = ([0.0; 3], first.velocity);
    let mut at_quarter = slip;
    let (mut fastest, mut residual) = (0.0f64, 0.0f64);
    let mut last = 0.0;
    let mut failed = None;
    let mut progress = Progress::new(steps, false);
    let mut energies = Watch::new(&mut simulation);
    let start = Instant::now();
    while simulation.steps_done() < steps {
        match simulation.advance_observed(1) {
            Ok(()) => (),
            Err(RunError::Stopped { .. }) => {
                progress.clear();
                return Err(Failure::Work("stopped".to_string()));
            }
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
            last = simulation.time();
        }
        if done == steps - steps / 4 {
            at_quarter = slip;
        }
        if done > steps - steps / 4 {
            residual = residual.max(speed.abs());
        }
        let t = simulation.time();
        curves[0].push(t, speed);
        curves[1].push(t, magnitude(&seen.force[..axes]));
        curves[2].push(t, magnitude(&slip[..axes]));
        if done.is_multiple_of(1024) {
            progress.show(done);
        }
    }
    progress.clear();
    if failed.is_none() {
        let verdict = energies.judge(&mut simulation, Some(stop_flag()));
        failed = verdict.map(|error| error.to_string());
    }
    let report = reporter.finish(&mut simulation, &columns, start.elapsed().as_secs_f64());
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
    let row = Row {
        law: name.to_string(),
        integrator: simulation.method().row().name,
        rest: (done && last < simulation.time()).then_some(last),
        residual_velocity: done.then_some(residual),
        drift: done.then(|| magnitude(&difference).abs()),
        chatter: done.then(|| number("sign_changes") / report.t_end.max(step)),
        dissipated: done.then(|| number("dissipated")),
        ns_per_step: cost(simulation.scenario())?,
        chosen,
        failed,
    };
    Ok((row, curves))
}

/// Time of a step as `stickslip run` does it, with its report and without a trace, ns: the best of three runs, each from the start,
/// so that all laws are timed over the same motion.
fn cost(scenario: &Scenario) -> Result<Option<f64>, Failure> {
    const MOST: u64 = 20_000;
    let mut scenario = scenario.clone();
    let simulation = &mut scenario.simulation;
    simulation.duration = simulation.duration.min(MOST as f64 * simulation.step);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut simulation = Simulation::new(scenario.clone())?;
        let steps = simulation.built().steps.max(1);
        let options = Options {
            stop: Some(stop_flag()),
            ..Options::default()
        };
        let start = Instant::now();
        let outcome = run(&mut simulation, None, options);
        let seconds = start.elapsed().as_secs_f64();
        match outcome.map(|outcome| outcome.ended) {
            Ok(Ended::Complete) => (),
            Ok(Ended::Stopped) => return Err(Failure::Work("stopped".to_string())),
            _ => break,
        }
        best = best.min(seconds * 1e9 / steps as f64);
    }
    Ok(best.is_finite().then_some(best))
}

/// A number in words, or a dash where there is none.
fn cell(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    match value {
        Some(0.0) => "0".to_string(),
        Some(value) => words(value),
        None => "-".to_string(),
    }
}

fn text(rows: &[Row], angular: bool) -> String {
    let (length, speed) = if angular { ("rad", "rad/s") } else { ("m", "m/s") };
    let header = [
        "law",
        "integrator",
        "rest from",
        "residual",
        "drift",
        "chatter",
        "heat",
        "cost",
    ];
    let mut cells = vec![header.map(String::from).to_vec()];
    for row in rows {
        let rest = match (&row.failed, row.rest) {
            (Some(_), _) => "failed".to_string(),
            (None, Some(t)) => format!("{} s", number(t)),
            (None, None) => "never".to_string(),
        };
        cells.push(vec![
            row.law.clone(),
            row.integrator.to_string(),
            rest,
            cell(row.residual_velocity, |x| format!("{x:.1e} {speed}")),
            cell(row.drift, |x| format!("{x:.1e} {length}")),
            cell(row.chatter, |x| format!("{} /s", number(x))),
            cell(row.dissipated, |x| format!("{} J", number(x))),
            cell(row.ns_per_step, |x| format!("{x:.0} ns")),
        ]);
    }
    let mut out = table(&cells, "");
    let chosen: Vec<Vec<String>> = rows
        .iter()
        .flat_map(|row| {
            row.chosen.iter().map(|choice| {
                let value = format!("{} {}", number(choice.value), choice.unit);
                vec![row.law.clone(), choice.key.clone(), value, choice.reason.clone()]
            })
        })
        .collect();
    if !chosen.is_empty() {
        out += &format!("\nChosen for you\n{}", list(&chosen, "  "));
    }
    out
}
