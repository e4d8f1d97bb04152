//! `stickslip figures` as a user meets it.

mod common;

use common::Folder;

#[test]
fn one_figure_is_made_and_its_page_named() {
    let folder = Folder::new("one-figure");
    let ran = folder.run(&["figures", "fig000-10", "--out", "page/deep"]).ok();
    assert_eq!(ran.out.trim(), "page/deep/index.html");
    assert!(ran.err.contains("fig000-10"), "{}", ran.err);
    let page = folder.read("page/deep/index.html");
    for word in ["Fig 10", "<svg", "Expected", "Measured", "fig000-10-p.toml", "holds"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("Fig 9"), "only what was asked for");
    // Self-contained: nothing is fetched.
    for outside in ["src=", "url(", "<link", "<script", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn an_unknown_figure_is_refused_with_the_list_and_the_nearest() {
    let folder = Folder::new("unknown-figure");
    folder
        .run(&["figures", "fig00-8"])
        .fails(2, &["fig00-8", "did you mean \"fig000-8\"", "fig004-7"]);
    // Nothing is made when one of the names is wrong.
    folder
        .run(&["figures", "fig000-10", "nonsense"])
        .fails(2, &["nonsense", "fig000-10"]);
    assert!(folder.names().is_empty());
}

#[test]
fn a_folder_that_cannot_be_is_told() {
    let folder = Folder::new("no-folder");
    folder.write("page", "a file");
    folder
        .run(&["figures", "fig000-10", "--out", "page"])
        .fails(1, &["page"]);
    assert_eq!(folder.read("page"), "a file");
}

#[test]
fn a_contradicted_claim_is_no_failure_and_the_study_stands_beside_the_page() {
    let folder = Folder::new("contradicted");
    let ran = folder.run(&["figures", "fig000-3", "--out", "page"]).ok();
    assert!(ran.err.contains("contradicted: No model but P"), "{}", ran.err);
    assert!(folder.read("page/index.html").contains("href=\"science.html\""));
    let study = folder.read("page/science.html");
    assert!(
        study.contains("Errata") && !study.contains(".md\""),
        "links to files that are not there"
    );
}
