//! Changes single numbers of a checked scenario. A sweep changes a few numbers a million times; reading the whole file
//! each time would take longer than a short run.

use super::spec::{BodySpec, DriverMotion, ElementSpec, LimitSpec, Scenario};
use crate::profile::Profile;

impl Scenario {
    /// Replaces the numbers of keys that the file has by other finite numbers, in SI units. Returns true if the scenario is now
    /// the one that reading the changed file would give. Returns false if reading might refuse a number, or if a key is not one
    /// of the plain numbers known here; on false, discard the scenario.
    pub(crate) fn put_numbers<'a>(&mut self, changes: impl Iterator<Item = (&'a str, f64)>) -> bool {
        // What the numbers of a friction mean to an analysis is found out by reading.
        let crowd = self.chain.is_some() || self.spheres.is_some();
        let plain = self.inclusion.is_none() && !crowd && self.stick_slip.is_none() && self.map.is_none();
        let mut changes = changes;
        plain && changes.all(|(key, value)| self.put(key, value).is_some()) && self.limits_are_ordered()
    }

    fn put(&mut self, path: &str, value: f64) -> Option<()> {
        if !value.is_finite() || !self.spans.contains_key(path) {
            return None;
        }
        let mut parts = path.split('.');
        let (group, name, key) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        match group {
            "bodies" => {
                let (_, body) = self.bodies.iter_mut().find(|(other, _)| other == name)?;
                put_in_body(body, key, value)
            }
            "elements" => {
                let spans = &self.spans;
                // A static limit that is not written follows the kinetic one.
                let holds = || {
                    spans.contains_key(&format!("elements.{name}.static"))
                        || spans.contains_key(&format!("elements.{name}.mu_static"))
                };
                let (_, element) = self.elements.iter_mut().find(|(other, _)| other == name)?;
                put_in_element(element, key, value, holds)
            }
            _ => None,
        }
    }

    /// A static limit below the kinetic one is refused by reading, with a reason.
    fn limits_are_ordered(&self) -> bool {
        self.elements.iter().all(|(_, element)| match element {
            ElementSpec::Friction(spec) => {
                let [holding, kinetic] = spec.friction.curve.limit.levels();
                holding >= kinetic
            }
            _ => true,
        })
    }
}

fn put_in_body(body: &mut BodySpec, key: &str, value: f64) -> Option<()> {
    match (body, key) {
        (BodySpec::Mass(spec), "mass") => set(&mut spec.mass, positive(value)?),
        (BodySpec::Mass(spec), "position") => set(only(&mut spec.position)?, value),
        (BodySpec::Mass(spec), "velocity") => set(only(&mut spec.velocity)?, value),
        (BodySpec::Mass(spec), "force") => set(constant(only(&mut spec.force)?)?, value),
        (BodySpec::Inertia(spec), "inertia") => set(&mut spec.inertia, positive(value)?),
        (BodySpec::Inertia(spec), "position") => set(&mut spec.position, value),
        (BodySpec::Inertia(spec), "velocity") => set(&mut spec.velocity, value),
        (BodySpec::Inertia(spec), "torque") => set(constant(spec.torque.as_mut()?)?, value),
        (BodySpec::Driver(spec), "start") => set(only(&mut spec.start)?, value),
        (BodySpec::Driver(spec), "position" | "velocity") => match &mut spec.motion {
            DriverMotion::Position(profiles) | DriverMotion::Velocity(profiles) => {
                set(constant(only(profiles)?)?, value)
            }
        },
        _ => None,
    }
}

fn put_in_element(element: &mut ElementSpec, key: &str, value: f64, holds: impl Fn() -> bool) -> Option<()> {
    match (element, key) {
        (ElementSpec::Spring(spec), "stiffness") => set(&mut spec.stiffness, not_negative(value)?),
        (ElementSpec::Spring(spec), "damping") => set(&mut spec.damping, not_negative(value)?),
        // Two levels are no plain number.
        (ElementSpec::Friction(spec), _) if spec.friction.ellipse.is_none() => {
            let curve = &mut spec.friction.curve;
            let value = not_negative(value)?;
            match (&mut curve.limit, key) {
                (LimitSpec::Force { kinetic, static_ }, "kinetic")
                | (LimitSpec::Coefficient { kinetic, static_ }, "mu" | "mu_kinetic") => {
                    *kinetic = value;
                    if !holds() {
                        *static_ = value;
                    }
                    Some(())
                }
                (LimitSpec::Force { static_, .. }, "static")
                | (LimitSpec::Coefficient { static_, .. }, "mu_static") => set(static_, value),
                (_, "viscous") => set(&mut curve.viscous, value),
                (_, "stribeck_velocity") => set(curve.stribeck_velocity.as_mut()?, positive(value)?),
                _ => None,
            }
        }
        _ => None,
    }
}

fn set(place: &mut f64, value: f64) -> Option<()> {
    *place = value;
    Some(())
}

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

fn not_negative(value: f64) -> Option<f64> {
    (value >= 0.0).then_some(value)
}

/// The single number of a body along a line.
fn only<T>(all: &mut [T]) -> Option<&mut T> {
    match all {
        [single] => Some(single),
        _ => None,
    }
}

fn constant(profile: &mut Profile) -> Option<&mut f64> {
    match profile {
        Profile::Constant(value) => Some(value),
        _ => None,
    }
}
