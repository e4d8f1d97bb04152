//! How the rate of the flat state changes with the state: the matrix that the stiff method needs.
//!
//! Elements give their derivatives by dual numbers. Bodies whose motion is computed in plain numbers only (rigid bodies,
//! linkages, bodies of the user's own) are differenced, with the derivatives of the elements put in; where a group of
//! elements does not know its derivatives, the whole network is. Newton's method converges to the same solution either way.

use super::Network;
use super::groups::AtEnd;
use super::port::Pair;
use super::span::Span;
use super::stage::{Room, apply_in};
use crate::body::{Frame, LinkageScratch};

/// Derivatives that elements add, as rows of a square matrix over the integrated part of the flat state: rows of
/// velocities hold those of the generalised forces, rows of element states those of their rates.
pub struct Tangent<'a> {
    /// The flat state.
    pub state: &'a [f64],
    /// Present values of profiles.
    pub signals: &'a [f64],
    /// Step of the stage.
    pub tau: f64,
    /// The network itself, with the placement of its rigid bodies and linkages.
    pub(crate) network: &'a Network,
    pub(crate) frames: &'a [Frame],
    pub(crate) linkages: &'a [LinkageScratch],
    matrix: &'a mut [f64],
    size: usize,
}

impl<'a> Tangent<'a> {
    /// No derivatives yet, in a matrix over the integrated numbers that is 0. The bodies have been placed at `state`.
    pub(crate) fn new(
        network: &'a Network,
        state: &'a [f64],
        signals: &'a [f64],
        (frames, linkages): (&'a [Frame], &'a [LinkageScratch]),
        tau: f64,
        matrix: &'a mut [f64],
    ) -> Self {
        Tangent {
            state,
            signals,
            tau,
            network,
            frames,
            linkages,
            matrix,
            size: network.layout.integrated(),
        }
    }

    /// Adds to one entry; the ground has neither row nor column.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        if row < self.size && column < self.size {
            self.matrix[row * self.size + column] += value;
        }
    }

    /// Adds the derivative of axis `axis` of a force between two coordinates with respect to the number at `column`.
    #[inline]
    pub fn add_force(&mut self, pair: &Pair, axis: usize, column: usize, value: f64) {
        self.add(pair.first.v + axis, column, pair.ratio[0] * value);
        self.add(pair.second.v + axis, column, -pair.ratio[1] * value);
    }

    /// Adds the derivative of axis `axis` of that force with respect to axis `by` of the relative position.
    #[inline]
    pub fn add_stiffness(&mut self, pair: &Pair, axis: usize, by: usize, value: f64) {
        self.add_force(pair, axis, pair.first.q + by, pair.ratio[0] * value);
        self.add_force(pair, axis, pair.second.q + by, -pair.ratio[1] * value);
    }

    /// The same with respect to the relative velocity.
    #[inline]
    pub fn add_damping(&mut self, pair: &Pair, axis: usize, by: usize, value: f64) {
        self.add_force(pair, axis, pair.first.v + by, pair.ratio[0] * value);
        self.add_force(pair, axis, pair.second.v + by, -pair.ratio[1] * value);
    }

    /// Adds the derivative of the rate of the state at `row` with respect to axis `by` of the relative position.
    #[inline]
    pub fn add_position_rate(&mut self, row: usize, pair: &Pair, by: usize, value: f64) {
        self.add(row, pair.first.q + by, pair.ratio[0] * value);
        self.add(row, pair.second.q + by, -pair.ratio[1] * value);
    }

    /// Adds the derivative of the rate of the state at `row` with respect to axis `by` of the relative velocity.
    #[inline]
    pub fn add_rate(&mut self, row: usize, pair: &Pair, by: usize, value: f64) {
        self.add(row, pair.first.v + by, pair.ratio[0] * value);
        self.add(row, pair.second.v + by, -pair.ratio[1] * value);
    }
}

impl Network {
    /// The derivative of the rate with respect to the state, row by row; returns how often the network was evaluated for it.
    /// `state` must have been evaluated in `room` just before; `typical` is a size that each number of the state is thought
    /// to change by, `base` a buffer. Over a `span` laws map steps; their states then follow from the motion, and have neither
    /// row nor column.
    pub(crate) fn jacobian(
        &self,
        state: &mut [f64],
        room: &mut Room<'_>,
        typical: impl Fn(usize) -> f64,
        matrix: &mut [f64],
        base: &mut [f64],
        span: Option<(Span<'_>, &[usize])>,
    ) -> u64 {
        let n = self.layout.integrated();
        matrix.fill(0.0);
        let placed = (&*room.frames, &*room.linkages);
        let mut tangent = Tangent::new(self, state, room.signals.get(), placed, 0.0, matrix);
        // Rates of states of the user's own bodies are known by differences only.
        let motion_only = self.own_bodies.iter().all(|placed| placed.states == 0);
        let known = motion_only
            && self.elements.iter().all(|group| match &span {
                Some((span, _)) => group.finish_tangent(&mut tangent, span),
                None => group.tangent(&mut tangent),
            });
        if known && self.bodies.is_empty() && self.linkages.is_empty() && self.own_bodies.is_empty() {
            let first = self.layout.positions;
            for (i, inverse_mass) in self.inverse_mass.iter().enumerate() {
                let row = &mut matrix[(first + i) * n..(first + i + 1) * n];
                row.iter_mut().for_each(|value| *value *= inverse_mass);
                matrix[i * n + first + i] = 1.0;
            }
        } else {
            self.difference(state, room, typical, known, matrix, base, span.map(|(span, _)| span));
        }
        for &row in span.iter().flat_map(|(_, mapped)| *mapped) {
            matrix[row * n..(row + 1) * n].fill(0.0);
        }
        // What is driven does not follow the state.
        for drive in &self.drives {
            let columns = [Some(drive.coordinate.v), drive.position.then_some(drive.coordinate.q)];
            for column in columns.into_iter().flatten() {
                for row in matrix.chunks_exact_mut(n) {
                    row[column] = 0.0;
                }
            }
        }
        if known { 0 } else { n as u64 }
    }

    /// Difference quotients, column by column. Where `known` holds the matrix has the derivatives of forces and of the
    /// rates of element states, and only the motion of the bodies is differenced.
    #[allow(clippy::too_many_arguments)] // What is known, and room.
    fn difference(
        &self,
        state: &mut [f64],
        room: &mut Room<'_>,
        typical: impl Fn(usize) -> f64,
        known: bool,
        matrix: &mut [f64],
        base: &mut [f64],
        span: Option<Span<'_>>,
    ) {
        let n = self.layout.integrated();
        let velocities = self.layout.velocities();
        let (rate, load) = base.split_at_mut(n);
        rate.copy_from_slice(&room.rate[..n]);
        load[..velocities.len()].copy_from_slice(&room.load[velocities.clone()]);
        if !known {
            matrix.fill(0.0);
        }
        for column in 0..n {
            let before = state[column];
            // The square root of the rounding balances rounding against curvature.
            state[column] += 1.5e-8 * typical(column).max(1e-4 * before.abs());
            let change = state[column] - before;
            self.place_bodies(state, room.frames, room.linkages);
            if known {
                for (i, v) in velocities.clone().enumerate() {
                    room.load[v] = load[i] + change * matrix[v * n + column];
                }
            } else if let Some(span) = span {
                apply_in::<false, _>(self, &AtEnd(&self.elements, span), state, room, 0.0);
            } else {
                apply_in::<false, _>(self, &self.elements, state, room, 0.0);
            }
            self.accelerate(
                state,
                room.frames,
                room.linkages,
                room.signals.get(),
                room.load,
                room.rate,
            );
            state[column] = before;
            let rows = if known { self.layout.first_state() } else { n };
            for row in 0..rows {
                matrix[row * n + column] = (room.rate[row] - rate[row]) / change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Simulation;
    use crate::network::stage::evaluate_at;
    use crate::scenario::Scenario;

    const HEAD: &str = "[simulation]\nduration = 1\nstep = 0.01\nintegrator = \"stiff\"\n";

    /// Derivatives by the laws against central differences of the whole network, at a state away from kinks; the compression
    /// of the first element there.
    fn check(text: &str, expected_known: bool) -> f64 {
        check_at(text, expected_known, 1.0)
    }

    /// The same, with the numbers of the start changed by `part` of what is usual.
    fn check_at(text: &str, expected_known: bool, part: f64) -> f64 {
        let scenario =
            Scenario::parse(&format!("{HEAD}{text}"), "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        let network = &simulation.built().network;
        let mut scratch = network.scratch();
        let n = network.layout.integrated();
        let mut matrix = vec![0.0; n * n];
        let mut base = vec![0.0; 2 * n];
        let mut start = network.initial.clone();
        let first = network.layout.first_state();
        for (i, value) in start[..n].iter_mut().enumerate() {
            *value += if i < first {
                part * (0.02 + 0.013 * i as f64)
            } else {
                1e-4 * (1.0 + i as f64)
            };
        }
        let (trial, _, mut room) = scratch.parts();
        trial.copy_from_slice(&start);
        evaluate_at::<false>(network, trial, &mut room, 0.3);
        let compression = room.compression.first().copied().unwrap_or(0.0);
        let evaluations = network.jacobian(trial, &mut room, |_| 1.0, &mut matrix, &mut base, None);
        assert_eq!(evaluations, if expected_known { 0 } else { n as u64 }, "{text}");
        let driven: Vec<usize> = network.drives.iter().map(|drive| drive.coordinate.v).collect();
        for column in 0..n {
            let change = if column < first { 1e-6 } else { 1e-8 };
            let mut rates = [vec![0.0; n], vec![0.0; n]];
            for (rate, sign) in rates.iter_mut().zip([1.0, -1.0]) {
                trial.copy_from_slice(&start);
                trial[column] += sign * change;
                evaluate_at::<false>(network, trial, &mut room, 0.3);
                rate.copy_from_slice(&room.rate[..n]);
            }
            let largest = rates[0].iter().fold(0.0, |most: f64, rate| most.max(rate.abs()));
            // Of the quotients here, and of those that the motion of bodies is found by.
            let rounding = f64::EPSILON * largest / f64::min(change, 1.5e-8);
            for row in 0..n {
                let difference = (rates[0][row] - rates[1][row]) / (2.0 * change);
                let found = matrix[row * n + column];
                let scale = if driven.contains(&column) { 0.0 } else { difference };
                assert!(
                    (found - scale).abs() <= 1e-5 * scale.abs().max(1.0) + 10.0 * rounding,
                    "({row}, {column}): {found} {difference}\n{text}"
                );
            }
        }
        compression
    }

    #[test]
    fn derivatives_of_laws_are_those_of_differences() {
        let pair = "[bodies.a]\nkind = \"mass\"\nmass = 2\nvelocity = 0.5\n[bodies.b]\nkind = \"mass\"\nmass = 3\n[bodies.d]\nkind = \"driver\"\nvelocity = \"0.2*t\"\n\
                    [elements.s]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = 50\ndamping = 3\nratio = [2, 0.5]\n\
                    [elements.u]\nkind = \"spring\"\nbetween = [\"d\", \"b\"]\nstiffness = 20\ndamping = 1\n\
                    [elements.e]\nkind = \"stop\"\nbetween = [\"a\", \"ground\"]\nupper = -1\nnormal = { law = \"kelvin-voigt\", stiffness = 400, damping = 2 }\n\
                    [elements.g]\nkind = \"stop\"\nbetween = [\"a\", \"b\"]\nratio = [1, 2]\nlower = 2\nnormal = { law = \"relaxed\", stiffness = 300, beta = 0.04, alpha = 0.02 }\n\
                    [elements.h]\nkind = \"stop\"\nbetween = [\"a\", \"b\"]\nupper = -3\nnormal = { law = \"relaxed\", stiffness = 300, beta = 0.04, alpha = 0.02 }\n\
                    [elements.i]\nkind = \"stop\"\nbetween = [\"b\", \"ground\"]\nupper = -0.5\nnormal = { law = \"hunt-crossley\", stiffness = 300, damping = 0.1 }\n\
                    [elements.f]\nkind = \"friction\"\nbetween = [\"a\", \"b\"]\nratio = [1, 3]\nkinetic = 4\nstatic = 5\nstribeck_velocity = 0.3\nviscous = 0.7\n";
        for law in [
            "law = \"relaxed\"\nstiffness = 100\nbeta = 0.05\n",
            "law = \"relaxed\"\nstiffness = 1e5\nbeta = 0.05\n",
            "law = \"proxy\"\nstiffness = 100\ndamping = 5\n",
            "law = \"dahl\"\nstiffness = 1000\n",
            "law = \"lugre\"\nstiffness = 1000\ndamping = 5\n",
            "law = \"martins-oden\"\nepsilon = 2\n",
        ] {
            check(&format!("{pair}{law}"), true);
        }
        let plane = "[bodies.a]\nkind = \"mass\"\nmass = 2\nposition = [0.3, 0.4]\nvelocity = [0.5, -0.2]\n\
                     [elements.s]\nkind = \"spring\"\nbetween = [\"a\", \"ground\"]\nstiffness = 50\ndamping = 3\nlength = 0.1\n\
                     [elements.f]\nkind = \"friction\"\nbetween = [\"a\", \"ground\"]\nkinetic = 4\nstiffness = 1000\n";
        for law in ["law = \"relaxed\"\nbeta = 0.05\n", "law = \"lugre\"\ndamping = 5\n"] {
            check(&format!("{plane}{law}"), true);
        }
    }

    /// The derivatives of a step in which a law maps, beside others that do not, against central differences.
    #[test]
    fn derivatives_of_mapped_steps_are_those_of_differences() {
        let pair = "[bodies.a]\nkind = \"mass\"\nmass = 2\nvelocity = 0.5\n[bodies.b]\nkind = \"mass\"\nmass = 3\n\
                    [elements.s]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = 50\ndamping = 3\n\
                    [elements.l]\nkind = \"friction\"\nbetween = [\"b\", \"ground\"]\nlaw = \"lugre\"\nkinetic = 4\nstiffness = 1000\n\
                    [elements.f]\nkind = \"friction\"\nbetween = [\"a\", \"b\"]\nratio = [1, 3]\nlaw = \"subloading\"\n\
                    mu_static = 0.5\nmu_kinetic = 0.4\nnormal_force = 5\ntangential_stiffness = 100\nkappa = 10\neta = 0.1\nr = 30\n\
                    contact_time = 0.01\nviscous = 0.3\n";
        let scenario = Scenario::parse(&format!("{HEAD}{pair}"), "test.toml", &[]).unwrap();
        let simulation = Simulation::new(scenario).unwrap();
        let network = &simulation.built().network;
        let mut mapped = Vec::new();
        let mut name = |state: usize, _: bool| mapped.push(state);
        network.elements.iter().for_each(|group| group.mapped(&mut name));
        assert_eq!(mapped.len(), 4);
        let n = network.layout.integrated();
        let first = network.layout.first_state();
        let before = network.initial.clone();
        let mut start = before.clone();
        for (i, value) in start[..first].iter_mut().enumerate() {
            *value += 0.02 + 0.013 * i as f64;
        }
        let span = super::Span {
            before: &before,
            step: 0.1,
            course: crate::network::span::Course::Mapped,
            other: &start,
            weights: [0.3, 0.1, 0.6],
        };
        let mut scratch = network.scratch();
        let (trial, _, mut room) = scratch.parts();
        let groups = super::AtEnd(&network.elements, span);
        let mut matrix = vec![0.0; n * n];
        trial.copy_from_slice(&start);
        super::super::stage::evaluate_groups_at::<false, _>(network, &groups, trial, &mut room, 0.3);
        network.jacobian(
            trial,
            &mut room,
            |_| 1.0,
            &mut matrix,
            &mut vec![0.0; 2 * n],
            Some((span, &mapped)),
        );
        for column in 0..n {
            let mut rates = [vec![0.0; n], vec![0.0; n]];
            for (rate, sign) in rates.iter_mut().zip([1e-6, -1e-6]) {
                trial.copy_from_slice(&start);
                trial[column] += sign;
                super::super::stage::evaluate_groups_at::<false, _>(network, &groups, trial, &mut room, 0.3);
                rate.copy_from_slice(&room.rate[..n]);
            }
            for row in (0..n).filter(|row| !mapped.contains(row)) {
                let difference = (rates[0][row] - rates[1][row]) / 2e-6;
                let found = matrix[row * n + column];
                assert!(
                    (found - difference).abs() <= 1e-5 * difference.abs().max(1.0),
                    "({row}, {column}): {found} {difference}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_derivatives_is_differenced() {
        let arm = "[bodies.arm]\nkind = \"linkage\"\nlinks = [\n\
                   { name = \"upper\", parent = \"ground\", joint = \"shoulder\", type = \"revolute\", axis = [0, 0, 1], origin = [0, 0, 0], mass = 0.5, com = [0.15, 0, 0], inertia = [0, 0.00375, 0.00375], velocity = 1 },\n\
                   { name = \"lower\", parent = \"upper\", joint = \"elbow\", type = \"revolute\", axis = [0, 0, 1], origin = [0.3, 0, 0], mass = 0.5, com = [0.15, 0, 0], inertia = [0, 0.00375, 0.00375] }]\n\
                   [elements.f]\nkind = \"friction\"\non = \"arm.elbow\"\nlaw = \"proxy\"\nkinetic = 5\nstiffness = 50\ndamping = 1\n";
        check(arm, true);
        // A limit that follows the force of a spring.
        let clamped = "[bodies.a]\nkind = \"mass\"\nmass = 2\nvelocity = 0.5\n[bodies.b]\nkind = \"mass\"\nmass = 3\nposition = -1\n\
                       [elements.s]\nkind = \"spring\"\nbetween = [\"b\", \"ground\"]\nstiffness = 50\n\
                       [elements.f]\nkind = \"friction\"\nbetween = [\"a\", \"ground\"]\nlaw = \"relaxed\"\nmu = 0.3\nnormal_force = { element = \"s\" }\nstiffness = 1e4\nbeta = 0.05\n";
        check(clamped, false);
    }

    /// Contacts of a point, a ball, corners, a foot and a floating robot; on planes that rest, move and turn, and on a sphere.
    #[test]
    fn derivatives_of_contacts_are_those_of_differences() {
        let point = "[bodies.p]\nkind = \"mass\"\nmass = 2\nposition = [0.3, 0.4, -0.3]\nvelocity = [0.5, -0.2, -0.1]\n\
                     [bodies.d]\nkind = \"driver\"\nvelocity = [\"0.2*t\", 0, 0]\n";
        let ball = "[bodies.p]\nkind = \"rigid-body\"\nshape = { sphere = 0.05 }\nmass = 0.5\nposition = [0, 0, -0.3]\nvelocity = [-1.5, 0.7, -0.6]\n\
                    [bodies.d]\nkind = \"rigid-body\"\nshape = { sphere = 0.4 }\nmass = 3\nposition = [-0.2, -0.1, -0.45]\nangular_velocity = [1, 0.3, -2]\n";
        let corners = "[bodies.p]\nkind = \"rigid-body\"\nshape = { box = [0.1, 0.2, 0.3] }\nmass = 5\nposition = [0, 0, 0.1]\nvelocity = [0, 0, -2]\n\
                       rotation = [0.9, 0.3, -0.2, 0.1]\nangular_velocity = [0.5, 1, -0.4]\n\
                       [bodies.d]\nkind = \"rigid-body\"\nshape = { box = [1, 1, 0.4] }\nmass = 3\nangular_velocity = [1, 0.3, -2]\n";
        let leg = "{ name = \"hip\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 1, 0.2], origin = [0, 0, 0], mass = 0.5, com = [0.1, 0, 0], inertia = [0.002, 0.003, 0.004], velocity = 1 },\n\
                   { name = \"slide\", parent = \"hip\", joint = \"b\", type = \"prismatic\", axis = [0, 0, -1], origin = [0, 0, -0.3], mass = 0.4, inertia = [0.002, 0.003, 0.004], velocity = 0.2 },\n\
                   { name = \"foot\", parent = \"slide\", joint = \"c\", type = \"revolute\", axis = [1, 0, 0], origin = [0, 0.1, -0.3], mass = 0.3, shape = { box = [0.1, 0.2, 0.05] }, velocity = -0.7 }";
        let robot = format!("[bodies.r]\nkind = \"linkage\"\nlinks = [\n{leg}]\n");
        let floating = robot.replace(", velocity = 1 }", " }").replace(
            "kind = \"linkage\"",
            "kind = \"linkage\"\nfloating = true\nbase = { angular_velocity = [0.3, -0.2, 0.1] }",
        );
        // Hinges about one axis, which have a way of their own.
        let planar = "[bodies.r]\nkind = \"linkage\"\nlinks = [\n\
                      { name = \"hip\", parent = \"ground\", joint = \"a\", type = \"revolute\", axis = [0, 1, 0], origin = [0, 0, 0], mass = 0.5, com = [0.1, 0, 0], inertia = [0.002, 0.003, 0.004], velocity = 1 },\n\
                      { name = \"foot\", parent = \"hip\", joint = \"c\", type = \"revolute\", axis = [0, 1, 0], origin = [0, 0, -0.3], mass = 0.3, shape = { box = [0.1, 0.2, 0.05] }, velocity = -0.7 }]\n"
            .to_string();
        let plane = "surface = { plane = { normal = [0.1, -0.2, 1], offset = 0.1 } }";
        let deep = "surface = { plane = { normal = [0.1, -0.2, 1], offset = 1.5 } }";
        let meetings = [
            (point.to_string(), "\"p\", \"d\"", plane),
            (ball.to_string(), "\"p\", \"d\"", plane),
            (ball.to_string(), "\"p\", \"d\"", ""),
            (corners.to_string(), "\"p\", \"d\"", plane),
            (robot, "\"r.foot\", \"ground\"", plane),
            (floating.clone(), "\"r.foot\", \"ground\"", plane),
            (planar, "\"r.foot\", \"ground\"", plane),
            (format!("{floating}{ball}"), "\"p\", \"r.slide\"", deep),
        ];
        for (bodies, between, surface) in meetings {
            // A surface on a link would leave the states of the normal laws behind under the usual changes.
            let part = if surface == deep { -0.1 } else { 1.0 };
            let normals = [
                "law = \"kelvin-voigt\", stiffness = 100, damping = 2",
                "law = \"relaxed\", stiffness = 100, beta = 0.5, alpha = 0.2",
                "law = \"proxy\", stiffness = 100, beta = 0.5",
                "law = \"hunt-crossley\", stiffness = 100, damping = 0.1",
            ];
            let frictions = [
                "law = \"relaxed\", mu = 10, stiffness = 100, beta = 0.05",
                "law = \"relaxed\", mu = 0.1, viscous = 0.3, stiffness = 1e5, beta = 0.5",
                "law = \"proxy\", mu = 0.1, stiffness = 1e4, damping = 500",
                "law = \"lugre\", mu = 0.2, mu_static = 0.3, stribeck_velocity = 0.1, stiffness = 1000, damping = 5",
                "law = \"dahl\", mu = 0.2, stiffness = 1000",
                "law = \"martins-oden\", mu = 0.2, epsilon = 0.5",
                "law = \"subloading\", mu_static = 0.4, mu_kinetic = 0.2, tangential_stiffness = 500, kappa = 10, eta = 0.1, r = 300, viscous = 0.2",
                "law = \"subloading\", mu_static = 0.04, mu_kinetic = 0.02, tangential_stiffness = 5000, kappa = 10, eta = 0.1, r = 300, contact_time = 0.01",
            ];
            // Every normal law with a friction that slides and is viscous, every friction with a normal law without a state.
            let pairs = normals.iter().map(|normal| (*normal, frictions[1]));
            let pairs = pairs.chain(frictions.iter().map(|friction| (normals[0], *friction)));
            for (normal, friction) in pairs {
                let contact = format!(
                    "[elements.c]\nkind = \"contact\"\nbetween = [{between}]\n{surface}\n\
                     normal = {{ {normal} }}\nfriction = {{ {friction} }}\n"
                );
                let pressed = check_at(&format!("gravity = [0, 0, -9.8]\n{bodies}{contact}"), true, part);
                assert!(pressed > 0.0, "apart: {bodies}{contact}");
            }
        }
    }
}
