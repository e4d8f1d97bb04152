//! The JSON schema of scenario files, written from the table of keys.

use super::keys::{self, Form, Key, Keys};
use std::collections::BTreeMap;

/// JSON schema (draft 2020-12) of scenario files, for editors that complete and check TOML.
pub fn schema() -> String {
    let mut definitions = BTreeMap::new();
    for keys in [
        &keys::EXPRESSION_PROFILE,
        &keys::TABLE_PROFILE,
        &keys::CSV_PROFILE,
        &keys::NORMAL_FORCE,
    ] {
        define(keys, None, &mut definitions);
    }
    let root = object(&keys::ROOT, None, &mut definitions);
    for (name, text) in [
        (
            "number",
            "{\"description\":\"a number in SI units, or a string with a unit\",\"type\":[\"number\",\"string\"]}",
        ),
        (
            "profile",
            "{\"description\":\"a function of time: a number, a string with a unit, an expression in t, or a table\",\"anyOf\":[\
             {\"type\":[\"number\",\"string\"]},{\"$ref\":\"#/$defs/expression-profile\"},{\"$ref\":\"#/$defs/table-profile\"},\
             {\"$ref\":\"#/$defs/csv-profile\"}]}",
        ),
    ] {
        definitions.insert(name.to_string(), text.to_string());
    }
    let definitions: Vec<String> = definitions
        .iter()
        .map(|(name, text)| format!("{}:{text}", quoted(name)))
        .collect();
    let inner = root.strip_prefix('{').unwrap_or(&root);
    let compact = format!(
        "{{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"stickslip scenario\",\"$defs\":{{{}}},{inner}",
        definitions.join(",")
    );
    indented(&compact)
}

/// Adds the definition of a table; `kind` is the word that names it.
fn define(keys: &'static Keys, kind: Option<&str>, definitions: &mut BTreeMap<String, String>) {
    if definitions.contains_key(keys.name) {
        return;
    }
    // Marked first, so that a table may hold itself.
    definitions.insert(keys.name.to_string(), String::new());
    let text = object(keys, kind, definitions);
    definitions.insert(keys.name.to_string(), text);
}

fn object(keys: &'static Keys, kind: Option<&str>, definitions: &mut BTreeMap<String, String>) -> String {
    let properties: Vec<String> = keys
        .iter()
        .map(|key| {
            let form = match (key.name, kind) {
                ("kind", Some(kind)) => format!("\"const\":{}", quoted(kind)),
                _ => form(key.form, definitions),
            };
            format!("{}:{{{}{form}}}", quoted(key.name), description(key))
        })
        .collect();
    let required: Vec<String> = keys
        .iter()
        .filter(|key| key.required)
        .map(|key| quoted(key.name))
        .collect();
    // A law may have parameters that are not listed; whoever runs the file has the last word on them.
    format!(
        "{{\"type\":\"object\",\"description\":{},\"properties\":{{{}}},\"required\":[{}],\"additionalProperties\":{}}}",
        quoted(keys.doc),
        properties.join(","),
        required.join(","),
        keys.law.is_some()
    )
}

fn description(key: &Key) -> String {
    let text = if key.example.is_empty() {
        key.doc.to_string()
    } else {
        format!("{}; for example {} = {}", key.doc, key.name, key.example)
    };
    format!("\"description\":{},", quoted(&text))
}

fn form(form: Form, definitions: &mut BTreeMap<String, String>) -> String {
    let reference = |name: &str| format!("\"$ref\":{}", quoted(&format!("#/$defs/{name}")));
    let list = |items: &str, least: usize, most: usize| {
        let most = if most == usize::MAX {
            String::new()
        } else {
            format!(",\"maxItems\":{most}")
        };
        format!("\"type\":\"array\",\"items\":{{{items}}},\"minItems\":{least}{most}")
    };
    let number = reference("number");
    let profile = reference("profile");
    let either = |first: String, second: String| format!("\"anyOf\":[{{{first}}},{{{second}}}]");
    match form {
        Form::Text => "\"type\":\"string\"".to_string(),
        Form::Flag => "\"type\":\"boolean\"".to_string(),
        Form::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("\"enum\":[{}]", words.join(","))
        }
        Form::Number => number,
        Form::Vector(least, most) => list(&number, least, most),
        Form::NumberOrVector => either(number.clone(), list(&number, 1, 3)),
        Form::NumberOrPair => either(number.clone(), list(&number, 2, 2)),
        Form::Points => list(&list(&number, 2, 3), 2, 2),
        Form::Numbers => format!("\"type\":\"object\",\"additionalProperties\":{{{number}}}"),
        Form::Profiles => format!("\"type\":\"object\",\"additionalProperties\":{{{profile}}}"),
        Form::Formulas => "\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"string\"]}".to_string(),
        Form::Formula(least, most) => {
            let one = "\"type\":[\"number\",\"string\"]";
            either(one.to_string(), list(one, least, most))
        }
        Form::FormulaRows => list(&list("\"type\":[\"number\",\"string\"]", 1, 6), 1, 6),
        Form::Named(keys) => {
            define(keys, None, definitions);
            format!(
                "\"type\":\"object\",\"additionalProperties\":{{{}}}",
                reference(keys.name)
            )
        }
        Form::Profile => profile,
        Form::VectorProfile => either(profile.clone(), list(&profile, 1, 3)),
        Form::Texts(least, most) => list("\"type\":\"string\"", least, most),
        Form::Table(keys) => {
            define(keys, None, definitions);
            reference(keys.name)
        }
        Form::Tables(keys) => {
            define(keys, None, definitions);
            list(&reference(keys.name), 1, usize::MAX)
        }
        Form::TableOrTables(keys) => {
            define(keys, None, definitions);
            either(reference(keys.name), list(&reference(keys.name), 1, usize::MAX))
        }
        Form::Corners => either(
            "\"type\":\"string\"".to_string(),
            list(&list(&number, 3, 3), 4, usize::MAX),
        ),
        Form::Pairs(word) => {
            let pairs = list(&list("\"type\":\"string\"", 2, 2), 0, usize::MAX);
            match word {
                Some(word) => either(format!("\"const\":{}", quoted(word)), pairs),
                None => pairs,
            }
        }
        Form::Kinds(kinds) => {
            let choices: Vec<String> = kinds
                .iter()
                .map(|(kind, keys)| {
                    define(keys, Some(kind), definitions);
                    format!("{{{}}}", reference(keys.name))
                })
                .collect();
            format!(
                "\"type\":\"object\",\"additionalProperties\":{{\"oneOf\":[{}]}}",
                choices.join(",")
            )
        }
        Form::NormalForce => either(profile, reference("normal-force")),
        Form::Parameter => {
            format!(
                "\"anyOf\":[{{\"type\":[\"number\",\"string\",\"boolean\"]}},{{{}}}]",
                list(&number, 1, usize::MAX)
            )
        }
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Compact JSON with line breaks and two spaces per level.
fn indented(json: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut text, mut escaped) = (0usize, false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if text {
            out.push(letter);
            text = escaped || letter != '"';
            escaped = letter == '\\' && !escaped;
            continue;
        }
        let line = |depth: usize, out: &mut String| {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        };
        match letter {
            '"' => {
                text = true;
                out.push(letter);
            }
            '{' | '[' => {
                out.push(letter);
                depth += 1;
                if !matches!(letters.peek(), Some('}' | ']')) {
                    line(depth, &mut out);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !out.ends_with(['{', '[']) {
                    line(depth, &mut out);
                }
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(depth, &mut out);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out.push('\n');
    out
}
