//! Warnings about keys that are understood and have no effect where they stand.

use super::Builder;
use crate::scenario::{BodySpec, ElementSpec, FrictionLawSpec, JointType, LimitSpec};
use stickslip_core::registry::{Face, Family, law};

impl Builder<'_> {
    /// Looks for keys without effect.
    pub(super) fn warn_of_idle_keys(&mut self) {
        let scenario = self.scenario;
        self.warn_of_idle_gravity();
        for (name, element) in &scenario.elements {
            let path = format!("elements.{name}");
            if let ElementSpec::Spring(spring) = element
                && spring.implicit.is_some()
                && !self.method.implicit()
            {
                let message = format!(
                    "implicit has no effect with the integrator \"{}\": it is for springs of \"implicit-euler\"",
                    self.method.row().name
                );
                self.warn(&format!("{path}.implicit"), message, "leave it out");
            }
            if let ElementSpec::Joint(joint) = element {
                self.warn_of_idle_joint_keys(&path, joint.joint_type);
            }
            if let Some(friction) = element.friction() {
                let inner = !matches!(element, ElementSpec::Friction(_));
                let path = if inner { format!("{path}.friction") } else { path };
                self.warn_of_idle_friction_keys(&path, friction);
            }
        }
        if let Some(chain) = &scenario.chain {
            self.warn_of_idle_friction_keys("chain.friction", &chain.friction);
        }
    }

    /// A key that is written and does nothing.
    fn idle(&mut self, path: &str, key: &str, why: &str) {
        let path = format!("{path}.{key}");
        if self.scenario.spans.contains_key(&path) {
            self.warn(&path, format!("{key} has no effect: {why}"), "leave it out");
        }
    }

    /// Gravity acts on masses with a direction, rigid bodies and linkages.
    fn warn_of_idle_gravity(&mut self) {
        let scenario = self.scenario;
        if !(scenario.simulation.gravity).is_some_and(|gravity| gravity.iter().any(|g| *g != 0.0)) {
            return;
        }
        // Who gives some masses a direction knows what it is for.
        let directed = |body: &BodySpec| matches!(body, BodySpec::Mass(mass) if mass.axis.is_some());
        let unaware = !scenario.bodies.iter().any(|(_, body)| directed(body));
        let mut weightless = 0;
        for (name, body) in &scenario.bodies {
            if let BodySpec::Mass(mass) = body
                && mass.position.len() == 1
                && unaware
            {
                self.warn(
                    &format!("bodies.{name}"),
                    format!("gravity does not act on \"{name}\": a mass of one axis has no direction in the world"),
                    "say how it moves, for example axis = [0, 0, 1] for up and down or axis = [1, 0, 0] for a level track",
                );
            }
            weightless += usize::from(matches!(body, BodySpec::Inertia(_) | BodySpec::Driver(_)));
        }
        if weightless == scenario.bodies.len() && weightless > 0 {
            self.idle("simulation", "gravity", "no body here has a weight");
        }
    }

    fn warn_of_idle_joint_keys(&mut self, path: &str, joint: JointType) {
        let free = matches!(joint, JointType::Revolute | JointType::Prismatic);
        if !free {
            for key in ["axis", "second_axis"] {
                self.idle(path, key, "a joint of this type has no axis");
            }
        }
        if joint == JointType::Spherical {
            for key in ["torque", "friction"] {
                self.idle(path, key, "it acts about an axis, and a spherical joint has none");
            }
            for key in ["rotational_stiffness", "rotational_damping"] {
                self.idle(path, key, "a spherical joint lets its bodies turn freely");
            }
        }
    }

    fn warn_of_idle_friction_keys(&mut self, path: &str, friction: &FrictionLawSpec) {
        let Some(row) = law(Family::Friction, &friction.law) else {
            return;
        };
        let curve = &friction.curve;
        let [holding, kinetic] = curve.limit.levels();
        let falls = holding > kinetic || matches!(curve.limit, LimitSpec::Given { .. });
        if row.steady_curve && !falls {
            for key in ["stribeck_velocity", "stribeck_exponent"] {
                self.idle(
                    path,
                    key,
                    "friction falls from its static to its kinetic level, and both are the same",
                );
            }
        } else if curve.stribeck_velocity.is_none() {
            self.idle(
                path,
                "stribeck_exponent",
                "it is that of a fall over stribeck_velocity, which is not given",
            );
        }
        if row.face != Face::Resolve {
            let why = format!("the law \"{}\" begins unloaded", row.name);
            self.idle(path, "initial", &why);
        }
    }
}
