//! Seeds 002 and 003, subloading friction, against the numbers of an independent implementation (science page, section 4).

mod common;

use common::{close, run, simulation};
use stickslip::analysis::stick_slip::Region;
use stickslip::scenario::Draft;
use stickslip::sweep::{Axis, Row, Sweep};

/// Largest of equidistant values and its place in spacings, by the parabola through the highest.
fn top(values: &[f64]) -> (f64, f64) {
    let top = (1..values.len() - 1)
        .max_by(|&a, &b| values[a].total_cmp(&values[b]))
        .unwrap();
    let (a, b, c) = (values[top - 1], values[top], values[top + 1]);
    let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
    (b - 0.25 * (a - c) * shift, top as f64 + shift)
}

/// Section 4.1; rk4 and the chosen steps give the rate form, implicit-euler the return mapping.
#[test]
fn pulled_at_constant_speed() {
    for (integrator, steps) in [
        ("rk4", 10_000.0),
        ("adaptive", 10_000.0),
        ("stiff", 10_000.0),
        ("implicit-euler", 20_000.0),
    ] {
        for (v, high, u_high, at_end) in [
            (1e-4, 0.364853, 0.0070558, 0.300004),
            (1e-2, 0.361890, 0.0068613, 0.203381),
            (1.0, 0.361860, 0.0068594, 0.201510),
        ] {
            let duration = 0.1 / v;
            let pulled = run(
                "fig003-3.toml",
                &[
                    &format!("simulation.integrator={integrator}"),
                    &format!("simulation.duration={duration}"),
                    &format!("simulation.step={}", duration / steps),
                    "simulation.relative_tolerance=1e-8",
                    &format!("bodies.pin.velocity={v} mm/s"),
                ],
            );
            let force: Vec<f64> = pulled.column("plate.force").iter().map(|f| -f / 10.0).collect();
            let (peak, place) = top(&force);
            let what = format!("{integrator} at {v} mm/s");
            close(&format!("{what}: peak"), peak, high, 1e-6);
            close(&format!("{what}: place"), place * 0.1 / steps, u_high, 1.1e-6);
            close(
                &format!("{what}: end"),
                pulled.at("plate.force", duration) / -10.0,
                at_end,
                1e-6,
            );
            let (mu, share) = (pulled.at("plate.mu", duration), pulled.at("plate.R", duration));
            close("R mu F", mu * share, at_end, 1e-6);
        }
    }
}

/// Section 4.2, hold times 1 s to 1e4 s.
#[test]
fn held_for_some_time() {
    for (hold, high) in [(1.0, 0.200857), (100.0, 0.261874), (1e4, 0.361862)] {
        let again: f64 = 10.0200225 + hold;
        let velocity =
            format!("bodies.pin.velocity.expr=if(t < 10, 0.1, if(t < 10.0200225, -0.1, if(t < {again}, 0, 0.1)))");
        let duration = format!("simulation.duration={}", again.ceil() + 1.0);
        let mut simulation = simulation("fig003-4.toml", &[&velocity, &duration, "simulation.max_step=1 s"]);
        simulation.advance((again * 1e3).floor() as u64).unwrap();
        let plate = simulation.element("plate").unwrap();
        let force: Vec<f64> = (0..200)
            .map(|_| {
                simulation.advance(1).unwrap();
                simulation.observe();
                -simulation.force(plate)[0] / 10.0
            })
            .collect();
        close(&format!("peak after {hold} s"), top(&force).0, high, 1e-6);
    }
}

/// Section 4.3 and 4.4, set S with a contact time of 2 ms: first static peak, minimum after it, limit cycle.
#[test]
fn drawn_block_sticks_and_slips() {
    // With tight tolerances, up to the minimum after the first peak.
    let mut simulation = simulation(
        "fig003-5.toml",
        &[
            "simulation.integrator=adaptive",
            "simulation.relative_tolerance=1e-9",
            "simulation.step=1 ms",
            "simulation.max_step=1 s",
        ],
    );
    simulation.advance(3150 * 1000).unwrap();
    let floor = simulation.element("floor").unwrap();
    // The elastic part of the force, as in the reference: alpha times the stretch.
    let force: Vec<f64> = (0..15 * 1000)
        .map(|_| {
            simulation.advance(1).unwrap();
            1e6 * simulation.element_state(floor)[0] / 100.0
        })
        .collect();
    let (high, when) = top(&force);
    close("peak", high, 0.3110897, 1e-6);
    close("time of the peak", 3150.0 + 0.001 * (when + 1.0), 3155.3234, 1e-3);
    let (low, when) = top(&force.iter().map(|x| -x).collect::<Vec<_>>());
    close("minimum", -low, -0.0114670, 1e-6);
    close("time of the minimum", 3150.0 + 0.001 * (when + 1.0), 3160.6274, 1e-3);

    // The cycle. The amplitude is that of the elastic part, as in the reference.
    let cycle = |signal: &str, scale: &str| {
        let sets = [
            format!("analysis.stick_slip.signal={signal}"),
            format!("analysis.stick_slip.scale={scale}"),
        ];
        // The analysis sees every internal step.
        let mut block = common::simulation("fig003-5.toml", &[&sets[0], &sets[1]]);
        let outcome = stickslip::run::run(&mut block, None, Default::default()).unwrap();
        outcome.report.stick_slip.unwrap()
    };
    let elastic = cycle("floor.e", "1e-4");
    close("amplitude", elastic.amplitude, 0.3225567, 2e-4);
    close("peak", elastic.max, 0.3110897, 2e-5);
    let whole = cycle("floor.force", "100");
    close("period", whole.period.unwrap(), 2298.47, 1.0);
    assert!(!whole.stable);
}

/// Section 7: TR-BDF2 on the return mapping. The step counts there are those of another measure of the error; at most two and a half times
/// as many are taken here, and the cycle is as near. (With the rates integrated it takes three times as many.)
#[test]
fn chosen_steps_on_the_return_mapping() {
    for (tolerance, reported, amplitude, period) in [("1e-3", 1240, 0.0033, 13.5), ("1e-4", 3914, 1.8e-4, 2.4)] {
        let sets = [
            "simulation.max_step=18000 s",
            "analysis.stick_slip.signal=floor.e",
            "analysis.stick_slip.scale=1e-4",
            &format!("simulation.relative_tolerance={tolerance}"),
        ];
        let mut block = common::simulation("fig003-5.toml", &sets);
        let outcome = stickslip::run::run(&mut block, None, Default::default()).unwrap();
        let cycle = outcome.report.stick_slip.unwrap();
        close(tolerance, cycle.amplitude, 0.3225567, amplitude);
        close(tolerance, cycle.period.unwrap(), 2298.47, period);
        let steps = block.statistics().steps;
        assert!(steps < 5 * reported / 2, "{tolerance}: {steps} steps");
    }
}

/// A time, and position, stretch and μ then.
type Place = (u64, [f64; 5]);

/// A block drawn in a circle, exponents other than 1 and both forms of U: position and stretch in mm and μ after so many seconds, from
/// another program (`reference/subloading_plane.py`).
const IN_THE_PLANE: [(&str, [Place; 2]); 2] = [
    (
        "log",
        [
            (60, [6.225797, 3.382494, 0.006168124, 0.008612772, 0.222391112]),
            (150, [3.090477, 15.097766, -0.009842301, 0.004126773, 0.222836983]),
        ],
    ),
    (
        "ratio",
        [
            (60, [6.392713, 3.616910, 0.005226865, 0.007287023, 0.206489511]),
            (150, [2.863850, 15.192354, -0.008763508, 0.003676973, 0.210243401]),
        ],
    ),
];

/// The return mapping in the stages of `stiff`, the rates in them, and the return mapping under `trapezoidal`, each against the other
/// program. Errors fall as those of a method of second order do.
#[test]
fn stick_slip_in_the_plane() {
    let error = |evolution: &str, expected: &[Place], sets: &[&str]| {
        let text = format!(
            "[simulation]\nduration = 150\nstep = 0.5\nintegrator = \"stiff\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 2000\nposition = [0, 0]\n\
             [bodies.hook]\nkind = \"driver\"\nposition = [\"0.008*sin(0.02*t)\", \"0.008*(1-cos(0.02*t))\"]\n\
             [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 1e4\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"subloading\"\n\
             mu_static = 0.4\nmu_kinetic = 0.2\nnormal_force = 100\ntangential_stiffness = 2e6\nkappa = 1e4\n\
             kappa_exponent = 1.4\neta = 0.02\neta_exponent = 0.8\nr = 1e5\ncontact_time = 5e-3\nevolution = \"{evolution}\"\n"
        );
        let mut simulation = common::written(&text, sets);
        let (block, floor) = (simulation.body("block").unwrap(), simulation.element("floor").unwrap());
        let per_second = simulation.built().steps / 150;
        let (mut worst, mut before) = (0f64, 0);
        for (time, [x, y, e_x, e_y, mu]) in expected {
            simulation.advance((time - before) * per_second).unwrap();
            before = *time;
            let (place, states) = (simulation.position(block), simulation.element_state(floor));
            let off = |found: f64, expected: f64, of: f64| (found - expected).abs() / of;
            worst = worst
                .max(off(1e3 * place[0], *x, 10.0))
                .max(off(1e3 * place[1], *y, 10.0))
                .max(off(1e3 * states[0], *e_x, 0.01))
                .max(off(1e3 * states[1], *e_y, 0.01))
                .max(off(states[2], *mu, 0.2));
        }
        worst
    };
    for (evolution, expected) in &IN_THE_PLANE {
        let stiff = |tolerance: &str, update: &str| {
            let sets = [
                &*format!("simulation.relative_tolerance={tolerance}"),
                &*format!("elements.floor.update={update}"),
            ];
            error(evolution, expected, &sets)
        };
        let (coarse, fine) = (stiff("1e-4", "exact-flow"), stiff("1e-6", "exact-flow"));
        assert!(fine < 2e-3, "{evolution}: {fine}");
        // The error falls with the tolerance to the power 2/3.
        assert!(fine < 0.15 * coarse, "{evolution}: {fine} in place of {coarse}");
        let rates = stiff("1e-6", "rates");
        assert!(rates < 2e-3, "{evolution}, rates: {rates}");
        let fixed = |step: &str| error(evolution, expected, &["simulation.integrator=trapezoidal", step]);
        let (coarse, fine) = (fixed("simulation.step=10 ms"), fixed("simulation.step=5 ms"));
        assert!(
            fine < 1e-2 && fine < 0.35 * coarse,
            "{evolution}, trapezoidal: {fine} after {coarse}"
        );
    }
}

/// A contact so soft that the motion alone does not tell its force snaps. The return mapping has an answer all the same.
#[test]
fn contacts_that_snap_do_not_stop_the_run() {
    for stiffness in ["500 N/mm", "200 N/mm", "50 N/mm"] {
        let sets = [
            "simulation.max_step=10 s",
            "simulation.relative_tolerance=1e-4",
            &format!("elements.floor.tangential_stiffness={stiffness}"),
        ];
        let mut block = common::simulation("fig003-5.toml", &sets);
        let outcome = stickslip::run::run(&mut block, None, Default::default()).unwrap();
        assert!(
            matches!(outcome.ended, stickslip::run::Ended::Complete),
            "{stiffness}: {:?}",
            outcome.report.warnings
        );
    }
}

/// Where the axis has its 0 says nothing about friction: the cycle of Fig 5 anywhere on it, in about as many steps.
#[test]
fn the_cycle_is_the_same_anywhere() {
    let cycle = |place: f64| {
        let sets = [
            "simulation.relative_tolerance=1e-4".to_string(),
            format!("bodies.block.position={place}"),
            format!("bodies.hook.start={place}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut block = simulation("fig003-5.toml", &sets);
        let report = stickslip::run::run(&mut block, None, Default::default())
            .unwrap()
            .report;
        let found = report.stick_slip.as_ref().unwrap();
        (found.amplitude, report.solver.as_ref().unwrap().steps as f64)
    };
    let (amplitude, steps) = cycle(0.0);
    for place in [0.1, 1.0, -30.0] {
        let (there, taken) = cycle(place);
        // Positions of a metre are known to 1e-16 m, which the spring turns into 1e-12 N; the cycle is sensitive to its start.
        close("amplitude", there, amplitude, 1e-3);
        assert!(taken < 1.1 * steps, "at {place} m: {taken} steps in place of {steps}");
    }
}

/// The block of Fig 5 with changed numbers, by `adaptive` with a tight tolerance: α times the stretch of the contact over the normal
/// force, `rate` times a second, from a time on.
fn drawn(sets: &[&str], normal_force: f64, rate: u64, from: u64, until: u64) -> Vec<f64> {
    let end = format!("simulation.duration={until}");
    let step = format!("simulation.step={}", 1.0 / rate as f64);
    let common = [
        "simulation.integrator=adaptive",
        "simulation.max_step=1 s",
        "analysis.stick_slip.from=0",
        &end,
        &step,
    ];
    let sets: Vec<&str> = common.iter().chain(sets).copied().collect();
    let mut simulation = simulation("fig003-5.toml", &sets);
    let floor = simulation.element("floor").unwrap();
    simulation.advance(rate * from).unwrap();
    let force = |_| {
        simulation.advance(1).unwrap();
        1e6 * simulation.element_state(floor)[0] / normal_force
    };
    (0..rate * (until - from)).map(force).collect()
}

/// Section 4.3: the first static peak and the minimum after it, of the other sets.
#[test]
fn first_peak_of_other_sets() {
    let undamped = "elements.floor.contact_time=0";
    let literal = "elements.floor.normal_force=10 N";
    for (sets, normal_force, rate, window, peak, minimum, tolerance, in_time) in [
        (
            &[undamped, "simulation.relative_tolerance=1e-10"][..],
            100.0,
            1000,
            (3130, 3150),
            (3140.97, 0.309634),
            (3146.27, -0.011806),
            2e-5,
            0.05,
        ),
        (
            &[
                "elements.floor.contact_time=6.3e-5 s",
                "bodies.block.mass=10 kg",
                "simulation.relative_tolerance=1e-8",
            ],
            100.0,
            8000,
            (3150, 3152),
            (3151.470, 0.3107711),
            (3151.730, -0.010522),
            1e-6,
            1e-3,
        ),
        (
            &[
                undamped,
                literal,
                "elements.floor.r=1000 1/mm",
                "simulation.relative_tolerance=1e-9",
            ],
            10.0,
            2000,
            (370, 385),
            (375.3403, 0.3680468),
            (381.0981, -0.0781395),
            1e-6,
            1e-3,
        ),
        (
            &[
                undamped,
                "elements.floor.evolution=ratio",
                "simulation.relative_tolerance=1e-9",
            ],
            100.0,
            1000,
            (3180, 3200),
            (3191.87, 0.314981),
            (3197.11, -0.023374),
            2e-6,
            0.02,
        ),
    ] {
        let force = drawn(sets, normal_force, rate, window.0, window.1);
        let (high, when) = top(&force);
        let (low, when_low) = top(&force.iter().map(|x| -x).collect::<Vec<_>>());
        let at = |place: f64| window.0 as f64 + (place + 1.0) / rate as f64;
        close(&format!("{sets:?} peak"), high, peak.1, tolerance);
        close(&format!("{sets:?} time of the peak"), at(when), peak.0, in_time);
        close(&format!("{sets:?} minimum"), -low, minimum.1, tolerance);
        close(
            &format!("{sets:?} time of the minimum"),
            at(when_low),
            minimum.0,
            in_time,
        );
    }
}

/// Section 4.4: the limit cycle with other contact times.
#[test]
fn limit_cycle_with_contact_time() {
    for (contact_time, amplitude, high, period) in [
        ("0.01", 0.3117783, 0.3110874, 2258.97),
        ("0.02", 0.2985122, 0.3110846, 2247.35),
    ] {
        let time = format!("elements.floor.contact_time={contact_time}");
        let force = drawn(
            &[&time, "simulation.relative_tolerance=1e-10"],
            100.0,
            500,
            8000,
            16_000,
        );
        let (max, _) = top(&force);
        let (min, _) = top(&force.iter().map(|x| -x).collect::<Vec<_>>());
        close(&format!("{contact_time} amplitude"), max + min, amplitude, 1e-6);
        close(&format!("{contact_time} peak"), max, high, 1e-6);
        close(&format!("{contact_time} period"), cycle_of(&force, 500).1, period, 0.1);
    }
}

/// Section 4.4: without recovery, without fall, or with one coefficient there is no stick-slip.
#[test]
fn no_cycle_without_fall_and_recovery() {
    for (sets, steady) in [
        (&["elements.floor.eta=0"][..], 0.2),
        (&["elements.floor.eta=0", "elements.floor.kappa=0"], 0.4),
        (&["elements.floor.mu_static=0.2"], 0.2),
    ] {
        let sets: Vec<&str> = sets
            .iter()
            .copied()
            .chain(["simulation.relative_tolerance=1e-8"])
            .collect();
        let force = drawn(&sets, 100.0, 50, 8000, 8100);
        let (low, high) = range(&force);
        assert!(high - low < 1e-10, "{sets:?}: {}", high - low);
        close(&format!("{sets:?}"), high, steady, 1e-9);
    }
}

/// Amplitude, and mean time between falls from the upper quarter into the lower, of a trace with `rate` values a second.
fn cycle_of(force: &[f64], rate: u64) -> (f64, f64) {
    let (low, high) = range(force);
    let quarter = 0.25 * (high - low);
    let mut slips = Vec::new();
    let mut stuck = false;
    for (i, &x) in force.iter().enumerate() {
        if stuck && x < low + quarter {
            slips.push(i);
        }
        stuck = x > high - quarter || stuck && x >= low + quarter;
    }
    let whole = (slips[slips.len() - 1] - slips[0]) as f64;
    (high - low, whole / (slips.len() - 1) as f64 / rate as f64)
}

/// Smallest and largest value.
fn range(values: &[f64]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(start, |(low, high), &x| (low.min(x), high.max(x)))
}

/// Section 4.4: without a contact time the contact vibrates on, and only a tight tolerance finds the cycle.
#[test]
fn limit_cycle_without_contact_time() {
    let sets = ["elements.floor.contact_time=0", "simulation.relative_tolerance=1e-10"];
    let (amplitude, period) = cycle_of(&drawn(&sets, 100.0, 50, 8000, 13_000), 50);
    close("amplitude", amplitude, 0.2597, 1e-3);
    close("period", period, 2029.0, 4.0);
}

/// Section 4.5 (Fig 13): the cycle is larger for a smaller κ and for a larger η, and vanishes for a very small κ. With a large η it
/// depends on the last trace of vibration at the end of a stick, and needs a very tight tolerance.
#[test]
fn limit_cycle_over_kappa_and_eta() {
    for (kappa, eta, tolerance, amplitude, period) in [
        ("1", "0.002", "1e-7", 0.4704, 3492.0),
        ("10", "0.02", "1e-10", 0.4081, 2912.0),
    ] {
        let sets = [
            format!("elements.floor.kappa={kappa} 1/mm"),
            format!("elements.floor.eta={eta} 1/s"),
            format!("simulation.relative_tolerance={tolerance}"),
        ];
        let sets = [&*sets[0], &sets[1], &sets[2]];
        let found = cycle_of(&drawn(&sets, 100.0, 50, 8000, 18_000), 50);
        close(&format!("{sets:?} amplitude"), found.0, amplitude, 0.02 * amplitude);
        close(&format!("{sets:?} period"), found.1, period, 0.02 * period);
    }
    let sets = ["elements.floor.kappa=0.1 1/mm", "simulation.relative_tolerance=1e-7"];
    let force = drawn(&sets, 100.0, 50, 8000, 10_000);
    let (low, high) = range(&force);
    close("small kappa", high - low, 4e-4, 1e-4);
}

/// Section 4.5, η = 0.0002 with a contact time: the page has an amplitude of 0.0243 and a period of 239 s, by TR-BDF2, which comes down
/// slowly to where it converges (0.0253, 0.0237, 0.0212 at 1e-4, 1e-5, 1e-6). An explicit method of order 8 in another program
/// (`reference/small_eta.py`) gives 0.020153 and 236.19 s: that is met, and the page's period within 2 %.
#[test]
fn limit_cycle_of_small_eta() {
    let eta = "elements.floor.eta=0.0002 1/s";
    let explicit = drawn(&[eta, "simulation.relative_tolerance=1e-8"], 100.0, 50, 16_000, 18_000);
    let trapezoidal = drawn(&[eta, "simulation.integrator=trapezoidal"], 100.0, 100, 16_000, 18_000);
    let (explicit, trapezoidal) = (cycle_of(&explicit, 50), cycle_of(&trapezoidal, 100));
    for (amplitude, period) in [explicit, trapezoidal] {
        close("amplitude", amplitude, 0.020153, 0.01 * 0.020153);
        close("period", period, 236.19, 0.01 * 236.19);
    }
}

/// Section 4.3, the numbers taken literally (F = 10 N, no contact time): first static peak and the minimum after it, with the
/// trapezoidal rule and each update, and with the rule of seed 003. The contact vibrates by 0.05 radians in a step of 5 ms,
/// which leaves 1e-5 in the minimum; the methods of first order leave more.
#[test]
fn literal_parameters_by_newmarks_rules() {
    for (sets, in_peak, in_minimum) in [
        (&["simulation.integrator=trapezoidal"][..], 1e-6, 2e-5),
        (
            &[
                "simulation.integrator=trapezoidal",
                "elements.floor.update=trapezoidal",
                "elements.floor.newton=as-published",
            ][..],
            1e-6,
            2e-5,
        ),
        (
            &["simulation.integrator=trapezoidal", "elements.floor.update=backward"][..],
            2e-3,
            2e-3,
        ),
        (&["simulation.integrator=newmark"][..], 2e-3, 2e-3),
    ] {
        let common = [
            "simulation.step=5 ms",
            "simulation.duration=300 s",
            "analysis.stick_slip.from=0",
            "elements.floor.normal_force=10 N",
            "elements.floor.contact_time=0",
        ];
        let sets: Vec<&str> = sets.iter().chain(&common).copied().collect();
        let mut simulation = simulation("fig003-5.toml", &sets);
        let floor = simulation.element("floor").unwrap();
        let force: Vec<f64> = (0..59_800)
            .map(|_| {
                simulation.advance(1).unwrap();
                1e6 * simulation.element_state(floor)[0] / 10.0
            })
            .collect();
        let (high, when) = top(&force);
        close(&format!("{sets:?} peak"), high, 0.2725795, in_peak);
        close(
            &format!("{sets:?} time of the peak"),
            5e-3 * (when + 1.0),
            290.5799,
            1e3 * in_peak,
        );
        let after: Vec<f64> = force[58_000..].iter().map(|x| -x).collect();
        let (low, when) = top(&after);
        close(&format!("{sets:?} minimum"), -low, 0.1115155, in_minimum);
        close(
            &format!("{sets:?} time of the minimum"),
            290.0 + 5e-3 * (when + 1.0),
            298.5957,
            1e3 * in_minimum,
        );
    }
}

/// Sections 3 and 6: the rule of seed 003, here at half its largest step, takes energy out of the vibration of the contact, so that the cycle
/// of set S without contact time comes out too large: 0.316 to 0.326 where 0.2597 is true.
#[test]
fn limit_cycle_of_the_published_rule() {
    let mut simulation = simulation(
        "fig003-5.toml",
        &[
            "simulation.integrator=newmark",
            "simulation.step=10 ms",
            "elements.floor.contact_time=0",
        ],
    );
    let floor = simulation.element("floor").unwrap();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    simulation.advance(8000 * 100).unwrap();
    for _ in 0..5000 * 100 {
        simulation.advance(1).unwrap();
        let force = 1e4 * simulation.element_state(floor)[0];
        (low, high) = (low.min(force), high.max(force));
    }
    close("amplitude", high - low, 0.321, 0.005);
}

/// Section 6: the plain Newton's method of seed 002 completes the first slip at steps up to about 0.35 s (set S with U =
/// r(1−R)/R, drawn at 0.01 mm/s) and fails beyond; in a bracket the same equations are solved up to ten periods of block and spring.
#[test]
fn step_limit_of_the_published_solver() {
    let outcome = |step: f64, sets: &[&str]| {
        let numbers = [
            format!("simulation.step={step}"),
            format!("simulation.duration={}", step * (400.0 / step).ceil()),
        ];
        let common = [
            "simulation.integrator=trapezoidal",
            "analysis.stick_slip.from=0",
            "bodies.hook.velocity=0.01 mm/s",
            "elements.floor.contact_time=0",
            "elements.floor.evolution=ratio",
            &numbers[0],
            &numbers[1],
        ];
        let sets: Vec<&str> = common.iter().chain(sets).copied().collect();
        let mut simulation = simulation("fig003-5.toml", &sets);
        let steps = simulation.built().steps;
        let done = simulation.advance(steps);
        let block = simulation.body("block").unwrap();
        done.map(|()| simulation.position(block)[0])
            .map_err(|error| error.to_string())
    };
    let published = [
        "elements.floor.update=trapezoidal",
        "elements.floor.newton=as-published",
    ];
    // Before its first slip the block has crept by hundredths of a millimetre.
    let reached = outcome(0.25, &published).unwrap();
    assert!(reached > 1e-3, "{reached}");
    let failure = outcome(0.6, &published).unwrap_err();
    assert!(failure.contains("newton = \"safeguarded\""), "{failure}");
    for step in [0.25, 0.6, 6.0, 62.0] {
        for update in ["exact-flow", "trapezoidal", "backward"] {
            let reached = outcome(step, &[&format!("elements.floor.update={update}")]);
            assert!(reached.is_ok(), "{update} at {step} s: {reached:?}");
        }
    }
}

/// Section 4.6: by criterion (35) sliding is unstable at 0.9 and stable at 1.1 of the critical speed, the 10 % that the
/// protocol allows; linearly it is unstable at both (section 3, number 1).
#[test]
fn critical_speeds() {
    let text = include_str!("../../../scenarios/fig003-9.toml");
    for (mass, stiffness, critical) in [
        ("10 t", "20 N/mm", 0.00618),
        ("10 t", "100 N/mm", 9.42e-4),
        ("2 t", "20 N/mm", 0.00496),
        ("2 t", "100 N/mm", 9.22e-4),
    ] {
        let draft = Draft::parse(text, "fig003-9.toml", &[format!("bodies.block.mass={mass}")]).unwrap();
        let x = Axis::parse(&format!("elements.spring.stiffness=list:{stiffness}")).unwrap();
        let speeds = format!("{} mm/s,{} mm/s", 0.9 * critical, 1.1 * critical);
        let y = Axis::parse(&format!("bodies.hook.velocity=list:{speeds}")).unwrap();
        let sweep = Sweep::map(draft, x, y).unwrap();
        let mut rows = Vec::new();
        let mut take = |row: Row| {
            rows.push(row);
            Ok(())
        };
        sweep.run(0..2, 2, None, &mut take).unwrap();
        let classes: Vec<bool> = rows.iter().map(|row| row.values[2].as_bool().unwrap()).collect();
        assert_eq!(classes, [false, true], "{mass}, {stiffness}: {rows:?}");
        for row in &rows {
            assert!(row.values[4].as_f64().unwrap() > 0.0, "{row:?}");
        }
    }
}

/// A cell of the map with its times: spring N/mm, drive mm/s, signal, and the measures.
fn cell(spring: f64, drive: f64, signal: &str) -> stickslip::report::StickSlipReport {
    // 3.5 and 1.6 times the time in which the spring reaches 40 N, 2000 s and 1000 s more.
    let reach = 40.0 / (spring * drive);
    let end = libm::ceil((3.5 * reach + 2000.0) / 100.0) * 100.0;
    let mut block = simulation(
        "fig003-9.toml",
        &[
            "simulation.relative_tolerance=1e-6",
            &format!("simulation.duration={end} s"),
            &format!("elements.spring.stiffness={spring} N/mm"),
            &format!("bodies.hook.velocity={drive} mm/s"),
            &format!(
                "analysis.stick_slip={{ signal = \"{signal}\", scale = 100, from = {}, threshold = 1e-6 }}",
                end - 1.6 * reach - 1000.0
            ),
        ],
    );
    let outcome = stickslip::run::run(&mut block, None, Default::default()).unwrap();
    outcome.report.stick_slip.unwrap()
}

/// The region is that of the motion: the force of the spring, of the friction and the speed of the block name the same. In the inertial
/// region the spring swings with the period of mass and spring, in the region of creep it takes far longer.
#[test]
fn the_region_is_that_of_the_motion() {
    for (spring, drive, region) in [
        (10.0, 0.005, Region::Creep),
        (2.0, 0.02, Region::Creep),
        (1.0, 0.7, Region::Inertial),
        (4.0, 0.15, Region::Inertial),
    ] {
        let natural = 2.0 * std::f64::consts::PI * (10.0_f64 / spring).sqrt();
        let of_spring = cell(spring, drive, "spring.force");
        let period = of_spring.period.unwrap() / natural;
        match region {
            Region::Inertial => close("period over that of mass and spring", period, 1.0, 0.02),
            Region::Creep => assert!(period > 10.0, "{of_spring:?}"),
        }
        for seen in [
            of_spring,
            cell(spring, drive, "floor.force"),
            cell(spring, drive, "block.velocity"),
        ] {
            assert_eq!(seen.region, Some(region), "{spring} N/mm, {drive} mm/s: {seen:?}");
        }
    }
}

/// With 2 N/mm and 10 t there is no single critical speed: cycles below the threshold of 0.01 that repeat themselves lie between
/// irregular ones beyond it. The amplitudes are those of LSODA (`reference/critical_speed.py`), which agree at tolerances of 1e-8
/// and 1e-10 where the cycle repeats itself.
#[test]
fn small_cycles_come_and_go_with_the_speed() {
    for (drive, amplitude) in [(0.0428, 0.00886), (0.0476, 0.006507), (0.05, 0.006531)] {
        let seen = cell(2.0, drive, "floor.force");
        close("amplitude", seen.amplitude, amplitude, 2e-5);
    }
    for drive in [0.04, 0.0452, 0.06] {
        let seen = cell(2.0, drive, "floor.force");
        assert!(seen.amplitude > 0.01, "{drive} mm/s: {seen:?}");
        let (shortest, longest) = (seen.period_min.unwrap(), seen.period_max.unwrap());
        assert!(longest > 1.5 * shortest, "{drive} mm/s: {seen:?}");
    }
}
