//! Nothing that is written can make the reader panic, and every finding can be shown.

use super::corpus;
use super::*;
use proptest::prelude::*;

fn survives(text: &str, sets: &[String]) {
    if let Err(error) = Scenario::parse(text, "test.toml", sets) {
        assert!(!error.diagnostics.is_empty());
        assert!(!error.render(true).is_empty());
        for diagnostic in &error.diagnostics {
            assert!(!diagnostic.message.is_empty());
            if let Some(span) = diagnostic.span {
                let length = error.sources[span.source].text.len();
                assert!(span.start <= span.end && span.end <= length, "{diagnostic:?}");
            }
        }
    }
}

/// Values that tend to be forgotten.
const ODD: &[&str] = &[
    "nan",
    "-inf",
    "1e999",
    "0",
    "-1",
    "\"\"",
    "[]",
    "{}",
    "true",
    "\"1 parsec\"",
    "\"1 N\"",
    "[[1, 2], [3]]",
    "\"t\"",
    "\"ground\"",
    "1979-05-27",
    "[1, \"a\", {}]",
    "{ expr = \"2*\" }",
    "{ times = [0], values = [] }",
    "\"é\"",
    "9999999999999999999999",
    "0x_",
    "\"1 kg\"",
    "{ element = \"floor\" }",
    "[\"ground\", \"ground\"]",
    "\"1/0\"",
    "{ csv = \"/\", column = \"\" }",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn any_text_with_any_argument(text in "\\PC{0,80}", set in "\\PC{0,40}") {
        survives(&text, std::slice::from_ref(&set));
        survives(corpus::ARM, &[set]);
    }

    #[test]
    fn a_value_replaced(which in 0usize..5, line in any::<prop::sample::Index>(), odd in prop::sample::select(ODD)) {
        let text = [corpus::BLOCK, corpus::SPHERE, corpus::ARM, corpus::INCLUSION, corpus::EVERYTHING][which];
        let lines: Vec<&str> = text.lines().collect();
        let at = line.index(lines.len());
        let changed: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(index, line)| match line.split_once('=') {
                Some((key, _)) if index == at => format!("{key}= {odd}"),
                _ => line.to_string(),
            })
            .collect();
        survives(&changed.join("\n"), &[]);
    }

    #[test]
    fn a_key_set_to_anything(which in 0usize..5, line in any::<prop::sample::Index>(), odd in prop::sample::select(ODD)) {
        let text = [corpus::BLOCK, corpus::SPHERE, corpus::ARM, corpus::INCLUSION, corpus::EVERYTHING][which];
        let keys: Vec<String> = Scenario::parse(text, "", &[]).unwrap().spans.keys().cloned().collect();
        survives(text, &[format!("{}={odd}", keys[line.index(keys.len())])]);
    }

    #[test]
    fn pieces_cut_out(which in 0usize..5, from in any::<prop::sample::Index>(), length in 1usize..60, insert in "[\\PC\n\"=\\[\\]{}]{0,5}") {
        let text = [corpus::BLOCK, corpus::SPHERE, corpus::ARM, corpus::INCLUSION, corpus::EVERYTHING][which];
        let letters: Vec<char> = text.chars().collect();
        let from = from.index(letters.len());
        let to = (from + length).min(letters.len());
        let changed: String = letters[..from].iter().chain(&insert.chars().collect::<Vec<_>>()).chain(&letters[to..]).collect();
        survives(&changed, &[]);
    }
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let deep = format!("x = {}1{}", "[".repeat(5000), "]".repeat(5000));
    survives(&deep, &[]);
    survives(
        corpus::BLOCK,
        &[format!("bodies.block.mass={}1{}", "[".repeat(5000), "]".repeat(5000))],
    );
    survives(corpus::BLOCK, &[format!("bodies{}=1", ".a".repeat(5000))]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = std::env::temp_dir().join(format!("stickslip-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("block.toml");
    std::fs::write(&file, corpus::BLOCK).unwrap();
    assert_eq!(Scenario::read(&file, &[]).unwrap().bodies.len(), 2);

    let missing = Scenario::read(folder.join("blok.toml"), &[]).unwrap_err();
    assert!(missing.diagnostics[0].message.contains("there is no file"));
    assert!(
        missing.diagnostics[0].help.as_ref().unwrap().contains("block.toml"),
        "{missing}"
    );

    let directory = Scenario::read(&folder, &[]).unwrap_err();
    assert!(directory.to_string().contains("is a folder"));

    std::fs::write(&file, b"title = \"a\"\n\xff\xfe").unwrap();
    let bytes = Scenario::read(&file, &[]).unwrap_err();
    assert!(bytes.to_string().contains("not UTF-8 text: line 2"), "{bytes}");

    // A file of holes: nothing is stored, and there is no end in sight.
    std::fs::File::create(&file).unwrap().set_len(1 << 33).unwrap();
    let endless = Scenario::read(&file, &[]).unwrap_err().to_string();
    assert!(endless.contains("larger than 64 MiB"), "{endless}");

    std::fs::write(&file, "# nothing\n").unwrap();
    assert!(
        Scenario::read(&file, &[])
            .unwrap_err()
            .to_string()
            .contains("the file is empty")
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
