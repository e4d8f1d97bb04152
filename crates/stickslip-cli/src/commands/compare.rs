//! `stickslip compare FILE --element NAME --laws A,B,C`.

use super::run::{Progress, time};
use crate::failure::{Failure, note, print, print_json, warn};
use crate::picture::{self, Curve, Window};
use crate::stop::{self, stop_flag};
use crate::text::{list, number, table};
use clap::Args;
use std::path::PathBuf;
use stickslip::advice::angular;
use stickslip::analysis::stick_slip::Region;
use stickslip::scenario::Scenario;
use stickslip_plot::Panel;
use stickslip_study::compare::{Comparison, Row, measure};
use stickslip_study::panels;

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
/// The table shows when the last motion ended (speed below 1e-6 of the greatest, and for longer than between two motions
/// before: what sticks and slips rests in every cycle), the greatest speed and the displacement in the last quarter of the
/// run, changes of sign of the force per second, energy turned into heat, and computing time per step. Where the file asks for
/// [analysis] stick_slip, it shows amplitude, period and region, too.
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
    /// Draw only what is after this time: 8000, "2 h"
    #[arg(long, value_name = "TIME", requires = "plot", value_parser = time)]
    from: Option<f64>,
    /// Draw only what is before this time
    #[arg(long, value_name = "TIME", requires = "plot", value_parser = time)]
    until: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    /// Runs the scenario under each law.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        let comparison = Comparison {
            read: &|sets| Scenario::read(&self.file, sets),
            element: &self.element,
            laws: &self.laws,
            set: &self.set,
        };
        let scenario = Scenario::read(&self.file, &self.set)?;
        let index = comparison.element_index(&scenario)?;
        let candidates = comparison.candidates(index)?;
        // What is wrong with the file whatever the law is said with its place.
        let said = candidates.first().map_or(Vec::new(), |first| {
            let scenario = first.simulation.scenario();
            if !self.json {
                warn(scenario, &scenario.warnings);
            }
            scenario.warnings.clone()
        });
        let duration = scenario.simulation.duration;
        let window = Window::new(self.from, self.until, duration)?;
        let angular = angular(&scenario, &scenario.elements[index].1);
        let labels = panels::of_comparison(angular).into_iter();
        let mut panels: Vec<Panel> = labels.map(|label| Panel::new(picture::TIME, &label)).collect();
        let mut rows = Vec::new();
        let kept = stop::keep_nothing();
        for candidate in candidates {
            let steps = candidate.simulation.built().steps;
            let drawn = window.share(steps, duration);
            let mut curves = [0; 3].map(|_| Curve::new(drawn));
            let mut watch = |t: f64, values: [f64; 3]| {
                if !window.has(t) {
                    return;
                }
                for (curve, value) in curves.iter_mut().zip(values) {
                    curve.push(t, value);
                }
            };
            let mut progress = Progress::new(steps, false);
            let row = measure(candidate, index, stop_flag(), &mut watch, &mut |done| {
                progress.show(done)
            });
            progress.clear();
            let row = row?;
            // A run that failed has left every scale; its row says so.
            if row.failed.is_none() {
                for (panel, curve) in panels.iter_mut().zip(curves) {
                    panel.series.push(curve.series(&row.law));
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
            print(&text(&rows, angular, &scenario))?;
            let known: Vec<&str> = (said.iter()).map(|warning| warning.message.as_str()).collect();
            for sentence in sentences(&rows, &known) {
                note(&format!("warning: {sentence}"));
            }
        }
        match rows.iter().find_map(|row| Some((&row.law, row.failed.as_ref()?))) {
            Some((law, reason)) => Err(Failure::Work(format!("error: under \"{law}\" {reason}"))),
            None => Ok(()),
        }
    }
}

/// A number in words, or a dash where there is none.
fn cell(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    match value {
        Some(0.0) => "0".to_string(),
        Some(value) => words(value),
        None => "-".to_string(),
    }
}

/// What runs warn of beside what is known, each kind once, with the laws that it concerns.
fn sentences(rows: &[Row], known: &[&str]) -> Vec<String> {
    let mut sentences: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        for warning in row.warnings.iter().filter(|warning| !known.contains(&warning.as_str())) {
            match sentences.iter_mut().find(|(other, _)| other == warning) {
                Some((_, laws)) => laws.push(&row.law),
                None => sentences.push((warning.clone(), vec![&row.law])),
            }
        }
    }
    let said = sentences.into_iter().map(|(warning, laws)| match laws.len() {
        all if all == rows.len() && all > 1 => format!("{warning} (under all laws)"),
        _ => format!("{warning} (under {})", laws.join(", ")),
    });
    said.collect()
}

fn text(rows: &[Row], angular: bool, scenario: &Scenario) -> String {
    let (length, speed) = if angular { ("rad", "rad/s") } else { ("m", "m/s") };
    let mut header = vec!["law", "integrator", "rest from", "residual", "drift", "chatter"];
    let analysed = rows.iter().any(|row| row.stick_slip.is_some());
    if analysed {
        header.extend(["amplitude", "period", "region"]);
    }
    header.extend(["heat", "cost"]);
    let unit = panels::signal_unit(scenario);
    let mut cells = vec![header.into_iter().map(String::from).collect()];
    for row in rows {
        let rest = match (&row.failed, row.rest) {
            (Some(_), _) => "failed".to_string(),
            (None, Some(t)) => format!("{} s", number(t)),
            (None, None) => "never".to_string(),
        };
        let mut line = vec![
            row.law.clone(),
            row.integrator.to_string(),
            rest,
            cell(row.residual_velocity, |x| format!("{x:.1e} {speed}")),
            cell(row.drift, |x| format!("{x:.1e} {length}")),
            cell(row.chatter, |x| format!("{} /s", number(x))),
        ];
        if analysed {
            let found = row.stick_slip.as_ref();
            let region = found.map(|found| match (found.stable, found.region) {
                (true, _) => "stable",
                (false, Some(Region::Creep)) => "creep",
                (false, Some(Region::Inertial)) => "inertial",
                (false, None) => "-",
            });
            let amplitude = found.map(|found| found.amplitude);
            line.push(cell(amplitude, |x| {
                format!("{} {unit}", number(x)).trim_end().to_string()
            }));
            line.push(cell(found.and_then(|found| found.period), |x| {
                format!("{} s", number(x))
            }));
            line.push(region.unwrap_or("-").to_string());
        }
        line.push(cell(row.dissipated, |x| format!("{} J", number(x))));
        line.push(cell(row.ns_per_step, |x| format!("{x:.0} ns")));
        cells.push(line);
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
