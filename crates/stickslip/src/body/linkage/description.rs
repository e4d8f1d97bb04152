//! What the user says about a linkage, and what is refused.

use core::fmt;

use nalgebra::{Matrix3, Vector3};

use crate::body::frame::{inertia_range, rotation_matrix};

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Turns about its axis; the coordinate is an angle, rad.
    Revolute,
    /// Slides along its axis; the coordinate is a length, m.
    Prismatic,
}

/// One link and the joint that carries it.
#[derive(Clone, Debug)]
pub struct LinkDescription {
    /// Name of the link.
    pub name: String,
    /// The link that carries the joint, described before this one; none for the ground.
    pub parent: Option<usize>,
    /// How the joint moves.
    pub kind: JointKind,
    /// Direction of the joint in the joint's axes, of any length but zero.
    pub axis: Vector3<f64>,
    /// Position of the joint in the parent's frame, m.
    pub origin: Vector3<f64>,
    /// Rotation (w, x, y, z) of the joint's axes in the parent's axes.
    pub rotation: [f64; 4],
    /// Mass of the link, kg; may be zero.
    pub mass: f64,
    /// Centre of mass in link axes, from the link's origin, m.
    pub com: Vector3<f64>,
    /// Inertia about the centre of mass in link axes, kg m².
    pub inertia: Matrix3<f64>,
}

/// A link that a fixed joint carries: it moves with another, or stays with the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedLink {
    /// Name of the link.
    pub name: String,
    /// The link with a moving joint that it moves with; none for the ground.
    pub carrier: Option<usize>,
    /// Position of its origin in the frame of the carrier, m.
    pub origin: Vector3<f64>,
    /// Rotation (w, x, y, z) of its axes in those of the carrier.
    pub rotation: [f64; 4],
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in its axes, from its origin, m.
    pub com: Vector3<f64>,
    /// Inertia about the centre of mass in its axes, kg m².
    pub inertia: Matrix3<f64>,
}

impl FixedLink {
    /// The carrier with the mass of this link; the two centres of mass become one, and inertias count about it (Steiner).
    pub(super) fn join(&self, carrier: &mut LinkDescription) {
        let mass = carrier.mass + self.mass;
        if mass == 0.0 {
            return;
        }
        let turn = rotation_matrix(self.rotation);
        let com = self.origin + turn * self.com;
        let centre = (carrier.com * carrier.mass + com * self.mass) / mass;
        let about = |inertia: Matrix3<f64>, mass: f64, com: Vector3<f64>| {
            let arm = (com - centre).cross_matrix();
            inertia - arm * arm * mass
        };
        carrier.inertia = about(carrier.inertia, carrier.mass, carrier.com)
            + about(turn * self.inertia * turn.transpose(), self.mass, com);
        // Products of rounded rotations are not quite symmetric.
        carrier.inertia = (carrier.inertia + carrier.inertia.transpose()) * 0.5;
        (carrier.mass, carrier.com) = (mass, centre);
    }
}

impl Default for LinkDescription {
    /// A massless link without extent on a revolute joint about z at the ground's origin.
    fn default() -> Self {
        LinkDescription {
            name: String::new(),
            parent: None,
            kind: JointKind::Revolute,
            axis: Vector3::z(),
            origin: Vector3::zeros(),
            rotation: [1.0, 0.0, 0.0, 0.0],
            mass: 0.0,
            com: Vector3::zeros(),
            inertia: Matrix3::zeros(),
        }
    }
}

/// Why a linkage was refused. Links are named by their index in the description.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkageError {
    /// There is no link.
    Empty,
    /// A number is not finite.
    NotFinite {
        /// The link; none for gravity.
        link: Option<usize>,
        /// The field.
        field: &'static str,
    },
    /// The mass is negative.
    Mass {
        /// The link.
        link: usize,
        /// Its mass.
        mass: f64,
    },
    /// The axis of the joint has no length.
    Axis {
        /// The link.
        link: usize,
    },
    /// The rotation of the joint has no length.
    Rotation {
        /// The link.
        link: usize,
    },
    /// The inertia is not symmetric or has a negative principal moment.
    Inertia {
        /// The link.
        link: usize,
    },
    /// The parent is not described before the link.
    Parent {
        /// The link.
        link: usize,
        /// What it names as its parent.
        parent: usize,
    },
    /// A floating linkage has one root, its first link; this other one is carried by the ground.
    SecondRoot {
        /// The link.
        link: usize,
    },
    /// The joint (or the floating root) of this link can move without moving any inertia.
    MotionWithoutInertia {
        /// The link.
        link: usize,
    },
}

impl fmt::Display for LinkageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a linkage needs at least one link"),
            Self::NotFinite {
                link: Some(link),
                field,
            } => write!(f, "link {link}: {field} is not a finite number"),
            Self::NotFinite { link: None, field } => write!(f, "{field} is not a finite number"),
            Self::Mass { link, mass } => {
                write!(f, "link {link}: mass must not be negative ({mass})")
            }
            Self::Axis { link } => write!(f, "link {link}: the joint axis has no direction"),
            Self::Rotation { link } => write!(f, "link {link}: the rotation quaternion is zero"),
            Self::Inertia { link } => {
                write!(
                    f,
                    "link {link}: inertia must be symmetric with no negative principal moment"
                )
            }
            Self::Parent { link, parent } => {
                write!(f, "link {link}: its parent {parent} must be described before it")
            }
            Self::SecondRoot { link } => {
                write!(
                    f,
                    "link {link}: a floating linkage has one root, but this link too is carried by the ground"
                )
            }
            Self::MotionWithoutInertia { link } => {
                write!(
                    f,
                    "link {link}: its joint can move without moving any mass; give the link mass or inertia"
                )
            }
        }
    }
}

impl std::error::Error for LinkageError {}

/// Everything that can be said of each link alone.
pub(super) fn check(links: &[LinkDescription], floating: bool, gravity: &Vector3<f64>) -> Result<(), LinkageError> {
    if links.is_empty() {
        return Err(LinkageError::Empty);
    }
    if !gravity.iter().all(|value| value.is_finite()) {
        return Err(LinkageError::NotFinite {
            link: None,
            field: "gravity",
        });
    }
    for (i, link) in links.iter().enumerate() {
        let fields: [(&'static str, &[f64]); 6] = [
            ("axis", link.axis.as_slice()),
            ("origin", link.origin.as_slice()),
            ("rotation", &link.rotation),
            ("mass", &[link.mass]),
            ("com", link.com.as_slice()),
            ("inertia", link.inertia.as_slice()),
        ];
        if let Some((field, _)) = fields
            .iter()
            .find(|(_, values)| !values.iter().all(|value| value.is_finite()))
        {
            return Err(LinkageError::NotFinite { link: Some(i), field });
        }
        if link.mass < 0.0 {
            return Err(LinkageError::Mass {
                link: i,
                mass: link.mass,
            });
        }
        let direction = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().is_normal();
        let free = floating && i == 0;
        if !free && !direction(link.axis.as_slice()) {
            return Err(LinkageError::Axis { link: i });
        }
        if !free && !direction(&link.rotation) {
            return Err(LinkageError::Rotation { link: i });
        }
        match inertia_range(&link.inertia) {
            Some((smallest, largest)) if smallest >= -1e-9 * largest.abs() => {}
            _ => return Err(LinkageError::Inertia { link: i }),
        }
        match link.parent {
            Some(parent) if parent >= i => return Err(LinkageError::Parent { link: i, parent }),
            None if floating && i > 0 => return Err(LinkageError::SecondRoot { link: i }),
            _ => {}
        }
    }
    Ok(())
}
