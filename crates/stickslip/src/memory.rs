//! How much memory there is: asked before very many bodies are built or rows are kept, since a system that promises more than it has ends
//! the process later without a word.

use std::fs::read_to_string;

/// Fewer bytes than this are taken without asking.
const ALWAYS: u64 = 64 << 20;

/// Memory that can still be taken, bytes, where the system says: of the machine, of the control group, of the process.
fn free() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| kilobytes(&text, "MemAvailable:"));
    let group = || {
        let number = |name: &str| {
            read_to_string(format!("/sys/fs/cgroup/{name}"))
                .ok()?
                .trim()
                .parse::<u64>()
                .ok()
        };
        Some(number("memory.max")?.saturating_sub(number("memory.current")?))
    };
    let process = || {
        let limits = read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
        let most = line.split_whitespace().nth(3)?.parse::<u64>().ok()?;
        let used = kilobytes(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
        Some(most.saturating_sub(used))
    };
    [machine, group(), process()].into_iter().flatten().min()
}

fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory that the process holds now, bytes, where the system says.
pub fn held() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// What is said if so many bytes are not there: how much is needed and how much is free.
pub fn lacking(bytes: u64) -> Option<String> {
    if bytes <= ALWAYS {
        return None;
    }
    let free = free()?;
    (bytes > free).then(|| format!("{} of memory, and {} are free", in_units(bytes), in_units(free)))
}

/// Bytes with a unit that suits them.
pub fn in_units(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB", "TB", "PB"] {
        if value < 999.5 {
            let digits = usize::from(value < 99.95 && unit != "bytes");
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.0} EB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_easily() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (123_456, "123 kB"),
            (99_960_000, "100 MB"),
            (1_600_000_000_000, "1.6 TB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(in_units(bytes), text);
        }
    }

    #[test]
    fn what_no_machine_has_is_lacking() {
        assert_eq!(lacking(1 << 20), None);
        if cfg!(target_os = "linux") {
            let words = lacking(1 << 60).unwrap();
            assert!(words.starts_with("1 EB of memory, and "), "{words}");
        }
    }
}
