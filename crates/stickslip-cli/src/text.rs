//! Numbers and tables for people.

pub use stickslip_study::words::{number, with_digits};

/// A time with a unit that suits it: 1 ms, 2.5 us.
pub fn duration(seconds: f64) -> String {
    in_units(seconds, 6)
}

/// A measured time, of which three digits mean something.
pub fn about(seconds: f64) -> String {
    in_units(seconds, 3)
}

fn in_units(seconds: f64, digits: usize) -> String {
    let (factor, unit) = match seconds.abs() {
        s if s == 0.0 || s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", with_digits(seconds * factor, digits))
}

/// Rows of cells as lines with aligned columns; the first column to the left, the others to the right.
pub fn table(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = indent.to_string();
        for (i, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[i] - cell.chars().count());
            if i > 0 {
                line += "   ";
            }
            if i == 0 {
                line += cell;
                line += &pad;
            } else {
                line += &pad;
                line += cell;
            }
        }
        out += line.trim_end();
        out += "\n";
    }
    out
}

/// Rows of cells as lines with aligned columns, all to the left.
pub fn list(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("{cell}{}   ", " ".repeat(width - cell.chars().count())))
            .collect();
        out += indent;
        out += line.trim_end();
        out += "\n";
    }
    out
}

/// What the linearised equations say of steady sliding, in words.
pub fn steady_sliding(growth: f64, frequency: f64) -> String {
    let swinging = if frequency > 0.0 {
        format!(", swinging with {} rad/s", number(frequency))
    } else {
        String::new()
    };
    if growth > 0.0 {
        format!(
            "linearly unstable: a small disturbance grows by {} 1/s{swinging}",
            number(growth)
        )
    } else if growth == 0.0 {
        format!("neither stable nor unstable: a small disturbance neither grows nor dies out{swinging}")
    } else {
        format!(
            "linearly stable: a small disturbance dies out with {} 1/s{swinging}",
            number(-growth)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (123456.7, "123457"),
            (1234567.0, "1234567"),
            (12345678.0, "1.23457e7"),
            (0.00012345678, "0.000123457"),
            (1.5e-5, "1.5e-5"),
            (999999.96, "1000000"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(duration(0.001), "1 ms");
        assert_eq!(duration(2.5e-6), "2.5 us");
        assert_eq!(duration(0.0), "0 s");
        assert_eq!(about(0.014523), "14.5 ms");
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [["law", "rest"], ["implicit", "2 s"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(table(&rows, " "), " law        rest\n implicit    2 s\n");
        assert_eq!(list(&rows, ""), "law        rest\nimplicit   2 s\n");
    }
}
