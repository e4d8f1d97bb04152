//! `ARCHITECTURE.md` is true: every path it names exists, and no part of the code is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Texts between single back-quotes, outside of code blocks.
fn quoted(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2).map(String::from));
        }
    }
    found
}

/// Whether a quoted text is meant as a path: plain letters, with a folder or the ending of a file.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let file = [".rs", ".md", ".toml", ".json"].iter().any(|end| text.ends_with(end));
    text.chars().all(plain) && (file || (text.contains('/') && !text.starts_with('/')))
}

#[test]
fn every_path_in_the_architecture_page_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<String> = quoted(&text).into_iter().filter(|text| is_path(text)).collect();
    assert!(paths.len() > 40, "the page names only {} paths", paths.len());
    let missing: Vec<&String> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names what does not exist: {missing:?}"
    );
}

#[test]
fn every_module_is_on_the_architecture_page() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = quoted(&text);
    let mut absent = Vec::new();
    for source in ["crates/stickslip-core/src", "crates/stickslip/src"] {
        for entry in fs::read_dir(root().join(source)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = format!("{source}/{name}");
            if name != "lib.rs" && !named.iter().any(|other| other == &path || other == &format!("{path}/")) {
                absent.push(path);
            }
        }
    }
    assert!(absent.is_empty(), "ARCHITECTURE.md says nothing of {absent:?}");
}

#[test]
fn the_way_from_a_run_to_its_trace_is_ten_files_at_most_and_names_functions_that_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("## From `stickslip run` to the trace\n").unwrap();
    let list = rest.split("\n## ").next().unwrap();
    let steps: Vec<&str> = list
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    assert!((5..=10).contains(&steps.len()), "{} steps", steps.len());
    let mut functions = 0;
    for step in steps {
        let quotes = quoted(step);
        let files = quotes.iter().filter(|word| word.ends_with(".rs"));
        let code: String = files
            .map(|file| fs::read_to_string(root().join(file)).unwrap())
            .collect();
        // A function that is named with its type is in the file of its step.
        let named = step.split('`').skip(1).step_by(2).filter(|word| !is_path(word));
        for name in named.filter(|name| name.contains("::")) {
            functions += 1;
            let (owner, name) = name.rsplit_once("::").unwrap();
            let there = code.contains(&format!("fn {name}")) && code.contains(owner);
            assert!(there, "{owner}::{name} is not where the page says: {step}");
        }
    }
    assert!(functions >= 6, "only {functions} functions are named");
}

/// The engine from below: what stands on a line knows only what stands on earlier lines, and its neighbours on its own.
const LAYERS: &[&[&str]] = &[
    &["math", "memory", "stop", "snapshot"],
    &["quantity", "profile"],
    &["shape", "inclusion"],
    &["body"],
    &["network"],
    &["element"],
    &["tally"],
    &["integrate"],
    &["analysis::slip_events"],
    &["chain", "spheres"],
    &["equations"],
    &["scenario", "handle"],
    &["build"],
    &["simulation", "trace", "divergence", "analysis"],
    &["report", "model", "batch", "advice"],
    &["ledger"],
    &["run"],
    &["sweep"],
];

/// The line of a module, or of a part of one that stands lower than the rest.
fn layer(path: &str) -> Option<usize> {
    let place = |name: &str| LAYERS.iter().position(|names| names.contains(&name));
    let mut words = path.split("::");
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    place(&format!("{first}::{second}")).or_else(|| place(first))
}

/// The code of a file without comments, tests and names that only documentation uses.
fn code(text: &str) -> String {
    let mut code = String::new();
    let (mut of_documentation, mut of_tests) = (false, false);
    for line in text.lines() {
        let line = line.trim();
        if of_tests && line.starts_with("mod ") {
            break;
        }
        if !of_documentation && !of_tests && !line.starts_with("//") {
            code += line;
            code.push('\n');
        }
        (of_documentation, of_tests) = (line == "#[cfg(doc)]", line == "#[cfg(test)]");
    }
    code
}

/// Paths that begin at the root of the crate.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).map(|rest| {
        let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        &rest[..rest.find(|c| !is_path(c)).unwrap_or(rest.len())]
    })
}

#[test]
fn no_module_knows_those_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut seen, mut wrong) = (vec![source.clone()], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !name.ends_with(".rs") || name == "lib.rs" || name.contains("tests") {
                continue;
            }
            let module = name.trim_end_matches(".rs").replace('/', "::");
            let own = layer(&module).unwrap_or_else(|| panic!("{module} stands on no line"));
            for used in paths(&code(&fs::read_to_string(&path).unwrap())) {
                seen += 1;
                let theirs = layer(used).unwrap_or_else(|| panic!("{name}: crate::{used} stands on no line"));
                if theirs > own {
                    wrong.push(format!("{name} uses crate::{used}"));
                }
            }
        }
    }
    assert!(seen > 500, "only {seen} paths were read");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
