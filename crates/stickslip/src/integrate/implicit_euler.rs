//! The implicit step (seed 000, eqs 12-20; variant A of the order of operations): springs and dampers at the start of
//! the step, profiles at its end, friction and rigid contact at its end, positions with the new velocities.
//!
//! h = forces(x_{k−1}, v_{k−1}; profiles at t_k),  v_k = v_{k−1} + T·(h + f)/M with f by its law at v_k,  x_k = x_{k−1} + T·v_k

use super::lone::Lone;
use super::{NotFinite, Work, balls, finite};
use crate::body::rigid_body::advance_rotation;
use crate::network::few::WORTHWHILE;
use crate::network::implicit::{ImplicitStage, solve_islands};
use crate::network::rigid::clear_observations;
use crate::network::stage::{Stage, apply_in, input_power};
use crate::network::{Drive, Layout, Network, NetworkState, Scratch};
use nalgebra::Vector3;
use stickslip_core::scalar::Real;

/// Many steps.
pub(crate) fn run<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    mut steps: u64,
) -> Result<(), NotFinite> {
    if !OBSERVE
        && steps >= WORTHWHILE
        && let Some(lone) = Lone::of(network)
    {
        while steps > 0 {
            let done = lone.advance(state, scratch, steps);
            if done == 0 {
                break;
            }
            steps -= done;
        }
    }
    if !OBSERVE && steps >= WORTHWHILE && balls::are_all(network) && balls::advance(network, state, scratch, steps) {
        return Ok(());
    }
    (0..steps).try_for_each(|_| step::<OBSERVE>(network, state, scratch, work))
}

/// One step.
#[inline(always)]
fn step<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
) -> Result<(), NotFinite> {
    let n = network.layout.integrated();
    let index = 2 * (state.step + 1);
    network.signals.sample(index, &mut scratch.signals);
    // The state is looked at where it is; the buffers change places instead of being copied.
    std::mem::swap(&mut state.values, &mut scratch.trial);
    network.place_bodies(&scratch.trial, &mut scratch.frames, &mut scratch.linkages);
    if OBSERVE {
        clear_observations(&network.rigid, &scratch.trial, &mut scratch.seen);
    }
    let (before, _, mut room) = scratch.parts();
    apply_in::<OBSERVE, _>(network, &network.elements, before, &mut room, network.step);
    network.compress_stiff_springs(&scratch.trial, &mut scratch.compression);
    for group in &network.frictions {
        group.push(&mut stage::<OBSERVE>(network, scratch));
    }
    free_velocities(network, scratch);
    for group in &network.frictions {
        group.resolve(&mut stage::<OBSERVE>(network, scratch));
    }
    if !network.islands.is_empty() {
        solve_islands::<OBSERVE>(network, scratch);
    }
    if OBSERVE {
        account(network, scratch, work);
    }
    move_positions(network, scratch);
    let check = scratch.sum[..n].iter().map(|x| x * 0.0).sum();
    if let Err(error) = finite(check, &scratch.sum[..n]) {
        std::mem::swap(&mut state.values, &mut scratch.trial);
        return Err(error);
    }
    std::mem::swap(&mut state.values, &mut scratch.sum);
    state.step += 1;
    Ok(())
}

#[inline(always)]
fn stage<'a, const OBSERVE: bool>(network: &'a Network, scratch: &'a mut Scratch) -> ImplicitStage<'a> {
    ImplicitStage {
        network,
        step: network.step,
        before: &scratch.trial,
        after: &mut scratch.sum,
        load: &mut scratch.load,
        signals: scratch.signals.get(),
        compression: &scratch.compression,
        seen: if OBSERVE { Some(&mut scratch.seen) } else { None },
    }
}

/// v̄: the velocities without friction and rigid contact; element states by their explicit rates; driven velocities.
#[inline(always)]
fn free_velocities(network: &Network, scratch: &mut Scratch) {
    let layout = &network.layout;
    let step = network.step;
    let Scratch {
        trial,
        rate,
        sum,
        load,
        frames,
        linkages,
        signals,
        ..
    } = scratch;
    let inertial = (&network.inverse_mass[..], &network.gravity[..]);
    free_masses(layout, inertial, step, load, trial, sum);
    drive_velocities(&network.drives, signals.get(), step, trial, sum);
    if !(network.bodies.is_empty() && network.linkages.is_empty() && network.own_bodies.is_empty()) {
        network.accelerate(trial, frames, linkages, load, rate);
        let free = layout.positions + layout.masses + layout.drivers..layout.first_state();
        let before = trial[free.clone()].iter().zip(&rate[free.clone()]);
        for (after, (v, rate)) in sum[free].iter_mut().zip(before) {
            *after = v + step * rate;
        }
    }
    let states = layout.first_state()..layout.integrated();
    let before = trial[states.clone()].iter().zip(&rate[states.clone()]);
    for (after, (z, rate)) in sum[states].iter_mut().zip(before) {
        *after = z + step * rate;
    }
}

/// v̄ of masses: v + T·(h/m + g).
#[inline(always)]
pub(super) fn free_masses<R: Real>(
    layout: &Layout,
    (inverse_mass, gravity): (&[R], &[R]),
    step: R,
    load: &[R],
    before: &[R],
    after: &mut [R],
) {
    let (first, masses) = (layout.positions, layout.masses);
    let inertial = inverse_mass[..masses].iter().zip(&gravity[..masses]);
    let before = before[first..first + masses].iter().zip(&load[first..first + masses]);
    for ((after, (v, force)), (inverse_mass, gravity)) in
        after[first..first + masses].iter_mut().zip(before).zip(inertial)
    {
        *after = *v + step * (*force * *inverse_mass + *gravity);
    }
}

/// Velocities of drivers in the step: prescribed, or those that reach the prescribed positions.
#[inline(always)]
pub(super) fn drive_velocities<R: Real>(drives: &[Drive<R>], signals: &[R], step: R, before: &[R], after: &mut [R]) {
    for drive in drives {
        let (value, coordinate) = (signals[drive.signal], drive.coordinate);
        after[coordinate.v] = if drive.position {
            (value - before[coordinate.q]) / step
        } else {
            value
        };
    }
}

/// x_k = x_{k−1} + T·v_k of scalar coordinates, and the positions of drivers.
#[inline(always)]
pub(super) fn move_scalars<R: Real>(
    layout: &Layout,
    drives: &[Drive<R>],
    signals: &[R],
    step: R,
    before: &[R],
    after: &mut [R],
) {
    let scalars = layout.scalars();
    let (positions, velocities) = after.split_at_mut(layout.positions);
    let moved = before[..scalars].iter().zip(&velocities[..scalars]);
    for (after, (x, v)) in positions[..scalars].iter_mut().zip(moved) {
        *after = *x + step * *v;
    }
    for drive in drives {
        let value = signals[drive.signal];
        if drive.position {
            after[drive.coordinate.q] = value;
        } else {
            after[drive.sum] = before[drive.sum] + value;
            after[drive.coordinate.q] = drive.start + step * after[drive.sum];
        }
    }
}

/// x_k = x_{k−1} + T·v_k; rotations turn by the angle T·ω.
#[inline(always)]
fn move_positions(network: &Network, scratch: &mut Scratch) {
    let step = network.step;
    let Scratch {
        trial, sum, signals, ..
    } = scratch;
    move_scalars(&network.layout, &network.drives, signals.get(), step, trial, sum);
    for placed in &network.bodies {
        turn(placed.q, placed.v, step, trial, sum);
    }
    for placed in network
        .linkages
        .iter()
        .filter(|placed| placed.positions != placed.velocities)
    {
        turn(placed.q, placed.v, step, trial, sum);
        for i in 6..placed.velocities {
            sum[placed.q + i + 1] = trial[placed.q + i + 1] + step * sum[placed.v + i];
        }
    }
}

/// Moves the pose that begins at `q` with the velocities that begin at `v`.
fn turn(q: usize, v: usize, step: f64, before: &[f64], after: &mut [f64]) {
    for i in 0..3 {
        after[q + i] = before[q + i] + step * after[v + i];
    }
    let spin = Vector3::new(after[v + 3], after[v + 4], after[v + 5]);
    let rotation = advance_rotation([3, 4, 5, 6].map(|i| before[q + i]), &spin, step);
    after[q + 3..q + 7].copy_from_slice(&rotation);
}

/// The energy ledger of the step: every force acted through the whole step, so its work is T·f·w⁺.
fn account(network: &Network, scratch: &mut Scratch, work: &mut Work) {
    let layout = &network.layout;
    let step = network.step;
    work.kinetic += network.kinetic_loss(&scratch.trial, &scratch.sum);
    // Motion at the start of the step with the velocities of its end: that is what the forces worked on.
    scratch.rate[..layout.positions].copy_from_slice(&scratch.trial[..layout.positions]);
    scratch.rate[layout.velocities()].copy_from_slice(&scratch.sum[layout.velocities()]);
    let Scratch {
        trial,
        rate,
        sum,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        ..
    } = scratch;
    network.place_bodies(rate, frames, linkages);
    let moved = Stage {
        network,
        tau: step,
        state: rate,
        signals: signals.get(),
        frames,
        linkages,
        load: &mut *load,
        rate: trial,
        compression,
        motor_power: 0.0,
    };
    for group in &network.elements {
        group.regather(&moved, seen);
    }
    for group in &network.frictions {
        group.regather(moved.state, seen);
    }
    network.observe_stiff_springs(rate, sum, load, seen);
    work.input += step * input_power(network, sum, load, signals.get(), seen);
    for (element, seen) in seen.iter().enumerate() {
        work.delivered[element] += step * seen.power;
        work.kinetic -= step * seen.impact;
        let moved: f64 = seen.velocity.iter().map(|v| v * v).sum();
        work.own[element] += 0.5 * seen.curvature * step * step * moved;
    }
    rate.fill(0.0);
}
