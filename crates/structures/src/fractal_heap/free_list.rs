//! Free bytes in the direct blocks of a heap, and the manager that keeps them in the file.
//!
//! We keep ranges of bytes in blocks that exist. libhdf5 also lists blocks that it passed over; those sections stay as they are, since we never make
//! such blocks.

use hyperslab_base::Width;
use hyperslab_file::{Error, FreeSections, FreeSpaceManager, Kind, OpenFile, Owned, Result};
use hyperslab_format::{
    free_space::{Client, FreeSpace, Section},
    heap::fractal::FractalHeap as Header,
};

use crate::ranges::Ranges;

const WHAT: &str = "free-space manager of a fractal heap";
/// The class of a range of bytes in a direct block.
const SINGLE: u8 = 0;
const CLASSES: u16 = 4;
const SHRINK: u16 = 80;
const EXPAND: u16 = 120;

/// The free ranges of a heap.
#[derive(Debug, Default)]
pub(super) struct FreeList {
    /// By their offsets in the heap.
    ranges: Ranges,
    /// Sections of blocks that do not exist.
    others: Vec<Section>,
    /// How many sections follow from those, and their bytes.
    ghosts: u64,
    other_space: u64,
    /// The manager in the file, and its list with its size.
    manager: Option<u64>,
    list: Option<(u64, u64)>,
    changed: bool,
}

impl FreeList {
    /// What the file says.
    pub(super) fn read(file: &OpenFile, header: &Header) -> Result<FreeList> {
        let Some(address) = header.free_manager else { return Ok(FreeList::default()) };
        let manager = file.load_once(&FreeSpaceManager, address)?;
        if manager.client != Client::Heap {
            return Err(Error::broken(WHAT, address, "it manages the space of something else"));
        }
        let mut free = FreeList { manager: Some(address), ghosts: manager.ghosts, ..FreeList::default() };
        if let Some(list) = manager.list {
            free.list = Some((list, manager.list_allocated));
            for section in file.load_once(&FreeSections(&manager), list)? {
                if section.class == SINGLE {
                    free.add(section.offset, section.size);
                } else {
                    free.others.push(section);
                }
            }
        }
        free.other_space = manager.space.saturating_sub(free.space());
        free.changed = false;
        Ok(free)
    }

    /// The free ranges, as they are now.
    pub(super) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Takes a range out.
    pub(super) fn take(&mut self, offset: u64) {
        self.changed |= self.ranges.take(offset);
    }

    /// Takes bytes from the front of a range.
    pub(super) fn take_front(&mut self, offset: u64, length: u64) {
        self.changed |= self.ranges.take_front(offset, length);
    }

    /// Adds a range. Those that it is joined with are in the same block, since blocks have a head.
    pub(super) fn add(&mut self, offset: u64, size: u64) {
        self.ranges.add(offset, size);
        self.changed |= size > 0;
    }

    /// Whether the file does not have it as it is.
    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Whether the file has nothing of it.
    pub(super) fn is_in_memory(&self) -> bool {
        self.manager.is_none() && self.list.is_none()
    }

    /// Forgets all ranges: the heap has no blocks.
    pub(super) fn clear(&mut self) {
        let FreeList { manager, list, .. } = *self;
        *self = FreeList { manager, list, changed: true, ..FreeList::default() };
    }

    fn space(&self) -> u64 {
        self.ranges.all().map(|(_, size)| size).sum()
    }

    /// Gives back the space of the manager.
    pub(super) fn free(&mut self, file: &OpenFile) -> Result<()> {
        if let Some((list, size)) = self.list.take() {
            file.free(list, size)?;
        }
        match self.manager.take() {
            Some(manager) => file.free(manager, FreeSpace::size(file.widths()) as u64),
            None => Ok(()),
        }
    }

    /// Writes the manager anew if something changed, to space that nothing names yet, so that the heap's header switches to it.
    pub(super) fn write(&mut self, file: Owned<'_>, header: &mut Header) -> Result<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        self.free(&file)?;
        header.free_manager = None;
        let single = |(offset, size)| Section { offset, size, class: SINGLE, blocks: None };
        let mut sections: Vec<Section> = self.ranges.all().map(single).chain(self.others.iter().copied()).collect();
        if sections.is_empty() {
            return Ok(());
        }
        sections.sort_by_key(|section| (section.size, section.offset));
        let (widths, listed) = (file.widths(), sections.len() as u64);
        let offset_width = header.table.offset_width().bytes();
        let sizes = sections.chunk_by(|left, right| left.size == right.size).count();
        let of_size = sizes * (Width::of(listed).bytes() + Width::of(header.table.max_direct).bytes());
        let of_blocks = sections.iter().filter(|section| section.blocks.is_some()).count() * (offset_width + 6);
        let frame = 5 + widths.offsets.bytes() + 4;
        let list_size = (frame + of_size + sections.len() * (offset_width + 1) + of_blocks) as u64;
        let address = file.allocate(Kind::Metadata, FreeSpace::size(widths) as u64)?;
        let list = file.allocate(Kind::Metadata, list_size)?;
        let manager = FreeSpace {
            client: Client::Heap,
            space: self.space().saturating_add(self.other_space),
            sections: listed + self.ghosts,
            listed,
            ghosts: self.ghosts,
            classes: CLASSES,
            shrink: SHRINK,
            expand: EXPAND,
            address_bits: header.table.bits,
            max_section: header.table.max_direct,
            list: Some(list),
            list_size,
            list_allocated: list_size,
        };
        file.put(list, manager.encode_list(&sections, address, widths)?)?;
        file.put(address, manager.encode(widths)?)?;
        (self.manager, self.list) = (Some(address), Some((list, list_size)));
        header.free_manager = Some(address);
        Ok(())
    }
}
