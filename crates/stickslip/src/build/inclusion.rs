//! A rewritten inclusion as a network without bodies.

use super::Builder;
use crate::element::inclusion::InclusionGroup;
use crate::inclusion::Inclusion;
use crate::integrate::{METHODS, Method};
use crate::profile::{Expression, Profile};

impl Builder<'_> {
    /// The states of an inclusion are the whole state; its inputs are signals.
    pub(super) fn add_inclusion(&mut self, inclusion: &Inclusion) {
        if self.method.implicit() {
            let able = METHODS
                .iter()
                .filter(|row| !row.method.implicit() && !row.method.moves_masses_only());
            let able: Vec<String> = able.map(|row| format!("\"{}\"", row.name)).collect();
            let message = format!(
                "integrator = \"{}\" solves friction and contact elements, and an inclusion has none: it has become an \
                 ordinary differential equation",
                self.method.row().name
            );
            self.error("simulation.integrator", message).help = Some(format!("use {}", able.join(" or ")));
            return;
        }
        self.warn_of_short_relaxation(inclusion);
        let mut signals: Vec<usize> = inclusion
            .description()
            .inputs
            .iter()
            .map(|input| self.signal(&input.profile))
            .collect();
        if inclusion.uses_time()
            && let Ok(time) = Expression::parse("t", &["t"])
        {
            signals.push(self.signal(&Profile::from(time)));
        }
        let states = inclusion.states().len();
        self.layout.states = states;
        let first = self.layout.first_state();
        self.initial = vec![0.0; self.layout.len()];
        self.sizes = vec![0.0; self.layout.integrated() - self.layout.first_state()];
        self.initial[first..first + states].copy_from_slice(inclusion.initial());
        self.groups.inclusion = Some(InclusionGroup {
            #[cfg(feature = "jit")]
            native: crate::inclusion::native::Native::compile(inclusion.program(), &signals),
            program: inclusion.program().clone(),
            first,
            signals,
        });
    }

    /// Warns of time constants that steps of a given length do not resolve: states relax as ẋ = −x/τ, which euler follows while
    /// T < 2·τ and rk4 while T < 2.78·τ.
    fn warn_of_short_relaxation(&mut self, inclusion: &Inclusion) {
        if !self.method.needs_small_steps() {
            return;
        }
        let limit = if self.method == Method::Euler { 2.0 } else { 2.78 };
        for (name, relaxation) in &inclusion.description().relax {
            for (key, time) in [("beta", relaxation.beta), ("alpha", relaxation.alpha)] {
                let Some(time) = time.filter(|time| self.step > *time) else {
                    continue;
                };
                let what = if self.step > limit * time {
                    "the run will diverge"
                } else {
                    "its relaxation is not resolved"
                };
                let message = format!("{key} = {time} s is shorter than the step of {} s: {what}", self.step);
                let help = format!("use a step below {time:.1e} s, a longer {key}, or integrator = \"stiff\"");
                self.warn(&format!("inclusion.relax.{name}.{key}"), message, help);
            }
        }
    }
}
