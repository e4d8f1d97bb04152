//! The rig: a scenario with a friction called `floor` whose law is exchanged, and the run of it.

use crate::Fault;
use crate::words::number;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use stickslip::core::registry::Law;
use stickslip::profile::Profile;
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::{ElementSpec, FrictionLawSpec, LimitSpec, NormalForce, ParameterValue, Scenario};
use stickslip::trace::Columns;
use stickslip::{Simulation, Stop};

/// What a law needs and the experiment chooses: the same for every law, so that they can be compared.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("epsilon", "1e-3", "m/s"),
    ("stiffness", "1e5", "N/m"),
    ("damping", "300", "N*s/m"),
    ("beta", "3e-3", "s"),
    ("breakaway", "6e-5", "m"),
    ("a", "0.01", ""),
    ("b", "0.015", ""),
    ("critical_distance", "1e-4", "m"),
    ("reference_velocity", "1e-3", "m/s"),
    ("tangential_stiffness", "1e5", "N/m"),
    ("kappa", "2e3", "1/m"),
    ("eta", "0.1", "1/s"),
    ("r", "1e5", "1/m"),
];

/// A parameter that the experiment gives to the law: its key, the value as written, its unit.
struct Given {
    name: &'static str,
    value: String,
    unit: &'static str,
}

/// What to rub: a curve of 10 N, or one that falls from 12 N.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// 10 N at any speed.
    Coulomb,
    /// From 12 N at rest to 10 N, within the Stribeck velocity.
    Falling(f64),
    /// The same; a law with stick memory drops from its static limit at once.
    Breakaway(f64),
}

/// A law under test, with changes of the user's.
pub struct Rig<'a> {
    /// The law.
    pub law: &'static Law,
    /// `--set` arguments.
    pub sets: &'a [String],
    /// Ends its runs.
    stop: &'a Stop,
    /// The friction of the last run, as it was built.
    used: RefCell<Option<FrictionLawSpec>>,
}

/// What a run recorded: one row per step, the time first.
pub struct Record {
    /// The rows.
    pub rows: Vec<Vec<f64>>,
    /// The friction as it was built, with the user's changes.
    pub friction: FrictionLawSpec,
}

/// A scenario without its friction.
pub struct Setting<'a> {
    /// Simulated time, s.
    pub duration: f64,
    /// Step, s.
    pub step: f64,
    /// Bodies and other elements.
    pub bodies: &'a str,
    /// The body that rubs on the ground.
    pub rubs: &'a str,
    /// The curve.
    pub curve: Curve,
}

impl<'a> Rig<'a> {
    /// A law, and changes of the user's.
    pub fn new(law: &'static Law, sets: &'a [String], stop: &'a Stop) -> Self {
        Rig {
            law,
            sets,
            stop,
            used: RefCell::new(None),
        }
    }

    /// What the friction of the last run had, with the user's changes: its limits, then what the experiment gave to the law.
    pub fn used(&self) -> Vec<(String, String)> {
        let mut used = Vec::new();
        let mut add = |name: &str, value: String, unit: &str| {
            used.push((name.to_string(), format!("{value} {unit}").trim_end().to_string()));
        };
        let friction = self.used.borrow();
        match friction.as_ref().map(|friction| &friction.curve.limit) {
            Some(LimitSpec::Force { kinetic, static_ }) => {
                add("kinetic", number(*kinetic), "N");
                add("static", number(*static_), "N");
            }
            Some(LimitSpec::Coefficient { kinetic, static_ }) => {
                add("mu_kinetic", number(*kinetic), "");
                add("mu_static", number(*static_), "");
            }
            _ => (),
        }
        if let Some(curve) = friction.as_ref().map(|friction| &friction.curve) {
            if let Some(speed) = curve.stribeck_velocity {
                add("stribeck_velocity", number(speed), "m/s");
                if curve.stribeck_exponent != 2.0 {
                    add("stribeck_exponent", number(curve.stribeck_exponent), "");
                }
            }
            if curve.viscous != 0.0 {
                add("viscous", number(curve.viscous), "N*s/m");
            }
        }
        if let Some(NormalForce::Profile(Profile::Constant(force))) =
            friction.as_ref().and_then(|friction| friction.normal_force.as_ref())
        {
            add("normal_force", number(*force), "N");
        }
        for Given { name, value, unit } in self.given() {
            let built = friction.as_ref().map_or(&[][..], |friction| &friction.parameters);
            let built = built.iter().find(|parameter| parameter.name == name);
            match built.map(|parameter| &parameter.value) {
                Some(ParameterValue::Number(built)) if value.parse() != Ok(built.value) => {
                    add(name, number(built.value), unit);
                }
                _ => add(name, value, unit),
            }
        }
        used
    }

    /// The parameters that this law gets from the experiment.
    fn given(&self) -> Vec<Given> {
        let mut given = Vec::new();
        for (name, value, unit) in PARAMETERS {
            // Also those with a default: choices from mass and step would differ from experiment to experiment.
            if self.law.parameters.iter().any(|parameter| parameter.name == *name) {
                let several = self.law.parameters.iter().any(|other| other.name == "fraction");
                let value = if several && *name == "stiffness" {
                    "[1.5e5, 5e4]".to_string()
                } else {
                    (*value).to_string()
                };
                given.push(Given { name, value, unit });
            }
        }
        if self.law.parameters.iter().any(|parameter| parameter.name == "fraction") {
            given.push(Given {
                name: "fraction",
                value: "[0.5, 0.5]".to_string(),
                unit: "",
            });
        }
        given
    }

    /// Whether `--set` gives the friction one of these keys.
    fn sets(&self, keys: &[&str]) -> bool {
        let set = self
            .sets
            .iter()
            .filter_map(|set| set.split_once('='))
            .map(|(path, _)| path.trim());
        set.filter_map(|path| path.strip_prefix("elements.floor."))
            .any(|key| keys.contains(&key))
    }

    /// The scenario as text; with coefficients and a normal force of 100 N in place of forces for laws that need them, or where
    /// the user gives coefficients. What the user gives by another key of the same meaning is left out.
    ///
    /// `sliding` is the kinetic limit that the user gives: the static one stands above it as that of the experiment does.
    fn text(&self, setting: &Setting<'_>, coefficients: bool, sliding: Option<f64>) -> String {
        let (kinetic, holding, level) = if coefficients {
            ("mu = 0.1", "mu_static", 0.12)
        } else {
            ("kinetic = 10", "static", 12.0)
        };
        let level = sliding.map_or(level, |sliding| 1.2 * sliding);
        let still = format!("{holding} = {level:?}");
        let mut lines = Vec::new();
        let own_curve = self.sets(&["table", "curve"]);
        if !own_curve && !self.sets(&["mu_kinetic"]) {
            lines.push(kinetic.to_string());
        }
        let curve = if own_curve { Curve::Coulomb } else { setting.curve };
        match curve {
            Curve::Coulomb => (),
            Curve::Breakaway(_) if !self.law.needs_stribeck => lines.push(still),
            Curve::Falling(speed) | Curve::Breakaway(speed) => {
                lines.push(still);
                // The law that takes only coefficients has no Stribeck velocity: its own parameters say how it falls.
                if !coefficients || self.law.steady_curve {
                    lines.push(format!("stribeck_velocity = {speed:?}"));
                }
            }
        }
        if coefficients {
            lines.push("normal_force = 100".to_string());
        }
        lines.extend(
            self.given()
                .into_iter()
                .map(|given| format!("{} = {}", given.name, given.value)),
        );
        format!(
            "[simulation]\nduration = {:?}\nstep = {:?}\nintegrator = \"{}\"\n{}\n[elements.floor]\nkind = \"friction\"\n\
             between = [\"{}\", \"ground\"]\nlaw = \"{}\"\n{}\n",
            setting.duration,
            setting.step,
            self.law.integrators[0],
            setting.bodies,
            setting.rubs,
            self.law.name,
            lines.join("\n")
        )
    }

    /// The kinetic limit that `--set` gives, if it gives one alone: found by reading the scenario with static friction no higher.
    fn sliding(&self, setting: &Setting<'_>, coefficients: bool) -> Option<f64> {
        if !self.sets(&["mu", "mu_kinetic", "kinetic"]) || self.sets(&["mu_static", "static", "table", "curve"]) {
            return None;
        }
        let text = self.text(setting, coefficients, Some(0.0));
        let none = if coefficients {
            "mu_static = 0.0\n"
        } else {
            "static = 0.0\n"
        };
        let scenario = Scenario::parse(&text.replace(none, ""), "experiment", self.sets).ok()?;
        let floor = scenario.elements.iter().find(|(name, _)| name == "floor")?;
        match floor.1.friction()?.curve.limit {
            LimitSpec::Force { kinetic, .. } | LimitSpec::Coefficient { kinetic, .. } => Some(kinetic),
            LimitSpec::Given { .. } => None,
        }
    }

    /// Runs a setting under the law and records these columns.
    ///
    /// # Errors
    /// If it cannot be built or the run fails.
    pub fn record(&self, setting: &Setting<'_>, columns: &[&str]) -> Result<Record, Fault> {
        if self.sets(&["law"]) {
            return Err(Fault::input(
                "the law of an experiment is not changed by --set",
                "name it with --law, for example --law dahl",
            ));
        }
        if self.sets(&["kind"]) {
            return Err(Fault::input(
                "the experiment needs its friction",
                "leave elements.floor a friction",
            ));
        }
        let build = |coefficients: bool| {
            let text = self.text(setting, coefficients, self.sliding(setting, coefficients));
            let with = |sets: &[String]| Scenario::parse(&text, "experiment", sets).and_then(Simulation::new);
            // Nobody has seen the text: what is wrong is wrong with an argument.
            with(self.sets).map_err(|error| error.blame_arguments(|sets| with(sets).is_ok()))
        };
        // A law that is written with coefficients says so when it meets forces; the first message is about the user's
        // changes, if those are wrong.
        let coefficients = self.sets(&["mu", "mu_kinetic", "mu_static", "normal_force"]);
        let mut simulation = match build(coefficients) {
            Ok(simulation) => simulation,
            Err(error) if coefficients => return Err(error.into()),
            Err(error) => build(true).map_err(|_| error)?,
        };
        let mut chosen = Columns::new(&simulation);
        let names: Vec<String> = columns.iter().map(|name| (*name).to_string()).collect();
        if let Err(name) = chosen.select(&names) {
            return Err(Fault::unknown(
                "column",
                &name,
                chosen.names().iter().map(String::as_str),
            ));
        }
        let friction = match simulation.scenario().elements.iter().find(|(name, _)| name == "floor") {
            Some((_, ElementSpec::Friction(spec))) => spec.friction.clone(),
            _ => {
                return Err(Fault::input(
                    "the experiment needs its friction",
                    "leave elements.floor a friction",
                ));
            }
        };
        *self.used.borrow_mut() = Some(friction.clone());
        let mut rows = Vec::new();
        let mut keep = |row: &[f64]| {
            rows.push(row.to_vec());
            Ok(())
        };
        let options = Options {
            stop: Some(self.stop),
            ..Options::default()
        };
        let outcome = run(&mut simulation, Some((&chosen, &mut keep)), options)
            .map_err(|error| Fault::Work(error.to_string()))?;
        match outcome.ended {
            Ended::Complete if !self.stop.load(Ordering::Relaxed) => Ok(Record { rows, friction }),
            Ended::Failed(error) => Err(Fault::Work(format!("error: {error}"))),
            _ => Err(Fault::Stopped),
        }
    }
}
