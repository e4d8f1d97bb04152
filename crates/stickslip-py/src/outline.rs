//! Outlines of shapes, for pictures that move: points whose hull, seen from a side, is what the side shows.

use std::f64::consts::TAU;
use stickslip::Simulation;
use stickslip::scenario::BodySpec;
use stickslip::scenario::shape::{Shape, ShapePart};

type Point = [f64; 3];

/// A body, where it stands if it never moves (position and quaternion), and the convex parts of its shape in its axes.
pub type Outline = (String, Option<[f64; 7]>, Vec<Vec<Point>>);

/// Points of a circle.
const AROUND: usize = 24;
/// Circles of a ball.
const BELTS: usize = 9;
/// How far a half space is drawn, m.
const FAR: f64 = 1e3;

/// The outlines of all bodies that have shapes.
pub fn outlines(simulation: &Simulation) -> Vec<Outline> {
    let bodies = simulation.scenario().bodies.iter().zip(simulation.bodies());
    let outline = |((name, spec), body): (&(String, BodySpec), _)| match spec {
        BodySpec::RigidBody(rigid) => Some((name.clone(), None, parts(rigid.shape.as_ref()?))),
        BodySpec::Driver(driver) if driver.is_fixed() => {
            let shape = driver.shape.as_ref()?;
            let mut pose = [0.0; 7];
            for (number, value) in pose.iter_mut().zip(simulation.position(body)) {
                *number = *value;
            }
            pose[3..].copy_from_slice(&shape.rotation);
            Some((name.clone(), Some(pose), parts(&shape.shape)))
        }
        _ => None,
    };
    bodies.filter_map(outline).collect()
}

/// The convex parts of a shape; none of meshes, which are hollow.
fn parts(shape: &Shape) -> Vec<Vec<Point>> {
    match shape {
        Shape::Sphere(radius) => vec![ball(*radius, 0.0)],
        Shape::Box(edges) => {
            let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 };
            let corner = |corner| std::array::from_fn(|axis| sign(corner, axis) * edges[axis]);
            vec![(0..8).map(corner).collect()]
        }
        Shape::Capsule { radius, length } => {
            let ends = [-0.5 * length, 0.5 * length];
            vec![ends.iter().flat_map(|z| ball(*radius, *z)).collect()]
        }
        Shape::Cylinder { radius, length } => {
            let ends = [-0.5 * length, 0.5 * length];
            vec![ends.iter().flat_map(|z| circle(*radius, *z)).collect()]
        }
        Shape::Hull(hull) => vec![
            hull.vertices
                .iter()
                .map(|vertex| [vertex.x, vertex.y, vertex.z])
                .collect(),
        ],
        Shape::Plane(plane) => {
            let normal = plane.normal;
            let other = match normal[0].abs() < 0.5 {
                true => [1.0, 0.0, 0.0],
                false => [0.0, 1.0, 0.0],
            };
            let across = cross(normal, other);
            let length = across.iter().map(|part| part * part).sum::<f64>().sqrt();
            let first = across.map(|part| part * FAR / length);
            let second = cross(normal, first);
            let corner = |(a, b): (f64, f64)| {
                std::array::from_fn(|axis| normal[axis] * plane.offset + a * first[axis] + b * second[axis])
            };
            vec![
                [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)]
                    .map(corner)
                    .to_vec(),
            ]
        }
        Shape::Compound(all) => all.iter().flat_map(placed).collect(),
        Shape::Mesh(_) | Shape::Point => Vec::new(),
    }
}

/// Those of a part of a compound, in the axes of the body.
fn placed(part: &ShapePart) -> Vec<Vec<Point>> {
    let [w, x, y, z] = part.rotation;
    let turned = |[a, b, c]: Point| {
        let t = [2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)];
        let turned = [
            a + w * t[0] + y * t[2] - z * t[1],
            b + w * t[1] + z * t[0] - x * t[2],
            c + w * t[2] + x * t[1] - y * t[0],
        ];
        std::array::from_fn(|axis| part.position[axis] + turned[axis])
    };
    let all = parts(&part.shape).into_iter();
    all.map(|points| points.into_iter().map(turned).collect()).collect()
}

fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn circle(radius: f64, z: f64) -> Vec<Point> {
    let point = |i| {
        let angle = TAU * i as f64 / AROUND as f64;
        [radius * angle.cos(), radius * angle.sin(), z]
    };
    (0..AROUND).map(point).collect()
}

fn ball(radius: f64, z: f64) -> Vec<Point> {
    let belt = |i| {
        let angle = 0.5 * TAU * (i as f64 / (BELTS - 1) as f64 - 0.5);
        circle(radius * angle.cos(), z + radius * angle.sin())
    };
    (0..BELTS).flat_map(belt).collect()
}
