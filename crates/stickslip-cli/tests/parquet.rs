//! Parquet files: with the feature `parquet` they hold what CSV files hold, and without it the answer names the feature.

mod common;

#[cfg(not(feature = "parquet"))]
use common::Folder;

const TRACE: [&str; 2] = ["run", "block.toml"];
/// Words and numbers as keys; numbers, whole numbers, a word and a switch as measures.
const ROWS: [&str; 12] = [
    "sweep",
    "block.toml",
    "--set",
    "analysis.stick_slip={signal=\"floor.force\"}",
    "--vary",
    "elements.floor.law=list:implicit,karnopp",
    "--vary",
    "bodies.block.mass=log:0.1:10:3",
    "--set",
    "elements.floor.static=13",
    "--measure",
    "final.block.position,elements.floor.transitions,stick_slip.signal,stick_slip.stable,stick_slip.period",
];
const MAP: [&str; 8] = [
    "map",
    "block.toml",
    "--x",
    "elements.spring.stiffness=list:90,100",
    "--y",
    "elements.floor.kinetic=lin:5:15:3",
    "--set",
    "analysis.stick_slip={signal=\"floor.force\"}",
];

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_the_format_names_the_feature() {
    let folder = Folder::with_block("no-parquet");
    for work in [&TRACE[..], &ROWS, &MAP] {
        let arguments = [work, &["--out", "a.parquet"]].concat();
        folder.run(&arguments).fails(2, &["a.parquet", "feature `parquet`"]);
    }
    assert_eq!(folder.names(), ["block.toml"]);
}

#[cfg(feature = "parquet")]
mod with_the_feature {
    use super::{MAP, ROWS, TRACE};
    use crate::common::Folder;
    use parquet::basic::Type as Physical;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    /// Names, kinds and fields of a table; fields as CSV has them.
    fn read(folder: &Folder, name: &str) -> (Vec<String>, Vec<Physical>, Vec<Vec<String>>) {
        let file = std::fs::File::open(folder.path(name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names = schema
            .columns()
            .iter()
            .map(|column| column.name().to_string())
            .collect();
        let kinds = schema.columns().iter().map(|column| column.physical_type()).collect();
        let rows = reader.get_row_iter(None).unwrap().map(|row| {
            let row = row.unwrap();
            let fields = row.get_column_iter().map(|(_, field)| match field {
                Field::Null => String::new(),
                Field::Double(value) => format!("{value:?}"),
                Field::Str(text) => text.clone(),
                other => other.to_string(),
            });
            fields.collect()
        });
        let rows = rows.collect();
        (names, kinds, rows)
    }

    fn csv(folder: &Folder, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut reader = csv::Reader::from_path(folder.path(name)).unwrap();
        let fields = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
        let names = fields(reader.headers().unwrap());
        (names, reader.records().map(|record| fields(&record.unwrap())).collect())
    }

    #[test]
    fn a_trace_has_the_numbers_of_the_csv_file_bit_for_bit() {
        let folder = Folder::with_block("parquet-trace");
        // More rows than one group of them holds.
        let long = ["--set", "simulation.step=\"0.01 ms\"", "--out"];
        for name in ["a.csv", "a.parquet"] {
            folder.run(&[&TRACE[..], &long, &[name, "--quiet"]].concat()).ok();
        }
        let (names, kinds, rows) = read(&folder, "a.parquet");
        assert!(kinds.iter().all(|kind| *kind == Physical::DOUBLE));
        assert_eq!(rows.len(), 400_001);
        let expected = csv(&folder, "a.csv");
        assert_eq!(names, expected.0);
        assert!(rows == expected.1);
        assert_eq!(folder.names(), ["a.csv", "a.parquet", "block.toml"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_trace_on_a_full_disk_has_its_first_groups_of_rows() {
        let folder = Folder::with_block("parquet-full");
        // It does not come to rest, so that its groups are about as large.
        let step = "simulation.step=\"0.01 ms\"";
        let moving = "bodies.hook.velocity=\"2+sin(7*t)\"";
        let long = [&TRACE[..], &["--set", step, "--set", moving, "--quiet", "--out"]].concat();
        for name in ["whole.csv", "whole.parquet"] {
            folder.run(&[&long[..], &[name]].concat()).ok();
        }
        let size = std::fs::metadata(folder.path("whole.parquet")).unwrap().len();
        // Half of it, or most of it where a block has 1024 bytes.
        let ran = folder.run_within(size * 45 / 100 / 512, &[&long[..], &["a.parquet"]].concat());
        ran.fails(1, &["cannot write a.parquet", "a.parquet holds the rows"]);
        let (names, _, rows) = read(&folder, "a.parquet");
        let expected = csv(&folder, "whole.csv");
        assert_eq!(names, expected.0);
        // Groups of 2^20 numbers in 8 columns.
        assert!(!rows.is_empty() && rows.len() % (1 << 17) == 0, "{}", rows.len());
        assert!(rows[..] == expected.1[..rows.len()]);
        // Less than a group: as many rows as there is room for.
        std::fs::remove_file(folder.path("a.parquet")).unwrap();
        let ran = folder.run_within(size / 10 / 512, &[&long[..], &["a.parquet"]].concat());
        ran.fails(1, &["cannot write a.parquet", "a.parquet holds the rows"]);
        let (names, _, rows) = read(&folder, "a.parquet");
        assert_eq!(names, expected.0);
        assert!(rows.len() > 10_000 && rows.len() < 1 << 17, "{}", rows.len());
        assert!(rows[..] == expected.1[..rows.len()]);
        // Less than a row: nothing.
        std::fs::remove_file(folder.path("a.parquet")).unwrap();
        let ran = folder.run_within(0, &[&long[..], &["a.parquet"]].concat());
        ran.fails(1, &["cannot write a.parquet"]);
        assert_eq!(folder.names(), ["block.toml", "whole.csv", "whole.parquet"]);
    }

    #[test]
    fn rows_of_sweeps_and_maps_are_those_of_the_csv_file() {
        let folder = Folder::with_block("parquet-rows");
        for work in [&ROWS[..], &MAP] {
            for name in ["a.csv", "a.parquet"] {
                folder.run(&[work, &["--out", name]].concat()).ok();
            }
            let (names, _, rows) = read(&folder, "a.parquet");
            assert_eq!((names, rows), csv(&folder, "a.csv"));
            assert_eq!(folder.names(), ["a.csv", "a.parquet", "block.toml"]);
        }
        folder.run(&[&ROWS[..], &["--out", "a.parquet"]].concat()).ok();
        use Physical::{BOOLEAN, BYTE_ARRAY, DOUBLE, INT64};
        let (_, kinds, _) = read(&folder, "a.parquet");
        let text = BYTE_ARRAY;
        assert_eq!(kinds, [text, DOUBLE, DOUBLE, INT64, text, BOOLEAN, DOUBLE, text]);
    }

    #[test]
    fn an_interrupted_sweep_goes_on_and_a_complete_one_stays() {
        let folder = Folder::with_block("parquet-resume");
        let arguments = [&ROWS[..], &["--out", "a.parquet"]].concat();
        folder.run(&arguments).ok();
        let whole = std::fs::read(folder.path("a.parquet")).unwrap();
        let resume = [&arguments[..], &["--resume"]].concat();

        // Nothing is left to do.
        folder.run(&resume).ok();
        assert_eq!(std::fs::read(folder.path("a.parquet")).unwrap(), whole);
        assert_eq!(folder.names(), ["a.parquet", "block.toml"]);

        // The file of another sweep.
        let other = [&resume[..], &["--set", "bodies.block.velocity=1"]].concat();
        folder.run(&other).fails(2, &["cannot continue", "its set was"]);
        folder.write("b.parquet", "not a table");
        let broken = [&ROWS[..], &["--out", "b.parquet", "--resume"]].concat();
        folder.run(&broken).fails(2, &["cannot continue", "b.parquet"]);
        assert_eq!(folder.names(), ["a.parquet", "b.parquet", "block.toml"]);
        assert_eq!(std::fs::read(folder.path("a.parquet")).unwrap(), whole);

        // As after a kill: three rows, the last torn.
        folder.run(&[&ROWS[..], &["--out", "a.csv"]].concat()).ok();
        let rows = folder.read("a.csv");
        let end = rows.match_indices('\n').nth(2).unwrap().0 + 9;
        folder.write("a.parquet.part", &rows[..end]);
        std::fs::remove_file(folder.path("a.parquet")).unwrap();
        let ran = folder.run(&resume).ok();
        assert!(ran.err.contains("torn"), "{}", ran.err);
        let (names, _, fields) = read(&folder, "a.parquet");
        assert_eq!((names, fields), csv(&folder, "a.csv"));
    }
}
