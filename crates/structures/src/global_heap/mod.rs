//! The global heap: collections of values of any size.

mod change;
mod filled;
mod pile;

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use hyperslab_base::memory;
use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal};
use hyperslab_format::{Malformed, Widths, heap::global};

pub use change::GlobalHeap;
pub use pile::Pile;

const WHAT: &str = "global heap collection";
/// The size that nearly all collections have.
const GUESS: u64 = 4096;

/// A collection, whole in memory.
#[derive(Debug)]
pub struct Collection {
    address: u64,
    /// Shared with the collections that were read in the same request.
    bytes: Arc<Vec<u8>>,
    place: Range<usize>,
    widths: Widths,
    /// By index; known when the first is asked for, so that threads which share collections also share this work.
    objects: OnceLock<Vec<global::Object>>,
}

/// A collection in the file.
pub(crate) struct CollectionBlock;

impl Block for CollectionBlock {
    type Value = Collection;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Signature
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Told(GUESS)
    }

    fn length(&self, file: &OpenFile, _: u64, first: &[u8]) -> Result<u64, Malformed> {
        global::decode_size(first, file.widths())
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Collection> {
        let collection = Collection::new(file, (address, bytes.clone(), 0..bytes.len()));
        collection.objects()?;
        Ok(collection)
    }
}

impl Collection {
    /// Reads a collection.
    pub fn read(file: &OpenFile, address: u64) -> Result<Collection> {
        file.load_once(&CollectionBlock, address)
    }

    /// Reads collections with one request, and with a second one what is larger than most are. Together they have `most` bytes at
    /// the most; what is beyond that is left out, and so is what cannot be read: asked for by itself it tells why.
    pub fn read_all(file: &OpenFile, addresses: &[u64], most: u64) -> Vec<Collection> {
        let guess = |&address: &u64| (address, GUESS.min(file.end().saturating_sub(address)));
        let found = fetch(file, addresses.iter().map(guess), most);
        let (mut whole, mut larger) = (Vec::with_capacity(found.len()), Vec::new());
        for (address, bytes, place) in found {
            let head = bytes.get(place.clone()).unwrap_or_default();
            match global::decode_size(head, file.widths()) {
                Ok(size) if size > head.len() as u64 => larger.push((address, size)),
                Ok(size) => whole.push((address, bytes, place.start..place.start + size as usize)),
                Err(_) => {}
            }
        }
        let is_whole = |(_, bytes, place): &Fetched| {
            let size = global::decode_size(bytes.get(place.clone()).unwrap_or_default(), file.widths());
            size.is_ok_and(|size| size == place.len() as u64)
        };
        whole.extend(fetch(file, larger.into_iter(), most).into_iter().filter(is_whole));
        whole.into_iter().map(|fetched| Self::new(file, fetched)).collect()
    }

    fn new(file: &OpenFile, (address, bytes, place): Fetched) -> Collection {
        Collection { address, bytes, place, widths: file.widths(), objects: OnceLock::new() }
    }

    #[inline]
    fn objects(&self) -> Result<&[global::Object]> {
        match self.objects.get() {
            Some(known) => Ok(known),
            None => self.decode(),
        }
    }

    #[cold]
    fn decode(&self) -> Result<&[global::Object]> {
        let mut objects = global::decode(self.own(), self.widths).map_err(Error::at(self.address))?;
        if !objects.is_sorted_by(|left, right| left.0 < right.0) {
            // Of two objects with one index the last counts.
            objects.reverse();
            objects.sort_by_key(|&(index, _)| index);
            objects.dedup_by_key(|&mut (index, _)| index);
        }
        Ok(self.objects.get_or_init(|| objects))
    }

    fn own(&self) -> &[u8] {
        self.bytes.get(self.place.clone()).unwrap_or_default()
    }

    /// Where it is in the file.
    #[inline]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// An object of the collection.
    #[inline]
    pub fn get(&self, index: u32) -> Result<&[u8]> {
        let objects = self.objects()?;
        let place = u16::try_from(index).ok().and_then(|index| place_of(objects, index));
        let bytes = place.and_then(|place| self.own().get(place));
        bytes.ok_or_else(|| Error::broken(WHAT, self.address, format!("it has no object {index}")))
    }

    /// How many bytes it takes in memory.
    pub fn size(&self) -> usize {
        self.place.len()
    }
}

/// A collection that nothing was removed from has its objects numbered from one.
#[inline]
fn place_of(objects: &[global::Object], index: u16) -> Option<Range<usize>> {
    let likely = usize::from(index).checked_sub(1).and_then(|nth| objects.get(nth));
    if let Some((_, place)) = likely.filter(|(found, _)| *found == index) {
        return Some(place.clone());
    }
    let nth = objects.binary_search_by_key(&index, |&(index, _)| index).ok()?;
    objects.get(nth).map(|(_, place)| place.clone())
}

/// An address with the bytes that were read there.
type Fetched = (u64, Arc<Vec<u8>>, Range<usize>);

/// Reads ranges of the file into one buffer, with one request, as long as they are in the file and no more than `most` bytes.
fn fetch(file: &OpenFile, ranges: impl Iterator<Item = (u64, u64)>, most: u64) -> Vec<Fetched> {
    let mut taken: Vec<(u64, Range<usize>)> = Vec::new();
    let mut total = 0u64;
    for (address, length) in ranges {
        if file.check(WHAT, address, length).is_err() || length == 0 {
            continue;
        }
        if total.saturating_add(length) > most {
            break;
        }
        taken.push((address, total as usize..(total + length) as usize));
        total += length;
    }
    let Ok(mut bytes) = memory::zeroed(total) else { return Vec::new() };
    let (mut parts, mut rest): (Vec<(u64, &mut [u8])>, _) = (Vec::new(), bytes.as_mut_slice());
    // What is side by side in the file is one part.
    for together in taken.chunk_by(|(left, place), (right, _)| left + place.len() as u64 == *right) {
        let length = together.iter().map(|(_, place)| place.len()).sum();
        let Some((now, later)) = std::mem::take(&mut rest).split_at_mut_checked(length) else { break };
        parts.extend(together.first().map(|(address, _)| (*address, now)));
        rest = later;
    }
    if file.metadata_all(WHAT, parts).is_err() {
        return Vec::new();
    }
    let bytes = Arc::new(bytes);
    taken.into_iter().map(|(address, place)| (address, bytes.clone(), place)).collect()
}
