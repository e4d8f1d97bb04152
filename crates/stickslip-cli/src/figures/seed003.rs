//! Figures and claims of seed 003: stick-slip with time-dependent subloading friction.

use super::bench::{Bench, Cell, Run};
use super::{Drawn, largest, smallest};
use stickslip_plot::{Color, Figure, Legend, Panel, Reference, Scale, Series, Style};

const BLUE: Color = Color::PALETTE[0];
const ORANGE: Color = Color::PALETTE[1];
const GREEN: Color = Color::PALETTE[2];
const PINK: Color = Color::PALETTE[3];
const COLORS: [Color; 5] = [BLUE, ORANGE, GREEN, PINK, Color::PALETTE[5]];

fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key}={value}")
}

/// Largest of equidistant values by the parabola through the highest, and its place in spacings.
fn top(values: &[f64]) -> (f64, f64) {
    let inner = 1..values.len().saturating_sub(1);
    let Some(top) = inner.max_by(|&a, &b| values[a].total_cmp(&values[b])) else {
        return (f64::NAN, f64::NAN);
    };
    let (a, b, c) = (values[top - 1], values[top], values[top + 1]);
    let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
    (b - 0.25 * (a - c) * shift, top as f64 + shift)
}

fn scaled(values: &[f64], scale: f64) -> Vec<f64> {
    values.iter().map(|value| scale * value).collect()
}

/// Of steady sliding at v mm/s: μ̇ = 0 with R = 1 (seed 003, eq 16 with m = n = 1).
fn steady(v: f64) -> f64 {
    (10.0 * v + 0.002) / (10.0 * v / 0.2 + 0.002 / 0.4)
}

/// Of friction at rest since a time (seed 003, eq 36 with n = 1).
fn recovered(from: f64, time: f64) -> f64 {
    0.4 - (0.4 - from) * libm::exp(-0.002 / 0.4 * time)
}

/// Fig 3: a contact pulled at constant speed.
pub fn pulled(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut curves = Panel {
        y_range: Some((0.0, 0.4)),
        ..Panel::new("slip displacement $u_t$ (mm)", "$f_t/f_n$")
    };
    let speeds = ["1e-4", "1e-3", "1e-2", "1e-1", "1"];
    let (mut peaks, mut plateaus) = (Vec::new(), Vec::new());
    let values = [1e-4, 1e-3, 1e-2, 1e-1, 1.0];
    for (index, (name, v)) in speeds.into_iter().zip(values).enumerate() {
        let sets = [
            set("simulation.duration", 0.1 / v),
            set("simulation.step", 1e-5 / v),
            set("bodies.pin.velocity", format!("{name} mm/s")),
        ];
        let run = bench.variant("fig003-3", &sets, 1)?;
        let ratio = scaled(run.column("plate.force")?, -0.1);
        let (peak, place) = top(&ratio);
        drawn.found.note(format!("peak{name}"), peak);
        drawn.found.note(format!("place{name}"), 1e-5 * place);
        drawn
            .found
            .note(format!("end{name}"), ratio.last().copied().unwrap_or(f64::NAN));
        // Ten times as far nothing of the fall is left.
        let far = [
            set("simulation.duration", 1.0 / v),
            set("simulation.step", 1e-4 / v),
            sets[2].clone(),
        ];
        let plateau = -0.1 * bench.variant("fig003-3", &far, u64::MAX)?.last("plate.force")?;
        drawn.found.note(format!("plateau{name}"), plateau);
        peaks.push(peak);
        plateaus.push(plateau);
        let label = format!("{} mm/s", ["0.0001", "0.001", "0.01", "0.1", "1"][index]);
        let u = scaled(run.column("pin.position")?, 1e3);
        // Dashes show where curves lie upon each other.
        curves = curves.with(Series::line(label, u, ratio).color(COLORS[index]));
    }
    let fine: Vec<f64> = (0..=80).map(|i| libm::exp10(-4.0 + 0.05 * f64::from(i))).collect();
    let against = Panel {
        x_scale: Scale::Log,
        y_range: Some((0.15, 0.4)),
        ..Panel::new("speed $v_t$ (mm/s)", "$f_t/f_n$")
            .with(
                Series::line("static peak", values.to_vec(), peaks)
                    .style(Style::Marked)
                    .color(ORANGE),
            )
            .with(
                Series::line("kinetic plateau", values.to_vec(), plateaus)
                    .style(Style::Points)
                    .color(BLUE),
            )
            .with(
                Series::line(
                    "its closed form",
                    fine.clone(),
                    fine.iter().map(|v| steady(*v)).collect(),
                )
                .style(Style::Solid)
                .color(Color::GREY),
            )
    };
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![curves, against], width: 350.0, height: 240.0, share_x: false, ..Figure::default() },
        "Left: the contact stress ratio rises to a static peak and falls to the kinetic plateau. Right: both against the speed. The plateau depends \
         on it much more than the peak, most where the speed is near $η μ_k/(κ μ_s)$ = 0.0001 mm/s."
            .into(),
    ));
    Ok(drawn)
}

const HOLDS: [f64; 9] = [0.0, 1.0, 10.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 1e4];

/// Fig 4: slid, unloaded, held, slid again.
pub fn recovery(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut curves = Panel {
        legend: Legend::Beside,
        ..Panel::new("displacement after the hold (mm)", "$f_t/f_n$")
    };
    let mut peaks = Vec::new();
    for hold in HOLDS {
        let again = 10.0200225 + hold;
        let sets = [
            set(
                "bodies.pin.velocity.expr",
                format!("if(t < 10, 0.1, if(t < 10.0200225, -0.1, if(t < {again}, 0, 0.1)))"),
            ),
            set("simulation.duration", libm::ceil(again) + 1.0),
            set("simulation.max_step", "1 s"),
        ];
        let run = bench.late("fig003-4", &sets, again)?;
        let rows = run.times().iter().take_while(|t| **t < again + 0.4).count();
        let ratio = scaled(&run.column("plate.force")?[..rows], -0.1);
        let peak = top(&ratio).0;
        drawn.found.note(format!("peak{hold}"), peak);
        if hold == 100.0 {
            // The first row kept is the last before it slides again.
            drawn.found.note("mu", run.column("plate.mu")?[0]);
        }
        peaks.push(peak);
        if [0.0, 10.0, 100.0, 500.0, 1e4].contains(&hold) {
            let u = run.times()[..rows].iter().map(|t| 0.1 * (t - again)).collect();
            let label = if hold == 1e4 {
                "held 10⁴ s".into()
            } else {
                format!("held {hold} s")
            };
            let color = COLORS[curves.series.len()];
            curves = curves.with(Series::line(label, u, ratio).style(Style::Solid).color(color));
        }
    }
    let fine: Vec<f64> = (0..=100).map(|i| libm::exp10(0.04 * f64::from(i))).collect();
    let kinetic = steady(0.1);
    let against = Panel {
        x_scale: Scale::Log,
        y_range: Some((0.15, 0.45)),
        ..Panel::new("hold time (s)", "$f_t/f_n$")
            .with(
                Series::line("static peak", HOLDS[1..].to_vec(), peaks[1..].to_vec())
                    .style(Style::Marked)
                    .color(ORANGE),
            )
            .with(
                Series::line(
                    "$μ$ after the hold",
                    fine.clone(),
                    fine.iter().map(|t| recovered(kinetic, *t)).collect(),
                )
                .style(Style::Solid)
                .color(Color::GREY),
            )
    };
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![curves, against], width: 330.0, height: 240.0, share_x: false, ..Figure::default() },
        "Left: slid again after holds of different length. Right: the peak against the hold time, and the coefficient that eq 36 gives for the end of the \
         hold; slip below the peak keeps the force some percent lower."
            .into(),
    ));
    Ok(drawn)
}

/// Sharp runs of the drawn block: small errors, no larger step than the contact's vibration allows.
fn sharp() -> Vec<String> {
    vec![
        set("simulation.integrator", "adaptive"),
        set("simulation.relative_tolerance", "1e-9"),
        set("simulation.max_step", "1 s"),
    ]
}

/// The same with the elastic part of the force under analysis, as in the reference numbers.
fn elastic(sets: &[String]) -> Vec<String> {
    let mut all = sharp();
    all.push(set("simulation.step", "1 s"));
    all.push(set("analysis.stick_slip.signal", "floor.e"));
    all.push(set("analysis.stick_slip.scale", 1e-4));
    all.extend_from_slice(sets);
    all
}

/// First static peak and the minimum after it, of the elastic force over the normal force.
fn first_slip(run: &Run, normal: f64) -> Result<[f64; 4], String> {
    let ratio = scaled(run.column("floor.e")?, 1e6 / normal);
    let (peak, when) = top(&ratio);
    let after = (when as usize).min(ratio.len());
    let (low, later) = top(&scaled(&ratio[after..], -1.0));
    let start = run.times().first().copied().unwrap_or(f64::NAN);
    Ok([start + 2e-3 * when, peak, start + 2e-3 * (after as f64 + later), -low])
}

/// Fig 5: a block drawn by a spring.
pub fn drawn_block(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let undamped = set("elements.floor.contact_time", 0);
    let literal = set("elements.floor.normal_force", 10);
    let coarse = set("elements.floor.r", "1000 1/mm");
    let ratio = set("elements.floor.evolution", "ratio");
    for (id, sets, window, normal) in [
        ("damped", vec![], (3150.0, 3163.0), 100.0),
        ("undamped", vec![undamped.clone()], (3136.0, 3149.0), 100.0),
        ("literal", vec![undamped.clone(), literal.clone()], (286.0, 301.0), 10.0),
        (
            "literal1000",
            vec![undamped.clone(), literal, coarse],
            (371.0, 384.0),
            10.0,
        ),
        ("ratio", vec![undamped.clone(), ratio], (3187.0, 3200.0), 100.0),
    ] {
        let mut all = sharp();
        all.push(set("simulation.step", "2 ms"));
        all.push(set("simulation.duration", window.1));
        all.push(set("analysis.stick_slip.from", window.0));
        all.extend(sets);
        let found = first_slip(&*bench.late("fig003-5", &all, window.0)?, normal)?;
        for (what, value) in ["when", "peak", "later", "low"].into_iter().zip(found) {
            drawn.found.note(format!("{id}.{what}"), value);
        }
    }
    let no_recovery = set("elements.floor.eta", 0);
    let no_fall = set("elements.floor.kappa", 0);
    let cases = [
        ("tau2", vec![]),
        ("tau10", vec![set("elements.floor.contact_time", "10 ms")]),
        ("tau20", vec![set("elements.floor.contact_time", "20 ms")]),
        // Its vibration never dies out, so errors add up.
        (
            "none",
            vec![undamped.clone(), set("simulation.relative_tolerance", "1e-10")],
        ),
        ("eta", vec![no_recovery.clone()]),
        ("both", vec![no_recovery.clone(), no_fall.clone()]),
    ];
    let done = bench.several("fig003-5", &cases.each_ref().map(|(_, sets)| elastic(sets)))?;
    for ((id, _), run) in cases.iter().zip(done) {
        let cycle = run.cycle()?;
        drawn.found.note(format!("{id}.amplitude"), cycle.amplitude);
        drawn.found.note(format!("{id}.max"), cycle.max);
        if !["eta", "both"].contains(id) {
            drawn
                .found
                .note(format!("{id}.period"), cycle.period.unwrap_or(f64::NAN));
        }
    }
    let mut force = Panel {
        title: "(a) contact stress ratio".into(),
        legend: Legend::Hidden,
        ..Panel::new("displacement (mm)", "$f_t/f_n$")
    };
    let mut stairs = Panel {
        title: "(b) displacement".into(),
        ..Panel::new("time (s)", "displacement (mm)")
    };
    for (label, sets, color, style) in [
        ("set S", vec![], BLUE, Style::Solid),
        ("without contact time", vec![undamped], ORANGE, Style::Dotted),
        ("$η$ = 0", vec![no_recovery.clone()], GREEN, Style::Dashed),
        ("$κ = η$ = 0", vec![no_recovery, no_fall], Color::GREY, Style::Solid),
    ] {
        let mut all = vec![
            set("simulation.integrator", "adaptive"),
            set("simulation.relative_tolerance", "1e-8"),
            set("simulation.duration", 10_000),
            set("simulation.step", "0.1 s"),
        ];
        all.extend(sets);
        let run = bench.variant("fig003-5", &all, 1)?;
        let x = scaled(run.column("block.position")?, 1e3);
        let ratio = scaled(run.column("floor.force")?, -0.01);
        stairs = stairs.with(
            Series::line(label, run.times().to_vec(), x.clone())
                .style(style)
                .color(color),
        );
        force = force.with(Series::line(label, x, ratio).style(style).color(color));
    }
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![force, stairs], width: 350.0, height: 240.0, share_x: false, ..Figure::default() },
        "Set S with a contact time of 2 ms: peaks of static friction, then a slip of more than 2 mm. Without the contact time the contact goes on \
         vibrating after a slip, which lowers the next peak. With η = 0 the block slips once and then follows; with κ = η = 0 it never slips."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 6: lubrication.
pub fn lubricated(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let wet = [set("elements.floor.mu_static", 0.2)];
    let run = bench.variant("fig003-5", &elastic(&wet), u64::MAX)?;
    let cycle = run.cycle()?;
    drawn.found.note("amplitude", cycle.amplitude);
    drawn.found.note("max", cycle.max);
    let mut panel = Panel::new("time (s)", "displacement (mm)");
    for (label, sets, color, style) in [
        ("$μ_s$ = 0.4, $μ_k$ = 0.2", &[][..], BLUE, Style::Solid),
        ("$μ_s = μ_k$ = 0.2", &wet[..], ORANGE, Style::Dashed),
    ] {
        let mut all = vec![set("simulation.duration", 10_000), set("simulation.step", "1 s")];
        all.extend_from_slice(sets);
        let run = bench.variant("fig003-5", &all, 1)?;
        let x = scaled(run.column("block.position")?, 1e3);
        panel = panel.with(Series::line(label, run.times().to_vec(), x).style(style).color(color));
    }
    drawn.pictures.push((
        Figure {
            width: 420.0,
            height: 220.0,
            ..Figure::from(panel)
        },
        "The block of Fig 5, and the same with a static friction that is not above the kinetic one.".into(),
    ));
    Ok(drawn)
}

/// Driving speeds of the maps, mm/s: 1, 2, 5 in every decade.
const SPEEDS: [&str; 13] = [
    "1e-4", "2e-4", "5e-4", "1e-3", "2e-3", "5e-3", "1e-2", "2e-2", "5e-2", "0.1", "0.2", "0.5", "1",
];
/// Springs of the maps, N/mm: those that are drawn from the third speed on, since the first slip takes hours, and the others.
const SOFT: [u32; 5] = [1, 2, 5, 10, 20];
const HARD: [u32; 4] = [50, 100, 200, 500];
/// Range in which the critical speed is looked for.
const RANGE: &str = "bodies.hook.velocity=log:1e-4 mm/s:1 mm/s:25";

/// An axis with these values.
fn axis<T: std::fmt::Display>(key: &str, values: &[T], unit: &str) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value} {unit}")).collect();
    format!("{key}=list:{}", values.join(","))
}

/// The cells of Fig 9 for a mass.
fn plane(bench: &mut Bench, mass: u32) -> Result<Vec<Cell>, String> {
    let sets = [
        set("bodies.block.mass", format!("{mass} t")),
        set("simulation.max_step", "2 s"),
    ];
    let mut cells = Vec::new();
    for (springs, speeds) in [(&SOFT[..], &SPEEDS[2..]), (&HARD[..], &SPEEDS[..])] {
        let x = axis("elements.spring.stiffness", springs, "N/mm");
        let y = axis("bodies.hook.velocity", speeds, "mm/s");
        cells.extend_from_slice(&bench.map("fig003-9", &sets, &x, &y)?);
    }
    Ok(cells)
}

/// Amplitudes of cells with one value of x, over y in mm/s.
fn row(cells: &[Cell], x: f64) -> (Vec<f64>, Vec<f64>) {
    let near = |cell: &&Cell| (cell.x / x - 1.0).abs() < 1e-9;
    cells
        .iter()
        .filter(near)
        .map(|cell| (1e3 * cell.y, cell.amplitude))
        .unzip()
}

/// Fig 7: amplitude against the driving speed for several springs.
pub fn springs(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let cells = plane(bench, 10)?;
    let mut panel = Panel {
        x_scale: Scale::Log,
        references: vec![Reference::horizontal(0.01, "criterion (35), $e$ = 20")],
        ..Panel::new("driving speed $v$ (mm/s)", "amplitude of $f_t/f_n$")
    };
    let springs = [5, 20, 50, 100];
    for (index, k) in springs.into_iter().enumerate() {
        let (v, amplitudes) = row(&cells, 1e3 * f64::from(k));
        let fast = v.iter().zip(&amplitudes).filter(|(v, _)| **v > 0.09);
        drawn
            .found
            .note(format!("fast{k}"), largest(fast.map(|(_, amplitude)| *amplitude)));
        // Down to the threshold it falls without exception.
        let falls = amplitudes.iter().take_while(|a| **a > 0.02).count();
        let rises = amplitudes[..falls].windows(2).filter(|pair| pair[1] > pair[0]).count();
        drawn.found.note(format!("rises{k}"), rises as f64);
        let series = Series::line(format!("{k} N/mm"), v, amplitudes).style(Style::Marked);
        panel = panel.with(series.color(COLORS[index]));
    }
    // At 0.001 mm/s with smaller errors.
    let sharper = springs.map(|k| {
        vec![
            set("elements.spring.stiffness", format!("{k} N/mm")),
            set("simulation.duration", 140_000.0 / f64::from(k) + 2000.0),
            set("analysis.stick_slip.from", 76_000.0 / f64::from(k) + 1000.0),
            set("simulation.relative_tolerance", 1e-5),
            set("simulation.max_step", "2 s"),
        ]
    });
    let mut before = f64::NAN;
    for (k, run) in springs.into_iter().zip(bench.several("fig003-9", &sharper)?) {
        let amplitude = run.cycle()?.amplitude;
        drawn.found.note(format!("slow{k}"), amplitude);
        if k > 5 {
            drawn.found.note(format!("less{k}"), amplitude / before);
        }
        before = amplitude;
    }
    drawn.pictures.push((
        Figure { width: 440.0, height: 260.0, ..Figure::from(panel) },
        "Amplitude of the contact stress ratio in the last part of each run, against the driving speed, for four springs.".into(),
    ));
    Ok(drawn)
}

const MASSES: [u32; 5] = [1, 2, 5, 10, 20];

/// Fig 8: amplitude against the driving speed for several masses.
pub fn masses(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let x = axis("bodies.block.mass", &MASSES, "t");
    let y = axis("bodies.hook.velocity", &SPEEDS[2..], "mm/s");
    let cells = bench.map("fig003-9", &for_masses(), &x, &y)?;
    let mut panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        references: vec![Reference::horizontal(0.01, "criterion (35), $e$ = 20")],
        ..Panel::new("driving speed $v$ (mm/s)", "amplitude of $f_t/f_n$")
    };
    let mut before = 0.0;
    for (index, mass) in MASSES.into_iter().enumerate() {
        let (v, amplitudes) = row(&cells, 1e3 * f64::from(mass));
        // At 0.05 mm/s.
        let tail = amplitudes[6];
        drawn.found.note(format!("tail{mass}"), tail);
        if index > 0 {
            drawn.found.note(format!("more{mass}"), tail / before);
        }
        before = tail;
        let series = Series::line(format!("{mass} N s²/mm"), v, amplitudes).style(Style::Marked);
        panel = panel.with(series.color(COLORS[index]));
    }
    // Those of 2 t and 10 t are in Fig 9.
    let x = axis("bodies.block.mass", &[1, 5], "t");
    let mut sets = for_masses();
    sets.push(set("simulation.relative_tolerance", "3e-5"));
    let critical = bench.boundary("fig003-9", &sets, &x, RANGE)?;
    for ((_, v), mass) in critical.iter().zip([1, 5]) {
        drawn.found.note(format!("critical{mass}"), 1e3 * v);
    }
    drawn.pictures.push((
        Figure { width: 440.0, height: 260.0, ..Figure::from(panel) },
        "The same for a spring of 10 N/mm and five masses (the paper's kg, read as N s²/mm), with a logarithmic axis: large amplitudes hardly depend \
         on the mass, the small cycles behind the fall grow with it."
            .into(),
    ));
    Ok(drawn)
}

/// Time of the runs in which the mass is varied, with the spring of 10 N/mm; y is the driving speed.
fn for_masses() -> Vec<String> {
    vec![
        set("map.duration", "140/(1e4*y) + 2000"),
        set("map.from", "76/(1e4*y) + 1000"),
    ]
}

/// Fig 9: the plane of spring and driving speed.
pub fn mode_maps(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let springs = [&SOFT[..], &HARD[..]].concat();
    let mut panels = Vec::new();
    for (mass, title) in [(10, "(a) $M$ = 10 N s²/mm"), (2, "(b) $M$ = 2 N s²/mm")] {
        let cells = plane(bench, mass)?;
        // Finer than the plane: near the boundary amplitudes are those of small cycles.
        let sets = [
            set("bodies.block.mass", format!("{mass} t")),
            set("simulation.relative_tolerance", "1e-5"),
        ];
        let x = axis("elements.spring.stiffness", &springs, "N/mm");
        let boundary = bench.boundary("fig003-9", &sets, &x, RANGE)?;
        let mut panel = Panel {
            title: title.into(),
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            x_range: Some((7e-5, 1.4)),
            y_range: Some((0.7, 700.0)),
            ..Panel::new("driving speed $v$ (mm/s)", "spring $K$ (N/mm)")
        };
        for (stable, label, color) in [(true, "stable", BLUE), (false, "stick-slip", ORANGE)] {
            let (v, k) = cells
                .iter()
                .filter(|cell| cell.stable == stable)
                .map(|cell| (1e3 * cell.y, 1e-3 * cell.x))
                .unzip();
            panel = panel.with(Series::line(label, v, k).style(Style::Points).color(color));
        }
        let (k, v) = boundary.iter().map(|(k, v)| (1e-3 * k, 1e3 * v)).unzip();
        let line = Series::line("boundary", v, k).style(Style::Solid).color(Color::BLACK);
        // K v = F η (1 − μ_k/μ_s) = 0.1 N/s: eq 37 in rate form.
        let rates = Series::line("eq 37", vec![0.1 / 700.0, 0.1 / 0.7], vec![700.0, 0.7]);
        panel = panel.with(line).with(rates.style(Style::Dashed).color(GREEN));
        let mut ratios = Vec::new();
        for ((_, v), k) in boundary.iter().zip(&springs) {
            drawn.found.note(format!("critical{mass}.{k}"), 1e3 * v);
            ratios.push(1e3 * v * f64::from(*k) / 0.1);
        }
        drawn
            .found
            .note(format!("rates{mass}.least"), smallest(ratios.iter().copied()));
        drawn.found.note(format!("rates{mass}.most"), largest(ratios));
        // Runs whose class is not that of their side of the boundary, with 10 N/mm and more and not within 10 % of it.
        let wrong = cells.iter().filter(|cell| {
            let critical = boundary
                .iter()
                .find(|(k, _)| *k == cell.x)
                .map_or(f64::NAN, |point| point.1);
            let apart = (cell.y / critical - 1.0).abs() > 0.1;
            cell.x > 9e3 && apart && cell.stable != (cell.y > critical)
        });
        drawn.found.note(format!("mixed{mass}"), wrong.count() as f64);
        panels.push(panel);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 280.0, ..Figure::default() },
        "Every mark is a run, classified by criterion (35) with e = 20. The black line is the smallest critical speed, found by bisection; the dashed line is \
         where the pull of the spring grows as fast as friction at rest recovers."
            .into(),
    ));
    Ok(drawn)
}

/// Mean speed over the last half of a run, over the driving speed.
fn pace(run: &Run, speed: f64) -> Result<f64, String> {
    let end = run.times().last().copied().unwrap_or(f64::NAN);
    let way = run.at("block.position", end)? - run.at("block.position", 0.5 * end)?;
    Ok(way / (0.5 * end * speed))
}

/// Fig 10: from stick-slip to stable sliding by a stiffer spring, and by a faster drive.
pub fn transitions(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    // Name in the claims, spring in N/mm, drive in mm/s.
    let cases = [
        (
            "(i) to (ii): stiffer spring",
            [
                ("i", 10.0, 1e-3),
                ("k20", 20.0, 1e-3),
                ("k50", 50.0, 1e-3),
                ("ii", 200.0, 1e-3),
            ],
        ),
        (
            "(i) to (iii): faster drive",
            [
                ("i", 10.0, 1e-3),
                ("v2", 10.0, 2e-3),
                ("v5", 10.0, 5e-3),
                ("iii", 10.0, 5e-2),
            ],
        ),
    ];
    for (title, runs) in cases {
        let mut panel = Panel {
            title: String::from(title),
            x_range: Some((0.0, 10_000.0)),
            ..Panel::new("time (s)", "displacement (mm)")
        };
        for (index, (id, k, v)) in runs.into_iter().enumerate() {
            let sets = [
                set("elements.spring.stiffness", format!("{k} N/mm")),
                set("bodies.hook.velocity", format!("{v} mm/s")),
                set("simulation.duration", 20_000),
                set("simulation.step", "2 s"),
                set("simulation.relative_tolerance", "1e-4"),
            ];
            let run = bench.variant("fig003-5", &sets, 1)?;
            drawn.found.note(format!("{id}.amplitude"), run.cycle()?.amplitude);
            drawn.found.note(format!("{id}.pace"), pace(&run, 1e-3 * v)?);
            let label = if k == 10.0 && v != 1e-3 || title.contains("iii") {
                format!("{v} mm/s")
            } else {
                format!("{k} N/mm")
            };
            let x = scaled(run.column("block.position")?, 1e3);
            let series = Series::line(label, run.times().to_vec(), x).style(Style::Solid);
            panel = panel.with(series.color(COLORS[index]));
        }
        if title.contains("iii") {
            panel.y_range = Some((0.0, 60.0));
        }
        panels.push(panel);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 240.0, share_x: false, ..Figure::default() },
        "Left, at 0.001 mm/s: with stiffer springs the block moves as far in the same time, in smaller jumps. Right, with 10 N/mm: driven faster it moves \
         farther, and friction has no time to recover."
            .into(),
    ));
    Ok(drawn)
}

/// When the pull of the spring, K v t beyond kinetic friction, meets recovering friction: coefficients against time.
fn meets(times: &[f64], coefficients: &[f64], slope: f64) -> f64 {
    let over = |i: usize| coefficients[i] - coefficients[0] - slope * (times[i] - times[0]);
    (1..times.len())
        .rev()
        .find(|&i| over(i - 1) > 0.0 && over(i) <= 0.0)
        .map_or(f64::NAN, |i| {
            let part = over(i - 1) / (over(i - 1) - over(i));
            times[i - 1] + part * (times[i] - times[i - 1]) - times[0]
        })
}

/// Fig 12: the pull of the spring against the recovery of friction.
pub fn pull_and_recovery(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let sets = [
        // Slid so fast that friction has fallen to its kinetic level.
        set("bodies.pin.velocity.expr", "if(t < 10, 10, 0)"),
        set("simulation.duration", 30_000),
        set("simulation.step", "1 s"),
        set("simulation.max_step", "1 s"),
    ];
    let run = bench.late("fig003-4", &sets, 10.0)?;
    let (times, mu) = (run.times(), run.column("plate.mu")?);
    drawn.found.note("start", mu[0]);
    drawn.found.note("later", mu[200]);
    // K v/F with K = 10 N/mm and v = 1e-4 mm/s, per second.
    drawn.found.note("meets100", meets(times, mu, 1e-3 / 100.0));
    drawn.found.note("meets10", meets(times, mu, 1e-3 / 10.0));
    // The slope at rest, and that of a drive which keeps ahead of it.
    drawn
        .found
        .note("rate", 100.0 * (mu[1] - mu[0]) / (times[1] - times[0]));
    drawn
        .found
        .note("ahead", meets(times, mu, 0.12 / 100.0).is_nan() as u8 as f64);
    let mut panels = Vec::new();
    for (title, end, lines) in [
        (
            "until the spring catches up",
            25_000.0,
            &[("$v$ = 0.0001 mm/s", 1e-3, ORANGE, Style::Solid)][..],
        ),
        (
            "the first minutes",
            300.0,
            &[
                ("$v$ = 0.0001 mm/s", 1e-3, ORANGE, Style::Solid),
                ("$v$ = 0.01 mm/s", 0.1, GREEN, Style::Dashed),
                ("$v$ = 0.02 mm/s", 0.2, PINK, Style::Dotted),
            ][..],
        ),
    ] {
        let rows = times.iter().take_while(|t| **t - times[0] <= end).count();
        let t: Vec<f64> = times[..rows].iter().map(|t| t - times[0]).collect();
        let mut panel = Panel {
            title: title.into(),
            y_range: Some((0.15, 0.45)),
            ..Panel::new("time at rest (s)", "force over the normal force")
        };
        panel = panel.with(
            Series::line("friction $μ$", t, mu[..rows].to_vec())
                .style(Style::Solid)
                .color(BLUE),
        );
        for (label, rate, color, style) in lines {
            let until = end.min(0.26 * 100.0 / rate);
            let pull = vec![mu[0], mu[0] + rate / 100.0 * until];
            panel = panel.with(Series::line(*label, vec![0.0, until], pull).style(*style).color(*color));
        }
        panels.push(panel);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 220.0, share_x: false, ..Figure::default() },
        "Static friction recovers after a stop (simulated); straight lines are the pull of the spring with 10 N/mm. At 0.0001 mm/s friction is ahead for \
         20000 s: the block sticks. From 0.01 mm/s on the spring is ahead at once."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 13: the cycle for other rates of fall and recovery.
pub fn parameters(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let cases = [
        ("10", "0.002"),
        ("10", "0.0002"),
        ("10", "0.02"),
        ("10", "0.005"),
        ("1", "0.002"),
        ("0.1", "0.002"),
    ];
    let rates = |(kappa, eta): (&str, &str)| {
        vec![
            set("elements.floor.kappa", format!("{kappa} 1/mm")),
            set("elements.floor.eta", format!("{eta} 1/s")),
        ]
    };
    let mut measured = Vec::new();
    let undamped = [("10", "0.0002"), ("10", "0.005"), ("0.1", "0.002")];
    let damped = [
        ("10", "0.002"),
        ("10", "0.0002"),
        ("10", "0.02"),
        ("1", "0.002"),
        ("0.1", "0.002"),
    ];
    for (id, time, cases) in [("", "0", &undamped[..]), ("damped", "2 ms", &damped[..])] {
        for &case in cases {
            let mut sets = rates(case);
            sets.push(set("elements.floor.contact_time", time));
            measured.push((format!("{id}{}.{}", case.0, case.1), elastic(&sets)));
        }
    }
    let sets: Vec<Vec<String>> = measured.iter().map(|(_, sets)| sets.clone()).collect();
    for ((id, _), run) in measured.iter().zip(bench.several("fig003-5", &sets)?) {
        let cycle = run.cycle()?;
        drawn.found.note(format!("{id}.amplitude"), cycle.amplitude);
        if cycle.amplitude > 0.01 {
            drawn
                .found
                .note(format!("{id}.period"), cycle.period.unwrap_or(f64::NAN));
        }
    }
    let panel = |title: &str| Panel {
        title: title.into(),
        ..Panel::new("time (s)", "displacement (mm)")
    };
    let mut panels = vec![panel("$κ$ = 10 1/mm"), panel("$η$ = 0.002 1/s")];
    let shown: Vec<Vec<String>> = cases
        .into_iter()
        .map(|case| {
            let mut sets = rates(case);
            sets.push(set("simulation.duration", 15_000));
            sets.push(set("simulation.relative_tolerance", "1e-4"));
            sets
        })
        .collect();
    for ((kappa, eta), sets) in cases.into_iter().zip(&shown) {
        let run = bench.variant("fig003-5", sets, 2)?;
        let labels = [
            (kappa == "10").then(|| format!("$η$ = {eta} 1/s")),
            (eta == "0.002").then(|| format!("$κ$ = {kappa} 1/mm")),
        ];
        for (panel, label) in panels.iter_mut().zip(labels) {
            let Some(label) = label else { continue };
            let x = scaled(run.column("block.position")?, 1e3);
            let color = COLORS[panel.series.len()];
            panel.series.push(
                Series::line(label, run.times().to_vec(), x)
                    .style(Style::Solid)
                    .color(color),
            );
        }
    }
    drawn.pictures.push((
        Figure {
            columns: 2,
            panels,
            width: 330.0,
            height: 240.0,
            ..Figure::default()
        },
        "Displacement with a contact time of 2 ms. Left: other rates of recovery. Right: other rates of fall.".into(),
    ));
    Ok(drawn)
}
