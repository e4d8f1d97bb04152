//! Elements of the user's own and what they take hold of, as they are given to a model.

use super::{Plane, Port};
use crate::element::own::OwnLaw;
#[cfg(doc)]
use crate::element::own::{MOST_AXES, Motion};
use crate::handle::{Body, End};

/// What an element of the user's own takes hold of: two coordinates, or points of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// Its two ends.
    pub between: [Port; 2],
    /// Relative motion r₁q₁ − r₂q₂.
    pub ratio: Option<[f64; 2]>,
    /// Points in the axes of each body, m; for rigid bodies, links and points in the plane or in space.
    pub at: [[f64; 3]; 2],
    /// The bodies that the ends were made from, if they were: a model refuses those of another one.
    pub(crate) bodies: [Option<Body>; 2],
}

impl Connection {
    /// Between two ports, at the reference points of bodies.
    pub fn between(first: impl Into<End>, second: impl Into<End>) -> Self {
        let ends: [End; 2] = [first.into(), second.into()];
        Connection {
            between: ends.map(|end| end.port),
            ratio: None,
            at: [[0.0; 3]; 2],
            bodies: ends.map(|end| end.body),
        }
    }

    /// At points given in the axes of each body.
    pub fn at(mut self, first: [f64; 3], second: [f64; 3]) -> Self {
        self.at = [first, second];
        self
    }

    /// With the relative motion r₁q₁ − r₂q₂.
    pub fn ratio(mut self, first: f64, second: f64) -> Self {
        self.ratio = Some([first, second]);
        self
    }
}

/// An element of the user's own and what it takes hold of.
#[derive(Clone, Debug)]
pub struct OwnElementSpec {
    /// What it takes hold of; the axes of all together are at most [`MOST_AXES`].
    pub connections: Vec<Connection>,
    /// What it does.
    pub law: OwnLaw,
}

/// A contact with laws of the user's own.
#[derive(Clone, Debug)]
pub struct OwnContactSpec {
    /// What touches what; the surface belongs to the second.
    pub between: [Port; 2],
    /// The surface; `None` for two spheres.
    pub surface: Option<Plane>,
    /// Law of the normal force, of one axis: its position is the gap, and its force pushes the bodies apart.
    pub normal: OwnLaw,
    /// Law of friction, of two axes along the plane: [`Motion::load`] is the normal force.
    pub friction: Option<OwnLaw>,
}
