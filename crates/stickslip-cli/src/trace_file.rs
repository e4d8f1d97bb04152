//! Trace files: rows go to a file beside the one named, which takes its place once it is complete.

use crate::failure::Failure;
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
            "parquet" => Err(Failure::input(
                format!("cannot write {}: this build has no parquet format", path.display()),
                "the feature `parquet` is planned and not in this version: write .csv or .json",
            )),
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
    file: PendingFile,
    format: Format,
    line: String,
    names: Vec<String>,
    /// JSON has whole columns, so they wait here.
    columns: Vec<Vec<f64>>,
}

impl TraceFile {
    /// Begins a trace with these columns.
    ///
    /// # Errors
    /// If the extension is unknown (wrong input) or the file cannot be created.
    pub fn create(path: &Path, names: &[String]) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        let mut trace = TraceFile {
            path: path.to_path_buf(),
            file: PendingFile::create(path).map_err(|error| Failure::write(path, &error))?,
            format,
            line: String::new(),
            names: names.to_vec(),
            columns: vec![Vec::new(); names.len()],
        };
        if format == Format::Csv {
            let header = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
            trace
                .file
                .write_all(header.as_bytes())
                .map_err(|error| Failure::write(path, &error))?;
        }
        Ok(trace)
    }

    /// Adds a row.
    pub fn row(&mut self, row: &[f64]) -> io::Result<()> {
        use std::fmt::Write as _;
        if self.format == Format::Json {
            for (column, value) in self.columns.iter_mut().zip(row) {
                column.push(*value);
            }
            return Ok(());
        }
        self.line.clear();
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                self.line.push(',');
            }
            // The shortest decimal that reads back as the same binary64; writing to a String cannot fail.
            let _ = write!(self.line, "{value:?}");
        }
        self.line.push('\n');
        self.file.write_all(self.line.as_bytes())
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        let mut finish = || -> io::Result<()> {
            if self.format == Format::Json {
                for (i, (name, column)) in self.names.iter().zip(&self.columns).enumerate() {
                    self.file.write_all(if i == 0 { b"{" } else { b",\n" })?;
                    serde_json::to_writer(&mut self.file, name)?;
                    self.file.write_all(b":")?;
                    serde_json::to_writer(&mut self.file, column)?;
                }
                self.file.write_all(b"}")?;
                self.file.write_all(b"\n")?;
            }
            Ok(())
        };
        let outcome = finish().and_then(|()| self.file.commit());
        outcome.map_err(|error| Failure::write(&self.path, &error))
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
