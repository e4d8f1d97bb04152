//! Impacts of the implicit step: contacts that the velocities v of its start close within it.
//!
//! The bodies of an island go on with v until the first of these gaps closes, at the part θ of the step. There, where they are then, all these contacts take
//! their impulses at once, and move on with the velocities v⁺ of the end of the step:
//!
//! M·(v⁺ − v − a) = T·Jᵀ·f,  w = J·v⁺ ≥ max(0, −e·J·v + (1 − θ)·J·a),  x⁺ = x + θ·T·v + (1 − θ)·T·v⁺
//!
//! with a what loads and weight change of v in a step (Newton's rule; friction by Coulomb's law between the impulses and the velocities after them: Moreau 1988).
//! Weight acts on the rebound through the rest of the step only, so that a body does not rise for nothing.
//!
//! Newton's rule with friction can gain energy (Kane and Levinson 1985): see [`gained`].

use super::{BlockSource, IMMOVABLE, ImplicitScratch, Island, IslandBody, Span, weigh, write_contacts};
use crate::body::frame::vector;
use crate::body::{Frame, LinkageScratch};
use crate::math::dense::dot;
use crate::network::rigid::Candidate;
use crate::network::scene::Begin;
use crate::network::{Network, Scratch};
use nalgebra::Vector3;

/// Times that the moment of the first impact is looked for, and the part of the step that is its rounding.
const MEETINGS: usize = 40;
const MET: f64 = 1e-15;

/// Brings an island to where it is when the first gap closes, and returns the part of the step before that; none if no gap closes on the way. Newton's method
/// on the gaps finds the moment; from the left, since gaps between bodies that do not turn are convex in time. So the outcome does not depend on where in the
/// step the gap closes.
///
/// Islands with linkages, joints and springs of the end of the step are solved where they begin.
pub(super) fn meet(network: &Network, island: &Island, scratch: &mut Scratch, span: Span) -> Option<f64> {
    let step = span.whole;
    let Scratch {
        trial,
        frames,
        linkages,
        implicit: room,
        ..
    } = scratch;
    let before: &[f64] = trial;
    let closing = room.touching.iter().filter(|candidate| candidate.impact);
    let mut part = closing
        .map(|candidate| candidate.before_impact(step))
        .fold(1.0, f64::min);
    let given = |body: &IslandBody| matches!(body, IslandBody::Linkage { .. } | IslandBody::Own { .. });
    if part == 0.0 || island.is_joined() || !island.locks.is_empty() || island.bodies.iter().any(given) {
        return Some(part);
    }
    let mut last = f64::INFINITY;
    for _ in 0..MEETINGS {
        place(network, island, room, before, part * step);
        let mut next = f64::INFINITY;
        for index in 0..room.touching.len() {
            let candidate = room.touching[index];
            if !candidate.impact {
                continue;
            }
            let meets = match moved(
                network,
                island,
                room,
                (before, frames, linkages),
                (candidate, part * step),
            ) {
                Some((now, gap)) if now.approach < 0.0 => part - gap / (now.approach * step),
                Some((_, gap)) if gap > 0.0 => f64::INFINITY,
                // Closed and open again.
                Some(_) => 0.5 * part,
                None => candidate.before_impact(step),
            };
            next = next.min(meets);
        }
        let change = (next.max(0.0) - part).abs();
        part = next.max(0.0);
        if change <= MET || part > 1.0 || change < 1e-9 && change >= 0.5 * last {
            break;
        }
        last = change;
    }
    let found = part <= 1.0;
    let ahead = if found { part } else { 1.0 };
    place(network, island, room, before, ahead * step);
    for index in 0..room.touching.len() {
        let candidate = room.touching[index];
        let now = moved(
            network,
            island,
            room,
            (before, frames, linkages),
            (candidate, ahead * step),
        );
        // What does not close on the way is no impact.
        let still = found && now.is_none_or(|(now, gap)| gap < -now.approach * step * (1.0 - part + 1e-9));
        let candidate = &mut room.touching[index];
        if let (true, Some((now, _))) = (found, now) {
            *candidate = now;
        }
        if candidate.impact && !still {
            candidate.pass(step);
        }
    }
    if !found {
        return None;
    }
    for body in &island.bodies {
        if let IslandBody::Rigid { body, .. } = *body {
            frames[body] = room.met_frames[body];
        }
    }
    look_from_there(network, island, scratch, step);
    let Scratch {
        trial,
        sum,
        frames,
        linkages,
        signals,
        implicit: room,
        ..
    } = scratch;
    weigh(
        network,
        island,
        (trial, signals.get()),
        frames,
        linkages,
        &mut room.matrix,
    );
    write_contacts(network, island, (trial, sum), (span, true), (frames, linkages), room);
    Some(part)
}

/// The island after a time with the velocities of the start of the step.
fn place(network: &Network, island: &Island, room: &mut ImplicitScratch, before: &[f64], time: f64) {
    let (met, first) = (&mut room.met, network.layout.positions);
    met.copy_from_slice(before);
    for i in 0..network.layout.scalars() {
        met[i] += time * before[first + i];
    }
    for body in &island.bodies {
        if let IslandBody::Rigid { body, .. } = *body {
            let placed = &network.bodies[body];
            super::turn(placed.q, placed.v, time, before, met);
            let (q, v) = (placed.q..placed.q + 7, placed.v..placed.v + 6);
            room.met_frames[body] = placed.body.place(&met[q], &met[v]);
        }
    }
}

/// A contact where the island is after a time, and its gap there; none if what touches is another feature then.
fn moved(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    (before, frames, linkages): (&[f64], &[Frame], &[LinkageScratch]),
    (mut candidate, time): (Candidate, f64),
) -> Option<(Candidate, f64)> {
    let gap = if candidate.found.is_some() {
        let scene = network.scene.as_ref()?;
        let begin = |state, frames| Begin {
            network,
            scene,
            before: state,
            after: state,
            frames,
            linkages,
            step: time,
        };
        let (start, met) = (begin(before, frames), begin(&room.met, &room.met_frames));
        room.scene.move_candidate(&mut candidate, &start, &met)?
    } else {
        let mut own = island.rigid.iter().map(|&rigid| &network.rigid[rigid]);
        let rigid = own.find(|rigid| candidate.is_of(rigid))?;
        let met = (&room.met[..], &room.met_frames[..], linkages);
        let gap = rigid.move_candidate(&mut candidate, network, (before, frames, linkages), met);
        gap.unwrap_or(candidate.gap + time * candidate.approach)
    };
    candidate.approach_at(network, before, (&room.met_frames, linkages), &mut room.inertia);
    Some((candidate, gap))
}

/// Free spins where the bodies are when the gap closes: those of the start are constant in world axes, their change is one in the axes of the body.
fn look_from_there(network: &Network, island: &Island, scratch: &mut Scratch, step: f64) {
    for body in &island.bodies {
        let IslandBody::Rigid { body, .. } = *body else {
            continue;
        };
        let (placed, frame) = (&network.bodies[body], &scratch.frames[body]);
        if placed.body.is_isotropic() || frame.angular_velocity == Vector3::zeros() {
            continue;
        }
        let (v, torque) = (placed.v + 3, vector(&scratch.load, placed.v + 3));
        if let Some(spin) = placed.body.turn(frame, &torque, step, &mut scratch.turned[body]) {
            scratch.sum[v..v + 3].copy_from_slice(spin.as_slice());
        }
    }
}

/// Finds a, what loads and weight change of the velocities, and how fast each contact that closes is after its impact.
pub(super) fn push(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    (before, after, load, frames): (&[f64], &[f64], &[f64], &[Frame]),
    (step, part): (f64, f64),
) {
    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            room.pushed[at + i] = after[v + i] - before[v + i];
        }
        if let IslandBody::Rigid { body, .. } = *body
            && !network.bodies[body].body.is_isotropic()
        {
            let inverse = network.bodies[body].body.world_inverse_inertia(&frames[body].rotation);
            let spin = step * (inverse * vector(load, v + 3));
            room.pushed[at + 3..at + 6].copy_from_slice(spin.as_slice());
        }
    }
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        let BlockSource::Rigid(index) = *source else { continue };
        let (mut pushed, mut moves) = (0.0, false);
        for side in rows.sides.iter().filter(|side| side.len > 0) {
            let at = island.bodies[side.body].range(network).2 + side.first;
            let normal = &room.jacobian[side.at..side.at + side.len];
            pushed += dot(normal, &room.pushed[at..at + side.len]);
            moves |= normal.iter().any(|entry| entry.abs() > IMMOVABLE);
        }
        let candidate = &mut room.touching[index];
        candidate.impact &= moves;
        candidate.carried = (1.0 - part) * pushed;
        candidate.collide(1.0);
    }
}

/// By how much the step gains energy, and the size of what it is a sum of. From the velocities v̄ without impulses to v⁺ that is
///
/// ½·T·Σ f·(w̄ + w) + M·a·(v̄ − ½·a − θ·v − (1 − θ)·v⁺):
///
/// the work of the impulses, and what loads and weight gave to v̄ less their work on the way θ·T·v + (1 − θ)·T·v⁺. A plastic impact never gains:
/// ½·f·(w̄ + w) ≤ f·w = 0.
pub(super) fn gained(
    network: &Network,
    island: &Island,
    room: &ImplicitScratch,
    (before, after): (&[f64], &[f64]),
    (step, part): (f64, f64),
) -> (f64, f64) {
    let (mut sum, mut size) = (0.0, 0.0);
    for ((f, w), free) in room.solver.force.iter().zip(&room.solver.velocity).zip(&room.free) {
        sum += 0.5 * step * f * (free + w);
        size += 0.5 * step * ((f * free).abs() + (f * w).abs());
    }
    if island.is_joined() {
        return (sum, size);
    }
    for (index, body) in island.bodies.iter().enumerate() {
        let (v, count, at) = body.range(network);
        let Some(place) = island.pattern.place(index, index) else {
            continue;
        };
        for i in 0..count {
            let line = &room.matrix[place + i * count..place + (i + 1) * count];
            let given = dot(line, &room.pushed[at..at + count]);
            let end = after[v + i] + room.solver.change[at + i];
            let way = part * before[v + i] + (1.0 - part) * end;
            let gain = given * (after[v + i] - 0.5 * room.pushed[at + i] - way);
            sum += gain;
            size += gain.abs();
        }
    }
    (sum, size)
}

/// The search for the largest common part of all coefficients of restitution with which an island gains no energy: 1, or where the gain is 0, by false
/// position (Dowell and Jarratt 1971: the Illinois method).
pub(super) struct Search {
    part: f64,
    low: [f64; 2],
    high: [f64; 2],
    rounds: u32,
    /// Whether the last part was below (−1) or above (1) the one that is looked for.
    side: i8,
}

/// A gain below this part of what it is a sum of is none; the search ends there, or after this many rounds.
const NO_GAIN: f64 = 1e-14;
const SEARCHES: u32 = 60;

impl Search {
    pub(super) fn new() -> Self {
        Search {
            part: 1.0,
            low: [0.0; 2],
            high: [1.0; 2],
            rounds: 0,
            side: 0,
        }
    }

    /// The next part to try after what the last one gained; none if that one does.
    pub(super) fn next(&mut self, (gain, size): (f64, f64)) -> Option<f64> {
        self.rounds += 1;
        let done = gain.abs() <= NO_GAIN * size;
        match self.rounds {
            1 if done || gain <= 0.0 => return None,
            1 => {
                self.high = [1.0, gain];
                self.part = 0.0;
                return Some(0.0);
            }
            2 if done || gain > 0.0 => return None,
            2 => self.low = [0.0, gain],
            _ if done || self.rounds > SEARCHES && self.part == self.low[0] => return None,
            _ if gain > 0.0 => {
                self.high = [self.part, gain];
                if self.side == 1 {
                    self.low[1] *= 0.5;
                }
                self.side = 1;
            }
            _ => {
                self.low = [self.part, gain];
                if self.side == -1 {
                    self.high[1] *= 0.5;
                }
                self.side = -1;
            }
        }
        let ([a, below], [b, above]) = (self.low, self.high);
        let between = b - above * (b - a) / (above - below);
        let narrow = b - a <= MET || self.rounds >= SEARCHES || !(a < between && between < b);
        if narrow && self.part == a {
            return None;
        }
        self.part = if narrow { a } else { between };
        Some(self.part)
    }
}

/// Positions move by T·(v⁺ + θ·(v − v⁺)). A plastic impact ends at gap 0.
pub(super) fn move_on(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    (before, after): (&[f64], &[f64]),
    part: f64,
) {
    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            let end = after[v + i] + room.solver.change[at + i];
            room.shift[v + i] += part * (before[v + i] - end);
        }
        room.blow[v..v + count].fill(part);
    }
    room.shifted = true;
}
