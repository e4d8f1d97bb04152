//! `stickslip analyse DATA.csv`.

mod input;
mod shown;

use crate::failure::{Failure, note, print, print_json};
use crate::output::write_whole;
use crate::picture;
use crate::stop::{stop_flag, stopped};
use clap::Args;
use input::Columns;
use serde_json::{Value, json};
use std::path::PathBuf;
use stickslip::analysis::cycles::{CycleReport, Window, cycles};
use stickslip::analysis::measured::{DataError, Sheet};
use stickslip::analysis::subloading::{Evolution, Identifiable, Identified, Options, identify, keys};
use stickslip::core::registry::{Family, law};
use stickslip::quantity::{Dimension, quantity};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip analyse brake.csv --signal torque --plot cycles.svg
  stickslip analyse tests.csv --law subloading --normal-force \"50 N\" --displacement x --force f --unit x=mm --record test
  stickslip analyse --law subloading --normal-force \"50 N\" --test long-hold=a.csv --test recovery=b.csv --out found.toml";

/// Analyse measured data: stick-slip cycles of a column, or the parameters of a friction law
///
/// With --signal COLUMN: amplitude, period, static peaks and kinetic plateaus of any measured column, with uneven sampling and noise. With
/// --law subloading: the parameters of that law from records of friction tests, each with its standard error and how it was found; what the
/// records do not tell is said. Data are CSV files with a header row, in SI unless --unit says otherwise. docs/analyse.md explains both.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Analyse {
    /// Measured data: CSV files with a row of column names
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,
    /// The column to look at for stick-slip cycles; with --law the friction force
    #[arg(long, value_name = "COLUMN")]
    signal: Option<String>,
    /// Find the parameters of this law: subloading
    #[arg(long, value_name = "LAW")]
    law: Option<String>,
    /// A file that holds one test: long-hold, fast-sliding, transition, recovery, presliding or cyclic
    #[arg(long = "test", value_name = "TEST=FILE", requires = "law")]
    test: Vec<String>,
    /// The column that names records where one file holds several; default: record or test
    #[arg(long, value_name = "COLUMN")]
    record: Option<String>,
    /// The column of times; default: t or time
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// The column of the displacement at the contact; default: displacement, x, position or slip
    #[arg(long, value_name = "COLUMN", requires = "law")]
    displacement: Option<String>,
    /// The column of the velocity, of which the displacement is the integral where it was not measured
    #[arg(long, value_name = "COLUMN", requires = "law", conflicts_with = "displacement")]
    velocity: Option<String>,
    /// The column of the friction force; default: force, friction, f or mu
    #[arg(long, value_name = "COLUMN", requires = "law", conflicts_with = "signal")]
    force: Option<String>,
    /// The normal force, such as "50 N", or its column
    #[arg(long, value_name = "FORCE", requires = "law", allow_hyphen_values = true)]
    normal_force: Option<String>,
    /// Unit of a column: x=mm; a friction force in the unit 1 is a coefficient
    #[arg(long = "unit", value_name = "COLUMN=UNIT")]
    unit: Vec<String>,
    /// A parameter that is known: tangential_stiffness="2e6 N/m", eta_exponent=1
    #[arg(long = "known", value_name = "KEY=VALUE", requires = "law")]
    known: Vec<String>,
    /// The form of U(R): log for -r ln R, or ratio for r (1 - R)/R
    #[arg(long, value_name = "FORM", requires = "law", default_value = "log")]
    evolution: String,
    /// Take off a straight line first, for a displacement that goes on and on
    #[arg(long, conflicts_with = "law")]
    detrend: bool,
    /// Look only at what is after this time: 8000, "2 h"
    #[arg(long, value_name = "TIME", conflicts_with = "law", value_parser = super::run::time)]
    from: Option<f64>,
    /// Look only at what is before this time
    #[arg(long, value_name = "TIME", conflicts_with = "law", value_parser = super::run::time)]
    until: Option<f64>,
    /// Write a scenario with the law that was found to this file: .toml
    #[arg(long, value_name = "FILE", requires = "law")]
    out: Option<PathBuf>,
    /// Draw the data and what was found to this file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Wrong data are wrong input.
pub(super) fn refused(error: DataError) -> Failure {
    Failure::input(error.message, error.help)
}

impl Analyse {
    /// Analyses the data.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        match (&self.law, &self.signal) {
            (Some(name), _) => self.identify(name),
            (None, Some(signal)) => self.cycles(signal),
            (None, None) => Err(Failure::input(
                "say what to look for in the data",
                "--signal COLUMN finds stick-slip cycles, --law subloading the parameters of that law",
            )),
        }
    }

    /// The one file that is looked at for cycles.
    fn cycles(&self, signal: &str) -> Result<(), Failure> {
        let [path] = self.data.as_slice() else {
            let message = if self.data.is_empty() {
                "there are no data"
            } else {
                "cycles are those of one file"
            };
            return Err(Failure::input(
                message,
                "name one CSV file: stickslip analyse DATA.csv --signal COLUMN",
            ));
        };
        let sheet = Sheet::read(path).map_err(refused)?;
        let columns = Columns::new(self);
        let (times, values, unit) = columns.signal(&sheet, signal)?;
        let window = Window {
            from: self.from,
            until: self.until,
            detrend: self.detrend,
        };
        let report = cycles(signal, &times, &values, window).map_err(|error| {
            let message = format!("{}: {}", sheet.file(), error.message);
            Failure::input(message, error.help)
        })?;
        if let Some(path) = &self.plot {
            picture::save(&shown::cycles_figure(&report, &times, &values, window, &unit), path)?;
        }
        if self.json {
            return print_json(&cycles_value(&report, &unit));
        }
        let mut behind = 0;
        if report.cycles == 0 && !self.detrend {
            let window = Window {
                detrend: true,
                ..window
            };
            behind = cycles(signal, &times, &values, window).map_or(0, |level| level.cycles);
        }
        print(&shown::cycles_text(&report, sheet.file(), &unit, behind))
    }

    fn identify(&self, name: &str) -> Result<(), Failure> {
        let found = law(Family::Friction, name).ok_or_else(|| Failure::unknown_law(name))?;
        if found.name != "subloading" {
            return Err(Failure::input(
                format!("records of tests tell nothing of the law \"{name}\" here"),
                "the law whose parameters are found is subloading",
            ));
        }
        if let Some(path) = &self.out
            && path.extension().is_none_or(|extension| extension != "toml")
        {
            return Err(Failure::input(
                format!("cannot tell the format of {}", path.display()),
                "end the name with .toml",
            ));
        }
        let options = Options {
            evolution: match self.evolution.as_str() {
                "log" => Evolution::Log,
                "ratio" => Evolution::Ratio,
                other => return Err(Failure::unknown("form of U(R)", other, ["log", "ratio"].into_iter())),
            },
            known: self.known.iter().map(|text| known(text)).collect::<Result<_, _>>()?,
            stop: Some(stop_flag()),
        };
        let records = Columns::new(self).records()?;
        let found = identify(&records, &options).map_err(|error| {
            if stopped() {
                Failure::Work("stopped before the parameters were found".into())
            } else {
                refused(error)
            }
        })?;
        let toml = shown::Toml::new(&found, options.evolution);
        if let Some(path) = &self.out {
            write_whole(path, toml.scenario(&found).as_bytes())?;
        }
        if let Some(path) = &self.plot {
            picture::save(&shown::identified_figure(&found), path)?;
        }
        if self.json {
            print_json(&identified_value(&found, &self.evolution, &toml.element))?;
        } else {
            print(&shown::identified_text(&found))?;
            print(&format!("\n{}", toml.element))?;
            for warning in &found.warnings {
                note(&format!("warning: {warning}"));
            }
        }
        let sought = |known: Identifiable| !matches!(known, Identifiable::Given | Identifiable::Assumed);
        let mut sought = found
            .parameters
            .iter()
            .filter(|parameter| sought(parameter.identifiable))
            .peekable();
        if sought.peek().is_some() && sought.all(|parameter| parameter.identifiable == Identifiable::No) {
            return Err(Failure::Work(
                "error: the records tell no parameter of the law".to_string(),
            ));
        }
        Ok(())
    }
}

/// A known parameter with its value in SI.
fn known(text: &str) -> Result<(String, f64), Failure> {
    let (key, value) = text.split_once('=').ok_or_else(|| {
        Failure::input(
            format!("expected KEY=VALUE, found \"{text}\""),
            "--known eta_exponent=1",
        )
    })?;
    let dimension = match key {
        "kappa" | "r" => Dimension::PER_LENGTH,
        "eta" => Dimension::FREQUENCY,
        "tangential_stiffness" => Dimension::STIFFNESS,
        _ if keys().any(|known| known == key) => Dimension::NONE,
        _ => return Err(Failure::unknown("parameter", key, keys())),
    };
    let value =
        quantity(value.trim_matches('"'), dimension).map_err(|error| Failure::input(format!("{key}: {error}"), ""))?;
    Ok((key.to_string(), value))
}

fn cycles_value(report: &CycleReport, unit: &str) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    value["unit"] = unit.into();
    json!({ "stick_slip": value })
}

fn identified_value(found: &Identified, evolution: &str, element: &str) -> Value {
    let mut value = serde_json::to_value(found).unwrap_or_default();
    let mut parameters = serde_json::Map::new();
    for parameter in &found.parameters {
        let mut fields = serde_json::to_value(parameter).unwrap_or_default();
        let records = parameter
            .records
            .iter()
            .map(|(name, share)| json!({ "name": name, "share": share }));
        fields["records"] = records.collect();
        parameters.insert(parameter.key.to_string(), fields);
    }
    value["parameters"] = parameters.into();
    value["law"] = "subloading".into();
    value["evolution"] = evolution.into();
    value["toml"] = element.into();
    value
}
