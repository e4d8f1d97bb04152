//! One block on the ground, stepped with the equations the engine uses.
#![allow(dead_code)] // Each test file uses its own part.

use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::implicit;
use stickslip_core::friction::{AppliedLaw, Bristle, FrictionLaw, MOST_NUMBERS, OfNumbers, Slip};
use stickslip_core::registry::{self, Face, Family, Law};
use stickslip_core::scalar::vector::{add, dot, norm, scale};
use stickslip_core::{applied_laws, bristle_laws};

/// The kind of number of the laws here.
type R = f64;

macro_rules! rules {
    (
        [$($applied:ident $applied_field:ident: $applied_law:ty, $applied_reader:ident;)*]
        $($variant:ident $field:ident: $law:ty, $reader:ident;)*
    ) => {
        /// A friction law with its numbers.
        #[derive(Clone, Copy, Debug)]
        pub enum Rule {
            Implicit,
            $($applied($applied_law),)*
            $($variant($law),)*
        }

        impl Rule {
            /// The law of a row with these numbers.
            fn of(row: &Law, numbers: &[f64], scale: Scale) -> Option<Rule> {
                if row.face == Face::Resolve {
                    return Some(Rule::Implicit);
                }
                $(
                    if row.name == <$applied_law as AppliedLaw>::NAME {
                        return Some(Rule::$applied(make!($applied_reader, $applied_law, numbers, scale)));
                    }
                )*
                $(
                    if row.name == <$law as FrictionLaw>::NAME {
                        return Some(Rule::$variant(make!($reader, $law, numbers, scale)));
                    }
                )*
                None
            }
        }

        impl<const N: usize> Block<N> {
            /// The states at the start.
            fn begin(rule: Rule) -> [f64; MOST_NUMBERS] {
                let mut state = [0.0; MOST_NUMBERS];
                match rule {
                    Rule::Implicit => (),
                    $(Rule::$applied(_) => (),)*
                    $(Rule::$variant(law) => law.begin::<N>(&mut state),)*
                }
                state
            }

            /// Elastic energy of the law.
            pub fn stored(&self) -> f64 {
                match self.rule {
                    Rule::Implicit => 0.0,
                    $(Rule::$applied(_) => 0.0,)*
                    $(Rule::$variant(law) => law.stored::<N>(&self.states()),)*
                }
            }

            /// One step of the law's default integrator under the applied force h.
            pub fn step(&mut self, applied: [f64; N]) -> Did<N> {
                match self.rule {
                    Rule::Implicit => self.resolve(applied),
                    $(Rule::$applied(law) => self.push(applied, law.force(&self.curve, &self.slip(), applied)),)*
                    $(Rule::$variant(law) if <$law as FrictionLaw>::AT_START => {
                        let force = law.respond(&self.curve, &self.slip(), &[], self.step, &mut []);
                        self.push(applied, force)
                    })*
                    $(Rule::$variant(law) => self.rk4(law, applied),)*
                }
            }
        }

        impl Rule {
            /// Runs a check on the concrete bristle law, if it is one that is not asked at the start of a step.
            pub fn as_bristle<T>(self, check: impl BristleCheck<T>) -> Option<T> {
                match self {
                    Rule::Implicit => None,
                    $(Rule::$applied(_) => None,)*
                    $(Rule::$variant(_) if <$law as FrictionLaw>::AT_START => None,)*
                    $(Rule::$variant(law) => Some(check.of(law)),)*
                }
            }
        }
    };
}

/// A check of any bristle law.
pub trait BristleCheck<T> {
    fn of<L: FrictionLaw>(self, law: L) -> T;
}

macro_rules! make {
    (plain_law, $law:ty, $numbers:expr, $scale:expr) => {
        <$law as OfNumbers>::of($numbers)
    };
    // As soft as bristles that wear; yields over F/2K, falls from F to half of it over a few times that, and heals within a hundred steps.
    (subloading, $law:ty, $numbers:expr, $scale:expr) => {{
        let Scale { limit, step, soft, .. } = $scale;
        let (kappa, eta, r) = (0.2 * soft, 0.01 * limit / step, 2.0 * soft / limit);
        <$law>::plain(limit, 0.5 * limit, soft, kappa, eta, r)
    }};
}

macro_rules! with_bristles {
    ($($applied:tt)*) => { bristle_laws!(rules! [$($applied)*]); };
}
applied_laws!(with_bristles!);

/// What the numbers of a law are measured in.
#[derive(Clone, Copy, Debug)]
struct Scale {
    step: f64,
    limit: f64,
    /// Stiffness of a bristle that an explicit step follows while it wears.
    soft: f64,
}

impl Rule {
    /// The law with this name in the registry. `width` is ε in units of T·F/M, the change of velocity that friction
    /// makes in a step; stiffness and damping are the defaults of the registry, K = M·(0.5/T)² and B = √(K·M).
    pub fn named(name: &str, mass: f64, step: f64, limit: f64, width: f64) -> Option<Rule> {
        let row = registry::law(Family::Friction, name)?;
        let stiffness = |angle: f64| mass * (angle / step) * (angle / step);
        let held = stiffness(0.5);
        let numbers: Vec<f64> = (row.parameters.iter())
            .map(|parameter| match parameter.rule {
                registry::Rule::Stiffness => held,
                registry::Rule::Damping => (held * mass).sqrt(),
                registry::Rule::Relaxation => (held * mass).sqrt() / held,
                registry::Rule::Band => width * step * limit / mass,
                registry::Rule::OrElse(value) => value,
                registry::Rule::Positive | registry::Rule::Own => 1.0,
            })
            .collect();
        let scale = Scale {
            step,
            limit,
            soft: stiffness(0.05),
        };
        Rule::of(row, &numbers, scale)
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
    /// States after the first vector.
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
            others: std::array::from_fn(|i| Self::begin(rule)[N + i]),
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

    /// The states as laws keep them.
    pub fn states(&self) -> [f64; MOST_NUMBERS] {
        let mut state = [0.0; MOST_NUMBERS];
        state[..N].copy_from_slice(&self.bristle);
        state[N..N + 9].copy_from_slice(&self.others);
        state
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
            let (state, mut rate) = (stage.states(), [0.0; MOST_NUMBERS]);
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
