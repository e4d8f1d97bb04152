//! Shapes of bodies: what they are made of, how heavy they are, and where they touch.

mod closest;
pub mod mesh;
pub mod polytope;
pub mod touch;

use mesh::Mesh;
use nalgebra::{Matrix3, Vector3};
use polytope::Polytope;
use std::sync::Arc;

/// A half space: bodies stay where normal·p ≥ offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal, pointing out.
    pub normal: Vector3<f64>,
    /// m.
    pub offset: f64,
}

/// A shape as contact detection sees it, about the origin; axes of capsules and cylinders are along z.
#[derive(Clone, Debug)]
pub enum Solid {
    /// A half space.
    Plane(Plane),
    /// A sphere of this radius.
    Sphere(f64),
    /// A rod with round ends.
    Capsule {
        /// m.
        radius: f64,
        /// Half the length of its straight part, m.
        half: f64,
    },
    /// A cylinder.
    Cylinder {
        /// m.
        radius: f64,
        /// Half its length, m.
        half: f64,
    },
    /// A box or a hull.
    Polytope(Arc<Polytope>),
    /// Triangles that do not move.
    Mesh(Arc<Mesh>),
}

impl Solid {
    /// Whether it has flat sides only.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self, Solid::Plane(_) | Solid::Polytope(_) | Solid::Mesh(_))
    }

    /// A cylinder of this radius and length.
    pub fn cylinder(radius: f64, length: f64) -> Self {
        Solid::Cylinder {
            radius,
            half: 0.5 * length,
        }
    }

    /// Greatest distance of a point from the origin; endless for a half space.
    pub fn size(&self) -> f64 {
        match self {
            Solid::Plane(_) => f64::INFINITY,
            Solid::Sphere(radius) => *radius,
            Solid::Capsule { radius, half } => radius + half,
            Solid::Cylinder { radius, half } => libm::hypot(*radius, *half),
            Solid::Polytope(polytope) => polytope.size,
            Solid::Mesh(mesh) => mesh.size(),
        }
    }

    /// How far it reaches from the origin in a direction of its axes; endless for what is not convex or bounded.
    pub fn highest(&self, direction: &Vector3<f64>) -> f64 {
        match self {
            Solid::Plane(_) | Solid::Mesh(_) => f64::INFINITY,
            Solid::Sphere(radius) => *radius,
            Solid::Capsule { radius, half } => half * direction.z.abs() + radius,
            Solid::Cylinder { radius, half } => half * direction.z.abs() + radius * direction.xy().norm(),
            Solid::Polytope(polytope) => polytope.highest(direction),
        }
    }

    /// The least thickness: what moves by less in a step cannot pass through.
    pub fn thickness(&self) -> f64 {
        match self {
            Solid::Plane(_) | Solid::Mesh(_) => f64::INFINITY,
            Solid::Sphere(radius) | Solid::Capsule { radius, .. } => 2.0 * radius,
            Solid::Cylinder { radius, half } => 2.0 * radius.min(*half),
            Solid::Polytope(polytope) => {
                let width = |face: &polytope::Face| {
                    let along = |v: &Vector3<f64>| face.normal.dot(v);
                    let lowest = polytope.vertices.iter().map(along).fold(f64::INFINITY, f64::min);
                    face.offset - lowest
                };
                polytope.faces.iter().map(width).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Lowest and highest coordinates of the shape where it is placed.
    pub fn bounds(&self, rotation: &Matrix3<f64>, position: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let extent = match self {
            Solid::Plane(_) => Vector3::repeat(f64::INFINITY),
            Solid::Sphere(radius) => Vector3::repeat(*radius),
            Solid::Capsule { radius, half } => (rotation.column(2) * *half).abs().add_scalar(*radius),
            Solid::Cylinder { radius, half } => {
                let axis = rotation.column(2);
                axis.map(|a| half * a.abs() + radius * (1.0 - a * a).max(0.0).sqrt())
            }
            Solid::Polytope(polytope) => {
                let mut corners = polytope.vertices.iter().map(|v| position + rotation * v);
                let first = corners.next().unwrap_or(*position);
                let (low, high) = corners.fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
                return [low, high];
            }
            Solid::Mesh(mesh) => return mesh.bounds(rotation, position),
        };
        [position - extent, position + extent]
    }
}

/// A shape where it is.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The shape.
    pub solid: &'a Solid,
    /// Turns vectors of its axes into world axes.
    pub rotation: Matrix3<f64>,
    /// Its origin, m.
    pub position: Vector3<f64>,
}
