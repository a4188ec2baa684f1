//! What a program says when it opens a file.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use hyperslab_base::ErrorKind;
use hyperslab_driver::{PageStrategy, Transfer};
use hyperslab_file::{CreateOptions, Durability, FileSpace, Placement, Retry};
use hyperslab_format::{message::Target, version::LibVersion};
use hyperslab_object::{GroupSettings, ObjectSettings};

use crate::{CacheConfig, Error, ExternalAccess, Locking, Members, Result};

/// Says what a user-defined link stands for, from what its class keeps in it. The answer is a link of another kind.
pub type LinkResolver = dyn Fn(&[u8]) -> std::result::Result<Target, String> + Send + Sync;

/// How far a virtual dataset reaches that grows with its sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VirtualView {
    /// To the last value that any source has; what others lack before it is the fill value.
    #[default]
    LastAvailable,
    /// To where the first source ends.
    FirstMissing,
}

/// How a file, and the files that it leads to, are opened.
#[derive(Clone, Default)]
pub struct Options {
    /// How far virtual datasets reach that grow with their sources.
    pub view: VirtualView,
    /// How many numbered sources of a virtual dataset may be missing before those that are there.
    pub gap: u64,
    /// Where sources of virtual datasets are looked for first.
    pub virtual_prefix: Option<PathBuf>,
    /// Where targets of external links are looked for first.
    pub link_prefix: Option<PathBuf>,
    /// Where external raw data is looked for.
    pub raw_prefix: Option<PathBuf>,
    /// Which other files the file may lead to.
    pub external: ExternalAccess,
    /// What user-defined links stand for, by class.
    pub resolvers: HashMap<u8, Arc<LinkResolver>>,
    /// The chunk cache, unless the environment sets it.
    pub cache: Option<CacheConfig>,
    /// How the file itself is opened.
    pub access: Access,
}

/// How the file itself is opened; those that it leads to are only read.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// It may be changed.
    pub write: bool,
    /// It is made if it is not there.
    pub create: bool,
    /// It is made, and must not be there.
    pub create_new: bool,
    /// It is made anew if it is there.
    pub truncate: bool,
    /// How it is locked against other processes.
    pub locking: Locking,
    /// It is read beside a SWMR writer.
    pub swmr: bool,
    /// Devices and pipes are opened, too.
    pub special: bool,
    /// Its name is that of one file, also if it looks like that of a family.
    pub one_file: bool,
    /// How a new file is spread over several.
    pub members: Option<Members>,
    /// The oldest library that should read new structures.
    pub libver_min: LibVersion,
    /// The newest library whose structures may be written, if there is a bound.
    pub libver_max: Option<LibVersion>,
    /// Bytes in front of a new file that are the user's.
    pub user_block: u64,
    /// The root group of a new file tracks the order of links and attributes.
    pub ordered: bool,
    /// How a new file manages its space.
    pub space: FileSpace,
    /// Where values and metadata go.
    pub placement: Placement,
    /// What a flush guarantees.
    pub durability: Durability,
    /// Bytes of metadata pages in memory, if they are not as many as usual.
    pub page_buffer: Option<usize>,
    /// How values are read by means of these pages, if they are.
    pub page_strategy: Option<PageStrategy>,
    /// How many percent of the pages are kept for metadata, and for values, if these have pages.
    pub page_reserve: (u8, u8),
    /// What memory has of an object is evicted when its last handle is dropped.
    pub evict_on_close: bool,
    /// What goes with each request to the storage.
    pub transfer: Transfer,
    /// How often a block of metadata is read whose bytes do not belong together, if it is not as often as usual.
    pub retry: Option<Retry>,
    /// What the root group of a new file is like, if it is not as usual.
    pub root: Option<(ObjectSettings, GroupSettings)>,
}

impl Access {
    /// What a new file is like.
    pub(crate) fn new_file(&self) -> CreateOptions {
        let mut create = CreateOptions::default();
        (create.libver_min, create.user_block, create.space) = (self.libver_min, self.user_block, self.space);
        create.members = self.members.as_ref().map(Members::files);
        create
    }

    /// How another file is opened that belongs to the work on this one, such as one that this one leads to: with the same settings of requests, and nothing of what makes a new file.
    pub fn of_linked(&self, write: bool) -> Access {
        let Access {
            locking,
            libver_min,
            libver_max,
            durability,
            page_buffer,
            page_strategy,
            page_reserve,
            retry,
            evict_on_close,
            ..
        } = *self;
        let (swmr, transfer) = (self.swmr && !write, self.transfer.clone());
        let pages = Access { page_buffer, page_strategy, page_reserve, ..Access::default() };
        Access { write, locking, libver_min, libver_max, durability, swmr, transfer, retry, evict_on_close, ..pages }
    }

    /// Sets how many pages are kept and for what, what goes with each request to the storage, and how often blocks are read.
    pub fn requests(&self, options: &mut hyperslab_file::OpenOptions) {
        options.transfer.clone_from(&self.transfer);
        options.page_strategy = self.page_strategy.unwrap_or(options.page_strategy);
        options.page_reserve = self.page_reserve;
        options.retry = self.retry.unwrap_or(options.retry);
        options.page_buffer = self.page_buffer.unwrap_or(options.page_buffer);
    }

    /// Refuses options that no new file can have, if one may be made.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(most) = self.libver_max.filter(|most| *most < self.libver_min) {
            let why = format!("structures for {} and newer, but none newer than {most} (libver)", self.libver_min);
            return Err(hyperslab_file::Error::Refused(why).into());
        }
        if self.create || self.create_new || self.truncate { Ok(self.new_file().check()?) } else { Ok(()) }
    }
}

impl Options {
    /// The settings of the chunk cache: those that were given, or those of the environment.
    pub(crate) fn cache_config(&self) -> CacheConfig {
        self.cache.unwrap_or_else(CacheConfig::from_environment)
    }

    /// A link as one of a kind that is not the user's.
    pub(crate) fn stands_for(&self, target: Target, link: &[u8]) -> Result<Target> {
        let Target::User { class, data } = target else { return Ok(target) };
        let fail = |why: String| {
            let link = String::from_utf8_lossy(link).into_owned();
            Error::Link { link, why, kind: ErrorKind::Unsupported }
        };
        let resolver = self.resolvers.get(&class);
        let resolver =
            resolver.ok_or_else(|| fail(format!("the program does not say what links of class {class} stand for")))?;
        match resolver(&data).map_err(fail)? {
            Target::User { .. } => Err(fail(format!("class {class} stands for another user-defined link"))),
            target => Ok(target),
        }
    }
}
