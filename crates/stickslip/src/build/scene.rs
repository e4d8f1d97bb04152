//! The scene: shapes whose contacts the program finds, who touches whom, and what materials do to each other.

use super::{Builder, Place};
use crate::body::frame::rotation_matrix;
use crate::element::curve::SteadyCurve;
use crate::network::port::Attachment;
use crate::network::rigid::RECOVERY;
use crate::network::scene::{Collider, Pairing, Scene};
use crate::scenario::{BodySpec, ContactsSpec, DriverMotion, ElementSpec, Port, RigidBodySpec, Shape, Surface};
use crate::shape::Solid;
use nalgebra::{Matrix3, Vector3};
use stickslip_core::registry::{self, Face, Family};

/// Numbers of colliders are kept in so many bits.
const MOST_COLLIDERS: usize = 1 << 14;

/// How many contacts of a shape are remembered as sticking: neighbours on all sides.
fn remembered(solid: &Solid) -> usize {
    match solid {
        Solid::Sphere(_) => 12,
        Solid::Capsule { .. } => 24,
        _ => 48,
    }
}

/// Whether contacts resist rolling or spinning.
fn resists_turning(spec: &ContactsSpec) -> bool {
    let of_surface = |surface: &Surface| surface.rolling.is_some() || surface.spinning.is_some();
    let friction = spec.friction.as_ref();
    friction.is_some_and(|friction| friction.rolling.is_some() || friction.spinning.is_some())
        || spec.materials.iter().any(|(_, surface)| of_surface(surface))
        || spec.pairs.iter().any(|(_, surface)| of_surface(surface))
}

impl Builder<'_> {
    /// States of the contacts that are found: how many stick, and which.
    pub(super) fn scene_states(&self) -> usize {
        let shapes = self.scenario.bodies.iter().flat_map(|(_, body)| match body {
            BodySpec::RigidBody(RigidBodySpec { shape, .. }) => shape.iter().collect(),
            BodySpec::Linkage(linkage) => linkage.links.iter().filter_map(|link| link.shape.as_ref()).collect(),
            _ => Vec::new(),
        });
        let solids = shapes.flat_map(Shape::solids);
        let turning = self.scenario.elements.iter().any(|(_, element)| match element {
            ElementSpec::Found(spec) => resists_turning(spec),
            _ => false,
        });
        // Each contact may stick, and then not roll and not spin.
        let each = if turning { 3 } else { 1 };
        1 + each * solids.map(|(solid, ..)| remembered(&solid)).sum::<usize>()
    }

    /// Whether a body has a shape that the program finds contacts of.
    pub(super) fn in_scene(&self, body: usize) -> bool {
        let found = |(_, element): &(String, ElementSpec)| matches!(element, ElementSpec::Found(_));
        let shaped = match &self.scenario.bodies[body].1 {
            BodySpec::RigidBody(spec) => spec.shape.is_some(),
            BodySpec::Linkage(linkage) => linkage.links.iter().any(|link| link.shape.is_some()),
            _ => false,
        };
        shaped && self.scenario.elements.iter().any(found)
    }

    pub(super) fn found_contacts(&mut self, element: usize, spec: &ContactsSpec) {
        self.axes[element] = 3;
        let states = self.scene_states();
        let first = self.take_states(element, states);
        // Contacts between no bodies are none.
        if spec.between.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        if !self.method.implicit() {
            let name = self.method.row().name;
            let message = format!("contacts that the program finds do not run with the integrator \"{name}\"");
            self.error("contacts", message).help =
                Some("write integrator = \"implicit-euler\" or \"implicit-midpoint\" in [simulation]".into());
            return;
        }
        let Some(pairings) = self.pairings(spec) else { return };
        let (colliders, names) = self.colliders(spec);
        if colliders
            .iter()
            .all(|collider| !matches!(collider.body, Attachment::Rigid(_) | Attachment::Link { .. }))
        {
            self.error("contacts", "no body that moves has a shape").help =
                Some("add shape = { box = [0.1, 0.1, 0.1] } to a rigid body or a link".into());
            return;
        }
        if colliders.len() >= MOST_COLLIDERS {
            self.error(
                "contacts",
                format!("there are {} shapes, more than {MOST_COLLIDERS}", colliders.len()),
            );
            return;
        }
        let apart = self.kept_apart(spec, &names);
        for collider in &colliders {
            self.warn_of_speed(collider, &names);
        }
        let links: Vec<Attachment> = colliders.iter().map(|collider| collider.body).collect();
        self.use_links(&links);
        let recovery = match spec.recovery_speed {
            Some(speed) => speed,
            None => self.choose(
                "contacts.recovery_speed".into(),
                RECOVERY,
                "m/s",
                "bodies that overlap part at this speed or less, and gain none by it".into(),
            ),
        };
        self.scene = Some(Scene {
            element,
            colliders,
            apart,
            names,
            pairings,
            materials: spec.materials.len() + 1,
            memory: first..first + states,
            recovery,
        });
    }

    /// What every two materials do to each other; the first is that of bodies without one.
    fn pairings(&mut self, spec: &ContactsSpec) -> Option<Vec<Pairing>> {
        if registry::law(Family::Contact, &spec.normal.law).is_none_or(|row| row.face != Face::Resolve) {
            self.error(
                "contacts.normal.law",
                "contacts that the program finds take the law \"rigid\"",
            )
            .help = Some("for a compliant law name the contact: [elements.NAME] with kind = \"contact\"".into());
            return None;
        }
        let felt = super::laws::AtSlip {
            mass: None,
            angular: Some(false),
            slip: 0.0,
            pressed: None,
        };
        let restitution = self.rigid_restitution("contacts.normal", &spec.normal)?;
        let friction = match &spec.friction {
            None => None,
            Some(friction) => {
                let rubbing = self.friction_law("contacts.friction", friction, [Port::Ground; 2], felt, true)?;
                let coulomb = match (&rubbing.kind, &rubbing.curve) {
                    (super::laws::LawKind::Implicit { .. }, SteadyCurve::Stribeck(curve))
                        if curve.velocity == 0.0 && curve.viscous == 0.0 && friction.ellipse.is_none() =>
                    {
                        Some([curve.holding, curve.kinetic])
                    }
                    _ => None,
                };
                if coulomb.is_none() {
                    self.error(
                        "contacts.friction",
                        "contacts that the program finds take Coulomb friction with the law \"implicit\"",
                    )
                    .help = Some("write friction = { law = \"implicit\", mu = 0.5 } (mu_static may be larger)".into());
                    return None;
                }
                coulomb
            }
        };
        let arms = spec.friction.as_ref().map_or([None; 2], |f| [f.rolling, f.spinning]);
        let count = spec.materials.len() + 1;
        let surface = |i: usize| {
            if i == 0 {
                Surface::default()
            } else {
                spec.materials[i - 1].1
            }
        };
        let name = |i: usize| if i == 0 { "" } else { spec.materials[i - 1].0.as_str() };
        let mut pairings = Vec::with_capacity(count * count);
        for a in 0..count {
            for b in 0..count {
                let own = spec.pairs.iter().find(|(pair, _)| {
                    let [one, other] = [pair[0].as_str(), pair[1].as_str()];
                    (one, other) == (name(a), name(b)) || (other, one) == (name(a), name(b))
                });
                let mean = |of: &dyn Fn(&Surface) -> Option<f64>| {
                    let [one, other] = [of(&surface(a)), of(&surface(b))];
                    match (one, other) {
                        (Some(one), Some(other)) => Some(if one == other { one } else { (one * other).sqrt() }),
                        (one, other) => one.or(other),
                    }
                };
                let kinetic = |s: &Surface| s.mu;
                let holding = |s: &Surface| s.mu_static.or(s.mu);
                let given = |of: &dyn Fn(&Surface) -> Option<f64>| own.and_then(|(_, s)| of(s)).or_else(|| mean(of));
                let mu = given(&kinetic);
                let friction = match (mu, given(&holding)) {
                    (Some(mu), hold) => Some([hold.unwrap_or(mu).max(mu), mu]),
                    _ => friction,
                };
                pairings.push(Pairing {
                    friction,
                    restitution: given(&|s| s.restitution).unwrap_or(restitution),
                    arms: [
                        given(&|s| s.rolling).or(arms[0]).unwrap_or(0.0),
                        given(&|s| s.spinning).or(arms[1]).unwrap_or(0.0),
                    ],
                });
            }
        }
        Some(pairings)
    }

    /// The shapes of all bodies and links, and the names of these.
    fn colliders(&mut self, spec: &ContactsSpec) -> (Vec<Collider>, Vec<String>) {
        let mut colliders = Vec::new();
        let mut names = Vec::new();
        let mut add =
            |name: String, body: Attachment, shape: &Shape, at: (Vector3<f64>, Matrix3<f64>), belt: [f64; 3]| {
                let own = spec.of.iter().find(|(of, _)| *of == name);
                let material =
                    own.and_then(|(_, material)| spec.materials.iter().position(|(name, _)| name == material));
                let group = names.len();
                names.push(name);
                for (solid, position, rotation) in shape.solids() {
                    colliders.push(Collider {
                        body,
                        group,
                        solid,
                        position: at.0 + at.1 * position,
                        rotation: at.1 * rotation,
                        material: material.map_or(0, |material| material + 1),
                        belt: at.1 * Vector3::from(belt),
                    });
                }
            };
        let none = (Vector3::zeros(), Matrix3::identity());
        for (index, (name, body)) in self.scenario.bodies.iter().enumerate() {
            match (body, self.places[index]) {
                (BodySpec::RigidBody(spec), Place::Rigid(rigid)) => {
                    if let Some(shape) = &spec.shape {
                        add(name.clone(), Attachment::Rigid(rigid), shape, none, [0.0; 3]);
                    }
                }
                (BodySpec::Linkage(spec), Place::Linkage(linkage)) => {
                    for (link, description) in spec.links.iter().enumerate() {
                        if let Some(shape) = &description.shape {
                            let at = (Vector3::from(description.com), Matrix3::identity());
                            let name = format!("{name}.{}", description.name);
                            add(name, Attachment::Link { linkage, link }, shape, at, [0.0; 3]);
                        }
                    }
                }
                (BodySpec::Driver(spec), Place::Coordinates { first, axes, .. }) => {
                    if let Some(driven) = &spec.shape {
                        let turn = rotation_matrix(driven.rotation);
                        let (body, at) = match (&spec.motion, driven.fixed) {
                            (DriverMotion::Position(profiles), true) => {
                                let position = Vector3::from_fn(|i, _| profiles[i].value(0.0));
                                (Attachment::Ground, position)
                            }
                            _ => (
                                Attachment::Point {
                                    coordinate: first,
                                    axes,
                                },
                                Vector3::zeros(),
                            ),
                        };
                        add(name.clone(), body, &driven.shape, (at, turn), driven.surface_velocity);
                    }
                }
                _ => (),
            }
        }
        (colliders, names)
    }

    /// Pairs of groups that do not touch: not listed, excepted, or joined by a joint.
    fn kept_apart(&self, spec: &ContactsSpec, names: &[String]) -> Vec<(usize, usize)> {
        let is = |group: usize, name: &str| {
            names[group] == name
                || names[group]
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        let listed = |pairs: &[[String; 2]], a: usize, b: usize| {
            pairs
                .iter()
                .any(|[one, other]| is(a, one) && is(b, other) || is(a, other) && is(b, one))
        };
        let joined = self.jointed();
        let mut apart = Vec::new();
        for a in 0..names.len() {
            for b in a + 1..names.len() {
                let meant = spec.between.as_ref().is_none_or(|pairs| listed(pairs, a, b));
                if !meant || listed(&spec.except, a, b) || listed(&joined, a, b) {
                    apart.push((a, b));
                }
            }
        }
        apart
    }

    /// Bodies that a joint joins.
    fn jointed(&self) -> Vec<[String; 2]> {
        let mut joined = Vec::new();
        for (_, element) in &self.scenario.elements {
            if let ElementSpec::Joint(spec) = element {
                joined.push(spec.between.map(|port| self.scenario.port_name(port)));
            }
        }
        for (name, body) in &self.scenario.bodies {
            if let BodySpec::Linkage(linkage) = body {
                // What fixed joints carry touches only what their carriers may touch.
                let moving = linkage.moving();
                let carrier = |link: usize| match linkage.links[link].parent {
                    carrier if link >= moving => carrier,
                    _ => Some(link),
                };
                let parent = |link: usize| linkage.links[link].parent;
                for a in 0..linkage.links.len() {
                    for b in 0..a {
                        let [one, other] = [carrier(a), carrier(b)];
                        let hangs =
                            |one: Option<usize>, other: Option<usize>| one.is_some_and(|one| parent(one) == other);
                        if one == other || hangs(one, other) || hangs(other, one) {
                            let name = |link: usize| format!("{name}.{}", linkage.links[link].name);
                            joined.push([name(a), name(b)]);
                        }
                    }
                }
            }
        }
        joined
    }

    /// A body that moves by more than its own thickness in a step may pass through another.
    fn warn_of_speed(&mut self, collider: &Collider, names: &[String]) {
        let Attachment::Rigid(body) = collider.body else { return };
        let v = self.bodies[body].v;
        let speed = Vector3::from_column_slice(&self.initial[v..v + 3]).norm();
        let thickness = collider.solid.thickness();
        if speed * self.step > thickness {
            let name = &names[collider.group];
            let message = format!(
                "\"{name}\" moves by {:.3e} m in a step, more than its own thickness of {thickness:.3e} m",
                speed * self.step
            );
            let help = format!(
                "it may pass through others: use a step of {:.1e} s or less",
                thickness / speed
            );
            self.warn(&format!("bodies.{name}"), message, help);
        }
    }
}
