//! What becomes of the pieces of a request: which chunks are made in memory, and which values go straight to the file.

use hyperslab_driver::SelectionPair;
use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::{Piece, Space};

use super::{ChunkCoord, StoredAs, StoredAt, WriteBuffer};
use crate::{ChunkLayout, Result};

/// A chunk to be made.
pub(crate) struct Job<'a> {
    pub(crate) coord: ChunkCoord,
    /// What the index says so far.
    pub(crate) old: Option<ChunkEntry>,
    /// Where the old values are, if they are wanted.
    pub(crate) read: Option<StoredAt>,
    /// Values of the caller that come over it.
    pub(crate) piece: Option<&'a Piece>,
    /// What is filled in it, before values come.
    pub(crate) blank: Blank,
    /// How it will be stored.
    pub(crate) form: StoredAs,
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

/// A piece whose values go straight to the file.
pub(super) struct Straight<'a> {
    pub(super) piece: &'a Piece,
    pub(super) address: u64,
}

/// What becomes of the pieces of a request.
pub(super) struct Plan<'a> {
    /// Values that go over bytes that the file has.
    pub(super) in_place: Vec<Straight<'a>>,
    /// Values that are all of a new chunk, which goes to the file as it is in memory.
    pub(super) whole: Vec<&'a Piece>,
    /// Chunks that are made in memory.
    pub(super) jobs: Vec<Job<'a>>,
    /// When that was found out.
    pub(super) generation: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn at(generation: u64) -> Plan<'a> {
        Plan { in_place: Vec::new(), whole: Vec::new(), jobs: Vec::new(), generation }
    }
}

/// Writes pieces of chunks that lie in the file as they are in memory, with one selection request.
pub(super) fn write_straight(
    file: &OpenFile,
    layout: &ChunkLayout,
    straight: &[Straight<'_>],
    from: WriteBuffer<'_>,
) -> Result<()> {
    let (bytes, element_size) = (layout.dense_bytes() as u64, layout.element());
    let mut request = Vec::with_capacity(straight.len());
    for Straight { piece, address } in straight {
        let (memory, offset) = (&piece.memory, file.check("chunk", *address, bytes)?);
        request.push(SelectionPair { memory, file: &piece.file, offset, element_size });
    }
    if request.is_empty() { Ok(()) } else { Ok(file.write_selection(&request, from.stored_bytes()?)?) }
}
