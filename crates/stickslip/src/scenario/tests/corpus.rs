//! Valid scenarios: the examples of the contract, the templates, and one that uses every key.

use super::*;

/// The first example of the contract.
pub const BLOCK: &str = r#"title = "Block dragged by a spring over a Coulomb floor"

[simulation]
duration = "4 s"
step = "1 ms"
integrator = "implicit-euler"   # euler, rk4, implicit-euler, newmark, trapezoidal, adaptive, stiff

[bodies.block]                  # kinds: mass, inertia (rotation), driver, rigid-body, linkage
kind = "mass"
mass = "1 kg"
position = 0                    # initial; mass may be 1-, 2- or 3-D: [0, 0]
velocity = 0
force = 0                       # profile, optional

[bodies.hook]
kind = "driver"
velocity = "if(t <= 2, 2, 0)"   # or position = ...

[elements.spring]               # kinds: spring, friction, contact, stop, joint, actuator, gear
kind = "spring"
between = ["hook", "block"]
stiffness = "90 N/m"
damping = 0

[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "10 N"
"#;

/// The second.
pub const SPHERE: &str = r#"[simulation]
duration = "1 s"
step = "0.1 ms"
integrator = "rk4"
gravity = [0, 0, -9.8]

[bodies.ball]
kind = "rigid-body"
shape = { sphere = "0.2 m" }
mass = "0.3 kg"
position = [0, 0, 0.202]
velocity = [2, 0, 0]

[elements.floor]
kind = "contact"
between = ["ball", "ground"]
surface = { plane = { normal = [0, 0, 1], offset = 0 } }
normal = { law = "kelvin-voigt", stiffness = 1e7, damping = 10 }
friction = { law = "proxy", mu = 0.1, stiffness = 1e7, damping = 10 }
"#;

/// The third, with the simulation it leaves out.
pub const ARM: &str = r#"[simulation]
duration = "10 s"
step = "1 ms"
integrator = "rk4"

[bodies.arm]
kind = "linkage"
links = [
  { name = "upper", parent = "ground", joint = "shoulder", type = "revolute", axis = [0, 0, 1], origin = [0, 0, 0],
    mass = 0.5, com = [0.15, 0, 0], inertia = [0, 0.00375, 0.00375] },
  { name = "lower", parent = "upper", joint = "elbow", type = "revolute", axis = [0, 0, 1], origin = [0.3, 0, 0],
    mass = 0.5, com = [0.15, 0, 0], inertia = [0, 0.00375, 0.00375] },
]

[elements.shoulder_motor]
kind = "actuator"
on = "arm.shoulder"
value = "if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))"

[elements.shoulder_friction]
kind = "friction"
on = "arm.shoulder"
law = "proxy"
kinetic = 0.5
stiffness = 5000
damping = 1
"#;

/// Every key of every table at least once.
pub const EVERYTHING: &str = r#"title = "Everything"

[simulation]
duration = "2 s"
step = "1 ms"
integrator = "adaptive"
gravity = [0, -9.81]
relative_tolerance = 1e-7
absolute_tolerance = 1e-10
max_step = "10 ms"
min_step = "1 us"
newmark = { beta = 0.3, gamma = 0.6 }
motion = "backward"

[bodies.slider]
kind = "mass"
mass = "500 g"
position = "10 mm"
velocity = "-1 mm/s"
axis = [0.6, 0.8]
force = { expr = "2*min(t,2)", unit = "kN" }

[bodies.puck]
kind = "mass"
mass = 2
position = ["10 mm", 0.5]
velocity = [0, "1 m/s"]
force = ["sin(t)", { times = [0, "1 min"], values = [1, 3], unit = "N", interpolation = "step", after = "repeat" }]

[bodies.wheel]
kind = "inertia"
inertia = "1 kg m^2"
position = "90 deg"
velocity = "60 rpm"
torque = { times = [0, 1], values = ["1 Nm", 2], after = "zero" }

[bodies.belt]
kind = "driver"
velocity = [1, 0]
start = ["1 mm", 0]

[bodies.cam]
kind = "driver"
position = "0.01*sin(t)"

[bodies.brick]
kind = "rigid-body"
mass = 12
shape = { box = [1, 2, "3 m"] }
position = [0, 0, 5]
rotation = [2, 0, 0, 0]
velocity = [0, 0, 1]
angular_velocity = ["1 rpm", 0, 0]
force = [0, 0, "t"]
torque = [0, 0, "1 Nm"]

[bodies.stone]
kind = "rigid-body"
mass = 1
shape = { sphere = "5 cm" }
inertia = [1, 1, 1.5, 0.1, 0.2, 0.3]

[bodies.dot]
kind = "rigid-body"
mass = 1
shape = { point = true }

[bodies.robot]
kind = "linkage"
floating = true
links = [
  { name = "base", parent = "ground", mass = 10, shape = { box = [1, 1, 1] } },
  { name = "leg", parent = "base", joint = "hip", type = "revolute", axis = [0, 2, 0], origin = [0, 0, "-50 cm"],
    rotation = [1, 0, 0, 0], mass = "1 kg", com = [0, 0, -0.2], inertia = [0.1, 0.1, 0.1, 0, 0, 0], position = "10 deg",
    velocity = 0.1, limits = ["-90 deg", "90 deg"] },
  { name = "foot", parent = "leg", joint = "ankle", type = "prismatic", axis = [0, 0, 1], mass = 1, position = "1 mm" },
]

[elements.rope]
kind = "spring"
between = ["puck", "ground"]
stiffness = "10 N/mm"
damping = "3 N s/m"
length = "20 cm"
at = [[0, 0], [1, 1, 0]]
implicit = true

[elements.clamp]
kind = "spring"
on = "slider"
stiffness = 1000
preload = "50 N"

[elements.pulley]
kind = "spring"
between = ["slider", "wheel"]
stiffness = 1000
ratio = [1, "50 mm"]

[elements.pad]
kind = "friction"
between = ["slider", "ground"]
law = "lugre"
mu = 0.3
mu_static = 0.4
viscous = "1 N s/m"
stribeck_velocity = "1 mm/s"
stribeck_exponent = 1
normal_force = { element = "clamp" }
initial = "slip"
stiffness = "100 N/mm"
damping = 20

[elements.brake]
kind = "friction"
on = "wheel"
law = "implicit"
kinetic = "1 Nm"
static = "1.5 Nm"

[elements.rim]
kind = "friction"
between = ["slider", "wheel"]
ratio = [1, "50 mm"]
law = "implicit"
table = { speed = [0, 0.1, 1], force = [12, 10, 11] }

[elements.fault]
kind = "friction"
between = ["slider", "ground"]
law = "subloading"
mu_static = 0.6
mu_kinetic = 0.5
normal_force = { csv = "src/scenario/tests/load.csv", column = "load", time = "time", unit = "kN", interpolation = "linear", after = "hold" }
tangential_stiffness = 1e6
kappa = "10 1/mm"
eta = 0.1
r = "100 1/mm"
evolution = "ratio"

[elements.sheet]
kind = "friction"
between = ["slider", "ground"]
law = "subloading"
mu_static = 0.5
mu_kinetic = 0.3
normal_force = "100 N"
tangential_stiffness = 1e6
kappa = "10 1/mm"
kappa_exponent = 1
eta = 0.1
eta_exponent = 2
r = "100 1/mm"
contact_time = "1 ms"
update = "exact-flow"
newton = "as-published"

[elements.many]
kind = "friction"
between = ["slider", "ground"]
law = "relaxed"
kinetic = 1
stiffness = "200 N/mm"
# The reader takes the keys of every law. The builder
# says which of them this law has.
epsilon = 1e-3
beta = 5e-3

[elements.hinge]
kind = "joint"
between = ["stone", "brick"]
type = "revolute"
at = [[0, 0, 1], [0, 0, -1]]
axis = [0, 1, 0]
stiffness = "1e6 N/m"
damping = "1e3 N s/m"
rotational_stiffness = "1e4 Nm/rad"
rotational_damping = 10
friction = { law = "proxy", kinetic = "0.5 Nm" }
torque = "0.1*t"

[elements.floor]
kind = "contact"
between = ["puck", "belt"]
surface = { plane = { normal = [0, 1], offset = "1 mm" } }
normal = { law = "relaxed", stiffness = 1e4, damping = 1, beta = 0.01, alpha = 0.005, restitution = 0.5, exponent = 1.5, penetration = 1e-3, impact_speed = 2 }
friction = { law = "relaxed", mu = [0.3, 0.6], mu_static = 0.4, direction = [1, 0, 0], direction_on = "first", viscous = 0.1, initial = "stick" }

[elements.touch]
kind = "contact"
between = ["robot.foot", "ground"]
surface = { plane = { normal = [0, 0, 3] } }
normal = { law = "rigid" }

[elements.ends]
kind = "stop"
on = "robot.hip"
lower = "-1 rad"
upper = 1
normal = { law = "kelvin-voigt", stiffness = 1e5 }

[elements.buffer]
kind = "stop"
between = ["wheel", "slider"]
ratio = [0.05, 1]
lower = -1

[elements.motor]
kind = "actuator"
between = ["wheel", "ground"]
value = "1 Nm"
ratio = [2, 1]

[elements.thrust]
kind = "actuator"
on = "brick"
value = ["sin(t)", 0, 0]

[elements.gearbox]
kind = "gear"
between = ["wheel", "robot.hip"]
ratio = [1, 100]
stiffness = 1e6
damping = 10

[elements.link]
kind = "gear"
on = "robot.ankle"
ratio = [1, 1]

[output]
columns = ["t", "slider.position", "pad.force"]

[analysis]
stick_slip = { signal = "pad.force", scale = 100, from = "1 s", threshold = 0.02 }

[elements.polished]
kind = "friction"
between = ["slider", "ground"]
law = "implicit"
kinetic = 1
solution = "exact"

[elements.knuckle]
kind = "joint"
between = ["stone", "brick"]
type = "revolute"
at = [[0, 0, 1], [0, 0, -1]]
axis = [0, 1, 0]
second_axis = [0, 0, 3]

[elements.pawl]
kind = "friction"
on = "wheel"
law = "implicit"
table = { speed = [0, 1], force = [1, 2], backward = [3, 4] }
static = "4 Nm"

[elements.brush]
kind = "friction"
between = ["slider", "ground"]
law = "implicit"
curve = "10/(1 + v/0.1)"
curve_backward = "12/(1 + v/0.1)"

[elements.young]
kind = "friction"
between = ["slider", "ground"]
law = "subloading"
mu_kinetic = 0.2
mu_static = 0.4
mu_initial = 0.3
normal_force = 10

[elements.grain]
kind = "friction"
between = ["slider", "ground"]
law = "implicit"
kinetic = ["1 N", "2 N"]
direction = [0.6, 0.8]

[elements.slab]
kind = "friction"
between = ["slider", "ground"]
law = "subloading"
mu_kinetic = 0.2
mu_static = 0.4
area = "1 cm^2"
pressure = "100 kPa"
tangential_stiffness = "1e10 N/m^3"
"#;

/// A stability map with criterion (35) of seed 003.
pub const MAP: &str = r#"
[simulation]
duration = "10 s"
step = "1 ms"
integrator = "implicit-euler"

[bodies.block]
kind = "mass"
mass = 1

[elements.floor]
kind = "friction"
between = ["block", "ground"]
law = "implicit"
kinetic = "10 N"
static = "12 N"

[analysis]
stick_slip = { signal = "floor.force", scale = 4, e = 20 }

[map]
duration = "2 + 8/x*y"
from = "1 s"
"#;

/// The fourth, with every key of a relaxation.
pub const INCLUSION: &str = r#"[simulation]
duration = "5 s"
step = "0.1 ms"
integrator = "rk4"

[inclusion]
states = { p = 0, v = 0.2 }
parameters = { M = 1, F = 0.5 }
inputs = { fe = "min(0.52, 0.3*t)" }
equations = { p = "v", v = "(fe - F*sgn(v) + dio(p + 1))/M" }
relax = { sgn = { stiffness = 1e5, beta = 5e-3 }, dio = { stiffness = 1e4, beta = 0.01, alpha = 0.005 } }
nonnegative = ["F"]             # what the user asserts; literals and products of asserted terms follow
"#;

/// Every key of a chain.
pub const CHAIN: &str = r#"[simulation]
duration = "5 s"
step = "1 ms"
integrator = "implicit-euler"

[chain]
count = 12
body = { kind = "mass", mass = "1 kg", position = "0.01*sin(0.37*i)/n", velocity = "1 mm/s" }
neighbour = { kind = "spring", stiffness = "50 N/m", damping = "0.1 N s/m", length = "10 mm" }
drive = { kind = "spring", stiffness = "5 N/m", damping = 0, length = 0, velocity = "10 mm/s", start = "1 mm" }
friction = { kind = "friction", law = "implicit", kinetic = "1 N", static = "1.2 N" }
spread = { mass = "5 %", stiffness = "3 %", friction = 0.1, position = "1 mm", seed = 1 }

[output]
columns = ["chain.slipping", "chain.moment", "chain.drive.position"]

[analysis]
slip_events = { from = "1 s", smallest = "0.1 mm", largest = "1 m", bins = 4 }
"#;

/// A chain whose drive is given by its position.
pub const PULLED_CHAIN: &str = r#"[simulation]
duration = "1 s"
step = "1 ms"
integrator = "implicit-euler"

[chain]
count = 1
body = { mass = 1 }
neighbour = { stiffness = 50 }
drive = { stiffness = 5, position = "0.01*t" }
friction = { law = "implicit", mu = 0.1, normal_force = "10 N" }
"#;

/// Every key of many spheres.
pub const SPHERES: &str = r#"[simulation]
duration = "1 s"
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.8]

[spheres]
count = 9
spacing = "1 m"
spread = { position = "10 mm", velocity = "0.1 m/s", seed = 1 }

[spheres.body]
kind = "rigid-body"
shape = { sphere = "0.2 m" }
mass = "0.3 kg"
inertia = [0.0048, 0.0048, 0.0048]
position = [0, 0, 0.2]
rotation = [1, 0, 0, 0]
velocity = [2, 0, 0]
angular_velocity = [0, 0, 1]

[spheres.contact]
kind = "contact"
surface = { plane = { normal = [0, 0, 1], offset = 0 } }
normal = { law = "rigid", restitution = 0.5 }
friction = { law = "implicit", mu = 0.1 }
"#;

/// Rotations by angles, the start of a free root, fixed joints, driven joints and pushed links.
pub const TURNED: &str = r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.81]

[contacts]
friction = { law = "implicit", mu = 0.5 }

[bodies.ramp]
kind = "fixed"
shape = { box = [1, 1, 1] }
position = [0, 0, -2]
rpy = ["10 deg", 0, 0]

[bodies.pusher]
kind = "driver"
velocity = ["0.1 m/s", 0, 0]
shape = { box = [0.1, 0.1, 0.1] }
rpy = [0, 0, 1]

[bodies.crate]
kind = "rigid-body"
mass = 1
shape = [{ box = [0.1, 0.1, 0.1], rpy = [0, "45 deg", 0] }]
position = [0, 0, 3]
rpy = [0, 0, "30 deg"]

[bodies.robot]
kind = "linkage"
floating = true
base = { position = [0, 0, 5], rpy = [0, 0, "30 deg"], velocity = [0.1, 0, 0], angular_velocity = [0, 0, "1 rpm"] }
links = [
  { name = "trunk", parent = "ground", mass = 10, shape = { box = [0.3, 0.3, 0.3] }, force = [0, 0, "10 N"] },
  { name = "plate", parent = "trunk", type = "fixed", origin = [0, 0, 0.2], rpy = [0, 0, 1], mass = 1, shape = { box = [0.2, 0.2, 0.1] } },
  { name = "arm", parent = "plate", joint = "hinge", type = "revolute", axis = [0, 0, 1], mass = 1, inertia = [0.1, 0.1, 0.1],
    motion = "0.1*t", torque = [0, "0.1 Nm", "t"] },
]

[bodies.stone]
kind = "linkage"
floating = true
base = { rotation = [1, 0, 0, 1] }
links = [{ name = "whole", parent = "ground", mass = 1, inertia = [1, 1, 1] }]
"#;

/// Many spheres that begin turned by angles.
pub const SPHERES_TURNED: &str = r#"[simulation]
duration = "1 s"
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.8]

[spheres]
count = 9
spacing = "1 m"

[spheres.body]
kind = "rigid-body"
shape = { sphere = "0.2 m" }
mass = "0.3 kg"
position = [0, 0, 0.2]
rpy = [0, 0, "10 deg"]

[spheres.contact]
kind = "contact"
surface = { plane = { normal = [0, 0, 1], offset = 0 } }
normal = { law = "rigid" }
"#;

/// Elements and bodies of the user's own, with every key.
pub const EQUATIONS: &str = r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "rk4"

[bodies.crane]
kind = "equations"
coordinates = { cart = 0, swing = "20 deg" }
velocities = { swing = 0.1 }
states = { heat = 0 }
parameters = { M = "10 kg", m = 1, l = "2 m", c = 0.1, N = 1 }
inputs = { wind = "0.1*sin(t)" }
mass_matrix = [["M + m", "m*l*cos(swing)"], ["m*l*cos(swing)", "m*l^2"]]
force = ["m*l*swing_dot^2*sin(swing) + wind - N*sgn(cart_dot)", "-m*9.8*l*sin(swing) - c*swing_dot"]
potential = "-m*9.8*l*cos(swing)"
rates = { heat = "c*swing_dot^2" }
relax = { sgn = { stiffness = 1e4, beta = 0.01 } }
nonnegative = ["N"]

[bodies.crane.frames.bob]
position = ["cart + l*sin(swing)", 0, "-l*cos(swing)"]
axis = [0, -1, 0]
angle = "swing"

[elements.bushing]
kind = "equations"
on = "crane.cart"
states = { z = 0 }
parameters = { k = 1e4, c = "20 N*s/m", s = 1e3, N = 1 }
inputs = { push = "sin(t)" }
force = "-(k*x + c*v + z) + push - N*sgn(v)"
rates = { z = "s*v - z/0.01" }
stored = "0.5*k*x^2"
ratio = [1, 1]
relax = { sgn = { stiffness = 1e4, beta = 0.01 } }
nonnegative = ["N"]

[elements.rope]
kind = "equations"
between = ["crane.bob", "ground"]
at = [[0, 0, 0.1], [1, 0, 0]]
force = ["-50*x.x - v.x", "-50*x.y", "-50*x.z"]
"#;

/// All of them.
/// Shapes and the contacts that the program finds, with every key.
pub const SCENE: &str = r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.81]

[contacts]
between = "all"
except = [["crate", "rock"]]
normal = { law = "rigid", restitution = 0.1 }
friction = { law = "implicit", mu = 0.5, rolling = "1 mm", spinning = "1 mm" }
recovery_speed = "0.1 m/s"
materials = [{ pair = ["rubber", "steel"], mu = 0.9, mu_static = 1, restitution = 0.2, rolling = "2 mm", spinning = 0 }]

[materials.rubber]
mu = 0.8
mu_static = 0.9
restitution = 0.5
rolling = "3 mm"
spinning = "1 mm"

[materials.steel]
mu = 0.2

[bodies.belt]
kind = "fixed"
shape = { plane = { normal = [0, 0, 1], offset = 0 } }
position = [0, 0, 0]
rotation = [1, 0, 0, 0]
surface_velocity = ["0.2 m/s", 0, 0]
material = "rubber"

[bodies.rock]
kind = "fixed"
shape = { mesh = "src/scenario/tests/tetrahedron.stl" }
position = [5, 0, 0]

[bodies.pusher]
kind = "driver"
velocity = ["0.1 m/s", 0, 0]
start = [-2, 0, 1]
shape = { cylinder = { radius = 0.1, length = 0.2 } }
rotation = [1, 0, 0, 0]
surface_velocity = [0, 0, 0.1]
material = "steel"

[bodies.crate]
kind = "rigid-body"
density = "600 kg/m^3"
shape = [{ box = [0.1, 0.2, 0.3] }, { capsule = { radius = 0.05, length = 0.2 }, position = [0.1, 0, 0], rotation = [1, 0, 0, 0] }]
material = "steel"
position = [0, 0, 1]

[bodies.wedge]
kind = "rigid-body"
mass = 1
shape = { hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }
position = [0, 3, 1]

[bodies.hand]
kind = "linkage"
links = [{ name = "finger", parent = "ground", type = "prismatic", axis = [1, 0, 0], origin = [0, -3, 1], mass = 1, shape = { sphere = 0.1 }, material = "rubber" }]

[bodies.input]
kind = "inertia"
inertia = 0.1

[bodies.output]
kind = "inertia"
inertia = 0.2

[elements.hold]
kind = "joint"
between = ["wedge", "ground"]
type = "spherical"
at = [[0, 0, 0], [0, 3, 1]]
rigid = true

[elements.train]
kind = "gear"
between = ["input", "output"]
ratio = [1, 3]
rigid = true

[output]
contacts = true
"#;

/// Spheres by their density.
pub const SPHERES_OF_STEEL: &str = r#"
[simulation]
duration = 1
step = "1 ms"
integrator = "implicit-euler"

[spheres]
count = 2
spacing = 1

[spheres.body]
shape = { sphere = 0.1 }
density = 7800

[spheres.contact]
surface = { plane = { normal = [0, 0, 1] } }
normal = { law = "rigid" }
"#;

pub fn all() -> Vec<&'static str> {
    let mut all = vec![
        BLOCK,
        SPHERE,
        ARM,
        INCLUSION,
        CHAIN,
        PULLED_CHAIN,
        SPHERES,
        SPHERES_OF_STEEL,
        SPHERES_TURNED,
        SCENE,
        TURNED,
        EVERYTHING,
        EQUATIONS,
        MAP,
    ];
    all.extend(TEMPLATES.iter().map(|template| template.text));
    all
}
