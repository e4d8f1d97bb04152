//! A scenario in motion: build once, then step, observe and steer.

use crate::analysis::slip_events::SlipEventsReport;
use crate::build::identity::system;
use crate::build::{Built, Place, build, build_first, start_of_ball, start_of_block};
use crate::chain::{Aggregates, Chain, ChainState};
use crate::divergence::not_finite;
use crate::element::{Mode, Observation};
use crate::handle::{Body, Element};
use crate::integrate::lanes::{self, Lane};
use crate::integrate::march::{self, March, Statistics};
use crate::integrate::{Halt, Method, Work, one_coordinate, prepare};
use crate::network::implicit::ImplicitView;
use crate::network::port::Coordinate;
use crate::network::scene::FoundContact;
use crate::network::stage::{apply, evaluate, evaluate_at};
use crate::network::{NetworkState, Scratch};
use crate::scenario::{
    ElementSpec, LimitSpec, NormalForce, ParameterSpec, ParameterValue, Port, Scenario, ScenarioError,
};
use crate::snapshot::{Carried, Reader, Snapshot, SnapshotError, carried, sum_of};
use crate::spheres::{SphereTrouble, Spheres, SpheresSeen, SpheresState};
use crate::stop::{Stop, is_set};
use crate::tally::Tallies;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// Steps that snapshots count to: times of more are not exact.
const MOST_STEPS: u64 = 1 << 52;

/// Why a run stopped before its end. The last good state is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// A number became infinite or undefined.
    Diverged {
        /// Time of the last good state, s.
        time: f64,
        /// Steps done.
        step: u64,
        /// What diverged: a column of the trace, such as `block.velocity`.
        what: String,
        /// What to try.
        remedy: String,
    },
    /// All numbers are finite, but the motion has far more energy than there ever was.
    Exploded {
        /// Time, s.
        time: f64,
        /// What is fastest: a column of the trace.
        what: String,
        /// Energy that came from nowhere, J.
        gained: f64,
        /// Most energy that there was or that went through before, J.
        known: f64,
        /// What to try.
        remedy: String,
    },
    /// Equations grew beyond their scale, and by another amount with a shorter step.
    Unconverged {
        /// Time, s.
        time: f64,
        /// What is largest: a column of the trace.
        what: String,
        /// Its value.
        value: f64,
        /// How many times shorter the other step was.
        parts: u32,
        /// The value with that step, if its run came to its end.
        other: Option<f64>,
        /// What to try.
        remedy: String,
    },
    /// A method that chooses its own steps found none that is short enough.
    Stalled {
        /// Time reached, s.
        time: f64,
        /// What has the largest error: a column of the trace, or what was exceeded.
        what: String,
        /// What to try.
        remedy: String,
    },
    /// Something happened that this version does not compute.
    Unsupported {
        /// Time, s.
        time: f64,
        /// What happened.
        what: String,
        /// What to try.
        remedy: String,
    },
    /// The coupled friction solve did not reach its accuracy.
    Unsolved {
        /// Time, s.
        time: f64,
        /// Residual relative to the force scale.
        residual: f64,
        /// Which contact or stop is asked for what; nothing where none is known.
        what: String,
        /// What to try.
        remedy: String,
    },
    /// It was told to stop.
    Stopped {
        /// Time reached, s.
        time: f64,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged {
                time,
                step,
                what,
                remedy,
            } => {
                write!(
                    f,
                    "the run diverged after t = {time} s (step {step}): {what} is no longer finite\nhelp: {remedy}"
                )
            }
            Self::Exploded {
                time,
                what,
                gained,
                known,
                remedy,
            } => {
                write!(f, "the run diverged before t = {time} s: its energy ")?;
                if gained.is_finite() && known.is_finite() {
                    write!(
                        f,
                        "grew by {gained:.1e} J from nowhere, where there had been {known:.1e} J"
                    )?;
                } else {
                    write!(f, "is beyond all numbers")?;
                }
                write!(f, "; {what} is largest\nhelp: {remedy}")
            }
            Self::Unconverged {
                time,
                what,
                value,
                parts,
                other,
                remedy,
            } => {
                let other = other.map_or("not finite".to_string(), |other| format!("{other:.1e}"));
                write!(
                    f,
                    "the run diverged before t = {time} s: {what} is {value:.1e}, and {other} with a step {parts} times shorter\nhelp: {remedy}"
                )
            }
            Self::Stalled { time, what, remedy } => {
                write!(f, "the run came to a halt at t = {time} s: {what}\nhelp: {remedy}")
            }
            Self::Unsupported { time, what, remedy } => {
                write!(f, "the run ends at t = {time} s: {what}\nhelp: {remedy}")
            }
            Self::Unsolved {
                time,
                residual,
                what,
                remedy,
            } => {
                write!(f, "friction and contact could not be solved together at t = {time} s")?;
                // Where nothing was found there is no residual.
                if residual.is_finite() {
                    write!(f, " (residual {residual:.1e} of the force scale)")?;
                }
                if !what.is_empty() {
                    write!(f, ": {what}")?;
                }
                write!(f, "\nhelp: {remedy}")
            }
            Self::Stopped { time } => write!(f, "stopped at t = {time} s"),
        }
    }
}

impl std::error::Error for RunError {}

/// A scenario in motion.
///
/// ```
/// use stickslip::Simulation;
/// use stickslip::scenario::Scenario;
///
/// let text = r#"
/// [simulation]
/// duration = "1 s"
/// step = "1 ms"
/// integrator = "implicit-euler"
/// [bodies.block]
/// kind = "mass"
/// mass = "2 kg"
/// velocity = "3 m/s"
/// [elements.floor]
/// kind = "friction"
/// between = ["block", "ground"]
/// law = "implicit"
/// kinetic = "10 N"
/// "#;
/// let mut simulation = Simulation::new(Scenario::parse(text, "block.toml", &[])?)?;
/// simulation.advance(700)?;
/// let block = simulation.body("block").unwrap();
/// assert_eq!(simulation.velocity(block), &[0.0]); // 3 m/s at 5 m/s² stop within 0.6 s, exactly
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    /// Shared with copies.
    fixed: Arc<Fixed>,
    state: NetworkState,
    scratch: Scratch,
    work: Work,
    /// Energies so far while a step is done that is not counted.
    kept_work: Work,
    /// Time of an internal step while somebody looks at it.
    between: Option<f64>,
    chain: Option<ChainState>,
    spheres: Option<SpheresState>,
    /// Of the spheres, when they were last observed.
    spheres_seen: SpheresSeen,
    /// Of the chain, when it was last observed.
    aggregates: Aggregates,
}

/// What does not change once a simulation is built.
struct Fixed {
    scenario: Scenario,
    built: Built,
    /// Whether there are laws of the user's own, which may give energy.
    open_ledger: bool,
    /// Tells the system from others, once somebody has asked.
    system: OnceLock<u64>,
    /// Sums of the names of bodies and of elements, once somebody has asked.
    names: OnceLock<[Vec<u64>; 2]>,
}

carried!(
    Simulation: state, scratch, work, chain, spheres, spheres_seen, aggregates;
    not fixed, kept_work, between
);

/// A copy goes on with exactly the bytes of the original. The two share what is fixed and the flag of [`Simulation::heed`]; whatever
/// is set afterwards, an actuator or a position, is set in one of them only.
impl Clone for Simulation {
    fn clone(&self) -> Self {
        Simulation {
            fixed: Arc::clone(&self.fixed),
            state: self.state.clone(),
            scratch: self.scratch.copy(&self.fixed.built.network),
            work: self.work.clone(),
            kept_work: self.kept_work.clone(),
            between: self.between,
            chain: self.chain.clone(),
            spheres: self.spheres.clone(),
            spheres_seen: self.spheres_seen,
            aggregates: self.aggregates,
        }
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("title", &self.fixed.scenario.title)
            .field("time", &self.time())
            .field("state", &self.state.values)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Builds the network of a scenario and puts it at its start.
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        Self::of_the_first(scenario, usize::MAX)
    }

    /// As [`Simulation::new`], but of a chain or of many spheres at most the `first` move. The others are examined, so that this
    /// refuses what `new` does.
    pub(crate) fn of_the_first(scenario: Scenario, first: usize) -> Result<Self, ScenarioError> {
        let open_ledger = scenario.elements.iter().any(|(_, element)| element.is_own());
        let mut built = build_first(&scenario, first)?;
        let chain = built.chain_start.take();
        let spheres = built.spheres_start.take();
        let state = built.network.initial_state();
        prepare(&built.network);
        let scratch = built.network.scratch();
        let count = built.network.element_count;
        let work = Work::new(count);
        let mut simulation = Simulation {
            fixed: Arc::new(Fixed {
                scenario,
                built,
                open_ledger,
                system: OnceLock::new(),
                names: OnceLock::new(),
            }),
            state,
            scratch,
            work,
            kept_work: Work::new(count),
            between: None,
            chain,
            spheres,
            spheres_seen: SpheresSeen::default(),
            aggregates: Aggregates::default(),
        };
        simulation.observe();
        simulation.forgive_the_start();
        Ok(simulation)
    }

    /// The implicit step takes profiles at its end. One that is undefined at the start only is never used, unless it is seen there.
    fn forgive_the_start(&mut self) {
        if self.built().method != Method::ImplicitEuler || self.scratch.signals.broken().is_none() {
            return;
        }
        let network = &self.built().network;
        let used_first = |signal: usize| network.signals.profile(signal).value(network.time(1));
        let defined = (0..network.signals.len()).all(|signal| used_first(signal).is_finite());
        if defined && not_finite(self, &crate::trace::Columns::new(self)).is_none() {
            self.scratch.signals.forgive();
        }
    }

    /// Goes back to the start with other numbers in the scenario, in the room there is: the same as a simulation of the scenario
    /// with those numbers. On `false` they cannot be put in (see [`Scenario::put_numbers`]), or there are copies: discard the simulation.
    pub(crate) fn renew<'a>(&mut self, changes: impl Iterator<Item = (&'a str, f64)>) -> Result<bool, ScenarioError> {
        let Some(fixed) = Arc::get_mut(&mut self.fixed) else {
            return Ok(false);
        };
        if !fixed.scenario.put_numbers(changes) {
            return Ok(false);
        }
        let built = build(&fixed.scenario)?;
        let network = &built.network;
        if !self.scratch.renew(&fixed.built.network, network) {
            prepare(network);
            self.scratch = network.scratch();
        }
        self.state = network.initial_state();
        let count = network.element_count;
        self.work.begin(count);
        self.between = None;
        self.kept_work.copy_from(&self.work);
        fixed.built = built;
        fixed.system = OnceLock::new();
        self.observe();
        self.forgive_the_start();
        Ok(true)
    }

    /// Everything that carries from one step to the next, as it is now.
    ///
    /// A rollout, as predictive control does it: from where the system is, each plan is tried in the same copy, which allocates
    /// nothing once it is there.
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Friction, GROUND, Model};
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let cart = model.mass("cart", 2.0, &[0.0], &[0.0]);
    /// let motor = model.actuator("motor", cart, GROUND);
    /// model.friction("rail", cart, GROUND, Friction::law("implicit", 6.0).holding(8.0));
    /// let mut plant = model.build()?;
    /// let mut trial = plant.clone();
    /// let target = 0.1;
    ///
    /// for _ in 0..50 {
    ///     let now = plant.snapshot();
    ///     let mut best = (f64::INFINITY, 0.0);
    ///     for force in [-20.0, -12.0, 0.0, 12.0, 20.0] {
    ///         trial.restore(&now)?;
    ///         trial.set_actuator(motor, 0, force);
    ///         trial.advance(20)?; // the plan for 20 ms, then the motor is off
    ///         trial.set_actuator(motor, 0, 0.0);
    ///         trial.advance(80)?;
    ///         let cost = (trial.position(cart)[0] - target).abs();
    ///         if cost < best.0 {
    ///             best = (cost, force);
    ///         }
    ///     }
    ///     plant.set_actuator(motor, 0, best.1);
    ///     plant.advance(20)?;
    /// }
    /// assert!((plant.position(cart)[0] - target).abs() < 2e-3);
    /// assert_eq!(plant.velocity(cart), &[0.0]); // and friction holds it there, exactly
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            system: 0,
            step: 0,
            bytes: Vec::new(),
        };
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// As [`Simulation::snapshot`], in the room of another snapshot.
    pub fn snapshot_into(&self, snapshot: &mut Snapshot) {
        (snapshot.system, snapshot.step) = (self.system(), self.state.step);
        snapshot.bytes.clear();
        self.save(&mut snapshot.bytes);
    }

    /// Goes on from a snapshot of this simulation, of a copy, or of another one of the same system. Threads and the flag of
    /// [`Simulation::heed`] stay as they are. Nothing is allocated, except in a simulation that has not asked before which system it is.
    ///
    /// The duration of a run is no part of the system: a run can be continued in one that is longer.
    ///
    /// # Errors
    /// If the snapshot is of another system; the simulation is then left as it is. If its contents were forged; the simulation then
    /// is at its start.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        if snapshot.system != self.system() {
            return Err(SnapshotError::OtherSystem);
        }
        let mut reader = Reader(&snapshot.bytes);
        let loaded = self.load(&mut reader);
        let sound = loaded.is_ok()
            && reader.0.is_empty()
            && self.state.step == snapshot.step
            && self.state.step <= MOST_STEPS
            && self.state.values.iter().all(|value| value.is_finite());
        if !sound {
            self.reset();
            return Err(SnapshotError::Damaged);
        }
        self.between = None;
        // Rates of the implicit step are those that elements write in it.
        self.scratch.rate.fill(0.0);
        Ok(())
    }

    /// Goes back to the start: as built, with actuators back at their profiles.
    pub fn reset(&mut self) {
        let Fixed { scenario, built, .. } = &*self.fixed;
        let network = &built.network;
        self.state.values.copy_from_slice(&network.initial);
        (self.state.step, self.state.march) = (0, March::new(network));
        self.scratch.reset(network);
        self.work.begin(network.element_count);
        self.between = None;
        if let (Some(chain), Some(spec), Some(state)) = (&built.chain, &scenario.chain, &mut self.chain) {
            state.reset(chain, |block| start_of_block(spec, block));
        }
        if let (Some(spheres), Some(spec), Some(state)) = (&built.spheres, &scenario.spheres, &mut self.spheres) {
            let balls = 0..state.balls().len();
            state.reset(balls.map(start_of_ball(spec, spheres)).collect());
        }
        self.observe();
    }

    /// A number that tells this system from others: what it is made of, integrator and step, and not how long it runs.
    fn system(&self) -> u64 {
        let Fixed { scenario, built, .. } = &*self.fixed;
        *self.fixed.system.get_or_init(|| system(scenario, &built.choices))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.fixed.scenario
    }

    /// The network and what was decided on the way to it.
    pub fn built(&self) -> &Built {
        &self.fixed.built
    }

    /// The state.
    pub fn state(&self) -> &NetworkState {
        &self.state
    }

    /// The method of integration.
    pub fn method(&self) -> Method {
        self.fixed.built.method
    }

    /// Time now, s.
    pub fn time(&self) -> f64 {
        self.between
            .unwrap_or_else(|| self.fixed.built.network.time(self.state.step))
    }

    /// Steps done.
    pub fn steps_done(&self) -> u64 {
        self.state.step
    }

    /// Advances `steps` steps as fast as possible: no energy is counted, and elements are observed at the end only.
    pub fn advance(&mut self, steps: u64) -> Result<(), RunError> {
        if steps == 0 {
            return Ok(());
        }
        if self.fixed.built.method.implicit() && !self.crowd() {
            if steps > 1 {
                self.run::<false>(steps - 1)?;
            }
            let network = &self.fixed.built.network;
            // The short way is that of the implicit Euler step.
            if self.fixed.built.method == Method::ImplicitEuler
                && let Some(alone) = one_coordinate(network)
                && alone.advance_seen(network, &mut self.state, &mut self.scratch)
            {
                return Ok(());
            }
            // Forces of the implicit step are those of the step that ended: the last one is observed, and not counted.
            self.kept_work.copy_from(&self.work);
            let outcome = self.run::<true>(1);
            self.work.copy_from(&self.kept_work);
            outcome?;
        } else {
            self.run::<false>(steps)?;
        }
        self.observe();
        Ok(())
    }

    /// Advances up to so many steps that a report is kept of, if the network is small and plain. At the end its elements are observed.
    /// Returns how many steps were done.
    pub(crate) fn advance_tallied(&mut self, steps: u64, tallies: &mut Tallies) -> u64 {
        if self.crowd() {
            return 0;
        }
        let Fixed { built, .. } = &*self.fixed;
        let (state, scratch) = (&mut self.state, &mut self.scratch);
        let report = (&mut self.work, tallies);
        let done = (built.method).run_tallied(&built.network, state, scratch, report, steps);
        if done > 0 && !built.method.implicit() {
            self.observe();
        }
        done
    }

    /// Ends long work, also within a step, once this flag is set: with [`RunError::Stopped`], at the last step that was done.
    pub fn heed(&mut self, stop: Option<&Stop>) {
        self.scratch.heed(stop);
    }

    /// The error of a simulation that was told to stop, if it was.
    fn stopped(&self) -> Result<(), RunError> {
        match is_set(self.scratch.stop.as_ref()) {
            true => Err(RunError::Stopped { time: self.time() }),
            false => Ok(()),
        }
    }

    /// Steps between two looks at the stop flag, if a step takes `work` times about 20 ns: less than 0.1 s.
    fn portion(&self, work: usize) -> u64 {
        const MOST_WORK: usize = 1 << 21;
        match self.scratch.stop {
            Some(_) => (MOST_WORK / work.max(1)).max(1) as u64,
            None => u64::MAX,
        }
    }

    /// Advances `steps` steps and observes nothing.
    pub(crate) fn advance_unobserved(&mut self, steps: u64) -> Result<(), RunError> {
        self.run::<false>(steps)
    }

    /// Advances `steps` steps, noting what elements do and the work they do.
    pub fn advance_observed(&mut self, steps: u64) -> Result<(), RunError> {
        self.run::<true>(steps)
    }

    /// The chain, fixed and moving, if the scenario has one.
    pub fn chain(&self) -> Option<(&Chain, &ChainState)> {
        self.fixed.built.chain.as_ref().zip(self.chain.as_ref())
    }

    /// The spheres, what they share and how they move, if the scenario has many.
    pub fn spheres(&self) -> Option<(&Spheres, &SpheresState)> {
        self.fixed.built.spheres.as_ref().zip(self.spheres.as_ref())
    }

    /// What was seen of the spheres when they were last observed; all 0 without them.
    pub fn spheres_seen(&self) -> &SpheresSeen {
        &self.spheres_seen
    }

    /// Whether there are so many bodies that only sums are watched.
    pub(crate) fn crowd(&self) -> bool {
        self.chain.is_some() || self.spheres.is_some()
    }

    /// Steps of many spheres.
    fn run_spheres<const OBSERVE: bool>(&mut self, steps: u64) -> Result<(), RunError> {
        let portion = self.portion(4 * self.spheres.as_ref().map_or(1, |spheres| spheres.balls().len()));
        let mut left = steps;
        while left > 0 {
            self.stopped()?;
            let (Some(spheres), Some(state)) = (&self.fixed.built.spheres, &mut self.spheres) else {
                return Ok(());
            };
            match state.advance::<OBSERVE>(spheres, left.min(portion)) {
                Ok(done) => {
                    self.state.step += done;
                    left -= done;
                }
                Err(SphereTrouble::Meet(a, b)) => {
                    return Err(RunError::Unsupported {
                        time: self.fixed.built.network.time(self.state.step),
                        what: format!(
                            "spheres {a} and {b} touch each other, and those of `[spheres]` touch the plane only"
                        ),
                        remedy:
                            "increase `spacing`, shorten the run, or write spheres that meet as bodies with contacts"
                                .into(),
                    });
                }
                Err(SphereTrouble::NotFinite(ball)) => {
                    return Err(RunError::Diverged {
                        time: self.fixed.built.network.time(self.state.step),
                        step: self.state.step,
                        what: format!("the position of sphere {ball}"),
                        remedy: "check the initial motion: it is too large".into(),
                    });
                }
            }
        }
        Ok(())
    }

    /// What was seen of the chain when it was last observed; all 0 without one.
    pub fn aggregates(&self) -> &Aggregates {
        &self.aggregates
    }

    /// Follows slip events of the chain from now on, if the scenario asks for it.
    pub(crate) fn follow_slip_events(&mut self) {
        if let (Some(spec), Some(blocks)) = (self.fixed.scenario.slip_events, &mut self.chain) {
            blocks.follow(spec, *self.fixed.built.network.signals.grid());
        }
    }

    /// What became of them.
    pub(crate) fn slip_events(&mut self) -> Option<SlipEventsReport> {
        self.chain.as_mut()?.slip_events()
    }

    /// Uses so many threads for the blocks of a chain or for many spheres from now on. Anything else runs on one.
    pub fn use_threads(&mut self, threads: usize) {
        if let (Some(chain), Some(state)) = (&self.fixed.built.chain, &mut self.chain) {
            state.share(chain, threads);
        }
        if let Some(state) = &mut self.spheres {
            state.share(threads);
        }
    }

    /// Steps of a chain: those of its drive first, as many as the chain can take at once, then all of its blocks.
    fn run_chain<const OBSERVE: bool>(&mut self, steps: u64) -> Result<(), RunError> {
        let portion = self.portion(self.fixed.built.chain.as_ref().map_or(1, |chain| chain.count() / 8));
        let mut left = steps;
        while left > 0 {
            self.stopped()?;
            let (Some(chain), Some(blocks)) = (&self.fixed.built.chain, &mut self.chain) else {
                return Ok(());
            };
            let most = left.min(ChainState::most_steps()).min(portion);
            let start = self.state.step;
            let mut halt = None;
            for _ in 0..most {
                let (network, drive, done) = (&self.fixed.built.network, chain.drive, self.state.step);
                let before = [self.state.values[drive.q], self.state.values[drive.v]];
                let outcome = (self.fixed.built.method).run::<false>(
                    network,
                    &mut self.state,
                    &mut self.scratch,
                    &mut self.work,
                    1,
                );
                if let Err(reason) = outcome {
                    halt = Some(reason);
                    break;
                }
                let load = self.scratch.signals.get()[chain.load];
                blocks.foresee(chain, done, before, self.state.values[drive.q], load);
            }
            if !blocks.sweep::<OBSERVE>(chain, start) {
                return Err(RunError::Unsupported {
                    time: self.time(),
                    what: "a block of the chain is farther away than 1e100 m".into(),
                    remedy: "check the initial motion and the drive".into(),
                });
            }
            self.refuse_broken_profiles()?;
            if let Some(halt) = halt {
                return Err(self.halted(halt));
            }
            left -= most;
        }
        Ok(())
    }

    fn run<const OBSERVE: bool>(&mut self, steps: u64) -> Result<(), RunError> {
        if self.chain.is_some() {
            return self.run_chain::<OBSERVE>(steps);
        }
        if self.spheres.is_some() {
            return self.run_spheres::<OBSERVE>(steps);
        }
        // A dense matrix in the worst case.
        let portion = self.portion((8 + self.state.values.len()).pow(2));
        let mut left = steps;
        while left > 0 {
            self.stopped()?;
            let now = left.min(portion);
            let Simulation {
                fixed,
                state,
                scratch,
                work,
                ..
            } = self;
            let built = &fixed.built;
            let outcome = (built.method).run::<OBSERVE>(&built.network, state, scratch, work, now);
            self.refuse_broken_profiles()?;
            outcome.map_err(|halt| self.halted(halt))?;
            left -= now;
        }
        Ok(())
    }

    /// Ends the run where a profile gave no finite number, whether or not that reached the state.
    fn refuse_broken_profiles(&self) -> Result<(), RunError> {
        let Some((signal, time)) = self.scratch.signals.broken() else {
            return Ok(());
        };
        Err(RunError::Diverged {
            time,
            step: (time / self.fixed.built.network.step) as u64,
            what: self.name_of_signal(signal, time),
            remedy: "its profile is infinite or undefined there: check its expression".into(),
        })
    }

    /// What a profile prescribes, for messages.
    fn name_of_signal(&self, signal: usize, time: f64) -> String {
        let (network, columns) = (&self.fixed.built.network, crate::trace::Columns::new(self));
        let elements = &self.fixed.scenario.elements;
        let actuator =
            (elements.iter().zip(&self.fixed.built.actuators)).find(|(_, signals)| signals.contains(&signal));
        if let Some(((name, _), _)) = actuator {
            return format!("{name}.force");
        }
        if let Some(drive) = network.drives.iter().find(|drive| drive.signal == signal) {
            let Coordinate { q, v } = drive.coordinate;
            return columns.name_of_state(if drive.position { q } else { v });
        }
        if let Some(force) = network.forces.iter().find(|force| force.signal == signal) {
            return format!("the force applied along {}", columns.name_of_state(force.velocity));
        }
        if let Some(inclusion) = &self.fixed.scenario.inclusion {
            let input = inclusion.description().inputs.get(signal);
            return input.map_or("t".to_string(), |input| input.name.clone());
        }
        let broken = |element: &ElementSpec| match element.friction().map(|law| &law.normal_force) {
            Some(Some(NormalForce::Profile(profile))) => !profile.value(time).is_finite(),
            _ => false,
        };
        match elements.iter().find(|(_, element)| broken(element)) {
            Some((name, _)) => format!("the normal force of {name}"),
            None => "a profile".to_string(),
        }
    }

    /// How many such simulations, differing in numbers only, are advanced side by side; 1 if it goes alone.
    pub(crate) fn abreast(&self) -> usize {
        // What many blocks or spheres do is not in the network.
        if self.crowd() {
            return 1;
        }
        lanes::most(self.fixed.built.method, &self.fixed.built.network)
    }

    /// Whether another simulation has the same method, step and number of steps, and stands at the same one.
    pub(crate) fn keeps_time_with(&self, other: &Simulation) -> bool {
        let clock = |one: &Simulation| {
            (
                one.fixed.built.method,
                one.fixed.built.steps,
                one.fixed.built.network.step,
                one.state.step,
            )
        };
        clock(self) == clock(other)
    }

    /// Advances simulations that have the same method and step length side by side, by at most `steps` steps. A simulation
    /// that cannot run in lanes, or that diverges, stops early; advancing it alone from there gives the same bytes.
    pub(crate) fn advance_together(simulations: &mut [&mut Simulation], steps: u64) {
        let Some(method) = simulations.first().map(|first| first.fixed.built.method) else {
            return;
        };
        let mut lanes: Vec<Lane<'_>> = (simulations.iter_mut())
            .filter(|simulation| !simulation.crowd())
            .map(|simulation| Lane {
                network: &simulation.fixed.built.network,
                state: &mut simulation.state,
                scratch: &mut simulation.scratch,
            })
            .collect();
        lanes::run(method, &mut lanes, steps);
    }

    /// Advances one step, and shows the simulation to `watch` at the end of every internal step on the way and at the end of
    /// the step itself, in the order of time. `watch` may break off between internal steps; the simulation then stays at
    /// the last output point. A method with fixed steps has no internal ones.
    pub(crate) fn advance_watched(
        &mut self,
        watch: &mut dyn FnMut(&Simulation) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RunError> {
        if !self.fixed.built.method.chooses_steps() {
            self.advance_observed(1)?;
            // Forces of a row are those at its own state, not those of the last stage; gaps are those at its end.
            self.observe();
            return Ok(watch(self));
        }
        let time = self.fixed.built.network.time(self.state.step + 1);
        let before = self.statistics().steps;
        while self.state.march.behind(time) {
            if self.state.march.time > self.time() && self.visit_front(watch).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let network = &self.fixed.built.network;
            let steps = self.scratch.march.statistics.steps - before;
            let outcome = march::step::<true>(network, &mut self.state, &mut self.scratch)
                .and_then(|()| march::check_count(&self.state.march, steps));
            self.refuse_broken_profiles()?;
            outcome.map_err(|halt| self.halted(halt))?;
        }
        march::land(
            &self.fixed.built.network,
            &mut self.state,
            &mut self.scratch,
            &mut self.work,
        );
        self.observe();
        self.refuse_broken_profiles()?;
        Ok(watch(self))
    }

    /// Shows the simulation as it is at the end of the last internal step.
    fn visit_front(&mut self, watch: &mut dyn FnMut(&Simulation) -> ControlFlow<()>) -> ControlFlow<()> {
        let n = self.fixed.built.network.layout.integrated();
        let NetworkState { values, march, .. } = &mut self.state;
        values[..n].swap_with_slice(&mut march.front[..n]);
        self.between = Some(march.time);
        self.observe();
        let flow = watch(self);
        self.between = None;
        let NetworkState { values, march, .. } = &mut self.state;
        values[..n].swap_with_slice(&mut march.front[..n]);
        flow
    }

    /// What the internal steps of `adaptive` and `stiff` have cost so far; all 0 for other methods.
    pub fn statistics(&self) -> Statistics {
        self.scratch.march.statistics
    }

    fn halted(&self, halt: Halt) -> RunError {
        let column = |index| crate::trace::Columns::new(self).name_of_state(index);
        let explicit = self.fixed.built.method == Method::Adaptive;
        let other = if explicit { "integrator = \"stiff\", " } else { "" };
        if let (Halt::Unsolved { .. }, Some(index)) = (&halt, self.undefined_body()) {
            return self.diverged(index);
        }
        match halt {
            Halt::NotFinite { index } => self.diverged(index),
            Halt::Stopped => RunError::Stopped { time: self.time() },
            Halt::Stalled { index, time } => RunError::Stalled {
                time,
                what: format!("no internal step is short enough for the error of {}", column(index)),
                remedy: format!(
                    "{}use {other}a larger relative_tolerance or a smaller min_step; check that the motion is possible",
                    self.remedy_of_snapping()
                ),
            },
            Halt::Unsolved { time } if self.fixed.built.method.implicit() => RunError::Unsolved {
                time,
                residual: self.scratch.implicit.unsolved,
                what: self.unsolved_contact(),
                remedy: self.remedy_of_implicit_step(),
            },
            Halt::Unsolved { time } => RunError::Stalled {
                time,
                what: "Newton's method did not solve the equations of the step".into(),
                remedy: match self.fixed.built.network.newmark {
                    Some(rule) if rule.plain => {
                        "use newton = \"safeguarded\" in the friction, or a smaller step".into()
                    }
                    _ => "use a smaller step".into(),
                },
            },
            Halt::TooManySteps { time } => RunError::Stalled {
                time,
                what: "an output interval takes more than ten million internal steps".into(),
                remedy: format!("use {other}a larger relative_tolerance or a smaller output interval (step)"),
            },
        }
    }

    /// Where `subloading` friction of a contact snaps: it falls with slip by N·κ·(μ_s/μ_k − 1)ᵐ, faster than the contact unloads.
    fn remedy_of_snapping(&self) -> String {
        let snaps = self.fixed.scenario.elements.iter().find_map(|(name, element)| {
            let (ElementSpec::Contact(_), Some(law)) = (element, element.friction()) else {
                return None;
            };
            let LimitSpec::Coefficient { kinetic, static_ } = law.curve.limit else {
                return None;
            };
            let exponent = law.number("kappa_exponent").unwrap_or(1.0);
            let fall = law.number("kappa")? * libm::pow(static_ / kinetic - 1.0, exponent);
            let most = law.number("tangential_stiffness")? / fall;
            most.is_finite().then_some((name, most))
        });
        match snaps {
            Some((name, most)) => format!(
                "friction of \"{name}\" snaps where a point is pressed by more than {most:.2e} N, \
                 tangential_stiffness/(kappa*(mu_static/mu_kinetic - 1)^kappa_exponent): raise its tangential_stiffness or lower kappa; else "
            ),
            None => String::new(),
        }
    }

    /// What helps where the implicit step is not solved, by what the scenario has in it.
    fn remedy_of_implicit_step(&self) -> String {
        let elements = || self.fixed.scenario.elements.iter().map(|(_, element)| element);
        let mut frictions = elements().filter_map(|element| element.friction());
        let published = |parameter: &ParameterSpec| {
            parameter.name == "newton" && parameter.value == ParameterValue::Word("as-published".into())
        };
        if frictions.any(|friction| friction.parameters.iter().any(published)) {
            return "use newton = \"safeguarded\" in the friction, or a smaller step".into();
        }
        let kinds = [
            (
                elements().any(|element| matches!(element, ElementSpec::Contact(_))),
                "contact",
            ),
            (
                elements().any(|element| matches!(element, ElementSpec::Stop(_))),
                "stop",
            ),
        ];
        let smaller = match kinds.iter().find(|(there, _)| *there) {
            Some((_, kind)) => format!("use a smaller step, or a compliant {kind} with integrator = \"rk4\""),
            None => "use a smaller step".into(),
        };
        let mut all = self.fixed.scenario.elements.iter();
        match all.find(|(_, element)| element.is_own()) {
            Some((name, _)) => format!(
                "look at the equations of \"{name}\" first: a root or logarithm of a negative number, a division by 0; else {smaller}"
            ),
            None => smaller,
        }
    }

    /// The contact or stop that stands in the way of a solution, and what it is asked for.
    fn unsolved_contact(&self) -> String {
        let implicit = &self.scratch.implicit;
        let Some((name, element)) = implicit
            .blamed
            .and_then(|index| self.fixed.scenario.elements.get(index))
        else {
            return String::new();
        };
        let ends = match element {
            ElementSpec::Contact(contact) => {
                let body = |port: Port| port.body().map_or("ground", |body| &self.fixed.scenario.bodies[body].0);
                let [first, second] = contact.between.map(body);
                format!(" between {first} and {second}")
            }
            _ => String::new(),
        };
        if implicit.impossible {
            format!("no force can keep \"{name}\"{ends} from closing, as nothing there is free to give way")
        } else {
            format!("\"{name}\"{ends} is furthest from its law")
        }
    }

    /// The velocity, or state, of a body of the user's own whose force, or rate, is no number here.
    fn undefined_body(&self) -> Option<usize> {
        let signals = self.scratch.signals.get();
        self.fixed.built.network.own_bodies.iter().find_map(|body| {
            let (force, rates) = body.forces(&self.state.values, signals);
            let broken = |values: &[f64]| values.iter().position(|value| !value.is_finite());
            broken(&force)
                .map(|i| body.v + i)
                .or(broken(&rates).map(|i| body.state + i))
        })
    }

    fn diverged(&self, index: usize) -> RunError {
        RunError::Diverged {
            time: self.time().max(self.state.march.time),
            step: self.state.step,
            what: crate::trace::Columns::new(self).name_of_state(index),
            remedy: self.remedy(),
        }
    }

    /// A run in which the energy that an element stores is no number. What was one at the start and is infinite now has grown with the motion:
    /// that is the step's doing, not that of an expression.
    pub(crate) fn stores_no_number(&mut self, element: usize, began: bool) -> RunError {
        let grown = began && self.stored()[element].is_infinite();
        let (name, element) = &self.fixed.scenario.elements[element];
        RunError::Diverged {
            time: self.time(),
            step: self.state.step,
            what: format!("the energy stored in \"{name}\""),
            remedy: match element.is_own() {
                true if grown => self.remedy_of_growth(),
                true => format!("check the expression of `stored`: {}", crate::build::UNDEFINED),
                false => self.remedy(),
            },
        }
    }

    /// A run whose energy grew out of proportion, at the latest at a time.
    pub(crate) fn exploded(&self, time: f64, gained: f64, known: f64) -> RunError {
        RunError::Exploded {
            time,
            what: self.fastest_column(&crate::trace::Columns::new(self)),
            gained,
            known,
            remedy: self.remedy(),
        }
    }

    /// The column of the largest velocity.
    pub(crate) fn fastest_column(&self, columns: &crate::trace::Columns) -> String {
        let speed = |index: &usize| self.state.values[*index].abs();
        let velocities = self.fixed.built.network.layout.velocities();
        let fastest = velocities.max_by(|a, b| speed(a).total_cmp(&speed(b)));
        match fastest {
            _ if self.chain.is_some() => "chain.speed".to_string(),
            _ if self.spheres.is_some() => "spheres.speed".to_string(),
            Some(index) => columns.name_of_state(index),
            None => String::new(),
        }
    }

    /// What to try where equations grow with the step.
    pub(crate) fn remedy_of_growth(&self) -> String {
        if self.fixed.scenario.inclusion.is_some() {
            return self.remedy();
        }
        format!(
            "use a step well below {} s, or integrator = \"stiff\"",
            self.fixed.built.network.step
        )
    }

    /// What to try where a run diverges.
    pub(crate) fn remedy(&self) -> String {
        let broken = self.scratch.signals.get().iter().any(|value| !value.is_finite());
        match self.fixed.built.method {
            _ if broken => {
                "a profile of force, motion or normal force is not finite here: check its expression".to_string()
            }
            _ if self.spheres.is_some() => "check the initial motion: it is too large".to_string(),
            _ if self.fixed.open_ledger || !self.fixed.built.network.own_bodies.is_empty() => {
                "look at the equations of your own first: a division by 0, a root or logarithm of a negative number, a state whose \
                 equation has no solution, a mass matrix that is no longer positive definite; else use a smaller step"
                    .to_string()
            }
            _ if self.fixed.scenario.inclusion.is_some() && !self.fixed.built.method.chooses_steps() => format!(
                "use a step well below {} s, larger beta and alpha or smaller stiffness in `relax`, or integrator = \"stiff\"",
                self.fixed.built.network.step
            ),
            Method::ImplicitEuler | Method::ImplicitMidpoint => {
                "use a smaller step; springs can be taken at the end of the step with implicit = true".to_string()
            }
            Method::Adaptive | Method::Stiff => {
                "something grows without bound: check stiffnesses, masses and signs of forces".to_string()
            }
            _ => format!(
                "use a step well below {} s, softer stiffnesses, or integrator = \"{}\"",
                self.fixed.built.network.step,
                self.fixed.scenario.stable_integrator()
            ),
        }
    }

    /// All masses together, kg; rotating inertias count as masses.
    pub(crate) fn mass(&self) -> f64 {
        let network = &self.fixed.built.network;
        let masses = network.inverse_mass[..network.layout.masses].iter();
        masses.map(|inverse| 1.0 / inverse).sum::<f64>()
            + network.bodies.iter().map(|placed| placed.body.mass()).sum::<f64>()
            + network.linkages.iter().map(|placed| placed.body.mass()).sum::<f64>()
    }

    /// The largest residual of a coupled friction solve so far, relative to the force scale.
    pub fn worst_residual(&self) -> f64 {
        self.scratch.implicit.worst
    }

    /// The last contact that stopped its bodies as an impact would, without one (Painlevé's paradox).
    pub fn jammed(&self) -> Option<&str> {
        let (name, _) = self.fixed.scenario.elements.get(self.scratch.implicit.jammed?)?;
        Some(name)
    }

    /// Notes what elements do in the present state. The implicit step notes forces of the step that ended here; the
    /// integrators of differential equations evaluate them here.
    pub fn observe(&mut self) {
        if let (Some(chain), Some(blocks)) = (&self.fixed.built.chain, &self.chain) {
            let drive = [chain.drive.q, chain.drive.v].map(|index| self.state.values[index]);
            self.aggregates = blocks.aggregates(chain, drive);
            return;
        }
        if let (Some(spheres), Some(state)) = (&self.fixed.built.spheres, &self.spheres) {
            self.spheres_seen = state.seen(spheres);
            return;
        }
        let network = &self.fixed.built.network;
        if self.fixed.built.method.implicit() && self.state.step > 0 {
            network.place_bodies(&self.state.values, &mut self.scratch.frames, &mut self.scratch.linkages);
            network.observe_gaps(&self.state.values, &mut self.scratch);
            return;
        }
        let n = network.layout.integrated();
        self.scratch.trial[..n].copy_from_slice(&self.state.values[..n]);
        if self.fixed.built.method.implicit() {
            // Before the first step nothing has acted; springs show their force, frictions none.
            network.place_bodies(
                &self.scratch.trial,
                &mut self.scratch.frames,
                &mut self.scratch.linkages,
            );
            crate::network::rigid::clear_observations(network, &self.scratch.trial, &mut self.scratch.seen);
            apply::<true>(network, &mut self.scratch, network.step);
            for seen in &mut self.scratch.seen {
                (seen.force, seen.power) = ([0.0; 3], 0.0);
            }
            network.observe_gaps(&self.state.values, &mut self.scratch);
            let Scratch {
                trial,
                signals,
                compression,
                seen,
                ..
            } = &mut self.scratch;
            let view = ImplicitView {
                step: network.step,
                before: trial,
                signals: signals.get(),
                compression,
            };
            for group in &network.frictions {
                group.begin(&view, seen);
            }
            network.begin_rigid(trial, seen);
            return;
        }
        if self.fixed.built.method.chooses_steps() {
            let time = self.time();
            let (trial, _, mut room) = self.scratch.parts();
            evaluate_at::<true>(network, trial, &mut room, time);
            return;
        }
        evaluate::<true>(network, &mut self.scratch, 2 * self.state.step, 0.0);
    }

    /// Whether the program finds contacts between shapes.
    pub fn has_scene(&self) -> bool {
        self.fixed.built.network.scene.is_some()
    }

    /// The contacts that the program found in the last step, and what came of them.
    pub fn found_contacts(&self) -> impl Iterator<Item = FoundContact<'_>> {
        let scene = self.fixed.built.network.scene.iter();
        scene.flat_map(|scene| scene.listed(&self.scratch.implicit.scene))
    }

    /// What every element of the scenario did in the last observed step.
    pub fn observations(&self) -> &[Observation] {
        &self.scratch.seen
    }

    /// Work of drivers and elements so far, over observed steps.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Energy now: kinetic and gravitational, and that of springs, contacts and bristles.
    pub fn energy(&mut self) -> (f64, f64) {
        if self.chain.is_some() {
            self.observe();
            return (self.aggregates.kinetic, self.aggregates.stored);
        }
        if self.spheres.is_some() {
            self.observe();
            return (self.spheres_seen.energy, 0.0);
        }
        let network = &self.fixed.built.network;
        let mechanical = network.mechanical_energy(&self.state.values, &mut self.scratch);
        (mechanical, self.stored().iter().sum())
    }

    /// Whether something here follows equations of the user's own.
    pub(crate) fn has_equations(&self) -> bool {
        self.fixed.open_ledger
            || !self.fixed.built.network.own_bodies.is_empty()
            || self.fixed.scenario.inclusion.is_some()
    }

    /// Whether it stands at the start that the scenario gives, under the scenario's control alone.
    pub(crate) fn is_as_written(&self) -> bool {
        self.state.step == 0
            && self.state.values == self.fixed.built.network.initial
            && !self.scratch.signals.any_held()
    }

    /// Energy that can only be there if it was put in, kinetic and elastic, and that of gravity, which may come from any
    /// depth; bodies of the user's own count their potential there. What elements of the user's own store is theirs: what they give counts as
    /// put in ([`Simulation::given_by_own`]). `None` for an inclusion, which has no energy.
    pub(crate) fn live_energy(&mut self) -> Option<(f64, f64)> {
        if self.chain.is_some() {
            let (kinetic, elastic) = self.energy();
            return Some((kinetic + elastic, 0.0));
        }
        if let Some((spheres, state)) = self.spheres() {
            let seen = state.seen(spheres);
            let weight = spheres.mass * state.balls().len() as f64;
            let gravity = -weight * spheres.gravity.dot(&seen.position);
            return Some((seen.energy - gravity, gravity));
        }
        if self.fixed.scenario.inclusion.is_some() {
            return None;
        }
        let network = &self.fixed.built.network;
        let mut still = self.state.values.clone();
        still[network.layout.velocities()].fill(0.0);
        let gravity = network.mechanical_energy(&still, &mut self.scratch);
        let mechanical = network.mechanical_energy(&self.state.values, &mut self.scratch);
        let stored = self.stored();
        let elements = self.fixed.scenario.elements.iter().zip(stored);
        let elastic: f64 = elements
            .filter(|((_, element), _)| !element.is_own())
            .map(|(_, stored)| stored)
            .sum();
        Some((mechanical - gravity + elastic, gravity))
    }

    /// Energy that elements of the user's own gave, where it was counted.
    pub(crate) fn given_by_own(&self) -> f64 {
        let elements = self.fixed.scenario.elements.iter().zip(&self.work.delivered);
        elements
            .filter(|((_, element), _)| element.is_own())
            .map(|(_, work)| work)
            .sum()
    }

    /// What `look` sees with other positions and velocities of the network; the present ones come back.
    pub(crate) fn in_state<T>(&mut self, values: Vec<f64>, look: impl FnOnce(&mut Self) -> T) -> T {
        let now = std::mem::replace(&mut self.state.values, values);
        let seen = look(self);
        self.state.values = now;
        seen
    }

    /// Work put in so far, over observed steps.
    pub(crate) fn input(&self) -> f64 {
        self.chain
            .as_ref()
            .map_or(self.work.input, |blocks| blocks.ledger().input)
    }

    /// Elastic energy of every element now.
    pub(crate) fn stored(&mut self) -> Vec<f64> {
        let network = &self.fixed.built.network;
        let kept = self.scratch.seen.clone();
        // Frictions may see the compression of the step before: a look must not bring them that of now.
        let compression = self.scratch.compression.clone();
        let n = network.layout.integrated();
        self.scratch.trial[..n].copy_from_slice(&self.state.values[..n]);
        network.place_bodies(
            &self.scratch.trial,
            &mut self.scratch.frames,
            &mut self.scratch.linkages,
        );
        apply::<true>(network, &mut self.scratch, 0.0);
        network.store_stiff_springs(&self.state.values, &mut self.scratch.seen);
        let Scratch {
            frames, linkages, seen, ..
        } = &mut self.scratch;
        network.store_point_springs(&self.state.values, frames, linkages, seen);
        let stored = self.scratch.seen.iter().map(|seen| seen.stored).collect();
        self.scratch.seen = kept;
        self.scratch.compression = compression;
        // The element states of the implicit step must not see rates of this evaluation.
        self.scratch.rate.fill(0.0);
        stored
    }

    fn names(&self) -> &[Vec<u64>; 2] {
        self.fixed.names.get_or_init(|| {
            let Scenario { bodies, elements, .. } = &self.fixed.scenario;
            [
                bodies.iter().map(|(name, _)| sum_of(name)).collect(),
                elements.iter().map(|(name, _)| sum_of(name)).collect(),
            ]
        })
    }

    /// The number of a body, if it is one of this system.
    pub(crate) fn number_of(&self, body: Body) -> Option<usize> {
        body.among(&self.names()[0])
    }

    /// The number of an element, if it is one of this system.
    pub(crate) fn number_of_element(&self, element: Element) -> Option<usize> {
        element.among(&self.names()[1])
    }

    /// The body with this name.
    pub fn body(&self, name: &str) -> Option<Body> {
        let number = self.fixed.scenario.bodies.iter().position(|(other, _)| other == name)?;
        Some(Body::named(number, name))
    }

    /// The element with this name.
    pub fn element(&self, name: &str) -> Option<Element> {
        let number = self
            .fixed
            .scenario
            .elements
            .iter()
            .position(|(other, _)| other == name)?;
        Some(Element::named(number, name))
    }

    /// All bodies, in the order of the file or of adding.
    pub fn bodies(&self) -> impl Iterator<Item = Body> + '_ {
        let bodies = self.fixed.scenario.bodies.iter().enumerate();
        bodies.map(|(number, (name, _))| Body::named(number, name))
    }

    /// All elements, in the order of the file or of adding.
    pub fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        let elements = self.fixed.scenario.elements.iter().enumerate();
        elements.map(|(number, (name, _))| Element::named(number, name))
    }

    fn ranges(&self, body: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let network = &self.fixed.built.network;
        match self.fixed.built.places[body] {
            Place::Coordinates { first, axes, .. } => (first.q..first.q + axes, first.v..first.v + axes),
            Place::Rigid(index) => {
                let placed = &network.bodies[index];
                (placed.q..placed.q + 7, placed.v..placed.v + 6)
            }
            Place::Linkage(index) => {
                let placed = &network.linkages[index];
                (
                    placed.q..placed.q + placed.positions,
                    placed.v..placed.v + placed.velocities,
                )
            }
            Place::Own(index) => {
                let placed = &network.own_bodies[index];
                (placed.q..placed.q + placed.count, placed.v..placed.v + placed.count)
            }
        }
    }

    /// Position of a body: one number per axis or joint; a rigid body has its position and its quaternion w, x, y, z. A linkage with a
    /// free base has those of the base, then its joints. Empty for a body of another system.
    pub fn position(&self, body: Body) -> &[f64] {
        self.number_of(body)
            .map_or(&[], |number| &self.state.values[self.ranges(number).0])
    }

    /// Velocity of a body: one number per axis or joint; a rigid body has its velocity and its angular velocity, in world axes. Empty for a body of
    /// another system.
    pub fn velocity(&self, body: Body) -> &[f64] {
        self.number_of(body)
            .map_or(&[], |number| &self.state.values[self.ranges(number).1])
    }

    /// Puts a body to another position: as many numbers as [`Simulation::position`] gives. Velocities and the states of laws stay
    /// as they are; a rotation is a quaternion of length 1.
    ///
    /// Nothing is pushed aside: a body that is put into another one, or a joint beyond its limits, is driven out by the contact or the limit
    /// in the steps that follow. Energies that were counted so far do not know of the change.
    ///
    /// # Errors
    /// See [`SetError`]; nothing is changed then.
    pub fn set_position(&mut self, body: Body, position: &[f64]) -> Result<(), SetError> {
        let number = self.settable(body, position)?;
        let (range, _) = self.ranges(number);
        check_numbers("position", position, range.len())?;
        let pose = match self.fixed.built.places[number] {
            Place::Rigid(_) => true,
            Place::Linkage(index) => self.fixed.built.network.linkages[index].body.is_floating(),
            _ => false,
        };
        let values = &mut self.state.values[range];
        let mut rotation = [1.0; 4];
        if pose {
            rotation.copy_from_slice(&position[3..7]);
            let length = rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
            // One that the engine gave comes back as it was; numbers of single precision are made exact.
            match (length - 1.0).abs() {
                error if error <= 1e-9 => (),
                error if error <= 1e-6 => rotation = rotation.map(|x| x / length),
                _ => return Err(SetError::Rotation { length }),
            }
        }
        values.copy_from_slice(position);
        if pose {
            values[3..7].copy_from_slice(&rotation);
        }
        self.begin_again();
        self.observe();
        Ok(())
    }

    /// Gives a body another velocity: as many numbers as [`Simulation::velocity`] gives. Positions and the states of bristles stay as they
    /// are. A friction or a rigid contact of `implicit-euler` that remembers whether it sticks begins as at the start of a run: it sticks
    /// if nothing moves in it, and slips if something does.
    ///
    /// # Errors
    /// See [`SetError`]; nothing is changed then.
    pub fn set_velocity(&mut self, body: Body, velocity: &[f64]) -> Result<(), SetError> {
        let number = self.settable(body, velocity)?;
        let (_, range) = self.ranges(number);
        check_numbers("velocity", velocity, range.len())?;
        self.state.values[range.clone()].copy_from_slice(velocity);
        self.fixed.built.network.remember(&mut self.state.values, &range);
        self.begin_again();
        self.observe();
        Ok(())
    }

    /// The number of a body whose motion may be set to these numbers.
    fn settable(&self, body: Body, numbers: &[f64]) -> Result<usize, SetError> {
        let number = self.number_of(body).ok_or(SetError::OtherSystem)?;
        if let Place::Coordinates { driven: true, .. } = self.fixed.built.places[number] {
            return Err(SetError::Prescribed {
                body: self.fixed.scenario.bodies[number].0.clone(),
            });
        }
        match numbers.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(SetError::NotFinite { value }),
            None => Ok(number),
        }
    }

    /// Something was set from outside: a method that has gone ahead begins again from here.
    #[inline]
    fn begin_again(&mut self) {
        if self.fixed.built.method.chooses_steps() {
            let (time, step) = (self.time(), self.fixed.built.network.step);
            let NetworkState { values, march, .. } = &mut self.state;
            march.restart(values, time, &self.work, step);
        }
    }

    /// States of an element's law; empty for an element of another system.
    pub fn element_state(&self, element: Element) -> &[f64] {
        self.number_of_element(element).map_or(&[], |number| {
            let (first, count) = self.fixed.built.states[number];
            &self.state.values[first..first + count]
        })
    }

    /// Force of an element in the last observed step, that which works on the relative motion r₁q₁ − r₂q₂; r₁ times it
    /// acts on the first body. Empty for an element of another system.
    pub fn force(&self, element: Element) -> &[f64] {
        self.number_of_element(element).map_or(&[], |number| {
            &self.scratch.seen[number].force[..self.fixed.built.axes[number]]
        })
    }

    /// What an element did in the last observed step; `None` for an element of another system.
    pub fn observation(&self, element: Element) -> Option<&Observation> {
        self.scratch.seen.get(self.number_of_element(element)?)
    }

    /// Whether an element stuck, slipped or was open in the last observed step; `None` for an element of another system.
    pub fn mode(&self, element: Element) -> Option<Mode> {
        self.observation(element).map(|seen| seen.mode)
    }

    /// Takes an actuator over: it gives this value from now on. False if the element is no actuator of this system or has no such axis.
    pub fn set_actuator(&mut self, element: Element, axis: usize, value: f64) -> bool {
        let signal = self.actuator_signal(element, axis);
        if let Some(signal) = signal {
            self.hold(signal, value);
        }
        signal.is_some()
    }

    /// The signal of an actuator along an axis, the same in all copies of a simulation.
    pub(crate) fn actuator_signal(&self, element: Element, axis: usize) -> Option<usize> {
        let signals = self.fixed.built.actuators.get(self.number_of_element(element)?)?;
        signals.get(axis).copied()
    }

    /// Takes a signal over.
    #[inline]
    pub(crate) fn hold(&mut self, signal: usize, value: f64) {
        self.scratch.signals.hold(signal, value);
        self.begin_again();
    }

    /// A number that copies of one simulation share and others do not, as long as they are there.
    #[inline]
    pub(crate) fn kind(&self) -> usize {
        Arc::as_ptr(&self.fixed) as usize
    }

    /// Where position and velocity of a body stand in the state if it has one of each; the same in all copies of a simulation.
    pub(crate) fn coordinate(&self, body: Body) -> Option<[usize; 2]> {
        let (position, velocity) = self.ranges(self.number_of(body)?);
        (position.len() == 1 && velocity.len() == 1).then_some([position.start, velocity.start])
    }
}

fn check_numbers(what: &'static str, numbers: &[f64], wanted: usize) -> Result<(), SetError> {
    match numbers.len() {
        found if found == wanted => Ok(()),
        found => Err(SetError::Count { what, found, wanted }),
    }
}

/// Why a position or a velocity cannot be set.
#[derive(Clone, Debug, PartialEq)]
pub enum SetError {
    /// The body is one of another system.
    OtherSystem,
    /// Its motion is prescribed.
    Prescribed {
        /// The driver.
        body: String,
    },
    /// There are too many numbers, or too few.
    Count {
        /// Position or velocity.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many the body has.
        wanted: usize,
    },
    /// A number is infinite or undefined.
    NotFinite {
        /// It.
        value: f64,
    },
    /// A quaternion is no rotation: it is shorter or longer than 1.
    Rotation {
        /// Its length.
        length: f64,
    },
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSystem => write!(
                f,
                "the body is one of another system\nhelp: ask this simulation for it: simulation.body(\"name\")"
            ),
            Self::Prescribed { body } => write!(
                f,
                "the motion of the driver `{body}` is prescribed and cannot be set\n\
                 help: change its profile, or pull a mass with an actuator"
            ),
            Self::Count { what, found, wanted } => {
                write!(f, "the {what} of this body has {wanted} numbers, found {found}")
            }
            Self::NotFinite { value } => write!(f, "a position or velocity must be a finite number, found {value}"),
            Self::Rotation { length } => write!(
                f,
                "the rotation, a quaternion w, x, y, z, has length {length}, and should have length 1\n\
                 help: divide it by its length"
            ),
        }
    }
}

impl std::error::Error for SetError {}
