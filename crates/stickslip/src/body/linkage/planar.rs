//! The kernel for linkages that move in a plane.
//!
//! All revolute axes are parallel and all slides perpendicular to them. A link has three motions: angular acceleration α
//! about the common normal and the acceleration (ax, ay) of its origin. Its articulated inertia is symmetric 3×3:
//!
//!   torque = turn·α + mixed·a + bias,   force = mixed·α + push·a + bias
//!
//! Each link carries its own plane axes, which turn with it and coincide with those of the ground when all coordinates are
//! zero. So a slide needs no turning at all, and a hinge turns by exactly its coordinate. Accelerations are those an
//! observer at rest measures, hence a rigid link has bias force −ω²·m·c and no bias torque, and no velocity but ω is
//! needed. A hinge passes on only a force that depends on the acceleration of its own point, and its drive:
//!
//!   push' = push − mixed·mixedᵀ/turn,   force' = bias + mixed·(drive − bias torque)/turn,   torque' = drive
//!
//! For a leaf these are constants of the link. A hinge on the ground needs its own angle only if gravity or loads have
//! components in the plane.

use nalgebra::Vector3;

use super::spatial::LinkState;
use super::{JointKind, Linkage};
use crate::math::sin_cos;

/// Largest out-of-plane component of a unit axis taken for rounding.
const PARALLEL: f64 = 1e-13;

#[derive(Clone, Debug)]
pub(super) struct Planar {
    pub links: Vec<PlanarLink>,
    /// Unit vectors of the plane and its normal, world axes.
    axes: [Vector3<f64>; 3],
    /// Acceleration of the ground: gravity reversed, in the plane.
    pub ground: [f64; 2],
    pub has_gravity: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PlanarLink {
    pub parent: Option<u32>,
    pub revolute: bool,
    /// No link is carried by this one: `inertia` never changes.
    leaf: bool,
    /// Sense of a hinge about the normal (±1), or the direction of a slide.
    pub sense: f64,
    slide: [f64; 2],
    pub origin: [f64; 2],
    /// Mass times centre of mass.
    pub moment: [f64; 2],
    pub inertia: Inertia,
    /// The joint's view of a leaf.
    yielded: Yielded,
}

/// Symmetric 3×3 inertia.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inertia {
    pub turn: f64,
    mixed: [f64; 2],
    pub push: [f64; 3],
}

/// An inertia after its joint has been set free, with inertia·axis and the inverse joint inertia.
#[derive(Clone, Copy, Debug, Default)]
struct Yielded {
    inertia: Inertia,
    axis: [f64; 3],
    inverse: f64,
}

/// Intermediate values of one link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanarState {
    inertia: Inertia,
    /// Torque and force when nothing accelerates.
    bias: [f64; 3],
    spin: f64,
    /// Sine and cosine of the joint, and of the link against the ground.
    joint: [f64; 2],
    total: [f64; 2],
    load: [f64; 3],
    axis: [f64; 3],
    inverse: f64,
    drive: f64,
    motion: [f64; 3],
}

impl Inertia {
    #[inline(always)]
    fn hinge(&self, inverse: f64) -> Yielded {
        let [x, y] = self.mixed;
        let (ix, iy) = (x * inverse, y * inverse);
        let push = [self.push[0] - x * ix, self.push[1] - x * iy, self.push[2] - y * iy];
        Yielded {
            inertia: Inertia {
                turn: 0.0,
                mixed: [0.0; 2],
                push,
            },
            axis: [self.turn, x, y],
            inverse,
        }
    }

    #[inline(always)]
    fn slide(&self, [dx, dy]: [f64; 2]) -> Yielded {
        let [xx, xy, yy] = self.push;
        let axis = [
            self.mixed[0] * dx + self.mixed[1] * dy,
            xx * dx + xy * dy,
            xy * dx + yy * dy,
        ];
        let inverse = 1.0 / (axis[1] * dx + axis[2] * dy);
        let [n, x, y] = axis;
        let inertia = Inertia {
            turn: self.turn - n * n * inverse,
            mixed: [self.mixed[0] - n * x * inverse, self.mixed[1] - n * y * inverse],
            push: [xx - x * x * inverse, xy - x * y * inverse, yy - y * y * inverse],
        };
        Yielded { inertia, axis, inverse }
    }

    #[inline(always)]
    fn yielded(&self, link: &PlanarLink) -> Yielded {
        if link.revolute {
            self.hinge(1.0 / self.turn)
        } else {
            self.slide(link.slide)
        }
    }
}

impl Planar {
    /// The planar form of a linkage, if it has one.
    pub(super) fn detect(linkage: &Linkage) -> Option<Planar> {
        if linkage.floating {
            return None;
        }
        let mut scratch = linkage.scratch();
        let zero = vec![0.0; linkage.links.len()];
        linkage.place(&zero, &zero, &mut scratch);
        let hinge = linkage.links.iter().position(|link| link.kind == JointKind::Revolute)?;
        let normal = scratch.states[hinge].axis.normalize();
        let mut links = Vec::with_capacity(linkage.links.len());
        // Any direction in the plane will do; the smallest component of the normal gives a well-conditioned one.
        let mut start = Vector3::zeros();
        start[normal.iamin()] = 1.0;
        let second = normal.cross(&start).normalize();
        let first = second.cross(&normal);
        let plane = |u: &Vector3<f64>| [first.dot(u), second.dot(u)];
        for (i, link) in linkage.links.iter().enumerate() {
            let (state, rotation) = (&scratch.states[i], &scratch.frames[i].rotation);
            let along = state.axis.dot(&normal);
            let revolute = link.kind == JointKind::Revolute;
            let out_of_plane = if revolute {
                state.axis.cross(&normal).norm()
            } else {
                along.abs()
            };
            if out_of_plane > PARALLEL {
                return None;
            }
            let com = plane(&(rotation * link.com));
            let moment = [link.mass * com[0], link.mass * com[1]];
            let inertia = Inertia {
                turn: normal.dot(&(rotation * link.inertia * rotation.transpose() * normal))
                    + moment[0] * com[0]
                    + moment[1] * com[1],
                mixed: [-moment[1], moment[0]],
                push: [link.mass, 0.0, link.mass],
            };
            let mut planar = PlanarLink {
                parent: link.parent.map(|p| p as u32),
                revolute,
                leaf: linkage.links.iter().all(|other| other.parent != Some(i)),
                sense: along.signum(),
                slide: plane(&state.axis),
                origin: plane(&state.offset),
                moment,
                inertia,
                yielded: Yielded::default(),
            };
            if planar.leaf {
                planar.yielded = inertia.yielded(&planar);
            }
            links.push(planar);
        }
        let ground = plane(&-linkage.gravity);
        // Gravity along the normal leaves rounding in the plane.
        let has_gravity = ground[0].abs().max(ground[1].abs()) > 1e-15 * linkage.gravity.amax();
        Some(Planar {
            links,
            axes: [first, second, normal],
            ground,
            has_gravity,
        })
    }

    /// The loads of the spatial link states, in the plane of the ground.
    pub(super) fn gather_loads(&self, states: &[LinkState], planar: &mut [PlanarState]) {
        let [first, second, normal] = &self.axes;
        for (state, planar) in states.iter().zip(planar) {
            planar.load = [
                normal.dot(&state.load_torque),
                first.dot(&state.load_force),
                second.dot(&state.load_force),
            ];
        }
    }

    /// Articulated-body algorithm in the plane; `LOADED` says whether loads have been gathered.
    #[inline]
    pub(super) fn accelerate<const LOADED: bool>(
        &self,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        states: &mut [PlanarState],
        out: &mut [f64],
    ) {
        let n = self.links.len();
        let (q, v, tau, states, out) = (&q[..n], &v[..n], &tau[..n], &mut states[..n], &mut out[..n]);
        self.spin::<LOADED>(q, v, states);
        self.gather(q, v, tau, states);
        self.release(q, v, states, out);
    }

    /// From the ground outwards: angles, angular velocities, and what each link alone contributes.
    #[inline(always)]
    fn spin<const LOADED: bool>(&self, q: &[f64], v: &[f64], states: &mut [PlanarState]) {
        for (i, link) in self.links.iter().enumerate() {
            let (spin, [ts, tc]) = match link.parent {
                Some(p) => (states[p as usize].spin, states[p as usize].total),
                None => (0.0, [0.0, 1.0]),
            };
            let needs_angle = LOADED || self.has_gravity || link.parent.is_some();
            let state = &mut states[i];
            state.spin = spin;
            state.joint = [0.0, 1.0];
            if link.revolute {
                state.spin += link.sense * v[i];
                if needs_angle {
                    let (sine, cosine) = sin_cos(q[i]);
                    state.joint = [link.sense * sine, cosine];
                }
            }
            let squared = state.spin * state.spin;
            state.inertia = link.inertia;
            state.bias = [0.0, -squared * link.moment[0], -squared * link.moment[1]];
            if LOADED {
                let [s, c] = state.joint;
                let [s, c] = [ts * c + tc * s, tc * c - ts * s];
                state.total = [s, c];
                let [torque, x, y] = state.load;
                state.bias[0] -= torque;
                state.bias[1] -= c * x + s * y;
                state.bias[2] -= c * y - s * x;
            }
        }
    }

    /// From the tips inwards: what each joint, free to give way, lets its parent feel.
    #[inline(always)]
    fn gather(&self, q: &[f64], v: &[f64], tau: &[f64], states: &mut [PlanarState]) {
        for (i, link) in self.links.iter().enumerate().rev() {
            let state = &mut states[i];
            let yielded = if link.leaf {
                link.yielded
            } else {
                state.inertia.yielded(link)
            };
            let Yielded {
                mut inertia,
                axis,
                inverse,
            } = yielded;
            let [torque, fx, fy] = state.bias;
            state.axis = axis;
            state.inverse = inverse;
            state.drive = if link.revolute {
                link.sense * tau[i] - torque
            } else {
                tau[i] - link.slide[0] * fx - link.slide[1] * fy
            };
            let Some(p) = link.parent else { continue };
            let share = state.drive * inverse;
            let mut load = [torque + axis[0] * share, fx + axis[1] * share, fy + axis[2] * share];
            if link.revolute {
                load[0] = link.sense * tau[i];
                // into the axes of the parent
                let ([s, c], [_, x, y]) = (state.joint, load);
                (load[1], load[2]) = (c * x - s * y, s * x + c * y);
                let ([xx, xy, yy], [cc, ss, cs]) = (inertia.push, [c * c, s * s, c * s]);
                let cross = 2.0 * cs * xy;
                inertia.push = [
                    cc * xx - cross + ss * yy,
                    cs * (xx - yy) + (cc - ss) * xy,
                    ss * xx + cross + cc * yy,
                ];
            }
            let parent = &mut states[p as usize];
            let arm = link.arm(q[i]);
            let drift = link.drift(arm, parent.spin, v[i]);
            parent.carry(&inertia, load, arm, drift);
        }
    }

    /// From the ground outwards: the accelerations.
    #[inline(always)]
    fn release(&self, q: &[f64], v: &[f64], states: &mut [PlanarState], out: &mut [f64]) {
        for (i, link) in self.links.iter().enumerate() {
            let (spin, [angular, ax, ay]) = match link.parent {
                Some(p) => (states[p as usize].spin, states[p as usize].motion),
                None => (0.0, [0.0, self.ground[0], self.ground[1]]),
            };
            let state = &mut states[i];
            let [rx, ry] = link.arm(q[i]);
            let [dx, dy] = link.drift([rx, ry], spin, v[i]);
            let (x, y) = (ax - angular * ry + dx, ay + angular * rx + dy);
            if link.revolute {
                let [s, c] = state.joint;
                let (x, y) = (c * x + s * y, c * y - s * x);
                let total = (state.drive - state.axis[1] * x - state.axis[2] * y) * state.inverse;
                state.motion = [total, x, y];
                out[i] = link.sense * (total - angular);
            } else {
                let resisted = state.axis[0] * angular + state.axis[1] * x + state.axis[2] * y;
                let rate = (state.drive - resisted) * state.inverse;
                state.motion = [angular, x + link.slide[0] * rate, y + link.slide[1] * rate];
                out[i] = rate;
            }
        }
    }
}

impl PlanarLink {
    /// From the parent's origin to this link's origin, in the parent's axes.
    #[inline(always)]
    fn arm(&self, q: f64) -> [f64; 2] {
        let [x, y] = self.origin;
        if self.revolute {
            [x, y]
        } else {
            [x + self.slide[0] * q, y + self.slide[1] * q]
        }
    }

    /// Centripetal acceleration of the link's origin, and Coriolis acceleration if it slides.
    #[inline(always)]
    fn drift(&self, [rx, ry]: [f64; 2], spin: f64, rate: f64) -> [f64; 2] {
        let squared = spin * spin;
        let inward = [-squared * rx, -squared * ry];
        if self.revolute {
            return inward;
        }
        let coriolis = 2.0 * spin * rate;
        [
            inward[0] - coriolis * self.slide[1],
            inward[1] + coriolis * self.slide[0],
        ]
    }
}

impl PlanarState {
    /// Takes up an inertia and its load (torque, force) at `arm`, where `drift` is accelerated anyway.
    #[inline(always)]
    fn carry(&mut self, inertia: &Inertia, load: [f64; 3], [rx, ry]: [f64; 2], drift: [f64; 2]) {
        let [hx, hy] = inertia.mixed;
        let [xx, xy, yy] = inertia.push;
        let (fx, fy) = (
            load[1] + xx * drift[0] + xy * drift[1],
            load[2] + xy * drift[0] + yy * drift[1],
        );
        self.bias[0] += load[0] + hx * drift[0] + hy * drift[1] + rx * fy - ry * fx;
        self.bias[1] += fx;
        self.bias[2] += fy;
        // α about the parent's origin moves the arm's end by α·(−ry, rx)
        let (gx, gy) = (hx + xy * rx - xx * ry, hy + yy * rx - xy * ry);
        self.inertia.turn += inertia.turn + rx * (hy + gy) - ry * (hx + gx);
        self.inertia.mixed[0] += gx;
        self.inertia.mixed[1] += gy;
        self.inertia.push[0] += xx;
        self.inertia.push[1] += xy;
        self.inertia.push[2] += yy;
    }
}
