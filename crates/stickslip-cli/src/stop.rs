//! Ctrl-C and its kin. The first asks the work to end, which leaves complete files; the second ends the program.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use stickslip::stop::Stop;

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

/// Whether the program was asked to end.
pub fn stopped() -> bool {
    stop_flag().load(Ordering::Relaxed)
}

#[cfg(unix)]
fn watch(stop: Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::time::{Duration, Instant};

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
