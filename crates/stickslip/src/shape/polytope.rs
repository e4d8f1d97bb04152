//! Convex polytopes: boxes and hulls, with the faces, edges and vertices that contacts are made of.

use nalgebra::{Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};

/// A face: its outward unit normal, normal·p on it, and its vertices in order, counterclockwise seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal.
    pub normal: Vector3<f64>,
    /// normal·p of its points.
    pub offset: f64,
    /// Numbers of its vertices.
    pub ring: Vec<u32>,
}

/// A convex body with flat faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    /// Corners.
    pub vertices: Vec<Vector3<f64>>,
    /// Faces.
    pub faces: Vec<Face>,
    /// Edges, as pairs of vertices.
    pub edges: Vec<[u32; 2]>,
    /// Unit directions of the edges, each only once.
    pub directions: Vec<Vector3<f64>>,
    /// Greatest distance of a corner from the origin.
    pub size: f64,
}

/// Why points have no hull.
#[derive(Clone, Debug, PartialEq)]
pub enum HullError {
    /// A coordinate is not a finite number: which point.
    NotFinite(usize),
    /// So many points are fewer than four.
    TooFew(usize),
    /// All points lie in one plane, on one line or at one place: the thickness.
    Flat(f64),
    /// Points are so close to each other that rounding decides what is outside.
    Unresolved,
}

impl std::fmt::Display for HullError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HullError::NotFinite(point) => write!(f, "point {} is not a finite number", point + 1),
            HullError::TooFew(count) => write!(f, "a hull needs at least four different points, found {count}"),
            HullError::Flat(thickness) => write!(
                f,
                "the points lie in one plane (thickness {thickness:.1e} m): their hull has no volume"
            ),
            HullError::Unresolved => write!(
                f,
                "points lie so close to each other that their hull does not close: leave out those that are no corners"
            ),
        }
    }
}

/// A point less than this part of the spread outside of a hull is no corner of it. The first is more than rounding and less than the digits that people write; where what is typed is
/// rounded about as much, triangles that low turn the wrong way, and a finer or coarser one tells them apart.
const OUTSIDE: [f64; 5] = [1e-10, 1e-13, 1e-8, 1e-7, 1e-6];
/// Neighbouring triangles are one face where all corners are this close to its plane, as part of the spread: coordinates of files have six or seven digits.
const LEVEL: f64 = 1e-5;

impl Polytope {
    /// A box with these edge lengths about the origin.
    pub fn cuboid(edges: [f64; 3]) -> Self {
        let half = edges.map(|edge| 0.5 * edge);
        let corner = |i: u32| {
            let sign = |axis: u32| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
            Vector3::new(sign(0) * half[0], sign(1) * half[1], sign(2) * half[2])
        };
        let rings: [([f64; 3], [u32; 4]); 6] = [
            ([-1.0, 0.0, 0.0], [0, 4, 6, 2]),
            ([1.0, 0.0, 0.0], [1, 3, 7, 5]),
            ([0.0, -1.0, 0.0], [0, 1, 5, 4]),
            ([0.0, 1.0, 0.0], [2, 6, 7, 3]),
            ([0.0, 0.0, -1.0], [0, 2, 3, 1]),
            ([0.0, 0.0, 1.0], [4, 5, 7, 6]),
        ];
        let faces = rings.map(|(normal, ring)| Face {
            normal: Vector3::from(normal),
            offset: normal.iter().zip(half).map(|(n, h)| n.abs() * h).sum(),
            ring: ring.to_vec(),
        });
        Self::of((0..8).map(corner).collect(), faces.to_vec())
    }

    /// A convex polygon, seen from one side: its corners counterclockwise.
    pub fn polygon(corners: Vec<Vector3<f64>>) -> Self {
        // Its area as a vector: twice that of the triangles of a fan.
        let area: Vector3<f64> = (2..corners.len())
            .map(|i| (corners[i - 1] - corners[0]).cross(&(corners[i] - corners[0])))
            .sum();
        let normal = area.normalize();
        let offset = corners
            .iter()
            .map(|corner| normal.dot(corner))
            .fold(f64::NEG_INFINITY, f64::max);
        let ring = (0..corners.len() as u32).collect();
        Self::of(corners, vec![Face { normal, offset, ring }])
    }

    fn of(vertices: Vec<Vector3<f64>>, faces: Vec<Face>) -> Self {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for face in &faces {
            for (i, &a) in face.ring.iter().enumerate() {
                let b = face.ring[(i + 1) % face.ring.len()];
                edges.push([a.min(b), a.max(b)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut directions: Vec<Vector3<f64>> = Vec::new();
        for [a, b] in &edges {
            let direction = (vertices[*b as usize] - vertices[*a as usize]).normalize();
            if directions
                .iter()
                .all(|other| other.cross(&direction).norm_squared() > 1e-14)
            {
                directions.push(direction);
            }
        }
        let size = vertices.iter().map(|vertex| vertex.norm()).fold(0.0, f64::max);
        Polytope {
            vertices,
            faces,
            edges,
            directions,
            size,
        }
    }

    /// The hull of points. Triangles in one plane become one face.
    ///
    /// # Errors
    /// If the points have no volume.
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        if let Some(point) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(HullError::NotFinite(point));
        }
        let mut distinct: Vec<Vector3<f64>> = Vec::new();
        let spread = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
        for point in points {
            if distinct.iter().all(|other| (other - point).norm() > 1e-12 * spread) {
                distinct.push(*point);
            }
        }
        if distinct.len() < 4 {
            return Err(HullError::TooFew(distinct.len()));
        }
        for tolerance in OUTSIDE {
            let triangles = triangulate(&distinct, tolerance * spread)?;
            if encloses(&triangles, &distinct, 0.1 * LEVEL * spread) {
                return Ok(Self::merge(&distinct, &triangles, LEVEL * spread));
            }
        }
        Err(HullError::Unresolved)
    }

    /// Joins neighbouring triangles that lie in one plane, and forgets points that are no corners.
    ///
    /// The triangles are closed, and what is joined is joined across sides that both have: so each side of a face is a side of another one, whatever the order of the triangles.
    fn merge(points: &[Vector3<f64>], triangles: &[[usize; 3]], level: f64) -> Self {
        let cross = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|i| points[i]);
            (b - a).cross(&(c - a))
        };
        let of_side: BTreeMap<(usize, usize), usize> = (0..triangles.len())
            .flat_map(|index| sides_of(triangles[index]).map(|side| (side, index)))
            .collect();
        let beyond = |(a, b): (usize, usize)| of_side.get(&(b, a)).copied();
        // Large triangles have the better normals.
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        order.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|i| cross(&triangles[i]).norm_squared());
            b.total_cmp(&a)
        });
        let mut face_of = vec![usize::MAX; triangles.len()];
        let mut outlines: Vec<(Vector3<f64>, Vec<usize>)> = Vec::new();
        for &seed in &order {
            if face_of[seed] != usize::MAX {
                continue;
            }
            let normal = cross(&triangles[seed]).normalize();
            let offset = normal.dot(&points[triangles[seed][0]]);
            let face = outlines.len();
            let mut members = vec![seed];
            face_of[seed] = face;
            let mut at = 0;
            while at < members.len() {
                for side in sides_of(triangles[members[at]]) {
                    let Some(other) = beyond(side).filter(|&other| face_of[other] == usize::MAX) else {
                        continue;
                    };
                    let flat = triangles[other]
                        .iter()
                        .all(|&i| (normal.dot(&points[i]) - offset).abs() <= level);
                    if flat && cross(&triangles[other]).normalize().dot(&normal) > 0.5 {
                        face_of[other] = face;
                        members.push(other);
                    }
                }
                at += 1;
            }
            match outline(triangles, &members, &of_side) {
                Some(ring) => outlines.push((normal, ring)),
                // What is no disc stays in triangles.
                None => {
                    for &member in &members {
                        face_of[member] = outlines.len();
                        outlines.push((cross(&triangles[member]).normalize(), triangles[member].to_vec()));
                    }
                }
            }
        }
        // Where only two faces meet there is no corner.
        let mut meeting = vec![0; points.len()];
        for &point in outlines.iter().flat_map(|(_, ring)| ring) {
            meeting[point] += 1;
        }
        let mut number = vec![u32::MAX; points.len()];
        let mut vertices = Vec::new();
        let mut faces = Vec::new();
        for (normal, ring) in outlines {
            let corners: Vec<usize> = ring.into_iter().filter(|&point| meeting[point] > 2).collect();
            if corners.len() < 3 {
                continue;
            }
            let ring: Vec<u32> = corners
                .into_iter()
                .map(|point| {
                    if number[point] == u32::MAX {
                        number[point] = vertices.len() as u32;
                        vertices.push(points[point]);
                    }
                    number[point]
                })
                .collect();
            let offset = ring
                .iter()
                .map(|&i| normal.dot(&vertices[i as usize]))
                .fold(f64::NEG_INFINITY, f64::max);
            faces.push(Face { normal, offset, ring });
        }
        Self::of(vertices, faces)
    }

    /// Volume, centre of mass and inertia about the centre per unit of density.
    pub fn solid(&self) -> (f64, Vector3<f64>, Matrix3<f64>) {
        let triangles = self.faces.iter().flat_map(|face| {
            let corner = |i: usize| self.vertices[face.ring[i] as usize];
            (1..face.ring.len() - 1).map(move |i| [corner(0), corner(i), corner(i + 1)])
        });
        solid_of(triangles)
    }

    /// How far it reaches in a direction.
    pub fn highest(&self, direction: &Vector3<f64>) -> f64 {
        let along = self.vertices.iter().map(|vertex| direction.dot(vertex));
        along.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Moves all corners.
    pub fn moved(&self, by: &Vector3<f64>) -> Self {
        let mut moved = self.clone();
        moved.vertices.iter_mut().for_each(|vertex| *vertex += by);
        for face in &mut moved.faces {
            face.offset += face.normal.dot(by);
        }
        moved.size = moved.vertices.iter().map(|vertex| vertex.norm()).fold(0.0, f64::max);
        moved
    }
}

/// Volume, centre and inertia about the centre of what triangles enclose, per unit of density: sums of tetrahedra with a corner at the origin.
pub(crate) fn solid_of(triangles: impl Iterator<Item = [Vector3<f64>; 3]>) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for [a, b, c] in triangles {
        let part = a.dot(&b.cross(&c)) / 6.0;
        let sum = a + b + c;
        volume += part;
        first += 0.25 * part * sum;
        // ∫ x·xᵀ of a tetrahedron with a corner at the origin: V/20·(Σ p·pᵀ + s·sᵀ).
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += part / 20.0 * (squares + sum * sum.transpose());
    }
    let centre = first / volume;
    let about = second - volume * centre * centre.transpose();
    let inertia = Matrix3::identity() * about.trace() - about;
    (volume, centre, inertia)
}

/// The three sides of a triangle, each from a corner to the next.
pub(crate) fn sides_of([a, b, c]: [usize; 3]) -> [(usize, usize); 3] {
    [(a, b), (b, c), (c, a)]
}

/// The way around triangles that are joined, or nothing where it is not one ring that passes each point once.
fn outline(
    triangles: &[[usize; 3]],
    members: &[usize],
    of_side: &BTreeMap<(usize, usize), usize>,
) -> Option<Vec<usize>> {
    let inside: BTreeSet<usize> = members.iter().copied().collect();
    let mut next = BTreeMap::new();
    let mut count = 0;
    for (a, b) in members.iter().flat_map(|&member| sides_of(triangles[member])) {
        if of_side.get(&(b, a)).is_none_or(|other| !inside.contains(other)) {
            next.insert(a, b);
            count += 1;
        }
    }
    let (&start, _) = next.first_key_value()?;
    let (mut ring, mut at) = (vec![start], next[&start]);
    while at != start && ring.len() < count {
        ring.push(at);
        at = *next.get(&at)?;
    }
    (at == start && ring.len() == count).then_some(ring)
}

/// A triangle of a hull that grows, and the points outside of it that no other one has.
struct Growing {
    corners: [usize; 3],
    normal: Vector3<f64>,
    offset: f64,
    outside: Vec<usize>,
}

impl Growing {
    fn new(points: &[Vector3<f64>], corners: [usize; 3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i]);
        let normal = (b - a).cross(&(c - a)).normalize();
        Growing {
            corners,
            normal,
            offset: normal.dot(&a),
            outside: Vec::new(),
        }
    }

    fn height(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// The hull as triangles (quickhull, Barber, Dobkin and Huhdanpaa 1996): of what lies outside of a triangle the farthest point is taken, which is a corner of the hull. The triangles
/// that it sees go, and their rim is joined to the point.
fn triangulate(points: &[Vector3<f64>], tolerance: f64) -> Result<Vec<[usize; 3]>, HullError> {
    // Differences to a point of the hull: no rounding of how far the origin is.
    let origin = points[0];
    let points: Vec<Vector3<f64>> = points.iter().map(|point| point - origin).collect();
    let points = points.as_slice();
    let [a, b, c, d] = first_tetrahedron(points, tolerance)?;
    let mut faces: Vec<Option<Growing>> = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]]
        .map(|corners| Some(Growing::new(points, corners)))
        .into();
    let mut of_side: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (index, face) in faces.iter().flatten().enumerate() {
        of_side.extend(sides_of(face.corners).map(|side| (side, index)));
    }
    // A point belongs to the first triangle that it is outside of; one that is outside of none is in the hull.
    let hand_out = |faces: &mut [Option<Growing>], loose: Vec<usize>| {
        for point in loose {
            let home = faces
                .iter_mut()
                .flatten()
                .find(|face| face.height(&points[point]) > tolerance);
            if let Some(face) = home {
                face.outside.push(point);
            }
        }
    };
    let rest = (0..points.len())
        .filter(|point| ![a, b, c, d].contains(point))
        .collect();
    hand_out(&mut faces, rest);
    let (mut next, mut looks) = (0, 4);
    while next < faces.len() {
        let far = faces[next].as_ref().and_then(|face| {
            let height = |point: &usize| face.height(&points[*point]);
            face.outside
                .iter()
                .copied()
                .max_by(|a, b| height(a).total_cmp(&height(b)))
        });
        let Some(point) = far else {
            next += 1;
            if next == faces.len() && looks > 0 {
                looks -= 1;
                // What it sees by less than the tolerance may hide that a point is outside of a triangle that stayed: look once more at those that are no corners.
                let corners: BTreeSet<usize> = faces.iter().flatten().flat_map(|face| face.corners).collect();
                let left = (0..points.len()).filter(|point| !corners.contains(point)).collect();
                hand_out(&mut faces, left);
                next = (0..faces.len())
                    .find(|&index| faces[index].as_ref().is_some_and(|face| !face.outside.is_empty()))
                    .unwrap_or(next);
            }
            continue;
        };
        // What it sees hangs together.
        let mut seen = vec![next];
        let mut rim = Vec::new();
        let mut at = 0;
        while at < seen.len() {
            let corners = faces[seen[at]].as_ref().map(|face| face.corners);
            for (p, q) in corners.into_iter().flat_map(sides_of) {
                let Some(&other) = of_side.get(&(q, p)) else { continue };
                if seen.contains(&other) {
                    continue;
                }
                match &faces[other] {
                    Some(face) if face.height(&points[point]) > tolerance => seen.push(other),
                    _ => rim.push((p, q, other)),
                }
            }
            at += 1;
        }
        rim.retain(|(.., other)| !seen.contains(other));
        let mut loose = Vec::new();
        for index in seen {
            if let Some(face) = faces[index].take() {
                for side in sides_of(face.corners) {
                    of_side.remove(&side);
                }
                loose.extend(face.outside.into_iter().filter(|&other| other != point));
            }
        }
        let first = faces.len();
        for (p, q, _) in rim {
            let corners = [p, q, point];
            of_side.extend(sides_of(corners).map(|side| (side, faces.len())));
            faces.push(Some(Growing::new(points, corners)));
        }
        hand_out(&mut faces[first..], loose);
    }
    Ok(faces.into_iter().flatten().map(|face| face.corners).collect())
}

/// Whether triangles are a closed surface (every side runs once each way, and Euler's formula holds) with no point more than this outside.
fn encloses(triangles: &[[usize; 3]], points: &[Vector3<f64>], tolerance: f64) -> bool {
    let sides: BTreeSet<(usize, usize)> = triangles.iter().copied().flat_map(sides_of).collect();
    let corners: BTreeSet<usize> = triangles.iter().flatten().copied().collect();
    sides.len() == 3 * triangles.len()
        && sides.iter().all(|&(a, b)| sides.contains(&(b, a)))
        && 2 * corners.len() == triangles.len() + 4
        && triangles.iter().all(|&corners| {
            let face = Growing::new(points, corners);
            points.iter().all(|point| face.height(point) <= tolerance)
        })
}

/// Four points far from each other, the fourth below the first three seen from outside.
fn first_tetrahedron(points: &[Vector3<f64>], tolerance: f64) -> Result<[usize; 4], HullError> {
    let far = |from: &dyn Fn(&Vector3<f64>) -> f64| {
        (0..points.len()).fold((0, 0.0), |(best, most), i| match from(&points[i]) {
            d if d > most => (i, d),
            _ => (best, most),
        })
    };
    // The first point may lie in the hull; what is farthest from it does not.
    let (a, _) = far(&|p| (p - points[0]).norm());
    let (b, _) = far(&|p| (p - points[a]).norm());
    let along = (points[b] - points[a]).normalize();
    let (c, width) = far(&|p| (p - points[a]).cross(&along).norm());
    if width <= tolerance {
        return Err(HullError::Flat(width));
    }
    let normal = (points[b] - points[a]).cross(&(points[c] - points[a])).normalize();
    let (d, thickness) = far(&|p| normal.dot(&(p - points[a])).abs());
    if thickness <= tolerance {
        return Err(HullError::Flat(thickness));
    }
    let above = normal.dot(&(points[d] - points[a])) > 0.0;
    Ok(if above { [a, c, b, d] } else { [a, b, c, d] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_of_a_box_is_the_box() {
        let cuboid = Polytope::cuboid([1.0, 2.0, 3.0]);
        let mut points = cuboid.vertices.clone();
        // Points inside and on faces are no corners.
        points.push(Vector3::new(0.1, 0.2, 0.3));
        points.push(Vector3::new(0.5, 0.2, 0.3));
        let hull = Polytope::hull(&points).unwrap();
        assert_eq!((hull.vertices.len(), hull.faces.len(), hull.edges.len()), (8, 6, 12));
        for polytope in [&cuboid, &hull] {
            let (volume, centre, inertia) = polytope.solid();
            assert!((volume - 6.0).abs() < 1e-12 && centre.norm() < 1e-12);
            let expected = [6.0 * 13.0 / 12.0, 6.0 * 10.0 / 12.0, 6.0 * 5.0 / 12.0];
            for i in 0..3 {
                assert!((inertia[(i, i)] - expected[i]).abs() < 1e-12);
            }
            for face in &polytope.faces {
                // Counterclockwise from outside.
                let [a, b, c] = [0, 1, 2].map(|i| polytope.vertices[face.ring[i] as usize]);
                assert!((b - a).cross(&(c - b)).dot(&face.normal) > 0.0);
                assert!((face.normal.dot(&a) - face.offset).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn points_without_volume_have_no_hull() {
        let flat: Vec<_> = (0..6)
            .map(|i| Vector3::new(f64::from(i), f64::from(i * i), 0.0))
            .collect();
        assert!(matches!(Polytope::hull(&flat), Err(HullError::Flat(_))));
        assert_eq!(Polytope::hull(&flat[..3]), Err(HullError::TooFew(3)));
        let line: Vec<_> = (0..6).map(|i| Vector3::new(f64::from(i), 0.0, 0.0)).collect();
        assert!(matches!(Polytope::hull(&line), Err(HullError::Flat(_))));
        let mut broken = flat.clone();
        broken[2].y = f64::NAN;
        assert_eq!(Polytope::hull(&broken), Err(HullError::NotFinite(2)));
    }

    #[test]
    fn a_hull_of_many_points_is_closed_and_convex() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        let points: Vec<_> = (0..200).map(|_| Vector3::new(next(), next(), next())).collect();
        let hull = Polytope::hull(&points).unwrap();
        // Euler's formula, and no point outside.
        assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
        for face in &hull.faces {
            for point in &points {
                assert!(face.normal.dot(point) <= face.offset + 1e-9);
            }
        }
    }
}
