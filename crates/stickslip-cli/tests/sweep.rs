//! `stickslip sweep`: rows, files that outlive a kill, exit status.

mod common;

use common::{Folder, Ran};
use std::process::Stdio;
use std::time::Duration;

/// The block of seed 000, Fig 8, over eleven friction forces and two stiffnesses.
const GRID: [&str; 8] = [
    "sweep",
    "block.toml",
    "--vary",
    "elements.spring.stiffness=list:90 N/m,0.1 N/mm",
    "--vary",
    "elements.floor.kinetic=lin:5 N:15 N:11",
    "--measure",
    "final.block.position,elements.floor.stick_time",
];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

#[test]
fn rows_have_the_keys_the_measures_and_a_status() {
    let folder = Folder::with_block("sweep-rows");
    let ran = folder.run(&GRID).ok();
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[0],
        "elements.spring.stiffness,elements.floor.kinetic,final.block.position,elements.floor.stick_time,status"
    );
    assert_eq!(lines.len(), 23);
    // The last varies fastest; numbers are in SI. The row of 10 N is the run itself.
    assert!(
        lines[1].starts_with("90.0,5.0,") && lines[2].starts_with("90.0,6.0,"),
        "{}",
        ran.out
    );
    assert!(lines[12].starts_with("100.0,5.0,") && lines[12].ends_with(",ok"));
    let report = folder.run(&["run", "block.toml", "--json"]).ok().json();
    let expected = format!(
        "90.0,10.0,{:?},{:?},ok",
        report["final"]["block.position"].as_f64().unwrap(),
        report["elements"]["floor"]["stick_time"].as_f64().unwrap()
    );
    assert_eq!(lines[6], expected);
    assert!(ran.err.contains("22 runs in"), "{}", ran.err);
    let quiet = folder.run(&with(&GRID, &["--quiet", "--out", "a.csv"])).ok();
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    assert_eq!(folder.read("a.csv"), ran.out);
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

#[test]
fn threads_and_shards_give_the_same_bytes() {
    let folder = Folder::with_block("sweep-threads");
    let whole = folder.run(&with(&GRID, &["--threads", "1"])).ok().out;
    assert_eq!(folder.run(&with(&GRID, &["--threads", "4"])).ok().out, whole);
    for count in [1, 3, 5] {
        let mut glued = String::new();
        for i in 1..=count {
            let shard = format!("{i}/{count}");
            let out = folder.run(&with(&GRID, &["--shard", &shard])).ok().out;
            let (header, rows) = out.split_once('\n').unwrap();
            if i == 1 {
                glued = format!("{header}\n");
            }
            glued += rows;
        }
        assert_eq!(glued, whole, "{count} shards");
    }
    for wrong in ["0/2", "3/2", "1", "1/0", "a/b"] {
        folder
            .run(&with(&GRID, &["--shard", wrong]))
            .fails(2, &["I from 1 to N"]);
    }
}

/// A sweep that takes seconds, in rows of milliseconds.
const LONG: [&str; 10] = [
    "sweep",
    "block.toml",
    "--vary",
    "elements.floor.kinetic=log:5:20:50",
    "--measure",
    "final.block.position,energy.dissipated",
    "--set",
    "simulation.duration=3000",
    "--out",
    "a.csv",
];

/// Starts a command and waits until so many rows are written.
fn until(folder: &Folder, arguments: &[&str], rows: usize) -> std::process::Child {
    let mut child = folder
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..2000 {
        let text = std::fs::read_to_string(folder.path("a.csv.part")).unwrap_or_default();
        if text.lines().count() > rows {
            return child;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("{rows} rows were never written");
}

#[test]
fn a_killed_sweep_is_continued_to_the_same_bytes() {
    let folder = Folder::with_block("sweep-kill");
    folder.run(&LONG).ok();
    let whole = folder.read("a.csv");
    std::fs::remove_file(folder.path("a.csv")).unwrap();
    let mut child = until(&folder, &LONG, 5);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    assert_eq!(folder.names(), ["a.csv.part", "a.csv.state", "block.toml"]);
    let part = folder.read("a.csv.part");
    assert!(part.lines().count() < 51, "the kill came too late");
    assert!(whole.starts_with(&part[..part.rfind('\n').unwrap()]));
    // As if the kill had torn a row.
    folder.write("a.csv.part", &part[..part.len() - 7]);
    let ran = folder.run(&with(&LONG, &["--resume"])).ok();
    assert!(ran.err.contains("torn"), "{}", ran.err);
    assert_eq!(folder.read("a.csv"), whole);
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
    // What is complete stays as it is. Of what is cut short the rest is added, whoever cut it.
    folder.run(&with(&LONG, &["--resume"])).ok();
    assert_eq!(folder.read("a.csv"), whole);
    folder.write("a.csv", &whole[..whole.len() / 2]);
    folder.run(&with(&LONG, &["--resume", "--threads", "1"])).ok();
    assert_eq!(folder.read("a.csv"), whole);
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

/// A file that was there before the rows began is not theirs: killed before its first row, a sweep begins anew and replaces it.
#[test]
fn a_file_of_other_rows_is_not_taken_for_those_of_a_killed_sweep() {
    let folder = Folder::with_block("sweep-stranger");
    folder.run(&LONG).ok();
    let whole = folder.read("a.csv");
    let other = with(&LONG, &["--set", "bodies.block.mass=\"1.5 kg\""]);
    let mut child = until(&folder, &other, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.write("a.csv.part", "");
    assert_eq!(folder.read("a.csv"), whole);
    folder.run(&with(&other, &["--resume"])).ok();
    let replaced = folder.read("a.csv");
    assert!(replaced != whole && replaced.lines().count() == whole.lines().count());
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

/// The same where only the end of runs is measured, so that they go side by side: a kill loses a batch at most.
#[test]
fn a_killed_sweep_of_runs_side_by_side_is_continued_to_the_same_bytes() {
    let arguments = LONG.map(|argument| match argument {
        "elements.floor.kinetic=log:5:20:50" => "elements.floor.kinetic=log:5:20:3000",
        "final.block.position,energy.dissipated" => "final.block.position",
        "simulation.duration=3000" => "simulation.duration=200",
        other => other,
    });
    let folder = Folder::with_block("sweep-side-by-side");
    folder.run(&arguments).ok();
    let whole = folder.read("a.csv");
    std::fs::remove_file(folder.path("a.csv")).unwrap();
    let mut child = until(&folder, &arguments, 5);
    child.kill().unwrap();
    child.wait().unwrap();
    let part = folder.read("a.csv.part");
    assert!(part.lines().count() < 3001, "the kill came too late");
    assert!(whole.starts_with(&part[..part.rfind('\n').unwrap()]));
    folder.run(&with(&arguments, &["--resume", "--threads", "3"])).ok();
    assert_eq!(folder.read("a.csv"), whole);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_whole_rows() {
    let folder = Folder::with_block("sweep-interrupt");
    let interrupt = |child: std::process::Child| {
        common::signal(&child, "INT");
        Ran::from(child.wait_with_output().unwrap())
    };
    let ran = interrupt(until(&folder, &LONG, 5)).fails(1, &["stopped after", "a.csv holds them", "--resume"]);
    assert_eq!(ran.out, "");
    assert_eq!(folder.names(), ["a.csv", "a.csv.state", "block.toml"]);
    let text = folder.read("a.csv");
    assert!(text.ends_with('\n') && text.lines().all(|line| line.split(',').count() == 4));
    // Begun again by mistake, they are not lost.
    folder
        .run(&LONG)
        .fails(2, &["a.csv holds rows of this very command", "--resume"]);
    assert_eq!(folder.read("a.csv"), text);
    // Another sweep is not continued with these rows.
    let other: Vec<&str> = LONG
        .iter()
        .map(|a| {
            if a.contains("log:") {
                "elements.floor.kinetic=log:5:20:51"
            } else {
                *a
            }
        })
        .collect();
    folder
        .run(&with(&other, &["--resume"]))
        .fails(2, &["cannot continue a.csv", "vary", "20:50", "20:51"]);
    folder
        .run(&with(&LONG, &["--resume", "--set", "bodies.block.mass=2"]))
        .fails(2, &["set"]);
    folder.run(&with(&LONG, &["--resume"])).ok();
    // A complete file is worth more than part of a new one.
    let whole = folder.read("a.csv");
    let ran = interrupt(until(&folder, &LONG, 5)).fails(1, &["a.csv.part holds them"]);
    assert_eq!(ran.out, "");
    assert_eq!(folder.read("a.csv"), whole);
    let part = folder.read("a.csv.part");
    folder
        .run(&LONG)
        .fails(2, &["a.csv.part holds rows of this very command", "--resume"]);
    assert_eq!(folder.read("a.csv.part"), part);
    // A sweep of something else takes their place, and says so.
    let ran = folder.run(&with(&GRID, &["--out", "a.csv"])).ok();
    assert!(ran.err.contains("a.csv.part holds rows of another run"), "{}", ran.err);
}

#[test]
fn rows_of_something_else_are_not_continued() {
    let folder = Folder::with_block("sweep-other");
    let out = with(&GRID, &["--out", "a.csv"]);
    let resume = with(&out, &["--resume"]);
    folder.run(&out).ok();
    let whole = folder.read("a.csv");
    let half = &whole[..whole.len() / 2];
    folder.write("a.csv", half);
    let block = folder.read("block.toml");
    // No state is left here, but the last row would come out differently.
    folder.write("block.toml", &block.replace("1 kg", "3 kg"));
    folder
        .run(&resume)
        .fails(2, &["cannot continue a.csv", "its last row is"]);
    // With the state of an interrupted sweep the reason is known.
    folder.write("block.toml", &block);
    folder.write("a.csv.part", half);
    folder.write("a.csv.state", "{}");
    folder.run(&resume).fails(2, &["its version was null"]);
    std::fs::remove_file(folder.path("a.csv.state")).unwrap();
    folder.write("a.csv.part", &half.replace("90.0,6.0,", "90.0,6.5,"));
    folder.run(&resume).fails(2, &["row 2", "90.0,6.5,"]);
    folder.write("a.csv.part", &half.replace("final.block", "final.hook"));
    folder.run(&resume).fails(2, &["its columns are"]);
    folder.write("a.csv.part", &format!("{whole}90.0,1.0,1.0,1.0,ok\n"));
    folder.run(&resume).fails(2, &["row 23", "one more than"]);
    assert_eq!(folder.read("a.csv"), half, "nothing was touched");
    // A header alone, or half of it, is a beginning too.
    std::fs::remove_file(folder.path("a.csv.part")).unwrap();
    for beginning in ["elements.spr", whole.split_inclusive('\n').next().unwrap(), ""] {
        folder.write("a.csv", beginning);
        folder.run(&resume).ok();
        assert_eq!(folder.read("a.csv"), whole);
    }
    // A state that is damaged says nothing; the rows are compared all the same.
    for (rows, status) in [(half, 0), (&half.replace("90.0,6.0,", "90.0,6.5,"), 2)] {
        folder.write("a.csv.part", rows);
        folder.write("a.csv.state", "half a {");
        let ran = folder.run(&resume);
        assert!(ran.err.contains("a.csv.state is damaged"), "{}", ran.err);
        assert_eq!(ran.status, Some(status), "{}", ran.err);
        assert_eq!(folder.read("a.csv"), whole);
    }
    // Without --resume an old part goes, and that is said.
    folder.write("a.csv.part", half);
    let ran = folder.run(&out).ok();
    assert!(ran.err.contains("is replaced"), "{}", ran.err);
    assert_eq!(folder.read("a.csv"), whole);
}

#[test]
fn a_failed_run_leaves_its_row_empty() {
    let folder = Folder::with_block("sweep-failed");
    let arguments = [
        "sweep",
        "block.toml",
        "--set",
        "elements.spring.implicit=false",
        "--vary",
        "elements.spring.stiffness=list:90,1e200,-1",
        "--measure",
        "final.block.position",
    ];
    let ran = folder.run(&arguments).ok();
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[1].ends_with(",ok"));
    assert!(
        lines[2].starts_with("1e200,,the run diverged after t = "),
        "{}",
        lines[2]
    );
    assert!(
        lines[3].starts_with("-1.0,,") && lines[3].contains("elements.spring.stiffness"),
        "{}",
        lines[3]
    );
    assert!(
        ran.err.contains("2 failed, the first because the run diverged"),
        "{}",
        ran.err
    );
    let all = arguments.map(|a| {
        if a.contains("list:") {
            "elements.spring.stiffness=list:1e200,1e201"
        } else {
            a
        }
    });
    folder.run(&all).fails(1, &["every run failed"]);
}

#[test]
fn wrong_input_is_refused_before_any_run() {
    let folder = Folder::with_block("sweep-wrong");
    let base = ["sweep", "block.toml"];
    let vary = "elements.floor.kinetic=lin:1:2:2";
    let position = "final.block.position";
    for (vary, measure, more, words) in [
        (
            "elements.flor.kinetic=lin:1:2:2",
            position,
            &[][..],
            &["elements.floor.kinetic", "--vary"][..],
        ),
        (
            "elements.floor.kinetik=lin:1:2:2",
            position,
            &[],
            &["kinetik", "kinetic"],
        ),
        (
            "elements.floor.kinetic=lin:1:2:0",
            position,
            &[],
            &["no number of points"],
        ),
        (
            "elements.floor.kinetic=log:0:2:3",
            position,
            &[],
            &["greater than 0", "lin:a:b:n"],
        ),
        ("elements.floor.kinetic=lin:nan:2:3", position, &[], &["finite"]),
        (
            "elements.floor.kinetic=lin:1 mm:2 mm:3",
            position,
            &[],
            &["elements.floor.kinetic", "force"],
        ),
        ("elements.floor.kinetic=3", position, &[], &["lin:a:b:n"]),
        ("elements.floor.kinetic", position, &[], &["no `=`"]),
        (
            vary,
            "final.block.positon",
            &[],
            &["did you mean \"final.block.position\""],
        ),
        (vary, "stick_slip.amplitude", &[], &["[analysis]"]),
        (vary, position, &["--out", "a.json"], &[".csv"]),
        (vary, position, &["--resume"], &["--out"]),
        (vary, position, &["--threads", "0"], &["--threads"]),
    ] {
        let ran = folder
            .run(&with(&with(&base, &["--vary", vary, "--measure", measure]), more))
            .fails(2, words);
        assert_eq!(ran.out, "");
    }
    folder
        .run(&["sweep", "block.toml", "--vary", vary])
        .fails(2, &["--measure"]);
    folder
        .run(&["sweep", "block.toml", "--measure", position])
        .fails(2, &["--vary"]);
    folder
        .run(&with(&GRID, &["--out", "nowhere/a.csv"]))
        .fails(2, &["cannot write nowhere/a.csv"]);
    assert_eq!(folder.names(), ["block.toml"]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_rows_that_fit() {
    let folder = Folder::with_block("sweep-full");
    let grid = GRID.map(|a| {
        if a.contains("lin:") {
            "elements.floor.kinetic=lin:5 N:15 N:151"
        } else {
            a
        }
    });
    folder.run(&with(&grid, &["--out", "whole.csv"])).ok();
    let whole = folder.read("whole.csv");
    assert!(whole.len() > 9000);
    let ran = folder.run_within(8, &with(&grid, &["--out", "a.csv"]));
    ran.fails(1, &["cannot write a.csv", "--resume"]);
    let rows = folder.read("a.csv");
    assert!(
        whole.starts_with(&rows) && rows.ends_with('\n') && rows.len() > 4000,
        "{rows}"
    );
    // Continued while the disk is still full, nothing is lost.
    let ran = folder.run_within(8, &with(&grid, &["--out", "a.csv", "--resume"]));
    ran.fails(1, &["cannot write a.csv", "--resume"]);
    assert_eq!(folder.read("a.csv"), rows);
    folder.run(&with(&grid, &["--out", "a.csv", "--resume"])).ok();
    assert_eq!(folder.read("a.csv"), whole);
    if std::path::Path::new("/dev/full").exists() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = Ran::from(folder.command(&GRID).stdout(full).output().unwrap());
        ran.fails(1, &["cannot write standard output"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::with_block("sweep-pipe");
    let mut child = folder
        .command(&GRID)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
}

#[test]
fn words_where_a_key_takes_numbers_are_refused_before_the_first_run() {
    let folder = Folder::with_block("sweep-words");
    let sweep = |vary: &str| {
        folder.run(&[
            "sweep",
            "block.toml",
            "--vary",
            vary,
            "--measure",
            "final.block.position",
        ])
    };
    let ran = sweep("elements.spring.stiffness=list:80,stiff").fails(2, &["stiff", "--vary"]);
    assert_eq!(ran.out, "");
    // An expression is no number and no mistake.
    sweep("bodies.block.force=list:1,2*t").ok();
}

#[test]
fn a_key_that_changes_nothing_is_warned_of() {
    let folder = Folder::with_block("sweep-idle");
    let text = folder.read("block.toml")
        + "\n[elements.own]\nkind = \"equations\"\non = \"block\"\nparameters = { k = 3 }\nforce = \"-k*x\"\n";
    folder.write("own.toml", &text);
    let sweep = |key: &str| {
        let vary = format!("elements.own.parameters.{key}=list:1,2");
        folder
            .run(&[
                "sweep",
                "own.toml",
                "--vary",
                &vary,
                "--measure",
                "final.block.position",
            ])
            .ok()
            .err
    };
    assert!(sweep("q").contains("no expression uses the parameter `q`"));
    assert!(!sweep("k").contains("no expression"));
}
