//! Laws as written in a scenario become laws with numbers, checked against the registry.

use super::{Builder, Choice, Place};
use crate::element::curve::{CurveSide, GivenCurve, SteadyCurve};
use crate::element::evolution::{GivenEvolution, natural_rate};
use crate::element::laws::Tangential;
use crate::integrate::Method;
use crate::network::stage::LoadSource;
use crate::profile::Profile;
use crate::quantity::{Dimension, Unit};
use crate::scenario::diagnostic::nearest;
use crate::scenario::{
    ElementSpec, FrictionLawSpec, LimitSpec, NormalForce, ParameterSpec, ParameterValue, Port, law_meant,
};
use stickslip_core::friction::curve::{Curve, Stribeck, Table};
use stickslip_core::friction::subloading::{Evolution, Newton, Subloading, Update};
use stickslip_core::friction::{AppliedLaw, FrictionLaw, OfNumbers};
use stickslip_core::registry::{self, Face, Family, Law, Rule};
use stickslip_core::{applied_laws, bristle_laws};

/// A friction law with all its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum LawKind {
    /// Solved in closed form at the end of the step.
    Implicit { approximate: bool },
    /// Evaluated at the start of the step, with the applied force.
    Applied(AppliedKind),
    /// Motion in, force out.
    Bristle(Tangential),
}

impl LawKind {
    /// The law of a compliant contact or a penalty joint. Others were refused before: they do not run with the integrators of differential
    /// equations.
    pub(super) fn tangential(&self) -> Tangential {
        match self {
            LawKind::Bristle(law) => *law,
            LawKind::Implicit { .. } | LawKind::Applied(_) => Tangential::None,
        }
    }
}

macro_rules! applied_kind {
    ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {
        /// A law of `stickslip_core::applied_laws`.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum AppliedKind {
            $($variant($law),)*
        }
    };
}
applied_laws!(applied_kind!);

/// Where a law is written, what is written, and what it acts on: all that its parameters follow from.
#[derive(Clone, Copy)]
pub(super) struct LawReading<'s> {
    /// Path of the table that holds the law.
    pub path: &'s str,
    pub row: &'static Law,
    pub spec: &'s FrictionLawSpec,
    /// What the curve is multiplied with; `None` if that could not be told.
    pub load: Option<LoadSource>,
    /// The same where it is one number for the whole run and no contact makes it.
    pub normal: Option<f64>,
    pub between: [Port; 2],
    pub felt: AtSlip,
    pub in_contact: bool,
}

/// How a bristle holds at rest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stiffness {
    pub stiffness: f64,
    pub damping: f64,
    /// Damping over stiffness.
    pub beta: f64,
}

/// What damps a bristle at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damped {
    /// Nothing: the law has no such number.
    Not,
    /// A damping.
    Damping,
    /// A relaxation time, damping over stiffness.
    Relaxation,
}

/// A friction ready to be put between bodies.
pub(super) struct ReadyFriction {
    pub kind: LawKind,
    pub law: &'static Law,
    pub curve: SteadyCurve,
    pub load: LoadSource,
}

/// What the parameters of a law are chosen from where they are not given.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtSlip {
    /// Mass along the slip; `None` where nothing is free to move.
    pub mass: Option<f64>,
    /// Whether the motion is a rotation, a translation, or not known.
    pub angular: Option<bool>,
    /// Speed of the slip at the start, m/s or rad/s.
    pub slip: f64,
    /// Greatest normal force on a touching point that weight and touch-down tell of, N.
    pub pressed: Option<f64>,
}

/// What an evolution of `subloading` may be.
const OF_EVOLUTION: &str = "write \"log\", \"ratio\", or U(R) in 1/m as an expression in R and r that falls from +infinity at R = 0 to 0 at R = 1 \
                            and is negative beyond, such as \"-r*ln(R)\" or \"r/tan(pi*R/2)\"";

/// The text of an evolution that is no word: U(R) as an expression.
fn own_evolution(parameters: &[ParameterSpec]) -> Option<&str> {
    let parameter = parameters.iter().find(|parameter| parameter.name == "evolution")?;
    match &parameter.value {
        ParameterValue::Word(text) if !text.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') => Some(text),
        _ => None,
    }
}

impl AtSlip {
    pub(super) fn stiffness_dimension(&self) -> Option<Dimension> {
        self.angular.map(|angular| {
            if angular {
                Dimension::ROTATIONAL_STIFFNESS
            } else {
                Dimension::STIFFNESS
            }
        })
    }

    fn damping_dimension(&self) -> Option<Dimension> {
        self.angular.map(|angular| {
            if angular {
                Dimension::ROTATIONAL_DAMPING
            } else {
                Dimension::DAMPING
            }
        })
    }

    /// The dimension of a unit as rows write it, for motion along a line; of a rotation nothing is known.
    fn dimension(&self, unit: &str) -> Option<Dimension> {
        match self.angular {
            Some(false) => {
                if unit.is_empty() {
                    Some(Dimension::NONE)
                } else {
                    Unit::parse(unit).ok().map(|unit| unit.dimension())
                }
            }
            _ => None,
        }
    }

    pub(super) fn length_dimension(&self) -> Option<Dimension> {
        self.angular
            .map(|angular| if angular { Dimension::NONE } else { Dimension::LENGTH })
    }

    pub(super) fn speed_dimension(&self) -> Option<Dimension> {
        self.angular.map(|angular| {
            if angular {
                Dimension::ANGULAR_VELOCITY
            } else {
                Dimension::VELOCITY
            }
        })
    }
}

impl Builder<'_> {
    /// The row of a law, or an error that names the nearest one.
    pub(super) fn law_row(&mut self, path: &str, family: Family, name: &str) -> Option<&'static Law> {
        let found = registry::law(family, name);
        if found.is_none() {
            let known = registry::names(family).collect::<Vec<_>>().join(", ");
            let help = match law_meant(family, name) {
                Some(near) => format!("did you mean \"{near}\"? The laws are {known}"),
                None => format!("the laws are {known}"),
            };
            let what = if family == Family::Friction {
                "friction"
            } else {
                "contact"
            };
            self.error(&format!("{path}.law"), format!("there is no {what} law \"{name}\""))
                .help = Some(help);
        }
        found
    }

    /// Checks that the integrator can run a law.
    pub(super) fn check_method(&mut self, path: &str, law: &Law) -> bool {
        let name = self.method.row().name;
        if law.integrators.contains(&name) {
            return true;
        }
        let help = format!(
            "write integrator = \"{}\" in [simulation], or choose a law that runs with {name}: {}",
            law.integrators[0],
            registry::LAWS
                .iter()
                .filter(|other| other.family == law.family && other.integrators.contains(&name))
                .map(|other| other.name)
                .collect::<Vec<_>>()
                .join(", ")
        );
        self.error(
            &format!("{path}.law"),
            format!("the law \"{}\" does not run with the integrator \"{name}\"", law.name),
        )
        .help = Some(help);
        false
    }

    /// Refuses parameters the law does not have.
    pub(super) fn check_parameters(&mut self, path: &str, law: &Law, parameters: &[ParameterSpec]) {
        for parameter in parameters {
            if law.parameters.iter().any(|known| known.name == parameter.name) {
                continue;
            }
            let names = law.parameters.iter().map(|known| known.name);
            let help = match (nearest(&parameter.name, names.clone()), law.parameters.len()) {
                (Some(near), _) => format!("did you mean \"{near}\"?"),
                (None, 0) => format!("\"{}\" has no parameters of its own", law.name),
                (None, _) => format!("its own parameters are {}", names.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("the law \"{}\" has no parameter \"{}\"", law.name, parameter.name);
            self.error(&format!("{path}.{}", parameter.name), message).help = Some(help);
        }
    }

    /// A number of a law: as written, checked for dimension and sign.
    pub(super) fn number(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        name: &str,
        dimension: Option<Dimension>,
    ) -> Option<f64> {
        let parameter = parameters.iter().find(|parameter| parameter.name == name)?;
        let key = format!("{path}.{name}");
        let ParameterValue::Number(number) = &parameter.value else {
            self.error(&key, format!("\"{name}\" must be a number"));
            return None;
        };
        if let (Some(found), Some(expected)) = (number.dimension, dimension)
            && found != expected
        {
            self.error(&key, format!("expected {expected}, found {found}"));
        }
        if !(number.value >= 0.0 && number.value.is_finite()) {
            self.error(&key, format!("\"{name}\" must not be negative, found {}", number.value));
        }
        Some(number.value)
    }

    pub(super) fn positive(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        name: &str,
        dimension: Option<Dimension>,
    ) -> Option<f64> {
        let value = self.number(path, parameters, name, dimension)?;
        if value == 0.0 {
            self.error(&format!("{path}.{name}"), format!("\"{name}\" must be greater than 0"));
        }
        Some(value)
    }

    pub(super) fn required(
        &mut self,
        path: &str,
        law: &Law,
        parameters: &[ParameterSpec],
        name: &str,
        dimension: Option<Dimension>,
    ) -> f64 {
        match self.positive(path, parameters, name, dimension) {
            Some(value) => value,
            None => {
                if !parameters.iter().any(|parameter| parameter.name == name) {
                    let message = format!("the law \"{}\" needs \"{name}\"", law.name);
                    self.error(path, message).help = Some(format!("for example {name} = 0.01"));
                }
                1.0
            }
        }
    }

    /// Notes a chosen value.
    pub(super) fn choose(&mut self, key: String, value: f64, unit: &'static str, reason: String) -> f64 {
        self.choices.push(Choice {
            key,
            value,
            unit,
            reason,
        });
        value
    }

    /// Stiffness and damping as written, or K = m·(0.5/T)² and B = √(K·m): half a radian of the bristle's vibration per
    /// step, which the staged Runge-Kutta method and the implicit step both resolve, damped to rest in about one
    /// period.
    pub(super) fn stiffness_and_damping(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        felt: AtSlip,
        how: Damped,
    ) -> Stiffness {
        let step = self.step;
        let mass = felt.mass.unwrap_or(1.0);
        let angular = felt.angular == Some(true);
        let whose = match felt.mass {
            Some(mass) => format!("m = {mass:.4} felt along the slip"),
            None => "m = 1, since nothing here is free to move".to_string(),
        };
        let stiffness = match self.positive(path, parameters, "stiffness", felt.stiffness_dimension()) {
            Some(value) => value,
            None => {
                let unit = if angular { "Nm/rad" } else { "N/m" };
                let (time, said) = self.resolved_step();
                let reason = format!("m*(0.5/step)^2 with {whose} and {said}");
                let rate = 0.5 / time;
                self.choose(format!("{path}.stiffness"), mass * rate * rate, unit, reason)
            }
        };
        let natural = (stiffness * mass).sqrt();
        if how == Damped::Relaxation {
            let beta = match self.positive(path, parameters, "beta", Some(Dimension::TIME)) {
                Some(value) => value,
                None => self.choose(
                    format!("{path}.beta"),
                    natural / stiffness,
                    "s",
                    format!("sqrt(m/stiffness) with {whose}"),
                ),
            };
            if step > 2.78 * beta && self.method.needs_small_steps_of_bristles() {
                let message =
                    format!("beta = {beta} s is too small for the step: sliding diverges above step/beta = 2.78");
                self.warn(
                    &format!("{path}.beta"),
                    message,
                    format!("use beta = {:.2e} s or more, or the law \"proxy\"", step),
                );
            }
            return Stiffness {
                stiffness,
                damping: stiffness * beta,
                beta,
            };
        }
        let damping = match self.number(path, parameters, "damping", felt.damping_dimension()) {
            Some(value) => value,
            None if how == Damped::Not => 0.0,
            None => {
                let unit = if angular { "Nm*s/rad" } else { "N*s/m" };
                self.choose(
                    format!("{path}.damping"),
                    natural,
                    unit,
                    format!("sqrt(stiffness*m) with {whose}"),
                )
            }
        };
        self.warn_of_unresolved_bristle(path, stiffness, damping, mass);
        Stiffness {
            stiffness,
            damping,
            beta: damping / stiffness,
        }
    }

    /// Warns of a bristle or contact that an explicit method cannot follow: with (19) staged Runge-Kutta is stable while
    /// √(K/m)·T < 2.3, 1.7, 1.1 for damping ratios 0, 0.5, 1.
    fn warn_of_unresolved_bristle(&mut self, path: &str, stiffness: f64, damping: f64, mass: f64) {
        let frequency = (stiffness / mass).sqrt();
        let ratio = damping / (2.0 * (stiffness * mass).sqrt());
        let limit = if ratio < 1.0 { 2.3 - 1.2 * ratio } else { 1.1 / ratio };
        if self.method.needs_small_steps_of_bristles() && frequency * self.step > limit {
            let turn = frequency * self.step;
            let message = match turn.is_finite() {
                true => format!("the step is too large for this stiffness and damping: {turn:.3} radians per step"),
                false => "no step is small enough for this stiffness and damping".to_string(),
            };
            // Subloading friction has no stiffness that follows from the step, and `stiff` for its own.
            let other = if path.ends_with(".tangential_stiffness") {
                "or use integrator = \"stiff\", which chooses its steps".to_string()
            } else {
                let other = self.scenario.stable_integrator();
                format!("leave stiffness and damping out, or use integrator = \"{other}\"")
            };
            let help = match turn.is_finite() {
                true => format!("use a step below {:.2e} s, {other}", limit / frequency),
                false => format!("use a smaller stiffness, {other}"),
            };
            self.unstable = true;
            self.warn(path, message, help);
        }
    }

    /// A friction law of an element, a contact or a joint. `path` is that of the table that holds the law.
    pub(super) fn friction_law(
        &mut self,
        path: &str,
        spec: &FrictionLawSpec,
        between: [Port; 2],
        felt: AtSlip,
        in_contact: bool,
    ) -> Option<ReadyFriction> {
        // Where friction is elliptic the law sees the slip, and the mobility across, stretched.
        let felt = match &spec.ellipse {
            Some(ellipse) => {
                let stretch = ellipse.across.max(1.0);
                AtSlip {
                    mass: felt.mass.map(|mass| mass / (stretch * stretch)),
                    slip: stretch * felt.slip,
                    ..felt
                }
            }
            None => felt,
        };
        let law = self.law_row(path, Family::Friction, &spec.law)?;
        if !self.check_method(path, law) {
            return None;
        }
        if in_contact && self.method.moves_masses_only() && law.states > 0 && !law.staged {
            let name = self.method.row().name;
            let message = format!(
                "in a contact the law \"{}\" does not run with the integrator \"{name}\"",
                law.name
            );
            self.error(&format!("{path}.law"), message).help =
                Some("write law = \"proxy\", or integrator = \"stiff\" in [simulation]".into());
            return None;
        }
        self.check_parameters(path, law, &spec.parameters);
        let curve = self.curve(path, law, spec)?;
        let load = self.load(path, spec, between, in_contact);
        let normal = match load {
            Some(LoadSource::Signal(signal)) if !in_contact => match self.profiles[signal] {
                Profile::Constant(normal) => Some(normal),
                _ => None,
            },
            _ => None,
        };
        let kind = self.law_kind(LawReading {
            path,
            row: law,
            spec,
            load,
            normal,
            between,
            felt,
            in_contact,
        })?;
        Some(ReadyFriction {
            kind,
            law,
            curve,
            load: load?,
        })
    }

    /// The law of a row with its numbers.
    fn law_kind(&mut self, reading: LawReading<'_>) -> Option<LawKind> {
        macro_rules! bristle {
            ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {{
                type R = f64;
                $(
                    if reading.row.name == <$law as FrictionLaw>::NAME {
                        return Some(LawKind::Bristle(Tangential::$variant(self.$reader(reading)?)));
                    }
                )*
            }};
        }
        macro_rules! applied {
            ($($variant:ident $field:ident: $law:ty, $reader:ident;)*) => {{$(
                if reading.row.name == <$law as AppliedLaw>::NAME {
                    return Some(LawKind::Applied(AppliedKind::$variant(self.$reader(reading)?)));
                }
            )*}};
        }
        match reading.row.face {
            Face::Resolve => {
                return Some(LawKind::Implicit {
                    approximate: self.approximate(reading.path, &reading.spec.parameters),
                });
            }
            Face::Applied => applied_laws!(applied!),
            Face::Respond => bristle_laws!(bristle!),
        }
        let message = format!("the law \"{}\" has a row, but is in no list of laws", reading.row.name);
        self.error(&format!("{}.law", reading.path), message);
        None
    }

    /// A law made of the numbers of its row, each found by the rule that stands there.
    fn plain_law<L: OfNumbers>(&mut self, reading: LawReading<'_>) -> Option<L> {
        let LawReading {
            path, row, spec, felt, ..
        } = reading;
        let parameters = &spec.parameters;
        let has = |rule: fn(&Rule) -> bool| row.parameters.iter().any(|parameter| rule(&parameter.rule));
        let how = match (
            has(|rule| *rule == Rule::Damping),
            has(|rule| *rule == Rule::Relaxation),
        ) {
            (_, true) => Damped::Relaxation,
            (true, false) => Damped::Damping,
            (false, false) => Damped::Not,
        };
        let bristle = if has(|rule| *rule == Rule::Stiffness) {
            self.stiffness_and_damping(path, parameters, felt, how)
        } else {
            Stiffness::default()
        };
        if row.staged && bristle.damping == 0.0 && (self.method.chooses_steps() || self.method == Method::Newmark) {
            let name = self.method.row().name;
            let message = format!("with the integrator \"{name}\" the law \"{}\" needs damping", row.name);
            self.error(&format!("{path}.damping"), message).help = Some(
                "it is a plain differential equation there, with relaxation time damping/stiffness: write a damping \
                 above 0, or leave it out"
                    .into(),
            );
        }
        let mut numbers = Vec::with_capacity(row.parameters.len());
        for parameter in row.parameters {
            let name = parameter.name;
            numbers.push(match parameter.rule {
                Rule::Stiffness => bristle.stiffness,
                Rule::Damping => bristle.damping,
                Rule::Relaxation => bristle.beta,
                Rule::Band => self.required(path, row, parameters, name, felt.speed_dimension()),
                Rule::Positive => self.required(path, row, parameters, name, felt.dimension(parameter.unit)),
                Rule::OrElse(value) => {
                    let written = self.number(path, parameters, name, felt.dimension(parameter.unit));
                    written.unwrap_or(value)
                }
                Rule::Own => continue,
            });
            if parameter.rule == Rule::Band {
                self.warn_of_overshoot(reading, numbers[numbers.len() - 1]);
            }
        }
        Some(L::of(&numbers))
    }

    /// Warns of friction that is evaluated at a velocity of the start of the step, or of a stage, and goes from −F to F over ±ε: within a step
    /// it changes the velocity by T·F/m. Where that is more than 2·ε (`rk4`: 2.78·ε) it overshoots to and fro, and gives energy.
    fn warn_of_overshoot(&mut self, reading: LawReading<'_>, epsilon: f64) {
        let LawReading { path, spec, felt, .. } = reading;
        let limit = spec.curve.limit.greatest(felt.slip);
        let force = match spec.curve.limit.is_coefficient() {
            true => reading.normal.map(|normal| limit * normal),
            false => Some(limit),
        };
        let stable = match self.method {
            Method::ImplicitEuler | Method::Euler => 2.0,
            Method::Rk4 => 2.78,
            _ => return,
        };
        let (Some(force), Some(mass)) = (force, felt.mass) else {
            return;
        };
        let change = self.step * force / mass;
        if change > stable * epsilon {
            self.unstable = true;
            let unit = if felt.angular == Some(true) { "rad/s" } else { "m/s" };
            let (by, help) = match change.is_finite() {
                true => (
                    format!("by {change:.2e} {unit} in it"),
                    format!(
                        "use epsilon = {:.2e} {unit} or more, a step below {:.2e} s, or law = \"implicit\"",
                        change / stable,
                        self.step * stable * epsilon / change
                    ),
                ),
                false => (
                    "beyond all numbers".into(),
                    "use law = \"implicit\", or a larger mass".into(),
                ),
            };
            let message = format!(
                "epsilon = {epsilon} {unit} is too small for the step: friction changes the velocity {by}, overshoots, and gives energy"
            );
            self.warn(&format!("{path}.epsilon"), message, help);
        }
    }

    /// Warns of a given step that cannot follow a slip. A slip lasts half a period of mass and spring, π·√(m/K). With 60 steps in
    /// it `trapezoidal` has the amplitude of the set of Ozaki, Hashiguchi and Chen (2007) to 0.4 %, with 30 to 3 %, with 10 to 16 %. `newmark`, `euler` and
    /// `rk4` are explicit in R, which relaxes at the rate r·v: they need steps below 2/(r·v), `rk4` 2.78/(r·v). The greatest speed v
    /// is that of the start, that of a driver, or in stick-slip about (μ_s − μ_k)·F/√(K·m) (science of Ozaki, Hashiguchi and Chen (2007), section on step
    /// limits).
    fn warn_of_unresolved_slip(&mut self, reading: LawReading<'_>, law: &Subloading<f64>) {
        let LawReading {
            path,
            between,
            felt,
            normal,
            ..
        } = reading;
        const STEPS: f64 = 30.0;
        let (stiffness, pull) = self.springs_on(between);
        let sticks = felt.mass.filter(|_| stiffness > 0.0 && law.mu_static > law.mu_kinetic);
        let mut most = f64::INFINITY;
        let mut why = String::new();
        if let (Some(mass), Method::Trapezoidal | Method::Newmark) = (sticks, self.method) {
            let slip = std::f64::consts::PI * (mass / stiffness).sqrt();
            most = slip / STEPS;
            why = format!(
                "a slip of this mass and its springs lasts {slip:.2e} s: in {:.0} steps of {} s it is not resolved; amplitude and \
                 period of stick-slip are",
                (slip / self.step).round(),
                self.step
            );
        }
        let stable = match self.method {
            Method::Euler | Method::Newmark => 2.0,
            Method::Rk4 => 2.78,
            _ => f64::INFINITY,
        };
        let jump = match (sticks, normal) {
            (Some(mass), Some(normal)) => (law.mu_static - law.mu_kinetic) * normal / (stiffness * mass).sqrt(),
            _ => 0.0,
        };
        let speed = felt.slip.max(pull).max(jump);
        if stable / (law.r * speed) < most {
            most = stable / (law.r * speed);
            let unit = if felt.angular == Some(true) { "rad/s" } else { "m/s" };
            let what = if speed == jump {
                "amplitude and period of stick-slip are"
            } else {
                "its force is"
            };
            why = format!(
                "in a slip at up to {speed:.2e} {unit} friction settles over {:.2e} s, which steps of {} s do not resolve; {what}",
                1.0 / (law.r * speed),
                self.step
            );
        }
        if self.step > most {
            let message = format!("{why} wrong even if the run completes");
            let help = format!("use a step below {most:.1e} s, or integrator = \"stiff\", which chooses its steps");
            self.warn(&format!("{path}.law"), message, help);
        }
    }

    /// Stiffness of all springs on the bodies of a friction, and the greatest speed at the start of a driver that pulls by one.
    fn springs_on(&self, between: [Port; 2]) -> (f64, f64) {
        let (mut stiffness, mut pull) = (0.0, 0.0f64);
        for (_, element) in &self.scenario.elements {
            let ElementSpec::Spring(spring) = element else { continue };
            let driven = |port: Port| match port {
                Port::Body(body) => match self.places[body] {
                    Place::Coordinates {
                        first,
                        axes,
                        driven: true,
                    } => Some(&self.initial[first.v..first.v + axes]),
                    _ => None,
                },
                _ => None,
            };
            // What is driven neither swings nor slips.
            let held = |port: Port| between.contains(&port) && port != Port::Ground && driven(port).is_none();
            let ratios = spring.ratio.unwrap_or([1.0; 2]);
            let arms = spring.between.into_iter().zip(ratios);
            let Some((_, arm)) = arms.clone().find(|(port, _)| held(*port)) else {
                continue;
            };
            stiffness += spring.stiffness * arm * arm;
            for (port, ratio) in arms {
                let speed = driven(port).map_or(0.0, |velocity| velocity.iter().map(|v| v * v).sum::<f64>().sqrt());
                pull = pull.max((speed * ratio / arm).abs());
            }
        }
        (stiffness, pull)
    }

    /// The law of Ozaki, Hashiguchi and Chen (2007) and the paper on the trapezoidal update with all its numbers.
    fn subloading(&mut self, reading: LawReading<'_>) -> Option<Subloading<f64>> {
        let LawReading {
            path, row, spec, felt, ..
        } = reading;
        let LimitSpec::Coefficient { kinetic, static_ } = spec.curve.limit else {
            self.error(
                path,
                "the law \"subloading\" follows a normal force: it needs coefficients",
            )
            .help = Some("write mu_static = 0.4, mu_kinetic = 0.2 and normal_force = \"100 N\"".into());
            return None;
        };
        if spec.curve.stribeck_velocity.is_some() {
            self.error(
                &format!("{path}.stribeck_velocity"),
                "the law \"subloading\" falls with slip and rises with time by kappa and eta: it takes no Stribeck velocity",
            );
            return None;
        }
        let errors = self.errors.len();
        let parameters = &spec.parameters;
        let per_length = felt.angular.map(|angular| {
            if angular {
                Dimension::NONE
            } else {
                Dimension::PER_LENGTH
            }
        });
        let stiffness = self.needed(
            path,
            row,
            parameters,
            "tangential_stiffness",
            felt.stiffness_dimension(),
        );
        let kappa = self.needed(path, row, parameters, "kappa", per_length);
        let eta = self.needed(path, row, parameters, "eta", Some(Dimension::FREQUENCY));
        let own = own_evolution(parameters);
        let r = match own {
            Some(text) if !parameters.iter().any(|parameter| parameter.name == "r") => {
                self.natural_rate(path, text, felt.angular == Some(true))?
            }
            _ => self.needed(path, row, parameters, "r", per_length),
        };
        let evolution = match own {
            Some(text) if r > 0.0 && r.is_finite() => self.given_evolution(path, text, r)?,
            Some(_) => Evolution::Log,
            None => self.word(
                path,
                parameters,
                "evolution",
                &[("log", Evolution::Log), ("ratio", Evolution::Ratio)],
            ),
        };
        let mut exponent = |name: &str, reason: &str| {
            let given = parameters.iter().find(|parameter| parameter.name == name);
            if let Some(ParameterValue::Number(number)) = given.map(|parameter| &parameter.value)
                && !(number.value > 0.0 && number.value.is_finite())
            {
                let message = format!("\"{name}\" must be greater than 0, found {}: {reason}", number.value);
                self.error(&format!("{path}.{name}"), message);
                return 1.0;
            }
            self.number(path, parameters, name, Some(Dimension::NONE))
                .unwrap_or(1.0)
        };
        let exponents = (
            exponent(
                "kappa_exponent",
                "slip must lower friction less and less as it nears mu_kinetic, and not below it",
            ),
            exponent(
                "eta_exponent",
                "time must raise friction less and less as it nears mu_static, and not above it",
            ),
        );
        let mu_initial = self.number(path, parameters, "mu_initial", Some(Dimension::NONE));
        let law = Subloading {
            mu_initial: mu_initial.unwrap_or(static_),
            contact_time: self
                .number(path, parameters, "contact_time", Some(Dimension::TIME))
                .unwrap_or(0.0),
            evolution,
            update: self.word(
                path,
                parameters,
                "update",
                &[
                    ("exact-flow", Update::ExactFlow),
                    ("rates", Update::Rates),
                    ("trapezoidal", Update::Trapezoidal),
                    ("backward", Update::Backward),
                ],
            ),
            newton: self.word(
                path,
                parameters,
                "newton",
                &[
                    ("safeguarded", Newton::Safeguarded),
                    ("as-published", Newton::AsPublished),
                ],
            ),
            ..Subloading::plain(static_, kinetic, stiffness, kappa, eta, r).with_exponents(exponents.0, exponents.1)
        };
        if self.errors.len() > errors {
            return None;
        }
        if let Err(refusal) = law.check() {
            self.error(&format!("{path}.{}", refusal.parameter), refusal.reason);
            return None;
        }
        self.warn_of_idle_updates(path, parameters, &law);
        if let Some(mass) = felt.mass {
            let key = format!("{path}.tangential_stiffness");
            self.warn_of_unresolved_bristle(&key, stiffness, law.contact_time * stiffness, mass);
            // Whatever damps that vibration, be it the method, decides the next cycle.
            if self.scenario.stick_slip.is_some() && law.contact_time == 0.0 {
                let key = format!("{path}.contact_time");
                let message = "without contact_time the contact vibrates for ever after a slip, and amplitude and period of stick-slip \
                               depend on the method and its step";
                let time = 0.02 * (mass / stiffness).sqrt();
                let help = format!(
                    "contact_time = {time:.1e} s would damp it by 1 % of critical, and make the cycle well defined"
                );
                self.warn(&key, message, help);
            }
        }
        self.groups.as_published |= law.newton == Newton::AsPublished;
        if reading.load.is_some() {
            self.warn_of_snapping(reading, &law);
            self.warn_of_unresolved_slip(reading, &law);
        }
        Some(law)
    }

    /// U(R) of the user's own, for this r.
    fn given_evolution(&mut self, path: &str, text: &str, r: f64) -> Option<Evolution> {
        match GivenEvolution::of(text, r) {
            Ok(evolution) => Some(Evolution::Own(evolution)),
            Err(reason) => {
                self.refuse_evolution(path, &reason);
                None
            }
        }
    }

    /// The r of a U that is written without it: what it is in U = −r·ln R.
    fn natural_rate(&mut self, path: &str, text: &str, angular: bool) -> Option<f64> {
        let reason = match natural_rate(text) {
            Ok(r) if r > 0.0 && r.is_finite() => {
                let unit = if angular { "1/rad" } else { "1/m" };
                return Some(self.choose(format!("{path}.r"), r, unit, "U at R = 1/e".into()));
            }
            Ok(value) => format!("U must be above 0 below R = 1, but it is {value} at R = 1/e"),
            Err(error) => format!("{error}; without the key `r` it is an expression in R alone"),
        };
        self.refuse_evolution(path, &reason);
        None
    }

    fn refuse_evolution(&mut self, path: &str, reason: &str) {
        self.error(&format!("{path}.evolution"), format!("\"evolution\": {reason}"))
            .help = Some(OF_EVOLUTION.into());
    }

    /// Words on steps of given displacement that do nothing, or do not fit the motion of the run.
    fn warn_of_idle_updates(&mut self, path: &str, parameters: &[ParameterSpec], law: &Subloading<f64>) {
        if path.ends_with(".friction") {
            let words = parameters.iter().map(|parameter| parameter.name.as_str());
            let idle: Vec<_> = words.filter(|name| ["update", "newton"].contains(name)).collect();
            for word in idle {
                let message = format!("{word} has no effect in a contact or joint: the law goes by its rates there");
                self.warn(&format!("{path}.{word}"), message, "leave it out");
            }
        }
        let backward = self.method == Method::Trapezoidal && self.scenario.simulation.backward_motion;
        if backward && law.update == Update::Trapezoidal {
            self.warn(
                &format!("{path}.update"),
                "this update takes the displacement for that of a trapezoidal rule, which the motion by backward differences does not have",
                "use update = \"backward\" or \"exact-flow\", or leave motion = \"backward\" out",
            );
        }
    }

    /// A number that a law cannot do without; 0 is allowed.
    fn needed(
        &mut self,
        path: &str,
        law: &Law,
        parameters: &[ParameterSpec],
        name: &str,
        dimension: Option<Dimension>,
    ) -> f64 {
        if !parameters.iter().any(|parameter| parameter.name == name) {
            let unit = law
                .parameters
                .iter()
                .find(|known| known.name == name)
                .map_or("", |known| known.unit);
            self.error(path, format!("the law \"{}\" needs \"{name}\"", law.name))
                .help = Some(format!("a number in {unit}: see `stickslip laws {}`", law.name));
        }
        self.number(path, parameters, name, dimension).unwrap_or(1.0)
    }

    /// One of several words; the first where none is written.
    fn word<T: Copy>(&mut self, path: &str, parameters: &[ParameterSpec], name: &str, words: &[(&str, T)]) -> T {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
            return words[0].1;
        };
        if let ParameterValue::Word(written) = &parameter.value
            && let Some((_, meaning)) = words.iter().find(|(word, _)| word == written)
        {
            return *meaning;
        }
        let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let help = match &parameter.value {
            ParameterValue::Word(written) => nearest(written, words.iter().map(|(word, _)| *word)),
            _ => None,
        };
        self.error(
            &format!("{path}.{name}"),
            format!("\"{name}\" is {}", known.join(" or ")),
        )
        .help = match help {
            Some(near) => Some(format!("did you mean \"{near}\"?")),
            None if name == "evolution" && words[0].0 == "log" => Some(OF_EVOLUTION.into()),
            None => None,
        };
        words[0].1
    }

    /// Warns where the friction of Ozaki, Hashiguchi and Chen (2007) and the paper on the trapezoidal update falls faster with slip than the contact unloads.
    fn warn_of_snapping(&mut self, reading: LawReading<'_>, law: &Subloading<f64>) {
        let LawReading { path, in_contact, .. } = reading;
        let most = match reading.load {
            _ if in_contact => reading.felt.pressed,
            Some(LoadSource::Signal(signal)) => {
                Some(self.profiles[signal].peak(0.0, self.scenario.simulation.duration, 1000))
            }
            _ => None,
        };
        let Some(most) = most else { return };
        let margin = law.unique_above(most);
        if law.stiffness > margin {
            return;
        }
        let key = format!("{path}.tangential_stiffness");
        if !(most + margin).is_finite() {
            let message = "friction can fall faster with slip than any contact is stiff";
            self.warn(&key, message, "use a smaller normal force, kappa or r");
            return;
        }
        if in_contact {
            let message = format!(
                "under {most:.3e} N, which weight and touch-down let expect, friction can fall by {margin:.3e} N per metre of slip, as \
                 much as the contact is stiff: there it may snap, which no step is short enough to follow"
            );
            let help = format!(
                "use tangential_stiffness above {margin:.3e}, or kappa below {:.3e}",
                law.kappa * law.stiffness / margin
            );
            self.warn(&key, message, help);
            return;
        }
        let message = format!(
            "friction can fall by {margin:.4e} N per metre of slip, as much as the contact is stiff: at rest the motion alone \
             does not tell the force"
        );
        let help = "every step has a solution all the same; a larger tangential_stiffness or a smaller kappa makes it the only one";
        self.warn(&key, message, help);
    }

    fn approximate(&mut self, path: &str, parameters: &[ParameterSpec]) -> bool {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == "solution") else {
            return false;
        };
        match &parameter.value {
            ParameterValue::Word(word) if word == "exact" => false,
            ParameterValue::Word(word) if word == "approximate" => true,
            _ => {
                self.error(
                    &format!("{path}.solution"),
                    "\"solution\" is \"exact\" or \"approximate\"",
                );
                false
            }
        }
    }

    fn curve(&mut self, path: &str, law: &Law, spec: &FrictionLawSpec) -> Option<SteadyCurve> {
        let (kinetic, holding) = match &spec.curve.limit {
            LimitSpec::Force { kinetic, static_ } | LimitSpec::Coefficient { kinetic, static_ } => (*kinetic, *static_),
            LimitSpec::Given {
                forward,
                backward,
                static_,
                ..
            } => return self.given_curve(path, law, (forward, backward.as_ref()), *static_),
        };
        let falls = spec.curve.stribeck_velocity.is_some();
        if holding > kinetic && !falls && law.needs_stribeck {
            let message = format!(
                "the law \"{}\" keeps no memory of sticking, so static > kinetic needs a Stribeck velocity",
                law.name
            );
            self.error(&format!("{path}.law"), message).help =
                Some("add for example stribeck_velocity = \"1 mm/s\", or use law = \"implicit\"".into());
            return None;
        }
        Some(SteadyCurve::Stribeck(Stribeck::new(
            kinetic,
            holding,
            spec.curve.viscous,
            spec.curve.stribeck_velocity,
            spec.curve.stribeck_exponent,
        )))
    }

    /// A curve of points or expressions.
    fn given_curve(
        &mut self,
        path: &str,
        law: &Law,
        (forward, backward): (&CurveSide, Option<&CurveSide>),
        static_: Option<f64>,
    ) -> Option<SteadyCurve> {
        let sides = [("curve", Some(forward)), ("curve_backward", backward)];
        for (key, side) in sides.into_iter().filter_map(|(key, side)| Some((key, side?))) {
            if let CurveSide::Points(speed, force) = side
                && Table::new(speed, force).is_none()
            {
                self.error(
                    &format!("{path}.table"),
                    "a friction table needs speeds that begin at 0 and increase, and forces that are not negative",
                );
                return None;
            }
            if let Some((speed, value)) = side.fault() {
                let value = match value.is_finite() {
                    true => format!("{value}"),
                    false => "not a finite number".to_string(),
                };
                let message = format!("at a speed of {speed:.3e} the friction is {value}");
                self.error(&format!("{path}.{key}"), message).help =
                    Some("a friction curve is finite and not negative at every speed v from 0 on".into());
                return None;
            }
        }
        let curve = GivenCurve::new(forward.clone(), backward.cloned(), None);
        let rest = [curve.holding(1.0), curve.holding_backward(1.0)];
        if let Some(static_) = static_ {
            let most = f64::max(rest[0], rest[1]);
            if static_ < most {
                let message = format!("the static limit ({static_}) is below the curve at rest ({most})");
                self.error(path, message).help = Some(format!(
                    "make it at least {most}, or leave it out: the curve then holds what it begins with"
                ));
                return None;
            }
            if law.needs_stribeck && rest.iter().any(|level| static_ > *level) {
                let message = format!(
                    "the law \"{}\" keeps no memory of sticking, so it cannot hold more than its curve at rest",
                    law.name
                );
                self.error(&format!("{path}.law"), message).help = Some(
                    "let the curve begin at the static limit and fall from there, or use law = \"implicit\"".into(),
                );
                return None;
            }
        }
        let curve = GivenCurve::new(forward.clone(), backward.cloned(), static_);
        Some(SteadyCurve::Given(Box::new(curve)))
    }

    /// What the curve is multiplied with.
    fn load(&mut self, path: &str, spec: &FrictionLawSpec, between: [Port; 2], in_contact: bool) -> Option<LoadSource> {
        if let Some(normal) = &spec.normal_force {
            return Some(match normal {
                NormalForce::Profile(profile) => LoadSource::Signal(self.signal(profile)),
                NormalForce::Element(element) => {
                    if let ElementSpec::Spring(spring) = &self.scenario.elements[*element].1
                        && self.axes_between(spring.between) > 1
                        && spring.length == 0.0
                    {
                        let name = &self.scenario.elements[*element].0;
                        let message = format!("the spring \"{name}\" pulls in every direction: it is never compressed");
                        self.error(&format!("{path}.normal_force"), message).help =
                            Some("use a spring on one axis, a stop or a contact".into());
                        return None;
                    }
                    LoadSource::Element(*element)
                }
            });
        }
        let coefficient = spec.curve.limit.is_coefficient();
        if in_contact || !coefficient {
            return Some(LoadSource::Signal(self.unit_signal()));
        }
        match self.scenario.weight_between(between) {
            Some(force) if force > 0.0 => Some(LoadSource::Signal(self.signal(&Profile::Constant(force)))),
            _ => {
                self.error(path, "a friction coefficient needs a normal force, and none follows from gravity here").help = Some(
                    "write normal_force = \"… N\" or normal_force = { element = \"…\" }, give the mass an axis under gravity, \
                     or give the limit as kinetic = \"… N\""
                        .into(),
                );
                None
            }
        }
    }

    /// Warns where the implicit law's equation has several roots: T/M·(steepest fall of the curve) ≥ 1. `load` is the
    /// largest factor of the curve, where it is known.
    pub(super) fn warn_of_several_roots(
        &mut self,
        path: &str,
        curve: &SteadyCurve,
        load: Option<f64>,
        inverse_mass: f64,
    ) {
        let fall = Curve::<f64>::steepest_fall(curve);
        let slope = fall * inverse_mass;
        let choice = "it sticks where that is possible, and slides at the highest speed otherwise";
        match load {
            Some(load) if slope * load * self.step >= 1.0 => {
                let help = if slope.is_finite() {
                    format!(
                        "use a step below {:.3e} s, or a curve that falls less steeply",
                        1.0 / (slope * load)
                    )
                } else {
                    "a stribeck_exponent below 1 makes the curve infinitely steep at rest, at any step".to_string()
                };
                let message =
                    format!("the friction curve falls so steeply that a step has several solutions; {choice}");
                self.warn(path, message, help);
            }
            None if slope > 0.0 => {
                let most = 1.0 / (slope * self.step);
                let message = format!("above a normal force of {most:.3e} N a step has several solutions; {choice}");
                self.warn(path, message, "use a smaller step, or a curve that falls less steeply");
            }
            _ => (),
        }
    }
}
