//! `cargo xtask fuzz N SEED`: random scenarios, good and bad, through the whole program.
//!
//! Every case is checked; one in 5 is run, one in 10 swept, one in 50 compared, one in 100 mapped. Cases follow from the seed
//! and their number alone. What is found is kept in `target/fuzz-findings/`, with the calls that show it.

mod child;
mod grammar;
mod judge;
mod mutate;
mod node;
mod random;

use judge::{Counts, Finding, Judge, Tasks};
use mutate::Words;
use node::Node;
use random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Attempts to find a text that can be run.
const ATTEMPTS: usize = 4;
/// Calls that making a finding smaller may take.
const SHRINKS: usize = 60;

/// What is asked for.
struct Order {
    cases: u64,
    seed: u64,
    threads: usize,
    /// Only this case.
    only: Option<u64>,
    program: Option<PathBuf>,
}

impl Order {
    fn read(words: &[&str]) -> Option<Self> {
        let (positions, options): (Vec<&str>, &[&str]) = match words.iter().position(|word| word.starts_with("--")) {
            Some(at) => (words[..at].to_vec(), &words[at..]),
            None => (words.to_vec(), &[]),
        };
        let [cases, seed] = positions[..] else { return None };
        let mut order = Order {
            cases: cases.parse().ok()?,
            seed: seed.parse().ok()?,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            only: None,
            program: None,
        };
        for option in options.chunks(2) {
            match option {
                ["--threads", count] => order.threads = count.parse().ok().filter(|&count| count > 0)?,
                ["--only", case] => order.only = Some(case.parse().ok()?),
                ["--program", path] => order.program = Some(std::path::absolute(path).ok()?),
                _ => return None,
            }
        }
        Some(order)
    }
}

/// Runs the task.
pub fn run(words: &[&str]) -> Result<(), String> {
    let order = Order::read(words)
        .ok_or("usage: cargo xtask fuzz N SEED [--threads COUNT] [--only CASE] [--program FILE]: N cases from a seed, two whole numbers")?;
    let program = match &order.program {
        Some(program) => program.clone(),
        None => build()?,
    };
    let bases = bases()?;
    let words = dictionary(&bases);
    let place = std::env::temp_dir().join(format!("stickslip-fuzz-{}", std::process::id()));
    let work = Work {
        order,
        program,
        bases,
        words,
        next: AtomicU64::new(0),
        found: Mutex::default(),
        counts: Mutex::default(),
        start: Instant::now(),
        spoken: Mutex::new(Instant::now()),
        shelf: crate::root().join("target/fuzz-findings"),
    };
    let outcome = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..work.order.threads)
            .map(|i| {
                let folder = place.join(i.to_string());
                let work = &work;
                scope.spawn(move || work.cases(&folder))
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker broke down".to_string())?)
    });
    let _ = std::fs::remove_dir_all(&place);
    outcome?;
    work.end()
}

/// Builds the program with optimisation.
fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", "stickslip-cli"])
        .current_dir(crate::root())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("the program cannot be built".to_string());
    }
    let here = std::env::current_exe().map_err(|error| format!("cannot find the program: {error}"))?;
    let target = here.ancestors().nth(2).unwrap_or(&here);
    Ok(target.join("release/stickslip"))
}

/// All scenarios and templates: text and tree.
fn bases() -> Result<Vec<(String, Node)>, String> {
    let folder = crate::root().join("scenarios");
    let tell = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(tell)? {
        paths.push(entry.map_err(tell)?.path());
    }
    paths.sort();
    let mut texts: Vec<String> = stickslip::scenario::TEMPLATES
        .iter()
        .map(|template| template.text.to_string())
        .collect();
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
    {
        texts.push(std::fs::read_to_string(path).map_err(tell)?);
    }
    Ok(texts
        .into_iter()
        .filter_map(|text| Node::parse(&text).map(|root| (text, root)))
        .collect())
}

/// Keys and words of the schema and of the scenarios.
fn dictionary(bases: &[(String, Node)]) -> Words {
    let mut words = Words {
        keys: Vec::new(),
        words: Vec::new(),
    };
    let schema = serde_json::from_str(&stickslip::scenario::schema()).unwrap_or_default();
    collect(&schema, &mut words);
    for (_, root) in bases {
        for (path, leaf) in root.leaves() {
            if let Node::Text(text) = leaf {
                words.words.push(text.clone());
            }
            words.words.push(path);
        }
    }
    words
        .words
        .extend(stickslip::core::registry::LAWS.iter().map(|law| law.name.to_string()));
    for list in [&mut words.keys, &mut words.words] {
        list.sort();
        list.dedup();
    }
    words
}

fn collect(schema: &serde_json::Value, words: &mut Words) {
    match schema {
        serde_json::Value::Object(entries) => {
            for (name, value) in entries {
                if let ("properties", Some(properties)) = (name.as_str(), value.as_object()) {
                    words.keys.extend(properties.keys().cloned());
                }
                if let ("enum", Some(list)) = (name.as_str(), value.as_array()) {
                    words
                        .words
                        .extend(list.iter().filter_map(|word| word.as_str()).map(str::to_string));
                }
                collect(value, words);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        _ => {}
    }
}

/// What was found under one key.
struct Found {
    finding: Finding,
    case: u64,
    count: u64,
}

struct Work {
    order: Order,
    program: PathBuf,
    bases: Vec<(String, Node)>,
    words: Words,
    next: AtomicU64,
    found: Mutex<BTreeMap<String, Found>>,
    counts: Mutex<Counts>,
    start: Instant,
    spoken: Mutex<Instant>,
    shelf: PathBuf,
}

impl Work {
    /// Takes cases until none is left.
    fn cases(&self, folder: &Path) -> Result<(), String> {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        // The bowl of a scenario; contacts with its mesh are like no others.
        let mesh = crate::root().join("scenarios/bowl.stl");
        std::fs::copy(&mesh, folder.join("bowl.stl"))
            .map_err(|error| format!("cannot copy {}: {error}", mesh.display()))?;
        loop {
            let case = self.next.fetch_add(1, Ordering::Relaxed);
            if case >= self.order.cases {
                return Ok(());
            }
            if self.order.only.is_some_and(|only| only != case) {
                continue;
            }
            self.case(case, folder)?;
        }
    }

    fn case(&self, case: u64, folder: &Path) -> Result<(), String> {
        let tasks = Tasks {
            run: case.is_multiple_of(5),
            sweep: case.is_multiple_of(10),
            map: case % 100 == 10,
            compare: case % 50 == 5,
        };
        let mut random = Random::new(self.order.seed, case);
        let attempts = if tasks.run { ATTEMPTS } else { 1 };
        for attempt in 1..=attempts {
            let text = self.text(tasks.run, &mut random);
            // The same plan for the text and for smaller ones.
            let plan = case.wrapping_mul(31).wrapping_add(attempt as u64);
            let last = attempt == attempts;
            let judge = self.judge(&text, tasks, plan, last, folder)?;
            *self.counts.lock().expect("no worker panics") += judge.counts;
            let refused = judge.findings.is_empty() && !judge.done;
            for finding in judge.findings {
                self.keep(finding, case, &text, tasks, plan, folder)?;
            }
            if !refused {
                break;
            }
        }
        self.speak(case);
        Ok(())
    }

    /// Everything that is asked of a text. Without `last` a text that `check` refuses is given up.
    fn judge(&self, text: &[u8], tasks: Tasks, plan: u64, last: bool, folder: &Path) -> Result<Verdict, String> {
        let mut random = Random::new(self.order.seed ^ 0x5eed, plan);
        let mut judge = Judge::new(&self.program, folder, text)?;
        let json = tasks.run || random.once_in(2);
        let mut done = false;
        let root = std::str::from_utf8(text).ok().and_then(Node::parse);
        let sets = match &root {
            Some(root) if !tasks.run && random.once_in(5) => vec![mutate::any_set(root, &self.words, &mut random)],
            _ => Vec::new(),
        };
        if let Some(checked) = judge.check(json, &sets)? {
            done = checked.code() == Some(0);
            if done || last {
                judge.tasks(tasks, root.as_ref(), &checked, &mut random)?;
            }
        }
        Ok(Verdict {
            findings: judge.findings,
            counts: judge.counts,
            done,
        })
    }

    /// The text of a scenario. One that is to be run is changed gently.
    fn text(&self, gentle: bool, random: &mut Random) -> Vec<u8> {
        let (text, tree) = random.pick(&self.bases);
        let kind = random.below(20);
        let mut root = if kind < 7 {
            grammar::scenario(random)
        } else {
            tree.clone()
        };
        match (gentle, kind) {
            (_, 0..=3) => {}
            (_, 4..=6) => mutate::change_values(&mut root, &self.words, random),
            (true, 7..=17) => mutate::change_values(&mut root, &self.words, random),
            (true, _) | (false, 7..=11) => {
                let (_, other) = random.pick(&self.bases);
                mutate::change_form(&mut root, other, &self.words, random);
            }
            (false, 12..=14) => {
                let (_, other) = random.pick(&self.bases);
                mutate::change_values(&mut root, &self.words, random);
                mutate::change_form(&mut root, other, &self.words, random);
            }
            (false, _) => {
                let mut bytes = text.as_bytes().to_vec();
                mutate::change_bytes(&mut bytes, random);
                return bytes;
            }
        }
        if gentle {
            // Times that a short run does not reach.
            if let Node::Table(entries) = &mut root {
                entries.retain(|(name, _)| name != "map");
                for (_, part) in entries.iter_mut().filter(|(name, _)| name == "analysis") {
                    if let Node::Table(kinds) = part {
                        for (_, kind) in kinds {
                            if let Node::Table(keys) = kind {
                                keys.retain(|(name, _)| name != "from");
                            }
                        }
                    }
                }
            }
        }
        root.print().into_bytes()
    }

    /// Counts a finding; the first of its key is made smaller and kept in files.
    fn keep(
        &self,
        finding: Finding,
        case: u64,
        text: &[u8],
        tasks: Tasks,
        plan: u64,
        folder: &Path,
    ) -> Result<(), String> {
        {
            let mut found = self.found.lock().expect("no worker panics");
            if let Some(found) = found.get_mut(&finding.key) {
                found.count += 1;
                return Ok(());
            }
            found.insert(
                finding.key.clone(),
                Found {
                    finding: finding.clone(),
                    case,
                    count: 1,
                },
            );
        }
        let (text, finding) = self.smaller(text.to_vec(), finding, tasks, plan, folder)?;
        let place = self.shelf.join(name_of(&finding.key));
        let tell = |error: std::io::Error| format!("cannot write to {}: {error}", place.display());
        std::fs::create_dir_all(&place).map_err(tell)?;
        let command: Vec<String> = finding
            .command
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect();
        let about = format!(
            "{}\n\n{}\n\nseed {}, case {case}; in this folder:\nstickslip {}\n",
            finding.key,
            finding.what,
            self.order.seed,
            command.join(" ")
        );
        std::fs::write(place.join("scenario.toml"), text).map_err(tell)?;
        std::fs::write(place.join("about.txt"), about).map_err(tell)?;
        for beside in ["profile.csv", "wedge.stl", "bowl.stl"] {
            let _ = std::fs::copy(folder.join(beside), place.join(beside));
        }
        eprintln!("case {case}: {}\n  {}", finding.key, place.display());
        Ok(())
    }

    /// Leaves out lines while the finding stays.
    fn smaller(
        &self,
        text: Vec<u8>,
        finding: Finding,
        tasks: Tasks,
        plan: u64,
        folder: &Path,
    ) -> Result<(Vec<u8>, Finding), String> {
        let (mut text, mut finding) = (text, finding);
        if finding.key.starts_with("hang") {
            return Ok((text, finding));
        }
        let lines_of = |text: &[u8]| {
            text.split(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        let mut left = SHRINKS;
        for size in [8, 3, 1] {
            let mut at = 0;
            while at < lines_of(&text).len() && left > 0 {
                let mut lines = lines_of(&text);
                lines.drain(at..(at + size).min(lines.len()));
                let shorter = lines.join(&b'\n');
                left -= 1;
                let verdict = self.judge(&shorter, tasks, plan, true, folder)?;
                match verdict.findings.into_iter().find(|other| other.key == finding.key) {
                    Some(again) => (text, finding) = (shorter, again),
                    None => at += size,
                }
            }
        }
        Ok((text, finding))
    }

    /// A line now and then.
    fn speak(&self, case: u64) {
        let mut spoken = self.spoken.lock().expect("no worker panics");
        if spoken.elapsed() > Duration::from_secs(10) {
            *spoken = Instant::now();
            let found = self.found.lock().expect("no worker panics").len();
            eprintln!(
                "{case} of {} cases in {:.0} s, {found} kinds of findings",
                self.order.cases,
                self.start.elapsed().as_secs_f64()
            );
        }
    }

    fn end(self) -> Result<(), String> {
        let counts = self.counts.into_inner().expect("no worker panics");
        let found = self.found.into_inner().expect("no worker panics");
        println!(
            "seed {}: {} checks, {} runs ({} of them with a trace were done to their end), {} sweeps, {} maps, {} comparisons, {} rewritings in {:.0} s",
            self.order.seed,
            counts.check,
            counts.run,
            counts.complete,
            counts.sweep,
            counts.map,
            counts.compare,
            counts.rewrite,
            self.start.elapsed().as_secs_f64()
        );
        if counts.slow > 0 {
            println!(
                "{} calls with steps of the method's own took more than {} s and stopped when they were told to",
                counts.slow,
                child::SECONDS
            );
        }
        for found in found.values() {
            println!("{:>6} x {} (case {})", found.count, found.finding.key, found.case);
        }
        let total: u64 = found.values().map(|found| found.count).sum();
        if total == 0 {
            println!("0 findings");
            return Ok(());
        }
        Err(format!(
            "{total} findings of {} kinds, kept in {}",
            found.len(),
            self.shelf.display()
        ))
    }
}

/// What became of a text.
struct Verdict {
    findings: Vec<Finding>,
    counts: Counts,
    /// `check` accepted it.
    done: bool,
}

/// A name of a folder.
fn name_of(key: &str) -> String {
    let mut name: String = key
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    name.chars().take(90).collect::<String>().trim_matches('-').to_string()
}
