//! Where points of one body touch the surface of another.

use super::port::Attachment;
use crate::body::Frame;
use nalgebra::Vector3;
use stickslip_core::friction::elliptic::Ellipse;
use stickslip_core::scalar::vector::{add, cross, dot, norm, scale, sub};
use stickslip_core::scalar::{Mask, Real};

/// The surface the first body's points touch.
#[derive(Clone, Copy, Debug)]
pub enum Surface {
    /// A plane in the axes of the second body: normal·p = offset.
    Plane {
        /// Unit normal, pointing out of the obstacle.
        normal: Vector3<f64>,
        /// Distance from the body's reference point.
        offset: f64,
    },
    /// A sphere about the second body's reference point.
    Sphere(f64),
}

/// Which points of which body touch which surface.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The touching body.
    pub first: Attachment,
    /// The body that carries the surface.
    pub second: Attachment,
    /// Points of the first body, in its axes.
    pub points: Vec<Vector3<f64>>,
    /// Radius about each point.
    pub radius: f64,
    /// The surface.
    pub surface: Surface,
}

/// Where a point touches.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Distance; negative where the bodies overlap.
    pub gap: f64,
    /// Unit normal, from the second body to the first.
    pub normal: Vector3<f64>,
    /// The touching point of the first body.
    pub point: Vector3<f64>,
}

impl Geometry {
    /// Where point `index` touches.
    #[inline]
    pub fn touch(&self, index: usize, first: &Frame, second: &Frame) -> Touch {
        let centre = first.point_position(&self.points[index]);
        let face = self.face(second);
        let (gap, normal, point) = self.meet(centre.into(), face.into(), second.position.into());
        Touch {
            gap,
            normal: normal.into(),
            point: point.into(),
        }
    }

    /// The normal of a plane in world axes.
    #[inline]
    pub(crate) fn face(&self, second: &Frame) -> Vector3<f64> {
        match self.surface {
            Surface::Plane { normal, .. } => second.rotation * normal,
            Surface::Sphere(_) => Vector3::zeros(),
        }
    }

    /// Gap, normal and touching point for the centre of a point's sphere, the normal of a plane in world axes, and the
    /// reference point of the second body.
    #[inline(always)]
    pub(crate) fn meet<R: Real>(&self, centre: [R; 3], face: [R; 3], second: [R; 3]) -> (R, [R; 3], [R; 3]) {
        let between = sub(centre, second);
        let (normal, distance) = match self.surface {
            Surface::Plane { offset, .. } => (face, dot(face, between) - R::lit(offset)),
            Surface::Sphere(radius) => {
                let length = dot(between, between).sqrt();
                let apart = R::zero().lt(length);
                let whole = R::select(apart, length, R::one());
                let up = [0.0, 0.0, 1.0];
                let normal = std::array::from_fn(|i| R::select(apart, between[i] / whole, R::lit(up[i])));
                (normal, length - R::lit(radius))
            }
        };
        let radius = R::lit(self.radius);
        (distance - radius, normal, sub(centre, scale(normal, radius)))
    }

    /// How fast the contact turns: as the body of a plane does; between spheres as the line of centres, about it as the second.
    #[inline(always)]
    pub(crate) fn spin<R: Real>(&self, normal: [R; 3], gap: R, velocity: [R; 3], spin: [R; 3]) -> [R; 3] {
        match self.surface {
            Surface::Plane { .. } => spin,
            Surface::Sphere(radius) => {
                let distance = gap + R::lit(radius + self.radius);
                let apart = R::zero().lt(distance);
                let turning = scale(cross(normal, velocity), R::one() / R::select(apart, distance, R::one()));
                add(turning, scale(normal, dot(normal, spin)))
            }
        }
    }
}

/// The direction of elliptic friction on one of the bodies.
#[derive(Clone, Copy, Debug)]
pub struct Grain {
    /// The direction in the axes of that body.
    pub direction: Vector3<f64>,
    /// Coefficient across over coefficient along.
    pub across: f64,
    /// Whether it turns with the first body in place of the second.
    pub on_first: bool,
}

impl Grain {
    /// The ellipse in world axes; none where the direction stands on the surface.
    pub(crate) fn along(&self, normal: &Vector3<f64>, first: &Frame, second: &Frame) -> Option<Ellipse<f64>> {
        let frame = if self.on_first { first } else { second };
        let direction = frame.rotation * self.direction;
        self.ellipse(direction.into(), (*normal).into())
    }

    /// The same for a direction and a normal in world axes.
    #[inline(always)]
    pub(crate) fn ellipse<R: Real>(&self, direction: [R; 3], normal: [R; 3]) -> Option<Ellipse<R>> {
        let flat = sub(direction, scale(normal, dot(normal, direction)));
        let length = norm(flat);
        let lies = R::lit(STANDING).lt(length).all();
        lies.then(|| Ellipse {
            direction: scale(flat, R::one() / length),
            across: R::lit(self.across),
        })
    }
}

/// A direction with less than this part of it along the surface stands on it, and has no ellipse there.
const STANDING: f64 = 1e-9;
