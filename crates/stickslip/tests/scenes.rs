//! Scenes of several bodies and contacts at once: what can be held is held, impacts never gain energy and do not depend on where in the step
//! they happen, overlaps part gently, turning surfaces carry what sticks to them.
//!
//! Expected values are closed forms, energies, symmetry, or the reference named beside them.
#![allow(missing_docs)]

mod common;

use common::{finish, written};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stickslip::{Body, Simulation};

/// Numbers that look random and are the same in every run (Steele, Lea and Flood's SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-size, size))
    }
}

/// Two fingers on slides along x that squeeze a box of the given mass with a force, at a coefficient of friction.
fn grasp(mass: f64, squeeze: f64, mu: f64, side: f64, step: f64, gravity: [f64; 3]) -> Simulation {
    let half = 0.5 * side;
    let text = format!(
        "[simulation]\nduration = 2\nstep = {step}\nintegrator = \"implicit-euler\"\ngravity = {gravity:?}\n\
         [bodies.hand]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"left\", parent = \"ground\", joint = \"lf\", type = \"prismatic\", axis = [1, 0, 0], origin = [-{half}, 0, 0], mass = 0.2 }},\n\
         {{ name = \"right\", parent = \"ground\", joint = \"rf\", type = \"prismatic\", axis = [1, 0, 0], origin = [{half}, 0, 0], mass = 0.15 }},\n]\n\
         [elements.squeeze]\nkind = \"actuator\"\nbetween = [\"hand.lf\", \"hand.rf\"]\nvalue = {squeeze}\n\
         [elements.centre]\nkind = \"spring\"\nbetween = [\"hand.lf\", \"hand.rf\"]\nratio = [1, -1]\nstiffness = 2e4\ndamping = 80\n\
         [bodies.box]\nkind = \"rigid-body\"\nshape = {{ box = [{side}, {side}, {side}] }}\nmass = {mass}\n\
         [elements.cl]\nkind = \"contact\"\nbetween = [\"box\", \"hand.left\"]\nsurface = {{ plane = {{ normal = [1, 0, 0] }} }}\n\
         normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = {mu} }}\n\
         [elements.cr]\nkind = \"contact\"\nbetween = [\"box\", \"hand.right\"]\nsurface = {{ plane = {{ normal = [-1, 0, 0] }} }}\n\
         normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = {mu} }}\n"
    );
    written(&text, &[])
}

#[test]
fn a_grasp_holds_below_its_limit_and_slides_above_it() {
    let mut chance = Chance(11);
    for case in 0..12 {
        let (mass, mu, side) = (
            chance.between(0.3, 4.0),
            chance.between(0.2, 0.9),
            chance.between(0.04, 0.2),
        );
        let angle = chance.between(0.0, std::f64::consts::TAU);
        let g = chance.between(3.0, 20.0);
        let gravity = [0.0, g * angle.cos(), g * angle.sin()];
        for step in [5e-4, 1e-3, 2e-3, 1e-2] {
            // Both fingers hold μ·N each.
            for (share, holds) in [(0.9, true), (1.1, false)] {
                let squeeze = mass * g / (2.0 * mu * share);
                let mut scene = grasp(mass, squeeze, mu, side, step, gravity);
                scene.advance((0.2 / step) as u64).unwrap();
                let moved = Vector3::from_column_slice(&scene.position(Body::nth(1))[..3]).norm();
                if holds {
                    assert!(moved < 1e-10, "case {case}, step {step}: moved by {moved:e} m");
                } else {
                    // (m·g − 2·μ·N)/m for 0.2 s, but for the first step.
                    let expected = 0.5 * g * (1.0 - 1.0 / 1.1) * 0.04;
                    assert!(
                        moved > 0.9 * expected && moved < 1.2 * expected + 2.0 * g * step * step,
                        "case {case}, step {step}: {moved:e} for {expected:e}"
                    );
                }
            }
        }
    }
}

/// A box just before a corner touches the floor, `part` of a step away from it.
struct Landing {
    sides: Vector3<f64>,
    rotation: UnitQuaternion<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    mu: f64,
    restitution: f64,
}

impl Landing {
    fn any(chance: &mut Chance) -> Self {
        let restitution = [0.0, 0.3, 0.7, 0.9, 1.0][(chance.next() * 5.0) as usize];
        Landing {
            sides: Vector3::from_fn(|_, _| chance.between(0.1, 0.8)),
            rotation: UnitQuaternion::from_scaled_axis(chance.vector(2.0)),
            velocity: Vector3::new(
                chance.between(-3.0, 3.0),
                chance.between(-3.0, 3.0),
                chance.between(-4.0, -1.0),
            ),
            spin: chance.vector(4.0),
            mu: chance.between(0.0, 1.4),
            restitution,
        }
    }

    /// The lowest corner, from the centre.
    fn lowest(&self) -> Vector3<f64> {
        let corners = (0..8).map(|k| {
            let sign = |bit: usize| if k & bit == 0 { -0.5 } else { 0.5 };
            let local = Vector3::new(sign(1), sign(2), sign(4)).component_mul(&self.sides);
            self.rotation * local
        });
        corners.min_by(|a, b| a.z.total_cmp(&b.z)).unwrap()
    }

    /// Energy of motion, and the velocities after the impact. None if the corner does not approach.
    fn after(&self, part: f64) -> Option<(f64, f64, Vec<f64>)> {
        let step = 1e-11;
        let corner = self.lowest();
        let approach = (self.velocity + self.spin.cross(&corner)).z;
        if approach > -0.2 {
            return None;
        }
        let height = -corner.z - part * approach * step;
        let q = self.rotation.quaternion();
        let text = format!(
            "[simulation]\nduration = {:e}\nstep = {step:e}\nintegrator = \"implicit-euler\"\n\
             [bodies.b]\nkind = \"rigid-body\"\nmass = 1.3\nshape = {{ box = [{}, {}, {}] }}\nposition = [0, 0, {height:?}]\n\
             rotation = [{:?}, {:?}, {:?}, {:?}]\nvelocity = {:?}\nangular_velocity = {:?}\n\
             [elements.f]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
             normal = {{ law = \"rigid\", restitution = {} }}\nfriction = {{ law = \"implicit\", mu = {} }}\n",
            4.0 * step,
            self.sides.x,
            self.sides.y,
            self.sides.z,
            q.w,
            q.i,
            q.j,
            q.k,
            self.velocity.as_slice(),
            self.spin.as_slice(),
            self.restitution,
            self.mu
        );
        let mut scene = written(&text, &[]);
        scene.advance(4).unwrap();
        let motion = scene.velocity(Body::nth(0)).to_vec();
        Some((
            self.energy(&self.velocity, &self.spin),
            self.energy(
                &Vector3::from_column_slice(&motion[..3]),
                &Vector3::from_column_slice(&motion[3..6]),
            ),
            motion,
        ))
    }

    fn energy(&self, velocity: &Vector3<f64>, spin: &Vector3<f64>) -> f64 {
        let s = self.sides;
        let diagonal = Vector3::new(s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y) * (1.3 / 12.0);
        let local = self.rotation.inverse() * spin;
        0.5 * 1.3 * velocity.norm_squared() + 0.5 * local.dot(&(Matrix3::from_diagonal(&diagonal) * local))
    }
}

#[test]
fn an_impact_never_gains_energy_and_does_not_depend_on_where_in_the_step_it_happens() {
    let mut chance = Chance(5);
    let mut impacts = 0;
    for case in 0..150 {
        let landing = Landing::any(&mut chance);
        let Some((before, after, motion)) = landing.after(0.05) else {
            continue;
        };
        impacts += 1;
        assert!(
            after <= before * (1.0 + 1e-9),
            "case {case}: {before} J became {after} J"
        );
        for part in [0.3, 0.5, 0.95] {
            let (_, _, other) = landing.after(part).unwrap();
            for (a, b) in motion.iter().zip(&other) {
                assert!(
                    (a - b).abs() < 1e-8,
                    "case {case}, {part} of the step: {motion:?} {other:?}"
                );
            }
        }
    }
    assert!(impacts > 100, "{impacts}");
}

#[test]
fn a_landing_on_an_edge_stays_in_its_plane() {
    // Mirror images give mirror images: nothing may leave the plane y = 0.
    for (mu, e) in [(0.3, 0.0), (1.2, 0.0), (0.8, 0.6)] {
        let text = format!(
            "[simulation]\nduration = 2e-4\nstep = 1e-5\nintegrator = \"implicit-euler\"\n\
             [bodies.b]\nkind = \"rigid-body\"\nmass = 0.7\nshape = {{ box = [0.4, 0.3, 0.1] }}\nposition = [0, 0, 0.1996]\n\
             rotation = [0.86, 0, 0.5102940329, 0]\nvelocity = [3, 0, -2]\n\
             [elements.f]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
             normal = {{ law = \"rigid\", restitution = {e} }}\nfriction = {{ law = \"implicit\", mu = {mu} }}\n"
        );
        let run = finish(written(&text, &[]), 1);
        let spin = run.column("b.wy").last().copied().unwrap();
        assert!(spin.abs() > 0.1, "it does land: {spin}");
        for name in ["b.wx", "b.wz", "b.velocity.y"] {
            let most = run.column(name).iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert!(most < 1e-9 * spin.abs(), "{name} {most:e}, mu {mu}, e {e}");
        }
    }
}

#[test]
fn bodies_that_overlap_part_without_velocity() {
    for shape in ["sphere = 0.08", "box = [0.16, 0.2, 0.16]"] {
        let text = format!(
            "[simulation]\nduration = 0.2\nstep = 1e-3\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
             [bodies.b]\nkind = \"rigid-body\"\nmass = 2.5\nshape = {{ {shape} }}\nposition = [0, 0, 0.075]\n\
             [elements.f]\nkind = \"contact\"\nbetween = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
             normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.4 }}\n"
        );
        let run = finish(written(&text, &[]), 1);
        let (z, v) = (run.column("b.position.z"), run.column("b.velocity.z"));
        assert!(v.iter().all(|v| v.abs() < 1e-12), "{shape}");
        assert!(z.iter().all(|z| *z < 0.08 + 1e-12), "{shape}");
        // 5 mm at 0.1 m/s.
        assert!(
            (z[30] - 0.078).abs() < 1e-9 && (z[60] - 0.08).abs() < 1e-12,
            "{shape}: {} {}",
            z[30],
            z[60]
        );
    }
}

#[test]
fn what_sticks_to_a_turning_table_turns_with_it() {
    let (r, omega) = (0.31, 3.1);
    let text = format!(
        "[simulation]\nduration = 4\nstep = 2e-3\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n\
         [bodies.table]\nkind = \"linkage\"\nlinks = [{{ name = \"disc\", parent = \"ground\", joint = \"axle\", type = \"revolute\", \
         axis = [0, 0, 1], mass = 1, inertia = [1e9, 1e9, 1e9], velocity = {omega} }}]\n\
         [bodies.b]\nkind = \"rigid-body\"\nmass = 0.8\nshape = {{ box = [0.06, 0.04, 0.03] }}\nposition = [{r}, 0, 0.015]\n\
         velocity = [0, {}, 0]\nangular_velocity = [0, 0, {omega}]\n\
         [elements.f]\nkind = \"contact\"\nbetween = [\"b\", \"table.disc\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
         normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = 0.7 }}\n",
        r * omega
    );
    let run = finish(written(&text, &[]), 1);
    let (x, y) = (run.column("b.position.x"), run.column("b.position.y"));
    let distance = x
        .iter()
        .zip(&y)
        .map(|(x, y)| (x.hypot(*y) - r).abs())
        .fold(0.0, f64::max);
    assert!(distance < 1e-10, "creeps by {distance:e} m");
}

/// Five touching spheres of radius 0.1 m, 1 kg, μ 0.3, the first at 1 m/s, after one step of 1 ms. All move on together, without the
/// friction of the ground: (1 − 5·μ·g·T·…)/5 = 0.197057 m/s. Spins and forces were found with Siconos (a nonsmooth Gauss–Seidel method to
/// 1e-13), another program.
#[test]
fn five_spheres_in_a_row_agree_with_siconos() {
    let mut text = String::from(
        "[simulation]\nduration = 1e-3\nstep = 1e-3\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.81]\n",
    );
    let law = "normal = { law = \"rigid\" }\nfriction = { law = \"implicit\", mu = 0.3 }\n";
    for k in 0..5 {
        text += &format!(
            "[bodies.b{k}]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 1\nposition = [{}, 0, 0.1]\nvelocity = [{}, 0, 0]\n\
             [elements.g{k}]\nkind = \"contact\"\nbetween = [\"b{k}\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n{law}",
            0.2 * f64::from(k),
            if k == 0 { 1 } else { 0 }
        );
        if k > 0 {
            text += &format!(
                "[elements.c{k}]\nkind = \"contact\"\nbetween = [\"b{}\", \"b{k}\"]\n{law}",
                k - 1
            );
        }
    }
    let mut scene = written(&text, &[]);
    scene.advance(1).unwrap();
    for k in 0..5 {
        let motion = scene.velocity(Body::nth(k));
        let spin = if k % 2 == 0 { 0.0241655164 } else { -0.0241655164 };
        assert!((motion[0] - 0.197057).abs() < 1e-9, "{k}: {motion:?}");
        assert!((motion[4] - spin).abs() < 1e-9, "{k}: {motion:?}");
    }
}
