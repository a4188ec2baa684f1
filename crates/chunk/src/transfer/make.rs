//! Chunks that are made anew: from old values, fill value and new values, through the filters, on all cores.

use std::borrow::Cow;

use hyperslab_driver::cores;
use hyperslab_file::OpenFile;
use hyperslab_space::{Piece, Space};

use super::{
    EncodedChunk, Loader, ResidentChunk, Storer, Workspace, WriteBuffer,
    allocation::{Allocation, Overwrite},
    dense,
    job::{Blank, Job},
    loader::batch,
};
use crate::{ChunkKind, ChunkLayout, Chunked, Filling, Result, Sections};

impl Chunked {
    /// Makes chunks, by rising coordinate, so many at a time, takes new space for them and writes them. The index does not know of them yet.
    pub(crate) fn write_jobs(
        &self,
        file: &OpenFile,
        mut jobs: &[Job<'_>],
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<Allocation> {
        let mut allocation = Allocation::default();
        while !jobs.is_empty() {
            let (now, later) = jobs.split_at(batch_of(&self.chunks, jobs));
            let encoded = encode_jobs(&self.chunks, now, read_jobs(file, now)?, from, filling)?;
            let old = now.iter().map(|job| job.old.clone()).collect();
            let encoded: Vec<_> = encoded.iter().collect();
            allocation.append(Storer::new(file).store(self, &encoded, old, Overwrite::Never)?);
            jobs = later;
        }
        Ok(allocation)
    }
}

/// How many of these jobs are in memory at once.
pub(super) fn batch_of(layout: &ChunkLayout, jobs: &[Job<'_>]) -> usize {
    batch(jobs, |job| {
        let old = job.read.as_ref().map(|at| &at.sections);
        let new = job.piece.map_or(0, |piece| layout.selected(&piece.file));
        old.map_or(0, Sections::bytes).max(layout.expected_bytes_with(old, new))
    })
}

/// The old chunks of jobs, where they are wanted, read with one request. The caller holds changes of the file off, or is the operation that changes it.
pub(super) fn read_jobs(file: &OpenFile, jobs: &[Job<'_>]) -> Result<Vec<Option<EncodedChunk<'static>>>> {
    let wanted: Vec<_> = jobs.iter().map(|job| (&job.coord, job.read.as_ref())).collect();
    Loader::new(file).read(&wanted)
}

/// Chunks as they will be stored, made of the old ones.
pub(super) fn encode_jobs<'a>(
    layout: &ChunkLayout,
    jobs: &[Job<'_>],
    old: Vec<Option<EncodedChunk<'static>>>,
    from: WriteBuffer<'a>,
    filling: &Filling<'_>,
) -> Result<Vec<EncodedChunk<'a>>> {
    cores::map(jobs.iter().zip(old).collect(), |workspace, (job, old)| {
        encode_job(layout, job, old, from, filling, workspace)
    })
}

fn encode_job<'a>(
    layout: &ChunkLayout,
    job: &Job<'_>,
    stored: Option<EncodedChunk<'_>>,
    from: WriteBuffer<'a>,
    filling: &Filling<'_>,
    workspace: &mut Workspace,
) -> Result<EncodedChunk<'a>> {
    let mut encoded = match straight(layout, job, from)? {
        Some(values) => dense::encode(layout, &job.coord, Cow::Borrowed(values), job.form, workspace)?,
        None => {
            let mut chunk = match stored.zip(job.read.as_ref()) {
                Some((stored, at)) => ResidentChunk::decode(layout, at, stored, workspace)?,
                None => ResidentChunk::new(layout, filling, matches!(job.blank, Blank::All), workspace)?,
            };
            if let Blank::Part(part) = &job.blank {
                chunk.blank(layout, filling, part)?;
            }
            if let Some(piece) = job.piece {
                chunk.gather(layout, piece, from)?;
            }
            chunk.into_encoded(layout, &job.coord, job.form, workspace)?
        }
    };
    if encoded.is_in_place() {
        encoded.sections = Sections::one(encoded.sections.bytes(), job.mask);
    }
    Ok(encoded)
}

/// The caller's own bytes, if they are the whole chunk and lie together as a dense chunk has them.
fn straight<'a>(layout: &ChunkLayout, job: &Job<'_>, from: WriteBuffer<'a>) -> Result<Option<&'a [u8]>> {
    let is_dense = layout.kind() == ChunkKind::Dense && from.plan().is_none();
    let is_whole = |piece: &&Piece| is_dense && job.read.is_none() && piece.file.npoints() == layout.elements();
    let Some(piece) = job.piece.filter(is_whole) else { return Ok(None) };
    if matches!(job.blank, Blank::All | Blank::Part(_)) || !is_in_order(layout, &piece.file)? {
        return Ok(None);
    }
    let bytes = layout.dense_bytes();
    let mut runs = piece.memory.runs(layout.element())?;
    let Some(first) = runs.next().filter(|run| run.len == bytes as u64) else { return Ok(None) };
    let start = usize::try_from(first.offset).unwrap_or(usize::MAX);
    Ok(from.stored_bytes()?.get(start..start.saturating_add(bytes)))
}

/// Whether a selection of a chunk is all of it, first to last.
fn is_in_order(layout: &ChunkLayout, file: &Space) -> Result<bool> {
    Ok(file.runs(layout.element())?.next().is_some_and(|run| run.len == layout.dense_bytes() as u64))
}
