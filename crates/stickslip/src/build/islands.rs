//! Islands: bodies that influence each other within an implicit step.

use super::{Builder, Place};
use crate::element::friction::Resolve;
use crate::network::implicit::{Island, IslandBody, IslandFriction};
use crate::network::port::Attachment;
use crate::network::rigid::RigidKind;

/// What an implicit force takes hold of: velocities (by index in the flat state) that are free.
struct Holder {
    velocities: Vec<usize>,
    kind: HolderKind,
}

enum HolderKind {
    Friction(IslandFriction),
    Spring(usize),
    Rigid(usize),
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
                    velocities: vec![pair.first.v, pair.second.v],
                    kind: HolderKind::Friction(IslandFriction { group, index, axes }),
                });
            }
        }
        for (index, spring) in self.stiff_springs.iter().enumerate() {
            let velocities = vec![spring.pair.first.v, spring.pair.second.v];
            holders.push(Holder {
                velocities,
                kind: HolderKind::Spring(index),
            });
        }
        for (index, rigid) in self.rigid.iter().enumerate() {
            let velocities = match &rigid.kind {
                RigidKind::Stop { pair, .. } => vec![pair.first.v, pair.second.v],
                RigidKind::Contact { geometry, .. } => [geometry.first, geometry.second]
                    .iter()
                    .filter_map(|&body| self.first_velocity(body))
                    .collect(),
            };
            holders.push(Holder {
                velocities,
                kind: HolderKind::Rigid(index),
            });
        }

        // Bodies of the scenario are the nodes; each holder joins the free ones it touches.
        let nodes: Vec<Option<(usize, usize)>> = self.places.iter().map(|&place| self.free_range(place)).collect();
        let node_of = |v: usize| {
            nodes
                .iter()
                .position(|range| range.is_some_and(|(first, count)| (first..first + count).contains(&v)))
        };
        let touched: Vec<Vec<usize>> = holders
            .iter()
            .map(|holder| holder.velocities.iter().filter_map(|&v| node_of(v)).collect())
            .collect();
        let mut root: Vec<usize> = (0..nodes.len()).collect();
        fn find(root: &[usize], mut node: usize) -> usize {
            while root[node] != node {
                node = root[node];
            }
            node
        }
        for bodies in &touched {
            for pair in bodies.windows(2) {
                let (a, b) = (find(&root, pair[0]), find(&root, pair[1]));
                root[a.max(b)] = a.min(b);
            }
        }

        let mut islands = Vec::new();
        for node in 0..nodes.len() {
            if find(&root, node) != node || nodes[node].is_none() {
                continue;
            }
            let members: Vec<usize> = (0..nodes.len()).filter(|&other| find(&root, other) == node).collect();
            let held: Vec<&Holder> = holders
                .iter()
                .zip(&touched)
                .filter(|(_, bodies)| bodies.first().is_some_and(|&body| find(&root, body) == node))
                .map(|(holder, _)| holder)
                .collect();
            let alone = match held.as_slice() {
                [] => true,
                [
                    Holder {
                        kind: HolderKind::Friction(friction),
                        ..
                    },
                ] => {
                    let simple = members
                        .iter()
                        .all(|&m| matches!(self.places[m], Place::Coordinates { .. }));
                    let closed = frictions[friction.group].solves_alone(friction.index);
                    simple && closed
                }
                _ => false,
            };
            if alone {
                continue;
            }
            islands.push(self.island(&members, &held, frictions));
        }
        islands
    }

    fn island(&mut self, members: &[usize], held: &[&Holder], frictions: &mut [Box<dyn Resolve>]) -> Island {
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
        for holder in held {
            match holder.kind {
                HolderKind::Friction(friction) => {
                    frictions[friction.group].couple(friction.index);
                    island.frictions.push(friction);
                    island.rows += friction.axes;
                    island.blocks += 1;
                }
                HolderKind::Spring(spring) => island.springs.push(spring),
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
