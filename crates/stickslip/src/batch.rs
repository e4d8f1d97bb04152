//! Many simulations that are stepped together: trials of a controller, environments of a learner.
//!
//! ```
//! use stickslip::batch::advance;
//! use stickslip::integrate::Method;
//! use stickslip::model::{Friction, GROUND, Model};
//!
//! let carts: Result<Vec<_>, _> = (1..=20)
//!     .map(|i| {
//!         let mut model = Model::new(1e-3, Method::ImplicitEuler);
//!         let cart = model.mass("cart", f64::from(i), &[0.0], &[1.0]);
//!         model.friction("rail", cart, GROUND, Friction::law("implicit", 5.0));
//!         model.build()
//!     })
//!     .collect();
//! let mut carts = carts?;
//! assert!(advance(&mut carts, 3000).is_empty()); // none failed
//! let cart = carts[0].body("cart").unwrap();
//! assert_eq!(carts[9].velocity(cart), &[0.0]); // 10 kg stop within 2 s under 5 N
//! assert!(carts[19].velocity(cart)[0] > 0.2); // 20 kg need 4 s
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::handle::{Body, Element};
use crate::simulation::{RunError, Simulation};

/// Fewer steps go alone: bringing simulations side by side costs about as much.
const SIDE_BY_SIDE: u64 = 16;

/// Advances every simulation by `steps`, side by side where they are of one kind, with the bytes of [`Simulation::advance`]. The
/// numbers of those that failed, and why; they stay where they failed.
pub fn advance(simulations: &mut [Simulation], steps: u64) -> Vec<(usize, RunError)> {
    let mut failed = Vec::new();
    if steps < SIDE_BY_SIDE {
        for (number, simulation) in simulations.iter_mut().enumerate() {
            if let Err(error) = simulation.advance(steps) {
                failed.push((number, error));
            }
        }
        return failed;
    }
    let mut number = 0;
    let mut rest = simulations;
    while let Some(first) = rest.first() {
        let most = first.abreast().max(1);
        let alike = rest
            .iter()
            .take(most)
            .take_while(|other| first.keeps_time_with(other))
            .count();
        let (group, others) = rest.split_at_mut(alike);
        rest = others;
        let end = group[0].steps_done() + steps;
        if group.len() > 1 {
            // The last step is done alone, and observed.
            Simulation::advance_together(&mut group.iter_mut().collect::<Vec<_>>(), steps - 1);
        }
        for simulation in group {
            if let Err(error) = simulation.advance(end - simulation.steps_done()) {
                failed.push((number, error));
            }
            number += 1;
        }
    }
    failed
}

/// What is found once for all copies of one simulation.
struct Found<Handle, Place>(Option<(usize, Handle, Place)>);

impl<Handle: Copy + PartialEq, Place: Copy> Found<Handle, Place> {
    #[inline]
    fn of(&mut self, run: &Simulation, handle: Handle, find: impl FnOnce() -> Option<Place>) -> Option<Place> {
        match self.0 {
            Some((kind, known, place)) if kind == run.kind() && known == handle => Some(place),
            _ => {
                let place = find()?;
                self.0 = Some((run.kind(), handle, place));
                Some(place)
            }
        }
    }
}

/// Takes an actuator over along an axis in many simulations, as [`Simulation::set_actuator`] does in one.
///
/// # Errors
/// The number of the first simulation whose element is no actuator with that axis. Those before it are set.
pub fn set_actuators<'a>(
    runs: impl Iterator<Item = (&'a mut Simulation, Element)>,
    axis: usize,
    values: impl Iterator<Item = f64>,
) -> Result<(), usize> {
    let mut found = Found(None);
    for (number, ((run, element), value)) in runs.zip(values).enumerate() {
        let signal = found.of(run, element, || run.actuator_signal(element, axis));
        run.hold(signal.ok_or(number)?, value);
    }
    Ok(())
}

/// Position (`rate` is false) or velocity of bodies with one coordinate; `false` if one of them has several, or none.
pub fn coordinates<'a>(runs: impl Iterator<Item = (&'a Simulation, Body)>, rate: bool, values: &mut [f64]) -> bool {
    let mut found = Found(None);
    for ((run, body), value) in runs.zip(values) {
        match found.of(run, body, || run.coordinate(body)) {
            Some(place) => *value = run.state().values[place[usize::from(rate)]],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::Method;
    use crate::model::{GROUND, Model};

    /// A cart; `first` says whether its motor is the first element.
    fn cart(first: bool) -> (Simulation, Body, Element) {
        let mut model = Model::new(1e-3, Method::ImplicitEuler);
        let cart = model.mass("cart", 1.0, &[0.5], &[2.0]);
        if !first {
            model.spring("spring", cart, GROUND, 10.0, 0.0);
        }
        let motor = model.actuator("motor", cart, GROUND);
        (model.build().unwrap(), cart, motor)
    }

    #[test]
    fn values_of_many_are_those_of_each() {
        let kinds = [cart(true), cart(false)];
        let order = [0, 0, 1, 0, 1, 1];
        let mut alone: Vec<Simulation> = order.iter().map(|&kind| kinds[kind].0.clone()).collect();
        let mut many = alone.clone();
        for (run, &kind) in alone.iter_mut().zip(&order) {
            assert!(run.set_actuator(kinds[kind].2, 0, 3.0 + kind as f64));
            run.advance(5).unwrap();
        }
        let motors = many.iter_mut().zip(order.iter().map(|&kind| kinds[kind].2));
        set_actuators(motors, 0, order.iter().map(|&kind| 3.0 + kind as f64)).unwrap();
        assert!(advance(&mut many, 5).is_empty());
        for rate in [false, true] {
            let mut values = [f64::NAN; 6];
            let bodies = many.iter().zip(order.iter().map(|&kind| kinds[kind].1));
            assert!(coordinates(bodies, rate, &mut values));
            for ((run, &kind), value) in alone.iter().zip(&order).zip(values) {
                let expected = match rate {
                    false => run.position(kinds[kind].1),
                    true => run.velocity(kinds[kind].1),
                };
                assert_eq!(expected, &[value]);
            }
        }
        // The motor of one kind is a spring of the other.
        let wrong = many.iter_mut().map(|run| (run, kinds[0].2));
        assert_eq!(set_actuators(wrong, 0, std::iter::repeat(1.0)), Err(2));
        let motors = many.iter_mut().zip(order.iter().map(|&kind| kinds[kind].2));
        assert_eq!(set_actuators(motors, 1, std::iter::repeat(1.0)), Err(0));
    }

    #[test]
    fn bodies_in_the_plane_have_no_single_coordinate() {
        let mut model = Model::new(1e-3, Method::ImplicitEuler);
        let puck = model.mass("puck", 1.0, &[0.0, 0.0], &[1.0, 0.0]);
        let run = model.build().unwrap();
        assert!(!coordinates([(&run, puck)].into_iter(), false, &mut [0.0]));
    }
}
