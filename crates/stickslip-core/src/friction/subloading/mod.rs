//! The time-dependent subloading-friction model (Ozaki, Hashiguchi and Chen 2007 and the paper on the trapezoidal update): friction as elastoplasticity whose friction
//! coefficient falls with plastic slip and heals with time.
//!
//! Symbols, in one dimension; q = −f is the resistance, F the normal force:
//!
//! - q = α·uᵉ, uᵉ the elastic stretch of the contact, u̇ᵉ = v − λ·t with t = q/|q| and λ ≥ 0 the rate of plastic slip;
//! - |q| = R·μ·F: the subloading surface always passes through q, so R is not a state of its own (Ozaki, Hashiguchi and Chen 2007, eq 12);
//! - μ̇ = g − h·λ, h = κ(μ/μ_k − 1)^m, g = η(1 − μ/μ_s)^n (Ozaki, Hashiguchi and Chen 2007, eq 16);
//! - Ṙ = U(R)·λ while λ > 0 (Ozaki, Hashiguchi and Chen 2007, eq 17); see [`Evolution`].
//!
//! There is no yield limit: below μ·F plastic slip is only slow, because U is large. Steady sliding has R = 1. The paper on the trapezoidal update
//! writes κ/μ_k and η/μ_s as κ and ξ.
//!
//! [`Subloading::rate`] is the differential equation, [`Subloading::return_map`] the step of given displacement by one of
//! three rules.

mod evolution;
mod rate;
mod update;

pub use evolution::{Evolution, OwnEvolution};
pub use rate::{Rate, SurfaceMotion, TractionRate};
pub use update::Mapped;

use super::{Bristle, FrictionLaw, Lift, Slip, curve::Curve, vector_state};
use crate::scalar::Real;
use crate::scalar::vector::{add, dot, norm, scale, sub};
use crate::sets::gsat;

/// How a step of given displacement is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// The slip of the step is the only unknown; R and (for exponents 1) μ follow by their exact flows. The unknown has a
    /// bracket that always holds a root: it cannot fail at any step. Second order.
    #[default]
    ExactFlow,
    /// The same; but a method that chooses its steps integrates the rates ([`Bristle::maps`]).
    Rates,
    /// The trapezoidal rule (the paper on the trapezoidal update, eqs 12-27): second order. The displacement must be that of a trapezoidal rule for
    /// the motion, ½·step·(v₀ + v₁).
    Trapezoidal,
    /// Backward differences: first order.
    Backward,
}

impl Update {
    /// Whether R and μ follow their flows.
    #[inline(always)]
    fn flows(self) -> bool {
        matches!(self, Update::ExactFlow | Update::Rates)
    }
}

/// How the equations of [`Update::Trapezoidal`] and [`Update::Backward`] are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newton {
    /// In a bracket, for the slip alone; values of the half step outside their range are brought back into it.
    #[default]
    Safeguarded,
    /// Newton's method for all unknowns from the trial state, as in the paper on the trapezoidal update. It can fail, and says so.
    AsPublished,
}

/// Parameters of the law.
#[derive(Clone, Copy, Debug)]
pub struct Subloading<R> {
    /// Friction coefficient after a long rest, μ_s.
    pub mu_static: R,
    /// Friction coefficient of fast sliding, μ_k.
    pub mu_kinetic: R,
    /// Friction coefficient at the start, μ₀.
    pub mu_initial: R,
    /// Tangential stiffness of the contact α.
    pub stiffness: R,
    /// κ: how fast plastic slip lowers μ, per length.
    pub kappa: R,
    /// η: how fast time raises μ, per time.
    pub eta: R,
    /// The exponents of both; `None` where both are 1: μ then has a closed form.
    pub exponents: Option<Exponents<R>>,
    /// r: how fast R approaches 1, per length of slip.
    pub r: R,
    /// τ_c: the force is q + τ_c·q̇. Not in the seeds; it damps the vibration of the contact.
    pub contact_time: R,
    /// The form of U(R).
    pub evolution: Evolution,
    /// How [`Bristle::advance`] takes a step.
    pub update: Update,
    /// How it solves.
    pub newton: Newton,
}

/// Exponents of the evolution of μ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponents<R> {
    /// m, that of the fall with slip.
    pub kappa: R,
    /// n, that of the rise with time.
    pub eta: R,
}

/// Why a set of parameters is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The parameter, as scenarios call it.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// State of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<R, const N: usize> {
    /// Elastic stretch uᵉ.
    pub stretch: [R; N],
    /// Friction coefficient μ, between μ_k and μ_s.
    pub mu: R,
    /// R at the end of the last step. It follows from the other states and the normal force then; keeping it tells
    /// [`Subloading::return_map`] what a change of the normal force does.
    pub ratio: R,
    /// Rate of plastic slip λ at the end of the last step; only [`Update::Trapezoidal`] asks for it.
    pub slip_rate: R,
}

impl<R: Real, const N: usize> State<R, N> {
    /// A contact without force.
    pub fn unloaded(mu: R) -> Self {
        State {
            stretch: [R::zero(); N],
            mu,
            ratio: R::zero(),
            slip_rate: R::zero(),
        }
    }
}

impl Subloading<f64> {
    /// A law with m = n = 1, U = −r·ln R and no contact time; none of the numbers is checked.
    pub fn plain(mu_static: f64, mu_kinetic: f64, stiffness: f64, kappa: f64, eta: f64, r: f64) -> Self {
        Subloading {
            mu_static,
            mu_initial: mu_static,
            mu_kinetic,
            stiffness,
            kappa,
            eta,
            exponents: None,
            r,
            contact_time: 0.0,
            evolution: Evolution::Log,
            update: Update::ExactFlow,
            newton: Newton::Safeguarded,
        }
    }

    /// The same law with other exponents m and n.
    pub fn with_exponents(self, kappa: f64, eta: f64) -> Self {
        Subloading {
            exponents: (kappa != 1.0 || eta != 1.0).then_some(Exponents { kappa, eta }),
            ..self
        }
    }

    /// Refuses parameters that describe no friction.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |parameter, reason| Err(Refusal { parameter, reason });
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let not_negative = |x: f64| x >= 0.0 && x.is_finite();
        if !positive(self.mu_kinetic) {
            return refuse("mu_kinetic", "the model divides by mu_kinetic: it must be above 0");
        }
        if !self.mu_static.is_finite() || self.mu_static < self.mu_kinetic {
            return refuse(
                "mu_static",
                "slip lowers friction from mu_static to mu_kinetic, so mu_static must not be below mu_kinetic",
            );
        }
        if !(self.mu_kinetic..=self.mu_static).contains(&self.mu_initial) {
            return refuse(
                "mu_initial",
                "friction begins between mu_kinetic and mu_static: slip and time keep it there",
            );
        }
        if !positive(self.stiffness) {
            return refuse("tangential_stiffness", "an elastic contact has a stiffness above 0");
        }
        if !not_negative(self.kappa) {
            return refuse("kappa", "slip must not raise friction: kappa must be 0 or more");
        }
        let exponents = self.exponents.unwrap_or(Exponents { kappa: 1.0, eta: 1.0 });
        if !positive(exponents.kappa) {
            return refuse("kappa_exponent", "the exponent must be above 0");
        }
        if !not_negative(self.eta) {
            return refuse("eta", "rest must not lower friction: eta must be 0 or more");
        }
        if !positive(exponents.eta) {
            return refuse("eta_exponent", "the exponent must be above 0");
        }
        if !positive(self.r) {
            return refuse("r", "sliding must approach the sliding limit: r must be above 0");
        }
        if !not_negative(self.contact_time) {
            return refuse("contact_time", "a time must be 0 or more");
        }
        Ok(())
    }

    /// The tangential stiffness down to which every motion has one answer: F times the steepest fall of μ with slip,
    /// F·κ(μ_s/μ_k − 1)^m. The denominator of Ozaki, Hashiguchi and Chen (2007), eq 25 is positive above it. At or below it the contact can snap:
    /// the motion alone does not tell the force.
    pub fn unique_above(&self, normal_force: f64) -> f64 {
        normal_force * self.softening(self.mu_static)
    }

    /// The same law in another kind of number.
    pub fn lift<T: Real>(&self) -> Subloading<T> {
        self.map(T::lit)
    }
}

/// Steady sliding and the coefficients that decide its linear stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady<R> {
    /// Friction coefficient; R = 1.
    pub mu: R,
    /// a = h(μ): fall of μ per plastic slip.
    pub fall: R,
    /// b = −∂μ̇/∂μ: rate at which μ returns to its steady value at this speed.
    pub relaxation: R,
}

impl<R: Real> Subloading<R> {
    /// Applies a function to every parameter.
    #[inline(always)]
    pub fn map<T: Real>(&self, f: impl Fn(R) -> T) -> Subloading<T> {
        Subloading {
            mu_static: f(self.mu_static),
            mu_initial: f(self.mu_initial),
            mu_kinetic: f(self.mu_kinetic),
            stiffness: f(self.stiffness),
            kappa: f(self.kappa),
            eta: f(self.eta),
            exponents: self.exponents.map(|Exponents { kappa, eta }| Exponents {
                kappa: f(kappa),
                eta: f(eta),
            }),
            r: f(self.r),
            contact_time: f(self.contact_time),
            evolution: self.evolution,
            update: self.update,
            newton: self.newton,
        }
    }

    /// h = κ(μ/μ_k − 1)^m: fall of μ per plastic slip (Ozaki, Hashiguchi and Chen 2007, eq 16).
    #[inline(always)]
    pub fn softening(&self, mu: R) -> R {
        self.kappa * power(mu / self.mu_kinetic - R::one(), self.exponents.map(|m| m.kappa))
    }

    /// h and dh/dμ.
    #[inline(always)]
    fn softening_and_slope(&self, mu: R) -> (R, R) {
        let (power, slope) = power_and_slope(mu / self.mu_kinetic - R::one(), self.exponents.map(|m| m.kappa));
        (self.kappa * power, self.kappa / self.mu_kinetic * slope)
    }

    /// g = η(1 − μ/μ_s)^n: rise of μ per time (Ozaki, Hashiguchi and Chen 2007, eq 16).
    #[inline(always)]
    pub fn healing(&self, mu: R) -> R {
        self.eta * power(R::one() - mu / self.mu_static, self.exponents.map(|n| n.eta))
    }

    /// g and dg/dμ.
    #[inline(always)]
    fn healing_and_slope(&self, mu: R) -> (R, R) {
        let (power, slope) = power_and_slope(R::one() - mu / self.mu_static, self.exponents.map(|n| n.eta));
        (self.eta * power, -self.eta / self.mu_static * slope)
    }

    /// ρ = g·time − h·slip, the change of μ over a step if it kept its first rate, and dρ/dμ.
    #[inline(always)]
    fn change_and_slope(&self, mu: R, slip: R, time: R) -> (R, R) {
        let (healing, healing_slope) = self.healing_and_slope(mu);
        let (softening, softening_slope) = self.softening_and_slope(mu);
        (
            healing * time - softening * slip,
            healing_slope * time - softening_slope * slip,
        )
    }

    /// U(R).
    #[inline(always)]
    pub fn approach(&self, ratio: R) -> R {
        self.r * self.evolution.speed(ratio)
    }

    /// Steady sliding at a speed above 0: R = 1 and h(μ)·v = g(μ), for exponents 1
    /// μ = (κv + η)/(κv/μ_k + η/μ_s).
    pub fn steady(&self, speed: R) -> Steady<R> {
        // Backward Euler over an endless step is the steady state; μ of a law without evolution stays where it is.
        let long = R::lit(1e30);
        let mu = self.implicit_mu(self.mu_static, speed * long, long);
        Steady {
            mu,
            fall: self.softening(mu),
            relaxation: -self.change_and_slope(mu, speed, R::one()).1,
        }
    }

    /// Coefficients c₃, c₂, c₁, c₀ of the polynomial whose roots are the growth rates of small disturbances of steady
    /// sliding, for a mass M drawn through a spring K: M(1−ε)s³ + M·b·s² + (K(1−ε) − F·a)s + K·b with ε = F·a/α. One more
    /// root is −r·v. Routh's criterion misses by −F·a·M·b: with κ, η > 0 and μ_s > μ_k steady sliding is unstable at every
    /// speed, mass and stiffness, and what looks stable is a small limit cycle.
    pub fn characteristic(&self, speed: R, normal_force: R, mass: R, spring: R) -> [R; 4] {
        let Steady { fall, relaxation, .. } = self.steady(speed);
        let drop = normal_force * fall;
        let stiff = R::one() - drop / self.stiffness;
        [
            mass * stiff,
            mass * relaxation,
            spring * stiff - drop,
            spring * relaxation,
        ]
    }
}

/// x^p for x ≥ 0, 0 below; x itself, also below 0, without an exponent.
#[inline(always)]
fn power<R: Real>(x: R, exponent: Option<R>) -> R {
    exponent.map_or(x, |exponent| R::zero().max(x).powf(exponent))
}

/// The same with its derivative, which is steep, but a number, at 0 where p < 1.
#[inline(always)]
fn power_and_slope<R: Real>(x: R, exponent: Option<R>) -> (R, R) {
    exponent.map_or((x, R::one()), |exponent| {
        let some = R::lit(1e-30).max(x);
        let power = some.powf(exponent);
        (R::select(R::zero().lt(x), power, R::zero()), exponent * power / some)
    })
}

/// Reads the states from the flat form: one vector, then three numbers, each in the place of a vector.
#[inline(always)]
fn read<R: Real, const N: usize>(state: &[R]) -> State<R, N> {
    State {
        stretch: vector_state(state, 0),
        mu: state[N],
        ratio: state[2 * N],
        slip_rate: state[3 * N],
    }
}

/// Writes the states in the flat form.
#[inline(always)]
fn write<R: Real, const N: usize>(state: &State<R, N>, next: &mut [R]) {
    next[..4 * N].fill(R::zero());
    next[..N].copy_from_slice(&state.stretch);
    next[N] = state.mu;
    next[2 * N] = state.ratio;
    next[3 * N] = state.slip_rate;
}

impl<R: Real> Subloading<R> {
    /// The whole force on the first body: resistance, contact time, viscosity. NaN where Newton's method as published failed:
    /// the run then ends there.
    #[inline(always)]
    fn force<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        resistance: [R; N],
        stretch_rate: [R; N],
        velocity: [R; N],
        failed: R::Mask,
    ) -> [R; N] {
        let damping = scale(stretch_rate, self.contact_time * self.stiffness);
        let viscous = scale(velocity, curve.viscous());
        let resisting = add(add(resistance, damping), viscous);
        resisting.map(|q| R::select(failed, R::lit(f64::NAN), -q))
    }
}

impl<R: Real> Bristle<R> for Subloading<R> {
    const STATES: usize = 4;
    const VECTORS: usize = 1;
    const KNOWS_LOAD_RATE: bool = true;

    /// The differential equation with a normal force taken as constant.
    #[inline(always)]
    fn respond<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        self.respond_to_changing_load(curve, slip, R::zero(), state, tau, rate)
    }

    /// The differential equation; see [`Subloading::rate`]. R and λ are not states of it and keep their values.
    #[inline(always)]
    fn respond_to_changing_load<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        load_rate: R,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        let State { stretch, mu, .. } = read::<R, N>(state);
        let moved = self.rate(stretch, mu, slip.velocity, slip.load, load_rate, tau);
        rate[..4 * N].fill(R::zero());
        rate[..N].copy_from_slice(&moved.stretch_rate);
        rate[N] = moved.mu_rate;
        let sound = R::zero().lt(R::zero());
        self.force(curve, moved.resistance, moved.damped_rate, slip.velocity, sound)
    }

    #[inline(always)]
    fn advance<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        let before = read::<R, N>(state);
        let mapped = self.return_map(&before, scale(slip.velocity, step), slip.load, step);
        write(&mapped.state, next);
        // A contact that has opened lets its stretch go without a force.
        let closed = R::select(R::zero().lt(slip.load), R::one(), R::zero());
        let stretch_rate = scale(sub(mapped.state.stretch, before.stretch), closed / step);
        self.force(curve, mapped.resistance, stretch_rate, slip.velocity, mapped.failed)
    }

    /// The contact time sees the rate at the end of the step, so that it does not lower the order.
    #[inline(always)]
    fn advance_to<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        end: [R; N],
        load_rate: R,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        let guess = next[3 * N] * step;
        let (before, moved) = (read::<R, N>(state), scale(slip.velocity, step));
        let mapped = self.return_map_near(&before, moved, slip.load, step, guess);
        write(&mapped.state, next);
        let State { stretch, mu, .. } = mapped.state;
        let moved = self.rate(stretch, mu, end, slip.load, load_rate, R::zero());
        self.force(curve, mapped.resistance, moved.damped_rate, end, mapped.failed)
    }

    /// Stretch, coefficient, and the slip since the bodies met; in a contact the law goes by its rates.
    fn kept<const N: usize>() -> usize {
        N + 2
    }

    /// The differential equation of a contact that closes and opens: R begins at 0 where bodies meet, and the slip since then bounds it.
    #[inline(always)]
    fn respond_in_contact<C: Curve<R>, const N: usize>(
        &self,
        curve: &C,
        slip: &Slip<R, N>,
        load_rate: R,
        state: &[R],
        tau: R,
        rate: &mut [R],
    ) -> [R; N] {
        let stretch = vector_state(state, 0);
        let (mu, slipped) = (state[N], state[N + 1]);
        let most = self.evolution.ratio(self.r * R::zero().max(slipped));
        let moved = self.rate_below(most, stretch, mu, slip.velocity, slip.load, load_rate, tau);
        let speed = norm(slip.velocity);
        // Bodies that part begin anew.
        let stepped = R::zero().lt(tau);
        let forgets = self.r * speed;
        let forgets = R::select(
            stepped,
            forgets.min(R::one() / R::select(stepped, tau, R::one())),
            forgets,
        );
        rate.fill(R::zero());
        rate[..N].copy_from_slice(&moved.stretch_rate);
        rate[N] = moved.mu_rate;
        rate[N + 1] = R::select(R::zero().lt(slip.load), speed.max(moved.slip_rate), -slipped * forgets);
        // What the contact time adds is friction too: a contact that is just touching holds nothing.
        let damped = add(
            moved.resistance,
            scale(moved.damped_rate, self.contact_time * self.stiffness),
        );
        let resisting = add(gsat(mu * slip.load, damped), scale(slip.velocity, curve.viscous()));
        scale(resisting, -R::one())
    }

    /// It begins unloaded, with the coefficient of a long rest unless another is given (Ozaki, Hashiguchi and Chen 2007, section 4.1: μ₀ = μ_s).
    fn begin<const N: usize>(&self, state: &mut [R]) {
        state[N] = self.mu_initial;
    }

    /// The exact flows are of second order; other updates are not, or not for steps of any length.
    fn maps<const N: usize>(&self) -> bool {
        self.update == Update::ExactFlow
    }

    /// Stretch and μ.
    const MAPPED: usize = 2;

    /// R of the present load.
    fn restore<const N: usize>(&self, state: &mut [R], load: R) {
        state[2 * N] = self.carried::<N>(state, load);
    }

    fn stored<const N: usize>(&self, state: &[R]) -> R {
        let stretch: [R; N] = vector_state(state, 0);
        self.stiffness * R::lit(0.5) * dot(stretch, stretch)
    }

    /// R, at most 1.
    fn carried<const N: usize>(&self, state: &[R], load: R) -> R {
        let State { stretch, mu, .. } = read::<R, N>(state);
        let limit = mu * load;
        let loaded = R::zero().lt(limit);
        let ratio = self.stiffness * norm(stretch) / R::select(loaded, limit, R::one());
        R::select(loaded, ratio.min(R::one()), R::zero())
    }

    #[inline]
    fn sticks<C: Curve<R>, const N: usize>(&self, _curve: &C, slip: &Slip<R, N>, state: &[R]) -> R::Mask {
        let State { stretch, mu, .. } = read::<R, N>(state);
        let moved = self.rate(stretch, mu, slip.velocity, slip.load, R::zero(), R::zero());
        !R::zero().lt(moved.slip_rate)
    }
}

impl Lift for Subloading<f64> {
    type Of<R: Real> = Subloading<R>;

    const LANES: bool = false;

    #[inline(always)]
    fn lift<R: Real>(&self, number: impl Fn(fn(&Self) -> f64) -> R) -> Subloading<R> {
        Subloading {
            mu_static: number(|law| law.mu_static),
            mu_initial: number(|law| law.mu_initial),
            mu_kinetic: number(|law| law.mu_kinetic),
            stiffness: number(|law| law.stiffness),
            kappa: number(|law| law.kappa),
            eta: number(|law| law.eta),
            exponents: self.exponents.map(|_| Exponents {
                kappa: number(|law| law.exponents.map_or(1.0, |exponents| exponents.kappa)),
                eta: number(|law| law.exponents.map_or(1.0, |exponents| exponents.eta)),
            }),
            r: number(|law| law.r),
            contact_time: number(|law| law.contact_time),
            evolution: self.evolution,
            update: self.update,
            newton: self.newton,
        }
    }
}

impl FrictionLaw for Subloading<f64> {
    const NAME: &'static str = "subloading";

    /// Error floor for μ; without it a method that chooses its steps over-resolves μ where healing or softening is infinitely steep.
    fn sizes<const N: usize>(&self, sizes: &mut [f64]) {
        sizes[N] = 0.01 * self.mu_static;
    }

    /// The stretch is that which holds a weight; where none is known, the slip in which it grows.
    fn sizes_in_contact<const N: usize>(&self, weight: f64, sizes: &mut [f64]) {
        let stretch = if weight > 0.0 {
            weight / self.stiffness
        } else {
            1.0 / self.r
        };
        sizes[..N].fill(stretch);
        self.sizes::<N>(sizes);
        sizes[N + 1] = 1.0 / self.r;
    }
}

/// The direction of a vector and its length. A stretch below 1e-100 m counts as none and has no direction: derivatives of
/// the quotient would overflow.
#[inline(always)]
fn direction<R: Real, const N: usize>(x: [R; N]) -> ([R; N], R) {
    let length = norm(x);
    let some = R::lit(1e-100).lt(length);
    let length = R::select(some, length, R::zero());
    if N == 1 {
        return ([R::select(some, R::one().copysign(x[0]), R::zero()); N], length);
    }
    let divisor = R::select(some, length, R::one());
    (x.map(|x| R::select(some, x / divisor, R::zero())), length)
}
