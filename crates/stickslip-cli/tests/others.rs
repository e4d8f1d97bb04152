//! The other commands: check, compare, laws, new, schema, completions.

mod common;

use common::{BLOCK, Folder};

/// Every scenario of the repository can be checked: chains, spheres, rigs without a free body, equations.
#[test]
fn check_takes_every_scenario() {
    let folder = Folder::with_block("check-all");
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut count = 0;
    for entry in std::fs::read_dir(scenarios).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            folder.run(&["check", path.to_str().unwrap()]).ok();
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn check_says_whether_frictions_hold() {
    let folder = Folder::with_block("check");
    let ran = folder.run(&["check", "block.toml", "--json"]).ok();
    assert_eq!(ran.err, "");
    let advice = ran.json();
    let floor = &advice["frictions"][0];
    // Held at its start, the block feels 90 N/m times 4 m.
    assert!((floor["peak_load"].as_f64().unwrap() - 360.0).abs() < 0.5);
    assert!((floor["stick_margin"].as_f64().unwrap() + 35.0).abs() < 0.05);
    assert_eq!(advice["elements"][0]["implicit"], false);
    let text = folder.run(&["check", "block.toml"]).ok().out;
    for word in [
        "Bodies",
        "Elements",
        "stick margin",
        "taken at the start of the step",
        "No warnings.",
    ] {
        assert!(text.contains(word), "no {word:?} in:\n{text}");
    }
    folder
        .run(&["check", "block.toml", "--set", "elements.floor.law=nonsense"])
        .fails(2, &["nonsense"]);
    // A bristle of K = m(0.5/T)^2 under 10 N: 1 mm at 5 ms.
    let soft = [
        "check",
        "block.toml",
        "--set",
        "elements.floor.law=proxy",
        "--set",
        "simulation.step=0.005",
    ];
    let ran = folder.run(&soft).ok();
    assert!(
        ran.err
            .contains("warning: \"floor\" gives way elastically by 1.00e-3 m"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("Chosen for you"), "{}", ran.out);
}

#[test]
fn every_template_can_be_checked() {
    let folder = Folder::new("templates");
    let listed = folder.run(&["new"]).ok().out;
    for line in listed.lines() {
        let name = line.split_whitespace().next().unwrap();
        let file = format!("{name}.toml");
        folder.run(&["new", name, &file]).ok();
        assert_eq!(folder.run(&["new", name]).ok().out, folder.read(&file));
        folder.run(&["check", &file]).ok();
        let report = folder.run(&["run", &file, "--json"]).ok().json();
        assert!(report["steps"].as_u64().unwrap() > 0);
    }
}

#[test]
fn new_overwrites_nothing() {
    let folder = Folder::new("new");
    folder.write("mine.toml", "precious\n");
    folder
        .run(&["new", "block", "mine.toml"])
        .fails(2, &["mine.toml exists already"]);
    assert_eq!(folder.read("mine.toml"), "precious\n");
    folder
        .run(&["new", "blok"])
        .fails(2, &["did you mean \"block\"", "sphere"]);
    folder
        .run(&["new", "block", "nowhere/a.toml"])
        .fails(2, &["cannot write"]);
}

#[test]
fn compare_shows_who_rests_and_who_creeps() {
    let folder = Folder::with_block("compare");
    let arguments = [
        "compare",
        "block.toml",
        "--element",
        "floor",
        "--laws",
        "implicit,martins-oden,karnopp:epsilon=1e-4,relaxed",
    ];
    let table = folder.run(&[&arguments[..], &["--json"]].concat()).ok().json();
    let row = |name: &str| {
        let rows = table["laws"].as_array().unwrap();
        rows.iter()
            .find(|row| row["law"] == name)
            .unwrap_or_else(|| panic!("{name}"))
            .clone()
    };
    // Exact stick from 2.022 s on (science page, Fig 8 P).
    let implicit = row("implicit");
    assert!((implicit["rest"].as_f64().unwrap() - 2.021).abs() < 1.5e-3);
    assert_eq!(implicit["residual_velocity"], 0.0);
    assert_eq!(implicit["drift"], 0.0);
    assert_eq!(implicit["integrator"], "implicit-euler");
    // Viscosity in place of dry friction: epsilon = T F/M = 0.01 m/s, a creep of about f/F*epsilon.
    let creeping = row("martins-oden");
    assert_eq!(creeping["chosen"][0]["key"], "elements.floor.epsilon");
    assert_eq!(creeping["chosen"][0]["value"], 0.01);
    assert_eq!(creeping["rest"], serde_json::Value::Null);
    assert!(creeping["drift"].as_f64().unwrap() > 1e-3);
    assert_eq!(row("karnopp:epsilon=1e-4")["chosen"].as_array().unwrap().len(), 0);
    let text = folder.run(&[&arguments[..], &["--plot", "laws.svg"]].concat()).ok();
    assert_eq!(
        text.out.lines().filter(|line| line.contains("implicit-euler")).count(),
        4,
        "{}",
        text.out
    );
    let svg = folder.read("laws.svg");
    for word in ["martins-oden", "friction force (N)", "slip (m)"] {
        assert!(svg.contains(word), "no {word:?}");
    }
}

/// A block drawn at speed V over static 15 N and kinetic 10 N: with z = (Fs − Fk)/k it sticks for 2z/V and slips for 2(π − atan(zω/V))/ω, between
/// forces 2k√(z² + V²/ω²) apart. Whatever the phase at the end, it never rests.
#[test]
fn compare_measures_the_cycle_and_takes_no_pause_for_rest() {
    let folder = Folder::new("compare-cycle");
    let text = BLOCK.replace("\"if(t <= 2, 2, 0)\"", "\"0.3 m/s\"").replace(
        "kinetic = \"10 N\"",
        "kinetic = \"10 N\"\nstatic = \"15 N\"\n[analysis]\nstick_slip = { signal = \"spring.force\", from = 1 }",
    );
    folder.write("block.toml", &text);
    let (omega, z, v) = (90f64.sqrt(), 5.0 / 90.0, 0.3);
    let period = 2.0 * z / v + 2.0 * (std::f64::consts::PI - (z * omega / v).atan()) / omega;
    let amplitude = 2.0 * 90.0 * (z * z + v * v / (omega * omega)).sqrt();
    let arguments = [
        "compare",
        "block.toml",
        "--element",
        "floor",
        "--laws",
        "implicit,karnopp:epsilon=5e-3",
    ];
    for k in 0..5 {
        let duration = format!("simulation.duration={:.3}", 6.0 + 0.2 * f64::from(k) * period);
        let table = folder
            .run(&[&arguments[..], &["--json", "--set", &duration]].concat())
            .ok()
            .json();
        for row in table["laws"].as_array().unwrap() {
            assert_eq!(row["rest"], serde_json::Value::Null, "{duration}: {row}");
            assert_eq!(row["stick_slip"]["stable"], false);
        }
        let found = &table["laws"][0]["stick_slip"];
        for (key, expected) in [("period", period), ("amplitude", amplitude)] {
            let found = found[key].as_f64().unwrap();
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{key}: {found} in place of {expected}"
            );
        }
    }
    let ran = folder.run(&arguments).ok();
    for word in ["amplitude", "period", "region", "never"] {
        assert!(ran.out.contains(word), "no {word:?}: {}", ran.out);
    }
    let plot = |window: &[&str]| folder.run(&[&arguments[..], &["--plot", "cycle.svg"], window].concat());
    plot(&["--from", "3", "--until", "3.5 s"]).ok();
    // The legend stands once.
    assert_eq!(folder.read("cycle.svg").matches(">karnopp:epsilon=5e-3<").count(), 1);
    plot(&["--from", "70"]).fails(2, &["nothing to draw", "lasts 4 s"]);
}

/// What `run` warns of under a law, `compare` says with the law.
#[test]
fn compare_says_what_runs_warn_of() {
    let folder = Folder::with_block("compare-warns");
    let laws = [
        "compare",
        "block.toml",
        "--element",
        "floor",
        "--laws",
        "implicit,karnopp:epsilon=2e-4",
    ];
    let ran = folder.run(&laws).ok();
    assert!(
        ran.err.contains("epsilon = 0.0002 m/s is too small for the step")
            && ran.err.contains("(under karnopp:epsilon=2e-4)"),
        "{}",
        ran.err
    );
    let table = folder.run(&[&laws[..], &["--json"]].concat()).ok().json();
    assert_eq!(table["laws"][0]["warnings"].as_array().unwrap().len(), 0);
    assert!(table["laws"][1]["warnings"][0].as_str().unwrap().contains("epsilon"));
    // What is wrong with the file is said once, with its place.
    let ran = folder
        .run(&[&laws[..], &["--set", "simulation.duration=3.0004"]].concat())
        .ok();
    assert_eq!(ran.err.matches("whole number of steps").count(), 1, "{}", ran.err);
}

#[test]
fn compare_changes_the_integrator_where_a_law_needs_another() {
    let folder = Folder::new("integrators");
    let text = BLOCK
        .replace("\"implicit-euler\"", "\"rk4\"")
        .replace("\"implicit\"", "\"proxy\"\nstiffness = 1e5\ndamping = 300");
    folder.write("block.toml", &text);
    let table = folder
        .run(&[
            "compare",
            "block.toml",
            "--element",
            "floor",
            "--laws",
            "proxy,implicit",
            "--json",
        ])
        .ok()
        .json();
    assert_eq!(table["laws"][0]["integrator"], "rk4");
    assert_eq!(table["laws"][1]["integrator"], "implicit-euler");
}

#[test]
fn compare_names_what_is_wrong() {
    let folder = Folder::with_block("compare-wrong");
    let with = |element: &str, laws: &str| folder.run(&["compare", "block.toml", "--element", element, "--laws", laws]);
    with("flor", "implicit").fails(2, &["there is no element \"flor\"", "did you mean \"floor\""]);
    with("spring", "implicit").fails(2, &["has no friction law", "floor", "block.toml:"]);
    with("floor", "implict").fails(2, &["did you mean \"implicit\""]);
    with("floor", "karnopp:epsilon").fails(2, &["KEY=VALUE"]);
    with("floor", "karnopp:epsilon=-1").fails(2, &["epsilon"]);
    with("floor", "implicit:epsilon=1").fails(2, &["epsilon"]);
    // In the file a Stribeck velocity would go to every law, and subloading refuses it.
    let more = "--set=elements.floor.static=12";
    let run = |laws: &str| folder.run(&["compare", "block.toml", "--element", "floor", more, "--laws", laws]);
    run("implicit,lugre").fails(
        2,
        &["needs a Stribeck velocity", "--laws lugre:stribeck_velocity=0.001"],
    );
    run("implicit,lugre:stribeck_velocity=0.001").ok();
}

#[test]
fn laws_are_listed_and_explained() {
    let folder = Folder::new("laws");
    let list = folder.run(&["laws", "--json"]).ok().json();
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|law| law["name"].as_str().unwrap())
        .collect();
    for name in [
        "implicit",
        "karnopp",
        "quinn",
        "martins-oden",
        "proxy",
        "relaxed",
        "dahl",
        "lugre",
    ] {
        assert!(names.contains(&name), "no {name}");
    }
    let text = folder.run(&["laws"]).ok().out;
    assert!(names.iter().all(|name| text.contains(name)));
    for name in names {
        let explained = folder.run(&["laws", name]).ok().out;
        for word in ["equation", "source", "integrators", "Promises"] {
            assert!(explained.contains(word), "no {word:?} in the page of {name}");
        }
        folder.run(&["laws", name, "--json"]).ok().json();
    }
    folder.run(&["laws", "lugree"]).fails(2, &["did you mean \"lugre\""]);
}

#[test]
fn schema_and_completions() {
    let folder = Folder::new("schema");
    let schema = folder.run(&["schema"]).ok().json();
    assert!(schema["properties"]["simulation"].is_object());
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.run(&["completions", shell]).ok().out.contains("stickslip"));
    }
    folder.run(&["completions", "tcsh"]).fails(2, &["tcsh", "bash"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = Folder::new("help");
    let main = folder.run(&["--help"]).ok().out;
    for command in [
        "run",
        "check",
        "compare",
        "sweep",
        "map",
        "experiment",
        "analyse",
        "laws",
        "new",
        "schema",
        "completions",
    ] {
        assert!(main.contains(command));
        for flag in ["-h", "--help"] {
            let help = folder.run(&[command, flag]).ok().out;
            assert!(
                help.contains("Example") && help.contains(&format!("stickslip {command}")),
                "{help}"
            );
        }
    }
    assert!(folder.run(&["--version"]).ok().out.starts_with("stickslip 0."));
}

/// Neither time nor memory of a check depends on how many blocks there are.
#[test]
#[cfg(target_os = "linux")]
fn very_many_blocks_are_checked_and_not_built() {
    let folder = Folder::new("crowds");
    folder.write(
        "chain.toml",
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-euler\"\n[chain]\ncount = 90000000\n\
         body = { mass = 1 }\nneighbour = { stiffness = 100 }\ndrive = { stiffness = 10, velocity = 0.1 }\n\
         friction = { law = \"implicit\", kinetic = 1 }\n",
    );
    let limited = |limit: &str, command: &str| {
        let program = env!("CARGO_BIN_EXE_stickslip");
        let line = format!("ulimit {limit}; exec {program} {command} chain.toml --json");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path("")).output().unwrap()
    };
    // Data may take less than the blocks would; that is known only once they are asked for.
    let checked = limited("-d 300000", "check");
    let advice: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(advice["chain"]["blocks"], 90_000_000);
    let bytes = advice["estimate"]["memory_bytes"].as_f64().unwrap();
    assert!((1.44e9..2e9).contains(&bytes), "{bytes}");
    for (limit, command, said) in [
        ("-d 300000", "run", "not enough memory for 90000000 blocks"),
        (
            "-v 1000000",
            "run",
            "a chain of 90000000 blocks needs 1.4 GB of memory, and",
        ),
        (
            "-v 1000000",
            "check",
            "a chain of 90000000 blocks needs 1.4 GB of memory, and",
        ),
    ] {
        let ran = limited(limit, command);
        let words = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{words}");
        assert!(words.contains(said), "{words}");
    }
}

#[test]
fn check_estimates_the_run() {
    let folder = Folder::with_block("estimate");
    let estimate = folder.run(&["check", "block.toml", "--json"]).ok().json()["estimate"].clone();
    assert_eq!(estimate["rows"], 4001);
    assert!(estimate["seconds"].as_f64().unwrap() > 0.0);
    let report = folder.run(&["run", "block.toml", "--out", "block.csv", "--json"]).ok();
    drop(report);
    let written = folder.read("block.csv").len() as f64;
    let expected = estimate["trace_bytes"].as_f64().unwrap();
    assert!(
        (0.3..3.0).contains(&(expected / written)),
        "{expected} against {written}"
    );
}

#[test]
fn words_of_the_command_line_are_suggested() {
    let folder = Folder::with_block("words");
    folder
        .run(&["rnu", "block.toml"])
        .fails(2, &["there is no command \"rnu\"", "did you mean \"run\"?"]);
    folder.run(&["experimnet"]).fails(2, &["did you mean \"experiment\"?"]);
    folder
        .run(&["experiment", "preslidin", "--law", "lugre"])
        .fails(2, &["did you mean \"presliding\"?"]);
    folder.run(&["experiment", "presliding", "--law", "coulomb"]).fails(
        2,
        &["there is no friction law \"coulomb\"", "did you mean \"implicit\"?"],
    );
    folder
        .run(&["check", "block.toml", "--set", "elements.floor.law=dry"])
        .fails(2, &["did you mean \"implicit\"?", "--set elements.floor.law=dry"]);
    folder
        .run(&["check", "block.toml", "--set", "simulation.integrator=ode45"])
        .fails(2, &["did you mean \"adaptive\"?"]);
}

/// Terminal controls in a title, a name or an argument are shown, not obeyed.
#[test]
fn control_characters_are_escaped() {
    let folder = Folder::with_block("controls");
    let text = folder
        .read("block.toml")
        .replacen("title = \"", "title = \"\\u001b[2Jgone ", 1);
    folder.write("clear.toml", &text);
    for command in ["check", "run"] {
        let ran = folder.run(&[command, "clear.toml"]).ok();
        assert!(ran.out.contains("\\u{1b}[2Jgone"), "{}", ran.out);
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'));
    }
    let text = folder
        .read("block.toml")
        .replace("[bodies.hook]", "[bodies.\"ho\\u001b[31mok\"]");
    folder.write("name.toml", &text);
    let ran = folder.run(&["check", "name.toml"]);
    assert!(!ran.err.contains('\u{1b}') && ran.err.contains("hook"), "{}", ran.err);
    let ran = folder.run(&["run", "block.toml", "--se\u{1b}[31mt"]);
    assert!(
        !ran.err.contains('\u{1b}') && ran.err.contains("unexpected argument"),
        "{}",
        ran.err
    );
    let ran = folder.run(&["check", "no\u{9b}such.toml"]);
    assert!(!ran.err.contains('\u{9b}'), "{}", ran.err);
}

/// What an argument causes is shown at the argument: the file is right.
#[test]
fn errors_point_at_the_argument_that_causes_them() {
    let folder = Folder::with_block("blame");
    let compare = |laws: &str| folder.run(&["compare", "block.toml", "--element", "floor", "--laws", laws]);
    let ran = compare("implicit,lugre:stiffnes=1e5").fails(2, &["stiffnes", "--laws implicit,lugre:stiffnes=1e5"]);
    assert!(!ran.err.contains("block.toml:"), "{}", ran.err);
    let ran = compare("lugre,lugre:stiffness=-5").fails(2, &["--laws lugre,lugre:stiffness=-5"]);
    // The marks stand below the number that is wrong.
    let line = |part: &str| ran.err.lines().find(|line| line.contains(part)).unwrap_or_default();
    assert_eq!(line("^").find("^^"), line("--laws lugre,").find("-5"), "{}", ran.err);
    compare("implicit,coulomb").fails(2, &["did you mean \"implicit\"?", "--laws implicit,coulomb"]);
    // Coefficients where the file has forces: the law cannot take the forces of the file.
    compare("subloading").fails(2, &["--laws subloading"]);
    let ran = folder
        .run(&["check", "block.toml", "--set", "elements.floor.law=subloading"])
        .fails(
            2,
            &["--set elements.floor.law=subloading", "right without this argument"],
        );
    assert!(!ran.err.contains("--> block.toml"), "{}", ran.err);
    // A file that is wrong by itself is shown.
    let wrong = folder.read("block.toml").replace("mass = \"1 kg\"", "mass = \"-1 kg\"");
    folder.write("wrong.toml", &wrong);
    folder
        .run(&["check", "wrong.toml", "--set", "elements.floor.kinetic=3"])
        .fails(2, &["--> wrong.toml:"]);
}

/// A name of any length and any number of names fit a screen.
#[test]
fn long_names_and_long_lists_are_cut() {
    let folder = Folder::new("long-names");
    let body = |name: &str| format!("[bodies.{name}]\nkind = \"mass\"\nmass = 1\n");
    let begin = "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"rk4\"\n";
    folder.write("long.toml", &format!("{begin}{}", body(&"n".repeat(5000))));
    let many: String = (0..2000).map(|i| body(&format!("body{i}"))).collect();
    folder.write("many.toml", &format!("{begin}{many}"));
    for file in ["long.toml", "many.toml"] {
        let ran = folder.run(&["run", file, "--set", "bodies.q.mass=2"]);
        let ran = ran.fails(2, &["there is no `bodies.q.mass`", "…"]);
        assert!(ran.err.len() < 2000, "{file}: {} bytes", ran.err.len());
    }
}
