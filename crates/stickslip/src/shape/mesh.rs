//! Triangle meshes of fixed bodies: a tree of boxes to find the triangles near a body, and the files they come from.

use super::polytope::{Polytope, sides_of, solid_of};
use nalgebra::{Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};

/// A surface of flat pieces. Triangles that lie in one plane are joined as long as what they make is convex: sides between them are no edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    pieces: Vec<Polytope>,
    /// A tree over the pieces: node i has children 2i+1 and 2i+2 where it is no leaf.
    nodes: Vec<Node>,
}

/// Triangles are in one plane where all corners are this close to it, as part of the size: coordinates of single precision.
const LEVEL: f64 = 1e-6;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// The piece of a leaf; the first child of another node is the next one.
    leaf: Option<usize>,
    skip: usize,
}

/// What is wrong with the triangles of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshError {
    /// There are none.
    Empty,
    /// The file is no STL file: what was expected.
    Format(String),
    /// A coordinate is not a finite number: which triangle.
    NotFinite(usize),
    /// Two triangles with the same corners: which.
    Duplicate([usize; 2]),
    /// A side that belongs to one triangle only.
    Hole([Vector3<f64>; 2]),
    /// A side that two triangles run through in the same direction.
    Inverted([Vector3<f64>; 2]),
    /// Normals that point inwards.
    InsideOut,
}

impl std::fmt::Display for MeshError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |[a, b]: &[Vector3<f64>; 2]| {
            let p = |v: &Vector3<f64>| format!("({:.6}, {:.6}, {:.6})", v.x, v.y, v.z);
            format!("{} to {}", p(a), p(b))
        };
        match self {
            MeshError::Empty => write!(f, "there is no triangle with an area in it"),
            MeshError::Format(what) => write!(f, "it is not an STL file: {what}"),
            MeshError::NotFinite(triangle) => {
                write!(f, "a corner of triangle {} is not a finite number", triangle + 1)
            }
            MeshError::Duplicate([one, other]) => {
                write!(f, "triangles {} and {} have the same corners", one + 1, other + 1)
            }
            MeshError::Hole(at) => write!(
                f,
                "it has a hole: the side from {} belongs to one triangle only",
                side(at)
            ),
            MeshError::Inverted(at) => write!(
                f,
                "triangles are turned against each other at the side from {}",
                side(at)
            ),
            MeshError::InsideOut => write!(f, "its triangles face inwards: its volume is negative"),
        }
    }
}

/// The triangles of an STL file, binary or text.
///
/// # Errors
/// If the bytes are no STL file, or a number in it is not finite.
pub fn read_stl(bytes: &[u8]) -> Result<Vec<[Vector3<f64>; 3]>, MeshError> {
    let count = bytes
        .get(80..84)
        .map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize);
    let triangles: Vec<[Vector3<f64>; 3]> = match count {
        Some(count) if bytes.len() == 84 + 50 * count => bytes[84..]
            .chunks_exact(50)
            .map(|chunk| {
                let number = |i: usize| {
                    let b = &chunk[12 + 4 * i..16 + 4 * i];
                    f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                };
                [0, 3, 6].map(|i| Vector3::new(number(i), number(i + 1), number(i + 2)))
            })
            .collect(),
        _ => text_stl(bytes)?,
    };
    if triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    let finite = |t: &[Vector3<f64>; 3]| t.iter().all(|p| p.iter().all(|x| x.is_finite()));
    match triangles.iter().position(|t| !finite(t)) {
        Some(triangle) => Err(MeshError::NotFinite(triangle)),
        None => Ok(triangles),
    }
}

fn text_stl(bytes: &[u8]) -> Result<Vec<[Vector3<f64>; 3]>, MeshError> {
    let format = |what: &str| MeshError::Format(what.to_string());
    let text = std::str::from_utf8(bytes).map_err(|_| format("neither text nor the length of a binary file"))?;
    if !text.trim_start().starts_with("solid") {
        return Err(format("a text file begins with \"solid\""));
    }
    let mut corners = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() == Some("vertex") {
            let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
            match numbers[..] {
                [x, y, z] => corners.push(Vector3::new(x, y, z)),
                _ => return Err(format(&format!("line {} should be three numbers", number + 1))),
            }
        }
    }
    if corners.len() % 3 != 0 {
        return Err(format("a facet has three corners"));
    }
    Ok(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect())
}

type Bits = [u64; 3];

/// What a corner is known by: triangles share it where all coordinates are the same.
fn bits(corner: &Vector3<f64>) -> Bits {
    [corner.x, corner.y, corner.z].map(|x| (x + 0.0).to_bits())
}

/// Whether triangles close: the first side that does not fit, or normals that point inwards. Triangles two of whose corners are the same have no side of their own, and are not looked at.
///
/// # Errors
/// If there is a hole, or triangles are there twice, or turned against each other or inwards.
pub fn check_closed(triangles: &[[Vector3<f64>; 3]]) -> Result<(), MeshError> {
    let mut sides: BTreeMap<[Bits; 2], i32> = BTreeMap::new();
    let mut known: BTreeMap<[Bits; 3], usize> = BTreeMap::new();
    for (index, triangle) in triangles.iter().enumerate() {
        let mut corners = [0, 1, 2].map(|k| bits(&triangle[k]));
        if corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0] {
            continue;
        }
        for k in 0..3 {
            *sides.entry([corners[k], corners[(k + 1) % 3]]).or_default() += 1;
        }
        corners.sort_unstable();
        if let Some(other) = known.insert(corners, index) {
            return Err(MeshError::Duplicate([other, index]));
        }
    }
    let points = |side: &[Bits; 2]| side.map(|p| Vector3::from(p.map(f64::from_bits)));
    for (side, &count) in &sides {
        if count > 1 {
            return Err(MeshError::Inverted(points(side)));
        }
        if !sides.contains_key(&[side[1], side[0]]) {
            return Err(MeshError::Hole(points(side)));
        }
    }
    if solid_of(triangles.iter().copied()).0 <= 0.0 {
        return Err(MeshError::InsideOut);
    }
    Ok(())
}

impl Mesh {
    /// A mesh of triangles whose normals point out of the obstacle. Those without area touch nothing, and are left out.
    ///
    /// # Errors
    /// If no triangle has an area.
    pub fn new(triangles: &[[Vector3<f64>; 3]]) -> Result<Self, MeshError> {
        let has_area = |[a, b, c]: &&[Vector3<f64>; 3]| {
            let area = (b - a).cross(&(c - a)).norm();
            let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
            area > 1e-12 * longest * longest
        };
        let solid: Vec<[Vector3<f64>; 3]> = triangles.iter().filter(has_area).copied().collect();
        if solid.is_empty() {
            return Err(MeshError::Empty);
        }
        let pieces: Vec<Polytope> = flat_pieces(&solid).into_iter().map(Polytope::polygon).collect();
        let boxes: Vec<[Vector3<f64>; 2]> = pieces
            .iter()
            .map(|piece| {
                let first = piece.vertices[0];
                let corners = piece.vertices.iter();
                corners.fold([first, first], |[low, high], p| [low.inf(p), high.sup(p)])
            })
            .collect();
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        let mut nodes = Vec::new();
        grow(&boxes, &mut order, &mut nodes);
        Ok(Mesh { pieces, nodes })
    }

    /// Calls `visit` with every piece whose box meets this one.
    pub fn near(&self, low: Vector3<f64>, high: Vector3<f64>, visit: &mut dyn FnMut(usize, &Polytope)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let apart = (0..3).any(|i| node.low[i] > high[i] || node.high[i] < low[i]);
            match (apart, node.leaf) {
                (true, _) => at = node.skip,
                (false, Some(piece)) => {
                    visit(piece, &self.pieces[piece]);
                    at = node.skip;
                }
                (false, None) => at += 1,
            }
        }
    }

    /// A piece.
    pub fn piece(&self, index: usize) -> &Polytope {
        &self.pieces[index]
    }

    /// How deep a point lies inside, 0 if it is outside: the distance to the nearest piece.
    pub fn depth(&self, point: &Vector3<f64>) -> f64 {
        let mut angle = 0.0;
        let mut nearest = f64::INFINITY;
        for piece in &self.pieces {
            nearest = nearest.min((super::touch::nearest(piece, point).0 - point).norm());
            for i in 2..piece.vertices.len() {
                angle += solid_angle([0, i - 1, i].map(|k| piece.vertices[k] - point));
            }
        }
        // All around is 4π, seen from inside.
        if angle > std::f64::consts::TAU { nearest } else { 0.0 }
    }

    pub(crate) fn size(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.size).fold(0.0, f64::max)
    }

    pub(crate) fn bounds(&self, rotation: &Matrix3<f64>, position: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let root = &self.nodes[0];
        let (middle, half) = (0.5 * (root.low + root.high), 0.5 * (root.high - root.low));
        let extent = rotation.abs() * half;
        let centre = position + rotation * middle;
        [centre - extent, centre + extent]
    }
}

/// The angle in space under which a triangle is seen from the origin (van Oosterom and Strackee 1983), positive from behind.
fn solid_angle([a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let (x, y, z) = (a.norm(), b.norm(), c.norm());
    let below = x * y * z + a.dot(&b) * z + a.dot(&c) * y + b.dot(&c) * x;
    2.0 * libm::atan2(a.dot(&b.cross(&c)), below)
}

/// Convex pieces of the flat parts of a surface: rings of corners, counterclockwise seen from outside.
fn flat_pieces(triangles: &[[Vector3<f64>; 3]]) -> Vec<Vec<Vector3<f64>>> {
    let mut number: BTreeMap<Bits, usize> = BTreeMap::new();
    let mut points: Vec<Vector3<f64>> = Vec::new();
    let rings: Vec<[usize; 3]> = triangles
        .iter()
        .map(|triangle| {
            triangle.map(|corner| {
                *number.entry(bits(&corner)).or_insert_with(|| {
                    points.push(corner);
                    points.len() - 1
                })
            })
        })
        .collect();
    let level = LEVEL * points.iter().map(|point| point.norm()).fold(0.0, f64::max);
    let of_side: BTreeMap<(usize, usize), usize> = (0..rings.len())
        .flat_map(|index| sides_of(rings[index]).map(|side| (side, index)))
        .collect();
    let area = |index: usize| {
        let [a, b, c] = triangles[index];
        (b - a).cross(&(c - a))
    };
    // Large triangles have the better normals.
    let mut order: Vec<usize> = (0..rings.len()).collect();
    order.sort_by(|&a, &b| {
        area(b)
            .norm_squared()
            .total_cmp(&area(a).norm_squared())
            .then(a.cmp(&b))
    });
    let mut taken = vec![false; rings.len()];
    let mut found = Vec::new();
    for &seed in &order {
        if taken[seed] {
            continue;
        }
        taken[seed] = true;
        let normal = area(seed).normalize();
        let offset = normal.dot(&triangles[seed][0]);
        let mut flat = vec![seed];
        let mut at = 0;
        while at < flat.len() {
            for (a, b) in sides_of(rings[flat[at]]) {
                let Some(&other) = of_side.get(&(b, a)).filter(|&&other| !taken[other]) else {
                    continue;
                };
                let level = triangles[other].iter().all(|p| (normal.dot(p) - offset).abs() <= level);
                if level && area(other).normalize().dot(&normal) > 0.9 {
                    taken[other] = true;
                    flat.push(other);
                }
            }
            at += 1;
        }
        let plate = Plate {
            points: &points,
            normal,
            level,
        };
        let whole = flat.iter().flat_map(|&member| sides_of(rings[member])).collect();
        match plate.convex(whole) {
            Some(ring) => found.push(ring),
            None => found.extend(plate.joined(flat.iter().map(|&member| rings[member]).collect())),
        }
    }
    found
        .into_iter()
        .map(|ring| ring.into_iter().map(|i| points[i]).collect())
        .collect()
}

/// Polygons in one plane.
struct Plate<'a> {
    points: &'a [Vector3<f64>],
    normal: Vector3<f64>,
    level: f64,
}

impl Plate<'_> {
    /// The corners around polygons with these sides, if that is one convex ring.
    fn convex(&self, sides: Vec<(usize, usize)>) -> Option<Vec<usize>> {
        let all: BTreeSet<(usize, usize)> = sides.iter().copied().collect();
        let mut next = BTreeMap::new();
        let mut count = 0;
        for (a, b) in sides {
            if !all.contains(&(b, a)) {
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
        if at != start || ring.len() != count {
            return None;
        }
        // Corners in the middle of a side are none. Each is seen from the corner that was kept before it.
        let mut corners: Vec<usize> = Vec::new();
        let mut turn = 0.0;
        for i in 0..ring.len() {
            let before = *corners.last().unwrap_or(&ring[(i + ring.len() - 1) % ring.len()]);
            let [p, q, r] = [before, ring[i], ring[(i + 1) % ring.len()]].map(|k| self.points[k]);
            let (u, v) = (q - p, r - q);
            let bend = u.cross(&v).dot(&self.normal);
            let height = bend / (r - p).norm().max(u.norm()).max(v.norm());
            if height < -self.level {
                return None;
            }
            if height > self.level {
                corners.push(ring[i]);
            }
            turn += libm::atan2(bend, u.dot(&v));
        }
        // Once around, and not twice.
        (corners.len() >= 3 && turn < 1.5 * std::f64::consts::TAU).then_some(corners)
    }

    /// Triangles joined across their sides, longest first, as long as what they make is convex.
    fn joined(&self, triangles: Vec<[usize; 3]>) -> Vec<Vec<usize>> {
        let mut home: Vec<usize> = (0..triangles.len()).collect();
        let mut parts: Vec<Vec<(usize, usize)>> = triangles.iter().map(|&t| sides_of(t).to_vec()).collect();
        let of_side: BTreeMap<(usize, usize), usize> = (0..triangles.len())
            .flat_map(|index| sides_of(triangles[index]).map(|side| (side, index)))
            .collect();
        let length = |&(a, b): &(usize, usize)| (self.points[b] - self.points[a]).norm_squared();
        let mut inner: Vec<(usize, usize)> = of_side
            .keys()
            .copied()
            .filter(|&(a, b)| a < b && of_side.contains_key(&(b, a)))
            .collect();
        inner.sort_by(|one, other| length(other).total_cmp(&length(one)).then(one.cmp(other)));
        loop {
            let before = inner.len();
            inner.retain(|&(a, b)| {
                let [one, other] = [of_side[&(a, b)], of_side[&(b, a)]].map(|index| home[index]);
                if one == other {
                    return false;
                }
                let both: Vec<(usize, usize)> = parts[one].iter().chain(&parts[other]).copied().collect();
                if self.convex(both.clone()).is_none() {
                    return true;
                }
                let all: BTreeSet<(usize, usize)> = both.iter().copied().collect();
                parts[one] = both.into_iter().filter(|&(a, b)| !all.contains(&(b, a))).collect();
                parts[other].clear();
                home.iter_mut()
                    .filter(|place| **place == other)
                    .for_each(|place| *place = one);
                false
            });
            if inner.len() == before {
                break;
            }
        }
        // A triangle thinner than what counts as level has no convex ring of its own, and little to touch.
        parts
            .into_iter()
            .filter(|sides| !sides.is_empty())
            .filter_map(|sides| self.convex(sides))
            .collect()
    }
}

/// Adds the tree over these boxes, in the order in which it is walked.
fn grow(boxes: &[[Vector3<f64>; 2]], order: &mut [usize], nodes: &mut Vec<Node>) {
    let mut low = Vector3::repeat(f64::INFINITY);
    let mut high = -low;
    for &index in order.iter() {
        (low, high) = (low.inf(&boxes[index][0]), high.sup(&boxes[index][1]));
    }
    let place = nodes.len();
    nodes.push(Node {
        low,
        high,
        leaf: (order.len() == 1).then(|| order[0]),
        skip: 0,
    });
    if order.len() > 1 {
        let axis = (high - low).imax();
        let middle = |index: usize| boxes[index][0][axis] + boxes[index][1][axis];
        order.sort_by(|&a, &b| middle(a).total_cmp(&middle(b)).then(a.cmp(&b)));
        let (left, right) = order.split_at_mut(order.len() / 2);
        grow(boxes, left, nodes);
        grow(boxes, right, nodes);
    }
    nodes[place].skip = nodes.len();
}
