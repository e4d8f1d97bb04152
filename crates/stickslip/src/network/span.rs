//! A step that is solved as a whole, as elements see it.

/// A step in progress, as frictions see it.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// State at the start.
    pub before: &'a [f64],
    /// The step T.
    pub step: f64,
    /// How laws go through it.
    pub course: Course,
    /// Another state on the way.
    pub other: &'a [f64],
    /// What the velocities at the start, in that other state and at the end count in the mean velocity of the step.
    pub weights: [f64; 3],
}

/// How friction laws go through a step that is solved as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// Linearised at the start.
    Linear,
    /// By their own implicit update, with the mean velocity.
    Mean,
    /// So, with what they found last as a guess, where a law maps steps ([`stickslip_core::friction::Bristle::maps`]); the
    /// others give their rates at the end.
    Mapped,
}
