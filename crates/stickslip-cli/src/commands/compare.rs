//! `stickslip compare FILE --element NAME --laws A,B,C`.

use super::run::Progress;
use crate::failure::{Failure, print, print_json, warn};
use crate::picture::{self, Curve};
use crate::stop::{self, stop_flag};
use crate::text::{list, number, table};
use clap::Args;
use std::path::PathBuf;
use stickslip::advice::angular;
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
        if let Some(first) = candidates.first()
            && !self.json
        {
            let scenario = first.simulation.scenario();
            warn(scenario, &scenario.warnings);
        }
        let angular = angular(&scenario, &scenario.elements[index].1);
        let labels = panels::of_comparison(angular).into_iter();
        let mut panels: Vec<Panel> = labels.map(|label| Panel::new(picture::TIME, &label)).collect();
        let mut rows = Vec::new();
        let kept = stop::keep_nothing();
        for candidate in candidates {
            let steps = candidate.simulation.built().steps;
            let mut curves = [Curve::new(steps), Curve::new(steps), Curve::new(steps)];
            let mut watch = |t: f64, values: [f64; 3]| {
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
            print(&text(&rows, angular))?;
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
