//! Where results go: second writers, links and permissions, pipes and devices, full disks, signals, and files that are read.

mod common;

use common::{BLOCK, Folder, Ran};
use std::process::Stdio;

const SWEEP: [&str; 6] = [
    "sweep",
    "block.toml",
    "--vary",
    "bodies.block.mass=lin:1:3:9",
    "--measure",
    "final.block.position",
];
/// A run that does not end by itself.
const ENDLESS: [&str; 7] = [
    "run",
    "block.toml",
    "--set",
    "simulation.duration=1e6",
    "--every",
    "200",
    "--out",
];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

/// The columns of a trace in JSON, which all have as many values.
fn columns(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let columns = value.as_object().unwrap().iter().map(|(name, values)| {
        let values = values.as_array().unwrap().iter();
        (name.clone(), values.map(|value| value.as_f64().unwrap()).collect())
    });
    columns.unzip()
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let folder = Folder::with_block("lock");
    let mut first = folder
        .command(&with(&ENDLESS, &["a.csv"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    folder.wait_for("a.csv.part");
    let busy = ["another run is writing a.csv", "wait until it has ended"];
    folder.run(&["run", "block.toml", "--out", "a.csv"]).fails(2, &busy);
    folder.run(&with(&SWEEP, &["--out", "a.csv"])).fails(2, &busy);
    folder
        .run(&with(&SWEEP, &["--out", "a.csv", "--resume"]))
        .fails(2, &busy);
    // By another name too.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.csv", folder.path("link.csv")).unwrap();
        folder
            .run(&["run", "block.toml", "--out", "link.csv"])
            .fails(2, &["another run is writing link.csv"]);
        std::fs::remove_file(folder.path("link.csv")).unwrap();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock went with the process, and what it left is used again.
    assert_eq!(folder.names(), ["a.csv.part", "block.toml"]);
    folder.run(&["run", "block.toml", "--out", "a.csv", "--quiet"]).ok();
    assert_eq!(folder.read("a.csv").lines().count(), 4002);
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

#[test]
fn two_sweeps_into_one_file_do_not_mix() {
    let folder = Folder::with_block("two-sweeps");
    let sweep = |speed: &'static str| {
        let mut sweep = with(&SWEEP, &["--set", speed, "--set", "simulation.duration=200", "--quiet"]);
        sweep[5] = "final.block.position,energy.dissipated";
        sweep
    };
    folder
        .run(&with(&sweep("bodies.block.velocity=2"), &["--out", "alone.csv"]))
        .ok();
    let first = folder
        .command(&with(&sweep("bodies.block.velocity=2"), &["--out", "a.csv"]))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    folder.wait_for("a.csv.part");
    folder
        .run(&with(&sweep("bodies.block.velocity=1"), &["--out", "a.csv"]))
        .fails(2, &["another run is writing a.csv"]);
    Ran::from(first.wait_with_output().unwrap()).ok();
    assert_eq!(folder.read("a.csv"), folder.read("alone.csv"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn mode(folder: &Folder, name: &str) -> u32 {
        fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn links_and_permissions_are_kept() {
        let folder = Folder::with_block("links");
        fs::create_dir(folder.path("deep")).unwrap();
        for (name, work) in [
            ("a.csv", &["run", "block.toml", "--quiet", "--out", "a.csv"][..]),
            ("a.json", &["run", "block.toml", "--quiet", "--out", "a.json"]),
            ("a.svg", &["run", "block.toml", "--quiet", "--plot", "a.svg"]),
            ("s.csv", &with(&SWEEP, &["--quiet", "--out", "s.csv"])),
        ] {
            // A file that is there, and one that is not.
            for old in [Some("old"), None] {
                let behind = format!("deep/{name}");
                let _ = (
                    fs::remove_file(folder.path(name)),
                    fs::remove_file(folder.path(&behind)),
                );
                if let Some(old) = old {
                    folder.write(&behind, old);
                    fs::set_permissions(folder.path(&behind), Permissions::from_mode(0o600)).unwrap();
                }
                symlink(&behind, folder.path(name)).unwrap();
                folder.run(work).ok();
                assert!(fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
                assert!(folder.read(&behind).len() > 100, "{name}");
                if old.is_some() {
                    assert_eq!(mode(&folder, &behind), 0o600, "{name}");
                }
            }
        }
        let mut names: Vec<_> = fs::read_dir(folder.path("deep"))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["a.csv", "a.json", "a.svg", "s.csv"]);
        // Another name of the same file keeps what it had.
        folder.write("b.csv", "old");
        fs::hard_link(folder.path("b.csv"), folder.path("other.csv")).unwrap();
        folder.run(&["run", "block.toml", "--quiet", "--out", "b.csv"]).ok();
        assert_eq!(folder.read("other.csv"), "old");
        assert!(folder.read("b.csv").starts_with("t,"));
    }

    #[test]
    fn a_read_only_file_is_refused() {
        let folder = Folder::with_block("read-only");
        for name in ["a.csv", "a.svg"] {
            folder.write(name, "old");
            fs::set_permissions(folder.path(name), Permissions::from_mode(0o444)).unwrap();
        }
        for work in [
            &["run", "block.toml", "--out", "a.csv"][..],
            &["run", "block.toml", "--plot", "a.svg"],
            &with(&SWEEP, &["--out", "a.csv"]),
            &with(&SWEEP, &["--out", "a.csv", "--resume"]),
        ] {
            folder.run(work).fails(2, &["cannot write a.", "read-only", "chmod"]);
        }
        assert_eq!(
            (folder.read("a.csv"), folder.read("a.svg")),
            ("old".into(), "old".into())
        );
        assert_eq!(folder.names(), ["a.csv", "a.svg", "block.toml"]);
    }

    #[test]
    fn pipes_and_devices_are_written_to_as_they_are() {
        let folder = Folder::with_block("streams");
        folder.run(&["run", "block.toml", "--quiet", "--out", "a.csv"]).ok();
        folder.run(&["run", "block.toml", "--quiet", "--out", "a.json"]).ok();
        folder.run(&with(&SWEEP, &["--quiet", "--out", "s.csv"])).ok();
        let (csv, json, rows) = (folder.read("a.csv"), folder.read("a.json"), folder.read("s.csv"));

        let ran = folder.run(&["run", "block.toml", "--out", "/dev/stdout"]).ok();
        assert_eq!(ran.out, csv);
        assert!(
            ran.err.contains("Block on a spring"),
            "words are not among the rows: {}",
            ran.err
        );
        assert_eq!(folder.run(&with(&SWEEP, &["--out", "/dev/stdout"])).ok().out, rows);
        // Standard output may be a file.
        let file = fs::File::create(folder.path("o.txt")).unwrap();
        let status = folder
            .command(&["run", "block.toml", "--quiet", "--out", "/dev/stdout"])
            .stdout(file)
            .status();
        assert!(status.unwrap().success());
        assert_eq!(folder.read("o.txt"), csv);

        for (name, work, expected) in [
            ("p", &["run", "block.toml", "--quiet", "--out", "p"][..], &csv),
            ("p.json", &["run", "block.toml", "--quiet", "--out", "p.json"], &json),
            ("p.csv", &with(&SWEEP, &["--quiet", "--out", "p.csv"]), &rows),
        ] {
            assert!(
                Command::new("mkfifo")
                    .arg(folder.path(name))
                    .status()
                    .unwrap()
                    .success()
            );
            let path = folder.path(name);
            let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
            folder.run(work).ok();
            assert_eq!(reader.join().unwrap(), *expected, "{name}");
            assert!(fs::metadata(folder.path(name)).unwrap().file_type().is_fifo());
        }
        folder
            .run(&with(&SWEEP, &["--out", "p.csv", "--resume"]))
            .fails(2, &["p.csv is a pipe or a device", "leave out --resume"]);

        folder.run(&["run", "block.toml", "--quiet", "--out", "/dev/null"]).ok();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        if std::path::Path::new("/dev/full").exists() {
            for work in [
                &["run", "block.toml", "--out", "/dev/full"][..],
                &with(&SWEEP, &["--out", "/dev/full"]),
            ] {
                folder.run(work).fails(1, &["cannot write /dev/full"]);
            }
        }
        let names = [
            "a.csv",
            "a.json",
            "block.toml",
            "o.txt",
            "p",
            "p.csv",
            "p.json",
            "s.csv",
        ];
        assert_eq!(folder.names(), names);
    }

    #[test]
    fn a_trace_on_a_full_disk_is_whole_as_far_as_it_goes() {
        let folder = Folder::with_block("full");
        // So many rows that those of JSON do not wait in memory alone.
        let run = |name: &'static str| {
            [
                "run",
                "block.toml",
                "--quiet",
                "--set",
                "simulation.duration=70",
                "--out",
                name,
            ]
        };
        for name in ["whole.csv", "whole.json"] {
            folder.run(&run(name)).ok();
        }
        let (csv, json) = (folder.read("whole.csv"), folder.read("whole.json"));
        let (names, values) = columns(&json);
        for blocks in [3, 700, 3100] {
            let ran = folder.run_within(blocks, &run("a.csv"));
            ran.fails(1, &["cannot write a.csv", "a.csv holds the rows", "free some space"]);
            let rows = folder.read("a.csv");
            assert!(csv.starts_with(&rows) && rows.ends_with('\n') && rows.lines().count() > 5);
            // All but a row.
            assert!(rows.len() as u64 + 500 > 512 * blocks, "{}", rows.len());
            fs::remove_file(folder.path("a.csv")).unwrap();

            let ran = folder.run_within(blocks, &run("a.json"));
            ran.fails(1, &["cannot write a.json", "a.json holds the rows"]);
            let (kept, begin) = columns(&folder.read("a.json"));
            assert_eq!(kept, names);
            let rows = begin[0].len();
            assert!(
                rows > 2 && begin.iter().zip(&values).all(|(begin, all)| *begin == all[..rows]),
                "{rows}"
            );
            fs::remove_file(folder.path("a.json")).unwrap();
        }
        // With no room for a row nothing is left.
        folder.run_within(0, &run("a.csv")).fails(1, &["cannot write a.csv"]);
        folder.run_within(0, &run("a.json")).fails(1, &["cannot write a.json"]);
        assert_eq!(folder.names(), ["block.toml", "whole.csv", "whole.json"]);
    }

    #[test]
    fn signals_that_are_ignored_stay_so_and_others_end_the_run() {
        let folder = Folder::with_block("ignored");
        // As under nohup, and in the background of a script.
        for (first, deaf) in [
            ("trap '' HUP", "HUP"),
            ("trap '' INT", "INT"),
            ("trap '' HUP INT", "INT"),
        ] {
            let mut child = folder
                .after(first, &with(&ENDLESS, &["a.csv"]))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            folder.wait_for("a.csv.part");
            common::signal(&child, deaf);
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none(), "{deaf} was ignored");
            common::signal(&child, "TERM");
            let ran = Ran::from(child.wait_with_output().unwrap());
            ran.fails(1, &["stopped at t = "]);
            assert!(folder.read("a.csv").ends_with('\n'));
            fs::remove_file(folder.path("a.csv")).unwrap();
        }
    }

    #[test]
    fn every_asking_signal_leaves_a_file_that_can_be_read() {
        let folder = Folder::with_block("asked");
        for signal in ["INT", "TERM", "HUP"] {
            let child = folder
                .command(&with(&ENDLESS, &["a.json"]))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // The part is there from the start and has nothing in it; the handler comes right after it.
            while !folder.path("a.json.part").exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(300));
            let begin = Instant::now();
            common::signal(&child, signal);
            let ran = Ran::from(child.wait_with_output().unwrap());
            ran.fails(1, &["stopped at t = "]);
            assert!(begin.elapsed() < Duration::from_secs(20), "{signal}");
            let (_, values) = columns(&folder.read("a.json"));
            let rows = values[0].len();
            assert!(rows > 2 && values.iter().all(|column| column.len() == rows));
            assert_eq!(folder.names(), ["a.json", "block.toml"]);
            fs::remove_file(folder.path("a.json")).unwrap();
        }
    }

    /// Where there is no room for all, `run` and `check` say so before anything is built.
    #[test]
    #[cfg(target_os = "linux")]
    fn more_bodies_than_memory_are_refused() {
        let folder = Folder::new("memory");
        let simulation = "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-euler\"\n";
        let chain = "[chain]\ncount = 70000000\nbody = { mass = 1 }\nneighbour = { stiffness = 9 }\n\
                     drive = { stiffness = 1, velocity = 0.1 }\n[chain.friction]\nlaw = \"implicit\"\nkinetic = 1\n";
        let spheres = "[spheres]\ncount = 8000000\nspacing = 1\nbody = { mass = 1, shape = { sphere = 0.1 }, position = [0, 0, 0.1] }\n\
                       [spheres.contact]\nsurface = { plane = { normal = [0, 0, 1], offset = 0 } }\nnormal = { law = \"rigid\" }\n";
        folder.write("chain.toml", &format!("{simulation}{chain}"));
        folder.write("spheres.toml", &format!("{simulation}{spheres}"));
        // 16 bytes for a block.
        for (file, words) in [
            ("chain.toml", "a chain of 70000000 blocks needs 1.1 GB of memory, and "),
            ("spheres.toml", "8000000 spheres need "),
        ] {
            for command in ["run", "check"] {
                let ran = folder.after("ulimit -v 900000", &[command, file]).output().unwrap();
                Ran::from(ran).fails(2, &[words, " are free", "use fewer"]);
            }
        }
    }

    /// Work that cannot look at the flag, here because nobody takes its rows, is not waited for.
    #[test]
    fn a_signal_ends_work_that_is_stuck() {
        let folder = Folder::with_block("stuck");
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let many = [
            "--vary",
            "elements.floor.kinetic=lin:1:20:100000",
            "--set",
            "simulation.duration=0.01",
        ];
        let sweep = [
            &[
                "sweep",
                "block.toml",
                "--measure",
                "final.block.position",
                "--out",
                "pipe.csv",
            ][..],
            &many,
        ]
        .concat();
        for (arguments, words) in [
            (with(&ENDLESS, &["pipe.csv"]), "stopped while a row was written"),
            (sweep, "stopped"),
        ] {
            let child = folder
                .command(&arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn();
            let mut child = child.unwrap();
            // Opened, and then not read. The pipe is full long before a second has passed.
            let reader = fs::File::open(&pipe).unwrap();
            std::thread::sleep(Duration::from_secs(1));
            common::signal(&child, "INT");
            let begin = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begin.elapsed() > Duration::from_secs(20) {
                    child.kill().unwrap();
                    panic!("{arguments:?} does not end");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(reader);
            Ran::from(child.wait_with_output().unwrap()).fails(1, &[words]);
        }
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let folder = Folder::new("endless");
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::File::create(folder.path("holes.csv"))
            .unwrap()
            .set_len(1 << 34)
            .unwrap();
        folder.write("good.csv", "time,pull\n0,3\n1,5\n");
        for (csv, words) in [
            ("/dev/zero", &["/dev/zero", "not an ordinary file"][..]),
            ("/dev/stdin", &["/dev/stdin", "not an ordinary file"]),
            ("pipe.csv", &["pipe.csv", "not an ordinary file"]),
            (".", &["not an ordinary file"]),
            ("holes.csv", &["holes.csv", "larger than 512 MiB"]),
            ("good.csv", &[]),
        ] {
            let force = format!("force = {{ csv = \"{csv}\", column = \"pull\", time = \"time\" }}\n[bodies.hook]");
            folder.write("block.toml", &BLOCK.replace("[bodies.hook]", &force));
            for command in ["check", "run"] {
                let ran = folder.run(&[command, "block.toml"]);
                if words.is_empty() {
                    ran.ok()
                } else {
                    ran.fails(2, words)
                };
            }
        }
        folder
            .run(&["run", "/dev/zero"])
            .fails(2, &["cannot read `/dev/zero`", "larger than 64 MiB"]);
        // A pipe that ends is as good as a file.
        let mut child = folder
            .command(&["run", "/dev/stdin", "--quiet"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), BLOCK.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap()).ok();
    }
}

#[test]
fn more_threads_than_cores_are_no_harm() {
    let folder = Folder::with_block("threads");
    let one = folder.run(&with(&SWEEP, &["--threads", "1"])).ok().out;
    for many in ["1000", "65536", "99999999999"] {
        assert_eq!(folder.run(&with(&SWEEP, &["--threads", many])).ok().out, one);
        folder.run(&["run", "block.toml", "--quiet", "--threads", many]).ok();
    }
}

#[test]
fn a_trace_of_many_rows_is_the_same_in_json_as_in_csv() {
    let folder = Folder::with_block("many");
    for name in ["a.csv", "a.json"] {
        // More rows than wait in memory.
        folder
            .run(&[
                "run",
                "block.toml",
                "--quiet",
                "--set",
                "simulation.duration=110",
                "--out",
                name,
            ])
            .ok();
    }
    let (names, values) = columns(&folder.read("a.json"));
    let csv = folder.read("a.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next().unwrap(), names.join(","));
    let mut rows = 0;
    for (i, line) in lines.enumerate() {
        let row: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        assert!(
            row.iter().zip(&values).all(|(value, column)| column[i] == *value),
            "row {i}"
        );
        rows += 1;
    }
    assert_eq!(rows, values[0].len());
    assert_eq!(rows, 110_001);
}
