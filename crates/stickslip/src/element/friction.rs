//! Friction between coordinates, for every law: one group per law and number of axes.

use super::curve::{SteadyCurve, with_curve};
use super::laws::lifted;
use super::{Elements, Mode, Observation};
use crate::network::abreast::{
    Ends, Kernel, ResolveAbreast, RespondAbreast, Vectorised, WIDTH, Wide, common, join, of_one_kind, side,
};
use crate::network::coupled::{Block, Level};
pub use crate::network::groups::Resolve;
use crate::network::implicit::{ImplicitStage, ImplicitView};
use crate::network::port::Pair;
use crate::network::rigid::overlap;
use crate::network::span::{Course, Span};
use crate::network::stage::{Coordinates, LoadSource, Stage};
use crate::network::tangent::Tangent;
use std::any::Any;
use std::ops::Range;
use stickslip_core::friction::curve::Curve;
use stickslip_core::friction::elliptic::Ellipse;
use stickslip_core::friction::{Applied, Bristle, Lift, MOST_NUMBERS, Resolved, Slip, implicit};
use stickslip_core::roots::rising;
use stickslip_core::scalar::{Dual, Mask, Real};

/// How a friction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialMode {
    /// Stuck.
    Stick,
    /// Slipping.
    Slip,
}

/// One friction between coordinates.
#[derive(Clone, Debug)]
pub struct Friction<L, R = f64> {
    /// Number of the element in the network.
    pub element: usize,
    /// What rubs on what.
    pub pair: Pair<R>,
    /// The law with its parameters.
    pub law: L,
    /// The steady curve.
    pub curve: SteadyCurve<R>,
    /// What the curve is multiplied with.
    pub load: LoadSource,
    /// The signal that says how fast that changes, where it is known and the law asks for it.
    pub load_rate: Option<usize>,
    /// Where the law's states begin in the flat state.
    pub state: usize,
    /// For the implicit step: velocity of each coordinate per force of the element, T·r/m.
    pub mobility: [R; 2],
    /// For the implicit step: solved together with others instead of on its own.
    pub coupled: bool,
}

impl<L, R: Real> Friction<L, R> {
    /// Relative velocity per force along the slip, W = T·(r₁²/m₁ + r₂²/m₂), T the step of the run.
    #[inline(always)]
    pub fn compliance(&self) -> R {
        self.pair.ratio[0] * self.mobility[0] + self.pair.ratio[1] * self.mobility[1]
    }

    #[inline(always)]
    fn slip<const N: usize>(&self, state: &[R], signals: &[R], compression: &[R]) -> Slip<R, N> {
        Slip {
            velocity: self.pair.velocity(state),
            load: self.load.value(signals, compression),
        }
    }

    /// Puts the outcome of the law into the velocities. A stuck velocity is assigned, not computed: exactly that of
    /// the partner where the partner's motion is given, else one common value. `share` is that of the step which is done.
    #[inline(always)]
    pub(crate) fn settle<const N: usize>(&self, after: &mut [R], outcome: &Resolved<R, N>, share: R) {
        let [first, second] = [self.pair.first.v, self.pair.second.v];
        let [r1, r2] = self.pair.ratio;
        let partner_given = self.mobility[1].same(R::zero()).all();
        for i in 0..N {
            if partner_given {
                let partner = r2 * after[second + i];
                after[first + i] = (outcome.velocity[i] + partner) * self.pair.inverse_ratio[0];
            } else {
                after[first + i] += share * self.mobility[0] * outcome.force[i];
                let moved = r1 * after[first + i];
                after[second + i] = (moved - outcome.velocity[i]) * self.pair.inverse_ratio[1];
            }
        }
    }
}

impl<L> Friction<L> {
    /// The same friction with its law made into another.
    pub(crate) fn with<M>(self, change: impl FnOnce(L) -> M) -> Friction<M> {
        Friction {
            element: self.element,
            pair: self.pair,
            law: change(self.law),
            curve: self.curve,
            load: self.load,
            load_rate: self.load_rate,
            state: self.state,
            mobility: self.mobility,
            coupled: self.coupled,
        }
    }

    /// Whether the load is the force of another element, which varies with what moves that.
    fn follows_element(&self) -> bool {
        matches!(self.load, LoadSource::Element(_))
    }

    /// Notes what the friction did in the step, if anybody asks; its force then also joins the loads, which tell the
    /// work of drivers.
    #[inline(always)]
    pub(crate) fn note<const N: usize>(
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

    /// Frictions of several networks as one, with their laws side by side; none if they differ in more than numbers.
    fn abreast<M>(each: &[&Self; WIDTH], laws: impl Fn(&[&L; WIDTH]) -> Option<M>) -> Option<Friction<M, Wide>> {
        common(each, |one| one.mobility[1] == 0.0)?;
        let mobility = |i: usize| side(each, move |one| one.mobility[i]);
        Some(Friction {
            element: common(each, |one| one.element)?,
            pair: Pair::abreast(each.map(|one| &one.pair))?,
            law: laws(&each.map(|one| &one.law))?,
            curve: SteadyCurve::abreast(each.map(|one| &one.curve))?,
            load: common(each, |one| one.load)?,
            load_rate: common(each, |one| one.load_rate)?,
            state: common(each, |one| one.state)?,
            mobility: [mobility(0), mobility(1)],
            coupled: common(each, |one| one.coupled)?,
        })
    }
}

/// Frictions of one law.
#[derive(Clone, Debug)]
pub struct Frictions<L, const N: usize, R = f64>(pub Vec<Friction<L, R>>);

impl<L, const N: usize> Frictions<L, N> {
    pub(crate) fn begin_with(
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

    pub(crate) fn regather_all(&self, state: &[f64], seen: &mut [Observation]) {
        for friction in &self.0 {
            friction.pair.regather::<N>(state, &mut seen[friction.element]);
        }
    }
}

impl<R: Real, L: Bristle<R>, const N: usize> Frictions<L, N, R> {
    #[inline(always)]
    pub(crate) fn act(
        &self,
        mut at: Coordinates<'_, R>,
        mut note: impl FnMut(&Friction<L, R>, &Slip<R, N>, &[R], &[R; N]),
    ) {
        for friction in &self.0 {
            let (slip, force) = friction.answer::<N>(&mut at);
            let state = &at.state[friction.state..friction.state + L::STATES * N];
            note(friction, &slip, state, &force);
        }
    }
}

impl<R: Real, L: Bristle<R>> Friction<L, R> {
    /// The law's answer to the motion, its force scattered and the rates of its states written.
    #[inline(always)]
    fn answer<const N: usize>(&self, at: &mut Coordinates<'_, R>) -> (Slip<R, N>, [R; N]) {
        let slip = self.slip::<N>(at.state, at.signals, at.compression);
        let states = self.state..self.state + L::STATES * N;
        let state = &at.state[states.clone()];
        let rate = &mut at.rate[states];
        let load_rate = self.load_rate.map_or(R::zero(), |signal| at.signals[signal]);
        let tau = if L::SETTLES { at.settling } else { at.tau };
        let force = with_curve!(&self.curve, |c| self
            .law
            .respond_to_changing_load(c, &slip, load_rate, state, tau, rate));
        self.pair.scatter(at.load, &force);
        (slip, force)
    }
}

impl<L: Bristle<Wide>, const N: usize> Kernel<Coordinates<'_, Wide>> for Frictions<L, N, Wide> {
    #[inline(always)]
    fn run(&self, at: Coordinates<'_, Wide>) {
        self.act(at, |_, _, _, _| ());
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
        let law = lifted::<L, N>(&friction.law);
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
            let mut state = [Dual::lit(0.0); MOST_NUMBERS];
            let mut rate = state;
            for (i, dual) in state[..count].iter_mut().enumerate() {
                *dual = vary(by == Some(i / N), tangent.state[friction.state + i], i % N);
            }
            let force = law.respond_to_changing_load(
                &friction.curve,
                &slip,
                load_rate,
                &state[..count],
                Dual::lit(0.0),
                &mut rate[..count],
            );
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
    /// What is known of the mean velocity of a step before its end: by velocities, as a change of position far from 0 would be
    /// rounding.
    #[inline(always)]
    fn known_velocity<const N: usize>(&self, span: &Span<'_>) -> [f64; N] {
        let start = self.pair.velocity::<N>(span.before);
        let other = self.pair.velocity::<N>(span.other);
        std::array::from_fn(|i| span.weights[0] * start[i] + span.weights[1] * other[i])
    }

    /// Force and states at the end of a step with the rates of its start, as functions of the slip velocity, linearised at
    /// that of the start (Ozaki, Hashiguchi and Chen 2007, eqs 26 and 33).
    fn linearised<const N: usize>(
        &self,
        load: f64,
        load_rate: f64,
        start: [f64; N],
        before: &[f64],
        step: f64,
    ) -> ([Dual<f64, N>; N], [Dual<f64, N>; MOST_NUMBERS]) {
        let slip = Slip {
            velocity: std::array::from_fn(|i| Dual::variable(start[i], i)),
            load: Dual::lit(load),
        };
        let count = before.len();
        let mut state = [Dual::lit(0.0); MOST_NUMBERS];
        let mut rate = state;
        for (dual, &value) in state.iter_mut().zip(before) {
            *dual = Dual::lit(value);
        }
        let (law, step) = (lifted::<L, N>(&self.law), Dual::lit(step));
        let stage = if L::SETTLES { step } else { Dual::lit(0.0) };
        let respond = |state: &[Dual<f64, N>], rate: &mut [Dual<f64, N>]| {
            law.respond_to_changing_load(&self.curve, &slip, Dual::lit(load_rate), state, stage, rate)
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
        self.act(stage.coordinates(), |_, _, _, _| ());
    }

    fn abreast(&self, all: &[&dyn Elements; WIDTH]) -> Option<RespondAbreast> {
        if !L::LANES {
            return None;
        }
        let all = of_one_kind::<Frictions<L, 1>>(all.map(|group| group as &dyn Any))?;
        abreast(all.map(|own| &own.0))
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.act(stage.coordinates(), |friction, slip, state, force| {
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
                friction.answer::<N>(&mut stage.coordinates());
                continue;
            }
            let load = friction.load.value(stage.signals, stage.compression);
            let load_rate = friction.load_rate.map_or(0.0, |signal| stage.signals[signal]);
            let start = friction.pair.velocity::<N>(span.before);
            let end = friction.pair.velocity::<N>(stage.state);
            let states = friction.state..friction.state + L::STATES * N;
            let before = &span.before[states.clone()];
            let mut next = [0.0; MOST_NUMBERS];
            let force = if span.course == Course::Linear {
                let (force, states) = friction.linearised::<N>(load, load_rate, start, before, span.step);
                let along =
                    |dual: &Dual<f64, N>| (0..N).fold(dual.value, |sum, i| sum + dual.grad[i] * (end[i] - start[i]));
                for (next, dual) in next.iter_mut().zip(&states) {
                    *next = along(dual);
                }
                std::array::from_fn(|i| along(&force[i]))
            } else {
                if span.course == Course::Mapped {
                    next[..L::STATES * N].copy_from_slice(&stage.state[states.clone()]);
                }
                let known = friction.known_velocity::<N>(span);
                let velocity = std::array::from_fn(|i| known[i] + span.weights[2] * end[i]);
                let slip = Slip { velocity, load };
                let next = &mut next[..L::STATES * N];
                let curve = &friction.curve;
                (friction.law).advance_to(curve, &slip, end, load_rate, before, span.step, next)
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
            if span.course == Course::Mapped && !friction.law.maps::<N>() {
                Self::differentiate(friction, tangent);
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
                let known = friction.known_velocity::<N>(span);
                let weight = Dual::lit(span.weights[2]);
                let slip = Slip {
                    velocity: std::array::from_fn(|i| Dual::lit(known[i]) + weight * end[i]),
                    load: Dual::lit(load),
                };
                let mut state = [Dual::lit(0.0); MOST_NUMBERS];
                let mut next = state;
                for (dual, &value) in state.iter_mut().zip(before) {
                    *dual = Dual::lit(value);
                }
                let count = before.len();
                if span.course == Course::Mapped {
                    for (dual, &value) in next[..count].iter_mut().zip(&tangent.state[friction.state..]) {
                        *dual = Dual::lit(value);
                    }
                }
                let (law, load_rate) = (lifted::<L, N>(&friction.law), Dual::lit(load_rate));
                let (state, next, step) = (&state[..count], &mut next[..count], Dual::lit(span.step));
                law.advance_to(&friction.curve, &slip, end, load_rate, state, step, next)
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

/// The law `implicit`; it has no parameter. `approximate` chooses the paper on model P, eq 16 in place of eq 14, for comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Implicit {
    /// Use the approximation of eq 16.
    pub approximate: bool,
    /// Stronger across a direction than along it; on two axes only.
    pub ellipse: Option<Ellipse<f64>>,
}

/// Reads a slice as a vector of `N` axes.
#[inline(always)]
fn axes<const N: usize>(values: &[f64]) -> [f64; N] {
    std::array::from_fn(|i| values[i])
}

impl<R: Real> Friction<Implicit, R> {
    /// The step of a friction that is alone on its bodies: velocities and memory at its end, and the outcome.
    #[inline(always)]
    fn solve<const N: usize>(&self, before: &[R], after: &mut [R], load: R, share: R) -> Resolved<R, N> {
        let v_bar = self.pair.velocity::<N>(after);
        let was_stuck = !before[self.state].same(R::zero());
        let compliance = share * self.compliance();
        let outcome = match &self.curve {
            SteadyCurve::Stribeck(c) if c.is_coulomb() => {
                implicit::resolve_constant(v_bar, compliance, c.kinetic * load)
            }
            curve if self.law.approximate => {
                with_curve!(curve, |c| implicit::resolve_approximate(
                    c, load, v_bar, compliance, was_stuck
                ))
            }
            curve => with_curve!(curve, |c| implicit::resolve(c, load, v_bar, compliance, was_stuck)),
        };
        self.settle(after, &outcome, share);
        after[self.state] = R::select(outcome.stuck, R::one(), R::zero());
        outcome
    }
}

impl Friction<Implicit> {
    /// The step of an elliptic friction between bodies whose motion is given; any other goes through the coupled solve.
    fn slide<const N: usize>(
        &self,
        ellipse: &Ellipse<f64>,
        before: &[f64],
        after: &mut [f64],
        load: f64,
    ) -> Resolved<f64, N> {
        let velocity = self.pair.velocity::<N>(after);
        let was_stuck = before[self.state] != 0.0;
        let seen = ellipse.scaled(velocity);
        let outcome = with_curve!(&self.curve, |c| implicit::resolve(c, load, seen, 0.0, was_stuck));
        after[self.state] = f64::from(u8::from(outcome.stuck));
        Resolved {
            force: ellipse.scaled(outcome.force),
            velocity,
            stuck: outcome.stuck,
        }
    }
}

impl<const N: usize> Kernel<Ends<'_, Wide>> for Frictions<Implicit, N, Wide> {
    #[inline(always)]
    fn run(&self, at: Ends<'_, Wide>) {
        for friction in &self.0 {
            let load = friction.load.value(at.signals, at.compression);
            friction.solve::<N>(at.before, at.after, load, Wide::one());
        }
    }
}

impl<const N: usize> Resolve for Frictions<Implicit, N> {
    fn remember(&self, state: &mut [f64], changed: &Range<usize>) {
        for friction in &self.0 {
            let mut ends = [friction.pair.first, friction.pair.second]
                .map(|end| end.v..end.v + N)
                .into_iter();
            if ends.any(|end| overlap(&end, changed)) {
                let rest = friction.pair.velocity::<N>(state).iter().all(|v| *v == 0.0);
                state[friction.state] = f64::from(u8::from(rest));
            }
        }
    }

    fn abreast(&self, all: &[&dyn Resolve; WIDTH]) -> Option<ResolveAbreast> {
        let all = of_one_kind::<Frictions<Implicit, 1>>(all.map(|group| group as &dyn Any))?;
        let frictions = join(all.map(|own| &own.0), |each| {
            Friction::abreast(each, |laws| {
                let approximate = common(laws, |law| law.approximate)?;
                Some(Implicit {
                    approximate,
                    ellipse: None,
                })
            })
        })?;
        Some(Box::new(Vectorised(Frictions::<_, 1, Wide>(frictions))))
    }

    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.begin_with(view, seen, |friction, _| view.before[friction.state] != 0.0);
    }

    fn resolve(&self, stage: &mut ImplicitStage<'_>) {
        for friction in &self.0 {
            if friction.coupled {
                continue;
            }
            let load = friction.load.value(stage.signals, stage.compression);
            let outcome = match friction.law.ellipse {
                Some(ellipse) if N == 2 => friction.slide::<N>(&ellipse, stage.before, stage.after, load),
                _ => friction.solve::<N>(stage.before, stage.after, load, stage.share),
            };
            friction.note(stage, &outcome, 0.0, 0.0);
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

    fn ellipse(&self, index: usize) -> Option<&Ellipse<f64>> {
        self.0[index].law.ellipse.as_ref()
    }

    fn solves_alone(&self, index: usize) -> bool {
        self.0[index].law.ellipse.is_none()
    }

    fn couple(&mut self, index: usize) {
        self.0[index].coupled = true;
    }

    fn block(&self, index: usize, view: &ImplicitView<'_>) -> Block {
        let friction = &self.0[index];
        let load = friction.load.value(view.signals, view.compression);
        let was_stuck = view.before[friction.state] != 0.0;
        with_curve!(&friction.curve, |c| {
            let holding = Level::new(c.holding(load), c.holding_backward(load));
            if Curve::<f64>::constant(c) {
                Block::Dry {
                    holding,
                    kinetic: Level::new(c.dry(0.0, load), c.dry_backward(0.0, load)),
                    was_stuck,
                }
            } else {
                Block::Curve { holding, was_stuck }
            }
        })
    }

    fn steady(&self, index: usize, view: &ImplicitView<'_>, speed: f64) -> (Level, Level) {
        let friction = &self.0[index];
        let load = friction.load.value(view.signals, view.compression);
        with_curve!(&friction.curve, |c| {
            let viscous = Curve::<f64>::viscous(c);
            let both = |forward: f64, backward: f64| (0.5 * (forward + backward), 0.5 * (backward - forward));
            let level = Level::new(c.total(speed, load), c.dry_backward(speed, load) + viscous * speed);
            let (limit, bias) = both(c.slope(speed, load) + viscous, c.slope_backward(speed, load) + viscous);
            match level.limit > 0.0 {
                true => (level, Level { limit, bias }),
                false => (level, Level::default()),
            }
        })
    }

    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], stuck: bool) {
        let friction = &self.0[index];
        stage.after[friction.state] = f64::from(u8::from(stuck));
        let (mut force, mut velocity) = (axes(force), axes(velocity));
        if let Some(ellipse) = &friction.law.ellipse {
            (force, velocity) = (ellipse.scaled(force), ellipse.unscaled(velocity));
        }
        let outcome = Resolved { force, velocity, stuck };
        friction.note::<N>(stage, &outcome, 0.0, 0.0);
    }
}

/// Frictions that follow from the velocity at the start of the step and the applied force.
#[derive(Clone, Debug)]
pub struct Baselines<L, const N: usize>(pub Frictions<L, N>);

impl<L: Applied, const N: usize> Resolve for Baselines<L, N> {
    fn begin(&self, view: &ImplicitView<'_>, seen: &mut [Observation]) {
        self.0
            .begin_with(view, seen, |friction, slip| friction.law.sticks(&friction.curve, slip));
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
            let noted = &mut seen[friction.element];
            let slip = Slip {
                velocity: friction.pair.velocity::<N>(state),
                load: noted.normal,
            };
            noted.mode = Mode::stuck(friction.law.sticks(&friction.curve, &slip));
        }
    }

    fn size(&self) -> (usize, usize) {
        (self.0.0.len(), N)
    }

    fn pair(&self, index: usize) -> &Pair {
        &self.0.0[index].pair
    }

    fn couples(&self) -> bool {
        false
    }

    fn couple(&mut self, _index: usize) {}

    fn block(&self, _index: usize, _view: &ImplicitView<'_>) -> Block {
        Block::Dry {
            holding: Level::default(),
            kinetic: Level::default(),
            was_stuck: false,
        }
    }

    fn settle(&self, _: usize, _: &mut ImplicitStage<'_>, _: &[f64], _: &[f64], _: bool) {}
}

/// Frictions on one axis side by side.
fn abreast<L: Lift + 'static>(frictions: [&Vec<Friction<L>>; WIDTH]) -> Option<RespondAbreast> {
    let laws = |laws: &[&L; WIDTH]| Some(laws[0].lift(|get| side(laws, get)));
    let frictions = join(frictions, |each| Friction::abreast(each, laws))?;
    Some(Box::new(Vectorised(Frictions::<_, 1, Wide>(frictions))))
}

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
        let mut state = [Dual::lit(0.0); MOST_NUMBERS];
        let mut next = state;
        let count = L::STATES * N;
        for (dual, &value) in state
            .iter_mut()
            .zip(&view.before[friction.state..friction.state + count])
        {
            *dual = Dual::lit(value);
        }
        let law = lifted::<L, N>(&friction.law);
        law.advance(
            &friction.curve,
            &slip,
            &state[..count],
            Dual::lit(view.step),
            &mut next[..count],
        )
    }

    /// Advances the states with the final velocity and notes the outcome. `acted` is the force that the coupled solve found: with laws in the
    /// middle of the step it is not the one that belongs to the states at its end, and the ledger counts what acted.
    fn advance(
        &self,
        friction: &Friction<L>,
        stage: &mut ImplicitStage<'_>,
        velocity: [f64; N],
        acted: Option<[f64; N]>,
    ) -> [f64; N] {
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
        let force = acted.unwrap_or(force);
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
            // v = v̄ + W·f(v): given where nothing can move, as between a driver and the ground; else on one axis, as several
            // always go through the coupled solve.
            let v_bar = friction.pair.velocity::<N>(stage.after);
            let compliance = stage.share * friction.compliance();
            let view = stage.view();
            let excess = |v: f64| {
                let force = self.tangent(friction, &view, &[v; N])[0];
                (
                    v - v_bar[0] - compliance * force.value,
                    1.0 - compliance * force.grad[0],
                )
            };
            let velocity = if compliance == 0.0 {
                v_bar
            } else {
                [rising(excess, v_bar[0]); N]
            };
            let force = self.advance(friction, stage, velocity, None);
            friction.settle(
                stage.after,
                &Resolved {
                    force,
                    velocity,
                    stuck: false,
                },
                stage.share,
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

    fn settle(&self, index: usize, stage: &mut ImplicitStage<'_>, force: &[f64], velocity: &[f64], _stuck: bool) {
        self.advance(&self.0.0[index], stage, axes(velocity), Some(axes(force)));
    }
}
