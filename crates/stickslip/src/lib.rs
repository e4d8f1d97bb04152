//! Simulation of mechanical systems with friction and contact.
//!
//! A system is a network of bodies (force in, motion out) and elements (motion in, force out). It is read from a
//! [`scenario`] file or put together with a [`model::Model`], and moved by a [`Simulation`]. What sticks has a velocity of
//! exactly 0, at any step:
//!
//! ```
//! use stickslip::integrate::Method;
//! use stickslip::model::{Friction, GROUND, Model};
//!
//! let mut model = Model::new(1e-3, Method::ImplicitEuler); // step of 1 ms
//! let block = model.mass("block", 2.0, &[0.0], &[3.0]); // 2 kg at 3 m/s
//! let motor = model.actuator("motor", block, GROUND);
//! let floor = model.friction("floor", block, GROUND, Friction::law("implicit", 10.0).holding(12.0));
//! let mut simulation = model.build()?;
//!
//! simulation.advance(700)?; // friction of 10 N stops it within 0.6 s
//! assert_eq!(simulation.velocity(block), &[0.0]);
//! simulation.set_actuator(motor, 0, 11.0); // below the 12 N that hold it
//! simulation.advance_observed(100_000)?;
//! assert_eq!(simulation.velocity(block), &[0.0]);
//! assert_eq!(simulation.force(floor), &[-11.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | read a scenario file | [`scenario::Scenario::read`] |
//! | build a system in Rust | [`model::Model`] |
//! | step it, read motion and forces, set actuators | [`Simulation`] |
//! | copy it, keep its state, go back, set its motion | [`Simulation::snapshot`], [`Simulation::restore`], [`Simulation::set_position`] |
//! | run it to its end with a trace and a report | [`run::run`] |
//! | step many of them at once | [`batch::advance`] |
//! | run it many times with other values | [`sweep::Sweep`] |
//! | write an element or a body of your own | [`model::Model::own_element`], [`model::Model::own_body`] |
//! | know what was chosen and what to expect | [`advice::advise`] |
//! | see the laws and what they promise | [`core::registry`] |

pub mod advice;
pub mod analysis;
pub mod batch;
pub mod body;
pub mod build;
pub mod chain;
pub mod divergence;
pub mod element;
pub mod equations;
pub mod handle;
pub mod inclusion;
pub mod integrate;
pub mod ledger;
pub mod math;
pub mod memory;
pub mod model;
pub mod network;
pub mod profile;
pub mod quantity;
pub mod report;
pub mod run;
pub mod scenario;
pub mod shape;
pub mod simulation;
pub mod snapshot;
pub mod spheres;
pub mod stop;
pub mod sweep;
pub(crate) mod tally;
pub mod trace;

pub use handle::{Body, Element};
pub use simulation::{RunError, SetError, Simulation};
pub use snapshot::{Snapshot, SnapshotError};
pub use stickslip_core as core;
pub use stop::Stop;

/// The Rust examples of the pages, compiled.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/start.md")]
    mod start {}
    #[doc = include_str!("../../../docs/rust.md")]
    mod rust {}
}
