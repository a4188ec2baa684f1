//! Names in nodes, which are in order.

use std::cmp::Ordering;

use hyperslab_file::Result;
use hyperslab_format::{btree_v1::Node, symbol_table::Entry};

use crate::LocalHeap;

/// The child that has a name if one has: a child has the names after its own key, up to and with the next one's.
pub(super) fn child_with(node: &Node<u64>, heap: &LocalHeap, name: &[u8]) -> Result<usize> {
    let keys = node.entries.get(1..).unwrap_or_default();
    let (Ok(before) | Err(before)) = search(keys, |(key, _)| match heap.compare(*key, name)? {
        Ordering::Less => Ok(Ordering::Less),
        _ => Ok(Ordering::Greater),
    })?;
    Ok(before)
}

/// Where a name is among entries, or where it belongs.
pub(super) fn position(symbols: &[Entry], heap: &LocalHeap, name: &[u8]) -> Result<Result<usize, usize>> {
    search(symbols, |entry| heap.compare(entry.name, name))
}

/// As [`slice::binary_search_by`], where comparing may fail.
fn search<T>(items: &[T], compare: impl Fn(&T) -> Result<Ordering>) -> Result<Result<usize, usize>> {
    let mut failure = None;
    let found = items.binary_search_by(|item| {
        compare(item).unwrap_or_else(|why| {
            failure = Some(why);
            Ordering::Equal
        })
    });
    failure.map_or(Ok(found), Err)
}
