//! Impacts of the implicit step: contacts that the velocities v of its start close within it.
//!
//! Bodies that touch, or are about to, go on with v until the first of these gaps closes, at the part θ of the step. There, where they are then, the contacts
//! that close take their impulses, those that close together at once, and the bodies move on with the velocities v⁺ of the end of the step:
//!
//! M·(v⁺ − v − a) = T·Jᵀ·f,  w = J·v⁺ ≥ max(0, −e·J·v + (1 − θ)·J·a),  x⁺ = x + θ·T·v + (1 − θ)·T·v⁺
//!
//! with a what loads and weight change of v in a step (Newton's rule; friction by Coulomb's law between the impulses and the velocities after them: Moreau 1988).
//! Weight acts on the rebound through the rest of the step only, so that a body does not rise for nothing. A contact that would close later takes part only
//! where it would do so with v⁺, too.
//!
//! Newton's rule with friction can gain energy (Kane and Levinson 1985): see [`gained`].

use super::{BlockSource, IMMOVABLE, ImplicitScratch, Island, IslandBody, Side, Span, weigh, write_contacts};
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

/// When bodies of an island meet.
#[derive(Default)]
pub(super) struct Meeting {
    /// The first of the bodies that touch each other, or are about to, for each body.
    first: Vec<usize>,
    /// The part of the step before the first impact among these bodies; infinite where there is none.
    part: Vec<f64>,
    next: Vec<f64>,
}

impl Meeting {
    pub(super) fn of(bodies: usize) -> Self {
        let mut meeting = Meeting::default();
        meeting.fit(bodies);
        meeting
    }

    pub(super) fn fit(&mut self, bodies: usize) {
        self.first.resize(self.first.len().max(bodies), 0);
        for parts in [&mut self.part, &mut self.next] {
            parts.resize(parts.len().max(bodies), 0.0);
        }
    }

    fn first(&self, mut body: usize) -> usize {
        while self.first[body] != body {
            body = self.first[body];
        }
        body
    }

    fn join(&mut self, bodies: [usize; 2]) {
        if !bodies.contains(&Side::NONE.body) {
            let [a, b] = bodies.map(|body| self.first(body));
            self.first[a.max(b)] = a.min(b);
        }
    }

    /// The group of a contact.
    fn group(&self, bodies: [usize; 2]) -> Option<usize> {
        let body = bodies.into_iter().find(|&body| body != Side::NONE.body)?;
        Some(self.first(body))
    }

    /// The part of the step before the impact of a body; 0 where there is none.
    fn before(&self, body: usize) -> f64 {
        let part = self.part[self.first(body)];
        if part <= 1.0 { part } else { 0.0 }
    }
}

/// Brings the bodies of an island to where they are when the first gap of each group that touches closes. Newton's method on the gaps finds the moment; from
/// the left, since gaps between bodies that do not turn are convex in time. So the outcome does not depend on where in the step the gap closes.
///
/// Islands with linkages, joints and springs of the end of the step are solved where they begin.
pub(super) fn meet(network: &Network, island: &Island, scratch: &mut Scratch, span: Span) {
    let step = span.whole;
    let Scratch {
        trial,
        frames,
        linkages,
        implicit: room,
        ..
    } = scratch;
    let before: &[f64] = trial;
    let count = island.bodies.len();
    let mut meeting = std::mem::take(&mut room.meeting);
    for body in 0..count {
        (meeting.first[body], meeting.part[body]) = (body, f64::INFINITY);
    }
    let [.., rigid] = island.first_holds();
    let touching = || room.touching.iter().zip(&room.holds);
    let joins = touching().filter(|(candidate, _)| candidate.impact || candidate.gap <= 0.0);
    for hold in island.holds[..rigid].iter().chain(joins.map(|(_, hold)| hold)) {
        meeting.join(hold.bodies);
    }
    for (candidate, hold) in touching().filter(|(candidate, _)| candidate.impact) {
        if let Some(group) = meeting.group(hold.bodies) {
            meeting.part[group] = meeting.part[group].min(candidate.before_impact(step));
        }
    }
    let given = |body: &IslandBody| matches!(body, IslandBody::Linkage { .. } | IslandBody::Own { .. });
    let free = !island.is_joined() && island.locks.is_empty() && !island.bodies.iter().any(given);
    let open = (0..count).any(|body| meeting.before(body) > 0.0);
    if free && open {
        let mut last = f64::INFINITY;
        for _ in 0..MEETINGS {
            place(network, island, room, before, (&meeting, step));
            meeting.next[..count].fill(f64::INFINITY);
            for index in 0..room.touching.len() {
                let (candidate, hold) = (room.touching[index], room.holds[index]);
                let Some(group) = meeting.group(hold.bodies).filter(|_| candidate.impact) else {
                    continue;
                };
                let part = meeting.part[group];
                let meets = match part {
                    ..=1.0 => match moved(
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
                    },
                    _ => part,
                };
                meeting.next[group] = meeting.next[group].min(meets.max(0.0));
            }
            let mut change = 0.0f64;
            for group in 0..count {
                let (part, next) = (meeting.part[group], meeting.next[group]);
                if part <= 1.0 {
                    change = change.max((next - part).abs().min(1.0));
                    meeting.part[group] = next;
                }
            }
            if change <= MET || change < 1e-9 && change >= 0.5 * last {
                break;
            }
            last = change;
        }
        place(network, island, room, before, (&meeting, step));
    }
    let moves = free && (0..count).any(|body| meeting.before(body) > 0.0);
    for index in 0..room.touching.len() {
        let (candidate, hold) = (room.touching[index], room.holds[index]);
        let Some(group) = meeting.group(hold.bodies) else {
            room.touching[index].impact = false;
            continue;
        };
        let part = meeting.part[group];
        let time = part * step;
        let mut inside = hold.bodies.into_iter().filter(|&body| body != Side::NONE.body);
        let now = match moves && inside.any(|body| meeting.before(body) > 0.0) {
            true => moved(network, island, room, (before, frames, linkages), (candidate, time)),
            false => None,
        };
        let there = &mut room.touching[index];
        let gap = match now {
            Some((now, gap)) => {
                *there = now;
                gap
            }
            None => candidate.gap + time.min(step) * candidate.approach,
        };
        if candidate.impact {
            let gap = if part <= 1.0 { gap } else { f64::INFINITY };
            there.classify(gap, step, (1.0 - part) * step);
        }
    }
    room.meeting = meeting;
    if !moves {
        return;
    }
    for (index, body) in island.bodies.iter().enumerate() {
        if let IslandBody::Rigid { body, .. } = *body
            && room.meeting.before(index) > 0.0
        {
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
}

/// The island when its groups meet, by the velocities of the start of the step.
fn place(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    before: &[f64],
    (meeting, step): (&Meeting, f64),
) {
    let (met, first) = (&mut room.met, network.layout.positions);
    met.copy_from_slice(before);
    for (index, body) in island.bodies.iter().enumerate() {
        let time = step * meeting.before(index);
        match *body {
            IslandBody::Rigid { body, .. } => {
                let placed = &network.bodies[body];
                super::turn(placed.q, placed.v, time, before, met);
                let (q, v) = (placed.q..placed.q + 7, placed.v..placed.v + 6);
                room.met_frames[body] = placed.body.place(&met[q], &met[v]);
            }
            IslandBody::Masses { v, count, .. } => {
                for v in v..v + count {
                    met[v - first] += time * before[v];
                }
            }
            IslandBody::Linkage { .. } | IslandBody::Own { .. } => (),
        }
    }
}

/// A contact where its bodies are after a time, and its gap there; none if what touches is another feature then.
fn moved(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    (before, frames, linkages): (&[f64], &[Frame], &[LinkageScratch]),
    (mut candidate, time): (Candidate, f64),
) -> Option<(Candidate, f64)> {
    for drive in &network.drives {
        let driven = drive.coordinate;
        room.met[driven.q] = before[driven.q] + time * before[driven.v];
    }
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
        room.scene.meet_candidate(&mut candidate, &start, &met)?
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
    for (index, body) in island.bodies.iter().enumerate() {
        let IslandBody::Rigid { body, .. } = *body else {
            continue;
        };
        let (placed, frame) = (&network.bodies[body], &scratch.frames[body]);
        let spins = !placed.body.is_isotropic() && frame.angular_velocity != Vector3::zeros();
        if !spins || scratch.implicit.meeting.before(index) == 0.0 {
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
    step: f64,
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
        let (mut pushed, mut moves, mut part) = (0.0, false, 0.0);
        for side in rows.sides.iter().filter(|side| side.len > 0) {
            let at = island.bodies[side.body].range(network).2 + side.first;
            let normal = &room.jacobian[side.at..side.at + side.len];
            pushed += dot(normal, &room.pushed[at..at + side.len]);
            moves |= normal.iter().any(|entry| entry.abs() > IMMOVABLE);
            part = room.meeting.before(side.body);
        }
        let candidate = &mut room.touching[index];
        candidate.impact &= moves;
        candidate.carried = (1.0 - part) * pushed;
        candidate.collide(1.0);
    }
}

/// Whether contacts that would have closed later do so with the velocities that were found, too: then they take part.
pub(super) fn take_part(room: &mut ImplicitScratch) -> bool {
    let mut more = false;
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if let BlockSource::Rigid(index) = *source
            && room.touching[index].late
            && room.solver.force[rows.first] > 0.0
        {
            let candidate = &mut room.touching[index];
            (candidate.late, candidate.impact) = (false, true);
            candidate.collide(1.0);
            more = true;
        }
    }
    more
}

/// By how much the step gains energy, and the size of what it is a sum of. From the velocities v̄ without impulses to v⁺ that is
///
/// ½·T·Σ f·(w̄ + w) + M·a·(v̄ − ½·a − θ·v − (1 − θ)·v⁺):
///
/// the work of the impulses, and what loads and weight gave to v̄ less their work on the way θ·T·v + (1 − θ)·T·v⁺. A plastic impact never gains:
/// ½·f·(w̄ + w) ≤ f·w = 0. Where the heat of the contacts, −½·T·Σ f·(J·v + w), is negative, that counts as a gain, too.
pub(super) fn gained(
    network: &Network,
    island: &Island,
    room: &ImplicitScratch,
    (before, after): (&[f64], &[f64]),
    step: f64,
) -> (f64, f64) {
    let (mut sum, mut size, mut cold) = (0.0, 0.0, 0.0);
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        for k in 0..rows.count {
            let (f, w) = (room.solver.force[rows.first + k], room.solver.velocity[rows.first + k]);
            let free = room.free[rows.first + k];
            sum += 0.5 * step * f * (free + w);
            size += 0.5 * step * ((f * free).abs() + (f * w).abs());
            cold += 0.5
                * step
                * f
                * match *source {
                    BlockSource::Rigid(index) => room.touching[index].start(k) + w,
                    BlockSource::Turning(index) => room.turning[index].start[k] + w,
                    BlockSource::Friction(_) | BlockSource::Lock(..) => 0.0,
                };
        }
    }
    if island.is_joined() {
        return (sum, size);
    }
    for (index, body) in island.bodies.iter().enumerate() {
        let (v, count, at) = body.range(network);
        let Some(place) = island.pattern.place(index, index) else {
            continue;
        };
        let part = room.meeting.before(index);
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
    (sum.max(cold), size)
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
) {
    for (index, body) in island.bodies.iter().enumerate() {
        let part = room.meeting.before(index);
        if part == 0.0 {
            continue;
        }
        let (v, count, at) = body.range(network);
        for i in 0..count {
            let end = after[v + i] + room.solver.change[at + i];
            room.shift[v + i] += part * (before[v + i] - end);
        }
        room.blow[v..v + count].fill(part);
        room.shifted = true;
    }
}
