//! What is found out about a signal while it passes by, and about the motion it belongs to: nothing here keeps a run in memory. Measured
//! data are read whole: their cycles, and the parameters of a law.

pub mod cycles;
pub mod measured;
pub mod recovery;
pub mod slip_events;
pub mod steady;
pub mod stick_slip;
pub mod subloading;
