//! Random scenarios that are meant to be right: bodies, elements, laws, methods, chains, spheres, inclusions, linkages, scenes.

use super::node::Node;
use super::random::Random;
use stickslip::core::registry::{Family, LAWS, Law};
use stickslip::scenario::INTEGRATORS;

/// A scenario.
pub fn scenario(random: &mut Random) -> Node {
    let mut root = Node::empty();
    if random.once_in(3) {
        root.put("title", "a random scenario".into());
    }
    match random.below(20) {
        0 => chain(&mut root, random),
        1 => spheres(&mut root, random),
        2 => inclusion(&mut root, random),
        3 => equations(&mut root, random),
        4 | 5 => linkage(&mut root, random),
        6..=8 => in_space(&mut root, random),
        9 | 10 => masses(&mut root, 2 + random.below(2), random),
        11..=14 => scene(&mut root, random),
        _ => masses(&mut root, 1, random),
    }
    root
}

/// A table of these entries.
fn table<const N: usize>(entries: [(&str, Node); N]) -> Node {
    Node::Table(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_string(), value))
            .collect(),
    )
}

fn positive(low: f64, high: f64, random: &mut Random) -> Node {
    Node::number(10_f64.powf(random.between(low, high)))
}

/// From -size to size, often 0.
fn signed(size: f64, random: &mut Random) -> Node {
    if random.once_in(3) {
        Node::whole(0)
    } else {
        Node::number(random.between(-size, size))
    }
}

fn vector(length: usize, size: f64, random: &mut Random) -> Node {
    Node::List((0..length).map(|_| signed(size, random)).collect())
}

/// One number, or a list for several axes.
fn along(axes: usize, size: f64, random: &mut Random) -> Node {
    if axes == 1 {
        signed(size, random)
    } else {
        vector(axes, size, random)
    }
}

/// A formula in some variables.
fn formula(depth: usize, variables: &[&str], random: &mut Random) -> String {
    let inner = |random: &mut Random| formula(depth - 1, variables, random);
    if depth == 0 || random.once_in(5) {
        return if random.once_in(2) {
            (*random.pick(variables)).to_string()
        } else {
            format!("{:.2}", random.between(-3.0, 3.0))
        };
    }
    match random.below(9) {
        0 => format!("{} + {}", inner(random), inner(random)),
        1 => format!("({} - {})", inner(random), inner(random)),
        2 | 3 => format!("({})*({})", inner(random), inner(random)),
        4 => format!("({})/(1 + ({})^2)", inner(random), inner(random)),
        5 => format!(
            "{}({})",
            random.pick(&["sin", "cos", "tanh", "abs", "sign"]),
            inner(random)
        ),
        6 => format!("{}({}, {})", random.pick(&["min", "max"]), inner(random), inner(random)),
        7 => format!(
            "if({} < {}, {}, {})",
            inner(random),
            inner(random),
            inner(random),
            inner(random)
        ),
        _ => format!("{}({})", random.pick(&["sqrt", "ln", "exp", "tan"]), inner(random)),
    }
}

/// A function of time of about this size.
fn profile(size: f64, random: &mut Random) -> Node {
    match random.below(7) {
        0 | 1 => signed(size, random),
        2 => Node::Text(format!(
            "{:.3}*sin({:.2}*t)",
            random.between(0.0, size),
            10_f64.powf(random.between(-1.0, 3.0))
        )),
        3 => Node::Text(format!(
            "if(t < {:.4}, {:.3}, {:.3})",
            random.between(0.0, 0.1),
            random.between(-size, size),
            random.between(-size, size)
        )),
        4 => Node::Text(format!("{size:.3}*({})", formula(2, &["t"], random))),
        5 => {
            let points = 2 + random.below(3);
            let times = (0..points)
                .map(|i| Node::number(0.001 * (i * (1 + random.below(20))) as f64 + 0.0001 * i as f64))
                .collect();
            let mut node = table([
                ("times", Node::List(times)),
                (
                    "values",
                    Node::List((0..points).map(|_| signed(size, random)).collect()),
                ),
            ]);
            if random.once_in(2) {
                node.put("interpolation", (*random.pick(&["linear", "step"])).into());
            }
            if random.once_in(2) {
                node.put("after", (*random.pick(&["hold", "repeat", "zero"])).into());
            }
            node
        }
        _ => Node::Text(format!("min({size:.3}, {:.3}*t)", random.between(0.0, 100.0 * size))),
    }
}

fn profiles(axes: usize, size: f64, random: &mut Random) -> Node {
    if axes == 1 {
        profile(size, random)
    } else {
        Node::List((0..axes).map(|_| profile(size, random)).collect())
    }
}

/// Time and method. Few steps: what goes wrong goes wrong early, and thousands of runs take their time.
fn simulation(method: &str, gravity: bool, random: &mut Random) -> Node {
    let step = 10_f64.powf(random.between(-4.5, -1.5));
    let steps = 2 + random.below(60);
    let mut node = table([
        ("duration", Node::Raw(format!("{:e}", step * steps as f64))),
        ("step", Node::Raw(format!("{step:e}"))),
        ("integrator", method.into()),
    ]);
    if gravity {
        node.put(
            "gravity",
            if random.once_in(6) {
                vector(3, 10.0, random)
            } else {
                Node::Raw("[0, 0, -9.81]".to_string())
            },
        );
    }
    match method {
        "adaptive" | "stiff" if random.once_in(2) => {
            node.put("relative_tolerance", positive(-9.0, -3.0, random));
            if random.once_in(3) {
                node.put("absolute_tolerance", positive(-12.0, -5.0, random));
            }
            if random.once_in(4) {
                node.put("max_step", positive(-4.0, -1.0, random));
            }
        }
        "newmark" if random.once_in(2) => {
            node.put(
                "newmark",
                table([
                    ("beta", Node::number(random.between(0.2, 0.5))),
                    ("gamma", Node::number(random.between(0.5, 0.9))),
                ]),
            );
        }
        "trapezoidal" if random.once_in(2) => node.put("motion", (*random.pick(&["trapezoidal", "backward"])).into()),
        _ => {}
    }
    node
}

/// A method, and a law of the family that it can run.
fn method(random: &mut Random) -> &'static str {
    if random.once_in(3) {
        "implicit-euler"
    } else {
        INTEGRATORS[random.below(INTEGRATORS.len())]
    }
}

fn law(family: Family, method: &str, random: &mut Random) -> &'static Law {
    let fitting: Vec<&'static Law> = LAWS
        .iter()
        .filter(|law| law.family == family && law.integrators.contains(&method))
        .collect();
    let all: Vec<&'static Law> = LAWS.iter().filter(|law| law.family == family).collect();
    if fitting.is_empty() || random.once_in(40) {
        random.pick::<&Law>(&all)
    } else {
        random.pick::<&Law>(&fitting)
    }
}

/// Adds the parameters that a law needs, and some that it may have.
fn parameters(node: &mut Node, law: &Law, random: &mut Random) {
    let few = random.below(3);
    for parameter in law.parameters {
        if parameter.default.is_some() && few == 0 || parameter.default.is_some() && random.once_in(2) {
            continue;
        }
        let value = match parameter.name {
            "solution" => (*random.pick(&["exact", "approximate"])).into(),
            "evolution" => (*random.pick(&["log", "ratio"])).into(),
            "update" => (*random.pick(&["exact-flow", "trapezoidal", "backward"])).into(),
            "newton" => (*random.pick(&["safeguarded", "as-published"])).into(),
            "restitution" => Node::number(random.unit()),
            "exponent" | "kappa_exponent" | "eta_exponent" => Node::number(random.between(0.5, 3.0)),
            "beta" | "alpha" | "contact_time" => positive(-4.0, -2.0, random),
            "epsilon" | "penetration" => positive(-4.0, -1.0, random),
            "damping" => positive(-1.0, 3.0, random),
            "kappa" | "r" => positive(1.0, 5.0, random),
            "eta" => positive(-3.0, 1.0, random),
            _ => positive(2.0, 6.0, random),
        };
        node.put(parameter.name, value);
    }
}

/// A friction law with its steady curve; `normal` says that the limit follows a normal force that is known.
fn friction(method: &str, normal: bool, random: &mut Random) -> Node {
    let law = law(Family::Friction, method, random);
    let mut node = table([("law", law.name.into())]);
    let by_coefficient = normal || !law.steady_curve || random.once_in(5);
    let strength = if by_coefficient {
        random.between(0.05, 1.2)
    } else {
        10_f64.powf(random.between(-1.0, 2.0))
    };
    let (kinetic, holding) = if by_coefficient {
        ("mu", "mu_static")
    } else {
        ("kinetic", "static")
    };
    if law.steady_curve && !by_coefficient && random.once_in(8) {
        let speeds = Node::List(vec![Node::whole(0), Node::number(0.1), Node::number(1.0)]);
        let forces = Node::List(
            (0..3)
                .map(|_| Node::number(strength * random.between(0.5, 1.5)))
                .collect(),
        );
        let mut points = table([("speed", speeds), ("force", forces)]);
        if random.once_in(3) {
            let level = |random: &mut Random| Node::number(strength * random.between(0.5, 1.5));
            points.put("backward", Node::List((0..3).map(|_| level(random)).collect()));
        }
        node.put("table", points);
    } else {
        node.put(kinetic, Node::number(strength));
        if random.once_in(2) || !law.steady_curve {
            node.put(holding, Node::number(strength * random.between(1.0, 2.0)));
            if law.steady_curve && (law.needs_stribeck || random.once_in(2)) {
                node.put("stribeck_velocity", positive(-4.0, 0.0, random));
                if random.once_in(3) {
                    node.put("stribeck_exponent", Node::number(random.between(0.5, 3.0)));
                }
            }
        }
    }
    if random.once_in(3) {
        node.put("viscous", positive(-2.0, 1.0, random));
    }
    let per_area = law.name == "subloading" && random.once_in(4);
    if by_coefficient && !normal {
        node.put(
            if per_area { "pressure" } else { "normal_force" },
            if random.once_in(2) {
                positive(-1.0, 3.0, random)
            } else {
                profile(50.0, random)
            },
        );
    }
    parameters(&mut node, law, random);
    if per_area {
        node.put("area", positive(-4.0, 1.0, random));
    }
    if law.name == "subloading" && random.once_in(4) {
        let own = [
            "-r*ln(R)",
            "r/tan(pi*R/2)",
            "r*(1/R^2 - 1)",
            "-3e3*ln(R)",
            "r*(1 - R)",
            "r*(1 - R)^3/R",
        ];
        node.put("evolution", (*random.pick(&own)).into());
    }
    if random.once_in(8) {
        node.put("initial", (*random.pick(&["stick", "slip"])).into());
    }
    node
}

/// Makes friction stronger or weaker across a direction: a second number beside each level.
fn elliptic(friction: &mut Node, axes: usize, random: &mut Random) {
    let across = 10_f64.powf(random.between(-1.0, 1.0));
    let kinetic = ["mu", "kinetic"].into_iter().find(|key| friction.get(key).is_some());
    let Some(key) = kinetic else { return };
    let Some(level) = friction.get(key).and_then(|level| level.inline().parse::<f64>().ok()) else {
        return;
    };
    friction.put(key, Node::List(vec![Node::number(level), Node::number(level * across)]));
    friction.put("direction", vector(axes, 1.0, random));
}

fn normal(method: &str, random: &mut Random) -> Node {
    let law = law(Family::Contact, method, random);
    let mut node = table([("law", law.name.into())]);
    parameters(&mut node, law, random);
    node
}

fn entry(mut node: Node, entries: Vec<(&str, Node)>) -> Node {
    for (key, value) in entries {
        node.put(key, value);
    }
    node
}

fn pair(first: &str, second: &str) -> Node {
    Node::List(vec![first.into(), second.into()])
}

fn analysis(root: &mut Node, names: &[String], random: &mut Random) {
    if let Some(name) = names.first()
        && random.once_in(3)
    {
        let signal = Node::Text(format!(
            "{}.{}",
            random.pick(names),
            random.pick(&["force", "force", "velocity", "position"])
        ));
        let mut cycle = table([("signal", signal)]);
        if random.once_in(3) {
            cycle.put("threshold", positive(-3.0, 0.0, random));
        }
        root.put("analysis", table([("stick_slip", cycle)]));
        if random.once_in(4) {
            root.put(
                "output",
                table([(
                    "columns",
                    Node::List(vec!["t".into(), Node::Text(format!("{name}.force"))]),
                )]),
            );
        }
    }
}

/// Masses, inertias and drivers with springs, frictions, stops, actuators and gears.
fn masses(root: &mut Node, axes: usize, random: &mut Random) {
    let method = method(random);
    root.put("simulation", simulation(method, random.once_in(3), random));
    let mut bodies = Node::empty();
    let mut names = Vec::new();
    for i in 0..1 + random.below(4) {
        let name = format!("b{i}");
        let mut body = match random.below(if axes == 1 { 6 } else { 5 }) {
            0 => {
                let (key, size) = if random.once_in(2) {
                    ("position", 0.05)
                } else {
                    ("velocity", 0.5)
                };
                table([("kind", "driver".into()), (key, profiles(axes, size, random))])
            }
            5 => table([("kind", "inertia".into()), ("inertia", positive(-4.0, 1.0, random))]),
            _ => {
                let mut body = table([
                    ("kind", "mass".into()),
                    ("mass", positive(-2.0, 2.0, random)),
                    ("position", along(axes, 0.1, random)),
                ]);
                if axes == 1 && random.once_in(4) {
                    body.put("axis", Node::Raw("[0.8, 0, 0.6]".to_string()));
                }
                if random.once_in(2) {
                    body.put("force", profiles(axes, 20.0, random));
                }
                body
            }
        };
        if body.get("kind").is_some_and(|kind| kind.inline() != "\"driver\"") && random.once_in(2) {
            body.put(
                "velocity",
                if body.get("inertia").is_some() {
                    signed(1.0, random)
                } else {
                    along(axes, 1.0, random)
                },
            );
        }
        bodies.put(&name, body);
        names.push(name);
    }
    let mut elements = Node::empty();
    let mut made = Vec::new();
    for i in 0..1 + random.below(5) {
        let first = random.pick(&names).clone();
        let second = if random.once_in(2) {
            "ground".to_string()
        } else {
            random.pick(&names).clone()
        };
        if first == second {
            continue;
        }
        let ends = ("between", pair(&first, &second));
        let element = match random.below(if axes == 1 { 10 } else { 7 }) {
            0..=2 => {
                let mut spring = table([
                    ("kind", "spring".into()),
                    ends,
                    ("stiffness", positive(0.0, 5.0, random)),
                ]);
                if random.once_in(2) {
                    spring.put("damping", positive(-1.0, 2.0, random));
                }
                if random.once_in(4) {
                    spring.put("length", signed(0.1, random));
                }
                if random.once_in(5) {
                    spring.put("implicit", Node::Raw((*random.pick(&["true", "false"])).to_string()));
                }
                spring
            }
            3..=5 => {
                let mut rubbing = entry(table([("kind", "friction".into()), ends]), Vec::new());
                if let Node::Table(law) = friction(method, false, random) {
                    for (key, value) in law {
                        rubbing.put(&key, value);
                    }
                }
                if axes == 2 && random.once_in(3) {
                    elliptic(&mut rubbing, 2, random);
                }
                if !made.is_empty() && random.once_in(8) && rubbing.get("normal_force").is_some() {
                    rubbing.put(
                        "normal_force",
                        table([("element", Node::text(random.pick(&made) as &String))]),
                    );
                }
                rubbing
            }
            6 => table([
                ("kind", "actuator".into()),
                ends,
                ("value", profiles(axes, 10.0, random)),
            ]),
            7 | 8 => {
                let mut stop = table([
                    ("kind", "stop".into()),
                    ends,
                    ("upper", Node::number(random.between(0.0, 0.1))),
                ]);
                if random.once_in(2) {
                    stop.put("lower", Node::number(random.between(-0.1, 0.0)));
                }
                if random.once_in(2) {
                    stop.put("normal", normal(method, random));
                }
                stop
            }
            _ => {
                let mut gear = table([
                    ("kind", "gear".into()),
                    ends,
                    (
                        "ratio",
                        Node::List(vec![positive(-1.0, 1.0, random), positive(-1.0, 1.0, random)]),
                    ),
                ]);
                rigid(&mut gear, method, random);
                gear
            }
        };
        let mut element = if random.once_in(8) {
            own_element(&first, &second, axes, random)
        } else {
            element
        };
        if axes == 1 && element.get("ratio").is_none() && random.once_in(10) {
            element.put(
                "ratio",
                Node::List(vec![positive(-1.0, 1.0, random), signed(2.0, random)]),
            );
        }
        let name = format!("e{i}");
        elements.put(&name, element);
        made.push(name);
    }
    root.put("bodies", bodies);
    root.put("elements", elements);
    analysis(root, &made, random);
}

/// Makes a gear or a joint one that does not give, mostly where the method can.
fn rigid(element: &mut Node, method: &str, random: &mut Random) {
    let can = ["implicit-euler", "implicit-midpoint"].contains(&method);
    if if can { !random.once_in(3) } else { random.once_in(20) } {
        element.put("rigid", Node::Raw("true".to_string()));
    }
}

/// A joint of two bodies.
fn joint(first: &str, second: &str, method: &str, random: &mut Random) -> Node {
    let kind = *random.pick(&["revolute", "prismatic", "spherical", "fixed"]);
    let mut node = table([
        ("kind", "joint".into()),
        ("between", pair(first, second)),
        ("type", kind.into()),
    ]);
    if ["revolute", "prismatic"].contains(&kind) {
        node.put("axis", Node::Raw("[0, 1, 0]".to_string()));
        if random.once_in(6) {
            node.put("torque", profile(5.0, random));
        }
    }
    rigid(&mut node, method, random);
    node
}

/// A contact of a body with the ground or with another body.
fn contact(first: &str, second: &str, surface: bool, method: &str, random: &mut Random) -> Node {
    let mut node = table([
        ("kind", "contact".into()),
        ("between", pair(first, second)),
        ("normal", normal(method, random)),
    ]);
    if surface {
        let up = if random.once_in(5) {
            vector(3, 1.0, random)
        } else {
            Node::Raw("[0, 0, 1]".to_string())
        };
        let mut plane = table([("normal", up)]);
        if random.once_in(3) {
            plane.put("offset", signed(0.05, random));
        }
        node.put("surface", table([("plane", plane)]));
    }
    if !random.once_in(4) {
        let mut rubbing = friction(method, true, random);
        if random.once_in(4) {
            elliptic(&mut rubbing, 3, random);
            if random.once_in(2) {
                rubbing.put("direction_on", (*random.pick(&["first", "second"])).into());
            }
        }
        if random.once_in(4) {
            arms(&mut rubbing, random);
        }
        node.put("friction", rubbing);
    }
    node
}

/// Rigid bodies with contacts, springs and penalty joints.
fn in_space(root: &mut Node, random: &mut Random) {
    let method = method(random);
    root.put("simulation", simulation(method, true, random));
    let (mut bodies, mut elements) = (Node::empty(), Node::empty());
    let count = 1 + random.below(3);
    for i in 0..count {
        let shape = match random.below(3) {
            0 => table([("sphere", Node::number(random.between(0.02, 0.3)))]),
            1 => table([(
                "box",
                Node::List((0..3).map(|_| Node::number(random.between(0.05, 0.5))).collect()),
            )]),
            _ if random.once_in(3) => table([("point", Node::Raw("true".to_string()))]),
            _ => table([("sphere", Node::number(0.1))]),
        };
        let place = vec![
            signed(0.3, random),
            signed(0.3, random),
            Node::number(random.between(0.0, 0.4) + 0.3 * i as f64),
        ];
        let mut body = table([
            ("kind", "rigid-body".into()),
            ("mass", positive(-2.0, 2.0, random)),
            ("shape", shape),
            ("position", Node::List(place)),
        ]);
        if random.once_in(2) {
            body.put("velocity", vector(3, 2.0, random));
        }
        if random.once_in(2) {
            body.put("angular_velocity", vector(3, 10.0, random));
        }
        if random.once_in(3) {
            body.put("rotation", vector(4, 1.0, random));
        }
        if random.once_in(5) {
            body.put("force", profiles(3, 10.0, random));
        }
        if random.once_in(8) {
            body.put(
                "inertia",
                Node::List((0..3).map(|_| Node::number(random.between(0.5, 1.0))).collect()),
            );
        }
        bodies.put(&format!("r{i}"), body);
        if !random.once_in(4) {
            elements.put(
                &format!("floor{i}"),
                contact(&format!("r{i}"), "ground", true, method, random),
            );
        }
    }
    if random.once_in(4) {
        bodies.put(
            "belt",
            table([("kind", "driver".into()), ("velocity", profiles(3, 1.0, random))]),
        );
        elements.put("carry", contact("r0", "belt", true, method, random));
    }
    if count > 1 {
        let second = if random.once_in(3) { "ground" } else { "r1" };
        match random.below(4) {
            0 => elements.put("touch", contact("r0", second, second == "ground", method, random)),
            1 => {
                let mut joint = joint("r0", second, method, random);
                if random.once_in(2) {
                    joint.put("at", Node::List(vec![vector(3, 0.2, random), vector(3, 0.2, random)]));
                }
                if random.once_in(3) {
                    joint.put("friction", friction(method, false, random));
                }
                elements.put("joint", joint);
            }
            2 => {
                let mut spring = table([
                    ("kind", "spring".into()),
                    ("between", pair("r0", second)),
                    ("stiffness", positive(0.0, 4.0, random)),
                    ("length", signed(0.3, random)),
                ]);
                if random.once_in(2) {
                    spring.put("at", Node::List(vec![vector(3, 0.2, random), vector(3, 0.5, random)]));
                }
                elements.put("spring", spring);
            }
            _ => {}
        }
    }
    root.put("bodies", bodies);
    root.put("elements", elements);
}

/// Moment arms of the resistance to rolling and spinning.
fn arms(node: &mut Node, random: &mut Random) {
    if !random.once_in(3) {
        node.put("rolling", positive(-5.0, -1.0, random));
    }
    if random.once_in(2) {
        node.put("spinning", positive(-5.0, -1.0, random));
    }
}

/// A shape of a scene; some are for bodies that do not move.
fn shape(fixed: bool, random: &mut Random) -> Node {
    let number = |random: &mut Random| Node::number(random.between(0.02, 0.3));
    let round = |random: &mut Random| table([("radius", number(random)), ("length", number(random))]);
    match random.below(if fixed { 8 } else { 6 }) {
        7 => table([("mesh", "wedge.stl".into())]),
        0 => table([("sphere", number(random))]),
        1 | 2 => table([("box", Node::List((0..3).map(|_| number(random)).collect()))]),
        3 => table([("capsule", round(random))]),
        4 => table([("cylinder", round(random))]),
        5 if random.once_in(4) => table([("hull", "wedge.stl".into())]),
        5 => {
            let points = 4 + random.below(6);
            let point =
                |random: &mut Random| Node::List((0..3).map(|_| Node::number(random.between(-0.2, 0.2))).collect());
            table([("hull", Node::List((0..points).map(|_| point(random)).collect()))])
        }
        _ => {
            let mut plane = table([("normal", Node::Raw("[0, 0, 1]".to_string()))]);
            if random.once_in(3) {
                plane.put("offset", signed(0.05, random));
            }
            table([("plane", plane)])
        }
    }
}

/// One shape, or several as one.
fn shapes(fixed: bool, random: &mut Random) -> Node {
    if !random.once_in(5) {
        return shape(fixed, random);
    }
    let part = |random: &mut Random| {
        let mut part = shape(fixed, random);
        part.put("position", vector(3, 0.2, random));
        if random.once_in(2) {
            part.put("rotation", vector(4, 1.0, random));
        }
        part
    };
    Node::List((0..1 + random.below(3)).map(|_| part(random)).collect())
}

/// Bodies with shapes whose contacts the program finds.
fn scene(root: &mut Node, random: &mut Random) {
    let method = *random.pick(&["implicit-euler", "implicit-midpoint"]);
    root.put("simulation", simulation(method, true, random));
    let materials = ["rubber", "steel"];
    let surface = |random: &mut Random| {
        let mut node = table([("mu", Node::number(random.between(0.0, 1.5)))]);
        if random.once_in(3) {
            node.put("mu_static", Node::number(random.between(1.5, 2.0)));
        }
        if random.once_in(3) {
            node.put("restitution", Node::number(random.unit()));
        }
        if random.once_in(3) {
            arms(&mut node, random);
        }
        node
    };
    let mut contacts = Node::empty();
    if random.once_in(2) {
        contacts.put("between", "all".into());
    }
    if !random.once_in(5) {
        let mut rubbing = table([
            ("law", "implicit".into()),
            ("mu", Node::number(random.between(0.0, 1.5))),
        ]);
        if random.once_in(3) {
            arms(&mut rubbing, random);
        }
        contacts.put("friction", rubbing);
    }
    if random.once_in(3) {
        let restitution = Node::number(random.unit());
        contacts.put("normal", table([("law", "rigid".into()), ("restitution", restitution)]));
    }
    if random.once_in(5) {
        contacts.put("recovery_speed", Node::number(random.between(0.0, 1.0)));
    }
    let made_of = random.once_in(3);
    if made_of {
        root.put("materials", table(materials.map(|name| (name, surface(random)))));
        if random.once_in(2) {
            let mut own = surface(random);
            own.put("pair", pair("rubber", "steel"));
            contacts.put("materials", Node::List(vec![own]));
        }
    }
    let mut bodies = Node::empty();
    let mut elements = Node::empty();
    let material = |node: &mut Node, random: &mut Random| {
        if made_of && random.once_in(2) {
            node.put("material", (*random.pick(&materials)).into());
        }
    };
    let mut floor = table([
        ("kind", "fixed".into()),
        (
            "shape",
            if random.once_in(2) {
                Node::Raw("{ box = [4, 4, 0.2], position = [0, 0, -0.1] }".to_string())
            } else {
                shapes(true, random)
            },
        ),
    ]);
    if random.once_in(4) {
        floor.put("surface_velocity", vector(3, 1.0, random));
    }
    if random.once_in(5) {
        floor.put("rotation", vector(4, 1.0, random));
    }
    material(&mut floor, random);
    bodies.put("floor", floor);
    if random.once_in(4) {
        let mut plate = table([("kind", "driver".into()), ("shape", shapes(true, random))]);
        let motion = *random.pick(&["position", "velocity"]);
        plate.put(motion, profiles(3, 0.1, random));
        material(&mut plate, random);
        bodies.put("plate", plate);
    }
    let count = 1 + random.below(5);
    for i in 0..count {
        let place = vec![
            signed(0.2, random),
            signed(0.2, random),
            Node::number(random.between(0.0, 0.3) + 0.2 * i as f64),
        ];
        let mut body = table([
            ("kind", "rigid-body".into()),
            ("shape", shapes(false, random)),
            ("position", Node::List(place)),
        ]);
        let weight = if random.once_in(3) { "density" } else { "mass" };
        body.put(weight, positive(-1.0, 3.0, random));
        if random.once_in(3) {
            body.put("velocity", vector(3, 2.0, random));
        }
        if random.once_in(3) {
            body.put("angular_velocity", vector(3, 10.0, random));
        }
        if random.once_in(2) {
            body.put("rotation", vector(4, 1.0, random));
        }
        if random.once_in(5) {
            body.put("force", profiles(3, 10.0, random));
        }
        material(&mut body, random);
        bodies.put(&format!("r{i}"), body);
    }
    if random.once_in(3) {
        let mut links = Vec::new();
        for (i, name) in ["lift", "hand"].into_iter().enumerate() {
            let kind = *random.pick(&["revolute", "prismatic"]);
            let mut link = table([
                ("name", name.into()),
                ("parent", (if i == 0 { "ground" } else { "lift" }).into()),
                ("joint", Node::Text(format!("j{i}"))),
                ("type", kind.into()),
                (
                    "axis",
                    Node::Raw((*random.pick(&["[0, 0, 1]", "[0, 1, 0]", "[1, 1, 0]"])).to_string()),
                ),
                ("mass", positive(-2.0, 1.0, random)),
                ("inertia", Node::Raw("[0.01, 0.01, 0.01]".to_string())),
            ]);
            if !random.once_in(3) {
                link.put("shape", shape(false, random));
                material(&mut link, random);
            }
            links.push(link);
        }
        bodies.put("arm", table([("kind", "linkage".into()), ("links", Node::List(links))]));
        let motor = table([
            ("kind", "actuator".into()),
            ("on", "arm.j1".into()),
            ("value", profile(5.0, random)),
        ]);
        elements.put("motor", motor);
    }
    if count > 1 && random.once_in(4) {
        contacts.put("except", Node::List(vec![pair("r0", "r1")]));
    }
    if count > 1 && random.once_in(6) {
        contacts.put("between", Node::List(vec![pair("r0", "floor"), pair("r0", "r1")]));
    }
    if count > 1 && random.once_in(5) {
        elements.put("joint", joint("r0", "r1", method, random));
    }
    if random.once_in(5) {
        elements.put("named", contact("r0", "ground", true, method, random));
    }
    root.put("contacts", contacts);
    root.put("bodies", bodies);
    if matches!(&elements, Node::Table(entries) if !entries.is_empty()) {
        root.put("elements", elements);
    }
}

/// A tree of links with motors, frictions and contacts.
fn linkage(root: &mut Node, random: &mut Random) {
    let method = method(random);
    root.put("simulation", simulation(method, random.once_in(2), random));
    let count = 1 + random.below(4);
    let floating = random.once_in(5);
    let mut elements = Node::empty();
    let mut links = Vec::new();
    // Where each link begins, with all joints at 0.
    let mut places: Vec<[f64; 3]> = Vec::new();
    for i in 0..count {
        let carrier = random.below(i.max(1));
        let parent = if i == 0 {
            "ground".to_string()
        } else {
            format!("l{carrier}")
        };
        let mut place = places.get(carrier).copied().unwrap_or_default();
        let kind = if random.once_in(3) {
            *random.pick(&["prismatic", "spherical", "fixed"])
        } else {
            "revolute"
        };
        let inertia = Node::List((0..3).map(|_| Node::number(random.between(0.01, 0.02))).collect());
        let mut link = table([
            ("name", Node::Text(format!("l{i}"))),
            ("parent", Node::Text(parent)),
            ("mass", positive(-2.0, 1.0, random)),
            ("com", vector(3, 0.2, random)),
            ("inertia", inertia),
        ]);
        if i > 0 || !floating {
            link.put("joint", Node::Text(format!("j{i}")));
            link.put("type", kind.into());
            let origin = [0; 3].map(|_| {
                if random.once_in(3) {
                    0.0
                } else {
                    random.between(-0.3, 0.3)
                }
            });
            link.put("origin", Node::List(origin.map(Node::number).to_vec()));
            (0..3).for_each(|axis| place[axis] += origin[axis]);
            if ["revolute", "prismatic"].contains(&kind) {
                link.put(
                    "axis",
                    Node::Raw((*random.pick(&["[0, 0, 1]", "[0, 1, 0]", "[1, 1, 0]"])).to_string()),
                );
                if random.once_in(3) {
                    link.put("velocity", signed(3.0, random));
                }
                if random.once_in(4) {
                    link.put(
                        "limits",
                        Node::List(vec![Node::number(-random.unit()), Node::number(random.unit())]),
                    );
                }
                let on = ("on", Node::Text(format!("arm.j{i}")));
                match random.below(5) {
                    0 => elements.put(
                        &format!("motor{i}"),
                        table([("kind", "actuator".into()), on, ("value", profile(2.0, random))]),
                    ),
                    1 | 2 => {
                        let mut rubbing = table([("kind", "friction".into()), on]);
                        if let Node::Table(law) = friction(method, false, random) {
                            for (key, value) in law {
                                rubbing.put(&key, value);
                            }
                        }
                        elements.put(&format!("bearing{i}"), rubbing);
                    }
                    3 => elements.put(
                        &format!("spring{i}"),
                        table([
                            ("kind", "spring".into()),
                            on,
                            ("stiffness", positive(-1.0, 3.0, random)),
                        ]),
                    ),
                    _ => {}
                }
            }
        }
        if random.once_in(4) {
            link.put("shape", table([("sphere", Node::number(0.05))]));
            elements.put(
                &format!("floor{i}"),
                contact(&format!("arm.l{i}"), "ground", true, method, random),
            );
        }
        links.push(link);
        places.push(place);
    }
    if random.once_in(5) {
        // Closes a loop; where the joints are not at 0 it is open.
        let mut pin = joint(&format!("arm.l{}", count - 1), "ground", method, random);
        let end = Node::List(places[count - 1].map(Node::number).to_vec());
        pin.put("at", Node::List(vec![Node::Raw("[0, 0, 0]".to_string()), end]));
        elements.put("pin", pin);
    }
    let mut arm = table([("kind", "linkage".into()), ("links", Node::List(links))]);
    if floating {
        arm.put("floating", Node::Raw("true".to_string()));
    }
    root.put("bodies", table([("arm", arm)]));
    root.put("elements", elements);
}

fn chain(root: &mut Node, random: &mut Random) {
    let method = if random.once_in(8) {
        method(random)
    } else {
        "implicit-euler"
    };
    root.put("simulation", simulation(method, false, random));
    let count = if random.once_in(10) {
        5000
    } else {
        1 + random.below(200)
    };
    let mut node = table([
        ("count", Node::whole(count)),
        ("body", table([("mass", positive(-1.0, 1.0, random))])),
        ("neighbour", table([("stiffness", positive(0.0, 3.0, random))])),
        (
            "drive",
            table([
                ("stiffness", positive(-1.0, 2.0, random)),
                (*random.pick(&["velocity", "position"]), profile(0.1, random)),
            ]),
        ),
        ("friction", friction(method, false, random)),
    ]);
    if random.once_in(2) {
        node.put(
            "spread",
            table([
                ("position", Node::number(0.01)),
                ("mass", "5 %".into()),
                ("seed", Node::whole(random.below(9))),
            ]),
        );
    }
    if random.once_in(4) {
        node.put(
            "body",
            table([
                ("mass", Node::number(1.0)),
                ("position", Node::Text(formula(2, &["i", "n"], random))),
            ]),
        );
    }
    root.put("chain", node);
    if random.once_in(3) {
        root.put(
            "analysis",
            table([("slip_events", table([("smallest", positive(-5.0, -1.0, random))]))]),
        );
    }
}

fn spheres(root: &mut Node, random: &mut Random) {
    root.put("simulation", simulation("implicit-euler", true, random));
    let body = table([
        ("shape", table([("sphere", Node::number(0.1))])),
        ("mass", positive(-1.0, 1.0, random)),
        (
            "position",
            Node::List(vec![
                Node::whole(0),
                Node::whole(0),
                Node::number(random.between(0.1, 0.3)),
            ]),
        ),
        ("velocity", vector(3, 2.0, random)),
    ]);
    let mut rigid = table([("law", "rigid".into())]);
    if random.once_in(2) {
        rigid.put("restitution", Node::number(random.unit()));
    }
    let rubbing = table([("law", "implicit".into()), ("mu", Node::number(random.unit()))]);
    let plane = Node::Raw("{ plane = { normal = [0, 0, 1], offset = 0 } }".to_string());
    let mut node = table([
        ("count", Node::whole(1 + random.below(300))),
        ("body", body),
        (
            "contact",
            table([("surface", plane), ("normal", rigid), ("friction", rubbing)]),
        ),
    ]);
    if random.once_in(2) {
        node.put("spacing", Node::number(random.between(0.2, 2.0)));
    }
    if random.once_in(2) {
        node.put(
            "spread",
            table([
                ("velocity", Node::number(random.unit())),
                ("seed", Node::whole(random.below(9))),
            ]),
        );
    }
    root.put("spheres", node);
}

/// A force of equations that mostly resists, with a state now and then.
fn own_element(first: &str, second: &str, axes: usize, random: &mut Random) -> Node {
    let mut node = table([("kind", "equations".into()), ("between", pair(first, second))]);
    let state = random.once_in(2);
    let force = |x: &str, v: &str, random: &mut Random| {
        let mut known = vec![x, v, "k", "t"];
        if state {
            known.push("z");
        }
        let own = formula(2, &known, random);
        let forms = ["-k*X - 3*V", "-k*V", "-k*tanh(V)", "-max(-k, min(k, 100*V))", "-Z - V"];
        let resisting = random.pick(&forms).replace('X', x).replace('V', v);
        let resisting = resisting.replace('Z', if state { "z" } else { x });
        match random.below(4) {
            0 => own,
            1 => format!("{resisting} + 0.1*({own})"),
            _ => resisting,
        }
    };
    let texts: Vec<Node> = match axes {
        1 => vec![Node::Text(force("x", "v", random))],
        _ => ["x", "y", "z"][..axes]
            .iter()
            .map(|axis| Node::Text(force(&format!("x.{axis}"), &format!("v.{axis}"), random)))
            .collect(),
    };
    node.put("force", if axes == 1 { texts[0].clone() } else { Node::List(texts) });
    node.put("parameters", table([("k", positive(-1.0, 4.0, random))]));
    if state {
        let v = if axes == 1 { "v" } else { "v.x" };
        node.put("states", table([("z", signed(0.1, random))]));
        let rate = random.pick(&["k*V - z/0.01", "V - z", "-z^3 + V", "sin(t) - z"]);
        node.put("rates", table([("z", Node::Text(rate.replace('V', v)))]));
    }
    if axes == 1 && random.once_in(4) {
        node.put("stored", "0.5*k*x^2".into());
    }
    node
}

/// A body of equations, with friction and what else acts on its coordinates.
fn equations(root: &mut Node, random: &mut Random) {
    let method = method(random);
    root.put("simulation", simulation(method, false, random));
    let mut body = table([
        ("kind", "equations".into()),
        (
            "coordinates",
            table([("cart", signed(0.5, random)), ("swing", signed(1.0, random))]),
        ),
        (
            "parameters",
            table([
                ("M", positive(-1.0, 1.0, random)),
                ("m", positive(-1.0, 1.0, random)),
                ("l", positive(-0.5, 0.5, random)),
            ]),
        ),
        (
            "mass_matrix",
            Node::Raw("[[\"M + m\", \"m*l*cos(swing)\"], [\"m*l*cos(swing)\", \"m*l^2\"]]".to_string()),
        ),
        (
            "force",
            Node::List(vec![
                "m*l*swing_dot^2*sin(swing)".into(),
                Node::Text(format!(
                    "-m*9.8*l*sin(swing) + 0.1*({})",
                    formula(1, &["cart", "swing", "swing_dot", "t"], random)
                )),
            ]),
        ),
    ]);
    if random.once_in(2) {
        body.put("velocities", table([("cart", signed(1.0, random))]));
    }
    if random.once_in(2) {
        body.put("potential", "-m*9.8*l*cos(swing)".into());
    }
    if random.once_in(3) {
        body.put("states", table([("heat", Node::whole(0))]));
        body.put("rates", table([("heat", "swing_dot^2 - heat".into())]));
    }
    let mut elements = Node::empty();
    if random.once_in(3) {
        let frame = Node::Raw("{ bob = { position = [\"cart + l*sin(swing)\", 0, \"-l*cos(swing)\"] } }".to_string());
        body.put("frames", frame);
        if random.once_in(2) {
            elements.put("rope", own_element("crane.bob", "ground", 3, random));
        }
    }
    let mut rail = table([("kind", "friction".into()), ("on", "crane.cart".into())]);
    if let Node::Table(law) = friction(method, false, random) {
        for (key, value) in law {
            rail.put(&key, value);
        }
    }
    elements.put("rail", rail);
    if random.once_in(2) {
        elements.put("bearing", own_element("crane.swing", "ground", 1, random));
    }
    root.put("bodies", table([("crane", body)]));
    root.put("elements", elements);
    analysis(root, &["rail".to_string()], random);
}

fn inclusion(root: &mut Node, random: &mut Random) {
    let method = *random.pick(&["rk4", "euler", "implicit-euler", "adaptive", "stiff"]);
    root.put("simulation", simulation(method, false, random));
    let names = ["p", "v", "w"];
    let count = 1 + random.below(3);
    let variables = ["p", "v", "w", "M", "F", "fe", "t"];
    let known: Vec<&str> = variables
        .iter()
        .copied()
        .filter(|name| !names[count..].contains(name))
        .collect();
    let (mut states, mut equations) = (Node::empty(), Node::empty());
    for name in &names[..count] {
        states.put(name, signed(1.0, random));
        let own = formula(2, &known, random);
        let text = match random.below(6) {
            0 => format!("({own} - F*sgn({}))/M", random.pick(&names[..count])),
            1 => format!("{own} - F*sgn({})", formula(1, &known, random)),
            2 => format!("dio({}) + {own}", formula(1, &known, random)),
            3 if count > 1 => format!("{own} - F*sgn([p, v]).{}", random.pick(&["x", "y"])),
            _ => own,
        };
        equations.put(name, Node::Text(text));
    }
    let relax = table([
        (
            "sgn",
            table([
                ("stiffness", positive(1.0, 5.0, random)),
                ("beta", positive(-4.0, -1.0, random)),
            ]),
        ),
        (
            "dio",
            table([
                ("stiffness", positive(1.0, 4.0, random)),
                ("beta", Node::number(0.01)),
                ("alpha", Node::number(random.between(1e-3, 1e-2))),
            ]),
        ),
    ]);
    let node = table([
        ("states", states),
        (
            "parameters",
            table([("M", positive(-1.0, 1.0, random)), ("F", positive(-1.0, 1.0, random))]),
        ),
        ("inputs", table([("fe", profile(2.0, random))])),
        ("equations", equations),
        ("relax", relax),
        ("nonnegative", Node::List(vec!["F".into()])),
    ]);
    root.put("inclusion", node);
}
