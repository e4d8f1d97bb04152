//! Figures and claims of seed 002: implicit update of the contact force of subloading friction by the trapezoidal rule.

use super::Drawn;
use super::bench::{Bench, completed};
use super::stored::{Kept, Stored};
use stickslip_plot::{Color, Figure, Panel, Reference, Scale, Series, Style};

const BLUE: Color = Color::PALETTE[0];
const ORANGE: Color = Color::PALETTE[1];
const GREEN: Color = Color::PALETTE[2];

fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key}={value}")
}

/// The two schemes of the paper, by one rule for motion and contact force.
const SCHEMES: [(&str, &str, Color); 2] = [
    ("trapezoidal", "trapezoidal rule", BLUE),
    ("backward", "backward differences", ORANGE),
];

/// Larger steps at which the two schemes are compared, s.
const STEPS: [(&str, f64); 3] = [("2", 2e-3), ("5", 5e-3), ("10", 1e-2)];

/// The paper's own steps, s: too small for every page.
const PUBLISHED: [(&str, f64, &str); 2] = [("1e-4", 1e-4, "0.1 ms"), ("1e-5", 1e-5, "0.01 ms")];

/// Changes that make both rules those of a scheme. A bracket keeps Newton's method from failing at large steps.
fn scheme(id: &str) -> Vec<String> {
    vec![
        set("elements.floor.newton", "safeguarded"),
        set("simulation.motion", id),
        set("elements.floor.update", id),
    ]
}

/// Both schemes at the paper's steps: a row every 2 s.
fn long_runs(bench: &mut Bench) -> Result<Vec<Kept>, String> {
    let mut runs = Vec::new();
    for (id, ..) in SCHEMES {
        for (name, step, _) in PUBLISHED {
            let mut sets = scheme(id);
            sets.push(set("simulation.step", step));
            let run = bench.variant("fig002-3", &sets, libm::round(2.0 / step) as u64)?;
            runs.push(Kept::new(&format!("{id}{name}"), &run, "floor.force", -100.0)?);
        }
    }
    Ok(runs)
}

/// Fig 3: stick-slip at several steps.
pub fn accuracy(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let stored = Stored::take(
        bench,
        include_str!("../../../../figures/stored-fig002-3.toml"),
        "stickslip figures --all fig002-3",
        long_runs,
    )?;
    let mut courses = Vec::new();
    let mut against = Panel {
        x_scale: Scale::Log,
        y_range: Some((0.0, 0.3)),
        ..Panel::new("step $Δt$ (s)", "amplitude of $f_t/f_n$")
    };
    for (id, label, color) in SCHEMES {
        let mut panel = Panel {
            title: label.into(),
            y_range: Some((0.0, 0.4)),
            ..Panel::new("time (s)", "$f_t/f_n$")
        };
        let (mut steps, mut amplitudes) = (Vec::new(), Vec::new());
        for (index, (name, step, words)) in PUBLISHED.into_iter().enumerate() {
            let run = stored.run(&format!("{id}{name}"))?;
            drawn.found.note(format!("{id}{name}"), run.amplitude);
            let (color, style) = [(BLUE, Style::Solid), (ORANGE, Style::Dashed)][index];
            let series = Series::line(format!("$Δt$ = {words}"), run.times(), run.values.clone());
            panel = panel.with(series.style(style).color(color));
            steps.push(step);
            amplitudes.push(run.amplitude);
        }
        drawn
            .found
            .note(format!("{id}.own"), (amplitudes[1] / amplitudes[0] - 1.0).abs());
        courses.push(panel);
        let axis = "simulation.step=list:2 ms,5 ms,10 ms";
        let rows = bench.sweep("fig002-3", &scheme(id), axis, &["stick_slip.amplitude"])?;
        for (row, (name, step)) in rows.iter().zip(STEPS) {
            let amplitude = row.as_ref().map_or(f64::NAN, |row| row[0]);
            drawn.found.note(format!("{id}{name}"), amplitude);
            steps.push(step);
            amplitudes.push(amplitude);
        }
        drawn
            .found
            .note(format!("{id}.change"), (amplitudes[2] / amplitudes[3] - 1.0).abs());
        let mut points: Vec<(f64, f64)> = steps.into_iter().zip(amplitudes).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (steps, amplitudes) = points.into_iter().unzip();
        against = against.with(Series::line(label, steps, amplitudes).style(Style::Marked).color(color));
    }
    let of = |drawn: &Drawn, id: &str| drawn.found.get(id);
    let own = of(&drawn, "trapezoidal.own") / of(&drawn, "backward.own");
    let coarse = of(&drawn, "trapezoidal.change") / of(&drawn, "backward.change");
    drawn.found.note("own", own);
    drawn.found.note("coarse", coarse);
    // The limit of small steps: reference study, section 6.
    let off = (of(&drawn, "trapezoidal1e-4") / LIMIT - 1.0).abs();
    drawn.found.note("accuracy", 100.0 * off);
    // The same block with a contact that damps its vibration has one answer.
    let damped = [
        set("elements.floor.newton", "safeguarded"),
        set("simulation.integrator", "stiff"),
        set("simulation.relative_tolerance", "1e-5"),
        set("simulation.step", "1 s"),
        set("elements.floor.contact_time", "6.3e-5 s"),
        set("analysis.stick_slip.signal", "floor.e"),
        set("analysis.stick_slip.scale", "1e-4"),
    ];
    let run = bench.variant("fig002-3", &damped, u64::MAX)?;
    let cycle = run.cycle()?;
    drawn.found.note("damped.amplitude", cycle.amplitude);
    drawn.found.note("damped.period", cycle.period.unwrap_or(f64::NAN));
    against
        .references
        .push(Reference::horizontal(LIMIT, "limit of small steps"));
    drawn.pictures.push((
        Figure { columns: 2, panels: courses, width: 330.0, height: 200.0, ..Figure::default() },
        format!(
            "Contact stress ratio at the paper's own steps, by the trapezoidal rule and by backward differences. At the smaller step the trapezoidal rule gives \
             another cycle; backward differences give nearly the same one. {}",
            stored.origin()
        ),
    ));
    drawn.pictures.push((
        Figure {
            width: 440.0,
            height: 240.0,
            ..Figure::from(against)
        },
        "Amplitude of stick-slip against the step: the two steps of the figure above, and 2, 5 and 10 ms.".into(),
    ));
    if bench.all {
        drawn.files.push(("stored-fig002-3.toml".into(), stored.text()));
    }
    Ok(drawn)
}

/// Amplitude of the undamped model in the limit of small steps (reference study, section 6).
const LIMIT: f64 = 0.0768;

/// Mass with its unit and in N s²/mm, and the law of U.
const CASES: [(&str, f64, &str); 4] = [
    ("10 kg", 0.01, "ratio"),
    ("10 kg", 0.01, "log"),
    ("10 t", 10.0, "ratio"),
    ("1 kg", 0.001, "ratio"),
];

/// What a scheme is called, its update of the contact force and its rule of motion.
type Rules = (&'static str, &'static str, &'static str);

const RULES: [Rules; 3] = [
    ("trapezoidal", "trapezoidal", "trapezoidal"),
    ("backward", "backward", "trapezoidal"),
    ("fully", "backward", "backward"),
];

/// The largest step of a grid, 15 % from one to the next, at which Newton's method as published completes the first slip;
/// by halving the grid.
fn largest_step((mass, m, law): (&str, f64, &str), (_, update, motion): Rules) -> Result<f64, String> {
    let sets = |step: f64| {
        vec![
            set("simulation.step", format!("{step:.4e}")),
            set(
                "simulation.duration",
                format!("{:.9e}", step * libm::ceil(400.0 / step)),
            ),
            set("bodies.hook.velocity", "0.01 mm/s"),
            set("bodies.block.mass", mass),
            set("analysis.stick_slip.from", 0),
            set("elements.floor.evolution", law),
            set("elements.floor.update", update),
            set("simulation.motion", motion),
        ]
    };
    // In natural periods of block and spring.
    let period = 2.0 * std::f64::consts::PI * (m / 10.0_f64).sqrt();
    let step = |i: i32| 0.1 * period / libm::pow(1.15, f64::from(i));
    let (mut fails, mut completes) = (-12, 11);
    if completed("fig002-3", &sets(step(fails)))? || !completed("fig002-3", &sets(step(completes)))? {
        return Err(format!(
            "the largest step is not between {:.2e} and {:.2e} s",
            step(completes),
            step(fails)
        ));
    }
    while completes - fails > 1 {
        let middle = (fails + completes) / 2;
        if completed("fig002-3", &sets(step(middle)))? {
            completes = middle;
        } else {
            fails = middle;
        }
    }
    Ok(step(completes))
}

/// The largest step at which Newton's method as published completes the first slip.
pub fn step_limits(_: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        x_range: Some((3e-4, 30.0)),
        ..Panel::new("mass $M$ (N s²/mm)", "largest step $Δt$ (s)")
    };
    let found: Vec<[Result<f64, String>; 3]> = std::thread::scope(|scope| {
        let searches: Vec<_> = CASES
            .into_iter()
            .map(|case| RULES.map(|rules| scope.spawn(move || largest_step(case, rules))))
            .collect();
        let joined = searches
            .into_iter()
            .map(|three| three.map(|search| search.join().unwrap_or_else(|_| Err("the search stopped".into()))));
        joined.collect()
    });
    let mut ratios = Vec::new();
    let mut limits = [const { Vec::new() }; 3];
    for (index, (steps, (_, m, law))) in found.into_iter().zip(CASES).enumerate() {
        let [trapezoidal, backward, fully] = steps;
        let steps = [trapezoidal?, backward?, fully?];
        for (((name, ..), step), points) in RULES.into_iter().zip(steps).zip(&mut limits) {
            drawn.found.note(format!("{name}{index}"), step);
            if law == "ratio" {
                points.push((m, step));
            }
        }
        ratios.extend([steps[0] / steps[1], steps[0] / steps[2]]);
    }
    // Comparisons in which the backward update does not need the smaller step.
    let not_smaller = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
    drawn.found.note("not-smaller", not_smaller as f64);
    drawn.found.note("ratio", super::largest(ratios.iter().copied()));
    drawn.found.note("ratio.largest", super::largest(ratios));
    let kilograms = [0, 1].map(|index| drawn.found.get(&format!("trapezoidal{index}")));
    drawn.found.note("largest", super::largest(kilograms));
    for (points, (label, color)) in limits.iter_mut().zip([
        ("trapezoidal update", BLUE),
        ("backward update", ORANGE),
        ("backward, motion too", GREEN),
    ]) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (m, step) = points.iter().copied().unzip();
        panel = panel.with(Series::line(label, m, step).style(Style::Marked).color(color));
    }
    let (m, period): (Vec<f64>, Vec<f64>) = [3e-4_f64, 30.0]
        .iter()
        .map(|m| (*m, 0.05 * 2.0 * std::f64::consts::PI * (m / 10.0).sqrt()))
        .unzip();
    let line = Series::line("0.05 natural periods", m, period).style(Style::Dashed);
    panel = panel.with(line.color(Color::GREY));
    // The paper does not say for which mass.
    panel
        .references
        .push(Reference::horizontal(1.3e-2, "published, trapezoidal"));
    panel
        .references
        .push(Reference::horizontal(2.7e-4, "published, backward"));
    drawn.pictures.push((
        Figure { width: 420.0, height: 260.0, ..Figure::from(panel) },
        "Largest step at which the first slip is completed, Newton's method as published. All follow the natural period of block and spring. Dashed lines: the two \
         steps of the paper, which does not give its mass."
            .into(),
    ));
    Ok(drawn)
}
