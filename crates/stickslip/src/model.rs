//! Building a system in Rust, without a scenario file.

mod bodies;
mod elements;

use crate::body::{OwnBody, OwnBodySpec};
use crate::element::own::{OwnElement, OwnLaw};
use crate::handle::{Body, Element, End};
use crate::integrate::Method;
use crate::profile::Profile;
use crate::scenario::rules::{PartFault, verify};
use crate::scenario::{
    ActuatorSpec, BodySpec, CurveSpec, DriverMotion, DriverSpec, ElementSpec, EllipseSpec, FrictionLawSpec,
    FrictionSpec, InertiaSpec, InitialMode, LimitSpec, LinkSpec, MassSpec, NormalForce, Plane, Port, Scenario,
    ScenarioError, SimulationSpec,
};
use crate::scenario::{Connection, OwnContactSpec, OwnElementSpec};
use crate::simulation::Simulation;
pub use bodies::{Link, Linkage, RigidBody};
use elements::number;
pub use elements::{Contact, Gear, Joint, Normal, Spring, Stop};
use std::sync::Arc;

/// The fixed world.
pub const GROUND: Port = Port::Ground;

/// A mechanical system being put together.
///
/// The block of the paper on model P, with a controller that pulls it back once per step:
///
/// ```
/// use stickslip::integrate::Method;
/// use stickslip::model::{Friction, GROUND, Model};
///
/// let mut model = Model::new(1e-3, Method::ImplicitEuler);
/// let block = model.mass("block", 1.0, &[0.0], &[2.0]);
/// let motor = model.actuator("motor", block, GROUND);
/// let floor = model.friction("floor", block, GROUND, Friction::law("implicit", 4.0).holding(5.0));
/// let mut simulation = model.build()?;
///
/// for _ in 0..3000 {
///     let (x, v) = (simulation.position(block)[0], simulation.velocity(block)[0]);
///     simulation.set_actuator(motor, 0, -40.0 * x - 8.0 * v);
///     simulation.advance_observed(1)?;
/// }
/// assert_eq!(simulation.velocity(block), &[0.0]); // the controller lost: friction holds the block
/// assert_eq!(simulation.force(floor), &[40.0 * simulation.position(block)[0]]); // and balances its force
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Model {
    scenario: Scenario,
    /// Elements that were given a body of another model.
    foreign: Vec<usize>,
    /// What else was found wrong on the way.
    faults: Vec<PartFault>,
}

/// A friction law with its numbers.
#[derive(Clone, Debug)]
pub struct Friction(FrictionLawSpec, Option<Element>);

impl Friction {
    /// A law of the registry with Coulomb's limit, N or N·m.
    pub fn law(name: &str, kinetic: f64) -> Self {
        Self::new(
            name,
            LimitSpec::Force {
                kinetic,
                static_: kinetic,
            },
        )
    }

    /// A law of the registry with a coefficient of the normal force: that of the contact it is in, or one that is given.
    pub fn coefficient(name: &str, kinetic: f64) -> Self {
        Self::new(
            name,
            LimitSpec::Coefficient {
                kinetic,
                static_: kinetic,
            },
        )
    }

    fn new(name: &str, limit: LimitSpec) -> Self {
        let law = FrictionLawSpec {
            law: name.to_string(),
            curve: CurveSpec {
                limit,
                viscous: 0.0,
                stribeck_velocity: None,
                stribeck_exponent: 2.0,
            },
            ellipse: None,
            rolling: None,
            spinning: None,
            normal_force: None,
            initial: None,
            parameters: Vec::new(),
        };
        Friction(law, None)
    }

    /// Makes the friction of a mass in the plane elliptic: the kinetic limit is that along `direction`, this one that across it.
    pub fn across(mut self, limit: f64, direction: [f64; 2]) -> Self {
        let [_, kinetic] = self.0.curve.limit.levels();
        self.0.ellipse = Some(EllipseSpec {
            direction: [direction[0], direction[1], 0.0],
            across: limit / kinetic,
            on_first: false,
        });
        self
    }

    /// The limit at rest (or its coefficient), at least the kinetic one.
    pub fn holding(mut self, limit: f64) -> Self {
        if let LimitSpec::Force { static_, .. } | LimitSpec::Coefficient { static_, .. } = &mut self.0.curve.limit {
            *static_ = limit;
        }
        self
    }

    /// The normal force of a coefficient, N.
    pub fn normal_force(mut self, force: impl Into<Profile>) -> Self {
        self.0.normal_force = Some(NormalForce::Profile(force.into()));
        self
    }

    /// The normal force is what a spring, a stop or a contact of the same model is compressed with.
    pub fn pressed_by(mut self, element: Element) -> Self {
        (self.0.normal_force, self.1) = (Some(NormalForce::Element(element.number())), Some(element));
        self
    }

    /// How it begins; otherwise it sticks where nothing moves.
    pub fn begins(mut self, mode: InitialMode) -> Self {
        self.0.initial = Some(mode);
        self
    }

    /// Adds viscous friction, N·s/m.
    pub fn viscous(mut self, coefficient: f64) -> Self {
        self.0.curve.viscous = coefficient;
        self
    }

    /// Lets the limit fall from the holding to the kinetic one with speed.
    pub fn stribeck(mut self, velocity: f64, exponent: f64) -> Self {
        self.0.curve.stribeck_velocity = Some(velocity);
        self.0.curve.stribeck_exponent = exponent;
        self
    }

    /// Sets a parameter of the law, SI.
    pub fn parameter(mut self, name: &str, value: f64) -> Self {
        self.0.parameters.push(number(name, value));
        self
    }
}

impl Model {
    /// An empty system with its step and method.
    pub fn new(step: f64, method: Method) -> Self {
        let scenario = Scenario {
            title: String::new(),
            simulation: SimulationSpec {
                // A model runs as long as its owner steps it; the duration only bounds the time grid.
                duration: 1e6 * step,
                step,
                integrator: method.row().name.to_string(),
                gravity: None,
                relative_tolerance: 1e-6,
                absolute_tolerance: None,
                max_step: None,
                min_step: None,
                newmark: None,
                backward_motion: false,
            },
            bodies: Vec::new(),
            elements: Vec::new(),
            inclusion: None,
            chain: None,
            spheres: None,
            columns: None,
            contact_rows: false,
            stick_slip: None,
            slip_events: None,
            map: None,
            warnings: Vec::new(),
            sources: Default::default(),
            spans: Default::default(),
        };
        Model {
            scenario,
            foreign: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Gravity in the world, m/s².
    pub fn gravity(&mut self, gravity: [f64; 3]) {
        self.scenario.simulation.gravity = Some(gravity);
    }

    /// Adds a body of any kind.
    pub fn body(&mut self, name: &str, body: BodySpec) -> Body {
        self.scenario.bodies.push((name.to_string(), body));
        Body::named(self.scenario.bodies.len() - 1, name)
    }

    /// Adds an element of any kind.
    pub fn element(&mut self, name: &str, element: ElementSpec) -> Element {
        self.scenario.elements.push((name.to_string(), element));
        Element::named(self.scenario.elements.len() - 1, name)
    }

    /// The ports of an element that is to come. A body of another model is noted, and refused when the system is built.
    fn between(&mut self, first: impl Into<End>, second: impl Into<End>) -> [Port; 2] {
        [first.into(), second.into()].map(|end: End| {
            if end.body.is_some_and(|body| !self.is_own(body)) {
                self.foreign.push(self.scenario.elements.len());
            }
            end.port
        })
    }

    /// Whether a handle is one of this model.
    fn is_own(&self, body: Body) -> bool {
        let number = body.number();
        let own = self.scenario.bodies.get(number);
        own.is_some_and(|(name, _)| body == Body::nth(number) || body == Body::named(number, name))
    }

    /// Adds a point mass with as many axes as its position has numbers.
    pub fn mass(&mut self, name: &str, mass: f64, position: &[f64], velocity: &[f64]) -> Body {
        let (position, velocity) = (position.to_vec(), velocity.to_vec());
        self.body(
            name,
            BodySpec::Mass(MassSpec {
                mass,
                position,
                velocity,
                axis: None,
                force: Vec::new(),
            }),
        )
    }

    /// Adds a rotating inertia at rest.
    pub fn inertia(&mut self, name: &str, inertia: f64) -> Body {
        self.body(
            name,
            BodySpec::Inertia(InertiaSpec {
                inertia,
                position: 0.0,
                velocity: 0.0,
                torque: None,
            }),
        )
    }

    /// Adds a body on one axis that moves with a prescribed velocity.
    pub fn driver(&mut self, name: &str, velocity: impl Into<Profile>) -> Body {
        let motion = DriverMotion::Velocity(vec![velocity.into()]);
        self.body(
            name,
            BodySpec::Driver(DriverSpec {
                motion,
                start: vec![0.0],
                angular: None,
                shape: None,
            }),
        )
    }

    /// Adds a rigid body.
    ///
    /// A box that slides over a floor stops after v²/(2·μ·g):
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Contact, Friction, GROUND, Model, Normal, RigidBody};
    ///
    /// let step = 1e-4;
    /// let mut model = Model::new(step, Method::ImplicitEuler);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let crate_ = model.rigid_body("crate", RigidBody::cuboid(20.0, [0.4, 0.3, 0.02]).at([0.0, 0.0, 0.01]).moving([1.5, 0.0, 0.0]));
    /// let rough = Contact::plane([0.0, 0.0, 1.0], 0.0, Normal::rigid()).friction(Friction::coefficient("implicit", 0.3));
    /// let floor = model.contact("floor", crate_, GROUND, rough);
    /// let mut simulation = model.build()?;
    ///
    /// simulation.advance(6000)?;
    /// assert_eq!(simulation.velocity(crate_), &[0.0; 6]); // it stands still, exactly
    /// let way = 1.5 * 1.5 / (2.0 * 0.3 * 9.81);
    /// assert!((simulation.position(crate_)[0] - way).abs() < 1.5 * step); // within the way of one step
    /// assert!((simulation.force(floor)[2] - 20.0 * 9.81).abs() < 1e-9); // the floor carries its weight
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rigid_body(&mut self, name: &str, body: RigidBody) -> Body {
        self.body(name, BodySpec::RigidBody(body.0))
    }

    /// Adds a tree of links. Elements act on its joints ([`Model::joint_port`]) and take hold of its links ([`Model::link_port`]).
    ///
    /// A pendulum of the length g/π² passes its lowest point after half a second:
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Friction, GROUND, Link, Linkage, Model};
    ///
    /// let length = 9.81 / (std::f64::consts::PI * std::f64::consts::PI);
    /// let rod = Link::revolute("rod", "ground", [0.0, 1.0, 0.0]).joint("pivot").mass(0.5, [0.0, 0.0, -length]).start(0.01, 0.0);
    /// let mut model = Model::new(1e-3, Method::Rk4);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let pendulum = model.linkage("pendulum", Linkage::new().link(rod));
    /// let mut simulation = model.build()?;
    /// simulation.advance(500)?;
    /// assert!(simulation.position(pendulum)[0].abs() < 1e-4 * 0.01);
    ///
    /// // With friction in its pivot it hangs askew: 0.2 N·m carry the weight at 0.04 rad.
    /// let rod = Link::revolute("rod", "ground", [0.0, 1.0, 0.0]).joint("pivot").mass(0.5, [0.0, 0.0, -length]).start(0.04, 0.0);
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let pendulum = model.linkage("pendulum", Linkage::new().link(rod));
    /// let pivot = model.joint_port(pendulum, "pivot");
    /// let rubbing = model.friction("rubbing", pivot, GROUND, Friction::law("implicit", 0.2));
    /// let mut simulation = model.build()?;
    /// simulation.advance(5000)?;
    /// assert_eq!(simulation.position(pendulum), &[0.04]);
    /// let torque = 0.5 * 9.81 * length * 0.04f64.sin();
    /// assert!((simulation.force(rubbing)[0] - torque).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn linkage(&mut self, name: &str, linkage: Linkage) -> Body {
        let (spec, faults) = linkage.resolve(&format!("bodies.{name}"));
        self.faults.extend(faults);
        self.body(name, BodySpec::Linkage(spec))
    }

    /// A joint of a linkage, by its name, for springs, frictions, actuators, stops and gears.
    pub fn joint_port(&mut self, linkage: Body, joint: &str) -> Port {
        self.part(
            linkage,
            joint,
            |link| &link.joint,
            |body, link| Port::Joint { body, link },
        )
    }

    /// A link of a linkage, by its name, for contacts, penalty joints and springs between points.
    pub fn link_port(&mut self, linkage: Body, link: &str) -> Port {
        self.part(linkage, link, |link| &link.name, |body, link| Port::Link { body, link })
    }

    fn part(
        &mut self,
        linkage: Body,
        part: &str,
        name: fn(&LinkSpec) -> &String,
        port: fn(usize, usize) -> Port,
    ) -> Port {
        let body = linkage.number();
        let (place, fault) = match self.scenario.bodies.get(body) {
            Some((own, spec)) if self.is_own(linkage) => {
                let links = match spec {
                    BodySpec::Linkage(spec) => &spec.links[..],
                    _ => &[],
                };
                let place = links.iter().position(|link| name(link) == part);
                (place, format!("there is no body `{own}.{part}`"))
            }
            _ => (None, format!("the linkage that has `{part}` is one of another model")),
        };
        if place.is_none() {
            let help = "name a joint or a link of a linkage of this model".to_string();
            self.faults.push(("bodies".to_string(), fault, help));
        }
        place.map_or(Port::Ground, |link| port(body, link))
    }

    /// Adds a contact: the first body touches a plane of the second, or both are spheres.
    ///
    /// Two equal balls that hit head-on without loss exchange their velocities:
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Contact, Model, Normal, RigidBody};
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let ball = |x: f64, v: f64| RigidBody::sphere(0.2, 0.05).at([x, 0.0, 0.0]).moving([v, 0.0, 0.0]);
    /// let left = model.rigid_body("left", ball(-0.2, 1.25));
    /// let right = model.rigid_body("right", ball(0.2, -0.5));
    /// model.contact("hit", left, right, Contact::spheres(Normal::rigid().restitution(1.0)));
    /// let mut simulation = model.build()?;
    /// simulation.advance(500)?;
    /// assert!((simulation.velocity(left)[0] + 0.5).abs() < 1e-12);
    /// assert!((simulation.velocity(right)[0] - 1.25).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A compliant contact gives way by its weight over its stiffness:
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Contact, GROUND, Model, Normal, RigidBody};
    ///
    /// let mut model = Model::new(1e-4, Method::Rk4);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let ball = model.rigid_body("ball", RigidBody::sphere(2.0, 0.1).at([0.0, 0.0, 0.1]));
    /// let soft = Normal::law("kelvin-voigt").parameter("stiffness", 1e4).parameter("damping", 200.0);
    /// model.contact("floor", ball, GROUND, Contact::plane([0.0, 0.0, 1.0], 0.0, soft));
    /// let mut simulation = model.build()?;
    /// simulation.advance(10_000)?;
    /// assert!((simulation.position(ball)[2] - (0.1 - 2.0 * 9.81 / 1e4)).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contact(&mut self, name: &str, first: impl Into<End>, second: impl Into<End>, contact: Contact) -> Element {
        let between = self.between(first, second);
        self.element(name, ElementSpec::Contact(contact.between(between)))
    }

    /// Adds end stops of a motion with one coordinate.
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Model, Normal, Stop};
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let slide = model.mass("slide", 3.0, &[0.0], &[2.0]);
    /// model.stop("end", slide, GROUND, Stop::upper(0.1).normal(Normal::rigid().restitution(0.5)));
    /// let mut simulation = model.build()?;
    /// simulation.advance(100)?;
    /// assert!((simulation.velocity(slide)[0] + 1.0).abs() < 1e-12); // half of 2 m/s, backward
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(&mut self, name: &str, first: impl Into<End>, second: impl Into<End>, stop: Stop) -> Element {
        let between = self.between(first, second);
        self.element(name, ElementSpec::Stop(stop.on(between)))
    }

    /// Adds a joint of two rigid bodies, held by stiff springs; linkages have exact joints.
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Joint, Model, RigidBody};
    ///
    /// let mut model = Model::new(1e-4, Method::Rk4);
    /// model.gravity([0.0, 0.0, -9.81]);
    /// let lamp = model.rigid_body("lamp", RigidBody::cuboid(1.2, [0.2, 0.2, 0.2]).at([0.0, 0.0, -0.5]));
    /// model.joint("hook", lamp, GROUND, Joint::spherical().at([0.0, 0.0, 0.5], [0.0; 3]).stiffness(1e4, 100.0));
    /// let mut simulation = model.build()?;
    /// simulation.advance(10_000)?;
    /// let sag = 1.2 * 9.81 / 1e4; // weight over stiffness
    /// assert!((simulation.position(lamp)[2] + 0.5 + sag).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joint(&mut self, name: &str, first: impl Into<End>, second: impl Into<End>, joint: Joint) -> Element {
        let between = self.between(first, second);
        self.element(name, ElementSpec::Joint(joint.between(between)))
    }

    /// Adds a gear: it keeps r₁q₁ − r₂q₂ near 0.
    ///
    /// Through a gear of 2 to 1 the motor feels a quarter of the inertia of the load:
    ///
    /// ```
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Gear, Model};
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let rotor = model.inertia("rotor", 0.1);
    /// let load = model.inertia("load", 0.4);
    /// let motor = model.actuator("motor", rotor, GROUND);
    /// model.gear("gear", rotor, load, Gear::new([1.0, 2.0])); // the rotor turns twice as fast
    /// let mut simulation = model.build()?;
    /// simulation.set_actuator(motor, 0, 1.0);
    /// simulation.advance(1000)?;
    /// let speed = 1.0 / (0.1 + 0.4 / 4.0); // after 1 s
    /// assert!((simulation.velocity(rotor)[0] / speed - 1.0).abs() < 1e-3);
    /// assert!((simulation.velocity(load)[0] / speed - 0.5).abs() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gear(&mut self, name: &str, first: impl Into<End>, second: impl Into<End>, gear: Gear) -> Element {
        let between = self.between(first, second);
        self.element(name, ElementSpec::Gear(gear.between(between)))
    }

    /// Adds a spring and damper without length or preload.
    pub fn spring(
        &mut self,
        name: &str,
        first: impl Into<End>,
        second: impl Into<End>,
        stiffness: f64,
        damping: f64,
    ) -> Element {
        self.spring_with(name, first, second, Spring::new(stiffness, damping))
    }

    /// Adds a spring and damper.
    pub fn spring_with(
        &mut self,
        name: &str,
        first: impl Into<End>,
        second: impl Into<End>,
        spring: Spring,
    ) -> Element {
        let between = self.between(first, second);
        self.element(name, ElementSpec::Spring(spring.between(between)))
    }

    /// Adds friction. What presses it is an element of this model.
    pub fn friction(
        &mut self,
        name: &str,
        first: impl Into<End>,
        second: impl Into<End>,
        friction: Friction,
    ) -> Element {
        let foreign = friction.1.filter(|pressing| {
            let own = self.scenario.elements.get(pressing.number());
            let number = pressing.number();
            !own.is_some_and(|(name, _)| *pressing == Element::nth(number) || *pressing == Element::named(number, name))
        });
        if foreign.is_some() {
            let path = format!("elements.{name}.normal_force");
            let message = format!("`{path}` is that of an element of another model");
            let help = "use what this model gave when the element was added".to_string();
            self.faults.push((path, message, help));
        }
        let spec = FrictionSpec {
            between: self.between(first, second),
            ratio: None,
            friction: friction.0,
        };
        self.element(name, ElementSpec::Friction(spec))
    }

    /// Adds an actuator on one axis, 0 until [`Simulation::set_actuator`] says otherwise.
    pub fn actuator(&mut self, name: &str, first: impl Into<End>, second: impl Into<End>) -> Element {
        let value = vec![Profile::Constant(0.0)];
        let between = self.between(first, second);
        self.element(
            name,
            ElementSpec::Actuator(ActuatorSpec {
                between,
                value,
                ratio: None,
            }),
        )
    }

    /// Adds an element of your own between two coordinates, or between reference points of bodies in space.
    ///
    /// ```
    /// use stickslip::element::own::{Motion, OwnElement};
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Model};
    ///
    /// /// Quadratic drag: f = −c·|v|·v.
    /// struct Drag(f64);
    /// impl OwnElement for Drag {
    ///     fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
    ///         force[0] = -self.0 * motion.velocity[0].abs() * motion.velocity[0];
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-3, Method::Rk4);
    /// let ball = model.mass("ball", 1.0, &[0.0], &[10.0]);
    /// model.own_element("air", ball, GROUND, Drag(0.5));
    /// let mut simulation = model.build()?;
    /// simulation.advance(1000)?;
    /// let exact = 10.0 / (1.0 + 0.5 * 10.0 * 1.0); // v = v0/(1 + c·v0·t/m)
    /// assert!((simulation.velocity(ball)[0] - exact).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own_element(
        &mut self,
        name: &str,
        first: impl Into<End>,
        second: impl Into<End>,
        law: impl OwnElement + 'static,
    ) -> Element {
        let [first, second] = self.between(first, second);
        self.own_element_on(name, &[Connection::between(first, second)], law)
    }

    /// Adds an element of your own that takes hold of points of bodies, or of up to three pairs of coordinates at once.
    ///
    /// A differential, whose carrier turns with the mean of its two shafts, as a stiff element on three shafts:
    ///
    /// ```
    /// use stickslip::element::own::{Motion, OwnElement};
    /// use stickslip::scenario::Connection;
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Model};
    ///
    /// struct Differential { stiffness: f64, damping: f64 }
    /// impl OwnElement for Differential {
    ///     fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
    ///         let twist = |m: &[f64]| m[0] - 0.5 * (m[1] + m[2]);
    ///         let torque = self.stiffness * twist(motion.position) + self.damping * twist(motion.velocity);
    ///         force.copy_from_slice(&[-torque, 0.5 * torque, 0.5 * torque]);
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-4, Method::Rk4);
    /// let shafts = ["carrier", "left", "right"].map(|name| model.inertia(name, 0.1));
    /// let motor = model.actuator("motor", shafts[0], GROUND);
    /// model.spring("brake", shafts[1], GROUND, 0.0, 1.0); // the left wheel drags, the right one is free
    /// let ends = shafts.map(|shaft| Connection::between(shaft, GROUND));
    /// model.own_element_on("differential", &ends, Differential { stiffness: 1e3, damping: 5.0 });
    /// let mut simulation = model.build()?;
    /// simulation.set_actuator(motor, 0, 2.0);
    /// simulation.advance(20_000)?;
    /// let [carrier, left, right] = shafts.map(|shaft| simulation.velocity(shaft)[0]);
    /// assert!((carrier - 0.5 * (left + right)).abs() < 1e-6 * carrier);
    /// assert!(right > 5.0 * left);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own_element_on(
        &mut self,
        name: &str,
        connections: &[Connection],
        law: impl OwnElement + 'static,
    ) -> Element {
        let bodies = connections.iter().flat_map(|connection| connection.bodies).flatten();
        if bodies.into_iter().any(|body| !self.is_own(body)) {
            self.foreign.push(self.scenario.elements.len());
        }
        let spec = OwnElementSpec {
            connections: connections.to_vec(),
            law: OwnLaw(Arc::new(law)),
        };
        self.element(name, ElementSpec::Own(spec))
    }

    /// Adds a contact with a normal law of your own, and friction of your own where a plane is given.
    ///
    /// A ball of 1 kg on a floor that pushes back with k·depth³: it rests where k·depth³ = m·g.
    ///
    /// ```
    /// use stickslip::element::own::{Motion, OwnElement};
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Model};
    /// use stickslip::scenario::Plane;
    ///
    /// struct Foam { stiffness: f64, damping: f64 }
    /// impl OwnElement for Foam {
    ///     fn respond(&self, motion: &Motion<'_>, _: &mut [f64], force: &mut [f64]) {
    ///         let depth = (-motion.position[0]).max(0.0);
    ///         force[0] = self.stiffness * depth.powi(3) - self.damping * depth * motion.velocity[0];
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-3, Method::Rk4);
    /// model.gravity([0.0, 0.0, -9.8]);
    /// let ball = model.mass("ball", 1.0, &[0.0, 0.0, 0.05], &[0.0; 3]);
    /// let floor = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    /// model.own_contact("floor", ball, GROUND, Some(floor), Foam { stiffness: 9.8e6, damping: 4e3 }, None::<Foam>);
    /// let mut simulation = model.build()?;
    /// simulation.advance(4000)?;
    /// assert!((simulation.position(ball)[2] + 0.01).abs() < 1e-6); // 9.8e6·depth³ = 9.8
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own_contact(
        &mut self,
        name: &str,
        first: impl Into<End>,
        second: impl Into<End>,
        surface: Option<Plane>,
        normal: impl OwnElement + 'static,
        friction: Option<impl OwnElement + 'static>,
    ) -> Element {
        let spec = OwnContactSpec {
            between: self.between(first, second),
            surface,
            normal: OwnLaw(Arc::new(normal)),
            friction: friction.map(|law| OwnLaw(Arc::new(law) as Arc<dyn OwnElement>)),
        };
        self.element(name, ElementSpec::OwnContact(spec))
    }

    /// Adds a body of your own and returns a port for each of its coordinates.
    ///
    /// ```
    /// use stickslip::body::OwnBody;
    /// use stickslip::element::own::Motion;
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Friction, GROUND, Model};
    ///
    /// /// A cart of mass `cart` that carries a pendulum: a point mass `bob` on a rod.
    /// struct Crane { cart: f64, bob: f64, rod: f64 }
    /// impl OwnBody for Crane {
    ///     fn coordinates(&self) -> Vec<&str> {
    ///         vec!["cart", "swing"]
    ///     }
    ///     fn inertia(&self, motion: &Motion<'_>, matrix: &mut [f64]) {
    ///         let coupling = self.bob * self.rod * motion.position[1].cos();
    ///         matrix.copy_from_slice(&[self.cart + self.bob, coupling, coupling, self.bob * self.rod * self.rod]);
    ///     }
    ///     fn force(&self, motion: &Motion<'_>, force: &mut [f64]) {
    ///         let (q, v) = (motion.position, motion.velocity);
    ///         force[0] = self.bob * self.rod * v[1] * v[1] * q[1].sin();
    ///         force[1] = -self.bob * 9.8 * self.rod * q[1].sin();
    ///     }
    ///     fn potential(&self, motion: &Motion<'_>) -> f64 {
    ///         -self.bob * 9.8 * self.rod * motion.position[1].cos()
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let ports = model.own_body("crane", Crane { cart: 10.0, bob: 1.0, rod: 2.0 }, &[0.0, 0.3], &[0.0, 0.0]);
    /// let rail = model.friction("rail", ports[0], GROUND, Friction::law("implicit", 5.0));
    /// let mut simulation = model.build()?;
    /// let crane = simulation.body("crane").unwrap();
    /// for _ in 0..2000 {
    ///     simulation.advance_observed(1)?;
    ///     assert_eq!(simulation.velocity(crane)[0], 0.0); // the bob pulls with less than 5 N: the cart holds, exactly
    /// }
    /// assert!(simulation.force(rail)[0].abs() < 5.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own_body(
        &mut self,
        name: &str,
        body: impl OwnBody + 'static,
        position: &[f64],
        velocity: &[f64],
    ) -> Vec<Port> {
        let count = body.coordinates().len();
        let spec = OwnBodySpec {
            body: Arc::new(body),
            position: position.to_vec(),
            velocity: velocity.to_vec(),
            turns: vec![None; count],
        };
        let body = self.body(name, BodySpec::Own(spec)).number();
        (0..count).map(|link| Port::Joint { body, link }).collect()
    }

    /// The port of a frame of a body of your own, for elements that take hold of it as of a rigid body; `None` if there is no such body
    /// or frame.
    pub fn frame_port(&self, body: &str, frame: &str) -> Option<Port> {
        let number = self.scenario.bodies.iter().position(|(name, _)| name == body)?;
        let BodySpec::Own(own) = &self.scenario.bodies[number].1 else {
            return None;
        };
        let link = own.body.frames().iter().position(|name| *name == frame)?;
        Some(Port::Link { body: number, link })
    }

    /// Checks the system and puts it at its start.
    ///
    /// # Errors
    /// If a file with the same numbers would be refused.
    pub fn build(self) -> Result<Simulation, ScenarioError> {
        let mut parts = self.faults;
        for element in self.foreign {
            let name = self.scenario.elements.get(element).map_or("", |(name, _)| name);
            let path = format!("elements.{name}.between");
            let help = "use what this model gave when the body was added";
            parts.push((
                path.clone(),
                format!("`{path}` has a body of another model"),
                help.to_string(),
            ));
        }
        let faults = verify(&self.scenario, parts);
        if !faults.is_empty() {
            return Err(self.scenario.error(faults));
        }
        Simulation::new(self.scenario)
    }
}
