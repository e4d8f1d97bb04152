//! Sweeps and maps: rows as columns, and as the lines of CSV that the command line writes.

use crate::error;
use crate::source::Source;
use crate::work::{Progress, perform, perform_whole};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering;
use stickslip::memory::lacking;
use stickslip::sweep::{Axis, Mistake, Row, Sweep, SweepError, Value};
use stickslip_study::panels;
use stickslip_study::rows::{map_header, map_line, sweep_header, sweep_line};
use stickslip_study::warnings::Warnings;

fn axes(vary: &[String]) -> Result<Vec<Axis>, SweepError> {
    Ok(vary.iter().map(|text| Axis::parse(text)).collect::<Result<_, _>>()?)
}

fn prepare(source: &Source, vary: &[String], measure: &[String]) -> Result<Sweep, SweepError> {
    Sweep::new(source.draft()?, axes(vary)?, measure)
}

/// About what a number or a text of a row takes until it stands in its column, bytes.
const CELL: u64 = 64;

/// Refuses more rows than there is memory for.
fn check_memory(rows: u64, sweep: &Sweep, measures: usize) -> Result<(), SweepError> {
    let cells = (sweep.axes().len() + measures + 1) as u64;
    let bytes = rows.saturating_mul(size_of::<Row>() as u64 + CELL * cells);
    lacking(bytes).map_or(Ok(()), |missing| {
        Err(SweepError::Mistake(Mistake {
            message: format!("{rows} rows take {missing}"),
            help: "use fewer values, or `stickslip sweep --out FILE`, which writes rows as they come".to_string(),
        }))
    })
}

fn raise(py: Python<'_>, source: &Source, error: SweepError) -> PyErr {
    match error {
        SweepError::Scenario(error) => source.raise(py, error),
        error => error::sweep(py, &error),
    }
}

/// A column: numbers with NaN where there is none, or anything as JSON.
enum Column {
    Numbers(Vec<f64>),
    Any(Vec<serde_json::Value>),
}

impl Column {
    fn of(values: Vec<serde_json::Value>) -> Self {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::Null => Some(f64::NAN),
            value => value.as_f64(),
        };
        match values.iter().map(number).collect() {
            Some(numbers) if values.iter().any(serde_json::Value::is_number) => Self::Numbers(numbers),
            _ => Self::Any(values),
        }
    }

    fn into_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Numbers(numbers) => Ok(numbers.into_pyarray(py).into_any()),
            Self::Any(values) => {
                let text = serde_json::to_string(&values).unwrap_or_default();
                Ok(text.into_pyobject(py)?.into_any())
            }
        }
    }
}

/// Header, lines of CSV, columns in the order of the header, what runs warn of, what Ctrl-C raised.
type Table<'py> = (String, String, Vec<Bound<'py, PyAny>>, Vec<String>, Option<PyErr>);

/// Rows as columns; `status` where the table has one.
fn table<'py>(
    py: Python<'py>,
    header: String,
    rows: Vec<Row>,
    line: fn(&Row) -> String,
    status: bool,
    raised: Option<PyErr>,
) -> PyResult<Table<'py>> {
    let lines: String = rows.iter().map(|row| line(row) + "\n").collect();
    let mut warnings = Warnings::default();
    rows.iter().for_each(|row| warnings.take(&row.warnings));
    let (keys, measures) = rows.first().map_or((0, 0), |row| (row.keys.len(), row.values.len()));
    let mut columns = Vec::new();
    let cell = |key: &Value| match key.number {
        Some(number) => number.into(),
        None => key.cell.clone().into(),
    };
    for key in 0..keys {
        columns.push(Column::of(rows.iter().map(|row| cell(&row.keys[key])).collect()));
    }
    for measure in 0..measures {
        columns.push(Column::of(rows.iter().map(|row| row.values[measure].clone()).collect()));
    }
    // Without a row nobody knows what kind its columns are.
    if status && !rows.is_empty() {
        let status = |row: &Row| row.failure.clone().unwrap_or_else(|| "ok".to_string()).into();
        columns.push(Column::Any(rows.iter().map(status).collect()));
    }
    let columns = columns
        .into_iter()
        .map(|column| column.into_python(py))
        .collect::<PyResult<_>>()?;
    Ok((header, lines, columns, warnings.sentences(), raised))
}

/// How many rows a sweep has; refuses what `sweep` would.
#[pyfunction]
pub fn sweep_size(py: Python<'_>, source: Source, vary: Vec<String>, measure: Vec<String>) -> PyResult<u64> {
    let sweep = perform_whole(py, |_| prepare(&source, &vary, &measure))?;
    sweep
        .map(|sweep| sweep.rows())
        .map_err(|error| raise(py, &source, error))
}

/// Title of a map, what stands at x and y, and what the amplitude is the amplitude of.
type Labels = [String; 4];

/// How many cells a map has, and what stands at its axes; refuses what `map` would.
#[pyfunction]
pub fn map_plan(py: Python<'_>, source: Source, x: String, y: String) -> PyResult<(u64, Labels)> {
    let plan = perform_whole(py, |_| -> Result<_, SweepError> {
        let (scenario, draft) = (source.scenario()?, source.draft()?);
        let sweep = Sweep::map(draft, Axis::parse(&x)?, Axis::parse(&y)?)?;
        let [x, y] = [0, 1].map(|axis| panels::with_unit(&sweep, &sweep.axes()[axis]));
        let amplitude = panels::amplitude(&scenario);
        Ok((sweep.rows(), [scenario.title, x, y, amplitude]))
    })?;
    plan.map_err(|error| raise(py, &source, error))
}

/// Rows of a sweep, all or a range of them.
#[pyfunction]
pub fn sweep<'py>(
    py: Python<'py>,
    source: Source,
    vary: Vec<String>,
    measure: Vec<String>,
    rows: Option<(u64, u64)>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table<'py>> {
    let progress = Progress::new(progress);
    let (done, raised) = perform(py, Some(&progress), |stop| -> Result<_, SweepError> {
        let sweep = prepare(&source, &vary, &measure)?;
        let range = rows.map_or(0..sweep.rows(), |(start, end)| Range {
            start: start.min(sweep.rows()),
            end: end.min(sweep.rows()),
        });
        let count = range.end.saturating_sub(range.start);
        check_memory(count, &sweep, measure.len())?;
        progress.total.store(count, Ordering::Relaxed);
        let mut rows = Vec::new();
        let mut keep = |row: Row| {
            rows.push(row);
            progress.done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        // The sink never fails.
        let _ = sweep.run(range, threads, Some(stop), &mut keep);
        Ok((sweep_header(&sweep, &measure), rows))
    })?;
    let (header, rows) = done.map_err(|error| raise(py, &source, error))?;
    table(py, header, rows, sweep_line, true, raised)
}

/// x, y, lower and upper end of the last bracket, whether cells above are stable.
type Point = (f64, f64, f64, f64, bool);

/// A stability map: its cells, or those that a search for the boundary looked at, and the boundary.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the command
pub fn map<'py>(
    py: Python<'py>,
    source: Source,
    x: String,
    y: String,
    tolerance: Option<f64>,
    rows: Option<(u64, u64)>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table<'py>, Vec<Point>)> {
    let progress = Progress::new(progress);
    let (done, raised) = perform(py, Some(&progress), |stop| -> Result<_, SweepError> {
        let sweep = Sweep::map(source.draft()?, Axis::parse(&x)?, Axis::parse(&y)?)?;
        let (mut rows_done, mut points) = (Vec::new(), Vec::new());
        // The sinks never fail.
        if let Some(tolerance) = tolerance {
            progress.total.store(sweep.axes()[0].count(), Ordering::Relaxed);
            let _ = sweep.trace(tolerance, threads, Some(stop), &|_| None, &mut |column| {
                let point = column.boundary.as_ref().and_then(|boundary| {
                    Some((
                        column.x.number?,
                        boundary.y.number?,
                        boundary.bracket.0.number?,
                        boundary.bracket.1.number?,
                        boundary.stable_above,
                    ))
                });
                points.extend(point);
                rows_done.extend(column.rows);
                progress.done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            points.sort_by(|a: &Point, b| a.0.total_cmp(&b.0));
        } else {
            let range = rows.map_or(0..sweep.rows(), |(start, end)| start..end.min(sweep.rows()));
            progress
                .total
                .store(range.end.saturating_sub(range.start), Ordering::Relaxed);
            let _ = sweep.run(range, threads, Some(stop), &mut |row| {
                rows_done.push(row);
                progress.done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
        }
        Ok((map_header(&sweep), rows_done, points))
    })?;
    let (header, rows, points) = done.map_err(|error| raise(py, &source, error))?;
    Ok((table(py, header, rows, map_line, false, raised)?, points))
}
