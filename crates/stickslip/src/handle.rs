//! Handles of bodies and elements: what a [`Model`] gives for what was added to it, and a [`Simulation`] for a name.

#[cfg(doc)]
use crate::model::Model;
use crate::scenario::Port;
#[cfg(doc)]
use crate::simulation::Simulation;
use crate::snapshot::sum_of;

macro_rules! handle {
    ($handle:ident, $what:literal, $list:literal, $(#[$example:meta])*) => {
        #[doc = concat!("A ", $what, " of a system. It says which one it is by its place and its name, so it fits every simulation of that system, copies among them.")]
        ///
        #[doc = concat!("Where a simulation has no such ", $what, ", reading gives nothing (an empty slice, `None`) and setting is refused; nothing panics.")]
        $(#[$example])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $handle {
            number: usize,
            /// Sum of its name; 0 if any will do.
            name: u64,
        }

        impl $handle {
            #[doc = concat!("The ", $what, " at this place of the file, or in the order of adding, counted from 0, whatever its name: one of [`crate::scenario::Scenario::", $list, "`].")]
            pub const fn nth(number: usize) -> Self {
                Self { number, name: 0 }
            }

            pub(crate) fn named(number: usize, name: &str) -> Self {
                Self { number, name: sum_of(name) }
            }

            /// Its place in the file or in the order of adding, counted from 0.
            pub const fn number(self) -> usize {
                self.number
            }

            /// Its place among things with these names, if it is one of them.
            pub(crate) fn among(self, names: &[u64]) -> Option<usize> {
                let name = *names.get(self.number)?;
                (self.name == 0 || self.name == name).then_some(self.number)
            }
        }
    };
}

handle!(
    Body, "body", "bodies",
    /// ```
    /// # use stickslip::integrate::Method;
    /// # use stickslip::model::{GROUND, Model};
    /// let mut model = Model::new(1e-3, Method::Rk4);
    /// let block = model.mass("block", 1.0, &[0.25], &[0.0]);
    /// let spring = model.spring("spring", block, GROUND, 40.0, 0.0);
    /// let simulation = model.build()?;
    /// assert_eq!(simulation.position(block), &[0.25]);
    /// assert_eq!(simulation.body("block"), Some(block));
    /// assert_eq!(simulation.force(spring), &[-10.0]);
    ///
    /// let other = Model::new(1e-3, Method::Rk4).mass("sledge", 1.0, &[3.0], &[0.0]);
    /// assert!(simulation.position(other).is_empty()); // of another model
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// An element has no position:
    ///
    /// ```compile_fail,E0308
    /// # use stickslip::integrate::Method;
    /// # use stickslip::model::{GROUND, Model};
    /// # let mut model = Model::new(1e-3, Method::Rk4);
    /// # let block = model.mass("block", 1.0, &[0.25], &[0.0]);
    /// let spring = model.spring("spring", block, GROUND, 40.0, 0.0);
    /// let simulation = model.build().unwrap();
    /// simulation.position(spring);
    /// ```
);

handle!(
    Element, "element", "elements",
    /// ```compile_fail,E0308
    /// # use stickslip::integrate::Method;
    /// # use stickslip::model::Model;
    /// # let mut model = Model::new(1e-3, Method::Rk4);
    /// let block = model.mass("block", 1.0, &[0.25], &[0.0]);
    /// let simulation = model.build().unwrap();
    /// simulation.force(block); // a body is no element
    /// ```
);

/// What an element is attached to in a [`Model`]: a [`Body`], a [`Port`] such as [`crate::model::GROUND`], a link or a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub(crate) port: Port,
    /// The body it was made from, if it was one.
    pub(crate) body: Option<Body>,
}

impl From<Body> for End {
    fn from(body: Body) -> Self {
        End {
            port: Port::Body(body.number),
            body: Some(body),
        }
    }
}

impl From<Port> for End {
    fn from(port: Port) -> Self {
        End { port, body: None }
    }
}

impl From<Body> for Port {
    fn from(body: Body) -> Self {
        Port::Body(body.number)
    }
}
