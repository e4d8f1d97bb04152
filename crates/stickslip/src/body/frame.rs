//! Where a body is and how it moves.

use crate::math::symmetric_eigenvalues;
use nalgebra::{Matrix3, Vector3};

/// Placement and motion of a rigid body, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Turns vectors of the body's axes into world axes.
    pub rotation: Matrix3<f64>,
    /// The reference point of the body, m.
    pub position: Vector3<f64>,
    /// Velocity of the reference point, m/s.
    pub velocity: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector3<f64>,
}

impl Frame {
    /// The fixed world: no rotation, no motion.
    pub fn ground() -> Self {
        Frame {
            rotation: Matrix3::identity(),
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
        }
    }

    /// World position of a point given in body axes from the reference point.
    #[inline]
    pub fn point_position(&self, body_point: &Vector3<f64>) -> Vector3<f64> {
        self.position + self.rotation * body_point
    }

    /// Velocity of the body's material point that is now at `world_point`.
    #[inline]
    pub fn point_velocity(&self, world_point: &Vector3<f64>) -> Vector3<f64> {
        self.velocity + self.angular_velocity.cross(&(world_point - self.position))
    }
}

/// How a frame changes with one number of the state, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FrameSlope {
    /// Of the reference point.
    pub position: Vector3<f64>,
    /// The rotation vector of its axes.
    pub turn: Vector3<f64>,
    /// Of the velocity of the reference point.
    pub velocity: Vector3<f64>,
    /// Of the angular velocity.
    pub spin: Vector3<f64>,
}

/// The unit vector along world axis `i`.
#[inline]
pub(crate) fn unit(i: usize) -> Vector3<f64> {
    Vector3::from_fn(|k, _| if k == i { 1.0 } else { 0.0 })
}

/// The rotation vector, in world axes, that changing component `i` of a quaternion makes: 2·vec(δq·q*)/|q|².
pub(crate) fn turn_by_component(q: [f64; 4], i: usize) -> Vector3<f64> {
    let [w, x, y, z] = q;
    let vector = Vector3::new(x, y, z);
    let square = w * w + vector.norm_squared();
    let turn = match i {
        0 => -vector,
        _ => w * unit(i - 1) - unit(i - 1).cross(&vector),
    };
    turn * (2.0 / square)
}

/// Rotation matrix of a quaternion (w, x, y, z) of any length but zero.
///
/// The length is divided out, so the stages of an explicit method, which leave the unit sphere by a little, still see a
/// pure rotation.
#[inline]
pub(crate) fn rotation_matrix(q: [f64; 4]) -> Matrix3<f64> {
    let [w, x, y, z] = q;
    let s = 2.0 / (w * w + x * x + y * y + z * z);
    let (xx, yy, zz) = (s * x * x, s * y * y, s * z * z);
    let (xy, xz, yz) = (s * x * y, s * x * z, s * y * z);
    let (wx, wy, wz) = (s * w * x, s * w * y, s * w * z);
    Matrix3::new(
        1.0 - yy - zz,
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - xx - zz,
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - xx - yy,
    )
}

/// The three numbers from `slice[at]` on.
#[inline]
pub(crate) fn vector(slice: &[f64], at: usize) -> Vector3<f64> {
    Vector3::new(slice[at], slice[at + 1], slice[at + 2])
}

/// Symmetric to rounding, finite, with eigenvalues (m, M): smallest and largest.
pub(crate) fn inertia_range(inertia: &Matrix3<f64>) -> Option<(f64, f64)> {
    let size = inertia.amax();
    let finite = inertia.iter().all(|value| value.is_finite());
    if !finite || (inertia - inertia.transpose()).amax() > 1e-9 * size {
        return None;
    }
    let eigenvalues = symmetric_eigenvalues(inertia)?;
    Some((eigenvalues.min(), eigenvalues.max()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turn_about_z_takes_x_to_y_whatever_the_length_of_the_quaternion() {
        let rotation = rotation_matrix([3.0, 0.0, 0.0, 3.0]);
        assert!((rotation * Vector3::x() - Vector3::y()).amax() < 1e-15);
        assert!((rotation * Vector3::y() + Vector3::x()).amax() < 1e-15);
    }

    #[test]
    fn points_of_a_turning_frame() {
        let frame = Frame {
            rotation: rotation_matrix([1.0, 0.0, 0.0, 1.0]),
            position: Vector3::new(1.0, 2.0, 3.0),
            velocity: Vector3::new(0.1, 0.0, 0.0),
            angular_velocity: Vector3::new(0.0, 0.0, 2.0),
        };
        let point = frame.point_position(&Vector3::new(0.5, 0.0, 0.0));
        assert!((point - Vector3::new(1.0, 2.5, 3.0)).amax() < 1e-15);
        // v + ω × r with r = (0, 0.5, 0) and ω = 2 about z
        assert!((frame.point_velocity(&point) - Vector3::new(-0.9, 0.0, 0.0)).amax() < 1e-15);
    }
}
