//! Contact of a body with a plane or of two spheres: geometry, compliant normal force and friction bounded by it
//! (seed 004, eqs 23-24; seed 001, eqs 20-22 with the sign of the friction reversed).
//!
//! The friction acts on the tangential velocity of the touching points; its limit is the coefficient times the normal
//! force, never taken below zero (eq 23c as printed calls for a negative bound while the damper pulls). The bristle is
//! kept as a vector in world axes and projected on the tangent plane, so it needs no tangent axes.

use super::normal::NormalLaw;
use super::{Elements, Mode, Observation};
use crate::body::Frame;
use crate::element::friction::{SteadyCurve, with_curve};
use crate::network::port::Attachment;
use crate::network::stage::Stage;
use nalgebra::Vector3;
use std::ops::Range;
use stickslip_core::friction::curve::Table;
use stickslip_core::friction::dahl::Dahl;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::martins_oden::MartinsOden;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::{Bristle, Slip};

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
        let (normal, distance) = match self.surface {
            Surface::Plane { normal, offset } => {
                let normal = second.rotation * normal;
                (normal, normal.dot(&(centre - second.position)) - offset)
            }
            Surface::Sphere(radius) => {
                let between = centre - second.position;
                let length = between.norm();
                let normal = if length > 0.0 { between / length } else { Vector3::z() };
                (normal, length - radius)
            }
        };
        Touch {
            gap: distance - self.radius,
            normal,
            point: centre - self.radius * normal,
        }
    }
}

/// A friction law of a compliant contact.
#[derive(Clone, Copy, Debug)]
pub enum Tangential {
    /// No friction.
    None,
    /// Seed 004, eq 19.
    Proxy(Proxy<f64, true>),
    /// Seed 001, eq 9.
    Relaxed(Proxy<f64, false>),
    /// The Dahl model.
    Dahl(Dahl<f64>),
    /// The LuGre model.
    Lugre(Lugre<f64>),
    /// Viscosity near zero velocity.
    MartinsOden(MartinsOden<f64>),
}

/// Runs an expression with the concrete law.
macro_rules! with_law {
    ($law:expr, |$l:ident| $body:expr, $none:expr) => {
        match $law {
            Tangential::None => $none,
            Tangential::Proxy($l) => $body,
            Tangential::Relaxed($l) => $body,
            Tangential::Dahl($l) => $body,
            Tangential::Lugre($l) => $body,
            Tangential::MartinsOden($l) => $body,
        }
    };
}

/// A compliant contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Number of the element in the network.
    pub element: usize,
    /// Who touches whom, where.
    pub geometry: Geometry,
    /// The normal force.
    pub normal: NormalLaw,
    /// The friction law.
    pub friction: Tangential,
    /// Its curve: a coefficient.
    pub curve: SteadyCurve,
    /// Where the states begin: three numbers of friction per point, then the states of the normal law per point.
    pub state: usize,
}

impl Contact {
    /// The states of the normal law at a point.
    pub(crate) fn normal_states(&self, index: usize) -> Range<usize> {
        let count = self.normal.states();
        let first = self.state + 3 * self.geometry.points.len() + index * count;
        first..first + count
    }
}

/// Compliant contacts.
#[derive(Clone, Debug, Default)]
pub struct Contacts(pub Vec<Contact>);

impl Contacts {
    #[inline(always)]
    fn run<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for contact in &self.0 {
            let geometry = &contact.geometry;
            let first = geometry
                .first
                .frame(stage.network, stage.state, stage.frames, stage.linkages);
            let second = geometry
                .second
                .frame(stage.network, stage.state, stage.frames, stage.linkages);
            let mut compression = 0.0;
            let mut note = Observation {
                mode: Mode::Open,
                gap: f64::INFINITY,
                ..Observation::default()
            };
            for index in 0..geometry.points.len() {
                let touch = geometry.touch(index, &first, &second);
                let velocity = first.point_velocity(&touch.point) - second.point_velocity(&touch.point);
                let gap_rate = touch.normal.dot(&velocity);
                let own = contact.normal_states(index);
                let tau = stage.finite_step();
                let normal_state = &stage.state[own.clone()];
                let rate = &mut stage.rate[own];
                let normal = contact.normal.respond(touch.gap, gap_rate, normal_state, tau, rate);
                let touches = normal != 0.0;
                let at = contact.state + 3 * index;
                let slip = velocity - gap_rate * touch.normal;
                let slip = Slip {
                    velocity: [slip.x, slip.y, slip.z],
                    load: normal.max(0.0),
                };
                let state = &stage.state[at..at + 3];
                let bristle = Vector3::from_column_slice(state);
                let bristle = bristle - touch.normal.dot(&bristle) * touch.normal;
                let state = bristle.as_slice();
                let rate = &mut stage.rate[at..at + 3];
                let friction = with_law!(
                    &contact.friction,
                    |law| with_curve!(&contact.curve, |c| law.respond(c, &slip, state, stage.tau, rate)),
                    [0.0; 3]
                );
                if OBSERVE {
                    note.gap = note.gap.min(touch.gap);
                    note.stored += contact.normal.stored(touch.gap, normal_state);
                    note.stored += with_law!(&contact.friction, |law| law.stored::<3>(state), 0.0);
                    if touches {
                        let sticks = with_law!(
                            &contact.friction,
                            |law| with_curve!(&contact.curve, |c| law.sticks(c, &slip, state)),
                            false
                        );
                        note.mode = note.mode.with_point(Mode::stuck(sticks));
                    }
                }
                if touches {
                    let force = normal * touch.normal + Vector3::from(friction);
                    let zero = Vector3::zeros();
                    geometry.first.apply(stage, &force, &zero, &touch.point);
                    geometry.second.apply(stage, &(-force), &zero, &touch.point);
                    compression += normal.max(0.0);
                    if OBSERVE {
                        note.power += force.dot(&velocity);
                        note.normal += normal;
                        for i in 0..3 {
                            note.force[i] += force[i];
                            note.velocity[i] = velocity[i];
                        }
                    }
                }
            }
            stage.compression[contact.element] = compression;
            if OBSERVE {
                seen[contact.element] = note;
            }
        }
    }
}

impl Mode {
    /// The mode of several points: open if all are, slip if any slides.
    pub fn with_point(self, point: Mode) -> Mode {
        match (self, point) {
            (Mode::Open, other) | (other, Mode::Open) => other,
            (Mode::Slip, _) | (_, Mode::Slip) => Mode::Slip,
            _ => Mode::Stick,
        }
    }
}

impl Elements for Contacts {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run::<false>(stage, &mut []);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run::<true>(stage, seen);
    }

    fn regather(&self, _stage: &Stage<'_>, _seen: &mut [Observation]) {
        // Compliant contacts run with the integrators of differential equations, which never regather.
    }
}
