//! Results that grow row by row, perhaps for hours: files that outlive a kill and can be continued.
//!
//! Rows go to `FILE.part` as CSV, each written as soon as it is there; `FILE.state` says what they are rows of. When all
//! are there the part takes the place of `FILE` and the state is removed; a Parquet file is made from them then, as
//! `FILE.table`, which takes its place. Whatever ends the program, and whenever, `--resume` finds every whole row.

use crate::failure::{Failure, note};
use crate::output::{Part, PendingFile, Place, beside, busy, replaced, try_lock};
use serde_json::{Map, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a file holds rows of: compared key by key when it is continued.
pub type Description = Map<String, Value>;

fn is_parquet(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Refuses a name that is not that of a file of rows.
///
/// # Errors
/// Wrong input: another format, or one this build leaves out.
pub fn check(path: &Path) -> Result<(), Failure> {
    let stream = matches!(Place::of(path)?, Place::Stream);
    if is_parquet(path) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::trace_file::no_parquet(path));
        #[cfg(feature = "parquet")]
        return match stream {
            false => Ok(()),
            true => Err(Failure::input(
                format!(
                    "{} is a pipe or a device, and a table is made when all rows are there",
                    path.display()
                ),
                "name a file, or a pipe that ends with .csv",
            )),
        };
    }
    if stream {
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
pub struct RowFile {
    /// The file as the user calls it.
    named: PathBuf,
    rows: Rows,
}

enum Rows {
    File {
        part: Part,
        state: PathBuf,
        /// Bytes of whole rows.
        whole: u64,
        /// What they are rows of.
        #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "a table says what it holds"))]
        description: String,
    },
    /// Rows go where nobody can take them back from.
    Stream(PendingFile),
}

/// What an earlier run left of a file of rows. Nothing has been changed yet, and no other program can.
pub struct Found {
    named: PathBuf,
    part: Part,
    source: Source,
    /// Bytes of whole rows.
    whole: u64,
    /// Whether the state says what they are rows of.
    described: bool,
    /// Whether it says that the file was there before them, and so does not hold them.
    stranger: bool,
}

/// Where the rows are that are continued.
enum Source {
    Nowhere,
    Part,
    /// In the file itself, which was put in its place before it was complete.
    Target(File),
    /// In the table, from which the part was made.
    #[cfg(feature = "parquet")]
    Table,
}

/// What a state file says.
enum State {
    Missing,
    Damaged,
    Says(Description),
}

/// The key of a state file that says whether there was a file already when these rows began. Such a file is not theirs.
const REPLACES: &str = "replaces";

impl State {
    fn read(path: &Path) -> Self {
        match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(says)) => Self::Says(says),
                _ => Self::Damaged,
            },
            Err(_) => Self::Damaged,
        }
    }

    /// Writes a state aside and puts it in its place whole.
    fn write(path: &Path, description: &Description, replaces: bool) -> io::Result<()> {
        let mut says = description.clone();
        says.insert(REPLACES.to_string(), replaces.into());
        let aside = beside(path, ".part");
        let written = File::create(&aside).and_then(|mut file| {
            file.write_all(described(&says).as_bytes())?;
            file.sync_all()
        });
        let written = written.and_then(|()| fs::rename(&aside, path));
        if written.is_err() {
            let _ = fs::remove_file(&aside);
        }
        written
    }

    fn remove(path: &Path) {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(beside(path, ".part"));
    }
}

fn described(description: &Description) -> String {
    Value::Object(description.clone()).to_string() + "\n"
}

impl RowFile {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be created, or another program is writing it.
    pub fn create(named: &Path, header: &str, description: &Description) -> Result<Self, Failure> {
        match Place::of(named)? {
            Place::Stream => {
                let rows = Rows::Stream(PendingFile::create(named)?);
                let mut rows = RowFile {
                    named: named.to_path_buf(),
                    rows,
                };
                rows.row(header).map_err(|error| Failure::write(named, &error))?;
                Ok(rows)
            }
            Place::File(target) => {
                let part = Part::open(named, target, Duration::ZERO)?;
                let unfinished = part.file.metadata().is_ok_and(|found| found.len() > 0);
                if let State::Says(says) = State::read(&beside(&part.target, ".state"))
                    && (unfinished || part.replaces && says.get(REPLACES) != Some(&Value::Bool(true)))
                {
                    // Perhaps hours of work. What differs cannot be continued, so it is replaced as any other output.
                    if differs(&says, description).is_none() {
                        let rows = if unfinished { &part.path } else { &part.target };
                        return Err(Failure::input(
                            format!(
                                "{} holds rows of this very command, which was interrupted",
                                rows.display()
                            ),
                            "continue it with --resume, or remove that file to begin anew",
                        ));
                    }
                    replaced(if unfinished { &part.path } else { &part.target });
                } else if unfinished {
                    replaced(&part.path);
                }
                Self::begin(named, part, header, description)
            }
        }
    }

    /// The order matters: an old state must not describe new rows, and rows must not be without a state.
    fn begin(named: &Path, mut part: Part, header: &str, description: &Description) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::write(named, &error);
        let state = beside(&part.target, ".state");
        part.cut(0).map_err(failed)?;
        State::write(&state, description, part.replaces).map_err(failed)?;
        let mut rows = RowFile {
            named: named.to_path_buf(),
            rows: Rows::File {
                part,
                state,
                whole: 0,
                description: described(description),
            },
        };
        rows.row(header).map_err(failed)?;
        Ok(rows)
    }

    /// Looks for the rows of a file that is to be continued. `check` sees every one, in order, and says what is wrong with it. The
    /// second part is how many there are; a last row without an end does not count.
    ///
    /// # Errors
    /// Wrong input if what is there are rows of something else, or another program is writing them; or they cannot be read.
    pub fn find(
        named: &Path,
        header: &str,
        description: &Description,
        check: &mut dyn FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<(Found, u64), Failure> {
        let Place::File(target) = Place::of(named)? else {
            return Err(Failure::input(
                format!(
                    "{} is a pipe or a device: it holds no rows to continue",
                    named.display()
                ),
                "leave out --resume",
            ));
        };
        let part = Part::open(named, target, Duration::ZERO)?;
        let mut found = Found {
            named: named.to_path_buf(),
            source: Source::Nowhere,
            part,
            whole: 0,
            described: false,
            stranger: false,
        };
        let rows = found.look(header, description, check)?;
        Ok((found, rows))
    }

    /// Adds a row, which is safe from a kill of this program once this returns.
    pub fn row(&mut self, line: &str) -> io::Result<()> {
        let bytes = format!("{line}\n");
        match &mut self.rows {
            Rows::File { part, whole, .. } => {
                if let Err(error) = part.file.write_all(bytes.as_bytes()) {
                    // A full disk may have taken half of it.
                    let _ = part.file.set_len(*whole);
                    return Err(error);
                }
                *whole += bytes.len() as u64;
                Ok(())
            }
            Rows::Stream(stream) => stream.write_all(bytes.as_bytes()).and_then(|()| stream.flush()),
        }
    }

    /// Where the rows are while they are written; a stream has them.
    pub fn rows_at(&self) -> Option<&Path> {
        match &self.rows {
            Rows::File { part, .. } => Some(&part.path),
            Rows::Stream(_) => None,
        }
    }

    /// All rows are there: the file takes its place.
    ///
    /// # Errors
    /// If it cannot.
    pub fn finish(self) -> Result<(), Failure> {
        let Rows::File { part, state, .. } = &self.rows else {
            return Ok(());
        };
        let done = part.file.sync_all().and_then(|()| {
            #[cfg(feature = "parquet")]
            if is_parquet(&part.target) {
                return self.pack();
            }
            // Rows without a state are found again; a state beside a file that is complete would be a riddle.
            State::remove(state);
            part.put_in_place()
        });
        done.map_err(|error| {
            keeps(&part.path);
            Failure::write(&self.named, &error)
        })
    }

    /// Makes the table of the rows. Whenever this is ended, there are the rows or the table.
    #[cfg(feature = "parquet")]
    fn pack(&self) -> io::Result<()> {
        let Rows::File {
            part,
            state,
            description,
            ..
        } = &self.rows
        else {
            return Ok(());
        };
        let aside = beside(&part.target, ".table");
        let packed = File::create(&aside).and_then(|file| {
            // Before anything is in it.
            crate::output::keep_permissions(&file, &part.file.metadata()?);
            let writer = std::io::BufWriter::new(&file);
            crate::parquet_file::pack(&part.path, writer, description.clone())?;
            file.sync_all()?;
            fs::rename(&aside, &part.target)
        });
        if packed.is_err() {
            let _ = fs::remove_file(&aside);
        }
        packed?;
        State::remove(state);
        fs::remove_file(&part.path)
    }

    /// Not all rows are there. They take the place of the file only if there is none and they are of its format; gives where
    /// they are. A stream has them.
    pub fn interrupt(self) -> Option<PathBuf> {
        let Rows::File { part, .. } = &self.rows else {
            return None;
        };
        if is_parquet(&part.target) {
            let _ = part.file.sync_all();
            return Some(part.path.clone());
        }
        Some(part.leave().to_path_buf())
    }

    /// A row could not be written: says where the others are.
    pub fn broken(self, error: &io::Error) -> Failure {
        let named = self.named.clone();
        if let Some(left) = self.interrupt() {
            keeps(&left);
        }
        Failure::write(&named, error)
    }
}

/// Says where rows are that can be continued.
fn keeps(left: &Path) {
    note(&format!(
        "{} holds the rows so far: continue with --resume",
        left.display()
    ));
}

impl Found {
    /// Finds the rows and looks at each. How many there are.
    fn look(
        &mut self,
        header: &str,
        description: &Description,
        check: &mut dyn FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<u64, Failure> {
        let failed = |error: io::Error| Failure::write(&self.named, &error);
        let state = State::read(&self.state());
        self.stranger = matches!(&state, State::Says(says) if says.get(REPLACES) == Some(&Value::Bool(true)));
        self.part.file.rewind().map_err(failed)?;
        let mut first = Vec::new();
        let mut reader = BufReader::new(&self.part.file);
        reader.read_until(b'\n', &mut first).map_err(failed)?;
        let source = if first.ends_with(b"\n") {
            self.source = Source::Part;
            self.part.path.clone()
        } else if self.part.replaces && !self.stranger {
            #[cfg(feature = "parquet")]
            if is_parquet(&self.part.target) {
                return self.unpack(header, description, check);
            }
            let target = OpenOptions::new().read(true).write(true).open(&self.part.target);
            let target = target.map_err(failed)?;
            if !try_lock(&target).map_err(failed)? {
                return Err(busy(&self.named));
            }
            self.source = Source::Target(target);
            self.part.target.clone()
        } else {
            return Ok(0);
        };
        let refuse = |reason: String| refuse(&source, &reason);
        match state {
            State::Says(says) => {
                if let Some(reason) = differs(&says, description) {
                    return Err(refuse(reason));
                }
                self.described = true;
            }
            State::Damaged => note(&format!(
                "{} is damaged; the rows are compared without it",
                self.state().display()
            )),
            State::Missing => (),
        }
        let mut file = match &self.source {
            Source::Target(target) => target,
            _ => &self.part.file,
        };
        file.rewind().map_err(failed)?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        let mut rows = 0;
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
            self.whole += length;
        }
        if !seen_header {
            self.source = Source::Nowhere;
        }
        Ok(rows)
    }

    fn state(&self) -> PathBuf {
        beside(&self.part.target, ".state")
    }

    /// A complete table: its rows go to the part and are looked at there, as those of a complete CSV file are.
    #[cfg(feature = "parquet")]
    fn unpack(
        &mut self,
        header: &str,
        description: &Description,
        check: &mut dyn FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<u64, Failure> {
        let table = self.part.target.clone();
        let says = crate::parquet_file::description(&table);
        let says = says.map(|text| serde_json::from_str::<Description>(&text).unwrap_or_default());
        let says = says.map_err(|error| {
            Failure::input(
                format!("cannot continue {}: {error}", table.display()),
                "name another file, or start anew without --resume",
            )
        })?;
        if let Some(reason) = differs(&says, description) {
            return Err(refuse(&table, &reason));
        }
        self.part.cut(0).map_err(|error| Failure::write(&self.named, &error))?;
        // They are in the table as well.
        self.part.disposable = true;
        crate::parquet_file::unpack(&table, &self.part.file).map_err(|error| Failure::write(&self.named, &error))?;
        // An old state speaks of other rows.
        State::remove(&self.state());
        let rows = self.look(header, description, check)?;
        self.source = Source::Table;
        Ok(rows)
    }

    /// Continues the rows, or begins if there are none.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn go_on(mut self, header: &str, description: &Description) -> Result<RowFile, Failure> {
        let named = self.named.clone();
        let failed = |error: io::Error| Failure::write(&named, &error);
        let state = self.state();
        let source = std::mem::replace(&mut self.source, Source::Nowhere);
        let mut part = self.part;
        match source {
            Source::Nowhere => return RowFile::begin(&named, part, header, description),
            Source::Target(target) => {
                if !self.described {
                    State::write(&state, description, false).map_err(failed)?;
                }
                // The rows are never in two places: that needs no room, and a kill finds them in one.
                fs::rename(&part.target, &part.path).map_err(failed)?;
                part.file = target;
                part.replaces = false;
            }
            _ if self.described => part.replaces = self.stranger,
            _ => {
                // The table that rows were unpacked from holds them as well.
                let replaces = part.replaces && matches!(source, Source::Part);
                State::write(&state, description, replaces).map_err(failed)?;
            }
        }
        part.disposable = false;
        part.cut(self.whole).map_err(failed)?;
        Ok(RowFile {
            named: self.named,
            rows: Rows::File {
                part,
                state,
                whole: self.whole,
                description: described(description),
            },
        })
    }
}

/// Why rows are not continued.
fn refuse(source: &Path, reason: &str) -> Failure {
    Failure::input(
        format!("cannot continue {}: {reason}", source.display()),
        "give the same arguments and the same scenario as before, or start anew without --resume",
    )
}

/// What differs between two descriptions.
fn differs(before: &Description, description: &Description) -> Option<String> {
    let (key, now) = description.iter().find(|(key, now)| before.get(*key) != Some(*now))?;
    let then = before.get(key).unwrap_or(&Value::Null);
    // A whole file says nothing in a message; everything else is short.
    Some(if key == "scenario" {
        "the scenario file has changed since".to_string()
    } else {
        format!("its {key} was {then} and is now {now}")
    })
}
