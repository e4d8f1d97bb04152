//! Contact of a body with a plane or of two spheres: geometry, compliant normal force and friction bounded by it
//! (the paper on modular simulation, eqs 23-24; Xiong, Kikuuwe and Yamamoto, eqs 20-22 with the sign of the friction reversed).
//!
//! The friction acts on the tangential velocity of the touching points; its limit is the coefficient times the normal
//! force, never taken below zero (eq 23c as printed calls for a negative bound while the damper pulls). The bristle is
//! kept as a vector in world axes and projected on the tangent plane, so it needs no tangent axes; it turns with the
//! surface: rates of bristles are corotational (Ozaki, Hashiguchi and Chen 2007, eqs 7 and 26).

use super::normal::AnyNormal;
use super::{Elements, Mode, Observation};
use crate::body::Frame;
use crate::body::frame::FrameSlope;
use crate::element::curve::{SteadyCurve, with_curve};
use crate::element::laws::{Tangential, with_law, with_law_of};
pub use crate::network::geometry::{Geometry, Grain, Surface, Touch};
use crate::network::port::Attachment;
use crate::network::stage::Stage;
use crate::network::tangent::Tangent;
use nalgebra::Vector3;
use std::ops::Range;
use stickslip_core::friction::elliptic::Ellipse;
use stickslip_core::friction::{Bristle, MOST_NUMBERS, Slip};
use stickslip_core::scalar::vector::{add, cross, dot, scale, sub};
use stickslip_core::scalar::{Dual, Real};

/// A compliant contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Number of the element in the network.
    pub element: usize,
    /// Who touches whom, where.
    pub geometry: Geometry,
    /// The normal force.
    pub normal: AnyNormal,
    /// The friction law.
    pub friction: Tangential,
    /// Its curve: a coefficient.
    pub curve: SteadyCurve,
    /// Where friction is stronger across a direction.
    pub grain: Option<Grain>,
    /// Where the states begin: those of friction per point, then the states of the normal law per point.
    pub state: usize,
}

impl Contact {
    /// The states of friction at a point.
    pub(crate) fn friction_states(&self, index: usize) -> Range<usize> {
        let count = self.friction.kept(3);
        let first = self.state + index * count;
        first..first + count
    }

    /// The states of the normal law at a point.
    pub(crate) fn normal_states(&self, index: usize) -> Range<usize> {
        let count = self.normal.states();
        let first = self.friction_states(self.geometry.points.len()).start + index * count;
        first..first + count
    }
}

/// The forces at one point, with the rates of its states. Normal laws have one state at most.
struct PointForces<R> {
    normal: R,
    /// Normal force and friction on the first body.
    force: [R; 3],
    /// Rates of the states of friction.
    friction_rate: [R; MOST_NUMBERS],
    normal_rate: [R; 1],
    /// What the friction law was asked.
    slip: Slip<R, 3>,
    states: [R; MOST_NUMBERS],
}

/// How a point of the first body moves against the surface.
struct Passing<R> {
    gap: R,
    /// The normal.
    axis: [R; 3],
    /// Velocity of the touching points against each other.
    velocity: [R; 3],
    /// How fast the contact turns.
    spin: [R; 3],
    /// Where friction is stronger.
    ellipse: Option<Ellipse<R>>,
}

/// The normal law, and the friction law with the stretch projected on the tangent plane and the limit that follows from
/// the normal force.
#[inline(always)]
fn press<R: Real>(
    (normal_law, friction_law, curve): (&AnyNormal<R>, &Tangential<R>, &SteadyCurve),
    passing: &Passing<R>,
    normal_state: &[R],
    friction_state: &[R],
    normal_tau: R,
    tau: R,
) -> PointForces<R> {
    let Passing {
        gap,
        axis,
        velocity,
        spin,
        ellipse,
    } = *passing;
    let gap_rate = dot(axis, velocity);
    let mut normal_rate = [R::zero()];
    let count = normal_state.len();
    let normal = normal_law.respond(gap, gap_rate, normal_state, normal_tau, &mut normal_rate[..count]);
    // Elliptic friction is isotropic in velocities and forces scaled by the ellipse.
    let scaled = |x: [R; 3]| match &ellipse {
        Some(ellipse) => ellipse.scaled(x),
        None => x,
    };
    let slip = Slip {
        velocity: scaled(sub(velocity, scale(axis, gap_rate))),
        load: normal.max(R::zero()),
    };
    let count = friction_state.len();
    let mut states = [R::zero(); MOST_NUMBERS];
    states[..count].copy_from_slice(friction_state);
    let vector = |at: &[R], k: usize| [at[3 * k], at[3 * k + 1], at[3 * k + 2]];
    for k in 0..friction_law.vectors() {
        let stretch = vector(friction_state, k);
        states[3 * k..3 * k + 3].copy_from_slice(&sub(stretch, scale(axis, dot(axis, stretch))));
    }
    let mut rates = [R::zero(); MOST_NUMBERS];
    let load_rate = match friction_law.knows_load_rate() {
        true => normal_law.rate_of_force(
            gap,
            gap_rate,
            normal_state,
            &normal_rate[..normal_state.len()],
            normal_tau,
        ),
        false => R::zero(),
    };
    let friction = with_law!(
        friction_law,
        |law| law.respond_in_contact(curve, &slip, load_rate, &states, tau, &mut rates),
        [R::zero(); 3]
    );
    for k in 0..friction_law.vectors() {
        let turned = add(vector(&rates, k), cross(spin, vector(friction_state, k)));
        rates[3 * k..3 * k + 3].copy_from_slice(&turned);
    }
    PointForces {
        normal,
        force: add(scale(axis, normal), scaled(friction)),
        friction_rate: rates,
        normal_rate,
        slip,
        states,
    }
}

/// Numbers of the state that are varied at once.
const VARIED: usize = 8;

/// What one of them moves: a body of the contact (first or second), a state of friction, or the state of the normal law.
#[derive(Clone, Copy)]
enum Moves {
    Body(usize, FrameSlope),
    Friction(usize),
    NormalState,
}

/// A contact with its laws in dual numbers, where its bodies are.
struct Differentiated<'a> {
    contact: &'a Contact,
    laws: (AnyNormal<Dual<f64, VARIED>>, Tangential<Dual<f64, VARIED>>),
    frames: [Frame; 2],
}

impl Differentiated<'_> {
    /// Adds the derivatives of the forces and rates at point `index` with respect to some numbers of the state.
    fn add(&self, index: usize, varied: &[(usize, Moves)], tangent: &mut Tangent<'_>) {
        type D = Dual<f64, VARIED>;
        let geometry = &self.contact.geometry;
        // A vector at one of the bodies (or a state), and how the numbers change it.
        let vary = |value: Vector3<f64>, slope: &dyn Fn(&Moves) -> Vector3<f64>| -> [D; 3] {
            let mut vector: [D; 3] = std::array::from_fn(|i| D::constant(value[i]));
            for (k, (_, moves)) in varied.iter().enumerate() {
                let slope = slope(moves);
                (0..3).for_each(|i| vector[i].grad[k] = slope[i]);
            }
            vector
        };
        let of_body = |body: usize, value: Vector3<f64>, slope: &dyn Fn(&FrameSlope) -> Vector3<f64>| {
            vary(value, &|moves| match moves {
                Moves::Body(moved, frame) if *moved == body => slope(frame),
                _ => Vector3::zeros(),
            })
        };
        let [first, second] = &self.frames;
        let centre = first.point_position(&geometry.points[index]);
        let arm = centre - first.position;
        let face = geometry.face(second);
        let position = [0, 1].map(|body| of_body(body, self.frames[body].position, &|s| s.position));
        let centre = of_body(0, centre, &|s| s.position + s.turn.cross(&arm));
        let arm_of_centre = sub(centre, position[0]);
        let (gap, axis, point) = geometry.meet(centre, of_body(1, face, &|s| s.turn.cross(&face)), position[1]);
        let arms = position.map(|position| sub(point, position));
        let spins = [0, 1].map(|body| of_body(body, self.frames[body].angular_velocity, &|s| s.spin));
        let velocities = [0, 1].map(|body| of_body(body, self.frames[body].velocity, &|s| s.velocity));
        let at_touch = |body: usize| add(velocities[body], cross(spins[body], arms[body]));
        let own = self.contact.friction_states(index);
        let mut friction_state = [D::constant(0.0); MOST_NUMBERS];
        for (place, state) in own.clone().enumerate() {
            friction_state[place].value = tangent.state[state];
            for (k, (_, moves)) in varied.iter().enumerate() {
                let own = matches!(moves, Moves::Friction(moved) if *moved == place);
                friction_state[place].grad[k] = if own { 1.0 } else { 0.0 };
            }
        }
        let normal_states = self.contact.normal_states(index);
        let mut normal_state = [D::constant(0.0)];
        for (dual, &value) in normal_state.iter_mut().zip(&tangent.state[normal_states.clone()]) {
            dual.value = value;
            for (k, (_, moves)) in varied.iter().enumerate() {
                dual.grad[k] = if matches!(moves, Moves::NormalState) { 1.0 } else { 0.0 };
            }
        }
        let velocity = sub(at_touch(0), at_touch(1));
        let centre_velocity = add(velocities[0], cross(spins[0], arm_of_centre));
        let grain = self.contact.grain.as_ref();
        let passing = Passing {
            gap,
            axis,
            velocity,
            spin: match grain {
                Some(Grain { on_first: true, .. }) => spins[0],
                _ => geometry.spin(axis, gap, sub(centre_velocity, velocities[1]), spins[1]),
            },
            ellipse: grain.and_then(|grain| {
                let body = if grain.on_first { 0 } else { 1 };
                let direction = self.frames[body].rotation * grain.direction;
                grain.ellipse(of_body(body, direction, &|s| s.turn.cross(&direction)), axis)
            }),
        };
        let tau = D::constant(tangent.tau);
        let pressed = press(
            (&self.laws.0, &self.laws.1, &self.contact.curve),
            &passing,
            &normal_state[..normal_states.len()],
            &friction_state[..own.len()],
            tau,
            tau,
        );
        let torques = arms.map(|arm| cross(arm, pressed.force));
        for (k, &(column, _)) in varied.iter().enumerate() {
            let slope = |vector: &[D; 3]| Vector3::from_fn(|i, _| vector[i].grad[k]);
            for (state, rate) in own.clone().zip(&pressed.friction_rate) {
                tangent.add(state, column, rate.grad[k]);
            }
            for state in normal_states.clone() {
                tangent.add(state, column, pressed.normal_rate[0].grad[k]);
            }
            if pressed.normal.value != 0.0 {
                let force = slope(&pressed.force);
                let [first, second] = [slope(&torques[0]), slope(&torques[1])];
                geometry.first.add_load_slope(tangent, column, &force, &first);
                geometry.second.add_load_slope(tangent, column, &-force, &-second);
            }
        }
    }
}

impl Contact {
    /// Derivatives of the forces and of the rates of the states, by dual numbers, a few numbers of the state at a time.
    fn differentiate(&self, tangent: &mut Tangent<'_>) {
        let (network, state, linkages) = (tangent.network, tangent.state, tangent.linkages);
        let bodies = [self.geometry.first, self.geometry.second];
        let differentiated = Differentiated {
            contact: self,
            laws: (self.normal.lift(), self.friction.lift()),
            frames: bodies.map(|body| body.frame(network, state, tangent.frames, linkages)),
        };
        for index in 0..self.geometry.points.len() {
            let mut varied = [(0, Moves::NormalState); VARIED];
            let mut count = 0;
            let mut vary = |column: usize, moves: Moves| {
                varied[count] = (column, moves);
                count += 1;
                if count == VARIED {
                    differentiated.add(index, &varied, tangent);
                    count = 0;
                }
            };
            for (body, attachment) in bodies.into_iter().enumerate() {
                attachment.frame_slopes(network, state, linkages, |column, slope| {
                    vary(column, Moves::Body(body, slope));
                });
            }
            for (place, state) in self.friction_states(index).enumerate() {
                vary(state, Moves::Friction(place));
            }
            for state in self.normal_states(index) {
                vary(state, Moves::NormalState);
            }
            differentiated.add(index, &varied[..count], tangent);
        }
    }
}

/// Compliant contacts.
#[derive(Clone, Debug, Default)]
pub struct Contacts(pub Vec<Contact>);

impl Contacts {
    #[inline(always)]
    fn run<const OBSERVE: bool>(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        for contact in &self.0 {
            let geometry = &contact.geometry;
            let first = geometry
                .first
                .frame(stage.network, stage.state, stage.frames, stage.linkages);
            let second = geometry
                .second
                .frame(stage.network, stage.state, stage.frames, stage.linkages);
            let mut compression = 0.0;
            let mut note = Observation {
                mode: Mode::Open,
                gap: f64::INFINITY,
                ..Observation::default()
            };
            for index in 0..geometry.points.len() {
                let touch = geometry.touch(index, &first, &second);
                let velocity = first.point_velocity(&touch.point) - second.point_velocity(&touch.point);
                let centre_velocity = first.point_velocity(&first.point_position(&geometry.points[index]));
                let own = contact.normal_states(index);
                let rubs = contact.friction_states(index);
                let normal_state = &stage.state[own.clone()];
                let axis = touch.normal.into();
                let grain = contact.grain.as_ref();
                let passing = Passing {
                    gap: touch.gap,
                    axis,
                    velocity: velocity.into(),
                    spin: match grain {
                        // The bristle turns with the body that has the direction.
                        Some(Grain { on_first: true, .. }) => first.angular_velocity.into(),
                        _ => geometry.spin(
                            axis,
                            touch.gap,
                            (centre_velocity - second.velocity).into(),
                            second.angular_velocity.into(),
                        ),
                    },
                    ellipse: grain.and_then(|grain| grain.along(&touch.normal, &first, &second)),
                };
                let pressed = press(
                    (&contact.normal, &contact.friction, &contact.curve),
                    &passing,
                    normal_state,
                    &stage.state[rubs.clone()],
                    stage.contact_step(),
                    stage.tau,
                );
                let PointForces { normal, slip, .. } = pressed;
                let states = own.len();
                stage.rate[own].copy_from_slice(&pressed.normal_rate[..states]);
                let rates = rubs.len();
                stage.rate[rubs].copy_from_slice(&pressed.friction_rate[..rates]);
                let touches = normal != 0.0;
                if OBSERVE {
                    let state = &pressed.states;
                    note.gap = note.gap.min(touch.gap);
                    note.stored += contact.normal.stored(touch.gap, normal_state);
                    note.stored += with_law!(&contact.friction, |law| law.stored::<3>(state), 0.0);
                    if touches {
                        let carried = with_law!(&contact.friction, |law| law.carried::<3>(state, slip.load), 0.0);
                        note.carried = note.carried.max(carried);
                        let sticks = with_law!(
                            &contact.friction,
                            |law| with_curve!(&contact.curve, |c| law.sticks(c, &slip, state)),
                            false
                        );
                        note.mode = note.mode.with_point(Mode::stuck(sticks));
                    }
                }
                if touches {
                    let force = Vector3::from(pressed.force);
                    let zero = Vector3::zeros();
                    geometry.first.apply(stage, &force, &zero, &touch.point);
                    geometry.second.apply(stage, &(-force), &zero, &touch.point);
                    compression += normal.max(0.0);
                    if OBSERVE {
                        note.power += force.dot(&velocity);
                        note.normal += normal;
                        for i in 0..3 {
                            note.force[i] += force[i];
                            note.velocity[i] = velocity[i];
                        }
                    }
                }
            }
            stage.compression[contact.element] = compression;
            if OBSERVE {
                seen[contact.element] = note;
            }
        }
    }
}

impl Mode {
    /// The mode of several points: open if all are, slip if any slides.
    pub fn with_point(self, point: Mode) -> Mode {
        match (self, point) {
            (Mode::Open, other) | (other, Mode::Open) => other,
            (Mode::Slip, _) | (_, Mode::Slip) => Mode::Slip,
            _ => Mode::Stick,
        }
    }
}

impl Elements for Contacts {
    fn respond(&self, stage: &mut Stage<'_>) {
        self.run::<false>(stage, &mut []);
    }

    fn respond_observed(&self, stage: &mut Stage<'_>, seen: &mut [Observation]) {
        self.run::<true>(stage, seen);
    }

    fn tangent(&self, tangent: &mut Tangent<'_>) -> bool {
        // How a frame of the user's own turns and speeds up is known by differences only.
        let own = |body: &Attachment| matches!(body, Attachment::Own { .. });
        if self
            .0
            .iter()
            .any(|contact| own(&contact.geometry.first) || own(&contact.geometry.second))
        {
            return false;
        }
        self.0.iter().for_each(|contact| contact.differentiate(tangent));
        true
    }

    fn regather(&self, _stage: &Stage<'_>, _seen: &mut [Observation]) {
        // Compliant contacts run with the integrators of differential equations, which never regather.
    }
}
