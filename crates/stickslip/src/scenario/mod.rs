//! Scenario files: what the user writes, as checked data.
//!
//! [`Scenario::read`] turns a file (and `--set` arguments) into a [`Scenario`], or into a [`ScenarioError`] whose
//! text shows every slip with its line and some advice.
//!
//! ```
//! use stickslip::scenario::{BodySpec, Scenario};
//!
//! let text = r#"
//! [simulation]
//! duration = "4 s"
//! step = "1 ms"
//! integrator = "implicit-euler"
//!
//! [bodies.block]
//! kind = "mass"
//! mass = "500 g"
//! "#;
//! let scenario = Scenario::parse(text, "block.toml", &[])?;
//! let BodySpec::Mass(block) = &scenario.bodies[0].1 else { panic!() };
//! assert_eq!(block.mass, 0.5);
//!
//! let error = Scenario::parse(text, "block.toml", &["bodies.block.mass=-1".to_string()]).unwrap_err();
//! assert!(error.to_string().contains("must be greater than 0"));
//! # Ok::<(), stickslip::scenario::ScenarioError>(())
//! ```

mod also_called;
pub mod diagnostic;
mod keys;
pub mod own;
mod patch;
mod read;
pub(crate) mod rules;
mod schema;
mod set;
pub mod shape;
pub mod spec;
mod templates;
pub(crate) mod tree;

pub use also_called::law_meant;
pub use diagnostic::{Diagnostic, ScenarioError, Source, Span};
pub use own::{Connection, OwnContactSpec, OwnElementSpec};
pub use read::Draft;
pub use schema::schema;
pub use spec::*;
pub use templates::{TEMPLATES, Template};

#[cfg(test)]
mod tests;
