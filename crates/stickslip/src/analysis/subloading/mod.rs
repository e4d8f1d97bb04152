//! The parameters of the law `subloading` from records of friction tests: the recipe of Ozaki, Hashiguchi and Chen (2007), appendix 1, and
//! least squares that begin with it.
//!
//! Each parameter has a test of its own ([`Test`]). What is read from a curve by eye is biased: friction falls by slip before its peak
//! is reached, so the peak after a long hold lies below μ_s. So the readings are only the beginning. The law is then led along the measured
//! displacement of every record, and the parameters are those with which its force is nearest to the measured one in all records together.
//! What the state of the contact was when a record began is not measured, and is found along with them.
//!
//! ```
//! use stickslip::analysis::subloading::{Options, Record, identify};
//!
//! // One slow slide of a contact with α = 1000 N/m tells its stiffness, but nothing of how it recovers.
//! let displacement: Vec<f64> = (0..100).map(|i| 1e-5 * f64::from(i)).collect();
//! let record = Record {
//!     name: "first".into(),
//!     test: None,
//!     times: (0..100).map(f64::from).collect(),
//!     force: displacement.iter().map(|x| 1000.0 * x).collect(),
//!     normal: vec![20.0; 100],
//!     displacement,
//! };
//! let found = identify(&[record], &Options::default())?;
//! let stiffness = found.parameter("tangential_stiffness").unwrap();
//! assert!((stiffness.value.unwrap() - 1000.0).abs() < 1.0);
//! assert_eq!(found.parameter("eta").unwrap().value, None);
//! # Ok::<(), stickslip::analysis::measured::DataError>(())
//! ```

mod course;
mod fit;
mod readings;
mod response;

use super::measured::DataError;
use crate::stop::{Stop, is_set};
use course::{Course, courses};
use fit::{Point, Problem, hang_together};
use readings::{Readings, Slide, read};
use response::{ALPHA, ETA, KAPPA, M, MU_K, MU_S, N, PARAMETERS, R, Unknowns};
use serde::Serialize;
pub use stickslip_core::friction::subloading::Evolution;

/// Fewest rows of a record.
pub const LEAST_ROWS: usize = 8;
/// Most records.
pub const MOST_RECORDS: usize = 200;
/// Relative errors up to which a parameter counts as known, and as weakly known.
const KNOWN: f64 = 0.2;
const WEAKLY: f64 = 0.5;
/// What is left of a record that the law does not follow, as part of its largest force.
const ASTRAY: f64 = 0.1;
/// Rounds of least squares at most: of a first try, and of the last.
const FEW_ROUNDS: usize = 10;
const ROUNDS: usize = 30;
/// Sums of squares that differ by less are as good: three standard deviations.
const AS_GOOD: f64 = 9.0;
/// 95 % of the normal distribution lie within so many standard errors.
const NINETY_FIVE: f64 = 1.959_963_984_54;

/// The tests of the appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The first slide after a rest so long that nothing recovers any more: μ_s.
    LongHold,
    /// Sliding so fast that nothing recovers meanwhile: μ_k.
    FastSliding,
    /// From rest into sliding, at several speeds: κ, m.
    Transition,
    /// Sliding, a rest, sliding again; several rests: η, n.
    Recovery,
    /// A slow motion that ends before or at the peak: r, α.
    Presliding,
    /// Small motions to and fro: r, α.
    Cyclic,
}

impl Test {
    /// Every test, with its name on the command line.
    pub const ALL: [(&'static str, Test); 6] = [
        ("long-hold", Test::LongHold),
        ("fast-sliding", Test::FastSliding),
        ("transition", Test::Transition),
        ("recovery", Test::Recovery),
        ("presliding", Test::Presliding),
        ("cyclic", Test::Cyclic),
    ];

    /// The test of this name; further words may follow it, as in `recovery 100 s` or `transition-2`.
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase().replace(['_', ' '], "-");
        let begins = |name: &str| {
            let rest = text.strip_prefix(name)?;
            (!rest.starts_with(char::is_alphabetic)).then_some(())
        };
        Self::ALL
            .iter()
            .find(|(name, _)| begins(name).is_some())
            .map(|(_, test)| *test)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, test)| *test == self)
            .map_or("", |(name, _)| name)
    }
}

/// Measured rows of one test, in SI.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Its name in results.
    pub name: String,
    /// The test; found from the motion where it is not given.
    pub test: Option<Test>,
    /// Times, increasing, s.
    pub times: Vec<f64>,
    /// Displacement of one side of the contact against the other, m.
    pub displacement: Vec<f64>,
    /// Friction force, N: with the sign of the resistance, or that of the force on the body; all records alike.
    pub force: Vec<f64>,
    /// Normal force, N.
    pub normal: Vec<f64>,
}

/// What is known already, and how the law is written.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// U(R).
    pub evolution: Evolution,
    /// Parameters that are known, by the keys of a scenario, in SI.
    pub known: Vec<(String, f64)>,
    /// Ends the search early; then there is no result.
    pub stop: Option<&'a Stop>,
}

/// How well a parameter is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identifiable {
    /// Standard error of at most 20 %.
    Yes,
    /// Standard error of at most 50 %.
    Weak,
    /// The records do not tell.
    No,
    /// An exponent that the records do not tell, taken as 1.
    Assumed,
    /// Given beforehand.
    Given,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Key of a scenario.
    pub key: &'static str,
    /// Letter of the paper.
    pub symbol: &'static str,
    /// Unit of all numbers here, SI; empty for none.
    pub unit: &'static str,
    /// The estimate; `None` where the records do not tell.
    pub value: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
    /// How well it is known.
    pub identifiable: Identifiable,
    /// What the recipe of the paper reads from the curves, without the fit.
    pub reading: Option<f64>,
    /// How it was found, or what is missing.
    pub how: String,
    /// Records that say most about it, each with its part of the whole.
    pub records: Vec<(String, f64)>,
}

impl Parameter {
    /// Takes back a value that means nothing, for a reason.
    fn disown(&mut self, why: &str) {
        (self.value, self.error, self.low, self.high) = (None, None, None, None);
        self.identifiable = Identifiable::No;
        self.how = why.to_string();
        self.records.clear();
    }
}

/// Whether the law describes most of the rows: what it leaves is noise, or at least small.
fn follows(records: &[Described]) -> bool {
    let astray = |record: &&Described| record.residual_share > ASTRAY && record.residual > 3.0 * record.noise;
    let rows = |records: &mut dyn Iterator<Item = &Described>| records.map(|record| record.rows).sum::<usize>();
    2 * rows(&mut records.iter().filter(astray)) <= rows(&mut records.iter())
}

/// How well the law describes a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its test, given or found.
    pub test: Test,
    /// Measured rows.
    pub rows: usize,
    /// Time from its first to its last row, s.
    pub duration: f64,
    /// Fastest slide, m/s.
    pub speed: Option<f64>,
    /// Longest rest between two slides, s.
    pub hold: Option<f64>,
    /// Standard deviation of measured less computed force, N.
    pub residual: f64,
    /// Standard deviation of the noise of the force, as neighbouring rows show it, N.
    pub noise: f64,
    /// The residual as part of the largest force.
    pub residual_share: f64,
    /// By which factor fewer rows count because residuals hang together: 1 for pure noise.
    pub hang_together: f64,
    /// Friction coefficient with which it begins.
    pub mu_initial: f64,
    /// Times, displacement, measured and computed resistance, for a picture.
    #[serde(skip)]
    pub curve: Curve,
}

/// Rows of a record as the fit saw them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Times, s.
    pub times: Vec<f64>,
    /// Displacement, m.
    pub displacement: Vec<f64>,
    /// Measured resistance over normal force.
    pub measured: Vec<f64>,
    /// That of the law.
    pub computed: Vec<f64>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identified {
    /// μ_s, μ_k, κ, m, η, n, r, α.
    pub parameters: Vec<Parameter>,
    /// Correlations of the parameters in this order; 0 where one is not sought.
    pub correlation: Vec<Vec<f64>>,
    /// The records.
    pub records: Vec<Described>,
    /// Mean normal force, N.
    pub normal_force: f64,
    /// What to keep in mind.
    pub warnings: Vec<String>,
}

impl Identified {
    /// A parameter by its key in a scenario.
    pub fn parameter(&self, key: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.key == key)
    }
}

/// Key, symbol and unit of each parameter, in the order of results, with its place among the unknowns.
const KEYS: [(&str, &str, &str, usize); PARAMETERS] = [
    ("mu_static", "mu_s", "", MU_S),
    ("mu_kinetic", "mu_k", "", MU_K),
    ("kappa", "kappa", "1/m", KAPPA),
    ("kappa_exponent", "m", "", M),
    ("eta", "eta", "1/s", ETA),
    ("eta_exponent", "n", "", N),
    ("r", "r", "1/m", R),
    ("tangential_stiffness", "alpha", "N/m", ALPHA),
];

/// Keys of the parameters.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, ..)| *key)
}

/// Finds the parameters of the law from records of tests.
///
/// # Errors
/// If the records cannot be used: too few rows, no motion, no normal force, a known parameter that is none; or if the search was stopped.
pub fn identify(records: &[Record], options: &Options<'_>) -> Result<Identified, DataError> {
    check(records)?;
    let courses = courses(records);
    let mut records = records.to_vec();
    for (record, course) in records.iter_mut().zip(&courses) {
        record.test = Some(record.test.unwrap_or_else(|| recognised(course)));
    }
    let readings = read(&records, &courses);
    let fixed = known(options)?;
    let mut free = fixed.map(|known| known.is_none());
    let expected = beginning(&readings, &courses, &fixed);
    let mut problem = Problem {
        courses: &courses,
        evolution: options.evolution,
        noise: courses.iter().map(first_noise).collect(),
        free,
        rested: records
            .iter()
            .zip(&courses)
            .map(|(record, course)| begins_rested(record, course))
            .collect(),
        expected,
        stop: options.stop,
    };
    let stopped = || DataError::new("the search was stopped", "");
    let unfit = || {
        DataError::new(
            "the law could not be fitted to these records",
            "look at their columns and units",
        )
    };
    let starts = starts(&mut problem);
    let mut point = starts[0].clone();
    let mut assumed = [false; PARAMETERS];
    let errors = loop {
        for _ in 0..2 {
            point = problem.improve(point, ROUNDS);
            problem.noise = problem.noise_left(&point);
        }
        point = problem.improve(point, ROUNDS);
        if is_set(options.stop) {
            return Err(stopped());
        }
        let errors = problem.errors(&point).ok_or_else(unfit)?;
        // An exponent that the records do not tell would take the coefficient beside it along.
        let unknown = [M, N]
            .into_iter()
            .find(|i| free[*i] && errors.covariance[(*i, *i)].sqrt() > WEAKLY);
        let Some(exponent) = unknown else { break errors };
        (free[exponent], assumed[exponent]) = (false, true);
        problem.free = free;
        point.unknowns[exponent] = 0.0;
    };
    let left = problem.left(&point);
    let found = Found {
        records: &records,
        readings: &readings,
        unknowns: point.unknowns,
        covariance: &errors.covariance,
        information: &errors.information,
        free,
        assumed,
        starts: &starts,
        fixed: &fixed,
    };
    let mut parameters: Vec<Parameter> = KEYS.iter().map(|row| found.parameter(*row)).collect();
    let law = response::law(&point.unknowns, options.evolution);
    let described: Vec<Described> = (0..records.len())
        .map(|i| {
            let mu = law.mu_kinetic + point.starts[i].rested * (law.mu_static - law.mu_kinetic);
            let slides: Vec<&Slide> = readings.slides.iter().filter(|slide| slide.record == i).collect();
            described(&records[i], &courses[i], &left[i], mu, &slides)
        })
        .collect();
    let normal = courses
        .iter()
        .map(|course| course.normal.iter().sum::<f64>() / course.normal.len() as f64);
    let normal_force = normal.sum::<f64>() / courses.len() as f64;
    for (coefficient, exponent) in [("kappa", "kappa_exponent"), ("eta", "eta_exponent")] {
        let known = |key: &str| {
            parameters
                .iter()
                .find(|parameter| parameter.key == key)
                .map(|found| found.identifiable)
        };
        if known(coefficient) == Some(Identifiable::No) && known(exponent) != Some(Identifiable::Given) {
            let exponent = parameters.iter_mut().filter(|parameter| parameter.key == exponent);
            exponent.for_each(|exponent| {
                exponent.disown(&format!("nothing is told of {coefficient}, whose exponent it is"))
            });
        }
    }
    let told = |key: &str| {
        let known = parameters.iter().find(|parameter| parameter.key == key);
        known.is_some_and(|parameter| parameter.identifiable != Identifiable::No)
    };
    let warnings = found.warnings(&described, &courses, &law, normal_force, &told);
    if !follows(&described) {
        let found =
            |parameter: &&mut Parameter| !matches!(parameter.identifiable, Identifiable::Given | Identifiable::Assumed);
        for parameter in parameters.iter_mut().filter(found) {
            parameter.disown("the law does not follow these records: look at their columns, units and displacement");
        }
    }
    Ok(Identified {
        correlation: found.correlation(),
        parameters,
        records: described,
        normal_force,
        warnings,
    })
}

/// Points from which all parameters find their way, the best first, and how far each is from it: with exponents of 1, from several rates of
/// healing, which a curve shows least, and from a lower kinetic level, which slow slides do not show.
fn starts(problem: &mut Problem<'_>) -> Vec<Point> {
    let free = problem.free;
    (problem.free[M], problem.free[N]) = (false, false);
    let begun = problem.search();
    let mut changes: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    if free[ETA] {
        changes.extend([vec![(ETA, 2.3)], vec![(ETA, -2.3)]]);
    }
    if free[MU_K] && free[MU_S] {
        // μ_s stays.
        let [mu_k, drop] = [begun.unknowns[MU_K], begun.unknowns[MU_S]].map(libm::exp);
        changes.push(vec![(MU_K, libm::log(0.6)), (MU_S, libm::log(1.0 + 0.4 * mu_k / drop))]);
    }
    let tried = changes.iter().map(|change| {
        let mut point = begun.clone();
        for (place, step) in change {
            point.unknowns[*place] += step;
        }
        let point = problem.improve(point, FEW_ROUNDS);
        let cost = problem.cost_of(&point);
        (point, cost)
    });
    let mut tried: Vec<(Point, f64)> = tried.collect();
    tried.sort_by(|a, b| a.1.total_cmp(&b.1));
    let best = tried[0].1;
    tried.retain(|(_, cost)| *cost <= best + AS_GOOD);
    problem.free = free;
    tried.into_iter().map(|(point, _)| point).collect()
}

fn check(records: &[Record]) -> Result<(), DataError> {
    if records.is_empty() {
        return Err(DataError::new(
            "there is no record",
            "name a file with the rows of a test",
        ));
    }
    if records.len() > MOST_RECORDS {
        return Err(DataError::new(
            format!("there are {} records, more than {MOST_RECORDS}", records.len()),
            "is the column that names them the right one?",
        ));
    }
    for record in records {
        let name = &record.name;
        let rows = record.times.len();
        if rows < LEAST_ROWS {
            return Err(DataError::new(
                format!("record {name} has {rows} rows; it takes at least {LEAST_ROWS}"),
                "give the whole course of a test, not only its peaks",
            ));
        }
        if [record.displacement.len(), record.force.len(), record.normal.len()]
            .iter()
            .any(|other| *other != rows)
        {
            return Err(DataError::new(
                format!("record {name} has columns of different lengths"),
                "",
            ));
        }
        let columns = [&record.times, &record.displacement, &record.force, &record.normal];
        if columns.iter().any(|column| column.iter().any(|x| !x.is_finite())) {
            return Err(DataError::new(
                format!("record {name} has numbers that are not finite"),
                "",
            ));
        }
        if record.times.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(DataError::new(format!("times of record {name} do not increase"), ""));
        }
        if record.normal.iter().any(|normal| *normal <= 0.0) {
            return Err(DataError::new(
                format!("the normal force of record {name} is not above 0 everywhere"),
                "friction needs a contact that is pressed together",
            ));
        }
        if record.displacement.iter().all(|x| *x == record.displacement[0]) {
            return Err(DataError::new(
                format!("nothing moves in record {name}"),
                "the displacement is that of one side of the contact against the other",
            ));
        }
        if record.force.iter().all(|q| *q == record.force[0]) {
            return Err(DataError::new(format!("the force of record {name} never changes"), ""));
        }
    }
    Ok(())
}

/// Known parameters as unknowns.
fn known(options: &Options<'_>) -> Result<[Option<f64>; PARAMETERS], DataError> {
    let mut known = [None; PARAMETERS];
    for (key, value) in &options.known {
        let row = KEYS.iter().find(|row| row.0 == key);
        let Some((.., place)) = row else {
            let list = keys().collect::<Vec<_>>().join(", ");
            return Err(DataError::new(
                format!("there is no parameter \"{key}\""),
                format!("parameters: {list}"),
            ));
        };
        if !(*value > 0.0 && value.is_finite()) {
            return Err(DataError::new(format!("{key} must be a number above 0"), ""));
        }
        known[*place] = Some(*value);
    }
    // μ_s is sought as its distance from μ_k: it is known only together with that.
    match (known[MU_S], known[MU_K]) {
        (Some(_), None) => Err(DataError::new(
            "mu_static can be given only together with mu_kinetic",
            "give both, or leave both to the records",
        )),
        (Some(mu_s), Some(mu_k)) if mu_s <= mu_k => Err(DataError::new("mu_static must be above mu_kinetic", "")),
        _ => Ok(known),
    }
}

/// Noise of the force before anything is fitted.
fn first_noise(course: &Course) -> f64 {
    let largest = course.resistance.iter().fold(0.0, |most: f64, q| most.max(q.abs()));
    super::measured::noise(&course.times, &course.resistance).max(1e-3 * largest)
}

/// A record of a long hold begins fully rested, unless it shows the slide before its hold: then the hold itself is computed.
fn begins_rested(record: &Record, course: &Course) -> bool {
    let slides = |phase: &course::Phase| phase.direction != 0;
    let rest_after_slide = (course.phases.iter().skip_while(|phase| !slides(phase))).any(|phase| !slides(phase));
    record.test == Some(Test::LongHold) && !rest_after_slide
}

/// The test that a motion looks like.
fn recognised(course: &Course) -> Test {
    let slides = |phase: &&course::Phase| phase.direction != 0;
    let long = |phase: &course::Phase| (course.motion[phase.last] - course.motion[phase.first]).abs();
    let ways: Vec<f64> = course.phases.iter().filter(slides).map(long).collect();
    let longest = ways.iter().fold(0.0, |most: f64, way| most.max(*way));
    // A slide, a rest, a slide.
    let mut from_rest = course
        .phases
        .iter()
        .skip_while(|phase| !slides(phase))
        .skip_while(slides);
    if from_rest.any(|phase| slides(&phase)) {
        return Test::Recovery;
    }
    if ways.iter().filter(|way| **way > 0.3 * longest).count() > 2 {
        return Test::Cyclic;
    }
    let most = course.resistance.iter().fold(0.0, |most: f64, q| most.max(q.abs()));
    let end = &course.resistance[course.resistance.len() - course.resistance.len().div_ceil(20)..];
    let end = (end.iter().sum::<f64>() / end.len() as f64).abs();
    if end > 0.93 * most {
        Test::Presliding
    } else {
        Test::Transition
    }
}

/// Where the search begins: the readings, and orders of magnitude where there are none.
fn beginning(readings: &Readings, courses: &[Course], fixed: &[Option<f64>; PARAMETERS]) -> Unknowns {
    let reading = |place: usize| {
        readings.read[place]
            .as_ref()
            .map(|(value, _)| *value)
            .filter(|value| *value > 0.0)
    };
    let ratios = courses
        .iter()
        .flat_map(|course| course.resistance.iter().zip(&course.normal));
    let highest = ratios
        .map(|(q, normal)| (q / normal).abs())
        .fold(f64::MIN_POSITIVE, f64::max);
    let mu_k = fixed[MU_K].or(reading(MU_K)).unwrap_or(0.5 * highest);
    let mu_s = fixed[MU_S].unwrap_or_else(|| (1.08 * reading(MU_S).unwrap_or(highest)).max(1.1 * mu_k));
    let way = courses.iter().map(|course| {
        let (low, high) = course
            .motion
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(*x), high.max(*x))
            });
        high - low
    });
    let way = way.fold(0.0, f64::max);
    let normal = courses[0].normal[0];
    let kappa = fixed[KAPPA].or(reading(KAPPA)).unwrap_or(mu_k / way);
    let speeds = readings.slides.iter().map(|slide| slide.speed);
    let slowest = speeds.fold(f64::INFINITY, f64::min);
    let slow = if slowest.is_finite() { slowest } else { 1e-6 };
    let alpha = fixed[ALPHA].or(reading(ALPHA)).unwrap_or(20.0 * mu_s * normal / way);
    let r = fixed[R].or(reading(R)).unwrap_or(20.0 * kappa / mu_k);
    let eta = fixed[ETA].or(reading(ETA)).unwrap_or(kappa * slow);
    let mut values = [1.0; PARAMETERS];
    values[MU_K] = mu_k;
    values[MU_S] = mu_s - mu_k;
    values[KAPPA] = kappa;
    values[M] = fixed[M].unwrap_or(1.0);
    values[ETA] = eta;
    values[N] = fixed[N].unwrap_or(1.0);
    values[R] = r;
    values[ALPHA] = alpha;
    values.map(|value| libm::log(value.max(f64::MIN_POSITIVE)))
}

fn described(record: &Record, course: &Course, left: &(Vec<f64>, Vec<f64>), mu: f64, slides: &[&Slide]) -> Described {
    let (left, computed) = left;
    let rows = left.len() as f64;
    let residual = (left.iter().map(|x| x * x).sum::<f64>() / rows).sqrt();
    let largest = course
        .resistance
        .iter()
        .fold(f64::MIN_POSITIVE, |most, q| most.max(q.abs()));
    let over = |forces: &[f64]| {
        forces
            .iter()
            .zip(&course.normal)
            .map(|(q, normal)| q / normal)
            .collect()
    };
    Described {
        name: record.name.clone(),
        test: record.test.unwrap_or(Test::Transition),
        rows: record.times.len(),
        duration: record.times[record.times.len() - 1] - record.times[0],
        speed: slides.iter().map(|slide| slide.speed).reduce(f64::max),
        hold: slides.iter().filter_map(|slide| slide.rest).reduce(f64::max),
        residual,
        noise: super::measured::noise(&course.times, &course.resistance),
        residual_share: residual / largest,
        hang_together: hang_together(left),
        mu_initial: mu,
        curve: Curve {
            times: course.times.clone(),
            displacement: course.motion.clone(),
            measured: over(&course.resistance),
            computed: over(computed),
        },
    }
}

/// Value of a parameter, and its derivatives by the unknowns.
fn value(unknowns: &Unknowns, place: usize) -> (f64, [f64; PARAMETERS]) {
    let mut slopes = [0.0; PARAMETERS];
    let own = libm::exp(unknowns[place]);
    slopes[place] = own;
    if place != MU_S {
        return (own, slopes);
    }
    let mu_k = libm::exp(unknowns[MU_K]);
    slopes[MU_K] = mu_k;
    (own + mu_k, slopes)
}

/// A solution on its way to results.
struct Found<'a> {
    records: &'a [Record],
    readings: &'a Readings,
    unknowns: Unknowns,
    covariance: &'a nalgebra::DMatrix<f64>,
    information: &'a [[f64; PARAMETERS]],
    free: [bool; PARAMETERS],
    assumed: [bool; PARAMETERS],
    /// Solutions with exponents of 1 that fit about as well, the best first.
    starts: &'a [Point],
    /// Values that were given, as they were.
    fixed: &'a [Option<f64>; PARAMETERS],
}

impl Found<'_> {
    /// Standard error: that of the noise, and as far as other solutions are off that fit as well.
    fn error(&self, place: usize) -> f64 {
        let others = self.starts.iter().map(|point| value(&point.unknowns, place).0);
        let (low, high) = others.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        self.together(place, place).sqrt().max(high - low)
    }

    fn value(&self, place: usize) -> (f64, [f64; PARAMETERS]) {
        value(&self.unknowns, place)
    }

    /// Covariance of two parameters.
    fn together(&self, first: usize, second: usize) -> f64 {
        let (a, b) = (self.value(first).1, self.value(second).1);
        let mut sum = 0.0;
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                sum += a * self.covariance[(i, j)] * b;
            }
        }
        sum
    }

    fn correlation(&self) -> Vec<Vec<f64>> {
        let error = |place: usize| self.together(place, place).sqrt();
        let between = |first: usize, second: usize| {
            let scale = error(first) * error(second);
            if scale > 0.0 {
                self.together(first, second) / scale
            } else {
                0.0
            }
        };
        KEYS.iter()
            .map(|a| KEYS.iter().map(|b| between(a.3, b.3)).collect())
            .collect()
    }

    fn parameter(&self, (key, symbol, unit, place): (&'static str, &'static str, &'static str, usize)) -> Parameter {
        let (value, _) = self.value(place);
        let error = self.error(place);
        let relative = error / value;
        // Friction that was not seen to fall may fall farther elsewhere.
        let unseen = place == MU_K && self.free[KAPPA] && self.error(KAPPA) > WEAKLY * self.value(KAPPA).0;
        let identifiable = match relative {
            _ if self.assumed[place] => Identifiable::Assumed,
            _ if !self.free[place] => Identifiable::Given,
            _ if unseen => Identifiable::No,
            e if e <= KNOWN => Identifiable::Yes,
            e if e <= WEAKLY => Identifiable::Weak,
            _ => Identifiable::No,
        };
        let sought = matches!(identifiable, Identifiable::Yes | Identifiable::Weak);
        let reach = libm::exp(NINETY_FIVE * relative);
        Parameter {
            key,
            symbol,
            unit,
            value: (identifiable != Identifiable::No).then_some(self.fixed[place].unwrap_or(value)),
            error: sought.then_some(error),
            low: sought.then_some(value / reach),
            high: sought.then_some(value * reach),
            identifiable,
            reading: self.readings.read[place].as_ref().map(|(value, _)| *value),
            how: self.how(place, identifiable),
            records: if sought { self.sources(place) } else { Vec::new() },
        }
    }

    /// The records that say most about a parameter.
    fn sources(&self, place: usize) -> Vec<(String, f64)> {
        let all: f64 = self.information.iter().map(|said| said[place]).sum();
        let mut parts: Vec<(String, f64)> = (self.records.iter().zip(self.information))
            .map(|(record, said)| (record.name.clone(), said[place] / all))
            .filter(|(_, part)| *part >= 0.05)
            .collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts.truncate(4);
        parts
    }

    fn how(&self, place: usize, identifiable: Identifiable) -> String {
        match identifiable {
            Identifiable::Given => "given".to_string(),
            Identifiable::Assumed => format!("assumed: {}", self.missing(place)),
            Identifiable::No => self.missing(place).to_string(),
            Identifiable::Yes | Identifiable::Weak => {
                let read = self.readings.read[place].as_ref().map(|(_, how)| how.clone());
                read.map_or_else(
                    || shape(place).to_string(),
                    |how| format!("read from the {how}; then least squares"),
                )
            }
        }
    }

    /// Which records would tell a parameter.
    fn missing(&self, place: usize) -> &'static str {
        let has = |test: Test| self.records.iter().any(|record| record.test == Some(test));
        match place {
            MU_S if has(Test::LongHold) => {
                "the peak after the long hold depends on how friction falls before it, which these records do not tell: add slides at other speeds (transition)"
            }
            MU_S => {
                "no record begins after a long rest: add one and name its test long-hold, or add rests of several lengths (recovery)"
            }
            MU_K if has(Test::FastSliding) => {
                "how friction falls is not told, so it may fall farther than it did: add slides at several speeds (transition), with many rows"
            }
            MU_K => "no record slides far and fast enough to reach its lowest friction: add one (fast-sliding)",
            KAPPA if has(Test::Transition) || has(Test::FastSliding) => {
                "the fall from peak to steady sliding is not told apart from other changes: add slides at several speeds (transition), with many rows"
            }
            KAPPA => {
                "no record shows the fall from a peak to steady sliding: add slides at several speeds (transition)"
            }
            M => {
                "the fall from peak to steady sliding is not shown closely enough to tell its shape: add transition records with more rows"
            }
            ETA if has(Test::Recovery) => {
                "these rests do not tell how fast friction recovers: add shorter and longer ones (recovery)"
            }
            ETA => {
                "no record shows friction recover: add slides after rests of several lengths (recovery), or slower slides"
            }
            N => {
                "too few lengths of rest to tell the shape of the recovery: add recovery records with shorter and longer rests"
            }
            R => {
                "no record shows how the first slope bends into sliding: add a slow motion with many rows before the peak (presliding, cyclic)"
            }
            _ => {
                "no record shows the first slope of force over displacement: add a slow motion with many rows before the peak (presliding, cyclic)"
            }
        }
    }

    fn warnings(
        &self,
        described: &[Described],
        courses: &[Course],
        law: &stickslip_core::friction::subloading::Subloading<f64>,
        normal_force: f64,
        told: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        for record in described {
            if record.hang_together > 3.0 && record.residual_share > 1e-3 {
                warnings.push(format!(
                    "the law does not follow record {} as noise would leave it (its rows count {:.1} times less): errors are widened",
                    record.name, record.hang_together
                ));
            }
        }
        let stretch = law.mu_static * normal_force / law.stiffness;
        let noisy = |course: &&Course| course.cleaned && course.motion_noise > 0.1 * stretch;
        let noisy = courses.iter().filter(noisy).count();
        if noisy > 0 && told("mu_static") && told("tangential_stiffness") {
            warnings.push(format!(
                "in {noisy} of {} records the noise of the displacement is above a tenth of the elastic stretch of the contact ({stretch:.1e} m): the errors \
                 here do not count what that adds",
                courses.len()
            ));
        }
        let cleaned = courses.iter().filter(|course| course.cleaned).count();
        if cleaned > 0 {
            warnings.push(format!(
                "the displacement of {cleaned} of {} records was cleaned of noise: straight pieces in time took its place",
                courses.len()
            ));
        }
        let group = courses.first().map_or(1.0, |course| course.rows);
        if group > 1.0 {
            warnings.push(format!(
                "means of {group} rows each were fitted: there are very many rows"
            ));
        }
        let snaps = law.unique_above(normal_force);
        let all = ["mu_static", "mu_kinetic", "kappa", "tangential_stiffness"]
            .into_iter()
            .all(told);
        if law.stiffness <= snaps && self.free[ALPHA] && all {
            warnings.push(format!(
                "tangential_stiffness is below {snaps:.3e} N/m, where the contact snaps: the displacement alone does not tell its force"
            ));
        }
        warnings
    }
}

/// How a parameter without a reading was found.
fn shape(place: usize) -> &'static str {
    match place {
        M => "shape of the fall after the peaks, by least squares",
        N => "shape of the recovery with time, by least squares",
        _ => "by least squares over all records",
    }
}
