//! `stickslip check FILE`.

use crate::failure::{Failure, print, print_json, warn};
use crate::text::{about, duration, list, number, steady_sliding, table};
use clap::Args;
use std::path::PathBuf;
use stickslip::advice::{Advice, Estimate, FrictionLine, Glance, advise_at_a_glance};
use stickslip::inclusion::Inclusion;
use stickslip::memory::in_units;
use stickslip::run::recorded_columns;
use stickslip::scenario::Scenario;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip check block.toml
  stickslip check block.toml --set simulation.step=\"2 ms\" --json";

/// Check a scenario without running it, and say what to expect
///
/// Shows bodies, elements and states, the parameters that were chosen for you and why, whether each friction can hold
/// its load (stick margin 1 - peak load/limit, everything at rest), how far bristles give way before they slip, and
/// warnings.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// The scenario file
    file: PathBuf,
    /// Change a value: elements.floor.law=lugre, bodies.block.mass="2 kg"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Examines the scenario.
    pub fn execute(self) -> Result<(), Failure> {
        let mut glance = Glance::new(Scenario::read(&self.file, &self.set)?)?;
        let columns = recorded_columns(&glance.simulation)?;
        let advice = advise_at_a_glance(&mut glance, &columns);
        if self.json {
            return print_json(&advice);
        }
        let scenario = glance.simulation.scenario();
        warn(scenario, &advice.diagnostics);
        let looks_for_stick_slip = scenario.stick_slip.is_some();
        print(&text(&advice, scenario.inclusion.as_ref(), looks_for_stick_slip))
    }
}

fn text(advice: &Advice, inclusion: Option<&Inclusion>, looks_for_stick_slip: bool) -> String {
    let mut out = String::new();
    if !advice.title.is_empty() {
        out += &format!("{}\n", advice.title);
    }
    let end = advice.step * advice.steps as f64;
    out += &format!(
        "  {}, {} steps of {} to t = {} s, {} numbers of state\n",
        advice.integrator,
        advice.steps,
        duration(advice.step),
        number(end),
        advice.states
    );
    if advice.lanes {
        out += "  sweeps of final values run side by side in lanes\n";
    }
    let bodies: Vec<Vec<String>> = advice
        .bodies
        .iter()
        .map(|body| vec![body.name.clone(), body.kind.to_string(), body.about.clone()])
        .collect();
    if !bodies.is_empty() {
        out += &format!("\nBodies\n{}", list(&bodies, "  "));
    }
    if let Some(inclusion) = inclusion {
        out += &format!("\nStates\n  {}\n", inclusion.states().join(", "));
        let (before, after) = (inclusion.description().states.len(), inclusion.states().len());
        if after > before {
            out += &format!(
                "  {} added by the rewriting; `stickslip rewrite FILE` shows how\n",
                after - before
            );
        }
    }
    if let Some(chain) = &advice.chain {
        out += &format!(
            "\nChain\n  {} blocks, {} bytes each: {} in all\n",
            chain.blocks,
            chain.bytes_per_block,
            in_units(chain.bytes as u64)
        );
    }
    if let Some(spheres) = &advice.spheres {
        out += &format!(
            "\n{} spheres\n  {} in all\n",
            spheres.blocks,
            in_units(spheres.bytes as u64)
        );
    }
    let elements: Vec<Vec<String>> = advice
        .elements
        .iter()
        .map(|element| {
            let [first, second] = &element.between;
            let mut about = element.laws.join(" with ");
            if let Some(implicit) = element.implicit {
                about = format!("taken at the {} of the step", if implicit { "end" } else { "start" });
            }
            let ends = if element.kind == "contacts" {
                format!("between {first}")
            } else if second == "ground" && first.contains('.') {
                format!("on {first}")
            } else {
                format!("{first} - {second}")
            };
            vec![element.name.clone(), element.kind.to_string(), ends, about]
        })
        .collect();
    if !elements.is_empty() {
        out += &format!("\nElements\n{}", list(&elements, "  "));
    }
    if !advice.frictions.is_empty() {
        out += &format!("\nFriction\n{}", frictions(&advice.frictions));
    }
    if let Some(steady) = &advice.steady_sliding {
        let words = steady_sliding(steady.growth, steady.frequency);
        out += &format!("\nSteady sliding at the speed of the drive\n  {words}\n");
        if !steady.stable {
            out += "  whether the cycle it ends in is large only a run can tell\n";
        }
    } else if let (Some(reason), true) = (&advice.linear_reason, looks_for_stick_slip) {
        out += &format!("\nSteady sliding\n  its linear stability is not known: {reason}\n");
    }
    if !advice.choices.is_empty() {
        let rows: Vec<Vec<String>> = advice
            .choices
            .iter()
            .map(|choice| {
                let value = format!("{} {}", number(choice.value), choice.unit);
                vec![choice.key.clone(), value, choice.reason.clone()]
            })
            .collect();
        out += &format!("\nChosen for you\n{}", list(&rows, "  "));
    }
    out += &advice.estimate.as_ref().map(estimate).unwrap_or_default();
    out += &match advice.warnings.len() {
        0 => "\nNo warnings.\n".to_string(),
        1 => "\n1 warning, on standard error.\n".to_string(),
        n => format!("\n{n} warnings, on standard error.\n"),
    };
    out
}

/// Time, memory and size of the trace.
fn estimate(estimate: &Estimate) -> String {
    let time = match estimate.seconds {
        Some(seconds) => format!("about {} on this machine (from {})", about(seconds), estimate.time_from),
        None => format!(
            "time not estimated ({})",
            estimate.time_from.trim_start_matches("none: ")
        ),
    };
    format!(
        "\nThe run\n  {time}\n  {} of memory for its numbers; --out writes {} rows, as CSV about {}\n",
        in_units(estimate.memory_bytes),
        estimate.rows,
        in_units(estimate.trace_bytes)
    )
}

/// The part of the limit that is left; how many times it is exceeded where it is by far.
fn margin(line: &FrictionLine) -> String {
    match (line.stick_margin, line.holds) {
        (Some(margin), _) if margin >= -1.0 => format!("{:.1} %", 100.0 * margin),
        (Some(margin), _) => format!("none: {} x limit", number((10.0 * (1.0 - margin)).round() / 10.0)),
        (None, Some(false)) => "none: limit 0".to_string(),
        (None, _) => "-".to_string(),
    }
}

/// What a line is about: an element, or two bodies that touch.
fn name(line: &FrictionLine) -> String {
    match &line.between {
        Some([first, second]) => format!("{first} - {second}"),
        None => line.element.clone(),
    }
}

fn frequency(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |x| format!("{x:.1} rad/s"))
}

fn frictions(lines: &[FrictionLine]) -> String {
    let header = [
        "",
        "law",
        "peak load",
        "limit",
        "stick margin",
        "presliding",
        "lowest bristle mode",
        "load line",
    ];
    let mut rows = vec![header.map(String::from).to_vec()];
    for line in lines {
        let (length, force) = (if line.unit == "Nm" { "rad" } else { "m" }, line.unit);
        let cell = |value: Option<f64>, unit: &str| value.map_or("-".to_string(), |x| format!("{} {unit}", number(x)));
        rows.push(vec![
            name(line),
            line.law.clone(),
            cell(line.peak_load, force),
            cell(line.holding_limit, force),
            margin(line),
            cell(line.presliding, length),
            frequency(line.bristle_mode),
            frequency(line.load_line),
        ]);
    }
    let mut out = table(&rows, "  ");
    for line in lines {
        if let Some([along, across]) = line.holding_limits {
            out += &format!(
                "  \"{}\" holds {} {unit} along its direction and {} {unit} across it\n",
                line.element,
                number(along),
                number(across),
                unit = line.unit
            );
        }
    }
    let mut counted: Vec<&str> = Vec::new();
    for line in lines {
        if !counted.contains(&line.counted.as_str()) {
            counted.push(&line.counted);
        }
    }
    for words in counted {
        let names: Vec<String> = lines.iter().filter(|line| line.counted == words).map(name).collect();
        // A scene has many pairs.
        let all = names.len() == lines.len() && names.len() > 4;
        let names = if all {
            "all of them".to_string()
        } else {
            names.join(", ")
        };
        out += &format!("  load on {names}: {words}\n");
    }
    out
}
