//! Tables for people: with a frame on a terminal, without one in a pipe.

use comfy_table::{CellAlignment, Table, presets};
use std::io::{IsTerminal, stdout};

/// A table without rows yet.
pub(crate) fn sheet(head: &[&str]) -> Table {
    let mut table = Table::new();
    let framed = stdout().is_terminal();
    table.load_style(if framed { presets::UTF8_FULL_CONDENSED } else { presets::NOTHING });
    table.set_header(head.iter().copied());
    table
}

/// Puts the numbers of some columns under each other.
pub(crate) fn right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
