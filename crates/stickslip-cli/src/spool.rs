//! Rows of numbers that are wanted as columns. They wait in a file, in blocks that each have their columns one after the other,
//! so that memory holds one block whatever the number of rows.

use crate::output::beside;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Numbers of a block.
const BLOCK: usize = 1 << 18;

/// Rows on their way to columns.
pub struct Spool {
    columns: usize,
    /// Rows of a block.
    per_block: usize,
    /// Rows of the block that is not yet full, one after the other.
    waiting: Vec<f64>,
    blocks: u64,
    path: PathBuf,
    file: Option<File>,
}

impl Spool {
    /// Rows of so many columns for this file. The file they wait in is beside it and without a name as far as the system allows, so
    /// that nothing is left of it whatever happens. Few rows need none.
    pub fn new(target: &Path, stream: bool, columns: usize) -> Self {
        let path = if stream {
            std::env::temp_dir().join(format!("stickslip-{}.rows", std::process::id()))
        } else {
            beside(target, ".part.rows")
        };
        Spool {
            columns,
            per_block: (BLOCK / columns.max(1)).max(1),
            waiting: Vec::new(),
            blocks: 0,
            path,
            file: None,
        }
    }

    /// Adds a row. If it cannot be stored it is still here.
    pub fn row(&mut self, row: &[f64]) -> io::Result<()> {
        self.waiting.extend_from_slice(row);
        if self.waiting.len() < self.per_block * self.columns {
            return Ok(());
        }
        self.write_block()
    }

    fn write_block(&mut self) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(8 * self.waiting.len());
        for column in 0..self.columns {
            let values = self.waiting.iter().skip(column).step_by(self.columns);
            values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        let start = self.blocks * self.bytes_per_block();
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let _ = fs::remove_file(&self.path);
                let mut options = OpenOptions::new();
                let file = options.read(true).write(true).create_new(true).open(&self.path)?;
                // Open, it needs no name; where it does, it is removed at the end.
                let _ = fs::remove_file(&self.path);
                none.insert(file)
            }
        };
        file.seek(SeekFrom::Start(start))?;
        if let Err(error) = file.write_all(&bytes) {
            let _ = file.set_len(start);
            return Err(error);
        }
        self.blocks += 1;
        self.waiting.clear();
        Ok(())
    }

    fn bytes_per_block(&self) -> u64 {
        8 * (self.per_block * self.columns) as u64
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.blocks * self.per_block as u64 + (self.waiting.len() / self.columns.max(1)) as u64
    }

    /// Gives up rows from the end so that at most so many are left, and the room they took.
    pub fn cut(&mut self, rows: u64) -> io::Result<()> {
        let blocks = rows / self.per_block as u64;
        if blocks < self.blocks {
            self.blocks = blocks;
            self.waiting.clear();
            let length = blocks * self.bytes_per_block();
            return self.file.as_ref().map_or(Ok(()), |file| file.set_len(length));
        }
        let rest = (rows - self.blocks * self.per_block as u64) as usize;
        self.waiting.truncate(rest * self.columns);
        Ok(())
    }

    /// Gives every value of a column in order.
    pub fn column(&mut self, column: usize, take: &mut dyn FnMut(f64) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = vec![0; 8 * self.per_block];
        let stride = self.bytes_per_block();
        if let Some(file) = &mut self.file {
            for block in 0..self.blocks {
                file.seek(SeekFrom::Start(block * stride + (column * bytes.len()) as u64))?;
                file.read_exact(&mut bytes)?;
                for value in bytes.as_chunks().0 {
                    take(f64::from_le_bytes(*value))?;
                }
            }
        }
        let rest = self.waiting.iter().skip(column).step_by(self.columns);
        rest.copied().try_for_each(take)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.file.take().is_some() && cfg!(not(unix)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
