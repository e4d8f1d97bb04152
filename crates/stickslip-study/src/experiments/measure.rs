//! The experiments themselves: what is run, and what is read from it.

use super::Findings;
use super::rig::{Curve, Record, Rig, Setting};
use crate::Fault;
use stickslip::scenario::{CurveSpec, LimitSpec};

/// Stribeck velocity of the falling curve, m/s.
const STRIBECK: f64 = 0.01;

/// A driver called `rig` rubs on the ground; the rows are time, position, velocity and friction, which resists motion.
fn rubbed(rig: &Rig<'_>, duration: f64, step: f64, motion: &str, curve: Curve) -> Result<Record, Fault> {
    let bodies = format!("[bodies.rig]\nkind = \"driver\"\n{motion}\n");
    let setting = Setting {
        duration,
        step,
        bodies: &bodies,
        rubs: "rig",
        curve,
    };
    let mut record = rig.record(&setting, &["rig.position", "rig.velocity", "floor.force"])?;
    for row in &mut record.rows {
        // The trace has the force on the driver.
        row[3] = -row[3];
    }
    // Before the first step nothing has acted.
    record.rows.remove(0);
    Ok(record)
}

fn between(rows: &[Vec<f64>], from: f64, to: f64) -> impl Iterator<Item = &Vec<f64>> {
    rows.iter().filter(move |row| row[0] > from && row[0] <= to)
}

fn largest(rows: &[Vec<f64>], from: f64, to: f64) -> f64 {
    between(rows, from, to)
        .map(|row| row[3])
        .fold(f64::NEG_INFINITY, f64::max)
}

/// The mean over the last part of a stretch.
fn plateau(rows: &[Vec<f64>], from: f64, to: f64) -> f64 {
    let (sum, count) = between(rows, to - 0.1 * (to - from), to).fold((0.0, 0.0), |(s, n), row| (s + row[3], n + 1.0));
    sum / count
}

pub fn velocity_step(rig: &Rig<'_>) -> Result<Findings, Fault> {
    let motion = "velocity = \"if(t <= 2, 0.001, if(t <= 3, 0.1, 0.001))\"";
    let record = rubbed(rig, 5.0, 1e-4, motion, Curve::Falling(STRIBECK))?;
    let rows = &record.rows;
    let slow = plateau(rows, 0.0, 2.0);
    let mut findings = Findings::default();
    findings.add("static_peak", "N", largest(rows, 0.0, 2.0));
    findings.add("plateau_1_mm_s", "N", slow);
    let fast = plateau(rows, 2.0, 3.0);
    // What is farthest from the new plateau; a law that looks back one step has answered by then.
    let farthest = between(rows, 2.00015, 2.1).map(|row| row[3] - fast);
    let farthest = farthest.fold(0.0, |far: f64, f| if f.abs() > far.abs() { f } else { far });
    findings.add("transient_at_step", "N", farthest);
    findings.add("plateau_100_mm_s", "N", fast);
    findings.add("peak_at_return", "N", largest(rows, 3.0, 4.0));
    findings.add("plateau_after", "N", plateau(rows, 3.0, 5.0));
    findings.curve = rows.iter().map(|row| (row[0], row[3])).collect();
    Ok(findings)
}

pub fn slide_hold_slide(rig: &Rig<'_>) -> Result<Findings, Fault> {
    let mut findings = Findings::default();
    for (i, (hold, name)) in [(0.1, "recovery_0.1_s"), (1.0, "recovery_1_s"), (10.0, "recovery_10_s")]
        .into_iter()
        .enumerate()
    {
        let again = 0.5 + hold;
        let motion = format!("velocity = \"if(t <= 0.5, 0.01, if(t <= {again:?}, 0, 0.01))\"");
        let record = rubbed(rig, again + 0.5, 5e-4, &motion, Curve::Falling(STRIBECK))?;
        let rows = &record.rows;
        let steady = plateau(rows, 0.0, 0.5);
        if i == 0 {
            findings.add("static_peak", "N", largest(rows, 0.0, 0.5));
            findings.add("plateau", "N", steady);
        }
        let recovery = largest(rows, again, again + 0.5) - steady;
        // Rounding is no recovery.
        let recovery = if recovery.abs() < 1e-12 * steady.abs() {
            0.0
        } else {
            recovery
        };
        findings.add(name, "N", recovery);
        findings.curve.push((hold, recovery));
    }
    Ok(findings)
}

/// A motion to and fro: stiffness at its start, area of its last cycle, and that cycle as displacement and friction.
struct Loop {
    stiffness: f64,
    area: f64,
    curve: Vec<(f64, f64)>,
}

fn to_and_fro(rig: &Rig<'_>, amplitude: f64) -> Result<Loop, Fault> {
    let motion = format!("position = \"{amplitude:?}*sin(0.1*pi*t)\"");
    let rows = rubbed(rig, 60.0, 2e-3, &motion, Curve::Coulomb)?.rows;
    // At a tenth of the reach, so slowly that damping does not show; the force of a row belongs to the step that ended there.
    let first = rows.iter().find(|row| row[1] >= 0.1 * amplitude);
    let stiffness = first.map_or(f64::NAN, |row| row[3] / row[1]);
    let curve: Vec<(f64, f64)> = between(&rows, 40.0, 60.0).map(|row| (row[1], row[3])).collect();
    let slice = |pair: &[(f64, f64)]| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0);
    let area = curve.windows(2).map(slice).sum();
    Ok(Loop { stiffness, area, curve })
}

pub fn presliding(rig: &Rig<'_>) -> Result<Findings, Fault> {
    let (small, large) = (to_and_fro(rig, 2e-5)?, to_and_fro(rig, 4e-4)?);
    let mut findings = Findings::default();
    findings.add("stiffness_at_rest", "N/m", small.stiffness);
    findings.add("loop_20_um", "J", small.area);
    findings.add("loop_400_um", "J", large.area);
    findings.curve = large.curve;
    Ok(findings)
}

pub fn no_drift(rig: &Rig<'_>) -> Result<Findings, Fault> {
    let bodies = "[bodies.block]\nkind = \"mass\"\nmass = 1\nforce = \"min(6, 6*t) + if(t < 2, 0, 2*sin(20*pi*t))\"\n";
    let setting = Setting {
        duration: 6.0,
        step: 1e-4,
        bodies,
        rubs: "block",
        curve: Curve::Coulomb,
    };
    let rows = rig
        .record(&setting, &["block.position", "block.velocity", "floor.force"])?
        .rows;
    // Both ends at the same phase of the load, so that elastic motion does not count.
    let at = |time: f64| rows.iter().find(|row| row[0] >= time).map_or(f64::NAN, |row| row[1]);
    let mut findings = Findings::default();
    findings.add("drift", "m/s", (at(6.0) - at(3.0)) / 3.0);
    findings.add("displacement", "m", at(6.0));
    findings.add(
        "greatest_speed",
        "m/s",
        between(&rows, 3.0, 6.0).map(|row| row[2].abs()).fold(0.0, f64::max),
    );
    findings.curve = rows.iter().map(|row| (row[0], row[1])).collect();
    Ok(findings)
}

pub fn stick_slip(rig: &Rig<'_>) -> Result<Findings, Fault> {
    let bodies = "[bodies.block]\nkind = \"mass\"\nmass = 1\n[bodies.hook]\nkind = \"driver\"\nvelocity = 0.1\n\
                  [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 100\n";
    let setting = Setting {
        duration: 9.0,
        step: 1e-4,
        bodies,
        rubs: "block",
        // So narrow that the laws without stick memory break loose nearly at once.
        curve: Curve::Breakaway(1e-3),
    };
    let rows = rig.record(&setting, &["spring.force", "block.velocity"])?.rows;
    let mut analysis = stickslip::analysis::stick_slip::StickSlip::new(stickslip::scenario::StickSlipSpec {
        signal: "spring.force".to_string(),
        scale: 1.0,
        from: 4.0,
        threshold: Some(0.1),
        e: None,
    });
    for row in &rows {
        // On the hook the spring pulls backwards.
        analysis.watch(row[0], -row[1], Some(row[2]));
    }
    let seen = analysis.finish().unwrap_or_default();
    let mut findings = Findings::default();
    findings.add("amplitude", "N", seen.amplitude);
    findings.add("period", "s", seen.period);
    findings.add("peak", "N", seen.max);
    findings.add("minimum", "N", seen.min);
    findings.add("cycles", "", seen.cycles as f64);
    findings.curve = rows.iter().map(|row| (row[0], -row[1])).collect();
    Ok(findings)
}

/// The steady curve of a friction at a speed; laws that are written with coefficients have one of their own.
fn steady(curve: &CurveSpec, speed: f64) -> Option<f64> {
    let LimitSpec::Force {
        kinetic,
        static_: still,
    } = curve.limit
    else {
        return None;
    };
    let fall = curve.stribeck_velocity.map_or(0.0, |scale| {
        (still - kinetic) * libm::exp(-libm::pow(speed / scale, curve.stribeck_exponent))
    });
    Some(kinetic + fall + curve.viscous * speed)
}

pub fn frictional_lag(rig: &Rig<'_>) -> Result<Findings, Fault> {
    const FREQUENCY: f64 = 5.0;
    let motion = "velocity = \"0.02 + 0.004*sin(10*pi*t)\"";
    let record = rubbed(rig, 2.0, 1e-4, motion, Curve::Falling(0.02))?;
    // Phases of the first harmonic, over whole periods.
    let turn = 2.0 * std::f64::consts::PI;
    let phase = |value: &dyn Fn(&Vec<f64>) -> f64| {
        let (sine, cosine) = between(&record.rows, 1.0, 2.0).fold((0.0, 0.0), |(s, c), row| {
            let angle = turn * FREQUENCY * row[0];
            (s + value(row) * libm::sin(angle), c + value(row) * libm::cos(angle))
        });
        (libm::atan2(cosine, sine), libm::sqrt(sine * sine + cosine * cosine))
    };
    let (force, swing) = phase(&|row| row[3]);
    let count = between(&record.rows, 1.0, 2.0).count() as f64;
    let mut findings = Findings::default();
    findings.add("swing", "N", 4.0 * swing / count);
    let curve = &record.friction.curve;
    let lag = steady(curve, 0.02).map(|_| {
        let (ideal, _) = phase(&|row| steady(curve, row[2]).unwrap_or(0.0));
        let behind = (ideal - force).rem_euclid(turn);
        let behind = if behind > 0.5 * turn { behind - turn } else { behind };
        behind / (turn * FREQUENCY)
    });
    findings.add("lag", "s", lag);
    // At the mean speed, on the way up and on the way down.
    let crossing = |up: bool| {
        let rows: Vec<&Vec<f64>> = between(&record.rows, 1.0, 2.0).collect();
        let crossed = |pair: &&[&Vec<f64>]| {
            if up {
                pair[0][2] < 0.02 && pair[1][2] >= 0.02
            } else {
                pair[0][2] >= 0.02 && pair[1][2] < 0.02
            }
        };
        let mut crossings = rows.windows(2).filter(crossed);
        crossings.next_back().map_or(f64::NAN, |pair| pair[1][3])
    };
    findings.add("loop_width", "N", crossing(true) - crossing(false));
    findings.curve = between(&record.rows, 1.8, 2.0).map(|row| (row[2], row[3])).collect();
    Ok(findings)
}
