//! The implicit step (the paper on model P, eqs 12-20; variant A of the order of operations): springs and dampers at the start of
//! the step, profiles at its end, friction and rigid contact at its end, positions with the new velocities.
//!
//! h = forces(x_{k−1}, v_{k−1}; profiles at t_k),  v_k = v_{k−1} + T·(h + f)/M with f by its law at v_k,  x_k = x_{k−1} + T·v_k
//!
//! Gyroscopic, centrifugal and Coriolis forces take no part in h: see `free_bodies` and `coast`.
//!
//! Where friction and contact are not solved together (bristles whose force falls faster than the masses hold, heaps), the step is done in
//! halves, and halves of these: with the step the mass outweighs every force. Profiles and drivers are those of the whole step. Where that
//! does not help, a larger residual is allowed, and told of (`ATTEMPTS`).

use super::{Halt, NotFinite, WORTHWHILE, Work, balls, finite};
use crate::body::frame::{rotation_matrix, vector};
use crate::body::rigid_body::advance_rotation;
use crate::network::coupled::SOLVED;
use crate::network::implicit::{
    ImplicitScratch, ImplicitStage, Span, UNSOLVED, move_linkages, solve_islands, still_joints, turn,
};
use crate::network::rigid::clear_observations;
use crate::network::stage::{Stage, apply_in, input_power};
use crate::network::{Drive, Layout, Network, NetworkState, PlacedBody, Scratch};
use crate::stop::is_set;
use crate::tally::Tallies;
use nalgebra::Vector3;
use stickslip_core::scalar::Real;

/// Many steps.
pub(crate) fn run<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    mut steps: u64,
) -> Result<(), Halt> {
    if !OBSERVE
        && steps > 0
        && let Some(alone) = super::one_coordinate(network)
    {
        while steps > 0 {
            let done = alone.advance(network, state, scratch, steps);
            if done == 0 {
                break;
            }
            steps -= done;
        }
    }
    if !OBSERVE && steps >= WORTHWHILE && balls::are_all(network) {
        while let Some(done) = balls::advance(network, state, scratch, steps) {
            steps -= done;
            if steps == 0 {
                return Ok(());
            }
            step::<OBSERVE>(network, state, scratch, work)?;
            steps -= 1;
        }
    }
    (0..steps).try_for_each(|_| step::<OBSERVE>(network, state, scratch, work))
}

/// Steps of a small network whose report is kept on the way; how many of them were done.
pub(crate) fn run_tallied(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    (work, tallies): (&mut Work, &mut Tallies),
    steps: u64,
) -> u64 {
    let mut done = 0;
    if let Some(alone) = super::one_coordinate(network) {
        while done < steps {
            match alone.advance_tallied(network, state, scratch, (work, tallies), steps - done) {
                0 => break,
                some => done += some,
            }
        }
    } else if network.bodies.len() == 1 && (steps == 1 || balls::are_all(network)) {
        // The last step is done as any other, and shows what the contact did.
        let quick = steps.saturating_sub(1);
        if quick > 0 && balls::advance_tallied(network, state, scratch, (work, tallies), quick) {
            done = quick;
        }
        if step::<true>(network, state, scratch, work).is_ok() {
            network.place_bodies(&state.values, &mut scratch.frames, &mut scratch.linkages);
            network.observe_gaps(&state.values, scratch);
            tallies.note(&scratch.seen, state.step, 1.0);
            done += 1;
        }
    }
    done
}

/// A part of a step, or all of it.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Its length, and what share of the step it is.
    pub(super) step: f64,
    pub(super) share: f64,
    /// What is left of the step where it begins.
    pub(super) left: f64,
    /// Whether the step ends with it.
    pub(super) last: bool,
}

/// Least share of a part.
const SPLINTER: f64 = 1.0 / (1u32 << 24) as f64;
/// Parts of one step that may fail before it is given up: where nothing is solved each takes milliseconds.
const MOST_FAILURES: u32 = 1000;

/// What is tried in turn where a whole step is not solved: the residual that is allowed, the first share of the step, the least one.
pub(super) const ATTEMPTS: [(f64, f64, f64); 3] = [
    (SOLVED, 0.5, 0.25),
    (1e-2 * UNSOLVED, 1.0, SPLINTER),
    (UNSOLVED, 1.0, SPLINTER),
];

/// Why a part of a step did not succeed.
pub(super) enum Trouble {
    NotFinite(NotFinite),
    /// A law or a velocity is no number, which no part of the step would change.
    Undefined,
    Unsolved,
    Stopped,
}

impl Trouble {
    pub(super) fn halt(self, time: f64) -> Halt {
        match self {
            Trouble::NotFinite(NotFinite { index }) => Halt::NotFinite { index },
            Trouble::Undefined | Trouble::Unsolved => Halt::Unsolved { time },
            Trouble::Stopped => Halt::Stopped,
        }
    }
}

/// One step.
#[inline(always)]
fn step<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
) -> Result<(), Halt> {
    let index = 2 * (state.step + 1);
    network.signals.sample(index, &mut scratch.signals);
    // The state is looked at where it is; the buffers change places instead of being copied.
    std::mem::swap(&mut state.values, &mut scratch.trial);
    let whole = Part {
        step: network.step,
        share: 1.0,
        left: network.step,
        last: true,
    };
    match piece::<OBSERVE>(network, scratch, work, whole) {
        Ok(()) => std::mem::swap(&mut state.values, &mut scratch.sum),
        Err(trouble) => {
            let outcome = match trouble {
                Trouble::Unsolved => in_halves::<OBSERVE>(network, scratch, work),
                other => Err(other),
            };
            std::mem::swap(&mut state.values, &mut scratch.trial);
            outcome.map_err(|trouble| trouble.halt(network.time(state.step + 1)))?;
        }
    }
    state.step += 1;
    Ok(())
}

/// A step in parts, from and to `scratch.trial`. What fails leaves state and energies as they were.
#[cold]
#[inline(never)]
fn in_halves<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, work: &mut Work) -> Result<(), Trouble> {
    let ImplicitScratch { start, start_work, .. } = &mut scratch.implicit;
    start.copy_from_slice(&scratch.trial);
    start_work.copy_from(work);
    let mut outcome = Ok(());
    for (allowed, first, least) in ATTEMPTS {
        scratch.implicit.allowed = allowed;
        outcome = by_shares(first, least, &mut |done, share| {
            let part = Part {
                step: share * network.step,
                share,
                left: (1.0 - done) * network.step,
                last: done + share == 1.0,
            };
            piece::<OBSERVE>(network, scratch, work, part)?;
            std::mem::swap(&mut scratch.trial, &mut scratch.sum);
            Ok(())
        });
        scratch.implicit.allowed = SOLVED;
        if outcome.is_ok() {
            break;
        }
        scratch.trial.copy_from_slice(&scratch.implicit.start);
        work.copy_from(&scratch.implicit.start_work);
        if !matches!(outcome, Err(Trouble::Unsolved)) {
            break;
        }
    }
    outcome
}

/// Does a whole step in parts. `part` receives how much of it is done, and the share to do next. A share that fails is halved, down to `least`.
pub(super) fn by_shares(
    first: f64,
    least: f64,
    part: &mut dyn FnMut(f64, f64) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let (mut done, mut share, mut failures) = (0.0, first, 0);
    while done < 1.0 {
        match part(done, share) {
            Ok(()) => {
                done += share;
                // The next part is as long as the halves before it allow.
                while share < 1.0 && (done / (2.0 * share)).fract() == 0.0 {
                    share *= 2.0;
                }
            }
            Err(Trouble::Unsolved) if share > least && failures < MOST_FAILURES => {
                failures += 1;
                share *= 0.5;
            }
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(())
}

/// A part of a step, from `scratch.trial` to `scratch.sum`.
#[inline(always)]
pub(super) fn piece<const OBSERVE: bool>(
    network: &Network,
    scratch: &mut Scratch,
    work: &mut Work,
    part: Part,
) -> Result<(), Trouble> {
    let n = network.layout.integrated();
    network.place_bodies(&scratch.trial, &mut scratch.frames, &mut scratch.linkages);
    if OBSERVE {
        clear_observations(network, &scratch.trial, &mut scratch.seen);
    }
    let (before, _, mut room) = scratch.parts();
    apply_in::<OBSERVE, _>(network, &network.elements, before, &mut room, part.step);
    network.compress_stiff_springs(&scratch.trial, &mut scratch.compression);
    for group in &network.frictions {
        group.push(&mut stage::<OBSERVE>(network, scratch, part));
    }
    if !free_velocities(network, scratch, part) {
        return Err(Trouble::Unsolved);
    }
    for group in &network.frictions {
        group.resolve(&mut stage::<OBSERVE>(network, scratch, part));
    }
    if !network.islands.is_empty() {
        let solved = solve_islands::<OBSERVE>(network, scratch, Span::whole(part.step));
        // A solve that was stopped may end anywhere.
        if is_set(scratch.stop.as_ref()) {
            return Err(Trouble::Stopped);
        }
        if !solved {
            let defined = scratch.implicit.unsolved.is_finite();
            return Err(if defined { Trouble::Unsolved } else { Trouble::Undefined });
        }
    }
    if OBSERVE {
        account(network, scratch, work, part.step);
    }
    move_positions(network, scratch, part);
    let lost = coast::<OBSERVE>(network, scratch, part.step);
    let Some(stilled) = still_joints::<OBSERVE>(network, scratch, part.step) else {
        return Err(Trouble::Unsolved);
    };
    if OBSERVE {
        work.kinetic += lost + stilled;
    }
    if !network.islands.is_empty() {
        forget_traces(&mut scratch.sum[..n]);
    }
    let check = scratch.sum[..n].iter().map(|x| x * 0.0).sum();
    finite(check, &scratch.sum[..n]).map_err(Trouble::NotFinite)
}

/// A motion that a damper ends halves for ever, down to numbers that have lost their digits, with which nothing is solved. Long before
/// that it is no motion.
pub(super) fn forget_traces(values: &mut [f64]) {
    const TRACE: f64 = 1e-200;
    for value in values {
        if value.abs() < TRACE {
            *value = 0.0;
        }
    }
}

#[inline(always)]
pub(super) fn stage<'a, const OBSERVE: bool>(
    network: &'a Network,
    scratch: &'a mut Scratch,
    part: Part,
) -> ImplicitStage<'a> {
    ImplicitStage {
        network,
        step: part.step,
        share: part.share,
        before: &scratch.trial,
        after: &mut scratch.sum,
        load: &mut scratch.load,
        signals: scratch.signals.get(),
        compression: &scratch.compression,
        seen: if OBSERVE { Some(&mut scratch.seen) } else { None },
    }
}

/// v̄: the velocities without friction and rigid contact; element states by their explicit rates; driven velocities. False if the spin of a
/// rigid body was not found.
#[inline(always)]
pub(super) fn free_velocities(network: &Network, scratch: &mut Scratch, part: Part) -> bool {
    let layout = &network.layout;
    let step = part.step;
    let inertial = (&network.inverse_mass[..], &network.gravity[..]);
    free_masses(layout, inertial, step, &scratch.load, &scratch.trial, &mut scratch.sum);
    let signals = scratch.signals.get();
    drive_velocities(&network.drives, signals, part.left, &scratch.trial, &mut scratch.sum);
    let solved = (network.bodies.is_empty() && network.linkages.is_empty() && network.own_bodies.is_empty())
        || free_bodies(network, scratch, step);
    let Scratch { trial, rate, sum, .. } = scratch;
    let states = layout.first_state()..layout.integrated();
    let before = trial[states.clone()].iter().zip(&rate[states.clone()]);
    for (after, (z, rate)) in sum[states].iter_mut().zip(before) {
        *after = z + step * rate;
    }
    solved
}

/// v̄ of rigid bodies, linkages and bodies of the user's own. Gyroscopic torques of rigid bodies are part of it; the velocity terms of linkages follow
/// when they move ([`coast`]).
fn free_bodies(network: &Network, scratch: &mut Scratch, step: f64) -> bool {
    let Scratch {
        trial,
        rate,
        sum,
        load,
        frames,
        turned,
        linkages,
        signals,
        ..
    } = scratch;
    let mut solved = true;
    for ((placed, frame), turned) in network.bodies.iter().zip(frames).zip(turned) {
        let (v, body) = (placed.v, &placed.body);
        let force = vector(load, v) + body.mass() * network.world_gravity;
        let torque = vector(load, v + 3);
        let rates = body.accelerate(frame, &force, &torque);
        for (i, rate) in rates.into_iter().enumerate() {
            sum[v + i] = trial[v + i] + step * rate;
        }
        *turned = Vector3::zeros();
        if !body.is_isotropic() && frame.angular_velocity != Vector3::zeros() {
            let Some(spin) = body.turn(frame, &torque, step, turned) else {
                solved = false;
                continue;
            };
            sum[v + 3..v + 6].copy_from_slice(spin.as_slice());
        }
    }
    for (placed, scratch) in network.linkages.iter().zip(linkages) {
        let v = placed.v..placed.v + placed.velocities;
        let motion = placed.motion(trial);
        placed
            .body
            .push(motion, placed.placed, &load[v.clone()], scratch, &mut rate[v]);
    }
    for placed in &network.own_bodies {
        placed.accelerate(trial, signals.get(), load, rate);
    }
    let linked = network.linkages.iter().map(|placed| (placed.v, placed.velocities));
    for (v, count) in linked.chain(network.own_bodies.iter().map(|placed| (placed.v, placed.count))) {
        for i in v..v + count {
            sum[i] = trial[i] + step * rate[i];
        }
    }
    solved
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

/// Velocities of drivers in the step: prescribed, or those that reach the prescribed positions in the time that is left.
#[inline(always)]
pub(super) fn drive_velocities<R: Real>(drives: &[Drive<R>], signals: &[R], left: R, before: &[R], after: &mut [R]) {
    for drive in drives {
        let (value, coordinate) = (signals[drive.signal], drive.coordinate);
        after[coordinate.v] = if drive.position {
            (value - before[coordinate.q]) / left
        } else {
            value
        };
    }
}

/// x_k = x_{k−1} + T·v_k of scalar coordinates.
#[inline(always)]
pub(super) fn move_scalars<R: Real>(layout: &Layout, step: R, before: &[R], after: &mut [R]) {
    let scalars = layout.scalars();
    let (positions, velocities) = after.split_at_mut(layout.positions);
    let moved = before[..scalars].iter().zip(&velocities[..scalars]);
    for (after, (x, v)) in positions[..scalars].iter_mut().zip(moved) {
        *after = *x + step * *v;
    }
}

/// The positions of drivers at the end of a step.
#[inline(always)]
pub(super) fn move_drives<R: Real>(drives: &[Drive<R>], signals: &[R], step: R, before: &[R], after: &mut [R]) {
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
pub(super) fn move_positions(network: &Network, scratch: &mut Scratch, part: Part) {
    let step = part.step;
    let Scratch {
        trial,
        sum,
        signals,
        implicit,
        ..
    } = scratch;
    let shift = if implicit.shifted { &implicit.shift[..] } else { &[] };
    let velocities = network.layout.velocities();
    // Impacts and overlaps move bodies by more than their velocity at the end.
    if implicit.shifted {
        implicit.ends[velocities.clone()].copy_from_slice(&sum[velocities.clone()]);
    }
    for (v, shift) in velocities.clone().zip(shift.get(velocities.clone()).unwrap_or(&[])) {
        sum[v] += shift;
    }
    move_scalars(&network.layout, step, trial, sum);
    if part.last {
        move_drives(&network.drives, signals.get(), network.step, trial, sum);
    } else {
        for drive in network.drives.iter().filter(|drive| !drive.position) {
            sum[drive.sum] = trial[drive.sum];
        }
    }
    for placed in &network.bodies {
        match implicit.shifted {
            true => displace(placed, step, trial, sum, implicit),
            false => turn(placed.q, placed.v, step, trial, sum),
        }
    }
    move_linkages(network, step, trial, sum);
    if implicit.shifted {
        sum[velocities.clone()].copy_from_slice(&implicit.ends[velocities]);
    }
}

/// Moves a rigid body in a step with an impact or an overlap: it turns with its spin of the start up to the impact, then with that of the end, and by what
/// parts it from what it overlaps. A turn about its spin keeps its energy; in the last one the spin turns with the body, which keeps it too.
#[cold]
fn displace(placed: &PlacedBody, step: f64, before: &[f64], after: &mut [f64], implicit: &mut ImplicitScratch) {
    let (q, v) = (placed.q, placed.v + 3);
    turn(q, placed.v, step, before, after);
    let (part, start, end) = (implicit.blow[v], vector(before, v), vector(&implicit.ends, v));
    let mut parting = vector(&implicit.shift, v) - part * (start - end);
    if parting.norm() <= 1e-14 * (start.norm() + end.norm()) {
        parting = Vector3::zeros();
    }
    let keeps = placed.body.is_isotropic() || parting == Vector3::zeros();
    if part == 0.0 && keeps {
        return;
    }
    let mut rotation = std::array::from_fn(|i| before[q + 3 + i]);
    for (spin, time) in [(start, part * step), (end, (1.0 - part) * step), (parting, step)] {
        rotation = advance_rotation(rotation, &spin, time);
    }
    after[q + 3..q + 7].copy_from_slice(&rotation);
    if !keeps {
        let parted = rotation_matrix(advance_rotation([1.0, 0.0, 0.0, 0.0], &parting, step));
        for spins in [&mut implicit.ends, &mut implicit.finals] {
            let spin = parted * vector(spins, v);
            spins[v..v + 3].copy_from_slice(spin.as_slice());
        }
    }
}

/// The velocity terms of linkages, which act while they move: velocities at the end of the step from those that moved them. Returns the energy that
/// the method takes by it.
#[inline(always)]
fn coast<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, step: f64) -> f64 {
    let Scratch {
        trial, sum, linkages, ..
    } = scratch;
    let mut lost = 0.0;
    for (placed, scratch) in network.linkages.iter().zip(linkages) {
        let (before, after) = sum.split_at_mut(placed.v);
        let v = &mut after[..placed.velocities];
        let moves = v.iter().any(|rate| *rate != 0.0);
        if moves && (OBSERVE || placed.body.has_velocity_terms()) {
            let q = placed.q..placed.q + placed.positions;
            let start = placed.motion(trial).1;
            lost += placed
                .body
                .coast((&trial[q.clone()], &before[q]), step, (start, v), scratch);
        }
    }
    lost
}

/// The energy ledger of the step: every force acted through the whole step, so its work is T·f·w⁺.
pub(super) fn account(network: &Network, scratch: &mut Scratch, work: &mut Work, step: f64) {
    let layout = &network.layout;
    work.kinetic += network.kinetic_loss(
        (&scratch.trial, &scratch.sum),
        (&scratch.frames, &scratch.turned),
        &mut scratch.rate,
        &mut scratch.linkages,
    );
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
        implicit,
        ..
    } = scratch;
    for group in &network.frictions {
        group.regather(rate, seen);
    }
    network.observe_stiff_springs(rate, sum, load, seen, step);
    if !network.point_springs.is_empty() {
        network.place_bodies(rate, frames, linkages);
        network.observe_point_springs(rate, (frames, linkages), (step, load), seen);
    }
    // Impacts and overlaps move bodies by more than their velocity at the end; what that does is the method's own.
    if implicit.shifted {
        for v in layout.velocities() {
            rate[v] += implicit.shift[v];
        }
        work.displaced += step * implicit.lifted;
    }
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
    work.input += step * (input_power(network, rate, load, linkages, signals.get(), seen) + implicit.belts);
    for (element, seen) in seen.iter().enumerate() {
        work.delivered[element] += step * seen.power;
        work.kinetic -= step * seen.impact;
        let moved: f64 = seen.velocity.iter().map(|v| v * v).sum();
        let bend = 0.5 * seen.curvature * step * step;
        work.own[element] += bend * moved;
        // Half of the change of force acts on the way of the driver: where it jumps there is no other work.
        work.input += bend * seen.hauled;
        work.driven += bend * seen.hauled;
    }
    rate.fill(0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_done_in_halves_and_given_up_after_many_failures() {
        // Whatever is longer than a share fails: how many fail, how many succeed, how much is done.
        let with_most = |most: f64| {
            let (mut failed, mut done, mut sum) = (0, 0, 0.0);
            let outcome = by_shares(0.5, SPLINTER, &mut |before, share| {
                assert_eq!(before, sum);
                if share > most {
                    failed += 1;
                    return Err(Trouble::Unsolved);
                }
                done += 1;
                sum += share;
                Ok(())
            });
            (outcome.is_ok(), failed, done, sum)
        };
        assert_eq!(with_most(0.5), (true, 0, 2, 1.0));
        // A quarter, another, the half that fails and is done in two quarters.
        assert_eq!(with_most(0.25), (true, 2, 4, 1.0));
        // Halved down to the least share.
        assert_eq!(with_most(0.0), (false, 24, 0, 0.0));
        // Half a million parts of which every second fails first.
        let (solved, failed, done, sum) = with_most(1.0 / f64::from(1 << 19));
        assert!(
            !solved && failed == MOST_FAILURES + 1 && done > 500 && sum < 0.01,
            "{failed} {done} {sum}"
        );
        // What is not a matter of the step is not tried again.
        let mut tried = 0;
        let outcome = by_shares(0.5, SPLINTER, &mut |_, _| {
            tried += 1;
            Err(Trouble::Stopped)
        });
        assert!(outcome.is_err() && tried == 1);
    }
}
