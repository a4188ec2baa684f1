//! Free space that outlives the closing of a file: taken over when it is opened, saved when it is closed.
//!
//! While the file is open, it holds no list of free sections: what a list says would be used before it could be corrected. So the lists are
//! given up first of all, and written anew at the very end, behind everything else.

use hyperslab_alloc::{Kind, Span};
use hyperslab_base::Width;
use hyperslab_format::{
    free_space::{Client, FreeSpace, Section},
    message::{FileSpaceInfo, SpaceStrategy, kind},
    object_header::Flags,
};

use crate::{
    Error, FreeSections, FreeSpaceManager, Header, OpenFile, Result, extension, spans::check_apart, store::Store,
};

const WHAT: &str = "free-space manager";
/// What libhdf5 has for the managers of a file.
const CLASSES: u16 = 3;
const SHRINK: u16 = 80;
const EXPAND: u16 = 120;
/// The flags of the message: never shared, and to be marked by those who do not understand it.
const FLAGS: Flags = Flags(0x14);
/// Sections are of this class in a file without pages …
const SIMPLE: u8 = 0;
/// … and of these in pages: parts of a page, and whole pages.
const SMALL: u8 = 1;
const LARGE: u8 = 2;
/// The managers of a file by their place in the message: metadata, values, what is of variable length, whole pages.
const METADATA: usize = 0;
const VALUES: usize = 2;
const GLOBAL_HEAP: usize = 3;
const PAGES: usize = 6;
/// No page is smaller.
const SMALLEST_PAGE: u64 = 512;
/// Lists are saved if they tell of so many times the bytes that they take.
const WORTH: u64 = 4;
/// About what they take beside their sections: the extension of the superblock, heads, checksums.
const AROUND: u64 = 400;
/// More than they take beside their sections, each block in a page of its own, and for each section.
const ROOM: u64 = 8 * 4096;
const SECTION: u64 = 32;

/// How the file says that its space is managed, if it does.
pub(crate) fn info(file: &OpenFile) -> Result<Option<FileSpaceInfo>> {
    let Some(address) = file.superblock.extension else { return Ok(None) };
    let header = Header::read(file, address)?;
    let Some(found) = header.find(kind::FILE_SPACE_INFO) else { return Ok(None) };
    FileSpaceInfo::decode(header.body(found), file.widths()).map(Some).map_err(Error::at(address))
}

/// Refuses what cannot be gone on with: pages that are none.
pub(crate) fn check(info: &FileSpaceInfo, address: u64) -> Result<()> {
    match info {
        FileSpaceInfo::New { strategy: SpaceStrategy::Pages, page_size, .. } if *page_size < SMALLEST_PAGE => {
            Err(Error::broken("file space info message", address, format!("pages of {page_size} bytes")))
        }
        _ => Ok(()),
    }
}

impl OpenFile {
    /// How the file says that its space is managed, if it does.
    pub fn space_info(&self) -> Result<Option<FileSpaceInfo>> {
        info(self)
    }
}

/// The size of the pages of a file that says this, if it has any.
fn page(info: Option<&FileSpaceInfo>) -> Option<u64> {
    match info {
        Some(FileSpaceInfo::New { strategy: SpaceStrategy::Pages, page_size, .. }) => Some(*page_size),
        _ => None,
    }
}

/// What a new file says of its space.
pub(crate) fn begin(file: &OpenFile, store: &Store, first: FileSpaceInfo) -> Result<()> {
    set_info(file, store, |info| *info = first)
}

/// Takes over the free sections that the file lists, and the space of the lists. The file must be flushed before anything else happens.
pub(crate) fn take_over(file: &OpenFile, store: &Store, info: FileSpaceInfo) -> Result<()> {
    let FileSpaceInfo::New { managers: Some(managers), .. } = &info else { return Ok(()) };
    let (mut free, mut blocks) = (Vec::new(), Vec::new());
    for (nth, &address) in managers.iter().enumerate() {
        let Some(address) = address else { continue };
        let size = FreeSpace::size(file.widths()) as u64;
        let manager = file.load_once(&FreeSpaceManager, address)?;
        let kind = if matches!(nth % 6, VALUES | GLOBAL_HEAP) { Kind::Raw } else { Kind::Metadata };
        let spans =
            sections(file, &manager)?.into_iter().map(|section| Span { start: section.offset, len: section.size });
        free.extend(spans.map(|span| (span, kind)));
        blocks.push(Span { start: address, len: size });
        blocks.extend(manager.list.map(|list| Span { start: list, len: manager.list_allocated }));
    }
    check_apart(file, WHAT, free.iter().map(|(span, _)| *span).chain(blocks.iter().copied()))?;
    for (span, kind) in free {
        store.space.lock().allocator.restore(span, kind);
    }
    blocks.into_iter().try_for_each(|span| file.free(span.start, span.len))?;
    let end = store.space.lock().allocator.end();
    set_info(file, store, |info| set_managers(info, [None; 12], end))
}

fn set_managers(info: &mut FileSpaceInfo, addresses: [Option<u64>; 12], end: u64) {
    if let FileSpaceInfo::New { managers, end_before_managers, .. } = info {
        (*managers, *end_before_managers) = (Some(addresses), Some(end));
    }
}

fn sections(file: &OpenFile, manager: &FreeSpace) -> Result<Vec<Section>> {
    let Some(list) = manager.list else { return Ok(Vec::new()) };
    file.load_once(&FreeSections(manager), list)
}

/// Changes what the file says of its space; it begins to say something if it did not.
fn set_info(file: &OpenFile, store: &Store, change: impl FnOnce(&mut FileSpaceInfo)) -> Result<()> {
    extension::change(file, store, |header| {
        let found = header.find(kind::FILE_SPACE_INFO);
        let mut info = match found {
            Some(found) => FileSpaceInfo::decode(header.body(found), file.widths()).map_err(Error::at(0))?,
            None => FileSpaceInfo::New {
                strategy: SpaceStrategy::Managers,
                threshold: 1,
                page_size: 4096,
                page_end_threshold: 0,
                end_before_managers: None,
                managers: Some([None; 12]),
            },
        };
        change(&mut info);
        let body = info.encode(file.widths())?;
        match found {
            Some(found) => header.replace(found, body),
            None => header.add(kind::FILE_SPACE_INFO, FLAGS, None, body).map(drop),
        }
    })
}

/// Lists what is free, if that is worth it and the file can hold it: behind everything else, where the lists change nothing of what they list.
/// Whether it does.
pub(crate) fn save(file: &OpenFile, store: &Store) -> Result<bool> {
    let superblock = store.superblock.lock().0.clone();
    // Sections of values that have a member of their own have addresses that a list has no room for.
    let has_values_apart = store.members.as_ref().is_some_and(|members| members.values_start().is_some());
    let info = if superblock.version < 2 || has_values_apart { return Ok(false) } else { store.info.as_ref() };
    let persists = matches!(info, None | Some(FileSpaceInfo::New { managers: Some(_), .. }));
    // Where lengths are short, libhdf5 cannot read the lists that it would make of these.
    if !persists || file.widths().lengths != Width::W8 || !is_worth(store) {
        return Ok(false);
    }
    let sections = store.space.lock().allocator.sections().len() as u64;
    if !file.has_room_for(store, ROOM + sections.saturating_mul(SECTION))? {
        // The lists only spare space: a full storage must not keep the file from being closed.
        return Ok(false);
    }
    // The message needs space of its own before it can be known what is free. From then on nothing moves, so what is freed can be listed before
    // the file no longer names it.
    set_info(file, store, |info| set_managers(info, [None; 12], 0))?;
    let mut space = store.space.lock();
    space.lists_free = true;
    // The end comes first: the lists go behind it, and must not lie over what the file still names.
    space.allocator.trim();
    space.allocator.publish();
    let free = space.allocator.free_parts();
    drop(space);
    let paged = page(info).is_some();
    let smallest = match info {
        Some(FileSpaceInfo::New { threshold, .. }) => *threshold,
        _ => 1,
    };
    let mut lists = [const { Vec::new() }; 12];
    for (span, kind) in free.into_iter().filter(|(span, _)| span.len >= smallest) {
        let (place, class) = match (paged, kind) {
            (true, Some(Kind::Metadata)) => (METADATA, SMALL),
            (true, Some(Kind::Raw)) => (VALUES, SMALL),
            (true, None) => (PAGES, LARGE),
            (false, Some(Kind::Raw)) => (VALUES, SIMPLE),
            (false, _) => (METADATA, SIMPLE),
        };
        let section = Section { offset: span.start, size: span.len, class, blocks: None };
        lists.get_mut(place).into_iter().for_each(|list| list.push(section));
    }
    let addresses = append(file, store, lists)?;
    // libhdf5 cuts the file here when it opens it, so the managers are before.
    let end = store.space.lock().allocator.end();
    set_info(file, store, |info| set_managers(info, addresses, end))?;
    file.flush_now().map(|()| true)
}

/// Whether the lists would tell of far more than they take.
fn is_worth(store: &Store) -> bool {
    let mut space = store.space.lock();
    space.allocator.trim();
    let free = space.allocator.sections();
    let (count, bytes) = (free.len() as u64, free.iter().map(|span| span.len).sum::<u64>());
    bytes > (AROUND + count * 24) * WORTH
}

/// Puts a manager and its list for each list that is not empty; where the managers are.
fn append(file: &OpenFile, store: &Store, lists: [Vec<Section>; 12]) -> Result<[Option<u64>; 12]> {
    let (widths, head) = (file.widths(), FreeSpace::size(file.widths()) as u64);
    let mut managers = Vec::new();
    for (place, mut list) in lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        list.sort_by_key(|section| (section.size, section.offset));
        let sizes = list.chunk_by(|left, right| left.size == right.size).count() as u64;
        let mut manager = manager(&list, widths.offsets.bytes());
        let count_width = Width::of(manager.listed).bytes() as u64;
        let size_width = Width::of(manager.max_section).bytes() as u64;
        let offset_width = u64::from(manager.address_bits.div_ceil(8));
        let size = 5 + widths.offsets.bytes() as u64 + sizes * (count_width + size_width);
        manager.list_size = size + manager.listed * (offset_width + 1) + 4;
        manager.list_allocated = manager.list_size;
        managers.push((place, manager, list));
    }
    let total = managers.iter().map(|(_, manager, _)| head + manager.list_size).sum::<u64>();
    let whole = page(store.info.as_ref()).map_or(total, |page| total.next_multiple_of(page));
    // The last list has what is left of its page, so that all of it is freed with the list.
    managers.last_mut().into_iter().for_each(|(_, manager, _)| manager.list_allocated += whole - total);
    let mut at = store.append(whole)?;
    let mut addresses = [None; 12];
    for (place, mut manager, list) in managers {
        let (address, list_address) = (at, at + head);
        manager.list = Some(list_address);
        at = list_address + manager.list_size;
        file.put(address, manager.encode(widths)?)?;
        file.put(list_address, manager.encode_list(&list, address, widths)?)?;
        addresses.get_mut(place).into_iter().for_each(|place| *place = Some(address));
    }
    Ok(addresses)
}

/// A manager of these sections, without a place for its list.
fn manager(list: &[Section], offset_bytes: usize) -> FreeSpace {
    // Offsets are signed in libhdf5.
    let address_bits = (offset_bytes * 8 - 1) as u16;
    FreeSpace {
        client: Client::File,
        space: list.iter().map(|section| section.size).sum(),
        sections: list.len() as u64,
        listed: list.len() as u64,
        ghosts: 0,
        classes: CLASSES,
        shrink: SHRINK,
        expand: EXPAND,
        address_bits,
        max_section: u64::MAX >> (65 - 8 * offset_bytes.min(8)),
        list: None,
        list_size: 0,
        list_allocated: 0,
    }
}
