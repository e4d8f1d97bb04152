//! Texts: a little mathematics, the widths of characters, escaping.

/// Characters that share one style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub text: String,
    pub italic: bool,
    pub level: Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Base,
    Sub,
    Super,
}

impl Level {
    /// Size relative to the base.
    pub fn scale(self) -> f64 {
        if self == Self::Base { 1.0 } else { 0.72 }
    }

    /// How far the baseline lies below the base's, relative to the size of the base.
    pub fn drop(self) -> f64 {
        match self {
            Self::Base => 0.0,
            Self::Sub => 0.22,
            Self::Super => -0.36,
        }
    }
}

const SUPERSCRIPTS: [(char, char); 13] = [
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁻', '−'),
    ('⁺', '+'),
    ('ⁿ', 'n'),
];

/// `n` as a superscript.
pub(crate) fn superscript(n: i32) -> String {
    let raised = |c: char| {
        let plain = if c == '-' { '−' } else { c };
        let found = SUPERSCRIPTS.iter().find(|(_, base)| *base == plain);
        found.map_or(c, |(raised, _)| *raised)
    };
    n.to_string().chars().map(raised).collect()
}

/// Superscript and subscript characters are set as small figures, because many fonts lack some of them.
fn plain_or_raised(c: char) -> (char, Level) {
    if let Some((_, base)) = SUPERSCRIPTS.iter().find(|(raised, _)| *raised == c) {
        return (*base, Level::Super);
    }
    match c {
        '₀'..='₉' => {
            let digit = u32::from(c) - u32::from('₀') + u32::from('0');
            (char::from_u32(digit).unwrap_or(c), Level::Sub)
        }
        // Not allowed in XML, and nothing to see anyway.
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => (' ', Level::Base),
        c => (c, Level::Base),
    }
}

fn push(runs: &mut Vec<Run>, c: char, italic: bool, level: Level) {
    match runs.last_mut() {
        Some(run) if run.italic == italic && run.level == level => run.text.push(c),
        _ => runs.push(Run {
            text: c.to_string(),
            italic,
            level,
        }),
    }
}

/// The styled parts of a text; what stands between two dollar signs is mathematics.
pub(crate) fn runs(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let Some((math, following)) = after.split_once('$') else {
            break;
        };
        plain(&mut runs, before);
        mathematics(&mut runs, math);
        rest = following;
    }
    plain(&mut runs, rest);
    runs
}

fn plain(runs: &mut Vec<Run>, text: &str) {
    for c in text.chars() {
        let (c, level) = plain_or_raised(c);
        push(runs, c, false, level);
    }
}

fn mathematics(runs: &mut Vec<Run>, text: &str) {
    let mut level = Level::Base;
    let mut grouped = false;
    for c in text.chars() {
        match c {
            '_' if !grouped => level = Level::Sub,
            '^' if !grouped => level = Level::Super,
            '{' if level != Level::Base && !grouped => grouped = true,
            '}' if grouped => {
                grouped = false;
                level = Level::Base;
            }
            _ => {
                let (c, own_level) = plain_or_raised(if c == '-' { '−' } else { c });
                let shown = if level == Level::Base { own_level } else { level };
                // Words in a group are names, not products of variables: they stay upright.
                let italic = c.is_alphabetic() && !c.is_uppercase_greek() && !grouped;
                push(runs, c, italic, shown);
                if !grouped {
                    level = Level::Base;
                }
            }
        }
    }
}

trait Greek {
    fn is_uppercase_greek(&self) -> bool;
}

impl Greek for char {
    fn is_uppercase_greek(&self) -> bool {
        ('Α'..='Ω').contains(self)
    }
}

/// The characters without their styles.
pub(crate) fn unstyled(text: &str) -> String {
    runs(text).into_iter().map(|run| run.text).collect()
}

/// Advances of the characters from U+0020 to U+007E in thousandths of the size: Helvetica, and the fonts with its
/// metrics (Arial, Liberation Sans, Nimbus Sans) that a viewer takes in its place.
const ADVANCES: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// Advance of a character relative to the size.
pub(crate) fn advance(c: char) -> f64 {
    let code = c as usize;
    match code {
        0x20..=0x7e => f64::from(ADVANCES[code - 0x20]) / 1000.0,
        0x2212 | 0xd7 => 0.584,
        // Arrows, and the square characters of East Asia.
        0x2190..=0x21ff | 0x1100..=0x11ff | 0x2e80..=0xffff => 1.0,
        _ => 0.6,
    }
}

/// Width of styled text.
pub(crate) fn runs_width(runs: &[Run], size: f64) -> f64 {
    runs.iter()
        .map(|run| run.text.chars().map(advance).sum::<f64>() * run.level.scale() * size)
        .sum()
}

/// Width of a text with its mathematics.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    runs_width(&runs(text), size)
}

/// The text in one line, or in two at the blank nearest its middle if it is longer than `limit`.
pub(crate) fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let full = width(text, size);
    let blank = text
        .match_indices(' ')
        .map(|(at, _)| at)
        .filter(|at| text[..*at].matches('$').count().is_multiple_of(2))
        .map(|at| (at, (width(&text[..at], size) - full / 2.0).abs()))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    match blank {
        Some((at, _)) if full > limit => vec![text[..at].to_string(), text[at + 1..].to_string()],
        _ if text.is_empty() => Vec::new(),
        _ => vec![text.to_string()],
    }
}

/// Text as it may stand in XML and HTML, also inside quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, italic: bool, level: Level) -> Run {
        Run {
            text: text.into(),
            italic,
            level,
        }
    }

    #[test]
    fn mathematics_between_dollar_signs() {
        assert_eq!(
            runs("force $F_t^{max}$ (m s⁻²)"),
            [
                run("force ", false, Level::Base),
                run("F", true, Level::Base),
                run("t", true, Level::Sub),
                run("max", false, Level::Super),
                run(" (m s", false, Level::Base),
                run("−2", false, Level::Super),
                run(")", false, Level::Base),
            ]
        );
    }

    #[test]
    fn names_with_underscores_and_single_dollars_stay_as_they_are() {
        assert_eq!(runs("a_b^c 5 $"), [run("a_b^c 5 $", false, Level::Base)]);
    }

    #[test]
    fn superscripts_of_integers() {
        assert_eq!(superscript(-18), "⁻¹⁸");
        assert_eq!(superscript(307), "³⁰⁷");
    }

    #[test]
    fn long_texts_break_at_a_blank_outside_mathematics() {
        assert_eq!(wrap("one two", 10.0, 20.0), ["one", "two"]);
        assert_eq!(wrap("one two", 10.0, 2000.0), ["one two"]);
        assert_eq!(wrap("$a b c$", 10.0, 1.0), ["$a b c$"]);
    }
}
