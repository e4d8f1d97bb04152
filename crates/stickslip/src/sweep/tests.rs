use super::*;

/// A block thrown over a floor: it stops after v/a with a = F/m, having moved v²/(2a).
const BLOCK: &str = r#"
[simulation]
duration = "2 s"
step = "1 ms"
integrator = "implicit-euler"
[bodies.block]
kind = "mass"
mass = "1 kg"
velocity = "4 m/s"
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "10 N"
"#;

fn sweep(text: &str, axes: &[&str], measures: &[&str]) -> Result<Sweep, SweepError> {
    let draft = Draft::parse(text, "block.toml", &[]).unwrap();
    let axes = axes.iter().map(|axis| Axis::parse(axis)).collect::<Result<_, _>>()?;
    let measures: Vec<String> = measures.iter().map(|measure| (*measure).to_string()).collect();
    Sweep::new(draft, axes, &measures)
}

fn rows(sweep: &Sweep, range: Range<u64>, threads: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut keep = |row| {
        rows.push(row);
        Ok(())
    };
    sweep.run(range, threads, None, &mut keep).unwrap();
    rows
}

const GRID: [&str; 2] = ["bodies.block.mass=list:1 kg,2 kg", "elements.floor.kinetic=lin:10:40:4"];

#[test]
fn a_grid_gives_what_physics_says_with_the_last_axis_fastest() {
    let sweep = sweep(
        BLOCK,
        &GRID,
        &["final.block.position", "elements.floor.slip_time", "energy.dissipated"],
    )
    .unwrap();
    assert_eq!(sweep.rows(), 8);
    let rows = rows(&sweep, 0..8, 2);
    for (i, row) in rows.iter().enumerate() {
        let (mass, force) = (1.0 + (i / 4) as f64, 10.0 * (1 + i % 4) as f64);
        assert_eq!(row.keys[0].number, Some(mass));
        assert_eq!(row.keys[1].number, Some(force));
        let value = |n: usize| row.values[n].as_f64().unwrap();
        assert!((value(0) - 8.0 * mass / force).abs() < 5e-3, "{row:?}");
        assert!((value(1) - 4.0 * mass / force).abs() < 2e-3, "{row:?}");
        // The heat of the law is the kinetic energy less what the first-order step loses, at most v·T·F.
        assert!((value(2) - 8.0 * mass).abs() < 0.05 * 8.0, "{row:?}");
        assert_eq!(row.failure, None);
    }
}

#[test]
fn any_number_of_threads_and_any_pieces_give_the_same_rows() {
    let axes = ["elements.floor.kinetic=log:1:50:97", "bodies.block.velocity=list:1,2,3"];
    let sweep = sweep(BLOCK, &axes, &["final.block.position", "final.floor.force"]).unwrap();
    let whole = rows(&sweep, 0..sweep.rows(), 1);
    assert_eq!(whole.len(), 291);
    assert_eq!(whole, rows(&sweep, 0..sweep.rows(), 5));
    let pieces: Vec<Row> = [0..50, 50..51, 51..291]
        .into_iter()
        .flat_map(|piece| rows(&sweep, piece, 3))
        .collect();
    assert_eq!(whole, pieces);
}

#[test]
fn the_last_row_alone_is_the_same_number_as_in_the_whole_report() {
    let spring =
        format!("{BLOCK}[elements.spring]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 90\n");
    for (law, integrator) in [
        ("implicit", "implicit-euler"),
        ("lugre", "implicit-euler"),
        ("lugre", "rk4"),
        ("proxy", "rk4"),
        ("dahl", "euler"),
    ] {
        let axes = [
            format!("elements.floor.law=list:{law}"),
            format!("simulation.integrator=list:{integrator}"),
            "simulation.duration=lin:1 ms:351 ms:3".to_string(),
        ];
        let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
        let columns = [
            "final.block.position",
            "final.block.velocity",
            "final.floor.force",
            "final.spring.force",
        ];
        let fast = sweep(&spring, &axes, &columns).unwrap();
        let watched = sweep(&spring, &axes, &[&columns[..], &["energy.input"]].concat()).unwrap();
        for (fast, watched) in rows(&fast, 0..3, 1).iter().zip(rows(&watched, 0..3, 1)) {
            assert_eq!(fast.values, watched.values[..4], "{law} {integrator}");
            assert!(fast.values.iter().all(serde_json::Value::is_number));
        }
    }
}

#[test]
fn a_failed_run_says_why_and_the_others_go_on() {
    // An undamped spring with omega*T = 1e97 overflows within a few steps.
    let text = format!(
        "{BLOCK}[elements.spring]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1\nimplicit = false\n"
    );
    let axes = ["elements.spring.stiffness=list:1,-1,1e200,2"];
    let sweep = sweep(&text, &axes, &["final.block.position"]).unwrap();
    let rows = rows(&sweep, 0..4, 2);
    let failures: Vec<Option<&str>> = rows.iter().map(|row| row.failure.as_deref()).collect();
    assert_eq!((failures[0], failures[3]), (None, None));
    assert!(
        failures[1].unwrap().contains("elements.spring.stiffness"),
        "{failures:?}"
    );
    assert!(failures[2].unwrap().contains("diverged"), "{failures:?}");
    assert!(!failures[2].unwrap().contains('\n'));
    assert_eq!(rows[1].values, [serde_json::Value::Null]);
}

#[test]
fn slips_are_found_before_the_first_run() {
    for (axes, measures, words) in [
        (
            &["bodies.blok.mass=lin:1:2:2"][..],
            &["final.block.position"][..],
            &["bodies.blok.mass", "bodies.block.mass", "--vary"][..],
        ),
        (
            &["bodies.block.mas=lin:1:2:2"],
            &["final.block.position"],
            &["mas", "mass"],
        ),
        (
            &["bodies.block.mass=lin:1 mm:2 mm:2"],
            &["final.block.position"],
            &["bodies.block.mass", "a mass"],
        ),
        (
            &["bodies.block.mass=lin:1:2:2"],
            &["final.block.positon"],
            &["final.block.position"],
        ),
        (
            &["bodies.block.mass=lin:1:2:2"],
            &["elements.floor"],
            &["elements.floor.dissipated"],
        ),
        (
            &["bodies.block.mass=lin:1:2:2"],
            &["stick_slip.amplitude"],
            &["[analysis]"],
        ),
        (&["bodies.block.mass=lin:1:2:2"], &["events"], &["events_total"]),
        (
            &["bodies.block.mass=lin:1:2:2", "bodies.block.mass=lin:1:2:2"],
            &["steps"],
            &["twice"],
        ),
    ] {
        let error = sweep(BLOCK, axes, measures).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "no {word:?} in {error}");
        }
    }
}

#[test]
fn measures_reach_every_part_of_the_report() {
    let text = format!("{BLOCK}[analysis]\nstick_slip = {{ signal = \"block.velocity\", threshold = 10 }}\n");
    let paths = [
        "events.0.t",
        "events.0.to",
        "events_total",
        "steps",
        "integrator",
        "stick_slip.max",
        "stick_slip.stable",
        "stick_slip.period",
        "elements.floor.transitions",
    ];
    let sweep = sweep(&text, &["bodies.block.mass=list:1"], &paths).unwrap();
    let row = &rows(&sweep, 0..1, 1)[0];
    // 4 m/s at 10 m/s² stop at 0.4 s.
    assert!((row.values[0].as_f64().unwrap() - 0.4).abs() < 2e-3);
    assert_eq!(row.values[1], "stick");
    assert_eq!(row.values[2], 1);
    assert_eq!(row.values[3], 2000);
    assert_eq!(row.values[4], "implicit-euler");
    assert!((row.values[5].as_f64().unwrap() - 3.99).abs() < 1e-9);
    assert_eq!(row.values[6], true);
    assert_eq!(row.values[7], serde_json::Value::Null);
    assert_eq!(row.values[8], 1);
}

#[test]
fn measures_reach_chains_spheres_and_the_solver() {
    // Two blocks that are not joined to each other, drawn until each has slipped.
    let chain = "[simulation]\nduration = 4\nstep = 1e-3\nintegrator = \"implicit-euler\"\n[chain]\ncount = 2\n\
                 body = { mass = 1 }\nneighbour = { stiffness = 1 }\ndrive = { stiffness = 100, velocity = 0.1 }\n\
                 friction = { law = \"implicit\", kinetic = 5, static = 10 }\n[analysis]\nslip_events = {}\n";
    let paths = [
        "chain.blocks",
        "chain.transitions",
        "slip_events.count",
        "slip_events.moment",
    ];
    let drawn = sweep(chain, &["chain.friction.kinetic=list:5,6"], &paths).unwrap();
    for row in rows(&drawn, 0..2, 1) {
        assert_eq!(row.values[0], 2);
        // It slips at 1 s and 2 s or later, and each slip begins and ends.
        assert!(row.values[1].as_u64().unwrap() >= 8, "{row:?}");
        assert!(row.values[2].as_u64().unwrap() >= 2, "{row:?}");
        assert!(row.values[3].as_f64().unwrap() > 0.1, "{row:?}");
    }
    let chosen = BLOCK
        .replace("implicit-euler", "stiff")
        .replace("\"implicit\"", "\"relaxed\"");
    let solver = sweep(
        &chosen,
        &["bodies.block.mass=list:1"],
        &["solver.steps", "solver.jacobians"],
    )
    .unwrap();
    let row = &rows(&solver, 0..1, 1)[0];
    assert!(
        row.values
            .iter()
            .all(|value| value.as_u64().is_some_and(|count| count > 0)),
        "{row:?}"
    );
    assert!(sweep(chain, &["chain.friction.kinetic=list:5"], &["slip_events.list"]).is_err());
}

#[test]
fn a_broken_sink_and_a_stop_end_the_sweep_at_once() {
    let axes = ["elements.floor.kinetic=lin:1:50:5000"];
    let sweep = sweep(BLOCK, &axes, &["final.block.position"]).unwrap();
    let mut taken = 0;
    let full = |_| {
        taken += 1;
        if taken == 10 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    };
    let error = sweep.run(0..5000, 3, None, &mut { full }).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let stop = Stop::default();
    let mut count = 0;
    let mut sink = |_| {
        count += 1;
        stop.fetch_or(count == 20, Ordering::Relaxed);
        Ok(())
    };
    sweep.run(0..5000, 3, Some(&stop), &mut sink).unwrap();
    assert!((20..5000).contains(&count), "{count}");
}

#[test]
fn the_time_of_a_map_follows_its_cells() {
    let text = format!(
        "{BLOCK}[analysis]\nstick_slip = {{ signal = \"block.velocity\", threshold = 1 }}\n[map]\nduration = \"0.4*y/x + 0.5\"\nfrom = \"0.4*x\"\n"
    );
    let draft = Draft::parse(&text, "block.toml", &[]).unwrap();
    let x = Axis::parse("bodies.block.mass=list:1,2").unwrap();
    let y = Axis::parse("bodies.block.velocity=list:4 m/s,6 m/s").unwrap();
    let map = Sweep::map(draft, x, y).unwrap();
    // v(t) = v0 - (F/m) t, seen from 0.4 x on: 4 - 4 = 0, 6 - 4 = 2, 4 - 4 = 0, 6 - 4 = 2; the last ends at 1.7 s.
    for (row, (amplitude, stable)) in
        rows(&map, 0..4, 1)
            .iter()
            .zip([(0.0, true), (2.0, false), (0.0, true), (2.0, false)])
    {
        assert!((row.values[0].as_f64().unwrap() - amplitude).abs() < 0.011, "{row:?}");
        assert_eq!(row.values[2], stable, "{row:?}");
    }
}

/// A fresh runner reads the scenario; one that has done a row before puts numbers into it where that comes to the same.
#[test]
fn rows_that_are_not_read_anew_are_the_same_and_refused_with_the_same_words() {
    let text = format!(
        "{BLOCK}static = \"12 N\"\n[bodies.hook]\nkind = \"driver\"\nvelocity = 1\n[elements.spring]\nkind = \"spring\"\n\
         between = [\"hook\", \"block\"]\nstiffness = 90\n"
    );
    for axes in [
        &["elements.floor.kinetic=lin:8:14:4", "elements.floor.static=lin:9:15:4"][..],
        &["bodies.block.mass=list:1,2,-1,0,0.5"],
        &["bodies.block.velocity=list:1 m/s,2 mm,3"],
        &[
            "bodies.hook.velocity=list:1,2*t,3",
            "elements.spring.stiffness=lin:100:-100:3",
        ],
        &[
            "bodies.hook.velocity=lin:1 mm/s:9 mm/s:3",
            "elements.spring.damping=lin:0:3:3",
        ],
        &["elements.floor.viscous=lin:2:-1:4", "simulation.step=list:0.001,0.002"],
    ] {
        let sweep = sweep(&text, axes, &["final.block.position", "final.block.velocity"]).unwrap();
        let mut used = sweep.runner();
        for row in 0..sweep.rows() {
            let anew = sweep.runner().run(sweep.keys(row), None);
            assert_eq!(used.run(sweep.keys(row), None), anew, "{axes:?} row {row}");
        }
        let failed = rows(&sweep, 0..sweep.rows(), 2)
            .iter()
            .filter(|row| row.failure.is_some())
            .count() as u64;
        assert!(failed < sweep.rows(), "{axes:?}");
    }
}

/// A spring that is stretched from the start: its force is a number, its energy is not.
#[test]
fn energy_beyond_all_numbers_fails_a_row_as_it_fails_a_run() {
    let text = r#"
[simulation]
duration = 0.01
step = 0.001
integrator = "rk4"
[bodies.cam]
kind = "driver"
position = "0.02*sin(5*t)"
[elements.spring]
kind = "spring"
between = ["cam", "ground"]
stiffness = 8
length = 2e200
"#;
    let sweep = sweep(
        text,
        &["elements.spring.length=list:0.1,2e200"],
        &["final.spring.force"],
    )
    .unwrap();
    let rows = rows(&sweep, 0..2, 1);
    assert_eq!(rows[0].failure, None);
    let failure = rows[1].failure.as_deref().unwrap_or("none");
    assert!(
        failure.contains("the energy stored in \"spring\" is no longer finite"),
        "{failure}"
    );
}
