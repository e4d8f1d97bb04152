//! The kernel for two hinges in a row in a plane, the arm of the paper on modular simulation: Lagrange's equations in closed form.
//!
//! Let a and b be the angles of the two links against the ground, r the arm from the first joint to the second, c₁ and c₂
//! the centres of mass seen from their joints, δ = b − a, and for the second link P = m₂ c₂·r, S = m₂ c₂ × r. Then
//!
//!   (J₁ + m₂ r²) a'' + (P cos δ + S sin δ) b'' + (S cos δ − P sin δ) b'² = τ₁ − τ₂ − gravity
//!   (P cos δ + S sin δ) a'' + J₂ b'' − (S cos δ − P sin δ) a'² = τ₂ − gravity
//!
//! with J about the joints. The diagonal is constant, so eliminating a'' costs no division, and without gravity only the
//! second joint's angle enters. This is about half as long as the articulated-body recursion, whose steps wait for each
//! other and for memory.

use super::planar::Planar;
use crate::math::sin_cos;

#[derive(Clone, Debug)]
pub(crate) struct TwoHinges {
    /// Sense of the second hinge about the axis of the first, ±1.
    sense: f64,
    /// J₁ + m₂ r² inverted, and J₂.
    first_inverse: f64,
    second: f64,
    /// P, S, and both times the sense, which turns sin(q₂) into sin δ.
    along: f64,
    across: f64,
    along_sense: f64,
    across_sense: f64,
    /// First moments that gravity pulls at, and the acceleration of the ground.
    moments: [[f64; 2]; 2],
    ground: [f64; 2],
    has_gravity: bool,
}

impl TwoHinges {
    /// The equations of a planar linkage, if it is two hinges in a row.
    pub(super) fn detect(planar: &Planar) -> Option<TwoHinges> {
        let [first, second] = planar.links.as_slice() else {
            return None;
        };
        if !(first.revolute && second.revolute && second.parent.is_some() && first.sense == 1.0) {
            return None;
        }
        let mass = second.inertia.push[0];
        let ([rx, ry], [x, y]) = (second.origin, second.moment);
        let (along, across) = (x * rx + y * ry, x * ry - y * rx);
        let first_inertia = first.inertia.turn + mass * (rx * rx + ry * ry);
        // A first link without inertia whose joint holds the second one's: left to the recursion.
        if first_inertia <= 0.0 {
            return None;
        }
        Some(TwoHinges {
            sense: second.sense,
            first_inverse: 1.0 / first_inertia,
            second: second.inertia.turn,
            along,
            across,
            along_sense: second.sense * along,
            across_sense: second.sense * across,
            moments: [
                [first.moment[0] + mass * rx, first.moment[1] + mass * ry],
                second.moment,
            ],
            ground: planar.ground,
            has_gravity: planar.has_gravity,
        })
    }

    #[inline(always)]
    pub(crate) fn accelerate(&self, q: [f64; 2], v: [f64; 2], tau: [f64; 2]) -> [f64; 2] {
        let (sine, cosine) = sin_cos(q[1]);
        let coupling = self.along * cosine + self.across_sense * sine;
        let turning = self.across * cosine - self.along_sense * sine;
        let spin = v[0] + self.sense * v[1];
        let drive = self.sense * tau[1];
        let mut first = tau[0] - drive - spin * spin * turning;
        let mut second = drive + v[0] * v[0] * turning;
        if self.has_gravity {
            let (s, c) = sin_cos(q[0]);
            let relative = self.sense * sine;
            let (t, d) = (s * cosine + c * relative, c * cosine - s * relative);
            first -= self.weight(0, s, c);
            second -= self.weight(1, t, d);
        }
        let share = coupling * self.first_inverse;
        let b = (second - share * first) / (self.second - share * coupling);
        let a = (first - coupling * b) * self.first_inverse;
        [a, self.sense * (b - a)]
    }

    /// Torque that the accelerating ground asks for: moment, turned by the link's angle and a right angle, times ground.
    #[inline(always)]
    fn weight(&self, link: usize, sine: f64, cosine: f64) -> f64 {
        let ([x, y], [gx, gy]) = (self.moments[link], self.ground);
        gy * (cosine * x - sine * y) - gx * (sine * x + cosine * y)
    }
}
