//! From written values to the checked specification. Every slip is noted and reading goes on, so that one run shows
//! as many findings as there are; what could not be read gets a stand-in, which is never returned.

mod bodies;
mod chain;
pub(super) mod elements;
mod ends;
mod equations;
mod friction;
mod inclusion;
mod profiles;
mod shapes;
mod spheres;
mod values;

use super::diagnostic::{Diagnostic, SET_SOURCE, ScenarioError, Source, Span, list_words, nearest};
use super::keys::{self, Form, Key, Keys};
use super::rules::{self, Sign, number_fault};
use super::spec::*;
use super::tree::{self, Entry, Node, Table, Value, shorten};
use crate::profile::{Expression, TimeGrid, TimeGridError};
use crate::quantity::{Dimension, QuantityError, parse_quantity, parse_quantity_at};
use bodies::drive_joints;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use values::{describe, padded};

/// A scenario file that was read once and is checked often, each time with other values for some keys.
#[derive(Clone, Debug)]
pub struct Draft {
    root: Table,
    sources: Vec<Source>,
    directory: Option<PathBuf>,
    /// Of the `--set` arguments.
    findings: Vec<Diagnostic>,
}

impl Scenario {
    /// Reads and checks a scenario file, changed by `--set` arguments (`KEY=VALUE`).
    pub fn read(path: impl AsRef<Path>, sets: &[String]) -> Result<Self, ScenarioError> {
        Draft::read(path, sets)?.scenario()
    }

    /// Reads and checks the text of a scenario. Files it names (CSV profiles) are looked up in the current folder.
    pub fn parse(text: &str, file_name: &str, sets: &[String]) -> Result<Self, ScenarioError> {
        Draft::parse(text, file_name, sets)?.scenario()
    }
}

impl Draft {
    /// Reads a scenario file, changed by `--set` arguments (`KEY=VALUE`).
    ///
    /// # Errors
    /// If it cannot be read or is not TOML. Whether it says something sensible is found by [`Draft::scenario`].
    pub fn read(path: impl AsRef<Path>, sets: &[String]) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let refuse = |diagnostic: Diagnostic| {
            Err(ScenarioError {
                sources: vec![Source {
                    name: name.clone(),
                    text: String::new(),
                }],
                diagnostics: vec![diagnostic],
            })
        };
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(error) => return refuse(unreadable(path, &error)),
        };
        match String::from_utf8(bytes) {
            Ok(text) => Self::parse_in(path.parent(), &text, &name, sets),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
                let message = format!("the file is not UTF-8 text: line {line} holds a byte that is no character");
                refuse(
                    Diagnostic::new(message, None)
                        .help("save it as UTF-8 in your editor, or check that it is a scenario at all"),
                )
            }
        }
    }

    /// The dimension of a value as it is written: `elements.spring.stiffness` is a force per length where the file has
    /// `"90 N/m"`, and `None` where it has a plain number or an expression.
    pub fn dimension(&self, path: &str) -> Option<Dimension> {
        let mut keys = path.split('.');
        let mut node = &self.root.get(keys.next()?)?.node;
        for key in keys {
            let Value::Table(table) = &node.value else {
                return None;
            };
            node = &table.get(key)?.node;
        }
        match &node.value {
            Value::Text(text) => parse_quantity(text).ok()?.map(|(_, dimension)| dimension),
            _ => None,
        }
    }

    /// Reads the text of a scenario. Files it names (CSV profiles) are looked up in the current folder.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(text: &str, file_name: &str, sets: &[String]) -> Result<Self, ScenarioError> {
        Self::parse_in(None, text, file_name, sets)
    }

    /// As [`Draft::parse`]; files it names are looked up in this folder.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse_in(
        directory: Option<&Path>,
        text: &str,
        file_name: &str,
        sets: &[String],
    ) -> Result<Self, ScenarioError> {
        let mut sources = vec![Source {
            name: file_name.to_string(),
            text: text.to_string(),
        }];
        sources.extend(sets.iter().map(|set| Source {
            name: SET_SOURCE.to_string(),
            text: set.clone(),
        }));
        let mut root = match tree::parse(text) {
            Ok(root) => root,
            Err(diagnostics) => {
                return Err(ScenarioError { sources, diagnostics });
            }
        };
        if root.entries.is_empty() {
            let empty = Diagnostic::new("the file is empty", None)
                .help("`stickslip new block FILE.toml` writes a scenario to start from");
            return Err(ScenarioError {
                sources,
                diagnostics: vec![empty],
            });
        }
        let mut findings = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            if let Err(diagnostic) = super::set::apply(&mut root, set, index + 1) {
                findings.push(diagnostic);
            }
        }
        Ok(Draft {
            root,
            sources,
            directory: directory.map(Path::to_path_buf),
            findings,
        })
    }

    /// The texts: the file, then the `--set` arguments.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The scenario as TOML, with the values that `--set` changed: it reads back as this draft. Comments are lost.
    ///
    /// # Errors
    /// If an argument could not be applied.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        match self.findings.is_empty() {
            true => Ok(self.root.to_toml()),
            false => Err(ScenarioError {
                sources: self.sources.clone(),
                diagnostics: self.findings.clone(),
            }),
        }
    }

    /// The checked scenario.
    ///
    /// # Errors
    /// If a value is wrong.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        self.check(self.sources.clone(), self.findings.clone())
    }

    /// The checked scenario with other values for some keys, as if `--set` had named them. They stay: every call must
    /// give the same keys. `option` is what the user wrote them with, for messages.
    ///
    /// # Errors
    /// If a key does not exist or a value is wrong.
    pub fn vary(&mut self, option: &str, changes: &[(&str, String)]) -> Result<Scenario, ScenarioError> {
        let mut sources = self.sources.clone();
        let mut findings = self.findings.clone();
        for (key, value) in changes {
            let text = format!("{key}={value}");
            if let Err(diagnostic) = super::set::apply(&mut self.root, &text, sources.len()) {
                findings.push(diagnostic);
            }
            sources.push(Source {
                name: option.to_string(),
                text,
            });
        }
        self.check(sources, findings)
    }

    fn check(&self, sources: Vec<Source>, diagnostics: Vec<Diagnostic>) -> Result<Scenario, ScenarioError> {
        let reader = Reader {
            diagnostics,
            warnings: Vec::new(),
            spans: BTreeMap::new(),
            sources,
            directory: self.directory.clone(),
            columns_are_states: false,
            strays: Vec::new(),
        };
        reader.scenario(&self.root)
    }
}

/// The bytes of a scenario file, which may be a pipe; what has no end is given up.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    const LARGEST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if read as u64 > LARGEST {
        return Err(std::io::Error::other("it is larger than 64 MiB, which no scenario is"));
    }
    Ok(bytes)
}

/// Why a file cannot be read, with the nearest name in its folder.
fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let name = path.display();
    if path.is_dir() {
        return Diagnostic::new(format!("`{name}` is a folder, not a scenario file"), None)
            .help("name a file in it: FILE.toml");
    }
    if error.kind() != std::io::ErrorKind::NotFound {
        return Diagnostic::new(format!("cannot read `{name}`: {error}"), None);
    }
    let diagnostic = Diagnostic::new(format!("there is no file `{name}`"), None);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let files: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| file.ends_with(".toml"))
        .collect();
    let wanted = path.file_name().and_then(|file| file.to_str()).unwrap_or("");
    match nearest(wanted, files.iter().map(String::as_str)) {
        Some(file) => diagnostic.help(format!("did you mean `{}`?", path.with_file_name(file).display())),
        None => diagnostic.help(format!(
            "check the path; `stickslip new block {name}` writes a scenario to start from"
        )),
    }
}

/// A table being read: where it is, and which keys it may hold.
#[derive(Clone)]
pub(super) struct Section<'t> {
    path: String,
    table: &'t Table,
    span: Span,
    keys: &'static Keys,
}

impl<'t> Section<'t> {
    /// The entry of a key. Only listed keys can be read, so the list is complete.
    fn get(&self, key: &str) -> Option<&'t Entry> {
        debug_assert!(
            self.keys.get(key).is_some(),
            "`{key}` is not in the list of `{}`",
            self.keys.name
        );
        self.keys.get(key)?;
        self.table.get(key)
    }

    /// Where the value of a key stands, or its table if it is absent.
    fn span_of(&self, key: &str) -> Span {
        self.table.get(key).map_or(self.span, |entry| entry.node.span)
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_string()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// Collects findings while reading.
pub(super) struct Reader {
    diagnostics: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    spans: BTreeMap<String, Span>,
    sources: Vec<Source>,
    directory: Option<PathBuf>,
    /// Columns are states of an inclusion, not parts of bodies and elements.
    columns_are_states: bool,
    /// Names in tables that are unknown themselves: what refers to them is not wrong.
    strays: Vec<String>,
}

impl Reader {
    fn scenario(mut self, root: &Table) -> Result<Scenario, ScenarioError> {
        let start = Span {
            source: 0,
            start: 0,
            end: 0,
        };
        for entry in root.entries.iter().filter(|entry| keys::ROOT.get(&entry.key).is_none()) {
            if let Value::Table(table) = &entry.node.value {
                self.strays.extend(table.keys().map(str::to_string));
            }
        }
        let root = self.section("", root, start, &keys::ROOT);
        let title = self.text(&root, "title").unwrap_or_default();
        let other_model = ["inclusion", "chain", "spheres"]
            .iter()
            .any(|key| root.get(key).is_some());
        let simulation = match self.subsection(&root, "simulation", &keys::SIMULATION) {
            Some(section) => self.simulation(&section),
            None => stand_in_simulation(),
        };
        let mut bodies = self.bodies(&root, other_model);
        let mut elements = self.elements(&root, &bodies, &simulation);
        self.contacts(&root, &bodies, &simulation, &mut elements);
        drive_joints(&mut bodies, &mut elements, &simulation);
        let inclusion = self.inclusion(&root, &title);
        let chain = self.chain(&root, &mut bodies);
        let spheres = self.spheres(&root);
        let states = inclusion.iter().flat_map(|inclusion| inclusion.states());
        let names: Vec<&str> = bodies
            .iter()
            .map(|body| body.name.as_str())
            .chain(elements.iter().map(|(name, _)| name.as_str()))
            .chain(states.map(String::as_str))
            .chain(chain.iter().map(|_| "chain"))
            .chain(spheres.iter().map(|_| "spheres"))
            .collect();
        let columns = self.columns(&root, &names);
        let output = self.subsection(&root, "output", &keys::OUTPUT);
        let contact_rows = output
            .and_then(|section| self.flag(&section, "contacts"))
            .unwrap_or(false);
        let analysis = self.subsection(&root, "analysis", &keys::ANALYSIS);
        let stick_slip =
            (analysis.as_ref()).and_then(|section| self.stick_slip(section, &names, &elements, &simulation));
        let slip_events =
            (analysis.as_ref()).and_then(|section| self.slip_events(section, root.get("chain").is_some(), &simulation));
        let map = self.map(&root);
        if !self.diagnostics.is_empty() {
            // In the order of the file; the whole file first, `--set` last.
            self.diagnostics
                .sort_by_key(|d| d.span.map_or((0, 0), |span| (span.source, span.start)));
            return Err(ScenarioError {
                sources: self.sources,
                diagnostics: self.diagnostics,
            });
        }
        Ok(Scenario {
            title,
            simulation,
            bodies: bodies
                .into_iter()
                .filter_map(|body| Some((body.name, body.spec?)))
                .collect(),
            elements: elements
                .into_iter()
                .filter_map(|(name, spec)| Some((name, spec?)))
                .collect(),
            inclusion,
            chain,
            spheres,
            columns,
            contact_rows,
            stick_slip,
            slip_events,
            map,
            warnings: self.warnings,
            sources: self.sources.into(),
            spans: self.spans.into(),
        })
    }

    fn simulation(&mut self, section: &Section<'_>) -> SimulationSpec {
        let time = &[Dimension::TIME];
        let duration = self.number(section, "duration", time, Sign::Positive);
        let step = self.number(section, "step", time, Sign::Positive);
        if let (Some(duration), Some(step)) = (duration, step) {
            self.check_grid(section, duration, step);
        }
        let integrator = self.word(section, "integrator").unwrap_or_default();
        let gravity = self
            .vector(section, "gravity", &[Dimension::ACCELERATION])
            .map(|g| padded(&g));
        let tolerance = &[Dimension::NONE];
        let relative_tolerance = self.number(section, "relative_tolerance", tolerance, Sign::Positive);
        let absolute_tolerance = self.number(section, "absolute_tolerance", &[], Sign::Positive);
        let max_step = self.number(section, "max_step", time, Sign::Positive);
        let min_step = self.number(section, "min_step", time, Sign::Positive);
        if let (Some(max), Some(min)) = (max_step, min_step)
            && min > max
        {
            self.report_at(
                section,
                "min_step",
                format!("min_step ({min} s) is longer than max_step ({max} s)"),
                "swap the two, or leave out min_step",
            );
        }
        let newmark = self
            .subsection(section, "newmark", &keys::NEWMARK)
            .map(|inner| NewmarkSpec {
                beta: self
                    .number(&inner, "beta", tolerance, Sign::NotNegative)
                    .unwrap_or(0.25),
                gamma: self.number(&inner, "gamma", tolerance, Sign::Positive).unwrap_or(0.5),
            });
        let backward_motion = self.word(section, "motion") == Some("backward");
        SimulationSpec {
            duration: duration.unwrap_or(1.0),
            step: step.unwrap_or(1.0),
            integrator: integrator.to_string(),
            gravity,
            relative_tolerance: relative_tolerance.unwrap_or(1e-6),
            absolute_tolerance,
            max_step,
            min_step,
            newmark,
            backward_motion,
        }
    }

    /// The run is a whole number of steps, at least one.
    fn check_grid(&mut self, section: &Section<'_>, duration: f64, step: f64) {
        match TimeGrid::new(duration, step) {
            Err(error @ TimeGridError::StepTooLong { .. }) => {
                let help = format!("a run needs at least one step: try step = {}", duration / 1000.0);
                self.report_at(section, "step", error.to_string(), help);
            }
            Err(error) => {
                let help = "take a longer step, and check the units of both";
                self.report_at(section, "step", error.to_string(), help);
            }
            Ok((_, Some(warning))) => {
                let span = section.span_of("duration");
                self.warnings.push(Diagnostic::new(warning, Some(span)));
            }
            Ok((_, None)) => {}
        }
    }

    fn columns(&mut self, root: &Section<'_>, names: &[&str]) -> Option<Vec<String>> {
        let output = self.subsection(root, "output", &keys::OUTPUT)?;
        let columns = self.texts(&output, "columns")?;
        for (i, (column, span)) in columns.iter().enumerate() {
            self.check_column(column, *span, names);
            self.spans.insert(format!("output.columns.{i}"), *span);
        }
        Some(columns.into_iter().map(|(column, _)| column).collect())
    }

    /// A column begins with the name of a body or an element. (What follows is known when the system is built.)
    fn check_column(&mut self, column: &str, span: Span, names: &[&str]) {
        if column == "t" || self.inclusion_names_columns(column, span, names) {
            return;
        }
        let (first, rest) = column.split_once('.').unwrap_or((column, ""));
        if names.contains(&first) && !rest.is_empty() || self.strays.iter().any(|stray| stray == first) {
            return;
        }
        let help = if names.contains(&first) {
            format!("say which column of `{first}`: `{first}.position`, `{first}.velocity`, `{first}.force` …")
        } else {
            match nearest(first, names.iter().copied()) {
                Some(name) if rest.is_empty() => {
                    format!("did you mean a column of `{name}`, such as `{name}.position` or `{name}.force`?")
                }
                Some(name) => format!("did you mean `{name}.{rest}`?"),
                None => format!(
                    "a column is `t` or begins with the name of a body or an element: {}",
                    list_words(names.iter().copied())
                ),
            }
        };
        self.report(span, format!("there is no column `{}`", shorten(column)), help);
    }

    fn stick_slip(
        &mut self,
        analysis: &Section<'_>,
        names: &[&str],
        elements: &[(String, Option<ElementSpec>)],
        simulation: &SimulationSpec,
    ) -> Option<StickSlipSpec> {
        let section = self.subsection(analysis, "stick_slip", &keys::STICK_SLIP)?;
        let signal = self.text(&section, "signal");
        if let (Some(signal), Some(entry)) = (&signal, section.get("signal")) {
            self.check_column(signal, entry.node.span, names);
        }
        let from = self
            .number(&section, "from", &[Dimension::TIME], Sign::NotNegative)
            .unwrap_or(0.0);
        if from >= simulation.duration && from > 0.0 {
            let message = format!(
                "the analysis begins at {from} s, when the run has ended ({} s)",
                simulation.duration
            );
            self.report_at(
                &section,
                "from",
                message,
                "begin earlier, or make `simulation.duration` longer",
            );
        }
        let signal = signal.unwrap_or_default();
        let scale = self.number(&section, "scale", &[], Sign::Positive).unwrap_or(1.0);
        let mut threshold = self.number(&section, "threshold", &[], Sign::NotNegative);
        let e = self.number(&section, "e", &[Dimension::NONE], Sign::Positive);
        if let Some(e) = e {
            if threshold.is_some() {
                let help = "leave one of the two out";
                self.report_at(&section, "e", "`e` and `threshold` both say what is stable", help);
            }
            // Seed 003, eq 35: (f_max − f_min)/f_n ≤ (μ_s − μ_k)/e. Coefficients are forces over the normal force
            // already, as the signal is when `scale` is the normal force.
            let owner = signal.split('.').next();
            let friction = (elements.iter().find(|(name, _)| Some(name.as_str()) == owner))
                .and_then(|(_, element)| element.as_ref()?.friction());
            let drop = match friction.map(|friction| &friction.curve.limit) {
                Some(LimitSpec::Force { kinetic, static_ }) => (static_ - kinetic) / scale,
                Some(LimitSpec::Coefficient { kinetic, static_ }) => static_ - kinetic,
                _ => 0.0,
            };
            if drop > 0.0 {
                threshold = Some(drop / e);
            } else if self.diagnostics.is_empty() {
                // Where something else is wrong, in the friction or in the name of the signal, that is the cause.
                let fault = match friction {
                    Some(_) => "is of one without a higher static limit",
                    None => "is of no friction",
                };
                let message =
                    format!("`e` needs a signal of a friction with static > kinetic, and \"{signal}\" {fault}");
                let help = "name the force of a friction, or write `threshold` in place of `e`";
                self.report_at(&section, "e", message, help);
            }
        }
        Some(StickSlipSpec {
            signal,
            scale,
            from,
            threshold,
            e,
        })
    }

    fn map(&mut self, root: &Section<'_>) -> Option<MapSpec> {
        let section = self.subsection(root, "map", &keys::MAP)?;
        Some(MapSpec {
            duration: self.time_of_cell(&section, "duration"),
            from: self.time_of_cell(&section, "from"),
        })
    }

    /// A time, or an expression in the two values of a cell of a map.
    fn time_of_cell(&mut self, section: &Section<'_>, key: &str) -> Option<Expression> {
        let entry = section.get(key)?;
        let listed = section.keys.get(key);
        let text = match &entry.node.value {
            Value::Text(text) if matches!(parse_quantity(text), Ok(None)) => text.clone(),
            _ => format!(
                "{:?}",
                self.number(section, key, &[Dimension::TIME], Sign::NotNegative)?
            ),
        };
        match Expression::parse(&text, &["x", "y"]) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let message = format!("`{}`: {error}", section.path_of(key));
                self.report_example(entry.node.span, message, listed);
                None
            }
        }
    }

    /// Notes a finding with advice.
    fn report(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(message, Some(span)).help(help));
    }

    /// At the value of a key, or at its table if it is absent.
    fn report_at(&mut self, section: &Section<'_>, key: &str, message: impl Into<String>, help: impl Into<String>) {
        self.report(section.span_of(key), message, help);
    }

    /// Notes a finding and shows an example of the key.
    fn report_example(&mut self, span: Span, message: impl Into<String>, key: Option<&Key>) {
        let mut diagnostic = Diagnostic::new(message, Some(span));
        diagnostic.help = key.and_then(example);
        self.diagnostics.push(diagnostic);
    }

    fn wrong_type(&mut self, node: &Node, path: &str, expected: &str, key: Option<&Key>) {
        let message = format!("`{path}` should be {expected}, found {}", node.value.describe());
        self.report_example(node.span, message, key);
    }

    fn missing(&mut self, section: &Section<'_>, key: &str) {
        let Some(listed) = section.keys.get(key) else {
            return;
        };
        // Misspelt rather than missing: that has been said already.
        let unknown = |name: &&str| section.keys.get(name).is_none();
        let misspelt = section.table.keys().filter(unknown);
        let mut meant = misspelt.filter_map(|name| nearest(name, section.keys.names()));
        if meant.any(|name| name == key) {
            return;
        }
        let place = if section.path.is_empty() {
            "the scenario".to_string()
        } else {
            format!("`{}`", section.path)
        };
        let help = match listed.form {
            Form::Kinds(kinds) => {
                let kind = kinds.first().map_or("", |(kind, _)| kind);
                Some(format!(
                    "add a table [{key}.NAME] with kind = \"{kind}\" or another kind"
                ))
            }
            Form::Table(inner) if listed.example.is_empty() => {
                let lines: Vec<String> = inner
                    .iter()
                    .filter(|key| key.required)
                    .map(|key| format!("{} = {}", key.name, key.example))
                    .collect();
                Some(format!("add:\n[{key}]\n{}", lines.join("\n")))
            }
            _ => example(listed).map(|line| line.replacen("for example", "add", 1)),
        };
        let mut diagnostic = Diagnostic::new(
            format!("{place} has no `{key}` ({})", listed.doc),
            (!section.path.is_empty()).then_some(section.span),
        );
        diagnostic.help = help;
        self.diagnostics.push(diagnostic);
    }

    /// Opens a table: remembers where its keys stand and reports those it must not have.
    fn section<'t>(&mut self, path: &str, table: &'t Table, span: Span, keys: &'static Keys) -> Section<'t> {
        let section = Section {
            path: path.to_string(),
            table,
            span,
            keys,
        };
        for entry in &table.entries {
            let span = if matches!(entry.node.value, Value::Table(_)) {
                entry.key_span
            } else {
                entry.node.span
            };
            self.spans.insert(section.path_of(&entry.key), span);
            if keys.get(&entry.key).is_some() {
                continue;
            }
            let Some(help) = unknown_key(keys, &entry.key) else {
                continue;
            };
            let place = if path.is_empty() {
                "at the top of the file".to_string()
            } else {
                format!("in `{path}`")
            };
            let message = format!("unknown key `{}` {place}", shorten(&entry.key));
            self.report(entry.key_span, message, help);
        }
        section
    }

    /// Opens the table that is the value of `key`; reports a missing one if it is required.
    fn subsection<'t>(&mut self, section: &Section<'t>, key: &str, keys: &'static Keys) -> Option<Section<'t>> {
        let entry = self.entry(section, key)?;
        self.table_of(section, entry, keys)
    }

    fn table_of<'t>(&mut self, section: &Section<'_>, entry: &'t Entry, keys: &'static Keys) -> Option<Section<'t>> {
        let path = section.path_of(&entry.key);
        match &entry.node.value {
            Value::Table(table) => Some(self.section(&path, table, entry.key_span, keys)),
            _ => {
                self.wrong_type(&entry.node, &path, "a table", section.keys.get(&entry.key));
                None
            }
        }
    }

    /// The entry of a key, reporting it if it is required and absent.
    fn entry<'t>(&mut self, section: &Section<'t>, key: &str) -> Option<&'t Entry> {
        let entry = section.get(key);
        if entry.is_none() && section.keys.get(key).is_some_and(|key| key.required) {
            self.missing(section, key);
        }
        entry
    }
}

/// `key = value` as a help line.
fn example(key: &Key) -> Option<String> {
    (!key.example.is_empty()).then(|| format!("for example: {} = {}", key.name, key.example))
}

/// What to say about a key that is not in the list; `None` if it may be a parameter of a law's own.
fn unknown_key(keys: &Keys, key: &str) -> Option<String> {
    if let Some(owner) = owner(keys, key) {
        return Some(format!("`{key}` belongs to {owner}"));
    }
    match nearest(key, keys.names()) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None if keys.law.is_some() => None,
        None => Some(format!("the keys here are {}", list_words(keys.names()))),
    }
}

/// Where a key that is unknown here would be right: `kind = "driver" or "fixed"`.
fn owner(here: &Keys, key: &str) -> Option<String> {
    let kinds = keys::BODIES.iter().chain(keys::ELEMENTS);
    let siblings = |list: &[(&str, &Keys)]| list.iter().any(|(_, keys)| keys.name == here.name);
    let tables = [
        ("[simulation]", &keys::SIMULATION),
        ("[output]", &keys::OUTPUT),
        ("[analysis]", &keys::ANALYSIS),
        ("[map]", &keys::MAP),
    ];
    let kinds: Vec<String> = kinds
        .filter(|(_, keys)| siblings(keys::BODIES) == keys::BODIES.iter().any(|(_, body)| body.name == keys.name))
        .filter(|(_, keys)| keys.get(key).is_some())
        .map(|(kind, _)| format!("\"{kind}\""))
        .collect();
    let kind = (!kinds.is_empty()).then(|| format!("kind = {}", kinds.join(" or ")));
    if siblings(keys::BODIES) || siblings(keys::ELEMENTS) {
        return kind;
    }
    tables
        .iter()
        .find(|(_, keys)| keys.get(key).is_some())
        .map(|(table, _)| (*table).to_string())
}

fn stand_in_simulation() -> SimulationSpec {
    SimulationSpec {
        duration: f64::INFINITY,
        step: 1.0,
        integrator: String::new(),
        gravity: None,
        relative_tolerance: 1e-6,
        absolute_tolerance: None,
        max_step: None,
        min_step: None,
        newmark: None,
        backward_motion: false,
    }
}
