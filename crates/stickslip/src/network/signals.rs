//! The profiles of a network, sampled on the time grid. A profile that is constant over many steps is evaluated once, one
//! that changes all the time for many grid points ahead at once.

use crate::profile::{BLOCK, Interpolation, Profile, Table, TimeGrid};
use crate::snapshot::{Carried, Reader, SnapshotError};

/// Profiles and the half-step grid they are sampled on: index 2k is t_k, 2k + 1 the middle of the step after it.
#[derive(Clone, Debug)]
pub struct Signals {
    profiles: Vec<Profile>,
    grid: TimeGrid,
}

/// The present value of every signal.
#[derive(Clone, Debug)]
pub struct SignalValues {
    value: Vec<f64>,
    /// Which are under the caller's control.
    held: Vec<bool>,
    /// Which change all the time.
    changes: Vec<bool>,
    /// Index from which some value must be computed anew.
    next: u64,
    /// Signals that keep their value for a while, each with the index from which it must be computed anew.
    stepwise: Vec<(usize, u64)>,
    /// The earliest of them.
    next_step: u64,
    /// Signals that change all the time.
    restless: Vec<Ahead>,
    /// Grid index of the first value kept for them, and how far apart the values are.
    first: u64,
    stride: u64,
    /// Grid index they were asked for last, and where its values are kept.
    last: u64,
    slot: usize,
    /// The first value that was no finite number: which signal, and when. Laws may hide it, as a normal force that is undefined
    /// counts as none.
    broken: Option<(usize, f64)>,
}

/// Values of a signal at the coming grid points.
#[derive(Clone, Debug)]
struct Ahead {
    signal: usize,
    values: [f64; BLOCK],
    /// Slopes at the same points, once they have been asked for; `u64::MAX` before, else their first index.
    slopes: [f64; BLOCK],
    slopes_first: u64,
}

impl Signals {
    /// Profiles on the half-step grid of a run.
    pub fn new(profiles: Vec<Profile>, grid: TimeGrid) -> Self {
        Signals { profiles, grid }
    }

    /// The grid of half steps.
    pub fn grid(&self) -> &TimeGrid {
        &self.grid
    }

    /// How many signals there are.
    pub fn len(&self) -> usize {
        self.profiles.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The profile behind a signal.
    pub fn profile(&self, signal: usize) -> &Profile {
        &self.profiles[signal]
    }

    /// Values at the start.
    pub fn values(&self) -> SignalValues {
        let restless: Vec<bool> = self.profiles.iter().map(Profile::always_changes).collect();
        let changing = restless.iter().filter(|restless| **restless).count();
        let mut values = SignalValues {
            value: vec![0.0; self.profiles.len()],
            held: vec![false; self.profiles.len()],
            next: 0,
            stepwise: Vec::with_capacity(restless.len() - changing),
            next_step: 0,
            restless: Vec::with_capacity(changing),
            changes: restless,
            first: u64::MAX / 2,
            stride: 1,
            last: 0,
            slot: 0,
            broken: None,
        };
        self.reset(&mut values);
        values
    }

    /// Brings the values back to the start, where all follow their profiles.
    pub(crate) fn reset(&self, values: &mut SignalValues) {
        values.held.fill(false);
        values.broken = None;
        values.begin_anew();
        self.sample(0, values);
    }

    /// Brings the values to grid index `index`, which must not be smaller than at the call before.
    #[inline(always)]
    pub fn sample(&self, index: u64, values: &mut SignalValues) {
        if index >= values.next {
            self.renew(index, values);
        }
    }

    /// The value of a signal at grid index `index`, earlier or later than where all were sampled.
    pub fn value_at(&self, signal: usize, index: u64, values: &SignalValues) -> f64 {
        match values.held[signal] {
            true => values.value[signal],
            false => self.profiles[signal].value(self.grid.time(index)),
        }
    }

    /// Brings the values to any time, on the grid or not, earlier or later than the one before.
    pub fn sample_at(&self, time: f64, values: &mut SignalValues) {
        values.leave_grid();
        for &(signal, _) in &values.stepwise {
            values.value[signal] = self.profiles[signal].value(time);
        }
        for ahead in &values.restless {
            values.value[ahead.signal] = self.profiles[ahead.signal].value(time);
        }
        values.look_for_broken(|| time);
    }

    /// The first time after `after` at which a profile is known to jump or to have a kink.
    pub fn next_break(&self, after: f64, values: &SignalValues) -> f64 {
        let breaks = values.free().map(|signal| self.profiles[signal].next_break(after));
        breaks.fold(f64::INFINITY, f64::min)
    }

    fn renew(&self, index: u64, values: &mut SignalValues) {
        if index >= values.next_step {
            self.renew_stepwise(index, values);
        }
        values.next = values.next_step;
        if values.restless.is_empty() {
            return;
        }
        values.next = index + 1;
        let slot = match values.slot(index) {
            Some(slot) => slot,
            None => self.look_ahead(index, values),
        };
        (values.last, values.slot) = (index, slot);
        let mut check = 0.0;
        for ahead in &values.restless {
            values.value[ahead.signal] = ahead.values[slot];
            check += 0.0 * ahead.values[slot];
        }
        if check != 0.0 {
            values.look_for_broken(|| self.grid.time(index));
        }
    }

    #[cold]
    #[inline(never)]
    fn renew_stepwise(&self, index: u64, values: &mut SignalValues) {
        let t = self.grid.time(index);
        let mut next = u64::MAX;
        for (signal, until) in &mut values.stepwise {
            if index >= *until {
                values.value[*signal] = self.profiles[*signal].value(t);
                *until = self.profiles[*signal].constant_until(index, &self.grid);
            }
            next = next.min(*until);
        }
        values.next_step = next;
        // Those that change all the time are still of another moment here.
        let mut stepwise = values.stepwise.iter().map(|&(signal, _)| signal);
        let broken = stepwise.find(|&signal| !values.value[signal].is_finite());
        values.broken = values.broken.or(broken.map(|signal| (signal, t)));
    }

    /// Evaluates the signals that change all the time at `index` and the grid points after it; returns the slot of
    /// `index`. Where only whole steps are asked for, only they are taken.
    #[cold]
    #[inline(never)]
    fn look_ahead(&self, index: u64, values: &mut SignalValues) -> usize {
        values.stride = if index == values.last + 2 { 2 } else { 1 };
        values.first = index;
        let times = self.times(values);
        for ahead in &mut values.restless {
            self.profiles[ahead.signal].values(&times, &mut ahead.values);
        }
        0
    }

    fn times(&self, values: &SignalValues) -> [f64; BLOCK] {
        std::array::from_fn(|i| self.grid.time(values.first + values.stride * i as u64))
    }

    /// Slope of a signal at a grid index that was sampled last, by differences of fourth order over a fraction of the
    /// step: the velocity of a coordinate whose position is prescribed.
    #[inline]
    pub fn slope(&self, signal: usize, index: u64, values: &mut SignalValues) -> f64 {
        let kept = values.restless.iter().position(|ahead| ahead.signal == signal);
        match kept {
            Some(i) if values.last == index => {
                if values.restless[i].slopes_first != values.first {
                    self.slopes_ahead(i, values);
                }
                values.restless[i].slopes[values.slot]
            }
            _ => self.difference(signal, index),
        }
    }

    /// The slope of a signal by itself: it is constant between jumps, or asked for away from where it was sampled.
    fn difference(&self, signal: usize, index: u64) -> f64 {
        let profile = &self.profiles[signal];
        let (t, h) = (self.grid.time(index), self.grid.step() / 8.0);
        if let Some(table) = lines(profile) {
            return table.slope(t);
        }
        if index == 0 {
            return forward_slope(profile, h);
        }
        let near = profile.value(t + h) - profile.value(t - h);
        let far = profile.value(t + 2.0 * h) - profile.value(t - 2.0 * h);
        (8.0 * near - far) / (12.0 * h)
    }

    #[cold]
    #[inline(never)]
    fn slopes_ahead(&self, i: usize, values: &mut SignalValues) {
        let times = self.times(values);
        let ahead = &mut values.restless[i];
        let profile = &self.profiles[ahead.signal];
        let h = self.grid.step() / 8.0;
        ahead.slopes_first = values.first;
        if let Some(table) = lines(profile) {
            ahead.slopes = times.map(|t| table.slope(t));
            return;
        }
        let at = |offset: f64| {
            let mut values = [0.0; BLOCK];
            profile.values(&times.map(|t| t + offset), &mut values);
            values
        };
        let (before, after) = (at(-h), at(h));
        let (far_before, far_after) = (at(-2.0 * h), at(2.0 * h));
        for (i, slope) in ahead.slopes.iter_mut().enumerate() {
            let (near, far) = (after[i] - before[i], far_after[i] - far_before[i]);
            *slope = (8.0 * near - far) / (12.0 * h);
        }
        if values.first == 0 {
            ahead.slopes[0] = forward_slope(profile, h);
        }
    }
}

/// The table of a profile that is made of lines: their slopes are known, and differences across a point would mix two.
fn lines(profile: &Profile) -> Option<&Table> {
    match profile {
        Profile::Table(table) if table.interpolation() == Interpolation::Linear => Some(table),
        _ => None,
    }
}

/// Slope at time 0 from values after it, of fourth order: nothing need be known of a profile before the start.
fn forward_slope(profile: &Profile, h: f64) -> f64 {
    let at = |k: f64| profile.value(k * h);
    (-25.0 * at(0.0) + 48.0 * at(1.0) - 36.0 * at(2.0) + 16.0 * at(3.0) - 3.0 * at(4.0)) / (12.0 * h)
}

// What is held, the values (also those that were sampled: forces of the step that ended are made of them), and what was broken.
impl Carried for SignalValues {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.value.save(bytes);
        self.held.save(bytes);
        let (signal, time) = self.broken.unwrap_or((usize::MAX, 0.0));
        signal.save(bytes);
        time.save(bytes);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.value.load(bytes)?;
        self.held.load(bytes)?;
        let (mut signal, mut time) = (0, 0.0);
        signal.load(bytes)?;
        time.load(bytes)?;
        self.broken = (signal < self.value.len()).then_some((signal, time));
        self.begin_anew();
        Ok(())
    }
}

impl SignalValues {
    /// Whether a signal is under the caller's control.
    pub(crate) fn is_held(&self, signal: usize) -> bool {
        self.held[signal]
    }

    /// Whether the values that were sampled last stay what they are up to grid index `index`.
    pub(crate) fn last_until(&self, index: u64) -> bool {
        self.restless.is_empty() && self.next_step > index
    }

    /// Whether one is under the caller's control.
    pub(crate) fn any_held(&self) -> bool {
        self.held.contains(&true)
    }

    /// What was kept for the grid no longer belongs to the present values: the next index may be smaller than the last.
    pub(crate) fn leave_grid(&mut self) {
        (self.next, self.next_step, self.first) = (0, 0, u64::MAX / 2);
        for (_, until) in &mut self.stepwise {
            *until = 0;
        }
    }

    /// Forgets what was computed ahead: the next value may be asked for at any time. Nothing is allocated.
    pub(crate) fn begin_anew(&mut self) {
        (self.next, self.next_step) = (0, 0);
        // Far from every index that is asked for.
        (self.first, self.last, self.slot, self.stride) = (u64::MAX / 2, u64::MAX / 2, 0, 1);
        self.stepwise.clear();
        self.restless.clear();
        let free = (0..self.value.len()).filter(|signal| !self.held[*signal]);
        for signal in free {
            if self.changes[signal] {
                self.restless.push(Ahead {
                    signal,
                    values: [0.0; BLOCK],
                    slopes: [0.0; BLOCK],
                    slopes_first: u64::MAX,
                });
            } else {
                self.stepwise.push((signal, 0));
            }
        }
    }

    /// The values, by signal.
    #[inline(always)]
    pub fn get(&self) -> &[f64] {
        &self.value
    }

    /// Where the values of a grid index are kept.
    #[inline(always)]
    fn slot(&self, index: u64) -> Option<usize> {
        let offset = index.wrapping_sub(self.first);
        let slot = if self.stride == 2 { offset / 2 } else { offset };
        (slot < BLOCK as u64 && slot * self.stride == offset).then_some(slot as usize)
    }

    /// The signals that follow their profiles.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        let stepwise = self.stepwise.iter().map(|&(signal, _)| signal);
        stepwise.chain(self.restless.iter().map(|ahead| ahead.signal))
    }

    /// How many whole steps from grid index `index`, where the values are, keep all of them.
    pub(crate) fn constant_steps(&self, index: u64) -> u64 {
        (self.next - index).div_ceil(2)
    }

    /// The first grid index after the present one at which a value may be another.
    pub(crate) fn constant_until(&self) -> u64 {
        self.next
    }

    /// Notes the first value that is no finite number.
    fn look_for_broken(&mut self, time: impl Fn() -> f64) {
        if self.broken.is_none() {
            let broken = self.free().find(|&signal| !self.value[signal].is_finite());
            self.broken = broken.map(|signal| (signal, time()));
        }
    }

    /// The first value so far that was no finite number: its signal and when it was.
    pub(crate) fn broken(&self) -> Option<(usize, f64)> {
        self.broken
    }

    /// Takes back that a value was no finite number.
    pub(crate) fn forgive(&mut self) {
        self.broken = None;
    }

    /// Puts a signal under the caller's control: it keeps this value until the next call.
    pub fn hold(&mut self, signal: usize, value: f64) {
        self.value[signal] = value;
        if std::mem::replace(&mut self.held[signal], true) {
            return;
        }
        self.stepwise.retain(|&(other, _)| other != signal);
        self.restless.retain(|ahead| ahead.signal != signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::After;
    use crate::quantity::Dimension;

    fn signals() -> Signals {
        let texts = ["3", "if(t <= 0.05, 2, 0)", "sin(20*t)", "if(t < 0.1, t, 1)"];
        let profiles = texts.map(|text| Profile::parse(text, Dimension::NONE).unwrap());
        Signals::new(profiles.to_vec(), TimeGrid::new(1.0, 0.5e-3).unwrap().0)
    }

    fn check(signals: &Signals, indices: impl Iterator<Item = u64>) {
        let mut values = signals.values();
        for index in indices {
            signals.sample(index, &mut values);
            let t = signals.grid().time(index);
            let expected: Vec<f64> = signals.profiles.iter().map(|profile| profile.value(t)).collect();
            assert_eq!(values.get(), expected, "index {index}");
            // d/dt sin(20·t); differences of fourth order over h = T/16 are exact to rounding, 1e-16/h.
            let slope = signals.slope(2, index, &mut values);
            assert!((slope - 20.0 * libm::cos(20.0 * t)).abs() < 1e-9, "{index}: {slope}");
        }
    }

    #[test]
    fn values_are_those_of_the_profiles_in_every_order_of_an_integrator() {
        let signals = signals();
        check(&signals, 0..1000);
        check(&signals, (0..1000).map(|k| 2 * k));
        // Runge-Kutta stages, then whole steps, then stages again.
        check(
            &signals,
            (0..100).flat_map(|k| [2 * k, 2 * k + 1, 2 * k + 1, 2 * k + 2]),
        );
        check(
            &signals,
            (0..100).map(|k| 2 * k).chain(198..400).chain((200..500).map(|k| 2 * k)),
        );
        check(&signals, (0..200).map(|k| 7 * k));
    }

    #[test]
    fn any_time_in_any_order_and_the_grid_again() {
        let signals = signals();
        let mut values = signals.values();
        for (k, t) in [0.3, 0.02, 0.0999, 0.1, 0.05, 1.7].into_iter().enumerate() {
            signals.sample_at(t, &mut values);
            let expected: Vec<f64> = signals.profiles.iter().map(|profile| profile.value(t)).collect();
            assert_eq!(values.get(), expected, "t = {t}");
            let index = 40 * k as u64;
            signals.sample(index, &mut values);
            let t = signals.grid().time(index);
            let expected: Vec<f64> = signals.profiles.iter().map(|profile| profile.value(t)).collect();
            assert_eq!(values.get(), expected, "index {index}");
        }
        assert_eq!(signals.next_break(0.0, &values), 0.05);
        assert_eq!(signals.next_break(0.05, &values), 0.1);
        values.hold(1, 7.0);
        assert_eq!(signals.next_break(0.0, &values), 0.1);
        signals.sample_at(0.0, &mut values);
        assert_eq!(values.get()[1], 7.0);
    }

    #[test]
    fn the_slope_of_a_table_is_that_of_the_line_that_begins() {
        let table = Table::new(
            vec![0.0, 0.01, 0.02],
            vec![0.0, 0.03, 0.01],
            Interpolation::Linear,
            After::Hold,
        )
        .unwrap();
        let signals = Signals::new(vec![table.into()], TimeGrid::new(1.0, 1e-3).unwrap().0);
        let mut values = signals.values();
        for index in 0..60 {
            signals.sample(index, &mut values);
            let expected = if index < 10 {
                3.0
            } else if index < 20 {
                -2.0
            } else {
                0.0
            };
            for slope in [signals.slope(0, index, &mut values), signals.difference(0, index)] {
                assert!((slope - expected).abs() < 1e-12, "{index}: {slope}");
            }
        }
    }

    #[test]
    fn a_held_signal_keeps_its_value() {
        let signals = signals();
        let mut values = signals.values();
        values.hold(2, 5.0);
        values.hold(1, 7.0);
        signals.sample(300, &mut values);
        assert_eq!(values.get()[1..3], [7.0, 5.0]);
        assert_eq!(values.get()[3], 1.0);
    }
}
