//! Running the program as a user does.
#![allow(dead_code)] // each test file uses its own part

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The scenario of seed 000, Fig 8.
pub const BLOCK: &str = r#"title = "Block on a spring"
[simulation]
duration = "4 s"
step = "1 ms"
integrator = "implicit-euler"
[bodies.block]
kind = "mass"
mass = "1 kg"
[bodies.hook]
kind = "driver"
velocity = "if(t <= 2, 2, 0)"
[elements.spring]
kind = "spring"
between = ["hook", "block"]
stiffness = "90 N/m"
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "10 N"
"#;

/// An empty folder of one test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn with_block(test: &str) -> Self {
        let folder = Self::new(test);
        folder.write("block.toml", BLOCK);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        hear_signals();
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickslip"));
        command.current_dir(&self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// The program here in a shell that does this first, such as to ignore a signal.
    #[cfg(unix)]
    pub fn after(&self, first: &str, arguments: &[&str]) -> Command {
        hear_signals();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("{first}; exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_stickslip"),
        ]);
        command.current_dir(&self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the program here where no file may have more than so many blocks of 512 or 1024 bytes, as on a full disk.
    #[cfg(unix)]
    pub fn run_within(&self, blocks: u64, arguments: &[&str]) -> Ran {
        let first = format!("trap '' XFSZ; ulimit -f {blocks}");
        Ran::from(self.after(&first, arguments).output().unwrap())
    }

    /// Waits until there is such a file with something in it.
    pub fn wait_for(&self, name: &str) {
        for _ in 0..2000 {
            if std::fs::metadata(self.path(name)).is_ok_and(|found| found.len() > 0) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("{name} was never written");
    }

    /// Runs the program here.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }
}

/// Where tests are started in the background or under `nohup`, signals are ignored, and would be by what they start. One that is
/// handled here is as by default there.
fn hear_signals() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT};
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            for signal in [SIGINT, SIGHUP] {
                let always = std::sync::Arc::new(true.into());
                signal_hook::flag::register_conditional_default(signal, always).unwrap();
            }
        });
    }
}

/// Sends a signal by its name.
#[cfg(unix)]
pub fn signal(child: &std::process::Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
    assert!(sent.unwrap().success());
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the program answered.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.status, Some(0), "{}", self.err);
        self
    }

    #[track_caller]
    pub fn fails(self, status: i32, words: &[&str]) -> Self {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in:\n{}", self.err);
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}", self.out))
    }
}
