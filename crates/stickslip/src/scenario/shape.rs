//! Shapes of bodies as checked data, with their volume and inertia, and what is known of the contacts that the program finds.

use super::spec::{FrictionLawSpec, NormalLawSpec, Plane};
use crate::body::frame::rotation_matrix;
use crate::shape::mesh::Mesh;
use crate::shape::polytope::Polytope;
use crate::shape::{self, Solid};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// The shape of a body or a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Sphere of this radius, m.
    Sphere(f64),
    /// Box with these edge lengths, m.
    Box([f64; 3]),
    /// Rod along z with round ends.
    Capsule {
        /// m.
        radius: f64,
        /// Length of its straight part, m.
        length: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// m.
        radius: f64,
        /// m.
        length: f64,
    },
    /// Convex hull.
    Hull(Arc<Polytope>),
    /// Triangles of a body that does not move.
    Mesh(Arc<Mesh>),
    /// Half space of a body that does not move.
    Plane(Plane),
    /// Several shapes that make one body.
    Compound(Vec<ShapePart>),
    /// A point at the centre of mass.
    Point,
}

/// A part of a compound.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapePart {
    /// Its shape.
    pub shape: Shape,
    /// Where it is in the axes of the body, m.
    pub position: [f64; 3],
    /// How it is turned, unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
}

/// xx, yy, zz, xy, xz, yz of a symmetric matrix.
fn six(m: &Matrix3<f64>) -> [f64; 6] {
    [m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(0, 2)], m[(1, 2)]]
}

fn matrix([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Matrix3<f64> {
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

/// Inertia of a mass at a point about the origin.
fn steiner(mass: f64, at: &Vector3<f64>) -> Matrix3<f64> {
    mass * (Matrix3::identity() * at.norm_squared() - at * at.transpose())
}

impl Shape {
    /// Inertia of a homogeneous solid of this shape about its centre: xx, yy, zz, xy, xz, yz. Parts of a compound overlap where they do.
    pub fn inertia(&self, mass: f64) -> [f64; 6] {
        match self {
            Self::Sphere(radius) => {
                let i = 0.4 * mass * radius * radius;
                [i, i, i, 0.0, 0.0, 0.0]
            }
            Self::Box([x, y, z]) => {
                let about = |a: f64, b: f64| mass * (a * a + b * b) / 12.0;
                [about(*y, *z), about(*x, *z), about(*x, *y), 0.0, 0.0, 0.0]
            }
            Self::Cylinder { radius, length } => {
                let (r, l) = (radius * radius, length * length);
                let across = mass * (3.0 * r + l) / 12.0;
                [across, across, 0.5 * mass * r, 0.0, 0.0, 0.0]
            }
            Self::Capsule { radius, length } => {
                // A cylinder and two halves of a sphere, whose centres are 3/8 of the radius beyond its ends.
                let (r, l) = (*radius, *length);
                let ball = 4.0 / 3.0 * r / (4.0 / 3.0 * r + l);
                let (ends, rod) = (mass * ball, mass * (1.0 - ball));
                let along = rod * 0.5 * r * r + ends * 0.4 * r * r;
                let across = rod * (3.0 * r * r + l * l) / 12.0 + ends * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l);
                [across, across, along, 0.0, 0.0, 0.0]
            }
            Self::Hull(hull) => {
                let (volume, _, inertia) = hull.solid();
                six(&(inertia * (mass / volume)))
            }
            Self::Compound(parts) => {
                let volume = self.volume();
                let centre = self.centre();
                let mut sum = Matrix3::zeros();
                for part in parts {
                    let share = mass * part.shape.volume() / volume;
                    let turn = rotation_matrix(part.rotation);
                    let at = part.centre() - centre;
                    sum += turn * matrix(part.shape.inertia(share)) * turn.transpose() + steiner(share, &at);
                }
                six(&sum)
            }
            Self::Point | Self::Mesh(_) | Self::Plane(_) => [0.0; 6],
        }
    }

    /// m³; 0 where it has none.
    pub fn volume(&self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Sphere(r) => 4.0 / 3.0 * PI * r * r * r,
            Self::Box([x, y, z]) => x * y * z,
            Self::Cylinder { radius, length } => PI * radius * radius * length,
            Self::Capsule { radius, length } => PI * radius * radius * (length + 4.0 / 3.0 * radius),
            Self::Hull(hull) => hull.solid().0,
            Self::Compound(parts) => parts.iter().map(|part| part.shape.volume()).sum(),
            Self::Point | Self::Mesh(_) | Self::Plane(_) => 0.0,
        }
    }

    /// Centre of mass of a homogeneous solid of this shape.
    pub fn centre(&self) -> Vector3<f64> {
        match self {
            Self::Hull(hull) => hull.solid().1,
            Self::Compound(parts) => {
                let weighted = parts.iter().map(|part| part.centre() * part.shape.volume());
                weighted.sum::<Vector3<f64>>() / self.volume()
            }
            _ => Vector3::zeros(),
        }
    }

    /// Whether only bodies that do not move may have it.
    pub fn is_scenery(&self) -> bool {
        match self {
            Self::Mesh(_) | Self::Plane(_) => true,
            Self::Compound(parts) => parts.iter().any(|part| part.shape.is_scenery()),
            _ => false,
        }
    }

    /// Moved so that its centre of mass is the origin.
    pub fn centred(self) -> Self {
        let centre = self.centre();
        if centre == Vector3::zeros() {
            return self;
        }
        match self {
            Self::Hull(hull) => Self::Hull(Arc::new(hull.moved(&-centre))),
            Self::Compound(mut parts) => {
                for part in &mut parts {
                    part.position = (Vector3::from(part.position) - centre).into();
                }
                Self::Compound(parts)
            }
            other => other,
        }
    }

    /// What contact detection sees: solids with place and rotation in the axes of the body.
    pub(crate) fn solids(&self) -> Vec<(Solid, Vector3<f64>, Matrix3<f64>)> {
        let solid = match self {
            Self::Sphere(radius) => Solid::Sphere(*radius),
            Self::Box(edges) => Solid::Polytope(Arc::new(Polytope::cuboid(*edges))),
            Self::Capsule { radius, length } => Solid::Capsule {
                radius: *radius,
                half: 0.5 * length,
            },
            Self::Cylinder { radius, length } => Solid::cylinder(*radius, *length),
            Self::Hull(hull) => Solid::Polytope(hull.clone()),
            Self::Mesh(mesh) => Solid::Mesh(mesh.clone()),
            Self::Plane(plane) => Solid::Plane(shape::Plane {
                normal: Vector3::from(plane.normal),
                offset: plane.offset,
            }),
            Self::Point => return Vec::new(),
            Self::Compound(parts) => {
                return parts
                    .iter()
                    .flat_map(|part| {
                        let turn = rotation_matrix(part.rotation);
                        let at = Vector3::from(part.position);
                        let inner = part.shape.solids().into_iter();
                        inner.map(move |(solid, position, rotation)| (solid, at + turn * position, turn * rotation))
                    })
                    .collect();
            }
        };
        vec![(solid, Vector3::zeros(), Matrix3::identity())]
    }
}

impl ShapePart {
    fn centre(&self) -> Vector3<f64> {
        Vector3::from(self.position) + rotation_matrix(self.rotation) * self.shape.centre()
    }
}

/// The shape of a driver or a fixed body.
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenShape {
    /// The shape.
    pub shape: Shape,
    /// How it is turned, unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Whether the body never moves.
    pub fixed: bool,
    /// How fast its surface runs in its axes, m/s: a conveyor.
    pub surface_velocity: [f64; 3],
}

/// `[contacts]`: contacts that the program finds between shapes.
#[derive(Clone, Debug)]
pub struct ContactsSpec {
    /// Pairs of bodies that may touch; `None` is all.
    pub between: Option<Vec<[String; 2]>>,
    /// Pairs that do not.
    pub except: Vec<[String; 2]>,
    /// Law of the normal force.
    pub normal: NormalLawSpec,
    /// Friction, bounded by the normal force.
    pub friction: Option<FrictionLawSpec>,
    /// Speed at which overlaps are left, m/s.
    pub recovery_speed: Option<f64>,
    /// Materials by name.
    pub materials: Vec<(String, Surface)>,
    /// What pairs of materials do to each other.
    pub pairs: Vec<([String; 2], Surface)>,
    /// The material of each body or link that has one: `table`, `arm.hand`.
    pub of: Vec<(String, String)>,
}

/// Numbers of a surface, or of two that meet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Coefficient of friction.
    pub mu: Option<f64>,
    /// Coefficient of static friction.
    pub mu_static: Option<f64>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Moment arm of the resistance to rolling, m.
    pub rolling: Option<f64>,
    /// Moment arm of the resistance to spinning, m.
    pub spinning: Option<f64>,
}
