//! One block on the ground, stepped with the equations the engine uses.
#![allow(dead_code)] // Each test file uses its own part.

use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::dahl::Dahl;
use stickslip_core::friction::implicit;
use stickslip_core::friction::karnopp::Karnopp;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::martins_oden::MartinsOden;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::friction::quinn::Quinn;
use stickslip_core::friction::subloading::Subloading;
use stickslip_core::friction::{Bristle, Slip};
use stickslip_core::scalar::vector::{add, dot, norm, scale};

/// A friction law with its numbers.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    Implicit,
    Karnopp(Karnopp<f64>),
    Quinn(Quinn<f64>),
    MartinsOden(MartinsOden<f64>),
    Proxy(Proxy<f64, true>),
    Relaxed(Proxy<f64, false>),
    Dahl(Dahl<f64>),
    Lugre(Lugre<f64>),
    Subloading(Subloading<f64>),
}

impl Rule {
    /// The law with this name in the registry. `width` is ε in units of T·F/M, the change of velocity that friction
    /// makes in a step; stiffness and damping are the defaults of the registry, K = M·(0.5/T)² and B = √(K·M). Dahl and
    /// LuGre are softer: with rk4 they need T·|v|·K/F < 2.78, which the default breaks at 11 T·F/M. Subloading friction,
    /// as soft, yields over F/2K, falls from F to half of it over a few times that, and heals within a hundred steps.
    pub fn named(name: &str, mass: f64, step: f64, limit: f64, width: f64) -> Option<Rule> {
        let epsilon = width * step * limit / mass;
        let angle = if matches!(name, "dahl" | "lugre" | "subloading") {
            0.05
        } else {
            0.5
        };
        let stiffness = mass * (angle / step) * (angle / step);
        let damping = (stiffness * mass).sqrt();
        Some(match name {
            "implicit" => Rule::Implicit,
            "karnopp" => Rule::Karnopp(Karnopp { epsilon }),
            "quinn" => Rule::Quinn(Quinn { epsilon }),
            "martins-oden" => Rule::MartinsOden(MartinsOden { epsilon }),
            "proxy" => Rule::Proxy(Proxy { stiffness, damping }),
            "relaxed" => Rule::Relaxed(Proxy { stiffness, damping }),
            "dahl" => Rule::Dahl(Dahl { stiffness }),
            "lugre" => Rule::Lugre(Lugre { stiffness, damping }),
            "subloading" => Rule::Subloading(Subloading::plain(
                limit,
                0.5 * limit,
                stiffness,
                0.2 * stiffness,
                0.01 * limit / step,
                2.0 * stiffness / limit,
            )),
            _ => return None,
        })
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug)]
pub struct Did<const N: usize> {
    /// Friction on the block, averaged over the step.
    pub force: [f64; N],
    /// Work done against the friction as the method counts it: −T·Σ wᵣ·fᵣ·vᵣ.
    pub work: f64,
    /// Largest |f|/(limit at rest + viscous part) of all evaluations; 0 if both are 0.
    pub peak: f64,
}

/// A block on the ground.
#[derive(Clone, Copy, Debug)]
pub struct Block<const N: usize> {
    pub rule: Rule,
    pub curve: Stribeck<f64>,
    pub mass: f64,
    pub step: f64,
    pub load: f64,
    pub position: [f64; N],
    pub velocity: [f64; N],
    pub bristle: [f64; N],
    /// States after the first vector; subloading friction has its coefficient first.
    pub others: [f64; 9],
    pub stuck: bool,
}

impl<const N: usize> Block<N> {
    pub fn new(rule: Rule, curve: Stribeck<f64>, mass: f64, step: f64, velocity: [f64; N]) -> Self {
        Block {
            rule,
            curve,
            mass,
            step,
            load: 1.0,
            position: [0.0; N],
            velocity,
            bristle: [0.0; N],
            others: match rule {
                Rule::Subloading(law) => [law.mu_static, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                _ => [0.0; 9],
            },
            // Seed 000, eq 19: STICK if v₀ = 0, else SLIP (science page, errors of seed 000, 9).
            stuck: velocity == [0.0; N],
        }
    }

    fn slip(&self) -> Slip<f64, N> {
        Slip {
            velocity: self.velocity,
            load: self.load,
        }
    }

    /// |f| against the limit at this speed and load.
    fn peak(&self, force: [f64; N], velocity: [f64; N]) -> f64 {
        let limit = self.curve.holding(self.load) + self.curve.viscous * norm(velocity);
        if force == [0.0; N] { 0.0 } else { norm(force) / limit }
    }

    /// Elastic energy of the law.
    pub fn stored(&self) -> f64 {
        match self.rule {
            Rule::Proxy(law) => law.stored::<N>(&self.bristle),
            Rule::Relaxed(law) => law.stored::<N>(&self.bristle),
            Rule::Dahl(law) => law.stored::<N>(&self.bristle),
            Rule::Lugre(law) => law.stored::<N>(&self.bristle),
            Rule::Subloading(law) => law.stored::<N>(&self.bristle),
            Rule::Implicit | Rule::Karnopp(_) | Rule::Quinn(_) | Rule::MartinsOden(_) => 0.0,
        }
    }

    /// One step of the law's default integrator under the applied force h.
    pub fn step(&mut self, applied: [f64; N]) -> Did<N> {
        match self.rule {
            Rule::Implicit => self.resolve(applied),
            Rule::Karnopp(law) => self.push(applied, law.force(&self.curve, &self.slip(), applied)),
            Rule::Quinn(law) => self.push(applied, law.force(&self.curve, &self.slip(), applied)),
            Rule::MartinsOden(law) => {
                let force = law.respond(&self.curve, &self.slip(), &[], self.step, &mut []);
                self.push(applied, force)
            }
            Rule::Proxy(law) => self.rk4(law, applied),
            Rule::Relaxed(law) => self.rk4(law, applied),
            Rule::Dahl(law) => self.rk4(law, applied),
            Rule::Lugre(law) => self.rk4(law, applied),
            Rule::Subloading(law) => self.rk4(law, applied),
        }
    }

    /// The implicit step (seed 000, eqs 12-19): friction at the end of the step.
    fn resolve(&mut self, applied: [f64; N]) -> Did<N> {
        let v_bar = add(self.velocity, scale(applied, self.step / self.mass));
        let outcome = implicit::resolve(&self.curve, self.load, v_bar, self.step / self.mass, self.stuck);
        self.stuck = outcome.stuck;
        self.velocity = outcome.velocity;
        self.position = add(self.position, scale(self.velocity, self.step));
        Did {
            force: outcome.force,
            work: -self.step * dot(outcome.force, outcome.velocity),
            peak: self.peak(outcome.force, outcome.velocity),
        }
    }

    /// The same step with a friction that follows from the start of the step (Karnopp, Quinn, Martins-Oden).
    fn push(&mut self, applied: [f64; N], force: [f64; N]) -> Did<N> {
        let peak = self.peak(force, self.velocity);
        self.velocity = add(self.velocity, scale(add(applied, force), self.step / self.mass));
        self.position = add(self.position, scale(self.velocity, self.step));
        Did {
            force,
            work: -self.step * dot(force, self.velocity),
            peak,
        }
    }

    /// The staged Runge-Kutta step (seed 004, eq 21).
    fn rk4<L: Bristle<f64>>(&mut self, law: L, applied: [f64; N]) -> Did<N> {
        let start = *self;
        let mut did = Did {
            force: [0.0; N],
            work: 0.0,
            peak: 0.0,
        };
        let (mut sum_x, mut sum_v, mut sum_e, mut sum_o) = ([0.0; N], [0.0; N], [0.0; N], [0.0; 9]);
        let mut rates = ([0.0; N], [0.0; N], [0.0; N], [0.0; 9]);
        for (node, tau, weight) in [
            (0.0, 0.5, 1.0 / 6.0),
            (0.5, 0.5, 1.0 / 3.0),
            (0.5, 1.0, 1.0 / 3.0),
            (1.0, 1.0, 1.0 / 6.0),
        ] {
            let h = node * self.step;
            let stage = Block {
                position: add(start.position, scale(rates.0, h)),
                velocity: add(start.velocity, scale(rates.1, h)),
                bristle: add(start.bristle, scale(rates.2, h)),
                others: add(start.others, scale(rates.3, h)),
                ..start
            };
            let count = L::STATES * N;
            let (mut state, mut rate) = ([0.0; 12], [0.0; 12]);
            state[..N].copy_from_slice(&stage.bristle);
            state[N..N + 9].copy_from_slice(&stage.others);
            let tau = tau * self.step;
            let force = law.respond(&stage.curve, &stage.slip(), &state[..count], tau, &mut rate[..count]);
            rates = (
                stage.velocity,
                scale(add(applied, force), 1.0 / self.mass),
                std::array::from_fn(|i| rate[i]),
                std::array::from_fn(|i| rate[N + i]),
            );
            sum_x = add(sum_x, scale(rates.0, weight));
            sum_v = add(sum_v, scale(rates.1, weight));
            sum_e = add(sum_e, scale(rates.2, weight));
            sum_o = add(sum_o, scale(rates.3, weight));
            did.force = add(did.force, scale(force, weight));
            did.work -= self.step * weight * dot(force, stage.velocity);
            did.peak = did.peak.max(stage.peak(force, stage.velocity));
        }
        self.position = add(start.position, scale(sum_x, self.step));
        self.velocity = add(start.velocity, scale(sum_v, self.step));
        self.bristle = add(start.bristle, scale(sum_e, self.step));
        self.others = add(start.others, scale(sum_o, self.step));
        did
    }
}

/// A reproducible sequence of numbers between −1 and 1 (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.next())
    }
}

/// The first `N` components.
pub fn axes<const N: usize>(x: [f64; 3]) -> [f64; N] {
    std::array::from_fn(|i| x[i])
}
