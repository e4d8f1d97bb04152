//! Explicit Runge-Kutta methods with one previous stage each, generalised to pass the stage step (the paper on modular simulation, eqs 13, 21, 22):
//!
//! ξ_r = F(x_k + T_{r−1}·ξ_{r−1}, t_k + T_{r−1}; T_r),  x_{k+1} = x_k + T·Σ w_r·ξ_r
//!
//! With plain differential equations this is the classical method. A law in proxy form uses T_r for its own implicit
//! update; that keeps it stable in slip and makes it of first order while sticking.

use super::{NotFinite, WORTHWHILE, Work, finite, fused};
use crate::network::stage::{Room, evaluate_in, input_power};
use crate::network::{Network, NetworkState, Scratch};
use crate::tally::Tallies;
use stickslip_core::scalar::Real;

/// A method as data. Times are in half steps.
pub struct Tableau<const S: usize> {
    /// When each stage is evaluated, in half steps after the start.
    pub(super) nodes: [u64; S],
    /// Stage step passed to the laws, as a fraction of the step.
    pub(super) steps: [f64; S],
    /// Weight of each stage.
    pub(super) weights: [f64; S],
}

/// Explicit Euler (the paper on modular simulation, eq 4).
pub const EULER: Tableau<1> = Tableau {
    nodes: [0],
    steps: [1.0],
    weights: [1.0],
};

/// The classical method (the paper on modular simulation, eq 21).
pub const RK4: Tableau<4> = Tableau {
    nodes: [0, 1, 1, 2],
    steps: [0.5, 0.5, 1.0, 1.0],
    weights: [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
};

/// Many steps.
pub(crate) fn run<const OBSERVE: bool, const S: usize>(
    tableau: &Tableau<S>,
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    steps: u64,
) -> Result<(), NotFinite> {
    if !OBSERVE
        && steps >= WORTHWHILE
        && let Some(outcome) = fused::run(tableau, network, state, scratch, steps)
    {
        return outcome;
    }
    let (trial, sum, mut room) = scratch.parts();
    let NetworkState { values, step: done, .. } = state;
    let mut system = Single::<OBSERVE> {
        network,
        room: &mut room,
        work,
    };
    system.run(tableau, done, (values, trial, sum), steps)
}

/// Steps of a small network whose report is kept on the way; how many of them were done.
pub(crate) fn run_tallied<const S: usize>(
    tableau: &Tableau<S>,
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    report: (&mut Work, &mut Tallies),
    steps: u64,
) -> u64 {
    match super::fused(network) {
        Some(small) => small.run_tallied(tableau, network, state, scratch, report, steps),
        None => 0,
    }
}

/// What a method moves: a network, or several side by side.
pub(super) trait System<R> {
    /// Finds the rate of a state at a grid index (half steps) with stage step `tau`. `share` is what the stage counts, times
    /// the step. Driven coordinates of the state are set to their profiles.
    fn evaluate(&mut self, state: &mut [R], index: u64, tau: f64, share: f64);

    /// The rate found last.
    fn rate(&self) -> &[R];
}

/// One network.
struct Single<'a, 'r, const OBSERVE: bool> {
    network: &'a Network,
    room: &'a mut Room<'r>,
    work: &'a mut Work,
}

impl<const OBSERVE: bool> System<f64> for Single<'_, '_, OBSERVE> {
    #[inline(always)]
    fn evaluate(&mut self, state: &mut [f64], index: u64, tau: f64, share: f64) {
        let (network, room) = (self.network, &mut *self.room);
        evaluate_in::<OBSERVE>(network, state, room, index, tau);
        if OBSERVE {
            let power = input_power(network, state, room.load, room.linkages, room.signals.get(), room.seen);
            self.work.input += share * (power + *room.motor_power);
            for own in &network.own_bodies {
                self.work.within += share * own.power_within(state, room.signals.get(), room.load, room.rate);
            }
            for (delivered, seen) in self.work.delivered.iter_mut().zip(&*room.seen) {
                *delivered += share * seen.power;
            }
        }
    }

    #[inline(always)]
    fn rate(&self) -> &[f64] {
        self.room.rate
    }
}

impl<const OBSERVE: bool> Single<'_, '_, OBSERVE> {
    #[inline(always)]
    fn run<const S: usize>(
        &mut self,
        tableau: &Tableau<S>,
        done: &mut u64,
        (x, trial, sum): (&mut [f64], &mut [f64], &mut [f64]),
        steps: u64,
    ) -> Result<(), NotFinite> {
        let network = self.network;
        let n = network.layout.integrated();
        for _ in 0..steps {
            let buffers = (&mut x[..], &mut trial[..], &mut sum[..]);
            let check = step(tableau, self, n, network.step, *done, buffers);
            finite(check, &trial[..n])?;
            x[..n].copy_from_slice(&trial[..n]);
            *done += 1;
            network.signals.sample(2 * *done, self.room.signals);
            network.place_drives(x, self.room.signals, 2 * *done);
        }
        Ok(())
    }
}

/// One step of `n` numbers from the state x, with buffers for the state of a stage and the sum of rates. The state at the
/// end is left in the first of them; the sum of it times 0 is returned, which tells whether it is finite.
#[inline(always)]
pub(super) fn step<R: Real, const S: usize>(
    tableau: &Tableau<S>,
    system: &mut impl System<R>,
    n: usize,
    step: f64,
    done: u64,
    (x, trial, sum): (&mut [R], &mut [R], &mut [R]),
) -> R {
    sum[..n].fill(R::zero());
    for r in 0..S {
        // The first stage looks at the state itself.
        let at = if r == 0 {
            &mut *x
        } else {
            let h = R::lit(step * 0.5 * tableau.nodes[r] as f64);
            let weight = R::lit(tableau.weights[r - 1]);
            let rate = system.rate();
            for i in 0..n {
                trial[i] = x[i] + h * rate[i];
                sum[i] += weight * rate[i];
            }
            &mut *trial
        };
        let (index, tau) = (2 * done + tableau.nodes[r], step * tableau.steps[r]);
        system.evaluate(at, index, tau, step * tableau.weights[r]);
    }
    let (weight, step) = (R::lit(tableau.weights[S - 1]), R::lit(step));
    let mut check = R::zero();
    let rate = system.rate();
    for i in 0..n {
        trial[i] = x[i] + step * (sum[i] + weight * rate[i]);
        check += trial[i] * R::zero();
    }
    check
}
