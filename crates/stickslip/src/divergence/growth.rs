//! How numbers of a run grow from quarter to quarter. What a step makes explode grows by the same factor in every quarter; what is
//! pushed or driven grows ever more slowly by comparison. Equations may do either, so they are run again with shorter steps, which
//! find the same growth if it is theirs.

use super::{ALIKE, EXPLOSION, GROWTH, SHORTER};
use crate::simulation::{RunError, Simulation};
use crate::stop::{Stop, is_set};
use crate::trace::Columns;

/// Looks at a run with parts of the user's own. The energy of an element that stores its own is not seen, so one look
/// may find all of it there.
const LOOKS: u64 = 64;
/// Steps between two looks at the stop flag.
const PULSE: u64 = 1 << 14;

/// The largest values that numbers had in each quarter of a run. Squares of values stand beside the energy, all as logarithms.
pub(crate) struct Growth {
    /// Looks in all, and how many were made.
    looks: u64,
    done: u64,
    /// Steps of the run, and the step of the next look.
    steps: u64,
    next: u64,
    /// The energy of motion, then every number of the state where equations may have made it grow.
    peaks: [Vec<f64>; 4],
    values: bool,
}

fn logarithm(square: f64) -> f64 {
    libm::log(square)
}

impl Growth {
    /// Before the first step of a run.
    pub(crate) fn new(simulation: &Simulation) -> Self {
        let equations = simulation.has_equations();
        Growth {
            looks: if equations { LOOKS } else { 4 },
            done: 0,
            steps: simulation.built().steps,
            next: 0,
            peaks: Default::default(),
            values: equations,
        }
        .again(1)
    }

    /// The looks at a row of a sweep. States of an inclusion are judged where they end.
    pub(crate) fn of_row(simulation: &Simulation) -> Self {
        let growth = Growth::new(simulation);
        match simulation.scenario().inclusion {
            Some(_) => Growth {
                next: u64::MAX,
                ..growth
            },
            None => growth,
        }
    }

    /// The same looks at a run with so many times shorter steps.
    fn again(&self, parts: u64) -> Self {
        Growth {
            done: 0,
            next: parts * self.step_of(0),
            peaks: Default::default(),
            ..*self
        }
    }

    /// The step of a look. The looks of equations are not equally spaced, or each might meet the same phase of a vibration.
    fn step_of(&self, look: u64) -> u64 {
        let place = if self.values {
            let shift = 0.618_033_988_749_895 * look as f64;
            look as f64 + (shift - shift.floor())
        } else {
            look as f64 + 1.0
        };
        ((self.steps as f64 * place / self.looks as f64) as u64).clamp(1, self.steps.max(1))
    }

    /// The step at which to look next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Looks at the simulation if it is time.
    pub(crate) fn look(&mut self, simulation: &mut Simulation) {
        while simulation.steps_done() >= self.next {
            self.take(simulation, 1);
        }
    }

    fn take(&mut self, simulation: &mut Simulation, parts: u64) {
        let energy = simulation.live_energy().map_or(0.0, |(live, _)| live);
        let quarter = &mut self.peaks[(4 * self.done / self.looks) as usize];
        let first = logarithm(energy.max(0.0));
        let network = &simulation.built().network;
        let driven = |i: usize| (network.drives.iter()).any(|drive| drive.coordinate.q == i || drive.coordinate.v == i);
        let values = simulation.state().values[..network.layout.integrated()].iter();
        // What drivers do is given.
        let values = values.enumerate().map(|(i, value)| match driven(i) {
            true => f64::NEG_INFINITY,
            false => 2.0 * logarithm(value.abs()),
        });
        let count = if self.values { usize::MAX } else { 0 };
        let numbers = std::iter::once(first).chain(values.take(count));
        if quarter.is_empty() {
            quarter.extend(numbers);
        } else {
            for (peak, number) in quarter.iter_mut().zip(numbers) {
                *peak = peak.max(number);
            }
        }
        self.done += 1;
        self.next = match self.done < self.looks {
            true => parts * self.step_of(self.done),
            false => u64::MAX,
        };
    }

    /// The largest values of a number in the quarters.
    fn course(&self, number: usize) -> [f64; 4] {
        let mut course = [f64::NEG_INFINITY; 4];
        for (peak, quarter) in course.iter_mut().zip(&self.peaks) {
            *peak = quarter.get(number).copied().unwrap_or(f64::NEG_INFINITY);
        }
        course
    }

    /// Whether the energy grew a hundredfold over three quarters, by as much in each.
    pub(crate) fn energy_grew_evenly(&self) -> bool {
        evenly(&self.course(0))
    }

    /// Numbers that grew as an explosion does, each with the size that they grew from.
    pub(crate) fn suspects(&self, simulation: &Simulation) -> Vec<(usize, f64)> {
        let count = self.peaks[0].len();
        let initial = simulation.built().network.initial.iter().map(|value| value.abs());
        let scale = initial.fold(simulation.scenario().simulation.duration.max(1.0), f64::max);
        let suspect = |number: usize| {
            let course = self.course(number);
            let evenly = evenly(&course).then_some(course[0]);
            let sudden = || {
                let jump = |k: usize| {
                    let before = course[..k].iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let large = match number {
                        0 => before + logarithm(EXPLOSION),
                        _ => f64::max(before, 2.0 * logarithm(scale)) + 2.0 * logarithm(GROWTH),
                    };
                    (before.is_finite() && course[k] > large).then_some(before)
                };
                (1..4).find_map(jump)
            };
            evenly.or_else(sudden).map(|base| (number, base))
        };
        (0..count).filter_map(suspect).collect()
    }

    /// Repeats the run that ends here with shorter steps: the failure, if one of the `suspects` then grows otherwise. With two of them,
    /// as by chance one may grow alike.
    pub(crate) fn judge(
        &self,
        simulation: &Simulation,
        suspects: &[(usize, f64)],
        stop: Option<&Stop>,
    ) -> Option<RunError> {
        let largest =
            |growth: &Growth, number: usize| growth.course(number).into_iter().fold(f64::NEG_INFINITY, f64::max);
        // The implicit step takes energy away, the more the longer it is: that more is left with a shorter one is no explosion.
        let damped = simulation.method().implicit();
        for parts in SHORTER {
            let parts = u64::from(parts);
            let mut scenario = simulation.scenario().clone();
            scenario.simulation.step /= parts as f64;
            let mut shorter = Simulation::new(scenario).ok()?;
            let mut growth = self.again(parts);
            let (steps, mut finished) = (parts * simulation.steps_done(), true);
            while finished && shorter.steps_done() < steps {
                if is_set(stop) {
                    return None;
                }
                let goal = growth.next.min(steps);
                let length = PULSE.min(goal.saturating_sub(shorter.steps_done()).max(1));
                finished = shorter.advance(length).is_ok();
                while finished && shorter.steps_done() >= growth.next {
                    growth.take(&mut shorter, parts);
                }
            }
            for &(number, base) in suspects {
                let grown = largest(self, number) - base;
                let other = finished.then(|| largest(&growth, number));
                let differs = other.is_none_or(|other| {
                    let less = grown - (other - base);
                    less > ALIKE * grown || (-less > ALIKE * grown && !damped)
                });
                if differs {
                    return Some(self.unconverged(simulation, number, parts as u32, other));
                }
            }
        }
        None
    }

    fn unconverged(&self, simulation: &Simulation, number: usize, parts: u32, other: Option<f64>) -> RunError {
        let columns = Columns::new(simulation);
        let peak = self.course(number).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let share = if number == 0 { 1.0 } else { 0.5 };
        let what = match number {
            0 => format!(
                "the energy of motion in J ({} is largest)",
                simulation.fastest_column(&columns)
            ),
            _ => columns.name_of_state(number - 1),
        };
        RunError::Unconverged {
            time: simulation.time(),
            what,
            value: libm::exp(share * peak),
            parts,
            other: other.map(|other| libm::exp(share * other)),
            remedy: simulation.remedy_of_growth(),
        }
    }
}

/// Whether a number grew over the last three quarters by the factor of an explosion, and by its third part or more in each.
fn evenly(course: &[f64; 4]) -> bool {
    let part = logarithm(EXPLOSION) / 3.0;
    course[0].is_finite() && course.windows(2).all(|pair| pair[1] - pair[0] > part)
}
