//! The rigs of the publications, as schematics.

use super::Drawn;
use super::bench::Bench;
use stickslip_plot::{Schematic, Symbol};

type Point = (f64, f64);

fn mass(at: Point, size: Point, label: &str) -> Symbol {
    Symbol::Mass {
        at,
        size,
        label: label.into(),
    }
}

fn spring(from: Point, to: Point, label: &str) -> Symbol {
    Symbol::Spring {
        from,
        to,
        label: label.into(),
    }
}

fn damper(from: Point, to: Point, label: &str) -> Symbol {
    Symbol::Damper {
        from,
        to,
        label: label.into(),
    }
}

fn wall(from: Point, to: Point) -> Symbol {
    Symbol::Wall { from, to }
}

fn proxy(at: Point, label: &str) -> Symbol {
    Symbol::Proxy {
        at,
        label: label.into(),
    }
}

fn arrow(from: Point, to: Point, label: &str) -> Symbol {
    Symbol::Arrow {
        from,
        to,
        label: label.into(),
    }
}

fn line(from: Point, to: Point) -> Symbol {
    Symbol::Line { from, to }
}

fn words(at: Point, label: &str) -> Symbol {
    Symbol::Text {
        at,
        label: label.into(),
    }
}

fn drawing(title: &str, size: Point, symbols: Vec<Symbol>) -> Schematic {
    Schematic {
        symbols,
        ..Schematic::new(title, size.0, size.1)
    }
}

/// The block that a spring draws over a floor: Fig 7 of the paper on model P, Fig 2 of that on the trapezoidal update, Fig 1(a) of
/// Ozaki, Hashiguchi and Chen.
fn drawn_block(title: &str, moves: &str, speed: &str, friction: &str) -> Schematic {
    drawing(
        title,
        (375.0, 120.0),
        vec![
            wall((10.0, 90.0), (365.0, 90.0)),
            mass((115.0, 70.0), (70.0, 40.0), "$M$"),
            spring((150.0, 70.0), (245.0, 70.0), "$K$"),
            mass((252.0, 70.0), (14.0, 30.0), ""),
            arrow((260.0, 70.0), (300.0, 70.0), speed),
            arrow((95.0, 36.0), (140.0, 36.0), moves),
            arrow((80.0, 79.0), (48.0, 79.0), friction),
        ],
    )
}

/// Two elements side by side from a massless proxy to a body.
fn viscoelastic(symbols: &mut Vec<Symbol>, from: Point, to: Point, upright: bool, labels: (&str, &str)) {
    let shift = |point: Point, by: f64| {
        if upright {
            (point.0 + by, point.1)
        } else {
            (point.0, point.1 + by)
        }
    };
    symbols.extend([
        line(shift(from, -12.0), shift(from, 12.0)),
        line(shift(to, -12.0), shift(to, 12.0)),
        spring(shift(from, -12.0), shift(to, -12.0), labels.0),
        damper(shift(from, 12.0), shift(to, 12.0), ""),
        words(
            if upright {
                (from.0 + 40.0, 0.5 * (from.1 + to.1) + 4.0)
            } else {
                (0.5 * (from.0 + to.0), from.1 + 34.0)
            },
            labels.1,
        ),
    ]);
}

/// Friction through a massless proxy and a viscoelastic element.
fn friction_proxy(title: &str, position: &str, place: &str) -> Schematic {
    let mut symbols = vec![
        wall((20.0, 95.0), (320.0, 95.0)),
        mass((255.0, 70.0), (80.0, 48.0), "$M$"),
        proxy((90.0, 90.0), ""),
        words((55.0, 88.0), place),
        line((90.0, 85.0), (90.0, 70.0)),
        line((90.0, 70.0), (110.0, 70.0)),
        line((200.0, 70.0), (215.0, 70.0)),
        arrow((255.0, 38.0), (290.0, 38.0), position),
    ];
    viscoelastic(&mut symbols, (110.0, 70.0), (200.0, 70.0), false, ("$K$", ""));
    drawing(title, (340.0, 115.0), symbols)
}

/// Rigs with their captions, and nothing measured.
fn rigs(schematics: Vec<(Schematic, String)>) -> Drawn {
    Drawn {
        schematics,
        ..Drawn::default()
    }
}

/// Paper on model P.
pub fn seed000(_: &mut Bench) -> Result<Drawn, String> {
    let one = drawing(
        "A block on a floor",
        (260.0, 105.0),
        vec![
            wall((20.0, 80.0), (240.0, 80.0)),
            mass((130.0, 60.0), (70.0, 40.0), "$M$"),
            arrow((165.0, 60.0), (205.0, 60.0), "$h$"),
            arrow((120.0, 28.0), (165.0, 28.0), "$v$"),
            arrow((95.0, 70.0), (60.0, 70.0), "$f$"),
        ],
    );
    let two = drawing(
        "Two bodies that rub on each other",
        (260.0, 120.0),
        vec![
            mass((120.0, 40.0), (70.0, 36.0), "$M_a$"),
            mass((130.0, 79.0), (150.0, 40.0), "$M_b$"),
            arrow((155.0, 40.0), (195.0, 40.0), "$h_a$"),
            arrow((205.0, 79.0), (235.0, 79.0), "$h_b$"),
            arrow((100.0, 12.0), (140.0, 12.0), "$v_a$"),
            arrow((100.0, 110.0), (140.0, 110.0), "$v_b$"),
        ],
    );
    Ok(rigs(vec![
        (
            one,
            "Fig 1 of the paper: a body on a fixed surface, under a load $h$ and friction $f$.".into(),
        ),
        (two, "Fig 5: two free bodies that rub on each other.".into()),
        (
            drawn_block("A block pulled by a spring", "$v$", "$V(t)$", "$f$"),
            "Fig 7: a block pulled by a spring whose end moves at $V(t)$.".into(),
        ),
    ]))
}

/// Xiong, Kikuuwe and Yamamoto.
pub fn seed001(_: &mut Bench) -> Result<Drawn, String> {
    let mut contact = vec![
        wall((40.0, 130.0), (220.0, 130.0)),
        mass((130.0, 35.0), (80.0, 34.0), "$M$"),
        line((130.0, 52.0), (130.0, 62.0)),
        line((130.0, 108.0), (130.0, 120.0)),
        proxy((130.0, 125.0), ""),
        words((162.0, 124.0), "proxy"),
        arrow((200.0, 130.0), (200.0, 60.0), "$p$"),
    ];
    viscoelastic(&mut contact, (130.0, 62.0), (130.0, 108.0), true, ("$K$", "$Kβ$"));
    let floor = drawing(
        "A body that lands on a floor and slides",
        (260.0, 125.0),
        vec![
            wall((20.0, 100.0), (240.0, 100.0)),
            mass((90.0, 45.0), (60.0, 36.0), "$M$"),
            arrow((120.0, 45.0), (175.0, 45.0), "$v_{xy}$"),
            arrow((90.0, 63.0), (90.0, 88.0), "$p_z$"),
        ],
    );
    let conveyor = drawing(
        "Two blocks, a wall and a conveyor",
        (330.0, 190.0),
        vec![
            wall((40.0, 20.0), (40.0, 160.0)),
            mass((80.0, 90.0), (70.0, 50.0), "$M_1$"),
            spring((80.0, 20.0), (80.0, 65.0), "$K_s$"),
            wall((120.0, 20.0), (45.0, 20.0)),
            mass((155.0, 110.0), (70.0, 70.0), "$M_2$"),
            Symbol::Belt {
                at: (110.0, 150.0),
                length: 200.0,
                label: "belt".into(),
            },
            arrow((280.0, 138.0), (230.0, 138.0), "$u$"),
        ],
    );
    Ok(rigs(vec![
        (
            friction_proxy("Friction through a proxy", "$p$", "proxy"),
            "Fig 2 of the paper: Coulomb friction acts on a massless proxy, which a spring and a damper join to the body (eq 9).".into(),
        ),
        (
            drawing("Contact through a proxy", (260.0, 150.0), contact),
            "Fig 4: rigid contact acts on a massless proxy (eqs 13 and 15).".into(),
        ),
        (floor, "Example 1: a body lands on a floor and slides to rest.".into()),
        (
            conveyor,
            "Fig 6, example 2: block 1 hangs on a spring between the wall and block 2, which lies on a belt that runs at $u$ towards the wall.".into(),
        ),
    ]))
}

/// Paper on the trapezoidal update.
pub fn seed002(_: &mut Bench) -> Result<Drawn, String> {
    Ok(rigs(vec![(
        drawn_block("A slider drawn by a spring", "$u_t$", "$V$", "$S f_t$"),
        "Fig 2 of the paper: a slider of mass $M$ and contact area $S$, drawn by a spring at the constant speed $V$ (eq 32).".into(),
    )]))
}

/// Ozaki, Hashiguchi and Chen.
pub fn seed003(_: &mut Bench) -> Result<Drawn, String> {
    Ok(rigs(vec![(
        drawn_block("A slider drawn by a spring", "$ū$", "$v$", "$f_t$"),
        "Fig 1(a) of the paper: a slider of mass $M$ on a fixed base, drawn by a spring of stiffness $K$ at the constant speed $v$ (eq 30).".into(),
    )]))
}

/// Paper on the modular architecture.
pub fn seed004(_: &mut Bench) -> Result<Drawn, String> {
    let sphere = drawing(
        "A sphere on a floor",
        (260.0, 130.0),
        vec![
            wall((20.0, 105.0), (240.0, 105.0)),
            Symbol::Ball {
                at: (100.0, 65.0),
                radius: 38.0,
                label: "$M$, $R$".into(),
            },
            arrow((138.0, 65.0), (190.0, 65.0), "$v_0$"),
        ],
    );
    let arm = drawing(
        "An arm with two links",
        (280.0, 190.0),
        vec![Symbol::Arm {
            joints: vec![(70.0, 150.0), (150.0, 95.0), (215.0, 35.0)],
            labels: vec!["$θ_0$".into(), "$θ_1$".into()],
        }],
    );
    Ok(rigs(vec![
        (
            friction_proxy("Friction through a massless object", "$p$", "massless"),
            "Fig 1 of the paper: friction acts on a massless object, which a spring and a damper join to the body."
                .into(),
        ),
        (
            sphere,
            "Fig 3: simulation I, a sphere that slides on a floor and begins to roll.".into(),
        ),
        (
            arm,
            "Fig 5: simulations II and III, an arm of two links with a motor and friction in each joint.".into(),
        ),
    ]))
}
