//! The steps of a stretch of blocks. Positions and velocities go from one pair of buffers to another, block by block in
//! the same arithmetic as the general step: a block of a chain moves bit for bit as the same block of a network.

use super::{Chain, Fields, Share};
use crate::analysis::slip_events::SlipRun;
use multiversion::multiversion;
use stickslip_core::friction::curve::Curve;
use stickslip_core::friction::implicit::slip_velocity;
use stickslip_core::scalar::{Lanes, Real};

/// Room before the first block of a buffer: the neighbour of an end, and whole vectors from there on.
pub(super) const PAD: usize = 8;

/// Positions beyond this have nothing to do with blocks any more, m.
const BOUND: f64 = 1e100;

/// What all blocks share in one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepInput {
    /// Position of the drive at the start of the step.
    pub drive: f64,
    /// Its velocity there.
    pub drive_velocity: f64,
    /// How far it moves in the step.
    pub drive_moves: f64,
    /// What the friction curve is multiplied with.
    pub load: f64,
    /// Friction that holds a block at rest, and one that moves, per load, against a motion forward.
    pub holding: [f64; 2],
    /// The same backward.
    pub holding_backward: [f64; 2],
}

/// Numbers of a chain that no block changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Common {
    pub step: f64,
    /// Friction of a sliding block per load, where it does not depend on the speed.
    pub sliding: f64,
    pub neighbour_damping: f64,
    pub neighbour_length: f64,
    pub drive_damping: f64,
    pub drive_length: f64,
}

/// Friction is the same at every speed and at rest.
pub(super) const COULOMB: u8 = 0;
/// It is larger at rest.
pub(super) const HOLDING: u8 = 1;
/// It depends on the speed or the direction: what slides is left with its free velocity.
pub(super) const CURVED: u8 = 2;

/// Positions and velocities of some blocks with one neighbour on each side, before and after a step.
pub(super) struct Stretch<'a> {
    pub x: &'a [f64],
    pub v: &'a [f64],
    pub next_x: &'a mut [f64],
    pub next_v: &'a mut [f64],
}

/// Velocity and position of every block after a step. `first` is the number of the first block.
///
/// Free velocities are found before friction takes its part of them: one loop for both would have a long chain of sums in
/// every block, of which too few fit the processor at a time. They wait in the first cache.
#[inline(always)]
fn advance<F: Fields, const LAW: u8>(fields: F, common: &Common, moment: &StepInput, first: usize, on: Stretch<'_>) {
    let Stretch { x, v, next_x, next_v } = on;
    let fields = fields.from(first, next_v.len());
    free(fields, common, moment, (x, v), next_v);
    rub::<F, LAW>(fields, common, moment, (&x[1..], &v[1..]), (next_x, next_v));
}

/// Velocities without friction, v̄ = v + T·f/m, from positions and velocities with one neighbour on each side. Forces at the
/// start of the step: f = −k(x_i − x_{i−1} − l) + k(x_{i+1} − x_i − l) − k_d(x_i − p), with dampers alike.
#[inline(always)]
fn free<F: Fields>(fields: F, common: &Common, moment: &StepInput, (x, v): (&[f64], &[f64]), next_v: &mut [f64]) {
    let count = next_v.len();
    let (left, here, right) = (&x[..count], &x[1..count + 1], &x[2..count + 2]);
    let (v_left, v, v_right) = (&v[..count], &v[1..count + 1], &v[2..count + 2]);
    for i in 0..count {
        let mut stretches = [here[i] - left[i], right[i] - here[i], here[i] - moment.drive];
        if F::DAMPED {
            stretches[0] -= common.neighbour_length;
            stretches[1] -= common.neighbour_length;
            stretches[2] -= common.drive_length;
        }
        let mut from_left = -fields.neighbour(i) * stretches[0];
        let mut from_right = -fields.neighbour(i + 1) * stretches[1];
        let mut from_drive = -fields.drive(i) * stretches[2];
        if F::DAMPED {
            from_left -= common.neighbour_damping * (v[i] - v_left[i]);
            from_right -= common.neighbour_damping * (v_right[i] - v[i]);
            from_drive -= common.drive_damping * (v[i] - moment.drive_velocity);
        }
        let force = from_left - from_right + from_drive;
        next_v[i] = v[i] + common.step * (force * fields.inverse_mass(i));
    }
}

/// Friction at the end of the step (the paper on model P, eq 12 and 19) on the free velocities, then x + T·v.
#[inline(always)]
fn rub<F: Fields, const LAW: u8>(
    fields: F,
    common: &Common,
    moment: &StepInput,
    (x, v): (&[f64], &[f64]),
    (next_x, next_v): (&mut [f64], &mut [f64]),
) {
    let count = next_v.len();
    let (x, v, next_x) = (&x[..count], &v[..count], &mut next_x[..count]);
    let Common { step, sliding, .. } = *common;
    let [held, released] = moment.holding;
    let [held_backward, released_backward] = moment.holding_backward;
    for i in 0..count {
        let free = next_v[i];
        let compliance = step * fields.inverse_mass(i);
        let load = moment.load * fields.strength(i);
        next_v[i] = if LAW == COULOMB {
            let reach = compliance * (released * load);
            let low = if free > -reach { free } else { -reach };
            free - if low < reach { low } else { reach }
        } else {
            let forward = if v[i] == 0.0 { held } else { released };
            let backward = if v[i] == 0.0 { held_backward } else { released_backward };
            let limit = if LAW == CURVED && free < 0.0 { backward } else { forward };
            let stuck = free.abs() <= compliance * (limit * load);
            let slips = if LAW == HOLDING {
                free - (compliance * (sliding * load)).copysign(free)
            } else {
                free
            };
            if stuck { 0.0 } else { slips }
        };
        if LAW != CURVED {
            next_x[i] = x[i] + step * next_v[i];
        }
    }
}

/// One step of a stretch with the law chosen.
#[inline(always)]
fn advance_by_law<F: Fields>(law: u8, fields: F, common: &Common, moment: &StepInput, first: usize, on: Stretch<'_>) {
    match law {
        COULOMB => advance::<F, COULOMB>(fields, common, moment, first, on),
        HOLDING => advance::<F, HOLDING>(fields, common, moment, first, on),
        _ => advance::<F, CURVED>(fields, common, moment, first, on),
    }
}

/// Blocks whose friction is found side by side.
type Wide = Lanes<LANES>;

/// Numbers of `count` blocks in lanes; the other lanes get `none`.
#[inline(always)]
fn side_by_side(count: usize, none: f64, of: impl Fn(usize) -> f64) -> Wide {
    let mut lanes = [none; LANES];
    // A loop of known length becomes vectors.
    if count == LANES {
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = of(i);
        }
    } else {
        for (i, lane) in lanes.iter_mut().enumerate().take(count) {
            *lane = of(i);
        }
    }
    Lanes(lanes)
}

/// Replaces the free velocities of what slips by those that friction leaves; what sticks is at 0 already.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn slide_all<F: Fields, C: Curve<Wide>>(
    curve: &C,
    fields: F,
    common: &Common,
    moment: &StepInput,
    first: usize,
    velocities: &mut [f64],
) {
    let fields = fields.from(first, velocities.len());
    for (chunk, velocities) in velocities.chunks_mut(LANES).enumerate() {
        let (begin, count) = (chunk * LANES, velocities.len());
        let free = side_by_side(count, 0.0, |i| velocities[i]);
        // All of them, though one would do: so they are looked at by vectors.
        if !free.0.iter().fold(false, |some, v| some | (*v != 0.0)) {
            continue;
        }
        let compliance = side_by_side(count, 1.0, |i| common.step * fields.inverse_mass(begin + i));
        let load = side_by_side(count, 0.0, |i| moment.load * fields.strength(begin + i));
        let slipping = slip_velocity(curve, load, free, compliance).0;
        match velocities.first_chunk_mut() {
            Some(velocities) => *velocities = slipping,
            None => velocities.copy_from_slice(&slipping[..count]),
        }
    }
}

/// Adds the heat of friction that depends on speed.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn heat<F: Fields, C: Curve<Wide>>(
    curve: &C,
    fields: F,
    common: &Common,
    moment: &StepInput,
    first: usize,
    velocities: &[f64],
    sums: &mut Sums,
) {
    let fields = fields.from(first, velocities.len());
    for (chunk, velocities) in velocities.chunks(LANES).enumerate() {
        let (begin, count) = (chunk * LANES, velocities.len());
        let velocity = side_by_side(count, 0.0, |i| velocities[i]);
        if !velocity.0.iter().fold(false, |some, v| some | (*v != 0.0)) {
            continue;
        }
        let load = side_by_side(count, 0.0, |i| moment.load * fields.strength(begin + i));
        let force = curve.toward([velocity]).total(velocity.abs(), load);
        // One after the other; a block at rest adds 0.
        for heat in (force * (Wide::lit(common.step) * velocity.abs())).0 {
            sums.friction += heat;
        }
    }
}

/// x + T·v.
#[inline(always)]
fn move_positions(step: f64, x: &[f64], v: &[f64], next_x: &mut [f64]) {
    for ((next, x), v) in next_x.iter_mut().zip(x).zip(v) {
        *next = x + step * v;
    }
}

/// Energies and counts of steps of some blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Work of the drive, J.
    pub input: f64,
    /// Energy that friction turned into heat, J; for curves that depend on the speed it is added block by block.
    pub friction: f64,
    /// Energy that dampers turned into heat, J.
    pub damping: f64,
    /// Σ ½·m·Δv², J.
    pub kinetic: f64,
    /// Σ ½·k·Δd², J.
    pub elastic: f64,
    /// Steps of slip, counted over blocks.
    pub slips: f64,
    /// Blocks that began to slip or stopped.
    pub changes: f64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Sums) {
        self.input += other.input;
        self.friction += other.friction;
        self.damping += other.damping;
        self.kinetic += other.kinetic;
        self.elastic += other.elastic;
        self.slips += other.slips;
        self.changes += other.changes;
    }
}

/// Sums that are kept side by side, so that their order is fixed and they can be vectors.
const LANES: usize = 8;
const KINDS: usize = 7;

/// Energies of the step from `x`, `v` to `next_x`, `next_v`; all four have one neighbour on each side. Link and damper on
/// the left belong to a block.
#[inline(always)]
fn account<F: Fields, const LAW: u8>(
    fields: F,
    common: &Common,
    moment: &StepInput,
    first: usize,
    before: (&[f64], &[f64]),
    after: (&[f64], &[f64]),
) -> Sums {
    let count = before.0.len() - 2;
    let mut sums = [[0.0; LANES]; KINDS];
    let complete = count / LANES * LANES;
    let mut begin = 0;
    // Written out twice: a closure would not be inlined, and a call would leave code that is compiled for wide vectors.
    while begin < complete {
        if !F::DAMPED {
            let range = begin..complete + 1;
            let few = [&before.0[range.clone()], &before.1[range.clone()], &after.1[range]];
            let fields = fields.from(first + begin, complete - begin);
            begin += account_rest(fields, moment, few, &mut sums);
            if begin == complete {
                break;
            }
        }
        let range = begin..begin + LANES + 1;
        account_few::<F, LAW>(
            fields.from(first + begin, LANES),
            common,
            moment,
            LANES,
            [&before.0[range.clone()], &before.1[range.clone()]],
            [&after.0[range.clone()], &after.1[range]],
            &mut sums,
        );
        begin += LANES;
    }
    let range = complete..count + 1;
    account_few::<F, LAW>(
        fields.from(first + complete, count - complete),
        common,
        moment,
        count - complete,
        [&before.0[range.clone()], &before.1[range.clone()]],
        [&after.0[range.clone()], &after.1[range]],
        &mut sums,
    );
    let [input, friction, damping, kinetic, elastic, slips, changes] = sums.map(|lanes| lanes.iter().sum());
    Sums {
        input,
        friction,
        damping,
        kinetic,
        elastic,
        slips,
        changes,
    }
}

/// Energies of blocks at rest whose springs have neither length nor damping, as many times [`LANES`] as there are before one that moves,
/// from their positions and their velocities before and after the step; the slices begin with the left neighbour. What [`account_few`]
/// adds to the other sums is 0. Returns how many blocks these are.
#[inline(always)]
fn account_rest<F: Fields>(
    fields: F,
    moment: &StepInput,
    [x, v, next_v]: [&[f64]; 3],
    sums: &mut [[f64; LANES]; KINDS],
) -> usize {
    if next_v[0] != 0.0 {
        return 0;
    }
    // Two sums that stay in registers.
    let [mut input, mut elastic] = [sums[0], sums[4]];
    let mut done = 0;
    let groups = x[1..].chunks_exact(LANES).zip(v[1..].chunks_exact(LANES));
    for ((x, v), next_v) in groups.zip(next_v[1..].chunks_exact(LANES)) {
        // All of them, though one would do: so they are looked at by vectors.
        let mut moves = false;
        for i in 0..LANES {
            moves |= (v[i] != 0.0) | (next_v[i] != 0.0);
        }
        if moves {
            break;
        }
        for i in 0..LANES {
            let drive = fields.drive(done + i);
            input[i] += -drive * (x[i] - moment.drive) * moment.drive_moves;
            elastic[i] += 0.5 * (drive * (moment.drive_moves * moment.drive_moves));
        }
        done += LANES;
    }
    [sums[0], sums[4]] = [input, elastic];
    done
}

/// Energies of as many blocks as there are lanes, or fewer; the slices begin with the left neighbour.
#[inline(always)]
fn account_few<F: Fields, const LAW: u8>(
    fields: F,
    common: &Common,
    moment: &StepInput,
    count: usize,
    [x, v]: [&[f64]; 2],
    [next_x, next_v]: [&[f64]; 2],
    sums: &mut [[f64; LANES]; KINDS],
) {
    let step = common.step;
    let (x, v, next_x, next_v) = (
        &x[..count + 1],
        &v[..count + 1],
        &next_x[..count + 1],
        &next_v[..count + 1],
    );
    for i in 0..count.min(LANES) {
        let (was, is) = (v[i + 1], next_v[i + 1]);
        let dv = is - was;
        let moved = next_x[i + 1] - x[i + 1];
        let d_left = moved - (next_x[i] - x[i]);
        let d_drive = moved - moment.drive_moves;
        let length = if F::DAMPED { common.drive_length } else { 0.0 };
        let mut pull = -fields.drive(i) * (x[i + 1] - moment.drive - length);
        if F::DAMPED {
            // At the ends both velocities are the same.
            sums[2][i] += common.neighbour_damping * ((was - v[i]) * (step * (is - next_v[i])));
            let resists = common.drive_damping * (was - moment.drive_velocity);
            sums[2][i] += resists * d_drive;
            pull -= resists;
        }
        sums[0][i] += pull * moment.drive_moves;
        if LAW != CURVED {
            let load = moment.load * fields.strength(i);
            sums[1][i] += common.sliding * load * (step * is).abs();
        }
        sums[3][i] += 0.5 / fields.inverse_mass(i) * (dv * dv);
        sums[4][i] += 0.5 * (fields.neighbour(i) * (d_left * d_left) + fields.drive(i) * (d_drive * d_drive));
        sums[5][i] += if is == 0.0 { 0.0 } else { 1.0 };
        sums[6][i] += if (is == 0.0) == (was == 0.0) { 0.0 } else { 1.0 };
    }
}

macro_rules! kernels {
    ($fields:ty, $advance:ident, $account:ident) => {
        #[multiversion(targets("x86_64+avx2"))]
        pub(super) fn $advance(
            law: u8,
            fields: $fields,
            common: &Common,
            moment: &StepInput,
            first: usize,
            on: Stretch<'_>,
        ) {
            advance_by_law(law, fields, common, moment, first, on);
        }

        #[multiversion(targets("x86_64+avx2"))]
        pub(super) fn $account(
            law: u8,
            fields: $fields,
            common: &Common,
            moment: &StepInput,
            first: usize,
            before: (&[f64], &[f64]),
            after: (&[f64], &[f64]),
        ) -> Sums {
            match law {
                CURVED => account::<_, CURVED>(fields, common, moment, first, before, after),
                _ => account::<_, COULOMB>(fields, common, moment, first, before, after),
            }
        }
    };
}
kernels!(super::Equal, advance_equal, account_equal);
kernels!(super::Each<'_>, advance_each, account_each);

/// Buffers of one worker.
#[derive(Clone)]
pub(super) struct TileRoom {
    /// Positions and velocities, before and after a step, in one piece that begins where a cache line does.
    numbers: Vec<f64>,
    /// Blocks left of a tile as they were before it moved.
    carried: [Vec<f64>; 2],
}

impl TileRoom {
    /// For tiles of so many blocks at most, with so many neighbours on each side.
    pub(super) fn new(longest: usize, reach: usize) -> Self {
        let each = Self::each(longest, reach);
        TileRoom {
            numbers: vec![0.0; 4 * each + PAD],
            carried: [vec![0.0; reach], vec![0.0; reach]],
        }
    }

    fn each(longest: usize, reach: usize) -> usize {
        (longest + 2 * reach).next_multiple_of(PAD) + 2 * PAD
    }
}

/// A run of tiles that one worker moves: its blocks, and the blocks on both sides as they were before the sweep.
pub(super) struct Piece<'a> {
    /// Number of its first block.
    pub first: usize,
    /// Ends of its tiles, counted in the chain.
    pub tiles: std::ops::Range<usize>,
    pub x: &'a mut [f64],
    pub v: &'a mut [f64],
    /// Positions and velocities of the blocks before it; empty at the end of the chain.
    pub before: [&'a [f64]; 2],
    /// And after it.
    pub after: [&'a [f64]; 2],
}

impl Piece<'_> {
    /// Moves all blocks of the piece through the steps, tile by tile. A tile is taken into the buffers with so many
    /// neighbours on each side as there are steps, and one more to observe; what is known of them shrinks by one block a step.
    ///
    /// Returns false if a position is beyond all bounds. It is finite still: a step is stable, so that a chain within the
    /// bounds cannot overflow in one sweep.
    pub(super) fn sweep<const OBSERVE: bool>(
        &mut self,
        chain: &Chain,
        moments: &[StepInput],
        room: &mut TileRoom,
        share: &mut Share,
    ) -> bool {
        let reach = moments.len() + usize::from(OBSERVE);
        let TileRoom { numbers, carried } = room;
        let each = (numbers.len() - PAD) / 4;
        let begin = numbers.as_ptr().align_offset(64).min(PAD);
        let (mut x, rest) = numbers[begin..].split_at_mut(each);
        let (mut v, rest) = rest.split_at_mut(each);
        let (mut next_x, rest) = rest.split_at_mut(each);
        let mut next_v = &mut rest[..each];
        let mut bounded = true;
        let last = self.tiles.end - 1;
        for tile in self.tiles.clone() {
            let (low, high) = (chain.tile(tile).start - self.first, chain.tile(tile).end - self.first);
            let (before, after): ([&[f64]; 2], [&[f64]; 2]) = (
                if low == 0 {
                    self.before
                } else {
                    [&carried[0][..reach], &carried[1][..reach]]
                },
                if tile == last {
                    self.after
                } else {
                    [&self.x[high..high + reach], &self.v[high..high + reach]]
                },
            );
            let (own, length) = (before[0].len(), before[0].len() + high - low + after[0].len());
            let (left_end, right_end) = (before[0].is_empty(), after[0].is_empty());
            for (buffer, parts) in [
                (&mut *x, [before[0], &self.x[low..high], after[0]]),
                (&mut *v, [before[1], &self.v[low..high], after[1]]),
            ] {
                let mut place = PAD;
                for part in parts {
                    buffer[place..place + part.len()].copy_from_slice(part);
                    place += part.len();
                }
                free_ends(buffer, length);
            }
            if tile != last {
                carried[0][..reach].copy_from_slice(&self.x[high - reach..high]);
                carried[1][..reach].copy_from_slice(&self.v[high - reach..high]);
            }
            // The buffers begin with this block of the chain.
            let first = self.first + low - own;
            for (s, moment) in moments.iter().enumerate() {
                // Whole vectors: a few blocks beyond what is known are moved too, and never looked at.
                let shrunk = s / PAD * PAD;
                let from = if left_end { 0 } else { shrunk };
                let to = length - if right_end { 0 } else { shrunk };
                let with_neighbours = PAD + from - 1..PAD + to + 1;
                let range = PAD + from..PAD + to;
                chain.advance(
                    moment,
                    first + from,
                    Stretch {
                        x: &x[with_neighbours.clone()],
                        v: &v[with_neighbours],
                        next_x: &mut next_x[range.clone()],
                        next_v: &mut next_v[range.clone()],
                    },
                );
                if chain.law == CURVED {
                    chain.slide(moment, first + from, &mut next_v[range.clone()]);
                    move_positions(
                        chain.common.step,
                        &x[range.clone()],
                        &next_v[range.clone()],
                        &mut next_x[range],
                    );
                }
                free_ends(next_x, length);
                free_ends(next_v, length);
                if OBSERVE {
                    let own = PAD + own - 1..PAD + own + high - low + 1;
                    let (before, after) = ((&x[own.clone()], &v[own.clone()]), (&next_x[own.clone()], &next_v[own]));
                    let slips = chain.account(moment, self.first + low, before, after, &mut share.sums);
                    if slips && share.watched {
                        if share.runs.len() <= s {
                            share.runs.resize_with(s + 1, Vec::new);
                        }
                        let velocities = &after.1[1..high - low + 1];
                        note_runs(s, self.first + low, chain.common.step, velocities, &mut share.runs[s]);
                    }
                }
                std::mem::swap(&mut x, &mut next_x);
                std::mem::swap(&mut v, &mut next_v);
            }
            let own = PAD + own..PAD + own + high - low;
            // All of them, though one that is not would do: so they are looked at by vectors.
            bounded &= x[own.clone()].iter().fold(true, |all, x| all & (x.abs() <= BOUND));
            self.x[low..high].copy_from_slice(&x[own.clone()]);
            self.v[low..high].copy_from_slice(&v[own]);
        }
        bounded
    }
}

/// Notes which neighbouring blocks slip together.
fn note_runs(step: usize, first: usize, length: f64, velocities: &[f64], runs: &mut Vec<SlipRun>) {
    let (mut i, count) = (0, velocities.len());
    while i < count {
        if velocities[i] == 0.0 {
            // Blocks at rest are passed by vectors.
            let rest = velocities[i..].chunks_exact(LANES);
            let at_rest = rest.take_while(|few| !few.iter().fold(false, |some, v| some | (*v != 0.0)));
            i += LANES * at_rest.count();
            while i < count && velocities[i] == 0.0 {
                i += 1;
            }
            continue;
        }
        let begin = i;
        // So are blocks that slip; their slip is summed side by side.
        let mut slips = [0.0; LANES];
        for few in velocities[i..].chunks_exact(LANES) {
            if few.iter().fold(false, |some, v| some | (*v == 0.0)) {
                break;
            }
            for (slip, v) in slips.iter_mut().zip(few) {
                *slip += length * v;
            }
            i += LANES;
        }
        let mut slip = slips.iter().sum();
        while i < count && velocities[i] != 0.0 {
            slip += length * velocities[i];
            i += 1;
        }
        runs.push(SlipRun {
            step: step as u32,
            first: (first + begin) as u32,
            end: (first + i) as u32,
            slip,
        });
    }
}

/// The neighbour of an end moves with it, so that the spring and the damper between them do nothing. Where the stretch
/// goes on the neighbour is not known and this one is as good as any.
fn free_ends(buffer: &mut [f64], length: usize) {
    buffer[PAD - 1] = buffer[PAD];
    buffer[PAD + length] = buffer[PAD + length - 1];
}
