//! A rewritten inclusion as a network without bodies.

use super::Builder;
use crate::element::inclusion::InclusionGroup;
use crate::inclusion::Inclusion;
use crate::integrate::METHODS;
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
}
