//! A step of given displacement: return mappings and their consistent tangents.

use super::{Evolution, Newton, State, Subloading, Update, direction};
use crate::scalar::vector::{add, dot, norm, scale, sub};
use crate::scalar::{Mask, Real};

/// Outcome of a step of given displacement.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<R: Real, const N: usize> {
    /// Resistance q at the end of the step; without the part of the contact time.
    pub resistance: [R; N],
    /// State at the end of the step.
    pub state: State<R, N>,
    /// ∂q_i/∂Δu_j at `[i][j]` (seed 002, eqs 28-31).
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

/// A slip that solves the step.
#[derive(Clone, Copy)]
struct Solved<R: Real> {
    slip: R,
    point: Point<R>,
    failed: R::Mask,
    rounds: usize,
}

/// Rounds of Newton's method before a bracket is only halved.
const NEWTON_ROUNDS: usize = 40;
/// Halvings that close a bracket wherever the root lies.
const HALVINGS: usize = 1100;
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

impl<R: Real> Subloading<R> {
    /// μ after a slip spread evenly over a time, and dμ/d(slip).
    ///
    /// With exponents 1 the equation is linear and μ exact: with a = (η/μ_s)·time + (κ/μ_k)·slip and φ = (1 − e^(−a))/a,
    /// μ = μ₀ + φ(a)·(g(μ₀)·time − h(μ₀)·slip). With others the implicit rule takes its place.
    #[inline]
    fn flow_mu(&self, start: R, slip: R, time: R) -> (R, R) {
        if self.exponents.is_some() {
            let mu = self.implicit_mu(start, slip, time);
            return (mu, self.implicit_mu_slope(mu, slip, time));
        }
        let per_slip = self.kappa / self.mu_kinetic;
        let decay = self.eta / self.mu_static * time + per_slip * slip;
        let (phi, phi_slope) = mean_decay(decay);
        let softening = self.softening(start);
        let change = self.healing(start) * time - softening * slip;
        (start + phi * change, phi_slope * per_slip * change - phi * softening)
    }

    /// The μ that solves μ = μ₀ + g(μ)·time − h(μ)·slip (seed 002, eq 24): the difference of both sides rises with μ, is not
    /// positive at min(μ₀, μ_k) and not negative at max(μ₀, μ_s).
    #[inline]
    pub(super) fn implicit_mu(&self, start: R, slip: R, time: R) -> R {
        if self.exponents.is_none() {
            let falling = self.kappa / self.mu_kinetic * slip + self.eta / self.mu_static * time;
            return (start + self.kappa * slip + self.eta * time) / (R::one() + falling);
        }
        let mut low = start.min(self.mu_kinetic);
        let mut high = start.max(self.mu_static);
        let mut mu = start;
        let mut settled = R::zero().lt(R::zero());
        for round in 0..NEWTON_ROUNDS + HALVINGS {
            let excess = mu - start - self.healing(mu) * time + self.softening(mu) * slip;
            let slope = R::one() - self.healing_slope(mu) * time + self.softening_slope(mu) * slip;
            let above = R::zero().lt(excess);
            high = R::select(settled, high, R::select(above, mu, high));
            low = R::select(settled, low, R::select(above, low, mu));
            let newton = mu - excess / slope;
            let halved = (low + high) * R::lit(0.5);
            let inside = low.lt(newton) & newton.lt(high);
            let near = (self.mu_static + (newton - mu) * R::lit(0.25)).same(self.mu_static);
            let closed = halved.same(low) | halved.same(high);
            let next = if round < NEWTON_ROUNDS {
                R::select(inside | near, newton, halved)
            } else {
                halved
            };
            mu = R::select(settled, mu, next);
            settled = settled | near | closed;
            if settled.all() {
                break;
            }
        }
        // One more round makes the derivative of a dual number exact; it moves the value by rounding only.
        let excess = mu - start - self.healing(mu) * time + self.softening(mu) * slip;
        let slope = R::one() - self.healing_slope(mu) * time + self.softening_slope(mu) * slip;
        mu - excess / slope
    }

    /// The R that solves R = R₀ + U(R)·slip for 0 ≤ R₀ ≤ 1 (seed 002, eq 25).
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
        }
    }

    /// R and μ after a slip.
    #[inline]
    fn after(&self, start: &Start<R>, slip: R) -> Point<R> {
        if self.update == Update::ExactFlow {
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

    /// dR/d(slip) of the implicit rule (seed 002, eq 31).
    #[inline(always)]
    fn implicit_ratio_slope(&self, ratio: R, slip: R) -> R {
        self.approach(ratio) / (R::one() - self.r * self.evolution.speed_slope(ratio) * slip)
    }

    /// dμ/d(slip) of the implicit rule (seed 002, eq 30).
    #[inline(always)]
    fn implicit_mu_slope(&self, mu: R, slip: R, time: R) -> R {
        -self.softening(mu) / (R::one() - self.healing_slope(mu) * time + self.softening_slope(mu) * slip)
    }

    /// The slip that solves α·(L − slip) = R·μ·F, L the length of the trial stretch: the left side is larger at slip 0 where
    /// the step is plastic, and not larger at slip L. The bracket [0, L] always holds a root, whatever the step. It is the
    /// only one if α > F·κ(μ_s/μ_k − 1)^m.
    #[inline]
    fn solve(&self, start: &Start<R>, length: R, normal_force: R, plastic: R::Mask, guess: R) -> Solved<R> {
        let whole = self.stiffness * length;
        let mut low = R::zero();
        let mut high = length;
        let mut slip = guess.clamp(R::zero(), length);
        let mut settled = !plastic;
        let mut rounds = 0;
        while rounds < NEWTON_ROUNDS + HALVINGS && !settled.all() {
            let point = self.after(start, slip);
            let excess = self.stiffness * (length - slip) - point.strength() * normal_force;
            let fall = self.stiffness + point.strength_slope() * normal_force;
            let above = R::zero().lt(excess);
            low = R::select(above, slip, low);
            high = R::select(above, high, slip);
            let falling = R::zero().lt(fall);
            let newton = slip + excess / R::select(falling, fall, R::one());
            let halved = (low + high) * R::lit(0.5);
            let usable = falling & low.lt(newton) & newton.lt(high);
            let next = if rounds < NEWTON_ROUNDS {
                R::select(usable, newton, halved)
            } else {
                halved
            };
            let small = (whole + excess * R::lit(0.125)).same(whole);
            let closed = halved.same(low) | halved.same(high);
            // A lane that has settled keeps its root, so that it does not depend on its neighbours.
            slip = R::select(settled | small, slip, next);
            settled = settled | small | closed;
            rounds += 1;
        }
        // One more round makes the derivative of a dual number exact; it moves the value by rounding only.
        let point = self.after(start, slip);
        let excess = self.stiffness * (length - slip) - point.strength() * normal_force;
        let fall = self.stiffness + point.strength_slope() * normal_force;
        let flat = fall.same(R::zero());
        let polished = slip + R::select(flat, R::zero(), excess / R::select(flat, R::one(), fall));
        let slip = R::select(plastic, R::zero().max(polished), R::zero());
        Solved {
            slip,
            point: self.after(start, slip),
            failed: R::zero().lt(R::zero()),
            rounds,
        }
    }

    /// The start of the step, where nothing slips.
    #[inline(always)]
    fn elastic(&self, start: &Start<R>) -> Point<R> {
        Point {
            ratio: start.ratio,
            ratio_slope: R::zero(),
            mu: start.mu,
            mu_slope: R::zero(),
        }
    }

    /// Newton's method for stretch, slip, μ and R together from the trial state, as published (seed 002, eqs 23-26).
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
            let mu_excess = mu - start.mu - self.healing(mu) * start.time + self.softening(mu) * slip;
            let mu_gradient = R::one() - self.healing_slope(mu) * start.time + self.softening_slope(mu) * slip;
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
        Solved {
            slip,
            point: Point {
                ratio,
                ratio_slope: self.implicit_ratio_slope(ratio, slip),
                mu,
                mu_slope: self.implicit_mu_slope(mu, slip, start.time),
            },
            failed: plastic & !sound,
            rounds,
        }
    }

    /// The state after a step of displacement Δu under the normal force at its end.
    ///
    /// The trial stretch is that of an elastic step; where it exceeds what R and μ carry, plastic slip shortens it in its
    /// own direction. In more than one dimension that makes every rule first order in the direction of the force, except
    /// the trapezoidal one. A change of the normal force needs no rate: R of the last step is a state.
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
        // ∂R₀/∂Δu, where R₀ depends on the path.
        let mut ratio_gradient = [R::zero(); N];
        match self.update {
            Update::ExactFlow => {
                (start.ratio, ratio_gradient) = nearest(state, displacement, length_before);
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
            Update::ExactFlow => self.flow_mu(start.mu, R::zero(), start.time).0,
            Update::Trapezoidal | Update::Backward => self.implicit_mu(start.mu, R::zero(), start.time),
        };
        let elastic = self.stiffness * length;
        let plastic = loaded & (start.ratio * mu_trial * normal_force).lt(elastic);
        let solved = if !plastic.any() {
            Solved {
                slip: R::zero(),
                point: self.elastic(&start),
                failed: plastic,
                rounds: 0,
            }
        } else if self.newton == Newton::AsPublished && self.update != Update::ExactFlow {
            self.solve_as_published(&start, length, normal_force, plastic)
        } else {
            if self.update == Update::ExactFlow {
                start.travel = self.evolution.travel(start.ratio);
            }
            self.solve(&start, length, normal_force, plastic, guess)
        };
        let plastic = plastic & !solved.failed;

        let Solved { slip, point, .. } = solved;
        let carried = point.strength() * normal_force;
        let force = R::select(plastic, carried, R::select(loaded, elastic, R::zero()));
        let mu_end = R::select(plastic, point.mu, mu_trial);
        let limit = R::select(loaded, mu_trial * normal_force, R::one());
        let ratio_end = R::select(plastic, point.ratio, (elastic / limit).min(R::one()));
        // A contact that is open at the end has lost its stretch.
        let open_slip = length / step;
        let slip_rate = R::select(plastic, slip / start.time, R::select(loaded, R::zero(), open_slip));
        let shortened = scale(t, force / self.stiffness);

        // q = q(L)·t: α̃ = q/L across t (seed 002, eq 29 with Δγ the slip of the end), dq/dL along it, where
        // L − slip = R·μ·F/α gives dq/dL = α·s/(α + s) with s = F·d(R·μ)/d(slip): eqs 28, 30, 31.
        let across = force / R::select(R::zero().lt(length), length, R::one());
        let stiffening = point.strength_slope() * normal_force;
        let sum = self.stiffness + stiffening;
        let share = self.stiffness / R::select(sum.same(R::zero()), self.stiffness, sum);
        let along = stiffening * share;
        // On one axis R₀ does not depend on the path, and this is not needed.
        let by_ratio = if N == 1 {
            R::zero()
        } else {
            share * point.mu * normal_force * self.ratio_gain(&start, point.ratio)
        };
        let tangent = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                let unit = if i == j { R::one() } else { R::zero() };
                let radial = t[i] * t[j];
                let returned = across * (unit - radial) + along * radial + t[i] * by_ratio * ratio_gradient[j];
                R::select(plastic, returned, R::select(loaded, self.stiffness * unit, R::zero()))
            })
        });
        let by_normal = R::select(plastic, share * point.strength(), R::zero());
        Mapped {
            // The elastic step without its direction, which has no derivative at 0.
            resistance: core::array::from_fn(|i| R::select(loaded & !plastic, self.stiffness * trial[i], t[i] * force)),
            state: State {
                stretch: core::array::from_fn(|i| R::select(loaded & !plastic, trial[i], shortened[i])),
                mu: mu_end,
                ratio: R::select(loaded, ratio_end, R::zero()),
                slip_rate,
            },
            tangent,
            normal_tangent: scale(t, by_normal),
            plastic: plastic | (!loaded & R::zero().lt(length)),
            failed: solved.failed,
            rounds: solved.rounds,
        }
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

/// The smallest R on the elastic path from the last stretch along Δu, if the path turns outwards again within the step,
/// and its derivative with respect to Δu; else R of the last step.
#[inline(always)]
fn nearest<R: Real, const N: usize>(state: &State<R, N>, displacement: [R; N], length: R) -> (R, [R; N]) {
    let path = dot(displacement, displacement);
    let inwards = -dot(state.stretch, displacement);
    let turns = R::zero().lt(inwards) & inwards.lt(path);
    if N == 1 {
        return (R::select(turns, R::zero(), state.ratio), [R::zero(); N]);
    }
    let part = inwards / R::select(turns, path, R::one());
    let point = add(state.stretch, scale(displacement, part));
    let per_length = state.ratio / R::select(R::zero().lt(length), length, R::one());
    let (outwards, _) = direction(point);
    // The point is nearest, so its own shift along the path does not count.
    let gradient = scale(outwards, per_length * part);
    (
        R::select(turns, per_length * norm(point), state.ratio),
        gradient.map(|g| R::select(turns, g, R::zero())),
    )
}
