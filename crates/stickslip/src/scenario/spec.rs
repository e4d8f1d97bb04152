//! A scenario as checked data: plain structs, every number in SI units, every name resolved.
//!
//! Nothing here knows about TOML. Where a value came from is kept beside, in [`Scenario::spans`]: a map from the
//! path of a key (`elements.floor.law`) to its place, so later stages can point at the line too.

use super::diagnostic::{Diagnostic, ScenarioError, Source, Span};
use super::own::{OwnContactSpec, OwnElementSpec};
pub use super::shape::{ContactsSpec, DrivenShape, Shape, ShapePart, Surface};
pub use crate::analysis::slip_events::SlipEventsSpec;
use crate::body::OwnBodySpec;
use crate::element::curve::CurveSide;
pub use crate::element::friction::InitialMode;
use crate::inclusion::Inclusion;
use crate::integrate::METHODS;
use crate::network::geometry::Grain;
pub use crate::network::lock::JointType;
use crate::profile::{Expression, Profile};
use crate::quantity::Dimension;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::sync::Arc;
use stickslip_core::registry::{Family, law};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// `title`, or empty.
    pub title: String,
    /// `[simulation]`.
    pub simulation: SimulationSpec,
    /// `[bodies.<name>]` in file order; [`Port::Body`] counts here.
    pub bodies: Vec<(String, BodySpec)>,
    /// `[elements.<name>]` in file order; [`NormalForce::Element`] counts here.
    pub elements: Vec<(String, ElementSpec)>,
    /// `[inclusion]`, rewritten; then there are no bodies and no elements.
    pub inclusion: Option<Inclusion>,
    /// `[chain]`; then the only body is its drive, `chain.drive`, and there are no elements.
    pub chain: Option<ChainSpec>,
    /// `[spheres]`; then there are no bodies and no elements.
    pub spheres: Option<SpheresSpec>,
    /// `[output] columns`; `None` is every column.
    pub columns: Option<Vec<String>>,
    /// `[output] contacts`: whether contacts that the program finds are to be listed.
    pub contact_rows: bool,
    /// `[analysis] stick_slip`.
    pub stick_slip: Option<StickSlipSpec>,
    /// `[analysis] slip_events`.
    pub slip_events: Option<SlipEventsSpec>,
    /// `[map]`.
    pub map: Option<MapSpec>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Diagnostic>,
    /// The texts that spans point into: the file, then the `--set` arguments. Variants of a scenario share them.
    pub sources: Arc<Vec<Source>>,
    /// Path of a key or of a named thing to its place in the sources.
    pub spans: Arc<BTreeMap<String, Span>>,
}

impl Scenario {
    /// A finding at the key `path` (`elements.floor.law`), or at the nearest enclosing table that was written.
    pub fn diagnostic(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        let mut path = path;
        loop {
            if let Some(&span) = self.spans.get(path) {
                return Diagnostic::new(message, Some(span));
            }
            match path.rfind('.') {
                Some(dot) => path = &path[..dot],
                None => return Diagnostic::new(message, None),
            }
        }
    }

    /// An error of this scenario from findings of a later stage.
    pub fn error(&self, diagnostics: Vec<Diagnostic>) -> ScenarioError {
        ScenarioError {
            sources: self.sources.to_vec(),
            diagnostics,
        }
    }

    /// Weight that presses a mass along an axis on the ground, N: the normal force of a friction between the two that has no other.
    pub fn weight_between(&self, between: [Port; 2]) -> Option<f64> {
        let ([Port::Body(body), Port::Ground] | [Port::Ground, Port::Body(body)]) = between else {
            return None;
        };
        match &self.bodies[body].1 {
            BodySpec::Mass(mass) => mass.weight_across(self.simulation.gravity.unwrap_or_default()),
            _ => None,
        }
    }

    /// The integrator that follows whatever an explicit one cannot: the implicit step where all laws and elements run with it.
    pub(crate) fn stable_integrator(&self) -> &'static str {
        const IMPLICIT: &str = "implicit-euler";
        let turns = |port: &Port| match port {
            Port::Link { .. } => true,
            Port::Body(body) => matches!(self.bodies[*body].1, BodySpec::RigidBody(_)),
            _ => false,
        };
        let runs = |family, name: &str| law(family, name).is_none_or(|law| law.integrators.contains(&IMPLICIT));
        let refused = |element: &ElementSpec| match element {
            ElementSpec::Joint(_) => true,
            ElementSpec::Spring(spring) => spring.between.iter().any(turns),
            ElementSpec::Contact(contact) => !runs(Family::Contact, &contact.normal.law),
            ElementSpec::Stop(stop) => stop
                .normal
                .as_ref()
                .is_some_and(|normal| !runs(Family::Contact, &normal.law)),
            _ => false,
        };
        let rubs = |element: &ElementSpec| element.friction().is_none_or(|spec| runs(Family::Friction, &spec.law));
        if self
            .elements
            .iter()
            .any(|(_, element)| refused(element) || !rubs(element))
        {
            "stiff"
        } else {
            IMPLICIT
        }
    }

    /// The name a port was written with: `block`, `arm.shoulder`, `ground`.
    pub fn port_name(&self, port: Port) -> String {
        match port {
            Port::Ground => "ground".to_string(),
            Port::Body(body) => self.bodies[body].0.clone(),
            Port::Link { body, link } | Port::Joint { body, link } => match &self.bodies[body] {
                (name, BodySpec::Linkage(linkage)) => {
                    let link = &linkage.links[link];
                    let part = if matches!(port, Port::Link { .. }) {
                        &link.name
                    } else {
                        &link.joint
                    };
                    format!("{name}.{part}")
                }
                (name, BodySpec::Own(own)) => {
                    let parts = match port {
                        Port::Link { .. } => own.body.frames(),
                        _ => own.body.coordinates(),
                    };
                    format!("{name}.{}", parts.get(link).unwrap_or(&"?"))
                }
                (name, _) => name.clone(),
            },
        }
    }
}

/// `[simulation]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationSpec {
    /// Simulated time, s.
    pub duration: f64,
    /// Time step (for adaptive methods the output interval), s.
    pub step: f64,
    /// One of [`INTEGRATORS`].
    pub integrator: String,
    /// Gravity in world axes, m/s²; two components are x and y.
    pub gravity: Option<[f64; 3]>,
    /// Relative tolerance of adaptive methods.
    pub relative_tolerance: f64,
    /// Absolute tolerance of adaptive methods.
    pub absolute_tolerance: Option<f64>,
    /// Longest internal step of adaptive methods, s.
    pub max_step: Option<f64>,
    /// Shortest internal step of adaptive methods, s.
    pub min_step: Option<f64>,
    /// Parameters of the Newmark method, if written.
    pub newmark: Option<NewmarkSpec>,
    /// Whether `trapezoidal` moves masses by backward differences.
    pub backward_motion: bool,
}

/// The integrators a scenario may name.
pub const INTEGRATORS: &[&str] = &{
    let mut names = [""; METHODS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = METHODS[i].name;
        i += 1;
    }
    names
};

/// `newmark = { beta, gamma }`; the defaults are the average-acceleration rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewmarkSpec {
    /// Weight of the new acceleration in the position, default 1/4.
    pub beta: f64,
    /// Weight of the new acceleration in the velocity, default 1/2.
    pub gamma: f64,
}

/// One body.
#[derive(Clone, Debug)]
pub enum BodySpec {
    /// A point mass in 1, 2 or 3 dimensions.
    Mass(MassSpec),
    /// A rotating inertia.
    Inertia(InertiaSpec),
    /// A point (or a shaft) with prescribed motion.
    Driver(DriverSpec),
    /// A free rigid body in space.
    RigidBody(RigidBodySpec),
    /// A tree of links.
    Linkage(LinkageSpec),
    /// A body of the user's own: `kind = "equations"`, or written in Rust.
    Own(OwnBodySpec),
}

/// `kind = "mass"`.
#[derive(Clone, Debug)]
pub struct MassSpec {
    /// kg, positive.
    pub mass: f64,
    /// Initial position, m; its length is the dimension of the mass.
    pub position: Vec<f64>,
    /// Initial velocity, m/s; as long as `position`.
    pub velocity: Vec<f64>,
    /// Direction of a 1-D mass in the world, a unit vector.
    pub axis: Option<[f64; 3]>,
    /// Applied force, N, one profile per component; empty if none.
    pub force: Vec<Profile>,
}

impl MassSpec {
    /// Weight across the motion of a mass along an axis, N: what presses it on the ground it slides on.
    pub fn weight_across(&self, gravity: [f64; 3]) -> Option<f64> {
        let axis = nalgebra::Vector3::from(self.axis?);
        let gravity = nalgebra::Vector3::from(gravity);
        Some(self.mass * (gravity - axis.dot(&gravity) * axis).norm())
    }
}

/// `kind = "inertia"`.
#[derive(Clone, Debug)]
pub struct InertiaSpec {
    /// kg·m², positive.
    pub inertia: f64,
    /// Initial angle, rad.
    pub position: f64,
    /// Initial angular velocity, rad/s.
    pub velocity: f64,
    /// Applied torque, N·m.
    pub torque: Option<Profile>,
}

/// `kind = "driver"`.
#[derive(Clone, Debug)]
pub struct DriverSpec {
    /// The prescribed motion.
    pub motion: DriverMotion,
    /// Initial position where `motion` is a velocity (zeros unless `start` is written).
    pub start: Vec<f64>,
    /// Whether the units written say that the driver turns (`Some(true)`), slides (`Some(false)`) or neither.
    pub angular: Option<bool>,
    /// Shape that may touch others.
    pub shape: Option<DrivenShape>,
}

impl DriverSpec {
    /// Whether it never moves: `kind = "fixed"`.
    pub fn is_fixed(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.fixed)
    }
}

/// What a driver prescribes, one profile per component (1 to 3).
#[derive(Clone, Debug)]
pub enum DriverMotion {
    /// Position (m or rad) against time.
    Position(Vec<Profile>),
    /// Velocity (m/s or rad/s) against time.
    Velocity(Vec<Profile>),
}

impl DriverMotion {
    /// The profiles, whatever they prescribe.
    pub fn profiles(&self) -> &[Profile] {
        match self {
            Self::Position(profiles) | Self::Velocity(profiles) => profiles,
        }
    }
}

/// `kind = "rigid-body"`.
#[derive(Clone, Debug)]
pub struct RigidBodySpec {
    /// kg, positive.
    pub mass: f64,
    /// Shape that may touch others.
    pub shape: Option<Shape>,
    /// xx, yy, zz, xy, xz, yz about the centre of mass in body axes, kg·m²; as written or from the shape.
    pub inertia: [f64; 6],
    /// Initial position of the centre of mass, m.
    pub position: [f64; 3],
    /// Initial rotation, unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Initial velocity, m/s.
    pub velocity: [f64; 3],
    /// Initial angular velocity in world axes, rad/s.
    pub angular_velocity: [f64; 3],
    /// Applied force in world axes, N; empty or three profiles.
    pub force: Vec<Profile>,
    /// Applied torque in world axes, N·m; empty or three profiles.
    pub torque: Vec<Profile>,
}

/// `kind = "linkage"`.
#[derive(Clone, Debug)]
pub struct LinkageSpec {
    /// The links; a parent comes before its children. Those that fixed joints carry are last and hang on a link that moves, or on the ground
    /// ([`LinkageSpec::new`]).
    pub links: Vec<LinkSpec>,
    /// The root is free instead of jointed to the ground.
    pub floating: bool,
    /// Where a free root is at the start, and how it moves.
    pub base: BaseSpec,
}

/// The start of the free root of a linkage: its origin and its axes in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseSpec {
    /// m.
    pub position: [f64; 3],
    /// Unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// m/s.
    pub velocity: [f64; 3],
    /// rad/s.
    pub angular_velocity: [f64; 3],
}

impl Default for BaseSpec {
    /// At rest at the origin of the world.
    fn default() -> Self {
        BaseSpec {
            position: [0.0; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        }
    }
}

impl LinkageSpec {
    /// From links of which each hangs on one before it. Those that fixed joints carry go to the end, and they and what they carry hang on the
    /// link that they move with.
    pub fn new(links: Vec<LinkSpec>, floating: bool, base: BaseSpec) -> Self {
        use nalgebra::{Quaternion, UnitQuaternion, Vector3};
        let rotation = |[w, x, y, z]: [f64; 4]| UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        let is_fixed = |link: &LinkSpec| {
            let root = floating && link.parent.is_none();
            link.joint_type == JointType::Fixed && !root
        };
        // What a link that a fixed joint carries moves with, and where it is there.
        type Held = (Option<usize>, Vector3<f64>, UnitQuaternion<f64>);
        let mut held: Vec<Option<Held>> = Vec::with_capacity(links.len());
        let mut links = links;
        for link in &mut links {
            let parent = link.parent.and_then(|parent| held.get(parent).copied().flatten());
            if let Some((carrier, origin, turn)) = parent {
                link.parent = carrier;
                link.origin = (origin + turn * Vector3::from(link.origin)).into();
                let [x, y, z, w] = (turn * rotation(link.rotation)).coords.into();
                link.rotation = [w, x, y, z];
            }
            held.push(is_fixed(link).then(|| (link.parent, Vector3::from(link.origin), rotation(link.rotation))));
        }
        let moving = held.iter().filter(|held| held.is_none()).count();
        let (mut next, mut last) = (0, moving);
        let numbers: Vec<usize> = held
            .iter()
            .map(|held| {
                let number = if held.is_none() { &mut next } else { &mut last };
                *number += 1;
                *number - 1
            })
            .collect();
        for link in &mut links {
            link.parent = link.parent.and_then(|parent| numbers.get(parent).copied());
        }
        let mut numbered: Vec<(usize, LinkSpec)> = numbers.into_iter().zip(links).collect();
        numbered.sort_by_key(|(number, _)| *number);
        LinkageSpec {
            links: numbered.into_iter().map(|(_, link)| link).collect(),
            floating,
            base,
        }
    }

    /// How many links have a joint that moves, or are a free root: the first ones.
    pub fn moving(&self) -> usize {
        let fixed = |link: &&LinkSpec| link.joint_type == JointType::Fixed && !(self.floating && link.parent.is_none());
        self.links.len() - self.links.iter().filter(fixed).count()
    }
}

/// One link and the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Name of the link.
    pub name: String,
    /// The link that carries it; `None` is the ground.
    pub parent: Option<usize>,
    /// Name of the joint.
    pub joint: String,
    /// Type of the joint.
    pub joint_type: JointType,
    /// Joint axis, a unit vector (zero for types without one).
    pub axis: [f64; 3],
    /// Joint origin in the axes of the parent, m.
    pub origin: [f64; 3],
    /// Rotation of the link's axes against the parent's at joint position 0, unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// kg.
    pub mass: f64,
    /// Centre of mass in link axes, m.
    pub com: [f64; 3],
    /// xx, yy, zz, xy, xz, yz about the centre of mass in link axes, kg·m²; as written, from the shape, or zero.
    pub inertia: [f64; 6],
    /// Initial joint position, rad or m.
    pub position: f64,
    /// Initial joint velocity, rad/s or m/s.
    pub velocity: f64,
    /// Lowest and highest joint position.
    pub limits: Option<[f64; 2]>,
    /// Prescribed position of the joint, rad or m.
    pub motion: Option<Profile>,
    /// Applied force at the centre of mass in world axes, N; empty or three profiles.
    pub force: Vec<Profile>,
    /// Applied torque in world axes, N·m; empty or three profiles.
    pub torque: Vec<Profile>,
    /// Shape that may touch others.
    pub shape: Option<Shape>,
}

/// What an element is attached to. Indices count in [`Scenario::bodies`] and [`LinkageSpec::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The fixed world.
    Ground,
    /// A mass, inertia, driver or rigid body.
    Body(usize),
    /// A link of a linkage, as a rigid body.
    Link {
        /// The linkage.
        body: usize,
        /// The link.
        link: usize,
    },
    /// The coordinate of a joint of a linkage, or of a body of the user's own.
    Joint {
        /// The linkage.
        body: usize,
        /// The link that the joint carries, or the number of the coordinate.
        link: usize,
    },
}

impl Port {
    /// The body that it belongs to.
    pub fn body(self) -> Option<usize> {
        match self {
            Port::Ground => None,
            Port::Body(body) | Port::Link { body, .. } | Port::Joint { body, .. } => Some(body),
        }
    }
}

/// One element.
#[derive(Clone, Debug)]
pub enum ElementSpec {
    /// Spring and damper.
    Spring(SpringSpec),
    /// Dry friction.
    Friction(FrictionSpec),
    /// Contact of a body with a surface.
    Contact(ContactSpec),
    /// End stops of a scalar motion.
    Stop(StopSpec),
    /// Penalty joint of two rigid bodies.
    Joint(JointSpec),
    /// Prescribed force or torque.
    Actuator(ActuatorSpec),
    /// Stiff coupling of two scalar motions.
    Gear(GearSpec),
    /// An element of the user's own: `kind = "equations"`, or written in Rust.
    Own(OwnElementSpec),
    /// A contact with laws of the user's own, written in Rust.
    OwnContact(OwnContactSpec),
    /// Contacts that the program finds: `[contacts]`.
    Found(ContactsSpec),
}

impl ElementSpec {
    /// Whether it has laws of the user's own.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own(_) | Self::OwnContact(_))
    }

    /// Whether it follows equations of the user's own that say all that it stores, or say nothing of it; `None` for all other elements.
    pub(crate) fn own_stores(&self) -> Option<bool> {
        match self {
            Self::Own(own) => Some(own.law.0.stores()),
            _ => None,
        }
    }

    /// The word of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Spring(_) => "spring",
            Self::Friction(_) => "friction",
            Self::Contact(_) | Self::OwnContact(_) => "contact",
            Self::Stop(_) => "stop",
            Self::Joint(_) => "joint",
            Self::Actuator(_) => "actuator",
            Self::Gear(_) => "gear",
            Self::Own(e) => e.law.0.kind(),
            Self::Found(_) => "contacts",
        }
    }

    /// Parameters of the laws in it, as written.
    pub(crate) fn parameters_mut(&mut self) -> impl Iterator<Item = &mut ParameterSpec> {
        let (normal, friction) = match self {
            Self::Friction(e) => (None, Some(&mut e.friction)),
            Self::Contact(e) => (Some(&mut e.normal), e.friction.as_mut()),
            Self::Found(e) => (Some(&mut e.normal), e.friction.as_mut()),
            Self::Stop(e) => (e.normal.as_mut(), None),
            Self::Joint(e) => (None, e.friction.as_mut()),
            _ => (None, None),
        };
        let normal = normal.into_iter().flat_map(|law| &mut law.parameters);
        normal.chain(friction.into_iter().flat_map(|law| &mut law.parameters))
    }

    /// The two ports; `on = "x"` is written `[x, ground]`.
    pub fn between(&self) -> [Port; 2] {
        match self {
            Self::Spring(e) => e.between,
            Self::Friction(e) => e.between,
            Self::Contact(e) => e.between,
            Self::Stop(e) => e.between,
            Self::Joint(e) => e.between,
            Self::Actuator(e) => e.between,
            Self::Gear(e) => e.between,
            Self::Own(e) => e.connections.first().map_or([Port::Ground; 2], |held| held.between),
            Self::OwnContact(e) => e.between,
            Self::Found(_) => [Port::Ground; 2],
        }
    }

    /// r₁ and r₂ of the relative motion r₁q₁ − r₂q₂.
    pub fn ratio(&self) -> [f64; 2] {
        let ratio = match self {
            Self::Spring(e) => e.ratio,
            Self::Friction(e) => e.ratio,
            Self::Stop(e) => e.ratio,
            Self::Actuator(e) => e.ratio,
            Self::Gear(e) => Some(e.ratio),
            Self::Own(e) => e.connections.first().and_then(|held| held.ratio),
            Self::Contact(_) | Self::Joint(_) | Self::OwnContact(_) | Self::Found(_) => None,
        };
        ratio.unwrap_or([1.0, 1.0])
    }

    /// The friction in it: of a friction element, a contact or a joint.
    pub fn friction(&self) -> Option<&FrictionLawSpec> {
        match self {
            Self::Friction(e) => Some(&e.friction),
            Self::Contact(e) => e.friction.as_ref(),
            Self::Joint(e) => e.friction.as_ref(),
            _ => None,
        }
    }
}

/// `kind = "spring"`: force on the first −k(x₁ − x₂ − length) − d(v₁ − v₂).
#[derive(Clone, Debug)]
pub struct SpringSpec {
    /// Its two ends.
    pub between: [Port; 2],
    /// N/m or N·m/rad, not negative.
    pub stiffness: f64,
    /// N·s/m or N·m·s/rad, not negative.
    pub damping: f64,
    /// Natural length, m or rad.
    pub length: f64,
    /// Preload, N or N·m, in place of a length.
    pub preload: Option<f64>,
    /// Attachment points in the axes of each body, m.
    pub at: [[f64; 3]; 2],
    /// Relative motion r₁q₁ − r₂q₂.
    pub ratio: Option<[f64; 2]>,
    /// Taken implicitly, explicitly, or as the step and the masses advise.
    pub implicit: Option<bool>,
}

/// `kind = "friction"`.
#[derive(Clone, Debug)]
pub struct FrictionSpec {
    /// What rubs on what.
    pub between: [Port; 2],
    /// Relative motion r₁q₁ − r₂q₂.
    pub ratio: Option<[f64; 2]>,
    /// The law and its numbers.
    pub friction: FrictionLawSpec,
}

/// A friction law as written, in a friction element, a contact or a joint.
#[derive(Clone, Debug)]
pub struct FrictionLawSpec {
    /// Name of the law, not yet looked up.
    pub law: String,
    /// The steady curve.
    pub curve: CurveSpec,
    /// Another strength across a direction; the curve is that along it.
    pub ellipse: Option<EllipseSpec>,
    /// Moment arms of the resistance of a contact to rolling and to spinning, m.
    pub rolling: Option<f64>,
    /// See `rolling`.
    pub spinning: Option<f64>,
    /// Normal force, where the limit follows one.
    pub normal_force: Option<NormalForce>,
    /// Start stuck or slipping; `None` decides by the relative velocity.
    pub initial: Option<InitialMode>,
    /// Every other key: parameters of the law, to be checked against the law's own list.
    pub parameters: Vec<ParameterSpec>,
}

impl FrictionLawSpec {
    /// A number among the law's own parameters, as written.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.parameters.iter().find(|parameter| parameter.name == name)?.value {
            ParameterValue::Number(number) => Some(number.value),
            _ => None,
        }
    }
}

/// Friction that is stronger or weaker across a direction than along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipseSpec {
    /// The direction of the first coefficient, of any length above 0.
    pub direction: [f64; 3],
    /// Second coefficient over first, above 0.
    pub across: f64,
    /// Whether the direction turns with the first body of a contact in place of the second.
    pub on_first: bool,
}

impl EllipseSpec {
    /// The direction on its body.
    pub(crate) fn grain(&self) -> Grain {
        Grain {
            direction: Vector3::from(self.direction).normalize(),
            across: self.across,
            on_first: self.on_first,
        }
    }
}

/// The steady friction curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSpec {
    /// Its level.
    pub limit: LimitSpec,
    /// Viscous part, N·s/m.
    pub viscous: f64,
    /// Stribeck velocity, m/s.
    pub stribeck_velocity: Option<f64>,
    /// Stribeck exponent.
    pub stribeck_exponent: f64,
}

/// The level of the steady curve.
#[derive(Clone, Debug, PartialEq)]
pub enum LimitSpec {
    /// In N or N·m; static ≥ kinetic.
    Force {
        /// Kinetic level.
        kinetic: f64,
        /// Holding limit.
        static_: f64,
    },
    /// As coefficients of a normal force; static ≥ kinetic.
    Coefficient {
        /// Kinetic coefficient.
        kinetic: f64,
        /// Static coefficient.
        static_: f64,
    },
    /// Points or expressions against speed.
    Given {
        /// The curve, in both directions or forward.
        forward: CurveSide,
        /// The curve backward, where it differs.
        backward: Option<CurveSide>,
        /// Holding limit, where it is more than the curve at rest.
        static_: Option<f64>,
        /// Whether values are coefficients of a normal force.
        coefficient: bool,
    },
}

impl LimitSpec {
    /// Whether the level is a coefficient of a normal force.
    pub fn is_coefficient(&self) -> bool {
        match self {
            Self::Force { .. } => false,
            Self::Coefficient { .. } => true,
            Self::Given { coefficient, .. } => *coefficient,
        }
    }

    /// The greatest level at rest and at speeds up to this one, roughly: between points of a table or two looks at an expression it
    /// may be more.
    pub fn greatest(&self, speed: f64) -> f64 {
        let [holding, _] = self.levels();
        match self {
            Self::Given { forward, backward, .. } => {
                let sides = [Some(forward), backward.as_ref()].into_iter().flatten();
                sides.fold(holding, |most, side| most.max(side.greatest(speed)))
            }
            _ => holding,
        }
    }

    /// Holding limit and the limit of what slides slowly forward.
    pub fn levels(&self) -> [f64; 2] {
        match self {
            Self::Force { kinetic, static_ } | Self::Coefficient { kinetic, static_ } => [*static_, *kinetic],
            Self::Given { forward, static_, .. } => {
                let level = forward.value(0.0);
                [static_.unwrap_or(level), level]
            }
        }
    }
}

/// Where the normal force of a friction comes from.
#[derive(Clone, Debug)]
pub enum NormalForce {
    /// A profile, N.
    Profile(Profile),
    /// The compressive force of an element (index in [`Scenario::elements`]).
    Element(usize),
}

/// A parameter of a law as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// The key.
    pub name: String,
    /// Its value.
    pub value: ParameterValue,
    /// Where it stands.
    pub span: Option<Span>,
}

/// Value of a law's parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A number.
    Number(Number),
    /// A list of numbers.
    Numbers(Vec<Number>),
    /// A word.
    Word(String),
    /// true or false.
    Flag(bool),
}

/// A number in SI, with the dimension of its unit if it was written with one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// In SI units.
    pub value: f64,
    /// `None` for a plain number, which is taken to be in SI units of whatever is expected.
    pub dimension: Option<Dimension>,
}

/// `kind = "contact"`.
#[derive(Clone, Debug)]
pub struct ContactSpec {
    /// What touches what; the surface belongs to the second.
    pub between: [Port; 2],
    /// The surface; `None` for two spheres.
    pub surface: Option<Plane>,
    /// Law of the normal force.
    pub normal: NormalLawSpec,
    /// Friction, bounded by the normal force.
    pub friction: Option<FrictionLawSpec>,
}

/// A plane {p : normal·p = offset}; bodies stay where normal·p ≥ offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit vector.
    pub normal: [f64; 3],
    /// m.
    pub offset: f64,
}

/// `normal = { law = ..., ... }`.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalLawSpec {
    /// Name of the law, not yet looked up.
    pub law: String,
    /// Its parameters, to be checked against the law's own list.
    pub parameters: Vec<ParameterSpec>,
}

/// `kind = "stop"`: keeps lower ≤ r₁q₁ − r₂q₂ ≤ upper; at least one is given.
#[derive(Clone, Debug)]
pub struct StopSpec {
    /// What it limits.
    pub between: [Port; 2],
    /// m or rad.
    pub lower: Option<f64>,
    /// m or rad, above `lower`.
    pub upper: Option<f64>,
    /// Law of the normal force.
    pub normal: Option<NormalLawSpec>,
    /// Relative motion r₁q₁ − r₂q₂.
    pub ratio: Option<[f64; 2]>,
}

/// `kind = "joint"` (penalty).
#[derive(Clone, Debug)]
pub struct JointSpec {
    /// The jointed bodies.
    pub between: [Port; 2],
    /// Its type.
    pub joint_type: JointType,
    /// Joint point in the axes of each body, m.
    pub at: [[f64; 3]; 2],
    /// Unit vector in the axes of each body; zero for types without one.
    pub axis: [[f64; 3]; 2],
    /// N/m.
    pub stiffness: Option<f64>,
    /// N·s/m.
    pub damping: Option<f64>,
    /// N·m/rad.
    pub rotational_stiffness: Option<f64>,
    /// N·m·s/rad.
    pub rotational_damping: Option<f64>,
    /// Friction of the free motion.
    pub friction: Option<FrictionLawSpec>,
    /// Torque about the axis on the first body, the reaction on the second.
    pub torque: Option<Profile>,
    /// Whether it does not give at all, in place of stiff springs.
    pub rigid: bool,
}

/// `kind = "actuator"`.
#[derive(Clone, Debug)]
pub struct ActuatorSpec {
    /// What it pushes, and against what.
    pub between: [Port; 2],
    /// Force or torque on the first, one profile per component.
    pub value: Vec<Profile>,
    /// Relative motion r₁q₁ − r₂q₂.
    pub ratio: Option<[f64; 2]>,
}

/// `kind = "gear"`.
#[derive(Clone, Debug)]
pub struct GearSpec {
    /// What it couples.
    pub between: [Port; 2],
    /// Keeps r₁q₁ − r₂q₂ near 0.
    pub ratio: [f64; 2],
    /// Stiffness of the coupling, if not automatic.
    pub stiffness: Option<f64>,
    /// Damping of the coupling, if not automatic.
    pub damping: Option<f64>,
    /// Whether it does not give at all.
    pub rigid: bool,
}

/// `[chain]`: equal blocks in a row, each with a spring to its neighbours and to a common drive, rubbing on the ground.
#[derive(Clone, Debug)]
pub struct ChainSpec {
    /// Number of blocks.
    pub count: usize,
    /// Mass of a block, kg.
    pub mass: f64,
    /// Initial position, m, as a function of the number of the block and of how many there are.
    pub position: Expression,
    /// Initial velocity, m/s, likewise.
    pub velocity: Expression,
    /// Between neighbours.
    pub neighbour: ChainSpring,
    /// To the drive.
    pub drive: ChainSpring,
    /// On the ground.
    pub friction: FrictionLawSpec,
    /// How much blocks differ.
    pub spread: SpreadSpec,
}

/// A spring of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainSpring {
    /// N/m, not negative.
    pub stiffness: f64,
    /// N·s/m, not negative.
    pub damping: f64,
    /// m.
    pub length: f64,
}

impl ChainSpring {
    /// Whether it is nothing but a stiffness.
    pub fn plain(&self) -> bool {
        self.damping == 0.0 && self.length == 0.0
    }
}

/// `spread`: numbers of blocks are evenly distributed around those given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpreadSpec {
    /// Largest deviation of a mass as part of it, below 1.
    pub mass: f64,
    /// The same of a stiffness.
    pub stiffness: f64,
    /// The same of the strength of friction.
    pub friction: f64,
    /// Largest shift of an initial position, m.
    pub position: f64,
    /// Which of many distributions.
    pub seed: u64,
}

/// `[spheres]`: many equal spheres on one plane.
#[derive(Clone, Debug)]
pub struct SpheresSpec {
    /// How many there are.
    pub count: usize,
    /// m.
    pub radius: f64,
    /// One of them; its position is that of the first.
    pub body: RigidBodySpec,
    /// Distance of the centres in the grid in which they begin, m.
    pub spacing: f64,
    /// What they lie on.
    pub plane: Plane,
    /// Law of the normal force.
    pub normal: NormalLawSpec,
    /// Friction on the plane.
    pub friction: Option<FrictionLawSpec>,
    /// How much they differ at the start.
    pub spread: SpheresSpread,
}

/// `spread` of spheres: evenly distributed around what is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpheresSpread {
    /// Largest shift of a position along each of two directions of the plane, m.
    pub position: f64,
    /// Largest change of each component of the velocity, m/s.
    pub velocity: f64,
    /// Which of many distributions.
    pub seed: u64,
}

/// `[analysis] stick_slip`.
#[derive(Clone, Debug, PartialEq)]
pub struct StickSlipSpec {
    /// A trace column.
    pub signal: String,
    /// The signal is divided by it, default 1.
    pub scale: f64,
    /// Start of the analysis, s, default 0.
    pub from: f64,
    /// Largest amplitude called stable, default 0.01.
    pub threshold: Option<f64>,
    /// The e of criterion (35) of Ozaki, Hashiguchi and Chen (2007), if the threshold follows from it.
    pub e: Option<f64>,
}

/// `[map]`: what changes from cell to cell of a stability map, as functions of the two values of the cell in SI.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSpec {
    /// In place of `simulation.duration`, s.
    pub duration: Option<Expression>,
    /// In place of `analysis.stick_slip.from`, s.
    pub from: Option<Expression>,
}
