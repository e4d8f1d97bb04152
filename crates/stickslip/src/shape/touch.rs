//! Where two shapes touch, or may soon: points with their gaps, normals and identities.
//!
//! Gaps are exact to rounding and points stay where they are while the bodies rest, so that what rests stays at rest: corners of a polytope
//! against a face of another, clipped to it; two points of what touches along a line; a ring of points of a cylinder on its end. A point is known
//! by the features that make it (`feature`), which do not change while the bodies move little.
//!
//! What holds a pair is found by kinds of shapes; that none is missed does not rest on it (`Near::complete`): of every pair within reach there is a point
//! whose gap is the signed distance of the two, and points that would come nearest if one turned about it.

use super::closest::{Closest, Convex, Core, after_turning, apart_along, closest};
use super::mesh::Mesh;
use super::polytope::{Face, Polytope};
use super::{Placed, Solid};
use nalgebra::{Matrix3, Vector3};

/// A point where two bodies touch, or come close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which features make it: the same number while the same features touch.
    pub feature: u32,
    /// Distance; negative where the bodies overlap.
    pub gap: f64,
    /// Unit normal, from the second body to the first.
    pub normal: Vector3<f64>,
    /// The touching point.
    pub point: Vector3<f64>,
    /// Whether a corner of one body touches a face of the other: the same points touch in the next step.
    pub corner: bool,
    /// Whether it is only where an outline cuts what touches: between other points it carries nothing.
    pub cut: bool,
    /// Whether an edge or something round is met, whose normal changes from place to place, and not a face.
    pub edge: bool,
}

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Points on the rim of a cylinder that stands on its end: cosine and sine of their angles.
const RING: [[f64; 2]; 8] = [
    [1.0, 0.0],
    [HALF, HALF],
    [0.0, 1.0],
    [-HALF, HALF],
    [-1.0, 0.0],
    [-HALF, -HALF],
    [0.0, -1.0],
    [HALF, -HALF],
];
/// A face is preferred to an edge, and the face of the second body to that of the first, if it is deeper by no more than this part of
/// the size: what lies flat shall not change its mind.
const PREFERENCE: f64 = 1e-4;
/// Points closer to the outline of a face than this part of the size are inside.
const INSIDE: f64 = 1e-9;
/// Surfaces that are level with each other by this part of the size are one: what slides from one to the other does not feel the edge.
pub const FLUSH: f64 = 2e-6;
/// Normals whose cosine is less than 1 by no more than this are the same: 1.4 mrad.
const ALIKE: f64 = 1e-6;
/// Sine of the angle below which lines are parallel, and cylinders stand upright.
const PARALLEL: f64 = 1e-6;
/// Gaps that differ by less than this part of the size are the same.
const SAME: f64 = 1e-9;
/// Overlaps below this part of the size are as deep along any direction in which the bodies touch.
const GRAZING: f64 = 1e-7;
/// Features of the nearest points of two bodies, and of those that come nearest when one turns.
const NEAREST: u32 = 1 << 17;
/// Axes about which a body is turned to see what comes nearest then.
const AXES: u32 = 6;
/// Least and greatest angle that it is turned by.
const TURNS: [f64; 2] = [1e-4, 0.2];
/// Points closer together than this part of the size hold like one.
const APART: f64 = 1e-3;
/// Points with which no turn lets others come through: of a line, and of a face.
const LINE: usize = 2;
const FLAT: usize = 3;

/// Points that were found, and room to find them in.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    /// The points.
    pub found: Vec<Touch>,
    clipping: Clipping,
    edges: Vec<Touch>,
    pieces: Vec<usize>,
}

/// Room to clip a face to the outline of another: corners with the line that leads on from each and whether the body has them, and points that were kept.
#[derive(Clone, Debug, Default)]
struct Clipping {
    ring: Vec<(Vector3<f64>, u32, bool)>,
    next: Vec<(Vector3<f64>, u32, bool)>,
    kept: Vec<Vector3<f64>>,
}

/// Finds the points where two bodies are closer than `reach`. `lean` is the direction in which the first tends to tip: a cylinder on its end has a
/// point of its rim there.
pub fn touches(first: &Placed<'_>, second: &Placed<'_>, reach: f64, lean: &Vector3<f64>, to: &mut Touches) {
    if rank(first.solid) < rank(second.solid) {
        let from = to.found.len();
        touches(second, first, reach, &-lean, to);
        for touch in &mut to.found[from..] {
            touch.normal = -touch.normal;
        }
        return;
    }
    let Touches {
        found: out,
        clipping,
        edges,
        pieces,
    } = to;
    // In the axes of the second body, about its position: differences of near numbers.
    let turn = second.rotation.tr_mul(&first.rotation);
    let shift = second.rotation.tr_mul(&(first.position - second.position));
    let from = out.len();
    let mut room = Near {
        reach,
        lean: second.rotation.tr_mul(lean),
        out,
        clipping,
        edges,
        pieces,
    };
    let own = Seat { turn, shift };
    match (first.solid, second.solid) {
        (Solid::Polytope(a), Solid::Polytope(b)) => {
            if let Some(apart) = room.polytopes(a, &own, b) {
                let pair = [own.with(Core::Polytope(a), 0.0), second_core(Core::Polytope(b), 0.0)];
                room.complete(from, &pair, Some(apart), FLAT);
            }
        }
        (Solid::Polytope(a), Solid::Plane(plane)) => room.polytope_plane(a, &own, plane),
        (Solid::Sphere(r), other) => room.sphere(*r, &shift, other),
        (Solid::Capsule { radius, half }, other) => {
            let reach = own.turn.column(2) * *half;
            let apart = room.capsule(*radius, [shift - reach, shift + reach], other);
            if let Some(other) = convex(other) {
                room.complete(from, &[own.with(Core::Rod(*half), *radius), other], apart, LINE);
            }
        }
        (Solid::Cylinder { radius, half }, other) => {
            let apart = room.cylinder((*radius, *half), &own, other);
            if let Some(other) = convex(other) {
                let pair = [own.with(Core::Cylinder(*radius, *half), 0.0), other];
                // On its side it touches along a line.
                let axis = own.turn.column(2);
                let side = |touch: &Touch| touch.normal.dot(&axis).abs() < 0.5;
                let enough = if room.out[from..].iter().all(side) { LINE } else { FLAT };
                room.complete(from, &pair, apart, enough);
            }
        }
        // Fixed bodies do not meet.
        (Solid::Plane(_) | Solid::Mesh(_), _) => (),
        (Solid::Polytope(a), Solid::Mesh(mesh)) => {
            let extent = bounds(a, &own);
            room.on_pieces(mesh, extent, &mut |room, piece| room.piece(a, &own, piece));
        }
        (Solid::Polytope(_), Solid::Sphere(_) | Solid::Capsule { .. } | Solid::Cylinder { .. }) => (),
    }
    for touch in &mut out[from..] {
        touch.point = second.position + second.rotation * touch.point;
        touch.normal = second.rotation * touch.normal;
    }
}

impl Touch {
    /// Whether a point on something level with the plane that this one is on can only be an edge that the body does not feel. `highest` is how far that reaches along this normal.
    pub fn hides(&self, other: &Touch, highest: f64, size: f64) -> bool {
        let level = self.normal.dot(&self.point) - self.gap;
        other.is_apart(&self.normal, &other.normal) && (highest - level).abs() <= FLUSH * size
    }
}

impl Touch {
    /// Whether its normal, turned as the other one is, is another one. That of an edge is, however near; those of two faces may be written with rounding.
    pub fn is_apart(&self, other: &Vector3<f64>, own: &Vector3<f64>) -> bool {
        if self.edge {
            own.cross(other).norm() > INSIDE
        } else {
            differ(own, other)
        }
    }
}

/// Whether unit normals are not the same.
fn differ(one: &Vector3<f64>, other: &Vector3<f64>) -> bool {
    one.dot(other) < 1.0 - ALIKE
}

/// Makes one of points that are at the same place with the same normal, and forgets those that an outline cuts out between others on the same plane, from `from` on. What is level to `near` is
/// the same.
pub fn merge<T>(found: &mut Vec<T>, from: usize, near: f64, touch: impl Fn(&T) -> &Touch) {
    let mut i = from;
    while i < found.len() {
        let this = touch(&found[i]);
        let others = || (from..found.len()).filter(|&k| k != i).map(|k| (k, touch(&found[k])));
        // Of the same points a corner is kept, and what is cut is not.
        let rank = |touch: &Touch, k: usize| (!touch.corner, touch.cut, touch.edge, k);
        let double = others().any(|(k, other)| {
            !differ(&other.normal, &this.normal)
                && (other.point - this.point).norm() <= near
                && rank(other, k) < rank(this, i)
        });
        if double || this.cut && is_between(this, others().map(|(_, other)| other), near) {
            found.remove(i);
        } else {
            i += 1;
        }
    }
}

/// Whether a point is carried by others with the same normal: between two of them, or in a triangle of them, and no deeper.
fn is_between<'a>(this: &Touch, others: impl Iterator<Item = &'a Touch> + Clone, near: f64) -> bool {
    let level = |touch: &Touch| touch.normal.dot(&touch.point) - touch.gap;
    let alike =
        others.filter(|other| !differ(&other.normal, &this.normal) && (level(other) - level(this)).abs() <= near);
    let flat = |touch: &Touch| {
        let from = touch.point - this.point;
        from - from.dot(&this.normal) * this.normal
    };
    for one in alike.clone() {
        let a = flat(one);
        for other in alike.clone() {
            let b = flat(other);
            let length = (b - a).norm();
            if length <= near {
                continue;
            }
            let part = -a.dot(&(b - a)) / (length * length);
            let side = |p: &Vector3<f64>| this.normal.dot(&(b - a).cross(&(p - a))) / length;
            let off = side(&Vector3::zeros());
            if off.abs() <= near {
                let gap = one.gap + part * (other.gap - one.gap);
                if (0.0..=1.0).contains(&part) && this.gap >= gap - near {
                    return true;
                }
            } else if off > 0.0 {
                // Inside of a triangle whose third corner lies on the same side.
                for third in alike.clone() {
                    let c = flat(third);
                    let turn = |p: &Vector3<f64>, q: &Vector3<f64>| this.normal.dot(&p.cross(q));
                    let parts = [turn(&b, &c), turn(&c, &a), turn(&a, &b)];
                    let sum: f64 = parts.iter().sum();
                    if parts.iter().all(|part| *part > 0.0) && sum > near * length {
                        let gap = (parts[0] * one.gap + parts[1] * other.gap + parts[2] * third.gap) / sum;
                        if this.gap >= gap - near {
                            return true;
                        }
                    }
                }
            }
        }
    }
    false
}

/// The order in which a pair is looked at: the first has the higher rank.
fn rank(solid: &Solid) -> u32 {
    match solid {
        Solid::Plane(_) => 0,
        Solid::Mesh(_) => 1,
        Solid::Polytope(_) => 2,
        Solid::Cylinder { .. } => 3,
        Solid::Capsule { .. } => 4,
        Solid::Sphere(_) => 5,
    }
}

/// The first body in the axes of the second.
struct Seat {
    turn: Matrix3<f64>,
    shift: Vector3<f64>,
}

impl Seat {
    fn with<'a>(&self, core: Core<'a>, radius: f64) -> Convex<'a> {
        Convex {
            core,
            radius,
            turn: self.turn,
            shift: self.shift,
        }
    }

    fn at(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.turn * point + self.shift
    }
}

/// The second body of a pair, in its own axes.
fn second_core(core: Core<'_>, radius: f64) -> Convex<'_> {
    Convex {
        core,
        radius,
        turn: Matrix3::identity(),
        shift: Vector3::zeros(),
    }
}

/// The second body of a pair, if it is convex and has an end.
fn convex(solid: &Solid) -> Option<Convex<'_>> {
    match solid {
        Solid::Plane(_) | Solid::Mesh(_) => None,
        Solid::Sphere(radius) => Some(second_core(Core::Point, *radius)),
        Solid::Capsule { radius, half } => Some(second_core(Core::Rod(*half), *radius)),
        Solid::Cylinder { radius, half } => Some(second_core(Core::Cylinder(*radius, *half), 0.0)),
        Solid::Polytope(polytope) => Some(second_core(Core::Polytope(polytope), 0.0)),
    }
}

/// A rotation by an angle about a unit vector (Rodrigues).
fn turn_about(axis: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    let cross = axis.cross_matrix();
    Matrix3::identity() + libm::sin(angle) * cross + (1.0 - libm::cos(angle)) * (cross * cross)
}

fn bounds(polytope: &Polytope, seat: &Seat) -> (Vector3<f64>, Vector3<f64>) {
    let mut corners = polytope.vertices.iter().map(|vertex| seat.at(vertex));
    let first = corners.next().unwrap_or_default();
    corners.fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)))
}

/// Where a polytope begins and ends in a direction.
fn extent(polytope: &Polytope, direction: &Vector3<f64>) -> [f64; 2] {
    let along = polytope.vertices.iter().map(|vertex| direction.dot(vertex));
    along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
        [low.min(x), high.max(x)]
    })
}

/// The nearest point of a segment, as the part of it.
fn on_segment([a, b]: &[Vector3<f64>; 2], point: &Vector3<f64>) -> f64 {
    let along = b - a;
    let square = along.norm_squared();
    if square == 0.0 {
        return 0.0;
    }
    ((point - a).dot(&along) / square).clamp(0.0, 1.0)
}

/// The nearest points of two segments, as parts of them.
fn between_segments(one: &[Vector3<f64>; 2], other: &[Vector3<f64>; 2]) -> [f64; 2] {
    let (d, e, r) = (one[1] - one[0], other[1] - other[0], one[0] - other[0]);
    let (a, b, c) = (d.norm_squared(), d.dot(&e), e.norm_squared());
    let determinant = a * c - b * b;
    if determinant > PARALLEL * PARALLEL * a * c {
        let mut s = ((b * e.dot(&r) - c * d.dot(&r)) / determinant).clamp(0.0, 1.0);
        let t = on_segment(other, &(one[0] + s * d));
        s = on_segment(one, &(other[0] + t * e));
        return [s, on_segment(other, &(one[0] + s * d))];
    }
    // An end of one of them is as near as any point.
    let ends = [
        [0.0, on_segment(other, &one[0])],
        [1.0, on_segment(other, &one[1])],
        [on_segment(one, &other[0]), 0.0],
        [on_segment(one, &other[1]), 1.0],
    ];
    let square = |[s, t]: [f64; 2]| (r + s * d - t * e).norm_squared();
    let nearer = |best: [f64; 2], one: [f64; 2]| if square(one) < square(best) { one } else { best };
    ends.into_iter().fold(ends[0], nearer)
}

/// Whether a segment runs through a polytope.
fn crosses(polytope: &Polytope, [a, b]: &[Vector3<f64>; 2]) -> bool {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for face in &polytope.faces {
        let [from, to] = [a, b].map(|p| face.normal.dot(p) - face.offset);
        if from > 0.0 && to > 0.0 {
            return false;
        }
        if from > 0.0 {
            low = low.max(from / (from - to));
        } else if to > 0.0 {
            high = high.min(from / (from - to));
        }
    }
    low <= high
}

/// The part of a segment that lies within the outline of a face, and which of its sides cut it (none where it ends by itself).
fn within(polytope: &Polytope, face: &Face, [a, b]: &[Vector3<f64>; 2]) -> Option<[(f64, Option<u32>); 2]> {
    let (mut low, mut high) = ((0.0, None), (1.0, None));
    let slack = INSIDE * polytope.size;
    for (side, (corner, outward)) in sides(polytope, face).enumerate() {
        let [da, db] = [a, b].map(|p| outward.dot(&(p - corner)));
        if da <= slack && db <= slack {
            continue;
        }
        if da > slack && db > slack {
            return None;
        }
        let part = da / (da - db);
        if da > slack && part > low.0 {
            low = (part, Some(side as u32));
        } else if db > slack && part < high.0 {
            high = (part, Some(side as u32));
        }
    }
    (low.0 <= high.0).then_some([low, high])
}

/// The sides of a face: a corner and the outward direction of each, in its plane.
fn sides<'a>(polytope: &'a Polytope, face: &'a Face) -> impl Iterator<Item = (Vector3<f64>, Vector3<f64>)> + 'a {
    (0..face.ring.len()).map(|i| {
        let corner = polytope.vertices[face.ring[i] as usize];
        let next = polytope.vertices[face.ring[(i + 1) % face.ring.len()] as usize];
        (corner, (next - corner).cross(&face.normal).normalize())
    })
}

/// The nearest point of a polytope to a point outside, and the face if it lies inside one; where the point is inside, the nearest face.
pub(super) fn nearest(polytope: &Polytope, point: &Vector3<f64>) -> (Vector3<f64>, Option<usize>) {
    let height = |face: &Face| face.normal.dot(point) - face.offset;
    let mut best = (f64::INFINITY, *point, None);
    let mut deepest = (f64::NEG_INFINITY, 0);
    for (index, face) in polytope.faces.iter().enumerate() {
        let height = height(face);
        if height > deepest.0 {
            deepest = (height, index);
        }
        if height <= 0.0 {
            continue;
        }
        let mut foot = point - height * face.normal;
        let mut inside = true;
        for (corner, outward) in sides(polytope, face) {
            if outward.dot(&(foot - corner)) > 0.0 {
                inside = false;
            }
        }
        if !inside {
            let ring = &face.ring;
            let mut least = f64::INFINITY;
            for i in 0..ring.len() {
                let edge = [ring[i], ring[(i + 1) % ring.len()]].map(|v| polytope.vertices[v as usize]);
                let on = edge[0] + on_segment(&edge, point) * (edge[1] - edge[0]);
                let square = (on - point).norm_squared();
                if square < least {
                    (least, foot) = (square, on);
                }
            }
        }
        let square = (foot - point).norm_squared();
        if square < best.0 {
            best = (square, foot, inside.then_some(index));
        }
    }
    if best.0 == f64::INFINITY {
        let face = &polytope.faces[deepest.1];
        return (point - deepest.0 * face.normal, Some(deepest.1));
    }
    (best.1, best.2)
}

/// What is found, in the axes of the second body.
struct Near<'a> {
    reach: f64,
    lean: Vector3<f64>,
    out: &'a mut Vec<Touch>,
    clipping: &'a mut Clipping,
    /// Touches of edges of a mesh, and the piece of each touch.
    edges: &'a mut Vec<Touch>,
    pieces: &'a mut Vec<usize>,
}

/// What bounds a flat place on which a cylinder may be.
#[derive(Clone, Copy)]
enum Outline<'a> {
    Endless,
    Face(&'a Polytope, &'a Face),
    /// The end of a cylinder along z about the origin.
    Disc(f64),
}

impl Outline<'_> {
    fn holds(&self, point: &Vector3<f64>) -> bool {
        match self {
            Outline::Endless => true,
            Outline::Face(polytope, face) => within_sides(polytope, face, point),
            Outline::Disc(radius) => libm::hypot(point.x, point.y) <= radius * (1.0 + INSIDE),
        }
    }

    /// Whether it holds all points this far from a point.
    fn holds_disc(&self, middle: &Vector3<f64>, radius: f64) -> bool {
        match self {
            Outline::Endless => true,
            Outline::Face(polytope, face) => {
                sides(polytope, face).all(|(corner, outward)| outward.dot(&(middle - corner)) + radius <= 0.0)
            }
            Outline::Disc(r) => libm::hypot(middle.x, middle.y) + radius <= *r,
        }
    }

    /// The part of a segment that lies within, and which sides cut it.
    fn part(&self, segment: &[Vector3<f64>; 2]) -> Option<[(f64, Option<u32>); 2]> {
        match self {
            Outline::Endless => Some([(0.0, None), (1.0, None)]),
            Outline::Face(polytope, face) => within(polytope, face, segment),
            Outline::Disc(radius) => {
                let along = segment[1] - segment[0];
                let parts = crossings(&segment[0], &along, *radius * (1.0 + INSIDE))?;
                let low = if parts[0] > 0.0 {
                    (parts[0], Some(0))
                } else {
                    (0.0, None)
                };
                let high = if parts[1] < 1.0 {
                    (parts[1], Some(1))
                } else {
                    (1.0, None)
                };
                (low.0 <= high.0).then_some([low, high])
            }
        }
    }
}

/// Where a line crosses a cylinder about z: the parts of it, ascending. A line along z crosses it nowhere or everywhere.
fn crossings(from: &Vector3<f64>, along: &Vector3<f64>, radius: f64) -> Option<[f64; 2]> {
    let (from, along) = (from.xy(), along.xy());
    let (a, b, c) = (
        along.norm_squared(),
        from.dot(&along),
        from.norm_squared() - radius * radius,
    );
    let root = b * b - a * c;
    if a <= 1e-30 * radius * radius {
        return (c <= 0.0).then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    (root >= 0.0).then(|| [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a])
}

/// Whether a point of its plane is within the outline of a face.
fn within_sides(polytope: &Polytope, face: &Face, point: &Vector3<f64>) -> bool {
    sides(polytope, face).all(|(corner, outward)| outward.dot(&(point - corner)) <= INSIDE * polytope.size)
}

/// A number of 19 bits for a feature on a piece of a mesh; hardly two near each other have the same.
fn numbered(piece: usize, feature: u32) -> u32 {
    ((piece as u32).wrapping_mul(0x9e37_79b1) ^ feature.wrapping_mul(0x85eb_ca6b)) >> 13
}

/// Whether a point lies on a piece of a mesh.
fn is_on(piece: &Polytope, point: &Vector3<f64>) -> bool {
    let face = &piece.faces[0];
    let slack = FLUSH * piece.size;
    (face.normal.dot(point) - face.offset).abs() <= slack
        && sides(piece, face).all(|(corner, outward)| outward.dot(&(point - corner)) <= slack)
}

impl Near<'_> {
    fn push(&mut self, feature: u32, gap: f64, normal: Vector3<f64>, point: Vector3<f64>, corner: bool) {
        if gap <= self.reach {
            self.out.push(Touch {
                feature,
                gap,
                normal,
                point,
                corner,
                cut: false,
                edge: false,
            });
        }
    }

    /// Sees to it that the points of a pair, those from `from` on, are enough. `apart` is the distance of the bodies, or less than it where they are
    /// apart, if the search for points has shown it: a point that is no farther is the nearest.
    ///
    /// Two convex bodies that touch have a plane between them, and what touches lies in it. So while they move without turning, their nearest points
    /// alone keep them apart; when they turn, others may come nearest first, and these are the ones that come nearest when one body is turned a
    /// little about the nearest points. They keep their gap along the same normal.
    fn complete(&mut self, from: usize, [a, b]: &[Convex<'_>; 2], apart: Option<f64>, enough: usize) {
        if apart.is_some_and(|apart| apart > self.reach) {
            return;
        }
        let size = a.size().min(b.size());
        let same = SAME * size;
        let least = self.out[from..]
            .iter()
            .min_by(|one, other| one.gap.total_cmp(&other.gap));
        let (gap, normal, about) = match least {
            Some(touch) if apart.is_some_and(|apart| touch.gap <= apart + same) => {
                (touch.gap, touch.normal, touch.point)
            }
            _ => {
                let Closest { gap, normal, cores } = closest(a, b);
                if gap > self.reach {
                    self.out.truncate(from);
                    return;
                }
                // Nothing is deeper than the bodies are, and along the normal of what touches they do not overlap: what seems so belongs to another direction.
                let slack = 2.0 * PREFERENCE * size;
                let mut kept = from;
                for index in from..self.out.len() {
                    let touch = &self.out[index];
                    let own = touch.gap >= gap - slack
                        && apart_along(a, b, &touch.normal) >= gap - slack - (touch.gap - gap).max(0.0);
                    if own {
                        self.out.swap(kept, index);
                        kept += 1;
                    }
                }
                self.out.truncate(kept);
                let point = cores[0] - a.radius * normal;
                if self.out[from..].iter().all(|touch| touch.gap > gap + same) {
                    let before = self.out.len();
                    self.push(NEAREST, gap, normal, point, false);
                    self.mark_edges(before);
                }
                (gap, normal, point)
            }
        };
        if self.out.len() - from >= enough {
            return;
        }
        let angle = ((self.reach - gap) / size).clamp(TURNS[0], TURNS[1]);
        let least = normal.iamin();
        let across = normal.cross(&Vector3::ith(least, 1.0)).normalize();
        let beside = normal.cross(&across);
        for k in 0..AXES {
            // Not along the sides of boxes that lie alike: of a side none of its points comes first.
            let toward = 0.4 + f64::from(k) * std::f64::consts::TAU / f64::from(AXES);
            let axis = libm::cos(toward) * across + libm::sin(toward) * beside;
            let rotation = turn_about(&axis, angle);
            let Some([one, other]) = after_turning(a, b, &normal, &about, &rotation) else {
                continue;
            };
            let between = normal.dot(&(one - other)) - a.radius - b.radius;
            let point = one - a.radius * normal;
            let known = self.out[from..].iter().any(|touch| {
                let from = touch.point - point;
                (from - normal.dot(&from) * normal).norm() < APART * size
            });
            if !known {
                let before = self.out.len();
                self.push(NEAREST + 1 + k, between, normal, point, false);
                self.mark_edges(before);
            }
        }
    }

    /// Marks what was found last, from `before` on, as on an edge.
    fn mark_edges(&mut self, before: usize) {
        for touch in &mut self.out[before..] {
            touch.edge = true;
        }
    }

    /// A point where an outline cuts a line or a face.
    fn push_cut(&mut self, feature: u32, gap: f64, normal: Vector3<f64>, point: Vector3<f64>) {
        let before = self.out.len();
        self.push(feature, gap, normal, point, false);
        if let Some(touch) = self.out.get_mut(before) {
            touch.cut = true;
        }
    }

    /// A body against the pieces of a mesh that are near.
    fn on_pieces(
        &mut self,
        mesh: &Mesh,
        (low, high): (Vector3<f64>, Vector3<f64>),
        touch: &mut dyn FnMut(&mut Self, &Polytope),
    ) {
        let (from, reach) = (self.out.len(), self.reach);
        let size = 0.5 * (high - low).norm();
        self.pieces.clear();
        mesh.near(low.add_scalar(-reach), high.add_scalar(reach), &mut |index, piece| {
            let before = self.out.len();
            touch(self, piece);
            for touch in &mut self.out[before..] {
                // A corner of the body keeps its number from piece to piece; other points are known by the piece, too.
                if !touch.corner || touch.feature >= 1 << 18 {
                    touch.feature = 1 << 19 | numbered(index, touch.feature);
                }
                self.pieces.push(index);
            }
        });
        if self.pieces.first() == self.pieces.last() {
            return;
        }
        // A piece that is level with the plane of another on which the body is cannot be met at its edges.
        let mut i = from;
        while i < self.out.len() {
            let piece = mesh.piece(self.pieces[i - from]);
            let hidden = (from..self.out.len()).any(|k| {
                let face = &self.out[k];
                self.pieces[k - from] != self.pieces[i - from]
                    && face.hides(&self.out[i], piece.highest(&face.normal), size.min(piece.size))
            });
            if hidden {
                self.out.remove(i);
                self.pieces.remove(i - from);
            } else {
                i += 1;
            }
        }
        merge(self.out, from, FLUSH * size, |touch| touch);
    }

    /// A round end, a sphere about `centre`, and a point of the other body.
    fn round(&mut self, feature: u32, centre: &Vector3<f64>, radius: f64, point: &Vector3<f64>, other: f64) {
        let between = centre - point;
        let distance = between.norm();
        let normal = if distance > 0.0 {
            between / distance
        } else {
            Vector3::z()
        };
        let before = self.out.len();
        self.push(
            feature,
            distance - other - radius,
            normal,
            centre - radius * normal,
            false,
        );
        self.mark_edges(before);
    }

    fn sphere(&mut self, radius: f64, centre: &Vector3<f64>, other: &Solid) {
        match other {
            Solid::Plane(plane) => {
                let height = plane.normal.dot(centre) - plane.offset;
                self.push(0, height - radius, plane.normal, centre - radius * plane.normal, false);
            }
            Solid::Sphere(r) => self.round(0, centre, radius, &Vector3::zeros(), *r),
            Solid::Capsule { radius: r, half } => {
                let axis = [-*half * Vector3::z(), *half * Vector3::z()];
                let on = axis[0] + on_segment(&axis, centre) * (axis[1] - axis[0]);
                self.round(0, centre, radius, &on, *r);
            }
            Solid::Polytope(polytope) => {
                let (foot, face) = nearest(polytope, centre);
                match face {
                    Some(face) => {
                        let face = &polytope.faces[face];
                        let height = face.normal.dot(centre) - face.offset;
                        self.push(0, height - radius, face.normal, centre - radius * face.normal, false);
                    }
                    None => self.round(0, centre, radius, &foot, 0.0),
                }
            }
            Solid::Cylinder { radius: r, half } => {
                let flat = Vector3::new(centre.x, centre.y, 0.0);
                let out = flat.norm();
                let side = if out > 0.0 { flat / out } else { Vector3::x() };
                let end = Vector3::z() * centre.z.signum();
                let (beside, above) = (out - r, centre.z.abs() - half);
                if beside > 0.0 && above > 0.0 {
                    self.round(0, centre, radius, &(*r * side + *half * end), 0.0);
                } else if beside > above {
                    self.push(0, beside - radius, side, centre - radius * side, false);
                } else {
                    self.push(0, above - radius, end, centre - radius * end, false);
                }
            }
            Solid::Mesh(mesh) => {
                let from = self.out.len();
                let extent = Vector3::repeat(radius + self.reach);
                self.edges.clear();
                mesh.near(centre - extent, centre + extent, &mut |index, piece| {
                    let face = &piece.faces[0];
                    let height = face.normal.dot(centre) - face.offset;
                    if height < -radius || height - radius > self.reach {
                        return;
                    }
                    let foot = centre - height * face.normal;
                    let inside = within_sides(piece, face, &foot);
                    let before = self.out.len();
                    if inside {
                        self.push(0, height - radius, face.normal, centre - radius * face.normal, false);
                    } else if height > 0.0 {
                        let (foot, _) = nearest(piece, centre);
                        self.round(0, centre, radius, &foot, 0.0);
                    }
                    if let Some(touch) = self.out.get_mut(before) {
                        touch.feature = index as u32;
                        if !inside {
                            self.edges.push(*touch);
                            self.out.truncate(before);
                        }
                    }
                });
                // An edge counts where it is no edge of a face that touches, and once.
                let faces = self.out.len();
                for i in 0..self.edges.len() {
                    let touch = self.edges[i];
                    let met = touch.point - touch.gap * touch.normal;
                    let [flat, edges] = [&self.out[from..faces], &self.out[faces..]];
                    let taken = flat.iter().any(|face| is_on(mesh.piece(face.feature as usize), &met))
                        || edges
                            .iter()
                            .any(|other| (other.point - touch.point).norm() < 1e-6 * radius);
                    if !taken {
                        self.out.push(touch);
                    }
                }
                merge(self.out, from, FLUSH * radius, |touch| touch);
            }
        }
    }

    /// A capsule and another body. How far they are apart, where that is known.
    fn capsule(&mut self, radius: f64, axis: [Vector3<f64>; 2], other: &Solid) -> Option<f64> {
        match other {
            Solid::Capsule { radius: r, half } => {
                let second = [-*half * Vector3::z(), *half * Vector3::z()];
                Some(self.rods(&axis, radius, &second, *r))
            }
            Solid::Polytope(polytope) => self.rod(&axis, radius, polytope),
            Solid::Cylinder { radius: r, half } => {
                self.rod_cylinder(&axis, radius, (*r, *half));
                None
            }
            // A round end touches as a sphere does; so does a whole capsule that lies on a plane, and in a mesh where no edge is under it.
            _ => {
                let first = self.out.len();
                for (end, centre) in axis.iter().enumerate() {
                    let from = self.out.len();
                    self.sphere(radius, centre, other);
                    for touch in &mut self.out[from..] {
                        touch.feature = touch.feature << 1 | end as u32;
                    }
                }
                if let Solid::Mesh(mesh) = other {
                    self.rod_on_edges(&axis, radius, mesh);
                    merge(self.out, first, FLUSH * radius, |touch| touch);
                }
                None
            }
        }
    }

    /// The straight part of a rod across the edges of a mesh. Those between pieces in one plane are forgotten afterwards, as the ends carry there.
    fn rod_on_edges(&mut self, axis: &[Vector3<f64>; 2], radius: f64, mesh: &Mesh) {
        let far = Vector3::repeat(radius + self.reach);
        let (low, high) = (axis[0].inf(&axis[1]) - far, axis[0].sup(&axis[1]) + far);
        mesh.near(low, high, &mut |index, piece| {
            let face = &piece.faces[0];
            for (side, (corner, outward)) in sides(piece, face).enumerate() {
                let next = piece.vertices[face.ring[(side + 1) % face.ring.len()] as usize];
                let [s, t] = between_segments(axis, &[corner, next]);
                let (on, met) = (axis[0] + s * (axis[1] - axis[0]), corner + t * (next - corner));
                let out = on - met;
                // Not the ends of the rod, and only what is outside of the piece and above it.
                let slack = INSIDE * piece.size;
                if s > 0.0 && s < 1.0 && out.dot(&outward) >= -slack && out.dot(&face.normal) > 0.0 {
                    let feature = 1 << 19 | numbered(index, side as u32);
                    let before = self.out.len();
                    self.round(feature, &on, radius, &met, 0.0);
                    for touch in &mut self.out[before..] {
                        touch.cut = true;
                    }
                }
            }
        });
    }

    /// Two rods with round ends, along their axes: one point, or two where they are parallel. How far they are apart.
    fn rods(&mut self, one: &[Vector3<f64>; 2], radius: f64, other: &[Vector3<f64>; 2], r: f64) -> f64 {
        let (d, e) = (one[1] - one[0], other[1] - other[0]);
        let [s, t] = between_segments(one, other);
        let (p, q) = (one[0] + s * d, other[0] + t * e);
        let distance = (p - q).norm();
        let apart = distance - radius - r;
        let parallel = d.cross(&e).norm() <= PARALLEL * d.norm() * e.norm();
        if parallel && d.norm_squared() > 0.0 {
            let mut parts = other.map(|end| on_segment(one, &end));
            parts.sort_by(f64::total_cmp);
            if parts[1] - parts[0] > PARALLEL {
                for (k, part) in parts.into_iter().enumerate() {
                    let centre = one[0] + part * d;
                    let foot = other[0] + on_segment(other, &centre) * e;
                    self.round(k as u32, &centre, radius, &foot, r);
                }
                return apart;
            }
        }
        // Axes that cross part across both, and to either side alike.
        match d.cross(&e).try_normalize(0.0) {
            Some(normal) if distance <= SAME * (radius + r) => {
                self.push(2, apart, normal, p - radius * normal, false);
            }
            _ => self.round(2, &p, radius, &q, r),
        }
        apart
    }

    /// A rod with round ends beside a cylinder, or over an end of it. Other ways in which they touch have one point.
    fn rod_cylinder(&mut self, axis: &[Vector3<f64>; 2], radius: f64, (r, half): (f64, f64)) {
        let along = axis[1] - axis[0];
        let (low, high) = (axis[0].z.min(axis[1].z), axis[0].z.max(axis[1].z));
        if along.xy().norm() <= PARALLEL * along.norm() {
            if low.max(-half) < high.min(half) {
                self.rods(axis, radius, &[-half * Vector3::z(), half * Vector3::z()], r);
            }
            return;
        }
        // The part of the axis that lies over the end.
        let (a, b, c) = (
            along.xy().norm_squared(),
            axis[0].xy().dot(&along.xy()),
            axis[0].xy().norm_squared() - r * r,
        );
        let root = b * b - a * c;
        if root <= 0.0 {
            return;
        }
        let parts = [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a].map(|part| part.clamp(0.0, 1.0));
        if parts[0] >= parts[1] {
            return;
        }
        let normal = Vector3::z() * (low + high).signum();
        for (end, part) in parts.into_iter().enumerate() {
            let centre = axis[0] + part * along;
            let height = normal.dot(&centre) - half;
            if height > 0.0 {
                self.push(4 + end as u32, height - radius, normal, centre - radius * normal, false);
            }
        }
    }

    /// A rod with round ends and a polytope. How far they are apart, unless the axis runs through the polytope.
    fn rod(&mut self, axis: &[Vector3<f64>; 2], radius: f64, polytope: &Polytope) -> Option<f64> {
        let along = axis[1] - axis[0];
        // The face that separates best, and the nearest points.
        let height = |face: &Face| {
            let [a, b] = axis.map(|end| face.normal.dot(&end));
            a.min(b) - face.offset
        };
        let (mut best, mut face) = (f64::NEG_INFINITY, 0);
        for (index, f) in polytope.faces.iter().enumerate() {
            if height(f) > best {
                (best, face) = (height(f), index);
            }
        }
        if best - radius > self.reach {
            return Some(best - radius);
        }
        // The nearest points: of an end and a face, of an end and an edge or a corner, or of the axis and an edge.
        let (mut near, mut foot, mut on_edge) = (f64::INFINITY, (axis[0], axis[0]), None);
        for end in axis {
            let (on, _) = nearest(polytope, end);
            if (end - on).norm() < near {
                (near, foot) = ((end - on).norm(), (*end, on));
            }
        }
        for (index, edge) in polytope.edges.iter().enumerate() {
            let edge = edge.map(|v| polytope.vertices[v as usize]);
            let [s, t] = between_segments(axis, &edge);
            let (p, q) = (axis[0] + s * along, edge[0] + t * (edge[1] - edge[0]));
            if (p - q).norm() <= near * (1.0 + INSIDE) {
                (near, foot, on_edge) = ((p - q).norm(), (p, q), Some(index));
            }
        }
        let flat = &polytope.faces[face];
        let overlap = best <= 0.0 && crosses(polytope, axis);
        if let (true, Some(parts)) = (
            overlap || best + PREFERENCE * polytope.size >= near,
            within(polytope, flat, axis),
        ) {
            for (end, (part, cut)) in parts.into_iter().enumerate() {
                let centre = axis[0] + part * along;
                let gap = flat.normal.dot(&centre) - flat.offset - radius;
                let point = centre - radius * flat.normal;
                match cut {
                    Some(side) => self.push_cut(4 + side, gap, flat.normal, point),
                    None => self.push(end as u32, gap, flat.normal, point, false),
                }
            }
            return (!overlap).then_some(near - radius);
        }
        if overlap {
            return None;
        }
        match on_edge {
            Some(edge) => {
                let edge = polytope.edges[edge].map(|v| polytope.vertices[v as usize]);
                self.rods(axis, radius, &edge, 0.0);
            }
            None => self.round(3, &foot.0, radius, &foot.1, 0.0),
        }
        Some(near - radius)
    }

    fn polytope_plane(&mut self, polytope: &Polytope, seat: &Seat, plane: &super::Plane) {
        for (index, vertex) in polytope.vertices.iter().enumerate() {
            let point = seat.at(vertex);
            let gap = plane.normal.dot(&point) - plane.offset;
            self.push(index as u32, gap, plane.normal, point, true);
        }
    }

    fn piece(&mut self, polytope: &Polytope, seat: &Seat, piece: &Polytope) {
        let face = &piece.faces[0];
        let lowest = polytope
            .vertices
            .iter()
            .map(|vertex| face.normal.dot(&seat.at(vertex)) - face.offset)
            .fold(f64::INFINITY, f64::min);
        // What is far behind has not come through.
        if lowest < -0.5 * polytope.size || lowest > self.reach {
            return;
        }
        let _ = self.polytopes(polytope, seat, piece);
    }

    /// Two polytopes: the axis that separates them best, then the points of the face that it belongs to, or those of two edges. How far they are apart
    /// along the axis: they are no nearer, and where they overlap it is their distance. None where they are out of reach.
    fn polytopes(&mut self, a: &Polytope, seat: &Seat, b: &Polytope) -> Option<f64> {
        let back = seat.turn.transpose();
        let size = a.size.min(b.size);
        let middle = back * (Vector3::zeros() - seat.shift);
        // Faces of the second against corners of the first, and the other way round.
        let (mut second, mut second_face) = (f64::NEG_INFINITY, 0);
        for (index, face) in b.faces.iter().enumerate() {
            let normal = back * face.normal;
            let lowest = a.vertices.iter().map(|v| normal.dot(v)).fold(f64::INFINITY, f64::min);
            let height = lowest + face.normal.dot(&seat.shift) - face.offset;
            if height > second {
                (second, second_face) = (height, index);
            }
            if height > self.reach {
                return None;
            }
        }
        let (mut first, mut first_face) = (f64::NEG_INFINITY, 0);
        for (index, face) in a.faces.iter().enumerate() {
            let normal = seat.turn * face.normal;
            let lowest = b.vertices.iter().map(|v| normal.dot(v)).fold(f64::INFINITY, f64::min);
            let height = lowest + face.normal.dot(&middle) - face.offset;
            if height > first {
                (first, first_face) = (height, index);
            }
            if height > self.reach {
                return None;
            }
        }
        let (mut crossed, mut axis) = (f64::NEG_INFINITY, Vector3::zeros());
        for d in &a.directions {
            let d = seat.turn * d;
            for e in &b.directions {
                let cross = d.cross(e);
                let length = cross.norm();
                if length < 1e-4 {
                    continue;
                }
                // Both ways at once: the same corners end it.
                let normal = cross / length;
                let own = extent(a, &(back * normal));
                let (other, shift) = (extent(b, &normal), normal.dot(&seat.shift));
                for (height, normal) in [
                    (own[0] + shift - other[1], normal),
                    (-own[1] - shift + other[0], -normal),
                ] {
                    if height > crossed {
                        (crossed, axis) = (height, normal);
                    }
                }
            }
        }
        if crossed > self.reach {
            return None;
        }
        let preference = PREFERENCE * size;
        if crossed > first.max(second) + preference {
            self.edges(a, seat, b, &axis);
        } else if first > second + preference {
            let from = self.out.len();
            let other = Seat {
                turn: back,
                shift: middle,
            };
            self.face_points(b, &other, a, first_face, 1 << 19);
            for touch in &mut self.out[from..] {
                touch.point = seat.at(&touch.point);
                touch.normal = -(seat.turn * touch.normal);
            }
        } else {
            let from = self.out.len();
            self.face_points(a, seat, b, second_face, 0);
            if first >= second - preference {
                let own = &a.faces[first_face];
                let normal = seat.turn * own.normal;
                let plane = (normal, own.offset + normal.dot(&seat.shift));
                self.share_normal(from, &b.faces[second_face].normal, plane, first, preference);
            }
        }
        Some(first.max(second).max(crossed))
    }

    /// Where both faces that separate best touch along a common edge, neither is more right than the other: the normal there is the mean of theirs, so that two cards that lean on
    /// each other push each other alike.
    fn share_normal(
        &mut self,
        from: usize,
        normal: &Vector3<f64>,
        (other, offset): (Vector3<f64>, f64),
        apart: f64,
        near: f64,
    ) {
        let mean = normal - other;
        let length = mean.norm();
        // Faces that lie on each other have one normal; edges that lie beside each other have no mean.
        if !(1.0..1.999_999).contains(&length) {
            return;
        }
        for touch in &mut self.out[from..] {
            let beyond = other.dot(&touch.point) - offset;
            if touch.gap <= apart.abs() + near && beyond.abs() <= apart.abs() + near {
                touch.gap = (touch.gap + apart) / length;
                touch.normal = mean / length;
            }
        }
    }

    /// The points of a polytope on a face of another: its opposite face, clipped to the outline. Each point is known by the two lines that meet there.
    fn face_points(&mut self, a: &Polytope, seat: &Seat, b: &Polytope, face: usize, flag: u32) {
        let face = &b.faces[face];
        let down = seat.turn.tr_mul(&face.normal);
        let Some(opposite) = a
            .faces
            .iter()
            .min_by(|one, other| one.normal.dot(&down).total_cmp(&other.normal.dot(&down)))
        else {
            return;
        };
        let mut clipping = std::mem::take(self.clipping);
        let Clipping { ring, next, kept } = &mut clipping;
        ring.clear();
        for (i, &v) in opposite.ring.iter().enumerate() {
            ring.push((seat.at(&a.vertices[v as usize]), i as u32 % 128, true));
        }
        let slack = INSIDE * b.size;
        for (side, (corner, outward)) in sides(b, face).enumerate() {
            let beyond = |p: &Vector3<f64>| outward.dot(&(p - corner));
            next.clear();
            for i in 0..ring.len() {
                let (here, line, own) = ring[i];
                let (there, _, _) = ring[(i + 1) % ring.len()];
                let (h, t) = (beyond(&here), beyond(&there));
                if h <= slack {
                    if t > slack {
                        // Leaves: along the side from here on.
                        next.push((here, line, own));
                        let cut = here + (there - here) * ((h.min(0.0)) / (h.min(0.0) - t));
                        next.push((cut, 128 + side as u32 % 128, false));
                    } else {
                        next.push((here, line, own));
                    }
                } else if t <= slack {
                    let cut = here + (there - here) * (h / (h - t.min(0.0)));
                    next.push((cut, line, false));
                }
            }
            std::mem::swap(ring, next);
        }
        let count = ring.len();
        kept.clear();
        for i in 0..count {
            let (point, line, own) = ring[i];
            let before = ring[(i + count - 1) % count].1;
            let near = |other: &Vector3<f64>| (other - point).norm_squared() <= 1e-14 * b.size * b.size;
            if kept.iter().any(near) {
                continue;
            }
            kept.push(point);
            let gap = face.normal.dot(&point) - face.offset;
            let feature = flag | line.min(before) << 8 | line.max(before);
            match own {
                true => self.push(feature, gap, face.normal, point, true),
                false => self.push_cut(feature, gap, face.normal, point),
            }
        }
        *self.clipping = clipping;
    }

    /// Two edges that cross: those farthest along the axis.
    fn edges(&mut self, a: &Polytope, seat: &Seat, b: &Polytope, axis: &Vector3<f64>) {
        let own = seat.turn.tr_mul(axis);
        let pick = |polytope: &Polytope, along: &Vector3<f64>| {
            let height = |edge: &[u32; 2]| {
                edge.iter()
                    .map(|&v| along.dot(&polytope.vertices[v as usize]))
                    .sum::<f64>()
            };
            (0..polytope.edges.len())
                .max_by(|&one, &other| height(&polytope.edges[one]).total_cmp(&height(&polytope.edges[other])))
        };
        let (Some(one), Some(other)) = (pick(a, &-own), pick(b, axis)) else {
            return;
        };
        let first = a.edges[one].map(|v| seat.at(&a.vertices[v as usize]));
        let second = b.edges[other].map(|v| b.vertices[v as usize]);
        let [s, t] = between_segments(&first, &second);
        let p = first[0] + s * (first[1] - first[0]);
        let q = second[0] + t * (second[1] - second[0]);
        let gap = axis.dot(&(p - q));
        // Where they do not cross, an end of one is nearer to something else.
        if (p - q - gap * axis).norm() <= SAME * a.size.min(b.size) {
            let feature = (1 << 18) | ((one as u32 % 256) << 8) | (other as u32 % 256);
            let before = self.out.len();
            self.push(feature, gap, *axis, p, false);
            self.mark_edges(before);
        }
    }

    /// A cylinder and another body. How far they are apart at least, where that is known.
    fn cylinder(&mut self, (radius, half): (f64, f64), seat: &Seat, other: &Solid) -> Option<f64> {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        match other {
            Solid::Plane(plane) => {
                self.cylinder_on((radius, half), seat, &plane.normal, plane.offset, Outline::Endless);
                None
            }
            Solid::Polytope(polytope) => {
                let apart = self.cylinder_polytope((radius, half), seat, polytope);
                // An overlap may be less deep along a direction that was not looked at.
                (apart >= -GRAZING * (radius + half).min(polytope.size)).then_some(apart)
            }
            Solid::Cylinder { radius: r, half: h } => {
                let one = [seat.shift - half * axis, seat.shift + half * axis];
                let two = [-*h * Vector3::z(), *h * Vector3::z()];
                let [s, t] = between_segments(&one, &two);
                // Side by side, crossed, or end on end. Other ways in which they touch have one point.
                let across = Vector3::new(seat.shift.x, seat.shift.y, 0.0).norm() - radius - r;
                let along = seat.shift.z.abs() - half - h;
                let parallel = seat.turn[(2, 2)].abs() > 1.0 - PARALLEL * PARALLEL;
                let inside = |part: f64| part > 0.0 && part < 1.0;
                let apart = if parallel && across >= along && along < 0.0 || !parallel && inside(s) && inside(t) {
                    self.rods(&one, radius, &two, *r)
                } else {
                    self.cylinder_end((radius, half), seat, (*r, *h))
                };
                // An overlap may be less deep along a direction that was not looked at.
                (apart >= -GRAZING * (radius + half).min(r + h)).then_some(apart)
            }
            Solid::Mesh(mesh) => {
                let extent = axis.map(|a| half * a.abs() + radius * (1.0 - a * a).max(0.0).sqrt());
                self.on_pieces(mesh, (seat.shift - extent, seat.shift + extent), &mut |room, piece| {
                    let face = &piece.faces[0];
                    let lies = face.normal.dot(&axis);
                    let extent = half * lies.abs() + radius * (1.0 - lies * lies).max(0.0).sqrt();
                    let lowest = face.normal.dot(&seat.shift) - face.offset - extent;
                    // What is far behind has not come through.
                    if lowest < -0.5 * libm::hypot(radius, half) || lowest > room.reach {
                        return;
                    }
                    let from = room.out.len();
                    room.cylinder_polytope((radius, half), seat, piece);
                    // Corners are those of the piece, not of the cylinder.
                    for touch in &mut room.out[from..] {
                        touch.cut |= touch.corner;
                        touch.corner = false;
                    }
                });
                None
            }
            Solid::Sphere(_) | Solid::Capsule { .. } => None,
        }
    }

    /// A cylinder and another one of which an end is met: the end that separates better, with what of the first is within its rim. How far they are apart at least.
    fn cylinder_end(&mut self, (radius, half): (f64, f64), seat: &Seat, (r, h): (f64, f64)) -> f64 {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let lies = axis.z;
        let tilt = (1.0 - lies * lies).max(0.0).sqrt();
        let second = seat.shift.z.abs() - h - half * lies.abs() - radius * tilt;
        let first = seat.shift.dot(&axis).abs() - half - h * lies.abs() - r * tilt;
        if first.max(second) > self.reach {
            return first.max(second);
        }
        let from = self.out.len();
        if first > second + PREFERENCE * (radius + half).min(r + h) {
            let back = seat.turn.transpose();
            let other = Seat {
                turn: back,
                shift: back * -seat.shift,
            };
            let lean = self.lean;
            self.lean = back * -lean;
            self.cylinder_on_end((r, h), &other, (radius, half));
            self.lean = lean;
            for touch in &mut self.out[from..] {
                touch.point = seat.at(&touch.point);
                touch.normal = -(seat.turn * touch.normal);
                touch.feature |= 1 << 19;
            }
        } else {
            self.cylinder_on_end((radius, half), seat, (r, h));
        }
        first.max(second)
    }

    /// A cylinder on the end of one along z about the origin.
    fn cylinder_on_end(&mut self, (radius, half): (f64, f64), seat: &Seat, (r, h): (f64, f64)) {
        let up = Vector3::z() * if seat.shift.z < 0.0 { -1.0 } else { 1.0 };
        self.cylinder_on((radius, half), seat, &up, h, Outline::Disc(r));
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let lies = axis.dot(&up);
        if lies.abs() <= 0.9 {
            return;
        }
        // End on end: the rim of the lower one under the upper one, and where the rims cross.
        let out = if lies > 0.0 { -axis } else { axis };
        let end = seat.shift + half * out;
        let from_axis = |point: &Vector3<f64>| {
            let off = point - end;
            (off - off.dot(&axis) * axis).norm()
        };
        let toward = self.lean - self.lean.z * Vector3::z();
        let toward = if toward.norm() > 1e-9 * self.lean.norm() {
            toward.normalize()
        } else {
            Vector3::x()
        };
        let across = up.cross(&toward);
        for (k, [cos, sin]) in RING.into_iter().enumerate() {
            let point = h * up + r * (cos * toward + sin * across);
            if from_axis(&point) < radius * (1.0 - INSIDE) {
                self.push(24 + k as u32, out.dot(&(point - end)), -out, point, false);
            }
        }
        // Circles about the axis and about `end`, in the plane of the lower end.
        let middle = Vector3::new(end.x, end.y, 0.0);
        let distance = middle.norm();
        if distance > (radius - r).abs() && distance < radius + r {
            let along = (distance * distance + r * r - radius * radius) / (2.0 * distance);
            let aside = (r * r - along * along).max(0.0).sqrt();
            let toward = middle / distance;
            for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
                let point = h * up + along * toward + sign * aside * up.cross(&toward);
                self.push(32 + k as u32, out.dot(&(point - end)), -out, point, false);
            }
        }
    }

    /// A cylinder on a plane, or within the outline of a face.
    fn cylinder_on(
        &mut self,
        (radius, half): (f64, f64),
        seat: &Seat,
        normal: &Vector3<f64>,
        offset: f64,
        outline: Outline<'_>,
    ) {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let lies = normal.dot(&axis);
        let flat = normal - lies * axis;
        let tilt = flat.norm();
        let ends = [seat.shift - half * axis, seat.shift + half * axis];
        if tilt > PARALLEL {
            // The lowest points of both rims; between them the cylinder touches along a line.
            let lowest = ends.map(|end| end - flat * (radius / tilt));
            let parts = outline.part(&lowest);
            for (end, (part, cut)) in parts.into_iter().flatten().enumerate() {
                let point = lowest[0] + part * (lowest[1] - lowest[0]);
                // The radius is taken off the height of the axis: no rounding of its direction.
                let height = normal.dot(&(ends[0] + part * (ends[1] - ends[0]))) - offset;
                let gap = height - radius * tilt;
                match cut {
                    Some(side) => self.push_cut(4 + side, gap, *normal, point),
                    None => self.push(end as u32, gap, *normal, point, false),
                }
            }
        }
        if lies.abs() > 0.9 {
            // On its end: a ring, one point of which is where it would tip.
            let end = ends[usize::from(lies < 0.0)];
            let lean = self.lean - self.lean.dot(&axis) * axis;
            let own: Vector3<f64> = seat.turn.column(0).into();
            let toward = if lean.norm() > 1e-9 * self.lean.norm() {
                lean.normalize()
            } else {
                own
            };
            let across = axis.cross(&toward);
            let whole = outline.holds_disc(&end, radius);
            for (k, [cos, sin]) in RING.into_iter().enumerate() {
                let point = end + radius * (cos * toward + sin * across);
                if whole || outline.holds(&point) {
                    self.push(16 + k as u32, normal.dot(&point) - offset, *normal, point, false);
                }
            }
        }
    }

    /// A cylinder and a polytope. How far they are apart at least.
    fn cylinder_polytope(&mut self, (radius, half): (f64, f64), seat: &Seat, polytope: &Polytope) -> f64 {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let size = polytope.size.min(radius + half);
        let (mut flat, mut face) = (f64::NEG_INFINITY, 0);
        for (index, f) in polytope.faces.iter().enumerate() {
            let lies = f.normal.dot(&axis);
            let extent = half * lies.abs() + radius * (1.0 - lies * lies).max(0.0).sqrt();
            let height = f.normal.dot(&seat.shift) - f.offset - extent;
            if height > flat {
                (flat, face) = (height, index);
            }
        }
        let (mut cap, mut end) = (f64::NEG_INFINITY, 1.0);
        for sign in [1.0, -1.0] {
            let lowest = polytope
                .vertices
                .iter()
                .map(|v| sign * axis.dot(&(v - seat.shift)))
                .fold(f64::INFINITY, f64::min);
            if lowest - half > cap {
                (cap, end) = (lowest - half, sign);
            }
        }
        // The side against edges and corners.
        let (mut side, mut out) = (f64::NEG_INFINITY, Vector3::zeros());
        let edges = polytope.directions.iter().map(|e| axis.cross(e));
        let corners = polytope.vertices.iter().map(|v| {
            let from = seat.shift - v;
            from - from.dot(&axis) * axis
        });
        // An axis that meets the face is parted from it by no direction across.
        let f = &polytope.faces[face];
        let lies = f.normal.dot(&axis);
        let foot = seat.shift + (f.offset - f.normal.dot(&seat.shift)) / lies * axis;
        if flat.max(cap) >= -radius && lies.abs() > 0.9 && within_sides(polytope, f, &foot) {
            side = -radius;
        } else {
            for direction in edges.chain(corners) {
                let length = direction.norm();
                if length < PARALLEL {
                    continue;
                }
                let normal = direction / length;
                let ([low, high], at) = (extent(polytope, &normal), normal.dot(&seat.shift));
                for (height, normal) in [(at - radius - high, normal), (low - at - radius, -normal)] {
                    if height > side {
                        (side, out) = (height, normal);
                    }
                }
            }
        }
        let apart = flat.max(cap).max(side);
        if apart > self.reach {
            return apart;
        }
        let preference = PREFERENCE * size;
        if flat + preference >= side.max(cap) {
            let f = &polytope.faces[face];
            self.cylinder_on((radius, half), seat, &f.normal, f.offset, Outline::Face(polytope, f));
            if f.normal.dot(&axis).abs() > 0.9 {
                self.corners_under((radius, half), seat, polytope, -f.normal.dot(&axis).signum());
            }
        } else if cap + preference >= side {
            self.corners_under((radius, half), seat, polytope, end);
        } else {
            self.cylinder_side((radius, half), seat, polytope, &out);
        }
        apart
    }

    /// Corners of a polytope, and where its edges leave the rim, under an end of a cylinder.
    fn corners_under(&mut self, (radius, half): (f64, f64), seat: &Seat, polytope: &Polytope, end: f64) {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let out = end * axis;
        let Some(face) = polytope
            .faces
            .iter()
            .min_by(|one, other| one.normal.dot(&out).total_cmp(&other.normal.dot(&out)))
        else {
            return;
        };
        let flat = |p: &Vector3<f64>| (p - seat.shift) - (p - seat.shift).dot(&axis) * axis;
        for (i, &v) in face.ring.iter().enumerate() {
            let corner = polytope.vertices[v as usize];
            let next = polytope.vertices[face.ring[(i + 1) % face.ring.len()] as usize];
            let gap = |p: &Vector3<f64>| out.dot(&(p - seat.shift)) - half;
            if flat(&corner).norm() <= radius * (1.0 + INSIDE) {
                self.push(64 + v % 64, gap(&corner), -out, corner, true);
            }
            let (from, along) = (flat(&corner), flat(&next) - flat(&corner));
            let (a, b, c) = (
                along.norm_squared(),
                from.dot(&along),
                from.norm_squared() - radius * radius,
            );
            let root = b * b - a * c;
            if a > 0.0 && root > 0.0 {
                for (k, part) in [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a].into_iter().enumerate() {
                    if (INSIDE..=1.0 - INSIDE).contains(&part) {
                        let point = corner + part * (next - corner);
                        self.push_cut(128 + 2 * (i as u32 % 64) + k as u32, gap(&point), -out, point);
                    }
                }
            }
        }
    }

    /// The side of a cylinder and an edge or a corner.
    fn cylinder_side(&mut self, (radius, half): (f64, f64), seat: &Seat, polytope: &Polytope, normal: &Vector3<f64>) {
        let axis: Vector3<f64> = seat.turn.column(2).into();
        let ends = [seat.shift - half * axis, seat.shift + half * axis];
        let along = |v: &Vector3<f64>| normal.dot(v);
        let highest = polytope.vertices.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
        let top = |v: u32| normal.dot(&polytope.vertices[v as usize]) >= highest - INSIDE * polytope.size;
        let before = self.out.len();
        // From the axis to the point itself: differences of near numbers.
        let mut touch = |feature: u32, point: Vector3<f64>, corner: bool| {
            let from = seat.shift - point;
            let out = from - from.dot(&axis) * axis;
            let distance = out.norm();
            if distance > 0.0 && from.dot(&axis).abs() <= half * (1.0 + INSIDE) {
                self.push(feature, distance - radius, out / distance, point, corner);
            }
        };
        match polytope.edges.iter().find(|[a, b]| top(*a) && top(*b)) {
            Some(edge) => {
                let edge = edge.map(|v| polytope.vertices[v as usize]);
                let line = edge[1] - edge[0];
                if line.cross(&axis).norm() <= PARALLEL * line.norm() {
                    let mut parts = ends.map(|end| on_segment(&edge, &end));
                    parts.sort_by(f64::total_cmp);
                    if parts[1] > parts[0] {
                        for (k, part) in parts.into_iter().enumerate() {
                            touch(32 + k as u32, edge[0] + part * line, false);
                        }
                    }
                } else {
                    let [_, t] = between_segments(&ends, &edge);
                    touch(34, edge[0] + t * line, false);
                }
            }
            None => {
                if let Some(v) = (0..polytope.vertices.len() as u32).find(|&v| top(v)) {
                    let corner = polytope.vertices[v as usize];
                    if (corner - seat.shift).dot(&axis).abs() <= half {
                        touch(40 + v % 64, corner, true);
                    }
                }
            }
        }
        self.mark_edges(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_8};
    use std::sync::Arc;

    fn cuboid(x: f64, y: f64, z: f64) -> Solid {
        Solid::Polytope(Arc::new(Polytope::cuboid([x, y, z])))
    }

    fn meet(first: &Solid, at: [f64; 3], turn: [f64; 3], second: &Solid, shift: &Vector3<f64>) -> Vec<Touch> {
        // The whole pair somewhere, turned somehow, and the other way round.
        let world = UnitQuaternion::from_euler_angles(0.3, -0.2, 0.9).to_rotation_matrix();
        let own = UnitQuaternion::from_euler_angles(turn[0], turn[1], turn[2]).to_rotation_matrix();
        let a = Placed {
            solid: first,
            rotation: *(world * own).matrix(),
            position: shift + world * Vector3::from(at),
        };
        let b = Placed {
            solid: second,
            rotation: *world.matrix(),
            position: *shift,
        };
        let (mut found, mut swapped) = (Touches::default(), Touches::default());
        touches(&a, &b, 1e-6, &Vector3::zeros(), &mut found);
        touches(&b, &a, 1e-6, &Vector3::zeros(), &mut swapped);
        let (found, swapped) = (found.found, swapped.found);
        assert_eq!(found.len(), swapped.len());
        for touch in &found {
            let same = |other: &&Touch| (other.point - touch.point).norm() < 1e-12;
            let other = swapped.iter().find(same).expect("the same point");
            assert!((other.normal + touch.normal).norm() < 1e-12);
            // Every point is its own.
            assert_eq!(found.iter().filter(|other| other.feature == touch.feature).count(), 1);
        }
        found
    }

    #[test]
    fn bodies_at_rest_touch_in_the_right_number_of_points_with_gaps_of_rounding() {
        let flat = cuboid(2.0, 2.0, 0.1);
        let brick = cuboid(0.2, 0.2, 0.1);
        let cube = cuboid(0.2, 0.2, 0.2);
        let plane = Solid::Plane(super::super::Plane {
            normal: Vector3::z(),
            offset: 0.05,
        });
        let capsule = Solid::Capsule {
            radius: 0.1,
            half: 0.25,
        };
        let cylinder = Solid::cylinder(0.1, 0.5);
        let sphere = Solid::Sphere(0.1);
        let (lies, half) = ([FRAC_PI_2, 0.0, 0.0], 0.5f64.sqrt());
        let beside = [1.0 + 0.1 * half, 0.0, 0.05 + 0.1 * half];
        let none = [0.0; 3];
        let third = 0.1 / 3f64.sqrt();
        /// What it is, the first body, where, how it is turned, the second, the number of points.
        type Case<'a> = (&'a str, &'a Solid, [f64; 3], [f64; 3], &'a Solid, usize);
        let cases: [Case<'_>; 24] = [
            ("brick on a table", &brick, [0.1, 0.2, 0.1], none, &flat, 4),
            ("brick on a plane", &brick, [0.1, 0.2, 0.1], none, &plane, 4),
            ("brick on a brick", &brick, [0.0, 0.0, 0.1], none, &brick, 4),
            ("brick on a brick, shifted", &brick, [0.01, -0.03, 0.1], none, &brick, 4),
            (
                "brick across a brick",
                &brick,
                [0.0, 0.0, 0.1],
                [0.0, 0.0, FRAC_PI_4],
                &brick,
                8,
            ),
            ("brick over the edge", &brick, [1.05, 0.0, 0.1], none, &flat, 4),
            (
                "cube on an edge",
                &cube,
                [0.0, 0.0, 0.05 + 0.2 * half],
                [FRAC_PI_4, 0.0, 0.0],
                &flat,
                2,
            ),
            ("capsule on a table", &capsule, [0.0, 0.0, 0.15], lies, &flat, 2),
            ("capsule on a plane", &capsule, [0.0, 0.0, 0.15], lies, &plane, 2),
            ("capsule upright", &capsule, [0.0, 0.0, 0.4], none, &flat, 1),
            ("capsule over the end", &capsule, [0.0, 0.9, 0.15], lies, &flat, 2),
            ("capsule along an edge", &capsule, beside, lies, &flat, 2),
            ("capsule along a capsule", &capsule, [0.0, 0.2, 0.1], none, &capsule, 2),
            ("capsule across a capsule", &capsule, [0.2, 0.0, 0.0], lies, &capsule, 1),
            ("cylinder on its side", &cylinder, [0.0, 0.0, 0.15], lies, &flat, 2),
            (
                "cylinder on its side on a plane",
                &cylinder,
                [0.0, 0.0, 0.15],
                lies,
                &plane,
                2,
            ),
            ("cylinder on its end", &cylinder, [0.0, 0.0, 0.3], none, &flat, 8),
            (
                "cylinder on its end on a plane",
                &cylinder,
                [0.0, 0.0, 0.3],
                none,
                &plane,
                8,
            ),
            ("cylinder along an edge", &cylinder, beside, lies, &flat, 2),
            (
                "cylinder along a cylinder",
                &cylinder,
                [0.0, 0.2, 0.1],
                none,
                &cylinder,
                2,
            ),
            (
                "brick on a cylinder",
                &cuboid(0.05, 0.05, 0.1),
                [0.02, 0.0, 0.3],
                none,
                &cylinder,
                4,
            ),
            (
                "sphere on a corner",
                &sphere,
                [0.1 + third, 0.1 + third, 0.05 + third],
                none,
                &brick,
                1,
            ),
            ("sphere on a face", &sphere, [0.05, 0.02, 0.15], none, &brick, 1),
            (
                "sphere on a rim",
                &sphere,
                [0.1 + 0.1 * half, 0.0, 0.25 + 0.1 * half],
                none,
                &cylinder,
                1,
            ),
        ];
        for shift in [Vector3::zeros(), Vector3::new(0.4, -0.7, 0.3)] {
            for (name, first, at, turn, second, count) in &cases {
                let found = meet(first, *at, *turn, second, &shift);
                assert_eq!(found.len(), *count, "{name}: {found:#?}");
                for touch in found {
                    assert!(touch.gap.abs() < 1e-15, "{name}: {touch:?}");
                    assert!((touch.normal.norm() - 1.0).abs() < 1e-14, "{name}: {touch:?}");
                }
            }
        }
    }

    /// A flat surface at this height over squares with corners at whole multiples of `unit`, each of two triangles. `there` says which squares are there.
    fn surface(unit: f64, height: f64, count: i32, there: impl Fn(i32, i32) -> bool) -> Solid {
        let corner = |i: i32, j: i32| Vector3::new(f64::from(i) * unit, f64::from(j) * unit, height);
        let mut triangles = Vec::new();
        for (i, j) in (-count..count).flat_map(|i| (-count..count).map(move |j| (i, j))) {
            if there(i, j) {
                let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                match (i + j) % 2 {
                    0 => triangles.extend([[a, b, c], [a, c, d]]),
                    _ => triangles.extend([[a, b, d], [b, c, d]]),
                }
            }
        }
        Solid::Mesh(Arc::new(Mesh::new(&triangles).unwrap()))
    }

    #[test]
    fn bodies_on_a_mesh_touch_as_on_a_plane() {
        let brick = cuboid(0.21, 0.19, 0.1);
        let cylinder = Solid::cylinder(0.1, 0.5);
        let capsule = Solid::Capsule {
            radius: 0.1,
            half: 0.25,
        };
        let sphere = Solid::Sphere(0.1);
        let lies = [FRAC_PI_2, 0.0, 0.0];
        let whole = surface(0.07, 0.05, 9, |_, _| true);
        // Pieces that make no convex one: an angle, and a frame around a hole.
        let angle = surface(0.07, 0.05, 9, |i, j| i < 4 || j < 3);
        let frame = surface(0.07, 0.05, 9, |i, j| !((4..6).contains(&i) && (4..6).contains(&j)));
        for (name, mesh) in [("whole", &whole), ("angle", &angle), ("frame", &frame)] {
            // On a corner of squares, on a side, and anywhere; inside of all of them.
            for at in [[0.0, 0.0], [0.07, 0.035], [-0.061, 0.013], [0.07 * 1.5, -0.1]] {
                for turn in [0.0, FRAC_PI_4, 0.913] {
                    let on = |height: f64| [at[0], at[1], height];
                    for (what, solid, height, tip, count) in [
                        ("brick", &brick, 0.1, [0.0; 3], 4),
                        ("cylinder on its side", &cylinder, 0.15, lies, 2),
                        ("cylinder on its end", &cylinder, 0.3, [0.0; 3], 8),
                        ("capsule", &capsule, 0.15, lies, 2),
                        ("sphere", &sphere, 0.15, [0.0; 3], 1),
                    ] {
                        let found = meet(solid, on(height), [tip[0], 0.0, turn], mesh, &Vector3::zeros());
                        assert_eq!(found.len(), count, "{what} on {name} at {at:?}, {turn}: {found:#?}");
                        for touch in found {
                            assert!(touch.gap.abs() < 1e-15, "{what} on {name}: {touch:?}");
                        }
                    }
                }
            }
        }
        // Over the end: the end that is still there, and the rim.
        for mesh in [&whole, &angle] {
            let found = meet(
                &capsule,
                [-0.6, 0.013, 0.15],
                [FRAC_PI_2, 0.0, FRAC_PI_2],
                mesh,
                &Vector3::zeros(),
            );
            let mut along: Vec<f64> = local(&found).iter().map(|p| p.x).collect();
            along.sort_by(f64::total_cmp);
            assert!(
                found.len() == 2 && found.iter().all(|touch| touch.gap.abs() < 1e-15),
                "{found:#?}"
            );
            assert!(
                (along[0] + 0.63).abs() < 1e-14 && (along[1] + 0.35).abs() < 1e-14,
                "{along:?}"
            );
        }
        // Over the hole only the rim carries: corners of the hole under the face, and where the brick leaves the surface.
        let found = meet(
            &cuboid(0.1, 0.1, 0.1),
            [0.35, 0.35, 0.1],
            [0.0; 3],
            &frame,
            &Vector3::zeros(),
        );
        assert_eq!(found.len(), 0, "{found:#?}");
        let found = meet(
            &cuboid(0.3, 0.3, 0.1),
            [0.35, 0.35, 0.1],
            [0.0; 3],
            &frame,
            &Vector3::zeros(),
        );
        assert_eq!(found.len(), 4, "{found:#?}");
    }

    #[test]
    fn a_cylinder_touches_the_end_of_another_exactly() {
        let (small, large) = (Solid::cylinder(0.1, 0.4), Solid::cylinder(0.5, 0.2));
        let lies = [FRAC_PI_2, 0.0, 0.0];
        let gaps = |found: &[Touch]| assert!(found.iter().all(|touch| touch.gap.abs() < 1e-15), "{found:#?}");
        // On its side: two points, or where its line leaves the disc, at √(R² − x²).
        let found = meet(&small, [0.17, 0.1, 0.2], lies, &large, &Vector3::zeros());
        assert_eq!(found.len(), 2);
        gaps(&found);
        let found = meet(&small, [0.3, 0.4, 0.2], lies, &large, &Vector3::zeros());
        gaps(&found);
        let mut along: Vec<f64> = local(&found).iter().map(|p| p.y).collect();
        along.sort_by(f64::total_cmp);
        assert!(
            (along[0] - 0.2).abs() < 1e-14 && (along[1] - 0.4).abs() < 1e-9,
            "{along:?}"
        );
        // On its end, in the middle and over the rim: then rims cross, at distances R and r from both axes.
        for (at, turn) in [([0.0, 0.0], 0.0), ([0.3, -0.1], 0.7)] {
            let found = meet(&small, [at[0], at[1], 0.3], [0.0, 0.0, turn], &large, &Vector3::zeros());
            assert_eq!(found.len(), 8, "{found:#?}");
            gaps(&found);
        }
        let found = meet(&small, [0.45, 0.2, 0.3], [0.0, 0.0, 0.3], &large, &Vector3::zeros());
        gaps(&found);
        let crossing = |p: &&Vector3<f64>| {
            let own = libm::hypot(p.x - 0.45, p.y - 0.2);
            (libm::hypot(p.x, p.y) - 0.5).abs() < 1e-14 && (own - 0.1).abs() < 1e-14
        };
        assert_eq!(local(&found).iter().filter(crossing).count(), 2, "{found:#?}");
        // The large one on the small one, and one on its like.
        let found = meet(&large, [0.2, 0.1, 0.3], [0.0; 3], &small, &Vector3::zeros());
        assert_eq!(found.len(), 8);
        gaps(&found);
        let found = meet(&small, [0.0, 0.0, 0.4], [0.0; 3], &small, &Vector3::zeros());
        assert_eq!(found.len(), 8, "{found:#?}");
        gaps(&found);
    }

    /// Points in the axes of the second body of `meet` at the origin.
    fn local(found: &[Touch]) -> Vec<Vector3<f64>> {
        let world = UnitQuaternion::from_euler_angles(0.3, -0.2, 0.9);
        found.iter().map(|touch| world.inverse() * touch.point).collect()
    }

    #[test]
    fn edges_that_cross_touch_in_one_point() {
        let turned = UnitQuaternion::from_euler_angles(0.0, FRAC_PI_4, FRAC_PI_8).to_rotation_matrix();
        let corners: Vec<Vector3<f64>> = Polytope::cuboid([0.2; 3]).vertices.iter().map(|v| turned * v).collect();
        let hull = Solid::Polytope(Arc::new(Polytope::hull(&corners).unwrap()));
        let found = meet(
            &cuboid(0.2, 0.2, 0.2),
            [0.0, 0.0, 0.2 * 2f64.sqrt()],
            [FRAC_PI_4, 0.0, 0.0],
            &hull,
            &Vector3::zeros(),
        );
        assert_eq!(found.len(), 1);
        assert!(found[0].gap.abs() < 1e-15, "{found:?}");
    }
}
