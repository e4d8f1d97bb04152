//! Friction between coordinates, for every law: one group per law and number of axes.

use super::{Elements, Mode, Observation};
use crate::integrate::newmark::{Course, Span};
use crate::network::coupled::Block;
use crate::network::implicit::{ImplicitStage, ImplicitView};
use crate::network::port::Pair;
use crate::network::stage::{LoadSource, Stage};
use crate::network::tangent::Tangent;
use std::any::Any;
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::friction::dahl::Dahl;
use stickslip_core::friction::karnopp::Karnopp;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::martins_oden::MartinsOden;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::quinn::Quinn;
use stickslip_core::friction::subloading::Subloading;
use stickslip_core::friction::{Bristle, Resolved, Slip, implicit};
use stickslip_core::scalar::{Dual, Real};

/// A steady curve of any form.
#[derive(Clone, Debug)]
pub enum SteadyCurve {
    /// Coulomb, static, viscous, Stribeck.
    Stribeck(Stribeck<f64>),
    /// Measured points: speeds and forces, checked when built.
    Table(Vec<f64>, Vec<f64>),
}

/// Evaluates an expression with the concrete curve, chosen once outside the law's arithmetic.
macro_rules! with_curve {
    ($curve:expr, |$c:ident| $body:expr) => {
        match $curve {
            SteadyCurve::Stribeck(curve) => {
                let $c = &curve.lift();
                $body
            }
            SteadyCurve::Table(speed, force) => {
                let $c = &Table::trusted(speed, force);
                $body
            }
        }
    };
}
pub(crate) use with_curve;

/// One friction between coordinates.
#[derive(Clone, Debug)]
pub struct Friction<L> {
    /// Number of the element in the network.
    pub element: usize,
    /// What rubs on what.
    pub pair: Pair,
    /// The law with its parameters.
    pub law: L,
    /// The steady curve.
    pub curve: SteadyCurve,
    /// What the curve is multiplied with.
    pub load: LoadSource,
    /// The signal that says how fast that changes, where it is known and the law asks for it.
    pub load_rate: Option<usize>,
    /// Where the law's states begin in the flat state.
    pub state: usize,
    /// For the implicit step: velocity of each coordinate per force of the element, T·r/m.
    pub mobility: [f64; 2],
    /// For the implicit step: solved together with others instead of on its own.
    pub coupled: bool,
}

impl<L> Friction<L> {
    /// Whether the load is the force of another element, which varies with what moves that.
    fn follows_element(&self) -> bool {
        matches!(self.load, LoadSource::Element(_))
    }

    /// Relative velocity per force along the slip, W = T·(r₁²/m₁ + r₂²/m₂).
    #[inline(always)]
    pub fn compliance(&self) -> f64 {
        self.pair.ratio[0] * self.mobility[0] + self.pair.ratio[1] * self.mobility[1]
    }

    #[inline(always)]
    fn slip<const N: usize>(&self, state: &[f64], signals: &[f64], compression: &[f64]) -> Slip<f64, N> {
        Slip {
            velocity: self.pair.velocity(state),
            load: self.load.value(signals, compression),
        }
    }

    /// Puts the outcome of the law into the velocities. A stuck velocity is assigned, not computed: exactly that of
    /// the partner where the partner's motion is given, else one common value.
    #[inline(always)]
    fn settle<const N: usize>(&self, stage: &mut ImplicitStage<'_>, outcome: &Resolved<f64, N>) {
        let [first, second] = [self.pair.first.v, self.pair.second.v];
        let [r1, r2] = self.pair.ratio;
        for i in 0..N {
            if self.mobility[1] == 0.0 {
                let partner = r2 * stage.after[second + i];
                stage.after[first + i] = (outcome.velocity[i] + partner) * self.pair.inverse_ratio[0];
            } else {
                stage.after[first + i] += self.mobility[0] * outcome.force[i];
                let moved = r1 * stage.after[first + i];
                stage.after[second + i] = (moved - outcome.velocity[i]) * self.pair.inverse_ratio[1];
            }
        }
    }

    /// Notes what the friction did in the step, if anybody asks; its force then also joins the loads, which tell the
    /// work of drivers.
    #[inline(always)]
    fn note<const N: usize>(
        &self,
        stage: &mut ImplicitStage<'_>,
        outcome: &Resolved<f64, N>,
        stored: f64,
        carried: f64,
    ) {
        if let Some(seen) = &mut stage.seen {
            self.pair.scatter(stage.load, &outcome.force);
            seen[self.element] = Observation {
                mode: Mode::stuck(outcome.stuck),
                normal: self.load.value(stage.signals, stage.compression),
                stored,
                carried,
                ..Observation::of(&outcome.force, &outcome.velocity)
            };
        }
    }
}

/// Frictions of one law.
#[derive(Clone, Debug)]
pub struct Frictions<L, const N: usize>(pub Vec<Friction<L>>);

/// Frictions of one law in the implicit step.
pub trait Resolve: Any + Send + Sync {
    /// Solves every friction that is alone on its bodies.
    fn resolve(&self, stage: &mut ImplicitStage<'_>);

    /// Adds forces that follow from the start of the step (laws evaluated at v_{k−1}).
    fn push(&self, _stage: &mut ImplicitStage<'_>) {}

    /// Notes velocity and power anew after the velocities have changed.
    fn regather(&self, state: &[f64], seen: &mut [Observation]);

    /// Notes the mode and the load before the first step, when no force has acted yet.
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]);

    /// How many frictions the group has, and the axes of each.
    fn size(&self) -> (usize, usize);

    /// What friction `index` connects.
    fn pair(&self, index: usize) -> &Pair;

    /// The steady curve of friction `index`, for the advice given before a run.
    fn curve(&self, index: usize) -> &SteadyCurve;

    /// Whether friction `index` can be solved on its own where nothing else acts within the step on its bodies.
    fn solves_alone(&self, _index: usize) -> bool {
        true
    }

    /// Whether the law takes part in a coupled solve; laws evaluated at v_{k−1} do not.
    fn couples(&self) -> bool {
        true
    }

    /// Leaves friction `index` to the coupled solve.
    fn couple(&mut self, index: usize);

    /// The law of friction `index` as the coupled solve sees it.
    fn block(&self, index: usize, view: &ImplicitView<'_>) -> Block;

    /// Steady force and its slope at a speed above 0, for a [`Block::Curve`].
    fn steady(&self, _index: usize, _view: &ImplicitView<'_>, _speed: f64) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// Resisting force of a bristle and its derivative at a slip velocity, for a [`Block::Smooth`].
    fn smooth(
        &self,
        _index: usize,
        _view: &ImplicitView<'_>,
        _velocity: &[f64],
        _force: &mut [f64],
        _tangent: &mut [f64],
    ) {
    }

    /// Takes over the outcome of the coupled solve into the law's states.
    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], stuck: bool);
}

impl<L, const N: usize> Frictions<L, N> {
    fn begin_with(
        &self,
        view: &ImplicitView<'_>,
        seen: &mut [Observation],
        sticks: impl Fn(&Friction<L>, &Slip<f64, N>) -> bool,
    ) {
        for friction in &self.0 {
            let slip = friction.slip::<N>(view.before, view.signals, view.compression);
            let mode = Mode::stuck(sticks(friction, &slip));
            seen[friction.element] = Observation {
                mode,
                normal: slip.load,
                ..Observation::of(&[0.0; N], &slip.velocity)
            };
        }
    }

    fn regather_all(&self, state: &[f64], seen: &mut [Observation]) {
        for friction in &self.0 {
            friction.pair.regather::<N>(state, &mut seen[friction.element]);
        }
    }
}

impl<L: Bristle<f64> + Send + Sync, const N: usize> Frictions<L, N> {
    #[inline(always)]
    pub(crate) fn run(
        &self,
        stage: &mut Stage<'_>,
        mut note: impl FnMut(&Friction<L>, &Slip<f64, N>, &[f64], &[f64; N]),
    ) {
        for friction in &self.0 {
            let (slip, force) = friction.answer::<N>(stage);
            let state = &stage.state[friction.state..friction.state + L::STATES * N];
            note(friction, &slip, state, &force);
        }
    }
}

impl<L: Bristle<f64>> Friction<L> {
    /// The law's answer to the motion, its force scattered and the rates of its states written.
    #[inline(always)]
    fn answer<const N: usize>(&self, stage: &mut Stage<'_>) -> (Slip<f64, N>, [f64; N]) {
        let slip = self.slip::<N>(stage.state, stage.signals, stage.compression);
        let states = self.state..self.state + L::STATES * N;
        let state = &stage.state[states.clone()];
        let rate = &mut stage.rate[states];
        let load_rate = self.load_rate.map_or(0.0, |signal| stage.signals[signal]);
        let force = with_curve!(&self.curve, |c| self
            .law
            .respond_to_changing_load(c, &slip, load_rate, state, stage.tau, rate));
        self.pair.scatter(stage.load, &force);
        (slip, force)
    }
}

impl<L: Lift + Send + Sync, const N: usize> Frictions<L, N> {
    /// Derivatives of force and rates of one friction, by dual numbers: with respect to the slip velocity, then to each of
    /// its vector states.
    fn differentiate(friction: &Friction<L>, tangent: &mut Tangent<'_>) {
        let count = L::STATES * N;
        let velocity = friction.pair.velocity::<N>(tangent.state);
        let load = Dual::lit(friction.load.value(tangent.signals, &[]));
        let load_rate = Dual::lit(friction.load_rate.map_or(0.0, |signal| tangent.signals[signal]));
        let law = friction.law.lift::<N>();
        // By the velocity first (None), then by the states.
        for by in std::iter::once(None).chain((0..L::STATES).map(Some)) {
            let vary = |varies: bool, value: f64, i: usize| {
                if varies {
                    Dual::variable(value, i)
                } else {
                    Dual::lit(value)
                }
            };
            let slip: Slip<Dual<f64, N>, N> = Slip {
                velocity: std::array::from_fn(|i| vary(by.is_none(), velocity[i], i)),
                load,
            };
            let mut state = [Dual::lit(0.0); MOST_STATES];
            let mut rate = state;
            for (i, dual) in state[..count].iter_mut().enumerate() {
                *dual = vary(by == Some(i / N), tangent.state[friction.state + i], i % N);
            }
            let force = with_curve!(&friction.curve, |c| law.respond_to_changing_load(
                c,
                &slip,
                load_rate,
                &state[..count],
                Dual::lit(0.0),
                &mut rate[..count]
            ));
            for j in 0..N {
                let column = by.map(|k| friction.state + k * N + j);
                for (i, force) in force.iter().enumerate() {
                    match column {
                        None => tangent.add_damping(&friction.pair, i, j, force.grad[j]),
                        Some(column) => tangent.add_force(&friction.pair, i, column, force.grad[j]),
                    }
                }
                for (i, rate) in rate[..count].iter().enumerate() {
                    match column {
                        None => tangent.add_rate(friction.state + i, &friction.pair, j, rate.grad[j]),
                        Some(column) => tangent.add(friction.state + i, column, rate.grad[j]),
                    }
                }
            }
        }
    }
}

impl<L: Lift> Friction<L> {
    /// Change of the relative position since the start of a step, over its length.
    #[inline(always)]
    fn mean_velocity<const N: usize>(&self, state: &[f64], span: &Span<'_>) -> [f64; N] {
        let start = self.pair.position::<N>(span.before);
        let end = self.pair.position::<N>(state);
        std::array::from_fn(|i| (end[i] - start[i]) / span.step)
    }

    /// Adds the derivatives of the force of [`Course::Mapped`] with respect to position and velocity at the end.
    fn differentiate_map<const N: usize>(&self, tangent: &mut Tangent<'_>, span: &Span<'_>) {
        let load = Dual::lit(self.load.value(tangent.signals, &[]));
        let load_rate = Dual::lit(self.load_rate.map_or(0.0, |signal| tangent.signals[signal]));
        let mean = self.mean_velocity::<N>(tangent.state, span);
        let end = self.pair.velocity::<N>(tangent.state);
        let count = L::STATES * N;
        let mut state = [Dual::lit(0.0); MOST_STATES];
        let mut guess = state;
        for i in 0..count {
            state[i] = Dual::lit(span.before[self.state + i]);
            guess[i] = Dual::lit(tangent.state[self.state + i]);
        }
        let (law, step) = (self.law.lift::<N>(), Dual::lit(span.step));
        for by_position in [true, false] {
            let vary = |x: [f64; N], varies: bool| -> [Dual<f64, N>; N] {
                std::array::from_fn(|i| {
                    if varies {
                        Dual::variable(x[i], i)
                    } else {
                        Dual::lit(x[i])
                    }
                })
            };
            let slip = Slip {
                velocity: vary(mean, by_position),
                load,
            };
            let end = vary(end, !by_position);
            let mut next = guess;
            let (state, next) = (&state[..count], &mut next[..count]);
            let force = with_curve!(&self.curve, |c| law
                .advance_to(c, &slip, end, load_rate, state, step, next));
            for (i, force) in force.iter().enumerate() {
                for (j, &slope) in force.grad.iter().enumerate() {
                    if by_position {
                        tangent.add_stiffness(&self.pair, i, j, slope / span.step);
                    } else {
                        tangent.add_damping(&self.pair, i, j, slope);
                    }
                }
            }
        }
    }

    /// Force and states at the end of a step with the rates of its start, as functions of the slip velocity, linearised at
    /// that of the start (seed 003, eqs 26 and 33).
    fn linearised<const N: usize>(
        &self,
        load: f64,
        load_rate: f64,
        start: [f64; N],
        before: &[f64],
        step: f64,
    ) -> ([Dual<f64, N>; N], [Dual<f64, N>; MOST_STATES]) {
        let slip = Slip {
            velocity: std::array::from_fn(|i| Dual::variable(start[i], i)),
            load: Dual::lit(load),
        };
        let count = before.len();
        let mut state = [Dual::lit(0.0); MOST_STATES];
        let mut rate = state;
        for (dual, &value) in state.iter_mut().zip(before) {
            *dual = Dual::lit(value);
        }
        let (law, step) = (self.law.lift::<N>(), Dual::lit(step));
        let respond = |state: &[Dual<f64, N>], rate: &mut [Dual<f64, N>]| {
            let (load_rate, at_once) = (Dual::lit(load_rate), Dual::lit(0.0));
            with_curve!(&self.curve, |c| law
                .respond_to_changing_load(c, &slip, load_rate, state, at_once, rate))
        };
        respond(&state[..count], &mut rate[..count]);
        for (state, rate) in state.iter_mut().zip(&rate) {
            *state += *rate * step;
        }
        let force = respond(&state[..count], &mut rate[..count]);
        (force, state)
    }
}

impl<L: Lift + Send + Sync + 'static, const N: usize> Elements for Frictions<L, N> {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage, |_, _, _, _| ());
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run(stage, |friction, slip, state, force| {
            let sticks = with_curve!(&friction.curve, |c| friction.law.sticks(c, slip, state));
            seen[friction.element] = Observation {
                stored: friction.law.stored::<N>(state),
                carried: friction.law.carried::<N>(state, slip.load),
                mode: Mode::stuck(sticks),
                normal: slip.load,
                ..Observation::of(force, &slip.velocity)
            };
        });
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        // A limit that follows another element varies with what moves that element.
        if self.0.iter().any(Friction::follows_element) {
            return false;
        }
        self.0
            .iter()
            .for_each(|friction| Self::differentiate(friction, tangent));
        true
    }

    fn mapped(&self, name: &mut dyn FnMut(usize, bool)) {
        for friction in self.0.iter().filter(|friction| friction.law.maps::<N>()) {
            for state in 0..L::STATES * N {
                name(friction.state + state, state < L::MAPPED * N);
            }
        }
    }

    fn restore(&self, state: &mut [f64], signals: &[f64], compression: &[f64]) {
        for friction in self.0.iter().filter(|friction| friction.law.maps::<N>()) {
            let load = friction.load.value(signals, compression);
            let states = friction.state..friction.state + L::STATES * N;
            friction.law.restore::<N>(&mut state[states], load);
        }
    }

    fn finish(&self, stage: &mut Stage<'_>, span: &Span<'_>) {
        for friction in &self.0 {
            if span.course == Course::Mapped && !friction.law.maps::<N>() {
                friction.answer::<N>(stage);
                continue;
            }
            let load = friction.load.value(stage.signals, stage.compression);
            let load_rate = friction.load_rate.map_or(0.0, |signal| stage.signals[signal]);
            let start = friction.pair.velocity::<N>(span.before);
            let end = friction.pair.velocity::<N>(stage.state);
            let states = friction.state..friction.state + L::STATES * N;
            let before = &span.before[states.clone()];
            let mut next = [0.0; MOST_STATES];
            let force = if span.course == Course::Linear {
                let (force, states) = friction.linearised::<N>(load, load_rate, start, before, span.step);
                let along =
                    |dual: &Dual<f64, N>| (0..N).fold(dual.value, |sum, i| sum + dual.grad[i] * (end[i] - start[i]));
                for (next, dual) in next.iter_mut().zip(&states) {
                    *next = along(dual);
                }
                std::array::from_fn(|i| along(&force[i]))
            } else {
                let velocity = if span.course == Course::Mapped {
                    next[..L::STATES * N].copy_from_slice(&stage.state[states.clone()]);
                    friction.mean_velocity(stage.state, span)
                } else {
                    std::array::from_fn(|i| 0.5 * (start[i] + end[i]))
                };
                let slip = Slip { velocity, load };
                let next = &mut next[..L::STATES * N];
                with_curve!(&friction.curve, |c| friction
                    .law
                    .advance_to(c, &slip, end, load_rate, before, span.step, next))
            };
            for (rate, (next, before)) in stage.rate[states].iter_mut().zip(next.iter().zip(before)) {
                *rate = (next - before) / span.step;
            }
            friction.pair.scatter(stage.load, &force);
        }
    }

    fn finish_tangent(&self, tangent: &mut Tangent<'_>, span: &Span<'_>) -> bool {
        if self.0.iter().any(Friction::follows_element) {
            return false;
        }
        for friction in &self.0 {
            if span.course == Course::Mapped {
                if friction.law.maps::<N>() {
                    friction.differentiate_map::<N>(tangent, span);
                } else {
                    Self::differentiate(friction, tangent);
                }
                continue;
            }
            let load = friction.load.value(tangent.signals, &[]);
            let load_rate = friction.load_rate.map_or(0.0, |signal| tangent.signals[signal]);
            let start = friction.pair.velocity::<N>(span.before);
            let before = &span.before[friction.state..friction.state + L::STATES * N];
            let force = if span.course == Course::Linear {
                friction.linearised::<N>(load, load_rate, start, before, span.step).0
            } else {
                let end = friction.pair.velocity::<N>(tangent.state);
                let end: [Dual<f64, N>; N] = std::array::from_fn(|i| Dual::variable(end[i], i));
                let slip = Slip {
                    velocity: std::array::from_fn(|i| (end[i] + Dual::lit(start[i])) * Dual::lit(0.5)),
                    load: Dual::lit(load),
                };
                let mut state = [Dual::lit(0.0); MOST_STATES];
                let mut next = state;
                for (dual, &value) in state.iter_mut().zip(before) {
                    *dual = Dual::lit(value);
                }
                let count = before.len();
                let (law, load_rate) = (friction.law.lift::<N>(), Dual::lit(load_rate));
                let (state, next, step) = (&state[..count], &mut next[..count], Dual::lit(span.step));
                with_curve!(&friction.curve, |c| law
                    .advance_to(c, &slip, end, load_rate, state, step, next))
            };
            for (i, force) in force.iter().enumerate() {
                for j in 0..N {
                    tangent.add_damping(&friction.pair, i, j, force.grad[j]);
                }
            }
        }
        true
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        self.regather_all(stage.state, seen);
    }
}

/// The law `implicit`; it has no parameter. `approximate` chooses seed 000, eq 16 in place of eq 14, for comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Implicit {
    /// Use the approximation of eq 16.
    pub approximate: bool,
}

/// Reads a slice as a vector of `N` axes.
#[inline(always)]
fn axes<const N: usize>(values: &[f64]) -> [f64; N] {
    std::array::from_fn(|i| values[i])
}

impl<const N: usize> Resolve for Frictions<Implicit, N> {
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.begin_with(view, seen, |friction, _| view.before[friction.state] != 0.0);
    }

    fn resolve(&self, stage: &mut ImplicitStage<'_>) {
        for friction in &self.0 {
            if friction.coupled {
                continue;
            }
            let v_bar = friction.pair.velocity::<N>(stage.after);
            let load = friction.load.value(stage.signals, stage.compression);
            let was_stuck = stage.before[friction.state] != 0.0;
            let compliance = friction.compliance();
            let outcome = match &friction.curve {
                SteadyCurve::Stribeck(c) if c.is_coulomb() => {
                    implicit::resolve_constant(v_bar, compliance, c.kinetic * load)
                }
                curve if friction.law.approximate => {
                    with_curve!(curve, |c| implicit::resolve_approximate(
                        c, load, v_bar, compliance, was_stuck
                    ))
                }
                curve => with_curve!(curve, |c| implicit::resolve(c, load, v_bar, compliance, was_stuck)),
            };
            friction.settle(stage, &outcome);
            friction.note(stage, &outcome, 0.0, 0.0);
            stage.after[friction.state] = f64::from(u8::from(outcome.stuck));
        }
    }

    fn regather(&self, state: &[f64], seen: &mut [Observation]) {
        self.regather_all(state, seen);
    }

    fn size(&self) -> (usize, usize) {
        (self.0.len(), N)
    }

    fn pair(&self, index: usize) -> &Pair {
        &self.0[index].pair
    }

    fn curve(&self, index: usize) -> &SteadyCurve {
        &self.0[index].curve
    }

    fn couple(&mut self, index: usize) {
        self.0[index].coupled = true;
    }

    fn block(&self, index: usize, view: &ImplicitView<'_>) -> Block {
        let friction = &self.0[index];
        let load = friction.load.value(view.signals, view.compression);
        let was_stuck = view.before[friction.state] != 0.0;
        with_curve!(&friction.curve, |c| {
            let holding = c.holding(load);
            if Curve::<f64>::constant(c) {
                Block::Dry {
                    holding,
                    kinetic: c.dry(0.0, load),
                    was_stuck,
                }
            } else {
                Block::Curve { holding, was_stuck }
            }
        })
    }

    fn steady(&self, index: usize, view: &ImplicitView<'_>, speed: f64) -> (f64, f64) {
        let friction = &self.0[index];
        let load = friction.load.value(view.signals, view.compression);
        with_curve!(&friction.curve, |c| (
            c.total(speed, load),
            c.slope(speed, load) + Curve::<f64>::viscous(c)
        ))
    }

    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], stuck: bool) {
        let friction = &self.0[index];
        stage.after[friction.state] = f64::from(u8::from(stuck));
        friction.note::<N>(
            stage,
            &Resolved {
                force: axes(force),
                velocity: axes(velocity),
                stuck,
            },
            0.0,
            0.0,
        );
    }
}

/// A baseline law evaluated at the velocity of the start of the step and the applied force (seed 000, eqs 7-9).
pub trait Baseline: Copy + Send + Sync {
    /// Force on the first body.
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, applied: [f64; N]) -> [f64; N];
    /// Whether it counts as sticking.
    fn sticks<const N: usize>(&self, velocity: &[f64; N]) -> bool;
}

macro_rules! baseline {
    ($law:ty) => {
        impl Baseline for $law {
            fn force<C: Curve<f64>, const N: usize>(
                &self,
                curve: &C,
                slip: &Slip<f64, N>,
                applied: [f64; N],
            ) -> [f64; N] {
                <$law>::force(self, curve, slip, applied)
            }
            fn sticks<const N: usize>(&self, velocity: &[f64; N]) -> bool {
                <$law>::sticks(self, velocity)
            }
        }
    };
}
baseline!(Karnopp<f64>);
baseline!(Quinn<f64>);

impl Baseline for MartinsOden<f64> {
    fn force<C: Curve<f64>, const N: usize>(&self, curve: &C, slip: &Slip<f64, N>, _applied: [f64; N]) -> [f64; N] {
        self.respond(curve, slip, &[], 0.0, &mut [])
    }
    fn sticks<const N: usize>(&self, velocity: &[f64; N]) -> bool {
        stickslip_core::scalar::vector::norm(*velocity) <= self.epsilon
    }
}

/// Frictions of a baseline law.
#[derive(Clone, Debug)]
pub struct Baselines<L, const N: usize>(pub Frictions<L, N>);

impl<L: Baseline + 'static, const N: usize> Resolve for Baselines<L, N> {
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.0
            .begin_with(view, seen, |friction, slip| friction.law.sticks(&slip.velocity));
    }

    fn resolve(&self, _stage: &mut ImplicitStage<'_>) {
        // The force was known before the step; only the outcome is noted, once all velocities are.
    }

    fn push(&self, stage: &mut ImplicitStage<'_>) {
        for friction in &self.0.0 {
            let slip = friction.slip::<N>(stage.before, stage.signals, stage.compression);
            // The applied force along the slip: h = (r₁·h₁/m₁ − r₂·h₂/m₂)/(r₁²/m₁ + r₂²/m₂), seed 000, eq 18.
            let compliance = friction.compliance();
            let share = if compliance > 0.0 {
                [friction.mobility[0] / compliance, friction.mobility[1] / compliance]
            } else {
                [0.0; 2]
            };
            let applied = std::array::from_fn(|i| {
                let force = |v: usize| stage.load[v + i] + stage.network.unseen_force(v + i, stage.before);
                share[0] * force(friction.pair.first.v) - share[1] * force(friction.pair.second.v)
            });
            let force = with_curve!(&friction.curve, |c| friction.law.force(c, &slip, applied));
            friction.pair.scatter(stage.load, &force);
            if let Some(seen) = &mut stage.seen {
                seen[friction.element] = Observation {
                    normal: slip.load,
                    ..Observation::of(&force, &slip.velocity)
                };
            }
        }
    }

    fn regather(&self, state: &[f64], seen: &mut [Observation]) {
        self.0.regather_all(state, seen);
        // The mode follows the velocity at the end of the step.
        for friction in &self.0.0 {
            let velocity = friction.pair.velocity::<N>(state);
            seen[friction.element].mode = Mode::stuck(friction.law.sticks(&velocity));
        }
    }

    fn size(&self) -> (usize, usize) {
        (self.0.0.len(), N)
    }

    fn pair(&self, index: usize) -> &Pair {
        &self.0.0[index].pair
    }

    fn curve(&self, index: usize) -> &SteadyCurve {
        &self.0.0[index].curve
    }

    fn couples(&self) -> bool {
        false
    }

    fn couple(&mut self, _index: usize) {}

    fn block(&self, _index: usize, _view: &ImplicitView<'_>) -> Block {
        Block::Dry {
            holding: 0.0,
            kinetic: 0.0,
            was_stuck: false,
        }
    }

    fn settle(&self, _: usize, _: &mut ImplicitStage<'_>, _: &[f64], _: &[f64], _: bool) {}
}

/// A bristle law whose parameters can be written in another kind of number, for its tangent.
pub trait Lift: Bristle<f64> {
    /// The law with dual numbers of `N` derivatives.
    type Dual<const N: usize>: Bristle<Dual<f64, N>>;
    /// The same parameters, with zero derivatives.
    fn lift<const N: usize>(&self) -> Self::Dual<N>;
}

impl<const STAGED: bool> Lift for Proxy<f64, STAGED> {
    type Dual<const N: usize> = Proxy<Dual<f64, N>, STAGED>;
    fn lift<const N: usize>(&self) -> Self::Dual<N> {
        Proxy {
            stiffness: Dual::lit(self.stiffness),
            damping: Dual::lit(self.damping),
        }
    }
}

impl Lift for Lugre<f64> {
    type Dual<const N: usize> = Lugre<Dual<f64, N>>;
    fn lift<const N: usize>(&self) -> Self::Dual<N> {
        Lugre {
            stiffness: Dual::lit(self.stiffness),
            damping: Dual::lit(self.damping),
        }
    }
}

impl Lift for Dahl<f64> {
    type Dual<const N: usize> = Dahl<Dual<f64, N>>;
    fn lift<const N: usize>(&self) -> Self::Dual<N> {
        Dahl {
            stiffness: Dual::lit(self.stiffness),
        }
    }
}

impl Lift for Subloading<f64> {
    type Dual<const N: usize> = Subloading<Dual<f64, N>>;
    fn lift<const N: usize>(&self) -> Self::Dual<N> {
        Subloading::lift(self)
    }
}

impl Lift for MartinsOden<f64> {
    type Dual<const N: usize> = MartinsOden<Dual<f64, N>>;
    fn lift<const N: usize>(&self) -> Self::Dual<N> {
        MartinsOden {
            epsilon: Dual::lit(self.epsilon),
        }
    }
}

/// The most states any bristle law keeps for one friction.
const MOST_STATES: usize = 16;

/// Bristle frictions in the implicit step: each is advanced by its own backward Euler rule, and solved with the
/// velocity at the end of the step.
#[derive(Clone, Debug)]
pub struct Bristles<L, const N: usize>(pub Frictions<L, N>);

impl<L: Lift, const N: usize> Bristles<L, N> {
    /// Force on the first body and its derivative at a slip velocity.
    fn tangent(&self, friction: &Friction<L>, view: &ImplicitView<'_>, velocity: &[f64]) -> [Dual<f64, N>; N] {
        let load = Dual::lit(friction.load.value(view.signals, view.compression));
        let slip = Slip {
            velocity: std::array::from_fn(|i| Dual::variable(velocity[i], i)),
            load,
        };
        let mut state = [Dual::lit(0.0); MOST_STATES];
        let mut next = state;
        let count = L::STATES * N;
        for (dual, &value) in state
            .iter_mut()
            .zip(&view.before[friction.state..friction.state + count])
        {
            *dual = Dual::lit(value);
        }
        let law = friction.law.lift::<N>();
        with_curve!(&friction.curve, |c| law.advance(
            c,
            &slip,
            &state[..count],
            Dual::lit(view.step),
            &mut next[..count]
        ))
    }

    /// Advances the states with the final velocity and notes the outcome.
    fn advance(&self, friction: &Friction<L>, stage: &mut ImplicitStage<'_>, velocity: [f64; N]) -> [f64; N] {
        let slip = Slip {
            velocity,
            load: friction.load.value(stage.signals, stage.compression),
        };
        let states = friction.state..friction.state + L::STATES * N;
        let before = &stage.before[states.clone()];
        let after = &mut stage.after[states];
        let force = with_curve!(&friction.curve, |c| friction
            .law
            .advance(c, &slip, before, stage.step, after));
        let stuck = with_curve!(&friction.curve, |c| friction.law.sticks(c, &slip, after));
        let stored = friction.law.stored::<N>(after);
        let carried = friction.law.carried::<N>(after, slip.load);
        friction.note(stage, &Resolved { force, velocity, stuck }, stored, carried);
        force
    }
}

impl<L: Lift + Send + Sync + 'static, const N: usize> Resolve for Bristles<L, N> {
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.0.begin_with(view, seen, |friction, slip| {
            let state = &view.before[friction.state..friction.state + L::STATES * N];
            with_curve!(&friction.curve, |c| friction.law.sticks(c, slip, state))
        });
    }

    fn resolve(&self, stage: &mut ImplicitStage<'_>) {
        for friction in &self.0.0 {
            if friction.coupled {
                continue;
            }
            // One axis: v = v̄ + W·f(v). Several axes always go through the coupled solve.
            let v_bar = friction.pair.velocity::<N>(stage.after)[0];
            let compliance = friction.compliance();
            let view = stage.view();
            let excess = |v: f64| {
                let force = self.tangent(friction, &view, &[v])[0];
                (v - v_bar - compliance * force.value, 1.0 - compliance * force.grad[0])
            };
            let velocity = [bracketed_root(excess, v_bar); N];
            let force = self.advance(friction, stage, velocity);
            friction.settle(
                stage,
                &Resolved {
                    force,
                    velocity,
                    stuck: false,
                },
            );
        }
    }

    fn regather(&self, state: &[f64], seen: &mut [Observation]) {
        self.0.regather_all(state, seen);
    }

    fn size(&self) -> (usize, usize) {
        (self.0.0.len(), N)
    }

    fn pair(&self, index: usize) -> &Pair {
        &self.0.0[index].pair
    }

    fn curve(&self, index: usize) -> &SteadyCurve {
        &self.0.0[index].curve
    }

    fn couple(&mut self, index: usize) {
        self.0.0[index].coupled = true;
    }

    fn solves_alone(&self, _index: usize) -> bool {
        N == 1
    }

    fn block(&self, _index: usize, _view: &ImplicitView<'_>) -> Block {
        Block::Smooth
    }

    fn smooth(&self, index: usize, view: &ImplicitView<'_>, velocity: &[f64], force: &mut [f64], tangent: &mut [f64]) {
        for (i, dual) in self.tangent(&self.0.0[index], view, velocity).iter().enumerate() {
            force[i] = -dual.value;
            for j in 0..N {
                tangent[i * N + j] = -dual.grad[j];
            }
        }
    }

    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, _force: &[f64], velocity: &[f64], _stuck: bool) {
        self.advance(&self.0.0[index], stage, axes(velocity));
    }
}

/// Root of a function that crosses zero upwards, from its value and slope: Newton's method inside a bracket that is
/// first widened from `start` until it holds the root.
fn bracketed_root(function: impl Fn(f64) -> (f64, f64), start: f64) -> f64 {
    let (mut at, _) = function(start);
    if at == 0.0 {
        return start;
    }
    let (mut low, mut high) = (start, start);
    let mut width = at.abs();
    for _ in 0..200 {
        if at > 0.0 {
            (low, high) = (low - width, low);
        } else {
            (low, high) = (high, high + width);
        }
        let (value, _) = function(if at > 0.0 { low } else { high });
        if value == 0.0 {
            return if at > 0.0 { low } else { high };
        }
        if (value > 0.0) != (at > 0.0) {
            break;
        }
        at = value;
        width *= 2.0;
    }
    let mut x = if start > low && start < high {
        start
    } else {
        0.5 * (low + high)
    };
    for _ in 0..200 {
        let (value, slope) = function(x);
        if value == 0.0 {
            return x;
        }
        if value > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        // The function is a difference of numbers as large as `start`: below their rounding there is nothing to find.
        if (next - x).abs() <= 2.0 * f64::EPSILON * x.abs().max(start.abs()) || next == low || next == high {
            return next;
        }
        x = next;
    }
    x
}
