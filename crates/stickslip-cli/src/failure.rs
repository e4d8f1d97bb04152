//! Why a command failed, its message on standard error, and its exit status.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stickslip::advice::Glance;
use stickslip::scenario::diagnostic::printable;
use stickslip::scenario::{Diagnostic, Scenario, ScenarioError, Source};
use stickslip::sweep::{Mistake, SweepError};
use stickslip_study::{Fault, suggestion};

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong: exit status 2.
    Input(String),
    /// The work could not be done: exit status 1.
    Work(String),
    /// Whoever read the output has gone; there is nobody to tell.
    ReaderGone,
}

impl Failure {
    /// Wrong input, with advice.
    pub fn input(message: impl AsRef<str>, help: impl AsRef<str>) -> Self {
        Self::Input(plain(message.as_ref(), help.as_ref()))
    }

    /// A name that does not exist, with the nearest one and the list of all.
    pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::input(format!("there is no {what} \"{name}\""), suggestion(name, what, known))
    }

    /// A file that could not be written; wrong input if nothing can be written there.
    pub fn write(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let help = match error.kind() {
            Kind::BrokenPipe => return Self::ReaderGone,
            Kind::NotFound => "the folder does not exist: create it first",
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                "choose a place you may write to; results are first written beside the file, so its folder must allow that"
            }
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
                "free some space; a trace is smaller with --every N or [output] columns"
            }
            Kind::IsADirectory => "name a file, not a folder",
            Kind::InvalidFilename => "choose a shorter name: results are first written beside the file, as FILE.part",
            _ => "",
        };
        let text = plain(&format!("cannot write {}: {error}", path.display()), help);
        match error.kind() {
            // Nothing can be written there: the name is wrong. Anything else may be otherwise the next time.
            Kind::NotFound
            | Kind::NotADirectory
            | Kind::IsADirectory
            | Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::InvalidFilename => Self::Input(text),
            _ => Self::Work(text),
        }
    }

    /// Tells the user and gives the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Input(text) => {
                tell(&text);
                ExitCode::from(2)
            }
            Self::Work(text) => {
                tell(&text);
                ExitCode::from(1)
            }
            Self::ReaderGone => ExitCode::SUCCESS,
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        let file = error.sources.first().map(|source| PathBuf::from(&source.name));
        let works = |arguments: &[String]| {
            let scenario = file.as_ref().and_then(|file| Scenario::read(file, arguments).ok());
            scenario.is_some_and(|scenario| Glance::new(scenario).is_ok())
        };
        Self::Input(error.blame_arguments(works).render(colour()))
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Scenario(error) => (*error).into(),
            Fault::Input { message, help } => Self::input(message, help),
            Fault::Work(text) => Self::Work(text),
            Fault::Stopped => Self::Work("stopped".to_string()),
        }
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Self {
        Self::input(mistake.message, mistake.help)
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Scenario(error) => error.into(),
            SweepError::Mistake(mistake) => mistake.into(),
        }
    }
}

/// An error without a place in a file.
fn plain(message: &str, help: &str) -> String {
    let mut diagnostic = Diagnostic::new(message, None);
    if !help.is_empty() {
        diagnostic = diagnostic.help(help);
    }
    diagnostic.render("error", &[] as &[Source], colour())
}

/// Whether messages on standard error are coloured.
pub fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes to standard error, control characters as escapes; if that is gone too, nothing can be done.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text.trim_end()));
}

/// As [`note`]; a finding that was rendered with colours has its escapes already.
fn tell(text: &str) {
    if text.starts_with('\x1b') {
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
    } else {
        note(text);
    }
}

/// Warnings, rendered with their lines.
pub fn warn(scenario: &Scenario, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        tell(&diagnostic.render("warning", &scenario.sources, colour()));
    }
}

/// Writes a result for people to standard output, control characters as escapes.
pub fn print(text: &str) -> Result<(), Failure> {
    print_data(&printable(text))
}

/// Writes data or code to standard output as it is.
pub fn print_data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::write(Path::new("standard output"), &error)),
    }
}

/// Writes a value as JSON to standard output.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Work(error.to_string()))?;
    print_data(&(text + "\n"))
}
