//! Results for people: text, a scenario, pictures.

use crate::picture::{self, Curve, TIME};
use crate::text::{list, number, table};
use stickslip::analysis::cycles::{CycleReport, Level, Window};
use stickslip::analysis::subloading::{Described, Identified, Parameter, Test};
use stickslip_plot::{Color, Figure, Panel, Series, Style};
use stickslip_study::analyse::{in_unit, two_digits, word};

/// Most records that are drawn.
const MOST_PANELS: usize = 12;

/// A value rounded where its error makes further digits meaningless.
fn rounded(value: f64, error: f64) -> String {
    let digits = |x: f64| libm::floor(libm::log10(x.abs())) as i32;
    if error.is_nan() || error <= 0.0 || value == 0.0 {
        return number(value);
    }
    // Two digits of the error, and no more than anybody reads.
    let significant = (digits(value) - digits(error) + 2).clamp(1, 9) as usize;
    let text = format!("{value:.*e}", significant - 1);
    let exact: f64 = text.parse().unwrap_or(value);
    let decimals = (significant as i32 - 1 - digits(exact)).max(0) as usize;
    if (1e-4..1e7).contains(&exact.abs()) {
        format!("{exact:.decimals$}")
    } else {
        text
    }
}

fn with_error(value: f64, error: f64) -> String {
    if error > 0.0 {
        format!("{} ± {}", rounded(value, error), two_digits(error))
    } else {
        number(value)
    }
}

/// The cycles as text.
/// `behind` is how many cycles there are where a straight line is taken off first.
pub fn cycles_text(report: &CycleReport, file: &str, unit: &str, behind: usize) -> String {
    let mut out = format!(
        "{} of {file}: {} rows, noise {}\n\n",
        report.signal,
        report.rows,
        in_unit(number_of(report.noise), unit)
    );
    if report.cycles == 0 {
        let why = match report.peaks.len() {
            0 => "the signal does not swing to and fro by more than its noise",
            _ => "there are fewer than two whole swings",
        };
        out += &format!(
            "No cycles: {why}.\nMean {}, from {} to {}\n",
            in_unit(number(report.mean), unit),
            number(report.min),
            in_unit(number(report.max), unit)
        );
        if behind > 0 {
            out +=
                &format!("It drifts: --detrend takes a straight line off first, and then there are {behind} cycles.\n");
        }
        return out;
    }
    let level = |level: &Level| {
        vec![
            in_unit(with_error(level.mean, level.error), unit),
            format!("spread {}", two_digits(level.spread)),
        ]
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, cells: Vec<String>| rows.push([vec![name.to_string()], cells].concat());
    if let Some(swing) = &report.swing {
        row("amplitude", level(swing));
    }
    if let Some(period) = report.period {
        let range = format!(
            "from {} to {}",
            number_of(report.period_min.unwrap_or(period)),
            number_of(report.period_max.unwrap_or(period))
        );
        row(
            "period",
            vec![
                format!("{} s", with_error(period, report.period_error.unwrap_or(0.0))),
                range,
            ],
        );
    }
    row("cycles", vec![report.cycles.to_string()]);
    if let Some(peak) = &report.static_peak {
        row("static peak", level(peak));
    }
    match &report.kinetic_plateau {
        Some(plateau) => {
            let mut cells = level(plateau);
            cells[1] += &format!(", {} of {} cycles", report.plateaus.len(), report.peaks.len());
            row("kinetic plateau", cells)
        }
        None => row(
            "kinetic plateau",
            vec!["none: no flat stretch behind the peaks".to_string()],
        ),
    }
    if let Some(valley) = &report.valley {
        row("valley", level(valley));
    }
    if let (Some(middle), None) = (&report.middle, &report.kinetic_plateau) {
        let mut cells = level(middle);
        cells[1] += "; the force of a spring swings about the kinetic friction";
        row("middle", cells);
    }
    if let Some(share) = report.rise_share {
        row("rising", vec![format!("{:.0} % of the time", 100.0 * share)]);
    }
    if let Some(trend) = report.trend {
        row("trend taken off", vec![in_unit(number(trend), &format!("{unit}/s"))]);
    }
    out += &list(&rows, "  ");
    if report.stable {
        out += "\nThe amplitude is below 1 % of the largest magnitude: sliding counts as stable.\n";
    }
    out
}

fn number_of(value: f64) -> String {
    let exact: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    number(exact)
}

/// The signal with its peaks and plateaus.
pub fn cycles_figure(report: &CycleReport, times: &[f64], values: &[f64], window: Window, unit: &str) -> Figure {
    let inside = |t: f64| window.from.is_none_or(|from| t >= from) && window.until.is_none_or(|until| t <= until);
    let mut curve = Curve::new(times.len() as u64);
    let middle = 0.5 * (times[0] + times[times.len() - 1]);
    for (t, y) in times.iter().zip(values).filter(|(t, _)| inside(**t)) {
        curve.push(*t, y - report.trend.unwrap_or(0.0) * (t - middle));
    }
    let name = if unit.is_empty() {
        report.signal.replace('$', "")
    } else {
        format!("{} ({unit})", report.signal.replace('$', ""))
    };
    let mut panel =
        Panel::new(TIME, name).with(curve.series("measured").style(Style::Solid).color(Color(150, 170, 190)));
    let (x, y): (Vec<f64>, Vec<f64>) = report.peaks.iter().map(|peak| (peak.t, peak.value)).unzip();
    panel = panel.with(
        Series::line("static peak", x, y)
            .style(Style::Points)
            .color(Color::PALETTE[1]),
    );
    let (x, y): (Vec<f64>, Vec<f64>) = report.valleys.iter().map(|peak| (peak.t, peak.value)).unzip();
    panel = panel.with(
        Series::line("valley", x, y)
            .style(Style::Points)
            .color(Color::PALETTE[2]),
    );
    if !report.plateaus.is_empty() {
        // A gap between two of them.
        let ends = report.plateaus.iter();
        let (x, y): (Vec<f64>, Vec<f64>) = ends
            .flat_map(|p| [(p.from, p.value), (p.until, p.value), (p.until, f64::NAN)])
            .unzip();
        panel = panel.with(
            Series::line("kinetic plateau", x, y)
                .style(Style::Solid)
                .color(Color::BLACK),
        );
    }
    picture::figure(String::new(), vec![panel])
}

/// The value of a parameter with its error and unit.
fn value(parameter: &Parameter) -> String {
    match (parameter.value, parameter.error) {
        (Some(value), Some(error)) => in_unit(with_error(value, error), parameter.unit),
        (Some(value), None) => in_unit(number(value), parameter.unit),
        (None, _) => "-".to_string(),
    }
}

/// The parameters as text.
pub fn identified_text(found: &Identified) -> String {
    let count = found.records.len();
    let mut out = format!(
        "subloading from {count} record{}, normal force {} N\n\n",
        if count == 1 { "" } else { "s" },
        number(found.normal_force)
    );
    let rows: Vec<Vec<String>> = (found.parameters.iter())
        .map(|p| {
            let range = match (p.low, p.high, p.error) {
                (Some(low), Some(high), Some(error)) => {
                    format!("95 %: {} to {}", rounded(low, error), rounded(high, error))
                }
                _ => String::new(),
            };
            vec![p.key.to_string(), value(p), range, word(p.identifiable).to_string()]
        })
        .collect();
    out += &list(&rows, "  ");
    out += "\nHow each was found\n";
    for parameter in &found.parameters {
        let read = parameter.reading.filter(|_| parameter.error.is_some());
        let read = read.map_or(String::new(), |value| {
            format!(" (the reading alone: {})", in_unit(number_of(value), parameter.unit))
        });
        let sources: Vec<String> = (parameter.records.iter())
            .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
            .collect();
        let sources = if sources.is_empty() {
            String::new()
        } else {
            format!("; told by {}", sources.join(", "))
        };
        out += &format!("  {}: {}{read}{sources}\n", parameter.key, parameter.how);
    }
    out += "\nRecords\n";
    let cell = |x: Option<f64>, unit: &str| x.map_or("-".to_string(), |x| format!("{} {unit}", number_of(x)));
    let mut rows = vec![
        ["record", "test", "rows", "speed", "hold", "residual", "of its force"]
            .map(String::from)
            .to_vec(),
    ];
    for Described {
        name,
        test,
        rows: count,
        speed,
        hold,
        residual,
        residual_share,
        ..
    } in &found.records
    {
        rows.push(vec![
            name.clone(),
            test.name().to_string(),
            count.to_string(),
            cell(*speed, "m/s"),
            cell(*hold, "s"),
            format!("{} N", number_of(*residual)),
            format!("{:.1} %", 100.0 * residual_share),
        ]);
    }
    out + &table(&rows, "  ")
}

/// Measured and computed friction of each record.
pub fn identified_figure(found: &Identified) -> Figure {
    let records = found.records.iter().take(MOST_PANELS);
    let panels: Vec<Panel> = records
        .map(|record| {
            let curve = &record.curve;
            // Over displacement, or over the way there and back: over time a long rest would hide the slides.
            let forward = curve.displacement.windows(2).all(|x| x[1] >= x[0]);
            let (label, x): (&str, Vec<f64>) = if forward || record.test == Test::Cyclic {
                (
                    "displacement (mm)",
                    curve.displacement.iter().map(|x| 1e3 * x).collect(),
                )
            } else {
                let steps = curve.displacement.windows(2).map(|x| 1e3 * (x[1] - x[0]).abs());
                let way = steps.scan(0.0, |way, step| {
                    *way += step;
                    Some(*way)
                });
                ("way there and back (mm)", std::iter::once(0.0).chain(way).collect())
            };
            Panel {
                title: record.name.replace('$', ""),
                ..Panel::new(label, "friction / normal force")
            }
            .with(
                Series::line("measured", x.clone(), curve.measured.clone())
                    .style(Style::Points)
                    .color(Color(150, 170, 190)),
            )
            .with(
                Series::line("law", x, curve.computed.clone())
                    .style(Style::Solid)
                    .color(Color::PALETTE[1]),
            )
        })
        .collect();
    Figure {
        columns: if panels.len() > 1 { 3.min(panels.len()) } else { 1 },
        width: 260.0,
        height: 170.0,
        share_x: false,
        panels,
        ..Figure::default()
    }
}
