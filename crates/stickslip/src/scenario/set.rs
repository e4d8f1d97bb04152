//! `--set KEY=VALUE`: changes the written values before they are checked, so the same findings apply to both.

use super::diagnostic::{Diagnostic, Span, list_words, nearest};
use super::tree::{Entry, Node, Table, Value, parse_argument};

/// Applies one `--set` argument, which is source number `source`.
pub(crate) fn apply(root: &mut Table, argument: &str, source: usize) -> Result<(), Diagnostic> {
    let whole = Span {
        source,
        start: 0,
        end: argument.len(),
    };
    let Some((path, value)) = argument.split_once('=') else {
        return Err(Diagnostic::new(format!("`--set {argument}` has no `=`"), Some(whole))
            .help("write --set KEY=VALUE, for example --set bodies.block.mass=\"2 kg\""));
    };
    let segments = segments(path, source);
    if let Some(empty) = segments.iter().find(|segment| segment.name.is_empty()) {
        return Err(
            Diagnostic::new(format!("the key `{path}` has an empty part"), Some(empty.span))
                .help("write the path of a key with dots between its parts: bodies.block.mass"),
        );
    }
    const DEEPEST: usize = 16;
    if segments.len() > DEEPEST {
        return Err(
            Diagnostic::new("the key of this `--set` has too many parts", Some(whole))
                .help("write the path of a key with dots between its parts: bodies.block.mass"),
        );
    }
    if value.trim().is_empty() {
        return Err(
            Diagnostic::new(format!("`--set {argument}` has no value"), Some(whole)).help(format!(
                "write a number, a number with a unit, a word or a list after the `=`: {path}=1"
            )),
        );
    }
    let value = parse_argument(value, path.len() + 1, source);
    let way = Way {
        segments: &segments,
        path: path.trim(),
    };
    // What could have been meant is looked for only where nothing was found: a sweep sets values a million times.
    way.set_in_table(root, 0, value).map_err(|fault| match fault {
        Fault::Absent(depth) => way.absent(depth, &paths(root)),
        Fault::Other(diagnostic) => *diagnostic,
    })
}

/// Why a value could not be set.
enum Fault {
    /// There is nothing at this part of the path.
    Absent(usize),
    Other(Box<Diagnostic>),
}

/// One part of a dotted path.
struct Segment<'a> {
    name: &'a str,
    span: Span,
}

fn segments(path: &str, source: usize) -> Vec<Segment<'_>> {
    let mut start = 0;
    path.split('.')
        .map(|part| {
            let lead = part.len() - part.trim_start().len();
            let name = part.trim();
            let span = Span {
                source,
                start: start + lead,
                end: start + lead + name.len(),
            };
            start += part.len() + 1;
            Segment {
                name: name.trim_matches('"'),
                span,
            }
        })
        .collect()
}

struct Way<'a> {
    segments: &'a [Segment<'a>],
    path: &'a str,
}

impl Way<'_> {
    fn set_in_table(&self, table: &mut Table, at: usize, value: Node) -> Result<(), Fault> {
        let Segment { name, span } = self.segments[at];
        let last = at + 1 == self.segments.len();
        if let Some(entry) = table.get_mut(name) {
            if last {
                entry.node = value;
                return Ok(());
            }
            return self.set_in_node(&mut entry.node, at + 1, value);
        }
        // `bodies.arm.upper` is the link `upper` of the linkage.
        if let Some(Value::List(links)) = table.get_mut("links").map(|entry| &mut entry.node.value)
            && let Some(link) = named(links, name)
        {
            if last {
                *link = value;
                return Ok(());
            }
            return self.set_in_node(link, at + 1, value);
        }
        // Bodies and elements have names of the user's: a new name is a slip, unless it comes with a whole table.
        let names_things = at == 1 && matches!(self.segments[0].name, "bodies" | "elements")
            || at == 2
                && self.segments[0].name == "inclusion"
                && matches!(self.segments[1].name, "states" | "parameters" | "inputs" | "equations");
        let whole_table = last && matches!(value.value, Value::Table(_));
        if names_things && !whole_table {
            return Err(Fault::Absent(at));
        }
        let node = if last {
            value
        } else {
            let mut inner = Table::default();
            self.set_in_table(&mut inner, at + 1, value)?;
            Node {
                value: Value::Table(inner),
                span,
            }
        };
        table.entries.push(Entry {
            key: name.to_string(),
            key_span: span,
            node,
        });
        Ok(())
    }

    fn set_in_node(&self, node: &mut Node, at: usize, value: Node) -> Result<(), Fault> {
        let Segment { name, span } = self.segments[at];
        match &mut node.value {
            Value::Table(table) => self.set_in_table(table, at, value),
            Value::List(items) => {
                let position = name.parse::<usize>().ok().filter(|&index| index < items.len());
                let item = match position {
                    Some(index) => items.get_mut(index),
                    None => named(items, name),
                };
                match item {
                    Some(item) if at + 1 == self.segments.len() => {
                        *item = value;
                        Ok(())
                    }
                    Some(item) => self.set_in_node(item, at + 1, value),
                    None => Err(Fault::Absent(at)),
                }
            }
            other => {
                let parent: Vec<&str> = self.segments[..at].iter().map(|segment| segment.name).collect();
                let parent = parent.join(".");
                let message = format!(
                    "`{parent}` is {}, so there is no `{}` to set",
                    other.describe(),
                    self.path
                );
                let diagnostic =
                    Diagnostic::new(message, Some(span)).help(format!("set the whole of it: --set {parent}=VALUE"));
                Err(Fault::Other(Box::new(diagnostic)))
            }
        }
    }

    /// There is nothing at the part `depth` of the path.
    fn absent(&self, depth: usize, known: &[String]) -> Diagnostic {
        let names =
            |part: &[Segment<'_>]| -> Vec<String> { part.iter().map(|segment| segment.name.to_string()).collect() };
        let Segment { name, span } = self.segments[depth];
        let parent = names(&self.segments[..depth]).join(".");
        let rest = names(&self.segments[depth + 1..]).join(".");
        let siblings: Vec<&str> = known
            .iter()
            .filter_map(|path| path.strip_prefix(&parent)?.strip_prefix('.'))
            .filter(|path| !path.contains('.'))
            .collect();
        let help = match nearest(name, siblings.iter().copied()) {
            Some(meant) => {
                let whole = format!("{parent}.{meant}.{rest}");
                let path = if known.contains(&whole) {
                    whole
                } else {
                    format!("{parent}.{meant}")
                };
                format!("did you mean `{path}`?")
            }
            None => format!("`{parent}` has {}", list_words(siblings)),
        };
        let message = format!("there is no `{}` in the scenario", self.path);
        Diagnostic::new(message, Some(span)).help(help)
    }
}

/// The table in `items` whose `name` is `name`.
fn named<'a>(items: &'a mut [Node], name: &str) -> Option<&'a mut Node> {
    items.iter_mut().find(|item| match &item.value {
        Value::Table(table) => {
            matches!(table.get("name").map(|entry| &entry.node.value), Some(Value::Text(text)) if text == name)
        }
        _ => false,
    })
}

/// Every path that can be set now, links by their names.
fn paths(table: &Table) -> Vec<String> {
    fn collect(table: &Table, prefix: &str, paths: &mut Vec<String>) {
        for entry in &table.entries {
            let path = format!("{prefix}{}", entry.key);
            match &entry.node.value {
                Value::Table(inner) => collect(inner, &format!("{path}."), paths),
                Value::List(items) if entry.key == "links" => {
                    for item in items {
                        if let Value::Table(link) = &item.value
                            && let Some(Value::Text(name)) = link.get("name").map(|entry| &entry.node.value)
                        {
                            paths.push(format!("{prefix}{name}"));
                            collect(link, &format!("{prefix}{name}."), paths);
                        }
                    }
                }
                _ => {}
            }
            paths.push(path);
        }
    }
    let mut all = Vec::new();
    collect(table, "", &mut all);
    all
}
