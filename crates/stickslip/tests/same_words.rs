//! What a file refuses a model in Rust refuses too, with the same words.

use stickslip::integrate::Method;
use stickslip::model::{Contact, Friction, GROUND, Gear, Joint, Link, Linkage, Model, Normal, RigidBody, Spring, Stop};
use stickslip::profile::Profile;
use stickslip::scenario::{ActuatorSpec, ElementSpec, Port, Scenario, Shape};
use stickslip::{Body, Element, Simulation};

const UP: [f64; 3] = [0.0, 0.0, 1.0];
const BALL: &str = "[bodies.ball]\nkind = \"rigid-body\"\nmass = 1\nshape = { sphere = 0.1 }\n";
const BLOCK: &str = "[bodies.block]\nkind = \"mass\"\nmass = 1\n";
const WHEEL: &str = "[bodies.wheel]\nkind = \"inertia\"\ninertia = 1\n";
const ARM: &str = "[bodies.arm]\nkind = \"linkage\"\nlinks = [\
                   { name = \"upper\", parent = \"ground\", joint = \"shoulder\", type = \"revolute\", axis = [0, 0, 1], mass = 1, com = [0.5, 0, 0] }, \
                   { name = \"hand\", parent = \"upper\", type = \"fixed\", mass = 1 }]\n";

fn ball(model: &mut Model) -> Body {
    model.rigid_body("ball", RigidBody::sphere(1.0, 0.1))
}

fn block(model: &mut Model) -> Body {
    model.mass("block", 1.0, &[0.0], &[0.0])
}

fn wheel(model: &mut Model) -> Body {
    model.inertia("wheel", 1.0)
}

fn upper() -> Link {
    Link::revolute("upper", "ground", UP)
        .joint("shoulder")
        .mass(1.0, [0.5, 0.0, 0.0])
}

fn arm(model: &mut Model) -> Body {
    let hand = Link::fixed("hand", "upper").mass(1.0, [0.0; 3]);
    model.linkage("arm", Linkage::new().link(upper()).link(hand))
}

fn plane(normal: Normal) -> Contact {
    Contact::plane(UP, 0.0, normal)
}

/// A bad system in both ways.
type Bad = (&'static str, String, fn(&mut Model));

fn linkage(links: &str, more: &str) -> String {
    format!("[bodies.arm]\nkind = \"linkage\"\n{more}links = [{links}]\n")
}

const ROD: &str = "{ name = \"rod\", parent = \"ground\", type = \"revolute\", axis = [0, 0, 1], mass = 1 ";

fn rod() -> Link {
    Link::revolute("rod", "ground", UP).mass(1.0, [0.0; 3])
}

fn rod_with(model: &mut Model, link: Link) {
    model.linkage("arm", Linkage::new().link(link));
}

fn bad_bodies() -> Vec<Bad> {
    let body = |keys: &str| format!("[bodies.top]\nkind = \"rigid-body\"\n{keys}\n");
    let link = |more: &str| linkage(&format!("{ROD}{more} }}"), "");
    vec![
        ("no mass", body("mass = 0\nshape = { sphere = 0.2 }"), |model| {
            model.rigid_body("top", RigidBody::sphere(0.0, 0.2));
        }),
        (
            "a radius below 0",
            body("mass = 2\nshape = { sphere = -0.2 }"),
            |model| {
                model.rigid_body("top", RigidBody::sphere(2.0, -0.2));
            },
        ),
        (
            "an edge of 0",
            body("mass = 2\nshape = { box = [0.1, 0, 0.3] }"),
            |model| {
                model.rigid_body("top", RigidBody::cuboid(2.0, [0.1, 0.0, 0.3]));
            },
        ),
        ("a moment of 0", body("mass = 2\ninertia = [1, 1, 0]"), |model| {
            model.rigid_body("top", RigidBody::with_inertia(2.0, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]));
        }),
        ("too large a moment", body("mass = 2\ninertia = [1, 2, 4]"), |model| {
            model.rigid_body("top", RigidBody::with_inertia(2.0, [1.0, 2.0, 4.0, 0.0, 0.0, 0.0]));
        }),
        (
            "too large a product",
            body("mass = 2\ninertia = [1, 1, 1, 2, 0, 0]"),
            |model| {
                model.rigid_body("top", RigidBody::with_inertia(2.0, [1.0, 1.0, 1.0, 2.0, 0.0, 0.0]));
            },
        ),
        (
            "no rotation",
            body("mass = 2\nshape = { sphere = 0.2 }\nrotation = [0, 0, 0, 0]"),
            |model| {
                model.rigid_body("top", RigidBody::sphere(2.0, 0.2).rotated([0.0; 4]));
            },
        ),
        (
            "a name with a space",
            "[bodies.\"a top\"]\nkind = \"rigid-body\"\nmass = 1\nshape = { sphere = 0.2 }\n".into(),
            |model| {
                model.rigid_body("a top", RigidBody::sphere(1.0, 0.2));
            },
        ),
        (
            "the name of the world",
            "[bodies.ground]\nkind = \"mass\"\nmass = 1\n".into(),
            |model| {
                model.mass("ground", 1.0, &[0.0], &[0.0]);
            },
        ),
        ("no links", linkage("", ""), |model| {
            model.linkage("arm", Linkage::new());
        }),
        (
            "a link without a direction",
            linkage(
                "{ name = \"rod\", parent = \"ground\", type = \"revolute\", axis = [0, 0, 0], mass = 1 }",
                "",
            ),
            |model| {
                rod_with(model, Link::revolute("rod", "ground", [0.0; 3]).mass(1.0, [0.0; 3]));
            },
        ),
        (
            "a link without mass",
            linkage(
                "{ name = \"rod\", parent = \"ground\", type = \"prismatic\", axis = [1, 0, 0], mass = 0 }",
                "",
            ),
            |model| {
                rod_with(model, Link::prismatic("rod", "ground", [1.0, 0.0, 0.0]));
            },
        ),
        (
            "a link of negative mass",
            linkage(
                "{ name = \"rod\", parent = \"ground\", type = \"prismatic\", axis = [1, 0, 0], mass = -3 }",
                "",
            ),
            |model| {
                rod_with(
                    model,
                    Link::prismatic("rod", "ground", [1.0, 0.0, 0.0]).mass(-3.0, [0.0; 3]),
                );
            },
        ),
        ("limits the wrong way round", link(", limits = [1, -1]"), |model| {
            rod_with(model, rod().limits(1.0, -1.0))
        }),
        (
            "a start outside the limits",
            link(", position = 3, limits = [-1, 1]"),
            |model| {
                rod_with(model, rod().start(3.0, 0.0).limits(-1.0, 1.0));
            },
        ),
        ("a moment of a link below 0", link(", inertia = [1, 1, -1]"), |model| {
            rod_with(model, rod().inertia([1.0, 1.0, -1.0, 0.0, 0.0, 0.0]));
        }),
        ("a joint named as its link", link(", joint = \"rod\""), |model| {
            rod_with(model, rod().joint("rod"))
        }),
        ("a joint with a point in its name", link(", joint = \"a.b\""), |model| {
            rod_with(model, rod().joint("a.b"))
        }),
        (
            "an unknown parent",
            linkage("{ name = \"rod\", parent = \"wall\", type = \"fixed\", mass = 1 }", ""),
            |model| {
                rod_with(model, Link::fixed("rod", "wall").mass(1.0, [0.0; 3]));
            },
        ),
        (
            "its own parent",
            linkage("{ name = \"rod\", parent = \"rod\", type = \"fixed\", mass = 1 }", ""),
            |model| {
                rod_with(model, Link::fixed("rod", "rod").mass(1.0, [0.0; 3]));
            },
        ),
        (
            "a parent that comes later",
            linkage(
                &format!("{{ name = \"hand\", parent = \"rod\", type = \"fixed\", mass = 1 }}, {ROD} }}"),
                "",
            ),
            |model| {
                let hand = Link::fixed("hand", "rod").mass(1.0, [0.0; 3]);
                model.linkage("arm", Linkage::new().link(hand).link(rod()));
            },
        ),
        (
            "two roots of what floats",
            linkage(
                &format!("{ROD} }}, {{ name = \"hand\", parent = \"ground\", type = \"fixed\", mass = 1 }}"),
                "floating = true\n",
            ),
            |model| {
                let hand = Link::fixed("hand", "ground").mass(1.0, [0.0; 3]);
                model.linkage("arm", Linkage::new().link(rod()).link(hand).floating());
            },
        ),
    ]
}

fn bad_elements() -> Vec<Bad> {
    let element = |bodies: &str, keys: &str| format!("{bodies}[elements.part]\n{keys}\n");
    let rough = "surface = { plane = { normal = [0, 0, 1] } }\nnormal = { law = \"rigid\" }\n";
    let contact = |bodies: &str, keys: &str| element(bodies, &format!("kind = \"contact\"\n{keys}"));
    let on_ground = "between = [\"ball\", \"ground\"]\n";
    vec![
        (
            "a plane without a direction",
            contact(
                BALL,
                &format!("{on_ground}surface = {{ plane = {{ normal = [0, 0, 0] }} }}\nnormal = {{ law = \"rigid\" }}"),
            ),
            |model| {
                let ball = ball(model);
                model.contact("part", ball, GROUND, Contact::plane([0.0; 3], 0.0, Normal::rigid()));
            },
        ),
        (
            "a contact without a surface",
            contact(BALL, &format!("{on_ground}normal = {{ law = \"rigid\" }}")),
            |model| {
                let ball = ball(model);
                model.contact("part", ball, GROUND, Contact::spheres(Normal::rigid()));
            },
        ),
        (
            "negative restitution",
            contact(
                BALL,
                &format!(
                    "{on_ground}surface = {{ plane = {{ normal = [0, 0, 1] }} }}\nnormal = {{ law = \"rigid\", restitution = -0.5 }}"
                ),
            ),
            |model| {
                let ball = ball(model);
                model.contact("part", ball, GROUND, plane(Normal::rigid().restitution(-0.5)));
            },
        ),
        (
            "a contact with a friction in N",
            contact(
                BALL,
                &format!("{on_ground}{rough}friction = {{ law = \"implicit\", kinetic = 2 }}"),
            ),
            |model| {
                let ball = ball(model);
                model.contact(
                    "part",
                    ball,
                    GROUND,
                    plane(Normal::rigid()).friction(Friction::law("implicit", 2.0)),
                );
            },
        ),
        (
            "a negative coefficient",
            contact(
                BALL,
                &format!("{on_ground}{rough}friction = {{ law = \"implicit\", mu = -0.2 }}"),
            ),
            |model| {
                let ball = ball(model);
                let rough = plane(Normal::rigid()).friction(Friction::coefficient("implicit", -0.2));
                model.contact("part", ball, GROUND, rough);
            },
        ),
        (
            "a static coefficient below the kinetic one",
            contact(
                BALL,
                &format!("{on_ground}{rough}friction = {{ law = \"implicit\", mu = 0.5, mu_static = 0.25 }}"),
            ),
            |model| {
                let ball = ball(model);
                let rough = plane(Normal::rigid()).friction(Friction::coefficient("implicit", 0.5).holding(0.25));
                model.contact("part", ball, GROUND, rough);
            },
        ),
        (
            "an unknown law of contact",
            contact(
                BALL,
                &format!("{on_ground}surface = {{ plane = {{ normal = [0, 0, 1] }} }}\nnormal = {{ law = \"hard\" }}"),
            ),
            |model| {
                let ball = ball(model);
                model.contact("part", ball, GROUND, plane(Normal::law("hard")));
            },
        ),
        (
            "the ground that touches",
            contact(BALL, &format!("between = [\"ground\", \"ball\"]\n{rough}")),
            |model| {
                let ball = ball(model);
                model.contact("part", GROUND, ball, plane(Normal::rigid()));
            },
        ),
        (
            "a contact of a shaft",
            contact(WHEEL, &format!("between = [\"wheel\", \"ground\"]\n{rough}")),
            |model| {
                let wheel = wheel(model);
                model.contact("part", wheel, GROUND, plane(Normal::rigid()));
            },
        ),
        (
            "a stop without an end",
            element(BLOCK, "kind = \"stop\"\nbetween = [\"block\", \"ground\"]"),
            |model| {
                let block = block(model);
                let stop = stickslip::scenario::StopSpec {
                    between: [block.into(), Port::Ground],
                    lower: None,
                    upper: None,
                    normal: None,
                    ratio: None,
                };
                model.element("part", ElementSpec::Stop(stop));
            },
        ),
        (
            "stops the wrong way round",
            element(
                BLOCK,
                "kind = \"stop\"\nbetween = [\"block\", \"ground\"]\nlower = 2\nupper = 1",
            ),
            |model| {
                let block = block(model);
                model.stop("part", block, GROUND, Stop::between(2.0, 1.0));
            },
        ),
        (
            "a stop of a body in space",
            element(BALL, &format!("kind = \"stop\"\n{on_ground}upper = 1")),
            |model| {
                let ball = ball(model);
                model.stop("part", ball, GROUND, Stop::upper(1.0));
            },
        ),
        (
            "a gear with a 0",
            element(
                &format!("{WHEEL}{BLOCK}"),
                "kind = \"gear\"\nbetween = [\"wheel\", \"block\"]\nratio = [1, 0]",
            ),
            |model| {
                let (wheel, block) = (wheel(model), block(model));
                model.gear("part", wheel, block, Gear::new([1.0, 0.0]));
            },
        ),
        (
            "a gear of no stiffness",
            element(
                &format!("{WHEEL}{BLOCK}"),
                "kind = \"gear\"\nbetween = [\"wheel\", \"block\"]\nratio = [1, 2]\nstiffness = 0\ndamping = 1",
            ),
            |model| {
                let (wheel, block) = (wheel(model), block(model));
                model.gear("part", wheel, block, Gear::new([1.0, 2.0]).stiffness(0.0, 1.0));
            },
        ),
        (
            "a gear of a body in space",
            element(
                &format!("{WHEEL}{BALL}"),
                "kind = \"gear\"\nbetween = [\"wheel\", \"ball\"]\nratio = [1, 2]",
            ),
            |model| {
                let (wheel, ball) = (wheel(model), ball(model));
                model.gear("part", wheel, ball, Gear::new([1.0, 2.0]));
            },
        ),
        (
            "a joint without a direction",
            element(
                BALL,
                &format!("kind = \"joint\"\n{on_ground}type = \"revolute\"\naxis = [0, 0, 0]"),
            ),
            |model| {
                let ball = ball(model);
                model.joint("part", ball, GROUND, Joint::revolute([0.0; 3]));
            },
        ),
        (
            "a joint of a mass",
            element(
                BLOCK,
                "kind = \"joint\"\nbetween = [\"block\", \"ground\"]\ntype = \"spherical\"",
            ),
            |model| {
                let block = block(model);
                model.joint("part", block, GROUND, Joint::spherical());
            },
        ),
        (
            "a fixed joint that rubs",
            element(
                BALL,
                &format!(
                    "kind = \"joint\"\n{on_ground}type = \"fixed\"\nfriction = {{ law = \"lugre\", kinetic = 1, stiffness = 100 }}"
                ),
            ),
            |model| {
                let ball = ball(model);
                let rubbing = Friction::law("lugre", 1.0).parameter("stiffness", 100.0);
                model.joint("part", ball, GROUND, Joint::fixed().friction(rubbing));
            },
        ),
        (
            "a joint with a coefficient",
            element(
                BALL,
                &format!(
                    "kind = \"joint\"\n{on_ground}type = \"spherical\"\nfriction = {{ law = \"lugre\", mu = 0.5, stiffness = 100 }}"
                ),
            ),
            |model| {
                let ball = ball(model);
                let rubbing = Friction::coefficient("lugre", 0.5).parameter("stiffness", 100.0);
                model.joint("part", ball, GROUND, Joint::spherical().friction(rubbing));
            },
        ),
        (
            "a joint of negative stiffness",
            element(
                BALL,
                &format!("kind = \"joint\"\n{on_ground}type = \"spherical\"\nstiffness = -1\ndamping = 1"),
            ),
            |model| {
                let ball = ball(model);
                model.joint("part", ball, GROUND, Joint::spherical().stiffness(-1.0, 1.0));
            },
        ),
        (
            "friction of a rigid body",
            element(
                BALL,
                &format!("kind = \"friction\"\n{on_ground}law = \"implicit\"\nkinetic = 1"),
            ),
            |model| {
                let ball = ball(model);
                model.friction("part", ball, GROUND, Friction::law("implicit", 1.0));
            },
        ),
        (
            "friction between a line and a shaft",
            element(
                &format!("{BLOCK}{WHEEL}"),
                "kind = \"friction\"\nbetween = [\"block\", \"wheel\"]\nlaw = \"implicit\"\nkinetic = 1",
            ),
            |model| {
                let (block, wheel) = (block(model), wheel(model));
                model.friction("part", block, wheel, Friction::law("implicit", 1.0));
            },
        ),
        (
            "a coefficient without a normal force",
            element(
                BLOCK,
                "kind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"implicit\"\nmu = 0.5",
            ),
            |model| {
                let block = block(model);
                model.friction("part", block, GROUND, Friction::coefficient("implicit", 0.5));
            },
        ),
        (
            "a linkage as a whole",
            element(ARM, "kind = \"spring\"\nbetween = [\"arm\", \"ground\"]\nstiffness = 1"),
            |model| {
                let arm = arm(model);
                model.spring("part", arm, GROUND, 1.0, 0.0);
            },
        ),
        (
            "a joint that does not move",
            element(
                ARM,
                "kind = \"spring\"\nbetween = [\"arm.hand_joint\", \"ground\"]\nstiffness = 1",
            ),
            |model| {
                let arm = arm(model);
                let port = model.joint_port(arm, "hand_joint");
                model.spring("part", port, GROUND, 1.0, 0.0);
            },
        ),
        (
            "a spring with length and preload",
            element(
                BLOCK,
                "kind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1\nlength = 1\npreload = 1",
            ),
            |model| {
                let block = block(model);
                model.spring_with("part", block, GROUND, Spring::new(1.0, 0.0).length(1.0).preload(1.0));
            },
        ),
        (
            "a spring of negative length in space",
            element(
                BALL,
                &format!("kind = \"spring\"\n{on_ground}stiffness = 1\nlength = -1"),
            ),
            |model| {
                let ball = ball(model);
                model.spring_with("part", ball, GROUND, Spring::new(1.0, 0.0).length(-1.0));
            },
        ),
        (
            "points of a spring along a line",
            element(
                BLOCK,
                "kind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1\nat = [[1, 0, 0], [0, 0, 0]]",
            ),
            |model| {
                let block = block(model);
                model.spring_with(
                    "part",
                    block,
                    GROUND,
                    Spring::new(1.0, 0.0).at([1.0, 0.0, 0.0], [0.0; 3]),
                );
            },
        ),
        (
            "a ratio in space",
            element(
                BALL,
                &format!("kind = \"spring\"\n{on_ground}stiffness = 1\nratio = [1, 2]"),
            ),
            |model| {
                let ball = ball(model);
                model.spring_with("part", ball, GROUND, Spring::new(1.0, 0.0).ratio([1.0, 2.0]));
            },
        ),
        (
            "a spring to itself",
            element(
                BLOCK,
                "kind = \"spring\"\nbetween = [\"block\", \"block\"]\nstiffness = 1",
            ),
            |model| {
                let block = block(model);
                model.spring("part", block, block, 1.0, 0.0);
            },
        ),
        (
            "an actuator with too many axes",
            element(
                BLOCK,
                "kind = \"actuator\"\nbetween = [\"block\", \"ground\"]\nvalue = [1, 2]",
            ),
            |model| {
                let block = block(model);
                let actuator = ActuatorSpec {
                    between: [block.into(), Port::Ground],
                    value: vec![Profile::Constant(1.0), Profile::Constant(2.0)],
                    ratio: None,
                };
                model.element("part", ElementSpec::Actuator(actuator));
            },
        ),
        (
            "the name of a body",
            format!("{BLOCK}[elements.block]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1\n"),
            |model| {
                let block = block(model);
                model.spring("block", block, GROUND, 1.0, 0.0);
            },
        ),
        (
            "a name with a point",
            format!("{BLOCK}[elements.\"a.b\"]\nkind = \"spring\"\nbetween = [\"block\", \"ground\"]\nstiffness = 1\n"),
            |model| {
                let block = block(model);
                model.spring("a.b", block, GROUND, 1.0, 0.0);
            },
        ),
    ]
}

#[test]
fn a_model_is_refused_with_the_words_of_the_file() {
    let mut wrong = Vec::new();
    for (what, text, add) in bad_bodies().into_iter().chain(bad_elements()) {
        let text = format!("[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-euler\"\n{text}");
        let mut model = Model::new(1e-3, Method::ImplicitEuler);
        add(&mut model);
        let outcomes = [
            Scenario::parse(&text, "bad.toml", &[]).and_then(Simulation::new),
            model.build(),
        ];
        let [file, rust] = outcomes.map(|outcome| match outcome {
            Ok(_) => vec!["(accepted)".to_string()],
            Err(error) => {
                let mut words: Vec<String> = error.diagnostics.into_iter().map(|fault| fault.message).collect();
                words.sort();
                words
            }
        });
        if file != rust || file == ["(accepted)"] {
            wrong.push(format!("{what}:\n  file: {file:?}\n  rust: {rust:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same systems without their fault are built, in both ways, and run alike.
#[test]
fn what_is_right_is_built_and_runs_as_the_file_does() {
    let arm = linkage(
        "{ name = \"upper\", parent = \"ground\", joint = \"shoulder\", type = \"revolute\", axis = [0, 2, 0], mass = 1, com = [0.5, 0, 0] }",
        "",
    );
    let text = format!(
        "[simulation]\nduration = 1\nstep = 1e-3\nintegrator = \"implicit-euler\"\ngravity = [0, 0, -9.8]\n{BALL}position = [0, 0, 0.1]\nvelocity = [1, 0, 0]\n\
         {arm}{BLOCK}velocity = 2\n{WHEEL}\
         [elements.floor]\nkind = \"contact\"\nbetween = [\"ball\", \"ground\"]\nsurface = {{ plane = {{ normal = [0, 0, 2] }} }}\n\
         normal = {{ law = \"rigid\", restitution = 0.5 }}\nfriction = {{ law = \"implicit\", mu = 0.25, mu_static = 0.5 }}\n\
         [elements.brake]\nkind = \"friction\"\non = \"arm.shoulder\"\nlaw = \"implicit\"\nkinetic = 2\n\
         [elements.end]\nkind = \"stop\"\nbetween = [\"block\", \"ground\"]\nlower = -1\nupper = 0.25\nnormal = {{ law = \"rigid\", restitution = 0.75 }}\n\
         [elements.teeth]\nkind = \"gear\"\nbetween = [\"wheel\", \"block\"]\nratio = [0.5, 1]\n"
    );
    let mut file = Simulation::new(Scenario::parse(&text, "good.toml", &[]).unwrap()).unwrap();

    let mut model = Model::new(1e-3, Method::ImplicitEuler);
    model.gravity([0.0, 0.0, -9.8]);
    let ball = RigidBody::sphere(1.0, 0.1).at([0.0, 0.0, 0.1]).moving([1.0, 0.0, 0.0]);
    let ball = model.rigid_body("ball", ball);
    let upper = Link::revolute("upper", "ground", [0.0, 2.0, 0.0])
        .joint("shoulder")
        .mass(1.0, [0.5, 0.0, 0.0]);
    let arm = model.linkage("arm", Linkage::new().link(upper));
    let block = model.mass("block", 1.0, &[0.0], &[2.0]);
    let wheel = wheel(&mut model);
    let floor = Contact::plane([0.0, 0.0, 2.0], 0.0, Normal::rigid().restitution(0.5));
    let floor = floor.friction(Friction::coefficient("implicit", 0.25).holding(0.5));
    let floor = model.contact("floor", ball, GROUND, floor);
    let shoulder = model.joint_port(arm, "shoulder");
    model.friction("brake", shoulder, GROUND, Friction::law("implicit", 2.0));
    let end = Stop::between(-1.0, 0.25).normal(Normal::rigid().restitution(0.75));
    model.stop("end", block, GROUND, end);
    model.gear("teeth", wheel, block, Gear::new([0.5, 1.0]));
    let mut rust = model.build().unwrap_or_else(|error| panic!("{error}"));

    file.advance(400).unwrap();
    rust.advance(400).unwrap();
    assert_eq!(file.state().values, rust.state().values);
    assert_eq!(file.force(floor), rust.force(floor));
    // The gear has shared the momentum: with ½·ω = v, m·(2 − v) = λ and J·ω = ½·λ, v is 0.4 m/s.
    assert!(
        (file.velocity(block)[0] - 0.4).abs() < 1e-2,
        "{:?}",
        file.velocity(block)
    );
    // The block reaches its stop after about 0.6 s.
    file.advance(600).unwrap();
    rust.advance(600).unwrap();
    assert_eq!(file.state().values, rust.state().values);
    assert!(file.position(block)[0] < 0.26, "{:?}", file.position(block));
}

#[test]
fn handles_of_another_model_are_refused() {
    let mut other = Model::new(1e-3, Method::ImplicitEuler);
    other.mass("first", 1.0, &[0.0], &[0.0]);
    let (foreign, arm) = (other.mass("sledge", 1.0, &[0.0], &[0.0]), arm(&mut other));

    let mut model = Model::new(1e-3, Method::ImplicitEuler);
    let block = block(&mut model);
    model.mass("second", 1.0, &[0.0], &[0.0]);
    model.spring("near", block, foreign, 1.0, 0.0); // There is a body number 1 here, of another name.
    model.joint_port(arm, "shoulder");
    let error = model.build().unwrap_err().to_string();
    assert!(
        error.contains("`elements.near.between` has a body of another model"),
        "{error}"
    );
    assert!(
        error.contains("the linkage that has `shoulder` is one of another model"),
        "{error}"
    );

    let mut model = Model::new(1e-3, Method::ImplicitEuler);
    let block = self::block(&mut model);
    let pressing = other.spring("clamp", foreign, GROUND, 1.0, 0.0);
    model.spring("near", block, GROUND, 1.0, 0.0); // An element number 0, of another name.
    let rubbing = Friction::coefficient("implicit", 0.3).pressed_by(pressing);
    model.friction("floor", block, GROUND, rubbing);
    let error = model.build().unwrap_err().to_string();
    assert!(
        error.contains("`elements.floor.normal_force` is that of an element of another model"),
        "{error}"
    );

    let mut model = Model::new(1e-3, Method::ImplicitEuler);
    let block = self::block(&mut model);
    let spring = model.spring("near", block, GROUND, 1.0, 0.0);
    let mut simulation = model.build().unwrap();
    assert_eq!(
        (simulation.position(block), simulation.force(spring)),
        (&[0.0][..], &[0.0][..])
    );
    for (body, element) in [(foreign, Element::nth(9)), (Body::nth(4), Element::nth(1))] {
        assert!(simulation.position(body).is_empty() && simulation.velocity(body).is_empty());
        assert!(simulation.force(element).is_empty() && simulation.element_state(element).is_empty());
        assert_eq!(
            (simulation.mode(element), simulation.observation(element).is_none()),
            (None, true)
        );
        assert!(!simulation.set_actuator(element, 0, 1.0));
    }
    assert!(!simulation.set_actuator(spring, 0, 1.0), "a spring is no actuator");
}

/// A link that floats and touches: shapes and inertia follow from each other as in a file.
#[test]
fn a_floating_link_falls_and_rests_on_a_plane() {
    let mut model = Model::new(1e-3, Method::ImplicitEuler);
    model.gravity([0.0, 0.0, -9.8]);
    let root = Link::fixed("root", "ground")
        .mass(2.0, [0.0; 3])
        .shape(Shape::Sphere(0.2));
    let robot = model.linkage("robot", Linkage::new().link(root).floating());
    let foot = model.link_port(robot, "root");
    let floor = model.contact("floor", foot, GROUND, Contact::plane(UP, -0.7, Normal::rigid()));
    let mut simulation = model.build().unwrap_or_else(|error| panic!("{error}"));
    simulation.advance(1000).unwrap();
    assert!(
        (simulation.position(robot)[2] + 0.5).abs() < 1e-12,
        "{:?}",
        simulation.position(robot)
    );
    assert!((simulation.force(floor)[2] - 2.0 * 9.8).abs() < 1e-9);
}
