//! `cargo xtask table`: the costs in README.md from the kept results, beside those of other programs.

use crate::root;
use serde_json::Value;

const BEGIN: &str = "<!-- costs: written by `cargo xtask table` -->";
const END: &str = "<!-- end of costs -->";

/// Writes the table into README.md.
pub fn run() -> Result<(), String> {
    let path = root().join("README.md");
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    std::fs::write(&path, with_table(&text)?).map_err(|error| format!("cannot write README.md: {error}"))
}

/// A page with the table as it should be, and the costs of a block in the table above it.
fn with_table(page: &str) -> Result<String, String> {
    let mut page = between(page, BEGIN, END, &format!("\n{}", table()?))?;
    for name in ["w1", "w1-rk4"] {
        let costs = [name.to_string(), format!("{name}, with report")].map(|name| kept(&name));
        let [Some(plain), Some(report)] = costs.map(|result| result.map(|result| cost(&result["ns_per_step"]))) else {
            return Err(format!("no cost of {name} is kept"));
        };
        let costs = format!("{plain} ({report} with the run report)");
        page = between(&page, &format!("<!-- cost of {name} -->"), "<!-- end -->", &costs)?;
    }
    Ok(page)
}

/// A page with another text between two marks.
fn between(page: &str, begin: &str, end: &str, text: &str) -> Result<String, String> {
    let missing = || format!("README.md has no place for costs: {begin} … {end}");
    let (before, rest) = page.split_once(begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

/// The last result of a work, or of one of its variants.
fn kept(name: &str) -> Option<Value> {
    // Variants of a work are kept with it.
    let file = name.split(['-', ',']).next().unwrap_or(name);
    let history = read(file).ok()?;
    let entry = history.as_array()?.last()?;
    let variants = entry["variants"].as_array().into_iter().flatten();
    std::iter::once(entry)
        .chain(variants)
        .find(|result| word(&result["name"]) == name)
        .cloned()
}

fn table() -> Result<String, String> {
    let peers = read("peers")?;
    let mut text = String::from(
        "| work | as users run it, with the report | ratio to C | steps alone | C by hand | ratio | outcome | other programs: cost (outcome) |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for work in peers["works"].as_array().into_iter().flatten() {
        let name = word(&work["name"]);
        let Some(result) = kept(name) else {
            continue;
        };
        let others: Vec<String> = (work["peers"].as_array().into_iter().flatten())
            .map(|peer| format!("{} {} ({})", word(&peer[0]), cost(&peer[1]), word(&peer[2])))
            .collect();
        // A sweep of final values is what users run.
        let run = kept(&format!("{name}, with report")).unwrap_or_else(|| result.clone());
        let [ratio, run_ratio] = [&result, &run].map(|result| {
            result["ratio"].as_f64().map_or("-".to_string(), |ratio| {
                if ratio < 1.0 {
                    format!("{ratio:.3}")
                } else {
                    format!("{ratio:.1}")
                }
            })
        });
        // What stands in the place of a program by hand, if it is another.
        let limit = match word(&work["limit"]) {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        text += &format!(
            "| {}, {} | {} | {run_ratio} | {} | {}{limit} | {ratio} | {}: {} | {} |\n",
            word(&work["title"]),
            word(&work["unit"]),
            cost(&run["ns_per_step"]),
            cost(&result["ns_per_step"]),
            cost(&result["limit_ns"]),
            word(&work["outcome"]),
            outcome(&result["outcome"]),
            others.join("; ")
        );
    }
    text += &format!(
        "\nThe costs of stickslip and of C were measured side by side in one run on one core (`cargo xtask bench`), the other programs {}.\n",
        word(&peers["measured"])
    );
    if let Some(trace) = kept("trace") {
        text += &format!(
            "A CSV trace of every step adds {} ns a number, shortest digits that read back to the same number ({} columns, `cargo xtask bench trace`).\n",
            cost(&trace["ns_per_number"]),
            trace["columns"]
        );
    }
    Ok(text)
}

fn read(name: &str) -> Result<Value, String> {
    let path = root().join("benches/results").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A cost with two or three digits that mean something.
fn cost(value: &Value) -> String {
    match value.as_f64() {
        None => "-".into(),
        Some(x) if x < 10.0 => format!("{x:.2}"),
        Some(x) if x < 100.0 => format!("{x:.0}"),
        Some(x) => format!("{:.0}", (x / 10.0).round() * 10.0),
    }
}

fn outcome(value: &Value) -> String {
    let number = |value: &Value| match value.as_f64() {
        None => "-".into(),
        Some(x) if x != 0.0 && x.abs() < 1e-3 => format!("{x:.0e}"),
        Some(x) => format!("{x:.6}"),
    };
    match value.as_array() {
        Some(several) => several.iter().map(number).collect::<Vec<_>>().join(", "),
        None => number(value),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_in_the_readme_is_that_of_the_results() {
        let text = std::fs::read_to_string(crate::root().join("README.md")).unwrap();
        assert!(
            super::with_table(&text).unwrap() == text,
            "the results have changed: cargo xtask table"
        );
    }
}
