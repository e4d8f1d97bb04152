//! Linkages against values computed by Pinocchio (tests/reference/pinocchio_linkages.py says how).

use nalgebra::{Matrix3, Vector3};
use stickslip::body::{JointKind, LinkDescription, Linkage};

/// The rows of one case by name.
struct Case<'a>(Vec<(&'a str, Vec<&'a str>)>);

impl Case<'_> {
    fn numbers(&self, name: &str) -> Vec<f64> {
        let (_, fields) = self.0.iter().find(|(row, _)| *row == name).unwrap();
        fields.iter().map(|field| field.parse().unwrap()).collect()
    }

    fn linkage(&self) -> Linkage {
        let links: Vec<LinkDescription> = self
            .0
            .iter()
            .filter(|(row, _)| *row == "link")
            .map(|(_, fields)| link(fields))
            .collect();
        let floating = self.0[0].1[1] == "1";
        Linkage::new(&links, floating, Vector3::from_row_slice(&self.numbers("gravity"))).unwrap()
    }
}

fn link(fields: &[&str]) -> LinkDescription {
    let x: Vec<f64> = fields.iter().map(|field| field.parse().unwrap()).collect();
    LinkDescription {
        name: String::new(),
        parent: (x[0] >= 0.0).then_some(x[0] as usize),
        kind: if x[1] == 1.0 {
            JointKind::Prismatic
        } else {
            JointKind::Revolute
        },
        axis: Vector3::from_row_slice(&x[2..5]),
        origin: Vector3::from_row_slice(&x[5..8]),
        rotation: [x[8], x[9], x[10], x[11]],
        mass: x[12],
        com: Vector3::from_row_slice(&x[13..16]),
        inertia: Matrix3::from_row_slice(&x[16..25]),
    }
}

fn assert_close(case: &str, what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= 1e-11 * size,
            "{case}, {what}: {found} is not {expected}"
        );
    }
}

#[test]
fn linkages_move_as_pinocchio_says() {
    let text = include_str!("reference/pinocchio_linkages.csv");
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split(',');
        let name = fields.next().unwrap();
        if name == "case" {
            cases.push(Case(Vec::new()));
        }
        cases.last_mut().unwrap().0.push((name, fields.collect()));
    }
    assert_eq!(cases.len(), 5);
    for case in &cases {
        let name = case.0[0].1[0];
        let linkage = case.linkage();
        let n = linkage.velocity_count();
        let (q, v, tau) = (case.numbers("q"), case.numbers("v"), case.numbers("tau"));
        let mut scratch = linkage.scratch();
        let mut out = vec![0.0; n];
        linkage.accelerate_unloaded(&q, &v, &tau, &mut scratch, &mut out);
        assert_close(name, "acceleration", &out, &case.numbers("acceleration"));

        linkage.place(&q, &v, &mut scratch);
        linkage.clear_loads(&mut scratch);
        let mut mass = vec![0.0; n * n];
        linkage.mass_matrix(&mut scratch, &mut mass);
        assert_close(name, "mass matrix", &mass, &case.numbers("mass"));
        linkage.bias(&v, &mut scratch, &mut out);
        assert_close(name, "bias", &out, &case.numbers("bias"));

        let last = linkage.frame(&scratch, linkage.link_count() - 1);
        let point = last.point_position(&Vector3::new(0.1, 0.2, 0.3));
        assert_close(name, "point", point.as_slice(), &case.numbers("point"));
        assert_close(
            name,
            "kinetic energy",
            &[linkage.kinetic_energy(&scratch)],
            &case.numbers("kinetic"),
        );
        assert_close(
            name,
            "potential energy",
            &[linkage.potential_energy(&scratch)],
            &case.numbers("potential"),
        );
    }
}
