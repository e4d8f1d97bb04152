//! What a file says of linkages beyond their joints: fixed joints, the start of a free root, joints that follow a profile, pushed links, and
//! where links are. Expected values are closed forms.

mod common;

use common::{finish, written};
use stickslip::Simulation;
use stickslip::scenario::Scenario;
use stickslip::trace::Columns;

const METHODS: [&str; 3] = ["rk4", "implicit-euler", "implicit-midpoint"];

fn head(method: &str, step: f64, duration: f64) -> String {
    format!("[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{method}\"\ngravity = [0, 0, -9.81]\n")
}

/// The values of some columns, by name, at the end.
fn last<const N: usize>(text: &str, names: [&str; N]) -> [f64; N] {
    let mut simulation = written(text, &[]);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap();
    values(&simulation, names)
}

fn values<const N: usize>(simulation: &Simulation, names: [&str; N]) -> [f64; N] {
    let mut columns = Columns::new(simulation);
    columns.select(&names.map(String::from)).unwrap();
    let mut row = Vec::new();
    columns.read(simulation, &mut row);
    row[1..].try_into().unwrap()
}

#[test]
fn a_fixed_link_moves_as_one_body_with_what_carries_it() {
    // An upper arm with a bracket that is turned by 0.4 about y and z, and on the bracket a lower arm; against a file where the upper arm has
    // the mass of both: m1, c1 and m2 at o + R·c2, inertias by Steiner's theorem.
    let [m1, m2] = [1.3, 0.4];
    let (c1, c2, o) = ([0.1, 0.02, 0.0], [0.03, 0.0, 0.05], [0.2, 0.01, -0.03]);
    let (i1, i2) = ([0.002, 0.006, 0.007], [0.001, 0.0015, 0.0007]);
    let (s, c) = 0.4f64.sin_cos();
    // R = Rz(0.4)·Ry(0.4)
    let turn = [[c * c, -s, c * s], [s * c, c, s * s], [-s, 0.0, c]];
    let times = |v: [f64; 3]| [0, 1, 2].map(|i| (0..3).map(|k| turn[i][k] * v[k]).sum::<f64>());
    let at: [f64; 3] = [0, 1, 2].map(|k| o[k] + times(c2)[k]);
    let com: [f64; 3] = [0, 1, 2].map(|k| (m1 * c1[k] + m2 * at[k]) / (m1 + m2));
    let steiner = |m: f64, p: [f64; 3], i: usize, j: usize| {
        let d = [0, 1, 2].map(|k| p[k] - com[k]);
        let square: f64 = d.iter().map(|x| x * x).sum();
        m * (if i == j { square } else { 0.0 } - d[i] * d[j])
    };
    let moment = |i: usize, j: usize| {
        let own = if i == j { i1[i] } else { 0.0 };
        let turned: f64 = (0..3).map(|k| turn[i][k] * i2[k] * turn[j][k]).sum();
        own + turned + steiner(m1, c1, i, j) + steiner(m2, at, i, j)
    };
    let inertia = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|(i, j)| moment(i, j));
    // The lower arm's joint, at p in the axes of the bracket, about its z.
    let p = [0.1, 0.0, 0.0];
    let hinge: [f64; 3] = [0, 1, 2].map(|k| o[k] + times(p)[k]);
    let lower = "axis = [0, 0, 1], mass = 0.5, com = [0.1, 0, 0], inertia = [0.0001, 0.002, 0.002], position = 0.3, velocity = 2";
    let shoulder = "type = \"revolute\", axis = [1, 0.2, 0], position = 0.5, velocity = 1";
    for method in METHODS {
        let bracketed = format!(
            "{}[bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
             {{ name = \"upper\", parent = \"ground\", joint = \"s\", {shoulder}, mass = {m1}, com = {c1:?}, inertia = {i1:?} }},\n\
             {{ name = \"bracket\", parent = \"upper\", type = \"fixed\", origin = {o:?}, rpy = [0, 0.4, 0.4], mass = {m2}, com = {c2:?}, inertia = {i2:?} }},\n\
             {{ name = \"lower\", parent = \"bracket\", joint = \"e\", type = \"revolute\", origin = {p:?}, {lower} }},\n]\n",
            head(method, 1e-3, 1.0)
        );
        let merged = format!(
            "{}[bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
             {{ name = \"upper\", parent = \"ground\", joint = \"s\", {shoulder}, mass = {}, com = {com:?}, inertia = {inertia:?} }},\n\
             {{ name = \"lower\", parent = \"upper\", joint = \"e\", type = \"revolute\", origin = {hinge:?}, rpy = [0, 0.4, 0.4], {lower} }},\n]\n",
            head(method, 1e-3, 1.0),
            m1 + m2
        );
        let names = ["arm.s.position", "arm.e.position", "arm.s.velocity", "arm.lower.x"];
        let (one, other) = (last(&bracketed, names), last(&merged, names));
        for (a, b) in one.iter().zip(other) {
            assert!((a - b).abs() < 1e-10, "{method}: {one:?} {other:?}");
        }
        // The bracket sits where the shoulder has turned it.
        let [q, x, y, z] = last(
            &bracketed,
            ["arm.s.position", "arm.bracket.x", "arm.bracket.y", "arm.bracket.z"],
        );
        let axis = [1.0, 0.2, 0.0].map(|k| k / 1.04f64.sqrt());
        let along: f64 = (0..3).map(|k| axis[k] * o[k]).sum();
        let cross = [
            axis[1] * o[2] - axis[2] * o[1],
            axis[2] * o[0] - axis[0] * o[2],
            axis[0] * o[1] - axis[1] * o[0],
        ];
        for (k, found) in [x, y, z].into_iter().enumerate() {
            let turned = o[k] * q.cos() + cross[k] * q.sin() + axis[k] * along * (1.0 - q.cos());
            assert!((found - turned).abs() < 1e-14, "{method}: {found} {turned}");
        }
    }
}

#[test]
fn a_free_root_begins_where_its_base_says() {
    // A link alone in free fall: its centre of mass is on a parabola, and about a principal axis it turns steadily.
    let (rate, t) = (3.0, 0.5);
    for method in METHODS {
        let text = format!(
            "{}[bodies.stone]\nkind = \"linkage\"\nfloating = true\n\
             base = {{ position = [0.1, 0.2, 2], rpy = [0, 0, \"30 deg\"], velocity = [1, -0.5, 0.3], angular_velocity = [0, 0, {rate}] }}\n\
             links = [{{ name = \"whole\", parent = \"ground\", mass = 2, inertia = [0.1, 0.2, 0.3] }}]\n",
            head(method, 1e-3, t)
        );
        let names = ["x", "y", "z", "qw", "qx", "qy", "qz"].map(|part| format!("stone.whole.{part}"));
        let names: [&str; 7] = std::array::from_fn(|i| names[i].as_str());
        let start = values(&written(&text, &[]), names);
        let half = std::f64::consts::PI / 12.0;
        for (found, expected) in start.iter().zip([0.1, 0.2, 2.0, half.cos(), 0.0, 0.0, half.sin()]) {
            assert!((found - expected).abs() < 1e-15, "{start:?}");
        }
        let end = last(&text, names);
        // implicit-euler falls by half a step more.
        let late = if method == "implicit-euler" {
            0.5 * 9.81 * 1e-3 * t
        } else {
            0.0
        };
        let half = half + 0.5 * rate * t;
        let expected = [
            0.1 + t,
            0.2 - 0.5 * t,
            2.0 + 0.3 * t - 0.5 * 9.81 * t * t - late,
            half.cos(),
            0.0,
            0.0,
            half.sin(),
        ];
        for (found, expected) in end.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{method}: {end:?} {expected:?}");
        }
    }
}

/// A rod of mass m and length l that hangs on a hinge about y, driven by `motion`.
fn driven(method: &str, step: f64, motion: &str) -> String {
    format!(
        "{}[bodies.rod]\nkind = \"linkage\"\nlinks = [{{ name = \"bar\", parent = \"ground\", joint = \"pin\", type = \"revolute\", axis = [0, 1, 0], \
         mass = 0.6, com = [0, 0, -0.25], inertia = [0.0125, 0.0125, 0], motion = \"{motion}\" }}]\n",
        head(method, step, 1.0)
    )
}

#[test]
fn a_joint_follows_its_motion_and_shows_what_that_takes() {
    // θ = 0.4·sin(5t) from rest at 0.4·5 rad/s; torque = (I + m·c²)·θ'' + m·g·c·sin θ.
    let (m, c) = (0.6, 0.25);
    let inertia = 0.0125 + m * c * c;
    for method in ["implicit-euler", "implicit-midpoint"] {
        let mut errors = Vec::new();
        for step in [2e-3, 1e-3] {
            let run = finish(written(&driven(method, step, "0.4*sin(5*t)"), &[]), 1);
            let mut worst = 0.0f64;
            let force = run.column("rod.pin.drive.force");
            for (k, (t, q)) in run.column("t").iter().zip(run.column("rod.pin.position")).enumerate() {
                assert!((q - 0.4 * (5.0 * t).sin()).abs() < 1e-9, "{method}: {t} {q}");
                if k > 2 {
                    let angle = 0.4 * (5.0 * t).sin();
                    let torque = -inertia * 0.4 * 25.0 * (5.0 * t).sin() + m * 9.81 * c * angle.sin();
                    worst = worst.max((force[k] - torque).abs());
                }
            }
            errors.push(worst);
            let energy = run.report.energy.as_ref().unwrap();
            assert!(energy.dissipated.abs() < 1e-12, "{method}: {energy:?}");
        }
        let ratio = errors[0] / errors[1];
        // A step takes the driver's mean velocity, so the force is that of a moment up to a step before.
        assert!((1.8..2.2).contains(&ratio) && errors[1] < 5e-2, "{method}: {errors:?}");
    }
    // By a stiff gear elsewhere: near.
    let [q] = last(&driven("rk4", 1e-3, "0.4*(1 - cos(5*t))"), ["rod.pin.position"]);
    assert!((q - 0.4 * (1.0 - 5f64.cos())).abs() < 1e-3, "{q}");
}

#[test]
fn links_are_pushed_by_their_profiles() {
    for method in METHODS {
        // A slider along x of 2 kg under 3·t N; work is ½·m·v².
        let slider = format!(
            "{}[bodies.sled]\nkind = \"linkage\"\nlinks = [{{ name = \"box\", parent = \"ground\", joint = \"way\", type = \"prismatic\", axis = [1, 0, 0], \
             mass = 2, force = [\"3*t\", 5, 0] }}]\n",
            head(method, 1e-3, 2.0)
        );
        let run = finish(written(&slider, &[]), 1);
        let v = run.at("sled.way.velocity", 2.0);
        let late = if method == "implicit-euler" {
            1.5e-3 * 2.0 / 2.0
        } else {
            0.0
        };
        assert!((v - 3.0 - late).abs() < 1e-9, "{method}: {v}");
        let energy = run.report.energy.as_ref().unwrap();
        let (gained, numerical) = (0.5 * 2.0 * v * v, energy.numerical.unwrap_or(0.0));
        assert!((energy.input - gained - numerical).abs() < 1e-9, "{method}: {energy:?}");
        // A wheel about z under 0.2 N·m, and a force of 3 N at its centre of mass 0.1 m off the axle, across it at the start.
        let wheel = format!(
            "{}[bodies.wheel]\nkind = \"linkage\"\nlinks = [{{ name = \"disc\", parent = \"ground\", joint = \"axle\", type = \"revolute\", axis = [0, 0, 1], \
             mass = 2, com = [0.1, 0, 0], inertia = [0.025, 0.025, 0.05], force = [0, 3, 0], torque = [0, 1, 0.2] }}]\n",
            head(method, 1e-5, 1e-3)
        );
        let [v] = last(&wheel, ["wheel.axle.velocity"]);
        let rate = (0.2 + 3.0 * 0.1) / (0.05 + 2.0 * 0.01);
        assert!((v / 1e-3 - rate).abs() < 1e-6 * rate, "{method}: {v}");
        // A free body of two links, one fixed to the other: the whole has 3 kg.
        let free = format!(
            "{}[bodies.pair]\nkind = \"linkage\"\nfloating = true\nlinks = [\n\
             {{ name = \"a\", parent = \"ground\", mass = 1, inertia = [0.1, 0.1, 0.1] }},\n\
             {{ name = \"b\", parent = \"a\", type = \"fixed\", origin = [0.3, 0, 0], mass = 2, inertia = [0.1, 0.1, 0.1], force = [0, 0, 35.43] }},\n]\n",
            head(method, 1e-4, 1e-2)
        );
        // a = 35.43/3 − 9.81 = 2 at the centre of mass, 0.2 from a; it turns about −y with 35.43·0.1/I, I = 0.2 + 1·0.04 + 2·0.01.
        let [az, bz] = last(&free, ["pair.a.z", "pair.b.z"]);
        let drop = 0.5 * 2.0 * 1e-4;
        let centre = (az + 2.0 * bz) / 3.0;
        let tilt = (bz - az) / 0.3;
        let angle = 0.5 * 35.43 * 0.1 / 0.26 * 1e-4;
        let part = if method == "implicit-euler" { 1.02e-2 } else { 1e-6 };
        assert!((centre - drop).abs() < part * drop, "{method}: {centre} {drop}");
        assert!((tilt - angle).abs() < part * angle, "{method}: {tilt} {angle}");
    }
}

#[test]
fn what_is_fixed_touches_others_and_not_its_carrier() {
    // A hand whose plate is fixed to the arm and overlaps it; the plate lies on a table and carries the arm.
    let text = format!(
        "{}[contacts]\nfriction = {{ law = \"implicit\", mu = 0.5 }}\n[bodies.table]\nkind = \"fixed\"\nshape = {{ box = [2, 2, 0.1] }}\nposition = [0, 0, -0.05]\n\
         [bodies.hand]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"post\", parent = \"ground\", type = \"fixed\", origin = [0, 0, 0.5], mass = 0, shape = {{ box = [0.1, 0.1, 0.1] }} }},\n\
         {{ name = \"arm\", parent = \"post\", joint = \"slide\", type = \"prismatic\", axis = [0, 0, 1], position = -0.42, mass = 1, shape = {{ box = [0.1, 0.1, 0.1] }} }},\n\
         {{ name = \"plate\", parent = \"arm\", type = \"fixed\", origin = [0, 0, -0.055], mass = 0.5, shape = {{ box = [0.2, 0.2, 0.05] }} }},\n]\n",
        head("implicit-euler", 1e-3, 0.2)
    );
    let run = finish(written(&text, &[]), 1);
    assert_eq!(run.at("contacts.count", 0.2), 4.0);
    assert!(run.at("hand.slide.velocity", 0.2) == 0.0 && (run.at("hand.slide.position", 0.2) + 0.42).abs() < 1e-12);
}

#[test]
fn keys_of_links_without_effect_are_refused() {
    let text = |linkage: &str, link: &str| {
        format!(
            "{}[bodies.arm]\nkind = \"linkage\"\n{linkage}links = [{{ name = \"rod\", parent = \"ground\", mass = 1, inertia = [1, 1, 1], {link} }}]\n",
            head("rk4", 1e-3, 1.0)
        )
    };
    let hinge = "type = \"revolute\", axis = [0, 0, 1]";
    for (linkage, link, message) in [
        (
            "",
            &format!("{hinge}, motion = \"t\", position = 1"),
            "`bodies.arm.rod.position` has no effect: `motion` says where the joint is",
        ),
        (
            "",
            &"type = \"fixed\", velocity = 1".to_string(),
            "`bodies.arm.rod.velocity` has no effect: the joint does not move",
        ),
        (
            "floating = true\n",
            &"position = 1".to_string(),
            "`bodies.arm.rod.position` has no effect: the root is free",
        ),
        (
            "base = { position = [0, 0, 1] }\n",
            &hinge.to_string(),
            "`bodies.arm.base` has no effect: the linkage hangs on the ground",
        ),
        (
            "",
            &format!("{hinge}, rpy = [0, 0, 1], rotation = [1, 0, 0, 0]"),
            "`bodies.arm.rod` has both `rotation` and `rpy`",
        ),
        ("", &format!("{hinge}, force = [1, 2]"), "`bodies.arm.rod.force`"),
    ] {
        let found = Scenario::parse(&text(linkage, link), "test.toml", &[])
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(found.contains(message), "{found}");
    }
}
