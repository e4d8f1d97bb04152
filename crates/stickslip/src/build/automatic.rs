//! Choices that follow from masses, loads and the step.

use super::Builder;
use crate::element::spring::Spring;
use crate::integrate::Method;
use crate::network::implicit::StiffSpring;
use crate::scenario::ElementSpec;
use std::collections::BTreeMap;

/// A full turn, rad.
const TURN: f64 = 2.0 * std::f64::consts::PI;

impl Builder<'_> {
    /// Warns of springs an explicit method cannot follow, and decides which springs the implicit step takes at its end: those the step cannot resolve, T²·(k_a/m_a + k_b/m_b) >
    /// 0.25 or T·(d_a/m_a + d_b/m_b) > 0.5 with sums over all springs of a body. The others stay at the start of the
    /// step, which conserves energy better.
    pub(super) fn decide_implicit_springs(&mut self) {
        let mut sums: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        let springs = &self.groups.springs;
        for spring in springs.0.iter().chain(&springs.1).chain(&springs.2) {
            for (v, ratio) in [
                (spring.pair.first.v, spring.pair.ratio[0]),
                (spring.pair.second.v, spring.pair.ratio[1]),
            ] {
                let sum = sums.entry(v).or_default();
                sum[0] += ratio * ratio * spring.stiffness;
                sum[1] += ratio * ratio * spring.damping;
            }
        }
        let step = self.step;
        let ends = |spring: &Spring, which: usize| -> f64 {
            [spring.pair.first.v, spring.pair.second.v]
                .iter()
                .map(|&v| sums[&v][which] * self.inverse_mass_of(v))
                .sum()
        };
        let stiff = |spring: &Spring| {
            let written = match &self.scenario.elements[spring.element].1 {
                ElementSpec::Spring(spec) => spec.implicit,
                _ => None,
            };
            written.unwrap_or_else(|| {
                let straight = spring.length == 0.0;
                let unresolved = step * step * ends(spring, 0) > 0.25 || step * ends(spring, 1) > 0.5;
                // The midpoint rule solves for every force; a spring that is linear goes into the matrix.
                (unresolved || self.method == Method::ImplicitMidpoint) && (straight || self.axes[spring.element] == 1)
            })
        };
        let all = springs.0.iter().chain(&springs.1).chain(&springs.2);
        let judged: Vec<(usize, Resolved)> = all
            .filter(|spring| !(self.method.implicit() && stiff(spring)))
            .map(|spring| (spring.element, self.resolved(ends(spring, 0), ends(spring, 1))))
            .collect();
        if !self.method.implicit() {
            self.warn_of_unresolved_springs(&judged);
            return;
        }
        let mut moved = Vec::new();
        let mut keep = |list: &[Spring], axes: usize| -> Vec<Spring> {
            let (stiff, stay): (Vec<Spring>, Vec<Spring>) = list.iter().partition(|spring| stiff(spring));
            moved.extend(stiff.into_iter().map(|spring| (spring, axes)));
            stay
        };
        let kept = (keep(&springs.0, 1), keep(&springs.1, 2), keep(&springs.2, 3));
        self.groups.springs = kept;
        self.warn_of_unresolved_springs(&judged);
        for (
            Spring {
                element,
                pair,
                stiffness,
                damping,
                length,
            },
            axes,
        ) in moved
        {
            if axes > 1 && length != 0.0 {
                let name = &self.scenario.elements[element].0;
                let path = format!("elements.{name}.implicit");
                self.error(
                    &path,
                    "a spring with a length in the plane or in space cannot be taken at the end of the step",
                );
                continue;
            }
            // Stick-slip lives on the vibration of a drawn body, which a spring taken at the end of the step damps.
            let inverse_masses = [pair.first.v, pair.second.v].map(|v| self.inverse_mass_of(v));
            let drawn = inverse_masses.contains(&0.0) && inverse_masses.iter().any(|m| *m > 0.0);
            if self.scenario.stick_slip.is_some() && drawn {
                let path = format!("elements.{}", self.scenario.elements[element].0);
                let rate = (stiffness * (inverse_masses[0] + inverse_masses[1])).sqrt();
                let message = "the step is too large to see stick-slip: this spring is taken at the end of the step, which damps \
                               the vibration that a slip is";
                let help = format!(
                    "use a step below {:.1e} s, a twentieth of a vibration",
                    0.05 * TURN / rate
                );
                self.warn(&path, message, help);
            }
            self.implicit_springs.push(element);
            self.stiff_springs.push(StiffSpring {
                element,
                pair,
                axes,
                stiffness,
                damping,
                length,
            });
        }
    }

    /// How the method follows a vibration with ω² = `stiffness` (per mass) and the decay `damping` (per mass), or a bound of them.
    pub(super) fn resolved(&self, stiffness: f64, damping: f64) -> Resolved {
        let (vibration, decay) = (self.step * self.step * stiffness, self.step * damping);
        let steps = (self.scenario.simulation.duration / self.step).max(1.0);
        let diverges = match self.method {
            // The classical Runge-Kutta method follows a vibration while ωT < 2.83 and a decay while T·d/m < 2.78.
            Method::Rk4 => vibration > 8.0 || decay > 2.78,
            Method::Euler => {
                // |λ|² = 1 − T·d/m + ω²T² where it vibrates.
                let growth = 0.5 * steps * libm::log1p(vibration - decay);
                let vibrates = decay * decay < 4.0 * vibration;
                if vibrates && growth > std::f64::consts::LN_2 && growth < 50.0 {
                    return Resolved::Grows(libm::exp(growth));
                }
                if vibrates { growth >= 50.0 } else { decay > 2.0 }
            }
            // Springs at the start of the step, positions with the new velocities.
            Method::ImplicitEuler => vibration + 2.0 * decay > 4.0,
            Method::Newmark => match self.scenario.simulation.newmark {
                Some(rule) => vibration * (0.5 * rule.gamma - rule.beta) > 1.0,
                None => false,
            },
            Method::ImplicitMidpoint | Method::Trapezoidal | Method::Adaptive | Method::Stiff => false,
        };
        if diverges {
            Resolved::Diverges
        } else if vibration > 1.0 && !self.method.chooses_steps() {
            Resolved::Coarse(TURN / vibration.sqrt())
        } else {
            Resolved::Well
        }
    }

    fn warn_of_unresolved_springs(&mut self, judged: &[(usize, Resolved)]) {
        for &(element, resolved) in judged {
            self.warn_of_unresolved_spring(element, resolved);
        }
    }

    pub(super) fn warn_of_unresolved_spring(&mut self, element: usize, resolved: Resolved) {
        let (name, spec) = &self.scenario.elements[element];
        let path = format!("elements.{name}");
        self.unstable |= matches!(resolved, Resolved::Diverges | Resolved::Grows(_));
        let own = matches!(spec, ElementSpec::Spring(_));
        let other = self.scenario.stable_integrator();
        let (message, help) = match resolved {
            Resolved::Diverges => (
                "the step is too large for this spring and the masses at its ends: the run will diverge".to_string(),
                if self.method.implicit() {
                    "use a smaller step, or leave implicit = false out".to_string()
                } else {
                    format!("use a smaller step, or integrator = \"{other}\"")
                },
            ),
            Resolved::Grows(factor) if own => (
                format!(
                    "explicit Euler adds energy to the vibration on this spring: it grows up to {factor:.1e}-fold in the run"
                ),
                "use a smaller step, or integrator = \"rk4\"".to_string(),
            ),
            Resolved::Coarse(steps) if own => (
                format!(
                    "the step is near the period of this spring: a vibration takes {steps:.1} steps, and is not resolved"
                ),
                "use a step below a twentieth of the period if the vibration matters".to_string(),
            ),
            _ => return,
        };
        self.warn(&path, message, help);
    }
}

/// How a method follows a vibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    /// It has enough steps.
    Well,
    /// It has so few steps.
    Coarse(f64),
    /// Its amplitude grows by this factor in the run.
    Grows(f64),
    /// It grows without bound.
    Diverges,
}
