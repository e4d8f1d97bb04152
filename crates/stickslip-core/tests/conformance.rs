//! Every law of the registry keeps the promises it declares, and a documented example shows why it does not declare the
//! others. A new row without a harness here fails.
#![allow(missing_docs)]

mod block;

use block::{Block, BristleCheck, Noise, Rule, axes};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stickslip_core::contact::Normal;
use stickslip_core::contact::hunt_crossley::HuntCrossley;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::contact::proxy;
use stickslip_core::contact::relaxed::Relaxed;
use stickslip_core::contact::rigid;
use stickslip_core::friction::curve::Stribeck;
use stickslip_core::friction::{Bristle, FrictionLaw, Slip};
use stickslip_core::registry::{self, Family, LAWS, Law, Properties};
use stickslip_core::scalar::vector::{add, dot, norm, scale, sub};

/// What a check found.
type Verdict = Result<(), String>;

fn ensure(truth: bool, message: impl FnOnce() -> String) -> Verdict {
    if truth { Ok(()) } else { Err(message()) }
}

/// A property: its name, whether a row declares it, and how it is checked on one friction.
type Property<T> = (&'static str, fn(&Properties) -> bool, fn(&T) -> Verdict);

const FRICTION: &[Property<Case>] = &[
    ("holds_exactly", |p| p.holds_exactly, holds_exactly),
    ("holds_elastically", |p| p.holds_elastically, holds_elastically),
    ("bounded", |p| p.bounded, bounded),
    ("passive", |p| p.passive, passive),
    ("odd", |p| p.odd, odd),
    ("isotropic", |p| p.isotropic, isotropic),
];

const CONTACT: &[Property<Fall>] = &[
    ("holds_exactly", |p| p.holds_exactly, contact_holds_exactly),
    ("holds_elastically", |p| p.holds_elastically, contact_holds_elastically),
    ("bounded", |p| p.bounded, contact_bounded),
    ("passive", |p| p.passive, contact_passive),
    ("odd", |p| p.odd, contact_odd),
    ("isotropic", |p| p.isotropic, contact_isotropic),
];

fn of(family: Family) -> impl Iterator<Item = &'static Law> {
    LAWS.iter().filter(move |law| law.family == family)
}

/// Runs a check on many random instances.
fn prove<T: std::fmt::Debug>(what: &str, instances: impl Strategy<Value = T>, check: fn(&T) -> Verdict) {
    let config = Config {
        cases: 96,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&instances, |instance| check(&instance).map_err(TestCaseError::fail));
    if let Err(error) = outcome {
        panic!("{what}: {error}");
    }
}

#[test]
fn friction_laws_keep_what_they_declare() {
    for law in of(Family::Friction) {
        assert!(
            Rule::named(law.name, 1.0, 1e-3, 1.0, 1.0).is_some(),
            "the friction law {} has no harness: add it to tests/block",
            law.name
        );
        for (property, declared, check) in FRICTION {
            if declared(&law.properties) {
                prove(&format!("{} {property}", law.name), case(law), *check);
            }
        }
    }
}

#[test]
fn friction_laws_break_what_they_do_not_declare() {
    for law in of(Family::Friction) {
        for (property, declared, check) in FRICTION {
            if !declared(&law.properties) {
                assert!(
                    counterexamples(law.name).iter().any(|example| check(example).is_err()),
                    "{} does not declare {property}, but keeps it in all examples: declare it, or add one that shows why not",
                    law.name
                );
            }
        }
    }
}

#[test]
fn contact_laws_keep_what_they_declare_and_break_the_rest() {
    for law in of(Family::Contact) {
        let Some(contact) = Contact::named(law.name) else {
            panic!("the contact law {} has no harness", law.name);
        };
        for (property, declared, check) in CONTACT {
            if declared(&law.properties) {
                prove(&format!("{} {property}", law.name), fall(contact), *check);
            } else {
                assert!(
                    check(&Fall::example(contact)).is_err(),
                    "{} does not declare {property}, but keeps it in the example",
                    law.name
                );
            }
        }
    }
}

/// Without normal force there is no friction, whatever the state; with it, long sliding at one speed gives the steady
/// curve.
#[test]
fn every_friction_law_follows_load_and_curve() {
    let curve = Stribeck::new(2.0, 3.0, 0.0, Some(0.02), 2.0);
    for law in of(Family::Friction) {
        let rule = Rule::named(law.name, 1.0, 1e-3, 2.0, 1.0).unwrap();
        let mut block = Block::new(rule, curve, 1.0, 1e-3, [0.01, 0.02, -0.03]);
        block.bristle = [1e-5, 2e-5, -4e-5];
        block.load = 0.0;
        let did = block.step([1.0, 2.0, 3.0]);
        assert!(did.force == [0.0; 3], "{} without load: {:?}", law.name, did.force);

        // A push that balances g(0.01) keeps the speed; exp(−¼) = 0.7788007830714049.
        let steady = match rule {
            // A law with its own: h·v = g (seed 003, eq 16).
            Rule::Subloading(law) => {
                let (fall, rise) = (law.kappa * 0.01, law.eta);
                (fall + rise) / (fall / law.mu_kinetic + rise / law.mu_static)
            }
            _ => 2.0 + 0.778_800_783_071_404_9,
        };
        let mut block = Block::new(rule, curve, 1e12, 1e-3, [0.01]);
        let mut force = 0.0;
        for _ in 0..30_000 {
            force = block.step([steady]).force[0];
        }
        assert!((force + steady).abs() < 1e-8, "{} slides with {force}", law.name);
    }
}

/// Pulled from rest, Dahl's bristle follows f = F·(1 − exp(−K·x/F)).
#[test]
fn dahl_yields_exponentially() {
    let (limit, stiffness, step, speed) = (2.0, 1000.0, 1e-4, 0.01);
    let rule = Rule::Dahl(stickslip_core::friction::dahl::Dahl { stiffness });
    let mut block = Block::new(rule, Stribeck::coulomb(limit), 1e12, step, [speed]);
    for k in 0..10_000 {
        block.step([0.0]);
        let way = speed * step * f64::from(k + 1);
        let expected = limit * (1.0 - (-stiffness * way / limit).exp());
        assert!((stiffness * block.bristle[0] - expected).abs() < 1e-9);
    }
}

// ---- Friction -------------------------------------------------------------------------------------------------------

/// A block on the ground and what happens to it.
#[derive(Clone, Copy, Debug)]
struct Case {
    rule: Rule,
    curve: Stribeck<f64>,
    mass: f64,
    step: f64,
    /// Velocity at the start.
    velocity: [f64; 3],
    /// Applied force, shorter than the kinetic limit.
    push: [f64; 3],
    /// Where random numbers come from.
    seed: u64,
}

impl Case {
    /// The velocity that friction changes in a step: T·F/M.
    fn kick(&self) -> f64 {
        self.step * self.curve.kinetic / self.mass
    }

    fn block<const N: usize>(&self) -> Block<N> {
        Block::new(self.rule, self.curve, self.mass, self.step, axes(self.velocity))
    }
}

/// A number over several decades.
fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

fn direction() -> impl Strategy<Value = [f64; 3]> {
    any::<u64>().prop_map(|seed| {
        let mut noise = Noise(seed);
        let x = noise.vector::<3>();
        scale(x, 1.0 / norm(x).max(1e-3))
    })
}

/// Random blocks with this law. Velocities are measured in T·F/M, which is what the laws see; masses, steps and limits
/// range over decades.
fn case(law: &'static Law) -> impl Strategy<Value = Case> {
    let scales = (decades(1e-3, 1e3), decades(1e-5, 2e-2), decades(1e-3, 1e3));
    let curve = (
        prop_oneof![Just(1.0), 1.0..2.0],
        prop_oneof![Just(0.0), 0.0..0.5],
        prop_oneof![Just(None), decades(0.5, 50.0).prop_map(Some)],
        0.5..3.0,
    );
    let motion = (direction(), 0.0..50.0, direction(), 0.0..0.97);
    (scales, curve, motion, decades(0.05, 5.0), any::<u64>()).prop_map(
        |((mass, step, kinetic), (ratio, viscous, stribeck, exponent), (along, speed, towards, share), width, seed)| {
            let kick = step * kinetic / mass;
            // Laws without stick memory take a higher static limit only with a Stribeck velocity.
            let ratio = if law.needs_stribeck && stribeck.is_none() {
                1.0
            } else {
                ratio
            };
            Case {
                rule: Rule::named(law.name, mass, step, kinetic, width).unwrap(),
                curve: Stribeck::new(
                    kinetic,
                    ratio * kinetic,
                    viscous * mass / step,
                    stribeck.map(|v: f64| v * kick),
                    exponent,
                ),
                mass,
                step,
                velocity: scale(along, speed * kick),
                push: scale(towards, share * kinetic),
                seed,
            }
        },
    )
}

/// Examples, of which one at least must break each property that a law does not declare.
fn counterexamples(law: &str) -> Vec<Case> {
    let (mass, step, limit) = (1.0, 1e-3, 10.0);
    let kick = step * limit / mass;
    let example = |width: f64, velocity: f64, push: f64| Case {
        rule: Rule::named(law, mass, step, limit, width).unwrap(),
        curve: Stribeck::coulomb(limit),
        mass,
        step,
        velocity: [velocity * kick, 0.0, 0.0],
        push: [push * limit, 0.0, 0.0],
        seed: 1,
    };
    vec![
        // Inside its band Karnopp's model balances the load and lets the velocity be: it creeps for ever, and a load
        // against the creep makes the friction do work.
        example(1.0, 0.5, 0.5),
        example(10.0, 0.5, -0.5),
        // Quinn's model halves the velocity in every step: it never becomes 0.
        example(2.0, 10.0, 0.5),
        // With ε far below T·F/M it chatters between ±F, and under a load the chatter has a mean.
        example(0.01, 0.25, 0.5),
        // It reverses the velocity within a step, pushing on beyond zero (seed 000, Fig. 10).
        example(1.0, -0.3, 0.9),
        // Viscosity near zero: v = ε·h/F under any load. A bristle that yields below the limit does so more in the direction of the mean
        // load. One that only wears down by sliding stays above the limit where the normal force falls.
        example(1.0, 0.0, 0.5),
        // The force of v_{k−1} acts on v_k: with ε < T·F/M it pushes the block across zero.
        example(0.1, 0.3, 0.0),
        // A bristle vibrates before it comes to rest.
        example(1.0, 10.0, 0.5),
        // On a falling curve LuGre's bristle unloads while sliding on: B·ė then pushes.
        Case {
            curve: Stribeck::new(limit, 3.0 * limit, 0.0, Some(kick), 2.0),
            ..example(1.0, 0.0, 0.5)
        },
    ]
}

/// A block that has come to rest under a load below the limit has exactly zero velocity.
fn holds_exactly(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        let mut block = case.block::<N>();
        let push = axes(case.push);
        // The limit beats the load by at least F − h: it stops the block within M·v₀/(F − h).
        let rest = case.curve.kinetic - norm(push);
        let steps = (case.mass * norm(block.velocity) / (rest * case.step)).ceil() as usize + 2;
        for _ in 0..steps {
            block.step(push);
        }
        let place = block.position;
        for _ in 0..300 {
            let did = block.step(push);
            ensure(block.velocity == [0.0; N] && block.position == place, || {
                format!("on {N} axes v = {:?} after {steps} steps", block.velocity)
            })?;
            let balance = norm(add(did.force, push));
            ensure(balance <= 1e-14 * norm(push), || {
                format!("the friction is off the load by {balance}")
            })?;
        }
        Ok(())
    }
    axes_of::<1>(case)?;
    axes_of::<2>(case)?;
    axes_of::<3>(case)
}

/// Under a load that oscillates slowly below the limit a block stays where it is, but for an elastic motion that comes
/// back: the mean position of a period does not change over twenty periods.
fn holds_elastically(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        const PERIOD: usize = 400;
        let mut block = case.block::<N>();
        let mean = scale(axes(case.push), 0.5);
        let mut turned = mean;
        turned.rotate_right(1);
        let mut early = [0.0; N];
        let mut late = [0.0; N];
        // Long enough to stop from 50 T·F/M against half the limit, and for the bristle to settle.
        let settling = 2 * PERIOD;
        for k in 0..settling + 22 * PERIOD {
            let ramp = (k as f64 / settling as f64).min(1.0);
            let phase = std::f64::consts::TAU * k as f64 / PERIOD as f64;
            let swing = scale(turned, 0.7 * phase.sin());
            block.step(scale(add(mean, swing), ramp));
            match (k / PERIOD).checked_sub(2) {
                Some(1) => early = add(early, scale(block.position, 1.0 / PERIOD as f64)),
                Some(21) => late = add(late, scale(block.position, 1.0 / PERIOD as f64)),
                _ => {}
            }
        }
        // Compared with T·(T·F/M), the way friction changes within a step: the scale of the presliding F/K, too.
        let drift = norm(sub(late, early)) / (case.step * case.kick());
        let rounding = 1e-13 * norm(early) / (case.step * case.kick());
        ensure(drift <= 1e-6 + rounding, || {
            format!("on {N} axes the mean moved by {drift} T²F/M")
        })
    }
    axes_of::<1>(case)?;
    axes_of::<2>(case)?;
    axes_of::<3>(case)
}

/// Random forces up to three times the limit, with a normal force that changes and sometimes vanishes.
fn shake<const N: usize>(case: &Case, mut see: impl FnMut(&mut Block<N>, [f64; N]) -> Verdict) -> Verdict {
    let mut block = case.block::<N>();
    let mut noise = Noise(case.seed);
    let mut push = [0.0; N];
    for k in 0..300 {
        if k % 10 == 0 {
            push = add(
                axes(case.push),
                scale(noise.vector(), 3.0 * noise.next() * case.curve.kinetic),
            );
            let load = 1.0 + noise.next();
            block.load = if load < 0.4 { 0.0 } else { load };
        }
        see(&mut block, push)?;
    }
    Ok(())
}

/// The friction never exceeds its limit: exactly on one axis, to rounding otherwise or where the curve is not constant.
fn bounded(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        let exact = N == 1 && case.curve.kinetic == case.curve.holding && case.curve.viscous == 0.0;
        let bound = if exact { 1.0 } else { 1.0 + 2e-15 };
        shake::<N>(case, |block, push| {
            let did = block.step(push);
            ensure(did.peak <= bound, || {
                format!("on {N} axes the force is {} of the limit", did.peak)
            })
        })
    }
    axes_of::<1>(case)?;
    axes_of::<2>(case)?;
    axes_of::<3>(case)
}

/// The work done against the law is never less than what it stores: in every step of a block where the law stores
/// nothing, and for bristles at every instant and in every step of their own backward Euler rule. (The Runge-Kutta
/// step around a bristle has its own error, which says nothing about the law.)
fn passive(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        struct Each<'c, const N: usize>(&'c Case);
        impl<const N: usize> BristleCheck<Verdict> for Each<'_, N> {
            fn of<L: FrictionLaw>(self, law: L) -> Verdict {
                let staged = registry::law(Family::Friction, L::NAME).is_some_and(|row| row.staged);
                bristle::<L, N>(self.0, law, staged)
            }
        }
        match case.rule.as_bristle(Each::<N>(case)) {
            Some(verdict) => verdict,
            None => shake::<N>(case, |block, push| {
                let did = block.step(push);
                let scale = block.step * norm(did.force) * norm(block.velocity);
                ensure(did.work >= -1e-15 * scale, || {
                    format!("on {N} axes the friction did the work {} in a step", -did.work)
                })
            }),
        }
    }
    fn bristle<L: Bristle<f64>, const N: usize>(case: &Case, law: L, staged: bool) -> Verdict {
        let step = case.step;
        let mut noise = Noise(case.seed);
        let count = L::STATES * N;
        let mut state = case.block::<N>().states();
        for _ in 0..300 {
            // Speeds from far below to far above T·F/M.
            let speed = 20.0 * case.kick() * 10f64.powf(3.0 * noise.next());
            let slip = Slip {
                velocity: scale(noise.vector::<N>(), speed),
                load: (1.0 + noise.next() * 1.2).max(0.0),
            };
            let energy = |e: [f64; 12]| law.stored::<N>(&e);

            let mut rate = [0.0; 12];
            let force = law.respond(&case.curve, &slip, &state[..count], step, &mut rate[..count]);
            let power = -dot(force, slip.velocity);
            let gain = if staged {
                // e + τ·ė is the law's own update.
                (energy(add(state, scale(rate, step))) - energy(state)) / step
            } else {
                // The stored energy is quadratic: this central difference is its rate.
                (energy(add(state, rate)) - energy(sub(state, rate))) / 2.0
            };
            let size = norm(force) * norm(slip.velocity) + energy(state) / step + energy(rate);
            ensure(power >= gain - 1e-13 * size, || {
                format!("on {N} axes stores {gain} W of {power} W")
            })?;

            let mut next = [0.0; 12];
            let force = law.advance(&case.curve, &slip, &state[..count], step, &mut next[..count]);
            let work = -step * dot(force, slip.velocity);
            let gain = energy(next) - energy(state);
            let size = step * norm(force) * norm(slip.velocity) + energy(state) + energy(next);
            ensure(work >= gain - 1e-13 * size, || {
                format!("on {N} axes stores {gain} J of {work} J")
            })?;
            state = next;
        }
        Ok(())
    }
    axes_of::<1>(case)?;
    axes_of::<2>(case)?;
    axes_of::<3>(case)
}

/// The mirrored motion is exactly the mirror of the motion.
fn odd(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        let mut mirrored = case.block::<N>();
        mirrored.velocity = scale(mirrored.velocity, -1.0);
        shake::<N>(case, |block, push| {
            mirrored.load = block.load;
            block.step(push);
            mirrored.step(scale(push, -1.0));
            let same = mirrored.others == block.others
                && scale(mirrored.velocity, -1.0) == block.velocity
                && scale(mirrored.position, -1.0) == block.position
                && scale(mirrored.bristle, -1.0) == block.bristle;
            ensure(same, || {
                format!("on {N} axes {:?} and {:?}", block.velocity, mirrored.velocity)
            })
        })
    }
    axes_of::<1>(case)?;
    axes_of::<2>(case)?;
    axes_of::<3>(case)
}

/// A random rotation, by Gram and Schmidt.
fn rotation<const N: usize>(noise: &mut Noise) -> [[f64; N]; N] {
    let mut rows = [[0.0; N]; N];
    for i in 0..N {
        loop {
            let mut row = noise.vector::<N>();
            for other in &rows[..i] {
                row = sub(row, scale(*other, dot(row, *other)));
            }
            for other in &rows[..i] {
                row = sub(row, scale(*other, dot(row, *other)));
            }
            if norm(row) > 0.1 {
                rows[i] = scale(row, 1.0 / norm(row));
                break;
            }
        }
    }
    rows
}

fn turn<const N: usize>(rotation: &[[f64; N]; N], x: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| dot(rotation[i], x))
}

/// A step of the turned block is the turned step of the block, to rounding; and along a line it is the scalar law.
fn isotropic(case: &Case) -> Verdict {
    fn axes_of<const N: usize>(case: &Case) -> Verdict {
        let mut noise = Noise(!case.seed);
        shake::<N>(case, |block, push| {
            let rotation = rotation::<N>(&mut noise);
            let before = *block;
            let mut turned = before;
            turned.velocity = turn(&rotation, before.velocity);
            turned.bristle = turn(&rotation, before.bristle);
            turned.position = turn(&rotation, before.position);
            let force = block.step(push).force;
            let turned_force = turned.step(turn(&rotation, push)).force;
            let (mass, step) = (block.mass, block.step);
            let close = |a: [f64; N], b: [f64; N], scale: f64| norm(sub(turn(&rotation, a), b)) <= 1e-11 * scale;
            let force_scale = norm(force) + norm(push) + case.curve.kinetic + mass / step * norm(before.velocity);
            let velocity_scale = force_scale * step / mass;
            ensure(
                close(force, turned_force, force_scale)
                    && close(block.velocity, turned.velocity, velocity_scale)
                    && close(
                        block.bristle,
                        turned.bristle,
                        velocity_scale * step + norm(before.bristle) + norm(block.bristle),
                    ),
                || format!("on {N} axes {force:?} turned is not {turned_force:?}"),
            )
        })
    }
    axes_of::<2>(case)?;
    axes_of::<3>(case)?;

    // Along the first axis.
    let mut straight = case.block::<1>();
    let mut wide = case.block::<3>();
    wide.velocity = [straight.velocity[0], 0.0, 0.0];
    wide.stuck = straight.stuck;
    shake::<1>(case, |block, [push]| {
        straight = *block;
        wide.velocity = [straight.velocity[0], 0.0, 0.0];
        wide.bristle = [straight.bristle[0], 0.0, 0.0];
        wide.others = straight.others;
        wide.stuck = straight.stuck;
        wide.load = straight.load;
        let one = block.step([push]).force[0];
        let three = wide.step([push, 0.0, 0.0]).force;
        let tolerance = 1e-13 * (one.abs() + push.abs() + case.curve.kinetic);
        ensure((three[0] - one).abs() <= tolerance && three[1..] == [0.0, 0.0], || {
            format!("along a line {one}, on three axes {three:?}")
        })
    })
}

// ---- Contact --------------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq)]
enum Contact {
    KelvinVoigt,
    Relaxed,
    Proxy,
    HuntCrossley,
    Rigid,
}

impl Contact {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "kelvin-voigt" => Contact::KelvinVoigt,
            "relaxed" => Contact::Relaxed,
            "proxy" => Contact::Proxy,
            "hunt-crossley" => Contact::HuntCrossley,
            "rigid" => Contact::Rigid,
            _ => return None,
        })
    }
}

/// A compliant law with its numbers.
#[derive(Clone, Copy, Debug)]
enum Compliant {
    KelvinVoigt(KelvinVoigt<f64>),
    Relaxed(Relaxed<f64>),
    Proxy(proxy::Proxy<f64>),
    HuntCrossley(HuntCrossley<f64>),
}

impl Compliant {
    /// Force and rate of the state.
    fn respond(&self, gap: f64, gap_rate: f64, state: f64, tau: f64) -> (f64, f64) {
        let mut rate = [0.0];
        let force = match self {
            Compliant::KelvinVoigt(law) => law.respond(gap, gap_rate, &[state], tau, &mut rate),
            Compliant::Relaxed(law) => law.respond(gap, gap_rate, &[state], tau, &mut rate),
            Compliant::Proxy(law) => law.respond(gap, gap_rate, &[state], tau, &mut rate),
            Compliant::HuntCrossley(law) => law.respond(gap, gap_rate, &[state], tau, &mut rate),
        };
        (force, rate[0])
    }

    fn stored(&self, gap: f64, state: f64) -> f64 {
        match self {
            Compliant::KelvinVoigt(law) => law.stored(gap, &[state]),
            Compliant::Relaxed(law) => law.stored(gap, &[state]),
            Compliant::Proxy(law) => law.stored(gap, &[state]),
            Compliant::HuntCrossley(law) => law.stored(gap, &[state]),
        }
    }
}

/// A mass above the ground.
#[derive(Clone, Copy, Debug)]
struct Fall {
    contact: Contact,
    mass: f64,
    step: f64,
    /// Force towards the ground.
    load: f64,
    restitution: f64,
    mu: f64,
    seed: u64,
}

impl Fall {
    fn example(contact: Contact) -> Self {
        Fall {
            contact,
            mass: 1.0,
            step: 1e-3,
            load: 10.0,
            restitution: 0.5,
            mu: 0.3,
            seed: 1,
        }
    }

    /// The default parameters of the registry, or such that the mass on the contact vibrates with half a radian per
    /// step and half the critical damping.
    fn compliant(&self) -> Option<Compliant> {
        let natural = 0.5 / self.step;
        let stiffness = self.mass * natural * natural;
        let damping = self.mass * natural;
        let beta = 1.0 / natural;
        Some(match self.contact {
            Contact::Rigid => return None,
            Contact::KelvinVoigt => Compliant::KelvinVoigt(KelvinVoigt { stiffness, damping }),
            Contact::Relaxed => Compliant::Relaxed(Relaxed {
                stiffness,
                beta,
                alpha: 0.5 * beta,
            }),
            Contact::Proxy => Compliant::Proxy(proxy::Proxy { stiffness, beta }),
            Contact::HuntCrossley => {
                // At the depth d of rest K·dⁿ is the load, n·load/d the stiffness and λ·load the damping.
                let exponent = 1.5;
                let depth = exponent * self.load / stiffness;
                Compliant::HuntCrossley(HuntCrossley {
                    stiffness: self.load / (depth * depth.sqrt()),
                    damping: damping / self.load,
                    exponent,
                })
            }
        })
    }

    /// The depth at which the contact carries the load.
    fn depth(&self) -> f64 {
        match self.compliant() {
            None => 0.0,
            Some(Compliant::KelvinVoigt(KelvinVoigt { stiffness, .. }))
            | Some(Compliant::Relaxed(Relaxed { stiffness, .. }))
            | Some(Compliant::Proxy(proxy::Proxy { stiffness, .. })) => self.load / stiffness,
            Some(Compliant::HuntCrossley(law)) => (self.load / law.stiffness).powf(1.0 / law.exponent),
        }
    }

    /// One step under the load from a gap, its rate and the state; the normal force and what they become.
    fn step(&self, [gap, rate, state]: [f64; 3]) -> (f64, [f64; 3]) {
        let (t, m) = (self.step, self.mass);
        let Some(law) = self.compliant() else {
            let target = if gap <= 0.0 && rate < 0.0 {
                -self.restitution * rate
            } else {
                -gap / t
            };
            let touch = rigid::resolve(rate - t * self.load / m, [0.0; 2], target, t / m, t / m, 0.0);
            let moved = [gap + t * touch.normal_velocity, touch.normal_velocity, 0.0];
            return (touch.normal, moved);
        };
        let (mut sum, mut last, mut force) = ([0.0; 3], [0.0; 3], 0.0);
        for (node, tau, weight) in [
            (0.0, 0.5, 1.0 / 6.0),
            (0.5, 0.5, 1.0 / 3.0),
            (0.5, 1.0, 1.0 / 3.0),
            (1.0, 1.0, 1.0 / 6.0),
        ] {
            let at = add([gap, rate, state], scale(last, node * t));
            let (normal, state_rate) = law.respond(at[0], at[1], at[2], tau * t);
            last = [at[1], (normal - self.load) / m, state_rate];
            sum = add(sum, scale(last, weight * t));
            force += weight * normal;
        }
        (force, add([gap, rate, state], sum))
    }
}

fn fall(contact: Contact) -> impl Strategy<Value = Fall> {
    (
        decades(1e-3, 1e3),
        decades(1e-5, 1e-2),
        decades(1e-3, 1e3),
        0.0..1.0,
        0.0..1.0,
        any::<u64>(),
    )
        .prop_map(move |(mass, step, load, restitution, mu, seed)| Fall {
            contact,
            mass,
            step,
            load,
            restitution,
            mu,
            seed,
        })
}

/// A mass lying on the ground does not move.
fn contact_holds_exactly(fall: &Fall) -> Verdict {
    let mut at = [0.0; 3];
    for _ in 0..300 {
        let normal;
        (normal, at) = fall.step(at);
        ensure(at == [0.0; 3], || format!("gap, rate and state {at:?}"))?;
        ensure((normal - fall.load).abs() <= 1e-15 * fall.load, || {
            format!("the normal force {normal} is not the load")
        })?;
    }
    Ok(())
}

/// A mass lying on the ground settles at the depth that carries the load (0 for a rigid contact) and stays there.
fn contact_holds_elastically(fall: &Fall) -> Verdict {
    let depth = fall.depth();
    let mut at = [0.0; 3];
    for k in 0..2000 {
        (_, at) = fall.step(at);
        // ζ = ½: e^(−0.25·k) of the vibration is left (relaxed: e^(−0.11·k)).
        ensure(k < 400 || (at[0] + depth).abs() <= 1e-13 * depth, || {
            format!("gap {} instead of {}", at[0], -depth)
        })?;
    }
    Ok(())
}

/// Would be: the force stays below some limit. A contact has none, it carries whatever comes.
fn contact_bounded(fall: &Fall) -> Verdict {
    let normal_of = |load: f64| {
        let fall = Fall { load, ..*fall };
        let (mut at, mut normal) = ([0.0; 3], 0.0);
        for _ in 0..300 {
            (normal, at) = fall.step(at);
        }
        normal
    };
    let (light, heavy) = (normal_of(fall.load), normal_of(1e6 * fall.load));
    ensure(heavy < 1e5 * light, || {
        format!("the force grows with the load: {light}, {heavy}")
    })
}

/// The contact gives back no more than it took.
fn contact_passive(fall: &Fall) -> Verdict {
    let mut noise = Noise(fall.seed);
    match (fall.contact, fall.compliant()) {
        // Over a whole backward Euler step: −N·Δgap ≥ the change of the stored energy, from a proxy outside the obstacle.
        (Contact::Proxy, Some(law)) => {
            for _ in 0..300 {
                let state = noise.next().abs();
                let gap = noise.next().abs() - state;
                let rate = noise.next() / fall.step;
                let (force, state_rate) = law.respond(gap, rate, state, fall.step);
                let next = state + fall.step * state_rate;
                let work = -force * rate * fall.step;
                let more = law.stored(gap + fall.step * rate, next) - law.stored(gap, state);
                ensure(force >= 0.0 && gap + fall.step * rate + next >= -1e-14, || {
                    format!("pulls or enters the obstacle: {force}")
                })?;
                ensure(work >= more - 1e-12 * (work.abs() + more.abs()), || {
                    format!("{work} J for {more} J")
                })?;
            }
            Ok(())
        }
        // At every instant −N·gap' ≥ d/dt of the stored energy, here by a central difference along the motion; dampers
        // also take power while they pull.
        (_, Some(law)) => {
            let scale = fall.depth();
            for _ in 0..300 {
                let (gap, rate) = (scale * noise.next(), scale * noise.next() / fall.step);
                let state = scale * noise.next().abs();
                let (force, state_rate) = law.respond(gap, rate, state, 0.0);
                let power = -force * rate;
                let h = 1e-5 * fall.step;
                let after = law.stored(gap + h * rate, state + h * state_rate);
                let before = law.stored(gap - h * rate, state - h * state_rate);
                let stored = (after - before) / (2.0 * h);
                let size = law.stored(gap, state) / fall.step + power.abs() + stored.abs();
                ensure(power >= stored - 1e-4 * size, || {
                    format!("{power} W of {stored} W at gap {gap}, rate {rate}, state {state}")
                })?;
            }
            Ok(())
        }
        // No overlap, no pull, no kinetic energy out of nothing: neither normal nor tangential speed grows.
        (_, None) => {
            for _ in 0..300 {
                let gap = noise.next().max(0.0) * fall.step;
                let rate = noise.next();
                let slip = noise.vector::<2>();
                let target = if gap == 0.0 && rate < 0.0 {
                    -fall.restitution * rate
                } else {
                    -gap / fall.step
                };
                let compliance = fall.step / fall.mass;
                let touch = rigid::resolve(rate, slip, target, compliance, compliance, fall.mu);
                ensure(touch.normal >= 0.0 && touch.normal_velocity >= target, || {
                    format!("{touch:?} overlaps or pulls")
                })?;
                ensure(
                    touch.normal_velocity.abs() <= rate.abs() && norm(touch.slip) <= norm(slip),
                    || format!("{touch:?} is faster than {rate}, {slip:?}"),
                )?;
                ensure(dot(touch.friction, touch.slip) <= 0.0, || {
                    format!("the friction of {touch:?} does work")
                })?;
                ensure(norm(touch.friction) <= fall.mu * touch.normal * (1.0 + 1e-15), || {
                    format!("the friction of {touch:?} exceeds its limit")
                })?;
            }
            Ok(())
        }
    }
}

/// Would be: the force changes sign with the motion. A contact only pushes (Kelvin-Voigt: only acts on one side).
fn contact_odd(fall: &Fall) -> Verdict {
    let at = |gap: f64, rate: f64| match fall.compliant() {
        Some(law) => law.respond(gap, rate, 0.0, fall.step).0,
        None => rigid::resolve(rate, [0.0; 2], -gap / fall.step, 1.0, 1.0, 0.0).normal,
    };
    let (pressed, lifted) = (at(-1e-3, -1.0), at(1e-3, 1.0));
    ensure(pressed == -lifted, || format!("{pressed} pressed, {lifted} lifted"))
}

/// The normal force sees only the gap; the friction of a rigid contact turns with the slip.
fn contact_isotropic(fall: &Fall) -> Verdict {
    let mut noise = Noise(fall.seed);
    for _ in 0..300 {
        let rotation = rotation::<2>(&mut noise);
        let (rate, slip) = (-noise.next().abs(), noise.vector::<2>());
        let compliance = fall.step / fall.mass;
        let touch = rigid::resolve(rate, slip, 0.0, compliance, compliance, fall.mu);
        let turned = rigid::resolve(rate, turn(&rotation, slip), 0.0, compliance, compliance, fall.mu);
        let off = norm(sub(turn(&rotation, touch.friction), turned.friction));
        ensure(
            touch.normal == turned.normal && off <= 1e-12 * fall.mass / fall.step,
            || format!("{touch:?} turned is not {turned:?}"),
        )?;
    }
    Ok(())
}
