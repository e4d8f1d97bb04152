//! The signed distance of two convex shapes of any kind, the direction in which they are that far apart, and the points that are.
//!
//! A shape is a core, known by its support points (the farthest ones in a direction), and a radius around it. For a unit vector n the bodies are
//! s(n) = min n·a − max n·b apart along it, a of the first and b of the second body. The greatest s is their signed distance: the distance of the
//! nearest points where they are apart, minus the shortest way out of the overlap where they are not.
//!
//! Bodies that are apart: Gilbert, Johnson and Keerthi (1988), whose search for the nearest points ends when a plane shows that there are no nearer
//! ones. Bodies that touch or overlap are lifted apart along a direction first. The direction m in which the lifted ones are farthest apart is where
//! s(m) + lift·(m·n) is greatest; so s(m) ≥ s(n), and the search goes on from m until s no longer grows: the proximal point method.

use super::polytope::Polytope;
use nalgebra::{Matrix3, Vector3};

/// What a shape is made of inside its radius.
#[derive(Clone, Copy)]
pub(super) enum Core<'a> {
    /// A point.
    Point,
    /// A segment along z of this half length.
    Rod(f64),
    /// A cylinder along z: radius, half length.
    Cylinder(f64, f64),
    /// A polytope.
    Polytope(&'a Polytope),
}

/// A convex shape where it is.
#[derive(Clone, Copy)]
pub(super) struct Convex<'a> {
    pub(super) core: Core<'a>,
    /// Radius around the core.
    pub(super) radius: f64,
    pub(super) turn: Matrix3<f64>,
    pub(super) shift: Vector3<f64>,
}

/// How far two shapes are apart, the unit vector from the second to the first along which they are, and a point of each core that is.
#[derive(Clone, Copy)]
pub(super) struct Closest {
    pub(super) gap: f64,
    pub(super) normal: Vector3<f64>,
    pub(super) cores: [Vector3<f64>; 2],
}

/// The search for nearest points ends when a plane shows them to be nearest to this part of the size.
const NEAREST: f64 = 1e-14;
/// Cores that are nearer than this part of the size are lifted apart: the difference of two nearer points has no direction.
const TOUCHING: f64 = 1e-9;
/// By how much they are lifted beyond touching, as part of the size. The less, the faster directions converge on curved surfaces; directions are
/// known to the rounding of positions over it.
const LIFT: f64 = 1e-4;
/// Bodies that overlap by less than this part of the size do so in one direction only.
const SHALLOW: f64 = 1e-7;
/// Support points that a search for nearest points looks at, and lifts that a direction takes, at most.
const LOOKS: usize = 100;
const LIFTS: usize = 50;

impl Convex<'_> {
    /// The farthest point of the core in a direction.
    fn support(&self, toward: &Vector3<f64>) -> Vector3<f64> {
        let local = self.turn.tr_mul(toward);
        let along = |half: f64| if local.z < 0.0 { -half } else { half };
        let point = match self.core {
            Core::Point => return self.shift,
            Core::Rod(half) => Vector3::new(0.0, 0.0, along(half)),
            Core::Cylinder(radius, half) => {
                let across = local.xy().norm();
                let out = if across > 0.0 { radius / across } else { 0.0 };
                Vector3::new(out * local.x, out * local.y, along(half))
            }
            Core::Polytope(polytope) => {
                let mut best = (f64::NEG_INFINITY, Vector3::zeros());
                for vertex in &polytope.vertices {
                    let height = local.dot(vertex);
                    if height > best.0 {
                        best = (height, *vertex);
                    }
                }
                best.1
            }
        };
        self.turn * point + self.shift
    }

    /// Greatest distance of a point from the origin of the shape.
    pub(super) fn size(&self) -> f64 {
        self.radius
            + match self.core {
                Core::Point => 0.0,
                Core::Rod(half) => half,
                Core::Cylinder(radius, half) => libm::hypot(radius, half),
                Core::Polytope(polytope) => polytope.size,
            }
    }

    /// The shape turned by a rotation about a point.
    pub(super) fn turned(&self, by: &Matrix3<f64>, about: &Vector3<f64>) -> Self {
        Convex {
            turn: by * self.turn,
            shift: about + by * (self.shift - about),
            ..*self
        }
    }

    /// Directions of flat sides, into which overlaps may be left: each once, outwards.
    fn flats(&self, each: &mut impl FnMut(Vector3<f64>)) {
        match self.core {
            Core::Point => (),
            Core::Rod(_) | Core::Cylinder(..) => {
                let axis: Vector3<f64> = self.turn.column(2).into();
                each(axis);
                each(-axis);
            }
            Core::Polytope(polytope) => polytope.faces.iter().for_each(|face| each(self.turn * face.normal)),
        }
    }

    /// Directions of straight edges and lines.
    fn lines(&self, each: &mut impl FnMut(Vector3<f64>)) {
        match self.core {
            Core::Point => (),
            Core::Rod(_) | Core::Cylinder(..) => each(self.turn.column(2).into()),
            Core::Polytope(polytope) => polytope.directions.iter().for_each(|line| each(self.turn * line)),
        }
    }
}

/// A difference of support points, and the points.
#[derive(Clone, Copy)]
struct Corner {
    between: Vector3<f64>,
    of: [Vector3<f64>; 2],
}

/// Up to four differences, and the weights with which they make the point nearest to the origin.
#[derive(Clone, Copy)]
struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    count: usize,
}

impl Simplex {
    /// The point nearest to the origin, none where the origin is inside; corners without weight are left out.
    fn reduce(&mut self) -> Option<Vector3<f64>> {
        let w = self.corners.map(|corner| corner.between);
        let mut best = (f64::INFINITY, Vector3::zeros(), [0.0; 4]);
        let mut offer = |point: Vector3<f64>, weights: [f64; 4]| {
            let square = point.norm_squared();
            if square < best.0 {
                best = (square, point, weights);
            }
        };
        let n = self.count;
        for i in 0..n {
            let mut weights = [0.0; 4];
            weights[i] = 1.0;
            offer(w[i], weights);
            for j in i + 1..n {
                let line = w[j] - w[i];
                let part = -w[i].dot(&line) / line.norm_squared();
                if part > 0.0 && part < 1.0 {
                    let mut weights = [0.0; 4];
                    (weights[i], weights[j]) = (1.0 - part, part);
                    offer(w[i] + part * line, weights);
                }
                for k in j + 1..n {
                    let normal = line.cross(&(w[k] - w[i]));
                    let square = normal.norm_squared();
                    let parts = [
                        normal.dot(&w[j].cross(&w[k])),
                        normal.dot(&w[k].cross(&w[i])),
                        normal.dot(&w[i].cross(&w[j])),
                    ];
                    if square > 0.0 && parts.iter().all(|&part| part > 0.0) {
                        let sum: f64 = parts.iter().sum();
                        let mut weights = [0.0; 4];
                        (weights[i], weights[j], weights[k]) = (parts[0] / sum, parts[1] / sum, parts[2] / sum);
                        offer(normal * (normal.dot(&w[i]) / square), weights);
                    }
                }
            }
        }
        if n == 4 {
            // Inside where the origin is on the same side of every face as the fourth corner. Of a flat tetrahedron rounding may say so of any point: then
            // the planes of its faces are nearer than the faces.
            let mut sides = [0.0; 4];
            let mut plane = f64::INFINITY;
            for (side, [i, j, k]) in sides.iter_mut().zip([[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]]) {
                let normal = (w[j] - w[i]).cross(&(w[k] - w[i]));
                *side = normal.dot(&w[i]);
                plane = plane.min(side.abs() / normal.norm());
            }
            let enclosed = sides.iter().all(|&side| side > 0.0) || sides.iter().all(|&side| side < 0.0);
            if enclosed && best.1.norm() <= 1.01 * plane {
                return None;
            }
        }
        let (_, point, weights) = best;
        let mut count = 0;
        for (i, weight) in weights.into_iter().enumerate() {
            if weight > 0.0 {
                self.corners[count] = self.corners[i];
                self.weights[count] = weight;
                count += 1;
            }
        }
        self.count = count;
        Some(point)
    }

    fn points(&self) -> [Vector3<f64>; 2] {
        [0, 1].map(|of| {
            (0..self.count).fold(Vector3::zeros(), |sum, i| {
                sum + self.weights[i] * self.corners[i].of[of]
            })
        })
    }
}

/// Two shapes, of which the cores may be shrunk towards their origins.
struct Pair<'a> {
    a: &'a Convex<'a>,
    b: &'a Convex<'a>,
    shrink: f64,
    size: f64,
}

impl Pair<'_> {
    fn corner(&self, lift: &Vector3<f64>, toward: &Vector3<f64>) -> Corner {
        let near = |convex: &Convex<'_>, toward: &Vector3<f64>| {
            let point = convex.support(toward);
            if self.shrink == 1.0 {
                point
            } else {
                convex.shift + self.shrink * (point - convex.shift)
            }
        };
        let of = [near(self.a, toward), near(self.b, &-toward)];
        Corner {
            between: of[0] - of[1] + lift,
            of,
        }
    }

    /// How far the cores are apart along a direction.
    fn apart(&self, normal: &Vector3<f64>) -> f64 {
        normal.dot(&self.corner(&Vector3::zeros(), &-normal).between)
    }

    /// The nearest points of the cores, the first lifted, and the vector between them; none where they overlap.
    fn nearest(&self, lift: &Vector3<f64>, start: &Vector3<f64>) -> Option<(Vector3<f64>, [Vector3<f64>; 2])> {
        let first = self.corner(lift, &-start);
        let mut simplex = Simplex {
            corners: [first; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            count: 1,
        };
        let tolerance = NEAREST * self.size;
        let mut between = first.between;
        for _ in 0..LOOKS {
            let distance = between.norm();
            if distance <= tolerance {
                return None;
            }
            let next = self.corner(lift, &(between / -distance));
            let same = |corner: &Corner| corner.between == next.between;
            if distance - between.dot(&next.between) / distance <= tolerance
                || simplex.corners[..simplex.count].iter().any(same)
            {
                break;
            }
            let before = simplex;
            simplex.corners[simplex.count] = next;
            simplex.count += 1;
            let point = simplex.reduce()?;
            if point.norm_squared() >= between.norm_squared() {
                simplex = before;
                break;
            }
            between = point;
        }
        Some((between, simplex.points()))
    }

    /// The direction near a given one in which the cores are farthest apart.
    fn climb(&self, start: &Vector3<f64>) -> Closest {
        let mut best = Closest {
            gap: self.apart(start),
            normal: *start,
            cores: self.corner(&Vector3::zeros(), &-start).of,
        };
        for _ in 0..LIFTS {
            let lift = (LIFT * self.size - best.gap).max(0.0) * best.normal;
            let Some((between, cores)) = self.nearest(&lift, &best.normal) else {
                break;
            };
            let normal = between.normalize();
            let gap = self.apart(&normal);
            if gap < best.gap {
                break;
            }
            let gain = gap - best.gap;
            best = Closest { gap, normal, cores };
            if gain <= f64::EPSILON * self.size {
                break;
            }
        }
        best
    }
}

/// How far two shapes are apart along a unit vector.
pub(super) fn apart_along(a: &Convex<'_>, b: &Convex<'_>, normal: &Vector3<f64>) -> f64 {
    normal.dot(&(a.support(&-normal) - b.support(normal))) - a.radius - b.radius
}

/// The signed distance of two shapes, exact to rounding where flat sides, edges and corners meet, and to 1e-12 of the size where curved ones do.
pub(super) fn closest(a: &Convex<'_>, b: &Convex<'_>) -> Closest {
    let radius = a.radius + b.radius;
    let outside = |closest: Closest| Closest {
        gap: closest.gap - radius,
        ..closest
    };
    let mut pair = Pair {
        a,
        b,
        shrink: 1.0,
        size: a.size().min(b.size()),
    };
    let between = a.shift - b.shift;
    let start = between.try_normalize(0.0).unwrap_or_else(Vector3::z);
    let none = Vector3::zeros();
    match pair.nearest(&none, &start) {
        Some((between, cores)) if between.norm() > TOUCHING * pair.size => {
            let gap = between.norm();
            let normal = between / gap;
            return outside(Closest { gap, normal, cores });
        }
        _ => (),
    }
    // The smaller bodies inside are apart in about the same direction.
    let mut toward = start;
    for shrink in [0.95, 0.8, 0.5, 0.2] {
        pair.shrink = shrink;
        match pair.nearest(&none, &start) {
            Some((between, _)) if between.norm() > TOUCHING * pair.size => {
                toward = between.normalize();
                break;
            }
            _ => (),
        }
    }
    pair.shrink = 1.0;
    let mut best = pair.climb(&toward);
    if best.gap >= -SHALLOW * pair.size {
        return outside(best);
    }
    // Deeper ones may part in several directions: from flat sides and crossed lines that promise most.
    let mut starts = [(f64::NEG_INFINITY, toward); 4];
    let mut offer = |normal: Vector3<f64>| {
        let mut one = (pair.apart(&normal), normal);
        for kept in &mut starts {
            if one.0 > kept.0 {
                std::mem::swap(&mut one, kept);
            }
        }
    };
    b.flats(&mut |normal| offer(normal));
    a.flats(&mut |normal| offer(-normal));
    a.lines(&mut |one| {
        b.lines(&mut |other| {
            if let Some(normal) = one.cross(&other).try_normalize(1e-4) {
                offer(normal);
                offer(-normal);
            }
        });
    });
    for (promise, normal) in starts {
        if promise > f64::NEG_INFINITY {
            let found = pair.climb(&normal);
            if found.gap > best.gap {
                best = found;
            }
        }
    }
    outside(best)
}

/// Points that come nearest when the first shape turns by a small angle about an axis through a point: one of each core, where they are unturned.
pub(super) fn after_turning(
    a: &Convex<'_>,
    b: &Convex<'_>,
    normal: &Vector3<f64>,
    about: &Vector3<f64>,
    rotation: &Matrix3<f64>,
) -> Option<[Vector3<f64>; 2]> {
    let turned = a.turned(rotation, about);
    let pair = Pair {
        a: &turned,
        b,
        shrink: 1.0,
        size: a.size().min(b.size()),
    };
    let lift = (LIFT * pair.size - pair.apart(normal)).max(0.0) * normal;
    let (_, [first, second]) = pair.nearest(&lift, normal)?;
    Some([about + rotation.tr_mul(&(first - about)), second])
}
