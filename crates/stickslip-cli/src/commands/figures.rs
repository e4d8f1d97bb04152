//! `stickslip figures [NAME...]`.

use crate::failure::{Failure, note, print};
use crate::figures::{Entry, FIGURES, Reproduction, failures};
use crate::output::{Place, write_whole};
use clap::Args;
use std::fs;
use std::path::PathBuf;
use stickslip_plot::page::{Section, Verdict};

/// Reproduce the published figures and claims on one HTML page
///
/// The page has every picture, and every claim of the papers with what is expected, what was measured, and whether it
/// holds. Its path is printed; the exit status is 1 if a claim fails. A claim that the runs contradict is no failure. For example:
///
///     stickslip figures
///     stickslip figures fig000-8 fig000-9 --out page
///     stickslip figures seed004
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Figures {
    /// Figures to make, or a publication for all of its figures; everything if left out
    names: Vec<String>,
    /// The folder for index.html; it is created if need be
    #[arg(long, value_name = "DIR", default_value = "stickslip-figures")]
    out: PathBuf,
    /// Do the runs anew that take many minutes; without this their stored outcome is shown, with its date
    #[arg(long)]
    all: bool,
}

impl Figures {
    /// Makes the figures and writes the page.
    pub fn execute(self) -> Result<(), Failure> {
        let chosen = choose(&self.names)?;
        fs::create_dir_all(&self.out).map_err(|error| Failure::write(&self.out, &error))?;
        let path = self.out.join("index.html");
        Place::of(&path)?;
        let mut reproduction = Reproduction::new(self.all);
        let (mut failed, mut judged) = (0, 0);
        let said = |entry: &Entry, section: &Section| {
            let failing = failures(section);
            let with = |verdict: &Verdict| section.claims.iter().filter(|claim| claim.verdict == *verdict).count();
            let (holding, contradicted) = (with(&Verdict::Holds), with(&Verdict::Contradicted));
            let count = holding + contradicted + failing;
            let other = if contradicted > 0 {
                format!(", {contradicted} contradicted")
            } else {
                String::new()
            };
            note(&format!("{:20}{holding} of {count} claims hold{other}", entry.name));
            for claim in &section.claims {
                let word = match claim.verdict {
                    Verdict::Fails => "fails",
                    Verdict::Contradicted => "contradicted",
                    Verdict::Holds | Verdict::NotTestable(_) => continue,
                };
                note(&format!("  {word}: {}", claim.claim));
                for value in claim.values.iter().filter(|value| !value.agrees) {
                    note(&format!(
                        "    {}: expected {}; measured {}",
                        value.what, value.expected, value.measured
                    ));
                }
            }
            failed += failing;
            judged += count;
        };
        reproduction.make(&chosen, said).map_err(Failure::Work)?;
        for (name, text) in std::mem::take(&mut reproduction.files) {
            write_whole(&self.out.join(name), text.as_bytes())?;
        }
        write_whole(&path, reproduction.page().to_html().as_bytes())?;
        print(&format!("{}\n", path.display()))?;
        if failed > 0 {
            return Err(Failure::Work(format!(
                "error: {failed} of {judged} claims do not hold; the page says which"
            )));
        }
        Ok(())
    }
}

/// The figures of these names, each once and in the order of the page.
fn choose(names: &[String]) -> Result<Vec<&'static Entry>, Failure> {
    let publications = FIGURES.iter().map(|entry| entry.publication);
    let known: Vec<&str> = {
        let mut known: Vec<&str> = FIGURES.iter().map(|entry| entry.name).chain(publications).collect();
        let mut seen = std::collections::BTreeSet::new();
        known.retain(|name| seen.insert(*name));
        known
    };
    for name in names {
        if !known.contains(&name.as_str()) {
            return Err(Failure::unknown("figure", name, known.iter().copied()));
        }
    }
    let wanted =
        |entry: &&Entry| names.is_empty() || names.iter().any(|name| name == entry.name || name == entry.publication);
    Ok(FIGURES.iter().filter(wanted).collect())
}
