//! `stickslip merge`, `--shard` and `--slurm`: parts that were done apart are the whole.

mod common;

use common::Folder;
use std::process::Command;

const SWEEP: [&str; 6] = [
    "sweep",
    "block.toml",
    "--vary",
    "elements.floor.kinetic=lin:5 N:15 N:11",
    "--measure",
    "final.block.position,elements.floor.stick_time",
];
const MAP: [&str; 6] = [
    "map",
    "block.toml",
    "--x",
    "elements.spring.stiffness=lin:50:150:3",
    "--y",
    "elements.floor.kinetic=lin:5:15:4",
];

fn parts(folder: &Folder, command: &[&str], n: usize) {
    for i in 1..=n {
        let (part, out) = (format!("{i}/{n}"), format!("part-{i}.csv"));
        folder
            .run(&[command, &["--shard", &part, "--out", &out, "--quiet"]].concat())
            .ok();
    }
}

fn with_analysis(test: &str) -> Folder {
    let folder = Folder::new(test);
    let analysis = "\n[analysis]\nstick_slip = { signal = \"spring.force\", from = \"1 s\", threshold = 0.1 }\n";
    folder.write("block.toml", &(common::BLOCK.to_string() + analysis));
    folder
}

#[test]
fn parts_in_any_order_are_the_whole() {
    let folder = with_analysis("merge-whole");
    for command in [SWEEP, MAP] {
        let whole = folder.run(&[&command[..], &["--quiet"]].concat()).ok().out;
        parts(&folder, &command, 4);
        let files = ["part-3.csv", "part-1.csv", "part-4.csv", "part-2.csv"];
        assert_eq!(folder.run(&[&["merge"][..], &files].concat()).ok().out, whole);
        // One of them twice, and to a file.
        let more = [
            "merge",
            "part-1.csv",
            "part-1.csv",
            "part-2.csv",
            "part-3.csv",
            "part-4.csv",
            "--out",
            "all.csv",
        ];
        folder.run(&more).ok();
        assert_eq!(folder.read("all.csv"), whole);
    }
}

#[test]
fn missing_rows_are_named_and_nothing_is_written() {
    let folder = with_analysis("merge-missing");
    parts(&folder, &SWEEP, 4);
    let ran = folder.run(&["merge", "part-1.csv", "part-3.csv", "--out", "all.csv"]);
    // 11 rows in 4 parts: 2, 3, 3 and 3.
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.err.contains("rows 3 to 5, 9 to 11 of 11 are missing"),
        "{}",
        ran.err
    );
    assert!(!folder.names().contains(&"all.csv".to_string()));
}

#[test]
fn parts_of_different_studies_are_refused() {
    let folder = with_analysis("merge-mixed");
    parts(&folder, &SWEEP, 2);
    folder
        .run(
            &[
                &SWEEP[..],
                &[
                    "--set",
                    "bodies.block.mass=2",
                    "--shard",
                    "2/2",
                    "--out",
                    "other.csv",
                    "--quiet",
                ],
            ]
            .concat(),
        )
        .ok();
    let ran = folder.run(&["merge", "part-1.csv", "other.csv"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains("different studies") && ran.err.contains("bodies.block.mass=2"),
        "{}",
        ran.err
    );
    // A file of another kind, a torn one, one without its description.
    folder.write("plain.csv", "a,b\n1,2\n");
    assert_eq!(folder.run(&["merge", "part-1.csv", "plain.csv"]).status, Some(2));
    let torn = folder.read("part-2.csv");
    folder.write("part-2.csv", &torn[..torn.len() - 10]);
    let ran = folder.run(&["merge", "part-1.csv", "part-2.csv"]);
    assert!(ran.status == Some(2) && ran.err.contains("part-2.csv"), "{}", ran.err);
}

/// The script is run as Slurm would run it: once for each number of the array.
#[cfg(unix)]
#[test]
fn the_script_for_slurm_does_all_parts() {
    let folder = with_analysis("merge-slurm");
    for command in [SWEEP, MAP] {
        let whole = folder.run(&[&command[..], &["--quiet"]].concat()).ok().out;
        let script = folder
            .run(&[&command[..], &["--out", "rows.csv", "--slurm", "3"]].concat())
            .ok()
            .out;
        assert!(
            script.starts_with("#!/bin/bash\n") && script.contains("#SBATCH --array=1-3"),
            "{script}"
        );
        folder.write("job.sh", &script);
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_stickslip"));
        let path = format!(
            "{}:{}",
            program.parent().unwrap().display(),
            std::env::var("PATH").unwrap()
        );
        for task in ["1", "2", "3"] {
            let ran = Command::new("bash")
                .arg(folder.path("job.sh"))
                .current_dir(folder.path("."))
                .env("PATH", &path)
                .env("SLURM_ARRAY_TASK_ID", task)
                .status();
            assert!(ran.unwrap().success());
        }
        assert_eq!(
            folder
                .run(&["merge", "rows-1.csv", "rows-2.csv", "rows-3.csv"])
                .ok()
                .out,
            whole
        );
        for task in 1..=3 {
            std::fs::remove_file(folder.path(&format!("rows-{task}.csv"))).unwrap();
        }
    }
}
