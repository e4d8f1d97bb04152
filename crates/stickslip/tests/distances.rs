//! Points where two shapes touch, against the signed distance of the shapes by brute force (`common/brute.rs`).
#![allow(missing_docs)]

#[path = "common/brute.rs"]
mod brute;

use brute::{Chance, apart, distance, holds};
use nalgebra::Vector3;
use stickslip::shape::Placed;
use stickslip::shape::touch::{Touch, Touches, touches};

fn met(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Vec<Touch> {
    let mut found = Touches::default();
    touches(a, b, reach, &Vector3::zeros(), &mut found);
    found.found
}

/// Every pair of kinds in random poses, so far apart as a range of parts of the smaller size says.
fn poses(seed: u64, count: usize, range: [f64; 2], check: impl Fn(&Placed<'_>, &Placed<'_>, f64, f64, &str)) {
    for first in 0..5 {
        for second in 0..=first {
            let mut chance = Chance(seed + 5 * first as u64 + second as u64);
            for pose in 0..count {
                let solids = [chance.solid(first), chance.solid(second)];
                let size = solids[0].size().min(solids[1].size());
                let mut a = Placed {
                    solid: &solids[0],
                    rotation: chance.rotation(),
                    position: chance.between(0.1, 0.6) * chance.direction(),
                };
                let b = Placed {
                    solid: &solids[1],
                    rotation: chance.rotation(),
                    position: Vector3::new(0.3, -0.2, 0.1),
                };
                let (gap, normal) = distance(&a, &b);
                a.position += normal * (size * chance.between(range[0], range[1]) - gap);
                let (gap, _) = distance(&a, &b);
                check(&a, &b, size, gap, &format!("kinds {first} and {second}, pose {pose}"));
            }
        }
    }
}

#[test]
fn the_deepest_point_of_every_pair_has_the_signed_distance_for_its_gap() {
    let check = |a: &Placed<'_>, b: &Placed<'_>, size: f64, gap: f64, pose: &str| {
        let found = met(a, b, 0.1 * size);
        let deepest = found.iter().min_by(|one, other| one.gap.total_cmp(&other.gap));
        let deepest = deepest.unwrap_or_else(|| panic!("{pose}: nothing found at {gap}"));
        let slack = 1e-9 * size;
        // Of two directions that part an overlap almost alike a face is preferred.
        let preferred = if gap < 0.0 { 2e-4 * size } else { slack };
        let close = |found: f64| found < gap + slack && found > gap - preferred;
        assert!(close(deepest.gap), "{pose}: {deepest:?}, but {gap}");
        // The gap is that along the normal, between points of the bodies.
        assert!(close(apart(a, b, &deepest.normal)), "{pose}: {deepest:?}");
        if gap > 0.0 {
            assert!(
                holds(a, &deepest.point, slack) || holds(b, &deepest.point, slack),
                "{pose}"
            );
        }
        for touch in &found {
            assert!((touch.normal.norm() - 1.0).abs() < 1e-12, "{pose}: {touch:?}");
            let same = found.iter().filter(|other| other.feature == touch.feature);
            assert_eq!(same.count(), 1, "{pose}: {found:?}");
        }
    };
    poses(20, 20, [-0.04, 0.06], check);
    // Those that touch, but for about a millionth of their size.
    poses(3000, 6, [-1e-6, 1e-6], check);
}

#[test]
fn deep_overlaps_have_the_shortest_way_out() {
    poses(700, 8, [-0.5, -0.05], |a, b, size, gap, pose| {
        let found = met(a, b, 0.01 * size);
        let deepest = found.iter().map(|touch| touch.gap).fold(f64::INFINITY, f64::min);
        let wrong = deepest > gap + 1e-9 * size || deepest < gap - 2e-4 * size;
        assert!(!wrong, "{pose}: {deepest} instead of {gap}");
    });
}
