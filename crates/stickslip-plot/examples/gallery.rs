//! Draws sample figures and a sample page into the directory given as argument, to be looked at.

use stickslip_plot::page::{Claim, Page, Section, Value, Verdict};
use stickslip_plot::{Color, Figure, Legend, Panel, Reference, Scale, Series, Style};

fn times(n: usize, end: f64) -> Vec<f64> {
    (0..n).map(|i| end * i as f64 / (n - 1) as f64).collect()
}

fn map(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|x| f(*x)).collect()
}

/// Seven methods in rows, force and velocity in columns.
fn grid() -> Figure {
    let t = times(40_001, 4.0);
    let mut panels = Vec::new();
    for (row, name) in ["K1", "K2", "K3", "Q1", "Q2", "Q3", "P"].into_iter().enumerate() {
        let chatter = name == "Q3";
        let force = t.iter().enumerate().map(|(i, t)| {
            let sign = if i % 2 == 0 { 10.0 } else { -10.0 };
            match *t {
                t if t < 0.05 => -200.0 * t,
                t if t < 2.0 => -10.0,
                _ if chatter => sign,
                t => -2.0 + row as f64 * libm::exp(-(t - 2.0) * 3.0),
            }
        });
        let force = force.collect();
        let belt = map(&t, |t| if t < 2.0 { 2.0 } else { 0.0 });
        let speed = map(&t, |t| if t < 2.05 { 2.0 - 2.0 * libm::cos(9.5 * t) } else { 0.0 });
        let title = |text: &str| {
            if row == 0 { text.to_string() } else { String::new() }
        };
        panels.push(Panel {
            title: title("force $f$ (N)"),
            y_range: Some((-12.5, 12.5)),
            ..Panel::new("$t$ (s)", name).with(Series::line("", t.clone(), force))
        });
        panels.push(Panel {
            title: title("velocity $v$ (m/s)"),
            ..Panel::new("$t$ (s)", "")
                .with(Series::line("", t.clone(), belt).style(Style::Solid).color(Color::GREY))
                .with(
                    Series::line("", t.clone(), speed)
                        .style(Style::Solid)
                        .color(Color::PALETTE[0]),
                )
        });
    }
    Figure {
        columns: 2,
        panels,
        width: 300.0,
        height: 78.0,
        ..Figure::default()
    }
}

fn overlay() -> Figure {
    let t = times(20_000, 12.0);
    let mut panel = Panel {
        references: vec![
            Reference::horizontal(0.6, "$μ_s N$"),
            Reference::vertical(7.5, "release"),
        ],
        ..Panel::new("time $t$ (s)", "friction force $F_t$ (N)")
    };
    for (k, name) in ["Coulomb", "Dahl", "LuGre, $σ_0$ = 10⁵ N/m", "elasto-plastic"]
        .into_iter()
        .enumerate()
    {
        let k = k as f64;
        let y = map(&t, |t| {
            (0.6 - 0.05 * k) * libm::tanh((2.0 + k) * libm::sin(t + 0.2 * k)) * libm::exp(-0.05 * t)
        });
        panel = panel.with(Series::line(name, t.clone(), y));
    }
    Figure {
        title: "Four laws under the same load".into(),
        width: 560.0,
        height: 320.0,
        ..Figure::from(panel)
    }
}

fn convergence() -> Figure {
    let steps: Vec<f64> = (0..8).map(|i| 1e-1 / f64::from(1 << i)).collect();
    let panel = Panel {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        ..Panel::new("step $h$ (s)", "error $|x_h - x|$ (m)")
            .with(Series::line("backward Euler", steps.clone(), map(&steps, |h| 0.3 * h)).style(Style::Marked))
            .with(Series::line("trapezoidal", steps.clone(), map(&steps, |h| 0.2 * h * h)).style(Style::Marked))
            .with(
                Series::line(
                    "Radau IIA, 3 stages",
                    steps.clone(),
                    map(&steps, |h| 0.1 * libm::pow(h, 5.0)),
                )
                .style(Style::Marked),
            )
            .with(
                Series::line("slope 5", steps.clone(), map(&steps, |h| 0.3 * libm::pow(h, 5.0)))
                    .style(Style::Dashed)
                    .color(Color::GREY),
            )
    };
    Figure {
        width: 380.0,
        height: 300.0,
        ..Figure::from(panel)
    }
}

/// What must not go wrong: tiny and huge numbers, constants, gaps, nothing at all, long labels.
fn corners() -> Figure {
    let t = times(500, 1.0);
    let orbit = times(60_000, 900.0);
    let long = "a rather long name of a quantity $q_{long}$ (kg m s⁻²)";
    let panels = vec![
        Panel {
            title: "tiny and huge".into(),
            ..Panel::new("$t$ (s)", "$z$ (m)").with(Series::line(
                "",
                map(&t, |t| t * 1e7),
                map(&t, |t| 3e-18 * libm::sin(9.0 * t)),
            ))
        },
        Panel {
            title: "offset".into(),
            ..Panel::new("$t$ (s)", "$p$ (m)").with(Series::line(
                "",
                t.clone(),
                map(&t, |t| 0.013757007 + 1e-8 * t * t),
            ))
        },
        Panel {
            title: "constant".into(),
            ..Panel::new("$t$ (s)", "$v$ (m/s)").with(Series::line("at rest", t.clone(), map(&t, |_| 9.81)))
        },
        Panel {
            title: "gaps".into(),
            ..Panel::new("$t$ (s)", "$F$ (N)").with(Series::line(
                "stuck",
                t.clone(),
                map(&t, |t| if libm::sin(20.0 * t) > 0.3 { f64::NAN } else { t }),
            ))
        },
        Panel {
            title: "no data".into(),
            ..Panel::new("$t$ (s)", "").with(Series::line("nothing", vec![], vec![]))
        },
        Panel {
            title: "orbit of 60000 points".into(),
            ..Panel::new("$x$ (m)", "$ẋ$ (m/s)").with(Series::line(
                "",
                map(&orbit, libm::cos),
                map(&orbit, |t| libm::sin(t) + 0.1 * libm::sin(0.01 * t)),
            ))
        },
        Panel {
            title: "a crowded panel".into(),
            legend: Legend::Auto,
            ..Panel::new("$t$ (s)", long)
                .with(Series::line("one", t.clone(), map(&t, |t| libm::sin(90.0 * t))))
                .with(Series::line("two", t.clone(), map(&t, |t| libm::cos(70.0 * t))))
        },
        Panel {
            title: "steps and points".into(),
            ..Panel::new("$n$", "$k$")
                .with(Series::line("held", times(12, 1.0), map(&times(12, 1.0), |t| t * t)).style(Style::Steps))
                .with(Series::line("samples", times(12, 1.0), map(&times(12, 1.0), |t| t * t)).style(Style::Points))
        },
        Panel {
            title: "one and a half decades".into(),
            y_scale: Scale::Log,
            ..Panel::new("$t$ (s)", "$a$ (m)").with(Series::line("", t.clone(), map(&t, |t| 2.0 + 60.0 * t * t)))
        },
    ];
    Figure {
        title: "Corner cases".into(),
        columns: 3,
        panels,
        width: 230.0,
        height: 150.0,
        share_x: false,
    }
}

/// Several quantities of the same runs: one legend for all.
fn quantities() -> Figure {
    let t = times(5_000, 10.0);
    let panels = ["$x$ (m)", "$v$ (m/s)", "$F$ (N)", "$E$ (J)"]
        .into_iter()
        .enumerate()
        .map(|(q, label)| {
            let q = q as f64;
            let mut panel = Panel::new("$t$ (s)", label);
            for (k, name) in ["exact", "implicit Euler", "semi-smooth Newton"]
                .into_iter()
                .enumerate()
            {
                let k = k as f64;
                let y = map(&t, |t| {
                    (1.0 + q) * 1e3 * libm::sin((1.0 + 0.1 * q) * t + 0.3 * k) * libm::exp(-0.1 * k * t)
                });
                panel = panel.with(Series::line(name, t.clone(), y));
            }
            panel
        });
    Figure {
        title: "Four quantities of three runs".into(),
        columns: 2,
        panels: panels.collect(),
        width: 280.0,
        height: 130.0,
        ..Figure::default()
    }
}

fn page() -> Page {
    let claim = |text: &str, expected: &str, measured: &str, verdict| Claim {
        claim: text.into(),
        source: "section 5, figure 8".into(),
        values: vec![Value {
            what: "result".into(),
            expected: expected.into(),
            measured: measured.into(),
            agrees: verdict == Verdict::Holds,
            source: "a closed form".into(),
        }],
        remark: String::new(),
        verdict,
        scenario: "figures/seed-000-figure-8.toml".into(),
    };
    Page {
        title: "Published figures & claims".into(),
        intro: vec!["Every figure below is computed anew from its scenario. A claim holds if the measured value lies within the tolerance stated with it.".into()],
        sections: vec![
            Section {
                group: String::new(),
                heading: "Seven methods on a belt".into(),
                text: vec!["A block on a belt whose speed drops from 2 m/s to 0 at $t$ = 2 s. Only the method P neither drifts nor chatters.".into()],
                figures: vec![(grid().into(), "Force $f$ and velocity $v$ (blue) with the speed of the belt (grey) for the seven methods.".into())],
                claims: vec![
                    claim("Method P comes to rest with zero velocity", "$v$ = 0 after 2.06 s", "$v$ = 0 after 2.057 s", Verdict::Holds),
                    claim("Method Q3 chatters between ±$F_s$", "±10 N", "±10 N at every step", Verdict::Holds),
                    claim("Method K1 <drifts> when stuck", "1.2 × 10⁻³ m", "0.9 × 10⁻³ m", Verdict::Fails),
                ],
            },
            Section {
                group: String::new(),
                heading: "Four laws".into(),
                text: vec![],
                figures: vec![(overlay().into(), "The friction force of four laws.".into()), (quantities().into(), "One legend for all panels.".into()), (convergence().into(), "Error at the end against the step.".into())],
                claims: vec![claim("The Radau method has order 5", "5", "4.98", Verdict::Holds), claim("One step takes 12 μs", "12 μs", "", Verdict::NotTestable("the processor is not named".into()))],
            },
        ],
        footer: "stickslip 0.1.0".into(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::path::PathBuf::from(std::env::args().nth(1).ok_or("usage: gallery DIRECTORY")?);
    for (name, figure) in [
        ("grid", grid()),
        ("overlay", overlay()),
        ("convergence", convergence()),
        ("corners", corners()),
        ("quantities", quantities()),
    ] {
        figure.save(directory.join(name).with_extension("svg"))?;
        figure.save(directory.join(name).with_extension("png"))?;
    }
    page().save(directory.join("index.html"))?;
    Ok(())
}
