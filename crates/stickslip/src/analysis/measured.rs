//! Columns of measured data: CSV files as they come from a data logger.

use crate::profile::suggest::nearest;
use crate::profile::{delimiter, open_csv};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// What is wrong with a file of measured data, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataError {
    /// What is wrong, and where.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
}

impl DataError {
    /// A message with advice.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        DataError {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DataError {}

/// A CSV file with a header row: its cells as text.
///
/// Cells are separated by commas, semicolons or tabs, whichever the header has most of. Lines that begin with `#` are comments. Text that
/// is not UTF-8 is read with replacement characters.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    file: String,
    names: Vec<String>,
    /// The text of all cells, row by row.
    cells: Vec<u8>,
    /// Where each cell ends in it.
    ends: Vec<u32>,
    /// The line of each row.
    lines: Vec<u32>,
}

impl Sheet {
    /// Reads a file. Pipes and devices, which may have no end, and files above 512 MiB are refused.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or is no table with a header row.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let mut source = open_csv(path).map_err(|error| DataError::new(error.to_string(), ""))?;
        let sheet = Self::from_reader(&file, &mut source)?;
        match source.limit() {
            0 => Err(DataError::new(
                format!("{file} is larger than 512 MiB"),
                "keep fewer rows of it",
            )),
            _ => Ok(sheet),
        }
    }

    /// Like [`Sheet::read`], from any source; `file` is the name in messages.
    ///
    /// # Errors
    /// As [`Sheet::read`].
    pub fn from_reader(file: &str, source: impl Read) -> Result<Self, DataError> {
        let mut source = std::io::BufReader::with_capacity(1 << 16, source);
        let unreadable = |cause: &dyn fmt::Display| DataError::new(format!("cannot read {file}: {cause}"), "");
        let delimiter = {
            let start = std::io::BufRead::fill_buf(&mut source).map_err(|cause| unreadable(&cause))?;
            delimiter(start)
        };
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .delimiter(delimiter)
            .from_reader(source);
        let wrong =
            |cause: csv::Error| DataError::new(format!("{file}: {cause}"), "every row needs a cell for each column");
        let header = reader.byte_headers().map_err(wrong)?.clone();
        let names: Vec<String> = header
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim_start_matches('\u{feff}').to_string())
            .collect();
        if names.iter().all(String::is_empty) {
            return Err(DataError::new(
                format!("{file} is empty"),
                "measured data begin with a row of column names: t,displacement,force",
            ));
        }
        if names.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(DataError::new(
                format!("{file} has no names of columns: its first row holds numbers"),
                "put a row of names above them: t,displacement,force",
            ));
        }
        let mut sheet = Sheet {
            file: file.to_string(),
            names,
            ..Sheet::default()
        };
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(wrong)? {
            for cell in &record {
                sheet.cells.extend_from_slice(cell);
                sheet.ends.push(sheet.cells.len() as u32);
            }
            sheet
                .lines
                .push(record.position().map_or(0, csv::Position::line) as u32);
        }
        Ok(sheet)
    }

    /// The file, as messages name it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Names of the columns, from left to right.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows below the header.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The number of a column.
    ///
    /// # Errors
    /// If there is none of this name, or more than one.
    pub fn column(&self, name: &str) -> Result<usize, DataError> {
        let mut found = (0..self.names.len()).filter(|i| self.names[*i] == name);
        let list = || format!("columns: {}", self.names.join(", "));
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (Some(_), Some(_)) => Err(DataError::new(
                format!("{} has several columns \"{name}\"", self.file),
                "give each column a name of its own",
            )),
            (None, _) => Err(DataError::new(
                format!("{} has no column \"{name}\"", self.file),
                match nearest(name, self.names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"? {}", list()),
                    None => list(),
                },
            )),
        }
    }

    /// The first of several usual names that a column has.
    pub fn usual<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        let has = |name: &&&str| self.names.iter().any(|column| column.eq_ignore_ascii_case(name));
        names.iter().find(has).copied()
    }

    /// The line of the file that a row stands on.
    pub fn line(&self, row: usize) -> u32 {
        self.lines.get(row).copied().unwrap_or(0)
    }

    fn cell(&self, row: usize, column: usize) -> &[u8] {
        let at = row * self.names.len() + column;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.cells[start as usize..self.ends[at] as usize]
    }

    /// A cell as text.
    pub fn text(&self, row: usize, column: usize) -> String {
        String::from_utf8_lossy(self.cell(row, column)).into_owned()
    }

    /// The numbers of a column.
    ///
    /// # Errors
    /// If a cell is no finite number.
    pub fn numbers(&self, column: usize) -> Result<Vec<f64>, DataError> {
        let name = self.names.get(column).map_or("", String::as_str);
        let number = |row: usize| {
            let cell = std::str::from_utf8(self.cell(row, column)).ok();
            let number = cell
                .and_then(|cell| cell.parse::<f64>().ok())
                .filter(|number| number.is_finite());
            number.ok_or_else(|| {
                let text = self.text(row, column);
                DataError::new(
                    format!(
                        "{}, line {}, column \"{name}\": expected a number, found \"{text}\"",
                        self.file,
                        self.line(row)
                    ),
                    match text.replacen(',', ".", 1).parse::<f64>() {
                        Ok(_) if text.contains(',') => "write numbers with a point: 0.5",
                        _ => "leave out rows without a measured value",
                    },
                )
            })
        };
        (0..self.rows()).map(number).collect()
    }

    /// Refuses times of the rows of one record that do not increase.
    ///
    /// # Errors
    /// With the line where they do not.
    pub fn increasing(&self, times: &[f64], first_row: usize) -> Result<(), DataError> {
        let Some(at) = times.windows(2).position(|pair| pair[0] >= pair[1]) else {
            return Ok(());
        };
        let (before, then) = (times[at], times[at + 1]);
        let what = if before == then { "stand still" } else { "go back" };
        Err(DataError::new(
            format!(
                "{}, line {}: times {what}: {before} is followed by {then}",
                self.file,
                self.line(first_row + at + 1)
            ),
            "rows must be in the order of time, each later than the one before; where records follow each other in one file, name them in a column",
        ))
    }
}

/// Standard deviation of the noise of a signal, whatever the signal itself does slowly: from how far each sample lies from the straight
/// line between its neighbours. The median makes single jumps harmless. 0 for fewer than five samples.
pub fn noise(times: &[f64], values: &[f64]) -> f64 {
    if values.len() < 5 {
        return 0.0;
    }
    let mut apart: Vec<f64> = (1..values.len() - 1)
        .map(|i| {
            let part = (times[i] - times[i - 1]) / (times[i + 1] - times[i - 1]);
            let between = values[i - 1] + part * (values[i + 1] - values[i - 1]);
            (values[i] - between).abs() / (1.0 + part * part + (1.0 - part) * (1.0 - part)).sqrt()
        })
        .collect();
    // Median of |normal|: 0.6745 of its standard deviation.
    median(&mut apart) / 0.674_489_750_196
}

/// The median; the numbers are sorted. 0 of none.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    quantile(numbers, 0.5)
}

/// The value that this part of the numbers lies below; they are sorted. 0 of none.
pub(crate) fn quantile(numbers: &mut [f64], part: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let Some(last) = numbers.len().checked_sub(1) else {
        return 0.0;
    };
    let place = part * last as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(last);
    numbers[low] + (place - low as f64) * (numbers[high] - numbers[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str) -> Result<Sheet, DataError> {
        Sheet::from_reader("d.csv", text.as_bytes())
    }

    #[test]
    fn columns_by_any_separator() {
        for text in [
            "# logger 7\nt,x\n0,1\n1,2.5\n",
            "t;x\n0;1\n\n1;2.5\n",
            "t\tx\n0\t1\n1\t2.5",
        ] {
            let sheet = sheet(text).unwrap();
            assert_eq!(sheet.numbers(sheet.column("x").unwrap()).unwrap(), [1.0, 2.5], "{text}");
        }
        assert_eq!(sheet("only\n1\n").unwrap().names(), ["only"]);
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        assert!(sheet("").unwrap_err().message.contains("empty"));
        assert!(sheet("0,1\n1,2\n").unwrap_err().message.contains("no names"));
        assert!(sheet("t,x\n1\n").unwrap_err().message.contains("line: 2"));
        let words = sheet("t,x\n0,1\n1,abc\n").unwrap();
        let error = words.numbers(1).unwrap_err();
        assert!(
            error.message.contains("line 3") && error.message.contains("\"abc\""),
            "{error}"
        );
        let german = sheet("t;x\n0;1,5\n").unwrap();
        assert!(german.numbers(1).unwrap_err().help.contains("point"));
        for cell in ["", "nan", "inf", "1e999"] {
            assert!(
                sheet(&format!("t,x\n0,{cell}\n")).unwrap().numbers(1).is_err(),
                "{cell}"
            );
        }
        let twice = sheet("t,x,x\n0,1,1\n").unwrap();
        assert!(twice.column("x").unwrap_err().message.contains("several"));
        let named = sheet("time,force\n0,1\n").unwrap();
        assert!(
            named
                .column("forse")
                .unwrap_err()
                .help
                .contains("did you mean \"force\"")
        );
    }

    #[test]
    fn times_go_on() {
        let sheet = sheet("t\n0\n1\n1\n0.5\n").unwrap();
        let times = sheet.numbers(0).unwrap();
        assert!(sheet.increasing(&times[..2], 0).is_ok());
        let still = sheet.increasing(&times, 0).unwrap_err();
        assert!(still.message.contains("line 4") && still.message.contains("stand still"));
        assert!(sheet.increasing(&times[2..], 2).unwrap_err().message.contains("line 5"));
    }

    /// Noise of which a tenth of the samples are far out: a sine of 200 samples a period bends 2000 times less.
    #[test]
    fn noise_is_told_from_the_signal() {
        let mut seed = 5_u64;
        let mut uniform = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        // Twelve uniform numbers less 6 are nearly normal, with a standard deviation of 1.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let times: Vec<f64> = (0..4000)
            .map(|i| f64::from(i) + 0.3 * libm::sin(f64::from(i)))
            .collect();
        let values: Vec<f64> = times
            .iter()
            .map(|t| 5.0 * libm::sin(t * 0.0314) + 0.2 * normal())
            .collect();
        let found = noise(&times, &values);
        assert!((found - 0.2).abs() < 0.02, "{found}");
    }
}
