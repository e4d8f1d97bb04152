//! Triangle meshes of fixed bodies: a tree of boxes to find the triangles near a body, and the files they come from.

use super::polytope::{Polytope, solid_of};
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;

/// Triangles, each with the sides it shares with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    triangles: Vec<Polytope>,
    /// Triangles that have a corner in common with each.
    beside: Vec<Vec<usize>>,
    /// A tree over the triangles: node i has children 2i+1 and 2i+2 where it is no leaf.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// The triangle of a leaf, or the second child; the first child is the next node.
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
    /// A triangle without area.
    Degenerate(usize),
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
            MeshError::Empty => write!(f, "there is no triangle in it"),
            MeshError::Format(what) => write!(f, "it is not an STL file: {what}"),
            MeshError::NotFinite(triangle) => {
                write!(f, "a corner of triangle {} is not a finite number", triangle + 1)
            }
            MeshError::Degenerate(triangle) => write!(f, "triangle {} has no area", triangle + 1),
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

/// Whether triangles close: the first side that does not fit, or normals that point inwards.
///
/// # Errors
/// If there is a hole, or triangles are turned against each other or inwards.
pub fn check_closed(triangles: &[[Vector3<f64>; 3]]) -> Result<(), MeshError> {
    let mut sides: BTreeMap<[[u64; 3]; 2], i32> = BTreeMap::new();
    let bits = |v: &Vector3<f64>| [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
    for triangle in triangles {
        for k in 0..3 {
            let side = [bits(&triangle[k]), bits(&triangle[(k + 1) % 3])];
            *sides.entry(side).or_default() += 1;
        }
    }
    let points = |side: &[[u64; 3]; 2]| side.map(|p| Vector3::from(p.map(f64::from_bits)));
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
    /// A mesh of triangles whose normals point out of the obstacle.
    ///
    /// # Errors
    /// If a triangle has no area.
    pub fn new(triangles: &[[Vector3<f64>; 3]]) -> Result<Self, MeshError> {
        if triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        let mut at: BTreeMap<[u64; 3], Vec<usize>> = BTreeMap::new();
        for (index, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle;
            let area = (b - a).cross(&(c - a)).norm();
            let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
            if area.is_nan() || area <= 1e-12 * longest * longest {
                return Err(MeshError::Degenerate(index));
            }
            for corner in triangle {
                at.entry([corner.x, corner.y, corner.z].map(|x| (x + 0.0).to_bits()))
                    .or_default()
                    .push(index);
            }
        }
        let mut beside = vec![Vec::new(); triangles.len()];
        for sharing in at.values() {
            for &one in sharing {
                beside[one].extend(sharing.iter().copied().filter(|&other| other != one));
            }
        }
        for list in &mut beside {
            list.sort_unstable();
            list.dedup();
        }
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        let mut nodes = Vec::new();
        grow(triangles, &mut order, &mut nodes);
        Ok(Mesh {
            triangles: triangles.iter().map(|t| Polytope::triangle(*t)).collect(),
            beside,
            nodes,
        })
    }

    /// Calls `visit` with every triangle whose box meets this one.
    pub fn near(&self, low: Vector3<f64>, high: Vector3<f64>, visit: &mut dyn FnMut(usize, &Polytope)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let apart = (0..3).any(|i| node.low[i] > high[i] || node.high[i] < low[i]);
            match (apart, node.leaf) {
                (true, _) => at = node.skip,
                (false, Some(triangle)) => {
                    visit(triangle, &self.triangles[triangle]);
                    at = node.skip;
                }
                (false, None) => at += 1,
            }
        }
    }

    /// Triangles that share a corner with one.
    pub(crate) fn neighbours(&self, triangle: usize) -> &[usize] {
        &self.beside[triangle]
    }

    pub(crate) fn size(&self) -> f64 {
        self.triangles.iter().map(|t| t.size).fold(0.0, f64::max)
    }

    pub(crate) fn bounds(&self, rotation: &Matrix3<f64>, position: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let root = &self.nodes[0];
        let (middle, half) = (0.5 * (root.low + root.high), 0.5 * (root.high - root.low));
        let extent = rotation.abs() * half;
        let centre = position + rotation * middle;
        [centre - extent, centre + extent]
    }
}

/// Adds the tree over these triangles, in the order in which it is walked.
fn grow(triangles: &[[Vector3<f64>; 3]], order: &mut [usize], nodes: &mut Vec<Node>) {
    let mut low = Vector3::repeat(f64::INFINITY);
    let mut high = -low;
    for &index in order.iter() {
        for corner in &triangles[index] {
            (low, high) = (low.inf(corner), high.sup(corner));
        }
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
        let middle = |index: usize| triangles[index].iter().map(|corner| corner[axis]).sum::<f64>();
        order.sort_by(|&a, &b| middle(a).total_cmp(&middle(b)).then(a.cmp(&b)));
        let (left, right) = order.split_at_mut(order.len() / 2);
        grow(triangles, left, nodes);
        grow(triangles, right, nodes);
    }
    nodes[place].skip = nodes.len();
}
