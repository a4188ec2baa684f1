//! Variable-length values of a file: references followed, collections read once.

use std::{
    borrow::Cow,
    cell::Cell,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hyperslab_dtype::{Arena, HeapReference, Reference, Sequence, Source};
use hyperslab_structures::Collection;

use crate::{Result, Session};

/// The global heap of a file. Collections stay in memory as long as this lives, up to a limit.
pub struct Heap<'a> {
    session: &'a Session,
    /// Fetched together, by address.
    fetched: Vec<Collection>,
    /// Read when they were met.
    met: Mutex<Met>,
    /// Objects that several values may name.
    shared: Mutex<SharedObjects>,
}

/// Objects of the heap, by collection and index.
type SharedObjects = HashMap<(u64, u32), Arc<[u8]>>;

#[derive(Default)]
struct Met {
    collections: HashMap<u64, Arc<Collection>>,
    bytes: usize,
}

/// More bytes of collections than this are not kept.
const MOST: usize = 64 << 20;

impl<'a> Heap<'a> {
    pub(crate) fn new(session: &'a Session) -> Heap<'a> {
        Heap { session, fetched: Vec::new(), met: Mutex::default(), shared: Mutex::default() }
    }

    /// The file that it belongs to.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// An object of the heap.
    pub fn object(&self, address: u64, index: u32) -> Result<Vec<u8>> {
        if let Some(known) = self.fetched(address) {
            return Ok(known.get(index)?.to_vec());
        }
        Ok(self.collection(address)?.get(index)?.to_vec())
    }

    /// As [`Heap::object`], shared by all values that name it: however many there are, it is in memory once.
    fn shared(&self, address: u64, index: u32) -> Result<Arc<[u8]>> {
        let lock = || self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(address, index)) {
            return Ok(known.clone());
        }
        let read: Arc<[u8]> = self.object(address, index)?.into();
        // Another thread may have read it meanwhile.
        Ok(lock().entry((address, index)).or_insert(read).clone())
    }

    /// Reads the collections at these addresses with one request, so that nothing waits for them one by one. Those that
    /// cannot be read are left to the first request for an object of theirs.
    pub fn fetch(&mut self, mut addresses: Vec<u64>) {
        addresses.sort_unstable();
        addresses.dedup();
        addresses.retain(|&address| address != 0 && self.fetched(address).is_none());
        if addresses.is_empty() {
            return;
        }
        if self.fetched.iter().map(Collection::size).sum::<usize>() > MOST {
            self.fetched.clear();
        }
        let file = self.session.file();
        let read = Collection::read_all(file, &addresses, MOST as u64);
        // What was read of a file that was closed meanwhile is not used: the next look at the heap says so.
        if self.session.check_current().is_ok() {
            self.fetched.extend(read);
            self.fetched.sort_unstable_by_key(Collection::address);
        }
    }

    fn fetched(&self, address: u64) -> Option<&Collection> {
        self.fetched.get(self.place(address)?)
    }

    fn place(&self, address: u64) -> Option<usize> {
        self.fetched.binary_search_by_key(&address, Collection::address).ok()
    }

    /// A fetched collection, most likely the one at place `last`: values that follow each other mostly lie in one.
    #[inline]
    fn likely(&self, address: u64, last: &Cell<usize>) -> Option<&Collection> {
        if let Some(known) = self.fetched.get(last.get()).filter(|known| known.address() == address) {
            return Some(known);
        }
        let place = self.place(address)?;
        last.set(place);
        self.fetched.get(place)
    }

    fn near(&self, reference: &[u8], size: usize, last: &Cell<usize>) -> hyperslab_dtype::Result<Option<Sequence<'_>>> {
        let reference = HeapReference::decode(reference)?;
        if reference.is_null() {
            return Ok(None);
        }
        // Also for no elements: a reference into nowhere is damage, and libhdf5 says so too.
        let count = reference.count as usize;
        let bytes = match self.likely(reference.address, last) {
            Some(known) => known.get(reference.index).map(Cow::Borrowed).map_err(Into::into),
            None => self.object(reference.address, reference.index).map(Cow::Owned),
        };
        let bytes = bytes.map_err(|why: crate::Error| hyperslab_dtype::Error::Heap(why.into()))?;
        check(count, size, bytes.len())?;
        Ok(Some(Sequence { count, bytes }))
    }

    fn collection(&self, address: u64) -> Result<Arc<Collection>> {
        let lock = || self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().collections.get(&address) {
            return Ok(known.clone());
        }
        let session = self.session;
        let read = session.read_current(|| Ok(Collection::read(session.file(), address)?)).map(Arc::new)?;
        let mut met = lock();
        if met.bytes > MOST {
            *met = Met::default();
        }
        met.bytes += read.size();
        met.collections.insert(address, read.clone());
        Ok(read)
    }
}

impl Source for Heap<'_> {
    fn most(&self) -> u64 {
        self.session.size()
    }

    fn sequence(&self, reference: &[u8], size: usize) -> hyperslab_dtype::Result<Option<Sequence<'_>>> {
        self.near(reference, size, &Cell::new(0))
    }

    fn reference(&self, kind: Reference, stored: &[u8]) -> hyperslab_dtype::Result<Option<Cow<'_, [u8]>>> {
        let said = self.encoded_reference(kind, stored);
        Ok(said.map_err(|why| hyperslab_dtype::Error::Heap(why.into()))?.map(Cow::Owned))
    }
}

#[inline]
fn check(count: usize, size: usize, bytes: usize) -> hyperslab_dtype::Result<()> {
    if bytes < count.saturating_mul(size) {
        let why = format!("{count} elements of {size} bytes where the heap has {bytes} bytes");
        return Err(hyperslab_dtype::Error::Sequence(why));
    }
    Ok(())
}

/// The variable-length data that the values of a read refer to, as one thread sees it.
pub struct Sequences<'a>(SequenceSource<'a>);

enum SequenceSource<'a> {
    /// In the heap of the file.
    Heap {
        heap: &'a Heap<'a>,
        /// Where the last collection was: the next value is most likely in it as well.
        last: Cell<usize>,
    },
    /// Gathered from several files.
    Arena(&'a Arena),
}

impl<'a> Sequences<'a> {
    /// Those of a heap.
    pub fn new(heap: &'a Heap<'a>) -> Sequences<'a> {
        Sequences(SequenceSource::Heap { heap, last: Cell::new(0) })
    }

    /// Those that were gathered in memory.
    pub fn gathered(arena: &'a Arena) -> Sequences<'a> {
        Sequences(SequenceSource::Arena(arena))
    }

    /// An object of the heap of the file, shared by all values that name it; nothing if it cannot be read, or if values were gathered from several files.
    pub fn object(&self, address: u64, index: u32) -> Option<Arc<[u8]>> {
        match &self.0 {
            SequenceSource::Heap { heap, .. } => heap.shared(address, index).ok(),
            SequenceSource::Arena(_) => None,
        }
    }

    /// Whether a stored reference is null.
    pub fn is_null(&self, reference: &[u8]) -> Result<bool> {
        Ok(match &self.0 {
            SequenceSource::Heap { .. } => HeapReference::decode(reference)?.is_null(),
            SequenceSource::Arena(arena) => arena.get(reference, 0)?.is_none(),
        })
    }

    /// Hands the elements behind a stored reference, of `size` bytes each, to `make`: how many there are, and their bytes. Null
    /// is no elements.
    pub fn with<R>(&self, reference: &[u8], size: usize, make: impl FnOnce(usize, &[u8]) -> Result<R>) -> Result<R> {
        let (heap, last) = match &self.0 {
            SequenceSource::Heap { heap, last } => (heap, last),
            SequenceSource::Arena(arena) => {
                return match arena.sequence(reference, size)? {
                    Some(Sequence { count, bytes }) => make(count, &bytes),
                    None => make(0, &[]),
                };
            }
        };
        let reference = HeapReference::decode(reference)?;
        if reference.is_null() {
            return make(0, &[]);
        }
        let count = reference.count as usize;
        let bytes = |collection: &Collection| {
            let bytes = collection.get(reference.index)?;
            check(count, size, bytes.len())?;
            make(count, bytes.get(..count.saturating_mul(size)).unwrap_or_default())
        };
        if let Some(collection) = heap.likely(reference.address, last) {
            return bytes(collection);
        }
        bytes(&*heap.collection(reference.address)?)
    }
}

impl Source for Sequences<'_> {
    fn most(&self) -> u64 {
        match &self.0 {
            SequenceSource::Heap { heap, .. } => heap.most(),
            SequenceSource::Arena(arena) => arena.most(),
        }
    }

    fn sequence(&self, reference: &[u8], size: usize) -> hyperslab_dtype::Result<Option<Sequence<'_>>> {
        match &self.0 {
            SequenceSource::Heap { heap, last } => heap.near(reference, size, last),
            SequenceSource::Arena(arena) => arena.sequence(reference, size),
        }
    }
}
