//! The run report: the results of a run as numbers and events.

use crate::analysis::recovery::Rates;
pub use crate::analysis::slip_events::{SizeBin, SlipEvent, SlipEventsReport};
use crate::analysis::steady::SteadySliding;
pub use crate::analysis::stick_slip::StickSlipReport;
use crate::analysis::stick_slip::{Region, StickSlip};
use crate::element::Observation;
use crate::integrate::march::Statistics;
use crate::scenario::{BodySpec, ElementSpec};
use crate::simulation::Simulation;
use crate::stop::Stop;
use crate::tally::{Tallies, Tally};
use crate::trace::Columns;
use serde::Serialize;
use serde_json::{Map, Value};
use stickslip_core::registry::{self, Family};

/// Events kept in a report; later ones are only counted.
pub const MOST_EVENTS: usize = 10_000;

/// A change between stick, slip and open.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Time of the first row in the new mode, s.
    pub t: f64,
    /// The element.
    pub element: String,
    /// Mode before.
    pub from: &'static str,
    /// Mode after.
    pub to: &'static str,
}

/// Results for an element.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ElementReport {
    /// Time in stick, s; only of elements that can stick.
    pub stick_time: Option<f64>,
    /// Time in slip, s.
    pub slip_time: Option<f64>,
    /// Changes of mode.
    pub transitions: Option<u64>,
    /// Energy turned into heat, J.
    pub dissipated: f64,
    /// Largest force, N; of contacts that the program finds, the largest of one pair of bodies.
    pub max_force: f64,
    /// Changes of sign of the first force component, zeros skipped; `None` for contacts that the program finds, whose pairs have no
    /// component in common.
    pub sign_changes: Option<u64>,
}

/// The energy ledger: residual = initial + input − dissipated − final.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergyReport {
    /// Kinetic, gravitational and elastic energy at the start, J.
    pub initial: f64,
    /// The same at the end, J.
    #[serde(rename = "final")]
    pub final_: f64,
    /// Work of drivers, actuators and applied forces, J.
    pub input: f64,
    /// Energy turned into heat by elements, J.
    pub dissipated: f64,
    /// Elastic part of the energy at the end, J.
    pub stored: f64,
    /// The method's own loss where it has a closed form, J.
    pub numerical: Option<f64>,
    /// What does not add up, J.
    pub residual: f64,
}

/// Results for the blocks of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainReport {
    /// How many there are.
    pub blocks: usize,
    /// Memory that they take, bytes.
    pub bytes: usize,
    /// Time in slip, mean over blocks, s.
    pub slip_time: f64,
    /// Changes between stick and slip, of all blocks.
    pub transitions: u64,
}

/// Results for many spheres.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpheresReport {
    /// How many there are.
    pub count: usize,
    /// Memory that they take, bytes.
    pub bytes: usize,
    /// Time in slip on the plane, mean over spheres, s.
    pub slip_time: f64,
    /// Time on the plane, mean over spheres, s.
    pub contact_time: f64,
    /// Changes between stick, slip and open, of all spheres.
    pub transitions: u64,
}

/// The report of a run (INTERFACE: `--json`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Title of the scenario.
    pub title: String,
    /// Version of the program.
    pub version: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Time step, s.
    pub step: f64,
    /// Steps done.
    pub steps: u64,
    /// Time reached, s.
    pub t_end: f64,
    /// Time the run took, s.
    pub seconds: f64,
    /// Value of every column at the end.
    #[serde(rename = "final")]
    pub final_: Map<String, Value>,
    /// Changes of mode, the first [`MOST_EVENTS`].
    pub events: Vec<Event>,
    /// How many there were.
    pub events_total: u64,
    /// Results for each element.
    pub elements: Map<String, Value>,
    /// The energy ledger.
    pub energy: Option<EnergyReport>,
    /// Stick-slip analysis, if asked for.
    pub stick_slip: Option<StickSlipReport>,
    /// Slip events of a chain, if asked for.
    pub slip_events: Option<SlipEventsReport>,
    /// Results for the blocks of a chain.
    pub chain: Option<ChainReport>,
    /// Results for many spheres.
    pub spheres: Option<SpheresReport>,
    /// What the internal steps have cost, for methods that choose their own.
    pub solver: Option<Statistics>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Those of them that the energy ledger gives, see [`crate::ledger`].
    #[serde(skip)]
    pub doubts: Vec<String>,
}

impl Report {
    /// Adds what the linearised equations say of steady sliding, if the run looked for stick-slip.
    /// Given up once `stop` is set; why there is nothing to say stands there as well.
    pub fn examine_steady_sliding(&mut self, simulation: &Simulation, stop: Option<&Stop>) {
        let Some(stick_slip) = &mut self.stick_slip else {
            return;
        };
        match SteadySliding::find(simulation, stop) {
            Ok(steady) => {
                stick_slip.linear_growth = Some(steady.growth);
                stick_slip.linear_frequency = Some(steady.frequency);
            }
            Err(reason) => stick_slip.linear_reason = Some(reason),
        }
    }
}

/// The friction on one axis that a signal is about: the one that has it, or else the first.
fn rubbing(simulation: &Simulation, signal: &str) -> Option<usize> {
    let elements = simulation.scenario().elements.iter().enumerate();
    let mut frictions = elements.filter(|(_, (_, element))| matches!(element, ElementSpec::Friction(_)));
    let owner = signal.split('.').next();
    let (first, rest) = (
        frictions.clone().next(),
        frictions.find(|(_, (name, _))| Some(name.as_str()) == owner),
    );
    let (index, _) = rest.or(first)?;
    (simulation.built().axes[index] == 1).then_some(index)
}

/// Whether a region can be that of the cycle: creep takes a friction that recovers at rest, inertia something that has mass.
fn applies(simulation: &Simulation, rubs: Option<usize>, region: Region) -> bool {
    let scenario = simulation.scenario();
    let recovers = |(_, element): &(String, ElementSpec)| {
        let rate = element.friction().and_then(|friction| {
            let row = registry::law(Family::Friction, &friction.law)?;
            friction.number(row.recovers_by?)
        });
        rate.is_some_and(|rate| rate > 0.0)
    };
    match (region, rubs) {
        (Region::Creep, Some(element)) => recovers(&scenario.elements[element]),
        (Region::Creep, None) => scenario.elements.iter().any(recovers),
        (Region::Inertial, Some(element)) => simulation.built().inverse_mass_felt[element] > 0.0,
        (Region::Inertial, None) => (scenario.bodies.iter()).any(|(_, body)| !matches!(body, BodySpec::Driver(_))),
    }
}

/// What a run warns of, whatever is reported of it: what was found when it was built, and what its steps met.
pub(crate) fn warnings(simulation: &Simulation) -> Vec<String> {
    let built = simulation.built().warnings.iter();
    let mut warnings: Vec<String> = built.map(|warning| warning.message.clone()).collect();
    if simulation.worst_residual() > 1e-12 {
        warnings.push(format!(
            "a coupled friction solve ended with a residual of {:.1e} of the force scale",
            simulation.worst_residual()
        ));
    }
    if let Some(name) = simulation.jammed() {
        warnings.push(format!(
            "contact \"{name}\" stopped its bodies as an impact would, though there was no impact: with so much friction they could not \
             slide (Painlevé's paradox)"
        ));
    }
    let forced = simulation.statistics().forced;
    if forced > 0 {
        warnings.push(format!(
            "{forced} internal steps were kept at min_step although their error was above the tolerance"
        ));
    }
    warnings
}

/// Watches a run step by step.
pub struct Reporter {
    tallies: Tallies,
    /// When a method that chooses its own steps was seen last, s.
    last: f64,
    events: Vec<Event>,
    events_total: u64,
    initial: (f64, f64),
    stored: Vec<f64>,
    /// The column under analysis, and the element whose slip tells what governs it.
    analysis: Option<(usize, Option<usize>, StickSlip)>,
}

impl Reporter {
    /// Begins at the present state. `columns` must be all columns of the simulation.
    pub fn new(simulation: &mut Simulation, columns: &Columns) -> Self {
        simulation.observe();
        simulation.follow_slip_events();
        let initial = simulation.energy();
        let stored = simulation.stored();
        let scenario = simulation.scenario();
        let has_mode = |element: &ElementSpec| {
            matches!(
                element,
                ElementSpec::Friction(_) | ElementSpec::Contact(_) | ElementSpec::Stop(_) | ElementSpec::Found(_)
            ) || element.friction().is_some()
        };
        let analysis = scenario.stick_slip.as_ref().and_then(|spec| {
            let column = columns.names().iter().position(|name| *name == spec.signal)?;
            Some((column, rubbing(simulation, &spec.signal), StickSlip::new(spec.clone())))
        });
        let tally = |((_, element), seen): (&(String, ElementSpec), &Observation)| Tally {
            mode: seen.mode,
            time_in: [0.0; 2],
            transitions: 0,
            largest: 0.0,
            sign: 0.0,
            sign_changes: 0,
            has_mode: has_mode(element),
        };
        let elements = scenario.elements.iter().zip(simulation.observations());
        Reporter {
            tallies: Tallies {
                elements: elements.map(tally).collect(),
                changes: Vec::new(),
                broken: false,
            },
            last: simulation.time(),
            events: Vec::new(),
            events_total: 0,
            initial,
            stored,
            analysis,
        }
    }

    /// Whether an element has shown a force, a normal force or a gap that is not finite.
    pub(crate) fn saw_broken(&self) -> bool {
        self.tallies.broken
    }

    /// Takes note of the step that just ended.
    pub fn watch(&mut self, simulation: &Simulation, columns: &Columns) {
        let time = simulation.time();
        let length = if simulation.method().chooses_steps() {
            time - self.last
        } else {
            1.0
        };
        self.last = time;
        self.tallies
            .note(simulation.observations(), simulation.steps_done(), length);
        if !self.tallies.changes.is_empty() {
            self.take_changes(simulation, |_| time);
        }
        if let Some((column, rubs, analysis)) = &mut self.analysis {
            let slip = rubs.map(|element| simulation.observations()[element].velocity[0]);
            analysis.watch(time, columns.value(simulation, *column), slip);
        }
    }

    /// Advances up to `most` steps in one go where the network is so small that its steps keep the sums of the report by themselves.
    /// Returns how many were done; 0 leaves them to [`Reporter::watch`].
    pub(crate) fn advance(&mut self, simulation: &mut Simulation, most: u64) -> u64 {
        if self.analysis.is_some() {
            return 0;
        }
        let done = simulation.advance_tallied(most, &mut self.tallies);
        if !self.tallies.changes.is_empty() {
            let grid = *simulation.built().network.signals.grid();
            self.take_changes(simulation, |step| grid.time(2 * step));
        }
        done
    }

    /// Makes events of the changes of mode.
    fn take_changes(&mut self, simulation: &Simulation, time: impl Fn(u64) -> f64) {
        for change in self.tallies.changes.drain(..) {
            self.events_total += 1;
            if self.events.len() < MOST_EVENTS {
                self.events.push(Event {
                    t: time(change.step),
                    element: simulation.scenario().elements[change.element].0.clone(),
                    from: change.from.word(),
                    to: change.to.word(),
                });
            }
        }
    }

    /// Closes the report.
    pub fn finish(self, simulation: &mut Simulation, columns: &Columns, seconds: f64) -> Report {
        let (mechanical, elastic) = simulation.energy();
        let slip_events = simulation.slip_events();
        let stored = simulation.stored();
        let work = simulation.work().clone();
        let network = &simulation.built().network;
        let (mut dissipated_all, mut input) = (0.0, work.input);
        let written = &simulation.scenario().elements;
        let mut reports = vec![ElementReport::default(); self.tallies.elements.len()];
        let chain = simulation
            .chain()
            .map(|(chain, state)| (*state.ledger(), chain.count(), state.bytes(chain)));
        for (i, (delivered, own)) in work.delivered.iter().zip(&work.own).enumerate() {
            if network.sources.contains(&i) {
                continue;
            }
            let mut dissipated = -delivered - (stored[i] - self.stored[i]) + own;
            // A controller is no heater that runs backwards.
            if dissipated < 0.0 && written.get(i).and_then(|(_, element)| element.own_stores()) == Some(false) {
                input -= dissipated;
                dissipated = 0.0;
            }
            dissipated_all += dissipated;
            if let Some(element) = reports.get_mut(i) {
                element.dissipated = dissipated;
            }
        }
        let closes = simulation.method().implicit() && network.has_numerical_part();
        let initial = self.initial.0 + self.initial.1;
        let final_ = mechanical + elastic;
        let residual = initial + input - dissipated_all - final_;
        // Of linkages a part is known, which is worth something if it explains the residual.
        let own = closes.then(|| work.kinetic + work.displaced + work.driven - work.own.iter().sum::<f64>());
        let explains = |own: &f64| network.linkages.is_empty() || (residual - own).abs() <= residual.abs();
        let energy = EnergyReport {
            initial,
            final_,
            input,
            dissipated: dissipated_all,
            stored: elastic,
            numerical: own.filter(explains),
            residual,
        };
        let spheres = simulation
            .spheres()
            .map(|(_, state)| (*state.ledger(), state.balls().len(), state.bytes()));
        let energy = match &spheres {
            Some((ledger, ..)) => EnergyReport {
                dissipated: ledger.dissipated,
                numerical: Some(ledger.numerical),
                residual: initial - ledger.dissipated - final_,
                ..energy
            },
            None => energy,
        };
        let energy = match &chain {
            Some((ledger, ..)) => EnergyReport {
                input: ledger.input,
                dissipated: ledger.dissipated,
                numerical: Some(ledger.numerical),
                residual: initial + ledger.input - ledger.dissipated - final_,
                ..energy
            },
            None => energy,
        };
        let scenario = simulation.scenario();
        let chosen = simulation.method().chooses_steps();
        let unit = if chosen { 1.0 } else { simulation.built().network.step };
        let mut elements = Map::new();
        for (i, ((name, spec), tally)) in scenario.elements.iter().zip(&self.tallies.elements).enumerate() {
            let element = &mut reports[i];
            if tally.has_mode {
                let [stick, slip] = tally.time_in.map(|time| time * unit);
                (element.stick_time, element.slip_time) = (Some(stick), Some(slip));
                element.transitions = Some(tally.transitions);
            }
            element.max_force = tally.largest * simulation.built().first_ratio[i].abs();
            element.sign_changes = (!matches!(spec, ElementSpec::Found(_))).then_some(tally.sign_changes);
            let value = serde_json::to_value(&*element).unwrap_or(Value::Null);
            elements.insert(name.clone(), value);
        }
        let mut row = Vec::new();
        columns.read(simulation, &mut row);
        let final_row = columns
            .names()
            .iter()
            .cloned()
            .zip(row.into_iter().map(Value::from))
            .collect();
        let mut warnings = warnings(simulation);
        let smallest = scenario.slip_events.and_then(|spec| spec.smallest);
        if let Some((events, smallest)) = slip_events.as_ref().zip(smallest) {
            warnings.extend(events.doubts(smallest));
        }
        let statistics = simulation.statistics();
        Report {
            title: scenario.title.clone(),
            version: env!("CARGO_PKG_VERSION"),
            integrator: simulation.method().row().name,
            step: simulation.built().network.step,
            steps: simulation.steps_done(),
            t_end: simulation.time(),
            seconds,
            final_: final_row,
            events: self.events,
            events_total: match (chain, spheres) {
                (Some((ledger, ..)), _) => ledger.changes,
                (_, Some((ledger, ..))) => ledger.changes,
                _ => self.events_total,
            },
            elements,
            // Equations say nothing of energy.
            energy: scenario.inclusion.is_none().then_some(energy),
            stick_slip: self.analysis.and_then(|(_, rubs, analysis)| {
                let rates = Rates::of(scenario);
                let found = analysis.finish()?;
                Some(StickSlipReport {
                    region: found.region.filter(|region| applies(simulation, rubs, *region)),
                    drive_rate: rates.map(|rates| rates.drive),
                    recovery_rate: rates.map(|rates| rates.recovery),
                    ..found
                })
            }),
            slip_events,
            chain: chain.map(|(ledger, blocks, bytes)| ChainReport {
                blocks,
                bytes,
                slip_time: ledger.slips as f64 / blocks as f64 * unit,
                transitions: ledger.changes,
            }),
            spheres: spheres.map(|(ledger, count, bytes)| SpheresReport {
                count,
                bytes,
                slip_time: ledger.slips as f64 / count as f64 * unit,
                contact_time: ledger.touches as f64 / count as f64 * unit,
                transitions: ledger.changes,
            }),
            solver: chosen.then_some(statistics),
            warnings,
            doubts: Vec::new(),
        }
    }
}
