//! Small requests served from pages in memory: the document's page buffer with its four strategies (2.3).
//!
//! Lives here: [`PageBuffer`]. Which way a request takes is in `strategy`, its start in `requests`, what pages it touches in `touched`, the pages themselves
//! in `slots`, requests that are served from pages in `paged`, those that go straight down in `direct`, those that do both in `split`, and writing
//! back in `write_back`. Does not live here: metadata as objects; that is the metadata cache. Stands between the engine and a driver for which small
//! requests are dear.

mod changed;
mod direct;
mod paged;
mod requests;
mod slots;
mod split;
mod strategy;
mod touched;
mod write_back;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lower::{self, Segments};
use crate::{Capabilities, Driver, Error, Operation, Result, SelectionPair, Transfer, Why};
use changed::Changed;
use slots::{Reserved, Slots};
use touched::Touched;

pub use strategy::{PageStrategy, UnknownPageStrategy};

/// Keeps pages of the storage below in memory.
///
/// A request that touches no more pages than there are is served from pages; those that are missing are loaded with one vector
/// read. A larger one writes back what it touches and goes straight down, and the pages here stay true. Another [`PageStrategy`] can be said for
/// values. What is written stays here until it is evicted, or [`Driver::flush`] or [`Driver::sync`] is called; **dropping the buffer does not write it**.
///
/// If what is dirty cannot be written back, reads go on all the same: clean pages make room for them, or up to as many pages again come
/// for as long as they are read.
///
/// All access to the storage must go through the buffer.
///
/// ```
/// use hyperslab_driver::{Driver, Log, Memory, PageBuffer, Transfer};
/// let buffer = PageBuffer::new(Log::new(Memory::from(vec![7; 1000])), 100, 4)?;
/// for addr in [250, 255, 260] {
///     buffer.write_at(addr, b"x", &Transfer::default())?;
/// }
/// buffer.sync(&Transfer::default())?;
/// let counts = buffer.below_ref().counts();
/// assert_eq!((counts.reads, counts.writes), (1, 1));
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct PageBuffer<D> {
    below: D,
    page_size: usize,
    capacity: usize,
    /// How requests for values are served.
    strategy: PageStrategy,
    /// How many pages each kind of content keeps.
    reserved: Reserved,
    /// How many pages are loaded with one of metadata that follows a page that is here.
    ahead: u64,
    /// Whether the storage below takes writes.
    writable: bool,
    /// Whether the storage below has an end for each kind.
    apart: bool,
    /// Whether what is written goes down at once.
    through: bool,
    /// Held for looking and copying only, never while storage works.
    slots: Mutex<Slots>,
    /// A page came, went or was released.
    changed: Changed,
}

impl<D: Driver> PageBuffer<D> {
    /// At most `pages` pages of `page_size` bytes of the storage below.
    pub fn new(below: D, page_size: usize, pages: usize) -> Result<Self> {
        let len = below.len(&Transfer::default())?;
        Self::with_len(below, len, page_size, pages)
    }

    /// The same, for a storage that is known to have this length.
    pub fn with_len(below: D, len: u64, page_size: usize, pages: usize) -> Result<Self> {
        if page_size == 0 || pages == 0 {
            let why = Why::invalid(format!("{pages} pages of {page_size} bytes"));
            return Err(Error::new(below.name(), Operation::Open, 0, 0, why));
        }
        let slots = Mutex::new(Slots::new(page_size, pages, len));
        let can = below.capabilities();
        let (writable, apart) = (can.contains(Capabilities::WRITE), can.contains(Capabilities::KINDS_APART));
        Ok(PageBuffer {
            below,
            page_size,
            capacity: pages,
            strategy: PageStrategy::Fit,
            reserved: Reserved::default(),
            ahead: 0,
            writable,
            apart,
            through: false,
            slots,
            changed: Changed::default(),
        })
    }

    /// The same, but what is written goes down at once, in the order of the requests; the pages here stay true.
    pub fn writing_through(mut self) -> Self {
        self.write_through();
        self
    }

    /// As [`PageBuffer::writing_through`], from now on. To be said before anything is written.
    pub fn write_through(&mut self) {
        self.through = true;
    }

    /// The same, but requests for values are served so.
    ///
    /// ```
    /// use hyperslab_driver::{Driver, Log, Memory, MemoryType, PageBuffer, PageStrategy, Transfer};
    /// let buffer = PageBuffer::new(Log::new(Memory::from(vec![7; 1000])), 100, 4)?.with_strategy(PageStrategy::Split);
    /// let (values, metadata) = (MemoryType::RawData, MemoryType::ObjectHeader);
    /// buffer.read_at(250, &mut [0; 10], &Transfer::default().with_kind(metadata))?;
    /// buffer.below_ref().clear();
    /// buffer.read_at(150, &mut [0; 200], &Transfer::default().with_kind(values))?;
    /// assert_eq!(buffer.below_ref().records()[0].parts, [(150, 50), (300, 50)]);
    /// # Ok::<(), hyperslab_driver::Error>(())
    /// ```
    #[must_use]
    pub fn with_strategy(mut self, strategy: PageStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The same, but so many pages of metadata, and of values, do not leave for pages of the other kind.
    pub fn with_reserved(mut self, metadata: usize, raw: usize) -> Result<Self> {
        if metadata.checked_add(raw).is_none_or(|pages| pages > self.capacity) {
            let why = Why::invalid(format!("{metadata} and {raw} pages reserved of {}", self.capacity));
            return Err(Error::new(self.name(), Operation::Open, 0, 0, why));
        }
        self.reserved = Reserved { metadata, raw };
        self.lock().reserve(self.reserved);
        Ok(self)
    }

    /// The same, but a page of metadata that follows one that is here brings so many more behind it: metadata that is read in order takes fewer requests, and a look-up
    /// far from all others brings one page. No more than an eighth of all pages come ahead.
    ///
    /// ```
    /// use hyperslab_driver::{Driver, Log, Memory, PageBuffer, Transfer};
    /// let buffer = PageBuffer::new(Log::new(Memory::from(vec![7; 1000])), 100, 24)?.with_ahead(3);
    /// for addr in [250, 350, 450, 550, 650] {
    ///     buffer.read_at(addr, &mut [0; 10], &Transfer::default())?;
    /// }
    /// assert_eq!(buffer.below_ref().counts().reads, 2);
    /// # Ok::<(), hyperslab_driver::Error>(())
    /// ```
    #[must_use]
    pub fn with_ahead(mut self, pages: u64) -> Self {
        self.ahead = pages;
        self
    }

    /// How requests for values are served.
    pub fn strategy(&self) -> PageStrategy {
        self.strategy
    }

    /// The storage below, which lacks what is not yet written back.
    pub fn below_ref(&self) -> &D {
        &self.below
    }

    /// The storage below; what is not yet written back is lost.
    pub fn into_below(self) -> D {
        self.below
    }

    /// How many pages are in memory.
    pub fn resident(&self) -> usize {
        self.lock().resident()
    }

    /// Forgets all pages that the storage has as they are, and its length: another process may have changed it. Waits for requests under way.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab_driver::{Driver, Memory, PageBuffer, Transfer};
    /// let memory = Arc::new(Memory::from(vec![1; 8]));
    /// let buffer = PageBuffer::new(memory.clone(), 8, 1)?;
    /// let mut seen = [0; 2];
    /// buffer.read_at(0, &mut seen, &Transfer::default())?;
    /// memory.write_at(0, &[2; 9], &Transfer::default())?;
    /// buffer.reload(&Transfer::default())?;
    /// buffer.read_at(7, &mut seen, &Transfer::default())?;
    /// assert_eq!(seen, [2, 2]);
    /// # Ok::<(), hyperslab_driver::Error>(())
    /// ```
    pub fn reload(&self, transfer: &Transfer) -> Result<()> {
        let len = self.below.len(transfer)?;
        let mut slots = self.lock();
        while slots.is_held() {
            slots = self.wait(slots);
        }
        slots.forget_clean(len);
        Ok(())
    }

    /// Forgets the pages of a range that the storage has as they are: the next read there is one of the storage. Waits for requests under way
    /// that use them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab_driver::{Driver, Memory, PageBuffer, Transfer};
    /// let memory = Arc::new(Memory::from(vec![1; 16]));
    /// let buffer = PageBuffer::new(memory.clone(), 8, 2)?;
    /// let mut seen = [0; 16];
    /// buffer.read_at(0, &mut seen, &Transfer::default())?;
    /// memory.write_at(0, &[2; 16], &Transfer::default())?;
    /// buffer.forget(3..7);
    /// buffer.read_at(0, &mut seen, &Transfer::default())?;
    /// assert_eq!((seen[0], seen[15]), (2, 1));
    /// # Ok::<(), hyperslab_driver::Error>(())
    /// ```
    pub fn forget(&self, range: Range<u64>) {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let Ok(touched) = Touched::new(self.page_size, [(range.start, length)].into_iter()) else { return };
        let mut slots = self.lock();
        while !slots.is_free(&touched) {
            slots = self.wait(slots);
        }
        slots.forget_clean_among(&touched);
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, slots: MutexGuard<'s, Slots>) -> MutexGuard<'s, Slots> {
        self.changed.wait(slots)
    }

    /// The pages of some ranges, all of which must fit into the address space.
    fn touched(&self, operation: Operation, ranges: impl Iterator<Item = (u64, usize)>) -> Result<Touched> {
        Touched::new(self.page_size, ranges)
            .map_err(|(addr, len)| Error::new(self.name(), operation, addr, len as u64, Why::Overflow))
    }

    /// What the storage would never take must not be kept here.
    fn check_write(&self, operation: Operation, touched: &Touched) -> Result<()> {
        if self.writable || touched.count() == 0 {
            return Ok(());
        }
        let (addr, len) = touched.last();
        Err(Error::new(self.name(), operation, addr, len as u64, Why::ReadOnly))
    }

    /// The ranges of a selection request, checked.
    fn touched_by(&self, operation: Operation, pairs: &[SelectionPair<'_>], buffers: &[usize]) -> Result<Touched> {
        let segments = Segments::new(pairs, buffers).map_err(|why| lower::refused(self, operation, pairs, why))?;
        self.touched(operation, segments.map(|segment| (segment.addr, segment.len)))
    }
}
