//! Contacts, stops, joints, gears and springs for a [`Model`](super::Model).

use super::Friction;
use crate::profile::Profile;
use crate::scenario::rules::unit;
use crate::scenario::{
    ContactSpec, GearSpec, JointSpec, JointType, NormalLawSpec, Number, ParameterSpec, ParameterValue, Plane, Port,
    SpringSpec, StopSpec,
};

pub(super) fn number(name: &str, value: f64) -> ParameterSpec {
    ParameterSpec {
        name: name.to_string(),
        value: ParameterValue::Number(Number { value, dimension: None }),
        span: None,
    }
}

/// The law of the force that keeps two bodies apart, in a [`Contact`] or a [`Stop`].
#[derive(Clone, Debug)]
pub struct Normal(NormalLawSpec);

impl Normal {
    /// Nothing gives way; for `implicit-euler`.
    pub fn rigid() -> Self {
        Self::law("rigid")
    }

    /// A law of the registry: `kelvin-voigt`, `hunt-crossley`, `relaxed` …
    pub fn law(name: &str) -> Self {
        Normal(NormalLawSpec {
            law: name.to_string(),
            parameters: Vec::new(),
        })
    }

    /// Newton's coefficient of restitution.
    pub fn restitution(self, restitution: f64) -> Self {
        self.parameter("restitution", restitution)
    }

    /// Sets a parameter of the law, SI.
    pub fn parameter(mut self, name: &str, value: f64) -> Self {
        self.0.parameters.push(number(name, value));
        self
    }
}

/// A contact for [`Model::contact`](super::Model::contact).
#[derive(Clone, Debug)]
pub struct Contact {
    surface: Option<Plane>,
    normal: Normal,
    friction: Option<Friction>,
}

impl Contact {
    /// With a plane of the second body, {p : normal·p = offset} in its axes; the first body stays on the side that the normal shows to. A normal
    /// may have any length but 0.
    pub fn plane(direction: [f64; 3], offset: f64, normal: Normal) -> Self {
        Contact {
            surface: Some(Plane {
                normal: unit(direction),
                offset,
            }),
            normal,
            friction: None,
        }
    }

    /// Between two bodies that are spheres.
    pub fn spheres(normal: Normal) -> Self {
        Contact {
            surface: None,
            normal,
            friction: None,
        }
    }

    /// With friction, whose limit is a coefficient: [`Friction::coefficient`].
    pub fn friction(mut self, friction: Friction) -> Self {
        self.friction = Some(friction);
        self
    }

    pub(super) fn between(self, between: [Port; 2]) -> ContactSpec {
        ContactSpec {
            between,
            surface: self.surface,
            normal: self.normal.0,
            friction: self.friction.map(|friction| friction.0),
        }
    }
}

/// End stops for [`Model::stop`](super::Model::stop).
#[derive(Clone, Debug)]
pub struct Stop(StopSpec);

impl Stop {
    /// Keeps the relative position r₁q₁ − r₂q₂ between two limits.
    pub fn between(lower: f64, upper: f64) -> Self {
        Self::limits(Some(lower), Some(upper))
    }

    /// Keeps it at or above a limit.
    pub fn lower(lower: f64) -> Self {
        Self::limits(Some(lower), None)
    }

    /// Keeps it at or below a limit.
    pub fn upper(upper: f64) -> Self {
        Self::limits(None, Some(upper))
    }

    fn limits(lower: Option<f64>, upper: Option<f64>) -> Self {
        Stop(StopSpec {
            between: [Port::Ground; 2],
            lower,
            upper,
            normal: None,
            ratio: None,
        })
    }

    /// The law of its force; otherwise the one that fits the integrator.
    pub fn normal(mut self, normal: Normal) -> Self {
        self.0.normal = Some(normal.0);
        self
    }

    /// r₁ and r₂.
    pub fn ratio(mut self, ratio: [f64; 2]) -> Self {
        self.0.ratio = Some(ratio);
        self
    }

    pub(super) fn on(self, between: [Port; 2]) -> StopSpec {
        StopSpec { between, ..self.0 }
    }
}

/// A joint of two rigid bodies, held by stiff springs or rigid, for [`Model::joint`](super::Model::joint).
#[derive(Clone, Debug)]
pub struct Joint(JointSpec);

impl Joint {
    fn new(joint_type: JointType, axis: [f64; 3]) -> Self {
        let axis = unit(axis);
        Joint(JointSpec {
            between: [Port::Ground; 2],
            joint_type,
            at: [[0.0; 3]; 2],
            axis: [axis, axis],
            stiffness: None,
            damping: None,
            rotational_stiffness: None,
            rotational_damping: None,
            friction: None,
            torque: None,
            rigid: false,
        })
    }

    /// Turns about an axis.
    pub fn revolute(axis: [f64; 3]) -> Self {
        Self::new(JointType::Revolute, axis)
    }

    /// Slides along an axis.
    pub fn prismatic(axis: [f64; 3]) -> Self {
        Self::new(JointType::Prismatic, axis)
    }

    /// Turns about a point.
    pub fn spherical() -> Self {
        Self::new(JointType::Spherical, [0.0; 3])
    }

    /// Does not move.
    pub fn fixed() -> Self {
        Self::new(JointType::Fixed, [0.0; 3])
    }

    /// Where it is in the axes of the first body and in those of the second, m.
    pub fn at(mut self, first: [f64; 3], second: [f64; 3]) -> Self {
        self.0.at = [first, second];
        self
    }

    /// The axis in the axes of the second body, where it differs.
    pub fn second_axis(mut self, axis: [f64; 3]) -> Self {
        self.0.axis[1] = unit(axis);
        self
    }

    /// It does not give at all, and may close a loop; for the methods `implicit-euler` and `implicit-midpoint`.
    pub fn rigid(mut self) -> Self {
        self.0.rigid = true;
        self
    }

    /// Stiffness, N/m, and damping, N·s/m, of what holds it; otherwise they are chosen.
    pub fn stiffness(mut self, stiffness: f64, damping: f64) -> Self {
        (self.0.stiffness, self.0.damping) = (Some(stiffness), Some(damping));
        self
    }

    /// Stiffness, N·m/rad, and damping, N·m·s/rad, against turns that it does not allow; otherwise they are chosen.
    pub fn rotational_stiffness(mut self, stiffness: f64, damping: f64) -> Self {
        (self.0.rotational_stiffness, self.0.rotational_damping) = (Some(stiffness), Some(damping));
        self
    }

    /// Friction of the motion that it allows.
    pub fn friction(mut self, friction: Friction) -> Self {
        self.0.friction = Some(friction.0);
        self
    }

    /// Torque (or force) of a motor in it, on the first body.
    pub fn torque(mut self, torque: impl Into<Profile>) -> Self {
        self.0.torque = Some(torque.into());
        self
    }

    pub(super) fn between(self, between: [Port; 2]) -> JointSpec {
        JointSpec { between, ..self.0 }
    }
}

/// A gear for [`Model::gear`](super::Model::gear): keeps r₁q₁ − r₂q₂ near 0.
#[derive(Clone, Debug)]
pub struct Gear(GearSpec);

impl Gear {
    /// With r₁ and r₂.
    pub fn new(ratio: [f64; 2]) -> Self {
        Gear(GearSpec {
            between: [Port::Ground; 2],
            ratio,
            stiffness: None,
            damping: None,
            rigid: false,
        })
    }

    /// It does not give at all; for the methods `implicit-euler` and `implicit-midpoint`.
    pub fn rigid(mut self) -> Self {
        self.0.rigid = true;
        self
    }

    /// Stiffness and damping of the teeth; otherwise they are chosen.
    pub fn stiffness(mut self, stiffness: f64, damping: f64) -> Self {
        (self.0.stiffness, self.0.damping) = (Some(stiffness), Some(damping));
        self
    }

    pub(super) fn between(self, between: [Port; 2]) -> GearSpec {
        GearSpec { between, ..self.0 }
    }
}

/// A spring and damper for [`Model::spring_with`](super::Model::spring_with), with more than [`Model::spring`](super::Model::spring) says.
#[derive(Clone, Debug)]
pub struct Spring(SpringSpec);

impl Spring {
    /// Stiffness and damping.
    pub fn new(stiffness: f64, damping: f64) -> Self {
        Spring(SpringSpec {
            between: [Port::Ground; 2],
            stiffness,
            damping,
            length: 0.0,
            preload: None,
            at: [[0.0; 3]; 2],
            ratio: None,
            implicit: None,
        })
    }

    /// Length at rest, m or rad.
    pub fn length(mut self, length: f64) -> Self {
        self.0.length = length;
        self
    }

    /// Force at the start in place of a length, N or N·m.
    pub fn preload(mut self, preload: f64) -> Self {
        self.0.preload = Some(preload);
        self
    }

    /// Where it is attached, in the axes of each body, m.
    pub fn at(mut self, first: [f64; 3], second: [f64; 3]) -> Self {
        self.0.at = [first, second];
        self
    }

    /// It sees the relative motion r₁q₁ − r₂q₂.
    pub fn ratio(mut self, ratio: [f64; 2]) -> Self {
        self.0.ratio = Some(ratio);
        self
    }

    /// Whether `implicit-euler` takes it at the end of the step; otherwise that follows from the step and the masses.
    pub fn implicit(mut self, implicit: bool) -> Self {
        self.0.implicit = Some(implicit);
        self
    }

    pub(super) fn between(self, between: [Port; 2]) -> SpringSpec {
        SpringSpec { between, ..self.0 }
    }
}
