//! Rows of sweeps and maps as lines of CSV: the same bytes from every face.

use serde_json::Value;
use stickslip::sweep::{self, Row, Sweep};

/// A name as a CSV field.
pub fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

/// A value as a CSV field: a number that reads back as the same binary64, a word, or nothing.
pub fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// The fields of the varied keys, with a comma behind each.
pub fn key_fields(keys: &[sweep::Value]) -> String {
    keys.iter().map(|key| quoted(&key.cell) + ",").collect()
}

/// The header of a sweep.
pub fn sweep_header(sweep: &Sweep, measures: &[String]) -> String {
    let names = sweep.axes().iter().map(|axis| axis.key.as_str());
    let names = names.chain(measures.iter().map(|path| path.trim())).chain(["status"]);
    names.map(quoted).collect::<Vec<_>>().join(",")
}

/// A row of a sweep.
pub fn sweep_line(row: &Row) -> String {
    let values: String = row.values.iter().map(|value| field(value) + ",").collect();
    key_fields(&row.keys) + &values + &quoted(row.failure.as_deref().unwrap_or("ok"))
}

/// What a map has of each cell, behind its two keys.
pub const MAP_COLUMNS: [&str; 5] = ["amplitude", "period", "stable", "region", "linear_growth"];

/// The header of a map.
pub fn map_header(sweep: &Sweep) -> String {
    let axes = sweep.axes().iter().map(|axis| quoted(&axis.key));
    let names: Vec<String> = axes.chain(MAP_COLUMNS.map(String::from)).collect();
    names.join(",")
}

/// A row of a map.
pub fn map_line(row: &Row) -> String {
    let values: Vec<String> = row.values.iter().map(field).collect();
    key_fields(&row.keys) + &values.join(",")
}

/// The rows of part `i` of `n`, counted from 1.
pub fn shard(rows: u64, (i, n): (u64, u64)) -> std::ops::Range<u64> {
    let part = |i: u64| (u128::from(rows) * u128::from(i) / u128::from(n)) as u64;
    part(i - 1)..part(i)
}
