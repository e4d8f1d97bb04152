//! Results that grow row by row, perhaps for hours: files that outlive a kill and can be continued.
//!
//! Rows go to `FILE.part` as CSV, each written as soon as it is there; `FILE.state` says what they are rows of. When all
//! are there the part takes the place of `FILE` and the state is removed; a Parquet file is made from them then.

use crate::failure::{Failure, note};
#[cfg(feature = "parquet")]
use crate::trace_file::PendingFile;
use crate::trace_file::quoted;
use serde_json::{Map, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a file holds rows of: compared key by key when it is continued.
pub type Description = Map<String, Value>;

/// A value as a CSV field: a number that reads back as the same binary64, a word, or nothing.
pub fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Refuses a name that is not that of a file of rows.
///
/// # Errors
/// Wrong input: another format, or one this build leaves out.
pub fn check(path: &Path) -> Result<(), Failure> {
    if is_parquet(path) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::trace_file::no_parquet(path));
        #[cfg(feature = "parquet")]
        return Ok(());
    }
    if path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
    {
        return Ok(());
    }
    Err(Failure::input(
        format!("cannot tell the format of {}", path.display()),
        "end the name with .csv or .parquet",
    ))
}

/// A file of rows in the making.
#[derive(Debug)]
pub struct RowFile {
    target: PathBuf,
    part: PathBuf,
    state: PathBuf,
    file: File,
    /// Bytes of whole rows.
    whole: u64,
}

fn beside(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(suffix);
    target.with_file_name(name)
}

impl RowFile {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(target: &Path, header: &str, description: &Description) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::write(target, &error);
        if target.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let (part, state) = (beside(target, ".part"), beside(target, ".state"));
        if part.exists() {
            note(&format!(
                "{} of an interrupted run is replaced (--resume would have continued it)",
                part.display()
            ));
        }
        // An old state must not describe new rows.
        let _ = fs::remove_file(&state);
        let file = File::create(&part).map_err(failed)?;
        let mut rows = RowFile {
            target: target.to_path_buf(),
            part,
            state,
            file,
            whole: 0,
        };
        rows.row(header).map_err(failed)?;
        let text = Value::Object(description.clone()).to_string();
        fs::write(&rows.state, text + "\n").map_err(failed)?;
        Ok(rows)
    }

    /// Continues a file, or begins it if there is none. `check` sees every row that is there, in order, and says what is
    /// wrong with it. A last row without an end is cut off. The second part is how many rows there are.
    ///
    /// # Errors
    /// Wrong input if what is there are rows of something else; or it cannot be read or written.
    pub fn resume(
        target: &Path,
        header: &str,
        description: &Description,
        check: &mut dyn FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<(Self, u64), Failure> {
        #[cfg(feature = "parquet")]
        if is_parquet(target) && target.exists() && !beside(target, ".part").exists() {
            // A complete table: its rows are looked at as those of a complete CSV file are.
            let (part, state) = (beside(target, ".part"), beside(target, ".state"));
            let unpacked = crate::parquet_file::unpack(target, &part).and_then(|text| fs::write(&state, text));
            let outcome = match unpacked {
                Ok(()) => Self::resume_rows(target, header, description, check),
                Err(error) => Err(Failure::input(
                    format!("cannot continue {}: {error}", target.display()),
                    "name another file, or start anew without --resume",
                )),
            };
            if outcome.is_err() {
                let _ = fs::remove_file(&part).and(fs::remove_file(&state));
            }
            return outcome;
        }
        Self::resume_rows(target, header, description, check)
    }

    fn resume_rows(
        target: &Path,
        header: &str,
        description: &Description,
        check: &mut dyn FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<(Self, u64), Failure> {
        let failed = |error: io::Error| Failure::write(target, &error);
        let (part, state) = (beside(target, ".part"), beside(target, ".state"));
        if !part.exists() && !target.exists() {
            return Ok((Self::create(target, header, description)?, 0));
        }
        let source = if part.exists() { &part } else { target };
        let refuse = |reason: String| {
            Failure::input(
                format!("cannot continue {}: {reason}", source.display()),
                "give the same arguments and the same scenario as before, or start anew without --resume",
            )
        };
        if let Some(reason) = differs(&state, description) {
            return Err(refuse(reason));
        }
        let mut reader = BufReader::new(File::open(source).map_err(failed)?);
        let mut line = Vec::new();
        let (mut whole, mut rows) = (0, 0);
        let mut seen_header = false;
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failed)? as u64;
            if line.pop() != Some(b'\n') {
                if length > 0 {
                    note(&format!(
                        "the last row of {} is torn and is done again",
                        source.display()
                    ));
                }
                break;
            }
            let text = String::from_utf8_lossy(&line);
            if !seen_header {
                if text != header {
                    return Err(refuse(format!("its columns are {text} and not {header}")));
                }
                seen_header = true;
            } else {
                check(rows, &text).map_err(|reason| refuse(format!("row {}: {reason}", rows + 1)))?;
                rows += 1;
            }
            whole += length;
        }
        if !seen_header {
            return Ok((Self::create(target, header, description)?, 0));
        }
        if source == target {
            fs::copy(target, &part).map_err(failed)?;
        }
        let mut file = OpenOptions::new().write(true).open(&part).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let text = Value::Object(description.clone()).to_string();
        fs::write(&state, text + "\n").map_err(failed)?;
        let target = target.to_path_buf();
        let resumed = RowFile {
            target,
            part,
            state,
            file,
            whole,
        };
        Ok((resumed, rows))
    }

    /// Adds a row, which is safe from a kill of this program once this returns.
    pub fn row(&mut self, line: &str) -> io::Result<()> {
        let bytes = format!("{line}\n");
        if let Err(error) = self.file.write_all(bytes.as_bytes()) {
            // A full disk may have taken half of it.
            let _ = self.file.set_len(self.whole);
            return Err(error);
        }
        self.whole += bytes.len() as u64;
        Ok(())
    }

    /// All rows are there: the file takes its place.
    ///
    /// # Errors
    /// If it cannot.
    pub fn finish(self) -> Result<(), Failure> {
        let done = self.file.sync_all().and_then(|()| self.put_in_place());
        done.map_err(|error| Failure::write(&self.target, &error))?;
        let _ = fs::remove_file(&self.state);
        Ok(())
    }

    fn put_in_place(&self) -> io::Result<()> {
        #[cfg(feature = "parquet")]
        if is_parquet(&self.target) {
            let mut table = PendingFile::create(&self.target)?;
            crate::parquet_file::pack(&self.part, &mut table, fs::read_to_string(&self.state)?)?;
            table.commit()?;
            return fs::remove_file(&self.part);
        }
        fs::rename(&self.part, &self.target)
    }

    /// Not all rows are there. They take the place of the file only if there is none and they are of its format; gives where
    /// they are.
    pub fn interrupt(self) -> PathBuf {
        let _ = self.file.sync_all();
        let may = !self.target.exists() && !is_parquet(&self.target);
        if may && fs::rename(&self.part, &self.target).is_ok() {
            return self.target;
        }
        self.part
    }
}

/// What differs between the description in a state file and this one, if there is such a file.
fn differs(state: &Path, description: &Description) -> Option<String> {
    let text = fs::read_to_string(state).ok()?;
    let Ok(Value::Object(before)) = serde_json::from_str(&text) else {
        return Some(format!("{} is damaged", state.display()));
    };
    let (key, now) = description.iter().find(|(key, now)| before.get(*key) != Some(*now))?;
    let then = before.get(key).unwrap_or(&Value::Null);
    // A whole file says nothing in a message; everything else is short.
    Some(if key == "scenario" {
        "the scenario file has changed since".to_string()
    } else {
        format!("its {key} was {then} and is now {now}")
    })
}
