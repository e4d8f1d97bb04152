//! The subloading-friction law against an independent implementation (reference numbers with their tolerances), closed
//! forms, finite differences and itself in other kinds of numbers.
#![allow(missing_docs)]

mod block;

use block::Noise;
use stickslip_core::friction::subloading::{Evolution, Mapped, Newton, State, Subloading, SurfaceMotion, Update};
use stickslip_core::scalar::vector::{add, dot, norm, scale, sub};
use stickslip_core::scalar::{Dual, F64x8, Lanes, Real};

/// Parameters of seed 003, section 4.1, in N, mm, s; r = 1000 there and 100 in section 4.2.
fn published(r: f64) -> Subloading<f64> {
    Subloading::plain(0.4, 0.2, 1000.0, 10.0, 0.002, r)
}

const UPDATES: [Update; 3] = [Update::ExactFlow, Update::Trapezoidal, Update::Backward];

/// A contact moved by hand, integrated by the classical Runge-Kutta method.
#[derive(Clone, Copy)]
struct Rig<const N: usize> {
    law: Subloading<f64>,
    time: f64,
    stretch: [f64; N],
    mu: f64,
}

impl<const N: usize> Rig<N> {
    fn new(law: Subloading<f64>, mu: f64) -> Self {
        Rig {
            law,
            time: 0.0,
            stretch: [0.0; N],
            mu,
        }
    }

    /// One step; velocity, normal force and its rate are functions of time.
    fn step(&mut self, dt: f64, motion: impl Fn(f64) -> ([f64; N], f64, f64)) {
        let (mut stretch_sum, mut mu_sum) = ([0.0; N], 0.0);
        let mut last = ([0.0; N], 0.0);
        for (node, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            let (velocity, normal, normal_rate) = motion(self.time + node * dt);
            let stretch = add(self.stretch, scale(last.0, node * dt));
            let rate = self.law.rate(
                stretch,
                self.mu + last.1 * node * dt,
                velocity,
                normal,
                normal_rate,
                0.0,
            );
            last = (rate.stretch_rate, rate.mu_rate);
            stretch_sum = add(stretch_sum, scale(last.0, weight / 6.0));
            mu_sum += last.1 * weight / 6.0;
        }
        self.stretch = add(self.stretch, scale(stretch_sum, dt));
        self.mu += mu_sum * dt;
        self.time += dt;
    }

    fn resistance(&self) -> [f64; N] {
        scale(self.stretch, self.law.stiffness)
    }
}

/// Largest value of equidistant samples and where it is, by the parabola through the three highest.
fn peak(values: &[f64], spacing: f64) -> (f64, f64) {
    let top = (0..values.len())
        .max_by(|&a, &b| values[a].total_cmp(&values[b]))
        .unwrap();
    let (a, b, c) = (values[top - 1], values[top], values[top + 1]);
    let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
    (b - 0.25 * (a - c) * shift, (top as f64 + shift) * spacing)
}

/// Seed 003, Fig 3: pulled at constant speed. Science page, section 4.1: v, peak f_t/f_n, u at the peak, at u = 0.1.
const PULLED: [(f64, f64, f64, f64); 5] = [
    (1e-4, 0.364853, 0.0070558, 0.300004),
    (1e-3, 0.362170, 0.0068788, 0.218988),
    (1e-2, 0.361890, 0.0068613, 0.203381),
    (1e-1, 0.361862, 0.0068596, 0.201681),
    (1.0, 0.361860, 0.0068594, 0.201510),
];

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value}, expected {expected} ± {tolerance}"
    );
}

#[test]
fn static_peak_and_kinetic_plateau_against_speed() {
    for (v, high, u_high, at_end) in PULLED {
        let steps = 10_000;
        let du = 0.1 / f64::from(steps);
        let law = published(1000.0);
        let mut rig = Rig::<1>::new(law, 0.4);
        let mut by_rate = vec![0.0];
        let mut state = State::unloaded(0.4);
        let mut by_flow = vec![0.0];
        for _ in 0..steps {
            rig.step(du / v, |_| ([v], 10.0, 0.0));
            by_rate.push(rig.resistance()[0] / 10.0);
            let mapped = law.return_map(&state, [du], 10.0, du / v);
            state = mapped.state;
            by_flow.push(mapped.resistance[0] / 10.0);
        }
        for (face, curve) in [("rate", by_rate), ("exact-flow", by_flow)] {
            let (top, place) = peak(&curve, du);
            assert_near(&format!("{face} peak at v = {v}"), top, high, 1e-6);
            assert_near(&format!("{face} place of the peak at v = {v}"), place, u_high, 1e-6);
            assert_near(&format!("{face} end at v = {v}"), *curve.last().unwrap(), at_end, 1e-6);
        }
        let steady = (10.0 * v + 0.002) / (10.0 * v / 0.2 + 0.002 / 0.4);
        assert_near("closed form", law.steady(v).mu, steady, 1e-15);
        // A hundred steps of 1 mm each: the step does not matter in steady sliding.
        for _ in 0..100 {
            state = law.return_map(&state, [1.0], 10.0, 1.0 / v).state;
        }
        assert_near("steady sliding", state.mu * state.ratio, steady, 1e-15);
    }
}

#[test]
fn steady_state_of_any_exponents_balances() {
    let law = published(100.0).with_exponents(1.7, 0.6);
    for v in [1e-6, 1e-3, 0.1, 30.0] {
        let steady = law.steady(v);
        assert!(0.2 <= steady.mu && steady.mu <= 0.4);
        assert_near(
            "balance",
            law.healing(steady.mu) / (law.softening(steady.mu) * v),
            1.0,
            1e-9,
        );
    }
}

/// Seed 003, Fig 4: slid 1 mm at 0.1 mm/s, unloaded, held, slid again. Science page, section 4.2.
#[test]
fn recovery_against_hold_time() {
    let law = published(1000.0);
    let (v, du) = (0.1, 1e-5);
    let mut rig = Rig::<1>::new(law, 0.4);
    for _ in 0..100_000 {
        rig.step(du / v, |_| ([v], 10.0, 0.0));
    }
    while rig.stretch[0] > du {
        rig.step(du / v, |_| ([-v], 10.0, 0.0));
    }
    let rest = rig.stretch[0];
    rig.step(rest / v, |_| ([-v], 10.0, 0.0));
    let slid = rig.mu;
    for (hold, high) in [
        (0.0, 0.200222),
        (1.0, 0.200857),
        (10.0, 0.207166),
        (50.0, 0.234062),
        (100.0, 0.261874),
        (200.0, 0.300983),
        (500.0, 0.348240),
        (1000.0, 0.360743),
        (1e4, 0.361862),
    ] {
        // One step of any length is exact at rest.
        let held = law.return_map(&State::unloaded(slid), [0.0], 10.0, hold + 1e-300).state;
        let closed = 0.4 - (0.4 - slid) * (-0.002 * hold / 0.4f64).exp();
        assert_near(&format!("mu after {hold} s"), held.mu, closed, 2e-16);
        let mut again = Rig {
            stretch: [0.0],
            mu: held.mu,
            ..rig
        };
        let curve: Vec<f64> = (0..2000)
            .map(|_| {
                again.step(du / v, |_| ([v], 10.0, 0.0));
                again.resistance()[0] / 10.0
            })
            .collect();
        assert_near(&format!("peak after {hold} s"), peak(&curve, du).0, high, 1e-6);
    }
}

/// Science page, section 4.7: a circle of 0.05 mm, and a straight line under a normal force that varies.
#[test]
fn circle_and_varying_normal_force() {
    let law = published(1000.0);
    let turn = std::f64::consts::TAU * 0.05 / 0.1;
    let steps = 20_000;
    let velocity = |t: f64| {
        let angle = 2.0 * t;
        [-0.1 * angle.sin(), 0.1 * angle.cos()]
    };
    let mut rig = Rig::<2>::new(law, 0.4);
    for _ in 0..steps {
        rig.step(turn / f64::from(steps), |t| (velocity(t), 10.0, 0.0));
    }
    let [x, y] = rig.resistance();
    assert_near("x", -x, -0.0801601, 1e-6);
    assert_near("y", -y, -2.0003945, 1e-6);
    assert_near("mu", rig.mu, 0.2002000, 1e-6);

    let tau = std::f64::consts::TAU;
    let normal = |t: f64| 10.0 + 3.0 * (tau * t).sin();
    let mut rig = Rig::<1>::new(law, 0.4);
    let mut quarter = (0.0, 0.0);
    for step in 0..40_000 {
        rig.step(1.0 / 40_000.0, |t| ([0.1], normal(t), 3.0 * tau * (tau * t).cos()));
        if step + 1 == 10_000 {
            quarter = (rig.resistance()[0], rig.mu);
        }
    }
    assert_near("t = 0.25", -quarter.0, -3.4875579, 1e-6);
    assert_near("mu at 0.25", quarter.1, 0.2682737, 1e-6);
    assert_near("t = 1", -rig.resistance()[0], -2.0168398, 1e-6);

    // The return mappings need no rate of the normal force; they reach the same with their order.
    for update in UPDATES {
        let law = Subloading { update, ..law };
        let ends = |steps: u32| {
            let dt = 1.0 / f64::from(steps);
            let mut state = State::unloaded(0.4);
            let mut force = 0.0;
            for step in 1..=steps {
                let mapped = law.return_map(&state, [0.1 * dt], normal(f64::from(step) * dt), dt);
                (state, force) = (mapped.state, mapped.resistance[0]);
            }
            force - 2.0168398
        };
        assert!(ends(4000).abs() < 1e-3, "{update:?}: {}", ends(4000));
    }
}

/// Space adds nothing but geometry: a surface that turns, seen in fixed axes, is the plane law in turning axes.
#[test]
fn a_turning_surface_carries_its_traction_along() {
    let law = published(1000.0);
    let rate = 3.0f64;
    let axes = |t: f64| {
        let (s, c) = (rate * t).sin_cos();
        // Turns about y: tangents e1, e2 = y, normal n.
        ([c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c])
    };
    let velocity = |t: f64| [0.1 + 0.05 * t, 0.2 * (7.0 * t).cos(), -1e-3];
    let (steps, duration) = (4000, 0.5);
    let dt = duration / f64::from(steps);

    let mut plane = Rig::<2>::new(law, 0.4);
    let (_, _, up) = axes(0.0);
    let (mut traction, mut mu) = (scale(up, 10.0), 0.4);
    for k in 0..steps {
        let start = f64::from(k) * dt;
        plane.step(dt, |t| {
            let [a, b, c] = velocity(t);
            ([a, b], 10.0 - 1000.0 * c * t, -1000.0 * c)
        });
        let (mut sum, mut mu_sum, mut last) = ([0.0; 3], 0.0, ([0.0; 3], 0.0));
        for (node, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            let t = start + node * dt;
            let (e1, e2, n) = axes(t);
            let [a, b, c] = velocity(t);
            let motion = SurfaceMotion {
                normal: n,
                velocity: add(add(scale(e1, a), scale(e2, b)), scale(n, c)),
                spin: [0.0, rate, 0.0],
                normal_stiffness: 1000.0,
            };
            let moved = law.traction_rate(
                add(traction, scale(last.0, node * dt)),
                mu + last.1 * node * dt,
                &motion,
            );
            last = (moved.traction_rate, moved.mu_rate);
            sum = add(sum, scale(last.0, weight / 6.0));
            mu_sum += last.1 * weight / 6.0;
        }
        traction = add(traction, scale(sum, dt));
        mu += mu_sum * dt;
    }
    let (e1, e2, n) = axes(duration);
    let [a, b] = plane.resistance();
    assert_near("mu", mu, plane.mu, 1e-9);
    assert_near("normal", dot(traction, n), 10.0 + duration, 1e-9);
    assert_near("first tangent", dot(traction, e1), -a, 1e-7);
    assert_near("second tangent", dot(traction, e2), -b, 1e-7);
}

/// R after a slip, from 40-digit arithmetic (exponential integral and Lambert function of mpmath 1.3): R₀, r·slip, R of the
/// logarithmic form, R of the other.
const FLOWS: [(f64, f64, f64, f64); 14] = [
    (0.0, 1.0e-12, 2.536_112_052_549_151e-11, 1.414_212_895_706_507e-6),
    (0.0, 0.001, 0.005_987_924_892_619_460_5, 0.044_057_192_259_048_084),
    (0.0, 0.05, 0.137_525_401_107_711_5, 0.283_810_544_830_655_8),
    (0.0, 0.2, 0.34796601381253484, 0.506_760_576_224_846_6),
    (0.0, 0.22, 0.368_494_991_506_948_87, 0.525_505_723_792_902),
    (0.0, 1.0, 0.767_407_743_655_864_6, 0.841_405_660_436_960_6),
    (0.0, 5.0, 0.996_209_737_246_459_7, 0.997_515_080_664_850_5),
    (0.0, 30.0, 0.999_999_999_999_947_5, 0.999_999_999_999_965_6),
    (
        1.0e-8,
        1.0e-6,
        0.000_012_245_528_768_001_366,
        0.001_413_546_974_323_986_6,
    ),
    (0.01, 0.1, 0.225_834_461_753_078_9, 0.383_264_180_851_064_5),
    (0.3, 0.02, 0.323_313_713_787_367_95, 0.342_239_592_755_329_9),
    (0.5, 1.0e-5, 0.500_006_931_402_491_6, 0.500_009_999_800_005_4),
    (0.9, 0.5, 0.940_581_949_606_482_1, 0.941_831_826_413_218),
    (0.999, 3.0, 0.999_950_236_582_829_6, 0.999_950_260_219_831),
];

#[test]
fn the_flow_of_r_is_exact() {
    for (from, slip, log, ratio) in FLOWS {
        for (evolution, expected) in [(Evolution::Log, log), (Evolution::Ratio, ratio)] {
            let there = evolution.ratio(evolution.travel(from) + slip);
            assert_near(
                &format!("{evolution:?} from {from} over {slip}"),
                there,
                expected,
                1.2e-15,
            );
        }
    }
    // Over all R: the two maps are inverse to each other, and R rises with travel across the joints of the fits.
    for evolution in [Evolution::Log, Evolution::Ratio] {
        let mut last = 0.0;
        for k in 1..4000 {
            let ratio = f64::from(k) / 4000.0;
            let back = evolution.ratio(evolution.travel(ratio));
            assert_near(&format!("{evolution:?}"), back, ratio, 1e-15);
            assert!(back > last);
            last = back;
        }
        // Down to where a contact begins.
        for k in 1..30 {
            let ratio = 0.3 * libm::pow(10.0, -f64::from(k));
            let back = evolution.ratio(evolution.travel(ratio));
            assert_near(&format!("{evolution:?} near 0"), back / ratio, 1.0, 1e-13);
        }
        assert_eq!(evolution.ratio(evolution.travel(1.0) + 1e9), 1.0);
        assert!(evolution.ratio(0.0f64) < 1e-34);
    }
}

/// Stretch and μ at the start of a pull; R = 0.37, as U and its derivatives are infinite at R = 0, where rules without the
/// exact flow lose their order.
const BEGIN: (f64, f64) = (1.3e-3, 0.35);

/// Error of q and μ at the end of a pull, against the Runge-Kutta result with many steps.
fn error_of_pull(law: Subloading<f64>, steps: u32, reference: &Rig<1>, speed: impl Fn(f64) -> f64, far: f64) -> f64 {
    let dt = far / f64::from(steps);
    let stretch = [BEGIN.0];
    let mut state = State {
        stretch,
        mu: BEGIN.1,
        ratio: law.stiffness * BEGIN.0 / (BEGIN.1 * 10.0),
        slip_rate: law.rate(stretch, BEGIN.1, [speed(0.0)], 10.0, 0.0, 0.0).slip_rate,
    };
    for k in 0..steps {
        // The displacement of a trapezoidal rule for the motion.
        let t = f64::from(k) * dt;
        let du = 0.5 * dt * (speed(t) + speed(t + dt));
        state = law.return_map(&state, [du], 10.0, dt).state;
    }
    (state.stretch[0] / reference.stretch[0] - 1.0).abs() + (state.mu / reference.mu - 1.0).abs()
}

#[test]
fn orders_of_the_return_mappings() {
    // Healing and slip both at work, smooth motion.
    let law = Subloading {
        eta: 0.05,
        ..published(100.0)
    };
    let (speed, far) = (|t: f64| 0.01 * (1.0 + 0.5 * (0.3 * t).sin()), 8.0);
    for (evolution, exponents) in [
        (Evolution::Log, (1.0, 1.0)),
        (Evolution::Ratio, (1.0, 1.0)),
        (Evolution::Log, (1.4, 1.3)),
    ] {
        let law = Subloading {
            evolution,
            ..law.with_exponents(exponents.0, exponents.1)
        };
        let mut reference = Rig::<1>::new(law, BEGIN.1);
        reference.stretch = [BEGIN.0];
        for _ in 0..80_000 {
            reference.step(1e-4, |t| ([speed(t)], 10.0, 0.0));
        }
        for (update, expected) in [
            (Update::ExactFlow, 2.0),
            (Update::Trapezoidal, 2.0),
            (Update::Backward, 1.0),
        ] {
            let law = Subloading { update, ..law };
            let [coarse, fine] = [400, 800].map(|steps| error_of_pull(law, steps, &reference, speed, far));
            let order = (coarse / fine).log2();
            assert!(fine < 1e-3, "{update:?} {evolution:?}: error {fine}");
            assert_near(
                &format!("order of {update:?} {evolution:?} {exponents:?}"),
                order,
                expected,
                0.25,
            );
        }
    }
}

/// The direction of the force follows that of a motion that turns with the order of the rule, in the plane and in space.
fn orders_of_turning<const N: usize>(velocity: impl Fn(f64) -> [f64; N], start: [f64; N]) {
    for exponents in [(1.0, 1.0), (1.6, 0.8)] {
        let law = Subloading {
            eta: 0.05,
            ..published(100.0).with_exponents(exponents.0, exponents.1)
        };
        let mut reference = Rig::<N>::new(law, BEGIN.1);
        reference.stretch = start;
        for _ in 0..80_000 {
            reference.step(1e-4, |t| (velocity(t), 10.0, 0.0));
        }
        for (update, expected) in [
            (Update::ExactFlow, 2.0),
            (Update::Trapezoidal, 2.0),
            (Update::Backward, 1.0),
        ] {
            let law = Subloading { update, ..law };
            let error = |steps: u32| {
                let dt = 8.0 / f64::from(steps);
                let mut state = State {
                    stretch: start,
                    mu: BEGIN.1,
                    ratio: law.stiffness * norm(start) / (BEGIN.1 * 10.0),
                    slip_rate: law.rate(start, BEGIN.1, velocity(0.0), 10.0, 0.0, 0.0).slip_rate,
                };
                for k in 0..steps {
                    let t = f64::from(k) * dt;
                    let moved = scale(add(velocity(t), velocity(t + dt)), 0.5 * dt);
                    state = law.return_map(&state, moved, 10.0, dt).state;
                }
                norm(sub(state.stretch, reference.stretch)) / norm(reference.stretch)
                    + (state.mu / reference.mu - 1.0).abs()
            };
            let (coarse, fine) = (error(400), error(800));
            assert!(fine < 5e-3, "{update:?} in {N}-D: error {fine}");
            let what = format!("order of {update:?} {exponents:?} in {N}-D");
            assert_near(&what, (coarse / fine).log2(), expected, 0.25);
        }
    }
}

#[test]
fn directions_have_the_order_of_the_rule() {
    orders_of_turning(
        |t| [0.01 * (0.8 * t).cos(), 0.01 * (0.8 * t).sin()],
        [BEGIN.0, 0.3 * BEGIN.0],
    );
    orders_of_turning(
        |t| [0.01 * (0.8 * t).cos(), 0.008 * (0.5 * t).sin(), 0.005],
        [BEGIN.0, 0.3 * BEGIN.0, -0.2 * BEGIN.0],
    );
}

/// However long a step is, the force ends in the direction of the motion, also from a right angle and from behind.
#[test]
fn a_long_step_ends_in_the_direction_of_the_motion() {
    let law = published(100.0);
    let before = State {
        stretch: [0.0, 3e-3],
        mu: 0.35,
        ratio: 3.0 / 3.5,
        slip_rate: 0.0,
    };
    for moved in [[1.0, 0.0], [30.0, -40.0], [-1e4, 1e4]] {
        let q = law.return_map(&before, moved, 10.0, 10.0).resistance;
        let along = dot(q, moved) / (norm(q) * norm(moved));
        assert_near("cosine", along, 1.0, 1e-9);
        assert!(norm(q) >= 0.2 * 10.0 * (1.0 - 1e-9), "{q:?}");
    }
}

/// Below the margin of uniqueness several slips solve a step. The one that is found is the nearest to 0, whatever was guessed: no
/// smaller slip has the contact carry what the stretch asks for.
#[test]
fn of_several_slips_the_nearest_is_found() {
    let mut noise = Noise(51);
    let mut several = 0;
    for _ in 0..400 {
        let mut draw = Draw::<1>::new(&mut noise, Update::ExactFlow, 1.5);
        draw.law = Subloading {
            exponents: None,
            stiffness: draw.law.with_exponents(1.0, 1.0).unique_above(draw.normal) * (0.3 + 0.2 * noise.next()),
            r: 100.0 * draw.law.kappa / draw.law.mu_kinetic,
            ..draw.law
        };
        // Drawn to a little less than the limit, where the contact can hold or snap.
        let limit = draw.state.mu * draw.normal / draw.law.stiffness;
        let length = draw.state.ratio * limit;
        draw.state.stretch = [length];
        draw.displacement = [limit * (0.9 + 0.1 * noise.next()) - length];
        draw.step = 1e-3;
        let Draw {
            law,
            state,
            normal,
            step,
            ..
        } = draw;
        let mapped = draw.map();
        if !mapped.plastic {
            continue;
        }
        let trial = length + draw.displacement[0];
        let found = trial - mapped.state.stretch[0];
        // What a contact carries that slips so far in this time, from a law so stiff that it hardly stretches.
        let rigid = Subloading {
            stiffness: 1e9 * law.stiffness,
            ..law
        };
        let excess = |slip: f64| {
            let stretch = [state.ratio * state.mu * normal / rigid.stiffness];
            let carried = rigid
                .return_map(&State { stretch, ..state }, [slip], normal, step)
                .resistance[0];
            law.stiffness * (trial - slip) - carried
        };
        let signs: Vec<bool> = (1..1000).map(|k| excess(trial * f64::from(k) / 1000.0) > 0.0).collect();
        let first = signs
            .iter()
            .position(|above| !above)
            .map_or(trial, |k| trial * (k + 1) as f64 / 1000.0);
        let crossings = signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        several += usize::from(crossings > 1);
        assert!(
            found <= first * (1.0 + 1e-6),
            "{found} beyond {first}, {crossings} crossings: {law:?}"
        );
        let far = law.return_map_near(&state, draw.displacement, normal, step, 0.999 * trial);
        assert_near(
            "from another guess",
            far.resistance[0] / mapped.resistance[0],
            1.0,
            1e-12,
        );
    }
    assert!(several > 20, "only {several} draws have several solutions");
}

/// With an exponent below 1 healing and softening are infinitely steep at the ends of their range, where contacts begin.
#[test]
fn a_steep_end_of_the_range_is_left() {
    for (exponents, begin, slip) in [((1.0, 0.5), 0.4, 0.5), ((0.5, 1.0), 0.2, 0.0), ((0.6, 0.4), 0.4, 0.02)] {
        let law = Subloading {
            eta: 0.05,
            ..published(1000.0)
        }
        .with_exponents(exponents.0, exponents.1);
        let (time, steps) = (1.5, 1_000_000);
        // μ of sliding at R = 1 by Heun's rule with many steps.
        let mut mu = begin;
        let rate = |mu: f64| law.healing(mu) * time - law.softening(mu) * slip;
        for _ in 0..steps {
            let h = 1.0 / f64::from(steps);
            let ahead = mu + h * rate(mu);
            mu = (mu + 0.5 * h * (rate(mu) + rate(ahead))).clamp(0.2, 0.4);
        }
        for update in UPDATES {
            let law = Subloading {
                update,
                stiffness: 1e9,
                ..law
            };
            let parts = 4000;
            let mut state = State {
                stretch: [begin * 10.0 / 1e9],
                ratio: 1.0,
                slip_rate: slip / time,
                ..State::unloaded(begin)
            };
            for _ in 0..parts {
                let share = 1.0 / f64::from(parts);
                state = law.return_map(&state, [slip * share], 10.0, time * share).state;
            }
            assert_near(&format!("{update:?} {exponents:?}"), state.mu, mu, 2e-4);
        }
    }
}

/// Random but sensible: a law, a state that can have come about, a displacement and a step.
struct Draw<const N: usize> {
    law: Subloading<f64>,
    state: State<f64, N>,
    displacement: [f64; N],
    normal: f64,
    step: f64,
}

impl<const N: usize> Draw<N> {
    fn new(noise: &mut Noise, update: Update, reach: f64) -> Self {
        let mut unit = || 0.5 * (noise.next() + 1.0);
        let mu_kinetic = 0.05 + 0.5 * unit();
        let mu_static = mu_kinetic * (1.0 + 1.5 * unit());
        let exponents = if unit() < 0.5 {
            (1.0, 1.0)
        } else {
            (0.5 + 2.0 * unit(), 0.5 + 2.0 * unit())
        };
        let decades = |unit: f64, low: f64, high: f64| 10f64.powf(low + (high - low) * unit);
        let mut law = Subloading::plain(
            mu_static,
            mu_kinetic,
            decades(unit(), 2.0, 4.0),
            decades(unit(), -1.0, 1.5),
            decades(unit(), -4.0, 0.0),
            decades(unit(), 1.0, 3.5),
        )
        .with_exponents(exponents.0, exponents.1);
        law.update = update;
        law.evolution = if unit() < 0.5 { Evolution::Log } else { Evolution::Ratio };
        let normal = decades(unit(), 0.0, 2.0);
        law.stiffness = law.stiffness.max(1.1 * law.unique_above(normal));
        let mu = mu_kinetic + (mu_static - mu_kinetic) * (0.02 + 0.96 * unit());
        let ratio = 0.02 + 0.97 * unit();
        let length = ratio * mu * normal / law.stiffness;
        let (far, step) = (length * decades(unit(), -3.0, reach), decades(unit(), -3.0, 2.0));
        let slip_rate = 0.1 * unit() * length / step;
        let mut towards = || {
            let x = noise.vector::<N>();
            scale(x, 1.0 / norm(x))
        };
        Draw {
            law,
            state: State {
                stretch: scale(towards(), length),
                mu,
                ratio,
                slip_rate,
            },
            displacement: scale(towards(), far),
            normal,
            step,
        }
    }

    fn map(&self) -> Mapped<f64, N> {
        self.law
            .return_map(&self.state, self.displacement, self.normal, self.step)
    }
}

/// Greatest entry of a difference of matrices.
fn apart<const N: usize>(a: [[f64; N]; N], b: [[f64; N]; N]) -> f64 {
    let rows = a.into_iter().zip(b);
    rows.flat_map(|(a, b)| sub(a, b)).fold(0.0, |most, x| most.max(x.abs()))
}

fn tangents_agree<const N: usize>(seed: u64) {
    let mut noise = Noise(seed);
    let mut plastic = 0;
    for update in UPDATES {
        for newton in [Newton::Safeguarded, Newton::AsPublished] {
            for _ in 0..150 {
                let mut draw = Draw::<N>::new(&mut noise, update, 0.5);
                draw.law.newton = newton;
                let mapped = draw.map();
                if mapped.failed || !mapped.plastic {
                    continue;
                }
                plastic += 1;
                type D<const N: usize> = Dual<f64, N>;
                let dual = draw.law.lift::<D<N>>().return_map::<N>(
                    &State {
                        stretch: draw.state.stretch.map(D::constant),
                        mu: D::constant(draw.state.mu),
                        ratio: D::constant(draw.state.ratio),
                        slip_rate: D::constant(draw.state.slip_rate),
                    },
                    std::array::from_fn(|i| D::variable(draw.displacement[i], i)),
                    D::constant(draw.normal),
                    D::constant(draw.step),
                );
                assert_eq!(
                    dual.resistance.map(|q| q.value.to_bits()),
                    mapped.resistance.map(f64::to_bits)
                );
                let by_dual = dual.resistance.map(|q| q.grad);
                let size = draw.law.stiffness;
                let off = apart(mapped.tangent, by_dual) / size;
                assert!(off < 1e-10, "{update:?} {newton:?} {:?} in {N}-D: dual {off}", draw.law);

                // Central differences of fourth order.
                let h = 1e-3 * norm(draw.displacement).min(norm(draw.state.stretch));
                let mut by_difference = [[0.0; N]; N];
                let mut smooth = true;
                for j in 0..N {
                    let at = |shift: f64| {
                        let mut moved = Draw {
                            displacement: draw.displacement,
                            ..draw
                        };
                        moved.displacement[j] += shift * h;
                        moved.map()
                    };
                    let [a, b, c, d] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
                    smooth &= a.plastic && b.plastic && c.plastic && d.plastic;
                    for (i, row) in by_difference.iter_mut().enumerate() {
                        let [a, b, c, d] = [a, b, c, d].map(|mapped| mapped.resistance[i]);
                        row[j] = (a - d + 8.0 * (c - b)) / (12.0 * h);
                    }
                }
                let off = apart(mapped.tangent, by_difference) / size;
                assert!(
                    !smooth || off < 1e-8,
                    "{update:?} {newton:?} {:?} in {N}-D: difference {off}",
                    draw.law
                );

                // And with respect to the normal force.
                let dual = draw.law.lift::<Dual<f64, 1>>().return_map::<N>(
                    &State {
                        stretch: draw.state.stretch.map(Dual::constant),
                        mu: Dual::constant(draw.state.mu),
                        ratio: Dual::constant(draw.state.ratio),
                        slip_rate: Dual::constant(draw.state.slip_rate),
                    },
                    draw.displacement.map(Dual::constant),
                    Dual::variable(draw.normal, 0),
                    Dual::constant(draw.step),
                );
                let off = norm(sub(dual.resistance.map(|q| q.grad[0]), mapped.normal_tangent));
                assert!(off < 1e-10, "{update:?}: normal {off}");
            }
        }
    }
    assert!(plastic > 275, "only {plastic} plastic states");
}

#[test]
fn tangents_are_consistent() {
    tangents_agree::<1>(1);
    tangents_agree::<2>(2);
    tangents_agree::<3>(3);
}

fn never_fails<const N: usize>(seed: u64, update: Update) {
    let mut noise = Noise(seed);
    for _ in 0..400 {
        let mut draw = Draw::<N>::new(&mut noise, update, 9.0);
        // Absurd ones: any stiffness down to a hundredth of what uniqueness asks for, steps of milliseconds to years.
        draw.law.stiffness *= 10f64.powf(2.0 * noise.next());
        draw.step *= 10f64.powf(4.0 + 4.0 * noise.next());
        if noise.next() > 0.7 {
            draw.state = State::unloaded(draw.state.mu);
        }
        if noise.next() > 0.7 {
            draw.normal *= 0.5 * (noise.next() + 1.0);
        }
        let Draw { law, normal, .. } = draw;
        let before = draw.state;
        let mapped = draw.map();
        let State { stretch, mu, ratio, .. } = mapped.state;
        assert!(
            !mapped.failed && mapped.rounds < 100,
            "{} rounds {law:?}",
            mapped.rounds
        );
        assert!(
            (law.mu_kinetic * (1.0 - 1e-15)..=law.mu_static * (1.0 + 1e-15)).contains(&mu),
            "{mu} {law:?}"
        );
        assert!((0.0..=1.0 + 1e-15).contains(&ratio), "{ratio} {law:?} {before:?}");
        let q = mapped.resistance;
        assert_near("surface", norm(q) / (ratio * mu * normal), 1.0, 1e-13);
        assert!(norm(sub(scale(stretch, law.stiffness), q)) <= 1e-14 * norm(q));
        if update != Update::Trapezoidal {
            // Work is never less than the change of stored energy: the step dissipates.
            let stored = 0.5 * law.stiffness * (dot(stretch, stretch) - dot(before.stretch, before.stretch));
            let work = dot(q, draw.displacement);
            let sum = law.stiffness * (dot(stretch, stretch) + dot(before.stretch, before.stretch));
            assert!(work - stored >= -1e-12 * sum, "{work} < {stored}");
        }
    }
}

#[test]
fn no_step_fails_however_absurd() {
    for update in UPDATES {
        never_fails::<1>(11, update);
        never_fails::<2>(12, update);
        never_fails::<3>(13, update);
    }
}

/// Newton's method as published fails at some large steps, and says so; the bracketed solve of the same equations does
/// not.
#[test]
fn newton_as_published_fails_and_says_so() {
    let mut noise = Noise(21);
    let (mut failed, mut same) = (0, 0);
    for _ in 0..400 {
        let mut draw = Draw::<1>::new(&mut noise, Update::Backward, 3.0);
        let bracketed = draw.map();
        draw.law.newton = Newton::AsPublished;
        let newton = draw.map();
        if newton.failed {
            failed += 1;
            assert!(newton.resistance[0].is_finite());
        } else {
            assert_near(
                "the same root",
                newton.resistance[0] / bracketed.resistance[0],
                1.0,
                1e-9,
            );
            same += 1;
        }
    }
    assert!(failed > 3 && same > 200, "{failed} failed, {same} agree");
}

#[test]
fn lanes_equal_scalars() {
    let mut noise = Noise(31);
    for update in UPDATES {
        for newton in [Newton::Safeguarded, Newton::AsPublished] {
            for _ in 0..40 {
                let mut first = Draw::<2>::new(&mut noise, update, 2.0);
                first.law.newton = newton;
                let draws: [Draw<2>; 8] = std::array::from_fn(|_| {
                    let mut draw = Draw::<2>::new(&mut noise, update, 2.0);
                    // The forms are common to all lanes, the numbers are not.
                    draw.law = first.law;
                    draw.law.kappa *= 1.0 + 0.1 * noise.next();
                    draw
                });
                let lanes = |number: &dyn Fn(&Draw<2>) -> f64| Lanes(std::array::from_fn(|k| number(&draws[k])));
                let mut law = first.law.lift::<F64x8>();
                law.kappa = lanes(&|draw| draw.law.kappa);
                let state = State {
                    stretch: [0, 1].map(|i| lanes(&|draw| draw.state.stretch[i])),
                    mu: lanes(&|draw| draw.state.mu),
                    ratio: lanes(&|draw| draw.state.ratio),
                    slip_rate: lanes(&|draw| draw.state.slip_rate),
                };
                let displacement = [0, 1].map(|i| lanes(&|draw| draw.displacement[i]));
                let normal = lanes(&|draw| draw.normal);
                let wide = law.return_map(&state, displacement, normal, lanes(&|draw| draw.step));
                let rate = law.rate(
                    state.stretch,
                    state.mu,
                    displacement,
                    normal,
                    F64x8::zero(),
                    F64x8::zero(),
                );
                for (k, draw) in draws.iter().enumerate() {
                    let mut law = first.law;
                    law.kappa = draw.law.kappa;
                    let single = law.return_map(&draw.state, draw.displacement, draw.normal, draw.step);
                    let same = |a: F64x8, b: f64| assert_eq!(a.0[k].to_bits(), b.to_bits(), "{} {b}", a.0[k]);
                    assert_eq!(wide.failed.lane(k), single.failed);
                    assert_eq!(wide.plastic.lane(k), single.plastic);
                    same(wide.state.mu, single.state.mu);
                    same(wide.state.ratio, single.state.ratio);
                    same(wide.state.slip_rate, single.state.slip_rate);
                    let moved = law.rate(
                        draw.state.stretch,
                        draw.state.mu,
                        draw.displacement,
                        draw.normal,
                        0.0,
                        0.0,
                    );
                    same(rate.mu_rate, moved.mu_rate);
                    for i in 0..2 {
                        same(wide.resistance[i], single.resistance[i]);
                        same(wide.state.stretch[i], single.state.stretch[i]);
                        same(wide.tangent[i][1], single.tangent[i][1]);
                        same(rate.stretch_rate[i], moved.stretch_rate[i]);
                    }
                }
            }
        }
    }
}

#[test]
fn directions_are_equal() {
    let mut noise = Noise(41);
    for update in UPDATES {
        for _ in 0..100 {
            let mut draw = Draw::<2>::new(&mut noise, update, 1.0);
            let turn = |[x, y]: [f64; 2]| [0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y];
            let here = draw.map().resistance;
            draw.state.stretch = turn(draw.state.stretch);
            draw.displacement = turn(draw.displacement);
            let there = draw.map().resistance;
            // Rounding of the turned input times the conditioning of the step.
            assert!(
                norm(sub(turn(here), there)) <= 1e-12 * norm(there),
                "{here:?} {there:?}"
            );
        }
    }
}

/// A block drawn by a spring, M·a = K(v·t − x) − q, by the trapezoidal rule with the exact flow, the force solved together
/// with the motion. Science page, section 4.3: the first static peak and the minimum that follows.
#[test]
fn a_drawn_block_slips_when_and_how_it_should() {
    for (r, dt, t_peak, high, t_min, low) in [
        (100.0, 1e-3, 290.5799, 0.2725795, 298.5957, 0.1115155),
        (1000.0, 1e-3, 375.3403, 0.3680468, 381.0981, -0.0781395),
    ] {
        let law = published(r);
        let (mass, spring, drive, normal) = (10.0, 10.0, 1e-3, 10.0);
        let mut state = State::<f64, 1>::unloaded(0.4);
        let (mut x, mut v, mut a) = (0.0, 0.0, 0.0);
        let mut curve = vec![0.0];
        while (curve.len() as f64) * dt < t_min + 1.0 {
            let t = curve.len() as f64 * dt;
            let mut du = v * dt;
            let mapped = loop {
                let mapped = law.return_map(&state, [du], normal, dt);
                // v₁ = 2Δu/dt − v₀, a₁ = 2(v₁ − v₀)/dt − a₀.
                let acceleration = 4.0 * (du / dt - v) / dt - a;
                let excess = mass * acceleration - spring * (drive * t - x - du) + mapped.resistance[0];
                let slope = 4.0 * mass / (dt * dt) + spring + mapped.tangent[0][0];
                let change = excess / slope;
                du -= change;
                if change.abs() <= 1e-15 * (du.abs() + 1e-6) {
                    break mapped;
                }
            };
            let faster = 2.0 * du / dt - v;
            a = 2.0 * (faster - v) / dt - a;
            v = faster;
            x += du;
            state = mapped.state;
            curve.push(mapped.resistance[0] / normal);
        }
        let (top, place) = peak(&curve, dt);
        assert_near("peak", top, high, 1e-6);
        assert_near("time of the peak", place, t_peak, 1e-3);
        let from = (t_peak / dt) as usize;
        let falling: Vec<f64> = curve[from..].iter().map(|q| -q).collect();
        let (bottom, place) = peak(&falling, dt);
        assert_near("minimum", -bottom, low, 1e-6);
        assert_near("time of the minimum", place + from as f64 * dt, t_min, 1e-3);
    }
}

#[test]
fn impossible_parameters_are_refused_with_the_reason() {
    let law = published(100.0);
    assert_eq!(law.check(), Ok(()));
    let refused = |law: Subloading<f64>| law.check().unwrap_err().parameter;
    assert_eq!(refused(Subloading { mu_static: 0.1, ..law }), "mu_static");
    for mu_initial in [0.99 * law.mu_kinetic, 1.01 * law.mu_static, f64::NAN] {
        assert_eq!(refused(Subloading { mu_initial, ..law }), "mu_initial");
    }
    assert_eq!(refused(Subloading { mu_kinetic: 0.0, ..law }), "mu_kinetic");
    assert_eq!(refused(Subloading { stiffness: 0.0, ..law }), "tangential_stiffness");
    assert_eq!(refused(Subloading { kappa: -1.0, ..law }), "kappa");
    assert_eq!(refused(Subloading { eta: -1e-3, ..law }), "eta");
    assert_eq!(refused(Subloading { r: 0.0, ..law }), "r");
    assert_eq!(
        refused(Subloading {
            contact_time: -1.0,
            ..law
        }),
        "contact_time"
    );
    assert_eq!(refused(law.with_exponents(0.0, 1.0)), "kappa_exponent");
    assert_eq!(refused(law.with_exponents(1.0, f64::NAN)), "eta_exponent");
    // Set S of the science page sits on the margin: 1000 N/mm at 100 N.
    assert_near("margin", law.unique_above(100.0), 1000.0, 1e-12);
}

/// The roots of the characteristic polynomial are eigenvalues of the linearised block, spring and contact.
#[test]
fn linearised_steady_sliding() {
    let law = published(100.0);
    let (v, normal, mass, spring) = (0.01, 20.0, 3.0, 10.0);
    let mu = law.steady(v).mu;
    // States: spring stretch, speed, contact stretch, μ; R a little below 1, on the side where the motion is.
    type D = Dual<f64, 4>;
    let contact = mu * normal / law.stiffness * (1.0 - 1e-11);
    let state = [mu * normal / spring, v, contact, mu];
    let s: [D; 4] = std::array::from_fn(|i| D::variable(state[i], i));
    let moved = law
        .lift::<D>()
        .rate([s[2]], s[3], [s[1]], D::lit(normal), D::zero(), D::zero());
    let rates = [
        D::lit(v) - s[1],
        (D::lit(spring) * s[0] - moved.resistance[0]) / D::lit(mass),
        moved.stretch_rate[0],
        moved.mu_rate,
    ];
    let coefficients = law.characteristic(v, normal, mass, spring);
    for growth in [-3.0, -0.4, 0.7, 2.0, 5.0] {
        let matrix: [[f64; 4]; 4] =
            std::array::from_fn(|i| std::array::from_fn(|j| if i == j { growth } else { 0.0 } - rates[i].grad[j]));
        let polynomial = coefficients.into_iter().fold(0.0, |sum, c| sum * growth + c) * (growth + law.r * v);
        let expected = polynomial / coefficients[0];
        assert_near("determinant", determinant(matrix) / expected, 1.0, 1e-6);
    }
    // Routh's criterion misses by −F·a·M·b.
    let [c3, c2, c1, c0] = coefficients;
    let steady = law.steady(v);
    assert_near(
        "Routh",
        (c2 * c1 - c3 * c0) / (-normal * steady.fall * mass * steady.relaxation),
        1.0,
        1e-9,
    );
}

fn determinant<const N: usize>(mut a: [[f64; N]; N]) -> f64 {
    let mut product = 1.0;
    for k in 0..N {
        let best = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        if best != k {
            a.swap(k, best);
            product = -product;
        }
        product *= a[k][k];
        for i in k + 1..N {
            let factor = a[i][k] / a[k][k];
            let row = a[k];
            for (x, y) in a[i].iter_mut().zip(row) {
                *x -= factor * y;
            }
        }
    }
    product
}

/// The rate has no jump where a stretch grows beyond the limit, which a normal force that falls leaves behind: from there it comes
/// back within slip, contact time or step, also where the contact has opened.
#[test]
fn a_stretch_beyond_the_limit_comes_back_without_a_jump() {
    let law = Subloading::plain(0.4, 0.2, 1000.0, 10.0, 0.002, 100.0);
    let (mu, normal, velocity) = (0.3, 50.0, 2.0);
    let limit = mu * normal / law.stiffness;
    let rate = |law: &Subloading<f64>, stretch: f64, normal_rate: f64, step: f64| {
        law.rate([stretch], mu, [velocity], normal, normal_rate, step)
    };
    // Whether the limit seems to rise or to fall: continuous.
    for normal_rate in [-300.0, 0.0, 300.0, 3000.0] {
        let [below, above] = [1.0 - 1e-9, 1.0 + 1e-9].map(|part| rate(&law, part * limit, normal_rate, 0.0));
        assert_near("continuous", above.stretch_rate[0], below.stretch_rate[0], 1e-5);
        assert_near("continuous", above.mu_rate, below.mu_rate, 1e-5);
    }
    // Beyond it: more slip by rest·r·|v|, or rest/time; the force stays at the limit.
    let rest = 0.2 * limit;
    let at_limit = rate(&law, limit, 0.0, 0.0).slip_rate;
    let beyond = rate(&law, limit + rest, 0.0, 0.0);
    assert_near("rate", beyond.slip_rate - at_limit, rest * law.r * velocity, 1e-12);
    assert_near("rate", beyond.resistance[0], mu * normal, 1e-12);
    let slow = Subloading {
        contact_time: 0.5,
        ..law
    };
    let damped = rate(&slow, limit + rest, 0.0, 0.0);
    assert_near(
        "rate",
        damped.slip_rate - at_limit,
        rest * (law.r * velocity + 2.0),
        1e-12,
    );
    assert_near(
        "within a step",
        rate(&law, limit + rest, 0.0, 0.01).slip_rate - at_limit,
        rest / 0.01,
        1e-9,
    );
    // An open contact: no force, no motion but that back to 0.
    let open = law.rate([limit], mu, [velocity], 0.0, 0.0, 0.0);
    assert_near("rate", open.stretch_rate[0], -limit * law.r * velocity, 1e-12);
    assert_eq!(open.resistance, [0.0]);
    assert_near("rate", open.mu_rate, law.healing(mu), 1e-15);
    // What is given back is no motion that the contact time answers.
    assert_eq!(open.damped_rate, [0.0]);
    assert_near("damped", beyond.damped_rate[0], velocity - at_limit, 1e-12);
    // A step of given length takes the stretch to 0 at most, even where the contact snaps.
    let snapping = Subloading { kappa: 1e4, ..law };
    let step = 0.01;
    let snapped = rate(&snapping, limit, -1e9, step);
    assert_near("rate", limit + step * snapped.stretch_rate[0], 0.0, 1e-12);
    // Nor μ beyond its range, from above and from below.
    for mu in [0.3, 0.19] {
        let fast = law.rate([limit], mu, [1e4], normal, 0.0, step);
        assert_near(
            "softened",
            mu + step * (fast.mu_rate - law.healing(mu)),
            law.mu_kinetic,
            1e-9,
        );
    }
    let heals = Subloading { eta: 1e4, ..law };
    assert_near(
        "healed",
        0.3 + step * heals.rate([0.0], 0.3, [0.0], normal, 0.0, step).mu_rate,
        0.4,
        1e-12,
    );
}

/// Where bodies meet, R is not beyond its flow from 0 with the slip since then.
#[test]
fn a_bound_below_one_bounds_the_resistance() {
    let law = Subloading::plain(0.4, 0.2, 1000.0, 10.0, 0.002, 100.0);
    let (mu, normal) = (0.3, 50.0);
    let most = law.evolution.ratio(law.r * 1e-3);
    let limit = most * mu * normal / law.stiffness;
    let at = |stretch: f64| law.rate_below(most, [stretch], mu, [2.0], normal, 0.0, 0.0);
    assert_near("rate", at(2.0 * limit).resistance[0], most * mu * normal, 1e-12);
    assert_near(
        "slip",
        at(2.0 * limit).slip_rate - at(limit).slip_rate,
        limit * law.r * 2.0,
        1e-12,
    );
    let free = law.rate([0.5 * limit], mu, [2.0], normal, 0.0, 0.0);
    assert_near("rate", at(0.5 * limit).slip_rate, free.slip_rate, 1e-15);
}
