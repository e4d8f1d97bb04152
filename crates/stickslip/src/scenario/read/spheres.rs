//! `[spheres]`.

use super::ends::{Nature, Surroundings};
use super::friction::Role;
use super::*;
use crate::spheres::MOST_SPHERES;

impl Reader {
    pub(super) fn spheres(&mut self, root: &Section<'_>) -> Option<SpheresSpec> {
        let key_span = root.get("spheres")?.key_span;
        let others = ["bodies", "elements", "inclusion", "chain"];
        if let Some(other) = others.iter().find(|other| root.get(other).is_some()) {
            self.report(
                key_span,
                format!("a scenario has `[spheres]` or `[{other}]`, not both"),
                "spheres on a plane are a system of their own; single bodies are written with [bodies.NAME]",
            );
            return None;
        }
        let before = self.diagnostics.len();
        let section = self.subsection(root, "spheres", &keys::SPHERES)?;
        let count = self.whole(&section, "count", 1, MOST_SPHERES as u64);
        let body = self.subsection(&section, "body", &keys::SPHERES_BODY);
        let sphere = body.and_then(|inner| {
            self.kind(&inner);
            let body = self.rigid_body(&inner)?;
            let Some(Shape::Sphere(radius)) = body.shape else {
                self.report_at(
                    &inner,
                    "shape",
                    "bodies of `[spheres]` are spheres",
                    "write shape = { sphere = \"0.1 m\" }",
                );
                return None;
            };
            let [xx, yy, zz, xy, xz, yz] = body.inertia;
            if !(xx == yy && yy == zz && [xy, xz, yz] == [0.0; 3]) {
                self.report_at(
                    &inner,
                    "inertia",
                    "a sphere here has the same inertia about every axis",
                    "leave `inertia` out, or write three equal numbers",
                );
            }
            if let Some(key) = ["force", "torque", "material"]
                .into_iter()
                .find(|key| inner.get(key).is_some())
            {
                self.report_at(
                    &inner,
                    key,
                    format!("`{key}` does not act on `[spheres]`"),
                    "leave it out: they feel gravity and the plane",
                );
            }
            Some((radius, body))
        });
        let spacing = self.number(&section, "spacing", &[Dimension::LENGTH], Sign::Positive);
        let contact = self
            .subsection(&section, "contact", &keys::SPHERES_CONTACT)
            .and_then(|inner| self.plane_contact(&inner));
        let mut spread = SpheresSpread::default();
        if let Some(inner) = self.subsection(&section, "spread", &keys::SPHERES_SPREAD) {
            let mut part = |key: &str, dimension| {
                let value = self.number(&inner, key, &[dimension], Sign::NotNegative);
                value.unwrap_or(0.0)
            };
            (spread.position, spread.velocity) = (
                part("position", Dimension::LENGTH),
                part("velocity", Dimension::VELOCITY),
            );
            if inner.get("seed").is_some() {
                spread.seed = self.whole(&inner, "seed", 0, 1 << 53).unwrap_or(0);
            }
        }
        let (radius, body) = sphere?;
        let (plane, normal, friction) = contact?;
        (self.diagnostics.len() == before).then_some(SpheresSpec {
            count: count? as usize,
            radius,
            body,
            // Three radii from centre to centre leave one between the surfaces.
            spacing: spacing.unwrap_or(3.0 * radius),
            plane,
            normal,
            friction,
            spread,
        })
    }

    fn plane_contact(&mut self, section: &Section<'_>) -> Option<(Plane, NormalLawSpec, Option<FrictionLawSpec>)> {
        self.kind(section);
        let surface = self.subsection(section, "surface", &keys::SURFACE);
        let plane = surface.and_then(|surface| self.plane(&surface));
        let normal = self.normal_law(section);
        let around = Surroundings {
            bodies: &[],
            ports: Vec::new(),
            elements: Vec::new(),
            gravity: false,
        };
        let friction = self
            .subsection(section, "friction", &keys::FRICTION_LAW)
            .and_then(|inner| self.friction_law(&inner, Nature::Linear, Role::Contact, &around));
        Some((plane?, normal?, friction))
    }
}
