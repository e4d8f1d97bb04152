//! Convex polytopes: boxes and hulls, with the faces, edges and vertices that contacts are made of.

use nalgebra::{Matrix3, Vector3};

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
        }
    }
}

/// Faces of a hull whose normals differ by less than this are one.
const FLAT: f64 = 1e-7;

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

    /// A triangle, seen from one side.
    pub fn triangle(corners: [Vector3<f64>; 3]) -> Self {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
        let face = Face {
            normal,
            offset: normal.dot(&corners[0]),
            ring: vec![0, 1, 2],
        };
        Self::of(corners.to_vec(), vec![face])
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
        let triangles = triangulate(&distinct, spread)?;
        Ok(Self::merge(&distinct, &triangles))
    }

    /// Joins triangles that lie in one plane, and forgets points that are no corners.
    fn merge(points: &[Vector3<f64>], triangles: &[[usize; 3]]) -> Self {
        let normal_of = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|i| points[i]);
            (b - a).cross(&(c - a))
        };
        // Large triangles have the better normals.
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        order.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|i| normal_of(&triangles[i]).norm_squared());
            b.total_cmp(&a)
        });
        let mut taken = vec![false; triangles.len()];
        let mut outlines: Vec<(Vector3<f64>, Vec<usize>)> = Vec::new();
        for &seed in &order {
            if taken[seed] {
                continue;
            }
            let normal = normal_of(&triangles[seed]).normalize();
            let mut members = vec![seed];
            taken[seed] = true;
            for &other in &order {
                let aligned = normal_of(&triangles[other]).normalize().dot(&normal) > 1.0 - FLAT;
                if !taken[other] && aligned {
                    taken[other] = true;
                    members.push(other);
                }
            }
            // Edges that belong to one member only are the outline.
            let mut outline = std::collections::BTreeMap::new();
            for &member in &members {
                let t = triangles[member];
                for k in 0..3 {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    if outline.get(&b) == Some(&a) {
                        outline.remove(&b);
                    } else {
                        outline.insert(a, b);
                    }
                }
            }
            let Some((&start, _)) = outline.first_key_value() else {
                continue;
            };
            let (mut ring, mut at) = (Vec::new(), start);
            while ring.len() <= points.len() {
                ring.push(at);
                match outline.get(&at) {
                    Some(&next) if next != start => at = next,
                    _ => break,
                }
            }
            outlines.push((normal, ring));
        }
        let mut number = vec![u32::MAX; points.len()];
        let mut vertices = Vec::new();
        let mut faces = Vec::new();
        for (normal, ring) in outlines {
            let ring: Vec<u32> = ring
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

/// The hull as triangles, point by point: what a new point sees is taken away, and its rim is joined to the point.
fn triangulate(points: &[Vector3<f64>], spread: f64) -> Result<Vec<[usize; 3]>, HullError> {
    let tolerance = 1e-10 * spread;
    // A first tetrahedron as large as is easily found.
    let far = |from: &dyn Fn(&Vector3<f64>) -> f64| {
        (0..points.len()).fold((0, 0.0), |(best, most), i| match from(&points[i]) {
            d if d > most => (i, d),
            _ => (best, most),
        })
    };
    let a = 0;
    let (b, _) = far(&|p| (p - points[a]).norm());
    let along = (points[b] - points[a]).normalize();
    let (c, width) = far(&|p| (p - points[a]).cross(&along).norm());
    if width <= tolerance {
        return Err(HullError::Flat(width));
    }
    let normal = (points[b] - points[a]).cross(&(points[c] - points[a])).normalize();
    let (d, thickness) = far(&|p| normal.dot(&(p - points[a])).abs());
    if thickness <= 1e-9 * spread {
        return Err(HullError::Flat(thickness));
    }
    let above = normal.dot(&(points[d] - points[a])) > 0.0;
    let [b, c] = if above { [c, b] } else { [b, c] };
    let mut triangles = vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
    for point in 0..points.len() {
        if [a, b, c, d].contains(&point) {
            continue;
        }
        let seen = |t: &[usize; 3]| {
            let [p, q, r] = t.map(|i| points[i]);
            let normal = (q - p).cross(&(r - p)).normalize();
            normal.dot(&(points[point] - p)) > tolerance
        };
        let (gone, kept): (Vec<_>, Vec<_>) = triangles.iter().copied().partition(|t| seen(t));
        if gone.is_empty() {
            continue;
        }
        let mut rim = Vec::new();
        for t in &gone {
            for k in 0..3 {
                let (p, q) = (t[k], t[(k + 1) % 3]);
                let shared = gone
                    .iter()
                    .any(|other| (0..3).any(|m| (other[m], other[(m + 1) % 3]) == (q, p)));
                if !shared {
                    rim.push([p, q, point]);
                }
            }
        }
        triangles = kept;
        triangles.extend(rim);
    }
    Ok(triangles)
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
