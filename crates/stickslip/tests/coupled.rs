//! The coupled implicit step against closed forms, its own optimality conditions checked from the outside, and stored results of scipy.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stickslip::network::coupled::{Block, Blocks, Level, Outcome, Problem, Rows, Side, Solver};
use stickslip::network::sparse::Pattern;

/// g(s) = coulomb + (peak − coulomb)/(1 + (s/width)²) + viscous·s.
#[derive(Clone, Debug)]
struct Stribeck {
    coulomb: f64,
    peak: f64,
    width: f64,
    viscous: f64,
}

impl Stribeck {
    fn at(&self, s: f64) -> (f64, f64) {
        let x = s / self.width;
        let bell = (self.peak - self.coulomb) / (1.0 + x * x);
        let slope = -bell * 2.0 * x / (1.0 + x * x) / self.width;
        (self.coulomb + bell + self.viscous * s, slope + self.viscous)
    }
}

/// ψ(w) = offset + stiffness·w/√(1 + |w|²/knee²): a spring that yields.
#[derive(Clone, Debug)]
struct Yielding {
    offset: f64,
    stiffness: f64,
    knee: f64,
}

impl Yielding {
    fn evaluate(&self, w: &[f64], psi: &mut [f64], tangent: &mut [f64]) {
        let d = w.len();
        let square: f64 = w.iter().map(|x| x * x).sum::<f64>() / (self.knee * self.knee);
        let root = (1.0 + square).sqrt();
        for i in 0..d {
            psi[i] = self.offset + self.stiffness * w[i] / root;
            for j in 0..d {
                let own = if i == j { 1.0 / root } else { 0.0 };
                let turn = w[i] * w[j] / (self.knee * self.knee * root * root * root);
                tangent[i * d + j] = self.stiffness * (own - turn);
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Kind {
    Dry(f64, f64, bool),
    Curve(f64, bool, Stribeck),
    Smooth(Yielding),
    Contact(f64, f64, f64, bool),
    Lock,
}

struct Laws(Vec<Kind>);

impl Blocks for Laws {
    fn block(&self, i: usize) -> Block {
        match &self.0[i] {
            Kind::Dry(holding, kinetic, was_stuck) => Block::Dry {
                holding: (*holding).into(),
                kinetic: (*kinetic).into(),
                was_stuck: *was_stuck,
            },
            Kind::Curve(holding, was_stuck, _) => Block::Curve {
                holding: (*holding).into(),
                was_stuck: *was_stuck,
            },
            Kind::Smooth(_) => Block::Smooth,
            Kind::Contact(target, mu_static, mu_kinetic, was_stuck) => Block::Contact {
                target: *target,
                mu_static: *mu_static,
                mu_kinetic: *mu_kinetic,
                was_stuck: *was_stuck,
            },
            Kind::Lock => Block::Lock,
        }
    }

    fn steady(&self, i: usize, speed: f64) -> (Level, Level) {
        match &self.0[i] {
            Kind::Curve(_, _, curve) => {
                let (value, slope) = curve.at(speed);
                (
                    value.into(),
                    Level {
                        limit: slope,
                        bias: 0.0,
                    },
                )
            }
            other => panic!("{other:?} has no curve"),
        }
    }

    fn smooth(&self, i: usize, velocity: &[f64], resistance: &mut [f64], tangent: &mut [f64]) {
        match &self.0[i] {
            Kind::Smooth(force) => force.evaluate(velocity, resistance, tangent),
            other => panic!("{other:?} is not smooth"),
        }
    }
}

fn dry(limit: f64) -> Kind {
    Kind::Dry(limit, limit, false)
}

#[derive(Debug)]
struct Solution {
    force: Vec<f64>,
    velocity: Vec<f64>,
    stuck: Vec<bool>,
    outcome: Outcome,
}

/// W = L·Lᵀ, by elimination with exchange of rows: L is J of a body whose inertia is one, in a step of 1.
fn square_root(w: &[f64], n: usize) -> Vec<f64> {
    let (mut rest, mut root) = (w.to_vec(), vec![0.0; n * n]);
    let size = (0..n).map(|i| w[i * (n + 1)]).collect::<Vec<_>>();
    for column in 0..n {
        let relative = |rest: &[f64], i: usize| {
            if size[i] > 0.0 {
                rest[i * (n + 1)] / size[i]
            } else {
                0.0
            }
        };
        let pivot = (0..n).fold(0, |best, i| {
            if relative(&rest, i) > relative(&rest, best) {
                i
            } else {
                best
            }
        });
        if relative(&rest, pivot) < 1e-10 {
            break;
        }
        let scale = rest[pivot * (n + 1)].sqrt();
        for i in 0..n {
            root[i * n + column] = rest[i * n + pivot] / scale;
        }
        for i in 0..n {
            for j in 0..n {
                rest[i * n + j] -= root[i * n + column] * root[j * n + column];
            }
        }
        (0..n).for_each(|i| (rest[i * n + pivot], rest[pivot * n + i]) = (0.0, 0.0));
    }
    root
}

/// The island whose rows have these compliances.
fn solve(dims: &[usize], w: &[f64], w_bar: &[f64], kinds: &[Kind]) -> Solution {
    let n = w_bar.len();
    let diagonal = (0..n * n).all(|k| k % (n + 1) == 0 || w[k] == 0.0);
    if diagonal && w.iter().all(|x| x.is_finite()) {
        let own: Vec<f64> = (0..n).map(|i| w[i * (n + 1)]).collect();
        let j: Vec<f64> = (0..n * n)
            .map(|k| f64::from(k % (n + 1) == 0 && own[k / n] > 0.0))
            .collect();
        let masses: Vec<f64> = own.iter().map(|w| if *w > 0.0 { 1.0 / w } else { 1.0 }).collect();
        return solve_bodies(dims, &j, &masses, w_bar, kinds);
    }
    let mut jacobian = square_root(w, n);
    if w.iter().any(|x| x.is_nan()) {
        jacobian.fill(f64::NAN);
    }
    solve_bodies(dims, &jacobian, &vec![1.0; n], w_bar, kinds)
}

/// The island of bodies with these masses, one for each column of J: bodies of their own if no block takes hold of more than two, otherwise
/// one body with all coordinates.
fn solve_bodies(dims: &[usize], j: &[f64], masses: &[f64], w_bar: &[f64], kinds: &[Kind]) -> Solution {
    let n = masses.len();
    let mut first = 0;
    let mut blocks = Vec::new();
    for &count in dims {
        let touched: Vec<usize> = (0..n)
            .filter(|c| (first..first + count).any(|row| j[row * n + c] != 0.0))
            .collect();
        blocks.push((first, count, touched));
        first += count;
    }
    let apart = blocks.iter().all(|(_, _, touched)| touched.len() <= 2);
    let pairs: Vec<(usize, usize)> = blocks
        .iter()
        .filter(|(_, _, touched)| apart && touched.len() == 2)
        .map(|(_, _, touched)| (touched[0], touched[1]))
        .collect();
    let pattern = if apart {
        Pattern::new(&vec![1; n], pairs)
    } else {
        Pattern::new(&[n], [])
    };
    let mut inertia = vec![0.0; pattern.stored()];
    for (i, m) in masses.iter().enumerate() {
        let place = if apart { pattern.place(i, i) } else { Some(i * (n + 1)) };
        inertia[place.unwrap()] = *m;
    }
    let (mut rows, mut jacobian) = (Vec::new(), Vec::new());
    for (first, count, touched) in &blocks {
        let mut sides = [Side::NONE; 2];
        let mut across = [0; 2];
        let bodies = if apart { touched.len() } else { 1 };
        for (k, side) in sides.iter_mut().enumerate().take(bodies) {
            let columns = if apart { touched[k]..touched[k] + 1 } else { 0..n };
            *side = Side {
                body: if apart { touched[k] } else { 0 },
                first: 0,
                len: columns.len(),
                at: jacobian.len(),
            };
            for row in *first..first + count {
                jacobian.extend(columns.clone().map(|column| j[row * n + column]));
            }
        }
        if bodies == 2 {
            across = [(touched[0], touched[1]), (touched[1], touched[0])].map(|(a, b)| pattern.place(a, b).unwrap());
        }
        rows.push(Rows {
            first: *first,
            count: *count,
            sides,
            across,
        });
    }
    let problem = Problem {
        pattern: &pattern,
        inertia: &inertia,
        joined: false,
        step: 1.0,
        rows: &rows,
        jacobian: &jacobian,
        free: w_bar,
        speed: 0.0,
    };
    let mut solver = Solver::new(w_bar.len(), dims.len(), [&pattern]);
    let outcome = solver.solve(&problem, &Laws(kinds.to_vec()));
    Solution {
        force: solver.force[..w_bar.len()].to_vec(),
        velocity: solver.velocity[..w_bar.len()].to_vec(),
        stuck: solver.stuck[..dims.len()].to_vec(),
        outcome,
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// W = J·diag(1/m)·Jᵀ (step 1).
fn compliance(j: &[Vec<f64>], masses: &[f64]) -> Vec<f64> {
    let entry = |a: &Vec<f64>, b: &Vec<f64>| -> f64 { a.iter().zip(b).zip(masses).map(|((x, y), m)| x * y / m).sum() };
    j.iter().flat_map(|a| j.iter().map(move |b| entry(a, b))).collect()
}

fn gather(j: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    j.iter()
        .map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
        .collect()
}

/// Checks every law directly on f and w = w̄ + W·f; `tolerance` is relative to the largest limit or |w̄_i|/W_ii.
fn check(dims: &[usize], w: &[f64], w_bar: &[f64], kinds: &[Kind], s: &Solution, tolerance: f64) -> Result<(), String> {
    let n = w_bar.len();
    let velocity: Vec<f64> = (0..n)
        .map(|i| w_bar[i] + (0..n).map(|j| w[i * n + j] * s.force[j]).sum::<f64>())
        .collect();
    // The larger of what stops the free velocities and of the forces themselves, which may be far larger between nearly parallel planes.
    let mut scale = (0..n)
        .filter(|i| w[i * n + i] > 0.0)
        .map(|i| w_bar[i].abs() / w[i * n + i])
        .chain(s.force.iter().map(|f| f.abs()))
        .fold(0.0, f64::max);
    for kind in kinds {
        scale = scale.max(match kind {
            Kind::Dry(holding, kinetic, _) => holding.max(*kinetic),
            Kind::Curve(holding, _, curve) => holding.max(curve.peak),
            _ => 0.0,
        });
    }
    let small = tolerance * scale;
    let fail = |i: usize, what: &str, by: f64| Err(format!("block {i}: {what} by {by:e} of scale {scale:e}\n{s:?}"));
    let mut start = 0;
    for (i, kind) in kinds.iter().enumerate() {
        let rows = start..start + dims[i];
        start = rows.end;
        let (f, v) = (&s.force[rows.clone()], &velocity[rows.clone()]);
        // What rounding alone does to the velocities.
        let terms = |r: usize| (0..n).map(|j| (w[r * n + j] * s.force[j]).abs()).sum::<f64>() + w_bar[r].abs();
        let blur = 16.0 * f64::EPSILON * rows.clone().map(terms).fold(0.0, f64::max);
        let own = rows.clone().map(|r| w[r * n + r]).fold(0.0, f64::max);
        // Friction of limit `limit`, in force f and velocity v.
        let friction = |f: &[f64], v: &[f64], out: &[f64], holding: f64, kinetic: f64, stuck: bool, own: f64| {
            if stuck {
                if out.iter().any(|x| *x != 0.0) {
                    return fail(i, "stuck velocity not exactly zero", norm(out));
                }
                if norm(v) > small * own + blur {
                    return fail(i, "stuck but moves", norm(v) / own / scale);
                }
                if norm(f) > holding * (1.0 + 4.0 * f64::EPSILON) {
                    return fail(i, "holds more than its limit", norm(f) - holding);
                }
                return Ok(());
            }
            if (norm(f) - kinetic).abs() > 4.0 * f64::EPSILON * kinetic {
                return fail(i, "slips below its limit", norm(f) - kinetic);
            }
            let speed = norm(v);
            let miss: Vec<f64> = f.iter().zip(v).map(|(f, v)| f * speed + kinetic * v).collect();
            if norm(&miss) > small * (speed + own * scale) + kinetic * blur {
                return fail(i, "does not oppose the slip", norm(&miss) / speed / scale);
            }
            Ok(())
        };
        let out = &s.velocity[rows.clone()];
        match kind {
            Kind::Lock => friction(f, v, out, f64::INFINITY, 0.0, true, own)?,
            Kind::Dry(holding, kinetic, was_stuck) => {
                let limit = if *was_stuck { *holding } else { *kinetic };
                friction(f, v, out, limit, *kinetic, s.stuck[i], own)?;
            }
            Kind::Curve(holding, was_stuck, curve) => {
                let limit = if *was_stuck { *holding } else { curve.at(0.0).0 };
                if s.stuck[i] {
                    friction(f, v, out, limit, 0.0, true, own)?;
                } else {
                    let g = curve.at(norm(v)).0;
                    if (norm(f) - g).abs() > small + curve.viscous * blur {
                        return fail(i, "off its curve", norm(f) - g);
                    }
                    friction(f, v, out, g, norm(f), false, own)?;
                }
            }
            Kind::Smooth(force) => {
                let (mut psi, mut tangent) = (vec![0.0; f.len()], vec![0.0; 9]);
                force.evaluate(v, &mut psi, &mut tangent);
                let miss: Vec<f64> = f.iter().zip(&psi).map(|(f, p)| f + p).collect();
                if norm(&miss) > 2.0 * small + force.stiffness * blur {
                    return fail(i, "off its smooth law", norm(&miss) / scale);
                }
            }
            Kind::Contact(target, mu_static, mu_kinetic, was_stuck) => {
                let gap = v[0] - target;
                if f[0] < 0.0 {
                    return fail(i, "pulls", f[0]);
                }
                if gap < -small * own - blur || (f[0] > small && gap > small * own + blur) {
                    return fail(i, "complementarity", gap / own / scale);
                }
                if f[0] == 0.0 {
                    if norm(f) > 0.0 {
                        return fail(i, "open with friction", norm(f));
                    }
                } else {
                    let mu = if *was_stuck { *mu_static } else { *mu_kinetic };
                    friction(
                        &f[1..],
                        &v[1..],
                        &out[1..],
                        mu * f[0],
                        mu_kinetic * f[0],
                        s.stuck[i],
                        own,
                    )?;
                }
            }
        }
    }
    if s.outcome.converged {
        Ok(())
    } else {
        Err(format!("not converged: {:?}", s.outcome))
    }
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(
            (x - y).abs() <= tolerance,
            "entry {i}: {x} instead of {y}\n{a:?}\n{b:?}"
        );
    }
}

#[test]
fn one_friction_is_the_closed_form() {
    // W = T/M = 0.5: sticks up to |w̄| = 0.5·F. Limits 3 and 2: memory decides between 1.0 and 1.5 (seed 000, eq 19).
    for (w_bar, was_stuck, stuck, force, velocity) in [
        (0.9, false, true, -1.8, 0.0),
        (1.0, false, true, -2.0, 0.0),
        (1.25, true, true, -2.5, 0.0),
        (1.25, false, false, -2.0, 0.25),
        (-1.5, true, true, 3.0, 0.0),
        (-1.75, true, false, 2.0, -0.75),
    ] {
        let s = solve(&[1], &[0.5], &[w_bar], &[Kind::Dry(3.0, 2.0, was_stuck)]);
        assert_eq!((s.stuck[0], s.force[0], s.velocity[0]), (stuck, force, velocity));
    }
    // A vector slows down along its direction: |w̄| = 5, W·F = 2.
    let iso = [0.5, 0.0, 0.0, 0.5];
    let s = solve(&[2], &iso, &[3.0, -4.0], &[dry(4.0)]);
    close(&s.velocity, &[1.8, -2.4], 1e-15);
    close(&s.force, &[-2.4, 3.2], 1e-15);
    let s = solve(&[2], &iso, &[0.3, -0.4], &[dry(4.0)]);
    assert!(s.stuck[0] && s.velocity == [0.0, 0.0]);
}

#[test]
fn anisotropic_disk_has_the_forces_of_its_optimality() {
    // Chosen backwards: w = (0.6, 0.8), F = 2, f = (−1.2, −1.6), so w̄ = w − W·f.
    let w = [1.0, 0.5, 0.5, 4.0];
    let s = solve(&[2], &w, &[0.6 + 1.2 + 0.8, 0.8 + 0.6 + 6.4], &[dry(2.0)]);
    close(&s.force, &[-1.2, -1.6], 1e-13);
    close(&s.velocity, &[0.6, 0.8], 1e-13);
}

#[test]
fn parallel_frictions_share_in_proportion_to_their_limits() {
    // Two brakes of limits 3 and 1 on one shaft, T/I = 0.005.
    let w = [0.005; 4];
    let s = solve(&[1, 1], &w, &[0.01, 0.01], &[dry(3.0), dry(1.0)]);
    close(&s.force, &[-1.5, -0.5], 1e-14);
    assert_eq!(
        (s.stuck[0], s.stuck[1], s.velocity[0], s.velocity[1]),
        (true, true, 0.0, 0.0)
    );
    let s = solve(&[1, 1], &w, &[0.05, 0.05], &[dry(3.0), dry(1.0)]);
    assert_eq!(s.force, [-3.0, -1.0]);
    close(&s.velocity, &[0.03, 0.03], 1e-16);
    // Very unequal limits, and three of them in two directions (2-D, limits 1, 2, 5 under a load of (3, 4)).
    let s = solve(&[1, 1], &w, &[0.01, 0.01], &[dry(1e-3), dry(1e4)]);
    close(&s.force, &[-2e-3 / 10000.001 * 1.0, -2.0 * 1e4 / 10000.001], 1e-12);
    let w: Vec<f64> = (0..36)
        .map(|k| if (k / 6) % 2 == (k % 6) % 2 { 1.0 } else { 0.0 })
        .collect();
    let s = solve(
        &[2, 2, 2],
        &w,
        &[3.0, 4.0, 3.0, 4.0, 3.0, 4.0],
        &[dry(1.0), dry(2.0), dry(5.0)],
    );
    close(&s.force, &[-0.375, -0.5, -0.75, -1.0, -1.875, -2.5], 1e-13);
    assert_eq!(s.stuck, [true; 3]);
}

/// A block A (1 kg) on a block B (2 kg) on the ground, T = 0.1 s, from rest, a force on A.
fn two_blocks(upper: f64, lower: f64, pull: f64) -> Solution {
    let j = vec![vec![1.0, -1.0], vec![0.0, 1.0]];
    let w: Vec<f64> = compliance(&j, &[1.0, 2.0]).iter().map(|x| 0.1 * x).collect();
    solve(&[1, 1], &w, &[0.1 * pull, 0.0], &[dry(upper), dry(lower)])
}

#[test]
fn two_blocks_on_the_ground_in_every_regime() {
    let s = two_blocks(4.0, 6.0, 3.0);
    close(&s.force, &[-3.0, -3.0], 1e-14);
    assert_eq!(s.stuck, [true, true]);
    // A slides on B at rest: 5 − 4 on 1 kg.
    let s = two_blocks(4.0, 6.0, 5.0);
    close(&s.force, &[-4.0, -4.0], 1e-14);
    close(&s.velocity, &[0.1, 0.0], 1e-15);
    assert_eq!(s.stuck, [false, true]);
    // Both together: 7 − 6 on 3 kg.
    let s = two_blocks(8.0, 6.0, 7.0);
    close(&s.force, &[-20.0 / 3.0, -6.0], 1e-14);
    close(&s.velocity, &[0.0, 0.1 / 3.0], 1e-15);
    assert_eq!(s.stuck, [true, false]);
    // Both slide: A by 12 − 8 on 1 kg, B by 8 − 6 on 2 kg.
    let s = two_blocks(8.0, 6.0, 12.0);
    assert_eq!(s.force, [-8.0, -6.0]);
    close(&s.velocity, &[0.3, 0.1], 1e-15);
}

#[test]
fn breaking_away_drops_to_the_kinetic_limit() {
    // In parallel, holding 2 and 8, kinetic 1 and 4, unit mass and step.
    let w = [1.0; 4];
    let kinds = [Kind::Dry(2.0, 1.0, true), Kind::Dry(8.0, 4.0, true)];
    let s = solve(&[1, 1], &w, &[9.5, 9.5], &kinds);
    assert_eq!(s.stuck, [true, true]);
    close(&s.force, &[-1.9, -7.6], 1e-13);
    let s = solve(&[1, 1], &w, &[10.5, 10.5], &kinds);
    assert_eq!((s.force, s.velocity), (vec![-1.0, -4.0], vec![5.5, 5.5]));
    // B pulled over A over the ground: the upper one breaks first on 6, with which A would slide over its 4; the upper one at its kinetic
    // 1 cannot move A, which its kinetic limit 3 catches.
    let w = [2.0, -1.0, -1.0, 1.0];
    let kinds = [Kind::Dry(6.0, 1.0, true), Kind::Dry(4.0, 3.0, true)];
    let s = solve(&[1, 1], &w, &[100.0, 0.0], &kinds);
    assert_eq!((s.stuck, s.velocity), (vec![false, true], vec![99.0, 0.0]));
    close(&s.force, &[-1.0, -1.0], 1e-14);
}

#[test]
fn curves_take_their_root() {
    // g = 2 + 3s, W = 1/2, w̄ = 4: s·(1 + 3/2) = 4 − 1.
    let viscous = Stribeck {
        coulomb: 2.0,
        peak: 2.0,
        width: 1.0,
        viscous: 3.0,
    };
    let s = solve(&[1], &[0.5], &[4.0], &[Kind::Curve(2.0, false, viscous.clone())]);
    close(&s.velocity, &[1.2], 1e-14);
    close(&s.force, &[-5.6], 1e-13);
    let iso = [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5];
    let s = solve(&[3], &iso, &[0.0, 2.4, -3.2], &[Kind::Curve(2.0, true, viscous)]);
    close(&s.velocity, &[0.0, 0.72, -0.96], 1e-14);
    // A steep fall: at w̄ = 6 stick, a slow and a fast slip are all possible; stick is taken. At 11 only the fast slip is.
    let steep = Stribeck {
        coulomb: 1.0,
        peak: 10.0,
        width: 0.1,
        viscous: 0.0,
    };
    for was_stuck in [false, true] {
        let s = solve(&[1], &[1.0], &[6.0], &[Kind::Curve(10.0, was_stuck, steep.clone())]);
        assert_eq!((s.stuck[0], s.velocity[0], s.force[0]), (true, 0.0, -6.0));
        let s = solve(&[1], &[1.0], &[11.0], &[Kind::Curve(10.0, was_stuck, steep.clone())]);
        // s + 1 + 9/(1 + 100 s²) = 11.
        let root = s.velocity[0];
        assert!(root > 9.99 && (root + steep.at(root).0 - 11.0).abs() < 1e-12, "{s:?}");
    }
}

#[test]
fn smooth_laws_and_locks_are_linear_algebra() {
    // ψ = 1 + 4w: w = (w̄ − W)/(1 + 4W) with W = 1/2, w̄ = 2.
    let spring = Kind::Smooth(Yielding {
        offset: 1.0,
        stiffness: 4.0,
        knee: 1e12,
    });
    let s = solve(&[1], &[0.5], &[2.0], std::slice::from_ref(&spring));
    close(&s.velocity, &[0.5], 1e-14);
    close(&s.force, &[-3.0], 1e-13);
    // Beside a lock on the same body nothing moves: f = −1 from the spring, the lock takes the rest of −w̄/W.
    let s = solve(&[1, 1], &[0.5; 4], &[2.0, 2.0], &[spring, Kind::Lock]);
    close(&s.force, &[-1.0, -3.0], 1e-12);
    assert_eq!(s.velocity[1], 0.0);
}

#[test]
fn what_nothing_moves_slips_at_its_limit() {
    // A driver rubbing on the ground beside a free body.
    let w = [0.0, 0.0, 0.0, 1.0];
    let s = solve(&[1, 1], &w, &[2.0, 0.5], &[dry(3.0), dry(1.0)]);
    assert_eq!(
        (s.force, s.velocity, s.stuck),
        (vec![-3.0, -0.5], vec![2.0, 0.0], vec![false, true])
    );
    let s = solve(&[1], &[0.0], &[0.0], &[dry(3.0)]);
    assert_eq!((s.force[0], s.stuck[0]), (0.0, true));
    let s = solve(&[2, 1], &[0.0; 9], &[0.3, -0.4, 0.0], &[dry(5.0), dry(1.0)]);
    close(&s.force, &[-3.0, 4.0, 0.0], 1e-14);
    assert!(s.outcome.converged && !s.stuck[0] && s.stuck[1]);
}

#[test]
fn impossible_input_is_refused_without_panic() {
    let s = solve(&[1], &[f64::NAN], &[1.0], &[dry(1.0)]);
    assert!(!s.outcome.converged && s.force == [0.0]);
    assert!(solve(&[], &[], &[], &[]).outcome.converged);
    // A lock on a driver that moves has no solution.
    let s = solve(&[1, 1], &[0.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[Kind::Lock, dry(1.0)]);
    assert!(!s.outcome.converged);
}

/// Rows (normal, x, y) of a point r of a rigid body on a horizontal plane; motion = (v, ω).
fn point_on_plane(r: [f64; 3]) -> [Vec<f64>; 3] {
    [
        vec![0.0, 0.0, 1.0, r[1], -r[0], 0.0],
        vec![1.0, 0.0, 0.0, 0.0, r[2], -r[1]],
        vec![0.0, 1.0, 0.0, -r[2], 0.0, r[0]],
    ]
}

/// A box (2 kg, corners at ±1, ±0.5, −0.2) on the plane, T = 0.01, gravity 10, under a push whose moment is that of the force `floor` acting
/// on its bottom: if friction is −floor, it does not tip.
fn box_on_plane(
    push: [f64; 2],
    floor: [f64; 2],
    mu: f64,
    was_stuck: bool,
) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>, Solution) {
    let step = 0.01;
    let inertia = [2.0, 2.0, 2.0, 0.5, 1.0, 1.2].map(|x| x / step).to_vec();
    let corners = [[1.0, 0.5], [-1.0, 0.5], [1.0, -0.5], [-1.0, -0.5]];
    let j: Vec<Vec<f64>> = corners
        .iter()
        .flat_map(|c| point_on_plane([c[0], c[1], -0.2]))
        .collect();
    let wrench = [push[0], push[1], -20.0, 0.2 * floor[1], -0.2 * floor[0], 0.0];
    let v: Vec<f64> = wrench.iter().zip(&inertia).map(|(f, m)| f / m).collect();
    let (w, w_bar) = (compliance(&j, &inertia), gather(&j, &v));
    let s = solve(&[3; 4], &w, &w_bar, &vec![Kind::Contact(0.0, mu, mu, was_stuck); 4]);
    (j, w, w_bar, s)
}

#[test]
fn a_box_rests_on_four_corners() {
    for mu in [0.0, 0.5] {
        let (.., s) = box_on_plane([0.0, 0.0], [0.0, 0.0], mu, true);
        for corner in s.force.chunks(3) {
            close(corner, &[5.0, 0.0, 0.0], 1e-11);
        }
        assert!(s.outcome.converged);
    }
    // Pushed with 6 N of 10: holds, in four equal parts.
    let (.., s) = box_on_plane([6.0, 0.0], [6.0, 0.0], 0.5, true);
    assert_eq!((s.stuck.clone(), s.velocity.clone()), (vec![true; 4], vec![0.0; 12]));
    for corner in s.force.chunks(3) {
        close(corner, &[5.0, -1.5, 0.0], 1e-11);
    }
    // Pushed with 15 N of 10 along (3, 4)/5: slides with (15 − 10)/2·T along it.
    let (.., s) = box_on_plane([9.0, 12.0], [6.0, 8.0], 0.5, true);
    for (corner, velocity) in s.force.chunks(3).zip(s.velocity.chunks(3)) {
        close(corner, &[5.0, -1.5, -2.0], 1e-10);
        close(velocity, &[0.0, 0.015, 0.02], 1e-13);
    }
    // With a tipping moment the corners differ, carry the weight together and obey the law.
    let (_, w, w_bar, s) = box_on_plane([9.0, 12.0], [20.0, -9.0], 0.5, false);
    assert!(s.force[0] != s.force[3]);
    assert!((s.force.iter().step_by(3).sum::<f64>() - 20.0).abs() < 1e-11);
    check(
        &[3; 4],
        &w,
        &w_bar,
        &vec![Kind::Contact(0.0, 0.5, 0.5, false); 4],
        &s,
        1e-12,
    )
    .unwrap();
}

#[test]
fn redundant_supports_never_pull() {
    // A beam (1 kg, gravity force 1, inertia 1) on supports at 0, 1, 2 and 3 under a load beyond the third: the smallest ΣN² without pulling
    // lies on the outer supports. Load at 2.8: N = (0, 0, 0.2, 0.8) carries it; by Lagrange's conditions on supports 1, 2, 3:
    // N_i = a + b·x_i with ΣN = 1, ΣN·x = 2.8 gives N = (−0.0667, 0.3333, 0.7333) < 0, so support 1 is off and N = (0.2, 0.8).
    let j: Vec<Vec<f64>> = (0..4).map(|x| vec![1.0, x as f64 - 2.8]).collect();
    let w = compliance(&j, &[1.0, 1.0]);
    let s = solve(
        &[1; 4],
        &w,
        &gather(&j, &[-1.0, 0.0]),
        &vec![Kind::Contact(0.0, 0.0, 0.0, false); 4],
    );
    close(&s.force, &[0.0, 0.0, 0.2, 0.8], 1e-12);
    // Load at 2: on all four a + b·x: ΣN = 1, ΣN·x = 2 gives 0.1, 0.2, 0.3, 0.4.
    let j: Vec<Vec<f64>> = (0..4).map(|x| vec![1.0, x as f64 - 2.0]).collect();
    let w = compliance(&j, &[1.0, 1.0]);
    let s = solve(
        &[1; 4],
        &w,
        &gather(&j, &[-1.0, 0.0]),
        &vec![Kind::Contact(0.0, 0.0, 0.0, false); 4],
    );
    close(&s.force, &[0.1, 0.2, 0.3, 0.4], 1e-12);
}

#[test]
fn a_point_lands_slides_and_sticks() {
    // Unit mass, unit step, rows (normal, x, y); the normal impulse stops the fall, friction μN slows the slide.
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let contact = |target, was_stuck| vec![Kind::Contact(target, 0.6, 0.5, was_stuck)];
    let s = solve(&[3], &unit, &[-2.0, 3.0, 4.0], &contact(0.0, false));
    close(&s.force, &[2.0, -0.6, -0.8], 1e-14);
    close(&s.velocity, &[0.0, 2.4, 3.2], 1e-14);
    let s = solve(&[3], &unit, &[-2.0, 0.66, 0.88], &contact(0.0, true));
    assert_eq!((s.stuck[0], s.velocity), (true, vec![0.0; 3]));
    let s = solve(&[3], &unit, &[-2.0, 0.66, 0.88], &contact(0.0, false));
    close(&s.velocity, &[0.0, 0.06, 0.08], 1e-14);
    // Still above the ground: it may come down by the gap (target −1); leaving: no force.
    let s = solve(&[3], &unit, &[-2.0, 3.0, 4.0], &contact(-1.0, false));
    assert_eq!((s.force[0], s.velocity[0]), (1.0, -1.0));
    let s = solve(&[3], &unit, &[0.1, 3.0, 4.0], &contact(0.0, true));
    assert_eq!(
        (s.force, s.velocity, s.stuck[0]),
        (vec![0.0; 3], vec![0.1, 3.0, 4.0], false)
    );
}

#[test]
fn a_stack_with_extreme_mass_ratios() {
    for pattern in 0..4 {
        let masses: Vec<f64> = (0..20)
            .map(|i| match pattern {
                0 => [1e-6, 1e6][i % 2],
                1 => 10f64.powf(-6.0 + 12.0 * i as f64 / 19.0),
                2 => 10f64.powf(6.0 - 12.0 * i as f64 / 19.0),
                _ => [1.0, 1e-6, 1e6, 1e-3][i % 4],
            })
            .collect();
        let j: Vec<Vec<f64>> = (0..20)
            .map(|i| {
                (0..20)
                    .map(|k| {
                        if k == i {
                            1.0
                        } else if k + 1 == i {
                            -1.0
                        } else {
                            0.0
                        }
                    })
                    .collect()
            })
            .collect();
        let w = compliance(&j, &masses);
        for (push, at) in [(1.0, 19), (30.0, 19), (5.0, 0), (1e3, 10)] {
            let mut v = vec![0.0; 20];
            v[at] = push / masses[at];
            let kinds: Vec<Kind> = (0..20).map(|i| dry(10.0 - 0.3 * i as f64)).collect();
            let w_bar = gather(&j, &v);
            let rows: Vec<f64> = j.iter().flatten().copied().collect();
            let s = solve_bodies(&[1; 20], &rows, &masses, &w_bar, &kinds);
            check(&[1; 20], &w, &w_bar, &kinds, &s, 1e-12).unwrap_or_else(|e| panic!("{pattern} {push} {at} {e}"));
            if push == 1.0 {
                // Everything holds, and the push goes down through the stack to the ground.
                // W = 1/m + 1/m' keeps only 1e-16/1e-12 of the heavier mass.
                close(&s.force, &[-1.0; 20], 1e-3);
                assert_eq!(s.stuck, [true; 20]);
            }
        }
    }
}

#[test]
fn agrees_with_scipy() {
    let text = include_str!("reference/box_qp.txt");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len() % 6, 0);
    for case in lines.chunks(6) {
        let head: Vec<&str> = case[0].split(' ').collect();
        let (bodies, dim): (usize, usize) = (head[1].parse().unwrap(), head[3].parse().unwrap());
        let numbers = |k: usize| -> Vec<f64> { case[k].split(' ').map(|x| x.parse().unwrap()).collect() };
        let (masses, v, limits, expected) = (numbers(1), numbers(2), numbers(4), numbers(5));
        let j: Vec<Vec<f64>> = numbers(3).chunks(bodies).map(<[f64]>::to_vec).collect();
        let kinds: Vec<Kind> = limits.iter().map(|limit| dry(*limit)).collect();
        let s = solve(
            &vec![dim; limits.len()],
            &compliance(&j, &masses),
            &gather(&j, &v),
            &kinds,
        );
        // What the reference itself reaches: an active set, the same with a weight of 1e-9, a descent on disks.
        let tolerance = match head[0] {
            "regular" => 1e-11,
            _ => 1e-6,
        };
        close(&s.force, &expected, tolerance);
    }
}

/// A random island: `j` and `v` make W and w̄.
#[derive(Clone, Debug)]
struct Case {
    dims: Vec<usize>,
    kinds: Vec<Kind>,
    masses: Vec<f64>,
    v: Vec<f64>,
    j: Vec<Vec<f64>>,
}

impl Case {
    fn solve(&self) -> (Vec<f64>, Vec<f64>, Solution) {
        let (w, w_bar) = (compliance(&self.j, &self.masses), gather(&self.j, &self.v));
        let j: Vec<f64> = self.j.iter().flatten().copied().collect();
        let s = solve_bodies(&self.dims, &j, &self.masses, &w_bar, &self.kinds);
        (w, w_bar, s)
    }

    fn verify(&self) -> Result<(), TestCaseError> {
        let (w, w_bar, s) = self.solve();
        check(&self.dims, &w, &w_bar, &self.kinds, &s, 1e-12).map_err(TestCaseError::fail)
    }
}

/// Uniform numbers in [0, 1) from a seed.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut x = seed | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Frictions on random rows, a fifth of them repeated so that W is often singular; `kinds` = 1 for scalar dry friction and locks, 2 for
/// dry vectors, 3 for curves and smooth laws too.
fn frictions(kinds: usize) -> impl Strategy<Value = Case> {
    (1usize..=10, 1usize..=30, any::<u64>()).prop_map(move |(bodies, rows, seed)| {
        let mut next = uniform(seed);
        let masses: Vec<f64> = (0..bodies).map(|_| 10f64.powf(2.0 * next() - 1.0)).collect();
        let v = (0..bodies).map(|_| 4.0 * next() - 2.0).collect();
        let mut case = Case {
            dims: vec![],
            kinds: vec![],
            masses,
            v,
            j: vec![],
        };
        while case.j.len() < rows {
            let d = if kinds == 1 { 1 } else { 1 + (3.0 * next()) as usize };
            let limit = 3.0 * next();
            let was_stuck = next() < 0.5;
            let choice = (10.0 * next()) as usize;
            case.dims.push(d);
            case.kinds.push(match choice {
                0 | 1 => Kind::Dry(limit * 1.5, limit, was_stuck),
                2 => Kind::Dry(0.0, 0.0, was_stuck),
                3 | 4 if kinds == 3 => {
                    // Falls slowly enough for one root: W·|g'| < 1.
                    let (width, viscous) = (30.0 + 10.0 * next(), next());
                    Kind::Curve(
                        limit,
                        was_stuck,
                        Stribeck {
                            coulomb: limit * 0.6,
                            peak: limit,
                            width,
                            viscous,
                        },
                    )
                }
                5 | 6 if kinds == 3 => Kind::Smooth(Yielding {
                    offset: next() - 0.5,
                    stiffness: 10.0 * next(),
                    knee: 0.01 + next(),
                }),
                7 if bodies > 3 && case.j.is_empty() => Kind::Lock,
                _ => dry(limit),
            });
            for _ in 0..d {
                if next() < 0.2 && !case.j.is_empty() {
                    let k = (next() * case.j.len() as f64) as usize;
                    case.j.push(case.j[k].clone());
                } else {
                    case.j.push(
                        (0..bodies)
                            .map(|_| if next() < 0.5 { 0.0 } else { 2.0 * next() - 1.0 })
                            .collect(),
                    );
                }
            }
        }
        case
    })
}

/// Point masses in space, pressed on random planes and on each other with friction, some contacts repeated, some bodies also rubbing in a
/// plane, all falling under gravity.
fn contacts() -> impl Strategy<Value = Case> {
    (1usize..=4, 1usize..=8, any::<u64>()).prop_map(|(bodies, count, seed)| {
        let mut next = uniform(seed);
        let masses: Vec<f64> = (0..bodies).flat_map(|_| [10f64.powf(2.0 * next() - 1.0); 3]).collect();
        let v = (0..3 * bodies)
            .map(|k| 0.4 * next() - 0.2 - if k % 3 == 2 { 0.5 } else { 0.0 })
            .collect();
        let mut case = Case {
            dims: vec![],
            kinds: vec![],
            masses,
            v,
            j: vec![],
        };
        for _ in 0..count {
            // A direction near upwards and two others orthogonal to it.
            let normal = [next() - 0.5, next() - 0.5, 1.0];
            let size = norm(&normal);
            let n = normal.map(|x| x / size);
            let raw = [1.0 - n[0] * n[0], -n[0] * n[1], -n[0] * n[2]];
            let t = raw.map(|x| x / norm(&raw));
            let b = [
                n[1] * t[2] - n[2] * t[1],
                n[2] * t[0] - n[0] * t[2],
                n[0] * t[1] - n[1] * t[0],
            ];
            let first = (next() * bodies as f64) as usize;
            let second = if next() < 0.4 {
                (next() * bodies as f64) as usize
            } else {
                first
            };
            let d = [1, 2, 3, 3][(4.0 * next()) as usize];
            let mu = 0.8 * next();
            let gap = if next() < 0.3 { -0.1 * next() } else { 0.0 };
            for _ in 0..if next() < 0.2 { 2 } else { 1 } {
                case.dims.push(d);
                case.kinds.push(Kind::Contact(gap, 1.2 * mu, mu, next() < 0.5));
                for axis in [n, t, b].iter().take(d) {
                    let mut row = vec![0.0; 3 * bodies];
                    row[3 * first..3 * first + 3].copy_from_slice(axis);
                    if second != first {
                        row[3 * second..3 * second + 3].copy_from_slice(&axis.map(|x| -x));
                    }
                    case.j.push(row);
                }
            }
            if next() < 0.3 {
                case.dims.push(2);
                case.kinds.push(dry(0.3 * next()));
                for axis in [t, b] {
                    let mut row = vec![0.0; 3 * bodies];
                    row[3 * first..3 * first + 3].copy_from_slice(&axis);
                    case.j.push(row);
                }
            }
        }
        case
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scalar_frictions_obey_their_laws(case in frictions(1)) {
        prop_assume!(case.solve().2.outcome.converged);
        case.verify()?;
    }

    #[test]
    fn vector_frictions_obey_their_laws(case in frictions(2)) {
        prop_assume!(case.solve().2.outcome.converged);
        case.verify()?;
    }

    #[test]
    fn mixed_laws_obey_their_laws(case in frictions(3)) {
        prop_assume!(case.solve().2.outcome.converged);
        case.verify()?;
    }

    #[test]
    fn contacts_obey_their_laws(case in contacts()) {
        prop_assume!(case.solve().2.outcome.converged);
        case.verify()?;
    }
}

/// No small move that keeps all velocities and limits makes Σ f²/F smaller: tried on pairs of equal rows.
fn smallest(case: &Case) -> bool {
    let (_, _, s) = case.solve();
    let limit = |i: usize| match case.kinds[i] {
        Kind::Dry(holding, kinetic, was_stuck) => Some(if was_stuck {
            (holding, kinetic)
        } else {
            (kinetic, kinetic)
        }),
        _ => None,
    };
    (0..case.dims.len()).all(|a| {
        (0..a).all(|b| {
            let (Some((hold_a, kin_a)), Some((hold_b, kin_b))) = (limit(a), limit(b)) else {
                return true;
            };
            if case.j[a] != case.j[b] || !s.stuck[a] || !s.stuck[b] || case.j[a].iter().all(|x| *x == 0.0) {
                return true;
            }
            // Which limit applied depends on whether the element broke; one of the ratios must agree.
            let near = |fa: f64, fb: f64| (s.force[a] * fb - s.force[b] * fa).abs() <= 1e-9 * (fa * fb).max(1e-9);
            near(hold_a, hold_b) || near(kin_a, kin_b) || near(hold_a, kin_b) || near(kin_a, hold_b)
        })
    })
}

#[test]
fn the_split_is_the_smallest() {
    // Trouble is rare here: nearly dependent rows, limits of zero. Where the smallest split is not found another valid one is returned,
    // in two of a thousand such islands at most.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = frictions(1);
    let missed = (0..5000)
        .filter(|_| !smallest(&strategy.new_tree(&mut runner).expect("a case").current()))
        .count();
    assert!(missed <= 10, "{missed} of 5000");
}

/// How many of 3000 random islands are not solved.
fn unsolved(strategy: &impl Strategy<Value = Case>) -> usize {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    (0..3000)
        .filter(|_| {
            let case = strategy.new_tree(&mut runner).expect("a case").current();
            !case.solve().2.outcome.converged
        })
        .count()
}

#[test]
fn random_islands_are_solved_nearly_always() {
    // Up to 30 rows on ten coordinates, a fifth of them repeated, limits of zero: few in a thousand are left to a shorter step.
    // Contacts: near-parallel planes with friction up to 0.96.
    let found = [
        unsolved(&frictions(1)),
        unsolved(&frictions(2)),
        unsolved(&frictions(3)),
        unsolved(&contacts()),
    ];
    assert!(found.iter().all(|count| *count <= 6), "{found:?} of 3000 each");
}

#[test]
fn what_no_force_can_solve_is_given_up() {
    // The second contact should open at 0.3, and nothing moves it; the first alone is at rest with a force of 1/2.
    let contact = Kind::Contact(0.0, 0.0, 0.0, false);
    let solution = solve(
        &[1, 1],
        &[2.0, 0.0, 0.0, 0.0],
        &[-1.0, -0.3],
        &[contact.clone(), contact.clone()],
    );
    assert!(!solution.outcome.converged, "{solution:?}");
    let alone = solve(&[1], &[0.0], &[-0.3], &[contact]);
    assert!(!alone.outcome.converged, "{alone:?}");
}
