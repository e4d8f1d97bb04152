//! The steady friction curve: force against sliding speed (the paper on model P, eqs 3-6).

use crate::scalar::{Lanes, Mask, Real};

/// Magnitude of steady friction as a function of speed.
///
/// `load` multiplies the dry part: it is the normal force where the curve is a coefficient, and 1 where it is a force.
pub trait Curve<R: Real> {
    /// Dry friction at a speed above zero; at zero its limit from above, |φ(±0)|.
    fn dry(&self, speed: R, load: R) -> R;
    /// Derivative of [`Curve::dry`] with respect to speed.
    fn slope(&self, speed: R, load: R) -> R;
    /// Viscous coefficient: force per speed, added to the dry part.
    fn viscous(&self) -> R;
    /// The largest force that holds a contact already at rest.
    fn holding(&self, load: R) -> R;
    /// True when neither speed nor viscosity change the force, so that the closed form of the paper on model P, eq 11 applies.
    fn constant(&self) -> bool;
    /// A bound of how steeply the force falls with speed: max of −d(dry)/dv (0 if it never falls), per unit of load.
    /// It decides whether the paper on model P, eq 14 has one solution: T/M times this bound must stay below 1.
    fn steepest_fall(&self) -> f64;

    /// Whole friction at a speed: dry and viscous part.
    #[inline(always)]
    fn total(&self, speed: R, load: R) -> R {
        self.dry(speed, load) + self.viscous() * speed
    }

    /// [`Curve::total`] and its derivative with respect to speed, which share most of their work.
    #[inline(always)]
    fn total_and_rise(&self, speed: R, load: R) -> (R, R) {
        (self.total(speed, load), self.slope(speed, load) + self.viscous())
    }

    /// The slip speed s of the paper on model P, eq 14, s + W·g(s) = |v̄|, where the curve finds it without a search, and in which lanes
    /// it does. It is asked only where |v̄| > W·g(0⁺).
    #[inline(always)]
    fn slip_speed(&self, _load: R, _speed: R, _compliance: R) -> Option<(R, R::Mask)> {
        None
    }

    /// [`Curve::slip_speed`] backward.
    #[inline(always)]
    fn slip_speed_backward(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        self.slip_speed(load, speed, compliance)
    }

    /// [`Curve::dry`] where the contact slides backward. A curve that differs by direction has its own.
    #[inline(always)]
    fn dry_backward(&self, speed: R, load: R) -> R {
        self.dry(speed, load)
    }
    /// [`Curve::slope`] backward.
    #[inline(always)]
    fn slope_backward(&self, speed: R, load: R) -> R {
        self.slope(speed, load)
    }
    /// [`Curve::holding`] against a motion backward.
    #[inline(always)]
    fn holding_backward(&self, load: R) -> R {
        self.holding(load)
    }
    /// Whether the direction of sliding makes a difference; it can on one axis only.
    #[inline(always)]
    fn directed(&self) -> bool {
        false
    }

    /// The curve for sliding along `motion`: on one axis its sign chooses.
    #[inline(always)]
    fn toward<const N: usize>(&self, motion: [R; N]) -> Toward<'_, Self, R>
    where
        Self: Sized,
    {
        let backward = motion.first().map(|first| first.lt(R::zero())).filter(|_| N == 1);
        Toward { curve: self, backward }
    }
}

/// A curve for one direction of sliding.
#[derive(Clone, Copy, Debug)]
pub struct Toward<'a, C, R: Real> {
    curve: &'a C,
    /// None where there is no backward.
    backward: Option<R::Mask>,
}

impl<C: Curve<R>, R: Real> Curve<R> for Toward<'_, C, R> {
    #[inline(always)]
    fn dry(&self, speed: R, load: R) -> R {
        // Written out three times: a closure is not always inlined, and a call would leave code that is compiled for wide vectors.
        let forward = self.curve.dry(speed, load);
        match self.backward {
            Some(mask) if self.curve.directed() => R::select(mask, self.curve.dry_backward(speed, load), forward),
            _ => forward,
        }
    }
    #[inline(always)]
    fn slope(&self, speed: R, load: R) -> R {
        let forward = self.curve.slope(speed, load);
        match self.backward {
            Some(mask) if self.curve.directed() => R::select(mask, self.curve.slope_backward(speed, load), forward),
            _ => forward,
        }
    }
    #[inline(always)]
    fn viscous(&self) -> R {
        self.curve.viscous()
    }
    #[inline(always)]
    fn total_and_rise(&self, speed: R, load: R) -> (R, R) {
        match self.backward {
            Some(_) if self.curve.directed() => (self.total(speed, load), self.slope(speed, load) + self.viscous()),
            _ => self.curve.total_and_rise(speed, load),
        }
    }
    #[inline(always)]
    fn holding(&self, load: R) -> R {
        let forward = self.curve.holding(load);
        match self.backward {
            Some(mask) if self.curve.directed() => R::select(mask, self.curve.holding_backward(load), forward),
            _ => forward,
        }
    }
    #[inline(always)]
    fn constant(&self) -> bool {
        self.curve.constant()
    }
    fn steepest_fall(&self) -> f64 {
        self.curve.steepest_fall()
    }
    #[inline(always)]
    fn slip_speed(&self, load: R, speed: R, compliance: R) -> Option<(R, R::Mask)> {
        let forward = self.curve.slip_speed(load, speed, compliance);
        let Some(mask) = self.backward.filter(|_| self.curve.directed()) else {
            return forward;
        };
        let (forward, found) = forward?;
        let (backward, found_backward) = self.curve.slip_speed_backward(load, speed, compliance)?;
        let found = (mask & found_backward) | (!mask & found);
        Some((R::select(mask, backward, forward), found))
    }
}

/// Coulomb, static, viscous and Stribeck friction in one curve:
///
/// g(v) = kinetic + (holding − kinetic)·exp(−(v/v_s)^δ) + viscous·v
///
/// the paper on model P, eq 6 with its sign corrected (the force on the body is −g(|v|)·sgn(v)). Without a Stribeck velocity the
/// dry part is `kinetic` at every speed and `holding` acts only on a contact at rest (the paper on model P, eq 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stribeck<R> {
    /// Dry friction of fast sliding.
    pub kinetic: R,
    /// Largest force at rest.
    pub holding: R,
    /// Viscous coefficient.
    pub viscous: R,
    /// Stribeck velocity; 0 means there is no Stribeck effect.
    pub velocity: R,
    /// Stribeck exponent δ.
    pub exponent: R,
    constant: bool,
    falling: bool,
    power: Power,
    /// 1/v_s, where the exponent is 1 or 2.
    inverse: R,
    fall: f64,
}

/// How a number is raised to the Stribeck exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    /// To 1: it is the number itself.
    First,
    /// To 2, by far the most common exponent: one product.
    Second,
    /// By logarithm and exponential.
    Any,
}

impl Power {
    fn of(exponent: f64) -> Self {
        if exponent == 1.0 {
            Power::First
        } else if exponent == 2.0 {
            Power::Second
        } else {
            Power::Any
        }
    }
}

/// What must be the same in curves whose numbers go side by side: whether they are constant, whether they fall, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form(bool, bool, Power);

impl Stribeck<f64> {
    /// What must be the same in curves side by side.
    pub fn form(&self) -> Form {
        Form(self.constant, self.falling, self.power)
    }

    /// Coulomb friction (the paper on model P, eq 3).
    pub fn coulomb(force: f64) -> Self {
        Self::new(force, force, 0.0, None, 2.0)
    }

    /// The general curve. Values are taken as given; scenarios check them first.
    pub fn new(kinetic: f64, holding: f64, viscous: f64, stribeck: Option<f64>, exponent: f64) -> Self {
        let falling = stribeck.is_some() && holding != kinetic;
        let fall = match stribeck {
            Some(velocity) if falling => (holding - kinetic) / velocity * steepest_decay(exponent),
            _ => 0.0,
        };
        Stribeck {
            kinetic,
            holding,
            viscous,
            velocity: stribeck.unwrap_or(0.0),
            exponent,
            constant: !falling && viscous == 0.0,
            falling,
            power: Power::of(exponent),
            inverse: stribeck.map_or(0.0, |velocity| 1.0 / velocity),
            fall: fall.max(0.0),
        }
    }

    /// The same curve in another kind of number.
    pub fn lift<R: Real>(&self) -> Stribeck<R> {
        Stribeck {
            kinetic: R::lit(self.kinetic),
            holding: R::lit(self.holding),
            viscous: R::lit(self.viscous),
            velocity: R::lit(self.velocity),
            exponent: R::lit(self.exponent),
            constant: self.constant,
            falling: self.falling,
            power: self.power,
            inverse: R::lit(self.inverse),
            fall: self.fall,
        }
    }
}

impl<R: Real> Stribeck<R> {
    /// (v/v_s)^δ.
    #[inline(always)]
    fn raised(&self, speed: R) -> R {
        match self.power {
            Power::First => speed * self.inverse,
            Power::Second => {
                let ratio = speed * self.inverse;
                ratio * ratio
            }
            Power::Any => (speed / self.velocity).powf(self.exponent),
        }
    }

    /// Derivative of (holding − kinetic)·exp(−(v/v_s)^δ) with respect to speed, from (v/v_s)^δ and the exponential itself.
    #[inline(always)]
    fn decay_slope(&self, speed: R, power: R, decay: R) -> R {
        let fall = -(self.holding - self.kinetic);
        match self.power {
            Power::First => fall * self.inverse * decay,
            Power::Second => fall * (self.inverse + self.inverse) * (speed * self.inverse) * decay,
            // d/dv exp(−u^δ) = −δ/v·u^δ·exp(−u^δ), u = v/v_s.
            Power::Any => fall * self.exponent / speed * power * decay,
        }
    }

    /// Whether one force acts at every speed and at rest, so that the closed form of the paper on model P, eq 11 applies.
    #[inline(always)]
    pub fn is_coulomb(&self) -> bool {
        self.constant && self.holding.same(self.kinetic).all()
    }
}

impl<const N: usize> Stribeck<Lanes<N>> {
    /// Several curves side by side. All must have the same [`Stribeck::form`]: lanes take the same way.
    pub fn side_by_side(curves: &[Stribeck<f64>; N]) -> Self {
        let side = |get: fn(&Stribeck<f64>) -> f64| Lanes(core::array::from_fn(|i| get(&curves[i])));
        debug_assert!(curves.iter().all(|curve| curve.form() == curves[0].form()));
        Stribeck {
            kinetic: side(|curve| curve.kinetic),
            holding: side(|curve| curve.holding),
            viscous: side(|curve| curve.viscous),
            velocity: side(|curve| curve.velocity),
            exponent: side(|curve| curve.exponent),
            constant: curves.iter().all(|curve| curve.constant),
            falling: curves.iter().any(|curve| curve.falling),
            power: curves[0].power,
            inverse: side(|curve| curve.inverse),
            fall: curves.iter().map(|curve| curve.fall).fold(0.0, f64::max),
        }
    }
}

/// Largest −d/du exp(−u^δ) over u > 0: at u^δ = (δ−1)/δ for δ > 1, the limit 1 for δ = 1, unbounded for δ < 1.
fn steepest_decay(exponent: f64) -> f64 {
    if exponent < 1.0 {
        return f64::INFINITY;
    }
    if exponent == 1.0 {
        return 1.0;
    }
    let power = (exponent - 1.0) / exponent;
    exponent * libm::pow(power, power) * libm::exp(-power)
}

impl<R: Real> Curve<R> for Stribeck<R> {
    #[inline(always)]
    fn dry(&self, speed: R, load: R) -> R {
        if !self.falling {
            return self.kinetic * load;
        }
        let decay = (-self.raised(speed)).exp();
        (self.kinetic + (self.holding - self.kinetic) * decay) * load
    }

    #[inline(always)]
    fn slope(&self, speed: R, load: R) -> R {
        if !self.falling {
            return R::zero();
        }
        // Taken at a tiny speed in place of 0, where that of another power may have none.
        let speed = match self.power {
            Power::Any => speed.max(self.velocity * R::lit(1e-12)),
            _ => speed,
        };
        let power = self.raised(speed);
        self.decay_slope(speed, power, (-power).exp()) * load
    }

    #[inline(always)]
    fn total_and_rise(&self, speed: R, load: R) -> (R, R) {
        // Below the tiny speed that the slope of some powers is taken at the two differ.
        let apart = || self.power == Power::Any && speed.lt(self.velocity * R::lit(1e-12)).any();
        if !self.falling || apart() {
            return (self.total(speed, load), self.slope(speed, load) + self.viscous);
        }
        let power = self.raised(speed);
        let decay = (-power).exp();
        let dry = (self.kinetic + (self.holding - self.kinetic) * decay) * load;
        let slope = self.decay_slope(speed, power, decay) * load;
        (dry + self.viscous * speed, slope + self.viscous)
    }

    #[inline(always)]
    fn viscous(&self) -> R {
        self.viscous
    }

    #[inline(always)]
    fn holding(&self, load: R) -> R {
        self.holding * load
    }

    #[inline(always)]
    fn constant(&self) -> bool {
        self.constant
    }

    fn steepest_fall(&self) -> f64 {
        self.fall
    }
}

/// A measured curve: force at given speeds, linear in between, the last value beyond.
///
/// The first speed must be 0; its force is also the holding force.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    speed: &'a [f64],
    force: &'a [f64],
}

impl<'a> Table<'a> {
    /// A curve through the given points; `None` unless speeds begin at 0 and increase, forces are not negative, there
    /// are as many of one as of the other, and no two speeds are so close that the slope between them overflows.
    pub fn new(speed: &'a [f64], force: &'a [f64]) -> Option<Self> {
        let increasing = speed.windows(2).all(|pair| pair[0] < pair[1]);
        let valid = force.iter().all(|&f| f >= 0.0 && f.is_finite()) && speed.iter().all(|v| v.is_finite());
        let steepness = |(v, f): (&[f64], &[f64])| (f[1] - f[0]).abs() * 1e-300 <= v[1] - v[0];
        let finite = speed.windows(2).zip(force.windows(2)).all(steepness);
        (speed.len() == force.len() && speed.first() == Some(&0.0) && increasing && valid && finite)
            .then_some(Table { speed, force })
    }

    /// A curve through points that [`Table::new`] has accepted before: nothing is checked again.
    #[inline(always)]
    pub fn trusted(speed: &'a [f64], force: &'a [f64]) -> Self {
        Table { speed, force }
    }

    fn gradient(&self, i: usize) -> f64 {
        (self.force[i + 1] - self.force[i]) / (self.speed[i + 1] - self.speed[i])
    }

    /// The piece between two points that a speed lies on; the number of the last point beyond it.
    #[inline(always)]
    fn piece(&self, speed: f64) -> usize {
        // A speed that is not a number is beyond, too.
        let passed = |point: &f64| !matches!(speed.partial_cmp(point), Some(core::cmp::Ordering::Less));
        self.speed.partition_point(passed).max(1) - 1
    }

    /// Force at a speed.
    #[inline(always)]
    pub fn value(&self, speed: f64) -> f64 {
        match self.piece(speed) {
            i if i + 1 < self.speed.len() => self.force[i] + (speed - self.speed[i]) * self.gradient(i),
            last => self.force[last],
        }
    }

    /// Change of the force with speed.
    #[inline(always)]
    pub fn rise(&self, speed: f64) -> f64 {
        match self.piece(speed) {
            i if i + 1 < self.speed.len() => self.gradient(i),
            _ => 0.0,
        }
    }
}

impl<R: Real> Curve<R> for Table<'_> {
    #[inline(always)]
    fn dry(&self, speed: R, load: R) -> R {
        speed.through(|v| self.value(v), |v| self.rise(v)) * load
    }

    #[inline(always)]
    fn slope(&self, speed: R, load: R) -> R {
        speed.through(|v| self.rise(v), |_| 0.0) * load
    }

    fn viscous(&self) -> R {
        R::zero()
    }

    fn holding(&self, load: R) -> R {
        R::lit(self.force[0]) * load
    }

    fn constant(&self) -> bool {
        self.force.iter().all(|&f| f == self.force[0])
    }

    fn steepest_fall(&self) -> f64 {
        (0..self.speed.len() - 1).map(|i| -self.gradient(i)).fold(0.0, f64::max)
    }
}
