//! Where results go. A file is written beside its place, as `FILE.part`, and takes its place when it is complete. While it is
//! being written the part is locked, so that no second program writes there; the lock ends with the process, however it ends.
//!
//! A symbolic link keeps pointing where it does: the file behind it is replaced. Permissions are kept, and the owner where the
//! system allows it. A hard link is replaced under this name only. Pipes and devices are written to as they are.

use crate::failure::{Failure, note};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the name of a result stands for.
pub enum Place {
    /// A file that is there or will be: its path behind all symbolic links.
    File(PathBuf),
    /// A pipe, a device or standard output: what is written is gone at once.
    Stream,
}

impl Place {
    /// Looks at the name of a result.
    ///
    /// # Errors
    /// Wrong input: nothing can be written there.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::write(path, &error);
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return behind_links(path).map(Self::File).map_err(failed);
            }
            Err(error) => return Err(failed(error)),
        };
        if found.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if is_disk(&found) {
            return Err(Failure::input(
                format!("cannot write {}: it is a whole disk", path.display()),
                "name a file",
            ));
        }
        if !found.is_file() || is_open_file(path) {
            return Ok(Self::Stream);
        }
        // A rename would not ask for these permissions.
        let writable = OpenOptions::new().write(true).open(path);
        if found.permissions().readonly() || is_denied(&writable) {
            return Err(Failure::input(
                format!("cannot write {}: the file is read-only", path.display()),
                "name another file, or allow writing (chmod u+w)",
            ));
        }
        writable.map_err(failed)?;
        behind_links(path).map(Self::File).map_err(failed)
    }

    /// Whether the name stands for a pipe or a device that is there.
    pub fn is_stream(path: &Path) -> bool {
        matches!(Self::of(path), Ok(Self::Stream))
    }
}

fn is_denied(opened: &io::Result<File>) -> bool {
    (opened.as_ref()).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

#[cfg(unix)]
fn is_disk(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_disk(_: &Metadata) -> bool {
    false
}

/// Standard output and other files that the program was started with, under the names the system has for them.
fn is_open_file(path: &Path) -> bool {
    is_standard_output(path)
        || path == Path::new("/dev/stderr")
        || ["/dev/fd", "/proc"].iter().any(|at| path.starts_with(at))
}

/// Whether this is the name that the system has for standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The path that a chain of symbolic links leads to, whether a file is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The path with this behind its name.
pub fn beside(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(suffix);
    target.with_file_name(name)
}

/// A file beside the one it is to become, locked.
#[derive(Debug)]
pub struct Part {
    /// Open for reading and writing.
    pub file: File,
    /// Where it is.
    pub path: PathBuf,
    /// What it becomes.
    pub target: PathBuf,
    /// Whether there was such a file when this was opened.
    pub replaces: bool,
    /// Whether it may go with this, as all that is in it is elsewhere.
    pub disposable: bool,
}

impl Part {
    /// Opens the part of a file, with what is in it. `named` is how the user calls the file. If another program is writing there,
    /// this waits so long.
    ///
    /// # Errors
    /// Wrong input if another program is still writing there, or if there is no such place.
    pub fn open(named: &Path, target: PathBuf, patience: Duration) -> Result<Self, Failure> {
        let path = beside(&target, ".part");
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(Failure::input(
                format!("cannot write {}: {} is in the way", named.display(), path.display()),
                "remove it, or name another file",
            ));
        }
        let file = lock(named, &path, patience)?;
        let part = Part {
            replaces: target.exists(),
            disposable: false,
            file,
            path,
            target,
        };
        if let Ok(found) = fs::metadata(&part.target) {
            keep_permissions(&part.file, &found);
        }
        Ok(part)
    }

    /// Drops everything behind a place and goes on from there.
    pub fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    /// Makes the part the file.
    pub fn put_in_place(&self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)
    }

    /// The part is not all there should be, and is kept: as the file if there was none, otherwise as it is. Gives where it is.
    pub fn leave(&self) -> &Path {
        let _ = self.file.sync_all();
        let alone = !self.replaces && !self.target.exists();
        if alone && fs::rename(&self.path, &self.target).is_ok() {
            return &self.target;
        }
        &self.path
    }
}

impl Drop for Part {
    /// A part without a byte holds nothing.
    fn drop(&mut self) {
        let empty = || self.file.metadata().is_ok_and(|found| found.len() == 0);
        if is_at(&self.file, &self.path) && (self.disposable || empty()) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Gives a file the permissions and the owner of another.
pub fn keep_permissions(file: &File, other: &Metadata) {
    // Only root may give files away; whoever may not becomes the owner.
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, Some(other.uid()), Some(other.gid()));
    }
    let _ = file.set_permissions(other.permissions());
}

/// Opens a file that this process alone writes.
fn lock(named: &Path, path: &Path, patience: Duration) -> Result<File, Failure> {
    let start = Instant::now();
    loop {
        let opened = (OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path);
        let file = opened.map_err(|error| Failure::write(named, &error))?;
        if try_lock(&file).map_err(|error| Failure::write(named, &error))? {
            // Whoever held the lock may have renamed or removed the file just now.
            if is_at(&file, path) {
                return Ok(file);
            }
        } else if start.elapsed() >= patience {
            return Err(busy(named));
        } else {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Locks an open file; false if another has it. Where the file system has no locks there is nothing to wait for.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Another program writes there.
pub fn busy(named: &Path) -> Failure {
    Failure::input(
        format!("another run is writing {} at this moment", named.display()),
        "wait until it has ended, or name another file",
    )
}

/// Whether a path leads to this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// A file that is not there until it is complete, or a stream.
pub struct PendingFile {
    sink: Sink,
    buffer: Vec<u8>,
    /// Something could not be written; what comes after it must not be.
    failed: bool,
}

enum Sink {
    Part(Part),
    Stream(Box<dyn Write + Send>),
    /// What there was has been put in place or handed on.
    Gone,
}

/// Bytes that wait before they are written.
const BUFFER: usize = 1 << 16;

impl PendingFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Wrong input if it cannot be written, or another program is writing it.
    pub fn create(named: &Path) -> Result<Self, Failure> {
        Self::create_within(named, Duration::ZERO)
    }

    fn create_within(named: &Path, patience: Duration) -> Result<Self, Failure> {
        let sink = match Place::of(named)? {
            Place::Stream if is_standard_output(named) => Sink::Stream(Box::new(io::stdout())),
            Place::Stream => {
                let opened = OpenOptions::new().append(true).open(named);
                Sink::Stream(Box::new(opened.map_err(|error| Failure::write(named, &error))?))
            }
            Place::File(target) => {
                let state = beside(&target, ".state");
                let mut part = Part::open(named, target, patience)?;
                if state.exists() && part.file.metadata().is_ok_and(|found| found.len() > 0) {
                    replaced(&part.path);
                    let _ = fs::remove_file(state);
                }
                part.cut(0).map_err(|error| Failure::write(named, &error))?;
                Sink::Part(part)
            }
        };
        Ok(PendingFile {
            sink,
            buffer: Vec::new(),
            failed: false,
        })
    }

    /// Puts the file in its place. After an error it is still pending.
    pub fn commit(&mut self) -> io::Result<()> {
        self.flush()?;
        if let Sink::Part(part) = &self.sink {
            part.put_in_place()?;
        }
        self.sink = Sink::Gone;
        Ok(())
    }

    /// As [`PendingFile::commit`], but a file that has come to its place meanwhile is not replaced.
    pub fn commit_new(&mut self) -> io::Result<()> {
        self.flush()?;
        if let Sink::Part(part) = &self.sink {
            part.file.sync_all()?;
            match fs::hard_link(&part.path, &part.target) {
                Ok(()) => fs::remove_file(&part.path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                // A file system without hard links.
                Err(_) => fs::rename(&part.path, &part.target)?,
            }
        }
        self.sink = Sink::Gone;
        Ok(())
    }

    /// The part with its bytes, out of the hands of whoever wrote it; `None` of a stream.
    pub fn take(&mut self) -> Option<Part> {
        self.failed = true;
        match std::mem::replace(&mut self.sink, Sink::Gone) {
            Sink::Part(part) => Some(part),
            _ => None,
        }
    }

    /// Drops all that was written, to begin again; false if it is gone, as that of a stream is.
    pub fn restart(&mut self) -> io::Result<bool> {
        let Sink::Part(part) = &mut self.sink else {
            return Ok(false);
        };
        part.cut(0)?;
        self.buffer.clear();
        self.failed = false;
        Ok(true)
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::Error::other("what comes before it could not be written"));
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = match &mut self.sink {
            Sink::Part(part) => part.file.write_all(&self.buffer),
            Sink::Stream(stream) => stream.write_all(&self.buffer).and_then(|()| stream.flush()),
            Sink::Gone => Ok(()),
        };
        self.buffer.clear();
        self.failed |= written.is_err();
        written
    }
}

impl Drop for PendingFile {
    /// What was not committed leaves no trace, unless it is a defect of this program that ends the work.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.flush();
        } else if let Sink::Part(part) = &self.sink {
            let _ = fs::remove_file(&part.path);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// If it cannot.
pub fn write_whole(named: &Path, bytes: &[u8]) -> Result<(), Failure> {
    // Another program that writes this file is done in a moment, and the work for this one is done.
    let mut file = PendingFile::create_within(named, Duration::from_secs(5))?;
    let written = file.write_all(bytes).and_then(|()| file.commit());
    written.map_err(|error| Failure::write(named, &error))
}

/// Says that rows which might have been continued are gone.
pub fn replaced(part: &Path) {
    note(&format!(
        "{} holds rows of another run, which was interrupted; it is replaced",
        part.display()
    ));
}

/// How long a file is up to the end of its last whole line.
pub fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut piece = vec![0; BUFFER];
    while end > 0 {
        let start = end.saturating_sub(BUFFER as u64);
        let piece = &mut piece[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(piece)?;
        if let Some(last) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
