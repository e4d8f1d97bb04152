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

// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

mod impact;

use super::ball::solve_ball;
use super::coupled::{Block, Blocks, Level, Outcome, Problem, Rest, Rows, SOLVED, Side, Solver};
use super::groups::Observation;
use super::lock::{Keeps, LockKind, write_gear_row, write_point_rows};
use super::port::{Attachment, Coordinate, Pair};
use super::scene::{self, Begin, Joined, SceneRoom};
use super::sparse::Pattern;
use super::work::Work;
use super::{Network, Scratch};
use crate::body::rigid_body::advance_rotation;
use crate::body::{Frame, LinkageScratch};
use crate::stop::Stop;
use nalgebra::Vector3;

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

/// How long forces act until the velocities that the laws see, and how long the step is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// From the start to the velocities that the laws see: the end of the step, or its middle.
    pub(crate) law: f64,
    /// The whole step.
    pub(crate) whole: f64,
    /// Whether bodies are placed in the middle of the step, and forces are those of its mean motion.
    pub(crate) apart: bool,
}

impl Span {
    /// Laws at the end of the step.
    pub(crate) fn whole(step: f64) -> Self {
        Span {
            law: step,
            whole: step,
            apart: false,
        }
    }

    /// Laws in the middle of the step.
    pub(crate) fn middle(step: f64) -> Self {
        Span {
            law: 0.5 * step,
            whole: step,
            apart: true,
        }
    }

    /// Laws at the end of the step, forces of its middle.
    pub(crate) fn mean(step: f64) -> Self {
        Span {
            apart: true,
            ..Span::whole(step)
        }
    }

    /// Whether laws see the middle of the step.
    pub(super) fn is_middle(self) -> bool {
        self.law < self.whole
    }
}

/// What ends smooth motion within a step whose laws see its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    /// The part of the step before a contact closes or a slip comes to rest; 1 if neither happens.
    pub(crate) part: f64,
    /// Whether a contact closes: nothing was solved then.
    pub(crate) closing: bool,
    /// Whether something breaks away from a holding limit above its kinetic one.
    pub(crate) release: bool,
    /// Whether something holds more than half of such a limit: it may break away before the end of the step.
    pub(crate) strained: bool,
}

impl Event {
    pub(crate) const NONE: Event = Event {
        part: 1.0,
        closing: false,
        release: false,
        strained: false,
    };

    /// Whether smooth motion goes on.
    pub(crate) fn is_none(self) -> bool {
        self.part == 1.0 && !self.closing && !self.release
    }
}

/// Moves the pose that begins at `q` with the velocities that begin at `v`.
pub(crate) fn turn(q: usize, v: usize, step: f64, before: &[f64], after: &mut [f64]) {
    for i in 0..3 {
        after[q + i] = before[q + i] + step * after[v + i];
    }
    let spin = Vector3::new(after[v + 3], after[v + 4], after[v + 5]);
    let rotation = advance_rotation([3, 4, 5, 6].map(|i| before[q + i]), &spin, step);
    after[q + 3..q + 7].copy_from_slice(&rotation);
}

/// Moves linkages with the velocities of `after`.
pub(crate) fn move_linkages(network: &Network, step: f64, before: &[f64], after: &mut [f64]) {
    for placed in &network.linkages {
        let free = placed.positions - placed.velocities;
        if free > 0 {
            turn(placed.q, placed.v, step, before, after);
        }
        for i in (6 * free)..placed.velocities {
            let q = placed.q + i + free;
            after[q] = before[q] + step * after[placed.v + i];
        }
    }
}

/// Where bodies are.
#[derive(Default)]
pub(crate) struct Placement {
    pub(crate) frames: Vec<Frame>,
    pub(crate) linkages: Vec<LinkageScratch>,
}

impl Placement {
    fn of(network: &Network) -> Self {
        Placement {
            frames: vec![Frame::ground(); network.bodies.len()],
            linkages: network.linkages.iter().map(|placed| placed.body.scratch()).collect(),
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

/// A spring between points of two bodies, taken at the end of the step.
#[derive(Clone, Copy, Debug)]
pub struct PointSpring {
    /// Number of the element.
    pub element: usize,
    /// The bodies.
    pub bodies: [Attachment; 2],
    /// Where it is attached, in the axes of each body.
    pub at: [Vector3<f64>; 2],
    /// Stiffness k.
    pub stiffness: f64,
    /// Damping d.
    pub damping: f64,
    /// Natural length.
    pub length: f64,
}

/// A spring between points where its bodies are.
struct Stretched {
    points: [Vector3<f64>; 2],
    /// The line of the spring and two directions across; world axes for a spring without length, which is the same in all directions.
    directions: [Vector3<f64>; 3],
    /// Stretch along these directions.
    stretch: Vector3<f64>,
    /// Stiffness along them: across its line a drawn spring is held by its force.
    stiffness: Vector3<f64>,
    damping: Vector3<f64>,
}

impl PointSpring {
    fn stretched(&self, network: &Network, state: &[f64], frames: &[Frame], linkages: &[LinkageScratch]) -> Stretched {
        let ends = self.bodies.map(|body| body.frame(network, state, frames, linkages));
        let points = [0, 1].map(|end| ends[end].point_position(&self.at[end]));
        let apart = points[0] - points[1];
        let distance = apart.norm();
        if self.length == 0.0 || distance == 0.0 {
            return Stretched {
                points,
                directions: [Vector3::x(), Vector3::y(), Vector3::z()],
                stretch: apart,
                stiffness: Vector3::repeat(self.stiffness),
                damping: Vector3::repeat(self.damping),
            };
        }
        let line = apart / distance;
        let (one, other) = super::rigid::tangents(&line, false);
        let stretch = distance - self.length;
        // A compressed spring pushes sideways; that is left to the next step, so that the matrix stays definite.
        let across = (self.stiffness * stretch / distance).max(0.0);
        Stretched {
            points,
            directions: [line, one, other],
            stretch: Vector3::new(stretch, 0.0, 0.0),
            stiffness: Vector3::new(self.stiffness, across, across),
            damping: Vector3::new(self.damping, 0.0, 0.0),
        }
    }

    /// Elastic energy in a state.
    fn stored(&self, network: &Network, state: &[f64], frames: &[Frame], linkages: &[LinkageScratch]) -> f64 {
        let stretch = self.stretched(network, state, frames, linkages).stretch;
        0.5 * self.stiffness * stretch.norm_squared()
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
    /// Springs between points, by number in [`Network::point_springs`].
    pub point_springs: Vec<usize>,
    /// Rigid gears and joints, by number in [`Network::locks`].
    pub locks: Vec<usize>,
    /// Rigid contacts and stops, by number in [`Network::rigid`].
    pub rigid: Vec<usize>,
    /// Most rows of all of them.
    pub rows: usize,
    /// Most blocks of all of them.
    pub blocks: usize,
    /// Which bodies influence each other.
    pub pattern: Pattern,
    /// The bodies that each friction, spring, spring between points, lock and rigid element takes hold of, in this order.
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
    /// Where the holds of springs, springs between points, locks and rigid elements begin.
    pub(super) fn first_holds(&self) -> [usize; 4] {
        let springs = self.frictions.len();
        let point_springs = springs + self.springs.len();
        let locks = point_springs + self.point_springs.len();
        [springs, point_springs, locks, locks + self.locks.len()]
    }

    /// Whether springs in A join its bodies.
    fn is_joined(&self) -> bool {
        !self.springs.is_empty() || !self.point_springs.is_empty()
    }

    /// The largest velocity of its bodies in a state.
    fn fastest(&self, network: &Network, state: &[f64]) -> f64 {
        let bodies = self.bodies.iter().map(|body| body.range(network));
        let speeds = bodies.flat_map(|(v, count, _)| &state[v..v + count]);
        speeds.fold(0.0, |most, speed| most.max(speed.abs()))
    }

    /// Whether a joint closes a loop in it.
    fn has_joints(&self, network: &Network) -> bool {
        self.locks.iter().any(|&lock| network.locks[lock].joint().is_some())
    }

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
    /// What each island was like when it was last solved at rest.
    rests: Vec<Rest>,
    parting: Solver,
    parting_rows: Vec<Rows>,
    still: Vec<f64>,
    /// The body of each velocity in its island, and the place among the velocities of the body.
    body: Vec<usize>,
    local: Vec<usize>,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    pivots: Vec<u32>,
    pub(crate) inertia: Vec<f64>,
    jacobian: Vec<f64>,
    rows: Vec<Rows>,
    free: Vec<f64>,
    sources: Vec<BlockSource>,
    /// What resists rolling and spinning in the contacts; the last of the blocks.
    turning: Vec<Turning>,
    /// How far each row of a joint is open, and the velocity with which the step closes it.
    open: Vec<f64>,
    closing: Vec<f64>,
    /// Where bodies are at the end of the step.
    closed: Placement,
    /// Rows of springs between points.
    drawn: Vec<f64>,
    drawn_free: Vec<f64>,
    known: Vec<bool>,
    /// Clusters of velocities that stick together: the first of each, and whether it has been given a value.
    root: Vec<usize>,
    seeded: Vec<bool>,
    vector: Vec<f64>,
    pub(crate) touching: Vec<super::rigid::Candidate>,
    /// Those that are open where a step begins that is split where they close.
    waiting: Vec<super::rigid::Candidate>,
    /// What positions move by besides the velocities of the end of the step, as velocities, and whether they do.
    pub(crate) shift: Vec<f64>,
    pub(crate) shifted: bool,
    /// The power of the forces of the start of the step on it.
    pub(crate) lifted: f64,
    /// The part of the step before the first impact of a velocity's island; 0 where there is none.
    pub(crate) blow: Vec<f64>,
    /// The state, and where rigid bodies are, when the first gap of an island closes.
    met: Vec<f64>,
    met_frames: Vec<Frame>,
    /// When the bodies of the island meet.
    meeting: impact::Meeting,
    /// What loads and weight change of the velocities of an island.
    pushed: Vec<f64>,
    /// Numbers of blocks, rows and entries of J before those of the contacts.
    before_contacts: [usize; 3],
    /// Velocities at the end while positions move.
    pub(crate) ends: Vec<f64>,
    /// The state in the middle of the step and where bodies are at its start, for the method whose laws see the middle.
    pub(crate) middle: Vec<f64>,
    pub(crate) placement: Placement,
    /// Where linkages are at the end of the step if they go on as they move.
    ahead: Vec<f64>,
    links_ahead: Vec<LinkageScratch>,
    /// What was found to end smooth motion within the step, and whether steps whose laws see their end look for it too.
    pub(crate) event: Event,
    pub(crate) watched: bool,
    /// Solves in this step in search of such events.
    pub(crate) solves: u32,
    /// State where a part of the step begins; compressive forces where the step and the part begin.
    pub(crate) base: Vec<f64>,
    pub(crate) pressed: Vec<f64>,
    pub(crate) begun: Vec<f64>,
    /// Where drivers given by position end.
    pub(crate) driven: Vec<f64>,
    /// Whether profiles were brought to the end of the step.
    pub(crate) at_end: bool,
    /// Velocities at the end of a part of a step.
    pub(crate) finals: Vec<f64>,
    /// State and compressive forces at the end of a step that may yet be split.
    pub(crate) reached: Vec<f64>,
    pub(crate) reached_pressed: Vec<f64>,
    /// Largest residual of a coupled solve so far.
    pub(crate) worst: f64,
    /// The element of the last contact that jammed.
    pub(crate) jammed: Option<usize>,
    /// Residual of the last solve that did not succeed, the contact or stop that was furthest from its law, and whether no forces could do it.
    pub(crate) unsolved: f64,
    pub(crate) blamed: Option<usize>,
    pub(crate) impossible: bool,
    /// Residual up to which a solve counts: [`SOLVED`] at first, [`UNSOLVED`] where shorter steps do not reach it.
    pub(crate) allowed: f64,
    /// State and energies at the start of a step that is done in parts.
    pub(crate) start: Vec<f64>,
    pub(crate) start_work: Work,
    /// Compressive forces before the islands, which the parts of a step begin with.
    compression: Vec<f64>,
    /// Contacts that the program finds.
    pub(crate) scene: SceneRoom,
    /// How candidates take hold of bodies.
    holds: Vec<Hold>,
    /// Surfaces that bodies of the island are held fast to, and two points of each.
    held: Vec<Held>,
    /// Which contacts do not roll, and do not spin.
    unturned: Vec<[bool; 2]>,
    /// The power that conveyors put in.
    pub(crate) belts: f64,
    /// The largest velocity of a body of the island.
    speed: f64,
    /// What contacts keep at the end of the step, and whether that is noted.
    kept: Vec<KeptContact>,
    pub(crate) keeps: bool,
    /// Whether the method is of second order.
    pub(crate) second_order: bool,
}

/// A loaded contact of the last solve.
#[derive(Clone, Copy)]
struct KeptContact {
    island: usize,
    candidate: super::rigid::Candidate,
    hold: Hold,
    /// The touching point in the axes of the first body.
    arm: Vector3<f64>,
    /// Whether it holds its points together.
    holds: bool,
}

/// Residual that is enough where bodies that overlap part: gaps that are rounded contradict each other, and no force of it is ever shown.
const PARTED: f64 = 1e-9;
/// Residual of a coupled solve above which it counts as none, even where no shorter step does better.
pub(crate) const UNSOLVED: f64 = 1e-4;

/// Where the law of a block comes from.
#[derive(Clone, Copy, Debug)]
enum BlockSource {
    Friction(IslandFriction),
    Lock(usize, Keeps),
    Rigid(usize),
    Turning(usize),
}

/// The resistance of a contact to rolling or to spinning: a moment of at most its arm times the normal force of the same step.
#[derive(Clone, Copy, Debug)]
struct Turning {
    /// The contact, by number among those that touch, and its block.
    candidate: usize,
    block: usize,
    /// 0 rolling, 1 spinning.
    which: usize,
    /// Angular velocities at the start of the step.
    start: [f64; 2],
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
        let elements = network.element_count;
        let widest = network.linkages.iter().map(|l| l.velocities).max().unwrap_or(0);
        ImplicitScratch {
            rests: network
                .islands
                .iter()
                .map(|island| {
                    let widest = island.pattern.largest().max(6);
                    Rest::new(island.rows, island.blocks, 2 * widest * island.rows, &island.pattern)
                })
                .collect(),
            parting: Solver::rough(PARTED),
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
            turning: Vec::with_capacity(blocks),
            open: Vec::with_capacity(rows),
            closing: Vec::with_capacity(rows),
            closed: match network.locks.is_empty() {
                true => Placement::default(),
                false => Placement::of(network),
            },
            drawn: Vec::with_capacity(6 * largest),
            drawn_free: Vec::with_capacity(3),
            known: vec![false; network.layout.len()],
            root: vec![0; network.layout.len()],
            seeded: vec![false; network.layout.len()],
            vector: vec![0.0; size.max(1)],
            touching: Vec::with_capacity(blocks),
            waiting: Vec::with_capacity(blocks),
            shift: vec![0.0; if parts { network.layout.len() } else { 0 }],
            shifted: false,
            lifted: 0.0,
            blow: vec![0.0; if parts { network.layout.len() } else { 0 }],
            met: if parts { network.initial.clone() } else { Vec::new() },
            met_frames: vec![Frame::ground(); if parts { network.bodies.len() } else { 0 }],
            meeting: impact::Meeting::of(most(|i| i.bodies.len())),
            pushed: vec![0.0; size.max(1)],
            before_contacts: [0; 3],
            ends: vec![0.0; if parts { network.layout.len() } else { 0 }],
            middle: network.initial.clone(),
            placement: Placement::of(network),
            ahead: network.initial.clone(),
            links_ahead: network.linkages.iter().map(|placed| placed.body.scratch()).collect(),
            event: Event::NONE,
            watched: false,
            solves: 0,
            base: network.initial.clone(),
            pressed: vec![0.0; network.element_count],
            begun: vec![0.0; network.element_count],
            driven: vec![0.0; network.drives.len()],
            at_end: false,
            finals: network.initial.clone(),
            reached: network.initial.clone(),
            reached_pressed: vec![0.0; network.element_count],
            worst: 0.0,
            jammed: None,
            unsolved: 0.0,
            blamed: None,
            impossible: false,
            allowed: SOLVED,
            start: network.initial.clone(),
            start_work: Work::new(elements),
            compression: vec![0.0; elements],
            scene: SceneRoom::new(network),
            holds: Vec::with_capacity(blocks),
            held: Vec::new(),
            unturned: Vec::with_capacity(blocks),
            belts: 0.0,
            speed: 0.0,
            kept: Vec::with_capacity(network.rigid.iter().map(|rigid| rigid.size().0).sum()),
            keeps: false,
            second_order: false,
        }
    }

    /// Makes room for an island that was formed in a step.
    pub(super) fn fit(&mut self, network: &Network, island: &Island) {
        let stored = island.pattern.stored();
        for buffer in [&mut self.matrix, &mut self.factors] {
            buffer.resize(buffer.len().max(stored), 0.0);
        }
        self.pivots.resize(self.pivots.len().max(island.size), 0);
        self.meeting.fit(island.bodies.len());
        for buffer in [&mut self.vector, &mut self.pushed] {
            buffer.resize(buffer.len().max(island.size), 0.0);
        }
        for (index, placed) in island.bodies.iter().enumerate() {
            let (v, count, _) = placed.range(network);
            self.body[v..v + count].fill(index);
        }
    }
}

/// The laws of an island, as the solver asks for them.
struct IslandLaws<'a> {
    network: &'a Network,
    view: ImplicitView<'a>,
    sources: &'a [BlockSource],
    touching: &'a [super::rigid::Candidate],
    turning: &'a [Turning],
}

impl Blocks for IslandLaws<'_> {
    fn block(&self, i: usize) -> Block {
        match self.sources[i] {
            BlockSource::Friction(f) => self.network.frictions[f.group].block(f.index, &self.view),
            BlockSource::Lock(..) => Block::Lock,
            BlockSource::Rigid(candidate) => self.touching[candidate].block(),
            BlockSource::Turning(turning) => {
                let Turning {
                    candidate,
                    block,
                    which,
                    ..
                } = self.turning[turning];
                let candidate = &self.touching[candidate];
                Block::Arm {
                    contact: block,
                    arm: candidate.arms[which],
                    was_stuck: candidate.held[which],
                }
            }
        }
    }

    fn steady(&self, i: usize, speed: f64) -> (Level, Level) {
        match self.sources[i] {
            BlockSource::Friction(f) => self.network.frictions[f.group].steady(f.index, &self.view, speed),
            BlockSource::Lock(..) | BlockSource::Rigid(_) | BlockSource::Turning(_) => {
                (Level::default(), Level::default())
            }
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
///
/// With laws in the middle of the step, `scratch.implicit.event` tells what ends the smooth motion; a contact that closes within the step
/// has not been solved then.
pub(crate) fn solve_islands<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, span: Span) -> bool {
    scratch.implicit.compression.copy_from_slice(&scratch.compression);
    scratch.implicit.shifted = false;
    scratch.implicit.lifted = 0.0;
    scratch.implicit.shift.fill(0.0);
    scratch.implicit.blow.fill(0.0);
    scratch.implicit.event = Event::NONE;
    scratch.implicit.belts = 0.0;
    if scratch.implicit.keeps {
        scratch.implicit.kept.clear();
    }
    let solved = match &network.scene {
        None => (0..network.islands.len()).all(|index| match network.lone_contact(&network.islands[index]) {
            Some(rigid) if !span.apart && solve_ball::<OBSERVE>(network, rigid, scratch, span.whole) => true,
            _ => solve_island::<OBSERVE>(network, (index, &network.islands[index]), None, scratch, span),
        }),
        Some(found) => {
            scene::meet(network, found, scratch, span.whole, span.apart);
            scratch.compression[found.element] = 0.0;
            let islands = std::mem::take(&mut scratch.implicit.scene.islands);
            let solved = islands
                .iter()
                .enumerate()
                .filter(|(_, joined)| !joined.is_idle())
                .all(|(index, joined)| {
                    solve_island::<OBSERVE>(network, (index, &joined.island), Some(joined), scratch, span)
                });
            let Scratch {
                implicit, sum, seen, ..
            } = scratch;
            implicit.scene.islands = islands;
            implicit.scene.remember(found, sum);
            if OBSERVE {
                seen[found.element].force = implicit.scene.largest_force(found).into();
            }
            solved
        }
    };
    if !solved {
        scratch.compression.copy_from_slice(&scratch.implicit.compression);
    }
    solved
}

/// Solves one island; `index` is its place among those of the step.
fn solve_island<const OBSERVE: bool>(
    network: &Network,
    (index, island): (usize, &Island),
    joined: Option<&Joined>,
    scratch: &mut Scratch,
    span: Span,
) -> bool {
    let step = span.whole;
    if !free_motion(network, island, scratch, span) {
        scratch.implicit.unsolved = f64::INFINITY;
        return false;
    }
    write_rows(network, island, joined, scratch, span);
    let closes = !span.apart && scratch.implicit.touching.iter().any(|candidate| candidate.impact);
    if closes {
        impact::meet(network, island, scratch, span);
    }
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
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    room.speed = island.fastest(network, before).max(island.fastest(network, after));
    if room.rows.is_empty() {
        if span.apart {
            find_closing(network, room, after, (frames, linkages), span);
        }
        return true;
    }
    if span.apart {
        let closing = room.touching.iter().filter(|candidate| candidate.impact);
        let first = closing
            .map(|candidate| candidate.before_impact(step))
            .fold(1.0, f64::min);
        if room.touching.iter().any(|candidate| candidate.impact) {
            room.event.part = room.event.part.min(first);
            room.event.closing = true;
            return true;
        }
    }
    part_bodies(network, island, room, step);
    let signal_values = signals.get();
    let view = ImplicitView {
        step: span.law,
        before,
        signals: signal_values,
        compression,
    };
    if closes {
        impact::push(network, island, room, (before, after, load, frames), step);
    }
    let mut search = impact::Search::new();
    loop {
        let outcome = solve_rows(network, (index, island), room, view);
        if outcome.residual > room.allowed {
            room.unsolved = outcome.residual;
            room.blamed = match room.sources.get(outcome.furthest) {
                Some(BlockSource::Rigid(candidate)) => Some(room.touching[*candidate].element()),
                Some(BlockSource::Turning(turning)) => Some(room.touching[room.turning[*turning].candidate].element()),
                _ => None,
            };
            room.impossible = outcome.impossible;
            return false;
        }
        room.worst = room.worst.max(outcome.residual);
        if closes && impact::take_part(room) {
            search = impact::Search::new();
            continue;
        }
        // Newton's law with friction may gain energy. Then all impacts of the island rebound with the largest common part of their
        // coefficients that does not: the plastic impact never does.
        if !room.touching.iter().any(super::rigid::Candidate::rebounds) {
            break;
        }
        let Some(part) = search.next(impact::gained(network, island, room, (before, after), step)) else {
            break;
        };
        room.touching.iter_mut().for_each(|candidate| candidate.collide(part));
    }
    if island.has_joints(network) && !close_joints(network, (index, island), room, view, after, span) {
        return false;
    }
    if let Some(element) = jammed(network, island, room, (before, after), span) {
        room.jammed = Some(element);
    }
    if closes {
        impact::move_on(network, island, room, (before, after));
    }
    if OBSERVE && room.shifted {
        room.lifted += lifted(network, island, room, load);
    }

    for body in &island.bodies {
        let (v, count, at) = body.range(network);
        for i in 0..count {
            after[v + i] += room.solver.change[at + i];
        }
    }
    assign_stuck(network, island, room, after);
    hold_still(network, island, room, frames, after);

    if span.is_middle() || room.watched {
        find_event(network, room, view, after);
    }
    if span.apart {
        find_closing(network, room, after, (frames, linkages), span);
    }
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
    // Where bodies are placed.
    let place = if span.apart { &room.middle[..] } else { before };
    // The forces of a step with an impact are impulses, also where bodies touched before.
    let struck = room.rows.iter().zip(&room.sources).any(|(rows, source)| match *source {
        BlockSource::Rigid(i) => room.touching[i].impact && room.solver.force[rows.first] > 0.0,
        _ => false,
    });
    for (block, rows) in room.rows.iter().enumerate() {
        let range = rows.first..rows.first + rows.count;
        let (force, velocity) = (&room.solver.force[range.clone()], &room.solver.velocity[range]);
        let stuck = room.solver.stuck[block];
        match room.sources[block] {
            BlockSource::Friction(f) => {
                network.frictions[f.group].settle(f.index, &mut stage, force, velocity, stuck);
            }
            BlockSource::Lock(lock, keeps) => {
                let range = rows.first..rows.first + rows.count;
                let (open, closing) = (&room.open[range.clone()], &room.closing[range]);
                let placed = (&frames[..], &linkages[..]);
                settle_lock(
                    &network.locks[lock],
                    keeps,
                    &mut stage,
                    placed,
                    &room.local,
                    (force, open, closing),
                );
            }
            BlockSource::Rigid(i) => {
                let candidate = &room.touching[i];
                candidate.settle(&mut stage, force, velocity, (stuck, struck));
                room.belts += candidate.belt_power(force);
                room.scene.settle(candidate, force, velocity, stuck);
                if room.keeps && force[0] > 0.0 {
                    let frame = candidate.first_body().frame(network, place, frames, linkages);
                    let (candidate, arm, holds) = candidate.keeping(stuck, &frame);
                    room.kept.push(KeptContact {
                        island: index,
                        candidate,
                        hold: room.holds[i],
                        arm,
                        holds,
                    });
                }
            }
            BlockSource::Turning(i) => {
                let Turning {
                    candidate,
                    block,
                    which,
                    start,
                    ..
                } = room.turning[i];
                let candidate = &room.touching[candidate];
                // What is open holds nothing.
                let holds = stuck && room.solver.force[room.rows[block].first] > 0.0;
                candidate.settle_turning(&mut stage, which, (force, &start, velocity), (holds, struck));
                room.scene.settle_turning(candidate, which, holds);
            }
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

/// Solves the rows as they are.
fn solve_rows(
    network: &Network,
    (index, island): (usize, &Island),
    room: &mut ImplicitScratch,
    view: ImplicitView<'_>,
) -> Outcome {
    let laws = IslandLaws {
        network,
        view,
        sources: &room.sources,
        touching: &room.touching,
        turning: &room.turning,
    };
    let problem = Problem {
        pattern: &island.pattern,
        inertia: &room.matrix,
        joined: island.is_joined(),
        step: view.step,
        rows: &room.rows,
        jacobian: &room.jacobian,
        free: &room.free,
        speed: room.speed,
    };
    room.solver.solve_or_rest(&problem, &laws, &mut room.rests[index])
}

/// Rounds in which joints are closed.
const CLOSINGS: usize = 12;

/// Solves again until the positions at the end of the step close all joints. False if that fails.
fn close_joints(
    network: &Network,
    (index, island): (usize, &Island),
    room: &mut ImplicitScratch,
    view: ImplicitView<'_>,
    after: &[f64],
    span: Span,
) -> bool {
    // Velocities over the step that positions move by: those that were solved for, or their mean with those of the start.
    let mean = span.apart && !span.is_middle();
    let mut last = f64::INFINITY;
    for _ in 0..CLOSINGS {
        let before = view.before;
        for body in &island.bodies {
            let (v, count, at) = body.range(network);
            for i in 0..count {
                let solved = after[v + i] + room.solver.change[at + i];
                room.ends[v + i] = if mean { 0.5 * (before[v + i] + solved) } else { solved };
            }
            body.advance(network, span.whole, before, &mut room.ends, &mut room.closed);
        }
        for (v, given) in network.layout.driver_velocities().enumerate() {
            let step = span.whole;
            let moves = if mean {
                0.5 * (before[given] + after[given])
            } else {
                after[given]
            };
            room.ends[network.layout.masses + v] = before[network.layout.masses + v] + step * moves;
            room.ends[given] = after[given];
        }
        let placed = (&room.closed.frames[..], &room.closed.linkages[..]);
        let mut largest = 0.0f64;
        for (rows, source) in room.rows.iter().zip(&room.sources) {
            let BlockSource::Lock(lock, keeps) = *source else {
                continue;
            };
            let Some(joint) = network.locks[lock].joint() else {
                continue;
            };
            let standing = joint.stand(keeps, network, &room.ends, placed);
            for k in 0..rows.count {
                room.open[rows.first + k] = standing.open[k];
                let empty = rows.sides.iter().all(|side| {
                    let line = &room.jacobian[side.at + k * side.len..side.at + (k + 1) * side.len];
                    line.iter().all(|entry| *entry == 0.0)
                });
                if !empty {
                    largest = largest.max(standing.open[k].abs() / standing.rounding);
                }
            }
        }
        if largest <= 1.0 || largest > 0.5 * last && largest < 100.0 {
            if mean {
                average_closing(network, island, room, before);
            }
            return true;
        }
        if largest >= last || largest.is_nan() {
            break;
        }
        last = largest;
        let rate = if mean { 2.0 } else { 1.0 } / span.whole;
        for (rows, source) in room.rows.iter().zip(&room.sources) {
            if let BlockSource::Lock(lock, _) = *source
                && network.locks[lock].joint().is_some()
            {
                for row in rows.first..rows.first + rows.count {
                    room.free[row] += rate * room.open[row];
                    room.closing[row] -= rate * room.open[row];
                }
            }
        }
        let outcome = solve_rows(network, (index, island), room, view);
        if outcome.residual > UNSOLVED {
            room.unsolved = outcome.residual;
            return false;
        }
    }
    room.unsolved = 1.0;
    false
}

/// Makes the velocities that close joints those of the mean of start and end, on which forces work.
fn average_closing(network: &Network, island: &Island, room: &mut ImplicitScratch, before: &[f64]) {
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if !matches!(source, BlockSource::Lock(..)) {
            continue;
        }
        for k in 0..rows.count {
            let mut start = 0.0;
            for side in rows.sides.iter().filter(|side| side.len > 0) {
                let (v, ..) = island.bodies[side.body].range(network);
                let line = &room.jacobian[side.at + k * side.len..side.at + (k + 1) * side.len];
                start += super::dense::dot(line, &before[v + side.first..v + side.first + side.len]);
            }
            let closing = &mut room.closing[rows.first + k];
            *closing = 0.5 * (*closing + start);
        }
    }
}

/// Takes from the velocities at the end of a step, in `scratch.sum`, what would open joints where the bodies are then. What rests keeps resting. Returns the energy
/// that this takes; none if it fails.
pub(crate) fn still_joints<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch, step: f64) -> Option<f64> {
    let mut lost = 0.0;
    if !network.locks.iter().any(|lock| lock.joint().is_some()) {
        return Some(lost);
    }
    network.place_bodies(&scratch.sum, &mut scratch.frames, &mut scratch.linkages);
    let Scratch {
        sum: state,
        frames,
        linkages,
        signals,
        seen,
        implicit: room,
        ..
    } = scratch;
    for island in network.islands.iter().filter(|island| island.has_joints(network)) {
        begin_rows(room);
        write_frictions(network, island, state, room, |friction, pair| {
            (0..friction.axes)
                .all(|axis| pair.ratio[0] * state[pair.first.v + axis] == pair.ratio[1] * state[pair.second.v + axis])
        });
        let held = room.free.len();
        write_locks(network, island, state, state, (frames, linkages), room);
        if room.free[held..].iter().all(|velocity| *velocity == 0.0) {
            continue;
        }
        let residual = keep_still(network, island, (state, signals.get()), (frames, linkages), room, step);
        if residual > UNSOLVED {
            room.unsolved = residual;
            return None;
        }
        for body in &island.bodies {
            let (v, count, at) = body.range(network);
            for i in 0..count {
                state[v + i] += room.solver.change[at + i];
            }
        }
        assign_stuck(network, island, room, state);
        if !OBSERVE {
            continue;
        }
        for (rows, source) in room.rows.iter().zip(&room.sources) {
            let range = rows.first..rows.first + rows.count;
            let force = &room.solver.force[range.clone()];
            lost -= 0.5 * step * force.iter().zip(&room.free[range]).map(|(f, w)| f * w).sum::<f64>();
            if let BlockSource::Lock(lock, Keeps::Place) = *source
                && let Some(joint) = network.locks[lock].joint()
            {
                let standing = joint.stand(Keeps::Place, network, state, (frames, linkages));
                let seen = &mut seen[network.locks[lock].element];
                let mut total = Vector3::from(seen.force);
                for (f, direction) in force.iter().zip(&standing.directions) {
                    total += *f * direction;
                }
                (seen.force, seen.normal) = (total.into(), total.norm());
            }
        }
    }
    Some(lost)
}

/// Brings velocities at the end of a step whose laws saw its middle, in `scratch.sum`, in line with what holds. What has no slip in the middle has none at the end, but
/// for the order of the rule: where it turns, or is carried by a driver, v⁺ = 2·v_m − v is off by a little, which comes back with the other sign in each step and
/// grows, and its forces with it. The least change of motion ends that,
///
/// M·Δv = Jᵀ·r,  J·(v⁺ + Δv) = 0
///
/// for the rows J of what sticks, gears and joints among it. Returns the energy that this takes, and what drivers put in.
pub(crate) fn hold_on(network: &Network, scratch: &mut Scratch, step: f64) -> [f64; 2] {
    let velocities = network.layout.velocities();
    if network.islands.is_empty() || scratch.sum[velocities].iter().all(|v| *v == 0.0) {
        return [0.0; 2];
    }
    network.place_bodies(&scratch.sum, &mut scratch.frames, &mut scratch.linkages);
    let mut total = [0.0; 2];
    let mut add = |[lost, input]: [f64; 2]| total = [total[0] + lost, total[1] + input];
    if network.scene.is_some() {
        let islands = std::mem::take(&mut scratch.implicit.scene.islands);
        for (index, joined) in islands.iter().enumerate().filter(|(_, joined)| !joined.is_idle()) {
            add(hold_island(network, (index, &joined.island), scratch, step));
        }
        scratch.implicit.scene.islands = islands;
    } else {
        for (index, island) in network.islands.iter().enumerate() {
            add(hold_island(network, (index, island), scratch, step));
        }
    }
    total
}

/// The same for one island.
fn hold_island(network: &Network, (index, island): (usize, &Island), scratch: &mut Scratch, step: f64) -> [f64; 2] {
    let Scratch {
        sum: state,
        frames,
        linkages,
        signals,
        compression,
        implicit: room,
        ..
    } = scratch;
    begin_rows(room);
    room.holds.clear();
    let view = ImplicitView {
        step,
        before: state,
        signals: signals.get(),
        compression,
    };
    write_frictions(network, island, state, room, |friction, _| {
        network.frictions[friction.group]
            .block(friction.index, &view)
            .was_stuck()
    });
    let slips = room.free.len();
    write_locks(network, island, state, state, (frames, linkages), room);
    for number in 0..room.kept.len() {
        let KeptContact {
            mut candidate,
            hold,
            arm,
            holds,
            ..
        } = room.kept[number];
        if room.kept[number].island != index {
            continue;
        }
        let placed: (&[Frame], &[LinkageScratch]) = (frames, linkages);
        let frame = candidate.first_body().frame(network, state, placed.0, placed.1);
        candidate.carry(&frame, &arm);
        let mut rows = Rows {
            first: room.free.len(),
            count: candidate.axes,
            sides: [Side::NONE; 2],
            across: hold.across,
        };
        candidate.rows(
            network,
            (state, state, state),
            Span::whole(step),
            (placed.0, placed.1, [placed.1; 2]),
            (&hold, &island.pattern, &room.local),
            &mut rows,
            &mut room.jacobian,
            &mut room.free,
            &mut room.inertia,
        );
        if !holds {
            room.free[rows.first..].fill(0.0);
        }
        room.rows.push(rows);
        room.sources.push(BlockSource::Rigid(room.touching.len()));
        room.touching.push(candidate);
        room.holds.push(hold);
    }
    // Rounding of what turns is left alone.
    let noise = 64.0 * f64::EPSILON * island.fastest(network, state);
    let (exact, rounded) = room.free.split_at(slips);
    if exact.iter().all(|w| *w == 0.0) && rounded.iter().all(|w| w.abs() <= noise) {
        return [0.0; 2];
    }
    // Supports that move against each other hold nothing between them.
    if keep_still(network, island, (state, signals.get()), (frames, linkages), room, step) > UNSOLVED {
        return [0.0; 2];
    }
    let mut gained = 0.0;
    for (body, block) in island.bodies.iter().zip(0..) {
        let (v, count, at) = body.range(network);
        let Some(place) = island.pattern.place(block, block) else {
            continue;
        };
        let change = &room.solver.change[at..at + count];
        for i in 0..count {
            let line = &room.matrix[place + i * count..place + (i + 1) * count];
            let mean = (0..count).map(|j| line[j] * (state[v + j] + 0.5 * change[j]));
            gained += change[i] * mean.sum::<f64>();
        }
        for i in 0..count {
            state[v + i] += change[i];
        }
    }
    assign_stuck(network, island, room, state);
    hold_still(network, island, room, frames, state);
    // Where drivers move along, the rest of the energy comes from them.
    let lost = match network.drives.is_empty() {
        true => -gained,
        false => {
            -0.5 * step
                * room
                    .solver
                    .force
                    .iter()
                    .zip(&room.free)
                    .map(|(f, w)| f * w)
                    .sum::<f64>()
        }
    };
    [lost, gained + lost]
}

/// Solves for the least change of motion that keeps all rows still. Returns the residual.
fn keep_still(
    network: &Network,
    island: &Island,
    (state, signals): (&[f64], &[f64]),
    (frames, linkages): (&[Frame], &mut [LinkageScratch]),
    room: &mut ImplicitScratch,
    step: f64,
) -> f64 {
    weigh(network, island, (state, signals), frames, linkages, &mut room.matrix);
    let problem = Problem {
        pattern: &island.pattern,
        inertia: &room.matrix,
        joined: false,
        step,
        rows: &room.rows,
        jacobian: &room.jacobian,
        free: &room.free,
        speed: island.fastest(network, state),
    };
    room.solver.solve(&problem, &Kept).residual
}

/// Laws of blocks that all keep still.
struct Kept;

impl Blocks for Kept {
    fn block(&self, _: usize) -> Block {
        Block::Lock
    }

    fn steady(&self, _: usize, _: f64) -> (Level, Level) {
        (Level::default(), Level::default())
    }

    fn smooth(&self, _: usize, _: &[f64], _: &mut [f64], _: &mut [f64]) {}
}

/// Takes over what a rigid gear or joint does.
fn settle_lock(
    lock: &super::lock::Lock,
    keeps: Keeps,
    stage: &mut ImplicitStage<'_>,
    (frames, linkages): (&[Frame], &[LinkageScratch]),
    local: &[usize],
    (force, open, closing): (&[f64], &[f64], &[f64]),
) {
    let Some(seen) = &mut stage.seen else { return };
    match &lock.kind {
        LockKind::Gear(pair) => {
            seen[lock.element] = Observation::of(&[force[0]], &[0.0]);
            pair.scatter(stage.load, &[force[0]]);
        }
        LockKind::Joint(joint) => {
            let standing = joint.stand(keeps, stage.network, stage.before, (frames, linkages));
            let total: Vector3<f64> = force.iter().zip(&standing.directions).map(|(f, d)| *f * d).sum();
            if keeps == Keeps::Place {
                let gap = open.iter().map(|x| x * x).sum::<f64>().sqrt();
                seen[lock.element] = Observation {
                    force: total.into(),
                    normal: total.norm(),
                    gap,
                    ..Observation::default()
                };
            }
            // What closes the joint works on the velocities of the step; that is the method's own.
            let seen = &mut seen[lock.element];
            seen.impact += force.iter().zip(closing).map(|(f, w)| f * w).sum::<f64>();
            // Where a body is driven, its driver does work.
            let (push, torque) = match keeps {
                Keeps::Place => (total, Vector3::zeros()),
                Keeps::Turn => (Vector3::zeros(), total),
            };
            for (which, (body, sign)) in joint.bodies.iter().zip([1.0, -1.0]).enumerate() {
                let wrench = (&push, &torque, &standing.points[which]);
                body.work_on(stage.network, frames, linkages, wrench, |v, value| {
                    if local[v] == usize::MAX {
                        stage.load[v] += sign * value;
                    }
                });
            }
        }
    }
}

/// What ends smooth motion within a step whose laws saw its middle: slip velocities go from u to 2·u_m − u, and where that turns back the slip
/// came to rest at the part u²/(u² − u·u⁺) of the step; a block that stuck breaks away from a limit above its kinetic one.
fn find_event(network: &Network, room: &mut ImplicitScratch, view: ImplicitView<'_>, after: &[f64]) {
    for (i, (rows, source)) in room.rows.iter().zip(&room.sources).enumerate() {
        let laws = IslandLaws {
            network,
            view,
            sources: &room.sources,
            touching: &room.touching,
            turning: &room.turning,
        };
        let block = laws.block(i);
        if matches!(block, Block::Smooth | Block::Lock) {
            continue;
        }
        let (mut start, mut middle) = ([0.0; 3], [0.0; 3]);
        match *source {
            BlockSource::Friction(friction) => {
                let pair = network.frictions[friction.group].pair(friction.index);
                for axis in 0..friction.axes {
                    let at = |state: &[f64]| {
                        pair.ratio[0] * state[pair.first.v + axis] - pair.ratio[1] * state[pair.second.v + axis]
                    };
                    (start[axis], middle[axis]) = (at(view.before), at(after));
                }
            }
            BlockSource::Lock(..) => continue,
            BlockSource::Rigid(candidate) => {
                if room.solver.force[rows.first] <= 0.0 || rows.count == 1 {
                    continue;
                }
                let slip = room.touching[candidate].slip();
                for axis in 1..rows.count {
                    (start[axis], middle[axis]) = (slip[axis - 1], room.solver.velocity[rows.first + axis]);
                }
            }
            BlockSource::Turning(turning) => {
                let Turning {
                    block, start: begun, ..
                } = room.turning[turning];
                if room.solver.force[room.rows[block].first] <= 0.0 {
                    continue;
                }
                for axis in 0..rows.count {
                    (start[axis], middle[axis]) = (begun[axis], room.solver.velocity[rows.first + axis]);
                }
            }
        }
        let square: f64 = start.iter().map(|u| u * u).sum();
        // What was caught in contact with a moving body may be left with rounding; between coordinates it is exactly at rest.
        let contact = matches!(source, BlockSource::Rigid(_) | BlockSource::Turning(_));
        if block.was_stuck() && (square == 0.0 || contact || room.solver.stuck[i]) {
            let slack = 1.0 + 1e-12;
            let force = &room.solver.force[rows.first..rows.first + rows.count];
            let (limit, drops, held) = match block {
                Block::Dry { holding, kinetic, .. } => (holding.limit, holding.limit > slack * kinetic.limit, force),
                Block::Curve { holding, .. } => {
                    let start = laws.steady(i, 0.0).0.limit;
                    (holding.limit, holding.limit > slack * start, force)
                }
                Block::Contact {
                    mu_static, mu_kinetic, ..
                } => (mu_static * force[0], mu_static > slack * mu_kinetic, &force[1..]),
                _ => (0.0, false, force),
            };
            let stuck = room.solver.stuck[i];
            room.event.release |= drops && !stuck;
            room.event.strained |= drops && stuck && super::dense::length(held) > 0.5 * limit;
            continue;
        }
        let ahead: f64 = start.iter().zip(&middle).map(|(u, m)| u * (2.0 * m - u)).sum();
        // What touches in a new place and does not slip has a slip of rounding.
        let rounding = 64.0 * f64::EPSILON * room.speed;
        if ahead < 0.0 && square > rounding * rounding {
            room.event.part = room.event.part.min(square / (square - ahead));
        }
    }
}

/// Finds open contacts that the mean velocity of the step closes: the gap is g + u·s + (u_m − u)/T·s² after the time s.
fn find_closing(
    network: &Network,
    room: &mut ImplicitScratch,
    after: &[f64],
    (frames, linkages): (&[Frame], &[LinkageScratch]),
    span: Span,
) {
    for candidate in &room.waiting {
        let solved = candidate.normal_speed(network, after, frames, linkages, &mut room.inertia);
        let start = candidate.approach;
        let mean = if span.is_middle() {
            solved
        } else {
            0.5 * (start + solved)
        };
        let gap = candidate.gap;
        if gap + span.whole * mean < 0.0 {
            let bend = (mean - start) * span.whole;
            let speed = start * span.whole;
            // The first root of bend·s² + speed·s + gap in (0, 1); the sum in the denominator loses no digits.
            let root = (speed * speed - 4.0 * bend * gap).max(0.0).sqrt();
            let part = (2.0 * gap / (root - speed)).clamp(0.0, 1.0);
            room.event.part = room.event.part.min(part);
            room.event.closing = true;
        }
    }
}

/// The contact that stops its bodies as an impact would although there is none (Painlevé 1895: at large friction no sliding may be possible):
/// the step changes the energy of motion by far more than its forces, and what closes the contacts, explain.
fn jammed(
    network: &Network,
    island: &Island,
    room: &ImplicitScratch,
    (before, free): (&[f64], &[f64]),
    span: Span,
) -> Option<usize> {
    /// How many times more.
    const FAR: f64 = 10.0;
    if !island.frictions.is_empty() || !island.springs.is_empty() || room.touching.iter().any(|contact| contact.impact)
    {
        return None;
    }
    let (mut change, mut explained) = (0.0, 0.0);
    for (index, body) in island.bodies.iter().enumerate() {
        let (v, count, at) = body.range(network);
        let place = island.pattern.place(index, index)?;
        for i in 0..count {
            let line = &room.matrix[place + i * count..place + (i + 1) * count];
            let pushed = |i: usize| free[v + i] - before[v + i];
            let moved = |i: usize| pushed(i) + room.solver.change[at + i];
            change += 0.5 * moved(i) * line.iter().enumerate().map(|(j, m)| m * moved(j)).sum::<f64>();
            explained += 0.5 * pushed(i) * line.iter().enumerate().map(|(j, m)| m * pushed(j)).sum::<f64>();
        }
    }
    let (mut strongest, mut found) = (0.0, None);
    for (rows, source) in room.rows.iter().zip(&room.sources) {
        if let BlockSource::Rigid(contact) = *source {
            let force = room.solver.force[rows.first];
            explained += span.law * force * (room.free[rows.first] - room.touching[contact].target).abs();
            if force > strongest {
                (strongest, found) = (force, Some(room.touching[contact].element()));
            }
        }
    }
    // What is left of rounding jams nothing.
    found.filter(|_| change > FAR * explained && change > 1e-12)
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
        joined: island.is_joined(),
        step,
        rows: &room.parting_rows,
        jacobian: &room.jacobian,
        free: &room.still,
        speed: 0.0,
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

/// The power of weight and of the forces of the start of the step on what positions move by besides their velocities. Linkages count their weight
/// where they end.
fn lifted(network: &Network, island: &Island, room: &ImplicitScratch, load: &[f64]) -> f64 {
    let mut power = 0.0;
    for body in &island.bodies {
        let (v, count, _) = body.range(network);
        for i in 0..count {
            let weight = match *body {
                IslandBody::Masses { .. } => {
                    let coordinate = v + i - network.layout.positions;
                    network.gravity[coordinate] / network.inverse_mass[coordinate]
                }
                IslandBody::Rigid { body, .. } if i < 3 => network.bodies[body].body.mass() * network.world_gravity[i],
                _ => 0.0,
            };
            power += (load[v + i] + weight) * room.shift[v + i];
        }
    }
    power
}

/// A = M + T·D + T²·K, and v̄ = A⁻¹(M·v + T·h) where stiff springs make it more than a division. False if A has no inverse.
fn free_motion(network: &Network, island: &Island, scratch: &mut Scratch, span: Span) -> bool {
    let step = span.law;
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
    weigh(
        network,
        island,
        (before, signals.get()),
        frames,
        linkages,
        &mut room.matrix,
    );
    let matrix = &mut room.matrix[..pattern.stored()];
    if !island.is_joined() {
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
    let [first, first_point, ..] = island.first_holds();
    for (&spring, hold) in island.point_springs.iter().zip(&island.holds[first_point..]) {
        room.drawn.clear();
        room.drawn_free.clear();
        let given = (before, &room.middle[..], &after[..]);
        let rooms = (&mut room.drawn, &mut room.drawn_free);
        let placed = (&frames[..], &linkages[..]);
        draw(
            network,
            &network.point_springs[spring],
            (hold, pattern, &room.local),
            span,
            given,
            placed,
            rooms,
            matrix,
            right,
        );
    }
    for (&spring, hold) in island.springs.iter().zip(&island.holds[first..]) {
        stiffen(
            &network.stiff_springs[spring],
            hold,
            span,
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

/// The masses of an island, as a matrix.
fn weigh(
    network: &Network,
    island: &Island,
    (state, signals): (&[f64], &[f64]),
    frames: &[Frame],
    linkages: &mut [LinkageScratch],
    matrix: &mut [f64],
) {
    let pattern = &island.pattern;
    let matrix = &mut matrix[..pattern.stored()];
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
                let inertia = placed.inertia(state, signals);
                let entries = placed.count * placed.count;
                matrix[place..place + entries].copy_from_slice(&inertia[..entries]);
            }
        }
    }
}

/// The rows of J and the free velocities: frictions, then the rigid contacts that may touch within the step.
fn write_rows(network: &Network, island: &Island, joined: Option<&Joined>, scratch: &mut Scratch, span: Span) {
    let step = span.whole;
    let Scratch {
        trial,
        sum,
        frames,
        linkages,
        implicit: room,
        ..
    } = scratch;
    let (before, after): (&[f64], &mut [f64]) = (trial, sum);
    begin_rows(room);
    write_frictions(network, island, after, room, |_, _| true);
    // The middle of the step is taken out of the room while rows are written into it.
    let middle = std::mem::take(&mut room.middle);
    let state = if span.apart { &middle } else { before };
    write_locks(network, island, state, after, (frames, linkages), room);
    room.middle = middle;
    room.holds.clear();
    let found = joined.is_some_and(|joined| !joined.found.is_empty()) && !network.linkages.is_empty();
    if found || island.rigid.iter().any(|&rigid| network.rigid[rigid].is_on_link()) {
        room.ahead
            .copy_from_slice(if span.apart { &room.middle } else { before });
        move_linkages(network, step, before, &mut room.ahead);
        for (placed, scratch) in network.linkages.iter().zip(&mut room.links_ahead) {
            let (q, v) = placed.motion(&room.ahead);
            placed.body.place(q, v, scratch);
        }
    }
    let [.., first_rigid] = island.first_holds();
    let holds = &island.holds[first_rigid..];
    // Gaps are those of the start of the step.
    let (begun, begun_links) = match span.apart {
        true => (&room.placement.frames[..], &room.placement.linkages[..]),
        false => (&frames[..], &linkages[..]),
    };
    for (&rigid, hold) in island.rigid.iter().zip(holds) {
        // A point that does not touch has nothing to hold on to when it comes back.
        let memory = network.rigid[rigid].memory();
        after[network.rigid[rigid].state..][..memory].fill(0.0);
        let first = room.touching.len();
        network.rigid[rigid].candidates(
            network,
            before,
            after,
            begun,
            begun_links,
            step,
            &mut room.inertia,
            &mut room.touching,
        );
        if span.apart {
            // What is open feels nothing until it closes, where the step is split.
            for index in (first..room.touching.len()).rev() {
                if room.touching[index].gap > 0.0 {
                    room.waiting.push(room.touching.remove(index));
                }
            }
            for candidate in &mut room.touching[first..] {
                let start = (before, begun, begun_links);
                network.rigid[rigid].move_candidate(candidate, network, start, (&room.middle, frames, linkages));
                candidate.work_on_mean(!span.is_middle());
            }
        }
        room.holds.resize(room.touching.len(), *hold);
    }
    if let (Some(scene), Some(joined)) = (&network.scene, joined) {
        let begin = |state, frames, linkages| Begin {
            network,
            scene,
            before: state,
            after: state,
            frames,
            linkages,
            step,
        };
        let first = room.touching.len();
        for (candidate, hold) in room.scene.candidates(joined) {
            if span.apart && candidate.gap > 0.0 {
                room.waiting.push(candidate);
            } else {
                room.touching.push(candidate);
                room.holds.push(hold);
            }
        }
        if span.apart {
            for candidate in &mut room.touching[first..] {
                let start = begin(before, begun, begun_links);
                let middle = begin(&room.middle, frames, linkages);
                room.scene.move_candidate(candidate, &start, &middle);
                candidate.work_on_mean(!span.is_middle());
            }
        }
    }
    room.before_contacts = [room.rows.len(), room.free.len(), room.jacobian.len()];
    let state = (before, &*after);
    write_contacts(network, island, state, (span, false), (frames, linkages), room);
}

/// The rows of the contacts and of what resists rolling and spinning in them, in place of those that were there; `met` where bodies are when a gap closes.
fn write_contacts(
    network: &Network,
    island: &Island,
    (before, after): (&[f64], &[f64]),
    (span, met): (Span, bool),
    (frames, linkages): (&[Frame], &[LinkageScratch]),
    room: &mut ImplicitScratch,
) {
    let [blocks, rows, entries] = room.before_contacts;
    room.rows.truncate(blocks);
    room.sources.truncate(blocks);
    room.free.truncate(rows);
    room.jacobian.truncate(entries);
    room.turning.clear();
    for index in 0..room.touching.len() {
        let (candidate, hold) = (&mut room.touching[index], &room.holds[index]);
        let start = room.free.len();
        let begun_links = if span.apart { &room.placement.linkages } else { linkages };
        let mut rows = Rows {
            first: start,
            count: candidate.axes,
            sides: [Side::NONE; 2],
            across: hold.across,
        };
        candidate.collide(1.0);
        candidate.rows(
            network,
            (
                before,
                match (span.apart, met) {
                    (true, _) => &room.middle,
                    (_, true) => &room.met,
                    _ => before,
                },
                after,
            ),
            span,
            (frames, linkages, [begun_links, &room.links_ahead]),
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
    // The placement at the start is taken out of the room while rows are written into it.
    let placement = std::mem::take(&mut room.placement);
    let (begun, begun_links) = match span.apart {
        true => (&placement.frames[..], &placement.linkages[..]),
        false => (frames, linkages),
    };
    let first = room.rows.len() - room.touching.len();
    for index in 0..room.touching.len() {
        if room.touching[index].arms != [0.0; 2] {
            let begun = (before, begun, begun_links);
            let placed = (frames, linkages);
            write_turning(network, island, (index, first + index), begun, after, placed, room);
        }
    }
    room.placement = placement;
}

/// The rows of what resists rolling and spinning in a contact: angular velocities across and along its normal.
fn write_turning(
    network: &Network,
    island: &Island,
    (index, block): (usize, usize),
    (before, begun, begun_links): (&[f64], &[Frame], &[LinkageScratch]),
    after: &[f64],
    placed: (&[Frame], &[LinkageScratch]),
    room: &mut ImplicitScratch,
) {
    let candidate = room.touching[index];
    let Some((bodies, point, [normal, along, across])) = candidate.turning() else {
        return;
    };
    let [first, second] = bodies.map(|body| body.frame(network, before, begun, begun_links).angular_velocity);
    let turns = first - second;
    for (which, directions) in [&[along, across][..], &[normal][..]].into_iter().enumerate() {
        if candidate.arms[which] == 0.0 {
            continue;
        }
        let (numbers, first) = (room.jacobian.len(), room.free.len());
        let write = |room: &mut ImplicitScratch, directions: &[Vector3<f64>]| {
            room.jacobian.truncate(numbers);
            room.free.truncate(first);
            write_point_rows(
                network,
                (bodies, &[point; 2]),
                (directions, Keeps::Turn),
                after,
                placed,
                (&room.holds[index], &island.pattern, &room.local[..]),
                &mut room.jacobian,
                &mut room.free,
            )
        };
        let mut rows = write(room, directions);
        // Where bodies turn about one axis only, there is one row, and none where nothing turns.
        let mut single = None;
        if let [one, other] = *directions {
            let product = |a: usize, b: usize| -> f64 {
                let of = |side: &Side, k: usize| &room.jacobian[side.at + k * side.len..side.at + (k + 1) * side.len];
                let sides = rows.sides.iter();
                sides.map(|side| super::dense::dot(of(side, a), of(side, b))).sum()
            };
            let [aa, ab, bb] = [product(0, 0), product(0, 1), product(1, 1)];
            if aa * bb - ab * ab <= 1e-24 * (aa + bb) * (aa + bb) {
                single = Some(match aa >= bb {
                    true => aa * one + ab * other,
                    false => ab * one + bb * other,
                });
            }
        }
        let mut start = [0.0; 2];
        for (start, direction) in start.iter_mut().zip(directions) {
            *start = direction.dot(&turns);
        }
        if let Some(axis) = single {
            let axis = axis.try_normalize(0.0).unwrap_or(normal);
            rows = write(room, &[axis]);
            start = [axis.dot(&turns), 0.0];
        }
        let still = rows.sides.iter().all(|side| {
            let numbers = &room.jacobian[side.at..side.at + rows.count * side.len];
            numbers.iter().all(|entry| *entry == 0.0)
        });
        if still {
            room.jacobian.truncate(numbers);
            room.free.truncate(first);
            continue;
        }
        room.rows.push(rows);
        room.sources.push(BlockSource::Turning(room.turning.len()));
        room.turning.push(Turning {
            candidate: index,
            block,
            which,
            start,
        });
    }
}

/// No rows.
fn begin_rows(room: &mut ImplicitScratch) {
    room.sources.clear();
    room.rows.clear();
    room.free.clear();
    room.jacobian.clear();
    room.touching.clear();
    room.waiting.clear();
    room.turning.clear();
}

/// The rows of the frictions that are wanted.
fn write_frictions(
    network: &Network,
    island: &Island,
    after: &[f64],
    room: &mut ImplicitScratch,
    wanted: impl Fn(&IslandFriction, &Pair) -> bool,
) {
    for (&friction, hold) in island.frictions.iter().zip(&island.holds) {
        let pair = network.frictions[friction.group].pair(friction.index);
        if !wanted(&friction, pair) {
            continue;
        }
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
}

/// The rows of rigid gears and joints.
fn write_locks(
    network: &Network,
    island: &Island,
    state: &[f64],
    after: &[f64],
    (frames, linkages): (&[Frame], &[LinkageScratch]),
    room: &mut ImplicitScratch,
) {
    room.open.clear();
    room.closing.clear();
    let [_, _, first_lock, _] = island.first_holds();
    for (&lock, hold) in island.locks.iter().zip(&island.holds[first_lock..]) {
        let taken = (hold, &island.pattern, &room.local[..]);
        let mut push = |room_rows: Rows, keeps: Keeps| {
            room.rows.push(room_rows);
            room.sources.push(BlockSource::Lock(lock, keeps));
        };
        match &network.locks[lock].kind {
            LockKind::Gear(pair) => {
                let rows = write_gear_row(pair, after, taken, &mut room.jacobian, &mut room.free);
                push(rows, Keeps::Place);
            }
            LockKind::Joint(joint) => {
                for keeps in [Keeps::Place, Keeps::Turn] {
                    let count = joint.rows(keeps);
                    if count == 0 {
                        continue;
                    }
                    let standing = joint.stand(keeps, network, state, (frames, linkages));
                    let rows = write_point_rows(
                        network,
                        (joint.bodies, &standing.points),
                        (&standing.directions[..count], keeps),
                        after,
                        (frames, linkages),
                        taken,
                        &mut room.jacobian,
                        &mut room.free,
                    );
                    push(rows, keeps);
                }
            }
        }
    }
    room.open.resize(room.free.len(), 0.0);
    room.closing.resize(room.free.len(), 0.0);
}

impl IslandBody {
    /// The same body with its velocities farther back in an island.
    pub(super) fn moved(self, by: usize) -> Self {
        match self {
            IslandBody::Masses { v, count, at } => IslandBody::Masses { v, count, at: at + by },
            IslandBody::Rigid { body, at } => IslandBody::Rigid { body, at: at + by },
            IslandBody::Linkage { linkage, at } => IslandBody::Linkage { linkage, at: at + by },
            IslandBody::Own { own, at } => IslandBody::Own { own, at: at + by },
        }
    }

    /// Moves the body for a step by the velocities in `state`, from positions in `before`, and places it there.
    fn advance(self, network: &Network, step: f64, before: &[f64], state: &mut [f64], placement: &mut Placement) {
        match self {
            IslandBody::Rigid { body, .. } => {
                let placed = &network.bodies[body];
                turn(placed.q, placed.v, step, before, state);
                let (q, v) = (placed.q..placed.q + 7, placed.v..placed.v + 6);
                placement.frames[body] = placed.body.place(&state[q], &state[v]);
            }
            IslandBody::Linkage { linkage, .. } => {
                let placed = &network.linkages[linkage];
                let free = placed.positions - placed.velocities;
                if free > 0 {
                    turn(placed.q, placed.v, step, before, state);
                }
                for i in 6 * free..placed.velocities {
                    let q = placed.q + i + free;
                    state[q] = before[q] + step * state[placed.v + i];
                }
                let (q, v) = placed.motion(state);
                placed.body.place(q, v, &mut placement.linkages[linkage]);
            }
            IslandBody::Masses { v, count, .. } => {
                for i in v..v + count {
                    state[i - network.layout.positions] = before[i - network.layout.positions] + step * state[i];
                }
            }
            IslandBody::Own { .. } => (),
        }
    }

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

/// Puts a spring of the end of the step (or of its middle) into A and the right-hand side: its force is −k·(x + T·w) − d·w, w = J·v⁺ + w_p
/// with w_p the part of given velocities.
#[allow(clippy::too_many_arguments)]
fn stiffen(
    spring: &StiffSpring,
    hold: &Hold,
    span: Span,
    before: &[f64],
    after: &[f64],
    (body, local, pattern): (&[usize], &[usize], &Pattern),
    matrix: &mut [f64],
    right: &mut [f64],
) {
    let step = span.law;
    // By the mean motion: −k·(x + ½T·w_m) − d·w_m with w_m half the velocities of start and end.
    let by_mean = span.apart && !span.is_middle();
    let part = if by_mean { 0.5 } else { 1.0 };
    let gain = part * (part * step * spring.stiffness + spring.damping);
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
        let begun: f64 = ends.iter().map(|(c, r)| r * before[c.v + axis]).sum();
        let force = -spring.stiffness * offset - gain * (if by_mean { begun + given } else { given });
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

/// Puts a spring between points into A and the right-hand side: about where its bodies are, its force is −(c·w + k·(x + t·(w − w₀))) along each direction, with w the velocity
/// that moves it, w₀ the one that led to x, and t the time between.
#[allow(clippy::too_many_arguments)]
fn draw(
    network: &Network,
    spring: &PointSpring,
    taken: super::lock::Taken<'_>,
    span: Span,
    (before, middle, after): (&[f64], &[f64], &[f64]),
    placed: super::lock::Placed<'_>,
    (jacobian, velocity): (&mut Vec<f64>, &mut Vec<f64>),
    matrix: &mut [f64],
    right: &mut [f64],
) {
    let (_, pattern, local) = taken;
    let by_mean = span.apart && !span.is_middle();
    let part = if by_mean { 0.5 } else { 1.0 };
    let time = part * span.law;
    let state = if span.apart { middle } else { before };
    let stretched = spring.stretched(network, state, placed.0, placed.1);
    let at = (spring.bodies, &stretched.points);
    let rows = write_point_rows(
        network,
        at,
        (&stretched.directions, Keeps::Place),
        state,
        placed,
        taken,
        jacobian,
        velocity,
    );
    let (mut gain, mut force) = ([[0.0; 3]; 3], [0.0; 3]);
    for k in 0..3 {
        let direction = &stretched.directions[k];
        // Velocities of what is driven, and, where the mean counts, half of those at the start.
        let (mut given, mut begun) = (0.0, 0.0);
        for (which, (body, sign)) in spring.bodies.iter().zip([1.0, -1.0]).enumerate() {
            let wrench = (direction, &Vector3::zeros(), &stretched.points[which]);
            body.work_on(network, placed.0, placed.1, wrench, |v, value| {
                if local[v] == usize::MAX {
                    given += sign
                        * value
                        * if by_mean {
                            0.5 * (before[v] + after[v])
                        } else {
                            after[v]
                        };
                } else {
                    begun += sign * value * before[v];
                }
            });
        }
        let led = if span.apart { velocity[k] } else { 0.0 };
        let (stiff, damp) = (stretched.stiffness[k], stretched.damping[k]);
        gain[k][k] = part * (stiff * time + damp);
        let known = given + if by_mean { 0.5 * begun } else { 0.0 };
        force[k] = -stiff * (stretched.stretch[k] - time * led) - (stiff * time + damp) * known;
    }
    let problem = Problem {
        pattern,
        inertia: &[],
        joined: true,
        step: span.law,
        rows: &[],
        jacobian,
        free: &[],
        speed: 0.0,
    };
    problem.add_gram(&rows, span.law, &gain, matrix);
    problem.scatter(&rows, span.law, &force, right);
}

/// What a rigid body is held fast to, as far as is known: the surface (the ground or a driver), and two points.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    surface: Option<Attachment>,
    points: [Option<nalgebra::Vector3<f64>>; 2],
    /// The normal about which alone it may turn, where a contact does not roll.
    about: Option<nalgebra::Vector3<f64>>,
    /// Three points that do not lie on a line hold it, two with one that does not roll, and one that neither rolls nor spins.
    fast: bool,
}

/// Points nearer than this are one, relative to their distance from the centre of mass.
const SAME_POINT: f64 = 1e-9;
/// Points lie on a line if none is farther from it than this, relative to their distance along it.
const ON_A_LINE: f64 = 1e-6;

/// A rigid body held by three points that do not lie on a line moves with the surface: its velocities are assigned. So does one held by a point that
/// neither rolls nor spins. What is held fast is such a surface itself. One contact holds a point mass.
fn hold_still(network: &Network, island: &Island, room: &mut ImplicitScratch, frames: &[Frame], after: &mut [f64]) {
    // Contacts come last among the blocks, and after them what resists rolling and spinning.
    let first = room.sources.len() - room.touching.len() - room.turning.len();
    let (stuck, turning) = room.solver.stuck[first..].split_at(room.touching.len());
    let unturned = &mut room.unturned;
    unturned.clear();
    unturned.resize(room.touching.len(), [false; 2]);
    for (resists, &stuck) in room.turning.iter().zip(turning) {
        unturned[resists.candidate][resists.which] = stuck;
    }
    let held = &mut room.held;
    held.resize(network.bodies.len(), Held::default());
    for body in &island.bodies {
        if let IslandBody::Rigid { body, .. } = *body {
            held[body] = Held::default();
        }
    }
    loop {
        let mut changed = false;
        for ((candidate, &stuck), &[unrolled, unspun]) in room.touching.iter().zip(stuck).zip(&*unturned) {
            let Some((bodies, point)) = candidate.holds().filter(|_| stuck) else {
                continue;
            };
            for (body, partner) in [(bodies[0], bodies[1]), (bodies[1], bodies[0])] {
                let body = match body {
                    Attachment::Rigid(body) => body,
                    Attachment::Point { coordinate, axes } if room.local[coordinate.v] != usize::MAX => {
                        let carried = match partner {
                            Attachment::Ground => Some(partner),
                            Attachment::Point { coordinate, .. } if room.local[coordinate.v] == usize::MAX => {
                                Some(partner)
                            }
                            Attachment::Rigid(other) if held[other].fast => held[other].surface,
                            _ => None,
                        };
                        if let Some(surface) = carried {
                            let carried = surface.velocity(after);
                            after[coordinate.v..coordinate.v + axes].copy_from_slice(&carried[..axes]);
                        }
                        continue;
                    }
                    _ => continue,
                };
                let surface = match partner {
                    Attachment::Ground | Attachment::Point { .. } => Some(partner),
                    Attachment::Rigid(other) if held[other].fast => held[other].surface,
                    _ => None,
                };
                let (Some(surface), false) = (surface, held[body].fast) else {
                    continue;
                };
                let size = (frames[body].position - point).norm();
                let held = &mut held[body];
                match (held.surface, held.points) {
                    (None, _) => {
                        *held = Held {
                            surface: Some(surface),
                            points: [Some(point), None],
                            ..Held::default()
                        };
                    }
                    (Some(other), _) if other != surface => continue,
                    // Two shapes that meet flush give one point twice, apart by rounding: that is no second point.
                    (_, [Some(a), None]) if (point - a).norm() > SAME_POINT * size => held.points[1] = Some(point),
                    (_, [Some(a), Some(b)]) => {
                        let (along, beside) = (b - a, point - a);
                        let spread = along.norm_squared() * along.norm_squared().max(beside.norm_squared());
                        held.fast = along.cross(&beside).norm_squared() > ON_A_LINE * ON_A_LINE * spread;
                    }
                    _ => (),
                }
                if unrolled {
                    held.about = Some(candidate.place().1[0]);
                    held.fast |= unspun;
                }
                if let (Some(normal), [Some(a), Some(b)]) = (held.about, held.points) {
                    held.fast |= (b - a).cross(&normal).norm_squared() > 1e-12 * (b - a).norm_squared();
                }
                if held.fast {
                    changed = true;
                    let v = network.bodies[body].v;
                    let carried = surface.velocity(after);
                    after[v..v + 3].copy_from_slice(&carried);
                    after[v + 3..v + 6].fill(0.0);
                }
            }
        }
        if !changed {
            break;
        }
    }
    // What may only spin about a normal through its point turns about that, and moves no other way.
    for body in &island.bodies {
        let IslandBody::Rigid { body, .. } = *body else {
            continue;
        };
        if let Held {
            surface: Some(surface),
            points: [Some(point), _],
            about: Some(normal),
            fast: false,
        } = held[body]
        {
            let v = network.bodies[body].v;
            let carried = Vector3::from(surface.velocity(after));
            let turns = normal * normal.dot(&Vector3::from_column_slice(&after[v + 3..v + 6]));
            let moves = carried + turns.cross(&(frames[body].position - point));
            after[v..v + 3].copy_from_slice(moves.as_slice());
        }
    }
    // What does not roll, or does not spin, on a surface that does not turn has no such part of its angular velocity.
    for (resists, &stuck) in room.turning.iter().zip(turning) {
        let Some((bodies, _, [normal, ..])) = room.touching[resists.candidate].turning().filter(|_| stuck) else {
            continue;
        };
        for (body, partner) in [(bodies[0], bodies[1]), (bodies[1], bodies[0])] {
            let still = match partner {
                Attachment::Ground | Attachment::Point { .. } => true,
                Attachment::Rigid(other) => held[other].fast,
                _ => false,
            };
            let pressed = room.solver.force[room.rows[resists.block].first] > 0.0;
            if let (Attachment::Rigid(body), true, true) = (body, still, pressed) {
                let v = network.bodies[body].v + 3;
                let spin = Vector3::from_column_slice(&after[v..v + 3]);
                let about = normal * normal.dot(&spin);
                let left = if resists.which == 0 { about } else { spin - about };
                after[v..v + 3].copy_from_slice(left.as_slice());
            }
        }
    }
}

/// The coordinates that a friction or a gear couples, and how many axes they have.
fn coupled_pair(network: &Network, source: BlockSource) -> Option<(&Pair, usize)> {
    match source {
        BlockSource::Friction(friction) => {
            Some((network.frictions[friction.group].pair(friction.index), friction.axes))
        }
        BlockSource::Lock(lock, _) => match &network.locks[lock].kind {
            LockKind::Gear(pair) => Some((pair, 1)),
            LockKind::Joint(_) => None,
        },
        BlockSource::Rigid(_) | BlockSource::Turning(_) => None,
    }
}

/// The first of a cluster.
fn find(root: &mut [usize], mut node: usize) -> usize {
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}

/// A stuck velocity is assigned, not computed: exactly that of a partner whose motion is given, or one common value.
fn assign_stuck(network: &Network, island: &Island, room: &mut ImplicitScratch, after: &mut [f64]) {
    let (known, local) = (&mut room.known, &room.local);
    let (root, seeded) = (&mut room.root, &mut room.seeded);
    for body in &island.bodies {
        let (v, count, _) = body.range(network);
        known[v..v + count].fill(false);
    }
    // Velocities outside islands are known; inside they become known one by one, ground and drivers first. Forwards and backwards in
    // turn: a chain is through in two rounds, whichever end is held.
    let is_known = |v: usize, known: &[bool]| local[v] == usize::MAX || known[v];
    let mut forwards = true;
    // Clusters of what sticks together, so that all of them are given a value at once where nothing gives them one.
    let mut seeding = false;
    loop {
        let mut changed = false;
        let mut left = false;
        // Frictions, then gears.
        let count = room.sources.len() - room.touching.len() - room.turning.len();
        for index in 0..count {
            let block = if forwards { index } else { count - 1 - index };
            if !room.solver.stuck[block] {
                continue;
            }
            let Some((pair, axes)) = coupled_pair(network, room.sources[block]) else {
                continue;
            };
            for axis in 0..axes {
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
                    (false, false) if seeding => {
                        let cluster = find(root, a);
                        let seed = !seeded[cluster];
                        if seed {
                            seeded[cluster] = true;
                            known[a] = true;
                            after[b] = pair.ratio[0] * after[a] * pair.inverse_ratio[1];
                            known[b] = true;
                        }
                        changed |= seed;
                        left |= !seed;
                    }
                    (false, false) => left = true,
                    _ => (),
                }
            }
        }
        forwards = !forwards;
        if !changed {
            if !left || seeding {
                return;
            }
            seeding = true;
            for body in &island.bodies {
                let (v, count, _) = body.range(network);
                for i in v..v + count {
                    (root[i], seeded[i]) = (i, false);
                }
            }
            let stuck = room.sources.iter().zip(&room.solver.stuck).filter(|(_, stuck)| **stuck);
            for (source, _) in stuck {
                let Some((pair, axes)) = coupled_pair(network, *source) else {
                    continue;
                };
                for axis in 0..axes {
                    let (a, b) = (pair.first.v + axis, pair.second.v + axis);
                    if local[a] != usize::MAX && local[b] != usize::MAX {
                        let (a, b) = (find(root, a), find(root, b));
                        root[a.max(b)] = a.min(b);
                    }
                }
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

    /// Elastic energies of the springs between points taken at the end of the step.
    pub(crate) fn store_point_springs(
        &self,
        state: &[f64],
        frames: &[Frame],
        linkages: &[LinkageScratch],
        seen: &mut [Observation],
    ) {
        for spring in &self.point_springs {
            seen[spring.element].stored = spring.stored(self, state, frames, linkages);
        }
    }

    /// Notes what the springs between points taken at the end of the step did, with bodies placed and the motion that moved them: force −k·x − d·w.
    pub(crate) fn observe_point_springs(
        &self,
        state: &[f64],
        (frames, linkages): (&[Frame], &[LinkageScratch]),
        (step, load): (f64, &mut [f64]),
        seen: &mut [Observation],
    ) {
        for spring in &self.point_springs {
            let Stretched {
                points,
                directions,
                stretch,
                stiffness,
                damping,
            } = spring.stretched(self, state, frames, linkages);
            let mut note = Observation::default();
            let (mut force, mut velocity) = (Vector3::zeros(), Vector3::zeros());
            for k in 0..3 {
                let mut speed = 0.0;
                for (which, (body, sign)) in spring.bodies.iter().zip([1.0, -1.0]).enumerate() {
                    let wrench = (&directions[k], &Vector3::zeros(), &points[which]);
                    body.work_on(self, frames, linkages, wrench, |v, value| {
                        speed += sign * value * state[v]
                    });
                }
                let along = -stiffness[k] * (stretch[k] + step * speed) - damping[k] * speed;
                force += along * directions[k];
                velocity += speed * directions[k];
                note.power += along * speed;
            }
            (note.force, note.velocity) = (force.into(), velocity.into());
            note.normal = force.norm();
            note.stored = spring.stored(self, state, frames, linkages);
            for (which, (body, sign)) in spring.bodies.iter().zip([1.0, -1.0]).enumerate() {
                let wrench = (&force, &Vector3::zeros(), &points[which]);
                body.work_on(self, frames, linkages, wrench, |v, value| load[v] += sign * value);
            }
            seen[spring.element] = note;
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
            note.hauled = match spring.axes {
                1 => self.hauled::<1>(&spring.pair, after),
                2 => self.hauled::<2>(&spring.pair, after),
                _ => self.hauled::<3>(&spring.pair, after),
            };
            seen[spring.element] = note;
        }
    }
}
