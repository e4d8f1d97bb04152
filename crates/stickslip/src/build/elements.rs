//! Elements: each goes into the group of its kind.

use super::automatic::Resolved;
use super::friction_groups::{AppliedGroups, BristleGroups, ByAxes};
use super::laws::{AtSlip, LawKind, ReadyFriction};
use super::normal::{AtNormal, Landing, NormalKind};
use super::{Builder, Place};
use crate::body::Frame;
use crate::body::own::MOST_COORDINATES;
use crate::element::Elements;
use crate::element::actuator::{Actuator, Actuators};
use crate::element::contact::{Contact, Contacts, Geometry, Grain, Surface};
use crate::element::curve::SteadyCurve;
use crate::element::friction::{Friction, Frictions, Implicit, Resolve};
use crate::element::inclusion::InclusionGroup;
use crate::element::joint::{Joint, Joints};
use crate::element::laws::Tangential;
use crate::element::normal::AnyNormal;
use crate::element::own::{Hold, MOST_AXES, MOST_STATES, Motion, Own, OwnLaw, OwnSteps, Owns, Placed, Update};
use crate::element::own_contact::{OwnContact, OwnContacts, along};
use crate::element::spring::{Spring, Springs};
use crate::element::stop::{Stop, Stops};
use crate::integrate::Method;
use crate::math::dense::{ldlt_factor, ldlt_solve};
use crate::math::symmetric_eigenvalues;
use crate::network::implicit::PointSpring;
use crate::network::lock::{Lock, LockKind, RigidJoint, bending};
use crate::network::port::{Attachment, Pair};
use crate::network::rigid::{HELD, Rigid, RigidKind};
use crate::network::stage::LoadSource;
use crate::profile::Profile;
use crate::scenario::{
    ActuatorSpec, BodySpec, ContactSpec, ElementSpec, EllipseSpec, FrictionLawSpec, FrictionSpec, GearSpec,
    InitialMode, JointSpec, JointType, OwnContactSpec, OwnElementSpec, Port, Shape, SpringSpec, StopSpec,
};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stickslip_core::friction::curve::{Curve, Stribeck};
use stickslip_core::friction::elliptic::Ellipse;
use stickslip_core::registry::{self, Family};

/// Groups of elements that answer motion with force.
pub(super) type ElementGroups = Vec<Box<dyn Elements>>;
/// Groups of frictions of the implicit step.
pub(super) type FrictionGroups = Vec<Box<dyn Resolve>>;

/// The groups while they are filled.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) springs: (Vec<Spring>, Vec<Spring>, Vec<Spring>),
    actuators: Vec<Actuator>,
    stops: Vec<Stop>,
    contacts: Vec<Contact>,
    joints: Vec<Joint>,
    implicit: ByAxes<Implicit>,
    applied: AppliedGroups,
    bristles: BristleGroups,
    own: Vec<Own>,
    own_steps: ByAxes<Placed>,
    own_contacts: Vec<OwnContact>,
    pub(super) inclusion: Option<InclusionGroup>,
    resolve: bool,
    /// Whether a friction is to be solved by Newton's method as published.
    pub(super) as_published: bool,
}

impl Groups {
    /// The groups that are not empty: elements that give a compression first, frictions last.
    pub(super) fn take(&mut self) -> (ElementGroups, FrictionGroups) {
        let groups = std::mem::take(self);
        let mut elements = ElementGroups::new();
        let mut frictions = FrictionGroups::new();
        macro_rules! put {
            ($list:ident, $items:expr, $group:expr) => {
                if !$items.is_empty() {
                    $list.push(Box::new($group($items)));
                }
            };
        }
        put!(elements, groups.springs.0, Springs::<1>);
        put!(elements, groups.springs.1, Springs::<2>);
        put!(elements, groups.springs.2, Springs::<3>);
        put!(elements, groups.actuators, Actuators);
        put!(elements, groups.stops, Stops);
        put!(elements, groups.contacts, Contacts);
        put!(elements, groups.joints, Joints);
        if groups.resolve {
            groups.applied.resolve(&mut frictions);
            put!(frictions, groups.implicit.0, Frictions::<_, 1>);
            put!(frictions, groups.implicit.1, Frictions::<_, 2>);
            put!(frictions, groups.implicit.2, Frictions::<_, 3>);
            groups.bristles.resolve(&mut frictions);
            put!(frictions, groups.own_steps.0, |items| OwnSteps(Frictions::<_, 1>(
                items
            )));
            put!(frictions, groups.own_steps.1, |items| OwnSteps(Frictions::<_, 2>(
                items
            )));
            put!(frictions, groups.own_steps.2, |items| OwnSteps(Frictions::<_, 3>(
                items
            )));
        } else {
            groups.bristles.respond(&mut elements);
        }
        put!(elements, groups.own_contacts, OwnContacts);
        put!(elements, groups.own, Owns);
        if let Some(inclusion) = groups.inclusion {
            elements.push(Box::new(inclusion));
        }
        (elements, frictions)
    }
}

impl Builder<'_> {
    /// How many numbers of state the elements keep, before anything is placed.
    pub(super) fn count_states(&self) -> usize {
        let axes_of = |port: Port| match port {
            Port::Body(body) => match &self.scenario.bodies[body].1 {
                BodySpec::Mass(mass) => mass.position.len(),
                BodySpec::Inertia(_) => 1,
                BodySpec::Driver(driver) => driver.motion.profiles().len(),
                _ => 0,
            },
            Port::Joint { .. } => 1,
            _ => 0,
        };
        let friction_states =
            |spec: &FrictionLawSpec| registry::law(Family::Friction, &spec.law).map_or(0, |law| law.states);
        fn name(friction: &Option<FrictionLawSpec>) -> Option<&str> {
            friction.as_ref().map(|spec| spec.law.as_str())
        }
        let states = |element: &ElementSpec| match element {
            ElementSpec::Friction(spec) => {
                friction_states(&spec.friction) * axes_of(spec.between[0]).max(axes_of(spec.between[1]))
            }
            ElementSpec::Contact(spec) => {
                let normal = registry::law(Family::Contact, &spec.normal.law).map_or(0, |law| law.states);
                (Tangential::kept_of(name(&spec.friction), 3) + normal)
                    * self.touching_points(spec.between).map_or(0, |(points, _)| points.len())
            }
            ElementSpec::Joint(spec) => Tangential::kept_of(name(&spec.friction), 1),
            ElementSpec::Stop(_) => 2,
            ElementSpec::Found(_) => self.scene_states(),
            ElementSpec::Own(spec) => {
                let axes = spec.connections.iter().map(|held| {
                    let [a, b] = held.between.map(axes_of);
                    // A point of a rigid body, a link or a frame has three.
                    if a.max(b) == 0 { 3 } else { a.max(b) }
                });
                spec.law.0.initial(axes.sum()).len()
            }
            ElementSpec::OwnContact(spec) => {
                let friction = spec.friction.as_ref().map_or(0, |law| law.0.initial(2).len());
                let states = spec.normal.0.initial(1).len() + friction;
                states * self.touching_points(spec.between).map_or(0, |(points, _)| points.len())
            }
            _ => 0,
        };
        let elements: usize = self.scenario.elements.iter().map(|(_, element)| states(element)).sum();
        let bodies = self.scenario.bodies.iter().map(|(_, body)| match body {
            BodySpec::Own(own) => own.body.initial().len(),
            _ => 0,
        });
        elements + bodies.sum::<usize>() + 2 * self.limited_joints().count()
    }

    /// Joints of linkages that have limits: body, link, limits.
    fn limited_joints(&self) -> impl Iterator<Item = (usize, usize, [f64; 2])> {
        self.scenario.bodies.iter().enumerate().flat_map(|(body, (_, spec))| {
            let links = match spec {
                BodySpec::Linkage(linkage) => linkage.links.as_slice(),
                _ => &[],
            };
            links
                .iter()
                .enumerate()
                .filter_map(move |(link, spec)| Some((body, link, spec.limits?)))
        })
    }

    pub(super) fn add_elements(&mut self) {
        self.groups.resolve = self.method.implicit();
        let scenario = self.scenario;
        for (index, (name, element)) in scenario.elements.iter().enumerate() {
            let path = format!("elements.{name}");
            match element {
                ElementSpec::Spring(spec) => self.spring(index, &path, spec),
                ElementSpec::Gear(spec) => self.gear(index, &path, spec),
                ElementSpec::Friction(spec) => self.friction(index, &path, spec),
                ElementSpec::Actuator(spec) => self.actuator(index, &path, spec),
                ElementSpec::Stop(spec) => self.stop(index, &path, spec),
                ElementSpec::Contact(spec) => self.contact(index, &path, spec),
                ElementSpec::Joint(spec) => self.joint(index, &path, spec),
                ElementSpec::Own(spec) => self.own_element(index, &path, spec),
                ElementSpec::OwnContact(spec) => self.own_contact(index, &path, spec),
                ElementSpec::Found(spec) => self.found_contacts(index, spec),
            }
        }
        self.add_joint_limits();
        self.decide_implicit_springs();
    }

    /// Limits of linkage joints are stops with the natural law of the integrator.
    fn add_joint_limits(&mut self) {
        let limited: Vec<_> = self.limited_joints().collect();
        for (body, link, [lower, upper]) in limited {
            let element = self.states.len();
            self.states.push((0, 0));
            self.axes.push(1);
            self.actuators.push(Vec::new());
            self.inverse_mass_felt.push(0.0);
            let between = [Port::Joint { body, link }, Port::Ground];
            let path = format!("bodies.{}.links", self.scenario.bodies[body].0);
            let spec = StopSpec {
                between,
                lower: Some(lower),
                upper: Some(upper),
                normal: None,
                ratio: None,
            };
            self.stop(element, &path, &spec);
        }
    }

    fn angular(&self, port: Port) -> Option<bool> {
        match port {
            Port::Ground | Port::Link { .. } => None,
            Port::Body(body) => match &self.scenario.bodies[body].1 {
                BodySpec::Mass(_) => Some(false),
                BodySpec::Inertia(_) => Some(true),
                BodySpec::Driver(driver) => driver.angular,
                _ => None,
            },
            Port::Joint { body, link } => match &self.scenario.bodies[body].1 {
                BodySpec::Linkage(linkage) => Some(linkage.links[link].joint_type == JointType::Revolute),
                _ => None,
            },
        }
    }

    fn felt(&self, between: [Port; 2], ratio: Option<[f64; 2]>, pair: &Pair) -> AtSlip {
        let inverse = self.inverse_mass_along(pair);
        let angular = if ratio.is_some() {
            None
        } else {
            self.angular(between[0]).or(self.angular(between[1]))
        };
        AtSlip {
            mass: felt_mass(inverse),
            angular,
            slip: 0.0,
            pressed: None,
        }
    }

    fn spring(&mut self, element: usize, path: &str, spec: &SpringSpec) {
        let [a, b] = spec.between.map(|port| self.coordinates(port));
        if a.is_none() || b.is_none() {
            self.point_spring(element, path, spec);
            return;
        }
        let Some((pair, axes)) = self.pair(path, spec.between, spec.ratio) else {
            return;
        };
        self.axes[element] = axes;
        let mut length = spec.length;
        if let Some(preload) = spec.preload {
            // A preload is the force on the first body at the starting positions.
            if spec.stiffness == 0.0 || axes != 1 {
                self.error(&format!("{path}.preload"), "a preload needs a stiffness and one axis");
                return;
            }
            let [offset] = pair.position::<1>(&self.initial);
            length = offset + preload / spec.stiffness;
        }
        let spring = Spring {
            element,
            pair,
            stiffness: spec.stiffness,
            damping: spec.damping,
            length,
        };
        self.push_spring(axes, spring);
    }

    fn push_spring(&mut self, axes: usize, spring: Spring) {
        self.groups_are_quadratic &= axes == 1 || spring.length == 0.0;
        match axes {
            1 => self.groups.springs.0.push(spring),
            2 => self.groups.springs.1.push(spring),
            _ => self.groups.springs.2.push(spring),
        }
    }

    /// A spring between points of rigid bodies or links: a spherical penalty joint if its length is 0.
    fn point_spring(&mut self, element: usize, path: &str, spec: &SpringSpec) {
        let bodies = spec.between.map(|port| self.attachment(port));
        let [Some(first), Some(second)] = bodies else {
            self.error(
                path,
                "a spring joins two coordinates, or two points of rigid bodies, links, masses and the ground",
            );
            return;
        };
        self.axes[element] = 3;
        self.groups_are_quadratic = false;
        self.use_links(&[first, second]);
        let at = spec.at.map(Vector3::from);
        let inverse = self.inverse_mass_at(first, &at[0]) + self.inverse_mass_at(second, &at[1]);
        let (stiffness, damping) = (spec.stiffness * inverse, spec.damping * inverse);
        if self.method.implicit() {
            let unresolved = self.step * self.step * stiffness > 0.25 || self.step * damping > 0.5;
            let taken_at_end = unresolved || self.method == Method::ImplicitMidpoint;
            if spec.implicit.unwrap_or(taken_at_end) {
                if [first, second]
                    .iter()
                    .any(|body| matches!(body, Attachment::Own { .. }))
                {
                    self.error(
                        path,
                        "a spring on a body of equations cannot be taken at the end of the step",
                    )
                    .help = Some("write implicit = false and use a smaller step".into());
                    return;
                }
                self.implicit_springs.push(element);
                self.point_springs.push(PointSpring {
                    element,
                    bodies: [first, second],
                    at,
                    stiffness: spec.stiffness,
                    damping: spec.damping,
                    length: spec.length,
                });
                return;
            }
        }
        let resolved = self.resolved(stiffness, damping);
        self.warn_of_unresolved_spring(element, resolved);
        self.groups.joints.push(Joint {
            element,
            kind: JointType::Spherical,
            bodies: [first, second],
            at: spec.at.map(Vector3::from),
            axis: [Vector3::zeros(); 2],
            rest: Matrix3::identity(),
            translation: [spec.stiffness, spec.damping],
            rotation: [0.0; 2],
            length: spec.length,
            friction: Tangential::None,
            curve: SteadyCurve::Stribeck(Stribeck::coulomb(0.0)),
            load: LoadSource::Element(element),
            load_rate: None,
            state: self.next_state,
            motor: None,
            spring: true,
        });
    }

    fn gear(&mut self, element: usize, path: &str, spec: &GearSpec) {
        let Some((pair, axes)) = self.pair(path, spec.between, Some(spec.ratio)) else {
            return;
        };
        if axes != 1 {
            self.error(path, "a gear couples two motions of one axis each");
            return;
        }
        if spec.rigid {
            if self.can_be_rigid(path, "gear") {
                let kind = LockKind::Gear(pair);
                self.locks.push(Lock { element, kind });
            }
            return;
        }
        let inverse = self.inverse_mass_along(&pair);
        let mass = if inverse > 0.0 { 1.0 / inverse } else { 1.0 };
        let (step, said) = self.resolved_step();
        let reason = |what: &str| format!("{what} with m = {mass:.4} felt at the mesh and {said}");
        let (k_reason, d_reason) = (reason("m*(0.5/step)^2"), reason("sqrt(stiffness*m)"));
        let stiffness = match spec.stiffness {
            Some(value) => value,
            None => {
                let value = mass * (0.5 / step) * (0.5 / step);
                self.choose(format!("{path}.stiffness"), value, "force per r1*q1 - r2*q2", k_reason)
            }
        };
        let damping = match spec.damping {
            Some(value) => value,
            None => {
                let unit = "force per rate of r1*q1 - r2*q2";
                self.choose(format!("{path}.damping"), (stiffness * mass).sqrt(), unit, d_reason)
            }
        };
        let [length] = pair.position::<1>(&self.initial);
        self.push_spring(
            1,
            Spring {
                element,
                pair,
                stiffness,
                damping,
                length,
            },
        );
    }

    fn friction(&mut self, element: usize, path: &str, spec: &FrictionSpec) {
        let Some((pair, axes)) = self.pair(path, spec.between, spec.ratio) else {
            return;
        };
        self.axes[element] = axes;
        let felt = AtSlip {
            slip: {
                let velocity = pair.velocity::<3>(&self.initial);
                velocity.iter().take(axes).map(|v| v * v).sum::<f64>().sqrt()
            },
            ..self.felt(spec.between, spec.ratio, &pair)
        };
        self.inverse_mass_felt[element] = self.inverse_mass_along(&pair);
        let Some(rubbing) = self.friction_law(path, &spec.friction, spec.between, felt, false) else {
            return;
        };
        if axes > 1 && Curve::<f64>::directed(&rubbing.curve) {
            let message = format!("friction on {axes} axes has no forward and backward");
            self.error(path, message).help = Some("leave the curve of sliding backward out".into());
            return;
        }
        let ellipse = match &spec.friction.ellipse {
            None => None,
            Some(ellipse) => match self.ellipse_in_plane(path, ellipse, axes) {
                Some(ellipse) => Some(ellipse),
                None => return,
            },
        };
        let count = rubbing.law.states * axes;
        let state = self.take_states(element, count);
        let joints = [pair.first.v, pair.second.v].map(|v| self.on_linkage(v));
        if self.method.implicit() {
            if matches!(rubbing.kind, LawKind::Implicit { .. }) {
                let load = match rubbing.load {
                    LoadSource::Signal(signal) => {
                        Some(self.profiles[signal].peak(0.0, self.scenario.simulation.duration, 1000))
                    }
                    LoadSource::Element(_) => None,
                };
                self.warn_of_several_roots(path, &rubbing.curve, load, self.inverse_mass_felt[element]);
            }
            if joints.contains(&true) && matches!(rubbing.kind, LawKind::Applied(_)) {
                let message = format!(
                    "the law \"{}\" acts between masses, inertias and drivers only",
                    rubbing.law.name
                );
                self.error(&format!("{path}.law"), message).help =
                    Some("on a joint use \"implicit\" or \"proxy\"".into());
                return;
            }
        }
        if matches!(rubbing.kind, LawKind::Implicit { .. }) {
            let speed = pair
                .velocity::<3>(&self.initial)
                .iter()
                .take(axes)
                .fold(0.0f64, |most, v| most.max(v.abs()));
            let stuck = match spec.friction.initial {
                Some(InitialMode::Stick) => true,
                Some(InitialMode::Slip) => false,
                None => speed == 0.0,
            };
            for i in 0..count {
                self.initial[state + i] = f64::from(u8::from(stuck));
            }
        }
        if let LawKind::Bristle(law) = &rubbing.kind {
            law.begin(axes, &mut self.initial[state..state + count]);
            let first = state - self.layout.first_state();
            law.sizes(axes, &mut self.sizes[first..first + count]);
        }
        let mobility = [
            self.step * pair.ratio[0] * self.inverse_mass_of(pair.first.v),
            self.step * pair.ratio[1] * self.inverse_mass_of(pair.second.v),
        ];
        self.push_friction(element, pair, (axes, ellipse), rubbing, state, mobility);
    }

    /// The ellipse of a friction between masses, which move in the x-y plane.
    fn ellipse_in_plane(&mut self, path: &str, spec: &EllipseSpec, axes: usize) -> Option<Ellipse<f64>> {
        if axes != 2 {
            let message = match axes {
                1 => "friction along one axis has one level: there is nothing across it".to_string(),
                _ => format!("elliptic friction acts in a plane, but this one on {axes} axes"),
            };
            let help =
                "write one number for each level and leave `direction` out, give the masses two axes, or use a contact";
            self.error(path, message).help = Some(help.into());
            return None;
        }
        let [x, y, _] = spec.direction;
        let length = x.hypot(y);
        if !(length > 0.0 && length.is_finite()) {
            self.error(
                &format!("{path}.direction"),
                "masses of two axes move in x and y, where this direction has no part",
            )
            .help = Some("for example direction = [1, 0, 0]".into());
            return None;
        }
        Some(Ellipse {
            direction: [x / length, y / length, 0.0],
            across: spec.across,
        })
    }

    fn own_element(&mut self, element: usize, path: &str, spec: &OwnElementSpec) {
        let mut holds = Vec::new();
        let mut axes = 0;
        for held in &spec.connections {
            if held.between.iter().all(|&port| self.coordinates(port).is_some()) {
                let Some((pair, count)) = self.pair(path, held.between, held.ratio) else {
                    return;
                };
                self.inverse_mass_felt[element] = self.inverse_mass_along(&pair);
                holds.push(Hold::Pair(pair, count));
                axes += count;
                continue;
            }
            let [Some(first), Some(second)] = held.between.map(|port| self.attachment(port)) else {
                self.error(
                    path,
                    "this element acts between coordinates, or between points of bodies in space",
                );
                return;
            };
            self.refuse_own_frames(path, &[first, second]);
            self.use_links(&[first, second]);
            holds.push(Hold::Points([first, second], held.at.map(Vector3::from)));
            axes += 3;
        }
        if axes == 0 || axes > MOST_AXES {
            let message = format!("an element of your own has 1 to {MOST_AXES} axes in all, not {axes}");
            self.error(path, message).help = Some("make several elements of it".into());
            return;
        }
        let initial = spec.law.0.initial(axes);
        if initial.len() > MOST_STATES {
            let message = format!(
                "an element of your own has at most {MOST_STATES} states, not {}",
                initial.len()
            );
            self.error(path, message).help = Some("make several elements of it".into());
            return;
        }
        if let Some(bad) = initial.iter().find(|value| !value.is_finite()) {
            self.error(path, format!("a state begins at {bad}"));
            return;
        }
        self.axes[element] = axes;
        let state = self.take_states(element, initial.len());
        self.initial[state..state + initial.len()].copy_from_slice(&initial);
        let placed = Placed {
            law: spec.law.clone(),
            time: self.time_signal(),
            states: initial.len(),
        };
        let load = LoadSource::Signal(self.unit_signal());
        let own = Own {
            element,
            holds,
            axes,
            placed,
            load,
            state,
        };
        self.refuse_undefined(path, &own);
        let explicit = spec.law.0.update() == Update::Explicit;
        match own.holds[..] {
            [Hold::Pair(pair, count)] if self.method.implicit() && !explicit => {
                let mobility = [
                    self.step * pair.ratio[0] * self.inverse_mass_of(pair.first.v),
                    self.step * pair.ratio[1] * self.inverse_mass_of(pair.second.v),
                ];
                let own = Friction {
                    element,
                    pair,
                    law: own.placed,
                    curve: SteadyCurve::Stribeck(Stribeck::coulomb(0.0)),
                    load,
                    load_rate: None,
                    state,
                    mobility,
                    coupled: false,
                };
                self.groups.own_steps.push(count, None, own);
            }
            _ => {
                if self.method.implicit() {
                    let why = if explicit {
                        "as it asks for"
                    } else {
                        "as it acts between points of bodies, or on several pairs of coordinates"
                    };
                    let message = format!("the force of this element is taken at the start of each step, {why}");
                    let help = "keep the step well below the periods it makes, or use integrator = \"stiff\"";
                    self.warn(path, message, help);
                }
                self.warn_of_unresolved_element(path, &own);
                self.groups.own.push(own);
            }
        }
    }

    /// Warns of a step that is too long for the stiffness or damping that an element on one axis has at the start.
    fn warn_of_unresolved_element(&mut self, path: &str, own: &Own) {
        let [Hold::Pair(pair, 1)] = own.holds[..] else { return };
        if own.placed.law.0.update() == Update::Own {
            return;
        }
        let (position, velocity) = (pair.position::<1>(&self.initial), pair.velocity::<1>(&self.initial));
        let [stiffness, damping] = own.placed.firmness(&Motion {
            time: 0.0,
            step: 0.0,
            load: 1.0,
            position: &position,
            velocity: &velocity,
            state: &self.initial[own.state..own.state + own.placed.states],
        });
        let inverse = self.inverse_mass_felt[own.element];
        let resolved = self.resolved(stiffness.max(0.0) * inverse, damping.max(0.0) * inverse);
        self.unstable |= matches!(resolved, Resolved::Diverges | Resolved::Grows(_));
        if resolved == Resolved::Diverges {
            let message =
                "the step is too large for the stiffness or damping of this element at the start: the run will diverge";
            let help = format!(
                "use a smaller step, or integrator = \"{}\"",
                self.scenario.stable_integrator()
            );
            self.warn(path, message, help);
        }
    }

    fn own_contact(&mut self, element: usize, path: &str, spec: &OwnContactSpec) {
        let [Some(first), Some(second)] = spec.between.map(|port| self.attachment(port)) else {
            self.error(
                path,
                "a contact needs rigid bodies, links, or masses of two or three axes",
            );
            return;
        };
        if self.method.implicit() {
            self.error(
                path,
                "a contact law of your own does not run with the integrator \"implicit-euler\"",
            )
            .help = Some("use \"rk4\", \"adaptive\" or \"stiff\"".into());
            return;
        }
        let Some((points, radius)) = self.touching_points(spec.between) else {
            let name = self.scenario.port_name(spec.between[0]);
            self.error(path, format!("\"{name}\" has no shape to touch with"));
            return;
        };
        let surface = match (spec.surface, self.shape_of(spec.between[1])) {
            (Some(plane), _) => Surface::Plane {
                normal: Vector3::from(plane.normal),
                offset: plane.offset,
            },
            (None, Some((Shape::Sphere(other), _))) if points.len() == 1 && spec.friction.is_none() => {
                Surface::Sphere(other)
            }
            _ => {
                self.error(path, "the contact has no surface").help =
                    Some("give it a plane; two spheres need none where they do not rub".into());
                return;
            }
        };
        self.axes[element] = 3;
        self.use_links(&[first, second]);
        let normal = spec.normal.0.initial(1);
        let friction = spec.friction.as_ref().map(|law| law.0.initial(2));
        let most = normal.len().max(friction.as_ref().map_or(0, Vec::len));
        if most > MOST_STATES {
            self.error(
                path,
                format!("a law of your own has at most {MOST_STATES} states, not {most}"),
            );
            return;
        }
        let time = self.time_signal();
        let placed = |law: &OwnLaw, states: usize| Placed {
            law: law.clone(),
            time,
            states,
        };
        let each: Vec<f64> = normal.iter().chain(friction.iter().flatten()).copied().collect();
        let count = points.len() * each.len();
        let state = self.take_states(element, count);
        for (slot, value) in self.initial[state..state + count].iter_mut().zip(each.iter().cycle()) {
            *slot = *value;
        }
        self.groups.own_contacts.push(OwnContact {
            element,
            along: along(&surface),
            normal: placed(&spec.normal, normal.len()),
            friction: spec
                .friction
                .as_ref()
                .zip(friction)
                .map(|(law, states)| placed(law, states.len())),
            geometry: Geometry {
                first,
                second,
                points,
                radius,
                surface,
            },
            state,
        });
    }

    /// A force, rate or energy that is no number at the start is an error of the element, not of the run.
    fn refuse_undefined(&mut self, path: &str, own: &Own) {
        let [Hold::Pair(pair, _)] = own.holds[..] else { return };
        let (position, velocity) = (pair.position::<3>(&self.initial), pair.velocity::<3>(&self.initial));
        let mut force = [0.0; MOST_AXES];
        let mut rate = [0.0; MOST_STATES];
        let motion = Motion {
            time: 0.0,
            step: if self.method.chooses_steps() { 0.0 } else { self.step },
            load: 1.0,
            position: &position[..own.axes],
            velocity: &velocity[..own.axes],
            state: &self.initial[own.state..own.state + own.placed.states],
        };
        own.placed
            .law
            .0
            .respond(&motion, &mut rate[..own.placed.states], &mut force[..own.axes]);
        let names = own.placed.law.0.state_names();
        let stored = own.placed.law.0.stored(&motion);
        let energy = (!stored.is_finite()).then(|| "stored".to_string());
        if let Some(text) = undefined(&force[..own.axes], &rate[..own.placed.states], &names).or(energy) {
            let message = format!(
                "at the start, with x = {:?} and v = {:?}, this is not a finite number",
                motion.position, motion.velocity
            );
            self.error(&format!("{path}.{text}"), message).help = Some(UNDEFINED.into());
        }
    }

    /// Whether a velocity belongs to a linkage or a body of the user's own, whose coordinates move together.
    fn on_linkage(&self, v: usize) -> bool {
        let linkages = self.linkages.iter().map(|placed| (placed.v, placed.velocities));
        let own = self.own_bodies.iter().map(|placed| (placed.v, placed.count));
        linkages
            .chain(own)
            .any(|(first, count)| (first..first + count).contains(&v))
    }

    /// The signal of how fast a normal force changes, for a law that asks for it.
    fn load_rate(&mut self, kind: &LawKind, load: LoadSource) -> Option<usize> {
        let (LawKind::Bristle(law), LoadSource::Signal(signal)) = (kind, load) else {
            return None;
        };
        if !law.knows_load_rate() {
            return None;
        }
        let slope = match &self.profiles[signal] {
            Profile::Constant(_) => return None,
            profile => Profile::Slope(Box::new(profile.clone())),
        };
        Some(self.signal(&slope))
    }

    fn push_friction(
        &mut self,
        element: usize,
        pair: Pair,
        (axes, ellipse): (usize, Option<Ellipse<f64>>),
        rubbing: ReadyFriction,
        state: usize,
        mobility: [f64; 2],
    ) {
        let ReadyFriction { kind, curve, load, .. } = rubbing;
        let [r1, r2] = pair.ratio;
        self.carrier = self.carrier.or(match (pair.first.q, pair.second.q) {
            (0, partner) => Some((partner, r2 * pair.inverse_ratio[0])),
            (partner, 0) => Some((partner, r1 * pair.inverse_ratio[1])),
            _ => None,
        });
        let load_rate = self.load_rate(&kind, load);
        let friction = Friction {
            element,
            pair,
            law: (),
            curve,
            load,
            load_rate,
            state,
            mobility,
            coupled: false,
        };
        match kind {
            // The coupled solve itself knows of the ellipse of this law.
            LawKind::Implicit { approximate } => {
                let friction = friction.with(|()| Implicit { approximate, ellipse });
                self.groups.implicit.push(axes, None, friction);
            }
            LawKind::Applied(law) => self.groups.applied.push(law, axes, ellipse, friction),
            LawKind::Bristle(law) => self.groups.bristles.push(law, axes, ellipse, friction),
        }
    }

    fn actuator(&mut self, element: usize, path: &str, spec: &ActuatorSpec) {
        let Some((pair, axes)) = self.pair(path, spec.between, spec.ratio) else {
            return;
        };
        if spec.value.len() != axes {
            let message = format!(
                "the actuator acts on {axes} axes, but its value has {}",
                spec.value.len()
            );
            self.error(&format!("{path}.value"), message);
            return;
        }
        self.axes[element] = axes;
        self.sources.push(element);
        for (axis, profile) in spec.value.iter().enumerate() {
            let signal = self.signal(profile);
            self.actuators[element].push(signal);
            let mut pair = pair;
            for coordinate in [&mut pair.first, &mut pair.second] {
                coordinate.q += axis;
                coordinate.v += axis;
            }
            self.groups.actuators.push(Actuator {
                element,
                axis,
                pair,
                signal,
            });
        }
    }

    fn stop(&mut self, element: usize, path: &str, spec: &StopSpec) {
        let Some((pair, axes)) = self.pair(path, spec.between, spec.ratio) else {
            return;
        };
        if axes != 1 {
            self.error(path, "a stop limits one axis");
            return;
        }
        let felt = self.felt(spec.between, spec.ratio, &pair);
        let normal_path = format!("{path}.normal");
        let gravity = [pair.first.v, pair.second.v].map(|v| self.gravity_of(v));
        let falling = pair.ratio[0] * gravity[0] - pair.ratio[1] * gravity[1];
        let [position] = pair.position::<1>(&self.initial);
        let [velocity] = pair.velocity::<1>(&self.initial);
        let angular = felt.angular == Some(true);
        let free = self.falls_freely(element, spec.between);
        let landing = |gap: f64, approach: f64, toward: f64| Landing::expected(gap, approach, toward, angular, free);
        let ends = [
            spec.lower
                .and_then(|lower| landing(position - lower, -velocity, -falling)),
            spec.upper
                .and_then(|upper| landing(upper - position, velocity, falling)),
        ];
        let pressed = AtNormal {
            felt,
            landing: ends.into_iter().flatten().max_by(|a, b| a.load.total_cmp(&b.load)),
            mass: felt.mass,
            weight: felt.mass.map(|mass| mass * falling.abs()),
            how: "felt along the motion",
        };
        let Some(normal) = self.normal_law(&normal_path, spec.normal.as_ref(), pressed) else {
            return;
        };
        let lower = spec.lower.unwrap_or(f64::NEG_INFINITY);
        let upper = spec.upper.unwrap_or(f64::INFINITY);
        if position < lower || position > upper {
            let message = format!("the motion starts at {position}, outside the stop");
            self.warn(path, message, "it will be pushed inside in the first steps");
        }
        let state = self.take_states(element, 2);
        match normal {
            NormalKind::Compliant(normal) => {
                let stop = Stop {
                    element,
                    pair,
                    lower,
                    upper,
                    normal,
                    state,
                };
                for (end, gap) in [position - lower, upper - position].into_iter().enumerate() {
                    self.initial[stop.states(end)].fill(AnyNormal::rest(gap));
                }
                self.groups.stops.push(stop);
            }
            NormalKind::Rigid { restitution } => {
                self.rigid.push(Rigid {
                    element,
                    kind: RigidKind::Stop { pair, lower, upper },
                    restitution,
                    state,
                });
            }
        }
    }

    /// The points of the first body of a contact that can touch, and the radius about each.
    fn touching_points(&self, between: [Port; 2]) -> Option<(Vec<Vector3<f64>>, f64)> {
        let (shape, centre) = self.shape_of(between[0])?;
        Some(match shape {
            Shape::Sphere(radius) => (vec![centre], radius),
            Shape::Point => (vec![centre], 0.0),
            Shape::Box([x, y, z]) => {
                let mut corners = Vec::with_capacity(8);
                for (sx, sy, sz) in [
                    (-1.0, -1.0, -1.0),
                    (1.0, -1.0, -1.0),
                    (-1.0, 1.0, -1.0),
                    (1.0, 1.0, -1.0),
                    (-1.0, -1.0, 1.0),
                    (1.0, -1.0, 1.0),
                    (-1.0, 1.0, 1.0),
                    (1.0, 1.0, 1.0),
                ] {
                    corners.push(centre + 0.5 * Vector3::new(sx * x, sy * y, sz * z));
                }
                (corners, 0.0)
            }
            Shape::Capsule { radius, length } => {
                let half = Vector3::new(0.0, 0.0, 0.5 * length);
                (vec![centre - half, centre + half], radius)
            }
            Shape::Hull(hull) => (hull.vertices.iter().map(|vertex| centre + vertex).collect(), 0.0),
            Shape::Cylinder { .. } | Shape::Mesh(_) | Shape::Plane(_) | Shape::Compound(_) => return None,
        })
    }

    /// Shape of a body and where its centre is in the body's axes.
    fn shape_of(&self, port: Port) -> Option<(Shape, Vector3<f64>)> {
        match port {
            Port::Body(body) => match &self.scenario.bodies[body].1 {
                BodySpec::RigidBody(spec) => Some((spec.shape.clone()?, Vector3::zeros())),
                BodySpec::Mass(mass) if mass.position.len() >= 2 => Some((Shape::Point, Vector3::zeros())),
                _ => None,
            },
            Port::Link { body, link } => match &self.scenario.bodies[body].1 {
                BodySpec::Linkage(linkage) => {
                    let link = &linkage.links[link];
                    Some((link.shape.clone()?, Vector3::from(link.com)))
                }
                BodySpec::Own(_) => Some((Shape::Point, Vector3::zeros())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a body starts without moving.
    fn at_rest(&self, body: Attachment) -> bool {
        let (v, count) = match body {
            Attachment::Ground => return true,
            Attachment::Point { coordinate, axes } => (coordinate.v, axes),
            Attachment::Rigid(body) => (self.bodies[body].v, 6),
            Attachment::Link { linkage, .. } => (self.linkages[linkage].v, self.linkages[linkage].velocities),
            Attachment::Own { own, .. } => (self.own_bodies[own].v, self.own_bodies[own].count),
        };
        self.initial[v..v + count].iter().all(|&v| v == 0.0)
    }

    /// Frames of the user's own bodies take part in steps of differential equations only.
    fn refuse_own_frames(&mut self, path: &str, bodies: &[Attachment]) {
        if self.method.implicit() && bodies.iter().any(|body| matches!(body, Attachment::Own { .. })) {
            self.error(
                path,
                "frames of the user's own bodies are not moved by the integrator \"implicit-euler\"",
            )
            .help = Some("write integrator = \"stiff\" or \"rk4\" in [simulation], or act on its coordinates".into());
        }
    }

    /// Elements hold on to these bodies: linkages among them must place their links.
    pub(super) fn use_links(&mut self, bodies: &[Attachment]) {
        for body in bodies {
            if let Attachment::Link { linkage, .. } = body {
                self.linkages[*linkage].placed = true;
            }
        }
    }

    /// Inverse of the smallest mass felt at a point of a body (in its axes): the largest eigenvalue of J·M⁻¹·Jᵀ.
    fn inverse_mass_at(&self, body: Attachment, point: &Vector3<f64>) -> f64 {
        match body {
            Attachment::Ground => 0.0,
            Attachment::Point { coordinate, .. } => self.inverse_mass_of(coordinate.v),
            Attachment::Rigid(_) => self.rigid_body(body).map_or(0.0, |body| {
                let arm = point.cross_matrix();
                let turning = arm.transpose() * body.world_inverse_inertia(&Matrix3::identity()) * arm;
                body.inverse_mass() + symmetric_eigenvalues(&turning).map_or(0.0, |values| values.max())
            }),
            Attachment::Link { linkage, link } => self.inverse_mass_of_link(linkage, link, point),
            Attachment::Own { own, frame } => {
                let arm = self.own_bodies[own].frame(frame, &self.initial).rotation * point;
                symmetric_eigenvalues(&self.mobility_of_frame(own, frame, &arm)).map_or(0.0, |values| values.max())
            }
        }
    }

    /// Where a body is at the start.
    fn initial_frame(&self, body: Attachment) -> Frame {
        let mut frame = Frame::ground();
        match body {
            Attachment::Ground => (),
            Attachment::Point { coordinate, axes } => {
                for i in 0..axes {
                    frame.position[i] = self.initial[coordinate.q + i];
                }
            }
            Attachment::Rigid(index) => {
                let placed = &self.bodies[index];
                let (q, v) = (
                    &self.initial[placed.q..placed.q + 7],
                    &self.initial[placed.v..placed.v + 6],
                );
                frame = placed.body.place(q, v);
            }
            Attachment::Link { linkage, link } => {
                let placed = &self.linkages[linkage];
                let mut scratch = placed.body.scratch();
                let (q, v) = placed.motion(&self.initial);
                placed.body.place(q, v, &mut scratch);
                frame = *placed.body.frame(&scratch, link);
            }
            Attachment::Own { own, frame: index } => frame = self.own_bodies[own].frame(index, &self.initial),
        }
        frame
    }

    /// Inverse of the mass that a force along `direction` at a point of the world feels at the start.
    fn inverse_mass_toward(&self, body: Attachment, point: &Vector3<f64>, direction: &Vector3<f64>) -> f64 {
        match body {
            Attachment::Ground => 0.0,
            Attachment::Point { coordinate, .. } => self.inverse_mass_of(coordinate.v),
            Attachment::Rigid(index) => {
                let frame = self.initial_frame(body);
                let body = &self.bodies[index].body;
                let turn = (point - frame.position).cross(direction);
                body.inverse_mass() + turn.dot(&(body.world_inverse_inertia(&frame.rotation) * turn))
            }
            Attachment::Link { linkage, link } => self.inverse_mass_of_placed_link(linkage, link, point, direction),
            Attachment::Own { own, frame } => {
                let arm = point - self.own_bodies[own].frame(frame, &self.initial).position;
                direction.dot(&(self.mobility_of_frame(own, frame, &arm) * direction))
            }
        }
    }

    /// J·M⁻¹·Jᵀ of a point of a frame of a body of the user's own at the start, `arm` from its place in world axes.
    fn mobility_of_frame(&self, own: usize, frame: usize, arm: &Vector3<f64>) -> Matrix3<f64> {
        let placed = &self.own_bodies[own];
        let columns = placed.columns(frame, &self.initial);
        let mut inertia = placed.inertia(&self.initial, &[]);
        ldlt_factor(&mut inertia, placed.count);
        let moved = |i: usize| columns.position[i] + columns.turn[i].cross(arm);
        let mut mobility = Matrix3::zeros();
        for i in 0..placed.count {
            let mut column = [0.0; MOST_COORDINATES];
            column[i] = 1.0;
            ldlt_solve(&inertia, placed.count, &mut column[..placed.count]);
            for (j, value) in column[..placed.count].iter().enumerate() {
                mobility += *value * moved(j) * moved(i).transpose();
            }
        }
        mobility
    }

    /// Whether nothing but gravity acts on a body that an element keeps off the ground: no force of its own, no other
    /// element.
    fn falls_freely(&self, element: usize, between: [Port; 2]) -> bool {
        let ([Port::Body(body), Port::Ground] | [Port::Ground, Port::Body(body)]) = between else {
            return false;
        };
        let unloaded = match &self.scenario.bodies[body].1 {
            BodySpec::Mass(mass) => mass.force.is_empty(),
            BodySpec::RigidBody(rigid) => rigid.force.is_empty() && rigid.torque.is_empty(),
            _ => false,
        };
        let mut others = self.scenario.elements.iter().enumerate();
        unloaded && !others.any(|(index, (_, other))| index != element && other.between().contains(&Port::Body(body)))
    }

    /// What presses on one touching point of a contact: the body's mass and weight along the normal at the start. A box
    /// lands on four corners, and each carries a quarter.
    fn pressed(&self, geometry: &Geometry, felt: AtSlip, free: bool) -> AtNormal {
        let frames = [self.initial_frame(geometry.first), self.initial_frame(geometry.second)];
        let touches = (0..geometry.points.len()).map(|index| geometry.touch(index, &frames[0], &frames[1]));
        let nearest = touches.min_by(|a, b| a.gap.total_cmp(&b.gap));
        let Some(touch) = nearest else {
            return AtNormal {
                felt,
                landing: None,
                mass: None,
                weight: None,
                how: "",
            };
        };
        let corners = geometry.points.len() > 1;
        let centre: Vector3<f64> = geometry.points.iter().sum::<Vector3<f64>>() / geometry.points.len() as f64;
        let at = if corners {
            frames[0].point_position(&centre)
        } else {
            touch.point
        };
        let share = if corners { 4.0 } else { 1.0 };
        let first = self.inverse_mass_toward(geometry.first, &at, &touch.normal);
        let second = self.inverse_mass_toward(geometry.second, &touch.point, &touch.normal);
        let inverse = share * (first + second);
        let whole = !matches!(geometry.first, Attachment::Link { .. });
        let falling = self.world_gravity.dot(&touch.normal).abs();
        let approach = -touch
            .normal
            .dot(&self.initial_velocity([geometry.first, geometry.second], &touch.point));
        // Gravity moves what can move.
        let moves = [first, second].map(|inverse| f64::from(u8::from(inverse > 0.0)));
        let toward = -self.world_gravity.dot(&touch.normal) * (moves[0] - moves[1]);
        AtNormal {
            felt,
            landing: Landing::expected(touch.gap, approach, toward, false, free),
            mass: (inverse > 0.0).then(|| 1.0 / inverse),
            weight: (second == 0.0 && first > 0.0 && whole).then(|| falling / (share * first)),
            how: if corners {
                "felt along the normal by each of four corners"
            } else {
                "felt along the normal"
            },
        }
    }

    /// How fast two bodies move past each other at the start, at a point of the world.
    fn initial_velocity(&self, bodies: [Attachment; 2], point: &Vector3<f64>) -> Vector3<f64> {
        let [first, second] = bodies.map(|body| match body {
            Attachment::Point { .. } => Vector3::from(body.velocity(&self.initial)),
            _ => self.initial_frame(body).point_velocity(point),
        });
        first - second
    }

    /// The fastest slip at the start of the points of a contact, whether they touch yet or not.
    fn initial_slip(&self, geometry: &Geometry) -> f64 {
        let bodies = [geometry.first, geometry.second];
        let frames = bodies.map(|body| self.initial_frame(body));
        let slips = (0..geometry.points.len()).map(|index| {
            let touch = geometry.touch(index, &frames[0], &frames[1]);
            let velocity = self.initial_velocity(bodies, &touch.point);
            (velocity - touch.normal * touch.normal.dot(&velocity)).norm()
        });
        slips.fold(0.0, f64::max)
    }

    /// Speed of the free motion of a penalty joint at the start.
    fn initial_slip_along(&self, spec: &JointSpec, bodies: [Attachment; 2]) -> f64 {
        let frames = bodies.map(|body| self.initial_frame(body));
        let axis = frames[1].rotation * Vector3::from(spec.axis[1]);
        let motion = if spec.joint_type == JointType::Revolute {
            frames[0].angular_velocity - frames[1].angular_velocity
        } else {
            self.initial_velocity(bodies, &frames[0].point_position(&Vector3::from(spec.at[0])))
        };
        axis.dot(&motion).abs()
    }

    /// Inverse of the smallest inertia felt by a torque on a body; 0 where it does not turn or is not known.
    fn inverse_inertia_of(&self, body: Attachment) -> f64 {
        self.rigid_body(body).map_or(0.0, |body| {
            symmetric_eigenvalues(&body.world_inverse_inertia(&Matrix3::identity())).map_or(0.0, |values| values.max())
        })
    }

    fn contact(&mut self, element: usize, path: &str, spec: &ContactSpec) {
        let bodies = spec.between.map(|port| self.attachment(port));
        let [Some(first), Some(second)] = bodies else {
            self.error(
                path,
                "a contact needs rigid bodies, links, or masses of two or three axes",
            );
            return;
        };
        self.refuse_own_frames(path, &[first, second]);
        let Some((points, radius)) = self.touching_points(spec.between) else {
            let name = self.scenario.port_name(spec.between[0]);
            let help = match self.shape_of(spec.between[0]) {
                Some(_) => {
                    "cylinders and compounds touch through [contacts]: give the floor a body of kind = \"fixed\""
                }
                None => {
                    "add shape = { sphere = \"…\" }, { box = [\"…\", \"…\", \"…\"] } or { point = true } to the body"
                }
            };
            self.error(path, format!("\"{name}\" has no shape to touch with")).help = Some(help.into());
            return;
        };
        let surface = match spec.surface {
            Some(plane) => Surface::Plane {
                normal: Vector3::from(plane.normal),
                offset: plane.offset,
            },
            None => match self.shape_of(spec.between[1]) {
                Some((Shape::Sphere(other), _)) if points.len() == 1 => Surface::Sphere(other),
                _ => {
                    self.error(path, "the contact has no surface").help = Some(
                        "add surface = { plane = { normal = [0, 0, 1], offset = 0 } }; only two spheres need none"
                            .into(),
                    );
                    return;
                }
            },
        };
        self.axes[element] = 3;
        self.use_links(&[first, second]);
        // The touching point of a ball is one radius from its centre, in whatever direction.
        let inverse_at = |point: &Vector3<f64>| {
            let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
            axes.map(|axis| self.inverse_mass_at(first, &(point + radius * axis)))
                .into_iter()
                .fold(0.0, f64::max)
        };
        let own = points.iter().map(inverse_at).fold(0.0, f64::max);
        let other = if let Surface::Sphere(other) = surface {
            other
        } else {
            0.0
        };
        let inverse = own + self.inverse_mass_at(second, &Vector3::new(other, 0.0, 0.0));
        self.inverse_mass_felt[element] = inverse;
        // A body on several points carries its mass on all of them: each must not be stiffer than its share.
        let share = if points.len() > 1 {
            points.len() as f64 / 2.0
        } else {
            1.0
        };
        let felt = AtSlip {
            mass: felt_mass(inverse).map(|mass| mass / share),
            angular: Some(false),
            slip: 0.0,
            pressed: None,
        };
        let geometry = Geometry {
            first,
            second,
            points,
            radius,
            surface,
        };
        self.contacts.push((element, geometry.clone()));
        let free = self.falls_freely(element, spec.between);
        let pressed = self.pressed(&geometry, felt, free);
        let Some(normal) = self.normal_law(&format!("{path}.normal"), Some(&spec.normal), pressed) else {
            return;
        };
        let friction_path = format!("{path}.friction");
        let rubbing = match &spec.friction {
            Some(friction) => {
                let felt = AtSlip {
                    slip: self.initial_slip(&geometry),
                    pressed: pressed.greatest(&normal),
                    ..felt
                };
                match self.friction_law(&friction_path, friction, spec.between, felt, true) {
                    Some(rubbing) => Some(rubbing),
                    None => return,
                }
            }
            None => None,
        };
        let planar = matches!(first, Attachment::Point { axes: 2, .. });
        if let (true, Some(plane)) = (planar, spec.surface)
            && plane.normal[2] != 0.0
        {
            self.error(
                &format!("{path}.surface"),
                "a mass of two axes moves in x and y, but this normal has a part along z",
            )
            .help = Some("use a normal such as [0, 1, 0], or give the mass three axes".into());
            return;
        }
        let given = spec.friction.as_ref().map_or([None; 2], |f| [f.rolling, f.spinning]);
        let arms = given.map(|arm| arm.unwrap_or(0.0));
        let turns = |body: Attachment| match body {
            Attachment::Rigid(index) => !self.bodies[index].body.is_point(),
            Attachment::Link { .. } | Attachment::Own { .. } => true,
            Attachment::Point { .. } | Attachment::Ground => false,
        };
        let turns = turns(first) || turns(second);
        for (key, arm) in ["rolling", "spinning"].into_iter().zip(arms) {
            let fault = match normal {
                _ if arm == 0.0 => continue,
                NormalKind::Compliant(_) => (
                    "only a rigid contact resists rolling and spinning",
                    "write normal = { law = \"rigid\" } with integrator = \"implicit-euler\", or leave it out",
                ),
                NormalKind::Rigid { .. } if !turns => (
                    "neither of these bodies turns: there is no rolling to resist",
                    "leave it out, or use a rigid body with a sphere, a cylinder or a capsule",
                ),
                NormalKind::Rigid { .. } => continue,
            };
            self.error(&format!("{friction_path}.{key}"), fault.0).help = Some(fault.1.into());
            return;
        }
        let grain = match spec.friction.as_ref().and_then(|friction| friction.ellipse.as_ref()) {
            None => None,
            Some(ellipse) => match self.grain(&friction_path, ellipse, surface, planar) {
                Some(grain) => Some(grain),
                None => return,
            },
        };
        let rubs = rubbing
            .as_ref()
            .map_or(Tangential::None, |rubbing| rubbing.kind.tangential());
        let per_point = match normal {
            NormalKind::Compliant(law) => rubs.kept(3) + law.states(),
            NormalKind::Rigid { .. } => 3,
        };
        let count = per_point * geometry.points.len();
        let state = self.take_states(element, count);
        match normal {
            NormalKind::Rigid { restitution } => {
                let friction = match &rubbing {
                    None => None,
                    Some(ReadyFriction {
                        kind: LawKind::Implicit { .. },
                        curve: SteadyCurve::Stribeck(curve),
                        ..
                    }) if curve.velocity == 0.0 && curve.viscous == 0.0 => Some([curve.holding, curve.kinetic]),
                    Some(_) => {
                        self.error(
                            &friction_path,
                            "a rigid contact takes Coulomb friction with the law \"implicit\"",
                        )
                        .help =
                            Some("write friction = { law = \"implicit\", mu = 0.5 } (mu_static may be larger)".into());
                        return;
                    }
                };
                let rest = match spec.friction.as_ref().and_then(|friction| friction.initial) {
                    Some(InitialMode::Stick) => true,
                    Some(InitialMode::Slip) => false,
                    None => self.at_rest(first) && self.at_rest(second),
                };
                let points = geometry.points.len();
                for i in 0..points {
                    self.initial[state + i] = f64::from(u8::from(rest));
                    self.initial[state + points + i] = if rest { HELD } else { 0.0 };
                }
                let kind = RigidKind::Contact {
                    geometry,
                    friction,
                    arms,
                    planar,
                    grain,
                };
                self.rigid.push(Rigid {
                    element,
                    kind,
                    restitution,
                    state,
                });
            }
            NormalKind::Compliant(normal) => {
                let frictionless = || SteadyCurve::Stribeck(Stribeck::coulomb(0.0));
                let curve = rubbing.map_or_else(frictionless, |rubbing| rubbing.curve);
                let frames = [first, second].map(|body| self.initial_frame(body));
                let contact = Contact {
                    element,
                    geometry,
                    normal,
                    friction: rubs,
                    curve,
                    grain,
                    state,
                };
                let weight = felt.mass.unwrap_or(0.0) * self.world_gravity.norm();
                for index in 0..contact.geometry.points.len() {
                    let gap = contact.geometry.touch(index, &frames[0], &frames[1]).gap;
                    self.initial[contact.normal_states(index)].fill(AnyNormal::rest(gap));
                    let states = contact.friction_states(index);
                    contact.friction.begin(3, &mut self.initial[states.clone()]);
                    let first = states.start - self.layout.first_state();
                    let sizes = &mut self.sizes[first..first + states.len()];
                    contact.friction.sizes_in_contact(3, weight, sizes);
                }
                self.groups.contacts.push(contact);
            }
        }
    }

    /// The direction of elliptic friction in a contact.
    fn grain(&mut self, path: &str, spec: &EllipseSpec, surface: Surface, planar: bool) -> Option<Grain> {
        let direction = Vector3::from(spec.direction).normalize();
        let fault = match surface {
            Surface::Sphere(_) => Some((
                "two spheres have no direction that stays in the plane between them",
                "write one number for each coefficient, and leave `direction` out",
            )),
            _ if planar => Some((
                "a mass of two axes slides along one line of this surface: there is nothing across it",
                "write one number for each coefficient and leave `direction` out, or give the mass three axes",
            )),
            Surface::Plane { normal, .. } if !spec.on_first && normal.cross(&direction).norm() < 1e-6 => Some((
                "this direction stands on the surface: it has no part along it",
                "give a direction across the normal of the surface, in the axes of the body that has it",
            )),
            Surface::Plane { .. } => None,
        };
        if let Some((message, help)) = fault {
            self.error(&format!("{path}.direction"), message).help = Some(help.into());
            return None;
        }
        Some(spec.grain())
    }

    fn joint(&mut self, element: usize, path: &str, spec: &JointSpec) {
        let bodies = spec.between.map(|port| self.attachment(port));
        let [Some(first), Some(second)] = bodies else {
            self.error(
                path,
                "a joint needs rigid bodies, links, masses of two or three axes, or the ground",
            );
            return;
        };
        self.use_links(&[first, second]);
        if spec.rigid {
            self.rigid_joint(element, path, spec, [first, second]);
            return;
        }
        if self.method.implicit() {
            let message = format!(
                "a joint held by stiff springs does not run with the integrator \"{}\"",
                self.method.row().name
            );
            self.error(path, message).help = Some("write rigid = true, or integrator = \"rk4\" in [simulation]".into());
            return;
        }
        let at = spec.at.map(Vector3::from);
        let arm = at[0].norm().max(at[1].norm());
        let inverse = self.inverse_mass_at(first, &at[0]) + self.inverse_mass_at(second, &at[1]);
        let mass = if inverse > 0.0 { 1.0 / inverse } else { 1.0 };
        let turning = self.inverse_inertia_of(first) + self.inverse_inertia_of(second);
        let inertia = if turning > 0.0 {
            1.0 / turning
        } else {
            mass * arm.max(1e-2) * arm.max(1e-2)
        };
        let (step, said) = self.resolved_step();
        let rate = 0.5 / step;
        let mut pick = |key: &str, given: Option<f64>, value: f64, unit: &'static str, why: String| match given {
            Some(given) => given,
            None => self.choose(format!("{path}.{key}"), value, unit, why),
        };
        let why = |what: &str| format!("{what} with m = {mass:.4} felt at the joint and {said}");
        let why_turning = |what: &str| format!("{what} with J = {inertia:.4e} felt by a torque and {said}");
        let kt = pick(
            "stiffness",
            spec.stiffness,
            mass * rate * rate,
            "N/m",
            why("m*(0.5/step)^2"),
        );
        let bt = pick(
            "damping",
            spec.damping,
            (kt * mass).sqrt(),
            "N*s/m",
            why("sqrt(stiffness*m)"),
        );
        let kr = pick(
            "rotational_stiffness",
            spec.rotational_stiffness,
            inertia * rate * rate,
            "Nm/rad",
            why_turning("J*(0.5/step)^2"),
        );
        let br = pick(
            "rotational_damping",
            spec.rotational_damping,
            (kr * inertia).sqrt(),
            "Nm*s/rad",
            why_turning("sqrt(rotational_stiffness*J)"),
        );
        let turns = spec.joint_type != JointType::Spherical;
        let parts = [(kt / mass, bt / mass, true), (kr / inertia, br / inertia, turns)];
        if parts
            .iter()
            .any(|&(k, d, there)| there && self.resolved(k, d) == Resolved::Diverges)
        {
            self.unstable = true;
            self.warn(
                path,
                "the step is too large for the stiffness or damping of this joint: the run will diverge",
                "use a smaller step, softer values, or leave them out to have them chosen",
            );
        }
        let rotations = spec.between.map(|port| self.initial_rotation(port));
        // What a fixed or prismatic joint holds is how the bodies stand to each other at the start.
        let rest = rotations[0].tr_mul(&rotations[1]);
        let felt = AtSlip {
            mass: Some(if spec.joint_type == JointType::Revolute {
                inertia
            } else {
                mass
            }),
            angular: Some(spec.joint_type == JointType::Revolute),
            slip: self.initial_slip_along(spec, [first, second]),
            pressed: None,
        };
        let (friction, curve, load, load_rate) = match &spec.friction {
            None => {
                let load = LoadSource::Element(element);
                let curve = SteadyCurve::Stribeck(Stribeck::coulomb(0.0));
                (Tangential::None, curve, load, None)
            }
            Some(friction) => {
                let friction_path = format!("{path}.friction");
                let Some(rubbing) = self.friction_law(&friction_path, friction, spec.between, felt, false) else {
                    return;
                };
                let load_rate = self.load_rate(&rubbing.kind, rubbing.load);
                (rubbing.kind.tangential(), rubbing.curve, rubbing.load, load_rate)
            }
        };
        let motor = spec.torque.as_ref().map(|profile| self.signal(profile));
        if let Some(signal) = motor {
            self.actuators[element].push(signal);
        }
        let count = friction.kept(1);
        let state = self.take_states(element, count);
        friction.begin(1, &mut self.initial[state..state + count]);
        let place = state - self.layout.first_state();
        friction.sizes_in_contact(1, 0.0, &mut self.sizes[place..place + count]);
        self.groups.joints.push(Joint {
            element,
            kind: spec.joint_type,
            bodies: [first, second],
            at,
            axis: spec.axis.map(Vector3::from),
            rest,
            translation: [kt, bt],
            rotation: [kr, br],
            length: 0.0,
            friction,
            curve,
            load,
            load_rate,
            state,
            motor,
            spring: false,
        });
    }

    /// Whether the method solves for rigid couplings; an error if not.
    fn can_be_rigid(&mut self, path: &str, what: &str) -> bool {
        let can = self.method.implicit();
        if !can {
            let message = format!(
                "a rigid {what} does not run with the integrator \"{}\"",
                self.method.row().name
            );
            self.error(&format!("{path}.rigid"), message).help = Some(
                "write integrator = \"implicit-euler\" or \"implicit-midpoint\" in [simulation], or leave rigid out"
                    .into(),
            );
        }
        can
    }

    fn rigid_joint(&mut self, element: usize, path: &str, spec: &JointSpec, bodies: [Attachment; 2]) {
        if !self.can_be_rigid(path, "joint") {
            return;
        }
        if bodies.iter().any(|body| matches!(body, Attachment::Own { .. })) {
            self.error(path, "a rigid joint cannot hold a body of equations");
            return;
        }
        self.axes[element] = 3;
        let frames = bodies.map(|body| self.initial_frame(body));
        let at = spec.at.map(Vector3::from);
        let axis = spec.axis.map(Vector3::from);
        let rest = frames[0].rotation.tr_mul(&frames[1].rotation);
        // What is open at the start is closed in the first step, if it is the rounding of what was written.
        let mut apart = frames[0].point_position(&at[0]) - frames[1].point_position(&at[1]);
        let along = frames[1].rotation * axis[1];
        if spec.joint_type == JointType::Prismatic {
            apart -= along.dot(&apart) * along;
        }
        let size = at[0].norm() + at[1].norm() + frames[0].position.norm() + frames[1].position.norm();
        if apart.norm() > OPEN * size.max(1e-3) {
            let message = format!(
                "the joint is open at the start: its points are {:.3e} m apart",
                apart.norm()
            );
            self.error(path, message).help = Some("choose positions in which the joint is closed".into());
            return;
        }
        let bend = bending(spec.joint_type, &axis, &rest, &frames[0], &frames[1]).norm();
        if bend > OPEN || spec.joint_type == JointType::Revolute && along.dot(&(frames[0].rotation * axis[0])) < 0.0 {
            let message = "the axes of the joint do not agree at the start";
            self.error(path, message).help =
                Some("choose positions in which they are parallel, or write second_axis".into());
            return;
        }
        let kind = LockKind::Joint(RigidJoint {
            kind: spec.joint_type,
            bodies,
            at,
            axis,
            rest,
        });
        self.locks.push(Lock { element, kind });
    }

    fn initial_rotation(&self, port: Port) -> Matrix3<f64> {
        match port {
            Port::Body(body) => match (&self.scenario.bodies[body].1, self.places[body]) {
                (BodySpec::RigidBody(spec), Place::Rigid(_)) => {
                    let [w, x, y, z] = spec.rotation;
                    *UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
                        .to_rotation_matrix()
                        .matrix()
                }
                _ => Matrix3::identity(),
            },
            Port::Link { body, link } => match self.places[body] {
                Place::Linkage(index) => {
                    let placed = &self.linkages[index];
                    let mut scratch = placed.body.scratch();
                    let (q, v) = placed.motion(&self.initial);
                    placed.body.place(q, v, &mut scratch);
                    placed.body.frame(&scratch, link).rotation
                }
                _ => Matrix3::identity(),
            },
            _ => Matrix3::identity(),
        }
    }
}

/// The mass of which this is the inverse; `None` where nothing moves: what weighs more than 1e200 does not either, and stiffnesses that follow
/// from its mass would be beyond all numbers.
fn felt_mass(inverse: f64) -> Option<f64> {
    (inverse > 1e-200).then(|| 1.0 / inverse)
}

/// How far a rigid joint may be open at the start, relative to the size of its bodies, or in rad.
const OPEN: f64 = 1e-4;

/// What makes an expression undefined.
pub(crate) const UNDEFINED: &str = "look for a division by 0, or a root or logarithm of a negative number";

/// The key of the expression of a force or a rate that is no number.
pub(super) fn undefined(force: &[f64], rates: &[f64], states: &[&str]) -> Option<String> {
    let broken = |values: &[f64]| values.iter().position(|value| !value.is_finite());
    if let Some(axis) = broken(force) {
        return Some(format!("force.{axis}"));
    }
    let state = broken(rates)?;
    Some(
        states
            .get(state)
            .map_or("rates".to_string(), |name| format!("rates.{name}")),
    )
}
