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
        Ok(ChunkTree { tree, address, rank, chunk_bytes, size_width })
    }

    /// The chunk at this place in the grid.
    pub fn find(&self, file: &OpenFile, place: &[u64]) -> Result<Option<ChunkEntry>> {
        let mut order = |record: &[u8]| Ok(self.decode(file, record)?.start.as_slice().cmp(place));
        self.tree.find(file, &mut order, |record| self.decode(file, record))
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
