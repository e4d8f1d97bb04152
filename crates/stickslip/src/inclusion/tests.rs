//! The rewriting against equation 33 of seed 001, hand-written; refusals with their places; programs against each other.

use super::emit::{Form, plain};
use super::graph::Graph;
use super::tree::{Name, Tree};
use super::*;
use crate::quantity::Dimension;
use proptest::prelude::*;
use stickslip_core::scalar::{F64x8, Real};

const RELAX_SGN: (&str, Relaxation) = (
    "sgn",
    Relaxation {
        stiffness: Some(2e4),
        beta: Some(5e-3),
        alpha: None,
    },
);
const RELAX_DIO: (&str, Relaxation) = (
    "dio",
    Relaxation {
        stiffness: Some(2e4),
        beta: Some(5e-3),
        alpha: Some(2.5e-3),
    },
);

fn pairs(list: &[(&str, f64)]) -> Vec<(String, f64)> {
    list.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

fn texts(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, text)| (name.to_string(), text.to_string()))
        .collect()
}

fn relax() -> Vec<(String, Relaxation)> {
    [RELAX_SGN, RELAX_DIO]
        .map(|(name, values)| (name.to_string(), values))
        .to_vec()
}

/// Seed 001, eqs 23-26, with the parentheses that eq 33 shows.
fn conveyor() -> Description {
    Description {
        title: "Example 2".into(),
        states: pairs(&[
            ("p1x", 0.0),
            ("p1y", 0.15),
            ("p2x", 0.05),
            ("p2y", 0.0),
            ("v1x", 0.0),
            ("v1y", 0.0),
            ("v2x", 0.0),
            ("v2y", 0.0),
        ]),
        parameters: pairs(&[
            ("M1", 1.0),
            ("M2", 2.0),
            ("Ks", 200.0),
            ("mu1", 0.2),
            ("mu2", 0.3),
            ("mu3", 0.4),
            ("u", 0.5),
            ("g", 9.8),
        ]),
        equations: texts(&[
            ("p1x", "v1x"),
            ("p1y", "v1y"),
            ("p2x", "v2x"),
            ("p2y", "v2y"),
            ("v1x", "(dio(p1x) - dio(p2x - p1x))/M1"),
            (
                "v1y",
                "(-mu1*dio(p1x)*sgn(v1y) - mu2*dio(p2x - p1x)*sgn(v1y - v2y) - Ks*p1y)/M1",
            ),
            ("v2x", "(-mu3*dio(p2y)*sgn(v2x + u) + dio(p2x - p1x))/M2"),
            ("v2y", "(mu2*dio(p2x - p1x)*sgn(v1y - v2y) + dio(p2y))/M2 - g"),
        ]),
        relax: relax(),
        ..Description::default()
    }
}

/// A block, to be spoilt.
fn block(rate: &str) -> Description {
    Description {
        states: pairs(&[("p", 0.0), ("v", 0.2)]),
        parameters: pairs(&[("M", 1.0), ("F", 0.5), ("G", -0.5)]),
        inputs: vec![Input {
            name: "fe".into(),
            profile: Profile::parse("min(0.52, 0.3*t) - 0.25", Dimension::NONE).unwrap(),
            formula: Some(("min(0.52, 0.3*t) - 0.25".into(), 1.0)),
        }],
        equations: texts(&[("p", "v"), ("v", rate)]),
        relax: relax(),
        ..Description::default()
    }
}

fn rewritten(description: Description) -> Inclusion {
    Inclusion::new(description).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

/// The sections of the text, by their headings.
fn section<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let from = text.lines().skip_while(move |line| !line.starts_with(heading)).skip(1);
    from.take_while(|line| !line.is_empty()).map(str::trim).collect()
}

/// Eqs 27-33 written by hand from the paper: e is dio, a is sgn, ψ is f_dio, θ is f_sgn.
#[test]
fn equation_23_goes_in_and_equation_33_comes_out() {
    let inclusion = rewritten(conveyor());
    let text = inclusion.emit(Form::Text);
    let contacts = section(&text, "Step 1");
    assert_eq!(
        contacts[0],
        "f_dio1 = K_dio1·max(0, dio1 - beta_dio1·(p1x + dio1)/alpha_dio1)"
    ); // 27
    assert_eq!(
        contacts[2],
        "f_dio2 = K_dio2·max(0, dio2 - beta_dio2·(p2x - p1x + dio2)/alpha_dio2)"
    ); // 28
    assert_eq!(
        contacts[4],
        "f_dio3 = K_dio3·max(0, dio3 - beta_dio3·(p2y + dio3)/alpha_dio3)"
    ); // 29
    assert_eq!(contacts[1], "from dio(p1x) in the equations of v1x, v1y");
    assert_eq!(contacts.len(), 6);
    let frictions = section(&text, "Step 2");
    assert_eq!(
        frictions[0],
        "f_sgn1 = K_sgn1·sat(mu1·f_dio1/K_sgn1, sgn1 + beta_sgn1·v1y)"
    ); // 30
    assert_eq!(
        frictions[2],
        "f_sgn2 = K_sgn2·sat(mu2·f_dio2/K_sgn2, sgn2 + beta_sgn2·(v1y - v2y))"
    ); // 31
    assert_eq!(
        frictions[4],
        "f_sgn3 = K_sgn3·sat(mu3·f_dio3/K_sgn3, sgn3 + beta_sgn3·(v2x + u))"
    ); // 32
    assert_eq!(
        frictions[3],
        "from mu2·dio(p2x - p1x)·sgn(v1y - v2y) in the equations of v1y, v2y"
    );
    assert_eq!(frictions.len(), 6);
    assert_eq!(
        section(&text, "Ordinary"), // 33
        [
            "d/dt p1x  = v1x",
            "d/dt p1y  = v1y",
            "d/dt p2x  = v2x",
            "d/dt p2y  = v2y",
            "d/dt v1x  = (f_dio1 - f_dio2)/M1",
            "d/dt v1y  = (-f_sgn1 - f_sgn2 - Ks·p1y)/M1",
            "d/dt v2x  = (-f_sgn3 + f_dio2)/M2",
            "d/dt v2y  = (f_sgn2 + f_dio3)/M2 - g",
            "d/dt dio1 = max(-dio1/beta_dio1, -(p1x + dio1)/alpha_dio1)",
            "d/dt dio2 = max(-dio2/beta_dio2, -(p2x - p1x + dio2)/alpha_dio2)",
            "d/dt dio3 = max(-dio3/beta_dio3, -(p2y + dio3)/alpha_dio3)",
            "d/dt sgn1 = (f_sgn1/K_sgn1 - sgn1)/beta_sgn1",
            "d/dt sgn2 = (f_sgn2/K_sgn2 - sgn2)/beta_sgn2",
            "d/dt sgn3 = (f_sgn3/K_sgn3 - sgn3)/beta_sgn3",
        ]
    );
    assert_eq!(
        inclusion.states()[8..],
        ["dio1", "dio2", "dio3", "sgn1", "sgn2", "sgn3"]
    );
}

/// Eq 33 as one would write it in Rust.
fn by_hand(y: &[f64; 14]) -> [f64; 14] {
    let [p1x, p1y, p2x, p2y, v1x, v1y, v2x, v2y, e1, e2, e3, a1, a2, a3] = *y;
    let (k, beta, alpha) = (2e4, 5e-3, 2.5e-3);
    let contact = |p: f64, e: f64| k * f64::max(0.0, e - beta * (p + e) / alpha);
    let contact_rate = |p: f64, e: f64| f64::max(-e / beta, -(p + e) / alpha);
    let sat = |bound: f64, x: f64| if x.abs() > bound { bound * x / x.abs() } else { x };
    let friction = |f: f64, a: f64, v: f64| k * sat(f / k, a + beta * v);
    let (psi1, psi2, psi3) = (contact(p1x, e1), contact(p2x - p1x, e2), contact(p2y, e3));
    let theta1 = friction(0.2 * psi1, a1, v1y);
    let theta2 = friction(0.3 * psi2, a2, v1y - v2y);
    let theta3 = friction(0.4 * psi3, a3, v2x + 0.5);
    [
        v1x,
        v1y,
        v2x,
        v2y,
        (psi1 - psi2) / 1.0,
        (-200.0 * p1y - theta1 - theta2) / 1.0,
        (-theta3 + psi2) / 2.0,
        (theta2 + psi3) / 2.0 - 9.8,
        contact_rate(p1x, e1),
        contact_rate(p2x - p1x, e2),
        contact_rate(p2y, e3),
        (theta1 / k - a1) / beta,
        (theta2 / k - a2) / beta,
        (theta3 / k - a3) / beta,
    ]
}

/// States near those of the example, touching and not, sticking and not.
fn state_of_conveyor() -> impl Strategy<Value = [f64; 14]> {
    prop::array::uniform14(-1.0f64..1.0).prop_map(|unit| {
        std::array::from_fn(|i| match i {
            0..4 => unit[i] * 1e-2,
            4..8 => unit[i],
            8..11 => unit[i].abs() * 2e-3,
            _ => unit[i] * 1e-3,
        })
    })
}

proptest! {
    /// To 1.4e-14 of the largest term of each rate.
    #[test]
    fn the_program_is_equation_33_by_hand(y in state_of_conveyor()) {
        let inclusion = rewritten(conveyor());
        let mut rates = [0.0; 14];
        inclusion.program().rates(0.0, &y, &[], &mut rates);
        let expected = by_hand(&y);
        for i in 0..14 {
            // Sums of forces up to 2e4*2*2e-2 N cancel.
            let scale = if i < 4 { 0.0 } else if i < 8 { 800.0 } else { expected[i].abs().max(1.0) };
            prop_assert!((rates[i] - expected[i]).abs() <= 1.4e-14 * scale, "{} of {}: {:e} {:e}", i, 14, rates[i], expected[i]);
        }
    }

    #[test]
    fn lanes_have_the_bits_of_single_numbers(y in prop::array::uniform8(state_of_conveyor()), t in 0.0f64..2.0) {
        for description in [conveyor(), functions()] {
            let inclusion = rewritten(description);
            let (n, inputs) = (inclusion.states().len(), inclusion.description().inputs.len());
            let lanes: Vec<F64x8> = (0..n).map(|i| std::array::from_fn(|lane| y[lane][i])).map(stickslip_core::scalar::Lanes).collect();
            let input: Vec<F64x8> = vec![F64x8::lit(0.25); inputs];
            let mut rates = vec![F64x8::lit(0.0); n];
            inclusion.program().rates_of_eight(F64x8::lit(t), &lanes, &input, &mut rates);
            for (lane, y) in y.iter().enumerate() {
                let mut single = vec![0.0; n];
                inclusion.program().rates(t, &y[..n], &vec![0.25; inputs], &mut single);
                for i in 0..n {
                    prop_assert_eq!(single[i].to_bits(), rates[i].0[lane].to_bits());
                }
            }
        }
    }

    /// Central differences with h = 1e-7 are good to about 1e-7 away from kinks; near one the two sides differ.
    #[test]
    fn the_jacobian_is_that_of_differences(y in state_of_conveyor(), t in 0.1f64..2.0) {
        for description in [conveyor(), functions()] {
            let inclusion = rewritten(description);
            let (n, inputs) = (inclusion.states().len(), vec![0.25; inclusion.description().inputs.len()]);
            let program = inclusion.program();
            let y = &y[..n];
            let mut jacobian = vec![0.0; n * n];
            program.jacobian(t, y, &inputs, &mut jacobian);
            for j in 0..n {
                let h = 1e-7;
                let at = |offset: f64| {
                    let (mut moved, mut rates) = (y.to_vec(), vec![0.0; n]);
                    moved[j] += offset;
                    program.rates(t, &moved, &inputs, &mut rates);
                    rates
                };
                let (before, here, after) = (at(-h), at(0.0), at(h));
                for i in 0..n {
                    let (left, right) = ((here[i] - before[i]) / h, (after[i] - here[i]) / h);
                    let scale = 1.0 + jacobian[i * n + j].abs() + here[i].abs();
                    let between = jacobian[i * n + j] >= left.min(right) - 1e-5 * scale && jacobian[i * n + j] <= left.max(right) + 1e-5 * scale;
                    prop_assert!(between, "d rate {} / d {}: {:e} not between {:e} and {:e}", i, j, jacobian[i * n + j], left, right);
                }
            }
        }
    }
}

/// Every function and operation of the language, a vector sgn in three dimensions, time and an input.
fn functions() -> Description {
    Description {
        states: pairs(&[("x", 0.3), ("y", 0.2), ("z", 0.1), ("w", 0.4)]),
        parameters: pairs(&[("a", 1.5), ("b", -0.7)]),
        inputs: vec![Input {
            name: "fe".into(),
            profile: Profile::parse("0.25 + 0*t", Dimension::NONE).unwrap(),
            formula: Some(("0.25 + 0*t".into(), 1.0)),
        }],
        equations: texts(&[
            ("x", "sin(x)*cos(y) - tan(z) + tanh(w) + exp(-x) + fe*t"),
            (
                "y",
                "ln(2 + x^2) + sqrt(1.5 + y) + abs(z)*sign(b) - (3 + w)^1.5 + 2^y - a*sgn([x, y, z]).y",
            ),
            (
                "z",
                "min(x, y, z) + max(x, 0.1, w) + if(t < 1, x*y, z/(2 + w)) + (x < y)*0.5 - a*sgn([x, y, z]).z",
            ),
            (
                "w",
                "-a*sgn([x, y, z]).x + max(0, a - x)*sgn(w) + dio(x + b*y)*2 + (x >= y) - (x != y)",
            ),
        ]),
        relax: relax(),
        ..Description::default()
    }
}

#[test]
fn one_state_for_each_pair_and_one_vector_state_for_all_its_components() {
    let inclusion = rewritten(functions());
    assert_eq!(inclusion.states()[4..], ["dio1", "sgn1.x", "sgn1.y", "sgn1.z", "sgn2"]);
    // The same θ with two χ: two states; the same χ written in another order: one.
    let pair = rewritten(Description {
        equations: texts(&[
            ("p", "F*M*sgn(v) + M*F*sgn(v) + sgn(v)"),
            ("v", "-2*sgn(v)*M*F + F*sgn(-p)"),
        ]),
        ..block("")
    });
    assert_eq!(pair.states()[2..], ["sgn1", "sgn2", "sgn3", "sgn4"]);
    assert_eq!(
        section(&pair.emit(Form::Text), "Ordinary")[0],
        "d/dt p    = f_sgn1 + f_sgn1 + f_sgn2"
    );
}

#[test]
fn signs_stay_outside_and_brackets_keep_a_factor_outside() {
    for (rate, expected) in [
        ("-F*sgn(v)/M", "-f_sgn1/M"),
        ("(fe - F*sgn(v))/M", "(fe - f_sgn1)/M"),
        ("F*-sgn(v)", "-f_sgn1"),
        ("-(F*-sgn(v))", "-(-f_sgn1)"),
        ("-F*-sgn(v)", "f_sgn1"),
        ("p*(F*sgn(v))", "p·f_sgn1"),
        ("sgn(v)", "f_sgn1"),
        ("if(t < 1, F*sgn(v), 2*sgn(v))", "if(t < 1, f_sgn1, f_sgn2)"),
        ("3*dio(p)^2 - 1", "3·f_dio1^2 - 1"),
    ] {
        let text = rewritten(block(rate)).emit(Form::Text);
        let line = section(&text, "Ordinary")[1];
        assert_eq!(line.split_once("= ").unwrap().1, expected, "{rate}");
    }
}

#[test]
fn friction_at_a_contact_without_force_is_nothing() {
    // χ = 0 with a = 0 and θ = 0: no 0/0.
    for rate in ["-dio(p + 1)*sgn(v - 0.2)", "-dio(p + 1)*sgn([v - 0.2, p]).x"] {
        let inclusion = rewritten(block(rate));
        let mut rates = vec![1.0; inclusion.states().len()];
        inclusion.program().rates(0.0, inclusion.initial(), &[0.0], &mut rates);
        assert_eq!(rates[1..], vec![0.0; rates.len() - 1], "{rate}");
    }
}

#[test]
fn the_force_never_exceeds_its_bound() {
    let inclusion = rewritten(block("-F*sgn(v)"));
    for i in 0..2000 {
        let (v, a) = (libm::sin(f64::from(i)), 3e-5 * libm::cos(f64::from(3 * i)));
        let mut rates = [0.0; 3];
        inclusion.program().rates(0.0, &[0.0, v, a], &[0.0], &mut rates);
        assert!(rates[1].abs() <= 0.5);
    }
}

/// Equation at fault, the text at fault, part of the message, part of the help.
#[test]
fn refusals_show_the_place_the_reason_and_the_remedy() {
    for (rate, fault, message, help) in [
        (
            "(fe - p*sgn(v))/M",
            "p",
            "`p` multiplies sgn(v) and may be negative",
            "nonnegative = [\"p\"]",
        ),
        ("-F*p*sgn(v)", "p", "may be negative", "p*(F*sgn(v))"),
        ("fe*sgn(v)", "fe", "may be negative", "nonnegative"),
        ("G*sgn(v)", "G", "is -0.5: friction would drive", "put the sign outside"),
        ("(F - v)*sgn(v)", "F - v", "may be negative", ""),
        ("F*sign(p)*sgn(v)", "sign(p)", "which jumps", "tanh"),
        ("F*(p > 0)*sgn(v)", "p > 0", "which jumps", ""),
        ("if(p > 0, 1, 2)*sgn(v)", "if(p > 0, 1, 2)", "which jumps", ""),
        ("(p > 0)*(F*sgn(v))", "p > 0", "which jumps", ""),
        (
            "if(p > 0, F*sgn(v), 0)",
            "if(p > 0, F*sgn(v), 0)",
            "an if that depends on the state",
            "t alone",
        ),
        (
            "sgn(v)*sgn(p)",
            "sgn(p)",
            "`sgn(v)` is multiplied by `sgn(p)`",
            "no rewriting",
        ),
        ("F*sgn(v + sgn(p))", "sgn(p)", "cannot be nested", ""),
        ("F*sgn(dio(p))", "dio(p)", "cannot be nested", ""),
        ("dio(p - dio(v))", "dio(v)", "cannot be nested", ""),
        ("dio(sgn(v))", "sgn(v)", "cannot be nested", ""),
        ("1/sgn(v)", "sgn(v)", "stands in a divisor", ""),
        ("sgn(v)^2", "sgn(v)^2", "product of sgn with itself", ""),
        ("2^sgn(v)", "sgn(v)", "stands in an exponent", ""),
        ("sgn(v) > 0", "sgn(v)", "no single value at 0", ""),
        ("if(sgn(v), 1, 2)", "sgn(v)", "no single value at 0", ""),
        ("F*sgn(w)", "w", "unknown name \"w\"", ""),
        ("floor(p)", "floor", "functions here: abs, ", ""),
        (
            "(p + F)*sgn(v)",
            "p + F",
            "may be negative",
            "bracket: (p + F)*(sgn(v))",
        ),
        ("(fe - F*sgm(v))/M", "sgm", "did you mean \"sgn\"?", ""),
        ("(fe - F*sgn(v)/M", "", "expected \")\"", ""),
        ("F*sgn([v, p])", "sgn([v, p])", "say which component", ""),
        ("F*sgn([v, p]).z", "z", ".x or .y", ""),
        ("F*sgn([v]).x", "sgn([v])", "2 or 3 components", ""),
        ("F*sgn([v, p, v, p]).x", "sgn([v, p, v, p])", "found 4", ""),
        ("dio([p, v])", "[", "one number", ""),
        ("F*sgn(v])", "]", "expected \")\"", ""),
        ("v]", "]", "unmatched \"]\"", ""),
        ("v.x", "v.x", "unknown name \"v.x\"", ""),
        (
            "1/p",
            "1/p",
            "division by zero at the start: `p` is 0",
            "initial values",
        ),
        ("F*sgn(v/p)", "v/p", "division by zero at the start", ""),
        ("dio(M/p)", "M/p", "division by zero at the start", ""),
        ("sqrt(G)", "sqrt(G)", "`G` is -0.5", ""),
        ("ln(p)", "ln(p)", "has no value at the start", ""),
        ("if(p == 0, 1/p, 0)", "1/p", "division by zero", ""),
        ("exp(1000*M)", "exp(1000*M)", "not finite at the start", ""),
    ] {
        let findings = Inclusion::new(block(rate)).map(|_| ()).unwrap_err();
        let finding = findings.iter().find(|finding| finding.message.contains(message));
        let finding = finding.unwrap_or_else(|| panic!("{rate}: {findings:#?}"));
        assert_eq!(finding.place, Place::Equation(1), "{rate}");
        let span = finding.span.clone().unwrap();
        assert_eq!(&rate[span], fault, "{rate}: {}", finding.message);
        assert!(finding.help.contains(help), "{rate}: {}", finding.help);
    }
    // One fault, one message.
    assert_eq!(Inclusion::new(block("sgn(p)*sgn(v)")).map(|_| ()).unwrap_err().len(), 1);
    // What is not taken is not to blame.
    assert!(Inclusion::new(block("if(p == 0, 1, 1/p)")).is_ok());
    assert!(Inclusion::new(block("if(t < 1, 1, 2)*sgn(v)")).is_ok());
}

#[test]
fn assertions_are_believed_unless_they_are_known_to_be_wrong() {
    let with = |rate: &str, asserted: &[&str]| {
        Inclusion::new(Description {
            nonnegative: asserted.iter().map(|text| text.to_string()).collect(),
            ..block(rate)
        })
    };
    assert!(with("p*sgn(v)", &["p"]).is_ok());
    assert!(with("F*p*sgn(v)", &["p"]).is_ok());
    assert!(with("(F + v)*sgn(v)", &["F+v"]).is_ok());
    // Products, in any order and in brackets; squares.
    assert!(with("p*v*sgn(v)", &["p*v"]).is_ok());
    assert!(with("-F*v*2*p*sgn(v)", &["p*v"]).is_ok());
    assert!(with("F*(v*p)*sgn(v)", &["p*v"]).is_ok());
    assert!(with("v*v*sgn(v)", &[]).is_ok());
    assert!(with("v*F*v*sgn(v)", &[]).is_ok());
    assert!(with("p*v*v*sgn(v)", &["p*v"]).is_err());
    assert!(with("v*v*v*sgn(v)", &[]).is_err());
    assert!(with("p*sgn(v)", &["p*v"]).is_err());
    assert!(with("(p - v)*sgn(v)", &["p", "v"]).is_err());
    let findings = with("F*sgn(v)", &["G"]).unwrap_err();
    assert_eq!(findings[0].place, Place::Nonnegative(0));
    assert!(findings[0].message.contains("it is -0.5"));
    let findings = with("F*sgn(v)", &["F", "f e"]).unwrap_err();
    assert_eq!(
        (&findings[0].place, findings[0].span.clone()),
        (&Place::Nonnegative(1), Some(0..1))
    );
}

#[test]
fn names_states_and_relaxations_are_checked() {
    let place = |description: Description, part: &str| {
        let findings = Inclusion::new(description).map(|_| ()).unwrap_err();
        let finding = findings.iter().find(|finding| finding.message.contains(part));
        finding.unwrap_or_else(|| panic!("{part}: {findings:#?}")).place.clone()
    };
    let mut lacking = block("F*sgn(v)");
    lacking.equations.pop();
    assert_eq!(place(lacking, "the state `v` has no equation"), Place::State(1));
    let mut extra = block("F*sgn(v)");
    extra.equations.push(("q".into(), "1".into()));
    assert_eq!(place(extra, "`q`, which is no state"), Place::Equation(2));
    let mut twice = block("F*sgn(v)");
    twice.equations.push(("v".into(), "1".into()));
    assert_eq!(place(twice, "two equations"), Place::Equation(2));
    for (name, part) in [
        ("t", "cannot be named `t`"),
        ("sgn", "cannot be named `sgn`"),
        ("max", "cannot be named `max`"),
        ("dio1", "cannot be named `dio1`"),
        ("p", "a parameter and also a state"),
        ("a-b", "cannot be named in an expression"),
        ("2x", "cannot be named in an expression"),
        ("", "cannot be named in an expression"),
    ] {
        let mut named = block("F*sgn(v)");
        named.parameters.push((name.into(), 1.0));
        assert_eq!(place(named, part), Place::Parameter(3), "{name}");
    }
    assert_eq!(place(Description::default(), "no state"), Place::Whole);
    let with = |relax: &[(&str, Relaxation)]| Description {
        relax: relax.iter().map(|(name, values)| (name.to_string(), *values)).collect(),
        ..block("dio(p) - F*sgn(v)")
    };
    let given = |stiffness: f64, beta: f64, alpha: f64| Relaxation {
        stiffness: Some(stiffness),
        beta: Some(beta),
        alpha: Some(alpha),
    };
    assert_eq!(
        place(
            with(&[RELAX_DIO]),
            "`sgn(v)` becomes a state `sgn1`, but `relax` gives no stiffness"
        ),
        Place::Whole
    );
    assert_eq!(
        place(
            with(&[RELAX_SGN]),
            "`dio(p)` becomes a state `dio1`, but `relax` gives no stiffness, no beta, no alpha"
        ),
        Place::Whole
    );
    let without_beta = Relaxation {
        beta: None,
        ..RELAX_SGN.1
    };
    assert_eq!(
        place(with(&[RELAX_DIO, ("sgn", without_beta)]), "gives no beta"),
        Place::Relax(1, "")
    );
    let active = ("dio", given(1e4, 0.01, 0.0101));
    assert_eq!(
        place(
            with(&[RELAX_SGN, active]),
            "alpha of `dio1` (0.0101 s) is greater than beta (0.01 s)"
        ),
        Place::Relax(1, "alpha")
    );
    assert_eq!(
        place(
            with(&[RELAX_SGN, ("dio", given(1e4, 0.01, 0.0))]),
            "alpha of `dio` must be greater than 0"
        ),
        Place::Relax(1, "alpha")
    );
    assert_eq!(
        place(
            with(&[RELAX_SGN, RELAX_DIO, ("dio2", RELAX_DIO.1)]),
            "`dio2` is no term"
        ),
        Place::Relax(2, "")
    );
    assert_eq!(
        place(with(&[("sgn", given(1.0, 1.0, 1.0)), RELAX_DIO]), "`sgn` has no alpha"),
        Place::Relax(0, "alpha")
    );
    // One term may have numbers of its own, and alpha may equal beta.
    let own = rewritten(with(&[
        RELAX_SGN,
        RELAX_DIO,
        (
            "dio1",
            Relaxation {
                alpha: Some(5e-3),
                ..Relaxation::default()
            },
        ),
    ]));
    assert_eq!((own.contacts[0].stiffness, own.contacts[0].alpha), (2e4, 5e-3));
}

#[test]
fn long_formulas_are_refused_and_not_followed() {
    let sum = format!("v{}", " + v*p".repeat(900));
    assert!(Inclusion::new(block(&sum)).is_ok());
    let sum = format!("v{}", " + v*p".repeat(100_000));
    let findings = Inclusion::new(block(&sum)).map(|_| ()).unwrap_err();
    assert!(findings[0].message.contains("more than 1000 operations"));
    let nested = format!("{}v{}", "sin(".repeat(5000), ")".repeat(5000));
    assert!(Inclusion::new(block(&nested)).is_err());
    // Every constant needs a register.
    let mut halves: Vec<String> = (0..6000).map(|i| format!("sin({i}*p)")).collect();
    while halves.len() > 1 {
        halves = halves.chunks(2).map(|pair| format!("({})", pair.join("+"))).collect();
    }
    let findings = Inclusion::new(block(&halves[0])).map(|_| ()).unwrap_err();
    assert!(findings[0].message.contains("more than 4096 numbers"), "{findings:?}");
}

const NAMES: [(&str, Name); 6] = [
    ("t", Name::Time),
    ("p", Name::State(0)),
    ("v", Name::State(1)),
    ("M", Name::Parameter(0)),
    ("F", Name::Parameter(1)),
    ("fe", Name::Input(0)),
];

/// A formula of the language.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["t", "p", "v", "M", "F", "fe", "pi"]).prop_map(String::from),
        (0u32..100).prop_map(|n| n.to_string()),
        (0.0f64..10.0).prop_map(|x| format!("{x:?}")),
    ];
    leaf.prop_recursive(6, 60, 3, |inner| {
        (inner.clone(), inner.clone(), inner, 0..18).prop_map(|(a, b, c, kind)| match kind {
            0 => format!("({a} + {b})"),
            1 => format!("{a} - ({b})"),
            2 => format!("({a})*({b})"),
            3 => format!("({a})/({b})"),
            4 => format!("-({a})"),
            5 => format!("({a})^({b})"),
            6 => format!("min({a}, {b}, {c})"),
            7 => format!("max({a}, {b})"),
            8 => format!("if({a} < {b}, {b}, {c})"),
            9 => format!("sin({a})"),
            10 => format!("abs({a}) + sqrt({b})"),
            11 => format!("({a} >= {b})"),
            12 => format!("F*sgn({a})"),
            13 => format!("dio({a})"),
            14 => format!("F*dio(p)*sgn([{a}, {b}]).y"),
            15 => format!("-sgn([{a}, {b}, {c}]).z"),
            16 => format!("-{a}^2"),
            _ => format!("{a}*{b}/{c}"),
        })
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back_as_the_same(text in formula()) {
        let description = block("v");
        let mut graph = Graph::default();
        let tree = Tree::parse(&text, &NAMES, Place::Whole).unwrap();
        let id = graph.take(&tree)[tree.root()];
        let printed = plain(&description, &graph, id);
        let again = Tree::parse(&printed, &NAMES, Place::Whole);
        let again = again.unwrap_or_else(|finding| panic!("{text} -> {printed}: {}", finding.message));
        prop_assert_eq!(graph.take(&again)[again.root()], id, "{} -> {}", text, printed);
    }

    #[test]
    fn any_formula_is_rewritten_or_refused(text in formula()) {
        survives(&text);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,60}", near in "[0-9tpvMFsgndio.xy+*/^()<>=!, \\[\\]-]{0,60}") {
        survives(&text);
        survives(&near);
    }

    #[test]
    fn a_spoilt_equation_is_read_without_panic(which in 0usize..4, at in any::<prop::sample::Index>(), cut in 0usize..6, insert in "[\\PC]{0,3}") {
        let text = [
            "(-mu1*dio(p1x)*sgn(v1y) - mu2*dio(p2x - p1x)*sgn(v1y - v2y) - Ks*p1y)/M1",
            "(fe - F*sgn([v, p]).x)/M + if(t < 1, dio(p), -F*sgn(v))",
            "min(0.52, 0.3*t)*sgn(v) - max(p, 0)^2*dio(-p)",
            "F*sgn([v, p, v]).z*2 + tanh(p/M)",
        ][which];
        let letters: Vec<char> = text.chars().collect();
        let from = at.index(letters.len());
        let to = (from + cut).min(letters.len());
        let spoilt: String = letters[..from].iter().chain(&insert.chars().collect::<Vec<_>>()).chain(&letters[to..]).collect();
        survives(&spoilt);
    }
}

/// Rewritten and shown in every form, or refused with a place inside the text.
fn survives(text: &str) {
    match Inclusion::new(block(text)) {
        Ok(inclusion) => {
            for (_, form) in Form::ALL {
                assert!(!inclusion.emit(form).is_empty());
            }
        }
        Err(findings) => {
            for finding in findings {
                if let (Place::Equation(1), Some(span)) = (finding.place, finding.span) {
                    assert!(text.get(span).is_some(), "{text}");
                }
            }
        }
    }
}

#[cfg(feature = "jit")]
proptest! {
    #[test]
    fn native_code_has_the_bits_of_the_program(y in state_of_conveyor(), t in 0.0f64..2.0) {
        use super::native::Native;
        for description in [conveyor(), functions()] {
            let inclusion = rewritten(description);
            let (n, inputs) = (inclusion.states().len(), inclusion.description().inputs.len());
            // Inputs from the end of the signals, the time first.
            let signals: Vec<usize> = (0..=inputs).rev().collect();
            let native = Native::compile(inclusion.program(), &signals).unwrap();
            let (mut expected, mut rates) = (vec![0.0; n], vec![1.0; n]);
            inclusion.program().rates(t, &y[..n], &vec![0.25; inputs], &mut expected);
            native.rates(&y[..n], &[vec![t], vec![0.25; inputs]].concat(), &mut rates);
            for i in 0..n {
                prop_assert_eq!(expected[i].to_bits(), rates[i].to_bits(), "rate {}", i);
            }
        }
    }
}

#[test]
fn titles_bring_nothing_unseen_into_what_is_emitted() {
    let inclusion = Inclusion::new(Description {
        title: "bell \u{7}, zero \0, escape \u{1b}[31m, turned \u{202e}".into(),
        states: vec![("x".into(), 1.0)],
        equations: vec![("x".into(), "-2*x".into())],
        ..Description::default()
    })
    .unwrap();
    for (name, form) in Form::ALL {
        let text = inclusion.emit(form);
        assert!(text.contains("bell"), "{name}: {text}");
        let seen = |letter: char| letter == '\n' || (!letter.is_control() && letter != '\u{202e}');
        assert!(text.chars().all(seen), "{name}: {text:?}");
    }
}
