//! What a figure consists of once everything has a place: the common input of the SVG and the PNG writer.

use crate::Color;
use crate::text::Run;

pub(crate) type Point = (f64, f64);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn contains(&self, (x, y): Point) -> bool {
        x >= self.x && x <= self.x + self.width && y >= self.y && y <= self.y + self.height
    }

    pub fn moved(&self, (dx, dy): Point) -> Self {
        Self {
            x: self.x + dx,
            y: self.y + dy,
            ..*self
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

pub(crate) enum Mark {
    Lines {
        lines: Vec<Vec<Point>>,
        color: Color,
        width: f64,
        dash: &'static [f64],
    },
    Dots {
        centres: Vec<Point>,
        diameter: f64,
        color: Color,
    },
    Polygons {
        polygons: Vec<Vec<Point>>,
        color: Color,
    },
    Box {
        rect: Rect,
        fill: Option<Color>,
        stroke: Option<(Color, f64)>,
    },
    Text {
        /// Where the baseline starts, has its middle, or ends.
        at: Point,
        anchor: Anchor,
        /// Turned a quarter to the left, to be read from below to above.
        turned: bool,
        size: f64,
        runs: Vec<Run>,
        /// With a white rim, to stay legible on top of lines.
        rim: bool,
    },
}

pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// Plain text that says what the picture shows.
    pub title: String,
    pub marks: Vec<Mark>,
}
