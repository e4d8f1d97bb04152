//! What the command line and the Python package share: studies that are more than one run, and how their results are written.
//!
//! Nothing here prints or reads arguments. A study takes what it needs as values, ends early once a [`stickslip::Stop`] is set, and says
//! what went wrong as a [`Fault`].

pub mod analyse;
pub mod compare;
pub mod experiments;
mod fault;
pub mod laws;
pub mod panels;
pub mod rows;
pub mod warnings;
pub mod words;

pub use fault::{Fault, suggestion, unknown_law};
