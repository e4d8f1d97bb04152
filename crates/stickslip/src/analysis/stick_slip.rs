//! Stick-slip of a signal: amplitude, period, cycles, and where the transient ends.

use crate::scenario::StickSlipSpec;
use serde::Serialize;

/// What governs a cycle of stick-slip (Ozaki, Hashiguchi and Chen 2007, section 4.2; its source is Baumberger et al. 1994). The paper has no definition;
/// this one looks at how far the friction is ahead of sliding steadily: it falls behind in stick, at the speed of the drive, and
/// catches up in a slip, which takes about half a period of mass and spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// A long stick, in which friction recovers and creeps, ends in a short slip.
    Creep,
    /// Mass and spring swing: falling behind and catching up take about as long.
    Inertial,
}

/// Part of the time that the slower of falling behind and catching up takes from which on a cycle counts as creep. A
/// slip takes half a period of mass and spring, so the cycle is then longer than two of these.
const MOSTLY: f64 = 0.75;

/// Part of the whole swing that a turn must go back to count as one: the vibration of a contact is far less.
const TURN: f64 = 0.125;

/// Stick-slip of a signal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StickSlipReport {
    /// The column.
    pub signal: String,
    /// Largest less smallest value after the start of the analysis, divided by the scale.
    pub amplitude: f64,
    /// Mean time between rises through the middle, or between falls if they are fewer, s.
    pub period: Option<f64>,
    /// The shortest of these times, s.
    pub period_min: Option<f64>,
    /// The longest of them, s.
    pub period_max: Option<f64>,
    /// Largest value over the scale.
    pub max: f64,
    /// Smallest value over the scale.
    pub min: f64,
    /// Whole cycles seen.
    pub cycles: u64,
    /// Whether the amplitude is at most the threshold.
    pub stable: bool,
    /// The threshold: as written, from criterion (35) of Ozaki, Hashiguchi and Chen (2007), or 1 % of the largest magnitude of the signal.
    pub threshold: f64,
    /// From here on every cycle swings as far as the others, s; `None` if fewer than two cycles do.
    pub transient_end: Option<f64>,
    /// Part of the time between its outer quarters in which the signal rises.
    pub rise_share: Option<f64>,
    /// The region of the cycle, by the slip of the friction, whatever the signal; `None` where sliding is stable, and where the
    /// friction does not recover at rest (no creep) or nothing has mass (no inertia).
    pub region: Option<Region>,
    /// Rate at which the fastest disturbance of steady sliding grows, 1/s, where it was asked for: see
    /// [`SteadySliding`](super::steady::SteadySliding).
    pub linear_growth: Option<f64>,
    /// Its angular frequency, rad/s.
    pub linear_frequency: Option<f64>,
    /// Why these are absent, where they were asked for.
    pub linear_reason: Option<String>,
    /// How fast the pull of the driving spring grows, N/s, where the friction has a rate of recovery.
    pub drive_rate: Option<f64>,
    /// How fast the holding limit recovers at rest, N/s; criterion (37) of Ozaki, Hashiguchi and Chen (2007) calls the sliding stable if the pull
    /// grows faster.
    pub recovery_rate: Option<f64>,
}

/// Samples kept until the levels of the cycle are known. With more of them than this the levels are those of the
/// samples so far, which in a cycle that repeats itself are the final ones.
const MOST_SAMPLES: usize = 1 << 20;

/// A signal that varies by less than this part of itself does not swing.
const LEAST: f64 = 1e-9;

/// The threshold, where none is given, as part of the largest magnitude of the signal.
const STABLE: f64 = 0.01;

/// Cycles that swing as far as each other differ by at most this part.
const ALIKE: f64 = 0.02;

/// Watches a signal.
#[derive(Clone, Debug)]
pub struct StickSlip {
    spec: StickSlipSpec,
    most: usize,
    /// Time, value, and how far the friction has slipped.
    samples: Vec<[f64; 3]>,
    /// Time, slip velocity and slip of the last sample, where they are known.
    slipped: Option<[f64; 3]>,
    sway: Sway,
    /// Smallest and largest value so far.
    range: Option<(f64, f64)>,
    /// Largest magnitude of the whole run, from its start.
    largest: f64,
    legs: Legs,
    /// Cycles from rise to rise and from fall to fall.
    cycles: [Cycles; 2],
}

impl StickSlip {
    /// Nothing seen yet.
    pub fn new(spec: StickSlipSpec) -> Self {
        StickSlip {
            spec,
            most: MOST_SAMPLES,
            samples: Vec::new(),
            slipped: None,
            sway: Sway::default(),
            range: None,
            largest: 0.0,
            legs: Legs::default(),
            cycles: Default::default(),
        }
    }

    /// The signal at a time, and the slip velocity of the friction that makes it, where there is one; times before the start of the
    /// analysis are passed over.
    pub fn watch(&mut self, time: f64, signal: f64, slip: Option<f64>) {
        self.largest = self.largest.max((signal / self.spec.scale).abs());
        if time < self.spec.from {
            return;
        }
        self.slipped = slip.map(|velocity| {
            let [then, was, slipped] = self.slipped.unwrap_or([time, velocity, 0.0]);
            [time, velocity, slipped + 0.5 * (was + velocity) * (time - then)]
        });
        let value = signal / self.spec.scale;
        self.range = Some(match self.range {
            None => (value, value),
            Some((low, high)) => (low.min(value), high.max(value)),
        });
        let slipped = self.slipped.map_or(value, |last| last[2]);
        if self.most == 0 {
            self.cross(self.levels(), time, value);
            self.sway.widen(time, slipped);
            self.sway.watch(time, slipped);
            return;
        }
        self.samples.push([time, value, slipped]);
        if self.samples.len() >= self.most {
            self.most = 0;
            self.count();
        }
    }

    fn levels(&self) -> Levels {
        let (min, max) = self.range.unwrap_or((0.0, 0.0));
        // What stays within rounding, as integrators leave it, does not swing.
        let swings = max - min > LEAST * max.abs().max(min.abs());
        Levels {
            quarter: if swings { 0.25 * (max - min) } else { f64::INFINITY },
            middle: 0.5 * (max + min),
        }
    }

    /// Falls are rises of the signal turned upside down.
    fn cross(&mut self, levels: Levels, time: f64, value: f64) {
        let above = value - levels.middle;
        self.legs.watch(levels.quarter, time, above);
        self.cycles[0].watch(levels.quarter, time, above);
        self.cycles[1].watch(levels.quarter, time, -above);
    }

    /// Counts the cycles of the kept samples, which are then no longer needed.
    fn count(&mut self) {
        let levels = self.levels();
        let samples = std::mem::take(&mut self.samples);
        if self.slipped.is_some() {
            self.sway.speed = steady_speed(&samples);
        }
        for &[time, _, slipped] in &samples {
            self.sway.widen(time, slipped);
        }
        for &[time, value, slipped] in &samples {
            self.cross(levels, time, value);
            self.sway.watch(time, slipped);
        }
    }

    /// What was seen; `None` if the analysis never began.
    pub fn finish(mut self) -> Option<StickSlipReport> {
        let (min, max) = self.range?;
        self.count();
        let [up, down] = self.legs.time;
        let between = up + down;
        // A slip may swing back beyond the middle and rise twice in a cycle, but it falls once, or the other way round: then the
        // fewer are the cycles. Otherwise their numbers differ by one at most, and the more say more. The choice is the same for
        // a signal and its negative.
        let [rises, falls] = &self.cycles;
        let (fewer, more) = if (rises.count, rises.first) <= (falls.count, falls.first) {
            (rises, falls)
        } else {
            (falls, rises)
        };
        let cycles = if more.count == fewer.count + 1 { more } else { fewer };
        // What is left of a signal that was far larger before may be rounding.
        let relative = (STABLE * max.abs().max(min.abs())).max(LEAST * self.largest);
        let threshold = self.spec.threshold.unwrap_or(relative);
        Some(StickSlipReport {
            amplitude: max - min,
            period: cycles.period(),
            period_min: (cycles.count > 1).then_some(cycles.shortest),
            period_max: (cycles.count > 1).then_some(cycles.longest),
            max,
            min,
            cycles: cycles.count.saturating_sub(1),
            stable: max - min <= threshold,
            threshold,
            transient_end: cycles.transient_end(),
            rise_share: (cycles.count > 1 && between > 0.0).then(|| up / between),
            // What drifts without coming back is no cycle of either kind.
            region: (max - min > threshold && cycles.count > 1)
                .then(|| self.sway.region())
                .flatten(),
            linear_growth: None,
            linear_frequency: None,
            linear_reason: None,
            signal: self.spec.signal,
            drive_rate: None,
            recovery_rate: None,
        })
    }
}

/// The middle of a signal, and how far from it the outer quarters begin.
#[derive(Clone, Copy, Debug)]
struct Levels {
    quarter: f64,
    middle: f64,
}

/// How long a signal takes from its lowest quarter to its highest, and back. What it does within them, such as the vibration of
/// a contact after a slip, does not count.
#[derive(Clone, Debug, Default)]
struct Legs {
    /// The time up and the time down.
    time: [f64; 2],
    /// When it left an outer quarter last, and whether the highest.
    left: Option<(f64, bool)>,
    /// The sample before.
    before: Option<(f64, f64)>,
}

impl Legs {
    fn watch(&mut self, quarter: f64, time: f64, above: f64) {
        let (then, was) = self.before.replace((time, above)).unwrap_or((time, above));
        // When it passed the edge of a quarter on the straight way from the sample before.
        let passed = |edge: f64| then + (time - then) * (edge - was) / (above - was);
        let (was_out, is_out) = (was.abs() > quarter, above.abs() > quarter);
        let (was_high, high) = (was > 0.0, above > 0.0);
        if was_out && (!is_out || high != was_high) {
            self.left = Some((passed(quarter.copysign(was)), was_high));
        }
        if let Some((left, from_high)) = self.left
            && is_out
            && from_high != high
        {
            self.time[usize::from(from_high)] += passed(quarter.copysign(above)) - left;
            self.left = None;
        }
    }
}

/// Rounds in which the mean speed of whole cycles is looked for.
const ROUNDS: usize = 4;

/// The speed of steady sliding: the mean over whole cycles of the slip. That over all samples depends on where in a cycle they begin and end,
/// but its turns are a whole number of cycles apart if they are of one kind, whatever the speed they were found with.
fn steady_speed(samples: &[[f64; 3]]) -> f64 {
    let mean = |first: &[f64; 3], last: &[f64; 3]| (last[2] - first[2]) / (last[0] - first[0]);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return 0.0;
    };
    if last[0] <= first[0] {
        return 0.0;
    }
    let mut speed = mean(first, last);
    for _ in 0..ROUNDS {
        let mut sway = Sway {
            speed,
            ..Sway::default()
        };
        for &[time, _, slipped] in samples {
            sway.widen(time, slipped);
        }
        for &[time, _, slipped] in samples {
            sway.watch(time, slipped);
        }
        // The longer of the stretches from top to top and from bottom to bottom.
        let whole = sway.turns.into_iter().flatten();
        let Some([from, to]) = whole.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))) else {
            break;
        };
        let at = |time: f64| {
            samples[samples
                .partition_point(|sample| sample[0] < time)
                .min(samples.len() - 1)]
        };
        let (from, to) = (at(from), at(to));
        if to[0] <= from[0] {
            break;
        }
        let before = std::mem::replace(&mut speed, mean(&from, &to));
        if speed == before {
            break;
        }
    }
    speed
}

/// How far a friction is ahead of sliding steadily, from turn to turn.
#[derive(Clone, Debug, Default)]
struct Sway {
    /// The speed of steady sliding.
    speed: f64,
    /// Smallest and largest value so far.
    range: Option<(f64, f64)>,
    /// Lowest and highest place since the last turn, each with its time.
    extremes: Option<[(f64, f64); 2]>,
    /// Whether it was up at the last turn, and when that was; nothing before the first.
    turned: Option<(bool, Option<f64>)>,
    /// The time up and the time down, and how often it went there.
    time: [f64; 2],
    ways: [u32; 2],
    /// When it turned first and last, at the top and at the bottom.
    turns: [Option<[f64; 2]>; 2],
}

impl Sway {
    fn widen(&mut self, time: f64, slipped: f64) {
        let ahead = slipped - self.speed * time;
        let (low, high) = self.range.unwrap_or((ahead, ahead));
        self.range = Some((low.min(ahead), high.max(ahead)));
    }

    fn watch(&mut self, time: f64, slipped: f64) {
        let ahead = slipped - self.speed * time;
        let turn = TURN * self.range.map_or(0.0, |(low, high)| high - low);
        let [low, high] = self.extremes.unwrap_or([(ahead, time); 2]);
        let low = if ahead < low.0 { (ahead, time) } else { low };
        let high = if ahead > high.0 { (ahead, time) } else { high };
        self.extremes = Some([low, high]);
        let falls = high.0 - ahead > turn && self.turned.is_none_or(|(up, _)| !up);
        let rises = ahead - low.0 > turn && self.turned.is_none_or(|(up, _)| up);
        if !(falls || rises) {
            return;
        }
        // It has turned, at the top or at the bottom. The way to the first turn may have begun before.
        let at = if falls { high.1 } else { low.1 };
        if let Some((_, Some(before))) = self.turned {
            self.time[usize::from(rises)] += at - before;
            self.ways[usize::from(rises)] += 1;
        }
        if self.turned.is_some() {
            let ends = &mut self.turns[usize::from(rises)];
            *ends = Some(ends.map_or([at; 2], |[first, _]| [first, at]));
        }
        self.turned = Some((falls, self.turned.map(|_| at)));
        self.extremes = Some([(ahead, time); 2]);
    }

    fn region(&self) -> Option<Region> {
        // Means, as there may be one more of the ways up than down, by where the samples begin.
        let [up, down] = [0, 1].map(|way| self.time[way] / f64::from(self.ways[way].max(1)));
        (up > 0.0 && down > 0.0).then(|| {
            if up.max(down) >= MOSTLY * (up + down) {
                Region::Creep
            } else {
                Region::Inertial
            }
        })
    }
}

/// Rises through the middle, and how far the signal swings between two of them.
#[derive(Clone, Debug, Default)]
struct Cycles {
    armed: bool,
    count: u64,
    first: f64,
    last: f64,
    /// The shortest and the longest time from one to the next.
    shortest: f64,
    longest: f64,
    /// The sample before.
    before: (f64, f64),
    /// Smallest and largest value since the last rise.
    swing: (f64, f64),
    /// The present stretch of cycles that swing alike: where it begins, how far its first cycle swings, how many.
    stretch: Option<(f64, f64, u64)>,
}

impl Cycles {
    /// The height of the signal above the middle. A rise counts once the signal has come from the lower quarter, so noise does
    /// not count.
    fn watch(&mut self, quarter: f64, time: f64, above: f64) {
        self.swing = (self.swing.0.min(above), self.swing.1.max(above));
        if above < -quarter {
            self.armed = true;
        } else if self.armed && above >= 0.0 && quarter > 0.0 {
            // On the straight way from the sample before, which is below.
            let (then, was) = self.before;
            self.rise(then + (time - then) * was / (was - above));
            self.swing = (above, above);
        }
        self.before = (time, above);
    }

    fn rise(&mut self, time: f64) {
        self.armed = false;
        if self.count == 0 {
            self.first = time;
        } else {
            let lasted = time - self.last;
            let shortest = if self.count == 1 { lasted } else { self.shortest };
            (self.shortest, self.longest) = (shortest.min(lasted), self.longest.max(lasted));
            let swing = self.swing.1 - self.swing.0;
            self.stretch = Some(match self.stretch {
                Some((from, first, count)) if (swing - first).abs() <= ALIKE * first => (from, first, count + 1),
                _ => (self.last, swing, 1),
            });
        }
        self.count += 1;
        self.last = time;
    }

    fn period(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.last - self.first) / (self.count - 1) as f64)
    }

    fn transient_end(&self) -> Option<f64> {
        self.stretch.filter(|(.., count)| *count > 1).map(|(from, ..)| from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> StickSlipSpec {
        StickSlipSpec {
            signal: "s".to_string(),
            scale: 2.0,
            from: 1.0,
            threshold: Some(0.01),
            e: None,
        }
    }

    /// Rises for nine tenths of the period, falls for one; swings from -1 to 1 from the fifth cycle on.
    fn saw(time: f64, period: f64) -> f64 {
        let cycle = libm::floor(time / period);
        let phase = time / period - cycle;
        let wave = if phase < 0.9 { phase / 0.9 } else { (1.0 - phase) / 0.1 };
        let reach = if cycle < 4.0 { 1.0 - 0.2 * (4.0 - cycle) } else { 1.0 };
        reach * (2.0 * wave - 1.0)
    }

    fn watched(most: usize) -> StickSlipReport {
        let mut analysis = StickSlip::new(spec());
        analysis.most = most;
        for i in 0..20_000 {
            let time = f64::from(i) * 1e-3;
            analysis.watch(time, 2.0 * saw(time, 1.25), None);
        }
        analysis.finish().unwrap()
    }

    #[test]
    fn a_saw_is_measured_as_it_was_made() {
        let report = watched(MOST_SAMPLES);
        // 20 s hold 16 periods. The first two do not reach the lower quarter: 14 rises, 13 cycles.
        assert_eq!(report.cycles, 13);
        assert!((report.period.unwrap() - 1.25).abs() < 2e-3 / 13.0, "{report:?}");
        assert!((report.amplitude - 2.0).abs() < 2e-2);
        // Nine tenths of a period up, one down, and the same of what lies between the outer quarters.
        assert!((report.rise_share.unwrap() - 0.9).abs() < 2e-3, "{report:?}");
        // The fifth cycle, from 5 s, is the first of full reach; it crosses the middle upwards at 0.45 of the period.
        assert!((report.transient_end.unwrap() - (5.0 + 0.45 * 1.25)).abs() < 2e-3);
        assert!(!report.stable);
        assert_eq!(report.region, Some(Region::Creep));
    }

    #[test]
    fn an_oscillation_is_inertial() {
        for (swing, region) in [(1.0, Some(Region::Inertial)), (0.005, None)] {
            let mut analysis = StickSlip::new(spec());
            for i in 0..20_000 {
                let time = f64::from(i) * 1e-3;
                analysis.watch(time, swing * libm::sin(3.0 * time), None);
            }
            assert_eq!(analysis.finish().unwrap().region, region);
        }
    }

    /// The contact vibrates after a slip: the force of friction shows it, that of the spring does not. Both are of one region.
    #[test]
    fn a_vibration_beside_the_cycle_does_not_change_its_region() {
        for ringing in [0.0, 0.3] {
            let mut analysis = StickSlip::new(spec());
            for i in 0..40_000 {
                let time = f64::from(i) * 5e-4;
                let since = time - 1.25 * libm::floor(time / 1.25);
                let ring = ringing * libm::exp(-4.0 * since) * libm::sin(200.0 * since);
                analysis.watch(time, 2.0 * (saw(time, 1.25) + ring), None);
            }
            let report = analysis.finish().unwrap();
            assert_eq!(report.region, Some(Region::Creep), "{report:?}");
            assert!((report.rise_share.unwrap() - 0.9).abs() < 0.02, "{report:?}");
        }
    }

    /// The region is that of the slip. Signals of any sign, scale and shape: one that falls for a tenth of a period, a sine, one that
    /// leaps and comes back slowly, a square. The slip: from stick for nine tenths of the period (creep), from none (a swing about the
    /// mean speed), and such a swing whose size comes and goes, so that most of its turns are far from the outermost.
    #[test]
    fn the_region_does_not_depend_on_the_signal() {
        let turn = 2.0 * std::f64::consts::PI / 1.25;
        let phase = |time: f64| time / 1.25 - libm::floor(time / 1.25);
        let signals: [fn(f64) -> f64; 4] = [
            |p| if p < 0.9 { p / 0.9 } else { (1.0 - p) / 0.1 },
            |p| 0.5 + 0.5 * libm::sin(2.0 * std::f64::consts::PI * p),
            |p| libm::exp(-5.0 * p),
            |p| if p < 0.3 { 0.0 } else { 1.0 },
        ];
        let stuck = |time: f64| if phase(time) < 0.9 { 0.0 } else { 1.0 };
        let swing = |time: f64| 0.1 + 0.08 * libm::cos(turn * time);
        let beating = |time: f64| 0.1 + 0.02 * (1.0 + libm::sin(0.23 * time)) * libm::cos(turn * time);
        let slips: [(&dyn Fn(f64) -> f64, Region); 3] = [
            (&stuck, Region::Creep),
            (&swing, Region::Inertial),
            (&beating, Region::Inertial),
        ];
        for (slip, region) in slips {
            for signal in signals {
                for (scale, most) in [
                    (1.0, MOST_SAMPLES),
                    (-1.0, MOST_SAMPLES),
                    (1e3, 20_000),
                    (-1e-2, 20_000),
                ] {
                    let mut analysis = StickSlip::new(StickSlipSpec {
                        threshold: Some(1e-3),
                        e: None,
                        ..spec()
                    });
                    analysis.most = most;
                    for i in 0..40_000 {
                        let time = f64::from(i) * 1e-3;
                        analysis.watch(time, 5.0 + scale * signal(phase(time)), Some(slip(time)));
                    }
                    let report = analysis.finish().unwrap();
                    assert_eq!(report.region, Some(region), "{report:?}");
                }
            }
        }
    }

    /// Stick for a part of the period, then a slip at constant speed or half a sine. Ahead of steady sliding it falls behind while slower than the mean
    /// speed: in stick, and of a half sine of the share w of the period, whose mean is 2w/π of its peak, for 2·asin(2w/π)·w/π more. Only that part
    /// counts, not where in a cycle the few seen begin and end.
    #[test]
    fn the_region_does_not_depend_on_where_the_analysis_begins() {
        let pi = std::f64::consts::PI;
        let period = 0.83;
        for (stick, sine) in [(0.70, false), (0.78, false), (0.69, true), (0.73, true)] {
            let slip_share = 1.0 - stick;
            let behind = match sine {
                false => stick,
                true => stick + slip_share * 2.0 / pi * libm::asin(2.0 * slip_share / pi),
            };
            let expected = if behind > 0.75 { Region::Creep } else { Region::Inertial };
            for k in 0..60 {
                let from = 0.02 * f64::from(k);
                let mut analysis = StickSlip::new(StickSlipSpec { from, ..spec() });
                let steps = ((from + 3.4 * period) / 1e-3) as u32;
                for i in 0..steps {
                    let time = 1e-3 * f64::from(i);
                    let phase = time / period - libm::floor(time / period);
                    let within = (phase - stick) / slip_share;
                    let slip = match (within > 0.0, sine) {
                        (false, _) => 0.0,
                        (true, false) => 1.0,
                        (true, true) => libm::sin(pi * within),
                    };
                    analysis.watch(time, libm::sin(2.0 * pi * phase), Some(slip));
                }
                let report = analysis.finish().unwrap();
                assert_eq!(report.region, Some(expected), "stick {stick}, from {from}: {report:?}");
            }
        }
    }

    /// Cycles of 1 s and 1.5 s by turns: the mean alone would hide it. Rises are found between samples.
    #[test]
    fn irregular_cycles_have_their_shortest_and_longest_time() {
        let mut analysis = StickSlip::new(spec());
        for i in 0..800 {
            let time = 0.0251 * f64::from(i);
            let within = time - 2.5 * libm::floor(time / 2.5);
            let phase = if within < 1.0 { within } else { (within - 1.0) / 1.5 };
            analysis.watch(time, 2.0 - 4.0 * (phase - 0.5).abs(), None);
        }
        let report = analysis.finish().unwrap();
        // A rise is at a quarter of its cycle: 0.25, 1.375, 2.75 s, …; samples miss the ends, and with them the middle, by 1e-3.
        let times = [report.period_min, report.period, report.period_max].map(Option::unwrap);
        for (time, expected) in times.into_iter().zip([1.125, 1.25, 1.375]) {
            assert!((time - expected).abs() < 1e-3, "{report:?}");
        }
    }

    /// Steady sliding as integrators leave it: the last digits come and go.
    #[test]
    fn rounding_has_no_period() {
        let mut analysis = StickSlip::new(spec());
        for i in 0..1000 {
            analysis.watch(f64::from(i), 0.4 + 1e-13 * libm::sin(f64::from(i)), None);
        }
        let report = analysis.finish().unwrap();
        assert!(report.amplitude > 0.0);
        assert_eq!(
            (report.period, report.cycles, report.transient_end, report.rise_share),
            (None, 0, None, None)
        );
    }

    #[test]
    fn few_kept_samples_tell_the_same_of_a_cycle() {
        let (all, few) = (watched(MOST_SAMPLES), watched(9_000));
        assert_eq!((all.max, all.min, all.cycles), (few.max, few.min, few.cycles));
        assert!((all.period.unwrap() - few.period.unwrap()).abs() <= 1e-3 / 13.0);
    }

    /// A slip that swings back beyond the middle, once in 2 s: a slow rise from 0 to 1, a fall to -0.2, back up to 0.6, down to 0.
    #[test]
    fn a_signal_and_its_negative_have_one_period() {
        let knots = [
            (0.0, 0.0),
            (1.7, 1.0),
            (1.75, -0.2),
            (1.8, 0.6),
            (1.85, 0.3),
            (1.95, 0.0),
            (2.0, 0.0),
        ];
        let signal = |time: f64| {
            let phase = time - 2.0 * libm::floor(time / 2.0);
            let after = knots.iter().position(|knot| knot.0 > phase).unwrap();
            let ((t0, x0), (t1, x1)) = (knots[after - 1], knots[after]);
            x0 + (x1 - x0) * (phase - t0) / (t1 - t0)
        };
        let [up, down] = [1.0, -1.0].map(|sign| {
            let mut analysis = StickSlip::new(spec());
            for i in 0..20_000 {
                let time = f64::from(i) * 1e-3;
                analysis.watch(time, sign * signal(time), None);
            }
            analysis.finish().unwrap()
        });
        assert!((up.period.unwrap() - 2.0).abs() < 1e-3 / 8.0, "{up:?}");
        assert_eq!(
            (up.period, up.cycles, up.transient_end),
            (down.period, down.cycles, down.transient_end)
        );
    }

    #[test]
    fn a_constant_has_no_cycle_and_nothing_is_nothing() {
        let mut analysis = StickSlip::new(spec());
        analysis.watch(0.5, 7.0, None);
        assert_eq!(analysis.clone().finish(), None, "before the start");
        for i in 0..100 {
            analysis.watch(1.0 + f64::from(i), 3.0, None);
        }
        let report = analysis.finish().unwrap();
        assert_eq!((report.amplitude, report.period, report.cycles), (0.0, None, 0));
        assert_eq!((report.max, report.rise_share, report.transient_end), (1.5, None, None));
        assert!(report.stable);
    }
}
