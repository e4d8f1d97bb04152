//! The steady curve of a friction as scenarios give it: Coulomb, static, viscous and Stribeck friction in one formula of the core,
//! or points and expressions of the user, perhaps others for each direction.

use crate::network::abreast::{WIDTH, Wide};
use crate::profile::Expression;
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::scalar::{LookUp, Real};

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

/// The line of a table that begins at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TableLine {
    speed: f64,
    force: f64,
    gradient: f64,
}

/// One of many equal intervals of speed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpeedBin {
    /// The last line that begins before the interval on its left, or with it.
    first: u32,
    /// Force in its middle.
    force: f64,
}

/// The points of a side as lines. Speeds are sorted into equal intervals, and a search among the few lines of an interval finds the right
/// one: where the points are evenly spaced its cost does not depend on their number.
#[derive(Clone, Debug, PartialEq)]
struct TableLines {
    /// One for each point, the last level, and others that begin at infinite speed: no search has to look where the lines end.
    lines: Vec<TableLine>,
    intervals: Vec<SpeedBin>,
    /// Intervals to a unit of speed.
    scale: f64,
    /// From `first` of an interval on, 2 to the power of this many lines reach beyond the interval on its right.
    halvings: u32,
    /// The steepest fall of the force with speed.
    fall: f64,
}

impl TableLines {
    fn of(side: &CurveSide) -> Option<Self> {
        let CurveSide::Points(speed, force) = side else {
            return None;
        };
        let (last, count) = (speed.len() - 1, 4 * speed.len());
        let scale = count as f64 / speed[last];
        if !(scale.is_finite() && speed[last] > 0.0 && count < u32::MAX as usize) {
            return None;
        }
        let table = Table::trusted(speed, force);
        let line_at = |place: f64| speed.partition_point(|point| *point <= place / scale).max(1) - 1;
        let intervals: Vec<SpeedBin> = (0..=count)
            .map(|interval| SpeedBin {
                // One interval to the left: rounding may put a speed into the next, and the speed may be an estimate.
                first: line_at(interval.saturating_sub(1) as f64) as u32,
                force: table.value((interval as f64 + 0.5) / scale),
            })
            .collect();
        let beyond = |(interval, own): (usize, &SpeedBin)| line_at(interval as f64 + 2.0) - own.first as usize;
        let most = intervals.iter().enumerate().map(beyond).max().unwrap_or(0);
        let halvings = usize::BITS - most.leading_zeros();
        let mut lines: Vec<TableLine> = (0..=last)
            .map(|i| TableLine {
                speed: speed[i],
                force: force[i],
                gradient: table.rise(speed[i]),
            })
            .collect();
        let none = TableLine {
            speed: f64::INFINITY,
            force: force[last],
            gradient: 0.0,
        };
        lines.resize(last + 1 + (1 << halvings), none);
        Some(TableLines {
            fall: Curve::<f64>::steepest_fall(&table),
            lines,
            intervals,
            scale,
            halvings,
        })
    }

    /// The intervals that speeds lie in; NaN lies in the last.
    #[inline(always)]
    fn intervals<const N: usize>(&self, speeds: [f64; N]) -> [&SpeedBin; N] {
        let last = (self.intervals.len() - 1) as f64;
        let mut found = [&self.intervals[0]; N];
        for (found, speed) in found.iter_mut().zip(speeds) {
            let place = speed * self.scale;
            *found = &self.intervals[(if place < last { place } else { last }) as u32 as usize];
        }
        found
    }

    /// The last lines near `places` on whose first point v + c·f ≤ `bounds`, with c = `factors`.
    #[inline(always)]
    fn search<const N: usize>(&self, places: [f64; N], bounds: [f64; N], factors: [f64; N]) -> [usize; N] {
        let mut lines = [0; N];
        for (line, interval) in lines.iter_mut().zip(self.intervals(places)) {
            *line = interval.first as usize;
        }
        for halving in (0..self.halvings).rev() {
            for ((line, bound), factor) in lines.iter_mut().zip(bounds).zip(factors) {
                let next = &self.lines[*line + (1 << halving)];
                // No branch: it would be taken at random.
                *line += usize::from(next.speed + factor * next.force <= bound) << halving;
            }
        }
        lines
    }

    /// Speed and force where lines begin, their gradients, and the speeds where they end.
    #[inline(always)]
    fn numbers<const N: usize>(&self, lines: [usize; N]) -> [[f64; N]; 4] {
        let mut found = [[0.0; N]; 4];
        for i in 0..N {
            let [line, next] = [&self.lines[lines[i]], &self.lines[lines[i] + 1]];
            found[0][i] = line.speed;
            found[1][i] = line.force;
            found[2][i] = line.gradient;
            found[3][i] = next.speed;
        }
        found
    }
}

/// The line that a speed lies on, as [`TableLines::numbers`].
struct At<'a>(&'a TableLines);

impl LookUp<1, 4> for At<'_> {
    #[inline(always)]
    fn find<const N: usize>(&self, [speed]: [[f64; N]; 1]) -> [[f64; N]; 4] {
        self.0.numbers(self.0.search(speed, speed, [0.0; N]))
    }
}

/// The line on which s + c·g(s) = |v̄|, from |v̄| and c, as [`TableLines::numbers`]. Where the left side rises with s it is the last line on whose
/// first point that side is not above |v̄|, and near s ≈ |v̄| − c·g(|v̄|).
struct Crossing<'a>(&'a TableLines);

impl LookUp<2, 4> for Crossing<'_> {
    #[inline(always)]
    fn find<const N: usize>(&self, [speed, factor]: [[f64; N]; 2]) -> [[f64; N]; 4] {
        let mut places = speed;
        for ((place, factor), near) in places.iter_mut().zip(factor).zip(self.0.intervals(speed)) {
            *place -= factor * near.force;
        }
        self.0.numbers(self.0.search(places, speed, factor))
    }
}

/// One direction of a curve of the user.
#[derive(Clone, Debug, PartialEq)]
struct OneWay {
    curve: CurveSide,
    /// Where it is made of points.
    lines: Option<TableLines>,
}

impl OneWay {
    fn of(curve: CurveSide) -> Self {
        OneWay {
            lines: TableLines::of(&curve),
            curve,
        }
    }

    #[inline(always)]
    fn dry<R: Real>(&self, speed: R, load: R) -> R {
        match self.lines {
            Some(_) => self.dry_and_slope(speed, load).0,
            None => speed.through(|v| self.curve.value(v), |v| self.curve.slope(v)) * load,
        }
    }

    #[inline(always)]
    fn slope<R: Real>(&self, speed: R, load: R) -> R {
        match self.lines {
            Some(_) => self.dry_and_slope(speed, load).1,
            None => speed.through(|v| self.curve.slope(v), |_| 0.0) * load,
        }
    }

    #[inline(always)]
    fn dry_and_slope<R: Real>(&self, speed: R, load: R) -> (R, R) {
        let Some(lines) = &self.lines else {
            return (self.dry(speed, load), self.slope(speed, load));
        };
        let [start, force, gradient, _] = R::look_up([speed], &At(lines));
        ((force + (speed - start) * gradient) * load, gradient * load)
    }

    /// On the line f + g·(s − v): s = |v̄| − c·F with c = W·load and the friction F = (f + g·(|v̄| − v))/(1 + c·g). It is the only root if c·g
    /// falls less than s rises.
    #[inline(always)]
    fn slip_speed<R: Real>(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        let lines = self.lines.as_ref()?;
        let factor = compliance * load;
        let only = (factor * R::lit(lines.fall)).lt(R::one());
        let [start, force, gradient, end] = R::look_up([speed, factor], &Crossing(lines));
        let gradient = R::select(only, gradient, R::zero());
        let friction = (force + gradient * (speed - start)) / (R::one() + factor * gradient);
        let slip = speed - factor * friction;
        Some((slip, only & start.le(slip) & slip.lt(end)))
    }
}

/// A curve of the user: one side for both directions, or one for each; what holds a contact at rest may be more than the curve begins
/// with.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCurve {
    forward: OneWay,
    backward: Option<OneWay>,
    /// Largest force at rest, against a motion forward and backward.
    holding: [f64; 2],
    constant: bool,
    fall: f64,
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
            forward: OneWay::of(forward),
            backward: backward.map(OneWay::of),
        }
    }

    fn backward(&self) -> &OneWay {
        self.backward.as_ref().unwrap_or(&self.forward)
    }

    /// The slip speed forward or backward, by a call.
    #[inline(never)]
    fn slip_speed_called<R: Real>(&self, back: bool, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        let side = if back { self.backward() } else { &self.forward };
        side.slip_speed(load, speed, compliance)
    }
}

impl<R: Real> Curve<R> for GivenCurve {
    #[inline(always)]
    fn total_and_rise(&self, speed: R, load: R) -> (R, R) {
        self.forward.dry_and_slope(speed, load)
    }

    #[inline(always)]
    fn slip_speed(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        self.forward.slip_speed(load, speed, compliance)
    }

    #[inline(always)]
    fn slip_speed_backward(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        self.backward().slip_speed(load, speed, compliance)
    }

    #[inline(always)]
    fn dry(&self, speed: R, load: R) -> R {
        self.forward.dry(speed, load)
    }

    #[inline(always)]
    fn slope(&self, speed: R, load: R) -> R {
        self.forward.slope(speed, load)
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
        self.backward().dry(speed, load)
    }

    #[inline]
    fn slope_backward(&self, speed: R, load: R) -> R {
        self.backward().slope(speed, load)
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

/// A curve of plain numbers, asked by any kind of number. The form is chosen anew in every call, so that each law is compiled once and not
/// once for every form; the functions are not inlined, so that a law that asks several times does not hold several copies of them. Where
/// steps are counted in nanoseconds `with_curve` makes the choice once.
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

    // Only where there may be an answer is a function called.
    #[inline(always)]
    fn slip_speed(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        match self {
            SteadyCurve::Stribeck(_) => None,
            SteadyCurve::Given(curve) => curve.slip_speed_called(false, load, speed, compliance),
        }
    }

    #[inline(always)]
    fn slip_speed_backward(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        match self {
            SteadyCurve::Stribeck(_) => None,
            SteadyCurve::Given(curve) => curve.slip_speed_called(true, load, speed, compliance),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stickslip_core::friction::implicit::{resolve, slip_velocity};
    use stickslip_core::scalar::{Dual, F64x8, Lanes};

    fn given(speed: &[f64], force: &[f64]) -> GivenCurve {
        GivenCurve::new(CurveSide::Points(speed.to_vec(), force.to_vec()), None, None)
    }

    /// Points evenly spaced, or in equal ratios: then most of them lie in the first interval.
    fn speeds_of(points: usize, even: bool) -> Vec<f64> {
        let place = |i: usize| match even {
            true => 0.01 * i as f64,
            false => 1e-6 * libm::pow(1.2, i as f64 - 1.0),
        };
        (0..points).map(|i| if i == 0 { 0.0 } else { place(i) }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The closed form of a table against the search over the same points (`Table`), for one speed and in lanes, with its derivative.
        /// Where the curve is too steep for a closed form both search.
        #[test]
        fn a_table_slips_as_fast_as_a_search_finds(
            points in 2usize..150, even: bool, forces in prop::collection::vec(0.0..2.0f64, 150), load in 0.1..3.0f64,
            compliance in prop_oneof![Just(0.0), 1e-6..1e-3f64, 1e-3..1.0f64], above in prop::array::uniform8(0.0..1.0f64),
        ) {
            let (speed, force) = (speeds_of(points, even), &forces[..points]);
            let (curve, table) = (given(&speed, force), Table::new(&speed, force).unwrap());
            let least = compliance * force[0] * load;
            let free = above.map(|above| (least + 2.0 * speed[points - 1] * above * above) * (1.0 + 1e-9));
            let steep = compliance * load * Curve::<f64>::steepest_fall(&table);
            let lanes = slip_velocity(&curve, F64x8::lit(load), Lanes(free), F64x8::lit(compliance));
            for (lane, free) in free.into_iter().enumerate() {
                let own = resolve(&curve, load, [free], compliance, false);
                let searched = resolve(&table, load, [free], compliance, false);
                prop_assert_eq!(lanes.0[lane].to_bits(), own.velocity[0].to_bits());
                if steep >= 1.0 || own.stuck {
                    prop_assert_eq!(own.velocity[0].to_bits(), searched.velocity[0].to_bits());
                    continue;
                }
                // The sum is rounded; where the curve falls its root moves by more than that.
                let most = 8.0 * f64::EPSILON * free / (1.0 - steep);
                prop_assert!((own.velocity[0] - searched.velocity[0]).abs() <= most, "{own:?} {searched:?}");
                let varied = [Dual::<f64, 1>::variable(free, 0)];
                let dual = resolve(&curve, Dual::lit(load), varied, Dual::lit(compliance), false).velocity[0];
                let slope = 1.0 / (1.0 + compliance * curve.slope(own.velocity[0], load));
                prop_assert_eq!(dual.value.to_bits(), own.velocity[0].to_bits());
                // Beside a kink either line may be that of the derivative.
                let kink = speed.iter().any(|point| (point - own.velocity[0]).abs() <= most);
                prop_assert!(kink || (dual.grad[0] - slope).abs() <= 1e-12 * slope.max(1.0), "{} {slope}", dual.grad[0]);
            }
        }
    }

    /// Without a load or a compliance nothing is taken from the velocity, not even a digit.
    #[test]
    fn a_table_without_effect_changes_no_digit() {
        let (speed, force) = (speeds_of(150, true), [1.0; 149]);
        let curve = given(&speed, &[&[2.0], &force[..]].concat());
        for free in [1e-9, 0.1, 0.123456789, 1.0 / 3.0, 40.0] {
            for (load, compliance) in [(0.0, 1e-3), (1.0, 0.0)] {
                assert_eq!(resolve(&curve, load, [free], compliance, false).velocity[0], free);
            }
        }
    }

    /// What is no number finds an interval, too.
    #[test]
    fn a_speed_that_is_not_finite_is_no_panic() {
        let curve = given(&speeds_of(7, true), &[1.0; 7].map(|force| force + 0.5));
        let falling = given(&[0.0, 1.0, 2.0], &[2.0, 1.0, 1.5]);
        for curve in [&curve, &falling] {
            for free in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(!resolve(curve, 1.0, [free], 1e-3, false).velocity[0].is_finite());
            }
        }
    }
}
