//! Contacts whose laws are the user's own: a normal force as a function of the gap, friction as one of the slip.

use super::contact::{Geometry, Surface};
use super::own::{MOST_STATES, Motion, Placed};
use super::{Elements, Mode, Observation};
use crate::body::Frame;
use crate::network::stage::Stage;
use nalgebra::Vector3;

/// A contact with laws of the user's own.
#[derive(Clone, Debug)]
pub struct OwnContact {
    /// Number of the element in the network.
    pub element: usize,
    /// Who touches whom, where.
    pub geometry: Geometry,
    /// The normal force: one axis, whose position is the gap. What it gives below 0 counts as 0.
    pub normal: Placed,
    /// Friction: two axes along the plane, fixed to the body that carries it. Its position is 0, its load the normal force.
    pub friction: Option<Placed>,
    /// The two directions along the plane, in the axes of the second body.
    pub along: [Vector3<f64>; 2],
    /// Where the states begin: for each point those of the normal law, then those of friction.
    pub state: usize,
}

/// All contacts with laws of the user's own.
#[derive(Default)]
pub struct OwnContacts(pub Vec<OwnContact>);

/// Two directions along a plane.
pub(crate) fn along(surface: &Surface) -> [Vector3<f64>; 2] {
    let Surface::Plane { normal, .. } = surface else {
        return [Vector3::zeros(); 2];
    };
    // From the world axis that the plane is most nearly along.
    let axis = Vector3::from_fn(|i, _| if i == normal.iamin() { 1.0 } else { 0.0 });
    let first = (axis - normal.dot(&axis) * normal).normalize();
    [first, normal.cross(&first)]
}

impl OwnContact {
    fn states(&self) -> usize {
        self.normal.states + self.friction.as_ref().map_or(0, |friction| friction.states)
    }

    fn act<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, note: &mut Observation) -> f64 {
        let geometry = &self.geometry;
        let frame = |body: crate::network::port::Attachment, stage: &Stage<'_>| -> Frame {
            body.frame(stage.network, stage.state, stage.frames, stage.linkages)
        };
        let (first, second) = (frame(geometry.first, stage), frame(geometry.second, stage));
        let along = self.along.map(|direction| second.rotation * direction);
        let mut compression = 0.0;
        for index in 0..geometry.points.len() {
            let touch = geometry.touch(index, &first, &second);
            let velocity = first.point_velocity(&touch.point) - second.point_velocity(&touch.point);
            let state = self.state + index * self.states();
            let pressing = Motion {
                time: stage.signals[self.normal.time],
                step: stage.tau,
                load: 1.0,
                position: &[touch.gap],
                velocity: &[touch.normal.dot(&velocity)],
                state: &stage.state[state..state + self.normal.states],
            };
            let (mut normal, mut rate) = ([0.0], [0.0; MOST_STATES]);
            self.normal
                .law
                .0
                .respond(&pressing, &mut rate[..self.normal.states], &mut normal);
            let stored = if OBSERVE {
                self.normal.law.0.stored(&pressing)
            } else {
                0.0
            };
            stage.rate[state..state + self.normal.states].copy_from_slice(&rate[..self.normal.states]);
            // A force that is no number ends the run.
            let normal = if normal[0] < 0.0 { 0.0 } else { normal[0] };
            let mut force = normal * touch.normal;
            let mut stuck = false;
            note.stored += stored;
            if let Some(friction) = &self.friction {
                let states = state + self.normal.states..state + self.states();
                let rubbing = Motion {
                    load: normal,
                    position: &[0.0; 2],
                    velocity: &along.map(|direction| direction.dot(&velocity)),
                    state: &stage.state[states.clone()],
                    ..pressing
                };
                let (mut dragging, mut rate) = ([0.0; 2], [0.0; MOST_STATES]);
                friction
                    .law
                    .0
                    .respond(&rubbing, &mut rate[..friction.states], &mut dragging);
                if OBSERVE {
                    stuck = friction.law.0.sticks(&rubbing);
                    note.stored += friction.law.0.stored(&rubbing);
                }
                stage.rate[states].copy_from_slice(&rate[..friction.states]);
                // Nothing rubs that does not press.
                if normal != 0.0 {
                    force += dragging[0] * along[0] + dragging[1] * along[1];
                }
            }
            note.gap = note.gap.min(touch.gap);
            if normal != 0.0 {
                geometry.first.apply(stage, &force, &Vector3::zeros(), &touch.point);
                geometry.second.apply(stage, &(-force), &Vector3::zeros(), &touch.point);
                compression += normal;
                note.mode = note.mode.with_point(Mode::stuck(stuck));
                note.power += force.dot(&velocity);
                note.normal += normal;
                for i in 0..3 {
                    note.force[i] += force[i];
                    note.velocity[i] = velocity[i];
                }
            }
        }
        compression
    }
}

impl OwnContacts {
    fn run<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for contact in &self.0 {
            let mut note = Observation {
                mode: Mode::Open,
                gap: f64::INFINITY,
                ..Observation::default()
            };
            stage.compression[contact.element] = contact.act::<OBSERVE>(stage, &mut note);
            if OBSERVE {
                seen[contact.element] = note;
            }
        }
    }
}

impl Elements for OwnContacts {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run::<false>(stage, &mut []);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run::<true>(stage, seen);
    }

    fn regather(&self, _stage: &Stage<'_>, _seen: &mut [Observation]) {
        // They run with the integrators of differential equations, which never regather.
    }
}
