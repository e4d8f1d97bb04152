//! Figures and claims of seed 002: implicit update of the contact force of subloading friction by the trapezoidal rule.

use super::Drawn;
use super::bench::{Bench, completed};
use stickslip_plot::{Color, Figure, Legend, Panel, Reference, Scale, Series, Style};

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

/// Steps at which the two schemes are compared, s.
const STEPS: [(&str, f64); 3] = [("10", 1e-2), ("5", 5e-3), ("2", 2e-3)];

/// Fig 3: stick-slip at several steps.
pub fn accuracy(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let safe = set("elements.floor.newton", "safeguarded");
    let mut panel = Panel {
        x_scale: Scale::Log,
        y_range: Some((0.0, 0.3)),
        legend: Legend::Beside,
        ..Panel::new("step $Δt$ (s)", "amplitude of $f_t/f_n$")
    };
    let axis = "simulation.step=list:10 ms,5 ms,2 ms";
    for (id, label, color) in SCHEMES {
        let sets = [
            safe.clone(),
            set("simulation.motion", id),
            set("elements.floor.update", id),
        ];
        let rows = bench.sweep("fig002-3", &sets, axis, &["stick_slip.amplitude"])?;
        let amplitudes: Vec<f64> = rows
            .iter()
            .map(|row| row.as_ref().map_or(f64::NAN, |row| row[0]))
            .collect();
        for ((name, _), amplitude) in STEPS.iter().zip(&amplitudes) {
            drawn.found.note(format!("{id}{name}"), *amplitude);
        }
        drawn
            .found
            .note(format!("{id}.change"), (amplitudes[2] / amplitudes[1] - 1.0).abs());
        let steps = STEPS.iter().map(|step| step.1).collect();
        panel = panel.with(Series::line(label, steps, amplitudes).style(Style::Marked).color(color));
    }
    // The same block with a contact that damps its vibration has one answer.
    let damped = [
        safe,
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
    // Science page, section 6: the trapezoidal rule at smaller steps, and the limit.
    let small = Series::line("trapezoidal, science page", vec![1e-4, 1e-5], vec![0.136, 0.0766]);
    panel = panel.with(small.style(Style::Points).color(GREEN));
    panel
        .references
        .push(Reference::horizontal(0.0768, "limit of small steps"));
    drawn.pictures.push((
        Figure { width: 420.0, height: 240.0, ..Figure::from(panel) },
        "Amplitude of stick-slip against the step. The trapezoidal rule hardly depends on the step down to 0.5 ms and is far from its limit all the same."
            .into(),
    ));
    Ok(drawn)
}

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
    let (mut fails, mut completes) = (-12, 15);
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
        legend: Legend::Beside,
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
    drawn.found.note("ratio", super::largest(ratios));
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
    let published = Series::line("published", vec![0.01, 0.01], vec![1.3e-2, 2.7e-4]);
    panel = panel.with(published.style(Style::Points).color(Color::BLACK));
    drawn.pictures.push((
        Figure { width: 420.0, height: 260.0, ..Figure::from(panel) },
        "Largest step at which the first slip is completed, Newton's method as published. Motion by the trapezoidal rule, and by backward differences. All follow the natural \
         period of block and spring; black: the two steps of the paper, of which the smaller is not reproduced."
            .into(),
    ));
    Ok(drawn)
}
