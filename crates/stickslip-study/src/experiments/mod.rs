//! Standard experiments on friction laws. Each is a small scenario that takes any law, and the numbers a tribologist reads
//! from it. A law that cannot show an effect shows that by its numbers.

mod measure;
mod rig;

pub use rig::Rig;

use crate::Fault;
use serde_json::{Map, Value, json};
use stickslip::Stop;
use stickslip::core::registry::{Family, LAWS, Law, law};

/// One experiment.
pub struct Experiment {
    /// The word on the command line.
    pub name: &'static str,
    /// What is done and what is read.
    pub summary: &'static str,
    /// Axes of the plot.
    pub axes: (&'static str, &'static str),
    /// Does it on a law.
    pub run: fn(&Rig<'_>) -> Result<Findings, Fault>,
}

/// A number with its unit.
pub struct Number {
    /// Its key in JSON.
    pub name: &'static str,
    /// Its unit; empty for none.
    pub unit: &'static str,
    /// `None` where there is none, such as the period of a motion without cycles.
    pub value: Option<f64>,
}

/// What came of an experiment.
#[derive(Default)]
pub struct Findings {
    /// In the order of the table.
    pub numbers: Vec<Number>,
    /// The curve to draw.
    pub curve: Vec<(f64, f64)>,
}

impl Number {
    /// What stands above its column.
    pub fn heading(&self) -> String {
        self.name.replace("_mm_s", "_mm/s").replace('_', " ")
    }
}

impl Findings {
    fn add(&mut self, name: &'static str, unit: &'static str, value: impl Into<Option<f64>>) {
        self.numbers.push(Number {
            name,
            unit,
            value: value.into(),
        });
    }
}

/// The experiments.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "velocity-step",
        summary: "slide at 1 mm/s, at 100 mm/s and at 1 mm/s again: static peak, kinetic plateaus, transient at the step",
        axes: ("time (s)", "friction (N)"),
        run: measure::velocity_step,
    },
    Experiment {
        name: "slide-hold-slide",
        summary: "slide at 10 mm/s, hold for 0.1 s, 1 s and 10 s, slide again: how far the static peak recovers",
        axes: ("hold time (s)", "peak above plateau (N)"),
        run: measure::slide_hold_slide,
    },
    Experiment {
        name: "presliding",
        summary: "move to and fro by 20 um and by 400 um in 20 s: stiffness at rest and area of the hysteresis loops",
        axes: ("displacement (m)", "friction (N)"),
        run: measure::presliding,
    },
    Experiment {
        name: "no-drift",
        summary: "a block of 1 kg under 6 N that swing by 2 N, below the limit of 10 N: what it drifts per second",
        axes: ("time (s)", "displacement (m)"),
        run: measure::no_drift,
    },
    Experiment {
        name: "stick-slip",
        summary: "a block of 1 kg pulled at 0.1 m/s by a spring of 100 N/m: amplitude and period of the spring force",
        axes: ("time (s)", "spring force (N)"),
        run: measure::stick_slip,
    },
    Experiment {
        name: "frictional-lag",
        summary: "slide at 20 mm/s that swing by 4 mm/s at 5 Hz: how far friction lags behind its steady curve",
        axes: ("velocity (m/s)", "friction (N)"),
        run: measure::frictional_lag,
    },
];

/// What one law gave.
pub struct Tried {
    /// The law.
    pub law: &'static Law,
    /// What its friction had.
    pub given: Vec<(String, String)>,
    /// What came of it, or why nothing did.
    pub outcome: Result<Findings, String>,
}

/// The experiment with this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Experiment, Fault> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.name == name);
    found.ok_or_else(|| Fault::unknown("experiment", name, EXPERIMENTS.iter().map(|e| e.name)))
}

/// The friction laws of these names; `all` stands for all.
///
/// # Errors
/// If there is no law of a name.
pub fn laws(names: &[String]) -> Result<Vec<&'static Law>, Fault> {
    let mut laws = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if name == "all" {
            laws.extend(LAWS.iter().filter(|law| law.family == Family::Friction));
        } else {
            laws.push(law(Family::Friction, name).ok_or_else(|| Fault::unknown_law(name))?);
        }
    }
    Ok(laws)
}

/// Does an experiment on laws, with `--set` arguments; `each` takes what one law gave as soon as it is known.
///
/// # Errors
/// If it was stopped, or the only law could not be tried; of several laws the others go on.
pub fn try_laws(
    experiment: &Experiment,
    laws: &[&'static Law],
    sets: &[String],
    stop: &Stop,
    each: &mut dyn FnMut(Tried),
) -> Result<(), Fault> {
    for law in laws {
        let rig = Rig::new(law, sets, stop);
        let outcome = match (experiment.run)(&rig) {
            Ok(findings) => Ok(findings),
            Err(Fault::Stopped) => return Err(Fault::Stopped),
            Err(fault) if laws.len() == 1 => return Err(fault),
            Err(fault) => Err(fault.to_string()),
        };
        each(Tried {
            law,
            given: rig.used(),
            outcome,
        });
    }
    Ok(())
}

/// As `experiment --json` prints it.
pub fn report(experiment: &Experiment, tried: &[Tried]) -> Value {
    let laws: Vec<Value> = tried
        .iter()
        .map(|Tried { law, given, outcome }| {
            let given: Map<String, Value> = given.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
            let mut numbers = Map::new();
            let mut units = Map::new();
            for n in outcome.iter().flat_map(|findings| &findings.numbers) {
                numbers.insert(n.name.to_string(), n.value.into());
                units.insert(n.name.to_string(), n.unit.into());
            }
            json!({
                "law": law.name, "integrator": law.integrators[0], "given": given, "numbers": numbers, "units": units,
                "failed": outcome.as_ref().err(),
            })
        })
        .collect();
    json!({ "experiment": experiment.name, "summary": experiment.summary, "laws": laws })
}
