//! The law of one block: its natural map (for Newton's method) and the exact solution of one block alone (for the sweeps).
// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use super::coupled::{Asked, Block, Level};
use super::dense::{dot, length, lu_solve};

/// Lines along which a smooth law is solved before its block counts as hopeless.
const LINES: usize = 4;
/// Defect of a smooth law, relative to its force, below which it counts as solved.
const YIELDED: f64 = 1e-9;

pub(super) type Vector = [f64; 3];
pub(super) type Matrix = [[f64; 3]; 3];

/// The law a block obeys in one pass: the limit is decided by whether it holds or has broken away.
#[derive(Clone, Copy)]
pub(super) enum Law<'a> {
    Dry(Level),
    Curve(Asked<'a>),
    Smooth(Asked<'a>),
    Contact { target: f64, mu: f64 },
    Lock,
}

impl<'a> Law<'a> {
    /// While a block holds from the last step, it is dry friction with the holding limit, whatever its curve: only a block that
    /// would slip even then has broken away (the paper on model P, eq 19 corrected).
    #[inline]
    pub(super) fn of(block: Block, asked: Asked<'a>, broken: bool, normal: impl Fn(usize) -> f64) -> Self {
        match block {
            Block::Dry {
                holding,
                kinetic,
                was_stuck,
            } => Law::Dry(if was_stuck && !broken { holding } else { kinetic }),
            Block::Curve { holding, was_stuck, .. } if was_stuck && !broken => Law::Dry(holding),
            Block::Curve { .. } => Law::Curve(asked),
            Block::Arm { contact, arm, .. } => Law::Dry((arm * normal(contact)).into()),
            Block::Smooth => Law::Smooth(asked),
            Block::Contact {
                target,
                mu_static,
                mu_kinetic,
                was_stuck,
            } => Law::Contact {
                target,
                mu: if was_stuck && !broken { mu_static } else { mu_kinetic }.max(0.0),
            },
            Block::Lock => Law::Lock,
        }
    }
}

/// A force less the bias of its limits.
pub(super) fn unbiased(f: &[f64], level: Level) -> Vector {
    let mut shifted = [0.0; 3];
    shifted[..f.len()].copy_from_slice(f);
    shifted[0] -= level.bias;
    shifted
}

/// The natural map r(f, w) of a block, zero exactly where the law holds, in units of force, with ∂r/∂f and ∂r/∂w.
#[derive(Default)]
pub(super) struct NaturalMap {
    pub(super) residual: Vector,
    pub(super) by_force: Matrix,
    pub(super) by_velocity: Matrix,
}

/// r = Proj(f − ρ·w) − f on the set of admissible forces (Alart and Curnier's form for contact: the disk is μ·max(0, N − ρ(w_n − target))).
/// `rho` holds the factor ρ of row 0 and of the other rows.
pub(super) fn natural_map(law: Law, f: &[f64], w: &[f64], rho: [f64; 2]) -> NaturalMap {
    let d = f.len();
    let mut map = NaturalMap::default();
    match law {
        Law::Lock => {
            for k in 0..d {
                map.residual[k] = -rho[0] * w[k];
                map.by_velocity[k][k] = -rho[0];
            }
        }
        Law::Dry(level) => {
            let f = &unbiased(f, level)[..d];
            disk(&mut map, 0, f, w, rho[0], (level.limit, 0.0));
        }
        Law::Curve(curve) => {
            let speed = length(w);
            let (level, slope) = curve.at(speed);
            let f = &unbiased(f, level)[..d];
            disk(&mut map, 0, f, w, rho[0], (level.limit, slope.limit));
            if slope.bias != 0.0 && speed > 0.0 {
                // On one axis: the bias follows the speed, and the map sees f less the bias.
                map.by_velocity[0][0] -= map.by_force[0][0] * slope.bias * w[0] / speed;
            }
        }
        Law::Smooth(force) => {
            let (psi, tangent) = smooth(force, w);
            for k in 0..d {
                map.residual[k] = -psi[k] - f[k];
                map.by_force[k][k] = -1.0;
                for j in 0..d {
                    map.by_velocity[k][j] = -tangent[k][j];
                }
            }
        }
        Law::Contact { target, mu } => {
            let normal = f[0] - rho[0] * (w[0] - target);
            if normal <= 0.0 {
                for k in 0..d {
                    map.residual[k] = -f[k];
                    map.by_force[k][k] = -1.0;
                }
                return map;
            }
            map.residual[0] = normal - f[0];
            map.by_velocity[0][0] = -rho[0];
            let towards = disk(&mut map, 1, &f[1..], &w[1..], rho[1], (mu * normal, 0.0));
            for k in 1..d {
                map.by_force[k][0] = mu * towards[k - 1];
                map.by_velocity[k][0] = -rho[0] * mu * towards[k - 1];
            }
        }
    }
    map
}

/// The inverse of a matrix of at most three rows; where it has none, numbers that are not finite.
pub(super) fn invert_small(a: &Matrix, d: usize) -> Matrix {
    let mut inverse = [[0.0; 3]; 3];
    match d {
        1 => inverse[0][0] = 1.0 / a[0][0],
        2 => {
            let determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
            inverse[0] = [a[1][1] / determinant, -a[0][1] / determinant, 0.0];
            inverse[1] = [-a[1][0] / determinant, a[0][0] / determinant, 0.0];
        }
        _ => {
            let minor = |i: usize, j: usize| {
                let (k, l) = ((i + 1) % 3, (i + 2) % 3);
                let (m, n) = ((j + 1) % 3, (j + 2) % 3);
                a[k][m] * a[l][n] - a[k][n] * a[l][m]
            };
            let determinant: f64 = (0..3).map(|j| a[0][j] * minor(0, j)).sum();
            for i in 0..3 {
                for j in 0..3 {
                    inverse[i][j] = minor(j, i) / determinant;
                }
            }
        }
    }
    inverse
}

/// The direction of f − ρ·w if it lies outside the disk.
pub(super) fn outside(f: &[f64], w: &[f64], rho: f64, limit: f64) -> Option<Vector> {
    let mut trial = [0.0; 3];
    for k in 0..f.len() {
        trial[k] = f[k] - rho * w[k];
    }
    let size = length(&trial[..f.len()]);
    if size <= limit || size.is_nan() {
        return None;
    }
    // Not `map` of arrays, which the compiler does not always take in.
    trial.iter_mut().for_each(|component| *component /= size);
    Some(trial)
}

/// Natural map of a disk (interval, ball) in the rows from `first` on; `limit` comes with its slope over the speed. Returns the
/// derivative of the friction by the limit: its direction when slipping.
fn disk(map: &mut NaturalMap, first: usize, f: &[f64], w: &[f64], rho: f64, limit: (f64, f64)) -> Vector {
    let d = f.len();
    let (limit, slope) = limit;
    let (r, by_f, by_w) = (&mut map.residual, &mut map.by_force, &mut map.by_velocity);
    let Some(direction) = outside(f, w, rho, limit) else {
        for k in 0..d {
            r[first + k] = -rho * w[k];
            by_w[first + k][first + k] = -rho;
        }
        return [0.0; 3];
    };
    let size: f64 = (0..d).map(|k| (f[k] - rho * w[k]) * direction[k]).sum();
    let speed = length(w);
    for k in 0..d {
        r[first + k] = limit * direction[k] - f[k];
        for j in 0..d {
            let unit = if j == k { 1.0 } else { 0.0 };
            // A scalar slips with a constant force: the turning term is a rounding error there.
            let turning = if d == 1 {
                0.0
            } else {
                limit / size * (unit - direction[k] * direction[j])
            };
            let rising = if speed > 0.0 {
                slope * direction[k] * w[j] / speed
            } else {
                0.0
            };
            by_f[first + k][first + j] = turning - unit;
            by_w[first + k][first + j] = rising - rho * turning;
        }
    }
    direction
}

/// ψ(w) and its tangent.
pub(super) fn smooth(force: Asked<'_>, w: &[f64]) -> (Vector, Matrix) {
    let d = w.len();
    let (mut psi, mut flat, mut tangent) = ([0.0; 3], [0.0; 9], [[0.0; 3]; 3]);
    force.evaluate(w, &mut psi[..d], &mut flat[..d * d]);
    for k in 0..d {
        tangent[k][..d].copy_from_slice(&flat[k * d..(k + 1) * d]);
    }
    (psi, tangent)
}

/// Solves one block alone: w = q + W·f with its law, W being its own d×d compliance. `f` holds the last force on entry.
pub(super) fn solve_alone(law: Law, compliance: &Matrix, q: &[f64], f: &mut [f64]) {
    match law {
        Law::Lock => hold(compliance, q, f),
        Law::Dry(level) => {
            let limit = facing(level, q);
            rub(compliance, q, f, limit, &|_| limit);
        }
        Law::Curve(curve) => {
            let limit = |speed: f64| facing(curve.at(speed).0, q);
            rub(compliance, q, f, limit(0.0), &limit);
        }
        Law::Smooth(force) => yield_smoothly(force, compliance, q, f),
        Law::Contact { target, mu } => touch(target, mu, compliance, q, f),
    }
}

/// What resists the motion that a block alone has, which is along its free velocity q.
fn facing(level: Level, q: &[f64]) -> f64 {
    if q[0] < 0.0 {
        level.limit + level.bias
    } else {
        level.limit - level.bias
    }
}

/// The force that stops the block: W·f = −q. Directions without compliance keep no force.
fn hold(compliance: &Matrix, q: &[f64], f: &mut [f64]) {
    let stiffest = (0..f.len()).map(|k| compliance[k][k]).fold(0.0, f64::max);
    if let [component] = f {
        *component = if stiffest > 0.0 { -q[0] / stiffest } else { 0.0 };
    } else if stiffest > 0.0 && apply_inverse(compliance, 1.0, f64::EPSILON * stiffest, q, f) {
        f.iter_mut().for_each(|component| *component = -*component);
    } else {
        f.fill(0.0);
    }
}

/// x = (shift·I + factor·W)⁻¹·q.
fn apply_inverse(compliance: &Matrix, factor: f64, shift: f64, q: &[f64], x: &mut [f64]) -> bool {
    let d = q.len();
    let mut flat = [0.0; 9];
    for k in 0..d {
        for j in 0..d {
            flat[k * d + j] = factor * compliance[k][j] + if j == k { shift } else { 0.0 };
        }
    }
    x.copy_from_slice(q);
    lu_solve(&mut flat[..d * d], d, x)
}

/// Friction bounded by a disk. Sticks whenever that is admissible; otherwise the slip speed s is the root of
/// |(s·I + g(s)·W)⁻¹·q| = 1 (w = q − g·W·w/|w| with |w| = s), which lies in (0, |q|]. A falling curve may have several
/// roots; the one taken is the one reached from the side of the free velocity |q|, the fastest if they are apart.
fn rub(compliance: &Matrix, q: &[f64], f: &mut [f64], limit: f64, curve: &dyn Fn(f64) -> f64) {
    let d = q.len();
    let free_speed = length(q);
    hold(compliance, q, f);
    let own = (0..d).map(|k| compliance[k][k]).fold(0.0, f64::max);
    if length(f) <= limit && (own > 0.0 || free_speed == 0.0) {
        return;
    }
    let mut direction = [0.0; 3];
    // Positive above the root (the slip would be slower), negative below.
    let excess = |speed: f64, direction: &mut Vector| {
        let force = curve(speed);
        if d == 1 {
            direction[0] = 1.0f64.copysign(q[0]);
            (speed + force * compliance[0][0] - free_speed) / free_speed
        } else {
            apply_inverse(compliance, force, speed, q, &mut direction[..d]);
            1.0 - length(&direction[..d])
        }
    };
    let (mut low, mut high) = (0.0, free_speed);
    let (mut at_low, mut at_high) = (f64::NAN, excess(high, &mut direction));
    let mut speed = high;
    let mut was_above = true;
    // Regula falsi from the fast side, the value of an end that stays twice halved (Illinois).
    for _ in 0..100 {
        if at_high <= 0.0 {
            break;
        }
        speed = if at_low.is_nan() {
            // For a scalar with constant force the first step is exact.
            if d == 1 {
                (high - at_high * free_speed).max(0.5 * high)
            } else {
                0.5 * high
            }
        } else {
            let secant = high - at_high * (high - low) / (at_high - at_low);
            if secant > low && secant < high {
                secant
            } else {
                0.5 * (low + high)
            }
        };
        let value = excess(speed, &mut direction);
        if value > 0.0 {
            (high, at_high) = (speed, value);
            if was_above {
                at_low *= 0.5;
            }
        } else {
            (low, at_low) = (speed, value);
            if !was_above {
                at_high *= 0.5;
            }
        }
        was_above = value > 0.0;
        if value.abs() <= f64::EPSILON || high - low <= f64::EPSILON * high || speed < f64::MIN_POSITIVE {
            break;
        }
    }
    let force = curve(speed);
    let size = length(&direction[..d]).max(f64::MIN_POSITIVE);
    for (component, towards) in f.iter_mut().zip(direction) {
        *component = -force * towards / size;
    }
}

/// The velocity q + W·f.
fn moved(compliance: &Matrix, q: &[f64], f: &[f64]) -> Vector {
    let d = q.len();
    let mut w = [0.0; 3];
    for k in 0..d {
        w[k] = q[k] + dot(&compliance[k][..d], f);
    }
    w
}

/// f = −ψ(q + W·f): by Newton's method from the last force. Where that stops (a force that falls with the velocity has several roots,
/// and between them places where Newton's method goes round), from where the law holds along one line: first that of q, then
/// those of the force found there.
fn yield_smoothly(force: Asked<'_>, compliance: &Matrix, q: &[f64], f: &mut [f64]) {
    let d = q.len();
    let mut towards = [0.0; 3];
    if let [f] = f {
        towards[0] = 1.0;
        *f = yield_along(force, compliance, q, &towards[..1], *f);
        return;
    }
    if yield_everywhere(force, compliance, q, f) {
        return;
    }
    for k in 0..d {
        towards[k] = -q[k];
    }
    for _ in 0..LINES {
        let size = length(&towards[..d]);
        if size == 0.0 || !size.is_finite() {
            return;
        }
        towards.iter_mut().for_each(|component| *component /= size);
        let along = yield_along(force, compliance, q, &towards[..d], 0.0);
        for k in 0..d {
            f[k] = along * towards[k];
        }
        let (psi, _) = smooth(force, &moved(compliance, q, f)[..d]);
        if yield_everywhere(force, compliance, q, f) {
            return;
        }
        towards = psi.map(|component| -component);
    }
}

/// The size φ of a force φ·t along the unit vector t that does what the law says in this direction, t·(f + ψ(q + W·f)) = 0, by
/// Newton's method in a bracket. ψ resists, so that φ + t·ψ rises for good where |φ| is large: a bracket that is widened holds a root,
/// also where ψ falls with the velocity.
fn yield_along(force: Asked<'_>, compliance: &Matrix, q: &[f64], t: &[f64], start: f64) -> f64 {
    let d = q.len();
    let pushed = moved(compliance, &[0.0; 3][..d], t);
    let excess = |size: f64| {
        let mut w = [0.0; 3];
        for k in 0..d {
            w[k] = q[k] + size * pushed[k];
        }
        let (psi, tangent) = smooth(force, &w[..d]);
        let slope: f64 = (0..d).map(|k| t[k] * dot(&tangent[k][..d], &pushed[..d])).sum();
        (size + dot(t, &psi[..d]), 1.0 + slope)
    };
    let mut size = start;
    let (value, slope) = excess(size);
    if value == 0.0 || !value.is_finite() {
        return size;
    }
    let (mut near, mut width) = (size, value.abs());
    let mut far = near - width.copysign(value);
    for _ in 0..200 {
        let (other, _) = excess(far);
        if (other > 0.0) != (value > 0.0) || !other.is_finite() {
            break;
        }
        width *= 2.0;
        (near, far) = (far, far - width.copysign(value));
    }
    let (mut low, mut high) = (near.min(far), near.max(far));
    let (mut value, mut slope) = (value, slope);
    for round in 0..200 {
        let newton = size - value / slope;
        let inside = round < 50 && newton > low && newton < high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        if next == size || high - low <= f64::EPSILON * high.abs().max(low.abs()) {
            return size;
        }
        size = next;
        (value, slope) = excess(next);
        if value == 0.0 || !value.is_finite() {
            return size;
        }
        if value > 0.0 {
            high = next;
        } else {
            low = next;
        }
    }
    size
}

/// f = −ψ(q + W·f), by Newton's method with halved steps. False if it stops before.
fn yield_everywhere(force: Asked<'_>, compliance: &Matrix, q: &[f64], f: &mut [f64]) -> bool {
    let d = q.len();
    let defect = |f: &[f64]| {
        let (psi, tangent) = smooth(force, &moved(compliance, q, f)[..d]);
        let mut r = [0.0; 3];
        for k in 0..d {
            r[k] = -psi[k] - f[k];
        }
        (r, tangent)
    };
    let (mut r, mut tangent) = defect(f);
    let mut size = length(&r[..d]);
    for _ in 0..30 {
        if size <= 4.0 * f64::EPSILON * length(f) || !size.is_finite() {
            break;
        }
        let (mut matrix, mut step) = ([0.0; 9], r);
        for k in 0..d {
            for j in 0..d {
                let product: f64 = (0..d).map(|l| tangent[k][l] * compliance[l][j]).sum();
                matrix[k * d + j] = product + if j == k { 1.0 } else { 0.0 };
            }
        }
        if !lu_solve(&mut matrix[..d * d], d, &mut step[..d]) {
            break;
        }
        let mut fraction = 1.0;
        let improved = loop {
            let mut trial = [0.0; 3];
            for k in 0..d {
                trial[k] = f[k] + fraction * step[k];
            }
            let (r_trial, tangent_trial) = defect(&trial[..d]);
            let size_trial = length(&r_trial[..d]);
            if size_trial < size {
                f.copy_from_slice(&trial[..d]);
                (r, tangent, size) = (r_trial, tangent_trial, size_trial);
                break true;
            }
            fraction *= 0.5;
            if fraction < 1e-6 {
                break false;
            }
        };
        if !improved {
            break;
        }
    }
    // A stiff law turns the rounding of the velocity into much more than that of the force.
    let steepest = tangent[..d].iter().map(|row| length(&row[..d])).fold(0.0, f64::max);
    let stiffest = (0..d).map(|k| compliance[k][k]).fold(0.0, f64::max);
    let rounding = 16.0 * f64::EPSILON * (length(q) + stiffest * length(f));
    size <= YIELDED * length(f) + steepest * rounding
}

/// Normal force for the present friction, friction for that normal force, repeated while they change each other.
fn touch(target: f64, mu: f64, compliance: &Matrix, q: &[f64], f: &mut [f64]) {
    let d = q.len();
    let mut tangential = [[0.0; 3]; 3];
    for k in 1..d {
        for j in 1..d {
            tangential[k - 1][j - 1] = compliance[k][j];
        }
    }
    for _ in 0..20 {
        let before = f[0];
        let gap = q[0] + dot(&compliance[0][1..d], &f[1..]) - target;
        f[0] = if compliance[0][0] > 0.0 {
            (-gap / compliance[0][0]).max(0.0)
        } else {
            0.0
        };
        if d == 1 {
            return;
        }
        let mut slip = [0.0; 3];
        for k in 1..d {
            slip[k - 1] = q[k] + compliance[k][0] * f[0];
        }
        let limit = mu * f[0];
        rub(&tangential, &slip[..d - 1], &mut f[1..], limit, &|_| limit);
        if (f[0] - before).abs() <= 4.0 * f64::EPSILON * f[0] {
            return;
        }
    }
}
