//! What is found out about a signal while it passes by: nothing here keeps a run in memory.

pub mod recovery;
pub mod slip_events;
pub mod stick_slip;
