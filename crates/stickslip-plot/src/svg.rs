//! A scene as an SVG document.

use crate::Color;
use crate::scene::{Anchor, Mark, Point, Scene};
use crate::text::{Level, Run, escape, runs_width};

/// Fonts with the metrics the layout counts on, then whatever the viewer has.
const FONTS: &str = "Helvetica,Arial,'Liberation Sans','Nimbus Sans',sans-serif";

/// Texts of fewer letters (numbers of an axis) fit in any font.
const FEW_LETTERS: usize = 6;

pub(crate) fn write(scene: &Scene) -> String {
    let (width, height) = (short(scene.width), short(scene.height));
    let title = escape(&scene.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{title}\" font-family=\"{FONTS}\" fill=\"#111\">\n<title>{title}</title>\n\
         <path fill=\"#fff\" d=\"M0 0h{width}v{height}h-{width}z\"/>\n"
    );
    for mark in &scene.marks {
        write_mark(&mut out, mark);
    }
    out.push_str("</svg>\n");
    out
}

fn write_mark(out: &mut String, mark: &Mark) {
    match mark {
        Mark::Lines {
            lines,
            color,
            width,
            dash,
        } => {
            let dash = match dash {
                [] => String::new(),
                lengths => format!(
                    " stroke-dasharray=\"{}\"",
                    lengths.iter().map(|l| short(*l)).collect::<Vec<_>>().join(" ")
                ),
            };
            *out += &format!(
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash} d=\"",
                hex(*color),
                short(*width)
            );
            lines.iter().for_each(|line| path(out, line));
            out.push_str("\"/>\n");
        }
        Mark::Dots {
            centres,
            diameter,
            color,
        } => {
            // A line of no length with round ends is the shortest way to write a disc.
            *out += &format!(
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" d=\"",
                hex(*color),
                short(*diameter)
            );
            for (x, y) in centres {
                *out += &format!("M{} {}h0", short(*x), short(*y));
            }
            out.push_str("\"/>\n");
        }
        Mark::Polygons { polygons, color } => {
            *out += &format!("<path fill=\"{}\" d=\"", hex(*color));
            for polygon in polygons {
                path(out, polygon);
                out.push('z');
            }
            out.push_str("\"/>\n");
        }
        Mark::Box { rect, fill, stroke } => {
            let fill = fill.map_or("none".into(), hex);
            let stroke = stroke.map_or(String::new(), |(color, width)| {
                format!(" stroke=\"{}\" stroke-width=\"{}\"", hex(color), short(width))
            });
            *out += &format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{stroke}/>\n",
                short(rect.x),
                short(rect.y),
                short(rect.width),
                short(rect.height)
            );
        }
        Mark::Text {
            at,
            anchor,
            turned,
            size,
            runs,
            rim,
        } => {
            let (x, y) = (short(at.0), short(at.1));
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let place = if *turned {
                format!("transform=\"translate({x} {y}) rotate(-90)\"")
            } else {
                format!("x=\"{x}\" y=\"{y}\"")
            };
            let rim = if *rim {
                " stroke=\"#fff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            } else {
                ""
            };
            // Where none of the fonts is there, another takes no more room than was planned for.
            let letters: usize = runs.iter().map(|run| run.text.chars().count()).sum();
            let length = match letters {
                0..FEW_LETTERS => String::new(),
                _ => format!(
                    " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                    short(runs_width(runs, *size))
                ),
            };
            *out += &format!("<text {place}{anchor}{rim}{length} font-size=\"{}\">", short(*size));
            write_runs(out, runs, *size);
            out.push_str("</text>\n");
        }
    }
}

fn write_runs(out: &mut String, runs: &[Run], size: f64) {
    let mut drop = 0.0;
    for run in runs {
        let shift = run.level.drop() * size - drop;
        drop += shift;
        let mut attributes = String::new();
        if shift != 0.0 {
            attributes += &format!(" dy=\"{}\"", short(shift));
        }
        if run.level != Level::Base {
            attributes += &format!(" font-size=\"{}\"", short(size * run.level.scale()));
        }
        if run.italic {
            attributes += " font-style=\"italic\"";
        }
        if attributes.is_empty() {
            *out += &escape(&run.text);
        } else {
            *out += &format!("<tspan{attributes}>{}</tspan>", escape(&run.text));
        }
    }
}

fn hex(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn hundredths(value: f64) -> i64 {
    libm::round(value * 100.0) as i64
}

/// A number to two decimals, without what can be left out.
fn short(value: f64) -> String {
    short_hundredths(hundredths(value))
}

fn short_hundredths(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let (whole, part) = (n.unsigned_abs() / 100, n.unsigned_abs() % 100);
    let whole = if whole == 0 && part != 0 {
        String::new()
    } else {
        whole.to_string()
    };
    match part {
        0 => format!("{sign}{whole}"),
        part if part % 10 == 0 => format!("{sign}{whole}.{}", part / 10),
        part => format!("{sign}{whole}.{part:02}"),
    }
}

/// Relative steps are shorter than places; steps between rounded places do not add up errors.
fn path(out: &mut String, points: &[Point]) {
    let mut last = (0, 0);
    for (i, (x, y)) in points.iter().enumerate() {
        let place = (hundredths(*x), hundredths(*y));
        let step = (place.0 - last.0, place.1 - last.1);
        last = place;
        match i {
            0 => out.push('M'),
            1 => out.push('l'),
            _ if step.0 >= 0 => out.push(' '),
            _ => {}
        }
        out.push_str(&short_hundredths(step.0));
        if step.1 >= 0 {
            out.push(' ');
        }
        out.push_str(&short_hundredths(step.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let written: Vec<_> = [0.0, -0.001, 0.5, -0.25, 3.0, 12.3456].map(short).into();
        assert_eq!(written, ["0", "0", ".5", "-.25", "3", "12.35"]);
    }

    #[test]
    fn paths_are_relative() {
        let mut out = String::new();
        path(&mut out, &[(1.0, 2.0), (2.5, 1.0), (2.0, 1.0)]);
        assert_eq!(out, "M1 2l1.5-1-.5 0");
    }
}
