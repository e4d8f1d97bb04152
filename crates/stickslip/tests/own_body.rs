//! Bodies of the user's own: against closed forms, and against the built-in bodies they imitate.

use stickslip::body::OwnBody;
use stickslip::element::own::Motion;
use stickslip::integrate::Method;
use stickslip::model::{Friction, GROUND, Model};
use stickslip::scenario::{BaseSpec, BodySpec, JointType, LinkSpec, LinkageSpec, Port, Scenario};
use stickslip::trace::Columns;
use stickslip::{Body, Simulation};

/// A point mass on a rod: l²·m·θ'' = −m·g·l·sin θ.
struct Pendulum {
    mass: f64,
    rod: f64,
}

const GRAVITY: f64 = 9.81;

impl OwnBody for Pendulum {
    fn coordinates(&self) -> Vec<&str> {
        vec!["angle"]
    }
    fn inertia(&self, _: &Motion<'_>, matrix: &mut [f64]) {
        matrix[0] = self.mass * self.rod * self.rod;
    }
    fn force(&self, motion: &Motion<'_>, force: &mut [f64]) {
        let q = motion.position;
        force[0] = -self.mass * GRAVITY * self.rod * q[0].sin();
    }
    fn potential(&self, motion: &Motion<'_>) -> f64 {
        let q = motion.position;
        -self.mass * GRAVITY * self.rod * q[0].cos()
    }
}

/// Two rods of 1 kg and 0.5 m without gravity, in joint angles (any textbook: M(q)·q'' + c(q, q') = τ).
struct Arm;

impl OwnBody for Arm {
    fn coordinates(&self) -> Vec<&str> {
        vec!["shoulder", "elbow"]
    }
    fn inertia(&self, motion: &Motion<'_>, matrix: &mut [f64]) {
        let q = motion.position;
        let (rod, coupling) = (0.25 / 3.0, 0.125 * q[1].cos());
        let mixed = rod + coupling;
        matrix.copy_from_slice(&[2.0 * rod + 0.25 + 2.0 * coupling, mixed, mixed, rod]);
    }
    fn force(&self, motion: &Motion<'_>, force: &mut [f64]) {
        let (q, v) = (motion.position, motion.velocity);
        let turning = 0.125 * q[1].sin();
        force[0] = turning * v[1] * (2.0 * v[0] + v[1]);
        force[1] = -turning * v[0] * v[0];
    }
}

fn link(name: &str, parent: Option<usize>, origin: f64) -> LinkSpec {
    let text = format!(
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"rk4\"\n[bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
         {{ name = \"{name}\", parent = \"ground\", joint = \"j{name}\", type = \"revolute\", axis = [0, 0, 1],\n\
         origin = [{origin}, 0, 0], mass = 1, com = [0.25, 0, 0], inertia = [0, {0}, {0}] }}]\n",
        0.25 / 12.0
    );
    let scenario = Scenario::parse(&text, "arm.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let BodySpec::Linkage(LinkageSpec { links, .. }) = &scenario.bodies[0].1 else {
        panic!("no linkage")
    };
    let mut link = links[0].clone();
    assert_eq!(link.joint_type, JointType::Revolute);
    link.parent = parent;
    link
}

/// The arm with friction in its joints, as a body of one's own or as a linkage.
fn arm(method: Method, step: f64, own: bool, law: impl Fn() -> Friction) -> Simulation {
    let mut model = Model::new(step, method);
    let (position, velocity) = ([0.2, 0.9], [3.0, -2.0]);
    let ports = if own {
        model.own_body("arm", Arm, &position, &velocity)
    } else {
        let mut links = vec![link("upper", None, 0.0), link("lower", Some(0), 0.5)];
        for (i, link) in links.iter_mut().enumerate() {
            (link.position, link.velocity) = (position[i], velocity[i]);
        }
        let spec = LinkageSpec::new(links, false, BaseSpec::default());
        model.body("arm", BodySpec::Linkage(spec));
        (0..2).map(|link| Port::Joint { body: 0, link }).collect()
    };
    model.friction("shoulder", ports[0], GROUND, law());
    model.friction("elbow", ports[1], GROUND, law());
    model.spring("return", ports[0], GROUND, 2.0, 0.1);
    model.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_pendulum_swings_with_its_period_and_keeps_its_energy() {
    let (start, rod) = (1.2, 0.7);
    let body = Pendulum { mass: 2.0, rod };
    // T = 2π·√(l/g)/agm(1, cos(θ₀/2)).
    let (mut a, mut b) = (1.0f64, (start / 2.0f64).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = std::f64::consts::TAU * (rod / GRAVITY).sqrt() / a;
    let steps = 2000;
    let mut model = Model::new(period / f64::from(steps), Method::Rk4);
    model.own_body("pendulum", body, &[start], &[0.0]);
    let mut simulation = model.build().unwrap_or_else(|error| panic!("{error}"));
    let (before, _) = simulation.energy();
    assert!((before + 2.0 * GRAVITY * rod * start.cos()).abs() < 1e-12);
    simulation.advance(3 * steps as u64).unwrap();
    assert!((simulation.position(Body::nth(0))[0] - start).abs() < 1e-9);
    assert!((simulation.energy().0 - before).abs() < 1e-9);
    let columns = Columns::new(&simulation);
    assert_eq!(
        columns.names(),
        ["t", "pendulum.angle.position", "pendulum.angle.velocity"]
    );
}

fn proxy() -> Friction {
    Friction::law("proxy", 0.4)
        .parameter("stiffness", 2000.0)
        .parameter("damping", 5.0)
}

#[test]
fn an_arm_of_ones_own_moves_as_the_linkage() {
    let [mut own, mut linkage] = [true, false].map(|own| arm(Method::Rk4, 1e-3, own, proxy));
    for step in 0..1500 {
        own.advance_observed(1).unwrap();
        linkage.advance_observed(1).unwrap();
        for i in 0..2 {
            let difference = own.position(Body::nth(0))[i] - linkage.position(Body::nth(0))[i];
            assert!(difference.abs() < 1e-9, "step {step}: {difference}");
        }
    }
    assert!((own.energy().0 - linkage.energy().0).abs() < 1e-9);
}

/// The implicit step takes the velocity terms of a linkage after its motion and those of a body of one's own before it: two methods of first order for
/// the same equations. Errors halve with the step, and what two steps of different length say together, 2·x(T/2) − x(T), is the motion that `rk4` finds.
#[test]
fn the_implicit_step_of_an_arm_is_of_first_order_either_way() {
    let end = 0.75;
    let at_end = |method: Method, step: f64, own: bool| {
        let mut arm = arm(method, step, own, proxy);
        arm.advance((end / step).round() as u64).unwrap();
        arm.position(Body::nth(0)).to_vec()
    };
    // The stages of `rk4` take the step into the law of the proxy, so it is of first order here too: 2e-6 at this step.
    let exact = at_end(Method::Rk4, 1e-5, false);
    for own in [true, false] {
        let [coarse, middle, fine] = [5e-4, 2.5e-4, 1.25e-4].map(|step| at_end(Method::ImplicitEuler, step, own));
        for i in 0..2 {
            let ratio = (coarse[i] - middle[i]) / (middle[i] - fine[i]);
            assert!((1.9..2.1).contains(&ratio), "{own} {i}: {ratio}");
            let together = 2.0 * fine[i] - middle[i] - exact[i];
            assert!(together.abs() < 1e-5, "{own} {i}: {together}");
        }
    }
}

#[test]
fn an_arm_of_ones_own_sticks_exactly() {
    // Friction holds more than the spring pulls at last: both joints stand still, exactly.
    let mut own = arm(Method::ImplicitEuler, 1e-3, true, || Friction::law("implicit", 0.4));
    own.advance(8000).unwrap();
    assert_eq!(own.velocity(Body::nth(0)), [0.0, 0.0]);
    let held = own.position(Body::nth(0)).to_vec();
    own.advance(2000).unwrap();
    assert_eq!(own.position(Body::nth(0)), held);
}

/// The stiff method needs hardly more matrices than for the linkage: they tell how the acceleration follows from the forces.
#[test]
fn the_stiff_method_needs_no_more_for_an_arm_of_ones_own() {
    let law = || {
        Friction::law("relaxed", 0.4)
            .parameter("stiffness", 2000.0)
            .parameter("beta", 2.5e-3)
    };
    let [own, linkage] = [true, false].map(|own| {
        let mut arm = arm(Method::Stiff, 1e-3, own, law);
        arm.advance(1500).unwrap();
        let place = arm.position(Body::nth(0)).to_vec();
        (place, arm.statistics())
    });
    for i in 0..2 {
        assert!((own.0[i] - linkage.0[i]).abs() < 1e-4, "{own:?} {linkage:?}");
    }
    assert!(2 * own.1.jacobians < 3 * linkage.1.jacobians, "{own:?} {linkage:?}");
}

#[test]
fn automatic_parameters_follow_from_the_mass_that_is_felt() {
    let stiffness = |own: bool| {
        let mut model = Model::new(1e-3, Method::Rk4);
        let port = if own {
            model.own_body("body", Pendulum { mass: 2.0, rod: 0.5 }, &[0.0], &[0.0])[0]
        } else {
            model.inertia("body", 2.0 * 0.25).into()
        };
        model.friction("joint", port, GROUND, Friction::law("proxy", 0.4));
        let simulation = model.build().unwrap_or_else(|error| panic!("{error}"));
        let choices = simulation.built().choices.iter();
        choices
            .map(|choice| (choice.key.clone(), choice.value))
            .collect::<Vec<_>>()
    };
    assert!(!stiffness(true).is_empty());
    assert_eq!(stiffness(true), stiffness(false));
}

#[test]
fn impossible_bodies_are_refused_with_the_reason() {
    let mut model = Model::new(1e-3, Method::Rk4);
    model.own_body("nothing", Pendulum { mass: 0.0, rod: 1.0 }, &[0.0], &[0.0]);
    let error = model.build().err().unwrap().to_string();
    assert!(error.contains("not symmetric and positive definite"), "{error}");
    let mut model = Model::new(1e-3, Method::Rk4);
    model.own_body("arm", Arm, &[0.0, 0.0], &[0.0]);
    let error = model.build().err().unwrap().to_string();
    assert!(error.contains("2 coordinates, 2 positions and 1 velocities"), "{error}");
}
