//! A chain: its drive is a body of the network, its blocks are arrays of their own.

use super::laws::{Felt, LawKind};
use super::{Builder, Place};
use crate::chain::{Blocks, Chain, ChainState, Parts};
use crate::integrate::Method;
use crate::network::stage::LoadSource;
use crate::scenario::{ChainSpec, Port};

impl Builder<'_> {
    pub(super) fn add_chain(&mut self, spec: &ChainSpec) -> Option<(Chain, ChainState)> {
        if self.method != Method::ImplicitEuler {
            let message = format!("a chain does not run with integrator = \"{}\"", self.method.row().name);
            self.error("simulation.integrator", message).help = Some("write integrator = \"implicit-euler\"".into());
            return None;
        }
        let felt = Felt {
            mass: Some(spec.mass),
            angular: Some(false),
        };
        let rubbing = self.friction_law("chain.friction", &spec.friction, [Port::Ground; 2], felt, false)?;
        let (LawKind::Implicit { approximate: false }, LoadSource::Signal(load)) = (rubbing.kind, rubbing.load) else {
            let message = format!("blocks of a chain do not rub by the law \"{}\"", rubbing.law.name);
            let (key, help) = if rubbing.law.name == "implicit" {
                ("solution", "leave `solution` out: the exact one is used")
            } else {
                (
                    "law",
                    "write law = \"implicit\"; it takes static, viscous, stribeck_velocity and table too",
                )
            };
            self.error(&format!("chain.friction.{key}"), message).help = Some(help.into());
            return None;
        };
        let blocks = blocks(spec);
        let (inverse_mass, stiffness, damping) = extremes(spec, &blocks);
        let most = 1.0 + spec.spread.friction;
        self.warn_of_several_roots("chain.friction", &rubbing.curve, Some(most), inverse_mass);
        self.check_step(stiffness, damping)?;
        let Some(Place::Coordinates { first: drive, .. }) = self.places.first().copied() else {
            return None;
        };
        let [x, v] = self.initial_motion(spec)?;
        let chain = Chain::new(Parts {
            count: spec.count,
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

    /// Springs and dampers at the start of the step: with the largest k/m and d/m of the chain (rows of its matrices, which
    /// bound their eigenvalues) a step is stable if T²·k/m + 2·T·d/m < 4.
    fn check_step(&mut self, stiffness: f64, damping: f64) -> Option<()> {
        let step = self.step;
        let unstable = step * (step * stiffness + 2.0 * damping);
        if unstable < 4.0 {
            return Some(());
        }
        // The root of T²k + 2Td = 4.
        let longest = 4.0 / (damping + (damping * damping + 4.0 * stiffness).sqrt());
        let message = format!(
            "the springs of the chain are too stiff for a step of {step} s: the motion would grow without bound"
        );
        self.error("simulation.step", message).help = Some(format!(
            "use a step well below {longest:.3e} s, softer springs or heavier blocks"
        ));
        None
    }

    /// Positions and velocities at the start.
    fn initial_motion(&mut self, spec: &ChainSpec) -> Option<[Vec<f64>; 2]> {
        let count = spec.count;
        let mut motion = [Vec::with_capacity(count), Vec::with_capacity(count)];
        for i in 0..count {
            let variables = [i as f64, count as f64];
            let shift = if spec.spread.position == 0.0 {
                0.0
            } else {
                spec.spread.position * random(spec.spread.seed, POSITION, i)
            };
            motion[0].push(spec.position.evaluate(&variables) + shift);
            motion[1].push(spec.velocity.evaluate(&variables));
        }
        for (key, values) in ["position", "velocity"].iter().zip(&motion) {
            if let Some(i) = values.iter().position(|value| !value.is_finite()) {
                let message = format!("the {key} of block {i} is not finite: {}", values[i]);
                self.error(&format!("chain.body.{key}"), message).help =
                    Some(format!("the expression is in i = 0 … {} and n = {count}", count - 1));
                return None;
            }
        }
        Some(motion)
    }
}

// Which quantity a random number is for: each has its own sequence.
const MASS: u64 = 1;
const NEIGHBOUR: u64 = 2;
const DRIVE: u64 = 3;
const FRICTION: u64 = 4;
const POSITION: u64 = 5;

/// A number between −1 and 1, evenly distributed, that depends on nothing but its arguments: Sebastiano Vigna's splitmix64.
fn random(seed: u64, quantity: u64, block: usize) -> f64 {
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

/// The numbers of the blocks: each its own only where that is needed.
fn blocks(spec: &ChainSpec) -> Blocks {
    let spread = &spec.spread;
    let plain = spec.neighbour.plain() && spec.drive.plain();
    let alike = spread.mass == 0.0 && spread.stiffness == 0.0 && spread.friction == 0.0;
    if plain && alike {
        return Blocks::Equal {
            inverse_mass: 1.0 / spec.mass,
            neighbour: spec.neighbour.stiffness,
            drive: spec.drive.stiffness,
        };
    }
    let count = spec.count;
    let factor = |part: f64, quantity: u64, i: usize| match part {
        0.0 => 1.0,
        _ => 1.0 + part * random(spread.seed, quantity, i),
    };
    let mut neighbour: Vec<f64> = Vec::with_capacity(count + 1);
    neighbour.extend((0..=count).map(|i| spec.neighbour.stiffness * factor(spread.stiffness, NEIGHBOUR, i)));
    (neighbour[0], neighbour[count]) = (0.0, 0.0);
    Blocks::Each {
        inverse_mass: (0..count)
            .map(|i| 1.0 / (spec.mass * factor(spread.mass, MASS, i)))
            .collect(),
        neighbour,
        drive: (0..count)
            .map(|i| spec.drive.stiffness * factor(spread.stiffness, DRIVE, i))
            .collect(),
        strength: (0..count).map(|i| factor(spread.friction, FRICTION, i)).collect(),
    }
}

/// The largest 1/m, k/m and d/m of a chain: sums of the absolute values of a row of its matrices.
fn extremes(spec: &ChainSpec, blocks: &Blocks) -> (f64, f64, f64) {
    let damping = 4.0 * spec.neighbour.damping + spec.drive.damping;
    match blocks {
        Blocks::Equal {
            inverse_mass,
            neighbour,
            drive,
        } => {
            let links = if spec.count > 1 { 4.0 * neighbour } else { 0.0 };
            (*inverse_mass, inverse_mass * (links + drive), inverse_mass * damping)
        }
        Blocks::Each {
            inverse_mass,
            neighbour,
            drive,
            ..
        } => {
            let lightest = inverse_mass.iter().fold(0.0f64, |most, x| most.max(*x));
            let row = |i: usize| inverse_mass[i] * (2.0 * (neighbour[i] + neighbour[i + 1]) + drive[i]);
            let stiffest = (0..spec.count).map(row).fold(0.0, f64::max);
            (lightest, stiffest, lightest * damping)
        }
    }
}
