//! Trace files, in several formats.

use crate::failure::{Failure, note};
use crate::output::{Part, PendingFile, Place, whole_lines};
#[cfg(feature = "parquet")]
use crate::parquet_file::{Kind, Table};
use crate::spool::Spool;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A format of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header row, then one row per recorded step.
    Csv,
    /// One object: an array for every column.
    Json,
    /// Columns of numbers in groups of rows.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Error shown when Parquet support is not compiled in.
#[cfg(not(feature = "parquet"))]
pub fn no_parquet(path: &Path) -> Failure {
    Failure::input(
        format!("cannot write {}: this build has no Parquet format", path.display()),
        "write .csv, or build with the feature `parquet`: cargo install --path crates/stickslip-cli --features parquet",
    )
}

impl Format {
    /// The format that the extension of a path names; a pipe or device without one takes CSV.
    ///
    /// # Errors
    /// Wrong input: the extension is another one, or belongs to a format this build leaves out.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default()
            .to_lowercase();
        match extension.as_str() {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Self::Parquet),
            #[cfg(not(feature = "parquet"))]
            "parquet" => Err(no_parquet(path)),
            _ if Place::is_stream(path) => Ok(Self::Csv),
            _ => Err(Failure::input(
                format!("cannot tell the format of the trace {}", path.display()),
                "end the name with .csv, .json or .parquet",
            )),
        }
    }
}

/// A trace being written.
pub struct TraceFile {
    path: PathBuf,
    body: Body,
}

/// What has been written, or waits.
enum Body {
    Csv(CsvRows),
    Json(JsonColumns),
    #[cfg(feature = "parquet")]
    Parquet(Box<Table<PendingFile>>),
}

impl TraceFile {
    /// Begins a trace with these columns.
    ///
    /// # Errors
    /// If the extension is unknown, another program writes the file (wrong input) or it cannot be created.
    pub fn create(path: &Path, names: &[String]) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        let file = PendingFile::create(path)?;
        let begin = || -> io::Result<Body> {
            Ok(match format {
                Format::Csv => Body::Csv(CsvRows::begin(file, names)?),
                Format::Json => Body::Json(JsonColumns {
                    file,
                    names: names.to_vec(),
                    rows: Spool::new(path, Place::is_stream(path), names.len()),
                }),
                #[cfg(feature = "parquet")]
                Format::Parquet => {
                    let columns: Vec<(&str, Kind)> = names.iter().map(|name| (name.as_str(), Kind::Number)).collect();
                    Body::Parquet(Box::new(Table::create(file, &columns, None)?))
                }
            })
        };
        Ok(TraceFile {
            path: path.to_path_buf(),
            body: begin().map_err(|error| Failure::write(path, &error))?,
        })
    }

    /// Adds a row.
    pub fn row(&mut self, row: &[f64]) -> io::Result<()> {
        match &mut self.body {
            Body::Csv(csv) => csv.row(row),
            Body::Json(json) => json.rows.row(row),
            #[cfg(feature = "parquet")]
            Body::Parquet(table) => table.numbers(row),
        }
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// If the rest cannot be written. What was is kept.
    pub fn finish(mut self) -> Result<(), Failure> {
        let finished = match &mut self.body {
            Body::Csv(csv) => csv.file.commit(),
            Body::Json(json) => json.write().and_then(|()| json.file.commit()),
            #[cfg(feature = "parquet")]
            Body::Parquet(table) => table.finish().and_then(PendingFile::commit),
        };
        finished.map_err(|error| self.rescue(&error))
    }

    /// A row could not be written, or the rest: keeps those that were, as a file that can be read, and says where they are.
    pub fn rescue(self, error: &io::Error) -> Failure {
        let kept = match self.body {
            Body::Csv(csv) => csv.rescue(),
            Body::Json(json) => json.rescue(),
            #[cfg(feature = "parquet")]
            Body::Parquet(table) => table.rescue(),
        };
        if let Ok(Some(part)) = kept {
            note(&format!(
                "{} holds the rows that could be written",
                part.leave().display()
            ));
        }
        Failure::write(&self.path, error)
    }
}

/// A header and a line for every row.
struct CsvRows {
    file: PendingFile,
    /// Bytes of the header.
    header: u64,
    /// Room for a line.
    line: String,
}

impl CsvRows {
    fn begin(mut file: PendingFile, names: &[String]) -> io::Result<Self> {
        let header = names
            .iter()
            .map(|name| stickslip_study::rows::quoted(name))
            .collect::<Vec<_>>()
            .join(",")
            + "\n";
        file.write_all(header.as_bytes())?;
        let header = header.len() as u64;
        let line = String::new();
        Ok(CsvRows { file, header, line })
    }

    fn row(&mut self, row: &[f64]) -> io::Result<()> {
        self.line.clear();
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                self.line.push(',');
            }
            push_number(&mut self.line, *value);
        }
        self.line.push('\n');
        self.file.write_all(self.line.as_bytes())
    }

    /// The whole rows that are in the file, if there are any.
    fn rescue(mut self) -> io::Result<Option<Part>> {
        let Some(mut part) = self.file.take() else {
            return Ok(None);
        };
        let whole = whole_lines(&mut part.file)?;
        let whole = if whole > self.header { whole } else { 0 };
        part.cut(whole)?;
        Ok((whole > 0).then_some(part))
    }
}

/// One object: an array for every column. Its rows wait until all are there.
struct JsonColumns {
    file: PendingFile,
    names: Vec<String>,
    rows: Spool,
}

impl JsonColumns {
    fn write(&mut self) -> io::Result<()> {
        for (i, name) in self.names.iter().enumerate() {
            self.file.write_all(if i == 0 { b"{" } else { b",\n" })?;
            serde_json::to_writer(&mut self.file, name)?;
            self.file.write_all(b":[")?;
            let (file, mut first) = (&mut self.file, true);
            self.rows.column(i, &mut |value| {
                if !std::mem::take(&mut first) {
                    file.write_all(b",")?;
                }
                Ok(serde_json::to_writer(&mut *file, &value)?)
            })?;
            self.file.write_all(b"]")?;
        }
        self.file.write_all(b"}\n")?;
        self.file.flush()
    }

    /// As many rows from the first on as there is room for. They take more of it as text than where they wait, so the last go
    /// until the others fit.
    fn rescue(mut self) -> io::Result<Option<Part>> {
        while self.rows.rows() > 0 && self.file.restart()? {
            if self.write().is_ok() {
                return Ok(self.file.take());
            }
            let fewer = self.rows.rows() * 2 / 5;
            self.rows.cut(fewer)?;
        }
        Ok(None)
    }
}

/// Adds the shortest decimal that reads back as the same binary64, in the form in which `{value:?}` writes it.
fn push_number(line: &mut String, value: f64) {
    use std::fmt::Write as _;
    let size = value.abs();
    // The two ways have the same digits and differ in where they begin to write exponents, and in those of large numbers.
    if size < 1e-5 || (1e-4..1e16).contains(&size) {
        line.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        // Writing to a String cannot fail.
        let _ = write!(line, "{value:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn numbers_have_their_shortest_digits() {
        let mut numbers = vec![
            0.0,
            0.1,
            1.0,
            1.5,
            123_456_789.0,
            1e-4,
            1e-5,
            9.99e-5,
            1e15,
            1e16,
            1.5e16,
            5e-324,
            f64::MAX,
        ];
        numbers.extend([
            f64::INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            0.3,
            1e-6,
            1.234e-7,
            2.5e-300,
            9_999_999_999_999_998.0,
        ]);
        // A sequence of bits that repeats late (xorshift), and numbers of sizes that traces have.
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        for i in 0..20_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            numbers.push(f64::from_bits(bits));
            numbers.push((bits >> 11) as f64 * 10f64.powi(-(i % 40)));
        }
        let mut line = String::new();
        for number in numbers.iter().flat_map(|number| [*number, -number]) {
            line.clear();
            push_number(&mut line, number);
            // Where two decimals are equally near, one of them ends with an even digit: that one is taken.
            let expected = format!("{number:?}");
            let same = line.len() == expected.len() && line[..line.len() - 1] == expected[..line.len() - 1];
            assert!(
                same && line.parse() == Ok(number) || number.is_nan(),
                "{line} {expected}"
            );
        }
    }
}
