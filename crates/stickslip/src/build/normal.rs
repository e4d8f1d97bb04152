//! Contact laws as written in a scenario become laws with numbers; what is not written follows from the impact.

use super::Builder;
use super::laws::{AtSlip, Damped, Stiffness};
use crate::element::normal::AnyNormal;
use crate::integrate::Method;
use crate::quantity::Dimension;
use crate::scenario::{NormalLawSpec, ParameterSpec, ParameterValue};
use stickslip_core::contact::hunt_crossley::HuntCrossley;
use stickslip_core::contact::kelvin_voigt::KelvinVoigt;
use stickslip_core::contact::proxy::Proxy;
use stickslip_core::contact::relaxed::{Circumstances, Relaxed, alpha_for, alpha_for_rebound, impact};
use stickslip_core::normal_laws;
use stickslip_core::registry::{self, Face, Family};

/// A normal force of a contact or stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NormalKind {
    Compliant(AnyNormal),
    Rigid { restitution: f64 },
}

/// What presses on one point of a contact or on a stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtNormal {
    /// From which stiffness and damping are chosen.
    pub felt: AtSlip,
    /// Mass felt along the normal; `None` where nothing is free to move.
    pub mass: Option<f64>,
    /// Force at rest, where it follows from gravity.
    pub weight: Option<f64>,
    /// The first impact, where it follows from the start.
    pub landing: Option<Landing>,
    /// How mass and weight were found.
    pub how: &'static str,
}

impl AtNormal {
    /// The greatest normal force that weight and touch-down tell of, N, as if nothing damped it.
    pub(super) fn greatest(&self, law: &NormalKind) -> Option<f64> {
        let NormalKind::Compliant(law) = law else {
            return self.weight;
        };
        let impact = self.landing.zip(self.mass).map(|(landing, mass)| {
            let energy = 0.5 * mass * landing.speed * landing.speed;
            // The depth d at which K·dⁿ⁺¹/(n + 1) is the energy, and the force K·dⁿ there.
            let [stiffness, exponent] = law.elastic();
            let depth = libm::pow((exponent + 1.0) * energy / stiffness, 1.0 / (exponent + 1.0));
            stiffness * libm::pow(depth, exponent)
        });
        match (self.weight, impact) {
            (Some(weight), Some(impact)) => Some(weight + impact),
            (weight, impact) => weight.or(impact),
        }
    }
}

/// The first impact as far as the start tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landing {
    /// Speed of touch-down.
    pub speed: f64,
    /// Acceleration by gravity along the normal.
    pub load: f64,
    /// Whether gravity pulls toward the surface and nothing else acts on what falls.
    pub falls: bool,
    /// Whether the motion is a rotation.
    pub angular: bool,
}

impl Landing {
    /// From gap, speed and acceleration toward the surface: v² = v₀² + 2·g·gap. `None` where it does not get there, or
    /// as slowly as a body that is put down. `free`: nothing but gravity acts.
    pub(super) fn expected(gap: f64, approach: f64, toward: f64, angular: bool, free: bool) -> Option<Self> {
        let square = approach * approach + 2.0 * toward * gap.max(0.0);
        let speed = square.max(0.0).sqrt();
        let arrives = toward > 0.0 || approach > 0.0;
        (arrives && speed > PUT_DOWN).then(|| Self {
            speed,
            load: toward.abs(),
            falls: toward > 0.0 && free,
            angular,
        })
    }

    /// Whether α makes up for the part of the rebound that the weight takes: it must be known to act, and a contact that
    /// hardly damps must not be the price.
    fn made_up_for(&self, loss: f64) -> bool {
        self.falls && loss <= TOO_SOFT
    }

    fn speed_text(&self) -> String {
        format!("{:.4} {}", self.speed, if self.angular { "rad/s" } else { "m/s" })
    }
}

/// Speed below which a touch-down is no impact, m/s or rad/s.
const PUT_DOWN: f64 = 0.01;

/// Part of the rebound that gravity costs during the impact where the stiffness is free to be chosen for that, and up to
/// which it is not spoken of where α does not make up for it.
const LOSS: f64 = 0.01;
/// Part by which the next impact may miss the restitution where α makes up for the loss at the first. The loss grows with
/// 1/speed, so that one at the rebound r misses by loss·(1/r − 1).
const NEXT: f64 = 0.02;
/// The part that gravity costs above which α does not make up for it.
const TOO_SOFT: f64 = 0.3;

/// Largest part of the rebound that gravity may cost at the first impact, α making up for it or not, without a word.
fn unseen_loss(restitution: f64, made_up_for: bool) -> f64 {
    if made_up_for {
        NEXT / (1.0 / restitution - 1.0).max(1e-9)
    } else {
        LOSS
    }
}

/// Largest g/(v√(K/m)) of a stiffness chosen without a step: an impact then enters by about 1 % of the height of its fall.
const LARGEST_LOAD: f64 = 0.005;

/// T√(K/m) and T/α up to which what explicit Euler adds to a rebound hardly depends on where in a step it touches down.
const EULER_ANGLE: f64 = 0.05;
const EULER_PART: f64 = 0.25;

/// β·√(K/M) of a contact with a wanted restitution, with the smallest α·√(K/M) for which it is used. The restitution of
/// eq 15 falls with α, and the larger β is the lower it gets, but small α need small steps: each pair serves the
/// restitutions that the one before cannot reach.
const LADDER: [[f64; 2]; 5] = [[1.0, 0.2], [2.0, 0.2], [3.0, 0.1], [5.0, 0.05], [8.0, 0.02]];

/// Whose α is taken where none gives the restitution in steps of explicit Euler.
const IN_FINE_STEPS: &str = "a free impact in fine steps";

/// Names given among the parameters.
fn given(parameters: &[ParameterSpec], name: &str) -> bool {
    parameters.iter().any(|parameter| parameter.name == name)
}

impl Builder<'_> {
    /// The normal law of a contact or a stop.
    pub(super) fn normal_law(
        &mut self,
        path: &str,
        spec: Option<&NormalLawSpec>,
        pressed: AtNormal,
    ) -> Option<NormalKind> {
        let Some(spec) = spec else {
            // The natural law of the integrator.
            return Some(if self.method.implicit() {
                NormalKind::Rigid { restitution: 0.0 }
            } else {
                NormalKind::Compliant(AnyNormal::KelvinVoigt(self.kelvin_voigt(path, &[], pressed)?))
            });
        };
        let law = self.law_row(path, Family::Contact, &spec.law)?;
        if !self.check_method(path, law) {
            return None;
        }
        let parameters = &spec.parameters;
        self.check_parameters(path, law, parameters);
        if law.face == Face::Resolve {
            return Some(NormalKind::Rigid {
                restitution: self.restitution(path, parameters).unwrap_or(0.0),
            });
        }
        macro_rules! compliant {
            ($($variant:ident: $law:ty, $reader:ident;)*) => {{
                type R = f64;
                $(
                    if law.name == <$law as stickslip_core::contact::NormalLaw<f64>>::NAME {
                        let law = self.$reader(path, parameters, pressed)?;
                        return Some(NormalKind::Compliant(AnyNormal::$variant(law)));
                    }
                )*
            }};
        }
        normal_laws!(compliant!);
        let message = format!("the law \"{}\" has a row, but is in no list of laws", law.name);
        self.error(&format!("{path}.law"), message);
        None
    }

    /// The restitution of a law that is known to be rigid.
    pub(super) fn rigid_restitution(&mut self, path: &str, spec: &NormalLawSpec) -> Option<f64> {
        let law = self.law_row(path, Family::Contact, &spec.law)?;
        self.check_parameters(path, law, &spec.parameters);
        Some(self.restitution(path, &spec.parameters).unwrap_or(0.0))
    }

    fn proxy_contact(&mut self, path: &str, parameters: &[ParameterSpec], pressed: AtNormal) -> Option<Proxy<f64>> {
        let chosen = self.stiffness_and_damping(path, parameters, pressed.felt, Damped::Relaxation);
        Some(Proxy {
            stiffness: chosen.stiffness,
            beta: chosen.damping / chosen.stiffness,
        })
    }

    fn hunt_crossley(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        pressed: AtNormal,
    ) -> Option<HuntCrossley<f64>> {
        let law = registry::law(
            Family::Contact,
            <HuntCrossley<f64> as stickslip_core::contact::NormalLaw<f64>>::NAME,
        )?;
        let exponent = self.number(path, parameters, "exponent", Some(Dimension::NONE));
        if exponent.is_some_and(|exponent| exponent < 1.0) {
            self.error(&format!("{path}.exponent"), "\"exponent\" must be 1 or more")
                .help = Some("1.5 is that of two spheres (Hertz), 1 a linear spring".into());
        }
        if let Some(ParameterValue::Number(number)) =
            parameters.iter().find(|p| p.name == "stiffness").map(|p| &p.value)
            && number.dimension.is_some()
            && exponent != Some(1.0)
        {
            let exponent = exponent.unwrap_or(1.5);
            let message = format!("the stiffness of \"{}\" is in N/m^{exponent}", law.name);
            self.error(&format!("{path}.stiffness"), message).help =
                Some("write it as a plain number in SI units".into());
        }
        let unit = pressed.felt.angular.map(|angular| Dimension {
            length: if angular { 0 } else { -1 },
            ..Dimension::TIME
        });
        Some(HuntCrossley {
            stiffness: self.required(path, law, parameters, "stiffness", None),
            damping: self.number(path, parameters, "damping", unit).unwrap_or(0.0),
            exponent: exponent.unwrap_or(1.5),
        })
    }

    fn kelvin_voigt(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        pressed: AtNormal,
    ) -> Option<KelvinVoigt<f64>> {
        let felt = pressed.felt;
        let Stiffness { stiffness, damping, .. } = self.stiffness_and_damping(path, parameters, felt, Damped::Damping);
        self.warn_of_gained_energy(path, stiffness, felt.mass.unwrap_or(1.0));
        Some(KelvinVoigt { stiffness, damping })
    }

    fn restitution(&mut self, path: &str, parameters: &[ParameterSpec]) -> Option<f64> {
        let restitution = self.number(path, parameters, "restitution", Some(Dimension::NONE))?;
        if restitution > 1.0 {
            self.error(
                &format!("{path}.restitution"),
                "a restitution above 1 would make energy from nothing",
            );
        }
        Some(restitution)
    }

    /// Xiong, Kikuuwe and Yamamoto, eq 15. The paper leaves the choice of K, β and α open; here they follow from the free impact of a mass,
    /// whose restitution depends on α√(K/M) and β√(K/M) alone.
    fn relaxed_contact(&mut self, path: &str, parameters: &[ParameterSpec], pressed: AtNormal) -> Option<Relaxed<f64>> {
        let before = self.errors.len();
        self.check_combination(path, parameters);
        let time = Some(Dimension::TIME);
        let (beta, alpha) = (
            self.positive(path, parameters, "beta", time),
            self.positive(path, parameters, "alpha", time),
        );
        if let (Some(beta), Some(alpha)) = (beta, alpha)
            && alpha > beta
        {
            let message = format!("alpha ({alpha} s) is above beta ({beta} s): impacts would make energy from nothing");
            self.error(&format!("{path}.alpha"), message).help = Some("use 0 < alpha <= beta".into());
        }
        let mut wanted = self.restitution(path, parameters);
        if wanted.is_some() && pressed.mass.is_none() {
            let message = "a restitution needs a body that is free to move: here the motion is prescribed";
            self.error(&format!("{path}.restitution"), message).help = Some("give beta and alpha".into());
        }
        if self.errors.len() > before {
            return None;
        }
        let mass = pressed.mass.unwrap_or(1.0);
        let whose = match pressed.mass {
            Some(mass) => format!("m = {mass:.4} {}", pressed.how),
            None => "m = 1, since nothing here is free to move".to_string(),
        };
        if wanted.is_none() && beta.is_none() {
            let reason = "half of the speed, where neither restitution nor beta and alpha are given".to_string();
            wanted = Some(self.choose(format!("{path}.restitution"), 0.5, "", reason));
        }
        // α and β in units of √(M/K), where they follow from the restitution alone.
        let scaled = match (wanted, beta) {
            (Some(restitution), None) => Some(self.climb(path, restitution)?),
            _ => None,
        };
        let stiffness = self.relaxed_stiffness(path, parameters, pressed, mass, &whose, scaled)?;
        let unit_time = (mass / stiffness).sqrt();
        // That of the free impact, where the restitution is met at all.
        let mut free_alpha = None;
        let (beta, alpha) = match (scaled, beta, alpha) {
            (Some([a, b]), _, _) => {
                let restitution = wanted.unwrap_or(1.0);
                let beta_reason = format!("{b}*sqrt(m/stiffness) with {whose}, for a restitution of {restitution}");
                let simulated = self.alpha_as_simulated(restitution, [a, b], unit_time, pressed.landing);
                free_alpha = simulated.is_some().then_some(a * unit_time);
                let (a, which) = simulated.unwrap_or((a, IN_FINE_STEPS.to_string()));
                let alpha_reason = format!("{:.4}*beta: {which} then has a restitution of {restitution}", a / b);
                let beta = self.choose(format!("{path}.beta"), b * unit_time, "s", beta_reason);
                let alpha = if a == b { beta } else { a * unit_time };
                (beta, self.choose(format!("{path}.alpha"), alpha, "s", alpha_reason))
            }
            (None, Some(beta), Some(alpha)) => (beta, alpha),
            (None, Some(beta), None) => {
                let b = beta / unit_time;
                let (alpha, reason) = match wanted {
                    None => (
                        0.5 * beta,
                        "beta/2, where neither alpha nor restitution is given".to_string(),
                    ),
                    Some(restitution) => match alpha_for(restitution, b, 1e-3 * b) {
                        Some(a) => {
                            let simulated = self.alpha_as_simulated(restitution, [a, b], unit_time, pressed.landing);
                            free_alpha = simulated.is_some().then_some(a * unit_time);
                            let (a, which) = simulated.unwrap_or((a, IN_FINE_STEPS.to_string()));
                            let reason = format!("{:.4}*beta: {which} of {whose} then has that restitution", a / b);
                            ((a * unit_time).min(beta), reason)
                        }
                        None => {
                            // The bounds of `alpha_for`.
                            let least = f64::min(b, f64::max(1e-3 * b, 0.01));
                            self.unreachable(path, restitution, impact(least, b).restitution);
                            return None;
                        }
                    },
                };
                (beta, self.choose(format!("{path}.alpha"), alpha, "s", reason))
            }
            // `check_combination` refused alpha without beta.
            (None, None, _) => return None,
        };
        let unmet = wanted.is_some() && free_alpha.is_none();
        self.warn_of_unresolved_impact(path, unit_time, alpha, wanted.is_some(), unmet);
        self.warn_of_gained_energy(path, 1.0, unit_time * unit_time);
        if given(parameters, "restitution")
            && let (Some(restitution), Some(alpha), Some(landing)) = (wanted, free_alpha, pressed.landing)
        {
            let law = Relaxed { stiffness, beta, alpha };
            self.warn_of_weight(path, parameters, landing, (restitution, mass), law);
        }
        Some(Relaxed { stiffness, beta, alpha })
    }

    /// α over √(M/K) for a restitution, from that of a free impact: the weight takes its part of the rebound and explicit
    /// Euler adds its own, so α is chosen for the impact as it will be simulated. Also what impact that is, in words. `None`
    /// where no α makes up for the steps of Euler.
    fn alpha_as_simulated(
        &self,
        restitution: f64,
        [a, b]: [f64; 2],
        unit_time: f64,
        landing: Option<Landing>,
    ) -> Option<(f64, String)> {
        let relative = |landing: &Landing| landing.load * unit_time / landing.speed;
        let slope = impact(a, b).loss_under_load();
        let landing = landing.filter(|landing| landing.made_up_for(slope * relative(landing)));
        let circumstances = Circumstances {
            load: landing.as_ref().map_or(0.0, relative),
            euler_step: (self.method == Method::Euler).then_some(self.step / unit_time),
        };
        if circumstances.free() {
            return Some((a, "a free impact".to_string()));
        }
        // Euler needs more damping than the free impact, and must stay well inside the step at which α turns unstable.
        let least = circumstances.euler_step.map_or(0.5 * a, |step| f64::max(0.5 * a, step));
        let a = alpha_for_rebound(restitution, b, least, &circumstances)?;
        let mut words = match landing {
            Some(landing) => format!(
                "the touch-down at {} expected here, under the weight,",
                landing.speed_text()
            ),
            None => "a free impact".to_string(),
        };
        if circumstances.euler_step.is_some() {
            words += " in steps of explicit Euler";
        }
        Some((a, words))
    }

    /// Refuses parameters that say the same thing twice, or half of it.
    fn check_combination(&mut self, path: &str, parameters: &[ParameterSpec]) {
        for (key, other, help) in [
            (
                "alpha",
                "restitution",
                "alpha sets the restitution: keep one of the two",
            ),
            (
                "penetration",
                "stiffness",
                "penetration sets the stiffness: keep one of the two",
            ),
        ] {
            if given(parameters, key) && given(parameters, other) {
                self.error(
                    &format!("{path}.{key}"),
                    format!("both \"{key}\" and \"{other}\" are given"),
                )
                .help = Some(help.into());
            }
        }
        for (key, other, help) in [
            ("alpha", "beta", "write both, or restitution in place of them"),
            (
                "impact_speed",
                "penetration",
                "it is the speed at which that depth is reached",
            ),
        ] {
            if given(parameters, key) && !given(parameters, other) {
                self.error(
                    &format!("{path}.{key}"),
                    format!("\"{key}\" is given without \"{other}\""),
                )
                .help = Some(help.into());
            }
        }
        if given(parameters, "impact_speed") && given(parameters, "beta") {
            self.error(
                &format!("{path}.impact_speed"),
                "the stiffness for an impact follows where beta and alpha are chosen too",
            )
            .help = Some("write restitution in place of beta and alpha, or give the stiffness".into());
        }
    }

    /// α and β over √(M/K) for a restitution.
    fn climb(&mut self, path: &str, restitution: f64) -> Option<[f64; 2]> {
        for [b, least] in LADDER {
            if let Some(a) = alpha_for(restitution, b, least) {
                return Some([a, b]);
            }
        }
        let [b, least] = LADDER[LADDER.len() - 1];
        self.unreachable(path, restitution, impact(least, b).restitution);
        None
    }

    fn unreachable(&mut self, path: &str, restitution: f64, least: f64) {
        let message = format!(
            "the law \"relaxed\" cannot have a restitution of {restitution} here: it pushes until it has let go"
        );
        // Rounded up, so that the value shown can be written.
        let least = f64::min(1.0, (least * 1000.0).ceil() / 1000.0);
        self.error(&format!("{path}.restitution"), message).help = Some(format!(
            "use {least} or more, a larger beta where it is given, or the law \"rigid\" with integrator = \"implicit-euler\" for 0"
        ));
    }

    fn relaxed_stiffness(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        pressed: AtNormal,
        mass: f64,
        whose: &str,
        scaled: Option<[f64; 2]>,
    ) -> Option<f64> {
        let felt = pressed.felt;
        if let Some(stiffness) = self.positive(path, parameters, "stiffness", felt.stiffness_dimension()) {
            return Some(stiffness);
        }
        let key = format!("{path}.stiffness");
        let unit = if felt.angular == Some(true) { "Nm/rad" } else { "N/m" };
        if let Some(depth) = self.positive(path, parameters, "penetration", felt.length_dimension()) {
            if depth == 0.0 {
                return None;
            }
            if let Some(speed) = self.positive(path, parameters, "impact_speed", felt.speed_dimension()) {
                let [a, b] = scaled?;
                let rate = impact(a, b).depth * speed / depth;
                let reason = format!("an impact at {speed} enters by {depth}, with {whose}");
                return Some(self.choose(key, mass * rate * rate, unit, reason));
            }
            let Some(weight) = pressed.weight.filter(|weight| *weight > 0.0) else {
                self.error(
                    &format!("{path}.penetration"),
                    "there is no weight here that presses the contact at rest",
                )
                .help = Some("add impact_speed = \"1 m/s\", the impact it belongs to, or give the stiffness".into());
                return None;
            };
            let reason = format!("the weight of {weight:.4} at rest enters by {depth}");
            return Some(self.choose(key, weight / depth, unit, reason));
        }
        if self.method.chooses_steps() {
            // `step` is the interval of the output: it says nothing about the impact.
            let allowed = scaled.map_or(LARGEST_LOAD, |[a, b]| {
                f64::min(LARGEST_LOAD, LOSS / impact(a, b).loss_under_load().max(1e-9))
            });
            let known = pressed.landing.filter(|landing| landing.load > 0.0);
            let (speed, load) = known.map_or((1.0, 9.81), |landing| (landing.speed, landing.load));
            let rate = load / (speed * allowed);
            let from = if known.is_some() {
                "the touch-down expected from the start"
            } else {
                "assumed, since no fall follows from the start"
            };
            let reason = format!(
                "m*(g/({allowed:.2e}*v))^2 with {whose}, g = {load:.4}, v = {speed:.4} ({from}): the weight then costs 1 % of \
                 the rebound or less"
            );
            return Some(self.choose(key, mass * rate * rate, unit, reason));
        }
        // The kinks at touch-down and release cost the method of fourth order (angle per step)² of the rebound.
        let (finest, part) = if self.method == Method::Euler {
            (EULER_ANGLE, EULER_PART)
        } else {
            (0.2, 1.0)
        };
        let angle = scaled.map_or(finest, |[a, _]| f64::min(finest, part * a));
        let rate = angle / self.step;
        let reason = format!("m*({angle:.3}/step)^2 with {whose} and step = {} s", self.step);
        Some(self.choose(key, mass * rate * rate, unit, reason))
    }

    /// Warns where the weight during the impact costs so much of the rebound that the restitution is not met, or only once.
    fn warn_of_weight(
        &mut self,
        path: &str,
        parameters: &[ParameterSpec],
        landing: Landing,
        (restitution, mass): (f64, f64),
        law: Relaxed<f64>,
    ) {
        let rate = (law.stiffness / mass).sqrt();
        let slope = impact(law.alpha * rate, law.beta * rate).loss_under_load();
        let loss = slope * landing.load / (landing.speed * rate);
        let made_up_for = landing.made_up_for(loss);
        let unseen = unseen_loss(restitution, made_up_for);
        if loss <= unseen * (1.0 + 1e-6) {
            return;
        }
        let part = if loss < 0.5 {
            format!("about {:.1} %", 100.0 * loss)
        } else {
            "most".to_string()
        };
        let message = if made_up_for {
            format!(
                "the contact is soft for this restitution: the first touch-down, at {} as expected here, meets it, the next \
                 one misses it by about {:.1} %, and later ones by more, as the weight takes more of a slower rebound",
                landing.speed_text(),
                100.0 * loss * (1.0 / restitution - 1.0)
            )
        } else {
            // Other forces may balance it.
            let takes = if landing.falls { "takes" } else { "may take" };
            format!(
                "the contact is too soft for this restitution: at the touch-down at {} expected here, the weight during \
                 the impact {takes} {part} of the rebound",
                landing.speed_text()
            )
        };
        let factor = unseen / loss;
        let stiffness = law.stiffness / (factor * factor);
        let own = given(parameters, "stiffness") || given(parameters, "penetration");
        let help = if self.method.chooses_steps() {
            format!("use a stiffness of {stiffness:.2e} or more")
        } else if own {
            let step = factor * self.accurate_step(1.0 / rate, law.alpha);
            format!("use a stiffness of {stiffness:.2e} or more, with a step below {step:.2e} s")
        } else {
            let step = factor * self.step;
            // Where the steps are chosen the weight costs `LOSS`.
            let other = if unseen >= LOSS {
                ", or integrator = \"adaptive\""
            } else {
                ""
            };
            format!("use a step of {step:.2e} s or less{other}")
        };
        self.warn(path, message, help);
    }

    /// Warns of a contact that the rules of Newmark do not resolve: they keep the energy of a spring at any step, but not where the
    /// spring begins and ends within a step.
    fn warn_of_gained_energy(&mut self, path: &str, stiffness: f64, mass: f64) {
        let rate = (stiffness / mass).sqrt();
        if self.method.moves_masses_only() && self.step * rate > 0.5 * (1.0 + 1e-9) {
            let message = format!(
                "the step is too large for this contact: {:.2} radians of its vibration per step, and an impact may gain energy",
                self.step * rate
            );
            let help = format!("use a step below {:.2e} s, or a softer contact", 0.5 / rate);
            self.warn(path, message, help);
        }
    }

    /// A step with which an impact has the rebound that is wanted.
    fn accurate_step(&self, unit_time: f64, alpha: f64) -> f64 {
        let (angle, part) = if self.method == Method::Euler {
            (EULER_ANGLE, EULER_PART)
        } else {
            (0.4, 1.0)
        };
        f64::min(angle * unit_time, part * alpha)
    }

    /// Warns of a contact whose impacts the step does not resolve.
    fn warn_of_unresolved_impact(&mut self, path: &str, unit_time: f64, alpha: f64, restitution: bool, unmet: bool) {
        if self.method.chooses_steps() {
            return;
        }
        let step = self.step;
        let euler = self.method == Method::Euler;
        let limit = f64::min(if euler { 2.0 } else { 2.78 } * alpha, 2.3 * unit_time);
        let accurate = self.accurate_step(unit_time, alpha);
        // What explicit Euler adds is made up for as far as it can be.
        let inaccurate = restitution && !euler && step > accurate * (1.0 + 1e-9);
        self.unstable |= step > limit;
        let message = if step > limit {
            "the step is too large for this contact: touching, it diverges"
        } else if unmet || inaccurate {
            "the step is too large for this contact: the rebound will not be the one that is wanted"
        } else {
            return;
        };
        let help = format!("use a step below {accurate:.2e} s, or a softer contact");
        self.warn(path, message, help);
    }
}
