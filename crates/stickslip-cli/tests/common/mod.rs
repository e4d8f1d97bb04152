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
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickslip"));
        command.current_dir(&self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the program here.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }
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
