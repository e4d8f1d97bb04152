//! Every law in one table: what it is called, where it comes from, what it needs and which promises it keeps.
//!
//! The rows feed the scenario reader, the command `laws`, the schema of scenario files and the conformance suite.

/// How the number of a parameter is found where it is not written, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Stiffness of a contact at rest, above 0: it follows from mass and step.
    Stiffness,
    /// Damping of a contact at rest, not negative: it follows from stiffness and mass.
    Damping,
    /// Damping over stiffness, above 0: it follows from both.
    Relaxation,
    /// Speed above 0 that must be given: friction goes from −F to F within it.
    Band,
    /// A number above 0 that must be given.
    Positive,
    /// A number that is not negative, and what it is where it is left out.
    OrElse(f64),
    /// The law has a reader of its own.
    Own,
}

/// How a law is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Force and velocity at the end of an implicit step together: friction in closed form, rigid contact.
    Resolve,
    /// Velocity and applied force at the start of a step in, force out.
    Applied,
    /// Motion in, force and rates of states out.
    Respond,
}

/// A parameter of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The key in a scenario.
    pub name: &'static str,
    /// Unit for linear motion (for rotation m becomes rad and N becomes Nm).
    pub unit: &'static str,
    /// What is taken when it is left out; `None` if it must be given.
    pub default: Option<&'static str>,
    /// What it means.
    pub meaning: &'static str,
    /// The right side of an example line.
    pub example: &'static str,
    /// How it is read.
    pub rule: Rule,
}

/// Properties that the conformance suite proves for a law that declares them, and refutes for one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// A body that has come to rest under a load below the limit has exactly zero velocity.
    pub holds_exactly: bool,
    /// Under a load that changes slowly below the limit the displacement stays within the elastic presliding: no creep.
    pub holds_elastically: bool,
    /// The force never exceeds the limit, also while the normal force changes.
    pub bounded: bool,
    /// Work done against the law is never less than the energy it stores, as the default integrator counts it (bristles:
    /// at every instant and in every backward Euler step).
    pub passive: bool,
    /// The force changes sign with the motion.
    pub odd: bool,
    /// In the plane and in space the law has no preferred direction.
    pub isotropic: bool,
}

/// What a law is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Friction.
    Friction,
    /// Normal force of a contact.
    Contact,
}

/// One law.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The word in a scenario.
    pub name: &'static str,
    /// Friction or contact.
    pub family: Family,
    /// How it is asked.
    pub face: Face,
    /// One sentence for the user.
    pub summary: &'static str,
    /// The equations, as text.
    pub equation: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its own parameters, besides the steady curve.
    pub parameters: &'static [Parameter],
    /// Integrators that can run it; the first is its default.
    pub integrators: &'static [&'static str],
    /// Vector states it keeps (friction) or scalar states (contact).
    pub states: usize,
    /// What its states are called in a trace, if they are shown, with spaces between. The first is a vector, the others are
    /// numbers, each in the place of a vector; `R` is not a state but what [`crate::friction::Bristle::carried`] gives.
    pub state_name: Option<&'static str>,
    /// Whether a static limit above the kinetic one needs a Stribeck velocity: laws without stick memory.
    pub needs_stribeck: bool,
    /// Whether friction follows the steady curve, its Stribeck velocity or table included. If not, the law takes `mu_kinetic`,
    /// `mu_static`, `viscous` and a normal force, and its own states say how friction falls.
    pub steady_curve: bool,
    /// Whether its rates use the step of the stage: a backward Euler rule of its own, which needs damping where it is asked without a step.
    pub staged: bool,
    /// The parameter with which friction recovers at rest, where it is above 0.
    pub recovers_by: Option<&'static str>,
    /// What it promises.
    pub properties: Properties,
}

const ODE: &[&str] = &[
    "rk4",
    "euler",
    "implicit-euler",
    "implicit-midpoint",
    "adaptive",
    "stiff",
    "trapezoidal",
    "newmark",
];

const STIFFNESS: Parameter = Parameter {
    name: "stiffness",
    unit: "N/m",
    default: Some("m*(0.5/step)^2, m the mass felt along the slip"),
    meaning: "stiffness of the contact at rest",
    example: "1e5",
    rule: Rule::Stiffness,
};

const DAMPING: Parameter = Parameter {
    name: "damping",
    unit: "N*s/m",
    default: Some("sqrt(stiffness*m)"),
    meaning: "damping of the contact at rest",
    example: "10",
    rule: Rule::Damping,
};

const EPSILON: Parameter = Parameter {
    name: "epsilon",
    unit: "m/s",
    default: None,
    meaning: "speed below which the law does not distinguish motion from rest",
    example: "1e-3",
    rule: Rule::Band,
};

/// Integrators of compliant contacts.
const COMPLIANT: &[&str] = &["rk4", "euler", "adaptive", "stiff"];
/// The same for those without a state, whose force follows from the motion at the end of a step.
const STATELESS: &[&str] = &["rk4", "euler", "adaptive", "stiff", "trapezoidal", "newmark"];

const CONTACT_STIFFNESS: Parameter = Parameter {
    name: "stiffness",
    unit: "N/m",
    default: Some("m*(0.5/step)^2, m the smallest mass felt at the contact"),
    meaning: "stiffness of the contact",
    example: "1e7",
    rule: Rule::Own,
};

const CONTACT_STIFFNESS_BY_IMPACT: Parameter = Parameter {
    default: Some("m*(0.2/step)^2 or less, m the mass felt along the normal: an impact takes 12 steps or more"),
    ..CONTACT_STIFFNESS
};

/// What every compliant contact promises: it carries any load elastically and makes no energy.
const CONTACT_HOLDS_ELASTICALLY: Properties = Properties {
    holds_exactly: false,
    holds_elastically: true,
    bounded: false,
    passive: true,
    odd: false,
    isotropic: true,
};

/// The laws.
pub const LAWS: &[Law] = &[
    Law {
        name: "implicit",
        family: Family::Friction,
        face: Face::Resolve,
        summary: "dry friction solved at the end of the step: reaches zero velocity in finite time, no parameter to tune",
        equation: "v = v_bar + (T/M) f,  f in -g(|v|) Sgn(v);  stuck: v = 0 exactly, f = -M v_bar/T",
        source: "the paper on model P, eqs 11-20",
        parameters: &[Parameter {
            name: "solution",
            unit: "",
            default: Some("exact"),
            meaning: "\"exact\" solves eq 14; \"approximate\" is eq 16, kept for comparison",
            example: "\"exact\"",
            rule: Rule::Own,
        }],
        integrators: &["implicit-euler", "implicit-midpoint"],
        states: 1,
        state_name: None,
        needs_stribeck: false,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: true,
            holds_elastically: true,
            bounded: true,
            passive: true,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "karnopp",
        family: Family::Friction,
        face: Face::Applied,
        summary: "a band of speeds counts as rest; creeps inside the band (baseline)",
        equation: "|v| <= eps: f = -h if |h| <= F_S, else -F_S sgn(h);  otherwise f = -g(|v|) sgn(v)",
        source: "Karnopp; the paper on model P, eq 7",
        parameters: &[EPSILON],
        integrators: &["implicit-euler", "implicit-midpoint"],
        states: 0,
        state_name: None,
        needs_stribeck: false,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            bounded: true,
            passive: false,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "quinn",
        family: Family::Friction,
        face: Face::Applied,
        summary: "continuous friction that balances the load at rest; can push a body across zero velocity (baseline)",
        equation: "f = -gsat(F, (F/eps) v + gsat(F, h))",
        source: "Quinn; the paper on model P, eq 9",
        parameters: &[EPSILON],
        integrators: &["implicit-euler", "implicit-midpoint"],
        states: 0,
        state_name: None,
        needs_stribeck: true,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            bounded: true,
            passive: false,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "martins-oden",
        family: Family::Friction,
        face: Face::Respond,
        summary: "viscosity in place of dry friction near rest; creeps under any load (baseline)",
        equation: "f = -g(|v|) v/max(|v|, eps)",
        source: "Martins and Oden; the paper on model P, eq 8",
        parameters: &[EPSILON],
        integrators: &[
            "implicit-euler",
            "implicit-midpoint",
            "rk4",
            "euler",
            "adaptive",
            "stiff",
            "trapezoidal",
            "newmark",
        ],
        states: 0,
        state_name: None,
        needs_stribeck: true,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            bounded: true,
            // Evaluated at v_{k−1} it can push a body across zero within a step, most of all with ε < T·F/M. As a
            // differential equation (rk4, euler) it would be passive.
            passive: false,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "proxy",
        family: Family::Friction,
        face: Face::Respond,
        summary: "dry friction on a massless proxy behind a spring and a damper: elastic presliding, no drift",
        equation: "f = gsat(g, (B + tau K) v + K e),  e' = (f - K e)/(B + tau K)  (f resisting, tau the stage step)",
        source: "the paper on modular simulation, eqs 14-24",
        parameters: &[STIFFNESS, DAMPING],
        integrators: ODE,
        states: 1,
        state_name: Some("e"),
        needs_stribeck: true,
        steady_curve: true,
        staged: true,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: true,
            bounded: true,
            passive: true,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "relaxed",
        family: Family::Friction,
        face: Face::Respond,
        summary: "the proxy friction as a plain differential equation: fourth order in stick with rk4, needs step < 2.78 beta",
        equation: "f = gsat(g, K (a + beta v)),  a' = (f/K - a)/beta  (f resisting)",
        source: "Xiong, Kikuuwe and Yamamoto, eq 9",
        parameters: &[
            STIFFNESS,
            Parameter {
                name: "beta",
                unit: "s",
                default: Some("sqrt(m/stiffness)"),
                meaning: "relaxation time: damping over stiffness",
                example: "5e-3",
                rule: Rule::Relaxation,
            },
        ],
        integrators: ODE,
        states: 1,
        state_name: Some("a"),
        needs_stribeck: true,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: true,
            bounded: true,
            passive: true,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "dahl",
        family: Family::Friction,
        face: Face::Respond,
        summary: "a bristle that yields gradually; drifts under an oscillating load",
        equation: "f = K e,  e' = v - |v| K e/g  (f resisting)",
        source: "Dahl; the paper on modular simulation, eq 11",
        parameters: &[STIFFNESS],
        integrators: ODE,
        states: 1,
        state_name: Some("e"),
        needs_stribeck: true,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            // K·e only wears down by sliding: where the normal force falls it stays above the new limit. The
            // stages of an explicit method can overshoot, too.
            bounded: false,
            passive: true,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "lugre",
        family: Family::Friction,
        face: Face::Respond,
        summary: "bristle with damping; widely used in control; drifts under an oscillating load",
        equation: "f = K e + B e',  e' = v - |v| K e/g(|v|)  (f resisting)",
        source: "Canudas de Wit et al.; the paper on modular simulation, eq 12",
        parameters: &[STIFFNESS, DAMPING],
        integrators: ODE,
        states: 1,
        state_name: Some("e"),
        needs_stribeck: true,
        steady_curve: true,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            // B·ė comes on top of K·e.
            bounded: false,
            // Where the curve falls or the load drops the bristle unloads while sliding on, and B·ė pushes.
            passive: false,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "subloading",
        family: Family::Friction,
        face: Face::Respond,
        summary: "elastoplastic friction that falls with slip from static to kinetic and heals with time; stick-slip studies",
        equation: "f = alpha u,  u' = v - t s,  |f| = R mu F,  R' = U(R) s,  \
                   mu' = eta (1 - mu/mu_s)^n - kappa (mu/mu_k - 1)^m s  (f resisting along t, s >= 0 the plastic slip rate)",
        source: "Ozaki, Hashiguchi and Chen (2007) and the paper on the trapezoidal update",
        parameters: &[
            Parameter {
                name: "tangential_stiffness",
                unit: "N/m",
                default: None,
                meaning: "stiffness alpha of the contact",
                example: "1e6",
                rule: Rule::Own,
            },
            Parameter {
                name: "kappa",
                unit: "1/m",
                default: None,
                meaning: "how fast plastic slip lowers the friction coefficient",
                example: "\"10 1/mm\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "kappa_exponent",
                unit: "",
                default: Some("1"),
                meaning: "exponent m of that fall",
                example: "1",
                rule: Rule::Own,
            },
            Parameter {
                name: "eta",
                unit: "1/s",
                default: None,
                meaning: "how fast time raises the friction coefficient",
                example: "0.1",
                rule: Rule::Own,
            },
            Parameter {
                name: "eta_exponent",
                unit: "",
                default: Some("1"),
                meaning: "exponent n of that rise",
                example: "1",
                rule: Rule::Own,
            },
            Parameter {
                name: "r",
                unit: "1/m",
                default: None,
                meaning: "how fast the contact yields: R approaches 1 over a slip of some 1/r",
                example: "\"100 1/mm\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "evolution",
                unit: "",
                default: Some("log"),
                meaning: "\"log\" is U = -r ln R (Ozaki, Hashiguchi and Chen 2007), \"ratio\" is U = r (1 - R)/R (the paper on the trapezoidal update)",
                example: "\"log\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "mu_initial",
                unit: "",
                default: Some("mu_static: after a long rest"),
                meaning: "friction coefficient at the start, between mu_kinetic and mu_static",
                example: "0.3",
                rule: Rule::Own,
            },
            Parameter {
                name: "contact_time",
                unit: "s",
                default: Some("0"),
                meaning: "the force includes contact_time times the rate of the elastic force: damps the contact's vibration",
                example: "\"1 ms\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "update",
                unit: "",
                default: Some("exact-flow"),
                meaning: "rule of an implicit step: \"exact-flow\", \"trapezoidal\" or \"backward\" (the paper on the trapezoidal update); \"rates\" lets stiff integrate the rates",
                example: "\"exact-flow\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "newton",
                unit: "",
                default: Some("safeguarded"),
                meaning: "how the last two are solved: \"safeguarded\", or \"as-published\", which can fail",
                example: "\"safeguarded\"",
                rule: Rule::Own,
            },
        ],
        integrators: &[
            "stiff",
            "adaptive",
            "rk4",
            "euler",
            "implicit-euler",
            "implicit-midpoint",
            "trapezoidal",
            "newmark",
        ],
        states: 4,
        state_name: Some("e mu R"),
        needs_stribeck: false,
        steady_curve: false,
        staged: false,
        recovers_by: Some("eta"),
        properties: Properties {
            holds_exactly: false,
            holds_elastically: false,
            bounded: true,
            passive: true,
            odd: true,
            isotropic: true,
        },
    },
    Law {
        name: "kelvin-voigt",
        family: Family::Contact,
        face: Face::Respond,
        summary: "spring and damper while bodies overlap; the force jumps at touch-down and pulls before release",
        equation: "N = K depth + B depth'  while depth > 0",
        source: "the paper on modular simulation, eq 23a",
        parameters: &[
            CONTACT_STIFFNESS,
            Parameter {
                name: "damping",
                unit: "N*s/m",
                default: Some("sqrt(stiffness*m)"),
                meaning: "damping of the contact",
                example: "10",
                rule: Rule::Own,
            },
        ],
        integrators: STATELESS,
        states: 0,
        state_name: None,
        needs_stribeck: false,
        steady_curve: false,
        staged: false,
        recovers_by: None,
        properties: CONTACT_HOLDS_ELASTICALLY,
    },
    Law {
        name: "relaxed",
        family: Family::Contact,
        face: Face::Respond,
        summary: "rigid contact as a differential equation: continuous, never pulls, restitution as wanted",
        equation: "N = K max(0, e - beta (gap + e)/alpha),  e' = max(-e/beta, -(gap + e)/alpha)",
        source: "Xiong, Kikuuwe and Yamamoto, eq 15",
        parameters: &[
            CONTACT_STIFFNESS_BY_IMPACT,
            Parameter {
                name: "restitution",
                unit: "",
                default: Some("0.5, where neither beta nor alpha is given"),
                meaning: "speed after over speed before an impact; in place of alpha",
                example: "0.5",
                rule: Rule::Own,
            },
            Parameter {
                name: "beta",
                unit: "s",
                default: Some("1 to 8 times sqrt(m/stiffness), the smaller the restitution the more"),
                meaning: "time constant of the state",
                example: "0.01",
                rule: Rule::Own,
            },
            Parameter {
                name: "alpha",
                unit: "s",
                default: Some("follows from restitution; beta/2 where only beta is given"),
                meaning: "time constant of the damping, at most beta; alpha = beta loses nothing",
                example: "0.005",
                rule: Rule::Own,
            },
            Parameter {
                name: "penetration",
                unit: "m",
                default: Some("none"),
                meaning: "depth at rest under the weight, or at impact_speed; in place of stiffness",
                example: "\"0.1 mm\"",
                rule: Rule::Own,
            },
            Parameter {
                name: "impact_speed",
                unit: "m/s",
                default: Some("none"),
                meaning: "speed of the impact that penetration belongs to",
                example: "\"1 m/s\"",
                rule: Rule::Own,
            },
        ],
        integrators: COMPLIANT,
        states: 1,
        state_name: Some("e"),
        needs_stribeck: false,
        steady_curve: false,
        staged: false,
        recovers_by: None,
        properties: CONTACT_HOLDS_ELASTICALLY,
    },
    Law {
        name: "proxy",
        family: Family::Contact,
        face: Face::Respond,
        summary: "rigid contact on a massless proxy behind a spring and a damper: never pulls; continuous with given steps",
        equation: "N = K (1 + beta/tau) max(0, -g - e beta/(beta + tau)),  e+ = max(-g, e beta/(beta + tau)),  \
                   g = gap + tau gap'",
        source: "Xiong, Kikuuwe and Yamamoto, eq 13, by backward Euler over a stage step tau, or its limit tau = 0",
        parameters: &[
            CONTACT_STIFFNESS,
            Parameter {
                name: "beta",
                unit: "s",
                default: Some("sqrt(m/stiffness)"),
                meaning: "damping over stiffness",
                example: "0.01",
                rule: Rule::Own,
            },
        ],
        integrators: COMPLIANT,
        states: 1,
        state_name: Some("e"),
        needs_stribeck: false,
        steady_curve: false,
        staged: true,
        recovers_by: None,
        properties: CONTACT_HOLDS_ELASTICALLY,
    },
    Law {
        name: "hunt-crossley",
        family: Family::Contact,
        face: Face::Respond,
        summary: "damping that grows with the depth; continuous, but pulls where bodies part fast",
        equation: "N = K depth^n (1 + lambda depth')  while depth > 0",
        source: "Hunt and Crossley 1975; Xiong, Kikuuwe and Yamamoto, reference 6",
        parameters: &[
            Parameter {
                name: "stiffness",
                unit: "N/m^n",
                default: None,
                meaning: "stiffness K",
                example: "1e7",
                rule: Rule::Own,
            },
            Parameter {
                name: "exponent",
                unit: "",
                default: Some("1.5"),
                meaning: "exponent n, at least 1",
                example: "1.5",
                rule: Rule::Own,
            },
            Parameter {
                name: "damping",
                unit: "s/m",
                default: Some("0"),
                meaning: "damping lambda: an impact at the speed v loses about 2/3 lambda v of its speed, while that is small",
                example: "10",
                rule: Rule::Own,
            },
        ],
        integrators: STATELESS,
        states: 0,
        state_name: None,
        needs_stribeck: false,
        steady_curve: false,
        staged: false,
        recovers_by: None,
        properties: CONTACT_HOLDS_ELASTICALLY,
    },
    Law {
        name: "rigid",
        family: Family::Contact,
        face: Face::Resolve,
        summary: "no overlap and no pull at the end of the step; friction bounded by the normal force of the same step",
        equation: "0 <= N perp gap + T v_n >= 0;  closing contacts rebound with -restitution*v_n",
        source: "Signorini's condition in the implicit step of the paper on model P",
        parameters: &[Parameter {
            name: "restitution",
            unit: "",
            default: Some("0"),
            meaning: "speed after over speed before an impact (Newton's rule)",
            example: "0.5",
            rule: Rule::Own,
        }],
        integrators: &["implicit-euler", "implicit-midpoint"],
        states: 0,
        state_name: None,
        needs_stribeck: false,
        steady_curve: false,
        staged: false,
        recovers_by: None,
        properties: Properties {
            holds_exactly: true,
            holds_elastically: true,
            bounded: false,
            passive: true,
            odd: false,
            isotropic: true,
        },
    },
];

/// The law with this name in a family.
pub fn law(family: Family, name: &str) -> Option<&'static Law> {
    LAWS.iter().find(|law| law.family == family && law.name == name)
}

/// The names of a family.
pub fn names(family: Family) -> impl Iterator<Item = &'static str> {
    LAWS.iter().filter(move |law| law.family == family).map(|law| law.name)
}
