//! Steady sliding of a driven network and its linear stability: eigenvalues of the linearised equations, with the derivatives
//! of the laws by dual numbers.
//!
//! Drivers move at constant speed, springs keep their stretch, the states of friction have settled. Whether a small
//! disturbance grows from there is another question than whether the motion that comes of it is large: a law that weakens
//! with speed can be linearly unstable at every speed and yet end in cycles too small to notice.

use crate::math::pseudo_inverse;
use crate::network::Network;
use crate::network::stage::evaluate_at;
use crate::profile::Profile;
use crate::scenario::{BodySpec, DriverMotion, ElementSpec, NormalForce, Scenario};
use crate::simulation::Simulation;
use crate::stop::{Stop, is_set};
use nalgebra::{DMatrix, DVector, Schur};
use serde::Serialize;

/// The linearised motion around steady sliding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadySliding {
    /// Whether every disturbance dies out.
    pub stable: bool,
    /// Rate at which the fastest disturbance grows, 1/s: the largest real part of the eigenvalues; negative if it dies out.
    pub growth: f64,
    /// Its angular frequency, rad/s; 0 if it grows without swinging.
    pub frequency: f64,
    /// All eigenvalues, real and imaginary part, 1/s, the fastest growing first.
    pub eigenvalues: Vec<[f64; 2]>,
}

/// Steps of pseudo-time in which the states of friction settle.
const SETTLING: i32 = 260;
/// How much longer each of them is than the one before.
const LONGER: f64 = 1.15;
/// Slip of the first step of pseudo-time, m: far below the stretch of any bristle.
const FIRST_SLIP: f64 = 1e-12;
/// Rounds of settling and balancing.
const ROUNDS: usize = 8;
/// How far from where they settled, as part of the way they came, the states of friction are linearised.
const INSIDE: f64 = 1e-13;
/// Rounds in which the eigenvalues must be found; a few for each are usual.
const MOST_ROTATIONS: usize = 10_000;
/// Larger networks are not looked at: the matrices are dense.
const MOST_STATES: usize = 200;
/// A real part counts as zero below this part of the largest eigenvalue: rounding of the matrix.
const ROUNDING: f64 = 1e-10;

impl SteadySliding {
    /// Finds the steady sliding of a simulation, or says why there is none: nothing slides, a drive is not steady, a law has no
    /// differential equation, or there are rigid bodies or linkages.
    pub fn of(simulation: &Simulation) -> Result<Self, String> {
        Self::find(simulation, None)
    }

    /// As [`SteadySliding::of`]; given up once `stop` is set.
    pub fn find(simulation: &Simulation, stop: Option<&Stop>) -> Result<Self, String> {
        let scenario = simulation.scenario();
        driven_steadily(scenario)?;
        let network = &simulation.built().network;
        let explicit = network.frictions.is_empty();
        if explicit && network.settling_step == 0.0 {
            return Search::new(simulation, stop)?.find();
        }
        // The implicit step keeps frictions apart from the differential equations, explicit ones bound how fast bristles settle: ask for the equations.
        let mut other = scenario.clone();
        other.simulation.integrator = "stiff".to_string();
        match Simulation::new(other) {
            Ok(other) => Search::new(&other, stop)?.find(),
            Err(_) if explicit => Search::new(simulation, stop)?.find(),
            Err(error) => {
                let message = error.diagnostics.first().map_or("", |first| first.message.as_str());
                Err(format!("it takes a law with a differential equation: {message}"))
            }
        }
    }
}

/// Why the drive is not steady: every driver must have a constant velocity, one of them must move, and nothing else may change
/// with time.
fn driven_steadily(scenario: &Scenario) -> Result<(), String> {
    let constant = |profile: &Profile| matches!(profile, Profile::Constant(_));
    let refuse = |reason: String| Err(reason);
    if scenario.inclusion.is_some() {
        return refuse("equations of an inclusion are not linearised".into());
    }
    if scenario.chain.is_some() || scenario.spheres.is_some() {
        return refuse("a chain and many spheres are not linearised".into());
    }
    for (name, element) in &scenario.elements {
        let steady = match element {
            ElementSpec::Actuator(actuator) => actuator.value.iter().all(constant),
            ElementSpec::Friction(spec) => match &spec.friction.normal_force {
                Some(NormalForce::Profile(profile)) => constant(profile),
                _ => true,
            },
            _ => true,
        };
        if !steady {
            return refuse(format!("\"{name}\" changes with time"));
        }
    }
    if !(scenario.elements.iter()).any(|(_, element)| matches!(element, ElementSpec::Friction(_))) {
        return refuse("nothing rubs".into());
    }
    let mut moves = false;
    for (name, body) in &scenario.bodies {
        let steady = match body {
            BodySpec::Mass(mass) => mass.force.iter().all(constant),
            BodySpec::Inertia(inertia) => inertia.torque.iter().all(constant),
            BodySpec::Driver(driver) => {
                let DriverMotion::Velocity(profiles) = &driver.motion else {
                    return refuse(format!(
                        "the position of \"{name}\" is given, and not a constant velocity"
                    ));
                };
                let speed = |profile: &Profile| match profile {
                    Profile::Constant(speed) => Some(*speed),
                    _ => None,
                };
                moves |= profiles
                    .iter()
                    .any(|profile| speed(profile).is_some_and(|speed| speed != 0.0));
                profiles.iter().all(constant)
            }
            _ => return refuse(format!("\"{name}\" is neither mass, inertia nor driver")),
        };
        if !steady {
            return refuse(format!("\"{name}\" changes with time"));
        }
    }
    match moves {
        true => Ok(()),
        false => refuse("no driver moves".into()),
    }
}

/// Directions that nothing holds have less than this part of the largest stiffness.
const UNHELD: f64 = 1e-12;

/// The inverse where there is one, and 0 along directions that nothing holds.
fn inverse(stiffness: &DMatrix<f64>) -> Result<DMatrix<f64>, String> {
    pseudo_inverse(stiffness, UNHELD).ok_or_else(|| "the springs are too stiff".into())
}

/// A state on its way to steady sliding.
struct Search<'a> {
    network: &'a Network,
    scratch: crate::network::Scratch,
    state: Vec<f64>,
    rate: Vec<f64>,
    jacobian: DMatrix<f64>,
    /// Indices of free velocities, and of element states.
    free: Vec<usize>,
    states: Vec<usize>,
    /// Numbers of the frictions among the elements.
    frictions: Vec<usize>,
    stop: Option<&'a Stop>,
}

impl<'a> Search<'a> {
    fn new(simulation: &'a Simulation, stop: Option<&'a Stop>) -> Result<Self, String> {
        let network = &simulation.built().network;
        let elements = simulation.scenario().elements.iter().enumerate();
        let layout = &network.layout;
        let n = layout.integrated();
        if layout.masses == 0 || layout.velocities != layout.masses + layout.drivers {
            return Err("nothing moves freely but rigid bodies and linkages".into());
        }
        if n > MOST_STATES {
            return Err(format!("there are {n} numbers of state, more than {MOST_STATES}"));
        }
        let mut search = Search {
            network,
            scratch: network.scratch(),
            state: network.initial.clone(),
            rate: vec![0.0; n],
            jacobian: DMatrix::zeros(n, n),
            free: (layout.positions..layout.positions + layout.masses).collect(),
            states: (layout.first_state()..n).collect(),
            frictions: elements
                .filter_map(|(i, (_, element))| matches!(element, ElementSpec::Friction(_)).then_some(i))
                .collect(),
            stop,
        };
        search.evaluate();
        Ok(search)
    }

    /// Rate and its derivative at the present state.
    fn evaluate(&mut self) {
        let n = self.rate.len();
        let mut matrix = vec![0.0; n * n];
        let mut base = vec![0.0; 2 * n];
        let (trial, _, mut room) = self.scratch.parts();
        trial.copy_from_slice(&self.state);
        evaluate_at::<false>(self.network, trial, &mut room, 0.0);
        self.state.copy_from_slice(trial);
        self.rate.copy_from_slice(&room.rate[..n]);
        let sizes = self.state.clone();
        self.network.jacobian(
            trial,
            &mut room,
            |i| sizes[i].abs().max(1e-6),
            &mut matrix,
            &mut base,
            None,
        );
        self.jacobian = DMatrix::from_row_slice(n, n, &matrix);
    }

    /// Part of the derivative.
    fn part(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        DMatrix::from_fn(rows.len(), columns.len(), |i, j| self.jacobian[(rows[i], columns[j])])
    }

    fn find(mut self) -> Result<SteadySliding, String> {
        let positions = self.network.layout.positions;
        let free_positions: Vec<usize> = self.free.iter().map(|v| v - positions).collect();
        // Springs keep their stretch: the accelerations do not change as everything moves on, Σ ∂a/∂x·v = 0.
        let stiffness = self.part(&self.free, &free_positions);
        let driven: Vec<usize> = self.network.drives.iter().map(|drive| drive.coordinate.v).collect();
        let driven_positions: Vec<usize> = driven.iter().map(|v| v - positions).collect();
        let speeds = DVector::from_iterator(driven.len(), driven.iter().map(|v| self.state[*v]));
        let pull = -self.part(&self.free, &driven_positions) * speeds;
        let velocities = inverse(&stiffness)? * pull;
        for (i, v) in self.free.iter().enumerate() {
            self.state[*v] = velocities[i];
        }
        for _ in 0..ROUNDS {
            self.settle()?;
            let stiffness = self.part(&self.free, &free_positions);
            let excess = DVector::from_iterator(self.free.len(), self.free.iter().map(|v| -self.rate[*v]));
            let moved = inverse(&stiffness)? * excess;
            for (i, q) in free_positions.iter().enumerate() {
                self.state[*q] += moved[i];
            }
            self.evaluate();
            if self.settled() {
                self.step_back();
                return if self.slides() {
                    self.linearised()
                } else {
                    Err("not every friction slides".into())
                };
            }
        }
        Err("the states of friction do not settle".into())
    }

    /// Lets the states of friction settle at the present velocities: steps of backward Euler that grow longer and longer.
    fn settle(&mut self) -> Result<(), String> {
        let velocities = &self.state[self.network.layout.velocities()];
        let speed = velocities.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if speed == 0.0 {
            return Err("nothing slides".into());
        }
        let mut step = FIRST_SLIP / speed;
        for _ in 0..SETTLING {
            if is_set(self.stop) {
                return Err("it was stopped".into());
            }
            self.evaluate();
            let n = self.states.len();
            let matrix = DMatrix::identity(n, n) - step * self.part(&self.states, &self.states);
            let rates = DVector::from_iterator(n, self.states.iter().map(|i| step * self.rate[*i]));
            let change = matrix
                .lu()
                .solve(&rates)
                .filter(|change| change.iter().all(|x| x.is_finite()));
            let change = change.ok_or("the states of friction do not settle")?;
            for (i, state) in self.states.iter().enumerate() {
                self.state[*state] += change[i];
            }
            step *= LONGER;
        }
        self.evaluate();
        Ok(())
    }

    /// Whether accelerations and rates of states are what rounding leaves.
    fn settled(&self) -> bool {
        self.state.iter().all(|x| x.is_finite())
            && self.jacobian.iter().all(|x| x.is_finite())
            && (self.free.iter().chain(&self.states)).all(|&i| {
                let terms = (0..self.rate.len()).map(|j| (self.jacobian[(i, j)] * self.state[j]).abs());
                self.rate[i].abs() <= 1e-9 * terms.fold(0.0, f64::max).max(f64::MIN_POSITIVE)
            })
    }

    /// Moves the states of friction a little towards where they came from. A law may end at a bound with a kink, as R = 1 of
    /// subloading friction, which they approach from inside; rounding may have put them beyond.
    fn step_back(&mut self) {
        for &i in &self.states {
            self.state[i] += INSIDE * (self.network.initial[i] - self.state[i]);
        }
        self.evaluate();
    }

    /// Whether every friction slips, by more than rounding: one that sticks has a kink there.
    fn slides(&mut self) -> bool {
        let (trial, _, mut room) = self.scratch.parts();
        trial.copy_from_slice(&self.state);
        evaluate_at::<true>(self.network, trial, &mut room, 0.0);
        let speeds = trial[self.network.layout.velocities()].iter();
        let rounding = 1e-9 * speeds.fold(0.0f64, |most, v| most.max(v.abs()));
        self.frictions
            .iter()
            .all(|&i| room.seen[i].velocity.iter().any(|v| v.abs() > rounding))
    }

    fn linearised(&self) -> Result<SteadySliding, String> {
        // What does not change by itself (drivers, states that only remember) has no part in it.
        let mut kept: Vec<usize> = (0..self.rate.len()).collect();
        loop {
            let moves = |&i: &usize| kept.iter().any(|&j| self.jacobian[(i, j)] != 0.0);
            let fewer: Vec<usize> = kept.iter().copied().filter(moves).collect();
            if fewer.len() == kept.len() {
                break;
            }
            kept = fewer;
        }
        if kept.is_empty() {
            return Err("no force depends on the motion".into());
        }
        let mut matrix = self.part(&kept, &kept);
        // Neither balancing nor the eigenvalues end where squares overflow.
        let usual = |x: &f64| *x == 0.0 || (1e-150..1e150).contains(&x.abs());
        if !matrix.iter().all(usual) {
            return Err("its derivatives are too large or too small".into());
        }
        nalgebra::linalg::balancing::balance_parlett_reinsch(&mut matrix);
        // Rounded where the last digits may depend on the machine's elementary functions.
        let rounded = |x: f64| format!("{x:.11e}").parse().unwrap_or(x) + 0.0;
        let found = Schur::try_new(matrix, f64::EPSILON, MOST_ROTATIONS).ok_or("its eigenvalues were not found")?;
        let found = found.complex_eigenvalues();
        let mut eigenvalues: Vec<[f64; 2]> = found.iter().map(|z| [rounded(z.re), rounded(z.im)]).collect();
        eigenvalues.sort_by(|a, b| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
        let largest = eigenvalues
            .iter()
            .fold(0.0, |most: f64, z| most.max(libm::hypot(z[0], z[1])));
        let [growth, frequency] = eigenvalues.first().copied().unwrap_or([0.0, 0.0]);
        let growth = if growth.abs() <= ROUNDING * largest {
            0.0
        } else {
            growth
        };
        Ok(SteadySliding {
            stable: growth < 0.0,
            growth,
            frequency: frequency.abs(),
            eigenvalues,
        })
    }
}
