//! Contacts that the program finds between shapes: who is near whom, where they touch, and which bodies that joins in a step.
//!
//! Each step: boxes around the shapes, grown by what they may move, give the pairs that may meet; the narrow phase (`crate::shape::touch`) gives their
//! points; these are candidates of the implicit step like those of named contacts. Bodies that they join are solved together: islands are formed anew,
//! and keep their pattern while the same bodies meet.
//!
//! All of it follows from the state alone, so that copies of a run go on with the same bytes. What is kept from step to step is which contacts
//! stick: their numbers, sorted, in the states of the element.

use super::geometry::Touch;
use super::groups::Mode;
use super::implicit::{Hold, Island, IslandBody};
use super::port::Attachment;
use super::rigid::{Candidate, Meeting, kept_gap, positions_size, tangents};
use super::sparse::Pattern;
use super::{Network, Scratch};
use crate::body::{Frame, LinkageScratch};
use crate::shape::touch::{self, touches};
use crate::shape::{Placed, Solid};
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Collider {
    /// The body that carries it.
    pub body: Attachment,
    /// Which body or link of the scenario: shapes of one do not touch each other.
    pub group: usize,
    /// The shape.
    pub solid: Solid,
    /// Where it is on the body.
    pub position: Vector3<f64>,
    /// How it is turned on the body.
    pub rotation: Matrix3<f64>,
    /// Its material.
    pub material: usize,
    /// How fast its surface runs, in the axes of the body.
    pub belt: Vector3<f64>,
}

/// What two materials do to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// Static and kinetic coefficient of friction.
    pub friction: Option<[f64; 2]>,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Moment arms of the resistance to rolling and to spinning.
    pub arms: [f64; 2],
}

/// All shapes that may touch.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Number of the element in the network.
    pub element: usize,
    /// The shapes.
    pub colliders: Vec<Collider>,
    /// Pairs of groups that do not touch, sorted, the smaller first.
    pub apart: Vec<(usize, usize)>,
    /// Names of the groups.
    pub names: Vec<String>,
    /// What materials do to each other: row by row, `materials` in each.
    pub pairings: Vec<Pairing>,
    /// Number of materials.
    pub materials: usize,
    /// States of the element: how many contacts stick, and their numbers.
    pub memory: Range<usize>,
    /// Speed at which overlaps are left.
    pub recovery: f64,
}

/// A contact that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) colliders: [usize; 2],
    pub(crate) touch: touch::Touch,
    candidate: Candidate,
    /// The bodies it joins, by number in the list of all islands' bodies.
    bodies: [Option<usize>; 2],
    /// What the step made of it.
    pub(crate) force: [f64; 3],
    pub(crate) slip: Vector3<f64>,
    pub(crate) stuck: bool,
    /// Whether it does not roll, and does not spin.
    pub(super) held: [bool; 2],
}

impl Found {
    /// The force on the first body, in world axes.
    fn world_force(&self) -> Vector3<f64> {
        let (_, directions) = self.candidate.place();
        let parts = directions.iter().zip(self.force);
        parts.fold(Vector3::zeros(), |sum, (direction, f)| sum + direction * f)
    }
}

/// Islands of a step, from those that are always there.
#[derive(Default)]
pub(super) struct Joined {
    /// Islands of the network that it joins, ascending.
    nodes: Vec<usize>,
    /// Pairs of bodies that contacts join, ascending.
    pairs: Vec<(usize, usize)>,
    pub(super) island: Island,
    /// Its contacts, by number.
    pub(super) found: Vec<usize>,
}

impl Joined {
    /// Whether nothing acts in it in this step.
    pub(super) fn is_idle(&self) -> bool {
        self.found.is_empty() && self.island.holds.is_empty()
    }
}

/// Room for the contacts of a scene.
#[derive(Default)]
pub(crate) struct SceneRoom {
    placed: Vec<Stance>,
    /// Whether points where the outline of one flat side cuts another are followed over the step as corners are. (The implicit Euler step does not.)
    cuts_last: bool,
    /// Which shapes have moved since they were placed.
    moved: Vec<bool>,
    fat: Vec<[Vector3<f64>; 2]>,
    near: Vec<(u32, u32)>,
    touches: touch::Touches,
    touched: Vec<Touched>,
    /// Touches in the order of the bodies that they join, and whether each is only an edge that is not felt.
    by_bodies: Vec<([u64; 2], usize)>,
    hidden: Vec<bool>,
    /// Whether something may lie across several shapes of one body, or of the ground.
    tiled: bool,
    pub(crate) found: Vec<Found>,
    pub(super) islands: Vec<Joined>,
    spare: Vec<Joined>,
    root: Vec<usize>,
    keys: Vec<f64>,
    /// Bodies of each contact in ascending order, its number, and the force on the first of them.
    shares: Vec<([usize; 2], usize, Vector3<f64>)>,
    /// Pairs of bodies that contacts join, now and when the islands were formed.
    pairs: Vec<(usize, usize)>,
    joined_by: Vec<(usize, usize)>,
    /// The island that each island of the network belongs to, and the number of each body there.
    home: Vec<usize>,
    local: Vec<usize>,
    /// First body of each island of the network, and the island of each body.
    bodies: Vec<(usize, usize)>,
    first_body: Vec<usize>,
    /// The number of each rigid body and of each linkage among the bodies of all islands.
    rigid: Vec<Option<usize>>,
    linked: Vec<Option<usize>>,
}

/// A point where two shapes touch.
#[derive(Clone, Copy, Debug)]
struct Touched {
    colliders: [usize; 2],
    touch: touch::Touch,
}

/// Where a shape is and how far it may go.
#[derive(Clone, Copy)]
struct Stance {
    rotation: Matrix3<f64>,
    position: Vector3<f64>,
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// Distance to others within which contacts are looked for.
    reach: f64,
    /// Velocity without contacts.
    free: Vector3<f64>,
}

/// Number of a contact among all that there may be, exact as a float.
fn key(colliders: [usize; 2], feature: u32) -> f64 {
    let [a, b] = colliders.map(|c| c as u64);
    ((a << 34 | b << 20 | u64::from(feature) & 0xf_ffff) + 1) as f64
}

/// The same of what resists rolling (0) or spinning (1) in it.
fn turning_key(contact: f64, which: usize) -> f64 {
    contact + ((which + 1) as u64 * (1 << 48)) as f64
}

/// Steps over which free motion is looked ahead: others may push a body farther than it would go.
const AHEAD: f64 = 2.0;
/// Distance within which contacts are looked for at rest, m.
const CLOSE: f64 = 1e-9;
/// How far boxes are grown beyond what a body needs, as part of its size: pairs are looked for again when one leaves its box.
const FAT: f64 = 0.1;

impl Scene {
    /// What two colliders do to each other.
    fn pairing(&self, colliders: [usize; 2]) -> &Pairing {
        let [a, b] = colliders.map(|c| self.colliders[c].material);
        &self.pairings[a * self.materials + b]
    }

    /// Static and kinetic coefficient of friction of a contact.
    pub(crate) fn friction(&self, found: &Found) -> Option<[f64; 2]> {
        self.pairing(found.colliders).friction
    }

    /// Whether two groups may touch.
    fn may_touch(&self, a: usize, b: usize) -> bool {
        a != b && self.apart.binary_search(&(a.min(b), a.max(b))).is_err()
    }

    /// Names of the bodies of a contact.
    pub(crate) fn names(&self, found: &Found) -> [&str; 2] {
        found.colliders.map(|c| self.names[self.colliders[c].group].as_str())
    }
}

/// The state that a step begins with: velocities before and without contact, and where bodies are.
pub(crate) struct Begin<'a> {
    pub(crate) network: &'a Network,
    pub(crate) scene: &'a Scene,
    pub(crate) before: &'a [f64],
    pub(crate) after: &'a [f64],
    pub(crate) frames: &'a [Frame],
    pub(crate) linkages: &'a [LinkageScratch],
    pub(crate) step: f64,
}

impl SceneRoom {
    pub(crate) fn new(network: &Network) -> Self {
        let mut room = SceneRoom::default();
        if let Some(scene) = &network.scene {
            let same = |pair: &[Collider]| {
                let [one, other] = pair else { return false };
                one.group == other.group || body_number(one.body) == body_number(other.body)
            };
            room.tiled = scene.colliders.windows(2).any(same)
                || scene
                    .colliders
                    .iter()
                    .filter(|collider| collider.body == Attachment::Ground)
                    .count()
                    > 1;
            for (island, joined) in network.islands.iter().enumerate() {
                room.first_body.push(room.bodies.len());
                room.bodies.extend((0..joined.bodies.len()).map(|body| (island, body)));
            }
            room.local.resize(room.bodies.len(), 0);
            room.rigid.resize(network.bodies.len(), None);
            room.linked.resize(network.linkages.len(), None);
            for (number, &(island, body)) in room.bodies.iter().enumerate() {
                match network.islands[island].bodies[body] {
                    IslandBody::Rigid { body, .. } => room.rigid[body] = Some(number),
                    IslandBody::Linkage { linkage, .. } => room.linked[linkage] = Some(number),
                    _ => (),
                }
            }
        }
        room
    }

    /// Finds the contacts of a step.
    pub(crate) fn detect(&mut self, begin: &Begin<'_>) {
        self.place(begin);
        self.moved.clear();
        self.moved.resize(begin.scene.colliders.len(), true);
        self.broad(begin.scene);
        self.touch(begin.scene);
        self.note(begin);
    }

    /// Where shapes touch with their bodies in the middle of the step, for those that have moved: looked for among all shapes again, since what rolls or slides may be on
    /// another shape of the same surface by then.
    pub(super) fn follow(&mut self, middle: &Begin<'_>) {
        let colliders = middle.scene.colliders.iter().zip(&mut self.placed);
        for ((collider, stance), moved) in colliders.zip(&mut self.moved) {
            let frame = collider
                .body
                .frame(middle.network, middle.before, middle.frames, middle.linkages);
            let rotation = frame.rotation * collider.rotation;
            let position = frame.point_position(&collider.position);
            *moved = rotation != stance.rotation || position != stance.position;
            if *moved {
                let [low, high] = collider.solid.bounds(&rotation, &position);
                stance.low = low.add_scalar(-stance.reach);
                stance.high = high.add_scalar(stance.reach);
                (stance.rotation, stance.position) = (rotation, position);
            }
        }
        self.touch(middle.scene);
    }

    /// Where shapes touch, of pairs in which one has moved.
    fn touch(&mut self, scene: &Scene) {
        self.touched.clear();
        let groups = |(a, b): (u32, u32)| [a, b].map(|c| scene.colliders[c as usize].group);
        let mut index = 0;
        while index < self.near.len() {
            // Shapes of one body are one: what touches two of them at one place touches once.
            let (pair, first, from) = (groups(self.near[index]), index, self.touched.len());
            while index < self.near.len() && groups(self.near[index]) == pair {
                let (a, b) = self.near[index];
                let pair = [a as usize, b as usize];
                if pair.iter().any(|&shape| self.moved[shape]) {
                    self.meet(scene, pair);
                }
                index += 1;
            }
            if index - first > 1 && self.touched.len() - from > 1 {
                let (a, b) = self.near[first];
                let size = [a, b].map(|c| scene.colliders[c as usize].solid.size());
                touch::merge(&mut self.touched, from, touch::FLUSH * size[0].min(size[1]), |t| {
                    &t.touch
                });
            }
        }
        if self.tiled && self.touched.len() > 1 {
            self.hide_edges(scene);
        }
    }

    /// Forgets touches of edges that lie level with a plane on which the body is already: tiles that are flush are felt as one.
    fn hide_edges(&mut self, scene: &Scene) {
        let number = |c: usize| body_number(scene.colliders[c].body);
        self.by_bodies.clear();
        for (index, touched) in self.touched.iter().enumerate() {
            let [a, b] = touched.colliders.map(number);
            self.by_bodies.push(([a.min(b), a.max(b)], index));
        }
        self.by_bodies.sort_unstable();
        self.hidden.clear();
        self.hidden.resize(self.touched.len(), false);
        for run in self.by_bodies.chunk_by(|one, other| one.0 == other.0) {
            for &(bodies, edge) in run {
                self.hidden[edge] = run.iter().any(|&(_, face)| {
                    !self.hidden[face]
                        && bodies
                            .iter()
                            .any(|&of| self.hides(scene, [face, edge].map(|i| &self.touched[i]), |c| number(c) == of))
                });
            }
        }
        let mut index = 0;
        self.touched.retain(|_| {
            index += 1;
            !self.hidden[index - 1]
        });
    }

    /// Whether the plane on which a body touches one shape of another body parts it from another shape of that, which it touches elsewhere, and which is level with that plane.
    fn hides(&self, scene: &Scene, [face, edge]: [&Touched; 2], is_of: impl Fn(usize) -> bool) -> bool {
        let side = |touched: &Touched| usize::from(!is_of(touched.colliders[0]));
        let (f, e) = (side(face), side(edge));
        let shape = edge.colliders[e];
        if face.colliders[f] == shape {
            return false;
        }
        // Both normals away from the shapes.
        let away = |touched: &Touched, side: usize| {
            if side == 1 {
                touched.touch.normal
            } else {
                -touched.touch.normal
            }
        };
        let normal = away(face, f);
        if !edge.touch.is_apart(&normal, &away(edge, e)) {
            return false;
        }
        let (body, other) = (edge.colliders[1 - e], face.colliders[1 - f]);
        let slack = touch::FLUSH
            * [body, shape]
                .map(|c| scene.colliders[c].solid.size())
                .into_iter()
                .fold(f64::INFINITY, f64::min);
        let levels = [0.0, face.touch.gap].map(|gap| normal.dot(&face.touch.point) - gap);
        let highest = self.placed[shape].highest(&scene.colliders[shape].solid, &normal);
        let lowest = || -self.placed[body].highest(&scene.colliders[body].solid, &-normal);
        levels
            .into_iter()
            .any(|level| (highest - level).abs() <= slack && (body == other || lowest() >= level - slack))
    }

    /// Where the shapes are.
    fn place(&mut self, begin: &Begin<'_>) {
        let Begin { network, step, .. } = *begin;
        self.placed.clear();
        for collider in &begin.scene.colliders {
            let frame = collider.body.frame(network, begin.before, begin.frames, begin.linkages);
            let rotation = frame.rotation * collider.rotation;
            let position = frame.point_position(&collider.position);
            let (mut speed, mut free) = (0.0, Vector3::zeros());
            if collider.body != Attachment::Ground {
                let size = collider.solid.size() + collider.position.norm();
                free = free_velocity(begin, collider.body, &frame);
                let spin = free_spin(begin, collider.body, &frame);
                speed = frame.velocity.norm() + free.norm() + size * (frame.angular_velocity.norm() + spin);
                speed += network.world_gravity.norm() * step;
            }
            let reach = AHEAD * step * speed + CLOSE;
            let [low, high] = collider.solid.bounds(&rotation, &position);
            self.placed.push(Stance {
                rotation,
                position,
                low: low.add_scalar(-reach),
                high: high.add_scalar(reach),
                reach,
                free,
            });
        }
    }

    /// Pairs whose fat boxes meet, looked for again when a shape has left its own.
    fn broad(&mut self, scene: &Scene) {
        let count = self.placed.len();
        let within =
            |fat: &[Vector3<f64>; 2], now: &Stance| (0..3).all(|i| fat[0][i] <= now.low[i] && now.high[i] <= fat[1][i]);
        if self.fat.len() == count && self.fat.iter().zip(&self.placed).all(|(fat, now)| within(fat, now)) {
            return;
        }
        self.fat.clear();
        for (now, collider) in self.placed.iter().zip(&scene.colliders) {
            let margin = FAT * collider.solid.size();
            let margin = if margin.is_finite() { margin } else { 0.0 };
            self.fat
                .push([now.low.add_scalar(-margin), now.high.add_scalar(margin)]);
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| self.fat[a][0].x.total_cmp(&self.fat[b][0].x));
        self.near.clear();
        for (place, &a) in order.iter().enumerate() {
            for &b in &order[place + 1..] {
                let ([low, high], [other_low, other_high]) = (&self.fat[a], &self.fat[b]);
                if other_low.x > high.x {
                    break;
                }
                let (one, other) = (&scene.colliders[a], &scene.colliders[b]);
                let still = moves(one) || moves(other);
                let apart = (1..3).any(|i| low[i] > other_high[i] || other_low[i] > high[i]);
                if !apart && still && scene.may_touch(one.group, other.group) {
                    self.near.push((a.min(b) as u32, a.max(b) as u32));
                }
            }
        }
        self.near
            .sort_unstable_by_key(|&(a, b)| ([a, b].map(|c| scene.colliders[c as usize].group), a, b));
    }

    /// The points of a pair.
    fn meet(&mut self, scene: &Scene, colliders: [usize; 2]) {
        let [one, other] = colliders.map(|c| &self.placed[c]);
        if (0..3).any(|i| one.low[i] > other.high[i] || other.low[i] > one.high[i]) {
            return;
        }
        self.touches.found.clear();
        let [first, second] = colliders.map(|c| &scene.colliders[c].solid);
        let (a, b) = (one.on(first), other.on(second));
        let (reach, lean) = (one.reach + other.reach, one.free - other.free);
        touches(&a, &b, reach, &lean, &mut self.touches);
        let found = self.touches.found.iter();
        self.touched.extend(found.map(|&touch| Touched { colliders, touch }));
    }

    /// Makes candidates of the points that were found.
    fn note(&mut self, begin: &Begin<'_>) {
        self.found.clear();
        let mut from = 0;
        while from < self.touched.len() {
            let colliders = self.touched[from].colliders;
            let same = self.touched[from..]
                .iter()
                .take_while(|touched| touched.colliders == colliders);
            let to = from + same.count();
            self.note_pair(begin, colliders, from..to);
            from = to;
        }
    }

    /// Makes candidates of the points of a pair.
    fn note_pair(&mut self, begin: &Begin<'_>, colliders: [usize; 2], which: Range<usize>) {
        let scene = begin.scene;
        let [first, second] = colliders.map(|c| &scene.colliders[c]);
        let pairing = scene.pairing(colliders);
        let bodies = [first.body, second.body];
        let frames = bodies.map(|body| body.frame(begin.network, begin.before, begin.frames, begin.linkages));
        let belt = frames[0].rotation * first.belt - frames[1].rotation * second.belt;
        let remembered = stuck_keys(begin.before, &scene.memory);
        let flat = [first, second].iter().all(|collider| collider.solid.is_flat());
        for &Touched { touch, .. } in &self.touched[which] {
            let point = Touch {
                gap: touch.gap,
                normal: touch.normal,
                point: touch.point,
            };
            let [velocity, opposite] = [&frames[0], &frames[1]].map(|frame| frame.point_velocity(&touch.point));
            let approach = touch.normal.dot(&(velocity - opposite));
            let (t1, t2) = tangents(&touch.normal, false);
            let number = key(colliders, touch.feature);
            let known = |number: f64| remembered.binary_search_by(|other| other.total_cmp(&number)).is_ok();
            let was_stuck = known(number);
            let size = positions_size(&touch.point, &frames[0], &frames[1]);
            let gap = kept_gap(touch.gap, size, was_stuck);
            let meeting = Meeting {
                element: scene.element,
                bodies,
                touch: point,
                directions: [touch.normal, t1, t2],
                axes: if pairing.friction.is_some() { 3 } else { 1 },
                friction: pairing.friction.unwrap_or([0.0; 2]),
                arms: pairing.arms,
                held: [0, 1].map(|which| pairing.arms[which] > 0.0 && known(turning_key(number, which))),
                restitution: pairing.restitution,
                was_stuck,
                gap,
                lasting: gap == 0.0 && (touch.corner || self.cuts_last && flat && touch.cut && !touch.edge),
                corner: false,
                belt: belt - touch.normal.dot(&belt) * touch.normal,
                recovery: scene.recovery,
            };
            let mut candidate = meeting.candidate(&frames[0], &frames[1], approach, begin.step);
            candidate.found = Some(self.found.len());
            self.found.push(Found {
                colliders,
                touch,
                candidate,
                bodies: [None; 2],
                force: [0.0; 3],
                slip: Vector3::zeros(),
                stuck: false,
                held: [false; 2],
            });
        }
    }

    /// Joins the islands of the network by the contacts found. `body_of` gives the island's body of each velocity.
    pub(super) fn join(&mut self, network: &Network, scene: &Scene) {
        for found in &mut self.found {
            found.bodies = found.colliders.map(|c| match scene.colliders[c].body {
                Attachment::Rigid(body) => self.rigid[body],
                Attachment::Link { linkage, .. } => self.linked[linkage],
                _ => None,
            });
        }
        self.pairs.clear();
        for found in &self.found {
            if let [Some(a), Some(b)] = found.bodies
                && a != b
            {
                self.pairs.push((a.min(b), a.max(b)));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        if self.islands.is_empty() || self.pairs != self.joined_by {
            self.form(network);
        }
        for joined in &mut self.islands {
            joined.found.clear();
        }
        for (index, found) in self.found.iter().enumerate() {
            if let Some(&body) = found.bodies.iter().flatten().next() {
                self.islands[self.home[self.bodies[body].0]].found.push(index);
            }
        }
    }

    /// Forms the islands that the pairs of bodies make. Those that were there before keep their pattern.
    fn form(&mut self, network: &Network) {
        self.joined_by.clone_from(&self.pairs);
        self.root.clear();
        self.root.extend(0..network.islands.len());
        for &(a, b) in &self.pairs {
            let [a, b] = [a, b].map(|body| find(&mut self.root, self.bodies[body].0));
            self.root[a.max(b)] = a.min(b);
        }
        // Every island of the network belongs to one joined island, in the order of their first nodes.
        std::mem::swap(&mut self.islands, &mut self.spare);
        self.islands.clear();
        self.home.clear();
        for node in 0..network.islands.len() {
            let root = find(&mut self.root, node);
            let home = if root == node {
                self.islands.push(Joined::default());
                self.islands.len() - 1
            } else {
                self.home[root]
            };
            self.home.push(home);
            self.islands[home].nodes.push(node);
        }
        for &(a, b) in &self.pairs {
            self.islands[self.home[self.bodies[a].0]].pairs.push((a, b));
        }
        for joined in &mut self.islands {
            let before = self.spare.binary_search_by_key(&joined.nodes[0], |old| old.nodes[0]);
            joined.island = match before.map(|place| &mut self.spare[place]) {
                Ok(old) if old.nodes == joined.nodes && old.pairs == joined.pairs => std::mem::take(&mut old.island),
                _ => compose(network, &joined.nodes, &joined.pairs, &self.first_body),
            };
            let mut first = 0;
            for &node in &joined.nodes {
                let count = network.islands[node].bodies.len();
                for body in 0..count {
                    self.local[self.first_body[node] + body] = first + body;
                }
                first += count;
            }
        }
    }

    /// The contacts of an island as candidates, each with how it takes hold of its bodies.
    pub(super) fn candidates<'a>(&'a self, joined: &'a Joined) -> impl Iterator<Item = (Candidate, Hold)> + 'a {
        joined.found.iter().map(|&index| {
            let found = &self.found[index];
            let bodies = found.bodies.map(|body| body.map(|body| self.local[body]));
            (found.candidate, Island::hold(&joined.island.pattern, bodies))
        })
    }

    /// Takes over the outcome of a contact.
    pub(super) fn settle(&mut self, candidate: &Candidate, force: &[f64], velocity: &[f64], stuck: bool) {
        let Some(found) = candidate.found.and_then(|index| self.found.get_mut(index)) else {
            return;
        };
        if candidate.impact {
            found.candidate = *candidate;
        }
        found.stuck = stuck;
        found.force[..force.len()].copy_from_slice(force);
        let (_, directions) = candidate.place();
        let tangential = directions.iter().zip(velocity).skip(1);
        found.slip = tangential.fold(Vector3::zeros(), |sum, (direction, v)| sum + direction * *v);
    }

    /// Takes over whether the resistance of a contact to rolling or spinning holds.
    pub(super) fn settle_turning(&mut self, candidate: &Candidate, which: usize, holds: bool) {
        if let Some(found) = candidate.found.and_then(|index| self.found.get_mut(index)) {
            found.held[which] = holds;
        }
    }

    /// Keeps the numbers of the contacts that stick, as the states of the element at the end of the step.
    pub(super) fn remember(&mut self, scene: &Scene, after: &mut [f64]) {
        self.keys.clear();
        for found in &self.found {
            let number = key(found.colliders, found.touch.feature);
            self.keys.extend(found.stuck.then_some(number));
            for which in [0, 1] {
                self.keys
                    .extend(found.held[which].then_some(turning_key(number, which)));
            }
        }
        self.keys.sort_by(f64::total_cmp);
        write_keys(&self.keys, &scene.memory, after);
    }

    /// The largest force between two bodies in this step: what touches at several points presses with their sum, while forces of different
    /// pairs may balance and are never added.
    pub(super) fn largest_force(&mut self, scene: &Scene) -> Vector3<f64> {
        self.shares.clear();
        for (number, found) in self.found.iter().enumerate() {
            let [a, b] = found.colliders.map(|c| scene.colliders[c].group);
            let force = if a < b {
                found.world_force()
            } else {
                -found.world_force()
            };
            self.shares.push(([a.min(b), a.max(b)], number, force));
        }
        self.shares
            .sort_unstable_by_key(|&(bodies, number, _)| (bodies, number));
        let pairs = self.shares.chunk_by(|one, other| one.0 == other.0);
        let forces = pairs.map(|pair| pair.iter().map(|share| share.2).sum::<Vector3<f64>>());
        let larger = |a: Vector3<f64>, b: Vector3<f64>| if b.norm() > a.norm() { b } else { a };
        forces.fold(Vector3::zeros(), larger)
    }

    /// Where a candidate of the start of the step touches with bodies placed later within it. Returns its gap there; none if other features touch then.
    pub(super) fn meet_candidate(
        &mut self,
        candidate: &mut Candidate,
        begin: &Begin<'_>,
        later: &Begin<'_>,
    ) -> Option<f64> {
        let found = candidate.found.map(|index| self.found[index])?;
        let colliders = found.colliders.map(|c| &begin.scene.colliders[c]);
        let frame = |at: &Begin<'_>, c: &Collider| c.body.frame(at.network, at.before, at.frames, at.linkages);
        let [begun, now] = [begin, later].map(|at| colliders.map(|c| frame(at, c)));
        let placed = |k: usize| Placed {
            solid: &colliders[k].solid,
            rotation: now[k].rotation * colliders[k].rotation,
            position: now[k].point_position(&colliders[k].position),
        };
        let [one, other] = found.colliders.map(|c| self.placed[c]);
        self.touches.found.clear();
        let reach = one.reach + other.reach + 1e-6;
        touches(
            &placed(0),
            &placed(1),
            reach,
            &(one.free - other.free),
            &mut self.touches,
        );
        let same = self
            .touches
            .found
            .iter()
            .find(|touch| touch.feature == found.touch.feature);
        let touch = same.copied().unwrap_or(found.touch);
        let touch = Touch {
            gap: touch.gap,
            normal: touch.normal,
            point: touch.point,
        };
        candidate.move_to(&touch, [&begun[0], &begun[1]], [&now[0], &now[1]]);
        same.is_some().then_some(touch.gap)
    }

    /// Where a candidate of the start of the step touches with bodies placed in its middle.
    pub(super) fn move_candidate(&self, candidate: &mut Candidate, begin: &Begin<'_>, middle: &Begin<'_>) {
        let Some(found) = candidate.found.map(|index| &self.found[index]) else {
            return;
        };
        if !found.colliders.iter().any(|&shape| self.moved[shape]) {
            return;
        }
        let bodies = found.colliders.map(|c| begin.scene.colliders[c].body);
        let frame = |at: &Begin<'_>| bodies.map(|body| body.frame(at.network, at.before, at.frames, at.linkages));
        let [begun, now] = [begin, middle].map(frame);
        let touch = self.again(begin.scene, found, &begun, &now);
        let touch = Touch {
            gap: touch.gap,
            normal: touch.normal,
            point: touch.point,
        };
        candidate.move_to(&touch, [&begun[0], &begun[1]], [&now[0], &now[1]]);
    }

    /// A touch of the start of the step in its middle: of the same features of the same shapes, or where these touch no more, as at a joint of two that lie flush, the
    /// nearest of the same bodies.
    fn again(&self, scene: &Scene, found: &Found, begun: &[Frame; 2], now: &[Frame; 2]) -> touch::Touch {
        let same =
            |touched: &&Touched| touched.colliders == found.colliders && touched.touch.feature == found.touch.feature;
        if let Some(touched) = self.touched.iter().find(same) {
            return touched.touch;
        }
        let point = found.touch.point;
        let carried = [0, 1].map(|k| {
            let arm = begun[k].rotation.tr_mul(&(point - begun[k].position));
            now[k].position + now[k].rotation * arm
        });
        let reach: f64 = found.colliders.iter().map(|&shape| self.placed[shape].reach).sum();
        let apart = |touch: &touch::Touch| {
            carried
                .iter()
                .map(|p| (touch.point - p).norm())
                .fold(f64::INFINITY, f64::min)
        };
        let number = |c: usize| body_number(scene.colliders[c].body);
        let [first, second] = found.colliders.map(number);
        let others = self.touched.iter().filter_map(|touched| {
            let bodies = touched.colliders.map(number);
            if bodies == [first, second] {
                Some(touched.touch)
            } else if bodies == [second, first] {
                Some(touch::Touch {
                    normal: -touched.touch.normal,
                    ..touched.touch
                })
            } else {
                None
            }
        });
        let near = others.filter(|touch| apart(touch) <= reach);
        let nearest = near.min_by(|one, other| apart(one).total_cmp(&apart(other)));
        nearest.unwrap_or(found.touch)
    }
}

fn moves(collider: &Collider) -> bool {
    matches!(collider.body, Attachment::Rigid(_) | Attachment::Link { .. })
}

/// A number for each body, 0 for the ground.
fn body_number(body: Attachment) -> u64 {
    match body {
        Attachment::Ground => 0,
        Attachment::Rigid(body) => 1 + ((body as u64) << 2),
        Attachment::Point { coordinate, .. } => 2 + ((coordinate.q as u64) << 2),
        Attachment::Link { linkage, link } => 3 + ((linkage as u64) << 34 | (link as u64) << 2),
        Attachment::Own { own, frame } => 4 + ((own as u64) << 34 | (frame as u64) << 2),
    }
}

impl Stance {
    /// How far a shape reaches in a direction.
    fn highest(&self, solid: &Solid, direction: &Vector3<f64>) -> f64 {
        direction.dot(&self.position) + solid.highest(&self.rotation.tr_mul(direction))
    }

    fn on<'a>(&self, solid: &'a Solid) -> Placed<'a> {
        Placed {
            solid,
            rotation: self.rotation,
            position: self.position,
        }
    }
}

fn find(root: &mut [usize], mut node: usize) -> usize {
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}

/// Numbers of the contacts that stick.
fn stuck_keys<'a>(state: &'a [f64], memory: &Range<usize>) -> &'a [f64] {
    let slots = &state[memory.clone()];
    let count = slots.first().map_or(0, |&count| count as usize);
    slots.get(1..=count).unwrap_or(&[])
}

fn write_keys(keys: &[f64], memory: &Range<usize>, state: &mut [f64]) {
    let slots = &mut state[memory.clone()];
    let count = keys.len().min(slots.len().saturating_sub(1));
    slots.fill(0.0);
    if let Some(first) = slots.first_mut() {
        *first = count as f64;
        slots[1..=count].copy_from_slice(&keys[..count]);
    }
}

/// The velocity of a body without contact forces.
fn free_velocity(begin: &Begin<'_>, body: Attachment, frame: &Frame) -> Vector3<f64> {
    match body {
        Attachment::Rigid(index) => {
            let v = begin.network.bodies[index].v;
            Vector3::from_column_slice(&begin.after[v..v + 3])
        }
        Attachment::Point { .. } => Vector3::from(body.velocity(begin.after)),
        _ => frame.velocity,
    }
}

/// How fast a body turns without contact forces.
fn free_spin(begin: &Begin<'_>, body: Attachment, frame: &Frame) -> f64 {
    match body {
        Attachment::Rigid(index) => {
            let v = begin.network.bodies[index].v + 3;
            Vector3::from_column_slice(&begin.after[v..v + 3]).norm()
        }
        _ => frame.angular_velocity.norm(),
    }
}

/// One island of several, with the pairs of bodies that contacts join besides.
fn compose(network: &Network, nodes: &[usize], pairs: &[(usize, usize)], first_body: &[usize]) -> Island {
    let mut island = Island::default();
    let (mut sizes, mut joined, mut base) = (Vec::new(), Vec::new(), Vec::new());
    for &node in nodes {
        let part = &network.islands[node];
        base.push(island.bodies.len());
        let offset = island.bodies.len();
        for (index, body) in part.bodies.iter().enumerate() {
            island.bodies.push(body.moved(island.size));
            sizes.push(part.pattern.size(index));
        }
        island.size += part.size;
        for hold in &part.holds {
            let [a, b] = hold.bodies;
            if a != usize::MAX && b != usize::MAX {
                joined.push((a + offset, b + offset));
            }
        }
        island.frictions.extend(&part.frictions);
        island.springs.extend(&part.springs);
        island.point_springs.extend(&part.point_springs);
        island.locks.extend(&part.locks);
        island.rigid.extend(&part.rigid);
        island.rows += part.rows;
        island.blocks += part.blocks;
    }
    // The number of a body among all, as one of this island.
    let local = |body: usize| {
        let node = first_body.partition_point(|&first| first <= body) - 1;
        let place = nodes.iter().position(|&n| n == node).unwrap_or(0);
        base[place] + body - first_body[node]
    };
    joined.extend(pairs.iter().map(|&(a, b)| (local(a), local(b))));
    island.pattern = Pattern::new(&sizes, joined);
    let parts = |which: usize| {
        nodes.iter().zip(&base).flat_map(move |(&node, &offset)| {
            let part = &network.islands[node];
            let [springs, point_springs, locks, rigid] = part.first_holds();
            let first = [0, springs, point_springs, locks, rigid, part.holds.len()];
            part.holds[first[which]..first[which + 1]]
                .iter()
                .map(move |hold| (hold, offset))
        })
    };
    for which in 0..5 {
        for (hold, offset) in parts(which) {
            let bodies = hold.bodies.map(|body| (body != usize::MAX).then(|| body + offset));
            island.holds.push(Island::hold(&island.pattern, bodies));
        }
    }
    island
}

/// A contact that the program found, as the last step left it. Vectors are in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundContact<'a> {
    /// The body or link that touches.
    pub first: &'a str,
    /// The one that it touches.
    pub second: &'a str,
    /// Where, m.
    pub point: [f64; 3],
    /// Unit normal, from the second to the first.
    pub normal: [f64; 3],
    /// Force on the first, N.
    pub force: [f64; 3],
    /// Velocity at which the first slides over the second, m/s.
    pub slip: [f64; 3],
    /// Distance at the start of the step, m.
    pub gap: f64,
    /// Stick, slip or open.
    pub mode: Mode,
}

impl Scene {
    /// Bodies whose middle is inside of a mesh, where they touch none of its triangles from outside, and how deep.
    fn inside_meshes(&self, room: &SceneRoom) -> Vec<([String; 2], f64)> {
        let mut inside = Vec::new();
        for (a, b) in room.near.iter().map(|&(a, b)| (a as usize, b as usize)) {
            for (body, scenery) in [(a, b), (b, a)] {
                let Solid::Mesh(mesh) = &self.colliders[scenery].solid else {
                    continue;
                };
                let (place, at) = (&room.placed[scenery], &room.placed[body]);
                let depth = mesh.depth(&place.rotation.tr_mul(&(at.position - place.position)));
                let round = match self.colliders[body].solid {
                    Solid::Sphere(radius) | Solid::Capsule { radius, .. } => radius,
                    _ => 0.0,
                };
                if depth > 0.0 {
                    let names = [a, b].map(|c| self.names[self.colliders[c].group].clone());
                    inside.push((names, depth + round));
                }
            }
        }
        inside
    }

    /// The contacts of the last step.
    pub(crate) fn listed<'a>(&'a self, room: &'a SceneRoom) -> impl Iterator<Item = FoundContact<'a>> {
        room.found.iter().map(|found| {
            let (point, directions) = found.candidate.place();
            let force = found.world_force();
            let [first, second] = self.names(found);
            FoundContact {
                first,
                second,
                point: point.into(),
                normal: directions[0].into(),
                force: force.into(),
                slip: found.slip.into(),
                gap: found.touch.gap,
                mode: match (found.force[0] > 0.0, found.stuck) {
                    (false, _) => Mode::Open,
                    (true, stuck) => Mode::stuck(stuck),
                },
            }
        })
    }
}

impl Network {
    /// Contacts of the scene in a state whose bodies rest or move as they do there: before the first step, and for what is shown.
    pub(crate) fn detect(&self, state: &[f64]) -> Option<SceneRoom> {
        let scene = self.scene.as_ref()?;
        let mut frames = vec![Frame::ground(); self.bodies.len()];
        let mut linkages: Vec<LinkageScratch> = self.linkages.iter().map(|placed| placed.body.scratch()).collect();
        self.place_bodies(state, &mut frames, &mut linkages);
        let mut room = SceneRoom::new(self);
        room.detect(&Begin {
            network: self,
            scene,
            before: state,
            after: state,
            frames: &frames,
            linkages: &linkages,
            step: self.step,
        });
        Some(room)
    }

    /// The deepest overlap of the scene in a state, 0 where there is none.
    pub(crate) fn depth(&self, state: &[f64]) -> f64 {
        let found = self.detect(state).map_or_else(Vec::new, |room| room.found);
        found.iter().map(|found| -found.candidate.gap).fold(0.0, f64::max)
    }

    /// How deep bodies of the scene overlap in a state, and which.
    pub(crate) fn deepest(&self, state: &[f64]) -> Vec<([String; 2], f64)> {
        let (Some(scene), Some(room)) = (&self.scene, self.detect(state)) else {
            return Vec::new();
        };
        let mut deepest: Vec<([String; 2], f64)> = Vec::new();
        for found in &room.found {
            let names = scene.names(found).map(str::to_string);
            let size = found.touch.point.norm();
            // Positions written in decimals are rounded.
            if -found.touch.gap > 1e-9 * size {
                match deepest.iter_mut().find(|(other, _)| *other == names) {
                    Some((_, depth)) => *depth = depth.max(-found.touch.gap),
                    None => deepest.push((names, -found.touch.gap)),
                }
            }
        }
        for (names, depth) in scene.inside_meshes(&room) {
            match deepest.iter_mut().find(|(other, _)| *other == names) {
                Some((_, known)) => *known = depth.max(*known),
                None => deepest.push((names, depth)),
            }
        }
        deepest
    }

    /// Whether the bodies of a contact do not turn against each other.
    fn turns_with(&self, state: &[f64], scene: &Scene, found: &Found) -> bool {
        let still = |c: usize| self.velocities_of(scene.colliders[c].body).all(|v| state[v] == 0.0);
        found.colliders.into_iter().all(still)
    }

    /// Brings the memory of the contacts of the scene in line with a state that was set from outside: what touches and does not move sticks.
    pub(crate) fn remember_scene(&self, state: &mut [f64]) {
        let (Some(scene), Some(room)) = (&self.scene, self.detect(state)) else {
            return;
        };
        let mut keys = Vec::new();
        for found in &room.found {
            let number = key(found.colliders, found.touch.feature);
            keys.extend(found.candidate.rests().then_some(number));
            let still = found.candidate.gap <= 0.0 && self.turns_with(state, scene, found);
            for which in (0..2).filter(|&which| still && found.candidate.arms[which] > 0.0) {
                keys.push(turning_key(number, which));
            }
        }
        keys.sort_by(f64::total_cmp);
        write_keys(&keys, &scene.memory, state);
    }
}

/// Finds the contacts of a step and forms its islands.
pub(super) fn meet(network: &Network, scene: &Scene, scratch: &mut Scratch, step: f64, apart: bool) {
    let mut room = std::mem::take(&mut scratch.implicit.scene);
    room.cuts_last = scratch.implicit.second_order;
    let (frames, linkages) = match apart {
        true => (&scratch.implicit.placement.frames, &scratch.implicit.placement.linkages),
        false => (&scratch.frames, &scratch.linkages),
    };
    room.detect(&Begin {
        network,
        scene,
        before: &scratch.trial,
        after: &scratch.sum,
        frames,
        linkages,
        step,
    });
    if apart {
        room.follow(&Begin {
            network,
            scene,
            before: &scratch.implicit.middle,
            after: &scratch.sum,
            frames: &scratch.frames,
            linkages: &scratch.linkages,
            step,
        });
    }
    room.join(network, scene);
    for joined in &room.islands {
        scratch.implicit.fit(network, &joined.island);
    }
    scratch.implicit.scene = room;
}
