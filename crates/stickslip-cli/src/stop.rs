//! Ctrl-C and its kin. The first asks the work to end, which leaves complete files; the second ends the program.
//!
//! Work looks at the flag often, but a single step of very many bodies, or building them, may take long. After [`GRACE`] the
//! program does not wait for it: a thread of its own keeps what there is (see [`keep`]) and ends the program.

use crate::failure::Failure;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use stickslip::stop::Stop;

/// How long the work may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(100);

/// Ends the work in place of whoever does it.
type End = Box<dyn FnOnce() -> Failure + Send>;

/// What to do once [`GRACE`] is over; `None` while the work is ending by itself.
static END: Mutex<Option<End>> = Mutex::new(None);

/// As long as this lives, work that does not end when asked to is left where it is.
pub struct Kept(());

/// From now on, work that does not end within [`GRACE`] after it was asked to is left where it is: `end` keeps its results, and
/// the program ends with what it gives.
pub fn keep(end: impl FnOnce() -> Failure + Send + 'static) -> Kept {
    *END.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(end));
    Kept(())
}

/// As [`keep`] for work without results that could be kept.
pub fn keep_nothing() -> Kept {
    keep(|| Failure::Work("stopped".to_string()))
}

/// As [`keep`] for rows that are safe in this file as soon as they are written.
pub fn keep_rows(at: Option<&Path>) -> Kept {
    let kept = at.map_or(String::new(), |path| {
        format!(
            "; {} holds the runs that were done: continue with --resume",
            path.display()
        )
    });
    keep(move || Failure::Work(format!("stopped{kept}")))
}

impl Drop for Kept {
    /// If `end` is at work already, this waits for the end of the program.
    fn drop(&mut self) {
        *END.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Ends the program in place of the work.
fn end_after_grace() {
    std::thread::sleep(GRACE);
    loop {
        let mut end = END.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = end.take() {
            let _ = end().report();
            std::process::exit(1);
        }
        drop(end);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// True once the program was asked to end: by Ctrl-C, by `kill`, or because its terminal was closed. Asked again, it ends at
/// once. Before the first call signals do what they do by default.
pub fn stop_flag() -> &'static Stop {
    static STOP: OnceLock<Stop> = OnceLock::new();
    STOP.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        // If nothing can be installed, the program ends at a signal as programs do.
        let _ = watch(Arc::clone(&flag));
        flag.into()
    })
}

#[cfg(unix)]
fn watch(stop: Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::time::Instant;

    /// Signals within this time are one request: `timeout` sends one to the program and another to its group.
    const ONE_REQUEST: Duration = Duration::from_millis(100);

    let asked = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = Signals::new(asked)?;
    let wait = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            match first {
                None => {
                    stop.store(true, Ordering::Relaxed);
                    first = Some(Instant::now());
                    // Without a thread to spare the work takes as long as it takes.
                    let _ = std::thread::Builder::new().name("end".into()).spawn(end_after_grace);
                }
                Some(first) if first.elapsed() > ONE_REQUEST => std::process::exit(128 + signal),
                Some(_) => (),
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// Whether whoever started the program had this signal ignored, as `nohup` does with SIGHUP and a script with SIGINT for what it
/// starts in the background. Such a signal stays ignored.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Elsewhere only unsafe code can tell. SIGHUP is left as it is, so that `nohup` works.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn ignored(signal: i32) -> bool {
    signal == signal_hook::consts::SIGHUP
}

#[cfg(not(unix))]
fn watch(stop: Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::SIGINT;
    use signal_hook::flag;
    // In this order: the first Ctrl-C finds the flag down.
    flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&stop))?;
    flag::register(SIGINT, stop).map(drop)
}
