//! Seed 002: what the published scheme costs, and what it hides (science page, sections 6 and 7).

mod common;

use common::{close, simulation};
use stickslip::Simulation;

/// The set of section 6: 10 kg, drawn at 0.005 mm/s, U = r(1 − R)/R. It begins to slip after 620 s; a cycle takes 314 s.
fn block(sets: &[&str]) -> Simulation {
    let set = [
        "bodies.block.mass=10 kg",
        "bodies.hook.velocity=0.005 mm/s",
        "elements.floor.evolution=ratio",
        "analysis.stick_slip.from=800 s",
        "simulation.duration=1150 s",
    ];
    let sets: Vec<&str> = set.iter().chain(sets).copied().collect();
    simulation("fig003-5.toml", &sets)
}

/// Amplitude of the elastic force over the normal force from 800 s on.
fn amplitude(mut block: Simulation) -> f64 {
    let floor = block.element("floor").unwrap();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (steps, step) = (block.built().steps, block.built().network.step);
    let from = (800.0 / step) as u64;
    block.advance(from).unwrap();
    for _ in from..steps {
        block.advance(1).unwrap();
        let force = 1e6 * block.element_state(floor)[0] / 100.0;
        (low, high) = (low.min(force), high.max(force));
    }
    high - low
}

/// The scheme of seed 002.
fn published(step: f64, contact_time: f64) -> f64 {
    amplitude(block(&[
        "simulation.integrator=trapezoidal",
        "elements.floor.update=trapezoidal",
        &format!("simulation.step={step}"),
        &format!("elements.floor.contact_time={contact_time}"),
    ]))
}

/// Motion and contact force by backward differences: the amplitudes of the science page at two steps, far from the true one.
#[test]
fn backward_differences_depend_on_the_step() {
    let found = std::thread::scope(|scope| {
        let runs = [5e-3, 2e-3].map(|step| {
            scope.spawn(move || {
                let mut block = simulation(
                    "fig002-3.toml",
                    &[
                        "simulation.motion=backward",
                        "elements.floor.update=backward",
                        "elements.floor.newton=safeguarded",
                        &format!("simulation.step={step}"),
                    ],
                );
                let outcome = stickslip::run::run(&mut block, None, Default::default()).unwrap();
                outcome.report.stick_slip.unwrap().amplitude
            })
        });
        runs.map(|run| run.join().unwrap())
    });
    close("amplitude at 5 ms", found[0], 0.133, 5e-4);
    close("amplitude at 2 ms", found[1], 0.168, 5e-4);
}

/// The largest step at which Newton's method as published completes the first slip with backward differences for motion and
/// contact force (mass, law, step of the science page), within two points of its grid of 15 %. In a bracket every step completes.
#[test]
fn backward_differences_have_their_step_limits() {
    let limits = [
        ("10 kg", "ratio", 6.3e-3),
        ("10 kg", "log", 7.3e-3),
        ("10 t", "ratio", 0.229),
        ("1 kg", "ratio", 2.0e-3),
    ];
    for (mass, law, limit) in limits {
        let completes = |step: f64, newton: &str| {
            let mut block = simulation(
                "fig002-3.toml",
                &[
                    "simulation.motion=backward",
                    "elements.floor.update=backward",
                    "bodies.hook.velocity=0.01 mm/s",
                    "analysis.stick_slip.from=0",
                    &format!("elements.floor.newton={newton}"),
                    &format!("elements.floor.evolution={law}"),
                    &format!("bodies.block.mass={mass}"),
                    &format!("simulation.step={step}"),
                    &format!("simulation.duration={}", step * libm::ceil(400.0 / step)),
                ],
            );
            let steps = block.built().steps;
            block.advance(steps).is_ok()
        };
        assert!(completes(limit / 1.15, "as-published"), "{mass} {law}");
        assert!(!completes(limit * 1.15 * 1.15, "as-published"), "{mass} {law}");
        assert!(completes(limit * 1.15 * 1.15, "safeguarded"), "{mass} {law}");
    }
}

/// With a contact time of 63 µs the amplitude is 0.2232935. The published scheme keeps it within 1 % only at steps below 2 ms
/// (at 1 ms it is 0.2218); `stiff` does at a tolerance of 1e-3, with two solutions of a stage for each step that it tries.
#[test]
fn chosen_steps_need_fifty_times_fewer_solves() {
    let exact = 0.2232935;
    let step = 2e-3;
    let at_two_milliseconds = published(step, 6.3e-5);
    assert!(
        (at_two_milliseconds - exact).abs() > 0.01 * exact,
        "{at_two_milliseconds}"
    );
    let solves = 1800.0 / step;

    let mut chosen = block(&[
        "simulation.duration=1800 s",
        "simulation.step=0.1 s",
        "simulation.max_step=1800 s",
        "simulation.relative_tolerance=1e-3",
        "elements.floor.contact_time=63 us",
        "analysis.stick_slip.signal=floor.e",
        "analysis.stick_slip.scale=1e-4",
    ]);
    let outcome = stickslip::run::run(&mut chosen, None, Default::default()).unwrap();
    let cycle = outcome.report.stick_slip.unwrap();
    close("amplitude", cycle.amplitude, exact, 0.01 * exact);
    close("period", cycle.period.unwrap(), 313.9, 0.01 * 313.9);
    let cost = chosen.statistics();
    let chosen_solves = 2 * (cost.steps + cost.rejected);
    assert!(
        solves > 50.0 * chosen_solves as f64,
        "{solves} against {chosen_solves}: {cost:?}"
    );
}

/// Without a contact time the true amplitude is 0.0768. The published scheme gives 0.2255 from 2 ms down to 0.5 ms and looks
/// converged. Where steps are chosen by their error the answer is never that one, and it changes with the tolerance: whoever
/// asks twice knows that it is not yet an answer.
#[test]
fn apparent_convergence_is_seen_through() {
    let fixed = std::thread::scope(|scope| {
        let runs = [2e-3, 1.6e-3].map(|step| scope.spawn(move || published(step, 0.0)));
        runs.map(|run| run.join().unwrap())
    });
    for amplitude in fixed {
        close("amplitude at a fixed step", amplitude, 0.2255, 0.02 * 0.2255);
    }
    let chosen = ["1e-3", "1e-4"].map(|tolerance| {
        amplitude(block(&[
            "simulation.integrator=adaptive",
            "simulation.step=10 ms",
            "elements.floor.contact_time=0",
            &format!("simulation.relative_tolerance={tolerance}"),
        ]))
    });
    let [loose, tight] = chosen;
    assert!((loose - tight).abs() > 0.5 * loose.max(tight), "{chosen:?}");
    assert!(loose.max(tight) < 0.8 * 0.2255, "{chosen:?}");
}
