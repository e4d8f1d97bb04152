//! Elements (impedances): motion in, force out. Elements of one kind are stored together and evaluated in one loop.

pub mod actuator;
#[macro_use]
pub mod contact;
pub mod curve;
pub mod evolution;
pub mod friction;
pub mod inclusion;
pub mod joint;
pub mod normal;
pub mod own;
pub mod own_contact;
pub mod spring;
pub mod stop;

#[cfg(doc)]
use crate::integrate::newmark::Course;
use crate::integrate::newmark::Span;
use crate::network::abreast::{RespondAbreast, WIDTH};
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;
use crate::snapshot::{Carried, Reader, SnapshotError, carried};
use std::any::Any;

/// What a friction or contact does, as the trace column `mode` shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Sticks (0).
    #[default]
    Stick,
    /// Slips (1).
    Slip,
    /// A contact that is open (2).
    Open,
}

impl Mode {
    /// Stick or slip.
    #[inline(always)]
    pub fn stuck(stuck: bool) -> Self {
        if stuck { Mode::Stick } else { Mode::Slip }
    }

    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Stick => "stick",
            Mode::Slip => "slip",
            Mode::Open => "open",
        }
    }
}

/// What one element does at one moment: what traces, events and the energy ledger are made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// Force on the first body.
    pub force: [f64; 3],
    /// Relative velocity that the force works on.
    pub velocity: [f64; 3],
    /// Power the element delivers to the bodies.
    pub power: f64,
    /// Elastic energy it holds.
    pub stored: f64,
    /// How much the stored energy curves with the stretch: the stiffness of a spring the implicit step takes at its
    /// start, minus that of one it takes at its end, 0 for all else.
    pub curvature: f64,
    /// Half the normal force times the change of normal velocity: the part of ½·m·Δv² that an impact on a rigid contact
    /// makes, which is not the method's loss.
    pub impact: f64,
    /// Stick, slip or open.
    pub mode: Mode,
    /// Normal force of a contact, compression of a spring or stop.
    pub normal: f64,
    /// Share of the sliding limit that a friction carries, where its law shows it.
    pub carried: f64,
    /// Gap of a contact; the smallest where it has several points.
    pub gap: f64,
}

carried!(
    Observation: force, velocity, power, stored, curvature, impact, mode, normal, carried, gap;
    not
);

impl Carried for Mode {
    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let mut number = 0u8;
        number.load(bytes)?;
        *self = match number {
            0 => Mode::Stick,
            1 => Mode::Slip,
            2 => Mode::Open,
            _ => return Err(SnapshotError::Damaged),
        };
        Ok(())
    }
}

impl Observation {
    /// An observation of a force and the relative velocity it works on.
    #[inline]
    pub fn of<const N: usize>(force: &[f64; N], velocity: &[f64; N]) -> Self {
        let mut seen = Observation::default();
        seen.force[..N].copy_from_slice(force);
        seen.velocity[..N].copy_from_slice(velocity);
        seen.power = force.iter().zip(velocity).map(|(f, v)| f * v).sum();
        seen
    }
}

/// Elements of one kind.
pub trait Elements: Any + Send + Sync {
    /// Gathers motion, evaluates the laws, scatters forces and writes the rates of the laws' states.
    fn respond(&self, stage: &mut Stage<'_>);

    /// As [`Elements::respond`], and notes what every element did.
    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]);

    /// Adds the derivatives of forces and of the rates of states, stage step 0. False if the group does not know them: they
    /// are then found by difference quotients of the whole network.
    fn tangent(&self, _tangent: &mut Tangent<'_>) -> bool {
        false
    }

    /// Gathers motion at the end of a step that is solved as a whole, and scatters the forces there. States of elements are
    /// those of its start; their mean rate over the step is written. Laws with an implicit update of their own have it by
    /// the stage step.
    fn finish(&self, stage: &mut Stage<'_>, _span: &Span<'_>) {
        self.respond(stage);
    }

    /// Names the states that follow from the displacement under [`Course::Mapped`], and whether each has an error of its own.
    fn mapped(&self, _name: &mut dyn FnMut(usize, bool)) {}

    /// Brings states that follow from others in line with them, after the state has been set from outside.
    fn restore(&self, _state: &mut [f64], _signals: &[f64], _compression: &[f64]) {}

    /// Adds the derivatives of the forces of [`Elements::finish`], as [`Elements::tangent`] does.
    fn finish_tangent(&self, tangent: &mut Tangent<'_>, _span: &Span<'_>) -> bool {
        self.tangent(tangent)
    }

    /// Notes velocity and power anew for forces already in `seen`, after the velocities have changed.
    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]);

    /// Groups of several networks as one whose numbers are lanes. None for a kind that does not go in lanes, or if the groups
    /// differ in more than numbers.
    fn abreast(&self, _all: &[&dyn Elements; WIDTH]) -> Option<RespondAbreast> {
        None
    }
}
