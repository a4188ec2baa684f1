//! The table of sparse datasets: how they are stored, and how much of them is defined.

use super::more;
use super::record::{DatasetRecord, SparseRecord};
use crate::escape::printable;
use crate::sparse::OfSections;
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
    let has_vlen = sparse.iter().any(|(_, SparseRecord { facts, .. })| facts.filters.vlen.is_some());
    let vlen = has_vlen.then_some("vlen");
    let head = ["sparse dataset", "chunks", "index", "filters", "selection", "values"].into_iter().chain(vlen);
    let head: Vec<&str> = head.chain(["defined", "density"]).collect();
    let mut table = sheet(&head);
    for (path, SparseRecord { chunk, index, facts }) in sparse.iter().take(most) {
        let stored = |section: fn(&OfSections<u64>) -> Option<u64>| {
            facts.stored.as_ref().and_then(section).map_or_else(String::new, bytes)
        };
        let selection = stored(|stored| Some(stored.selection));
        let values = stored(|stored| Some(stored.values));
        let vlen = has_vlen.then(|| stored(|stored| stored.vlen));
        let (filters, defined) = (facts.filter_words(), facts.defined.map(|defined| defined.to_string()));
        let front = [printable(path.as_bytes()), sizes(chunk), (*index).to_owned(), filters, selection, values];
        let back = [defined.unwrap_or_default(), facts.density_words().unwrap_or_default()];
        table.add_row(front.into_iter().chain(vlen).chain(back));
    }
    right(&mut table, 4..head.len());
    writeln!(out, "\n{}", table.trim_fmt())?;
    more(out, sparse.len().saturating_sub(most))
}
