//! Pictures of runs: which columns go into which panel, and what is kept of long runs.

use crate::failure::Failure;
use crate::output::{Place, write_whole};
use crate::text::number;
use std::io::ErrorKind;
use std::path::Path;
use stickslip::report::{SizeBin, SlipEventsReport};
use stickslip::scenario::{Scenario, SlipEventsSpec};
use stickslip_plot::{Color, Figure, Panel, PlotError, Scale, Series, Style};
use stickslip_study::panels::{Quantity, shown};

/// Most panels of a figure, and most curves of a panel: there are eight colours.
const MOST_PANELS: usize = 4;
const MOST_CURVES: usize = 8;

/// The points of one curve. Of long runs each stretch keeps its smallest and its largest value, so that no spike and
/// no chatter is lost.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    stretch: u64,
    seen: u64,
    low: (f64, f64),
    high: (f64, f64),
}

/// A curve that turns more often than this fills an area, in which dashes would only look like more motion.
const DENSE: usize = 60;
/// The part of its range by which a curve must swing back for a turn that is seen.
const SEEN: f64 = 0.05;
/// Columns of a picture that are told apart: several turns in one are a single line.
const COLUMNS: f64 = 300.0;
/// Rows up to which every point is kept.
const WHOLE: u64 = 100_000;
/// Stretches a longer run is divided into.
const STRETCHES: u64 = 10_000;

impl Curve {
    /// A curve for so many rows.
    pub fn new(rows: u64) -> Self {
        let stretch = if rows <= WHOLE { 1 } else { rows.div_ceil(STRETCHES) };
        Curve {
            stretch,
            ..Curve::default()
        }
    }

    /// Adds a point.
    pub fn push(&mut self, t: f64, value: f64) {
        if self.stretch <= 1 {
            self.points.push((t, value));
            return;
        }
        if self.seen == 0 || value < self.low.1 {
            self.low = (t, value);
        }
        if self.seen == 0 || value > self.high.1 {
            self.high = (t, value);
        }
        self.seen += 1;
        if self.seen == self.stretch {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.seen > 0 {
            let (a, b) = (self.low, self.high);
            let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
            self.points.push(first);
            if second.0 != first.0 {
                self.points.push(second);
            }
        }
        self.seen = 0;
    }

    /// Its largest magnitude.
    fn largest(&self) -> f64 {
        self.points.iter().fold(0.0, |most: f64, point| most.max(point.1.abs()))
    }

    /// Without what is rounding: a curve whose largest magnitude is at most this is 0.
    fn quiet(mut self, rounding: f64) -> Self {
        if self.largest() <= rounding {
            self.points.iter_mut().for_each(|point| point.1 = 0.0);
        }
        self
    }

    /// The curve as a series.
    pub fn series(mut self, label: &str) -> Series {
        self.close();
        let (x, y): (Vec<f64>, Vec<f64>) = self.points.into_iter().unzip();
        let style = if turns(&x, &y) > DENSE {
            Style::Solid
        } else {
            Style::Line
        };
        Series::line(label.to_string(), x, y).style(style)
    }
}

/// In how many columns of a picture a curve turns, small ripple aside.
fn turns(x: &[f64], y: &[f64]) -> usize {
    let range = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    let least = SEEN * (high - low);
    let (Some(&start), Some(&end)) = (x.first(), x.last()) else {
        return 0;
    };
    let column = |x: f64| (COLUMNS * (x - start) / (end - start)) as i64;
    let (mut turns, mut last, mut rising, mut extreme) = (0, -1, true, y[0]);
    for (&x, &value) in x.iter().zip(y) {
        let ahead = if rising { value - extreme } else { extreme - value };
        if ahead > 0.0 {
            extreme = value;
        } else if ahead < -least {
            (rising, extreme) = (!rising, value);
            turns += usize::from(column(x) != last);
            last = column(x);
        }
    }
    turns
}

/// The stretch of time that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    from: f64,
    until: f64,
}

impl Window {
    /// A stretch of a run that lasts so long, s.
    ///
    /// # Errors
    /// Wrong input: nothing of the run lies in it.
    pub fn new(from: Option<f64>, until: Option<f64>, duration: f64) -> Result<Self, Failure> {
        let window = Window {
            from: from.unwrap_or(0.0),
            until: until.unwrap_or(duration),
        };
        if window.from < window.until && window.from < duration && window.until > 0.0 {
            return Ok(window);
        }
        Err(Failure::input(
            format!(
                "there is nothing to draw from {} s until {} s",
                number(window.from),
                number(window.until)
            ),
            format!("the run lasts {} s", number(duration)),
        ))
    }

    /// Whether a time lies in it.
    pub fn has(&self, time: f64) -> bool {
        (self.from..=self.until).contains(&time)
    }

    /// How many of so many rows of a run that lasts so long lie in it, about.
    pub fn share(&self, rows: u64, duration: f64) -> u64 {
        let length = self.until.min(duration) - self.from.max(0.0);
        (rows as f64 * (length / duration).min(1.0)).ceil() as u64
    }
}

/// What a figure is drawn from, row by row.
pub struct Recording {
    title: String,
    window: Window,
    curves: Vec<(usize, Quantity, String, Curve)>,
}

impl Recording {
    /// Chooses what is drawn of these columns.
    ///
    /// # Errors
    /// Wrong input: none of them can be drawn.
    pub fn new(scenario: &Scenario, columns: &[String], rows: u64, window: Window) -> Result<Self, Failure> {
        let rows = window.share(rows, scenario.simulation.duration);
        let curves: Vec<_> = columns
            .iter()
            .enumerate()
            .filter_map(|(i, column)| {
                let (quantity, label) = shown(scenario, column)?;
                Some((i, quantity, label, Curve::new(rows)))
            })
            .collect();
        if curves.is_empty() {
            return Err(Failure::input(
                "there is no motion and no force to draw in [output] columns",
                "add for example the velocity of a body, or leave [output] out to draw every column",
            ));
        }
        let title = scenario.title.replace('$', "");
        Ok(Recording { title, window, curves })
    }

    /// Takes note of a row.
    pub fn row(&mut self, row: &[f64]) {
        if !self.window.has(row[0]) {
            return;
        }
        for (column, _, _, curve) in &mut self.curves {
            curve.push(row[0], row[*column]);
        }
    }

    /// The figure: velocities, forces, positions, each unit in a panel of its own.
    pub fn figure(mut self) -> Figure {
        for (.., curve) in &mut self.curves {
            curve.close();
        }
        let rounding: Vec<f64> = (self.curves.iter().map(|(_, quantity, ..)| self.rounding(*quantity))).collect();
        for ((.., curve), rounding) in self.curves.iter_mut().zip(rounding) {
            *curve = std::mem::take(curve).quiet(rounding);
        }
        let mut quantities: Vec<Quantity> = self.curves.iter().map(|(_, quantity, ..)| *quantity).collect();
        quantities.sort_unstable();
        quantities.dedup();
        // Nothing turns in many scenes: what is 0 in all its components takes no room beside what is not.
        if self.curves.iter().any(|curve| !is_idle(curve)) {
            quantities.retain(|quantity| {
                let mut curves = self.curves.iter().filter(|(_, other, ..)| other == quantity);
                curves.any(|curve| !is_idle(curve))
            });
        }
        quantities.truncate(MOST_PANELS);
        let mut colors = Colors::default();
        let panels = quantities
            .into_iter()
            .map(|quantity| self.panel(quantity, &mut colors))
            .collect();
        figure(self.title.clone(), panels)
    }

    /// The magnitude up to which a quantity is rounding: that of the largest curve, of positions what a double can tell, and of velocities
    /// what moves by no more than that in the whole time.
    fn rounding(&self, quantity: Quantity) -> f64 {
        let largest = |quantity: Quantity| {
            let curves = self.curves.iter().filter(|(_, other, ..)| *other == quantity);
            curves.map(|(.., curve)| curve.largest()).fold(0.0, f64::max)
        };
        let time = self.window.until - self.window.from;
        ROUNDING
            * match quantity {
                // A turn has its own size.
                Quantity::Angle => largest(Quantity::Angle).max(1.0),
                Quantity::AngularVelocity => (largest(Quantity::Angle).max(1.0) / time).max(largest(quantity)),
                Quantity::Velocity => (largest(Quantity::Position) / time).max(largest(quantity)),
                _ => largest(quantity),
            }
    }

    fn panel(&self, quantity: Quantity, colors: &mut Colors) -> Panel {
        let mut curves: Vec<_> = self.curves.iter().filter(|(_, other, ..)| *other == quantity).collect();
        // Components that never differ from zero only fill the legend. A joint that stays at 0 is told so.
        if curves.iter().any(|curve| !is_idle(curve)) {
            curves.retain(|curve| !is_idle(curve));
        }
        // Where not all find room, those that move do.
        if curves.len() > MOST_CURVES {
            curves.sort_by_key(|(.., curve)| curve.largest() == 0.0);
        }
        curves.truncate(MOST_CURVES);
        let mut panel = Panel::new(TIME, quantity.label());
        let labels = curves.iter().map(|(_, _, label, _)| label.as_str());
        let chosen = colors.of_panel(labels);
        for ((_, _, label, curve), color) in curves.into_iter().zip(chosen) {
            panel = panel.with(curve.clone().series(label).color(color));
        }
        panel
    }
}

/// Part of the size of a quantity that is rounding, which long runs add up.
const ROUNDING: f64 = 1e-12;

/// Whether a curve is a component of a vector (its axis stands between dollar signs) that is always 0.
fn is_idle((_, _, label, curve): &(usize, Quantity, String, Curve)) -> bool {
    label.contains('$') && curve.largest() == 0.0
}

/// Colours of curves: what is called the same has the same in all panels, as far as colours last.
#[derive(Default)]
struct Colors(Vec<(String, usize)>);

impl Colors {
    fn of_panel<'a>(&mut self, labels: impl Iterator<Item = &'a str>) -> Vec<Color> {
        let mut used: Vec<usize> = Vec::new();
        for label in labels {
            let known = self.0.iter().find(|(other, _)| other == label).map(|(_, color)| *color);
            let free = |color: &usize| !used.contains(color);
            // A new name takes a colour that no other has, as long as there is one.
            let fresh = || (0..Color::PALETTE.len()).find(|color| self.0.iter().all(|(_, other)| other != color));
            let color = known
                .or_else(fresh)
                .filter(free)
                .or_else(|| (0..Color::PALETTE.len()).find(free))
                .unwrap_or(0);
            if known.is_none() {
                self.0.push((label.to_string(), color));
            }
            used.push(color);
        }
        used.into_iter().map(|color| Color::PALETTE[color]).collect()
    }
}

/// Adds the distribution of the sizes of slip events, if there are any, in place of all but the first two panels.
pub fn add_sizes(figure: &mut Figure, events: &SlipEventsReport, spec: Option<SlipEventsSpec>) {
    if events.sizes.is_empty() {
        return;
    }
    let steps = (events.sizes.iter()).map(|bin| (bin.from, bin.at_least as f64));
    // The last step reaches to the largest event.
    let last = events.sizes.last().map(|bin| (events.largest, bin.at_least as f64));
    let (x, at_least): (Vec<f64>, Vec<f64>) = steps.chain(last).unzip();
    let middle = |bin: &SizeBin| (bin.from * bin.to).sqrt();
    let counted = events.sizes.iter().filter(|bin| bin.count > 0);
    let (centre, count): (Vec<f64>, Vec<f64>) = counted.map(|bin| (middle(bin), bin.count as f64)).unzip();
    let mut panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        ..Panel::new("moment of an event $M$ (m)", "events")
    }
    .with(Series::line("of this size or larger", x, at_least).style(Style::Steps))
    .with(Series::line("in a range of sizes", centre, count).style(Style::Points));
    if let (
        Some(b),
        Some(SlipEventsSpec {
            smallest: Some(least),
            largest,
            bins,
            ..
        }),
    ) = (events.exponent.filter(|b| *b != 0.0), spec)
    {
        // Events of a range of sizes under the law that was found.
        let most = largest.unwrap_or(events.largest);
        let part = |from: f64| libm::pow(from / least, -b);
        let all = largest.map_or(1.0, |largest| 1.0 - part(largest));
        let ratio = libm::exp10(0.5 / f64::from(bins));
        let expected = |m: f64| events.fitted as f64 * (part(m / ratio) - part(m * ratio)) / all;
        let line = Series::line(
            format!("exponent {b:.2} ± {:.2}", events.exponent_error.unwrap_or(f64::NAN)),
            vec![least, most],
            vec![expected(least), expected(most)],
        );
        panel = panel.with(line.style(Style::Dashed));
    }
    figure.panels.truncate(2);
    figure.panels.push(panel);
}

/// Label of the time axis.
pub const TIME: &str = "time (s)";

/// Panels below each other, sharing the time axis.
pub fn figure(title: String, panels: Vec<Panel>) -> Figure {
    Figure {
        title,
        height: if panels.len() > 2 { 170.0 } else { 220.0 },
        width: 560.0,
        panels,
        ..Figure::default()
    }
}

/// Checks the name of a picture before any work is done.
///
/// # Errors
/// Wrong input: the extension names no format, or nothing can be written there.
pub fn check(path: &Path) -> Result<(), Failure> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    match extension.as_str() {
        "svg" | "png" => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                Err(Failure::write(path, &ErrorKind::NotFound.into()))
            }
            _ => Place::of(path).map(drop),
        },
        _ => Err(Failure::input(
            format!("cannot tell the format of the picture {}", path.display()),
            "end the name with .svg or .png",
        )),
    }
}

/// Writes a figure.
///
/// # Errors
/// If it cannot be drawn or written.
pub fn save(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let bytes = figure.encode(path).map_err(|error| match error {
        PlotError::NoPng => Failure::input(
            error.to_string(),
            "build with the feature `png`, or write a picture that ends with .svg",
        ),
        other => Failure::Work(format!("error: {other}")),
    })?;
    write_whole(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ripple_does_not_count_as_turns() {
        let wave = |x: f64| (0.1 * x).sin() + 0.01 * (3.0 * x).sin();
        let x: Vec<f64> = (0..2000).map(|i| 0.1 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| wave(*x)).collect();
        // 20 rad of the wave: it turns at 1.57, 4.71, …, 17.3.
        assert_eq!(turns(&x, &y), 6);
        assert_eq!(turns(&x[..9], &[1.0; 9]), 0);
        // A burst within one column is one line; the same over the whole picture fills it.
        let burst = |rate: f64| x.iter().map(move |x| if *x < rate { (7.0 * x).sin() } else { 0.0 });
        assert!(turns(&x, &burst(5.0).collect::<Vec<_>>()) < 10);
        assert!(turns(&x, &burst(1e3).collect::<Vec<_>>()) > DENSE);
    }

    /// A body that slides along x and turns by rounding only, and a joint that stays at 0.
    #[test]
    fn rounding_and_idle_components_take_no_room_but_joints_do() {
        let curve = |size: f64| {
            let mut curve = Curve::new(10);
            (0..10).for_each(|i| curve.push(f64::from(i), size * f64::from(i % 3)));
            curve
        };
        let rows = [
            (Quantity::Velocity, "box $x$", 0.4),
            (Quantity::Velocity, "box $y$", 3e-16),
            (Quantity::AngularVelocity, "box $x$", 2e-15),
            (Quantity::AngularVelocity, "box $z$", 0.0),
            (Quantity::Angle, "arm.elbow", 0.7),
            (Quantity::Angle, "arm.shoulder", 0.0),
        ];
        let recording = |rows: &[(Quantity, &str, f64)]| Recording {
            title: String::new(),
            window: Window { from: 0.0, until: 10.0 },
            curves: (rows.iter().enumerate())
                .map(|(i, &(quantity, label, size))| (i, quantity, label.to_string(), curve(size)))
                .collect(),
        };
        let drawn = |figure: &Figure| -> Vec<(String, Vec<String>)> {
            let names = |panel: &Panel| panel.series.iter().map(|series| series.label.clone()).collect();
            figure
                .panels
                .iter()
                .map(|panel| (panel.y_label.clone(), names(panel)))
                .collect()
        };
        let found = drawn(&recording(&rows).figure());
        let labels = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                ("velocity (m/s)".to_string(), labels(&["box $x$"])),
                ("angle (rad)".to_string(), labels(&["arm.elbow", "arm.shoulder"])),
            ]
        );
        // A slow turn is one, and alone a panel of zeros says that nothing turns.
        let found = drawn(&recording(&[rows[0], (Quantity::AngularVelocity, "box $x$", 1e-9)]).figure());
        assert_eq!(found.len(), 2);
        let alone = recording(&rows[2..4]).figure();
        assert_eq!(alone.panels.len(), 1);
        assert!(
            alone.panels[0]
                .series
                .iter()
                .all(|series| series.y.iter().all(|y| *y == 0.0))
        );
    }

    #[test]
    fn a_window_lies_within_the_run() {
        let window = Window::new(Some(2.0), None, 10.0).unwrap();
        assert_eq!((window.until, window.share(1000, 10.0)), (10.0, 800));
        assert!(Window::new(Some(3.0), Some(2.0), 10.0).is_err());
        assert!(Window::new(Some(12.0), None, 10.0).is_err());
    }

    #[test]
    fn long_curves_keep_their_extremes() {
        let rows = 1_000_000;
        let mut curve = Curve::new(rows);
        for i in 0..rows {
            curve.push(i as f64, if i == 777_777 { 9.0 } else { (i % 2) as f64 });
        }
        let series = curve.series("spike");
        assert!(series.x.len() <= 2 * STRETCHES as usize);
        assert!(series.y.contains(&9.0) && series.x.contains(&777_777.0));
        assert!(series.x.is_sorted());
    }
}
