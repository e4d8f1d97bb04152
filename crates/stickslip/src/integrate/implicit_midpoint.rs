//! The implicit midpoint rule with friction and rigid contact: second order in smooth motion, exact stick.
//!
//! v_m = v + ½T·M⁻¹(q_m)·(h(q_m, v_m) + Jᵀ(q_m)·f),  q_m = q + ½T·v_m,  f by its law at v_m;  v⁺ = 2·v_m − v,  q⁺ = q + T·v_m
//!
//! So half a backward Euler step finds the middle, with all forces there, and the end lies as far beyond it: the rule keeps every quadratic
//! energy, vibration and rotation among them. What has stuck since the start of the step has v = v_m = 0 and keeps v⁺ = 0 exactly. Positions
//! and forces of the middle are found by repeating the half step with the last ones, springs between coordinates within each half step.
//!
//! A rigid body turns with momentum and torque in the axes of the middle, Ω = R_mᵀ·ω: J·(Ω⁺ − Ω) = T·(τ − Ω_m × J·Ω_m), which keeps its energy.
//!
//! **Events.** The rule knows nothing of a slip that comes to rest within the step, a contact that closes, or a holding limit that is exceeded:
//! extrapolated, they would rebound. There the step is split: the midpoint rule up to the event, and for the rest friction and contact by their laws at
//! its end, with all other forces still in its middle; where a contact closes, the implicit Euler step. The error of the rest is of the order T², so the
//! method stays of second order while the number of events does not grow with that of the steps.

use super::implicit_euler;
use super::implicit_euler::{
    ATTEMPTS, Part, Trouble, by_shares, forget_traces, free_masses, move_positions, piece, stage,
};
use super::{Halt, Work, finite};
use crate::body::LinkageScratch;
use crate::body::frame::rotation_matrix;
use crate::body::frame::vector;
use crate::body::rigid_body::advance_rotation;
use crate::network::coupled::SOLVED;
use crate::network::implicit::{
    Event, ImplicitScratch, Span, hold_on, move_linkages, solve_islands, still_joints, turn,
};
use crate::network::rigid::clear_observations;
use crate::network::stage::{Room, Stage, apply_in, input_power};
use crate::network::{Network, NetworkState, PlacedBody, PlacedLinkage, Scratch};
use crate::stop::is_set;
use nalgebra::Matrix3;

/// Many steps.
pub(crate) fn run<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    steps: u64,
) -> Result<(), Halt> {
    (0..steps).try_for_each(|_| step::<OBSERVE>(network, state, scratch, work))
}

/// Half steps that look for the middle before the step is halved.
const MOST_ROUNDS: usize = 60;
/// Parts of a step below this are left to the implicit Euler step, and a slip that turns back so late has come to rest at the end.
const SLIVER: f64 = 1e-6;
/// Parts of a step that are tried before all of it is left to the implicit Euler step.
const MOST_TRIALS: usize = 8;
/// Halvings of the time of a release.
const HALVINGS: usize = 30;
/// Solves that a step may spend on finding events; then the implicit Euler step does the rest of it. A step with an event takes up to 130 (a four-bar
/// linkage, a house of cards); where bodies are wedged into each other something breaks away or closes in every part, however small, and takes thousands.
const MOST_SOLVES: u32 = 500;

/// One step.
fn step<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
) -> Result<(), Halt> {
    let index = state.step;
    for (end, drive) in scratch.implicit.driven.iter_mut().zip(&network.drives) {
        *end = network
            .signals
            .value_at(drive.signal, 2 * (index + 1), &scratch.signals);
    }
    scratch.implicit.at_end = false;
    scratch.implicit.keeps = true;
    scratch.implicit.second_order = true;
    std::mem::swap(&mut state.values, &mut scratch.trial);
    scratch.implicit.start.copy_from_slice(&scratch.trial);
    scratch.implicit.start_work.copy_from(work);
    scratch.implicit.pressed.copy_from_slice(&scratch.compression);
    scratch.implicit.solves = 0;
    let whole = Part {
        step: network.step,
        share: 1.0,
        left: network.step,
        last: true,
    };
    let mut outcome = stretch::<OBSERVE>(network, scratch, work, index, whole);
    for (allowed, first, least) in ATTEMPTS {
        if !matches!(outcome, Err(Trouble::Unsolved)) {
            break;
        }
        restore(scratch, work);
        scratch.implicit.allowed = allowed;
        outcome = by_shares(first, least, &mut |done, share| {
            let part = Part {
                step: share * network.step,
                share,
                left: (1.0 - done) * network.step,
                last: done + share == 1.0,
            };
            scratch.implicit.base.copy_from_slice(&scratch.trial);
            let outcome = stretch::<OBSERVE>(network, scratch, work, index, part);
            if outcome.is_err() {
                scratch.trial.copy_from_slice(&scratch.implicit.base);
            }
            outcome
        });
        scratch.implicit.allowed = SOLVED;
    }
    match outcome {
        Ok(()) => {
            end_drives(network, scratch, index);
            hold::<OBSERVE>(network, scratch, work, network.step);
        }
        Err(_) => restore(scratch, work),
    }
    std::mem::swap(&mut state.values, &mut scratch.trial);
    outcome.map_err(|trouble| trouble.halt(network.time(index + 1)))?;
    state.step += 1;
    Ok(())
}

/// Velocities of drivers at the end of the step, into `scratch.trial`, for which what is carried along in the middle moves as the driver does at the end, too, to the order of
/// the rule: of the parabola through the positions x at start, middle and end, (3·(x⁺ − x_m) − (x_m − x))/T; w_m + ½·(w⁺ − w) of velocities.
fn end_drives(network: &Network, scratch: &mut Scratch, index: u64) {
    for drive in &network.drives {
        let start = scratch.implicit.start[drive.coordinate.q];
        if drive.position && scratch.signals.is_held(drive.signal) {
            scratch.trial[drive.coordinate.v] = (scratch.trial[drive.coordinate.q] - start) / network.step;
            continue;
        }
        let at = |index: u64| network.signals.value_at(drive.signal, index, &scratch.signals);
        let [first, middle, end] = [2 * index, 2 * index + 1, 2 * index + 2].map(at);
        scratch.trial[drive.coordinate.v] = match drive.position {
            true => (3.0 * (end - middle) - (middle - start)) / network.step,
            false => middle + 0.5 * (end - first),
        };
    }
}

/// Brings the velocities that a part of a step ended with, in `scratch.trial`, in line with what holds.
fn hold<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, work: &mut Work, step: f64) {
    std::mem::swap(&mut scratch.trial, &mut scratch.sum);
    let [lost, input] = hold_on(network, scratch, step);
    std::mem::swap(&mut scratch.trial, &mut scratch.sum);
    if OBSERVE {
        work.kinetic += lost;
        work.input += input;
    }
}

/// Brings profiles to the middle of the step, also after parts of it that ended with it.
fn sample_middle(network: &Network, scratch: &mut Scratch, index: u64) {
    if std::mem::take(&mut scratch.implicit.at_end) {
        scratch.signals.leave_grid();
    }
    network.signals.sample(2 * index + 1, &mut scratch.signals);
}

/// The state and the energies of the start of the step.
fn restore(scratch: &mut Scratch, work: &mut Work) {
    scratch.trial.copy_from_slice(&scratch.implicit.start);
    scratch.compression.copy_from_slice(&scratch.implicit.pressed);
    work.copy_from(&scratch.implicit.start_work);
}

/// A part of a step from and to `scratch.trial`: the midpoint rule up to the first event, the implicit Euler step for the rest.
fn stretch<const OBSERVE: bool>(
    network: &Network,
    scratch: &mut Scratch,
    work: &mut Work,
    index: u64,
    part: Part,
) -> Result<(), Trouble> {
    let (mut share, mut done, mut closing) = (1.0, 0.0, false);
    for _ in 0..MOST_TRIALS {
        if share <= SLIVER || scratch.implicit.solves > MOST_SOLVES {
            break;
        }
        let first = Part {
            step: share * part.step,
            share: share * part.share,
            left: part.left,
            last: share == 1.0 && part.last,
        };
        sample_middle(network, scratch, index);
        let event = middle::<OBSERVE>(network, scratch, work, first, false)?;
        if event.is_none() {
            std::mem::swap(&mut scratch.trial, &mut scratch.sum);
            done = share;
            if event.strained
                && share == 1.0
                && part.share == 1.0
                && !rests(network, scratch, index)
                && !held(network, scratch, work, index, first)?
            {
                restore(scratch, work);
                (done, share) = (0.0, release(network, scratch, work, index, first)?);
                continue;
            }
            break;
        }
        closing |= event.closing;
        share *= if event.part < 1.0 {
            event.part
        } else {
            release(network, scratch, work, index, first)?
        };
    }
    if done == 1.0 {
        return Ok(());
    }
    if done > 0.0 {
        hold::<OBSERVE>(network, scratch, work, done * part.step);
    }
    network.signals.sample(2 * (index + 1), &mut scratch.signals);
    scratch.implicit.at_end = true;
    let rest = Part {
        step: (1.0 - done) * part.step,
        share: (1.0 - done) * part.share,
        left: part.left - done * part.step,
        last: part.last,
    };
    // Where a contact closes, positions follow the velocities after the impact.
    if closing
        || scratch.implicit.solves > MOST_SOLVES
        || !middle::<OBSERVE>(network, scratch, work, rest, true)?.is_none()
    {
        ending::<OBSERVE>(network, scratch, work, rest)?;
    }
    std::mem::swap(&mut scratch.trial, &mut scratch.sum);
    Ok(())
}

/// Whether nothing has moved in a step, and no force follows the time: what held in its middle holds at its end.
fn rests(network: &Network, scratch: &Scratch, index: u64) -> bool {
    let n = network.layout.integrated();
    // Forces that were solved for twice differ by rounding.
    let alike = |(now, before): (&f64, &f64)| (now - before).abs() <= 1e-12 * now.abs();
    scratch.trial[..n] == scratch.implicit.start[..n]
        && scratch.compression.iter().zip(&scratch.implicit.pressed).all(alike)
        && scratch.signals.last_until(2 * (index + 1))
}

/// Whether what held in the middle of a whole step still does just before its end. The state that was reached stays.
fn held(network: &Network, scratch: &mut Scratch, work: &mut Work, index: u64, part: Part) -> Result<bool, Trouble> {
    let Scratch {
        trial,
        compression,
        implicit,
        ..
    } = scratch;
    implicit.reached.copy_from_slice(trial);
    implicit.reached_pressed.copy_from_slice(compression);
    trial.copy_from_slice(&implicit.start);
    compression.copy_from_slice(&implicit.pressed);
    scratch.implicit.keeps = false;
    let outcome = holds(network, scratch, work, index, part, 1.0 - 1e-3);
    scratch.implicit.keeps = true;
    scratch.trial.copy_from_slice(&scratch.implicit.reached);
    scratch.compression.copy_from_slice(&scratch.implicit.reached_pressed);
    outcome
}

/// The part of a step before something breaks away from its holding limit, by halving.
fn release(network: &Network, scratch: &mut Scratch, work: &mut Work, index: u64, part: Part) -> Result<f64, Trouble> {
    let (mut low, mut high) = (0.0, 1.0);
    let mut kept = std::mem::take(&mut scratch.implicit.base);
    kept.copy_from_slice(&scratch.trial);
    let mut outcome = Ok(());
    for _ in 0..HALVINGS {
        if scratch.implicit.solves > MOST_SOLVES {
            break;
        }
        let share = 0.5 * (low + high);
        let still = holds(network, scratch, work, index, part, share);
        scratch.trial.copy_from_slice(&kept);
        match still {
            Ok(true) => low = share,
            Ok(false) | Err(Trouble::Unsolved) => high = share,
            Err(trouble) => {
                outcome = Err(trouble);
                break;
            }
        }
    }
    scratch.implicit.base = kept;
    outcome.map(|()| low)
}

/// Whether everything still holds after a share of a part: a step of no length keeps it. `scratch.trial` is lost.
fn holds(
    network: &Network,
    scratch: &mut Scratch,
    work: &mut Work,
    index: u64,
    part: Part,
    share: f64,
) -> Result<bool, Trouble> {
    let first = Part {
        step: share * part.step,
        share: share * part.share,
        left: part.left,
        last: false,
    };
    sample_middle(network, scratch, index);
    if !middle::<false>(network, scratch, work, first, false)?.is_none() {
        return Ok(false);
    }
    std::mem::swap(&mut scratch.trial, &mut scratch.sum);
    let start = network.time(index + 1) - part.left;
    network.signals.sample_at(start + first.step, &mut scratch.signals);
    let instant = Part {
        step: SLIVER * network.step,
        share: SLIVER,
        left: part.left - first.step,
        last: false,
    };
    scratch.implicit.watched = true;
    let moved = ending::<false>(network, scratch, work, instant);
    scratch.implicit.watched = false;
    moved.map(|()| !scratch.implicit.event.release)
}

/// The midpoint rule over a part of a step, from `scratch.trial` to `scratch.sum`; with `at_end` the laws of friction and contact see the velocities of its
/// end, all other forces still the middle. An event other than none says why nothing was done.
fn middle<const OBSERVE: bool>(
    network: &Network,
    scratch: &mut Scratch,
    work: &mut Work,
    part: Part,
    at_end: bool,
) -> Result<Event, Trouble> {
    let layout = &network.layout;
    let velocities = layout.velocities();
    let n = layout.integrated();
    let (step, half) = (part.step, 0.5 * part.step);
    let placement = &mut scratch.implicit.placement;
    network.place_bodies(&scratch.trial, &mut placement.frames, &mut placement.linkages);
    scratch.implicit.middle.copy_from_slice(&scratch.trial);
    scratch.implicit.begun.copy_from_slice(&scratch.compression);
    let mut last = f64::INFINITY;
    let mut found = false;
    for _ in 0..MOST_ROUNDS {
        place_middle(network, scratch, half);
        press_again(network, scratch);
        if OBSERVE {
            clear_observations(network, &scratch.trial, &mut scratch.seen);
        }
        apply_middle::<OBSERVE>(network, scratch, half);
        let Scratch {
            implicit, compression, ..
        } = scratch;
        network.compress_stiff_springs(&implicit.middle, compression);
        for group in &network.frictions {
            group.push(&mut stage::<OBSERVE>(network, scratch, part));
        }
        free_velocities(network, scratch, part, at_end);
        for group in &network.frictions {
            group.resolve(&mut stage::<OBSERVE>(network, scratch, part));
        }
        if !network.islands.is_empty() {
            scratch.implicit.solves += 1;
            let solved = solve_islands::<OBSERVE>(
                network,
                scratch,
                if at_end { Span::mean(step) } else { Span::middle(step) },
            );
            if is_set(scratch.stop.as_ref()) {
                return Err(Trouble::Stopped);
            }
            if !solved {
                let defined = scratch.implicit.unsolved.is_finite();
                return Err(if defined { Trouble::Unsolved } else { Trouble::Undefined });
            }
            // A closed contact that approaches has not been solved.
            if scratch.implicit.event.closing && scratch.implicit.event.part == 0.0 {
                press_again(network, scratch);
                return Ok(scratch.implicit.event);
            }
        }
        let change = mean_velocities(network, scratch, half, at_end);
        let Scratch {
            trial, sum, implicit, ..
        } = scratch;
        let largest = |most: f64, v: usize| most.max(sum[v].abs()).max(trial[v].abs());
        let size = velocities.clone().fold(0.0, largest);
        for state in layout.first_state()..n {
            implicit.middle[state] = 0.5 * (trial[state] + sum[state]);
        }
        // At rounding the changes no longer fall.
        found = change <= 4.0 * f64::EPSILON * size || change <= 1e-13 * size && change >= 0.5 * last;
        if found {
            break;
        }
        last = change;
    }
    if !found {
        return Err(Trouble::Unsolved);
    }
    let event = scratch.implicit.event;
    if event.part < 1.0 - SLIVER && (event.closing || !at_end) || event.release && !at_end {
        press_again(network, scratch);
        return Ok(event);
    }
    if OBSERVE {
        account(network, scratch, work, part);
    }
    // Positions move with the mean velocities.
    let Scratch { sum, implicit, .. } = scratch;
    final_velocities(network, &scratch.trial, sum, implicit, half, at_end);
    sum[velocities.clone()].copy_from_slice(&implicit.middle[velocities.clone()]);
    move_positions(network, scratch, part);
    let Scratch { sum, implicit, .. } = scratch;
    sum[velocities.clone()].copy_from_slice(&implicit.finals[velocities]);
    for (drive, end) in network.drives.iter().zip(&implicit.driven) {
        if part.last && drive.position {
            sum[drive.coordinate.q] = *end;
        }
    }
    if OBSERVE {
        account_linkages(network, scratch, work, part);
    }
    let Some(stilled) = still_joints::<OBSERVE>(network, scratch, part.step) else {
        return Err(Trouble::Unsolved);
    };
    if OBSERVE {
        work.kinetic += stilled;
    }
    if !network.islands.is_empty() {
        forget_traces(&mut scratch.sum[..n]);
    }
    let check = scratch.sum[..n].iter().map(|x| x * 0.0).sum();
    finite(check, &scratch.sum[..n]).map_err(Trouble::NotFinite)?;
    Ok(Event {
        strained: event.strained,
        ..Event::NONE
    })
}

/// The implicit Euler step over a part of a step, from `scratch.trial` to `scratch.sum`. The velocity terms of linkages are those of the mean motion, so
/// that what comes to rest or breaks away within it feels them.
fn ending<const OBSERVE: bool>(
    network: &Network,
    scratch: &mut Scratch,
    work: &mut Work,
    part: Part,
) -> Result<(), Trouble> {
    if network.linkages.is_empty() {
        return piece::<OBSERVE>(network, scratch, work, part);
    }
    let n = network.layout.integrated();
    scratch.implicit.middle.copy_from_slice(&scratch.trial);
    scratch.implicit.begun.copy_from_slice(&scratch.compression);
    let mut last = f64::INFINITY;
    let mut found = false;
    for _ in 0..MOST_ROUNDS {
        network.place_bodies(&scratch.trial, &mut scratch.frames, &mut scratch.linkages);
        press_again(network, scratch);
        if OBSERVE {
            clear_observations(network, &scratch.trial, &mut scratch.seen);
        }
        let (before, _, mut room) = scratch.parts();
        apply_in::<OBSERVE, _>(network, &network.elements, before, &mut room, part.step);
        network.compress_stiff_springs(&scratch.trial, &mut scratch.compression);
        for group in &network.frictions {
            group.push(&mut stage::<OBSERVE>(network, scratch, part));
        }
        if !implicit_euler::free_velocities(network, scratch, part) {
            return Err(Trouble::Unsolved);
        }
        push_linkages(network, scratch, part.step);
        for group in &network.frictions {
            group.resolve(&mut stage::<OBSERVE>(network, scratch, part));
        }
        if !network.islands.is_empty() {
            let solved = solve_islands::<OBSERVE>(network, scratch, Span::whole(part.step));
            if is_set(scratch.stop.as_ref()) {
                return Err(Trouble::Stopped);
            }
            if !solved {
                let defined = scratch.implicit.unsolved.is_finite();
                return Err(if defined { Trouble::Unsolved } else { Trouble::Undefined });
            }
        }
        let Scratch {
            trial, sum, implicit, ..
        } = scratch;
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for placed in &network.linkages {
            for v in placed.v..placed.v + placed.velocities {
                let mean = 0.5 * (trial[v] + sum[v]);
                let moved = (mean - implicit.middle[v]).abs();
                change = if moved.is_nan() { 0.0 } else { change.max(moved) };
                size = size.max(sum[v].abs()).max(trial[v].abs());
                implicit.middle[v] = mean;
            }
        }
        found = change <= 1e-12 * size || change <= 1e-9 * size && change >= 0.5 * last;
        if found {
            break;
        }
        last = change;
    }
    if !found {
        return Err(Trouble::Unsolved);
    }
    let event = scratch.implicit.event;
    if OBSERVE {
        implicit_euler::account(network, scratch, work, part.step);
    }
    move_positions(network, scratch, part);
    if OBSERVE {
        account_ending(network, scratch, work, part);
    }
    let Some(stilled) = still_joints::<OBSERVE>(network, scratch, part.step) else {
        return Err(Trouble::Unsolved);
    };
    if OBSERVE {
        work.kinetic += stilled;
    }
    if !network.islands.is_empty() {
        forget_traces(&mut scratch.sum[..n]);
    }
    scratch.implicit.event = event;
    let check = scratch.sum[..n].iter().map(|x| x * 0.0).sum();
    finite(check, &scratch.sum[..n]).map_err(Trouble::NotFinite)
}

/// Velocities of linkages without friction and rigid contact at the end of a part of a step, with the velocity terms of the mean motion found last.
fn push_linkages(network: &Network, scratch: &mut Scratch, step: f64) {
    let Scratch {
        trial,
        rate,
        sum,
        load,
        linkages,
        implicit,
        ..
    } = scratch;
    move_linkages(network, 0.5 * step, trial, &mut implicit.middle);
    let rooms = linkages.iter_mut().zip(&mut implicit.placement.linkages);
    for (placed, (scratch, room)) in network.linkages.iter().zip(rooms) {
        let range = placed.v..placed.v + placed.velocities;
        let tau = &mut implicit.inertia[..placed.velocities];
        tau.copy_from_slice(&load[range.clone()]);
        let (q, v) = placed.motion(&implicit.middle);
        placed.body.velocity_terms(q, v, room, tau);
        let out = &mut rate[range.clone()];
        placed
            .body
            .push_with(placed.motion(trial), placed.placed, tau, scratch, out);
        for v in range {
            sum[v] = trial[v] + step * rate[v];
            rate[v] = 0.0;
        }
    }
}

/// What that step takes from linkages: their energy at the start, less that at the end, and the work of all forces on them through the velocities of its
/// end, v⁺·M·(v⁺ − v − T·a₀) with the acceleration a₀ without these forces.
fn account_ending(network: &Network, scratch: &mut Scratch, work: &mut Work, part: Part) {
    let Scratch {
        trial,
        rate,
        sum,
        load,
        linkages,
        implicit,
        ..
    } = scratch;
    for ((placed, scratch), room) in network
        .linkages
        .iter()
        .zip(linkages)
        .zip(&mut implicit.placement.linkages)
    {
        let (first, n) = (placed.v, placed.velocities);
        let lost = linkage_energy(placed, trial, scratch) - linkage_energy(placed, sum, scratch);
        let (q, v) = placed.motion(&implicit.middle);
        load[first..first + n].fill(0.0);
        placed.body.velocity_terms(q, v, room, &mut load[first..first + n]);
        let (q, v) = placed.motion(trial);
        placed.body.place(q, v, scratch);
        placed.body.clear_loads(scratch);
        let (tau, out) = (&load[first..first + n], &mut rate[first..first + n]);
        placed.body.push_with((q, v), placed.placed, tau, scratch, out);
        placed.body.place(q, v, scratch);
        placed.body.mass_matrix(scratch, &mut implicit.inertia[..n * n]);
        for i in 0..n {
            for j in 0..n {
                let inertia = implicit.inertia[i * n + j];
                let change = sum[first + j] - trial[first + j];
                let given = sum[first + i] * inertia * (change - part.step * rate[first + j]);
                // The implicit Euler step has counted ½·Δv·M·Δv.
                work.kinetic += given - 0.5 * (sum[first + i] - trial[first + i]) * inertia * change;
            }
        }
        work.kinetic += lost;
        rate[first..first + n].fill(0.0);
    }
}

/// Energy of motion and weight of a linkage in a state.
fn linkage_energy(placed: &PlacedLinkage, state: &[f64], scratch: &mut LinkageScratch) -> f64 {
    let (q, v) = placed.motion(state);
    placed.body.place(q, v, scratch);
    placed.body.kinetic_energy(scratch) + placed.body.potential_energy(scratch)
}

/// Places everything half a step on from the start, by the velocities of the middle found last.
fn place_middle(network: &Network, scratch: &mut Scratch, half: f64) {
    let Scratch {
        trial,
        implicit,
        frames,
        linkages,
        ..
    } = scratch;
    let middle = &mut implicit.middle;
    let first = network.layout.positions;
    for i in 0..network.layout.scalars() {
        middle[i] = trial[i] + half * middle[first + i];
    }
    for placed in &network.bodies {
        turn(placed.q, placed.v, half, trial, middle);
    }
    move_linkages(network, half, trial, middle);
    network.place_bodies(middle, frames, linkages);
}

/// Forces of rigid elements act on frictions that follow them in the step after, however often this one is tried.
fn press_again(network: &Network, scratch: &mut Scratch) {
    for rigid in &network.rigid {
        scratch.compression[rigid.element] = scratch.implicit.begun[rigid.element];
    }
}

/// The forces of the elements in the middle.
fn apply_middle<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, half: f64) {
    let Scratch {
        rate,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        motor_power,
        implicit,
        ..
    } = scratch;
    let mut room = Room {
        rate,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        motor_power,
    };
    apply_in::<OBSERVE, _>(network, &network.elements, &implicit.middle, &mut room, half);
}

/// Velocities of the middle, or of the end, without friction and rigid contact, element states at the end.
fn free_velocities(network: &Network, scratch: &mut Scratch, part: Part, at_end: bool) {
    let layout = &network.layout;
    let half = 0.5 * part.step;
    let time = if at_end { part.step } else { half };
    let Scratch {
        trial,
        rate,
        sum,
        load,
        frames,
        linkages,
        signals,
        implicit,
        ..
    } = scratch;
    let inertial = (&network.inverse_mass[..], &network.gravity[..]);
    free_masses(layout, inertial, time, load, trial, sum);
    for (drive, end) in network.drives.iter().zip(&implicit.driven) {
        let (coordinate, value) = (drive.coordinate, signals.get()[drive.signal]);
        let (begun, position) = (trial[coordinate.v], trial[coordinate.q]);
        // The mean velocity m of what is left of the step.
        let left = match drive.position {
            true => (end - position) / part.left,
            false if part.left == network.step => value,
            false => (drive.start + network.step * (trial[drive.sum] + value) - position) / part.left,
        };
        // Its velocity changes evenly, from w to 2·m − w.
        let mean = match part.step == part.left {
            true => left,
            false => begun + (left - begun) * (part.step / part.left),
        };
        sum[coordinate.v] = if at_end { 2.0 * mean - begun } else { mean };
    }
    for (placed, frame) in network.bodies.iter().zip(frames) {
        let (v, body) = (placed.v, &placed.body);
        let force = vector(load, v) + body.mass() * network.world_gravity;
        let rates = body.accelerate(frame, &force, &vector(load, v + 3));
        for i in 0..3 {
            sum[v + i] = trial[v + i] + time * rates[i];
        }
        let start = half_turn(placed.v, placed.body.is_isotropic(), &implicit.middle, half) * vector(trial, v + 3);
        for i in 0..3 {
            sum[v + 3 + i] = start[i] + time * rates[3 + i];
        }
    }
    for (placed, scratch) in network.linkages.iter().zip(linkages) {
        placed.accelerate(&implicit.middle, load, scratch, rate);
    }
    for placed in &network.own_bodies {
        placed.accelerate(&implicit.middle, signals.get(), load, rate);
    }
    let linked = network.linkages.iter().map(|placed| (placed.v, placed.velocities));
    for (v, count) in linked.chain(network.own_bodies.iter().map(|placed| (placed.v, placed.count))) {
        for i in v..v + count {
            sum[i] = trial[i] + time * rate[i];
        }
    }
    for state in layout.first_state()..layout.integrated() {
        sum[state] = trial[state] + part.step * rate[state];
    }
}

/// The turn of a rigid body from the start to the middle, or from there to the end: its axes turn, in which its momentum is looked at.
fn half_turn(v: usize, isotropic: bool, middle: &[f64], half: f64) -> Matrix3<f64> {
    if isotropic {
        return Matrix3::identity();
    }
    rotation_matrix(advance_rotation([1.0, 0.0, 0.0, 0.0], &vector(middle, v + 3), half))
}

/// Mean velocities from those that were solved for, into the middle. Returns their largest change.
fn mean_velocities(network: &Network, scratch: &mut Scratch, half: f64, at_end: bool) -> f64 {
    let Scratch {
        trial, sum, implicit, ..
    } = scratch;
    let mut change = 0.0f64;
    let mut set = |slot: &mut f64, mean: f64| {
        let moved = (mean - *slot).abs();
        // What is not a number ends the run when the part is done.
        change = if moved.is_nan() { change } else { change.max(moved) };
        *slot = mean;
    };
    let turning = |placed: &PlacedBody| at_end && !placed.body.is_isotropic();
    let mut turned = network
        .bodies
        .iter()
        .filter(|placed| turning(placed))
        .map(|placed| placed.v + 3)
        .peekable();
    let mut v = network.layout.velocities().start;
    while v < network.layout.velocities().end {
        if turned.next_if_eq(&v).is_some() {
            let start = half_turn(v - 3, false, &implicit.middle, half) * vector(trial, v);
            for i in 0..3 {
                set(&mut implicit.middle[v + i], 0.5 * (start[i] + sum[v + i]));
            }
            v += 3;
            continue;
        }
        let mean = match at_end {
            true => 0.5 * (trial[v] + sum[v]),
            false => sum[v],
        };
        set(&mut implicit.middle[v], mean);
        v += 1;
    }
    change
}

/// Velocities at the end. Where the middle was solved for, they are as far beyond it as it is beyond the start.
fn final_velocities(
    network: &Network,
    start: &[f64],
    solved: &[f64],
    implicit: &mut ImplicitScratch,
    half: f64,
    at_end: bool,
) {
    for v in network.layout.velocities() {
        implicit.finals[v] = match at_end {
            true => solved[v],
            false => 2.0 * solved[v] - start[v],
        };
    }
    for placed in network.bodies.iter().filter(|placed| !placed.body.is_isotropic()) {
        let v = placed.v + 3;
        let turned = half_turn(placed.v, false, &implicit.middle, half);
        let spin = match at_end {
            true => turned * vector(solved, v),
            false => turned * (2.0 * vector(solved, v) - turned * vector(start, v)),
        };
        implicit.finals[v..v + 3].copy_from_slice(spin.as_slice());
    }
}

/// The energy ledger: every force acted through the whole part with the motion of its middle.
fn account(network: &Network, scratch: &mut Scratch, work: &mut Work, part: Part) {
    place_middle(network, scratch, 0.5 * part.step);
    let Scratch {
        trial,
        rate,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        implicit,
        ..
    } = scratch;
    for group in &network.frictions {
        group.regather(&implicit.middle, seen);
    }
    network.observe_stiff_springs(trial, &implicit.middle, load, seen, 0.5 * part.step);
    network.observe_point_springs(&implicit.middle, (frames, linkages), (0.0, load), seen);
    rate.copy_from_slice(&implicit.middle);
    // Overlaps move bodies by more than their velocity; what that does is the method's own.
    if implicit.shifted {
        for v in network.layout.velocities() {
            rate[v] += implicit.shift[v];
        }
        work.displaced += part.step * implicit.lifted;
        network.place_bodies(rate, frames, linkages);
    }
    let moved = Stage {
        network,
        tau: part.step,
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
    work.input += part.step * (input_power(network, rate, load, linkages, signals.get(), seen) + implicit.belts);
    for (element, seen) in seen.iter().enumerate() {
        work.delivered[element] += part.step * seen.power;
        work.kinetic -= part.step * seen.impact;
    }
    rate.fill(0.0);
}

/// What the rule takes from linkages, whose inertia changes on the way: their energy at the start, less that at the end, and the work of all forces
/// on them, T·v_m·M_m·(a − a₀) with the acceleration a of the step and a₀ without these forces.
fn account_linkages(network: &Network, scratch: &mut Scratch, work: &mut Work, part: Part) {
    let Scratch {
        trial,
        rate,
        sum,
        load,
        linkages,
        implicit,
        ..
    } = scratch;
    for (placed, scratch) in network.linkages.iter().zip(linkages) {
        let v = placed.v..placed.v + placed.velocities;
        let n = placed.velocities;
        let lost = linkage_energy(placed, trial, scratch) - linkage_energy(placed, sum, scratch);
        let (q, velocity) = placed.motion(&implicit.middle);
        placed.body.place(q, velocity, scratch);
        placed.body.clear_loads(scratch);
        load[v.clone()].fill(0.0);
        placed.accelerate(&implicit.middle, load, scratch, rate);
        placed.body.place(q, velocity, scratch);
        let inertia = &mut implicit.inertia[..n * n];
        placed.body.mass_matrix(scratch, inertia);
        let mut given = 0.0;
        for i in 0..n {
            for j in 0..n {
                let column = placed.v + j;
                let acceleration = (sum[column] - trial[column]) / part.step;
                given += velocity[i] * inertia[i * n + j] * (acceleration - rate[column]);
            }
        }
        work.kinetic += lost + part.step * given;
        rate[v].fill(0.0);
    }
}
