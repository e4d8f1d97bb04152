//! From columns of files to records in SI.

use super::{Data, refused};
use crate::Fault;
use std::path::{Path, PathBuf};
use stickslip::analysis::measured::{DataError, Sheet};
use stickslip::analysis::subloading::{Record, Test};
use stickslip::quantity::{Dimension, Unit, quantity};

/// Usual names of columns.
const TIME: &[&str] = &["t", "time"];
const DISPLACEMENT: &[&str] = &["displacement", "x", "position", "slip"];
const VELOCITY: &[&str] = &["velocity", "v", "speed"];
const FORCE: &[&str] = &["force", "friction", "friction_force", "f", "mu"];
const RECORD: &[&str] = &["record", "test"];

/// Which columns mean what.
pub struct Columns<'a> {
    arguments: &'a Data,
}

impl<'a> Columns<'a> {
    /// Of these data.
    pub fn new(arguments: &'a Data) -> Self {
        Columns { arguments }
    }

    /// Name of a column: as given, or a usual one.
    fn name(&self, sheet: &Sheet, given: Option<&String>, usual: &[&str], what: &str) -> Result<String, Fault> {
        if let Some(name) = given {
            return Ok(name.clone());
        }
        let found = usual.iter().find_map(|usual| {
            let named = |column: &&String| plain(column).eq_ignore_ascii_case(usual);
            sheet.names().iter().find(named)
        });
        found.cloned().ok_or_else(|| {
            Fault::input(
                format!("{} has no column {} for the {what}", sheet.file(), usual.join(", ")),
                format!("name it with --{what} COLUMN; columns: {}", sheet.names().join(", ")),
            )
        })
    }

    /// The unit of a column: by `--unit`, in brackets behind its name, or none: SI.
    fn unit(&self, column: &str) -> Result<Option<(Unit, String)>, Fault> {
        for text in &self.arguments.unit {
            let (name, unit) = split(text, "COLUMN=UNIT", "--unit x=mm")?;
            if name == column || name == plain(column) {
                let read = Unit::parse(unit);
                let unit_of = read.map_err(|error| Fault::input(format!("unit of column \"{name}\": {error}"), ""))?;
                return Ok(Some((unit_of, unit.to_string())));
            }
        }
        let inside = bracketed(column).and_then(|unit| Some((Unit::parse(unit).ok()?, unit.to_string())));
        Ok(inside)
    }

    /// Refuses units of columns that are not there: a slip of the pen would leave mm as m.
    fn check_units(&self, sheets: &[&Sheet]) -> Result<(), Fault> {
        for text in &self.arguments.unit {
            let (name, _) = split(text, "COLUMN=UNIT", "--unit x=mm")?;
            let has = |sheet: &&Sheet| {
                sheet
                    .names()
                    .iter()
                    .any(|column| column == name || plain(column) == name)
            };
            if let Some(sheet) = sheets.first()
                && !sheets.iter().any(has)
            {
                sheet.column(name).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Numbers of a column in SI, of one of these dimensions, and which it is.
    fn numbers(&self, sheet: &Sheet, name: &str, dimensions: &[Dimension]) -> Result<(Vec<f64>, Dimension), Fault> {
        let mut numbers = sheet.numbers(sheet.column(name).map_err(refused)?).map_err(refused)?;
        let Some((unit, text)) = self.unit(name)? else {
            // SI, unless the name says that it is not.
            return match bracketed(name) {
                None => Ok((numbers, dimensions[0])),
                Some(unit) => Err(Fault::input(
                    format!("\"{unit}\" in the name of column \"{name}\" is no unit that is known here"),
                    format!("say its unit: --unit \"{name}=mm\""),
                )),
            };
        };
        let found = unit.dimension();
        if !dimensions.contains(&found) {
            let wanted = dimensions[0].name().unwrap_or("another unit");
            return Err(Fault::input(
                format!("the column \"{name}\" is {wanted}, and \"{text}\" is no unit of that"),
                "",
            ));
        }
        for number in &mut numbers {
            *number = unit.to_si(*number);
        }
        Ok((numbers, found))
    }

    /// Times and values of a signal, and its unit: as it stands in the file.
    pub fn signal(&self, sheet: &Sheet, signal: &str) -> Result<(Vec<f64>, Vec<f64>, String), Fault> {
        self.check_units(&[sheet])?;
        let column = sheet.column(signal).map_err(refused)?;
        let time = self.name(sheet, self.arguments.time.as_ref(), TIME, "time")?;
        let (times, _) = self.numbers(sheet, &time, &[Dimension::TIME])?;
        sheet.increasing(&times, 0).map_err(refused)?;
        let values = sheet.numbers(column).map_err(refused)?;
        let unit = self.unit(signal)?.map_or(String::new(), |(_, text)| text);
        Ok((times, values, unit))
    }

    /// The records of all files.
    pub fn records(&self) -> Result<Vec<Record>, Fault> {
        let mut files: Vec<(PathBuf, Option<Test>)> =
            (self.arguments.data.iter()).map(|path| (path.clone(), None)).collect();
        for text in &self.arguments.test {
            let (name, file) = split(text, "TEST=FILE", "--test long-hold=first.csv")?;
            let names = || Test::ALL.iter().map(|(name, _)| *name);
            let test = Test::ALL.iter().find(|(known, _)| *known == name);
            let (_, test) = test.ok_or_else(|| Fault::unknown("test", name, names()))?;
            let path = PathBuf::from(file);
            // A file that was named already is now known to be of this test.
            match files.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => *known = Some(*test),
                None => files.push((path, Some(*test))),
            }
        }
        if files.is_empty() {
            return Err(Fault::input(
                "there are no data",
                "name CSV files with the records: stickslip analyse DATA.csv --law subloading --normal-force \"50 N\"",
            ));
        }
        let sheets: Vec<Sheet> = files
            .iter()
            .map(|(path, _)| Sheet::read(path).map_err(refused))
            .collect::<Result<_, _>>()?;
        self.check_units(&sheets.iter().collect::<Vec<_>>())?;
        let mut records = Vec::new();
        for ((path, test), sheet) in files.iter().zip(&sheets) {
            records.extend(self.records_of(path, sheet, *test)?);
        }
        // Two of one name would not be told apart.
        let names: Vec<String> = records.iter().map(|record: &Record| record.name.clone()).collect();
        for (i, record) in records.iter_mut().enumerate() {
            let before = names[..i].iter().filter(|name| **name == record.name).count();
            if before > 0 {
                record.name = format!("{} ({})", record.name, before + 1);
            }
        }
        Ok(records)
    }

    fn records_of(&self, path: &Path, sheet: &Sheet, test: Option<Test>) -> Result<Vec<Record>, Fault> {
        let arguments = self.arguments;
        let time = self.name(sheet, arguments.time.as_ref(), TIME, "time")?;
        let (times, _) = self.numbers(sheet, &time, &[Dimension::TIME])?;
        let force = self.name(
            sheet,
            arguments.force.as_ref().or(arguments.signal.as_ref()),
            FORCE,
            "force",
        )?;
        let (mut force, kind) = self.numbers(sheet, &force, &[Dimension::FORCE, Dimension::NONE])?;
        let normal = self.normal(sheet, times.len())?;
        if kind == Dimension::NONE {
            for (force, normal) in force.iter_mut().zip(&normal) {
                *force *= normal;
            }
        }
        let motion = self.motion(sheet)?;
        let stem = path
            .file_stem()
            .map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let names = match arguments.record.as_deref().or(usual_record(sheet)) {
            Some(name) => {
                let column = sheet.column(name).map_err(refused)?;
                (0..sheet.rows()).map(|row| sheet.text(row, column)).collect()
            }
            None => vec![stem.clone(); sheet.rows()],
        };
        if sheet.rows() == 0 {
            return Err(Fault::input(
                format!("{} has no rows", sheet.file()),
                "give the whole course of a test",
            ));
        }
        let mut records = Vec::new();
        let mut first = 0;
        for last in 1..=sheet.rows() {
            if last < sheet.rows() && names[last] == names[first] {
                continue;
            }
            sheet.increasing(&times[first..last], first).map_err(refused)?;
            let name = if names[first].is_empty() {
                stem.clone()
            } else {
                names[first].clone()
            };
            let part = |column: &[f64]| column[first..last].to_vec();
            let times = part(&times);
            let displacement = match &motion {
                Motion::Displacement(x) => part(x),
                Motion::Velocity(v) => integral(&times, &v[first..last]),
            };
            records.push(Record {
                test: test.or_else(|| Test::named(&name)),
                name,
                times,
                displacement,
                force: part(&force),
                normal: part(&normal),
            });
            first = last;
        }
        Ok(records)
    }

    fn motion(&self, sheet: &Sheet) -> Result<Motion, Fault> {
        let arguments = self.arguments;
        let usual = |names: &[&str]| {
            let mut columns = sheet.names().iter();
            columns.any(|column| names.iter().any(|name| plain(column).eq_ignore_ascii_case(name)))
        };
        let by_velocity = arguments.velocity.is_some()
            || (arguments.displacement.is_none() && !usual(DISPLACEMENT) && usual(VELOCITY));
        if by_velocity {
            let name = self.name(sheet, arguments.velocity.as_ref(), VELOCITY, "velocity")?;
            return Ok(Motion::Velocity(self.numbers(sheet, &name, &[Dimension::VELOCITY])?.0));
        }
        let name = self.name(sheet, arguments.displacement.as_ref(), DISPLACEMENT, "displacement")?;
        Ok(Motion::Displacement(
            self.numbers(sheet, &name, &[Dimension::LENGTH])?.0,
        ))
    }

    /// The normal force of every row.
    fn normal(&self, sheet: &Sheet, rows: usize) -> Result<Vec<f64>, Fault> {
        let Some(text) = &self.arguments.normal_force else {
            return Err(Fault::input(
                "the normal force is not given",
                "--normal-force \"50 N\", or the column that holds it",
            ));
        };
        if sheet.names().iter().any(|name| name == text) {
            return Ok(self.numbers(sheet, text, &[Dimension::FORCE])?.0);
        }
        match quantity(text, Dimension::FORCE) {
            Ok(force) if force > 0.0 => Ok(vec![force; rows]),
            Ok(_) => Err(Fault::input(
                format!("a normal force of \"{text}\" presses nothing together"),
                "it must be above 0",
            )),
            // Neither a force nor a column.
            Err(error) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => Err(Fault::input(
                format!("--normal-force: {error}"),
                "write it with its unit: \"50 N\"",
            )),
            Err(_) => {
                let DataError { message, help } = sheet.column(text).err().unwrap_or(DataError::new("", ""));
                Err(Fault::input(format!("--normal-force: {message}"), help))
            }
        }
    }
}

enum Motion {
    Displacement(Vec<f64>),
    Velocity(Vec<f64>),
}

/// The way travelled, by the trapezoidal rule.
fn integral(times: &[f64], velocity: &[f64]) -> Vec<f64> {
    let mut way = vec![0.0];
    for (t, v) in times.windows(2).zip(velocity.windows(2)) {
        way.push(way[way.len() - 1] + 0.5 * (v[0] + v[1]) * (t[1] - t[0]));
    }
    way
}

/// A column that names records, if there is one of a usual name.
fn usual_record(sheet: &Sheet) -> Option<&str> {
    let usual = |name: &&String| RECORD.iter().any(|usual| name.eq_ignore_ascii_case(usual));
    sheet.names().iter().find(usual).map(String::as_str)
}

/// The name of a column without a unit in brackets behind it: `x` of `x [mm]`.
fn plain(column: &str) -> &str {
    match bracketed(column) {
        Some(_) => column[..column.rfind(['[', '(']).unwrap_or(column.len())].trim_end(),
        None => column,
    }
}

/// The text in brackets at the end of a name.
fn bracketed(column: &str) -> Option<&str> {
    let inside = column.strip_suffix(']').or(column.strip_suffix(')'))?;
    let (_, unit) = inside.rsplit_once(['[', '('])?;
    Some(unit.trim())
}

fn split<'a>(text: &'a str, form: &str, example: &str) -> Result<(&'a str, &'a str), Fault> {
    let parts = text
        .split_once('=')
        .filter(|(name, value)| !name.is_empty() && !value.is_empty());
    parts.ok_or_else(|| Fault::input(format!("expected {form}, found \"{text}\""), example))
}
