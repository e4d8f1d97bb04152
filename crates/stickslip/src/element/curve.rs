//! The steady curve of a friction as scenarios give it: Coulomb, static, viscous and Stribeck friction in one formula of the core,
//! or points and expressions of the user, perhaps others for each direction.

use crate::network::abreast::{WIDTH, Wide};
use crate::profile::Expression;
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::scalar::Real;

/// A steady curve of any form.
#[derive(Clone, Debug)]
pub enum SteadyCurve<R = f64> {
    /// Coulomb, static, viscous, Stribeck.
    Stribeck(Stribeck<R>),
    /// Points or expressions.
    Given(Box<GivenCurve>),
}

/// Evaluates an expression with the concrete curve, chosen once outside the law's arithmetic.
macro_rules! with_curve {
    ($curve:expr, |$c:ident| $body:expr) => {
        match $curve {
            SteadyCurve::Stribeck(curve) => {
                let $c = curve;
                $body
            }
            SteadyCurve::Given(curve) => {
                let $c = &**curve;
                $body
            }
        }
    };
}
pub(crate) use with_curve;

/// Friction force, or coefficient, against speed.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveSide {
    /// Speeds and forces, linear in between, the last beyond.
    Points(Vec<f64>, Vec<f64>),
    /// An expression in the speed.
    Formula(Expression),
}

/// Speeds at which an expression is looked at when it is built, m/s or rad/s.
const SLOWEST: f64 = 1e-9;
const FASTEST: f64 = 1e3;
const LOOKS: usize = 1201;

/// 0 and speeds from the slowest to the fastest, in equal ratios.
fn speeds() -> impl Iterator<Item = f64> {
    let ratio = (FASTEST / SLOWEST).ln() / (LOOKS - 1) as f64;
    std::iter::once(0.0).chain((0..LOOKS).map(move |i| SLOWEST * (ratio * i as f64).exp()))
}

impl CurveSide {
    /// A speed at which the curve is no friction, with its value there: it is negative or not a number.
    ///
    /// Expressions are looked at from 1e-9 to 1e3 m/s.
    pub fn fault(&self) -> Option<(f64, f64)> {
        let CurveSide::Formula(expression) = self else {
            return None;
        };
        speeds()
            .map(|speed| (speed, expression.evaluate(&[speed])))
            .find(|(_, value)| !(*value >= 0.0 && value.is_finite()))
    }

    /// Value at a speed; never negative: friction resists.
    #[inline]
    pub fn value(&self, speed: f64) -> f64 {
        match self {
            CurveSide::Points(speeds, force) => Table::trusted(speeds, force).value(speed),
            CurveSide::Formula(expression) => {
                let value = expression.evaluate(&[speed]);
                if value < 0.0 { 0.0 } else { value }
            }
        }
    }

    /// The greatest value that is met at speeds up to this one.
    pub fn greatest(&self, speed: f64) -> f64 {
        match self {
            CurveSide::Points(_, force) => force.iter().copied().fold(0.0, f64::max),
            CurveSide::Formula(_) => (0..=100)
                .map(|i| self.value(speed * f64::from(i) / 100.0))
                .fold(0.0, f64::max),
        }
    }

    #[inline]
    fn slope(&self, speed: f64) -> f64 {
        match self {
            CurveSide::Points(speeds, force) => Table::trusted(speeds, force).rise(speed),
            CurveSide::Formula(expression) => {
                let [value, slope] = expression.value_and_slope(speed);
                if value < 0.0 { 0.0 } else { slope }
            }
        }
    }

    fn constant(&self) -> bool {
        match self {
            CurveSide::Points(_, force) => force.iter().all(|f| *f == force[0]),
            CurveSide::Formula(expression) => expression.constant().is_some(),
        }
    }

    fn steepest_fall(&self) -> f64 {
        match self {
            CurveSide::Points(speeds, force) => Curve::<f64>::steepest_fall(&Table::trusted(speeds, force)),
            CurveSide::Formula(_) => speeds().map(|speed| -self.slope(speed)).fold(0.0, f64::max),
        }
    }
}

/// Points of a side with what is needed to find a line at once, however many there are.
#[derive(Clone, Debug, PartialEq)]
struct Lines {
    speed: Vec<f64>,
    force: Vec<f64>,
    /// Slope of the line that begins at each point; the last is level.
    gradient: Vec<f64>,
    /// The last point before each of many equal intervals of speed, and how many of these there are to a unit.
    before: Vec<u32>,
    scale: f64,
}

impl Lines {
    fn of(side: &CurveSide) -> Option<Self> {
        let CurveSide::Points(speed, force) = side else {
            return None;
        };
        let lines = speed.windows(2).zip(force.windows(2));
        let gradient = lines.map(|(v, f)| (f[1] - f[0]) / (v[1] - v[0])).chain([0.0]).collect();
        let (last, intervals) = (*speed.last()?, 4 * speed.len());
        let scale = intervals as f64 / last;
        if !(scale.is_finite() && last > 0.0 && speed.len() < u32::MAX as usize) {
            return None;
        }
        let begins = |interval: usize| interval as f64 / scale;
        // One interval to the left: rounding may put a speed into the next.
        let place = |interval: usize| speed.partition_point(|point| *point <= begins(interval.saturating_sub(1)));
        Some(Lines {
            before: (0..=intervals)
                .map(|interval| place(interval).max(1) as u32 - 1)
                .collect(),
            speed: speed.clone(),
            force: force.clone(),
            gradient,
            scale,
        })
    }

    /// The line that a speed lies on.
    #[inline(always)]
    fn line(&self, speed: f64) -> usize {
        let interval = ((speed * self.scale) as usize).min(self.before.len() - 1);
        let mut i = self.before[interval] as usize;
        // A speed that is not a number is beyond the last point, as in `Table`.
        while i + 1 < self.speed.len() && (speed >= self.speed[i + 1] || speed.is_nan()) {
            i += 1;
        }
        i
    }

    #[inline(always)]
    fn value(&self, speed: f64) -> f64 {
        match self.line(speed) {
            i if i + 1 < self.speed.len() => self.force[i] + (speed - self.speed[i]) * self.gradient[i],
            last => self.force[last],
        }
    }

    #[inline(always)]
    fn slope(&self, speed: f64) -> f64 {
        self.gradient[self.line(speed)]
    }
}

/// A curve of the user: one side for both directions, or one for each; what holds a contact at rest may be more than the curve begins
/// with.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCurve {
    forward: CurveSide,
    backward: Option<CurveSide>,
    /// Largest force at rest, against a motion forward and backward.
    holding: [f64; 2],
    constant: bool,
    fall: f64,
    /// The forward side where it is made of points.
    lines: Option<Lines>,
}

impl GivenCurve {
    /// A curve whose sides have no [`CurveSide::fault`]; `holding` counts where it is more than the curve at rest.
    pub fn new(forward: CurveSide, backward: Option<CurveSide>, holding: Option<f64>) -> Self {
        let other = backward.as_ref().unwrap_or(&forward);
        let at_rest = |side: &CurveSide| side.value(0.0).max(holding.unwrap_or(0.0));
        GivenCurve {
            holding: [at_rest(&forward), at_rest(other)],
            constant: forward.constant() && other.constant(),
            fall: forward.steepest_fall().max(other.steepest_fall()),
            lines: Lines::of(&forward),
            forward,
            backward,
        }
    }

    fn backward(&self) -> &CurveSide {
        self.backward.as_ref().unwrap_or(&self.forward)
    }
}

impl<R: Real> Curve<R> for GivenCurve {
    #[inline(always)]
    fn total_and_rise(&self, speed: R, load: R) -> (R, R) {
        match &self.lines {
            Some(lines) => {
                // The line is looked for once.
                let line = speed.through(|v| lines.line(v) as f64, |_| 0.0);
                let start = line.through(|i| lines.speed[i as usize], |_| 0.0);
                let force = line.through(|i| lines.force[i as usize], |_| 0.0);
                let gradient = line.through(|i| lines.gradient[i as usize], |_| 0.0);
                ((force + (speed - start) * gradient) * load, gradient * load)
            }
            None => (self.dry(speed, load), self.slope(speed, load)),
        }
    }

    #[inline(always)]
    fn dry(&self, speed: R, load: R) -> R {
        let dry = match &self.lines {
            Some(lines) => speed.through(|v| lines.value(v), |v| lines.slope(v)),
            None => speed.through(|v| self.forward.value(v), |v| self.forward.slope(v)),
        };
        dry * load
    }

    #[inline(always)]
    fn slope(&self, speed: R, load: R) -> R {
        let slope = match &self.lines {
            Some(lines) => speed.through(|v| lines.slope(v), |_| 0.0),
            None => speed.through(|v| self.forward.slope(v), |_| 0.0),
        };
        slope * load
    }

    fn viscous(&self) -> R {
        R::zero()
    }

    #[inline]
    fn holding(&self, load: R) -> R {
        R::lit(self.holding[0]) * load
    }

    fn constant(&self) -> bool {
        self.constant
    }

    fn steepest_fall(&self) -> f64 {
        self.fall
    }

    #[inline]
    fn dry_backward(&self, speed: R, load: R) -> R {
        let side = self.backward();
        speed.through(|v| side.value(v), |v| side.slope(v)) * load
    }

    #[inline]
    fn slope_backward(&self, speed: R, load: R) -> R {
        let side = self.backward();
        speed.through(|v| side.slope(v), |_| 0.0) * load
    }

    #[inline]
    fn holding_backward(&self, load: R) -> R {
        R::lit(self.holding[1]) * load
    }

    #[inline]
    fn directed(&self) -> bool {
        self.backward.is_some()
    }
}

/// A curve of plain numbers, asked by any kind of number: the choice is made anew in every call, so that a law needs to be built
/// only once for all curves, and its functions are called, lest they be built anew in every law that asks them several times. Where steps are counted in nanoseconds `with_curve` makes it once.
impl<R: Real> Curve<R> for SteadyCurve {
    #[inline(never)]
    fn dry(&self, speed: R, load: R) -> R {
        match self {
            SteadyCurve::Stribeck(curve) => curve.lift().dry(speed, load),
            SteadyCurve::Given(curve) => curve.dry(speed, load),
        }
    }

    #[inline(never)]
    fn slope(&self, speed: R, load: R) -> R {
        match self {
            SteadyCurve::Stribeck(curve) => curve.lift().slope(speed, load),
            SteadyCurve::Given(curve) => curve.slope(speed, load),
        }
    }

    #[inline]
    fn viscous(&self) -> R {
        with_curve!(self, |c| R::lit(c.viscous()))
    }

    #[inline]
    fn holding(&self, load: R) -> R {
        with_curve!(self, |c| R::lit(c.holding(1.0)) * load)
    }

    fn constant(&self) -> bool {
        with_curve!(self, |c| Curve::<f64>::constant(c))
    }

    fn steepest_fall(&self) -> f64 {
        with_curve!(self, |c| Curve::<f64>::steepest_fall(c))
    }

    #[inline(never)]
    fn dry_backward(&self, speed: R, load: R) -> R {
        match self {
            SteadyCurve::Stribeck(_) => self.dry(speed, load),
            SteadyCurve::Given(curve) => curve.dry_backward(speed, load),
        }
    }

    #[inline(never)]
    fn slope_backward(&self, speed: R, load: R) -> R {
        match self {
            SteadyCurve::Stribeck(_) => self.slope(speed, load),
            SteadyCurve::Given(curve) => curve.slope_backward(speed, load),
        }
    }

    #[inline]
    fn holding_backward(&self, load: R) -> R {
        with_curve!(self, |c| R::lit(c.holding_backward(1.0)) * load)
    }

    #[inline]
    fn directed(&self) -> bool {
        with_curve!(self, |c| Curve::<f64>::directed(c))
    }
}

impl SteadyCurve {
    /// Curves side by side, if they have the same form; those of the user must be the same in all of them.
    pub(super) fn abreast(each: [&Self; WIDTH]) -> Option<SteadyCurve<Wide>> {
        match each[0] {
            SteadyCurve::Stribeck(first) => {
                let mut curves = [*first; WIDTH];
                for (own, curve) in curves.iter_mut().zip(each) {
                    let SteadyCurve::Stribeck(curve) = curve else {
                        return None;
                    };
                    *own = *curve;
                }
                let alike = curves.iter().all(|curve| curve.form() == first.form());
                alike.then(|| SteadyCurve::Stribeck(Stribeck::side_by_side(&curves)))
            }
            SteadyCurve::Given(first) => {
                let same = |curve: &&Self| matches!(curve, SteadyCurve::Given(curve) if curve == first);
                (each.iter().all(same)).then(|| SteadyCurve::Given(first.clone()))
            }
        }
    }
}
