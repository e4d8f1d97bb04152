//! A flag that ends long work early: set by a signal handler or another thread, looked at by every long loop.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends long work early; copies are the same flag.
///
/// Shared, not borrowed: the room that a simulation computes in holds one while it runs.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Stop {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Stop(flag)
    }
}

impl Deref for Stop {
    type Target = AtomicBool;

    fn deref(&self) -> &AtomicBool {
        &self.0
    }
}

/// Whether there is a flag and it is set.
#[inline]
pub(crate) fn is_set(stop: Option<&Stop>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}
