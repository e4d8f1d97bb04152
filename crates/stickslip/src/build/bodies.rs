//! Bodies: where their coordinates are in the state, their masses and initial motion.

use super::elements::{UNDEFINED, undefined};
use super::{Builder, Place};
use crate::body::own::{MOST_COORDINATES, PlacedOwn, is_symmetric};
use crate::body::{FixedLink, JointKind, LinkDescription, Linkage, LinkageScratch, OwnBodySpec, RigidBody};
use crate::element::own::MOST_STATES;
use crate::integrate::Method;
use crate::math::dense::{ldlt_factor, ldlt_solve};
use crate::math::symmetric_eigenvalues;
use crate::network::port::Coordinate;
use crate::network::{AppliedForce, Drive, PlacedBody, PlacedLinkage, Push};
use crate::profile::Profile;
use crate::scenario::{BodySpec, DriverMotion, JointType, LinkageSpec, RigidBodySpec};
use nalgebra::{DMatrix, Matrix3, Vector3};

/// Symmetric matrix from xx, yy, zz, xy, xz, yz.
fn symmetric([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Matrix3<f64> {
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

impl Builder<'_> {
    /// Lays out the state and creates the bodies.
    pub(super) fn lay_out_bodies(&mut self) {
        let scenario = self.scenario;
        let mut linkages = Vec::new();
        for (name, body) in &scenario.bodies {
            if let BodySpec::Linkage(spec) = body {
                linkages.push(self.linkage(name, spec));
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        let mut linkages: Vec<Linkage> = linkages.into_iter().flatten().collect();

        // Count first, then place: scalar coordinates lead, the rest follows.
        for (_, body) in &scenario.bodies {
            match body {
                BodySpec::Mass(mass) => self.layout.masses += mass.position.len(),
                BodySpec::Inertia(_) => self.layout.masses += 1,
                BodySpec::Driver(driver) => self.layout.drivers += driver.motion.profiles().len(),
                BodySpec::RigidBody(_) => {
                    self.layout.positions += 7;
                    self.layout.velocities += 6;
                }
                BodySpec::Linkage(_) => (),
                BodySpec::Own(spec) => self.layout.joints += spec.body.coordinates().len(),
            }
        }
        for linkage in &linkages {
            if linkage.is_floating() {
                self.layout.positions += linkage.position_count();
                self.layout.velocities += linkage.velocity_count();
            } else {
                self.layout.joints += linkage.position_count();
            }
        }
        self.layout.positions += self.layout.scalars();
        self.layout.velocities += self.layout.scalars();
        self.layout.states = self.count_states() + self.layout.drivers;
        self.initial = vec![0.0; self.layout.len()];
        self.sizes = vec![0.0; self.layout.integrated() - self.layout.first_state()];
        self.next_state = self.layout.first_state() + self.layout.drivers;
        self.inverse_mass = vec![0.0; self.layout.velocities];
        self.gravity = vec![0.0; self.layout.masses + self.layout.drivers];

        let first_v = self.layout.positions;
        let (mut mass, mut driver) = (0, self.layout.masses);
        let mut joint = self.layout.masses + self.layout.drivers;
        let (mut free_q, mut free_v) = (self.layout.scalars(), first_v + self.layout.scalars());
        linkages.reverse();
        for (name, body) in &scenario.bodies {
            let place = match body {
                BodySpec::Mass(spec) => {
                    let axes = spec.position.len();
                    let first = Coordinate {
                        q: mass,
                        v: first_v + mass,
                    };
                    for i in 0..axes {
                        self.inverse_mass[mass + i] = 1.0 / spec.mass;
                        self.gravity[mass + i] = match (axes, spec.axis) {
                            (1, Some(axis)) => Vector3::from(axis).dot(&self.world_gravity),
                            (1, None) => 0.0,
                            _ => self.world_gravity[i],
                        };
                        self.initial[first.q + i] = spec.position[i];
                        self.initial[first.v + i] = spec.velocity[i];
                    }
                    for (i, force) in spec.force.iter().enumerate() {
                        self.apply(first.v + i, force);
                    }
                    mass += axes;
                    Place::Coordinates {
                        first,
                        axes,
                        driven: false,
                    }
                }
                BodySpec::Inertia(spec) => {
                    let first = Coordinate {
                        q: mass,
                        v: first_v + mass,
                    };
                    self.inverse_mass[mass] = 1.0 / spec.inertia;
                    self.initial[first.q] = spec.position;
                    self.initial[first.v] = spec.velocity;
                    if let Some(torque) = &spec.torque {
                        self.apply(first.v, torque);
                    }
                    mass += 1;
                    Place::Coordinates {
                        first,
                        axes: 1,
                        driven: false,
                    }
                }
                BodySpec::Driver(spec) => {
                    let profiles = spec.motion.profiles();
                    let first = Coordinate {
                        q: driver,
                        v: first_v + driver,
                    };
                    let position = matches!(spec.motion, DriverMotion::Position(_));
                    for (i, profile) in profiles.iter().enumerate() {
                        let coordinate = Coordinate {
                            q: first.q + i,
                            v: first.v + i,
                        };
                        let start = if position { profile.value(0.0) } else { spec.start[i] };
                        self.initial[coordinate.q] = start;
                        self.initial[coordinate.v] = if position {
                            self.first_speed(profile)
                        } else {
                            profile.value(0.0)
                        };
                        let signal = self.signal(profile);
                        let sum = self.layout.first_state() + driver - self.layout.masses + i;
                        self.drives.push(Drive {
                            coordinate,
                            signal,
                            position,
                            start,
                            sum,
                        });
                    }
                    driver += profiles.len();
                    Place::Coordinates {
                        first,
                        axes: profiles.len(),
                        driven: true,
                    }
                }
                BodySpec::RigidBody(spec) => {
                    let (q, v) = (free_q, free_v);
                    free_q += 7;
                    free_v += 6;
                    self.place_rigid_body(name, spec, q, v)
                }
                BodySpec::Linkage(spec) => {
                    let Some(linkage) = linkages.pop() else { continue };
                    let (positions, velocities) = (linkage.position_count(), linkage.velocity_count());
                    let (q, v) = if linkage.is_floating() {
                        free_q += positions;
                        free_v += velocities;
                        (free_q - positions, free_v - velocities)
                    } else {
                        joint += positions;
                        (joint - positions, first_v + joint - velocities)
                    };
                    self.place_linkage(spec, linkage, q, v, positions, velocities)
                }
                BodySpec::Own(spec) => {
                    let (q, v) = (joint, first_v + joint);
                    joint += spec.body.coordinates().len();
                    self.place_own(name, spec, q, v)
                }
            };
            self.places.push(place);
        }
    }

    fn apply(&mut self, velocity: usize, profile: &crate::profile::Profile) {
        if matches!(profile, crate::profile::Profile::Constant(value) if *value == 0.0) {
            return;
        }
        let signal = self.signal(profile);
        self.forces.push(AppliedForce { velocity, signal });
    }

    fn place_own(&mut self, name: &str, spec: &OwnBodySpec, q: usize, v: usize) -> Place {
        let count = spec.body.coordinates().len();
        let path = format!("bodies.{name}");
        let initial = spec.body.initial();
        let placed = PlacedOwn {
            body: spec.body.clone(),
            q,
            v,
            count,
            state: self.next_state,
            states: initial.len(),
            time: self.time_signal(),
        };
        self.next_state += initial.len();
        self.initial[placed.state..placed.state + initial.len()].copy_from_slice(&initial);
        if initial.len() > MOST_STATES || initial.iter().any(|value| !value.is_finite()) {
            let message = format!("a body has at most {MOST_STATES} states, which begin at finite numbers");
            self.error(&path, message).help = Some("leave some out, or make two bodies of it".into());
            return Place::Own(0);
        }
        if !(1..=MOST_COORDINATES).contains(&count) || spec.position.len() != count || spec.velocity.len() != count {
            let message = format!(
                "the body has {count} coordinates, {} positions and {} velocities",
                spec.position.len(),
                spec.velocity.len()
            );
            self.error(&path, message).help = Some(format!(
                "give one position and one velocity for each of 1 to {MOST_COORDINATES} coordinates"
            ));
            return Place::Own(0);
        }
        self.initial[q..q + count].copy_from_slice(&spec.position);
        self.initial[v..v + count].copy_from_slice(&spec.velocity);
        let mut inertia = placed.inertia(&self.initial, &[]);
        let matrix = DMatrix::from_row_slice(count, count, &inertia[..count * count]);
        let finite = matrix.iter().all(|value| value.is_finite());
        if !finite || !is_symmetric(&inertia, count) || matrix.cholesky().is_none() {
            self.error(
                &path,
                "the inertia of the body is not symmetric and positive definite at the start",
            )
            .help =
                Some("it has a row for each coordinate, M[i][j] = M[j][i], and every motion has kinetic energy".into());
        }
        let (force, rates) = placed.forces(&self.initial, &[]);
        let text = undefined(&force[..count], &rates[..placed.states], &spec.body.state_names());
        if let Some(text) = text.filter(|_| finite) {
            let message = format!(
                "at the start, with coordinates {:?} and velocities {:?}, this is not a finite number",
                spec.position, spec.velocity
            );
            self.error(&format!("{path}.{text}"), message).help = Some(UNDEFINED.into());
        }
        ldlt_factor(&mut inertia, count);
        for i in 0..count {
            let mut column = [0.0; MOST_COORDINATES];
            column[i] = 1.0;
            ldlt_solve(&inertia, count, &mut column[..count]);
            self.inverse_mass[q + i] = column[i];
        }
        self.own_bodies.push(placed);
        Place::Own(self.own_bodies.len() - 1)
    }

    fn place_rigid_body(&mut self, name: &str, spec: &RigidBodySpec, q: usize, v: usize) -> Place {
        let index = self.bodies.len();
        match RigidBody::new(spec.mass, symmetric(spec.inertia)) {
            Ok(body) => self.bodies.push(PlacedBody { body, q, v }),
            Err(error) => {
                self.error(&format!("bodies.{name}.inertia"), error.to_string());
            }
        }
        self.initial[q..q + 3].copy_from_slice(&spec.position);
        self.initial[q + 3..q + 7].copy_from_slice(&spec.rotation);
        self.initial[v..v + 3].copy_from_slice(&spec.velocity);
        self.initial[v + 3..v + 6].copy_from_slice(&spec.angular_velocity);
        for (i, force) in spec.force.iter().enumerate() {
            self.apply(v + i, force);
        }
        for (i, torque) in spec.torque.iter().enumerate() {
            self.apply(v + 3 + i, torque);
        }
        Place::Rigid(index)
    }

    fn linkage(&mut self, name: &str, spec: &LinkageSpec) -> Option<Linkage> {
        // The root of a floating linkage has no joint; its type is not looked at.
        let rooted = |link: &&crate::scenario::LinkSpec| !(spec.floating && link.parent.is_none());
        for link in spec.links.iter().filter(rooted) {
            if link.joint_type == JointType::Spherical {
                let message = format!(
                    "the joint \"{}\" is spherical, which joints of linkages are not yet",
                    link.joint
                );
                self.error(&format!("bodies.{name}.{}.type", link.name), message).help = Some(
                    "use three revolute joints in a row, or rigid bodies and an element of kind = \"joint\" with rigid = true".into(),
                );
                return None;
            }
        }
        let (moving, fixed) = spec.links.split_at(spec.moving());
        let links: Vec<LinkDescription> = moving
            .iter()
            .map(|link| LinkDescription {
                name: link.name.clone(),
                parent: link.parent,
                kind: match link.joint_type {
                    JointType::Prismatic => JointKind::Prismatic,
                    _ => JointKind::Revolute,
                },
                axis: Vector3::from(link.axis),
                origin: Vector3::from(link.origin),
                rotation: link.rotation,
                mass: link.mass,
                com: Vector3::from(link.com),
                inertia: symmetric(link.inertia),
            })
            .collect();
        let fixed: Vec<FixedLink> = fixed
            .iter()
            .map(|link| FixedLink {
                name: link.name.clone(),
                carrier: link.parent,
                origin: Vector3::from(link.origin),
                rotation: link.rotation,
                mass: link.mass,
                com: Vector3::from(link.com),
                inertia: symmetric(link.inertia),
            })
            .collect();
        match Linkage::with_fixed(&links, &fixed, spec.floating, self.world_gravity) {
            Ok(linkage) => Some(linkage),
            Err(error) => {
                self.error(&format!("bodies.{name}.links"), error.to_string());
                None
            }
        }
    }

    fn place_linkage(
        &mut self,
        spec: &LinkageSpec,
        linkage: Linkage,
        q: usize,
        v: usize,
        positions: usize,
        velocities: usize,
    ) -> Place {
        if linkage.is_floating() {
            self.initial[q..q + 3].copy_from_slice(&spec.base.position);
            self.initial[q + 3..q + 7].copy_from_slice(&spec.base.rotation);
            self.initial[v..v + 3].copy_from_slice(&spec.base.velocity);
            self.initial[v + 3..v + 6].copy_from_slice(&spec.base.angular_velocity);
        }
        for (link, description) in spec.links.iter().enumerate() {
            if let (Some(i), Some(j)) = (linkage.joint_position_index(link), linkage.joint_velocity_index(link)) {
                let start = [description.position, description.velocity];
                // As a driver begins that is given by its position.
                let [position, velocity] = description
                    .motion
                    .as_ref()
                    .map_or(start, |motion| [motion.value(0.0), self.first_speed(motion)]);
                self.initial[q + i] = position;
                self.initial[v + j] = velocity;
            }
        }
        let pushes = self.pushes(spec);
        let felt = self.largest_inverse_masses(spec, &linkage, q);
        let first = v - self.layout.positions;
        self.inverse_mass[first..first + velocities].copy_from_slice(&felt);
        self.linkages.push(PlacedLinkage {
            body: linkage,
            q,
            v,
            positions,
            velocities,
            placed: !pushes.is_empty(),
            pushes,
        });
        Place::Linkage(self.linkages.len() - 1)
    }

    /// The velocity at which a driver given by its position begins: that of the first step, or where the method is of second order that of the parabola through the
    /// positions at start, middle and end of it.
    fn first_speed(&self, profile: &Profile) -> f64 {
        let [start, middle, end] = [0.0, 0.5, 1.0].map(|part| profile.value(part * self.step));
        match self.method {
            Method::ImplicitMidpoint => (3.0 * (middle - start) - (end - middle)) / self.step,
            _ => (end - start) / self.step,
        }
    }

    /// Forces and torques of profiles on links.
    fn pushes(&mut self, spec: &LinkageSpec) -> Vec<Push> {
        let mut pushes = Vec::new();
        for (link, description) in spec.links.iter().enumerate() {
            let signals = [&description.force, &description.torque].map(|profiles| {
                let mut signals = [None; 3];
                for (signal, profile) in signals.iter_mut().zip(profiles) {
                    *signal = (*profile != Profile::Constant(0.0)).then(|| self.signal(profile));
                }
                signals
            });
            if signals != [[None; 3]; 2] {
                let point = Vector3::from(description.com);
                pushes.push(Push { link, point, signals });
            }
        }
        pushes
    }

    /// The largest (H⁻¹)_ii over poses: the smallest mass a force on joint i can feel.
    fn largest_inverse_masses(&self, spec: &LinkageSpec, linkage: &Linkage, q: usize) -> Vec<f64> {
        let n = linkage.velocity_count();
        let mut column = vec![0.0; n];
        let mut largest = vec![0.0f64; n];
        self.over_poses(spec, linkage, q, |_, factor| {
            for i in 0..n {
                column.fill(0.0);
                column[i] = 1.0;
                ldlt_solve(factor, n, &mut column);
                largest[i] = largest[i].max(column[i]);
            }
        });
        largest
    }

    /// Inverse of the smallest mass felt at a point of a link over poses: the largest eigenvalue of J·H⁻¹·Jᵀ.
    pub(super) fn inverse_mass_of_link(&self, linkage: usize, link: usize, point: &Vector3<f64>) -> f64 {
        let placed = &self.linkages[linkage];
        let Some(body) = self.places.iter().position(|place| *place == Place::Linkage(linkage)) else {
            return 0.0;
        };
        let BodySpec::Linkage(spec) = &self.scenario.bodies[body].1 else {
            return 0.0;
        };
        let n = placed.velocities;
        let mut rows = vec![0.0; 3 * n];
        let mut largest = 0.0f64;
        self.over_poses(spec, &placed.body, placed.q, |scratch, factor| {
            let at = placed.body.frame(scratch, link).point_position(point);
            placed.body.point_jacobian(scratch, link, &at, &mut rows);
            let mut solved = rows.clone();
            for row in solved.chunks_mut(n) {
                ldlt_solve(factor, n, row);
            }
            let product = |i: usize, j: usize| (0..n).map(|k| rows[i * n + k] * solved[j * n + k]).sum::<f64>();
            let values = symmetric_eigenvalues(&Matrix3::from_fn(product));
            largest = largest.max(values.map_or(0.0, |values| values.max()));
        });
        largest
    }

    /// Inverse of the mass that a force along `direction` at a point of the world feels on a link at the start.
    pub(super) fn inverse_mass_of_placed_link(
        &self,
        linkage: usize,
        link: usize,
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> f64 {
        let placed = &self.linkages[linkage];
        let n = placed.velocities;
        let mut scratch = placed.body.scratch();
        let (q, v) = placed.motion(&self.initial);
        placed.body.place(q, v, &mut scratch);
        let mut matrix = vec![0.0; n * n];
        placed.body.mass_matrix(&mut scratch, &mut matrix);
        ldlt_factor(&mut matrix, n);
        let mut rows = vec![0.0; 3 * n];
        placed.body.point_jacobian(&scratch, link, point, &mut rows);
        let row: Vec<f64> = (0..n)
            .map(|i| (0..3).map(|k| direction[k] * rows[k * n + i]).sum())
            .collect();
        let mut solved = row.clone();
        ldlt_solve(&matrix, n, &mut solved);
        row.iter().zip(&solved).map(|(a, b)| a * b).sum()
    }

    /// Calls `look` with the placed links and the factored mass matrix of many poses. Joint angles are sampled over a
    /// full turn (or their limits) by a fixed sequence, prismatic joints over their limits or at their start.
    fn over_poses(
        &self,
        spec: &LinkageSpec,
        linkage: &Linkage,
        q: usize,
        mut look: impl FnMut(&LinkageScratch, &[f64]),
    ) {
        let n = linkage.velocity_count();
        let mut scratch = linkage.scratch();
        let mut pose = self.initial[q..q + linkage.position_count()].to_vec();
        let still = vec![0.0; n];
        let mut matrix = vec![0.0; n * n];
        for sample in 0..256u32 {
            if sample > 0 {
                for (link, description) in spec.links.iter().enumerate() {
                    let Some(i) = linkage.joint_position_index(link) else {
                        continue;
                    };
                    // Additive recurrence with a different irrational step for each joint.
                    let fraction = (f64::from(sample) * (0.618_033_988_749_895 + 0.110_101 * link as f64)).fract();
                    let range = match (description.limits, description.joint_type) {
                        (Some(limits), _) => limits,
                        (None, JointType::Revolute) => [0.0, std::f64::consts::TAU],
                        _ => [description.position; 2],
                    };
                    pose[i] = range[0] + fraction * (range[1] - range[0]);
                }
            }
            linkage.place(&pose, &still, &mut scratch);
            linkage.mass_matrix(&mut scratch, &mut matrix);
            ldlt_factor(&mut matrix, n);
            look(&scratch, &matrix);
        }
    }
}
