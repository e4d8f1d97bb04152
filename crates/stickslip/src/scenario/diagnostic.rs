//! What is wrong with a scenario, where, and what to do about it: plain data and a small plain-text renderer.

pub use crate::profile::suggest::nearest;
use std::fmt;

/// A stretch of bytes in one of the sources of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which source: 0 is the file, `i + 1` is the i-th `--set`.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A text that spans point into: the scenario file or one `--set` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// File name, or the option an argument belongs to: `--set`, `--vary`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Line number (from 1) and byte range of the line that holds byte `at`.
    fn line_at(&self, at: usize) -> (usize, std::ops::Range<usize>) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |n| at + n);
        (before.matches('\n').count() + 1, start..end)
    }

    fn is_argument(&self) -> bool {
        self.name.starts_with("--")
    }
}

/// The source name of a `--set` argument.
pub(crate) const SET_SOURCE: &str = "--set";

/// One finding, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; `None` for the file as a whole.
    pub span: Option<Span>,
    /// What to do.
    pub help: Option<String>,
    /// Background: why it is wrong, where the other half of a conflict stands.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A finding at a place.
    pub fn new(message: impl Into<String>, span: Option<Span>) -> Self {
        Self {
            message: message.into(),
            span,
            help: None,
            notes: Vec::new(),
        }
    }

    /// Adds the advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Line number (from 1) in the source the finding points at.
    pub fn line(&self, sources: &[Source]) -> Option<usize> {
        let span = self.span?;
        Some(sources.get(span.source)?.line_at(span.start).0)
    }

    /// The finding as text: message, file and line, the line itself with a caret underline, notes and help.
    /// `severity` is the first word ("error", "warning").
    pub fn render(&self, severity: &str, sources: &[Source], colour: bool) -> String {
        let paint = |code: &str, text: &str| {
            if colour {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_string()
            }
        };
        let severity_colour = if severity == "error" { "1;31" } else { "1;33" };
        let mut out = format!("{}: {}\n", paint(severity_colour, severity), paint("1", &self.message));
        let place = self.span.and_then(|span| Some((span, sources.get(span.source)?)));
        let mut margin = String::new();
        if let Some((span, source)) = place {
            let (number, range) = source.line_at(span.start);
            let label = if source.is_argument() {
                String::new()
            } else {
                number.to_string()
            };
            margin = " ".repeat(label.len());
            // A tab is one column in the underline and many on the screen: show it as a space.
            let line: String = source.text[range.clone()].trim_end().replace('\t', " ");
            let shown = |text: &str| text.chars().count();
            let start = clamp(&source.text, span.start, &range);
            let end = clamp(&source.text, span.end, &range).max(start);
            let column = shown(&source.text[range.start..start]);
            let width = shown(&source.text[start..end])
                .min(shown(&line).saturating_sub(column))
                .max(1);
            let bar = paint("1;34", "|");
            let heading = if source.is_argument() {
                "on the command line".to_string()
            } else {
                format!("{}:{number}:{}", source.name, column + 1)
            };
            out += &format!("{margin}{} {heading}\n", paint("1;34", "-->"));
            out += &format!("{margin} {bar}\n");
            let prefix = if source.is_argument() {
                format!("{} ", source.name)
            } else {
                String::new()
            };
            out += &format!("{} {bar} {prefix}{line}\n", paint("1;34", &label));
            let indent = " ".repeat(column + prefix.len());
            out += &format!(
                "{margin} {bar} {indent}{}\n",
                paint(severity_colour, &"^".repeat(width))
            );
        } else if let Some(source) = sources.first() {
            out += &format!("{} {}\n", paint("1;34", "-->"), source.name);
        }
        for note in &self.notes {
            out += &format!("{margin} = note: {note}\n");
        }
        if let Some(help) = &self.help {
            let hang = format!("\n{margin}   {}", " ".repeat("help: ".len()));
            out += &format!("{margin} = {}: {}\n", paint("1;36", "help"), help.replace('\n', &hang));
        }
        out
    }
}

/// `at`, moved into `range` and onto a character boundary.
fn clamp(text: &str, at: usize, range: &std::ops::Range<usize>) -> usize {
    let mut at = at.clamp(range.start, range.end);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Why a scenario cannot be used: every finding, and the texts they point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file and the `--set` arguments.
    pub sources: Vec<Source>,
    /// At least one finding.
    pub diagnostics: Vec<Diagnostic>,
}

impl ScenarioError {
    /// All findings as text, with terminal colours or without.
    pub fn render(&self, colour: bool) -> String {
        let parts: Vec<String> = self
            .diagnostics
            .iter()
            .map(|d| d.render("error", &self.sources, colour))
            .collect();
        parts.join("\n")
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for ScenarioError {}

/// `a`, `b` and `c` as a list in prose, each in backticks.
pub(crate) fn list_words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
