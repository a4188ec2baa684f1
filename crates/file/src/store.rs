//! What an open file has if it may be changed: its space, blocks that are not in the file yet, and the order in which they get there.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use hyperslab_alloc::{Allocator, Kind, Span, Strategy};
use hyperslab_driver::{Driver, cores::fork::Process};
use hyperslab_format::{Superblock, message::FileSpaceInfo, version::Low};
use hyperslab_meta::{Cache, Entry, Failure};
use parking_lot::{Mutex, RwLock};

use crate::{
    Attached, Durability, Reclaim,
    gate::Gate,
    header::{Deleted, Handles},
    journal::Journal,
};

/// The write side of an open file.
pub(crate) struct Store {
    /// Blocks that were changed or made; the order in which they may be written is in there too.
    pub(crate) cache: Cache,
    pub(crate) space: Mutex<Space>,
    /// Which block waits for which, until the next flush.
    pub(crate) orders: Mutex<Orders>,
    /// Pieces of blocks that are taken back after the next flush, by the address of the block.
    pub(crate) given_up: Mutex<GivenUp>,
    /// How many times the file was flushed.
    pub(crate) flushes: AtomicU64,
    /// Which objects have blocks that go before blocks of others, until the next flush.
    pub(crate) object_orders: Mutex<ObjectOrders>,
    /// Small values that are not in the storage yet.
    pub(crate) waiting: Mutex<Waiting>,
    /// The superblock as it will be, and the bytes of it that the file has.
    pub(crate) superblock: Mutex<(Superblock, Vec<u8>)>,
    /// Changes take it alone, reads share it.
    pub(crate) operation: RwLock<()>,
    /// How many times a block or the space was changed.
    pub(crate) changes: AtomicU64,
    /// How many times that was when an operation last said that the file is whole.
    pub(crate) whole: AtomicU64,
    /// What structures keep in memory, by address.
    pub(crate) attached: Mutex<BTreeMap<u64, Arc<dyn Attached>>>,
    /// Objects that are no more.
    pub(crate) deleted: Deleted,
    /// What writes pass until the file is closed.
    pub(crate) gate: Gate,
    /// The process that opened the file. Others, which were forked from it, change nothing.
    pub(crate) process: Process,
    /// Open handles of objects.
    pub(crate) handles: Arc<Handles>,
    /// Whether the file was closed.
    pub(crate) closed: AtomicBool,
    /// Why nothing may be written any more.
    pub(crate) poison: Mutex<Option<String>>,
    /// The versions that new structures have.
    pub(crate) low: Low,
    /// What the file said of its space when it was opened.
    pub(crate) info: Option<FileSpaceInfo>,
    /// What outlives a killed process or a power failure.
    pub(crate) durability: Durability,
    /// Whether something was written since all was durable.
    pub(crate) unsynced: AtomicBool,
    /// Other storage that has values of this file, and was written since all was durable.
    pub(crate) elsewhere: Mutex<Vec<Arc<dyn Driver>>>,
    /// What is being rewritten in place. Held while that is written: one journal at a time.
    pub(crate) journal: Mutex<Journal>,
    /// Whether blocks of a journal could not be written in place.
    pub(crate) journal_left: AtomicBool,
}

pub(crate) type GivenUp = BTreeMap<u64, (Reclaim, Vec<(u64, u64)>)>;

/// Values that are written together.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Where each goes in the storage, and where it is in `bytes`. Later ones may lie over earlier ones.
    pub(crate) places: Vec<(u64, Range<usize>)>,
    pub(crate) bytes: Vec<u8>,
}

/// More bytes than this do not wait.
const MOST_WAITING: usize = 1 << 20;

impl Waiting {
    /// Whether it is time to write all before so many bytes more wait.
    pub(crate) fn is_full(&self, more: usize) -> bool {
        self.bytes.len() + more > MOST_WAITING
    }

    /// Adds values.
    pub(crate) fn add(&mut self, place: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let is_next =
            |(last, range): &&mut (u64, Range<usize>)| range.end == start && *last + range.len() as u64 == place;
        match self.places.last_mut().filter(is_next) {
            Some((_, range)) => range.end = self.bytes.len(),
            None => self.places.push((place, start..self.bytes.len())),
        }
    }

    /// Forgets what goes to a range of the storage.
    pub(crate) fn forget(&mut self, gone: &Range<u64>) {
        let cut = |(place, range): (u64, Range<usize>)| {
            // How much of it lies before the range, and before its end.
            let within = |at: u64| usize::try_from(at.saturating_sub(place)).unwrap_or(usize::MAX).min(range.len());
            let (before, until) = (within(gone.start), within(gone.end));
            let parts =
                [(place, range.start..range.start + before), (place + until as u64, range.start + until..range.end)];
            parts.into_iter().filter(|(_, range)| range.start < range.end)
        };
        self.places = std::mem::take(&mut self.places).into_iter().flat_map(cut).collect();
    }
}

/// Pairs of blocks of which one is written before the other.
#[derive(Default)]
pub(crate) struct Orders {
    /// First and later.
    behind: BTreeSet<(u64, u64)>,
    /// Later and first.
    before: BTreeSet<(u64, u64)>,
}

impl Orders {
    pub(crate) fn add(&mut self, first: u64, later: u64) {
        self.behind.insert((first, later));
        self.before.insert((later, first));
    }

    /// Forgets a block. What was before it stays before what was behind it: says which pairs that are, first and later.
    pub(crate) fn bridge(&mut self, block: u64) -> Vec<(u64, u64)> {
        let of = |pairs: &BTreeSet<(u64, u64)>| -> Vec<u64> {
            pairs.range((block, 0)..=(block, u64::MAX)).map(|(_, other)| *other).collect()
        };
        let (firsts, laters) = (of(&self.before), of(&self.behind));
        for &first in &firsts {
            self.before.remove(&(block, first));
            self.behind.remove(&(first, block));
        }
        for &later in &laters {
            self.behind.remove(&(block, later));
            self.before.remove(&(later, block));
        }
        let bridges = firsts.iter().flat_map(|&first| laters.iter().map(move |&later| (first, later)));
        bridges.inspect(|&(first, later)| self.add(first, later)).collect()
    }

    /// The blocks in a range of addresses that have an order.
    pub(crate) fn within(&self, span: Span) -> BTreeSet<u64> {
        let range = (span.start, 0)..(span.end(), 0);
        self.behind.range(range.clone()).chain(self.before.range(range)).map(|(block, _)| *block).collect()
    }

    /// All pairs, first and later, which are forgotten.
    pub(crate) fn take(&mut self) -> BTreeSet<(u64, u64)> {
        self.before.clear();
        std::mem::take(&mut self.behind)
    }
}

/// File space, and what of it was given out since the last flush, so that nothing in the file names it yet.
pub(crate) struct Space {
    pub(crate) allocator: Allocator,
    /// Ranges that do not touch each other: few, since space is mostly given out in a row.
    pub(crate) fresh: BTreeMap<u64, u64>,
    /// What was given out since a part of an operation began that may fail.
    attempt: Option<Vec<(Kind, Span)>>,
    /// Whether what is freed now belongs to an object that is deleted.
    pub(crate) deletes: bool,
    /// Values of objects that were deleted since the last flush: the file still names them, and they may be spoiled.
    pub(crate) deleted: Vec<Span>,
    /// Whether a full storage got back all that the file does not need.
    pub(crate) returned: bool,
    /// Whether free space that the file still names is being listed in it: none of that may be given back to a full storage.
    pub(crate) lists_free: bool,
}

/// What operations since the last flush say about the order of objects.
#[derive(Default)]
pub(crate) struct ObjectOrders {
    /// By object, those that go before it.
    firsts: HashMap<u64, Vec<u64>>,
    /// All objects that have an order.
    pub(crate) ordered: HashSet<u64>,
    /// Objects of the file that got another name.
    pub(crate) named: HashSet<u64>,
    /// Groups that lost names in an order.
    pub(crate) losing: HashSet<u64>,
}

impl ObjectOrders {
    /// Whether `this` waits for `other`, directly or through others. An object that has blocks which wait for its own may have them the other
    /// way round.
    pub(crate) fn waits(&self, this: u64, other: u64) -> bool {
        if this == other {
            return self.firsts.get(&this).is_some_and(|firsts| firsts.contains(&this));
        }
        let (mut seen, mut open) = (HashSet::from([this]), vec![this]);
        while let Some(object) = open.pop() {
            if object == other {
                return true;
            }
            let firsts = self.firsts.get(&object).into_iter().flatten();
            open.extend(firsts.filter(|&&first| seen.insert(first)));
        }
        false
    }

    pub(crate) fn add(&mut self, first: u64, later: u64) {
        self.ordered.extend([first, later]);
        let firsts = self.firsts.entry(later).or_default();
        if firsts.last() != Some(&first) {
            firsts.push(first);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.firsts.clear();
        self.ordered.clear();
        self.named.clear();
        self.losing.clear();
    }
}

/// A block of metadata as it will be in the file, and what it was understood as.
pub(crate) struct Block {
    /// Shared with those who read it.
    pub(crate) bytes: Arc<Vec<u8>>,
    /// Gone when the bytes change.
    decoded: Mutex<Option<Decoded>>,
}

/// A structure in memory, of a type that only its users know.
pub(crate) type Decoded = Arc<dyn Any + Send + Sync>;

impl Block {
    pub(crate) fn new(bytes: Vec<u8>) -> Block {
        Block { bytes: Arc::new(bytes), decoded: Mutex::default() }
    }

    /// What the bytes were understood as, if it is of this type.
    pub(crate) fn decoded<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.decoded.lock().clone()?.downcast().ok()
    }

    /// Keeps what the bytes were understood as.
    pub(crate) fn keep(&self, decoded: Option<Decoded>) {
        *self.decoded.lock() = decoded;
    }

    /// The bytes, to be changed. Whoever reads them keeps what was there.
    pub(crate) fn change(&mut self) -> &mut [u8] {
        *self.decoded.get_mut() = None;
        Arc::make_mut(&mut self.bytes).as_mut_slice()
    }
}

impl Entry for Block {
    fn encode(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.bytes.to_vec())
    }

    fn footprint(&self) -> usize {
        self.bytes.len() + 128 // what the books take
    }
}

impl Store {
    /// Of a file that begins at `base` of its storage, and ends at the address `end`.
    pub(crate) fn new(superblock: Superblock, stored: Vec<u8>, base: u64, end: u64, strategy: Strategy) -> Store {
        let allocator = Allocator::new(end, strategy).with_base(base);
        Store {
            cache: Cache::default(),
            space: Mutex::new(Space::new(allocator)),
            orders: Mutex::default(),
            object_orders: Mutex::default(),
            given_up: Mutex::default(),
            flushes: AtomicU64::new(0),
            waiting: Mutex::default(),
            superblock: Mutex::new((superblock, stored)),
            operation: RwLock::new(()),
            changes: AtomicU64::new(0),
            whole: AtomicU64::new(0),
            attached: Mutex::default(),
            deleted: Deleted::default(),
            gate: Gate::default(),
            process: Process::this(),
            handles: Arc::default(),
            closed: AtomicBool::new(false),
            poison: Mutex::default(),
            low: Low::Earliest,
            info: None,
            durability: Durability::default(),
            unsynced: AtomicBool::new(true),
            elsewhere: Mutex::default(),
            journal: Mutex::default(),
            journal_left: AtomicBool::new(false),
        }
    }

    /// Space at the very end of the file.
    pub(crate) fn append(&self, length: u64) -> Result<u64, hyperslab_alloc::Error> {
        let mut space = self.space.lock();
        let span = space.allocator.append(length)?;
        space.add_fresh(span);
        self.touch();
        Ok(span.start)
    }

    /// Counts a change.
    pub(crate) fn touch(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

impl Space {
    fn new(allocator: Allocator) -> Space {
        let (fresh, attempt, deletes, deleted, returned, lists_free) = Default::default();
        Space { allocator, fresh, attempt, deletes, deleted, returned, lists_free }
    }

    /// Space for `length` bytes, which ends at `most` at the latest.
    pub(crate) fn allocate(&mut self, kind: Kind, length: u64, most: u64) -> Result<Span, hyperslab_alloc::Error> {
        let span = self.allocator.allocate(kind, length)?;
        if span.end() > most {
            self.allocator.discard(kind, span);
            return Err(hyperslab_alloc::Error::Full { len: length });
        }
        self.add_fresh(span);
        self.attempt.iter_mut().for_each(|attempt| attempt.push((kind, span)));
        Ok(span)
    }

    /// From now on it is known what is given out.
    pub(crate) fn begin_attempt(&mut self) {
        debug_assert!(self.attempt.is_none(), "attempts are not nested");
        self.attempt = Some(Vec::new());
    }

    /// Gives back what was given out since [`Space::begin_attempt`], if it `failed`; says what.
    pub(crate) fn end_attempt(&mut self, failed: bool) -> Vec<Span> {
        let (taken, returned) = (self.attempt.take().filter(|_| failed).unwrap_or_default(), self.returned);
        for (kind, span) in taken.iter().rev() {
            self.free(*kind, *span);
        }
        if failed {
            self.allocator.shrink();
            // What was free before is as it was.
            self.returned = returned;
        }
        taken.into_iter().map(|(_, span)| span).collect()
    }

    /// Notes that nothing in the file names this range.
    pub(crate) fn add_fresh(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        let mut whole = span;
        while let Some((&start, len)) = self.fresh.range_mut(..=whole.end()).next_back()
            && start + *len >= whole.start
        {
            if start <= whole.start {
                // As a rule the range before grows, and nothing is behind.
                *len = (*len).max(whole.end() - start);
                return;
            }
            whole = Span::between(whole.start, whole.end().max(start + *len));
            self.fresh.remove(&start);
        }
        self.fresh.insert(whole.start, whole.len);
    }

    /// Gives space back: at once if it was never published, else after the next flush. Whether it was fresh.
    pub(crate) fn free(&mut self, kind: Kind, span: Span) -> bool {
        self.returned = false;
        let around = self.fresh.range(..=span.start).next_back().map(|(&start, &len)| Span { start, len });
        match around.filter(|around| around.end() >= span.end()) {
            Some(around) => {
                self.fresh.remove(&around.start);
                for rest in [Span::between(around.start, span.start), Span::between(span.end(), around.end())] {
                    if !rest.is_empty() {
                        self.fresh.insert(rest.start, rest.len);
                    }
                }
                self.allocator.discard(kind, span);
                true
            }
            None => {
                self.allocator.free(kind, span);
                if self.deletes && kind == Kind::Raw {
                    self.deleted.push(span);
                }
                false
            }
        }
    }

    /// Whether nothing in the file names this address yet.
    pub(crate) fn is_fresh(&self, address: u64) -> bool {
        self.fresh.range(..=address).next_back().is_some_and(|(start, len)| address - start < *len)
    }
}
