//! The range locks of several datasets, entered together by one request.

use std::sync::Arc;

use hyperslab_cache::{LockRange, RangeGuard};
use hyperslab_chunk::ChunkPartition;
use hyperslab_space::Space;

use super::Part;
use crate::{OpenDataset, Result};

/// A part that the cache may have something of.
pub(super) struct Wanted<'a> {
    pub(super) dataset: &'a OpenDataset,
    pub(super) partition: &'a ChunkPartition,
    pub(super) selection: &'a Space,
}

/// The parts that the cache may have something of.
pub(super) fn with_partitions<'a>(parts: &[Part<'a>]) -> Result<Vec<Wanted<'a>>> {
    let mut wanted = Vec::with_capacity(parts.len());
    for (dataset, selection) in parts {
        let partition = dataset.partition()?.filter(|_| selection.npoints() > 0);
        wanted.extend(partition.map(|partition| Wanted { dataset, partition, selection }));
    }
    Ok(wanted)
}

/// Which file a dataset is in.
pub(super) fn file(dataset: &OpenDataset) -> usize {
    Arc::as_ptr(&dataset.session().engine).addr()
}

/// All requests enter files and datasets in this order, so there is no circle of requests that wait.
pub(super) fn order(wanted: &Wanted<'_>) -> (usize, u64) {
    (file(wanted.dataset), wanted.partition.number())
}

/// Waits for the range lock to read all parts. Where nothing changes, this does not wait.
pub(super) fn to_read<'a>(parts: &[Part<'a>]) -> Result<Vec<RangeGuard<'a>>> {
    let mut wanted = with_partitions(parts)?;
    wanted.retain(|wanted| wanted.dataset.session().engine.is_writable());
    Ok(enter(wanted, false, false))
}

/// Waits for the range lock to write all parts.
pub(crate) fn to_write<'a>(parts: &[Part<'a>]) -> Result<Vec<RangeGuard<'a>>> {
    let all = need_all(parts)?;
    let guards = enter(with_partitions(parts)?, true, all);
    if all || !need_all(parts)? {
        return Ok(guards);
    }
    // A dataset was made small meanwhile, say, and all its space is to be allocated again.
    drop(guards);
    Ok(enter(with_partitions(parts)?, true, true))
}

/// Whether values do not wait in the cache: they are written by a request that is alone with the dataset.
fn need_all(parts: &[Part<'_>]) -> Result<bool> {
    for (dataset, _) in parts {
        if dataset.partition()?.is_some() && dataset.partition_to_write()?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Enters datasets one after the other: where parts are, or everywhere.
fn enter(mut wanted: Vec<Wanted<'_>>, writes: bool, all: bool) -> Vec<RangeGuard<'_>> {
    wanted.sort_by_key(order);
    let mut guards = Vec::new();
    for parts in wanted.chunk_by(|left, right| left.partition.is(right.partition)) {
        let range = |part: &Wanted<'_>| if all { Some(LockRange::Whole) } else { LockRange::of(part.selection) };
        let joined = parts.iter().filter_map(range).reduce(LockRange::join);
        if let (Some(first), Some(joined)) = (parts.first(), joined) {
            guards.push(first.partition.enter(joined, writes));
        }
    }
    guards
}
