//! The explicit pair of orders 5 and 4 of Dormand and Prince (1980), with the continuous extension of order 4 by Shampine as
//! given by Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, sections II.5 and II.6.
//!
//! The last stage of a step is the first of the next one. Steps are chosen in [`super::march`].
// Coefficients are quotients as published.
#![allow(clippy::excessive_precision)]

use super::march::{Bench, Failure, Interval, March, StepControl, hermite, worst};

/// Power of the step that the error estimate falls with.
pub(crate) const ESTIMATE: f64 = 5.0;
/// Part of the tolerance that the estimate may reach where something jumps. Its weights are far smaller than those of the step:
/// a jump right after the start of a step is seen with 71/57600 of it and makes an error of up to 0.11 of it.
pub(crate) const WARY: f64 = 0.01;
/// The stage at the end of the step.
pub(crate) const LAST: usize = 6;

const NODES: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];

/// Weights of the stages before, for each stage after the first; the last row are the weights of the step.
const MATRIX: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];

/// Weights of order 5 less those of order 4.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// Weights of the last coefficient of the continuous extension.
const DENSE: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// Tries a step; the error over the tolerance, and the number it belongs to.
pub(crate) fn attempt<const OBSERVE: bool>(
    bench: &mut Bench<'_>,
    control: &StepControl,
    march: &mut March,
    stages: &mut [Vec<f64>; 7],
    next: &mut [f64],
    driven: &[bool],
    interval: &Interval,
) -> Result<(f64, usize), Failure> {
    let size = next.len();
    stages[0][..size].copy_from_slice(&march.rate);
    for (r, weights) in MATRIX.iter().enumerate() {
        let (done, coming) = stages.split_at_mut(r + 1);
        for (i, next) in next.iter_mut().enumerate() {
            let sum: f64 = weights.iter().zip(&*done).map(|(weight, rate)| weight * rate[i]).sum();
            *next = march.front[i] + interval.length * sum;
        }
        bench.rate::<OBSERVE>(next, interval.at(NODES[r + 1]), &mut coming[0][..size]);
    }
    let error = |i: usize| {
        let sum: f64 = ERROR.iter().zip(&*stages).map(|(weight, rate)| weight * rate[i]).sum();
        interval.length * sum
    };
    worst(march, bench.network, control, driven, next, error)
}

/// The interpolant of a step that is kept.
pub(crate) fn finish(
    length: f64,
    front: &[f64],
    next: &[f64],
    stages: &[Vec<f64>; 7],
    interpolant: &mut [Vec<f64>; 5],
) {
    hermite(length, [front, next], [&stages[0], &stages[LAST]], interpolant);
    for (i, coefficient) in interpolant[4].iter_mut().enumerate() {
        *coefficient = length
            * DENSE
                .iter()
                .zip(stages)
                .map(|(weight, rate)| weight * rate[i])
                .sum::<f64>();
    }
}
