//! Exponential and logarithm of `f64` as straight-line code.
//!
//! There is no branch, no table and no fused multiply-add: a loop over lanes around these functions becomes vector
//! instructions, and each lane goes through the same roundings as a single number does. The error stays below 0.8 ulp.
//!
//! The polynomial coefficients are minimax fits, computed with 300-bit arithmetic for the reduced ranges below.

/// ln 2 cut after 42 bits, so that its product with an exponent (11 bits) is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEFA_3800);
/// What the cut left over.
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
/// Adding 1.5·2⁵² leaves no bits behind the binary point: the sum is rounded to an integer, which stands in the low
/// bits of the mantissa (two's complement); subtracting it again gives that integer as a number.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Width of the mantissa field.
const MANTISSA_BITS: u32 = 52;
/// Bits of 1.0: the exponent bias in the exponent field.
const ONE_BITS: u64 = 1023 << MANTISSA_BITS;

/// 2 to the power of the integer that `rounded` (an integer plus [`ROUND`]) carries; the power lies within ±1022.
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits((rounded.to_bits() << MANTISSA_BITS).wrapping_add(ONE_BITS))
}

/// e to the power of `x`.
///
/// With k = round(x / ln 2) and r = x − k ln 2, |r| ≤ ½ ln 2: eˣ = 2ᵏ (1 + r + r² q(r)).
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // Beyond these the result is ∞ or 0 whatever x is, and k stays in range. NaN fails both comparisons and remains.
    const OVERFLOWS: f64 = 709.79;
    const UNDERFLOWS: f64 = -745.14;
    let x = if OVERFLOWS < x { OVERFLOWS } else { x };
    let x = if x < UNDERFLOWS { UNDERFLOWS } else { x };

    let k = (x * core::f64::consts::LOG2_E + ROUND) - ROUND;
    let high = x - k * LN_2_HIGH; // exact
    let low = k * LN_2_LOW;
    let r = high - low;

    // q(r) = (eʳ − 1 − r)/r², error of eʳ below 2⁻⁶². Pairs first: a shorter chain than Horner's.
    let r2 = r * r;
    let r4 = r2 * r2;
    let q01 = 0.5 + 0.166_666_666_666_666_7 * r;
    let q23 = 0.041_666_666_666_666_685 + 0.008_333_333_333_326_141 * r;
    let q45 = 0.001_388_888_888_887_440_7 + 0.000_198_412_698_748_020_16 * r;
    let q67 = 2.480_158_734_731_958_3e-5 + 2.755_725_542_403_936_3e-6 * r;
    let q89 = 2.755_725_293_228_582e-7 + 2.510_520_701_372_185_6e-8 * r;
    let q8 = q89 + 2.092_158_246_563_221e-9 * r2;
    let q = (q01 + q23 * r2) + ((q45 + q67 * r2) + q8 * r4) * r4;

    // 1 + high loses its last bits; they are recovered exactly and added to the small terms.
    let sum = 1.0 + high;
    let lost = high - (sum - 1.0);
    let y = sum + (lost + (r2 * q - low));

    // 2ᵏ in two factors, as k may lie outside the exponents of normal numbers: only the last product rounds.
    let half = k * 0.5 + ROUND;
    let other_half = (k - (half - ROUND)) + ROUND;
    y * power_of_two(half) * power_of_two(other_half)
}

/// Natural logarithm of `x`: −∞ at zero, NaN below.
///
/// With x = 2ᵏ (1 + f), √½ ≤ 1 + f < √2, and s = f/(2 + f): ln(1 + f) = 2 artanh s = f − f²/2 + s (f²/2 + R(s²)).
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const SQRT_HALF_BITS: u64 = core::f64::consts::FRAC_1_SQRT_2.to_bits();
    const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    const TWO_54: f64 = 18_014_398_509_481_984.0;

    let subnormal = x < f64::MIN_POSITIVE;
    let normal = if subnormal { x * TWO_54 } else { x };
    let bias = if subnormal { TWO_52 + 1077.0 } else { TWO_52 + 1023.0 };

    // Subtracting the bits of √½ puts the break between exponents there. k + 1023 becomes a number as the mantissa of
    // 2⁵² + k + 1023: vector units without a conversion from 64-bit integers can do that.
    let shifted = (normal.to_bits().wrapping_sub(SQRT_HALF_BITS)).wrapping_add(ONE_BITS);
    let k = f64::from_bits((shifted >> MANTISSA_BITS) | TWO_52.to_bits()) - bias;
    let f = f64::from_bits((shifted & MANTISSA) + SQRT_HALF_BITS) - 1.0;

    // R(z) = 2 artanh(s)/s − 2, z = s², error of the logarithm below 2⁻⁶⁴.
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let r01 = 0.666_666_666_666_666_6 + 0.400_000_000_000_008_85 * z;
    let r23 = 0.285_714_285_707_986_1 + 0.222_222_223_927_332_24 * z;
    let r45 = 0.181_817_955_411_550_38 + 0.153_862_446_361_635_35 * z;
    let r67 = 0.132_686_512_144_939_9 + 0.130_878_098_858_014_88 * z;
    let r = z * ((r01 + r23 * z2) + (r45 + r67 * z2) * (z2 * z2));

    // k ln 2 + f loses its last bits; they are recovered exactly and added to the small terms.
    let whole = k * LN_2_HIGH; // exact
    let sum = whole + f;
    let lost = f - (sum - whole);
    let half_square = 0.5 * f * f;
    let y = sum + (lost - (half_square - (s * (half_square + r) + k * LN_2_LOW)));

    let not_negative = if x < 0.0 { f64::NAN } else { x };
    let special = if x == 0.0 { f64::NEG_INFINITY } else { not_negative };
    let ordinary = (x > 0.0) & (x < f64::INFINITY);
    if ordinary { y } else { special }
}
