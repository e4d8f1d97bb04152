//! The one rule of divergence, for runs, rows of sweeps and maps, comparisons, chains, spheres and equations. Numbers that are not finite stop a
//! run at once, where they appear. This is the rule for numbers that are finite and cannot be true.
//!
//! **Mechanical systems** have energy, and the ledger knows where it can come from. A run has diverged if at its end the energy that nothing
//! explains is a hundred times all that was ever explained: the energy of the start, the work put in, what weights gave on their way
//! down, what it takes to set bodies apart that begin inside each other, and what drivers given by position can have put in by jumping. Of the last the ledger knows nothing, as no force acts through a
//! jump. But the energy of a spring is quadratic: a move of its end by δ raises √E by at most √(k/2)·|δ|. So jumps explain
//! (√(k/2)·V)², with the whole way V that the driver goes.
//!
//! Rows that ask for final values only are not observed, so their ledger is empty. They are suspected if the step is known to be too long
//! for a spring, a bristle or a contact, or if their energy is above what the inputs could reach by a rough estimate, `reach`; a suspect is run
//! again and observed, and has the verdict of that run. The estimate is high, so a mild explosion may stay below it: a row whose energy grew a
//! hundredfold over three quarters, by as much in each, is suspected too. What is pushed or driven does not grow like that.
//!
//! **Equations** of the user's own may grow by their nature: those of an inclusion, which have no energy, and elements and bodies that
//! may put in what they like. Where numbers grew as an explosion does (those of an inclusion: to a thousand times the numbers that the scenario
//! gives), the run is repeated with a half and a third of the step: growth that belongs to the equations comes again, growth that
//! the step has made does not. Powers of ten are compared, not digits.

mod growth;

pub(crate) use growth::Growth;

use crate::profile::Profile;
use crate::scenario::{BodySpec, NormalForce};
use crate::simulation::{RunError, Simulation};
use crate::stop::Stop;
use crate::trace::Columns;

/// Unexplained energy in terms of explained energy from which on a run has diverged. A method that is merely inaccurate does not come near.
const EXPLOSION: f64 = 100.0;
/// Size of a state of equations, in terms of the numbers of the scenario, from which on it is looked at.
const GROWTH: f64 = 1e3;
/// Part of the growth, as a logarithm, that may change with the step.
const ALIKE: f64 = 0.1;
/// How many times shorter the steps are with which equations are run again.
const SHORTER: [u32; 2] = [2, 3];
/// Times at which profiles are sampled for a rough estimate.
const SAMPLES: usize = 64;
/// Most points at which the way of a driver is followed.
const MOST_POINTS: u64 = 1 << 20;

/// Rounding of energies of gravity, which may be large where nothing moves.
const ROUNDING: f64 = 1e-9;

/// Kinetic and elastic energy, and that of gravity.
type Energy = (f64, f64);

/// Follows the energies of a run. It looks more and more rarely: what grows without bound does so by powers, and stands out at the end.
pub struct Watch {
    next: u64,
    start: Option<Energy>,
    /// Energy that sets bodies apart which begin inside each other.
    apart: f64,
    /// Most energy in motion and springs, most work put in, and most energy that weights gave.
    live: f64,
    input: f64,
    fall: f64,
    /// Since when all looks have found unexplained energy.
    since: Option<f64>,
    /// The element whose energy is no number at the start.
    unstorable: Option<usize>,
    /// How equations of the user's own grow.
    growth: Option<Growth>,
    /// What every element stored at the start, where some of the user's own say all that they store.
    kept: Vec<f64>,
}

impl Watch {
    /// Begins with a simulation at its start.
    pub fn new(simulation: &mut Simulation) -> Self {
        let known = simulation.built().network.own_bodies.is_empty();
        let begun = simulation.live_energy();
        let start = begun.filter(|_| known);
        // Methods that choose their steps keep to a tolerance; and only what begins as it is written can be repeated.
        let judged = simulation.has_equations() && !simulation.method().chooses_steps() && simulation.is_as_written();
        Watch {
            next: 1,
            growth: judged.then(|| Growth::new(simulation)),
            kept: if judged && own_stores(simulation) {
                simulation.stored()
            } else {
                Vec::new()
            },
            unstorable: unstorable(simulation),
            start,
            apart: set_apart(simulation),
            live: begun.map_or(0.0, |(live, _)| live),
            input: 0.0,
            fall: 0.0,
            since: None,
        }
    }

    /// Looks at the simulation if it is time.
    pub fn look(&mut self, simulation: &mut Simulation) {
        if simulation.steps_done() >= self.next {
            self.next *= 2;
            self.unexplained(simulation);
        }
        if let Some(growth) = &mut self.growth {
            growth.look(simulation);
        }
    }

    /// The number of steps after which it looks next.
    pub(crate) fn next_look(&self) -> u64 {
        self.next
    }

    /// Most energy in motion and springs that was met, J.
    pub(crate) fn most(&self) -> f64 {
        self.live
    }

    /// Energy from nowhere and explained energy, if the first is out of proportion.
    fn unexplained(&mut self, simulation: &mut Simulation) -> Option<(f64, f64)> {
        let (live, gravity) = simulation.live_energy()?;
        self.live = self.live.max(live);
        let start = self.start?;
        // What elements of the user's own gave is put in, as by actuators; so is what it takes to move bodies that overlap apart.
        let parted = f64::max(0.0, -simulation.work().displaced);
        let input = simulation.input() + simulation.given_by_own() + parted;
        self.input = self.input.max(input.abs());
        self.fall = self.fall.max(start.1 - gravity);
        let explained = start.0 + self.apart + self.input + self.fall + ROUNDING * (start.1.abs() + gravity.abs());
        let gained = live + gravity - start.0 - start.1 - input;
        let passed: f64 = simulation.work().delivered.iter().map(|work| work.abs()).sum();
        // What a fall gained is not from nowhere: its sum with the weight's energy is 0 but for rounding. So is what went through
        // elements to and fro.
        let absurd = gained > EXPLOSION * explained + ROUNDING * passed && gained > 0.5 * live;
        if !live.is_finite() || absurd {
            self.since.get_or_insert(simulation.time());
            let gained = if gained.is_finite() { gained } else { f64::INFINITY };
            return Some((gained, explained));
        }
        self.since = None;
        None
    }

    /// Whether the run that ends here has diverged. Equations may have to be run again, which ends once `stop` is true.
    pub fn judge(&mut self, simulation: &mut Simulation, stop: Option<&Stop>) -> Option<RunError> {
        if simulation.scenario().inclusion.is_some() {
            let suspects: Vec<(usize, f64)> = largest(simulation).into_iter().collect();
            return self.judge_growth(simulation, &suspects, stop);
        }
        // Energies may be beyond all numbers where the motion is not.
        if let Some(element) = self.unstorable.or_else(|| unstorable(simulation)) {
            return Some(simulation.stores_no_number(element, self.unstorable.is_none()));
        }
        if !(simulation.work().is_finite() && simulation.energy().0.is_finite()) {
            return Some(simulation.exploded(simulation.time(), f64::INFINITY, f64::INFINITY));
        }
        if let Some((gained, explained)) = self.unexplained(simulation) {
            let explained = explained + jumps(simulation) + one_step(simulation);
            if !gained.is_finite() || gained > EXPLOSION * explained {
                let time = self.since.unwrap_or(simulation.time());
                return Some(simulation.exploded(time, gained, explained));
            }
        }
        let mut suspects = (self.growth.as_ref()).map_or_else(Vec::new, |growth| growth.suspects(simulation));
        if suspects.iter().all(|(number, _)| *number != 0) {
            suspects.extend(self.conjured(simulation).map(|base| (0, base)));
        }
        self.judge_growth(simulation, &suspects, stop)
    }

    /// The size that the energy grew from, if elements of the user's own gave more beyond what they say they store than all else that there was.
    /// Their equations may put it in; then it comes again with a shorter step.
    fn conjured(&self, simulation: &mut Simulation) -> Option<f64> {
        let start = self.start?;
        if self.kept.is_empty() {
            return None;
        }
        let stored = simulation.stored();
        let elements = simulation.scenario().elements.iter().enumerate();
        let own = elements.filter(|(_, (_, element))| element.own_stores() == Some(true));
        let (mut given, mut kept) = (0.0, 0.0);
        for (i, _) in own {
            let beyond = simulation.work().delivered[i] + stored[i] - self.kept[i];
            given += f64::max(0.0, beyond);
            kept += f64::max(0.0, self.kept[i]);
        }
        let known = start.0 + kept + simulation.input().abs() + self.fall;
        (known > 0.0 && given > known && self.live > known).then(|| libm::log(known))
    }

    fn judge_growth(
        &self,
        simulation: &Simulation,
        suspects: &[(usize, f64)],
        stop: Option<&Stop>,
    ) -> Option<RunError> {
        let growth = self.growth.as_ref().filter(|_| !suspects.is_empty())?;
        growth.judge(simulation, suspects, stop)
    }
}

/// Whether an element of the user's own says all that it stores.
fn own_stores(simulation: &Simulation) -> bool {
    let mut elements = simulation.scenario().elements.iter();
    elements.any(|(_, element)| element.own_stores() == Some(true))
}

/// The element whose stored energy is no number now.
fn unstorable(simulation: &mut Simulation) -> Option<usize> {
    if simulation.crowd() || simulation.scenario().inclusion.is_some() {
        return None;
    }
    simulation.stored().iter().position(|stored| !stored.is_finite())
}

/// Whether a run that was not observed must be run again to see whether it has diverged. `start` is its energy at the start.
pub(crate) fn suspect(simulation: &mut Simulation, start: Option<Energy>, growth: &Growth) -> bool {
    if simulation.scenario().inclusion.is_some() {
        return largest(simulation).is_some();
    }
    if simulation.has_equations() && !simulation.method().chooses_steps() && !growth.suspects(simulation).is_empty() {
        return true;
    }
    let live = simulation.live_energy();
    // Energies beyond all numbers fail whatever they come from.
    let finite = live.is_none_or(|(live, gravity)| live.is_finite() && gravity.is_finite());
    if !finite || unstorable(simulation).is_some() {
        return true;
    }
    let (Some(start), Some((live, gravity))) = (start, live) else {
        return false;
    };
    if simulation.built().unstable {
        return true;
    }
    let given = start.0 + f64::max(0.0, start.1 - gravity) + ROUNDING * (start.1.abs() + gravity.abs());
    live > EXPLOSION * given && (growth.energy_grew_evenly() || live > EXPLOSION * given + reach(simulation))
}

/// The energy at the start of a simulation, wherever it stands now; of many bodies only as long as they are there. `None` where the
/// ledger does not know all sources: bodies of the user's own, and equations.
pub(crate) fn start(simulation: &mut Simulation) -> Option<Energy> {
    if !simulation.built().network.own_bodies.is_empty() {
        return None;
    }
    if simulation.crowd() {
        return simulation.live_energy();
    }
    let initial = simulation.built().network.initial.clone();
    simulation.in_state(initial, Simulation::live_energy)
}

/// The failure of a run whose columns now hold a number that is not finite.
pub(crate) fn not_finite(simulation: &Simulation, columns: &Columns) -> Option<RunError> {
    let broken = (0..columns.names().len()).find(|&column| !columns.value(simulation, column).is_finite())?;
    Some(RunError::Diverged {
        time: simulation.time(),
        step: simulation.steps_done(),
        what: columns.names()[broken].clone(),
        remedy: simulation.remedy(),
    })
}

/// How a driver moves: how far from its start, and how fast.
fn way(profile: &Profile, position: bool, duration: f64) -> (f64, f64) {
    if !position {
        let speed = profile.peak(0.0, duration, SAMPLES);
        return (speed * duration, speed);
    }
    if matches!(profile, Profile::Constant(_)) {
        return (0.0, 0.0);
    }
    let interval = duration / SAMPLES as f64;
    let (first, mut last) = (profile.value(0.0), profile.value(0.0));
    let (mut travel, mut speed) = (0.0f64, 0.0f64);
    for i in 1..=SAMPLES {
        let value = profile.value(i as f64 * interval);
        travel = travel.max((value - first).abs());
        speed = speed.max((value - last).abs() / interval);
        last = value;
    }
    (travel, speed)
}

/// What drivers given by velocity can put in during one step, of which a method that takes springs at its start knows nothing.
fn one_step(simulation: &mut Simulation) -> f64 {
    let network = &simulation.built().network;
    let duration = simulation.scenario().simulation.duration;
    let travel = network.drives.iter().map(|drive| match drive.position {
        true => 0.0,
        false => network.step * way(network.signals.profile(drive.signal), false, duration).1,
    });
    let travel: Vec<f64> = travel.collect();
    stretched(simulation, &travel)
}

/// Elastic energy with all drivers away from their start by so much.
fn stretched(simulation: &mut Simulation, travel: &[f64]) -> f64 {
    let network = &simulation.built().network;
    let moved = |sign: f64| {
        let mut values = network.initial.clone();
        for (drive, travel) in network.drives.iter().zip(travel) {
            values[drive.coordinate.q] += sign * travel;
        }
        values
    };
    let both = [moved(1.0), moved(-1.0)];
    let stored = both.map(|values| simulation.in_state(values, |there| there.stored().iter().sum::<f64>()));
    stored[0] + stored[1]
}

/// Sum of all masses and the largest inverse of one, moments of inertia among them.
fn masses(simulation: &Simulation) -> (f64, f64) {
    let network = &simulation.built().network;
    let scalars = network.inverse_mass[..network.layout.masses]
        .iter()
        .map(|inverse| 1.0 / inverse);
    let bodies = network.bodies.iter().map(|placed| placed.body.mass());
    let links = simulation.scenario().bodies.iter().flat_map(|(_, body)| match body {
        BodySpec::Linkage(linkage) => linkage.links.as_slice(),
        _ => &[],
    });
    let all = scalars.chain(bodies).chain(links.map(|link| link.mass));
    let all = all.filter(|mass| *mass > 0.0 && mass.is_finite());
    all.fold((0.0, 0.0), |(sum, inverse): (f64, f64), mass| {
        (sum + mass, inverse.max(1.0 / mass))
    })
}

/// The implicit step closes a gap within one step, also one that is negative at the start: all masses at that speed at most.
fn set_apart(simulation: &mut Simulation) -> f64 {
    if !simulation.method().implicit() {
        return 0.0;
    }
    let (mass, gap) = match simulation.spheres() {
        Some((spheres, state)) => (spheres.mass * spheres.count as f64, state.seen(spheres).gap[0]),
        None => {
            let gaps = simulation.observations().iter().map(|seen| seen.gap);
            (masses(simulation).0, gaps.fold(0.0, f64::min))
        }
    };
    let speed = gap.min(0.0) / simulation.built().network.step;
    0.5 * mass * speed * speed
}

/// Roughly the most energy that the inputs can bring about: drivers stretch springs by all of their way and take masses and frictions along,
/// and forces push the lightest mass from the start to the end.
fn reach(simulation: &mut Simulation) -> f64 {
    let scenario = simulation.scenario();
    let duration = scenario.simulation.duration;
    if let Some(chain) = &scenario.chain {
        let drive = simulation.built().network.drives.first();
        let signals = &simulation.built().network.signals;
        let (travel, speed) = drive.map_or((0.0, 0.0), |drive| {
            way(signals.profile(drive.signal), drive.position, duration)
        });
        let block = 0.5 * chain.drive.stiffness * travel * travel + 0.5 * chain.mass * speed * speed;
        return chain.count as f64 * block;
    }
    let network = &simulation.built().network;
    let profile = |signal: usize| network.signals.profile(signal);
    let ways = network
        .drives
        .iter()
        .map(|drive| way(profile(drive.signal), drive.position, duration));
    let (travel, speeds): (Vec<f64>, Vec<f64>) = ways.unzip();
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (farthest, fastest) = (most(&travel), most(&speeds));
    let applied = network.forces.iter().map(|force| force.signal);
    let actuators = simulation.built().actuators.iter().flatten().copied();
    let forces = applied
        .chain(actuators)
        .map(|signal| profile(signal).peak(0.0, duration, SAMPLES));
    let (push, mut rubbing) = (forces.sum::<f64>(), 0.0);
    for (_, element) in &scenario.elements {
        if let Some(friction) = element.friction() {
            let limit = friction.curve.limit.greatest(fastest);
            let normal = match &friction.normal_force {
                _ if !friction.curve.limit.is_coefficient() => 1.0,
                Some(NormalForce::Profile(normal)) => normal.peak(0.0, duration, SAMPLES),
                _ => 0.0,
            };
            rubbing += limit * normal * farthest;
        }
    }
    let (mass, inverse) = masses(simulation);
    let amplitude = stretched(simulation, &travel).sqrt() + push * duration * (0.5 * inverse).sqrt();
    amplitude * amplitude + rubbing + 0.5 * mass * fastest * fastest
}

/// Energy that drivers given by position can have put in by jumping: into springs, see above, and into masses that dampers and
/// contacts take along for the time of a jump, a step or the part of it over which slopes are taken.
fn jumps(simulation: &mut Simulation) -> f64 {
    let (mass, _) = masses(simulation);
    let network = &simulation.built().network;
    let steps = simulation.steps_done();
    let (stride, mut leap, mut share) = (steps.div_ceil(MOST_POINTS).max(1), 0.0f64, 1.0f64);
    let mut travel = Vec::with_capacity(network.drives.len());
    for drive in &network.drives {
        let profile = network.signals.profile(drive.signal);
        if !drive.position || matches!(profile, Profile::Constant(_)) {
            travel.push(0.0);
            continue;
        }
        let mut last = profile.value(0.0);
        let (mut low, mut high, mut way) = (last, last, 0.0);
        for step in (stride..=steps).step_by(stride as usize) {
            let value = profile.value(network.time(step));
            way += (value - last).abs();
            leap = leap.max((value - last).abs());
            (low, high, last) = (low.min(value), high.max(value), value);
        }
        let range = high - low;
        travel.push(range);
        if range > 0.0 {
            share = share.max(way / range);
        }
    }
    if leap == 0.0 {
        return 0.0;
    }
    let speed = 10.0 * leap / network.step;
    stretched(simulation, &travel) * share * share + 0.5 * mass * speed * speed
}

/// The largest state of an inclusion, if it is out of proportion to the numbers of the scenario, and their size as [`Growth`]
/// has it.
fn largest(simulation: &Simulation) -> Option<(usize, f64)> {
    let inclusion = simulation.scenario().inclusion.as_ref()?;
    let description = inclusion.description();
    let duration = simulation.scenario().simulation.duration;
    let states = description.states.iter().map(|(_, value)| value.abs());
    let parameters = description.parameters.iter().map(|(_, value)| value.abs());
    let inputs = description
        .inputs
        .iter()
        .map(|input| input.profile.peak(0.0, duration, SAMPLES));
    let scale = states
        .chain(parameters)
        .chain(inputs)
        .chain([duration, 1.0])
        .fold(0.0, f64::max);
    let layout = &simulation.built().network.layout;
    let first = layout.first_state();
    let values = &simulation.state().values[first..first + inclusion.states().len()];
    let sizes = values.iter().map(|value| value.abs()).enumerate();
    let (index, size) = sizes.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (size > GROWTH * scale).then(|| (1 + first + index, 2.0 * libm::log(scale)))
}
