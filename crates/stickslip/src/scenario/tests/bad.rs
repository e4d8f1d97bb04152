//! Slips, what is said about them, and on which line.

use super::corpus::*;
use super::*;

/// A slip made in a valid scenario: what is replaced by what, then the line, a part of the message and of the help.
struct Slip(&'static str, &'static str, usize, &'static str, &'static str);

#[rustfmt::skip]
const IN_BLOCK: &[Slip] = &[
    // Syntax.
    Slip("step = \"1 ms\"", "step = 1 ms", 5, "not valid TOML", "stand in quotes: step = \"1 ms\""),
    Slip("step = \"1 ms\"", "step \"1 ms\"", 5, "not valid TOML", ""),
    Slip("[bodies.hook]", "[bodies.block]", 15, "not valid TOML: duplicate key", "only once"),
    Slip("velocity = 0", "position = 0", 12, "not valid TOML: duplicate key", "only once"),
    // Words and keys.
    Slip("[simulation]", "[sim]", 3, "unknown key `sim`", "did you mean `simulation`?"),
    Slip("mass = \"1 kg\"", "mas = \"1 kg\"", 10, "unknown key `mas` in `bodies.block`", "did you mean `mass`?"),
    Slip("damping = 0", "dampnig = 0", 23, "unknown key `dampnig` in `elements.spring`", "did you mean `damping`?"),
    Slip("damping = 0", "colour = 0", 23, "unknown key `colour`", "the keys here are `kind`, `between`"),
    Slip("damping = 0", "law = \"proxy\"", 23, "unknown key `law` in `elements.spring`", "`law` belongs to kind = \"friction\""),
    Slip("kinetic = \"10 N\"", "kinetc = \"10 N\"", 29, "unknown key `kinetc`", "did you mean `kinetic`?"),
    Slip("mass = \"1 kg\"", "mass = 1\nsurface_velocity = [1, 0, 0]", 11, "unknown key `surface_velocity` in `bodies.block`", "`surface_velocity` belongs to kind = \"driver\" or \"fixed\""),
    Slip("title =", "gravity = [0, 0, -9.81]\ntitle =", 1, "unknown key `gravity` at the top of the file", "`gravity` belongs to [simulation]"),
    Slip("kind = \"mass\"", "kind = \"mas\"", 9, "unknown kind \"mas\"", "did you mean \"mass\"?"),
    Slip("kind = \"mass\"", "kind = 3", 9, "`bodies.block.kind` should be a string, found the number 3", ""),
    Slip("kind = \"friction\"", "", 25, "`elements.floor` has no `kind`", "add, for example: kind = \"spring\""),
    Slip("kind = \"spring\"", "kind = \"sprnig\"", 20, "unknown kind \"sprnig\"", "did you mean \"spring\"?"),
    Slip("\"implicit-euler\"", "\"implicit\"", 6, "unknown integrator \"implicit\"", "did you mean \"implicit-euler\"?"),
    Slip("[bodies.hook]", "[chain]\ncount = 3\n[bodies.hook]", 15, "a scenario has `[chain]` or `[bodies]`, not both", "a chain is a system of its own"),
    Slip("[bodies.hook]", "[inclusion]\nstates = {}\n[bodies.hook]", 15, "a scenario has `[inclusion]` or `[bodies]`, not both", "write the bodies as equations too"),
    Slip("[bodies.hook]", "[map]\nfrom = \"2*z\"\n[bodies.hook]", 16, "`map.from`: unknown name \"z\"", "for example: from ="),
    Slip("[bodies.hook]", "[map]\nduration = \"2 m\"\n[bodies.hook]", 16, "`map.duration` should be a time", ""),
    Slip("[bodies.hook]", "[map]\ndurations = 2\n[bodies.hook]", 16, "unknown key `durations`", "did you mean `duration`?"),
    // Missing keys.
    Slip("mass = \"1 kg\"", "", 8, "`bodies.block` has no `mass`", "add: mass = \"1 kg\""),
    Slip("step = \"1 ms\"", "", 3, "`simulation` has no `step`", "add: step = \"1 ms\""),
    Slip("law = \"implicit\"", "", 25, "`elements.floor` has no `law`", "add: law = \"implicit\""),
    Slip("stiffness = \"90 N/m\"", "", 19, "`elements.spring` has no `stiffness`", "stiffness = \"90 N/m\""),
    Slip("between = [\"hook\", \"block\"]", "", 19, "does not say what it acts on", "between = [\"block\", \"ground\"]"),
    Slip("kinetic = \"10 N\"", "", 25, "does not say how strong the friction is", "kinetic = \"10 N\""),
    Slip("kinetic = \"10 N\"", "static = \"10 N\"", 25, "has no `kinetic`", "add: kinetic = \"10 N\""),
    Slip("law = \"implicit\"\nkinetic = \"10 N\"", "law = \"subloading\"\nmu_static = 0.3", 25, "has no `mu_kinetic`", "add: mu_kinetic = 0.3"),
    Slip("velocity = \"if(t <= 2, 2, 0)\"", "", 15, "has neither `position` nor `velocity`", "velocity = \"10 mm/s\""),
    Slip("velocity = \"if(t <= 2, 2, 0)\"", "velocity = 1\nposition = 0", 17, "has both `position` and `velocity`", "`start`"),
    // Types.
    Slip("mass = \"1 kg\"", "mass = true", 10, "`bodies.block.mass` should be a number: a mass (kg), found true", "mass = \"1 kg\""),
    Slip("mass = \"1 kg\"", "mass = \"heavy\"", 10, "should be a number: a mass (kg), found the string \"heavy\"", "mass = \"1 kg\""),
    Slip("mass = \"1 kg\"", "mass = [1]", 10, "found a list of 1", ""),
    Slip("mass = \"1 kg\"", "mass = 1979-05-27", 10, "found a date", ""),
    Slip("between = [\"hook\", \"block\"]", "between = \"hook\"", 21, "should be a list of 2 names", ""),
    Slip("between = [\"hook\", \"block\"]", "between = [\"hook\", \"block\", \"ground\"]", 21, "should be a list of 2 names, found a list of 3", ""),
    Slip("between = [\"hook\", \"block\"]", "between = [\"hook\", 3]", 21, "should be a list of strings", ""),
    Slip("title = ", "title = 3 #", 1, "`title` should be a string", ""),
    Slip("damping = 0", "implicit = \"yes\"", 23, "should be true or false", ""),
    Slip("position = 0 ", "position = [0, 0, 0, 0] ", 11, "a number or a list of 2 or 3 numbers", ""),
    // Numbers and units.
    Slip("mass = \"1 kg\"", "mass = 0", 10, "must be greater than 0, found 0", "mass = \"1 kg\""),
    Slip("mass = \"1 kg\"", "mass = \"-2 kg\"", 10, "must be greater than 0, found -2", ""),
    Slip("mass = \"1 kg\"", "mass = nan", 10, "must be a finite number", ""),
    Slip("mass = \"1 kg\"", "mass = inf", 10, "must be a finite number", ""),
    Slip("mass = \"1 kg\"", "mass = 1e999", 10, "finite", ""),
    Slip("mass = \"1 kg\"", "mass = \"1 N\"", 10, "should be a mass (kg), but \"1 N\" is a force (N)", "mass = \"1 kg\""),
    Slip("mass = \"1 kg\"", "mass = \"1 kgg\"", 10, "unknown unit \"kgg\"; did you mean \"kg\"?", ""),
    Slip("\"90 N/m\"", "\"90 Nm/rad\"", 22, "should be a stiffness (N/m)", "stiffness = \"90 N/m\""),
    Slip("\"90 N/m\"", "-90", 22, "must not be negative", ""),
    Slip("damping = 0", "damping = -1", 23, "must not be negative", ""),
    Slip("kinetic = \"10 N\"", "kinetic = -1", 29, "must not be negative", ""),
    Slip("kinetic = \"10 N\"", "kinetic = 10\nstatic = 8", 30, "`static` (8) is below `kinetic` (10)", "at least 10"),
    Slip("kinetic = \"10 N\"", "kinetic = 10\nstribeck_velocity = 0", 30, "must be greater than 0", ""),
    Slip("step = \"1 ms\"", "step = 0", 5, "must be greater than 0", ""),
    Slip("step = \"1 ms\"", "step = \"5 s\"", 5, "the step (5 s) is longer than the duration (4 s)", "try step ="),
    Slip("step = \"1 ms\"", "step = 1e-300", 5, "too many to count", "longer step"),
    Slip("step = \"1 ms\"", "step = 1e-3\nmin_step = 1e-3\nmax_step = 1e-4", 6, "is longer than max_step", ""),
    Slip("step = \"1 ms\"", "step = 1e-3\ngravity = -9.81", 6, "`simulation.gravity` should be a list of 2 or 3 numbers", "gravity = [0, 0, -9.81]"),
    // Profiles.
    Slip("\"if(t <= 2, 2, 0)\"", "\"if(t <= 2, 2, x)\"", 17, "unknown name \"x\"", "an expression in t"),
    Slip("\"if(t <= 2, 2, 0)\"", "\"2*\"", 17, "`bodies.hook.velocity`", ""),
    Slip("\"if(t <= 2, 2, 0)\"", "\"2 kg\"", 17, "should be a velocity (m/s) or", ""),
    Slip("\"if(t <= 2, 2, 0)\"", "{ speed = 3 }", 17, "this table is no function of time", "{ times = [0, 1]"),
    Slip("\"if(t <= 2, 2, 0)\"", "{ expr = \"t\", unit = \"kg\" }", 17, "should be the unit of a velocity", ""),
    Slip("\"if(t <= 2, 2, 0)\"", "{ expr = \"t\", unti = \"m/s\" }", 17, "unknown key `unti`", "did you mean `unit`?"),
    Slip("\"if(t <= 2, 2, 0)\"", "{ times = [0, 1], values = [1, 2, 3] }", 17, "2 times but 3 values", "one value for every time"),
    Slip("\"if(t <= 2, 2, 0)\"", "{ times = [0, 0], values = [1, 2] }", 17, "times must increase", ""),
    Slip("\"if(t <= 2, 2, 0)\"", "{ times = [0, 1], values = [1, 2], after = \"loop\" }", 17, "unknown after \"loop\"", "`repeat`"),
    Slip("\"if(t <= 2, 2, 0)\"", "{ csv = \"no-such-file.csv\", column = \"v\" }", 17, "cannot read", ""),
    Slip("force = 0 ", "force = [0, 0] ", 13, "has 2 components, but the body has 1 dimension", "force = 0"),
    // Names and ends.
    Slip("\"hook\", \"block\"", "\"hok\", \"block\"", 21, "there is no body `hok`", "did you mean \"hook\"?"),
    Slip("\"hook\", \"block\"", "\"crane\", \"block\"", 21, "there is no body `crane`", "the bodies are `block`, `hook`, `ground`"),
    Slip("\"hook\", \"block\"", "\"block\", \"block\"", 21, "joins `block` to itself", ""),
    Slip("\"block\", \"ground\"", "\"Ground\", \"block\"", 27, "there is no body `Ground`", "did you mean \"ground\"?"),
    Slip("law = \"implicit\"", "law = \"implicit\"\non = \"block\"", 29, "has both `between` and `on`", "keep one"),
    Slip("[bodies.hook]", "[bodies.ground]", 15, "cannot be named `ground`", "choose another name"),
    Slip("[bodies.hook]", "[bodies.\"\"]", 15, "empty name", ""),
    Slip("[bodies.hook]", "[bodies.\"a.b\"]", 15, "the name `a.b`", "letters, digits"),
    Slip("[bodies.hook]", "[bodies.t]", 15, "cannot be named `t`", ""),
    Slip("[elements.floor]", "[elements.block]", 25, "the name `block` is taken by a body", "rename one"),
    Slip("position = 0 ", "position = [0, 0] ", 12, "`bodies.block.velocity` has 1 component, but the body has 2 dimensions", "velocity = [0, 0]"),
    Slip("kind = \"mass\"", "kind = \"mass\"\naxis = [0, 0, 0]", 10, "has length 0", "axis = [1, 0, 0]"),
    // Friction.
    Slip("kinetic = \"10 N\"", "kinetic = 10\nmu = 0.1", 30, "has both `kinetic` and `mu`", "not both"),
    Slip("kinetic = \"10 N\"", "mu = 0.1\nmu_kinetic = 0.1", 30, "has both `mu` and `mu_kinetic`", "keep one"),
    Slip("kinetic = \"10 N\"", "mu = 0.1", 29, "`elements.floor.mu` needs a normal force", "normal_force = \"100 N\""),
    Slip("kinetic = \"10 N\"", "kinetic = 10\nnormal_force = 3", 30, "`normal_force` has no effect beside `kinetic`", "`mu`"),
    Slip("kinetic = \"10 N\"", "mu = 0.1\nnormal_force = -3", 30, "must not be negative", "positive"),
    Slip("kinetic = \"10 N\"", "mu = 0.1\nnormal_force = { element = \"sprung\" }", 30, "there is no element `sprung`", "did you mean \"spring\"?"),
    Slip("kinetic = \"10 N\"", "mu = 0.1\nnormal_force = { element = \"floor\" }", 30, "cannot be its own normal force", ""),
    Slip("kinetic = \"10 N\"", "mu = 0.4\nmu_static = 0.3\nnormal_force = 1", 30, "`mu_static` (0.3) is below `mu` (0.4)", ""),
    Slip("kinetic = \"10 N\"", "table = { speed = [0, 1], force = [1] }", 29, "2 speeds but 1 forces", "one force for every speed"),
    Slip("kinetic = \"10 N\"", "table = { speed = [1, 0], force = [1, 1] }", 29, "speeds must increase", ""),
    Slip("kinetic = \"10 N\"", "kinetic = 3\ntable = { speed = [0], force = [1] }", 29, "has both `table` and `kinetic`", "whole steady curve"),
    Slip("kinetic = \"10 N\"", "kinetic = 3\ninitial = \"slide\"", 30, "unknown initial \"slide\"", "`stick`, `slip`"),
    Slip("damping = 0", "length = 1\npreload = 1", 24, "has both `length` and `preload`", "keep one"),
    Slip("damping = 0", "at = [[0, 0], [0, 0]]", 23, "`at` is for springs between points in 2-D or 3-D", "`length`"),
    Slip("damping = 0", "ratio = [1, 0]", 23, "has a 0, which disconnects a body", ""),
    // Output and analysis.
    Slip("title =", "output.columns = [\"t\", \"blok.position\"]\ntitle =", 1, "there is no column `blok.position`", "did you mean `block.position`?"),
    Slip("title =", "output.columns = [\"block\"]\ntitle =", 1, "there is no column `block`", "`block.position`"),
    Slip("title =", "analysis.stick_slip = { signal = \"flor.force\" }\ntitle =", 1, "there is no column `flor.force`", "did you mean `floor.force`?"),
    Slip("title =", "analysis.stick_slip = { signal = \"floor.force\", e = 20 }\ntitle =", 1, "`e` needs a signal of a friction with static > kinetic, and \"floor.force\" is of one without", "write `threshold`"),
    Slip("title =", "analysis.stick_slip = { signal = \"spring.force\", e = 20 }\ntitle =", 1, "and \"spring.force\" is of no friction", "write `threshold`"),
    Slip("title =", "analysis.stick_slip = { signal = \"floor.force\", e = 20, threshold = 1 }\ntitle =", 1, "`e` and `threshold` both", "leave one"),
    Slip("title =", "analysis.stick_slip = { signal = \"floor.force\", from = \"9 s\" }\ntitle =", 1, "the analysis begins at 9 s, when the run has ended", ""),
];

#[rustfmt::skip]
const IN_SPHERE: &[Slip] = &[
    Slip("shape = { sphere = \"0.2 m\" }", "", 7, "has neither `inertia` nor `shape`", "shape = { sphere"),
    Slip("sphere = \"0.2 m\"", "sphere = 0", 9, "must be greater than 0", ""),
    Slip("sphere = \"0.2 m\"", "spehre = 1", 9, "unknown key `spehre`", "did you mean `sphere`?"),
    Slip("sphere = \"0.2 m\"", "sphere = 1, point = true", 9, "exactly one of sphere, box, capsule", ""),
    Slip("shape = { sphere = \"0.2 m\" }", "inertia = [1, 1, 3]", 9, "one exceeds the sum of the other two", "about the centre of mass"),
    Slip("shape = { sphere = \"0.2 m\" }", "inertia = [1, 1, 0]", 9, "not greater than 0", ""),
    Slip("shape = { sphere = \"0.2 m\" }", "inertia = [1, 1, 1, 2, 0, 0]", 9, "products of inertia", ""),
    Slip("shape = { sphere = \"0.2 m\" }", "inertia = [1, 1, 1, 2]", 9, "a list of 3 or 6 numbers", ""),
    Slip("velocity = [2, 0, 0]", "velocity = 2", 12, "a list of 3 numbers", ""),
    Slip("velocity = [2, 0, 0]", "rotation = [0, 0, 0, 0]", 12, "has length 0", "rotation = [1, 0, 0, 0]"),
    Slip("velocity = [2, 0, 0]", "force = [0, 1]", 12, "has 2 components, but the body has 3 dimensions", ""),
    Slip("surface = { plane = { normal = [0, 0, 1], offset = 0 } }", "", 14, "has no `surface`", "plane"),
    Slip("normal = [0, 0, 1]", "normal = [0, 0, 0]", 17, "has length 0", ""),
    Slip("normal = [0, 0, 1], ", "", 17, "has no `normal`", ""),
    Slip("stiffness = 1e7, damping = 10 }\nfriction", "stiffness = -1, damping = 10 }\nfriction", 18, "must not be negative", ""),
    Slip("normal = { law = \"kelvin-voigt\", stiffness = 1e7, damping = 10 }", "", 14, "has no `normal`", "{ law ="),
    Slip("mu = 0.1", "kinetic = 1", 19, "`kinetic` has no place here", "mu = 0.3"),
    Slip("mu = 0.1", "mu = 0.1, normal_force = 1", 19, "the normal force of a contact is its own", ""),
    Slip("mu = 0.1, ", "", 19, "does not say how strong the friction is", "mu = 0.3"),
    Slip("[\"ball\", \"ground\"]", "[\"ground\", \"ball\"]", 16, "here it is the ground", "swap"),
];

#[rustfmt::skip]
const IN_ARM: &[Slip] = &[
    Slip("parent = \"upper\"", "parent = \"uper\"", 11, "there is no link `uper`", "did you mean \"upper\"?"),
    Slip("parent = \"ground\"", "parent = \"lower\"", 9, "the parent `lower` comes after its child", "list `lower` before"),
    Slip("parent = \"upper\"", "parent = \"lower\"", 11, "is its own parent", ""),
    Slip("name = \"lower\"", "name = \"upper\"", 11, "the name `upper` is taken", ""),
    Slip("joint = \"elbow\"", "joint = \"shoulder\"", 11, "the name `shoulder` is taken", ""),
    Slip("joint = \"elbow\", type = \"revolute\"", "joint = \"elbow\", type = \"revolut\"", 11, "unknown type \"revolut\"", "did you mean \"revolute\"?"),
    Slip("joint = \"elbow\", type = \"revolute\", axis = [0, 0, 1]", "joint = \"elbow\", type = \"revolute\"", 11, "has no `axis`", "axis = [0, 0, 1]"),
    Slip("joint = \"elbow\"", "jiont = \"elbow\"", 11, "unknown key `jiont`", "did you mean `joint`?"),
    Slip("origin = [0.3, 0, 0],\n    mass = 0.5", "origin = [0.3, 0, 0],\n    mass = 0", 12, "has no mass and carries none", ""),
    Slip("origin = [0.3, 0, 0],\n    mass = 0.5", "origin = [0.3, 0, 0], limits = [1, -1],\n    mass = 0.5", 11, "is not below the upper limit", ""),
    Slip("origin = [0.3, 0, 0],\n    mass = 0.5", "origin = [0.3, 0, 0], limits = [1, 2],\n    mass = 0.5", 11, "the joint begins at 0, outside its limits", "position"),
    Slip("on = \"arm.shoulder\"", "on = \"arm.sholder\"", 17, "there is no body `arm.sholder`", "did you mean \"arm.shoulder\"?"),
    Slip("on = \"arm.shoulder\"", "on = \"arm\"", 17, "`arm` is a linkage: say which joint or link", "`arm.shoulder`, `arm.upper`"),
    Slip("on = \"arm.shoulder\"\nlaw", "on = \"arm.upper\"\nlaw", 22, "friction cannot act on a whole rigid body", "`on` a joint"),
    Slip("kinetic = 0.5", "kinetic = \"0.5 N\"", 24, "should be a torque or energy (N m), but \"0.5 N\" is a force (N)", "kinetic = \"1 N m\""),
    Slip("value = \"if", "value = [0, \"if", 20, "not valid TOML", "left open"),
    Slip("value = \"if(t < 4, min(0.52, 0.3*t), 0.336 + 0.144*sin(100*t))\"", "value = [0, 1]", 18, "has 2 components, but the bodies have 1 dimension", ""),
    Slip("kind = \"linkage\"", "kind = \"linkage\"\nfloating = 1", 8, "should be true or false", ""),
];

#[rustfmt::skip]
const IN_EVERYTHING: &[Slip] = &[
    Slip("between = [\"slider\", \"wheel\"]\nstiffness = 1000\nratio = [1, \"50 mm\"]", "between = [\"slider\", \"wheel\"]\nstiffness = 1000", 96, "`slider` moves along a line and `wheel` turns", "ratio = [1, \"50 mm\"]"),
    Slip("between = [\"slider\", \"wheel\"]\nstiffness = 1000\nratio = [1, \"50 mm\"]", "between = [\"slider\", \"wheel\"]\nstiffness = 1000\nratio = [\"7 mm\", 1]", 98, "`elements.pulley.ratio` is a length at `slider`, which moves along a line", "at the body that turns"),
    Slip("between = [\"puck\", \"ground\"]", "between = [\"puck\", \"slider\"]", 81, "`puck` is a point in 2 dimensions and `slider` moves along a line", "same number of dimensions"),
    Slip("on = \"robot.hip\"", "on = \"brick\"", 197, "a stop acts between bodies with one coordinate", "`contact`"),
    Slip("on = \"robot.ankle\"", "on = \"robot.base_joint\"", 228, "has no single coordinate", ""),
    Slip("between = [\"stone\", \"brick\"]", "between = [\"stone\", \"puck\"]", 171, "a joint holds rigid bodies", ""),
    Slip("axis = [0, 1, 0]\nstiffness", "stiffness", 169, "`elements.hinge` has no `axis`", ""),
    Slip("lower = \"-1 rad\"", "lower = 2", 198, "`lower` (2) is not below `upper` (1)", "swap"),
    Slip("lower = \"-1 rad\"", "lower = \"-1 m\"", 198, "but \"-1 m\" is a length (m)", "lower = \"1 rad\""),
    Slip("ratio = [1, 100]", "", 219, "has no `ratio`", "ratio = [1, 3]"),
    Slip("between = [\"slider\", \"ground\"]
law = \"relaxed\"", "between = [\"brick\", \"ground\"]
law = \"relaxed\"", 160, "friction cannot act on a whole rigid body", "kind = \"contact\""),
    Slip("start = [\"1 mm\", 0]", "start = 1", 40, "has 1 component, but the body has 2 dimensions", "start = [0, 0]"),
    Slip("velocity = [1, 0]\nstart", "position = [1, 0]\nstart", 40, "`start` is for drivers given by `velocity`", ""),
];

fn check(text: &str, slips: &[Slip]) {
    let mut failures = Vec::new();
    for Slip(from, to, line, message, help) in slips {
        assert!(text.contains(from), "the scenario has no {from:?}");
        let error = fail(&text.replacen(from, to, 1), &[]);
        let fits = |finding: &Diagnostic| {
            finding.message.contains(message)
                && finding.help.as_deref().unwrap_or("").contains(help)
                && finding.line(&error.sources) == Some(*line)
        };
        if !error.diagnostics.iter().any(fits) {
            failures.push(format!(
                "{from:?} -> {to:?}: expected line {line}, {message:?}, {help:?}\n{error}\n"
            ));
        }
        if error.diagnostics.len() > 2 {
            failures.push(format!("{from:?} -> {to:?}: one slip, too many findings\n{error}\n"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn slips_in_the_block() {
    check(BLOCK, IN_BLOCK);
}

#[test]
fn slips_in_the_sphere() {
    check(SPHERE, IN_SPHERE);
}

#[test]
fn slips_in_the_arm() {
    check(ARM, IN_ARM);
}

#[test]
fn slips_in_everything() {
    check(EVERYTHING, IN_EVERYTHING);
}

#[test]
fn several_slips_are_all_reported_in_the_order_of_the_file() {
    let text = BLOCK
        .replace("step = \"1 ms\"", "step = -1")
        .replace("mass = \"1 kg\"", "mas = 1")
        .replace("\"hook\", \"block\"", "\"hok\", \"block\"")
        .replace("\"10 N\"", "\"10 kg\"");
    let error = fail(&text, &["bodies.block.velocity=\"1 N\""]);
    let lines: Vec<_> = error
        .diagnostics
        .iter()
        .map(|finding| finding.line(&error.sources))
        .collect();
    assert_eq!(lines, [Some(5), Some(10), Some(21), Some(29), Some(1)], "{error}");
    assert_eq!(error.diagnostics[4].span.unwrap().source, 1);
}

#[test]
fn what_follows_from_another_fault_is_not_told() {
    let text = BLOCK.replace(
        "title =",
        "analysis.stick_slip = { signal = \"floor.force\", e = 20 }\ntitle =",
    );
    for (from, to, expected) in [
        ("kinetic = \"10 N\"", "kinetic = 10\nstatic = 9", "is below"),
        ("\"floor.force\"", "\"flor.force\"", "there is no column"),
    ] {
        let error = Scenario::parse(&text.replace(from, to), "test.toml", &[]).unwrap_err();
        let messages: Vec<&str> = error.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(
            matches!(messages[..], [only] if only.contains(expected)),
            "{messages:?}"
        );
    }
}

#[test]
fn a_misspelt_key_is_not_also_missing() {
    assert_eq!(
        fail(&BLOCK.replace("mass = \"1 kg\"", "mas = 1"), &[])
            .diagnostics
            .len(),
        1
    );
    assert_eq!(
        fail(&BLOCK.replace("[simulation]", "[simulaton]"), &[])
            .diagnostics
            .len(),
        1
    );
}

#[test]
fn the_whole_file_can_be_at_fault() {
    for text in ["", "\n\n", "# only a remark"] {
        let error = fail(text, &[]);
        assert_eq!(error.diagnostics[0].message, "the file is empty");
        assert!(error.to_string().contains("--> test.toml"));
    }
    let error = fail("title = \"x\"", &[]);
    let messages: Vec<_> = error
        .diagnostics
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(messages.len(), 2, "{error}");
    assert!(messages[0].contains("has no `simulation`") && messages[1].contains("has no `bodies`"));
}

#[test]
fn a_finding_is_shown_with_its_line_and_underlined() {
    let error = fail(&BLOCK.replace("mass = \"1 kg\"", "mass = \"1 kgg\""), &[]);
    let expected = "\
error: `bodies.block.mass`: unknown unit \"kgg\"; did you mean \"kg\"?
  --> test.toml:10:11
   |
10 | mass = \"1 kgg\"
   |           ^^^
   = help: for example: mass = \"1 kg\"";
    assert_eq!(error.to_string(), expected);
    assert!(error.render(true).contains("\x1b[1;31merror\x1b[0m"));
}

#[test]
fn letters_beyond_ascii_are_underlined_where_they_stand() {
    let error = fail(&BLOCK.replace("mass = \"1 kg\"", "\tmass = \"1 µm\" # é"), &[]);
    let text = error.to_string();
    assert!(
        text.contains("10 |  mass = \"1 µm\" # é\n   |         ^^^^^^\n"),
        "{text}"
    );
}

#[test]
fn the_nearest_word() {
    use crate::scenario::diagnostic::nearest;
    let words = ["mass", "inertia", "driver", "a", "b"];
    assert_eq!(nearest("masss", words), Some("mass"));
    assert_eq!(nearest("amss", words), Some("mass"));
    assert_eq!(nearest("Driver", words), Some("driver"));
    assert_eq!(nearest("inert", words), Some("inertia"));
    // One letter resembles every other letter.
    assert_eq!(nearest("c", words), None);
    assert_eq!(nearest("velocity", words), None);
}

/// The line of a finding and the underline below it, without their margins.
fn excerpt(error: &ScenarioError) -> (String, String) {
    let text = error.to_string();
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" | ").map(|(_, shown)| shown))
        .collect();
    (lines[0].to_string(), lines[1].to_string())
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let long = |before: usize, after: usize| {
        let line = format!(
            "mass = {{ a = \"{}\", b = 1, c = \"{}\" }}",
            "x".repeat(before),
            "y".repeat(after)
        );
        fail(&BLOCK.replace("mass = \"1 kg\"", &line), &[])
    };
    for (before, after) in [(3_000_000, 2_000_000), (5_000, 0), (0, 5_000), (39, 58)] {
        let error = long(before, after);
        assert!(error.to_string().len() < 2_000, "{}", error.to_string().len());
        let (line, underline) = excerpt(&error);
        assert!(line.chars().count() <= 101, "{line}");
        assert!(underline.chars().count() <= 101, "{underline}");
    }
    // A name in a long list of columns: shown with what is around it.
    let mut names = vec!["\"block.position\""; 4_000];
    names[2_000] = "\"blok.position\"";
    let error = fail(&format!("{BLOCK}\n[output]\ncolumns = [{}]\n", names.join(", ")), &[]);
    let (line, underline) = excerpt(&error);
    let start = underline.chars().take_while(|c| *c == ' ').count();
    let marked: String = line
        .chars()
        .skip(start)
        .take(underline.chars().count() - start)
        .collect();
    assert_eq!(marked, "\"blok.position\"", "{error}");
    assert!(line.starts_with('…') && line.ends_with('…'), "{line}");
}

#[test]
fn wide_letters_and_control_characters_keep_the_underline_in_place() {
    // Two columns each, then an escape of six.
    let text = BLOCK
        .replace("mass = \"1 kg\"", "mass = 1 # 質量")
        .replace("[elements.", "# \u{1b}[2J\n[elements.");
    assert!(Scenario::parse(&text, "test.toml", &[]).is_err());
    let error = fail(&BLOCK.replace("title = \"", "\"質量\u{7f}\" = 1\ntitle = \""), &[]);
    assert!(!error.to_string().contains('\u{7f}'));
    let set = "bodies.block.質量=3".to_string();
    let error = fail(BLOCK, &[&set]);
    let (line, underline) = excerpt(&error);
    assert_eq!(line, "--set bodies.block.質量=3");
    assert_eq!(underline, format!("{}^^^^", " ".repeat("--set bodies.block.".len())));
    for c in ['\u{1b}', '\u{9b}', '\u{202e}', '\r'] {
        let text = crate::scenario::diagnostic::printable(&format!("a{c}b")).into_owned();
        assert!(!text.contains(c) && text.starts_with("a\\u{"), "{text}");
    }
}

#[test]
fn hertz_of_what_turns_are_turns() {
    use std::f64::consts::TAU;
    let velocity = |text: &str| {
        let file = format!(
            "[simulation]\nduration = 1\nstep = 0.1\nintegrator = \"rk4\"\n[bodies.wheel]\nkind = \"inertia\"\ninertia = 1\n\
             velocity = {text}\n[bodies.shaft]\nkind = \"driver\"\nvelocity = {text}\n[elements.clutch]\nkind = \"friction\"\n\
             between = [\"wheel\", \"shaft\"]\nlaw = \"martins-oden\"\nkinetic = 1\nepsilon = \"2 Hz\"\n"
        );
        let scenario = Scenario::parse(&file, "test.toml", &[]).unwrap();
        let BodySpec::Inertia(wheel) = &scenario.bodies[0].1 else {
            panic!()
        };
        let BodySpec::Driver(shaft) = &scenario.bodies[1].1 else {
            panic!()
        };
        let ElementSpec::Friction(clutch) = &scenario.elements[0].1 else {
            panic!()
        };
        let ParameterValue::Number(epsilon) = &clutch.friction.parameters[0].value else {
            panic!()
        };
        assert_eq!(epsilon.value, 2.0 * TAU);
        (wheel.velocity, shaft.motion.profiles()[0].value(0.0))
    };
    assert_eq!(velocity("\"3 Hz\""), (3.0 * TAU, 3.0 * TAU));
    assert_eq!(velocity("\"3 Hz\""), velocity("\"180 rpm\""));
    assert_eq!(velocity("\"3 1/s\""), (3.0, 3.0));
    // What slides has no turns.
    let error = fail(&BLOCK.replace("velocity = 0", "velocity = \"1 Hz\""), &[]);
    assert!(error.to_string().contains("velocity"), "{error}");
}

#[test]
fn names_in_a_misspelt_table_are_not_missed() {
    let text = BLOCK.replace("[bodies.", "[body.");
    let error = fail(&text, &[]);
    assert!(error.diagnostics[0].message.contains("`body`"), "{error}");
    assert!(error.to_string().contains("did you mean `bodies`?"), "{error}");
    assert_eq!(error.diagnostics.len(), 1, "{error}");
    // A misspelt strength is not also missing.
    let error = fail(&BLOCK.replace("kinetic = ", "kinetc = "), &[]);
    assert_eq!(error.diagnostics.len(), 1, "{error}");
    assert!(error.to_string().contains("did you mean `kinetic`?"), "{error}");
    let error = fail(&BLOCK.replace("\"90 N/m\"", "\"90,5 N/m\""), &[]);
    assert!(error.to_string().contains("write a point: \"90.5 N/m\""), "{error}");
}
