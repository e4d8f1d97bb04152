//! Measured data: stick-slip cycles of a column, and the parameters of a friction law.

mod input;

use crate::Fault;
use crate::words::number;
pub use input::Columns;
use serde_json::{Value, json};
use std::path::PathBuf;
use stickslip::Stop;
use stickslip::analysis::cycles::{CycleReport, Window, cycles};
use stickslip::analysis::measured::{DataError, Sheet};
use stickslip::analysis::subloading::{Evolution, Identifiable, Identified, Options, identify, keys};
use stickslip::core::friction::FrictionLaw;
use stickslip::core::friction::subloading::Subloading;
use stickslip::core::registry::{Family, law};
use stickslip::quantity::{Dimension, quantity};

/// What is given: files and what their columns mean. Texts are as the options of `analyse` take them.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// CSV files.
    pub data: Vec<PathBuf>,
    /// The column to look at for cycles; with a law the friction force.
    pub signal: Option<String>,
    /// TEST=FILE.
    pub test: Vec<String>,
    /// The column that names records.
    pub record: Option<String>,
    /// The column of times.
    pub time: Option<String>,
    /// The column of the displacement.
    pub displacement: Option<String>,
    /// The column of the velocity.
    pub velocity: Option<String>,
    /// The column of the friction force.
    pub force: Option<String>,
    /// The normal force, or its column.
    pub normal_force: Option<String>,
    /// COLUMN=UNIT.
    pub unit: Vec<String>,
    /// KEY=VALUE of parameters that are known.
    pub known: Vec<String>,
    /// The form of U(R): log or ratio.
    pub evolution: String,
}

/// Wrong data are wrong input.
pub fn refused(error: DataError) -> Fault {
    Fault::input(error.message, error.help)
}

/// Cycles of a signal, and what they were found in.
pub struct Cycles {
    /// The file.
    pub file: String,
    /// Times and values of the signal.
    pub times: Vec<f64>,
    /// Its values.
    pub values: Vec<f64>,
    /// Its unit as it stands in the file.
    pub unit: String,
    /// What was found.
    pub report: CycleReport,
}

impl Cycles {
    /// As `analyse --json` prints it.
    pub fn value(&self) -> Value {
        cycles_value(&self.report, &self.unit)
    }
}

impl Data {
    /// Stick-slip cycles of a signal.
    ///
    /// # Errors
    /// If the data are wrong.
    pub fn cycles(&self, signal: &str, window: Window) -> Result<Cycles, Fault> {
        let [path] = self.data.as_slice() else {
            let message = if self.data.is_empty() {
                "there are no data"
            } else {
                "cycles are those of one file"
            };
            return Err(Fault::input(
                message,
                "name one CSV file: stickslip analyse DATA.csv --signal COLUMN",
            ));
        };
        let sheet = Sheet::read(path).map_err(refused)?;
        let (times, values, unit) = Columns::new(self).signal(&sheet, signal)?;
        let report = cycles(signal, &times, &values, window).map_err(|error| {
            let message = format!("{}: {}", sheet.file(), error.message);
            Fault::input(message, error.help)
        })?;
        Ok(Cycles {
            file: sheet.file().to_string(),
            times,
            values,
            unit,
            report,
        })
    }

    /// The parameters of a law.
    ///
    /// # Errors
    /// If the law or the data are wrong.
    pub fn identify(&self, name: &str, stop: &Stop) -> Result<Found, Fault> {
        let found = law(Family::Friction, name).ok_or_else(|| Fault::unknown_law(name))?;
        if found.name != Subloading::NAME {
            return Err(Fault::input(
                format!("records of tests tell nothing of the law \"{name}\" here"),
                "the law whose parameters are found is subloading",
            ));
        }
        let options = Options {
            evolution: match self.evolution.as_str() {
                "log" => Evolution::Log,
                "ratio" => Evolution::Ratio,
                other => return Err(Fault::unknown("form of U(R)", other, ["log", "ratio"].into_iter())),
            },
            known: self.known.iter().map(|text| known(text)).collect::<Result<_, _>>()?,
            stop: Some(stop),
        };
        let records = Columns::new(self).records()?;
        let found = identify(&records, &options).map_err(|error| {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                Fault::Work("stopped before the parameters were found".into())
            } else {
                refused(error)
            }
        })?;
        Ok(Found {
            toml: Toml::new(&found, options.evolution),
            evolution: self.evolution.clone(),
            found,
        })
    }
}

/// The parameters of a law that were found.
pub struct Found {
    /// With everything that is known of them.
    pub found: Identified,
    /// As parts of a scenario.
    pub toml: Toml,
    evolution: String,
}

impl Found {
    /// As `analyse --json` prints it.
    pub fn value(&self) -> Value {
        identified_value(&self.found, &self.evolution, &self.toml.element)
    }

    /// Whether the records tell no parameter of those that were sought.
    pub fn is_empty(&self) -> bool {
        let sought = |known: Identifiable| !matches!(known, Identifiable::Given | Identifiable::Assumed);
        let mut sought = (self.found.parameters.iter())
            .filter(|parameter| sought(parameter.identifiable))
            .peekable();
        sought.peek().is_some() && sought.all(|parameter| parameter.identifiable == Identifiable::No)
    }
}

/// A known parameter with its value in SI.
fn known(text: &str) -> Result<(String, f64), Fault> {
    let (key, value) = text.split_once('=').ok_or_else(|| {
        Fault::input(
            format!("expected KEY=VALUE, found \"{text}\""),
            "--known eta_exponent=1",
        )
    })?;
    let dimension = match key {
        "kappa" | "r" => Dimension::PER_LENGTH,
        "eta" => Dimension::FREQUENCY,
        "tangential_stiffness" => Dimension::STIFFNESS,
        _ if keys().any(|known| known == key) => Dimension::NONE,
        _ => return Err(Fault::unknown("parameter", key, keys())),
    };
    let value =
        quantity(value.trim_matches('"'), dimension).map_err(|error| Fault::input(format!("{key}: {error}"), ""))?;
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
    value["law"] = Subloading::NAME.into();
    value["evolution"] = evolution.into();
    value["toml"] = element.into();
    value
}

/// An error with two digits.
pub fn two_digits(error: f64) -> String {
    let exact: f64 = format!("{error:.1e}").parse().unwrap_or(error);
    number(exact)
}

/// A text and the unit behind it.
pub fn in_unit(text: String, unit: &str) -> String {
    format!("{text} {unit}").trim_end().to_string()
}

/// How well a parameter is known, in a word.
pub fn word(known: Identifiable) -> &'static str {
    match known {
        Identifiable::Yes => "",
        Identifiable::Weak => "weak",
        Identifiable::No => "not determined",
        Identifiable::Assumed => "assumed",
        Identifiable::Given => "given",
    }
}

/// The law that was found as parts of a scenario.
pub struct Toml {
    /// The element alone.
    pub element: String,
}

impl Toml {
    /// From what was found.
    pub fn new(found: &Identified, evolution: Evolution) -> Self {
        let mut out = String::from(
            "[elements.floor]\nkind = \"friction\"\nbetween = [\"slider\", \"ground\"]\nlaw = \"subloading\"\n",
        );
        out += &format!(
            "normal_force = {}\n",
            plain(found.normal_force, found.normal_force * 1e-9)
        );
        for parameter in &found.parameters {
            let unit = if parameter.unit.is_empty() { "" } else { parameter.unit };
            out += &match (parameter.value, parameter.error) {
                (Some(value), Some(error)) => {
                    let note = in_unit(format!("± {}", two_digits(error)), unit);
                    let weak = if parameter.identifiable == Identifiable::Weak {
                        ", weak"
                    } else {
                        ""
                    };
                    format!("{} = {} # {note}{weak}\n", parameter.key, plain(value, error))
                }
                (Some(value), None) => {
                    format!(
                        "{} = {} # {}\n",
                        parameter.key,
                        plain(value, value * 1e-9),
                        word(parameter.identifiable)
                    )
                }
                (None, _) => format!("# {} is not determined: {}\n", parameter.key, parameter.how),
            };
        }
        if evolution == Evolution::Ratio {
            out += "evolution = \"ratio\"\n";
        }
        Toml { element: out }
    }

    /// A scenario that can be checked and run: a slider of given speed rubs on the ground, as in the tests.
    pub fn scenario(&self, found: &Identified) -> String {
        let fastest = found
            .records
            .iter()
            .filter_map(|record| record.speed.map(|speed| (speed, record.duration)));
        let (speed, _) = fastest
            .reduce(|a, b| if b.0 < a.0 { b } else { a })
            .unwrap_or((1e-3, 1.0));
        // Far enough for friction to fall: ten times μ_k/κ, or the whole way of the slowest record.
        let value = |key: &str| found.parameter(key).and_then(|parameter| parameter.value);
        let way = match (value("mu_kinetic"), value("kappa")) {
            (Some(mu), Some(kappa)) => 10.0 * mu / kappa,
            _ => 1e-3,
        };
        let duration: f64 = format!("{:.1e}", way / speed).parse().unwrap_or(1.0);
        let missing = found
            .parameters
            .iter()
            .filter(|parameter| parameter.value.is_none())
            .count();
        let incomplete = if missing > 0 {
            format!("# {missing} of the parameters are not determined: write a number for each before it can be run.\n")
        } else {
            String::new()
        };
        format!(
            "# Found by `stickslip analyse` from {} records. A slider that is led with a constant speed stands for the test bench.\n{incomplete}\
             title = \"Friction as measured\"\n\n[simulation]\nduration = {}\nstep = {}\nintegrator = \"stiff\"\n\n\
             [bodies.slider]\nkind = \"driver\"\nvelocity = {}\n\n{}",
            found.records.len(),
            float(duration),
            float(duration / 500.0),
            float(format!("{speed:.3e}").parse().unwrap_or(speed)),
            self.element
        )
    }
}

/// A number of a TOML file, with three digits more than its error.
fn plain(value: f64, error: f64) -> String {
    let digits = |x: f64| libm::floor(libm::log10(x.abs().max(f64::MIN_POSITIVE))) as i32;
    let significant = (digits(value) - digits(error) + 3).clamp(3, 17) as usize;
    let exact: f64 = format!("{value:.*e}", significant - 1).parse().unwrap_or(value);
    float(exact)
}

/// A number as TOML writes one.
fn float(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}
