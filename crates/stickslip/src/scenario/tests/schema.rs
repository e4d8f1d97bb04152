//! The schema says what the reader accepts.

use super::corpus;
use super::*;
use crate::scenario::keys::{self, Form, Keys};
use crate::scenario::tree::{self, Value};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Every table of keys, from the root.
fn all_tables() -> Vec<&'static Keys> {
    let mut tables: Vec<&'static Keys> = vec![
        &keys::ROOT,
        &keys::EXPRESSION_PROFILE,
        &keys::TABLE_PROFILE,
        &keys::CSV_PROFILE,
        &keys::NORMAL_FORCE,
    ];
    let mut next = 0;
    while next < tables.len() {
        for key in tables[next].iter() {
            let inner: Vec<&'static Keys> = match key.form {
                Form::Table(inner) | Form::Tables(inner) | Form::TableOrTables(inner) | Form::Named(inner) => {
                    vec![inner]
                }
                Form::Kinds(kinds) => kinds.iter().map(|(_, keys)| *keys).collect(),
                _ => vec![],
            };
            for keys in inner {
                if !tables.iter().any(|other| other.name == keys.name) {
                    tables.push(keys);
                }
            }
        }
        next += 1;
    }
    tables
}

#[test]
fn the_schema_is_json_and_lists_every_key() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for table in all_tables() {
        let definition = if table.name == "scenario" {
            &schema
        } else {
            &schema["$defs"][table.name]
        };
        let properties = definition["properties"]
            .as_object()
            .unwrap_or_else(|| panic!("{}", table.name));
        let listed: BTreeSet<&str> = table.iter().map(|key| key.name).collect();
        let shown: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(listed, shown, "{}", table.name);
        assert_eq!(definition["additionalProperties"], table.law.is_some());
    }
}

#[test]
fn references_of_the_schema_resolve() {
    fn walk(value: &Json, root: &Json) {
        match value {
            Json::Object(map) => {
                if let Some(Json::String(reference)) = map.get("$ref") {
                    let name = reference.strip_prefix("#/$defs/").unwrap();
                    assert!(root["$defs"].get(name).is_some(), "{reference}");
                }
                map.values().for_each(|value| walk(value, root));
            }
            Json::Array(items) => items.iter().for_each(|value| walk(value, root)),
            _ => {}
        }
    }
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    walk(&schema, &schema);
}

/// The keys of each table that valid scenarios use.
fn used() -> BTreeSet<(&'static str, String)> {
    fn walk(table: &tree::Table, keys: &'static Keys, used: &mut BTreeSet<(&'static str, String)>) {
        for entry in &table.entries {
            used.insert((keys.name, entry.key.clone()));
            let Some(key) = keys.get(&entry.key) else {
                continue;
            };
            visit(&entry.node.value, key.form, used);
        }
    }
    fn visit(value: &Value, form: Form, used: &mut BTreeSet<(&'static str, String)>) {
        match (value, form) {
            (Value::Table(table), Form::Table(inner) | Form::TableOrTables(inner)) => walk(table, inner, used),
            (Value::Table(table), Form::Kinds(kinds)) => {
                for entry in &table.entries {
                    let Value::Table(inner) = &entry.node.value else {
                        continue;
                    };
                    let Some(Value::Text(kind)) = inner.get("kind").map(|entry| &entry.node.value) else {
                        continue;
                    };
                    let (_, keys) = kinds.iter().find(|(name, _)| name == kind).unwrap();
                    walk(inner, keys, used);
                }
            }
            (Value::Table(table), Form::Named(inner)) => {
                for entry in &table.entries {
                    visit(&entry.node.value, Form::Table(inner), used);
                }
            }
            (Value::Table(table), Form::Profile | Form::VectorProfile | Form::NormalForce) => {
                let keys = [&keys::EXPRESSION_PROFILE, &keys::CSV_PROFILE, &keys::NORMAL_FORCE];
                let keys = keys
                    .into_iter()
                    .find(|keys| table.get(keys.iter().next().unwrap().name).is_some());
                walk(table, keys.unwrap_or(&keys::TABLE_PROFILE), used);
            }
            (Value::List(items), form) => items.iter().for_each(|item| match (&item.value, form) {
                (Value::Table(table), Form::Tables(inner)) => walk(table, inner, used),
                (value, form) => visit(value, form, used),
            }),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    for text in corpus::all() {
        parse(text);
        walk(&tree::parse(text).unwrap(), &keys::ROOT, &mut all);
    }
    all
}

/// Every listed key is in some scenario that the reader accepts. (That the reader takes no others: `Section::get`.)
#[test]
fn the_reader_accepts_every_listed_key() {
    let used = used();
    for table in all_tables() {
        for key in table.iter() {
            // Laws share one list; that each is accepted is shown by the friction element.
            let a_law = ["friction-law", "chain-friction"].contains(&table.name);
            // Spheres take no force, no torque and no material, and say so.
            let refused = table.name == "spheres-body" && ["force", "torque", "material"].contains(&key.name);
            let shared = refused || a_law && keys::FRICTION.get(key.name).is_some();
            assert!(
                shared || used.contains(&(table.name, key.name.to_string())),
                "no valid scenario uses `{}` of `{}`",
                key.name,
                table.name
            );
        }
    }
}
