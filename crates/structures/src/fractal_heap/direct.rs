//! Direct blocks of a heap as the metadata cache holds them: checked when they are read, with their head and checksum again when they are written.

use std::sync::Arc;

use hyperslab_base::Widths;
use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Result, Seal, Structure};
use hyperslab_format::heap::fractal;

use super::{DIRECT, Header, blocks::Direct};

/// A direct block that went through no filters.
#[derive(Clone)]
pub(super) struct DirectBlock {
    /// All of it, with room for the head in front.
    bytes: Vec<u8>,
    /// The header of the heap as it was once: what a block needs of it never changes.
    header: Arc<Header>,
    /// Where that is.
    heap: u64,
    /// Where the block begins in the heap.
    offset: u64,
    widths: Widths,
}

impl Structure for DirectBlock {
    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = self.bytes.clone();
        fractal::encode_direct(&mut bytes, &self.header, self.heap, self.offset, self.widths)?;
        Ok(bytes)
    }

    fn footprint(&self) -> usize {
        size_of::<DirectBlock>() + size_of::<Header>() + self.bytes.capacity()
    }
}

/// A direct block in the file that went through no filters.
struct PlainBlock<'a> {
    /// The heap, and where its header is.
    heap: (&'a Arc<Header>, u64),
    block: &'a Direct,
}

impl Block for PlainBlock<'_> {
    type Value = DirectBlock;
    const WHAT: &'static str = DIRECT;

    fn seal(&self, _: &[u8]) -> Seal {
        if self.heap.0.checked_blocks { Seal::Checksum } else { Seal::Signature }
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.block.size)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<DirectBlock> {
        let ((header, heap), offset) = (self.heap, self.block.offset);
        fractal::check_direct(bytes, header, file.widths()).map_err(Error::at(address))?;
        Ok(DirectBlock { bytes: bytes.to_vec(), header: header.clone(), heap, offset, widths: file.widths() })
    }

    fn structure(value: &Arc<DirectBlock>) -> Option<Arc<dyn Structure>> {
        Some(value.clone())
    }
}

impl DirectBlock {
    /// A new block of zeros, which begins at `offset` in the heap at `heap`.
    pub(super) fn new(file: Owned<'_>, (header, heap): (Arc<Header>, u64), size: u64, offset: u64) -> DirectBlock {
        let bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        DirectBlock { bytes, header, heap, offset, widths: file.widths() }
    }

    /// A block of the heap at `heap`.
    pub(super) fn read(file: Owned<'_>, heap: (&Arc<Header>, u64), block: &Direct) -> Result<Arc<DirectBlock>> {
        let found = file.load(&PlainBlock { heap, block }, block.address)?;
        if (found.offset, found.bytes.len() as u64) != (block.offset, block.size) {
            return Err(Error::broken(DIRECT, block.address, "it has two places in the heap"));
        }
        Ok(found)
    }

    /// Changes a block of the heap at `heap` in place.
    pub(super) fn change(
        file: Owned<'_>,
        heap: (&Arc<Header>, u64),
        block: &Direct,
        change: impl FnOnce(&mut DirectBlock) -> Result<()>,
    ) -> Result<()> {
        file.change(&PlainBlock { heap, block }, block.address, change)
    }

    /// The bytes from an offset in the heap on, if the block has so many there.
    pub(super) fn get(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// Puts an object to an offset in the heap.
    pub(super) fn set(&mut self, offset: u64, object: &[u8]) -> Option<()> {
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get_mut(start..)?.get_mut(..object.len())?.copy_from_slice(object);
        Some(())
    }
}
