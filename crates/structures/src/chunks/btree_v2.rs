//! Chunks in the second kind of B-tree, ordered by their place in the grid.

use hyperslab_base::{Reader, Width, Writer};
use hyperslab_file::{Error, OpenFile, Owned, Result};
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
    pub fn open<'f>(
        file: impl Into<Owned<'f>>,
        address: u64,
        rank: usize,
        chunk_bytes: u64,
        size_width: Width,
    ) -> Result<ChunkTree> {
        let file = file.into();
        let tree = Tree::open(file, address, &[PLAIN, FILTERED])?;
        let filtered = if tree.kind() == FILTERED { size_width.bytes() + 4 } else { 0 };
        let record = file.widths().offsets.bytes() + filtered + rank * 8;
        if tree.record_size() != record {
            let why = format!("records of {} bytes where {record} belong", tree.record_size());
            return Err(Error::broken("chunk B-tree", address, why));
        }
        Ok(ChunkTree { tree, address, rank, chunk_bytes, size_width })
    }

    /// A new tree, with nodes of `node_size` bytes that are split and merged at so many percent; `size_width` if chunks are filtered.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        rank: usize,
        chunk_bytes: u64,
        size_width: Option<Width>,
        (node_size, split, merge): (u32, u8, u8),
    ) -> Result<ChunkTree> {
        let (file, kind) = (file.into(), if size_width.is_some() { FILTERED } else { PLAIN });
        let record = file.widths().offsets.bytes() + size_width.map_or(0, |width| width.bytes() + 4) + rank * 8;
        let tree = Tree::create(file, kind, record, node_size, split, merge)?;
        let (address, size_width) = (tree.address(), size_width.unwrap_or(Width::W8));
        Ok(ChunkTree { tree, address, rank, chunk_bytes, size_width })
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Chunks as they are from now on, in row-major order of their places; one without an address is taken out.
    pub fn set_all<P: AsRef<[u64]>>(&mut self, file: &OpenFile, chunks: &[(P, ChunkEntry)]) -> Result<()> {
        let rank = self.rank;
        for run in chunks.chunk_by(|(_, left), (_, right)| left.address.is_some() == right.address.is_some()) {
            if run.first().is_some_and(|(_, chunk)| chunk.address.is_some()) {
                let mut records = Writer::new("chunk record");
                run.iter().try_for_each(|(place, chunk)| self.encode(file, place.as_ref(), chunk, &mut records))?;
                let order = |stored: &[u8], record: &[u8]| place_of(stored, rank).cmp(place_of(record, rank));
                self.tree.put_sorted(file, &records.into_bytes(), &order)?;
                continue;
            }
            for (place, _) in run {
                let mut order = |record: &[u8]| Ok(place_of(record, rank).cmp(place.as_ref().iter().copied()));
                self.tree.remove(file, &mut order)?;
            }
        }
        Ok(())
    }

    /// Gives the tree's space back; the chunks keep theirs.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        self.tree.delete(file, &mut |_| Ok(()))
    }

    fn encode(&self, file: &OpenFile, place: &[u64], chunk: &ChunkEntry, writer: &mut Writer) -> Result<()> {
        writer.address("address of a chunk", file.widths(), chunk.address)?;
        if self.tree.kind() == FILTERED {
            writer.uint("size of a chunk", self.size_width, chunk.size)?;
            writer.u32(chunk.mask);
        }
        place.iter().for_each(|nth| writer.extend(&nth.to_le_bytes()));
        Ok(())
    }

    /// The chunks at these places in the grid, which must be in row-major order; `each` gets the number of every one that is there.
    pub fn find_sorted<P: AsRef<[u64]>>(
        &self,
        file: &OpenFile,
        places: &[P],
        each: &mut dyn FnMut(usize, ChunkEntry),
    ) -> Result<()> {
        let order = |record: &[u8], place: &P| place_of(record, self.rank).cmp(place.as_ref().iter().copied());
        self.tree.find_sorted(file, places, &order, &mut |nth, record| {
            each(nth, self.decode(file, record)?);
            Ok(())
        })
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

/// The place of a record's chunk: the last fields.
fn place_of(record: &[u8], rank: usize) -> impl Iterator<Item = u64> + use<'_> {
    let start = record.len().saturating_sub(rank * 8);
    record.get(start..).unwrap_or_default().as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}
