//! `stickslip map FILE --x KEY=SPEC --y KEY=SPEC`.

mod drawing;

use super::run::{Progress, threads};
use super::sweep::{description, part, say};
use crate::failure::{Failure, note, print, print_data, print_json};
use crate::output::Place;
use crate::picture;
use crate::row_file::{self, Description, RowFile};
use crate::shards::{self, Shard};
use crate::stop::{self, stop_flag};
use crate::text::{about, number, table};
use clap::Args;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use stickslip::scenario::Draft;
use stickslip::sweep::{Axis, Boundary, Row, Sweep, Value};
use stickslip_study::panels::{amplitude, unit};
use stickslip_study::rows::{map_header, map_line as line, shard};
use stickslip_study::warnings::Warnings;

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip map slider.toml --x \"elements.spring.stiffness=log:1 N/mm:500 N/mm:20\" \\
    --y \"bodies.hook.velocity=log:1e-4 mm/s:1 mm/s:25\" --out map.csv --plot map.svg
  stickslip map slider.toml --x … --y … --trace-boundary --plot boundary.svg";

/// Draw where sliding is steady and where it sticks and slips, over two values of a scenario
///
/// Every cell is one run, classified by the scenario's [analysis] stick_slip: stable if the amplitude is at most the
/// threshold. [map] duration and from may be expressions in the values x and y of the cell. Rows have the two keys in SI
/// units, amplitude, period, stable, region (creep or inertial) and linear_growth (of a disturbance of steady sliding,
/// 1/s); all but the keys are empty where a run failed.
///
/// With --trace-boundary only the boundary is looked for: for every x by bisection in y, which begins near the boundary
/// of the neighbour. Rows are then the runs that were done, 8 to 15 for every x: with fewer values of y than that the grid
/// takes fewer runs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Map {
    /// The scenario file
    file: PathBuf,
    /// The key along x and its values: KEY=lin:a:b:n, KEY=log:a:b:n or KEY=list:x,y,z
    #[arg(long, value_name = "KEY=SPEC")]
    x: String,
    /// The key along y and its values
    #[arg(long, value_name = "KEY=SPEC")]
    y: String,
    /// Change a value for all runs
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Look for the boundary only, along y for every x
    #[arg(long)]
    trace_boundary: bool,
    /// Relative accuracy of the boundary
    #[arg(long, value_name = "PART", default_value_t = 0.02, requires = "trace_boundary", value_parser = tolerance)]
    tolerance: f64,
    /// Write the rows to this file: .csv or .parquet; without it they go to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the map to this file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Threads to use; default and most: one per core. The result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,
    /// Do only part I of N of the cells, counted from 1; `merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = part, conflicts_with_all = ["trace_boundary", "plot"])]
    shard: Option<(u64, u64)>,
    /// Do nothing but print a script for Slurm: an array of PARTS jobs (16 unless given), each with a --shard of the cells
    #[arg(long, value_name = "PARTS", requires = "out", conflicts_with_all = ["shard", "resume", "trace_boundary", "plot"], num_args = 0..=1, default_missing_value = "16", value_parser = clap::value_parser!(u64).range(1..))]
    slurm: Option<u64>,
    /// Continue the file of a map that was interrupted
    #[arg(long, requires = "out")]
    resume: bool,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress and no summary
    #[arg(long)]
    quiet: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("write a number between 0 and 1: 0.02 is two percent".to_string()),
    }
}

/// A run of a map.
#[derive(Clone, Debug)]
struct Cell {
    x: f64,
    y: f64,
    amplitude: Option<f64>,
    /// `None` if it failed.
    stable: Option<bool>,
    /// Whether it is stick-slip by inertia, or by creep; neither where the law does not tell.
    inertial: bool,
    creeps: bool,
    /// Whether a whole cycle was seen.
    cycles: bool,
    /// Whether steady sliding is linearly unstable, where that is known.
    grows: Option<bool>,
}

impl Cell {
    fn of(row: &Row) -> Self {
        Cell {
            x: row.keys[0].number.unwrap_or(f64::NAN),
            y: row.keys[1].number.unwrap_or(f64::NAN),
            amplitude: row.values[0].as_f64(),
            stable: row.values[2].as_bool(),
            inertial: row.values[3] == "inertial",
            creeps: row.values[3] == "creep",
            cycles: !(row.values[1].is_null() && row.values[3].is_null()),
            grows: row.values[4].as_f64().map(|growth| growth > 0.0),
        }
    }
}

/// A point of the boundary, in SI.
#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    below: f64,
    above: f64,
    stable_above: bool,
}

impl Point {
    fn new(x: &Value, boundary: &Boundary) -> Option<Self> {
        Some(Point {
            x: x.number?,
            y: boundary.y.number?,
            below: boundary.bracket.0.number?,
            above: boundary.bracket.1.number?,
            stable_above: boundary.stable_above,
        })
    }
}

/// The row that a line was written from.
fn row(keys: Vec<Value>, text: &str) -> Option<Row> {
    let fields: Vec<&str> = text.split(',').collect();
    let [_, _, amplitude, period, stable, region, growth] = fields[..] else {
        return None;
    };
    let value = |text: &str| {
        if text.is_empty() {
            Some(serde_json::Value::Null)
        } else {
            serde_json::from_str(text).ok()
        }
    };
    Some(Row {
        keys,
        values: vec![
            value(amplitude)?,
            value(period)?,
            value(stable)?,
            if region.is_empty() {
                serde_json::Value::Null
            } else {
                region.into()
            },
            value(growth)?,
        ],
        failure: stable.is_empty().then(|| "it failed before".to_string()),
        warnings: Vec::new(),
    })
}

impl Map {
    /// Runs the map.
    pub fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.out {
            row_file::check(path)?;
        }
        if let Some(path) = &self.plot {
            picture::check(path)?;
        }
        let draft = Draft::read(&self.file, &self.set)?;
        let scenario = draft.scenario()?;
        let title = scenario.title.replace('$', "");
        let amplitude = (!self.trace_boundary).then(|| amplitude(&scenario));
        let sweep = Sweep::map(draft, Axis::parse(&self.x)?, Axis::parse(&self.y)?)?;
        if self.trace_boundary && sweep.axes()[1].range().is_none_or(|((a, b), _)| a == b) {
            return Err(Failure::input(
                "the boundary is looked for along y between two ends",
                "write --y KEY=lin:a:b:n or --y KEY=log:a:b:n with different ends",
            ));
        }
        if let (Some(parts), Some(out)) = (self.slurm, &self.out) {
            let mut words = vec!["map".to_string(), self.file.display().to_string()];
            words.extend(["--x", &self.x, "--y", &self.y].map(String::from));
            words.extend(self.set.iter().flat_map(|set| ["--set".to_string(), set.clone()]));
            return print_data(&shards::slurm(&words, out, parts));
        }
        let header = map_header(&sweep);
        let mut results = Results::new(&self, &sweep, &header)?;
        let kept = stop::keep_rows(results.file.as_ref().and_then(RowFile::rows_at));
        let start = Instant::now();
        let outcome = if self.trace_boundary {
            self.trace(&sweep, &mut results)
        } else {
            self.fill(&sweep, &mut results)
        };
        let seconds = start.elapsed().as_secs_f64();
        drop(kept);
        let whole = match outcome {
            Ok(whole) => whole,
            Err(error) => return Err(results.broken(&error)),
        };
        if !whole {
            return Err(results.stopped());
        }
        let Results {
            file,
            cells,
            points,
            reason,
            warnings,
            ..
        } = results;
        if !self.json {
            say(&warnings);
        }
        if let Some(file) = file {
            file.finish()?;
        }
        if let (Some(part), Some(path)) = (self.shard, &self.out) {
            let shard = Shard {
                study: self.description(&sweep),
                rows: shard(sweep.rows(), part),
                total: sweep.rows(),
            };
            shard.write(path)?;
        }
        if let Some(path) = &self.plot {
            let figure = drawing::figure(title, &sweep, &cells, &points, amplitude);
            picture::save(&figure, path)?;
        }
        let failed = cells.iter().filter(|cell| cell.stable.is_none()).count();
        let stable = cells.iter().filter(|cell| cell.stable == Some(true)).count();
        if self.json {
            print_json(&serde_json::json!({
                "x": sweep.axes()[0].key, "y": sweep.axes()[1].key, "runs": cells.len(), "grid": sweep.rows(),
                "stable": stable, "unstable": cells.len() - stable - failed, "failed": failed,
                "seconds": seconds, "boundary": points, "warnings": warnings.kinds(),
            }))?;
        } else if !self.quiet {
            let text = summary(&sweep, &cells, &points, self.trace_boundary, seconds);
            // Rows on standard output are not mixed with words.
            let in_file = self.out.as_deref().is_some_and(|path| !Place::is_stream(path));
            if in_file { print(&text)? } else { note(&text) }
        }
        match reason {
            Some(reason) if failed == cells.len() => Err(Failure::Work(format!(
                "error: every run failed, the first because {reason}"
            ))),
            Some(reason) => {
                note(&format!("warning: {failed} runs failed, the first because {reason}"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What rows depend on.
    fn description(&self, sweep: &Sweep) -> Description {
        let axes = [self.x.clone(), self.y.clone()];
        let mode = match (self.trace_boundary, self.shard) {
            (true, _) => [format!("boundary to {}", self.tolerance)],
            (false, Some((i, n))) => [format!("part {i} of {n}")],
            (false, None) => ["grid".to_string()],
        };
        description(sweep.draft(), &[("set", &self.set), ("axes", &axes), ("rows", &mode)])
    }

    /// Every cell of the grid. False if it was stopped.
    fn fill(&self, sweep: &Sweep, results: &mut Results) -> io::Result<bool> {
        let part = shard(sweep.rows(), self.shard.unwrap_or((1, 1)));
        let (done, total) = (results.cells.len() as u64, part.end - part.start);
        let mut progress = Progress::of_runs(total, self.quiet);
        let outcome = sweep.run(
            part.start + done..part.end,
            threads(self.threads),
            Some(stop_flag()),
            &mut |row| {
                results.take(&row)?;
                progress.show(results.cells.len() as u64);
                Ok(())
            },
        );
        progress.clear();
        outcome?;
        Ok(results.cells.len() as u64 == total)
    }

    /// The boundary. False if it was stopped.
    fn trace(&self, sweep: &Sweep, results: &mut Results) -> io::Result<bool> {
        // Rows of an interrupted trace are the first rows of this one: they are read, not run, and not written again.
        let known = std::mem::take(&mut results.known);
        let mut skip = results.cells.len();
        results.cells.clear();
        let columns = sweep.axes()[0].count();
        let mut progress = Progress::of_columns(columns, self.quiet);
        let mut count = 0;
        let recall = |keys: &[Value]| {
            let cells: Vec<&str> = keys.iter().map(|key| key.cell.as_str()).collect();
            known.get(&cells.join(",")).cloned()
        };
        let stop = Some(stop_flag());
        let mut lost = Vec::new();
        let outcome = sweep.trace(self.tolerance, threads(self.threads), stop, &recall, &mut |column| {
            for row in &column.rows {
                if skip > 0 {
                    skip -= 1;
                    results.cells.push(Cell::of(row));
                } else {
                    results.take(row)?;
                }
            }
            match &column.boundary {
                Some(boundary) => results.points.extend(Point::new(&column.x, boundary)),
                None => lost.extend(column.x.number),
            }
            count += 1;
            progress.show(count);
            Ok(())
        });
        progress.clear();
        results.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if !lost.is_empty() && !self.quiet {
            lost.sort_by(f64::total_cmp);
            let lost: Vec<String> = lost.into_iter().map(number).collect();
            let [x, y] = [0, 1].map(|i| &sweep.axes()[i]);
            note(&format!(
                "warning: no boundary between the ends of {} at {} = {}",
                y.key,
                x.key,
                format!("{} {}", lost.join(", "), unit(sweep, x).unwrap_or_default()).trim_end()
            ));
        }
        outcome
    }
}

/// Where rows go, and what is kept of them.
struct Results {
    file: Option<RowFile>,
    to_standard_output: bool,
    cells: Vec<Cell>,
    /// Rows of an interrupted trace by their keys.
    known: HashMap<String, Row>,
    points: Vec<Point>,
    /// Why the first run failed, if one did.
    reason: Option<String>,
    warnings: Warnings,
    broken: Option<Failure>,
}

impl Results {
    fn new(map: &Map, sweep: &Sweep, header: &str) -> Result<Self, Failure> {
        let mut results = Results {
            file: None,
            to_standard_output: map.out.is_none() && !map.json,
            cells: Vec::new(),
            known: HashMap::new(),
            points: Vec::new(),
            reason: None,
            warnings: Warnings::default(),
            broken: None,
        };
        let Some(path) = &map.out else {
            if results.to_standard_output {
                print_data(&format!("{header}\n"))?;
            }
            return Ok(results);
        };
        let description = map.description(sweep);
        let part = shard(sweep.rows(), map.shard.unwrap_or((1, 1)));
        if !map.resume {
            results.file = Some(RowFile::create(path, header, &description)?);
            return Ok(results);
        }
        let seen: RefCell<Vec<Row>> = RefCell::default();
        let mut check = |number: u64, text: &str| {
            let keys = if map.trace_boundary {
                // Bisection decides the order, so a row is taken as it is.
                let written = text.split(',').take(2).map(|cell| Value {
                    written: cell.to_string(),
                    cell: cell.to_string(),
                    number: cell.parse().ok(),
                });
                written.collect()
            } else if part.start + number < part.end {
                sweep.keys(part.start + number)
            } else {
                return Err("it is one more than this map has".to_string());
            };
            let begins: String = keys.iter().map(|key| key.cell.clone() + ",").collect();
            let row = row(keys, text).filter(|_| text.starts_with(&begins));
            let row = row.ok_or_else(|| format!("it should begin with {begins} and is {text}"))?;
            seen.borrow_mut().push(row);
            Ok(())
        };
        let (found, _) = RowFile::find(path, header, &description, &mut check)?;
        let rows = seen.into_inner();
        if let Some(last) = rows.last() {
            let again = sweep.runner().run(last.keys.clone(), None);
            let (then, now) = (line(last), again.as_ref().map(line).unwrap_or_default());
            if then != now {
                return Err(Failure::input(
                    format!(
                        "cannot continue {}: its last row is {then} and would now be {now}",
                        path.display()
                    ),
                    "something it depends on has changed: start anew without --resume",
                ));
            }
        }
        results.file = Some(found.go_on(header, &description)?);
        for row in rows {
            results.cells.push(Cell::of(&row));
            results
                .known
                .insert(format!("{},{}", row.keys[0].cell, row.keys[1].cell), row);
        }
        Ok(results)
    }

    fn take(&mut self, row: &Row) -> io::Result<()> {
        if let Some(reason) = &row.failure {
            self.reason.get_or_insert_with(|| reason.clone());
        }
        self.warnings.take(&row.warnings);
        let text = line(row);
        if let Some(file) = &mut self.file {
            file.row(&text)?;
        } else if self.to_standard_output {
            print_data(&(text + "\n")).map_err(|failure| {
                self.broken = Some(failure);
                io::Error::from(io::ErrorKind::BrokenPipe)
            })?;
        }
        self.cells.push(Cell::of(row));
        Ok(())
    }

    /// The rows could not be written.
    fn broken(self, error: &io::Error) -> Failure {
        if let Some(failure) = self.broken {
            return failure;
        }
        match self.file {
            Some(file) => file.broken(error),
            None => Failure::Work(error.to_string()),
        }
    }

    fn stopped(self) -> Failure {
        let rows = self.cells.len();
        let left = self.file.and_then(RowFile::interrupt);
        let kept = left.map_or(String::new(), |left| {
            format!("; {} holds them: continue with --resume", left.display())
        });
        Failure::Work(format!("stopped after {rows} runs{kept}"))
    }
}

/// A line on cells where the linearised equations and the runs disagree.
fn linear(cells: &[Cell]) -> String {
    let grows = cells.iter().filter(|cell| cell.grows == Some(true));
    match grows.filter(|cell| cell.stable == Some(true)).count() {
        0 => String::new(),
        count => format!(
            "{count} of the stable cells are linearly unstable, but their limit cycle stays below the threshold\n"
        ),
    }
}

/// A line on cells whose signal changes and in which no cycle was seen.
fn unfinished(cells: &[Cell]) -> String {
    let changing = cells.iter().filter(|cell| cell.stable == Some(false) && !cell.cycles);
    match changing.count() {
        0 => String::new(),
        count => format!(
            "{count} of the cells with stick-slip changed without a whole cycle: a longer duration in [map] tells what they do\n"
        ),
    }
}

/// How many cells are stable, and the boundary.
fn summary(sweep: &Sweep, cells: &[Cell], points: &[Point], traced: bool, seconds: f64) -> String {
    let (x, y) = (&sweep.axes()[0], &sweep.axes()[1]);
    if !traced {
        let stable = cells.iter().filter(|cell| cell.stable == Some(true)).count();
        let failed = cells.iter().filter(|cell| cell.stable.is_none()).count();
        let inertial = cells.iter().filter(|cell| cell.inertial).count();
        let by_inertia = match cells.iter().any(|cell| cell.inertial || cell.creeps) {
            true => format!(" ({inertial} by inertia)"),
            false => String::new(),
        };
        return format!(
            "{} runs in {}: {stable} stable, {} with stick-slip{by_inertia}, {failed} failed\n{}",
            cells.len(),
            about(seconds),
            cells.len() - stable - failed,
            unfinished(cells) + &linear(cells)
        );
    }
    let with_unit = |axis: &Axis| match unit(sweep, axis) {
        Some(unit) => format!("{} ({unit})", axis.key),
        None => axis.key.clone(),
    };
    let mut rows = vec![vec![
        with_unit(x),
        format!("boundary of {}", with_unit(y)),
        "stable".to_string(),
    ]];
    for point in points {
        let side = if point.stable_above { "above" } else { "below" };
        rows.push(vec![number(point.x), number(point.y), side.to_string()]);
    }
    let dearer = if cells.len() as u64 > sweep.rows() {
        "so few values of y cost less as a grid; a larger --tolerance needs fewer runs\n"
    } else {
        ""
    };
    format!(
        "{}{} runs in {} where the grid has {} (values in SI units)\n{dearer}{}",
        table(&rows, ""),
        cells.len(),
        about(seconds),
        sweep.rows(),
        unfinished(cells) + &linear(cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that is read back, which continuing a map compares with the run, has every digit.
    #[test]
    fn a_line_reads_back_as_it_was_written() {
        let mut x = 0.013_732_831_367_756_753_f64;
        for _ in 0..1000 {
            let text = format!("1,2,{x},{},false,creep,{}", 3.0 * x, -x / 7.0);
            let keys = ["1", "2"].map(|cell| Value {
                written: cell.to_string(),
                cell: cell.to_string(),
                number: cell.parse().ok(),
            });
            let read = row(keys.into(), &text).unwrap();
            assert_eq!(line(&read), text);
            x = (x * 1.937_462_518_3 + 0.012_345_678_9).rem_euclid(1.0);
        }
    }
}
