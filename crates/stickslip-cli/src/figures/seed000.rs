//! Figures and claims of seed 000: friction in discrete time.

use super::bench::{Bench, Run};
use super::{Drawn, largest, orders, smallest};
use stickslip_plot::{Color, Figure, Legend, Panel, Reference, Scale, Series, Style};

const BLUE: Color = Color::PALETTE[0];
const ORANGE: Color = Color::PALETTE[1];
const GREEN: Color = Color::PALETTE[2];

/// Values of a column from one time to another, both included.
fn between(run: &Run, column: &str, from: f64, to: f64) -> Result<Vec<f64>, String> {
    let rows = run.times().iter().zip(run.column(column)?);
    Ok(rows
        .filter(|(t, _)| (from..=to).contains(*t))
        .map(|(_, value)| *value)
        .collect())
}

/// Changes of sign of the friction force after 2 s, zeros skipped.
fn sign_changes(run: &Run) -> Result<f64, String> {
    let signs: Vec<f64> = between(run, "floor.force", 2.0 + 1e-9, 4.0)?
        .into_iter()
        .filter(|f| *f != 0.0)
        .collect();
    Ok(signs
        .windows(2)
        .filter(|pair| pair[0].signum() != pair[1].signum())
        .count() as f64)
}

/// The first time after `from` at which the velocity is exactly 0, and the largest speed from there on.
fn rest(run: &Run, from: f64) -> Result<(f64, f64), String> {
    let speeds = run.column("block.velocity")?;
    let first = (0..speeds.len()).find(|&k| run.times()[k] > from && speeds[k] == 0.0);
    Ok(match first {
        Some(k) => (run.times()[k], largest(speeds[k..].iter().map(|v| v.abs()))),
        None => (f64::NAN, f64::NAN),
    })
}

/// The largest distance of two columns row by row.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()))
}

/// Friction force of one step of 1 kg that begins at velocity `v` under the load `h`, F = 10 N, epsilon = 0.01 m/s.
fn one_step(bench: &mut Bench, law: &str, step: f64, v: f64, h: f64, more: &[&str]) -> Result<f64, String> {
    let scenario = if law == "implicit" {
        "fig000-10-p"
    } else {
        "fig000-10-quinn"
    };
    let mut sets = vec![
        format!("simulation.step={step}"),
        format!("simulation.duration={step}"),
        format!("bodies.block.velocity={v}"),
        format!("bodies.block.force={h}"),
        format!("elements.floor.law={law}"),
    ];
    sets.extend(more.iter().map(|set| (*set).to_string()));
    bench.variant(scenario, &sets, 1)?.last("floor.force")
}

/// Fig 3: the force of each model against velocity and load, and how each ends a slide without load.
pub fn laws(bench: &mut Bench) -> Result<Drawn, String> {
    const F: f64 = 10.0;
    let mut drawn = Drawn::default();
    let models = [
        ("(b) Karnopp", "karnopp"),
        ("(c) Martins and Oden", "martins-oden"),
        ("(d) Quinn", "quinn"),
        ("(e) proposed, P", "implicit"),
    ];
    let loads = [0.0, 5.0, 15.0];
    let mut speeds: Vec<f64> = (-30..=30).map(|i| f64::from(i) / 1000.0).collect();
    // Just outside the band of Karnopp, where the force jumps.
    speeds.extend([-0.010_000_1, 0.010_000_1]);
    speeds.sort_by(f64::total_cmp);
    let millimetres: Vec<f64> = speeds.iter().map(|v| 1000.0 * v).collect();
    let axes = |title: &str| Panel {
        title: title.into(),
        y_range: Some((-12.0, 12.0)),
        ..Panel::new("velocity at the start of the step $v$ (mm/s)", "force $f$ (N)")
    };
    let name = |h: f64| format!("$h$ = {h} N");
    // A line for each load, and a marker at zero velocity.
    let add = |panel: Panel, index: usize, x: Vec<f64>, force: Vec<f64>, at_rest: f64| {
        let (color, style) = [(BLUE, Style::Solid), (ORANGE, Style::Dashed), (GREEN, Style::Dotted)][index];
        let marker = Series::line("", vec![0.0], vec![at_rest])
            .style(Style::Points)
            .color(color);
        panel
            .with(Series::line(name(loads[index]), x, force).style(style).color(color))
            .with(marker)
    };
    // At v = 0 the Coulomb law takes what balances the load, up to F.
    let coulomb = |v: f64, h: f64| if v == 0.0 { -h.clamp(-F, F) } else { -F * v.signum() };
    let mut panel = axes("(a) Coulomb");
    for (index, h) in loads.into_iter().enumerate() {
        let (x, force) = (vec![-30.0, 0.0, 0.0, 30.0], vec![F, F, -F, -F]);
        panel = add(panel, index, x, force, coulomb(0.0, h));
    }
    let mut panels = vec![panel];
    let mut forces = Vec::new();
    for (title, law) in models {
        let mut panel = axes(title);
        for (index, h) in loads.into_iter().enumerate() {
            let force: Result<Vec<f64>, String> =
                speeds.iter().map(|v| one_step(bench, law, 1e-3, *v, h, &[])).collect();
            let force = force?;
            let at_rest = one_step(bench, law, 1e-3, 0.0, h, &[])?;
            panel = add(panel, index, millimetres.clone(), force.clone(), at_rest);
            forces.push(force);
        }
        panels.push(panel);
    }
    drawn.pictures.push((
        Figure { columns: 3, panels, width: 210.0, height: 150.0, ..Figure::default() },
        "Force of one step of 1 ms on 1 kg against the velocity at its start, for three loads; limit 10 N, ε = 10 mm/s. Markers: \
         the force at zero velocity. In (a) and (c) the three curves coincide. The paper shows the same as surfaces over velocity and load. Under 15 N, above the limit, the \
         ramp of P lies lower than that of Quinn: this is the difference that Fig 10 is about."
            .into(),
    ));

    let mut unbalanced = Vec::new();
    for i in -6..=6 {
        let h = 2.5 * f64::from(i);
        unbalanced.push((one_step(bench, "implicit", 1e-3, 0.0, h, &[])? - coulomb(0.0, h)).abs());
    }
    let found = &mut drawn.found;
    found.note("p.coulomb", largest(unbalanced));
    let inside = one_step(bench, "karnopp", 1e-3, 0.01, 5.0, &[])?;
    found.note(
        "karnopp.jump",
        (one_step(bench, "karnopp", 1e-3, 0.010_000_1, 5.0, &[])? - inside).abs(),
    );
    found.note("mo.sum", 5.0 + one_step(bench, "martins-oden", 1e-3, 0.0, 5.0, &[])?);
    found.note("quinn.sum", 5.0 + one_step(bench, "quinn", 1e-3, 0.0, 5.0, &[])?);
    // Three loads per model in the order of `models`: Quinn begins at 6, P at 9.
    found.note(
        "same.below",
        apart(&forces[6], &forces[9]).max(apart(&forces[7], &forces[10])),
    );
    found.note("same.above", apart(&forces[8], &forces[11]));
    let mut limit = Vec::new();
    for v in [-0.02, -0.001, 0.001, 0.02] {
        limit.push((one_step(bench, "implicit", 1e-5, v, 5.0, &[])? - coulomb(v, 5.0)).abs());
    }
    found.note("p.limit", largest(limit));

    let slide = |bench: &mut Bench, law: &str, epsilon: f64| {
        let (scenario, own) = if law == "implicit" {
            ("fig000-10-p", String::new())
        } else {
            ("fig000-10-quinn", format!("elements.floor.epsilon={epsilon}"))
        };
        let mut sets: Vec<String> = [
            "simulation.duration=0.3",
            "bodies.block.velocity=0.997",
            "bodies.block.force=0",
        ]
        .map(String::from)
        .into();
        sets.push(format!("elements.floor.law={law}"));
        sets.extend((!own.is_empty()).then_some(own));
        bench.variant(scenario, &sets, 1)
    };
    let mut panel = Panel {
        y_scale: Scale::Log,
        ..Panel::new("time $t$ (s)", "speed $|v|$ (m/s)")
    };
    for (name, law, epsilon) in [
        ("Karnopp, ε = 0.01 m/s", "karnopp", 0.01),
        ("Quinn, ε = 0.1 m/s", "quinn", 0.1),
        ("Martins and Oden, ε = 0.1 m/s", "martins-oden", 0.1),
        ("P", "implicit", 0.0),
    ] {
        let run = slide(bench, law, epsilon)?;
        let speed = run.column("block.velocity")?;
        let positive = speed
            .iter()
            .map(|v| if *v == 0.0 { f64::NAN } else { v.abs() })
            .collect();
        let series = Series::line(name, run.times().to_vec(), positive);
        // P and Karnopp have the same speeds until P rests: the narrower line lies on the wider dashes.
        panel = panel.with(if law == "implicit" {
            series.style(Style::Dotted).color(Color::BLACK)
        } else {
            series
        });
        match law {
            "implicit" => {
                let (time, after) = rest(&run, 0.0)?;
                found.note("free.p.rest", time);
                found.note("free.p.after", after);
            }
            "karnopp" => found.note("free.karnopp", run.last("block.velocity")?),
            "quinn" => found.note(
                "free.quinn",
                run.at("block.velocity", 0.3)? / run.at("block.velocity", 0.2)?,
            ),
            _ => found.note(
                "free.mo",
                run.at("block.velocity", 0.3)? / run.at("block.velocity", 0.2)?,
            ),
        }
    }
    let dead = slide(bench, "quinn", 0.01)?;
    found.note("free.quinn.same", dead.last("block.velocity")?.abs());
    panel.references.push(Reference::vertical(0.1, "P at rest"));
    drawn.pictures.push((
        Figure { width: 520.0, height: 230.0, ..Figure::from(panel) },
        "A slide without load from 0.997 m/s: the line of P (dotted, on that of Karnopp) ends where its velocity is exactly zero; the others only approach it. \
         Quinn and Martins and Oden coincide, since there is no load."
            .into(),
    ));
    Ok(drawn)
}

/// The four curves of Figs 2: name, what is set, and the curve itself for v > 0.
type Curve = (&'static str, &'static [&'static str], fn(f64) -> f64);
const CURVES: [Curve; 4] = [
    ("(a) Coulomb", &[], |_| 10.0),
    ("(b) with static friction", &["elements.floor.static=13"], |_| 10.0),
    ("(c) with viscous friction", &["elements.floor.viscous=20"], |v| {
        10.0 + 20.0 * v
    }),
    (
        "(d) with Stribeck effect",
        &["elements.floor.static=15", "elements.floor.stribeck_velocity=0.1"],
        |v| 10.0 + 5.0 * libm::exp(-(v / 0.1) * (v / 0.1)),
    ),
];

/// Fig 2: discontinuous friction against velocity. Each point is the end of one step of 1 ms: its velocity and its force.
pub fn curves_of_velocity(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    let mut off: Vec<f64> = Vec::new();
    for (title, more, curve) in CURVES {
        let mut sliding = (Vec::new(), Vec::new());
        for i in -25..=25 {
            let start = 0.02 * f64::from(i);
            let force = one_step(bench, "implicit", 1e-3, start, 0.0, more)?;
            let end = start + 1e-3 * force;
            // A step that ends at rest belongs to the vertical line; it interrupts the curve.
            let moves = end.abs() > 1e-9;
            sliding.0.push(if moves { end } else { 0.0 });
            sliding.1.push(if moves { force } else { f64::NAN });
            if moves {
                off.push((force + end.signum() * curve(end.abs())).abs());
            }
        }
        let mut resting = (Vec::new(), Vec::new());
        for i in -32..=32 {
            let load = 0.5 * f64::from(i);
            let force = one_step(bench, "implicit", 1e-3, 0.0, load, more)?;
            if (force + load).abs() < 1e-9 {
                resting.0.push(0.0);
                resting.1.push(force);
            }
        }
        let reach = largest(resting.1.iter().copied());
        drawn.found.note(format!("rest{}", panels.len()), reach);
        panels.push(Panel {
            title: title.into(),
            y_range: Some((-22.0, 22.0)),
            ..Panel::new("velocity $v$ (m/s)", "force $f$ (N)")
                .with(
                    Series::line("sliding", sliding.0, sliding.1)
                        .style(Style::Solid)
                        .color(BLUE),
                )
                .with(
                    Series::line("at rest", resting.0, resting.1)
                        .style(Style::Dashed)
                        .color(ORANGE),
                )
        });
    }
    drawn.found.note("curve", largest(off));
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 300.0, height: 130.0, ..Figure::default() },
        "Force against velocity at the end of single steps of model P on 1 kg: while it slides, on the curve φ(v); at rest, whatever balances the load."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 4: how the force of a step is found.
pub fn construction(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let (_, more, curve) = CURVES[3];
    let step = 0.01;
    let speeds: Vec<f64> = (1..=100).map(|i| 0.005 * f64::from(i)).collect();
    let mut panel = Panel {
        x_range: Some((0.0, 0.5)),
        y_range: Some((-18.0, 1.0)),
        ..Panel::new("velocity (m/s)", "force $f$ (N)").with(
            Series::line("$φ(v)$", speeds.clone(), speeds.iter().map(|v| -curve(*v)).collect())
                .style(Style::Solid)
                .color(Color::GREY),
        )
    };
    let mut off: f64 = 0.0;
    let (mut ends, mut forces) = (Vec::new(), Vec::new());
    for (index, start) in [0.1, 0.25, 0.4].into_iter().enumerate() {
        let force = one_step(bench, "implicit", step, start, 0.0, more)?;
        let end = start + step * force;
        let label = if index == 0 { "$f = M(v − v̄)/T$" } else { "" };
        let line = Series::line(label, vec![start, end], vec![0.0, force]);
        panel = panel.with(line.style(Style::Dashed).color(BLUE));
        ends.push(end);
        forces.push(force);
        if end > 1e-9 {
            off = off.max((force + curve(end)).abs());
        } else {
            // It stops: the force that takes the velocity away, within the limit at rest.
            drawn.found.note("stops", force);
        }
    }
    panel = panel.with(
        Series::line("what a step gives", ends, forces)
            .style(Style::Points)
            .color(ORANGE),
    );
    drawn.found.note("meets", off);
    drawn.pictures.push((
        Figure { width: 440.0, height: 220.0, ..Figure::from(panel) },
        "From the velocity v̄ that a step of 10 ms would end with without friction, a line with the slope of mass over step leads to the force: where it meets the \
         curve, or, if it does not before the velocity is zero, where the block rests. Marks: forces and velocities of runs from 0.1, 0.25 and 0.4 m/s."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 6: the loop of sticking and sliding where static friction is larger.
pub fn hysteresis(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let more = ["elements.floor.static=13"];
    let mut panel = Panel {
        y_range: Some((-15.0, 15.0)),
        ..Panel::new("velocity without friction $v̄$ (mm/s)", "force $f$ (N)")
    };
    // A block at rest sticks until its load is too large; one that moved slides until it can be stopped.
    let places: Vec<f64> = (-50..=50).map(|i| 0.5 * f64::from(i)).collect();
    let (mut stick, mut slide) = (Vec::new(), Vec::new());
    for place in &places {
        stick.push(one_step(bench, "implicit", 1e-3, 0.0, *place, &more)?);
        slide.push(one_step(bench, "implicit", 1e-3, 1e-3 * place, 0.0, &more)?);
    }
    let at = |values: &[f64], place: f64| {
        let index = places.iter().position(|other| *other == place);
        index.map_or(f64::NAN, |index| values[index])
    };
    for (id, values) in [("stick", &stick), ("slide", &slide)] {
        for place in [8.0, 12.0, 14.0] {
            drawn.found.note(format!("{id}{place}"), at(values, place));
        }
    }
    panel = panel
        .with(
            Series::line("from rest", places.clone(), stick)
                .style(Style::Solid)
                .color(ORANGE),
        )
        .with(
            Series::line("from sliding", places, slide)
                .style(Style::Dashed)
                .color(BLUE),
        );
    drawn.pictures.push((
        Figure { width: 440.0, height: 220.0, ..Figure::from(panel) },
        "Force of one step of 1 ms on 1 kg against the velocity it would end with without friction; 10 N sliding, 13 N at rest. Between 10 and 13 mm/s the force \
         depends on whether the block was at rest."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 5: two free bodies that rub on each other.
pub fn two_bodies(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let meet = bench.run("fig000-two-bodies")?;
    let push = |bench: &mut Bench, force: f64| {
        let sets = [
            "bodies.a.velocity=0".to_string(),
            "bodies.b.velocity=0".into(),
            format!("bodies.a.force={force}"),
        ];
        bench.variant("fig000-two-bodies", &sets, 1)
    };
    let (together, sliding) = (push(bench, 2.0)?, push(bench, 6.0)?);
    let mut panels = Vec::new();
    for (title, run) in [("no load", &meet), ("2 N on $a$", &together), ("6 N on $a$", &sliding)] {
        let line = |name: &str, column: &str| -> Result<Series, String> {
            Ok(Series::line(name, run.times().to_vec(), run.column(column)?.to_vec()))
        };
        panels.push(Panel {
            title: title.into(),
            ..Panel::new("time $t$ (s)", "velocity (m/s)")
                .with(line("$a$, 1 kg", "a.velocity")?)
                .with(line("$b$, 2 kg", "b.velocity")?)
        });
    }
    drawn.pictures.push((
        Figure { columns: 3, panels, width: 210.0, height: 160.0, ..Figure::default() },
        "Two bodies that rub on each other with at most 3 N: opposite momenta end in common rest; a small push moves both as one (the curves \
         coincide); a large push makes them slide."
            .into(),
    ));
    let found = &mut drawn.found;
    let (a, b) = (meet.column("a.velocity")?, meet.column("b.velocity")?);
    let lock = meet.changes("interface", "stick").first().copied().unwrap_or(f64::NAN);
    let locked = || (0..a.len()).filter(|&k| meet.times()[k] >= lock);
    found.note("lock", lock);
    found.note("apart", largest(locked().map(|k| (a[k] - b[k]).abs())));
    found.note("common", largest(locked().map(|k| a[k].abs())));
    found.note("momentum", largest(a.iter().zip(b).map(|(a, b)| (a + 2.0 * b).abs())));
    found.note("together.v", together.last("a.velocity")?);
    found.note(
        "together.apart",
        (together.last("a.velocity")? - together.last("b.velocity")?).abs(),
    );
    found.note("together.f", together.last("interface.force")?);
    found.note("sliding.a", sliding.last("a.velocity")?);
    found.note("sliding.b", sliding.last("b.velocity")?);
    found.note("sliding.f", sliding.last("interface.force")?);
    Ok(drawn)
}

/// Two panels of a run of Figs 8 and 9, with the ranges of their axes: force, and velocity with that of the pull in grey.
fn force_and_velocity(
    run: &Run,
    name: &str,
    first: bool,
    forces: (f64, f64),
    speeds: (f64, f64),
) -> Result<[Panel; 2], String> {
    let title = |text: &str| if first { text.to_string() } else { String::new() };
    let t = run.times().to_vec();
    let solid = |column: &str| -> Result<Series, String> {
        Ok(Series::line("", t.clone(), run.column(column)?.to_vec())
            .style(Style::Solid)
            .color(BLUE))
    };
    let pull = t.iter().map(|t| if *t <= 2.0 { 2.0 } else { 0.0 }).collect();
    Ok([
        Panel {
            title: title("friction force $f$ (N)"),
            y_range: Some(forces),
            ..Panel::new("time $t$ (s)", name).with(solid("floor.force")?)
        },
        Panel {
            title: title("velocity $v$ (m/s)"),
            y_range: Some(speeds),
            ..Panel::new("time $t$ (s)", name)
                .with(Series::line("", t.clone(), pull).style(Style::Solid).color(Color::GREY))
                .with(solid("block.velocity")?)
        },
    ])
}

/// Fig 8: seven models of a block pulled by a spring.
pub fn seven_models(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    for (row, name) in ["K1", "K2", "K3", "Q1", "Q2", "Q3", "P"].into_iter().enumerate() {
        let run = bench.run(&format!("fig000-8-{}", name.to_lowercase()))?;
        panels.extend(force_and_velocity(&run, name, row == 0, (-13.0, 13.0), (-1.3, 4.5))?);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 78.0, ..Figure::default() },
        "Friction force and velocity of the block under the seven models of Table 1; the grey line is the velocity $V(t)$ of the \
         pulled end of the spring. Karnopp and Quinn with ε = 1, 0.01, 0.0001 m/s (K1 to K3, Q1 to Q3), and the proposed model P."
            .into(),
    ));

    let mut run = |name: &str| bench.run(&format!("fig000-8-{name}"));
    let (k1, k2, k3) = (run("k1")?, run("k2")?, run("k3")?);
    let (q1, q2, q3) = (run("q1")?, run("q2")?, run("q3")?);
    let (p, mo) = (run("p")?, run("martins-oden")?);
    let found = &mut drawn.found;
    let creep =
        |run: &Run| -> Result<f64, String> { Ok(run.at("block.position", 4.0)? - run.at("block.position", 3.0)?) };
    found.note("k1.v4", k1.at("block.velocity", 4.0)?);
    found.note(
        "k1.late",
        largest(between(&k1, "block.velocity", 3.0, 4.0)?.iter().map(|v| v.abs())),
    );
    found.note("k1.creep", creep(&k1)?);
    found.note("q1.v4", q1.at("block.velocity", 4.0)?);
    found.note(
        "q1.ratio",
        q1.at("block.velocity", 4.0)? / q1.at("block.velocity", 3.0)?,
    );
    let slow = (0..q1.times().len())
        .rev()
        .find(|&k| q1.column("block.velocity").is_ok_and(|v| v[k].abs() > 1e-3));
    found.note("q1.slow", slow.map_or(f64::NAN, |k| q1.times()[k]));
    found.note("q1.f4", q1.at("floor.force", 4.0)?);
    found.note("k3.signs", sign_changes(&k3)?);
    found.note("k3.f4", k3.at("floor.force", 4.0)?);
    found.note("q3.signs", sign_changes(&q3)?);
    found.note("k2.v4", k2.at("block.velocity", 4.0)?);
    found.note("k2.slowest", smallest(between(&k2, "block.velocity", 3.0, 4.0)?));
    found.note(
        "k2.apart",
        apart(
            &between(&k2, "block.velocity", 0.0, 4.0)?,
            &between(&p, "block.velocity", 0.0, 4.0)?,
        ),
    );
    found.note("k2.f3", k2.at("floor.force", 3.0)?);
    found.note("k2.f4", k2.at("floor.force", 4.0)?);
    found.note(
        "k2.rise",
        k2.at("floor.force", 4.0)? - k2.at("floor.force", 3.0)? - 90.0 * creep(&k2)?,
    );
    found.note(
        "same.v",
        apart(p.column("block.velocity")?, q2.column("block.velocity")?),
    );
    found.note("same.f", apart(p.column("floor.force")?, q2.column("floor.force")?));
    let (time, after) = rest(&p, 2.0)?;
    found.note("p.rest", time);
    found.note("p.after", after);
    found.note("p.f4", p.at("floor.force", 4.0)?);
    found.note("p.x4", p.at("block.position", 4.0)?);
    found.note("p.fastest", largest(p.column("block.velocity")?.iter().copied()));
    let power = p
        .column("floor.force")?
        .iter()
        .zip(p.column("block.velocity")?)
        .map(|(f, v)| f * v);
    found.note("p.power", largest(power));
    let ends = [
        k1.at("floor.force", 4.0)?,
        k2.at("floor.force", 4.0)?,
        k3.at("floor.force", 4.0)?,
    ];
    found.note("k.spread", largest(ends) - smallest(ends));
    found.note("mo.v4", mo.at("block.velocity", 4.0)?);
    found.note("mo.f4", mo.at("floor.force", 4.0)?);
    Ok(drawn)
}

/// Fig 9: static friction above kinetic friction.
pub fn static_friction(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let (k2, p) = (bench.run("fig000-9-k2")?, bench.run("fig000-9-p")?);
    let mut panels = Vec::new();
    for (name, run) in [("K2", &k2), ("P", &p)] {
        panels.extend(force_and_velocity(run, name, name == "K2", (-14.5, 2.0), (-0.4, 4.5))?);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 110.0, ..Figure::default() },
        "The same block with a static limit of 13 N and 10 N while sliding, under Karnopp's model and the proposed one.".into(),
    ));
    let found = &mut drawn.found;
    let (slips, stops) = (p.changes("floor", "slip"), p.changes("floor", "stick"));
    for i in 0..3 {
        found.note(format!("p.slip{}", i + 1), slips.get(i).copied().unwrap_or(f64::NAN));
        found.note(format!("p.stop{}", i + 1), stops.get(i).copied().unwrap_or(f64::NAN));
    }
    let (_, after) = rest(&p, 2.0)?;
    found.note("p.after", after);
    found.note("p.f4", p.at("floor.force", 4.0)?);
    found.note("p.x4", p.at("block.position", 4.0)?);
    found.note("p.fastest", largest(p.column("block.velocity")?.iter().copied()));
    let pulled = |run: &Run| between(run, "block.position", 0.0, 2.0);
    found.note("apart", apart(&pulled(&p)?, &pulled(&k2)?));
    found.note("k2.fastest", largest(k2.column("block.velocity")?.iter().copied()));
    found.note("k2.v4", k2.at("block.velocity", 4.0)?);
    found.note("k2.slowest", smallest(between(&k2, "block.velocity", 2.1, 4.0)?));
    found.note("k2.f3", k2.at("floor.force", 3.0)?);
    found.note("k2.f4", k2.at("floor.force", 4.0)?);
    Ok(drawn)
}

/// Fig 10: a block pushed through zero velocity by a load above the limit.
pub fn crossing_zero(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let (quinn, p) = (bench.run("fig000-10-quinn")?, bench.run("fig000-10-p")?);
    // Until the velocity is zero load and friction brake together (50 m/s²), then friction opposes the load (30 m/s²).
    let crossing = 0.13 / 50.0;
    let exact = |t: f64| {
        if t <= crossing {
            -0.13 + 50.0 * t
        } else {
            30.0 * (t - crossing)
        }
    };
    let milliseconds: Vec<f64> = p.times().iter().map(|t| 1000.0 * t).collect();
    let mut panels = Vec::new();
    for (name, run, color) in [("Quinn, ε = 0.01 m/s", &quinn, ORANGE), ("P", &p, BLUE)] {
        // The force of row k acts in the step that ends there.
        let (edges, steps): (Vec<f64>, Vec<f64>) = milliseconds
            .iter()
            .zip(run.column("floor.force")?)
            .skip(1)
            .flat_map(|(t, f)| [(t - 1.0, *f), (*t, *f)])
            .unzip();
        let knee = 1000.0 * crossing;
        panels.push(Panel {
            title: name.into(),
            x_range: Some((-0.4, 10.4)),
            y_range: Some((-13.0, 13.0)),
            legend: Legend::Hidden,
            ..Panel::new("time $t$ (ms)", "friction force $f$ (N)")
                .with(
                    Series::line("analytic", vec![0.0, knee, knee, 10.0], vec![10.0, 10.0, -10.0, -10.0])
                        .style(Style::Solid)
                        .color(Color::GREY),
                )
                .with(Series::line(name, edges, steps).style(Style::Solid).color(color))
        });
        panels.push(Panel {
            title: name.into(),
            x_range: Some((-0.4, 10.4)),
            references: vec![Reference::horizontal(0.0, "")],
            ..Panel::new("time $t$ (ms)", "velocity $v$ (m/s)")
                .with(
                    Series::line("analytic", vec![0.0, knee, 10.0], vec![-0.13, 0.0, exact(0.010)])
                        .style(Style::Solid)
                        .color(Color::GREY),
                )
                .with(
                    Series::line(name, milliseconds.clone(), run.column("block.velocity")?.to_vec())
                        .style(Style::Marked)
                        .color(color),
                )
        });
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 150.0, ..Figure::default() },
        "A block moving at −0.13 m/s is pushed by 40 N. Grey: the exact motion. In the third step Quinn's friction still pushes \
         forward although the step ends with forward motion; the step of P ends at zero velocity."
            .into(),
    ));
    let found = &mut drawn.found;
    for ms in [3, 4, 8] {
        let t = f64::from(ms) / 1000.0;
        found.note(format!("quinn.v{ms}"), quinn.at("block.velocity", t)?);
        found.note(format!("p.v{ms}"), p.at("block.velocity", t)?);
    }
    found.note("quinn.f3", quinn.at("floor.force", 0.003)?);
    found.note("p.f3", p.at("floor.force", 0.003)?);
    let ahead = |run: &Run| -> Result<Vec<f64>, String> {
        let rows = run.times().iter().zip(run.column("block.velocity")?);
        Ok(rows.filter(|(t, _)| **t > 0.0035).map(|(t, v)| v - exact(*t)).collect())
    };
    found.note("quinn.ahead", smallest(ahead(&quinn)?));
    found.note("p.ahead", largest(ahead(&p)?));
    let driven = |run: &Run| -> Result<f64, String> {
        let rows = run.column("floor.force")?.iter().zip(run.column("block.velocity")?);
        Ok(rows.map(|(f, v)| (1e-3 * f * v).max(0.0)).sum())
    };
    found.note("quinn.work", driven(&quinn)?);
    found.note("p.work", driven(&p)?);
    let excess = |run: &Run| -> Result<f64, String> {
        let v = run.at("block.velocity", 0.008)?;
        Ok(0.5 * (v * v - exact(0.008) * exact(0.008)))
    };
    found.note("quinn.energy", excess(&quinn)?);
    found.note("p.energy", excess(&p)?);
    Ok(drawn)
}

/// Eqs 14 and 16: friction that depends on velocity.
pub fn curves(bench: &mut Bench) -> Result<Drawn, String> {
    const VISCOUS: &[&str] = &["elements.floor.viscous=5"];
    const STRIBECK: &[&str] = &["elements.floor.static=15", "elements.floor.stribeck_velocity=0.1"];
    let viscous = |v: f64| -10.0 * v.signum() - 5.0 * v;
    let stribeck = |v: f64| -v.signum() * (10.0 + 5.0 * libm::exp(-(v / 0.1) * (v / 0.1)));
    // Eq 16: the curve taken where the step would end if the friction at rest acted on 1 kg.
    let approximate = |curve: &dyn Fn(f64) -> f64, rest: f64, step: f64, v: f64| curve(v - v.signum() * step * rest);
    let mut drawn = Drawn::default();

    let speeds: Vec<f64> = (-100..=100).map(|i| f64::from(i) / 200.0).collect();
    let solved: Result<Vec<f64>, String> = speeds
        .iter()
        .map(|v| one_step(bench, "implicit", 0.01, *v, 0.0, STRIBECK))
        .collect();
    let outside = |v: f64| {
        if v.abs() > 0.15 {
            approximate(&stribeck, 15.0, 0.01, v)
        } else {
            f64::NAN
        }
    };
    let curve = |v: f64| if v == 0.0 { f64::NAN } else { stribeck(v) };
    let curves = Panel {
        title: "one step of 10 ms on 1 kg".into(),
        ..Panel::new("velocity (m/s)", "friction force (N)")
            .with(
                Series::line("$φ(v)$", speeds.clone(), speeds.iter().map(|v| curve(*v)).collect())
                    .style(Style::Solid)
                    .color(Color::GREY),
            )
            .with(
                Series::line("eq 14, solved", speeds.clone(), solved?)
                    .style(Style::Solid)
                    .color(BLUE),
            )
            .with(
                Series::line("eq 16", speeds.clone(), speeds.iter().map(|v| outside(*v)).collect())
                    .style(Style::Dashed)
                    .color(ORANGE),
            )
    };
    let run = bench.run("fig000-stribeck")?;
    let jumps = Panel {
        title: "pulled at 0.2 m/s by a spring of 90 N/m".into(),
        references: vec![Reference::horizontal(0.2, "")],
        ..Panel::new("time $t$ (s)", "velocity $v$ (m/s)").with(
            Series::line("", run.times().to_vec(), run.column("block.velocity")?.to_vec())
                .style(Style::Solid)
                .color(BLUE),
        )
    };
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![curves, jumps], width: 330.0, height: 210.0, ..Figure::default() },
        "Left: a Stribeck curve (10 N sliding, 15 N at rest, 0.1 m/s) and what it becomes in one step, as a function of the \
         velocity without friction: within ±0.15 m/s the step ends at rest. Right: stick and slip on this curve, step 1 ms."
            .into(),
    ));

    let found = &mut drawn.found;
    let mut worst: f64 = 0.0;
    for (id, v) in [("viscous1", 0.5), ("viscous2", 1.0)] {
        let solved = one_step(bench, "implicit", 1e-3, v, 0.0, VISCOUS)?;
        worst = worst.max((approximate(&viscous, 10.0, 1e-3, v) / solved - 1.0).abs());
        found.note(id, solved);
    }
    for (id, v) in [("stribeck1", 0.05), ("stribeck2", 0.1)] {
        let solved = one_step(bench, "implicit", 1e-3, v, 0.0, STRIBECK)?;
        worst = worst.max((approximate(&stribeck, 15.0, 1e-3, v) / solved - 1.0).abs());
        found.note(id, solved);
    }
    found.note("near", 100.0 * worst);
    let mut far: f64 = 0.0;
    for (id, v) in [("stribeck3", 0.2), ("stribeck4", 0.3)] {
        let solved = one_step(bench, "implicit", 1e-2, v, 0.0, STRIBECK)?;
        far = far.max((approximate(&stribeck, 15.0, 1e-2, v) / solved - 1.0).abs());
        found.note(id, solved);
    }
    found.note("far", 100.0 * far);
    let (slips, stops) = (run.changes("floor", "slip"), run.changes("floor", "stick"));
    found.note("slip1", slips.first().copied().unwrap_or(f64::NAN));
    found.note("slip5", slips.get(4).copied().unwrap_or(f64::NAN));
    found.note("slips", slips.len() as f64);
    found.note("stops", stops.len() as f64);
    found.note("fastest", largest(run.column("block.velocity")?.iter().copied()));
    Ok(drawn)
}

/// Section 3.5: friction in the plane.
pub fn plane(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let run = bench.run("fig000-vector")?;
    let (x, y) = (run.column("puck.position.x")?, run.column("puck.position.y")?);
    let (vx, vy) = (run.column("puck.velocity.x")?, run.column("puck.velocity.y")?);
    let to_millimetres = |values: &[f64]| values.iter().map(|value| 1000.0 * value).collect::<Vec<_>>();
    let path = Panel::new("$x$ (mm)", "$y$ (mm)")
        .with(
            Series::line("", to_millimetres(x), to_millimetres(y))
                .style(Style::Solid)
                .color(BLUE),
        )
        .with(
            Series::line("rest, exact", vec![4000.0 / 75.0], vec![1000.0 / 60.0])
                .style(Style::Points)
                .color(ORANGE),
        );
    let t = run.times().to_vec();
    let speeds = Panel {
        references: vec![Reference::vertical(2.0 / 15.0, "exact stop")],
        ..Panel::new("time $t$ (s)", "velocity (m/s)")
            .with(Series::line("$v_x$", t.clone(), vx.to_vec()))
            .with(Series::line("$v_y$", t.clone(), vy.to_vec()))
    };
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![path, speeds], width: 330.0, height: 180.0, ..Figure::default() },
        "A puck of 1 kg slides along $x$ at 1 m/s and is pushed along $y$ by 5 N; friction holds 10 N. Left its path, right its velocity."
            .into(),
    ));

    let found = &mut drawn.found;
    let stop = |vx: &[f64], vy: &[f64]| (1..vx.len()).find(|&k| vx[k] == 0.0 && vy[k] == 0.0);
    let first = |values: &[f64]| {
        (0..values.len())
            .rev()
            .find(|&k| values[k] != 0.0)
            .map_or(f64::NAN, |k| k as f64 + 1.0)
    };
    found.note("steps", stop(vx, vy).map_or(f64::NAN, |k| k as f64));
    found.note("together", first(vx) - first(vy));
    found.note("x", run.last("puck.position.x")?);
    found.note("y", run.last("puck.position.y")?);
    found.note("fx", run.last("floor.force.x")?);
    found.note("fy", run.last("floor.force.y")?);
    let free = [
        "bodies.puck.velocity=[0.3, 0.4]".to_string(),
        "bodies.puck.force=[0, 0]".into(),
    ];
    let free = bench.variant("fig000-vector", &free, 1)?;
    let steps = stop(free.column("puck.velocity.x")?, free.column("puck.velocity.y")?);
    found.note("free", steps.map_or(f64::NAN, |k| k as f64));
    // The same motion turned by 30 degrees.
    let (c, s) = (
        libm::cos(std::f64::consts::FRAC_PI_6),
        libm::sin(std::f64::consts::FRAC_PI_6),
    );
    let turned = [
        format!("bodies.puck.velocity=[{c}, {s}]"),
        format!("bodies.puck.force=[{}, {}]", -5.0 * s, 5.0 * c),
    ];
    let turned = bench.variant("fig000-vector", &turned, 1)?;
    let (u, w) = (turned.column("puck.position.x")?, turned.column("puck.position.y")?);
    let off = (0..x.len()).map(|k| {
        (c * u[k] + s * w[k] - x[k])
            .abs()
            .max((c * w[k] - s * u[k] - y[k]).abs())
    });
    found.note("turned", largest(off));
    Ok(drawn)
}

/// Exact motion of the block of Fig 8 at time t: position and velocity. It starts when the spring pulls with F, then
/// swings about the pulled end; the end stops at 2 s, and the block soon after. The swing touches zero velocity twice
/// before that, each time with the spring at F exactly, so it goes on at once.
fn exact(t: f64) -> (f64, f64) {
    const MASS: f64 = 1.0;
    const STIFFNESS: f64 = 90.0;
    const FRICTION: f64 = 10.0;
    const PULL: f64 = 2.0;
    let omega = (STIFFNESS / MASS).sqrt();
    let lag = FRICTION / STIFFNESS;
    let start = lag / PULL;
    if t <= start {
        return (0.0, 0.0);
    }
    let dragged = |t: f64| {
        let angle = omega * (t - start);
        (
            PULL * t - lag - PULL / omega * libm::sin(angle),
            PULL * (1.0 - libm::cos(angle)),
        )
    };
    if t <= 2.0 {
        return dragged(t);
    }
    // About the place where the spring at rest pulls with F.
    let (x, v) = dragged(2.0);
    let centre = 2.0 * PULL - lag;
    let (a, b) = (x - centre, v / omega);
    let angle = (omega * (t - 2.0)).min(libm::atan2(b, a));
    let position = centre + a * libm::cos(angle) + b * libm::sin(angle);
    let stopped = omega * (t - 2.0) >= libm::atan2(b, a);
    (
        position,
        if stopped {
            0.0
        } else {
            omega * (b * libm::cos(angle) - a * libm::sin(angle))
        },
    )
}

/// The step of P against the exact motion, for smaller and smaller steps.
pub fn order(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let steps: Vec<f64> = (0..5).map(|i| 1e-3 / f64::from(1 << i)).collect();
    let (mut position, mut velocity) = (Vec::new(), Vec::new());
    for step in &steps {
        let run = bench.variant("fig000-8-p", &[format!("simulation.step={step}")], 1)?;
        position.push((run.last("block.position")? - exact(4.0).0).abs());
        let rows = run.times().iter().zip(run.column("block.velocity")?);
        velocity.push(largest(rows.map(|(t, v)| (v - exact(*t).1).abs())));
    }
    let slope = |at: f64, power: i32| {
        steps
            .iter()
            .map(|h| at * (h / steps[0]).powi(power))
            .collect::<Vec<_>>()
    };
    let grey =
        |name: &str, y: Vec<f64>, style: Style| Series::line(name, steps.clone(), y).style(style).color(Color::GREY);
    let panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        legend: Legend::Beside,
        ..Panel::new("step $T$ (s)", "error")
            .with(
                Series::line("velocity, largest (m/s)", steps.clone(), velocity.clone())
                    .style(Style::Marked)
                    .color(BLUE),
            )
            .with(
                Series::line("rest position (m)", steps.clone(), position.clone())
                    .style(Style::Marked)
                    .color(ORANGE),
            )
            .with(grey("order 1", slope(0.5 * velocity[0], 1), Style::Dashed))
            .with(grey("order 2", slope(0.5 * position[0], 2), Style::Dotted))
    };
    drawn.pictures.push((
        Figure {
            width: 400.0,
            height: 260.0,
            ..Figure::from(panel)
        },
        "Error of P in the experiment of Fig 8 against the exact motion, for steps from 1 ms to 1/16 ms.".into(),
    ));
    let found = &mut drawn.found;
    found.note("v.first", velocity[0]);
    found.note("v.last", velocity[4]);
    found.note("x.first", position[0]);
    found.note("x.last", position[4]);
    let (least, most) = orders(&velocity);
    found.note("v.least", least);
    found.note("v.most", most);
    let (least, most) = orders(&position);
    found.note("x.least", least);
    found.note("x.most", most);
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::exact;

    #[test]
    fn exact_motion_has_the_stated_rest() {
        // Reference study, part 1, row "exact motion".
        assert!((exact(4.0).0 - 3.97326181738).abs() < 5e-12);
        assert_eq!(exact(2.0212367).1, 0.0);
        assert!(exact(2.0212365).1 > 0.0);
        assert!((90.0 * (exact(4.0).0 - 4.0) + 2.40643643615).abs() < 5e-10);
    }
}
