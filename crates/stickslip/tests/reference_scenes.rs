//! Scenes with known outcomes: closed forms, or numbers found by other programs (Siconos, a nonsmooth Gauss–Seidel method to 1e-13; Clarabel).
//! g = 9.81 m/s², steps of 1 ms unless said. Five spheres in a row are in `scenes.rs`, a ball that slides until it rolls is in `contacts.rs`, random wrenches are
//! the grasps of `families.rs`, overlaps are in `scenes.rs`.
#![allow(missing_docs)]

mod common;

use common::{Run, close, finish, written};
use stickslip::{Body, Simulation};

fn head(step: f64, duration: f64, gravity: [f64; 3]) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = {gravity:?}\n"
    )
}

fn once(text: &str) -> Run {
    finish(written(text, &[]), 1)
}

fn final_value(run: &Run, name: &str) -> f64 {
    *run.column(name).last().unwrap()
}

const DOWN: [f64; 3] = [0.0, 0.0, -9.81];
const ON_GROUND: &str = "[elements.floor]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = { plane = { normal = [0, 0, 1] } }\nnormal = { law = \"rigid\" }\n";

/// A cube of 0.1 m between two fingers of 0.1 kg that are squeezed by 20 N.
fn gripper(mass: f64, duration: f64) -> String {
    let mut text = head(1e-3, duration, DOWN)
        + "[bodies.hand]\nkind = \"linkage\"\nlinks = [\n\
           { name = \"left\", parent = \"ground\", joint = \"l\", type = \"prismatic\", axis = [1, 0, 0], origin = [-0.05, 0, 0], mass = 0.1 },\n\
           { name = \"right\", parent = \"ground\", joint = \"r\", type = \"prismatic\", axis = [1, 0, 0], origin = [0.05, 0, 0], mass = 0.1 },\n]\n\
           [elements.squeeze]\nkind = \"actuator\"\nbetween = [\"hand.l\", \"hand.r\"]\nvalue = 20\n\
           [elements.centre]\nkind = \"spring\"\nbetween = [\"hand.l\", \"hand.r\"]\nratio = [1, -1]\nstiffness = 1e4\ndamping = 50\n";
    text += &format!("[bodies.b]\nkind = \"rigid-body\"\nshape = {{ box = [0.1, 0.1, 0.1] }}\nmass = {mass}\n");
    for (name, finger, normal) in [("cl", "left", 1), ("cr", "right", -1)] {
        text += &format!(
            "[elements.{name}]\nkind = \"contact\"\nbetween = [\"b\", \"hand.{finger}\"]\nsurface = {{ plane = {{ normal = [{normal}, 0, 0] }} }}\n\
             normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.5 }}\n"
        );
    }
    text
}

/// Four corners at each finger: 5 N and a quarter of half the weight each, symmetric; v = 0 for ever.
#[test]
fn a_gripper_holds_with_the_smallest_forces() {
    let run = once(&gripper(1.0, 2.0));
    for row in 1..run.column("t").len() {
        for (name, sign) in [("cl", 1.0), ("cr", -1.0)] {
            let at = |axis: &str| run.column(&format!("{name}.force.{axis}"))[row];
            if row % 400 == 1 {
                close("normal", at("x"), sign * 20.0, 1e-9);
                close("other", at("y"), 0.0, 1e-9);
                close("vertical", at("z"), 4.905, 1e-9);
            }
        }
    }
    for name in [
        "b.position.x",
        "b.position.y",
        "b.position.z",
        "b.velocity.z",
        "b.wx",
        "b.wy",
        "b.wz",
    ] {
        assert!(run.column(name).iter().all(|value| value.abs() < 1e-15), "{name}");
    }
}

/// 3 kg slide: g·T − 20/3·T, without turning.
#[test]
fn a_gripper_lets_a_heavy_cube_slide() {
    let run = once(&gripper(3.0, 1e-3));
    close("speed", final_value(&run, "b.velocity.z"), -3.143_333_333_333e-3, 1e-14);
    close("spin", final_value(&run, "b.wy"), 0.0, 1e-13);
    close("normal", final_value(&run, "cl.normal"), 20.0, 1e-9);
    close("friction", final_value(&run, "cl.force.z"), 10.0, 1e-9);
}

/// A box of 0.2 × 0.2 × 0.1 m, 1 kg, on a slope: tan θ = 0.495 holds at μ = 0.5, 0.505 does not.
#[test]
fn a_slope_holds_below_the_angle_of_friction() {
    for (slope, speed) in [(0.495f64, 0.0), (0.505, 4.378_373_7e-5)] {
        let (sin, cos) = (slope.atan().sin(), slope.atan().cos());
        let text = head(1e-3, 1e-3, [9.81 * sin, 0.0, -9.81 * cos])
            + "[bodies.b]\nkind = \"rigid-body\"\nshape = { box = [0.2, 0.2, 0.1] }\nmass = 1\nposition = [0, 0, 0.05]\n"
            + ON_GROUND
            + "friction = { law = \"implicit\", mu = 0.5 }\n";
        let run = once(&text);
        close("speed", final_value(&run, "b.velocity.x"), speed, 1e-12);
        close("normal", final_value(&run, "floor.normal"), 9.81 * cos, 1e-10);
        let friction = if speed == 0.0 { 9.81 * sin } else { 0.5 * 9.81 * cos };
        close("friction", final_value(&run, "floor.force.x"), -friction, 1e-10);
    }
}

/// Ten boxes on each other, also with 1e6 kg on top of nine: every contact carries what lies above it, and nothing moves.
#[test]
fn ten_boxes_carry_what_lies_above() {
    for top in [1.0, 1e6] {
        let mut text = head(1e-3, 0.02, DOWN);
        for k in 0..10 {
            let mass = if k == 9 { top } else { 1.0 };
            text += &format!(
                "[bodies.b{k}]\nkind = \"rigid-body\"\nshape = {{ box = [0.2, 0.2, 0.1] }}\nmass = {mass}\nposition = [0, 0, {}]\n[elements.c{k}]\nkind = \"contact\"\n",
                0.05 + 0.1 * f64::from(k)
            );
            text += &match k {
                0 => "between = [\"b0\", \"ground\"]\nsurface = { plane = { normal = [0, 0, 1] } }\n".to_string(),
                _ => format!(
                    "between = [\"b{k}\", \"b{}\"]\nsurface = {{ plane = {{ normal = [0, 0, 1], offset = 0.05 }} }}\n",
                    k - 1
                ),
            };
            text += "normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.5 }\n";
        }
        let run = once(&text);
        for k in 0..10 {
            let above = 9.81 * (f64::from(9 - k) + top);
            close(
                &format!("contact {k}"),
                final_value(&run, &format!("c{k}.normal")),
                above,
                1e-12 * above,
            );
            let moved = run
                .column(&format!("b{k}.velocity.z"))
                .iter()
                .fold(0.0f64, |most, v| most.max(v.abs()));
            assert!(moved < 1e-15, "box {k} moves with {moved:e} m/s");
        }
    }
}

/// A row of eight masses that rub on the ground (1 N) and on their neighbours (0.8 N): velocities by an independent solver, in mm/s.
#[test]
fn a_row_of_rubbing_masses_ends_as_the_convex_problem_says() {
    let free = [3.0, 4.0, 5.0, 3.0, -0.5, 0.9, -2.5, -3.0];
    let expected = [41.0 / 15.0, 41.0 / 15.0, 41.0 / 15.0, 2.0, 0.0, 0.0, -1.35, -1.35];
    let mut text = head(1e-3, 1e-3, [0.0; 3]);
    for (k, v) in free.iter().enumerate() {
        text += &format!("[bodies.b{k}]\nkind = \"mass\"\nmass = 1\nvelocity = {:?}\n", 1e-3 * v);
    }
    for k in 0..8 {
        text += &format!(
            "[elements.g{k}]\nkind = \"friction\"\nbetween = [\"b{k}\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 1\n"
        );
        if k > 0 {
            text += &format!(
                "[elements.n{k}]\nkind = \"friction\"\nbetween = [\"b{}\", \"b{k}\"]\nlaw = \"implicit\"\nkinetic = 0.8\n",
                k - 1
            );
        }
    }
    let mut row = written(&text, &[]);
    row.advance(1).unwrap();
    for (k, expected) in expected.iter().enumerate() {
        close(
            &format!("mass {k}"),
            row.velocity(Body::nth(k))[0],
            1e-3 * expected,
            1e-15,
        );
    }
}

/// Five dominoes of 0.008 × 0.024 × 0.048 m and 10 g that lean on each other, pitch 0.02 m, μ = 0.5, from rest, one step of 0.5 ms; by Siconos.
#[test]
fn leaning_dominoes_begin_to_fall_as_in_siconos() {
    let angles = [0.8480320499f64, 0.6937246757, 0.4917192938, 0.2526802551, 0.0];
    let expected = [
        [2.332725e-4, -1.897535e-4, 1.2358826e-2],
        [3.555217e-4, -2.076267e-4, 1.6921148e-2],
        [4.879306e-4, -1.652609e-4, 2.1172850e-2],
        [5.748143e-4, -5.04433e-5, 2.3715514e-2],
        [5.691723e-4, 9.48621e-5, 2.3715514e-2],
    ];
    let mut text = head(5e-4, 5e-4, DOWN);
    let law = "normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.5 }\n";
    for (k, angle) in angles.iter().enumerate() {
        let (sin, cos) = angle.sin_cos();
        let (x, z) = (-0.004 * cos + 0.024 * sin, 0.004 * sin + 0.024 * cos);
        text += &format!(
            "[bodies.b{k}]\nkind = \"rigid-body\"\nshape = {{ box = [0.008, 0.024, 0.048] }}\nmass = 0.01\nposition = [{:?}, 0, {z:?}]\nrotation = [{:?}, 0, {:?}, 0]\n\
             [elements.g{k}]\nkind = \"contact\"\nbetween = [\"b{k}\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{law}",
            0.02 * k as f64 + 0.008 + x,
            (0.5 * angle).cos(),
            (0.5 * angle).sin()
        );
        if k > 0 {
            text += &format!(
                "[elements.c{k}]\nkind = \"contact\"\nbetween = [\"b{}\", \"b{k}\"]\nsurface = {{ plane = {{ normal = [-1, 0, 0], offset = 0.004 }} }}\n{law}",
                k - 1
            );
        }
    }
    let mut scene = written(&text, &[]);
    scene.advance(1).unwrap();
    for (k, [vx, vz, wy]) in expected.into_iter().enumerate() {
        let motion = scene.velocity(Body::nth(k));
        close(&format!("vx {k}"), motion[0], vx, 2e-10);
        close(&format!("vz {k}"), motion[2], vz, 2e-10);
        close(&format!("wy {k}"), motion[4], wy, 1e-9);
    }
}

/// Painlevé's rod at 60°: it slides at μ = 1; at μ = 1.6 no sliding is possible, and it is stopped as by an impact.
#[test]
fn painleves_rod_slides_or_jams() {
    let rod = |mu: f64| {
        let text = head(1e-3, 1e-3, DOWN)
            + "[bodies.b]\nkind = \"rigid-body\"\nmass = 1\nshape = { box = [1, 1e-9, 1e-9] }\ninertia = [0.08333333333333333, 0.08333333333333333, 0.08333333333333333]\n\
               position = [0.25, 0, 0.4330127018922193]\nrotation = [0.8660254037844387, 0, -0.5, 0]\nvelocity = [-1, 0, 0]\n"
            + ON_GROUND
            + &format!("friction = {{ law = \"implicit\", mu = {mu} }}\n");
        once(&text)
    };
    let run = rod(1.0);
    close("normal", final_value(&run, "floor.normal"), 21.753501, 1e-6);
    let (vx, wy) = (final_value(&run, "b.velocity.x"), final_value(&run, "b.wy"));
    close("slip", vx - wy * 0.433_012_701_892, -0.957_559_7, 1e-6);
    let run = rod(1.6);
    close(
        "normal impulse",
        1e-3 * final_value(&run, "floor.normal"),
        0.332_730_2,
        1e-6,
    );
    close(
        "friction impulse",
        1e-3 * final_value(&run, "floor.force.x"),
        0.440_685_9,
        1e-6,
    );
    let jammed = run.report.warnings.iter().find(|warning| warning.contains("\"floor\""));
    assert!(
        jammed.is_some_and(|warning| warning.contains("no impact")),
        "{:?}",
        run.report.warnings
    );
}

/// Walls that are driven towards each other with a mass between them: said, with the contact, not stepped over.
#[test]
fn closing_walls_are_named() {
    let text = head(1e-3, 1.0, [0.0; 3])
        + "[bodies.m]\nkind = \"mass\"\nmass = 1\nposition = [0, 0, 0]\n\
           [bodies.left]\nkind = \"driver\"\nvelocity = [0.1, 0, 0]\n[bodies.right]\nkind = \"driver\"\nvelocity = [-0.1, 0, 0]\n\
           [elements.l]\nkind = \"contact\"\nbetween = [\"m\", \"left\"]\nsurface = { plane = { normal = [1, 0, 0], offset = -0.01 } }\nnormal = { law = \"rigid\" }\n\
           [elements.r]\nkind = \"contact\"\nbetween = [\"m\", \"right\"]\nsurface = { plane = { normal = [-1, 0, 0], offset = -0.01 } }\nnormal = { law = \"rigid\" }\n";
    let mut scene: Simulation = written(&text, &[]);
    let error = scene.advance(1000).unwrap_err().to_string();
    assert!(error.contains("t = 0.101 s") || error.contains("t = 0.1 s"), "{error}");
    assert!(
        error.contains("\"l\" between m and left") || error.contains("\"r\" between m and right"),
        "{error}"
    );
    assert!(error.contains("no force can keep"), "{error}");
    // The last good state is kept: the mass where the walls met it.
    assert!(scene.position(Body::nth(0))[0].abs() < 1e-9);
}

/// Static friction above kinetic: 4.9 N are held by μ_s = 0.5, 5 N are not, and μ_k = 0.3 acts at once.
#[test]
fn breaking_away_takes_the_kinetic_coefficient() {
    for (pull, speed) in [(4.9, 0.0), (5.0, 2.057e-3)] {
        // At the height of the ground, so that the box does not lean forward.
        let text = head(1e-3, 1e-3, DOWN)
            + &format!(
                "[bodies.b]\nkind = \"rigid-body\"\nshape = {{ box = [0.2, 0.2, 0.1] }}\nmass = 1\nposition = [0, 0, 0.05]\nforce = [{pull}, 0, 0]\ntorque = [0, {}, 0]\n",
                -0.05 * pull
            )
            + ON_GROUND
            + "friction = { law = \"implicit\", mu = 0.3, mu_static = 0.5 }\n";
        let run = once(&text);
        close("speed", final_value(&run, "b.velocity.x"), speed, 1e-14);
    }
}

/// A turned box at 99 % of the slope for an hour: not a bit of drift.
#[test]
#[ignore = "a minute"]
fn an_hour_at_99_percent_moves_nothing() {
    let (sin, cos) = (0.495f64.atan().sin(), 0.495f64.atan().cos());
    let text = head(1e-3, 3600.0, [9.81 * sin, 0.0, -9.81 * cos])
        + "[bodies.b]\nkind = \"rigid-body\"\nshape = { box = [0.2, 0.2, 0.1] }\nmass = 1\nposition = [0, 0, 0.05]\nrotation = [0.9887710779360422, 0, 0, 0.14943813247359922]\n"
        + ON_GROUND
        + "friction = { law = \"implicit\", mu = 0.5 }\n";
    let mut scene = written(&text, &[]);
    let start = scene.position(Body::nth(0)).to_vec();
    scene.advance(3_600_000).unwrap();
    assert_eq!(scene.position(Body::nth(0)), &start[..]);
}
