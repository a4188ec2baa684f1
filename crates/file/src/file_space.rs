//! How the space of a file is managed: what a new file says of it, and what one opening of it wants.

use hyperslab_alloc::Strategy;
use hyperslab_format::message::{FileSpaceInfo, SpaceStrategy};

use crate::{Error, Result};

/// Pages are so large.
const PAGES: std::ops::RangeInclusive<u64> = 512..=1 << 30;

/// How the space of a new file is managed, as long as there is the file. Files that are not managed as usual cannot be read by the oldest
/// libraries.
///
/// ```
/// use hyperslab_file::{FileSpace, SpaceStrategy};
/// let space = FileSpace { strategy: SpaceStrategy::Pages, persist: true, page_size: 8192, ..FileSpace::default() };
/// assert_ne!(space, FileSpace::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpace {
    /// Where space comes from.
    pub strategy: SpaceStrategy,
    /// Whether free space is remembered when the file is closed. Files that say nothing, which are those with the default strategy, have it
    /// remembered where that is worth it.
    pub persist: bool,
    /// The smallest free section that is remembered.
    pub threshold: u64,
    /// The size of a page, for the strategy that has pages.
    pub page_size: u64,
}

impl Default for FileSpace {
    fn default() -> FileSpace {
        FileSpace { strategy: SpaceStrategy::Managers, persist: false, threshold: 1, page_size: 4096 }
    }
}

impl FileSpace {
    /// What the file says of it: nothing if it is as usual.
    pub(crate) fn info(&self) -> Result<Option<FileSpaceInfo>> {
        if !PAGES.contains(&self.page_size) {
            let why = format!("pages of {} bytes: they must have {} to {}", self.page_size, PAGES.start(), PAGES.end());
            return Err(Error::Refused(why));
        }
        // Only those who keep lists of free space can remember it.
        let lists = matches!(self.strategy, SpaceStrategy::Managers | SpaceStrategy::Pages);
        let info = FileSpaceInfo::New {
            strategy: self.strategy,
            threshold: if lists { self.threshold } else { 1 },
            page_size: self.page_size,
            page_end_threshold: 0,
            end_before_managers: None,
            managers: (self.persist && lists).then_some([None; 12]),
        };
        Ok((*self != FileSpace::default()).then_some(info))
    }
}

/// Where one opening of a file puts what is new. Pages know better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Small pieces of metadata share blocks of this size; 0 for none.
    pub metadata_block: u64,
    /// Pieces of at least this size are aligned …
    pub align_from: u64,
    /// … to multiples of this.
    pub alignment: u64,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement { metadata_block: 2048, align_from: 1, alignment: 1 }
    }
}

impl Placement {
    /// How space is given out in a file that says this.
    pub(crate) fn strategy(&self, info: Option<&FileSpaceInfo>) -> Strategy {
        let gathers = !matches!(info, Some(FileSpaceInfo::New { strategy: SpaceStrategy::End, .. }));
        match info {
            Some(FileSpaceInfo::New { strategy: SpaceStrategy::Pages, page_size, .. }) => {
                Strategy::Paged { page: *page_size }
            }
            _ => Strategy::Fit {
                block: if gathers { self.metadata_block } else { 0 },
                threshold: self.align_from,
                alignment: self.alignment.max(1),
            },
        }
    }
}
