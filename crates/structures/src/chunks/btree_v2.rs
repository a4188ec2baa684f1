//! Chunks in the second kind of B-tree, ordered by their place in the grid.

use hyperslab_base::{Reader, Width};
use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::ChunkEntry;

use crate::Tree;

const PLAIN: u8 = 10;
const FILTERED: u8 = 11;

/// A tree of chunks.
#[derive(Debug)]
pub struct ChunkTree {
    tree: Tree,
    address: u64,
    rank: usize,
    chunk_bytes: u64,
    size_width: Width,
}

impl ChunkTree {
    /// The tree at `address`, of a dataset with `rank` dimensions and chunks of `chunk_bytes`; stored sizes have `size_width` bytes.
    pub fn open(file: &OpenFile, address: u64, rank: usize, chunk_bytes: u64, size_width: Width) -> Result<ChunkTree> {
        let tree = Tree::open(file, address, &[PLAIN, FILTERED])?;
        let filtered = if tree.kind() == FILTERED { size_width.bytes() + 4 } else { 0 };
        let record = file.widths().offsets.bytes() + filtered + rank * 8;
        if tree.record_size() != record {
            let why = format!("records of {} bytes where {record} belong", tree.record_size());
            return Err(Error::broken("chunk B-tree", address, why));
        }
        Ok(ChunkTree { tree, address, rank, chunk_bytes, size_width })
    }

    /// The chunks at these places in the grid, which must be in row-major order; `each` gets the number of every one that is there.
    pub fn find_sorted<P: AsRef<[u64]>>(
        &self,
        file: &OpenFile,
        places: &[P],
        each: &mut dyn FnMut(usize, ChunkEntry),
    ) -> Result<()> {
        let order = |record: &[u8], place: &P| self.place(record).cmp(place.as_ref().iter().copied());
        self.tree.find_sorted(file, places, &order, &mut |nth, record| {
            each(nth, self.decode(file, record)?);
            Ok(())
        })
    }

    /// The place of a record's chunk: the last fields.
    fn place<'a>(&self, record: &'a [u8]) -> impl Iterator<Item = u64> + use<'a> {
        let start = record.len().saturating_sub(self.rank * 8);
        record.get(start..).unwrap_or_default().as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Calls `each` for every chunk, in order.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(ChunkEntry) -> Result<()>) -> Result<()> {
        self.tree.for_each(file, &mut |record| each(self.decode(file, record)?))
    }

    fn decode(&self, file: &OpenFile, record: &[u8]) -> Result<ChunkEntry> {
        let mut reader = Reader::new("chunk record", record);
        let mut read = || {
            let address = reader.address(file.widths())?;
            let (size, mask) = match self.tree.kind() {
                FILTERED => (reader.uint(self.size_width)?, reader.u32()?),
                _ => (self.chunk_bytes, 0),
            };
            let start = (0..self.rank).map(|_| reader.u64()).collect::<std::result::Result<_, _>>()?;
            Ok(ChunkEntry { start, address, size, mask })
        };
        read().map_err(Error::at(self.address))
    }
}
