//! Subloading friction with what the user gives: numbers per area (eq 32 of the paper on the trapezoidal update), and U(R) as an
//! expression (Ozaki, Hashiguchi and Chen, eq 18).
//!
//! Expected values are those of the built-in functions, and of another program (`reference/subloading_area.py`).

mod common;

use common::{close, written};
use stickslip::Simulation;
use stickslip::scenario::Scenario;

/// 2 kg drawn by 4 N/mm at 10 mm/s over a contact of 50 N and 2 N/µm.
const WHOLE: &str = "normal_force = 50\ntangential_stiffness = 2e6";
const PER_AREA: &str = "area = \"25 cm^2\"\npressure = \"20 kPa\"\ntangential_stiffness = \"8e8 N/m^3\"";
const LAW: &str =
    "law = \"subloading\"\nmu_static = 0.5\nmu_kinetic = 0.3\nkappa = 2e3\neta = 0.1\ncontact_time = 2e-3";

fn block(integrator: &str, step: f64, duration: f64, friction: &str) -> String {
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{integrator}\"\nrelative_tolerance = 1e-8\n\
         [bodies.block]\nkind = \"mass\"\nmass = 2\n[bodies.hook]\nkind = \"driver\"\nvelocity = \"10 mm/s\"\n\
         [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = \"4 N/mm\"\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\n{LAW}\n{friction}\n"
    )
    .replace(
        "relative_tolerance = 1e-8\n",
        match integrator {
            "stiff" | "adaptive" => "relative_tolerance = 1e-8\n",
            _ => "",
        },
    )
}

/// Position, velocity, stretch and coefficient at the end.
fn ends(text: &str) -> [f64; 4] {
    let mut simulation = written(text, &[]);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap();
    let floor = simulation.element("floor").unwrap();
    let state = simulation.element_state(floor);
    [
        simulation.position(stickslip::handle::Body::nth(0))[0],
        simulation.velocity(stickslip::handle::Body::nth(0))[0],
        state[0],
        state[1],
    ]
}

fn refusal(text: &str) -> String {
    let scenario = match Scenario::parse(text, "given.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    match Simulation::new(scenario) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn same(what: &str, found: [f64; 4], expected: [f64; 4], relative: f64) {
    for (i, name) in ["position", "velocity", "stretch", "coefficient"]
        .into_iter()
        .enumerate()
    {
        let tolerance = relative * expected[i].abs();
        close(&format!("{what}, {name}"), found[i], expected[i], tolerance);
    }
}

#[test]
fn numbers_per_area_are_those_of_the_whole_contact() {
    // A sixteenth of a square metre: products without rounding.
    let whole = "normal_force = \"50 + 10*sin(3*t)\"\ntangential_stiffness = 2e6\nr = 2e4";
    let area =
        "area = 0.0625\npressure = { expr = \"800 + 160*sin(3*t)\" }\ntangential_stiffness = \"3.2e7 N/m^3\"\nr = 2e4";
    let plain = "area = 0.0625\nnormal_force = \"50 + 10*sin(3*t)\"\ntangential_stiffness = 3.2e7\nr = 2e4";
    for (integrator, step) in [
        ("stiff", 1e-2),
        ("trapezoidal", 1e-3),
        ("rk4", 1e-4),
        ("implicit-euler", 1e-3),
    ] {
        let expected = ends(&block(integrator, step, 0.3, whole));
        assert_eq!(ends(&block(integrator, step, 0.3, area)), expected, "{integrator}");
        assert_eq!(ends(&block(integrator, step, 0.3, plain)), expected, "{integrator}, N");
    }
}

#[test]
fn tractions_on_an_area_move_the_block_of_another_program() {
    let expected = [
        (
            0.4,
            [4.54038811429e-05, 0.000305413892813, 7.86732766615e-06, 0.456748494416],
        ),
        (
            1.0,
            [0.00609762521364, 0.0059416711686, 7.53146179251e-06, 0.3012584717],
        ),
    ];
    for (time, expected) in expected {
        let friction = format!("{PER_AREA}\nr = 2e4");
        same("stiff", ends(&block("stiff", 1e-2, time, &friction)), expected, 1e-4);
        same("rk4", ends(&block("rk4", 2e-5, time, &friction)), expected, 1e-6);
        let by_hand = format!("{WHOLE}\nr = 2e4");
        same("by hand", ends(&block("rk4", 2e-5, time, &by_hand)), expected, 1e-6);
    }
}

#[test]
fn a_built_in_function_written_out_gives_the_same() {
    let forms = [
        ("log", "r = 2e4", "-r*ln(R)", "r = 2e4"),
        ("ratio", "r = 2e4", "r*(1 - R)/R", "r = 2e4"),
        // Without r it is what U is at R = 1/e.
        ("log", "r = 2e4", "-2e4*ln(R)", ""),
    ];
    let methods = [
        ("stiff", 1e-2, ""),
        ("stiff", 1e-2, "update = \"rates\""),
        ("adaptive", 1e-2, ""),
        ("rk4", 1e-4, ""),
        ("euler", 2e-5, ""),
        ("implicit-euler", 1e-3, ""),
        ("trapezoidal", 1e-3, ""),
        ("trapezoidal", 1e-3, "update = \"trapezoidal\""),
        ("trapezoidal", 1e-3, "update = \"backward\""),
        (
            "trapezoidal",
            1e-4,
            "update = \"trapezoidal\"\nnewton = \"as-published\"",
        ),
        ("newmark", 1e-4, ""),
    ];
    for (word, r, formula, own_r) in forms {
        let methods = if own_r.is_empty() { &methods[5..7] } else { &methods[..] };
        for &(integrator, step, update) in methods {
            let text = |evolution: &str, r: &str| {
                let friction = format!("{WHOLE}\n{r}\n{update}\nevolution = \"{evolution}\"");
                block(integrator, step, 0.4, &friction)
            };
            let (built_in, given) = (ends(&text(word, r)), ends(&text(formula, own_r)));
            same(
                &format!("{formula} with {integrator}, {update}"),
                given,
                built_in,
                1e-10,
            );
        }
    }
}

#[test]
fn in_the_plane_and_in_a_contact_too() {
    let plane = |integrator: &str, evolution: &str| {
        format!(
            "[simulation]\nduration = 0.15\nstep = 1e-3\nintegrator = \"{integrator}\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 2\nposition = [0, 0]\nforce = [\"30*sin(9*t)\", \"25*t\"]\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\n{LAW}\n{WHOLE}\nr = 2e4\nevolution = \"{evolution}\"\n"
        )
    };
    let contact = |integrator: &str, evolution: &str| {
        format!(
            "[simulation]\nduration = 0.02\nstep = 1e-5\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n\
             [bodies.ball]\nkind = \"rigid-body\"\nshape = {{ sphere = 0.1 }}\nmass = 2\nposition = [0, 0, 0.1]\nvelocity = [0.1, 0, 0]\n\
             [elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
             normal = {{ law = \"kelvin-voigt\", stiffness = 1e6, damping = 500 }}\n\
             friction = {{ {}, tangential_stiffness = 2e6, r = 2e4, evolution = \"{evolution}\" }}\n",
            LAW.replace('\n', ", ")
        )
    };
    for integrator in ["stiff", "trapezoidal", "implicit-euler", "rk4"] {
        same(
            integrator,
            ends(&plane(integrator, "r*(1-R)/R")),
            ends(&plane(integrator, "ratio")),
            1e-9,
        );
    }
    let (given, built_in) = (contact("rk4", "-r*ln(R)"), contact("rk4", "log"));
    same("contact", ends(&given), ends(&built_in), 1e-9);
}

#[test]
fn another_function_agrees_with_another_program() {
    let expected = [
        (
            0.4,
            [3.00643600642e-05, 0.000186845051358, 7.89920002681e-06, 0.473121187869],
        ),
        (
            1.0,
            [0.00644334039884, 0.00905667241236, 7.51185183943e-06, 0.300474073577],
        ),
    ];
    for (time, expected) in expected {
        let friction = format!("{WHOLE}\nr = 2e4\nevolution = \"r/tan(pi*R/2)\"");
        same("rk4", ends(&block("rk4", 2e-5, time, &friction)), expected, 1e-6);
        same("stiff", ends(&block("stiff", 1e-2, time, &friction)), expected, 1e-4);
        // Of second order: 4e-5 s resolve the contact, 1000 rad/s, to some 1e-4.
        same(
            "trapezoidal",
            ends(&block("trapezoidal", 4e-5, time, &friction)),
            expected,
            1e-3,
        );
    }
}

#[test]
fn a_function_that_is_no_approach_is_refused_with_the_reason() {
    let own = |evolution: &str| {
        block(
            "stiff",
            1e-2,
            0.1,
            &format!("{WHOLE}\nr = 2e4\nevolution = \"{evolution}\""),
        )
    };
    let cases = [
        (own("r*(1 - R)"), "+infinity at R = 0"),
        (own("r/R"), "0 at R = 1"),
        (own("r*(1 - R)^2/R"), "negative beyond R = 1"),
        (
            own("r*(1 - R)*(1 + 20*(R - 0.5)^2)/R*(1 + 0.9*sin(40*R))"),
            "must fall as R rises",
        ),
        (own("r*ln(R)"), "+infinity at R = 0"),
        (own("r*(0.9 - R)/R"), "above 0 below R = 1"),
        (own("-q*ln(R)"), "q"),
        (own("-r*ln(R"), "evolution"),
        (own("loq"), "did you mean \"log\""),
        (
            block("stiff", 1e-2, 0.1, &format!("{WHOLE}\nevolution = \"-r*ln(R)\"")),
            "r",
        ),
        (
            block(
                "stiff",
                1e-2,
                0.1,
                &format!("{PER_AREA}\nr = 2e4").replace("8e8 N/m^3", "2e6 N/m"),
            ),
            "beside an `area`",
        ),
        (
            block(
                "stiff",
                1e-2,
                0.1,
                "pressure = 1e4\ntangential_stiffness = 2e6\nr = 2e4",
            ),
            "needs the `area`",
        ),
        (
            block("stiff", 1e-2, 0.1, &format!("{PER_AREA}\nnormal_force = 50\nr = 2e4")),
            "both `pressure` and `normal_force`",
        ),
        (
            block("stiff", 1e-2, 0.1, &format!("{PER_AREA}\nr = 2e4")).replace("\"subloading\"", "\"lugre\""),
            "belongs to the law \"subloading\"",
        ),
    ];
    for (text, words) in cases {
        let message = refusal(&text);
        assert!(message.contains(words), "{words}: {message}");
    }
}
