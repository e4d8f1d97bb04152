//! Tables as Parquet files (feature `parquet`), written a group of rows at a time; and rows of CSV as such a table and back.
//!
//! Numbers are stored bit for bit, byte-stream split: of neighbouring rows the bytes are alike where the numbers are not.

use crate::output::{Part, PendingFile};
use parquet::basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData, RowGroupMetaDataPtr,
};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::types::Type;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use stickslip_study::rows::quoted;

/// Values that wait in memory before a group of rows is written.
const GROUP: usize = 1 << 20;
/// Under this name a file holds what its rows are rows of, as JSON.
const DESCRIPTION: &str = "stickslip";

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
}

impl Kind {
    /// Whether a value of this kind is written as exactly this text.
    fn writes(self, text: &str) -> bool {
        match self {
            Kind::Boolean => text.parse::<bool>().is_ok(),
            Kind::Integer => text.parse::<i64>().is_ok_and(|value| value.to_string() == text),
            Kind::Number => text.parse::<f64>().is_ok_and(|value| format!("{value:?}") == text),
            Kind::Text => true,
        }
    }
}

/// A column of the rows that wait: its values, and for every row 1 if it has one and 0 if not.
struct Column {
    values: Values,
    levels: Vec<i16>,
}

enum Values {
    Boolean(Vec<bool>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Column {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Boolean => Values::Boolean(Vec::new()),
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        };
        let levels = Vec::new();
        Column { values, levels }
    }

    /// Takes a field; an empty one is no value.
    fn push(&mut self, text: &str) {
        fn add<T>(values: &mut Vec<T>, value: Option<T>) -> i16 {
            let level = i16::from(value.is_some());
            values.extend(value);
            level
        }
        let level = match &mut self.values {
            Values::Boolean(values) => add(values, text.parse().ok()),
            Values::Integer(values) => add(values, text.parse().ok()),
            Values::Number(values) => add(values, text.parse().ok()),
            Values::Text(values) => add(values, (!text.is_empty()).then(|| text.into())),
        };
        self.levels.push(level);
    }

    /// Writes what waits, and keeps it.
    fn write(&self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match &self.values {
            Values::Boolean(values) => writer.typed::<BoolType>().write_batch(values, levels, None)?,
            Values::Integer(values) => writer.typed::<Int64Type>().write_batch(values, levels, None)?,
            Values::Number(values) => writer.typed::<DoubleType>().write_batch(values, levels, None)?,
            Values::Text(values) => writer.typed::<ByteArrayType>().write_batch(values, levels, None)?,
        };
        Ok(())
    }

    fn clear(&mut self) {
        match &mut self.values {
            Values::Boolean(values) => values.clear(),
            Values::Integer(values) => values.clear(),
            Values::Number(values) => values.clear(),
            Values::Text(values) => values.clear(),
        }
        self.levels.clear();
    }
}

/// A table being written.
pub struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    /// Rows that wait, and how many may.
    waiting: usize,
    most: usize,
    /// The groups that are in the file, and where each ends.
    written: Vec<(RowGroupMetaDataPtr, u64)>,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table of these columns; `description` says what it is a table of.
    pub fn create(file: W, columns: &[(&str, Kind)], description: Option<String>) -> io::Result<Self> {
        let declared = columns.iter().map(|&(name, kind)| {
            let (physical, converted) = match kind {
                Kind::Boolean => (Physical::BOOLEAN, ConvertedType::NONE),
                Kind::Integer => (Physical::INT64, ConvertedType::NONE),
                Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
                Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            };
            let column = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(converted)
                .build();
            column.map(Arc::new)
        });
        let declared = declared.collect::<Result<Vec<_>, _>>().map_err(io_error)?;
        let schema = Type::group_type_builder("schema").with_fields(declared).build();
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("stickslip {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(description.map(|text| vec![KeyValue::new(DESCRIPTION.to_string(), text)]));
        for &(name, kind) in columns {
            if kind == Kind::Number {
                properties = properties
                    .set_column_dictionary_enabled(name.into(), false)
                    .set_column_encoding(name.into(), Encoding::BYTE_STREAM_SPLIT);
            }
        }
        let schema = Arc::new(schema.map_err(io_error)?);
        Ok(Table {
            writer: SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(io_error)?,
            columns: columns.iter().map(|&(_, kind)| Column::new(kind)).collect(),
            waiting: 0,
            most: (GROUP / columns.len().max(1)).max(1),
            written: Vec::new(),
        })
    }

    /// Adds a row of numbers.
    pub fn numbers(&mut self, row: &[f64]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            if let Values::Number(values) = &mut column.values {
                values.push(*value);
                column.levels.push(1);
            }
        }
        self.added()
    }

    /// Adds a row of fields, each written as its kind is written.
    fn fields<'a>(&mut self, row: impl Iterator<Item = &'a str>) -> io::Result<()> {
        self.columns
            .iter_mut()
            .zip(row)
            .for_each(|(column, text)| column.push(text));
        self.added()
    }

    fn added(&mut self) -> io::Result<()> {
        self.waiting += 1;
        if self.waiting < self.most {
            return Ok(());
        }
        self.write_group().map_err(io_error)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        let group = group.close()?;
        self.writer.flush()?;
        self.written.push((group, self.writer.bytes_written() as u64));
        // They wait until they are in the file: on a full disk some of them may fit.
        self.waiting = 0;
        self.columns.iter_mut().for_each(Column::clear);
        Ok(())
    }

    /// Completes the table; gives the file.
    pub fn finish(&mut self) -> io::Result<&mut W> {
        if self.waiting > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.writer.finish().map_err(io_error)?;
        Ok(self.writer.inner_mut())
    }
}

impl Table<PendingFile> {
    /// Completes a file that something could not be written to with the groups that are in it, but for the last ones if the end
    /// of the table needs their room. Where there is no group yet, as many rows as there is room for are one.
    pub fn rescue(mut self) -> io::Result<Option<Part>> {
        let Some(mut part) = self.writer.inner_mut().take() else {
            return Ok(None);
        };
        while let Some((last, end)) = self.written.last() {
            part.cut(*end)?;
            let groups: Vec<RowGroupMetaData> = self.written.iter().map(|(group, _)| (**group).clone()).collect();
            let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
            let properties = self.writer.properties();
            let version = properties.writer_version().as_num();
            let created_by = Some(properties.created_by().to_string());
            let about = FileMetaData::new(version, rows, created_by, None, last.schema_descr_ptr(), None);
            let about = ParquetMetaData::new(about, groups);
            if ParquetMetaDataWriter::new(&part.file, &about).finish().is_ok() {
                return Ok(Some(part));
            }
            self.written.pop();
        }
        let mut rows = self.waiting;
        while rows > 0 {
            part.cut(0)?;
            if self.write_first(rows, &part.file).is_ok() {
                return Ok(Some(part));
            }
            rows = rows * 4 / 5;
        }
        part.cut(0)?;
        Ok(None)
    }

    /// Writes the first of the rows that wait as a table of its own.
    fn write_first(&self, rows: usize, file: &File) -> io::Result<()> {
        let columns = self.writer.schema_descr().columns();
        let columns: Vec<(&str, Kind)> = columns.iter().map(|column| (column.name(), Kind::Number)).collect();
        let mut table = Table::create(file, &columns, None)?;
        for (column, all) in table.columns.iter_mut().zip(&self.columns) {
            if let (Values::Number(values), Values::Number(all)) = (&mut column.values, &all.values) {
                values.extend_from_slice(&all[..rows.min(all.len())]);
                column.levels.resize(values.len(), 1);
            }
        }
        table.waiting = rows;
        table.finish().map(drop)
    }
}

/// Writes the rows of a CSV file as a table. A column is of the narrowest kind that writes each of its fields as it stands, so
/// that [`unpack`] gives the same rows.
pub fn pack(rows: &Path, file: impl Write + Send, description: String) -> io::Result<()> {
    let mut reader = csv::Reader::from_path(rows)?;
    let names = reader.headers()?.clone();
    let narrow = [Kind::Boolean, Kind::Integer, Kind::Number];
    let mut fits: Vec<[bool; 3]> = vec![[true; 3]; names.len()];
    let mut empty = vec![true; names.len()];
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        for (i, text) in record.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            empty[i] = false;
            for (fits, kind) in fits[i].iter_mut().zip(narrow) {
                *fits &= kind.writes(text);
            }
        }
    }
    let kind = |i: usize| match fits[i].iter().position(|fits| *fits) {
        // Nothing was measured; what is measured is most often a number.
        _ if empty[i] => Kind::Number,
        Some(first) => narrow[first],
        None => Kind::Text,
    };
    let columns: Vec<(&str, Kind)> = names.iter().enumerate().map(|(i, name)| (name, kind(i))).collect();
    let mut table = Table::create(file, &columns, Some(description))?;
    let mut reader = csv::Reader::from_path(rows)?;
    while reader.read_record(&mut record)? {
        table.fields(record.iter())?;
    }
    table.finish()?.flush()
}

/// What the rows of a table that [`pack`] made are rows of.
pub fn description(table: &Path) -> io::Result<String> {
    let reader = SerializedFileReader::new(File::open(table)?).map_err(io_error)?;
    let known = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .into_iter()
        .flatten();
    let description = known
        .filter(|entry| entry.key == DESCRIPTION)
        .find_map(|entry| entry.value.clone());
    description.ok_or_else(|| io::Error::other("it holds no rows of a sweep or map"))
}

/// Writes the rows of a table that [`pack`] made as CSV.
pub fn unpack(table: &Path, rows: &File) -> io::Result<()> {
    let reader = SerializedFileReader::new(File::open(table)?).map_err(io_error)?;
    let mut file = BufWriter::new(rows);
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let names = columns.iter().map(|column| quoted(column.name()));
    writeln!(file, "{}", names.collect::<Vec<_>>().join(","))?;
    for row in reader.get_row_iter(None).map_err(io_error)? {
        let row = row.map_err(io_error)?;
        let fields = row.get_column_iter().map(|(_, field)| match field {
            Field::Null => String::new(),
            Field::Bool(value) => value.to_string(),
            Field::Long(value) => value.to_string(),
            Field::Double(value) => format!("{value:?}"),
            Field::Str(text) => quoted(text),
            other => other.to_string(),
        });
        writeln!(file, "{}", fields.collect::<Vec<_>>().join(","))?;
    }
    file.flush()
}

/// The error of the system behind one of a table.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => source
            .downcast::<io::Error>()
            .map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    }
}
