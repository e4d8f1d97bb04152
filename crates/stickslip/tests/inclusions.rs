//! Inclusions run by the engine, against the reference numbers of seed 001's experiments and against emitted programs.

mod common;

use common::{close, run, run_every, simulation, written};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use stickslip::inclusion::Inclusion;
use stickslip::inclusion::emit::Form;
use stickslip::scenario::Scenario;

/// An independent implementation with a tight tolerance; ±1e-9. The error of rk4 across touching and slipping is below
/// 100·T² (measured with it), 4e-10 here.
#[test]
fn example_2_as_equations() {
    let sets = ["simulation.step=2e-6", "simulation.duration=3"];
    let mut simulation = simulation("fig001-conveyor-equations.toml", &sets);
    let expected = [
        (
            0.2,
            [-0.00279426959877, -0.127771826542, -0.00545335727829, -0.00222194866121],
        ),
        (
            1.0,
            [
                -0.000330938230564,
                0.0026066905816,
                -0.000468300825799,
                -0.00104186025449,
            ],
        ),
        (
            3.0,
            [
                -0.000373548671688,
                -0.00848185614183,
                -0.000747098108296,
                -0.000933880402271,
            ],
        ),
    ];
    for (t, positions) in expected {
        let steps = (t / 2e-6_f64).round() as u64 - simulation.steps_done();
        simulation.advance(steps).unwrap();
        for (i, position) in positions.into_iter().enumerate() {
            close(&format!("{i} at {t} s"), simulation.state().values[i], position, 1e-9);
        }
    }
}

/// The methods with error control, against the same reference: within a few hundred times their tolerance.
#[test]
fn example_2_with_error_control() {
    for method in ["adaptive", "stiff"] {
        let sets = [
            "simulation.step=1 ms",
            "simulation.duration=1",
            "simulation.relative_tolerance=1e-9",
            "simulation.absolute_tolerance=1e-12",
            &format!("simulation.integrator={method}"),
        ];
        let mut simulation = simulation("fig001-conveyor-equations.toml", &sets);
        simulation.advance(1000).unwrap();
        let expected = [
            -0.000330938230564,
            0.0026066905816,
            -0.000468300825799,
            -0.00104186025449,
        ];
        for (i, position) in expected.into_iter().enumerate() {
            close(&format!("{method}, {i}"), simulation.state().values[i], position, 2e-8);
        }
    }
}

/// "RK4 literal" and its drift, at the step of the table.
#[test]
fn figure_3_as_equations() {
    let run = run_every("fig001-3-equations.toml", 10_000, &[]);
    for (t, p) in [
        (2.0, 9.096887037e-4),
        (4.0, 0.0529156887037),
        (5.0, 0.0591433173640),
        (10.0, 0.0591439179147),
        (20.0, 0.0591446756309),
    ] {
        close(&format!("p at {t} s"), run.at("p", t), p, 1e-9);
    }
    // While it sticks p - a does not change: no drift.
    let constant = run.at("p", 5.0) - run.at("sgn1", 5.0);
    close("p - a", run.at("p", 20.0) - run.at("sgn1", 20.0), constant, 1e-14);
    assert!(run.report.energy.is_none() && run.report.events.is_empty());
}

/// Example 1 (3-D, friction bounded by the contact force), with gravity and the right signs; reference ±1e-11 at rest.
const EXAMPLE_1: &str = r#"
[simulation]
duration = "1 s"
step = "10 us"
integrator = "rk4"

[inclusion]
states = { x = 0, y = 0, z = 0.02, vx = 0.8, vy = 0.6, vz = 0 }
parameters = { M = 0.5, mu = 0.3, g = 9.8 }

[inclusion.equations]
x = "vx"
y = "vy"
z = "vz"
vx = "-mu*dio(z)*sgn([vx, vy]).x/M"
vy = "-mu*dio(z)*sgn([vx, vy]).y/M"
vz = "dio(z)/M - g"

[inclusion.relax]
dio = { stiffness = 1e4, beta = 0.01, alpha = 0.005 }
sgn = { stiffness = 1e4, beta = 0.01 }
"#;

#[test]
fn example_1_with_a_vector() {
    let run = common::finish(written(EXAMPLE_1, &[]), 100);
    assert_eq!(run.report.final_.len(), 1 + 6 + 3);
    // The error is below 0.5·T² (measured with the reference).
    for (name, t, value, tolerance) in [
        ("x", 0.2, 0.117309923588, 1e-10),
        ("y", 0.2, 0.0879824426907, 1e-10),
        ("z", 0.2, 0.00187531838486, 1e-10),
        ("x", 1.0, 0.140855232793, 1e-10),
        ("y", 1.0, 0.105641424595, 1e-10),
        ("z", 1.0, -0.00049, 1e-10),
    ] {
        close(&format!("{name} at {t} s"), run.at(name, t), value, tolerance);
    }
    // The direction of sliding is kept, and so is that of the bristle.
    close(
        "direction",
        run.at("sgn1.x", 0.2) * 0.6,
        run.at("sgn1.y", 0.2) * 0.8,
        1e-15,
    );
}

#[test]
fn every_integrator_of_differential_equations_runs_inclusions() {
    for row in stickslip::integrate::METHODS
        .iter()
        .filter(|row| !row.method.implicit() && !row.method.moves_masses_only())
    {
        let set = format!("simulation.integrator={}", row.name);
        let run = run("fig001-3-equations.toml", &[&set, "simulation.duration=1"]);
        // Below the limit for 5/3 s: it only gives way elastically.
        let p = run.at("p", 1.0);
        assert!(p > 0.0 && p < 1e-5, "{}: {p}", row.name);
    }
    let scenario = Scenario::read(
        common::scenario_path("fig001-3-equations.toml"),
        &["simulation.integrator=implicit-euler".into()],
    );
    let error = stickslip::Simulation::new(scenario.unwrap()).err().unwrap().to_string();
    assert!(
        error.contains("an inclusion has none") && error.contains("\"rk4\""),
        "{error}"
    );
}

#[test]
fn values_can_be_set_and_slips_are_told() {
    let final_p = |sets: &[&str]| {
        let sets = [&["simulation.duration=1"], sets].concat();
        run("fig001-3-equations.toml", &sets).at("p", 1.0)
    };
    // Without friction: p = 0.3·t³/6.
    close("frictionless", final_p(&["inclusion.parameters.F=0"]), 0.05, 1e-12);
    close(
        "moving",
        final_p(&["inclusion.parameters.F=0", "inclusion.states.v=0.1"]),
        0.15,
        1e-12,
    );
    close(
        "heavier",
        final_p(&["inclusion.parameters.F=0", "inclusion.parameters.M=2 kg"]),
        0.025,
        1e-12,
    );
    close(
        "input",
        final_p(&["inclusion.parameters.F=0", "inclusion.inputs.fe=1"]),
        0.5,
        1e-12,
    );
    close("equation", final_p(&["inclusion.equations.v=2*t"]), 1.0 / 3.0, 1e-12);
    let text = std::fs::read_to_string(common::scenario_path("fig001-3-equations.toml")).unwrap();
    let refused = |sets: &[&str], text: &str| {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        Scenario::parse(text, "test.toml", &sets).unwrap_err().to_string()
    };
    let message = refused(&["inclusion.parameters.FF=1"], &text);
    assert!(
        message.contains("there is no `inclusion.parameters.FF`")
            && message.contains("`inclusion.parameters` has `M`, `F`"),
        "{message}"
    );
    let message = refused(&["inclusion.parameters.F=-1"], &text);
    assert!(
        message.contains("`F` is said to be never negative, but it is -1"),
        "{message}"
    );
    for (from, to, parts) in [
        // The line, the caret under the name, the suggestion.
        (
            "(fe - F*sgn(v))/M",
            "(fe - F*sgn(w))/M",
            [":14:", "unknown name \"w\"", "^"],
        ),
        ("(fe - F*sgn(v))/M", "(fe - F*sgn(v)/M", [":14:", "expected \")\"", "^"]),
        (
            "(fe - F*sgn(v))/M",
            "(fe - F*sgn(v))/p",
            [":14:", "division by zero at the start: `p` is 0", "^"],
        ),
        (
            "(fe - F*sgn(v))/M",
            "(fe - p*sgn(v))/M",
            [":14:", "`p` multiplies sgn(v) and may be negative", "^"],
        ),
        ("v = 0 }", "v = nan }", [":11:", "must be a finite number", "^"]),
        (
            "equations = { p = \"v\", ",
            "equations = { ",
            [":11:", "the state `p` has no equation", "^"],
        ),
        ("beta = 5e-3", "beta = 0", [":15:", "must be greater than 0", "^"]),
        ("beta = 5e-3", "beta = \"5 mm\"", [":15:", "should be a time (s)", "^"]),
        ("beta = 5e-3", "bta = 5e-3", [":15:", "did you mean `beta`?", "^"]),
        (
            "sgn = { stiffness = 1e5, beta = 5e-3 }",
            "",
            [":10:", "`relax` gives no stiffness", "relax = { sgn ="],
        ),
        ("states = { p", "sates = { p", [":11:", "did you mean `states`?", "^"]),
        (
            "p = 0, v = 0",
            "p = 0, v = 0, F = 1",
            [":12:", "`F` names a parameter and also a state", "rename one"],
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let message = refused(&[], &text.replacen(from, to, 1));
        for part in parts {
            assert!(message.contains(part), "{to}: {message}");
        }
    }
    let message = refused(&["output.columns=[\"p\", \"sgn2\"]"], &text);
    assert!(
        message.contains("there is no column `sgn2`") && message.contains("did you mean `sgn1`?"),
        "{message}"
    );
}

fn inclusion(text: &str) -> Inclusion {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.inclusion.unwrap()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("stickslip-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Everything that a program may contain: a vector, tables, every function, names that are words of other languages.
const EVERYTHING: &str = r#"
title = "A \"test\" */ of everything"
[simulation]
duration = "0.3 s"
step = "1 ms"
integrator = "rk4"

[inclusion]
states = { x = 0.3, y = 0.2, lambda = 0.1, double = 0.4, type = 0.5, "μ" = 0.01 }
parameters = { a = 1.5, in = -0.7, rhs = 2 }
equations.x = "sin(x)*cos(y) - tan(lambda) + tanh(double) + exp(-x) + push*t + line - steps"
equations.y = "ln(2 + x^2) + sqrt(1.5 + y) + abs(lambda)*sign(in) - (3 + double)^1.5 + 2^y - a*sgn([x, y, lambda]).y"
equations.lambda = "min(x, y, lambda) + max(x, 0.1, double) + if(t < 0.15, x*y, lambda/(2 + double)) - a*sgn([x, y, lambda]).z"
equations.double = "-a*sgn([x, y, lambda]).x + max(0, a - x)*sgn(double) + dio(x + in*y)*2e-3 + 0.1*(type >= 0) - 0.1*(type != 0)"
equations.type = "-dio(x - 10*y)*mu2*sgn([double, μ]).x - 3*type*sin(x)*cos(y) - rhs*(x - 10*y)"
equations."μ" = "-dio(x - 10*y)*mu2*sgn([double, μ]).y - -μ"
nonnegative = ["mu2"]

[inclusion.inputs]
push = { expr = "2*min(t, 2)", unit = "mm" }
line = { times = [0, 0.1, 0.25], values = [0, 1, -1], after = "zero" }
steps = { times = [0, 0.05, 0.1], values = [0.5, -0.5, 0], interpolation = "step", after = "repeat" }
mu2 = 0.25

[inclusion.relax]
sgn = { stiffness = 100, beta = 0.1 }
dio = { stiffness = 100, beta = 0.1, alpha = 0.05 }
"#;

/// Names that programs use themselves or that their languages do not take; bounds that become negative against what is
/// said of them; a division that only one branch may do (g stays 0).
const CLASHES: &str = r#"
[simulation]
duration = "0.3 s"
step = "1 ms"
integrator = "rk4"

[inclusion]
states = { v = 0.3, N = 0.5, round = 0.2, "x₁" = 0.1, i = 0.4, _ = 0.1, g = 0, len = 0.7 }
parameters = { x = 1.5, bound = 0.5, length = 1, part = 2, times = 3, values = 4, step = 5, after = 6, first = 7, last = 8, slack = 9, time = 10, sum = 11, tuple = 12, erf = 13, fma = 14, sinf = 15, TABLE_1 = 16, TIMES_1 = 17, VALUES_1 = 18, f_sgn2_vector = 19, M_PI = 20, unix = 21, _Bool = 22, "µ" = 23, "μ" = 24, helpers = 25, u03bc = 26 }
inputs.line = { times = [0, 0.1, 0.25], values = [0, 1, -1], after = "repeat" }
equations.v = "line - N*sgn(v)"
equations.N = "-3"
equations.round = "-N*bound*sgn([round, x₁]).x"
equations."x₁" = "-N*bound*sgn([round, x₁]).y + sign(v)"
equations.i = "x + 2*length + 3*part + 4*times + 5*values + 6*step + 7*after + 8*first + 9*last + 10*slack + 11*time"
equations._ = "_ + i*sum + 2*tuple + 3*erf + 4*fma + 5*sinf + 6*TABLE_1 + 7*TIMES_1 + 8*VALUES_1 + 9*f_sgn2_vector"
equations.g = "if(g > 0, 1/g + (1/g)^2, 0)"
equations.len = "len + M_PI + 2*unix + 3*_Bool + 4*µ + 5*μ + 6*helpers + 7*u03bc"
nonnegative = ["N"]
relax.sgn = { stiffness = 100, beta = 0.1 }
"#;

/// Every word of the three languages and of the programs themselves that a scenario takes as a name, as states and parameters in turn.
fn words() -> String {
    const WORDS: &str = "None Some Ok Err True False Self self super crate fn let mut ref move dyn impl trait async await match type where \
                         loop drop Option Vec Box String usize f64 u8 str lambda class def pass yield with global nonlocal is not and or in \
                         as from import raise try except finally del assert elif print len sum tuple math float range list id object \
                         OverflowError ValueError int double main char void static const struct union enum auto register volatile extern \
                         inline restrict signed unsigned sizeof typedef goto switch case default bool NULL INFINITY NAN M_PI errno \
                         rhs STATES INITIAL N y rates sat sat_vector sign lesser greater divide power table helpers bound length x a b \
                         w1 K_sgn1 beta_sgn1 f_sgn1 theta1 sgn1_ y0 j1 gamma pow log";
    const TITLE: &str =
        r#"title = "NUL \u0000, ESC \u001b, CR \r, \u202e turned, \"quotes\" ''' \"\"\" */ // \\ \\n ??/ end\\""#;
    let scenario = |states: &str, parameters: &str, equations: &str| {
        format!(
            "{TITLE}\n[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"rk4\"\n[inclusion]\nstates = {{ {states} }}\n\
             parameters = {{ {parameters} }}\nequations = {{ {equations} }}\nrelax.sgn = {{ stiffness = 100, beta = 0.1 }}\n"
        )
    };
    let legal = |name: &&str| {
        let text = scenario(
            &format!("{name} = 0"),
            "",
            &format!("{name} = \"{name} - 2*sgn({name})\""),
        );
        Scenario::parse(&text, "test.toml", &[]).is_ok()
    };
    let names: Vec<&str> = WORDS.split_whitespace().filter(legal).collect();
    assert!(names.len() > 100, "{names:?}");
    let (mut states, mut parameters, mut equations) = (Vec::new(), Vec::new(), Vec::new());
    for (i, pair) in names.chunks_exact(2).enumerate() {
        let (state, parameter) = (pair[0], pair[1]);
        states.push(format!("{state} = {}", 0.1 + 0.01 * i as f64));
        parameters.push(format!("{parameter} = {}", 1 + i));
        let friction = if i == 0 {
            format!(" - sgn({state})")
        } else {
            String::new()
        };
        equations.push(format!(
            "{state} = \"min({state}, 1)/(2 + {state}) - {parameter}*0.001{friction}\""
        ));
    }
    scenario(&states.join(", "), &parameters.join(", "), &equations.join(", "))
}

/// Equations whose values are infinite or no number at some states, in every function and in every operation that Python refuses.
const INFINITE: &str = r#"
[simulation]
duration = "0.3 s"
step = "1 ms"
integrator = "rk4"

[inclusion]
states = { zero = 2, minus = 4, large = 3, odd = 3, v = 0.1, w = -0.2 }
parameters = { P = 2, Z = 0 }
equations.zero = "1/zero + ln(zero)*Z + P/(Z + zero)"
equations.minus = "sqrt(minus) + ln(minus) + minus^0.5"
equations.large = "large^2 - exp(large) + max(-large^odd, minus/zero)"
equations.odd = "zero^(-odd) + (-zero)^(-2) + sin(1/zero)*0 + cos(1/zero) + tan(large*large)"
equations.v = "min(zero/zero, 1) + sign(zero/zero) + if(zero/zero < 1, 1, 2)/(1 + Z) + tanh(1/zero) - P*sgn(v)"
equations.w = "(-large)^odd + abs(minus/zero) + max(0, 1/zero) - P*sgn([w, v]).x"
relax.sgn = { stiffness = 100, beta = 0.1 }
"#;

/// Rates of [`INFINITE`] at its start and around it, by the tool.
fn infinite_points() -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    let inclusion = inclusion(INFINITE);
    let start = inclusion.initial().to_vec();
    let others: [&[(usize, f64)]; 13] = [
        &[(0, 0.0)],
        &[(0, -0.0)],
        &[(0, 1e-300)],
        &[(1, -2.5)],
        &[(2, 1e200)],
        &[(2, -1e200)],
        &[(2, 800.0)],
        &[(2, 1e200), (3, 2.0)],
        &[(0, 0.0), (3, 2.0)],
        &[(0, -0.0), (3, -3.0)],
        &[(0, 0.0), (1, -2.5), (2, 1e200)],
        &[(4, -7.0)],
        &[(5, 9.0)],
    ];
    let mut states = vec![start.clone()];
    states.extend(others.map(|changes| {
        let mut state = start.clone();
        changes.iter().for_each(|&(i, value)| state[i] = value);
        state
    }));
    let point = |state: Vec<f64>| {
        let mut rates = vec![0.0; state.len()];
        inclusion.program().rates(0.5, &state, &[], &mut rates);
        (0.5, state, rates)
    };
    let points: Vec<_> = states.into_iter().map(point).collect();
    let rates = || points.iter().flat_map(|(.., rates)| rates);
    assert!(rates().any(|rate| rate.is_nan()) && rates().any(|rate| rate.is_infinite()));
    points
}

fn sources() -> Vec<(&'static str, String)> {
    let conveyor = std::fs::read_to_string(common::scenario_path("fig001-conveyor-equations.toml")).unwrap();
    vec![
        ("everything", EVERYTHING.to_string()),
        ("conveyor", conveyor),
        ("example1", EXAMPLE_1.to_string()),
        ("clashes", CLASHES.to_string()),
        ("words", words()),
        ("infinite", INFINITE.to_string()),
    ]
}

/// Rates at points along a run, by the tool: t, states, rates.
fn points(text: &str) -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    if text == INFINITE {
        return infinite_points();
    }
    let inclusion = inclusion(text);
    let mut simulation = written(text, &["simulation.duration=0.3", "simulation.step=1 ms"]);
    let n = inclusion.states().len();
    (0..30)
        .map(|_| {
            simulation.advance(10).unwrap();
            let (t, y) = (simulation.time(), simulation.state().values[..n].to_vec());
            let inputs: Vec<f64> = inclusion
                .description()
                .inputs
                .iter()
                .map(|input| input.profile.value(t))
                .collect();
            let mut rates = vec![0.0; n];
            inclusion.program().rates(t, &y, &inputs, &mut rates);
            (t, y, rates)
        })
        .collect()
}

/// Compares the lines of numbers that a program printed with the rates of the tool. Its mathematical functions may
/// differ in the last place, and K = 2e4 makes 1e-12 of 1e-16.
fn compare(name: &str, output: &str, points: &[(f64, Vec<f64>, Vec<f64>)]) {
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), points.len(), "{name}: {output}");
    for (line, (t, _, rates)) in lines.iter().zip(points) {
        let printed: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(printed.len(), rates.len());
        for (i, (a, b)) in printed.iter().zip(rates).enumerate() {
            assert!(
                (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a == b || a.is_nan() && b.is_nan(),
                "{name}, rate {i} at {t} s: {a:e} and {b:e}"
            );
        }
    }
}

fn runs(command: &mut Command) -> Option<String> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let program = command.get_program();
            // Written past the harness, which shows nothing of a test that passes.
            let told = format!("SKIPPED, nothing was compared: {program:?} cannot be run: {error}\n");
            std::io::stderr().write_all(told.as_bytes()).unwrap();
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn emitted_c_compiles_without_warnings_and_agrees() {
    let folder = folder("c");
    for (name, text) in sources() {
        let points = points(&text);
        let calls: String = points
            .iter()
            .map(|(t, y, _)| {
                let y: Vec<String> = y.iter().map(|value| format!("{value:?}")).collect();
                format!("    show({t:?}, (double[N]){{{}}});\n", y.join(", "))
            })
            .collect();
        let source = inclusion(&text).emit(Form::C);
        let program = format!(
            "{source}\n#include <stdio.h>\nstatic void show(double time, const double *state)\n{{\n    double out[N];\n    \
             rhs(time, state, out);\n    for (int i = 0; i < N; i++)\n        printf(\"%.17g \", out[i]);\n    \
             printf(\"\\n\");\n}}\nint main(void)\n{{\n{calls}    return STATES[0][0] == 0;\n}}\n"
        );
        let (file, binary) = (folder.join(format!("{name}.c")), folder.join(name));
        write(&file, &program);
        let mut compiler = Command::new("gcc");
        compiler.args([
            "-std=c99",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-Wno-unused-const-variable",
            "-o",
        ]);
        if runs(compiler.args([&binary, &file]).arg("-lm")).is_none() {
            return;
        }
        compare(name, &runs(&mut Command::new(&binary)).unwrap(), &points);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The emitted C program under a Runge-Kutta method written in C, beside the tool's own: the same method and step, so that only
/// rounding lies between them.
#[test]
fn emitted_c_integrated_by_c_ends_where_the_tool_does() {
    let folder = folder("integrated");
    let sets = ["simulation.step=1e-5", "simulation.duration=0.5"];
    let run = common::finish(simulation("fig001-conveyor-equations.toml", &sets), 50_000);
    let conveyor = inclusion(include_str!("../../../scenarios/fig001-conveyor-equations.toml"));
    let source = conveyor.emit(Form::C);
    let program = format!(
        "{source}\n#include <stdio.h>\n\
         static void along(const double *from, double h, const double *rate, double *to)\n{{\n    \
         for (int i = 0; i < N; i++)\n        to[i] = from[i] + h * rate[i];\n}}\n\
         int main(void)\n{{\n    const double h = 1e-5;\n    double y[N], trial[N], k1[N], k2[N], k3[N], k4[N];\n    \
         for (int i = 0; i < N; i++)\n        y[i] = INITIAL[i];\n    \
         for (int n = 0; n < 50000; n++) {{\n        rhs(n * h, y, k1);\n        along(y, 0.5 * h, k1, trial);\n        \
         rhs((n + 0.5) * h, trial, k2);\n        along(y, 0.5 * h, k2, trial);\n        rhs((n + 0.5) * h, trial, k3);\n        \
         along(y, h, k3, trial);\n        rhs((n + 1) * h, trial, k4);\n        for (int i = 0; i < N; i++)\n            \
         y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);\n    }}\n    \
         for (int i = 0; i < N; i++)\n        printf(\"%s %.17g\\n\", STATES[i], y[i]);\n    return 0;\n}}\n"
    );
    let (file, binary) = (folder.join("conveyor.c"), folder.join("conveyor"));
    write(&file, &program);
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c99", "-O1", "-o"]);
    if runs(compiler.args([&binary, &file]).arg("-lm")).is_none() {
        return;
    }
    let output = runs(&mut Command::new(&binary)).unwrap();
    assert_eq!(output.lines().count(), conveyor.states().len(), "{output}");
    for line in output.lines() {
        let (name, value) = line.split_once(' ').unwrap();
        close(name, run.at(name, 0.5), value.parse().unwrap(), 1e-11);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn emitted_python_agrees() {
    let folder = folder("python");
    for (name, text) in sources() {
        let points = points(&text);
        let inclusion = inclusion(&text);
        let states: Vec<String> = points.iter().map(|(t, y, _)| format!("({t:?}, {y:?})")).collect();
        let program = format!(
            "{}\n\nfor t, y in [{}]:\n    print(*map(repr, rhs(t, y)))\nassert STATES == {:?} and INITIAL == {:?}\n",
            inclusion.emit(Form::Python),
            states.join(", "),
            inclusion.states(),
            inclusion.initial(),
        );
        let file = folder.join(format!("{name}.py"));
        write(&file, &program);
        let Some(output) = runs(Command::new("python3").arg("-I").arg(&file)) else {
            return;
        };
        compare(name, &output, &points);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn emitted_rust_compiles_without_warnings_and_agrees() {
    let folder = folder("rust");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    for (name, text) in sources() {
        let points = points(&text);
        let calls: Vec<String> = points.iter().map(|(t, y, _)| format!("({t:?}, {y:?})")).collect();
        let source = inclusion(&text).emit(Form::Rust);
        let program = format!(
            "{source}\nfn main() {{\n    for (moment_, numbers_) in [{}] {{\n        for rate_ in rhs(moment_, &numbers_) {{\n            \
             print!(\"{{rate_:e}} \");\n        }}\n        println!();\n    }}\n    assert_eq!(STATES.len(), INITIAL.len());\n}}\n",
            calls.join(", ")
        );
        let (file, binary) = (folder.join(format!("{name}.rs")), folder.join(name));
        write(&file, &program);
        let mut command = Command::new(&compiler);
        command.args(["--edition", "2021", "-D", "warnings", "-A", "uncommon_codepoints", "-o"]);
        if runs(command.args([&binary, &file])).is_none() {
            return;
        }
        compare(name, &runs(&mut Command::new(&binary)).unwrap(), &points);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The emitted programs stand beside the script that integrates them with SciPy; its numbers are the reference.
#[test]
fn scipy_integrates_the_emitted_program_to_the_same_end() {
    let reference = include_str!("reference/inclusion_scipy.csv");
    let mut rows = reference.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = rows.next().unwrap().split(',').collect();
    let run = common::finish(
        simulation(
            "fig001-conveyor-equations.toml",
            &["simulation.step=5e-6", "simulation.duration=1"],
        ),
        40_000,
    );
    for row in rows {
        let values: Vec<f64> = row.split(',').map(|word| word.parse().unwrap()).collect();
        for (name, value) in names.iter().zip(&values).skip(1) {
            close(
                &format!("{name} at {} s", values[0]),
                run.at(name, values[0]),
                *value,
                5e-9,
            );
        }
    }
}
