//! Rigs drawn with a few symbols: masses, springs, dampers, walls, floors, proxies, belts, arms.

use crate::scene::{Anchor, Mark, Point, Rect, Scene};
use crate::text::{runs, unstyled};
use crate::{Color, svg};

const INK: Color = Color(17, 17, 17);
const BODY: Color = Color(230, 233, 237);
const THIN: f64 = 1.1;
const THICK: f64 = 1.6;
const TEXT: f64 = 12.0;

/// A drawing of a rig. Lengths are in pixels, y points down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schematic {
    /// Plain words that say what is drawn, for those who cannot see it.
    pub title: String,
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// What is drawn, from back to front.
    pub symbols: Vec<Symbol>,
}

/// A part of a [`Schematic`].
#[derive(Clone, Debug, PartialEq)]
pub enum Symbol {
    /// A body: a box around its centre, with its name inside.
    Mass {
        /// Centre.
        at: Point,
        /// Width and height.
        size: Point,
        /// Name; empty for none.
        label: String,
    },
    /// A round body.
    Ball {
        /// Centre.
        at: Point,
        /// Radius.
        radius: f64,
        /// Name; empty for none.
        label: String,
    },
    /// A spring between two points.
    Spring {
        /// One end.
        from: Point,
        /// The other end.
        to: Point,
        /// Name; empty for none.
        label: String,
    },
    /// A damper between two points.
    Damper {
        /// One end.
        from: Point,
        /// The other end.
        to: Point,
        /// Name; empty for none.
        label: String,
    },
    /// A fixed line from one point to another, hatched on its right as one walks along it.
    Wall {
        /// Where it begins.
        from: Point,
        /// Where it ends.
        to: Point,
    },
    /// A massless body that friction or contact acts on: a small open square.
    Proxy {
        /// Centre.
        at: Point,
        /// Name, above it; empty for none.
        label: String,
    },
    /// A conveyor belt on two rollers.
    Belt {
        /// The upper left end of the belt.
        at: Point,
        /// Its length.
        length: f64,
        /// Name, within it; empty for none.
        label: String,
    },
    /// Links from joint to joint; the first joint is fixed.
    Arm {
        /// The joints, then the end.
        joints: Vec<Point>,
        /// Names of the joints, as many as wanted.
        labels: Vec<String>,
    },
    /// A velocity or a force.
    Arrow {
        /// Where it begins.
        from: Point,
        /// Where it points to.
        to: Point,
        /// Name, at its tip; empty for none.
        label: String,
    },
    /// A plain line, such as a rod without mass.
    Line {
        /// One end.
        from: Point,
        /// The other end.
        to: Point,
    },
    /// Words.
    Text {
        /// The middle of their baseline.
        at: Point,
        /// The words.
        label: String,
    },
}

impl Schematic {
    /// An empty drawing.
    pub fn new(title: impl Into<String>, width: f64, height: f64) -> Self {
        Self {
            title: title.into(),
            width,
            height,
            symbols: Vec::new(),
        }
    }

    /// The drawing with one more symbol.
    #[must_use]
    pub fn with(mut self, symbol: Symbol) -> Self {
        self.symbols.push(symbol);
        self
    }

    /// The drawing as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut marks = Vec::new();
        for symbol in &self.symbols {
            symbol.draw(&mut marks);
        }
        svg::write(&Scene {
            width: self.width,
            height: self.height,
            title: unstyled(&self.title),
            marks,
        })
    }
}

/// A frame along a line: from one point by so much along it and so much to its right.
struct Along {
    from: Point,
    along: Point,
    across: Point,
    length: f64,
}

impl Along {
    fn new(from: Point, to: Point) -> Self {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = libm::hypot(dx, dy).max(1e-9);
        let along = (dx / length, dy / length);
        Self {
            from,
            along,
            across: (-along.1, along.0),
            length,
        }
    }

    fn at(&self, along: f64, across: f64) -> Point {
        (
            self.from.0 + self.along.0 * along + self.across.0 * across,
            self.from.1 + self.along.1 * along + self.across.1 * across,
        )
    }
}

fn lines(lines: Vec<Vec<Point>>, width: f64) -> Mark {
    Mark::Lines {
        lines,
        color: INK,
        width,
        dash: &[],
    }
}

fn words(at: Point, anchor: Anchor, label: &str) -> Option<Mark> {
    (!label.is_empty()).then(|| Mark::Text {
        at,
        anchor,
        turned: false,
        size: TEXT,
        runs: runs(label),
        rim: true,
    })
}

fn circle(at: Point, radius: f64) -> Vec<Point> {
    (0..=36)
        .map(|i| {
            let angle = f64::from(i) * std::f64::consts::TAU / 36.0;
            (at.0 + radius * libm::cos(angle), at.1 + radius * libm::sin(angle))
        })
        .collect()
}

fn disc(marks: &mut Vec<Mark>, at: Point, radius: f64, fill: Color) {
    marks.push(Mark::Polygons {
        polygons: vec![circle(at, radius)],
        color: fill,
    });
    marks.push(lines(vec![circle(at, radius)], THIN));
}

fn body(marks: &mut Vec<Mark>, rect: Rect, fill: Color) {
    marks.push(Mark::Box {
        rect,
        fill: Some(fill),
        stroke: Some((INK, THIN)),
    });
}

fn hatched(marks: &mut Vec<Mark>, from: Point, to: Point) {
    let frame = Along::new(from, to);
    let count = (frame.length / 9.0) as usize;
    let stroke = |i: usize| {
        let place = (i as f64 + 0.5) * frame.length / count.max(1) as f64;
        vec![frame.at(place, 0.0), frame.at(place - 5.0, 6.0)]
    };
    marks.push(lines((0..count).map(stroke).collect(), 0.7));
    marks.push(lines(vec![vec![from, to]], THICK));
}

impl Symbol {
    fn draw(&self, marks: &mut Vec<Mark>) {
        // A name stands on the upper or the left side of a line.
        let beside = |frame: &Along, away: f64| {
            let side = if frame.across.1 > 0.0 || (frame.across.1 == 0.0 && frame.across.0 > 0.0) {
                -away
            } else {
                away
            };
            let at = frame.at(frame.length / 2.0, side);
            let upright = frame.along.0.abs() < 0.5;
            if upright { (at.0, at.1 + TEXT * 0.35) } else { at }
        };
        let anchor = |frame: &Along| {
            if frame.along.0.abs() < 0.5 {
                Anchor::End
            } else {
                Anchor::Middle
            }
        };
        match self {
            Self::Mass { at, size, label } => {
                let rect = Rect {
                    x: at.0 - size.0 / 2.0,
                    y: at.1 - size.1 / 2.0,
                    width: size.0,
                    height: size.1,
                };
                body(marks, rect, BODY);
                marks.extend(words((at.0, at.1 + TEXT * 0.35), Anchor::Middle, label));
            }
            Self::Ball { at, radius, label } => {
                disc(marks, *at, *radius, BODY);
                marks.extend(words((at.0, at.1 + TEXT * 0.35), Anchor::Middle, label));
            }
            Self::Spring { from, to, label } => {
                let frame = Along::new(*from, *to);
                let lead = (frame.length * 0.15).min(12.0);
                let turns = 6;
                let pitch = (frame.length - 2.0 * lead) / f64::from(turns);
                let mut path = vec![*from, frame.at(lead, 0.0)];
                for turn in 0..turns {
                    let start = lead + f64::from(turn) * pitch;
                    path.extend([
                        frame.at(start + 0.25 * pitch, -5.0),
                        frame.at(start + 0.75 * pitch, 5.0),
                    ]);
                }
                path.extend([frame.at(frame.length - lead, 0.0), *to]);
                marks.push(lines(vec![path], THIN));
                marks.extend(words(beside(&frame, 10.0), anchor(&frame), label));
            }
            Self::Damper { from, to, label } => {
                let frame = Along::new(*from, *to);
                let (start, end) = (frame.length * 0.35, frame.length * 0.65);
                let piston = frame.length * 0.5;
                let cup = vec![
                    frame.at(end, -6.0),
                    frame.at(start, -6.0),
                    frame.at(start, 6.0),
                    frame.at(end, 6.0),
                ];
                marks.push(lines(
                    vec![
                        vec![*from, frame.at(start, 0.0)],
                        cup,
                        vec![frame.at(piston, -4.0), frame.at(piston, 4.0)],
                        vec![frame.at(piston, 0.0), *to],
                    ],
                    THIN,
                ));
                marks.extend(words(beside(&frame, 10.0), anchor(&frame), label));
            }
            Self::Wall { from, to } => hatched(marks, *from, *to),
            Self::Proxy { at, label } => {
                let rect = Rect {
                    x: at.0 - 5.0,
                    y: at.1 - 5.0,
                    width: 10.0,
                    height: 10.0,
                };
                body(marks, rect, Color::WHITE);
                marks.extend(words((at.0, at.1 - 10.0), Anchor::Middle, label));
            }
            Self::Belt { at, length, label } => {
                let radius = 9.0;
                let (left, right) = ((at.0 + radius, at.1 + radius), (at.0 + length - radius, at.1 + radius));
                disc(marks, left, radius, BODY);
                disc(marks, right, radius, BODY);
                marks.push(lines(
                    vec![
                        vec![(left.0, at.1), (right.0, at.1)],
                        vec![(left.0, at.1 + 2.0 * radius), (right.0, at.1 + 2.0 * radius)],
                    ],
                    THICK,
                ));
                let middle = (at.0 + length / 2.0, at.1 + radius + TEXT * 0.35);
                marks.extend(words(middle, Anchor::Middle, label));
            }
            Self::Arm { joints, labels } => {
                if let Some(first) = joints.first() {
                    hatched(
                        marks,
                        (first.0 - 18.0, first.1 + 12.0),
                        (first.0 + 18.0, first.1 + 12.0),
                    );
                    marks.push(lines(
                        vec![vec![
                            (first.0 - 9.0, first.1 + 12.0),
                            *first,
                            (first.0 + 9.0, first.1 + 12.0),
                        ]],
                        THIN,
                    ));
                }
                for pair in joints.windows(2) {
                    let frame = Along::new(pair[0], pair[1]);
                    let corners = [(0.0, -5.0), (frame.length, -5.0), (frame.length, 5.0), (0.0, 5.0)];
                    let polygon: Vec<Point> = corners.iter().map(|(a, b)| frame.at(*a, *b)).collect();
                    let mut outline = polygon.clone();
                    outline.push(polygon[0]);
                    marks.push(Mark::Polygons {
                        polygons: vec![polygon],
                        color: BODY,
                    });
                    marks.push(lines(vec![outline], THIN));
                }
                let ends = joints.len().saturating_sub(1);
                for (index, joint) in joints.iter().take(ends).enumerate() {
                    disc(marks, *joint, 5.0, Color::WHITE);
                    let label = labels.get(index).map_or("", String::as_str);
                    marks.extend(words((joint.0 - 10.0, joint.1 - 9.0), Anchor::End, label));
                }
            }
            Self::Arrow { from, to, label } => {
                let frame = Along::new(*from, *to);
                let head = frame.length - 8.0;
                marks.push(lines(vec![vec![*from, frame.at(head.max(0.0), 0.0)]], THICK));
                marks.push(Mark::Polygons {
                    polygons: vec![vec![*to, frame.at(head, -3.5), frame.at(head, 3.5)]],
                    color: INK,
                });
                let (at, anchor) = if frame.along.0 > 0.5 {
                    ((to.0 + 4.0, to.1 + TEXT * 0.35), Anchor::Start)
                } else if frame.along.0 < -0.5 {
                    ((to.0 - 4.0, to.1 + TEXT * 0.35), Anchor::End)
                } else {
                    ((to.0 + 6.0, to.1 + TEXT * 0.35), Anchor::Start)
                };
                marks.extend(words(at, anchor, label));
            }
            Self::Line { from, to } => marks.push(lines(vec![vec![*from, *to]], THIN)),
            Self::Text { at, label } => marks.extend(words(*at, Anchor::Middle, label)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_drawn_and_named() {
        let name = |text: &str| text.to_string();
        let (from, to) = ((10.0, 10.0), (90.0, 10.0));
        let all = [
            Symbol::Mass {
                at: from,
                size: (20.0, 10.0),
                label: name("block"),
            },
            Symbol::Ball {
                at: from,
                radius: 9.0,
                label: name("ball"),
            },
            Symbol::Spring {
                from,
                to,
                label: name("spring"),
            },
            Symbol::Damper {
                from,
                to,
                label: name("damper"),
            },
            Symbol::Proxy {
                at: from,
                label: name("proxy"),
            },
            Symbol::Belt {
                at: from,
                length: 60.0,
                label: name("belt"),
            },
            Symbol::Arm {
                joints: vec![from, to, (90.0, 60.0)],
                labels: vec![name("shoulder"), name("elbow")],
            },
            Symbol::Arrow {
                from,
                to,
                label: name("arrow"),
            },
            Symbol::Text {
                at: from,
                label: name("words"),
            },
        ];
        let mut drawing = Schematic::new("a rig", 120.0, 80.0)
            .with(Symbol::Wall { from, to })
            .with(Symbol::Line { from, to });
        drawing.symbols.extend(all);
        let svg = drawing.to_svg();
        for word in [
            "block", "ball", "spring", "damper", "proxy", "belt", "shoulder", "elbow", "arrow", "words", "a rig",
        ] {
            assert!(svg.contains(word), "{word}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let empty = Schematic::new("", 10.0, 10.0).with(Symbol::Spring {
            from,
            to: from,
            label: String::new(),
        });
        assert!(!empty.to_svg().contains("NaN"), "a spring of no length");
    }

    #[test]
    fn hatches_lie_on_the_right_of_a_wall() {
        let mut marks = Vec::new();
        hatched(&mut marks, (0.0, 50.0), (100.0, 50.0));
        let Mark::Lines { lines, .. } = &marks[0] else { panic!() };
        // Walking to the right, with y down, the right hand is below.
        assert!(lines.iter().all(|line| line[1].1 > 50.0));
    }
}
