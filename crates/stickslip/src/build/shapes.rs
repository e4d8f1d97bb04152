//! Shapes that cannot do what they are there for: nothing touches them, or gravity takes all bodies away from them.

use super::Builder;
use crate::scenario::{BodySpec, DriverMotion, ElementSpec, Port, Shape};
use nalgebra::Vector3;

impl Builder<'_> {
    /// Warns of shapes that touch nothing, and of scenes in which nothing can happen.
    pub(super) fn warn_of_shapes(&mut self) {
        let elements = &self.scenario.elements;
        if !elements
            .iter()
            .any(|(_, element)| matches!(element, ElementSpec::Found(_)))
        {
            self.warn_of_untouched();
            return;
        }
        self.warn_of_rest();
        self.warn_of_fall();
    }

    fn gravity(&self) -> Vector3<f64> {
        Vector3::from(self.scenario.simulation.gravity.unwrap_or_default())
    }

    /// Without `[contacts]` a shape gives mass and inertia, and named contacts their points. That of a fixed body or a driver has no other use
    /// than to be touched. A body that falls freely beside others that have shapes was to land on one of them; one that hangs on something, or is
    /// the only one, may have its shape for its inertia.
    fn warn_of_untouched(&mut self) {
        let scenario = self.scenario;
        let held = |body: usize, contact: bool| {
            let on = |port: Port| match port {
                Port::Ground => false,
                Port::Body(index) | Port::Link { body: index, .. } | Port::Joint { body: index, .. } => index == body,
            };
            scenario.elements.iter().any(|(_, element)| {
                let touches = matches!(element, ElementSpec::Contact(_) | ElementSpec::OwnContact(_));
                (touches || !contact) && element.between().into_iter().any(on)
            })
        };
        let falls = self.gravity() != Vector3::zeros();
        let several = scenario.bodies.iter().filter(|(_, body)| has_shape(body)).count() > 1;
        let idle = scenario
            .bodies
            .iter()
            .enumerate()
            .filter(|(index, (_, body))| match body {
                BodySpec::Driver(driver) => driver.shape.is_some() && !held(*index, true),
                BodySpec::RigidBody(_) => has_shape(body) && falls && several && !held(*index, false),
                _ => false,
            });
        let idle: Vec<&str> = idle.map(|(_, (name, _))| name.as_str()).collect();
        let Some(first) = idle.first() else { return };
        let names: Vec<String> = idle.iter().map(|name| format!("\"{name}\"")).collect();
        let message = match &names[..] {
            [one] => format!("{one} has a shape that touches nothing: no contact uses it"),
            [rest @ .., last] => {
                let rest = rest.join(", ");
                format!("{rest} and {last} have shapes that touch nothing: no contact uses them")
            }
            [] => return,
        };
        let path = format!("bodies.{first}");
        let help = "add [contacts] with between = \"all\" and friction = { law = \"implicit\", mu = 0.5 }, or name a contact in [elements]";
        self.warn(&path, message, help);
    }

    /// A scene without gravity in which nothing moves and nothing pushes stays as it is.
    fn warn_of_rest(&mut self) {
        let scenario = self.scenario;
        if self.gravity() != Vector3::zeros() {
            return;
        }
        let moves = |body: &BodySpec| {
            let any = |numbers: &[f64]| numbers.iter().any(|x| *x != 0.0);
            match body {
                BodySpec::Mass(mass) => any(&mass.velocity) || !mass.force.is_empty(),
                BodySpec::Inertia(inertia) => inertia.velocity != 0.0 || inertia.torque.is_some(),
                BodySpec::Driver(driver) => {
                    let runs = |speed: &[f64; 3]| any(speed);
                    !driver.is_fixed() || driver.shape.as_ref().is_some_and(|shape| runs(&shape.surface_velocity))
                }
                BodySpec::RigidBody(body) => {
                    any(&body.velocity)
                        || any(&body.angular_velocity)
                        || !body.force.is_empty()
                        || !body.torque.is_empty()
                }
                BodySpec::Linkage(linkage) => {
                    let base = &linkage.base;
                    any(&base.velocity)
                        || any(&base.angular_velocity)
                        || linkage.links.iter().any(|link| {
                            link.velocity != 0.0
                                || link.motion.is_some()
                                || !link.force.is_empty()
                                || !link.torque.is_empty()
                        })
                }
                BodySpec::Own(_) => true,
            }
        };
        // Springs may be stretched, actuators push, equations do anything; frictions and contacts only answer.
        let pushes = |element: &ElementSpec| {
            !matches!(
                element,
                ElementSpec::Found(_) | ElementSpec::Friction(_) | ElementSpec::Contact(_) | ElementSpec::Stop(_)
            )
        };
        let lively = scenario.bodies.iter().any(|(_, body)| moves(body))
            || scenario.elements.iter().any(|(_, element)| pushes(element));
        if !lively {
            self.warn(
                "contacts",
                "nothing moves and nothing pushes in this scene: it has no gravity",
                "add gravity = [0, 0, -9.81] to [simulation], or a force or a velocity to a body",
            );
        }
    }

    /// Where half spaces are all there is to land on, gravity should not point away from all of them.
    fn warn_of_fall(&mut self) {
        let gravity = self.gravity();
        let mut planes = Vec::new();
        for (name, body) in &self.scenario.bodies {
            let BodySpec::Driver(driver) = body else { continue };
            let Some(driven) = &driver.shape else { continue };
            let (Shape::Plane(plane), DriverMotion::Position(_)) = (&driven.shape, &driver.motion) else {
                return;
            };
            let normal = crate::body::frame::rotation_matrix(driven.rotation) * Vector3::from(plane.normal);
            planes.push((name, normal));
        }
        let Some((first, _)) = planes.first() else { return };
        let away = |normal: &Vector3<f64>| normal.dot(&gravity) > 0.5 * gravity.norm();
        if gravity != Vector3::zeros() && planes.iter().all(|(_, normal)| away(normal)) {
            let message = format!("gravity points away from \"{first}\": bodies do not land on it");
            let path = format!("bodies.{first}");
            let help = "a normal points out of the half space, gravity into it: gravity = [0, 0, -9.81] for normal = [0, 0, 1]";
            self.warn(&path, message, help);
        }
    }
}

/// Whether a body has a shape that others could touch.
fn has_shape(body: &BodySpec) -> bool {
    let solid = |shape: &Option<Shape>| shape.as_ref().is_some_and(|shape| !matches!(shape, Shape::Point));
    match body {
        BodySpec::Driver(driver) => driver.shape.is_some(),
        BodySpec::RigidBody(body) => solid(&body.shape),
        BodySpec::Linkage(linkage) => linkage.links.iter().any(|link| solid(&link.shape)),
        BodySpec::Mass(_) | BodySpec::Inertia(_) | BodySpec::Own(_) => false,
    }
}
