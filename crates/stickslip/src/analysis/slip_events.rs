//! Slip events of a chain and the distribution of their sizes.
//!
//! An event is slip that hangs together in space and time: blocks that slip in the same step and are neighbours belong to
//! one event, and so do blocks that slip in successive steps and are neighbours or the same. It ends at the first step in
//! which none of its blocks goes on, and events that meet become one. While the drive is so slow that one event is over before
//! the next begins, this is the event of Carlson and Langer (Phys. Rev. A 40, 6470, 1989): from the first slip until all
//! blocks rest. In a long chain, where something slips somewhere at almost any moment, it tells apart what is apart. The
//! size of an event is its moment M = Σ slip of its blocks.

use crate::profile::TimeGrid;
use serde::Serialize;
use stickslip_core::roots::bisect;

/// `[analysis] slip_events`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipEventsSpec {
    /// Events that begin earlier are not counted, s.
    pub from: f64,
    /// Smallest moment that the exponent is taken from, m.
    pub smallest: Option<f64>,
    /// Largest such moment, m.
    pub largest: Option<f64>,
    /// Ranges of the distribution per decade.
    pub bins: u32,
}

/// Events listed in a report; later ones are only counted.
pub const MOST_LISTED: usize = 10_000;

/// Events below which an exponent says little: its standard error b/√n is then more than a seventh of itself.
const ENOUGH: u64 = 50;

/// Neighbouring blocks that slip in the same step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlipRun {
    /// Steps since the beginning of the sweep.
    pub step: u32,
    /// The first block.
    pub first: u32,
    /// The block after the last.
    pub end: u32,
    /// Σ T·v, m.
    pub slip: f64,
}

/// An event that goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Active {
    first: u32,
    end: u32,
    /// Number of the step in which it began.
    began: u64,
    moment: f64,
    /// The event that it has become a part of, or itself.
    part_of: usize,
    /// Whether one of its blocks slips in the present step.
    slips: bool,
}

/// Blocks that slip together in a step, and their event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Patch {
    first: u32,
    end: u32,
    event: usize,
}

/// An event that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlipEvent {
    /// Time at the end of the first step with slip, s.
    pub t: f64,
    /// How long it lasted, s.
    pub duration: f64,
    /// The first of its blocks.
    pub first: u32,
    /// How many there are.
    pub blocks: u32,
    /// Slip of all of them, m.
    pub moment: f64,
}

/// Sizes of events: how many there are in each of several ranges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeBin {
    /// The smallest moment of the range, m.
    pub from: f64,
    /// The largest, m.
    pub to: f64,
    /// Events in it.
    pub count: u64,
    /// Events in it or larger.
    pub at_least: u64,
}

/// What a run tells of slip events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlipEventsReport {
    /// Events that began after `from` and have ended.
    pub count: u64,
    /// Events that still go on, whenever they began.
    pub unfinished: u64,
    /// Sum of their moments, m.
    pub moment: f64,
    /// The largest moment, m.
    pub largest: f64,
    /// The most blocks.
    pub most_blocks: u32,
    /// b of N(≥M) ∝ M^−b over the events from `smallest` to `largest` of the analysis, the likeliest one.
    pub exponent: Option<f64>,
    /// Its standard error, by the curvature of the likelihood.
    pub exponent_error: Option<f64>,
    /// Events that `exponent` is taken from.
    pub fitted: u64,
    /// Distribution of the moments.
    pub sizes: Vec<SizeBin>,
    /// The first events.
    pub list: Vec<SlipEvent>,
}

impl SlipEventsReport {
    /// Why the exponent means little, if it does: few events, or fewer small ones than large ones, which is no power law that
    /// falls.
    pub(crate) fn doubts(&self, smallest: f64) -> Vec<String> {
        let (Some(exponent), Some(first)) = (self.exponent, self.sizes.first()) else {
            return Vec::new();
        };
        let mut doubts = Vec::new();
        if self.fitted < ENOUGH {
            let error = self.exponent_error.unwrap_or(f64::INFINITY);
            doubts.push(format!(
                "the exponent {exponent:.2} of the slip events is taken from {} events only (standard error {error:.2}): use {ENOUGH} \
                 or more, from a longer run or a smaller `slip_events.smallest`",
                self.fitted
            ));
        }
        let width = first.to / first.from;
        if smallest * width < first.from {
            doubts.push(format!(
                "no slip event is nearly as small as `slip_events.smallest` = {smallest} m: the exponent {exponent:.2} counts sizes \
                 that do not occur; the smallest event has a moment between {:.1e} m and {:.1e} m",
                first.from, first.to
            ));
        } else if exponent <= 0.0 {
            doubts.push(format!(
                "large slip events are more frequent than small ones between the bounds of `slip_events`: the exponent {exponent:.2} is \
                 no Gutenberg-Richter law"
            ));
        }
        doubts
    }
}

/// Decades of moments that are told apart: 1e-20 m to 1e20 m.
const DECADES: i32 = 20;

/// Follows the slip of a chain and keeps what is asked of it.
#[derive(Clone)]
pub(crate) struct SlipEvents {
    spec: SlipEventsSpec,
    /// Of half steps, as that of the network.
    grid: TimeGrid,
    events: Vec<Active>,
    /// Places in `events` that are free.
    free: Vec<usize>,
    /// What slips in the present step and in the one before, from left to right.
    now: Vec<Patch>,
    before: Vec<Patch>,
    counts: Vec<u64>,
    count: u64,
    moment: f64,
    largest: f64,
    most_blocks: u32,
    fitted: u64,
    /// Σ ln(M/smallest) over the events fitted.
    logarithms: f64,
    list: Vec<SlipEvent>,
}

impl SlipEvents {
    pub(crate) fn new(spec: SlipEventsSpec, grid: TimeGrid) -> Self {
        let bins = spec.bins as usize * 2 * DECADES as usize;
        SlipEvents {
            spec,
            grid,
            events: Vec::new(),
            free: Vec::new(),
            now: Vec::new(),
            before: Vec::new(),
            counts: vec![0; bins],
            count: 0,
            moment: 0.0,
            largest: 0.0,
            most_blocks: 0,
            fitted: 0,
            logarithms: 0.0,
            list: Vec::new(),
        }
    }

    /// Takes note of the steps `start` + 1 … `start` + `steps`. Runs come in the order of steps and blocks; those that touch
    /// at the border of a tile are still apart.
    pub(crate) fn watch(&mut self, start: u64, steps: u32, runs: &[SlipRun]) {
        let mut runs = runs.iter().peekable();
        for step in 0..steps {
            let number = start + u64::from(step) + 1;
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.clear();
            let mut reached = 0;
            while let Some(run) = runs.next_if(|run| run.step == step) {
                let beside = self.now.last().filter(|left| left.end == run.first);
                let mut event = beside.map(|left| self.whole(left.event));
                while self.before.get(reached).is_some_and(|old| old.end < run.first) {
                    reached += 1;
                }
                let mut old = reached;
                while let Some(patch) = self.before.get(old).filter(|patch| patch.first <= run.end) {
                    let other = self.whole(patch.event);
                    event = Some(event.map_or(other, |event| self.join(event, other)));
                    old += 1;
                }
                let event = event.unwrap_or_else(|| self.begin(run, number));
                let whole = &mut self.events[event];
                (whole.first, whole.end) = (whole.first.min(run.first), whole.end.max(run.end));
                whole.moment += run.slip;
                whole.slips = true;
                self.now.push(Patch {
                    first: run.first,
                    end: run.end,
                    event,
                });
            }
            self.close(number);
        }
    }

    /// A new event.
    fn begin(&mut self, run: &SlipRun, number: u64) -> usize {
        let place = self.free.pop().unwrap_or(self.events.len());
        let event = Active {
            first: run.first,
            end: run.end,
            began: number,
            moment: 0.0,
            part_of: place,
            slips: false,
        };
        if place == self.events.len() {
            self.events.push(event);
        } else {
            self.events[place] = event;
        }
        place
    }

    /// The event that another has become a part of.
    fn whole(&self, mut event: usize) -> usize {
        while self.events[event].part_of != event {
            event = self.events[event].part_of;
        }
        event
    }

    /// Makes two events one.
    fn join(&mut self, event: usize, other: usize) -> usize {
        if event != other {
            let part = self.events[other];
            self.events[other].part_of = event;
            let whole = &mut self.events[event];
            (whole.first, whole.end) = (whole.first.min(part.first), whole.end.max(part.end));
            whole.began = whole.began.min(part.began);
            whole.moment += part.moment;
            whole.slips |= part.slips;
        }
        event
    }

    /// Events without slip in this step have ended with the step before.
    fn close(&mut self, number: u64) {
        for i in 0..self.now.len() {
            self.now[i].event = self.whole(self.now[i].event);
        }
        for i in 0..self.before.len() {
            let place = self.before[i].event;
            let event = self.events[place];
            if event.part_of == usize::MAX || event.slips && event.part_of == place {
                continue;
            }
            if event.part_of == place {
                self.record(&event, number - 1);
            }
            // Ended, or part of another; several patches may have been its.
            self.events[place].part_of = usize::MAX;
            self.free.push(place);
        }
        for patch in &self.now {
            self.events[patch.event].slips = false;
        }
    }

    fn record(&mut self, event: &Active, ended: u64) {
        let t = self.grid.time(2 * event.began);
        let moment = event.moment.abs();
        if t < self.spec.from {
            return;
        }
        self.count += 1;
        self.moment += moment;
        self.largest = self.largest.max(moment);
        self.most_blocks = self.most_blocks.max(event.end - event.first);
        let place = (libm::log10(moment) + f64::from(DECADES)) * f64::from(self.spec.bins);
        let bin = (place.max(0.0) as usize).min(self.counts.len() - 1);
        self.counts[bin] += 1;
        if let Some(smallest) = self.spec.smallest
            && moment >= smallest
            && self.spec.largest.is_none_or(|largest| moment <= largest)
        {
            self.fitted += 1;
            self.logarithms += libm::log(moment / smallest);
        }
        if self.list.len() < MOST_LISTED {
            self.list.push(SlipEvent {
                t,
                duration: self.grid.time(2 * (ended - event.began + 1)),
                first: event.first,
                blocks: event.end - event.first,
                moment,
            });
        }
    }

    pub(crate) fn finish(self) -> SlipEventsReport {
        let used = |count: &u64| *count > 0;
        let first = self.counts.iter().position(used).unwrap_or(0);
        let end = self.counts.iter().rposition(used).map_or(first, |last| last + 1);
        let edge = |bin: usize| libm::exp10(bin as f64 / f64::from(self.spec.bins) - f64::from(DECADES));
        let mut at_least = self.count;
        let sizes = (first..end).map(|bin| {
            let sizes = SizeBin {
                from: edge(bin),
                to: edge(bin + 1),
                count: self.counts[bin],
                at_least,
            };
            at_least -= self.counts[bin];
            sizes
        });
        let range = self
            .spec
            .smallest
            .zip(self.spec.largest)
            .map(|(least, most)| most / least);
        let exponent = (self.fitted > 1)
            .then(|| likeliest(self.logarithms / self.fitted as f64, range))
            .flatten();
        SlipEventsReport {
            count: self.count,
            unfinished: self.events.len() as u64 - self.free.len() as u64,
            moment: self.moment,
            largest: self.largest,
            most_blocks: self.most_blocks,
            exponent,
            exponent_error: exponent.map(|exponent| standard_error(exponent, range, self.fitted)),
            fitted: self.fitted,
            sizes: sizes.collect(),
            list: self.list,
        }
    }
}

/// The likeliest exponent b of a power law N(≥M) ∝ M^−b from the mean of ln(M/smallest). Without an upper bound it is
/// 1/mean (Aki 1965); between the bounds 1 and r = largest/smallest it solves mean = 1/b − ln r/(r^b − 1), whose right
/// side falls from ln r at −∞ over ln r/2 at 0 to 0 at ∞.
fn likeliest(mean: f64, range: Option<f64>) -> Option<f64> {
    let Some(range) = range else {
        return (mean > 0.0).then(|| 1.0 / mean);
    };
    let width = libm::log(range);
    if !(mean > 0.0 && mean < width) {
        return None;
    }
    let expected = |b: f64| {
        let x = b * width;
        if x.abs() < 1e-4 {
            width * (0.5 - x / 12.0)
        } else {
            1.0 / b - width / libm::expm1(x)
        }
    };
    let [low, high] = bisect([-100.0 / width, 100.0 / width], 200, |b| expected(b) > mean);
    Some(0.5 * (low + high))
}

/// Standard error of [`likeliest`] from n events: 1/√(n·I), with the variance of ln M as the information I. Without an upper
/// bound I = 1/b², so it is b/√n (Aki 1965); between bounds I = 1/b² − (w/2)²/sinh²(b·w/2) with w = ln r (the truncated
/// exponential distribution; Page, Bull. Seismol. Soc. Am. 58, 1968), which is w²/12 at b = 0.
fn standard_error(b: f64, range: Option<f64>, events: u64) -> f64 {
    let information = match range.map(libm::log) {
        None => 1.0 / (b * b),
        Some(width) => {
            let half = 0.5 * b * width;
            if half.abs() < 1e-3 {
                width * width * (1.0 / 12.0 - half * half / 60.0)
            } else {
                let slope = 0.5 * width / libm::sinh(half);
                1.0 / (b * b) - slope * slope
            }
        }
    };
    1.0 / (events as f64 * information).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of 1 s.
    fn started() -> SlipEvents {
        SlipEvents::new(spec(), TimeGrid::new(1e6, 0.5).unwrap().0)
    }

    fn spec() -> SlipEventsSpec {
        SlipEventsSpec {
            from: 0.0,
            smallest: Some(1.0),
            largest: None,
            bins: 1,
        }
    }

    /// Slip of single steps as text: one line a step, one letter a block, `.` at rest, a digit its slip.
    fn events(picture: &[&str]) -> Vec<(f64, f64, u32, u32, f64)> {
        let mut events = started();
        for (k, line) in picture.iter().enumerate() {
            // Blocks come one by one, as at the borders of tiles.
            let runs: Vec<SlipRun> = (line.chars().enumerate())
                .filter_map(|(i, letter)| {
                    Some(SlipRun {
                        step: 0,
                        first: i as u32,
                        end: i as u32 + 1,
                        slip: f64::from(letter.to_digit(10)?),
                    })
                })
                .collect();
            events.watch(k as u64, 1, &runs);
        }
        let report = events.finish();
        let goes_on = picture.last().unwrap().chars().any(|letter| letter != '.');
        assert_eq!(report.unfinished > 0, goes_on);
        report
            .list
            .iter()
            .map(|e| (e.t, e.duration, e.first, e.blocks, e.moment))
            .collect()
    }

    #[test]
    fn neighbours_that_slip_one_after_the_other_are_one_event() {
        let found = events(&["......", "..3...", "..21..", "...14.", "......", "1....."]);
        assert_eq!(found, [(2.0, 3.0, 2, 3, 11.0)]);
    }

    #[test]
    fn what_is_apart_is_told_apart() {
        let found = events(&["1...2.", "1.....", "......"]);
        assert_eq!(found, [(1.0, 1.0, 4, 1, 2.0), (1.0, 2.0, 0, 1, 2.0)]);
    }

    #[test]
    fn events_that_meet_become_one() {
        let found = events(&["1...2.", "11.22.", "..1...", "......"]);
        assert_eq!(found, [(1.0, 3.0, 0, 5, 10.0)]);
        // Three of them, met by a wide one, and one of them goes on.
        let found = events(&["1.1.1.", "111111", "1....1", "1.....", "......"]);
        assert_eq!(found, [(1.0, 4.0, 0, 6, 12.0)]);
    }

    #[test]
    fn what_starts_again_where_an_event_was_is_another_one() {
        let found = events(&["11111", "1...1", "1.1.1", "....."]);
        assert_eq!(found, [(1.0, 3.0, 0, 5, 9.0), (3.0, 1.0, 2, 1, 1.0)]);
        let found = events(&["11...", ".....", "11...", "....."]);
        assert_eq!(found, [(1.0, 1.0, 0, 2, 2.0), (3.0, 1.0, 0, 2, 2.0)]);
    }

    #[test]
    fn places_of_events_are_used_again() {
        let mut events = started();
        let run = |first: u32| SlipRun {
            step: 0,
            first,
            end: first + 1,
            slip: 1.0,
        };
        for k in 0..1001 {
            let runs = [run(0), run(5)];
            events.watch(k, 1, if k % 3 == 0 { &runs } else { &[] });
        }
        assert_eq!(events.events.len(), 2);
        assert_eq!(events.finish().count, 2 * 334);
    }

    #[test]
    fn an_exponent_that_means_little_is_doubted() {
        let report = |exponent, from: f64| SlipEventsReport {
            exponent: Some(exponent),
            fitted: 50,
            sizes: vec![SizeBin {
                from,
                to: 2.0 * from,
                count: 9,
                at_least: 9,
            }],
            ..started().finish()
        };
        let doubts = |report: SlipEventsReport| report.doubts(1e-3);
        assert_eq!(doubts(report(1.0, 0.9e-3)), [""; 0]);
        // The bounds leave room below the smallest event; large events are more frequent; there are few.
        assert!(doubts(report(0.1, 0.1))[0].contains("no slip event"));
        assert!(doubts(report(-0.5, 0.9e-3))[0].contains("more frequent"));
        let few = SlipEventsReport {
            fitted: 49,
            ..report(1.0, 0.9e-3)
        };
        assert!(doubts(few)[0].contains("49 events only"));
    }

    #[test]
    fn exponents_of_power_laws_are_found() {
        // Means of ln(M/smallest) by integration of b·M^(−b−1): 1/b, and between bounds by the closed form above, which at
        // b = 0 is half the width.
        assert_eq!(likeliest(2.0, None), Some(0.5));
        let width = libm::log(100.0);
        assert!(likeliest(0.5 * width, Some(100.0)).unwrap().abs() < 1e-9);
        // b = 1 on (1, 100): the mean is 1 − ln 100/99.
        assert!((likeliest(1.0 - width / 99.0, Some(100.0)).unwrap() - 1.0).abs() < 1e-12);
        // b = −1, an even distribution of M: ∫ ln M dM/99 = (100·ln 100 − 99)/99.
        assert!((likeliest((100.0 * width - 99.0) / 99.0, Some(100.0)).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(likeliest(width, Some(100.0)), None);
    }

    #[test]
    fn standard_errors_are_those_of_closed_forms() {
        // Aki: b/sqrt(n). Between bounds: at b = 0 the logarithm is even over w, of variance w²/12; at b = -1 on (1, 100) M is
        // even, and ∫ ln² M dM/99 − (∫ ln M dM/99)² = (100(w² − 2w + 2) − 2)/99 − ((100w − 99)/99)². Bounds far off do not count.
        assert!((standard_error(0.8, None, 64) - 0.1).abs() < 1e-15);
        assert!((standard_error(0.8, Some(1e30), 64) - 0.1).abs() < 1e-12);
        let width = libm::log(100.0);
        let error = |variance: f64| 1.0 / (25.0 * variance).sqrt();
        assert!((standard_error(0.0, Some(100.0), 25) - error(width * width / 12.0)).abs() < 1e-12);
        let mean = (100.0 * width - 99.0) / 99.0;
        let variance = (100.0 * (width * width - 2.0 * width + 2.0) - 2.0) / 99.0 - mean * mean;
        assert!((standard_error(-1.0, Some(100.0), 25) - error(variance)).abs() < 1e-12);
        // The series near 0 joins the closed form.
        let beside = [0.99e-3, 1.01e-3].map(|half| standard_error(2.0 * half / width, Some(100.0), 25));
        assert!((beside[0] / beside[1] - 1.0).abs() < 1e-7, "{beside:?}");
    }

    #[test]
    fn sizes_are_counted_by_decades() {
        let mut events = started();
        for (k, slip) in [0.5, 3.0, 20.0, 30.0].into_iter().enumerate() {
            let run = SlipRun {
                step: 0,
                first: 0,
                end: 1,
                slip,
            };
            events.watch(2 * k as u64, 1, &[run]);
            events.watch(2 * k as u64 + 1, 1, &[]);
        }
        let report = events.finish();
        let counts: Vec<_> = report.sizes.iter().map(|bin| (bin.count, bin.at_least)).collect();
        assert_eq!(counts, [(1, 4), (1, 3), (2, 2)]);
        let edges: Vec<f64> = report.sizes.iter().map(|bin| bin.from).collect();
        assert!((edges[0] - 0.1).abs() < 1e-15 && (edges[2] - 10.0).abs() < 1e-12);
        assert_eq!((report.fitted, report.largest, report.moment), (3, 30.0, 53.5));
    }
}
