//! `stickslip map`: classes, the traced boundary, files, pictures.

mod common;

use common::Folder;

const SLIDER: &str = include_str!("../../../scenarios/stick-slip-map.toml");

/// Whether a block of 1 kg that breaks loose at 12 N, then feels 10 N + 1 N·s/m, slides on for good behind a spring of
/// stiffness k driven at speed v. With z the distance from steady sliding, z'' + z' + k z = 0, z(0) = -(12 - 10 - v)/k,
/// z'(0) = -v; the block stops again if v + z' returns to 0.
fn slides_on(k: f64, v: f64) -> bool {
    let (decay, omega) = (0.5, (k - 0.25f64).sqrt());
    let (z, rate) = (-(2.0 - v) / k, -v);
    let b = (rate + decay * z) / omega;
    let speed = |t: f64| {
        let (sine, cosine) = (omega * t).sin_cos();
        let wave = z * cosine + b * sine;
        let slope = omega * (b * cosine - z * sine);
        v + (-decay * t).exp() * (slope - decay * wave)
    };
    // The first return is within the first period, if there is one.
    (1..4000).all(|i| speed(f64::from(i) / 4000.0 * std::f64::consts::TAU / omega) > 0.0)
}

fn critical_speed(k: f64) -> f64 {
    let (mut low, mut high) = (0.01, 2.0);
    while high - low > 1e-6 {
        let middle = 0.5 * (low + high);
        if slides_on(k, middle) {
            high = middle
        } else {
            low = middle
        }
    }
    low
}

fn arguments<'a>(x: &'a str, y: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["map", "slider.toml", "--x", x, "--y", y][..], more].concat()
}

const Y: &str = "bodies.hook.velocity=log:0.06:0.9:6";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("slider.toml", SLIDER);
    folder
}

#[test]
fn cells_are_stable_where_the_closed_form_says() {
    let folder = folder("map-grid");
    folder
        .run(&arguments("elements.spring.stiffness=log:60 N/m:0.3 N/mm:3", Y, &[]))
        .fails(2, &["different units"]);
    let x = "elements.spring.stiffness=log:60 N/m:300 N/m:3";
    let ran = folder
        .run(&arguments(x, Y, &["--out", "a.csv", "--plot", "a.svg"]))
        .ok();
    assert!(
        ran.out.contains("18 runs in") && ran.out.contains("0 failed"),
        "{}",
        ran.out
    );
    let text = folder.read("a.csv");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("elements.spring.stiffness,bodies.hook.velocity,amplitude,period,stable,region,linear_growth")
    );
    let mut both = [0, 0];
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let (k, v): (f64, f64) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
        let stable = fields[4] == "true";
        assert_eq!(stable, slides_on(k, v), "{line}");
        both[usize::from(stable)] += 1;
        let amplitude: f64 = fields[2].parse().unwrap();
        assert_eq!(stable, amplitude <= 0.1, "{line}");
        // In stick-slip the friction falls from its static limit.
        assert!(stable || (1.5..12.0).contains(&amplitude), "{line}");
        assert!(stable || fields[3].parse::<f64>().unwrap() > 0.1, "{line}");
        // Stable cells have no region, and this law no differential equation to linearise.
        assert_eq!(stable, fields[5].is_empty(), "{line}");
        assert_eq!(fields[6], "", "{line}");
    }
    assert!(both[0] > 3 && both[1] > 3, "{both:?}");
    let svg = folder.read("a.svg");
    for word in [
        "elements.spring.stiffness (N/m)",
        "bodies.hook.velocity (m/s)",
        "boundary",
        "stable",
        "by inertia",
        "amplitude of floor.force (N)",
    ] {
        assert!(svg.contains(word), "no {word:?}");
    }
    // The same for any threads, and when cut short and continued; the picture too.
    let picture = folder.read("a.svg");
    folder
        .run(&arguments(x, Y, &["--out", "b.csv", "--threads", "1", "--quiet"]))
        .ok();
    assert_eq!(folder.read("b.csv"), text);
    folder.write("a.csv", &text[..text.len() / 2]);
    folder
        .run(&arguments(x, Y, &["--out", "a.csv", "--plot", "a.svg", "--resume"]))
        .ok();
    assert_eq!((folder.read("a.csv"), folder.read("a.svg")), (text, picture));
    assert_eq!(folder.names(), ["a.csv", "a.svg", "b.csv", "slider.toml"]);
}

#[test]
fn the_traced_boundary_is_the_critical_speed() {
    let folder = folder("map-trace");
    let x = "elements.spring.stiffness=log:50:400:5";
    let y = "bodies.hook.velocity=log:0.05:1:25";
    let trace = ["--trace-boundary", "--tolerance", "0.01", "--out", "a.csv"];
    let ran = folder
        .run(&arguments(x, y, &[&trace[..], &["--json", "--plot", "a.svg"]].concat()))
        .ok()
        .json();
    let points = ran["boundary"].as_array().unwrap();
    assert_eq!(points.len(), 5);
    for point in points {
        let (k, v) = (point["x"].as_f64().unwrap(), point["y"].as_f64().unwrap());
        let expected = critical_speed(k);
        // 1 % by bisection, and the step of 0.5 ms at up to 20 rad/s adds half a percent.
        assert!((v / expected - 1.0).abs() < 0.015, "k = {k}: {v} and not {expected}");
        assert_eq!(point["stable_above"], true);
    }
    let runs = ran["runs"].as_u64().unwrap();
    // Four runs of each column look at the side of stick-slip.
    assert!(runs < 80 && ran["grid"] == 125, "{runs} runs");
    let text = folder.read("a.csv");
    assert_eq!(text.lines().count() as u64, runs + 1);
    for threads in ["1", "3"] {
        folder
            .run(&arguments(
                x,
                y,
                &[&trace[..4], &["b.csv", "--threads", threads, "--quiet"]].concat(),
            ))
            .ok();
    }
    folder.write("a.csv", &text[..text.len() * 2 / 3]);
    let ran = folder.run(&arguments(x, y, &[&trace[..], &["--resume"]].concat())).ok();
    assert_eq!(folder.read("a.csv"), text);
    assert!(
        ran.out.contains("boundary of bodies.hook.velocity") && ran.out.contains("the grid has 125"),
        "{}",
        ran.out
    );
    folder
        .run(&arguments(x, y, &["--out", "a.csv", "--resume"]))
        .fails(2, &["cannot continue a.csv"]);
}

#[test]
fn wrong_input_is_refused() {
    let folder = folder("map-wrong");
    folder
        .run(&arguments("elements.floor.law=list:lugre,dahl", Y, &[]))
        .fails(2, &["lugre", "numbers"]);
    let x = "elements.spring.stiffness=list:90,100";
    folder
        .run(&arguments(Y, x, &["--trace-boundary"]))
        .fails(2, &["between two ends"]);
    folder
        .run(&arguments(x, Y, &["--tolerance", "2", "--trace-boundary"]))
        .fails(2, &["between 0 and 1"]);
    folder
        .run(&arguments(x, Y, &["--plot", "a.pdf"]))
        .fails(2, &[".svg or .png"]);
    folder
        .run(&arguments("elements.sprng.stiffness=lin:1:2:2", Y, &[]))
        .fails(2, &["elements.spring.stiffness"]);
    let bare = SLIDER.split("[analysis]").next().unwrap();
    folder.write("slider.toml", bare);
    folder.run(&arguments(x, Y, &[])).fails(2, &["[analysis]"]);
    assert_eq!(folder.names(), ["slider.toml"]);
}

#[test]
fn columns_without_a_boundary_are_named_in_order_with_their_unit() {
    let folder = folder("map-lost");
    // The critical speed is above the range for the softer springs.
    for (k, above) in [(50.0, true), (141.421, true), (237.841, false)] {
        assert_eq!(critical_speed(k) > 0.2, above);
    }
    let x = "elements.spring.stiffness=log:50:400:5";
    let y = "bodies.hook.velocity=log:0.05:0.2:3";
    let ran = folder
        .run(&arguments(x, y, &["--trace-boundary", "--out", "a.csv"]))
        .ok();
    let lost = "warning: no boundary between the ends of bodies.hook.velocity at elements.spring.stiffness = 50, 84.0896, 141.421 N/m";
    assert!(ran.err.contains(lost), "{}", ran.err);
    assert!(
        ran.out.contains("elements.spring.stiffness (N/m)") && ran.out.contains("cost less as a grid"),
        "{}",
        ran.out
    );
}

/// A signal that `run` refuses is refused before the first cell.
#[test]
fn a_signal_that_does_not_exist_is_wrong_input() {
    let folder = Folder::new("map-signal");
    folder.write(
        "plane.toml",
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"rk4\"\n[bodies.cart]\nkind = \"mass\"\nmass = 2\nposition = [0, 0, 0]\n\
         [elements.floor]\nkind = \"friction\"\nbetween = [\"cart\", \"ground\"]\nlaw = \"dahl\"\nkinetic = 1\nstiffness = 500\n\
         [analysis]\nstick_slip = { signal = \"cart.position\" }\n",
    );
    let vary = ["bodies.cart.mass=lin:1:3:3", "elements.floor.kinetic=lin:1:2:2"];
    let map = ["map", "plane.toml", "--x", vary[0], "--y", vary[1]];
    let sweep = [
        "sweep",
        "plane.toml",
        "--vary",
        vary[0],
        "--measure",
        "stick_slip.amplitude",
    ];
    for arguments in [map, sweep] {
        let ran = folder
            .run(&arguments)
            .fails(2, &["there is no column \"cart.position\""]);
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
}

/// Steps near the period of a spring that is taken at their start (ωT = 1.5) are warned of, once for all cells that have it.
#[test]
fn a_map_says_what_its_runs_warn_of() {
    let folder = Folder::new("map-warns");
    let text = common::BLOCK
        .replace("\"if(t <= 2, 2, 0)\"", "0.3")
        .replace("stiffness = \"90 N/m\"", "stiffness = \"90 N/m\"\nimplicit = false")
        + "[analysis]\nstick_slip = { signal = \"spring.force\", from = 1 }\n";
    folder.write("block.toml", &text);
    let map = [
        "map",
        "block.toml",
        "--x",
        "elements.spring.stiffness=list:90,2.25e6,2.5e6",
        "--y",
        "bodies.hook.velocity=list:0.3,0.4",
        "--out",
        "map.csv",
    ];
    let ran = folder.run(&map).ok();
    assert!(
        ran.err.contains("near the period") && ran.err.contains("4 of 6 runs"),
        "{}",
        ran.err
    );
    let report = folder.run(&[&map[..], &["--json"]].concat()).ok();
    assert_eq!(report.json()["warnings"][0]["runs"], 4);
}
