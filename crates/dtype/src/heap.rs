//! Where the bytes of variable-length values are: what a conversion needs of a heap.
//!
//! A value of a variable-length type is a fixed-size reference. In a file it names an object of the global heap, in memory a place
//! in an [`Arena`](crate::Arena). A conversion knows neither: it takes the bytes behind a reference from a [`Source`], and
//! gives bytes to a [`Target`] that writes the new reference.

use std::borrow::Cow;

use hyperslab_base::{Cursor, Width};

use crate::{Error, Reference, Result};

/// The elements behind a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence<'a> {
    /// How many elements.
    pub count: usize,
    /// Their bytes, one after the other; there may be more bytes than elements need.
    pub bytes: Cow<'a, [u8]>,
}

/// Gives the bytes behind references.
pub trait Source {
    /// The sequence of elements of `size` bytes each that `reference` names; none if it is null.
    fn sequence(&self, reference: &[u8], size: usize) -> Result<Option<Sequence<'_>>>;

    /// What a reference to a region, or a revised one, says in all, which is as a file has it; none if it is null.
    fn reference(&self, kind: Reference, stored: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        let _ = stored;
        Err(Error::Sequence(format!("no file was given to follow a {kind:?} reference in")))
    }

    /// No more bytes than this are behind all references together. A conversion follows references in what is behind references up to
    /// here and then fails: bad ones may lead back to where they are, again and again.
    fn most(&self) -> u64 {
        u64::MAX
    }
}

/// Keeps bytes and names them by a reference.
pub trait Target {
    /// Keeps `count` elements and writes a reference to them; a null one if there is no sequence.
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> Result<()>;

    /// Whether a sequence without elements is told apart from a null one. The heap of a file has null for both, as libhdf5 does; empty text is never null.
    fn keeps_empty(&self) -> bool {
        true
    }
}

/// For conversions without variable-length values.
#[derive(Clone, Copy, Debug)]
pub struct NoHeap;

impl Source for NoHeap {
    fn sequence(&self, _: &[u8], _: usize) -> Result<Option<Sequence<'_>>> {
        Err(Error::Sequence("no heap was given to read it from".into()))
    }
}

impl Target for NoHeap {
    fn store(&mut self, _: Option<(usize, &[u8])>, _: &mut [u8]) -> Result<()> {
        Err(Error::Sequence("no heap was given to keep it in".into()))
    }
}

/// A variable-length value as a file holds it: the number of elements and an object of the global heap.
///
/// ```text
/// +---------+-------------------+---------+
/// | count 4 | address of heap n | index 4 |     all zero: null
/// +---------+-------------------+---------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeapReference {
    /// How many elements.
    pub count: u32,
    /// The address of the heap collection; zero for null.
    pub address: u64,
    /// The object in the collection.
    pub index: u32,
}

/// What count and index take.
const AROUND_ADDRESS: usize = 8;

impl HeapReference {
    /// No elements, and no object.
    pub const NULL: HeapReference = HeapReference { count: 0, address: 0, index: 0 };

    /// Reads a reference; the width of the address follows from its length.
    ///
    /// ```
    /// use hyperslab_dtype::HeapReference;
    /// let reference = HeapReference { count: 3, address: 2048, index: 1 };
    /// let mut bytes = [0; 12];
    /// reference.encode(&mut bytes)?;
    /// assert_eq!(HeapReference::decode(&bytes)?, reference);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<HeapReference> {
        let width = width_of(bytes.len())?;
        let mut cursor = Cursor::new(bytes);
        Ok(HeapReference { count: cursor.u32()?, address: cursor.uint(width)?, index: cursor.u32()? })
    }

    /// Writes a reference that fills `bytes`.
    #[inline]
    pub fn encode(&self, bytes: &mut [u8]) -> Result<()> {
        let width = width_of(bytes.len())?;
        if self.address > width.max() {
            return Err(Error::Sequence(format!("address {} does not fit {} bytes", self.address, width.bytes())));
        }
        let address = self.address.to_le_bytes();
        let (count, rest) = bytes.split_at_mut(4);
        let (place, index) = rest.split_at_mut(width.bytes());
        count.copy_from_slice(&self.count.to_le_bytes());
        place.copy_from_slice(address.get(..width.bytes()).unwrap_or(&address));
        index.copy_from_slice(&self.index.to_le_bytes());
        Ok(())
    }

    /// Whether it names no object.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.address == 0
    }
}

#[inline]
fn width_of(length: usize) -> Result<Width> {
    let width = length.checked_sub(AROUND_ADDRESS).and_then(|bytes| u8::try_from(bytes).ok()).and_then(Width::new);
    width.ok_or_else(|| Error::Sequence(format!("a reference to a heap object does not have {length} bytes")))
}
