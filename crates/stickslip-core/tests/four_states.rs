//! A law of as many states as there is room for works on three axes, in every form that the table asks for.
#![allow(missing_docs)]

use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::{Bristle, MOST_NUMBERS, MOST_STATES, Slip, vector_state};
use stickslip_core::scalar::Real;
use stickslip_core::scalar::vector::{add, norm, scale};

/// Four springs, each a quarter of the stiffness, that carry the slip and are never let go.
#[derive(Clone, Copy, Debug)]
struct Springs<R> {
    stiffness: R,
}

impl<R: Real> Springs<R> {
    fn force<const N: usize>(&self, state: &[R]) -> [R; N] {
        let sum = (0..MOST_STATES).fold([R::zero(); N], |sum, k| add(sum, vector_state(state, k)));
        scale(sum, -self.stiffness * R::lit(0.25))
    }
}

impl<R: Real> Bristle<R> for Springs<R> {
    const STATES: usize = MOST_STATES;

    fn respond<C: Curve<R>, const N: usize>(
        &self,
        _: &C,
        slip: &Slip<R, N>,
        state: &[R],
        _: R,
        rate: &mut [R],
    ) -> [R; N] {
        for k in 0..MOST_STATES {
            rate[k * N..(k + 1) * N].copy_from_slice(&slip.velocity);
        }
        self.force(state)
    }

    fn advance<C: Curve<R>, const N: usize>(
        &self,
        _: &C,
        slip: &Slip<R, N>,
        state: &[R],
        step: R,
        next: &mut [R],
    ) -> [R; N] {
        for (i, next) in next.iter_mut().enumerate() {
            *next = state[i] + step * slip.velocity[i % N];
        }
        self.force(next)
    }

    fn stored<const N: usize>(&self, _: &[R]) -> R {
        R::zero()
    }

    fn sticks<C: Curve<R>, const N: usize>(&self, _: &C, _: &Slip<R, N>, _: &[R]) -> R::Mask {
        R::zero().le(R::zero())
    }
}

#[test]
fn a_law_of_four_states_works_on_three_axes() {
    let law = Springs { stiffness: 200.0 };
    let curve = Stribeck::coulomb(1.0);
    let slip = Slip {
        velocity: [0.1, -0.2, 0.3],
        load: 1.0,
    };
    let (mut state, mut next) = ([0.0; MOST_NUMBERS], [0.0; MOST_NUMBERS]);
    let mut rate = [0.0; MOST_NUMBERS];
    for step in 1..=10 {
        // Force of the four springs together after a time t: −K·v·t.
        let force = law.advance_to(&curve, &slip, slip.velocity, 0.0, &state, 0.01, &mut next);
        let expected = scale(slip.velocity, -200.0 * 0.01 * f64::from(step));
        assert!(
            norm(add(force, scale(expected, -1.0))) < 1e-12,
            "{force:?}, not {expected:?}"
        );
        let force = law.respond_in_contact(&curve, &slip, 0.0, &next, 0.0, &mut rate);
        assert!(norm(add(force, scale(expected, -1.0))) < 1e-12);
        assert!((0..MOST_NUMBERS).all(|i| rate[i] == slip.velocity[i % 3]));
        state = next;
    }
    assert_eq!(<Springs<f64> as Bristle<f64>>::kept::<3>(), MOST_NUMBERS);
}
