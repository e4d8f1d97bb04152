//! Linear stability of steady sliding against characteristic polynomials derived by hand (`reference/steady_sliding.py`).

mod common;

use common::{simulation, written};
use stickslip::analysis::steady::SteadySliding;

/// Real and imaginary parts, the fastest growing first.
type Eigenvalues = &'static [(f64, f64)];

fn compare(what: &str, found: &SteadySliding, expected: Eigenvalues) {
    assert_eq!(found.eigenvalues.len(), expected.len(), "{what}: {found:?}");
    let scale = expected
        .iter()
        .map(|(re, im)| libm::hypot(*re, *im))
        .fold(0.0, f64::max);
    for ([re, im], (expected_re, expected_im)) in found.eigenvalues.iter().zip(expected) {
        let apart = libm::hypot(re - expected_re, im - expected_im);
        assert!(
            apart <= 1e-8 * scale,
            "{what}: {re} + {im}i, not {expected_re} + {expected_im}i"
        );
    }
}

/// Science page, section 3, number 1: unstable everywhere.
#[test]
fn subloading_friction_is_unstable_at_every_speed() {
    // F, alpha, r, kappa, eta, mu_s, mu_k, K, M, v in N, mm, s.
    let cases: [([f64; 10], Eigenvalues); 4] = [
        (
            [100.0, 1000.0, 100.0, 10.0, 0.002, 0.4, 0.2, 10.0, 10.0, 1e-3],
            &[
                (2.966501686395418, 0.0),
                (0.006722559775151889, 0.0),
                (-0.1, 0.0),
                (-3.0337242461705705, 0.0),
            ],
        ),
        (
            [100.0, 1000.0, 100.0, 10.0, 0.002, 0.4, 0.2, 100.0, 2.0, 0.05],
            &[
                (0.02260084974641635, 7.008208695021271),
                (0.02260084974641635, -7.008208695021271),
                (-2.5552116994928338, 0.0),
                (-5.0, 0.0),
            ],
        ),
        (
            [10.0, 1000.0, 1000.0, 10.0, 0.002, 0.4, 0.2, 10.0, 10.0, 1e-2],
            &[
                (0.020868378171891036, 0.960883130711715),
                (0.020868378171891036, -0.960883130711715),
                (-0.5472372518839214, 0.0),
                (-10.0, 0.0),
            ],
        ),
        (
            [60.0, 3000.0, 200.0, 4.0, 0.01, 0.5, 0.3, 25.0, 0.5, 0.02],
            &[
                (0.11571719011624237, 5.262869951508899),
                (0.11571719011624237, -5.262869951508899),
                (-0.5191716973815667, 0.0),
                (-4.0, 0.0),
            ],
        ),
    ];
    for (numbers, expected) in cases {
        let [f, alpha, r, kappa, eta, mu_s, mu_k, k, m, v] = numbers;
        let sets = [
            format!("elements.floor.normal_force={f}"),
            format!("elements.floor.tangential_stiffness={alpha} N/mm"),
            format!("elements.floor.r={r} 1/mm"),
            format!("elements.floor.kappa={kappa} 1/mm"),
            format!("elements.floor.eta={eta}"),
            format!("elements.floor.mu_static={mu_s}"),
            format!("elements.floor.mu_kinetic={mu_k}"),
            format!("elements.spring.stiffness={k} N/mm"),
            format!("bodies.block.mass={m} t"),
            format!("bodies.hook.velocity={v} mm/s"),
            "elements.floor.contact_time=0".to_string(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let found = SteadySliding::of(&simulation("fig003-5.toml", &sets)).unwrap();
        compare(&format!("{numbers:?}"), &found, expected);
        assert!(!found.stable);
        assert_eq!([found.growth, found.frequency], found.eigenvalues[0]);
        // The same with the method whose frictions are no part of the differential equations.
        let other = [&sets[..], &["simulation.integrator=implicit-euler"][..]].concat();
        let again = SteadySliding::of(&simulation("fig003-5.toml", &other)).unwrap();
        assert_eq!(again, found);
    }
}

/// A block on a belt: drawn by the friction, held by a spring.
fn on_a_belt(numbers: [f64; 9], law: &str) -> String {
    let [mass, stiffness, s0, s1, s2, kinetic, still, stribeck, v] = numbers;
    let damping = if law == "lugre" {
        format!("damping = {s1:?}")
    } else {
        String::new()
    };
    let curve = if still > kinetic {
        format!("static = {still:?}\nstribeck_velocity = {stribeck:?}")
    } else {
        String::new()
    };
    format!(
        r#"
[simulation]
duration = 1
step = 1e-4
integrator = "rk4"
[bodies.block]
kind = "mass"
mass = {mass:?}
[bodies.belt]
kind = "driver"
velocity = {v:?}
[elements.spring]
kind = "spring"
between = ["block", "ground"]
stiffness = {stiffness:?}
[elements.rub]
kind = "friction"
between = ["block", "belt"]
law = "{law}"
kinetic = {kinetic:?}
viscous = {s2:?}
stiffness = {s0:?}
{damping}
{curve}
"#
    )
}

/// LuGre friction is unstable where its steady curve falls faster than the damping holds; Dahl's neither grows nor dies out.
#[test]
fn bristles_follow_their_steady_curve() {
    let cases: [(&str, [f64; 9], Eigenvalues, bool); 3] = [
        (
            "lugre",
            [1.0, 100.0, 1e5, 100.0, 0.5, 10.0, 12.0, 0.01, 0.02],
            &[
                (6.694635853897497, 7.068539230760491),
                (6.694635853897497, -7.068539230760491),
                (-210.23951346086454, 0.0),
            ],
            false,
        ),
        (
            "lugre",
            [1.0, 100.0, 1e5, 100.0, 5.0, 10.0, 12.0, 0.01, 0.05],
            &[
                (-2.499999986044747, 9.682458368976944),
                (-2.499999986044747, -9.682458368976944),
                (-500.000000012634, 0.0),
            ],
            true,
        ),
        (
            "dahl",
            [2.0, 300.0, 2e4, 0.0, 0.0, 10.0, 10.0, 0.01, 0.05],
            &[(0.0, 12.24744871391589), (0.0, -12.24744871391589), (-100.0, 0.0)],
            false,
        ),
    ];
    for (law, numbers, expected, stable) in cases {
        let found = SteadySliding::of(&written(&on_a_belt(numbers, law), &[])).unwrap();
        compare(law, &found, expected);
        assert_eq!(found.stable, stable, "{found:?}");
    }
}

/// Two blocks in a row, with viscous friction only: the eigenvalues are those of the damped chain.
#[test]
fn several_blocks() {
    let text = r#"
[simulation]
duration = 1
step = 1e-3
integrator = "adaptive"
[bodies.hook]
kind = "driver"
velocity = 0.3
[bodies.first]
kind = "mass"
mass = 1
[bodies.second]
kind = "mass"
mass = 1
[elements.pull]
kind = "spring"
between = ["hook", "first"]
stiffness = 100
[elements.link]
kind = "spring"
between = ["first", "second"]
stiffness = 100
[elements.floor1]
kind = "friction"
between = ["first", "ground"]
law = "dahl"
kinetic = 4
stiffness = 1e4
viscous = 2
[elements.floor2]
kind = "friction"
between = ["second", "ground"]
law = "dahl"
kinetic = 1
stiffness = 1e4
viscous = 2
"#;
    let found = SteadySliding::of(&written(text, &[])).unwrap();
    // s² + 2 s + 100 (3 ± √5)/2 = 0, and the bristles die out with stiffness·v/force.
    let frequency = |sign: f64| (100.0 * (3.0 + sign * 5f64.sqrt()) / 2.0 - 1.0).sqrt();
    let (fast, slow) = (frequency(1.0), frequency(-1.0));
    let expected = [
        (-1.0, fast),
        (-1.0, slow),
        (-1.0, -slow),
        (-1.0, -fast),
        (-750.0, 0.0),
        (-3000.0, 0.0),
    ];
    assert_eq!(found.eigenvalues.len(), 6);
    for (re, im) in expected {
        let near = |z: &&[f64; 2]| libm::hypot(z[0] - re, z[1] - im) < 1e-6;
        assert!(found.eigenvalues.iter().any(|z| near(&z)), "{re} + {im}i: {found:?}");
    }
    assert!(found.stable);
}

#[test]
fn what_does_not_slide_has_none() {
    let block = [1.0, 100.0, 1e5, 100.0, 0.5, 10.0, 12.0, 0.01, 0.02];
    let text = on_a_belt(block, "lugre");
    let reason = |set: &str| SteadySliding::of(&written(&text, &[set])).unwrap_err();
    assert_eq!(reason("bodies.belt.velocity=0"), "no driver moves");
    assert_eq!(reason("bodies.belt.velocity=0.1*t"), "\"belt\" changes with time");
}
