//! Random impacts of bodies that spin, of two free bodies, of several at once, and of balls that bounce: energy never grows, the outcome does not depend
//! on where in the step the gap closes, nor on the order of the bodies in the file, and the heat is what is lost.
//!
//! Each family has a part that runs always and a whole that is ignored: `cargo test --release -p stickslip --test blows -- --ignored`.
#![allow(missing_docs)]

mod common;

use common::{Chance, finish, written};
use nalgebra::{UnitQuaternion, Vector3};
use std::fmt::Write as _;
use stickslip::{Body, Simulation};

const METHODS: [&str; 2] = ["implicit-euler", "implicit-midpoint"];

/// A coefficient of restitution: 0, 1, or anything between.
fn restitution(chance: &mut Chance) -> f64 {
    match (chance.next() * 5.0) as usize {
        0 => 0.0,
        1 => 1.0,
        _ => chance.next(),
    }
}

fn quaternion(rotation: &UnitQuaternion<f64>) -> [f64; 4] {
    [rotation.w, rotation.i, rotation.j, rotation.k]
}

fn energy(scene: &mut Simulation) -> f64 {
    let (mechanical, elastic) = scene.energy();
    mechanical + elastic
}

/// A shape whose inertia is not the same about all axes, and the radius of the ball around it.
fn long_shape(chance: &mut Chance) -> (String, f64) {
    let [a, b, c] = [0; 3].map(|_| chance.between(0.03, 0.2));
    match (chance.next() * 3.0) as usize {
        0 => (format!("box = [{a}, {b}, {c}]"), 0.5 * Vector3::new(a, b, c).norm()),
        1 => (format!("capsule = {{ radius = {a}, length = {b} }}"), a + 0.5 * b),
        _ => (format!("cylinder = {{ radius = {a}, length = {b} }}"), a.hypot(0.5 * b)),
    }
}

/// A spinning body that flies at a floor, or at another free body that spins.
fn spinning(chance: &mut Chance, integrator: &str, steps: u64) -> String {
    let (shape, around) = long_shape(chance);
    let gravity = if chance.next() < 0.5 { 0.0 } else { -9.81 };
    let step = [1e-3, 2e-3, 1e-4][(chance.next() * 3.0) as usize];
    let spin = chance.between(5.0, 50.0) * chance.vector(1.0).normalize();
    let rotation = quaternion(&UnitQuaternion::from_scaled_axis(chance.vector(3.0)));
    let velocity = Vector3::new(
        chance.between(-2.0, 2.0),
        chance.between(-2.0, 2.0),
        chance.between(-4.0, -0.5),
    );
    let height = around - chance.between(0.0, 0.5 * steps as f64 * step) * velocity.z;
    let mut text = format!(
        "[simulation]\nduration = {}\nstep = {step:e}\nintegrator = \"{integrator}\"\ngravity = [0, 0, {gravity}]\n\
         [contacts]\nnormal = {{ law = \"rigid\", restitution = {} }}\nfriction = {{ law = \"implicit\", mu = {} }}\n\
         [bodies.a]\nkind = \"rigid-body\"\nmass = {}\nshape = {{ {shape} }}\nposition = [0, 0, {height}]\nrotation = {rotation:?}\n\
         velocity = {:?}\nangular_velocity = {:?}\n",
        steps as f64 * step,
        restitution(chance),
        chance.between(0.0, 1.2),
        chance.between(0.2, 5.0),
        velocity.as_slice(),
        spin.as_slice(),
    );
    if chance.next() < 0.6 {
        text += "[bodies.floor]\nkind = \"fixed\"\nshape = { plane = { normal = [0, 0, 1], offset = 0 } }\n";
    } else {
        let (shape, below) = long_shape(chance);
        let _ = writeln!(
            text,
            "[bodies.b]\nkind = \"rigid-body\"\nmass = {}\nshape = {{ {shape} }}\nposition = [0.01, 0, {}]\nvelocity = [{}, {}, 0.5]\n\
             angular_velocity = {:?}",
            chance.between(0.2, 5.0),
            -below,
            velocity.x,
            velocity.y,
            chance.vector(20.0).as_slice()
        );
    }
    text
}

/// Runs on and returns by how much the energy grew in a step beyond what lifts bodies out of overlaps, which is no velocity, as part of that of the start;
/// and whether anything touched.
fn growth(text: &str, steps: u64) -> (f64, bool) {
    let mut scene = written(text, &[]);
    let start = energy(&mut scene).abs();
    let weight: f64 = match text.contains("gravity = [0, 0, 0]") {
        true => 0.0,
        false => {
            9.81 * text
                .lines()
                .filter_map(|line| line.strip_prefix("mass = "))
                .map(|m| m.parse::<f64>().unwrap())
                .sum::<f64>()
        }
    };
    let (mut last, mut grew, mut hit) = (energy(&mut scene), 0.0f64, false);
    for _ in 0..steps {
        scene
            .advance_observed(1)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let now = energy(&mut scene);
        let depth: f64 = scene.found_contacts().map(|contact| (-contact.gap).max(0.0)).sum();
        grew = grew.max((now - last - weight * depth) / start);
        last = now;
        hit |= scene.found_contacts().any(|contact| contact.force != [0.0; 3]);
    }
    (grew, hit)
}

fn spinning_bodies(seed: u64, count: usize) {
    let mut failures = Vec::new();
    for integrator in METHODS {
        let mut chance = Chance(seed);
        let (mut worst, mut hits, known) = (0.0f64, 0, failures.len());
        for case in 0..count {
            let text = spinning(&mut chance, integrator, 30);
            let (grew, hit) = growth(&text, 30);
            hits += usize::from(hit);
            worst = worst.max(grew);
            if grew > 1e-12 {
                failures.push(format!("{integrator}, {case}: {grew:e}\n{text}"));
            }
        }
        let grew = failures.len() - known;
        println!("{integrator}: {hits} of {count} hit, energy grew by {worst:e} at most, in {grew} of them");
        assert!(hits > count / 2, "{hits} hit");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn impacts_of_spinning_bodies_never_gain_energy() {
    spinning_bodies(5, 60);
}

#[test]
#[ignore = "minutes"]
fn a_thousand_impacts_of_spinning_bodies_never_gain_energy() {
    spinning_bodies(6, 1000);
}

/// Two free bodies that do not spin and touch when they are at these places.
struct Pair {
    shapes: [String; 2],
    masses: [f64; 2],
    places: [Vector3<f64>; 2],
    rotations: [[f64; 4]; 2],
    velocities: [Vector3<f64>; 2],
    law: String,
    named: bool,
    step: f64,
    /// The corners of the first body other than the one that touches, from its centre, and the face that they are above: normal and distance from the centre.
    corners: Vec<Vector3<f64>>,
    face: (Vector3<f64>, f64),
}

impl Pair {
    fn any(chance: &mut Chance) -> Self {
        let normal = chance.vector(1.0).normalize();
        let [r, s] = [0; 2].map(|_| chance.between(0.02, 0.1));
        let named = chance.next() < 0.3;
        let turn = UnitQuaternion::from_scaled_axis(chance.vector(2.0));
        let (mut corners, mut face) = (Vec::new(), (Vector3::z(), 0.0));
        let (shapes, rotations, first) = if named || chance.next() < 0.5 {
            let shapes = [format!("sphere = {r:?}"), format!("sphere = {s:?}")];
            (shapes, [[1.0, 0.0, 0.0, 0.0]; 2], (r + s) * normal)
        } else {
            // A ball, or a corner of a box, on the upper face of a box.
            let sides = Vector3::from_fn(|_, _| chance.between(0.1, 0.4));
            let on = Vector3::new(
                chance.between(-0.4, 0.4) * sides.x,
                chance.between(-0.4, 0.4) * sides.y,
                0.5 * sides.z,
            );
            let below = format!("box = {:?}", sides.as_slice());
            if chance.next() < 0.5 {
                let centre = turn * (on + r * Vector3::z());
                (
                    [format!("sphere = {r:?}"), below],
                    [[1.0, 0.0, 0.0, 0.0], quaternion(&turn)],
                    centre,
                )
            } else {
                let small = Vector3::from_fn(|_, _| chance.between(0.03, 0.1));
                let tip = UnitQuaternion::from_scaled_axis(chance.vector(2.0));
                let corner = |k: usize| Vector3::from_fn(|i, _| if k >> i & 1 == 0 { -0.5 } else { 0.5 } * small[i]);
                corners = (0..8).map(|k| tip * corner(k)).collect();
                corners.sort_by(|a, b| b.z.total_cmp(&a.z));
                let lowest = corners.pop().unwrap();
                corners.iter_mut().for_each(|corner| *corner = turn * *corner);
                face = (turn * Vector3::z(), 0.5 * sides.z);
                let shapes = [format!("box = {:?}", small.as_slice()), below];
                (
                    shapes,
                    [quaternion(&(turn * tip)), quaternion(&turn)],
                    turn * (on - lowest),
                )
            }
        };
        let shift = chance.vector(0.3);
        Pair {
            corners,
            face,
            named,
            places: [first + shift, shift],
            shapes,
            rotations,
            masses: [chance.between(0.1, 3.0), chance.between(0.1, 3.0)],
            velocities: [chance.vector(3.0), chance.vector(3.0)],
            law: format!(
                "normal = {{ law = \"rigid\", restitution = {} }}\nfriction = {{ law = \"implicit\", mu = {} }}\n",
                restitution(chance),
                chance.between(0.0, 1.0)
            ),
            step: [1e-3, 5e-3, 1e-4][(chance.next() * 3.0) as usize],
        }
    }

    /// Whether another corner touches within a step after the blow, or would with the velocity that it has then: there may be a second one.
    fn again(&self, motion: &[f64]) -> bool {
        let gaps = |time: f64| {
            let [first, second] = [0, 1].map(|k| {
                let of = |at: usize| Vector3::from_column_slice(&motion[6 * k + at..6 * k + at + 3]);
                (
                    self.places[k] + time * of(0),
                    UnitQuaternion::from_scaled_axis(time * of(3)),
                )
            });
            let (normal, height) = (second.1 * self.face.0, self.face.1);
            let gap = move |corner: &Vector3<f64>| normal.dot(&(first.0 + first.1 * corner - second.0)) - height;
            self.corners.iter().map(gap).collect::<Vec<f64>>()
        };
        let (now, soon) = (gaps(0.0), gaps(1e-3 * self.step));
        let ahead = now.iter().zip(&soon).any(|(now, soon)| now + 1e3 * (soon - now) < 0.0);
        ahead || (1..=100).any(|part| gaps(0.01 * f64::from(part) * self.step).iter().any(|gap| *gap < 0.0))
    }

    /// Velocities after a step in which the gap closes after this part of it, and positions less those that the velocities before and after make.
    fn after(&self, part: f64, integrator: &str) -> (Vec<f64>, f64) {
        let mut text = format!(
            "[simulation]\nduration = {:e}\nstep = {:e}\nintegrator = \"{integrator}\"\n",
            2.0 * self.step,
            self.step
        );
        if self.named {
            text += &format!(
                "[elements.c]\nkind = \"contact\"\nbetween = [\"b0\", \"b1\"]\n{}",
                self.law
            );
        } else {
            text += &format!("[contacts]\n{}", self.law);
        }
        for k in 0..2 {
            let place = self.places[k] - part * self.step * self.velocities[k];
            let _ = writeln!(
                text,
                "[bodies.b{k}]\nkind = \"rigid-body\"\nmass = {:?}\nshape = {{ {} }}\nposition = {:?}\nrotation = {:?}\nvelocity = {:?}",
                self.masses[k],
                self.shapes[k],
                place.as_slice(),
                self.rotations[k],
                self.velocities[k].as_slice()
            );
        }
        let mut scene = written(&text, &[]);
        scene.advance(1).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (mut motion, mut off) = (Vec::new(), 0.0f64);
        for k in 0..2 {
            let v = scene.velocity(Body::nth(k)).to_vec();
            let position = Vector3::from_column_slice(&scene.position(Body::nth(k))[..3]);
            let expected = self.places[k] + (1.0 - part) * self.step * Vector3::from_column_slice(&v[..3]);
            off = off.max((position - expected).norm());
            motion.extend(v);
        }
        (motion, off)
    }
}

fn pairs(seed: u64, count: usize) {
    let mut failures = Vec::new();
    for integrator in METHODS {
        let mut chance = Chance(seed);
        let (mut apart, mut moved, mut done, known) = (0.0f64, 0.0f64, 0, failures.len());
        while done < count {
            let pair = Pair::any(&mut chance);
            let first = pair.after(0.05, integrator).0;
            let begun: Vec<f64> = pair
                .velocities
                .iter()
                .flat_map(|v| [v.x, v.y, v.z, 0.0, 0.0, 0.0])
                .collect();
            let size = begun.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            let change = first
                .iter()
                .zip(&begun)
                .fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            // Grazing contacts depend on the last digit of the place.
            if change < 0.05 * size || pair.again(&pair.after(0.95, integrator).0) {
                continue;
            }
            done += 1;
            for place in 0..10 {
                let (motion, off) = pair.after(0.05 + 0.1 * f64::from(place), integrator);
                let size = first.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                let differs = first
                    .iter()
                    .zip(&motion)
                    .fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
                    / size;
                apart = apart.max(differs);
                let off = off / (pair.step * size);
                moved = moved.max(off);
                if differs > 1e-9 || off > 1e-9 {
                    failures.push(format!(
                        "{integrator}, {done}, place {place}: velocities {differs:e}, positions {off:e}, step {}, {:?} {}",
                        pair.step, pair.shapes, pair.law
                    ));
                }
            }
        }
        let fail = failures.len() - known;
        println!(
            "{integrator}: outcomes differ by {apart:e} at most, positions by {moved:e} of a step's way, {fail} fail"
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn blows_of_two_free_bodies_do_not_depend_on_where_in_the_step_they_happen() {
    pairs(8, 40);
}

#[test]
#[ignore = "minutes"]
fn a_thousand_blows_of_two_free_bodies_do_not_depend_on_where_in_the_step_they_happen() {
    pairs(9, 1000);
}

/// Balls that meet at once: as text, one table for each.
fn meetings(chance: &mut Chance, integrator: &str) -> (String, Vec<String>) {
    let r = 0.03;
    let law = format!(
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"{integrator}\"\n\
         [contacts]\nnormal = {{ law = \"rigid\", restitution = {} }}\nfriction = {{ law = \"implicit\", mu = {} }}\n",
        restitution(chance),
        chance.between(0.0, 0.6)
    );
    let up = Vector3::new(0.0, 3.0f64.sqrt() * r, 0.0);
    let side = Vector3::new(r, 0.0, 0.0);
    // One ball hits two that touch; a break of a triangle of three or six; three that fly at one point.
    let rows = match (chance.next() * 4.0) as usize {
        0 => 1,
        1 => 2,
        2 => 3,
        _ => 0,
    };
    let spins = chance.next() < 0.7;
    let mut balls = Vec::new();
    let mut add = |place: Vector3<f64>, velocity: Vector3<f64>, spin: Vector3<f64>, mass: f64| {
        balls.push(format!(
            "kind = \"rigid-body\"\nmass = {mass}\nshape = {{ sphere = {r} }}\nposition = {:?}\nvelocity = {:?}\nangular_velocity = {:?}\n",
            place.as_slice(),
            velocity.as_slice(),
            spin.as_slice()
        ));
    };
    let spin = |chance: &mut Chance| if spins { chance.vector(20.0) } else { Vector3::zeros() };
    let part = chance.between(0.05, 0.95);
    let speed = chance.between(0.5, 4.0);
    if rows == 0 {
        for k in 0..3 {
            let angle = f64::from(k) * core::f64::consts::TAU / 3.0;
            let out = Vector3::new(angle.cos(), angle.sin(), 0.0);
            let turns = spin(chance);
            add(
                (2.0 / 3.0f64.sqrt() * r + part * 1e-3 * speed) * out,
                -speed * out,
                turns,
                0.2,
            );
        }
    } else {
        let first = if rows == 1 { 2 } else { 1 };
        for row in first..=rows.max(2) {
            for k in 0..row {
                let place = f64::from(row - first) * up + f64::from(2 * k - row + 1) * side;
                add(place, Vector3::zeros(), Vector3::zeros(), 0.17);
            }
        }
        let below = if rows == 1 { up } else { Vector3::new(0.0, 2.0 * r, 0.0) };
        let turns = spin(chance);
        let velocity = Vector3::new(0.0, speed, 0.0);
        add(-below - part * 1e-3 * velocity, velocity, turns, 0.17);
    }
    (law, balls)
}

fn orders(seed: u64, count: usize) {
    let mut failures = Vec::new();
    for integrator in METHODS {
        let mut chance = Chance(seed);
        let (mut worst, known) = (0.0f64, failures.len());
        for case in 0..count {
            let (law, balls) = meetings(&mut chance, integrator);
            let outcome = |order: &[usize]| {
                let mut text = law.clone();
                for &k in order {
                    let _ = write!(text, "[bodies.b{k}]\n{}", balls[k]);
                }
                let mut scene = written(&text, &[]);
                scene.advance(2).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let motion = (0..balls.len()).flat_map(|k| {
                    let body = scene.body(&format!("b{k}")).unwrap();
                    [scene.position(body).to_vec(), scene.velocity(body).to_vec()].concat()
                });
                motion.collect::<Vec<f64>>()
            };
            let mut order: Vec<usize> = (0..balls.len()).collect();
            let first = outcome(&order);
            let size = first.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            for _ in 0..4 {
                for k in (1..order.len()).rev() {
                    order.swap(k, (chance.next() * (k + 1) as f64) as usize);
                }
                let other = outcome(&order);
                let differs = first
                    .iter()
                    .zip(&other)
                    .fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
                    / size;
                worst = worst.max(differs);
                if differs > 1e-12 {
                    failures.push(format!(
                        "{integrator}, {case}, {order:?}: {differs:e}\n{law}{}",
                        balls.join("\n")
                    ));
                }
            }
        }
        let fail = failures.len() - known;
        println!("{integrator}: other orders differ by {worst:e} at most, {fail} fail");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn impacts_of_several_bodies_do_not_depend_on_their_order() {
    orders(10, 40);
}

#[test]
#[ignore = "minutes"]
fn a_thousand_impacts_of_several_bodies_do_not_depend_on_their_order() {
    orders(11, 1000);
}

/// A body that bounces on a floor.
fn bouncing(shape: &str, integrator: &str, step: f64, restitution: f64) -> String {
    let body = match shape {
        "mass" => "kind = \"mass\"\nposition = [0, 0, 1]".to_string(),
        shape => format!("kind = \"rigid-body\"\nshape = {{ {shape} }}\nposition = [0, 0, 1]"),
    };
    format!(
        "[simulation]\nduration = 1000\nstep = {step:e}\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n\
         [bodies.p]\n{body}\nmass = 1\n\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"p\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1], offset = 0 }} }}\n\
         normal = {{ law = \"rigid\", restitution = {restitution} }}\n"
    )
}

/// Energy never grows. With restitution 1 the middle rule loses at most ½·m·g²·T² in a bounce.
fn bounces(count: usize, steps: &[f64]) {
    let g = 9.81;
    let mut failures = Vec::new();
    for shape in ["mass", "sphere = 0.1", "box = [0.2, 0.2, 0.2]"] {
        for integrator in METHODS {
            for &step in steps {
                for restitution in [1.0, 0.9, 0.5] {
                    let mut scene = written(&bouncing(shape, integrator, step, restitution), &[]);
                    let start = energy(&mut scene);
                    let (mut last, mut speed, mut bounced, mut grew) = (start, 0.0, 0, 0.0f64);
                    let wanted = if restitution == 1.0 { count } else { 5 };
                    for _ in 0..(2.0 * count as f64 / step) as usize {
                        scene.advance_observed(1).unwrap();
                        let now = energy(&mut scene);
                        grew = grew.max((now - last) / start);
                        let v = scene.velocity(Body::nth(0))[2];
                        if speed < 0.0 && v > 0.0 {
                            bounced += 1;
                            if bounced >= wanted {
                                break;
                            }
                        }
                        (last, speed) = (now, v);
                    }
                    let end = energy(&mut scene);
                    let what = format!(
                        "{shape}, {integrator}, step {step}, restitution {restitution}: grew by {grew:e}, {start} J to {end} J after {bounced}"
                    );
                    println!("{what}");
                    let most = 0.5 * g * g * step * step * bounced as f64 + 1e-10 * start;
                    let keeps = restitution < 1.0 || integrator == "implicit-euler" || start - end <= most;
                    if grew > 1e-12 || !keeps {
                        failures.push(what);
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_bouncing_body_never_gains_energy() {
    bounces(20, &[1e-3, 7e-3]);
}

#[test]
#[ignore = "minutes"]
fn a_body_that_bounces_a_thousand_times_never_gains_energy() {
    bounces(1000, &[1e-3, 3e-3, 1e-2]);
}

/// Heat is never negative, and what the ledger does not explain by the method's own part is rounding.
fn ledgers(seed: u64, count: usize) {
    let mut failures = Vec::new();
    for integrator in METHODS {
        let mut chance = Chance(seed);
        let (mut worst, mut coldest, known) = (0.0f64, 0.0f64, failures.len());
        for case in 0..count {
            let text = spinning(&mut chance, integrator, 30);
            let run = finish(written(&text, &[]), 1);
            let moved = run.moved().max(run.report.energy.as_ref().unwrap().initial.abs());
            let energy = run.report.energy.expect("a ledger");
            let left = (energy.residual - energy.numerical.unwrap_or(0.0)).abs() / moved;
            let heat = run
                .report
                .elements
                .values()
                .map(|element| element["dissipated"].as_f64().unwrap());
            let heat = heat.fold(0.0f64, f64::min) / moved;
            (worst, coldest) = (worst.max(left), coldest.min(heat));
            if left > 1e-10 || heat < -1e-12 {
                failures.push(format!("{integrator}, {case}: {left:e} is left, heat {heat:e}\n{text}"));
            }
        }
        let fail = failures.len() - known;
        println!("{integrator}: {worst:e} is left, the least heat is {coldest:e}, {fail} fail");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_ledger_of_impacts_closes_and_heat_is_never_negative() {
    ledgers(12, 40);
}

#[test]
#[ignore = "minutes"]
fn the_ledgers_of_a_thousand_impacts_close() {
    ledgers(13, 1000);
}
