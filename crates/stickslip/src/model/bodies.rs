//! Rigid bodies and linkages for a [`Model`](super::Model).

use crate::profile::Profile;
use crate::scenario::rules::{NO_ROTATION, PartFault, parent_fault, unit};
use crate::scenario::{BaseSpec, JointType, LinkSpec, LinkageSpec, RigidBodySpec, Shape};

/// A rigid body for [`Model::rigid_body`](super::Model::rigid_body): at rest at the origin unless said otherwise.
#[derive(Clone, Debug)]
pub struct RigidBody(pub(super) RigidBodySpec);

impl RigidBody {
    /// A solid ball.
    pub fn sphere(mass: f64, radius: f64) -> Self {
        Self::solid(mass, Shape::Sphere(radius))
    }

    /// A solid box with these edges, m.
    pub fn cuboid(mass: f64, edges: [f64; 3]) -> Self {
        Self::solid(mass, Shape::Box(edges))
    }

    /// A body with moments of inertia about its centre of mass, in its own axes: xx, yy, zz, xy, xz, yz, kg·m². It touches nothing
    /// unless it is given a shape.
    pub fn with_inertia(mass: f64, inertia: [f64; 6]) -> Self {
        RigidBody(RigidBodySpec {
            mass,
            shape: None,
            inertia,
            position: [0.0; 3],
            rotation: NO_ROTATION,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            force: Vec::new(),
            torque: Vec::new(),
        })
    }

    fn solid(mass: f64, shape: Shape) -> Self {
        Self::with_inertia(mass, shape.inertia(mass)).shape(shape)
    }

    /// What contacts see of it; the inertia stays as it is.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.0.shape = Some(shape);
        self
    }

    /// Where its centre of mass begins, m.
    pub fn at(mut self, position: [f64; 3]) -> Self {
        self.0.position = position;
        self
    }

    /// How it is turned at the start: a quaternion w, x, y, z of any length but 0.
    pub fn rotated(mut self, rotation: [f64; 4]) -> Self {
        self.0.rotation = unit(rotation);
        self
    }

    /// Its velocity at the start, m/s.
    pub fn moving(mut self, velocity: [f64; 3]) -> Self {
        self.0.velocity = velocity;
        self
    }

    /// Its angular velocity at the start in world axes, rad/s.
    pub fn spinning(mut self, angular_velocity: [f64; 3]) -> Self {
        self.0.angular_velocity = angular_velocity;
        self
    }

    /// A force on its centre of mass in world axes, N.
    pub fn force(mut self, force: [Profile; 3]) -> Self {
        self.0.force = force.into();
        self
    }

    /// A torque in world axes, N·m.
    pub fn torque(mut self, torque: [Profile; 3]) -> Self {
        self.0.torque = torque.into();
        self
    }
}

/// A link of a [`Linkage`] and the joint that carries it.
#[derive(Clone, Debug)]
pub struct Link {
    parent: String,
    spec: LinkSpec,
}

impl Link {
    fn new(name: &str, parent: &str, joint_type: JointType, axis: [f64; 3]) -> Self {
        Link {
            parent: parent.to_string(),
            spec: LinkSpec {
                name: name.to_string(),
                parent: None,
                joint: format!("{name}_joint"),
                joint_type,
                axis: unit(axis),
                origin: [0.0; 3],
                rotation: NO_ROTATION,
                mass: 0.0,
                com: [0.0; 3],
                inertia: [0.0; 6],
                position: 0.0,
                velocity: 0.0,
                limits: None,
                motion: None,
                force: Vec::new(),
                torque: Vec::new(),
                shape: None,
            },
        }
    }

    /// A link that turns about an axis on its parent: an earlier link, or `"ground"`.
    pub fn revolute(name: &str, parent: &str, axis: [f64; 3]) -> Self {
        Self::new(name, parent, JointType::Revolute, axis)
    }

    /// A link that slides along an axis on its parent.
    pub fn prismatic(name: &str, parent: &str, axis: [f64; 3]) -> Self {
        Self::new(name, parent, JointType::Prismatic, axis)
    }

    /// The root of a floating linkage; elsewhere a link that moves with its parent, or stays with the ground.
    pub fn fixed(name: &str, parent: &str) -> Self {
        Self::new(name, parent, JointType::Fixed, [0.0; 3])
    }

    /// The name of its joint; otherwise that of the link with `_joint` behind it.
    pub fn joint(mut self, name: &str) -> Self {
        self.spec.joint = name.to_string();
        self
    }

    /// Mass, kg, and where its centre is in the axes of the link, m.
    pub fn mass(mut self, mass: f64, com: [f64; 3]) -> Self {
        (self.spec.mass, self.spec.com) = (mass, com);
        self
    }

    /// Moments of inertia about the centre of mass in the axes of the link: xx, yy, zz, xy, xz, yz, kg·m².
    pub fn inertia(mut self, inertia: [f64; 6]) -> Self {
        self.spec.inertia = inertia;
        self
    }

    /// What contacts see of it, about its centre of mass. Where no inertia was given it is that of a solid of this shape, so the mass comes first.
    pub fn shape(mut self, shape: Shape) -> Self {
        if self.spec.inertia == [0.0; 6] {
            self.spec.inertia = shape.inertia(self.spec.mass);
        }
        self.spec.shape = Some(shape);
        self
    }

    /// Where the joint is in the axes of the parent, m.
    pub fn origin(mut self, origin: [f64; 3]) -> Self {
        self.spec.origin = origin;
        self
    }

    /// How its axes are turned against those of the parent at joint position 0: a quaternion w, x, y, z of any length but 0.
    pub fn rotated(mut self, rotation: [f64; 4]) -> Self {
        self.spec.rotation = unit(rotation);
        self
    }

    /// Position and velocity of the joint at the start, rad or m.
    pub fn start(mut self, position: f64, velocity: f64) -> Self {
        (self.spec.position, self.spec.velocity) = (position, velocity);
        self
    }

    /// A force at the centre of mass in the axes of the world, N.
    pub fn force(mut self, force: [Profile; 3]) -> Self {
        self.spec.force = force.into();
        self
    }

    /// A torque in the axes of the world, N·m.
    pub fn torque(mut self, torque: [Profile; 3]) -> Self {
        self.spec.torque = torque.into();
        self
    }

    /// The lowest and the highest position of the joint: it stops there.
    pub fn limits(mut self, lowest: f64, highest: f64) -> Self {
        self.spec.limits = Some([lowest, highest]);
        self
    }
}

/// A tree of links for [`Model::linkage`](super::Model::linkage).
#[derive(Clone, Debug, Default)]
pub struct Linkage {
    links: Vec<Link>,
    floating: bool,
    base: BaseSpec,
}

impl Linkage {
    /// Without links yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a link; its parent was added before.
    pub fn link(mut self, link: Link) -> Self {
        self.links.push(link);
        self
    }

    /// Frees the first link instead of jointing it to the ground.
    pub fn floating(mut self) -> Self {
        self.floating = true;
        self
    }

    /// Where a free root is at the start: its origin, m, and the quaternion w, x, y, z of its axes, of any length but 0.
    pub fn at(mut self, position: [f64; 3], rotation: [f64; 4]) -> Self {
        (self.base.position, self.base.rotation) = (position, unit(rotation));
        self
    }

    /// How a free root moves at the start: velocity, m/s, and angular velocity, rad/s, in the axes of the world.
    pub fn moving(mut self, velocity: [f64; 3], angular_velocity: [f64; 3]) -> Self {
        (self.base.velocity, self.base.angular_velocity) = (velocity, angular_velocity);
        self
    }

    /// With parents as numbers, and what is wrong with them.
    pub(super) fn resolve(self, path: &str) -> (LinkageSpec, Vec<PartFault>) {
        let names: Vec<String> = self.links.iter().map(|link| link.spec.name.clone()).collect();
        let mut faults = Vec::new();
        let resolve = |(number, link): (usize, Link)| {
            let mut spec = link.spec;
            let place = names[..number].iter().position(|name| *name == link.parent);
            spec.parent = place;
            if place.is_none() && link.parent != "ground" {
                let (message, help) = parent_fault(&spec.name, &link.parent, &names);
                faults.push((format!("{path}.{}.parent", spec.name), message, help));
            }
            spec
        };
        let links = self.links.into_iter().enumerate().map(resolve).collect();
        (LinkageSpec::new(links, self.floating, self.base), faults)
    }
}
