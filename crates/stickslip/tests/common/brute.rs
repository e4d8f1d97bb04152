//! The signed distance of two convex shapes by brute force, from nothing but how far each reaches along a direction (its support function, in closed
//! form): of all unit vectors the one along which two planes between the bodies are farthest apart.
#![allow(missing_docs, dead_code)]

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;
use stickslip::shape::polytope::Polytope;
use stickslip::shape::{Placed, Solid};

/// Random numbers from 0 to 1 (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.part()
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = Vector3::from_fn(|_, _| self.between(-1.0, 1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Matrix3<f64> {
        let turn = UnitQuaternion::from_scaled_axis(self.between(0.0, 3.1) * self.direction());
        *turn.to_rotation_matrix().matrix()
    }

    pub fn solid(&mut self, kind: usize) -> Solid {
        let mut length = || self.between(0.03, 0.3);
        match kind {
            0 => Solid::Sphere(length()),
            1 => Solid::Capsule {
                radius: length(),
                half: length(),
            },
            2 => Solid::cylinder(length(), 2.0 * length()),
            3 => Solid::Polytope(Arc::new(Polytope::cuboid([length(), length(), length()]))),
            _ => {
                let points: Vec<Vector3<f64>> = (0..12).map(|_| 0.2 * self.direction()).collect();
                Solid::Polytope(Arc::new(Polytope::hull(&points).unwrap()))
            }
        }
    }
}

/// How far a shape reaches along a direction of its own axes, in closed form.
pub fn reaches(solid: &Solid, n: &Vector3<f64>) -> f64 {
    match solid {
        Solid::Sphere(radius) => *radius,
        Solid::Capsule { radius, half } => radius + half * n.z.abs(),
        Solid::Cylinder { radius, half, .. } => radius * n.x.hypot(n.y) + half * n.z.abs(),
        Solid::Polytope(body) => body.vertices.iter().map(|v| n.dot(v)).fold(f64::NEG_INFINITY, f64::max),
        Solid::Plane(_) | Solid::Mesh(_) => unreachable!(),
    }
}

/// Whether a point is a shape's, but for a slack.
pub fn holds(body: &Placed<'_>, point: &Vector3<f64>, slack: f64) -> bool {
    let p = body.rotation.tr_mul(&(point - body.position));
    let beyond = |half: f64| (p.z.abs() - half).max(0.0);
    slack
        >= match body.solid {
            Solid::Sphere(radius) => p.norm() - radius,
            Solid::Capsule { radius, half } => p.xy().norm().hypot(beyond(*half)) - radius,
            Solid::Cylinder { radius, half, .. } => beyond(*half).max(p.xy().norm() - radius),
            Solid::Polytope(body) => {
                let heights = body.faces.iter().map(|face| face.normal.dot(&p) - face.offset);
                heights.fold(f64::NEG_INFINITY, f64::max)
            }
            Solid::Plane(_) | Solid::Mesh(_) => unreachable!(),
        }
}

pub fn apart(a: &Placed<'_>, b: &Placed<'_>, n: &Vector3<f64>) -> f64 {
    let [near, far] = [a.rotation.tr_mul(&-n), b.rotation.tr_mul(n)];
    n.dot(&(a.position - b.position)) - reaches(a.solid, &near) - reaches(b.solid, &far)
}

/// Normals of the flat sides of a shape, and directions of its straight lines.
fn sharp(solid: &Solid) -> [Vec<Vector3<f64>>; 2] {
    match solid {
        Solid::Capsule { .. } | Solid::Cylinder { .. } => [vec![Vector3::z()], vec![Vector3::z()]],
        Solid::Polytope(body) => {
            let corner = |i: u32| body.vertices[i as usize];
            let edges = body.edges.iter().map(|&[i, j]| (corner(j) - corner(i)).normalize());
            [body.faces.iter().map(|face| face.normal).collect(), edges.collect()]
        }
        _ => [Vec::new(), Vec::new()],
    }
}

pub type Height = (f64, Vector3<f64>);

fn greater(one: Height, other: Height) -> Height {
    if other.0 > one.0 { other } else { one }
}

/// The greatest value within so far of zero, by golden sections.
fn highest(width: f64, value: &impl Fn(f64) -> Height) -> Height {
    let part = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-width, width);
    let [mut one, mut other] = [high - part * (high - low), low + part * (high - low)];
    let [mut at_one, mut at_other] = [value(one), value(other)];
    let mut best = greater(at_one, at_other);
    for _ in 0..40 {
        if at_one.0 > at_other.0 {
            (high, other, at_other) = (other, one, at_one);
            one = high - part * (high - low);
            at_one = value(one);
            best = greater(best, at_one);
        } else {
            (low, one, at_one) = (one, other, at_other);
            other = low + part * (high - low);
            at_other = value(other);
            best = greater(best, at_other);
        }
    }
    best
}

/// The greatest value near a direction, to the last digits: line by line, each with its greatest value, over smaller pieces where a piece holds nothing greater.
pub fn climb(a: &Placed<'_>, b: &Placed<'_>, mut best: Height) -> Height {
    let mut width = 0.2;
    while width > 1e-7 {
        let side = best.1.cross(&Vector3::ith(best.1.iamin(), 1.0)).normalize();
        let sides = [side, best.1.cross(&side)];
        let (middle, before) = (best.1, best.0);
        let line = |y: f64| {
            highest(width, &|x| {
                let n = (middle + x * sides[0] + y * sides[1]).normalize();
                (apart(a, b, &n), n)
            })
        };
        best = greater(best, highest(width, &line));
        if best.0 - before < 1e-6 * before.abs() {
            width *= 0.1;
        }
    }
    best
}

/// The signed distance by brute force: the greatest distance of two planes between the bodies, over directions strewn ever more densely.
pub fn distance(a: &Placed<'_>, b: &Placed<'_>) -> Height {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let count = 2000;
    let mut strewn: Vec<Height> = (0..count)
        .map(|i| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
            let (out, angle) = ((1.0 - z * z).sqrt(), golden * f64::from(i));
            let n = Vector3::new(out * angle.cos(), out * angle.sin(), z);
            (apart(a, b, &n), n)
        })
        .collect();
    // Directions of flat sides and of crossed lines are sharp summits that a search may miss.
    let of = |body: &Placed<'_>| {
        let [flats, lines] = sharp(body.solid);
        [flats, lines].map(|all| all.into_iter().map(|n| body.rotation * n).collect::<Vec<_>>())
    };
    let [[flats, lines], [others, other_lines]] = [of(a), of(b)];
    let crossed = lines
        .iter()
        .flat_map(|one| other_lines.iter().map(move |other| one.cross(other)));
    for n in flats.iter().chain(&others).copied().chain(crossed) {
        if let Some(n) = n.try_normalize(1e-6) {
            strewn.extend([(apart(a, b, &n), n), (apart(a, b, &-n), -n)]);
        }
    }
    strewn.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut starts: Vec<Height> = Vec::new();
    for one in strewn {
        if starts.len() < 5 && starts.iter().all(|kept| kept.1.dot(&one.1) < 0.98) {
            starts.push(one);
        }
    }
    let refined = starts.into_iter().map(|start| climb(a, b, start));
    refined.fold((f64::NEG_INFINITY, Vector3::zeros()), greater)
}
