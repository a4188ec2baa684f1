//! Growth: what an item costs when there are few of them, and what when there are a hundred times as many; ours beside libhdf5.

mod chunks;
mod objects;
mod row;

use crate::files::path;
use crate::libhdf5::Hdf5;
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use std::path::Path;

pub(crate) use row::Row;

/// Does all items, then drops what is open. Made ready by what is not timed.
type Work<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// So many items, one after the other, on both sides, and a tenth and a hundredth of them.
pub(crate) struct Growth {
    pub(crate) name: &'static str,
    count: u64,
    ours: fn(&Path, u64) -> Result<Work<'static>>,
    theirs: for<'a> fn(&'a Hdf5, &Path, u64) -> Result<Work<'a>>,
}

/// In the order of the table.
pub(crate) fn cases() -> impl Iterator<Item = &'static Growth> {
    chunks::CASES.iter().chain(objects::CASES)
}

impl Growth {
    /// Times both sides, one after the other.
    pub(crate) fn time(&self, hdf5: &Hdf5) -> Result<Row> {
        let (our_path, their_path) = (path("ours.h5")?, path("theirs.h5")?);
        let mut row = Row::new(self.name, self.count);
        for count in row.counts() {
            let ours = row::timed(count, || (self.ours)(&our_path, count))?;
            let theirs = row::timed(count, || (self.theirs)(hdf5, &their_path, count))?;
            hyperslab::File::open(&our_path)?; // which it is not if closing it failed
            row.add(ours, theirs);
        }
        for path in [our_path, their_path] {
            std::fs::remove_file(path)?;
        }
        Ok(row)
    }
}

/// All rows as a table.
pub(crate) fn table(rows: &[Row], version: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let theirs = format!("libhdf5 {version}");
    table.set_header([
        "what",
        "items",
        "of 1 %",
        "of 10 %",
        "of all",
        &theirs,
        "theirs ÷ ours",
        "wall",
        "growth",
        "memory",
    ]);
    for row in rows {
        table.add_row(row.cells());
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
