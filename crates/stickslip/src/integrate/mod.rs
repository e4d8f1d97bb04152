//! Integrators: each moves the whole network one step. One file per method, one row in [`METHODS`].

mod abreast;
mod adaptive;
mod balls;
pub(crate) mod fused;
pub mod implicit_euler;
pub mod implicit_midpoint;
pub(crate) mod lanes;
pub mod march;
pub mod newmark;
pub(crate) mod one_coordinate;
pub mod runge_kutta;
mod stiff;

pub use crate::network::work::Work;
use crate::network::{Network, NetworkState, Scratch};
use crate::tally::Tallies;

/// A method of integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Explicit Euler, of first order.
    Euler,
    /// The classical Runge-Kutta method with the stage step passed to the laws (the paper on modular simulation, eq 21).
    Rk4,
    /// Friction and contact at the end of the step (the paper on model P, eqs 12-19).
    ImplicitEuler,
    /// Forces in the middle of the step, friction and contact as in the implicit Euler step where something comes to rest, breaks away or closes.
    ImplicitMidpoint,
    /// An explicit pair of orders 5 and 4 that chooses its own steps.
    Adaptive,
    /// Newmark's rule with the equations of the step solved, friction by its return mapping (the paper on the trapezoidal update, eq 32).
    Trapezoidal,
    /// Newmark's rule with friction linearised at the start of the step (Ozaki, Hashiguchi and Chen 2007, eqs 31-34).
    Newmark,
    /// TR-BDF2: implicit, L-stable, of second order; chooses its own steps.
    Stiff,
}

/// What the registry says of a method.
pub struct MethodRow {
    /// The word in a scenario.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// Order on smooth motion.
    pub order: u32,
    /// One sentence for the user.
    pub summary: &'static str,
}

/// The methods.
pub const METHODS: &[MethodRow] = &[
    MethodRow {
        name: "euler",
        method: Method::Euler,
        order: 1,
        summary: "explicit Euler: the simplest, for comparison; adds energy to undamped vibration",
    },
    MethodRow {
        name: "rk4",
        method: Method::Rk4,
        order: 4,
        summary: "fourth-order Runge-Kutta that passes the stage step to the friction law; \
                  with `proxy` of first order while sticking, with `relaxed` of fourth",
    },
    MethodRow {
        name: "implicit-euler",
        method: Method::ImplicitEuler,
        order: 1,
        summary: "friction and contact solved at the end of the step: exact stick at any step",
    },
    MethodRow {
        name: "implicit-midpoint",
        method: Method::ImplicitMidpoint,
        order: 2,
        summary: "forces in the middle of the step, the step split where something comes to rest, breaks away or closes: exact stick, \
                  and vibration and rotation keep their energy",
    },
    MethodRow {
        name: "adaptive",
        method: Method::Adaptive,
        order: 5,
        summary: "explicit pair of orders 5 and 4 that chooses its own steps for a tolerance; `step` is the output interval",
    },
    MethodRow {
        name: "stiff",
        method: Method::Stiff,
        order: 2,
        summary: "implicit TR-BDF2 that chooses its own steps: for stiff contacts and bristles whose fast motion does not \
                  matter; `step` is the output interval",
    },
    MethodRow {
        name: "trapezoidal",
        method: Method::Trapezoidal,
        order: 2,
        summary: "implicit trapezoidal rule for masses, friction by the update of its law: keeps vibration; impacts need steps that resolve them",
    },
    MethodRow {
        name: "newmark",
        method: Method::Newmark,
        order: 2,
        summary: "Newmark's rule with friction linearised at the start of the step: of first order with friction (Ozaki, Hashiguchi and Chen 2007)",
    },
];

impl Method {
    /// The method with this name.
    pub fn named(name: &str) -> Option<Method> {
        METHODS.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// The registry row.
    pub fn row(self) -> &'static MethodRow {
        METHODS.iter().find(|row| row.method == self).unwrap_or(&METHODS[0])
    }

    /// Whether the method solves friction at the end of the step.
    pub fn implicit(self) -> bool {
        matches!(self, Method::ImplicitEuler | Method::ImplicitMidpoint)
    }

    /// Whether the method is one of Newmark's rules, which move masses and inertias only.
    pub fn moves_masses_only(self) -> bool {
        matches!(self, Method::Trapezoidal | Method::Newmark)
    }

    /// Whether the method chooses its own steps, and the step of the scenario is the interval of output.
    pub fn chooses_steps(self) -> bool {
        matches!(self, Method::Adaptive | Method::Stiff)
    }

    /// Whether the method is explicit with a given step, which must then resolve the stiffest element.
    pub fn needs_small_steps(self) -> bool {
        matches!(self, Method::Euler | Method::Rk4)
    }

    /// Whether the method is explicit in the states of bristles, whose relaxation the given step must then resolve.
    pub fn needs_small_steps_of_bristles(self) -> bool {
        self.needs_small_steps() || self == Method::Newmark
    }

    /// Moves a network that is small and plain up to so many steps, and keeps what a report needs of them. At the end its elements
    /// are observed. Returns how many steps were done: 0 leaves them to [`Method::run`].
    pub(crate) fn run_tallied(
        self,
        network: &Network,
        state: &mut NetworkState,
        scratch: &mut Scratch,
        report: (&mut Work, &mut Tallies),
        steps: u64,
    ) -> u64 {
        match self {
            Method::ImplicitEuler => implicit_euler::run_tallied(network, state, scratch, report, steps),
            Method::Euler => runge_kutta::run_tallied(&runge_kutta::EULER, network, state, scratch, report, steps),
            Method::Rk4 => runge_kutta::run_tallied(&runge_kutta::RK4, network, state, scratch, report, steps),
            _ => 0,
        }
    }

    /// Moves the network some steps. `OBSERVE` also notes what elements did, and their work.
    pub(crate) fn run<const OBSERVE: bool>(
        self,
        network: &Network,
        state: &mut NetworkState,
        scratch: &mut Scratch,
        work: &mut Work,
        steps: u64,
    ) -> Result<(), Halt> {
        match self {
            Method::Euler => runge_kutta::run::<OBSERVE, 1>(&runge_kutta::EULER, network, state, scratch, work, steps)?,
            Method::Rk4 => runge_kutta::run::<OBSERVE, 4>(&runge_kutta::RK4, network, state, scratch, work, steps)?,
            Method::ImplicitEuler => implicit_euler::run::<OBSERVE>(network, state, scratch, work, steps)?,
            Method::ImplicitMidpoint => implicit_midpoint::run::<OBSERVE>(network, state, scratch, work, steps)?,
            Method::Trapezoidal | Method::Newmark => newmark::run::<OBSERVE>(network, state, scratch, work, steps)?,
            Method::Adaptive | Method::Stiff => march::run::<OBSERVE>(network, state, scratch, work, steps)?,
        }
        Ok(())
    }
}

/// Short ways through the steps of a small network, where it has one.
struct Shortcuts {
    /// The implicit step of one free coordinate, on which nothing unusual acts.
    one_coordinate: Option<Box<one_coordinate::OneCoordinate>>,
    /// The explicit step of one or two masses or an arm of two hinges.
    fused: Option<Box<fused::Small>>,
}

/// The short ways of a network. They are found when they are asked for first, before any step: no step allocates.
#[inline(always)]
fn shortcuts(network: &Network) -> Option<&Shortcuts> {
    network.prepared.get(|| Shortcuts {
        one_coordinate: one_coordinate::OneCoordinate::of(network).map(Box::new),
        fused: fused::Small::of(network).map(Box::new),
    })
}

/// The short way through the implicit step, if the network has one.
#[inline(always)]
pub(crate) fn one_coordinate(network: &Network) -> Option<&one_coordinate::OneCoordinate> {
    shortcuts(network)?.one_coordinate.as_deref()
}

/// The short way through an explicit step, if the network has one.
#[inline(always)]
fn fused(network: &Network) -> Option<&fused::Small> {
    shortcuts(network)?.fused.as_deref()
}

/// Finds now what no step may allocate.
pub(crate) fn prepare(network: &Network) {
    let _ = shortcuts(network);
}

/// Why a method cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Halt {
    /// A number would not be finite.
    NotFinite { index: usize },
    /// No internal step is short enough; the number with the largest error is named.
    Stalled { index: usize, time: f64 },
    /// An output interval takes too many internal steps.
    TooManySteps { time: f64 },
    /// The equations of a step were not solved.
    Unsolved { time: f64 },
    /// It was told to stop within a step, which is left undone.
    Stopped,
}

impl From<NotFinite> for Halt {
    fn from(NotFinite { index }: NotFinite) -> Self {
        Halt::NotFinite { index }
    }
}

/// The step would make a number that is not finite; the state was left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite {
    /// Index in the flat state.
    pub index: usize,
}

/// Fewest steps in one call for which it pays to look at the network first.
pub(crate) const WORTHWHILE: u64 = 8;

/// Refuses numbers that are not finite. `check` is the sum of x·0 over all of `values`: 0 for every finite x and NaN
/// otherwise, so that one comparison takes the place of one for each number.
#[inline(always)]
pub(crate) fn finite(check: f64, values: &[f64]) -> Result<(), NotFinite> {
    if check == 0.0 {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(NotFinite { index }),
        None => Ok(()),
    }
}
