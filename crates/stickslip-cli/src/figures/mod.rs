//! The published figures and claims, reproduced: what `stickslip figures` shows.
//!
//! A new figure is one entry in [`FIGURES`], one function that draws it and notes what it measured, and its text with the
//! expected values in a file of `figures/`.

mod bench;
mod expected;
mod rigs;
mod seed000;
mod seed001;
mod seed002;
mod seed003;
mod seed004;
mod stored;

use bench::Bench;
use expected::{FigureText, Found, Publication};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use stickslip_plot::page::{self, Page, Picture, Section, Verdict};
use stickslip_plot::{Figure, Schematic};

/// A figure that can be reproduced.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// The publication it belongs to: a file of `figures/`.
    pub publication: &'static str,
    draw: fn(&mut Bench) -> Result<Drawn, String>,
}

/// All figures, in the order of the page.
#[rustfmt::skip]
pub const FIGURES: &[Entry] = &[
    Entry { name: "fig000-rigs", publication: "seed000", draw: rigs::seed000 },
    Entry { name: "fig000-2", publication: "seed000", draw: seed000::curves_of_velocity },
    Entry { name: "fig000-3", publication: "seed000", draw: seed000::laws },
    Entry { name: "fig000-4", publication: "seed000", draw: seed000::construction },
    Entry { name: "fig000-5", publication: "seed000", draw: seed000::two_bodies },
    Entry { name: "fig000-6", publication: "seed000", draw: seed000::hysteresis },
    Entry { name: "fig000-8", publication: "seed000", draw: seed000::seven_models },
    Entry { name: "fig000-9", publication: "seed000", draw: seed000::static_friction },
    Entry { name: "fig000-10", publication: "seed000", draw: seed000::crossing_zero },
    Entry { name: "fig000-curves", publication: "seed000", draw: seed000::curves },
    Entry { name: "fig000-plane", publication: "seed000", draw: seed000::plane },
    Entry { name: "fig000-order", publication: "seed000", draw: seed000::order },
    Entry { name: "fig001-rigs", publication: "seed001", draw: rigs::seed001 },
    Entry { name: "fig001-3", publication: "seed001", draw: seed001::trembling },
    Entry { name: "fig001-5", publication: "seed001", draw: seed001::bouncing },
    Entry { name: "fig001-force", publication: "seed001", draw: seed001::forces },
    Entry { name: "fig001-restitution", publication: "seed001", draw: seed001::restitution },
    Entry { name: "fig001-example1", publication: "seed001", draw: seed001::example_1 },
    Entry { name: "fig001-example2", publication: "seed001", draw: seed001::example_2 },
    Entry { name: "fig001-order", publication: "seed001", draw: seed001::order },
    Entry { name: "fig002-rigs", publication: "seed002", draw: rigs::seed002 },
    Entry { name: "fig002-3", publication: "seed002", draw: seed002::accuracy },
    Entry { name: "fig002-limits", publication: "seed002", draw: seed002::step_limits },
    Entry { name: "fig003-rigs", publication: "seed003", draw: rigs::seed003 },
    Entry { name: "fig003-3", publication: "seed003", draw: seed003::pulled },
    Entry { name: "fig003-4", publication: "seed003", draw: seed003::recovery },
    Entry { name: "fig003-5", publication: "seed003", draw: seed003::drawn_block },
    Entry { name: "fig003-6", publication: "seed003", draw: seed003::lubricated },
    Entry { name: "fig003-7", publication: "seed003", draw: seed003::springs },
    Entry { name: "fig003-8", publication: "seed003", draw: seed003::masses },
    Entry { name: "fig003-9", publication: "seed003", draw: seed003::mode_maps },
    Entry { name: "fig003-10", publication: "seed003", draw: seed003::transitions },
    Entry { name: "fig003-11", publication: "seed003", draw: seed003::criterion },
    Entry { name: "fig003-12", publication: "seed003", draw: seed003::pull_and_recovery },
    Entry { name: "fig003-13", publication: "seed003", draw: seed003::parameters },
    Entry { name: "fig003-newmark", publication: "seed003", draw: seed003::newmark },
    Entry { name: "fig003-cyclic", publication: "seed003", draw: seed003::cyclic },
    Entry { name: "fig004-rigs", publication: "seed004", draw: rigs::seed004 },
    Entry { name: "fig004-4", publication: "seed004", draw: seed004::sphere },
    Entry { name: "fig004-6", publication: "seed004", draw: seed004::torques },
    Entry { name: "fig004-7", publication: "seed004", draw: seed004::arm },
    Entry { name: "fig004-penalty", publication: "seed004", draw: seed004::penalty },
    Entry { name: "fig004-parallel", publication: "seed004", draw: seed004::parallel },
    Entry { name: "fig004-order", publication: "seed004", draw: seed004::order },
];

/// Claims and expected values: one file for each publication.
const PUBLICATIONS: &[(&str, &str)] = &[
    ("seed000", include_str!("../../../../figures/seed000.toml")),
    ("seed001", include_str!("../../../../figures/seed001.toml")),
    ("seed002", include_str!("../../../../figures/seed002.toml")),
    ("seed003", include_str!("../../../../figures/seed003.toml")),
    ("seed004", include_str!("../../../../figures/seed004.toml")),
];

/// The reference study, part by part.
const SCIENCE: [&str; 3] = [
    include_str!("../../../../docs/science/README.md"),
    include_str!("../../../../docs/science/friction-and-contact.md"),
    include_str!("../../../../docs/science/subloading.md"),
];

/// What a figure came to: pictures with captions, and numbers.
#[derive(Default)]
struct Drawn {
    /// Rigs, shown first.
    schematics: Vec<(Schematic, String)>,
    pictures: Vec<(Figure, String)>,
    found: Found,
    /// Files to write beside the page: name and text.
    files: Vec<(String, String)>,
}

/// Figures on their way to the page.
#[derive(Default)]
pub struct Reproduction {
    /// Whether long runs are done anew, whose stored outcome is otherwise shown.
    all: bool,
    sections: Vec<Section>,
    /// Files that belong beside the page: name and text.
    pub files: Vec<(String, String)>,
}

/// The publication that takes as long as all others together.
const LONGEST: &str = "seed003";

impl Reproduction {
    /// A reproduction without figures yet. Long runs are done anew if `all`, else their stored outcome is shown.
    pub fn new(all: bool) -> Self {
        let science = page::document("Reference study", &SCIENCE.concat());
        Self {
            files: vec![("science.html".into(), science)],
            all,
            ..Self::default()
        }
    }

    /// Makes figures and judges their claims; `done` is told of each in order. Figures of one publication are made one after the
    /// other, since they share runs; publications side by side, since not all runs fill all cores.
    ///
    /// # Errors
    /// If the text of a figure cannot be read. A run that fails is no error: the claims it was to show then fail.
    pub fn make(&mut self, entries: &[&'static Entry], mut done: impl FnMut(&Entry, &Section)) -> Result<(), String> {
        let mut publications: Vec<&str> = entries.iter().map(|entry| entry.publication).collect();
        publications.dedup();
        publications.sort_by_key(|name| *name != LONGEST);
        let all = self.all;
        let next = AtomicUsize::new(0);
        let work = |sender: mpsc::Sender<(usize, Result<Made, String>)>| {
            while let Some(publication) = publications.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut bench = Bench::default();
                bench.all = all;
                for (number, entry) in entries.iter().enumerate() {
                    if entry.publication == *publication && sender.send((number, make(entry, &mut bench))).is_err() {
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..bench::cores() {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            for (number, made) in receiver {
                waiting.insert(number, made?);
                while let Some(made) = waiting.remove(&self.sections.len()) {
                    done(entries[self.sections.len()], &made.section);
                    self.sections.push(made.section);
                    self.files.extend(made.files);
                }
            }
            match entries.get(self.sections.len()) {
                None => Ok(()),
                Some(entry) => Err(format!("{} was not made", entry.name)),
            }
        })
    }

    /// The page of all figures made.
    pub fn page(self) -> Page {
        Page {
            title: "Published figures and claims, reproduced".into(),
            intro: INTRODUCTION.iter().map(|text| (*text).to_string()).collect(),
            sections: self.sections,
            footer: format!("stickslip {}", env!("CARGO_PKG_VERSION")),
        }
    }
}

const INTRODUCTION: &[&str] = &[
    "Five papers on the simulation of friction, and what they state, put to the test. Every figure was drawn, and every number measured, by runs of the \
     scenarios named with the claims; stickslip run repeats each of them. Open a claim to see its numbers.",
    "A claim holds if all its numbers are as expected. It is contradicted if the runs are right (they agree with a closed form or with an independent program) \
     and the paper's statement is not. It fails if the runs are not as they must be: that would be a fault of this program. It is not testable where the paper does \
     not publish what a test needs.",
    "Where expected numbers come from stands beside each: the paper, a closed form, or the [reference study](science.html), which holds the conventions, the errata of the \
     papers, and the numbers of independent programs with their origin.",
];

/// A figure with its claims judged.
struct Made {
    section: Section,
    files: Vec<(String, String)>,
}

fn make(entry: &Entry, bench: &mut Bench) -> Result<Made, String> {
    let (paper, text) = text_of(entry)?;
    let (pictures, found, files) = match (entry.draw)(bench) {
        Ok(drawn) => {
            let rigs = drawn
                .schematics
                .into_iter()
                .map(|(rig, caption)| (Picture::from(rig), caption));
            let figures = drawn
                .pictures
                .into_iter()
                .map(|(figure, caption)| (figure.into(), caption));
            (rigs.chain(figures).collect(), Ok(drawn.found), drawn.files)
        }
        Err(why) => (Vec::new(), Err(why), Vec::new()),
    };
    let judged = text.claim.iter().map(|claim| claim.judge(&found));
    let open = text.open.iter().map(expected::OpenClaim::judge);
    let section = Section {
        group: paper,
        heading: text.heading,
        text: text.text.iter().map(|text| expected::linked(text)).collect(),
        figures: pictures,
        claims: judged.chain(open).collect(),
    };
    Ok(Made { section, files })
}

/// How many claims of a section fail.
pub fn failures(section: &Section) -> usize {
    section
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Fails)
        .count()
}

fn text_of(entry: &Entry) -> Result<(String, FigureText), String> {
    let text = PUBLICATIONS
        .iter()
        .find(|(name, _)| *name == entry.publication)
        .map_or("", |found| found.1);
    let publication: Publication =
        toml::from_str(text).map_err(|error| format!("figures/{}.toml: {error}", entry.publication))?;
    let mut figures = publication.figure.into_iter();
    figures
        .find(|figure| figure.name == entry.name)
        .map(|figure| (publication.paper, figure))
        .ok_or_else(|| format!("figures/{}.toml says nothing of {}", entry.publication, entry.name))
}

/// The largest of some values.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// The smallest of some values.
fn smallest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Observed orders of errors from steps halved one after the other: the smallest and the largest.
fn orders(errors: &[f64]) -> (f64, f64) {
    let orders: Vec<f64> = errors.windows(2).map(|pair| libm::log2(pair[0] / pair[1])).collect();
    (smallest(orders.iter().copied()), largest(orders.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_has_a_source_and_expected_values() {
        let mut ids = Vec::new();
        for (name, text) in PUBLICATIONS {
            let publication: Publication = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            for figure in &publication.figure {
                assert!(
                    FIGURES.iter().any(|entry| entry.name == figure.name),
                    "{} is not drawn",
                    figure.name
                );
                let rig = figure.name.ends_with("-rigs");
                assert!(
                    figure.claim.is_empty() == rig && !figure.heading.is_empty(),
                    "{}",
                    figure.name
                );
                for claim in &figure.claim {
                    assert!(!claim.place.is_empty(), "{}", claim.claim);
                    assert!(claim.numbers().next().is_some(), "{}", claim.claim);
                    for named in claim
                        .scenario
                        .split([' ', ','])
                        .filter_map(|word| word.strip_suffix(".toml"))
                    {
                        assert!(bench::is_scenario(named), "{}: {named}", claim.claim);
                    }
                    assert!(claim.scenario.contains(".toml"), "{}", claim.claim);
                    for check in claim.numbers() {
                        assert!(
                            check.is_complete() && !check.source.is_empty(),
                            "{} {}",
                            figure.name,
                            check.id
                        );
                        assert!(
                            !check.is_wide() || check.source.split(' ').count() > 4,
                            "{} {}: say why the range is wide",
                            figure.name,
                            check.id
                        );
                        ids.push(format!("{} {}", figure.name, check.id));
                    }
                }
                for open in &figure.open {
                    assert!(!open.reason.is_empty() && !open.place.is_empty(), "{}", open.claim);
                }
            }
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "a number is asked for twice");
    }

    #[test]
    fn every_figure_has_its_text() {
        for entry in FIGURES {
            text_of(entry).unwrap();
        }
    }

    /// Draws a figure, which must measure exactly what its claims ask for, and they must hold.
    fn holds(name: &str) {
        let entry = FIGURES.iter().find(|entry| entry.name == name).unwrap();
        let drawn = (entry.draw)(&mut Bench::default()).unwrap();
        let (_, text) = text_of(entry).unwrap();
        assert_eq!(
            drawn.found.unused(&text),
            Vec::<&str>::new(),
            "measured and not asked for"
        );
        assert!(!drawn.pictures.is_empty());
        let found = Ok(drawn.found);
        for claim in &text.claim {
            let judged = claim.judge(&found);
            assert_eq!(judged.verdict, Verdict::Holds, "{judged:?}");
        }
    }

    #[test]
    fn fig_10_holds() {
        holds("fig000-10");
    }

    #[test]
    fn two_bodies_hold() {
        holds("fig000-5");
    }

    #[test]
    fn contact_forces_hold() {
        holds("fig001-force");
    }

    #[test]
    fn restitutions_hold() {
        holds("fig001-restitution");
    }

    #[test]
    fn static_peaks_and_plateaus_hold() {
        holds("fig003-3");
    }

    #[test]
    fn slip_under_cyclic_load_holds() {
        holds("fig003-cyclic");
    }

    #[test]
    fn curves_of_velocity_hold() {
        holds("fig000-2");
    }

    #[test]
    fn the_construction_of_a_step_holds() {
        holds("fig000-4");
    }

    #[test]
    fn the_loop_of_sticking_and_sliding_holds() {
        holds("fig000-6");
    }

    #[test]
    fn every_paper_has_its_rigs() {
        for entry in FIGURES.iter().filter(|entry| entry.name.ends_with("-rigs")) {
            let drawn = (entry.draw)(&mut Bench::default()).unwrap();
            assert!(!drawn.schematics.is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn a_statement_that_the_runs_do_not_bear_out_is_contradicted() {
        let entry = FIGURES.iter().find(|entry| entry.name == "fig000-4").unwrap();
        let drawn = (entry.draw)(&mut Bench::default()).unwrap();
        let (_, mut text) = text_of(entry).unwrap();
        let claim = &mut text.claim[0];
        let found = Ok(drawn.found);
        // The same number as a statement: true, then false. Numbers that must come out stay as they are.
        claim.says = vec![claim.check.pop().unwrap()];
        assert_eq!(claim.judge(&found).verdict, Verdict::Holds);
        claim.says[0].value = claim.says[0].value.map(|value| 2.0 * value);
        let judged = claim.judge(&found);
        assert_eq!(judged.verdict, Verdict::Contradicted);
        assert_eq!(judged.values.iter().filter(|value| !value.agrees).count(), 1);
        // Runs that are wrong contradict nothing, nor does a number that was not measured.
        claim.check[0].most = Some(-1.0);
        assert_eq!(claim.judge(&found).verdict, Verdict::Fails);
        claim.check.clear();
        claim.says[0].id = "never".into();
        assert_eq!(claim.judge(&found).verdict, Verdict::Fails);
    }

    #[test]
    fn motion_in_the_plane_holds() {
        holds("fig000-plane");
    }

    #[test]
    fn a_wrong_number_and_a_missing_one_fail() {
        let entry = FIGURES.iter().find(|entry| entry.name == "fig000-10").unwrap();
        let drawn = (entry.draw)(&mut Bench::default()).unwrap();
        let (_, mut text) = text_of(entry).unwrap();
        let check = &mut text.claim[0].check[0];
        check.value = check.value.map(|value| value + 2.0 * check.tolerance + 1e-6);
        assert_eq!(text.claim[0].judge(&Ok(drawn.found)).verdict, Verdict::Fails);
        assert_eq!(text.claim[1].judge(&Ok(Found::default())).verdict, Verdict::Fails);
        let stopped = text.claim[1].judge(&Err("the run diverged".into()));
        assert_eq!(
            (stopped.verdict, stopped.remark.as_str()),
            (Verdict::Fails, "Not measured: the run diverged")
        );
    }
}
