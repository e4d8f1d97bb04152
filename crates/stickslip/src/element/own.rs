//! The open bucket: friction laws written by the user, over `f64`, without an entry in the registry.

use super::{Elements, Mode, Observation};
use crate::network::port::Pair;
use crate::network::stage::{LoadSource, Stage};

/// A friction law of the user's own.
///
/// It is evaluated after the built-in kinds, in every stage of `euler` and `rk4`, and at the start of the step under
/// `implicit-euler`. See [`crate::model::Model::own_friction`] for an example.
pub trait OwnFriction: Send + Sync {
    /// How many numbers of state the law keeps for `axes` axes.
    fn states(&self, axes: usize) -> usize {
        let _ = axes;
        0
    }

    /// Writes the force on the first body and the rate of every state.
    ///
    /// `velocity` is that of the first body relative to the second, `load` is 1 (the law knows its own normal force),
    /// `tau` the step of the stage: `state + tau*rate` should be the law's own implicit update if it has one.
    fn respond(&self, velocity: &[f64], load: f64, state: &[f64], tau: f64, rate: &mut [f64], force: &mut [f64]);

    /// Whether the law sticks.
    fn sticks(&self, velocity: &[f64], load: f64, state: &[f64]) -> bool {
        let _ = (load, state);
        velocity.iter().all(|&v| v == 0.0)
    }

    /// Elastic energy held by the states.
    fn stored(&self, state: &[f64]) -> f64 {
        let _ = state;
        0.0
    }
}

/// A friction with a law of the user's own.
pub struct Own {
    /// Number of the element in the network.
    pub element: usize,
    /// What rubs on what.
    pub pair: Pair,
    /// Number of axes.
    pub axes: usize,
    /// The law.
    pub law: Box<dyn OwnFriction>,
    /// What the normal force is.
    pub load: LoadSource,
    /// Where the states begin.
    pub state: usize,
    /// How many there are.
    pub states: usize,
}

/// All frictions with laws of the user's own.
#[derive(Default)]
pub struct Owns(pub Vec<Own>);

impl Owns {
    #[inline(always)]
    fn run(&self, stage: &mut Stage<'_>, mut note: impl FnMut(&Own, &[f64; 3], f64, &[f64], &[f64; 3])) {
        for own in &self.0 {
            let velocity = own.velocity(stage.state);
            let load = own.load.value(stage.signals, stage.compression);
            let states = own.state..own.state + own.states;
            let (state, rate) = (&stage.state[states.clone()], &mut stage.rate[states]);
            let mut force = [0.0; 3];
            own.law.respond(
                &velocity[..own.axes],
                load,
                state,
                stage.tau,
                rate,
                &mut force[..own.axes],
            );
            match own.axes {
                1 => own.pair.scatter(stage.load, &[force[0]]),
                2 => own.pair.scatter(stage.load, &[force[0], force[1]]),
                _ => own.pair.scatter(stage.load, &force),
            }
            note(own, &velocity, load, state, &force);
        }
    }
}

impl Own {
    fn velocity(&self, state: &[f64]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        match self.axes {
            1 => velocity[..1].copy_from_slice(&self.pair.velocity::<1>(state)),
            2 => velocity[..2].copy_from_slice(&self.pair.velocity::<2>(state)),
            _ => velocity = self.pair.velocity::<3>(state),
        }
        velocity
    }
}

impl Elements for Owns {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run(stage, |_, _, _, _, _| ());
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run(stage, |own, velocity, load, state, force| {
            seen[own.element] = Observation {
                mode: Mode::stuck(own.law.sticks(&velocity[..own.axes], load, state)),
                stored: own.law.stored(state),
                normal: load,
                ..Observation::of(force, velocity)
            };
        });
    }

    fn regather(&self, stage: &Stage<'_>, seen: &mut [Observation]) {
        for own in &self.0 {
            let seen = &mut seen[own.element];
            seen.velocity = own.velocity(stage.state);
            seen.power = (0..3).map(|i| seen.force[i] * seen.velocity[i]).sum();
        }
    }
}
