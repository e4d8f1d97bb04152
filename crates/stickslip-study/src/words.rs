//! Numbers for people.

/// A number with six significant digits, without needless zeros.
pub fn number(value: f64) -> String {
    with_digits(value, 6)
}

/// A number with so many significant digits, without needless zeros.
pub fn with_digits(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..7).contains(&exponent) {
        // Whole numbers keep all their digits.
        return trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize)).to_string();
    }
    format!("{}e{exponent}", trimmed(mantissa))
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}
