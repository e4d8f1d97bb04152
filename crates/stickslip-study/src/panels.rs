//! What columns of a trace and axes of a map show: quantities with their units, and what curves are called.

use crate::words::number;
use stickslip::advice;
use stickslip::quantity::{Dimension, parse_quantity};
use stickslip::scenario::{BodySpec, JointType, Scenario};
use stickslip::sweep::{Axis, Sweep};

/// What an axis shows, in the order of the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Blocks of a chain that slip.
    Slipping,
    /// Their slip.
    Moment,
    /// Spheres on a plane.
    Spheres,
    /// How far they are above it.
    Gap,
    /// Of what slides.
    Velocity,
    /// Of what turns.
    AngularVelocity,
    /// Between what slides.
    Force,
    /// Between what turns.
    Torque,
    /// Of what slides.
    Position,
    /// Of what turns.
    Angle,
    /// Rates of coordinates of equations whose unit is not known.
    CoordinateRate,
    /// Coordinates of equations whose unit is not known.
    Coordinate,
    /// States of an inclusion that are the rate of another.
    Rate,
    /// Other states of an inclusion.
    State,
    /// States that the rewriting added.
    Added,
}

impl Quantity {
    /// Quantity and unit for an axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::Slipping => "blocks that slip",
            Self::Moment => "moment (m)",
            Self::Spheres => "spheres",
            Self::Gap => "gap (m)",
            Self::Velocity => "velocity (m/s)",
            Self::AngularVelocity => "angular velocity (rad/s)",
            Self::Force => "force (N)",
            Self::Torque => "torque (N m)",
            Self::Position => "position (m)",
            Self::Angle => "angle (rad)",
            Self::CoordinateRate => "rate of a coordinate",
            Self::Coordinate => "coordinate",
            Self::Rate => "rates",
            Self::State => "states",
            Self::Added => "relaxation",
        }
    }

    /// Position and velocity of a sliding or turning motion.
    fn of_motion(part: &str, turns: bool) -> Option<Self> {
        match (part, turns) {
            ("position", false) => Some(Self::Position),
            ("position", true) => Some(Self::Angle),
            ("velocity", false) => Some(Self::Velocity),
            ("velocity", true) => Some(Self::AngularVelocity),
            ("wx" | "wy" | "wz", _) => Some(Self::AngularVelocity),
            _ => None,
        }
    }
}

/// What a column shows and what its curve is called; `None` for columns that are not drawn (modes, states, rotations).
///
/// Axes stand between dollar signs, as figures take them.
pub fn shown(scenario: &Scenario, column: &str) -> Option<(Quantity, String)> {
    if let Some(inclusion) = &scenario.inclusion {
        let description = inclusion.description();
        let quantity = if !description.states.iter().any(|(name, _)| name == column) {
            Quantity::Added
        } else if description.equations.iter().any(|(_, rate)| rate.trim() == column) {
            Quantity::Rate
        } else {
            Quantity::State
        };
        return (column != "t").then(|| (quantity, column.to_string()));
    }
    let (owner, rest) = column.split_once('.')?;
    if scenario.chain.is_some() {
        return shown_of_chain(rest);
    }
    if scenario.spheres.is_some() {
        return shown_of_spheres(rest);
    }
    let body = scenario.bodies.iter().find(|(name, _)| name == owner);
    let mut parts = rest.split('.');
    let part = parts.next()?;
    let suffix = parts.next();
    if let Some((_, body)) = body {
        let turns = match body {
            BodySpec::Inertia(_) => true,
            BodySpec::Driver(driver) => driver.angular == Some(true),
            BodySpec::Linkage(linkage) => {
                if let Some(link) = linkage.links.iter().find(|link| link.joint == part) {
                    let quantity = Quantity::of_motion(suffix?, link.joint_type == JointType::Revolute)?;
                    return Some((quantity, format!("{owner}.{part}")));
                }
                false
            }
            BodySpec::Own(own) if own.body.coordinates().contains(&part) => {
                let number = own.body.coordinates().iter().position(|name| *name == part)?;
                // Without a unit in the file it is not known whether it turns.
                let quantity = match (own.turns.get(number).copied().flatten(), suffix?) {
                    (Some(turns), suffix) => Quantity::of_motion(suffix, turns)?,
                    (None, "position") => Quantity::Coordinate,
                    (None, "velocity") => Quantity::CoordinateRate,
                    _ => return None,
                };
                return Some((quantity, format!("{owner}.{part}")));
            }
            BodySpec::Mass(_) | BodySpec::RigidBody(_) | BodySpec::Own(_) => false,
        };
        let quantity = Quantity::of_motion(part, turns)?;
        let axis = suffix.or(part.strip_prefix('w'));
        return Some((quantity, with_axis(owner, axis)));
    }
    let (_, element) = scenario.elements.iter().find(|(name, _)| name == owner)?;
    let quantity = if advice::angular(scenario, element) {
        Quantity::Torque
    } else {
        Quantity::Force
    };
    (part == "force").then(|| match suffix {
        Some("magnitude") => (quantity, format!("|{owner}|")),
        _ => (quantity, with_axis(owner, suffix)),
    })
}

/// What the amplitude of the stick-slip analysis is the amplitude of, with its unit where the signal is not scaled.
pub fn amplitude(scenario: &Scenario) -> String {
    let Some(spec) = &scenario.stick_slip else {
        return "amplitude".to_string();
    };
    if spec.scale != 1.0 {
        return format!("amplitude of {}/{}", spec.signal, number(spec.scale));
    }
    let unit = signal_unit(scenario);
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!("({unit})")
    };
    format!("amplitude of {} {unit}", spec.signal).trim_end().to_string()
}

/// The unit of the amplitude of the stick-slip analysis; empty where the signal is scaled or its unit is not known.
pub fn signal_unit(scenario: &Scenario) -> &'static str {
    let plain = scenario.stick_slip.as_ref().filter(|spec| spec.scale == 1.0);
    let quantity = plain.and_then(|spec| Some(shown(scenario, &spec.signal)?.0));
    let label = quantity.map_or("", Quantity::label);
    label
        .rsplit_once('(')
        .map_or("", |(_, unit)| unit.trim_end_matches(')'))
}

/// What is compared of a friction: sliding velocity, friction, slip.
pub fn of_comparison(angular: bool) -> [String; 3] {
    let (velocity, force, slip) = match angular {
        true => (Quantity::AngularVelocity, Quantity::Torque, "slip (rad)"),
        false => (Quantity::Velocity, Quantity::Force, "slip (m)"),
    };
    [
        format!("sliding {}", velocity.label()),
        format!("friction {}", force.label()),
        slip.to_string(),
    ]
}

/// The unit of an axis: of its values, or else of the key in the file; `None` where neither says.
pub fn unit(sweep: &Sweep, axis: &Axis) -> Option<String> {
    let written = match parse_quantity(&axis.value(0).written) {
        Ok(Some((_, dimension))) => Some(dimension),
        _ => sweep.draft().dimension(&axis.key),
    };
    // A velocity in 1/s is one of something that turns; frequencies and rates have other names.
    let last = axis.key.rsplit('.').next().unwrap_or_default();
    let turns = last.ends_with("velocity") && written == Some(Dimension::ANGULAR_VELOCITY);
    written.map(|dimension| match turns {
        true => "rad/s".to_string(),
        false => dimension.to_string(),
    })
}

/// What stands at an axis.
pub fn with_unit(sweep: &Sweep, axis: &Axis) -> String {
    let unit = unit(sweep, axis).unwrap_or_else(|| "SI".to_string());
    format!("{} ({unit})", axis.key)
}

/// Sums and means of a chain, and where its drive is.
fn shown_of_chain(column: &str) -> Option<(Quantity, String)> {
    let (quantity, label) = match column {
        // A panel with one curve needs no legend: its axis says what it is.
        "slipping" => (Quantity::Slipping, ""),
        "moment" => (Quantity::Moment, ""),
        "velocity" => (Quantity::Velocity, "mean"),
        "speed" => (Quantity::Velocity, "largest"),
        "force" => (Quantity::Force, "drive"),
        "position" => (Quantity::Position, "mean"),
        "drive.position" => (Quantity::Position, "drive"),
        _ => return None,
    };
    Some((quantity, label.to_string()))
}

/// Counts and means of many spheres.
fn shown_of_spheres(column: &str) -> Option<(Quantity, String)> {
    let (quantity, label) = match column {
        "touching" | "slipping" => (Quantity::Spheres, column.to_string()),
        "speed" => (Quantity::Velocity, "largest".to_string()),
        "lowest" | "highest" => (Quantity::Gap, column.to_string()),
        _ => {
            let (part, axis) = column.split_once('.')?;
            (Quantity::of_motion(part, false)?, with_axis("mean", Some(axis)))
        }
    };
    Some((quantity, label))
}

fn with_axis(owner: &str, axis: Option<&str>) -> String {
    match axis {
        Some(axis) => format!("{owner} ${axis}$"),
        None => owner.to_string(),
    }
}
