//! The laws as data.

use serde_json::{Value, json};
use stickslip::core::registry::{Family, Law, Properties};

/// Friction or contact.
pub fn family(law: &Law) -> &'static str {
    match law.family {
        Family::Friction => "friction",
        Family::Contact => "contact",
    }
}

/// Each promise: its key, what it means, and whether the law makes it.
pub fn promises(properties: &Properties) -> [(&'static str, &'static str, bool); 6] {
    [
        (
            "holds_exactly",
            "at rest below its limit the velocity is exactly zero",
            properties.holds_exactly,
        ),
        (
            "holds_elastically",
            "at rest below its limit it gives way elastically and does not creep",
            properties.holds_elastically,
        ),
        ("bounded", "the force never exceeds the limit", properties.bounded),
        (
            "passive",
            "it never gives more energy than was put in",
            properties.passive,
        ),
        ("odd", "the force changes sign with the motion", properties.odd),
        (
            "isotropic",
            "no direction is preferred in the plane and in space",
            properties.isotropic,
        ),
    ]
}

/// A row of the registry, as `laws --json` prints it.
pub fn value(law: &Law) -> Value {
    let parameters: Vec<Value> = law
        .parameters
        .iter()
        .map(|p| json!({ "name": p.name, "unit": p.unit, "default": p.default, "meaning": p.meaning }))
        .collect();
    let properties: serde_json::Map<String, Value> = promises(&law.properties)
        .into_iter()
        .map(|(key, _, kept)| (key.to_string(), kept.into()))
        .collect();
    json!({
        "name": law.name,
        "family": family(law),
        "summary": law.summary,
        "equation": law.equation,
        "source": law.source,
        "parameters": parameters,
        "integrators": law.integrators,
        "states": law.states,
        "properties": properties,
    })
}
