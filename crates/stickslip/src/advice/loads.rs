//! Loads on frictions with everything stuck, and whether they hold.

use super::modes::{bristle_modes, load_lines};
use super::statics::{Island, MOST_FIRM_ROWS, MOST_ROWS, Row};
use super::{FrictionLine, angular, levels, stiffness};
use crate::build::Place;
use crate::element::contact::{Geometry, Touch};
use crate::network::port::Attachment;
use crate::network::rigid::tangents;
use crate::network::scene::Found as FoundTouch;
use crate::network::stage::apply;
use crate::network::{Network, Scratch};
use crate::profile::Profile;
use crate::scenario::{
    BodySpec, ElementSpec, EllipseSpec, LimitSpec, NormalForce, NormalLawSpec, Number, ParameterSpec, ParameterValue,
    Port, Scenario,
};
use crate::simulation::Simulation;
use nalgebra::{DMatrix, DVector, Vector3};
use std::collections::BTreeSet;
use std::ops::Range;
use stickslip_core::contact::NormalLaw;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::friction::FrictionLaw;
use stickslip_core::friction::elliptic::Ellipse;
use stickslip_core::friction::martins_oden::MartinsOden;

/// Rubbing directions of one element: rows of J from `first`, one per axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) element: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// A touching point: its normal row, and its tangential rows after it.
#[derive(Clone, Copy, Debug)]
struct TouchingPoint {
    first: usize,
    tangents: usize,
}

/// How a contact stands at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// Some of its points touch.
    Closed,
    /// Nothing of its body touches anything: counted as if it lay there.
    Landed,
    /// Its body touches something else.
    Open,
}

/// Two bodies of a scene that touch at the start.
#[derive(Clone, Debug)]
pub(super) struct ScenePair {
    /// Number of `[contacts]` among the elements.
    element: usize,
    names: [String; 2],
    bodies: [Attachment; 2],
    points: Range<usize>,
    /// Static coefficient of friction, where there is any.
    friction: Option<f64>,
    /// Whether a body moves although the contact holds.
    gives_way: bool,
}

/// The scenario without its frictions, held at its initial positions.
pub(super) struct Held {
    pub(super) simulation: Simulation,
    /// Whether the scenario itself runs by the implicit step.
    implicit: bool,
    /// Frictions and gears.
    pub(super) rows: Vec<Rows>,
    points: Vec<TouchingPoint>,
    /// The points of each element.
    points_of: Vec<Range<usize>>,
    /// Contacts whose body moves although they hold.
    gives_way: Vec<usize>,
    stands: Vec<Option<Stand>>,
    /// Bodies of a scene that touch at the start.
    pub(super) pairs: Vec<ScenePair>,
    /// The force that each friction element can hold, where it is the same all the time.
    always_held: Vec<Option<f64>>,
    /// J: velocities counted from the first, and the share of each in the row.
    jacobian: Vec<Vec<(usize, f64)>>,
    pub(super) islands: Vec<Island>,
    /// Island of each row; `None` where nothing is free to move or the island is too large.
    island: Vec<Option<usize>>,
    /// Of rows that are not solved because too many hang together: how many.
    pub(super) left_out: Vec<Option<usize>>,
}

/// One moment of a scan.
pub(super) struct Moment<'a> {
    t: f64,
    /// Whether a profile of a driver jumps or bends in the step before.
    sudden: bool,
    /// Force along each row; not a number where none was found.
    pub(super) forces: &'a [f64],
    /// Largest force among those that hang together with each row.
    most: &'a [f64],
    /// Whether the force of each row follows from statics.
    known: &'a [bool],
    /// Compressive force of each element that is no contact or stop.
    compression: &'a [f64],
}

pub(super) const NEGLIGIBLE: f64 = 1e-12;
/// Points within this part of the size of a body touch.
const TOUCHING: f64 = 0.01;
/// The same of shapes of a scene, whose gaps are exact: positions in decimals are rounded.
const CLOSED: f64 = 1e-6;
/// Samples of a load along the run when its peak is looked for.
const SAMPLES: u64 = 4000;
/// Multiplications that a scan may take, about.
pub(super) const BUDGET: u64 = 20_000_000;
/// Breaks of each profile that are looked at one by one.
const BREAKS: usize = 100;

impl Held {
    pub(super) fn new(simulation: &Simulation) -> Option<Held> {
        let scenario = simulation.scenario();
        let rubs = |(_, element): &(String, ElementSpec)| element.friction().is_some();
        if !(scenario.elements.iter().any(rubs) || simulation.has_scene()) {
            return None;
        }
        let smooth = Simulation::new(without_friction(scenario)).ok()?;
        let mut scratch = smooth.built().network.scratch();
        rest(&smooth.built().network, &mut scratch, &smooth.built().network.initial);
        place(&smooth.built().network, &mut scratch);
        let mut held = Held {
            implicit: simulation.method().implicit(),
            rows: Vec::new(),
            points: Vec::new(),
            points_of: vec![0..0; scenario.elements.len()],
            gives_way: Vec::new(),
            stands: vec![None; scenario.elements.len()],
            pairs: Vec::new(),
            always_held: (scenario.elements.iter())
                .map(|(_, element)| always_held(scenario, element))
                .collect(),
            jacobian: Vec::new(),
            islands: Vec::new(),
            island: Vec::new(),
            left_out: Vec::new(),
            simulation: smooth,
        };
        let mut kinds = Vec::new();
        held.add_pairs(&mut kinds);
        held.add_stops(&mut kinds);
        held.add_contacts(scenario, &scratch, &mut kinds);
        held.add_scene(&simulation.built().network, &scratch, &mut kinds);
        held.find_islands(&mut scratch, &kinds)?;
        Some(held)
    }

    /// One row per axis of every friction element between scalar motions, and of every gear, which passes loads on.
    fn add_pairs(&mut self, kinds: &mut Vec<Row>) {
        let built = self.simulation.built();
        for (index, (_, element)) in self.simulation.scenario().elements.iter().enumerate() {
            let (ratio, kind) = match element {
                ElementSpec::Friction(spec) => (spec.ratio.unwrap_or([1.0, 1.0]), Row::Rubbing),
                ElementSpec::Gear(spec) => (spec.ratio, Row::Tied),
                _ => continue,
            };
            let ends = element.between().map(|port| velocity_of(&self.simulation, port));
            let (first, count) = (self.jacobian.len(), built.axes[index]);
            self.rows.push(Rows {
                element: index,
                first,
                count,
            });
            for axis in 0..count {
                self.jacobian.push(pair_row(ends, ratio, axis));
                kinds.push(kind);
            }
        }
    }

    /// Stops that are reached at the start.
    fn add_stops(&mut self, kinds: &mut Vec<Row>) {
        let built = self.simulation.built();
        for (index, (_, element)) in self.simulation.scenario().elements.iter().enumerate() {
            let ElementSpec::Stop(spec) = element else { continue };
            let ratio = spec.ratio.unwrap_or([1.0, 1.0]);
            let ends = spec.between.map(|port| velocity_of(&self.simulation, port));
            // Coordinates with a stop are scalars, whose position and velocity have the same number.
            let at = |end: Option<usize>| end.map_or(0.0, |v| built.network.initial[v]);
            let position = ratio[0] * at(ends[0]) - ratio[1] * at(ends[1]);
            let before = self.points.len();
            for (gap, sign) in [
                (spec.lower.map(|lower| position - lower), 1.0),
                (spec.upper.map(|upper| upper - position), -1.0),
            ] {
                let near = NEGLIGIBLE * (1.0 + position.abs());
                if gap.is_some_and(|gap| gap <= near) {
                    let point = TouchingPoint {
                        first: self.jacobian.len(),
                        tangents: 0,
                    };
                    kinds.push(Row::Normal(self.points.len()));
                    self.points.push(point);
                    self.jacobian.push(pair_row(ends, ratio.map(|r| sign * r), 0));
                }
            }
            self.points_of[index] = before..self.points.len();
        }
    }

    /// Points that touch, with friction where `scenario` has it.
    fn add_contacts(&mut self, scenario: &Scenario, scratch: &Scratch, kinds: &mut Vec<Row>) {
        let contacts = &self.simulation.built().contacts;
        let network = &self.simulation.built().network;
        let frames_of = |geometry: &Geometry| {
            let frame = |body: Attachment| body.frame(network, &scratch.trial, &scratch.frames, &scratch.linkages);
            [frame(geometry.first), frame(geometry.second)]
        };
        let touches = |geometry: &Geometry| -> Vec<Touch> {
            let [first, second] = frames_of(geometry);
            (0..geometry.points.len())
                .map(|i| geometry.touch(i, &first, &second))
                .collect()
        };
        let touches: Vec<Vec<Touch>> = contacts.iter().map(|(_, geometry)| touches(geometry)).collect();
        let least = |touches: &Vec<Touch>| touches.iter().map(|touch| touch.gap).fold(f64::INFINITY, f64::min);
        let gaps: Vec<f64> = touches.iter().map(least).collect();
        let gap = |i: usize| gaps[i];
        let reach = |i: usize| {
            let geometry = &contacts[i].1;
            let size = geometry.points.iter().map(Vector3::norm).fold(0.0, f64::max) + geometry.radius;
            TOUCHING * size + NEGLIGIBLE
        };
        let closed = |i: usize| gap(i) <= reach(i);
        let mut local = vec![usize::MAX; network.layout.len()];
        for (i, v) in network.layout.velocities().enumerate() {
            local[v] = i;
        }
        let longest = network.linkages.iter().map(|linkage| linkage.velocities).max();
        let mut room = vec![0.0; 3 * longest.unwrap_or(0)];
        let mut row = vec![0.0; network.layout.velocities];
        for (i, (element, geometry)) in contacts.iter().enumerate() {
            let of_body = |j: &usize| contacts[*j].1.first == geometry.first || contacts[*j].1.second == geometry.first;
            let stand = if closed(i) {
                Stand::Closed
            } else if (0..contacts.len()).filter(of_body).any(closed) {
                Stand::Open
            } else {
                let nearest = (0..contacts.len())
                    .filter(of_body)
                    .map(gap)
                    .fold(f64::INFINITY, f64::min);
                if gap(i) <= nearest + reach(i) {
                    Stand::Landed
                } else {
                    Stand::Open
                }
            };
            self.stands[*element] = Some(stand);
            if stand == Stand::Open {
                continue;
            }
            let planar = matches!(geometry.first, Attachment::Point { axes: 2, .. });
            let friction = match &scenario.elements[*element].1 {
                ElementSpec::Contact(spec) => spec.friction.as_ref(),
                _ => None,
            };
            let rough = friction.is_some();
            let grain = friction
                .and_then(|friction| friction.ellipse.as_ref())
                .map(EllipseSpec::grain);
            let [first, second] = frames_of(geometry);
            let count = match (rough, planar) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            };
            let before = self.points.len();
            let limit = if stand == Stand::Closed {
                gap(i).max(0.0) + reach(i)
            } else {
                f64::INFINITY
            };
            for touch in touches[i].iter().filter(|touch| touch.gap <= limit) {
                let along = grain.and_then(|grain| grain.along(&touch.normal, &first, &second));
                let (t1, t2) = match along.map(|ellipse| Vector3::from(ellipse.direction)) {
                    Some(along) => (along, touch.normal.cross(&along)),
                    None => tangents(&touch.normal, planar),
                };
                let directions = [touch.normal, t1, t2];
                let number = self.points.len();
                self.points.push(TouchingPoint {
                    first: self.jacobian.len(),
                    tangents: count,
                });
                for (axis, direction) in directions[..=count].iter().enumerate() {
                    row.fill(0.0);
                    for (body, sign) in [(geometry.first, 1.0), (geometry.second, -1.0)] {
                        // A body in the air is taken as lying on its face: forces through its centre.
                        let point = match body {
                            Attachment::Rigid(b) if stand == Stand::Landed => scratch.frames[b].position,
                            _ => touch.point,
                        };
                        let (frames, linkages) = (&scratch.frames, &scratch.linkages);
                        body.add_row(
                            network, frames, linkages, &point, direction, sign, &local, &mut row, &mut room,
                        );
                    }
                    let entries = row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0);
                    self.jacobian.push(entries.collect());
                    kinds.push(if axis == 0 {
                        Row::Normal(number)
                    } else {
                        Row::Tangent(number)
                    });
                }
                if stand == Stand::Landed {
                    break;
                }
            }
            self.points_of[*element] = before..self.points.len();
        }
    }

    /// Points at which bodies of a scene touch. `with` is the network that has the scene; bodies have the same numbers in both.
    fn add_scene(&mut self, with: &Network, scratch: &Scratch, kinds: &mut Vec<Row>) {
        let (Some(scene), Some(room)) = (&with.scene, with.detect(&with.initial)) else {
            return;
        };
        let network = &self.simulation.built().network;
        let mut local = vec![usize::MAX; network.layout.len()];
        for (i, v) in network.layout.velocities().enumerate() {
            local[v] = i;
        }
        let longest = network.linkages.iter().map(|linkage| linkage.velocities).max();
        let mut room_of_row = vec![0.0; 3 * longest.unwrap_or(0)];
        let mut row = vec![0.0; network.layout.velocities];
        let size = |collider: usize| scene.colliders[collider].solid.size();
        let closed = |found: &&FoundTouch| {
            let [a, b] = found.colliders.map(size);
            found.touch.gap <= CLOSED * a.min(b)
        };
        let mut touching: Vec<&FoundTouch> = room.found.iter().filter(closed).collect();
        touching.sort_by_key(|found| found.colliders.map(|c| scene.colliders[c].group));
        for pair in touching.chunk_by(|a, b| scene.names(a) == scene.names(b)) {
            let first = self.points.len();
            let colliders = pair[0].colliders.map(|c| &scene.colliders[c]);
            let friction = pair.iter().filter_map(|found| scene.friction(found));
            let friction = friction.map(|[holding, _]| holding).reduce(f64::min);
            for found in pair {
                let (t1, t2) = tangents(&found.touch.normal, false);
                let directions = [found.touch.normal, t1, t2];
                let tangents = if scene.friction(found).is_some() { 2 } else { 0 };
                let number = self.points.len();
                self.points.push(TouchingPoint {
                    first: self.jacobian.len(),
                    tangents,
                });
                for (axis, direction) in directions[..=tangents].iter().enumerate() {
                    row.fill(0.0);
                    for (collider, sign) in found.colliders.into_iter().zip([1.0, -1.0]) {
                        let body = scene.colliders[collider].body;
                        let (frames, linkages) = (&scratch.frames, &scratch.linkages);
                        body.add_row(
                            network,
                            frames,
                            linkages,
                            &found.touch.point,
                            direction,
                            sign,
                            &local,
                            &mut row,
                            &mut room_of_row,
                        );
                    }
                    let entries = row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0);
                    self.jacobian.push(entries.collect());
                    kinds.push(if axis == 0 {
                        Row::Normal(number)
                    } else {
                        Row::Tangent(number)
                    });
                }
            }
            self.pairs.push(ScenePair {
                element: scene.element,
                names: scene.names(pair[0]).map(str::to_string),
                bodies: colliders.map(|collider| collider.body),
                points: first..self.points.len(),
                friction,
                gives_way: false,
            });
        }
    }

    /// Joins rows that move the same free bodies, and finds how each answers each. `None` if a number is not finite.
    fn find_islands(&mut self, scratch: &mut Scratch, kinds: &[Row]) -> Option<()> {
        let limits = self.limits();
        let network = &self.simulation.built().network;
        let velocities = network.layout.velocities();
        // The body of each velocity; none for drivers, which pass nothing on.
        let mut body: Vec<Option<usize>> = (0..velocities.len()).map(Some).collect();
        for v in network.layout.driver_velocities() {
            body[v - velocities.start] = None;
        }
        let linkages = network.linkages.iter().map(|linkage| (linkage.v, linkage.velocities));
        let bodies = network.bodies.iter().map(|body| (body.v, 6));
        let own = network.own_bodies.iter().map(|own| (own.v, own.count));
        for (v, count) in linkages.chain(bodies).chain(own) {
            for slot in &mut body[v - velocities.start..v - velocities.start + count] {
                *slot = Some(v - velocities.start);
            }
        }
        let mut groups = Groups::new(velocities.len());
        for row in &self.jacobian {
            let mut bodies = row.iter().filter_map(|(v, _)| body[*v]);
            if let Some(first) = bodies.next() {
                bodies.for_each(|other| groups.join(first, other));
            }
        }
        // Islands in the order of their first row.
        let mut numbers = vec![usize::MAX; velocities.len()];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (i, row) in self.jacobian.iter().enumerate() {
            let Some(first) = row.iter().find_map(|(v, _)| body[*v]) else {
                continue;
            };
            let root = groups.root(first);
            if numbers[root] == usize::MAX {
                numbers[root] = members.len();
                members.push(Vec::new());
            }
            members[numbers[root]].push(i);
        }
        self.left_out = vec![None; self.jacobian.len()];
        self.island = vec![None; self.jacobian.len()];
        members.retain(|rows| {
            let touches = rows.iter().any(|&row| matches!(kinds[row], Row::Normal(_)));
            let most = if touches { MOST_ROWS } else { MOST_FIRM_ROWS };
            let small = rows.len() <= most;
            if !small {
                rows.iter().for_each(|&row| self.left_out[row] = Some(rows.len()));
            }
            small
        });
        let largest = members.iter().map(Vec::len).max().unwrap_or(0);
        let mut compliances: Vec<DMatrix<f64>> = members
            .iter()
            .map(|rows| DMatrix::zeros(rows.len(), rows.len()))
            .collect();
        let unloaded = self.accelerations(scratch, &[]);
        for k in 0..largest {
            // One row of every island at a time: islands do not feel each other.
            let pushed: Vec<(usize, f64)> = members
                .iter()
                .filter_map(|rows| rows.get(k).map(|&row| (row, 1.0)))
                .collect();
            let answer = self.accelerations(scratch, &pushed);
            for (rows, matrix) in members.iter().zip(&mut compliances).filter(|(rows, _)| k < rows.len()) {
                for (j, &row) in rows.iter().enumerate() {
                    matrix[(j, k)] = self.along(row, |v| answer[v] - unloaded[v]);
                }
            }
        }
        for (rows, matrix) in members.into_iter().zip(compliances) {
            if !matrix.iter().all(|x| x.is_finite()) {
                return None;
            }
            let matrix = 0.5 * (&matrix + matrix.transpose());
            // A direction in which nothing gives way bears no load that statics knows.
            let soft: Vec<usize> = (0..rows.len()).filter(|&i| matrix[(i, i)] > 0.0).collect();
            let matrix = matrix.select_rows(&soft).select_columns(&soft);
            let rows: Vec<usize> = soft.into_iter().map(|i| rows[i]).collect();
            let kinds = rows.iter().map(|&row| kinds[row]).collect();
            let limits = rows.iter().map(|&row| limits[row]).collect();
            let count = rows.len();
            match Island::new(rows, kinds, limits, matrix) {
                Ok(island) => {
                    let number = Some(self.islands.len());
                    island.rows.iter().for_each(|&row| self.island[row] = number);
                    self.islands.push(island);
                }
                Err(rows) => rows.iter().for_each(|&row| self.left_out[row] = Some(count)),
            }
        }
        Some(())
    }

    /// The force that each row of a friction element can hold, where it is the same all the time.
    fn limits(&self) -> Vec<Option<f64>> {
        let mut limits = vec![None; self.jacobian.len()];
        for rows in &self.rows {
            limits[rows.first..rows.first + rows.count].fill(self.always_held[rows.element]);
        }
        limits
    }

    /// A row of J times velocities or accelerations.
    fn along(&self, row: usize, of: impl Fn(usize) -> f64) -> f64 {
        self.jacobian[row].iter().map(|&(v, share)| share * of(v)).sum()
    }

    /// Accelerations in the placement of the scratch under forces along rows, without any other load.
    fn accelerations(&self, scratch: &mut Scratch, forces: &[(usize, f64)]) -> Vec<f64> {
        let network = &self.simulation.built().network;
        let velocities = network.layout.velocities();
        scratch.load[velocities.clone()].fill(0.0);
        for (linkage, scratch) in network.linkages.iter().zip(&mut scratch.linkages) {
            linkage.body.clear_loads(scratch);
        }
        for &(row, force) in forces {
            for &(v, share) in &self.jacobian[row] {
                scratch.load[velocities.start + v] += share * force;
            }
        }
        network.accelerate_in(scratch);
        scratch.rate[velocities].to_vec()
    }

    /// Multiplications that a moment of a scan takes, about.
    pub(super) fn cost(&self) -> u64 {
        let islands: usize = self.islands.iter().map(|island| island.rows.len().pow(2)).sum();
        (self.simulation.built().network.layout.len() + islands) as u64
    }

    /// Steps at which the run is looked at: evenly, and where profiles jump or bend.
    fn moments(&self) -> BTreeSet<u64> {
        let built = self.simulation.built();
        let network = &built.network;
        let signals = &network.signals;
        let constant = |signal: usize| matches!(signals.profile(signal), Profile::Constant(_));
        if network.drives.is_empty() && (0..signals.len()).all(constant) {
            return BTreeSet::from([0]);
        }
        let samples = (BUDGET / self.cost()).clamp(16, SAMPLES);
        let stride = built.steps.div_ceil(samples).max(1);
        let mut steps: BTreeSet<u64> = (0..=built.steps)
            .step_by(stride.min(usize::MAX as u64) as usize)
            .collect();
        let end = network.time(built.steps);
        for signal in 0..signals.len() {
            let mut t = 0.0;
            for _ in 0..BREAKS {
                t = signals.profile(signal).next_break(t);
                if t.is_nan() || t > end {
                    break;
                }
                let step = (t / network.step) as u64;
                steps.extend([step, step + 1].into_iter().filter(|&step| step <= built.steps));
            }
        }
        steps
    }

    /// Calls `each` at every one of these steps, which grow.
    pub(super) fn scan(&mut self, steps: impl IntoIterator<Item = u64>, mut each: impl FnMut(&Moment<'_>)) {
        let mut islands = std::mem::take(&mut self.islands);
        let network = &self.simulation.built().network;
        let mut scratch = network.scratch();
        let mut state = network.initial.clone();
        let velocities = network.layout.velocities();
        let mut last = 0;
        let mut gives_way = std::mem::take(&mut self.gives_way);
        let mut moving_pairs = None;
        let mut forces = vec![0.0; self.jacobian.len()];
        let mut most = vec![0.0; self.jacobian.len()];
        let mut known = vec![false; self.jacobian.len()];
        for step in steps {
            self.move_drivers(last, step, &mut state);
            last = step;
            rest(network, &mut scratch, &state);
            // By itself: what is sampled on the grid looks ahead to steps that are not asked for.
            network.signals.sample_at(network.time(step), &mut scratch.signals);
            let (accelerations, sudden) = self.place_drivers(step, &mut scratch);
            place(network, &mut scratch);
            apply::<false>(network, &mut scratch, 0.0);
            network.accelerate_in(&mut scratch);
            for (v, acceleration) in accelerations {
                scratch.rate[v] = acceleration;
            }
            let rate = &scratch.rate[velocities.clone()];
            for island in &mut islands {
                if let [row] = island.rows[..] {
                    let held = island.hold_alone(self.along(row, |v| rate[v]));
                    (forces[row], known[row]) = (held.unwrap_or(f64::NAN), held.is_some());
                    most[row] = held.map_or(0.0, f64::abs);
                    continue;
                }
                let pushed = DVector::from_iterator(
                    island.rows.len(),
                    island.rows.iter().map(|&row| self.along(row, |v| rate[v])),
                );
                let held = island.hold(&pushed);
                let largest = held.as_ref().map_or(0.0, |(force, _)| force.amax());
                for (i, &row) in island.rows.iter().enumerate() {
                    most[row] = largest;
                    (forces[row], known[row]) = match &held {
                        Some((force, known)) => (force[i], known[i]),
                        None => (f64::NAN, false),
                    };
                }
            }
            if step == 0 {
                let (contacts, pairs) = self.moving(&mut scratch, &forces);
                (gives_way, moving_pairs) = (contacts, Some(pairs));
            }
            each(&Moment {
                t: network.time(step),
                sudden,
                forces: &forces,
                most: &most,
                known: &known,
                compression: &scratch.compression,
            });
        }
        self.islands = islands;
        self.gives_way = gives_way;
        for (pair, moves) in self.pairs.iter_mut().zip(moving_pairs.into_iter().flatten()) {
            pair.gives_way = moves;
        }
    }

    /// Contacts whose body accelerates under the loads of the scratch and these forces along the rows, and whether bodies of each pair do.
    fn moving(&self, scratch: &mut Scratch, forces: &[f64]) -> (Vec<usize>, Vec<bool>) {
        let built = self.simulation.built();
        let network = &built.network;
        let first = network.layout.positions;
        for (row, force) in self.jacobian.iter().zip(forces) {
            for &(v, share) in row {
                scratch.load[first + v] += share * force;
            }
        }
        network.accelerate_in(scratch);
        let size = network.world_gravity.norm().max(f64::MIN_POSITIVE);
        let moves = |body: Attachment| match body {
            Attachment::Rigid(body) => {
                let v = network.bodies[body].v;
                scratch.rate[v..v + 6].iter().any(|a| a.abs() > 1e-6 * size)
            }
            _ => false,
        };
        let contacts = built.contacts.iter();
        let contacts = contacts
            .filter(|(element, geometry)| self.stands[*element] == Some(Stand::Closed) && moves(geometry.first))
            .map(|(element, _)| *element);
        let pairs = self.pairs.iter().map(|pair| pair.bodies.into_iter().any(moves));
        (contacts.collect(), pairs.collect())
    }

    /// Moves drivers given by velocity from one step to another: as the implicit step does, by the velocity at its end,
    /// or to second order.
    fn move_drivers(&self, from: u64, to: u64, state: &mut [f64]) {
        let network = &self.simulation.built().network;
        if to == from {
            return;
        }
        let pieces = (to - from).min(16);
        let at =
            |piece: u64| network.time(from) + (network.time(to) - network.time(from)) * (piece as f64 / pieces as f64);
        for drive in network.drives.iter().filter(|drive| !drive.position) {
            let speed = |t: f64| network.signals.profile(drive.signal).value(t);
            for piece in 1..=pieces {
                let (before, now) = (at(piece - 1), at(piece));
                let single = self.implicit && pieces == to - from;
                let mean = if single {
                    speed(now)
                } else {
                    0.5 * (speed(before) + speed(now))
                };
                state[drive.coordinate.q] += mean * (now - before);
            }
        }
    }

    /// Puts drivers where they are at a step, with their velocity in the step that ends there: of a position that jumps, the
    /// jump over the step. Returns their accelerations, and whether a profile jumps or bends in that step.
    fn place_drivers(&self, step: u64, scratch: &mut Scratch) -> (Vec<(usize, f64)>, bool) {
        let network = &self.simulation.built().network;
        let length = network.step;
        let (now, before) = (network.time(step), network.time(step.saturating_sub(1)));
        let mut sudden = false;
        let mut accelerations = Vec::new();
        for drive in &network.drives {
            let profile = network.signals.profile(drive.signal);
            sudden |= step > 0 && profile.next_break(before) <= now;
            let (position, velocity, acceleration);
            if drive.position {
                let [earlier, later] = if step > 0 { [before, now] } else { [now, now + length] };
                let moved = profile.value(later) - profile.value(earlier);
                let slopes = [earlier, later].map(|t| profile.slope(t));
                // Of a position that jumps, neither slope says anything.
                let jumps = slopes
                    .iter()
                    .all(|slope| (moved - slope * length).abs() > 0.5 * moved.abs());
                position = Some(profile.value(now));
                velocity = match (jumps, step) {
                    (true, 1..) => moved / length,
                    (_, 0) => slopes[0],
                    _ => slopes[1],
                };
                acceleration = if jumps {
                    (moved / length - slopes[0]) / length
                } else {
                    (slopes[1] - slopes[0]) / length
                };
            } else {
                position = None;
                velocity = profile.value(now);
                acceleration = if sudden {
                    (velocity - profile.value(before)) / length
                } else {
                    profile.slope(now)
                };
            }
            if let Some(position) = position {
                scratch.trial[drive.coordinate.q] = position;
            }
            scratch.trial[drive.coordinate.v] = velocity;
            accelerations.push((drive.coordinate.v, acceleration));
        }
        (accelerations, sudden)
    }

    /// What is needed to read a moment.
    fn reader(&self) -> Reader {
        let solved = self
            .points
            .iter()
            .map(|point| self.island[point.first].is_some())
            .collect();
        Reader {
            points: self.points.clone(),
            points_of: self.points_of.clone(),
            solved,
        }
    }

    /// Whether something rubs on a driver: its acceleration goes through all that hangs together.
    fn drives_surfaces(&self) -> bool {
        let scenario = self.simulation.scenario();
        let driver =
            |port: &Port| matches!(port, Port::Body(body) if matches!(scenario.bodies[*body].1, BodySpec::Driver(_)));
        let rubs = |element: &ElementSpec| matches!(element, ElementSpec::Contact(_) | ElementSpec::Friction(_));
        let mut elements = scenario.elements.iter().map(|(_, element)| element);
        elements.any(|element| rubs(element) && element.between().iter().any(driver))
    }
}

/// Forces of contacts at a moment.
struct Reader {
    points: Vec<TouchingPoint>,
    points_of: Vec<Range<usize>>,
    /// Whether forces were found at each point.
    solved: Vec<bool>,
}

impl Reader {
    fn points(&self, element: usize) -> &[TouchingPoint] {
        &self.points[self.points_of[element].clone()]
    }

    /// Normal force of a contact or stop.
    fn normal(&self, moment: &Moment<'_>, element: usize) -> Option<f64> {
        self.normal_at(moment, &self.points_of[element])
    }

    /// Normal force at some points. What presses at single points of a redundant set may differ; their sum is known.
    fn normal_at(&self, moment: &Moment<'_>, points: &Range<usize>) -> Option<f64> {
        let solved = &self.solved[points.clone()];
        if solved.is_empty() || !solved.iter().all(|solved| *solved) {
            return None;
        }
        let points = self.points[points.clone()].iter();
        Some(points.map(|point| moment.forces[point.first].max(0.0)).sum())
    }

    /// Friction of a contact: the sum over its points, so that it is known when it turns on the spot too. Then the same with the
    /// second direction at a point divided by `across`.
    fn rubbing(&self, moment: &Moment<'_>, element: usize, across: f64) -> [f64; 2] {
        self.rubbing_at(moment, self.points(element), across)
    }

    fn rubbing_at(&self, moment: &Moment<'_>, points: &[TouchingPoint], across: f64) -> [f64; 2] {
        [1.0, across].map(|across| {
            let at = |point: &TouchingPoint| {
                let rows = point.first + 1..=point.first + point.tangents;
                let parts = moment.forces[rows].iter().zip([1.0, across]).map(|(f, by)| f / by);
                parts.map(|f| f * f).sum::<f64>().sqrt()
            };
            points.iter().map(at).sum()
        })
    }

    /// Whether an element can lift off.
    fn lifted(&self, element: usize) -> bool {
        !self.points_of[element].is_empty()
    }

    /// Whether the normal forces at some points follow from statics.
    fn known(&self, moment: &Moment<'_>, points: &[TouchingPoint]) -> bool {
        points.iter().all(|point| moment.known[point.first])
    }
}

/// Sets of velocities that belong together.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Groups {
        Groups((0..count).collect())
    }

    fn root(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[b] = a;
    }
}

fn pair_row(ends: [Option<usize>; 2], ratio: [f64; 2], axis: usize) -> Vec<(usize, f64)> {
    let sides = [ratio[0], -ratio[1]];
    let entry = |(end, share): (Option<usize>, f64)| end.map(|v| (v + axis, share));
    ends.into_iter().zip(sides).filter_map(entry).collect()
}

/// Puts the positions of `state` into the scratch, at rest.
fn rest(network: &Network, scratch: &mut Scratch, state: &[f64]) {
    let n = network.layout.integrated();
    scratch.trial[..n].copy_from_slice(&state[..n]);
    scratch.trial[network.layout.velocities()].fill(0.0);
}

/// Finds the placement of bodies in the scratch.
fn place(network: &Network, scratch: &mut Scratch) {
    let (state, _, room) = scratch.parts();
    network.place_bodies(state, room.frames, room.linkages);
}

/// The same scenario with frictions that do nothing; elements keep their places. Contacts and stops do next to nothing.
fn without_friction(scenario: &Scenario) -> Scenario {
    let number = |name: &str, value: f64| ParameterSpec {
        name: name.to_string(),
        value: ParameterValue::Number(Number { value, dimension: None }),
        span: None,
    };
    let soft = NormalLawSpec {
        law: <KelvinVoigt<f64> as NormalLaw<f64>>::NAME.to_string(),
        parameters: vec![number("stiffness", 1e-12), number("damping", 0.0)],
    };
    let mut scenario = scenario.clone();
    scenario.simulation.integrator = "rk4".to_string();
    for (_, element) in &mut scenario.elements {
        match element {
            ElementSpec::Friction(spec) => {
                let friction = &mut spec.friction;
                friction.law = MartinsOden::NAME.to_string();
                friction.curve.limit = LimitSpec::Force {
                    kinetic: 0.0,
                    static_: 0.0,
                };
                friction.curve.viscous = 0.0;
                friction.normal_force = None;
                friction.parameters = vec![number("epsilon", 1.0)];
            }
            ElementSpec::Contact(spec) => (spec.normal, spec.friction) = (soft.clone(), None),
            ElementSpec::Stop(spec) => spec.normal = Some(soft.clone()),
            ElementSpec::Joint(spec) => spec.friction = None,
            // Held as any other: its row keeps what it couples together.
            ElementSpec::Gear(spec) => spec.rigid = false,
            ElementSpec::Found(spec) => spec.between = Some(Vec::new()),
            _ => (),
        }
    }
    scenario
}

/// The force that a friction element can hold, where it is the same all the time.
fn always_held(scenario: &Scenario, element: &ElementSpec) -> Option<f64> {
    let ElementSpec::Friction(spec) = element else {
        return None;
    };
    let normal = match &spec.friction.normal_force {
        Some(NormalForce::Profile(Profile::Constant(force))) => force.max(0.0),
        Some(_) => return None,
        None if !spec.friction.curve.limit.is_coefficient() => 1.0,
        None => weight(scenario, element)?,
    };
    Some(levels(&spec.friction).0 * normal)
}

/// Index of the first velocity of a port with scalar motion, counted in the velocities.
fn velocity_of(simulation: &Simulation, port: Port) -> Option<usize> {
    let built = simulation.built();
    let positions = built.network.layout.positions;
    match port {
        Port::Body(body) => match built.places[body] {
            Place::Coordinates { first, .. } => Some(first.v - positions),
            _ => None,
        },
        Port::Joint { body, link } => match built.places[body] {
            Place::Linkage(index) => {
                let placed = &built.network.linkages[index];
                Some(placed.v - positions + placed.body.joint_velocity_index(link)?)
            }
            Place::Own(index) => Some(built.network.own_bodies[index].v - positions + link),
            _ => None,
        },
        Port::Ground | Port::Link { .. } => None,
    }
}

/// What is counted as load, in words.
fn counted(scenario: &Scenario, driven_surface: bool) -> String {
    let mut parts = Vec::new();
    let pushed = scenario.bodies.iter().any(|(_, body)| match body {
        BodySpec::Mass(mass) => !mass.force.is_empty(),
        BodySpec::Inertia(inertia) => inertia.torque.is_some(),
        BodySpec::RigidBody(body) => !body.force.is_empty() || !body.torque.is_empty(),
        BodySpec::Driver(_) | BodySpec::Linkage(_) | BodySpec::Own(_) => false,
    });
    let has = |word: &str| scenario.elements.iter().any(|(_, element)| element.kind() == word);
    if pushed {
        parts.push("applied forces");
    }
    let own = |(_, body): &(String, BodySpec)| matches!(body, BodySpec::Own(_));
    if has("equations") || scenario.bodies.iter().any(own) {
        parts.push("forces of equations");
    }
    if has("actuator") {
        parts.push("actuators");
    }
    if scenario.simulation.gravity.is_some_and(|g| g != [0.0; 3]) {
        parts.push("gravity");
    }
    if has("spring") {
        let driven = scenario
            .bodies
            .iter()
            .any(|(_, body)| matches!(body, BodySpec::Driver(_)));
        parts.push(if driven {
            "springs with their drivers moved"
        } else {
            "springs"
        });
    }
    if driven_surface {
        parts.push("the acceleration of drivers");
    }
    match parts.split_last() {
        None => "no load found".to_string(),
        Some((last, [])) => format!("{last}, all bodies held at their start"),
        Some((last, rest)) => format!("{} and {last}, all bodies held at their start", rest.join(", ")),
    }
}

/// The worst moment of a friction so far.
#[derive(Clone, Copy, Debug)]
struct Worst {
    t: f64,
    load: f64,
    limit: f64,
    /// The limit along the direction of elliptic friction, else the same.
    along: f64,
}

impl Worst {
    /// Load over limit; infinite where nothing can be held.
    fn ratio(&self) -> f64 {
        match (self.load, self.limit) {
            (0.0, _) => 0.0,
            (load, limit) => load / limit,
        }
    }

    /// Keeps the worse of two; of two loads without a limit the larger, and any load before none.
    fn worse(first: Option<Worst>, second: Worst) -> Option<Worst> {
        let Some(first) = first else { return Some(second) };
        let order = first.ratio().total_cmp(&second.ratio());
        // Without any load, the weakest moment.
        let order = order
            .then(second.limit.total_cmp(&first.limit))
            .then(first.load.total_cmp(&second.load));
        Some(if order.is_lt() { second } else { first })
    }
}

/// What a scan finds of one friction.
#[derive(Clone, Debug, Default)]
struct Found {
    /// Over the whole run.
    worst: Option<Worst>,
    /// Outside of steps in which a driver jumps or changes its speed at once.
    smooth: Option<Worst>,
    /// Whether the limit did not follow from statics where there was a load.
    squeezed: bool,
    /// Whether no forces were found that hold everything.
    unsolved: bool,
}

impl Found {
    /// Takes note of load, limit, and limit along the direction of elliptic friction at a moment. `lifts` is of what can lift off: its normal
    /// force, and whether that follows from statics.
    fn note(&mut self, moment: &Moment<'_>, row: usize, [load, limit, along]: [f64; 3], lifts: Option<(f64, bool)>) {
        if !(load.is_finite() && limit.is_finite()) {
            self.unsolved = true;
            return;
        }
        let small = NEGLIGIBLE * limit.max(moment.most[row]);
        let load = if load > small { load } else { 0.0 };
        let limit = if limit > small { limit } else { 0.0 };
        if let Some((normal, known)) = lifts
            && normal <= small
        {
            // Nothing presses: there is no contact to slip.
            if load == 0.0 {
                return;
            }
            self.squeezed |= !known;
        }
        let now = Worst {
            t: moment.t,
            load,
            limit,
            along,
        };
        self.worst = Worst::worse(self.worst, now);
        if !moment.sudden {
            self.smooth = Worst::worse(self.smooth, now);
        }
    }
}

/// Lines of the bodies of a scene that touch at the start and rub.
fn pair_lines(simulation: &Simulation, held: &mut Held) -> Vec<FrictionLine> {
    let scenario = simulation.scenario();
    let pairs: Vec<(f64, ScenePair)> = (held.pairs.iter())
        .filter_map(|pair| Some((pair.friction?, pair.clone())))
        .collect();
    let Some((_, first)) = pairs.first() else {
        return Vec::new();
    };
    let (name, spec) = &scenario.elements[first.element];
    let law = match spec {
        ElementSpec::Found(spec) => spec.friction.as_ref().map_or("implicit", |friction| &friction.law),
        _ => "implicit",
    };
    let reader = held.reader();
    let mut found = vec![Found::default(); pairs.len()];
    let steps = held.moments();
    held.scan(steps, |moment| {
        for ((friction, pair), found) in pairs.iter().zip(&mut found) {
            let Some(normal) = reader.normal_at(moment, &pair.points) else {
                continue;
            };
            let points = &reader.points[pair.points.clone()];
            let [load, _] = reader.rubbing_at(moment, points, 1.0);
            let limit = friction * normal;
            let lifts = (normal, reader.known(moment, points));
            found.note(moment, points[0].first, [load, limit, limit], Some(lifts));
        }
    });
    let joined = (scenario.elements.iter()).any(|(_, element)| matches!(element, ElementSpec::Joint(_)));
    let lines = pairs.iter().zip(&found).map(|((_, pair), found)| {
        let mut line = FrictionLine {
            element: name.clone(),
            between: Some(pair.names.clone()),
            law: law.to_string(),
            ..FrictionLine::of_force("N")
        };
        let first_rows = held.points[pair.points.clone()].iter().map(|point| point.first);
        // What moved in the scan is known now.
        let gives_way = (held.pairs.iter()).any(|other| other.names == pair.names && other.gives_way);
        if joined {
            line.counted = refuse("loads through penalty joints are not");
            return line;
        }
        conclude(scenario, held, first_rows, found, &mut line);
        if gives_way && line.peak_load.is_some() {
            let [one, other] = &pair.names;
            line.counted += &format!("; \"{one}\" or \"{other}\" rolls or tips even if this holds");
        }
        finite_only(&mut line);
        line
    });
    lines.collect()
}

pub(super) fn friction_lines(simulation: &Simulation) -> Vec<FrictionLine> {
    let scenario = simulation.scenario();
    let mut held = Held::new(simulation);
    let found = held.as_mut().map(|held| search(simulation, held));
    let modes = held
        .as_ref()
        .map(|held| bristle_modes(simulation, held))
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (index, (name, element)) in scenario.elements.iter().enumerate() {
        let Some(friction) = element.friction() else { continue };
        let stiffness = stiffness(simulation, index);
        let mut line = FrictionLine {
            element: name.clone(),
            law: friction.law.clone(),
            stiffness,
            ..FrictionLine::of_force(if angular(scenario, element) { "Nm" } else { "N" })
        };
        match (element, held.as_ref().zip(found.as_ref())) {
            (ElementSpec::Joint(_), _) => {
                let (holding, _) = levels(friction);
                line.holding_limit =
                    (friction.normal_force.is_none() && !friction.curve.limit.is_coefficient()).then_some(holding);
                line.counted = "not estimated for penalty joints".to_string();
            }
            (_, Some((held, found))) => {
                describe(simulation, held, index, &found[index], &mut line);
                line.bristle_mode = match element {
                    ElementSpec::Contact(_) => {
                        let inverse_mass = simulation.built().inverse_mass_felt[index];
                        stiffness.map(|k| (k * inverse_mass).sqrt()).filter(|mode| *mode > 0.0)
                    }
                    _ => modes[index],
                };
            }
            _ => line.counted = "not estimated: the scenario cannot be held at rest".to_string(),
        }
        let limit = line.holding_limits.map(|[along, _]| along).or(line.holding_limit);
        line.presliding = match (limit, stiffness) {
            (Some(limit), Some(stiffness)) if stiffness > 0.0 => Some(limit / stiffness),
            _ => None,
        };
        finite_only(&mut line);
        lines.push(line);
    }
    if let Some(held) = &mut held {
        load_lines(simulation, held, &mut lines);
        lines.extend(pair_lines(simulation, held));
    }
    lines
}

/// A number that is not finite says nothing.
fn finite_only(line: &mut FrictionLine) {
    let numbers = [
        &mut line.holding_limit,
        &mut line.peak_load,
        &mut line.stick_margin,
        &mut line.stiffness,
        &mut line.presliding,
        &mut line.bristle_mode,
    ];
    for number in numbers {
        *number = number.filter(|x| x.is_finite());
    }
    line.holding_limits = line
        .holding_limits
        .filter(|limits| limits.iter().all(|x| x.is_finite()));
}

/// Looks for the worst moment of every friction.
fn search(simulation: &Simulation, held: &mut Held) -> Vec<Found> {
    let scenario = simulation.scenario();
    let mut found = vec![Found::default(); scenario.elements.len()];
    let mut rows: Vec<Option<Rows>> = vec![None; scenario.elements.len()];
    held.rows.iter().for_each(|r| rows[r.element] = Some(*r));
    let frictions: Vec<(usize, f64, Option<Ellipse<f64>>)> = scenario
        .elements
        .iter()
        .enumerate()
        .filter_map(|(index, (_, element))| {
            let friction = element.friction()?;
            // Of a contact only the strength across counts here: its rows lie along and across.
            let ellipse = friction.ellipse.as_ref().map(|spec| Ellipse {
                direction: Vector3::new(spec.direction[0], spec.direction[1], 0.0)
                    .normalize()
                    .into(),
                across: spec.across,
            });
            Some((index, levels(friction).0, ellipse))
        })
        .collect();
    let reader = held.reader();
    let steps = held.moments();
    held.scan(steps, |moment| {
        for &(index, holding, ellipse) in &frictions {
            let found = &mut found[index];
            // `seen` is the load as the law along the direction sees it.
            let ([load, seen], normal) = match (&scenario.elements[index].1, rows[index]) {
                (ElementSpec::Contact(_), _) => {
                    let Some(normal) = reader.normal(moment, index) else {
                        continue;
                    };
                    let across = ellipse.map_or(1.0, |ellipse| ellipse.across);
                    (reader.rubbing(moment, index, across), Some(normal))
                }
                (ElementSpec::Friction(_), Some(rows)) => {
                    let forces = &moment.forces[rows.first..rows.first + rows.count];
                    let length = |forces: &[f64]| forces.iter().map(|f| f * f).sum::<f64>().sqrt();
                    let seen = match (ellipse, forces) {
                        (Some(ellipse), &[x, y]) => length(&ellipse.unscaled([x, y])),
                        _ => length(forces),
                    };
                    ([length(forces), seen], normal_force(simulation, index, &reader, moment))
                }
                _ => continue,
            };
            let Some(normal) = normal else { continue };
            let along = holding * normal;
            let limit = if seen > 0.0 { along * (load / seen) } else { along };
            let row = rows[index].map_or_else(|| reader.points(index)[0].first, |rows| rows.first);
            let lifts = (reader.lifted(index)).then(|| (normal, reader.known(moment, reader.points(index))));
            found.note(moment, row, [load, limit, along], lifts);
        }
    });
    found
}

/// The normal force of a friction element between scalar motions at a moment; 1 where its levels are forces.
fn normal_force(simulation: &Simulation, index: usize, reader: &Reader, moment: &Moment<'_>) -> Option<f64> {
    let scenario = simulation.scenario();
    let element = &scenario.elements[index].1;
    let friction = element.friction()?;
    match &friction.normal_force {
        Some(NormalForce::Profile(profile)) => return Some(profile.value(moment.t).max(0.0)),
        Some(NormalForce::Element(other)) => {
            return match &scenario.elements[*other].1 {
                ElementSpec::Contact(_) | ElementSpec::Stop(_) => reader.normal(moment, *other),
                _ => Some(moment.compression[*other].max(0.0)),
            };
        }
        None => (),
    }
    if !friction.curve.limit.is_coefficient() {
        return Some(1.0);
    }
    weight(scenario, element)
}

/// The weight by which the first body of a friction element presses.
fn weight(scenario: &Scenario, element: &ElementSpec) -> Option<f64> {
    let body = element.between().into_iter().find_map(|port| match port {
        Port::Body(body) => Some(body),
        _ => None,
    })?;
    let BodySpec::Mass(mass) = &scenario.bodies[body].1 else {
        return None;
    };
    mass.weight_across(scenario.simulation.gravity.unwrap_or_default())
}

/// Normal force at the start of what a friction element or contact rubs by, where it is known; 1 where its levels are
/// forces.
pub(super) fn pressed_at_start(simulation: &Simulation, index: usize) -> Option<f64> {
    let mut held = Held::new(simulation)?;
    let reader = held.reader();
    let mut normal = None;
    held.scan([0], |moment| {
        normal = match &simulation.scenario().elements[index].1 {
            ElementSpec::Contact(_) => reader.normal(moment, index),
            _ => normal_force(simulation, index, &reader, moment),
        };
    });
    normal
}

/// Why nothing is said of a contact without force.
const UNPRESSED: &str = "nothing presses it";

/// Why there is no number.
fn refuse(why: &str) -> String {
    format!("not estimated: {why}")
}

/// Fills in load, limit and margin of what a scan found on rows of J, and says what was counted or why there is none.
fn conclude(
    scenario: &Scenario,
    held: &Held,
    mut rows: impl Iterator<Item = usize>,
    found: &Found,
    line: &mut FrictionLine,
) {
    if let Some(count) = rows.find_map(|row| held.left_out[row]) {
        line.counted = refuse(&format!(
            "{count} directions of contacts and frictions hang together, and a check solves {MOST_ROWS} of them \
             ({MOST_FIRM_ROWS} where only one split of the loads is possible)"
        ));
        return;
    }
    if found.unsolved {
        line.counted = refuse("no forces were found that hold everything at rest");
        return;
    }
    if found.squeezed {
        line.counted = refuse("how hard it is squeezed does not follow from weights and forces");
        return;
    }
    let Some(worst) = found.worst else {
        line.counted = refuse(UNPRESSED);
        return;
    };
    line.holding_limit = Some(worst.limit);
    line.peak_load = Some(worst.load);
    if worst.limit > 0.0 {
        line.stick_margin = Some(1.0 - worst.ratio());
    }
    line.holds = Some(worst.load <= worst.limit);
    line.counted = counted(scenario, held.drives_surfaces());
    let calm = found.smooth.map_or(0.0, |smooth| smooth.load);
    if worst.load > 1.05 * calm && found.smooth.is_none_or(|smooth| smooth.t != worst.t) {
        line.counted += &format!(
            "; a driver jumps or changes its speed at t = {} s: {} {unit} for one step, at most {} {unit} otherwise",
            short(worst.t),
            short(worst.load),
            short(calm),
            unit = line.unit,
        );
    }
}

/// Fills in load, limit and margin, and says what was counted.
fn describe(simulation: &Simulation, held: &Held, index: usize, found: &Found, line: &mut FrictionLine) {
    let scenario = simulation.scenario();
    let element = &scenario.elements[index].1;
    let rows = held
        .rows
        .iter()
        .filter(|rows| rows.element == index)
        .map(|rows| rows.first);
    let points = held.points[held.points_of[index].clone()]
        .iter()
        .map(|point| point.first);
    let joined = scenario
        .elements
        .iter()
        .any(|(_, element)| matches!(element, ElementSpec::Joint(_)));
    let contact = matches!(element, ElementSpec::Contact(_));
    if contact && joined {
        line.counted = refuse("loads through penalty joints are not");
        return;
    }
    if held.stands[index] == Some(Stand::Open) {
        line.counted = refuse("it is open at the start, while its body touches something else");
        return;
    }
    conclude(scenario, held, rows.chain(points), found, line);
    let Some(worst) = found.worst.filter(|_| line.peak_load.is_some()) else {
        if line.counted == refuse(UNPRESSED) && !contact {
            line.counted = refuse("what presses it is open or unknown at the start");
        }
        return;
    };
    if let Some(ellipse) = element.friction().and_then(|friction| friction.ellipse.as_ref()) {
        line.holding_limits = Some([worst.along, worst.along * ellipse.across]);
    }
    if held.stands[index] == Some(Stand::Landed) {
        let name = scenario.port_name(element.between()[0]);
        line.counted += &format!("; \"{name}\" as if it lay on it already");
    }
    if held.gives_way.contains(&index) {
        let name = scenario.port_name(element.between()[0]);
        line.counted += &format!("; \"{name}\" rolls or tips even if this holds");
    }
}

/// A number with six digits.
fn short(x: f64) -> String {
    let rounded = format!("{x:.5e}").parse::<f64>();
    rounded.unwrap_or(x).to_string()
}
