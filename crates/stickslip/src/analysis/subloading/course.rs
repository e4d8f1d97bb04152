//! The motion of a test: cleaned of the noise of its sensor, and cut into slides and rests.

use super::Record;
use crate::analysis::measured::noise;

/// Rows of all records together beyond which neighbouring rows are averaged.
const MOST_ROWS: usize = 8000;
/// Turns below this many standard deviations of the noise are no turns.
const TURN: f64 = 6.0;
/// Noise that adds less than this part to the way travelled is left in the motion.
const HARMLESS: f64 = 0.02;
/// Most corners of a motion that is cleaned.
const MOST_CORNERS: usize = 400;

/// A record as the fit sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub times: Vec<f64>,
    /// Displacement, without its noise.
    pub motion: Vec<f64>,
    /// Resistance: positive against a motion forward.
    pub resistance: Vec<f64>,
    pub normal: Vec<f64>,
    /// How many rows each of these stands for.
    pub rows: f64,
    /// Whether the displacement was cleaned, and of how much noise.
    pub cleaned: bool,
    pub motion_noise: f64,
    /// Slides and rests.
    pub phases: Vec<Phase>,
}

/// A stretch of motion in one direction, or of rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phase {
    /// First and last row.
    pub first: usize,
    pub last: usize,
    /// 1 forward, -1 backward, 0 at rest.
    pub direction: i8,
}

/// Prepares records: at most [`MOST_ROWS`] rows of all together, with the sign of resistance.
pub(super) fn courses(records: &[Record]) -> Vec<Course> {
    let all: usize = records.iter().map(|record| record.times.len()).sum();
    let group = all.div_ceil(MOST_ROWS);
    let sign = sign(records);
    records.iter().map(|record| course(record, group, sign)).collect()
}

/// -1 if the force is that on the moving body, which points against the motion: the work done against friction is positive.
pub(super) fn sign(records: &[Record]) -> f64 {
    let work = |record: &Record| -> f64 {
        let steps = record.displacement.windows(2).zip(record.force.windows(2));
        steps.map(|(x, q)| 0.5 * (q[0] + q[1]) * (x[1] - x[0])).sum()
    };
    if records.iter().map(work).sum::<f64>() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

fn course(record: &Record, group: usize, sign: f64) -> Course {
    let (motion, cleaned) = clean(&record.times, &record.displacement);
    let averaged = |values: &[f64]| -> Vec<f64> {
        let mean = |rows: &[f64]| rows.iter().sum::<f64>() / rows.len() as f64;
        values.chunks(group).map(mean).collect()
    };
    let times = averaged(&record.times);
    let motion = averaged(&motion);
    let motion_noise = noise(&record.times, &record.displacement);
    let phases = phases(&motion, motion_noise);
    Course {
        times,
        motion,
        resistance: averaged(&record.force).iter().map(|q| sign * q).collect(),
        normal: averaged(&record.normal),
        rows: group as f64,
        cleaned,
        motion_noise,
        phases,
    }
}

/// How far a motion goes, there and back, counting only turns of at least `turn`.
fn travel(motion: &[f64], turn: f64) -> f64 {
    let Some(&start) = motion.first() else { return 0.0 };
    let (mut way, mut corner, mut farthest, mut direction) = (0.0, start, start, 0.0);
    for &x in motion {
        let ahead = direction * (x - farthest);
        if direction == 0.0 {
            if (x - corner).abs() > turn {
                (direction, farthest) = ((x - corner).signum(), x);
            }
        } else if ahead > 0.0 {
            farthest = x;
        } else if ahead < -turn {
            way += (farthest - corner).abs();
            (corner, farthest, direction) = (farthest, x, -direction);
        }
    }
    way + (farthest - corner).abs()
}

/// The displacement without the noise of its sensor, where that would count as motion: straight pieces in time, with as many corners as
/// it takes to stay within the noise. What has next to no noise stays as it is.
fn clean(times: &[f64], displacement: &[f64]) -> (Vec<f64>, bool) {
    let noise = noise(times, displacement);
    let way: f64 = displacement.windows(2).map(|x| (x[1] - x[0]).abs()).sum();
    if noise == 0.0 || way <= (1.0 + HARMLESS) * travel(displacement, TURN * noise) {
        return (displacement.to_vec(), false);
    }
    let last = displacement.len() - 1;
    let mut corners = vec![0, last];
    loop {
        let heights = straight_pieces(times, displacement, &corners);
        let path = follow(times, &corners, &heights);
        let apart: Vec<f64> = displacement.iter().zip(&path).map(|(x, y)| x - y).collect();
        // A piece misses a corner where its residuals add up: their running sum over noise·√n goes beyond chance.
        let worst = (corners.windows(2).enumerate())
            .filter(|(_, ends)| ends[1] - ends[0] >= 4)
            .map(|(piece, ends)| {
                let (at, strength) = bend(&apart[ends[0]..=ends[1]], noise);
                (piece, ends[0] + at, strength)
            })
            .max_by(|a, b| a.2.total_cmp(&b.2));
        match worst {
            Some((piece, at, strength)) if strength > 4.0 && corners.len() < MOST_CORNERS => {
                corners.insert(piece + 1, at)
            }
            _ => return (path, true),
        }
    }
}

/// Where a corner in the middle of a piece would mend most, and by how many standard deviations it stands out: the residuals against a
/// triangle with its top at each row.
fn bend(apart: &[f64], noise: f64) -> (usize, f64) {
    let n = apart.len() - 1;
    let tops = (1..n).step_by((n / 64).max(1));
    let strength = |top: usize| {
        let height = |i: usize| {
            if i <= top {
                i as f64 / top as f64
            } else {
                (n - i) as f64 / (n - top) as f64
            }
        };
        // Less the mean, which the corners at both ends take up.
        let mean = 0.5;
        let (sum, squares) = apart.iter().enumerate().fold((0.0, 0.0), |(sum, squares), (i, x)| {
            let weight = height(i) - mean;
            (sum + weight * x, squares + weight * weight)
        });
        sum.abs() / (noise * squares.sqrt())
    };
    let coarse = tops.map(|top| (top, strength(top))).max_by(|a, b| a.1.total_cmp(&b.1));
    let (near, _) = coarse.unwrap_or((1, 0.0));
    let step = (n / 64).max(1);
    let fine = (near.saturating_sub(step).max(1)..=(near + step).min(n - 1)).map(|top| (top, strength(top)));
    fine.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, 0.0))
}

/// Heights at the corners of the continuous line of straight pieces nearest to the data: a tridiagonal system.
fn straight_pieces(times: &[f64], values: &[f64], corners: &[usize]) -> Vec<f64> {
    let n = corners.len();
    let (mut diagonal, mut beside, mut right) = (vec![1e-300; n], vec![0.0; n], vec![0.0; n]);
    let mut piece = 0;
    for (row, value) in values.iter().enumerate() {
        while piece + 2 < n && row >= corners[piece + 1] {
            piece += 1;
        }
        let (from, until) = (times[corners[piece]], times[corners[piece + 1]]);
        let part = (times[row] - from) / (until - from);
        diagonal[piece] += (1.0 - part) * (1.0 - part);
        diagonal[piece + 1] += part * part;
        beside[piece] += part * (1.0 - part);
        right[piece] += (1.0 - part) * value;
        right[piece + 1] += part * value;
    }
    for i in 1..n {
        let factor = beside[i - 1] / diagonal[i - 1];
        diagonal[i] -= factor * beside[i - 1];
        right[i] -= factor * right[i - 1];
    }
    let mut heights = vec![0.0; n];
    for i in (0..n).rev() {
        let after = if i + 1 < n { beside[i] * heights[i + 1] } else { 0.0 };
        heights[i] = (right[i] - after) / diagonal[i];
    }
    heights
}

/// The line through corners, at every time.
fn follow(times: &[f64], corners: &[usize], heights: &[f64]) -> Vec<f64> {
    let mut path = Vec::with_capacity(times.len());
    for (ends, heights) in corners.windows(2).zip(heights.windows(2)) {
        let (from, until) = (times[ends[0]], times[ends[1]]);
        let along = |row: usize| heights[0] + (times[row] - from) / (until - from) * (heights[1] - heights[0]);
        path.extend((ends[0]..ends[1]).map(along));
    }
    path.extend(heights.last());
    path
}

/// Slides and rests of a motion. Steps below the noise, or a millionth of the whole, are rest.
fn phases(motion: &[f64], noise: f64) -> Vec<Phase> {
    let (low, high) = motion
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(*x), high.max(*x))
        });
    let mut largest: Vec<f64> = motion.windows(2).map(|x| (x[1] - x[0]).abs()).collect();
    let usual = crate::analysis::measured::quantile(&mut largest, 0.75);
    let least = (1e-6 * (high - low)).max(0.1 * noise.min(usual)).max(1e-3 * usual);
    let mut phases: Vec<Phase> = Vec::new();
    for (row, x) in motion.windows(2).enumerate() {
        let step = x[1] - x[0];
        let direction = if step.abs() <= least { 0 } else { step.signum() as i8 };
        match phases.last_mut() {
            Some(phase) if phase.direction == direction => phase.last = row + 1,
            _ => phases.push(Phase {
                first: row,
                last: row + 1,
                direction,
            }),
        }
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.2 mm/s for 5 s, 3 s of rest, back by 0.1 mm within 1 s.
    fn led(t: f64) -> f64 {
        let forward = 2e-4 * t.min(5.0);
        forward - 1e-4 * (t - 8.0).clamp(0.0, 1.0)
    }

    fn times() -> Vec<f64> {
        (0..=900).map(|i| f64::from(i) * 0.01).collect()
    }

    #[test]
    fn slides_and_rests() {
        let motion: Vec<f64> = times().into_iter().map(led).collect();
        let found: Vec<(i8, usize)> = phases(&motion, 0.0)
            .iter()
            .map(|phase| (phase.direction, phase.last))
            .collect();
        assert_eq!(found, [(1, 500), (0, 800), (-1, 900)]);
        assert!((travel(&motion, 1e-5) - 1.1e-3).abs() < 1e-12);
        // A turn that is too small to count is not travelled.
        assert!((travel(&motion, 2e-4) - 1e-3).abs() < 1e-12);
    }

    /// Noise of 20 µm is ten times a row's step: as it is, the way would be 20 times too long.
    #[test]
    fn noise_is_no_motion() {
        let times = times();
        let mut seed = 17_u64;
        let mut uniform = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let noisy: Vec<f64> = times.iter().map(|t| led(*t) + 2e-5 * normal()).collect();
        let (path, cleaned) = clean(&times, &noisy);
        assert!(cleaned);
        let way: f64 = path.windows(2).map(|x| (x[1] - x[0]).abs()).sum();
        assert!((way - 1.1e-3).abs() < 3e-5, "{way}");
        let off = times
            .iter()
            .zip(&path)
            .map(|(t, x)| (x - led(*t)).abs())
            .fold(0.0, f64::max);
        assert!(off < 2e-5, "{off}");
        // What has none stays as it is, bends and all.
        let bent: Vec<f64> = times.iter().map(|t| 1e-3 * libm::sin(*t)).collect();
        assert_eq!(clean(&times, &bent), (bent, false));
    }

    #[test]
    fn the_force_may_have_either_sign() {
        let record = |sign: f64| Record {
            displacement: vec![0.0, 1.0, 0.5],
            force: vec![0.0, 2.0 * sign, -sign],
            ..Record::default()
        };
        assert_eq!((sign(&[record(1.0)]), sign(&[record(-1.0)])), (1.0, -1.0));
    }
}
