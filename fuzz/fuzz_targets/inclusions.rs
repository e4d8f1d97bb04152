//! Inclusions: the rewriting keeps values, lanes equal single runs, and everything emitted can be read again.
//!
//! The first line of an input names the states, the second the parameters, the third what is never negative, the fourth is
//! the title; the rest are the equations, one per state.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::core::scalar::{F64x8, Lanes};
use stickslip::inclusion::emit::Form;
use stickslip::inclusion::{Description, Inclusion, Place, Relaxation};
use stickslip::profile::Expression;

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Names with the numbers 1, 2, 3 … of a line.
fn named(line: Option<&str>, factor: f64) -> Vec<(String, f64)> {
    let words = line.unwrap_or("").split_whitespace();
    words
        .zip(1..)
        .map(|(name, i)| (name.to_string(), factor * f64::from(i)))
        .collect()
}

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let states = named(lines.next(), 0.5);
    let parameters = named(lines.next(), 1.0);
    let nonnegative: Vec<String> = lines
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(str::to_string)
        .collect();
    let title = lines.next().unwrap_or("").to_string();
    if states.len() > 12 || text.len() > 2000 {
        return;
    }
    let equations: Vec<(String, String)> = states
        .iter()
        .map(|(name, _)| (name.clone(), lines.next().unwrap_or("0").to_string()))
        .collect();
    let relaxation = Relaxation {
        stiffness: Some(1e4),
        beta: Some(0.01),
        alpha: None,
    };
    let description = Description {
        title,
        states,
        parameters,
        equations,
        relax: vec![
            ("sgn".to_string(), relaxation),
            (
                "dio".to_string(),
                Relaxation {
                    alpha: Some(0.005),
                    ..relaxation
                },
            ),
        ],
        nonnegative,
        ..Description::default()
    };
    let inclusion = match Inclusion::new(description.clone()) {
        Ok(inclusion) => inclusion,
        Err(findings) => {
            assert!(!findings.is_empty());
            for finding in findings {
                let text = match finding.place {
                    Place::Equation(i) => &description.equations[i].1,
                    Place::Nonnegative(i) => &description.nonnegative[i],
                    _ => continue,
                };
                if let Some(span) = finding.span {
                    assert!(text.get(span.clone()).is_some(), "{span:?} is not in {text:?}");
                }
            }
            return;
        }
    };
    let (n, program) = (inclusion.states().len(), inclusion.program());
    assert_eq!(n, inclusion.initial().len());

    // Eight systems side by side are eight systems, one by one.
    let point = |lane: usize, i: usize| {
        inclusion.initial()[i] + [0.0, 1.0, -1.0, 0.3, -7.0, 1e3, -1e-6, 1e12][lane] * (i + 1) as f64
    };
    let mut alone = vec![vec![0.0; n]; 8];
    for (lane, rates) in alone.iter_mut().enumerate() {
        let states: Vec<f64> = (0..n).map(|i| point(lane, i)).collect();
        program.rates(0.25, &states, &[], rates);
    }
    let states: Vec<F64x8> = (0..n)
        .map(|i| Lanes(std::array::from_fn(|lane| point(lane, i))))
        .collect();
    let mut together = vec![Lanes([0.0; 8]); n];
    program.rates_of_eight(Lanes([0.25; 8]), &states, &[], &mut together);
    for (lane, rates) in alone.iter().enumerate() {
        for (i, &rate) in rates.iter().enumerate() {
            assert!(
                same(rate, together[i].0[lane]),
                "rate {i}, lane {lane}: {rate} alone, {} beside others",
                together[i].0[lane]
            );
        }
    }
    let mut jacobian = vec![0.0; n * n];
    program.jacobian(0.25, inclusion.initial(), &[], &mut jacobian);

    // The program and the stack machine of profiles evaluate the same text, and the text that is printed from the graph.
    let written = description.states.len();
    let mut names: Vec<&str> = description.states.iter().map(|(name, _)| name.as_str()).collect();
    names.extend(description.parameters.iter().map(|(name, _)| name.as_str()));
    names.push("t");
    let printed = inclusion.emit(Form::Text);
    let part = printed.split("\nOrdinary differential equation\n").nth(1);
    for (row, (name, formula)) in description.equations.iter().enumerate().filter(|_| n == written) {
        let line = part
            .and_then(|part| part.lines().nth(row))
            .expect("one line for each state");
        let (_, right) = line.split_once(" = ").expect("an equation");
        for text in [formula.as_str(), &right.replace('·', "*")] {
            let expression = match Expression::parse(text, &names) {
                Ok(expression) => expression,
                // Deeper than the stack machine goes, or a constant that is not finite.
                Err(error) if ["deep", "finite"].iter().any(|word| error.message.contains(word)) => continue,
                Err(error) => panic!("d/dt {name} = {text:?} cannot be read: {error}"),
            };
            for (lane, rates) in alone.iter().enumerate() {
                let mut values: Vec<f64> = (0..n).map(|i| point(lane, i)).collect();
                values.extend(description.parameters.iter().map(|(_, value)| value));
                values.push(0.25);
                let value = expression.evaluate(&values);
                assert!(
                    same(value, rates[row]),
                    "{name}, lane {lane}: {value} as {text:?}, {} as a program",
                    rates[row]
                );
            }
        }
    }
    for (_, form) in Form::ALL {
        let text = inclusion.emit(form);
        assert!(!text.is_empty() && !text.contains('\0'));
    }
});
