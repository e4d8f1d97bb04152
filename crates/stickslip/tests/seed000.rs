//! The experiments of seed 000 (discrete-time friction) against the reference numbers of the science page: the
//! published ones where there are any, else those of an independent implementation, and closed forms.

mod common;

use common::{Run, close, orders, run, written};

/// A printed number and half a unit of its last digit, but no less than `tolerance`.
fn printed(text: &str, tolerance: f64) -> (f64, f64) {
    let value: f64 = text.parse().unwrap();
    let mantissa = text.split(['e', 'E']).next().unwrap();
    let digits = mantissa.split_once('.').map_or(0, |(_, after)| after.len() as i32);
    let exponent: i32 = text.split_once(['e', 'E']).map_or(0, |(_, e)| e.parse().unwrap());
    (value, tolerance.max(0.5001 * 10f64.powi(exponent - digits)))
}

/// Fails unless a value agrees with a printed one, to all its digits or 1e-9.
#[track_caller]
fn agrees(what: &str, value: f64, text: &str) {
    let (expected, tolerance) = printed(text, 1e-9);
    close(what, value, expected, tolerance);
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

/// Changes of sign of the friction force after 2 s, zeros skipped.
fn sign_changes_after_stop(run: &Run) -> usize {
    let (time, force) = (run.column("t"), run.column("floor.force"));
    let late = time.iter().zip(&force).filter(|(t, f)| **t > 2.0 && **f != 0.0);
    let signs: Vec<f64> = late.map(|(_, f)| f.signum()).collect();
    signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Time of the last change of the flag each law keeps within a step of Fig 8: which branch of eqs 7-9 gave the force,
/// found anew from position and velocity at the start of every step.
fn last_flag_change(run: &Run, law: &str, epsilon: f64) -> f64 {
    let time = run.column("t");
    let (x, v, hook) = (
        run.column("block.position"),
        run.column("block.velocity"),
        run.column("hook.position"),
    );
    let flag = |k: usize| {
        let h = 90.0 * (hook[k - 1] - x[k - 1]);
        let v = v[k - 1];
        match law {
            "karnopp" => v.abs() <= epsilon && h.abs() <= 10.0,
            "quinn" => (v + epsilon * (h / 10.0).clamp(-1.0, 1.0)).abs() <= epsilon,
            _ => v.abs() <= epsilon,
        }
    };
    let last = (2..time.len()).rfind(|&k| flag(k) != flag(k - 1));
    time[last.unwrap()]
}

/// One row of the table of Fig 8: last change, v(4), f(3), f(4), x(4), x(4) − x(3), sign changes after 2 s, largest v.
struct Row {
    file: &'static str,
    law: &'static str,
    epsilon: f64,
    change: &'static str,
    v4: &'static str,
    f3: &'static str,
    f4: &'static str,
    x4: &'static str,
    creep: &'static str,
    signs: usize,
    fastest: &'static str,
}

#[rustfmt::skip]
const FIG_8: &[Row] = &[
    Row { file: "k1", law: "karnopp", epsilon: 1.0, change: "3.780", v4: "0.501642813743", f3: "-10.0000000000", f4: "-10.0000000000",
          x4: "3.79843475238", creep: "-0.089526", signs: 4, fastest: "3.99999641" },
    Row { file: "k2", law: "karnopp", epsilon: 0.01, change: "2.023", v4: "0.00780950129579", f3: "-1.73339", f4: "-1.03053518831",
          x4: "3.98855741852", creep: "0.00780950", signs: 0, fastest: "3.99999641" },
    Row { file: "q1", law: "quinn", epsilon: 1.0, change: "1.956", v4: "1.597e-09", f3: "7.375944", f4: "7.37665007786",
          x4: "4.08196277882", creep: "0.000004", signs: 1, fastest: "3.99999641" },
    Row { file: "q2", law: "quinn", epsilon: 0.01, change: "2.022", v4: "0.000000000000", f3: "-2.40769808509", f4: "-2.40769808509",
          x4: "3.97324779905", creep: "0.000000000000", signs: 0, fastest: "3.99999717" },
    Row { file: "martins-oden", law: "martins-oden", epsilon: 0.01, change: "2.023", v4: "0.00201057122", f3: "-2.200122",
          f4: "-2.01075218863", x4: "3.97766233034", creep: "0.002104", signs: 0, fastest: "3.99000310" },
];

#[test]
fn fig_8_baselines() {
    for row in FIG_8 {
        let run = run(&format!("fig000-8-{}.toml", row.file), &[]);
        let name = |what: &str| format!("{} {what}", row.file);
        agrees(
            &name("last change"),
            last_flag_change(&run, row.law, row.epsilon),
            row.change,
        );
        agrees(&name("v(4)"), run.at("block.velocity", 4.0), row.v4);
        agrees(&name("f(3)"), run.at("floor.force", 3.0), row.f3);
        agrees(&name("f(4)"), run.at("floor.force", 4.0), row.f4);
        agrees(&name("x(4)"), run.at("block.position", 4.0), row.x4);
        let creep = run.at("block.position", 4.0) - run.at("block.position", 3.0);
        agrees(&name("x(4) - x(3)"), creep, row.creep);
        assert_eq!(sign_changes_after_stop(&run), row.signs, "{}", name("sign changes"));
        agrees(&name("largest v"), largest(&run.column("block.velocity")), row.fastest);
        if row.file == "q2" {
            assert!(run.at("block.velocity", 4.0).abs() < 1e-15);
        }
    }
}

#[test]
fn fig_8_proposed_law() {
    let run = run("fig000-8-p.toml", &[]);
    let (x, v, f) = (
        run.column("block.position"),
        run.column("block.velocity"),
        run.column("floor.force"),
    );
    assert_eq!(run.report.events.len(), 2);
    close("slip", run.changes("floor", "slip")[0], 0.057, 1e-12);
    close("stick", run.changes("floor", "stick")[0], 2.022, 1e-12);
    assert_eq!(v[4000], 0.0);
    assert_eq!(x[4000] - x[3000], 0.0);
    close("f(3)", f[3000], -2.40769808509, 1e-9);
    close("f(4)", f[4000], -2.40769808509, 1e-9);
    close("x(4)", x[4000], 3.97324779905, 1e-9);
    close("largest v", largest(&v), 3.99999716606, 1e-9);
    assert_eq!(sign_changes_after_stop(&run), 0);
    assert_eq!(v.iter().position(|v| *v != 0.0), Some(57));
    assert_eq!((2001..=4000).find(|&k| v[k] == 0.0), Some(2022));
    assert_eq!(v[1..].iter().filter(|v| **v == 0.0).count(), 2035);
    for (time, position, velocity) in [
        (0.25, 0.185927399901, 2.5317840895),
        (1.0, 1.79436102674, 3.78340748384),
        (1.5, 2.69760735689, 1.15055405923),
        (2.0, 3.9715418745, 0.163858383573),
    ] {
        close("x", run.at("block.position", time), position, 1e-9);
        close("v", run.at("block.velocity", time), velocity, 1e-9);
    }
    let work: f64 = v.iter().zip(&f).map(|(v, f)| 1e-3 * f * v).sum();
    close("friction work", work, -39.7324780, 5e-8);
    close("dissipated", run.element("floor", "dissipated"), 39.7324780, 5e-8);
    // The law itself: f_k = −F·sgn(v_k) while sliding, never in the direction of motion, at rest it balances the spring.
    let hook = run.column("hook.position");
    for k in 1..x.len() {
        assert!(f[k] * v[k] <= 0.0 && f[k].abs() <= 10.0);
        if v[k] == 0.0 && v[k - 1] == 0.0 {
            close("balance", f[k], -90.0 * (hook[k - 1] - x[k - 1]), 1e-12);
        } else if v[k] != 0.0 {
            assert_eq!(f[k], -10.0 * v[k].signum());
        }
    }
}

#[test]
fn fig_8_quinn_with_the_best_layer_is_the_proposed_law_here() {
    let (p, q) = (run("fig000-8-p.toml", &[]), run("fig000-8-q2.toml", &[]));
    let (p, q) = (p.column("block.velocity"), q.column("block.velocity"));
    let apart = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).collect::<Vec<_>>();
    assert!(largest(&apart) < 1e-12, "{:e}", largest(&apart));
}

/// Runs of Fig 8 from 41 starts between 0 and 0.1 mm.
fn ensemble(file: &str) -> Vec<Run> {
    (0..=40)
        .map(|i| {
            run(
                file,
                &[&format!("bodies.block.position={:e}", 1e-4 * f64::from(i) / 40.0)],
            )
        })
        .collect()
}

#[test]
fn fig_8_too_narrow_a_band_bursts() {
    // When the burst ends is chance, so only ranges are known: 4, 42 and 58 changes (least, median, most) elsewhere.
    let runs = ensemble("fig000-8-k3.toml");
    let mut signs: Vec<usize> = runs.iter().map(sign_changes_after_stop).collect();
    assert_eq!(signs[0], 4);
    signs.sort_unstable();
    assert!(
        signs[0] >= 2 && (30..=55).contains(&signs[20]) && signs[40] <= 70,
        "{signs:?}"
    );
    for run in &runs {
        assert!(run.at("block.velocity", 4.0).abs() <= 1e-4);
    }
    let run = &runs[0];
    close("last change", last_flag_change(run, "karnopp", 1e-4), 2.028, 1e-12);
    close("f(3)", run.at("floor.force", 3.0), -2.40143, 5e-6);
    close("f(4)", run.at("floor.force", 4.0), -2.39623794, 5e-9);
    close("x(4)", run.at("block.position", 4.0), 3.97337519, 5e-9);
    close("v(4)", run.at("block.velocity", 4.0), 5.766e-5, 5e-9);
    close("largest v", largest(&run.column("block.velocity")), 3.99999641, 5e-9);
}

#[test]
fn fig_8_too_thin_a_layer_chatters() {
    // 1534, 1544 and 1549 changes (least, median, most) elsewhere.
    let runs = ensemble("fig000-8-q3.toml");
    let mut signs: Vec<usize> = runs.iter().map(sign_changes_after_stop).collect();
    signs.sort_unstable();
    assert!(signs[0] >= 1500 && signs[40] <= 1600, "{signs:?}");
    assert!((1534..=1549).contains(&signs[20]), "median {}", signs[20]);
    for run in &runs {
        assert!(run.at("block.velocity", 4.0).abs() < 0.0115);
        close("|f(4)|", run.at("floor.force", 4.0).abs(), 10.0, 1e-9);
        close("x(4)", run.at("block.position", 4.0), 3.9778, 5e-4);
    }
}

/// The exact motion of Fig 8: at rest until the spring pulls with 10 N at 1/18 s, then x″ = 90·(P(t) − x) − 10. It
/// touches v = 0 twice on the way without stopping, and stops after the pull has ended.
struct Exact {
    stop: f64,
    rest: f64,
}

impl Exact {
    const START: f64 = 1.0 / 18.0;

    fn new() -> Self {
        let w = 90f64.sqrt();
        let (x, v) = Self::pulled(2.0);
        let y = x - (4.0 - 1.0 / 9.0);
        let phase = (v / (w * y)).atan();
        Exact {
            stop: 2.0 + phase / w,
            rest: 4.0 - 1.0 / 9.0 + (y * y + v * v / 90.0).sqrt(),
        }
    }

    fn pulled(t: f64) -> (f64, f64) {
        let w = 90f64.sqrt();
        let s = t - Self::START;
        (2.0 * s - 2.0 / w * (w * s).sin(), 2.0 * (1.0 - (w * s).cos()))
    }

    fn velocity(&self, t: f64) -> f64 {
        if t <= Self::START || t >= self.stop {
            0.0
        } else if t <= 2.0 {
            Self::pulled(t).1
        } else {
            // The amplitude is the distance of the rest from the middle of the vibration.
            let w = 90f64.sqrt();
            (self.rest - (4.0 - 1.0 / 9.0)) * w * (w * (self.stop - t)).sin()
        }
    }
}

#[test]
fn fig_8_converges_to_the_exact_motion() {
    let exact = Exact::new();
    close("exact stop", exact.stop, 2.0212366043574, 1e-12);
    close("exact rest", exact.rest, 3.97326181738, 1e-11);
    let steps = ["1e-3", "5e-4", "2.5e-4", "1.25e-4", "6.25e-5"];
    let (mut in_v, mut in_x, mut in_f) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        let run = run("fig000-8-p.toml", &[&format!("simulation.step={step}")]);
        let (t, v) = (run.column("t"), run.column("block.velocity"));
        let error = t.iter().zip(&v).map(|(t, v)| (v - exact.velocity(*t)).abs());
        in_v.push(largest(&error.collect::<Vec<_>>()));
        in_x.push((run.at("block.position", 4.0) - exact.rest).abs());
        in_f.push((run.at("floor.force", 4.0) + 90.0 * (4.0 - exact.rest)).abs());
    }
    for (error, expected) in in_v.iter().zip([9.47e-3, 4.74e-3, 2.37e-3, 1.19e-3, 5.93e-4]) {
        close("error of v", *error, expected, 0.006 * expected);
    }
    for (error, expected) in in_x.iter().zip([1.40e-5, 3.65e-6, 8.64e-7, 2.16e-7, 5.44e-8]) {
        close("error of x(4)", *error, expected, 0.006 * expected);
    }
    for order in orders(&in_v) {
        assert!((order - 1.0).abs() < 0.01, "order of v {order}");
    }
    for order in orders(&in_x).iter().chain(&orders(&in_f)) {
        assert!((order - 2.0).abs() < 0.1, "order of x and f at rest {order}");
    }
}

#[track_caller]
fn events_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        close(what, *found, *expected, tolerance);
    }
}

#[test]
fn fig_9_static_friction_above_kinetic() {
    let p = run("fig000-9-p.toml", &[]);
    let one_step = 1.0e-3 + 1e-9;
    events_near("slip", &p.changes("floor", "slip"), &[0.074, 0.736, 1.399], one_step);
    events_near("stick", &p.changes("floor", "stick"), &[0.702, 1.365, 2.019], one_step);
    close("f(4)", p.at("floor.force", 4.0), -2.23468631183, 1e-9);
    close("x(4)", p.at("block.position", 4.0), 3.97517015209, 1e-9);
    assert_eq!(p.at("block.velocity", 4.0), 0.0);
    close("largest v", largest(&p.column("block.velocity")), 4.02566482277, 1e-9);

    let k2 = run("fig000-9-k2.toml", &[]);
    close("K2 v(4)", k2.at("block.velocity", 4.0), 0.00576194080388, 1e-9);
    close("K2 f(3)", k2.at("floor.force", 3.0), -1.51966321955, 1e-9);
    close("K2 f(4)", k2.at("floor.force", 4.0), -1.00108854719, 1e-9);
    close(
        "K2 largest v",
        largest(&k2.column("block.velocity")),
        4.05792973711,
        1e-9,
    );

    // Event-driven solution, approached as the step falls.
    let fine = run("fig000-9-p.toml", &["simulation.step=1e-5"]);
    let slips = [0.0722222, 0.7348018, 1.3973814];
    let sticks = [0.7014685, 1.3640480, 2.0184456];
    events_near("slip", &fine.changes("floor", "slip"), &slips, 5e-5);
    events_near("stick", &fine.changes("floor", "stick"), &sticks, 5e-5);
    close("f(4)", fine.at("floor.force", 4.0), -2.234463620045, 2e-4 * 2.23);
}

#[test]
fn fig_10_crossing_zero_velocity() {
    let (p, quinn) = (run("fig000-10-p.toml", &[]), run("fig000-10-quinn.toml", &[]));
    let table = [
        (0.001, -0.08, 10.0, -0.08, 10.0),
        (0.002, -0.03, 10.0, -0.03, 10.0),
        (0.003, 0.02, 10.0, 0.0, -10.0),
        (0.004, 0.05, -10.0, 0.03, -10.0),
        (0.005, 0.08, -10.0, 0.06, -10.0),
        (0.008, 0.17, -10.0, 0.15, -10.0),
    ];
    for (t, v_quinn, f_quinn, v_p, f_p) in table {
        close("v Quinn", quinn.at("block.velocity", t), v_quinn, 1e-14);
        close("f Quinn", quinn.at("floor.force", t), f_quinn, 1e-13);
        close("v P", p.at("block.velocity", t), v_p, 1e-14);
        close("f P", p.at("floor.force", t), f_p, 1e-13);
    }
    let driving = |run: &Run| -> f64 {
        let (v, f) = (run.column("block.velocity"), run.column("floor.force"));
        v.iter().zip(&f).map(|(v, f)| (1e-3 * f * v).max(0.0)).sum()
    };
    close("work of Quinn's friction on the block", driving(&quinn), 2.0e-4, 1e-15);
    // 1.7e-18 m/s may remain where the exact boundary of sticking is hit, against the force: never with it.
    assert_eq!(driving(&p), 0.0);
    let excess = |run: &Run| 0.5 * (run.at("block.velocity", 0.008).powi(2) - 0.162f64.powi(2));
    close("excess of Quinn", excess(&quinn), 1.328e-3, 1e-14);
    close("excess of P", excess(&p), -1.872e-3, 1e-14);
}

/// A block that slides at `v` when the only step begins.
fn one_step(v: f64, step: f64, friction: &str) -> f64 {
    let text = format!(
        "[simulation]\nduration = {step}\nstep = {step}\nintegrator = \"implicit-euler\"\n\
         [bodies.block]\nkind = \"mass\"\nmass = 1\nvelocity = {v}\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 10\n{friction}\n"
    );
    common::finish(written(&text, &[]), 1).at("floor.force", step)
}

#[test]
fn implicit_curve_within_a_step() {
    let approximate = "solution = \"approximate\"\n";
    let viscous = "viscous = 5\n".to_string();
    let stribeck = "static = 15\nstribeck_velocity = 0.1\n".to_string();
    for (curve, v, step, exact, eq_16) in [
        (&viscous, 0.5, 1e-3, -12.437810945274, -12.45),
        (&viscous, 1.0, 1e-3, -14.925373134328, -14.95),
        (&stribeck, 0.05, 1e-3, -14.404987496575, -14.423529524717),
        (&stribeck, 0.1, 1e-3, -12.317806360933, -12.427684475770),
        (&stribeck, 0.2, 1e-2, -13.110512656211, -13.894003915357),
        (&stribeck, 0.3, 1e-2, -10.095121133073, -10.526996122809),
    ] {
        close("eq 14", one_step(v, step, curve), exact, 1e-11);
        close(
            "eq 16",
            one_step(v, step, &format!("{curve}{approximate}")),
            eq_16,
            1e-11,
        );
    }
}

#[test]
fn viscous_friction_at_any_step() {
    let text = "[simulation]\nduration = 0.1\nstep = 1e-3\nintegrator = \"implicit-euler\"\n\
                [bodies.block]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n\
                [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nkinetic = 10\nviscous = 5\n";
    let stop = common::finish(written(text, &[]), 1);
    let v = stop.column("block.velocity");
    assert_eq!(v.iter().position(|v| *v == 0.0), Some(82));
    // T·B/M = 5: the solution of eq 14 falls, eq 16 diverges.
    let stiff = common::finish(written(text, &["elements.floor.viscous=5000"]), 1);
    for (k, expected) in [0.165, 0.0258333333, 0.00263888889, 0.0].iter().enumerate() {
        close("eq 14", stiff.column("block.velocity")[k + 1], *expected, 1e-10);
    }
    let sets = ["elements.floor.viscous=5000", "elements.floor.solution=approximate"];
    let literal = common::finish(written(text, &sets), 1);
    for (k, expected) in [-3.96, 15.8, -63.16].iter().enumerate() {
        close("eq 16", literal.column("block.velocity")[k + 1], *expected, 1e-10);
    }
}

#[test]
fn stribeck_stick_slip() {
    let coarse = run("fig000-stribeck.toml", &[]);
    let slips = [0.835, 1.908, 2.981, 4.055, 5.128];
    events_near("slip", &coarse.changes("floor", "slip"), &slips, 1.0e-3 + 1e-9);
    agrees("largest v", largest(&coarse.column("block.velocity")), "0.869222438");
    let fine = run("fig000-stribeck.toml", &["simulation.step=1e-4"]);
    agrees("largest v", largest(&fine.column("block.velocity")), "0.870147986");
    // Event-driven solution: within the first order of the method.
    let slips = [0.8333333, 1.9080814, 2.9828294, 4.0575775, 5.1323255];
    let sticks = [1.2879578, 2.3627058, 3.4374539, 4.5122019, 5.5869500];
    for (run, step) in [(&coarse, 1e-3), (&fine, 1e-4)] {
        events_near("slip", &run.changes("floor", "slip"), &slips, 6.0 * step);
        events_near("stick", &run.changes("floor", "stick"), &sticks, 6.0 * step);
        close(
            "largest v",
            largest(&run.column("block.velocity")),
            0.870249985,
            1.1 * step,
        );
    }
    let cycle = coarse.report.stick_slip.as_ref().unwrap();
    close("period", cycle.period.unwrap(), 1.0747481, 2e-3);
}

#[test]
fn two_bodies() {
    let free = run("fig000-two-bodies.toml", &[]);
    close("lock", free.changes("interface", "stick")[0], 0.334, 1e-12);
    let (a, b) = (free.column("a.velocity"), free.column("b.velocity"));
    for k in 0..a.len() {
        close("momentum", a[k] + 2.0 * b[k], 0.0, 1e-13);
        if k >= 334 {
            assert_eq!(a[k], b[k]);
            close("common velocity", a[k], 0.0, 1e-13);
        }
    }
    let still = ["bodies.a.velocity=0", "bodies.b.velocity=0"];
    let together = run("fig000-two-bodies.toml", &[still[0], still[1], "bodies.a.force=2 N"]);
    close("v a", together.at("a.velocity", 1.0), 2.0 / 3.0, 1e-12);
    assert_eq!(together.at("a.velocity", 1.0), together.at("b.velocity", 1.0));
    close("f", together.at("interface.force", 1.0), -4.0 / 3.0, 1e-12);
    assert!(together.report.events.is_empty());
    let apart = run("fig000-two-bodies.toml", &[still[0], still[1], "bodies.a.force=6 N"]);
    close("v a", apart.at("a.velocity", 1.0), 3.0, 1e-12);
    close("v b", apart.at("b.velocity", 1.0), 1.5, 1e-12);
    close("f", apart.at("interface.force", 1.0), -3.0, 1e-12);
    // They stay together up to |Mb·ha − Ma·hb|/(Ma + Mb) = F: ha = 4.5 N.
    for (force, sticks) in [("4.4999 N", true), ("4.5001 N", false)] {
        let set = format!("bodies.a.force={force}");
        let run = run("fig000-two-bodies.toml", &[still[0], still[1], &set]);
        assert_eq!(run.report.events.is_empty(), sticks, "{force}");
    }
}

#[test]
fn vector_friction() {
    let curve = run("fig000-vector.toml", &[]);
    let (x, y) = (curve.column("puck.velocity.x"), curve.column("puck.velocity.y"));
    let stop = (0..x.len()).find(|&k| x[k] == 0.0 && y[k] == 0.0);
    assert_eq!(stop, Some(134));
    assert!((134..x.len()).all(|k| x[k] == 0.0 && y[k] == 0.0));
    close("x", curve.at("puck.position.x", 0.2), 0.05286677784797, 1e-13);
    close("y", curve.at("puck.position.y", 0.2), 0.01650055555232, 1e-13);
    close("force x", curve.at("floor.force.x", 0.2), 0.0, 1e-12);
    close("force y", curve.at("floor.force.y", 0.2), -5.0, 1e-12);
    close("magnitude at rest", curve.at("floor.force.magnitude", 0.2), 5.0, 1e-12);
    close(
        "magnitude in sliding",
        curve.at("floor.force.magnitude", 0.1),
        10.0,
        1e-12,
    );
    // The exact rest is (4/75, 1/60); the method is of first order in it.
    let mut errors = Vec::new();
    for step in ["1e-3", "5e-4", "2.5e-4"] {
        let run = run("fig000-vector.toml", &[&format!("simulation.step={step}")]);
        let apart = [
            run.at("puck.position.x", 0.2) - 4.0 / 75.0,
            run.at("puck.position.y", 0.2) - 1.0 / 60.0,
        ];
        errors.push(apart[0].hypot(apart[1]));
    }
    for order in orders(&errors) {
        assert!((order - 1.0).abs() < 0.1, "order {order}");
    }
    let straight = run(
        "fig000-vector.toml",
        &["bodies.puck.velocity=[0.3, 0.4]", "bodies.puck.force=[0, 0]"],
    );
    let speed = straight.column("puck.velocity.x");
    let first = speed.iter().position(|v| *v == 0.0).unwrap();
    assert!(first == 50 || first == 51, "{first}"); // one more if rounding leaves a residue
    assert!(speed[50].abs() < 1e-15);
}
