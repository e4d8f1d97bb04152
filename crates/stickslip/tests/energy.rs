//! Power into an element is power out of the bodies: gathering motion and scattering force use one geometry, and the
//! energy ledger closes.
//!
//! Kinetic and gravitational energy are functions of the state; the ledger's work comes from the elements' own forces and
//! relative velocities. That they agree from random states, for every kind of element, is what is tested here.

mod common;

use common::{finish, orders, run, written};

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

    fn vector<const N: usize>(&mut self, scale: f64) -> [f64; N] {
        std::array::from_fn(|_| scale * self.next())
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.next() + 1.0)
    }
}

const SHORT: &str = "[simulation]\nduration = 1e-3\nstep = 1e-4\nintegrator = \"rk4\"\ngravity = [0.3, -0.5, -9.81]\n";

/// A mass with a random start.
fn mass<const N: usize>(name: &str, random: &mut Random) -> String {
    let m = random.between(0.5, 3.0);
    let (x, v): ([f64; N], [f64; N]) = (random.vector(0.3), random.vector(2.0));
    let (x, v) = if N == 1 {
        (format!("{:?}", x[0]), format!("{:?}", v[0]))
    } else {
        (format!("{x:?}"), format!("{v:?}"))
    };
    format!("[bodies.{name}]\nkind = \"mass\"\nmass = {m}\nposition = {x}\nvelocity = {v}\n")
}

fn inertia(name: &str, random: &mut Random) -> String {
    let (j, q, w) = (random.between(0.2, 2.0), random.next(), 3.0 * random.next());
    format!("[bodies.{name}]\nkind = \"inertia\"\ninertia = {j}\nposition = {q}\nvelocity = {w}\n")
}

/// A rigid body near `centre` with a random pose and motion.
fn rigid(name: &str, shape: &str, centre: [f64; 3], turn: f64, random: &mut Random) -> String {
    let near: [f64; 3] = random.vector(0.02);
    let position: [f64; 3] = std::array::from_fn(|i| centre[i] + near[i]);
    let [x, y, z]: [f64; 3] = random.vector(turn);
    let norm = (1.0 + x * x + y * y + z * z).sqrt();
    let rotation = [1.0 / norm, x / norm, y / norm, z / norm];
    let (v, w): ([f64; 3], [f64; 3]) = (random.vector(1.0), random.vector(2.0));
    let m = random.between(0.5, 3.0);
    format!(
        "[bodies.{name}]\nkind = \"rigid-body\"\nmass = {m}\nshape = {shape}\ninertia = [0.02, 0.03, 0.04, 0.001, -0.002, 0.003]\n\
         position = {position:?}\nrotation = {rotation:?}\nvelocity = {v:?}\nangular_velocity = {w:?}\n"
    )
}

fn arm(random: &mut Random) -> String {
    let mut links = String::new();
    for (name, parent, joint, kind, axis, origin) in [
        ("base", "ground", "turn", "revolute", "[0.6, 0, 0.8]", "[0, 0, 0.1]"),
        ("slider", "base", "slide", "prismatic", "[0, 1, 0]", "[0.3, 0, 0]"),
        ("tip", "slider", "bend", "revolute", "[0, 0.6, 0.8]", "[0.2, 0.1, 0]"),
    ] {
        let (q, v, m) = (0.5 * random.next(), 2.0 * random.next(), random.between(0.3, 1.5));
        links += &format!(
            "{{ name = \"{name}\", parent = \"{parent}\", joint = \"{joint}\", type = \"{kind}\", axis = {axis}, origin = {origin}, \
             mass = {m}, com = [0.1, 0.02, -0.03], inertia = [0.01, 0.02, 0.015], shape = {{ sphere = 0.1 }}, \
             position = {q}, velocity = {v} }},\n"
        );
    }
    format!("[bodies.arm]\nkind = \"linkage\"\nlinks = [\n{links}]\n")
}

/// What the ledger must show of an element.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Gives back all it takes.
    Conservative,
    /// Never gives back more than it took.
    Passive,
    /// Neither.
    Any,
}

fn check(case: &str, draw: usize, text: &str, kind: Kind) {
    let run = finish(written(text, &[]), 1);
    let energy = run.report.energy.as_ref().unwrap();
    let scale = run.moved().max(1e-3);
    // What Runge-Kutta leaves over where a bristle begins to yield or a point touches within a step; a wrong lever arm
    // or sign is of the size of the energy itself.
    let small = 1e-6 * scale;
    assert!(
        energy.residual.abs() <= small,
        "{case}, draw {draw}: {:e} J of {scale} J are missing\n{text}",
        energy.residual
    );
    let dissipated = run.element("it", "dissipated");
    match kind {
        Kind::Conservative => assert!(
            dissipated.abs() <= small,
            "{case}, draw {draw}: it turned {dissipated:e} J of {scale} J into heat\n{text}"
        ),
        Kind::Passive => assert!(
            dissipated >= -small,
            "{case}, draw {draw}: it made {:e} J of {scale} J\n{text}",
            -dissipated
        ),
        Kind::Any => (),
    }
}

/// Runs a case from several random states.
fn draws(case: &str, kind: Kind, build: impl Fn(&mut Random) -> String) {
    let mut random = Random(
        case.bytes()
            .fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))),
    );
    for draw in 0..12 {
        let text = format!("{SHORT}{}", build(&mut random));
        check(case, draw, &text, kind);
    }
}

fn element(lines: &str) -> String {
    format!("[elements.it]\n{lines}\n")
}

#[test]
fn springs() {
    let spring = |rest: &'static str| element(&format!("kind = \"spring\"\nstiffness = 200\n{rest}"));
    draws("on one axis", Kind::Conservative, |r| {
        mass::<1>("a", r) + &mass::<1>("b", r) + &spring("between = [\"a\", \"b\"]\nlength = 0.2")
    });
    draws("with a ratio", Kind::Conservative, |r| {
        inertia("a", r) + &mass::<1>("b", r) + &spring("between = [\"a\", \"b\"]\nratio = [0.07, 1.3]")
    });
    draws("in the plane, with a length", Kind::Conservative, |r| {
        mass::<2>("a", r) + &mass::<2>("b", r) + &spring("between = [\"a\", \"b\"]\nlength = 0.2")
    });
    draws("in space", Kind::Conservative, |r| {
        mass::<3>("a", r) + &spring("between = [\"a\", \"ground\"]")
    });
    draws("with a damper", Kind::Passive, |r| {
        mass::<2>("a", r) + &mass::<2>("b", r) + &spring("between = [\"a\", \"b\"]\nlength = 0.2\ndamping = 9")
    });
    draws("between points of bodies", Kind::Conservative, |r| {
        rigid("a", "{ point = true }", [0.0; 3], 1.0, r)
            + &rigid("b", "{ point = true }", [0.5, 0.0, 0.2], 1.0, r)
            + &spring("between = [\"a\", \"b\"]\nat = [[0.1, 0.2, 0], [0, -0.1, 0.1]]\nlength = 0.2")
    });
    draws("between points of bodies, without a length", Kind::Conservative, |r| {
        rigid("a", "{ point = true }", [0.0; 3], 1.0, r)
            + &spring("between = [\"a\", \"ground\"]\nat = [[0.1, 0.2, 0], [0, -0.1, 0.1]]")
    });
    draws("on a link", Kind::Conservative, |r| {
        arm(r)
            + &rigid("b", "{ point = true }", [0.5, 0.0, 0.2], 1.0, r)
            + &spring("between = [\"arm.tip\", \"b\"]\nat = [[0.1, 0.2, 0], [0, -0.1, 0.1]]\nlength = 0.2")
    });
    draws("on a joint", Kind::Conservative, |r| {
        arm(r) + &spring("on = \"arm.bend\"\nlength = 0.2")
    });
    draws("on a driver", Kind::Conservative, |r| {
        mass::<1>("a", r)
            + "[bodies.hook]\nkind = \"driver\"\nvelocity = \"1 + sin(50*t)\"\n"
            + &spring("between = [\"hook\", \"a\"]")
    });
}

#[test]
fn gears() {
    draws("gear", Kind::Conservative, |r| {
        inertia("a", r)
            + &inertia("b", r)
            + &element("kind = \"gear\"\nbetween = [\"a\", \"b\"]\nratio = [0.1, 0.7]\nstiffness = 300\ndamping = 0")
    });
    draws("gear of a screw, with its own damping", Kind::Passive, |r| {
        inertia("a", r)
            + &mass::<1>("b", r)
            + &element("kind = \"gear\"\nbetween = [\"a\", \"b\"]\nratio = [0.02, 1]\nstiffness = 3000\ndamping = 20")
    });
}

#[test]
fn frictions() {
    for law in [
        "law = \"proxy\"\nstiffness = 2000\ndamping = 5",
        "law = \"relaxed\"\nstiffness = 2000\nbeta = 5e-3",
        "law = \"dahl\"\nstiffness = 2000",
        "law = \"lugre\"\nstiffness = 2000\ndamping = 5",
        "law = \"martins-oden\"\nepsilon = 0.1",
    ] {
        let friction = |rest: &str| element(&format!("kind = \"friction\"\nkinetic = 4\n{law}\n{rest}"));
        // LuGre may give back more than it took; its row in the registry says so.
        let kind = if law.contains("lugre") {
            Kind::Any
        } else {
            Kind::Passive
        };
        draws(&format!("on one axis, {law}"), kind, |r| {
            mass::<1>("a", r) + &mass::<1>("b", r) + &friction("between = [\"a\", \"b\"]\nratio = [0.7, 1.2]")
        });
        draws(&format!("in the plane, {law}"), kind, |r| {
            mass::<2>("a", r) + &mass::<2>("b", r) + &friction("between = [\"a\", \"b\"]")
        });
        draws(&format!("on a joint, {law}"), kind, |r| {
            arm(r) + &friction("on = \"arm.slide\"")
        });
        draws(&format!("against a driver, {law}"), kind, |r| {
            mass::<3>("a", r)
                + "[bodies.belt]\nkind = \"driver\"\nvelocity = [1, \"sin(50*t)\", 0]\n"
                + &friction("between = [\"a\", \"belt\"]")
        });
    }
}

#[test]
fn stops() {
    let stop = |damping: f64| {
        element(&format!(
            "kind = \"stop\"\nlower = -0.9\nupper = -0.6\nbetween = [\"a\", \"b\"]\nratio = [0.8, 1.1]\n\
             normal = {{ law = \"kelvin-voigt\", stiffness = 500, damping = {damping} }}"
        ))
    };
    draws("stop", Kind::Conservative, |r| {
        mass::<1>("a", r) + &mass::<1>("b", r) + &stop(0.0)
    });
    draws("stop with damping", Kind::Passive, |r| {
        mass::<1>("a", r) + &mass::<1>("b", r) + &stop(4.0)
    });
}

#[test]
fn contacts() {
    let contact = |between: &str, surface: &str, damping: f64, friction: &str| {
        element(&format!(
            "kind = \"contact\"\nbetween = [{between}]\n{surface}\nnormal = {{ law = \"kelvin-voigt\", stiffness = 400, damping = {damping} }}\n{friction}"
        ))
    };
    let slope = "surface = { plane = { normal = [0.48, 0.6, 0.64], offset = 0.3 } }";
    let rubs = "friction = { law = \"proxy\", mu = 0.5, stiffness = 300, damping = 3 }";
    let ball = "{ sphere = 0.5 }";
    draws("ball on a slope", Kind::Conservative, |r| {
        rigid("a", ball, [0.1; 3], 1.0, r) + &contact("\"a\", \"ground\"", slope, 0.0, "")
    });
    draws("ball rubbing on a slope", Kind::Passive, |r| {
        rigid("a", ball, [0.1; 3], 1.0, r) + &contact("\"a\", \"ground\"", slope, 2.0, rubs)
    });
    draws("ball on a plane of another body", Kind::Conservative, |r| {
        rigid("a", ball, [0.1; 3], 1.0, r)
            + &rigid("b", ball, [0.0; 3], 0.3, r)
            + &contact("\"a\", \"b\"", slope, 0.0, "")
    });
    draws("two balls", Kind::Conservative, |r| {
        rigid("a", ball, [0.4, 0.3, 0.1], 1.0, r)
            + &rigid("b", ball, [0.0; 3], 1.0, r)
            + &contact("\"a\", \"b\"", "", 0.0, "")
    });
    draws("two balls that rub", Kind::Passive, |r| {
        rigid("a", ball, [0.4, 0.3, 0.1], 1.0, r)
            + &rigid("b", ball, [0.0; 3], 1.0, r)
            + &contact("\"a\", \"b\"", "", 2.0, rubs)
    });
    draws("box", Kind::Conservative, |r| {
        rigid("a", "{ box = [0.4, 0.5, 0.6] }", [-1.0; 3], 1.0, r) + &contact("\"a\", \"ground\"", slope, 0.0, "")
    });
    draws("point mass", Kind::Conservative, |r| {
        mass::<3>("a", r) + &contact("\"a\", \"ground\"", slope, 0.0, "")
    });
    draws("link", Kind::Conservative, |r| {
        let deep = "surface = { plane = { normal = [0, 0, 1], offset = 1.5 } }";
        arm(r) + &contact("\"arm.tip\", \"ground\"", deep, 0.0, "")
    });
    draws("link that rubs", Kind::Passive, |r| {
        let deep = "surface = { plane = { normal = [0, 0, 1], offset = 1.5 } }";
        arm(r) + &contact("\"arm.tip\", \"ground\"", deep, 1.0, rubs)
    });
}

#[test]
fn penalty_joints() {
    let joint = |kind: &str, between: &str, damping: [f64; 2], rest: &str| {
        element(&format!(
            "kind = \"joint\"\ntype = \"{kind}\"\nbetween = [{between}]\nat = [[0.2, 0.1, 0], [-0.1, 0, 0.1]]\naxis = [0, 0.6, 0.8]\n\
             stiffness = 300\nrotational_stiffness = 20\ndamping = {}\nrotational_damping = {}\n{rest}",
            damping[0], damping[1]
        ))
    };
    let point = "{ point = true }";
    for kind in ["revolute", "prismatic", "spherical", "fixed"] {
        draws(&format!("{kind} joint"), Kind::Conservative, |r| {
            rigid("a", point, [0.0; 3], 0.5, r)
                + &rigid("b", point, [0.3, 0.0, 0.0], 0.5, r)
                + &joint(kind, "\"a\", \"b\"", [0.0, 0.0], "")
        });
        draws(&format!("{kind} joint with damping"), Kind::Passive, |r| {
            rigid("a", point, [0.0; 3], 0.5, r) + &joint(kind, "\"a\", \"ground\"", [3.0, 0.4], "")
        });
    }
    let rubs =
        "friction = { law = \"proxy\", kinetic = 0.5, stiffness = 50, damping = 0.1 }\ntorque = \"0.4 + sin(30*t)\"";
    for kind in ["revolute", "prismatic"] {
        draws(&format!("{kind} joint with friction and a motor"), Kind::Passive, |r| {
            rigid("a", point, [0.0; 3], 0.5, r)
                + &rigid("b", point, [0.3, 0.0, 0.0], 0.5, r)
                + &joint(kind, "\"a\", \"b\"", [3.0, 0.4], rubs)
        });
    }
    draws("joint on a link", Kind::Conservative, |r| {
        arm(r) + &rigid("b", point, [0.6, 0.2, 0.0], 0.5, r) + &joint("spherical", "\"b\", \"arm.tip\"", [0.0, 0.0], "")
    });
}

/// As `penalty_joints`, over half a second: the bodies begin unbent and bend on the way.
#[test]
fn bent_penalty_joints() {
    for kind in ["revolute", "prismatic", "spherical", "fixed"] {
        let mut random = Random(11);
        for draw in 0..4 {
            let text = format!(
                "{}{}{}{}",
                SHORT.replace("duration = 1e-3", "duration = 0.5"),
                rigid("a", "{ point = true }", [0.0; 3], 0.5, &mut random),
                rigid("b", "{ point = true }", [0.3, 0.0, 0.0], 0.5, &mut random),
                element(&format!(
                    "kind = \"joint\"\ntype = \"{kind}\"\nbetween = [\"a\", \"b\"]\nat = [[0.2, 0.1, 0], [-0.1, 0, 0.1]]\n\
                     axis = [0, 0.6, 0.8]\nstiffness = 300\nrotational_stiffness = 20\ndamping = 0\nrotational_damping = 0"
                ))
            );
            check(&format!("bent {kind} joint"), draw, &text, Kind::Conservative);
        }
    }
}

#[test]
fn actuators_and_applied_forces() {
    draws("actuator", Kind::Any, |r| {
        mass::<2>("a", r)
            + &mass::<2>("b", r)
            + &element("kind = \"actuator\"\nbetween = [\"a\", \"b\"]\nvalue = [3, \"2*sin(40*t)\"]")
    });
    draws("actuator with a ratio", Kind::Any, |r| {
        mass::<1>("a", r)
            + &inertia("b", r)
            + &element("kind = \"actuator\"\nbetween = [\"a\", \"b\"]\nvalue = 3\nratio = [1, 0.3]")
    });
    draws("motor on a joint", Kind::Any, |r| {
        arm(r) + &element("kind = \"actuator\"\non = \"arm.turn\"\nvalue = 3")
    });
    draws("force and torque on a body", Kind::Any, |r| {
        rigid("a", "{ point = true }", [0.0; 3], 1.0, r)
            + "force = [1, 2, \"sin(40*t)\"]\ntorque = [0.3, 0, \"cos(40*t)\"]\n"
            + &element("kind = \"spring\"\nbetween = [\"a\", \"ground\"]\nstiffness = 10")
    });
}

/// A chain of masses with springs, dampers and dry friction, pulled at one end.
fn chain(random: &mut Random, stiffness: f64) -> String {
    let mut text = String::from("[simulation]\nduration = 2\nstep = 1e-3\nintegrator = \"implicit-euler\"\n");
    text += "[bodies.hook]\nkind = \"driver\"\nvelocity = \"if(t <= 1, 0.4, -0.2)\"\n";
    let mut before = "hook".to_string();
    for i in 0..5 {
        let name = format!("m{i}");
        text += &mass::<1>(&name, random);
        let (k, d) = (stiffness * random.between(0.5, 2.0), random.between(0.0, 1.0));
        text += &format!(
            "[elements.s{i}]\nkind = \"spring\"\nbetween = [\"{before}\", \"{name}\"]\nstiffness = {k}\ndamping = {d}\n"
        );
        let f = random.between(0.2, 3.0);
        let other = if i == 3 { "m1" } else { "ground" };
        text += &format!(
            "[elements.f{i}]\nkind = \"friction\"\nbetween = [\"{name}\", \"{other}\"]\nlaw = \"implicit\"\nkinetic = {f}\nstatic = {}\nviscous = {}\n",
            1.3 * f,
            0.1 * f
        );
        before = name;
    }
    text
}

#[test]
fn the_ledger_of_the_implicit_step_closes() {
    let mut random = Random(5);
    // Soft springs are taken at the start of the step, stiff ones at its end.
    for stiffness in [40.0, 40.0, 4e6, 4e6] {
        let text = chain(&mut random, stiffness);
        let run = finish(written(&text, &[]), 100);
        let energy = run.report.energy.as_ref().unwrap();
        let numerical = energy.numerical.expect("springs and friction have a closed form");
        let apart = (energy.residual - numerical).abs();
        assert!(apart <= 1e-10 * run.moved(), "{apart:e} of {} J\n{text}", run.moved());
        for i in 0..5 {
            assert!(run.element(&format!("f{i}"), "dissipated") >= 0.0);
        }
    }
    for file in [
        "fig000-8-p.toml",
        "fig000-8-k2.toml",
        "fig000-9-p.toml",
        "fig000-two-bodies.toml",
        "fig000-vector.toml",
        "conveyor.toml",
    ] {
        let run = run(file, &[]);
        let energy = run.report.energy.as_ref().unwrap();
        let apart = (energy.residual - energy.numerical.unwrap()).abs();
        assert!(apart <= 1e-10 * run.moved(), "{file}: {apart:e}");
    }
}

/// Two masses, three springs, dampers and a driver: smooth.
const SMOOTH: &str = r#"
[simulation]
duration = 1
step = 0.01
integrator = "rk4"
[bodies.a]
kind = "mass"
mass = 1
velocity = 1
[bodies.b]
kind = "mass"
mass = 2
position = 0.4
[bodies.hook]
kind = "driver"
velocity = "cos(3*t)"
[elements.s1]
kind = "spring"
between = ["hook", "a"]
stiffness = 30
damping = 0.3
[elements.s2]
kind = "spring"
between = ["a", "b"]
stiffness = 20
damping = 0.2
[elements.s3]
kind = "spring"
between = ["b", "ground"]
stiffness = 10
[elements.rub]
kind = "friction"
between = ["b", "ground"]
law = "relaxed"
kinetic = 50
stiffness = 15
beta = 0.1
"#;

#[test]
fn the_residual_shrinks_with_the_order_of_the_method() {
    for (integrator, order) in [("euler", 1.0), ("rk4", 4.0)] {
        let mut residuals = Vec::new();
        for step in ["0.01", "0.005", "0.0025", "0.00125"] {
            let sets = [
                format!("simulation.integrator={integrator}"),
                format!("simulation.step={step}"),
            ];
            let run = finish(written(SMOOTH, &[&sets[0], &sets[1]]), 1);
            residuals.push(run.report.energy.as_ref().unwrap().residual.abs());
        }
        // At least that order: the residual of a method of fourth order may fall faster.
        for found in orders(&residuals) {
            assert!(
                found > order - 0.15,
                "{integrator}: order {found}, residuals {residuals:?}"
            );
        }
    }
}
