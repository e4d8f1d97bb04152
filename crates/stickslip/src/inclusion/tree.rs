//! An equation as it was written: every term with its place in the text.

use super::graph::Vector;
use super::{Finding, Place};
use crate::profile::parser::{self, Binary, Builder, ExpressionError, SetValued, Unary};
use std::ops::Range;

/// Longest chain of terms that depend on each other in one equation. It bounds the recursion of whatever walks a tree.
const DEEPEST: usize = 1000;

/// A name of the description and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Time,
    State(usize),
    Parameter(usize),
    Input(usize),
}

/// A term; operands are numbers of terms before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Number(f64),
    Name(Name),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Choose(usize, usize, usize),
    Dio(usize),
    /// Arguments and the component asked for.
    Sgn(Vector<usize>, usize),
}

impl Kind {
    /// The terms it is made of, from left to right.
    pub(crate) fn operands(&self) -> Vector<usize> {
        match *self {
            Self::Number(_) | Self::Name(_) => Vector::new(&[]),
            Self::Unary(_, a) | Self::Dio(a) => Vector::new(&[a]),
            Self::Binary(_, a, b) => Vector::new(&[a, b]),
            Self::Choose(a, b, c) => Vector::new(&[a, b, c]),
            Self::Sgn(arguments, _) => arguments,
        }
    }
}

/// A term and its place.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub kind: Kind,
    pub at: Range<usize>,
    depth: usize,
}

/// Terms, operands before what is made of them; the last is the whole.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub terms: Vec<Term>,
}

impl Tree {
    /// Reads an expression with these names.
    pub(crate) fn parse(text: &str, names: &[(&str, Name)], place: Place) -> Result<Self, Finding> {
        let mut reader = Reader {
            names,
            terms: Vec::new(),
        };
        let refuse = |error: ExpressionError| Finding::new(place.clone(), error.message, "").at(error.span);
        parser::parse(text, &mut reader).map_err(refuse)?;
        let tree = Tree { terms: reader.terms };
        if tree.terms.iter().any(|term| term.depth > DEEPEST) {
            let message = format!("more than {DEEPEST} operations depend on each other");
            return Err(Finding::new(
                place,
                message,
                "make a shorter formula, or divide it into several states",
            ));
        }
        Ok(tree)
    }

    /// The number of the whole.
    pub(crate) fn root(&self) -> usize {
        self.terms.len() - 1
    }
}

struct Reader<'a> {
    names: &'a [(&'a str, Name)],
    terms: Vec<Term>,
}

impl Reader<'_> {
    fn push(&mut self, kind: Kind, at: Range<usize>) -> usize {
        let operands = kind.operands();
        let depth = operands.iter().map(|i| self.terms[i].depth).max().map_or(0, |d| d + 1);
        self.terms.push(Term { kind, at, depth });
        self.terms.len() - 1
    }
}

impl Builder for Reader<'_> {
    type Term = usize;
    const SET_VALUED: bool = true;

    fn names(&self) -> Vec<&str> {
        self.names.iter().map(|(name, _)| *name).collect()
    }

    fn constant(&mut self, value: f64, at: Range<usize>) -> usize {
        self.push(Kind::Number(value), at)
    }

    fn name(&mut self, name: &str, at: Range<usize>) -> Result<Option<usize>, ExpressionError> {
        let known = self.names.iter().find(|(known, _)| *known == name);
        Ok(known.map(|&(_, name)| self.push(Kind::Name(name), at)))
    }

    fn unary(&mut self, function: Unary, term: usize, at: Range<usize>) -> usize {
        self.push(Kind::Unary(function, term), at)
    }

    fn binary(&mut self, operation: Binary, left: usize, right: usize, at: Range<usize>) -> usize {
        self.push(Kind::Binary(operation, left, right), at)
    }

    fn choice(&mut self, condition: usize, first: usize, second: usize, at: Range<usize>) -> usize {
        self.push(Kind::Choose(condition, first, second), at)
    }

    fn set_valued(
        &mut self,
        map: SetValued,
        arguments: &[usize],
        component: Option<usize>,
        at: Range<usize>,
    ) -> Result<usize, ExpressionError> {
        let kind = match map {
            SetValued::Dio => Kind::Dio(arguments[0]),
            SetValued::Sgn => Kind::Sgn(Vector::new(arguments), component.unwrap_or(0)),
        };
        Ok(self.push(kind, at))
    }
}
