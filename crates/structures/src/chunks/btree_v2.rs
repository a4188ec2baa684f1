//! Chunks in the second kind of B-tree, ordered by their place in the grid.

use hyperslab_base::{Reader, Widths, Writer};
use hyperslab_file::{Error, OpenFile, Owned, Result};
use hyperslab_format::{ChunkEntry, index::ChunkElement};

use crate::Tree;

/// A tree of chunks.
#[derive(Debug)]
pub struct ChunkTree {
    tree: Tree,
    address: u64,
    rank: usize,
    element: ChunkElement,
    /// Where a record has its place in the grid.
    coord: CoordField,
}

impl ChunkTree {
    /// The tree at `address`, of a dataset with `rank` dimensions.
    pub fn open<'f>(file: impl Into<Owned<'f>>, address: u64, rank: usize, element: ChunkElement) -> Result<ChunkTree> {
        let file = file.into();
        let tree = Tree::open(file, address, &[element.client().record_kind()])?;
        let record = element.size(file.widths()) + rank * 8;
        if tree.record_size() != record {
            let why = format!("records of {} bytes where {record} belong", tree.record_size());
            return Err(Error::broken("chunk B-tree", address, why));
        }
        let coord = CoordField::new(element, rank, file.widths());
        Ok(ChunkTree { tree, address, rank, element, coord })
    }

    /// A new tree, with nodes of `node_size` bytes that are split and merged at so many percent.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        rank: usize,
        element: ChunkElement,
        (node_size, split, merge): (u32, u8, u8),
    ) -> Result<ChunkTree> {
        let file = file.into();
        let record = element.size(file.widths()) + rank * 8;
        let tree = Tree::create(file, element.client().record_kind(), record, node_size, split, merge)?;
        let (address, coord) = (tree.address(), CoordField::new(element, rank, file.widths()));
        Ok(ChunkTree { tree, address, rank, element, coord })
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Chunks as they are from now on, in row-major order of their places; one without an address is taken out.
    pub fn set_all<P: AsRef<[u64]>>(&mut self, file: &OpenFile, chunks: &[(P, ChunkEntry)]) -> Result<()> {
        let of = self.coord;
        for run in chunks.chunk_by(|(_, left), (_, right)| left.address.is_some() == right.address.is_some()) {
            if run.first().is_some_and(|(_, chunk)| chunk.address.is_some()) {
                let mut records = Writer::new("chunk record");
                let encode = |(place, chunk): &(P, ChunkEntry)| {
                    self.element.encode(&mut records, chunk, place.as_ref(), file.widths())
                };
                run.iter().try_for_each(encode)?;
                let order = |stored: &[u8], record: &[u8]| of.read(stored).cmp(of.read(record));
                self.tree.put_sorted(file, &records.into_bytes(), &order)?;
                continue;
            }
            for (place, _) in run {
                let mut order = |record: &[u8]| Ok(of.read(record).cmp(place.as_ref().iter().copied()));
                self.tree.remove(file, &mut order)?;
            }
        }
        Ok(())
    }

    /// Gives the tree's space back; the chunks keep theirs.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        self.tree.delete(file, &mut |_| Ok(()))
    }

    /// The chunks at these places in the grid, which must be in row-major order; `each` gets the number of every one that is there.
    pub fn find_sorted<P: AsRef<[u64]>>(
        &self,
        file: &OpenFile,
        places: &[P],
        each: &mut dyn FnMut(usize, ChunkEntry),
    ) -> Result<()> {
        let order = |record: &[u8], place: &P| self.coord.read(record).cmp(place.as_ref().iter().copied());
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
        self.element.decode(&mut reader, self.rank, file.widths()).map_err(Error::at(self.address))
    }
}

/// Where a record has its place in the grid.
#[derive(Clone, Copy, Debug)]
struct CoordField {
    at: usize,
    rank: usize,
}

impl CoordField {
    fn new(element: ChunkElement, rank: usize, widths: Widths) -> CoordField {
        CoordField { at: element.place_at(widths), rank }
    }

    fn read(self, record: &[u8]) -> impl Iterator<Item = u64> + use<'_> {
        let place = record.get(self.at..).and_then(|rest| rest.get(..self.rank * 8)).unwrap_or_default();
        place.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}
