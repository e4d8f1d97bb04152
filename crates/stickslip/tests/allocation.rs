//! No step allocates: a counting allocator watches every integrator and every kind of element.
#![allow(missing_docs)]
#![allow(unsafe_code)] // An allocator can only be replaced by unsafe code; it forwards to the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use stickslip::Simulation;
use stickslip::scenario::Scenario;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steps_do_not_allocate() {
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
        let scenario = Scenario::read(file, &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        let steps = simulation.built().steps.min(3000);
        simulation.advance_observed(2).unwrap();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        simulation.advance(steps / 2).unwrap();
        simulation.advance_observed(steps / 2 - 2).unwrap();
        simulation.observe();
        let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(made, 0, "{} allocated {made} times in {steps} steps", file.display());
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} scenarios found");
}
