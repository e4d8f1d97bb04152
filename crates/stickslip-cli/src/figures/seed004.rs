//! Figures and claims of seed 004: friction in a modular simulation.

use super::bench::{Bench, Run};
use super::{Drawn, largest, orders, smallest};
use stickslip_plot::{Color, Figure, Legend, Panel, Reference, Scale, Series, Style};

const BLUE: Color = Color::PALETTE[0];
const ORANGE: Color = Color::PALETTE[1];
const GREEN: Color = Color::PALETTE[2];

/// Radius of the sphere of simulation I, m.
const RADIUS: f64 = 0.2;

/// Horizontal velocity of the point of the sphere that touches the floor.
fn contact_velocity(run: &Run) -> Result<Vec<f64>, String> {
    let rows = run.column("ball.velocity.x")?.iter().zip(run.column("ball.wy")?);
    Ok(rows.map(|(v, w)| v - RADIUS * w).collect())
}

/// The last time at which a value is above a bound.
fn last_above(times: &[f64], values: &[f64], bound: f64) -> f64 {
    let last = (0..values.len()).rev().find(|&k| values[k].abs() > bound);
    last.map_or(f64::NAN, |k| times[k])
}

/// Fig 4: a sphere that slides, then rolls.
pub fn sphere(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let (drop, rest) = (bench.run("fig004-1-drop")?, bench.run("fig004-1-rest")?);
    let mut panels = Vec::new();
    for (title, run) in [
        ("dropped from 1.01 $R$, as in the paper", &drop),
        ("started at rest on the floor", &rest),
    ] {
        let t = run.times().to_vec();
        let centre = run.column("ball.velocity.x")?.to_vec();
        panels.push(Panel {
            title: title.into(),
            references: vec![Reference::vertical(0.583_090_379, "rolling, rigid body")],
            ..Panel::new("time $t$ (s)", "velocity (m/s)")
                .with(
                    Series::line("centre", t.clone(), centre)
                        .style(Style::Solid)
                        .color(BLUE),
                )
                .with(
                    Series::line("contact point", t, contact_velocity(run)?)
                        .style(Style::Solid)
                        .color(ORANGE),
                )
        });
    }
    for run in [&drop, &rest] {
        let above: Vec<f64> = run
            .column("ball.position.z")?
            .iter()
            .map(|z| 1000.0 * (z - RADIUS))
            .collect();
        panels.push(Panel {
            y_range: Some((-0.3, 2.3)),
            ..Panel::new("time $t$ (s)", "height above $R$ (mm)").with(
                Series::line("", run.times().to_vec(), above)
                    .style(Style::Solid)
                    .color(GREEN),
            )
        });
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 350.0, height: 150.0, ..Figure::default() },
        "Velocity of the centre and of the contact point, and the height of the centre. The floor damps little, so the dropped \
         sphere bounces all along and its slip falls in steps; started where the floor carries its weight, it slides smoothly."
            .into(),
    ));
    let found = &mut drawn.found;
    let slip = contact_velocity(&rest)?;
    found.note("rest.rolls", last_above(rest.times(), &slip, 1e-3));
    found.note("drop.rolls", last_above(drop.times(), &contact_velocity(&drop)?, 0.05));
    found.note(
        "rest.vc",
        rest.at("ball.velocity.x", 0.3)? - RADIUS * rest.at("ball.wy", 0.3)?,
    );
    found.note("rest.vx", rest.last("ball.velocity.x")?);
    found.note("rest.wy", rest.last("ball.wy")?);
    found.note("rest.x", rest.last("ball.position.x")?);
    found.note("drop.vx", drop.last("ball.velocity.x")?);
    let stuck = rest
        .times()
        .iter()
        .zip(&slip)
        .filter(|(t, _)| **t >= 0.6)
        .map(|(_, v)| v.abs());
    found.note("rest.slip", largest(stuck));
    // Friction acts at the contact point: it trades linear for angular momentum about that point.
    for (id, run) in [("rest.momentum", &rest), ("drop.momentum", &drop)] {
        let rows = run.column("ball.velocity.x")?.iter().zip(run.column("ball.wy")?);
        let about: Vec<f64> = rows
            .map(|(v, w)| 0.3 * RADIUS * v + 0.4 * 0.3 * RADIUS * RADIUS * w)
            .collect();
        found.note(id, largest(about.iter().map(|m| (m - 0.12).abs())));
    }
    Ok(drawn)
}

/// The torques of eq 28c and 28d.
fn motor(t: f64, trembling: f64) -> f64 {
    if t < 4.0 {
        (0.3 * t).min(0.52)
    } else {
        0.336 + 0.144 * trembling
    }
}

/// Fig 6: the torques of the motors.
pub fn torques(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let run = bench.run("fig004-2-proxy")?;
    let t = run.times();
    let (shoulder, elbow) = (run.column("shoulder_motor.force")?, run.column("elbow_motor.force")?);
    let panel = |title: &str, range: Option<(f64, f64)>| Panel {
        title: title.into(),
        x_range: range,
        y_range: Some((0.0, 0.6)),
        references: vec![Reference::horizontal(0.5, "limit of friction")],
        ..Panel::new("time $t$ (s)", "torque (N m)")
    };
    let within = |from: f64, to: f64, values: &[f64]| -> (Vec<f64>, Vec<f64>) {
        t.iter()
            .zip(values)
            .filter(|(t, _)| (from..=to).contains(*t))
            .map(|(t, value)| (*t, *value))
            .unzip()
    };
    let mut panels = Vec::new();
    for (title, from, to) in [("whole run", 0.0, 10.0), ("around 4 s", 3.9, 4.3)] {
        let ((x0, y0), (x1, y1)) = (within(from, to, shoulder), within(from, to, elbow));
        panels.push(
            panel(title, Some((from, to)))
                .with(Series::line("joint 0", x0, y0).style(Style::Solid).color(BLUE))
                .with(Series::line("joint 1", x1, y1).style(Style::Dashed).color(ORANGE)),
        );
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 350.0, height: 170.0, ..Figure::default() },
        "Torques of the two motors: a ramp above the limit of friction until 4 s, then a tremble at 100 rad/s below it.".into(),
    ));
    let off = (0..t.len()).map(|k| {
        let (sin, cos) = (libm::sin(100.0 * t[k]), libm::cos(100.0 * t[k]));
        (shoulder[k] - motor(t[k], sin))
            .abs()
            .max((elbow[k] - motor(t[k], cos)).abs())
    });
    let found = &mut drawn.found;
    found.note("profile", largest(off));
    let late = |values: &[f64]| largest(within(4.0, 10.0, values).1);
    found.note("late", late(shoulder).max(late(elbow)));
    found.note("early", largest(shoulder.iter().copied()));
    Ok(drawn)
}

/// Mean of a column over ten periods of the tremble (2π/100 s) that begin at `from`. Rows do not divide the period, so the
/// ends count less (sin²): a plain mean would be off by a row's share of the tremble, 5e-9 rad.
fn mean(run: &Run, column: &str, from: f64) -> Result<f64, String> {
    let window = 0.2 * std::f64::consts::PI;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (t, value) in run.times().iter().zip(run.column(column)?) {
        if (from..from + window).contains(t) {
            let root = libm::sin(std::f64::consts::PI * (t - from) / window);
            sum += root * root * value;
            weights += root * root;
        }
    }
    Ok(sum / weights)
}

/// Fig 7: the arm of simulation II with the proxy law and with LuGre.
pub fn arm(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let (proxy, lugre) = (bench.run("fig004-2-proxy")?, bench.run("fig004-2-lugre")?);
    let joints = [("shoulder", "θ_0", BLUE), ("elbow", "θ_1", ORANGE)];
    let mut whole = Panel::new("time $t$ (s)", "joint angle (rad)");
    let mut late = Panel {
        x_range: Some((4.0, 10.0)),
        ..Panel::new("time $t$ (s)", "angle less that at 5 s (mrad)")
    };
    for (joint, symbol, color) in joints {
        for (law, run, style) in [("proxy", &proxy, Style::Solid), ("LuGre", &lugre, Style::Dashed)] {
            let column = format!("arm.{joint}.position");
            let angle = run.column(&column)?;
            let label = format!("${symbol}$, {law}");
            let start = run.at(&column, 5.0)?;
            let (t, shift): (Vec<f64>, Vec<f64>) = (run.times().iter().zip(angle))
                .filter(|(t, _)| **t >= 4.5)
                .map(|(t, angle)| (*t, 1000.0 * (angle - start)))
                .unzip();
            whole = whole.with(
                Series::line(label.clone(), run.times().to_vec(), angle.to_vec())
                    .style(style)
                    .color(color),
            );
            late = late.with(Series::line(label, t, shift).style(style).color(color));
        }
    }
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![whole, late], width: 350.0, height: 230.0, ..Figure::default() },
        "Angles of the two joints. Left as in the paper; right the same from 4.5 s on, less the value at 5 s: with LuGre both joints \
         creep on under a torque that never reaches the limit, with the proxy law they stay."
            .into(),
    ));

    let found = &mut drawn.found;
    for (index, (joint, ..)) in joints.into_iter().enumerate() {
        let column = format!("arm.{joint}.position");
        let velocity = format!("arm.{joint}.velocity");
        let friction = format!("{joint}_friction");
        found.note(
            format!("stop{index}"),
            proxy.changes(&friction, "stick").last().copied().unwrap_or(f64::NAN),
        );
        let speed = proxy
            .times()
            .iter()
            .zip(proxy.column(&velocity)?)
            .filter(|(t, _)| **t >= 5.0);
        found.note(format!("speed{index}"), largest(speed.map(|(_, v)| v.abs())));
        found.note(format!("angle5.{index}"), proxy.at(&column, 5.0)?);
        found.note(format!("angle10.{index}"), proxy.at(&column, 10.0)?);
        found.note(
            format!("shift{index}"),
            (mean(&proxy, &column, 9.0)? - mean(&proxy, &column, 5.0)?).abs(),
        );
        found.note(format!("lugre.angle{index}"), lugre.at(&column, 10.0)?);
        found.note(
            format!("lugre.shift{index}"),
            mean(&lugre, &column, 9.0)? - mean(&lugre, &column, 5.0)?,
        );
        let anchor = (proxy.times().iter().zip(
            proxy
                .column(&column)?
                .iter()
                .zip(proxy.column(&format!("{friction}.e"))?),
        ))
        .filter(|(t, _)| **t >= 5.0)
        .map(|(_, (angle, e))| angle - e);
        let anchor: Vec<f64> = anchor.collect();
        found.note(
            format!("anchor{index}"),
            largest(anchor.iter().copied()) - smallest(anchor.iter().copied()),
        );
    }
    Ok(drawn)
}

/// Stiffness of the penalty joints and the step that can follow it.
const PENALTIES: [(f64, f64); 4] = [(1e4, 1e-4), (1e5, 1e-4), (1e6, 1e-4), (1e7, 5e-5)];

/// The arm of simulation III: two free bodies and stiff joints, against simulation II.
pub fn penalty(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    // Both at the same times, 0.5 ms apart.
    let every = |step: f64| libm::round(5e-4 / step) as u64;
    let (mut stiffness, mut difference) = (Vec::new(), Vec::new());
    let mut panels = Vec::new();
    for (k, step) in PENALTIES {
        let sets: Vec<String> = ["shoulder", "elbow"]
            .iter()
            .flat_map(|joint| {
                // The damping keeps its share of the critical one.
                let damping = 300.0 * (k / 1e6).sqrt();
                [
                    format!("elements.{joint}.stiffness={k}"),
                    format!("elements.{joint}.damping={damping}"),
                ]
            })
            .chain([format!("simulation.step={step}")])
            .collect();
        let run = bench.variant("fig004-3", &sets, every(step))?;
        let linkage = bench.variant("fig004-2-proxy", &[format!("simulation.step={step}")], every(step))?;
        // About z only: the angle of a body is 2·atan2(q_z, q_w).
        let angle = |body: &str| -> Result<Vec<f64>, String> {
            let rows = run
                .column(&format!("{body}.qz"))?
                .iter()
                .zip(run.column(&format!("{body}.qw"))?);
            Ok(rows.map(|(z, w)| 2.0 * libm::atan2(*z, *w)).collect())
        };
        let upper = angle("upper")?;
        let lower: Vec<f64> = angle("lower")?
            .iter()
            .zip(&upper)
            .map(|(lower, upper)| lower - upper)
            .collect();
        let (shoulder, elbow) = (
            linkage.column("arm.shoulder.position")?,
            linkage.column("arm.elbow.position")?,
        );
        let apart: Vec<f64> = (0..upper.len().min(shoulder.len()))
            .map(|i| (upper[i] - shoulder[i]).abs().max((lower[i] - elbow[i]).abs()))
            .collect();
        stiffness.push(k);
        difference.push(largest(apart.iter().copied()));
        if k == 1e6 {
            let found = &mut drawn.found;
            found.note("angle0", upper.last().copied().unwrap_or(f64::NAN));
            found.note("angle1", lower.last().copied().unwrap_or(f64::NAN));
            found.note(
                "gap",
                largest(
                    run.column("shoulder.gap")?
                        .iter()
                        .chain(run.column("elbow.gap")?)
                        .copied(),
                ),
            );
            let t = run.times().to_vec();
            let line = |label: &str, x: Vec<f64>, y: Vec<f64>, style, color| {
                Series::line(label, x, y).style(style).color(color)
            };
            panels.push(
                Panel::new("time $t$ (s)", "joint angle (rad)")
                    .with(line(
                        "$θ_0$, simulation II",
                        linkage.times().to_vec(),
                        shoulder.to_vec(),
                        Style::Solid,
                        BLUE,
                    ))
                    .with(line(
                        "$θ_0$, simulation III",
                        t.clone(),
                        upper.clone(),
                        Style::Dashed,
                        Color::BLACK,
                    ))
                    .with(line(
                        "$θ_1$, simulation II",
                        linkage.times().to_vec(),
                        elbow.to_vec(),
                        Style::Solid,
                        ORANGE,
                    ))
                    .with(line("$θ_1$, simulation III", t, lower, Style::Dotted, Color::BLACK)),
            );
        }
    }
    panels.push(Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        ..Panel::new("stiffness of the joints (N/m)", "largest difference (rad)")
            .with(
                Series::line("III against II", stiffness.clone(), difference.clone())
                    .style(Style::Marked)
                    .color(BLUE),
            )
            .with(
                Series::line(
                    "1/stiffness",
                    stiffness.clone(),
                    stiffness.iter().map(|k| 30.0 / k).collect(),
                )
                .style(Style::Dashed)
                .color(Color::GREY),
            )
    });
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 350.0, height: 230.0, ..Figure::default() },
        "Left: the angles of simulation III (joints of $10^6$ N/m) over those of simulation II, with which they coincide. Right: their largest difference in \
         10 s against the stiffness of the joints; step 0.1 ms, for the stiffest 0.05 ms."
            .into(),
    ));
    for (index, value) in difference.iter().enumerate() {
        drawn.found.note(format!("difference{index}"), *value);
    }
    Ok(drawn)
}

/// The friction components of `fig004-parallel`: name, limit (N), stiffness (N/m).
const COMPONENTS: [(&str, f64, f64); 4] = [
    ("fine", 4.0, 8e5),
    ("middle", 4.0, 4e5),
    ("coarse", 6.0, 2e5),
    ("broad", 6.0, 1e5),
];

/// Resistance of ideal components in parallel along a path: each follows its stiffness from where it turned, up to its limit.
fn ideal_sum(path: &[f64]) -> Vec<f64> {
    let mut each = [0.0; COMPONENTS.len()];
    let mut last = 0.0;
    let sums = path.iter().map(|x| {
        for (force, (_, limit, stiffness)) in each.iter_mut().zip(COMPONENTS) {
            *force = (*force + stiffness * (x - last)).clamp(-limit, limit);
        }
        last = *x;
        each.iter().sum()
    });
    sums.collect()
}

/// The outlook of the conclusion: several friction components on one body, and the hysteresis that they make together.
pub fn parallel(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let run = bench.run("fig004-parallel")?;
    let path = run.column("stage.position")?;
    let mut total = vec![0.0; path.len()];
    for (name, ..) in COMPONENTS {
        for (sum, force) in total.iter_mut().zip(run.column(&format!("{name}.force"))?) {
            *sum -= force;
        }
    }
    let micrometres: Vec<f64> = path.iter().map(|x| 1e6 * x).collect();
    // The corners of the closed form: where the stage turns, and where a component of the first curve gives way.
    let corner = |k: &usize| k.is_multiple_of(1000) || [100, 200, 600].contains(k);
    let expected = ideal_sum(path);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..path.len())
        .filter(corner)
        .map(|k| (micrometres[k], expected[k]))
        .unzip();
    let mut panels = vec![Panel {
        title: "the sum".into(),
        ..Panel::new("displacement (µm)", "resistance (N)")
            .with(
                Series::line("four components", micrometres.clone(), total.clone())
                    .style(Style::Solid)
                    .color(BLUE),
            )
            .with(
                Series::line("corners of the closed form", x, y)
                    .style(Style::Points)
                    .color(ORANGE),
            )
    }];
    let mut each = Panel {
        title: "its parts".into(),
        legend: Legend::Beside,
        ..Panel::new("displacement (µm)", "resistance (N)")
    };
    for (name, ..) in COMPONENTS {
        let force = run
            .column(&format!("{name}.force"))?
            .iter()
            .map(|force| -force)
            .collect();
        each = each.with(Series::line(name, micrometres.clone(), force));
    }
    panels.push(each);
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 350.0, height: 240.0, ..Figure::default() },
        "A stage on four friction components goes along a nested path. Each component is a spring up to its limit; their sum bends before it \
         slides, remembers where it turned, and closes its inner loops."
            .into(),
    ));
    let found = &mut drawn.found;
    let at = |time: f64| total[(time * 1000.0).round() as usize];
    for (id, time) in [
        ("first0", 0.05),
        ("first1", 0.1),
        ("first2", 0.2),
        ("first3", 0.4),
        ("first4", 0.6),
        ("first5", 1.0),
    ] {
        found.note(id, at(time));
    }
    for turn in 2..=10 {
        found.note(format!("turn{turn}"), at(f64::from(turn)));
    }
    let distance = total
        .iter()
        .zip(&expected)
        .map(|(found, expected)| (found - expected).abs());
    found.note("distance", largest(distance));
    Ok(drawn)
}

/// Simulation II at smaller and smaller steps against its limit.
pub fn order(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    // The limit of small steps: reference study, part 3, simulation II.
    let limit = [1.180_221_493_25, 2.451_871_079_67];
    let steps: Vec<f64> = (0..5).map(|i| 4e-4 / f64::from(1 << i)).collect();
    let mut errors = Vec::new();
    for step in &steps {
        let sets = ["simulation.duration=5".to_string(), format!("simulation.step={step}")];
        let run = bench.variant("fig004-2-proxy", &sets, u64::MAX)?;
        let (shoulder, elbow) = (run.last("arm.shoulder.position")?, run.last("arm.elbow.position")?);
        errors.push((shoulder - limit[0]).abs().max((elbow - limit[1]).abs()));
    }
    let panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        legend: Legend::Beside,
        ..Panel::new("step $T$ (s)", "error of the angles at 5 s (rad)")
            .with(
                Series::line("simulation II", steps.clone(), errors.clone())
                    .style(Style::Marked)
                    .color(BLUE),
            )
            .with(
                Series::line(
                    "order 1",
                    steps.clone(),
                    steps.iter().map(|h| 0.4 * errors[0] * h / steps[0]).collect(),
                )
                .style(Style::Dashed)
                .color(Color::GREY),
            )
    };
    drawn.pictures.push((
        Figure {
            width: 400.0,
            height: 240.0,
            ..Figure::from(panel)
        },
        "Error of the joint angles at 5 s against the limit of small steps.".into(),
    ));
    let found = &mut drawn.found;
    for (index, error) in errors.iter().enumerate() {
        found.note(format!("error{index}"), *error);
    }
    let (least, most) = orders(&errors);
    found.note("least", least);
    found.note("most", most);
    Ok(drawn)
}
