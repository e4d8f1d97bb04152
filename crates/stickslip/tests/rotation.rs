//! Gyroscopic and Coriolis forces in the implicit step: free motion never gains energy, momentum stays, what is stuck stays, and the motion
//! converges to that of the differential equations.

mod common;

use common::{orders, written};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stickslip::run::{Ended, Options, run};
use stickslip::{Body, Element, Simulation};

/// Small numbers without a pattern, the same in every run.
struct Random(u64);

impl Random {
    /// Between −1 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, scale: f64) -> [f64; 3] {
        std::array::from_fn(|_| scale * self.next())
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.next() + 1.0)
    }
}

fn head(integrator: &str, step: f64, gravity: f64) -> String {
    format!(
        "[simulation]\nduration = 100\nstep = {step}\nintegrator = \"{integrator}\"\ngravity = [0, 0, -{gravity}]\n"
    )
}

/// Kinetic and gravitational energy of the state.
fn energy(simulation: &mut Simulation) -> f64 {
    simulation.energy().0
}

/// Inertia of a random box of masses, by its six components.
fn inertia(random: &mut Random, scale: f64) -> (Matrix3<f64>, String) {
    let mut m = Matrix3::zeros();
    for _ in 0..5 {
        let point = Vector3::from(random.vector(1.0)).component_mul(&Vector3::new(1.0, 0.6, 0.3));
        m += Matrix3::from_diagonal_element(point.norm_squared()) - point * point.transpose();
    }
    m *= scale;
    let list = [m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(0, 2)], m[(1, 2)]];
    (m, format!("{list:?}"))
}

#[test]
fn a_spinning_body_gains_no_energy_and_keeps_its_angular_momentum() {
    let mut random = Random(11);
    for (rate, step, steps) in [
        (17.0, 1e-3, 10_000),
        (17.0, 5e-3, 2_000),
        (47.0, 1e-4, 30_000),
        (47.0, 1e-3, 10_000),
        (47.0, 5e-3, 2_000),
        (300.0, 5e-3, 2_000),
    ] {
        for _ in 0..3 {
            let (inertia, list) = inertia(&mut random, 0.4);
            // About the middle axis, where the motion is unstable, and a little beside it.
            let axes = inertia.symmetric_eigen();
            let mut order = [0, 1, 2];
            order.sort_by(|a, b| axes.eigenvalues[*a].total_cmp(&axes.eigenvalues[*b]));
            let beside = Vector3::from(random.vector(0.1 * rate));
            let spin = axes.eigenvectors.column(order[1]) * rate + beside;
            let text = format!(
                "{}[bodies.top]\nkind = \"rigid-body\"\nmass = 2\ninertia = {list}\nvelocity = [1, 2, 3]\nangular_velocity = {:?}\n",
                head("implicit-euler", step, 0.0),
                spin.as_slice()
            );
            let mut simulation = written(&text, &[]);
            let parts = |simulation: &Simulation| {
                let (q, v) = (simulation.position(Body::nth(0)), simulation.velocity(Body::nth(0)));
                let turn =
                    UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6])).to_rotation_matrix();
                let spin = Vector3::new(v[3], v[4], v[5]);
                let momentum = turn * (inertia * (turn.inverse() * spin));
                (0.5 * spin.dot(&momentum), momentum)
            };
            let (start, momentum) = parts(&simulation);
            let mut last = start;
            for _ in 0..steps {
                simulation.advance(1).unwrap();
                let (energy, now) = parts(&simulation);
                assert!(
                    energy <= last * (1.0 + 1e-14),
                    "{rate} rad/s, {step} s: {energy} after {last}"
                );
                assert!(
                    (now - momentum).norm() < 1e-11 * momentum.norm(),
                    "{rate} rad/s, {step} s: {now} was {momentum}"
                );
                last = energy;
            }
            // Less than the smallest energy with this momentum is impossible.
            assert!(last >= 0.5 * momentum.norm_squared() / axes.eigenvalues.max() * (1.0 - 1e-12));
            let [x, y, z] = [0, 1, 2].map(|i| simulation.position(Body::nth(0))[i]);
            let time = step * steps as f64;
            assert!((x - time).abs() < 1e-9 && (y - 2.0 * time).abs() < 1e-9 && (z - 3.0 * time).abs() < 1e-9);
        }
    }
}

/// A tree of links with random axes, masses and motion.
fn tree(random: &mut Random, links: usize, floating: bool, speed: f64) -> String {
    let mut text = String::new();
    for i in 0..links {
        // Mostly a chain, with branches.
        let parent = match i {
            0 => "ground".to_owned(),
            _ if random.next() > 0.6 => format!("l{}", (random.between(0.0, i as f64) as usize).min(i - 1)),
            _ => format!("l{}", i - 1),
        };
        let kind = if random.next() > 0.7 && i > 0 {
            "prismatic"
        } else {
            "revolute"
        };
        let (m, q, v) = (random.between(0.3, 1.5), random.next(), speed * random.next());
        let (axis, origin, com): ([f64; 3], _, _) = (random.vector(1.0), random.vector(0.3), random.vector(0.2));
        let list = inertia(random, 0.004).1;
        let start = if floating && i == 0 {
            String::new()
        } else {
            format!(", position = {q}, velocity = {v}")
        };
        text += &format!(
            "{{ name = \"l{i}\", parent = \"{parent}\", joint = \"j{i}\", type = \"{kind}\", axis = {axis:?}, origin = {origin:?}, mass = {m}, com = {com:?}, \
             inertia = {list}{start} }},\n"
        );
    }
    format!("[bodies.tree]\nkind = \"linkage\"\nfloating = {floating}\nlinks = [\n{text}]\n")
}

/// The simulation of a text with a tree; a free base gets a motion of its own.
fn in_motion(text: &str, random: &mut Random, speed: f64) -> Simulation {
    let mut simulation = written(text, &[]);
    if text.contains("floating = true") {
        let mut v = simulation.velocity(Body::nth(0)).to_vec();
        v[..3].copy_from_slice(&random.vector(2.0));
        v[3..6].copy_from_slice(&random.vector(speed));
        simulation.set_velocity(Body::nth(0), &v).unwrap();
    }
    simulation
}

#[test]
fn linkages_in_free_motion_never_gain_energy() {
    let mut random = Random(5);
    for (links, speed, step, steps) in [
        (1, 20.0, 1e-3, 2000),
        (2, 25.0, 1e-3, 2000),
        (2, 6.0, 5e-3, 1000),
        (3, 12.0, 1e-3, 2000),
        (5, 10.0, 5e-4, 2000),
        (9, 6.0, 1e-3, 2000),
        (30, 2.0, 1e-3, 1000),
        (30, 2.0, 5e-4, 1000),
    ] {
        for (floating, draw) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
            let text = format!(
                "{}{}",
                head("implicit-euler", step, 0.0),
                tree(&mut random, links, floating, speed)
            );
            let mut simulation = in_motion(&text, &mut random, speed);
            let start = energy(&mut simulation);
            let mut last = start;
            for k in 0..steps {
                simulation.advance(1).unwrap();
                let now = energy(&mut simulation);
                assert!(
                    now <= last * (1.0 + 1e-13),
                    "{links} links, floating {floating}, draw {draw}, step {k}: {now} after {last} J"
                );
                last = now;
            }
            // A hinge or slide alone has nothing to lose.
            if links == 1 && !floating {
                assert!((last - start).abs() < 1e-11 * start, "{last} was {start}");
            }
        }
    }
}

/// Under weight the energy swings about its mean by half a step of the weight's power, as that of every force taken at the start of the step; it grows no more than by that.
#[test]
fn linkages_under_their_weight_gain_no_energy_but_for_half_a_step() {
    let mut random = Random(23);
    for (links, speed, step) in [
        (1, 3.0, 1e-3),
        (2, 3.0, 1e-3),
        (2, 3.0, 5e-4),
        (4, 2.0, 1e-3),
        (7, 1.0, 1e-3),
        (7, 1.0, 5e-4),
    ] {
        for floating in [false, true] {
            let text = format!(
                "{}{}",
                head("implicit-euler", step, 9.81),
                tree(&mut random, links, floating, speed)
            );
            // Slides would fall for ever.
            let text = text.replace("prismatic", "revolute");
            let mut simulation = in_motion(&text, &mut random, speed);
            let still = vec![0.0; simulation.velocity(Body::nth(0)).len()];
            let weight = |simulation: &Simulation| {
                let mut resting = simulation.clone();
                resting.set_velocity(Body::nth(0), &still).unwrap();
                energy(&mut resting)
            };
            let start = energy(&mut simulation);
            let (mut height, mut swing) = (weight(&simulation), 0.0f64);
            for k in 0..2000 {
                simulation.advance(1).unwrap();
                let (now, next) = (energy(&mut simulation), weight(&simulation));
                swing = swing.max((next - height).abs());
                height = next;
                assert!(
                    now - start <= 1.1 * swing,
                    "{links} links, floating {floating}, {step} s, step {k}: {now} after {start} J, of {swing}"
                );
            }
        }
    }
}

/// A crane: a post that turns freely about the vertical, and a jib on a hinge with friction.
fn crane(step: f64, rate: f64, limit: f64) -> String {
    format!(
        "{}[bodies.crane]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"post\", parent = \"ground\", joint = \"turn\", type = \"revolute\", axis = [0, 0, 1], mass = 3, inertia = [0.1, 0.1, 0.07], velocity = {rate} }},\n\
         {{ name = \"jib\", parent = \"post\", joint = \"tilt\", type = \"revolute\", axis = [0, -1, 0], origin = [0.25, 0, 0], mass = 0.8, com = [0.3, 0, 0], inertia = [0.001, 0.02, 0.02], position = 0.5 }},\n]\n\
         [elements.hinge]\nkind = \"friction\"\non = \"crane.tilt\"\nlaw = \"implicit\"\nkinetic = {limit}\n",
        head("implicit-euler", step, 9.81)
    )
}

/// What the hinge of the crane must hold: the centrifugal force at the jib's lever less its weight, about the axis that lifts the jib.
fn asked(rate: f64) -> f64 {
    let (s, c) = 0.5f64.sin_cos();
    // ½·ω²·dI/dq with I(q) = m·(a + r·cos q)² + J₁·sin²q + J₂·cos²q about the vertical, and m·g·r·cos q.
    let slope = -2.0 * 0.8 * (0.25 + 0.3 * c) * 0.3 * s + 2.0 * (0.001 - 0.02) * s * c;
    -0.5 * rate * rate * slope + 0.8 * 9.81 * 0.3 * c
}

#[test]
fn a_joint_that_is_stuck_on_a_turning_arm_stays_and_bears_the_centrifugal_load() {
    for (rate, step) in [(4.0, 1e-3), (9.0, 1e-3), (9.0, 5e-3)] {
        let mut simulation = written(&crane(step, rate, 1.02 * asked(rate)), &[]);
        for _ in 0..2000 {
            simulation.advance_observed(1).unwrap();
            assert_eq!(simulation.velocity(Body::nth(0))[1], 0.0);
        }
        assert_eq!(simulation.position(Body::nth(0))[1], 0.5);
        let turned = simulation.velocity(Body::nth(0))[0];
        assert!((turned - rate).abs() < 1e-10 * rate, "{turned}");
        let force = simulation.force(Element::nth(0))[0].abs();
        assert!(
            (force - asked(rate)).abs() < 1e-9 * force,
            "{force} for {}",
            asked(rate)
        );
        // It yields just beyond.
        let mut weak = written(&crane(step, rate, 0.98 * asked(rate)), &[]);
        weak.advance(200).unwrap();
        assert!((weak.position(Body::nth(0))[1] - 0.5).abs() > 1e-4);
    }
}

#[test]
fn a_moving_frame_of_reference_changes_nothing() {
    let mut random = Random(31);
    for links in [1, 2, 6] {
        let text = format!(
            "{}{}",
            head("implicit-euler", 1e-3, 0.0),
            tree(&mut random, links, true, 5.0)
        );
        let mut slow = in_motion(&text, &mut random, 5.0);
        let mut fast = slow.clone();
        let mut v = slow.velocity(Body::nth(0)).to_vec();
        for (v, more) in v.iter_mut().zip([40.0, -30.0, 20.0]) {
            *v += more;
        }
        fast.set_velocity(Body::nth(0), &v).unwrap();
        for simulation in [&mut slow, &mut fast] {
            simulation.advance(500).unwrap();
        }
        for (i, (a, b)) in slow
            .position(Body::nth(0))
            .iter()
            .zip(fast.position(Body::nth(0)))
            .enumerate()
        {
            let carried = [20.0, -15.0, 10.0].get(i).copied().unwrap_or(0.0);
            assert!((b - a - carried).abs() < 1e-8, "{links} links: {a} and {b}");
        }
    }
}

/// A heavy symmetric top in three hinges: precession, tilt and spin.
fn top(step: f64, [precession, spin]: [f64; 2]) -> String {
    let massless = "mass = 0";
    format!(
        "{}[bodies.top]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"fork\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 0, 1], {massless}, velocity = {precession} }},\n\
         {{ name = \"ring\", parent = \"fork\", joint = \"b\", type = \"revolute\", axis = [1, 0, 0], {massless}, position = 0.6 }},\n\
         {{ name = \"disc\", parent = \"ring\", joint = \"c\", type = \"revolute\", axis = [0, 0, 1], mass = 0.5, com = [0, 0, 0.1], inertia = [0.0015, 0.0015, 0.0025], velocity = {spin} }},\n]\n",
        head("implicit-euler", step, 9.81)
    )
}

#[test]
fn a_heavy_top_precesses_at_its_rate() {
    // Steady precession at the tilt θ (Goldstein, section 5.7): A·Ω²·cos θ − C·ω₃·Ω + m·g·l = 0, with A about the tip.
    let (a, c, cosine) = (0.0015 + 0.5 * 0.01, 0.0025, 0.6f64.cos());
    let (about, weight) = (c * 100.0, 0.5 * 9.81 * 0.1);
    let rate = (about - (about * about - 4.0 * a * cosine * weight).sqrt()) / (2.0 * a * cosine);
    let errors: Vec<f64> = [1e-3, 5e-4, 2.5e-4]
        .iter()
        .map(|step| {
            let mut simulation = written(&top(*step, [rate, 100.0 - rate * cosine]), &[]);
            simulation.advance((2.0 / step).round() as u64).unwrap();
            let q = simulation.position(Body::nth(0));
            assert!((q[1] - 0.6).abs() < 20.0 * step, "tilt {}", q[1]);
            (q[0] / (2.0 * rate) - 1.0).abs()
        })
        .collect();
    assert!(
        errors[0] < 0.02 && errors[2] < 0.6 * errors[1] && errors[1] < 0.6 * errors[0],
        "{errors:?}"
    );
}

#[test]
fn an_arm_in_space_converges_with_first_order() {
    let mut random = Random(3);
    for floating in [false, true] {
        let text = tree(&mut random, 4, floating, 4.0);
        let start = in_motion(&format!("{}{text}", head("rk4", 1e-4, 9.81)), &mut random, 4.0);
        let v = start.velocity(Body::nth(0)).to_vec();
        let at_end = |integrator: &str, step: f64| {
            let mut simulation = written(&format!("{}{text}", head(integrator, step, 9.81)), &[]);
            simulation.set_velocity(Body::nth(0), &v).unwrap();
            simulation.advance((0.3 / step).round() as u64).unwrap();
            let (q, v) = (simulation.position(Body::nth(0)), simulation.velocity(Body::nth(0)));
            q.iter().chain(v).copied().collect::<Vec<f64>>()
        };
        let exact = at_end("rk4", 1e-4);
        let errors: Vec<f64> = [1e-3, 5e-4, 2.5e-4, 1.25e-4]
            .iter()
            .map(|step| {
                let end = at_end("implicit-euler", *step);
                end.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            })
            .collect();
        for order in orders(&errors) {
            assert!(
                (order - 1.0).abs() < 0.25,
                "floating {floating}: order {order}, {errors:?}"
            );
        }
    }
}

/// Joints that stick and slip by turns on an arm that falls: E + heat stays below E₀ but for half a step of the weight's power.
#[test]
fn a_falling_arm_with_friction_in_its_joints_gains_no_energy() {
    for (links, limit, step) in [(12, 1.3, 1e-3), (24, 2.5, 1e-3), (30, 0.6, 1e-3), (30, 1.7, 5e-4)] {
        let mut text = head("implicit-euler", step, 9.81).replace("duration = 100", "duration = 2");
        text += "[bodies.arm]\nkind = \"linkage\"\nlinks = [\n";
        for i in 0..links {
            let (parent, height) = match i {
                0 => ("ground".to_owned(), 0.0),
                _ => (format!("l{}", i - 1), 0.18),
            };
            let axis = if i % 2 == 0 { "[0, 0, 1]" } else { "[0, 1, 0]" };
            text += &format!(
                "{{ name = \"l{i}\", parent = \"{parent}\", joint = \"j{i}\", type = \"revolute\", axis = {axis}, origin = [0, 0, {height}], mass = 0.9, com = [0.03, 0, 0.09], \
                 inertia = [0.009, 0.011, 0.004], position = 0.25, velocity = 0.7 }},\n"
            );
        }
        text += "]\n";
        for i in 0..links {
            text += &format!(
                "[elements.f{i}]\nkind = \"friction\"\non = \"arm.j{i}\"\nlaw = \"implicit\"\nkinetic = {limit}\n"
            );
        }
        let mut simulation = written(&text, &[]);
        let start = energy(&mut simulation);
        let steps = simulation.built().steps;
        for k in 0..steps {
            simulation.advance(1).unwrap();
            let now = energy(&mut simulation);
            assert!(now < 1.0005 * start, "{links} links, step {k}: {now} after {start} J");
        }
        let outcome = run(&mut written(&text, &[]), None, Options::default()).unwrap();
        assert_eq!(outcome.ended, Ended::Complete);
        let energy = outcome.report.energy.as_ref().unwrap();
        let apart = (energy.residual - energy.numerical.unwrap()).abs();
        assert!(apart < 1e-9 * start, "{energy:?}");
        assert!(energy.residual > 0.0, "{energy:?}");
        assert!(outcome.report.doubts.is_empty(), "{:?}", outcome.report.doubts);
    }
}

/// What the method takes or gives by itself explains all that is missing in the ledger.
#[test]
fn the_ledger_of_a_moving_linkage_closes() {
    let mut random = Random(77);
    for floating in [false, true] {
        let mut text = format!(
            "{}{}",
            head("implicit-euler", 1e-3, 9.81),
            tree(&mut random, 5, floating, 4.0)
        )
        .replace("duration = 100", "duration = 2");
        for joint in 1..5 {
            text += &format!(
                "[elements.f{joint}]\nkind = \"friction\"\non = \"tree.j{joint}\"\nlaw = \"implicit\"\nkinetic = 0.3\n"
            );
        }
        let outcome = run(&mut written(&text, &[]), None, Options::default()).unwrap();
        assert_eq!(outcome.ended, Ended::Complete);
        let energy = outcome.report.energy.as_ref().unwrap();
        let apart = (energy.residual - energy.numerical.unwrap()).abs();
        assert!(apart < 1e-9 * energy.dissipated, "{energy:?}");
        assert!(
            energy.dissipated > 1e-3 && outcome.report.doubts.is_empty(),
            "{energy:?} {:?}",
            outcome.report.doubts
        );
    }
}
