//! The layout: from a figure to a scene.

use crate::decimate::{Cover, clip, columns, sampled, straighten};
use crate::scene::{Anchor, Mark, Point, Rect, Scene};
use crate::text::{runs, unstyled, width, wrap};
use crate::ticks::{self, Ticks};
use crate::{Cells, Color, ColorBar, Direction, Figure, Legend, Panel, Reference, Scale, Series, Style};

const TICK_SIZE: f64 = 10.5;
const LABEL_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 12.5;
const FIGURE_TITLE_SIZE: f64 = 14.0;
const LEGEND_SIZE: f64 = 11.0;
const LEGEND_ROW: f64 = 15.0;
const LEGEND_SAMPLE: f64 = 26.0;
const LEGEND_PADDING: f64 = 6.0;

/// Height of a line of text relative to its size.
const LINE: f64 = 1.3;
/// Height of digits and capitals relative to their size.
const CAPITALS: f64 = 0.72;
const TICK_LENGTH: f64 = 4.0;
const MARGIN: f64 = 8.0;
const GAP: f64 = 9.0;
const LINE_WIDTH: f64 = 1.3;
const FRAME: Color = Color(40, 40, 40);
const GRID: Color = Color(230, 230, 230);
const REFERENCE: Color = Color(100, 100, 100);
const LEGEND_FRAME: Color = Color(205, 205, 205);

/// Dash patterns in the order in which lines take them.
const DASHES: [&[f64]; 6] = [
    &[],
    &[7.0, 2.5],
    &[6.0, 2.0, 1.3, 2.0],
    &[1.5, 1.7],
    &[11.0, 2.5],
    &[6.0, 1.8, 1.3, 1.8, 1.3, 1.8],
];

/// Sizes of panels outside this range are taken as its ends.
const PANEL_SIZES: (f64, f64) = (20.0, 4000.0);
/// Values beyond are not drawn: differences of them could overflow.
const LARGEST_VALUE: f64 = 1e300;
/// Points of one path above which what was drawn before is left out.
const MANY_POINTS: usize = 6000;

/// A range on an axis: values, or their decadic logarithms on a log axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    scale: Scale,
    lo: f64,
    hi: f64,
}

/// The value as the axis measures it, NaN if it cannot be shown.
fn measured(scale: Scale, value: f64) -> f64 {
    match scale {
        _ if value.is_nan() || value.abs() > LARGEST_VALUE => f64::NAN,
        Scale::Linear => value,
        Scale::Log if value >= 1.0 / LARGEST_VALUE => libm::log10(value),
        Scale::Log => f64::NAN,
    }
}

impl Axis {
    /// The given range, or one that holds the values with a margin relative to their spread.
    fn new(scale: Scale, given: Option<(f64, f64)>, values: impl Iterator<Item = f64>, margin: f64) -> Self {
        let given = given
            .filter(|(a, b)| a.is_finite() && b.is_finite())
            .map(|(a, b)| (measured(scale, a.min(b)), measured(scale, a.max(b))))
            .filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
        let (mut lo, mut hi) = given.unwrap_or_else(|| {
            values
                .map(|v| measured(scale, v))
                .filter(|v| v.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)))
        });
        if lo > hi {
            // No data at all.
            (lo, hi) = (0.0, 1.0);
        } else if hi - lo <= 1e-11 * lo.abs().max(hi.abs()) || hi - lo < 1.0 / LARGEST_VALUE {
            // A constant, up to rounding, lies in the middle.
            let middle = lo + (hi - lo) / 2.0;
            let half = match scale {
                Scale::Log => 0.5,
                Scale::Linear if middle.abs() < 1.0 / LARGEST_VALUE => 1.0,
                Scale::Linear => middle.abs() / 10.0,
            };
            (lo, hi) = (middle - half, middle + half);
        } else if given.is_none() {
            let pad = (hi - lo) * margin;
            (lo, hi) = (lo - pad, hi + pad);
        }
        Self { scale, lo, hi }
    }

    /// Place along the axis, 0 to 1 within the range.
    fn fraction(&self, value: f64) -> f64 {
        self.fraction_of_measure(measured(self.scale, value))
    }

    fn fraction_of_measure(&self, measure: f64) -> f64 {
        // Far outside, the distance does not matter, but it must stay a number of pixels.
        ((measure - self.lo) / (self.hi - self.lo)).clamp(-1e6, 1e6)
    }

    fn ticks(&self, wanted: usize) -> Ticks {
        match self.scale {
            Scale::Linear => ticks::linear(self.lo, self.hi, wanted),
            Scale::Log => ticks::log(self.lo, self.hi, wanted),
        }
    }
}

/// One panel with everything in its place relative to the upper left corner of its axes.
struct Axes<'a> {
    panel: &'a Panel,
    x_ticks: Ticks,
    y_ticks: Ticks,
    /// Along the axes: (position in pixels, label).
    x_marks: Vec<(f64, String)>,
    y_marks: Vec<(f64, String)>,
    x_minor: Vec<f64>,
    y_minor: Vec<f64>,
    inside: Vec<Mark>,
    legend: Placed,
    y_label: Vec<String>,
    shows_x: bool,
}

/// Where the legend of a panel went.
enum Placed {
    Nowhere,
    Inside(Rect),
    Beside(Rect),
    /// Above the axes, with this height.
    Above(f64),
}

/// Whether panels have this x axis in common.
fn same_x(a: &Panel, b: &Panel) -> bool {
    a.x_label == b.x_label && a.x_scale == b.x_scale
}

fn x_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let references = panel
        .references
        .iter()
        .filter(|r| r.direction == Direction::Vertical)
        .map(|r| r.value);
    let shown = |(x, y): (&f64, &f64)| y.is_finite().then_some(*x);
    let data = panel
        .series
        .iter()
        .flat_map(move |s| s.x.iter().zip(&s.y).filter_map(shown));
    data.chain(references)
        .chain(panel.cells.iter().flat_map(|cells| cells.x.iter().copied()))
}

fn y_values(panel: &Panel, x_range: Option<(f64, f64)>) -> impl Iterator<Item = f64> + '_ {
    let (lo, hi) = x_range.map_or((f64::NEG_INFINITY, f64::INFINITY), |(a, b)| (a.min(b), a.max(b)));
    let references = panel
        .references
        .iter()
        .filter(|r| r.direction == Direction::Horizontal)
        .map(|r| r.value);
    let shown = move |(x, y): (&f64, &f64)| (*x >= lo && *x <= hi).then_some(*y);
    let data = panel
        .series
        .iter()
        .flat_map(move |s| s.x.iter().zip(&s.y).filter_map(shown));
    data.chain(references)
        .chain(panel.cells.iter().flat_map(|cells| cells.y.iter().copied()))
}

fn has_markers(panel: &Panel) -> bool {
    panel
        .series
        .iter()
        .any(|s| matches!(s.style, Style::Points | Style::Marked))
}

/// Whether a curve does not run from left to right only, as an orbit does.
fn turns_back(panel: &Panel) -> bool {
    let back = |s: &Series| s.x.windows(2).any(|pair| pair[1] < pair[0]);
    panel.series.iter().any(back)
}

fn sane_size(size: f64) -> f64 {
    if size.is_nan() {
        PANEL_SIZES.0
    } else {
        size.clamp(PANEL_SIZES.0, PANEL_SIZES.1)
    }
}

/// The size at which a text is at most `room` wide, but not illegibly small.
fn fitting_size(text: &str, size: f64, room: f64) -> f64 {
    size * (room / width(text, size).max(1e-9)).clamp(0.65, 1.0)
}

impl<'a> Axes<'a> {
    fn new(figure: &'a Figure, index: usize, size: Point, common_legend: bool) -> Self {
        let panel = &figure.panels[index];
        let columns = figure.columns.max(1);
        let shared: Vec<&Panel> = figure
            .panels
            .iter()
            .skip(index % columns)
            .step_by(columns)
            .filter(|other| std::ptr::eq(*other, panel) || (figure.share_x && same_x(other, panel)))
            .collect();
        let range = panel.x_range.or_else(|| shared.iter().find_map(|p| p.x_range));
        // Graphs may run from border to border; markers and closed curves should not touch it.
        let mapped = shared.iter().any(|p| p.cells.is_some());
        let x_margin = if !mapped && shared.iter().any(|p| has_markers(p) || turns_back(p)) {
            0.04
        } else {
            0.0
        };
        let x = Axis::new(panel.x_scale, range, shared.iter().flat_map(|p| x_values(p)), x_margin);
        let y = Axis::new(
            panel.y_scale,
            panel.y_range,
            y_values(panel, range),
            if panel.cells.is_some() { 0.0 } else { 0.06 },
        );

        let x_ticks = fitting_x_ticks(&x, size.0);
        let y_ticks = y.ticks(((size.1 / 32.0) as usize).clamp(3, 8));
        let along = |axis: &Axis, position: f64, length: f64| axis.fraction_of_measure(position) * length;
        let up = |position: f64| size.1 - along(&y, position, size.1);
        let x_marks = x_ticks
            .major
            .iter()
            .map(|(p, l)| (along(&x, *p, size.0), l.clone()))
            .collect();
        let y_marks = y_ticks.major.iter().map(|(p, l)| (up(*p), l.clone())).collect();
        let x_minor = x_ticks.minor.iter().map(|p| along(&x, *p, size.0)).collect();
        let y_minor = y_ticks.minor.iter().map(|p| up(*p)).collect();

        let mut axes = Self {
            panel,
            x_marks,
            y_marks,
            x_minor,
            y_minor,
            x_ticks,
            y_ticks,
            inside: Vec::new(),
            legend: Placed::Nowhere,
            y_label: wrap(&panel.y_label, LABEL_SIZE, size.1 * 1.1),
            shows_x: shared.last().is_some_and(|last| std::ptr::eq(*last, panel)),
        };
        axes.fill(&x, &y, size, common_legend);
        axes
    }

    /// Draws what is inside the axes, from back to front.
    fn fill(&mut self, x: &Axis, y: &Axis, size: Point, common_legend: bool) {
        let area = Rect {
            x: 0.0,
            y: 0.0,
            width: size.0,
            height: size.1,
        };
        let grid = (self.x_marks.iter().map(|(p, _)| vec![(*p, 0.0), (*p, size.1)]))
            .chain(self.y_marks.iter().map(|(p, _)| vec![(0.0, *p), (size.0, *p)]))
            .collect();
        self.inside.push(Mark::Lines {
            lines: grid,
            color: GRID,
            width: 0.7,
            dash: &[],
        });

        if let Some(cells) = &self.panel.cells {
            self.inside.extend(cell_marks(cells, x, y, size));
        }
        let mut obstacles: Vec<Point> = Vec::new();
        let mut series_marks = Vec::new();
        for (index, series) in self.panel.series.iter().enumerate() {
            let paths = pixel_paths(series, x, y, size);
            let marks = series_marks_in(series, index, &paths, &area);
            obstacles.extend(marks.iter().flat_map(outline_points));
            series_marks.extend(marks);
        }

        let mut labels = Vec::new();
        for (at_x, at_y, words) in &self.panel.labels {
            let at = (x.fraction(*at_x) * size.0, size.1 - y.fraction(*at_y) * size.1);
            if !area.contains(at) {
                continue;
            }
            let half = width(words, LABEL_SIZE) / 2.0;
            labels.push(Mark::Text {
                at: (at.0, at.1 + LABEL_SIZE * CAPITALS / 2.0),
                anchor: Anchor::Middle,
                turned: false,
                size: LABEL_SIZE,
                runs: runs(words),
                rim: true,
            });
            obstacles.extend(sampled((at.0 - half, at.1), (at.0 + half, at.1), 4.0));
        }
        for reference in &self.panel.references {
            let Some(line) = reference_line(reference, x, y, size) else {
                continue;
            };
            if !reference.label.is_empty() {
                let place = reference_label(reference, line[0], size, &obstacles);
                labels.push(Mark::Text {
                    at: (place.x, place.y + LEGEND_SIZE * 0.85),
                    anchor: Anchor::Start,
                    turned: false,
                    size: LEGEND_SIZE,
                    runs: runs(&reference.label),
                    rim: true,
                });
                obstacles.extend(rectangle_points(&place));
            }
            self.inside.push(Mark::Lines {
                lines: vec![line],
                color: REFERENCE,
                width: 0.9,
                dash: &[4.0, 3.0],
            });
        }
        self.inside.extend(series_marks);
        self.inside.extend(labels);

        let entries = legend_entries(self.panel);
        let (legend_width, legend_height) = legend_size(&entries);
        self.legend = match self.panel.legend {
            _ if entries.is_empty() => Placed::Nowhere,
            Legend::Hidden => Placed::Nowhere,
            Legend::Auto if common_legend => Placed::Nowhere,
            // On cells nothing is free.
            Legend::Auto if self.panel.cells.is_some() => {
                Placed::Above(legend_rows(&entries, size.0).len() as f64 * LEGEND_ROW + 3.0)
            }
            Legend::Auto => {
                let inset = 7.0;
                let (right, bottom) = (size.0 - legend_width - inset, size.1 - legend_height - inset);
                let (centre, middle) = ((right + inset) / 2.0, (bottom + inset) / 2.0);
                let places = [
                    (right, inset),
                    (inset, inset),
                    (right, bottom),
                    (inset, bottom),
                    (centre, inset),
                    (centre, bottom),
                    (right, middle),
                    (inset, middle),
                ];
                let free = places
                    .map(|(x, y)| Rect {
                        x,
                        y,
                        width: legend_width,
                        height: legend_height,
                    })
                    .into_iter()
                    .filter(|rect| rect.x >= inset && rect.y >= inset)
                    .find(|rect| hits(rect, &obstacles) == 0);
                match free {
                    Some(rect) => Placed::Inside(rect),
                    None if legend_rows(&entries, size.0).len() <= 2 => {
                        let rows = legend_rows(&entries, size.0).len();
                        Placed::Above(rows as f64 * LEGEND_ROW + 3.0)
                    }
                    None => Placed::Beside(beside(size, legend_width, legend_height)),
                }
            }
            Legend::Beside => Placed::Beside(beside(size, legend_width, legend_height)),
        };
    }

    fn left_margin(&self) -> f64 {
        let labels = self
            .y_marks
            .iter()
            .map(|(_, l)| width(l, TICK_SIZE))
            .fold(0.0, f64::max);
        TICK_LENGTH + 3.0 + labels
    }

    fn right_margin(&self, size: Point) -> f64 {
        let overhang = self
            .x_marks
            .iter()
            .filter(|_| self.shows_x)
            .map(|(p, l)| p + width(l, TICK_SIZE) / 2.0 - size.0)
            .fold(0.0, f64::max);
        let legend = match self.legend {
            Placed::Beside(rect) => rect.x + rect.width - size.0,
            _ => 0.0,
        };
        let bar = self.panel.bar.as_ref().map_or(0.0, |bar| bar_width(bar, size));
        overhang.max(legend).max(bar)
    }

    /// Heights above the axes: of the note of the y axis if it needs a line of its own, of the legend, and of the title.
    fn top_margin(&self, size: Point) -> (f64, f64, f64) {
        let legend = match self.legend {
            Placed::Above(height) => height,
            _ => 0.0,
        };
        let note = width(&self.y_ticks.note, TICK_SIZE);
        let title = width(&self.panel.title, fitting_size(&self.panel.title, TITLE_SIZE, size.0));
        let title_height = if title > 0.0 { TITLE_SIZE * LINE + 2.0 } else { 0.0 };
        // Beside the title if there is room.
        let beside = legend == 0.0 && title > 0.0 && note + 10.0 <= (size.0 - title) / 2.0;
        let note_height = if note > 0.0 && !beside {
            TICK_SIZE * LINE + 1.0
        } else {
            0.0
        };
        (note_height, legend, title_height)
    }

    /// Heights of the tick labels, and of the note of the x axis if it needs a line of its own, and of the label.
    fn bottom_margin(&self, size: Point) -> (f64, f64, f64) {
        if !self.shows_x {
            return (TICK_LENGTH, 0.0, 0.0);
        }
        let note = width(&self.x_ticks.note, TICK_SIZE);
        let label = width(&self.panel.x_label, LABEL_SIZE).min(size.0);
        let apart = note > 0.0 && (label == 0.0 || note + 10.0 > (size.0 - label) / 2.0);
        (
            TICK_LENGTH + 3.0 + TICK_SIZE * 1.1,
            if apart { TICK_SIZE * LINE } else { 0.0 },
            if label > 0.0 { LABEL_SIZE * LINE + 2.0 } else { 0.0 },
        )
    }

    fn bottom_height(&self, size: Point) -> f64 {
        let (ticks, note, label) = self.bottom_margin(size);
        let legend = match self.legend {
            Placed::Beside(rect) => rect.height - size.1,
            _ => 0.0,
        };
        (ticks + note + label).max(legend)
    }

    /// Adds the panel with the corner of its axes at `origin` and the y labels ending at `label_x`.
    fn draw(self, origin: Point, size: Point, label_x: f64, marks: &mut Vec<Mark>) {
        let at = |(x, y): Point| (origin.0 + x, origin.1 + y);
        let top = self.top_margin(size);
        let bottom = self.bottom_margin(size);
        marks.extend(self.inside.into_iter().map(|mark| moved(mark, origin)));

        let ticks = |length: f64, xs: &[f64], ys: &[f64]| -> Vec<Vec<Point>> {
            (xs.iter().map(|x| vec![at((*x, size.1)), at((*x, size.1 + length))]))
                .chain(ys.iter().map(|y| vec![at((0.0, *y)), at((-length, *y))]))
                .collect()
        };
        let places = |marks: &[(f64, String)]| marks.iter().map(|(p, _)| *p).collect::<Vec<_>>();
        let mut lines = ticks(TICK_LENGTH, &places(&self.x_marks), &places(&self.y_marks));
        lines.extend(ticks(TICK_LENGTH * 0.55, &self.x_minor, &self.y_minor));
        marks.push(Mark::Lines {
            lines,
            color: FRAME,
            width: 0.8,
            dash: &[],
        });
        marks.push(Mark::Box {
            rect: Rect {
                x: origin.0,
                y: origin.1,
                width: size.0,
                height: size.1,
            },
            fill: None,
            stroke: Some((FRAME, 0.9)),
        });

        let mut write = |text: &str, place: Point, anchor: Anchor, size: f64, turned: bool| {
            if !text.is_empty() {
                marks.push(Mark::Text {
                    at: at(place),
                    anchor,
                    turned,
                    size,
                    runs: runs(text),
                    rim: false,
                });
            }
        };
        for (y, label) in &self.y_marks {
            let place = (-TICK_LENGTH - 3.0, y + TICK_SIZE * CAPITALS / 2.0);
            write(label, place, Anchor::End, TICK_SIZE, false);
        }
        write(&self.y_ticks.note, (0.0, -4.0), Anchor::Start, TICK_SIZE, false);
        for (line, text) in self.y_label.iter().rev().enumerate() {
            let x = label_x - line as f64 * LABEL_SIZE * 1.15 - LABEL_SIZE * 0.25;
            write(text, (x, size.1 / 2.0), Anchor::Middle, LABEL_SIZE, true);
        }
        if self.shows_x {
            for (x, label) in &self.x_marks {
                let place = (*x, size.1 + TICK_LENGTH + 3.0 + TICK_SIZE * 0.85);
                write(label, place, Anchor::Middle, TICK_SIZE, false);
            }
            let below = size.1 + bottom.0;
            let note_at = (size.0, below + TICK_SIZE * LINE - 2.0);
            write(&self.x_ticks.note, note_at, Anchor::End, TICK_SIZE, false);
            let label_size = fitting_size(&self.panel.x_label, LABEL_SIZE, size.0 * 1.05);
            let place = (size.0 / 2.0, below + bottom.1 + LABEL_SIZE * LINE - 2.0);
            write(&self.panel.x_label, place, Anchor::Middle, label_size, false);
        }
        let title_size = fitting_size(&self.panel.title, TITLE_SIZE, size.0);
        write(
            &self.panel.title,
            (size.0 / 2.0, -top.0 - top.1 - 6.0),
            Anchor::Middle,
            title_size,
            false,
        );

        if let Some(bar) = &self.panel.bar {
            draw_bar(bar, origin, size, marks);
        }
        let entries = legend_entries(self.panel);
        match self.legend {
            Placed::Nowhere => {}
            Placed::Inside(rect) | Placed::Beside(rect) => draw_legend(&entries, rect.moved(origin), marks),
            Placed::Above(_) => {
                draw_legend_rows(&entries, at((size.0 / 2.0, -top.0 - top.1)), size.0, marks);
            }
        }
    }
}

/// The rectangles of cells; each reaches a little under the next, so that no seam shows.
fn cell_marks(cells: &Cells, x: &Axis, y: &Axis, size: Point) -> Vec<Mark> {
    const UNDER: f64 = 0.4;
    let rows = cells.y.len().saturating_sub(1);
    let (mut marks, mut hatches) = (Vec::new(), Vec::new());
    for (i, edges) in cells.x.windows(2).enumerate() {
        for (j, sides) in cells.y.windows(2).enumerate() {
            let Some(color) = cells.colors.get(i * rows + j).copied().flatten() else {
                continue;
            };
            let along = |value: f64| x.fraction(value).clamp(0.0, 1.0) * size.0;
            let up = |value: f64| size.1 - y.fraction(value).clamp(0.0, 1.0) * size.1;
            let (left, right) = (along(edges[0]), along(edges[1]));
            let (top, bottom) = (up(sides[1]), up(sides[0]));
            if cells.hatched.get(i * rows + j) == Some(&true) {
                hatches.extend(hatch([left, right], [top, bottom]));
            }
            marks.push(Mark::Box {
                rect: Rect {
                    x: left,
                    y: top,
                    width: (right - left + UNDER).min(size.0 - left),
                    height: (bottom - top + UNDER).min(size.1 - top),
                },
                fill: Some(color),
                stroke: None,
            });
        }
    }
    // Above all cells, as each reaches under the next.
    marks.extend(hatching(hatches));
    marks
}

/// Distance of the lines of a hatch along an axis.
const HATCH: f64 = 6.0;

/// Lines x + y = const within a rectangle. They follow from the place on the paper, so that they go on from cell to cell.
fn hatch([left, right]: [f64; 2], [top, bottom]: [f64; 2]) -> Vec<Vec<Point>> {
    let first = ((left + top) / HATCH).ceil() as i64;
    let last = ((right + bottom) / HATCH).floor() as i64;
    let line = |number: i64| {
        let sum = HATCH * number as f64;
        let (from, to) = (left.max(sum - bottom), right.min(sum - top));
        (from < to).then(|| vec![(from, sum - from), (to, sum - to)])
    };
    (first..=last).filter_map(line).collect()
}

/// The lines of hatches as one mark.
fn hatching(lines: Vec<Vec<Point>>) -> Option<Mark> {
    (!lines.is_empty()).then_some(Mark::Lines {
        lines,
        color: Color(110, 110, 110),
        width: 0.7,
        dash: &[],
    })
}

const BAR_GAP: f64 = 14.0;
const BAR_WIDTH: f64 = 12.0;
const CLASS_ROW: f64 = 17.0;

/// Height of the scale of numbers: the classes stand below it, if it has a scale.
fn bar_height(bar: &ColorBar, size: Point) -> f64 {
    if bar.scales.is_empty() {
        return 0.0;
    }
    (size.1 - bar.classes.len() as f64 * CLASS_ROW - 8.0).max(20.0)
}

fn bar_ticks(bar: &ColorBar, height: f64) -> Ticks {
    let axis = Axis::new(Scale::Linear, Some(bar.range), std::iter::empty(), 0.0);
    axis.ticks(((height / 32.0) as usize).clamp(3, 8))
}

/// Width of the labels beside the scale.
fn bar_labels(bar: &ColorBar, size: Point) -> f64 {
    let ticks = bar_ticks(bar, bar_height(bar, size));
    let texts = ticks.major.iter().map(|(_, label)| width(label, TICK_SIZE));
    texts.fold(width(&ticks.note, TICK_SIZE) - TICK_LENGTH, f64::max)
}

fn bar_width(bar: &ColorBar, size: Point) -> f64 {
    let scale = if bar.scales.is_empty() {
        0.0
    } else {
        BAR_WIDTH * bar.scales.len() as f64 + TICK_LENGTH + 3.0 + bar_labels(bar, size) + 5.0 + LABEL_SIZE * 1.2
    };
    let names = bar
        .classes
        .iter()
        .map(|class| BAR_WIDTH + 6.0 + width(&class.name, LEGEND_SIZE));
    BAR_GAP + names.fold(scale, f64::max)
}

/// The scale of colours with its numbers, and the classes below it.
fn draw_bar(bar: &ColorBar, origin: Point, size: Point, marks: &mut Vec<Mark>) {
    let (left, top) = (origin.0 + size.0 + BAR_GAP, origin.1);
    let height = bar_height(bar, size);
    let text = |at: Point, anchor: Anchor, turned: bool, size: f64, words: &str| Mark::Text {
        at,
        anchor,
        turned,
        size,
        runs: runs(words),
        rim: false,
    };
    let framed = |rect: Rect, fill: Option<Color>| Mark::Box {
        rect,
        fill,
        stroke: Some((FRAME, 0.7)),
    };
    if height > 0.0 {
        for (column, colors) in bar.scales.iter().enumerate() {
            let (x, count) = (left + BAR_WIDTH * column as f64, colors.len() as f64);
            for (i, color) in colors.iter().rev().enumerate() {
                let y = top + height * i as f64 / count;
                marks.push(Mark::Box {
                    rect: Rect {
                        x,
                        y,
                        width: BAR_WIDTH,
                        height: (height / count + 0.4).min(top + height - y),
                    },
                    fill: Some(*color),
                    stroke: None,
                });
            }
            let whole = Rect {
                x,
                y: top,
                width: BAR_WIDTH,
                height,
            };
            marks.push(framed(whole, None));
        }
        let axis = Axis::new(Scale::Linear, Some(bar.range), std::iter::empty(), 0.0);
        let ticks = bar_ticks(bar, height);
        let right = left + BAR_WIDTH * bar.scales.len() as f64;
        let place = |measure: f64| top + height * (1.0 - axis.fraction_of_measure(measure));
        marks.push(Mark::Lines {
            lines: (ticks.major.iter())
                .map(|(at, _)| vec![(right, place(*at)), (right + TICK_LENGTH, place(*at))])
                .collect(),
            color: FRAME,
            width: 0.8,
            dash: &[],
        });
        for (at, label) in &ticks.major {
            let at = (right + TICK_LENGTH + 3.0, place(*at) + TICK_SIZE * CAPITALS / 2.0);
            marks.push(text(at, Anchor::Start, false, TICK_SIZE, label));
        }
        if !ticks.note.is_empty() {
            marks.push(text((left, top - 4.0), Anchor::Start, false, TICK_SIZE, &ticks.note));
        }
        let x = right + TICK_LENGTH + 3.0 + bar_labels(bar, size) + 5.0 + LABEL_SIZE;
        marks.push(text(
            (x, top + height / 2.0),
            Anchor::Middle,
            true,
            LABEL_SIZE,
            &bar.label,
        ));
    }
    for (i, class) in bar.classes.iter().enumerate() {
        let y = top + height + if height > 0.0 { 8.0 } else { 0.0 } + CLASS_ROW * i as f64;
        let rect = Rect {
            x: left,
            y: y + 2.0,
            width: BAR_WIDTH,
            height: BAR_WIDTH,
        };
        marks.push(framed(rect, Some(class.color)));
        if class.hatched {
            let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
            marks.extend(hatching(hatch([rect.x, right], [rect.y, bottom])));
        }
        let at = (
            left + BAR_WIDTH + 6.0,
            y + 2.0 + BAR_WIDTH / 2.0 + LEGEND_SIZE * CAPITALS / 2.0,
        );
        marks.push(text(at, Anchor::Start, false, LEGEND_SIZE, &class.name));
    }
}

fn beside(size: Point, width: f64, height: f64) -> Rect {
    Rect {
        x: size.0 + 8.0,
        y: 0.0,
        width,
        height,
    }
}

/// As many numbers on the x axis as fit without touching.
fn fitting_x_ticks(axis: &Axis, length: f64) -> Ticks {
    let mut wanted = ((length / 55.0) as usize).clamp(3, 9);
    loop {
        let ticks = axis.ticks(wanted);
        let widest = ticks.major.iter().map(|(_, l)| width(l, TICK_SIZE)).fold(0.0, f64::max);
        let closest = ticks
            .major
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) / (axis.hi - axis.lo) * length)
            .fold(f64::INFINITY, f64::min);
        if widest + 6.0 <= closest || wanted <= 3 {
            return apart(ticks, axis, length);
        }
        wanted -= 1;
    }
}

/// Ticks without the labels that would touch the one before: on a log axis, 2 and 5 crowd where a decade is short.
fn apart(mut ticks: Ticks, axis: &Axis, length: f64) -> Ticks {
    let mut free = f64::NEG_INFINITY;
    for (position, label) in &mut ticks.major {
        let half = width(label, TICK_SIZE) / 2.0;
        let middle = axis.fraction_of_measure(*position) * length;
        if middle - half < free {
            label.clear();
        } else {
            free = middle + half + 4.0;
        }
    }
    ticks
}

/// The points of a series in pixels, cut where a value is missing.
fn pixel_paths(series: &Series, x: &Axis, y: &Axis, size: Point) -> Vec<Vec<Point>> {
    let mut paths: Vec<Vec<Point>> = vec![Vec::new()];
    for (px, py) in series.x.iter().zip(&series.y) {
        let point = (x.fraction(*px) * size.0, size.1 - y.fraction(*py) * size.1);
        match paths.last_mut() {
            Some(path) if point.0.is_finite() && point.1.is_finite() => {
                if series.style == Style::Steps
                    && let Some(last) = path.last()
                {
                    path.push((point.0, last.1));
                }
                path.push(point);
            }
            Some(path) if path.is_empty() => {}
            _ => paths.push(Vec::new()),
        }
    }
    paths.retain(|path| !path.is_empty());
    paths
}

fn series_color(series: &Series, index: usize) -> Color {
    series.color.unwrap_or(Color::PALETTE[index % Color::PALETTE.len()])
}

/// Width and dashes of the line of a series, if it has one.
fn stroke(style: Style, index: usize) -> Option<(f64, &'static [f64])> {
    match style {
        Style::Line | Style::Steps => Some((LINE_WIDTH, DASHES[index % DASHES.len()])),
        Style::Solid => Some((LINE_WIDTH, &[])),
        Style::Dashed => Some((LINE_WIDTH, &[5.0, 3.0])),
        Style::Dotted => Some((LINE_WIDTH, &[1.5, 2.0])),
        Style::Marked => Some((0.9, &[])),
        Style::Points => None,
    }
}

fn series_marks_in(series: &Series, index: usize, paths: &[Vec<Point>], area: &Rect) -> Vec<Mark> {
    let color = series_color(series, index);
    let mut marks = Vec::new();
    if let Some((width, dash)) = stroke(series.style, index) {
        let mut lines: Vec<Vec<Point>> = paths
            .iter()
            .flat_map(|path| clip(&columns(path), area))
            .map(|piece| straighten(&piece))
            .filter(|piece| piece.len() > 1)
            .collect();
        if lines.iter().map(Vec::len).sum::<usize>() > MANY_POINTS {
            let mut cover = Cover::new(area.width, area.height);
            lines = lines.iter().flat_map(|line| cover.fresh(line)).collect();
        }
        if !lines.is_empty() {
            marks.push(Mark::Lines {
                lines,
                color,
                width,
                dash,
            });
        }
        // A sample between two gaps has no line to belong to.
        let lonely: Vec<Point> = paths
            .iter()
            .filter(|path| path.iter().all(|p| *p == path[0]) && area.contains(path[0]))
            .map(|path| path[0])
            .collect();
        if !lonely.is_empty() && series.style != Style::Marked {
            marks.push(Mark::Dots {
                centres: lonely,
                diameter: 2.5 * width,
                color,
            });
        }
    }
    if matches!(series.style, Style::Points | Style::Marked) {
        let centres: Vec<Point> = paths.iter().flatten().copied().filter(|p| area.contains(*p)).collect();
        let centres = thinned(centres, area);
        marks.extend(markers(centres, index, color));
    }
    marks
}

/// At most one marker per square of the smallest size, up to nearly that of a marker, that makes them few.
fn thinned(mut centres: Vec<Point>, area: &Rect) -> Vec<Point> {
    for side in [0.5, 1.0, 2.0, 3.0, 4.0] {
        if centres.len() <= MANY_POINTS {
            break;
        }
        let scale = 0.5 / side;
        let mut cover = Cover::new(area.width * scale, area.height * scale);
        centres.retain(|(x, y)| cover.take((x * scale, y * scale)));
    }
    centres
}

/// Markers of the shape of the series: disc, square, triangle, diamond, triangle on its tip.
fn markers(centres: Vec<Point>, index: usize, color: Color) -> Option<Mark> {
    if centres.is_empty() {
        return None;
    }
    let corners: &[Point] = match index % 5 {
        0 => {
            return Some(Mark::Dots {
                centres,
                diameter: 5.0,
                color,
            });
        }
        1 => &[(-2.3, -2.3), (2.3, -2.3), (2.3, 2.3), (-2.3, 2.3)],
        2 => &[(0.0, -3.4), (3.1, 2.2), (-3.1, 2.2)],
        3 => &[(0.0, -3.5), (3.0, 0.0), (0.0, 3.5), (-3.0, 0.0)],
        _ => &[(0.0, 3.4), (3.1, -2.2), (-3.1, -2.2)],
    };
    let polygon = |(x, y): &Point| corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    Some(Mark::Polygons {
        polygons: centres.iter().map(polygon).collect(),
        color,
    })
}

fn reference_line(reference: &Reference, x: &Axis, y: &Axis, size: Point) -> Option<Vec<Point>> {
    let axis = match reference.direction {
        Direction::Horizontal => y,
        Direction::Vertical => x,
    };
    let fraction = axis.fraction(reference.value);
    (0.0..=1.0).contains(&fraction).then(|| match reference.direction {
        Direction::Horizontal => vec![(0.0, size.1 * (1.0 - fraction)), (size.0, size.1 * (1.0 - fraction))],
        Direction::Vertical => vec![(size.0 * fraction, 0.0), (size.0 * fraction, size.1)],
    })
}

/// The place beside a reference line, within the axes, where its label hides the least.
fn reference_label(reference: &Reference, line: Point, size: Point, obstacles: &[Point]) -> Rect {
    let (w, h) = (width(&reference.label, LEGEND_SIZE), LEGEND_SIZE * 1.1);
    let (right, bottom) = (size.0 - w - 4.0, size.1 - h - 3.0);
    let places = match reference.direction {
        Direction::Horizontal => {
            let (above, below) = (line.1 - h - 2.0, line.1 + 1.0);
            let middle = right / 2.0;
            [
                (right, above),
                (right, below),
                (4.0, above),
                (4.0, below),
                (middle, above),
                (middle, below),
            ]
        }
        Direction::Vertical => {
            let (after, before) = (line.0 + 4.0, line.0 - w - 4.0);
            let middle = bottom / 2.0;
            [
                (after, 3.0),
                (before, 3.0),
                (after, bottom),
                (before, bottom),
                (after, middle),
                (before, middle),
            ]
        }
    };
    places
        .map(|(x, y)| Rect {
            x,
            y,
            width: w,
            height: h,
        })
        .into_iter()
        .min_by_key(|rect| {
            let outside = rect.x < 0.0 || rect.y < 0.0 || rect.x > right + 2.0 || rect.y > bottom + 3.0;
            hits(rect, obstacles) + if outside { 1_000_000 } else { 0 }
        })
        .unwrap_or(Rect {
            x: 0.0,
            y: 0.0,
            width: w,
            height: h,
        })
}

/// Points along what a mark draws, dense enough to notice an overlap.
fn outline_points(mark: &Mark) -> Vec<Point> {
    match mark {
        Mark::Lines { lines, .. } => lines
            .iter()
            .flat_map(|line| line.windows(2))
            .flat_map(|pair| sampled(pair[0], pair[1], 4.0))
            .collect(),
        Mark::Dots { centres, .. } => centres.clone(),
        Mark::Polygons { polygons, .. } => polygons.iter().flatten().copied().collect(),
        Mark::Box { .. } | Mark::Text { .. } => Vec::new(),
    }
}

fn rectangle_points(rect: &Rect) -> impl Iterator<Item = Point> + use<> {
    let Rect { x, y, width, height } = *rect;
    sampled((x, y + height / 2.0), (x + width, y + height / 2.0), 4.0)
}

/// How many obstacles a rectangle would hide or touch.
fn hits(rect: &Rect, obstacles: &[Point]) -> usize {
    let grown = Rect {
        x: rect.x - 3.0,
        y: rect.y - 3.0,
        width: rect.width + 6.0,
        height: rect.height + 6.0,
    };
    obstacles.iter().filter(|p| grown.contains(**p)).count()
}

/// The named series with their places in the panel.
fn legend_entries(panel: &Panel) -> Vec<(usize, &Series)> {
    panel
        .series
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.label.is_empty())
        .collect()
}

fn entry_width(series: &Series) -> f64 {
    LEGEND_SAMPLE + 6.0 + width(&series.label, LEGEND_SIZE)
}

fn legend_size(entries: &[(usize, &Series)]) -> Point {
    let widest = entries.iter().map(|(_, s)| entry_width(s)).fold(0.0, f64::max);
    (
        widest + 2.0 * LEGEND_PADDING,
        entries.len() as f64 * LEGEND_ROW + LEGEND_PADDING,
    )
}

fn draw_legend(entries: &[(usize, &Series)], rect: Rect, marks: &mut Vec<Mark>) {
    marks.push(Mark::Box {
        rect,
        fill: Some(Color::WHITE),
        stroke: Some((LEGEND_FRAME, 0.8)),
    });
    for (row, (index, series)) in entries.iter().enumerate() {
        let y = rect.y + LEGEND_PADDING / 2.0 + (row as f64 + 0.5) * LEGEND_ROW;
        draw_entry(*index, series, (rect.x + LEGEND_PADDING, y), marks);
    }
}

/// A sample of the line and the name, the middle of their height at `at`.
fn draw_entry(index: usize, series: &Series, at: Point, marks: &mut Vec<Mark>) {
    let color = series_color(series, index);
    if let Some((width, dash)) = stroke(series.style, index) {
        marks.push(Mark::Lines {
            lines: vec![vec![at, (at.0 + LEGEND_SAMPLE, at.1)]],
            color,
            width,
            dash,
        });
    }
    if matches!(series.style, Style::Points | Style::Marked) {
        marks.extend(markers(vec![(at.0 + LEGEND_SAMPLE / 2.0, at.1)], index, color));
    }
    marks.push(Mark::Text {
        at: (at.0 + LEGEND_SAMPLE + 6.0, at.1 + LEGEND_SIZE * CAPITALS / 2.0),
        anchor: Anchor::Start,
        turned: false,
        size: LEGEND_SIZE,
        runs: runs(&series.label),
        rim: false,
    });
}

fn moved(mark: Mark, (dx, dy): Point) -> Mark {
    let shift = |points: Vec<Point>| points.into_iter().map(|(x, y)| (x + dx, y + dy)).collect::<Vec<_>>();
    match mark {
        Mark::Lines {
            lines,
            color,
            width,
            dash,
        } => Mark::Lines {
            lines: lines.into_iter().map(shift).collect(),
            color,
            width,
            dash,
        },
        Mark::Dots {
            centres,
            diameter,
            color,
        } => Mark::Dots {
            centres: shift(centres),
            diameter,
            color,
        },
        Mark::Polygons { polygons, color } => Mark::Polygons {
            polygons: polygons.into_iter().map(shift).collect(),
            color,
        },
        Mark::Box { rect, fill, stroke } => Mark::Box {
            rect: rect.moved((dx, dy)),
            fill,
            stroke,
        },
        Mark::Text {
            at,
            anchor,
            turned,
            size,
            runs,
            rim,
        } => Mark::Text {
            at: (at.0 + dx, at.1 + dy),
            anchor,
            turned,
            size,
            runs,
            rim,
        },
    }
}

/// The legend that all panels with named series have in common, if there are several such panels. Curves are the same by name and colour: those
/// that turn very often are drawn solid where others are dashed, so it is taken from the panel with most dashes.
fn common_legend(figure: &Figure) -> Option<Vec<(usize, &Series)>> {
    let legends = figure
        .panels
        .iter()
        .filter(|p| p.legend == Legend::Auto)
        .map(legend_entries);
    let legends: Vec<Vec<(usize, &Series)>> = legends.filter(|entries| !entries.is_empty()).collect();
    let (first, rest) = legends.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let look = |(index, s): &(usize, &Series)| {
        let style = if s.style == Style::Solid { Style::Line } else { s.style };
        (*index, s.label.clone(), style, s.color)
    };
    let same = rest
        .iter()
        .all(|other| other.iter().map(look).eq(first.iter().map(look)));
    let dashed = |entries: &Vec<(usize, &Series)>| entries.iter().filter(|(_, s)| s.style == Style::Line).count();
    let most = legends.iter().map(dashed).max()?;
    same.then(|| legends.iter().find(|entries| dashed(entries) == most).cloned())?
}

/// Breaks the entries of a legend into rows of at most this width.
fn legend_rows<'a>(entries: &[(usize, &'a Series)], room: f64) -> Vec<Vec<(usize, &'a Series)>> {
    let mut rows: Vec<Vec<(usize, &Series)>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        let needed = entry_width(entry.1);
        used += 2.0 * GAP + needed;
        match rows.last_mut() {
            Some(row) if used <= room => row.push(*entry),
            _ => {
                rows.push(vec![*entry]);
                used = needed;
            }
        }
    }
    rows
}

fn row_width(row: &[(usize, &Series)]) -> f64 {
    row.iter().map(|(_, s)| entry_width(s) + 2.0 * GAP).sum::<f64>() - 2.0 * GAP
}

/// A legend without a frame in centred rows; returns its height.
fn draw_legend_rows(entries: &[(usize, &Series)], top: Point, room: f64, marks: &mut Vec<Mark>) -> f64 {
    let mut y = top.1;
    for row in legend_rows(entries, room) {
        let full = row_width(&row);
        let mut left = top.0 - full.min(room) / 2.0;
        for (index, series) in row {
            draw_entry(index, series, (left, y + LEGEND_ROW / 2.0), marks);
            left += entry_width(series) + 2.0 * GAP;
        }
        y += LEGEND_ROW;
    }
    y - top.1
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// The whole figure with everything in its place.
pub(crate) fn scene(figure: &Figure) -> Scene {
    let size = (sane_size(figure.width), sane_size(figure.height));
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let common = common_legend(figure);
    let panels: Vec<Axes> = (0..figure.panels.len())
        .map(|i| Axes::new(figure, i, size, common.is_some()))
        .collect();

    // Lefts of the axes and right ends of the y labels, column by column.
    let mut x = MARGIN;
    let mut lefts = Vec::new();
    for column in 0..columns {
        let in_column = || panels.iter().skip(column).step_by(columns);
        let numbers = largest(in_column().map(Axes::left_margin));
        let lines = largest(in_column().map(|p| p.y_label.len() as f64));
        x += lines * LABEL_SIZE * 1.15 + if lines > 0.0 { 4.0 } else { 0.0 } + numbers;
        lefts.push((x, -numbers - 4.0));
        x += size.0 + largest(in_column().map(|p| p.right_margin(size))) + GAP;
    }
    let total_width = x - GAP + MARGIN;
    let centre = lefts[0].0 + (x - GAP - lefts[0].0) / 2.0;

    let mut marks = Vec::new();
    let mut y = MARGIN;
    if !figure.title.is_empty() {
        let title_size = fitting_size(&figure.title, FIGURE_TITLE_SIZE, total_width - 2.0 * MARGIN);
        marks.push(Mark::Text {
            at: (centre, y + FIGURE_TITLE_SIZE),
            anchor: Anchor::Middle,
            turned: false,
            size: title_size,
            runs: runs(&figure.title),
            rim: false,
        });
        y += FIGURE_TITLE_SIZE * LINE + 5.0;
    }
    let entries = common.unwrap_or_default();
    let room = total_width - 2.0 * MARGIN;
    // In the middle of the axes, unless it would leave the figure on the right.
    let widest = largest(legend_rows(&entries, room).iter().map(|row| row_width(row)));
    let middle = centre.min(total_width - MARGIN - widest / 2.0);
    y += draw_legend_rows(&entries, (middle, y), room, &mut marks);

    let mut panels = panels.into_iter().peekable();
    while panels.peek().is_some() {
        let row: Vec<Axes> = panels.by_ref().take(columns).collect();
        y += largest(
            row.iter()
                .map(|p| p.top_margin(size))
                .map(|(note, legend, title)| note + legend + title),
        )
        .max(4.0);
        let bottom = largest(row.iter().map(|p| p.bottom_height(size)));
        for (panel, (left, label_x)) in row.into_iter().zip(&lefts) {
            panel.draw((*left, y), size, *label_x, &mut marks);
        }
        y += size.1 + bottom + if panels.peek().is_some() { GAP / 2.0 } else { 0.0 };
    }
    let named = figure.panels.iter().map(|p| &p.title).find(|t| !t.is_empty());
    let title = if figure.title.is_empty() {
        named.unwrap_or(&figure.title)
    } else {
        &figure.title
    };
    Scene {
        width: libm::ceil(total_width),
        height: libm::ceil(y + MARGIN),
        title: if title.is_empty() {
            "Figure".into()
        } else {
            unstyled(title)
        },
        marks,
    }
}
