//! `stickslip analyse` on records that another program made: `reference/friction_tests.py`, which knows the truth.

mod common;

use common::{Folder, Ran};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Records made by the script beside them.
fn reference(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name);
    path.to_str().unwrap().to_string()
}

/// The files of the set "hard", one test each.
const HARD: [&str; 12] = [
    "long-hold",
    "fast-sliding",
    "transition-0.1",
    "transition-1",
    "transition-10",
    "recovery-6.5",
    "recovery-26",
    "recovery-78",
    "recovery-260",
    "recovery-1300",
    "presliding",
    "cyclic",
];

/// Runs the command on files of the set "hard".
fn hard(folder: &Folder, names: &[&str], more: &[&str]) -> Ran {
    let files: Vec<String> = names
        .iter()
        .map(|name| reference(&format!("hard/{name}.csv")))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let fixed = ["--law", "subloading", "--normal-force", "50 N", "--unit", "x=mm"];
    folder.run(&[&["analyse"], &files[..], &fixed[..], more].concat())
}

/// Every parameter lies within three of its standard errors of the truth, and these are small.
#[track_caller]
fn recovered(report: &Value, truth: &[(&str, f64, f64)]) {
    let mut squares = 0.0;
    for (key, expected, largest) in truth {
        let found = &report["parameters"][*key];
        assert_eq!(found["identifiable"], "yes", "{key}: {found}");
        let (value, error) = (found["value"].as_f64().unwrap(), found["error"].as_f64().unwrap());
        let off = (value - expected) / error;
        assert!(off.abs() < 3.0, "{key}: {value} ± {error} is not {expected}");
        assert!(error < largest * expected, "{key}: an error of {error} says too little");
        assert!(found["low"].as_f64().unwrap() < value && value < found["high"].as_f64().unwrap());
        assert!(!found["how"].as_str().unwrap().is_empty() && found["records"][0]["share"].as_f64().unwrap() > 0.05);
        squares += off * off;
    }
    // χ² of eight: above 26 once in a thousand.
    assert!(squares < 26.0, "together off by {squares}");
}

#[test]
fn parameters_of_one_test_a_file() {
    let folder = Folder::new("analyse-hard");
    let ran = hard(&folder, &HARD, &["--json", "--out", "found.toml", "--plot", "fit.svg"]).ok();
    let report = ran.json();
    recovered(
        &report,
        &[
            ("mu_static", 0.52, 0.005),
            ("mu_kinetic", 0.31, 0.01),
            ("kappa", 6000.0, 0.06),
            ("kappa_exponent", 1.3, 0.06),
            ("eta", 0.004, 0.1),
            ("eta_exponent", 0.8, 0.08),
            ("r", 150e3, 0.02),
            ("tangential_stiffness", 2e6, 0.005),
        ],
    );
    // Noise of 2 % of the largest force of each record is what is left of it.
    for record in report["records"].as_array().unwrap() {
        let share = record["residual_share"].as_f64().unwrap();
        assert!((0.015..0.023).contains(&share), "{record}");
        assert!(record["hang_together"].as_f64().unwrap() < 1.6, "{record}");
    }
    assert_eq!(report["warnings"], serde_json::json!([]));
    assert!(folder.read("fit.svg").contains("recovery-260"));
    // The element can be used as it is.
    let checked = folder.run(&["check", "found.toml"]).ok();
    assert!(checked.out.contains("subloading"), "{}", checked.out);
    assert_eq!(checked.err, "");
    folder.run(&["run", "found.toml", "--quiet"]).ok();
    assert!(folder.read("found.toml").contains(report["toml"].as_str().unwrap()));
}

/// All tests in one file with a column that names them, forces against the motion, noise in proportion to the force.
#[test]
fn parameters_of_all_tests_in_one_file() {
    let folder = Folder::new("analyse-soft");
    let data = reference("soft.csv");
    let arguments = [
        "analyse",
        &data,
        "--law",
        "subloading",
        "--normal-force",
        "0.2 kN",
        "--unit",
        "slip=mm",
    ];
    let report = folder.run(&[&arguments[..], &["--json"]].concat()).ok().json();
    recovered(
        &report,
        &[
            ("mu_static", 0.27, 0.02),
            ("mu_kinetic", 0.18, 0.01),
            ("kappa", 1200.0, 0.1),
            ("kappa_exponent", 1.0, 0.08),
            ("eta", 0.03, 0.25),
            ("eta_exponent", 1.5, 0.15),
            ("r", 40e3, 0.03),
            ("tangential_stiffness", 3e5, 0.005),
        ],
    );
    // Readings by eye are not the truth: slip lowers friction before its peak.
    let peak = report["parameters"]["mu_static"]["reading"].as_f64().unwrap();
    assert!((0.245..0.265).contains(&peak), "{peak}");
    let text = folder.run(&arguments).ok().out;
    for word in [
        "mu_static",
        "±",
        "95 %",
        "told by",
        "long-hold",
        "[elements.floor]",
        "eta_exponent = 1.",
    ] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
}

#[test]
fn what_the_records_do_not_tell_is_said() {
    let folder = Folder::new("analyse-part");
    let part = ["presliding", "cyclic"];
    let report = hard(&folder, &part, &["--json"]).ok().json();
    for key in ["kappa", "eta", "mu_kinetic"] {
        let found = &report["parameters"][key];
        assert_eq!(
            (&found["value"], &found["identifiable"]),
            (&Value::Null, &"no".into()),
            "{key}"
        );
        assert!(found["how"].as_str().unwrap().contains("add"), "{found}");
    }
    let stiffness = &report["parameters"]["tangential_stiffness"];
    let (value, error) = (
        stiffness["value"].as_f64().unwrap(),
        stiffness["error"].as_f64().unwrap(),
    );
    assert!((value - 2e6).abs() < 3.0 * error && error < 0.02 * value, "{stiffness}");
    // The element names what is missing, and cannot be run before it is there.
    let text = hard(&folder, &part, &["--out", "part.toml"]).ok().out;
    assert!(
        text.contains("not determined") && text.contains("# eta is not determined"),
        "{text}"
    );
    folder.run(&["check", "part.toml"]).fails(2, &["mu_kinetic"]);
}

/// Records that are none of this law: the force swings with the time and not with the motion.
#[test]
fn what_the_law_does_not_follow_gives_no_parameters() {
    let folder = Folder::new("analyse-astray");
    let rows: String = (0..300)
        .map(|i| {
            let t = f64::from(i);
            format!("{t},{},{}\n", 1e-6 * t, 10.0 + 8.0 * (0.4 * t).sin())
        })
        .collect();
    folder.write("waves.csv", &format!("t,x,force\n{rows}"));
    let ran = folder.run(&[
        "analyse",
        "waves.csv",
        "--law",
        "subloading",
        "--normal-force",
        "40 N",
        "--json",
    ]);
    let ran = ran.fails(1, &["no parameter"]);
    let report = ran.json();
    for (key, found) in report["parameters"].as_object().unwrap() {
        assert!(found["error"].is_null(), "{key}: {found}");
    }
    assert!(
        report["warnings"][0].as_str().unwrap().contains("waves"),
        "{}",
        report["warnings"]
    );
}

#[test]
fn units_signs_and_known_values() {
    let folder = Folder::new("analyse-units");
    let value = |report: &Value, key: &str| report["parameters"][key]["value"].as_f64().unwrap();
    let report = hard(
        &folder,
        &["cyclic"],
        &["--json", "--known", "kappa_exponent=1", "--known", "eta_exponent=1"],
    )
    .ok()
    .json();
    let stiffness = value(&report, "tangential_stiffness");
    assert_eq!(report["parameters"]["kappa_exponent"]["identifiable"], "given");
    // The same as a coefficient, with the unit in the name, the other sign and the speed in place of the way.
    let text = std::fs::read_to_string(reference("hard/cyclic.csv")).unwrap();
    let mut changed = String::from("time [min];x (um);mu\n");
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        changed += &format!("{};{};{}\n", cells[0] / 60.0, cells[1] * 1e3, -cells[2] / 50.0);
    }
    folder.write("other.csv", &changed);
    let other = [
        "analyse",
        "other.csv",
        "--law",
        "subloading",
        "--normal-force",
        "50",
        "--unit",
        "mu=1",
        "--json",
    ];
    let known = ["--known", "kappa_exponent=1", "--known", "eta_exponent=1"];
    let report = folder.run(&[&other[..], &known[..]].concat()).ok().json();
    assert!(
        (value(&report, "tangential_stiffness") / stiffness - 1.0).abs() < 1e-3,
        "{report}"
    );
    assert_eq!(report["records"][0]["test"], "cyclic");
    let given = [&other[..], &["--known", "tangential_stiffness=2000 N/mm"]].concat();
    let report = folder.run(&given).ok().json();
    assert_eq!(value(&report, "tangential_stiffness"), 2e6);
    // A test that is named counts, whatever its file is called.
    folder.write(
        "first.csv",
        &std::fs::read_to_string(reference("hard/long-hold.csv")).unwrap(),
    );
    let named = [
        "analyse",
        "--law",
        "subloading",
        "--normal-force",
        "50 N",
        "--unit",
        "x=mm",
        "--json",
        "--test",
    ];
    let report = folder.run(&[&named[..], &["long-hold=first.csv"]].concat()).ok().json();
    assert_eq!(report["records"][0]["test"], "long-hold");
}

/// A block of 2 kg behind a spring of 3 N/mm drawn with 1 mm/s, friction of 12 N that holds 18 N: closed forms.
#[test]
fn cycles_of_a_spring() {
    let folder = Folder::new("analyse-cycles");
    let data = reference("cycle.csv");
    let ran = folder
        .run(&["analyse", &data, "--signal", "spring", "--json", "--plot", "c.svg"])
        .ok();
    let report = &ran.json()["stick_slip"];
    let omega = (3.0f64 / 2e-3).sqrt();
    let phase = (1.0 / omega / 2.0).atan();
    let period = 4.0 + (std::f64::consts::PI + 2.0 * phase) / omega;
    let near = |found: &Value, expected: f64| {
        let (mean, error) = (found["mean"].as_f64().unwrap(), found["error"].as_f64().unwrap());
        assert!(
            (mean - expected).abs() < 3.0 * error && error < 0.02 * expected,
            "{found} is not {expected}"
        );
    };
    near(&report["static_peak"], 18.0);
    near(&report["swing"], 2.0 * 3.0 * 2.0f64.hypot(1.0 / omega));
    near(&report["middle"], 12.0);
    let found = report["period"].as_f64().unwrap();
    assert!(
        (found - period).abs() < 3.0 * report["period_error"].as_f64().unwrap(),
        "{found} is not {period}"
    );
    assert!((report["noise"].as_f64().unwrap() - 0.36).abs() < 0.03);
    assert_eq!(report["kinetic_plateau"], Value::Null);
    assert_eq!(report["stable"], false);
    assert!(report["peaks"].as_array().unwrap().len() >= 12);
    assert!(folder.read("c.svg").contains("static peak"));
    let text = folder
        .run(&[
            "analyse", &data, "--signal", "spring", "--unit", "spring=N", "--from", "20",
        ])
        .ok()
        .out;
    for word in ["static peak", "period", " N ", "none: no flat stretch"] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let folder = Folder::new("analyse-wrong");
    let rows = |count: usize| -> String {
        (0..count)
            .map(|i| format!("{i},{},{}\n", i as f64 * 1e-6, i % 7))
            .collect()
    };
    let good = format!("t,x,force\n{}", rows(40));
    folder.write("good.csv", &good);
    let law = |file: &str, more: &[&str]| {
        let fixed = ["--law", "subloading", "--normal-force", "10 N"];
        folder.run(&[&["analyse", file][..], &fixed, more].concat())
    };
    let signal = |file: &str, column: &str| folder.run(&["analyse", file, "--signal", column]);
    signal("good.csv", "forec").fails(2, &["no column \"forec\"", "did you mean \"force\""]);
    signal("none.csv", "force").fails(2, &["none.csv"]);
    signal(".", "force").fails(2, &["not an ordinary file"]);
    folder.run(&["analyse", "good.csv"]).fails(2, &["--signal", "--law"]);
    folder.run(&["analyse", "--signal", "f"]).fails(2, &["no data"]);
    for (name, text, words) in [
        ("empty", String::new(), &["empty"][..]),
        ("numbers", rows(40), &["no names of columns"]),
        ("few", format!("t,x,force\n{}", rows(5)), &["5 rows"]),
        ("head", "t,x,force\n".to_string(), &["rows"]),
        (
            "word",
            good.replace("\n7,", "\nseven,"),
            &["line 9", "column \"t\"", "\"seven\""],
        ),
        ("gap", good.replace("\n9,", "\n,"), &["line 11", "column \"t\""]),
        ("nan", good.replace("\n9,", "\nNaN,"), &["line 11", "NaN"]),
        (
            "back",
            good.replace("\n9,", "\n5,"),
            &["line 11", "go back", "8 is followed by 5"],
        ),
        ("still", good.replace("\n9,", "\n8,"), &["line 11", "stand still"]),
        ("short", good.replace("\n9,", "\n9\n9,"), &["line: 11"]),
        (
            "bell",
            good.replace("\n9,", "\n\u{1b}[31m\u{7},"),
            &["line 11", "\\u{1b}"],
        ),
    ] {
        let file = format!("{name}.csv");
        folder.write(&file, &text);
        let ran = signal(&file, "force").fails(2, words);
        assert!(
            !ran.err.contains('\u{1b}') && !ran.err.contains('\u{7}'),
            "{:?}",
            ran.err
        );
        law(&file, &[]).fails(2, words);
    }
    std::fs::write(
        folder.path("bytes.csv"),
        [b"t,x,force\n0,0,\xff\xfe\x00\n".to_vec(), vec![0; 1000]].concat(),
    )
    .unwrap();
    law("bytes.csv", &[]).fails(2, &["bytes.csv"]);
    // More than is read; nothing is written for it.
    let large = std::fs::File::create(folder.path("large.csv")).unwrap();
    large.set_len(600 << 20).unwrap();
    law("large.csv", &[]).fails(2, &["512 MiB"]);
    law("good.csv", &["--displacement", "y"]).fails(2, &["no column \"y\""]);
    law("good.csv", &["--unit", "x=kg"]).fails(2, &["\"x\"", "kg"]);
    law("good.csv", &["--unit", "y=mm"]).fails(2, &["no column \"y\""]);
    law("good.csv", &["--unit", "x"]).fails(2, &["COLUMN=UNIT"]);
    folder.write("unknown.csv", &good.replace("t,x,force", "t,x (microns),force"));
    law("unknown.csv", &[]).fails(2, &["\"microns\"", "--unit"]);
    law("good.csv", &["--test", "long-hodl=good.csv"]).fails(2, &["did you mean \"long-hold\""]);
    law("good.csv", &["--known", "kapa=3"]).fails(2, &["did you mean \"kappa\""]);
    law("good.csv", &["--known", "kappa=3 s"]).fails(2, &["kappa"]);
    law("good.csv", &["--known", "mu_static=0.4"]).fails(2, &["mu_kinetic"]);
    law("good.csv", &["--out", "a.csv"]).fails(2, &[".toml"]);
    law("good.csv", &["--plot", "a.gif"]).fails(2, &[".svg or .png"]);
    let force = |text: &str| folder.run(&["analyse", "good.csv", "--law", "subloading", "--normal-force", text]);
    force("-3 N").fails(2, &["above 0"]);
    force("3 kg").fails(2, &["3 kg"]);
    force("load").fails(2, &["no column \"load\""]);
    folder
        .run(&["analyse", "good.csv", "--law", "subloading"])
        .fails(2, &["--normal-force"]);
    folder
        .run(&["analyse", "good.csv", "--law", "lugree", "--normal-force", "3"])
        .fails(2, &["did you mean \"lugre\""]);
    folder
        .run(&["analyse", "good.csv", "--law", "lugre", "--normal-force", "3"])
        .fails(2, &["subloading"]);
    // Nothing moves, and nothing rubs.
    folder.write(
        "fixed.csv",
        &format!(
            "t,x,force\n{}",
            (0..40).map(|i| format!("{i},1,{}\n", i % 3)).collect::<String>()
        ),
    );
    law("fixed.csv", &[]).fails(2, &["nothing moves in record fixed"]);
}
