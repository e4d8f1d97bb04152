//! Building a system in Rust, without a scenario file.

use crate::body::{OwnBody, OwnBodySpec};
use crate::element::own::OwnFriction;
use crate::integrate::Method;
use crate::profile::Profile;
use crate::scenario::rules::verify;
use crate::scenario::{
    ActuatorSpec, BodySpec, CurveSpec, DriverMotion, DriverSpec, ElementSpec, EllipseSpec, FrictionLawSpec,
    FrictionSpec, InertiaSpec, LimitSpec, MassSpec, Number, ParameterSpec, ParameterValue, Port, Scenario,
    ScenarioError, SimulationSpec, SpringSpec,
};
use crate::simulation::Simulation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fixed world.
pub const GROUND: Port = Port::Ground;

/// A mechanical system being put together.
///
/// The block of seed 000, with a controller that pulls it back once per step:
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
///     let (x, v) = (simulation.position(0)[0], simulation.velocity(0)[0]);
///     simulation.set_actuator(motor, 0, -40.0 * x - 8.0 * v);
///     simulation.advance_observed(1)?;
/// }
/// assert_eq!(simulation.velocity(0), &[0.0]); // the controller lost: friction holds the block
/// assert_eq!(simulation.force(floor), &[40.0 * simulation.position(0)[0]]); // and balances its force
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Model {
    scenario: Scenario,
    own: BTreeMap<usize, Box<dyn OwnFriction>>,
}

/// A friction law with its numbers.
#[derive(Clone, Debug)]
pub struct Friction(FrictionLawSpec);

impl Friction {
    /// A law of the registry with Coulomb's limit, N or N·m.
    pub fn law(name: &str, kinetic: f64) -> Self {
        Friction(FrictionLawSpec {
            law: name.to_string(),
            curve: CurveSpec {
                limit: LimitSpec::Force {
                    kinetic,
                    static_: kinetic,
                },
                viscous: 0.0,
                stribeck_velocity: None,
                stribeck_exponent: 2.0,
            },
            ellipse: None,
            normal_force: None,
            initial: None,
            parameters: Vec::new(),
        })
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

    /// The limit at rest, at least the kinetic one.
    pub fn holding(mut self, limit: f64) -> Self {
        if let LimitSpec::Force { static_, .. } = &mut self.0.curve.limit {
            *static_ = limit;
        }
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
        let value = ParameterValue::Number(Number { value, dimension: None });
        self.0.parameters.push(ParameterSpec {
            name: name.to_string(),
            value,
            span: None,
        });
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
            stick_slip: None,
            slip_events: None,
            map: None,
            warnings: Vec::new(),
            sources: Default::default(),
            spans: Default::default(),
        };
        Model {
            scenario,
            own: BTreeMap::new(),
        }
    }

    /// Gravity in the world, m/s².
    pub fn gravity(&mut self, gravity: [f64; 3]) {
        self.scenario.simulation.gravity = Some(gravity);
    }

    /// Adds a body of any kind; bodies count from 0 in the order they are added.
    pub fn body(&mut self, name: &str, body: BodySpec) -> Port {
        self.scenario.bodies.push((name.to_string(), body));
        Port::Body(self.scenario.bodies.len() - 1)
    }

    /// Adds an element of any kind and returns its number.
    pub fn element(&mut self, name: &str, element: ElementSpec) -> usize {
        self.scenario.elements.push((name.to_string(), element));
        self.scenario.elements.len() - 1
    }

    /// Adds a point mass with as many axes as its position has numbers.
    pub fn mass(&mut self, name: &str, mass: f64, position: &[f64], velocity: &[f64]) -> Port {
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
    pub fn inertia(&mut self, name: &str, inertia: f64) -> Port {
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
    pub fn driver(&mut self, name: &str, velocity: impl Into<Profile>) -> Port {
        let motion = DriverMotion::Velocity(vec![velocity.into()]);
        self.body(
            name,
            BodySpec::Driver(DriverSpec {
                motion,
                start: vec![0.0],
                angular: None,
            }),
        )
    }

    /// Adds a spring and damper.
    pub fn spring(&mut self, name: &str, first: Port, second: Port, stiffness: f64, damping: f64) -> usize {
        self.element(
            name,
            ElementSpec::Spring(SpringSpec {
                between: [first, second],
                stiffness,
                damping,
                length: 0.0,
                preload: None,
                at: [[0.0; 3]; 2],
                ratio: None,
                implicit: None,
            }),
        )
    }

    /// Adds friction.
    pub fn friction(&mut self, name: &str, first: Port, second: Port, friction: Friction) -> usize {
        let spec = FrictionSpec {
            between: [first, second],
            ratio: None,
            friction: friction.0,
        };
        self.element(name, ElementSpec::Friction(spec))
    }

    /// Adds an actuator on one axis, 0 until [`Simulation::set_actuator`] says otherwise.
    pub fn actuator(&mut self, name: &str, first: Port, second: Port) -> usize {
        let value = vec![Profile::Constant(0.0)];
        self.element(
            name,
            ElementSpec::Actuator(ActuatorSpec {
                between: [first, second],
                value,
                ratio: None,
            }),
        )
    }

    /// Adds friction with a law of your own.
    ///
    /// ```
    /// use stickslip::element::own::OwnFriction;
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{GROUND, Model};
    ///
    /// /// Quadratic drag: f = −c·|v|·v.
    /// struct Drag(f64);
    /// impl OwnFriction for Drag {
    ///     fn respond(&self, v: &[f64], _: f64, _: &[f64], _: f64, _: &mut [f64], force: &mut [f64]) {
    ///         force[0] = -self.0 * v[0].abs() * v[0];
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-3, Method::Rk4);
    /// let ball = model.mass("ball", 1.0, &[0.0], &[10.0]);
    /// model.own_friction("air", ball, GROUND, Drag(0.5));
    /// let mut simulation = model.build()?;
    /// simulation.advance(1000)?;
    /// let exact = 10.0 / (1.0 + 0.5 * 10.0 * 1.0); // v = v0/(1 + c·v0·t/m)
    /// assert!((simulation.velocity(0)[0] - exact).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn own_friction(&mut self, name: &str, first: Port, second: Port, law: impl OwnFriction + 'static) -> usize {
        let element = self.friction(name, first, second, Friction::law("own", 0.0));
        self.own.insert(element, Box::new(law));
        element
    }

    /// Adds a body of your own and returns a port for each of its coordinates.
    ///
    /// ```
    /// use stickslip::body::OwnBody;
    /// use stickslip::integrate::Method;
    /// use stickslip::model::{Friction, GROUND, Model};
    ///
    /// /// A cart of mass `cart` that carries a pendulum: a point mass `bob` on a rod.
    /// struct Crane { cart: f64, bob: f64, rod: f64 }
    /// impl OwnBody for Crane {
    ///     fn coordinates(&self) -> &[&str] {
    ///         &["cart", "swing"]
    ///     }
    ///     fn inertia(&self, q: &[f64], matrix: &mut [f64]) {
    ///         let coupling = self.bob * self.rod * q[1].cos();
    ///         matrix.copy_from_slice(&[self.cart + self.bob, coupling, coupling, self.bob * self.rod * self.rod]);
    ///     }
    ///     fn force(&self, q: &[f64], v: &[f64], force: &mut [f64]) {
    ///         force[0] = self.bob * self.rod * v[1] * v[1] * q[1].sin();
    ///         force[1] = -self.bob * 9.8 * self.rod * q[1].sin();
    ///     }
    ///     fn potential(&self, q: &[f64]) -> f64 {
    ///         -self.bob * 9.8 * self.rod * q[1].cos()
    ///     }
    /// }
    ///
    /// let mut model = Model::new(1e-3, Method::ImplicitEuler);
    /// let ports = model.own_body("crane", Crane { cart: 10.0, bob: 1.0, rod: 2.0 }, &[0.0, 0.3], &[0.0, 0.0]);
    /// let rail = model.friction("rail", ports[0], GROUND, Friction::law("implicit", 5.0));
    /// let mut simulation = model.build()?;
    /// for _ in 0..2000 {
    ///     simulation.advance_observed(1)?;
    ///     assert_eq!(simulation.velocity(0)[0], 0.0); // the bob pulls with less than 5 N: the cart holds, exactly
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
        };
        self.body(name, BodySpec::Own(spec));
        let body = self.scenario.bodies.len() - 1;
        (0..count).map(|link| Port::Joint { body, link }).collect()
    }

    /// Checks the system and puts it at its start.
    ///
    /// # Errors
    /// If a file with the same numbers would be refused.
    pub fn build(self) -> Result<Simulation, ScenarioError> {
        let faults = verify(&self.scenario);
        if !faults.is_empty() {
            return Err(self.scenario.error(faults));
        }
        Simulation::with_own_laws(self.scenario, self.own)
    }
}
