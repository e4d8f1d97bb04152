//! Explicit Runge-Kutta methods with one previous stage each, generalised to pass the stage step (seed 004, eqs 13, 21, 22):
//!
//! ξ_r = F(x_k + T_{r−1}·ξ_{r−1}, t_k + T_{r−1}; T_r),  x_{k+1} = x_k + T·Σ w_r·ξ_r
//!
//! With plain differential equations this is the classical method. A law in proxy form uses T_r for its own implicit
//! update; that keeps it stable in slip and makes it of first order while sticking.

use super::{NotFinite, Work, each, finite, fused};
use crate::network::few::{Few, SMALL, WORTHWHILE};
use crate::network::stage::{Groups, Room, clear, evaluate_in, input_power};
use crate::network::{Network, NetworkState, Scratch};

/// A method as data. Times are in half steps.
pub struct Tableau<const S: usize> {
    /// When each stage is evaluated, in half steps after the start.
    pub(super) nodes: [u64; S],
    /// Stage step passed to the laws, as a fraction of the step.
    pub(super) steps: [f64; S],
    /// Weight of each stage.
    pub(super) weights: [f64; S],
}

/// Explicit Euler (seed 004, eq 4).
pub const EULER: Tableau<1> = Tableau {
    nodes: [0],
    steps: [1.0],
    weights: [1.0],
};

/// The classical method (seed 004, eq 21).
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
    if !OBSERVE
        && steps >= WORTHWHILE
        && let Some(few) = Few::of(network)
    {
        let (mut x, mut trial, mut sum) = ([0.0; SMALL], [0.0; SMALL], [0.0; SMALL]);
        let (mut rate, mut load) = ([0.0; SMALL], [0.0; SMALL]);
        let mut room = Room {
            rate: &mut rate,
            load: &mut load,
            ..room
        };
        let n = values.len();
        x[..n].copy_from_slice(values);
        let mut outcome = Ok(());
        for _ in 0..steps {
            let buffers = (&mut x[..], &mut trial[..], &mut sum[..]);
            outcome = step::<OBSERVE, S>(tableau, network, &few, done, buffers, &mut room, work);
            if outcome.is_err() {
                break;
            }
        }
        values.copy_from_slice(&x[..n]);
        return outcome;
    }
    for _ in 0..steps {
        let buffers = (&mut values[..], &mut trial[..], &mut sum[..]);
        step::<OBSERVE, S>(tableau, network, &network.elements, done, buffers, &mut room, work)?;
    }
    Ok(())
}

/// One step of the state x, with buffers for the state of a stage and the sum of rates.
#[inline(always)]
fn step<const OBSERVE: bool, const S: usize>(
    tableau: &Tableau<S>,
    network: &Network,
    groups: &impl Groups,
    done: &mut u64,
    (x, trial, sum): (&mut [f64], &mut [f64], &mut [f64]),
    room: &mut Room<'_>,
    work: &mut Work,
) -> Result<(), NotFinite> {
    let n = network.layout.integrated();
    let step = network.step;
    clear(sum, 0..n);
    for r in 0..S {
        // The first stage looks at the state itself.
        let at = if r == 0 {
            &mut *x
        } else {
            let h = step * 0.5 * tableau.nodes[r] as f64;
            let weight = tableau.weights[r - 1];
            each(n, x.len(), |i| {
                trial[i] = x[i] + h * room.rate[i];
                sum[i] += weight * room.rate[i];
            });
            &mut *trial
        };
        let index = 2 * *done + tableau.nodes[r];
        evaluate_in::<OBSERVE, _>(network, groups, at, room, index, step * tableau.steps[r]);
        if OBSERVE {
            let share = step * tableau.weights[r];
            let power = input_power(network, at, room.load, room.signals.get(), room.seen);
            work.input += share * (power + *room.motor_power);
            for (delivered, seen) in work.delivered.iter_mut().zip(&*room.seen) {
                *delivered += share * seen.power;
            }
        }
    }
    let weight = tableau.weights[S - 1];
    let mut check = 0.0;
    each(n, x.len(), |i| {
        trial[i] = x[i] + step * (sum[i] + weight * room.rate[i]);
        check += trial[i] * 0.0;
    });
    finite(check, &trial[..n])?;
    each(n, x.len(), |i| x[i] = trial[i]);
    *done += 1;
    network.signals.sample(2 * *done, room.signals);
    network.place_drives(x, room.signals, 2 * *done);
    Ok(())
}
