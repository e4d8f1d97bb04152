//! `[chain]`.

use super::bodies::Body;
use super::ends::{Nature, Surroundings};
use super::friction::Role;
use super::*;
use crate::chain::MOST_BLOCKS;

/// The name of the body that pulls a chain.
pub(super) const DRIVE: &str = "chain.drive";

impl Reader {
    /// The chain; its drive joins the bodies.
    pub(super) fn chain(&mut self, root: &Section<'_>, bodies: &mut Vec<Body>) -> Option<ChainSpec> {
        let key_span = root.get("chain")?.key_span;
        let others = ["bodies", "elements", "inclusion"];
        if let Some(other) = others.iter().find(|other| root.get(other).is_some()) {
            self.report(
                key_span,
                format!("a scenario has `[chain]` or `[{other}]`, not both"),
                "a chain is a system of its own: its drive is chain.drive, its floor chain.friction",
            );
            return None;
        }
        let before = self.diagnostics.len();
        let section = self.subsection(root, "chain", &keys::CHAIN)?;
        let count = self.whole(&section, "count", 1, MOST_BLOCKS as u64);
        let (mut mass, mut position, mut velocity) = (None, None, None);
        if let Some(body) = self.subsection(&section, "body", &keys::CHAIN_BODY) {
            self.kind(&body);
            mass = self.number(&body, "mass", &[Dimension::MASS], Sign::Positive);
            position = self.of_blocks(&body, "position", Dimension::LENGTH);
            velocity = self.of_blocks(&body, "velocity", Dimension::VELOCITY);
        }
        let neighbour = self
            .subsection(&section, "neighbour", &keys::CHAIN_NEIGHBOUR)
            .and_then(|inner| self.chain_spring(&inner));
        let mut drive = None;
        if let Some(inner) = self.subsection(&section, "drive", &keys::CHAIN_DRIVE) {
            drive = self.chain_spring(&inner);
            if let Some(driver) = self.driver(&inner) {
                if driver.motion.profiles().len() != 1 || driver.angular == Some(true) {
                    self.report(
                        inner.span,
                        "the drive of a chain moves along a line",
                        "write one profile in m/s: velocity = \"1 mm/s\"",
                    );
                }
                bodies.push(Body {
                    name: DRIVE.to_string(),
                    spec: Some(BodySpec::Driver(driver)),
                });
            }
        }
        let friction = self.chain_friction(&section);
        let spread = match self.subsection(&section, "spread", &keys::CHAIN_SPREAD) {
            Some(inner) => self.spread(&inner),
            None => SpreadSpec::default(),
        };
        if self.diagnostics.len() > before {
            return None;
        }
        Some(ChainSpec {
            count: count? as usize,
            mass: mass?,
            position: position?,
            velocity: velocity?,
            neighbour: neighbour?,
            drive: drive?,
            friction: friction?,
            spread,
        })
    }

    /// `kind` may be written as elsewhere; there is only one.
    pub(super) fn kind(&mut self, section: &Section<'_>) {
        if section.get("kind").is_some() {
            let _ = self.word(section, "kind");
        }
    }

    /// A whole number.
    pub(super) fn whole(&mut self, section: &Section<'_>, key: &str, least: u64, most: u64) -> Option<u64> {
        let value = self.number(section, key, &[Dimension::NONE], Sign::Any)?;
        if value.fract() == 0.0 && value >= least as f64 && value <= most as f64 {
            return Some(value as u64);
        }
        let message = format!(
            "`{}` should be a whole number from {least} to {most}, found {value}",
            section.path_of(key)
        );
        self.report_example(section.span_of(key), message, section.keys.get(key));
        None
    }

    /// A number, or an expression in the number `i` of a block (from 0) and how many there are, `n`; 0 if absent.
    fn of_blocks(&mut self, section: &Section<'_>, key: &str, dimension: Dimension) -> Option<Expression> {
        let text = match section.get(key).map(|entry| &entry.node.value) {
            None => "0".to_string(),
            Some(Value::Text(text)) if matches!(parse_quantity(text), Ok(None)) => text.clone(),
            Some(_) => format!("{:?}", self.number(section, key, &[dimension], Sign::Any)?),
        };
        match Expression::parse(&text, &["i", "n"]) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let message = format!("`{}`: {error}", section.path_of(key));
                self.report_example(section.span_of(key), message, section.keys.get(key));
                None
            }
        }
    }

    fn chain_spring(&mut self, section: &Section<'_>) -> Option<ChainSpring> {
        self.kind(section);
        let stiffness = self.number(section, "stiffness", &[Dimension::STIFFNESS], Sign::NotNegative);
        let damping = self.number(section, "damping", &[Dimension::DAMPING], Sign::NotNegative);
        let length = self.number(section, "length", &[Dimension::LENGTH], Sign::Any);
        Some(ChainSpring {
            stiffness: stiffness?,
            damping: damping.unwrap_or(0.0),
            length: length.unwrap_or(0.0),
        })
    }

    fn chain_friction(&mut self, section: &Section<'_>) -> Option<FrictionLawSpec> {
        let inner = self.subsection(section, "friction", &keys::CHAIN_FRICTION)?;
        self.kind(&inner);
        let around = Surroundings {
            bodies: &[],
            ports: Vec::new(),
            elements: Vec::new(),
            gravity: false,
        };
        let friction = self.friction_law(&inner, Nature::Linear, Role::Element, &around)?;
        if friction.ellipse.is_some() {
            self.report_at(
                &inner,
                "direction",
                "the blocks of a chain move along one line, so that their friction has no direction across",
                "write one number for each level, and leave `direction` out",
            );
        }
        if friction.curve.limit.is_coefficient() && friction.normal_force.is_none() {
            self.report_at(
                &inner,
                "mu",
                format!("`{}` has a coefficient but no normal force", inner.path),
                "write the limit itself: kinetic = \"1 N\", or add normal_force = \"10 N\"",
            );
        }
        Some(friction)
    }

    /// `[analysis] slip_events`.
    pub(super) fn slip_events(
        &mut self,
        analysis: &Section<'_>,
        has_chain: bool,
        simulation: &SimulationSpec,
    ) -> Option<SlipEventsSpec> {
        let entry = analysis.get("slip_events")?;
        if !has_chain {
            self.report(
                entry.key_span,
                "`slip_events` are counted over the blocks of a `[chain]`, and there is none",
                "leave it out; `stick_slip` measures the cycle of one friction",
            );
            return None;
        }
        let section = self.subsection(analysis, "slip_events", &keys::SLIP_EVENTS)?;
        let from = self.number(&section, "from", &[Dimension::TIME], Sign::NotNegative);
        let from = from.unwrap_or(0.0);
        if from >= simulation.duration && from > 0.0 {
            let message = format!(
                "events are counted from {from} s on, when the run has ended ({} s)",
                simulation.duration
            );
            self.report_at(
                &section,
                "from",
                message,
                "begin earlier, or make `simulation.duration` longer",
            );
        }
        let smallest = self.number(&section, "smallest", &[Dimension::LENGTH], Sign::Positive);
        let largest = self.number(&section, "largest", &[Dimension::LENGTH], Sign::Positive);
        let order = match (smallest, largest) {
            (Some(smallest), Some(largest)) => smallest < largest,
            (None, Some(_)) => false,
            _ => true,
        };
        if !order {
            self.report_at(
                &section,
                "largest",
                "`largest` needs a `smallest` below it",
                "the exponent is taken from moments between the two: smallest = \"1 mm\", largest = \"1 m\"",
            );
        }
        let bins = match section.get("bins") {
            Some(_) => self.whole(&section, "bins", 1, 100),
            None => Some(5),
        };
        Some(SlipEventsSpec {
            from,
            smallest,
            largest,
            bins: bins? as u32,
        })
    }

    fn spread(&mut self, section: &Section<'_>) -> SpreadSpec {
        let mut part = |key: &str| {
            let value = self
                .number(section, key, &[Dimension::NONE], Sign::NotNegative)
                .unwrap_or(0.0);
            if value >= 1.0 {
                let message = format!(
                    "`{}` must be below 100 %, found {} %",
                    section.path_of(key),
                    100.0 * value
                );
                self.report_example(section.span_of(key), message, section.keys.get(key));
            }
            value
        };
        let (mass, stiffness, friction) = (part("mass"), part("stiffness"), part("friction"));
        let position = self.number(section, "position", &[Dimension::LENGTH], Sign::NotNegative);
        let seed = match section.get("seed") {
            Some(_) => self.whole(section, "seed", 0, 1 << 53),
            None => None,
        };
        SpreadSpec {
            mass,
            stiffness,
            friction,
            position: position.unwrap_or(0.0),
            seed: seed.unwrap_or(0),
        }
    }
}
