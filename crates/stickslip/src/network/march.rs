//! What methods that choose their own steps keep from step to step: how far they have gone ahead, and the room for their stages. The methods
//! themselves are in `crate::integrate::march`.

use super::Network;
use super::work::Work;
use crate::snapshot::{Carried, Reader, SnapshotError, carried};

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
pub(crate) const INTERPOLANT: usize = 5;

/// How far a method has gone ahead of the output, and all it must know to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct March {
    /// Start of the last internal step, s.
    pub(crate) start: f64,
    /// Its end: the front, s.
    pub(crate) time: f64,
    /// Length to try next, s.
    pub(crate) next: f64,
    /// Error of the last step over the tolerance.
    pub(crate) error: f64,
    /// Whether the front is at a known break of a profile.
    pub(crate) at_break: bool,
    /// Whether `rate` is that of the front.
    pub(crate) fresh: bool,
    /// Whether the front was set from outside.
    pub(crate) foreign: bool,
    /// Something sudden happens before this time, s: steps that begin earlier have to meet a stricter tolerance.
    pub(crate) wary_until: f64,
    /// Steps in a row that missed the tolerance and were accepted because they had the smallest length.
    pub(crate) cornered: u32,
    /// State at the front, followed by the energies.
    pub(crate) front: Vec<f64>,
    /// Its rate.
    pub(crate) rate: Vec<f64>,
    /// Interpolant of the last step.
    pub(crate) interpolant: [Vec<f64>; INTERPOLANT],
    /// Greatest departure of each number from its initial value so far.
    pub(crate) departure: Vec<f64>,
    /// The greatest of all positions and of all velocities.
    pub(crate) reach: [f64; 2],
    /// The matrix of the stiff method, kept as long as it serves.
    pub(crate) memory: Memory,
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
    pub(crate) one_coordinate: Option<[usize; 2]>,
}

/// Buffers of a step.
#[derive(Default)]
pub(crate) struct MarchRoom {
    /// Rates of stages, and whatever else a method keeps.
    pub(crate) stages: [Vec<f64>; 7],
    /// State at the end of the step.
    pub(crate) next: Vec<f64>,
    pub(crate) rows: Rows,
    /// The whole state, ground included, at the start of the step and at its first stage; empty if nothing is mapped.
    pub(crate) ends: [Vec<f64>; 2],
    pub(crate) statistics: Statistics,
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
                Memory::new(n, Rows::new(network).unknown())
            } else {
                Memory::default()
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
    pub(crate) fn interpolate(&self, time: f64, mut put: impl FnMut(usize, f64)) {
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
    pub(crate) fn new(network: &Network) -> Rows {
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
            one_coordinate: None,
        };
        rows.one_coordinate = match rows.unknown()[..] {
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

/// The matrix of derivatives and the factors of I − d·h·J, for the numbers that are unknown: those that are prescribed, or follow
/// from a displacement, have unit rows and no columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub(crate) jacobian: Vec<f64>,
    pub(crate) unknown: Vec<usize>,
    pub(crate) factors: Vec<f64>,
    pub(crate) order: Vec<usize>,
    /// The unknown numbers of a right-hand side.
    pub(crate) side: Vec<f64>,
    /// d·h of the factors; 0 if there are none.
    pub(crate) factored: f64,
    /// Whether the derivatives may serve.
    pub(crate) usable: bool,
    /// d·h when they were found, and how many steps ago.
    pub(crate) found_at: f64,
    pub(crate) age: u32,
}

// The order of the pivots says which numbers the factors are of: it is checked, as solving trusts it.
impl Carried for Memory {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.jacobian.save(bytes);
        self.factors.save(bytes);
        self.order.save(bytes);
        self.factored.save(bytes);
        self.usable.save(bytes);
        self.found_at.save(bytes);
        self.age.save(bytes);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let Memory {
            jacobian,
            unknown: _,
            factors,
            order,
            side: _,
            factored,
            usable,
            found_at,
            age,
        } = self;
        jacobian.load(bytes)?;
        factors.load(bytes)?;
        order.load(bytes)?;
        factored.load(bytes)?;
        usable.load(bytes)?;
        found_at.load(bytes)?;
        age.load(bytes)?;
        let count = order.len();
        match order.iter().all(|place| *place < count) {
            true => Ok(()),
            false => Err(SnapshotError::Damaged),
        }
    }
}

impl Memory {
    /// For a state of `size` numbers.
    pub(crate) fn new(size: usize, unknown: Vec<usize>) -> Memory {
        let count = unknown.len();
        Memory {
            jacobian: vec![0.0; size * size],
            unknown,
            factors: vec![0.0; count * count],
            order: vec![0; count],
            side: vec![0.0; count],
            factored: 0.0,
            usable: false,
            found_at: 0.0,
            age: 0,
        }
    }

    /// The derivatives must be found anew.
    pub(crate) fn forget(&mut self) {
        self.usable = false;
    }
}
