//! Every face of every law gives the same for every kind of number: eight lanes are eight single numbers bit for bit,
//! a dual number carries the derivative, `f32` agrees with `f64`, and finite numbers never make a NaN.
#![allow(missing_docs)]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stickslip_core::contact::Normal;
use stickslip_core::contact::hunt_crossley::HuntCrossley;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::contact::relaxed::Relaxed;
use stickslip_core::contact::{proxy, rigid};
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::friction::dahl::Dahl;
use stickslip_core::friction::karnopp::Karnopp;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::martins_oden::MartinsOden;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::quinn::Quinn;
use stickslip_core::friction::subloading::{Evolution, Subloading, Update};
use stickslip_core::friction::{Bristle, Resolved, Slip, implicit};
use stickslip_core::registry::LAWS;
use stickslip_core::scalar::{Dual, F64x8, Lanes, Real};

/// The faces of the laws, by the name of the law.
const FACES: &[(&str, &[Face])] = &[
    ("implicit", &[Face::Constant, Face::Exact, Face::Approximate]),
    ("karnopp", &[Face::Karnopp]),
    ("quinn", &[Face::Quinn]),
    ("martins-oden", &[Face::MartinsOden(false), Face::MartinsOden(true)]),
    (
        "proxy",
        &[
            Face::Proxy(false),
            Face::Proxy(true),
            Face::ProxyContact,
            Face::ProxyContactAtOnce,
        ],
    ),
    (
        "relaxed",
        &[Face::Relaxed(false), Face::Relaxed(true), Face::RelaxedContact],
    ),
    ("dahl", &[Face::Dahl(false), Face::Dahl(true)]),
    ("lugre", &[Face::Lugre(false), Face::Lugre(true)]),
    (
        "subloading",
        &[
            Face::Subloading(false, Evolution::Log, Update::ExactFlow),
            Face::Subloading(true, Evolution::Log, Update::ExactFlow),
            Face::Subloading(true, Evolution::Ratio, Update::ExactFlow),
            Face::Subloading(true, Evolution::Log, Update::Trapezoidal),
            Face::Subloading(true, Evolution::Ratio, Update::Backward),
        ],
    ),
    ("kelvin-voigt", &[Face::KelvinVoigt]),
    ("hunt-crossley", &[Face::HuntCrossley]),
    ("rigid", &[Face::Rigid]),
];

/// A face of a law; of a bristle law `respond` (false) or `advance` (true).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Face {
    Constant,
    Exact,
    Approximate,
    Karnopp,
    Quinn,
    MartinsOden(bool),
    Proxy(bool),
    Relaxed(bool),
    Dahl(bool),
    Lugre(bool),
    Subloading(bool, Evolution, Update),
    KelvinVoigt,
    RelaxedContact,
    ProxyContact,
    ProxyContactAtOnce,
    HuntCrossley,
    Rigid,
}

/// A form of the steady curve; its numbers come with the inputs.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Coulomb,
    Viscous,
    Stribeck,
    Table,
}

const SHAPES: [Shape; 4] = [Shape::Coulomb, Shape::Viscous, Shape::Stribeck, Shape::Table];

/// Everything a law is given.
#[derive(Clone, Copy, Debug)]
struct Input<R> {
    velocity: [R; 3],
    applied: [R; 3],
    state: [R; 3],
    load: R,
    /// Step, or compliance.
    step: R,
    /// Stiffness, ε or normal compliance.
    first: R,
    /// Damping.
    second: R,
    kinetic: R,
    /// Holding less kinetic force.
    extra: R,
    viscous: R,
    stribeck: R,
    exponent: R,
    /// Stuck before, if positive.
    memory: R,
}

const COUNT: usize = 19;
/// The inputs that are differentiated: motion, applied force, state, load.
const VARIABLES: usize = 10;

impl<R: Real> Input<R> {
    fn new(x: [R; COUNT]) -> Self {
        Input {
            velocity: [x[0], x[1], x[2]],
            applied: [x[3], x[4], x[5]],
            state: [x[6], x[7], x[8]],
            load: x[9],
            step: x[10],
            first: x[11],
            second: x[12],
            kinetic: x[13],
            extra: x[14],
            viscous: x[15],
            stribeck: x[16],
            exponent: x[17],
            memory: x[18],
        }
    }

    fn curve(&self, shape: Shape) -> AnyCurve<R> {
        let form = match shape {
            Shape::Table => {
                let table = Table::new(&[0.0, 0.5, 1.0, 3.0], &[1.5, 0.7, 0.8, 2.0]).unwrap();
                return AnyCurve::Table(table);
            }
            Shape::Coulomb => Stribeck::coulomb(1.0),
            Shape::Viscous => Stribeck::new(1.0, 1.0, 1.0, None, 2.0),
            Shape::Stribeck => Stribeck::new(1.0, 2.0, 1.0, Some(1.0), 2.0),
        };
        let mut curve = form.lift::<R>();
        curve.kinetic = self.kinetic;
        curve.holding = self.kinetic;
        if !matches!(shape, Shape::Coulomb) {
            curve.viscous = self.viscous;
        }
        if matches!(shape, Shape::Stribeck) {
            curve.holding = self.kinetic + self.extra;
            curve.velocity = self.stribeck;
            curve.exponent = self.exponent;
        }
        AnyCurve::Stribeck(curve)
    }
}

/// One type for all forms, not inlined: the laws are compiled once per kind of number, not once per form.
enum AnyCurve<R> {
    Stribeck(Stribeck<R>),
    Table(Table<'static>),
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)+) => {$(
        #[inline(never)]
        fn $name(&self, $($argument: $kind),*) -> $result {
            match self {
                AnyCurve::Stribeck(curve) => curve.$name($($argument),*),
                AnyCurve::Table(curve) => Curve::<R>::$name(curve, $($argument),*),
            }
        }
    )+};
}

impl<R: Real> Curve<R> for AnyCurve<R> {
    forward! {
        dry(speed: R, load: R) -> R;
        slope(speed: R, load: R) -> R;
        viscous() -> R;
        holding(load: R) -> R;
        constant() -> bool;
        steepest_fall() -> f64;
    }
}

/// Forces, velocities and states a face gives, on `N` axes.
#[inline(never)]
fn evaluate<R: Real, const N: usize>(face: Face, shape: Shape, x: [R; COUNT]) -> Vec<R> {
    let x = &Input::new(x);
    let curve = &x.curve(shape);
    let axes = |x: [R; 3]| -> [R; N] { std::array::from_fn(|i| x[i]) };
    let slip = Slip {
        velocity: axes(x.velocity),
        load: x.load,
    };
    let stuck = R::zero().lt(x.memory);
    let both = |outcome: Resolved<R, N>| [outcome.force, outcome.velocity].concat();
    let (stiffness, damping, epsilon) = (x.first, x.second, x.first);
    fn bristle<R: Real, const N: usize>(
        law: impl Bristle<R>,
        advance: bool,
        curve: &AnyCurve<R>,
        slip: &Slip<R, N>,
        x: &Input<R>,
    ) -> Vec<R> {
        keeping(law, advance, curve, slip, &x.state, x.step)
    }
    /// Force, states or rates, stored energy of a law in a given state.
    fn keeping<R: Real, L: Bristle<R>, const N: usize>(
        law: L,
        advance: bool,
        curve: &AnyCurve<R>,
        slip: &Slip<R, N>,
        state: &[R],
        step: R,
    ) -> Vec<R> {
        let mut change = [R::zero(); 12];
        let force = if advance {
            law.advance(curve, slip, state, step, &mut change)
        } else {
            law.respond(curve, slip, state, step, &mut change)
        };
        [&force[..], &change[..N.max(L::STATES * N)], &[law.stored::<N>(state)]].concat()
    }
    fn normal<R: Real>(law: impl Normal<R>, x: &Input<R>) -> Vec<R> {
        normal_over(law, x, x.step)
    }
    fn normal_over<R: Real>(law: impl Normal<R>, x: &Input<R>, step: R) -> Vec<R> {
        let mut rate = [R::zero()];
        let (gap, gap_rate) = (x.velocity[0], x.velocity[1]);
        let force = law.respond(gap, gap_rate, &x.state[..1], step, &mut rate);
        vec![force, rate[0], law.stored(gap, &x.state[..1])]
    }
    match face {
        Face::Constant => both(implicit::resolve_constant(slip.velocity, x.step, x.kinetic * x.load)),
        Face::Exact => both(implicit::resolve(curve, x.load, slip.velocity, x.step, stuck)),
        Face::Approximate => both(implicit::resolve_approximate(
            curve,
            x.load,
            slip.velocity,
            x.step,
            stuck,
        )),
        Face::Karnopp => Karnopp { epsilon }.force(curve, &slip, axes(x.applied)).to_vec(),
        Face::Quinn => Quinn { epsilon }.force(curve, &slip, axes(x.applied)).to_vec(),
        Face::MartinsOden(advance) => bristle(MartinsOden { epsilon }, advance, curve, &slip, x),
        Face::Proxy(advance) => bristle(Proxy::<R, true> { stiffness, damping }, advance, curve, &slip, x),
        Face::Relaxed(advance) => bristle(Proxy::<R, false> { stiffness, damping }, advance, curve, &slip, x),
        Face::Dahl(advance) => bristle(Dahl { stiffness }, advance, curve, &slip, x),
        Face::Lugre(advance) => bristle(Lugre { stiffness, damping }, advance, curve, &slip, x),
        Face::Subloading(advance, evolution, update) => {
            let law = Subloading {
                mu_kinetic: x.stribeck,
                mu_static: x.stribeck + x.extra,
                mu_initial: x.stribeck + x.extra,
                stiffness,
                kappa: x.kinetic,
                eta: x.viscous,
                r: damping,
                evolution,
                update,
                ..Subloading::plain(1.0, 1.0, 1.0, 1.0, 1.0, 1.0).lift()
            };
            let mut state = [R::zero(); 12];
            state[..N].copy_from_slice(&x.state[..N]);
            state[N] = x.stribeck + x.extra * R::lit(0.7);
            state[2 * N] = R::lit(0.6);
            state[3 * N] = x.viscous * R::lit(0.1);
            keeping(law, advance, curve, &slip, &state, x.step)
        }
        Face::KelvinVoigt => normal(KelvinVoigt { stiffness, damping }, x),
        // α is a half of β here: the law needs 0 < α ≤ β.
        Face::RelaxedContact => normal(
            Relaxed {
                stiffness,
                beta: damping,
                alpha: R::lit(0.5) * damping,
            },
            x,
        ),
        Face::ProxyContact | Face::ProxyContactAtOnce => {
            let law = proxy::Proxy {
                stiffness,
                beta: damping,
            };
            let step = if face == Face::ProxyContact { x.step } else { R::zero() };
            normal_over(law, x, step)
        }
        Face::HuntCrossley => normal(
            HuntCrossley {
                stiffness,
                damping,
                exponent: R::one() + x.exponent,
            },
            x,
        ),
        Face::Rigid => {
            let tangential = [x.velocity[1], x.velocity[2]];
            let touch = rigid::resolve(x.velocity[0], tangential, x.applied[0], x.first, x.step, x.load);
            [&[touch.normal, touch.normal_velocity][..], &touch.friction, &touch.slip].concat()
        }
    }
}

#[inline(never)]
fn on_axes<R: Real>(face: Face, shape: Shape, axes: usize, x: [R; COUNT]) -> Vec<R> {
    match axes {
        1 => evaluate::<R, 1>(face, shape, x),
        2 => evaluate::<R, 2>(face, shape, x),
        _ => evaluate::<R, 3>(face, shape, x),
    }
}

/// Runs something for every face, form of the curve and number of axes.
fn everywhere(mut run: impl FnMut(Face, Shape, usize) -> Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    for (_, faces) in FACES {
        for face in *faces {
            for shape in SHAPES {
                for axes in 1..=3 {
                    run(*face, shape, axes)?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_law_is_here() {
    for law in LAWS {
        assert!(
            FACES.iter().any(|(name, _)| *name == law.name),
            "the law {} has no face in this file",
            law.name
        );
    }
}

/// Magnitudes from `low` to `high`, sometimes 0.
fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => (low.ln()..high.ln()).prop_map(f64::exp)]
}

/// As [`magnitude`] with either sign; both zeros.
fn number(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (magnitude(low, high), any::<bool>()).prop_map(|(x, negative)| if negative { -x } else { x })
}

/// Inputs with motion between `low` and `high` and parameters from `1/most` to `most`. Parameters that divide are not 0:
/// scenarios refuse that.
fn inputs(low: f64, high: f64, most: f64) -> impl Strategy<Value = [f64; COUNT]> {
    let signed = prop::collection::vec(number(low, high), 9);
    let free = prop::collection::vec(magnitude(1.0 / most, most), 4);
    let positive = prop::collection::vec((-most.ln()..most.ln()).prop_map(f64::exp), 4);
    (signed, free, positive, 0.3..4.0, -1.0..1.0).prop_map(|(signed, free, positive, exponent, memory)| {
        let mut x = [0.0; COUNT];
        x[..9].copy_from_slice(&signed);
        x[9] = free[0]; // load
        x[10] = positive[0]; // step
        x[11] = positive[1]; // stiffness, ε
        x[12] = positive[2]; // damping
        x[13] = free[1]; // kinetic
        x[14] = free[2]; // extra
        x[15] = free[3]; // viscous
        x[16] = positive[3]; // Stribeck velocity
        x[17] = exponent;
        x[18] = memory;
        x
    })
}

/// The same without a limit of 0, which leaves a single point at rest: rounding decides, and there is no derivative.
fn loaded(mut x: [f64; COUNT]) -> [f64; COUNT] {
    for limit in [9, 13] {
        x[limit] = if x[limit] == 0.0 { 1.0 } else { x[limit] };
    }
    x
}

/// The same bits, or both NaN (an overflow of huge numbers).
fn equal(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lanes_are_single_numbers(
        eight in prop::array::uniform8(prop_oneof![inputs(1e-3, 1e3, 10.0), inputs(1e-320, 1e300, 1e9)]),
    ) {
        let mut x = [F64x8::lit(0.0); COUNT];
        for (i, x) in x.iter_mut().enumerate() {
            *x = Lanes(std::array::from_fn(|lane| eight[lane][i]));
        }
        everywhere(|face, shape, axes| {
            let lanes = on_axes(face, shape, axes, x);
            for (lane, single) in eight.iter().enumerate() {
                let single = on_axes(face, shape, axes, *single);
                for (lanes, single) in lanes.iter().zip(&single) {
                    prop_assert!(
                        equal(lanes.0[lane], *single),
                        "{:?} {:?} on {} axes: {} in lane {}, {} alone", face, shape, axes, lanes.0[lane], lane, single
                    );
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn finite_numbers_make_no_nan(
        x in prop_oneof![inputs(1e-3, 1e3, 10.0), inputs(1e-40, 1e40, 1e40), inputs(1e-323, 1e-290, 1e5)],
    ) {
        everywhere(|face, shape, axes| {
            for value in on_axes(face, shape, axes, x) {
                prop_assert!(value.is_finite(), "{:?} {:?} on {} axes: {}", face, shape, axes, value);
            }
            // Derivatives, too: a choice not taken must not leak.
            let dual: [Dual<f64, 1>; COUNT] = std::array::from_fn(|i| Dual { value: x[i], grad: [f64::from(i < VARIABLES)] });
            for value in on_axes(face, shape, axes, dual) {
                prop_assert!(!value.grad[0].is_nan(), "{:?} {:?} on {} axes: derivative {:?}", face, shape, axes, value);
            }
            Ok(())
        })?;
    }

    #[test]
    fn single_precision_agrees(x in inputs(0.1, 3.0, 3.0).prop_map(loaded)) {
        let short = x.map(|x| x as f32);
        let same = short.map(f64::from);
        // Karnopp's force jumps at ε: rounding may fall on the other side.
        let speed = |axes: usize| same[..axes].iter().map(|v| v * v).sum::<f64>().sqrt();
        everywhere(|face, shape, axes| {
            if face == Face::Karnopp && (speed(axes) / same[11] - 1.0).abs() < 1e-5 {
                return Ok(());
            }
            let long = on_axes(face, shape, axes, same);
            let size = long.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            for (a, b) in on_axes(face, shape, axes, short).iter().zip(&long) {
                prop_assert!(
                    (f64::from(*a) - b).abs() <= 1e-4 * size,
                    "{:?} {:?} on {} axes: {} and {}", face, shape, axes, a, b
                );
            }
            Ok(())
        })?;
    }
}

/// The derivative by every motion, force, state and load against a central difference. Sides or widths that disagree
/// mean a kink (or a jump) nearby; few points may be lost to that.
#[test]
fn dual_numbers_carry_the_derivative() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut compared, mut kinks) = (0u32, 0u32);
    for _ in 0..200 {
        let x = loaded(inputs(0.1, 3.0, 3.0).new_tree(&mut runner).unwrap().current());
        everywhere(|face, shape, axes| {
            if face == Face::Rigid && x[0] >= x[3] {
                return Ok(()); // Open: again a limit of 0.
            }
            let along: f64 = x[..axes].iter().zip(&x[6..]).map(|(v, e)| v * e).sum();
            if matches!(face, Face::Subloading(..)) && along == 0.0 {
                return Ok(()); // Plastic slip begins on one side of it: a kink, and it may be a weak one.
            }
            for variable in 0..VARIABLES {
                let dual = std::array::from_fn(|i| Dual {
                    value: x[i],
                    grad: [f64::from(i == variable)],
                });
                let exact = on_axes(face, shape, axes, dual);
                let at = |shift: f64| {
                    let mut x = x;
                    x[variable] += shift;
                    on_axes(face, shape, axes, x)
                };
                let (h, wide) = (3e-6, 1e-5);
                let (left, right, far_left, far_right) = (at(-h), at(h), at(-wide), at(wide));
                let size = exact
                    .iter()
                    .fold(1.0f64, |m, v| m.max(v.value.abs()).max(v.grad[0].abs()));
                for (i, exact) in exact.iter().enumerate() {
                    let [value, slope] = [exact.value, exact.grad[0]];
                    let difference = (right[i] - left[i]) / (2.0 * h);
                    let sides = (right[i] - 2.0 * value + left[i]) / h;
                    let widths = (far_right[i] - far_left[i]) / (2.0 * wide) - difference;
                    if sides.abs() > 1e-3 * size || widths.abs() > 1e-7 * size {
                        kinks += 1;
                        continue;
                    }
                    compared += 1;
                    assert!(
                        (slope - difference).abs() <= 1e-6 * size,
                        "{face:?} {shape:?} on {axes} axes: output {i} by input {variable} is {slope}, \
                         difference {difference} in {x:?}",
                    );
                }
            }
            Ok(())
        })
        .unwrap();
    }
    assert!(kinks * 20 < compared, "{kinks} of {compared} derivatives were at kinks");
}
