//! What sticks on something that moves stays where it is on that under the implicit midpoint rule: on drivers, conveyors, turning tables and sliding bodies. Its friction
//! is the force that carries it.
//!
//! Expected values are closed forms: no motion against the support, and mass times acceleration.
#![allow(missing_docs)]

mod common;

use common::{finish, written};
use stickslip::Simulation;

const G: f64 = 9.81;
const FOUND: &str = "[contacts]\nfriction = { law = \"implicit\", mu = 0.5 }\n";
const NAMED: &str = "normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.5 }\nsurface = { plane = { normal = [0, 0, 1] } }\n";

fn head(step: f64, gravity: f64) -> String {
    format!(
        "[simulation]\nduration = 10\nstep = {step}\nintegrator = \"implicit-midpoint\"\ngravity = [0, 0, -{gravity}]\n"
    )
}

fn part(position: [f64; 3], more: &str) -> String {
    format!(
        "[bodies.part]\nkind = \"rigid-body\"\nmass = 2\nshape = {{ box = [0.2, 0.3, 0.1] }}\nposition = {position:?}\n{more}\n"
    )
}

fn table(more: &str, shape: bool) -> String {
    let shape = match shape {
        true => "shape = { cylinder = { radius = 1, length = 0.2 } }, ",
        false => "",
    };
    format!(
        "[bodies.table]\nkind = \"linkage\"\nlinks = [{{ name = \"disc\", parent = \"ground\", joint = \"turn\", type = \"revolute\", axis = [0, 0, 1], \
         mass = 20, com = [0, 0, -0.1], inertia = [1, 1, 2], {shape}{more} }}]\n"
    )
}

/// The pose of the part: position and quaternion.
fn pose(simulation: &Simulation) -> [f64; 7] {
    let pose = simulation.position(simulation.body("part").unwrap());
    std::array::from_fn(|i| pose[i])
}

/// The pose of the part on something that is at this place and turned by this angle about z.
fn on(pose: [f64; 7], place: &[f64], angle: f64) -> [f64; 7] {
    let [x, y, z, w, i, j, k] = pose;
    let (x, y, z) = (x - place[0], y - place[1], z - place[2]);
    let (sin, cos) = angle.sin_cos();
    let (half_sin, half_cos) = (0.5 * angle).sin_cos();
    let turned = [
        half_cos * w + half_sin * k,
        half_cos * i + half_sin * j,
        half_cos * j - half_sin * i,
        half_cos * k - half_sin * w,
    ];
    let sign = turned[0].signum();
    let [w, i, j, k] = turned.map(|q| sign * q);
    [cos * x + sin * y, cos * y - sin * x, z, w, i, j, k]
}

/// The farthest that a pose moves in the last 8 s of 10 s.
fn drift(text: &str, seen: impl Fn(&Simulation) -> [f64; 7]) -> f64 {
    let mut simulation = written(text, &[]);
    let steps = simulation.built().steps;
    let run = |simulation: &mut Simulation| simulation.advance(steps / 100).unwrap_or_else(|e| panic!("{e}"));
    (0..20).for_each(|_| run(&mut simulation));
    let start = seen(&simulation);
    let mut farthest = 0.0f64;
    for _ in 0..80 {
        run(&mut simulation);
        let now = seen(&simulation);
        farthest = now
            .iter()
            .zip(&start)
            .map(|(a, b)| (a - b).abs())
            .fold(farthest, f64::max);
    }
    farthest
}

/// Motions along x with 90 % of the acceleration that friction can give, and where they lead.
const MOTIONS: [(&str, &str); 6] = [
    ("position", "0.0441*(1-cos(10*t))"),
    ("position", "2.2*t^2"),
    ("position", "0.3*t + 0.0441*(1-cos(10*t))"),
    ("velocity", "0.441*sin(10*t)"),
    ("velocity", "4.4*t"),
    ("velocity", "0.3"),
];

#[test]
fn what_sticks_on_a_driver_goes_with_it() {
    for (key, motion) in MOTIONS {
        for step in [1e-3, 4e-3] {
            let driver =
                |axes: &str, more: &str| format!("[bodies.plate]\nkind = \"driver\"\n{key} = {axes}\n{more}\n");
            let along = format!("[\"{motion}\", 0, 0]");
            let named = head(step, G)
                + &driver(&along, "")
                + &part([0.03, 0.02, 0.05], "")
                + &format!("[elements.touch]\nkind = \"contact\"\nbetween = [\"part\", \"plate\"]\n{NAMED}");
            let found = head(step, G)
                + FOUND
                + &driver(&along, "shape = { box = [2, 2, 0.2] }")
                + &part([0.03, 0.02, 0.15], "");
            for (name, text) in [("named", named), ("found", found)] {
                let moved = drift(&text, |s| on(pose(s), s.position(s.body("plate").unwrap()), 0.0));
                assert!(moved < 1e-10, "{name}, {key} = {motion}, {step} s: {moved} m");
            }
            let mass = head(step, 0.0)
                + &driver(&format!("\"{motion}\""), "")
                + "[bodies.part]\nkind = \"mass\"\nmass = 2\n\
                   [elements.touch]\nkind = \"friction\"\nbetween = [\"part\", \"plate\"]\nlaw = \"implicit\"\nkinetic = 9.81\n";
            let moved = drift(&mass, |s| {
                let at = |name: &str| s.position(s.body(name).unwrap())[0];
                [at("part") - at("plate"), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
            });
            assert!(moved < 1e-10, "mass, {key} = {motion}, {step} s: {moved} m");
        }
    }
}

#[test]
fn what_sticks_on_a_conveyor_goes_with_it() {
    let text = head(1e-3, G)
        + FOUND
        + "[bodies.belt]\nkind = \"fixed\"\nshape = { box = [40, 2, 0.2] }\nposition = [0, 0, -0.1]\nsurface_velocity = [0.3, 0, 0]\n"
        + &part([0.03, 0.02, 0.05], "");
    let moved = drift(&text, |s| on(pose(s), &[0.3 * s.time(), 0.0, 0.0], 0.0));
    assert!(moved < 1e-10, "{moved} m");
}

/// On tables that are driven, caught by them, free, or swing on a spring.
#[test]
fn what_sticks_on_a_turning_table_goes_with_it() {
    let still = part([0.3, 0.1, 0.05], "");
    let turning = part(
        [0.3, 0.1, 0.05],
        "velocity = [-0.2, 0.6, 0]\nangular_velocity = [0, 0, 2]",
    );
    let late = part(
        [0.5, 0.1, 0.05],
        "velocity = [-0.2, 1, 0]\nangular_velocity = [0, 0, 2.2]",
    );
    let spring = "[elements.spring]\nkind = \"spring\"\nbetween = [\"table.turn\", \"ground\"]\nstiffness = 20\n";
    for (what, joint, part, more) in [
        ("driven", "motion = \"0.5*(1-cos(3*t))\"", &still, ""),
        ("started", "motion = \"0.8*t\"", &still, ""),
        ("catching", "motion = \"2.4*t\"", &late, ""),
        ("free", "velocity = 2", &turning, ""),
        ("swinging", "position = 0.4", &still, spring),
    ] {
        let found = head(1e-3, G) + FOUND + &table(joint, true) + part + more;
        let named = head(4e-3, G)
            + &table(joint, false)
            + part
            + more
            + &format!("[elements.touch]\nkind = \"contact\"\nbetween = [\"part\", \"table.disc\"]\n{NAMED}");
        for (name, text) in [("found", found), ("named", named)] {
            let moved = drift(&text, |s| {
                on(pose(s), &[0.0; 3], s.position(s.body("table").unwrap())[0])
            });
            assert!(moved < 1e-10, "{what}, {name}: {moved} m");
        }
    }
}

/// A box on a plate that slides over the floor, and is slowed down by less than the box can stand.
#[test]
fn what_sticks_on_a_sliding_body_goes_with_it() {
    let text = head(1e-3, G)
        + FOUND
        + "[materials.ice]\nmu = 0.1\n[bodies.floor]\nkind = \"fixed\"\nmaterial = \"ice\"\nshape = { plane = { normal = [0, 0, 1] } }\n\
           [bodies.plate]\nkind = \"rigid-body\"\nmass = 20\nshape = { box = [2, 2, 0.2] }\nposition = [0, 0, 0.1]\nvelocity = [9, 0.4, 0]\n"
        + &part([0.3, 0.1, 0.25], "velocity = [9, 0.4, 0]");
    let moved = drift(&text, |s| on(pose(s), s.position(s.body("plate").unwrap()), 0.0));
    assert!(moved < 1e-10, "{moved} m");
}

/// The force that carries is mass times acceleration from step to step, not on the average only.
#[test]
fn the_friction_that_carries_is_mass_times_acceleration() {
    // Caught at 0.3 m/s by a plate that goes on to swing.
    let text = head(1e-3, G)
        + "[bodies.plate]\nkind = \"driver\"\nposition = [\"0.3*t + 0.02*(1-cos(10*t))\", 0, 0]\n"
        + &part([0.03, 0.02, 0.05], "")
        + &format!("[elements.touch]\nkind = \"contact\"\nbetween = [\"part\", \"plate\"]\n{NAMED}");
    let run = finish(written(&text, &[]), 1);
    let (time, force) = (run.column("t"), run.column("touch.force.x"));
    for (t, force) in time.iter().zip(&force).filter(|(t, _)| **t > 1.0) {
        let expected = 2.0 * 2.0 * (10.0 * (t - 5e-4)).cos();
        assert!((force - expected).abs() < 2e-3, "{t} s: {force} N for {expected} N");
    }
    // m·Ω²·r on a table.
    let text = head(1e-3, G)
        + &table("motion = \"2.4*t\"", false)
        + &part(
            [0.5, 0.1, 0.05],
            "velocity = [-0.2, 1, 0]\nangular_velocity = [0, 0, 2.2]",
        )
        + &format!("[elements.touch]\nkind = \"contact\"\nbetween = [\"part\", \"table.disc\"]\n{NAMED}");
    let run = finish(written(&text, &[]), 1);
    let [fx, fy, x, y] =
        ["touch.force.x", "touch.force.y", "part.position.x", "part.position.y"].map(|name| run.column(name));
    let forces = fx.iter().zip(&fy).map(|(x, y)| x.hypot(*y));
    let radii = x.iter().zip(&y).map(|(x, y)| x.hypot(*y));
    for (row, (force, radius)) in forces.zip(radii).enumerate().skip(1000) {
        let expected = 2.0 * 2.4 * 2.4 * radius;
        assert!(
            (force - expected).abs() < 1e-4 * expected,
            "row {row}: {force} N for {expected} N"
        );
    }
}

/// Bodies that hold together and turn freely keep energy and angular momentum.
#[test]
fn what_turns_with_a_free_table_takes_no_energy() {
    let text = head(2e-3, G)
        + FOUND
        + &table("velocity = 2", true)
        + &part(
            [0.3, 0.1, 0.05],
            "velocity = [-0.2, 0.6, 0]\nangular_velocity = [0, 0, 2]",
        );
    let mut simulation = written(&text, &[]);
    let start = simulation.energy().0;
    simulation.advance(5000).unwrap_or_else(|e| panic!("{e}"));
    let now = simulation.energy().0;
    assert!((now / start - 1.0).abs() < 1e-9, "{start} J became {now} J");
}

/// Steps that are split because something else turns back or comes to rest move nothing that sticks.
#[test]
fn what_sticks_stays_while_others_come_to_rest() {
    let others = "[bodies.slider]\nkind = \"mass\"\nmass = 1\nforce = \"9*sin(41*t)\"\n\
                  [elements.slow]\nkind = \"friction\"\non = \"slider\"\nlaw = \"implicit\"\nkinetic = 3\n\
                  [bodies.plate]\nkind = \"driver\"\nposition = \"0.0441*(1-cos(10*t))\"\n[bodies.carried]\nkind = \"mass\"\nmass = 2\n\
                  [elements.carries]\nkind = \"friction\"\nbetween = [\"carried\", \"plate\"]\nlaw = \"implicit\"\nkinetic = 9.81\n";
    let text = head(1e-3, G)
        + FOUND
        + &table("motion = \"0.5*(1-cos(3*t)) + 0.4*t\"", true)
        + &part([0.3, 0.1, 0.05], "")
        + others;
    let moved = drift(&text, |s| {
        on(pose(s), &[0.0; 3], s.position(s.body("table").unwrap())[0])
    });
    assert!(moved < 1e-10, "{moved} m");
    let moved = drift(&text, |s| {
        let at = |name: &str| s.position(s.body(name).unwrap())[0];
        [at("carried") - at("plate"), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    });
    assert!(moved < 1e-10, "{moved} m");
}
