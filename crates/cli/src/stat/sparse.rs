//! The table of sparse datasets: how they are stored, and how much of them is defined.

use super::more;
use super::record::{DatasetRecord, SparseRecord};
use crate::escape::printable;
use crate::table::{right, sheet};
use crate::text::{bytes, sizes};
use std::io::{self, Write};

/// Prints the table, of at most so many datasets; nothing if none is sparse.
pub(super) fn table(out: &mut impl Write, datasets: &[DatasetRecord], most: usize) -> io::Result<()> {
    let sparse: Vec<_> =
        datasets.iter().filter_map(|dataset| Some((&*dataset.path, dataset.sparse.as_ref()?))).collect();
    if sparse.is_empty() || most == 0 {
        return Ok(());
    }
    let head = ["sparse dataset", "chunks", "index", "filters", "selection", "values", "defined", "density"];
    let mut table = sheet(&head);
    for (path, SparseRecord { chunk, index, facts }) in sparse.iter().take(most) {
        let [selection, values] = match &facts.stored {
            Some(stored) => [bytes(stored.selection), bytes(stored.values)],
            None => [String::new(), String::new()],
        };
        table.add_row([
            printable(path.as_bytes()),
            sizes(chunk),
            (*index).to_owned(),
            facts.filter_words(),
            selection,
            values,
            facts.defined.map_or_else(String::new, |defined| defined.to_string()),
            facts.density_words().unwrap_or_default(),
        ]);
    }
    right(&mut table, 4..8);
    writeln!(out, "\n{}", table.trim_fmt())?;
    more(out, sparse.len().saturating_sub(most))
}
