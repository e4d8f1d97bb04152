//! Several networks side by side: the variants of a sweep go through the same steps, each in a lane of a vector. Every lane
//! does exactly what its network would do alone, bit for bit (tested).

use super::runge_kutta::{EULER, RK4};
use super::{Method, fused, lone};
use crate::network::{Network, NetworkState, Scratch};

/// Lanes of a pack: one vector of 256 bits. Latency is hidden by several packs, not by longer ones, whose numbers would not
/// fit into the registers.
pub(super) const WIDTH: usize = 4;

/// Most networks that are moved together: packs enough that none waits for its own sums.
pub(crate) const MOST: usize = 32;

/// One network and its state.
pub(crate) struct Lane<'a> {
    pub(crate) network: &'a Network,
    pub(crate) state: &'a mut NetworkState,
    pub(crate) scratch: &'a mut Scratch,
}

/// Whether a network can go beside others of its kind.
pub(crate) fn takes(method: Method, network: &Network) -> bool {
    match method {
        Method::ImplicitEuler => lone::Lone::of(network).is_some(),
        Method::Euler | Method::Rk4 => fused::lanes::takes(network),
        _ => false,
    }
}

/// Moves networks with the same step up to `steps` steps. One that cannot go with the others, or whose numbers do not stay
/// finite, is left behind where it parted from them and goes on alone.
pub(crate) fn run(method: Method, lanes: &mut [Lane<'_>], steps: u64) {
    match method {
        Method::ImplicitEuler => lone::run_lanes(lanes, steps),
        Method::Euler => fused::lanes::run_lanes(&EULER, lanes, steps),
        Method::Rk4 => fused::lanes::run_lanes(&RK4, lanes, steps),
        _ => (),
    }
}

/// Keeps the compiler from joining one pack with the next: it would take lane 0 of every pack for one vector and spend its
/// time on putting them together.
#[inline(always)]
pub(super) fn fence() {
    std::hint::black_box(());
}
