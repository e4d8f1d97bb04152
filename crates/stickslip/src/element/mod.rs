//! Elements (impedances): motion in, force out. Elements of one kind are stored together and evaluated in one loop.

pub mod actuator;
pub mod contact;
pub mod curve;
pub mod evolution;
pub mod friction;
pub mod inclusion;
pub mod joint;
pub mod laws;
pub mod normal;
pub mod own;
pub mod own_contact;
pub mod spring;
pub mod stop;

pub use crate::network::groups::{Elements, Mode, Observation};
