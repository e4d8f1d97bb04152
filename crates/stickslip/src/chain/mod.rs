//! A chain of many blocks (Burridge and Knopoff 1967): each is tied to its neighbours and to a common drive by springs and
//! rubs on the ground. No block touches another but by springs, and springs are taken at the start of the step, so every
//! block has its own closed form and the chain needs no matrix.
//!
//! Blocks are arrays of numbers. They are moved tile by tile through several steps at once (`tile.rs`), so that a
//! chain that does not fit the cache costs no more per block than one that does; tiles are handed to threads in pieces. The
//! arithmetic of a block does not depend on either, so the bytes are the same for any number of threads. Sums over blocks
//! are taken tile by tile in the order of the chain, for the same reason.

mod tile;

use crate::analysis::slip_events::{SlipEvents, SlipEventsReport, SlipEventsSpec, SlipRun};
use crate::element::curve::{SteadyCurve, with_curve};
use crate::element::friction::InitialMode;
use crate::network::port::Coordinate;
use crate::profile::TimeGrid;
use crate::snapshot::carried;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use stickslip_core::friction::curve::Curve;
use tile::{COULOMB, CURVED, Common, HOLDING, PAD, Piece, StepInput, Stretch, Sums, TileRoom};

/// Most blocks of a chain: their numbers must fit the memory.
pub const MOST_BLOCKS: usize = 100_000_000;

/// Blocks that are moved together: four arrays of them fit the first cache.
const TILE: usize = 640;
/// Steps that a tile is moved at once. More steps need more neighbours to be moved along.
const DEPTH: usize = 32;
/// Most neighbours that a tile takes along on a side: one a step, and one more where energies are added up, which ask for the link to
/// the block beside the tile to the last.
const REACH: usize = DEPTH + 1;
/// Parts of a chain that threads share; sums are taken over each.
const PIECES: usize = 64;
/// Blocks below which threads cost more than they save.
const WORTHWHILE: usize = 20_000;

/// Evaluates an expression with the curve in lanes.
macro_rules! with_lanes {
    ($curve:expr, |$c:ident| $body:expr) => {
        match $curve {
            SteadyCurve::Stribeck(curve) => {
                let $c = &curve.lift();
                $body
            }
            SteadyCurve::Given(curve) => {
                let $c = &**curve;
                $body
            }
        }
    };
}

/// The numbers of a block, whether they are its own or those of all.
trait Fields: Copy {
    /// Whether dampers and lengths of springs are looked at.
    const DAMPED: bool;
    /// The blocks from the `first` on.
    fn from(self, first: usize, count: usize) -> Self;
    fn inverse_mass(&self, i: usize) -> f64;
    /// Stiffness of the spring on the left of a block.
    fn neighbour(&self, i: usize) -> f64;
    fn drive(&self, i: usize) -> f64;
    /// Factor of the friction.
    fn strength(&self, i: usize) -> f64;
}

/// All blocks are alike, springs have neither length nor damping.
#[derive(Clone, Copy, Debug)]
struct Equal {
    inverse_mass: f64,
    neighbour: f64,
    drive: f64,
}

impl Fields for Equal {
    const DAMPED: bool = false;
    #[inline(always)]
    fn from(self, _: usize, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn inverse_mass(&self, _: usize) -> f64 {
        self.inverse_mass
    }
    #[inline(always)]
    fn neighbour(&self, _: usize) -> f64 {
        self.neighbour
    }
    #[inline(always)]
    fn drive(&self, _: usize) -> f64 {
        self.drive
    }
    #[inline(always)]
    fn strength(&self, _: usize) -> f64 {
        1.0
    }
}

/// Every block has its own numbers.
#[derive(Clone, Copy, Debug)]
struct Each<'a> {
    inverse_mass: &'a [f64],
    /// One more than blocks; the first and the last are 0.
    neighbour: &'a [f64],
    drive: &'a [f64],
    strength: &'a [f64],
}

impl Fields for Each<'_> {
    const DAMPED: bool = true;
    #[inline(always)]
    fn from(self, first: usize, count: usize) -> Self {
        Each {
            inverse_mass: &self.inverse_mass[first..first + count],
            neighbour: &self.neighbour[first..first + count + 1],
            drive: &self.drive[first..first + count],
            strength: &self.strength[first..first + count],
        }
    }
    #[inline(always)]
    fn inverse_mass(&self, i: usize) -> f64 {
        self.inverse_mass[i]
    }
    #[inline(always)]
    fn neighbour(&self, i: usize) -> f64 {
        self.neighbour[i]
    }
    #[inline(always)]
    fn drive(&self, i: usize) -> f64 {
        self.drive[i]
    }
    #[inline(always)]
    fn strength(&self, i: usize) -> f64 {
        self.strength[i]
    }
}

/// Numbers of the blocks of a chain.
#[derive(Clone, Debug)]
pub(crate) enum BlockNumbers {
    /// Those of every block.
    Equal {
        /// 1/kg.
        inverse_mass: f64,
        /// N/m.
        neighbour: f64,
        /// N/m.
        drive: f64,
    },
    /// Those of each.
    Each {
        /// 1/kg.
        inverse_mass: Vec<f64>,
        /// Of the spring on the left of a block, N/m; one more than blocks, the first and the last are 0.
        neighbour: Vec<f64>,
        /// N/m.
        drive: Vec<f64>,
        /// Factor of the friction.
        strength: Vec<f64>,
    },
}

impl BlockNumbers {
    fn bytes(&self) -> usize {
        match self {
            BlockNumbers::Equal { .. } => 0,
            BlockNumbers::Each {
                inverse_mass,
                neighbour,
                drive,
                strength,
            } => 8 * (inverse_mass.capacity() + neighbour.capacity() + drive.capacity() + strength.capacity()),
        }
    }
}

/// What a chain is built from.
pub(crate) struct ChainParts {
    pub count: usize,
    pub step: f64,
    pub blocks: BlockNumbers,
    pub neighbour_damping: f64,
    pub neighbour_length: f64,
    pub drive_damping: f64,
    pub drive_length: f64,
    pub curve: SteadyCurve,
    pub initial: Option<InitialMode>,
    /// Where the drive is in the state of the network.
    pub drive: Coordinate,
    /// The signal that the friction curve is multiplied with.
    pub load: usize,
}

/// The numbers of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// 1/kg.
    pub inverse_mass: f64,
    /// Stiffness of the spring to the block on its left, N/m; 0 for the first.
    pub neighbour: f64,
    /// Stiffness of the spring to the drive, N/m.
    pub drive: f64,
    /// Factor of its friction.
    pub strength: f64,
}

/// A chain; fixed once built.
pub struct Chain {
    count: usize,
    blocks: BlockNumbers,
    common: Common,
    law: u8,
    curve: SteadyCurve,
    /// Friction that holds a block at rest and one that moves, per load, forward and backward.
    holding: [[f64; 2]; 2],
    initial: Option<InitialMode>,
    pub(crate) drive: Coordinate,
    pub(crate) load: usize,
}

impl Chain {
    pub(crate) fn new(parts: ChainParts) -> Self {
        // Of a block at rest and of one that moves, forward and backward.
        let (limits, constant) = with_curve!(&parts.curve, |c| {
            let [forward, backward]: [f64; 2] = [c.dry(0.0, 1.0), c.dry_backward(0.0, 1.0)];
            let limits = [
                [forward.max(c.holding(1.0)), forward],
                [backward.max(c.holding_backward(1.0)), backward],
            ];
            let alike = !Curve::<f64>::directed(c);
            (limits, alike && Curve::<f64>::constant(c))
        });
        let [held, released] = limits[0];
        Chain {
            count: parts.count,
            blocks: parts.blocks,
            common: Common {
                step: parts.step,
                sliding: released,
                neighbour_damping: parts.neighbour_damping,
                neighbour_length: parts.neighbour_length,
                drive_damping: parts.drive_damping,
                drive_length: parts.drive_length,
            },
            law: match constant {
                true if held == released => COULOMB,
                true => HOLDING,
                false => CURVED,
            },
            curve: parts.curve,
            holding: limits,
            initial: parts.initial,
            drive: parts.drive,
            load: parts.load,
        }
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.count
    }

    fn tiles(&self) -> usize {
        ((self.count + TILE / 2) / TILE).max(1)
    }

    /// The first block of a tile; for the tile after the last, the number of blocks. Tiles are whole vectors, but for the last.
    fn border(&self, tile: usize) -> usize {
        match self.tiles() {
            tiles if tile == tiles => self.count,
            tiles => self.count * tile / tiles / PAD * PAD,
        }
    }

    /// The blocks of a tile.
    fn tile(&self, tile: usize) -> Range<usize> {
        self.border(tile)..self.border(tile + 1)
    }

    fn pieces(&self) -> usize {
        self.tiles().min(PIECES)
    }

    /// The tiles of a piece.
    fn piece(&self, piece: usize) -> Range<usize> {
        let (tiles, pieces) = (self.tiles(), self.pieces());
        tiles * piece / pieces..tiles * (piece + 1) / pieces
    }

    /// The first block of a piece; for the piece after the last, the number of blocks.
    fn start_of(&self, piece: usize) -> usize {
        if piece == self.pieces() {
            self.count
        } else {
            self.tile(self.piece(piece).start).start
        }
    }

    fn advance(&self, moment: &StepInput, first: usize, on: Stretch<'_>) {
        match &self.blocks {
            BlockNumbers::Equal { .. } => tile::advance_equal(self.law, self.equal(), &self.common, moment, first, on),
            BlockNumbers::Each { .. } => tile::advance_each(self.law, self.each(), &self.common, moment, first, on),
        }
    }

    fn equal(&self) -> Equal {
        match self.blocks {
            BlockNumbers::Equal {
                inverse_mass,
                neighbour,
                drive,
            } => Equal {
                inverse_mass,
                neighbour,
                drive,
            },
            BlockNumbers::Each { .. } => Equal {
                inverse_mass: 0.0,
                neighbour: 0.0,
                drive: 0.0,
            },
        }
    }

    fn each(&self) -> Each<'_> {
        match &self.blocks {
            BlockNumbers::Each {
                inverse_mass,
                neighbour,
                drive,
                strength,
            } => Each {
                inverse_mass,
                neighbour,
                drive,
                strength,
            },
            BlockNumbers::Equal { .. } => Each {
                inverse_mass: &[],
                neighbour: &[],
                drive: &[],
                strength: &[],
            },
        }
    }

    /// The numbers of a block, counted from 0.
    pub fn block(&self, block: usize) -> Block {
        let (inverse_mass, neighbour, drive, strength) = match &self.blocks {
            BlockNumbers::Equal {
                inverse_mass,
                neighbour,
                drive,
            } => (*inverse_mass, if block == 0 { 0.0 } else { *neighbour }, *drive, 1.0),
            BlockNumbers::Each {
                inverse_mass,
                neighbour,
                drive,
                strength,
            } => (inverse_mass[block], neighbour[block], drive[block], strength[block]),
        };
        Block {
            inverse_mass,
            neighbour,
            drive,
            strength,
        }
    }

    /// Replaces the free velocity of what slips by the one that its friction leaves. Blocks that stick are at 0 already.
    fn slide(&self, moment: &StepInput, first: usize, velocities: &mut [f64]) {
        with_lanes!(&self.curve, |c| match &self.blocks {
            BlockNumbers::Equal { .. } => tile::slide_all(c, self.equal(), &self.common, moment, first, velocities),
            BlockNumbers::Each { .. } => tile::slide_all(c, self.each(), &self.common, moment, first, velocities),
        });
    }

    /// Adds the energies of a step to the sums. Returns whether a block slips.
    fn account(
        &self,
        moment: &StepInput,
        first: usize,
        before: (&[f64], &[f64]),
        after: (&[f64], &[f64]),
        sums: &mut Sums,
    ) -> bool {
        let common = &self.common;
        let own = match &self.blocks {
            BlockNumbers::Equal { .. } => {
                tile::account_equal(self.law, self.equal(), common, moment, first, before, after)
            }
            BlockNumbers::Each { .. } => {
                tile::account_each(self.law, self.each(), common, moment, first, before, after)
            }
        };
        sums.add(&own);
        if self.law == CURVED {
            let velocities = &after.1[1..after.1.len() - 1];
            with_lanes!(&self.curve, |c| match &self.blocks {
                BlockNumbers::Equal { .. } => tile::heat(c, self.equal(), common, moment, first, velocities, sums),
                BlockNumbers::Each { .. } => tile::heat(c, self.each(), common, moment, first, velocities, sums),
            });
        }
        own.slips > 0.0
    }

    /// Memory of one block: its position and velocity, and its own numbers if blocks differ.
    pub fn bytes_per_block(&self) -> usize {
        match self.blocks {
            BlockNumbers::Equal { .. } => 2 * size_of::<f64>(),
            BlockNumbers::Each { .. } => 6 * size_of::<f64>(),
        }
    }

    /// Bytes that the numbers of the blocks take, beside positions and velocities.
    fn bytes(&self) -> usize {
        self.blocks.bytes()
    }
}

/// What is seen of a chain at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aggregates {
    /// Blocks that slip.
    pub slipping: f64,
    /// Sum of the slip of all blocks since the start, m.
    pub moment: f64,
    /// Mean position, m.
    pub position: f64,
    /// Mean velocity, m/s.
    pub velocity: f64,
    /// Largest speed, m/s.
    pub speed: f64,
    /// Force of the drive on all blocks together, N.
    pub force: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Energy of the springs, J.
    pub stored: f64,
}

/// Energies and counts of all steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Work of the drive, J.
    pub input: f64,
    /// Energy turned into heat by friction and dampers, J.
    pub dissipated: f64,
    /// What the method itself takes out of the energy: Σ ½·m·Δv² − Σ ½·k·Δd², J.
    pub numerical: f64,
    /// Steps of slip, counted over blocks.
    pub slips: u64,
    /// Blocks that began to slip or stopped.
    pub changes: u64,
}

/// Positions and velocities of a chain, and room to move them.
#[derive(Clone)]
pub struct ChainState {
    x: Vec<f64>,
    v: Vec<f64>,
    /// Blocks on both sides of the borders between pieces as they were before the sweep: positions and velocities.
    edges: [Vec<f64>; 2],
    rooms: Vec<TileRoom>,
    shares: Vec<Share>,
    /// Blocks that slipped together in the sweep, in the order of steps and blocks, if anybody asks.
    runs: Vec<SlipRun>,
    events: Option<SlipEvents>,
    moments: Vec<StepInput>,
    /// Sum of all positions at the start.
    start: f64,
    ledger: Ledger,
}

carried!(Ledger: input, dissipated, numerical, slips, changes; not);
carried!(Aggregates: slipping, moment, position, velocity, speed, force, kinetic, stored; not);
carried!(ChainState: x, v, ledger; not edges, rooms, shares, runs, events, moments, start);

impl ChainState {
    /// Puts every block to its start.
    pub(crate) fn reset(&mut self, chain: &Chain, motion: impl Fn(usize) -> [f64; 2]) {
        for (i, (x, v)) in self.x.iter_mut().zip(&mut self.v).enumerate() {
            [*x, *v] = motion(i);
        }
        self.start = self.sum(chain, |i| self.x[i]);
        self.ledger = Ledger::default();
        self.moments.clear();
    }

    pub(crate) fn new(chain: &Chain, x: Vec<f64>, v: Vec<f64>) -> Self {
        let pieces = chain.pieces();
        let mut state = ChainState {
            x,
            v,
            edges: [vec![0.0; 2 * REACH * pieces], vec![0.0; 2 * REACH * pieces]],
            rooms: Vec::new(),
            shares: (0..pieces).map(|_| Share::default()).collect(),
            runs: Vec::new(),
            events: None,
            moments: Vec::with_capacity(DEPTH),
            start: 0.0,
            ledger: Ledger::default(),
        };
        state.start = state.sum(chain, |i| state.x[i]);
        state.share(chain, 1);
        state
    }

    /// Uses so many threads from now on.
    pub(crate) fn share(&mut self, chain: &Chain, threads: usize) {
        let threads = if chain.count < WORTHWHILE {
            1
        } else {
            threads.clamp(1, chain.pieces())
        };
        let longest = (0..chain.tiles()).map(|tile| chain.tile(tile).len()).max();
        self.rooms = (0..threads)
            .map(|_| TileRoom::new(longest.unwrap_or(0), REACH))
            .collect();
    }

    /// Positions of the blocks, m.
    pub fn positions(&self) -> &[f64] {
        &self.x
    }

    /// Velocities of the blocks, m/s.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// Energies and counts of all observed steps so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Bytes that chain and state take, whatever the number of threads: each has a few kilobytes more to work in.
    pub fn bytes(&self, chain: &Chain) -> usize {
        let numbers = self.x.capacity() + self.v.capacity() + self.edges.iter().map(Vec::capacity).sum::<usize>();
        let small = size_of::<Share>() * self.shares.capacity() + size_of::<StepInput>() * self.moments.capacity();
        8 * numbers + small + chain.bytes()
    }

    /// Steps that can be moved at once.
    pub(crate) const fn most_steps() -> u64 {
        DEPTH as u64
    }

    /// Notes what the drive and the load do in a step that is to come; `done` steps were done before it.
    pub(crate) fn foresee(&mut self, chain: &Chain, done: u64, before: [f64; 2], after: f64, load: f64) {
        let [holding, holding_backward] = chain.holding.map(|[held, released]| match chain.initial {
            Some(InitialMode::Stick) if done == 0 => [held, held],
            Some(InitialMode::Slip) if done == 0 => [released, released],
            _ => [held, released],
        });
        self.moments.push(StepInput {
            drive: before[0],
            drive_velocity: before[1],
            drive_moves: after - before[0],
            load: load.max(0.0),
            holding,
            holding_backward,
        });
    }

    /// Follows slip events from now on.
    pub(crate) fn follow(&mut self, spec: SlipEventsSpec, grid: TimeGrid) {
        self.events = Some(SlipEvents::new(spec, grid));
    }

    /// What became of them.
    pub(crate) fn slip_events(&mut self) -> Option<SlipEventsReport> {
        self.events.take().map(SlipEvents::finish)
    }

    /// Does the steps that were foreseen, of which the first follows `done` others. Returns false if a position has gone beyond all bounds.
    pub(crate) fn sweep<const OBSERVE: bool>(&mut self, chain: &Chain, done: u64) -> bool {
        let depth = self.moments.len();
        if depth == 0 {
            return true;
        }
        let pieces = chain.pieces();
        let reach = depth + usize::from(OBSERVE);
        for border in 1..pieces {
            let at = chain.start_of(border);
            for (edges, numbers) in self.edges.iter_mut().zip([&self.x, &self.v]) {
                edges[2 * REACH * border..][..2 * reach].copy_from_slice(&numbers[at - reach..at + reach]);
            }
        }
        for share in &mut self.shares {
            share.sums = Sums::default();
            share.watched = OBSERVE && self.events.is_some();
            share.runs.iter_mut().for_each(Vec::clear);
        }
        let sides = Sides {
            chain,
            edges: [&self.edges[0], &self.edges[1]],
            moments: &self.moments,
        };
        let waiting = Mutex::new(Waiting {
            chain,
            pieces: 0..pieces,
            x: &mut self.x,
            v: &mut self.v,
            shares: &mut self.shares,
        });
        let work = |worker: usize, room: &mut TileRoom| {
            let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next(worker);
            std::iter::from_fn(next).fold(true, |good, own| good & sides.sweep::<OBSERVE>(own, room))
        };
        let bounded = match &mut self.rooms[..] {
            [] => true,
            [room] => work(0, room),
            [room, others @ ..] => std::thread::scope(|scope| {
                let work = &work;
                let running: Vec<_> = (1..)
                    .zip(others)
                    .map(|(worker, room)| scope.spawn(move || work(worker, room)))
                    .collect();
                let own = work(0, room);
                running.into_iter().fold(own, |good, worker| match worker.join() {
                    Ok(own) => good && own,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
            }),
        };
        self.moments.clear();
        if OBSERVE {
            let mut all = Sums::default();
            self.shares.iter().for_each(|share| all.add(&share.sums));
            let ledger = &mut self.ledger;
            ledger.input += all.input;
            ledger.dissipated += all.friction + all.damping;
            ledger.numerical += all.kinetic - all.elastic;
            ledger.slips += all.slips as u64;
            ledger.changes += all.changes as u64;
        }
        if OBSERVE && let Some(events) = &mut self.events {
            self.runs.clear();
            // Each piece has those of a step from left to right.
            for step in 0..depth {
                let of_step = self.shares.iter().filter_map(|share| share.runs.get(step));
                of_step.for_each(|runs| self.runs.extend(runs));
            }
            events.watch(done, depth as u32, &self.runs);
        }
        bounded
    }

    /// A sum over blocks, piece by piece.
    fn sum(&self, chain: &Chain, of: impl Fn(usize) -> f64) -> f64 {
        (0..chain.tiles())
            .map(|tile| chain.tile(tile).map(&of).sum::<f64>())
            .sum()
    }

    /// What the chain looks like with the drive at this place and velocity.
    pub(crate) fn aggregates(&self, chain: &Chain, [drive, drive_velocity]: [f64; 2]) -> Aggregates {
        let mut all = Aggregates::default();
        let common = &chain.common;
        for tile in 0..chain.tiles() {
            let mut sums = Aggregates::default();
            for i in chain.tile(tile) {
                let (x, v) = (self.x[i], self.v[i]);
                let block = chain.block(i);
                let left = if i == 0 { x } else { self.x[i - 1] };
                let stretch = x - left - common.neighbour_length;
                let lag = drive + common.drive_length - x;
                sums.slipping += if v == 0.0 { 0.0 } else { 1.0 };
                sums.position += x;
                sums.velocity += v;
                sums.speed = sums.speed.max(v.abs());
                sums.force += block.drive * lag + common.drive_damping * (drive_velocity - v);
                sums.kinetic += 0.5 / block.inverse_mass * v * v;
                sums.stored += 0.5 * (block.neighbour * stretch * stretch + block.drive * lag * lag);
            }
            all.slipping += sums.slipping;
            all.position += sums.position;
            all.velocity += sums.velocity;
            all.speed = all.speed.max(sums.speed);
            all.force += sums.force;
            all.kinetic += sums.kinetic;
            all.stored += sums.stored;
        }
        all.moment = all.position - self.start;
        all.position /= chain.count as f64;
        all.velocity /= chain.count as f64;
        all
    }
}

/// What the sweep of a piece comes to.
#[derive(Clone, Default)]
struct Share {
    sums: Sums,
    /// Whether runs are wanted.
    watched: bool,
    /// Those of each step.
    runs: Vec<Vec<SlipRun>>,
}

/// What workers share.
struct Sides<'a> {
    chain: &'a Chain,
    edges: [&'a [f64]; 2],
    moments: &'a [StepInput],
}

/// A piece that is to be moved: its number, its blocks and where its sums go.
struct OwnPiece<'a> {
    piece: usize,
    x: &'a mut [f64],
    v: &'a mut [f64],
    share: &'a mut Share,
}

/// Pieces that no worker has taken yet. Whoever is done with one takes the next, so that no worker waits long for another.
struct Waiting<'a> {
    chain: &'a Chain,
    pieces: Range<usize>,
    x: &'a mut [f64],
    v: &'a mut [f64],
    shares: &'a mut [Share],
}

impl<'a> Waiting<'a> {
    /// The next piece for a worker. Every other worker begins at the far end: so two of them find most of their blocks in
    /// their own cache in the next sweep.
    fn next(&mut self, worker: usize) -> Option<OwnPiece<'a>> {
        let first = worker.is_multiple_of(2);
        let piece = if first {
            self.pieces.next()
        } else {
            self.pieces.next_back()
        }?;
        let blocks = self.chain.start_of(piece + 1) - self.chain.start_of(piece);
        Some(OwnPiece {
            piece,
            x: take_end(&mut self.x, blocks, first),
            v: take_end(&mut self.v, blocks, first),
            share: &mut take_end(&mut self.shares, 1, first)[0],
        })
    }
}

/// So many of the first items, or of the last ones.
fn take_end<'a, T>(items: &mut &'a mut [T], count: usize, first: bool) -> &'a mut [T] {
    let all = std::mem::take(items);
    if first {
        let (end, rest) = all.split_at_mut(count);
        *items = rest;
        end
    } else {
        let (rest, end) = all.split_at_mut(all.len() - count);
        *items = rest;
        end
    }
}

impl Sides<'_> {
    /// Moves a piece.
    fn sweep<const OBSERVE: bool>(&self, own: OwnPiece<'_>, room: &mut TileRoom) -> bool {
        let (chain, number) = (self.chain, own.piece);
        let reach = self.moments.len() + usize::from(OBSERVE);
        let beside = |border: usize, from: usize| -> [&[f64]; 2] {
            if border == 0 || border == chain.pieces() {
                return [&[], &[]];
            }
            self.edges.map(|edges| &edges[2 * REACH * border + from..][..reach])
        };
        let mut piece = Piece {
            first: chain.start_of(number),
            tiles: chain.piece(number),
            x: own.x,
            v: own.v,
            before: beside(number, 0),
            after: beside(number + 1, reach),
        };
        piece.sweep::<OBSERVE>(chain, self.moments, room, own.share)
    }
}
