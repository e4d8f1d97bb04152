//! Outcomes of runs that take too long to be repeated for every page: kept in a file of `figures/` with their date and command,
//! done anew with `figures --all`.

use super::bench::{Bench, Run};
use serde::Deserialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a long run came to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Its name.
    pub id: String,
    /// Amplitude of the signal under analysis.
    pub amplitude: f64,
    /// Time between two values, s.
    pub spacing: f64,
    /// The signal, to four digits.
    pub values: Vec<f64>,
}

/// A file of such outcomes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// When they were done, year-month-day.
    pub date: String,
    /// The command that did them.
    pub command: String,
    /// The runs.
    pub run: Vec<Kept>,
}

impl Stored {
    /// The outcomes in the file, or those of runs done now if everything was asked for.
    pub fn take(
        bench: &mut Bench,
        text: &str,
        command: &str,
        long: impl FnOnce(&mut Bench) -> Result<Vec<Kept>, String>,
    ) -> Result<Self, String> {
        if bench.all {
            return Ok(Self {
                date: today(),
                command: command.into(),
                run: long(bench)?,
            });
        }
        toml::from_str(text).map_err(|error| format!("stored outcomes: {error}"))
    }

    /// A run by its name.
    pub fn run(&self, id: &str) -> Result<&Kept, String> {
        let found = self.run.iter().find(|run| run.id == id);
        found.ok_or_else(|| format!("no outcome of \"{id}\" is stored"))
    }

    /// The file that holds them.
    pub fn text(&self) -> String {
        let mut out = format!(
            "# Outcomes of long runs. `stickslip figures --all` does them anew and writes this file beside the page.\n\n\
             date = \"{}\"\ncommand = \"{}\"\n",
            self.date, self.command
        );
        for run in &self.run {
            let values: Vec<String> = run.values.iter().map(|value| format!("{value:.4}")).collect();
            out += &format!(
                "\n[[run]]\nid = \"{}\"\namplitude = {:?}\nspacing = {:?}\nvalues = [{}]\n",
                run.id,
                run.amplitude,
                run.spacing,
                values.join(", ")
            );
        }
        out
    }

    /// Where they come from, for a caption.
    pub fn origin(&self) -> String {
        format!(
            "Stored outcome of {}, by: {}. stickslip figures --all repeats the runs.",
            self.date, self.command
        )
    }
}

impl Kept {
    /// The outcome of a run: a column divided by a scale, at its rows.
    pub fn new(id: &str, run: &Run, column: &str, scale: f64) -> Result<Self, String> {
        let times = run.times();
        Ok(Self {
            id: id.into(),
            amplitude: run.cycle()?.amplitude,
            spacing: times.get(1).copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0),
            values: run.column(column)?.iter().map(|value| value / scale).collect(),
        })
    }

    /// Times of the values, s.
    pub fn times(&self) -> Vec<f64> {
        (0..self.values.len()).map(|i| i as f64 * self.spacing).collect()
    }
}

/// The day of today in UTC.
fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    date_of((seconds / 86_400) as i64)
}

/// The day that is so many days after 1970-01-01.
fn date_of(days: i64) -> String {
    // Years that begin in March: a leap day is then the last day of its year.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{date:02}", year + 400 * era + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(date_of(0), "1970-01-01");
        assert_eq!(date_of(11_016), "2000-02-29");
        assert_eq!(date_of(11_017), "2000-03-01");
        assert_eq!(date_of(19_722), "2023-12-31");
        assert_eq!(date_of(19_782), "2024-02-29");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let stored = Stored {
            date: date_of(1),
            command: "stickslip figures --all".into(),
            run: vec![Kept {
                id: "a".into(),
                amplitude: 0.1234,
                spacing: 2.0,
                values: vec![0.0, -0.25, 0.5],
            }],
        };
        let again: Stored = toml::from_str(&stored.text()).unwrap();
        let run = again.run("a").unwrap();
        assert_eq!((again.date.as_str(), run.amplitude), ("1970-01-02", 0.1234));
        assert_eq!(
            (run.times(), &run.values),
            (vec![0.0, 2.0, 4.0], &vec![0.0, -0.25, 0.5])
        );
        assert!(again.run("b").is_err());
    }
}
