//! Stick-slip cycles of a measured signal: amplitude, period, static peaks, kinetic plateaus. Samples may be uneven and noisy.
//!
//! [`stick_slip`](super::stick_slip) watches a simulated signal, which has no noise; here levels are means and fitted curves, so that the
//! noise of the largest sample does not count as friction.

use super::measured::{DataError, median, noise, quantile};
use serde::Serialize;

/// Fewest rows.
pub const LEAST_ROWS: usize = 16;
/// A turn is a way back of more than so many standard deviations of the noise.
const TURN: f64 = 8.0;
/// Swings below this part of the usual large ones belong to a cycle; they are none of their own.
const MINOR: f64 = 0.4;
/// A way up and down again, or down and up, within this part of a long cycle is a spike: where a block comes to rest its friction may
/// jump for a moment. It is no cycle of its own, however high.
const SPIKE: f64 = 0.1;
/// Largest magnitude whose squares are numbers.
const LARGEST: f64 = 1e100;
/// Part of a leg of which the end is fitted.
const END: f64 = 0.2;
/// Samples within so many standard deviations of a line are on it.
const NEAR: f64 = 3.0;
/// A plateau lasts at least this part of its cycle,
const LASTS: f64 = 0.15;
/// begins within this part of it,
const BEGINS: f64 = 0.6;
/// changes over that time by less than this part of the swing,
const FLAT: f64 = 0.06;
/// and lies below the peak by at least this part.
const BELOW: f64 = 0.1;
/// The signal is stable if its amplitude is at most this part of its largest magnitude, as in the report of a run.
const STABLE: f64 = 0.01;

/// What of the signal is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Times before are passed over, s.
    pub from: Option<f64>,
    /// Times after are passed over, s.
    pub until: Option<f64>,
    /// Whether a straight line through the signal is taken off first: for displacements, which go on and on.
    pub detrend: bool,
}

/// A number seen once a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Mean over the cycles.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Standard deviation from cycle to cycle.
    pub spread: f64,
}

/// The top of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peak {
    /// When, s.
    pub t: f64,
    /// How high: the end of a curve through the rise.
    pub value: f64,
}

/// A flat stretch after a peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plateau {
    /// Its beginning, s.
    pub from: f64,
    /// Its end, s.
    pub until: f64,
    /// Its mean.
    pub value: f64,
}

/// Cycles of a signal. A signal that is mostly negative is turned round while it is looked at: its static peaks are its lowest points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CycleReport {
    /// The column.
    pub signal: String,
    /// Rows looked at.
    pub rows: usize,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// From peak to valley, mean over the cycles; `None` if there are none.
    pub amplitude: Option<f64>,
    /// Standard error and spread of the amplitude, as of any level.
    pub swing: Option<Level>,
    /// Mean time of a cycle, s.
    pub period: Option<f64>,
    /// The shortest, s.
    pub period_min: Option<f64>,
    /// The longest, s.
    pub period_max: Option<f64>,
    /// Standard error of the mean, s.
    pub period_error: Option<f64>,
    /// Largest sample.
    pub max: f64,
    /// Smallest sample.
    pub min: f64,
    /// Mean over time.
    pub mean: f64,
    /// Whole cycles.
    pub cycles: usize,
    /// Whether there are no cycles of more than 1 % of the largest magnitude.
    pub stable: bool,
    /// Part of the time between the outer quarters in which the signal rises (in magnitude): near 1 for a long stick and a short slip.
    pub rise_share: Option<f64>,
    /// The peaks.
    pub static_peak: Option<Level>,
    /// The plateaus behind them; `None` where there are none.
    pub kinetic_plateau: Option<Level>,
    /// The valleys.
    pub valley: Option<Level>,
    /// Half way between peak and valley. The force of a spring that drags a block swings about the kinetic friction, so this is it where
    /// there is no plateau.
    pub middle: Option<Level>,
    /// Each peak.
    pub peaks: Vec<Peak>,
    /// Each valley.
    pub valleys: Vec<Peak>,
    /// Each plateau.
    pub plateaus: Vec<Plateau>,
    /// Slope of the line that was taken off, per s.
    pub trend: Option<f64>,
}

/// Finds the cycles of a signal.
///
/// # Errors
/// If there are too few rows, or times do not increase.
pub fn cycles(signal: &str, times: &[f64], values: &[f64], window: Window) -> Result<CycleReport, DataError> {
    if times.len() != values.len() || times.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(DataError::new(
            "times of a signal must increase, one for each value",
            "",
        ));
    }
    let inside = |t: f64| window.from.is_none_or(|from| t >= from) && window.until.is_none_or(|until| t <= until);
    let rows: Vec<usize> = (0..times.len()).filter(|i| inside(times[*i])).collect();
    if rows.len() < LEAST_ROWS {
        return Err(DataError::new(
            format!(
                "there are {} rows to look at; it takes at least {LEAST_ROWS}",
                rows.len()
            ),
            if rows.len() < times.len() {
                "look at a longer time"
            } else {
                "give the whole record"
            },
        ));
    }
    let mut t: Vec<f64> = rows.iter().map(|i| times[*i]).collect();
    let mut y: Vec<f64> = rows.iter().map(|i| values[*i]).collect();
    let trend = window.detrend.then(|| {
        let line = line(&t, &y);
        for (t, y) in t.iter().zip(&mut y) {
            *y -= line.slope * (t - line.middle);
        }
        line.slope
    });
    let extremes = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
        (low.min(*y), high.max(*y))
    });
    let largest = extremes.0.abs().max(extremes.1.abs());
    // Also refuses what is no number.
    if largest.is_nan() || largest > LARGEST {
        return Err(DataError::new(
            format!("the values of \"{signal}\" go beyond {LARGEST:e}"),
            "look at its column and unit, or at a shorter time",
        ));
    }
    let areas = t.windows(2).zip(y.windows(2));
    let mean = areas.map(|(t, y)| 0.5 * (y[0] + y[1]) * (t[1] - t[0])).sum::<f64>() / (t[t.len() - 1] - t[0]);
    let first_noise = noise(&t, &y);
    let sign = if median(&mut y.clone()) < 0.0 { -1.0 } else { 1.0 };
    for y in &mut y {
        *y *= sign;
    }
    // Where noise hides the swing, means of neighbours show it.
    let mut left = first_noise;
    while t.len() >= 400 && quantile(&mut y.clone(), 0.95) - quantile(&mut y.clone(), 0.05) < 2.0 * TURN * left {
        t = t
            .chunks(2)
            .map(|pair| pair.iter().sum::<f64>() / pair.len() as f64)
            .collect();
        y = y
            .chunks(2)
            .map(|pair| pair.iter().sum::<f64>() / pair.len() as f64)
            .collect();
        left = noise(&t, &y);
    }
    let seen = Seen { t, y, noise: left };
    let mut report = seen.report();
    // A swing next to nothing is rounding.
    report.stable = report.amplitude.is_none_or(|amplitude| amplitude <= STABLE * largest);
    report.turn_back(sign);
    Ok(CycleReport {
        signal: signal.to_string(),
        rows: rows.len(),
        noise: first_noise,
        max: extremes.1,
        min: extremes.0,
        mean,
        trend,
        ..report
    })
}

impl CycleReport {
    /// Turns the levels of a signal that was looked at upside down.
    fn turn_back(&mut self, sign: f64) {
        let levels = [
            &mut self.static_peak,
            &mut self.kinetic_plateau,
            &mut self.valley,
            &mut self.middle,
        ];
        for level in levels.into_iter().flatten() {
            level.mean *= sign;
        }
        for peak in self.peaks.iter_mut().chain(&mut self.valleys) {
            peak.value *= sign;
        }
        for plateau in &mut self.plateaus {
            plateau.value *= sign;
        }
    }
}

/// A straight line through points, about their middle.
struct Line {
    middle: f64,
    height: f64,
    slope: f64,
    /// Sum of squares of t about the middle, and of what the line leaves.
    spread: f64,
    left: f64,
}

impl Line {
    fn at(&self, t: f64) -> f64 {
        self.height + self.slope * (t - self.middle)
    }
}

fn line(t: &[f64], y: &[f64]) -> Line {
    let count = t.len() as f64;
    let middle = t.iter().sum::<f64>() / count;
    let height = y.iter().sum::<f64>() / count;
    let spread: f64 = t.iter().map(|t| (t - middle) * (t - middle)).sum();
    let along: f64 = t.iter().zip(y).map(|(t, y)| (t - middle) * (y - height)).sum();
    let slope = if spread > 0.0 { along / spread } else { 0.0 };
    let off = |(t, y): (&f64, &f64)| y - height - slope * (t - middle);
    Line {
        middle,
        height,
        slope,
        spread,
        left: t.iter().zip(y).map(|point| off(point) * off(point)).sum(),
    }
}

/// A signal that is looked at.
struct Seen {
    t: Vec<f64>,
    y: Vec<f64>,
    noise: f64,
}

impl Seen {
    /// Rows of the turning points, and whether each is a top: the signal goes back from each by more than `turn`. The ends of the record
    /// are none.
    fn turns(&self, turn: f64) -> Vec<(usize, bool)> {
        let mut turns = Vec::new();
        let (mut low, mut high, mut rising) = (0, 0, None);
        for (i, y) in self.y.iter().enumerate() {
            if *y < self.y[low] {
                low = i;
            }
            if *y > self.y[high] {
                high = i;
            }
            if rising != Some(false) && self.y[high] - y > turn {
                if rising.is_some() || high > 0 {
                    turns.push((high, true));
                }
                (rising, low) = (Some(false), i);
            } else if rising != Some(true) && y - self.y[low] > turn {
                if rising.is_some() || low > 0 {
                    turns.push((low, false));
                }
                (rising, high) = (Some(true), i);
            }
        }
        turns
    }

    /// The turning points without those of spikes.
    fn without_spikes(&self, mut turns: Vec<(usize, bool)>) -> Vec<(usize, bool)> {
        let tops: Vec<f64> = turns.iter().filter(|turn| turn.1).map(|turn| self.t[turn.0]).collect();
        let mut spaces: Vec<f64> = tops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let long = quantile(&mut spaces, 0.9);
        // The shorter of the ways to and from a turning point that is part of a spike.
        let way = |turns: &[(usize, bool)], i: usize| {
            let [before, at, after] = [i.checked_sub(1)?, i, i + 1].map(|i| turns.get(i).map(|turn| turn.0));
            let (before, at, after) = (before?, at?, after?);
            let height = |other: usize| (self.y[at] - self.y[other]).abs();
            (self.t[after] - self.t[before] < SPIKE * long).then(|| height(before).min(height(after)))
        };
        let mut i = 1;
        while i + 1 < turns.len() {
            let Some(here) = way(&turns, i) else {
                i += 1;
                continue;
            };
            // The turn before a spike is as close to its neighbours as the spike is.
            let at = if way(&turns, i + 1).is_some_and(|next| next < here) {
                i + 1
            } else {
                i
            };
            // Of the two beside it the one stays that goes farther the other way.
            let first = (self.y[turns[at - 1].0] < self.y[turns[at + 1].0]) == turns[at].1;
            turns.drain(if first { at..=at + 1 } else { at - 1..=at });
            i = i.max(2) - 1;
        }
        turns
    }

    fn report(&self) -> CycleReport {
        let range = quantile(&mut self.y.clone(), 0.99) - quantile(&mut self.y.clone(), 0.01);
        let least = (TURN * self.noise).max(0.02 * range).max(f64::MIN_POSITIVE);
        let swing = |pair: &[(usize, bool)]| (self.y[pair[0].0] - self.y[pair[1].0]).abs();
        let mut swings: Vec<f64> = self.turns(least).windows(2).map(swing).collect();
        let usual = quantile(&mut swings, 0.9);
        let turns = self.without_spikes(self.turns(least.max(MINOR * usual)));
        let mut report = CycleReport {
            signal: String::new(),
            rows: 0,
            noise: self.noise,
            amplitude: None,
            swing: None,
            period: None,
            period_min: None,
            period_max: None,
            period_error: None,
            max: 0.0,
            min: 0.0,
            mean: 0.0,
            cycles: 0,
            stable: true,
            rise_share: None,
            static_peak: None,
            kinetic_plateau: None,
            valley: None,
            middle: None,
            peaks: Vec::new(),
            valleys: Vec::new(),
            plateaus: Vec::new(),
            trend: None,
        };
        // A top needs the valleys on both sides, or what went before it is not known to be a rise.
        let mut middles = Vec::new();
        let mut differences = Vec::new();
        let (mut up, mut down) = (0.0, 0.0);
        let mut edges = (Vec::new(), Vec::new());
        for (i, three) in turns.windows(3).enumerate() {
            let [(before, _), (at, top), (after, _)] = *three else {
                continue;
            };
            if !top {
                let level = 0.5 * (self.y[before] + self.y[at]);
                edges.1.push(self.crossing(at, after, level));
                continue;
            }
            let peak = self.top(before, at, after);
            let valley = self.bottom(at, after, turns.get(i + 3).map_or(self.y.len() - 1, |next| next.0));
            edges
                .0
                .push(self.crossing(at, after, 0.5 * (self.y[at] + self.y[after])));
            // Between the outer quarters, where noise does not tell when.
            let part = |from: usize, to: usize, part: f64| self.y[from] + part * (self.y[to] - self.y[from]);
            let between = |from: usize, to: usize| {
                self.crossing(from, to, part(from, to, 0.75)) - self.crossing(from, to, part(from, to, 0.25))
            };
            up += between(before, at);
            down += between(at, after);
            differences.push(peak.value - valley.value);
            middles.push(0.5 * (peak.value + valley.value));
            let next = turns.get(i + 3).map(|next| next.0);
            report
                .plateaus
                .extend(next.and_then(|next| self.plateau(at, next, peak.value, peak.value - valley.value)));
            report.peaks.push(peak);
            report.valleys.push(valley);
        }
        // The shorter of fall and rise tells best when a cycle begins.
        let edges = if down <= up || edges.1.len() + 1 < edges.0.len() {
            edges.0
        } else {
            edges.1
        };
        let periods: Vec<f64> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
        report.cycles = periods.len();
        if let Some(period) = level(&periods) {
            report.period = Some(period.mean);
            report.period_error = (periods.len() > 1).then_some(period.error);
            report.period_min = periods.iter().copied().reduce(f64::min);
            report.period_max = periods.iter().copied().reduce(f64::max);
        }
        // What few cycles have is chance.
        if 3 * report.plateaus.len() < report.peaks.len() {
            report.plateaus.clear();
        }
        if periods.is_empty() {
            // One swing alone is no cycle.
            report.plateaus.clear();
            return report;
        }
        report.swing = level(&differences);
        report.amplitude = report.swing.map(|swing| swing.mean);
        report.rise_share = Some(up / (up + down));
        report.static_peak = level(&values(&report.peaks));
        report.valley = level(&values(&report.valleys));
        report.middle = level(&middles);
        report.kinetic_plateau = level(&report.plateaus.iter().map(|plateau| plateau.value).collect::<Vec<_>>());
        report
    }

    /// When the signal passes a level for the last time on its way between two rows.
    fn crossing(&self, from: usize, to: usize, level: f64) -> f64 {
        let side = self.y[from] > level;
        let last = (from..to).rev().find(|i| (self.y[*i] > level) == side).unwrap_or(from);
        let (y, z) = (self.y[last], self.y[last + 1]);
        let part = if z == y {
            0.5
        } else {
            ((level - y) / (z - y)).clamp(0.0, 1.0)
        };
        self.t[last] + part * (self.t[last + 1] - self.t[last])
    }

    /// The height of a top between two valleys: a parabola through the end of the rise.
    fn top(&self, before: usize, at: usize, after: usize) -> Peak {
        let start = self.t[at] - END * (self.t[at] - self.t[before]);
        let first = (before..=at).find(|i| self.t[*i] >= start).unwrap_or(at);
        // The highest sample is seldom the last of the rise: those that go on along its line are.
        let line = line(&self.t[first..=at], &self.y[first..=at]);
        let on_line = |i: &usize| self.y[*i] > line.at(self.t[*i]) - NEAR * self.noise;
        let last = (at + 1..after).take_while(on_line).last().unwrap_or(at);
        self.extreme(first, last, at, 1.0)
    }

    /// The depth of a valley behind a top, before the next.
    fn bottom(&self, top: usize, at: usize, next: usize) -> Peak {
        let end = self.t[at] + END * (self.t[next] - self.t[at]);
        let last = (at..=next).take_while(|i| self.t[*i] <= end).last().unwrap_or(at);
        let line = line(&self.t[at..=last], &self.y[at..=last]);
        let on_line = |i: &usize| self.y[*i] < line.at(self.t[*i]) + NEAR * self.noise;
        let first = (top + 1..at).rev().take_while(on_line).last().unwrap_or(at);
        self.extreme(first, last, at, -1.0)
    }

    /// The largest (or smallest) value of a parabola through these rows; the sample itself where they are few or no parabola.
    fn extreme(&self, first: usize, last: usize, at: usize, sign: f64) -> Peak {
        let raw = Peak {
            t: self.t[at],
            value: self.y[at],
        };
        let (t, y) = (&self.t[first..=last], &self.y[first..=last]);
        let Some(curve) = parabola(t, y).filter(|_| t.len() >= 6) else {
            return raw;
        };
        let left: f64 = t
            .iter()
            .zip(y)
            .map(|(t, y)| (y - curve.at(*t)) * (y - curve.at(*t)))
            .sum();
        if (left / (t.len() - 3) as f64).sqrt() > 2.0 * self.noise {
            return raw;
        }
        let (from, until) = (t[0], t[t.len() - 1]);
        let steps = (0..=50).map(|i| from + (until - from) * f64::from(i) / 50.0);
        let best = steps.max_by(|a, b| (sign * curve.at(*a)).total_cmp(&(sign * curve.at(*b))));
        best.map_or(raw, |t| Peak { t, value: curve.at(t) })
    }

    /// The first flat stretch between two tops.
    fn plateau(&self, top: usize, next: usize, peak: f64, swing: f64) -> Option<Plateau> {
        let whole = self.t[next] - self.t[top];
        let lasts = LASTS * whole;
        let flat = |first: usize, last: usize| {
            let (t, y) = (&self.t[first..=last], &self.y[first..=last]);
            let line = line(t, y);
            let ripple = (line.left / (t.len() as f64 - 2.0).max(1.0)).sqrt();
            let doubt = 2.0 * self.noise / line.spread.sqrt().max(f64::MIN_POSITIVE);
            let most = FLAT * swing / lasts;
            // The bottom of a wave is level for a while, too, but it is bent.
            let (from, until) = (t[0], t[t.len() - 1]);
            let sag = parabola(t, y).map_or(0.0, |curve| {
                0.5 * (curve.at(from) + curve.at(until)) - curve.at(0.5 * (from + until))
            });
            // A slope that the noise hides is none that was seen to be flat.
            (t.len() >= 5
                && line.slope.abs() <= most
                && line.slope.abs() + doubt <= 1.5 * most
                && ripple <= (2.0 * self.noise).max(0.5 * FLAT * swing)
                && sag.abs() <= (3.0 * self.noise).max(0.5 * FLAT * swing)
                && line.height < peak - BELOW * swing)
                .then_some(line.height)
        };
        let candidates = (top + 1..next).take_while(|i| self.t[*i] <= self.t[top] + BEGINS * whole);
        // Rows may be very many: a hundred places to begin are enough.
        let count = candidates.clone().count();
        for first in candidates.step_by((count / 100).max(1)) {
            let end = self.t[first] + lasts;
            let last = (first..next).find(|i| self.t[*i] >= end)?;
            if flat(first, last).is_none() {
                continue;
            }
            let steps = ((next - last) / 50).max(1);
            let farther = (last..next).step_by(steps).take_while(|last| {
                let (change, part) = (self.y[*last] - self.y[first], self.t[*last] - self.t[first]);
                flat(first, *last).is_some() && (change.abs() <= FLAT * swing + 4.0 * self.noise || part <= lasts)
            });
            let last = farther.last().unwrap_or(last);
            return flat(first, last).map(|value| Plateau {
                from: self.t[first],
                until: self.t[last],
                value,
            });
        }
        None
    }
}

fn values(peaks: &[Peak]) -> Vec<f64> {
    peaks.iter().map(|peak| peak.value).collect()
}

/// Mean, error and spread; `None` of none.
fn level(values: &[f64]) -> Option<Level> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let spread = if values.len() > 1 {
        (squares / (count - 1.0)).sqrt()
    } else {
        0.0
    };
    Some(Level {
        mean,
        error: spread / count.sqrt(),
        spread,
    })
}

/// c₀ + c₁ s + c₂ s² with s from -1 to 1.
struct Parabola {
    middle: f64,
    half: f64,
    c: [f64; 3],
}

impl Parabola {
    fn at(&self, t: f64) -> f64 {
        let s = (t - self.middle) / self.half;
        self.c[0] + s * (self.c[1] + s * self.c[2])
    }
}

/// The parabola nearest to points; `None` if they do not tell one.
fn parabola(t: &[f64], y: &[f64]) -> Option<Parabola> {
    let (first, last) = (*t.first()?, *t.last()?);
    let (middle, half) = (0.5 * (first + last), 0.5 * (last - first));
    if half <= 0.0 {
        return None;
    }
    let mut normal = nalgebra::Matrix3::zeros();
    let mut right = nalgebra::Vector3::zeros();
    for (t, y) in t.iter().zip(y) {
        let s = (t - middle) / half;
        let powers = nalgebra::Vector3::new(1.0, s, s * s);
        normal += powers * powers.transpose();
        right += powers * *y;
    }
    let c = normal.cholesky()?.solve(&right);
    c.iter().all(|c| c.is_finite()).then_some(Parabola {
        middle,
        half,
        c: [c[0], c[1], c[2]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uneven times and nearly normal noise.
    struct Logger(u64);

    impl Logger {
        fn uniform(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }

        fn log(&mut self, until: f64, gap: f64, noise: f64, signal: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
            let mut t = 0.0;
            let (mut times, mut values) = (Vec::new(), Vec::new());
            while t < until {
                times.push(t);
                values.push(signal(t) + noise * self.normal());
                t += gap * (0.2 + 1.6 * self.uniform());
            }
            (times, values)
        }
    }

    #[track_caller]
    fn near(level: Option<Level>, expected: f64, least: f64) {
        let level = level.expect("no such level");
        let off = (level.mean - expected).abs();
        assert!(off < 4.0 * level.error.max(least), "{level:?} is not {expected}");
    }

    /// Up to 8 within 3 s, down to 5 at once, and flat there for 2 s: peak 8, plateau 5 = valley, amplitude 3.
    fn with_plateau(t: f64) -> f64 {
        let phase = t % 5.0;
        if phase < 3.0 { 5.0 + phase } else { 5.0 }
    }

    #[test]
    fn peaks_and_plateaus_through_noise() {
        for (gap, noise) in [(0.02, 0.1), (0.005, 0.3), (0.05, 0.0)] {
            let (t, y) = Logger(11).log(62.0, gap, noise, with_plateau);
            let report = cycles("f", &t, &y, Window::default()).unwrap();
            // Where the record begins with a valley, that is not seen to be one.
            assert!((10..=11).contains(&report.cycles), "{report:?}");
            near(report.static_peak, 8.0, gap);
            near(report.kinetic_plateau, 5.0, 0.03);
            near(report.swing, 3.0, 0.05);
            assert!(report.plateaus.len() >= 10 && !report.stable);
            let period = report.period.unwrap();
            assert!((period - 5.0).abs() < 0.02, "{period}");
            // Turned round, the same with the other sign.
            let turned: Vec<f64> = y.iter().map(|y| -y).collect();
            let other = cycles("f", &t, &turned, Window::default()).unwrap();
            assert_eq!(other.period, report.period);
            assert_eq!(other.static_peak.unwrap().mean, -report.static_peak.unwrap().mean);
            assert_eq!(other.amplitude, report.amplitude);
        }
    }

    /// Friction that jumps up for a moment where the block comes to rest, by 60 % of the swing.
    #[test]
    fn a_spike_is_no_cycle() {
        let spiked = |t: f64| {
            let phase = t % 4.0;
            let spike = if (0.1..0.16).contains(&phase) { 3.0 } else { 0.0 };
            20.0 + 5.0 * phase / 4.0 + spike
        };
        for noise in [0.0, 0.05] {
            let (t, y) = Logger(5).log(80.0, 0.01, noise, spiked);
            let report = cycles("f", &t, &y, Window::default()).unwrap();
            assert!((report.period.unwrap() - 4.0).abs() < 0.02, "{report:?}");
            assert!((18..=19).contains(&report.cycles), "{}", report.cycles);
            near(report.static_peak, 25.0, 0.03);
        }
    }

    #[test]
    fn values_beyond_all_measure_are_refused() {
        let (t, y) = Logger(5).log(80.0, 0.1, 0.0, |t| 1e200 * t);
        let error = cycles("f", &t, &y, Window::default()).unwrap_err();
        assert!(error.message.contains("beyond"), "{}", error.message);
    }

    /// A saw has no plateau, whatever its noise.
    #[test]
    fn a_saw_has_none() {
        let saw = |t: f64| 10.0 + 4.0 * (t % 2.5) / 2.5;
        for seed in 0..20 {
            let (t, y) = Logger(seed).log(60.0, 0.02, 0.15, saw);
            let report = cycles("f", &t, &y, Window::default()).unwrap();
            assert!(report.kinetic_plateau.is_none(), "{:?}", report.plateaus);
            near(report.static_peak, 14.0, 0.03);
            near(report.middle, 12.0, 0.03);
            assert!((report.rise_share.unwrap() - 1.0).abs() < 0.05);
        }
    }

    /// Over very many cycles the errors are small, and the levels still right.
    #[test]
    fn levels_of_many_cycles_are_not_biased() {
        let saw = |t: f64| 10.0 + 4.0 * (t % 2.5) / 2.5;
        for (gap, noise, near) in [(0.002, 0.3, 0.02), (0.01, 0.1, 0.02), (0.01, 0.2, 0.03)] {
            let (t, y) = Logger(1).log(900.0, gap, noise, saw);
            let report = cycles("f", &t, &y, Window::default()).unwrap();
            let peak = report.static_peak.unwrap().mean;
            let valley = report.valley.unwrap().mean;
            assert!(
                (peak - 14.0).abs() < near && (valley - 10.0).abs() < near,
                "{gap} {noise}: {peak} {valley}"
            );
        }
    }

    #[test]
    fn noise_alone_has_no_cycles_and_a_staircase_needs_its_trend_off() {
        let (t, y) = Logger(3).log(100.0, 0.05, 0.5, |_| -7.0);
        let report = cycles("f", &t, &y, Window::default()).unwrap();
        assert_eq!((report.cycles, report.amplitude, report.stable), (0, None, true));
        assert!((report.mean + 7.0).abs() < 0.1);
        // 3 mm every 4 s.
        let (t, y) = Logger(4).log(60.0, 0.02, 0.05, |t| 3.0 * (t / 4.0).floor());
        assert_eq!(cycles("x", &t, &y, Window::default()).unwrap().cycles, 0);
        let detrend = Window {
            detrend: true,
            ..Window::default()
        };
        let report = cycles("x", &t, &y, detrend).unwrap();
        near(report.swing, 3.0, 0.05);
        assert!((report.period.unwrap() - 4.0).abs() < 0.02 && (report.trend.unwrap() - 0.75).abs() < 0.02);
    }

    #[test]
    fn only_what_is_in_the_window_counts() {
        let (t, y) = Logger(6).log(60.0, 0.02, 0.05, |t| {
            if t < 30.0 { 4.0 * t } else { 100.0 + with_plateau(t) }
        });
        let late = Window {
            from: Some(30.0),
            until: Some(58.0),
            ..Window::default()
        };
        let report = cycles("f", &t, &y, late).unwrap();
        near(report.static_peak, 108.0, 0.02);
        assert!(report.max < 109.0);
        let short = Window {
            until: Some(0.1),
            ..Window::default()
        };
        assert!(cycles("f", &t, &y, short).unwrap_err().message.contains("at least 16"));
    }
}
