//! Where an axis carries marks and what is written beside them.

use crate::text::superscript;

/// The marks of one axis. Positions are values of the axis: on a log axis, decadic logarithms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    /// Positions with their labels.
    pub major: Vec<(f64, String)>,
    /// Positions without labels.
    pub minor: Vec<f64>,
    /// What all labels have in common, such as "×10⁻³"; empty for nothing.
    pub note: String,
}

/// Evenly spaced decimal numbers: `mantissas[i]` × 10^`exponent`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decimals {
    pub mantissas: Vec<i64>,
    pub exponent: i32,
}

/// n × 10^e, correctly rounded.
pub(crate) fn decimal(n: i64, e: i32) -> f64 {
    format!("{n}e{e}").parse().unwrap_or(f64::NAN)
}

/// Between 3 and 10 multiples of 1, 2, 2.5 or 5 times a power of ten within [lo, hi], as near to `wanted` as possible.
/// The range must be finite, and its width at least 1e-12 of its larger end, so that the multiples are exact integers.
pub(crate) fn multiples(lo: f64, hi: f64, wanted: usize) -> Decimals {
    let magnitude = libm::floor(libm::log10(hi - lo)) as i32;
    let mut best: Option<(f64, Decimals)> = None;
    for exponent in magnitude - 3..=magnitude {
        for digits in [10, 20, 25, 50] {
            let step = decimal(digits, exponent);
            // A range that ends on a multiple shows it, whatever the rounding of the quotient.
            let first = libm::ceil(lo / step - 1e-9) as i64;
            let last = libm::floor(hi / step + 1e-9) as i64;
            let count = last.saturating_sub(first).saturating_add(1);
            if !(3..=10).contains(&count) {
                continue;
            }
            // Quarters need one more digit than halves and fifths.
            let badness = (count as f64 - wanted as f64).abs() + if digits == 25 { 1.1 } else { 0.0 };
            if best.as_ref().is_none_or(|(least, _)| badness < *least) {
                let mantissas = (first..=last).map(|n| n * digits).collect();
                best = Some((badness, Decimals { mantissas, exponent }));
            }
        }
    }
    best.map_or(
        Decimals {
            mantissas: Vec::new(),
            exponent: 0,
        },
        |(_, decimals)| decimals,
    )
}

fn digits(n: i64) -> i32 {
    n.unsigned_abs().to_string().len() as i32
}

/// n × 10^e written out.
fn written(n: i64, e: i32) -> String {
    if n == 0 {
        return "0".into();
    }
    let sign = if n < 0 { "−" } else { "" };
    let mut figures = n.unsigned_abs().to_string();
    if e >= 0 {
        figures.extend(std::iter::repeat_n('0', e as usize));
        return format!("{sign}{figures}");
    }
    let decimals = e.unsigned_abs() as usize;
    if figures.len() <= decimals {
        figures.insert_str(0, &"0".repeat(decimals + 1 - figures.len()));
    }
    figures.insert(figures.len() - decimals, '.');
    format!("{sign}{figures}")
}

/// Sizes that are written out; smaller and larger ones get a power of ten.
const WRITTEN_OUT: std::ops::Range<i32> = -2..4;

/// n × 10^e as a single number.
fn number(mut n: i64, mut e: i32) -> String {
    while n != 0 && n % 10 == 0 {
        n /= 10;
        e += 1;
    }
    let magnitude = digits(n) - 1 + e;
    if n == 0 || (-6..6).contains(&magnitude) {
        return written(n, e);
    }
    let power = format!("10{}", superscript(magnitude));
    match written(n, e - magnitude).as_str() {
        "1" => power,
        "−1" => format!("−{power}"),
        figures => format!("{figures}×{power}"),
    }
}

impl Decimals {
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.mantissas.iter().map(|n| decimal(*n, self.exponent))
    }

    /// The labels of the numbers and what they leave out: a power of ten, and an offset if the numbers differ only in
    /// late digits.
    fn labels(&self) -> (Vec<String>, String) {
        let mut mantissas = self.mantissas.clone();
        let mut exponent = self.exponent;
        while mantissas.iter().any(|n| *n != 0) && mantissas.iter().all(|n| n % 10 == 0) {
            mantissas.iter_mut().for_each(|n| *n /= 10);
            exponent += 1;
        }
        let (Some(&first), Some(&last)) = (mantissas.first(), mantissas.last()) else {
            return (Vec::new(), String::new());
        };
        let mut notes = Vec::new();
        let mut offset = String::new();
        if digits(first.abs().max(last.abs())) > 5 {
            let decade = 10_i64.saturating_pow(digits(last - first) as u32);
            let base = first.div_euclid(decade) * decade;
            if base != 0 {
                let sign = if base < 0 { "−" } else { "+" };
                offset = format!("{sign} {}", number(base.abs(), exponent));
                mantissas.iter_mut().for_each(|n| *n -= base);
            }
        }
        let largest = mantissas.iter().map(|n| n.abs()).max().unwrap_or(0);
        let magnitude = digits(largest) - 1 + exponent;
        if !WRITTEN_OUT.contains(&magnitude) {
            notes.push(format!("×10{}", superscript(magnitude)));
            exponent -= magnitude;
        }
        if !offset.is_empty() {
            notes.push(offset);
        }
        let labels = mantissas.iter().map(|n| written(*n, exponent)).collect();
        (labels, notes.join(" "))
    }
}

/// Marks of a linear axis.
pub(crate) fn linear(lo: f64, hi: f64, wanted: usize) -> Ticks {
    let chosen = multiples(lo, hi, wanted);
    let (labels, note) = chosen.labels();
    Ticks {
        major: chosen.values().zip(labels).collect(),
        minor: Vec::new(),
        note,
    }
}

/// Marks of a log axis from 10^lo to 10^hi: the decades; if there is at most one, also 2 and 5 times the decades;
/// if even these are few, as on a linear axis.
pub(crate) fn log(lo: f64, hi: f64, wanted: usize) -> Ticks {
    let first = libm::ceil(lo - 1e-9) as i32;
    let last = libm::floor(hi + 1e-9) as i32;
    let within = |position: &f64| (lo - 1e-9..=hi + 1e-9).contains(position);
    let between = |factors: std::ops::Range<i64>| {
        (first - 1..=last)
            .flat_map(move |e| factors.clone().map(move |n| (n, e)))
            .map(|(n, e)| (libm::log10(n as f64) + f64::from(e), n, e))
            .filter(|(position, ..)| within(position))
    };
    if last > first {
        let stride = (last - first) / wanted.max(2) as i32 + 1;
        let (major, skipped): (Vec<i32>, Vec<i32>) = (first..=last).partition(|e| e % stride == 0);
        let label = |e: i32| (f64::from(e), format!("10{}", superscript(e)));
        return Ticks {
            major: major.into_iter().map(label).collect(),
            minor: if stride == 1 {
                between(2..10).map(|(position, ..)| position).collect()
            } else {
                skipped.into_iter().map(f64::from).collect()
            },
            note: String::new(),
        };
    }
    let named: Vec<_> = between(1..10).filter(|(_, n, _)| matches!(n, 1 | 2 | 5)).collect();
    if named.len() >= 3 {
        return Ticks {
            major: named
                .into_iter()
                .map(|(position, n, e)| (position, number(n, e)))
                .collect(),
            minor: between(1..10)
                .filter(|(_, n, _)| !matches!(n, 1 | 2 | 5))
                .map(|(position, ..)| position)
                .collect(),
            note: String::new(),
        };
    }
    let mut ticks = linear(libm::exp10(lo), libm::exp10(hi), wanted);
    ticks.major.retain_mut(|(value, _)| {
        *value = libm::log10(*value);
        value.is_finite()
    });
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(lo: f64, hi: f64) -> (Vec<String>, String) {
        let ticks = linear(lo, hi, 5);
        (ticks.major.into_iter().map(|(_, label)| label).collect(), ticks.note)
    }

    #[test]
    fn everyday_ranges() {
        assert_eq!(
            labels(0.0, 4.0),
            (["0", "1", "2", "3", "4"].map(String::from).into(), String::new())
        );
        assert_eq!(labels(-0.1, 0.1).0, ["−0.10", "−0.05", "0", "0.05", "0.10"]);
        assert_eq!(labels(0.0, 1.0).0, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn powers_of_ten_leave_the_labels() {
        assert_eq!(
            labels(0.0, 4e-18),
            (["0", "1", "2", "3", "4"].map(String::from).into(), "×10⁻¹⁸".into())
        );
        assert_eq!(labels(0.0, 1e7).1, "×10⁷");
        assert_eq!(labels(0.0, 1e7).0, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn close_numbers_share_an_offset() {
        let (labels, note) = labels(0.013757, 0.0137571);
        assert_eq!(labels, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(note, "×10⁻⁷ + 0.013757");
    }

    #[test]
    fn decades() {
        let ticks = log(-6.0, -1.0, 6);
        let labels: Vec<_> = ticks.major.iter().map(|(_, l)| l.as_str()).collect();
        assert_eq!(labels, ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(ticks.minor.len(), 5 * 8);
        let few = log(libm::log10(2.0), libm::log10(80.0), 5);
        let labels: Vec<_> = few.major.iter().map(|(_, l)| l.as_str()).collect();
        assert_eq!(labels, ["2", "5", "10", "20", "50"]);
    }

    proptest! {
        #[test]
        fn few_even_nice_and_inside(
            centre in -1e3_f64..1e3, relative in 1e-8_f64..10.0, power in -250_i32..250, wanted in 3_usize..9
        ) {
            let scale = decimal(1, power);
            let half = relative * (1.0 + centre.abs());
            let (lo, hi) = ((centre - half) * scale, (centre + half) * scale);
            let ticks = multiples(lo, hi, wanted);
            let count = ticks.mantissas.len();
            prop_assert!((3..=10).contains(&count), "{count} ticks in {lo}..{hi}");
            let step = ticks.mantissas[1] - ticks.mantissas[0];
            prop_assert!([10, 20, 25, 50].contains(&step));
            for pair in ticks.mantissas.windows(2) {
                prop_assert_eq!(pair[1] - pair[0], step);
            }
            let slack = 1e-8 * decimal(step, ticks.exponent);
            for value in ticks.values() {
                prop_assert!(value >= lo - slack && value <= hi + slack);
            }
        }

        #[test]
        fn labels_say_the_value(lo in -1e6_f64..1e6, width in 1e-3_f64..1e6) {
            let ticks = linear(lo, lo + width, 5);
            prop_assume!(!ticks.note.contains('+') && !ticks.note.contains('−'));
            let factor = ticks.note.strip_prefix("×10").map_or(0, |raised| {
                let plain: String = raised.chars().map(|c| match c {
                    '⁻' => '-', '⁰' => '0', '¹' => '1', '²' => '2', '³' => '3', '⁴' => '4', '⁵' => '5',
                    '⁶' => '6', '⁷' => '7', '⁸' => '8', _ => '9',
                }).collect();
                plain.parse().unwrap()
            });
            for (value, label) in ticks.major {
                let shown: f64 = format!("{}e{factor}", label.replace('−', "-")).parse().unwrap();
                prop_assert!((shown - value).abs() <= 1e-12 * value.abs(), "{label} for {value}");
            }
        }

        #[test]
        fn log_axes_have_marks_inside(lo in -300.0_f64..299.0, width in 0.01_f64..300.0) {
            let hi = (lo + width).min(300.0);
            let ticks = log(lo, hi, 6);
            prop_assert!(ticks.major.len() >= 2, "{:?}", ticks);
            for position in ticks.major.iter().map(|(p, _)| *p).chain(ticks.minor) {
                prop_assert!(position >= lo - 1e-6 && position <= hi + 1e-6);
            }
        }
    }
}
