//! The implicit step: friction and contact at the end of the step, everything else at its start (the paper on model P, eqs 12-20).
//!
//! Without friction the step would reach v̄ = A⁻¹(M·v + T·h). Frictions that are alone on their bodies are solved in
//! closed form, one by one. The others form islands: bodies that influence each other within the step through
//! frictions, rigid contacts or stiff springs. An island is solved as a whole,
//!
//! v⁺ = v̄ + T·A⁻¹·Jᵀ·f,  each f by its law with the relative velocity J·v⁺,
//!
//! where A = M + T·D + T²·K holds the masses and the springs that the step cannot resolve (they are taken at the end of
//! the step too, so that a large step stays stable).

use super::ball::solve_ball;
use super::coupled::{Block, Blocks, Level, Problem, Rows, Side, Solver};
use super::port::{Coordinate, Pair};
use super::sparse::Pattern;
use super::{Network, Scratch};
use crate::element::Observation;
use crate::integrate::Work;
use crate::stop::Stop;

/// What laws see of a step in progress.
#[derive(Clone, Copy)]
pub struct ImplicitView<'a> {
    /// The step T.
    pub step: f64,
    /// State at the start.
    pub before: &'a [f64],
    /// Profiles at the end.
    pub signals: &'a [f64],
    /// Compressive force of each element at the start.
    pub compression: &'a [f64],
}

/// A step in progress, where laws also write.
pub struct ImplicitStage<'a> {
    /// The network.
    pub network: &'a Network,
    /// The step T.
    pub step: f64,
    /// What share of the step of the run that is: less than 1 where the step is done in parts.
    pub share: f64,
    /// State at the start.
    pub before: &'a [f64],
    /// State at the end; velocities are v̄ until friction has acted.
    pub after: &'a mut [f64],
    /// Forces at the start.
    pub load: &'a mut [f64],
    /// Profiles at the end.
    pub signals: &'a [f64],
    /// Compressive force of each element at the start.
    pub compression: &'a [f64],
    /// What elements did, if asked for.
    pub seen: Option<&'a mut [Observation]>,
}

impl ImplicitStage<'_> {
    /// The part that is only read.
    pub fn view(&self) -> ImplicitView<'_> {
        ImplicitView {
            step: self.step,
            before: self.before,
            signals: self.signals,
            compression: self.compression,
        }
    }
}

/// A spring taken at the end of the step.
#[derive(Clone, Copy, Debug)]
pub struct StiffSpring {
    /// Number of the element.
    pub element: usize,
    /// What it connects.
    pub pair: Pair,
    /// Number of axes.
    pub axes: usize,
    /// Stiffness k.
    pub stiffness: f64,
    /// Damping d.
    pub damping: f64,
    /// Natural length (one axis only).
    pub length: f64,
}

impl StiffSpring {
    /// Stretch along an axis.
    fn stretch(&self, state: &[f64], axis: usize) -> f64 {
        let Pair {
            first, second, ratio, ..
        } = self.pair;
        ratio[0] * state[first.q + axis] - ratio[1] * state[second.q + axis] - self.length
    }

    /// Compressive force; only a spring on one axis can be compressed.
    fn compression(&self, state: &[f64]) -> f64 {
        if self.axes == 1 {
            (-self.stiffness * self.stretch(state, 0)).max(0.0)
        } else {
            0.0
        }
    }

    /// Elastic energy.
    fn stored(&self, state: &[f64]) -> f64 {
        let squares: f64 = (0..self.axes).map(|axis| self.stretch(state, axis).powi(2)).sum();
        0.5 * self.stiffness * squares
    }
}

/// A body of an island and its place among the island's velocities.
#[derive(Clone, Copy, Debug)]
pub enum IslandBody {
    /// Coordinates of masses.
    Masses {
        /// First velocity in the flat state.
        v: usize,
        /// How many.
        count: usize,
        /// First velocity in the island.
        at: usize,
    },
    /// A rigid body.
    Rigid {
        /// Which.
        body: usize,
        /// First velocity in the island.
        at: usize,
    },
    /// A linkage.
    Linkage {
        /// Which.
        linkage: usize,
        /// First velocity in the island.
        at: usize,
    },
    /// A body of the user's own.
    Own {
        /// Which.
        own: usize,
        /// First velocity in the island.
        at: usize,
    },
}

/// A friction of an island: law group, number in the group, axes.
#[derive(Clone, Copy, Debug)]
pub struct IslandFriction {
    /// Group in [`Network::frictions`].
    pub group: usize,
    /// Number in the group.
    pub index: usize,
    /// Number of axes.
    pub axes: usize,
}

/// Bodies whose implicit step is solved together.
#[derive(Clone, Debug, Default)]
pub struct Island {
    /// The bodies.
    pub bodies: Vec<IslandBody>,
    /// Number of velocities.
    pub size: usize,
    /// Frictions between coordinates.
    pub frictions: Vec<IslandFriction>,
    /// Stiff springs, by number in [`Network::stiff_springs`].
    pub springs: Vec<usize>,
    /// Rigid contacts and stops, by number in [`Network::rigid`].
    pub rigid: Vec<usize>,
    /// Most rows of all of them.
    pub rows: usize,
    /// Most blocks of all of them.
    pub blocks: usize,
    /// Which bodies influence each other.
    pub pattern: Pattern,
    /// The bodies that each friction, spring and rigid element takes hold of, in this order.
    pub holds: Vec<Hold>,
}

/// The two bodies of an island that an element takes hold of; [`Side::NONE`]'s body for the ground and what is driven.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// The bodies; the second is none if both are the same.
    pub bodies: [usize; 2],
    /// Where their blocks off the diagonal are stored.
    pub across: [usize; 2],
}

impl Island {
    /// How an element takes hold of these bodies.
    pub(crate) fn hold(pattern: &Pattern, bodies: [Option<usize>; 2]) -> Hold {
        let [first, second] = bodies;
        let none = Side::NONE.body;
        let across = |row: Option<usize>, column: Option<usize>| {
            row.zip(column)
                .and_then(|(row, column)| pattern.place(row, column))
                .unwrap_or(0)
        };
        Hold {
            bodies: [
                first.unwrap_or(none),
                second.filter(|_| second != first).unwrap_or(none),
            ],
            across: [across(first, second), across(second, first)],
        }
    }
}

/// Room for the islands of a network.
pub(crate) struct ImplicitScratch {
    solver: Solver,
    parting: Solver,
    parting_rows: Vec<Rows>,
    still: Vec<f64>,
    /// The body of each velocity in its island, and the place among the velocities of the body.
    body: Vec<usize>,
    local: Vec<usize>,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    pivots: Vec<u32>,
    pub(super) inertia: Vec<f64>,
    jacobian: Vec<f64>,
    rows: Vec<Rows>,
    free: Vec<f64>,
    sources: Vec<BlockSource>,
    known: Vec<bool>,
    vector: Vec<f64>,
    pub(crate) touching: Vec<super::rigid::Candidate>,
    /// What positions move by besides the velocities of the end of the step, as velocities, and whether they do.
    pub(crate) shift: Vec<f64>,
    pub(crate) shifted: bool,
    /// Velocities at the end while positions move.
    pub(crate) ends: Vec<f64>,
    /// Largest residual of a coupled solve so far.
    pub(crate) worst: f64,
    /// Residual of the last solve that did not succeed.
    pub(crate) unsolved: f64,
    /// State and energies at the start of a step that is done in parts.
    pub(crate) start: Vec<f64>,
    pub(crate) start_work: Work,
    /// Compressive forces before the islands, which the parts of a step begin with.
    compression: Vec<f64>,
}

/// Residual of a coupled solve above which it counts as none.
const UNSOLVED: f64 = 1e-6;

/// Where the law of a block comes from.
#[derive(Clone, Copy, Debug)]
enum BlockSource {
    Friction(IslandFriction),
    Rigid(usize),
}

impl ImplicitScratch {
    /// Ends a coupled solve, unsolved, once this flag is set.
    pub(crate) fn heed(&mut self, stop: Option<&Stop>) {
        self.solver.stop = stop.cloned();
    }

    pub(crate) fn new(network: &Network) -> Self {
        let most = |f: fn(&Island) -> usize| network.islands.iter().map(f).max().unwrap_or(0);
        let (rows, blocks) = (most(|i| i.rows), most(|i| i.blocks));
        let (size, stored) = (most(|i| i.size), most(|i| i.pattern.stored()));
        let largest = most(|i| i.pattern.largest()).max(6);
        let mut body = vec![usize::MAX; network.layout.len()];
        let mut local = body.clone();
        for island in &network.islands {
            for (index, placed) in island.bodies.iter().enumerate() {
                let (v, count, _) = placed.range(network);
                for i in 0..count {
                    (body[v + i], local[v + i]) = (index, i);
                }
            }
        }
        let parts = !network.islands.is_empty();
        let elements = if parts { network.element_count } else { 0 };
        let widest = network.linkages.iter().map(|l| l.velocities).max().unwrap_or(0);
        ImplicitScratch {
            parting: Solver::default(),
            parting_rows: Vec::with_capacity(blocks),
            still: Vec::with_capacity(blocks),
            solver: Solver::new(rows, blocks, network.islands.iter().map(|island| &island.pattern)),
            body,
            local,
            matrix: vec![0.0; stored],
            factors: vec![0.0; stored],
            pivots: vec![0; size],
            inertia: vec![0.0; widest * widest.max(3)],
            jacobian: Vec::with_capacity(2 * largest * rows),
            rows: Vec::with_capacity(blocks),
            free: Vec::with_capacity(rows),
            sources: Vec::with_capacity(blocks),
            known: vec![false; network.layout.len()],
            vector: vec![0.0; size.max(1)],
            touching: Vec::with_capacity(blocks),
            shift: vec![0.0; if parts { network.layout.len() } else { 0 }],
            shifted: false,
            ends: vec![0.0; if parts { network.layout.len() } else { 0 }],
            worst: 0.0,
            unsolved: 0.0,
            start: vec![0.0; if parts { network.layout.len() } else { 0 }],
            start_work: Work::new(elements),
            compression: vec![0.0; elements],
        }
    }
}

/// The laws of an island, as the solver asks for them.
struct IslandLaws<'a> {
    network: &'a Network,
    view: ImplicitView<'a>,
    sources: &'a [BlockSource],
    touching: &'a [super::rigid::Candidate],
}

impl Blocks for IslandLaws<'_> {
    fn block(&self, i: usize) -> Block {
        match self.sources[i] {
            BlockSource::Friction(f) => self.network.frictions[f.group].block(f.index, &self.view),
            BlockSource::Rigid(candidate) => self.touching[candidate].block(),
        }
    }

    fn steady(&self, i: usize, speed: f64) -> (Level, Level) {
        match self.sources[i] {
            BlockSource::Friction(f) => self.network.frictions[f.group].steady(f.index, &self.view, speed),
            BlockSource::Rigid(_) => (Level::default(), Level::default()),
        }
    }

    fn smooth(&self, i: usize, velocity: &[f64], resistance: &mut [f64], tangent: &mut [f64]) {
        if let BlockSource::Friction(f) = self.sources[i] {
            self.network.frictions[f.group].smooth(f.index, &self.view, velocity, resistance, tangent);
        }
    }
}

/// Speed at a contact, m/s for a velocity of 1, that is rounding.
const IMMOVABLE: f64 = 1e-12;

/// Solves every island: velocities in `scratch.sum` change from v̄ to those at the end of the step. False if one is not solved.
pub(crate) fn solve_islands<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, step: f64) -> bool {
    scratch.implicit.compression.copy_from_slice(&scratch.compression);
    scratch.implicit.shifted = false;
    scratch.implicit.shift.fill(0.0);
    let solved = network.islands.iter().all(|island| match network.lone_contact(island) {
        Some(rigid) => {
            solve_ball::<OBSERVE>(network, rigid, scratch, step);
            true
        }
        None => solve_island::<OBSERVE>(network, island, scratch, step),
    });
    if !solved {
        scratch.compression.copy_from_slice(&scratch.implicit.compression);
    }
    solved
}

fn solve_island<const OBSERVE: bool>(network: &Network, island: &Island, scratch: &mut Scratch, step: f64) -> bool {
    if !free_motion(network, island, scratch, step) {
        scratch.implicit.unsolved = f64::INFINITY;
        return false;
    }
    write_rows(network, island, scratch, step);
    let Scratch {
        trial,
        sum,
        load,
        signals,
        compression,
        seen,
        implicit: room,
        ..
    } = scratch;
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    if room.rows.is_empty() {
        return true;
    }
    part_bodies(network, island, room, step);
    let signal_values = signals.get();
    // The part of restitution, and the largest part that is known not to gain energy.
    let (mut part, mut low, mut high) = (1.0, 0.0, 1.0);
    loop {
        let laws = IslandLaws {
            network,
            view: ImplicitView {
                step,
                before,
                signals: signal_values,
                compression,
            },
            sources: &room.sources,
            touching: &room.touching,
        };
        let problem = Problem {
            pattern: &island.pattern,
            inertia: &room.matrix,
            joined: !island.springs.is_empty(),
            step,
            rows: &room.rows,
            jacobian: &room.jacobian,
            free: &room.free,
        };
        let outcome = room.solver.solve(&problem, &laws);
        if outcome.residual > UNSOLVED {
            room.unsolved = outcome.residual;
            return false;
        }
        room.worst = room.worst.max(outcome.residual);
        // Newton's law with friction may gain energy. Then all impacts of the island rebound with the largest common part of their
        // coefficients that does not: the plastic impact never does.
        if !room.touching.iter().any(super::rigid::Candidate::rebounds) {
            break;
        }
        let gains = gained(&room.solver, &room.free);
        if part == low || (part == 1.0 && !gains) {
            break;
        }
        if gains {
            high = part;
        } else {
            low = part;
        }
        part = if high - low > 1e-9 { 0.5 * (low + high) } else { low };
        room.touching.iter_mut().for_each(|candidate| candidate.collide(part));
    }
    move_on_impact(network, island, room, before, after, step);

    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            after[v + i] += room.solver.change[at + i];
        }
    }
    assign_stuck(network, island, room, after);
    hold_still(network, island, &room.touching, &room.solver.stuck, after);

    let seen = if OBSERVE { Some(&mut seen[..]) } else { None };
    let mut stage = ImplicitStage {
        network,
        step,
        share: step / network.step,
        before,
        after,
        load,
        signals: signal_values,
        compression,
        seen,
    };
    for (block, rows) in room.rows.iter().enumerate() {
        let range = rows.first..rows.first + rows.count;
        let (force, velocity) = (&room.solver.force[range.clone()], &room.solver.velocity[range]);
        let stuck = room.solver.stuck[block];
        match room.sources[block] {
            BlockSource::Friction(f) => {
                network.frictions[f.group].settle(f.index, &mut stage, force, velocity, stuck);
            }
            BlockSource::Rigid(i) => room.touching[i].settle(&mut stage, force, velocity, stuck),
        }
    }

    // Frictions that follow the force of a rigid element see that of the step before.
    for &rigid in &island.rigid {
        compression[network.rigid[rigid].element] = 0.0;
    }
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if let BlockSource::Rigid(i) = source {
            compression[room.touching[*i].element()] += room.solver.force[rows.first];
        }
    }
    true
}

/// Whether the forces give the bodies energy: ½·Σ f·(w̄ + w) > 0, but for rounding.
fn gained(solver: &Solver, free: &[f64]) -> bool {
    let (mut sum, mut size) = (0.0, 0.0);
    for ((f, w), free) in solver.force.iter().zip(&solver.velocity).zip(free) {
        sum += f * (free + w);
        size += (f * free).abs() + (f * w).abs();
    }
    sum > 1e-13 * size
}

/// Bodies that overlap part by a displacement, not by a velocity: as if the step began at rest, contacts that overlap open at
/// [`super::rigid::RECOVERY`] or less. No energy of motion comes from it.
fn part_bodies(network: &Network, island: &Island, room: &mut ImplicitScratch, step: f64) {
    for body in &island.bodies {
        let (v, count, _) = body.range(network);
        room.shift[v..v + count].fill(0.0);
    }
    if !room.touching.iter().any(|candidate| candidate.gap < 0.0) {
        return;
    }
    room.parting_rows.clear();
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if let BlockSource::Rigid(first) = *source {
            // Normals only.
            room.parting_rows.push(Rows {
                first,
                count: 1,
                ..*rows
            });
        }
    }
    room.still.clear();
    room.still.resize(room.parting_rows.len(), 0.0);
    let problem = Problem {
        pattern: &island.pattern,
        inertia: &room.matrix,
        joined: !island.springs.is_empty(),
        step,
        rows: &room.parting_rows,
        jacobian: &room.jacobian,
        free: &room.still,
    };
    let laws = Parting {
        touching: &room.touching,
        step,
    };
    let solver = &mut room.parting;
    let outcome = solver.solve(&problem, &laws);
    if outcome.residual <= UNSOLVED {
        for body in &island.bodies {
            let (v, count, at) = body.range(network);
            room.shift[v..v + count].copy_from_slice(&solver.change[at..at + count]);
        }
        room.shifted = true;
    }
}

/// The laws of the displacement that parts bodies.
struct Parting<'a> {
    touching: &'a [super::rigid::Candidate],
    step: f64,
}

impl Blocks for Parting<'_> {
    fn block(&self, i: usize) -> Block {
        self.touching[i].parting(self.step)
    }

    fn steady(&self, _: usize, _: f64) -> (Level, Level) {
        (Level::default(), Level::default())
    }

    fn smooth(&self, _: usize, _: &[f64], _: &mut [f64], _: &mut [f64]) {}
}

/// Until an impact the bodies moved with the velocities of the start of the step: positions move by T·(v⁺ + θ·(v − v⁺)) with θ the part
/// of the step before the first impact. A plastic impact ends at gap 0.
fn move_on_impact(
    network: &Network,
    island: &Island,
    room: &mut ImplicitScratch,
    before: &[f64],
    after: &[f64],
    step: f64,
) {
    let mut first = f64::INFINITY;
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if let BlockSource::Rigid(i) = *source
            && room.touching[i].impact
            && room.solver.force[rows.first] > 0.0
        {
            first = first.min(room.touching[i].before_impact(step));
        }
    }
    if !(first > 0.0 && first.is_finite()) {
        return;
    }
    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            let end = after[v + i] + room.solver.change[at + i];
            room.shift[v + i] += first * (before[v + i] - end);
        }
    }
    room.shifted = true;
}

/// A = M + T·D + T²·K, and v̄ = A⁻¹(M·v + T·h) where stiff springs make it more than a division. False if A has no inverse.
fn free_motion(network: &Network, island: &Island, scratch: &mut Scratch, step: f64) -> bool {
    let Scratch {
        trial,
        sum,
        load,
        frames,
        linkages,
        signals,
        implicit: room,
        ..
    } = scratch;
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    let pattern = &island.pattern;
    let matrix = &mut room.matrix[..pattern.stored()];
    matrix.fill(0.0);
    for (index, body) in island.bodies.iter().enumerate() {
        let Some(place) = pattern.place(index, index) else {
            continue;
        };
        match *body {
            IslandBody::Masses { v, count, .. } => {
                for i in 0..count {
                    let coordinate = v + i - network.layout.positions;
                    matrix[place + i * (count + 1)] = 1.0 / network.inverse_mass[coordinate];
                }
            }
            IslandBody::Rigid { body, .. } => {
                let placed = &network.bodies[body];
                let inertia = placed.body.world_inertia(&frames[body].rotation);
                for i in 0..3 {
                    matrix[place + i * 7] = placed.body.mass();
                    for j in 0..3 {
                        matrix[place + (3 + i) * 6 + 3 + j] = inertia[(i, j)];
                    }
                }
            }
            IslandBody::Linkage { linkage, .. } => {
                let placed = &network.linkages[linkage];
                let n = placed.velocities;
                placed
                    .body
                    .mass_matrix(&mut linkages[linkage], &mut matrix[place..place + n * n]);
            }
            IslandBody::Own { own, .. } => {
                let placed = &network.own_bodies[own];
                let inertia = placed.inertia(before, signals.get());
                let entries = placed.count * placed.count;
                matrix[place..place + entries].copy_from_slice(&inertia[..entries]);
            }
        }
    }
    if island.springs.is_empty() {
        return true;
    }
    // M·v̄ without springs; for masses by the forces themselves, which is exact.
    let right = &mut room.vector[..island.size];
    right.fill(0.0);
    for (index, body) in island.bodies.iter().enumerate() {
        let (v, count, at) = body.range(network);
        let Some(place) = pattern.place(index, index) else {
            continue;
        };
        for i in 0..count {
            right[at + i] = match *body {
                IslandBody::Masses { .. } => {
                    let coordinate = v + i - network.layout.positions;
                    let mass = matrix[place + i * (count + 1)];
                    mass * (before[v + i] + step * network.gravity[coordinate]) + step * load[v + i]
                }
                _ => (0..count).map(|j| matrix[place + i * count + j] * after[v + j]).sum(),
            };
        }
    }
    let first = island.frictions.len();
    for (&spring, hold) in island.springs.iter().zip(&island.holds[first..]) {
        stiffen(
            &network.stiff_springs[spring],
            hold,
            step,
            before,
            after,
            (&room.body, &room.local, pattern),
            matrix,
            right,
        );
    }
    let factors = &mut room.factors[..pattern.stored()];
    factors.copy_from_slice(matrix);
    if !pattern.factor(factors, &mut room.pivots) {
        return false;
    }
    pattern.solve(factors, &room.pivots, right);
    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        after[v..v + count].copy_from_slice(&right[at..at + count]);
    }
    true
}

/// The rows of J and the free velocities: frictions, then the rigid contacts that may touch within the step.
fn write_rows(network: &Network, island: &Island, scratch: &mut Scratch, step: f64) {
    let Scratch {
        trial,
        sum,
        frames,
        linkages,
        implicit: room,
        ..
    } = scratch;
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    room.sources.clear();
    room.rows.clear();
    room.free.clear();
    room.jacobian.clear();
    for (&friction, hold) in island.frictions.iter().zip(&island.holds) {
        let pair = network.frictions[friction.group].pair(friction.index);
        let first = room.free.len();
        let mut rows = Rows {
            first,
            count: friction.axes,
            sides: [Side::NONE; 2],
            across: hold.across,
        };
        pair_sides(
            pair,
            friction.axes,
            1.0,
            hold,
            &room.local,
            &mut rows,
            &mut room.jacobian,
        );
        for axis in 0..friction.axes {
            let velocity = pair.ratio[0] * after[pair.first.v + axis] - pair.ratio[1] * after[pair.second.v + axis];
            room.free.push(velocity);
        }
        if let Some(ellipse) = network.frictions[friction.group].ellipse(friction.index) {
            // Isotropic in velocities scaled by the ellipse, with forces to match: two rows of J become S·J.
            let scale_pair = |of: &mut [f64], first: usize, second: usize| {
                let [a, b] = ellipse.scaled([of[first], of[second]]);
                (of[first], of[second]) = (a, b);
            };
            for side in rows.sides {
                (0..side.len).for_each(|k| scale_pair(&mut room.jacobian, side.at + k, side.at + side.len + k));
            }
            scale_pair(&mut room.free, first, first + 1);
        }
        room.rows.push(rows);
        room.sources.push(BlockSource::Friction(friction));
    }
    room.touching.clear();
    let holds = &island.holds[island.frictions.len() + island.springs.len()..];
    for (&rigid, hold) in island.rigid.iter().zip(holds) {
        // A point that does not touch has nothing to hold on to when it comes back.
        let (points, _) = network.rigid[rigid].size();
        after[network.rigid[rigid].state..][..points].fill(0.0);
        let first = room.touching.len();
        network.rigid[rigid].candidates(
            network,
            before,
            after,
            frames,
            linkages,
            step,
            &mut room.inertia,
            &mut room.touching,
        );
        for index in first..room.touching.len() {
            let candidate = &mut room.touching[index];
            let start = room.free.len();
            let mut rows = Rows {
                first: start,
                count: candidate.axes,
                sides: [Side::NONE; 2],
                across: hold.across,
            };
            candidate.collide(1.0);
            candidate.rows(
                network,
                before,
                after,
                step,
                (frames, linkages),
                (hold, &island.pattern, &room.local),
                &mut rows,
                &mut room.jacobian,
                &mut room.free,
                &mut room.inertia,
            );
            // Where no motion opens or closes the contact no force can either, and none acts.
            let immovable = rows.sides.iter().all(|side| {
                let normal = &room.jacobian[side.at..side.at + side.len];
                normal.iter().all(|entry| entry.abs() <= IMMOVABLE)
            });
            if immovable {
                candidate.target = candidate.target.min(room.free[start]);
            }
            room.rows.push(rows);
            room.sources.push(BlockSource::Rigid(index));
        }
    }
}

impl IslandBody {
    /// First velocity in the flat state, how many, first velocity in the island.
    fn range(self, network: &Network) -> (usize, usize, usize) {
        match self {
            IslandBody::Masses { v, count, at } => (v, count, at),
            IslandBody::Rigid { body, at } => (network.bodies[body].v, 6, at),
            IslandBody::Linkage { linkage, at } => {
                (network.linkages[linkage].v, network.linkages[linkage].velocities, at)
            }
            IslandBody::Own { own, at } => (network.own_bodies[own].v, network.own_bodies[own].count, at),
        }
    }
}

/// Writes the sides of a pair of coordinates, times `sign`: ratios on a diagonal. Velocities outside the island are given, not unknown.
pub(super) fn pair_sides(
    pair: &Pair,
    axes: usize,
    sign: f64,
    hold: &Hold,
    local: &[usize],
    rows: &mut Rows,
    jacobian: &mut Vec<f64>,
) {
    let ends = [(pair.first, sign * pair.ratio[0]), (pair.second, -sign * pair.ratio[1])];
    let inside = |end: &Coordinate| local[end.v] != usize::MAX;
    let mut side = |which: usize, first: usize, len: usize, ends: &[(Coordinate, f64)]| {
        let at = jacobian.len();
        jacobian.resize(at + axes * len, 0.0);
        for (end, ratio) in ends {
            for axis in 0..axes {
                jacobian[at + axis * len + local[end.v] - first + axis] += ratio;
            }
        }
        rows.sides[which] = Side {
            body: hold.bodies[which],
            first,
            len,
            at,
        };
    };
    if inside(&pair.first) && inside(&pair.second) && hold.bodies[1] == Side::NONE.body {
        // Both in one body.
        let [a, b] = [local[pair.first.v], local[pair.second.v]];
        side(0, a.min(b), a.abs_diff(b) + axes, &ends);
        return;
    }
    for (which, end) in ends.iter().enumerate() {
        if inside(&end.0) {
            side(which, local[end.0.v], axes, &[*end]);
        }
    }
}

/// Puts a spring at the end of the step into A and the right-hand side: its force is −k·(x + T·w) − d·w, w = J·v⁺ + w_p
/// with w_p the part of given velocities.
#[allow(clippy::too_many_arguments)]
fn stiffen(
    spring: &StiffSpring,
    hold: &Hold,
    step: f64,
    before: &[f64],
    after: &[f64],
    (body, local, pattern): (&[usize], &[usize], &Pattern),
    matrix: &mut [f64],
    right: &mut [f64],
) {
    let gain = step * spring.stiffness + spring.damping;
    let pair = &spring.pair;
    for axis in 0..spring.axes {
        let ends = [(pair.first, pair.ratio[0]), (pair.second, -pair.ratio[1])];
        let inside = |c: Coordinate| local[c.v + axis] != usize::MAX;
        let offset: f64 = ends.iter().map(|(c, r)| r * before[c.q + axis]).sum::<f64>() - spring.length;
        let given: f64 = ends
            .iter()
            .filter(|(c, _)| !inside(*c))
            .map(|(c, r)| r * after[c.v + axis])
            .sum();
        let force = -spring.stiffness * offset - gain * given;
        for (side, (c, r)) in ends.into_iter().enumerate().filter(|(_, (c, _))| inside(*c)) {
            let (own, i) = (body[c.v + axis], local[c.v + axis]);
            right[pattern.start(own) + i] += step * r * force;
            for (other, s) in ends.into_iter().filter(|(c, _)| inside(*c)) {
                let (partner, j) = (body[other.v + axis], local[other.v + axis]);
                let place = if own == partner {
                    pattern.place(own, own)
                } else {
                    Some(hold.across[side])
                };
                if let Some(place) = place {
                    matrix[place + i * pattern.size(partner) + j] += step * gain * r * s;
                }
            }
        }
    }
}

/// A rigid body held by three points that do not lie on a line moves with the surface: its velocities are assigned.
fn hold_still(
    network: &Network,
    island: &Island,
    touching: &[super::rigid::Candidate],
    stuck: &[bool],
    after: &mut [f64],
) {
    let first = island.frictions.len();
    for body in &island.bodies {
        let IslandBody::Rigid { body, .. } = *body else {
            continue;
        };
        let held = |(candidate, &stuck): (&super::rigid::Candidate, &bool)| match candidate.holds() {
            Some((held, surface, point)) if stuck && held == body => Some((surface, point)),
            _ => None,
        };
        let mut points = touching.iter().zip(&stuck[first..]).filter_map(held);
        let (Some((surface, a)), Some((_, b))) = (points.next(), points.next()) else {
            continue;
        };
        let spread = (b - a).norm_squared();
        let apart = |c: nalgebra::Vector3<f64>| (b - a).cross(&(c - a)).norm_squared() > 1e-12 * spread * spread;
        if points.any(|(other, c)| other == surface && apart(c)) {
            let v = network.bodies[body].v;
            let carried = surface.velocity(after);
            after[v..v + 3].copy_from_slice(&carried);
            after[v + 3..v + 6].fill(0.0);
        }
    }
}

/// A stuck velocity is assigned, not computed: exactly that of a partner whose motion is given, or one common value.
fn assign_stuck(network: &Network, island: &Island, room: &mut ImplicitScratch, after: &mut [f64]) {
    let (known, local) = (&mut room.known, &room.local);
    for body in &island.bodies {
        let (v, count, _) = body.range(network);
        known[v..v + count].fill(false);
    }
    // Velocities outside islands are known; inside they become known one by one, ground and drivers first. Forwards and backwards in
    // turn: a chain is through in two rounds, whichever end is held.
    let is_known = |v: usize, known: &[bool]| local[v] == usize::MAX || known[v];
    let mut forwards = true;
    loop {
        let mut changed = false;
        let mut seed = None;
        let count = island.frictions.len();
        for index in 0..count {
            let block = if forwards { index } else { count - 1 - index };
            if !room.solver.stuck[block] {
                continue;
            }
            let friction = &island.frictions[block];
            let pair = network.frictions[friction.group].pair(friction.index);
            for axis in 0..friction.axes {
                let (a, b) = (pair.first.v + axis, pair.second.v + axis);
                match (is_known(a, known), is_known(b, known)) {
                    (false, true) => {
                        after[a] = pair.ratio[1] * after[b] * pair.inverse_ratio[0];
                        known[a] = true;
                        changed = true;
                    }
                    (true, false) => {
                        after[b] = pair.ratio[0] * after[a] * pair.inverse_ratio[1];
                        known[b] = true;
                        changed = true;
                    }
                    (false, false) if seed.is_none() => seed = Some(a),
                    _ => (),
                }
            }
        }
        forwards = !forwards;
        if !changed {
            match seed {
                Some(v) => known[v] = true,
                None => return,
            }
        }
    }
}

impl Network {
    /// Compressive forces of the springs taken at the end of the step, as they are at its start.
    pub(crate) fn compress_stiff_springs(&self, state: &[f64], compression: &mut [f64]) {
        for spring in &self.stiff_springs {
            compression[spring.element] = spring.compression(state);
        }
    }

    /// Elastic energies of the springs taken at the end of the step.
    pub(crate) fn store_stiff_springs(&self, state: &[f64], seen: &mut [Observation]) {
        for spring in &self.stiff_springs {
            seen[spring.element].stored = spring.stored(state);
        }
    }

    /// Force on a velocity that is not among the loads of the start of the step: weight, and the springs taken at its
    /// end as they are at its start. Laws that balance the applied force need it.
    pub(crate) fn unseen_force(&self, v: usize, state: &[f64]) -> f64 {
        let index = v.wrapping_sub(self.layout.positions);
        let mut force = match (self.inverse_mass.get(index), self.gravity.get(index)) {
            (Some(&inverse_mass), Some(&gravity)) if inverse_mass > 0.0 => gravity / inverse_mass,
            _ => 0.0,
        };
        for spring in &self.stiff_springs {
            let Pair {
                first, second, ratio, ..
            } = spring.pair;
            for (end, r) in [(first, ratio[0]), (second, -ratio[1])] {
                if (end.v..end.v + spring.axes).contains(&v) {
                    let axis = v - end.v;
                    let rate = ratio[0] * state[first.v + axis] - ratio[1] * state[second.v + axis];
                    force -= r * (spring.stiffness * spring.stretch(state, axis) + spring.damping * rate);
                }
            }
        }
        force
    }

    /// Notes what the springs taken at the end of the step did: force −k·(x + T·w) − d·w.
    pub(crate) fn observe_stiff_springs(
        &self,
        before: &[f64],
        after: &[f64],
        load: &mut [f64],
        seen: &mut [Observation],
        step: f64,
    ) {
        for spring in &self.stiff_springs {
            let mut note = Observation {
                curvature: -spring.stiffness,
                ..Observation::default()
            };
            let mut compression = 0.0;
            for axis in 0..spring.axes {
                let pair = &spring.pair;
                let at = |index: usize, state: &[f64]| state[index + axis];
                let offset = pair.ratio[0] * at(pair.first.q, before) - pair.ratio[1] * at(pair.second.q, before);
                let velocity = pair.ratio[0] * at(pair.first.v, after) - pair.ratio[1] * at(pair.second.v, after);
                let stretch = offset - spring.length + step * velocity;
                let force = -spring.stiffness * stretch - spring.damping * velocity;
                note.force[axis] = force;
                note.velocity[axis] = velocity;
                note.power += force * velocity;
                note.stored += 0.5 * spring.stiffness * stretch * stretch;
                compression += (-spring.stiffness * stretch).max(0.0);
                load[pair.first.v + axis] += pair.ratio[0] * force;
                load[pair.second.v + axis] -= pair.ratio[1] * force;
            }
            note.normal = compression;
            seen[spring.element] = note;
        }
    }
}
