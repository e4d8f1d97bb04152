//! What the network asks of its elements. Those of one kind are a group, stored together and evaluated in one loop; the kinds themselves are
//! in `crate::element`.

use super::abreast::{ResolveAbreast, RespondAbreast, WIDTH};
use super::coupled::{Block, Level};
use super::implicit::{ImplicitStage, ImplicitView};
use super::port::Pair;
#[cfg(doc)]
use super::span::Course;
use super::span::Span;
use super::stage::Stage;
use super::tangent::Tangent;
use crate::snapshot::{Carried, Reader, SnapshotError, carried};
use std::any::Any;
use std::ops::Range;
use stickslip_core::friction::elliptic::Ellipse;

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
    /// Of such a spring, the relative velocity times the part of it that drivers given by position make.
    pub hauled: f64,
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
    /// How many points of a contact touch.
    pub touching: f64,
}

carried!(
    Observation: force, velocity, power, stored, curvature, hauled, impact, mode, normal, carried, gap, touching;
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

/// Frictions of one law in the implicit step.
pub trait Resolve: Any + Send + Sync {
    /// Solves every friction that is alone on its bodies.
    fn resolve(&self, stage: &mut ImplicitStage<'_>);

    /// Adds forces that follow from the start of the step (laws evaluated at v_{k−1}).
    fn push(&self, _stage: &mut ImplicitStage<'_>) {}

    /// Groups of several networks as one whose numbers are lanes. None for a law that does not go in lanes here, or if the
    /// groups differ in more than numbers.
    fn abreast(&self, _all: &[&dyn Resolve; WIDTH]) -> Option<ResolveAbreast> {
        None
    }

    /// Notes velocity and power anew after the velocities have changed.
    fn regather(&self, state: &[f64], seen: &mut [Observation]);

    /// Notes the mode and the load before the first step, when no force has acted yet.
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]);

    /// How many frictions the group has, and the axes of each.
    fn size(&self) -> (usize, usize);

    /// What friction `index` connects.
    fn pair(&self, index: usize) -> &Pair;

    /// Whether friction `index` can be solved on its own where nothing else acts within the step on its bodies.
    fn solves_alone(&self, _index: usize) -> bool {
        true
    }

    /// Whether the law takes part in a coupled solve; laws evaluated at v_{k−1} do not.
    fn couples(&self) -> bool {
        true
    }

    /// The ellipse of friction `index` where the coupled solve sees it as isotropic, with velocities and forces scaled by it.
    fn ellipse(&self, _index: usize) -> Option<&Ellipse<f64>> {
        None
    }

    /// Leaves friction `index` to the coupled solve.
    fn couple(&mut self, index: usize);

    /// The law of friction `index` as the coupled solve sees it.
    fn block(&self, index: usize, view: &ImplicitView<'_>) -> Block;

    /// Steady force and its slope at a speed above 0, for a [`Block::Curve`].
    fn steady(&self, _index: usize, _view: &ImplicitView<'_>, _speed: f64) -> (Level, Level) {
        (Level::default(), Level::default())
    }

    /// Resisting force of a bristle and its derivative at a slip velocity, for a [`Block::Smooth`].
    fn smooth(
        &self,
        _index: usize,
        _view: &ImplicitView<'_>,
        _velocity: &[f64],
        _force: &mut [f64],
        _tangent: &mut [f64],
    ) {
    }

    /// Takes over the outcome of the coupled solve into the law's states.
    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], stuck: bool);

    /// Brings the memory of stick in line with velocities that were set from outside.
    fn remember(&self, _state: &mut [f64], _changed: &Range<usize>) {}
}

/// The elements of a network, called group by group. `OBSERVE` also notes what every element does.
pub(crate) trait Groups {
    fn respond<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]);
}

impl Groups for Vec<Box<dyn Elements>> {
    #[inline(always)]
    fn respond<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for group in self {
            if OBSERVE {
                group.respond_observed(stage, seen);
            } else {
                group.respond(stage);
            }
        }
    }
}

/// The groups at the end of a step.
pub(crate) struct AtEnd<'a>(pub(crate) &'a [Box<dyn Elements>], pub(crate) Span<'a>);

impl Groups for AtEnd<'_> {
    fn respond<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, _seen: &mut [Observation]) {
        for group in self.0 {
            group.finish(stage, &self.1);
        }
    }
}
