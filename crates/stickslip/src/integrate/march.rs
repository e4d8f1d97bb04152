//! Methods that choose their own steps: step control, and the way between internal steps and the grid of output.
//!
//! An internal step is tried, its error estimated, and it is kept or tried again with a shorter one. Internal steps go on
//! beyond the next output time; states at output times are interpolated within a step. Where a profile is known to jump
//! or to have a kink an internal step ends, and the step before it sees the profile as it is just before.
//!
//! **The tolerance of a number** of the state is absolute + relative·(its greatest departure from its initial value so
//! far). Bristles stretch by micrometres while bodies move by metres: each is measured by what it has done itself. Unless
//! it is given, the absolute part is relative times a millionth of the greatest departure of all positions (or all
//! velocities), at least 1e-9, and relative·1e-12 for states of elements: it matters only where nothing has moved yet.
//!
//! Energies that went through the network are integrated along with the state, by the same method, and take no part in
//! the choice of the step.

use super::newmark::{AtEnd, Span};
use super::{Halt, Work, adaptive, stiff};
use crate::network::stage::{Room, evaluate_at, evaluate_groups_at, input_power};
use crate::network::{Network, NetworkState, Scratch};
use crate::snapshot::carried;
use crate::stop::{Stop, is_set};

/// How steps are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct StepControl {
    /// Relative tolerance.
    pub relative: f64,
    /// Absolute tolerance of every number, if given.
    pub absolute: Option<f64>,
    /// Longest internal step, s.
    pub longest: f64,
    /// Internal step that is kept whatever its error, s; 0 leaves it to rounding.
    pub shortest: f64,
    /// End of the run: an internal step ends there, s.
    pub end: f64,
    /// Whether steps are implicit and need a matrix.
    pub stiff: bool,
    /// A size of each state of an element, where one is known before the run; else 0.
    pub sizes: Vec<f64>,
}

/// What a run with internal steps has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Statistics {
    /// Internal steps.
    pub steps: u64,
    /// Steps tried and not kept.
    pub rejected: u64,
    /// Evaluations of the network, with those for difference quotients where elements do not know their derivatives.
    pub rates: u64,
    /// Matrices of derivatives.
    pub jacobians: u64,
    /// Factored matrices.
    pub factorisations: u64,
    /// Steps kept at `min_step` although their error was above the tolerance.
    pub forced: u64,
}

/// Number of coefficients of the interpolant.
const INTERPOLANT: usize = 5;

/// How far a method has gone ahead of the output, and all it must know to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct March {
    /// Start of the last internal step, s.
    start: f64,
    /// Its end: the front, s.
    pub(crate) time: f64,
    /// Length to try next, s.
    next: f64,
    /// Error of the last step over the tolerance.
    error: f64,
    /// Whether the front is at a known break of a profile.
    at_break: bool,
    /// Whether `rate` is that of the front.
    fresh: bool,
    /// Whether the front was set from outside.
    foreign: bool,
    /// Something sudden happens before this time, s: steps that begin earlier have to meet a stricter tolerance.
    wary_until: f64,
    /// Steps in a row that were kept at the smallest length only because there is none smaller.
    cornered: u32,
    /// State at the front, followed by the energies.
    pub(crate) front: Vec<f64>,
    /// Its rate.
    pub(crate) rate: Vec<f64>,
    /// Interpolant of the last step.
    interpolant: [Vec<f64>; INTERPOLANT],
    /// Greatest departure of each number from its initial value so far.
    departure: Vec<f64>,
    /// The greatest of all positions and of all velocities.
    reach: [f64; 2],
    /// The matrix of the stiff method, kept as long as it serves.
    pub(crate) memory: stiff::Memory,
}

carried!(
    March: start, time, next, error, at_break, fresh, foreign, wary_until, cornered, front, rate, interpolant, departure, reach, memory;
    not
);
carried!(Statistics: steps, rejected, rates, jacobians, factorisations, forced; not);

/// What is known of the numbers of the state.
#[derive(Default)]
pub(crate) struct Rows {
    /// Which are prescribed, or follow from others, and have no error.
    pub(crate) driven: Vec<bool>,
    /// States that follow from the displacement of a stiff step.
    pub(crate) mapped: Vec<usize>,
    /// The position and the velocity of the only coordinate that is left, if there is nothing else.
    pub(crate) lone: Option<[usize; 2]>,
}

/// Buffers of a step.
#[derive(Default)]
pub(crate) struct MarchRoom {
    /// Rates of stages, and whatever else a method keeps.
    pub(crate) stages: [Vec<f64>; 7],
    /// State at the end of the step.
    pub(crate) next: Vec<f64>,
    rows: Rows,
    /// The whole state, ground included, at the start of the step and at its first stage; empty if nothing is mapped.
    pub(crate) ends: [Vec<f64>; 2],
    pub(crate) statistics: Statistics,
}

/// One internal step that is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) start: f64,
    pub(crate) length: f64,
    end: f64,
    /// Whether start and end are breaks of a profile.
    opens: bool,
    closes: bool,
}

/// Times this close to a break, relatively, count as the break itself: tables that repeat round as much.
const CLOSE: f64 = 16.0 * f64::EPSILON;

impl Interval {
    /// Time at a fraction of the step, on the inner side of breaks.
    pub(crate) fn at(&self, fraction: f64) -> f64 {
        let mut time = if fraction == 1.0 {
            self.end
        } else {
            self.start + fraction * self.length
        };
        if self.opens {
            time = time.max(self.start * (1.0 + CLOSE));
        }
        if self.closes {
            time = time.min(self.end * (1.0 - CLOSE));
        }
        time
    }
}

/// Why a step that was tried cannot be kept at any error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// A number is not finite.
    NotFinite(usize),
    /// The equations of the step were not solved; the number that changed most is named.
    Unsolved(usize),
}

/// The network with room to evaluate it.
pub(crate) struct Bench<'a> {
    pub(crate) network: &'a Network,
    pub(crate) trial: &'a mut [f64],
    pub(crate) room: Room<'a>,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) stop: Option<&'a Stop>,
}

impl Bench<'_> {
    /// The rate of `state` (with powers of drivers and elements behind it if `OBSERVE`) into `rate`.
    pub(crate) fn rate<const OBSERVE: bool>(&mut self, state: &[f64], time: f64, rate: &mut [f64]) {
        let n = self.network.layout.integrated();
        self.statistics.rates += 1;
        self.trial[..n].copy_from_slice(&state[..n]);
        evaluate_at::<OBSERVE>(self.network, self.trial, &mut self.room, time);
        rate[..n].copy_from_slice(&self.room.rate[..n]);
        if OBSERVE {
            let room = &self.room;
            let power = input_power(self.network, self.trial, room.load, room.signals.get(), room.seen);
            rate[n] = power + *room.motor_power;
            for (power, seen) in rate[n + 1..].iter_mut().zip(&*room.seen) {
                *power = seen.power;
            }
        } else {
            rate[n..].fill(0.0);
        }
    }

    /// The rate of `state` at the end of `span` with laws that map steps doing so: their states, `mapped`, are put into `state`,
    /// and need no rate.
    pub(crate) fn map(&mut self, state: &mut [f64], time: f64, span: Span<'_>, mapped: &[usize], rate: &mut [f64]) {
        let n = self.network.layout.integrated();
        self.statistics.rates += 1;
        self.trial[..n].copy_from_slice(&state[..n]);
        let groups = AtEnd(&self.network.elements, span);
        evaluate_groups_at::<false, _>(self.network, &groups, self.trial, &mut self.room, time);
        rate[..n].copy_from_slice(&self.room.rate[..n]);
        for &i in mapped {
            state[i] = span.before[i] + span.step * rate[i];
        }
    }
}

impl March {
    /// At the start of a run.
    pub(crate) fn new(network: &Network) -> March {
        let Some(control) = &network.control else {
            return March::default();
        };
        let n = network.layout.integrated();
        let size = n + 1 + network.element_count;
        let mut front = vec![0.0; size];
        front[..n].copy_from_slice(&network.initial[..n]);
        March {
            next: (1e-3 * network.step).min(control.longest),
            error: 1.0,
            front,
            rate: vec![0.0; size],
            interpolant: std::array::from_fn(|_| vec![0.0; size]),
            departure: vec![0.0; n],
            memory: if control.stiff {
                stiff::Memory::new(n, Rows::new(network).unknown())
            } else {
                stiff::Memory::default()
            },
            ..March::default()
        }
    }

    /// Forgets what lies beyond the present output point: from here on something else may act.
    pub(crate) fn restart(&mut self, values: &[f64], time: f64, work: &Work, step: f64) {
        let n = self.departure.len();
        (self.start, self.time) = (time, time);
        (self.fresh, self.foreign, self.at_break, self.cornered) = (false, true, true, 0);
        (self.next, self.error) = (self.next.min(step), 1.0);
        self.front[..n].copy_from_slice(&values[..n]);
        self.front[n] = work.input;
        self.front[n + 1..].copy_from_slice(&work.delivered);
        self.memory.forget();
    }

    /// A size that number `index` of the state is thought to change by.
    pub(crate) fn typical(&self, network: &Network, index: usize) -> f64 {
        let least = if index < network.layout.first_state() {
            1e-3
        } else {
            1e-9
        };
        self.departure[index].max(least)
    }

    /// Tolerance of number `index` of the state if it ends a step at `value`.
    #[inline]
    pub(crate) fn tolerance(&self, network: &Network, control: &StepControl, index: usize, value: f64) -> f64 {
        let layout = &network.layout;
        let departure = self.departure[index].max((value - network.initial[index]).abs());
        let absolute = control.absolute.unwrap_or_else(|| {
            let least = match index.checked_sub(layout.first_state()) {
                Some(state) => control.sizes[state].max(1e-12),
                None if index >= layout.positions => (1e-6 * self.reach[1]).max(1e-9),
                None => (1e-6 * self.reach[0]).max(1e-9),
            };
            control.relative * least
        });
        // A number far from 0 that has hardly moved is not known better than to its rounding.
        (absolute + control.relative * departure).max(8.0 * f64::EPSILON * value.abs())
    }

    /// The state and energies at a time within the last internal step.
    fn interpolate(&self, time: f64, mut put: impl FnMut(usize, f64)) {
        if time == self.time {
            self.front.iter().enumerate().for_each(|(i, value)| put(i, *value));
            return;
        }
        let s = (time - self.start) / (self.time - self.start);
        let r = 1.0 - s;
        let [a, b, c, d, e] = &self.interpolant;
        for i in 0..a.len() {
            put(i, a[i] + s * (b[i] + r * (c[i] + s * (d[i] + r * e[i]))));
        }
    }

    /// Whether the front has not yet reached a time.
    pub(crate) fn behind(&self, time: f64) -> bool {
        self.time < time
    }

    fn interval(&self, network: &Network, control: &StepControl, room: &Room<'_>, floor: f64) -> Interval {
        let next_break = network
            .signals
            .next_break(self.time * (1.0 + 4.0 * CLOSE), room.signals);
        let mut limit = next_break;
        if self.time < control.end {
            limit = limit.min(control.end);
        }
        let left = limit - self.time;
        let mut length = self.next.clamp(floor, control.longest.max(floor));
        // Two equal steps are better than one and a splinter.
        if length > 0.99 * left {
            length = left;
        } else if 2.0 * length > left {
            length = 0.5 * left;
        }
        Interval {
            start: self.time,
            length,
            end: if length == left { limit } else { self.time + length },
            opens: self.at_break,
            closes: length == left && limit == next_break,
        }
    }
}

impl MarchRoom {
    pub(crate) fn new(network: &Network) -> MarchRoom {
        if network.control.is_none() {
            return MarchRoom::default();
        }
        let n = network.layout.integrated();
        let size = n + 1 + network.element_count;
        let rows = Rows::new(network);
        let whole = if rows.mapped.is_empty() {
            0
        } else {
            network.layout.len()
        };
        MarchRoom {
            // Difference quotients keep a rate and the loads in one of them.
            stages: std::array::from_fn(|_| vec![0.0; size.max(n + network.layout.velocities)]),
            next: vec![0.0; size],
            rows,
            ends: std::array::from_fn(|_| vec![0.0; whole]),
            statistics: Statistics::default(),
        }
    }
}

impl Rows {
    fn new(network: &Network) -> Rows {
        let n = network.layout.integrated();
        let mut driven = vec![false; n];
        for drive in &network.drives {
            driven[drive.coordinate.v] = true;
            driven[drive.coordinate.q] |= drive.position;
        }
        let mut mapped = Vec::new();
        if network.control.as_ref().is_some_and(|control| control.stiff) {
            let mut name = |state: usize, has_error: bool| {
                mapped.push(state);
                driven[state] = !has_error;
            };
            network.elements.iter().for_each(|group| group.mapped(&mut name));
        }
        let mut rows = Rows {
            driven,
            mapped,
            lone: None,
        };
        rows.lone = match rows.unknown()[..] {
            [q, v] if v == q + network.layout.positions => Some([q, v]),
            _ => None,
        };
        rows
    }

    /// The numbers that a step has to be solved for.
    fn unknown(&self) -> Vec<usize> {
        let known = |i: &usize| self.driven[*i] || self.mapped.contains(i);
        (0..self.driven.len()).filter(|i| !known(i)).collect()
    }
}

/// The largest error over its tolerance, and whose it is; or the first number that is not finite.
pub(crate) fn worst(
    march: &March,
    network: &Network,
    control: &StepControl,
    driven: &[bool],
    next: &[f64],
    error: impl Fn(usize) -> f64,
) -> Result<(f64, usize), Failure> {
    let mut worst = (0.0, 0);
    for (i, driven) in driven.iter().enumerate() {
        if !next[i].is_finite() {
            return Err(Failure::NotFinite(i));
        }
        if *driven {
            continue;
        }
        let ratio = error(i).abs() / march.tolerance(network, control, i, next[i]);
        if ratio.is_nan() {
            return Err(Failure::NotFinite(i));
        }
        if ratio > worst.0 {
            worst = (ratio, i);
        }
    }
    Ok(worst)
}

/// Cubic Hermite interpolant from values and rates at both ends, in the form of [`March::interpolate`]; a method of
/// higher order adds its last coefficient.
pub(crate) fn hermite(length: f64, ends: [&[f64]; 2], rates: [&[f64]; 2], interpolant: &mut [Vec<f64>; INTERPOLANT]) {
    let [a, b, c, d, e] = interpolant;
    for i in 0..a.len() {
        let change = ends[1][i] - ends[0][i];
        let bend = length * rates[0][i] - change;
        (a[i], b[i], c[i]) = (ends[0][i], change, bend);
        d[i] = change - length * rates[1][i] - bend;
        e[i] = 0.0;
    }
}

/// An error so far beyond the tolerance did not grow with the step: something jumped or has a kink there.
const SUDDEN: f64 = 10.0;
/// Steps in a row at the limit of rounding after which a run is given up.
const CORNERED: u32 = 100;
/// Internal steps within one output interval after which a run is given up.
const MOST_STEPS: u64 = 10_000_000;

/// One internal step.
pub(crate) fn step<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
) -> Result<(), Halt> {
    let Some(control) = &network.control else {
        return Ok(());
    };
    let march = &mut state.march;
    let mut own = std::mem::take(&mut scratch.march);
    let stop = scratch.stop.take();
    let outcome = choose::<OBSERVE>(network, control, march, &mut own, scratch, stop.as_ref());
    (scratch.march, scratch.stop) = (own, stop);
    outcome
}

fn choose<const OBSERVE: bool>(
    network: &Network,
    control: &StepControl,
    march: &mut March,
    own: &mut MarchRoom,
    scratch: &mut Scratch,
    stop: Option<&Stop>,
) -> Result<(), Halt> {
    let MarchRoom {
        stages,
        next,
        rows,
        ends,
        statistics,
    } = own;
    let (trial, _, room) = scratch.parts();
    let mut bench = Bench {
        network,
        trial,
        room,
        statistics,
        stop,
    };
    // Power of the step that the estimate falls with.
    let power = if control.stiff {
        stiff::ESTIMATE
    } else {
        adaptive::ESTIMATE
    };
    let rounding = CLOSE * march.time.abs().max(1e-6 * control.end);
    let floor = control.shortest.max(rounding);
    let wanted = march.next;
    let mut tries = 0;
    let (interval, error) = loop {
        if is_set(bench.stop) {
            // A matrix may have been left half done.
            march.memory.forget();
            return Err(Halt::Stopped);
        }
        let accepted = if march.time < march.wary_until && !control.stiff {
            adaptive::WARY
        } else {
            1.0
        };
        let interval = march.interval(network, control, &bench.room, floor);
        if !march.fresh {
            let March {
                front, rate, foreign, ..
            } = &mut *march;
            bench.rate::<OBSERVE>(front, interval.at(0.0), rate);
            if std::mem::take(foreign) {
                let (signals, compression) = (bench.room.signals.get(), &*bench.room.compression);
                let groups = network.elements.iter().filter(|_| control.stiff);
                groups.for_each(|group| group.restore(front, signals, compression));
            }
            march.fresh = true;
        }
        let outcome = if control.stiff {
            stiff::attempt::<OBSERVE>(&mut bench, control, march, stages, next, rows, ends, &interval)
        } else {
            adaptive::attempt::<OBSERVE>(&mut bench, control, march, stages, next, &rows.driven, &interval)
        };
        // Asked by what was wanted, not by what was tried: a step of the least length is stretched where little more is left.
        let shortest = march.next <= floor || interval.length <= floor * (1.0 + 1e-9);
        tries += 1;
        let factor = match outcome {
            Ok((error, _)) if error <= accepted => break (interval, error / accepted),
            Ok((_, index)) if shortest => {
                if control.shortest >= rounding {
                    bench.statistics.forced += 1;
                } else {
                    march.cornered += 1;
                    if march.cornered > CORNERED {
                        let time = march.time;
                        return Err(Halt::Stalled { index, time });
                    }
                }
                break (interval, 1.0);
            }
            Ok((error, _)) => {
                if error > SUDDEN {
                    march.wary_until = interval.end;
                }
                0.9 * libm::pow(error / accepted, -1.0 / power)
            }
            Err(Failure::NotFinite(index)) if shortest => return Err(Halt::NotFinite { index }),
            Err(Failure::Unsolved(index)) if shortest => {
                let time = march.time;
                return Err(Halt::Stalled { index, time });
            }
            Err(Failure::NotFinite(_)) => 0.1,
            Err(Failure::Unsolved(_)) => 0.25,
        };
        bench.statistics.rejected += 1;
        // A kink or a jump makes the estimate wrong: it is closed in on fast.
        let most = if tries > 1 { 0.5 } else { 0.9 };
        march.next = interval.length * factor.clamp(0.1, most);
    };
    bench.statistics.steps += 1;

    // Step control by the error and its change (Gustafsson; Hairer, Norsett, Wanner, section II.4).
    let error = error.max(1e-10);
    let mut factor = 0.9 * libm::pow(error, -0.7 / power) * libm::pow(march.error, 0.4 / power);
    factor = factor.clamp(0.2, if tries > 1 { 1.0 } else { 5.0 });
    // A factored matrix serves as long as the step stays the same; a return mapping costs more than another factorisation.
    if control.stiff && rows.mapped.is_empty() && (1.0..1.2).contains(&factor) {
        factor = 1.0;
    }
    march.next = (interval.length * factor).min(control.longest);
    if tries == 1 && interval.length < wanted {
        // It was shortened only to end where something happens.
        march.next = march.next.max(wanted.min(control.longest));
    }
    march.error = error.max(1e-4);
    if interval.length > 2.0 * floor {
        march.cornered = 0;
    }
    (march.start, march.time) = (interval.start, interval.end);
    (march.at_break, march.fresh) = (interval.closes, !interval.closes);

    let March {
        front,
        rate,
        interpolant,
        departure,
        reach,
        ..
    } = march;
    let last = if control.stiff {
        stiff::finish(interval.length, front, next, stages, interpolant);
        stiff::LAST
    } else {
        adaptive::finish(interval.length, front, next, stages, interpolant);
        adaptive::LAST
    };
    rate.copy_from_slice(&stages[last][..next.len()]);
    std::mem::swap(front, next);
    bench.network.signals.sample_at(interval.at(1.0), bench.room.signals);
    network.place_drives_at(front, bench.room.signals.get(), interval.at(1.0));
    let layout = &network.layout;
    for (i, departure) in departure.iter_mut().enumerate() {
        *departure = departure.max((front[i] - network.initial[i]).abs());
        if i < layout.positions {
            reach[0] = reach[0].max(*departure);
        } else if i < layout.first_state() {
            reach[1] = reach[1].max(*departure);
        }
    }
    Ok(())
}

/// Puts the state to the next output point, which the front has reached.
pub(crate) fn land(network: &Network, state: &mut NetworkState, scratch: &mut Scratch, work: &mut Work) {
    let time = network.time(state.step + 1);
    let n = network.layout.integrated();
    let NetworkState { values, march, .. } = state;
    march.interpolate(time, |i, value| match i {
        _ if i < n => values[i] = value,
        _ if i == n => work.input = value,
        _ => work.delivered[i - n - 1] = value,
    });
    network.signals.sample_at(time, &mut scratch.signals);
    network.place_drives_at(values, scratch.signals.get(), time);
    state.step += 1;
}

/// Some output intervals.
pub(crate) fn run<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    steps: u64,
) -> Result<(), Halt> {
    for _ in 0..steps {
        let time = network.time(state.step + 1);
        let before = scratch.march.statistics.steps;
        while state.march.behind(time) {
            step::<OBSERVE>(network, state, scratch)?;
            check_count(&state.march, scratch.march.statistics.steps - before)?;
        }
        land(network, state, scratch, work);
    }
    Ok(())
}

/// Gives a run up that takes too many internal steps within one output interval.
pub(crate) fn check_count(march: &March, steps: u64) -> Result<(), Halt> {
    if steps > MOST_STEPS {
        return Err(Halt::TooManySteps { time: march.time });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;
    use crate::scenario::Scenario;

    /// A state is complete: going on from a copy of it, in other room, gives the same bytes.
    #[test]
    fn a_copied_state_goes_on_with_the_same_bytes() {
        let lugre = "law = \"lugre\"\nkinetic = 0.5\nstiffness = 1e4\ndamping = 50\n";
        let subloading = "law = \"subloading\"\nmu_static = 0.5\nmu_kinetic = 0.4\nnormal_force = \"1 + 0.1*sin(t)\"\n\
                          tangential_stiffness = 1e4\nkappa = 10\neta = 0.1\nr = 1e4\n";
        for (integrator, law) in [("adaptive", lugre), ("stiff", lugre), ("stiff", subloading)] {
            let text = format!(
                "[simulation]\nduration = 4\nstep = 0.01\nintegrator = \"{integrator}\"\n\
                 [bodies.block]\nkind = \"mass\"\nmass = 1\nforce = \"0.6*sin(3*t)\"\n\
                 [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\n{law}"
            );
            let simulation = Simulation::new(Scenario::parse(&text, "test.toml", &[]).unwrap()).unwrap();
            let network = &simulation.built().network;
            let work = || Work {
                delivered: vec![0.0; network.element_count],
                ..Work::default()
            };
            let go = |state: &mut NetworkState, steps: u64| {
                run::<true>(network, state, &mut network.scratch(), &mut work(), steps).unwrap();
            };
            let mut whole = network.initial_state();
            go(&mut whole, 400);
            let mut part = network.initial_state();
            go(&mut part, 123);
            let mut copy = part.clone();
            go(&mut part, 1);
            go(&mut copy, 277);
            assert_eq!(whole, copy, "{integrator} {law}");
        }
    }

    #[test]
    fn stages_stay_on_the_inner_side_of_breaks() {
        let interval = Interval {
            start: 2.0,
            length: 2.0,
            end: 4.0,
            opens: true,
            closes: true,
        };
        assert!(interval.at(0.0) > 2.0 && interval.at(1.0) < 4.0);
        assert!(interval.at(0.0) < 2.0 + 1e-14 && interval.at(1.0) > 4.0 - 1e-13);
        assert_eq!(interval.at(0.5), 3.0);
        let open = Interval {
            opens: false,
            closes: false,
            ..interval
        };
        assert_eq!([open.at(0.0), open.at(1.0)], [2.0, 4.0]);
    }
}
