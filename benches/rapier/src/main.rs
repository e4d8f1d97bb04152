//! Work 6 in Rapier 0.36 (f32, its default solver settings): spheres of 0.2 m and 0.3 kg sliding on a plane at 2 m/s with
//! friction 0.1, one metre apart, steps of 1 ms. Argument: turns. Printed: name, least nanoseconds per sphere and step
//! over the turns, largest error of the velocity against v − μ·g·t.

use rapier3d::prelude::*;

const SPHERES: usize = 10_000;
const STEP: f32 = 1e-3;
/// Steps before the clock starts, so that contacts are known, and steps that are timed in a turn.
const SETTLE: usize = 20;
const TIMED: usize = 10;

fn cpu_nanoseconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn main() {
    let turns = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.8);
    world.integration_parameters.dt = STEP;
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Z));
    world.insert_collider(floor.friction(0.1).restitution(0.0), None);
    let side = (SPHERES as f64).sqrt().ceil() as usize;
    let density = 0.3 / (4.0 / 3.0 * std::f32::consts::PI * 0.008);
    let mut handles = Vec::new();
    for i in 0..SPHERES {
        let place = Vector::new((i % side) as f32, (i / side) as f32, 0.2);
        let body = RigidBodyBuilder::dynamic().translation(place).linvel(Vector::new(2.0, 0.0, 0.0));
        let shape = ColliderBuilder::ball(0.2).density(density).friction(0.1).restitution(0.0);
        handles.push(world.insert(body.can_sleep(false), shape).0);
    }
    for _ in 0..SETTLE {
        world.step();
    }
    let mut least = f64::INFINITY;
    for _ in 0..turns {
        let start = cpu_nanoseconds();
        for _ in 0..TIMED {
            world.step();
        }
        least = least.min((cpu_nanoseconds() - start) / (SPHERES * TIMED) as f64);
    }
    let time = f64::from(STEP) * (SETTLE + turns * TIMED) as f64;
    let expected = 2.0 - 0.1 * 9.8 * time;
    let error = |handle: &RigidBodyHandle| (f64::from(world.bodies[*handle].linvel().x) - expected).abs();
    let worst = handles.iter().map(error).fold(0.0, f64::max);
    println!("w6 {least:.3} {worst:e}");
}
