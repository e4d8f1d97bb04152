//! Bodies: force in, motion out.

pub(crate) mod frame;
pub mod linkage;
pub mod own;
pub mod rigid_body;

pub use frame::Frame;
pub(crate) use linkage::TwoHinges;
pub use linkage::{FixedLink, JointKind, LinkDescription, Linkage, LinkageError, LinkageScratch};
pub use own::{OwnBody, OwnBodySpec};
pub use rigid_body::{RigidBody, RigidBodyError, Shape, quaternion_rate};
