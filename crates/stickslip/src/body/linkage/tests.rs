//! The linkage against closed forms, and its kernels against each other.

use super::*;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.8);

fn diagonal(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal(&Vector3::new(x, y, z))
}

/// A uniform rod along x from the joint.
fn rod(parent: Option<usize>, origin: f64, mass: f64, length: f64) -> LinkDescription {
    let inertia = mass * length * length / 12.0;
    LinkDescription {
        parent,
        origin: Vector3::new(origin, 0.0, 0.0),
        mass,
        com: Vector3::new(length / 2.0, 0.0, 0.0),
        inertia: diagonal(0.0, inertia, inertia),
        ..Default::default()
    }
}

fn unloaded(linkage: &Linkage, q: &[f64], v: &[f64], tau: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; linkage.velocity_count()];
    linkage.accelerate_unloaded(q, v, tau, &mut linkage.scratch(), &mut out);
    out
}

#[test]
fn refuses_impossible_linkages() {
    let good = rod(None, 0.0, 1.0, 0.5);
    let refused = |change: &dyn Fn(&mut LinkDescription)| {
        let mut link = good.clone();
        change(&mut link);
        Linkage::new(&[good.clone(), link], false, GRAVITY).unwrap_err()
    };
    assert_eq!(refused(&|l| l.mass = -1.0), LinkageError::Mass { link: 1, mass: -1.0 });
    assert_eq!(
        refused(&|l| l.mass = f64::NAN),
        LinkageError::NotFinite {
            link: Some(1),
            field: "mass"
        }
    );
    assert_eq!(
        refused(&|l| l.com.x = f64::INFINITY),
        LinkageError::NotFinite {
            link: Some(1),
            field: "com"
        }
    );
    assert_eq!(refused(&|l| l.axis = Vector3::zeros()), LinkageError::Axis { link: 1 });
    assert_eq!(refused(&|l| l.rotation = [0.0; 4]), LinkageError::Rotation { link: 1 });
    assert_eq!(
        refused(&|l| l.inertia = diagonal(1.0, -1.0, 1.0)),
        LinkageError::Inertia { link: 1 }
    );
    assert_eq!(refused(&|l| l.inertia[(0, 1)] = 1.0), LinkageError::Inertia { link: 1 });
    assert_eq!(
        refused(&|l| l.parent = Some(1)),
        LinkageError::Parent { link: 1, parent: 1 }
    );
    let nothing = LinkageError::MotionWithoutInertia { link: 1 };
    assert_eq!(refused(&|l| (l.mass, l.inertia) = (0.0, Matrix3::zeros())), nothing);
    // the rod has no inertia about its own line
    assert_eq!(refused(&|l| l.axis = Vector3::x()), nothing);
    // nor has a point mass on the axis, however the joint is turned
    let on_axis = |l: &mut LinkDescription| {
        (l.axis, l.com, l.inertia) = (
            Vector3::new(1.0, 2.0, 3.0),
            Vector3::new(0.1, 0.2, 0.3),
            Matrix3::zeros(),
        );
        l.rotation = [0.3, 0.1, -0.7, 0.2];
    };
    assert_eq!(refused(&on_axis), nothing);
    assert_eq!(Linkage::new(&[], false, GRAVITY).unwrap_err(), LinkageError::Empty);
    assert_eq!(
        Linkage::new(&[good.clone(), good.clone()], true, GRAVITY).unwrap_err(),
        LinkageError::SecondRoot { link: 1 }
    );
    assert_eq!(
        Linkage::new(std::slice::from_ref(&good), true, GRAVITY).unwrap_err(),
        LinkageError::MotionWithoutInertia { link: 0 }
    );
    let bad_gravity = Linkage::new(std::slice::from_ref(&good), false, Vector3::new(0.0, 0.0, f64::NAN));
    assert_eq!(
        bad_gravity.unwrap_err(),
        LinkageError::NotFinite {
            link: None,
            field: "gravity"
        }
    );
    // a massless first link is fine when what it carries resists
    let mut massless = good.clone();
    (massless.mass, massless.inertia) = (0.0, Matrix3::zeros());
    assert!(Linkage::new(&[massless, rod(Some(0), 0.3, 1.0, 0.5)], false, GRAVITY).is_ok());
}

#[test]
fn pendulum_swings_as_in_the_closed_form() {
    // axis −y with gravity along −z: a rod at angle q from the horizontal has ½ m g l cos q against it and m l²/3.
    let mut link = rod(None, 0.0, 1.3, 0.7);
    link.axis = Vector3::new(0.0, -2.0, 0.0);
    for floating_off_plane in [false, true] {
        link.rotation = if floating_off_plane {
            [0.8, 0.0, 0.0, 0.6]
        } else {
            [1.0, 0.0, 0.0, 0.0]
        };
        let linkage = Linkage::new(std::slice::from_ref(&link), false, GRAVITY).unwrap();
        assert!(linkage.is_planar());
        for q in [0.0, 0.4, 1.9, -3.0] {
            let expected = (0.25 - 1.3 * 9.8 * 0.35 * libm::cos(q)) / (1.3 * 0.49 / 3.0);
            let a = unloaded(&linkage, &[q], &[1.7], &[0.25])[0];
            assert!((a - expected).abs() < 1e-13 * expected.abs().max(1.0), "{a} {expected}");
        }
    }
}

#[test]
fn two_link_arm_has_the_textbook_mass_matrix() {
    // Lagrange's equations of two rods of mass m and length l in a plane, absolute angles a = q₀, b = q₀ + q₁:
    // T = ½ (4/3) m l² a'² + ½ (1/3) m l² b'² + ½ m l² a' b' cos(b − a).
    let (m, l) = (1.0, 0.5);
    let linkage = Linkage::new(&[rod(None, 0.0, m, l), rod(Some(0), l, m, l)], false, Vector3::zeros()).unwrap();
    let mut scratch = linkage.scratch();
    for (q, v, tau) in [
        ([0.3, 0.9], [1.0, -2.0], [0.2, 0.1]),
        ([-4.0, 2.5], [0.3, 3.0], [-1.0, 0.7]),
    ] {
        let (c, s) = (libm::cos(q[1]), libm::sin(q[1]));
        let unit = m * l * l;
        let (a_rate, b_rate) = (v[0], v[0] + v[1]);
        // in (a, b): [[4/3, c/2], [c/2, 1/3]] m l² (a'', b'') = (τ₀ − τ₁ + ½ s b'², τ₁ − ½ s a'²)
        let (aa, ab, bb) = (4.0 / 3.0 * unit, 0.5 * unit * c, unit / 3.0);
        let ra = tau[0] - tau[1] + 0.5 * unit * s * b_rate * b_rate;
        let rb = tau[1] - 0.5 * unit * s * a_rate * a_rate;
        let det = aa * bb - ab * ab;
        let (a, b) = ((bb * ra - ab * rb) / det, (aa * rb - ab * ra) / det);
        let found = unloaded(&linkage, &q, &v, &tau);
        assert!((found[0] - a).abs() < 1e-13 * a.abs() && (found[1] - (b - a)).abs() < 1e-13 * (b - a).abs());
        let mut h = [0.0; 4];
        linkage.place(&q, &v, &mut scratch);
        linkage.mass_matrix(&mut scratch, &mut h);
        let expected = [aa + 2.0 * ab + bb, ab + bb, ab + bb, bb];
        for (value, expected) in h.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-15);
        }
        let energy = 0.5 * aa * a_rate * a_rate + ab * a_rate * b_rate + 0.5 * bb * b_rate * b_rate;
        assert!((linkage.kinetic_energy(&scratch) - energy).abs() < 1e-14);
    }
}

#[test]
fn block_slides_down_an_incline() {
    // a = g sin(30°) along the slope; a second slide across it feels g cos(30°) on its own mass alone
    let slope = LinkDescription {
        kind: JointKind::Prismatic,
        axis: Vector3::new(0.75f64.sqrt(), 0.0, -0.5),
        mass: 2.0,
        ..Default::default()
    };
    let across = LinkDescription {
        parent: Some(0),
        axis: Vector3::new(0.5, 0.0, 0.75f64.sqrt()),
        ..slope.clone()
    };
    let linkage = Linkage::new(&[slope, across], false, GRAVITY).unwrap();
    let a = unloaded(&linkage, &[0.3, 0.1], &[1.0, 2.0], &[0.0, 0.0]);
    assert!((a[0] - 4.9).abs() < 1e-14 && (a[1] + 9.8 * 0.75f64.sqrt()).abs() < 1e-14);
    let mut scratch = linkage.scratch();
    linkage.place(&[0.3, 0.0], &[0.0, 0.0], &mut scratch);
    assert!((linkage.potential_energy(&scratch) + 4.0 * 9.8 * 0.15).abs() < 1e-14);
}

#[test]
fn bead_on_a_turning_rod_feels_centripetal_and_coriolis_terms() {
    // r'' = r ω², and (I + m r²) ω' = −2 m r r' ω
    let bead = LinkDescription {
        parent: Some(0),
        kind: JointKind::Prismatic,
        axis: Vector3::x(),
        mass: 0.4,
        ..Default::default()
    };
    let mut hub = rod(None, 0.0, 0.0, 0.0);
    hub.inertia = diagonal(0.0, 0.0, 0.2);
    for planar in [true, false] {
        let mut linkage = Linkage::new(&[hub.clone(), bead.clone()], false, Vector3::zeros()).unwrap();
        assert!(linkage.is_planar());
        if !planar {
            (linkage.planar, linkage.two_hinges) = (None, None);
        }
        let (r, rate, spin) = (0.6, 1.5, -2.0);
        let a = unloaded(&linkage, &[0.8, r], &[spin, rate], &[0.0, 0.0]);
        assert!((a[1] - r * spin * spin).abs() < 1e-14);
        assert!((a[0] + 2.0 * 0.4 * r * rate * spin / (0.2 + 0.4 * r * r)).abs() < 1e-14);
    }
}

/// One step of RK4 of a linkage without load.
fn rk4(linkage: &Linkage, q: &mut [f64], v: &mut [f64], step: f64, scratch: &mut LinkageScratch) {
    use crate::body::rigid_body::quaternion_rate;
    let tau = vec![0.0; v.len()];
    let (q0, v0) = (q.to_vec(), v.to_vec());
    let (mut dq, mut dv) = (vec![0.0; q.len()], vec![0.0; v.len()]);
    let (mut sum_q, mut sum_v) = (dq.clone(), dv.clone());
    for (shift, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
        let stage = |start: &[f64], rate: &[f64]| -> Vec<f64> {
            start
                .iter()
                .zip(rate)
                .map(|(start, rate)| start + shift * step * rate)
                .collect()
        };
        let (qs, vs) = (stage(&q0, &dq), stage(&v0, &dv));
        linkage.accelerate_unloaded(&qs, &vs, &tau, scratch, &mut dv);
        if linkage.is_floating() {
            dq[..3].copy_from_slice(&vs[..3]);
            dq[3..7].copy_from_slice(&quaternion_rate([qs[3], qs[4], qs[5], qs[6]], &vector(&vs, 3)));
            dq[7..].copy_from_slice(&vs[6..]);
        } else {
            dq.copy_from_slice(&vs);
        }
        sum_q.iter_mut().zip(&dq).for_each(|(sum, rate)| *sum += weight * rate);
        sum_v.iter_mut().zip(&dv).for_each(|(sum, rate)| *sum += weight * rate);
    }
    for i in 0..q.len() {
        q[i] = q0[i] + step / 6.0 * sum_q[i];
    }
    for i in 0..v.len() {
        v[i] = v0[i] + step / 6.0 * sum_v[i];
    }
}

fn three_dimensional() -> Vec<LinkDescription> {
    let base = LinkDescription {
        mass: 2.0,
        com: Vector3::new(0.1, -0.05, 0.2),
        inertia: diagonal(0.2, 0.3, 0.25),
        ..Default::default()
    };
    let mut hinge = rod(Some(0), 0.3, 0.8, 0.6);
    hinge.rotation = [0.9, 0.1, -0.3, 0.2];
    hinge.axis = Vector3::new(0.1, 1.0, 0.3);
    let slide = LinkDescription {
        parent: Some(1),
        kind: JointKind::Prismatic,
        axis: Vector3::new(0.2, -0.1, 0.9),
        mass: 0.5,
        ..rod(Some(1), 0.6, 0.5, 0.3)
    };
    vec![base, hinge, slide]
}

#[test]
fn floating_linkage_keeps_momentum_and_energy() {
    let linkage = Linkage::new(&three_dimensional(), true, Vector3::zeros()).unwrap();
    let masses: Vec<_> = three_dimensional();
    let mut scratch = linkage.scratch();
    // linear and angular momentum about the world's origin, from the frames
    let momentum = |q: &[f64], v: &[f64], scratch: &mut LinkageScratch| {
        linkage.place(q, v, scratch);
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for (i, link) in masses.iter().enumerate() {
            let frame = linkage.frame(scratch, i);
            let com = frame.point_position(&link.com);
            let p = link.mass * frame.point_velocity(&com);
            let spin = frame.rotation.tr_mul(&frame.angular_velocity);
            linear += p;
            angular += com.cross(&p) + frame.rotation * (link.inertia * spin);
        }
        (linear, angular, linkage.kinetic_energy(scratch))
    };
    let start_q = [0.1, 0.2, 0.3, 0.8, 0.0, 0.6, 0.0, 0.4, 0.1];
    let start_v = [0.5, -0.2, 0.1, 1.0, -0.7, 0.4, 1.5, -0.3];
    let (p0, l0, e0) = momentum(&start_q, &start_v, &mut scratch);
    let mut drift = Vec::new();
    for steps in [100, 200] {
        let (mut q, mut v) = (start_q, start_v);
        for _ in 0..steps {
            rk4(&linkage, &mut q, &mut v, 1.0 / steps as f64, &mut scratch);
        }
        let (p, l, e) = momentum(&q, &v, &mut scratch);
        drift.push([(p - p0).norm(), (l - l0).norm(), (e - e0).abs()]);
    }
    for k in 0..3 {
        assert!(drift[1][k] < 1e-7, "{drift:?}");
        // order 4 or better
        assert!(drift[0][k] > 13.0 * drift[1][k] || drift[1][k] < 1e-13, "{drift:?}");
    }
}

#[test]
fn energy_of_a_swinging_arm_holds_to_order_four() {
    let mut links = three_dimensional();
    links[0].axis = Vector3::new(0.3, 0.2, 1.0);
    links[2].kind = JointKind::Revolute;
    let linkage = Linkage::new(&links, false, GRAVITY).unwrap();
    assert!(!linkage.is_planar());
    let mut scratch = linkage.scratch();
    let mut drift = |steps: usize| {
        let (mut q, mut v) = ([0.4, -0.3, 0.8], [0.5, -1.0, 2.0]);
        let mut energy = |q: &[f64], v: &[f64]| {
            linkage.place(q, v, &mut scratch);
            linkage.kinetic_energy(&scratch) + linkage.potential_energy(&scratch)
        };
        let start = energy(&q, &v);
        let mut inner = linkage.scratch();
        for _ in 0..steps {
            rk4(&linkage, &mut q, &mut v, 0.5 / steps as f64, &mut inner);
        }
        (energy(&q, &v) - start).abs()
    };
    let (coarse, fine) = (drift(100), drift(200));
    assert!(fine < 1e-7 && coarse / fine > 13.0, "{coarse} {fine}");
}

/// A random tree with its state, drives and one load on each link.
#[derive(Debug, Clone)]
struct Case {
    links: Vec<LinkDescription>,
    floating: bool,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    loads: Vec<[Vector3<f64>; 3]>,
}

fn cases(planar: bool) -> impl Strategy<Value = Case> {
    let link = (any::<bool>(), 0usize..8, prop::collection::vec(-1.0..1.0f64, 36));
    (
        any::<bool>(),
        prop::collection::vec(link, 1..7),
        prop::collection::vec(-2.0..2.0f64, 50),
    )
        .prop_map(move |(floating, raw, numbers)| {
            let floating = floating && !planar;
            let mut links = Vec::new();
            let mut loads = Vec::new();
            for (i, (revolute, parent, x)) in raw.iter().enumerate() {
                // index i stands for the ground
                let parent = Some(parent % (i + 1))
                    .filter(|&p| p < i)
                    .or((floating && i > 0).then_some(0));
                let kind = if *revolute {
                    JointKind::Revolute
                } else {
                    JointKind::Prismatic
                };
                let root = Matrix3::from_column_slice(&x[..9]);
                let mut axis = vector(x, 9) + Vector3::new(0.0, 0.0, 1.5);
                let mut rotation = [1.2 + x[12], x[13], x[14], x[15]];
                if planar {
                    // turned about z alone, or half a turn about x as well: the axis points down
                    rotation = if x[13] > 0.0 {
                        [x[12], 0.0, 0.0, 1.1]
                    } else {
                        [0.0, x[12], 1.1, 0.0]
                    };
                    axis = if *revolute {
                        Vector3::z()
                    } else {
                        Vector3::new(x[9], x[10] + 1.5, 0.0)
                    };
                }
                links.push(LinkDescription {
                    name: format!("link{i}"),
                    parent,
                    kind,
                    axis,
                    origin: vector(x, 16),
                    rotation,
                    mass: 1.1 + x[19],
                    com: vector(x, 20),
                    inertia: root * root.transpose() + Matrix3::from_diagonal_element(0.05),
                });
                loads.push([vector(x, 23), vector(x, 26), vector(x, 29)]);
            }
            let extra = if floating { 6 } else { 0 };
            let mut q = numbers[..links.len() + extra].to_vec();
            if floating {
                q[3] += 2.5;
            }
            let nv = links.len() + extra.saturating_sub(1);
            Case {
                q,
                v: numbers[15..15 + nv].to_vec(),
                tau: numbers[30..30 + nv].to_vec(),
                links,
                floating,
                loads,
            }
        })
}

fn loaded(linkage: &Linkage, case: &Case, scratch: &mut LinkageScratch) -> DVector<f64> {
    linkage.place(&case.q, &case.v, scratch);
    linkage.clear_loads(scratch);
    for (i, [force, torque, point]) in case.loads.iter().enumerate() {
        linkage.apply(scratch, i, force, torque, point);
    }
    let mut a = DVector::zeros(linkage.velocity_count());
    linkage.accelerate(&case.q, &case.v, &case.tau, scratch, a.as_mut_slice());
    a
}

fn assert_close(a: &DVector<f64>, b: &DVector<f64>, relative: f64) -> Result<(), TestCaseError> {
    let scale = a.amax().max(b.amax()).max(1.0);
    prop_assert!((a - b).amax() <= relative * scale, "{a} {b}");
    Ok(())
}

proptest! {
    /// The articulated-body algorithm solves H a = tau − bias, two recursions that share nothing but the frames.
    #[test]
    fn accelerations_solve_the_equation_of_motion(case in cases(false)) {
        let linkage = Linkage::new(&case.links, case.floating, Vector3::new(0.7, -1.0, -9.8)).unwrap();
        let mut scratch = linkage.scratch();
        let a = loaded(&linkage, &case, &mut scratch);
        let n = linkage.velocity_count();
        let (mut h, mut bias) = (DMatrix::zeros(n, n), DVector::zeros(n));
        linkage.mass_matrix(&mut scratch, h.as_mut_slice());
        linkage.bias(&case.v, &mut scratch, bias.as_mut_slice());
        let left = &h * &a + &bias;
        let size = h.amax() * a.amax() + bias.amax();
        prop_assert!((left - DVector::from_row_slice(&case.tau)).amax() < 1e-12 * size);
        prop_assert!((&h - h.transpose()).amax() == 0.0);
        // twice the kinetic energy is vᵀ H v
        let v = DVector::from_row_slice(&case.v);
        let energy = 0.5 * v.dot(&(&h * &v));
        prop_assert!((linkage.kinetic_energy(&scratch) - energy).abs() < 1e-12 * energy.max(1.0));
    }

    /// Loads act through the Jacobian of their point: bias = bias without loads − Σ Jᵀ f − Jωᵀ n.
    #[test]
    fn loads_act_through_the_jacobian(case in cases(false)) {
        let linkage = Linkage::new(&case.links, case.floating, GRAVITY).unwrap();
        let mut scratch = linkage.scratch();
        let n = linkage.velocity_count();
        let (mut with, mut without) = (DVector::zeros(n), DVector::zeros(n));
        linkage.place(&case.q, &case.v, &mut scratch);
        linkage.clear_loads(&mut scratch);
        linkage.bias(&case.v, &mut scratch, without.as_mut_slice());
        let mut expected = without.clone();
        let mut row_major = vec![0.0; 3 * n];
        for (i, [force, torque, point]) in case.loads.iter().enumerate() {
            linkage.point_jacobian(&scratch, i, point, &mut row_major);
            expected -= DMatrix::from_row_slice(3, n, &row_major).tr_mul(force);
            // a torque is a couple of forces: n = r × f with r, f perpendicular unit arms
            let arm = torque.cross(&Vector3::new(0.3, 0.5, 0.7)).normalize();
            let couple = torque.cross(&arm);
            linkage.point_jacobian(&scratch, i, &(point + arm), &mut row_major);
            expected -= DMatrix::from_row_slice(3, n, &row_major).tr_mul(&couple);
            linkage.point_jacobian(&scratch, i, point, &mut row_major);
            expected += DMatrix::from_row_slice(3, n, &row_major).tr_mul(&couple);
        }
        loaded(&linkage, &case, &mut scratch);
        linkage.bias(&case.v, &mut scratch, with.as_mut_slice());
        assert_close(&with, &expected, 1e-12)?;
    }

    /// Moving along v for a short time moves a point by J v.
    #[test]
    fn jacobian_is_the_derivative_of_place(case in cases(false)) {
        use crate::body::rigid_body::advance_rotation;
        let linkage = Linkage::new(&case.links, case.floating, GRAVITY).unwrap();
        let mut scratch = linkage.scratch();
        let n = linkage.velocity_count();
        let link = linkage.link_count() - 1;
        let body_point = Vector3::new(0.3, -0.2, 0.4);
        let h = 1e-5;
        let mut at = |time: f64| {
            let mut q = case.q.clone();
            if case.floating {
                let turned = advance_rotation([q[3], q[4], q[5], q[6]], &vector(&case.v, 3), time);
                q[3..7].copy_from_slice(&turned);
                (0..3).for_each(|k| q[k] += time * case.v[k]);
                (7..q.len()).for_each(|k| q[k] += time * case.v[k - 1]);
            } else {
                (0..n).for_each(|k| q[k] += time * case.v[k]);
            }
            linkage.place(&q, &case.v, &mut scratch);
            linkage.frame(&scratch, link).point_position(&body_point)
        };
        let difference = (at(h) - at(-h)) / (2.0 * h);
        let point = at(0.0);
        let mut row_major = vec![0.0; 3 * n];
        linkage.point_jacobian(&scratch, link, &point, &mut row_major);
        let velocity = DMatrix::from_row_slice(3, n, &row_major) * DVector::from_row_slice(&case.v);
        prop_assert!((velocity - difference).amax() < 1e-7);
        let frame_velocity = linkage.frame(&scratch, link).point_velocity(&point);
        prop_assert!((frame_velocity - difference).amax() < 1e-7);
    }

    /// The planar kernel and the spatial one agree, with and without loads.
    #[test]
    fn planar_and_spatial_kernels_agree(case in cases(true), tilt in prop::array::uniform4(-1.0..1.0f64)) {
        // the whole plane turned against the world
        let mut case = case;
        let tilt = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(tilt[0] + 1.5, tilt[1], tilt[2], tilt[3]));
        for link in case.links.iter_mut().filter(|link| link.parent.is_none()) {
            let [w, x, y, z] = link.rotation;
            let turned = tilt.quaternion() * nalgebra::Quaternion::new(w, x, y, z);
            link.rotation = [turned.w, turned.i, turned.j, turned.k];
        }
        let planar = Linkage::new(&case.links, false, GRAVITY).unwrap();
        let any_hinge = case.links.iter().any(|link| link.kind == JointKind::Revolute);
        prop_assert_eq!(planar.is_planar(), any_hinge);
        let mut spatial = planar.clone();
        (spatial.planar, spatial.two_hinges) = (None, None);
        let mut scratch = spatial.scratch();
        let expected = loaded(&spatial, &case, &mut scratch);
        assert_close(&loaded(&planar, &case, &mut planar.scratch()), &expected, 1e-11)?;
        let expected = DVector::from_vec(unloaded(&spatial, &case.q, &case.v, &case.tau));
        let found = DVector::from_vec(unloaded(&planar, &case.q, &case.v, &case.tau));
        assert_close(&found, &expected, 1e-11)?;
        let mut recursive = planar.clone();
        recursive.two_hinges = None;
        let found = DVector::from_vec(unloaded(&recursive, &case.q, &case.v, &case.tau));
        assert_close(&found, &expected, 1e-11)?;
    }
}

proptest! {
    /// The closed equations of two hinges and the spatial recursion agree, for arms of any shape and sense.
    #[test]
    fn closed_equations_and_recursion_agree(case in cases(true), gravity in any::<bool>()) {
        let mut case = case;
        let again = case.links[0].clone();
        case.links.truncate(2);
        if case.links.len() < 2 {
            case.links.push(LinkDescription { rotation: [0.0, 1.0, 0.0, 0.0], ..again });
        }
        case.links[1].parent = Some(0);
        for link in &mut case.links {
            (link.kind, link.axis) = (JointKind::Revolute, Vector3::z());
        }
        let gravity = if gravity { Vector3::new(3.0, -9.8, 1.0) } else { Vector3::zeros() };
        let arm = Linkage::new(&case.links, false, gravity).unwrap();
        prop_assert!(arm.two_hinges.is_some());
        let mut spatial = arm.clone();
        (spatial.planar, spatial.two_hinges) = (None, None);
        let (q, v, tau) = ([0.3 + case.q[0], 1.7 * case.q[0]], [case.v[0], 1.0 - case.v[0]], [case.tau[0], 0.4]);
        let expected = DVector::from_vec(unloaded(&spatial, &q, &v, &tau));
        assert_close(&DVector::from_vec(unloaded(&arm, &q, &v, &tau)), &expected, 1e-12)?;
    }
}

#[test]
fn a_bent_or_floating_linkage_is_not_planar() {
    let arm = |axis| {
        let mut second = rod(Some(0), 0.5, 1.0, 0.5);
        second.axis = axis;
        second.inertia = diagonal(0.1, 0.1, 0.1);
        [rod(None, 0.0, 1.0, 0.5), second]
    };
    let planar = |axis| Linkage::new(&arm(axis), false, GRAVITY).unwrap().is_planar();
    assert!(planar(Vector3::z()) && planar(-Vector3::z()));
    assert!(!planar(Vector3::new(1e-9, 0.0, 1.0)) && !planar(Vector3::y()));
    let mut free = arm(Vector3::z());
    free[0].inertia = diagonal(0.1, 0.1, 0.1);
    assert!(!Linkage::new(&free, true, GRAVITY).unwrap().is_planar());
}

/// Time of one call; run alone, with `cargo test --release -p stickslip linkage::tests::timing -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a check"]
fn timing() {
    use std::hint::black_box;
    use std::time::Instant;
    let measure = |name: &str, linkage: &Linkage| {
        let n = linkage.velocity_count();
        let mut scratch = linkage.scratch();
        let mut q = vec![0.3; linkage.position_count()];
        let (mut v, tau, mut a) = (vec![0.2; n], vec![0.1; n], vec![0.0; n]);
        let mut best = f64::INFINITY;
        // short batches, so that some are not interrupted
        for _ in 0..2000 {
            let start = Instant::now();
            let calls = 1000;
            for _ in 0..calls {
                linkage.accelerate_unloaded(black_box(&q), black_box(&v), black_box(&tau), &mut scratch, &mut a);
                // the next call waits for this one, as in an integrator
                q[0] += 1e-9 * a[0];
                q[n - 1] += 1e-9 * a[n - 1];
                v[0] += 1e-9 * a[0];
            }
            best = best.min(start.elapsed().as_nanos() as f64 / calls as f64);
        }
        println!("{name}: {best:.1} ns");
    };
    let arm = [rod(None, 0.0, 1.0, 0.5), rod(Some(0), 0.5, 1.0, 0.5)];
    let planar = Linkage::new(&arm, false, Vector3::zeros()).unwrap();
    measure("two links, planar, no gravity", &planar);
    measure(
        "two links, planar, gravity",
        &Linkage::new(&arm, false, Vector3::new(0.0, -9.8, 0.0)).unwrap(),
    );
    let mut spatial = planar.clone();
    (spatial.planar, spatial.two_hinges) = (None, None);
    measure("two links, spatial kernel", &spatial);
    let chain: Vec<_> = (0..7usize).map(|i| rod(i.checked_sub(1), 0.3, 1.0, 0.3)).collect();
    measure(
        "seven links, planar",
        &Linkage::new(&chain, false, Vector3::zeros()).unwrap(),
    );
    let mut spatial = Linkage::new(&chain, false, Vector3::zeros()).unwrap();
    (spatial.planar, spatial.two_hinges) = (None, None);
    measure("seven links, spatial kernel", &spatial);
    measure(
        "three links, floating",
        &Linkage::new(&three_dimensional(), true, GRAVITY).unwrap(),
    );
    let (q, v, mut a) = ([0.3, 0.4], [0.1, 0.2], [0.0; 2]);
    let (mut scratch, mut best) = (planar.scratch(), f64::INFINITY);
    for _ in 0..2000 {
        let clock = Instant::now();
        for _ in 0..1000 {
            planar.place(black_box(&q), &v, &mut scratch);
            planar.clear_loads(&mut scratch);
            planar.apply(&mut scratch, 1, &Vector3::x(), &Vector3::z(), &Vector3::y());
            planar.accelerate(&q, &v, &[0.1, 0.2], &mut scratch, &mut a);
        }
        best = best.min(clock.elapsed().as_nanos() as f64 / 1000.0);
    }
    println!("two links, planar, placed and loaded: {best:.1} ns");
    for start in [0.3, 2.0] {
        let (mut x, mut best) = (start, f64::INFINITY);
        for _ in 0..2000 {
            let clock = Instant::now();
            for _ in 0..1000 {
                let (s, c) = sin_cos(x);
                x = start + 1e-9 * (s + c);
            }
            best = best.min(clock.elapsed().as_nanos() as f64 / 1000.0);
        }
        println!("sin_cos near {start}, in a chain: {best:.2} ns {}", black_box(x));
    }
}
