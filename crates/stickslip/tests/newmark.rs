//! The integrators `trapezoidal` and `newmark`: order, energy, several coordinates at once.

mod common;

use common::{close, orders, written};
use stickslip::{Body, Simulation};

const OSCILLATOR: &str = r#"
[simulation]
duration = 1
step = 1e-2
integrator = "trapezoidal"
[bodies.mass]
kind = "mass"
mass = 1
position = 0.1
[elements.spring]
kind = "spring"
between = ["mass", "ground"]
stiffness = 100
"#;

/// m·v' = −c·v from v = 1 m/s.
const VISCOUS: &str = r#"
[simulation]
duration = 1
step = 1e-2
integrator = "trapezoidal"
[bodies.block]
kind = "mass"
mass = 2
velocity = 1
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "martins-oden"
kinetic = 0
viscous = 3
epsilon = 1e-3
"#;

fn run_to_end(text: &str, sets: &[&str]) -> Simulation {
    let mut simulation = written(text, sets);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap_or_else(|error| panic!("{error}"));
    simulation
}

/// x = 0.1·cos(10 t).
#[test]
fn second_order_on_smooth_motion() {
    let error = |integrator: &str, step: f64, more: &[&str]| {
        let sets = [
            format!("simulation.integrator={integrator}"),
            format!("simulation.step={step}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let end = run_to_end(OSCILLATOR, &sets);
        (end.position(Body::nth(0))[0] - 0.1 * libm::cos(10.0)).abs()
    };
    let steps = [1e-2, 5e-3, 2.5e-3];
    for integrator in ["trapezoidal", "newmark"] {
        for order in orders(&steps.map(|step| error(integrator, step, &[]))) {
            close(&format!("order of {integrator}"), order, 2.0, 0.05);
        }
    }
    // γ above ½ damps, at the price of the order.
    let damped = ["simulation.newmark.gamma=0.6", "simulation.newmark.beta=0.3025"];
    for order in orders(&steps.map(|step| error("newmark", step, &damped))) {
        close("order with gamma = 0.6", order, 1.0, 0.2);
    }
    // β = 1/12 has order 4 on an undamped oscillator (Fox and Goodwin's rule).
    for order in orders(&steps.map(|step| error("newmark", step, &["simulation.newmark.beta=0.08333333333333333"]))) {
        close("order with beta = 1/12", order, 4.0, 0.3);
    }
}

/// The trapezoidal rule conserves a quadratic energy at any step.
#[test]
fn vibration_is_kept() {
    for step in ["1e-3", "0.1", "1"] {
        let sets = [format!("simulation.step={step}"), "simulation.duration=200".into()];
        let mut end = run_to_end(OSCILLATOR, &[&sets[0], &sets[1]]);
        let (mechanical, stored) = end.energy();
        close(&format!("energy at {step} s"), mechanical + stored, 0.5, 1e-11);
    }
}

/// Backward differences of m·x'' + d·x' + k·x = 0 multiply each mode e^{λt} by 1/(1 − λT) in a step. From rest at x₀,
/// x = Re(c·e^{λt}) with λ = −δ + iω, c = x₀·(1 − iδ/ω), δ = d/2m, ω² = k/m − δ². A driver that moves with velocity t comes to
/// T²·n(n + 1)/2 in n steps.
#[test]
fn backward_motion_has_its_closed_form() {
    let damping = 3.0;
    let (delta, steps) = (0.5 * damping, 100);
    let omega = (100.0_f64 - delta * delta).sqrt();
    let sets = ["simulation.motion=backward", "elements.spring.damping=3"];
    for step in [1e-3, 1e-2, 0.1] {
        let text = format!("{OSCILLATOR}\n[bodies.hook]\nkind = \"driver\"\nvelocity = \"t\"\n");
        let mut found = written(
            &text,
            &[
                sets[0],
                sets[1],
                &format!("simulation.step={step}"),
                "simulation.duration=100",
            ],
        );
        found.advance(steps).unwrap();
        let n = steps as f64;
        let (real, imaginary) = (1.0 + delta * step, -omega * step);
        let size = libm::pow(libm::hypot(real, imaginary), -n);
        let angle = -n * libm::atan2(imaginary, real);
        let x = 0.1 * size * (libm::cos(angle) + delta / omega * libm::sin(angle));
        close("position", found.position(Body::nth(0))[0], x, 1e-12);
        close(
            "driver",
            found.position(Body::nth(1))[0],
            step * step * n * (n + 1.0) / 2.0,
            1e-12 * n,
        );
    }
    // Towards x₀·e^{−δt}·(cos ωt + δ/ω·sin ωt) with first order.
    let exact = 0.1 * libm::exp(-delta) * (libm::cos(omega) + delta / omega * libm::sin(omega));
    let errors = [1e-3, 5e-4, 2.5e-4].map(|step| {
        let end = run_to_end(OSCILLATOR, &[sets[0], sets[1], &format!("simulation.step={step}")]);
        (end.position(Body::nth(0))[0] - exact).abs()
    });
    for order in orders(&errors) {
        close("order", order, 1.0, 0.1);
    }
}

/// Under backward differences the work of a friction is that of its force at the end of the step along the displacement: with
/// m·v' = −c·v each step multiplies v by ρ = 1/(1 + cT/m), turns c·T·v₁² into heat and loses ½·m·(v₁ − v₀)², the residual.
#[test]
fn backward_motion_keeps_its_ledger() {
    let text = VISCOUS.replace("[bodies", "motion = \"backward\"\n[bodies");
    let energy = common::finish(written(&text, &[]), 1).report.energy.unwrap();
    let rho = 1.0 / (1.0 + 3.0 * 1e-2 / 2.0);
    let squares: f64 = (0..100).map(|k| libm::pow(rho, 2.0 * f64::from(k))).sum();
    close("heat", energy.dissipated, 3.0 * 1e-2 * rho * rho * squares, 1e-12);
    close("residual", energy.residual, (1.0 - rho) * (1.0 - rho) * squares, 1e-12);
}

/// The word has no effect elsewhere, and another word is refused.
#[test]
fn motion_is_of_the_trapezoidal_rule() {
    for (integrator, told) in [("trapezoidal", false), ("newmark", true), ("rk4", true)] {
        let sets = [
            "simulation.motion=backward",
            &format!("simulation.integrator={integrator}"),
        ];
        let warnings = format!("{:?}", written(OSCILLATOR, &sets).built().warnings);
        assert_eq!(warnings.contains("motion has no effect"), told, "{warnings}");
    }
    let bad = ["simulation.motion=forward".to_string()];
    let error = stickslip::scenario::Scenario::parse(OSCILLATOR, "x.toml", &bad).unwrap_err();
    assert!(error.to_string().contains("backward"), "{error}");
}

/// Two blocks joined by springs and drawn, each on a floor of its own: the solution of `adaptive`, with second order.
#[test]
fn several_blocks_at_once() {
    const BLOCKS: &str = r#"
[simulation]
duration = 40
step = 5e-3
integrator = "trapezoidal"
[bodies.hook]
kind = "driver"
velocity = "0.02 mm/s"
[bodies.first]
kind = "mass"
mass = "500 kg"
[bodies.second]
kind = "mass"
mass = "300 kg"
[elements.pull]
kind = "spring"
between = ["hook", "first"]
stiffness = "20 N/mm"
[elements.link]
kind = "spring"
between = ["first", "second"]
stiffness = "40 N/mm"
[elements.floor1]
kind = "friction"
between = ["first", "ground"]
law = "subloading"
mu_static = 0.4
mu_kinetic = 0.2
normal_force = "20 N"
tangential_stiffness = "1000 N/mm"
kappa = "10 1/mm"
eta = "0.01 1/s"
r = "100 1/mm"
contact_time = "5 ms"
[elements.floor2]
kind = "friction"
between = ["second", "ground"]
law = "subloading"
mu_static = 0.3
mu_kinetic = 0.2
normal_force = "10 + 2*sin(t)"
tangential_stiffness = "1000 N/mm"
kappa = "10 1/mm"
eta = "0.01 1/s"
r = "100 1/mm"
evolution = "ratio"
contact_time = "5 ms"
"#;
    let places = |sets: &[&str]| {
        let end = run_to_end(BLOCKS, sets);
        [1, 2].map(|body| end.position(Body::nth(body))[0])
    };
    let exact = places(&["simulation.integrator=adaptive", "simulation.relative_tolerance=1e-10"]);
    assert!(exact[1] > 1e-4, "the second block has moved by {}", exact[1]);
    let error = |update: &str, step: f64| {
        let [a, b] = places(&[
            &format!("simulation.step={step}"),
            &format!("elements.floor1.update={update}"),
            &format!("elements.floor2.update={update}"),
        ]);
        (a - exact[0]).abs() + (b - exact[1]).abs()
    };
    // Small enough to resolve the contacts, which vibrate with 58 rad/s and faster.
    let errors = [6.25e-4, 3.125e-4].map(|step| error("exact-flow", step));
    assert!(errors[1] < 2e-9, "{errors:?}");
    close("order", orders(&errors)[0], 2.0, 0.3);
    // Chosen steps, both contacts by their return mappings: an error of second order falls by 10^(2/3) with every tenth of the
    // tolerance.
    let chosen = |tolerance: &str| {
        let tolerance = format!("simulation.relative_tolerance={tolerance}");
        let [a, b] = places(&["simulation.integrator=stiff", &tolerance]);
        (a - exact[0]).abs() + (b - exact[1]).abs()
    };
    let [loose, tight] = ["1e-4", "1e-6"].map(chosen);
    assert!(loose > 20.0 * tight && tight < 2e-4 * exact[0], "{loose} {tight}");
    // The trapezoidal rule for R loses its order at the start, where U is infinite.
    let rough = error("trapezoidal", 6.25e-4);
    assert!(rough < 8e-9, "{rough}");
}

/// Two blocks whose friction falls by s = 2 N s/m, and by as much or twice that, under a force that balances it at rest: v' = s·v.
/// The slope 1 − s·T/2 of the step's equation is zero at T = 1 s, or 0.5 s: such a step has no solution.
fn falling(second: f64, force: &str) -> String {
    let block = |name: &str, velocity: f64, slope: f64, force: &str| {
        format!(
            "[bodies.{name}]\nkind = \"mass\"\nmass = 1\nvelocity = {velocity}\nforce = {force}\n[elements.floor_{name}]\n\
             kind = \"friction\"\nbetween = [\"{name}\", \"ground\"]\nlaw = \"martins-oden\"\nepsilon = 1e-3\n\
             table = {{ speed = [0, 64, 128], force = [{}, 0, 0] }}\n",
            64.0 * slope
        )
    };
    format!(
        "[simulation]\nduration = 4\nstep = 1\nintegrator = \"trapezoidal\"\n{}{}",
        block("a", 0.5, 2.0, force),
        block("b", 0.015625, second, &format!("{}", 64.0 * second))
    )
}

/// A step without a solution is done in halves. Each multiplies the velocity by (1 + z)/(1 − z) = 3, z = s·T/4, and moves by T/4
/// of the velocities at its ends; so do the energies.
#[test]
fn steps_without_solution_are_done_in_halves() {
    let mut blocks = written(&falling(2.0, "128"), &[]);
    blocks.advance_observed(2).unwrap();
    let over = |f: fn(f64) -> f64, start: f64| {
        let ends = [1.0, 3.0, 9.0, 27.0, 81.0].map(|factor| f(factor * start));
        ends.windows(2).map(|pair| 0.25 * (pair[0] + pair[1])).sum::<f64>()
    };
    for (body, start) in [(0, 0.5), (1, 0.015625)] {
        close("velocity", blocks.velocity(Body::nth(body))[0], 81.0 * start, 1e-12);
        close(
            "position",
            blocks.position(Body::nth(body))[0],
            over(|v| v, start),
            1e-12,
        );
        let delivered = blocks.work().delivered[body];
        close(
            "work of friction",
            delivered,
            over(|v| (2.0 * v - 128.0) * v, start),
            1e-9,
        );
    }
    let input = over(|v| 128.0 * v, 0.5) + over(|v| 128.0 * v, 0.015625);
    close("work of the forces", blocks.work().input, input, 1e-9);
}

/// In the second step quarters are done up to its half, then the half after that has no solution and the force at three quarters is
/// no number. Nothing of that step is left in the state or in the ledger.
#[test]
fn a_later_half_that_fails_leaves_nothing() {
    let mut blocks = written(&falling(4.0, "\"if(abs(t - 1.75) < 0.1, ln(-1), 128)\""), &[]);
    blocks.advance_observed(1).unwrap();
    let told = |blocks: &Simulation| {
        let moved = [0, 1].map(|body| (blocks.position(Body::nth(body))[0], blocks.velocity(Body::nth(body))[0]));
        (
            moved,
            blocks.work().input,
            blocks.work().delivered.clone(),
            blocks.time(),
        )
    };
    let before = told(&blocks);
    assert!(before.1 > 0.0, "{before:?}");
    let error = blocks.advance_observed(1).unwrap_err();
    assert_eq!(told(&blocks), before, "{error}");
}

/// In the plane friction turns with the slip; bristle laws run too, by their own backward Euler rule.
#[test]
fn in_the_plane_and_with_other_laws() {
    let text = |law: &str| {
        format!(
            r#"
[simulation]
duration = 1
step = 1e-3
integrator = "trapezoidal"
[bodies.puck]
kind = "mass"
mass = 1
position = [0, 0]
velocity = [0.3, 0]
force = ["3*cos(3*t)", "3*sin(3*t)"]
[elements.floor]
kind = "friction"
between = ["puck", "ground"]
{law}
"#
        )
    };
    let subloading = "law = \"subloading\"\nmu_static = 0.4\nmu_kinetic = 0.2\nnormal_force = 5\ntangential_stiffness = 2e4\n\
                      kappa = 100\neta = 0.1\nr = 1e4\ncontact_time = 1e-3";
    let lugre = "law = \"lugre\"\nkinetic = 1\nstiffness = 1e4\ndamping = 50";
    let length = |x: [f64; 2]| (x[0] * x[0] + x[1] * x[1]).sqrt();
    let off = |law: &str, integrator: &str| {
        let tight = ["simulation.integrator=adaptive", "simulation.relative_tolerance=1e-9"];
        let exact = run_to_end(&text(law), &tight);
        [5e-5, 2.5e-5].map(|step| {
            let sets = [
                format!("simulation.integrator={integrator}"),
                format!("simulation.step={step}"),
            ];
            let found = run_to_end(&text(law), &[&sets[0], &sets[1]]);
            [0, 1].map(|axis| found.position(Body::nth(0))[axis] - exact.position(Body::nth(0))[axis])
        })
    };
    // The exact flow of `subloading` turns with the motion: of second order. From rest: the force of the contact time would begin
    // with a jump, which leaves a part of first order.
    let from_rest = text(subloading).replace("velocity = [0.3, 0]", "velocity = [0, 0]");
    let tight = ["simulation.integrator=adaptive", "simulation.relative_tolerance=1e-9"];
    let exact = run_to_end(&from_rest, &tight);
    let errors = ["5e-5", "2.5e-5"].map(|step| {
        let found = run_to_end(&from_rest, &[&format!("simulation.step={step}")]);
        length([0, 1].map(|axis| found.position(Body::nth(0))[axis] - exact.position(Body::nth(0))[axis]))
    });
    close("order", orders(&errors)[0], 2.0, 0.05);
    // Else the direction of the force is that of the end of the step: of first order, and what a step of half the length leaves
    // over when the first order is taken out is small.
    for (law, integrator) in [(subloading, "newmark"), (lugre, "trapezoidal"), (lugre, "newmark")] {
        let [coarse, fine] = off(law, integrator);
        let left = [0, 1].map(|axis| 2.0 * fine[axis] - coarse[axis]);
        let share = length(left) / length(fine);
        assert!(share < 0.15, "{integrator} {law}: {coarse:?} {fine:?}");
        close("order", orders(&[length(coarse), length(fine)])[0], 1.0, 0.2);
    }
    // Seed 002's rule takes the mean of the directions at both ends; it loses its order at the start, where U is infinite.
    let [_, rough] = off(&format!("{subloading}\nupdate = \"backward\""), "trapezoidal");
    let [_, fine] = off(&format!("{subloading}\nupdate = \"trapezoidal\""), "trapezoidal");
    assert!(length(fine) < 0.25 * length(rough), "{fine:?} {rough:?}");
}

/// A block hits an elastic stop at 1 m/s, is in touch for half a period π·√(m/k) and leaves with the same speed.
#[test]
fn a_stop_throws_back() {
    let text = "[simulation]\nduration = 0.5\nstep = 1e-4\nintegrator = \"trapezoidal\"\n\
                [bodies.block]\nkind = \"mass\"\nmass = 1\nvelocity = 1\n\
                [elements.wall]\nkind = \"stop\"\nbetween = [\"block\", \"ground\"]\nupper = 0.1\n\
                normal = { law = \"kelvin-voigt\", stiffness = 1e4, damping = 0 }\n";
    for integrator in ["trapezoidal", "newmark"] {
        let end = run_to_end(text, &[&format!("simulation.integrator={integrator}")]);
        let touch = std::f64::consts::PI * 0.01;
        close(
            integrator,
            end.position(Body::nth(0))[0],
            0.1 - (0.5 - 0.1 - touch),
            1e-4,
        );
        close(integrator, end.velocity(Body::nth(0))[0], -1.0, 1e-4);
    }
}

/// Forces that grow with velocity far beyond what the step resolves: m·v' = F − c·v must not swing up. The rule multiplies the
/// distance from the steady speed F/c by (1 − z/2)/(1 + z/2), z = c·T/m, which stays below 1 for every z.
#[test]
fn strong_damping_is_stable() {
    // F/ε = 1e4 N s/m below ε = 1 mm/s, at z = 10 and 100; 0.5 mm/s is where 5 N are balanced.
    for (step, z) in [(1e-3, 10.0), (1e-2, 100.0)] {
        let text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"trapezoidal\"\n[bodies.block]\nkind = \"mass\"\nmass = 1\n\
             force = 5\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"martins-oden\"\nkinetic = 10\n\
             epsilon = 1e-3\n",
            400.0 * step
        );
        let mut simulation = written(&text, &[]);
        let factor: f64 = (1.0 - 0.5 * z) / (1.0 + 0.5 * z);
        simulation.advance(2).unwrap();
        let two = simulation.velocity(Body::nth(0))[0];
        close("two steps", two, 5e-4 * (1.0 - factor * factor), 1e-12);
        simulation.advance(398).unwrap();
        close(
            "at the end",
            simulation.velocity(Body::nth(0))[0],
            5e-4,
            5e-4 * factor.abs().powi(400) + 1e-12,
        );
    }
    // Bristles that stick: z = B·T/m = 6.3 and K·T²/m = 10 (proxy, lugre), and 30 times as much.
    for law in ["proxy", "lugre"] {
        for (stiffness, damping) in [(1e5, 632.0), (3e6, 2e4)] {
            let text = format!(
                "[simulation]\nduration = 10\nstep = 1e-2\nintegrator = \"trapezoidal\"\n[bodies.block]\nkind = \"mass\"\nmass = 1\n\
                 force = 5\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"{law}\"\nkinetic = 1e3\n\
                 stiffness = {stiffness}\ndamping = {damping}\n"
            );
            let end = run_to_end(&text, &[]);
            close(law, end.position(Body::nth(0))[0] * stiffness, 5.0, 0.05);
            close(law, end.velocity(Body::nth(0))[0], 0.0, 1e-6);
        }
    }
}

/// A force without a state, along a smooth motion: the rule has its second order. m·v' = −c·v from v = 1 m/s.
#[test]
fn viscous_friction_is_of_second_order() {
    let error = |step: f64| {
        let end = run_to_end(VISCOUS, &[&format!("simulation.step={step}")]);
        (end.velocity(Body::nth(0))[0] - libm::exp(-1.5)).abs()
    };
    for order in orders(&[4e-2, 2e-2, 1e-2].map(error)) {
        close("order", order, 2.0, 0.02);
    }
}

/// A step that damps stick-slip away is told: the spring would be taken at the end of the step, T²·k/m > 0.25.
#[test]
fn damped_stick_slip_is_told() {
    let text = "[simulation]\nduration = 10\nstep = 1e-2\nintegrator = \"implicit-euler\"\n[bodies.block]\nkind = \"mass\"\nmass = 2\n\
                [bodies.hook]\nkind = \"driver\"\nvelocity = 0.05\n[elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\n\
                stiffness = 200\n[elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\n\
                kinetic = 8\nstatic = 12\n[analysis]\nstick_slip = { signal = \"floor.force\", threshold = 0.1 }\n";
    for (step, told) in [("1e-2", false), ("0.1", true)] {
        let simulation = written(text, &[&format!("simulation.step={step}")]);
        let warnings = format!("{:?}", simulation.built().warnings);
        assert_eq!(warnings.contains("too large to see stick-slip"), told, "{warnings}");
    }
}

/// Stick-slip of a contact that nothing damps is told, with the time that damps it by 1 % of critical: 0.02·√(m/α) = 2 ms.
#[test]
fn undamped_contacts_are_told() {
    for (time, told) in [("0", true), ("2 ms", false)] {
        let block = common::simulation("fig003-5.toml", &[&format!("elements.floor.contact_time={time}")]);
        let warnings = format!("{:?}", block.built().warnings);
        assert_eq!(warnings.contains("vibrates for ever"), told, "{warnings}");
        assert_eq!(warnings.contains("contact_time = 2.0e-3 s"), told, "{warnings}");
    }
}

/// A step that does not resolve a slip is told. Set S: a slip lasts pi*sqrt(M/K) = 3.14 s, a thirtieth of which is 0.105 s;
/// 2/(r v) is 0.01 s with v = 0.2*100 N/sqrt(K M) = 2 mm/s.
#[test]
fn unresolved_slips_are_told() {
    for (integrator, step, told) in [
        ("trapezoidal", "0.1", None),
        ("trapezoidal", "0.2", Some("below 1.0e-1 s")),
        ("newmark", "9 ms", None),
        ("newmark", "20 ms", Some("below 1.0e-2 s")),
        ("stiff", "0.5", None),
    ] {
        let sets = [
            format!("simulation.integrator={integrator}"),
            format!("simulation.step={step}"),
        ];
        let block = common::simulation("fig003-5.toml", &sets.each_ref().map(String::as_str));
        let warning = (block.built().warnings.iter()).find(|warning| warning.message.contains("stick-slip are wrong"));
        let help = warning.and_then(|warning| warning.help.as_deref());
        assert_eq!(warning.is_some(), told.is_some(), "{integrator} {step}");
        assert!(help.unwrap_or_default().contains(told.unwrap_or_default()), "{help:?}");
    }
}

/// A normal force that is the weight counts as one that is written: 10 t under 0.01 m/s² press by the 100 N of set S.
#[test]
fn weight_counts_in_slips_that_are_not_resolved() {
    let path = format!("{}/../../scenarios/fig003-5.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let weighed: Vec<&str> = text.lines().filter(|line| !line.starts_with("normal_force")).collect();
    let sets = [
        "simulation.integrator=newmark",
        "simulation.step=20 ms",
        "bodies.block.axis=[1, 0, 0]",
        "simulation.gravity=[0, 0, -0.01]",
    ];
    let block = written(&weighed.join("\n"), &sets);
    let helps: Vec<_> = block
        .built()
        .warnings
        .iter()
        .filter_map(|warning| warning.help.as_deref())
        .collect();
    assert!(helps.iter().any(|help| help.contains("below 1.0e-2 s")), "{helps:?}");
}

/// A step in which R cannot settle is told to methods that are explicit in R, from the speed at the start: 2/(r v), for `rk4`
/// 2.78/(r v), of bodies, of drivers, in contacts and joints.
#[test]
fn fast_slips_are_told() {
    const R: f64 = 1e5;
    let law = format!(
        "law = \"subloading\", mu_static = 0.3, mu_kinetic = 0.2, tangential_stiffness = 1e3, kappa = 10, eta = 0.1, r = {R}"
    );
    let lines = law.replace(", ", "\n");
    let rub = format!("kind = \"friction\"\nbetween = [\"b\", \"ground\"]\nnormal_force = 10\n{lines}\n");
    let mass = format!("[bodies.b]\nkind = \"mass\"\nmass = 1\nvelocity = 0.5\n[elements.f]\n{rub}");
    let driver = "[bodies.d]\nkind = \"driver\"\nvelocity = \"0.5*cos(t)\"\n";
    let belt = format!(
        "[bodies.b]\nkind = \"mass\"\nmass = 1\n{driver}[elements.f]\n{}",
        rub.replace("ground", "d")
    );
    let pulled = format!(
        "[bodies.b]\nkind = \"mass\"\nmass = 1\n{driver}[elements.s]\nkind = \"spring\"\nbetween = [\"b\", \"d\"]\nstiffness = 1\n\
         [elements.f]\n{}",
        rub.replace("mu_static = 0.3", "mu_static = 0.2")
    );
    let body = "[bodies.b]\nkind = \"rigid-body\"\nshape = { sphere = 0.1 }\nmass = 1\n";
    // The point below slips by v + omega*radius = 0.2 + 3*0.1.
    let ball = format!(
        "{body}position = [0, 0, 0.1]\nvelocity = [0.2, 0, 0]\nangular_velocity = [0, -3, 0]\n[elements.f]\nkind = \"contact\"\n\
         between = [\"b\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 1] }} }}\n\
         normal = {{ law = \"kelvin-voigt\", stiffness = 1e4, damping = 10 }}\nfriction = {{ {law} }}\n"
    );
    let hinge = format!(
        "{body}angular_velocity = [7, 0, 0.5]\n[elements.f]\nkind = \"joint\"\ntype = \"revolute\"\nbetween = [\"b\", \"ground\"]\n\
         axis = [0, 0, 1]\nfriction = {{ {law}, normal_force = 10 }}\n"
    );
    for (what, text) in [
        ("mass", mass),
        ("belt", belt),
        ("pulled", pulled),
        ("ball", ball),
        ("hinge", hinge),
    ] {
        for (integrator, limit) in [
            ("euler", 2.0),
            ("rk4", 2.78),
            ("newmark", 2.0),
            ("stiff", f64::INFINITY),
        ] {
            if integrator == "newmark" && ["ball", "hinge"].contains(&what) {
                continue;
            }
            for step in [1.9, 2.1, 2.7, 2.9].map(|times| times / (R * 0.5)) {
                let head = format!("[simulation]\nduration = 1\nstep = {step}\nintegrator = \"{integrator}\"\n");
                let simulation = written(&format!("{head}{text}"), &[]);
                let warnings = &simulation.built().warnings;
                let told = warnings
                    .iter()
                    .find(|warning| warning.message.contains("its force is wrong"));
                assert_eq!(
                    told.is_some(),
                    step * R * 0.5 > limit,
                    "{what} {integrator} {step}: {warnings:?}"
                );
                let help = format!("below {:.1e} s, or integrator = \"stiff\"", limit / (R * 0.5));
                assert!(
                    told.is_none_or(|told| told.help.as_deref().unwrap().contains(&help)),
                    "{told:?}"
                );
            }
        }
    }
}

/// A step that does not resolve an impact is told.
#[test]
fn unresolved_impacts_are_told() {
    let text = |stiffness: f64| {
        format!(
            "[simulation]\nduration = 1\nstep = 1e-2\nintegrator = \"trapezoidal\"\n[bodies.block]\nkind = \"mass\"\nmass = 1\n\
             velocity = 1\n[elements.wall]\nkind = \"stop\"\nbetween = [\"block\", \"ground\"]\nupper = 0.1\n\
             normal = {{ law = \"kelvin-voigt\", stiffness = {stiffness}, damping = 0 }}\n"
        )
    };
    for (stiffness, told) in [(2600.0, true), (2400.0, false)] {
        let simulation = written(&text(stiffness), &[]);
        let warnings = format!("{:?}", simulation.built().warnings);
        assert_eq!(warnings.contains("may gain energy"), told, "{warnings}");
    }
}

/// What these methods do not move is refused with a way out.
#[test]
fn other_bodies_are_refused() {
    let text = "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"trapezoidal\"\n[bodies.ball]\nkind = \"rigid-body\"\n\
                shape = { sphere = 0.1 }\nmass = 1\n";
    let scenario = stickslip::scenario::Scenario::parse(text, "x.toml", &[]).unwrap();
    let error = Simulation::new(scenario).err().unwrap().to_string();
    assert!(
        error.contains("masses, inertias and drivers only") && error.contains("stiff"),
        "{error}"
    );
    let text = "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"newmark\"\n[bodies.ball]\nkind = \"mass\"\nmass = 1\n\
                position = [0, 0]\n[elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\n\
                surface = { plane = { normal = [0, 1], offset = 0 } }\nnormal = { law = \"kelvin-voigt\" }\n\
                friction = { law = \"lugre\", mu = 0.1 }\n";
    let scenario = stickslip::scenario::Scenario::parse(text, "x.toml", &[]).unwrap();
    let error = Simulation::new(scenario).err().unwrap().to_string();
    assert!(error.contains("in a contact") && error.contains("proxy"), "{error}");
}

/// The largest friction before the first slip, over the normal force. On a belt the block is held by a spring to the ground.
fn first_peak(integrator: &str, step: f64, belt: bool) -> f64 {
    let speed = 2e-5;
    let (floor, hook) = if belt { (-speed, 0.0) } else { (0.0, speed) };
    let text = format!(
        "[simulation]\nduration = 300\nstep = {step}\nintegrator = \"{integrator}\"\nrelative_tolerance = 1e-7\n\
         [bodies.block]\nkind = \"mass\"\nmass = 4\nvelocity = {floor}\n\
         [bodies.floor]\nkind = \"driver\"\nvelocity = {floor}\n\
         [bodies.hook]\nkind = \"driver\"\nvelocity = {hook}\n\
         [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 7000\n\
         [elements.rub]\nkind = \"friction\"\nbetween = [\"block\", \"floor\"]\nlaw = \"subloading\"\nmu_static = 0.5\n\
         mu_kinetic = 0.3\nnormal_force = 60\ntangential_stiffness = 9e5\nkappa = 5000\neta = 0.003\nr = 9e4\n"
    );
    let text = match integrator {
        "stiff" => text,
        _ => text.replace("relative_tolerance = 1e-7\n", ""),
    };
    let scenario = stickslip::scenario::Scenario::parse(&text, "peak.toml", &[]).unwrap();
    let mut simulation = stickslip::Simulation::new(scenario).unwrap();
    let mut peak = 0.0f64;
    for _ in 0..simulation.built().steps {
        simulation.advance_observed(1).unwrap();
        peak = peak.max(-simulation.observations()[1].force[0] / 60.0);
    }
    peak
}

#[test]
fn a_long_step_takes_the_solution_that_the_contact_reaches_first() {
    // Steps of up to 70 periods of the contact, in which friction falls far faster than the mass holds: each has a solution in which the
    // block has already slipped. `stiff`, which follows the rates with steps of its own, tells the peak.
    let reference = first_peak("stiff", 0.5, false);
    assert!((0.3..0.5).contains(&reference));
    for step in [0.05, 0.2, 0.5, 1.0] {
        for belt in [false, true] {
            let peak = first_peak("trapezoidal", step, belt);
            assert!(
                (peak / reference - 1.0).abs() < 3e-3,
                "step {step}, belt {belt}: {peak}, not {reference}"
            );
        }
    }
}
