//! Variable-length values as structured chunks have them: slots of 16 bytes, and segments that follow each other.
//!
//! ```text
//!  value    offset 8 | bytes 8                 null: both zero
//!  segment  elements, one after the other      a sequence within them is in its place: its length 8, then its elements
//! ```
//!
//! References that are [encoded](Datatype::encoded_reference) are sequences of bytes.
//!
//! Conversions follow and store references, also within what references name. So sequences in sequences have references to segments of
//! their own on the way ([`Segments`] as a source or a target), and are put in their places when they go to a chunk ([`Nesting`]).

use std::{borrow::Cow, sync::Arc};

use hyperslab_base::memory;

use crate::{
    Error, Result,
    datatype::{Class, Datatype},
    heap::{Sequence, Source, Target},
};

/// The bytes of a slot.
const SLOT: usize = 16;

/// Offsets count from so many bytes before the first segment.
const BEFORE: usize = 4;

/// One value has no more sequences.
const MOST: usize = 1 << 16;

/// The length of a null sequence within a segment.
const NULL: u64 = u64::MAX;

/// Segments, which slots name.
///
/// ```
/// use hyperslab_dtype::{Segments, Source, Target};
/// let (mut segments, mut slot) = (Segments::default(), [0; 16]);
/// segments.store(Some((3, b"abc")), &mut slot)?;
/// assert_eq!((slot[0], slot[8]), (4, 3));
/// assert_eq!(segments.sequence(&slot, 1)?.map(|found| found.bytes.into_owned()), Some(b"abc".to_vec()));
/// # Ok::<(), hyperslab_dtype::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// All segments.
    pub bytes: Vec<u8>,
}

impl Segments {
    fn segment(&self, slot: &[u8]) -> Result<Option<&[u8]>> {
        let (offset, bytes) = read(slot)?;
        if offset == 0 && bytes == 0 {
            return Ok(None);
        }
        let found = || {
            let start = usize::try_from(offset).ok()?.checked_sub(BEFORE)?;
            self.bytes.get(start..start.checked_add(usize::try_from(bytes).ok()?)?)
        };
        found()
            .map(Some)
            .ok_or_else(|| Error::Sequence(format!("{bytes} bytes at {offset} lie outside of the segments")))
    }

    fn add(&mut self, bytes: &[u8], slot: &mut [u8]) -> Result<()> {
        let offset = self.bytes.len() + BEFORE;
        memory::append(&mut self.bytes, bytes)?;
        write(slot, (offset as u64, bytes.len() as u64))
    }
}

impl Source for Segments {
    fn sequence(&self, slot: &[u8], size: usize) -> Result<Option<Sequence<'_>>> {
        let Some(bytes) = self.segment(slot)? else { return Ok(None) };
        if size == 0 || bytes.len() % size != 0 {
            return Err(Error::Sequence(format!("{} bytes are no elements of {size} bytes", bytes.len())));
        }
        Ok(Some(Sequence { count: bytes.len() / size, bytes: Cow::Borrowed(bytes) }))
    }

    fn most(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl Target for Segments {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, slot: &mut [u8]) -> Result<()> {
        match sequence {
            Some((_, bytes)) => self.add(bytes, slot),
            None => write(slot, (0, 0)),
        }
    }
}

/// Where sequences are in the elements of a datatype, and in the elements of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nesting {
    size: usize,
    /// By rising place.
    slots: Vec<Slot>,
}

/// The first byte of a slot, and what its elements have.
type Slot = (usize, Arc<Nesting>);

impl Nesting {
    /// Of values of a datatype as [chunks](Datatype::in_chunks) of files with addresses of eight bytes have them. A reference to an object is a plain value, whatever it refers to; more
    /// sequences in one value than are meant are an error.
    ///
    /// ```
    /// use hyperslab_dtype::{Charset, Datatype, Nesting};
    /// let text = Datatype::var_string(Charset::Utf8).in_file(hyperslab_base::Width::W8)?;
    /// assert_eq!(Nesting::of(&text)?.slots().collect::<Vec<_>>(), [0]);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn of(datatype: &Datatype) -> Result<Nesting> {
        Nesting::of_stored(&datatype.in_chunks()?)
    }

    fn of_stored(datatype: &Datatype) -> Result<Nesting> {
        let mut slots = slots_of(datatype)?;
        slots.sort_by_key(|(at, _)| *at);
        Ok(Nesting { size: datatype.size(), slots })
    }

    /// The first byte of each slot in an element, rising.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().map(|(at, _)| *at)
    }

    /// Whether sequences have sequences in them.
    pub fn is_deep(&self) -> bool {
        self.slots.iter().any(|(_, inner)| !inner.slots.is_empty())
    }

    /// Puts sequences within segments in their places: the slots of `values` name segments of `to` then, in place of some of `from`.
    pub fn put_in_place(&self, values: &mut [u8], from: &Segments, to: &mut Segments) -> Result<()> {
        for value in values.chunks_exact_mut(self.size.max(1)) {
            for (at, inner) in &self.slots {
                let slot = slot_mut(value, *at)?;
                let Some(segment) = from.segment(slot)? else { continue };
                let first = to.bytes.len();
                inner.write(segment, from, &mut to.bytes)?;
                write(slot, ((first + BEFORE) as u64, (to.bytes.len() - first) as u64))?;
            }
        }
        Ok(())
    }

    /// Gives sequences within segments segments of their own: the reverse of [`Nesting::put_in_place`].
    pub fn take_apart(&self, values: &mut [u8], from: &Segments, to: &mut Segments) -> Result<()> {
        for value in values.chunks_exact_mut(self.size.max(1)) {
            for (at, inner) in &self.slots {
                let slot = slot_mut(value, *at)?;
                let Some(mut segment) = from.segment(slot)? else { continue };
                let mut elements = Vec::new();
                while !segment.is_empty() {
                    inner.read(&mut segment, &mut elements, to)?;
                }
                to.add(&elements, slot)?;
            }
        }
        Ok(())
    }

    /// Adds elements with their sequences in place.
    fn write(&self, elements: &[u8], from: &Segments, to: &mut Vec<u8>) -> Result<()> {
        if self.slots.is_empty() {
            return Ok(memory::append(to, elements)?);
        }
        for element in elements.chunks_exact(self.size.max(1)) {
            let mut done = 0;
            for (at, inner) in &self.slots {
                memory::append(to, element.get(done..*at).unwrap_or_default())?;
                match from.segment(element.get(*at..at + SLOT).unwrap_or_default())? {
                    None => memory::append(to, &NULL.to_le_bytes())?,
                    Some(segment) => {
                        let count = (segment.len() / inner.size.max(1)) as u64;
                        memory::append(to, &count.to_le_bytes())?;
                        inner.write(segment, from, to)?;
                    }
                }
                done = at + SLOT;
            }
            memory::append(to, element.get(done..).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Takes one element from the front, and adds it with slots for its sequences.
    fn read(&self, from: &mut &[u8], elements: &mut Vec<u8>, to: &mut Segments) -> Result<()> {
        let mut done = 0;
        for (at, inner) in &self.slots {
            memory::append(elements, take(from, at.checked_sub(done).ok_or_else(short)?)?)?;
            let count = take(from, 8)?.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let mut slot = [0; SLOT];
            if count != NULL {
                let mut own = Vec::new();
                for _ in 0..count {
                    // Elements of no bytes would be without end.
                    if from.is_empty() {
                        return Err(short());
                    }
                    inner.read(from, &mut own, to)?;
                }
                to.add(&own, &mut slot)?;
            }
            memory::append(elements, &slot)?;
            done = at + SLOT;
        }
        Ok(memory::append(elements, take(from, self.size.checked_sub(done).ok_or_else(short)?)?)?)
    }
}

/// The slots of a value, in any order.
fn slots_of(datatype: &Datatype) -> Result<Vec<Slot>> {
    let refuse = |why: String| Err(Error::Sequence(why));
    let mut slots = Vec::new();
    match datatype.class() {
        Class::Vlen(_) if datatype.size() != SLOT => {
            return refuse("sequences in structured chunks need addresses of eight bytes".into());
        }
        Class::Vlen(vlen) => slots.push((0, Arc::new(Nesting::of_stored(&vlen.base)?))),
        Class::Reference(_) if datatype.encoded_reference().is_some() => {
            slots.push((0, Arc::new(Nesting { size: 1, slots: Vec::new() })));
        }
        Class::Compound(compound) => {
            for member in compound.members() {
                let of_member = slots_of(&member.datatype)?;
                slots.extend(of_member.into_iter().map(|(at, inner)| (at + member.offset as usize, inner)));
            }
        }
        Class::Array(array) => {
            let (of_element, size) = (slots_of(array.base())?, array.base().size().max(1));
            if of_element.len().saturating_mul(datatype.size() / size) <= MOST {
                let starts = (0..datatype.size()).step_by(size);
                slots.extend(
                    starts.flat_map(|start| of_element.iter().map(move |(at, inner)| (start + at, inner.clone()))),
                );
            } else {
                return refuse(format!("more than {MOST} sequences in one value"));
            }
        }
        _ => {}
    }
    if slots.len() > MOST { refuse(format!("more than {MOST} sequences in one value")) } else { Ok(slots) }
}

fn take<'a>(from: &mut &'a [u8], bytes: usize) -> Result<&'a [u8]> {
    let (now, later) = from.split_at_checked(bytes).ok_or_else(short)?;
    *from = later;
    Ok(now)
}

fn slot_mut(value: &mut [u8], at: usize) -> Result<&mut [u8]> {
    value.get_mut(at..at + SLOT).ok_or_else(short)
}

fn read(slot: &[u8]) -> Result<(u64, u64)> {
    match slot.as_chunks::<8>() {
        (&[offset, bytes], []) => Ok((u64::from_le_bytes(offset), u64::from_le_bytes(bytes))),
        _ => Err(short()),
    }
}

fn write(slot: &mut [u8], (offset, bytes): (u64, u64)) -> Result<()> {
    let ([first, second], []) = slot.as_chunks_mut::<8>() else { return Err(short()) };
    (*first, *second) = (offset.to_le_bytes(), bytes.to_le_bytes());
    Ok(())
}

fn short() -> Error {
    Error::Sequence("a segment ends within a value".into())
}
