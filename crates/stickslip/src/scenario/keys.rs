//! The one table of every key a scenario may hold. The reader refuses what is not here, and the JSON schema is
//! written from here, so the two cannot disagree.

use super::read::elements::{self, ReadElement};
use super::spec::INTEGRATORS;
use std::sync::LazyLock;
use stickslip_core::registry::{Family, LAWS};

/// What may be written for a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// true or false.
    Flag,
    /// A number or a string with a unit.
    Number,
    /// A list of numbers, shortest and longest.
    Vector(usize, usize),
    /// A number, or a list of at most three.
    NumberOrVector,
    /// A number, or one along and one across a direction.
    NumberOrPair,
    /// Two points.
    Points,
    /// Names of the user's with a number each.
    Numbers,
    /// Names of the user's with a function of time each.
    Profiles,
    /// Names of the user's with an expression each.
    Formulas,
    /// An expression, or a list of them, shortest and longest.
    Formula(usize, usize),
    /// A list of lists of expressions.
    FormulaRows,
    /// Names of the user's with a table of these keys each.
    Named(&'static Keys),
    /// A function of time.
    Profile,
    /// A function of time, or a list with one per axis.
    VectorProfile,
    /// A list of texts, shortest and longest.
    Texts(usize, usize),
    /// A table with these keys.
    Table(&'static Keys),
    /// A list of tables with these keys.
    Tables(&'static Keys),
    /// A table with these keys, or a list of them.
    TableOrTables(&'static Keys),
    /// The name of a file, or a list of points.
    Corners,
    /// A list of pairs of names; or, if a word is given, that word.
    Pairs(Option<&'static str>),
    /// Tables with names of the user's, each of one of these kinds.
    Kinds(&'static [(&'static str, &'static Keys)]),
    /// A profile or `{ element = "name" }`.
    NormalForce,
    /// A parameter of a law: number, list of numbers, word or flag.
    Parameter,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub form: Form,
    pub doc: &'static str,
    /// The right side of an example line.
    pub example: &'static str,
    pub required: bool,
}

impl Key {
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

pub(super) const fn key(name: &'static str, form: Form, example: &'static str, doc: &'static str) -> Key {
    Key {
        name,
        form,
        doc,
        example,
        required: false,
    }
}

/// The keys of one kind of table.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Name in the schema.
    pub name: &'static str,
    pub doc: &'static str,
    pub groups: &'static [&'static [Key]],
    /// Parameters of the laws of a family belong here too, and keys that are not known are kept for the law, which has the last word.
    pub law: Option<Family>,
    /// How an element of this kind is read.
    pub(super) element: Option<ReadElement>,
}

impl Keys {
    /// Of an element that is read in this way.
    pub(super) const fn read_by(mut self, read: ReadElement) -> Self {
        self.element = Some(read);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static Key> + use<> {
        let of_laws = self.law.map_or(&[][..], parameters);
        self.groups.iter().flat_map(|group| group.iter()).chain(of_laws)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.iter().map(|key| key.name)
    }

    pub fn get(&self, name: &str) -> Option<&'static Key> {
        self.iter().find(|key| key.name == name)
    }
}

pub(super) const fn keys(name: &'static str, groups: &'static [&'static [Key]], doc: &'static str) -> Keys {
    Keys {
        name,
        doc,
        groups,
        law: None,
        element: None,
    }
}

use Form::*;

/// The whole file.
#[rustfmt::skip]
pub(crate) static ROOT: Keys = keys(
    "scenario",
    &[&[
        key("title", Text, "\"Block on a floor\"", "what the scenario shows"),
        key("simulation", Table(&SIMULATION), "", "time and method").required(),
        key("bodies", Kinds(BODIES), "", "what moves: `[bodies.NAME]`"),
        key("elements", Kinds(ELEMENTS), "", "what acts between bodies: `[elements.NAME]`"),
        key("inclusion", Table(&INCLUSION), "", "equations with the set-valued maps sgn and dio, in place of bodies and elements"),
        key("output", Table(&OUTPUT), "", "what is written"),
        key("analysis", Table(&ANALYSIS), "", "what is measured"),
        key("chain", Table(&CHAIN), "", "many blocks in a row, in place of bodies and elements"),
        key("spheres", Table(&SPHERES), "", "many spheres on a plane, in place of bodies and elements"),
        key("map", Table(&MAP), "", "settings of a stability map"),
        key("contacts", Table(&CONTACTS), "", "contacts that the program finds between shapes"),
        key("materials", Named(&MATERIAL), "", "what shapes are made of: `[materials.NAME]`, named by `material` of a body"),
    ]],
    "A stickslip scenario. A plain number is in SI units; a string such as \"10 N/mm\" carries its unit.",
);

#[rustfmt::skip]
pub(crate) static SIMULATION: Keys = keys(
    "simulation",
    &[&[
        key("duration", Number, "\"4 s\"", "simulated time, s").required(),
        key("step", Number, "\"1 ms\"", "time step, s; the output interval of `adaptive` and `stiff`").required(),
        key("integrator", Word(INTEGRATORS), "\"implicit-euler\"", "method that moves the system one step").required(),
        key("gravity", Vector(2, 3), "[0, 0, -9.81]", "gravity in world axes, m/s^2; default none; two components are x and y"),
        key("relative_tolerance", Number, "1e-6", "of `adaptive` and `stiff`, default 1e-6"),
        key("absolute_tolerance", Number, "1e-9", "of `adaptive` and `stiff`"),
        key("max_step", Number, "\"1 ms\"", "longest internal step of `adaptive` and `stiff`, s"),
        key("min_step", Number, "\"1 ns\"", "shortest internal step of `adaptive` and `stiff`, s"),
        key("newmark", Table(&NEWMARK), "{ beta = 0.25, gamma = 0.5 }", "parameters of `newmark`"),
        key("motion", Word(&["trapezoidal", "backward"]), "\"backward\"", "how `trapezoidal` moves masses; default trapezoidal"),
    ]],
    "Time and method.",
);

#[rustfmt::skip]
pub(crate) static NEWMARK: Keys = keys(
    "newmark",
    &[&[
        key("beta", Number, "0.25", "weight of the new acceleration in the position, default 0.25"),
        key("gamma", Number, "0.5", "weight of the new acceleration in the velocity, default 0.5"),
    ]],
    "Parameters of the Newmark method.",
);

/// Kinds of bodies.
#[rustfmt::skip]
pub(crate) static BODIES: &[(&str, &Keys)] = &[
    ("mass", &MASS),
    ("inertia", &INERTIA),
    ("driver", &DRIVER),
    ("fixed", &FIXED),
    ("rigid-body", &RIGID_BODY),
    ("linkage", &LINKAGE),
    ("equations", &BODY_EQUATIONS),
];

#[rustfmt::skip]
const KIND_OF_BODY: Key = key(
    "kind",
    Word(&["mass", "inertia", "driver", "fixed", "rigid-body", "linkage", "equations"]),
    "\"mass\"",
    "what kind of body it is",
)
.required();

#[rustfmt::skip]
pub(crate) static MASS: Keys = keys(
    "mass",
    &[&[
        KIND_OF_BODY,
        key("mass", Number, "\"1 kg\"", "mass, kg").required(),
        key("position", NumberOrVector, "0", "initial position, m; a list of 2 or 3 makes it 2-D or 3-D; default 0"),
        key("velocity", NumberOrVector, "0", "initial velocity, m/s, default 0"),
        key("axis", Vector(2, 3), "[1, 0, 0]", "direction of a 1-D mass in the world; with it the mass feels gravity"),
        key("force", VectorProfile, "\"2*sin(t)\"", "applied force, N"),
    ]],
    "A point mass in 1, 2 or 3 dimensions.",
);

#[rustfmt::skip]
pub(crate) static INERTIA: Keys = keys(
    "inertia",
    &[&[
        KIND_OF_BODY,
        key("inertia", Number, "\"0.01 kg m^2\"", "moment of inertia, kg m^2").required(),
        key("position", Number, "\"0 deg\"", "initial angle, rad, default 0"),
        key("velocity", Number, "\"10 rpm\"", "initial angular velocity, rad/s, default 0"),
        key("torque", Profile, "\"0.1*t\"", "applied torque, N m"),
    ]],
    "A rotating inertia.",
);

#[rustfmt::skip]
pub(crate) static DRIVER: Keys = keys(
    "driver",
    &[&[
        KIND_OF_BODY,
        key("position", VectorProfile, "\"0.01*sin(t)\"", "prescribed position, m or rad; either this or `velocity`"),
        key("velocity", VectorProfile, "\"10 mm/s\"", "prescribed velocity, m/s or rad/s; either this or `position`"),
        key("start", NumberOrVector, "0", "initial position of a driver given by `velocity`, default 0"),
    ], DRIVEN_SHAPE],
    "A point or a shaft with prescribed motion; with a shape, a body that moves as prescribed and does not turn.",
);

#[rustfmt::skip]
pub(crate) static FIXED: Keys = keys(
    "fixed",
    &[&[
        KIND_OF_BODY,
        key("position", Vector(3, 3), "[0, 0, 0]", "where its origin is, m; default 0"),
    ], DRIVEN_SHAPE],
    "A body that does not move, for others to touch.",
);

const SHAPE_KEY: Key = key(
    "shape",
    TableOrTables(&SHAPE),
    "{ sphere = \"0.1 m\" }",
    "sphere, box, capsule, cylinder, hull or point; mesh or plane of what does not turn; or a list of them",
);
const MATERIAL_KEY: Key = key(
    "material",
    Text,
    "\"steel\"",
    "what it is made of: a table `[materials.NAME]`",
);

#[rustfmt::skip]
const DRIVEN_SHAPE: &[Key] = &[
        SHAPE_KEY,
        key("rotation", Vector(4, 4), "[1, 0, 0, 0]", "how the shape is turned, quaternion w, x, y, z"),
        RPY,
        key("surface_velocity", Vector(3, 3), "[\"0.2 m/s\", 0, 0]", "how fast its surface runs, in its axes: a conveyor, m/s"),
        MATERIAL_KEY,
];

#[rustfmt::skip]
pub(crate) static RIGID_BODY: Keys = keys("rigid-body", &[&[KIND_OF_BODY], FREE_BODY], "A free rigid body in space.");

#[rustfmt::skip]
const FREE_BODY: &[Key] = &[
        key("mass", Number, "\"1 kg\"", "mass, kg; or give `density`"),
        key("density", Number, "\"7800 kg/m^3\"", "density of the shape in place of `mass`, kg/m^3"),
        SHAPE_KEY,
        MATERIAL_KEY,
        key("inertia", Vector(3, 6), "[0.1, 0.1, 0.1]", "xx, yy, zz (and xy, xz, yz) about the centre of mass, kg m^2; default from the shape"),
        key("position", Vector(3, 3), "[0, 0, 0]", "initial position of the centre of mass, m"),
        key("rotation", Vector(4, 4), "[1, 0, 0, 0]", "initial rotation as a quaternion w, x, y, z"),
        RPY,
        key("velocity", Vector(3, 3), "[0, 0, 0]", "initial velocity, m/s"),
        key("angular_velocity", Vector(3, 3), "[0, 0, 0]", "initial angular velocity in world axes, rad/s"),
        key("force", VectorProfile, "[0, 0, \"sin(t)\"]", "applied force in world axes, N"),
        key("torque", VectorProfile, "[0, 0, \"sin(t)\"]", "applied torque in world axes, N m"),
];

#[rustfmt::skip]
pub(crate) static SHAPE: Keys = keys(
    "shape",
    &[&[
        key("sphere", Number, "\"0.1 m\"", "radius, m"),
        key("box", Vector(3, 3), "[0.1, 0.2, 0.3]", "edge lengths, m"),
        key("capsule", Table(&ROUND), "{ radius = 0.1, length = 0.3 }", "a rod along z with round ends"),
        key("cylinder", Table(&ROUND), "{ radius = 0.1, length = 0.3 }", "a cylinder along z"),
        key("hull", Corners, "\"part.stl\"", "convex hull of points, or of the corners in an STL file"),
        key("mesh", Text, "\"scene.stl\"", "triangles of an STL file; for bodies that do not move"),
        key("plane", Table(&PLANE), "{ normal = [0, 0, 1], offset = 0 }", "a half space; for bodies that do not move"),
        key("point", Flag, "true", "a point at the centre of mass"),
        key("position", Vector(3, 3), "[0, 0, 0]", "where it is in the axes of the body, m; default 0"),
        key("rotation", Vector(4, 4), "[1, 0, 0, 0]", "how it is turned in the axes of the body, quaternion w, x, y, z"),
        RPY,
    ]],
    "Exactly one of sphere, box, capsule, cylinder, hull, mesh, plane and point.",
);

#[rustfmt::skip]
pub(crate) static ROUND: Keys = keys(
    "round",
    &[&[
        key("radius", Number, "\"0.1 m\"", "radius, m").required(),
        key("length", Number, "\"0.3 m\"", "length along z, of a capsule that of its straight part, m").required(),
    ]],
    "Radius and length.",
);

#[rustfmt::skip]
pub(crate) static CONTACTS: Keys = keys(
    "contacts",
    &[&[
        key("between", Pairs(Some("all")), "\"all\"", "which bodies may touch: \"all\" (the default), or a list of pairs"),
        key("except", Pairs(None), "[[\"box\", \"lid\"]]", "pairs of bodies that do not touch"),
        key("normal", Table(&NORMAL), "{ law = \"rigid\" }", "law of the normal force; default rigid"),
        FRICTION_KEY,
        key("recovery_speed", Number, "\"0.1 m/s\"", "speed at which bodies that overlap part, m/s; default 0.1"),
        key("materials", Tables(&MATERIAL_PAIR), "[{ pair = [\"rubber\", \"steel\"], mu = 0.9 }]", "what pairs of materials do to each other"),
    ]],
    "Contacts that the program finds between shapes.",
);

#[rustfmt::skip]
pub(crate) static MATERIAL: Keys = keys("material", &[SURFACE_NUMBERS], "What a shape is made of. Two materials without an entry of their own in `contacts.materials` have the geometric mean of their numbers.");

#[rustfmt::skip]
pub(crate) static MATERIAL_PAIR: Keys = keys(
    "material-pair",
    &[&[key("pair", Texts(2, 2), "[\"rubber\", \"steel\"]", "names of two materials").required()], SURFACE_NUMBERS],
    "What two materials do to each other.",
);

#[rustfmt::skip]
const SURFACE_NUMBERS: &[Key] = &[
        key("mu", Number, "0.5", "coefficient of friction"),
        key("mu_static", Number, "0.6", "coefficient of static friction; default mu"),
        key("restitution", Number, "0.1", "coefficient of restitution"),
        key("rolling", Number, "\"2 mm\"", "moment arm of the resistance to rolling, m"),
        key("spinning", Number, "\"1 mm\"", "moment arm of the resistance to spinning, m"),
];

#[rustfmt::skip]
pub(crate) static LINKAGE: Keys = keys(
    "linkage",
    &[&[
        KIND_OF_BODY,
        key("links", Tables(&LINK), "[{ name = \"upper\", parent = \"ground\", joint = \"shoulder\", … }]", "the links, a parent before its children").required(),
        key("floating", Flag, "false", "the root is free instead of jointed to the ground; default false"),
        key("base", Table(&BASE), "{ position = [0, 0, 1], rpy = [0, 0, \"30 deg\"] }", "where the free root of a floating linkage begins, and how it moves"),
    ]],
    "A tree of links.",
);

#[rustfmt::skip]
pub(crate) static BASE: Keys = keys(
    "base",
    &[&[
        key("position", Vector(3, 3), "[0, 0, 1]", "initial position of the root's origin, m; default 0"),
        key("rotation", Vector(4, 4), "[1, 0, 0, 0]", "initial rotation as a quaternion w, x, y, z"),
        RPY,
        key("velocity", Vector(3, 3), "[0.1, 0, 0]", "initial velocity, m/s; default 0"),
        key("angular_velocity", Vector(3, 3), "[0, 0, 1]", "initial angular velocity in world axes, rad/s; default 0"),
    ]],
    "The start of the free root of a linkage.",
);

/// Beside every `rotation`.
#[rustfmt::skip]
const RPY: Key = key("rpy", Vector(3, 3), "[0, 0, \"30 deg\"]", "in place of `rotation`: angles about x, then y, then z, axes that do not turn along, rad");

#[rustfmt::skip]
pub(crate) static BODY_EQUATIONS: Keys = keys(
    "body-equations",
    &[&[
        KIND_OF_BODY,
        key("coordinates", Numbers, "{ theta = 0.3 }", "one to six coordinates with their initial values; elements act on `NAME.theta`").required(),
        key("velocities", Numbers, "{ theta = 1.5 }", "initial velocities; those left out are 0"),
        key("mass_matrix", FormulaRows, "[[\"m*l^2\"]]", "M, rows of expressions in the coordinates, parameters, inputs and t; symmetric").required(),
        key("force", Formula(1, 6), "[\"-m*9.81*l*sin(theta)\"]", "one expression per coordinate: M*acceleration = load + force; theta_dot is the velocity of theta").required(),
        key("potential", Formula(1, 1), "\"-m*9.81*l*cos(theta)\"", "energy of the part of the force that has a potential, for the energy ledger"),
        key("frames", Named(&FRAME), "{ tip = { position = [\"l*sin(theta)\", 0, \"-l*cos(theta)\"] } }", "places on the body that elements can take hold of as `NAME.tip`"),
    ], EQUATIONS],
    "A body of your own: its equations of motion.",
);

#[rustfmt::skip]
pub(crate) static FRAME: Keys = keys(
    "frame",
    &[&[
        key("position", Formula(3, 3), "[\"l*sin(theta)\", 0, \"-l*cos(theta)\"]", "x, y, z as expressions in the coordinates and parameters, m").required(),
        key("axis", Vector(3, 3), "[0, 1, 0]", "axis about which the frame turns"),
        key("angle", Formula(1, 1), "\"theta\"", "the angle it is turned by, rad; needs `axis`"),
    ]],
    "A place on a body of your own.",
);

#[rustfmt::skip]
const EQUATIONS: &[Key] = &[
        key("states", Numbers, "{ z = 0 }", "states beyond motion with their initial values"),
        key("rates", Formulas, "{ z = \"s*v - z/0.01\" }", "the rate of each state"),
        key("parameters", Numbers, "{ k = 1e4, c = 20 }", "constants, in SI or with a unit"),
        key("inputs", Profiles, "{ road = { csv = \"road.csv\", column = \"height\" } }", "functions of time that expressions may name"),
        key("relax", Named(&RELAX), "{ sgn = { stiffness = \"1e5 N/m\", beta = \"5 ms\" } }", "how `sgn` and `dio` in the expressions are relaxed"),
        key("nonnegative", Texts(1, usize::MAX), "[\"N\"]", "terms that are never negative, where the program cannot tell"),
];

#[rustfmt::skip]
pub(crate) static LINK: Keys = keys(
    "link",
    &[&[
        key("name", Text, "\"upper\"", "name of the link").required(),
        key("parent", Text, "\"ground\"", "the link that carries it, or \"ground\"").required(),
        key("joint", Text, "\"shoulder\"", "name of the joint; default the link's name followed by `_joint`"),
        key("type", Word(JOINT_TYPES), "\"revolute\"", "type of the joint; the root of a floating linkage needs none"),
        key("axis", Vector(3, 3), "[0, 0, 1]", "joint axis; required for revolute and prismatic"),
        key("origin", Vector(3, 3), "[0.3, 0, 0]", "joint origin in the axes of the parent, m; default 0"),
        key("rotation", Vector(4, 4), "[1, 0, 0, 0]", "rotation against the parent at joint position 0, quaternion w, x, y, z"),
        RPY,
        key("mass", Number, "\"0.5 kg\"", "mass, kg").required(),
        key("com", Vector(3, 3), "[0.15, 0, 0]", "centre of mass in link axes, m; default 0"),
        key("inertia", Vector(3, 6), "[0, 0.00375, 0.00375]", "xx, yy, zz (and xy, xz, yz) about the centre of mass, kg m^2; default from the shape"),
        key("position", Number, "0", "initial joint position, rad or m; default 0"),
        key("velocity", Number, "0", "initial joint velocity, rad/s or m/s; default 0"),
        key("limits", Vector(2, 2), "[-1.5, 1.5]", "lowest and highest joint position, rad or m"),
        key("motion", Profile, "\"0.5*sin(t)\"", "prescribed position of the joint, rad or m; what it takes is the column `BODY.JOINT.drive.force`"),
        key("force", VectorProfile, "[0, 0, \"10 N\"]", "applied force at the centre of mass in world axes, N, three profiles"),
        key("torque", VectorProfile, "[0, 0, \"1 Nm\"]", "applied torque in world axes, N m, three profiles"),
        SHAPE_KEY,
        MATERIAL_KEY,
    ]],
    "One link and the joint that carries it.",
);

/// Types of joints.
#[rustfmt::skip]
pub(crate) const JOINT_TYPES: &[&str] = &["revolute", "prismatic", "spherical", "fixed"];

/// Kinds of elements.
#[rustfmt::skip]
pub(crate) static ELEMENTS: &[(&str, &Keys)] = &[
    ("spring", &SPRING),
    ("friction", &FRICTION),
    ("contact", &CONTACT),
    ("stop", &STOP),
    ("joint", &JOINT),
    ("actuator", &ACTUATOR),
    ("gear", &GEAR),
    ("equations", &ELEMENT_EQUATIONS),
];

#[rustfmt::skip]
pub(super) const KIND_OF_ELEMENT: Key = key(
    "kind",
    Word(&["spring", "friction", "contact", "stop", "joint", "actuator", "gear", "equations"]),
    "\"spring\"",
    "what kind of element it is",
)
.required();
#[rustfmt::skip]
pub(super) const BETWEEN: Key = key("between", Texts(2, 2), "[\"block\", \"ground\"]", "the two bodies it acts between");
#[rustfmt::skip]
pub(super) const ON: Key = key("on", Text, "\"arm.shoulder\"", "the joint (or the body, against the ground) it acts on");
#[rustfmt::skip]
pub(super) const RATIO: Key = key("ratio", Vector(2, 2), "[\"50 mm\", 1]", "relative motion r1*q1 - r2*q2: pulley radius, screw lead, gear teeth");
#[rustfmt::skip]
const NORMAL_KEY: Key = key("normal", Table(&NORMAL), "{ law = \"rigid\" }", "law of the normal force");
#[rustfmt::skip]
const FRICTION_KEY: Key = key("friction", Table(&FRICTION_LAW), "{ law = \"proxy\", mu = 0.1 }", "friction");
#[rustfmt::skip]
const LAW: Key = key("law", Text, "\"implicit\"", "name of the law; `stickslip laws` lists them").required();

#[rustfmt::skip]
pub(crate) static ELEMENT_EQUATIONS: Keys = keys(
    "element-equations",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        ON,
        key("force", Formula(1, 3), "\"-(k*x + c*v + z)\"", "force on the first body, an expression in the relative motion x, v, the states, parameters, inputs, t and step (that of the stage); in the plane and in space a list, with x.x, x.y, x.z and v.x, v.y, v.z").required(),
        key("stored", Formula(1, 1), "\"0.5*k*x^2\"", "energy that it stores, for the energy ledger"),
        key("at", Points, "[[0, 0, 0], [0, 0, 0]]", "points in the axes of each body, m"),
        RATIO,
    ], EQUATIONS],
    "An element of your own: its force as equations.",
)
.read_by(elements::EQUATIONS);

#[rustfmt::skip]
pub(crate) static SPRING: Keys = keys(
    "spring",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        ON,
        key("stiffness", Number, "\"90 N/m\"", "N/m, or N m/rad between turning bodies").required(),
        key("damping", Number, "0", "N s/m, or N m s/rad; default 0"),
        key("length", Number, "0", "natural length, m or rad; default 0"),
        key("preload", Number, "\"1 N\"", "preload, N or N m, in place of a length"),
        key("at", Points, "[[0, 0, 0], [0, 0, 0]]", "attachment points in the axes of each body, m"),
        RATIO,
        key("implicit", Flag, "true", "taken implicitly; default chosen from step and masses"),
    ]],
    "Spring and damper.",
)
.read_by(elements::SPRING);

/// The steady curve and what is common to all friction laws.
#[rustfmt::skip]
const CURVE: &[Key] = &[
    LAW,
    key("kinetic", NumberOrPair, "\"10 N\"", "kinetic friction, N or N m; [along, across] a direction in the plane"),
    key("static", NumberOrPair, "\"12 N\"", "holding limit, N or N m; default = kinetic"),
    key("mu", NumberOrPair, "0.3", "kinetic coefficient, where the limit follows a normal force; [along, across] a direction in the plane"),
    key("mu_kinetic", NumberOrPair, "0.3", "the same as `mu`"),
    key("mu_static", NumberOrPair, "0.4", "static coefficient; default = mu"),
    key("direction", Vector(2, 3), "[1, 0, 0]", "direction of the first of two levels; in a contact in the axes of the second body, or the one that `direction_on` names"),
    key("viscous", Number, "0", "viscous friction, N s/m or N m s/rad; default 0"),
    key("stribeck_velocity", Number, "\"1 mm/s\"", "velocity of the fall from static to kinetic, m/s or rad/s"),
    key("stribeck_exponent", Number, "2", "exponent of that fall, default 2"),
    key("table", Table(&CURVE_TABLE), "{ speed = [0, 1], force = [10, 8] }", "the steady curve as a table"),
    key("curve", Text, "\"10/(1 + v/0.1)\"", "the steady curve as an expression in the speed v, SI"),
    key("curve_backward", Text, "\"8/(1 + v/0.1)\"", "the curve of sliding backward, where it differs"),
    key("normal_force", NormalForce, "\"100 N\"", "normal force, N: a profile or { element = \"NAME\" }"),
    key("area", Number, "\"4 cm^2\"", "area of contact of `subloading`, m^2; its stiffness is then one per area"),
    key("pressure", Profile, "\"10 kPa\"", "normal pressure on that area, Pa, in place of `normal_force`: a profile"),
    key("initial", Word(&["stick", "slip"]), "\"stick\"", "how it begins; default stick if the relative velocity is 0"),
];

/// The parameters of all laws of a family, from the registry.
fn parameters(family: Family) -> &'static [Key] {
    static KEYS: LazyLock<[Vec<Key>; 2]> = LazyLock::new(|| {
        [Family::Friction, Family::Contact].map(|family| {
            let mut keys: Vec<Key> = Vec::new();
            let laws = LAWS.iter().filter(|law| law.family == family);
            for parameter in laws.flat_map(|law| law.parameters) {
                if keys.iter().all(|key| key.name != parameter.name) {
                    let doc = match parameter.unit {
                        "" => parameter.meaning,
                        unit => format!("{}, {unit}", parameter.meaning).leak(),
                    };
                    keys.push(key(parameter.name, Parameter, parameter.example, doc));
                }
            }
            keys
        })
    });
    match family {
        Family::Friction => &KEYS[0],
        Family::Contact => &KEYS[1],
    }
}

#[rustfmt::skip]
pub(crate) static FRICTION: Keys = Keys {
    name: "friction",
    doc: "Dry friction.",
    groups: &[&[KIND_OF_ELEMENT, BETWEEN, ON, RATIO], CURVE],
    law: Some(Family::Friction),
    element: Some(elements::FRICTION),
};

#[rustfmt::skip]
pub(crate) static FRICTION_LAW: Keys = Keys {
    name: "friction-law",
    doc: "Friction of a contact or a joint.",
    groups: &[
        CURVE,
        &[
            key("direction_on", Word(&["first", "second"]), "\"first\"", "the body of a contact whose surface has the direction; default second, which has the `surface`"),
            key("rolling", Number, "\"2 mm\"", "moment arm of the resistance of a rigid contact to rolling, m; the moment is at most this times the normal force; default 0"),
            key("spinning", Number, "\"1 mm\"", "moment arm of its resistance to spinning about the normal, m; default 0"),
        ],
    ],
    law: Some(Family::Friction),
    element: None,
};

#[rustfmt::skip]
pub(crate) static CURVE_TABLE: Keys = keys(
    "friction-table",
    &[&[
        key("speed", Vector(1, usize::MAX), "[0, 0.1, 1]", "increasing speeds, m/s or rad/s").required(),
        key("force", Vector(1, usize::MAX), "[12, 10, 11]", "friction at these speeds, N or N m").required(),
        key("backward", Vector(1, usize::MAX), "[10, 8, 9]", "friction of sliding backward at these speeds, where it differs"),
    ]],
    "A steady friction curve.",
);

#[rustfmt::skip]
pub(crate) static NORMAL_FORCE: Keys = keys(
    "normal-force",
    &[&[key("element", Text, "\"clamp\"", "the element whose compressive force is the normal force").required()]],
    "A normal force taken from another element.",
);

#[rustfmt::skip]
pub(crate) static NORMAL: Keys = Keys {
    name: "normal-law",
    doc: "Law of a normal force.",
    groups: &[&[LAW]],
    law: Some(Family::Contact),
    element: None,
};

#[rustfmt::skip]
pub(crate) static CONTACT: Keys = keys(
    "contact",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        key("surface", Table(&SURFACE), "{ plane = { normal = [0, 0, 1], offset = 0 } }", "surface of the second body; two spheres need none"),
        NORMAL_KEY.required(),
        FRICTION_KEY,
    ]],
    "Contact of a body with a surface.",
)
.read_by(elements::CONTACT);

#[rustfmt::skip]
pub(crate) static SURFACE: Keys = keys(
    "surface",
    &[&[key("plane", Table(&PLANE), "{ normal = [0, 0, 1], offset = 0 }", "a plane").required()]],
    "A surface.",
);

#[rustfmt::skip]
pub(crate) static PLANE: Keys = keys(
    "plane",
    &[&[
        key("normal", Vector(2, 3), "[0, 0, 1]", "direction out of the surface").required(),
        key("offset", Number, "0", "distance from the origin along the normal, m; default 0"),
    ]],
    "A plane.",
);

#[rustfmt::skip]
pub(crate) static STOP: Keys = keys(
    "stop",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        ON,
        key("lower", Number, "\"-10 mm\"", "lowest relative position, m or rad"),
        key("upper", Number, "\"10 mm\"", "highest relative position, m or rad"),
        NORMAL_KEY,
        RATIO,
    ]],
    "End stops.",
)
.read_by(elements::STOP);

#[rustfmt::skip]
pub(crate) static JOINT: Keys = keys(
    "joint",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        key("type", Word(JOINT_TYPES), "\"revolute\"", "type of the joint").required(),
        key("at", Points, "[[0, 0, 0], [0, 0, 0]]", "joint point in the axes of each body, m"),
        key("axis", Vector(3, 3), "[0, 0, 1]", "joint axis, in the axes of each body; required for revolute and prismatic"),
        key("second_axis", Vector(3, 3), "[0, 0, 1]", "the axis in the axes of the second body, where its numbers differ"),
        key("rigid", Flag, "true", "it does not give at all, and may close a loop (`implicit-euler`, `implicit-midpoint`); otherwise stiff springs hold it"),
        key("stiffness", Number, "\"1e6 N/m\"", "N/m; default from masses and step"),
        key("damping", Number, "\"1e3 N s/m\"", "N s/m; default from masses and step"),
        key("rotational_stiffness", Number, "1e4", "N m/rad; default from inertias and step"),
        key("rotational_damping", Number, "10", "N m s/rad; default from inertias and step"),
        FRICTION_KEY,
        key("torque", Profile, "\"0.1*t\"", "torque about the axis on the first body, the reaction on the second, N m"),
    ]],
    "Joint of two rigid bodies or links.",
)
.read_by(elements::JOINT);

#[rustfmt::skip]
pub(crate) static ACTUATOR: Keys = keys(
    "actuator",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        ON,
        key("value", VectorProfile, "\"0.3*t\"", "force or torque on the first body or the joint, N or N m").required(),
        RATIO,
    ]],
    "Prescribed force or torque.",
)
.read_by(elements::ACTUATOR);

#[rustfmt::skip]
pub(crate) static GEAR: Keys = keys(
    "gear",
    &[&[
        KIND_OF_ELEMENT,
        BETWEEN,
        ON,
        Key { name: "ratio", example: "[1, 3]", ..RATIO }.required(),
        key("rigid", Flag, "true", "it does not give at all (`implicit-euler`, `implicit-midpoint`)"),
        key("stiffness", Number, "1e6", "stiffness of the coupling; default from masses and step"),
        key("damping", Number, "10", "damping of the coupling; default from masses and step"),
    ]],
    "Stiff or rigid coupling that keeps r1*q1 - r2*q2.",
)
.read_by(elements::GEAR);

#[rustfmt::skip]
pub(crate) static INCLUSION: Keys = keys(
    "inclusion",
    &[&[
        key("states", Numbers, "{ p = 0, v = 0.2 }", "states with their initial values").required(),
        key("parameters", Numbers, "{ M = 1, F = 0.5 }", "constants"),
        key("inputs", Profiles, "{ fe = \"min(0.52, 0.3*t)\" }", "functions of time"),
        key("equations", Formulas, "{ p = \"v\", v = \"(fe - F*sgn(v))/M\" }", "the rate of each state").required(),
        key("relax", Named(&RELAX), "{ sgn = { stiffness = 1e5, beta = 5e-3 } }", "numbers of the relaxation: of all `sgn`, all `dio`, or one of them by its name (`sgn2`)"),
        key("nonnegative", Texts(0, usize::MAX), "[\"F\"]", "terms that are never negative, where that cannot be seen"),
    ]],
    "A differential inclusion, rewritten as an ordinary differential equation (Xiong, Kikuuwe and Yamamoto).",
);

#[rustfmt::skip]
pub(crate) static RELAX: Keys = keys(
    "relaxation",
    &[&[
        key("stiffness", Number, "1e5", "K: the larger, the nearer to the inclusion"),
        key("beta", Number, "5e-3", "time constant, s"),
        key("alpha", Number, "2.5e-3", "time constant of `dio`, s, at most beta; smaller values bounce less"),
    ]],
    "Numbers that relax a set-valued map.",
);

#[rustfmt::skip]
pub(crate) static CHAIN: Keys = keys(
    "chain",
    &[&[
        key("count", Number, "100000", "number of blocks").required(),
        key("body", Table(&CHAIN_BODY), "{ mass = \"1 kg\" }", "a block").required(),
        key("neighbour", Table(&CHAIN_NEIGHBOUR), "{ stiffness = \"50 N/m\" }", "spring between two blocks; the ends of the chain are free").required(),
        key("drive", Table(&CHAIN_DRIVE), "{ stiffness = \"5 N/m\", velocity = \"10 mm/s\" }", "spring from every block to a common drive, and how that moves").required(),
        key("friction", Table(&CHAIN_FRICTION), "{ law = \"implicit\", kinetic = \"1 N\" }", "friction of every block on the ground").required(),
        key("spread", Table(&CHAIN_SPREAD), "{ mass = \"5 %\", seed = 1 }", "how much blocks differ"),
    ]],
    "Many blocks in a row (Burridge and Knopoff 1967).",
);

#[rustfmt::skip]
pub(crate) static CHAIN_BODY: Keys = keys(
    "chain-body",
    &[&[
        key("kind", Word(&["mass"]), "\"mass\"", "always mass; may be left out"),
        key("mass", Number, "\"1 kg\"", "mass, kg").required(),
        key("position", Number, "\"0.01*sin(0.37*i)\"", "initial position, m; may be an expression in the number `i` of the block (from 0) and their count `n`, in SI; default 0"),
        key("velocity", Number, "0", "initial velocity, m/s; likewise; default 0"),
    ]],
    "A block of a chain.",
);

/// A spring of a chain.
#[rustfmt::skip]
const CHAIN_SPRING: &[Key] = &[
    key("kind", Word(&["spring"]), "\"spring\"", "always spring; may be left out"),
    key("stiffness", Number, "\"50 N/m\"", "N/m").required(),
    key("damping", Number, "0", "N s/m; default 0"),
    key("length", Number, "0", "natural length, m: how far a block is ahead of its left neighbour or of the drive; default 0"),
];

#[rustfmt::skip]
pub(crate) static CHAIN_NEIGHBOUR: Keys = keys("chain-neighbour", &[CHAIN_SPRING], "Spring between two blocks of a chain.");

#[rustfmt::skip]
pub(crate) static CHAIN_DRIVE: Keys = keys(
    "chain-drive",
    &[CHAIN_SPRING, &[
        key("position", Profile, "\"0.01*t\"", "position of the drive, m; either this or `velocity`"),
        key("velocity", Profile, "\"10 mm/s\"", "velocity of the drive, m/s; either this or `position`"),
        key("start", Number, "0", "initial position of a drive given by `velocity`, m; default 0"),
    ]],
    "Springs from every block of a chain to its drive.",
);

#[rustfmt::skip]
pub(crate) static CHAIN_FRICTION: Keys = Keys {
    name: "chain-friction",
    doc: "Friction of every block of a chain on the ground.",
    groups: &[&[key("kind", Word(&["friction"]), "\"friction\"", "always friction; may be left out")], CURVE],
    law: Some(Family::Friction),
    element: None,
};

#[rustfmt::skip]
pub(crate) static CHAIN_SPREAD: Keys = keys(
    "chain-spread",
    &[&[
        key("mass", Number, "\"5 %\"", "masses are evenly distributed this far to both sides; default 0"),
        key("stiffness", Number, "\"5 %\"", "so are stiffnesses of springs between blocks and to the drive"),
        key("friction", Number, "\"5 %\"", "so is the strength of friction"),
        key("position", Number, "\"1 mm\"", "initial positions are shifted by up to so much to both sides, m; default 0"),
        key("seed", Number, "1", "another whole number gives other blocks; default 0"),
    ]],
    "How much the blocks of a chain differ.",
);

#[rustfmt::skip]
pub(crate) static SPHERES: Keys = keys(
    "spheres",
    &[&[
        key("count", Number, "10000", "number of spheres").required(),
        key("body", Table(&SPHERES_BODY), "{ shape = { sphere = \"0.2 m\" }, mass = \"0.3 kg\", position = [0, 0, 0.2] }", "a sphere; its position is that of the first").required(),
        key("spacing", Number, "\"1 m\"", "they begin in a square grid along the plane with this distance of the centres, m; default three radii"),
        key("contact", Table(&SPHERES_CONTACT), "{ surface = { plane = { normal = [0, 0, 1] } }, normal = { law = \"rigid\" }, friction = { law = \"implicit\", mu = 0.1 } }", "what they lie on").required(),
        key("spread", Table(&SPHERES_SPREAD), "{ velocity = \"0.1 m/s\", seed = 1 }", "how much they differ at the start"),
    ]],
    "Many equal spheres on a plane.",
);

#[rustfmt::skip]
pub(crate) static SPHERES_BODY: Keys = keys(
    "spheres-body",
    &[&[key("kind", Word(&["rigid-body"]), "\"rigid-body\"", "always rigid-body; may be left out")], FREE_BODY],
    "One of many spheres.",
);

#[rustfmt::skip]
pub(crate) static SPHERES_CONTACT: Keys = keys(
    "spheres-contact",
    &[&[
        key("kind", Word(&["contact"]), "\"contact\"", "always contact; may be left out"),
        key("surface", Table(&SURFACE), "{ plane = { normal = [0, 0, 1], offset = 0 } }", "the plane").required(),
        NORMAL_KEY.required(),
        FRICTION_KEY,
    ]],
    "Contact of many spheres with a plane.",
);

#[rustfmt::skip]
pub(crate) static SPHERES_SPREAD: Keys = keys(
    "spheres-spread",
    &[&[
        key("position", Number, "\"10 mm\"", "positions are shifted by up to so much to both sides along the plane, m; default 0"),
        key("velocity", Number, "\"0.1 m/s\"", "so is each component of the velocities, m/s; default 0"),
        key("seed", Number, "1", "another whole number gives others; default 0"),
    ]],
    "How much spheres differ at the start.",
);

#[rustfmt::skip]
pub(crate) static OUTPUT: Keys = keys(
    "output",
    &[&[
        key("columns", Texts(1, usize::MAX), "[\"t\", \"block.position\"]", "columns of the trace; default all"),
        key("contacts", Flag, "true", "list the contacts that the program finds, in the file of `run --contacts`; default false"),
    ]],
    "What is written.",
);

#[rustfmt::skip]
pub(crate) static ANALYSIS: Keys = keys(
    "analysis",
    &[&[
        key("stick_slip", Table(&STICK_SLIP), "{ signal = \"floor.force\", from = \"1 s\" }", "amplitude and period of a stick-slip cycle"),
        key("slip_events", Table(&SLIP_EVENTS), "{ from = \"100 s\", smallest = \"1 mm\" }", "slip events of a chain and the distribution of their sizes"),
    ]],
    "What is measured.",
);

#[rustfmt::skip]
pub(crate) static STICK_SLIP: Keys = keys(
    "stick-slip",
    &[&[
        key("signal", Text, "\"floor.force\"", "a column of the trace").required(),
        key("scale", Number, "100", "the signal is divided by it; default 1"),
        key("from", Number, "\"8000 s\"", "start of the analysis, s; default 0"),
        key("threshold", Number, "0.01", "largest amplitude called stable; default 1 % of the largest magnitude of the signal after `from`"),
        key("e", Number, "20", "in place of `threshold`: the amplitude called stable is (static - kinetic)/e of the signal's friction (Ozaki, Hashiguchi and Chen 2007, eq 35)"),
    ]],
    "Measures of a stick-slip cycle.",
);

#[rustfmt::skip]
pub(crate) static SLIP_EVENTS: Keys = keys(
    "slip-events",
    &[&[
        key("from", Number, "\"100 s\"", "events that begin earlier are not counted, s; default 0"),
        key("smallest", Number, "\"1 mm\"", "smallest moment that the exponent of the distribution is taken from, m; default none, and then no exponent"),
        key("largest", Number, "\"1 m\"", "largest such moment, m; default none"),
        key("bins", Number, "5", "ranges of the distribution per decade of moments; default 5"),
    ]],
    "Slip events of a chain.",
);

#[rustfmt::skip]
pub(crate) static MAP: Keys = keys(
    "map",
    &[&[
        key("duration", Number, "\"2000 + 140/(x*y)\"", "simulated time of a cell in place of `simulation.duration`, s; may be an expression in the values `x` and `y` of the cell, in SI"),
        key("from", Number, "\"1000 + 80/(x*y)\"", "start of its analysis in place of that of `analysis.stick_slip`, s; may be an expression in `x` and `y`"),
    ]],
    "Settings of a stability map.",
);

#[rustfmt::skip]
pub(crate) static EXPRESSION_PROFILE: Keys = keys(
    "expression-profile",
    &[&[
        key("expr", Text, "\"2*min(t,2)\"", "expression in t").required(),
        key("unit", Text, "\"mm\"", "unit of its value; default SI"),
    ]],
    "A function of time as an expression.",
);

#[rustfmt::skip]
pub(crate) static TABLE_PROFILE: Keys = keys(
    "table-profile",
    &[&[
        key("times", Vector(1, usize::MAX), "[0, 1, 2]", "increasing times, s").required(),
        key("values", Vector(1, usize::MAX), "[0, 5, 0]", "values at these times").required(),
        key("unit", Text, "\"mm\"", "unit of the values; default SI"),
        key("interpolation", Word(&["linear", "step"]), "\"linear\"", "between the points; default linear"),
        key("after", Word(&["hold", "repeat", "zero"]), "\"hold\"", "after the last time; default hold"),
    ]],
    "A function of time as a table.",
);

#[rustfmt::skip]
pub(crate) static CSV_PROFILE: Keys = keys(
    "csv-profile",
    &[&[
        key("csv", Text, "\"force.csv\"", "file, relative to the scenario").required(),
        key("column", Text, "\"force\"", "column of the values").required(),
        key("time", Text, "\"t\"", "column of the times; default t"),
        key("unit", Text, "\"mm\"", "unit of the values; default SI"),
        key("interpolation", Word(&["linear", "step"]), "\"linear\"", "between the points; default linear"),
        key("after", Word(&["hold", "repeat", "zero"]), "\"hold\"", "after the last time; default hold"),
    ]],
    "A function of time from a CSV file.",
);
