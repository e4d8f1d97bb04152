//! Figures and claims of seed 003: stick-slip with time-dependent subloading friction.

use super::bench::{Bench, Cell, Run, Search};
use super::{Drawn, largest, smallest};
use stickslip::analysis::stick_slip::Region;
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
    let bend = a - 2.0 * b + c;
    // A flat top has no better place.
    let shift = if bend == 0.0 { 0.0 } else { 0.5 * (a - c) / bend };
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

/// How often a value is larger than the one before it.
fn rises(values: &[f64]) -> f64 {
    values.windows(2).filter(|pair| pair[1] > pair[0]).count() as f64
}

/// Fig 3: a contact pulled at constant speed.
pub fn pulled(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut curves = Panel {
        y_range: Some((0.0, 0.45)),
        ..Panel::new("slip displacement $u_t$ (mm)", "$f_t/f_n$")
    };
    let speeds = ["1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"];
    let (mut peaks, mut plateaus) = (Vec::new(), Vec::new());
    let values = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
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
        // Faster ones lie upon the last of these.
        if index < COLORS.len() {
            let u = scaled(run.column("pin.position")?, 1e3);
            let series = Series::line(format!("$10^{{{}}}$ mm/s", &name[2..]), u, ratio);
            curves = curves.with(series.color(COLORS[index]));
        }
    }
    drawn.found.note("peaks.rise", rises(&peaks));
    drawn.found.note("plateaus.rise", rises(&plateaus));
    let fine: Vec<f64> = (0..=120).map(|i| libm::exp10(-6.0 + 0.05 * f64::from(i))).collect();
    let against = Panel {
        x_scale: Scale::Log,
        y_range: Some((0.15, 0.45)),
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
        "Left: the contact stress ratio rises to a static peak and falls to the kinetic plateau. Right: both against the speed. They fall most \
         where friction recovers about as fast as it falls, near $η μ_k/(κ μ_s)$ = 0.0001 mm/s; above 0.01 mm/s nothing is left to see."
            .into(),
    ));
    Ok(drawn)
}

const HOLDS: [f64; 9] = [0.0, 1.0, 10.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 1e4];

/// Fig 4: slid, unloaded, held, slid again.
pub fn recovery(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut curves = Panel {
        title: "slid, unloaded, held, slid again".into(),
        ..Panel::new("displacement $u_t$ (mm)", "$f_t/f_n$")
    };
    let mut peaks = Vec::new();
    let course = |hold: f64| {
        let again = 10.0200225 + hold;
        vec![
            set(
                "bodies.pin.velocity.expr",
                format!("if(t < 10, 0.1, if(t < 10.0200225, -0.1, if(t < {again}, 0, 0.1)))"),
            ),
            set("simulation.duration", libm::ceil(again) + 1.0),
            set("simulation.max_step", "1 s"),
        ]
    };
    for hold in HOLDS {
        let again = 10.0200225 + hold;
        let sets = course(hold);
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
    }
    drawn.found.note(
        "peaks.fall",
        peaks.windows(2).filter(|pair| pair[1] <= pair[0]).count() as f64,
    );
    // The whole course; until the hold ends the three are the same.
    for (index, hold) in [10.0, 100.0, 1000.0].into_iter().enumerate() {
        let run = bench.variant("fig003-4", &course(hold), 5)?;
        let u = scaled(run.column("pin.position")?, 1e3);
        let ratio = scaled(run.column("plate.force")?, -0.1);
        let style = [Style::Solid, Style::Dashed, Style::Dotted][index];
        curves = curves.with(
            Series::line(format!("held {hold} s"), u, ratio)
                .style(style)
                .color(COLORS[index]),
        );
    }
    curves.labels = vec![
        (0.25, 0.34, "slide".into()),
        (0.78, 0.05, "unload, hold".into()),
        (1.07, 0.375, "reload".into()),
    ];
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
        "Left: the course of the experiment. The contact slides 1 mm, is unloaded at the same speed, held, and slid on; the longer the hold, the higher \
         the second peak. Right: that peak against the hold time, and the coefficient that eq 36 gives for the end of the hold; slip below the peak keeps the \
         force some percent lower."
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

/// Sharp runs of a contact that nothing damps: its vibration, of 10 rad/s, never dies out, and methods that keep errors small take a little of it away in every
/// step. Fixed steps of a method of fourth order take next to nothing: the amplitudes of 10 and 5 ms are 1 part in 700 apart.
fn undamped() -> Vec<String> {
    vec![
        set("simulation.integrator", "rk4"),
        set("simulation.step", "10 ms"),
        set("elements.floor.contact_time", 0),
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
    let no_contact_time = set("elements.floor.contact_time", 0);
    let literal = set("elements.floor.normal_force", 10);
    let coarse = set("elements.floor.r", "1000 1/mm");
    let ratio = set("elements.floor.evolution", "ratio");
    for (id, sets, window, normal) in [
        ("damped", vec![], (3150.0, 3163.0), 100.0),
        ("undamped", vec![no_contact_time.clone()], (3136.0, 3149.0), 100.0),
        (
            "literal",
            vec![no_contact_time.clone(), literal.clone()],
            (286.0, 301.0),
            10.0,
        ),
        (
            "literal1000",
            vec![no_contact_time.clone(), literal, coarse],
            (371.0, 384.0),
            10.0,
        ),
        ("ratio", vec![no_contact_time.clone(), ratio], (3187.0, 3200.0), 100.0),
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
        ("none", undamped()),
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
        ("without contact time", vec![no_contact_time], ORANGE, Style::Dotted),
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
/// How many of them are slow.
const SLOW: usize = 3;
/// Springs of the maps, N/mm.
const SPRINGS: [u32; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/// How many of them are soft.
const SOFT: usize = 4;
/// Range in which the critical speed is looked for.
const RANGE: &str = "bodies.hook.velocity=log:1e-4 mm/s:1 mm/s:25";

/// An axis with these values.
fn axis<T: std::fmt::Display>(key: &str, values: &[T], unit: &str) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value} {unit}")).collect();
    format!("{key}=list:{}", values.join(","))
}

/// Amplitude at which criterion (35) calls a cycle stick-slip, with e = 20.
const THRESHOLD: f64 = 0.01;
/// How far from it, as a factor, a cell is told by the two coarsest tolerances.
const CLEAR: f64 = 3.0;

/// The cells of Fig 9 for a mass: each is run with smaller and smaller tolerances until its class does not change. Amplitudes near the
/// threshold converge late, some after two tolerances that agree; those are compared from 1e-5 on.
fn plane(bench: &mut Bench, mass: u32) -> Result<std::rc::Rc<Vec<Cell>>, String> {
    bench.cells(&format!("plane {mass}"), |bench| {
        let sets = |tolerance: &str, longest: &str| {
            vec![
                set("bodies.block.mass", format!("{mass} t")),
                set("simulation.max_step", longest),
                set("simulation.relative_tolerance", tolerance),
            ]
        };
        let x = axis("elements.spring.stiffness", &SPRINGS, "N/mm");
        // Where the drive is slow all is slow: cycles of many minutes and more.
        let (slow, fast) = SPEEDS.split_at(SLOW);
        let mut map = |tolerance: &str| -> Result<Vec<Cell>, String> {
            let mut cells = Vec::new();
            for (speeds, longest) in [(slow, "10 s"), (fast, "2 s")] {
                let y = axis("bodies.hook.velocity", speeds, "mm/s");
                cells.extend_from_slice(&bench.map("fig003-9", &sets(tolerance, longest), &x, &y)?);
            }
            Ok(cells)
        };
        let coarse = map("1e-3")?;
        let mut cells = map("1e-4")?;
        let clear = |amplitude: f64| !(THRESHOLD / CLEAR..=THRESHOLD * CLEAR).contains(&amplitude);
        for (cell, before) in cells.iter_mut().zip(coarse.iter()) {
            let both = clear(cell.amplitude) && clear(before.amplitude);
            cell.settled = both && cell.stable == before.stable;
        }
        for tolerance in ["1e-5", "1e-6", "1e-7"] {
            let open: Vec<usize> = (0..cells.len()).filter(|&i| !cells[i].settled).collect();
            let lists: Vec<Vec<String>> = open
                .iter()
                .map(|&i| {
                    let (k, v) = (cells[i].x, cells[i].y);
                    let mut sets = sets(tolerance, "2 s");
                    sets.extend([
                        set("elements.spring.stiffness", format!("{k:e}")),
                        set("bodies.hook.velocity", format!("{v:e}")),
                        // As in its [map].
                        set("simulation.duration", 140.0 / (k * v) + 2000.0),
                        set("analysis.stick_slip.from", 76.0 / (k * v) + 1000.0),
                    ]);
                    sets
                })
                .collect();
            for (i, run) in open.into_iter().zip(bench.several("fig003-9", &lists)?) {
                let cycle = run.cycle()?;
                cells[i].settled = cycle.stable == cells[i].stable;
                cells[i].stable = cycle.stable;
                cells[i].amplitude = cycle.amplitude;
                cells[i].inertial = cycle.region == Some(Region::Inertial);
            }
        }
        Ok(cells)
    })
}

/// The critical speed of every spring for a mass, in SI: between the last cell that sticks and slips and the first that does not.
fn critical_speeds(bench: &mut Bench, mass: u32, cells: &[Cell]) -> Result<Vec<(f64, f64)>, String> {
    let search = |(index, k): (usize, &u32)| {
        let column: Vec<Cell> = cells
            .iter()
            .filter(|cell| (cell.x / (1e3 * f64::from(*k)) - 1.0).abs() < 1e-9)
            .copied()
            .collect();
        let edge = column.windows(2).find(|pair| !pair[0].stable && pair[1].stable);
        let edge = edge.ok_or_else(|| format!("no speed is critical for {k} N/mm"))?;
        // Near the boundary of soft springs amplitudes are those of small cycles; on stiff ones they fall at once.
        let tolerance = if index < SOFT { "1e-5" } else { "3e-5" };
        Ok(Search {
            sets: vec![
                set("bodies.block.mass", format!("{mass} t")),
                set("simulation.relative_tolerance", tolerance),
            ],
            x: axis("elements.spring.stiffness", &[k], "N/mm"),
            y: "bodies.hook.velocity",
            cells: [edge[0], edge[1]],
        })
    };
    let searches: Result<Vec<Search>, String> = SPRINGS.iter().enumerate().map(search).collect();
    let speeds = bench.boundary_between("fig003-9", &searches?)?;
    Ok(SPRINGS.iter().map(|k| 1e3 * f64::from(*k)).zip(speeds).collect())
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
        references: vec![Reference::horizontal(THRESHOLD, "criterion (35), $e$ = 20")],
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

const MASSES: [u32; 4] = [1, 2, 5, 10];

/// Fig 8: amplitude of the displacement against the driving speed for several masses.
pub fn masses(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let x = axis("bodies.block.mass", &MASSES, "t");
    let y = axis("bodies.hook.velocity", &SPEEDS[2..], "mm/s");
    let cells = bench.map("fig003-8", &[set("simulation.relative_tolerance", "1e-5")], &x, &y)?;
    let mut panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        ..Panel::new("driving speed $v$ (mm/s)", "amplitude of slip displacement (mm)")
    };
    let rows: Vec<(Vec<f64>, Vec<f64>)> = MASSES.iter().map(|mass| row(&cells, 1e3 * f64::from(*mass))).collect();
    let at = |mass: usize, speed: &str| {
        let index = SPEEDS[2..].iter().position(|other| *other == speed).unwrap_or(0);
        rows[mass].1[index]
    };
    // Speeds in mm/s at which all of them stick and slip, at which they nearly cease to, and at which they slide.
    for (id, speeds) in [
        ("slow", &["5e-4", "1e-3", "2e-3"][..]),
        ("middle", &["5e-3"]),
        ("fast", &["5e-2", "0.1"]),
    ] {
        let pairs = (1..MASSES.len()).flat_map(|mass| speeds.iter().map(move |speed| (mass, *speed)));
        let least = smallest(pairs.map(|(mass, speed)| at(mass, speed) / at(mass - 1, speed)));
        drawn.found.note(format!("{id}.least"), least);
    }
    for (index, mass) in MASSES.into_iter().enumerate() {
        drawn.found.note(format!("slow{mass}"), at(index, "1e-3"));
        drawn.found.note(format!("middle{mass}"), at(index, "5e-3"));
        if [1, 10].contains(&mass) {
            // Amplitude of a free swing that begins with the drive.
            let swing = 2.0 * (f64::from(mass) / 10.0).sqrt();
            drawn.found.note(format!("tail{mass}"), at(index, "1") / swing);
        }
        let (v, amplitudes) = rows[index].clone();
        // Below the threshold of eq 35 the force swings by at most 0.01 · 100 N, the spring of 10 N/mm by 0.1 mm.
        let falls = amplitudes.iter().take_while(|a| **a > 0.2).count();
        drawn.found.note(format!("rises{mass}"), rises(&amplitudes[..falls]));
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
        "How far the block swings about its mean motion, with a spring of 10 N/mm and four masses (the paper's kg, read as N s²/mm). Where it sticks and \
         slips the four differ by a few parts in a thousand, so the curves coincide; they part where the cycle is small, and end in a free swing on the spring."
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

/// Whether a cell is of a class.
type Is = fn(&Cell) -> bool;

/// Fig 9: the plane of spring and driving speed.
pub fn mode_maps(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    let mut lines = Vec::new();
    for (mass, title) in [(10, "(a) $M$ = 10 N s²/mm"), (2, "(b) $M$ = 2 N s²/mm")] {
        let cells = plane(bench, mass)?;
        let boundary = critical_speeds(bench, mass, &cells)?;
        let mut panel = Panel {
            title: title.into(),
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            x_range: Some((7e-5, 1.4)),
            y_range: Some((0.7, 700.0)),
            legend: Legend::Auto,
            ..Panel::new("driving speed $v$ (mm/s)", "spring $K$ (N/mm)")
        };
        let creeps: Is = |cell| cell.settled && !cell.stable && !cell.inertial;
        let swings: Is = |cell| cell.settled && !cell.stable && cell.inertial;
        let slides: Is = |cell| cell.settled && cell.stable;
        let edge: Is = |cell| !cell.settled;
        let classes = [
            ("stable", BLUE, slides),
            ("stick-slip, creep (A)", ORANGE, creeps),
            ("stick-slip, inertia (B)", PINK, swings),
            ("at the threshold", Color::GREY, edge),
        ];
        for (label, color, is) in classes {
            let (v, k) = cells
                .iter()
                .filter(|cell| is(cell))
                .map(|cell| (1e3 * cell.y, 1e-3 * cell.x))
                .unzip();
            panel = panel.with(Series::line(label, v, k).style(Style::Points).color(color));
        }
        let (k, v) = boundary.iter().map(|(k, v)| (1e-3 * k, 1e3 * v)).unzip();
        let line = Series::line("boundary", v, k).style(Style::Solid).color(Color::BLACK);
        // K v = F η (1 − μ_k/μ_s) = 0.1 N/s: eq 37 in rate form.
        let rates = Series::line("eq 37", vec![0.1 / 700.0, 0.1 / 0.7], vec![700.0, 0.7]);
        panel = panel.with(line).with(rates.style(Style::Dashed).color(GREEN));
        if mass == 10 {
            // The runs of Fig 10.
            panel.labels = vec![
                (1.35e-3, 13.5, "(i)".into()),
                (1.35e-3, 270.0, "(ii)".into()),
                (6.7e-2, 13.5, "(iii)".into()),
                (3.2e-4, 7.0, "(A)".into()),
                (7.1e-3, 13.5, "(B)".into()),
            ];
        }
        let mut ratios = Vec::new();
        for ((_, v), k) in boundary.iter().zip(&SPRINGS) {
            drawn.found.note(format!("critical{mass}.{k}"), 1e3 * v);
            ratios.push(1e3 * v * f64::from(*k) / 0.1);
        }
        drawn
            .found
            .note(format!("rates{mass}.least"), smallest(ratios.iter().copied()));
        drawn.found.note(format!("rates{mass}.most"), largest(ratios));
        // Runs whose class is not that of their side of the boundary and that are not within 10 % of it.
        let wrong = |stiff: bool| {
            let wrong = cells.iter().filter(|cell| {
                let critical = boundary
                    .iter()
                    .find(|(k, _)| *k == cell.x)
                    .map_or(f64::NAN, |point| point.1);
                let apart = (cell.y / critical - 1.0).abs() > 0.1;
                (cell.x > 9e3) == stiff && cell.settled && apart && cell.stable != (cell.y > critical)
            });
            wrong.count() as f64
        };
        drawn.found.note(format!("mixed{mass}.stiff"), wrong(true));
        drawn.found.note(format!("mixed{mass}.soft"), wrong(false));
        let of = |k: f64, v: f64| {
            let near =
                |cell: &&Cell| (cell.x / (1e3 * k) - 1.0).abs() < 1e-6 && (cell.y / (1e-3 * v) - 1.0).abs() < 1e-6;
            cells.iter().find(near).map_or(f64::NAN, |cell| cell.amplitude)
        };
        if mass == 10 {
            drawn.found.note("cell5", of(5.0, 0.02));
            drawn.found.note("corner", of(10.0, 1e-4));
            drawn.found.note("softest", of(1.0, 1e-4));
            for (id, k, v) in [("i", 10.0, 1e-3), ("ii", 200.0, 1e-3), ("iii", 10.0, 0.05)] {
                drawn.found.note(id, of(k, v));
            }
            // Slow drives creep; cycles in which mass and spring swing come with fast ones.
            let fastest = |is: Is| largest(cells.iter().filter(|cell| is(cell)).map(|cell| 1e3 * cell.y));
            let slowest = |is: Is| smallest(cells.iter().filter(|cell| is(cell)).map(|cell| 1e3 * cell.y));
            drawn.found.note("creep.slowest", slowest(creeps));
            drawn.found.note("creep.fastest", fastest(creeps));
            drawn.found.note("inertia.slowest", slowest(swings));
        }
        drawn.found.note(
            format!("unsettled{mass}"),
            cells.iter().filter(|cell| !cell.settled).count() as f64,
        );
        lines.push(boundary);
        panels.push(panel);
    }
    for ((heavy, light), k) in lines[0].iter().zip(&lines[1]).zip(&SPRINGS) {
        drawn.found.note(format!("smaller.{k}"), light.1 / heavy.1);
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 280.0, ..Figure::default() },
        "Every mark is a run, classified by criterion (35) with e = 20; its tolerance was made ten times smaller until the class stayed the same. Grey marks \
         change class down to 1e-7: their amplitude is the threshold. (i) to (iii) are the runs of Fig 10, (A) and (B) the regions of creep and of inertia. The solid line is the smallest critical speed, found \
         by bisection; the dashed line is where the pull of the spring grows as fast as friction at rest recovers."
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

/// Recovery of friction at rest, after a slide so fast that it has fallen to its kinetic level: coefficients over time.
fn recovering(bench: &mut Bench, exponent: f64, creep: f64) -> Result<(Vec<f64>, Vec<f64>), String> {
    let sets = [
        set("bodies.pin.velocity.expr", format!("if(t < 10, 10, {creep})")),
        set("elements.plate.eta_exponent", exponent),
        set("simulation.duration", 1010),
        set("simulation.step", "1 s"),
        set("simulation.max_step", "1 s"),
    ];
    let run = bench.late("fig003-4", &sets, 10.0)?;
    let times = run.times().iter().map(|t| t - run.times()[0]).collect();
    Ok((times, run.column("plate.mu")?.to_vec()))
}

/// Fig 11: the criterion of eq 37, and what the exponent of recovery does.
pub fn criterion(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut sketch = Panel {
        title: "friction at rest and pull of the spring".into(),
        x_range: Some((0.0, 600.0)),
        y_range: Some((0.18, 0.42)),
        ..Panel::new("time at rest (s)", "force over the normal force")
    };
    let (times, mu) = recovering(bench, 1.0, 0.0)?;
    // K v/F with K = 10 N/mm and F = 100 N: as fast as friction recovers at first with 0.01 mm/s.
    for (label, v, color) in [
        ("(a) pull, 0.02 mm/s", 0.02, GREEN),
        ("(b) pull, 0.003 mm/s", 0.003, ORANGE),
    ] {
        let until = 0.2 / (0.1 * v);
        let line = Series::line(label, vec![0.0, until], vec![mu[0], mu[0] + 0.2]);
        sketch = sketch.with(line.style(Style::Solid).color(color));
    }
    sketch = sketch.with(
        Series::line("friction, $n$ = 1", times.clone(), mu.clone())
            .style(Style::Solid)
            .color(BLUE),
    );
    let (t, slow) = recovering(bench, 2.0, 0.0)?;
    sketch = sketch.with(
        Series::line("$n$ = 2", t, slow.clone())
            .style(Style::Dashed)
            .color(BLUE),
    );
    let (t, slipping) = recovering(bench, 1.0, 1e-4)?;
    sketch = sketch.with(
        Series::line("$n$ = 1, creeping", t, slipping.clone())
            .style(Style::Dotted)
            .color(BLUE),
    );
    drawn.found.note("recovery", (mu[200] - recovered(mu[0], 200.0)).abs());
    drawn.found.note("recovery2", slow[200] - mu[200]);
    drawn.found.note("creeping", slipping[200] - mu[200]);

    let mut amplitudes = Panel {
        title: "stick-slip for other exponents".into(),
        y_scale: Scale::Log,
        references: vec![Reference::horizontal(THRESHOLD, "criterion (35)")],
        ..Panel::new("exponent of recovery $n$", "amplitude of $f_t/f_n$")
    };
    let exponents = [0.5, 1.0, 2.0, 3.0];
    let speeds = [("1e-3", 1e-3, BLUE), ("1e-2", 1e-2, ORANGE)];
    for (name, v, color) in speeds {
        let lists: Vec<Vec<String>> = exponents
            .iter()
            .map(|n| {
                vec![
                    set("elements.floor.eta_exponent", n),
                    set("bodies.hook.velocity", format!("{v} mm/s")),
                    set("simulation.duration", 14.0 / v + 2000.0),
                    set("analysis.stick_slip.from", 7.6 / v + 1000.0),
                    // Below 1 the recovery ends with a corner.
                    set("simulation.relative_tolerance", if *n < 1.0 { "1e-7" } else { "1e-6" }),
                    set("simulation.max_step", "2 s"),
                ]
            })
            .collect();
        let mut found = Vec::new();
        for (n, run) in exponents.iter().zip(bench.several("fig003-9", &lists)?) {
            let amplitude = run.cycle()?.amplitude;
            drawn.found.note(format!("n{n}.{name}"), amplitude);
            found.push(amplitude);
        }
        drawn.found.note(format!("grows.{name}"), found[3] / found[1]);
        let series = Series::line(format!("{v} mm/s"), exponents.to_vec(), found).style(Style::Marked);
        amplitudes = amplitudes.with(series.color(color));
    }
    drawn.pictures.push((
        Figure { columns: 2, panels: vec![sketch, amplitudes], width: 330.0, height: 240.0, share_x: false, ..Figure::default() },
        "Left: (a) the spring pulls harder faster than friction recovers, and the block slides on; (b) friction is ahead until the spring catches up, and the \
         block sticks. A larger exponent $n$ makes the recovery slower, and so does creep at 0.0001 mm/s. Right: amplitude of stick-slip with a spring of 10 N/mm."
            .into(),
    ));
    Ok(drawn)
}

/// Fig 12: the pull of the spring against the recovery of friction, with the block.
pub fn pull_and_recovery(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panels = Vec::new();
    // Speed in mm/s, end of the run, spacing of rows.
    for (id, v, end, step) in [("slow", 1e-4, 142_000.0, 20.0), ("fast", 0.02, 4000.0, 0.5)] {
        let sets = [
            set("bodies.hook.velocity", format!("{v} mm/s")),
            set("simulation.duration", end),
            set("simulation.step", format!("{step} s")),
            set("simulation.max_step", "2 s"),
            set("simulation.relative_tolerance", "1e-5"),
            set("analysis.stick_slip.from", if id == "slow" { 77_000.0 } else { 2000.0 }),
        ];
        let run = bench.variant("fig003-5", &sets, 1)?;
        let cycle = run.cycle()?;
        drawn.found.note(format!("{id}.amplitude"), cycle.amplitude);
        drawn
            .found
            .note(format!("{id}.drive"), cycle.drive_rate.unwrap_or(f64::NAN));
        drawn
            .found
            .note(format!("{id}.recovery"), cycle.recovery_rate.unwrap_or(f64::NAN));
        if id == "slow" {
            drawn.found.note("slow.period", cycle.period.unwrap_or(f64::NAN));
        }
        let (times, mu) = (run.times(), run.column("floor.mu")?);
        let pull = scaled(run.column("spring.force")?, -0.01);
        // From the first slip after the run has settled, where the coefficient is lowest, over a cycle and a little more.
        let settled = times.iter().position(|t| *t >= 0.3 * end).unwrap_or(0);
        let window = if id == "slow" { 30_000.0 } else { 600.0 };
        let until = times.iter().take_while(|t| **t <= 0.3 * end + window).count();
        let start = (settled..until)
            .min_by(|a, b| mu[*a].total_cmp(&mu[*b]))
            .unwrap_or(settled);
        let rows = start..times.iter().take_while(|t| **t <= times[start] + window).count();
        let t: Vec<f64> = times[rows.clone()].iter().map(|t| t - times[start]).collect();
        if id == "slow" {
            // Friction is ahead at once: it has recovered half-way long before the spring has moved on by a tenth.
            let after = (rows.start..rows.end).find(|&i| mu[i] >= 0.3).unwrap_or(rows.start);
            drawn.found.note("slow.half", times[after] - times[start]);
            drawn.found.note("slow.pulled", pull[after] - pull[start]);
        }
        panels.push(Panel {
            title: format!("{v} mm/s"),
            y_range: Some((0.0, 0.45)),
            ..Panel::new("time after a slip (s)", "force over the normal force")
                .with(
                    Series::line("friction $μ$", t.clone(), mu[rows.clone()].to_vec())
                        .style(Style::Solid)
                        .color(BLUE),
                )
                .with(
                    Series::line("pull of the spring", t, pull[rows].to_vec())
                        .style(Style::Dashed)
                        .color(ORANGE),
                )
        });
    }
    drawn.pictures.push((
        Figure { columns: 2, panels, width: 330.0, height: 220.0, share_x: false, ..Figure::default() },
        "The drawn block with a spring of 10 N/mm. Left, at 0.0001 mm/s: friction recovers in minutes, the spring needs hours to catch up; then the block slips. \
         Right, at 0.02 mm/s: the spring is always as far as friction, and the block slides."
            .into(),
    ));
    Ok(drawn)
}

/// Section 3: Newmark's method with two values of beta.
pub fn newmark(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panel = Panel::new("time (s)", "displacement (mm)");
    let betas = [("quarter", "$β$ = 1/4", 0.25), ("sixth", "$β$ = 1/6", 1.0 / 6.0)];
    for (index, (id, label, beta)) in betas.into_iter().enumerate() {
        let sets = [
            set("simulation.integrator", "newmark"),
            set("simulation.newmark.beta", beta),
            set("simulation.newmark.gamma", 0.5),
            set("simulation.step", "20 ms"),
            set("elements.floor.contact_time", 0),
        ];
        let run = bench.variant("fig003-5", &sets, 100)?;
        let cycle = run.cycle()?;
        drawn.found.note(format!("{id}.amplitude"), cycle.amplitude);
        drawn
            .found
            .note(format!("{id}.period"), cycle.period.unwrap_or(f64::NAN));
        let x = scaled(run.column("block.position")?, 1e3);
        let style = [Style::Solid, Style::Dashed][index];
        panel = panel.with(
            Series::line(label, run.times().to_vec(), x)
                .style(style)
                .color(COLORS[index]),
        );
    }
    let of = |found: &super::Found, id: &str| found.get(&format!("{id}.amplitude"));
    let apart = (of(&drawn.found, "sixth") / of(&drawn.found, "quarter") - 1.0).abs();
    drawn.found.note("apart", 100.0 * apart);
    drawn.pictures.push((
        Figure {
            width: 440.0,
            height: 220.0,
            ..Figure::from(panel)
        },
        "The block of Fig 5 by the paper's own method with a step of 0.02 s, for two values of β; the curves coincide."
            .into(),
    ));
    Ok(drawn)
}

/// Section 1: slip accumulates under a load that never reaches the limit.
pub fn cyclic(bench: &mut Bench) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();
    let mut panel = Panel::new("displacement (μm)", "load (N)");
    // Amplitude of the load over the limit of 40 N.
    for (index, part) in [0.5, 0.7, 0.9].into_iter().enumerate() {
        let sets = [set(
            "bodies.block.force.expr",
            format!("{}*(1 - cos(2*pi*t/10))", 20.0 * part),
        )];
        let run = bench.variant("fig003-cyclic", &sets, 1)?;
        drawn
            .found
            .note(format!("cycle{part}"), 1e2 * run.last("block.position")?);
        let x = scaled(run.column("block.position")?, 1e6);
        let load = run
            .times()
            .iter()
            .map(|t| 20.0 * part * (1.0 - libm::cos(0.2 * std::f64::consts::PI * t)))
            .collect();
        let label = format!("{:.0} % of the limit", 100.0 * part);
        panel = panel.with(Series::line(label, x, load).style(Style::Solid).color(COLORS[index]));
    }
    panel.references.push(Reference::horizontal(40.0, "limit of friction"));
    drawn.pictures.push((
        Figure {
            width: 440.0,
            height: 220.0,
            ..Figure::from(panel)
        },
        "Ten cycles of a load that stays below the limit: every one of them moves the block on by the same small slip."
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
    let free = [("10", "0.0002"), ("10", "0.005"), ("0.1", "0.002")];
    let damped = [
        ("10", "0.002"),
        ("10", "0.0002"),
        ("10", "0.02"),
        ("1", "0.002"),
        ("0.1", "0.002"),
    ];
    let contact_time = vec![set("elements.floor.contact_time", "2 ms")];
    for (id, contact, cases) in [("", undamped(), &free[..]), ("damped", contact_time, &damped[..])] {
        for &case in cases {
            let mut sets = rates(case);
            sets.extend(contact.iter().cloned());
            measured.push((format!("{id}{}.{}", case.0, case.1), elastic(&sets)));
        }
    }
    let sets: Vec<Vec<String>> = measured.iter().map(|(_, sets)| sets.clone()).collect();
    for ((id, _), run) in measured.iter().zip(bench.several("fig003-5", &sets)?) {
        let cycle = run.cycle()?;
        drawn.found.note(format!("{id}.amplitude"), cycle.amplitude);
        if cycle.amplitude > THRESHOLD {
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
