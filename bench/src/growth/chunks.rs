//! Chunks in each index, and values that are appended.

use super::{Growth, Work};
use crate::files::create;
use crate::libhdf5::{Grown, Hdf5, Operation, Pattern};
use anyhow::Result;
use std::path::Path;

/// In the order of the table.
pub(super) const CASES: &[Growth] = &[
    Growth {
        name: "chunks, B-tree 1",
        count: MILLION,
        ours: |path, count| ours(path, count, &BTREE_1),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &BTREE_1),
    },
    Growth {
        name: "chunks, B-tree 2",
        count: MILLION,
        ours: |path, count| ours(path, count, &BTREE_2),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &BTREE_2),
    },
    Growth {
        name: "chunks, B-tree 2, 1,000 in a call",
        count: MILLION,
        ours: |path, count| ours(path, count, &BTREE_2_ROWS),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &BTREE_2_ROWS),
    },
    Growth {
        name: "chunks, extensible array",
        count: MILLION,
        ours: |path, count| ours(path, count, &EXTENSIBLE),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &EXTENSIBLE),
    },
    Growth {
        name: "chunks, fixed array",
        count: MILLION,
        ours: |path, count| ours(path, count, &FIXED),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &FIXED),
    },
    Growth {
        name: "chunks, implicit",
        count: MILLION,
        ours: |path, count| ours(path, count, &IMPLICIT),
        theirs: |hdf5, path, count| theirs(hdf5, path, count, &IMPLICIT),
    },
    Growth { name: "appends with flush", count: 500_000, ours: our_appends, theirs: their_appends },
];

const MILLION: u64 = 1_000_000;
/// Values of a chunk.
const VALUES: u64 = 16;
/// Chunks of a row.
const ROW: u64 = 1000;

/// What makes a dataset have an index, and how it is written.
#[derive(Clone, Copy)]
struct Index {
    latest: bool,
    /// Which dimensions grow without end.
    grows: [bool; 2],
    early: bool,
    /// How many chunks one call writes.
    together: u64,
}

const BTREE_2: Index = Index { latest: true, grows: [true, true], early: false, together: 1 };
const BTREE_1: Index = Index { latest: false, ..BTREE_2 };
const BTREE_2_ROWS: Index = Index { together: ROW, ..BTREE_2 };
const EXTENSIBLE: Index = Index { grows: [true, false], ..BTREE_2 };
const FIXED: Index = Index { grows: [false, false], ..BTREE_2 };
const IMPLICIT: Index = Index { early: true, ..FIXED };

impl Index {
    /// The shape for so many chunks, and how far it may grow.
    fn extent(&self, chunks: u64) -> ([u64; 2], [Option<u64>; 2]) {
        let ([rows, columns], [grow, widen]) = ([chunks / ROW, ROW * VALUES], self.grows);
        let max = |size: u64, grows: bool| if grows { None } else { Some(size) };
        ([rows, columns], [max(rows, grow), max(columns, widen)])
    }

    /// The values of one call.
    fn values(&self) -> Vec<f32> {
        vec![1.0; (self.together * VALUES) as usize]
    }

    /// Where each call begins, row and column, for so many chunks.
    fn calls(&self, chunks: u64) -> impl Iterator<Item = [u64; 2]> {
        (0..chunks).step_by(self.together as usize).map(|nth| [nth / ROW, nth % ROW * VALUES])
    }
}

fn ours(path: &Path, count: u64, index: &Index) -> Result<Work<'static>> {
    let (file, (shape, max)) = (create(path, index.latest)?, index.extent(count));
    let new = file.root()?.new_dataset::<f32>().shape(shape).max_shape(max).chunks([1, VALUES]);
    let time = if index.early { hyperslab::AllocTime::Early } else { hyperslab::AllocTime::Incremental };
    let (dataset, values, index) = (new.alloc_time(time).create("data")?, index.values(), *index);
    Ok(Box::new(move || {
        let _open = &file;
        for [row, column] in index.calls(count) {
            dataset.write_slice(hyperslab::s![row, column..column + values.len() as u64], &values)?;
        }
        Ok(())
    }))
}

fn theirs<'a>(hdf5: &'a Hdf5, path: &Path, count: u64, index: &Index) -> Result<Work<'a>> {
    let (file, (shape, max)) = (hdf5.create(path, index.latest)?, index.extent(count));
    let max = max.map(|side| side.unwrap_or(u64::MAX));
    let grown = Grown { shape: &shape, max: &max, chunk: &[1, VALUES], early: index.early };
    let (dataset, values, index) = (hdf5.new_grown(&file, "data", &grown)?, index.values(), *index);
    Ok(Box::new(move || {
        let _open = &file;
        for start in index.calls(count) {
            let mut space = hdf5.space(&shape)?;
            let pattern = Pattern { start: &start, stride: &[1, 1], count: &[1, values.len() as u64], block: &[1, 1] };
            space.select(Operation::Set, &pattern)?;
            hdf5.write_part(&dataset, &space, &values)?;
        }
        Ok(())
    }))
}

/// One value, then a flush.
fn our_appends(path: &Path, count: u64) -> Result<Work<'static>> {
    let file = create(path, true)?;
    let dataset = file.root()?.new_dataset::<f32>().shape([0]).max_shape([None]).chunks([1024]).create("data")?;
    Ok(Box::new(move || {
        for nth in 0..count {
            dataset.resize([nth + 1])?;
            dataset.write_slice(hyperslab::s![nth..nth + 1], &[nth as f32])?;
            file.flush()?;
        }
        Ok(())
    }))
}

fn their_appends<'a>(hdf5: &'a Hdf5, path: &Path, count: u64) -> Result<Work<'a>> {
    let file = hdf5.create(path, true)?;
    let grown = Grown { shape: &[0], max: &[u64::MAX], chunk: &[1024], early: false };
    let dataset = hdf5.new_grown(&file, "data", &grown)?;
    Ok(Box::new(move || {
        for nth in 0..count {
            hdf5.resize(&dataset, &[nth + 1])?;
            let mut space = hdf5.space(&[nth + 1])?;
            space.select(Operation::Set, &Pattern { start: &[nth], stride: &[1], count: &[1], block: &[1] })?;
            hdf5.write_part(&dataset, &space, &[nth as f32])?;
            hdf5.flush(&file)?;
        }
        Ok(())
    }))
}
