//! What every object of a file shares.

use std::sync::{Arc, OnceLock, Weak};

use hyperslab_file::{Attached, OpenFile, Owner, Result};
use hyperslab_format::message::kind;
use hyperslab_structures::{
    FractalHeap,
    fractal_heap::{Parameters, Unfilter},
};
use parking_lot::Mutex;

use crate::{links, links::WaitingLinks, plan::Names, shared};

/// An open file, with what is needed to understand its objects.
pub struct Context {
    file: OpenFile,
    known: Arc<Known>,
}

/// What is known of the objects of a file, whatever options its requests have.
struct Known {
    unfilter: Arc<Unfilter>,
    /// The heaps of shared messages by message type, read when the first shared message is met.
    shared_heaps: OnceLock<Vec<(u16, FractalHeap)>>,
    /// Names and links that changed since the last flush. Held for a look or a note, and no lock is taken meanwhile.
    names: Mutex<Names>,
    waiting_links: WaitingLinks,
}

/// Adds links that wait before everything is written, by requests with the options of the flush.
struct BeforeFlush(Weak<Context>);

impl Attached for BeforeFlush {
    fn flush_pending(&self, file: &OpenFile, _: bool) -> Result<()> {
        self.0.upgrade().map_or(Ok(()), |context| links::add_all_waiting(&context.with_options_of(file)))
    }
}

impl Context {
    /// A file, and how filtered heaps of it are decoded.
    pub fn new(file: OpenFile, unfilter: Arc<Unfilter>) -> Context {
        let (shared_heaps, names, waiting_links) = Default::default();
        Context { file, known: Arc::new(Known { unfilter, shared_heaps, names, waiting_links }) }
    }

    /// The same objects, for requests with the options of a handle of the file.
    fn with_options_of(&self, file: &OpenFile) -> Context {
        Context { file: self.file.with_options_of(file), known: self.known.clone() }
    }

    /// Lets first names of new objects wait in memory until their group changes in another way or the file is flushed. Operations that change a group call
    /// [`add_waiting`](crate::add_waiting) first.
    pub fn let_links_wait(self: &Arc<Context>) -> Result<()> {
        self.file.attach_first(Arc::new(BeforeFlush(Arc::downgrade(self))))?;
        self.known.waiting_links.enable();
        Ok(())
    }

    /// The file.
    pub fn file(&self) -> &OpenFile {
        &self.file
    }

    pub(crate) fn waiting_links(&self) -> &WaitingLinks {
        &self.known.waiting_links
    }

    pub(crate) fn names(&self) -> &Mutex<Names> {
        &self.known.names
    }

    /// The fractal heap at an address, which belongs to an owner.
    pub(crate) fn heap(&self, owner: Owner, address: u64) -> Result<FractalHeap> {
        FractalHeap::open(self.file.owned(owner), address, self.known.unfilter.clone())
    }

    /// A new fractal heap of the object at `object`.
    pub(crate) fn new_heap(&self, object: u64, parameters: &Parameters) -> Result<FractalHeap> {
        FractalHeap::create(self.file.owned_by(object), parameters, self.known.unfilter.clone())
    }

    /// How filtered heaps are decoded.
    pub(crate) fn unfilter(&self) -> &Unfilter {
        &*self.known.unfilter
    }

    /// Whether attributes of several objects may be one and the same.
    pub fn shares_attributes(&self) -> Result<bool> {
        Ok(self.shared_heaps()?.iter().any(|(types, _)| types & (1 << kind::ATTRIBUTE) != 0))
    }

    /// The heaps of shared messages: the message types of each, one bit a type.
    pub(crate) fn shared_heaps(&self) -> Result<&[(u16, FractalHeap)]> {
        if let Some(heaps) = self.known.shared_heaps.get() {
            return Ok(heaps);
        }
        let heaps = shared::open_heaps(self)?;
        Ok(self.known.shared_heaps.get_or_init(|| heaps))
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.fmt(f)
    }
}
