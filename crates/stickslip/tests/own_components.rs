//! Elements and bodies of the user's own, in Rust and as equations in files: against closed forms, against exact recursions, and against
//! the built-in elements that they imitate.

use stickslip::Simulation;
use stickslip::element::own::{Motion, OwnElement, Update};
use stickslip::handle::Body;
use stickslip::integrate::Method;
use stickslip::model::{Friction, GROUND, Model};
use stickslip::run::{Ended, Options, run};
use stickslip::scenario::Connection;
use stickslip::scenario::{Plane, Scenario};
use stickslip::trace::Columns;

const METHODS: [&str; 8] = [
    "euler",
    "rk4",
    "implicit-euler",
    "implicit-midpoint",
    "adaptive",
    "stiff",
    "newmark",
    "trapezoidal",
];

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1e-12),
        "{what}: {found} {expected}"
    );
}

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "own.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn head(method: &str, step: f64) -> String {
    format!(
        "[simulation]\nduration = 4\nstep = {step}\nintegrator = \"{method}\"\n{}",
        match method {
            "adaptive" | "stiff" => "relative_tolerance = 1e-9\n",
            _ => "",
        }
    )
}

/// What an integrator of this name is accurate to, at a step of 1 ms.
fn accuracy(method: &str) -> f64 {
    match method {
        // The midpoint rule takes states of elements at the end of the step.
        "euler" | "implicit-euler" | "implicit-midpoint" | "newmark" => 4e-3,
        "trapezoidal" => 1e-6,
        // The sum of local errors of 1e-9.
        "stiff" => 1e-6,
        _ => 2e-8,
    }
}

#[test]
fn drag_slows_a_ball_as_the_closed_form_says_with_every_integrator() {
    // v = v0/(1 + c·v0·t/m).
    let exact = 7.0 / (1.0 + 0.4 * 7.0 * 1.5 / 2.0);
    for method in METHODS {
        let mut simulation = simulation(&format!(
            "{}[bodies.ball]\nkind = \"mass\"\nmass = 2\nvelocity = 7\n\
             [elements.air]\nkind = \"equations\"\non = \"ball\"\nparameters = {{ c = 0.4 }}\nforce = \"-c*abs(v)*v\"\n",
            head(method, 1e-3)
        ));
        simulation.advance(1500).unwrap();
        near(method, simulation.velocity(Body::nth(0))[0], exact, accuracy(method));
    }
}

/// A spring and a damper in series, pulled at a constant velocity: f = −c·u·(1 − exp(−k·t/c)).
#[test]
fn a_maxwell_element_relaxes_as_the_closed_form_says_with_every_integrator() {
    let (k, c, u, t) = (300.0, 60.0, 0.25, 0.4);
    let exact = -c * u * (1.0 - f64::exp(-k * t / c));
    for method in METHODS {
        let mut simulation = simulation(&format!(
            "{}[bodies.pull]\nkind = \"driver\"\nvelocity = {u}\n[bodies.idle]\nkind = \"mass\"\nmass = 1\n\
             [elements.maxwell]\nkind = \"equations\"\nbetween = [\"pull\", \"ground\"]\nstates = {{ z = 0 }}\n\
             parameters = {{ k = \"{k} N/m\", c = {c} }}\nforce = \"-z\"\nrates = {{ z = \"k*v - z*k/c\" }}\nstored = \"z^2/(2*k)\"\n",
            head(method, 1e-3)
        ));
        simulation.advance(400).unwrap();
        let maxwell = simulation.element("maxwell").unwrap();
        near(method, simulation.force(maxwell)[0], exact, accuracy(method));
    }
}

/// Backward Euler of the same element, exactly: z⁺ = (z + T·k·u)/(1 + T·k/c), also where the step is far longer than c/k.
#[test]
fn the_implicit_step_of_an_own_state_is_backward_euler_at_any_step() {
    for step in [1e-3, 0.02, 0.5] {
        let (k, c, u) = (3e4, 40.0, 0.1);
        let mut simulation = simulation(&format!(
            "{}[bodies.pull]\nkind = \"driver\"\nvelocity = {u}\n[bodies.idle]\nkind = \"mass\"\nmass = 1\n\
             [elements.maxwell]\nkind = \"equations\"\nbetween = [\"pull\", \"ground\"]\nstates = {{ z = 0 }}\n\
             force = \"-z\"\nrates = {{ z = \"{k}*v - z*{k}/{c}\" }}\n",
            head("implicit-euler", step)
        ));
        let maxwell = simulation.element("maxwell").unwrap();
        let mut z = 0.0;
        for _ in 0..5 {
            simulation.advance(1).unwrap();
            z = (z + step * k * u) / (1.0 + step * k / c);
            near("z", simulation.force(maxwell)[0], -z, 1e-13);
        }
    }
}

/// A block on a bushing (spring and damper at the end of the step): v⁺ = (v − T·k·x/m)/(1 + T·d/m + T²·k/m), also where T·ω = 60.
#[test]
fn a_stiff_bushing_is_stable_in_the_implicit_step() {
    for (step, damping) in [(1e-3, 0.0), (0.02, 15.0)] {
        let (m, k) = (0.5, 4.5e6);
        let mut simulation = simulation(&format!(
            "{}[bodies.block]\nkind = \"mass\"\nmass = {m}\nposition = 0.01\n\
             [elements.bushing]\nkind = \"equations\"\non = \"block\"\nparameters = {{ k = {k}, d = {damping} }}\nforce = \"-(k*x + d*v)\"\n",
            head("implicit-euler", step)
        ));
        let (mut x, mut v) = (0.01, 0.0);
        for _ in 0..20 {
            simulation.advance(1).unwrap();
            v = (v - step * k * x / m) / (1.0 + step * damping / m + step * step * k / m);
            x += step * v;
            let found = simulation.velocity(Body::nth(0))[0];
            assert!((found - v).abs() <= 1e-11 * (1.0 + v.abs()), "{step}: {found} {v}");
        }
    }
}

/// Eq 19 of the modular network (seed 004): f = gsat(F, (B + T·K)·v + K·e), ė = (f − K·e)/(B + T·K).
struct Proxy {
    limit: f64,
    stiffness: f64,
    damping: f64,
}

impl OwnElement for Proxy {
    fn initial(&self, axes: usize) -> Vec<f64> {
        vec![0.0; axes]
    }
    fn update(&self) -> Update {
        Update::Own
    }
    fn respond(&self, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]) {
        let damping = self.damping + motion.step * self.stiffness;
        let trial = motion.velocity[0] * damping + motion.state[0] * self.stiffness;
        let held = trial.clamp(-self.limit, self.limit);
        rate[0] = (held - motion.state[0] * self.stiffness) * (1.0 / damping);
        force[0] = -held;
    }
}

const FILE_PROXY: &str = "kind = \"equations\"\non = \"block\"\nstates = { e = 0 }\nparameters = { F = 3, K = 2e4, B = 50 }\n\
     force = \"-max(-F, min(F, v*(B + step*K) + e*K))\"\n\
     rates = { e = \"(max(-F, min(F, v*(B + step*K) + e*K)) - e*K)*(1/(B + step*K))\" }\n";

fn pulled(method: &str, step: f64, floor: &str) -> Simulation {
    simulation(&format!(
        "{}[bodies.block]\nkind = \"mass\"\nmass = 1.3\nvelocity = 0.8\nforce = \"4*sin(2*t)\"\n[elements.floor]\n{floor}",
        head(method, step)
    ))
}

const BUILT_IN_PROXY: &str =
    "kind = \"friction\"\non = \"block\"\nlaw = \"proxy\"\nkinetic = 3\nstiffness = 2e4\ndamping = 50\n";

/// `newmark` takes the rates of a bristle at the start of the step, and 20 ms are eight times its B/K: both runs fail, and say so.
#[test]
fn a_step_that_is_too_long_for_the_proxy_is_so_for_the_one_written_by_hand() {
    for floor in [BUILT_IN_PROXY, FILE_PROXY] {
        for (step, fails) in [(1e-3, false), (2e-2, true)] {
            let mut simulation = pulled("newmark", step, floor);
            let ended = run(&mut simulation, None, Options::default()).unwrap().ended;
            assert_eq!(matches!(ended, Ended::Failed(_)), fails, "{step} {floor}: {ended:?}");
        }
    }
}

#[test]
fn the_proxy_written_by_hand_moves_as_the_built_in_one() {
    for method in METHODS {
        // At 20 ms the rule of `newmark` holds neither: the next test.
        for step in [1e-3, if method == "newmark" { 2e-3 } else { 2e-2 }] {
            let built_in = BUILT_IN_PROXY;
            let steps = (3.0 / step) as u64;
            let mut reference = pulled(method, step, built_in);
            reference.advance(steps).unwrap();
            let mut by_file = pulled(method, step, FILE_PROXY);
            by_file.advance(steps).unwrap();
            let (x, v) = (reference.position(Body::nth(0))[0], reference.velocity(Body::nth(0))[0]);
            let scale = 1e-9 * (1.0 + x.abs());
            // The equations of every stage are the same; so are the bytes.
            let same = matches!(method, "euler" | "rk4");
            let (found_x, found_v) = (by_file.position(Body::nth(0))[0], by_file.velocity(Body::nth(0))[0]);
            if same {
                assert_eq!((found_x, found_v), (x, v), "{method} {step}");
            } else {
                let tolerance = if matches!(method, "adaptive" | "stiff") {
                    1e3
                } else {
                    1.0
                } * scale;
                assert!((found_x - x).abs() <= tolerance, "{method} {step}: {found_x} {x}");
                assert!((found_v - v).abs() <= tolerance, "{method} {step}: {found_v} {v}");
            }
        }
    }
}

/// The same law in Rust, beside the built-in one, in a decaying motion.
#[test]
fn a_law_in_rust_gives_the_bytes_of_the_built_in_one() {
    for (method, exact) in [
        (Method::Euler, true),
        (Method::Rk4, true),
        (Method::ImplicitEuler, false),
        (Method::Stiff, false),
    ] {
        for step in [1e-3, 2e-2] {
            let build = |own: bool| {
                let mut model = Model::new(step, method);
                let block = model.mass("block", 1.3, &[0.0], &[0.8]);
                model.spring("spring", block, GROUND, 40.0, 0.0);
                if own {
                    let (limit, stiffness, damping) = (3.0, 2e4, 50.0);
                    model.own_element(
                        "floor",
                        block,
                        GROUND,
                        Proxy {
                            limit,
                            stiffness,
                            damping,
                        },
                    );
                } else {
                    let law = Friction::law("proxy", 3.0)
                        .parameter("stiffness", 2e4)
                        .parameter("damping", 50.0);
                    model.friction("floor", block, GROUND, law);
                }
                let mut simulation = model.build().unwrap();
                simulation.advance((3.0 / step) as u64).unwrap();
                [
                    simulation.position(Body::nth(0))[0],
                    simulation.velocity(Body::nth(0))[0],
                ]
            };
            let (own, built_in) = (build(true), build(false));
            if exact {
                assert_eq!(own, built_in, "{method:?} {step}");
            } else {
                let tolerance = if method == Method::Stiff { 1e-5 } else { 1e-10 };
                assert!(
                    (own[0] - built_in[0]).abs() <= tolerance,
                    "{method:?} {step}: {own:?} {built_in:?}"
                );
            }
        }
    }
}

/// A pendulum of 0.5 m: its period at a swing of 2 rad is 4·√(l/g)·K(sin 1), with K from the arithmetic-geometric mean.
#[test]
fn a_pendulum_of_equations_has_its_period() {
    let (l, g, swing) = (0.5f64, 9.81, 2.0f64);
    let (mut a, mut b) = (1.0f64, (swing / 2.0).cos());
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = 2.0 * std::f64::consts::PI * (l / g).sqrt() / a;
    let steps = 4000u64;
    let step = period / steps as f64;
    for (method, tolerance) in [
        ("rk4", 1e-9),
        ("adaptive", 1e-6),
        ("stiff", 1e-5),
        ("implicit-euler", 2e-2),
    ] {
        let mut simulation = simulation(&format!(
            "{}[bodies.pendulum]\nkind = \"equations\"\ncoordinates = {{ theta = {swing} }}\nparameters = {{ m = 1.7, l = {l} }}\n\
             mass_matrix = [[\"m*l^2\"]]\nforce = [\"-m*{g}*l*sin(theta)\"]\npotential = \"-m*{g}*l*cos(theta)\"\n",
            head(method, step).replace("duration = 4", &format!("duration = {}", 2.0 * period))
        ));
        simulation.advance(steps).unwrap();
        let theta = simulation.position(Body::nth(0))[0];
        assert!((theta - swing).abs() < tolerance, "{method}: {theta}");
    }
}

/// A hot brake: friction heats a body whose temperature is a state beyond motion. The heat is the kinetic energy that is lost.
#[test]
fn states_beyond_motion_follow_their_rates() {
    for (method, tolerance) in [("rk4", 1e-9), ("stiff", 1e-6), ("implicit-euler", 2e-3)] {
        let mut simulation = simulation(&format!(
            "{}[bodies.wheel]\nkind = \"equations\"\ncoordinates = {{ q = 0 }}\nvelocities = {{ q = 30 }}\nstates = {{ heat = 0 }}\n\
             parameters = {{ J = 0.2, c = 0.1 }}\nmass_matrix = [[\"J\"]]\nforce = [\"-c*q_dot\"]\nrates = {{ heat = \"c*q_dot^2\" }}\n",
            head(method, 1e-3)
        ));
        let columns = Columns::new(&simulation);
        assert!(
            columns.names().iter().any(|name| name == "wheel.heat"),
            "{:?}",
            columns.names()
        );
        simulation.advance(2000).unwrap();
        let speed = simulation.velocity(Body::nth(0))[0];
        near(method, speed, 30.0 * f64::exp(-1.0), tolerance);
        let heat = 0.5 * 0.2 * (30.0 * 30.0 - speed * speed);
        let at = simulation.built().network.own_bodies[0].state;
        near(method, simulation.state().values[at], heat, tolerance);
    }
}

/// The tip of a pendulum as a frame: a spring to it and a contact below it see the right force, by the energy they keep.
#[test]
fn frames_of_own_bodies_carry_springs() {
    let text = |tip: bool, method: &str| {
        let element = if tip {
            "kind = \"spring\"\nbetween = [\"rod.tip\", \"ground\"]\nstiffness = 30\nat = [[0, 0, 0], [0.3, 0, -0.4]]\n"
                .to_string()
        } else {
            // The same spring by hand: energy ½·k·|p(θ) − c|², torque −dE/dθ.
            "kind = \"equations\"\non = \"rod.theta\"\nparameters = { k = 30, l = 0.8 }\n\
             force = \"-k*((l*sin(x) - 0.3)*l*cos(x) + (-l*cos(x) + 0.4)*l*sin(x))\"\n"
                .to_string()
        };
        format!(
            "{}[bodies.rod]\nkind = \"equations\"\ncoordinates = {{ theta = 0.9 }}\nparameters = {{ m = 2, l = 0.8 }}\n\
             mass_matrix = [[\"m*l^2\"]]\nforce = [0]\n\
             frames = {{ tip = {{ position = [\"l*sin(theta)\", 0, \"-l*cos(theta)\"], axis = [0, -1, 0], angle = \"theta\" }} }}\n\
             [elements.spring]\n{element}",
            head(method, 1e-3)
        )
    };
    for method in ["rk4", "stiff"] {
        let mut ends = [true, false].map(|tip| {
            let mut simulation = simulation(&text(tip, method));
            simulation.advance(1500).unwrap();
            simulation.position(Body::nth(0))[0]
        });
        ends.sort_by(f64::total_cmp);
        assert!((ends[1] - ends[0]).abs() < 1e-6, "{method}: {ends:?}");
    }
}

/// A bushing between points of two rigid bodies in space: beside the built-in spring, and the same in the axes of the file.
#[test]
fn elements_between_points_of_rigid_bodies() {
    let bodies = "[bodies.a]\nkind = \"rigid-body\"\nmass = 2\nshape = { box = [0.1, 0.2, 0.3] }\nangular_velocity = [1, 2, -1]\n\
                  [bodies.b]\nkind = \"rigid-body\"\nmass = 1\nshape = { box = [0.2, 0.2, 0.1] }\nposition = [0.4, 0, 0]\nvelocity = [0, 1, 0]\n";
    let at = "between = [\"a\", \"b\"]\nat = [[0.05, 0.1, 0], [-0.1, 0, 0.05]]\n";
    let spring = "kind = \"spring\"\nstiffness = 200\n";
    let own = "kind = \"equations\"\nforce = [\"-200*x.x\", \"-200*x.y\", \"-200*x.z\"]\nstored = \"100*(x.x^2 + x.y^2 + x.z^2)\"\n";
    let run = |element: &str| {
        let mut simulation = simulation(&format!("{}{bodies}[elements.e]\n{element}{at}", head("rk4", 1e-4)));
        simulation.advance_observed(2000).unwrap();
        let energy = {
            let (mechanical, stored) = simulation.energy();
            mechanical + stored
        };
        (
            simulation.position(Body::nth(0)).to_vec(),
            simulation.position(Body::nth(1)).to_vec(),
            energy,
        )
    };
    // Without damping the reaction may act at either point, as the force is along the line between them.
    let (a, b, energy) = run(own);
    let (a2, b2, energy2) = run(spring);
    for (found, expected) in a.iter().chain(&b).zip(a2.iter().chain(&b2)) {
        assert!((found - expected).abs() < 1e-9, "{a:?} {a2:?} {b:?} {b2:?}");
    }
    near("energy", energy, energy2, 1e-9);
}

#[test]
fn an_element_takes_hold_of_three_coordinates() {
    // Three masses tied so that x1 + x2 = 2·x3, from rest, pulled by 6 N on the third: by Lagrange, a3 = F/(m3 + m/2).
    struct Lever(f64);
    impl OwnElement for Lever {
        fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
            let apart = |m: &[f64]| m[0] + m[1] - 2.0 * m[2];
            let f = self.0 * apart(motion.position) + 2.0 * self.0.sqrt() * apart(motion.velocity);
            force.copy_from_slice(&[-f, -f, 2.0 * f]);
        }
    }
    let mut model = Model::new(1e-4, Method::Rk4);
    let masses = ["a", "b", "c"].map(|name| model.mass(name, 1.5, &[0.0], &[0.0]));
    let pull = model.actuator("pull", masses[2], GROUND);
    model.own_element_on(
        "lever",
        &masses.map(|mass| Connection::between(mass, GROUND)),
        Lever(1e5),
    );
    let mut simulation = model.build().unwrap();
    simulation.set_actuator(pull, 0, 6.0);
    simulation.advance(10_000).unwrap();
    // Each outer mass moves as the third: the whole is 4.5 kg.
    near("speed", simulation.velocity(Body::nth(2))[0], 6.0 / 4.5, 1e-3);
}

#[test]
fn sgn_in_an_element_is_relaxed_as_in_an_inclusion() {
    // A block stopped by friction of 2 N: at rest after v0·m/F, at v0²·m/(2F).
    for method in ["rk4", "stiff", "implicit-euler"] {
        let mut simulation = simulation(&format!(
            "{}[bodies.block]\nkind = \"mass\"\nmass = 0.5\nvelocity = 1.2\n\
             [elements.floor]\nkind = \"equations\"\non = \"block\"\nparameters = {{ F = 2 }}\nforce = \"-F*sgn(v)\"\n\
             relax = {{ sgn = {{ stiffness = 1e5, beta = 2e-3 }} }}\n",
            head(method, 5e-4)
        ));
        simulation.advance(2000).unwrap();
        near(method, simulation.position(Body::nth(0))[0], 1.44 * 0.5 / 4.0, 3e-3);
        assert!(simulation.velocity(Body::nth(0))[0].abs() < 1e-6, "{method}");
    }
}

fn refused(text: &str) -> String {
    match Scenario::parse(text, "own.toml", &[]).and_then(Simulation::new) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_wrong_with_equations_is_said_where_it_stands() {
    let element = |lines: &str| {
        refused(&format!(
            "{}[bodies.b]\nkind = \"mass\"\nmass = 1\n[elements.e]\nkind = \"equations\"\non = \"b\"\n{lines}",
            head("rk4", 1e-3)
        ))
    };
    let body = |lines: &str| {
        refused(&format!(
            "{}[bodies.b]\nkind = \"equations\"\n{lines}",
            head("rk4", 1e-3)
        ))
    };
    for (error, expected) in [
        (element("force = \"-k*x\"\n"), "unknown name \"k\""),
        (
            element("force = \"-x\"\nstates = { z = 0 }\n"),
            "the state `z` has no rate",
        ),
        (
            element("force = \"-x\"\nrates = { z = \"1\" }\n"),
            "a rate of `z`, which is no state",
        ),
        (
            element("force = \"-x\"\nparameters = { x = 1 }\n"),
            "`x` names a parameter and also a motion",
        ),
        (
            element("force = [\"-x\", \"0\"]\n"),
            "has 2 expressions, and the motion has 1 axis",
        ),
        (element("force = \"1/x\"\n"), "not a finite number"),
        (element("force = \"-x.y\"\n"), "unknown name \"x.y\""),
        (element("force = true\n"), "an expression in quotes"),
        (element("stored = \"x\"\n"), "`force`"),
        (
            body("coordinates = { q = 0 }\nforce = [\"0\"]\nmass_matrix = [[\"0\"]]\n"),
            "positive definite",
        ),
        (
            body("coordinates = { q = 0 }\nforce = [\"0\"]\nmass_matrix = [[1, 2]]\n"),
            "1 rows of 1",
        ),
        (
            body("coordinates = { t = 0 }\nforce = [\"0\"]\nmass_matrix = [[1]]\n"),
            "cannot be named `t`",
        ),
        (
            body("coordinates = { q = 0 }\nforce = [\"r\"]\nmass_matrix = [[1]]\n"),
            "unknown name \"r\"",
        ),
        (
            body(
                "coordinates = { q = 0, r = 0 }\nforce = [\"0\", 0]\nmass_matrix = [[1, \"r\"], [0, 1]]\nparameters = { r = 1 }\n",
            ),
            "cannot be named `r`",
        ),
        (
            body("coordinates = { q = 0, r = 0.5 }\nforce = [\"0\", 0]\nmass_matrix = [[1, \"r\"], [0, 1]]\n"),
            "symmetric",
        ),
        (
            body("coordinates = { q = 0 }\nvelocities = { p = 1 }\nforce = [\"0\"]\nmass_matrix = [[1]]\n"),
            "which is no coordinate",
        ),
        (
            body(
                "coordinates = { q = 0 }\nforce = [\"0\"]\nmass_matrix = [[1]]\nframes = { a = { position = [\"q\", \"t\", 0] } }\n",
            ),
            "not with the time",
        ),
    ] {
        assert!(error.contains(expected), "{expected}\n{error}");
        assert!(error.contains("help"), "{error}");
    }
}

/// A ball of mass m sliding on a plane that presses with a spring: friction μ·N of your own slows it by μ·g, beside the built-in law in the
/// same contact, on a plane that is tilted in the world.
#[test]
fn contact_laws_of_your_own_press_and_rub() {
    struct Press;
    impl OwnElement for Press {
        fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
            force[0] = if motion.position[0] < 0.0 {
                -2e4 * motion.position[0] - 200.0 * motion.velocity[0]
            } else {
                0.0
            };
        }
        fn stored(&self, motion: &Motion<'_>) -> f64 {
            1e4 * motion.position[0].min(0.0).powi(2)
        }
    }
    struct Rub(f64);
    impl OwnElement for Rub {
        fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
            let speed = motion.velocity[0].hypot(motion.velocity[1]);
            for (force, v) in force.iter_mut().zip(motion.velocity) {
                *force = if speed > 0.0 {
                    -self.0 * motion.load * v / speed
                } else {
                    0.0
                };
            }
        }
    }
    let (g, tilt, mu) = (9.8, 0.3f64, 0.4);
    let normal = [tilt.sin(), 0.0, tilt.cos()];
    let down = [tilt.cos(), 0.0, -tilt.sin()];
    for method in [Method::Rk4, Method::Stiff] {
        let mut model = Model::new(1e-3, method);
        model.gravity([0.0, 0.0, -g]);
        // At rest in the plane, moving down it at 3 m/s.
        let depth = 1.5 * g * tilt.cos() / 2e4;
        let at = normal.map(|n| -depth * n);
        let ball = model.mass("ball", 1.5, &at, &down.map(|d| 3.0 * d));
        let plane = Plane { normal, offset: 0.0 };
        model.own_contact("plane", ball, GROUND, Some(plane), Press, Some(Rub(mu)));
        let mut simulation = model.build().unwrap();
        simulation.advance(500).unwrap();
        let v = simulation.velocity(Body::nth(0));
        let along: f64 = (0..3).map(|i| v[i] * down[i]).sum();
        let expected = 3.0 + 0.5 * g * (tilt.sin() - mu * tilt.cos());
        assert!((along - expected).abs() < 1e-5, "{method:?}: {along} {expected}");
        let plane = simulation.element("plane").unwrap();
        let force = simulation.force(plane);
        let pressed: f64 = (0..3).map(|i| force[i] * normal[i]).sum();
        assert!((pressed - 1.5 * g * tilt.cos()).abs() < 1e-5, "{method:?}: {pressed}");
    }
}

/// Equations that have no solution, or stop being those of a body, end the run.
#[test]
fn equations_that_lose_their_sense_end_the_run() {
    let block = "[bodies.block]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n[elements.e]\nkind = \"equations\"\non = \"block\"\nforce = \"-z\"\n";
    let cart = "[bodies.cart]\nkind = \"equations\"\ncoordinates = { q = 0 }\nvelocities = { q = 1 }\nforce = [0]\n";
    for (method, text) in [
        // z⁺ = z + T·700·z⁺² has no root once 4·T·700·z > 1.
        (
            "implicit-euler",
            format!("{block}states = {{ z = 0.5 }}\nrates = {{ z = \"700*z^2\" }}\n"),
        ),
        // √z ends at z = 0.
        (
            "implicit-euler",
            format!("{block}states = {{ z = 0.5 }}\nrates = {{ z = \"-40*sqrt(z)\" }}\n"),
        ),
        // The mass is gone at q = 0.7.
        ("rk4", format!("{cart}mass_matrix = [[\"0.7 - q\"]]\n")),
        ("stiff", format!("{cart}mass_matrix = [[\"1 - 2*t\"]]\n")),
        ("implicit-euler", format!("{cart}mass_matrix = [[\"1 - 2*t\"]]\n")),
    ] {
        let mut simulation = simulation(&format!("{}{text}", head(method, 2e-3)));
        assert!(simulation.advance(2000).is_err(), "{method}\n{text}");
    }
    // Energy that is no number.
    let text = format!(
        "{}{block}states = {{ z = 0 }}\nrates = {{ z = 0 }}\nstored = \"ln(x + 0.5)\"\n",
        head("rk4", 1e-3)
    );
    let mut simulation = simulation(&text);
    let mut watch = stickslip::divergence::Watch::new(&mut simulation);
    simulation.advance_observed(5).unwrap();
    simulation.set_position(Body::nth(0), &[-1.0]).unwrap();
    simulation.advance_observed(5).unwrap();
    let error = watch.judge(&mut simulation, None).unwrap().to_string();
    assert!(error.contains("\"e\"") && error.contains("`stored`"), "{error}");
}

/// Energy that is no number at the start: of an element between coordinates it is refused, of one between points the run fails.
#[test]
fn stored_energy_that_is_undefined_at_the_start_is_named() {
    let block = format!(
        "{}[bodies.block]\nkind = \"mass\"\nmass = 1\n[elements.e]\nkind = \"equations\"\non = \"block\"\nforce = \"-x\"\nstored = \"1/t\"\n",
        head("rk4", 1e-3)
    );
    let error = refused(&block);
    assert!(
        error.contains("own.toml:12:10") && error.contains("stored = \"1/t\""),
        "{error}"
    );
    let ball = format!(
        "{}[bodies.ball]\nkind = \"rigid-body\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 1]\n[elements.e]\nkind = \"equations\"\n\
         between = [\"ball\", \"ground\"]\nat = [[0, 0, 0], [0, 0, 0.1]]\nforce = [\"-x.x\", \"-x.y\", \"-x.z\"]\nstored = \"1/t\"\n",
        head("rk4", 1e-3)
    );
    match run(&mut simulation(&ball), None, Options::default()).unwrap().ended {
        Ended::Failed(error) => assert!(error.to_string().contains("stored in \"e\""), "{error}"),
        other => panic!("{other:?}"),
    }
}

/// A spring of the engine that explodes is found beside an element of the user's own, and that element's step is warned of.
#[test]
fn an_explosion_beside_an_element_of_equations_is_found() {
    let text = |spring: &str| {
        format!(
            "{}[bodies.block]\nkind = \"mass\"\nmass = 1\nposition = 0.1\n[elements.damper]\nkind = \"equations\"\non = \"block\"\nforce = \"-1e-3*v\"\n\
             [elements.spring]\n{spring}",
            head("rk4", 1e-2)
        )
    };
    let mut built_in = simulation(&text("kind = \"spring\"\non = \"block\"\nstiffness = 9e4\n"));
    let mut watch = stickslip::divergence::Watch::new(&mut built_in);
    let _ = built_in.advance_observed(100);
    assert!(watch.judge(&mut built_in, None).is_some());
    let own = simulation(&text("kind = \"equations\"\non = \"block\"\nforce = \"-9e4*x\"\n"));
    let warnings = &own.built().warnings;
    assert!(
        warnings
            .iter()
            .any(|warning| warning.message.contains("the run will diverge")),
        "{warnings:?}"
    );
    let soft = simulation(&text("kind = \"equations\"\non = \"block\"\nforce = \"-90*x\"\n"));
    assert!(soft.built().warnings.is_empty(), "{:?}", soft.built().warnings);
}

#[test]
fn expressions_that_are_undefined_at_the_start_are_named() {
    let refused = |text: &str| {
        let scenario = Scenario::parse(text, "test.toml", &[]).unwrap();
        Simulation::new(scenario).unwrap_err().to_string()
    };
    let element = format!(
        "{}[bodies.block]\nkind = \"mass\"\nmass = 1\n[elements.own]\nkind = \"equations\"\non = \"block\"\nstates = {{ a = 1, b = 2 }}\n\
         force = \"-x\"\nrates = {{ a = \"-a\", b = \"a/x\" }}\n",
        head("rk4", 1e-3)
    );
    let error = refused(&element);
    assert!(
        error.contains("test.toml:13:25") && error.contains("not a finite number"),
        "{error}"
    );
    for method in ["rk4", "implicit-euler"] {
        let body = format!(
            "{}[bodies.p]\nkind = \"equations\"\ncoordinates = {{ a = 1, b = 0 }}\nmass_matrix = [[1, 0], [0, 1]]\nforce = [\n\"-a\",\n\"1/b\"]\n",
            head(method, 1e-3)
        );
        let error = refused(&body);
        assert!(
            error.contains("test.toml:11:1") && error.contains("division by 0"),
            "{error}"
        );
    }
}

/// Force and rates of a body are taken at the start of the implicit step; friction on it must not be blamed.
#[test]
fn a_force_of_a_body_that_becomes_undefined_is_named() {
    let mut simulation = simulation(&format!(
        "{}[bodies.p]\nkind = \"equations\"\ncoordinates = {{ a = 0, b = 1 }}\nvelocities = {{ a = 0.1, b = 0 }}\n\
         mass_matrix = [[1, 0], [0, 1]]\nforce = [0, \"sqrt(0.25 - t)\"]\n\
         [elements.one]\nkind = \"friction\"\non = \"p.a\"\nlaw = \"implicit\"\nkinetic = 0.01\n\
         [elements.two]\nkind = \"friction\"\non = \"p.b\"\nlaw = \"implicit\"\nkinetic = 0.01\n",
        head("implicit-euler", 1e-3)
    ));
    let error = simulation.advance(1000).unwrap_err().to_string();
    assert!(
        error.contains("p.b.velocity") && error.contains("equations of your own"),
        "{error}"
    );
    assert!((simulation.time() - 0.25).abs() < 2e-3, "{error}");
}

#[test]
fn a_connection_to_a_body_of_another_model_is_refused() {
    let stranger = {
        let mut other = Model::new(1e-3, Method::Rk4);
        other.mass("idle", 1.0, &[0.0], &[0.0]);
        other.mass("sledge", 1.0, &[0.0], &[0.0])
    };
    let mut model = Model::new(1e-3, Method::Rk4);
    let block = model.mass("block", 1.0, &[0.0], &[0.0]);
    model.mass("cart", 1.0, &[0.0], &[0.0]);
    let law = Proxy {
        limit: 1.0,
        stiffness: 1e3,
        damping: 1.0,
    };
    model.own_element_on("own", &[Connection::between(block, stranger)], law);
    let error = model.build().unwrap_err().to_string();
    assert!(error.contains("another model"), "{error}");
}
