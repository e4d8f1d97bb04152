//! Friction and contact laws, each written once for every kind of number: f64, f32, lanes of them, dual numbers.
//!
//! No allocation, no standard library (the default feature `std` only takes the square root from the hardware). Laws return
//! the force ON the first body; velocity is that of the first relative to the second. A block of 2 kg that friction of
//! 10 N stops, and the same steps for four blocks at once:
//!
//! ```
//! use stickslip_core::friction::implicit::resolve_constant;
//! use stickslip_core::scalar::{Lanes, Real};
//!
//! fn stop<R: Real>(velocity: f64, steps: usize) -> R {
//!     let compliance = R::lit(1e-3 / 2.0); // step over mass
//!     let mut v = [R::lit(velocity)];
//!     for _ in 0..steps {
//!         v = resolve_constant(v, compliance, R::lit(10.0)).velocity;
//!     }
//!     v[0]
//! }
//! assert_eq!(stop::<f64>(3.0, 700), 0.0); // stuck: exactly 0
//! assert!(stop::<f64>(3.0, 500) > 0.49);
//! assert_eq!(stop::<Lanes<4>>(3.0, 500).0, [stop::<f64>(3.0, 500); 4]);
//! ```
//!
//! The [`registry`] lists every law with its source, its parameters and the promises it keeps.
#![no_std]
#![forbid(unsafe_code)]
#[cfg(feature = "std")]
extern crate std;

pub mod contact;
pub mod friction;
pub mod registry;
pub mod roots;
pub mod scalar;
pub mod sets;
