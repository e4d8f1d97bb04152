//! What a run report keeps of every element, step by step. The general step shows its observations to [`Tallies::note`]; small networks,
//! whose steps take nanoseconds, keep the same sums in registers ([`Trend`], [`Spell`]) and add them when they are done.

use crate::network::groups::{Mode, Observation};

/// Size and sign of a force on one axis over some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trend {
    /// Its largest magnitude.
    pub(crate) largest: f64,
    /// Sign of the last force that was not 0: 1, −1, or 0 before there was one.
    pub(crate) sign: f64,
    /// Changes of that sign.
    pub(crate) changes: u64,
}

impl Trend {
    /// Takes note of a force.
    #[inline(always)]
    pub(crate) fn note(&mut self, force: f64) {
        let size = force.abs();
        self.largest = if size > self.largest { size } else { self.largest };
        let sign = 1f64.copysign(force);
        let acts = force != 0.0;
        self.changes += u64::from(acts & (self.sign == -sign));
        self.sign = if acts { sign } else { self.sign };
    }
}

/// Stick and slip of one element over some steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spell {
    pub(crate) element: usize,
    pub(crate) mode: Mode,
    /// Steps of stick and of slip.
    pub(crate) steps: [u64; 2],
}

impl Spell {
    /// Takes note of the mode at the end of a step.
    #[inline(always)]
    pub(crate) fn note(&mut self, mode: Mode, step: u64, changes: &mut Vec<Change>) {
        self.steps[0] += u64::from(mode == Mode::Stick);
        self.steps[1] += u64::from(mode == Mode::Slip);
        if mode != self.mode {
            self.turn(mode, step, changes);
        }
    }

    #[cold]
    #[inline(never)]
    fn turn(&mut self, mode: Mode, step: u64, changes: &mut Vec<Change>) {
        changes.push(Change {
            step,
            element: self.element,
            from: self.mode,
            to: mode,
        });
        self.mode = mode;
    }
}

/// A change of mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// The step at whose end the new mode was seen.
    pub(crate) step: u64,
    pub(crate) element: usize,
    pub(crate) from: Mode,
    pub(crate) to: Mode,
}

/// What the report keeps of one element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) mode: Mode,
    /// Time in stick and in slip, in steps where they are all alike, else in s.
    pub(crate) time_in: [f64; 2],
    /// Changes of mode.
    pub(crate) transitions: u64,
    /// Largest force in the element's own coordinate.
    pub(crate) largest: f64,
    pub(crate) sign: f64,
    pub(crate) sign_changes: u64,
    /// Whether the element can stick, slip or open.
    pub(crate) has_mode: bool,
}

/// What the report keeps of all elements.
#[derive(Clone, Debug)]
pub(crate) struct Tallies {
    pub(crate) elements: Vec<Tally>,
    /// Changes of mode that nobody has taken yet, in the order of time.
    pub(crate) changes: Vec<Change>,
    /// Whether an element showed a number that is not finite.
    pub(crate) broken: bool,
}

/// The length of a force, also where its square is beyond all numbers.
pub(crate) fn magnitude(force: &[f64]) -> f64 {
    let plain = force.iter().map(|f| f * f).sum::<f64>().sqrt();
    if plain.is_finite() {
        return plain;
    }
    let largest = force.iter().fold(0.0, |largest: f64, f| largest.max(f.abs()));
    largest * force.iter().map(|f| (f / largest) * (f / largest)).sum::<f64>().sqrt()
}

impl Tallies {
    /// Takes note of what the elements did in the step that just ended, which took `length`.
    pub(crate) fn note(&mut self, seen: &[Observation], step: u64, length: f64) {
        for (element, (tally, seen)) in self.elements.iter_mut().zip(seen).enumerate() {
            let force = magnitude(&seen.force);
            self.broken |= !(force + seen.normal + seen.gap).is_finite();
            tally.largest = tally.largest.max(force);
            if seen.force[0] != 0.0 {
                let sign = seen.force[0].signum();
                tally.sign_changes += u64::from(tally.sign == -sign);
                tally.sign = sign;
            }
            if !tally.has_mode {
                continue;
            }
            match seen.mode {
                Mode::Stick => tally.time_in[0] += length,
                Mode::Slip => tally.time_in[1] += length,
                Mode::Open => (),
            }
            if seen.mode != tally.mode {
                tally.transitions += 1;
                self.changes.push(Change {
                    step,
                    element,
                    from: tally.mode,
                    to: seen.mode,
                });
                tally.mode = seen.mode;
            }
        }
    }

    /// The trend of an element from now on. `toward` is 1 where the force is counted as the element counts it, −1 where it is
    /// seen from its other end.
    pub(crate) fn trend(&self, element: usize, toward: f64) -> Trend {
        Trend {
            sign: toward * self.elements[element].sign,
            ..Trend::default()
        }
    }

    /// Adds a trend that began with [`Tallies::trend`].
    pub(crate) fn add_trend(&mut self, element: usize, toward: f64, trend: &Trend) {
        let tally = &mut self.elements[element];
        // The length of a vector of one number, as the general step takes it.
        tally.largest = tally.largest.max(magnitude(&[trend.largest, 0.0, 0.0]));
        tally.sign = toward * trend.sign;
        tally.sign_changes += trend.changes;
    }

    /// Stick and slip of an element from now on. Where there is no such element nothing will be added to it.
    pub(crate) fn spell(&self, element: usize) -> Spell {
        Spell {
            element,
            mode: self.elements.get(element).map_or(Mode::Stick, |tally| tally.mode),
            steps: [0; 2],
        }
    }

    /// Adds a spell that began with [`Tallies::spell`]; its changes are in the list already, from the place `first` on.
    pub(crate) fn add_spell(&mut self, spell: &Spell, first: usize) {
        let own = |change: &&Change| change.element == spell.element;
        let transitions = self.changes[first..].iter().filter(own).count() as u64;
        let tally = &mut self.elements[spell.element];
        tally.mode = spell.mode;
        tally.transitions += transitions;
        for (time, steps) in tally.time_in.iter_mut().zip(spell.steps) {
            *time += steps as f64;
        }
    }
}
