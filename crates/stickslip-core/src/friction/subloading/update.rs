//! A step of given displacement: return mappings and their consistent tangents.

use super::evolution::FACTORIALS;
use super::{Evolution, Newton, State, Subloading, Update, direction};
use crate::roots::{self, HALVINGS, NEWTON_ROUNDS};
use crate::scalar::vector::{add, dot, scale, sub};
use crate::scalar::{Mask, Real};

/// Outcome of a step of given displacement.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<R: Real, const N: usize> {
    /// Resistance q at the end of the step; without the part of the contact time.
    pub resistance: [R; N],
    /// State at the end of the step.
    pub state: State<R, N>,
    /// ∂q_i/∂Δu_j at `[i][j]` (the paper on the trapezoidal update, eqs 28-31).
    pub tangent: [[R; N]; N],
    /// ∂q/∂F: how the resistance follows the normal force at the end of the step.
    pub normal_tangent: [R; N],
    /// Whether the step slipped plastically.
    pub plastic: R::Mask,
    /// Where true, Newton's method as published did not converge; the step then is the elastic one.
    pub failed: R::Mask,
    /// Rounds of the solver; of the slowest lane.
    pub rounds: usize,
}

/// Where the step begins, for a rule with the weight `time` of its end: ½·step or step.
#[derive(Clone, Copy)]
struct Start<R> {
    mu: R,
    ratio: R,
    /// Travel of the exact flow at `ratio`.
    travel: R,
    time: R,
}

/// R and μ after a slip, and their derivatives with respect to it.
#[derive(Clone, Copy)]
struct Point<R> {
    ratio: R,
    ratio_slope: R,
    mu: R,
    mu_slope: R,
}

impl<R: Real> Point<R> {
    /// What the contact carries per normal force, R·μ.
    #[inline(always)]
    fn strength(&self) -> R {
        self.ratio * self.mu
    }

    /// d(R·μ)/d(slip).
    #[inline(always)]
    fn strength_slope(&self) -> R {
        self.ratio_slope * self.mu + self.ratio * self.mu_slope
    }
}

/// What a value of the unknown of a step gives.
#[derive(Clone, Copy)]
struct Outcome<R> {
    slip: R,
    /// d(slip)/d(unknown).
    slip_slope: R,
    point: Point<R>,
    /// Elastic force less what the contact carries: 0 at the solution.
    excess: R,
    /// Minus d(excess)/d(unknown).
    fall: R,
}

impl<R: Real> Outcome<R> {
    /// The outcome after a change of the unknown so small that nothing but a derivative sees it.
    #[inline(always)]
    fn follow(&self, change: R) -> Self {
        let slipped = self.slip_slope * change;
        Outcome {
            slip: self.slip + slipped,
            point: Point {
                ratio: self.point.ratio + self.point.ratio_slope * slipped,
                mu: self.point.mu + self.point.mu_slope * slipped,
                ..self.point
            },
            ..*self
        }
    }

    #[inline(always)]
    fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        let either = |yes, no| R::select(mask, yes, no);
        Outcome {
            slip: either(yes.slip, no.slip),
            slip_slope: either(yes.slip_slope, no.slip_slope),
            point: Point {
                ratio: either(yes.point.ratio, no.point.ratio),
                ratio_slope: either(yes.point.ratio_slope, no.point.ratio_slope),
                mu: either(yes.point.mu, no.point.mu),
                mu_slope: either(yes.point.mu_slope, no.point.mu_slope),
            },
            excess: either(yes.excess, no.excess),
            fall: either(yes.fall, no.fall),
        }
    }

    /// That of a step without slip.
    #[inline(always)]
    fn none(start: &Start<R>) -> Self {
        Outcome {
            slip: R::zero(),
            slip_slope: R::one(),
            point: Point {
                ratio: start.ratio,
                ratio_slope: R::zero(),
                mu: start.mu,
                mu_slope: R::zero(),
            },
            excess: R::zero(),
            fall: R::one(),
        }
    }
}

/// A value of the unknown that solves the step.
#[derive(Clone, Copy)]
struct Solved<R: Real> {
    unknown: R,
    outcome: Outcome<R>,
    failed: R::Mask,
    rounds: usize,
}

/// The way of the stretch through a step, for the exact flow in more than one dimension: elastic to `from`, from there on with slip.
/// Both parts together are the trial stretch.
#[derive(Clone, Copy)]
struct Path<R, const N: usize> {
    from: [R; N],
    along: [R; N],
    /// ∂from_i/∂Δu_j at `[i][j]`; `along` has the rest of the unit matrix.
    from_gradient: [[R; N]; N],
    /// ∂R₀/∂Δu.
    ratio_gradient: [R; N],
}

/// The stretch on a [`Path`] with a = ∫λ/|uᵉ| dt, and what follows from it.
#[derive(Clone, Copy)]
struct Stretched<R, const N: usize> {
    /// e^(−a), φ(a) and ψ(a): what is left of `from`, of `along`, and what both give to the mean.
    decay: Decay<R>,
    /// Direction and length of the stretch.
    direction: [R; N],
    length: R,
    /// Direction of the plastic slip, and its length.
    slip_direction: [R; N],
    slip: R,
    /// d(plastic slip)/da = −d(stretch)/da.
    drift: [R; N],
}

/// e^(−a), φ = (1 − e^(−a))/a, its derivative, and ψ = (1 − φ)/a.
#[derive(Clone, Copy)]
struct Decay<R> {
    rest: R,
    mean: R,
    mean_slope: R,
    second: R,
}

/// A change of the unknown, relative to the length on which the contact changes, after which another would be below rounding.
const LAST_CHANGE: f64 = 1e-11;
/// What stands for the end of a bracket that has none.
const ENDLESS: f64 = 1e30;
/// Rounds of Newton's method as published before it counts as failed.
const PUBLISHED_ROUNDS: usize = 50;

/// φ = (1 − e^(−a))/a for a ≥ 0, and dφ/da: up to a = 1 by φ = e^(−a/2)·sinh(a/2)/(a/2) and the series of the quotient in a²/4.
#[inline]
fn mean_decay<R: Real>(a: R) -> (R, R) {
    // 1/(2k+1)!
    const COEFFICIENTS: [f64; 9] = [
        1.0,
        1.0 / 6.0,
        1.0 / 120.0,
        1.0 / 5040.0,
        1.0 / 362_880.0,
        1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    let near = a.le(R::one());
    let half = R::select(near, a, R::zero()) * R::lit(0.5);
    let square = half * half;
    let (mut sum, mut slope) = (R::zero(), R::zero());
    for coefficient in COEFFICIENTS.into_iter().rev() {
        slope = slope * square + sum;
        sum = sum * square + R::lit(coefficient);
    }
    let decay = (-half).exp();
    let (mean, fall) = (decay * sum, decay * (slope * half - sum * R::lit(0.5)));
    if near.all() {
        return (mean, fall);
    }
    let large = R::select(near, R::one(), a);
    let decay = (-large).exp();
    let quotient = (R::one() - decay) / large;
    (
        R::select(near, mean, quotient),
        R::select(near, fall, (decay - quotient) / large),
    )
}

impl<R: Real> Decay<R> {
    #[inline]
    fn new(a: R) -> Self {
        let (mean, mean_slope) = mean_decay(a);
        // ψ = Σ (−a)^k/(k+2)! where a is small.
        let near = a.le(R::one());
        let small = R::select(near, a, R::zero());
        let mut second = R::zero();
        for factorial in FACTORIALS[1..].iter().rev() {
            second = R::lit(1.0 / factorial) - small * second;
        }
        let large = R::select(near, R::one(), a);
        Decay {
            rest: (-a).exp(),
            mean,
            mean_slope,
            second: R::select(near, second, (R::one() - mean) / large),
        }
    }
}

impl<R: Real, const N: usize> Path<R, N> {
    /// The stretch where slip turns it as if λ/|uᵉ| were constant: u̇ᵉ = Δu̇ − (λ/|uᵉ|)·uᵉ is linear then, and uᵉ = e^(−a)·from +
    /// φ(a)·along. A constant of second order is enough for a step of second order, and however long the step is, the stretch ends
    /// in the direction of the motion, as it should.
    #[inline]
    fn stretch(&self, a: R) -> Stretched<R, N> {
        let decay = Decay::new(a);
        let mix = |of_from: R, of_along: R| add(scale(self.from, of_from), scale(self.along, of_along));
        let (direction_at_end, length) = direction(mix(decay.rest, decay.mean));
        // Plastic slip is what the trial stretch has lost: (1 − e^(−a))·from + (1 − φ)·along = a·(φ·from + ψ·along).
        let (slip_direction, mean) = direction(mix(decay.mean, decay.second));
        Stretched {
            decay,
            direction: direction_at_end,
            length,
            slip_direction,
            slip: a * mean,
            drift: mix(decay.rest, -decay.mean_slope),
        }
    }
}

impl<R: Real> Subloading<R> {
    /// μ after a slip spread evenly over a time, and dμ/d(slip).
    ///
    /// With exponents 1 the equation is linear and μ exact: with a = (η/μ_s)·time + (κ/μ_k)·slip and φ = (1 − e^(−a))/a,
    /// μ = μ₀ + φ(a)·(g(μ₀)·time − h(μ₀)·slip). With others a is minus the slope of the chord of ρ(μ) = g(μ)·time − h(μ)·slip from
    /// μ₀ to the μ that is found: of second order, and however long the step is, μ ends between μ₀ and the μ of the steady state.
    #[inline]
    fn flow_mu(&self, start: R, slip: R, time: R) -> (R, R) {
        let softening = self.softening(start);
        let change = self.healing(start) * time - softening * slip;
        if self.exponents.is_some() {
            return self.flow_mu_of_exponents(start, slip, time, softening, change);
        }
        let per_slip = self.kappa / self.mu_kinetic;
        let decay = self.eta / self.mu_static * time + per_slip * slip;
        let (phi, phi_slope) = mean_decay(decay);
        (start + phi * change, phi_slope * per_slip * change - phi * softening)
    }

    /// The same for any exponents. With y minus the slope of the chord, μ = μ₀ + φ(y)·ρ₀ says that ρ falls to ρ₀·e^(−y) on the way:
    /// μ − μ₀ is the logarithmic mean of both. ρ falls with μ, so there is one solution, between μ₀ and where ρ is 0.
    #[inline]
    fn flow_mu_of_exponents(&self, start: R, slip: R, time: R, softening: R, change: R) -> (R, R) {
        let rising = R::zero().lt(change);
        let low = R::select(rising, start, start.min(self.mu_kinetic));
        let high = R::select(rising, start.max(self.mu_static), start);
        let steepness = self.change_and_slope(start, slip, time).1;
        // Where μ ends by this chord, less μ, and its slope with μ: the chord is as steep as ρ where it has no length.
        let at = |mu: R| {
            let far = mu - start;
            let apart = !far.same(R::zero());
            let (rate, slope) = self.change_and_slope(mu, slip, time);
            let secant = (rate - change) / R::select(apart, far, R::one());
            // ρ falls; what rounding makes of a short chord must not say otherwise.
            let secant = R::select(apart, secant.min(R::zero()), steepness);
            let (phi, phi_slope) = mean_decay(-secant);
            let turning = phi_slope / phi;
            (far - phi * change, R::one() + turning * (slope - secant), phi, turning)
        };
        // The tangent at the start is of second order, too; at an end of the range it can be very steep.
        let guess = start + mean_decay(-steepness).0 * change;
        let inside = low.lt(guess) & guess.lt(high);
        let still = change.same(R::zero());
        let first = R::select(still, start, R::select(inside, guess, (low + high) * R::lit(0.5)));
        let mu = roots::within(
            [low, high],
            first,
            still,
            |mu| {
                let (excess, slope, ..) = at(mu);
                (excess, slope)
            },
            |mu, newton, excess, inside| {
                let close = (newton - mu).abs().le(self.mu_static * R::lit(LAST_CHANGE));
                close & inside | excess.same(R::zero())
            },
        );
        let (_, slope, phi, turning) = at(mu);
        let by_slip = softening * phi - turning * (self.softening(mu) - softening);
        (mu, -by_slip / slope)
    }

    /// The μ that solves μ = μ₀ + g(μ)·time − h(μ)·slip (the paper on the trapezoidal update, eq 24): the difference of both sides rises with μ, is not
    /// positive at min(μ₀, μ_k) and not negative at max(μ₀, μ_s).
    #[inline]
    pub(super) fn implicit_mu(&self, start: R, slip: R, time: R) -> R {
        if self.exponents.is_none() {
            let falling = self.kappa / self.mu_kinetic * slip + self.eta / self.mu_static * time;
            return (start + self.kappa * slip + self.eta * time) / (R::one() + falling);
        }
        let low = start.min(self.mu_kinetic);
        let high = start.max(self.mu_static);
        // With an exponent below 1 the slope is infinite at an end of the range, and Newton's method would stay there.
        let middle = (low + high) * R::lit(0.5);
        let first = R::select(low.lt(start) & start.lt(high), start, middle);
        let mu = roots::within(
            [low, high],
            first,
            R::zero().lt(R::zero()),
            |mu| {
                let (change, steepness) = self.change_and_slope(mu, slip, time);
                (mu - start - change, R::one() - steepness)
            },
            |mu, newton, _, _| (self.mu_static + (newton - mu) * R::lit(0.25)).same(self.mu_static),
        );
        // One more round makes the derivative of a dual number exact; it moves the value by rounding only.
        let (change, steepness) = self.change_and_slope(mu, slip, time);
        mu - (mu - start - change) / (R::one() - steepness)
    }

    /// The R that solves R = R₀ + U(R)·slip for 0 ≤ R₀ ≤ 1 (the paper on the trapezoidal update, eq 25).
    ///
    /// U = r(1−R)/R leaves a quadratic. With U = −r·ln R and s = ln R it is e^s + G·s = R₀, G = r·slip: convex and rising in
    /// s, so Newton's method from s = 0, at or right of the root, comes down to it without a safeguard.
    #[inline]
    fn implicit_ratio(&self, start: R, slip: R) -> R {
        let g = self.r * slip;
        match self.evolution {
            Evolution::Ratio => {
                let half = (start - g) * R::lit(0.5);
                let discriminant = half * half + g;
                let tiny = R::lit(1e-30);
                let root = R::select(tiny.lt(discriminant), discriminant, tiny).sqrt();
                let sum = half.abs() + root;
                R::select(half.lt(R::zero()), g / sum, sum)
            }
            Evolution::Log => {
                let mut s = R::zero();
                let mut settled = R::zero().lt(R::zero());
                for _ in 0..100 {
                    let power = s.exp();
                    let change = (power + g * s - start) / (power + g);
                    let size = R::one() + s.abs();
                    let near = (size + change * R::lit(0.25)).same(size);
                    s = R::select(settled, s, s - change);
                    settled = settled | near;
                    if settled.all() {
                        break;
                    }
                }
                let power = s.exp();
                (s - (power + g * s - start) / (power + g)).exp()
            }
            Evolution::Own(_) => self.implicit_ratio_of_own(start, g),
        }
    }

    /// The same for a U of the user's own: R − G·U/r rises with R, is not positive near 0 and not negative at 1.
    fn implicit_ratio_of_own(&self, start: R, g: R) -> R {
        let excess = |ratio: R| {
            let slope = R::one() - g * self.evolution.speed_slope(ratio);
            (ratio - g * self.evolution.speed(ratio) - start, slope)
        };
        let first = R::select(R::zero().lt(start) & start.lt(R::one()), start, R::lit(0.5));
        let ratio = roots::within(
            [R::zero(), R::one()],
            first,
            R::zero().lt(R::zero()),
            excess,
            |ratio, newton, _, _| (ratio + (newton - ratio) * R::lit(0.25)).same(ratio),
        );
        // One more round makes the derivative of a dual number exact; it moves the value by rounding only.
        let (value, slope) = excess(ratio);
        (ratio - value / slope).clamp(R::zero(), R::one())
    }

    /// R and μ after a slip.
    #[inline]
    fn after(&self, start: &Start<R>, slip: R) -> Point<R> {
        if self.update.flows() {
            let (ratio, speed) = self.evolution.flow(start.travel + self.r * slip);
            let (mu, mu_slope) = self.flow_mu(start.mu, slip, start.time);
            return Point {
                ratio,
                ratio_slope: self.r * speed,
                mu,
                mu_slope,
            };
        }
        let ratio = self.implicit_ratio(start.ratio, slip);
        let mu = self.implicit_mu(start.mu, slip, start.time);
        Point {
            ratio,
            ratio_slope: self.implicit_ratio_slope(ratio, slip),
            mu,
            mu_slope: self.implicit_mu_slope(mu, slip, start.time),
        }
    }

    /// dR/d(slip) of the implicit rule (the paper on the trapezoidal update, eq 31).
    #[inline(always)]
    fn implicit_ratio_slope(&self, ratio: R, slip: R) -> R {
        self.approach(ratio) / (R::one() - self.r * self.evolution.speed_slope(ratio) * slip)
    }

    /// dμ/d(slip) of the implicit rule (the paper on the trapezoidal update, eq 30).
    #[inline(always)]
    fn implicit_mu_slope(&self, mu: R, slip: R, time: R) -> R {
        -self.softening(mu) / (R::one() - self.change_and_slope(mu, slip, time).1)
    }

    /// The slip that solves α·(L − slip) = R·μ·F, L the length of the trial stretch: the left side is larger at slip 0 where
    /// the step is plastic, and not larger at slip L. The bracket [0, L] always holds a root, whatever the step. It is the
    /// only one if α ≥ F·κ(μ_s/μ_k − 1)^m; else the one nearest to slip 0 is that of a contact that has not snapped, which
    /// Newton's method from 0 finds: the excess is convex until the contact falls fastest, and concave from there on.
    #[inline]
    fn solve(&self, start: &Start<R>, length: R, normal_force: R, plastic: R::Mask, guess: R) -> Solved<R> {
        let whole = self.stiffness * length;
        let at = |slip: R| {
            let point = self.after(start, slip);
            Outcome {
                slip,
                slip_slope: R::one(),
                point,
                excess: self.stiffness * (length - slip) - point.strength() * normal_force,
                fall: self.stiffness + point.strength_slope() * normal_force,
            }
        };
        self.search::<false>(start, whole, length, plastic, guess, at)
    }

    /// The a that solves α·|uᵉ(a)| = R·μ·F on a path. The slip rises from 0 with a and the stretch falls to 0, as the two parts of the
    /// path do not point against each other: the bracket [0, ∞) always holds a root.
    #[inline]
    fn solve_on_path<const N: usize>(
        &self,
        start: &Start<R>,
        path: &Path<R, N>,
        length: R,
        normal_force: R,
        plastic: R::Mask,
        guess: R,
    ) -> Solved<R> {
        let whole = self.stiffness * length;
        let at = |a: R| {
            let stretched = path.stretch(a);
            let point = self.after(start, stretched.slip);
            let slip_slope = dot(stretched.slip_direction, stretched.drift);
            let shortening = dot(stretched.direction, stretched.drift);
            Outcome {
                slip: stretched.slip,
                slip_slope,
                point,
                excess: self.stiffness * stretched.length - point.strength() * normal_force,
                fall: self.stiffness * shortening + point.strength_slope() * slip_slope * normal_force,
            }
        };
        // a = slip/|uᵉ| at the end, as backward differences have it.
        let left = length - guess;
        let some = R::zero().lt(guess) & R::zero().lt(left);
        let a = R::select(some, guess / R::select(some, left, R::one()), R::zero());
        self.search::<true>(start, whole, R::lit(ENDLESS), plastic, a, at)
    }

    /// Newton's method in a bracket from 0 to `high`. Without an end (`OPEN`) it works on 1/(1 + unknown), in which a long step is
    /// nearly linear.
    #[inline(always)]
    fn search<const OPEN: bool>(
        &self,
        start: &Start<R>,
        whole: R,
        mut high: R,
        plastic: R::Mask,
        guess: R,
        at: impl Fn(R) -> Outcome<R>,
    ) -> Solved<R> {
        let mut low = R::zero();
        let mut x = R::select(plastic, guess.clamp(R::zero(), high), R::zero());
        let mut settled = !plastic;
        let mut rounds = 0;
        let mut found = Outcome::none(start);
        while rounds < NEWTON_ROUNDS + HALVINGS && !settled.all() {
            let outcome = at(x);
            let Outcome {
                slip_slope,
                excess,
                fall,
                ..
            } = outcome;
            let above = R::zero().lt(excess);
            low = R::select(above, x, low);
            high = R::select(above, high, x);
            let falling = R::zero().lt(fall);
            let change = excess / R::select(falling, fall, R::one());
            let (newton, halved) = if OPEN {
                let part = change / (R::one() + x);
                let finite = part.lt(R::one());
                let newton = (x + part) / R::select(finite, R::one() - part, R::one());
                let product = low * high;
                let halved = (low + high + product + product) / (R::lit(2.0) + low + high);
                (R::select(finite, newton, high), halved)
            } else {
                (x + change, (low + high) * R::lit(0.5))
            };
            let usable = falling & low.lt(newton) & newton.lt(high);
            let next = if rounds < NEWTON_ROUNDS {
                R::select(usable, newton, halved)
            } else {
                halved
            };
            let small = (whole + excess * R::lit(0.125)).same(whole);
            // The contact changes with the slip from the start of the step and over 1/r of it.
            let scale = x * R::lit(LAST_CHANGE);
            let moved = (newton - x).abs();
            let near = falling & moved.le(scale) & (moved * self.r * slip_slope).le(R::lit(LAST_CHANGE));
            // A bracket across which the force does not change holds nothing more: R₀ comes back from its travel with rounding, and the
            // root can be at 0, to which halvings get no nearer.
            let even = falling & (whole + fall * (high - low) * R::lit(0.125)).same(whole);
            let closed = halved.same(low) | halved.same(high) | even;
            let done = small | near | closed;
            // The last change is one of Newton's method: that makes the derivative of a dual number exact. Its value is next to
            // nothing, so that the outcome follows it in proportion.
            let slight = falling & (moved * slip_slope * self.stiffness).le(whole * R::lit(1e-6));
            let last = R::select(slight, R::zero().max(newton), x);
            // A lane that has settled keeps its root, so that it does not depend on its neighbours.
            found = Outcome::select(settled, found, outcome.follow(last - x));
            x = R::select(settled, x, R::select(done, last, next));
            settled = settled | done;
            rounds += 1;
        }
        Solved {
            unknown: x,
            outcome: found,
            failed: R::zero().lt(R::zero()),
            rounds,
        }
    }

    /// A guess of the slip, or 0 where the root nearest to 0 must be found.
    #[inline]
    fn guess(&self, guess: R, mu: R, normal_force: R) -> R {
        let unique = (self.softening(mu) * normal_force).le(self.stiffness * R::lit(1.0 + 1e-9));
        R::select(unique, guess, R::zero())
    }

    /// Newton's method for stretch, slip, μ and R together from the trial state, as published (the paper on the trapezoidal update, eqs 23-26).
    ///
    /// The four linear equations of a round are eliminated by hand; the iterates are those of the whole system.
    #[inline]
    fn solve_as_published(&self, start: &Start<R>, length: R, normal_force: R, plastic: R::Mask) -> Solved<R> {
        let mut slip = R::zero();
        let mut mu = self.implicit_mu(start.mu, R::zero(), start.time);
        // At R = 0 the trial state of seed 002 has an infinite U; the R that carries the trial force takes its place.
        let loaded = R::zero().lt(normal_force);
        let carried = self.stiffness * length / R::select(loaded, mu * normal_force, R::one());
        let mut ratio = R::select(R::zero().lt(start.ratio), start.ratio, carried.min(R::one()));
        let mut settled = !plastic;
        let whole = self.stiffness * length;
        let mut rounds = 0;
        // One round more than needed: it makes the derivative of a dual number exact.
        let mut last = settled;
        while rounds < PUBLISHED_ROUNDS && !last.all() {
            let (mu_change, mu_steepness) = self.change_and_slope(mu, slip, start.time);
            let (mu_excess, mu_gradient) = (mu - start.mu - mu_change, R::one() - mu_steepness);
            let ratio_excess = ratio - start.ratio - self.approach(ratio) * slip;
            let ratio_gradient = R::one() - self.r * self.evolution.speed_slope(ratio) * slip;
            let mu_slope = self.implicit_mu_slope(mu, slip, start.time);
            let ratio_slope = self.implicit_ratio_slope(ratio, slip);
            let (mu_part, ratio_part) = (-mu_excess / mu_gradient, -ratio_excess / ratio_gradient);
            let slope = ratio * mu_slope + mu * ratio_slope;
            let carried = (ratio * mu + mu * ratio_part + ratio * mu_part) * normal_force;
            let excess = self.stiffness * (length - slip) - carried;
            let slip_part = excess / (self.stiffness + slope * normal_force);
            let mu_part = mu_part + mu_slope * slip_part;
            let ratio_part = ratio_part + ratio_slope * slip_part;
            let small = |x: R, of: R| x.abs().le(of * R::lit(1e-13));
            let near = small(self.stiffness * slip_part, whole) & small(mu_part, mu) & small(ratio_part, ratio);
            slip = R::select(last, slip, slip + slip_part);
            mu = R::select(last, mu, mu + mu_part);
            ratio = R::select(last, ratio, ratio + ratio_part);
            last = last | (settled & near);
            settled = settled | near;
            rounds += 1;
        }
        // NaN compares false: it is a failure.
        let sound = last & R::zero().le(slip) & R::zero().lt(ratio) & R::zero().lt(mu);
        let point = Point {
            ratio,
            ratio_slope: self.implicit_ratio_slope(ratio, slip),
            mu,
            mu_slope: self.implicit_mu_slope(mu, slip, start.time),
        };
        Solved {
            unknown: slip,
            outcome: Outcome {
                slip,
                point,
                ..Outcome::none(start)
            },
            failed: plastic & !sound,
            rounds,
        }
    }

    /// The state after a step of displacement Δu under the normal force at its end.
    ///
    /// The trial stretch is that of an elastic step; where it exceeds what R and μ carry, plastic slip shortens it: in its
    /// own direction, which is of first order in the direction of the force for backward differences, of second for the
    /// trapezoidal rule; for [`Update::ExactFlow`] in the direction that changes on the way, of second order. A change of the
    /// normal force needs no rate: R of the last step is a state.
    ///
    /// [`Update::ExactFlow`] also follows a stretch that first shortens and then grows again within the step: slip begins
    /// at the smallest R of the path, 0 on one axis, in place of that of the last step.
    #[inline]
    pub fn return_map<const N: usize>(
        &self,
        state: &State<R, N>,
        displacement: [R; N],
        normal_force: R,
        step: R,
    ) -> Mapped<R, N> {
        self.return_map_near(state, displacement, normal_force, step, R::zero())
    }

    /// The same with a guess of the slip, which saves rounds where a step is mapped again and again.
    #[inline]
    pub fn return_map_near<const N: usize>(
        &self,
        state: &State<R, N>,
        displacement: [R; N],
        normal_force: R,
        step: R,
        guess: R,
    ) -> Mapped<R, N> {
        let normal_force = R::zero().max(normal_force);
        let loaded = R::zero().lt(normal_force);
        let (t_before, length_before) = direction(state.stretch);
        let mut trial = add(state.stretch, displacement);
        let mut start = Start {
            mu: state.mu,
            ratio: state.ratio,
            travel: R::zero(),
            time: step,
        };
        let mut path = None;
        match self.update {
            Update::ExactFlow | Update::Rates if N == 1 => start.ratio = nearest_on_axis(state, displacement),
            Update::ExactFlow | Update::Rates => {
                let (ratio, taken) = nearest(state, displacement, length_before);
                start.ratio = ratio;
                path = Some(taken);
            }
            Update::Backward => (),
            Update::Trapezoidal => {
                // Half a step forward with the rates of its start (seed 002, eqs 12-14; the first needs t_n).
                start.time = step * R::lit(0.5);
                let slip = start.time * state.slip_rate;
                trial = sub(trial, scale(t_before, slip));
                start.mu += self.healing(state.mu) * start.time - self.softening(state.mu) * slip;
                start.ratio += self.approach(state.ratio) * slip;
                if self.newton == Newton::Safeguarded {
                    start.mu = start.mu.clamp(self.mu_kinetic, self.mu_static);
                    start.ratio = start.ratio.min(R::one());
                }
            }
        }
        let (t, length) = direction(trial);
        let mu_trial = match self.update {
            Update::ExactFlow | Update::Rates => self.flow_mu(start.mu, R::zero(), start.time).0,
            Update::Trapezoidal | Update::Backward => self.implicit_mu(start.mu, R::zero(), start.time),
        };
        let elastic = self.stiffness * length;
        let plastic = loaded & (start.ratio * mu_trial * normal_force).lt(elastic);
        let solved = if !plastic.any() {
            Solved {
                unknown: R::zero(),
                outcome: Outcome::none(&start),
                failed: plastic,
                rounds: 0,
            }
        } else if self.newton == Newton::AsPublished && !self.update.flows() {
            self.solve_as_published(&start, length, normal_force, plastic)
        } else {
            if self.update.flows() {
                start.travel = self.evolution.travel(start.ratio);
            }
            let guess = self.guess(guess, start.mu.max(mu_trial), normal_force);
            match &path {
                None => self.solve(&start, length, normal_force, plastic, guess),
                Some(path) => self.solve_on_path(&start, path, length, normal_force, plastic, guess),
            }
        };
        let plastic = plastic & !solved.failed;
        let Outcome { slip, point, fall, .. } = solved.outcome;
        let stretched = match &path {
            Some(path) if plastic.any() => Some((path, path.stretch(solved.unknown))),
            _ => None,
        };
        let t_end = stretched.map_or(t, |(_, stretched)| {
            core::array::from_fn(|i| R::select(plastic, stretched.direction[i], t[i]))
        });

        let carried = point.strength() * normal_force;
        let force = R::select(plastic, carried, R::select(loaded, elastic, R::zero()));
        let mu_end = R::select(plastic, point.mu, mu_trial);
        let limit = R::select(loaded, mu_trial * normal_force, R::one());
        let ratio_end = R::select(plastic, point.ratio, (elastic / limit).min(R::one()));
        // A contact that is open at the end has lost its stretch.
        let open_slip = length / step;
        let slip_rate = R::select(plastic, slip / start.time, R::select(loaded, R::zero(), open_slip));
        let shortened = scale(t_end, force / self.stiffness);

        let (returned, by_normal) = match stretched {
            Some((path, stretched)) => {
                let by_ratio = point.mu * normal_force * self.ratio_gain(&start, point.ratio);
                self.path_tangent(path, &stretched, &point, normal_force, fall, by_ratio)
            }
            None => self.radial_tangent(t, length, force, &point, normal_force),
        };
        let tangent = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                let unit = if i == j { self.stiffness } else { R::zero() };
                R::select(plastic, returned[i][j], R::select(loaded, unit, R::zero()))
            })
        });
        Mapped {
            // The elastic step without its direction, which has no derivative at 0.
            resistance: core::array::from_fn(|i| {
                R::select(loaded & !plastic, self.stiffness * trial[i], t_end[i] * force)
            }),
            state: State {
                stretch: core::array::from_fn(|i| R::select(loaded & !plastic, trial[i], shortened[i])),
                mu: mu_end,
                ratio: R::select(loaded, ratio_end, R::zero()),
                slip_rate,
            },
            tangent,
            normal_tangent: by_normal.map(|by| R::select(plastic, by, R::zero())),
            plastic: plastic | (!loaded & R::zero().lt(length)),
            failed: solved.failed,
            rounds: solved.rounds,
        }
    }

    /// ∂q/∂Δu and ∂q/∂F where the stretch L·t is shortened in its own direction: q = q(L)·t, so α̃ = q/L across t (the paper on the trapezoidal update, eq 29
    /// with Δγ the slip of the end) and dq/dL along it, where L − slip = R·μ·F/α gives dq/dL = α·s/(α + s) with
    /// s = F·d(R·μ)/d(slip): eqs 28, 30, 31.
    #[inline(always)]
    fn radial_tangent<const N: usize>(
        &self,
        t: [R; N],
        length: R,
        force: R,
        point: &Point<R>,
        normal_force: R,
    ) -> ([[R; N]; N], [R; N]) {
        let across = force / R::select(R::zero().lt(length), length, R::one());
        let stiffening = point.strength_slope() * normal_force;
        let sum = self.stiffness + stiffening;
        let share = self.stiffness / R::select(sum.same(R::zero()), self.stiffness, sum);
        let along = stiffening * share;
        let tangent = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                let unit = if i == j { R::one() } else { R::zero() };
                let radial = t[i] * t[j];
                across * (unit - radial) + along * radial
            })
        });
        (tangent, scale(t, share * point.strength()))
    }

    /// The same on a path: q = α·uᵉ(a, Δu), and a(Δu, F) keeps the excess at 0.
    #[inline(always)]
    fn path_tangent<const N: usize>(
        &self,
        path: &Path<R, N>,
        stretched: &Stretched<R, N>,
        point: &Point<R>,
        normal_force: R,
        fall: R,
        by_ratio: R,
    ) -> ([[R; N]; N], [R; N]) {
        let Decay { rest, mean, .. } = stretched.decay;
        let per_fall = R::one() / R::select(fall.same(R::zero()), R::one(), fall);
        let softening = point.strength_slope() * normal_force;
        // ∂uᵉ/∂Δu at constant a; the plastic slip has the rest of the unit matrix.
        let kept: [[R; N]; N] = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                let unit = if i == j { R::one() } else { R::zero() };
                mean * unit + (rest - mean) * path.from_gradient[i][j]
            })
        });
        let by_unknown: [R; N] = core::array::from_fn(|j| {
            let of_stretch = dot(stretched.direction, core::array::from_fn(|i| kept[i][j]));
            let of_slip =
                stretched.slip_direction[j] - dot(stretched.slip_direction, core::array::from_fn(|i| kept[i][j]));
            per_fall * (self.stiffness * of_stretch - softening * of_slip - by_ratio * path.ratio_gradient[j])
        });
        let tangent = core::array::from_fn(|i| {
            core::array::from_fn(|j| self.stiffness * (kept[i][j] - stretched.drift[i] * by_unknown[j]))
        });
        (
            tangent,
            scale(stretched.drift, self.stiffness * point.strength() * per_fall),
        )
    }

    /// ∂R/∂R₀ of the exact flow: U(R)/U(R₀).
    #[inline(always)]
    fn ratio_gain(&self, start: &Start<R>, ratio: R) -> R {
        let from = self.evolution.speed(start.ratio);
        let open = R::zero().lt(from);
        R::select(
            open,
            self.evolution.speed(ratio) / R::select(open, from, R::one()),
            R::zero(),
        )
    }
}

/// R from which slip begins on one axis: 0 if the stretch changes its sign, else that of the last step.
#[inline(always)]
fn nearest_on_axis<R: Real, const N: usize>(state: &State<R, N>, displacement: [R; N]) -> R {
    let inwards = -dot(state.stretch, displacement);
    let turns = R::zero().lt(inwards) & inwards.lt(dot(displacement, displacement));
    R::select(turns, R::zero(), state.ratio)
}

/// The path from the last stretch along Δu, with R from which slip begins. Where it goes inwards and turns outwards again slip begins
/// at the point nearest to 0, in the proportion of the stretch there. Where it only goes inwards, a smaller normal force can still
/// let it slip: at its end.
#[inline(always)]
fn nearest<R: Real, const N: usize>(state: &State<R, N>, displacement: [R; N], length: R) -> (R, Path<R, N>) {
    let way = dot(displacement, displacement);
    let inwards = -dot(state.stretch, displacement);
    let shortens = R::zero().lt(inwards);
    let turns = shortens & inwards.lt(way);
    let moves = R::select(turns, way, R::one());
    let part = R::select(turns, inwards / moves, R::select(shortens, R::one(), R::zero()));
    let from = add(state.stretch, scale(displacement, part));
    let per_length = state.ratio / R::select(R::zero().lt(length), length, R::one());
    let (outwards, distance) = direction(from);
    // ∂part/∂Δu = −(uᵉ + 2·part·Δu)/|Δu|².
    let shift = scale(
        add(state.stretch, scale(displacement, part + part)),
        R::select(turns, -R::one() / moves, R::zero()),
    );
    let path = Path {
        from,
        along: scale(displacement, R::one() - part),
        from_gradient: core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                let unit = if i == j { part } else { R::zero() };
                unit + displacement[i] * shift[j]
            })
        }),
        // The point is nearest, so its own shift along the path does not count.
        ratio_gradient: core::array::from_fn(|j| R::select(turns, outwards[j] * per_length * part, R::zero())),
    };
    (R::select(turns, per_length * distance, state.ratio), path)
}
