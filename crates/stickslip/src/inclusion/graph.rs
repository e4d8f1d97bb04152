//! Expressions without repetition: equal terms are one node, so whatever is evaluated, shown or emitted from here has its
//! common parts shared.

use super::tree::{Kind, Name, Tree};
use crate::profile::parser::{Binary, Unary};
use std::collections::HashMap;

/// Up to three things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Vector<T> {
    items: [T; 3],
    len: usize,
}

impl<T: Copy + Default> Vector<T> {
    /// The first three of a slice.
    pub(crate) fn new(slice: &[T]) -> Self {
        let mut items = [T::default(); 3];
        let len = slice.len().min(3);
        items[..len].copy_from_slice(&slice[..len]);
        Vector { items, len }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + use<'_, T> {
        self.items[..self.len].iter().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn map<U: Copy + Default>(&self, mut change: impl FnMut(T) -> U) -> Vector<U> {
        let mut items = [U::default(); 3];
        for (to, from) in items.iter_mut().zip(self.iter()) {
            *to = change(from);
        }
        Vector { items, len: self.len }
    }
}

impl<T> std::ops::Index<usize> for Vector<T> {
    type Output = T;
    fn index(&self, index: usize) -> &T {
        &self.items[index]
    }
}

/// A node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// The bits of a number.
    Number(u64),
    Name(Name),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    Choose(Id, Id, Id),
    /// As written, before the rewriting.
    Dio(Id),
    /// As written: arguments and component.
    Sgn(Vector<Id>, usize),
    /// What takes the place of the dio with this number.
    Contact(usize),
    /// What takes the place of the sgn with this number: a component.
    Friction(usize, usize),
}

impl Op {
    /// The nodes it is made of, from left to right.
    pub(crate) fn operands(&self) -> Vector<Id> {
        match *self {
            Self::Number(_) | Self::Name(_) | Self::Contact(_) | Self::Friction(..) => Vector::new(&[]),
            Self::Unary(_, a) | Self::Dio(a) => Vector::new(&[a]),
            Self::Binary(_, a, b) => Vector::new(&[a, b]),
            Self::Choose(a, b, c) => Vector::new(&[a, b, c]),
            Self::Sgn(arguments, _) => arguments,
        }
    }
}

/// Nodes, operands before what is made of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    ops: Vec<Op>,
    known: HashMap<Op, Id>,
}

impl Graph {
    /// The node that computes this; a new one if there is none yet.
    pub(crate) fn node(&mut self, op: Op) -> Id {
        let next = Id(self.ops.len() as u32);
        let id = *self.known.entry(op).or_insert(next);
        if id == next {
            self.ops.push(op);
        }
        id
    }

    pub(crate) fn number(&mut self, value: f64) -> Id {
        self.node(Op::Number(value.to_bits()))
    }

    pub(crate) fn op(&self, id: Id) -> Op {
        self.ops[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// All nodes, operands first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        (0..self.ops.len() as u32).map(Id)
    }

    /// The nodes of the terms of a tree, as written.
    pub(crate) fn take(&mut self, tree: &Tree) -> Vec<Id> {
        let mut ids: Vec<Id> = Vec::with_capacity(tree.terms.len());
        for term in &tree.terms {
            let id = |i: usize| ids[i];
            let op = match term.kind {
                Kind::Number(value) => Op::Number(value.to_bits()),
                Kind::Name(name) => Op::Name(name),
                Kind::Unary(function, a) => Op::Unary(function, id(a)),
                Kind::Binary(operation, a, b) => Op::Binary(operation, id(a), id(b)),
                Kind::Choose(a, b, c) => Op::Choose(id(a), id(b), id(c)),
                Kind::Dio(a) => Op::Dio(id(a)),
                Kind::Sgn(arguments, component) => Op::Sgn(arguments.map(id), component),
            };
            ids.push(self.node(op));
        }
        ids
    }

    /// How often each node is an operand of a node that `roots` need, or a root itself.
    pub(crate) fn uses(&self, roots: &[Id]) -> Vec<usize> {
        let mut uses = vec![0; self.ops.len()];
        for root in roots {
            uses[root.index()] += 1;
        }
        for index in (0..self.ops.len()).rev() {
            if uses[index] > 0 {
                for operand in self.ops[index].operands().iter() {
                    uses[operand.index()] += 1;
                }
            }
        }
        uses
    }
}
