//! `cargo xtask kill STARTS SEED`: sweeps and maps that are ended at random moments, by signals and by a full disk, and continued.
//! Rows that were written are never lost, and the file at the end has the bytes of one that nobody disturbed.
//!
//! A test of the command has a few of these starts (`crates/stickslip-cli/tests/kill.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A block on a spring whose end is drawn along, with what a map needs.
const BLOCK: &str = r#"[simulation]
duration = "6 s"
step = "1 ms"
integrator = "implicit-euler"
[bodies.block]
kind = "mass"
mass = "1 kg"
[bodies.hook]
kind = "driver"
velocity = "0.1 m/s"
[elements.spring]
kind = "spring"
between = ["hook", "block"]
stiffness = "90 N/m"
damping = "3 N s/m"
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "8 N"
static = "11 N"
[analysis]
stick_slip = { signal = "spring.force", threshold = 0.5, from = "2 s" }
"#;

/// The works: runs one by one, runs side by side, the cells of a map, its boundary.
const WORKS: [&[&str]; 4] = [
    &[
        "sweep",
        "block.toml",
        "--vary",
        "elements.floor.static=lin:9:14:7",
        "--vary",
        "bodies.block.mass=log:0.2:5:9",
        "--measure",
        "final.block.position,energy.dissipated,elements.floor.transitions",
    ],
    &[
        "sweep",
        "block.toml",
        "--set",
        "elements.floor.static=8",
        "--vary",
        "elements.floor.kinetic=lin:2:8:1500",
        "--measure",
        "final.block.position,final.block.velocity",
    ],
    &[
        "map",
        "block.toml",
        "--x",
        "elements.spring.stiffness=log:40:400:6",
        "--y",
        "bodies.hook.velocity=log:0.05:1:8",
    ],
    &[
        "map",
        "block.toml",
        "--trace-boundary",
        "--x",
        "elements.spring.stiffness=log:40:400:5",
        "--y",
        "bodies.hook.velocity=log:0.02:2:9",
    ],
];

/// Random numbers by splitmix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// Between 0 and 1.
    fn part(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct Tally {
    /// Times that the program was started.
    pub starts: u32,
    /// Files that were completed and compared.
    pub files: u32,
    /// How starts ended.
    pub ended: BTreeMap<String, u32>,
}

/// `kill STARTS SEED`.
pub fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let number = |text: &str| text.parse().map_err(|_| format!("\"{text}\" is not a number"));
    let [starts, seed] = arguments else {
        return Err("give the number of starts and a seed".into());
    };
    let tally = starts_and_ends(program, folder, number(starts)?, number(seed)?, true)?;
    println!(
        "{} starts, {} files, 0 differ; starts ended:",
        tally.starts, tally.files
    );
    for (how, count) in &tally.ended {
        println!("  {count:>5}  {how}");
    }
    Ok(())
}

/// Starts works until there were so many starts, and some more until the last file is complete.
///
/// # Errors
/// Something was lost or differs, or the program refused to go on.
pub fn starts_and_ends(program: &Path, folder: &Path, starts: u64, seed: u64, parquet: bool) -> Result<Tally, String> {
    // Started in the background, a program finds interrupts ignored, and so would those that it starts. One that it handles is
    // as by default in them.
    let always = std::sync::Arc::new(true.into());
    signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, always).map_err(|e| e.to_string())?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fs::write(folder.join("block.toml"), BLOCK).map_err(|error| error.to_string())?;
    let mut dice = Dice(seed);
    let mut tally = Tally::default();
    let mut references = BTreeMap::new();
    while u64::from(tally.starts) < starts {
        let work = dice.below(WORKS.len() as u64) as usize;
        let name = if parquet && dice.below(2) == 0 {
            "a.parquet"
        } else {
            "a.csv"
        };
        let reference = match references.get(&(work, name)) {
            Some(reference) => reference,
            None => {
                let begin = Instant::now();
                let bench = Bench::new(program, folder, WORKS[work], name);
                bench.clear();
                let status = bench
                    .command(&["--quiet"])
                    .status()
                    .map_err(|error| error.to_string())?;
                let bytes = bench.target();
                if status.code() != Some(0) || bytes.is_empty() {
                    return Err(format!("{:?} left alone: {status}", WORKS[work]));
                }
                references
                    .entry((work, name))
                    .or_insert((bytes, begin.elapsed().as_secs_f64()))
            }
        };
        let bench = Bench::new(program, folder, WORKS[work], name);
        bench.one_file(reference, &mut dice, &mut tally).map_err(|finding| {
            format!(
                "seed {seed}, start {}: {:?} to {name}: {finding}",
                tally.starts, WORKS[work]
            )
        })?;
        tally.files += 1;
    }
    Ok(tally)
}

/// One work and its file.
struct Bench<'a> {
    program: &'a Path,
    folder: &'a Path,
    work: &'a [&'a str],
    name: &'a str,
}

impl<'a> Bench<'a> {
    fn new(program: &'a Path, folder: &'a Path, work: &'a [&'a str], name: &'a str) -> Self {
        Bench {
            program,
            folder,
            work,
            name,
        }
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.name))
    }

    fn target(&self) -> Vec<u8> {
        fs::read(self.path("")).unwrap_or_default()
    }

    fn clear(&self) {
        for suffix in ["", ".part", ".state", ".state.part", ".table"] {
            let _ = fs::remove_file(self.path(suffix));
        }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.work).args(["--out", self.name]).args(more);
        self.prepare(command)
    }

    /// The same where no file may have more than so many blocks, as on a disk that is full.
    fn command_within(&self, blocks: u64, more: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(self.program);
        command.args(self.work).args(["--out", self.name]).args(more);
        self.prepare(command)
    }

    fn prepare(&self, mut command: Command) -> Command {
        command.current_dir(self.folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Rows that are safe: those of the part if it has a header, otherwise those of the file if it is theirs.
    fn rows(&self, old: &[u8]) -> usize {
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        let part = lines(&fs::read(self.path(".part")).unwrap_or_default());
        let target = self.target();
        let theirs = !target.is_empty() && target != old;
        match self.name.ends_with(".csv") {
            // A table is made when all rows are there.
            false if theirs => usize::MAX,
            true if theirs && part == 0 => lines(&target),
            _ => part,
        }
    }

    /// Ends the work again and again until it is done, and compares.
    fn one_file(
        &self,
        (reference, seconds): &(Vec<u8>, f64),
        dice: &mut Dice,
        tally: &mut Tally,
    ) -> Result<(), String> {
        self.clear();
        // Now and then another file has the name. It stays until the new one is complete.
        let old: &[u8] = if dice.below(3) == 0 { b"precious\n" } else { b"" };
        if !old.is_empty() {
            fs::write(self.path(""), old).map_err(|error| error.to_string())?;
        }
        for attempt in 0.. {
            let before = self.rows(old);
            let begun = self.path(".state").exists() || before > 0;
            let threads = (1 + dice.below(3)).to_string();
            let mut more = vec!["--quiet", "--threads", &threads];
            if begun || (old.is_empty() && dice.below(2) == 0) {
                more.push("--resume");
            }
            // Many of the moments are early, when files are opened and looked at.
            let moment = if dice.below(2) == 0 {
                1e-3 * (1e3 * seconds).powf(dice.part())
            } else {
                dice.part() * seconds
            };
            let how = match dice.below(5) {
                _ if attempt > 11 => "left alone",
                0 => "full disk",
                1 => "INT",
                2 => "TERM",
                _ => "KILL",
            };
            let mut command = match how {
                "full disk" => self.command_within(dice.below(reference.len() as u64 / 512 + 3), &more),
                _ => self.command(&more),
            };
            let child = command.spawn().map_err(|error| error.to_string())?;
            if ["INT", "TERM", "KILL"].contains(&how) {
                std::thread::sleep(Duration::from_secs_f64(moment));
                let id = child.id().to_string();
                let _ = Command::new("kill")
                    .args([&format!("-{how}"), &id])
                    .stderr(Stdio::null())
                    .status();
            }
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr);
            tally.starts += 1;
            let (code, signal) = (output.status.code(), output.status.signal());
            let end = match (code, signal) {
                (Some(0), _) => format!("{how}: done"),
                (Some(1), _) => format!("{how}: stopped by itself"),
                (None, Some(2 | 9 | 15)) => format!("{how}: killed"),
                _ => return Err(format!("{how} ended it with {}: {said}", output.status)),
            };
            *tally.ended.entry(end).or_default() += 1;
            if said.contains("panicked") {
                return Err(said.into_owned());
            }
            if code == Some(0) {
                if self.target() != *reference {
                    return Err(format!("after {how} the bytes differ"));
                }
                for suffix in [".part", ".state", ".state.part", ".table"] {
                    if self.path(suffix).exists() {
                        return Err(format!("{}{suffix} is left", self.name));
                    }
                }
                return Ok(());
            }
            if !old.is_empty() && self.target() != old && self.target() != *reference {
                return Err(format!("{how} spoiled the file that was there"));
            }
            let after = self.rows(old);
            if after < before {
                return Err(format!("{how} lost rows: {before} lines before, {after} after: {said}"));
            }
        }
        Ok(())
    }
}
