//! Small networks of the most common elements. Their groups are called without objects and their buffers have a fixed
//! size, so that the compiler sees through a whole step. It is the same code as for any other network, in the same
//! order, and gives the same bytes.

use super::Network;
use super::stage::{Groups, Stage};
use crate::element::actuator::Actuators;
use crate::element::friction::Frictions;
use crate::element::spring::Springs;
use crate::element::{Elements, Observation};
use std::any::Any;
use stickslip_core::friction::proxy::Proxy;

/// Length of the buffers, the ground included: up to ten numbers are integrated.
pub(crate) const SMALL: usize = 16;

/// Most groups of a small network.
const MOST: usize = 4;

/// Fewest steps in one call for which it pays to look at the network first.
pub(crate) const WORTHWHILE: u64 = 8;

/// One of the most common groups.
#[derive(Clone, Copy)]
enum Common<'a> {
    None,
    Springs(&'a Springs<1>),
    Actuators(&'a Actuators),
    Proxies(&'a Frictions<Proxy<f64, true>, 1>),
    Relaxed(&'a Frictions<Proxy<f64, false>, 1>),
}

impl<'a> Common<'a> {
    fn of(group: &'a dyn Elements) -> Option<Self> {
        let any: &dyn Any = group;
        let springs = any.downcast_ref().map(Common::Springs);
        springs
            .or_else(|| any.downcast_ref().map(Common::Actuators))
            .or_else(|| any.downcast_ref().map(Common::Proxies))
            .or_else(|| any.downcast_ref().map(Common::Relaxed))
    }
}

/// The groups of a small network.
pub(crate) struct Few<'a>([Common<'a>; MOST]);

impl<'a> Few<'a> {
    /// The groups of a network, if it is small and all of them are common.
    pub(crate) fn of(network: &'a Network) -> Option<Self> {
        let placed = !network.bodies.is_empty() || network.linkages.iter().any(|linkage| linkage.placed);
        if network.layout.len() > SMALL || network.elements.len() > MOST || placed {
            return None;
        }
        let mut groups = [Common::None; MOST];
        for (slot, group) in groups.iter_mut().zip(&network.elements) {
            *slot = Common::of(group.as_ref())?;
        }
        Some(Few(groups))
    }
}

impl Groups for Few<'_> {
    const TAKE_HOLD: bool = false;

    #[inline(always)]
    fn respond<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        debug_assert!(!OBSERVE, "small networks are observed as all others");
        let _ = seen;
        for group in &self.0 {
            match group {
                Common::None => break,
                Common::Springs(springs) => springs.act(stage.coordinates(), |_, _, _, _, _| ()),
                Common::Actuators(actuators) => actuators.act(stage.coordinates()),
                Common::Proxies(frictions) => frictions.act(stage.coordinates(), |_, _, _, _| ()),
                Common::Relaxed(frictions) => frictions.act(stage.coordinates(), |_, _, _, _| ()),
            }
        }
    }
}
