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

use super::{Halt, Work, adaptive, stiff};
use crate::network::groups::AtEnd;
use crate::network::march::{INTERPOLANT, MarchRoom};
pub use crate::network::march::{March, Statistics, StepControl};
use crate::network::span::Span;
use crate::network::stage::{Room, evaluate_at, evaluate_groups_at, input_power};
use crate::network::{Drive, Network, NetworkState, Scratch};
use crate::stop::{Stop, is_set};

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
            let power = input_power(
                self.network,
                self.trial,
                room.load,
                room.linkages,
                room.signals.get(),
                room.seen,
            );
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
    if OBSERVE && interval.closes {
        count_jumps(&mut bench, front, interval.end);
    }
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

/// Counts the work of drivers that jump where a step ends: no time passes and nothing else moves, so it is what the stored energies change by.
/// Force times velocity knows nothing of it.
fn count_jumps(bench: &mut Bench<'_>, front: &mut [f64], time: f64) {
    let network = bench.network;
    let (before, after) = (time * (1.0 - CLOSE), time * (1.0 + CLOSE));
    let jumps = |drive: &Drive| {
        let profile = network.signals.profile(drive.signal);
        drive.position && profile.value(before) != profile.value(after)
    };
    if !network.drives.iter().any(jumps) {
        return;
    }
    let n = network.layout.integrated();
    for (time, sign) in [(before, -1.0), (after, 1.0)] {
        bench.trial[..n].copy_from_slice(&front[..n]);
        evaluate_at::<true>(network, bench.trial, &mut bench.room, time);
        for (element, seen) in bench.room.seen.iter().enumerate() {
            front[n] += sign * seen.stored;
            front[n + 1 + element] -= sign * seen.stored;
        }
    }
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
