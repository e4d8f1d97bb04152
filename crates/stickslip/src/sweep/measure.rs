//! What is measured: a path in the run report, such as `stick_slip.amplitude` or `final.block.position`.

use super::Mistake;
use crate::report::{Report, Reporter, StickSlipReport};
use crate::scenario::diagnostic::nearest;
use crate::simulation::Simulation;
use crate::trace::Columns;
use serde::Serialize;
use serde_json::Value;

/// A path in the run report. Names may contain dots: `final.arm.shoulder.position`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// As written.
    pub path: String,
}

impl Measure {
    /// Checks a path against the report that this simulation would give.
    ///
    /// # Errors
    /// If the report has no such number, with the nearest one.
    pub fn parse(path: &str, simulation: &mut Simulation) -> Result<Self, Mistake> {
        let path = path.trim();
        let known = paths(simulation);
        let has = |wanted: &str| known.iter().any(|other| other == wanted);
        let in_events = path.strip_prefix("events.").and_then(|rest| rest.split_once('.'));
        let event = in_events.is_some_and(|(number, part)| {
            number.parse::<usize>().is_ok() && ["t", "element", "from", "to"].contains(&part)
        });
        if has(path) || event {
            return Ok(Measure { path: path.to_string() });
        }
        let inner: Vec<&str> = known
            .iter()
            .filter_map(|other| other.strip_prefix(path)?.strip_prefix('.').map(|_| other.as_str()))
            .collect();
        let help = if path.starts_with("stick_slip") && simulation.scenario().stick_slip.is_none() {
            "the scenario has no analysis: add [analysis] with stick_slip = { signal = \"floor.force\" }".to_string()
        } else if path == "events" || path == "warnings" {
            format!("`{path}` is a list; `events_total` counts, and `events.0.t` is the time of the first event")
        } else if !inner.is_empty() {
            format!(
                "it holds several values, of which one can be measured: {}",
                inner.join(", ")
            )
        } else {
            match nearest(path, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("what there is: {}", known.join(", ")),
            }
        };
        Err(Mistake::new(format!("the run report has no value \"{path}\""), help))
    }

    /// The column, if it is one of the last row: then the run need not be watched.
    pub fn column(&self) -> Option<&str> {
        self.path.strip_prefix("final.")
    }

    /// The value in a report; null if it is absent.
    pub fn of(&self, report: &Report) -> Value {
        let (head, rest) = self.path.split_once('.').unwrap_or((&self.path, ""));
        let json = |part: &dyn Fn() -> serde_json::Result<Value>| part().unwrap_or(Value::Null);
        match head {
            "final" => report.final_.get(rest).cloned(),
            "elements" => report.elements.iter().find_map(|(name, element)| {
                let field = rest.strip_prefix(name.as_str())?.strip_prefix('.')?;
                element.get(field).cloned()
            }),
            "energy" => within(json(&|| to_value(&report.energy)), rest),
            "stick_slip" => within(json(&|| to_value(&report.stick_slip)), rest),
            "slip_events" => within(json(&|| to_value(&report.slip_events)), rest),
            "chain" => within(json(&|| to_value(&report.chain)), rest),
            "spheres" => within(json(&|| to_value(&report.spheres)), rest),
            "solver" => within(json(&|| to_value(report.solver)), rest),
            "events" => {
                let (number, part) = rest.split_once('.').unwrap_or((rest, ""));
                let event = number.parse().ok().and_then(|index: usize| report.events.get(index));
                within(json(&|| to_value(event)), part)
            }
            _ => scalars(report)
                .into_iter()
                .find_map(|(name, value)| (name == head).then_some(value)),
        }
        .unwrap_or(Value::Null)
    }
}

fn to_value(part: impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(part)
}

fn within(value: Value, field: &str) -> Option<Value> {
    value.get(field).cloned()
}

/// The numbers and words at the top of a report.
fn scalars(report: &Report) -> Vec<(&'static str, Value)> {
    vec![
        ("title", report.title.clone().into()),
        ("version", report.version.into()),
        ("integrator", report.integrator.into()),
        ("step", report.step.into()),
        ("steps", report.steps.into()),
        ("t_end", report.t_end.into()),
        ("seconds", report.seconds.into()),
        ("events_total", report.events_total.into()),
    ]
}

/// Every path in the report of a simulation.
fn paths(simulation: &mut Simulation) -> Vec<String> {
    let columns = Columns::new(simulation);
    let mut report = Reporter::new(simulation, &columns).finish(simulation, &columns, 0.0);
    report.stick_slip = (simulation.scenario().stick_slip.as_ref()).map(|_| StickSlipReport::default());
    let mut paths: Vec<String> = report.final_.keys().map(|column| format!("final.{column}")).collect();
    let mut add = |prefix: &str, value: &Value| {
        let fields = value.as_object().into_iter().flatten();
        // A list is no value of a row.
        let fields = fields.filter(|(_, value)| !value.is_array());
        paths.extend(fields.map(|(field, _)| format!("{prefix}.{field}")));
    };
    for (name, element) in &report.elements {
        add(&format!("elements.{name}"), element);
    }
    add("energy", &to_value(&report.energy).unwrap_or(Value::Null));
    let parts = [
        ("stick_slip", to_value(&report.stick_slip)),
        ("slip_events", to_value(&report.slip_events)),
        ("chain", to_value(&report.chain)),
        ("spheres", to_value(&report.spheres)),
        ("solver", to_value(report.solver)),
    ];
    for (name, part) in parts {
        add(name, &part.unwrap_or(Value::Null));
    }
    paths.extend(scalars(&report).into_iter().map(|(name, _)| name.to_string()));
    paths
}
