//! Profiles given by points: lists in the scenario, or two columns of a CSV file.

use super::suggest::nearest;
use std::fmt;
use std::io::Read;
use std::path::Path;

/// What happens between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// A straight line.
    #[default]
    Linear,
    /// The value of the earlier point.
    Step,
}

/// What happens after the last point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum After {
    /// The last value stays.
    #[default]
    Hold,
    /// The table begins again; the last time ends the period, where the first value takes the place of the last.
    Repeat,
    /// 0
    Zero,
}

/// Bytes of the largest CSV file that is read.
const LARGEST_CSV: u64 = 512 << 20;

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableError(String);

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

fn error<T>(message: impl Into<String>) -> Result<T, TableError> {
    Err(TableError(message.into()))
}

fn unreadable(path: &Path, cause: &dyn fmt::Display) -> TableError {
    TableError(format!("cannot read {}: {cause}", path.display()))
}

fn too_large(path: &Path) -> TableError {
    unreadable(path, &"it is larger than 512 MiB; keep fewer rows of it")
}

/// Opens a CSV file for reading. Pipes and devices, which may have no end, and files above 512 MiB are refused. A file may grow while it is
/// read: one whose limit is used up was too large.
pub(crate) fn open_csv(path: &Path) -> Result<std::io::Take<std::fs::File>, TableError> {
    // Before it is opened: a pipe that nobody writes to would wait for ever.
    let found = std::fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
    if !found.is_file() {
        return Err(unreadable(path, &"it is not an ordinary file"));
    }
    if found.len() > LARGEST_CSV {
        return Err(too_large(path));
    }
    let file = std::fs::File::open(path).map_err(|cause| unreadable(path, &cause))?;
    Ok(file.take(LARGEST_CSV + 1))
}

/// Values at increasing times. Before the first time the first value holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
    interpolation: Interpolation,
    after: After,
}

/// Where a time lies in the table.
struct Place {
    /// Completed repetitions.
    cycle: f64,
    /// Index of the point at or before the time; the number of points when past the end.
    segment: usize,
    /// The time within the table.
    time: f64,
}

/// What separates the columns of a file of numbers, by the first line that is neither empty nor a comment: tabulator, semicolon or comma.
pub(crate) fn delimiter(start: &[u8]) -> u8 {
    let lines = start.split(|byte| *byte == b'\n');
    let header = lines
        .skip_while(|line| line.starts_with(b"#"))
        .find(|line| !line.trim_ascii().is_empty());
    let count = |delimiter: u8| header.map_or(0, |line| line.iter().filter(|byte| **byte == delimiter).count());
    // Of equals the last is taken: a comma, if there is none at all.
    [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|delimiter| count(*delimiter))
        .unwrap_or(b',')
}

impl Table {
    /// A table through the given points.
    pub fn new(
        times: Vec<f64>,
        values: Vec<f64>,
        interpolation: Interpolation,
        after: After,
    ) -> Result<Self, TableError> {
        if times.len() != values.len() {
            return error(format!("{} times but {} values", times.len(), values.len()));
        }
        if times.is_empty() {
            return error("the table is empty");
        }
        for (i, (time, value)) in times.iter().zip(&values).enumerate() {
            if !(time.is_finite() && value.is_finite()) {
                return error(format!("point {} is not finite: ({time}, {value})", i + 1));
            }
        }
        if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            return error(format!(
                "times must increase: {} is followed by {} (point {})",
                times[i],
                times[i + 1],
                i + 2
            ));
        }
        if after == After::Repeat && times.len() < 2 {
            return error("a repeated table needs at least two points");
        }
        Ok(Self {
            times,
            values,
            interpolation,
            after,
        })
    }

    /// Reads two columns of a CSV file with a header row: linear, and the last value holds. Pipes and devices, which may have no
    /// end, and files above 512 MiB are refused.
    pub fn from_csv(path: impl AsRef<Path>, time_column: &str, value_column: &str) -> Result<Self, TableError> {
        let path = path.as_ref();
        let mut limited = open_csv(path)?;
        let table = Self::from_csv_reader(&mut limited, time_column, value_column);
        if limited.limit() == 0 {
            return Err(too_large(path));
        }
        table.map_err(|TableError(cause)| TableError(format!("{}: {cause}", path.display())))
    }

    /// Like [`Table::from_csv`], from any source.
    pub fn from_csv_reader(source: impl Read, time_column: &str, value_column: &str) -> Result<Self, TableError> {
        let mut source = std::io::BufReader::with_capacity(1 << 16, source);
        let start = std::io::BufRead::fill_buf(&mut source).map_err(|cause| TableError(cause.to_string()))?;
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .delimiter(delimiter(start))
            .from_reader(source);
        let wrong = |cause: csv::Error| TableError(cause.to_string());
        let headers = reader.headers().map_err(wrong)?.clone();
        let column = |name: &str| {
            headers.iter().position(|header| header == name).ok_or_else(|| {
                let hint = match nearest(name, &headers) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => {
                        format!("columns: {}", headers.iter().collect::<Vec<_>>().join(", "))
                    }
                };
                TableError(format!("no column \"{name}\"; {hint}"))
            })
        };
        let columns = [column(time_column)?, column(value_column)?];
        let (mut times, mut values) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            let number = |index: usize| {
                let text = record.get(index).unwrap_or("");
                text.parse::<f64>().map_err(|_| {
                    let line = record.position().map_or(0, csv::Position::line);
                    let name = headers.get(index).unwrap_or("");
                    TableError(format!(
                        "line {line}, column \"{name}\": expected a number, found \"{text}\""
                    ))
                })
            };
            times.push(number(columns[0])?);
            values.push(number(columns[1])?);
        }
        Self::new(times, values, Interpolation::Linear, After::Hold)
    }

    /// The same points with another behaviour between and after them.
    pub fn with(self, interpolation: Interpolation, after: After) -> Result<Self, TableError> {
        Self::new(self.times, self.values, interpolation, after)
    }

    /// The times of the points.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The values at the points.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What happens between the points.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// What happens after the last point.
    pub fn after(&self) -> After {
        self.after
    }

    /// The value at time `t`.
    pub fn value(&self, t: f64) -> f64 {
        if t.is_nan() {
            return f64::NAN;
        }
        let place = self.place(t);
        if place.segment == self.times.len() {
            return 0.0;
        }
        self.value_in(place.segment, place.time)
    }

    /// The value of a segment at a time within it.
    fn value_in(&self, segment: usize, time: f64) -> f64 {
        let (t0, v0) = (self.times[segment], self.values[segment]);
        match (self.interpolation, self.times.get(segment + 1)) {
            // Before the first time the first value holds.
            (Interpolation::Linear, Some(t1)) if time > t0 => {
                v0 + (self.values[segment + 1] - v0) * ((time - t0) / (t1 - t0))
            }
            _ => v0,
        }
    }

    fn first_and_last(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    fn place(&self, t: f64) -> Place {
        let (first, last) = self.first_and_last();
        let at = |cycle: f64, time: f64, slack: f64| {
            let after = self.times.partition_point(|&point| point <= time + slack);
            Place {
                cycle,
                segment: after.saturating_sub(1),
                time,
            }
        };
        if t < last || t <= first {
            return at(0.0, t, 0.0);
        }
        match self.after {
            After::Hold => at(0.0, last, 0.0),
            After::Zero if t == last => at(0.0, last, 0.0),
            After::Zero => Place {
                cycle: 0.0,
                segment: self.times.len(),
                time: last,
            },
            After::Repeat => {
                // Times such as 0.3 with period 0.1 are the beginning of a period although 0.3/0.1 < 3 in binary.
                let period = last - first;
                let cycles = (t - first) / period;
                let slack = 4.0 * f64::EPSILON * t.abs();
                let cycle = (cycles + slack / period).floor();
                let phase = (t - first - cycle * period).clamp(0.0, period);
                let place = at(cycle, first + phase, slack);
                Place {
                    segment: place.segment.min(self.times.len() - 2),
                    ..place
                }
            }
        }
    }

    /// The slope at time `t`, after a point that of the line which begins there; 0 in a step table.
    pub fn slope(&self, t: f64) -> f64 {
        let place = self.place(t);
        let ends = |list: &[f64]| Some([*list.get(place.segment)?, *list.get(place.segment + 1)?]);
        match (self.interpolation, ends(&self.times), ends(&self.values)) {
            (Interpolation::Linear, Some([t0, t1]), Some([v0, v1])) if place.time >= t0 => (v1 - v0) / (t1 - t0),
            _ => 0.0,
        }
    }

    /// The first point after time `after`, where the value may jump or its slope change; infinity if there is none.
    pub fn next_point(&self, after: f64) -> f64 {
        let (first, last) = self.first_and_last();
        let mut base = 0.0;
        if self.after == After::Repeat && after >= last {
            let period = last - first;
            base = ((after - first) / period).floor() * period;
        }
        let within = |base: f64| {
            let index = self.times.partition_point(|time| base + time <= after);
            self.times.get(index).map(|time| base + time)
        };
        match (within(base), self.after) {
            (Some(time), _) => time,
            // Rounding may have put `after` just beyond the last point of a period.
            (None, After::Repeat) => within(base + (last - first)).unwrap_or(f64::INFINITY),
            (None, _) => f64::INFINITY,
        }
    }

    /// For a step table: a number pair that changes exactly where the value may change, and never decreases with time.
    pub(super) fn segment(&self, t: f64) -> (f64, usize) {
        let place = self.place(t);
        (place.cycle, place.segment)
    }

    /// The integral from the first time to `t`.
    fn integral_to(&self, t: f64) -> f64 {
        let (first, last) = self.first_and_last();
        if t <= first {
            return self.values[0] * (t - first);
        }
        if t <= last {
            return self.integral_within(t);
        }
        let whole = self.integral_within(last);
        match self.after {
            After::Hold => whole + self.values[self.values.len() - 1] * (t - last),
            After::Zero => whole,
            After::Repeat => {
                let place = self.place(t);
                place.cycle * whole + self.integral_within(place.time)
            }
        }
    }

    /// The integral from the first time to `t`, which is not after the last.
    fn integral_within(&self, t: f64) -> f64 {
        let segments = self.times.windows(2).zip(self.values.windows(2));
        segments
            .take_while(|(times, _)| times[0] < t)
            .map(|(times, values)| {
                let end = t.min(times[1]);
                let fraction = (end - times[0]) / (times[1] - times[0]);
                let mean = match self.interpolation {
                    Interpolation::Linear => values[0] + 0.5 * fraction * (values[1] - values[0]),
                    Interpolation::Step => values[0],
                };
                mean * (end - times[0])
            })
            .sum()
    }

    /// The integral from `a` to `b`.
    pub fn integral(&self, a: f64, b: f64) -> f64 {
        self.integral_to(b) - self.integral_to(a)
    }

    /// The same table with every value passed through `convert`.
    pub(super) fn map_values(mut self, convert: impl Fn(f64) -> f64) -> Self {
        for value in &mut self.values {
            *value = convert(*value);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Interpolation::{Linear, Step};

    fn table(interpolation: Interpolation, after: After) -> Table {
        Table::new(vec![1.0, 2.0, 4.0], vec![10.0, 20.0, -20.0], interpolation, after).unwrap()
    }

    #[test]
    fn values_between_and_after_the_points() {
        for (interpolation, after, t, value) in [
            (Linear, After::Hold, 0.0, 10.0),
            (Linear, After::Hold, 1.0, 10.0),
            (Linear, After::Hold, 1.25, 12.5),
            (Linear, After::Hold, 2.0, 20.0),
            (Linear, After::Hold, 3.0, 0.0),
            (Linear, After::Hold, 4.0, -20.0),
            (Linear, After::Hold, 9.0, -20.0),
            (Linear, After::Zero, 4.0, -20.0),
            (Linear, After::Zero, 4.5, 0.0),
            (Linear, After::Repeat, 4.0, 10.0),
            (Linear, After::Repeat, 4.25, 12.5),
            (Linear, After::Repeat, 6.0 + 3.0e3, 0.0),
            (Step, After::Hold, -5.0, 10.0),
            (Step, After::Hold, 1.999, 10.0),
            (Step, After::Hold, 2.0, 20.0),
            (Step, After::Hold, 3.999, 20.0),
            (Step, After::Hold, 4.0, -20.0),
            (Step, After::Repeat, 4.0, 10.0),
            (Step, After::Repeat, 5.0, 20.0),
            (Step, After::Repeat, 7.0, 10.0),
        ] {
            let found = table(interpolation, after).value(t);
            assert_eq!(found, value, "{interpolation:?} {after:?} {t}");
        }
    }

    #[test]
    fn repeats_fall_on_decimal_times() {
        let square = Table::new(vec![0.0, 0.05, 0.1], vec![1.0, -1.0, 0.0], Step, After::Repeat).unwrap();
        for k in 0..100_000_u32 {
            // k/1000 s: 50 ms high, 50 ms low.
            let expected = if k % 100 < 50 { 1.0 } else { -1.0 };
            assert_eq!(square.value(f64::from(k) / 1000.0), expected, "{k}");
        }
    }

    #[test]
    fn integrals_by_hand() {
        for (interpolation, after, a, b, value) in [
            (Linear, After::Hold, 0.0, 1.0, 10.0),
            (Linear, After::Hold, 1.0, 2.0, 15.0),
            (Linear, After::Hold, 2.0, 4.0, 0.0),
            (Linear, After::Hold, 2.0, 3.0, 10.0),
            (Linear, After::Hold, 3.0, 2.0, -10.0),
            (Linear, After::Hold, 4.0, 6.0, -40.0),
            (Linear, After::Zero, 1.0, 9.0, 15.0),
            (Linear, After::Repeat, 1.0, 8.0, 15.0 + 15.0 + 15.0),
            (Step, After::Hold, 0.0, 5.0, 10.0 + 10.0 + 40.0 - 20.0),
            (Step, After::Repeat, 1.0, 4.0 + 3.0 + 0.5, 50.0 + 50.0 + 5.0),
        ] {
            let found = table(interpolation, after).integral(a, b);
            assert!(
                (found - value).abs() < 1e-12,
                "{interpolation:?} {after:?} {a} {b}: {found}"
            );
        }
    }

    #[test]
    fn bad_tables_are_refused() {
        let new = |times: &[f64], values: &[f64], after| {
            Table::new(times.to_vec(), values.to_vec(), Linear, after)
                .unwrap_err()
                .to_string()
        };
        assert!(new(&[], &[], After::Hold).contains("empty"));
        assert!(new(&[0.0], &[], After::Hold).contains("1 times but 0 values"));
        assert!(new(&[0.0, 1.0, 1.0], &[0.0; 3], After::Hold).contains("increase"));
        assert!(new(&[0.0, f64::NAN], &[0.0; 2], After::Hold).contains("finite"));
        assert!(new(&[0.0], &[f64::INFINITY], After::Hold).contains("finite"));
        assert!(new(&[0.0], &[1.0], After::Repeat).contains("two"));
    }

    #[test]
    fn reads_csv() {
        let text = "\u{feff}t, force ,other\n0,1,9\n0.5, 2.5e0 ,9\n";
        let table = Table::from_csv_reader(text.as_bytes(), "t", "force").unwrap();
        assert_eq!((table.times(), table.values()), (&[0.0, 0.5][..], &[1.0, 2.5][..]));
        // As measured data: columns may be separated by semicolons or tabulators.
        for text in ["t;force\n0;1\n0.5;2.5\n", "t\tforce\n0\t1\n0.5\t2.5\n"] {
            assert_eq!(Table::from_csv_reader(text.as_bytes(), "t", "force").unwrap(), table);
        }
        let refused = |text: &str, column: &str| {
            Table::from_csv_reader(text.as_bytes(), "t", column)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused(text, "forse"), "no column \"forse\"; did you mean \"force\"?");
        let message = refused("t,f\n0,1\n1,x\n", "f");
        assert!(message.contains("line 3") && message.contains("\"x\""), "{message}");
        assert!(
            refused("t,f\n0\n", "f").contains("line: 2"),
            "{}",
            refused("t,f\n0\n", "f")
        );
        assert!(refused("t,f\n", "f").contains("empty"));
        assert!(refused("", "f").contains("no column"));
        let missing = Table::from_csv("does/not/exist.csv", "t", "f").unwrap_err();
        assert!(missing.to_string().contains("does/not/exist.csv"), "{missing}");
    }
}
