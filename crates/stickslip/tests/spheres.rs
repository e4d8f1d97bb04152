//! Many spheres on a plane: against closed forms, against a single ball of a network, and against themselves by other
//! numbers of threads.
#![allow(missing_docs)]

use stickslip::run::{Options, run};
use stickslip::scenario::Scenario;
use stickslip::simulation::RunError;
use stickslip::spheres::Ball;
use stickslip::{Body, Simulation};

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "spheres.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn head(duration: &str, gravity: &str) -> String {
    format!(
        "[simulation]\nduration = \"{duration}\"\nstep = \"1 ms\"\nintegrator = \"implicit-euler\"\ngravity = {gravity}\n"
    )
}

const SLIDING: &str = r#"
[spheres]
count = 300
body = { shape = { sphere = "0.2 m" }, mass = "0.3 kg", position = [0, 0, 0.2], velocity = [2, 0, 0] }
spacing = "1 m"
[spheres.contact]
surface = { plane = { normal = [0, 0, 1], offset = 0 } }
normal = { law = "rigid" }
friction = { law = "implicit", mu = 0.1 }
"#;

#[test]
fn sliding_spheres_slow_down_by_mu_g_and_end_up_rolling() {
    let mut many = simulation(&(head("1 s", "[0, 0, -9.8]") + SLIDING));
    many.advance(400).unwrap();
    for ball in many.spheres().unwrap().1.balls() {
        // v − μ·g·t, and spin 5·μ·g·t/(2·r) about y.
        assert!(
            (ball.velocity.x - (2.0 - 0.98 * 0.4)).abs() < 1e-12,
            "{}",
            ball.velocity.x
        );
        assert!((ball.angular_velocity.y - 2.5 * 0.98 * 0.4 / 0.2).abs() < 1e-11);
        assert_eq!((ball.position.z, ball.velocity.z), (0.2, 0.0));
    }
    // Slip ends after 2·v/(7·μ·g) = 0.58309 s; from then on they roll at 5/7 of the speed.
    many.advance(600).unwrap();
    for ball in many.spheres().unwrap().1.balls() {
        assert!((ball.velocity.x - 10.0 / 7.0).abs() < 1e-12);
        assert!((ball.velocity.x - 0.2 * ball.angular_velocity.y).abs() < 1e-14);
    }
    many.observe();
    assert_eq!(
        (many.spheres_seen().touching, many.spheres_seen().slipping),
        (300.0, 0.0)
    );
}

/// Tilted plane, fall from a height, rebound, static friction: everything that a ball can meet.
const FALLING: &str = r#"
[spheres]
count = 12
body = { shape = { sphere = "0.1 m" }, mass = "0.5 kg", position = [0.1, -0.2, 0.6], velocity = [0.5, 0.2, -0.3], angular_velocity = [3, -8, 20] }
spacing = "5 m"
spread = { velocity = "0.4 m/s", position = "0.1 m", seed = 4 }
[spheres.contact]
surface = { plane = { normal = [0, 0.28, 0.96], offset = 0.05 } }
normal = { law = "rigid", restitution = 0.4 }
friction = { law = "implicit", mu = 0.2, mu_static = 0.3 }
"#;

#[test]
fn each_sphere_moves_as_a_ball_of_a_network() {
    let mut many = simulation(&(head("2 s", "[0, 0, -9.8]") + FALLING));
    let start: Vec<Ball> = many.spheres().unwrap().1.balls().to_vec();
    assert_ne!(start[0].velocity, start[1].velocity);
    many.advance(2000).unwrap();
    for (i, (first, last)) in start.iter().zip(many.spheres().unwrap().1.balls()).enumerate() {
        let list = |v: &nalgebra::Vector3<f64>| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        let text = head("2 s", "[0, 0, -9.8]")
            + &format!(
                "[bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 0.5\nposition = {}\nvelocity = {}\n\
                 angular_velocity = {}\n[elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
                 surface = {{ plane = {{ normal = [0, 0.28, 0.96], offset = 0.05 }} }}\n\
                 normal = {{ law = \"rigid\", restitution = 0.4 }}\n\
                 friction = {{ law = \"implicit\", mu = 0.2, mu_static = 0.3 }}\n",
                list(&first.position),
                list(&first.velocity),
                list(&first.angular_velocity)
            );
        let mut single = simulation(&text);
        single.advance(2000).unwrap();
        let (q, v) = (single.position(Body::nth(0)), single.velocity(Body::nth(0)));
        for k in 0..3 {
            assert!((last.position[k] - q[k]).abs() < 1e-10, "position {k} of sphere {i}");
            assert!((last.velocity[k] - v[k]).abs() < 1e-10, "velocity {k} of sphere {i}");
            assert!(
                (last.angular_velocity[k] - v[3 + k]).abs() < 1e-9,
                "spin {k} of sphere {i}"
            );
        }
        for k in 0..4 {
            assert!(
                (last.rotation[k] - q[3 + k]).abs() < 1e-10,
                "rotation {k} of sphere {i}"
            );
        }
    }
}

#[test]
fn threads_and_portions_do_not_change_a_bit() {
    let text = head("1 s", "[0, 0, -9.8]")
        + &SLIDING.replace("count = 300", "count = 3000\nspread = { velocity = \"0.1 m/s\" }");
    let mut reference: Option<Vec<Ball>> = None;
    for (threads, portions) in [(1, vec![90]), (2, vec![90]), (3, vec![1, 40, 49])] {
        let mut many = simulation(&text);
        many.use_threads(threads);
        portions.iter().for_each(|portion| many.advance(*portion).unwrap());
        let balls = many.spheres().unwrap().1.balls().to_vec();
        assert!(*reference.get_or_insert(balls.clone()) == balls);
    }
}

#[test]
fn the_energy_ledger_closes() {
    for lines in [SLIDING, FALLING] {
        let mut many = simulation(&(head("2 s", "[0, 0, -9.8]") + lines));
        let report = run(&mut many, None, Options::default()).unwrap().report;
        let energy = report.energy.unwrap();
        assert!(energy.dissipated > 1.0, "{energy:?}");
        let difference = (energy.residual - energy.numerical.unwrap()).abs();
        assert!(
            difference < 1e-10 * energy.initial.abs().max(energy.dissipated),
            "{difference:e} {energy:?}"
        );
    }
}

/// Smallest distance of two surfaces, over all pairs.
fn closest(balls: &[Ball], radius: f64) -> f64 {
    let mut least = f64::INFINITY;
    for (i, a) in balls.iter().enumerate() {
        for b in &balls[..i] {
            least = least.min((a.position - b.position).norm() - 2.0 * radius);
        }
    }
    least
}

#[test]
fn a_run_ends_when_two_spheres_meet_and_not_before() {
    for seed in 0..4 {
        let lines = SLIDING
            .replace(
                "count = 300",
                &format!("count = 60\nspread = {{ velocity = \"1 m/s\", seed = {seed} }}"),
            )
            .replace("spacing = \"1 m\"", "spacing = \"0.6 m\"");
        let mut many = simulation(&(head("2 s", "[0, 0, -9.8]") + &lines));
        for _ in 0..2000 {
            let apart = closest(many.spheres().unwrap().1.balls(), 0.2);
            let time = many.time();
            match many.advance(1) {
                Ok(()) => assert!(apart >= -1e-12, "an overlap of {apart} m at {time} s was missed"),
                Err(RunError::Unsupported {
                    time: reported, what, ..
                }) => {
                    assert!(apart < 0.0 && reported == time, "{apart} {what}");
                    break;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(many.time() > 0.01 && many.time() < 2.0);
    }
}

#[test]
fn impossible_spheres_are_refused() {
    for (from, to, says) in [
        ("law = \"rigid\"", "law = \"kelvin-voigt\", stiffness = 1e5", "rigid"),
        ("law = \"implicit\"", "law = \"proxy\"", "implicit"),
        (
            "position = [0, 0, 0.2]",
            "position = [0, 0, 0.1]",
            "begins inside the plane",
        ),
        ("{ sphere = \"0.2 m\" }", "{ box = [1, 1, 1] }", "are spheres"),
        ("velocity = [2, 0, 0]", "force = [1, 0, 0]", "does not act"),
        ("count = 300", "count = 0", "a whole number"),
        ("spacing = \"1 m\"", "spacing = 0", "greater than 0"),
        ("spacing = \"1 m\"", "distance = 1", "unknown key `distance`"),
    ] {
        assert!(SLIDING.contains(from), "{from}");
        let text = head("1 s", "[0, 0, -9.8]") + &SLIDING.replace(from, to);
        let error = match Scenario::parse(&text, "spheres.toml", &[]).and_then(Simulation::new) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{to} is accepted"),
        };
        assert!(error.contains(says), "{says}\n{error}");
    }
}
