//! Many spheres on a plane: arrays of their own beside an empty network.

use super::Builder;
use super::chain::random;
use super::laws::{AtSlip, LawKind};
use super::normal::{AtNormal, NormalKind};
use crate::element::curve::SteadyCurve;
use crate::integrate::Method;
use crate::memory::lacking;
use crate::scenario::{InitialMode, Port, SpheresSpec};
use crate::spheres::{Ball, BallMode, Spheres, SpheresState};
use nalgebra::Vector3;

// Which quantity a random number is for, beyond those of chains: three of each.
const POSITION: u64 = 10;
const VELOCITY: u64 = 20;

impl Builder<'_> {
    /// Spheres of which the `first` are built, and all examined.
    pub(super) fn add_spheres(&mut self, spec: &SpheresSpec, first: usize) -> Option<(Spheres, SpheresState)> {
        if self.method != Method::ImplicitEuler {
            let message = format!(
                "`[spheres]` do not run with integrator = \"{}\"",
                self.method.row().name
            );
            self.error("simulation.integrator", message).help = Some("write integrator = \"implicit-euler\"".into());
            return None;
        }
        let felt = AtSlip {
            mass: Some(spec.body.mass),
            angular: Some(false),
            slip: 0.0,
            pressed: None,
        };
        let path = "spheres.contact";
        let pressed = AtNormal {
            felt,
            mass: felt.mass,
            weight: None,
            landing: None,
            how: "of a sphere",
        };
        let normal = self.normal_law(&format!("{path}.normal"), Some(&spec.normal), pressed)?;
        let NormalKind::Rigid { restitution } = normal else {
            self.error(&format!("{path}.normal.law"), "the plane of `[spheres]` is rigid")
                .help = Some("write normal = { law = \"rigid\" }".into());
            return None;
        };
        let path = "spheres.contact.friction";
        let friction = match &spec.friction {
            None => [0.0; 2],
            Some(friction) => {
                if friction.ellipse.is_some() {
                    let message = "the plane of `[spheres]` is the same in all directions";
                    self.error(&format!("{path}.direction"), message).help = Some(
                        "write one number for each coefficient, or bodies with contacts of their own in place of `[spheres]`".into(),
                    );
                    return None;
                }
                for (key, arm) in [("rolling", friction.rolling), ("spinning", friction.spinning)] {
                    if arm.is_some() {
                        let message = "the balls of `[spheres]` roll and spin freely";
                        self.error(&format!("{path}.{key}"), message).help = Some(format!(
                            "leave {key} out, or write bodies with shapes and [contacts] in place of `[spheres]`"
                        ));
                        return None;
                    }
                }
                let rubbing = self.friction_law(path, friction, [Port::Ground; 2], felt, true)?;
                match (rubbing.kind, rubbing.curve) {
                    (LawKind::Implicit { .. }, SteadyCurve::Stribeck(curve))
                        if curve.velocity == 0.0 && curve.viscous == 0.0 =>
                    {
                        [curve.holding, curve.kinetic]
                    }
                    _ => {
                        let message = "a rigid contact takes Coulomb friction with the law \"implicit\"";
                        self.error(path, message).help =
                            Some("write friction = { law = \"implicit\", mu = 0.5 } (mu_static may be larger)".into());
                        return None;
                    }
                }
            }
        };
        if spec.count > 1 && spec.spacing < 2.0 * spec.radius {
            let message = format!(
                "the spheres overlap: they are {} m apart and {} m wide",
                spec.spacing,
                2.0 * spec.radius
            );
            self.error("spheres.spacing", message).help =
                Some(format!("write spacing = {} or more", 2.0 * spec.radius));
            return None;
        }
        let spheres = Spheres {
            count: first,
            radius: spec.radius,
            mass: spec.body.mass,
            inertia: spec.body.inertia[0],
            normal: Vector3::from(spec.plane.normal),
            offset: spec.plane.offset,
            friction,
            restitution,
            gravity: self.world_gravity,
            step: self.step,
        };
        // The balls, and about as much to find those that meet.
        let needed = (spec.count as u64).saturating_mul(2 * size_of::<Ball>() as u64);
        if let Some(lacking) = lacking(needed) {
            let message = format!("{} spheres need {lacking}", spec.count);
            self.error("spheres.count", message).help = Some("use fewer spheres".into());
            return None;
        }
        let place = start_of_ball(spec, &spheres);
        let inside = |i: &usize| spheres.gap(&place(*i)) < -1e-9 * spheres.radius;
        if let Some(i) = (0..spec.count).find(inside) {
            let message = format!(
                "sphere {i} begins inside the plane, by {:.3e} m",
                -spheres.gap(&place(i))
            );
            let height = spheres.offset + spheres.radius;
            self.error("spheres.body.position", message).help = Some(format!(
                "along the normal of the plane the centre must be at {height} m or higher"
            ));
            return None;
        }
        let state = SpheresState::new(&spheres, (0..first).map(place).collect());
        Some((spheres, state))
    }
}

/// Where each sphere is at the start: on a square grid along the plane, filled row by row from the position given.
pub(crate) fn start_of_ball(spec: &SpheresSpec, spheres: &Spheres) -> impl Fn(usize) -> Ball {
    let initial = spec.friction.as_ref().and_then(|friction| friction.initial);
    let side = (spec.count as f64).sqrt().ceil() as usize;
    let [first, second] = spheres.tangents();
    let spread = &spec.spread;
    let shift = move |size: f64, quantity: u64, i: usize| {
        let part = |axis: u64| {
            if size == 0.0 {
                0.0
            } else {
                size * random(spread.seed, quantity + axis, i)
            }
        };
        Vector3::new(part(0), part(1), part(2))
    };
    move |i: usize| {
        let shifted = shift(spread.position, POSITION, i);
        let along = spec.spacing * (i % side) as f64 + shifted.x;
        let across = spec.spacing * (i / side) as f64 + shifted.y;
        let velocity = Vector3::from(spec.body.velocity) + shift(spread.velocity, VELOCITY, i);
        let rests = velocity == Vector3::zeros() && spec.body.angular_velocity == [0.0; 3];
        let stuck = match initial {
            Some(mode) => mode == InitialMode::Stick,
            None => rests,
        };
        let mut ball = Ball {
            position: Vector3::from(spec.body.position) + along * first + across * second,
            velocity,
            angular_velocity: Vector3::from(spec.body.angular_velocity),
            rotation: spec.body.rotation,
            mode: if stuck { BallMode::Stick } else { BallMode::Slip },
        };
        if spheres.gap(&ball) > 1e-9 * spheres.radius {
            ball.mode = BallMode::Open;
        }
        ball
    }
}
