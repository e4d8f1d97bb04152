//! Criterion (37) of Ozaki, Hashiguchi and Chen (2007): a slider at rest slides on steadily if the spring pulls harder faster than friction recovers.

use crate::profile::Profile;
use crate::scenario::{BodySpec, DriverMotion, ElementSpec, LimitSpec, NormalForce, Port, Scenario};

/// How fast the pull of a spring grows and how fast the holding limit recovers, both at the moment of rest, N/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// K v: stiffness times speed of the driver.
    pub drive: f64,
    /// F η (1 − μ_k/μ_s)ⁿ: recovery of a friction that has fallen to its kinetic level.
    pub recovery: f64,
}

impl Rates {
    /// Those of Ozaki, Hashiguchi and Chen (2007): eq 37 in rate form, with the speed of the driver for its u^t and η of eq 36.
    pub fn new(stiffness: f64, speed: f64, normal: f64, eta: f64, mu: (f64, f64), exponent: f64) -> Self {
        let (still, kinetic) = mu;
        Rates {
            drive: stiffness * speed,
            recovery: normal * eta * libm::pow(1.0 - kinetic / still, exponent),
        }
    }

    /// Those of a scenario: the friction of the signal under analysis has a rate of recovery `eta`, and a spring couples its
    /// body to a driver with a constant speed.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let owner = scenario.stick_slip.as_ref()?.signal.split('.').next()?;
        let (_, ElementSpec::Friction(element)) = scenario.elements.iter().find(|(name, _)| name == owner)? else {
            return None;
        };
        let law = &element.friction;
        let LimitSpec::Coefficient { kinetic, static_ } = law.curve.limit else {
            return None;
        };
        let normal = match law.normal_force {
            Some(NormalForce::Profile(Profile::Constant(normal))) => normal,
            None => scenario.weight_between(element.between)?,
            Some(_) => return None,
        };
        let body = element.between[0];
        let (stiffness, speed) = (scenario.elements.iter()).find_map(|(_, element)| pull(scenario, element, body))?;
        let exponent = law.number("eta_exponent").unwrap_or(1.0);
        let eta = law.number("eta")?;
        Some(Self::new(stiffness, speed, normal, eta, (static_, kinetic), exponent))
    }
}

/// Stiffness and driving speed, if this is a spring from a driver to the body.
fn pull(scenario: &Scenario, element: &ElementSpec, body: Port) -> Option<(f64, f64)> {
    let ElementSpec::Spring(spring) = element else {
        return None;
    };
    let other = match spring.between {
        [first, second] if second == body => first,
        [first, second] if first == body => second,
        _ => return None,
    };
    let Port::Body(index) = other else { return None };
    match &scenario.bodies[index].1 {
        BodySpec::Driver(driver) => match &driver.motion {
            DriverMotion::Velocity(profiles) => match profiles[..] {
                [Profile::Constant(speed)] => Some((spring.stiffness, speed.abs())),
                _ => None,
            },
            DriverMotion::Position(_) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set S of the science page in SI; its boundary by criterion (37) is K v = F eta (1 - mu_k/mu_s) = 0.1 N/s.
    const SLIDER: &str = r#"
[simulation]
duration = 1
step = 1e-3
integrator = "rk4"
[bodies.block]
kind = "mass"
mass = "10 t"
[bodies.hook]
kind = "driver"
velocity = "0.001 mm/s"
[elements.spring]
kind = "spring"
between = ["hook", "block"]
stiffness = "10 N/mm"
[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "subloading"
mu_static = 0.4
mu_kinetic = 0.2
normal_force = "100 N"
tangential_stiffness = 1e6
kappa = 1e4
eta = 0.002
r = 1e5
[analysis]
stick_slip = { signal = "floor.force", scale = 100, e = 20 }
"#;

    #[test]
    fn rates_of_set_s() {
        let scenario = Scenario::parse(SLIDER, "s.toml", &[]).unwrap();
        assert_eq!(scenario.stick_slip.as_ref().unwrap().threshold, Some(0.2 / 20.0));
        let rates = Rates::of(&scenario).unwrap();
        assert!((rates.recovery - 0.1).abs() < 1e-12, "{rates:?}");
        assert!((rates.drive - 0.01).abs() < 1e-12, "{rates:?}");
        let cubed = Scenario::parse(SLIDER, "s.toml", &["elements.floor.eta_exponent=3".to_string()]).unwrap();
        assert!((Rates::of(&cubed).unwrap().recovery - 0.025).abs() < 1e-12);
        let other = Scenario::parse(SLIDER, "s.toml", &["bodies.hook.velocity=t".to_string()]).unwrap();
        assert_eq!(Rates::of(&other), None);
        // 10 t weigh 100 N across the motion under 0.01 m/s².
        let weight = SLIDER
            .replace("[bodies.block]", "gravity = [0, 0, -0.01]\n[bodies.block]")
            .replace("mass = \"10 t\"", "mass = \"10 t\"\naxis = [1, 0, 0]")
            .replace("normal_force = \"100 N\"\n", "");
        let weighed = Rates::of(&Scenario::parse(&weight, "s.toml", &[]).unwrap()).unwrap();
        assert!((weighed.recovery - 0.1).abs() < 1e-12, "{weighed:?}");
    }
}
