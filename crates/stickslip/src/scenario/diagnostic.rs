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

    /// Source, line and column (from 1, in characters) the finding points at.
    pub fn place<'a>(&self, sources: &'a [Source]) -> Option<(&'a Source, usize, usize)> {
        let span = self.span?;
        let source = sources.get(span.source)?;
        let (line, range) = source.line_at(span.start);
        let before = source.text.get(range.start..span.start).unwrap_or("");
        Some((source, line, before.chars().count() + 1))
    }

    /// The finding as text: message, file and line, the line itself with a caret underline, notes and help.
    /// `severity` is the first word ("error", "warning"). A long line is cut around the place; control characters are
    /// shown as escapes.
    pub fn render(&self, severity: &str, sources: &[Source], colour: bool) -> String {
        let paint = |code: &str, text: &str| {
            if colour {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_string()
            }
        };
        let severity_colour = if severity == "error" { "1;31" } else { "1;33" };
        let message = paint("1", &shortened(&self.message, LONGEST));
        let mut out = format!("{}: {message}\n", paint(severity_colour, severity));
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
            let start = clamp(&source.text, span.start, &range);
            let end = clamp(&source.text, span.end, &range).max(start);
            let column = source.text[range.start..start].chars().count();
            let excerpt = Excerpt::of(&source.text[range.clone()], start - range.start..end - range.start);
            let bar = paint("1;34", "|");
            let heading = if source.is_argument() {
                "on the command line".to_string()
            } else {
                format!("{}:{number}:{}", printable(&source.name), column + 1)
            };
            out += &format!("{margin}{} {heading}\n", paint("1;34", "-->"));
            out += &format!("{margin} {bar}\n");
            let prefix = if source.is_argument() {
                format!("{} ", source.name)
            } else {
                String::new()
            };
            out += &format!("{} {bar} {prefix}{}\n", paint("1;34", &label), excerpt.line);
            let indent = " ".repeat(excerpt.indent + prefix.len());
            out += &format!(
                "{margin} {bar} {indent}{}\n",
                paint(severity_colour, &"^".repeat(excerpt.width))
            );
        } else if let Some(source) = sources.first() {
            out += &format!("{} {}\n", paint("1;34", "-->"), printable(&source.name));
        }
        for note in &self.notes {
            out += &format!("{margin} = note: {}\n", shortened(note, LONGEST));
        }
        if let Some(help) = &self.help {
            let hang = format!("\n{margin}   {}", " ".repeat("help: ".len()));
            let help = shortened(help, LONGEST_HELP).replace('\n', &hang);
            out += &format!("{margin} = {}: {help}\n", paint("1;36", "help"));
        }
        out
    }
}

/// A line of a source, cut around a place, as it is shown.
struct Excerpt {
    line: String,
    /// Columns before the underline, and its length.
    indent: usize,
    width: usize,
}

/// Columns that are shown of a line.
const SHOWN: usize = 100;
/// Columns before the place where the line is cut.
const BEFORE: usize = 40;

impl Excerpt {
    /// `place` is a range of bytes on character boundaries.
    fn of(line: &str, place: std::ops::Range<usize>) -> Excerpt {
        let shown = line.trim_end();
        let before = &shown[..place.start.min(shown.len())];
        let cut_left = columns_beyond(shown, SHOWN) && columns_beyond(before, BEFORE);
        // From here on nothing is looked at that is not shown: a line may have megabytes.
        let from = if cut_left {
            let mut left = BEFORE;
            before
                .char_indices()
                .rev()
                .take_while(|(_, c)| {
                    let fits = left >= width(*c);
                    left = left.saturating_sub(width(*c));
                    fits
                })
                .last()
                .map_or(before.len(), |(at, _)| at)
        } else {
            0
        };
        let mut excerpt = Excerpt {
            line: if cut_left { "…".to_string() } else { String::new() },
            indent: usize::from(cut_left),
            width: 0,
        };
        let mut columns = excerpt.indent;
        for (at, c) in shown[from..].char_indices() {
            let wide = width(c);
            if columns + wide > SHOWN {
                excerpt.line.push('…');
                break;
            }
            columns += wide;
            push_printable(&mut excerpt.line, if c == '\t' { ' ' } else { c });
            let at = from + at;
            if at < place.start {
                excerpt.indent += wide;
            } else if at < place.end {
                excerpt.width += wide;
            }
        }
        excerpt.width = excerpt.width.max(1);
        excerpt
    }
}

/// Whether a text takes more columns than that.
fn columns_beyond(text: &str, most: usize) -> bool {
    let mut columns = 0;
    text.chars().any(|c| {
        columns += width(c);
        columns > most
    })
}

/// Columns that a character takes when it is shown: letters of East Asia and pictures two, marks on other letters none.
fn width(c: char) -> usize {
    if c == '\t' || (' '..='~').contains(&c) {
        return 1;
    }
    if is_control(c) {
        return c.escape_unicode().count();
    }
    match c as u32 {
        0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Characters that move the cursor, change the terminal or turn the direction of the text.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c as u32, 0x200b | 0x200e | 0x200f | 0x2028..=0x202e | 0x2060..=0x2069 | 0xfeff)
}

fn push_printable(out: &mut String, c: char) {
    if is_control(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// A text of the user's for the terminal: control characters as escapes, `\u{1b}`; ends of lines and tabs stay.
pub fn printable(text: &str) -> std::borrow::Cow<'_, str> {
    let keeps = |c: char| c == '\n' || c == '\t' || !is_control(c);
    if text.chars().all(keeps) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if keeps(c) {
            out.push(c)
        } else {
            push_printable(&mut out, c)
        }
    }
    out.into()
}

/// Most bytes of a message: more is a value that was pasted into it.
const LONGEST: usize = 600;
/// Most bytes of a help, which may list names.
const LONGEST_HELP: usize = 1500;
/// Most characters of a word.
const LONGEST_WORD: usize = 120;

/// A text, cut in its middle if it is longer; so is each of its words.
fn shortened(text: &str, longest: usize) -> String {
    let words = printable(text);
    let words = words.split_inclusive([' ', '\n']).map(|word| {
        let count = word.chars().count();
        if count <= LONGEST_WORD {
            return word.to_string();
        }
        let head: String = word.chars().take(LONGEST_WORD / 3).collect();
        let tail: String = word.chars().skip(count - LONGEST_WORD / 3).collect();
        format!("{head}…{tail}")
    });
    let text: String = words.collect();
    if text.len() <= longest {
        return text;
    }
    let head = text
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= 2 * longest / 3)
        .last();
    let tail = text
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .take_while(|at| text.len() - at <= longest / 3)
        .last();
    format!(
        "{} … {}",
        &text[..head.unwrap_or(0)],
        &text[tail.unwrap_or(text.len())..]
    )
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

impl ScenarioError {
    /// Points findings in a file that is right by itself at the argument (`--set`, `--vary`) that causes them.
    /// `works` says whether the file can be used with the first so many arguments.
    #[must_use]
    pub fn blame_arguments(mut self, works: impl Fn(&[String]) -> bool) -> Self {
        let arguments: Vec<String> = self.sources.iter().skip(1).map(|source| source.text.clone()).collect();
        let elsewhere = |d: &Diagnostic| d.span.is_none_or(|span| span.source == 0);
        if arguments.is_empty() || !self.diagnostics.iter().any(elsewhere) || !works(&[]) {
            return self;
        }
        let Some(cause) = (1..=arguments.len()).find(|&count| !works(&arguments[..count])) else {
            return self;
        };
        let whole = Span {
            source: cause,
            start: 0,
            end: arguments[cause - 1].len(),
        };
        let file = &self.sources[0].name;
        for diagnostic in self.diagnostics.iter_mut().filter(|d| elsewhere(d)) {
            let note = match diagnostic.line(&self.sources) {
                Some(line) => format!("it shows at {file}:{line}, which is right without this argument"),
                None => format!("{file} is right without this argument"),
            };
            diagnostic.notes.insert(0, note);
            diagnostic.span = Some(whole);
        }
        self
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
