//! Rigid joints that close loops, rigid gears, and springs between points of bodies in the implicit steps: against closed forms of kinematics and statics.

mod common;

use common::{finish, written};

const METHODS: [&str; 2] = ["implicit-euler", "implicit-midpoint"];

/// A crank, a coupler and a rocker on a base; all joints turn about z. `extra` adds to the file.
fn four_bar(method: &str, step: f64, duration: f64, [crank, coupler, rocker, base]: [f64; 4], extra: &str) -> String {
    let theta = 1.0f64;
    let (beta, phi) = four_bar_angles([crank, coupler, rocker, base], theta);
    let inertia = |m: f64, l: f64| m * l * l / 12.0;
    format!(
        "[simulation]\nduration = {duration}\nstep = {step}\nintegrator = \"{method}\"\ngravity = [0, 0, 0]\n\
         [bodies.drive]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"crank\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 0, 1], mass = 1, com = [{}, 0, 0], \
            inertia = [0, {ic}, {ic}], position = {theta} }},\n\
         {{ name = \"coupler\", parent = \"crank\", joint = \"b\", type = \"revolute\", axis = [0, 0, 1], origin = [{crank}, 0, 0], mass = 0.5, \
            com = [{}, 0, 0], inertia = [0, {ib}, {ib}], position = {} }},\n]\n\
         [bodies.out]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"rocker\", parent = \"ground\", joint = \"d\", type = \"revolute\", axis = [0, 0, 1], origin = [{base}, 0, 0], mass = 0.8, \
            com = [{}, 0, 0], inertia = [0, {ir}, {ir}], position = {phi} }},\n]\n\
         [elements.pin]\nkind = \"joint\"\nbetween = [\"drive.coupler\", \"out.rocker\"]\ntype = \"revolute\"\naxis = [0, 0, 1]\n\
         at = [[{coupler}, 0, 0], [{rocker}, 0, 0]]\nrigid = true\n{extra}",
        0.5 * crank,
        0.5 * coupler,
        beta - theta,
        0.5 * rocker,
        ic = inertia(1.0, crank),
        ib = inertia(0.5, coupler),
        ir = inertia(0.8, rocker),
    )
}

/// Angles of coupler and rocker against the base, by the intersection of two circles about the tip of the crank and the far end of the base.
fn four_bar_angles([crank, coupler, rocker, base]: [f64; 4], theta: f64) -> (f64, f64) {
    let tip = [crank * theta.cos(), crank * theta.sin()];
    let (x, y) = (base - tip[0], -tip[1]);
    let far = x.hypot(y);
    let along = (coupler * coupler - rocker * rocker + far * far) / (2.0 * far);
    let across = (coupler * coupler - along * along).sqrt();
    let pin = [
        tip[0] + (along * x - across * y) / far,
        tip[1] + (along * y + across * x) / far,
    ];
    ((pin[1] - tip[1]).atan2(pin[0] - tip[0]), pin[1].atan2(pin[0] - base))
}

fn wrapped(angle: f64) -> f64 {
    let turn = 2.0 * std::f64::consts::PI;
    angle - turn * (angle / turn).round()
}

#[test]
fn a_four_bar_linkage_stays_closed_to_rounding_and_turns_as_its_kinematics_say() {
    let bars = [0.1, 0.35, 0.25, 0.4];
    let motor = "[elements.motor]\nkind = \"actuator\"\non = \"drive.a\"\nvalue = \"if(t < 0.5, 0.5, 0)\"\n";
    for method in METHODS {
        let mut losses = Vec::new();
        for step in [1e-3, 5e-3] {
            let run = finish(written(&four_bar(method, step, 3.0, bars, motor), &[]), 1);
            let [a, b, d] = ["drive.a", "drive.b", "out.d"].map(|joint| run.column(&format!("{joint}.position")));
            let [va, vb, vd] = ["drive.a", "drive.b", "out.d"].map(|joint| run.column(&format!("{joint}.velocity")));
            assert!(
                a.last().unwrap() - a[0] > 12.0,
                "{method}: the crank turns, {:?}",
                a.last()
            );
            for k in 1..a.len() {
                let (beta, phi) = four_bar_angles(bars, a[k]);
                let open = wrapped(a[k] + b[k] - beta).abs().max(wrapped(d[k] - phi).abs());
                assert!(open < 2e-13, "{method}, step {step}, row {k}: {open:e}");
                // Velocities of the pin, by both sides.
                let (beta, phi) = (a[k] + b[k], d[k]);
                let (wb, wd) = (va[k] + vb[k], vd[k]);
                let x = -0.1 * va[k] * a[k].sin() - 0.35 * wb * beta.sin() + 0.25 * wd * phi.sin();
                let y = 0.1 * va[k] * a[k].cos() + 0.35 * wb * beta.cos() - 0.25 * wd * phi.cos();
                assert!(
                    x.hypot(y) < 1e-12 * (1.0 + va[k].abs()),
                    "{method}, row {k}: {x:e} {y:e}"
                );
            }
            // The methods lose energy, and do not gain any.
            let energy = run.report.energy.as_ref().unwrap();
            let lost = energy.initial + energy.input - energy.final_;
            assert!(
                lost > -1e-9 * energy.input && lost < energy.input,
                "{method}, step {step}: {lost:e} of {}",
                energy.input
            );
            losses.push(lost / energy.input);
            let Some(numerical) = energy.numerical else { continue };
            let unknown = energy.residual - numerical;
            assert!(
                unknown.abs() <= 1e-9 * energy.input,
                "{method}, step {step}: {unknown:e}"
            );
        }
        // Second order: a fifth of the step loses a twenty-fifth.
        if method == "implicit-midpoint" {
            assert!(losses[0] < losses[1] / 20.0, "{losses:?}");
        }
    }
}

/// A crank and a rod that move a slider along x.
fn slider_crank(method: &str, theta: f64, extra: &str) -> String {
    let (a, b) = (0.05f64, 0.17f64);
    let beta = -(a * theta.sin() / b).asin();
    let x = a * theta.cos() + b * beta.cos();
    format!(
        "[simulation]\nduration = 2\nstep = 0.001\nintegrator = \"{method}\"\n\
         [bodies.drive]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"crank\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 0, 1], mass = 0.7, com = [0.02, 0, 0], \
            inertia = [0, 1e-3, 1e-3], position = {theta} }},\n\
         {{ name = \"rod\", parent = \"crank\", joint = \"b\", type = \"revolute\", axis = [0, 0, 1], origin = [{a}, 0, 0], mass = 0.3, \
            com = [0.08, 0, 0], inertia = [0, 8e-4, 8e-4], position = {} }},\n]\n\
         [bodies.cylinder]\nkind = \"linkage\"\nlinks = [{{ name = \"piston\", parent = \"ground\", joint = \"x\", type = \"prismatic\", \
            axis = [1, 0, 0], mass = 0.4, position = {x} }}]\n\
         [elements.pin]\nkind = \"joint\"\nbetween = [\"drive.rod\", \"cylinder.piston\"]\ntype = \"revolute\"\naxis = [0, 0, 1]\n\
         at = [[{b}, 0, 0], [0, 0, 0]]\nrigid = true\n{extra}",
        beta - theta
    )
}

#[test]
fn a_slider_crank_follows_its_closed_form() {
    let motor = "[elements.motor]\nkind = \"actuator\"\non = \"drive.a\"\nvalue = 0.2\n\
                 [elements.rub]\nkind = \"friction\"\non = \"cylinder.x\"\nlaw = \"implicit\"\nkinetic = 2\nstatic = 3\n";
    for method in METHODS {
        let run = finish(written(&slider_crank(method, 0.4, motor), &[]), 1);
        let [theta, x, v, w] = [
            "drive.a.position",
            "cylinder.x.position",
            "cylinder.x.velocity",
            "drive.a.velocity",
        ]
        .map(|name| run.column(name));
        assert!(theta.last().unwrap() - theta[0] > 6.0, "{method}: {:?}", theta.last());
        for k in 1..x.len() {
            let (s, c) = theta[k].sin_cos();
            let root = (0.17f64 * 0.17 - 0.05 * 0.05 * s * s).sqrt();
            assert!(
                (x[k] - 0.05 * c - root).abs() < 1e-14,
                "{method}, row {k}: {:e}",
                x[k] - 0.05 * c - root
            );
            let slope = -0.05 * s - 0.05 * 0.05 * s * c / root;
            assert!(
                (v[k] - slope * w[k]).abs() < 1e-13 * (1.0 + w[k].abs()),
                "{method}, row {k}"
            );
        }
        let energy = run.report.energy.as_ref().unwrap();
        assert!(energy.dissipated > 0.0);
        // The midpoint rule splits its step where the slider turns back; there its own part is not known to this.
        if let Some(numerical) = energy.numerical.filter(|_| method == "implicit-euler") {
            let unknown = energy.residual - numerical;
            assert!(unknown.abs() <= 1e-9 * energy.input, "{method}: {unknown:e}");
        }
    }
}

#[test]
fn a_loop_that_friction_holds_stays_and_shows_the_forces_of_statics() {
    let theta = 0.9f64;
    let held = "[elements.motor]\nkind = \"actuator\"\non = \"drive.a\"\nvalue = 0.2\n\
                [elements.rub]\nkind = \"friction\"\non = \"cylinder.x\"\nlaw = \"implicit\"\nkinetic = 8\n";
    let (s, c) = theta.sin_cos();
    let root = (0.17f64 * 0.17 - 0.05 * 0.05 * s * s).sqrt();
    let slope = -0.05 * s - 0.05 * 0.05 * s * c / root;
    for method in METHODS {
        let run = finish(written(&slider_crank(method, theta, held), &[]), 1);
        for name in ["drive.a", "drive.b", "cylinder.x"] {
            let position = run.column(&format!("{name}.position"));
            assert!(
                position.iter().all(|x| *x == position[0]),
                "{method}: {name} rests exactly"
            );
        }
        // Virtual work: 0.2·dθ + F·dx = 0. The pin carries it as the rod lies.
        let force = *run.column("rub.force").last().unwrap();
        assert!(
            (force + 0.2 / slope).abs() < 1e-11,
            "{method}: {force} for {}",
            -0.2 / slope
        );
        let [fx, fy] = ["pin.force.x", "pin.force.y"].map(|name| *run.column(name).last().unwrap());
        assert!((fx + 0.2 / slope).abs() < 1e-11, "{method}: {fx}");
        assert!((fy / fx + 0.05 * s / root).abs() < 1e-11, "{method}: {fy} {fx}");
    }
}

#[test]
fn loops_with_more_joints_than_they_need_move() {
    // A plate on three parallel cranks, in a plane that is turned in space: two of the three cranks would do.
    let mut text = String::from(
        "[bodies.plate]\nkind = \"rigid-body\"\nmass = 2\nposition = [0.2, 0.1, 0.3]\ninertia = [0.02, 0.03, 0.04]\n",
    );
    let axis = "[0.6, 0, 0.8]";
    // Across the axis: e1 = (0.8, 0, -0.6), e2 = (0, 1, 0).
    let arm = [0.8 * 0.3 * 0.5, 0.3 * 0.75f64.sqrt(), -0.6 * 0.3 * 0.5];
    for (k, at) in [[0.16, 0.0, -0.12], [-0.08, 0.1, 0.06], [-0.08, -0.1, 0.06]]
        .iter()
        .enumerate()
    {
        let foot = [0.2 + at[0] - arm[0], 0.1 + at[1] - arm[1], 0.3 + at[2] - arm[2]];
        text += &format!(
            "[bodies.c{k}]\nkind = \"linkage\"\nlinks = [{{ name = \"crank\", parent = \"ground\", joint = \"j\", type = \"revolute\", axis = {axis}, \
             origin = {foot:?}, mass = 0.3, com = [{}, {}, {}], inertia = [1e-3, 1e-3, 1e-3] }}]\n\
             [elements.p{k}]\nkind = \"joint\"\nbetween = [\"plate\", \"c{k}.crank\"]\ntype = \"revolute\"\naxis = {axis}\n\
             at = [{at:?}, {arm:?}]\nrigid = true\n",
            0.5 * arm[0],
            0.5 * arm[1],
            0.5 * arm[2]
        );
    }
    text += "[elements.motor]\nkind = \"actuator\"\non = \"c0.j\"\nvalue = 0.3\n";
    // Parallel cranks: (2·0.3²·m) of the plate, and each crank about its foot.
    let inertia = 2.0 * 0.09 + 3.0 * (1e-3 + 0.3 * 0.0225);
    for method in METHODS {
        let head = format!("[simulation]\nduration = 1\nstep = 0.001\nintegrator = \"{method}\"\n");
        let run = finish(written(&(head + &text), &[]), 1);
        let angles = [0, 1, 2].map(|k| run.column(&format!("c{k}.j.position")));
        for row in 1..angles[0].len() {
            for other in &angles[1..] {
                assert!((angles[0][row] - other[row]).abs() < 1e-12, "{method}, row {row}");
            }
        }
        let end = *run.column("c0.j.velocity").last().unwrap();
        let exact = 0.3 / inertia;
        assert!((end - exact).abs() < 2e-3 * exact, "{method}: {end} for {exact}");
        let energy = run.report.energy.as_ref().unwrap();
        assert!(
            (energy.input - 0.5 * inertia * end * end).abs() < 3e-3 * energy.input,
            "{method}"
        );
    }
}

#[test]
fn a_rigid_gear_turns_both_shafts_as_one_and_holds_with_either() {
    let train = |method: &str, limit: f64| {
        format!(
            "[simulation]\nduration = 0.5\nstep = 0.001\nintegrator = \"{method}\"\n\
             [bodies.motor]\nkind = \"inertia\"\ninertia = 0.02\n[bodies.wheel]\nkind = \"inertia\"\ninertia = 0.5\n\
             [elements.gear]\nkind = \"gear\"\nbetween = [\"motor\", \"wheel\"]\nratio = [1, 5]\nrigid = true\n\
             [elements.torque]\nkind = \"actuator\"\nbetween = [\"motor\", \"ground\"]\nvalue = 0.3\n\
             [elements.brake]\nkind = \"friction\"\nbetween = [\"wheel\", \"ground\"]\nlaw = \"implicit\"\nkinetic = {limit}\n"
        )
    };
    for method in METHODS {
        // q₂ = q₁/5: the wheel's brake counts a fifth at the motor, its inertia a twenty-fifth.
        let run = finish(written(&train(method, 1.0), &[]), 1);
        let exact = (0.3 - 1.0 / 5.0) / (0.02 + 0.5 / 25.0) * 0.5;
        let [motor, wheel] = ["motor.velocity", "wheel.velocity"].map(|name| *run.column(name).last().unwrap());
        assert!(
            (motor - exact).abs() < 1e-12 && (wheel - exact / 5.0).abs() < 1e-12,
            "{method}: {motor} {wheel}"
        );
        let force = *run.column("gear.force").last().unwrap();
        assert!((force - (0.02 * exact / 0.5 - 0.3)).abs() < 1e-11, "{method}: {force}");
        let energy = run.report.energy.as_ref().unwrap();
        let unknown = energy.residual - energy.numerical.unwrap_or(0.0);
        assert!(unknown.abs() <= 1e-12 * energy.input, "{method}: {unknown:e}");
        // 0.3 Nm hold against 1.6 Nm behind the gear.
        let run = finish(written(&train(method, 1.6), &[]), 1);
        for name in ["motor.position", "wheel.position"] {
            assert!(run.column(name).iter().all(|x| *x == 0.0), "{method}: {name}");
        }
        assert!(
            (run.column("brake.force").last().unwrap() + 1.5).abs() < 1e-12,
            "{method}"
        );
    }
}

#[test]
fn springs_between_points_of_bodies_carry_and_swing_at_any_stiffness() {
    // A beam on two springs: 30 % and 70 % of its weight, at any step and stiffness.
    for method in METHODS {
        // The midpoint rule does not damp what it cannot follow.
        for stiffness in if method == "implicit-euler" {
            [2e3, 1e9]
        } else {
            [2e3, 8e3]
        } {
            let text = format!(
                "[simulation]\nduration = 20\nstep = 0.002\nintegrator = \"{method}\"\ngravity = [0, 0, -9.81]\n\
                 [bodies.beam]\nkind = \"rigid-body\"\nmass = 4\ninertia = [0.01, 0.4, 0.4]\n\
                 [elements.left]\nkind = \"spring\"\nbetween = [\"beam\", \"ground\"]\nat = [[-0.7, 0, 0], [-0.7, 0, 1]]\n\
                 stiffness = {stiffness}\ndamping = {}\nlength = 0.9\n\
                 [elements.right]\nkind = \"spring\"\nbetween = [\"beam\", \"ground\"]\nat = [[0.3, 0, 0], [0.3, 0, 1]]\n\
                 stiffness = {stiffness}\ndamping = {}\nlength = 0.9\n",
                0.02 * stiffness,
                0.02 * stiffness
            );
            let run = finish(written(&text, &[]), 10);
            let [left, right] = ["left.force.z", "right.force.z"].map(|name| *run.column(name).last().unwrap());
            // The beam may swing sideways a little; vertical forces are those of statics.
            assert!(
                (left - 0.3 * 39.24).abs() < 0.02 && (right - 0.7 * 39.24).abs() < 0.02,
                "{method}: {left} {right}"
            );
        }
    }
    // A mass on a spring: the midpoint rule keeps its energy, and turns by 2·atan(ωT/2) in a step.
    let text = "[simulation]\nduration = 10\nstep = 0.01\nintegrator = \"implicit-midpoint\"\n\
                [bodies.ball]\nkind = \"rigid-body\"\nshape = { sphere = 0.1 }\nmass = 2\nposition = [0.3, 0, 0]\n\
                [elements.spring]\nkind = \"spring\"\nbetween = [\"ball\", \"ground\"]\nstiffness = 800\n";
    let run = finish(written(text, &[]), 1);
    let turn = 2.0 * (20.0f64 * 0.005).atan();
    for (k, x) in run.column("ball.position.x").iter().enumerate() {
        assert!((x - 0.3 * (turn * k as f64).cos()).abs() < 1e-10, "row {k}: {x}");
    }
    let energy = run.report.energy.as_ref().unwrap();
    assert!((energy.final_ - energy.initial).abs() < 1e-11 * energy.initial);
}

#[test]
fn what_a_rigid_joint_cannot_do_is_said() {
    let refused = |text: &str, words: &str| {
        let scenario = stickslip::scenario::Scenario::parse(text, "test.toml", &[]);
        let error = match scenario {
            Err(error) => error.to_string(),
            Ok(scenario) => stickslip::Simulation::new(scenario)
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default(),
        };
        assert!(error.contains(words), "{words}: {error}");
    };
    let bars = [0.1, 0.35, 0.25, 0.4];
    let text = four_bar("implicit-euler", 1e-3, 1.0, bars, "");
    refused(
        &text.replace("implicit-euler", "rk4"),
        "does not run with the integrator \"rk4\"",
    );
    refused(&text.replace("at = [[0.35,", "at = [[0.36,"), "open at the start");
    refused(&text.replace("rigid = true", ""), "rigid = true");
    refused(
        &text.replace("rigid = true", "rigid = true\nstiffness = 1e5"),
        "no effect beside rigid = true",
    );
    refused(
        &text.replace(
            "rigid = true",
            "rigid = true\nfriction = { law = \"implicit\", kinetic = 1 }",
        ),
        "no `friction` of its own",
    );
}
