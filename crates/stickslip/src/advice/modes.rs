//! Bristle modes, and the lines of a load that may shake them.

use super::loads::{Held, NEGLIGIBLE, Rows};
use super::stiffness;
use crate::simulation::Simulation;
use nalgebra::DMatrix;
use std::f64::consts::PI;

/// Lowest bristle mode that each rubbing direction takes part in, with every bristle stuck; `None` without a bristle.
pub(super) fn bristle_modes(simulation: &Simulation, held: &Held) -> Vec<Option<f64>> {
    let n = held.compliance.nrows();
    let mut root = vec![0.0; n];
    for rows in &held.rows {
        let stiffness = stiffness(simulation, rows.element).unwrap_or(0.0);
        root[rows.first..rows.first + rows.count].fill(stiffness.sqrt());
    }
    let bristles: Vec<usize> = (0..n)
        .filter(|&i| root[i] > 0.0 && held.compliance[(i, i)] > 0.0)
        .collect();
    let mut modes = vec![None; n];
    if bristles.is_empty() {
        return modes;
    }
    let matrix = DMatrix::from_fn(bristles.len(), bristles.len(), |i, j| {
        let (i, j) = (bristles[i], bristles[j]);
        root[i] * held.compliance[(i, j)] * root[j]
    });
    let eigen = matrix.symmetric_eigen();
    let greatest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
    for (row, &bristle) in bristles.iter().enumerate() {
        // A direction takes part in a mode if its share of the mode is not a rounding error; modes without stiffness
        // are bristles in parallel, of which only the sum counts.
        modes[bristle] = (0..bristles.len())
            .filter(|&mode| eigen.eigenvalues[mode] > NEGLIGIBLE * greatest)
            .filter(|&mode| eigen.eigenvectors[(row, mode)].abs() > 1e-3)
            .map(|mode| eigen.eigenvalues[mode].sqrt())
            .reduce(f64::min);
    }
    modes
}

/// Length of the spectrum.
const SPECTRUM: usize = 4096;
/// A line weaker than this part of the limit cannot shake a bristle loose.
const FAINT: f64 = 1e-3;

/// The strongest line of the load in the second half of the run, rad/s. Sampled so that lines up to eight times the
/// mode show.
pub(super) fn strongest_line(held: &Held, rows: Rows, mode: f64, limit: f64) -> Option<f64> {
    let built = held.simulation.built();
    let step = built.network.step;
    let from = built.steps / 2;
    let stride = ((PI / (8.0 * mode) / step) as u64).max(1);
    let to = built.steps.min(from + stride * (SPECTRUM as u64 - 1));
    let mut samples = vec![Vec::new(); rows.count];
    held.scan(from, to, stride, |_, loads| {
        for (axis, samples) in samples.iter_mut().enumerate() {
            samples.push(loads[rows.first + axis]);
        }
    });
    let lines = samples
        .iter()
        .filter_map(|samples| line_of(samples, stride as f64 * step));
    let (line, amplitude) = lines.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (amplitude > FAINT * limit).then_some(line)
}

/// Angular frequency and amplitude of the strongest line of equally spaced samples, their trend removed.
fn line_of(samples: &[f64], spacing: f64) -> Option<(f64, f64)> {
    let n = samples.len();
    if n < 16 || !samples.iter().all(|x| x.is_finite()) {
        return None;
    }
    // Least-squares line through the samples.
    let centre = (n as f64 - 1.0) / 2.0;
    let mean = samples.iter().sum::<f64>() / n as f64;
    let (mut rise, mut run) = (0.0, 0.0);
    for (i, x) in samples.iter().enumerate() {
        let offset = i as f64 - centre;
        rise += offset * (x - mean);
        run += offset * offset;
    }
    let length = (2 * n).next_power_of_two();
    let mut spectrum = vec![(0.0, 0.0); length];
    for (i, (bin, x)) in spectrum.iter_mut().zip(samples).enumerate() {
        // Hann's window keeps a strong line from drowning its neighbours.
        let window = 0.5 - 0.5 * libm::cos(2.0 * PI * (i as f64 + 0.5) / n as f64);
        bin.0 = window * (x - mean - rise / run * (i as f64 - centre));
    }
    fourier(&mut spectrum);
    let power = |bin: &(f64, f64)| bin.0 * bin.0 + bin.1 * bin.1;
    let (peak, bin) = spectrum[..length / 2]
        .iter()
        .enumerate()
        .max_by(|a, b| power(a.1).total_cmp(&power(b.1)))?;
    // The top of a parabola through the peak and its neighbours.
    let side = |i: usize| spectrum.get(i).map_or(0.0, |bin| power(bin).sqrt());
    let (left, top, right) = (side(peak.max(1) - 1), side(peak), side(peak + 1));
    let bend = left - 2.0 * top + right;
    let shift = if bend < 0.0 { 0.5 * (left - right) / bend } else { 0.0 };
    let frequency = 2.0 * PI * (peak as f64 + shift) / (length as f64 * spacing);
    // The window sums to n/2, and a line of amplitude a puts a/2 of it in its bin.
    Some((frequency, 4.0 * power(bin).sqrt() / n as f64))
}

/// Discrete Fourier transform in place; the length is a power of two (decimation in time).
fn fourier(x: &mut [(f64, f64)]) {
    let n = x.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            x.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let angle = -PI * k as f64 / half as f64;
            let (sin, cos) = libm::sincos(angle);
            for start in (k..n).step_by(2 * half) {
                let (a, b) = (x[start], x[start + half]);
                let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                x[start] = (a.0 + turned.0, a.1 + turned.1);
                x[start + half] = (a.0 - turned.0, a.1 - turned.1);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, relative: f64) {
        assert!((a - b).abs() <= relative * b.abs(), "{a} against {b}");
    }

    #[test]
    fn the_strongest_line_of_a_known_signal() {
        let signal = |i: i32| {
            let t = f64::from(i) * 0.01;
            3.0 * t + 0.5 * libm::sin(20.0 * t) + 0.2 * libm::sin(55.0 * t)
        };
        let samples: Vec<f64> = (0..3000).map(signal).collect();
        let (frequency, amplitude) = line_of(&samples, 0.01).unwrap();
        near(frequency, 20.0, 1e-3);
        near(amplitude, 0.5, 0.05);
        assert_eq!(line_of(&samples[..3], 0.01), None);
    }
}
