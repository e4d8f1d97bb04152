//! One call of the program in a process of its own, with limits.

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Room for everything that a call may allocate, bytes.
pub const MEMORY: u64 = 2 << 30;
/// Computing time of a call, s. The clock on the wall would also count what other processes of the machine do.
pub const SECONDS: f64 = 10.0;
/// A call that neither computes nor ends.
const WALL: Duration = Duration::from_secs(120);
/// How long it may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(5);

/// How a call came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Own,
    /// It took too long and stopped when it was told to.
    Told,
    /// It took too long and did not stop.
    Killed,
}

/// What a call left.
pub struct Outcome {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
    pub end: End,
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
    for (resource, most) in [(Resource::As, MEMORY), (Resource::Fsize, 1 << 28), (Resource::Core, 0)] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // It may be over already.
        let _ = prlimit(Some(id), resource, limit);
    }
    let start = Instant::now();
    let mut pause = Duration::from_micros(300);
    let mut told = None;
    let mut killed = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(tell)? {
            break status;
        }
        let late = start.elapsed().as_secs_f64() > SECONDS && computed(child.id()) > SECONDS;
        match told {
            None if late || start.elapsed() > WALL => {
                told = Some(Instant::now());
                let _ = kill_process(id, Signal::TERM);
            }
            Some(told) if told.elapsed() > GRACE => {
                killed = true;
                child.kill().map_err(tell)?;
            }
            _ => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    };
    // Ended by the signal itself, it has not stopped in good order.
    let end = match (told, status.code()) {
        (None, _) => End::Own,
        (Some(_), Some(_)) if !killed => End::Told,
        _ => End::Killed,
    };
    let read = |path: &Path| {
        std::fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(tell)
    };
    Ok(Outcome {
        status,
        out: read(&out)?,
        err: read(&err)?,
        end,
    })
}

/// Computing time of a process so far, s: fields 14 and 15 of its line in `/proc`, in hundredths.
fn computed(id: u32) -> f64 {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program, in parentheses, may hold anything.
    let after = line.rsplit_once(')').map_or("", |(_, after)| after);
    let fields = after.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
