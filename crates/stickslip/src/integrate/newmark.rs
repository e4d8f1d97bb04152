//! Newmark's rule for masses, with the force of friction found from the displacement of the step:
//!
//! v₁ = v₀ + T·((1 − γ)·a₀ + γ·a₁),  x₁ = x₀ + T·v₀ + T²·((½ − β)·a₀ + β·a₁),  M·a₁ = forces(x₁, v₁) at the end
//!
//! `trapezoidal` has β = ¼, γ = ½, friction by the return mapping of its law, and solves the equations of the step (the paper on the trapezoidal update,
//! eq 32): in a bracket where one velocity is unknown, by Newton's method with a line search where there are more. Its motion by
//! backward differences, v₁ = v₀ + T·a₁, x₁ = x₀ + T·v₁, has β = γ = 1 and 1 in place of ½ in the position.
//! `newmark` is Ozaki, Hashiguchi and Chen (2007), eqs 31-34: friction is linearised at the start of the step, so that one linear solve is enough;
//! of first order, and only for small steps. The unknown is v₁.

use super::{Halt, NotFinite, Work, finite};
use crate::math::dense::{lu_apply, lu_factor};
use crate::network::groups::AtEnd;
use crate::network::newmark::NewmarkRoom;
pub use crate::network::newmark::Rule;
use crate::network::span::{Course, Span};
use crate::network::stage::{apply, apply_in, input_power};
use crate::network::tangent::Tangent;
use crate::network::{Network, NetworkState, Scratch};
use crate::stop::is_set;

/// Many steps.
pub(crate) fn run<const OBSERVE: bool>(
    network: &Network,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    work: &mut Work,
    steps: u64,
) -> Result<(), Halt> {
    let Some(rule) = network.newmark else {
        return Ok(());
    };
    let mut room = std::mem::take(&mut scratch.newmark);
    let outcome = (0..steps).try_for_each(|_| step::<OBSERVE>(network, rule, state, scratch, &mut room, work));
    scratch.newmark = room;
    outcome
}

/// The equations of a step.
struct Equations<'a, 'b> {
    network: &'a Network,
    rule: Rule,
    step: f64,
    scratch: &'b mut Scratch,
    before: &'a [f64],
    acceleration: &'a [f64],
    reach: f64,
    /// Times that they may still be evaluated.
    left: &'b mut u32,
}

impl<'a> Equations<'a, '_> {
    /// Whether the solution is to be given up: it has taken too long, or it was told to stop.
    fn given_up(&self) -> bool {
        *self.left == 0 || is_set(self.scratch.stop.as_ref())
    }

    /// The step as frictions see it.
    fn span(&self) -> Span<'a> {
        Span {
            before: self.before,
            step: self.step,
            course: self.course(),
            other: self.before,
            weights: [1.0 - self.rule.mean, 0.0, self.rule.mean],
        }
    }

    fn course(&self) -> Course {
        if self.rule.linear { Course::Linear } else { Course::Mean }
    }

    /// The residual v₁ − v₀ − T·((1 − γ)·a₀ + γ·a₁) at the velocities `velocity`; positions follow from them, and the states
    /// of elements are left at their start with their mean rate of the step in `scratch.rate`.
    fn residual(&mut self, velocity: &[f64], residual: &mut [f64]) {
        let Rule { beta, gamma, .. } = self.rule;
        let (network, step) = (self.network, self.step);
        *self.left = self.left.saturating_sub(1);
        let first = network.layout.positions;
        for (i, &v) in velocity.iter().enumerate() {
            let (x0, v0, a0) = (self.before[i], self.before[first + i], self.acceleration[i]);
            self.scratch.trial[first + i] = v;
            // a₁ put into the rule of the position.
            let known = (self.rule.mean - beta) - beta * (1.0 - gamma) / gamma;
            self.scratch.trial[i] = x0 + step * (v0 + beta / gamma * (v - v0)) + step * step * known * a0;
        }
        let span = self.span();
        let (trial, _, mut room) = self.scratch.parts();
        apply_in::<false, _>(network, &AtEnd(&network.elements, span), trial, &mut room, step);
        network.accelerate(
            trial,
            room.frames,
            room.linkages,
            room.signals.get(),
            room.load,
            room.rate,
        );
        for (i, residual) in residual.iter_mut().enumerate() {
            let mean = (1.0 - gamma) * self.acceleration[i] + gamma * room.rate[first + i];
            *residual = velocity[i] - self.before[first + i] - step * mean;
        }
    }

    /// The derivative of the residual at the velocities it was last evaluated at, row by row, from what elements know of
    /// themselves; by difference quotients if one does not.
    fn derivative(
        &mut self,
        velocity: &[f64],
        residual: &[f64],
        tangent: &mut [f64],
        trial: &mut [f64],
        out: &mut [f64],
    ) {
        let Rule { beta, gamma, .. } = self.rule;
        let (network, step) = (self.network, self.step);
        let (n, all, first) = (velocity.len(), network.layout.integrated(), network.layout.positions);
        let span = self.span();
        tangent.fill(0.0);
        let Scratch {
            trial: state,
            signals,
            frames,
            linkages,
            ..
        } = &*self.scratch;
        let mut known = Tangent::new(network, state, signals.get(), (frames, linkages), step, tangent);
        if network
            .elements
            .iter()
            .all(|group| group.finish_tangent(&mut known, &span))
        {
            for i in 0..n {
                for j in 0..n {
                    let row = (first + i) * all;
                    let slope = tangent[row + first + j] + step * beta / gamma * tangent[row + j];
                    let unit = if i == j { 1.0 } else { 0.0 };
                    out[i * n + j] = unit - step * gamma * network.inverse_mass[i] * slope;
                }
            }
            return;
        }
        let base = &mut tangent[..n];
        base.copy_from_slice(velocity);
        for j in 0..n {
            // Large enough to move the position, too, by far more than its rounding.
            let rounding = f64::EPSILON * self.before[j].abs() / step;
            let size = (1e-8 * velocity[j].abs().max(step * self.acceleration[j].abs()).max(1e-9)).max(1e4 * rounding);
            base[j] = velocity[j] + size;
            let change = base[j] - velocity[j];
            self.residual(base, trial);
            base[j] = velocity[j];
            for i in 0..n {
                out[i * n + j] = (trial[i] - residual[i]) / change;
            }
        }
        self.residual(velocity, trial);
    }

    /// The velocity of the first coordinate that leaves its friction where it was: it goes along with what it rubs on.
    ///
    /// A step in which friction falls faster than the mass holds has several solutions. The one that the contact reaches from where it
    /// is comes first when the slip grows from 0, so that is where the search begins.
    fn carried(&self) -> f64 {
        let Rule { beta, gamma, mean, .. } = self.rule;
        let (v0, a0) = (self.before[self.network.layout.positions], self.acceleration[0]);
        let moved = self.rule.carrier.map_or(0.0, |(partner, share)| {
            share * (self.scratch.trial[partner] - self.before[partner])
        });
        // x₁ = x₀ + moved, solved for v₁ (see `residual`).
        let known = (mean - beta) - beta * (1.0 - gamma) / gamma;
        v0 + gamma / beta * (moved / self.step - v0 - self.step * known * a0)
    }

    /// How small a change of the velocities counts as none: far below what moves now, or rounding of what has moved, or of
    /// where the bodies are. At rest forces that balance leave no more than that.
    fn enough(&self, velocity: &[f64]) -> f64 {
        let first = self.network.layout.positions;
        let place = self.before[..first].iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let size = |i: usize| velocity[i].abs() + self.before[first + i].abs() + self.step * self.acceleration[i].abs();
        (1e-12 * (0..velocity.len()).map(size).fold(0.0, f64::max))
            .max(f64::EPSILON * self.reach.max(4.0 * place / self.step))
    }
}

/// Least part of a step.
const SPLINTER: f64 = 1.0 / (1u32 << 24) as f64;
/// Times that the equations are evaluated in one step, with all its parts, before it is given up. Steps that are solved at all
/// take a few thousand at most.
const MOST_EVALUATIONS: u32 = 200_000;

/// One step. Where its equations are not solved (several blocks, friction that falls faster than their masses hold) it is done in
/// halves, and halves of these: with the step the mass outweighs every force.
fn step<const OBSERVE: bool>(
    network: &Network,
    rule: Rule,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    room: &mut NewmarkRoom,
    work: &mut Work,
) -> Result<(), Halt> {
    let (mut done, mut part) = (0.0, 1.0);
    room.energy.fill(0.0);
    room.left = MOST_EVALUATIONS;
    while done < 1.0 {
        match piece::<OBSERVE>(network, rule, state, scratch, room, [done, done + part]) {
            Ok(()) => {
                if done == 0.0 {
                    // A later part that fails leaves the whole step undone.
                    room.start.copy_from_slice(&room.before);
                }
                done += part;
                // The next part is as long as the halves before it allow.
                while part < 1.0 && (done / (2.0 * part)).fract() == 0.0 {
                    part *= 2.0;
                }
            }
            Err(Halt::Unsolved { .. }) if !rule.plain && !rule.linear && part > SPLINTER && room.left > 0 => {
                part *= 0.5
            }
            Err(halt) => {
                if done > 0.0 {
                    state.values.copy_from_slice(&room.start);
                }
                return Err(halt);
            }
        }
    }
    room.reach = room.velocity.iter().fold(room.reach, |most, v| most.max(v.abs()));
    if OBSERVE {
        work.input += room.energy[0];
        for (delivered, energy) in work.delivered.iter_mut().zip(&room.energy[1..]) {
            *delivered += energy;
        }
    }
    state.step += 1;
    Ok(())
}

/// Samples the profiles at a part of a step and places the drivers in `scratch.trial`; the time on the grid where it is an end.
fn place(network: &Network, scratch: &mut Scratch, step: u64, part: f64) {
    if part == 0.0 || part == 1.0 {
        let index = 2 * (step + u64::from(part == 1.0));
        network.signals.sample(index, &mut scratch.signals);
        network.place_drives(&mut scratch.trial, &mut scratch.signals, index);
    } else {
        let time = network.time(step) + part * network.step;
        network.signals.sample_at(time, &mut scratch.signals);
        network.place_drives_at(&mut scratch.trial, scratch.signals.get(), time);
    }
}

/// The rate of `scratch.trial` with the profiles as they were sampled.
fn respond_as_placed<const OBSERVE: bool>(network: &Network, scratch: &mut Scratch) {
    apply::<OBSERVE>(network, scratch, 0.0);
    let (state, _, room) = scratch.parts();
    network.accelerate(
        state,
        room.frames,
        room.linkages,
        room.signals.get(),
        room.load,
        room.rate,
    );
}

/// A part of a step, or all of it.
fn piece<const OBSERVE: bool>(
    network: &Network,
    rule: Rule,
    state: &mut NetworkState,
    scratch: &mut Scratch,
    room: &mut NewmarkRoom,
    part: [f64; 2],
) -> Result<(), Halt> {
    let layout = &network.layout;
    let (n, all, first) = (layout.masses, layout.integrated(), layout.positions);
    let step = (part[1] - part[0]) * network.step;
    scratch.trial[..all].copy_from_slice(&state.values[..all]);
    place(network, scratch, state.step, part[0]);
    respond_as_placed::<OBSERVE>(network, scratch);
    if OBSERVE {
        powers(network, scratch, &mut room.power);
    }
    room.before.copy_from_slice(&scratch.trial);
    room.acceleration.copy_from_slice(&scratch.rate[first..first + n]);

    place(network, scratch, state.step, part[1]);
    for drive in network.drives.iter().filter(|drive| !drive.position) {
        let (q, v) = (drive.coordinate.q, drive.coordinate.v);
        let mean = (1.0 - rule.mean) * room.before[v] + rule.mean * scratch.trial[v];
        scratch.trial[q] = room.before[q] + step * mean;
    }
    let NewmarkRoom {
        before,
        acceleration,
        velocity,
        residual,
        change,
        trial,
        tangent,
        factors,
        order,
        reach,
        power,
        energy,
        left,
        ..
    } = room;
    for (i, v) in velocity.iter_mut().enumerate() {
        *v = before[first + i] + step * acceleration[i];
    }
    let mut equations = Equations {
        network,
        rule,
        step,
        scratch,
        before,
        acceleration,
        reach: *reach,
        left,
    };
    let time = network.time(state.step);
    let mut solver = Newton {
        velocity,
        residual,
        change,
        trial,
        tangent,
        factors,
        order,
    };
    let solved = if n == 1 && !rule.linear && !rule.plain {
        solver.velocity[0] = equations.carried();
        solver.bracket(&mut equations, 0)
    } else {
        solver.solve(&mut equations)
    };
    if !solved {
        if is_set(scratch.stop.as_ref()) {
            return Err(Halt::Stopped);
        }
        // The published solver of a law says that it failed by a force that is no number.
        let undefined = residual.iter().position(|value| !value.is_finite() && !rule.plain);
        return Err(undefined.map_or(Halt::Unsolved { time }, |row| Halt::NotFinite { index: first + row }));
    }

    let Scratch { trial: end, rate, .. } = scratch;
    for i in layout.first_state()..all {
        end[i] = before[i] + step * rate[i];
    }
    let check = end[..all].iter().map(|x| x * 0.0).sum();
    finite(check, &end[..all]).map_err(|NotFinite { index }| Halt::NotFinite { index })?;
    state.values[..all].copy_from_slice(&end[..all]);
    if OBSERVE {
        account(energy, power, (1.0 - rule.mean) * step);
        place(network, scratch, state.step, part[1]);
        respond_as_placed::<true>(network, scratch);
        powers(network, scratch, power);
        account(energy, power, rule.mean * step);
    }
    Ok(())
}

/// Rounds of Newton's method.
const ROUNDS: usize = 100;
/// Changes that are tried before a round counts as no help: the whole one, a half, …
const HALVINGS: usize = 6;
/// Times that every equation is solved for its own velocity before Newton's method is tried again.
const MOST_SWEEPS: usize = 256;

/// The solver of the equations, in the room of a run.
struct Newton<'a> {
    velocity: &'a mut [f64],
    residual: &'a mut [f64],
    change: &'a mut [f64],
    trial: &'a mut [f64],
    tangent: &'a mut [f64],
    factors: &'a mut [f64],
    order: &'a mut [usize],
}

impl Newton<'_> {
    /// Newton's method for all velocities; one round where friction is linearised. A change that does not lessen the
    /// residual is halved, and where that does not help (at a kink, or where friction falls too fast) every equation is
    /// solved for its own velocity, one after the other: once, and twice as often each time it happens again. The plain
    /// method does neither. False if it does not converge.
    fn solve(&mut self, equations: &mut Equations<'_, '_>) -> bool {
        let Rule { linear, plain, .. } = equations.rule;
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = self.velocity.len();
        let mut sweeps = 1;
        for _ in 0..ROUNDS {
            if equations.given_up() {
                return false;
            }
            equations.residual(self.velocity, self.residual);
            let size = length(self.residual);
            if size == 0.0 {
                return true;
            }
            equations.derivative(self.velocity, self.residual, self.tangent, self.trial, self.factors);
            self.change.copy_from_slice(self.residual);
            if !lu_factor(self.factors, n, self.order, equations.scratch.stop.as_ref()) {
                return false;
            }
            lu_apply(self.factors, n, self.order, self.change);
            let enough = equations.enough(self.velocity);
            let small = self.change.iter().all(|x| x.abs() <= enough);
            // Near the solution the residual is rounding, which need not get smaller.
            let as_it_is = linear || plain || small;
            let mut share = 1.0;
            let mut lessens = false;
            for _ in 0..HALVINGS {
                for (trial, (v, change)) in self.trial.iter_mut().zip(self.velocity.iter().zip(&*self.change)) {
                    *trial = v - share * change;
                }
                equations.residual(self.trial, self.residual);
                lessens = as_it_is || length(self.residual) < size;
                if lessens {
                    break;
                }
                share *= 0.5;
            }
            if lessens {
                self.velocity.copy_from_slice(self.trial);
            } else {
                for _ in 0..sweeps {
                    for i in 0..n {
                        self.bracket(equations, i);
                        if equations.given_up() {
                            return false;
                        }
                    }
                }
                sweeps = (2 * sweeps).min(MOST_SWEEPS);
            }
            if small || linear {
                return true;
            }
            if !self.velocity.iter().all(|v| v.is_finite()) {
                return false;
            }
        }
        false
    }

    /// The residual of equation `i` with its own velocity at `v`.
    fn at(&mut self, equations: &mut Equations<'_, '_>, i: usize, v: f64) -> f64 {
        self.velocity[i] = v;
        equations.residual(self.velocity, self.residual);
        self.residual[i]
    }

    /// Solves equation `i` for its own velocity: the residual rises with it for good, as the mass does, so a bracket that is
    /// widened holds a root. It is widened by Newton's method as long as the residual rises: friction yields more and more, so that
    /// a step of it falls short of the first root and does not leap over it. Where the force jumps, the velocity of the jump is the
    /// solution. False if a number is not finite or no bracket is found.
    fn bracket(&mut self, equations: &mut Equations<'_, '_>, i: usize) -> bool {
        let n = self.velocity.len();
        let start = self.velocity[i];
        let first = self.at(equations, i, start);
        if first == 0.0 || !first.is_finite() {
            return first == 0.0;
        }
        // Away from the start, against the sign of the residual, until it changes.
        let (mut near, mut value, mut width) = (start, first, 0.5 * first.abs());
        let mut round = 0;
        let far = loop {
            equations.derivative(self.velocity, self.residual, self.tangent, self.trial, self.factors);
            let slope = self.factors[i * n + i];
            width = match value.abs() / slope {
                newton if round < ROUNDS && newton > 0.0 && newton.is_finite() => newton,
                _ => 2.0 * width,
            };
            let far = near - width.copysign(first);
            if width <= equations.enough(self.velocity).max(2.0 * f64::EPSILON * near.abs()) {
                return self.at(equations, i, far).is_finite();
            }
            value = self.at(equations, i, far);
            if value == 0.0 || !value.is_finite() {
                return value == 0.0;
            }
            if equations.given_up() {
                return false;
            }
            if (value > 0.0) != (first > 0.0) {
                break far;
            }
            near = far;
            round += 1;
        };
        let (mut low, mut high) = if near < far { (near, far) } else { (far, near) };
        // From the side of the start.
        let mut v = near;
        for round in 0..200 {
            let value = self.at(equations, i, v);
            if value == 0.0 || !value.is_finite() {
                return value == 0.0;
            }
            if equations.given_up() {
                return false;
            }
            if value > 0.0 {
                high = v
            } else {
                low = v
            }
            equations.derivative(self.velocity, self.residual, self.tangent, self.trial, self.factors);
            let newton = v - value / self.factors[i * n + i];
            let usable = round < 50 && newton >= low && newton <= high;
            let next = if usable { newton } else { 0.5 * (low + high) };
            let enough = equations.enough(self.velocity).max(2.0 * f64::EPSILON * v.abs());
            if (next - v).abs() <= enough || next == v {
                return self.at(equations, i, next).is_finite();
            }
            v = next;
        }
        false
    }
}

/// Powers of the moment that was evaluated last: what is put in, and what each element delivers.
fn powers(network: &Network, scratch: &Scratch, power: &mut [f64]) {
    let input = input_power(
        network,
        &scratch.trial,
        &scratch.load,
        &scratch.linkages,
        scratch.signals.get(),
        &scratch.seen,
    );
    power[0] = input + scratch.motor_power;
    for (power, seen) in power[1..].iter_mut().zip(&scratch.seen) {
        *power = seen.power;
    }
}

/// Adds powers over a time to energies.
fn account(energy: &mut [f64], power: &[f64], time: f64) {
    for (energy, power) in energy.iter_mut().zip(power) {
        *energy += time * power;
    }
}
