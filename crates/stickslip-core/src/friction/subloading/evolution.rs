//! How the ratio R of the subloading surface grows with plastic slip γ: dR/dγ = U(R), and its exact flow.
//!
//! Both forms of U vanish at R = 1 and are infinite at R = 0, so the flow from R₀ = 0 exists although its first slope is
//! infinite. With the travel w = ∫ r/U dR counted from R = 0 the flow is w(R) = w(R₀) + r·γ:
//!
//! - U = −r·ln R (Ozaki, Hashiguchi and Chen 2007, eq 19): w = E₁(Y), Y = −ln R, E₁ the exponential integral;
//! - U = r·(1 − R)/R (the paper on the trapezoidal update, eq 9): w = −R − ln(1 − R), so 1 − R = −W₀(−e^(−1−w)), W₀ Lambert's function.
//!
//! The coefficients are near-minimax rational fits, computed with 60 digits for the ranges below; their own error stays
//! below 2⁻⁵², that of R with the rounding of its evaluation below 1e-15.

use crate::scalar::{Mask, Real};

/// The form of U(R).
#[derive(Clone, Copy, Debug, Default)]
pub enum Evolution {
    /// U = −r·ln R (Ozaki, Hashiguchi and Chen 2007, eq 19).
    #[default]
    Log,
    /// U = r·(1 − R)/R (the paper on the trapezoidal update, eq 9).
    Ratio,
    /// A function of the user's own. It stays for as long as the program runs, so that a law can be copied.
    Own(&'static dyn OwnEvolution),
}

/// U(R)/r of the user's own: it falls from +∞ at R = 0 to 0 at R = 1 and is negative beyond (seed 003, eq 18).
pub trait OwnEvolution: core::fmt::Debug + Send + Sync {
    /// U/r and its slope for 0 < R.
    fn speed(&self, ratio: f64) -> [f64; 2];
    /// Travel ∫ r/U dR from R = 0 for 0 < R < 1.
    fn travel(&self, ratio: f64) -> f64;
    /// R after a travel from R = 0; 1 where that is too long to be told from the way to 1.
    fn ratio(&self, travel: f64) -> f64;
}

impl PartialEq for Evolution {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Evolution::Log, Evolution::Log) | (Evolution::Ratio, Evolution::Ratio) => true,
            (Evolution::Own(one), Evolution::Own(other)) => core::ptr::addr_eq(*one, *other),
            _ => false,
        }
    }
}

impl Eq for Evolution {}

/// A smaller R, or a shorter travel of the logarithmic form, counts as this one, where U is finite, also in `f32`.
const SMALLEST: f64 = 1e-37;
/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;
/// E₁(1): Y = 1 there, where one fit takes over from the other.
const TRAVEL_AT_ONE: f64 = 0.219_383_934_395_520_27;
/// The travel at which the two fits of the other form meet.
const TRAVEL_AT_HALF: f64 = 0.5;

/// Value of the polynomial with these coefficients, lowest power first.
#[inline]
fn polynomial<R: Real>(x: R, coefficients: &[f64]) -> R {
    coefficients
        .iter()
        .rev()
        .fold(R::zero(), |sum, &coefficient| sum * x + R::lit(coefficient))
}

/// f(Y) = Y·e^Y·E₁(Y) for Y ≥ 1, a rational function of 1/Y.
#[inline]
fn scaled_integral<R: Real>(y: R) -> R {
    const UP: [f64; 11] = [
        0.999_999_999_999_999_99,
        40.972_047_671_159_63,
        648.888_861_360_964_8,
        5_134.147_950_073_229,
        21_945.799_158_949_24,
        51_325.846_755_246_16,
        63_735.167_940_699_48,
        38_972.851_286_294_34,
        10_112.823_543_621_323,
        800.301_617_194_537,
        4.406_314_260_861_112,
    ];
    const DOWN: [f64; 11] = [
        1.0,
        41.972_047_671_159_58,
        688.860_909_032_156_3,
        5_745.064_763_755_364,
        26_540.974_391_652_57,
        69_622.527_850_469_14,
        102_530.123_921_566_33,
        81_105.458_344_079_9,
        31_563.294_613_205_784,
        5_101.224_083_679_957,
        230.552_812_062_262_54,
    ];
    let x = R::one() / y;
    polynomial(x, &UP) / polynomial(x, &DOWN)
}

/// Y where E₁(Y) = w ≥ E₁(1). In E = e^(−γ−w) this is regular: Y·exp(−Ein Y) = E. The variable E/(1 − 1.7 E) keeps the
/// singularity at w = 0 away.
#[inline]
fn short_of_one<R: Real>(travel: R) -> R {
    const UP: [f64; 9] = [
        1.0,
        5.481_338_084_198_797,
        11.575_788_914_447_18,
        11.791_543_074_520_002,
        5.892_670_109_943_538,
        1.264_587_141_931_971,
        0.057_830_227_158_384_08,
        -0.006_746_803_864_038_544,
        -0.000_144_267_694_094_596_7,
    ];
    const DOWN: [f64; 9] = [
        1.0,
        4.481_338_084_198_817,
        7.544_450_830_246_46,
        5.901_472_160_014_292,
        2.114_849_471_555_028_5,
        0.265_521_050_364_381_04,
        -0.007_804_564_306_903_276,
        -0.001_758_466_321_434_203_4,
        0.000_017_146_361_134_741_74,
    ];
    let e = (-R::lit(EULER) - travel).exp();
    let x = e / (R::one() - R::lit(1.7) * e);
    e * polynomial(x, &UP) / polynomial(x, &DOWN)
}

/// Y where E₁(Y) = w ≤ E₁(1): Newton's method on ln E₁(Y) = ln w, whose slope is −1/f(Y). From this start three rounds
/// reach rounding for every w down to 1e-37.
#[inline]
fn beyond_one<R: Real>(travel: R) -> R {
    let target = -travel.ln();
    let mut y = target - (R::one() + target).ln() + R::lit(0.4);
    for _ in 0..3 {
        let f = scaled_integral(y);
        y += f * (target - y - (y / f).ln());
    }
    y
}

impl Evolution {
    /// U(R)/r; an R below 1e-37 counts as 1e-37.
    #[inline(always)]
    pub fn speed<R: Real>(self, ratio: R) -> R {
        let ratio = ratio.max(R::lit(SMALLEST));
        match self {
            Evolution::Log => -ratio.ln(),
            Evolution::Ratio => (R::one() - ratio) / ratio,
            Evolution::Own(own) => ratio.through(|x| own.speed(x)[0], |x| own.speed(x)[1]),
        }
    }

    /// Derivative of [`Evolution::speed`].
    #[inline(always)]
    pub fn speed_slope<R: Real>(self, ratio: R) -> R {
        let ratio = ratio.max(R::lit(SMALLEST));
        match self {
            Evolution::Log => -R::one() / ratio,
            Evolution::Ratio => -R::one() / (ratio * ratio),
            Evolution::Own(own) => ratio.through(|x| own.speed(x)[1], |_| 0.0),
        }
    }

    /// Travel r·γ from R = 0 to `ratio`, which is at most 1; at 1 it is that of the number next to 1.
    #[inline]
    pub fn travel<R: Real>(self, ratio: R) -> R {
        // 1 − 2⁻⁵³: nearer to 1 there is no number to come from.
        let ratio = ratio.clamp(R::lit(SMALLEST), R::lit(1.0 - f64::EPSILON / 2.0));
        match self {
            Evolution::Log => {
                let y = -ratio.ln();
                let near = y.lt(R::one());
                let far_y = R::select(near, R::one(), y);
                let far = ratio * scaled_integral(far_y) / far_y;
                if !near.any() {
                    return far;
                }
                // Ein(Y) = Σ (−1)^(k+1) Y^k/(k·k!)
                let small = R::select(near, y, R::one());
                let mut sum = R::zero();
                for (k, factorial) in FACTORIALS.into_iter().enumerate().rev() {
                    let k = k + 1;
                    let term = if k % 2 == 1 { 1.0 } else { -1.0 };
                    sum = sum * small + R::lit(term / (k as f64 * factorial));
                }
                R::select(near, sum * small - R::lit(EULER) - small.ln(), far)
            }
            Evolution::Ratio => {
                // −R − ln(1 − R); of a small R, where both nearly cancel, by ln(1 − R) = −2·artanh y with y = R/(2 − R):
                // 2y²/(1 + y) + 2y³·(1/3 + y²/5 + y⁴/7 + …).
                let near = ratio.lt(R::lit(0.25));
                let y = R::select(near, ratio / (R::lit(2.0) - ratio), R::zero());
                let mut sum = R::zero();
                for k in (1..10).rev() {
                    sum = sum * y * y + R::lit(1.0 / (2 * k + 1) as f64);
                }
                let small = (y / (R::one() + y) + y * y * sum) * y * R::lit(2.0);
                if near.all() {
                    return small;
                }
                // ln(1 − R) with what the rounding of 1 − R lost.
                let rest = R::one() - ratio;
                let lost = (R::one() - rest) - ratio;
                R::select(near, small, -ratio - (rest.ln() + lost / rest))
            }
            Evolution::Own(own) => ratio.through(|x| own.travel(x), |x| 1.0 / own.speed(x)[0]),
        }
    }

    /// R after a travel from R = 0.
    #[inline]
    pub fn ratio<R: Real>(self, travel: R) -> R {
        self.flow(travel).0
    }

    /// R after a travel from R = 0, and U(R)/r there, which falls off with less rounding than from R.
    #[inline]
    pub fn flow<R: Real>(self, travel: R) -> (R, R) {
        match self {
            Evolution::Log => {
                let travel = travel.max(R::lit(SMALLEST));
                let far = travel.lt(R::lit(TRAVEL_AT_ONE));
                let mut y = short_of_one(travel.max(R::lit(TRAVEL_AT_ONE)));
                if far.any() {
                    y = R::select(far, beyond_one(travel.min(R::lit(TRAVEL_AT_ONE))), y);
                }
                ((-y).exp(), y)
            }
            Evolution::Ratio => {
                let near = travel.lt(R::lit(TRAVEL_AT_HALF));
                let risen = from_zero(travel.min(R::lit(TRAVEL_AT_HALF)));
                let missing = to_one(travel.max(R::lit(TRAVEL_AT_HALF)));
                let ratio = R::select(near, risen, R::one() - missing).max(R::lit(SMALLEST));
                (ratio, R::select(near, R::one() - ratio, missing) / ratio)
            }
            Evolution::Own(own) => {
                let ratio = travel.through(|w| own.ratio(w), |w| own.speed(own.ratio(w))[0]);
                (ratio, R::zero().max(self.speed(ratio)))
            }
        }
    }
}

/// R of the form (1 − R)/R for a travel w up to ½, regular in σ = √(2w): R = σ − σ²/3 + …
#[inline]
fn from_zero<R: Real>(travel: R) -> R {
    const UP: [f64; 7] = [
        1.0,
        -1.162_750_964_562_526_5,
        0.621_048_115_379_304_4,
        -0.190_034_855_147_443_8,
        0.034_823_740_421_685_54,
        -0.003_602_267_959_839_785_3,
        0.000_163_916_849_901_729_36,
    ];
    const DOWN: [f64; 6] = [
        1.0,
        -0.829_417_631_229_192_7,
        0.316_797_793_858_445_4,
        -0.065_099_915_586_150_1,
        0.007_164_265_510_513_903,
        -0.000_328_389_851_187_070_43,
    ];
    let sigma = (travel + travel).sqrt();
    sigma * polynomial(sigma, &UP) / polynomial(sigma, &DOWN)
}

/// 1 − R of the form (1 − R)/R for a travel w from ½, regular in E = e^(−1−w); the variable E/(1 − 2.5 E) keeps the branch
/// point of Lambert's function away.
#[inline]
fn to_one<R: Real>(travel: R) -> R {
    const UP: [f64; 7] = [
        1.0,
        6.610_028_130_693_705,
        15.549_705_107_065_75,
        15.277_934_426_462_692,
        5.264_604_037_692_001,
        -0.021_926_685_771_485_932,
        -0.102_124_689_106_170_07,
    ];
    const DOWN: [f64; 7] = [
        1.0,
        5.610_028_130_693_892,
        10.939_676_976_342_05,
        8.531_618_916_001_887,
        2.016_788_852_706_969_3,
        -0.177_823_354_940_327_2,
        -0.037_355_633_132_335_674,
    ];
    let e = (-R::one() - travel).exp();
    let x = e / (R::one() - R::lit(2.5) * e);
    e * polynomial(x, &UP) / polynomial(x, &DOWN)
}

/// 1! to 18!.
pub(super) const FACTORIALS: [f64; 18] = {
    let mut factorials = [1.0; 18];
    let mut k = 1;
    while k < 18 {
        factorials[k] = factorials[k - 1] * (k + 1) as f64;
        k += 1;
    }
    factorials
};
