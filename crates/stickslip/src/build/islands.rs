//! Islands: bodies that influence each other within an implicit step.

use super::{Builder, Place};
use crate::element::friction::Resolve;
use crate::integrate::Method;
use crate::network::implicit::{Island, IslandBody, IslandFriction};
use crate::network::lock::LockKind;
use crate::network::port::Attachment;
use crate::network::rigid::RigidKind;
use crate::network::sparse::Pattern;

/// What an implicit force takes hold of: a velocity of each body (by index in the flat state), none for the ground.
struct Holder {
    velocities: [Option<usize>; 2],
    kind: HolderKind,
}

enum HolderKind {
    Friction(IslandFriction),
    Spring(usize),
    PointSpring(usize),
    Lock(usize),
    Rigid(usize),
}

impl Holder {
    fn order(&self) -> usize {
        match self.kind {
            HolderKind::Friction(_) => 0,
            HolderKind::Spring(_) => 1,
            HolderKind::PointSpring(_) => 2,
            HolderKind::Lock(_) => 3,
            HolderKind::Rigid(_) => 4,
        }
    }
}

impl Builder<'_> {
    /// Finds the islands, and leaves to them every friction that is not alone on its bodies.
    pub(super) fn islands(&mut self, frictions: &mut [Box<dyn Resolve>]) -> Vec<Island> {
        if !self.method.implicit() {
            return Vec::new();
        }
        let mut holders = Vec::new();
        for (group, frictions) in frictions.iter().enumerate().filter(|(_, group)| group.couples()) {
            let (count, axes) = frictions.size();
            for index in 0..count {
                let pair = frictions.pair(index);
                holders.push(Holder {
                    velocities: [Some(pair.first.v), Some(pair.second.v)],
                    kind: HolderKind::Friction(IslandFriction { group, index, axes }),
                });
            }
        }
        for (index, spring) in self.stiff_springs.iter().enumerate() {
            let velocities = [Some(spring.pair.first.v), Some(spring.pair.second.v)];
            holders.push(Holder {
                velocities,
                kind: HolderKind::Spring(index),
            });
        }
        for (index, spring) in self.point_springs.iter().enumerate() {
            holders.push(Holder {
                velocities: spring.bodies.map(|body| self.first_velocity(body)),
                kind: HolderKind::PointSpring(index),
            });
        }
        for (index, lock) in self.locks.iter().enumerate() {
            let velocities = match &lock.kind {
                LockKind::Gear(pair) => [Some(pair.first.v), Some(pair.second.v)],
                LockKind::Joint(joint) => joint.bodies.map(|body| self.first_velocity(body)),
            };
            holders.push(Holder {
                velocities,
                kind: HolderKind::Lock(index),
            });
        }
        for (index, rigid) in self.rigid.iter().enumerate() {
            let velocities = match &rigid.kind {
                RigidKind::Stop { pair, .. } => [Some(pair.first.v), Some(pair.second.v)],
                RigidKind::Contact { geometry, .. } => {
                    [geometry.first, geometry.second].map(|body| self.first_velocity(body))
                }
            };
            holders.push(Holder {
                velocities,
                kind: HolderKind::Rigid(index),
            });
        }

        // Bodies of the scenario are the nodes; each holder joins the free ones it touches.
        let nodes: Vec<Option<(usize, usize)>> = self.places.iter().map(|&place| self.free_range(place)).collect();
        let mut owner: Vec<Option<usize>> = Vec::new();
        for (node, range) in nodes.iter().enumerate() {
            let Some((first, count)) = *range else { continue };
            owner.resize(owner.len().max(first + count), None);
            owner[first..first + count].fill(Some(node));
        }
        let node_of = |v: usize| owner.get(v).copied().flatten();
        let touched: Vec<Vec<usize>> = holders
            .iter()
            .map(|holder| holder.velocities.iter().flatten().filter_map(|&v| node_of(v)).collect())
            .collect();
        let mut root: Vec<usize> = (0..nodes.len()).collect();
        fn find(root: &mut [usize], mut node: usize) -> usize {
            while root[node] != node {
                // Every second node moves up: long lines of bodies stay short.
                root[node] = root[root[node]];
                node = root[node];
            }
            node
        }
        for bodies in &touched {
            for pair in bodies.windows(2) {
                let (a, b) = (find(&mut root, pair[0]), find(&mut root, pair[1]));
                root[a.max(b)] = a.min(b);
            }
        }

        let roots: Vec<usize> = (0..nodes.len()).map(|node| find(&mut root, node)).collect();
        let mut members_of: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let mut place = vec![0; nodes.len()];
        for (node, &root) in roots.iter().enumerate() {
            place[node] = members_of[root].len();
            members_of[root].push(node);
        }
        let mut held_by: Vec<Vec<&Holder>> = vec![Vec::new(); nodes.len()];
        for (holder, bodies) in holders.iter().zip(&touched) {
            if let Some(&body) = bodies.first() {
                held_by[roots[body]].push(holder);
            }
        }
        let mut islands = Vec::new();
        for node in 0..nodes.len() {
            if roots[node] != node || nodes[node].is_none() {
                continue;
            }
            let (members, held) = (&members_of[node], &held_by[node]);
            let alone = match held.as_slice() {
                [] => !members.iter().any(|&member| self.in_scene(member)),
                [
                    Holder {
                        kind: HolderKind::Friction(friction),
                        ..
                    },
                ] if self.method != Method::ImplicitMidpoint => {
                    let simple = members
                        .iter()
                        .all(|&m| matches!(self.places[m], Place::Coordinates { .. }));
                    let closed = frictions[friction.group].solves_alone(friction.index);
                    simple && closed && !members.iter().any(|&member| self.in_scene(member))
                }
                _ => false,
            };
            if alone {
                continue;
            }
            let body_of = |v: usize| node_of(v).map(|node| place[node]);
            islands.push(self.island(members, held, &body_of, frictions));
        }
        islands
    }

    fn island(
        &mut self,
        members: &[usize],
        held: &[&Holder],
        body_of: &dyn Fn(usize) -> Option<usize>,
        frictions: &mut [Box<dyn Resolve>],
    ) -> Island {
        let mut island = Island::default();
        for &member in members {
            let at = island.size;
            match self.places[member] {
                Place::Coordinates { first, axes, .. } => {
                    island.bodies.push(IslandBody::Masses {
                        v: first.v,
                        count: axes,
                        at,
                    });
                    island.size += axes;
                }
                Place::Rigid(body) => {
                    island.bodies.push(IslandBody::Rigid { body, at });
                    island.size += 6;
                }
                Place::Linkage(linkage) => {
                    self.linkages[linkage].placed = true;
                    island.bodies.push(IslandBody::Linkage { linkage, at });
                    island.size += self.linkages[linkage].velocities;
                }
                Place::Own(own) => {
                    island.bodies.push(IslandBody::Own { own, at });
                    island.size += self.own_bodies[own].count;
                }
            }
        }
        let sizes: Vec<usize> = island
            .bodies
            .iter()
            .map(|body| match *body {
                IslandBody::Masses { count, .. } => count,
                IslandBody::Rigid { .. } => 6,
                IslandBody::Linkage { linkage, .. } => self.linkages[linkage].velocities,
                IslandBody::Own { own, .. } => self.own_bodies[own].count,
            })
            .collect();
        let bodies: Vec<[Option<usize>; 2]> = held
            .iter()
            .map(|holder| [0, 1].map(|end| holder.velocities[end].and_then(body_of)))
            .collect();
        let pairs = bodies.iter().filter_map(|[first, second]| first.zip(*second));
        island.pattern = Pattern::new(&sizes, pairs);
        // Frictions, springs, locks, rigid elements: the order of the blocks.
        for kind in 0..5 {
            for (_, bodies) in held.iter().zip(&bodies).filter(|(holder, _)| holder.order() == kind) {
                island.holds.push(Island::hold(&island.pattern, *bodies));
            }
        }
        for holder in held {
            match holder.kind {
                HolderKind::Friction(friction) => {
                    frictions[friction.group].couple(friction.index);
                    island.frictions.push(friction);
                    island.rows += friction.axes;
                    island.blocks += 1;
                }
                HolderKind::Spring(spring) => island.springs.push(spring),
                HolderKind::PointSpring(spring) => island.point_springs.push(spring),
                HolderKind::Lock(lock) => {
                    let (blocks, rows) = self.locks[lock].size();
                    island.locks.push(lock);
                    island.rows += rows;
                    island.blocks += blocks;
                }
                HolderKind::Rigid(rigid) => {
                    let (blocks, rows) = self.rigid[rigid].size();
                    island.rigid.push(rigid);
                    island.rows += rows;
                    island.blocks += blocks;
                }
            }
        }
        island
    }

    /// First velocity of a body and how many, if it moves freely.
    fn free_range(&self, place: Place) -> Option<(usize, usize)> {
        match place {
            Place::Coordinates { driven: true, .. } => None,
            Place::Coordinates { first, axes, .. } => Some((first.v, axes)),
            Place::Rigid(body) => Some((self.bodies[body].v, 6)),
            Place::Linkage(linkage) => Some((self.linkages[linkage].v, self.linkages[linkage].velocities)),
            Place::Own(own) => Some((self.own_bodies[own].v, self.own_bodies[own].count)),
        }
    }

    fn first_velocity(&self, body: Attachment) -> Option<usize> {
        match body {
            Attachment::Ground => None,
            Attachment::Point { coordinate, .. } => Some(coordinate.v),
            Attachment::Rigid(body) => Some(self.bodies[body].v),
            Attachment::Link { linkage, .. } => Some(self.linkages[linkage].v),
            Attachment::Own { own, .. } => Some(self.own_bodies[own].v),
        }
    }
}
