//! The recipe of Ozaki, Hashiguchi and Chen (2007), appendix 1: each parameter read from the curve of its test. The readings say where a
//! number comes from, and the fit begins with them.

use super::course::{Course, Phase};
use super::response::{ALPHA, ETA, KAPPA, MU_K, MU_S, PARAMETERS, R};
use super::{Record, Test};
use crate::analysis::measured::median;

/// One slide of a record.
#[derive(Clone, Debug)]
pub(super) struct Slide {
    /// The record.
    pub record: usize,
    /// How fast.
    pub speed: f64,
    /// Time at rest right before, and whether the contact had slid before that in the same record.
    pub rest: Option<f64>,
    /// Highest coefficient, and how far into the slide it is.
    pub peak: f64,
    pub peak_at: f64,
    /// Coefficient at its end.
    pub plateau: f64,
    /// Distance behind the peak over which the difference to the plateau falls to 1/e.
    pub fall: Option<f64>,
    /// Steepest rise of the force over displacement at its beginning.
    pub slope: Option<f64>,
}

/// A number read from a curve, and how.
pub(super) type Reading = Option<(f64, String)>;

/// What the curves say before any fit.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings {
    pub slides: Vec<Slide>,
    /// One for each parameter.
    pub read: [Reading; PARAMETERS],
}

pub(super) fn read(records: &[Record], courses: &[Course]) -> Readings {
    let slides: Vec<Slide> = (courses.iter().enumerate())
        .flat_map(|(i, course)| slides(i, course))
        .collect();
    let mut read: [Reading; PARAMETERS] = Default::default();
    let name = |slide: &Slide| records[slide.record].name.clone();
    let of = |test: Test| move |slide: &&Slide| records[slide.record].test == Some(test);
    let higher = |a: &&Slide, b: &&Slide| a.peak.total_cmp(&b.peak);
    let long = slides.iter().filter(of(Test::LongHold)).max_by(higher);
    if let Some(slide) = long.or_else(|| slides.iter().max_by(higher)) {
        let which = if long.is_some() {
            "peak after the long hold"
        } else {
            "highest peak"
        };
        read[MU_S] = Some((slide.peak, format!("{which}, record {}", name(slide))));
    }
    let faster = |a: &&Slide, b: &&Slide| a.speed.total_cmp(&b.speed);
    let fast = slides.iter().filter(of(Test::FastSliding)).max_by(faster);
    let lowest = slides.iter().min_by(|a, b| a.plateau.total_cmp(&b.plateau));
    if let Some(slide) = fast.or(lowest) {
        let which = if fast.is_some() {
            "end of the fast slide"
        } else {
            "lowest end of a slide"
        };
        read[MU_K] = Some((slide.plateau, format!("{which}, record {}", name(slide))));
    }
    let mu_k = read[MU_K].as_ref().map_or(0.0, |(value, _)| *value);
    let mu_s = read[MU_S].as_ref().map_or(0.0, |(value, _)| *value);
    let deeper = |a: &&Slide, b: &&Slide| (a.peak - a.plateau).total_cmp(&(b.peak - b.plateau));
    if let Some((slide, fall)) = (slides.iter().filter(|slide| slide.fall.is_some()).max_by(deeper))
        .and_then(|slide| slide.fall.map(|fall| (slide, fall)))
    {
        read[KAPPA] = Some((
            mu_k / fall,
            format!("length of the fall after the peak, record {}", name(slide)),
        ));
    }
    read[ETA] = healing(&slides, mu_k, mu_s);
    let steepest = slides
        .iter()
        .filter_map(|slide| slide.slope.map(|slope| (slide, slope)));
    if let Some((slide, slope)) = steepest.max_by(|a, b| a.1.total_cmp(&b.1)) {
        read[ALPHA] = Some((
            slope,
            format!("first slope of force over displacement, record {}", name(slide)),
        ));
        // R is 0.99 after a slip of 4/r.
        let mut slips: Vec<f64> = (slides.iter())
            .map(|slide| slide.peak_at - slide.peak * courses[slide.record].normal[0] / slope)
            .filter(|slip| *slip > 0.0)
            .collect();
        let slip = median(&mut slips);
        if slip > 0.0 {
            read[R] = Some((4.0 / slip, "slip before the peaks".to_string()));
        }
    }
    Readings { slides, read }
}

/// η for n = 1: what is missing to μ_s falls as exp(−η t/μ_s) with the time of rest.
fn healing(slides: &[Slide], mu_k: f64, mu_s: f64) -> Reading {
    let points: Vec<(f64, f64)> = (slides.iter())
        .filter_map(|slide| Some((slide.rest?, (mu_s - slide.peak) / (mu_s - mu_k))))
        .filter(|(rest, missing)| *rest > 0.0 && (0.05..0.95).contains(missing))
        .collect();
    let (sum, squares) = (points.iter()).fold((0.0, 0.0), |(sum, squares), (rest, missing)| {
        (sum - rest * libm::log(*missing), squares + rest * rest)
    });
    (sum > 0.0 && squares > 0.0).then(|| {
        let rests = if points.len() == 1 {
            "a rest".to_string()
        } else {
            format!("{} rests", points.len())
        };
        (mu_s * sum / squares, format!("peaks after {rests}"))
    })
}

/// The slides of a record; the way back to an unloaded contact is none.
fn slides(record: usize, course: &Course) -> Vec<Slide> {
    let phases = &course.phases;
    (phases.iter().enumerate())
        .filter(|(_, phase)| phase.direction != 0)
        .filter_map(|(i, phase)| {
            let rest = i
                .checked_sub(1)
                .map(|before| phases[before])
                .filter(|before| before.direction == 0);
            let slid = phases[..i.saturating_sub(1)].iter().any(|before| before.direction != 0);
            let rest = rest
                .filter(|_| slid)
                .map(|rest| course.times[rest.last] - course.times[rest.first]);
            slide(record, course, phase, rest)
        })
        .collect()
}

fn slide(record: usize, course: &Course, phase: &Phase, rest: Option<f64>) -> Option<Slide> {
    let Phase { first, last, direction } = *phase;
    let rows = last - first + 1;
    if rows < 4 {
        return None;
    }
    let direction = f64::from(direction);
    let way = |row: usize| direction * (course.motion[row] - course.motion[first]);
    // Means over a few rows: a peak of noise is none.
    let reach = (rows / 60).clamp(1, 10);
    let smooth = |row: usize| {
        let near = row.saturating_sub(reach).max(first)..=(row + reach).min(last);
        let count = near.clone().count() as f64;
        near.map(|row| direction * course.resistance[row] / course.normal[row])
            .sum::<f64>()
            / count
    };
    let ratios: Vec<f64> = (first..=last).map(smooth).collect();
    let (top, peak) = (ratios.iter().copied().enumerate()).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut end: Vec<f64> = (last - rows / 4..=last)
        .map(|row| direction * course.resistance[row] / course.normal[row])
        .collect();
    let plateau = median(&mut end);
    // A slide that only takes the load off has no peak of its own.
    if peak <= 0.0 || plateau <= 0.0 {
        return None;
    }
    let fallen = (top..rows).find(|row| ratios[*row] - plateau < (peak - plateau) / std::f64::consts::E);
    let fall = fallen
        .map(|row| way(first + row) - way(first + top))
        .filter(|fall| *fall > 0.0);
    // The rise up to half the peak, as one slope.
    let half = (1..=top).find(|row| ratios[*row] - ratios[0] > 0.5 * (peak - ratios[0]));
    let slope = half.map(|row| {
        (ratios[row] - ratios[0]) * course.normal[first] / (way(first + row) - way(first)).max(f64::MIN_POSITIVE)
    });
    Some(Slide {
        record,
        speed: way(last) / (course.times[last] - course.times[first]),
        rest,
        peak,
        peak_at: way(first + top),
        plateau,
        // A peak that stands out less than the ripple of a plateau is none.
        fall: fall.filter(|_| peak > 1.05 * plateau),
        slope: slope.filter(|slope| *slope > 0.0),
    })
}
