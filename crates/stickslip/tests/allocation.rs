//! No step allocates: a counting allocator watches every integrator and every kind of element. A sweep of many rows holds no
//! more memory than one of few.
#![allow(missing_docs)]
#![allow(unsafe_code)] // An allocator can only be replaced by unsafe code; it forwards to the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use stickslip::scenario::{Draft, Scenario};
use stickslip::sweep::{Axis, Sweep};
use stickslip::{Body, Simulation};

struct Counting;

thread_local! {
    /// Of each thread, as the one that runs the tests allocates when it reports another test.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}
/// Bytes in use, and the most of them.
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Who looks at the numbers must be alone.
static ALONE: Mutex<()> = Mutex::new(());

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends may have given its number up.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let size = layout.size() as u64;
        let live = LIVE.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steps_do_not_allocate() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut seen = 0;
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
    {
        // Where bodies of a scene meet or part, islands are formed anew: see below.
        if std::fs::read_to_string(file).unwrap().contains("[contacts]") {
            continue;
        }
        no_step_allocates(file, &[]);
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} scenarios found");
}

#[test]
fn a_scene_at_rest_does_not_allocate() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/stack.toml");
    let scenario = Scenario::read(Path::new(file), &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    simulation.advance(500).unwrap();
    // The last step of a call is observed, and looks for overlaps in room of its own.
    let mut made = [1, 400].map(|steps| {
        let before = ALLOCATIONS.get();
        simulation.advance(steps).unwrap();
        ALLOCATIONS.get() - before
    });
    made.sort_unstable();
    assert_eq!(made[0], made[1], "as many in 400 steps as in one");
}

fn no_step_allocates(file: &Path, sets: &[&str]) -> Simulation {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let scenario = Scenario::read(file, &sets).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let steps = simulation.built().steps.min(3000);
    simulation.advance_observed(2).unwrap();
    let before = ALLOCATIONS.get();
    simulation.advance(steps / 2).unwrap();
    simulation.advance_observed(steps / 2 - 2).unwrap();
    simulation.observe();
    let made = ALLOCATIONS.get() - before;
    assert_eq!(
        made,
        0,
        "{} {sets:?} allocated {made} times in {steps} steps",
        file.display()
    );
    // Rollouts: back to a snapshot and on again. Which system it is has to be found out once.
    let mut snapshot = simulation.snapshot();
    simulation.restore(&snapshot).unwrap();
    let before = ALLOCATIONS.get();
    for _ in 0..3 {
        simulation.advance(2).unwrap();
        simulation.restore(&snapshot).unwrap();
        simulation.snapshot_into(&mut snapshot);
    }
    let made = ALLOCATIONS.get() - before;
    assert_eq!(made, 0, "{} {sets:?}: a rollout allocated {made} times", file.display());
    simulation
}

/// Subloading friction under every method that solves equations, through several slips: the drive of 1 mm/s moves by 15 mm, the
/// spring can hold 4. A ball that hits the floor and slides, by the stiff method.
#[test]
fn steps_that_solve_equations_do_not_allocate() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let methods: [&[&str]; 6] = [
        &["simulation.integrator=trapezoidal"],
        &["simulation.integrator=trapezoidal", "simulation.motion=backward"],
        &["simulation.integrator=trapezoidal", "elements.floor.update=trapezoidal"],
        &["simulation.integrator=newmark"],
        &["simulation.integrator=stiff"],
        &["simulation.integrator=stiff", "elements.floor.update=backward"],
    ];
    let common = [
        "bodies.hook.velocity=1 mm/s",
        "simulation.step=5 ms",
        "simulation.duration=15 s",
        "simulation.max_step=1 s",
        "analysis.stick_slip.from=0",
    ];
    for method in methods {
        let sets: Vec<&str> = common.iter().chain(method).copied().collect();
        let end = no_step_allocates(&folder.join("fig003-5.toml"), &sets);
        assert!(end.position(Body::nth(0))[0] > 0.01, "{method:?}: it has not slipped");
    }
    let ball = no_step_allocates(&folder.join("fig004-1-drop.toml"), &["simulation.integrator=stiff"]);
    let touched = ball.work().delivered.iter().any(|work| *work != 0.0);
    assert!(touched, "it has not touched");
}

#[test]
fn a_sweep_does_not_grow_with_its_rows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/scenarios/w4.toml");
    // Side by side in lanes, and one by one.
    for measure in ["final.block.position", "elements.floor.dissipated"] {
        let peak = |rows: u64| {
            let draft = Draft::read(file, &["simulation.duration=\"20 ms\"".to_string()]).unwrap();
            let axes = vec![Axis::parse(&format!("bodies.hook.velocity=lin:0.1:2:{rows}")).unwrap()];
            let sweep = Sweep::new(draft, axes, &[measure.to_string()]).unwrap();
            let start = LIVE.load(Ordering::Relaxed);
            PEAK.store(start, Ordering::Relaxed);
            let mut given = 0;
            let mut count = |_| {
                given += 1;
                Ok(())
            };
            sweep.run(0..rows, 2, None, &mut count).unwrap();
            assert_eq!(given, rows);
            PEAK.load(Ordering::Relaxed) - start
        };
        let (few, many) = (peak(2_000), peak(40_000));
        assert!(
            many < 2 * few,
            "{measure}: {many} bytes for 40,000 rows, {few} for 2000"
        );
    }
}
