//! Stacks and piles that rest for a minute, mirror images, bodies in another order, and the laws of contact checked from outside: on the numbers
//! of a trace, with geometry and mechanics of the test's own.
//!
//! Each has a part that runs always and a whole that is ignored: `cargo test --release -p stickslip --test piles -- --ignored`.
#![allow(missing_docs)]

mod common;

use common::{Chance, Run, finish, written};
use nalgebra::Vector3;
use stickslip::{Body, Simulation};

const GRAVITY: f64 = 9.81;

fn head(step: f64, duration: f64, gravity: Vector3<f64>, integrator: &str) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{integrator}\"\ngravity = {:?}\n",
        gravity.as_slice()
    )
}

fn law(mu: f64) -> String {
    format!("normal = {{ law = \"rigid\" }}\nfriction = {{ law = \"implicit\", mu = {mu} }}\n")
}

fn floor(body: usize, name: &str, normal: [f64; 3], offset: f64, mu: f64) -> String {
    format!(
        "[elements.{name}{body}]\nkind = \"contact\"\nbetween = [\"b{body}\", \"ground\"]\nsurface = {{ plane = {{ normal = {normal:?}, offset = {offset:?} }} }}\n{}",
        law(mu)
    )
}

fn sphere(body: usize, radius: f64, mass: f64, position: Vector3<f64>) -> String {
    format!(
        "[bodies.b{body}]\nkind = \"rigid-body\"\nshape = {{ sphere = {radius:?} }}\nmass = {mass:?}\nposition = {:?}\n",
        position.as_slice()
    )
}

fn pair(one: usize, other: usize, mu: f64) -> String {
    format!(
        "[elements.p{one}x{other}]\nkind = \"contact\"\nbetween = [\"b{one}\", \"b{other}\"]\n{}",
        law(mu)
    )
}

/// Boxes on each other, each not wider than the one below, on ground that is tilted by less than friction and width hold.
fn stack(chance: &mut Chance, step: f64, integrator: &str) -> (usize, String) {
    let count = 1 + (chance.next() * 7.0) as usize;
    let mu = chance.between(0.2, 1.0);
    let mut sides = Vector3::new(chance.between(0.1, 0.5), chance.between(0.1, 0.5), 0.0);
    let (mut height, mut bodies, mut elements) = (0.0, String::new(), String::new());
    let (mut centre, narrowest) = (Vector3::zeros(), |sides: &Vector3<f64>| sides.x.min(sides.y));
    let mut least = f64::INFINITY;
    for k in 0..count {
        sides.z = chance.between(0.02, 0.2);
        let mass = 10f64.powf(chance.between(-1.0, 2.0));
        bodies += &format!(
            "[bodies.b{k}]\nkind = \"rigid-body\"\nshape = {{ box = {:?} }}\nmass = {mass:?}\nposition = {:?}\n",
            sides.as_slice(),
            [centre.x, centre.y, height + 0.5 * sides.z]
        );
        height += sides.z;
        least = least.min(0.5 * narrowest(&sides) / height);
        elements += &match k {
            0 => floor(0, "floor", [0.0, 0.0, 1.0], 0.0, mu),
            _ => format!(
                "[elements.on{k}]\nkind = \"contact\"\nbetween = [\"b{k}\", \"b{}\"]\nsurface = {{ plane = {{ normal = [0, 0, 1], offset = {:?} }} }}\n{}",
                k - 1,
                below(&bodies, k - 1),
                law(mu)
            ),
        };
        // The next one stays over this one.
        let part = chance.between(0.6, 1.0);
        let room = 0.5 * (1.0 - part) * sides;
        centre += Vector3::new(chance.between(-room.x, room.x), chance.between(-room.y, room.y), 0.0);
        sides *= part;
    }
    let tilt = chance.between(0.0, 0.9) * mu.min(0.4 * least);
    let towards = chance.between(0.0, std::f64::consts::TAU);
    let gravity = GRAVITY * Vector3::new(tilt * towards.cos(), tilt * towards.sin(), -1.0);
    (count, head(step, 60.0, gravity, integrator) + &bodies + &elements)
}

/// Half the height of a box among the bodies written so far.
fn below(bodies: &str, number: usize) -> f64 {
    let own = bodies.split(&format!("[bodies.b{number}]")).nth(1).unwrap();
    let sides = own.split("box = [").nth(1).unwrap().split(']').next().unwrap();
    0.5 * sides.split(',').nth(2).unwrap().trim().parse::<f64>().unwrap()
}

/// Three balls on the ground and one on them. Friction at the tan of half the angle of the upper contacts to the vertical holds them, 0.318.
fn tetrahedron(chance: &mut Chance, step: f64, integrator: &str) -> (usize, String) {
    let (r, mu) = (chance.between(0.02, 0.5), chance.between(0.33, 1.0));
    let mass = chance.between(0.1, 10.0);
    let mut text = head(step, 60.0, Vector3::new(0.0, 0.0, -GRAVITY), integrator);
    let turn = chance.between(0.0, 2.0);
    let distance = 2.0 * r / 3f64.sqrt();
    for k in 0..3 {
        let angle = turn + f64::from(k as u8) * std::f64::consts::TAU / 3.0;
        text += &sphere(
            k,
            r,
            mass,
            Vector3::new(distance * angle.cos(), distance * angle.sin(), r),
        );
    }
    text += &sphere(
        3,
        r,
        chance.between(0.1, 10.0),
        Vector3::new(0.0, 0.0, r + r * (8.0f64 / 3.0).sqrt()),
    );
    for k in 0..3 {
        text += &floor(k, "floor", [0.0, 0.0, 1.0], 0.0, mu);
        text += &pair(k, (k + 1) % 3, mu);
        text += &pair(3, k, mu);
    }
    (4, text)
}

/// Rows of balls between walls that they touch, one row in the pockets of the other.
fn crate_of_balls(chance: &mut Chance, step: f64, integrator: &str) -> (usize, String) {
    let (r, mu) = (chance.between(0.02, 0.3), chance.between(0.0, 1.0));
    let lower = 2 + (chance.next() * 4.0) as usize;
    let mut text = head(step, 60.0, Vector3::new(0.0, 0.0, -GRAVITY), integrator);
    let count = 2 * lower - 1;
    let mut contacts = String::new();
    for k in 0..count {
        let upper = k >= lower;
        let x = if upper {
            (2 * (k - lower) + 2) as f64 * r
        } else {
            (2 * k + 1) as f64 * r
        };
        let z = if upper { r + 3f64.sqrt() * r } else { r };
        text += &sphere(k, r, chance.between(0.2, 3.0), Vector3::new(x, 0.0, z));
        contacts += &floor(k, "front", [0.0, 1.0, 0.0], -r, mu);
        contacts += &floor(k, "back", [0.0, -1.0, 0.0], -r, mu);
        if upper {
            contacts += &pair(k, k - lower, mu);
            contacts += &pair(k, k - lower + 1, mu);
        } else {
            contacts += &floor(k, "floor", [0.0, 0.0, 1.0], 0.0, mu);
        }
        if k + 1 < lower || upper && k + 1 < count {
            contacts += &pair(k, k + 1, mu);
        }
    }
    contacts += &floor(0, "left", [1.0, 0.0, 0.0], 0.0, mu);
    contacts += &floor(lower - 1, "right", [-1.0, 0.0, 0.0], -2.0 * r * lower as f64, mu);
    (count, text + &contacts)
}

/// Balls in a groove of two planes.
fn groove(chance: &mut Chance, step: f64, integrator: &str) -> (usize, String) {
    let (r, mu, angle) = (
        chance.between(0.02, 0.3),
        chance.between(0.0, 1.0),
        chance.between(0.2, 1.2),
    );
    let count = 1 + (chance.next() * 4.0) as usize;
    let mut text = head(step, 60.0, Vector3::new(0.0, 0.0, -GRAVITY), integrator);
    let mut contacts = String::new();
    for k in 0..count {
        text += &sphere(
            k,
            r,
            chance.between(0.2, 30.0),
            Vector3::new(0.0, 2.0 * r * k as f64, r / angle.cos()),
        );
        contacts += &floor(k, "left", [angle.sin(), 0.0, angle.cos()], 0.0, mu);
        contacts += &floor(k, "right", [-angle.sin(), 0.0, angle.cos()], 0.0, mu);
        if k > 0 {
            contacts += &pair(k, k - 1, mu);
        }
    }
    (count, text + &contacts)
}

/// The largest displacement of a body after a minute.
fn displaced(bodies: usize, text: &str, step: f64) -> Result<f64, String> {
    let mut scene = written(text, &[]);
    let start: Vec<Vec<f64>> = (0..bodies).map(|k| scene.position(Body::nth(k)).to_vec()).collect();
    scene.advance((60.0 / step) as u64).map_err(|error| error.to_string())?;
    let apart = (0..bodies).flat_map(|k| {
        let now = scene.position(Body::nth(k)).to_vec();
        (0..7).map(|i| (now[i] - start[k][i]).abs()).collect::<Vec<f64>>()
    });
    Ok(apart.fold(0.0, f64::max))
}

fn piles(seed: u64, count: usize, steps: &[f64]) {
    let mut chance = Chance(seed);
    let (mut failures, mut worst) = (Vec::new(), 0.0f64);
    for case in 0..count {
        let step = steps[(chance.next() * steps.len() as f64) as usize];
        let integrator = if chance.next() < 0.8 {
            "implicit-euler"
        } else {
            "implicit-midpoint"
        };
        let (bodies, text) = match case % 5 {
            0 | 1 => stack(&mut chance, step, integrator),
            2 => tetrahedron(&mut chance, step, integrator),
            3 => crate_of_balls(&mut chance, step, integrator),
            _ => groove(&mut chance, step, integrator),
        };
        match displaced(bodies, &text, step) {
            Ok(moved) if moved <= 1e-10 => worst = worst.max(moved),
            other => failures.push(format!(
                "{case} ({bodies} bodies, step {step}, {integrator}): {other:?}"
            )),
        }
    }
    println!("{count} piles moved by {worst:e} m at most");
    assert!(
        failures.is_empty(),
        "{} of them:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn stacks_and_piles_rest_for_a_minute() {
    piles(21, 5, &[2e-2]);
}

#[test]
#[ignore = "minutes"]
fn five_hundred_stacks_and_piles_rest_for_a_minute() {
    piles(4, 500, &[1e-3, 2e-3, 5e-3, 1e-2]);
}

/// Balls thrown onto the ground and at each other, with their numbers.
struct Balls {
    radius: Vec<f64>,
    mass: Vec<f64>,
    start: Vec<(Vector3<f64>, Vector3<f64>)>,
    mu: f64,
    step: f64,
    /// The order in which bodies and contacts are written.
    order: Vec<usize>,
}

impl Balls {
    fn any(chance: &mut Chance, count: usize) -> Self {
        let radius: Vec<f64> = (0..count).map(|_| chance.between(0.05, 0.15)).collect();
        Balls {
            mass: (0..count).map(|_| 10f64.powf(chance.between(-1.0, 1.0))).collect(),
            start: (0..count)
                .map(|k| {
                    // On a coarse grid, so that none overlap at the start.
                    let place = Vector3::new(
                        0.31 * (k % 3) as f64,
                        0.31 * (k / 3 % 3) as f64,
                        radius[k] + 0.31 * (k / 9) as f64,
                    );
                    (
                        place + Vector3::new(chance.between(0.0, 0.01), chance.between(0.0, 0.01), 0.0),
                        chance.vector(2.0),
                    )
                })
                .collect(),
            radius,
            mu: chance.between(0.1, 0.9),
            step: 1e-3,
            order: (0..count).collect(),
        }
    }

    fn text(&self, duration: f64) -> String {
        let mut text = head(self.step, duration, Vector3::new(0.0, 0.0, -GRAVITY), "implicit-euler");
        for &k in &self.order {
            let (place, velocity) = &self.start[k];
            text += &sphere(k, self.radius[k], self.mass[k], *place);
            text += &format!("velocity = {:?}\n", velocity.as_slice());
        }
        for (i, &k) in self.order.iter().enumerate() {
            text += &floor(k, "floor", [0.0, 0.0, 1.0], 0.0, self.mu);
            for &l in &self.order[..i] {
                text += &pair(k.max(l), k.min(l), self.mu);
            }
        }
        text
    }

    /// What a contact did in the step that ends in a row, by the trace and the test's own geometry: normal, gap at the start, both velocities of
    /// approach, slip at the end, normal force, friction.
    /// Bodies are where they have moved by these vectors since the start of the step.
    fn contact(&self, run: &Trace, row: usize, k: usize, other: Option<usize>, moved: &[Vector3<f64>]) -> Touch {
        let place = |body: usize| run.vector(row - 1, body, "position") + moved[body];
        let name = other.map_or(format!("floor{k}"), |l| format!("p{k}x{l}"));
        let (normal, gap) = match other {
            None => (Vector3::z(), place(k).z - self.radius[k]),
            Some(l) => {
                let between = place(k) - place(l);
                (between.normalize(), between.norm() - self.radius[k] - self.radius[l])
            }
        };
        let point = place(k) - self.radius[k] * normal;
        let speed = |at: usize| {
            let of = |body: usize| run.vector(at, body, "velocity") + run.spin(at, body).cross(&(point - place(body)));
            of(k) - other.map_or(Vector3::zeros(), of)
        };
        let (start, end) = (speed(row - 1), speed(row));
        let force = Vector3::new(
            run.number(row, &format!("{name}.force.x")),
            run.number(row, &format!("{name}.force.y")),
            run.number(row, &format!("{name}.force.z")),
        );
        let push = force.dot(&normal);
        Touch {
            gap,
            point,
            force,
            push,
            friction: force - push * normal,
            approach: [start.dot(&normal), end.dot(&normal)],
            slip: end - end.dot(&normal) * normal,
        }
    }
}

impl Balls {
    /// The part of the step before the first impact of each ball and of what it touches, or is about to; more than 1 where there is none.
    fn meetings(&self, run: &Trace, row: usize) -> Vec<f64> {
        let count = self.mass.len();
        let pairs = || {
            (0..count).flat_map(|k| {
                std::iter::once(None)
                    .chain((0..k).map(Some))
                    .map(move |other| (k, other))
            })
        };
        let still = vec![Vector3::zeros(); count];
        let mut group: Vec<usize> = (0..count).collect();
        let mut part = vec![f64::INFINITY; count];
        let mut closing = Vec::new();
        for (k, other) in pairs() {
            let touch = self.contact(run, row, k, other, &still);
            let closes = touch.approach[0] * self.step < -touch.gap.max(0.0) - 1e-15;
            if let Some(l) = other.filter(|_| closes || touch.gap <= 1e-15) {
                let (from, to) = (group[k], group[l]);
                group
                    .iter_mut()
                    .filter(|group| **group == from)
                    .for_each(|group| *group = to);
            }
            if closes {
                closing.push((k, other));
            }
        }
        for (k, other) in closing {
            // Newton's method on the gap.
            let mut time = 0.0;
            for _ in 0..50 {
                let moved: Vec<_> = (0..count)
                    .map(|body| time * run.vector(row - 1, body, "velocity"))
                    .collect();
                let touch = self.contact(run, row, k, other, &moved);
                time = if touch.approach[0] < 0.0 {
                    time - touch.gap / touch.approach[0]
                } else {
                    f64::INFINITY
                };
                if time > self.step {
                    break;
                }
            }
            part[group[k]] = part[group[k]].min(time.max(0.0) / self.step);
        }
        (0..count).map(|k| part[group[k]]).collect()
    }
}

struct Touch {
    gap: f64,
    point: Vector3<f64>,
    force: Vector3<f64>,
    push: f64,
    friction: Vector3<f64>,
    approach: [f64; 2],
    slip: Vector3<f64>,
}

/// Columns of a run by name.
struct Trace {
    columns: std::collections::BTreeMap<String, Vec<f64>>,
    rows: usize,
}

impl Trace {
    fn of(run: &Run) -> Self {
        let columns: std::collections::BTreeMap<_, _> = run
            .names()
            .iter()
            .map(|name| (name.clone(), run.column(name)))
            .collect();
        Trace {
            rows: columns["t"].len(),
            columns,
        }
    }

    fn number(&self, row: usize, name: &str) -> f64 {
        self.columns[name][row]
    }

    fn vector(&self, row: usize, body: usize, what: &str) -> Vector3<f64> {
        Vector3::from_fn(|i, _| self.number(row, &format!("b{body}.{what}.{}", ["x", "y", "z"][i])))
    }

    fn spin(&self, row: usize, body: usize) -> Vector3<f64> {
        Vector3::from_fn(|i, _| self.number(row, &format!("b{body}.w{}", ["x", "y", "z"][i])))
    }
}

/// Signorini's law, the cone, the direction of friction and the balance of momentum at every step.
fn laws(balls: &Balls, duration: f64) -> f64 {
    let trace = Trace::of(&finish(written(&balls.text(duration), &[]), 1));
    let count = balls.mass.len();
    let step = balls.step;
    let mut worst = 0.0f64;
    for row in 1..trace.rows {
        let mut total = vec![(Vector3::<f64>::zeros(), Vector3::<f64>::zeros()); count];
        let mut touches = Vec::new();
        let parts = balls.meetings(&trace, row);
        let before = |k: usize| Some(parts[k]).filter(|part| *part <= 1.0).unwrap_or(0.0);
        let moved: Vec<_> = (0..count)
            .map(|k| before(k) * step * trace.vector(row - 1, k, "velocity"))
            .collect();
        let still = vec![Vector3::zeros(); count];
        for (k, &part) in parts.iter().enumerate() {
            for other in std::iter::once(None).chain((0..k).map(Some)) {
                let touch = balls.contact(&trace, row, k, other, &moved);
                for (body, sign) in [(Some(k), 1.0), (other, -1.0)] {
                    if let Some(body) = body {
                        let arm = touch.point - trace.vector(row - 1, body, "position") - moved[body];
                        total[body].0 += sign * touch.force;
                        total[body].1 += sign * arm.cross(&touch.force);
                    }
                }
                let begun = balls.contact(&trace, row, k, other, &still);
                // What closes within the step does not approach after it, nor what would close after the impact of others and does; nothing else enters.
                let rest = (1.0 - part) * step;
                let least = match begun.approach[0] * step < -begun.gap.max(0.0) {
                    true if part > 1.0 || touch.gap + touch.approach[0] * rest >= 1e-15 => {
                        touch.approach[0].min(-begun.gap.max(0.0) / step)
                    }
                    true if touch.push > 0.0 || touch.gap < 1e-12 => 0.0,
                    true => -touch.gap / rest,
                    false => -begun.gap.max(0.0) / step,
                };
                touches.push((touch, balls.mass[k], least));
            }
        }
        let strongest = touches.iter().map(|(touch, ..)| touch.force.norm()).fold(0.0, f64::max);
        let scale = strongest.max(balls.mass.iter().fold(0.0f64, |most, m| most.max(*m)) * GRAVITY);
        let mut must = |what: &str, defect: f64| {
            worst = worst.max(defect / scale);
            assert!(
                defect <= 1e-12 * scale,
                "{what} in row {row}: {defect:e} N of {scale:e} N"
            );
        };
        for (touch, mass, least) in &touches {
            // As a force: what would give the mass this velocity within the step.
            let weight = mass / step;
            must("pulls", -touch.push);
            must("beyond the cone", touch.friction.norm() - balls.mu * touch.push);
            if touch.push > 0.0 {
                // Rounding of positions and velocities of the trace.
                let rounding = 1e-15 / step + 1e-15 * touch.approach[0].abs();
                must(
                    "closed and apart",
                    (((touch.approach[1] - least).abs() - rounding) * weight).max(0.0),
                );
                let speed = touch.slip.norm();
                if speed * weight > 1e-9 * scale {
                    let wanted = -balls.mu * touch.push * touch.slip / speed;
                    // A slow slip has a direction known to its rounding only.
                    let known = 1.0 + 1e-3 * scale / (speed * weight);
                    must(
                        "friction not against the slip",
                        (touch.friction - wanted).norm() / known,
                    );
                }
            } else {
                must(
                    "enters",
                    ((least - touch.approach[1]) * weight - 1e-15 / step * weight).max(0.0),
                );
            }
        }
        for (k, (force, torque)) in total.iter().enumerate() {
            let change = trace.vector(row, k, "velocity") - trace.vector(row - 1, k, "velocity");
            let weight = Vector3::new(0.0, 0.0, -GRAVITY * balls.mass[k]);
            must("momentum", (balls.mass[k] / step * change - force - weight).norm());
            let turned = trace.spin(row, k) - trace.spin(row - 1, k);
            let inertia = 0.4 * balls.mass[k] * balls.radius[k] * balls.radius[k];
            must(
                "angular momentum",
                (inertia / step * turned - torque).norm() / balls.radius[k],
            );
        }
    }
    worst
}

#[test]
fn the_laws_of_contact_hold_at_every_step() {
    let mut chance = Chance(8);
    let mut worst = 0.0f64;
    for count in [1, 2, 5, 9] {
        worst = worst.max(laws(&Balls::any(&mut chance, count), 0.3));
    }
    println!("defects up to {worst:e} of the largest force");
}

#[test]
#[ignore = "minutes"]
fn the_laws_of_contact_hold_at_every_step_of_many_balls() {
    let mut chance = Chance(80);
    let mut worst = 0.0f64;
    for count in [3, 5, 9, 12, 14, 14, 14] {
        worst = worst.max(laws(&Balls::any(&mut chance, count), 1.0));
    }
    println!("defects up to {worst:e} of the largest force");
}

fn last(text: &str, bodies: usize, steps: u64) -> Vec<Vec<f64>> {
    let mut scene: Simulation = written(text, &[]);
    scene.advance(steps).unwrap();
    (0..bodies)
        .map(|k| [scene.position(Body::nth(k)), scene.velocity(Body::nth(k))].concat())
        .collect()
}

/// Bodies and contacts written in another order move as before.
#[test]
fn the_order_of_bodies_changes_nothing() {
    let mut chance = Chance(15);
    for count in [2, 4, 7] {
        let mut balls = Balls::any(&mut chance, count);
        let first = last(&balls.text(1.0), count, 120);
        balls.order.rotate_left(1);
        balls.order.swap(0, count - 1);
        let second = last(&balls.text(1.0), count, 120);
        for (place, &k) in balls.order.iter().enumerate() {
            for (a, b) in first[k].iter().zip(&second[place]) {
                assert!(
                    (a - b).abs() <= 1e-12 * a.abs().max(1.0),
                    "ball {k} of {count}: {a} {b}"
                );
            }
        }
    }
}

/// The mirror image of a scene moves as its mirror image.
#[test]
fn mirror_images_move_as_mirror_images() {
    let mut chance = Chance(16);
    for count in [1, 3, 6] {
        let mut balls = Balls::any(&mut chance, count);
        let first = last(&balls.text(1.0), count, 120);
        for (place, velocity) in &mut balls.start {
            place.x = -place.x;
            velocity.x = -velocity.x;
        }
        let second = last(&balls.text(1.0), count, 120);
        for k in 0..count {
            // Position, rotation (w, x, y, z), velocity, spin.
            let signs = [-1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0];
            for (i, sign) in signs.into_iter().enumerate() {
                let (a, b) = (first[k][i], sign * second[k][i]);
                assert!(
                    (a - b).abs() <= 1e-12 * a.abs().max(1.0),
                    "ball {k} of {count}, number {i}: {a} {b}"
                );
            }
        }
    }
}
