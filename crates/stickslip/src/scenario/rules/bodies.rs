//! Rules of rigid bodies and links, for the reader (`read/bodies.rs`) and for models in Rust.

use super::{Fault, Faults, PartFault, Sign, name_fault};
use crate::scenario::diagnostic::{list_words, nearest};
use crate::scenario::spec::*;
use crate::scenario::tree::shorten;

/// No rotation, as a quaternion.
pub(crate) const NO_ROTATION: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// Scaled to length 1. What is 1 to rounding stays as it is, and what has no direction too: that is refused later.
pub(crate) fn unit<const N: usize>(vector: [f64; N]) -> [f64; N] {
    let largest = vector.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return vector;
    }
    let scaled = vector.map(|x| x / largest);
    let length = largest * scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    if (length - 1.0).abs() <= 1e-14 {
        return vector;
    }
    let short = length / largest;
    scaled.map(|x| x / short)
}

/// What is wrong with the moments of inertia xx, yy, zz, xy, xz, yz, and what to do: some distribution of mass must have them.
pub(in crate::scenario) fn inertia_fault(path: &str, tensor: [f64; 6], sign: Sign) -> Option<Fault> {
    const HELP: &str = "write the moments about the centre of mass as xx, yy, zz, then the products xy, xz, yz if any";
    let [xx, yy, zz, xy, xz, yz] = tensor;
    let smallest = xx.min(yy).min(zz);
    if smallest < 0.0 || (smallest == 0.0 && sign == Sign::Positive) {
        let message = format!("`{path}` has a moment that is not greater than 0: {smallest}");
        return Some((message, HELP));
    }
    // Moments are sums of m(y² + z²) and the like, so none exceeds the sum of the other two.
    let slack = 1.0 + 1e-9;
    if xx > (yy + zz) * slack || yy > (xx + zz) * slack || zz > (xx + yy) * slack {
        let message =
            format!("no body has the moments `{path}` = {xx}, {yy}, {zz}: one exceeds the sum of the other two");
        return Some((message, HELP));
    }
    let determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    let scale = xx.max(yy).max(zz);
    let minors = [xx * yy - xy * xy, xx * zz - xz * xz, yy * zz - yz * yz];
    let impossible =
        minors.iter().any(|minor| *minor < -1e-12 * scale * scale) || determinant < -1e-12 * scale * scale * scale;
    impossible.then(|| {
        let message = format!("the products of inertia in `{path}` are too large for its moments");
        (message, HELP)
    })
}

/// What is wrong with the edges of a box.
pub(in crate::scenario) fn box_fault(edges: [f64; 3]) -> Option<Fault> {
    let edge = edges.into_iter().find(|edge| *edge <= 0.0)?;
    let message = format!("the edges of a box must be greater than 0, found {edge}");
    Some((message, "write the three edge lengths: box = [0.1, 0.2, 0.3]"))
}

/// What is wrong with the limits of a joint that begins at `position`.
pub(in crate::scenario) fn limits_fault([low, high]: [f64; 2], position: f64) -> Option<Fault> {
    if low >= high {
        let message = format!("the lower limit {low} is not below the upper limit {high}");
        return Some((message, "write the lower limit first"));
    }
    (position < low || position > high).then(|| {
        let message = format!("the joint begins at {position}, outside its limits {low} … {high}");
        (message, "give the joint a `position` between its limits")
    })
}

/// What is wrong with a link without mass, if it does not carry another.
pub(in crate::scenario) fn massless_fault(link: &LinkSpec, carries: bool) -> Option<Fault> {
    (link.mass == 0.0 && !carries && link.joint_type != JointType::Fixed).then(|| {
        let message = format!(
            "the link `{}` has no mass and carries none, so nothing resists its motion",
            link.name
        );
        (message, "give it a mass greater than 0")
    })
}

/// A linkage without links.
pub(in crate::scenario) fn no_links(path: &str) -> Fault {
    (format!("`{path}` has no links"), "a linkage needs at least one link")
}

/// What is wrong with a floating linkage that has several roots.
pub(in crate::scenario) fn floating_fault(path: &str, floating: bool, links: &[LinkSpec]) -> Option<Fault> {
    (floating && links.iter().skip(1).any(|link| link.parent.is_none())).then(|| {
        let message = format!("`{path}` is floating, but more than one link hangs on the ground");
        (message, "only the root, which comes first, has parent = \"ground\"")
    })
}

/// The parts of a link, `name` or `joint`, whose name is taken in its linkage.
pub(in crate::scenario) fn part_taken(
    name: &str,
    joint: &str,
    earlier: &[LinkSpec],
) -> impl Iterator<Item = (&'static str, Fault)> {
    let taken = |part: &str| earlier.iter().any(|link| link.name == part || link.joint == part);
    let parts = [
        ("name", name, taken(name)),
        ("joint", joint, taken(joint) || name == joint),
    ];
    let told = parts.map(|(key, part, taken)| {
        let message = format!("the name `{part}` is taken in this linkage");
        let help = "links and joints of a linkage need names that are all different";
        taken.then_some((key, (message, help)))
    });
    told.into_iter().flatten()
}

/// Why a link cannot hang on `parent`, which is no earlier link, and what to do.
pub(crate) fn parent_fault(own: &str, parent: &str, all: &[impl AsRef<str>]) -> (String, String) {
    let names = || all.iter().map(AsRef::as_ref).chain(["ground"]);
    if own == parent {
        let help = "a link hangs on another link or on \"ground\"";
        return (format!("the link `{parent}` is its own parent"), help.to_string());
    }
    if all.iter().any(|name| name.as_ref() == parent) {
        let message = format!("the parent `{parent}` comes after its child");
        return (message, format!("list `{parent}` before this link"));
    }
    let help = match nearest(parent, names()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("the parent is one of {}", list_words(names())),
    };
    (format!("there is no link `{}` to hang on", shorten(parent)), help)
}

impl Faults<'_> {
    /// A unit vector or quaternion.
    pub(super) fn unit(&mut self, path: &str, values: &[f64]) {
        self.numbers(path, values);
        let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            let message = format!("`{path}` has length 0, so it has no direction");
            self.note(path, message, "give it a direction");
        } else if length.is_finite() && (length - 1.0).abs() > 1e-9 {
            let message = format!("`{path}` has length {length}, and should have length 1");
            self.note(path, message, "divide it by its length");
        }
    }

    pub(super) fn shape(&mut self, path: &str, shape: Option<&Shape>) {
        match shape {
            Some(Shape::Sphere(radius)) => self.number(&format!("{path}.shape.sphere"), *radius, Sign::Positive),
            Some(Shape::Box(edges)) => {
                let at = format!("{path}.shape.box");
                self.numbers(&at, edges);
                if let Some((message, help)) = box_fault(*edges) {
                    self.note(&at, message, help);
                }
            }
            Some(Shape::Capsule { radius, length } | Shape::Cylinder { radius, length }) => {
                self.number(&format!("{path}.shape.radius"), *radius, Sign::Positive);
                self.number(&format!("{path}.shape.length"), *length, Sign::Positive);
            }
            Some(Shape::Compound(parts)) => {
                for part in parts {
                    self.shape(path, Some(&part.shape));
                    self.numbers(&format!("{path}.shape.position"), &part.position);
                    self.unit(&format!("{path}.shape.rotation"), &part.rotation);
                }
            }
            // Hulls and meshes were checked when they were made.
            Some(Shape::Point | Shape::Hull(_) | Shape::Mesh(_) | Shape::Plane(_)) | None => (),
        }
    }

    /// Moments of inertia, unless they follow from a shape, which has its own rules.
    pub(super) fn inertia(&mut self, path: &str, (mass, inertia, shape): (f64, [f64; 6], Option<&Shape>), sign: Sign) {
        let at = format!("{path}.inertia");
        self.numbers(&at, &inertia);
        let follows = shape.is_some_and(|shape| shape.inertia(mass) == inertia);
        if !follows
            && inertia.iter().all(|moment| moment.is_finite())
            && let Some((message, help)) = inertia_fault(&at, inertia, sign)
        {
            self.note(&at, message, help);
        }
    }

    pub(super) fn linkage(&mut self, path: &str, linkage: &LinkageSpec) {
        if linkage.links.is_empty() {
            let (message, help) = no_links(path);
            self.note(path, message, help);
        }
        for i in 0..linkage.links.len() {
            self.link(path, linkage, i);
        }
        if let Some((message, help)) = floating_fault(path, linkage.floating, &linkage.links) {
            self.note(&format!("{path}.floating"), message, help);
        }
    }

    fn link(&mut self, linkage_path: &str, linkage: &LinkageSpec, number: usize) {
        let link = &linkage.links[number];
        let path = format!("{linkage_path}.{}", link.name);
        let at = |key: &str| format!("{path}.{key}");
        for (name, what) in [(&link.name, "link"), (&link.joint, "joint")] {
            if let Some((message, help)) = name_fault(name, what) {
                self.note(&path, message, help);
            }
        }
        for (_, (message, help)) in part_taken(&link.name, &link.joint, &linkage.links[..number]) {
            self.note(&path, message, help);
        }
        if link.parent.is_some_and(|parent| parent >= number) {
            let message = format!("the parent of `{}` does not come before it", link.name);
            self.note(&path, message, "put links in the order from the root outwards");
        }
        if matches!(link.joint_type, JointType::Revolute | JointType::Prismatic) {
            self.unit(&at("axis"), &link.axis);
        }
        self.numbers(&at("origin"), &link.origin);
        self.unit(&at("rotation"), &link.rotation);
        self.number(&at("mass"), link.mass, Sign::NotNegative);
        self.numbers(&at("com"), &link.com);
        self.shape(&path, link.shape.as_ref());
        self.inertia(&path, (link.mass, link.inertia, link.shape.as_ref()), Sign::NotNegative);
        self.number(&at("position"), link.position, Sign::Any);
        self.number(&at("velocity"), link.velocity, Sign::Any);
        if let Some([low, high]) = link.limits {
            self.numbers(&at("limits"), &[low, high]);
            if let Some((message, help)) = limits_fault([low, high], link.position) {
                self.note(&at("limits"), message, help);
            }
        }
        let carries = linkage.links.iter().any(|other| other.parent == Some(number));
        if let Some((message, help)) = massless_fault(link, carries) {
            self.note(&at("mass"), message, help);
        }
    }

    /// What was found wrong while the parts were put together.
    pub(super) fn parts(&mut self, faults: Vec<PartFault>) {
        for (path, message, help) in faults {
            self.note(&path, message, help);
        }
    }
}
