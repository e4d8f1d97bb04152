//! A scenario as a tree that may be changed into anything, and printed even when it is no scenario any more.

use toml::de::{DeArray, DeTable, DeValue};

/// A value of a TOML file.
#[derive(Clone, Debug)]
pub enum Node {
    /// A string.
    Text(String),
    /// A number, a flag, a date, or anything else as it is written.
    Raw(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Node {
    /// Reads a file; `None` if it is not TOML.
    pub fn parse(text: &str) -> Option<Self> {
        Some(table(DeTable::parse(text).ok()?.get_ref()))
    }

    /// A short text.
    pub fn text(text: impl Into<String>) -> Self {
        Node::Text(text.into())
    }

    /// A number, to three digits.
    pub fn number(value: f64) -> Self {
        Node::Raw(format!("{value:.2e}"))
    }

    /// A whole number.
    pub fn whole(value: usize) -> Self {
        Node::Raw(value.to_string())
    }

    /// An empty table.
    pub fn empty() -> Self {
        Node::Table(Vec::new())
    }

    /// Puts a value under a key of a table; the last one counts.
    pub fn put(&mut self, key: &str, value: Node) {
        if let Node::Table(entries) = self {
            entries.retain(|(name, _)| name != key);
            entries.push((key.to_string(), value));
        }
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Table(entries) => entries.iter().find_map(|(name, value)| (name == key).then_some(value)),
            _ => None,
        }
    }

    /// How many nodes there are, this one included.
    pub fn count(&self) -> usize {
        1 + match self {
            Node::Text(_) | Node::Raw(_) => 0,
            Node::List(items) => items.iter().map(Node::count).sum(),
            Node::Table(entries) => entries.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    /// The node with this number, counted from the top.
    pub fn at(&mut self, mut index: usize) -> Option<&mut Node> {
        if index == 0 {
            return Some(self);
        }
        index -= 1;
        let within: Vec<&mut Node> = match self {
            Node::Text(_) | Node::Raw(_) => return None,
            Node::List(items) => items.iter_mut().collect(),
            Node::Table(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
        };
        for node in within {
            let count = node.count();
            if index < count {
                return node.at(index);
            }
            index -= count;
        }
        None
    }

    /// Every value that is not a list or a table, with its path as `--set` writes it; values in lists of named tables (links)
    /// are reached by name.
    pub fn leaves(&self) -> Vec<(String, &Node)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect<'a>(&'a self, path: &str, found: &mut Vec<(String, &'a Node)>) {
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        let below = |name: &str| {
            if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            }
        };
        match self {
            Node::Text(_) | Node::Raw(_) => found.push((path.to_string(), self)),
            Node::List(items) if path.ends_with(".links") => {
                for item in items {
                    if let (Some(Node::Text(name)), Some(body)) = (item.get("name"), path.strip_suffix(".links"))
                        && plain(name)
                    {
                        item.collect(&format!("{body}.{name}"), found);
                    }
                }
            }
            Node::List(_) => {}
            Node::Table(entries) => {
                for (name, value) in entries.iter().filter(|(name, _)| plain(name)) {
                    value.collect(&below(name), found);
                }
            }
        }
    }

    /// The file: tables of the first and second level in sections, everything deeper in one line.
    pub fn print(&self) -> String {
        let Node::Table(entries) = self else {
            return self.inline();
        };
        let mut out = String::new();
        for (name, value) in entries.iter().filter(|(_, value)| !matches!(value, Node::Table(_))) {
            out += &format!("{} = {}\n", key(name), value.inline());
        }
        for (name, value) in entries {
            let Node::Table(inner) = value else { continue };
            let sections = ["bodies", "elements"].contains(&name.as_str());
            let is_section = |value: &Node| sections && matches!(value, Node::Table(_));
            if !sections || inner.iter().any(|(_, value)| !is_section(value)) {
                out += &format!("\n[{}]\n", key(name));
            }
            for (name, value) in inner.iter().filter(|(_, value)| !is_section(value)) {
                out += &format!("{} = {}\n", key(name), value.inline());
            }
            for (second, value) in inner.iter().filter(|(_, value)| is_section(value)) {
                out += &format!("\n[{}.{}]\n", key(name), key(second));
                if let Node::Table(lines) = value {
                    for (name, value) in lines {
                        out += &format!("{} = {}\n", key(name), value.inline());
                    }
                }
            }
        }
        out
    }

    /// In one line.
    pub fn inline(&self) -> String {
        let join = |parts: Vec<String>| parts.join(", ");
        match self {
            Node::Text(text) => quoted(text),
            Node::Raw(text) => text.clone(),
            Node::List(items) => format!("[{}]", join(items.iter().map(Node::inline).collect())),
            Node::Table(entries) => {
                let parts = entries
                    .iter()
                    .map(|(name, value)| format!("{} = {}", key(name), value.inline()));
                format!("{{ {} }}", join(parts.collect()))
            }
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Node::text(text)
    }
}

impl From<f64> for Node {
    fn from(value: f64) -> Self {
        Node::number(value)
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => out += &format!("\\u{:04X}", letter as u32),
            letter => out.push(letter),
        }
    }
    out + "\""
}

fn key(name: &str) -> String {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        name.to_string()
    } else {
        quoted(name)
    }
}

fn table(table: &DeTable<'_>) -> Node {
    Node::Table(
        table
            .iter()
            .map(|(key, entry)| (key.get_ref().to_string(), value(entry.get_ref())))
            .collect(),
    )
}

fn list(items: &DeArray<'_>) -> Node {
    Node::List(items.iter().map(|item| value(item.get_ref())).collect())
}

fn value(found: &DeValue<'_>) -> Node {
    match found {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Integer(number) => Node::Raw(number.to_string()),
        DeValue::Float(number) => Node::Raw(number.to_string()),
        DeValue::Boolean(flag) => Node::Raw(flag.to_string()),
        DeValue::Datetime(date) => Node::Raw(date.to_string()),
        DeValue::Array(items) => list(items),
        DeValue::Table(entries) => table(entries),
    }
}
