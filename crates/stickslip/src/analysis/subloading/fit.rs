//! Least squares: the law follows the motion of every record, and its parameters are those with which its force is nearest to the measured
//! one.

use super::course::Course;
use super::response::{ALPHA, ETA, KAPPA, M, N, PARAMETERS, Parts, R, Start, Unknowns, follow, law, plan};
use crate::stop::{Stop, is_set};
use nalgebra::{Cholesky, DMatrix, DVector};
use stickslip_core::friction::subloading::Evolution;

/// Before any data every parameter is known to about this factor, as a logarithm: so wide that it counts only where the data say nothing.
const PRIOR: f64 = 7.0;
/// The same for the exponents, which are near 1.
const PRIOR_OF_EXPONENT: f64 = 2.0;
/// Least and largest exponent.
const EXPONENTS: (f64, f64) = (0.2, 5.0);
/// Error of the law's steps as part of its limit, while searching and at the end.
const ROUGH: f64 = 3e-3;
const FINE: f64 = 2e-5;
/// Noise below this part of the largest force is counted as so much: the law's own steps are no better.
const LEAST_NOISE: f64 = 1e-4;

/// What is sought, and in what.
pub(super) struct Problem<'a> {
    pub courses: &'a [Course],
    pub evolution: Evolution,
    /// Noise of each record, N.
    pub noise: Vec<f64>,
    /// Which parameters are sought.
    pub free: [bool; PARAMETERS],
    /// Which records begin fully rested.
    pub rested: Vec<bool>,
    /// Where the search begins: the middle of what is known before.
    pub expected: Unknowns,
    pub stop: Option<&'a Stop>,
}

/// A solution.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub unknowns: Unknowns,
    pub starts: Vec<Start>,
}

/// Errors of a solution.
pub(super) struct Errors {
    /// Covariance of the unknowns; zero where they are not sought.
    pub covariance: DMatrix<f64>,
    /// How much each record says about each unknown: the diagonal of its information.
    pub information: Vec<[f64; PARAMETERS]>,
}

/// Forces of a point, with the parts of each record's steps.
struct Traced {
    forces: Vec<Vec<f64>>,
    parts: Vec<Vec<Parts>>,
    cost: f64,
}

impl Problem<'_> {
    /// Unknowns: the free parameters, then two for each record.
    fn width(&self) -> usize {
        self.shared() + 2 * self.courses.len()
    }

    fn shared(&self) -> usize {
        self.free.iter().filter(|free| **free).count()
    }

    /// Numbers of the free parameters.
    fn places(&self) -> Vec<usize> {
        (0..PARAMETERS).filter(|i| self.free[*i]).collect()
    }

    fn prior(&self, parameter: usize) -> f64 {
        if parameter == M || parameter == N {
            PRIOR_OF_EXPONENT
        } else {
            PRIOR
        }
    }

    /// The scale of a record's force.
    fn size(&self, record: usize) -> f64 {
        let largest = self.courses[record]
            .resistance
            .iter()
            .fold(0.0, |most: f64, q| most.max(q.abs()));
        largest.max(f64::MIN_POSITIVE)
    }

    /// Sum of squares of one record.
    fn misfit(&self, record: usize, forces: &[f64]) -> f64 {
        let apart = self.courses[record].resistance.iter().zip(forces);
        apart.map(|(q, f)| (q - f) * (q - f)).sum::<f64>() / (self.noise[record] * self.noise[record])
    }

    /// What little is known before.
    fn beforehand(&self, point: &Point) -> f64 {
        let parameters = self.places().into_iter().map(|i| {
            let off = (point.unknowns[i] - self.expected[i]) / self.prior(i);
            off * off
        });
        let starts = point.starts.iter().enumerate().map(|(record, start)| {
            let off = (start.resistance - self.courses[record].resistance[0]) / self.size(record);
            let middle = if self.rested[record] { 0.0 } else { start.rested - 0.5 };
            off * off + middle * middle
        });
        parameters.sum::<f64>() + starts.sum::<f64>()
    }

    fn trace(&self, point: &Point) -> Traced {
        let law = law(&point.unknowns, self.evolution);
        let mut traced = Traced {
            forces: Vec::new(),
            parts: Vec::new(),
            cost: self.beforehand(point),
        };
        for (record, course) in self.courses.iter().enumerate() {
            let (forces, parts) = plan(&law, course, point.starts[record], FINE, false);
            traced.cost += self.misfit(record, &forces);
            traced.forces.push(forces);
            traced.parts.push(parts);
        }
        traced
    }

    /// The cost, in the parts of a plan.
    fn cost(&self, point: &Point, parts: &[Vec<Parts>]) -> f64 {
        let law = law(&point.unknowns, self.evolution);
        let records =
            self.courses.iter().enumerate().map(|(record, course)| {
                self.misfit(record, &follow(&law, course, point.starts[record], &parts[record]))
            });
        let cost = records.sum::<f64>() + self.beforehand(point);
        if cost.is_nan() { f64::INFINITY } else { cost }
    }

    /// Derivatives of a record's forces by the free parameters and by its start, over its noise: differences from the forces themselves
    /// where these are given, and else to both sides.
    fn derivatives(&self, point: &Point, record: usize, parts: &[Parts], forces: Option<&[f64]>) -> Vec<Vec<f64>> {
        let course = &self.courses[record];
        let answer = |unknowns: &Unknowns, start: Start| follow(&law(unknowns, self.evolution), course, start, parts);
        let start = point.starts[record];
        let slope = |at: f64, low: f64, high: f64, answer: &dyn Fn(f64) -> Vec<f64>| -> Vec<f64> {
            // At a bound, to the inner side alone.
            let one_sided = forces.filter(|_| high > at);
            let (low, below) = match one_sided {
                Some(forces) => (at, forces.to_vec()),
                None => (low, answer(low)),
            };
            let above = answer(high);
            let width = (high - low) * self.noise[record];
            above
                .iter()
                .zip(&below)
                .map(|(above, below)| (above - below) / width)
                .collect()
        };
        let mut columns: Vec<Vec<f64>> = (self.places().into_iter())
            .map(|i| {
                let with = |value: f64| {
                    let mut unknowns = point.unknowns;
                    unknowns[i] = value;
                    answer(&unknowns, start)
                };
                let at = point.unknowns[i];
                slope(at, at - 1e-4, at + 1e-4, &with)
            })
            .collect();
        let (low, high) = ((start.rested - 1e-3).max(0.0), (start.rested + 1e-3).min(1.0));
        columns.push(if self.rested[record] {
            vec![0.0; course.times.len()]
        } else {
            slope(start.rested, low, high, &|rested| {
                answer(&point.unknowns, Start { rested, ..start })
            })
        });
        let (at, width) = (start.resistance, 1e-4 * self.size(record));
        let with = |resistance: f64| answer(&point.unknowns, Start { resistance, ..start });
        columns.push(slope(at, at - width, at + width, &with));
        columns
    }

    /// Where the unknowns of a record stand in the vector of all: the shared ones, then its own.
    fn columns(&self, record: usize) -> Vec<usize> {
        let own = self.shared() + 2 * record;
        (0..self.shared()).chain([own, own + 1]).collect()
    }

    /// Precision of what is known before, for each unknown.
    fn precision(&self) -> DVector<f64> {
        let shared = self.places().into_iter().map(|i| 1.0 / (self.prior(i) * self.prior(i)));
        let own = (0..self.courses.len()).flat_map(|record| [1.0, 1.0 / (self.size(record) * self.size(record))]);
        DVector::from_iterator(self.width(), shared.chain(own))
    }

    /// How far what is known before is off.
    fn pull(&self, point: &Point) -> DVector<f64> {
        let shared = self.places().into_iter().map(|i| self.expected[i] - point.unknowns[i]);
        let own = point.starts.iter().enumerate().flat_map(|(record, start)| {
            let middle = if self.rested[record] { 0.0 } else { 0.5 - start.rested };
            [middle, self.courses[record].resistance[0] - start.resistance]
        });
        DVector::from_iterator(self.width(), shared.chain(own))
    }

    fn moved(&self, point: &Point, step: &DVector<f64>) -> Point {
        let mut next = point.clone();
        for (at, i) in self.places().into_iter().enumerate() {
            next.unknowns[i] += step[at].clamp(-1.0, 1.0);
            if i == M || i == N {
                next.unknowns[i] = next.unknowns[i].clamp(libm::log(EXPONENTS.0), libm::log(EXPONENTS.1));
            }
            next.unknowns[i] = next.unknowns[i].clamp(-100.0, 100.0);
        }
        for (record, start) in next.starts.iter_mut().enumerate() {
            let own = self.shared() + 2 * record;
            if !self.rested[record] {
                start.rested = (start.rested + step[own]).clamp(0.0, 1.0);
            }
            start.resistance += step[own + 1];
        }
        next
    }

    /// The sum of squares at a point.
    pub fn cost_of(&self, point: &Point) -> f64 {
        let cost = self.trace(point).cost;
        if cost.is_nan() { f64::INFINITY } else { cost }
    }

    /// Levenberg and Marquardt's method from a point.
    pub fn improve(&self, mut point: Point, rounds: usize) -> Point {
        let mut damping = 1e-3;
        let mut precise = false;
        for _ in 0..rounds {
            let traced = self.trace(&point);
            let (mut normal, mut right) = self.known_before(&point);
            for record in 0..self.courses.len() {
                if is_set(self.stop) {
                    return point;
                }
                let columns = self.derivatives(
                    &point,
                    record,
                    &traced.parts[record],
                    (!precise).then_some(&traced.forces[record][..]),
                );
                let apart: Vec<f64> = (self.courses[record].resistance.iter().zip(&traced.forces[record]))
                    .map(|(q, f)| (q - f) / self.noise[record])
                    .collect();
                let places = self.columns(record);
                for (a, i) in columns.iter().zip(&places) {
                    right[*i] += dot(a, &apart);
                    for (b, j) in columns.iter().zip(&places) {
                        normal[(*i, *j)] += dot(a, b);
                    }
                }
            }
            let mut better = None;
            for _ in 0..12 {
                if let Some(step) = self.step(&point, &normal, &right, damping) {
                    let next = self.moved(&point, &step);
                    let cost = self.cost(&next, &traced.parts);
                    if cost < traced.cost {
                        better = Some((next, traced.cost - cost));
                        break;
                    }
                }
                damping *= 4.0;
            }
            damping = (damping / 8.0).max(1e-9);
            let gain = better.as_ref().map_or(0.0, |(_, gain)| *gain);
            if let Some((next, _)) = better {
                point = next;
            }
            // Less than chance would change: the end, if the derivatives were good.
            if gain < 1e-2 && precise {
                break;
            }
            if gain < 1e-2 {
                (precise, damping) = (true, 1e-3);
            }
        }
        point
    }

    /// The step of the damped normal equations. A start that it would lead beyond its bounds goes as far as these, and the others are solved
    /// for again: cut off afterwards, it would leave them where they fit nothing.
    fn step(&self, point: &Point, normal: &DMatrix<f64>, right: &DVector<f64>, damping: f64) -> Option<DVector<f64>> {
        let mut damped = normal.clone();
        let mut right = right.clone();
        for i in 0..self.width() {
            damped[(i, i)] *= 1.0 + damping;
        }
        loop {
            let step = Cholesky::new(damped.clone())?.solve(&right);
            if !step.iter().all(|x| x.is_finite()) {
                return None;
            }
            let mut held = false;
            for (record, start) in point.starts.iter().enumerate() {
                let own = self.shared() + 2 * record;
                let most = step[own].clamp(-start.rested, 1.0 - start.rested);
                if self.rested[record] || (step[own] - most).abs() <= 1e-12 {
                    continue;
                }
                held = true;
                for i in 0..self.width() {
                    right[i] -= damped[(i, own)] * most;
                    (damped[(i, own)], damped[(own, i)]) = (0.0, 0.0);
                }
                (damped[(own, own)], right[own]) = (1.0, most);
            }
            if !held {
                return Some(step);
            }
        }
    }

    /// The parts of the normal equations that do not come from data.
    fn known_before(&self, point: &Point) -> (DMatrix<f64>, DVector<f64>) {
        let precision = self.precision();
        let right = precision.component_mul(&self.pull(point));
        (DMatrix::from_diagonal(&precision), right)
    }

    /// The noise of each record by what a point leaves of it.
    pub fn noise_left(&self, point: &Point) -> Vec<f64> {
        let traced = self.trace(point);
        (0..self.courses.len())
            .map(|record| {
                let rows = self.courses[record].times.len() as f64;
                // Each record has two unknowns of its own, and its share of the others.
                let known = 2.0 + self.shared() as f64 / self.courses.len() as f64;
                let variance = self.misfit(record, &traced.forces[record]) / (rows - known).max(1.0);
                (self.noise[record] * variance.sqrt()).max(LEAST_NOISE * self.size(record))
            })
            .collect()
    }

    /// What a point leaves of each record: measured less computed, N; and the forces.
    pub fn left(&self, point: &Point) -> Vec<(Vec<f64>, Vec<f64>)> {
        let traced = self.trace(point);
        let records = self.courses.iter().zip(traced.forces);
        records
            .map(|(course, forces)| {
                let left = course.resistance.iter().zip(&forces).map(|(q, f)| q - f).collect();
                (left, forces)
            })
            .collect()
    }

    /// Errors of a solution. The spread of the residuals is taken as it is, row by row, so that noise in proportion to the force needs
    /// no other method (a sandwich); residuals that hang together count as fewer rows.
    pub fn errors(&self, point: &Point) -> Option<Errors> {
        let traced = self.trace(point);
        let (mut normal, _) = self.known_before(point);
        let mut spread = normal.clone();
        let mut information = Vec::new();
        for (record, course) in self.courses.iter().enumerate() {
            let columns = self.derivatives(point, record, &traced.parts[record], None);
            let left: Vec<f64> = (course.resistance.iter().zip(&traced.forces[record]))
                .map(|(q, f)| (q - f) / self.noise[record])
                .collect();
            let fewer = hang_together(&left);
            let rows = left.len() as f64;
            // Residuals are smaller than the noise by what was fitted.
            let more = rows / (rows - 2.0 - self.shared() as f64 / self.courses.len() as f64).max(1.0);
            // A row that fits by chance is no better known than the others: half of the variance is that of the whole record.
            let mean = left.iter().map(|x| x * x).sum::<f64>() / rows;
            let weights: Vec<f64> = left.iter().map(|x| fewer * more * 0.5 * (x * x + mean)).collect();
            let places = self.columns(record);
            for (a, i) in columns.iter().zip(&places) {
                for (b, j) in columns.iter().zip(&places) {
                    normal[(*i, *j)] += dot(a, b);
                    spread[(*i, *j)] += a.iter().zip(b).zip(&weights).map(|((a, b), w)| a * b * w).sum::<f64>();
                }
            }
            let mut said = [0.0; PARAMETERS];
            for (at, i) in self.places().into_iter().enumerate() {
                said[i] = dot(&columns[at], &columns[at]);
            }
            information.push(said);
        }
        let inverse = Cholesky::new(normal)?.inverse();
        let all = &inverse * spread * &inverse;
        let mut covariance = DMatrix::zeros(PARAMETERS, PARAMETERS);
        for (a, i) in self.places().into_iter().enumerate() {
            for (b, j) in self.places().into_iter().enumerate() {
                covariance[(i, j)] = all[(a, b)];
            }
        }
        Some(Errors {
            covariance,
            information,
        })
    }

    /// Looks for a beginning from which least squares find their way: one parameter after the other over several decades.
    pub fn search(&self) -> Point {
        let mut best = self.begin(self.expected);
        let scales = [
            &[-3.4, -2.3, -1.15, 1.15, 2.3, 3.4][..],
            &[-1.15, -0.5, 0.5, 1.15][..],
            &[-0.5, 0.5][..],
        ];
        for scale in scales {
            for parameter in [ALPHA, R, KAPPA, ETA] {
                if !self.free[parameter] {
                    continue;
                }
                let from = best.0.unknowns;
                for step in scale {
                    if is_set(self.stop) {
                        return best.0;
                    }
                    let mut unknowns = from;
                    unknowns[parameter] += step;
                    let tried = self.begin(unknowns);
                    if tried.1 < best.1 {
                        best = tried;
                    }
                }
            }
        }
        best.0
    }

    /// A point with these parameters, each record with the start that suits it best, and its cost.
    fn begin(&self, unknowns: Unknowns) -> (Point, f64) {
        let law = law(&unknowns, self.evolution);
        let mut starts = Vec::new();
        let mut cost = 0.0;
        for (record, course) in self.courses.iter().enumerate() {
            let candidates: &[f64] = if self.rested[record] { &[1.0] } else { &[0.0, 0.5, 0.97] };
            let resistance = course.resistance[0];
            let tried = candidates.iter().map(|rested| {
                let start = Start {
                    rested: *rested,
                    resistance,
                };
                let misfit = self.misfit(record, &plan(&law, course, start, ROUGH, true).0);
                (start, if misfit.is_nan() { f64::INFINITY } else { misfit })
            });
            if let Some((start, misfit)) = tried.min_by(|a, b| a.1.total_cmp(&b.1)) {
                starts.push(start);
                cost += misfit;
            }
        }
        let point = Point { unknowns, starts };
        let cost = cost + self.beforehand(&point);
        (point, cost)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// By how much less rows say whose residuals hang together: 1 for noise, (1 + ρ)/(1 − ρ) for a correlation ρ from row to row.
pub(super) fn hang_together(left: &[f64]) -> f64 {
    let rows = left.len() as f64;
    let mean = left.iter().sum::<f64>() / rows;
    let square: f64 = left.iter().map(|x| (x - mean) * (x - mean)).sum();
    let along: f64 = left.windows(2).map(|x| (x[0] - mean) * (x[1] - mean)).sum();
    let correlation = if square > 0.0 { along / square } else { 0.0 };
    // Less than two standard deviations of what noise has by chance.
    if correlation * rows.sqrt() < 2.0 {
        return 1.0;
    }
    let correlation = correlation.min(0.99);
    (1.0 + correlation) / (1.0 - correlation)
}
