//! Rigid contact relaxed to an ordinary differential equation (Xiong, Kikuuwe and Yamamoto, eqs 13 to 15).
//!
//! The force f ∈ dio(p) of a rigid contact at the gap p is replaced by 0 ∈ K·(e + β·ė) − dio(p + e + α·ė), whose solution
//! by eq 5 is
//!
//! ė = max(−e/β, −(p + e)/α),  f = K·max(0, e − β·(p + e)/α)
//!
//! With 0 < α ≤ β it is a spring K beside a Maxwell element with spring K·(β − α)/α and damper K·(β − α), acting while that
//! pushes. The force is continuous in gap and state and never pulls. α = β is the spring alone.

use super::{Normal, NormalLaw};
use crate::roots::bisect;
use crate::scalar::Real;

/// The relaxed contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxed<R> {
    /// Stiffness K.
    pub stiffness: R,
    /// Time constant β: how fast the state forgets an impact.
    pub beta: R,
    /// Time constant α, at most β: the smaller, the more an impact loses.
    pub alpha: R,
}

impl<R: Real> Relaxed<R> {
    /// Eq 15a.
    #[inline(always)]
    fn state_rate(&self, gap: R, e: R) -> R {
        (-e / self.beta).max(-(gap + e) / self.alpha)
    }
}

impl<R: Real> Normal<R> for Relaxed<R> {
    const STATES: usize = 1;

    #[inline(always)]
    fn respond(&self, gap: R, _gap_rate: R, state: &[R], _tau: R, rate: &mut [R]) -> R {
        let e = state[0];
        rate[0] = self.state_rate(gap, e);
        // Eq 15b.
        self.stiffness * R::zero().max(e - self.beta * (gap + e) / self.alpha)
    }

    /// Spring and Maxwell spring: ½·K·x² + ½·K·(β − α)/α·(x − e)² with the depth x = e + α·ė of the spring.
    #[inline(always)]
    fn stored(&self, gap: R, state: &[R]) -> R {
        let e = state[0];
        let behind = self.alpha * self.state_rate(gap, e);
        let depth = e + behind;
        let maxwell = (self.beta - self.alpha) / self.alpha;
        self.stiffness * R::lit(0.5) * (depth * depth + maxwell * behind * behind)
    }
}

impl<R: Real> NormalLaw<R> for Relaxed<R> {
    const NAME: &'static str = "relaxed";

    type Of<U: Real> = Relaxed<U>;

    #[inline(always)]
    fn map<U: Real>(&self, f: impl Fn(R) -> U) -> Relaxed<U> {
        Relaxed {
            stiffness: f(self.stiffness),
            beta: f(self.beta),
            alpha: f(self.alpha),
        }
    }

    fn elastic(&self) -> [R; 2] {
        [self.stiffness, R::one()]
    }
}

/// What a free impact on a relaxed contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Speed after over speed before.
    pub restitution: f64,
    /// Largest depth over (speed before)·√(M/K).
    pub depth: f64,
    /// Depth at which the contact lets go, over (speed before)·√(M/K).
    pub release: f64,
}

impl Impact {
    /// Part of the rebound that a load costs, over γ = g/(v·√(K/M)) for the acceleration g and the speed v of touch-down.
    ///
    /// The load adds γ·∫e to the solution e of `impact`, and so γ·x₁ to the speed at the release depth x₁ (the force is 0
    /// there, so that the shift of the release does not matter). From there the body still has to rise by x₁:
    /// √((r − γ·x₁)² − 2·γ·x₁) = r·(1 − γ·x₁·(1/r + 1/r²)) to first order, for the restitution r.
    pub fn loss_under_load(&self) -> f64 {
        let r = self.restitution;
        self.release * (1.0 + 1.0 / r) / r
    }
}

/// Smallest α√(K/M) that `impact` distinguishes: its cost grows with 1/α, while the restitution changes by less than 1e-4
/// from there to 0.
const SMALLEST: f64 = 1e-4;
/// Smallest α√(K/M) that `alpha_for` tries; a simulation needs steps below α.
const SMALLEST_CHOSEN: f64 = 0.01;
/// Smallest step of explicit Euler, T·√(K/M), that `rebound` tells from this one: it adds 0.3 % at most to a rebound.
const SMALLEST_STEP: f64 = 1e-4;

/// The impact of a mass M without other load, from a = α·√(K/M) and b = β·√(K/M); both must be positive.
///
/// While the contact pushes, M·p″ = f with eq 15 is linear. In time units of √(M/K) and with the depth x = −p = e + a·e′:
///
/// a·e‴ + e″ + b·e′ + e = 0,  e = e′ = 0 and e″ = 1/a at touch-down (x′ = 1)
///
/// until the force e + b·e′ returns to 0; the restitution is −x′ there. The solution is summed as its power series, which
/// converges everywhere and, unlike the sum over the roots of the cubic, does not lose digits where roots meet.
pub fn impact(a: f64, b: f64) -> Impact {
    let a = a.max(SMALLEST);
    let force = |y: [f64; 3]| y[0] + b * y[1];
    let speed = |y: [f64; 3]| y[1] + a * y[2];
    // The roots of the cubic are smaller than this, so that few terms of the series are needed in a step.
    let fastest = 1.0 + 1.0 / a + (b / a).sqrt();
    let step = 0.5 / fastest;
    let mut now = [0.0, 0.0, 1.0 / a];
    let mut depth = 0.0;
    // An impact with a ≤ b lasts at most π; the bound ends the loop where a is larger by orders of magnitude.
    let most = f64::min(100.0 * fastest, 1e5);
    let mut done = 0.0;
    while done < most {
        let next = series(a, b, now, step);
        if speed(now) > 0.0 && speed(next) <= 0.0 {
            let deepest = series(a, b, now, root(step, |h| speed(series(a, b, now, h))));
            depth = deepest[0] + a * deepest[1];
        }
        if force(next) < 0.0 {
            now = series(a, b, now, root(step, |h| force(series(a, b, now, h))));
            break;
        }
        now = next;
        done += 1.0;
    }
    Impact {
        restitution: -speed(now),
        depth,
        release: now[0] + a * now[1],
    }
}

/// (e, e′, e″) after a time h, by the power series of the linear equation.
fn series(a: f64, b: f64, start: [f64; 3], h: f64) -> [f64; 3] {
    const TERMS: usize = 20;
    let mut derivatives = [0.0; TERMS + 3];
    derivatives[..3].copy_from_slice(&start);
    for n in 0..TERMS {
        derivatives[n + 3] = -(derivatives[n + 2] + b * derivatives[n + 1] + derivatives[n]) / a;
    }
    core::array::from_fn(|i| {
        let (mut sum, mut factor) = (0.0, 1.0);
        for n in 0..=TERMS {
            sum += derivatives[i + n] * factor;
            factor *= h / (n + 1) as f64;
        }
        sum
    })
}

/// Where a function that is positive at 0 and not at `end` changes sign, by bisection.
fn root(end: f64, function: impl Fn(f64) -> f64) -> f64 {
    bisect([0.0, end], 60, |x| function(x) > 0.0)[0]
}

/// An impact as a simulation sees it, in units of √(M/K) and of the speed of touch-down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circumstances {
    /// Acceleration toward the obstacle, γ = g/(v·√(K/M)).
    pub load: f64,
    /// Step T·√(K/M) of explicit Euler; `None` where the method adds nothing of its own to the impact.
    pub euler_step: Option<f64>,
}

impl Circumstances {
    /// Whether the impact is that of [`impact`].
    pub fn free(&self) -> bool {
        self.load == 0.0 && self.euler_step.is_none()
    }

    /// Speed at which the body comes back to where it touched, over that of touch-down; `None` where it does not come
    /// back within a hundred units of time.
    ///
    /// Under a load it is what [`Impact::loss_under_load`] tells to first order. Explicit Euler gains of it what also
    /// depends on where between two steps the body touches down: `part` of a step after the first, 0 to 1.
    pub fn rebound(&self, a: f64, b: f64, part: f64) -> Option<f64> {
        let rate = |[p, v, e]: [f64; 3]| {
            let law = Relaxed {
                stiffness: 1.0,
                beta: b,
                alpha: a,
            };
            let mut e_rate = [0.0];
            let force = law.respond(p, v, &[e], 0.0, &mut e_rate);
            [v, force - self.load, e_rate[0]]
        };
        let ahead = |y: [f64; 3], h: f64, k: [f64; 3]| [y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]];
        // Fourth order, so that the kinks cost (step)², 1e-4 at most.
        let fine = f64::min(0.01, 0.5 * a);
        let h = self.euler_step.map_or(fine, |step| step.max(SMALLEST_STEP));
        let mut y = [part * h, -1.0, 0.0];
        let mut left = 100.0 / h;
        while left > 0.0 {
            let first = rate(y);
            let k = if self.euler_step.is_some() {
                first
            } else {
                let second = rate(ahead(y, 0.5 * h, first));
                let third = rate(ahead(y, 0.5 * h, second));
                let fourth = rate(ahead(y, h, third));
                core::array::from_fn(|i| (first[i] + 2.0 * (second[i] + third[i]) + fourth[i]) / 6.0)
            };
            y = ahead(y, h, k);
            if y[0] > 0.0 && y[1] > 0.0 {
                return Some((y[1] * y[1] + 2.0 * self.load * y[0]).sqrt());
            }
            left -= 1.0;
        }
        None
    }
}

/// Part of the restitution up to which `alpha_for_rebound` calls it met.
const MET: f64 = 0.01;

/// As [`alpha_for`] for an impact that is not free, with any α from `least` to b. `None` also where the rebound depends by
/// more than 1 % on where between two steps the body touches down.
pub fn alpha_for_rebound(restitution: f64, b: f64, least: f64, circumstances: &Circumstances) -> Option<f64> {
    // A body that does not come back loses more than is wanted.
    let below = |a: f64| {
        let rebound = circumstances.rebound(a, b, 0.0);
        rebound.is_none_or(|rebound| rebound < restitution)
    };
    if !(least < b && below(least)) {
        return None;
    }
    let found = if below(b) { b } else { rising_root(least, b, 30, below) };
    // Euler's part may depend on the place of the touch-down by more than can be made up for.
    let parts: &[f64] = match circumstances.euler_step {
        Some(_) => &[0.0, 0.25, 0.5, 0.75],
        None => &[0.0],
    };
    let met = |part: &f64| {
        let rebound = circumstances.rebound(found, b, *part)?;
        Some((rebound - restitution).abs() <= MET * restitution)
    };
    parts.iter().all(|part| met(part) == Some(true)).then_some(found)
}

/// Where `below` changes from true to false, by bisection.
fn rising_root(low: f64, high: f64, halvings: usize, below: impl Fn(f64) -> bool) -> f64 {
    let [low, high] = bisect([low, high], halvings, below);
    0.5 * (low + high)
}

/// The α√(K/M) that gives a restitution at a chosen b = β√(K/M), by bisection: the restitution grows with α from the
/// value at `least` (0.01 or more) to 1 at α = β. `None` where it lies outside: a b below 0.01 leaves nothing to choose,
/// since every α then gives a restitution of exp(−π·b/2) > 0.98 or more.
pub fn alpha_for(restitution: f64, b: f64, least: f64) -> Option<f64> {
    if restitution == 1.0 {
        return Some(b);
    }
    let least = least.max(SMALLEST_CHOSEN);
    if least >= b {
        return None;
    }
    if !(impact(least, b).restitution..1.0).contains(&restitution) {
        return None;
    }
    Some(rising_root(least, b, 60, |a| impact(a, b).restitution < restitution))
}
