//! A free rigid body (the paper on modular simulation, eq 26).
//!
//! The seed does not say in which axes its equation holds. Here velocity and angular velocity are in world axes and
//! Euler's equation is evaluated in body axes, where the inertia is constant. The reference point is the centre of mass.
//! Positions q = (px, py, pz, qw, qx, qy, qz), velocities v = (vx, vy, vz, wx, wy, wz).

use core::fmt;

use nalgebra::{Matrix3, Vector3};
use stickslip_core::scalar::vector::{dot, scale};
use stickslip_core::scalar::{Mask, Real};

use super::Frame;
use super::frame::{inertia_range, rotation_matrix, vector};
use crate::math::sin_cos;

/// Number of position coordinates of a rigid body.
pub const POSITIONS: usize = 7;
/// Number of velocity coordinates of a rigid body.
pub const VELOCITIES: usize = 6;

/// Why a rigid body was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RigidBodyError {
    /// The mass is zero, negative or not a finite number.
    Mass(f64),
    /// The inertia matrix is not symmetric, not finite, or not positive definite (nor zero).
    Inertia,
    /// A radius or side of the shape is zero, negative or not a finite number.
    Shape(f64),
}

impl fmt::Display for RigidBodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mass(mass) => write!(f, "mass must be a positive number, not {mass}"),
            Self::Inertia => write!(
                f,
                "inertia must be symmetric and positive definite (or zero for a point)"
            ),
            Self::Shape(length) => write!(f, "a length of the shape must be a positive number, not {length}"),
        }
    }
}

impl std::error::Error for RigidBodyError {}

/// The solid a body is made of, uniformly filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A ball of this radius, m.
    Sphere(f64),
    /// A box with these side lengths along its axes, m.
    Box([f64; 3]),
    /// A point: it has mass but does not turn.
    Point,
}

impl Shape {
    /// Inertia about the centre of mass in body axes for a body of the given mass.
    pub fn inertia(&self, mass: f64) -> Result<Matrix3<f64>, RigidBodyError> {
        let length = |l: f64| {
            if l > 0.0 && l.is_finite() {
                Ok(l)
            } else {
                Err(RigidBodyError::Shape(l))
            }
        };
        Ok(match *self {
            Shape::Sphere(radius) => {
                let radius = length(radius)?;
                Matrix3::from_diagonal_element(0.4 * mass * radius * radius)
            }
            Shape::Box([x, y, z]) => {
                let (x, y, z) = (length(x)?, length(y)?, length(z)?);
                let twelfth = mass / 12.0;
                Matrix3::from_diagonal(&Vector3::new(
                    twelfth * (y * y + z * z),
                    twelfth * (x * x + z * z),
                    twelfth * (x * x + y * y),
                ))
            }
            Shape::Point => Matrix3::zeros(),
        })
    }
}

/// A free rigid body: mass and inertia about its centre of mass.
#[derive(Clone, Debug)]
pub struct RigidBody {
    mass: f64,
    inverse_mass: f64,
    inertia: Matrix3<f64>,
    inverse_inertia: Matrix3<f64>,
    /// The inertia is the same about every axis (ball, point): no gyroscopic torque, and no turning between axes.
    isotropic: bool,
}

impl RigidBody {
    /// A body of the given mass and inertia (about the centre of mass, in body axes). Zero inertia makes a point, which
    /// does not turn.
    pub fn new(mass: f64, inertia: Matrix3<f64>) -> Result<Self, RigidBodyError> {
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(RigidBodyError::Mass(mass));
        }
        let (smallest, largest) = inertia_range(&inertia).ok_or(RigidBodyError::Inertia)?;
        let inverse_inertia = if largest == 0.0 && smallest == 0.0 {
            Matrix3::zeros()
        } else if smallest > 1e-14 * largest {
            inertia.try_inverse().ok_or(RigidBodyError::Inertia)?
        } else {
            return Err(RigidBodyError::Inertia);
        };
        let isotropic = inertia == Matrix3::from_diagonal_element(inertia[(0, 0)]);
        Ok(RigidBody {
            mass,
            inverse_mass: 1.0 / mass,
            inertia,
            inverse_inertia,
            isotropic,
        })
    }

    /// A uniform solid of the given mass.
    pub fn of_shape(mass: f64, shape: Shape) -> Result<Self, RigidBodyError> {
        Self::new(mass, shape.inertia(mass)?)
    }

    /// Mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// 1/mass.
    pub fn inverse_mass(&self) -> f64 {
        self.inverse_mass
    }

    /// Inertia about the centre of mass in body axes, kg m².
    pub fn inertia(&self) -> &Matrix3<f64> {
        &self.inertia
    }

    /// Placement and motion from the state.
    #[inline]
    pub fn place(&self, q: &[f64], v: &[f64]) -> Frame {
        Frame {
            rotation: rotation_matrix([q[3], q[4], q[5], q[6]]),
            position: vector(q, 0),
            velocity: vector(v, 0),
            angular_velocity: vector(v, 3),
        }
    }

    /// Rate of v under a force at the centre of mass and a torque about it (world axes). Gravity is part of `force`.
    ///
    /// the paper on modular simulation, eq 26: v' = f/M and, in body axes, ω' = J⁻¹(τ − ω × Jω); the rate of the world components of ω is the
    /// turned rate of the body components because ω × ω = 0.
    #[inline]
    pub fn accelerate(&self, frame: &Frame, force: &Vector3<f64>, torque: &Vector3<f64>) -> [f64; 6] {
        let linear = force * self.inverse_mass;
        let angular = if self.isotropic {
            torque * self.inverse_inertia[(0, 0)]
        } else {
            let spin = frame.rotation.tr_mul(&frame.angular_velocity);
            let torque = frame.rotation.tr_mul(torque);
            frame.rotation * (self.inverse_inertia * (torque - spin.cross(&(self.inertia * spin))))
        };
        [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    }

    /// Angular velocity (world axes) after a step under a torque that acts as at the start, gyroscopic torque included.
    ///
    /// Euler's equation in body axes with momentum ℓ = J·Ω at the start, Ω⁺ at the end:
    ///
    ///   J·Ω⁺ = exp(−T·Ω⁺)·ℓ + T·τ
    ///
    /// exp(−T·Ω⁺)·ℓ is the old momentum, constant in world axes, seen from the body when it has turned by T·Ω⁺, as the step turns it. So without torque the momentum
    /// in world axes stays to rounding. A rotation about Ω⁺ leaves Ω⁺·ℓ as it is, hence
    ///
    ///   ½·Ω⁺·J·Ω⁺ = ½·Ω·J·Ω + T·τ·Ω⁺ − ½·(Ω⁺ − Ω)·J·(Ω⁺ − Ω)
    ///
    /// and without torque the energy never grows, whatever the step. An impulse p on the body afterwards (contact) adds p·Ω⁺ and takes another ½·p·J⁻¹·p.
    /// Solved by Newton's method; none if it does not converge, which a shorter step does. `turned` becomes ℓ − exp(−T·Ω⁺)·ℓ.
    pub(crate) fn turn(
        &self,
        frame: &Frame,
        torque: &Vector3<f64>,
        step: f64,
        turned: &mut Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        const MOST: usize = 30;
        let start = frame.rotation.tr_mul(&frame.angular_velocity);
        let momentum = self.inertia * start;
        let impulse = step * frame.rotation.tr_mul(torque);
        let mut spin = start + self.inverse_inertia * impulse;
        if !spin.sum().is_finite() {
            // The step says which number it is; a shorter one would not help.
            return Some(frame.rotation * spin);
        }
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            let back = advance_rotation([1.0, 0.0, 0.0, 0.0], &spin, -step);
            let seen = rotation_matrix(back) * momentum;
            *turned = momentum - seen;
            let slope = self.inertia - step * seen.cross_matrix() * turn_slope(step * spin, back);
            let change = slope.try_inverse()? * (self.inertia * spin - seen - impulse);
            let size = change.norm();
            // At rounding the changes no longer fall.
            if size <= f64::EPSILON * spin.norm() || size <= 1e-9 * spin.norm() && size >= 0.5 * last {
                return Some(frame.rotation * spin);
            }
            if !size.is_finite() {
                return None;
            }
            spin -= change;
            last = size;
        }
        None
    }

    /// Inverse of the inertia in world axes; zero for a point.
    #[inline]
    pub fn world_inverse_inertia(&self, rotation: &Matrix3<f64>) -> Matrix3<f64> {
        if self.isotropic {
            self.inverse_inertia
        } else {
            rotation * self.inverse_inertia * rotation.transpose()
        }
    }

    /// The inertia in world axes; the unit matrix for a point, which no torque turns.
    #[inline]
    pub fn world_inertia(&self, rotation: &Matrix3<f64>) -> Matrix3<f64> {
        if self.is_point() {
            Matrix3::identity()
        } else if self.isotropic {
            self.inertia
        } else {
            rotation * self.inertia * rotation.transpose()
        }
    }

    /// Whether the inertia is the same about every axis.
    pub fn is_isotropic(&self) -> bool {
        self.isotropic
    }

    /// Whether the body has no extent: it does not turn.
    #[inline]
    pub fn is_point(&self) -> bool {
        self.inverse_inertia[(0, 0)] == 0.0
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self, frame: &Frame) -> f64 {
        let spin = frame.rotation.tr_mul(&frame.angular_velocity);
        0.5 * self.mass * frame.velocity.norm_squared() + 0.5 * spin.dot(&(self.inertia * spin))
    }
}

/// Rate of the quaternion (w, x, y, z) under the world angular velocity `w`: q' = ½ (0, ω) q, the Q of the paper on modular simulation, eq 26.
#[inline]
pub fn quaternion_rate(q: [f64; 4], w: &Vector3<f64>) -> [f64; 4] {
    product([0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z], q)
}

/// How exp(−φ)·ℓ, seen as a further turn of it by −S·dφ, follows a change of φ: the left Jacobian of the rotation group at −φ,
/// S = 1 − (1 − cos θ)/θ²·φ× + (θ − sin θ)/θ³·φ×φ×. `back` is the quaternion of −φ: (cos θ/2, −sin θ/2·φ/θ).
fn turn_slope(angle: Vector3<f64>, back: [f64; 4]) -> Matrix3<f64> {
    let square = angle.norm_squared();
    let (first, second) = if square < 1e-4 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let (theta, half) = (
            square.sqrt(),
            (back[1] * back[1] + back[2] * back[2] + back[3] * back[3]).sqrt(),
        );
        let sine = 2.0 * back[0] * half;
        (2.0 * half * half / square, (theta - sine) / (theta * square))
    };
    let cross = angle.cross_matrix();
    Matrix3::identity() - first * cross + second * cross * cross
}

/// The quaternion of unit length in the same direction; the identity if it has no length.
#[inline]
pub fn normalise(q: [f64; 4]) -> [f64; 4] {
    let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    if length > 0.0 {
        q.map(|value| value / length)
    } else {
        [1.0, 0.0, 0.0, 0.0]
    }
}

/// The quaternion after turning with the constant world angular velocity `w` for the time `step`, of unit length.
///
/// The turn is (cos h, sin h·ω/|ω|) with h = |ω|T/2. Both cos h and sin h/h are functions of h², so small angles need neither
/// a root nor a division: below h = 1/4 the series are exact to rounding.
#[inline(always)]
pub fn advance_rotation(q: [f64; 4], w: &Vector3<f64>, step: f64) -> [f64; 4] {
    small_turn(q, (*w).into(), step, || any_turn(q, *w, step))
}

/// The quaternion after a turn below h = 1/4 that ends with nearly unit length; `otherwise` after any other.
#[inline(always)]
pub(crate) fn small_turn<R: Real>(q: [R; 4], w: [R; 3], step: f64, otherwise: impl Fn() -> [R; 4]) -> [R; 4] {
    let half = R::lit(0.5 * step);
    let s = half * half * dot(w, w);
    if !s.lt(R::lit(0.0625)).all() {
        return otherwise();
    }
    let [x, y, z] = scale(w, half * sinc_series(s));
    let turned = product([cosine_series(s), x, y, z], q);
    let square = dot(turned, turned);
    // 1/√(1 + d) = 1 − d/2 + 3d²/8: the last term is below rounding here.
    if !(square - R::one()).abs().lt(R::lit(1e-8)).all() {
        return otherwise();
    }
    scale(turned, R::lit(1.5) - R::lit(0.5) * square)
}

#[cold]
#[inline(never)]
fn any_turn(q: [f64; 4], w: Vector3<f64>, step: f64) -> [f64; 4] {
    let half = 0.5 * step;
    let s = half * half * w.norm_squared();
    let (cosine, scale) = if s < 0.0625 {
        (cosine_series(s), half * sinc_series(s))
    } else {
        large_turn(w.norm(), half)
    };
    let turned = product([cosine, scale * w.x, scale * w.y, scale * w.z], q);
    let square: f64 = turned.iter().map(|value| value * value).sum();
    if (square - 1.0).abs() < 1e-8 {
        turned.map(|value| value * (1.5 - 0.5 * square))
    } else {
        normalise(turned)
    }
}

/// cos h and sin h/ω for a large angle h = ω·T/2.
#[inline(never)]
fn large_turn(rate: f64, half: f64) -> (f64, f64) {
    let (sine, cosine) = sin_cos(rate * half);
    (cosine, sine / rate)
}

/// cos √s to s⁶.
#[inline(always)]
fn cosine_series<R: Real>(s: R) -> R {
    let terms = [479001600.0, 3628800.0, 40320.0, 720.0, 24.0, 2.0];
    R::one() - s * series(s, &terms)
}

/// sin √s/√s to s⁵.
#[inline(always)]
fn sinc_series<R: Real>(s: R) -> R {
    R::one() - s * series(s, &[39916800.0, 362880.0, 5040.0, 120.0, 6.0])
}

/// 1/aₙ − s·(1/aₙ₋₁ − s·(…)), the last term first.
#[inline(always)]
fn series<R: Real>(s: R, terms: &[f64]) -> R {
    let mut sum = R::zero();
    for (i, term) in terms.iter().enumerate() {
        let term = R::lit(1.0 / term);
        sum = if i == 0 { term } else { term - s * sum };
    }
    sum
}

#[inline(always)]
fn product<R: Real>(a: [R; 4], b: [R; 4]) -> [R; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_advances_by_the_angle_of_its_spin() {
        // From the identity about a fixed axis: (cos h, sin h·axis), on both sides of where the series end.
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        for angle in [0.0, 1e-9, 1e-4, 0.1, 0.499999, 0.500001, 1.0, 3.0, 50.0] {
            let [w, x, y, z] = advance_rotation([1.0, 0.0, 0.0, 0.0], &(axis * angle / 1e-3), 1e-3);
            let (sine, cosine) = (libm::sin(0.5 * angle), libm::cos(0.5 * angle));
            // Rounding of the angle turns by as much.
            let close = |a: f64, b: f64| (a - b).abs() <= 4e-16 * (1.0 + angle);
            assert!(
                close(w, cosine) && close(x, sine * axis.x) && close(y, sine * axis.y) && close(z, sine * axis.z),
                "{angle}"
            );
        }
        // A quaternion that is not of unit length becomes one.
        let long = advance_rotation([3.0, 0.0, 4.0, 0.0], &Vector3::new(0.0, 0.0, 1e-3), 1e-3);
        let length: f64 = long.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 4e-16, "{length}");
    }

    #[test]
    fn refuses_impossible_bodies() {
        let sphere = Shape::Sphere(0.2);
        for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                RigidBody::new(mass, Matrix3::identity()),
                Err(RigidBodyError::Mass(_))
            ));
        }
        for inertia in [
            Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0)),
            Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0)),
            Matrix3::new(1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
            Matrix3::from_diagonal_element(f64::NAN),
            -Matrix3::identity(),
        ] {
            assert_eq!(RigidBody::new(1.0, inertia).unwrap_err(), RigidBodyError::Inertia);
        }
        assert_eq!(
            RigidBody::of_shape(1.0, Shape::Sphere(-1.0)).unwrap_err(),
            RigidBodyError::Shape(-1.0)
        );
        assert!(RigidBody::of_shape(1.0, Shape::Box([1.0, f64::NAN, 1.0])).is_err());
        assert!(RigidBody::of_shape(0.3, sphere).is_ok() && RigidBody::of_shape(0.3, Shape::Point).is_ok());
    }

    #[test]
    fn inertia_of_the_solids() {
        // 2/5 m r²: 0.4 · 0.3 · 0.04
        assert!((Shape::Sphere(0.2).inertia(0.3).unwrap()[(1, 1)] - 0.0048).abs() < 1e-18);
        // m (b² + c²)/12 for sides 1, 2, 3 and mass 12
        let cuboid = Shape::Box([1.0, 2.0, 3.0]).inertia(12.0).unwrap();
        assert_eq!(cuboid.diagonal(), Vector3::new(13.0, 10.0, 5.0));
    }

    #[test]
    fn a_point_does_not_turn() {
        let point = RigidBody::of_shape(2.0, Shape::Point).unwrap();
        let frame = point.place(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
        let rate = point.accelerate(&frame, &Vector3::new(2.0, 4.0, 6.0), &Vector3::new(1.0, 1.0, 1.0));
        assert_eq!(rate, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
        assert_eq!(point.world_inverse_inertia(&frame.rotation), Matrix3::zeros());
    }

    /// RK4 on the torque-free body, the textbook method written out.
    fn run(body: &RigidBody, mut y: [f64; 13], step: f64, steps: usize) -> [f64; 13] {
        let rate = |y: &[f64; 13]| {
            let frame = body.place(&y[..7], &y[7..]);
            let a = body.accelerate(&frame, &Vector3::zeros(), &Vector3::zeros());
            let dq = quaternion_rate([y[3], y[4], y[5], y[6]], &vector(y, 10));
            let mut d = [0.0; 13];
            d[..3].copy_from_slice(&y[7..10]);
            d[3..7].copy_from_slice(&dq);
            d[7..].copy_from_slice(&a);
            d
        };
        let shift = |y: &[f64; 13], d: &[f64; 13], h: f64| core::array::from_fn(|i| y[i] + h * d[i]);
        for _ in 0..steps {
            let k1 = rate(&y);
            let k2 = rate(&shift(&y, &k1, step / 2.0));
            let k3 = rate(&shift(&y, &k2, step / 2.0));
            let k4 = rate(&shift(&y, &k3, step));
            for i in 0..13 {
                y[i] += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        y
    }

    #[test]
    fn symmetric_top_precesses_as_in_the_closed_form() {
        // J = (A, A, C), torque free. In body axes ω₁ + iω₂ turns at Ω = (C − A)/A·ω₃. In world axes the symmetry axis
        // turns about the constant momentum L at |L|/A.
        let (a, c) = (2.0, 3.0);
        let body = RigidBody::new(1.0, Matrix3::from_diagonal(&Vector3::new(a, a, c))).unwrap();
        let spin = Vector3::new(0.6, 0.0, 1.1);
        let mut y = [0.0; 13];
        y[3] = 1.0;
        y[10..].copy_from_slice(spin.as_slice());
        let momentum = Vector3::new(a * 0.6, 0.0, c * 1.1);
        let end = run(&body, y, 1e-3, 3000);
        let frame = body.place(&end[..7], &end[7..]);
        let (time, precession) = (3.0, momentum.norm() / a);
        let axis = nalgebra::Unit::new_normalize(momentum);
        let expected = nalgebra::Rotation3::from_axis_angle(&axis, precession * time) * Vector3::z();
        assert!((frame.rotation * Vector3::z() - expected).amax() < 1e-11);
        let body_spin = frame.rotation.tr_mul(&frame.angular_velocity);
        let angle = (c - a) / a * 1.1 * time;
        assert!((body_spin - Vector3::new(0.6 * libm::cos(angle), 0.6 * libm::sin(angle), 1.1)).amax() < 1e-11);
        let now = frame.rotation * (body.inertia() * body_spin);
        assert!((now - momentum).amax() < 1e-11);
    }

    #[test]
    fn energy_and_momentum_of_an_asymmetric_body_hold_to_order_four() {
        let body = RigidBody::new(1.0, Matrix3::new(2.0, 0.1, 0.0, 0.1, 3.0, -0.2, 0.0, -0.2, 4.5)).unwrap();
        let mut y = [0.0; 13];
        y[3] = 1.0;
        y[10..].copy_from_slice(&[0.4, 2.0, 0.3]);
        let energy = |y: &[f64; 13]| body.kinetic_energy(&body.place(&y[..7], &y[7..]));
        let start = energy(&y);
        let coarse = (energy(&run(&body, y, 0.04, 50)) - start).abs();
        let fine = (energy(&run(&body, y, 0.02, 100)) - start).abs();
        // the energy error of RK4 is of order 4 or 5 in the step
        assert!(fine < 1e-6 * start && coarse / fine > 13.0, "{coarse} {fine}");
        let reference = run(&body, y, 0.0005, 4000);
        let distance = |end: [f64; 13]| (0..13).map(|i| (end[i] - reference[i]).abs()).fold(0.0, f64::max);
        let order = libm::log2(distance(run(&body, y, 0.04, 50)) / distance(run(&body, y, 0.02, 100)));
        assert!((order - 4.0).abs() < 0.2, "{order}");
    }

    #[test]
    fn advance_rotation_is_the_exact_turn() {
        let w = Vector3::new(0.0, 0.0, 2.0);
        let q = advance_rotation([1.0, 0.0, 0.0, 0.0], &w, 0.3);
        assert!((q[0] - libm::cos(0.3)).abs() < 1e-15 && (q[3] - libm::sin(0.3)).abs() < 1e-15);
        // a general turn, written with matrices: Rodrigues' rotation times the first one
        let start = normalise([0.3, -0.5, 0.7, 0.1]);
        let w = Vector3::new(1.0, -2.0, 0.5);
        for step in [0.7, 1e-5] {
            let turned = rotation_matrix(advance_rotation(start, &w, step));
            let expected = nalgebra::Rotation3::from_scaled_axis(w * step).matrix() * rotation_matrix(start);
            assert!((turned - expected).amax() < 1e-15);
        }
        assert_eq!(
            advance_rotation([1.0, 0.0, 0.0, 0.0], &Vector3::zeros(), 0.1),
            [1.0, 0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn quaternion_rate_is_the_derivative_of_the_exact_turn() {
        let q = normalise([0.3, -0.5, 0.7, 0.1]);
        let w = Vector3::new(1.0, -2.0, 0.5);
        let (plus, minus) = (advance_rotation(q, &w, 1e-5), advance_rotation(q, &w, -1e-5));
        for (i, rate) in quaternion_rate(q, &w).into_iter().enumerate() {
            assert!((rate - (plus[i] - minus[i]) / 2e-5).abs() < 1e-10);
        }
    }
}
