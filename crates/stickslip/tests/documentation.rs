//! The pages are true: scenarios in them run, links lead somewhere, laws and keys are all described, and what a page
//! says of a law is what the registry says.

use std::fs;
use std::path::{Path, PathBuf};
use stickslip::Simulation;
use stickslip::core::registry::{Family, LAWS, Law};
use stickslip::integrate::METHODS;
use stickslip::scenario::{INTEGRATORS, Scenario, schema};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page: those at the root and all below `docs`.
fn pages() -> Vec<PathBuf> {
    fn collect(folder: &Path, deep: bool, pages: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && deep {
                collect(&path, deep, pages);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    let mut pages = Vec::new();
    collect(&root(), false, &mut pages);
    collect(&root().join("docs"), true, &mut pages);
    pages.sort();
    assert!(pages.len() > 15, "only {} pages found", pages.len());
    pages
}

/// A fenced block: line of its start, what follows the fence, its text.
struct Fenced {
    line: usize,
    info: String,
    text: String,
}

/// The fenced blocks of a page, and the page without them.
fn blocks(page: &str) -> (Vec<Fenced>, String) {
    let mut blocks = Vec::new();
    let mut prose = String::new();
    let mut open: Option<Fenced> = None;
    for (index, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Fenced {
                    line: index + 1,
                    info: info.trim().to_string(),
                    text: String::new(),
                })
            }
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => prose += &format!("{line}\n"),
        }
    }
    assert!(open.is_none(), "a code block is not closed");
    (blocks, prose)
}

#[test]
fn every_scenario_in_the_pages_can_be_built() {
    let (mut whole, mut parts) = (0, 0);
    for path in pages() {
        for block in blocks(&read(&path)).0 {
            let place = format!("{}:{}", path.display(), block.line);
            match block.info.as_str() {
                "toml" => {
                    whole += 1;
                    let scenario = Scenario::parse(&block.text, &place, &[]).unwrap_or_else(|error| panic!("{error}"));
                    Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
                }
                "toml fragment" => {
                    parts += 1;
                    if let Err(error) = toml::de::DeTable::parse(&block.text) {
                        panic!("{place}: {error}");
                    }
                }
                "" => panic!("{place}: say what the block is, `text` if nothing else"),
                _ => (),
            }
        }
    }
    assert!(
        whole >= 5 && parts >= 3,
        "{whole} scenarios and {parts} fragments found"
    );
}

/// A heading as the anchor that links use.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = letters.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    let mut broken = Vec::new();
    for path in pages() {
        let (_, prose) = blocks(&read(&path));
        for piece in prose.split("](").skip(1) {
            let target = piece.split([')', ' ']).next().unwrap_or("");
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            let found = file.exists()
                && (part.is_empty()
                    || read(&file)
                        .lines()
                        .any(|line| line.starts_with('#') && anchor(line) == part));
            if !found {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(links > 40, "only {links} links found");
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

/// The page of a law; a contact law that shares its name with a friction law has `-contact` after it.
fn page_of(law: &Law) -> String {
    let shared = law.family == Family::Contact && LAWS.iter().filter(|other| other.name == law.name).count() > 1;
    format!("{}{}.md", law.name, if shared { "-contact" } else { "" })
}

#[test]
fn every_law_has_a_page_that_says_what_the_registry_says() {
    let index = read(&root().join("docs/README.md"));
    for law in LAWS {
        let file = page_of(law);
        let page = read(&root().join("docs/laws").join(&file));
        assert!(
            index.contains(&format!("(laws/{file})")),
            "docs/README.md does not list {file}"
        );
        let says = |text: String| assert!(page.contains(&text), "docs/laws/{file} does not say \"{text}\"");
        let quoted: Vec<String> = law.integrators.iter().map(|name| format!("`{name}`")).collect();
        says(format!("Integrators: {}", quoted.join(", ")));
        for parameter in law.parameters {
            says(format!("| `{}` |", parameter.name));
        }
        let p = law.properties;
        for (name, kept) in [
            ("holds_exactly", p.holds_exactly),
            ("holds_elastically", p.holds_elastically),
            ("bounded", p.bounded),
            ("passive", p.passive),
            ("odd", p.odd),
            ("isotropic", p.isotropic),
        ] {
            says(format!("| `{name}` | {} |", if kept { "yes" } else { "no" }));
        }
    }
    let pages = fs::read_dir(root().join("docs/laws")).unwrap().count();
    assert_eq!(
        pages,
        LAWS.len(),
        "docs/laws has a page of a law that is not registered"
    );
}

#[test]
fn every_integrator_is_described() {
    let page = read(&root().join("docs/integrators.md"));
    for row in METHODS {
        assert!(
            page.contains(&format!("## `{}`", row.name)),
            "{} has no section",
            row.name
        );
        assert!(
            page.contains(&format!("| `{}` | {} |", row.name, row.order)),
            "order of {}",
            row.name
        );
    }
    for name in INTEGRATORS {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is neither described nor called planned"
        );
    }
}

/// Every name of a key in the schema, wherever it is.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    if let Some(properties) = value.get("properties").and_then(|p| p.as_object()) {
        found.extend(properties.keys().cloned());
    }
    match value {
        serde_json::Value::Object(map) => map.values().for_each(|inner| keys(inner, found)),
        serde_json::Value::Array(list) => list.iter().for_each(|inner| keys(inner, found)),
        _ => (),
    }
}

#[test]
fn every_key_of_a_scenario_is_described() {
    let page = read(&root().join("docs/scenario.md"));
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let mut found = Vec::new();
    keys(&schema, &mut found);
    found.sort();
    found.dedup();
    assert!(found.len() > 80, "the schema shows only {} keys", found.len());
    let absent: Vec<&String> = found.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(absent.is_empty(), "docs/scenario.md does not describe {absent:?}");
}
