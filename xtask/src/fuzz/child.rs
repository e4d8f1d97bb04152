//! One call of the program in a process of its own, with limits.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Room for everything that a call may allocate, bytes.
pub const MEMORY: u64 = 2 << 30;
/// Computing time of a call, s. The clock on the wall would also count what other processes of the machine do.
pub const SECONDS: u64 = 10;
/// A call that neither computes nor ends.
const WALL: Duration = Duration::from_secs(60);

/// What a call left.
pub struct Outcome {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
    /// It was ended from outside.
    pub late: bool,
}

impl Outcome {
    /// The exit status; `None` if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// Calls the program in a folder and waits for its end.
pub fn call(program: &Path, arguments: &[String], folder: &Path) -> Result<Outcome, String> {
    let tell = |error: std::io::Error| format!("cannot run {}: {error}", program.display());
    let (out, err): (PathBuf, PathBuf) = (folder.join("stdout"), folder.join("stderr"));
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(File::create(&out).map_err(tell)?)
        .stderr(File::create(&err).map_err(tell)?)
        .spawn()
        .map_err(tell)?;
    let id = Pid::from_child(&child);
    for (resource, most) in [
        (Resource::As, MEMORY),
        (Resource::Cpu, SECONDS),
        (Resource::Fsize, 1 << 28),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // It may be over already.
        let _ = prlimit(Some(id), resource, limit);
    }
    let start = Instant::now();
    let mut pause = Duration::from_micros(300);
    let mut late = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(tell)? {
            break status;
        }
        if start.elapsed() > WALL {
            late = true;
            child.kill().map_err(tell)?;
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    };
    // SIGXCPU and SIGKILL of the limit.
    late |= matches!(status.signal(), Some(24 | 9));
    let read = |path: &Path| {
        std::fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(tell)
    };
    Ok(Outcome {
        status,
        out: read(&out)?,
        err: read(&err)?,
        late,
    })
}
