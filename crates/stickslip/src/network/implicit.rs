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
use super::coupled::{Block, Blocks, Level, Solver};
use super::dense::{ldlt_factor, ldlt_solve};
use super::port::Pair;
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
}

/// Room for the islands of a network.
pub(crate) struct ImplicitScratch {
    solver: Solver,
    /// Place of each velocity in its island.
    local: Vec<usize>,
    matrix: Vec<f64>,
    pub(super) inertia: Vec<f64>,
    jacobian: Vec<f64>,
    response: Vec<f64>,
    compliance: Vec<f64>,
    free: Vec<f64>,
    force: Vec<f64>,
    velocity: Vec<f64>,
    stuck: Vec<bool>,
    dims: Vec<usize>,
    sources: Vec<BlockSource>,
    known: Vec<bool>,
    vector: Vec<f64>,
    pub(crate) touching: Vec<super::rigid::Candidate>,
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
        let (size, rows, blocks) = (most(|i| i.size), most(|i| i.rows), most(|i| i.blocks));
        let mut local = vec![usize::MAX; network.layout.len()];
        for island in &network.islands {
            for body in &island.bodies {
                let (v, count, at) = body.range(network);
                for i in 0..count {
                    local[v + i] = at + i;
                }
            }
        }
        let parts = !network.islands.is_empty();
        let elements = if parts { network.element_count } else { 0 };
        let widest = network.linkages.iter().map(|l| l.velocities).max().unwrap_or(0);
        ImplicitScratch {
            solver: Solver::new(rows, blocks),
            local,
            matrix: vec![0.0; size * size],
            inertia: vec![0.0; widest * widest.max(3)],
            jacobian: vec![0.0; rows * size],
            response: vec![0.0; rows * size],
            compliance: vec![0.0; rows * rows],
            free: vec![0.0; rows],
            force: vec![0.0; rows],
            velocity: vec![0.0; rows],
            stuck: vec![false; blocks],
            dims: vec![0; blocks],
            sources: Vec::with_capacity(blocks),
            known: vec![false; network.layout.len()],
            vector: vec![0.0; size.max(1)],
            touching: Vec::with_capacity(blocks),
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
    let n = island.size;
    let Scratch {
        trial,
        sum,
        load,
        frames,
        linkages,
        signals,
        compression,
        seen,
        implicit: room,
        ..
    } = scratch;
    let before: &[f64] = trial;
    let after: &mut [f64] = sum;

    // A = M + T·D + T²·K, and v̄ = A⁻¹(M·v + T·h) where stiff springs or linkages make it more than a division.
    let matrix = &mut room.matrix[..n * n];
    matrix.fill(0.0);
    let right = &mut room.vector[..n.max(1)];
    right.fill(0.0);
    for body in &island.bodies {
        match *body {
            IslandBody::Masses { v, count, at } => {
                for i in 0..count {
                    let coordinate = v + i - network.layout.positions;
                    let mass = 1.0 / network.inverse_mass[coordinate];
                    matrix[(at + i) * n + at + i] = mass;
                    right[at + i] = mass * (before[v + i] + step * network.gravity[coordinate]) + step * load[v + i];
                }
            }
            IslandBody::Rigid { body, at } => {
                let placed = &network.bodies[body];
                let inertia = placed.body.world_inertia(&frames[body].rotation);
                for i in 0..3 {
                    matrix[(at + i) * n + at + i] = placed.body.mass();
                    right[at + i] = placed.body.mass() * after[placed.v + i];
                    for j in 0..3 {
                        matrix[(at + 3 + i) * n + at + 3 + j] = inertia[(i, j)];
                        right[at + 3 + i] += inertia[(i, j)] * after[placed.v + 3 + j];
                    }
                }
            }
            IslandBody::Linkage { linkage, at } => {
                let placed = &network.linkages[linkage];
                let m = placed.velocities;
                placed
                    .body
                    .mass_matrix(&mut linkages[linkage], &mut room.inertia[..m * m]);
                for i in 0..m {
                    for j in 0..m {
                        let h = room.inertia[i * m + j];
                        matrix[(at + i) * n + at + j] = h;
                        // `after` holds v + T·H⁻¹(τ − bias).
                        right[at + i] += h * after[placed.v + j];
                    }
                }
            }
            IslandBody::Own { own, at } => {
                let placed = &network.own_bodies[own];
                let inertia = placed.inertia(before, signals.get());
                for i in 0..placed.count {
                    for j in 0..placed.count {
                        let m = inertia[i * placed.count + j];
                        matrix[(at + i) * n + at + j] = m;
                        right[at + i] += m * after[placed.v + j];
                    }
                }
            }
        }
    }
    for &spring in &island.springs {
        stiffen(
            &network.stiff_springs[spring],
            step,
            before,
            after,
            &room.local,
            matrix,
            right,
            n,
        );
    }
    ldlt_factor(matrix, n);
    if !island.springs.is_empty() {
        ldlt_solve(matrix, n, right);
        for body in &island.bodies {
            let (v, count, at) = body.range(network);
            after[v..v + count].copy_from_slice(&right[at..at + count]);
        }
    }

    // Rows: frictions, then the rigid contacts that may touch within the step.
    room.sources.clear();
    let mut rows = 0;
    let jacobian = &mut room.jacobian;
    for &friction in &island.frictions {
        let pair = network.frictions[friction.group].pair(friction.index);
        for axis in 0..friction.axes {
            let row = &mut jacobian[(rows + axis) * n..(rows + axis + 1) * n];
            row.fill(0.0);
            pair_row(pair, axis, 1.0, &room.local, row);
            room.free[rows + axis] =
                pair.ratio[0] * after[pair.first.v + axis] - pair.ratio[1] * after[pair.second.v + axis];
        }
        if let Some(ellipse) = network.frictions[friction.group].ellipse(friction.index) {
            // Isotropic in velocities scaled by the ellipse, with forces to match: two rows of J become S·J.
            let scale_pair = |of: &mut [f64], first: usize, second: usize| {
                let [a, b] = ellipse.scaled([of[first], of[second]]);
                (of[first], of[second]) = (a, b);
            };
            (0..n).for_each(|k| scale_pair(jacobian, rows * n + k, (rows + 1) * n + k));
            scale_pair(&mut room.free, rows, rows + 1);
        }
        room.dims[room.sources.len()] = friction.axes;
        room.sources.push(BlockSource::Friction(friction));
        rows += friction.axes;
    }
    room.touching.clear();
    for &rigid in &island.rigid {
        // A point that does not touch has nothing to hold on to when it comes back.
        let (points, _) = network.rigid[rigid].size();
        after[network.rigid[rigid].state..][..points].fill(0.0);
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
    }
    for (i, candidate) in room.touching.iter_mut().enumerate() {
        for axis in 0..candidate.axes {
            let row = &mut jacobian[(rows + axis) * n..(rows + axis + 1) * n];
            row.fill(0.0);
            room.free[rows + axis] = candidate.row(
                network,
                axis,
                after,
                frames,
                linkages,
                &room.local,
                row,
                &mut room.inertia,
            );
        }
        // Where no motion opens or closes the contact no force can either, and none acts.
        if jacobian[rows * n..(rows + 1) * n]
            .iter()
            .all(|entry| entry.abs() <= IMMOVABLE)
        {
            candidate.target = candidate.target.min(room.free[rows]);
        }
        room.dims[room.sources.len()] = candidate.axes;
        room.sources.push(BlockSource::Rigid(i));
        rows += candidate.axes;
    }
    let blocks = room.sources.len();
    if rows == 0 {
        return true;
    }

    // W = T·J·A⁻¹·Jᵀ.
    for row in 0..rows {
        let response = &mut room.response[row * n..(row + 1) * n];
        response.copy_from_slice(&jacobian[row * n..(row + 1) * n]);
        ldlt_solve(matrix, n, response);
    }
    for i in 0..rows {
        for j in 0..=i {
            let product: f64 = (0..n).map(|k| jacobian[i * n + k] * room.response[j * n + k]).sum();
            room.compliance[i * rows + j] = step * product;
            room.compliance[j * rows + i] = step * product;
        }
    }

    let signal_values = signals.get();
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
    // Always from zero: a step depends on its state alone, also where forces are not unique.
    room.force[..rows].fill(0.0);
    let outcome = room.solver.solve(
        &room.dims[..blocks],
        &room.compliance[..rows * rows],
        &room.free[..rows],
        &laws,
        &mut room.force[..rows],
        &mut room.velocity[..rows],
        &mut room.stuck[..blocks],
    );
    if outcome.residual > UNSOLVED {
        room.unsolved = outcome.residual;
        return false;
    }
    room.worst = room.worst.max(outcome.residual);

    // v⁺ = v̄ + T·A⁻¹·Jᵀ·f.
    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            let change: f64 = (0..rows)
                .map(|row| room.response[row * n + at + i] * room.force[row])
                .sum();
            after[v + i] += step * change;
        }
    }
    assign_stuck(network, island, &room.stuck, &mut room.known, after);
    hold_still(network, island, &room.touching, &room.stuck, after);

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
    let mut row = 0;
    for block in 0..blocks {
        let dim = room.dims[block];
        let (force, velocity) = (&room.force[row..row + dim], &room.velocity[row..row + dim]);
        match room.sources[block] {
            BlockSource::Friction(f) => {
                network.frictions[f.group].settle(f.index, &mut stage, force, velocity, room.stuck[block]);
            }
            BlockSource::Rigid(i) => room.touching[i].settle(&mut stage, force, velocity, room.stuck[block]),
        }
        row += dim;
    }

    // Frictions that follow the force of a rigid element see that of the step before.
    for &rigid in &island.rigid {
        compression[network.rigid[rigid].element] = 0.0;
    }
    let mut row = 0;
    for block in 0..blocks {
        if let BlockSource::Rigid(i) = room.sources[block] {
            compression[room.touching[i].element()] += room.force[row];
        }
        row += room.dims[block];
    }
    true
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

/// Adds the row of a pair of coordinates to a Jacobian row; velocities outside the island are given, not unknown.
pub(super) fn pair_row(pair: &Pair, axis: usize, sign: f64, local: &[usize], row: &mut [f64]) {
    for (v, ratio) in [(pair.first.v, pair.ratio[0]), (pair.second.v, -pair.ratio[1])] {
        if let Some(slot) = row.get_mut(local[v + axis]) {
            *slot += sign * ratio;
        }
    }
}

/// Puts a spring at the end of the step into A and the right-hand side: its force is −k·(x + T·w) − d·w, w = J·v⁺ + w_p
/// with w_p the part of given velocities.
#[allow(clippy::too_many_arguments)]
fn stiffen(
    spring: &StiffSpring,
    step: f64,
    before: &[f64],
    after: &[f64],
    local: &[usize],
    matrix: &mut [f64],
    right: &mut [f64],
    n: usize,
) {
    let gain = step * spring.stiffness + spring.damping;
    let pair = &spring.pair;
    for axis in 0..spring.axes {
        let ends = [(pair.first, pair.ratio[0]), (pair.second, -pair.ratio[1])];
        let offset: f64 = ends.iter().map(|(c, r)| r * before[c.q + axis]).sum::<f64>() - spring.length;
        let given: f64 = ends
            .iter()
            .filter(|(c, _)| local[c.v + axis] >= n)
            .map(|(c, r)| r * after[c.v + axis])
            .sum();
        let force = -spring.stiffness * offset - gain * given;
        for (c, r) in ends {
            let i = local[c.v + axis];
            if i >= n {
                continue;
            }
            right[i] += step * r * force;
            for (other, s) in ends {
                let j = local[other.v + axis];
                if j < n {
                    matrix[i * n + j] += step * gain * r * s;
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
fn assign_stuck(network: &Network, island: &Island, stuck: &[bool], known: &mut [bool], after: &mut [f64]) {
    for body in &island.bodies {
        let (v, count, _) = body.range(network);
        known[v..v + count].fill(false);
    }
    // Velocities outside islands are known; inside they become known one by one, ground and drivers first.
    let is_known = |v: usize, known: &[bool]| {
        let free = island.bodies.iter().any(|body| {
            let (first, count, _) = body.range(network);
            (first..first + count).contains(&v)
        });
        !free || known[v]
    };
    loop {
        let mut changed = false;
        let mut seed = None;
        for (block, friction) in island.frictions.iter().enumerate() {
            if !stuck[block] {
                continue;
            }
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
