//! Trace files: rows go to a file beside the one named, which takes its place once it is complete.

use crate::failure::Failure;
#[cfg(feature = "parquet")]
use crate::parquet_file::{Kind, Table};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
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

/// How a build without a format is told from one with it.
#[cfg(not(feature = "parquet"))]
pub fn no_parquet(path: &Path) -> Failure {
    Failure::input(
        format!("cannot write {}: this build has no Parquet format", path.display()),
        "write .csv, or build with the feature `parquet`: cargo install --path crates/stickslip-cli --features parquet",
    )
}

impl Format {
    /// The format that the extension of a path names.
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
            _ => Err(Failure::input(
                format!("cannot tell the format of the trace {}", path.display()),
                "end the name with .csv, .json or .parquet",
            )),
        }
    }
}

/// A file that is not there until it is complete.
pub struct PendingFile {
    target: PathBuf,
    part: PathBuf,
    file: Option<BufWriter<File>>,
}

impl PendingFile {
    /// Begins a file beside `target`.
    pub fn create(target: &Path) -> io::Result<Self> {
        if target.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut name = target.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".tmp-{}", std::process::id()));
        let part = target.with_file_name(name);
        let file = BufWriter::with_capacity(1 << 16, File::create(&part)?);
        Ok(PendingFile {
            target: target.to_path_buf(),
            part,
            file: Some(file),
        })
    }

    /// Puts the file in its place.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
        }
        let renamed = fs::rename(&self.part, &self.target);
        if renamed.is_ok() {
            self.part.clear();
        }
        renamed
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for PendingFile {
    /// What was not committed leaves no trace.
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // Whatever is still in the buffer is not wanted.
            let _ = file.into_parts();
        }
        if !self.part.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.part);
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
    /// The file and room for a line.
    Csv(PendingFile, String),
    /// JSON has whole columns, so they wait here with their names.
    Json(PendingFile, Vec<(String, Vec<f64>)>),
    #[cfg(feature = "parquet")]
    Parquet(Box<Table<PendingFile>>),
}

impl TraceFile {
    /// Begins a trace with these columns.
    ///
    /// # Errors
    /// If the extension is unknown (wrong input) or the file cannot be created.
    pub fn create(path: &Path, names: &[String]) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        let begin = || -> io::Result<Body> {
            let mut file = PendingFile::create(path)?;
            Ok(match format {
                Format::Csv => {
                    let header = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
                    file.write_all(header.as_bytes())?;
                    Body::Csv(file, String::new())
                }
                Format::Json => Body::Json(file, names.iter().map(|name| (name.clone(), Vec::new())).collect()),
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
        use std::fmt::Write as _;
        match &mut self.body {
            Body::Csv(file, line) => {
                line.clear();
                for (i, value) in row.iter().enumerate() {
                    if i > 0 {
                        line.push(',');
                    }
                    // The shortest decimal that reads back as the same binary64; writing to a String cannot fail.
                    let _ = write!(line, "{value:?}");
                }
                line.push('\n');
                file.write_all(line.as_bytes())
            }
            Body::Json(_, columns) => {
                columns
                    .iter_mut()
                    .zip(row)
                    .for_each(|((_, column), value)| column.push(*value));
                Ok(())
            }
            #[cfg(feature = "parquet")]
            Body::Parquet(table) => table.numbers(row),
        }
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        let finish = || -> io::Result<()> {
            match self.body {
                Body::Csv(file, _) => file,
                Body::Json(mut file, columns) => {
                    for (i, (name, column)) in columns.iter().enumerate() {
                        file.write_all(if i == 0 { b"{" } else { b",\n" })?;
                        serde_json::to_writer(&mut file, name)?;
                        file.write_all(b":")?;
                        serde_json::to_writer(&mut file, column)?;
                    }
                    file.write_all(b"}\n")?;
                    file
                }
                #[cfg(feature = "parquet")]
                Body::Parquet(table) => table.finish()?,
            }
            .commit()
        };
        finish().map_err(|error| Failure::write(&self.path, &error))
    }
}

/// A name as a CSV field.
pub fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
