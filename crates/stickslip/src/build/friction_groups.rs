//! Frictions while a network is built: one list per law of the table and number of axes, in the order of the table.

use super::elements::{ElementGroups, FrictionGroups};
use super::laws::AppliedKind;
use crate::element::friction::{Baselines, Bristles, Friction, Frictions};
use crate::element::laws::Tangential;
use stickslip_core::friction::elliptic::{Ellipse, Elliptic};
use stickslip_core::friction::{Applied, AtStart, FrictionLaw};
use stickslip_core::{applied_laws, bristle_laws};

/// Frictions of one law for one, two and three axes, and elliptic ones on two.
pub(super) struct ByAxes<L>(
    pub Vec<Friction<L>>,
    pub Vec<Friction<L>>,
    pub Vec<Friction<L>>,
    Vec<Friction<Elliptic<L>>>,
);

impl<L> Default for ByAxes<L> {
    fn default() -> Self {
        ByAxes(Vec::new(), Vec::new(), Vec::new(), Vec::new())
    }
}

impl<L> ByAxes<L> {
    pub(super) fn push(&mut self, axes: usize, ellipse: Option<Ellipse<f64>>, friction: Friction<L>) {
        match (axes, ellipse) {
            (1, _) => self.0.push(friction),
            (2, None) => self.1.push(friction),
            (2, Some(ellipse)) => self.3.push(friction.with(|law| Elliptic { law, ellipse })),
            _ => self.2.push(friction),
        }
    }
}

impl<L: FrictionLaw> ByAxes<L> {
    /// The lists that are not empty, for methods that ask for forces.
    fn respond(self, groups: &mut ElementGroups) {
        fn put<L: FrictionLaw, const N: usize>(items: Vec<Friction<L>>, groups: &mut ElementGroups) {
            if !items.is_empty() {
                groups.push(Box::new(Frictions::<L, N>(items)));
            }
        }
        put::<L, 1>(self.0, groups);
        put::<L, 2>(self.1, groups);
        put::<L, 3>(self.2, groups);
        if !self.3.is_empty() {
            groups.push(Box::new(Frictions::<Elliptic<L>, 2>(self.3)));
        }
    }

    /// The same for the implicit step.
    fn resolve(self, groups: &mut FrictionGroups) {
        if L::AT_START {
            fn all<L, M>(items: Vec<Friction<L>>, change: impl Fn(L) -> M) -> Vec<Friction<M>> {
                items.into_iter().map(|friction| friction.with(&change)).collect()
            }
            let elliptic = |Elliptic { law, ellipse }| Elliptic {
                law: AtStart(law),
                ellipse,
            };
            let lists = [self.0, self.1, self.2].map(|list| all(list, AtStart));
            let [one, two, three] = lists;
            ByAxes(one, two, three, all(self.3, elliptic)).push_forward(groups);
            return;
        }
        fn put<L: FrictionLaw, const N: usize>(items: Vec<Friction<L>>, groups: &mut FrictionGroups) {
            if !items.is_empty() {
                groups.push(Box::new(Bristles(Frictions::<L, N>(items))));
            }
        }
        put::<L, 1>(self.0, groups);
        put::<L, 2>(self.1, groups);
        put::<L, 3>(self.2, groups);
        if !self.3.is_empty() {
            groups.push(Box::new(Bristles(Frictions::<Elliptic<L>, 2>(self.3))));
        }
    }
}

impl<L: Applied> ByAxes<L> {
    /// The lists that are not empty, of laws that the implicit step asks at its start.
    fn push_forward(self, groups: &mut FrictionGroups) {
        fn put<L: Applied, const N: usize>(items: Vec<Friction<L>>, groups: &mut FrictionGroups) {
            if !items.is_empty() {
                groups.push(Box::new(Baselines(Frictions::<L, N>(items))));
            }
        }
        put::<L, 1>(self.0, groups);
        put::<L, 2>(self.1, groups);
        put::<L, 3>(self.2, groups);
        put::<Elliptic<L>, 2>(self.3, groups);
    }
}

macro_rules! bristle_groups {
    ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {
        /// Frictions of every bristle law.
        #[derive(Default)]
        pub(super) struct BristleGroups {
            $($field: ByAxes<$law>,)*
        }

        impl BristleGroups {
            pub(super) fn push(&mut self, law: Tangential, axes: usize, ellipse: Option<Ellipse<f64>>, friction: Friction<()>) {
                match law {
                    Tangential::None => (),
                    $(Tangential::$variant(law) => self.$field.push(axes, ellipse, friction.with(|()| law)),)*
                }
            }

            pub(super) fn respond(self, groups: &mut ElementGroups) {
                $(self.$field.respond(groups);)*
            }

            pub(super) fn resolve(self, groups: &mut FrictionGroups) {
                $(self.$field.resolve(groups);)*
            }
        }
    };
}
/// The kind of number that the types of the table are written in.
type R = f64;
bristle_laws!(bristle_groups!);

macro_rules! applied_groups {
    ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {
        /// Frictions of every law that follows from the start of the step.
        #[derive(Default)]
        pub(super) struct AppliedGroups {
            $($field: ByAxes<$law>,)*
        }

        impl AppliedGroups {
            pub(super) fn push(&mut self, law: AppliedKind, axes: usize, ellipse: Option<Ellipse<f64>>, friction: Friction<()>) {
                match law {
                    $(AppliedKind::$variant(law) => self.$field.push(axes, ellipse, friction.with(|()| law)),)*
                }
            }

            pub(super) fn resolve(self, groups: &mut FrictionGroups) {
                $(self.$field.push_forward(groups);)*
            }
        }
    };
}
applied_laws!(applied_groups!);
