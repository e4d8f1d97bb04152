//! A chain: its drive is a body of the network, its blocks are arrays of their own.

use super::laws::{AtSlip, LawKind};
use super::{Builder, Place};
use crate::chain::{BlockNumbers, Chain, ChainParts, ChainState};
use crate::integrate::Method;
use crate::memory::lacking;
use crate::network::stage::LoadSource;
use crate::scenario::{ChainSpec, Port};

impl Builder<'_> {
    /// A chain of which the `first` blocks are built, and all examined.
    pub(super) fn add_chain(&mut self, spec: &ChainSpec, first: usize) -> Option<(Chain, ChainState)> {
        if self.method != Method::ImplicitEuler {
            let message = format!("a chain does not run with integrator = \"{}\"", self.method.row().name);
            self.error("simulation.integrator", message).help = Some("write integrator = \"implicit-euler\"".into());
            return None;
        }
        let felt = AtSlip {
            mass: Some(spec.mass),
            angular: Some(false),
            slip: 0.0,
            pressed: None,
        };
        let rubbing = self.friction_law("chain.friction", &spec.friction, [Port::Ground; 2], felt, false)?;
        let (LawKind::Implicit { approximate: false }, LoadSource::Signal(load)) = (rubbing.kind, rubbing.load) else {
            let message = format!("a chain does not take the friction law \"{}\"", rubbing.law.name);
            let (key, help) = if matches!(rubbing.kind, LawKind::Implicit { .. }) {
                ("solution", "leave `solution` out: the exact one is used")
            } else {
                (
                    "law",
                    "write law = \"implicit\"; it takes static, viscous, stribeck_velocity, table and curve too",
                )
            };
            self.error(&format!("chain.friction.{key}"), message).help = Some(help.into());
            return None;
        };
        let needed = (spec.count as u64).saturating_mul(bytes_per_block(spec));
        if let Some(lacking) = lacking(needed) {
            let message = format!("a chain of {} blocks needs {lacking}", spec.count);
            self.error("chain.count", message).help = Some("use fewer blocks; equal ones take 16 bytes each".into());
            return None;
        }
        let Some(blocks) = blocks(spec, first) else {
            return self.too_many(spec.count);
        };
        let (inverse_mass, stiffness, damping) = extremes(spec, self.step);
        let pressed = self.profiles[load].peak(0.0, self.scenario.simulation.duration, 1000);
        let most = pressed * (1.0 + spec.spread.friction);
        self.warn_of_several_roots("chain.friction", &rubbing.curve, Some(most), inverse_mass);
        self.check_step(stiffness, damping)?;
        let Some(Place::Coordinates { first: drive, .. }) = self.places.first().copied() else {
            return None;
        };
        let [x, v] = self.initial_motion(spec, first)?;
        let chain = Chain::new(ChainParts {
            count: first,
            step: self.step,
            blocks,
            neighbour_damping: spec.neighbour.damping,
            neighbour_length: spec.neighbour.length,
            drive_damping: spec.drive.damping,
            drive_length: spec.drive.length,
            curve: rubbing.curve,
            initial: spec.friction.initial,
            drive,
            load,
        });
        let state = ChainState::new(&chain, x, v);
        Some((chain, state))
    }

    /// There is no memory for so many blocks.
    fn too_many<T>(&mut self, count: usize) -> Option<T> {
        let message = format!("there is not enough memory for {count} blocks");
        self.error("chain.count", message).help = Some("use fewer blocks; equal ones take 16 bytes each".into());
        None
    }

    /// Springs and dampers at the start of the step: with the largest eigenvalues k/m and d/m of the chain, or bounds of
    /// them, a step is stable if T²·k/m + 2·T·d/m < 4.
    fn check_step(&mut self, stiffness: f64, damping: f64) -> Option<()> {
        let step = self.step;
        let unstable = step * (step * stiffness + 2.0 * damping);
        if unstable < 4.0 {
            return Some(());
        }
        // The root of T²k + 2Td = 4.
        let longest = 4.0 / (damping + (damping * damping + 4.0 * stiffness).sqrt());
        let message =
            format!("the springs of the chain are too stiff for a step of {step} s: the motion can grow without bound");
        self.error("simulation.step", message).help = Some(format!(
            "use a step well below {longest:.3e} s, softer springs or heavier blocks"
        ));
        None
    }

    /// Positions and velocities of the first blocks at the start. Those of all must be finite.
    fn initial_motion(&mut self, spec: &ChainSpec, first: usize) -> Option<[Vec<f64>; 2]> {
        let count = spec.count;
        let mut motion = [Vec::new(), Vec::new()];
        if motion
            .iter_mut()
            .any(|numbers| numbers.try_reserve_exact(first).is_err())
        {
            return self.too_many(count);
        }
        // No block can differ from the others by more than its random shift.
        let farthest = spec.position.constant().map(|x| x.abs() + spec.spread.position.abs());
        let alike = farthest.is_some_and(f64::is_finite) && spec.velocity.constant().is_some();
        for i in 0..count {
            let values = start_of_block(spec, i);
            for ((key, value), motion) in ["position", "velocity"].iter().zip(values).zip(&mut motion) {
                if !value.is_finite() {
                    let message = format!("the {key} of block {i} is not finite: {value}");
                    self.error(&format!("chain.body.{key}"), message).help =
                        Some(format!("the expression is in i = 0 … {} and n = {count}", count - 1));
                    return None;
                }
                if i < first {
                    motion.push(value);
                }
            }
            if i >= first && alike {
                break;
            }
        }
        Some(motion)
    }
}

/// Position and velocity of a block at the start.
pub(crate) fn start_of_block(spec: &ChainSpec, block: usize) -> [f64; 2] {
    let variables = [block as f64, spec.count as f64];
    let shift = match spec.spread.position {
        0.0 => 0.0,
        most => most * random(spec.spread.seed, POSITION, block),
    };
    [
        spec.position.evaluate(&variables) + shift,
        spec.velocity.evaluate(&variables),
    ]
}

// Which quantity a random number is for: each has its own sequence.
const MASS: u64 = 1;
const NEIGHBOUR: u64 = 2;
const DRIVE: u64 = 3;
const FRICTION: u64 = 4;
const POSITION: u64 = 5;

/// A number between −1 and 1, evenly distributed, that depends on nothing but its arguments: Sebastiano Vigna's splitmix64.
pub(super) fn random(seed: u64, quantity: u64, block: usize) -> f64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let stream = mix(seed.wrapping_add(quantity.wrapping_mul(GOLDEN)));
    let bits = mix(stream.wrapping_add((block as u64 + 1).wrapping_mul(GOLDEN))) >> 11;
    bits as f64 * (2.0 / (1u64 << 53) as f64) - 1.0
}

/// Whether all blocks have the same numbers.
fn equal(spec: &ChainSpec) -> bool {
    let spread = &spec.spread;
    let plain = spec.neighbour.plain() && spec.drive.plain();
    plain && spread.mass == 0.0 && spread.stiffness == 0.0 && spread.friction == 0.0
}

/// Position and velocity, and four numbers of its own where blocks differ.
fn bytes_per_block(spec: &ChainSpec) -> u64 {
    if equal(spec) { 16 } else { 48 }
}

/// The numbers of a block by its number.
struct Draw<'a>(&'a ChainSpec);

impl Draw<'_> {
    fn factor(&self, part: f64, quantity: u64, i: usize) -> f64 {
        match part {
            0.0 => 1.0,
            _ => 1.0 + part * random(self.0.spread.seed, quantity, i),
        }
    }

    fn inverse_mass(&self, i: usize) -> f64 {
        1.0 / (self.0.mass * self.factor(self.0.spread.mass, MASS, i))
    }

    /// Of the spring on the left of a block; none at the ends of the chain.
    fn neighbour(&self, i: usize, count: usize) -> f64 {
        match i {
            0 => 0.0,
            _ if i == count => 0.0,
            _ => self.0.neighbour.stiffness * self.factor(self.0.spread.stiffness, NEIGHBOUR, i),
        }
    }

    fn drive(&self, i: usize) -> f64 {
        self.0.drive.stiffness * self.factor(self.0.spread.stiffness, DRIVE, i)
    }

    fn strength(&self, i: usize) -> f64 {
        self.factor(self.0.spread.friction, FRICTION, i)
    }
}

/// The numbers of the first blocks: each its own only where that is needed.
fn blocks(spec: &ChainSpec, first: usize) -> Option<BlockNumbers> {
    if equal(spec) {
        return Some(BlockNumbers::Equal {
            inverse_mass: 1.0 / spec.mass,
            neighbour: spec.neighbour.stiffness,
            drive: spec.drive.stiffness,
        });
    }
    let draw = Draw(spec);
    let list = |count: usize, of: &dyn Fn(usize) -> f64| -> Option<Vec<f64>> {
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(count).ok()?;
        numbers.extend((0..count).map(of));
        Some(numbers)
    };
    Some(BlockNumbers::Each {
        inverse_mass: list(first, &|i| draw.inverse_mass(i))?,
        neighbour: list(first + 1, &|i| draw.neighbour(i, first))?,
        drive: list(first, &|i| draw.drive(i))?,
        strength: list(first, &|i| draw.strength(i))?,
    })
}

/// The largest 1/m, and k/m and d/m that decide whether a step is stable. The largest eigenvalue of a free chain of N equal
/// blocks is (2·k·(1 + cos(π/N)) + k_d)/m; where blocks differ, the sum of the absolute values of a row bounds it.
fn extremes(spec: &ChainSpec, step: f64) -> (f64, f64, f64) {
    let count = spec.count;
    if equal(spec) {
        let inverse_mass = 1.0 / spec.mass;
        let links = 2.0 * (1.0 + libm::cos(std::f64::consts::PI / count as f64));
        let stiffness = inverse_mass * (links * spec.neighbour.stiffness + spec.drive.stiffness);
        return (inverse_mass, stiffness, 0.0);
    }
    let draw = Draw(spec);
    let weight = |k: f64, d: f64| step * k + 2.0 * d;
    let (mut lightest, mut stiffness, mut damping) = (0.0f64, 0.0, 0.0);
    let mut left = 0.0;
    for i in 0..count {
        let (inverse_mass, right) = (draw.inverse_mass(i), draw.neighbour(i + 1, count));
        let links = usize::from(i > 0) + usize::from(i + 1 < count);
        let k = inverse_mass * (2.0 * (left + right) + draw.drive(i));
        let d = inverse_mass * (2.0 * links as f64 * spec.neighbour.damping + spec.drive.damping);
        left = right;
        lightest = lightest.max(inverse_mass);
        if weight(k, d) > weight(stiffness, damping) {
            (stiffness, damping) = (k, d);
        }
    }
    (lightest, stiffness, damping)
}
