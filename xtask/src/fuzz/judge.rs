//! What must hold for every input, and whether it does.

use super::child::{self, End, Outcome};
use super::node::Node;
use super::random::Random;
use serde_json::Value;
use std::path::Path;
use stickslip::core::registry::{Family, LAWS};

/// Most steps of a run.
const STEPS: usize = 120;
/// Most steps times blocks or spheres of a run.
const BLOCK_STEPS: usize = 500_000;

/// Rows of a sweep that are compared with runs, besides the last.
const COMPARED: usize = 3;

/// A closed surface: a tetrahedron with its normals outwards.
const WEDGE: &[u8] = b"solid wedge
facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 0.3 0\nvertex 0.4 0 0\nendloop\nendfacet
facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 0.4 0 0\nvertex 0 0 0.2\nendloop\nendfacet
facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 0.2\nvertex 0 0.3 0\nendloop\nendfacet
facet normal 1 1 1\nouter loop\nvertex 0.4 0 0\nvertex 0 0.3 0\nvertex 0 0 0.2\nendloop\nendfacet
endsolid wedge
";

/// What is done with a case besides `check`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tasks {
    pub run: bool,
    pub sweep: bool,
    pub map: bool,
    pub compare: bool,
}

/// Calls so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub check: u64,
    pub run: u64,
    pub sweep: u64,
    pub map: u64,
    pub compare: u64,
    pub rewrite: u64,
    /// Runs that were done to their end.
    pub complete: u64,
    /// Calls with steps of the method's own that took too long, and stopped when they were told to.
    pub slow: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.check += other.check;
        self.run += other.run;
        self.sweep += other.sweep;
        self.map += other.map;
        self.compare += other.compare;
        self.rewrite += other.rewrite;
        self.complete += other.complete;
        self.slow += other.slow;
    }
}

/// Something that must not be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The same for findings with the same cause, as far as that can be told.
    pub key: String,
    /// What was seen.
    pub what: String,
    /// The call that shows it.
    pub command: Vec<String>,
}

/// Judges one case.
pub struct Judge<'a> {
    program: &'a Path,
    folder: &'a Path,
    /// The scenario itself speaks of `inf` or `nan`.
    names_infinity: bool,
    /// The method it names, and whether that chooses its own steps.
    method: String,
    own_steps: bool,
    /// It has contacts that the program finds.
    scene: bool,
    pub counts: Counts,
    pub findings: Vec<Finding>,
}

impl<'a> Judge<'a> {
    /// Puts the scenario into a folder.
    pub fn new(program: &'a Path, folder: &'a Path, text: &[u8]) -> Result<Self, String> {
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.join(name), bytes)
                .map_err(|error| format!("cannot write to {}: {error}", folder.display()))
        };
        write("scenario.toml", text)?;
        write("profile.csv", b"t,x\n0,1\n0.01,2\n0.02,-1\n")?;
        write("wedge.stl", WEDGE)?;
        let lossy = String::from_utf8_lossy(text);
        let line = lossy.lines().find(|line| line.trim_start().starts_with("integrator"));
        let method = line.and_then(|line| line.split('"').nth(1)).unwrap_or("").to_string();
        Ok(Judge {
            program,
            folder,
            own_steps: ["adaptive", "stiff"].contains(&method.as_str()),
            method,
            scene: lossy.contains("[contacts]"),
            names_infinity: not_finite(&lossy).is_some(),
            counts: Counts::default(),
            findings: Vec::new(),
        })
    }

    fn find(&mut self, key: impl Into<String>, what: impl Into<String>, command: &[String]) {
        self.findings.push(Finding {
            key: key.into(),
            what: what.into(),
            command: command.to_vec(),
        });
    }

    /// Calls the program; what must hold for any call does, or the answer is `None`.
    fn call(&mut self, arguments: &[String]) -> Result<Option<Outcome>, String> {
        let outcome = child::call(self.program, arguments, self.folder)?;
        let command = arguments.first().map_or("", String::as_str);
        let count = match command {
            "check" => &mut self.counts.check,
            "run" => &mut self.counts.run,
            "sweep" => &mut self.counts.sweep,
            "map" => &mut self.counts.map,
            "compare" => &mut self.counts.compare,
            _ => &mut self.counts.rewrite,
        };
        *count += 1;
        let panic = outcome
            .err
            .lines()
            .find_map(|line| line.split_once("panicked at "))
            .map(|(_, place)| place.trim_end_matches(':').to_string());
        let broken = match (panic, outcome.code()) {
            (Some(place), _) => Some((format!("panic at {place}"), first_lines(&outcome.err))),
            // A method that chooses its own steps may need any number of them, if it stops when it is told to.
            (None, _) if outcome.end == End::Told && self.own_steps && command != "check" => {
                self.counts.slow += 1;
                return Ok(None);
            }
            (None, _) if outcome.end != End::Own => Some((
                format!("hang of {command} under {}", self.method),
                format!("more than {} s, {:?}", child::SECONDS, outcome.end),
            )),
            (None, Some(0..=2)) => None,
            (None, Some(code)) => Some((format!("status {code} of {command}"), first_lines(&outcome.err))),
            (None, None) if outcome.err.contains("memory allocation of") => {
                Some((format!("memory of {command}"), first_lines(&outcome.err)))
            }
            (None, None) => Some((
                format!("signal {:?} of {command}", outcome.signal()),
                first_lines(&outcome.err),
            )),
        };
        if let Some((key, what)) = broken {
            self.find(key, what, arguments);
            return Ok(None);
        }
        let named = self.names_infinity || arguments.iter().any(|word| not_finite(word).is_some());
        // An emitted program may speak of both.
        if outcome.code() == Some(0) && !named && command != "rewrite" {
            for text in [&outcome.out, &outcome.err] {
                if let Some(line) = not_finite(text) {
                    self.find(format!("{command} says {}", plain(line)), line, arguments);
                }
            }
        }
        Ok(Some(outcome))
    }

    /// `check`, and the number of its exit status.
    pub fn check(&mut self, json: bool, sets: &[String]) -> Result<Option<Outcome>, String> {
        let mut arguments = words(&["check", "scenario.toml"], sets);
        if json {
            arguments.push("--json".to_string());
        }
        let outcome = self.call(&arguments)?;
        if json
            && let Some(outcome) = &outcome
            && outcome.code() == Some(0)
            && serde_json::from_str::<Value>(&outcome.out).is_err()
        {
            self.find("check prints no JSON", first_lines(&outcome.out), &arguments);
        }
        Ok(outcome)
    }

    /// All that is asked of a case. `checked` is what `check --json` answered.
    pub fn tasks(
        &mut self,
        tasks: Tasks,
        root: Option<&Node>,
        checked: &Outcome,
        random: &mut Random,
    ) -> Result<(), String> {
        if !tasks.run {
            return Ok(());
        }
        if checked.code() != Some(0) {
            let arguments = words(&["run", "scenario.toml", "--quiet"], &[]);
            if let Some(outcome) = self.call(&arguments)?
                && outcome.code() != checked.code()
            {
                let what = format!(
                    "check: {:?}, run: {:?}\n{}",
                    checked.code(),
                    outcome.code(),
                    first_lines(&checked.err)
                );
                self.find("check refuses what run accepts", what, &arguments);
            }
            return Ok(());
        }
        let Ok(advice) = serde_json::from_str::<Value>(&checked.out) else {
            return Ok(());
        };
        let sets = shorter(&advice, random);
        let Some(report) = self.run(&sets, random)? else {
            return Ok(());
        };
        let Some(root) = root else { return Ok(()) };
        if tasks.sweep {
            self.sweep(root, &sets, &report, random)?;
        }
        if tasks.map {
            self.map(root, &sets, random)?;
        }
        if tasks.compare {
            self.compare(root, &sets, random)?;
        }
        if root.get("inclusion").is_some() {
            let form = random.pick(&["text", "latex", "rust", "c", "python"]);
            self.call(&words(&["rewrite", "scenario.toml", "--emit", form], &[]))?;
        }
        Ok(())
    }

    /// `run` with a trace, and its report.
    fn run(&mut self, sets: &[String], random: &mut Random) -> Result<Option<Value>, String> {
        let mut arguments = words(
            &["run", "scenario.toml", "--json", "--threads", "1", "--out", "trace.csv"],
            sets,
        );
        if random.once_in(3) {
            arguments.extend(["--every".to_string(), (1 + random.below(7)).to_string()]);
        }
        if self.scene && random.once_in(2) {
            arguments.extend(["--contacts".to_string(), "contacts.csv".to_string()]);
        }
        for file in ["trace.csv", "contacts.csv"] {
            let _ = std::fs::remove_file(self.folder.join(file));
        }
        let Some(outcome) = self.call(&arguments)? else {
            return Ok(None);
        };
        if outcome.code() == Some(2) {
            if let Some(checked) = self.check(false, sets)?
                && checked.code() != Some(2)
            {
                self.find(
                    format!("run refuses what check accepts: {}", plain(&outcome.err)),
                    first_lines(&outcome.err),
                    &arguments,
                );
            }
            return Ok(None);
        }
        let Ok(report) = serde_json::from_str::<Value>(&outcome.out) else {
            self.find("run prints no JSON", first_lines(&outcome.out), &arguments);
            return Ok(None);
        };
        if outcome.code() == Some(1) && outcome.err.trim().is_empty() {
            self.find("run fails and says nothing", "", &arguments);
        }
        if outcome.code() == Some(0) {
            self.counts.complete += 1;
            for part in ["final", "energy", "elements"] {
                if let Some(path) = null(&report[part]) {
                    self.find(
                        format!("run is done, but {part} has no number"),
                        format!("{part}.{path} is null"),
                        &arguments,
                    );
                }
            }
            let trace = std::fs::read_to_string(self.folder.join("trace.csv")).unwrap_or_default();
            let mut lines = trace.lines();
            let header = lines.next().unwrap_or("").to_string();
            if let Some(line) = lines.find(|line| {
                line.split(',')
                    .any(|cell| !cell.parse::<f64>().is_ok_and(f64::is_finite))
            }) {
                self.find(
                    "run is done, but its trace has a number that is not finite",
                    format!("{header}\n{line}"),
                    &arguments,
                );
            }
            let contacts = std::fs::read_to_string(self.folder.join("contacts.csv")).unwrap_or_default();
            if let Some(line) = not_finite(&contacts) {
                self.find("a contact has a number that is not finite", line, &arguments);
            }
        }
        Ok(Some(report))
    }

    /// Rows of a sweep are the same as runs.
    fn sweep(&mut self, root: &Node, sets: &[String], report: &Value, random: &mut Random) -> Result<(), String> {
        let Some((key, values)) = axis(root, random) else {
            return Ok(());
        };
        // Final values alone take the way without observation, in lanes; energies do not.
        let parts: &[&str] = if random.once_in(2) {
            &["final"]
        } else {
            &["final", "energy"]
        };
        let mut measures: Vec<String> = Vec::new();
        for part in parts {
            let names = report[part]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| format!("{part}.{name}"));
            measures.extend(names.filter(|name| !name.contains(',')));
        }
        while measures.len() > 8 {
            measures.remove(random.below(measures.len()));
        }
        if measures.is_empty() {
            return Ok(());
        }
        let vary = format!("{key}=list:{}", values.join(","));
        let arguments = words(
            &[
                "sweep",
                "scenario.toml",
                "--threads",
                "1",
                "--vary",
                &vary,
                "--measure",
                &measures.join(","),
            ],
            sets,
        );
        let Some(outcome) = self.call(&arguments)? else {
            return Ok(());
        };
        let mut rows = outcome.out.lines().skip(1).map(cells);
        let mut refused = false;
        for (number, value) in values.iter().enumerate() {
            let row = rows.next();
            if number >= COMPARED && number + 1 < values.len() {
                continue;
            }
            let mut sets = sets.to_vec();
            sets.push(format!("{key}={value}"));
            let command = words(&["run", "scenario.toml", "--json", "--threads", "1"], &sets);
            let Some(alone) = self.call(&command)? else {
                return Ok(());
            };
            refused |= alone.code() == Some(2);
            if outcome.code() == Some(2) {
                continue;
            }
            let Some(row) = row else {
                self.find("sweep has too few rows", first_lines(&outcome.out), &arguments);
                return Ok(());
            };
            let ok = row.last().is_some_and(|status| status == "ok");
            if ok != (alone.code() == Some(0)) {
                let what = format!(
                    "{value}: run has status {:?}, the sweep says {}\n{}",
                    alone.code(),
                    row.join(","),
                    first_lines(&alone.err)
                );
                let said = row.last().map_or(String::new(), |status| plain(status));
                self.find(
                    format!(
                        "sweep and run disagree whether a run is done: {said} / {}",
                        plain(&alone.err)
                    ),
                    what,
                    &arguments,
                );
                return Ok(());
            }
            let Ok(report) = serde_json::from_str::<Value>(&alone.out) else {
                continue;
            };
            for (measure, cell) in measures.iter().zip(&row[1..]).filter(|_| ok) {
                let (part, name) = measure.split_once('.').unwrap_or((measure, ""));
                let number = report[part][name].as_f64();
                if number.map(f64::to_bits) != cell.parse::<f64>().ok().map(f64::to_bits) {
                    let what = format!(
                        "{value}: {measure} is {} in the run and {cell} in the sweep",
                        report[part][name]
                    );
                    let method = report["integrator"].as_str().unwrap_or("");
                    self.find(
                        format!("sweep differs from run in {part} under {method}"),
                        what,
                        &arguments,
                    );
                    return Ok(());
                }
            }
        }
        if outcome.code() == Some(2) && !refused {
            self.find(
                format!("sweep refuses what run accepts: {}", plain(&outcome.err)),
                first_lines(&outcome.err),
                &arguments,
            );
        }
        Ok(())
    }

    fn map(&mut self, root: &Node, sets: &[String], random: &mut Random) -> Result<(), String> {
        let (Some((x, xs)), Some((y, ys))) = (axis(root, random), axis(root, random)) else {
            return Ok(());
        };
        let (x, y) = (
            format!("{x}=list:{}", xs.join(",")),
            format!("{y}=list:{}", ys.join(",")),
        );
        let mut arguments = words(&["map", "scenario.toml", "--threads", "1", "--x", &x, "--y", &y], sets);
        if random.once_in(3) {
            arguments.push("--json".to_string());
        }
        self.call(&arguments)?;
        Ok(())
    }

    fn compare(&mut self, root: &Node, sets: &[String], random: &mut Random) -> Result<(), String> {
        let Some(Node::Table(elements)) = root.get("elements") else {
            return Ok(());
        };
        let has_law = |node: &Node| node.get("law").is_some() || node.get("friction").is_some();
        let names: Vec<&String> = elements
            .iter()
            .filter(|(_, element)| has_law(element))
            .map(|(name, _)| name)
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let laws: Vec<&str> = LAWS
            .iter()
            .filter(|law| law.family == Family::Friction)
            .map(|law| law.name)
            .collect();
        let laws = [*random.pick(&laws), *random.pick(&laws), *random.pick(&laws)].join(",");
        let name = random.pick(&names).as_str();
        let mut arguments = words(&["compare", "scenario.toml", "--element", name, "--laws", &laws], sets);
        if random.once_in(2) {
            arguments.push("--json".to_string());
        }
        self.call(&arguments)?;
        Ok(())
    }
}

/// `--set` that makes a run short.
fn shorter(advice: &Value, random: &mut Random) -> Vec<String> {
    let (Some(step), Some(steps)) = (advice["step"].as_f64(), advice["steps"].as_u64()) else {
        return Vec::new();
    };
    let blocks = ["chain", "spheres"]
        .iter()
        .filter_map(|part| advice[part]["blocks"].as_u64())
        .max()
        .unwrap_or(1);
    let most = (BLOCK_STEPS / (blocks.max(1) as usize)).clamp(1, STEPS);
    let wanted = 1 + random.below(most);
    if steps <= most as u64 {
        return Vec::new();
    }
    vec![format!("simulation.duration={:e}", step * wanted as f64)]
}

/// A key with a number and a few values for it.
fn axis(root: &Node, random: &mut Random) -> Option<(String, Vec<String>)> {
    let mut leaves: Vec<(String, String, &str)> = Vec::new();
    for (path, leaf) in root.leaves() {
        if path == "simulation.duration" || !path.contains('.') {
            continue;
        }
        let (Node::Raw(text) | Node::Text(text)) = leaf else {
            continue;
        };
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        if number.parse::<f64>().is_ok_and(f64::is_finite) && !unit.contains(',') {
            leaves.push((path, number.to_string(), unit));
        }
    }
    if leaves.is_empty() {
        return None;
    }
    let (path, number, unit) = random.pick(&leaves);
    let value: f64 = number.parse().ok()?;
    // Some sweeps are wide enough to fill lanes.
    let count = if random.once_in(3) { 9 } else { 2 + random.below(3) };
    let values = (0..count).map(|i| {
        let factor = if i == 0 { 1.0 } else { random.between(0.2, 3.0) };
        let changed = if random.once_in(12) { -value } else { value * factor };
        let changed = if value == 0.0 { 0.1 * i as f64 } else { changed };
        if unit.is_empty() {
            format!("{changed:e}")
        } else {
            format!("{changed:e} {unit}")
        }
    });
    Some((path.clone(), values.collect()))
}

fn words(fixed: &[&str], sets: &[String]) -> Vec<String> {
    let sets = sets.iter().flat_map(|set| ["--set".to_string(), set.clone()]);
    fixed.iter().map(|word| (*word).to_string()).chain(sets).collect()
}

/// The first line with a number that is not finite.
fn not_finite(text: &str) -> Option<&str> {
    let odd = |word: &str| {
        ["nan", "inf", "infinity"]
            .iter()
            .any(|odd| word.eq_ignore_ascii_case(odd))
    };
    text.lines()
        .find(|line| line.split(|c: char| !c.is_alphanumeric()).any(odd))
}

/// The path of a null in a part of the report: JSON has no other word for a number that is not finite. Some are absent by
/// right: an actuator never sticks, not every method knows what it loses, and contacts that are found have no axis in common.
fn null(value: &Value) -> Option<String> {
    const MAY_BE_ABSENT: [&str; 5] = ["stick_time", "slip_time", "transitions", "numerical", "sign_changes"];
    value.as_object()?.iter().find_map(|(name, value)| match value {
        Value::Null if !MAY_BE_ABSENT.contains(&name.as_str()) => Some(name.clone()),
        value => null(value).map(|path| format!("{name}.{path}")),
    })
}

/// Fields of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            letter => fields.last_mut().expect("there is always one").push(letter),
        }
    }
    fields
}

/// A message without its numbers and names, for comparison.
fn plain(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    let mut words: Vec<&str> = line
        .split_whitespace()
        .filter(|word| word.chars().all(|c| c.is_ascii_alphabetic() || ":,.;'".contains(c)))
        .collect();
    words.truncate(12);
    words.join(" ")
}

fn first_lines(text: &str) -> String {
    text.lines()
        .take(8)
        .map(|line| line.chars().take(300).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}
