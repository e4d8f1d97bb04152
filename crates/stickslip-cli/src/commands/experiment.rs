//! `stickslip experiment NAME --law LAW`.

use crate::failure::{Failure, note, print, print_json};
use crate::picture;
use crate::stop::{self, stop_flag};
use crate::text::{list, number, table};
use clap::Args;
use std::path::PathBuf;
use stickslip_plot::{Figure, Panel, Scale, Series, Style};
use stickslip_study::experiments::{Experiment, Findings, Number, Tried, find, laws, report, try_laws};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip experiment presliding --law lugre --plot loop.svg
  stickslip experiment no-drift --law all
  stickslip experiment velocity-step --law lugre --set elements.floor.damping=0";

/// Do a standard experiment on a friction law: a table of numbers and a plot
///
/// Every law is tried under the same conditions: a friction of 10 N (12 N at rest where the experiment needs it), and
/// where a law has parameters of its own the same values for all. What the friction had is printed. --set changes the scenario of the
/// experiment, whose friction is elements.floor.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExperimentCommand {
    /// velocity-step, slide-hold-slide, presliding, no-drift, stick-slip or frictional-lag
    name: String,
    /// The laws, separated by commas, or `all`
    #[arg(long, value_name = "LAW", value_delimiter = ',', required = true)]
    law: Vec<String>,
    /// Change a value: elements.floor.stiffness=1e6
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Draw the result to this file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ExperimentCommand {
    /// Does the experiment.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        let (experiment, laws) = (find(&self.name)?, laws(&self.law)?);
        let kept = stop::keep_nothing();
        let mut tried = Vec::new();
        try_laws(experiment, &laws, &self.set, stop_flag(), &mut |law| tried.push(law))?;
        drop(kept);
        if let Some(path) = &self.plot {
            picture::save(&figure(experiment, &tried), path)?;
        }
        if self.json {
            print_json(&report(experiment, &tried))?
        } else {
            print(&text(experiment, &tried))?
        }
        for Tried { law, outcome, .. } in &tried {
            if let Err(reason) = outcome {
                note(&format!("the law \"{}\" could not be tried:\n{reason}", law.name));
            }
        }
        match tried.iter().any(|law| law.outcome.is_ok()) {
            true => Ok(()),
            false => Err(Failure::Work("error: no law could be tried".to_string())),
        }
    }
}

/// A row per law.
fn text(experiment: &Experiment, tried: &[Tried]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for Tried { law, outcome, .. } in tried {
        let Ok(findings) = outcome else { continue };
        if rows.is_empty() {
            let mut header = vec![String::new()];
            header.extend(findings.numbers.iter().map(Number::heading));
            rows.push(header);
            let mut units = vec![String::new()];
            units.extend(findings.numbers.iter().map(|n| n.unit.to_string()));
            rows.push(units);
        }
        let mut row = vec![law.name.to_string()];
        row.extend(findings.numbers.iter().map(|n| n.value.map_or("-".to_string(), number)));
        rows.push(row);
    }
    let mut out = format!("{}: {}\n\n{}", experiment.name, experiment.summary, table(&rows, "  "));
    let given: Vec<Vec<String>> = tried
        .iter()
        .filter(|law| law.outcome.is_ok())
        .map(|law| {
            let values: Vec<String> = law
                .given
                .iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            let values = if values.is_empty() {
                "no parameters of its own".to_string()
            } else {
                values.join(", ")
            };
            vec![law.law.name.to_string(), law.law.integrators[0].to_string(), values]
        })
        .collect();
    out += &format!("\nUnder\n{}", list(&given, "  "));
    out
}

fn figure(experiment: &Experiment, tried: &[Tried]) -> Figure {
    let mut panel = Panel::new(experiment.axes.0, experiment.axes.1);
    let few = |findings: &Findings| findings.curve.len() < 20;
    for Tried { law, outcome, .. } in tried {
        let Ok(findings) = outcome else { continue };
        let (x, y) = findings.curve.iter().copied().unzip();
        let style = if few(findings) { Style::Marked } else { Style::Line };
        panel = panel.with(Series::line(law.name, x, y).style(style));
        if few(findings) {
            panel.x_scale = Scale::Log;
        }
    }
    Figure {
        title: experiment.name.to_string(),
        width: 480.0,
        height: 300.0,
        ..Figure::from(panel)
    }
}
