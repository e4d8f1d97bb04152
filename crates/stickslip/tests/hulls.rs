//! Hulls of points: volume, centre, inertia, corners and faces against Qhull and closed forms, and a closed surface whatever the order of the points.
#![allow(missing_docs)]

use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use std::collections::BTreeSet;
use stickslip::shape::polytope::Polytope;

/// Every side of a face runs the other way in another one, Euler's formula holds, faces are flat and convex, and no point is outside.
fn closed(hull: &Polytope, points: &[Vector3<f64>], slack: f64) {
    let mut sides = BTreeSet::new();
    for face in &hull.faces {
        assert!(face.ring.len() >= 3);
        let count = face.ring.len();
        let at = |i: usize| hull.vertices[face.ring[i % count] as usize];
        for i in 0..count {
            let side = (face.ring[i], face.ring[(i + 1) % count]);
            assert!(sides.insert(side), "two faces run along {side:?}");
            // Counterclockwise, with a real corner at each point of the ring.
            let turn = (at(i + 1) - at(i)).cross(&(at(i + 2) - at(i + 1)));
            assert!(turn.dot(&face.normal) > 0.0, "no corner at {:?}", at(i + 1));
        }
        for point in points {
            assert!(face.normal.dot(point) <= face.offset + slack, "{point:?} is outside");
        }
        for i in 0..count {
            assert!((face.normal.dot(&at(i)) - face.offset).abs() <= slack);
        }
    }
    assert!(sides.iter().all(|&(a, b)| sides.contains(&(b, a))));
    assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
    assert_eq!(2 * hull.edges.len(), sides.len());
    for vertex in &hull.vertices {
        assert!(points.contains(vertex));
    }
}

#[test]
fn hulls_are_those_of_qhull() {
    let rows = include_str!("reference/hulls.csv");
    for row in rows.lines() {
        let mut words = row.split(',');
        let kind = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let (expected, coordinates) = numbers.split_at(12);
        let points: Vec<Vector3<f64>> = coordinates.chunks(3).map(Vector3::from_column_slice).collect();
        let hull = Polytope::hull(&points).unwrap();
        closed(&hull, &points, 1e-12);
        let (volume, centre, inertia) = hull.solid();
        let [xx, yy, zz, xy, xz, yz] = expected[4..10] else {
            unreachable!()
        };
        let about = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        assert!(
            (volume / expected[0] - 1.0).abs() < 1e-11,
            "{kind}: {volume} and {}",
            expected[0]
        );
        assert!(
            (centre - Vector3::from_column_slice(&expected[1..4])).norm() < 1e-11,
            "{kind}"
        );
        assert!((inertia - about).norm() < 1e-10 * about.norm(), "{kind}");
        let counts = [hull.vertices.len(), hull.faces.len()].map(|count| count as f64);
        assert_eq!(counts, [expected[10], expected[11]], "{kind}");
    }
}

/// A ring of points of a regular polygon.
fn ring(count: u32, radius: f64, height: f64) -> Vec<Vector3<f64>> {
    let at = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(count);
    (0..count)
        .map(|k| Vector3::new(radius * at(k).cos(), radius * at(k).sin(), height))
        .collect()
}

fn shuffled(mut points: Vec<Vector3<f64>>, keys: &[u64]) -> Vec<Vector3<f64>> {
    for i in (1..points.len()).rev() {
        points.swap(i, (keys[i % keys.len()] % (i as u64 + 1)) as usize);
    }
    points
}

/// A rotation by a vector of any length.
fn turned(points: Vec<Vector3<f64>>, by: [f64; 3], shift: [f64; 3]) -> Vec<Vector3<f64>> {
    let turn = nalgebra::Rotation3::new(Vector3::from(by));
    points.into_iter().map(|p| turn * p + Vector3::from(shift)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Volume of a frustum: h/3·(A + a + √(A·a)), with regular polygons of area n/2·r²·sin(2π/n).
    #[test]
    fn frustums_and_prisms_have_their_volume(
        count in 3u32..40, [r, s, h] in prop::array::uniform3(0.05f64..0.5), prism: bool,
        keys in prop::collection::vec(any::<u64>(), 80), by in prop::array::uniform3(-3.0f64..3.0), shift in prop::array::uniform3(-2.0f64..2.0),
    ) {
        let s = if prism { r } else { s };
        // A point inside of a face and one inside of the body are no corners.
        let mut points = ring(count, r, 0.0);
        points.extend(ring(count, s, h));
        points.extend([Vector3::new(0.0, 0.0, h), Vector3::new(0.0, 0.0, 0.5 * h)]);
        let points = turned(shuffled(points, &keys), by, shift);
        let hull = Polytope::hull(&points).unwrap();
        closed(&hull, &points, 1e-12);
        let unit = 0.5 * f64::from(count) * (std::f64::consts::TAU / f64::from(count)).sin();
        let expected = h / 3.0 * unit * (r * r + s * s + r * s);
        prop_assert!((hull.solid().0 / expected - 1.0).abs() < 1e-11);
        prop_assert_eq!((hull.vertices.len(), hull.faces.len()), (2 * count as usize, count as usize + 2));
        // About the axis a prism has m·r²·(2 + cos(2π/n))/6.
        if prism {
            let axis = nalgebra::Rotation3::new(Vector3::from(by)) * Vector3::z();
            let along = (hull.solid().2 * axis).dot(&axis);
            let known = expected * r * r * (2.0 + (std::f64::consts::TAU / f64::from(count)).cos()) / 6.0;
            prop_assert!((along / known - 1.0).abs() < 1e-9);
        }
    }

    /// A box whose corners are cut off: 24 corners, 14 faces.
    #[test]
    fn chamfered_boxes_have_their_volume(
        edges in prop::array::uniform3(0.2f64..1.0), part in 0.01f64..0.45, keys in prop::collection::vec(any::<u64>(), 24), by in prop::array::uniform3(-3.0f64..3.0), turn: bool,
    ) {
        let cut = part * edges.iter().copied().fold(f64::INFINITY, f64::min);
        let mut points = Vec::new();
        for axis in 0..3 {
            for sign in 0..8u32 {
                let mut corner = Vector3::from_fn(|i, _| if sign >> i & 1 == 1 { 0.5 * edges[i] } else { -0.5 * edges[i] });
                corner[axis] -= corner[axis].signum() * cut;
                points.push(corner);
            }
        }
        let mut points = shuffled(points, &keys);
        if turn {
            points = turned(points, by, [0.3, -0.2, 0.1]);
        }
        let hull = Polytope::hull(&points).unwrap();
        closed(&hull, &points, 1e-12);
        // Each of the eight cuts takes a tetrahedron away: cut³/6.
        let expected = edges.iter().product::<f64>() - 8.0 * cut * cut * cut / 6.0;
        prop_assert!((hull.solid().0 / expected - 1.0).abs() < 1e-11);
        prop_assert_eq!((hull.vertices.len(), hull.faces.len()), (24, 14));
    }

    /// Of points on a lattice many lie in one plane and on one line.
    #[test]
    fn points_of_a_lattice_have_a_closed_hull_in_any_order(
        cells in prop::collection::vec(prop::array::uniform3(0u8..5), 8..60), keys in prop::collection::vec(any::<u64>(), 60), by in prop::array::uniform3(-3.0f64..3.0),
    ) {
        let points: Vec<_> = cells.iter().map(|c| Vector3::from(c.map(|x| 0.1 * f64::from(x)))).collect();
        let points = turned(points, by, [0.0; 3]);
        let other = shuffled(points.clone(), &keys);
        if let (Ok(one), Ok(two)) = (Polytope::hull(&points), Polytope::hull(&other)) {
            closed(&one, &points, 1e-12);
            closed(&two, &other, 1e-12);
            prop_assert!((one.solid().0 / two.solid().0 - 1.0).abs() < 1e-11);
            prop_assert_eq!((one.vertices.len(), one.faces.len()), (two.vertices.len(), two.faces.len()));
        }
    }

    /// Coordinates as a file of single precision has them, and roughly typed: the hull closes.
    #[test]
    fn rounded_points_have_a_closed_hull(
        count in 4u32..25, [r, s, h] in prop::array::uniform3(0.05f64..0.5), digits in 3i32..12, by in prop::array::uniform3(-3.0f64..3.0),
    ) {
        let mut points = ring(count, r, 0.0);
        points.extend(ring(count, s, h));
        points.extend(ring(count, 0.5 * (r + s), 0.5 * h));
        let unit = 10f64.powi(-digits);
        let points: Vec<_> = turned(points, by, [0.0; 3]).into_iter().map(|p| p.map(|x| (x / unit).round() * unit)).collect();
        let hull = Polytope::hull(&points).unwrap();
        let mut sides = BTreeSet::new();
        for face in &hull.faces {
            for i in 0..face.ring.len() {
                prop_assert!(sides.insert((face.ring[i], face.ring[(i + 1) % face.ring.len()])));
            }
            for point in &points {
                prop_assert!(face.normal.dot(point) <= face.offset + 2e-5);
            }
        }
        prop_assert!(sides.iter().all(|&(a, b)| sides.contains(&(b, a))));
        prop_assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
        let unit = 0.5 * f64::from(count) * (std::f64::consts::TAU / f64::from(count)).sin();
        let expected = h / 3.0 * unit * (r * r + s * s + r * s);
        prop_assert!((hull.solid().0 / expected - 1.0).abs() < 10.0 * 10f64.powi(-digits) / r.min(s).min(h) + 1e-4);
    }
}
