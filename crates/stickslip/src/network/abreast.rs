//! Networks that differ in numbers only, side by side: one network of plain coordinates whose numbers are lanes.
//!
//! The kernels are those of a single network, written over `Real`; a kind of element says in `abreast` whether it goes in
//! lanes. Every lane goes through the operations of its own network in the same order.

use super::ball::RoundContact;
use super::port::Pair;
use super::stage::Coordinates;
use super::{AppliedForce, Drive, Layout, Network};
use multiversion::multiversion;
use std::any::Any;
use stickslip_core::scalar::Lanes;

/// Networks side by side: two vectors of 256 bits, whose instructions mix.
pub const WIDTH: usize = 8;

/// A number of each of them.
pub type Wide = Lanes<WIDTH>;

/// The implicit step as frictions that are alone on their bodies see it.
pub struct Ends<'a, R> {
    /// State at the start.
    pub before: &'a [R],
    /// State at the end; velocities are v̄ until friction has acted.
    pub after: &'a mut [R],
    /// Profiles at the end.
    pub signals: &'a [R],
    /// Compressive force of each element at the start.
    pub compression: &'a [R],
}

/// What a group of elements does in lanes. Implementations are `#[inline(always)]`, so that [`Vectorised`] compiles them for
/// the vector instructions of the machine.
pub trait Kernel<A> {
    /// Reads motion and writes the answers.
    fn run(&self, at: A);
}

/// Elements that answer motion with force, in lanes.
pub type RespondAbreast = Box<dyn for<'a> Kernel<Coordinates<'a, Wide>>>;
/// Frictions of the implicit step, in lanes.
pub type ResolveAbreast = Box<dyn for<'a> Kernel<Ends<'a, Wide>>>;

/// A kernel compiled for wider vectors too; which is taken is decided when the program runs.
pub struct Vectorised<K>(pub K);

impl<A, K: Kernel<A>> Kernel<A> for Vectorised<K> {
    fn run(&self, at: A) {
        vectorised(&self.0, at);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn vectorised<A, K: Kernel<A>>(kernel: &K, at: A) {
    kernel.run(at);
}

/// The same number of several things.
pub fn side<T: ?Sized, const W: usize>(all: &[&T; W], get: impl Fn(&T) -> f64) -> Lanes<W> {
    Lanes(std::array::from_fn(|i| get(all[i])))
}

/// What is the same in several things; none if it is not.
pub fn common<T: ?Sized, K: PartialEq, const W: usize>(all: &[&T; W], get: impl Fn(&T) -> K) -> Option<K> {
    let first = get(all[0]);
    all[1..].iter().all(|one| get(one) == first).then_some(first)
}

/// Lists of the same length joined item by item.
pub fn join<T, U, const W: usize>(lists: [&Vec<T>; W], join: impl Fn(&[&T; W]) -> Option<U>) -> Option<Vec<U>> {
    let count = common(&lists, |list| list.len())?;
    (0..count).map(|i| join(&lists.map(|list| &list[i]))).collect()
}

/// Groups of a kind; none if one is of another.
pub fn of_one_kind<T: Any>(all: [&dyn Any; WIDTH]) -> Option<[&T; WIDTH]> {
    let mut groups = [all[0].downcast_ref::<T>()?; WIDTH];
    for (own, group) in groups.iter_mut().zip(all) {
        *own = group.downcast_ref()?;
    }
    Some(groups)
}

impl Pair {
    /// Pairs of the same coordinates, side by side.
    pub fn abreast(each: [&Pair; WIDTH]) -> Option<Pair<Wide>> {
        let (first, second) = common(&each, |pair| (pair.first, pair.second))?;
        let ratio = |i: usize| side(&each, |pair| pair.ratio[i]);
        let inverse = |i: usize| side(&each, |pair| pair.inverse_ratio[i]);
        Some(Pair {
            first,
            second,
            ratio: [ratio(0), ratio(1)],
            inverse_ratio: [inverse(0), inverse(1)],
        })
    }
}

impl RoundContact<Wide> {
    /// Contacts side by side.
    pub(crate) fn abreast(each: &[&RoundContact; WIDTH]) -> Self {
        let triple = |get: &dyn Fn(&RoundContact) -> [f64; 3]| std::array::from_fn(|k| side(each, |own| get(own)[k]));
        let pair = |get: &dyn Fn(&RoundContact) -> [f64; 2]| std::array::from_fn(|k| side(each, |own| get(own)[k]));
        RoundContact {
            directions: std::array::from_fn(|i| triple(&|own| own.directions[i])),
            arm: triple(&|own| own.arm),
            turns: std::array::from_fn(|i| triple(&|own| own.turns[i])),
            mobility: pair(&|own| own.mobility),
            compliance: pair(&|own| own.compliance),
        }
    }
}

/// Several networks as one.
pub(crate) struct Abreast {
    pub(crate) layout: Layout,
    pub(crate) step: f64,
    pub(crate) inverse_mass: Vec<Wide>,
    pub(crate) gravity: Vec<Wide>,
    pub(crate) drives: Vec<Drive<Wide>>,
    pub(crate) forces: Vec<AppliedForce>,
    pub(crate) elements: Vec<RespondAbreast>,
    pub(crate) frictions: Vec<ResolveAbreast>,
    pub(crate) element_count: usize,
    pub(crate) signals: usize,
}

impl Abreast {
    /// Networks of masses, inertias and drivers with elements that go in lanes; none if there is anything else, or if they
    /// differ in more than numbers.
    pub(crate) fn of(networks: &[&Network; WIDTH]) -> Option<Self> {
        let plain =
            |network: &Network| network.is_simple() && network.rigid.is_empty() && network.stiff_springs.is_empty();
        if !networks.iter().all(|network| plain(network)) {
            return None;
        }
        let groups = |i: usize| {
            let all = networks.map(|network| network.elements[i].as_ref());
            all[0].abreast(&all)
        };
        let frictions = |i: usize| {
            let all = networks.map(|network| network.frictions[i].as_ref());
            all[0].abreast(&all)
        };
        let numbers = |get: fn(&Network) -> &Vec<f64>| {
            let lists = networks.map(get);
            join(lists, |each| Some(side(each, |number| *number)))
        };
        Some(Abreast {
            layout: common(networks, |network| network.layout.clone())?,
            step: common(networks, |network| network.step)?,
            inverse_mass: numbers(|network| &network.inverse_mass)?,
            gravity: numbers(|network| &network.gravity)?,
            drives: join(networks.map(|network| &network.drives), Drive::abreast)?,
            forces: join(networks.map(|network| &network.forces), |each| {
                common(each, |force| *force)
            })?,
            elements: (0..common(networks, |network| network.elements.len())?)
                .map(groups)
                .collect::<Option<_>>()?,
            frictions: (0..common(networks, |network| network.frictions.len())?)
                .map(frictions)
                .collect::<Option<_>>()?,
            element_count: common(networks, |network| network.element_count)?,
            signals: common(networks, |network| network.signals.len())?,
        })
    }
}

impl Drive {
    fn abreast(each: &[&Drive; WIDTH]) -> Option<Drive<Wide>> {
        let form = |drive: &Drive| (drive.coordinate, drive.signal, drive.position, drive.sum);
        let (coordinate, signal, position, sum) = common(each, form)?;
        Some(Drive {
            coordinate,
            signal,
            position,
            start: side(each, |drive| drive.start),
            sum,
        })
    }
}
