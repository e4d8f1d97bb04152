//! `stickslip analyse DATA.csv`.

mod shown;

use crate::failure::{Failure, note, print, print_json};
use crate::output::write_whole;
use crate::picture;
use crate::stop::stop_flag;
use clap::Args;
use std::path::PathBuf;
use stickslip::analysis::cycles::{Window, cycles};
use stickslip_study::analyse::{Cycles, Data};

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

    /// What the options say of the data.
    fn data(&self) -> Data {
        Data {
            data: self.data.clone(),
            signal: self.signal.clone(),
            test: self.test.clone(),
            record: self.record.clone(),
            time: self.time.clone(),
            displacement: self.displacement.clone(),
            velocity: self.velocity.clone(),
            force: self.force.clone(),
            normal_force: self.normal_force.clone(),
            unit: self.unit.clone(),
            known: self.known.clone(),
            evolution: self.evolution.clone(),
        }
    }

    fn cycles(&self, signal: &str) -> Result<(), Failure> {
        let window = Window {
            from: self.from,
            until: self.until,
            detrend: self.detrend,
        };
        let found = self.data().cycles(signal, window)?;
        let Cycles {
            file,
            times,
            values,
            unit,
            report,
        } = &found;
        if let Some(path) = &self.plot {
            picture::save(&shown::cycles_figure(report, times, values, window, unit), path)?;
        }
        if self.json {
            return print_json(&found.value());
        }
        let mut behind = 0;
        if report.cycles == 0 && !self.detrend {
            let window = Window {
                detrend: true,
                ..window
            };
            behind = cycles(signal, times, values, window).map_or(0, |level| level.cycles);
        }
        print(&shown::cycles_text(report, file, unit, behind))
    }

    fn identify(&self, name: &str) -> Result<(), Failure> {
        if let Some(path) = &self.out
            && path.extension().is_none_or(|extension| extension != "toml")
        {
            return Err(Failure::input(
                format!("cannot tell the format of {}", path.display()),
                "end the name with .toml",
            ));
        }
        let found = self.data().identify(name, stop_flag())?;
        if let Some(path) = &self.out {
            write_whole(path, found.toml.scenario(&found.found).as_bytes())?;
        }
        if let Some(path) = &self.plot {
            picture::save(&shown::identified_figure(&found.found), path)?;
        }
        if self.json {
            print_json(&found.value())?;
        } else {
            print(&shown::identified_text(&found.found))?;
            print(&format!("\n{}", found.toml.element))?;
            for warning in &found.found.warnings {
                note(&format!("warning: {warning}"));
            }
        }
        match found.is_empty() {
            true => Err(Failure::Work(
                "error: the records tell no parameter of the law".to_string(),
            )),
            false => Ok(()),
        }
    }
}
