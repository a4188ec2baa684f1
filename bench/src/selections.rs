//! Selections: what is timed on both sides, and that both sides find the same runs.

use crate::case::Case;
use crate::clock::{Times, side_by_side};
use crate::libhdf5::{BATCH, Buffers, Hdf5, Operation, Pattern, Space as Theirs};
use anyhow::{Result, ensure};
use hyperslab_space::{Block, Op, Run, Slab, Space};

/// Bytes of an element wherever runs are asked for.
const ELEMENT: u64 = 4;
const EXTENT: [u64; 2] = [4096, 4096];
const BLOCKS: usize = 10_000;
const SEED: u64 = 2;

/// In the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "union of 10,000 blocks, one by one", aim: 10., run: union_one_by_one },
    Case { name: "union of 10,000 blocks, in bulk", aim: 10., run: union_in_bulk },
    Case { name: "runs of that union, one by one", aim: 3., run: |hdf5| runs_of_union(hdf5, by_one) },
    Case { name: "runs of that union, in batches", aim: 3., run: |hdf5| runs_of_union(hdf5, by_batch) },
    Case { name: "runs of a strided 1,000 × 1,000, one by one", aim: 3., run: |hdf5| runs_of_strided(hdf5, by_one) },
    Case { name: "runs of a strided 1,000 × 1,000, in batches", aim: 3., run: |hdf5| runs_of_strided(hdf5, by_batch) },
];

/// Ours and theirs.
type Both = (Times, Times);

fn union_one_by_one(hdf5: &Hdf5) -> Result<Both> {
    let corners = corners();
    side_by_side(|| our_union(&corners), || their_union(hdf5, &corners))
}

/// libhdf5 has no bulk call: its time is that of one by one.
fn union_in_bulk(hdf5: &Hdf5) -> Result<Both> {
    let corners = corners();
    ensure!(our_bulk_union(&corners)? == our_union(&corners)?, "the bulk union differs");
    side_by_side(|| our_bulk_union(&corners), || their_union(hdf5, &corners))
}

fn runs_of_union(hdf5: &Hdf5, walk: Walk) -> Result<Both> {
    let corners = corners();
    time_runs(&our_union(&corners)?, &their_union(hdf5, &corners)?, walk)
}

fn runs_of_strided(hdf5: &Hdf5, walk: Walk) -> Result<Both> {
    let mut ours = Space::simple(&EXTENT)?;
    ours.select_hyperslab(Op::Set, &[Slab::new(0, 3, 1000, 1); 2])?;
    let mut theirs = hdf5.space(&EXTENT)?;
    let pattern = Pattern { start: &[0, 0], stride: &[3, 3], count: &[1000, 1000], block: &[1, 1] };
    theirs.select(Operation::Set, &pattern)?;
    time_runs(&ours, &theirs, walk)
}

/// How we hand out runs; libhdf5 only knows batches.
type Walk = fn(&Space) -> Result<u64>;

fn by_one(space: &Space) -> Result<u64> {
    Ok(space.runs(ELEMENT)?.fold(0, |sum, run| mix(sum, run.offset, run.len)))
}

fn by_batch(space: &Space) -> Result<u64> {
    let mut runs = space.runs(ELEMENT)?;
    let mut batch = Vec::with_capacity(BATCH);
    let mut sum = 0;
    while runs.next_batch(&mut batch, BATCH, u64::MAX) > 0 {
        sum = batch.drain(..).fold(sum, |sum, run| mix(sum, run.offset, run.len));
    }
    Ok(sum)
}

/// Times a walk over all runs; each side does the same little with a run.
fn time_runs(ours: &Space, theirs: &Theirs<'_>, walk: Walk) -> Result<Both> {
    let (mut our_runs, mut their_runs) = (Merged::default(), Merged::default());
    ours.runs(ELEMENT)?.for_each(|run| our_runs.push(run));
    let mut buffers = Buffers::new();
    theirs.runs(ELEMENT as usize, &mut buffers, |offset, len| their_runs.push(Run { offset, len }))?;
    ensure!(our_runs == their_runs, "the two sides find different runs");
    ensure!(ours.npoints() == theirs.npoints(), "the two sides count different elements");

    let their_walk = || {
        let mut sum = 0;
        theirs.runs(ELEMENT as usize, &mut buffers, |offset, len| sum = mix(sum, offset, len))?;
        Ok(sum)
    };
    side_by_side(|| walk(ours), their_walk)
}

fn mix(sum: u64, offset: u64, len: u64) -> u64 {
    sum.wrapping_add(offset ^ len)
}

/// Runs with neighbours joined, since a run may be cut at the end of a row.
#[derive(Default, PartialEq)]
struct Merged(Vec<Run>);

impl Merged {
    fn push(&mut self, run: Run) {
        match self.0.last_mut() {
            Some(last) if last.end() == run.offset => last.len += run.len,
            _ => self.0.push(run),
        }
    }
}

/// Start and size of random small blocks, the same on every call.
fn corners() -> Vec<([u64; 2], [u64; 2])> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut block = || {
        let size = [random.u64(1..=8), random.u64(1..=8)];
        let [rows, columns] = EXTENT;
        let [height, width] = size;
        ([random.u64(0..=rows - height), random.u64(0..=columns - width)], size)
    };
    (0..BLOCKS).map(|_| block()).collect()
}

fn our_union(corners: &[([u64; 2], [u64; 2])]) -> Result<Space> {
    let mut space = Space::simple(&EXTENT)?;
    space.select_none();
    for ([row, column], [height, width]) in corners {
        space.select_hyperslab(Op::Or, &[Slab::block(*row, *height), Slab::block(*column, *width)])?;
    }
    Ok(space)
}

fn our_bulk_union(corners: &[([u64; 2], [u64; 2])]) -> Result<Space> {
    let blocks: Vec<Block> = corners
        .iter()
        .map(|([row, column], [height, width])| Block {
            start: [*row, *column].as_slice().into(),
            end: [row + height - 1, column + width - 1].as_slice().into(),
        })
        .collect();
    let mut space = Space::simple(&EXTENT)?;
    space.select_none();
    space.select_blocks(Op::Or, &blocks)?;
    Ok(space)
}

fn their_union<'a>(hdf5: &'a Hdf5, corners: &[([u64; 2], [u64; 2])]) -> Result<Theirs<'a>> {
    let mut space = hdf5.space(&EXTENT)?;
    for (number, (start, size)) in corners.iter().enumerate() {
        let operation = if number == 0 { Operation::Set } else { Operation::Or };
        space.select(operation, &Pattern { start, stride: &[1, 1], count: &[1, 1], block: size })?;
    }
    Ok(space)
}
