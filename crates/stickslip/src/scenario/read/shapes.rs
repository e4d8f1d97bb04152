//! Shapes, and `[contacts]`, `[materials.NAME]`.

use super::bodies::Body;
use super::ends::{Nature, Surroundings, ports};
use super::friction::Role;
use super::*;
use crate::shape::mesh::{Mesh, check_closed, read_stl};
use crate::shape::polytope::Polytope;
use nalgebra::Vector3;
use std::sync::Arc;

/// The words of a shape.
const SHAPES: [&str; 8] = ["sphere", "box", "capsule", "cylinder", "hull", "mesh", "plane", "point"];
const HOW: &str = "write { sphere = \"0.1 m\" }, { box = [0.1, 0.2, 0.3] }, { capsule = { radius = 0.1, length = 0.3 } }, { cylinder = { radius = 0.1, length = 0.3 } }, { hull = [[0, 0, 0], …] }, { hull = \"part.stl\" } or { point = true }";

impl Reader {
    /// The shape of a body, if it has one. `fixed`: the body does not move, so that it may be a mesh or a plane.
    pub(super) fn shape(&mut self, section: &Section<'_>, fixed: bool) -> Option<Shape> {
        let entry = section.get("shape")?;
        let path = section.path_of("shape");
        match &entry.node.value {
            Value::Table(table) => {
                let inner = self.section(&path, table, entry.key_span, &keys::SHAPE);
                let part = self.shape_part(&inner, fixed)?;
                let still = part.position == [0.0; 3] && part.rotation == rules::NO_ROTATION;
                Some(if still { part.shape } else { Shape::Compound(vec![part]) })
            }
            Value::List(items) if !items.is_empty() => {
                let mut parts = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let Value::Table(table) = &item.value else {
                        self.wrong_type(item, &path, "a list of shapes", section.keys.get("shape"));
                        return None;
                    };
                    let inner = self.section(&format!("{path}.{index}"), table, item.span, &keys::SHAPE);
                    parts.push(self.shape_part(&inner, fixed)?);
                }
                if parts.iter().any(|part| part.shape == Shape::Point) {
                    self.report(entry.node.span, format!("a part of `{path}` is a point"), HOW);
                    return None;
                }
                Some(Shape::Compound(parts))
            }
            _ => {
                self.wrong_type(
                    &entry.node,
                    &path,
                    "a shape, or a list of shapes",
                    section.keys.get("shape"),
                );
                None
            }
        }
    }

    fn shape_part(&mut self, inner: &Section<'_>, fixed: bool) -> Option<ShapePart> {
        let before = self.diagnostics.len();
        let given: Vec<&str> = SHAPES.into_iter().filter(|key| inner.get(key).is_some()).collect();
        let length = &[Dimension::LENGTH];
        let shape = match given[..] {
            ["sphere"] => self.number(inner, "sphere", length, Sign::Positive).map(Shape::Sphere),
            ["box"] => {
                let edges = self.vector3(inner, "box", length)?;
                if let Some((message, help)) = rules::box_fault(edges) {
                    self.report_at(inner, "box", message, help);
                    return None;
                }
                Some(Shape::Box(edges))
            }
            ["capsule"] => self
                .round(inner, "capsule")
                .map(|(radius, length)| Shape::Capsule { radius, length }),
            ["cylinder"] => self
                .round(inner, "cylinder")
                .map(|(radius, length)| Shape::Cylinder { radius, length }),
            ["hull"] => self.hull(inner),
            ["mesh"] if fixed => self.mesh(inner),
            ["plane"] if fixed => self.plane(inner).map(Shape::Plane),
            [scenery @ ("mesh" | "plane")] => {
                self.report_at(
                    inner,
                    scenery,
                    format!("a {scenery} is for bodies that do not move"),
                    "write kind = \"fixed\", or give the body a hull, a box or a list of them",
                );
                None
            }
            ["point"] if self.flag(inner, "point")? => Some(Shape::Point),
            _ if given.is_empty() && !inner.table.entries.is_empty() => None,
            _ => {
                let message = format!(
                    "`{}` should be exactly one of sphere, box, capsule, cylinder, hull, mesh, plane and point",
                    inner.path
                );
                self.report(inner.span, message, HOW);
                None
            }
        };
        let position = self.vector3(inner, "position", length).unwrap_or_default();
        let rotation = self.rotation(inner, "rotation").unwrap_or(rules::NO_ROTATION);
        (self.diagnostics.len() == before)
            .then_some(shape)
            .flatten()
            .map(|shape| ShapePart {
                shape,
                position,
                rotation,
            })
    }

    fn round(&mut self, inner: &Section<'_>, key: &str) -> Option<(f64, f64)> {
        let table = self.subsection(inner, key, &keys::ROUND)?;
        let radius = self.number(&table, "radius", &[Dimension::LENGTH], Sign::Positive);
        let length = self.number(&table, "length", &[Dimension::LENGTH], Sign::Positive);
        radius.zip(length)
    }

    fn hull(&mut self, inner: &Section<'_>) -> Option<Shape> {
        let entry = inner.get("hull")?;
        let points = match &entry.node.value {
            Value::Text(_) => self.triangles(inner, "hull", false)?.into_iter().flatten().collect(),
            Value::List(items) => {
                let mut points = Vec::new();
                for item in items {
                    let path = inner.path_of("hull");
                    let listed = inner.keys.get("hull");
                    let wanted = "a list of points of 3 numbers";
                    let numbers = self.numbers_in(item, &path, &[Dimension::LENGTH], listed, (3, 3), wanted)?;
                    points.push(Vector3::from(padded(&numbers)));
                }
                points
            }
            _ => {
                let path = inner.path_of("hull");
                self.wrong_type(
                    &entry.node,
                    &path,
                    "a list of points or the name of an STL file",
                    inner.keys.get("hull"),
                );
                return None;
            }
        };
        match Polytope::hull(&points) {
            Ok(hull) => Some(Shape::Hull(Arc::new(hull))),
            Err(error) => {
                let help = "give the corners of a solid: at least four points that do not lie in one plane";
                self.report_at(inner, "hull", format!("`{}`: {error}", inner.path_of("hull")), help);
                None
            }
        }
    }

    fn mesh(&mut self, inner: &Section<'_>) -> Option<Shape> {
        let triangles = self.triangles(inner, "mesh", true)?;
        match Mesh::new(&triangles) {
            Ok(mesh) => Some(Shape::Mesh(Arc::new(mesh))),
            Err(error) => {
                self.report_at(inner, "mesh", format!("`{}`: {error}", inner.path_of("mesh")), REPAIR);
                None
            }
        }
    }

    /// The triangles of an STL file. `closed`: they must enclose a volume.
    fn triangles(&mut self, inner: &Section<'_>, key: &str, closed: bool) -> Option<Vec<[Vector3<f64>; 3]>> {
        let name = self.text(inner, key)?;
        let path = match &self.directory {
            Some(directory) => directory.join(&name),
            None => PathBuf::from(&name),
        };
        let bytes = match read_file(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("cannot read the file `{}`: {error}", shorten(&name));
                self.report_at(inner, key, message, "files are looked up beside the scenario");
                return None;
            }
        };
        let read = read_stl(&bytes).and_then(|triangles| {
            if closed {
                check_closed(&triangles)?;
            }
            Ok(triangles)
        });
        match read {
            Ok(triangles) => Some(triangles),
            Err(error) => {
                self.report_at(inner, key, format!("`{}`: {error}", shorten(&name)), REPAIR);
                None
            }
        }
    }

    /// The shape of a driver or a fixed body with its rotation and the speed of its surface.
    pub(super) fn driven_shape(&mut self, section: &Section<'_>, fixed: bool) -> Option<DrivenShape> {
        let shape = self.shape(section, true)?;
        let rotation = self.rotation(section, "rotation").unwrap_or(rules::NO_ROTATION);
        let surface_velocity = self.vector3(section, "surface_velocity", &[Dimension::VELOCITY]);
        Some(DrivenShape {
            shape,
            rotation,
            fixed,
            surface_velocity: surface_velocity.unwrap_or_default(),
        })
    }

    /// `[contacts]` as an element that is named so.
    pub(super) fn contacts(
        &mut self,
        root: &Section<'_>,
        bodies: &[Body],
        simulation: &SimulationSpec,
        elements: &mut Vec<(String, Option<ElementSpec>)>,
    ) {
        let materials = self.materials(root);
        let Some(section) = self.subsection(root, "contacts", &keys::CONTACTS) else {
            if let Some(entry) = root.get("materials") {
                self.report(
                    entry.key_span,
                    "`[materials]` has no effect without `[contacts]`",
                    "add [contacts] with between = \"all\" and friction = { law = \"implicit\", mu = 0.5 }",
                );
            }
            return;
        };
        self.spans.insert("contacts".to_string(), section.span);
        self.spans.insert("elements.contacts".to_string(), section.span);
        let before = self.diagnostics.len();
        if bodies.iter().any(|body| body.name == "contacts") || elements.iter().any(|(name, _)| name == "contacts") {
            self.report(
                section.span,
                "`contacts` is the name of a body or an element too",
                "`[contacts]` has columns of its own, `contacts.count`: give the other a name of its own",
            );
        }
        let around = Surroundings {
            bodies,
            ports: ports(bodies),
            elements: Vec::new(),
            gravity: simulation.gravity.is_some(),
        };
        let mut names: Vec<String> = around.ports.iter().map(|(name, ..)| name.clone()).collect();
        names.extend(bodies.iter().map(|body| body.name.clone()));
        let between = match section.get("between").map(|entry| &entry.node.value) {
            Some(Value::Text(word)) if word == "all" => None,
            Some(Value::Text(word)) => {
                let message = format!(
                    "`contacts.between` should be \"all\" or a list of pairs, found \"{}\"",
                    shorten(word)
                );
                self.report_at(
                    &section,
                    "between",
                    message,
                    "write between = \"all\", or [[\"box\", \"table\"]]",
                );
                None
            }
            Some(_) => Some(self.pairs(&section, "between", &names, bodies)),
            None => None,
        };
        let except = match section.get("except") {
            Some(_) => self.pairs(&section, "except", &names, bodies),
            None => Vec::new(),
        };
        let normal = match section.get("normal") {
            Some(_) => self.normal_law(&section),
            None => Some(NormalLawSpec {
                law: "rigid".into(),
                parameters: Vec::new(),
            }),
        };
        let friction = match self.subsection(&section, "friction", &keys::FRICTION_LAW) {
            Some(inner) => self.friction_law(&inner, Nature::Linear, Role::Contact, &around),
            None => None,
        };
        let recovery_speed = self.number(&section, "recovery_speed", &[Dimension::VELOCITY], Sign::NotNegative);
        let pairs = self.material_pairs(&section, &materials);
        let of = self.material_of(root, &materials);
        if self.diagnostics.len() > before {
            elements.push(("contacts".into(), None));
            return;
        }
        let spec = normal.map(|normal| {
            ElementSpec::Found(ContactsSpec {
                between,
                except,
                normal,
                friction,
                recovery_speed,
                materials,
                pairs,
                of,
            })
        });
        elements.push(("contacts".into(), spec));
    }

    /// Pairs of names of bodies and links.
    fn pairs(&mut self, section: &Section<'_>, key: &str, names: &[String], bodies: &[Body]) -> Vec<[String; 2]> {
        let Some(entry) = section.get(key) else {
            return Vec::new();
        };
        let path = section.path_of(key);
        let mut pairs = Vec::new();
        let Value::List(items) = &entry.node.value else {
            self.wrong_type(&entry.node, &path, "a list of pairs of bodies", section.keys.get(key));
            return pairs;
        };
        for item in items {
            let pair = match &item.value {
                Value::List(pair) => match &pair[..] {
                    [
                        Node {
                            value: Value::Text(a), ..
                        },
                        Node {
                            value: Value::Text(b), ..
                        },
                    ] => [a.clone(), b.clone()],
                    _ => {
                        self.wrong_type(item, &path, "a list of pairs of bodies", section.keys.get(key));
                        continue;
                    }
                },
                _ => {
                    self.wrong_type(item, &path, "a list of pairs of bodies", section.keys.get(key));
                    continue;
                }
            };
            for name in &pair {
                if !names.contains(name) {
                    let help = match nearest(name, names.iter().map(String::as_str)) {
                        Some(meant) => format!("did you mean \"{meant}\"?"),
                        None => "name bodies of the file, or links as \"arm.hand\"".to_string(),
                    };
                    self.report(item.span, format!("there is no body \"{}\"", shorten(name)), help);
                }
            }
            // The name of a linkage stands for all its links, which do touch each other.
            let is_linkage = |body: &Body| matches!(body.spec, None | Some(BodySpec::Linkage(_)));
            let several = bodies.iter().any(|body| body.name == pair[0] && is_linkage(body));
            if pair[0] == pair[1] && names.contains(&pair[0]) && !several {
                let message = format!("`{path}` names \"{}\" twice: no body touches itself", shorten(&pair[0]));
                self.report(item.span, message, "name two bodies, or a linkage for all its links");
            }
            pairs.push(pair);
        }
        pairs
    }

    fn materials(&mut self, root: &Section<'_>) -> Vec<(String, Surface)> {
        let mut materials = Vec::new();
        let Some(entry) = root.get("materials") else {
            return materials;
        };
        let Value::Table(table) = &entry.node.value else {
            self.wrong_type(&entry.node, "materials", "a table of materials, [materials.NAME]", None);
            return materials;
        };
        for entry in &table.entries {
            let path = format!("materials.{}", entry.key);
            let Value::Table(table) = &entry.node.value else {
                self.wrong_type(&entry.node, &path, "a table", None);
                continue;
            };
            let section = self.section(&path, table, entry.key_span, &keys::MATERIAL);
            let surface = self.surface(&section);
            materials.push((entry.key.clone(), surface));
        }
        materials
    }

    fn surface(&mut self, section: &Section<'_>) -> Surface {
        let none = &[Dimension::NONE];
        let surface = Surface {
            mu: self.number(section, "mu", none, Sign::NotNegative),
            mu_static: self.number(section, "mu_static", none, Sign::NotNegative),
            restitution: self.number(section, "restitution", none, Sign::NotNegative),
            rolling: self.number(section, "rolling", &[Dimension::LENGTH], Sign::NotNegative),
            spinning: self.number(section, "spinning", &[Dimension::LENGTH], Sign::NotNegative),
        };
        if surface.restitution.is_some_and(|restitution| restitution > 1.0) {
            self.report_at(
                section,
                "restitution",
                "a restitution above 1 would make energy from nothing",
                "use a number from 0 to 1",
            );
        }
        if let (Some(holding), kinetic) = (surface.mu_static, surface.mu)
            && kinetic.is_none_or(|kinetic| holding < kinetic)
        {
            let message = format!("`{}` needs `mu`, and is not below it", section.path_of("mu_static"));
            self.report_at(
                section,
                "mu_static",
                message,
                "give both, for example: mu = 0.3, mu_static = 0.4",
            );
        }
        surface
    }

    fn material_pairs(
        &mut self,
        section: &Section<'_>,
        materials: &[(String, Surface)],
    ) -> Vec<([String; 2], Surface)> {
        let mut pairs = Vec::new();
        let Some(entry) = section.get("materials") else {
            return pairs;
        };
        let Value::List(items) = &entry.node.value else {
            self.wrong_type(
                &entry.node,
                "contacts.materials",
                "a list of tables, [[contacts.materials]]",
                None,
            );
            return pairs;
        };
        for (index, item) in items.iter().enumerate() {
            let Value::Table(table) = &item.value else {
                self.wrong_type(item, "contacts.materials", "a list of tables", None);
                continue;
            };
            let path = format!("contacts.materials.{index}");
            let inner = self.section(&path, table, item.span, &keys::MATERIAL_PAIR);
            let names = self.texts(&inner, "pair").unwrap_or_default();
            let known: Vec<&str> = materials.iter().map(|(name, _)| name.as_str()).collect();
            for (name, span) in &names {
                self.known_material(name, *span, &known);
            }
            let surface = self.surface(&inner);
            if let [(a, _), (b, _)] = &names[..] {
                pairs.push(([a.clone(), b.clone()], surface));
            }
        }
        pairs
    }

    fn known_material(&mut self, name: &str, span: Span, known: &[&str]) {
        if known.contains(&name) {
            return;
        }
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("add a table [materials.{name}]"),
        };
        self.report(span, format!("there is no material \"{}\"", shorten(name)), help);
    }

    /// The material of each body and link that names one.
    fn material_of(&mut self, root: &Section<'_>, materials: &[(String, Surface)]) -> Vec<(String, String)> {
        let known: Vec<&str> = materials.iter().map(|(name, _)| name.as_str()).collect();
        let mut of = Vec::new();
        let mut note = |reader: &mut Self, body: String, table: &Table| {
            if let Some(entry) = table.get("material")
                && let Value::Text(material) = &entry.node.value
            {
                reader.known_material(material, entry.node.span, &known);
                of.push((body, material.clone()));
            }
        };
        let Some(Value::Table(bodies)) = root.get("bodies").map(|entry| &entry.node.value) else {
            return of;
        };
        for entry in &bodies.entries {
            let Value::Table(table) = &entry.node.value else {
                continue;
            };
            note(self, entry.key.clone(), table);
            if let Some(Value::List(links)) = table.get("links").map(|entry| &entry.node.value) {
                for link in links {
                    if let Value::Table(link) = &link.value
                        && let Some(Value::Text(name)) = link.get("name").map(|entry| &entry.node.value)
                    {
                        note(self, format!("{}.{name}", entry.key), link);
                    }
                }
            }
        }
        of
    }
}

const REPAIR: &str = "repair the file in the program that made it: every side of a triangle belongs to exactly two, with normals outwards";
