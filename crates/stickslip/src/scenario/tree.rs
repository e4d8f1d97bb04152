//! The written values as a tree with a place for every key and value: TOML text, changed by `--set`.

use super::diagnostic::{Diagnostic, Span};
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub span: Span,
}

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What it is, for "found …".
    pub fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the string \"{}\"", shorten(text)),
            Self::Number(number) => format!("the number {number}"),
            Self::Flag(flag) => format!("{flag}"),
            Self::Date => "a date".to_string(),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Table(_) => "a table".to_string(),
        }
    }
}

/// The first letters of a long text.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A table in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }
}

impl Table {
    /// The table as TOML text: plain values, then tables under headings; lists and what is in them on one line.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "");
        out
    }

    fn write(&self, out: &mut String, path: &str) {
        let (tables, values): (Vec<_>, Vec<_>) = (self.entries.iter()).partition(|entry| entry.is_section());
        for entry in &values {
            *out += &format!("{} = {}\n", written_key(&entry.key), entry.node.value.written());
        }
        for entry in tables {
            let Value::Table(table) = &entry.node.value else {
                continue;
            };
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", written_key(&entry.key));
            if table.entries.is_empty() || table.entries.iter().any(|entry| !entry.is_section()) {
                let space = if out.is_empty() { "" } else { "\n" };
                *out += &format!("{space}[{path}]\n");
            }
            table.write(out, &path);
        }
    }
}

impl Entry {
    fn is_section(&self) -> bool {
        matches!(self.node.value, Value::Table(_))
    }
}

impl Value {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => written_text(text),
            Self::Number(number) if number.is_nan() => "nan".to_string(),
            Self::Number(number) if number.is_infinite() => if *number > 0.0 { "inf" } else { "-inf" }.to_string(),
            // Digits that read back as the same double, also where they are those of a whole number.
            Self::Number(number) => format!("{number:?}"),
            Self::Flag(flag) => flag.to_string(),
            // No key takes a date, so any will do.
            Self::Date => "1970-01-01".to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.written()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => {
                let entries = table.entries.iter();
                let entries: Vec<String> = entries
                    .map(|entry| format!("{} = {}", written_key(&entry.key), entry.node.value.written()))
                    .collect();
                format!("{{ {} }}", entries.join(", ")).replace("{  }", "{}")
            }
        }
    }
}

fn written_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(bare) {
        true => key.to_string(),
        false => written_text(key),
    }
}

fn written_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Reads the text of a scenario file; on bad syntax, what is wrong and where.
pub(crate) fn parse(text: &str) -> Result<Table, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(convert_table(table.get_ref(), &|range| Span {
            source: 0,
            start: range.start,
            end: range.end,
        }));
    }
    let line_of = |at: usize| text.get(..at).map_or(0, |before| before.matches('\n').count());
    let bare = |line: usize| is_bare_word_value(text.lines().nth(line).unwrap_or(""));
    let mut findings: Vec<(usize, Diagnostic)> = Vec::new();
    for error in &errors {
        let span = error.span().map(|range| Span {
            source: 0,
            start: range.start,
            end: range.end,
        });
        let line = span.map_or(0, |span| line_of(span.start));
        // One slip upsets what follows it, so only the first finding is sure; a word without quotes upsets its line only.
        if let Some((first, _)) = findings.first()
            && (!bare(*first) || !bare(line) || findings.iter().any(|(other, _)| *other == line))
        {
            continue;
        }
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let quoted = quoted(text.lines().nth(line).unwrap_or(""));
        let help = if message.contains("duplicate key") {
            "every name and every key may be written only once: remove or rename one of the two"
        } else if bare(line) {
            &quoted
        } else if message.contains("comma") || message.contains("unclosed") {
            "was a `[`, `{` or `\"` left open on this line or above it?"
        } else {
            "a line is `key = value`, or `[table.name]`; a text stands in quotes"
        };
        let message = format!("the file is not valid TOML: {message}");
        findings.push((line, Diagnostic::new(message, span).help(help)));
    }
    Err(findings.into_iter().map(|(_, diagnostic)| diagnostic).collect())
}

/// What to write in place of `key = 1 ms`.
fn quoted(line: &str) -> String {
    let (key, value) = line.split_once('=').unwrap_or_default();
    let value = value.split('#').next().unwrap_or_default().trim();
    let line = format!("{} = \"{value}\"", key.trim());
    let line = if line.len() <= 60 { &line } else { "step = \"1 ms\"" };
    format!("words and numbers with a unit stand in quotes: {line}")
}

/// `key = 1 ms` or `key = word`: the commonest slip.
fn is_bare_word_value(line: &str) -> bool {
    let Some((_, value)) = line.split_once('=') else {
        return false;
    };
    let value = value.split('#').next().unwrap_or("").trim();
    value.chars().any(char::is_alphabetic) && !value.contains(['"', '\'', '[', '{'])
}

/// Reads the value of a `--set`: a TOML value if it is one, a list of such, else a bare word or a number with a unit.
pub(crate) fn parse_argument(text: &str, offset: usize, source: usize) -> Node {
    parse_argument_within(text, offset, source, 0)
}

fn parse_argument_within(text: &str, offset: usize, source: usize, depth: usize) -> Node {
    const DEEPEST: usize = 8;
    let offset = offset + (text.len() - text.trim_start().len());
    let text = text.trim();
    let span = Span {
        source,
        start: offset,
        end: offset + text.len(),
    };
    let document = format!("v={text}");
    if let Ok(table) = DeTable::parse(&document) {
        let place = |range: std::ops::Range<usize>| Span {
            source,
            start: offset + range.start.saturating_sub(2),
            end: offset + range.end.saturating_sub(2),
        };
        let mut entries = convert_table(table.get_ref(), &place).entries;
        if let (1, Some(entry)) = (entries.len(), entries.pop())
            && entry.key == "v"
            && !matches!(entry.node.value, Value::Date)
        {
            return entry.node;
        }
    }
    if depth < DEEPEST
        && let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'))
    {
        let items = split_top_level(inner)
            .into_iter()
            .map(|(start, item)| parse_argument_within(item, offset + 1 + start, source, depth + 1))
            .collect();
        return Node {
            value: Value::List(items),
            span,
        };
    }
    Node {
        value: Value::Text(text.to_string()),
        span,
    }
}

/// Pieces between commas that are outside brackets and quotes, with their offsets; a trailing comma adds none.
pub(crate) fn split_top_level(text: &str) -> Vec<(usize, &str)> {
    let (mut depth, mut quoted, mut start) = (0i32, false, 0);
    let mut pieces = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '[' | '(' | '{' if !quoted => depth += 1,
            ']' | ')' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                pieces.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        pieces.push((start, &text[start..]));
    }
    pieces
}

fn convert_table(table: &DeTable<'_>, place: &dyn Fn(std::ops::Range<usize>) -> Span) -> Table {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref().to_string(),
        key_span: place(key.span()),
        node: Node {
            value: convert_value(value.get_ref(), place),
            span: place(value.span()),
        },
    });
    Table {
        entries: entries.collect(),
    }
}

fn convert_value(value: &DeValue<'_>, place: &dyn Fn(std::ops::Range<usize>) -> Span) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str();
            // Decimal digits go straight to the nearest double, however many there are.
            let number = match integer.radix() {
                10 => digits.parse().ok(),
                radix => i128::from_str_radix(digits, radix).ok().map(|n| n as f64),
            };
            Value::Number(number.unwrap_or(f64::INFINITY))
        }
        DeValue::Float(float) => Value::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    value: convert_value(item.get_ref(), place),
                    span: place(item.span()),
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, place)),
    }
}
