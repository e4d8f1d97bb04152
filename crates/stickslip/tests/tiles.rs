//! Surfaces made of several shapes or triangles are felt as one: sliding, rolling, tipping and rest on meshes, tiles and compounds, and cylinders on their kind.
//!
//! Expected values are closed forms. What is refused or warned about of meshes stands here too.
#![allow(missing_docs)]

mod common;

use common::written;
use stickslip::Simulation;
use stickslip::scenario::Scenario;

const G: f64 = 9.81;

fn scene(step: f64, method: &str, gravity: [f64; 3], mu: f64, bodies: &str) -> String {
    format!(
        "[simulation]\nduration = 10\nstep = {step}\nintegrator = \"{method}\"\ngravity = {gravity:?}\n\
         [contacts]\nfriction = {{ law = \"implicit\", mu = {mu} }}\n{bodies}"
    )
}

/// Gravity on a slope with this tangent that falls towards `azimuth`.
fn slope(tangent: f64, azimuth: f64) -> [f64; 3] {
    let angle = tangent.atan();
    [
        G * angle.sin() * azimuth.cos(),
        G * angle.sin() * azimuth.sin(),
        -G * angle.cos(),
    ]
}

fn part(shape: &str, position: [f64; 3], more: &str) -> String {
    format!("[bodies.part]\nkind = \"rigid-body\"\nmass = 1.7\nshape = {shape}\nposition = {position:?}\n{more}\n")
}

fn pose(simulation: &Simulation) -> Vec<f64> {
    simulation.position(simulation.body("part").unwrap()).to_vec()
}

fn speeds(simulation: &Simulation) -> Vec<f64> {
    simulation.velocity(simulation.body("part").unwrap()).to_vec()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

type Triangle = [[f64; 3]; 3];

/// A closed box with its top at z = 0, whose top and bottom are of count² squares of two triangles.
fn plate(count: i32, size: f64) -> Vec<Triangle> {
    let at = |i: i32, j: i32, z: f64| {
        let x = |i: i32| size * (f64::from(i) / f64::from(count) - 0.5);
        [x(i), x(j), z]
    };
    let (high, low) = (0.0, -0.1);
    let mut triangles = Vec::new();
    for (i, j) in (0..count).flat_map(|i| (0..count).map(move |j| (i, j))) {
        let ring = |z: f64| [at(i, j, z), at(i + 1, j, z), at(i + 1, j + 1, z), at(i, j + 1, z)];
        let ([a, b, c, d], [e, f, g, h]) = (ring(high), ring(low));
        triangles.extend([[a, b, c], [a, c, d], [e, g, f], [e, h, g]]);
    }
    for i in 0..count {
        for ((p, q), (r, s)) in [
            ((i, 0), (i + 1, 0)),
            ((count, i), (count, i + 1)),
            ((i + 1, count), (i, count)),
            ((0, i + 1), (0, i)),
        ] {
            triangles.push([at(p, q, low), at(r, s, low), at(r, s, high)]);
            triangles.push([at(p, q, low), at(r, s, high), at(p, q, high)]);
        }
    }
    triangles
}

fn stl(name: &str, triangles: &[Triangle]) -> String {
    let mut text = String::from("solid test\n");
    for triangle in triangles {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in triangle {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    let path = std::env::temp_dir().join(format!("stickslip-{}-{name}.stl", std::process::id()));
    std::fs::write(&path, text + "endsolid test\n").unwrap();
    path.to_string_lossy().replace('\\', "/")
}

fn mesh(name: &str) -> String {
    let file = stl(name, &plate(13, 4.0));
    format!("[bodies.table]\nkind = \"fixed\"\nshape = {{ mesh = \"{file}\" }}\n")
}

/// Three boxes side by side, flush, whose sides lie across x.
fn tiles() -> String {
    let tile = |name: &str, from: f64, to: f64| {
        format!(
            "[bodies.{name}]\nkind = \"fixed\"\nshape = {{ box = [{}, 4, 0.2] }}\nposition = [{}, 0, -0.1]\n",
            to - from,
            0.5 * (from + to)
        )
    };
    tile("one", -2.0, 0.05) + &tile("two", 0.05, 0.17) + &tile("three", 0.17, 2.0)
}

/// The same as one body.
fn compound() -> String {
    let tile = |from: f64, to: f64| {
        format!(
            "{{ box = [{}, 4, 0.2], position = [{}, 0, -0.1] }}",
            to - from,
            0.5 * (from + to)
        )
    };
    let tiles = [tile(-2.0, 0.05), tile(0.05, 0.17), tile(0.17, 2.0)].join(", ");
    format!("[bodies.table]\nkind = \"fixed\"\nshape = [{tiles}]\n")
}

#[test]
fn a_box_slides_over_joints_as_over_one_surface() {
    let (mu, speed, step) = (0.31, 1.3, 1e-3);
    // Backward Euler: the speed falls by μ·g·T a step, and the way is its sum.
    let way: f64 = (1..)
        .map(|k| speed - f64::from(k) * mu * G * step)
        .take_while(|v| *v > 0.0)
        .map(|v| v * step)
        .sum();
    for (name, ground) in [("mesh", mesh("slide")), ("tiles", tiles()), ("compound", compound())] {
        for direction in [0.0, 0.4] {
            let (x, y) = (speed * f64::cos(direction), speed * f64::sin(direction));
            let body = part(
                "{ box = [0.12, 0.1, 0.02] }",
                [-0.11, 0.013, 0.01],
                &format!("velocity = [{x}, {y}, 0]"),
            );
            let text = scene(step, "implicit-euler", [0.0, 0.0, -G], mu, &(ground.clone() + &body));
            let mut simulation = written(&text, &[]);
            let start = pose(&simulation);
            simulation.advance(800).unwrap_or_else(|e| panic!("{e}"));
            let end = pose(&simulation);
            let moved = libm::hypot(end[0] - start[0], end[1] - start[1]);
            assert!((end[2] - 0.01).abs() < 1e-12, "{name}: {end:?}");
            assert!(speeds(&simulation).iter().all(|v| *v == 0.0), "{name}");
            if direction == 0.0 {
                assert!((moved - way).abs() < 1e-9, "{name}: {moved} and {way}");
                assert!(farthest(&end[3..], &start[3..]) < 1e-9, "{name}: {end:?}");
            }
        }
    }
}

const BALL: (&str, f64, &str) = ("{ sphere = 0.06 }", 0.4, "");
const ROLLER: (&str, f64, &str) = (
    "{ cylinder = { radius = 0.06, length = 0.22 } }",
    0.5,
    "rotation = [0.7071067811865476, 0.7071067811865476, 0, 0]",
);

/// A round body gains g·sin(α)/(1 + I/(m·r²)) down a slope, whatever joints it crosses.
fn rolls(method: &str, (name, ground): (&str, &str), (shape, inertia, more): (&str, f64, &str)) {
    let body = part(shape, [-0.2, 0.013, 0.06], more);
    let text = scene(1e-3, method, slope(0.17, 0.0), 0.6, &format!("{ground}{body}"));
    let mut simulation = written(&text, &[]);
    simulation.advance(700).unwrap_or_else(|e| panic!("{e}"));
    let expected = 0.7 * slope(0.17, 0.0)[0] / (1.0 + inertia);
    let motion = speeds(&simulation);
    assert!(
        (motion[0] - expected).abs() < 1e-8,
        "{shape} on {name}, {method}: {} and {expected}",
        motion[0]
    );
    assert!((pose(&simulation)[2] - 0.06).abs() < 1e-9, "{shape} on {name}");
}

#[test]
fn balls_and_cylinders_roll_over_joints_as_over_one_surface() {
    let (mesh, tiles, compound) = (mesh("roll"), tiles(), compound());
    for body in [BALL, ROLLER] {
        for ground in [("mesh", mesh.as_str()), ("tiles", &tiles), ("compound", &compound)] {
            rolls("implicit-euler", ground, body);
        }
        for ground in [("mesh", mesh.as_str()), ("tiles", &tiles), ("compound", &compound)] {
            rolls("implicit-midpoint", ground, body);
        }
    }
}

/// Whether a body leaves its place within half a second.
fn leaves(method: &str, ground: &str, body: &str, gravity: [f64; 3], mu: f64) -> bool {
    let mut simulation = written(&scene(1e-3, method, gravity, mu, &format!("{ground}{body}")), &[]);
    let start = pose(&simulation);
    simulation.advance(500).unwrap_or_else(|e| panic!("{e}"));
    let moved = farthest(&pose(&simulation), &start);
    assert!(!(1e-9..=1e-4).contains(&moved), "{moved} m");
    moved > 1e-4
}

#[test]
fn a_cylinder_rests_tips_and_slides_on_a_mesh_and_on_a_cylinder() {
    let pillar = "[bodies.table]\nkind = \"fixed\"\nshape = { cylinder = { radius = 1.1, length = 0.2 } }\nposition = [0, 0, -0.1]\n";
    for ground in [mesh("cylinder").as_str(), pillar] {
        // Upright, r/h = 0.35.
        let upright = part(
            "{ cylinder = { radius = 0.07, length = 0.4 } }",
            [0.013, 0.017, 0.2],
            "",
        );
        for azimuth in [0.0, 0.913, 2.2] {
            assert!(
                !leaves("implicit-euler", ground, &upright, slope(0.35 * 0.999, azimuth), 2.0),
                "tips"
            );
            assert!(
                leaves("implicit-euler", ground, &upright, slope(0.35 * 1.001, azimuth), 2.0),
                "stands"
            );
        }
        // On its side, along the slope.
        let side = part(
            "{ cylinder = { radius = 0.05, length = 0.14 } }",
            [0.013, 0.017, 0.05],
            "rotation = [0.7071067811865476, 0, 0.7071067811865476, 0]",
        );
        assert!(
            !leaves("implicit-euler", ground, &side, slope(0.4 * 0.999, 0.0), 0.4),
            "slides"
        );
        assert!(
            leaves("implicit-euler", ground, &side, slope(0.4 * 1.001, 0.0), 0.4),
            "holds"
        );
        // On its side on level ground, turned by 0.3 about the vertical: at rest to the last bit.
        let (half, turn) = (std::f64::consts::FRAC_PI_4, 0.15f64);
        let turned = [
            half.cos() * turn.cos(),
            half.cos() * turn.sin() * 0.0 + half.sin() * turn.cos(),
            half.sin() * turn.sin(),
            half.cos() * turn.sin(),
        ];
        let lying = part(
            "{ cylinder = { radius = 0.05, length = 0.14 } }",
            [0.013, 0.017, 0.05],
            &format!("rotation = {turned:?}"),
        );
        let mut simulation = written(
            &scene(1e-3, "implicit-euler", [0.0, 0.0, -G], 0.5, &format!("{ground}{lying}")),
            &[],
        );
        let start = pose(&simulation);
        simulation.advance(6000).unwrap_or_else(|e| panic!("{e}"));
        assert!(farthest(&pose(&simulation), &start) < 1e-12, "{:?}", pose(&simulation));
    }
}

#[test]
fn boxes_on_meshes_and_tiles_tip_where_the_weight_leaves_the_base() {
    // 0.08 wide, 0.25 high: 0.32.
    let body = part("{ box = [0.08, 0.3, 0.25] }", [0.031, -0.017, 0.125], "");
    for (name, ground) in [("mesh", mesh("tip")), ("tiles", tiles()), ("compound", compound())] {
        for method in ["implicit-euler", "implicit-midpoint"] {
            let leaves = |part: f64| leaves(method, &ground, &body, slope(0.32 * part, 0.0), 0.9);
            assert!(!leaves(0.999), "{name}, {method}: tips");
            assert!(leaves(1.001), "{name}, {method}: stands");
        }
    }
}

/// A box that is thrown over its edge lies on its side afterwards, where it would on one plate.
#[test]
fn boxes_tip_over_joints_as_over_one_surface() {
    let plate = "[bodies.table]\nkind = \"fixed\"\nshape = { box = [4, 4, 0.2] }\nposition = [0, 0, -0.1]\n";
    let body = part(
        "{ box = [0.08, 0.3, 0.25] }",
        [0.013, -0.017, 0.125],
        "angular_velocity = [0, 3, 0]\nvelocity = [0.375, 0, 0.12]",
    );
    for method in ["implicit-euler", "implicit-midpoint"] {
        let end = |ground: &str| {
            let text = scene(1e-3, method, [0.0, 0.0, -G], 0.9, &format!("{ground}{body}"));
            let mut simulation = written(&text, &[]);
            simulation.advance(1500).unwrap_or_else(|e| panic!("{e}"));
            pose(&simulation)
        };
        let whole = end(plate);
        for (name, ground) in [("mesh", mesh("over")), ("tiles", tiles()), ("compound", compound())] {
            let pose = end(&ground);
            assert!((pose[2] - 0.04).abs() < 1e-9, "{name}, {method}: {pose:?}");
            assert!(
                farthest(&pose, &whole) < 2e-3,
                "{name}, {method}: {pose:?} and {whole:?}"
            );
        }
    }
}

#[test]
fn a_body_inside_of_a_mesh_is_warned_about_with_its_depth() {
    let file = stl("inside", &plate(3, 4.0).map_height(-5.0));
    let bodies = format!(
        "[bodies.rock]\nkind = \"fixed\"\nshape = {{ mesh = \"{file}\" }}\n{}",
        part("{ sphere = 0.3 }", [0.7, -0.4, -1.5], "")
    );
    let warnings = |text: &str| -> Vec<String> {
        let simulation = written(text, &[]);
        simulation.built().warnings.iter().map(|w| w.message.clone()).collect()
    };
    // 1.3 m to the nearest side, and its radius.
    let found = warnings(&scene(1e-3, "implicit-euler", [0.0, 0.0, -G], 0.5, &bodies));
    assert!(
        found
            .iter()
            .any(|w| w.contains("rock") && w.contains("part") && w.contains("overlap by 1.600e0 m")),
        "{found:?}"
    );
    let outside = bodies.replace("-1.5]", "0.5]");
    let found = warnings(&scene(1e-3, "implicit-euler", [0.0, 0.0, -G], 0.5, &outside));
    assert!(!found.iter().any(|w| w.contains("overlap")), "{found:?}");
}

trait Stretch {
    fn map_height(self, low: f64) -> Self;
}

impl Stretch for Vec<Triangle> {
    /// Moves the bottom.
    fn map_height(mut self, low: f64) -> Self {
        for corner in self.iter_mut().flatten() {
            if corner[2] < 0.0 {
                corner[2] = low;
            }
        }
        self
    }
}

fn refusal(text: &str) -> String {
    match Scenario::parse(text, "test.toml", &[]) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    }
}

#[test]
fn flat_and_double_triangles_of_a_mesh_are_left_out_or_named() {
    let scenery = |file: &str| {
        let ground = format!("[bodies.rock]\nkind = \"fixed\"\nshape = {{ mesh = \"{file}\" }}\n");
        let ball = part("{ sphere = 0.3 }", [0.0, 0.0, 0.3], "");
        scene(1e-3, "implicit-euler", [0.0, 0.0, -G], 0.5, &(ground + &ball))
    };
    let mut triangles = plate(2, 4.0);
    let [a, b, _] = triangles[3];
    triangles.insert(1, [a, b, b]);
    triangles.push([b, b, b]);
    assert_eq!(refusal(&scenery(&stl("flat", &triangles))), "");
    let mut triangles = plate(2, 4.0);
    triangles.push(triangles[4]);
    let count = triangles.len();
    let said = refusal(&scenery(&stl("double", &triangles)));
    assert!(
        said.contains(&format!("triangles 5 and {count} have the same corners")),
        "{said}"
    );
}

#[test]
fn no_body_touches_itself() {
    let bodies = part("{ sphere = 0.3 }", [0.0, 0.0, 0.3], "");
    let text = scene(1e-3, "implicit-euler", [0.0, 0.0, -G], 0.5, &bodies);
    for key in ["except", "between"] {
        let said = refusal(&text.replace("[contacts]\n", &format!("[contacts]\n{key} = [[\"part\", \"part\"]]\n")));
        assert!(said.contains("no body touches itself"), "{said}");
    }
}
