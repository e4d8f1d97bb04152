//! The numbers a law can be evaluated with: `f64`, `f32`, SIMD lanes and dual numbers.

mod dual;
pub mod elementary;
mod float;
mod lanes;
mod real;
pub mod vector;

pub use dual::Dual;
pub use lanes::{F64x8, LaneMask, Lanes};
pub use real::{LookUp, Mask, Real};
