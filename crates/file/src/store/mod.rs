//! What an open file has if it may be changed: its space, blocks that are not in the file yet, and the order in which they get there.

mod cached_block;
mod orders;
mod poison;
mod space;
mod waiting;
mod writes;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use hyperslab_alloc::{Allocator, Span, Strategy};
use hyperslab_driver::{Driver, cores::fork::Process};
use hyperslab_format::{Superblock, message::FileSpaceInfo, version::LibVersion};
use hyperslab_meta::Cache;
use parking_lot::{Mutex, RwLock};

pub(crate) use self::{
    cached_block::{CachedBlock, Decoded},
    orders::{ObjectOrders, Orders},
    poison::Poison,
    space::Space,
    waiting::Waiting,
    writes::{InFlight, WritesInFlight},
};
use crate::{
    Attached, Durability, Reclaim,
    gate::Gate,
    header::{Deleted, Handles},
    journal::Journal,
    member_layout::Members,
};

/// The write side of an open file.
pub(crate) struct Store {
    /// Blocks that were changed or made; the order in which they may be written is in there too.
    pub(crate) cache: Cache,
    pub(crate) space: Mutex<Space>,
    /// Which block waits for which, until the next flush.
    pub(crate) orders: Mutex<Orders>,
    /// Headers, and further blocks of them that change in place, until the next flush.
    pub(crate) shown_by: Mutex<BTreeSet<(u64, u64)>>,
    /// Pieces of blocks that are taken back after the next flush, by the address of the block.
    pub(crate) given_up: Mutex<GivenUp>,
    /// How many times the file was flushed.
    pub(crate) flushes: AtomicU64,
    /// Which objects have blocks that go before blocks of others, until the next flush.
    pub(crate) object_orders: Mutex<ObjectOrders>,
    /// Whether a step of an operation has begun: in debug builds, for an assertion.
    pub(crate) changing: AtomicBool,
    /// Small values that are not in the storage yet.
    pub(crate) waiting: Mutex<Waiting>,
    /// The superblock as it will be, and the bytes of it that the file has.
    pub(crate) superblock: Mutex<(Superblock, Vec<u8>)>,
    /// Changes take it alone, reads share it.
    pub(crate) operation: RwLock<()>,
    /// Writes to space that nothing in the file names yet.
    pub(crate) writes: WritesInFlight,
    /// How many times a block or the space was changed.
    pub(crate) changes: AtomicU64,
    /// How many times that was when an operation last said that the file is whole.
    pub(crate) whole: AtomicU64,
    /// What structures keep in memory, by address.
    pub(crate) attached: Mutex<BTreeMap<u64, Arc<dyn Attached>>>,
    /// What is kept in memory of the file as a whole.
    pub(crate) attached_first: OnceLock<Arc<dyn Attached>>,
    /// Objects that are no more.
    pub(crate) deleted: Deleted,
    /// What writes pass until the file is closed.
    pub(crate) gate: Gate,
    /// The process that opened the file. Others, which were forked from it, change nothing.
    pub(crate) process: Process,
    /// Open handles of objects.
    pub(crate) handles: Arc<Handles>,
    /// Whether the next flush is the last one.
    pub(crate) closing: AtomicBool,
    /// Whether the file was closed.
    pub(crate) closed: AtomicBool,
    /// Why nothing may be written any more.
    pub(crate) poison: Poison,
    /// The versions that new structures have.
    pub(crate) libver_min: LibVersion,
    /// The newest library whose structures may be written, if there is a bound.
    pub(crate) libver_max: Option<LibVersion>,
    /// Whether the file was made by this process, since when it was not closed.
    pub(crate) is_new: bool,
    /// Whether a superblock with consistency flags says that the file is whole at every instant.
    pub(crate) marks_whole: bool,
    /// Collections of the global heap that have room; the space trailer has them.
    pub(crate) collections: Mutex<Vec<u64>>,
    /// What the file said of its space when it was opened.
    pub(crate) info: Option<FileSpaceInfo>,
    /// The members of a file that is spread over several.
    pub(crate) members: Option<Members>,
    /// What outlives a killed process or a power failure.
    pub(crate) durability: Durability,
    /// Whether something was written since all was durable.
    pub(crate) unsynced: AtomicBool,
    /// Other storage that has values of this file, and was written since all was durable.
    pub(crate) other_storages: Mutex<Vec<Arc<dyn Driver>>>,
    /// What is being rewritten in place. Held while that is written: one journal at a time.
    pub(crate) journal: Mutex<Journal>,
    /// Whether blocks of a journal could not be written in place.
    pub(crate) journal_left: AtomicBool,
}

pub(crate) type GivenUp = BTreeMap<u64, (Reclaim, Vec<(u64, u64)>)>;

impl Store {
    /// Of a file that begins at `base` of its storage, and ends at the address `end`.
    pub(crate) fn new(superblock: Superblock, stored: Vec<u8>, base: u64, end: u64, strategy: Strategy) -> Store {
        let allocator = Allocator::new(end, strategy).with_base(base);
        Store {
            cache: Cache::default(),
            space: Mutex::new(Space::new(allocator)),
            orders: Mutex::default(),
            shown_by: Mutex::default(),
            object_orders: Mutex::default(),
            changing: AtomicBool::new(false),
            given_up: Mutex::default(),
            flushes: AtomicU64::new(0),
            waiting: Mutex::default(),
            superblock: Mutex::new((superblock, stored)),
            operation: RwLock::new(()),
            writes: WritesInFlight::default(),
            changes: AtomicU64::new(0),
            whole: AtomicU64::new(0),
            attached: Mutex::default(),
            attached_first: OnceLock::new(),
            deleted: Deleted::default(),
            gate: Gate::default(),
            process: Process::this(),
            handles: Arc::default(),
            closing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            poison: Poison::default(),
            libver_min: LibVersion::Earliest,
            libver_max: None,
            is_new: false,
            marks_whole: true,
            collections: Mutex::default(),
            info: None,
            members: None,
            durability: Durability::default(),
            unsynced: AtomicBool::new(true),
            other_storages: Mutex::default(),
            journal: Mutex::default(),
            journal_left: AtomicBool::new(false),
        }
    }

    /// Of a file with these members, whose values end at `values_end` if they have a member of their own.
    pub(crate) fn with_members(mut self, members: Option<Members>, values_end: u64) -> Store {
        if let Some(start) = members.as_ref().and_then(Members::values_start) {
            self.space.get_mut().keep_values_apart(start, values_end);
        }
        Store { members, ..self }
    }

    /// Space at the very end of the file.
    pub(crate) fn append(&self, length: u64) -> Result<u64, hyperslab_alloc::Error> {
        let mut space = self.space.lock();
        let span = space.allocator.append(length)?;
        space.add_fresh(span);
        self.touch();
        Ok(span.start)
    }

    /// Whether the file grows, since much of its space waits for the next flush.
    pub(crate) fn wants_space(&self) -> bool {
        self.space.lock().awaits_much(0, self.durability)
    }

    /// Forgets the pieces of blocks that begin in a range: the blocks are freed as a whole. Looks at these blocks only.
    pub(crate) fn forget_given_up(&self, span: Span) {
        let mut given_up = self.given_up.lock();
        while let Some(block) = given_up.range(span.start..span.end()).next().map(|(block, _)| *block) {
            given_up.remove(&block);
        }
    }

    /// Counts a change.
    pub(crate) fn touch(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
