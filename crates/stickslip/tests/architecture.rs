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
