//! The picture of a map: cells by class, unstable ones shaded by amplitude, with the boundary.

use super::{Cell, Point};
use stickslip::sweep::{Axis, Spacing, Sweep};
use stickslip_plot::{Cells, Class, Color, ColorBar, Figure, Panel, Scale, Series, Style};
use stickslip_study::panels::with_unit;

const STABLE: Color = Color(198, 219, 239);
/// Stick-slip by creep, weak and strong.
const CREEP: [Color; 2] = [Color(254, 224, 194), Color(166, 54, 3)];
/// Stick-slip by inertia, weak and strong.
const INERTIAL: [Color; 2] = [Color(218, 188, 228), Color(106, 27, 134)];
const FAILED: Color = Color(190, 190, 190);
/// Not stable, but no whole cycle was seen: hatched.
const UNFINISHED: Color = Color(240, 240, 240);
const STABLE_DOT: Color = Color(0, 114, 178);
const UNSTABLE_DOT: Color = Color(213, 94, 0);
/// Colours of the scale.
const SHADES: u8 = 64;

fn shade([weak, strong]: [Color; 2], part: f64) -> Color {
    Color::mix(weak, strong, part)
}

/// The figure of a grid, or of a boundary with the runs that found it. Axes are in SI units; `amplitude` says what it is the
/// amplitude of.
pub fn figure(title: String, sweep: &Sweep, cells: &[Cell], points: &[Point], amplitude: Option<String>) -> Figure {
    let axes = sweep.axes();
    let label = |axis: &Axis| with_unit(sweep, axis).replace('$', "");
    let mut panel = Panel::new(label(&axes[0]), label(&axes[1]));
    (panel.x_scale, panel.y_scale) = (scale(&axes[0]), scale(&axes[1]));
    match amplitude {
        Some(amplitude) => fill(&mut panel, axes, cells, &amplitude),
        None => panel = runs(panel, cells, points),
    }
    Figure {
        title,
        width: 420.0,
        height: 300.0,
        ..Figure::from(panel)
    }
}

fn scale(axis: &Axis) -> Scale {
    match axis.range() {
        Some((_, Spacing::Log)) => Scale::Log,
        _ => Scale::Linear,
    }
}

/// The values of an axis in SI, in order of size.
fn values(axis: &Axis) -> Vec<f64> {
    let mut values: Vec<f64> = (0..axis.count()).filter_map(|i| axis.value(i).number).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Edges half way between neighbours, as the scale measures it, and as far beyond the ends, but not beyond 0: what is positive by its nature,
/// such as a stiffness, has no other sign at the edge of a cell.
fn edges(values: &[f64], scale: Scale) -> Vec<f64> {
    let measure = |value: f64| if scale == Scale::Log { libm::log10(value) } else { value };
    let back = |value: f64| if scale == Scale::Log { libm::exp10(value) } else { value };
    let places: Vec<f64> = values.iter().map(|value| measure(*value)).collect();
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return Vec::new();
    };
    let half = |pair: Option<&[f64]>| pair.map_or(0.5, |pair| 0.5 * (pair[1] - pair[0]));
    let mut edges = vec![first - half(places.windows(2).next())];
    edges.extend(places.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])));
    edges.push(last + half(places.windows(2).last()));
    if scale == Scale::Linear {
        let end = edges.len() - 1;
        if first >= 0.0 {
            edges[0] = edges[0].max(0.0);
        }
        if last <= 0.0 {
            edges[end] = edges[end].min(0.0);
        }
    }
    edges.into_iter().map(back).collect()
}

/// Cells in colour and the edges between classes.
fn fill(panel: &mut Panel, axes: &[Axis], cells: &[Cell], amplitude: &str) {
    let (xs, ys) = (values(&axes[0]), values(&axes[1]));
    let (x, y) = (edges(&xs, panel.x_scale), edges(&ys, panel.y_scale));
    let swings = |cell: &&Cell| cell.stable == Some(false) && cell.cycles;
    let largest = (cells.iter().filter(swings))
        .filter_map(|cell| cell.amplitude)
        .fold(0.0, f64::max);
    let mut classes = vec![None; xs.len() * ys.len()];
    let mut colors = vec![None; xs.len() * ys.len()];
    let mut hatched = vec![false; xs.len() * ys.len()];
    for cell in cells {
        let place = |values: &[f64], value: f64| values.iter().position(|other| *other == value);
        let (Some(i), Some(j)) = (place(&xs, cell.x), place(&ys, cell.y)) else {
            continue;
        };
        classes[i * ys.len() + j] = cell.stable;
        hatched[i * ys.len() + j] = cell.stable == Some(false) && !cell.cycles;
        colors[i * ys.len() + j] = Some(match cell.stable {
            Some(true) => STABLE,
            Some(false) if !cell.cycles => UNFINISHED,
            Some(false) => {
                let colors = if cell.inertial { INERTIAL } else { CREEP };
                shade(colors, cell.amplitude.unwrap_or(0.0) / largest.max(f64::MIN_POSITIVE))
            }
            None => FAILED,
        });
    }
    let class = |i: usize, j: usize| classes[i * ys.len() + j];
    let differ = |a: Option<bool>, b: Option<bool>| matches!((a, b), (Some(a), Some(b)) if a != b);
    let (mut line_x, mut line_y) = (Vec::new(), Vec::new());
    let mut segment = |from: (f64, f64), to: (f64, f64)| {
        line_x.extend([from.0, to.0, f64::NAN]);
        line_y.extend([from.1, to.1, f64::NAN]);
    };
    for i in 0..xs.len() {
        for j in 0..ys.len() {
            if j + 1 < ys.len() && differ(class(i, j), class(i, j + 1)) {
                segment((x[i], y[j + 1]), (x[i + 1], y[j + 1]));
            }
            if i + 1 < xs.len() && differ(class(i, j), class(i + 1, j)) {
                segment((x[i + 1], y[j]), (x[i + 1], y[j + 1]));
            }
        }
    }
    if !line_x.is_empty() {
        let line = Series::line("boundary", line_x, line_y).style(Style::Solid);
        panel.series.push(line.color(Color::BLACK));
    }
    let class = |color: Color, name: &str| Class {
        color,
        hatched: color == UNFINISHED,
        name: name.to_string(),
    };
    let mut named = vec![class(STABLE, "stable")];
    let mut scales = Vec::new();
    let creeps = cells.iter().any(|cell| cell.creeps);
    let others = if creeps { "by creep" } else { "stick-slip" };
    for (inertial, colors, name) in [(false, CREEP, others), (true, INERTIAL, "by inertia")] {
        if cells.iter().filter(swings).any(|cell| cell.inertial == inertial) {
            scales.push(
                (0..SHADES)
                    .map(|i| shade(colors, f64::from(i) / f64::from(SHADES - 1)))
                    .collect(),
            );
            named.push(class(shade(colors, 0.6), name));
        }
    }
    if hatched.contains(&true) {
        named.push(class(UNFINISHED, "no whole cycle"));
    }
    if cells.iter().any(|cell| cell.stable.is_none()) {
        named.push(class(FAILED, "failed"));
    }
    panel.bar = Some(ColorBar {
        label: amplitude.replace('$', ""),
        range: (0.0, if largest > 0.0 { largest } else { 1.0 }),
        scales,
        classes: named,
    });
    panel.cells = Some(Cells { x, y, colors, hatched });
}

/// The runs as points of their class, and the boundary as a line.
fn runs(mut panel: Panel, cells: &[Cell], points: &[Point]) -> Panel {
    let (x, y) = points.iter().map(|point| (point.x, point.y)).unzip();
    panel = panel.with(Series::line("boundary", x, y).style(Style::Solid).color(Color::BLACK));
    for (class, name, color) in [
        (Some(true), "stable", STABLE_DOT),
        (Some(false), "stick-slip", UNSTABLE_DOT),
        (None, "failed", FAILED),
    ] {
        let of_class = || cells.iter().filter(|cell| cell.stable == class);
        if of_class().next().is_some() {
            let (x, y) = of_class().map(|cell| (cell.x, cell.y)).unzip();
            panel = panel.with(Series::line(name, x, y).style(Style::Points).color(color));
        }
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_end_half_way_to_a_neighbour_and_at_nothing() {
        assert_eq!(
            edges(&[300.0, 1300.0, 2300.0], Scale::Linear),
            [0.0, 800.0, 1800.0, 2800.0]
        );
        assert_eq!(edges(&[-5.0, -1.0], Scale::Linear), [-7.0, -3.0, 0.0]);
        assert_eq!(edges(&[0.0, 2.0], Scale::Linear), [0.0, 1.0, 3.0]);
        // Across 0, and far from it, a cell is as wide as its neighbours.
        assert_eq!(edges(&[-1.0, 3.0], Scale::Linear), [-3.0, 1.0, 5.0]);
        assert_eq!(edges(&[10.0, 12.0], Scale::Linear), [9.0, 11.0, 13.0]);
        // On a log scale by ratios.
        let found = edges(&[0.01, 1.0], Scale::Log);
        for (edge, expected) in found.iter().zip([1e-3, 0.1, 10.0]) {
            assert!((edge / expected - 1.0).abs() < 1e-12, "{found:?}");
        }
    }
}
