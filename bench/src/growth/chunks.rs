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

/// What makes a dataset have an index.
struct Index {
    latest: bool,
    /// Which dimensions grow without end.
    grows: [bool; 2],
    early: bool,
}

const BTREE_1: Index = Index { latest: false, grows: [true, true], early: false };
const BTREE_2: Index = Index { latest: true, grows: [true, true], early: false };
const EXTENSIBLE: Index = Index { latest: true, grows: [true, false], early: false };
const FIXED: Index = Index { latest: true, grows: [false, false], early: false };
const IMPLICIT: Index = Index { latest: true, grows: [false, false], early: true };

impl Index {
    /// The shape for so many chunks, and how far it may grow.
    fn extent(&self, chunks: u64) -> ([u64; 2], [Option<u64>; 2]) {
        let ([rows, columns], [grow, widen]) = ([chunks / ROW, ROW * VALUES], self.grows);
        let max = |size: u64, grows: bool| if grows { None } else { Some(size) };
        ([rows, columns], [max(rows, grow), max(columns, widen)])
    }
}

fn ours(path: &Path, count: u64, index: &Index) -> Result<Work<'static>> {
    let (file, (shape, max)) = (create(path, index.latest)?, index.extent(count));
    let new = file.root()?.new_dataset::<f32>().shape(shape).max_shape(max).chunks([1, VALUES]);
    let time = if index.early { hyperslab::AllocTime::Early } else { hyperslab::AllocTime::Incremental };
    let (dataset, values) = (new.alloc_time(time).create("data")?, vec![1f32; VALUES as usize]);
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let (row, column) = (nth / ROW, nth % ROW * VALUES);
            dataset.write_slice(hyperslab::s![row, column..column + VALUES], &values)?;
        }
        Ok(())
    }))
}

fn theirs<'a>(hdf5: &'a Hdf5, path: &Path, count: u64, index: &Index) -> Result<Work<'a>> {
    let (file, (shape, max)) = (hdf5.create(path, index.latest)?, index.extent(count));
    let max = max.map(|side| side.unwrap_or(u64::MAX));
    let grown = Grown { shape: &shape, max: &max, chunk: &[1, VALUES], early: index.early };
    let (dataset, values) = (hdf5.new_grown(&file, "data", &grown)?, vec![1f32; VALUES as usize]);
    Ok(Box::new(move || {
        let _open = &file;
        for nth in 0..count {
            let mut space = hdf5.space(&shape)?;
            let start = [nth / ROW, nth % ROW * VALUES];
            let pattern = Pattern { start: &start, stride: &[1, 1], count: &[1, VALUES], block: &[1, 1] };
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
