//! The commands, one file each. A new command is a module, a variant and an arm here.

mod analyse;
mod check;
mod compare;
mod completions;
mod experiment;
mod figures;
mod laws;
mod map;
mod merge;
mod new;
mod rewrite;
mod run;
mod schema;
mod sweep;

use crate::failure::Failure;
use clap::Subcommand;

/// A command and its arguments.
#[derive(Subcommand)]
pub enum Command {
    Run(run::Run),
    Check(check::Check),
    Compare(compare::Compare),
    Sweep(sweep::Sweep),
    Map(map::Map),
    Merge(merge::Merge),
    Laws(laws::Laws),
    Experiment(experiment::ExperimentCommand),
    Analyse(Box<analyse::Analyse>),
    Rewrite(rewrite::Rewrite),
    Figures(figures::Figures),
    New(new::New),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

impl Command {
    /// Does the work.
    pub fn execute(self) -> Result<(), Failure> {
        match self {
            Self::Run(run) => run.execute(),
            Self::Check(check) => check.execute(),
            Self::Compare(compare) => compare.execute(),
            Self::Sweep(sweep) => sweep.execute(),
            Self::Map(map) => map.execute(),
            Self::Merge(merge) => merge.execute(),
            Self::Laws(laws) => laws.execute(),
            Self::Experiment(experiment) => experiment.execute(),
            Self::Analyse(analyse) => analyse.execute(),
            Self::Rewrite(rewrite) => rewrite.execute(),
            Self::Figures(figures) => figures.execute(),
            Self::New(new) => new.execute(),
            Self::Schema(schema) => schema.execute(),
            Self::Completions(completions) => completions.execute(),
        }
    }
}
