//! Chunks that are made anew: from old bytes, fill value and new values, through the filters, on all cores.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::{Coords, Piece, Space};

use crate::{
    Chunked, Filling, Result,
    transfer::publish::{Made, Reserved},
    transfer::scatter,
};

/// The most bytes of chunks that are in memory at once.
const BATCH: u64 = 64 << 20;

/// A chunk to be made.
pub(crate) struct Job<'a> {
    pub(crate) place: Coords,
    /// What the index says so far.
    pub(crate) old: Option<ChunkEntry>,
    /// Whether the old bytes are wanted, and if so, whether they went through the filters.
    pub(crate) read: Option<bool>,
    /// Values of the caller that come over it.
    pub(crate) piece: Option<&'a Piece>,
    /// What is filled in it, before values come.
    pub(crate) blank: Blank,
    /// Whether it goes through the filters.
    pub(crate) coded: bool,
    /// What the index says of filters that were left out, if it goes through none.
    pub(crate) mask: u32,
}

/// The part of a chunk that gets the fill value.
pub(crate) enum Blank {
    /// Nothing.
    Nothing,
    /// All of it.
    All,
    /// A part.
    Part(Box<Space>),
}

impl Chunked {
    /// Makes chunks, by rising place, so many at a time, takes space for them and writes them. The index does not know of them yet.
    pub(crate) fn write_jobs(
        &self,
        file: &OpenFile,
        mut jobs: &[Job<'_>],
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<Reserved> {
        let mut reserved = Reserved::default();
        while let Some((now, later)) = jobs.split_at_checked(self.batch(jobs)).filter(|(now, _)| !now.is_empty()) {
            let made = self.made(file, now, buf, filling)?;
            reserved.append(self.write_made(file, &made)?);
            jobs = later;
        }
        Ok(reserved)
    }

    /// How many of these chunks are made at once.
    fn batch(&self, jobs: &[Job<'_>]) -> usize {
        let mut bytes = 0u64;
        let fits = |job: &&Job<'_>| {
            let read = job.old.as_ref().filter(|_| job.read.is_some()).map_or(0, |old| old.size);
            bytes = bytes.saturating_add((self.bytes as u64).max(read));
            bytes <= BATCH
        };
        jobs.iter().take_while(fits).count().max(1).min(jobs.len())
    }

    fn made<'a>(
        &self,
        file: &OpenFile,
        jobs: &[Job<'_>],
        buf: &'a [u8],
        filling: &Filling<'_>,
    ) -> Result<Vec<Made<'a>>> {
        let stored = self.stored_bytes(file, jobs)?;
        let work = |rooms: &mut [Vec<u8>; 3], (job, stored): (&Job<'_>, &Vec<u8>)| {
            self.made_one(job, stored, buf, filling, rooms)
        };
        cores::map(jobs.iter().zip(&stored).collect(), work)
    }

    /// The old bytes of all chunks whose bytes are wanted, with one request; nothing for others.
    fn stored_bytes(&self, file: &OpenFile, jobs: &[Job<'_>]) -> Result<Vec<Vec<u8>>> {
        let mut stored = Vec::with_capacity(jobs.len());
        for job in jobs {
            let size = match (&job.old, job.read) {
                (Some(old), Some(coded)) => {
                    let size = if coded { old.size } else { self.bytes as u64 };
                    file.check("chunk", old.address.unwrap_or(0), size)?;
                    size
                }
                _ => 0,
            };
            stored.push(memory::zeroed(size)?);
        }
        let wanted = jobs.iter().zip(&mut stored).filter(|(_, room)| !room.is_empty());
        let parts: Vec<_> =
            wanted.filter_map(|(job, room)| Some((job.old.as_ref()?.address?, room.as_mut_slice()))).collect();
        if !parts.is_empty() {
            file.read_raw("chunk", parts)?;
        }
        Ok(stored)
    }

    fn made_one<'a>(
        &self,
        job: &Job<'_>,
        stored: &[u8],
        buf: &'a [u8],
        filling: &Filling<'_>,
        [room, scratch, out]: &mut [Vec<u8>; 3],
    ) -> Result<Made<'a>> {
        let raw: Cow<'a, [u8]> = match self.straight(job, buf)? {
            Some(straight) => Cow::Borrowed(straight),
            None => {
                let mut room = std::mem::take(room);
                let more = self.bytes.saturating_sub(room.len());
                memory::reserve(&mut room, more)?;
                match job.read {
                    Some(true) => {
                        let mask = job.old.as_ref().map_or(0, |old| old.mask);
                        self.coder.decode(&job.place, stored, mask, self.needed(&job.place), &mut room, scratch)?;
                    }
                    Some(false) => {
                        room.clear();
                        memory::append(&mut room, stored)?;
                    }
                    None => room.resize(self.bytes, 0),
                }
                match &job.blank {
                    Blank::Nothing => {}
                    Blank::All => scatter::fill(filling.value, &mut room, &self.whole()?, self.element())?,
                    Blank::Part(part) => scatter::fill(filling.value, &mut room, part, self.element())?,
                }
                if let Some(piece) = job.piece {
                    scatter::copy(buf, &piece.memory, &mut room, &piece.file, self.element())?;
                }
                Cow::Owned(room)
            }
        };
        let (bytes, mask) = if job.coded {
            let mask = self.coder.encode(&job.place, &raw, out, scratch)?;
            if let Cow::Owned(raw) = raw {
                *room = raw;
            }
            // Filters take room for the worst case; what waits for its batch takes what it has.
            (Cow::Owned(memory::copied(out)?), mask)
        } else {
            (raw, job.mask)
        };
        Ok(Made { place: job.place.clone(), old: job.old.clone(), size: bytes.len(), bytes: Some(bytes), mask })
    }

    /// The caller's own bytes, if they are the whole chunk and lie together.
    fn straight<'a>(&self, job: &Job<'_>, buf: &'a [u8]) -> Result<Option<&'a [u8]>> {
        let Some(piece) = job.piece.filter(|piece| job.read.is_none() && piece.file.npoints() == self.elements())
        else {
            return Ok(None);
        };
        if matches!(job.blank, Blank::All | Blank::Part(_)) || !self.is_in_order(&piece.file)? {
            return Ok(None);
        }
        let mut runs = piece.memory.runs(self.element())?;
        let Some(first) = runs.next().filter(|run| run.len == self.bytes as u64) else { return Ok(None) };
        let start = usize::try_from(first.offset).unwrap_or(usize::MAX);
        Ok(buf.get(start..start.saturating_add(self.bytes)))
    }

    /// Whether a selection of a chunk is all of it, first to last.
    fn is_in_order(&self, file: &Space) -> Result<bool> {
        Ok(file.runs(self.element())?.next().is_some_and(|run| run.len == self.bytes as u64))
    }

    /// All of a chunk.
    pub(crate) fn whole(&self) -> Result<Space> {
        Ok(Space::simple(self.chunk())?)
    }

    /// The elements of a chunk.
    pub(crate) fn elements(&self) -> u64 {
        self.bytes as u64 / self.element().max(1)
    }
}
