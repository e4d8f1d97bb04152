//! Pages that show figures and what they say about claims: one HTML file that needs nothing else.

use crate::text::{Level, escape, runs};
use crate::{Figure, PlotError, replace_file};
use std::path::Path;

/// A page: an introduction, a summary of all claims, and sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Heading of the page.
    pub title: String,
    /// Paragraphs before the summary.
    pub intro: Vec<String>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// A line at the end, such as the version of the program; empty for none.
    pub footer: String,
}

/// A part of a page: text, figures, and the claims that they are about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Heading of the section.
    pub heading: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Figures with their captions.
    pub figures: Vec<(Figure, String)>,
    /// What is claimed and what was found.
    pub claims: Vec<Claim>,
}

/// A published statement beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The statement.
    pub claim: String,
    /// Where it is published.
    pub source: String,
    /// The value or behaviour it predicts; several values stand on a line each.
    pub expected: String,
    /// The value or behaviour found, on as many lines.
    pub measured: String,
    /// Whether both agree.
    pub verdict: Verdict,
    /// The scenario that measures it.
    pub scenario: String,
}

/// The outcome for a [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measurement agrees with the claim.
    Holds,
    /// The measurement contradicts the claim.
    Fails,
    /// The claim cannot be put to the test, for this reason.
    NotReproducible(String),
}

impl Verdict {
    fn class(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::NotReproducible(_) => "open",
        }
    }

    fn badge(&self) -> String {
        let (sign, words) = match self {
            Self::Holds => ("✓", "holds"),
            Self::Fails => ("✗", "fails"),
            Self::NotReproducible(_) => ("?", "not reproducible"),
        };
        let class = self.class();
        format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {words}</span>")
    }
}

const STYLE: &str = include_str!("page.css");

/// Text with its mathematics and its line breaks as HTML.
fn html(text: &str) -> String {
    text.split('\n').map(html_line).collect::<Vec<_>>().join("<br>")
}

fn html_line(text: &str) -> String {
    let mut out = String::new();
    for run in runs(text) {
        let (open, close) = match run.level {
            Level::Base => ("", ""),
            Level::Sub => ("<sub>", "</sub>"),
            Level::Super => ("<sup>", "</sup>"),
        };
        let (slant, upright) = if run.italic { ("<i>", "</i>") } else { ("", "") };
        out += &format!("{open}{slant}{}{upright}{close}", escape(&run.text));
    }
    out
}

fn paragraphs(out: &mut String, texts: &[String]) {
    for text in texts {
        *out += &format!("<p>{}</p>\n", html(text));
    }
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl Page {
    /// The page as one HTML document with its figures inside.
    pub fn to_html(&self) -> String {
        let title = html(&self.title);
        let plain_title = escape(&crate::text::unstyled(&self.title));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{plain_title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        );
        paragraphs(&mut out, &self.intro);
        self.contents(&mut out);
        self.summary(&mut out);
        let (mut figure_number, mut claim_number) = (0, 0);
        for (index, section) in self.sections.iter().enumerate() {
            out += &format!(
                "<section id=\"section-{}\">\n<h2>{}</h2>\n",
                index + 1,
                html(&section.heading)
            );
            paragraphs(&mut out, &section.text);
            for (figure, caption) in &section.figures {
                figure_number += 1;
                out += &format!(
                    "<figure id=\"figure-{figure_number}\">\n<div class=\"plot\" tabindex=\"0\">{}</div>\n\
                     <figcaption><b>Figure {figure_number}.</b> {}</figcaption>\n</figure>\n",
                    figure.to_svg(),
                    html(caption)
                );
            }
            section.claims(&mut out, &mut claim_number);
            out += "</section>\n";
        }
        if !self.footer.is_empty() {
            out += &format!("<footer>{}</footer>\n", html(&self.footer));
        }
        out += "</main>\n</body>\n</html>\n";
        out
    }

    /// Writes the page; an existing file is replaced only once the new one is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        replace_file(path.as_ref(), self.to_html().as_bytes())
    }

    fn contents(&self, out: &mut String) {
        if self.sections.len() < 2 {
            return;
        }
        *out += "<nav aria-label=\"Contents\">\n<ol>\n";
        for (index, section) in self.sections.iter().enumerate() {
            *out += &format!(
                "<li><a href=\"#section-{}\">{}</a></li>\n",
                index + 1,
                html(&section.heading)
            );
        }
        *out += "</ol>\n</nav>\n";
    }

    fn summary(&self, out: &mut String) {
        let claims: Vec<&Claim> = self.sections.iter().flat_map(|s| &s.claims).collect();
        if claims.is_empty() {
            return;
        }
        let count = |class: &str| claims.iter().filter(|c| c.verdict.class() == class).count();
        *out += &format!(
            "<section id=\"summary\">\n<h2>Summary</h2>\n<p class=\"counts\"><span>{}</span> \
             <span class=\"verdict holds\"><span aria-hidden=\"true\">✓</span> {}</span> \
             <span class=\"verdict fails\"><span aria-hidden=\"true\">✗</span> {}</span> \
             <span class=\"verdict open\"><span aria-hidden=\"true\">?</span> {} not reproducible</span></p>\n",
            counted(claims.len(), "claim:", "claims:"),
            counted(count("holds"), "holds", "hold"),
            counted(count("fails"), "fails", "fail"),
            count("open"),
        );
        *out += "<table>\n<thead><tr><th scope=\"col\">No.</th><th scope=\"col\">Claim</th>\
                 <th scope=\"col\">Expected</th><th scope=\"col\">Measured</th><th scope=\"col\">Verdict</th></tr></thead>\n\
                 <tbody>\n";
        for (index, claim) in claims.iter().enumerate() {
            let number = index + 1;
            let link = format!("<a href=\"#claim-{number}\">{}</a>", html(&claim.claim));
            let values = claim.values();
            for (line, (expected, measured)) in values.iter().enumerate() {
                // A claim with several values spans their rows.
                let whole = |column: &str, content: &str| match (line, values.len()) {
                    (0, 1) => cell(column, content, ""),
                    (0, rows) => cell(column, content, &format!(" rowspan=\"{rows}\"")),
                    _ => String::new(),
                };
                let more = if line + 1 < values.len() { " class=\"more\"" } else { "" };
                *out += &format!(
                    "<tr{more}>{}{}",
                    whole("No.", &number.to_string()),
                    whole("Claim", &link)
                );
                *out += &match &claim.verdict {
                    Verdict::NotReproducible(reason) => cell("Reason", &html(reason), " colspan=\"2\""),
                    _ => cell("Expected", &html(expected), "") + &cell("Measured", &html(measured), ""),
                };
                *out += &format!("{}</tr>\n", whole("Verdict", &claim.verdict.badge()));
            }
        }
        *out += "</tbody>\n</table>\n</section>\n";
    }
}

/// A cell of a table. On a narrow screen a row becomes a list, and each cell shows the name of its column.
fn cell(column: &str, content: &str, span: &str) -> String {
    format!("<td data-label=\"{column}\"{span}><div>{content}</div></td>")
}

impl Claim {
    /// Expected and measured values side by side; whole if their lines do not match.
    fn values(&self) -> Vec<(&str, &str)> {
        let (expected, measured): (Vec<_>, Vec<_>) = (self.expected.lines().collect(), self.measured.lines().collect());
        if expected.len() > 1 && expected.len() == measured.len() {
            expected.into_iter().zip(measured).collect()
        } else {
            vec![(&self.expected, &self.measured)]
        }
    }
}

impl Section {
    fn claims(&self, out: &mut String, number: &mut usize) {
        for claim in &self.claims {
            *number += 1;
            *out += &format!(
                "<article class=\"claim {}\" id=\"claim-{number}\">\n<h3>Claim {number}. {}</h3>\n{}\n<dl>\n",
                claim.verdict.class(),
                html(&claim.claim),
                claim.verdict.badge()
            );
            let mut row = |name: &str, value: String| {
                if !value.is_empty() {
                    *out += &format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n");
                }
            };
            match claim.values().as_slice() {
                [(expected, measured)] => {
                    row("Expected", html(expected));
                    row("Measured", html(measured));
                }
                several => {
                    let line = |(expected, measured): &(&str, &str)| {
                        let (expected, measured) = (html(expected), html(measured));
                        format!(
                            "<tr>{}{}</tr>",
                            cell("Expected", &expected, ""),
                            cell("Measured", &measured, "")
                        )
                    };
                    let lines: String = several.iter().map(line).collect();
                    row(
                        "Expected, measured",
                        format!("<table class=\"values\"><tbody>{lines}</tbody></table>"),
                    );
                }
            }
            if let Verdict::NotReproducible(reason) = &claim.verdict {
                row("Reason", html(reason));
            }
            row("Source", html(&claim.source));
            if !claim.scenario.is_empty() {
                row("Scenario", format!("<code>{}</code>", escape(&claim.scenario)));
            }
            *out += "</dl>\n</article>\n";
        }
    }
}
