//! `stickslip run`: results, files, exit status.

mod common;

use common::{BLOCK, Folder};
use std::process::Stdio;

fn rows(csv: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().iter().map(String::from).collect();
    let rows = reader
        .records()
        .map(|r| r.unwrap().iter().map(|x| x.parse().unwrap()).collect())
        .collect();
    (header, rows)
}

#[test]
fn the_summary_says_what_happened() {
    let folder = Folder::with_block("summary");
    let ran = folder.run(&["run", "block.toml"]).ok();
    // The block sticks for good at 2.022 s (science page, Fig 8 P).
    for word in [
        "Block on a spring",
        "implicit-euler, 4000 steps of 1 ms to t = 4 s",
        "stick since 2.022 s",
        "10 N",
    ] {
        assert!(ran.out.contains(word), "no {word:?} in:\n{}", ran.out);
    }
    assert_eq!(ran.err, "");
    assert_eq!(folder.names(), ["block.toml"]);
    let quiet = folder.run(&["run", "block.toml", "--quiet"]).ok();
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn the_report_is_json_and_nothing_else() {
    let folder = Folder::with_block("report");
    let ran = folder.run(&["run", "block.toml", "--json"]).ok();
    assert_eq!(ran.err, "");
    let report = ran.json();
    for key in [
        "title",
        "version",
        "integrator",
        "step",
        "steps",
        "t_end",
        "seconds",
        "final",
        "events",
        "events_total",
        "elements",
        "energy",
        "stick_slip",
        "warnings",
    ] {
        assert!(report.get(key).is_some(), "no {key}");
    }
    assert_eq!(report["steps"], 4000);
    assert_eq!(report["final"]["hook.position"], 4.0);
    assert_eq!(report["stick_slip"], serde_json::Value::Null);
    assert_eq!(report["events"][0]["element"], "floor");
}

#[test]
fn csv_and_json_hold_the_same_doubles_as_the_report() {
    let folder = Folder::with_block("formats");
    let report = folder
        .run(&["run", "block.toml", "--json", "--out", "a.csv"])
        .ok()
        .json();
    folder.run(&["run", "block.toml", "--quiet", "--out", "a.json"]).ok();
    let (header, rows) = rows(&folder.read("a.csv"));
    assert_eq!(
        header,
        [
            "t",
            "block.position",
            "block.velocity",
            "hook.position",
            "hook.velocity",
            "spring.force",
            "floor.force",
            "floor.mode"
        ]
    );
    assert_eq!(rows.len(), 4001);
    for (name, value) in header.iter().zip(rows.last().unwrap()) {
        assert_eq!(
            report["final"][name].as_f64().unwrap().to_bits(),
            value.to_bits(),
            "{name}"
        );
    }
    // Times are the doubles nearest to the decimals.
    assert_eq!(rows[1234][0], 1.234);
    let trace: serde_json::Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    for (column, name) in header.iter().enumerate() {
        let values = trace[name].as_array().unwrap();
        assert_eq!(values.len(), rows.len());
        for (value, row) in values.iter().zip(&rows) {
            // The reader of serde_json may be off by one unit in the last place.
            let value: f64 = value.to_string().parse().unwrap();
            assert!(
                (value - row[column]).abs() <= 2.0 * f64::EPSILON * row[column].abs(),
                "{name}"
            );
        }
    }
}

#[test]
fn a_run_that_explodes_ends_with_status_1() {
    let folder = Folder::new("explodes");
    // omega*T = 3, beyond the 2*sqrt(2) of RK4 on an undamped oscillator: finite at the end, and absurd.
    folder.write(
        "block.toml",
        "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"rk4\"\n[bodies.block]\nkind = \"mass\"\nmass = 1\nposition = 0.01\n\
         [elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 90000\n",
    );
    let ran = folder.run(&["run", "block.toml", "--quiet"]);
    ran.fails(1, &["diverged", "block.velocity", "step well below 0.01 s"]);
    // The report is printed all the same, and says it.
    let ran = folder.run(&["run", "block.toml", "--json"]);
    assert!(ran.out.contains("diverged before t = 0."), "{}", ran.out);
}

#[test]
fn one_rule_of_divergence_for_all_commands() {
    let folder = Folder::new("one-rule");
    // Explicit Euler on a spring from a driver that stands still: the energy grows by 1 + T²·k/m = 17 a step.
    folder.write(
        "block.toml",
        "[simulation]\nduration = 0.8\nstep = 0.02\nintegrator = \"euler\"\n[bodies.block]\nkind = \"mass\"\nmass = 0.5\n\
         [bodies.hook]\nkind = \"driver\"\nposition = 0.1\n\
         [elements.s]\nkind = \"spring\"\nbetween = [\"block\", \"hook\"]\nstiffness = 2e4\n\
         [elements.f]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"proxy\"\nkinetic = 0.1\n",
    );
    folder
        .run(&["run", "block.toml"])
        .fails(1, &["diverged", "block.velocity", "help: "]);
    folder
        .run(&["compare", "block.toml", "--element", "f", "--laws", "proxy"])
        .fails(1, &["diverged", "under \"proxy\""]);
    let vary = [
        "sweep",
        "block.toml",
        "--vary",
        "elements.s.stiffness=list:1,2e4",
        "--measure",
    ];
    for measure in ["final.block.position", "energy.final"] {
        let ran = folder.run(&[&vary[..], &[measure]].concat()).ok();
        let lines: Vec<&str> = ran.out.lines().collect();
        assert!(
            lines[1].ends_with(",ok") && lines[2].contains("diverged"),
            "{}",
            ran.out
        );
    }
}

#[test]
fn the_ledger_speaks() {
    let folder = Folder::new("ledger");
    // Explicit Euler: the energy of the spring grows by e^(n·T²·k/m) = e^0.5.
    folder.write(
        "spring.toml",
        "[simulation]\nduration = 5\nstep = 1e-3\nintegrator = \"euler\"\n[bodies.m]\nkind = \"mass\"\nmass = 2\nvelocity = 1\n\
         [elements.coil]\nkind = \"spring\"\nbetween = [\"m\", \"ground\"]\nstiffness = 200\n",
    );
    let ran = folder.run(&["run", "spring.toml", "--quiet"]).ok();
    assert!(ran.err.contains("\"coil\""), "{}", ran.err);
    let report = folder.run(&["run", "spring.toml", "--json"]).ok().json();
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.as_str().unwrap().contains("\"coil\"")),
        "{warnings:?}"
    );
    let vary = [
        "sweep",
        "spring.toml",
        "--vary",
        "elements.coil.stiffness=list:1,200,210",
        "--quiet",
        "--measure",
        "energy.final",
    ];
    let ran = folder.run(&vary).ok();
    assert!(
        ran.err.contains("(2 of 3 runs, with the numbers of the first)") && ran.err.contains("\"coil\""),
        "{}",
        ran.err
    );
    assert!(ran.out.lines().skip(1).all(|line| line.ends_with(",ok")), "{}", ran.out);
}

#[test]
fn every_keeps_first_and_last_row() {
    let folder = Folder::with_block("every");
    for (every, times) in [
        ("1500", vec![0.0, 1.5, 3.0, 4.0]),
        ("2000", vec![0.0, 2.0, 4.0]),
        ("9999", vec![0.0, 4.0]),
    ] {
        folder
            .run(&["run", "block.toml", "--quiet", "--every", every, "--out", "a.csv"])
            .ok();
        let (_, rows) = rows(&folder.read("a.csv"));
        assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), times);
    }
    folder
        .run(&["run", "block.toml", "--every", "0"])
        .fails(2, &["--every"]);
}

#[test]
fn a_stretch_of_time_is_drawn() {
    let folder = Folder::with_block("window");
    let draw = |from: &str, until: &str| {
        let arguments = [
            "run",
            "block.toml",
            "--quiet",
            "--plot",
            "a.svg",
            "--from",
            from,
            "--until",
            until,
        ];
        folder.run(&arguments)
    };
    draw("3", "3500 ms").ok();
    let svg = folder.read("a.svg");
    assert!(
        svg.contains(">3.1<") && svg.contains(">3.4<") && !svg.contains(">1.5<"),
        "{svg}"
    );
    draw("9", "10").fails(2, &["nothing to draw", "the run lasts 4 s"]);
    draw("2", "1").fails(2, &["nothing to draw"]);
    draw("1 kg", "4").fails(2, &["write a time"]);
    folder.run(&["run", "block.toml", "--from", "1"]).fails(2, &["--plot"]);
}

#[test]
fn output_columns_select() {
    let folder = Folder::new("columns");
    folder.write(
        "block.toml",
        &format!("{BLOCK}[output]\ncolumns = [\"floor.force\", \"block.position\"]\n"),
    );
    folder.run(&["run", "block.toml", "--quiet", "--out", "a.csv"]).ok();
    assert!(folder.read("a.csv").starts_with("t,floor.force,block.position\n0.0,"));
    folder.write("bad.toml", &format!("{BLOCK}[output]\ncolumns = [\"block.positon\"]\n"));
    folder
        .run(&["run", "bad.toml"])
        .fails(2, &["block.positon", "did you mean \"block.position\"", "bad.toml:"]);
    folder.write(
        "signal.toml",
        &format!("{BLOCK}[analysis]\nstick_slip = {{ signal = \"flor.force\" }}\n"),
    );
    folder
        .run(&["run", "signal.toml"])
        .fails(2, &["flor.force", "did you mean `floor.force`"]);
}

#[test]
fn pictures_are_written_in_both_formats() {
    let folder = Folder::with_block("pictures");
    folder.run(&["run", "block.toml", "--quiet", "--plot", "a.svg"]).ok();
    folder.run(&["run", "block.toml", "--quiet", "--plot", "a.png"]).ok();
    let svg = folder.read("a.svg");
    for label in ["velocity (m/s)", "force (N)", "position (m)", "Block on a spring"] {
        assert!(svg.contains(label), "no {label:?}");
    }
    assert!(std::fs::read(folder.path("a.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(folder.names(), ["a.png", "a.svg", "block.toml"]);
}

#[test]
fn wrong_input_is_refused_before_any_work() {
    let folder = Folder::with_block("wrong");
    for (arguments, words) in [
        (
            &["run", "blok.toml"][..],
            &["there is no file `blok.toml`", "block.toml"][..],
        ),
        (&["run", "."], &["is a folder"]),
        (
            &["run", "block.toml", "--out", "a.xlsx"],
            &["a.xlsx", ".csv, .json or .parquet"],
        ),
        (&["run", "block.toml", "--out", "a"], &[".csv, .json or .parquet"]),
        (&["run", "block.toml", "--plot", "a.pdf"], &["a.pdf", ".svg or .png"]),
        (
            &["run", "block.toml", "--set", "elements.floor.law=lugree"],
            &["lugre", "on the command line"],
        ),
        (
            &["run", "block.toml", "--set", "bodies.block.mass=-1"],
            &["greater than 0"],
        ),
        (&["run", "block.toml", "--set", "bodies.blok.mass=1"], &["blok"]),
        (&["run", "block.toml", "--set", "simulation.step=5"], &["step"]),
        (&["run", "block.toml", "--bogus"], &["--bogus"]),
        (&["run"], &["<FILE>"]),
        (&["fly"], &["fly"]),
    ] {
        let ran = folder.run(arguments).fails(2, words);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
    assert_eq!(folder.names(), ["block.toml"]);
}

#[test]
fn a_diverging_run_keeps_its_trace_and_says_what_to_try() {
    let folder = Folder::with_block("diverged");
    let arguments = [
        "run",
        "block.toml",
        "--set",
        "elements.spring.stiffness=1e120",
        "--set",
        "elements.spring.implicit=false",
        "--out",
        "a.csv",
    ];
    let ran = folder.run(&arguments).fails(1, &["diverged", "help: "]);
    let (_, rows) = rows(&folder.read("a.csv"));
    assert!(rows.len() > 1 && rows.len() < 100, "{}", rows.len());
    assert!(rows.iter().flatten().all(|value| value.is_finite()));
    assert!(ran.out.is_empty(), "numbers of a run that went astray: {}", ran.out);
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
    let report = folder.run(&[&arguments[..], &["--json"]].concat()).fails(1, &[]).json();
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.as_str().unwrap().contains("diverged"))
    );
}

#[test]
fn an_existing_file_is_replaced_whole_or_not_at_all() {
    let folder = Folder::with_block("atomic");
    folder.write("a.csv", "precious\n");
    // The trace does not fit: what does is beside the file.
    #[cfg(unix)]
    {
        let ran = folder.run_within(1, &["run", "block.toml", "--out", "a.csv"]);
        ran.fails(1, &["cannot write a.csv", "a.csv.part holds the rows"]);
        assert_eq!(folder.read("a.csv"), "precious\n");
        assert_eq!(folder.names(), ["a.csv", "a.csv.part", "block.toml"]);
    }
    folder.run(&["run", "block.toml", "--quiet", "--out", "a.csv"]).ok();
    assert!(folder.read("a.csv").starts_with("t,"));
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = Folder::with_block("unwritable");
    std::fs::create_dir(folder.path("taken.csv")).unwrap();
    for arguments in [
        ["run", "block.toml", "--out", "nowhere/a.csv"],
        ["run", "block.toml", "--out", "taken.csv"],
        ["run", "block.toml", "--out", "block.toml/a.json"],
        ["run", "block.toml", "--plot", "nowhere/a.svg"],
    ] {
        folder.run(&arguments).fails(2, &["cannot write", arguments[3]]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::with_block("pipe");
    for arguments in [
        &["run", "block.toml", "--json"][..],
        &["schema"],
        &["laws"],
        &["--help"],
        &["completions", "bash"],
    ] {
        let mut child = folder
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_complete_file() {
    let folder = Folder::with_block("interrupt");
    let child = folder
        .command(&[
            "run",
            "block.toml",
            "--set",
            "simulation.duration=1e6",
            "--every",
            "1000",
            "--out",
            "a.csv",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    folder.wait_for("a.csv.part");
    common::signal(&child, "INT");
    let ran = common::Ran::from(child.wait_with_output().unwrap()).fails(1, &["stopped at t = "]);
    assert!(ran.out.contains("Block on a spring"));
    let text = folder.read("a.csv");
    assert!(text.ends_with('\n'));
    let (header, rows) = rows(&text);
    assert!(rows.iter().all(|row| row.len() == header.len()));
    assert_eq!(folder.names(), ["a.csv", "block.toml"]);
}

/// What cannot be analysed has its trace all the same, and a reason.
#[test]
fn an_analysis_that_cannot_be_made_is_a_reason_and_no_failure() {
    let folder = Folder::new("reason");
    folder.write(
        "belt.toml",
        "[simulation]\nduration = 0.5\nstep = 0.01\nintegrator = \"rk4\"\n[bodies.belt]\nkind = \"driver\"\nvelocity = 0.4\n\
         [bodies.cart]\nkind = \"mass\"\nmass = 3\nvelocity = 0.2\n[analysis]\nstick_slip = { signal = \"cart.velocity\" }\n",
    );
    let ran = folder.run(&["run", "belt.toml", "--out", "belt.csv"]).ok();
    let reason = "linear stability of steady sliding is not known: nothing rubs";
    assert!(ran.out.contains(reason), "{}", ran.out);
    assert_eq!(folder.read("belt.csv").lines().count(), 52);
    let found = folder.run(&["run", "belt.toml", "--json"]).ok().json()["stick_slip"].clone();
    assert_eq!(found["linear_growth"], serde_json::Value::Null);
    assert_eq!(found["linear_reason"], "nothing rubs");
    // 1 % of 0.2 m/s, which does not change.
    assert_eq!((&found["stable"], &found["threshold"]), (&true.into(), &0.002.into()));
    let advice = folder.run(&["check", "belt.toml", "--json"]).ok().json();
    assert_eq!(advice["linear_reason"], "nothing rubs");
    let told = folder.run(&["check", "belt.toml"]).ok().out;
    assert!(
        told.contains("its linear stability is not known: nothing rubs"),
        "{told}"
    );
}

/// What is stable does not depend on the unit of the signal, and a cycle has only the classes that its law can have.
#[test]
fn the_threshold_follows_the_signal_and_classes_the_law() {
    let folder = Folder::with_block("threshold");
    let drag = [
        "simulation.duration=20",
        "bodies.hook.velocity=0.5",
        "elements.spring.stiffness=9",
    ];
    let found = |more: &[&str]| {
        let mut arguments = vec!["run", "block.toml", "--json"];
        for set in drag.iter().chain(more) {
            arguments.extend(["--set", set]);
        }
        folder.run(&arguments).ok().json()["stick_slip"].clone()
    };
    let analysis =
        |scale: &str| format!("analysis.stick_slip={{ signal = \"floor.force\", from = 9, scale = {scale} }}");
    for (scale, limit) in [("1", 10.0), ("1e6", 1e-5), ("1e-6", 1e7)] {
        // Sliding with 10 N after the start: steady. With 13 N at rest the block sticks and slips.
        let steady = found(&[&analysis(scale), "elements.floor.viscous=9"]);
        assert_eq!(steady["stable"], true, "{steady}");
        let size = steady["max"]
            .as_f64()
            .unwrap()
            .abs()
            .max(steady["min"].as_f64().unwrap().abs());
        assert_eq!(steady["threshold"].as_f64(), Some(0.01 * size));
        assert!(size >= limit, "{steady}");
        let cycle = found(&[&analysis(scale), "elements.floor.static=13"]);
        assert_eq!(cycle["stable"], false, "{cycle}");
        assert!(cycle["cycles"].as_u64() > Some(0), "{cycle}");
        assert_ne!(cycle["region"], "creep", "{cycle}");
    }
    let given = analysis("1").replace('}', ", threshold = 0.25 }");
    assert_eq!(found(&[&given])["threshold"], 0.25);
}
