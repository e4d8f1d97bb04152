//! Many equal spheres on one plane. Each touches nothing but the plane, so the implicit step of each has a closed form
//! (`network/ball.rs` is the same for a single body of a network), and a sphere can be moved through many steps
//! before the next one is looked at.
//!
//! Whether spheres touch each other is looked after (`meeting.rs`): they may not, and the run stops if two do.

mod meeting;

use crate::body::rigid_body::advance_rotation;
use crate::network::rigid::is_impact;
use crate::snapshot::{Carried, Reader, SnapshotError, carried};
use meeting::Meeting;
use nalgebra::Vector3;
use stickslip_core::contact::rigid::resolve;

/// Most spheres.
pub const MOST_SPHERES: usize = 10_000_000;

/// Spheres below which threads cost more than they save.
const WORTHWHILE: usize = 1000;
/// Most steps between two looks at the pairs.
const LONGEST_STRETCH: u64 = 256;

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre, m.
    pub position: Vector3<f64>,
    /// m/s.
    pub velocity: Vector3<f64>,
    /// World axes, rad/s.
    pub angular_velocity: Vector3<f64>,
    /// Rotation, quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// How it touched the plane in the step that ended here.
    pub mode: BallMode,
}

/// How a sphere touches the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BallMode {
    /// It rolls without slip or rests.
    Stick,
    /// It slips.
    Slip,
    /// It does not touch.
    Open,
}

/// What all spheres share; fixed once built.
#[derive(Clone, Debug)]
pub struct Spheres {
    /// How many there are.
    pub count: usize,
    /// m.
    pub radius: f64,
    /// kg.
    pub mass: f64,
    /// Moment of inertia about any axis through the centre, kg·m².
    pub inertia: f64,
    /// Unit vector out of the plane.
    pub normal: Vector3<f64>,
    /// Distance of the plane from the origin along it, m.
    pub offset: f64,
    /// Coefficients of static and kinetic friction.
    pub friction: [f64; 2],
    /// Newton's coefficient of restitution.
    pub restitution: f64,
    /// m/s².
    pub gravity: Vector3<f64>,
    /// s.
    pub step: f64,
}

/// Sums over all spheres and steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpheresLedger {
    /// Energy turned into heat by friction and impacts, J.
    pub dissipated: f64,
    /// Σ ½·m·Δv² + ½·J·Δω² where no impact took it, J.
    pub numerical: f64,
    /// Steps of slip, counted over spheres.
    pub slips: u64,
    /// Steps of contact, counted over spheres.
    pub touches: u64,
    /// Changes of mode.
    pub changes: u64,
}

impl SpheresLedger {
    fn add(&mut self, other: &SpheresLedger) {
        self.dissipated += other.dissipated;
        self.numerical += other.numerical;
        self.slips += other.slips;
        self.touches += other.touches;
        self.changes += other.changes;
    }
}

/// What is seen of the spheres at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpheresSeen {
    /// Spheres that touch the plane.
    pub touching: f64,
    /// Those of them that slip.
    pub slipping: f64,
    /// Mean position, m.
    pub position: Vector3<f64>,
    /// Mean velocity, m/s.
    pub velocity: Vector3<f64>,
    /// Largest speed, m/s.
    pub speed: f64,
    /// Smallest and largest gap to the plane, m.
    pub gap: [f64; 2],
    /// Kinetic energy and that of gravity, J.
    pub energy: f64,
}

impl Spheres {
    /// Distance of a sphere from the plane, m.
    pub(crate) fn gap(&self, ball: &Ball) -> f64 {
        self.normal.dot(&ball.position) - self.offset - self.radius
    }

    /// One step of a sphere: free velocity, rigid plane and friction at the end of the step, position and rotation.
    #[inline(always)]
    fn advance<const OBSERVE: bool>(&self, tangents: &[Vector3<f64>; 2], ball: &mut Ball, ledger: &mut SpheresLedger) {
        let step = self.step;
        let (inverse_mass, inverse_inertia) = (1.0 / self.mass, 1.0 / self.inertia);
        let was = *ball;
        let free = ball.velocity + step * self.gravity;
        let gap = self.gap(ball);
        // A gap within the rounding of the positions is closed, so that a sphere at rest is not moved about.
        let size = (ball.position - self.radius * self.normal).norm() + ball.position.norm();
        let closing = if gap.abs() <= 8.0 * f64::EPSILON * size {
            0.0
        } else {
            -gap / step
        };
        let approach = self.normal.dot(&ball.velocity);
        let along = self.normal.dot(&free);
        // An impact as any other of the implicit step: after a part of it, under its weight through the rest.
        let strikes = is_impact(gap, size, approach, step);
        let (target, part) = if strikes {
            let part = (gap.max(0.0) / (-approach * step)).clamp(0.0, 1.0);
            let carried = (1.0 - part) * (along - approach);
            let rebound = carried - self.restitution * approach;
            (if self.restitution > 0.0 { rebound.max(0.0) } else { 0.0 }, part)
        } else {
            (closing, 0.0)
        };
        let arm = -self.radius * self.normal;
        let mode = if along < target {
            let slipping = free + ball.angular_velocity.cross(&arm);
            let slip = tangents.map(|tangent| tangent.dot(&slipping));
            let compliance = [
                step * inverse_mass,
                step * (inverse_mass + inverse_inertia * self.radius * self.radius),
            ];
            let solve = |mu: f64| resolve(along, slip, target, compliance[0], compliance[1], mu);
            // A contact that stuck has its static coefficient until it breaks away.
            let was_stuck = ball.mode == BallMode::Stick;
            let mut touch = solve(self.friction[usize::from(!was_stuck)]);
            if was_stuck && !touch.stuck {
                touch = solve(self.friction[1]);
            }
            let rubbing = tangents[0] * touch.friction[0] + tangents[1] * touch.friction[1];
            ball.velocity = free + (target - along) * self.normal + step * inverse_mass * rubbing;
            ball.angular_velocity += step * inverse_inertia * arm.cross(&rubbing);
            if OBSERVE {
                // An impulse works on the mean of the velocities before and after it; friction on the velocity after, but in an impact as an impulse.
                let began = was.velocity + was.angular_velocity.cross(&arm);
                let start = |k: usize| {
                    if strikes {
                        tangents[k].dot(&began)
                    } else {
                        touch.slip[k]
                    }
                };
                let mut power = 0.5 * touch.normal * (approach + target);
                let mut impact = 0.5 * touch.normal * (target - approach);
                for k in 0..2 {
                    power += 0.5 * touch.friction[k] * (start(k) + touch.slip[k]);
                    impact += 0.5 * touch.friction[k] * (touch.slip[k] - start(k));
                }
                ledger.dissipated -= step * power;
                ledger.numerical -= step * impact;
                ledger.touches += 1;
                ledger.slips += u64::from(!touch.stuck);
            }
            if touch.stuck { BallMode::Stick } else { BallMode::Slip }
        } else {
            ball.velocity = free;
            BallMode::Open
        };
        ball.mode = mode;
        if OBSERVE {
            let (dv, dw) = (
                ball.velocity - was.velocity,
                ball.angular_velocity - was.angular_velocity,
            );
            ledger.numerical += 0.5 * (self.mass * dv.norm_squared() + self.inertia * dw.norm_squared());
            ledger.changes += u64::from(mode != was.mode);
        }
        ball.position += step * ball.velocity;
        if part > 0.0 {
            let shift = part * (was.velocity - ball.velocity);
            ball.position += step * shift;
            ball.rotation = advance_rotation(ball.rotation, &was.angular_velocity, part * step);
            if OBSERVE {
                ledger.numerical += step * self.mass * self.gravity.dot(&shift);
            }
        }
        ball.rotation = advance_rotation(ball.rotation, &ball.angular_velocity, (1.0 - part) * step);
    }

    /// Two directions along the plane.
    pub(crate) fn tangents(&self) -> [Vector3<f64>; 2] {
        let a = self.normal.abs();
        let axis = if a.x <= a.y && a.x <= a.z {
            Vector3::x()
        } else if a.y <= a.z {
            Vector3::y()
        } else {
            Vector3::z()
        };
        let first = (axis - self.normal.dot(&axis) * self.normal).normalize();
        [first, self.normal.cross(&first)]
    }

    /// Moves some spheres.
    fn sweep<const OBSERVE: bool>(&self, balls: &mut [Ball], steps: u64) -> SpheresLedger {
        let tangents = self.tangents();
        let mut ledger = SpheresLedger::default();
        for ball in balls {
            for _ in 0..steps {
                self.advance::<OBSERVE>(&tangents, ball, &mut ledger);
            }
        }
        ledger
    }
}

/// Why spheres cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SphereTrouble {
    /// A number is not finite.
    NotFinite(usize),
    /// Two spheres touch.
    Meet(usize, usize),
}

/// Parts that threads share and sums are taken over.
const PIECES: usize = 64;

/// The spheres, moving.
#[derive(Clone)]
pub struct SpheresState {
    balls: Vec<Ball>,
    ledgers: Vec<SpheresLedger>,
    ledger: SpheresLedger,
    meeting: Meeting,
    /// Steps in which no two spheres can meet.
    safe: u64,
    threads: usize,
}

carried!(Ball: position, velocity, angular_velocity, rotation, mode; not);
carried!(SpheresLedger: dissipated, numerical, slips, touches, changes; not);
carried!(SpheresSeen: touching, slipping, position, velocity, speed, gap, energy; not);
// In how many steps no two meet decides how sums of energy are grouped.
carried!(SpheresState: balls, ledger, safe; not ledgers, meeting, threads);

impl Carried for BallMode {
    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let mut number = 0u8;
        number.load(bytes)?;
        *self = match number {
            0 => BallMode::Stick,
            1 => BallMode::Slip,
            2 => BallMode::Open,
            _ => return Err(SnapshotError::Damaged),
        };
        Ok(())
    }
}

impl SpheresState {
    /// Begins anew with these spheres.
    pub(crate) fn reset(&mut self, balls: Vec<Ball>) {
        (self.balls, self.ledger, self.safe) = (balls, SpheresLedger::default(), 0);
    }

    pub(crate) fn new(spheres: &Spheres, balls: Vec<Ball>) -> Self {
        SpheresState {
            ledgers: vec![SpheresLedger::default(); PIECES],
            ledger: SpheresLedger::default(),
            meeting: Meeting::new(balls.len(), 2.0 * spheres.radius),
            safe: 0,
            threads: 1,
            balls,
        }
    }

    /// Uses so many threads from now on.
    pub(crate) fn share(&mut self, threads: usize) {
        self.threads = if self.balls.len() < WORTHWHILE {
            1
        } else {
            threads.clamp(1, PIECES)
        };
    }

    /// The spheres.
    pub fn balls(&self) -> &[Ball] {
        &self.balls
    }

    /// What all observed steps so far came to.
    pub fn ledger(&self) -> &SpheresLedger {
        &self.ledger
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of::<Ball>() * self.balls.capacity() + self.meeting.bytes()
    }

    /// Does at most `most` steps, and says how many.
    pub(crate) fn advance<const OBSERVE: bool>(&mut self, spheres: &Spheres, most: u64) -> Result<u64, SphereTrouble> {
        if self.safe == 0 {
            let closest = self
                .meeting
                .closest(&self.balls)
                .map_err(|(a, b)| SphereTrouble::Meet(a, b))?;
            self.safe = self.safe_steps(spheres, closest);
        }
        let steps = most.min(self.safe);
        self.safe -= steps;
        let count = self.balls.len();
        let (length, threads) = (count.div_ceil(PIECES).max(1), self.threads);
        let pieces = self.balls.chunks_mut(length).zip(&mut self.ledgers);
        if threads == 1 {
            pieces.for_each(|(balls, ledger)| *ledger = spheres.sweep::<OBSERVE>(balls, steps));
        } else {
            let pieces: Vec<_> = pieces.collect();
            let each = pieces.len().div_ceil(threads);
            let mut pieces = pieces.into_iter();
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    let own: Vec<_> = pieces.by_ref().take(each).collect();
                    scope.spawn(move || {
                        own.into_iter()
                            .for_each(|(balls, ledger)| *ledger = spheres.sweep::<OBSERVE>(balls, steps));
                    });
                }
            });
        }
        if OBSERVE {
            let used = count.div_ceil(length);
            self.ledgers[..used].iter().for_each(|ledger| self.ledger.add(ledger));
        }
        let finite = |ball: &Ball| (ball.position.sum() + ball.angular_velocity.sum()).is_finite();
        match self.balls.iter().position(|ball| !finite(ball)) {
            Some(ball) => Err(SphereTrouble::NotFinite(ball)),
            None => Ok(steps),
        }
    }

    /// Steps in which two spheres whose surfaces are so far apart cannot meet: they approach each other at no more than
    /// twice the largest speed. Friction can turn spin into speed, so that counts too: √(v² + J·ω²/m) is that of the whole energy
    /// of motion, which gravity alone can raise.
    fn safe_steps(&self, spheres: &Spheres, apart: f64) -> u64 {
        let inertia = spheres.inertia / spheres.mass;
        let speed =
            |ball: &Ball| (ball.velocity.norm_squared() + inertia * ball.angular_velocity.norm_squared()).sqrt();
        let fastest = self.balls.iter().map(speed).fold(0.0, f64::max);
        let fall = spheres.gravity.norm();
        // 2·(v·t + g·t²/2) = apart, and one step less for what is within a step.
        let speed = fastest + fall * spheres.step;
        let time = apart / (speed + (speed * speed + fall * apart).sqrt()).max(f64::MIN_POSITIVE);
        ((time / spheres.step).floor().clamp(1.0, LONGEST_STRETCH as f64)) as u64
    }

    /// What the spheres look like.
    pub(crate) fn seen(&self, spheres: &Spheres) -> SpheresSeen {
        let mut all = SpheresSeen {
            gap: [f64::INFINITY, f64::NEG_INFINITY],
            ..SpheresSeen::default()
        };
        for ball in &self.balls {
            let gap = spheres.gap(ball);
            all.touching += if ball.mode == BallMode::Open { 0.0 } else { 1.0 };
            all.slipping += if ball.mode == BallMode::Slip { 1.0 } else { 0.0 };
            all.position += ball.position;
            all.velocity += ball.velocity;
            all.speed = all.speed.max(ball.velocity.norm());
            all.gap = [all.gap[0].min(gap), all.gap[1].max(gap)];
            all.energy += 0.5
                * (spheres.mass * ball.velocity.norm_squared()
                    + spheres.inertia * ball.angular_velocity.norm_squared())
                - spheres.mass * spheres.gravity.dot(&ball.position);
        }
        all.position /= self.balls.len() as f64;
        all.velocity /= self.balls.len() as f64;
        all
    }
}
