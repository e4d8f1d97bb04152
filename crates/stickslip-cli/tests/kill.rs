//! A few of the starts of `cargo xtask kill`: whatever ends a sweep or a map, and whenever, it is continued to the same bytes.
#![cfg(unix)]

mod common;
#[allow(dead_code)] // the task has its own way in
#[path = "../../../xtask/src/kill.rs"]
mod kill;

#[test]
fn whatever_ends_a_sweep_it_is_continued_to_the_same_bytes() {
    let folder = common::Folder::new("kill");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_stickslip"));
    let tally = kill::starts_and_ends(program, &folder.path("."), 20, 13, cfg!(feature = "parquet"));
    let tally = tally.unwrap();
    // The moments are those of a clock, but not all of them can be too late.
    let ended: u32 = (tally.ended.iter())
        .filter(|(how, _)| !how.ends_with("done"))
        .map(|(_, count)| count)
        .sum();
    assert!(ended >= 3, "{tally:?}");
}
