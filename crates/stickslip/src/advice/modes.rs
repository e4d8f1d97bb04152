//! Bristle modes, and the lines of a load that may shake them.

use super::loads::{BUDGET, Held, NEGLIGIBLE, Rows};
use super::statics::MOST_ROWS;
use super::{FrictionLine, stiffness};
use crate::math::symmetric_eigen;
use crate::simulation::Simulation;
use nalgebra::DMatrix;
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::PI;

/// Lowest bristle mode that each friction element takes part in, with every bristle stuck; `None` without a bristle.
pub(super) fn bristle_modes(simulation: &Simulation, held: &Held) -> Vec<Option<f64>> {
    let elements = simulation.scenario().elements.len();
    // Stiffness and element of each row.
    let mut bristle: HashMap<usize, (f64, usize)> = HashMap::new();
    for rows in &held.rows {
        let stiffness = stiffness(simulation, rows.element).unwrap_or(0.0);
        for row in rows.first..rows.first + rows.count {
            bristle.insert(row, (stiffness.sqrt(), rows.element));
        }
    }
    let mut modes: Vec<Option<f64>> = vec![None; elements];
    // The modes of very many need more time than a check should take.
    for island in held.islands.iter().filter(|island| island.rows.len() <= MOST_ROWS) {
        let bristles: Vec<(usize, f64, usize)> = (0..island.rows.len())
            .filter_map(|i| {
                let (root, element) = *bristle.get(&island.rows[i])?;
                (root > 0.0).then_some((i, root, element))
            })
            .collect();
        let n = bristles.len();
        let matrix = DMatrix::from_fn(n, n, |i, j| {
            let ((i, a, _), (j, b, _)) = (bristles[i], bristles[j]);
            a * island.compliance[(i, j)] * b
        });
        let Some((values, vectors)) = symmetric_eigen(matrix) else {
            continue;
        };
        let greatest = values.iter().copied().fold(0.0, f64::max);
        for (row, &(_, _, element)) in bristles.iter().enumerate() {
            // A direction takes part in a mode if its share of the mode is not a rounding error; modes without stiffness
            // are bristles in parallel, of which only the sum counts.
            let lowest = (0..n)
                .filter(|&mode| values[mode] > NEGLIGIBLE * greatest)
                .filter(|&mode| vectors[(row, mode)].abs() > 1e-3)
                .map(|mode| values[mode].sqrt())
                .reduce(f64::min);
            modes[element] = [modes[element], lowest].into_iter().flatten().reduce(f64::min);
        }
    }
    modes
}

/// Fills in the strongest line of the load of each friction that has a bristle mode and a limit.
pub(super) fn load_lines(simulation: &Simulation, held: &mut Held, lines: &mut [FrictionLine]) {
    let rows: HashMap<usize, Rows> = held.rows.iter().map(|rows| (rows.element, *rows)).collect();
    // Frictions whose mode asks for the same samples share them.
    let mut wanted: BTreeMap<u64, Vec<(usize, Rows, f64)>> = BTreeMap::new();
    let step = simulation.built().network.step;
    for (number, line) in lines.iter().enumerate() {
        let rows = simulation
            .element(&line.element)
            .and_then(|element| rows.get(&element.number()));
        let limit = line.holding_limit.filter(|limit| *limit > 0.0);
        if let (Some(mode), Some(limit), Some(rows)) = (line.bristle_mode, limit, rows) {
            let stride = ((PI / (8.0 * mode) / step) as u64).max(1);
            wanted.entry(stride).or_default().push((number, *rows, limit));
        }
    }
    let most = (BUDGET / (SPECTRUM as u64 * held.cost().max(1))) as usize;
    for (stride, frictions) in wanted.into_iter().take(most) {
        for some in frictions.chunks(MOST_LINES).take(1) {
            let found = strongest_lines(held, some, stride);
            for ((number, ..), line) in some.iter().zip(found) {
                lines[*number].load_line = line;
            }
        }
    }
}

/// Loads whose spectrum is taken together.
const MOST_LINES: usize = 64;
/// Length of the spectrum.
const SPECTRUM: usize = 4096;
/// A line weaker than this part of the limit cannot shake a bristle loose.
const FAINT: f64 = 1e-3;

/// The strongest lines of some loads in the second half of the run, rad/s. Sampled so that lines up to eight times the
/// mode show.
fn strongest_lines(held: &mut Held, frictions: &[(usize, Rows, f64)], stride: u64) -> Vec<Option<f64>> {
    let built = held.simulation.built();
    let spacing = stride as f64 * built.network.step;
    let from = built.steps / 2;
    let to = built
        .steps
        .min(from.saturating_add(stride.saturating_mul(SPECTRUM as u64 - 1)));
    let steps = (0..)
        .map_while(|k: u64| from.checked_add(stride.checked_mul(k)?))
        .take_while(move |step| *step <= to);
    let mut samples: Vec<Vec<Vec<f64>>> = frictions
        .iter()
        .map(|(_, rows, _)| vec![Vec::new(); rows.count])
        .collect();
    held.scan(steps, |moment| {
        for ((_, rows, _), samples) in frictions.iter().zip(&mut samples) {
            for (axis, samples) in samples.iter_mut().enumerate() {
                samples.push(moment.forces[rows.first + axis]);
            }
        }
    });
    let strongest = |((_, _, limit), samples): (&(usize, Rows, f64), Vec<Vec<f64>>)| {
        let lines = samples.iter().filter_map(|samples| line_of(samples, spacing));
        let (line, amplitude) = lines.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // A load that does not change has lines of rounding only.
        let most = samples.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
        let strong = amplitude > FAINT * limit && amplitude > 1e-9 * most;
        (strong && line > 0.0 && line.is_finite()).then_some(line)
    };
    frictions.iter().zip(samples).map(strongest).collect()
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
