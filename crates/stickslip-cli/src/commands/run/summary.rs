//! What a person wants to know of a run, on one screen.

use crate::text::{about, duration, list, number, steady_sliding, table};
use serde_json::Value;
use stickslip::Simulation;
use stickslip::advice::angular;
use stickslip::analysis::stick_slip::Region;
use stickslip::build::Place;
use stickslip::inclusion::Inclusion;
use stickslip::report::Report;
use stickslip::scenario::{BodySpec, JointType};

/// The summary of a run.
pub fn text(simulation: &Simulation, report: &Report) -> String {
    let mut out = String::new();
    if !report.title.is_empty() {
        out += &format!("{}\n", report.title);
    }
    let per_step = if report.steps > 0 {
        format!(" ({} a step)", about(report.seconds / report.steps as f64))
    } else {
        String::new()
    };
    out += &format!(
        "  {}, {} steps of {} to t = {} s in {}{per_step}\n",
        report.integrator,
        report.steps,
        duration(report.step),
        number(report.t_end),
        about(report.seconds),
    );
    if let Some(solver) = &report.solver {
        out += &format!(
            "  {} internal steps, {} more were tried; {} evaluations of the system\n",
            solver.steps, solver.rejected, solver.rates
        );
    }
    out += &match &simulation.scenario().inclusion {
        Some(inclusion) => format!("\nStates at the end\n{}", list(&states(inclusion, report), "  ")),
        None if simulation.scenario().bodies.is_empty() => String::new(),
        None => format!("\nMotion at the end\n{}", list(&motion(simulation), "  ")),
    };
    if let Some(chain) = &report.chain {
        let seen = simulation.aggregates();
        out += &format!(
            "\nChain of {} blocks\n  {} slip at the end; each slipped for {} s on average, with {} changes between stick and slip\n  \
             moment {} m (slip of all blocks), mean velocity {} m/s, largest speed {} m/s\n",
            chain.blocks,
            seen.slipping,
            number(chain.slip_time),
            chain.transitions,
            number(seen.moment),
            number(seen.velocity),
            number(seen.speed)
        );
    }
    if let Some(spheres) = &report.spheres {
        let seen = simulation.spheres_seen();
        out += &format!(
            "\n{} spheres\n  {} touch the plane at the end, {} of them slip; each touched it for {} s and slipped for {} s on average\n  \
             largest speed {} m/s, largest gap {} m\n",
            spheres.count,
            seen.touching,
            seen.slipping,
            number(spheres.contact_time),
            number(spheres.slip_time),
            number(seen.speed),
            number(seen.gap[1])
        );
    }
    if let Some(events) = &report.slip_events {
        out += &format!(
            "\nSlip events\n  {} events, {} unfinished; the largest has a moment of {} m, the widest {} blocks\n",
            events.count,
            events.unfinished,
            number(events.largest),
            events.most_blocks
        );
        if let Some(exponent) = events.exponent {
            let error = events.exponent_error.unwrap_or(f64::NAN);
            out += &format!(
                "  N(>= M) goes as M^{:.3}, standard error {error:.2}, over the {} events of the range chosen (b-value of magnitudes: \
                 {:.2})\n",
                -exponent,
                events.fitted,
                1.5 * exponent
            );
        }
    }
    let frictions = frictions(simulation, report);
    if frictions.len() > 1 {
        out += &format!("\nFriction and contact\n{}", table(&frictions, "  "));
    }
    if let Some(energy) = &report.energy {
        let j = |value: f64| format!("{} J", number(value));
        out += &format!(
            "\nEnergy\n  {} at the start + {} put in = {} turned into heat + {} at the end ({} stored)\n",
            j(energy.initial),
            j(energy.input),
            j(energy.dissipated),
            j(energy.final_),
            j(energy.stored)
        );
        out += &match energy.numerical {
            Some(own) => format!(
                "  residual {}, of which the method itself accounts for {}\n",
                j(energy.residual),
                j(own)
            ),
            None => format!("  residual {}\n", j(energy.residual)),
        };
    }
    if let Some(cycle) = &report.stick_slip {
        let period = match (cycle.period, cycle.period_min, cycle.period_max) {
            (Some(mean), Some(min), Some(max)) if max - min > UNLIKE * mean => {
                format!(
                    "irregular, {} s on average ({} to {} s)",
                    number(mean),
                    number(min),
                    number(max)
                )
            }
            (Some(period), ..) => format!("{} s", number(period)),
            _ => "none".to_string(),
        };
        let spec = simulation.scenario().stick_slip.as_ref();
        let scaled = spec.filter(|spec| spec.scale != 1.0);
        let divisor = scaled.map_or(String::new(), |spec| format!("/{}", number(spec.scale)));
        out += &format!(
            "\nStick-slip of {}{divisor}\n  amplitude {}, period {period}, {} cycle(s): {}\n",
            cycle.signal,
            number(cycle.amplitude),
            cycle.cycles,
            match cycle.region {
                None if cycle.stable => "steady sliding",
                None if cycle.cycles == 0 => "it changes, and no cycle is seen",
                None => "stick-slip",
                Some(Region::Creep) => "stick-slip by creep",
                Some(Region::Inertial) => "stick-slip by inertia",
            }
        );
        let criterion = spec.and_then(|spec| spec.e).map_or(String::new(), |e| {
            format!(
                " (criterion 35 of Ozaki, Hashiguchi and Chen (2007) with e = {})",
                number(e)
            )
        });
        out += &format!(
            "  stable is an amplitude of at most {}{criterion}\n",
            number(cycle.threshold)
        );
        if let (Some(drive), Some(recovery)) = (cycle.drive_rate, cycle.recovery_rate) {
            let (than, expected) = if drive > recovery {
                ("faster than", "steady sliding")
            } else {
                ("no faster than", "stick-slip")
            };
            out += &format!(
                "  the spring pulls by {} N/s more, {than} friction recovers at rest ({} N/s): criterion 37 expects {expected}\n",
                number(drive),
                number(recovery)
            );
        }
        if let (Some(growth), Some(frequency)) = (cycle.linear_growth, cycle.linear_frequency) {
            out += &format!("  steady sliding is {}\n", steady_sliding(growth, frequency));
            if growth > 0.0 && cycle.stable {
                out += "  the cycle it ends in is too small to count: \"stable\" is about that cycle\n";
            }
        } else if let Some(reason) = &cycle.linear_reason {
            out += &format!("  linear stability of steady sliding is not known: {reason}\n");
        }
    }
    let choices = &simulation.built().choices;
    if !choices.is_empty() {
        let rows: Vec<Vec<String>> = choices
            .iter()
            .map(|choice| {
                let value = format!("{} {}", number(choice.value), choice.unit);
                vec![choice.key.clone(), value, choice.reason.clone()]
            })
            .collect();
        out += &format!("\nChosen for you\n{}", list(&rows, "  "));
    }
    out
}

/// Cycles that differ by more than this part of their mean are irregular.
const UNLIKE: f64 = 0.02;

/// Numbers with a unit: `3 m`, `(1, 0, 2) m/s`.
fn numbers(values: &[f64], unit: &str) -> String {
    match values {
        [value] => format!("{} {unit}", number(*value)).trim_end().to_string(),
        _ => format!(
            "({}) {unit}",
            values.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// One row per state of an inclusion.
fn states(inclusion: &Inclusion, report: &Report) -> Vec<Vec<String>> {
    let value = |name: &String| report.final_.get(name).and_then(Value::as_f64);
    let states = inclusion.states().iter();
    states
        .map(|name| vec![name.clone(), value(name).map_or("-".to_string(), number)])
        .collect()
}

/// One row per body or joint: position, velocity, turning.
fn motion(simulation: &Simulation) -> Vec<Vec<String>> {
    let scenario = simulation.scenario();
    let mut rows = Vec::new();
    for (handle, (name, body)) in simulation.bodies().zip(&scenario.bodies) {
        let (position, velocity) = (simulation.position(handle), simulation.velocity(handle));
        let free = |rows: &mut Vec<Vec<String>>| {
            rows.push(vec![
                name.clone(),
                numbers(&position[..3], "m"),
                numbers(&velocity[..3], "m/s"),
                numbers(&velocity[3..6], "rad/s"),
            ]);
        };
        let turns = match body {
            BodySpec::Inertia(_) => true,
            BodySpec::Driver(driver) => driver.angular == Some(true),
            BodySpec::Mass(_) => false,
            BodySpec::Own(own) => {
                for (i, coordinate) in own.body.coordinates().iter().enumerate() {
                    // Without a unit in the file it is not known what a coordinate is.
                    let (unit, rate) = own.turns.get(i).copied().flatten().map_or(("", ""), units);
                    rows.push(vec![
                        format!("{name}.{coordinate}"),
                        numbers(&position[i..=i], unit),
                        numbers(&velocity[i..=i], rate),
                    ]);
                }
                continue;
            }
            BodySpec::RigidBody(_) => {
                free(&mut rows);
                continue;
            }
            BodySpec::Linkage(spec) => {
                let Place::Linkage(linkage) = simulation.built().places[handle.number()] else {
                    continue;
                };
                let linkage = &simulation.built().network.linkages[linkage].body;
                if linkage.is_floating() {
                    free(&mut rows);
                }
                for (link, description) in spec.links.iter().enumerate() {
                    let at = (linkage.joint_position_index(link), linkage.joint_velocity_index(link));
                    if let (Some(q), Some(v)) = at {
                        let turns = description.joint_type == JointType::Revolute;
                        let (unit, rate) = units(turns);
                        rows.push(vec![
                            format!("{name}.{}", description.joint),
                            numbers(&position[q..=q], unit),
                            numbers(&velocity[v..=v], rate),
                        ]);
                    }
                }
                continue;
            }
        };
        let (unit, rate) = units(turns);
        rows.push(vec![name.clone(), numbers(position, unit), numbers(velocity, rate)]);
    }
    rows
}

fn units(turns: bool) -> (&'static str, &'static str) {
    if turns { ("rad", "rad/s") } else { ("m", "m/s") }
}

/// A header, and one row per element that sticks, slips or opens.
fn frictions(simulation: &Simulation, report: &Report) -> Vec<Vec<String>> {
    let header = ["", "stick", "slip", "changes", "max force", "heat", "at the end"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for (name, element) in &simulation.scenario().elements {
        let Some(entry) = report.elements.get(name) else {
            continue;
        };
        let value = |key: &str| entry.get(key).and_then(Value::as_f64);
        let (Some(stick), Some(slip), Some(changes)) = (value("stick_time"), value("slip_time"), value("transitions"))
        else {
            continue;
        };
        let unit = if angular(simulation.scenario(), element) {
            "Nm"
        } else {
            "N"
        };
        let last = report.events.iter().rev().find(|event| event.element == *name);
        let complete = report.events.len() as u64 == report.events_total;
        let now = match last {
            Some(event) if complete => format!("{} since {} s", event.to, number(event.t)),
            None if complete => "as at the start".to_string(),
            _ => "-".to_string(),
        };
        rows.push(vec![
            name.clone(),
            format!("{} s", number(stick)),
            format!("{} s", number(slip)),
            number(changes),
            format!("{} {unit}", number(value("max_force").unwrap_or(0.0))),
            format!("{} J", number(value("dissipated").unwrap_or(0.0))),
            now,
        ]);
    }
    rows
}
