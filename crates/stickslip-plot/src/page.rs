//! Pages that show figures and what they say about claims: one HTML file that needs nothing else.

use crate::text::{Level, escape, runs};
use crate::{Figure, PlotError, Schematic, replace_file};
use std::path::Path;

/// A page: an introduction, sections with figures and claims, and a folded list of all claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Heading of the page.
    pub title: String,
    /// Paragraphs before the sections. `[words](address)` is a link, here and in every other text of a page.
    pub intro: Vec<String>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// A line at the end, such as the version of the program; empty for none.
    pub footer: String,
}

/// A part of a page: text, figures, and the claims that they are about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What the section belongs to, such as a publication; a heading stands where it changes.
    pub group: String,
    /// Heading of the section.
    pub heading: String,
    /// Paragraphs: the first stands above the figures, the others below.
    pub text: Vec<String>,
    /// Pictures with their captions.
    pub figures: Vec<(Picture, String)>,
    /// What is claimed and what was found.
    pub claims: Vec<Claim>,
}

/// What a page can show.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Data in panels.
    Figure(Figure),
    /// A rig drawn with symbols.
    Schematic(Schematic),
}

impl From<Figure> for Picture {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl From<Schematic> for Picture {
    fn from(schematic: Schematic) -> Self {
        Self::Schematic(schematic)
    }
}

/// A published statement beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The statement.
    pub claim: String,
    /// Where it is published.
    pub source: String,
    /// The numbers it is judged by.
    pub values: Vec<Value>,
    /// What to know about the outcome; empty for nothing.
    pub remark: String,
    /// Whether expectation and measurement agree.
    pub verdict: Verdict,
    /// The scenario that measures it.
    pub scenario: String,
}

/// One number of a [`Claim`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// What it is, in words.
    pub what: String,
    /// The value or range expected.
    pub expected: String,
    /// The value found.
    pub measured: String,
    /// Whether both agree.
    pub agrees: bool,
    /// Where the expectation comes from.
    pub source: String,
}

/// The outcome for a [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The statement agrees with the measurement.
    Holds,
    /// The measurement is not what it must be: the program, or the expectation, is wrong.
    Fails,
    /// The measurement is as it must be, and the statement does not agree with it.
    Contradicted,
    /// The statement cannot be put to the test, for this reason.
    NotTestable(String),
}

impl Verdict {
    fn class(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Contradicted => "contradicted",
            Self::NotTestable(_) => "open",
        }
    }

    fn badge(&self) -> String {
        let (sign, words) = match self {
            Self::Holds => ("✓", "holds"),
            Self::Fails => ("✗", "fails"),
            Self::Contradicted => ("≠", "contradicted"),
            Self::NotTestable(_) => ("?", "not testable"),
        };
        badge(self.class(), sign, words)
    }
}

fn badge(class: &str, sign: &str, words: &str) -> String {
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {words}</span>")
}

const STYLE: &str = include_str!("page.css");

/// Text with its mathematics, its links and its line breaks as HTML.
fn html(text: &str) -> String {
    text.split('\n').map(html_line).collect::<Vec<_>>().join("<br>")
}

fn html_line(text: &str) -> String {
    match link(text) {
        Some((before, words, address, after)) => format!(
            "{}<a href=\"{}\">{}</a>{}",
            styled(before),
            escape(address),
            styled(words),
            html_line(after)
        ),
        None => styled(text),
    }
}

/// The first `[words](address)` of a text, with what stands before and after it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((
        &text[..start],
        &text[start + 1..middle],
        &text[middle + 2..end],
        &text[end + 1..],
    ))
}

fn styled(text: &str) -> String {
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

/// The beginning of a document, up to its heading.
fn head(title: &str) -> String {
    let plain_title = escape(&crate::text::unstyled(title));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{plain_title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
        html(title)
    )
}

const END: &str = "</main>\n</body>\n</html>\n";

impl Page {
    /// The page as one HTML document with its figures inside.
    pub fn to_html(&self) -> String {
        let mut out = head(&self.title);
        paragraphs(&mut out, &self.intro);
        self.counts(&mut out);
        self.contents(&mut out);
        let (mut figure_number, mut claim_number) = (0, 0);
        let mut group = "";
        for (index, section) in self.sections.iter().enumerate() {
            if section.group != group {
                group = &section.group;
                out += &format!("<h2 class=\"group\">{}</h2>\n", html(group));
            }
            out += &format!(
                "<section id=\"section-{}\">\n<h2>{}</h2>\n",
                index + 1,
                html(&section.heading)
            );
            let (first, more) = section.text.split_at(section.text.len().min(1));
            paragraphs(&mut out, first);
            for (picture, caption) in &section.figures {
                figure_number += 1;
                out += &format!(
                    "<figure id=\"figure-{figure_number}\">\n{}<figcaption><b>Figure {figure_number}.</b> {}</figcaption>\n\
                     </figure>\n",
                    plot(picture),
                    html(caption)
                );
            }
            paragraphs(&mut out, more);
            for claim in &section.claims {
                claim_number += 1;
                claim.write(&mut out, claim_number);
            }
            out += "</section>\n";
        }
        self.list(&mut out);
        if !self.footer.is_empty() {
            out += &format!("<footer>{}</footer>\n", html(&self.footer));
        }
        out + END
    }

    /// Writes the page; an existing file is replaced only once the new one is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        replace_file(path.as_ref(), self.to_html().as_bytes())
    }

    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|section| &section.claims)
    }

    fn counts(&self, out: &mut String) {
        let all = self.claims().count();
        if all == 0 {
            return;
        }
        let count = |class: &str| self.claims().filter(|claim| claim.verdict.class() == class).count();
        *out += &format!(
            "<p class=\"counts\"><span>{}</span> {} {} {} {} <a href=\"#claims\">all claims</a></p>\n",
            counted(all, "claim:", "claims:"),
            badge("holds", "✓", &counted(count("holds"), "holds", "hold")),
            badge("fails", "✗", &counted(count("fails"), "fails", "fail")),
            badge("contradicted", "≠", &format!("{} contradicted", count("contradicted"))),
            badge("open", "?", &format!("{} not testable", count("open"))),
        );
    }

    fn contents(&self, out: &mut String) {
        if self.sections.len() < 2 {
            return;
        }
        *out += "<nav aria-label=\"Contents\">\n";
        let mut group = None;
        for (index, section) in self.sections.iter().enumerate() {
            if group != Some(&section.group) {
                if group.is_some() {
                    *out += "</ul></details>\n";
                }
                group = Some(&section.group);
                let name = if section.group.is_empty() {
                    "Contents"
                } else {
                    &section.group
                };
                *out += &format!("<details><summary>{}</summary><ul>\n", html(name));
            }
            *out += &format!(
                "<li><a href=\"#section-{}\">{}</a></li>\n",
                index + 1,
                html(&section.heading)
            );
        }
        *out += "</ul></details>\n</nav>\n";
    }

    /// Every claim with its verdict, folded.
    fn list(&self, out: &mut String) {
        if self.claims().next().is_none() {
            return;
        }
        *out += "<details id=\"claims\">\n<summary>All claims</summary>\n<table>\n<thead><tr><th scope=\"col\">No.</th>\
                 <th scope=\"col\">Claim</th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n";
        for (index, claim) in self.claims().enumerate() {
            let number = index + 1;
            *out += &format!(
                "<tr><td>{number}</td><td><a href=\"#claim-{number}\">{}</a></td><td>{}</td></tr>\n",
                html(&claim.claim),
                claim.verdict.badge()
            );
        }
        *out += "</tbody>\n</table>\n</details>\n";
    }
}

/// Width of the axes on a narrow screen, where panels stand below each other.
const NARROW: f64 = 290.0;
/// Wider pictures get a second form for narrow screens.
const WIDE: f64 = 400.0;

/// The picture, and where it is wide a second form that fits a narrow screen.
fn plot(picture: &Picture) -> String {
    let (wide, narrow) = match picture {
        Picture::Schematic(schematic) => (schematic.to_svg(), None),
        Picture::Figure(figure) => {
            let columns = figure.columns.clamp(1, figure.panels.len().max(1));
            let wide = figure.width * columns as f64 > WIDE;
            (figure.to_svg(), wide.then(|| figure.narrow(NARROW).to_svg()))
        }
    };
    match narrow {
        Some(narrow) => format!("<div class=\"plot wide\">{wide}</div>\n<div class=\"plot narrow\">{narrow}</div>\n"),
        None => format!("<div class=\"plot\">{wide}</div>\n"),
    }
}

impl Claim {
    /// The claim with its verdict; its numbers are folded, unless they show a disagreement.
    fn write(&self, out: &mut String, number: usize) {
        let open = match self.verdict {
            Verdict::Fails | Verdict::Contradicted => " open",
            Verdict::Holds | Verdict::NotTestable(_) => "",
        };
        *out += &format!(
            "<details class=\"claim {}\" id=\"claim-{number}\"{open}>\n<summary>{} <b>{number}.</b> {}</summary>\n",
            self.verdict.class(),
            self.verdict.badge(),
            html(&self.claim)
        );
        if let Verdict::NotTestable(reason) = &self.verdict {
            *out += &format!("<p>{}</p>\n", html(reason));
        }
        if !self.remark.is_empty() {
            *out += &format!("<p>{}</p>\n", html(&self.remark));
        }
        if !self.values.is_empty() {
            *out += "<table class=\"values\">\n<thead><tr><th scope=\"col\">Number</th><th scope=\"col\">Expected</th>\
                     <th scope=\"col\">Measured</th><th scope=\"col\">Expected by</th></tr></thead>\n<tbody>\n";
            for value in &self.values {
                value.write(out);
            }
            *out += "</tbody>\n</table>\n";
        }
        *out += &format!("<p class=\"origin\">{}", html(&self.source));
        if !self.scenario.is_empty() {
            *out += &format!("<br>Runs: <code>{}</code>", escape(&self.scenario));
        }
        *out += "</p>\n</details>\n";
    }
}

impl Value {
    fn write(&self, out: &mut String) {
        let class = if self.agrees { "" } else { " class=\"apart\"" };
        *out += &format!("<tr{class}>");
        for (column, content) in [
            ("Number", &self.what),
            ("Expected", &self.expected),
            ("Measured", &self.measured),
            ("Expected by", &self.source),
        ] {
            // On a narrow screen a row becomes a list, and each cell shows the name of its column.
            *out += &format!("<td data-label=\"{column}\"><div>{}</div></td>", html(content));
        }
        *out += "</tr>\n";
    }
}

/// A text in a little Markdown as an HTML page of the same style: headings, paragraphs, lists, tables, code between backticks,
/// emphasis between double asterisks, links.
pub fn document(title: &str, markdown: &str) -> String {
    let mut out = head(title);
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        let next_is = |lines: &mut std::iter::Peekable<std::str::Lines<'_>>, start: &str| {
            lines.peek().is_some_and(|next| next.starts_with(start))
        };
        if line.trim().is_empty() {
        } else if let Some(heading) = line.strip_prefix('#') {
            let level = 1 + heading.chars().take_while(|c| *c == '#').count();
            let words = heading.trim_start_matches('#').trim();
            out += &format!("<h{level}>{}</h{level}>\n", inline(words));
        } else if line.starts_with('|') {
            out += "<div class=\"scroll\"><table>\n";
            table_row(&mut out, line, "th");
            while next_is(&mut lines, "|") {
                if let Some(row) = lines.next()
                    && !row.starts_with("|-")
                {
                    table_row(&mut out, row, "td");
                }
            }
            out += "</table></div>\n";
        } else {
            let item = line.starts_with("- ");
            let mut text = line.trim_start_matches("- ").to_string();
            while lines
                .peek()
                .is_some_and(|next| !next.trim().is_empty() && !next.starts_with(['-', '#', '|']))
            {
                text.push(' ');
                text += lines.next().unwrap_or_default().trim();
            }
            out += &if item {
                format!("<p class=\"item\">• {}</p>\n", inline(&text))
            } else {
                format!("<p>{}</p>\n", inline(&text))
            };
        }
    }
    out + END
}

fn table_row(out: &mut String, line: &str, cell: &str) {
    *out += "<tr>";
    for content in line.trim().trim_matches('|').split('|') {
        *out += &format!("<{cell}>{}</{cell}>", inline(content.trim()));
    }
    *out += "</tr>\n";
}

/// Code, emphasis and links within a line of Markdown.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            out += &format!("<code>{}</code>", escape(part));
            continue;
        }
        for (index, part) in part.split("**").enumerate() {
            let words = linked(part);
            out += &if index % 2 == 1 {
                format!("<b>{words}</b>")
            } else {
                words
            };
        }
    }
    out
}

/// Text with its links to pages; files beside the Markdown are not beside the page, and only their names are shown.
fn linked(text: &str) -> String {
    match link(text) {
        Some((before, words, address, after)) => {
            let page = address.starts_with("http") || address.starts_with('#') || address.ends_with(".html");
            let words = if page {
                format!("<a href=\"{}\">{}</a>", escape(address), escape(words))
            } else {
                escape(words)
            };
            escape(before) + &words + &linked(after)
        }
        None => escape(text),
    }
}
