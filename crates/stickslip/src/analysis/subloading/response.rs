//! What the law answers to the motion of a record.

use super::course::Course;
use stickslip_core::friction::subloading::{Evolution, State, Subloading};

/// The number of parameters.
pub(super) const PARAMETERS: usize = 8;
/// Their places: μ_k, μ_s, κ, m, η, n, r, α.
pub(super) const MU_K: usize = 0;
pub(super) const MU_S: usize = 1;
pub(super) const KAPPA: usize = 2;
pub(super) const M: usize = 3;
pub(super) const ETA: usize = 4;
pub(super) const N: usize = 5;
pub(super) const R: usize = 6;
pub(super) const ALPHA: usize = 7;

/// Parameters as unknowns: logarithms of each, and for μ_s that of μ_s − μ_k, so that every set of unknowns is a law.
pub(super) type Unknowns = [f64; PARAMETERS];

/// The law of a set of unknowns.
pub(super) fn law(unknowns: &Unknowns, evolution: Evolution) -> Subloading<f64> {
    let [mu_k, drop, kappa, m, eta, n, r, alpha] = unknowns.map(libm::exp);
    let law = Subloading::plain(mu_k + drop, mu_k, alpha, kappa, eta, r).with_exponents(m, n);
    Subloading { evolution, ..law }
}

/// Where a record begins: not measured, so it is found along with the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    /// How far μ is from μ_k (0) to μ_s (1).
    pub rested: f64,
    /// The resistance.
    pub resistance: f64,
}

impl Start {
    fn state(&self, law: &Subloading<f64>, normal: f64) -> State<f64, 1> {
        let mu = law.mu_kinetic + self.rested.clamp(0.0, 1.0) * (law.mu_static - law.mu_kinetic);
        let limit = mu * normal.max(f64::MIN_POSITIVE);
        let resistance = self.resistance.clamp(-limit, limit);
        State {
            stretch: [resistance / law.stiffness],
            ratio: resistance.abs() / limit,
            ..State::unloaded(mu)
        }
    }
}

/// How one row's step is done: in how many parts, and whether by the return mapping, which is stable however long a part is, or by the
/// rates and the classical method of fourth order, which is faster where parts are short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    count: u16,
    mapped: bool,
}

impl Parts {
    fn new(law: &Subloading<f64>, course: &Course, row: usize, count: u16) -> Self {
        let moved = (course.motion[row + 1] - course.motion[row]).abs() * law.r;
        let healed = (course.times[row + 1] - course.times[row]) * law.eta / law.mu_static;
        Parts {
            count,
            mapped: moved + healed > 0.7 * f64::from(count),
        }
    }
}

/// Most parts of one row's step, while searching and at the end.
const MOST_PARTS: [u16; 2] = [16, 64];

/// One row's step: speed and rate of the normal force are constant.
fn across(law: &Subloading<f64>, mut state: State<f64, 1>, course: &Course, row: usize, parts: Parts) -> State<f64, 1> {
    let part = 1.0 / f64::from(parts.count);
    let moved = (course.motion[row + 1] - course.motion[row]) * part;
    let time = (course.times[row + 1] - course.times[row]) * part;
    let (from, to) = (course.normal[row], course.normal[row + 1]);
    let pressed = |parts: f64| from + (to - from) * (parts * part);
    for i in 0..parts.count {
        let done = f64::from(i);
        state = if parts.mapped {
            law.return_map(&state, [moved], pressed(done + 1.0), time).state
        } else {
            let normal = [pressed(done), pressed(done + 0.5), pressed(done + 1.0)];
            runge_kutta(law, state, moved / time, time, normal)
        };
    }
    state
}

/// A step of the rates, with the normal force at its beginning, middle and end.
fn runge_kutta(law: &Subloading<f64>, state: State<f64, 1>, speed: f64, time: f64, normal: [f64; 3]) -> State<f64, 1> {
    let load_rate = (normal[2] - normal[0]) / time;
    let rate = |stretch: f64, mu: f64, normal: f64| {
        let mu = mu.clamp(law.mu_kinetic, law.mu_static);
        let moved = law.rate([stretch], mu, [speed], normal, load_rate, 0.0);
        (moved.stretch_rate[0], moved.mu_rate)
    };
    let (u, mu) = (state.stretch[0], state.mu);
    let half = 0.5 * time;
    let a = rate(u, mu, normal[0]);
    let b = rate(u + half * a.0, mu + half * a.1, normal[1]);
    let c = rate(u + half * b.0, mu + half * b.1, normal[1]);
    let d = rate(u + time * c.0, mu + time * c.1, normal[2]);
    let stretch = u + time / 6.0 * (a.0 + 2.0 * (b.0 + c.0) + d.0);
    let mu = (mu + time / 6.0 * (a.1 + 2.0 * (b.1 + c.1) + d.1)).clamp(law.mu_kinetic, law.mu_static);
    State {
        stretch: [stretch],
        ratio: (law.stiffness * stretch.abs() / (mu * normal[2])).min(1.0),
        ..State::unloaded(mu)
    }
}

/// The resistance at every row, and the parts that keep the error of each row's step below `tolerance` of the limit.
pub(super) fn plan(
    law: &Subloading<f64>,
    course: &Course,
    start: Start,
    tolerance: f64,
    rough: bool,
) -> (Vec<f64>, Vec<Parts>) {
    let most = MOST_PARTS[usize::from(!rough)];
    let mut state = start.state(law, course.normal[0]);
    let mut forces = vec![law.stiffness * state.stretch[0]];
    let mut plan = Vec::with_capacity(course.times.len());
    let mut usual = 2;
    for row in 0..course.times.len() - 1 {
        let limit = law.mu_static * course.normal[row + 1] / law.stiffness;
        let mut parts = Parts::new(law, course, row, (usual / 4).max(1));
        let mut coarse = across(law, state, course, row, parts);
        loop {
            parts = Parts::new(law, course, row, 2 * parts.count);
            let fine = across(law, state, course, row, parts);
            let off = (fine.stretch[0] - coarse.stretch[0]).abs() / limit + (fine.mu - coarse.mu).abs() / law.mu_static;
            // At second order the finer one is nearer by a factor of 4.
            if off <= 3.0 * tolerance || parts.count >= most {
                state = fine;
                break;
            }
            coarse = fine;
        }
        usual = parts.count;
        plan.push(parts);
        forces.push(law.stiffness * state.stretch[0]);
    }
    (forces, plan)
}

/// The resistance at every row, in the parts of a plan: differences between two laws are then free of its changes.
pub(super) fn follow(law: &Subloading<f64>, course: &Course, start: Start, parts: &[Parts]) -> Vec<f64> {
    let mut state = start.state(law, course.normal[0]);
    let mut forces = vec![law.stiffness * state.stretch[0]];
    for (row, parts) in parts.iter().enumerate() {
        state = across(law, state, course, row, *parts);
        forces.push(law.stiffness * state.stretch[0]);
    }
    forces
}
