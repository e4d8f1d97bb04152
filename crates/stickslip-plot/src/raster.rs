//! A scene as a PNG image, with the font of this crate.

use crate::scene::{Anchor, Mark, Point, Scene};
use crate::text::Run;
use crate::{Color, PlotError};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

const REGULAR: &[u8] = include_bytes!("../fonts/regular.ttf");
const ITALIC: &[u8] = include_bytes!("../fonts/italic.ttf");

/// Pixels of the largest image: 256 MB of memory.
const LARGEST: f64 = 64e6;

const INK: Color = Color(17, 17, 17);

pub(crate) fn png(scene: &Scene, scale: f64) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (libm::ceil(scene.width * scale), libm::ceil(scene.height * scale));
    let drawable = width >= 1.0 && height >= 1.0 && width * height <= LARGEST;
    let pixmap = drawable.then(|| Pixmap::new(width as u32, height as u32)).flatten();
    let mut canvas = Canvas {
        pixmap: pixmap.ok_or(PlotError::Size(width, height))?,
        transform: Transform::from_scale(scale as f32, scale as f32),
        regular: face(REGULAR)?,
        italic: face(ITALIC)?,
    };
    canvas.pixmap.fill(tiny_skia::Color::WHITE);
    for mark in &scene.marks {
        canvas.draw(mark);
    }
    canvas
        .pixmap
        .encode_png()
        .map_err(|error| PlotError::Encode(error.to_string()))
}

fn face(bytes: &'static [u8]) -> Result<Face<'static>, PlotError> {
    Face::parse(bytes, 0).map_err(|error| PlotError::Encode(error.to_string()))
}

struct Canvas {
    pixmap: Pixmap,
    transform: Transform,
    regular: Face<'static>,
    italic: Face<'static>,
}

fn paint(Color(red, green, blue): Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn trace(builder: &mut PathBuilder, points: &[Point]) {
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => builder.move_to(*x as f32, *y as f32),
            _ => builder.line_to(*x as f32, *y as f32),
        }
    }
}

impl Canvas {
    fn stroke(&mut self, path: Option<Path>, color: Color, width: f64, dash: &[f64]) {
        let stroke = Stroke {
            width: width as f32,
            line_join: LineJoin::Round,
            line_cap: LineCap::Butt,
            dash: StrokeDash::new(dash.iter().map(|l| *l as f32).collect(), 0.0),
            ..Stroke::default()
        };
        if let Some(path) = path {
            self.pixmap
                .stroke_path(&path, &paint(color), &stroke, self.transform, None);
        }
    }

    fn fill(&mut self, path: Option<Path>, color: Color) {
        if let Some(path) = path {
            self.pixmap
                .fill_path(&path, &paint(color), FillRule::Winding, self.transform, None);
        }
    }

    fn draw(&mut self, mark: &Mark) {
        let mut builder = PathBuilder::new();
        match mark {
            Mark::Lines {
                lines,
                color,
                width,
                dash,
            } => {
                lines.iter().for_each(|line| trace(&mut builder, line));
                self.stroke(builder.finish(), *color, *width, dash);
            }
            Mark::Dots {
                centres,
                diameter,
                color,
            } => {
                for (x, y) in centres {
                    builder.push_circle(*x as f32, *y as f32, *diameter as f32 / 2.0);
                }
                self.fill(builder.finish(), *color);
            }
            Mark::Polygons { polygons, color } => {
                for polygon in polygons {
                    trace(&mut builder, polygon);
                    builder.close();
                }
                self.fill(builder.finish(), *color);
            }
            Mark::Box { rect, fill, stroke } => {
                let rect = Rect::from_xywh(rect.x as f32, rect.y as f32, rect.width as f32, rect.height as f32);
                let path = rect.map(PathBuilder::from_rect);
                if let Some(color) = fill {
                    self.fill(path.clone(), *color);
                }
                if let Some((color, width)) = stroke {
                    self.stroke(path, *color, *width, &[]);
                }
            }
            Mark::Text {
                at,
                anchor,
                turned,
                size,
                runs,
                rim,
            } => {
                let (outline, advance) = self.outline(runs, *size);
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => advance / 2.0,
                    Anchor::End => advance,
                };
                let turn = Transform::from_rotate(if *turned { -90.0 } else { 0.0 });
                let place = turn
                    .pre_translate(-before as f32, 0.0)
                    .post_translate(at.0 as f32, at.1 as f32);
                let outline = outline.and_then(|path| path.transform(place));
                if *rim {
                    self.stroke(outline.clone(), Color::WHITE, 3.0, &[]);
                }
                self.fill(outline, INK);
            }
        }
    }

    /// The outlines of a text that starts at the origin, and its width. A character that the font lacks is shown as a box.
    fn outline(&self, runs: &[Run], size: f64) -> (Option<Path>, f64) {
        let mut path = PathBuilder::new();
        let mut x = 0.0;
        for run in runs {
            let face = if run.italic { &self.italic } else { &self.regular };
            let unit = size * run.level.scale() / f64::from(face.units_per_em());
            for c in run.text.chars() {
                let glyph = face.glyph_index(c).unwrap_or(GlyphId(0));
                let mut pen = Pen {
                    path: &mut path,
                    x: x as f32,
                    y: (run.level.drop() * size) as f32,
                    unit: unit as f32,
                };
                // A blank has no outline, which is no fault.
                let _ = face.outline_glyph(glyph, &mut pen);
                x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * unit;
            }
        }
        (path.finish(), x)
    }
}

/// Places the outline of a glyph, whose y axis points up, on the canvas.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    x: f32,
    y: f32,
    unit: f32,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.unit, self.y - y * self.unit)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::advance;

    #[test]
    fn the_layout_knows_the_widths_of_the_font() {
        let face = face(REGULAR).unwrap();
        for c in (' '..='~').chain(['−', '×', '→']) {
            let glyph = face.glyph_index(c).unwrap();
            let width = f64::from(face.glyph_hor_advance(glyph).unwrap()) / f64::from(face.units_per_em());
            assert!((advance(c) - width).abs() < 1e-3, "{c}: {} for {width}", advance(c));
        }
    }

    #[test]
    fn text_is_drawn_where_the_layout_expects_it() {
        let runs = crate::text::runs("Ht $x$ 漢");
        let scene = Scene {
            width: 200.0,
            height: 40.0,
            title: String::new(),
            marks: vec![Mark::Text {
                at: (20.0, 30.0),
                anchor: Anchor::Start,
                turned: false,
                size: 20.0,
                runs,
                rim: false,
            }],
        };
        let image = Pixmap::decode_png(&png(&scene, 2.0).unwrap()).unwrap();
        assert_eq!((image.width(), image.height()), (400, 80));
        let dark = |from: usize, to: usize| {
            let columns =
                |row: &[tiny_skia::PremultipliedColorU8]| row[from..to].iter().filter(|p| p.red() < 100).count();
            image.pixels().chunks(400).map(columns).sum::<usize>()
        };
        // "Ht x " is 0.722 + 0.278 + 0.278 + 0.5 + 0.278 sizes wide; what the font lacks is shown as a box.
        let end_of_known = 40 + (2.056 * 40.0) as usize;
        assert_eq!(dark(0, 40), 0);
        assert!(dark(40, 40 + 29) > 100, "H");
        assert!(dark(end_of_known - 31, end_of_known - 11) > 50, "x");
        assert!(dark(end_of_known, 200) > 50, "box");
        assert_eq!(dark(200, 400), 0);
    }

    #[test]
    fn both_faces_have_the_characters_of_mechanics() {
        for bytes in [REGULAR, ITALIC] {
            let face = face(bytes).unwrap();
            for c in "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ−×·±≤≥≈∞∂√°µẋẏé".chars()
            {
                assert!(face.glyph_index(c).is_some(), "{c}");
            }
        }
    }
}
