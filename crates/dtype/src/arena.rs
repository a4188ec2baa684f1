//! Variable-length values in memory: one buffer for all of them.

use std::borrow::Cow;

use hyperslab_base::{Width, memory};

use crate::datatype::{Class, Datatype, Reference};
use crate::heap::{Sequence, Source, Target};
use crate::{Error, Result};

/// All sequences of a buffer of values, one after the other. A value is a reference of 16 bytes: where its elements start in the
/// arena, and how many there are, both as little-endian 64-bit numbers. Null has no elements and starts at 2^64 - 1.
///
/// ```
/// use hyperslab_dtype::{Arena, Target};
/// let mut arena = Arena::default();
/// let mut reference = [0; Arena::REFERENCE];
/// arena.store(Some((3, b"abc")), &mut reference)?;
/// assert_eq!(arena.get(&reference, 1)?, Some(&b"abc"[..]));
/// # Ok::<(), hyperslab_dtype::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
}

const NULL: u64 = u64::MAX;

impl Arena {
    /// How many bytes a reference into an arena has.
    pub const REFERENCE: usize = 16;

    /// An arena with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Arena {
        Arena { bytes: Vec::with_capacity(bytes) }
    }

    /// Makes room for sequences of so many bytes more.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        Ok(memory::reserve(&mut self.bytes, bytes)?)
    }

    /// Forgets all sequences, but keeps their memory for others.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements, of `size` bytes each, that `reference` names; none for null.
    pub fn get(&self, reference: &[u8], size: usize) -> Result<Option<&[u8]>> {
        let (start, count) = parts(reference)?;
        if start == NULL {
            return Ok(None);
        }
        let place = || {
            let start = usize::try_from(start).ok()?;
            let length = usize::try_from(count).ok()?.checked_mul(size)?;
            self.bytes.get(start..)?.get(..length)
        };
        let outside = || Error::Sequence(format!("{count} elements of {size} bytes at {start} lie outside the arena"));
        place().map(Some).ok_or_else(outside)
    }
}

fn parts(reference: &[u8]) -> Result<(u64, u64)> {
    let halves = reference.as_chunks::<8>();
    match halves {
        (&[start, count], []) => Ok((u64::from_le_bytes(start), u64::from_le_bytes(count))),
        _ => Err(Error::Sequence(format!("a reference into an arena has 16 bytes, not {}", reference.len()))),
    }
}

impl Source for Arena {
    fn sequence(&self, reference: &[u8], size: usize) -> Result<Option<Sequence<'_>>> {
        let found = self.get(reference, size)?;
        Ok(found.map(|bytes| Sequence { count: bytes.len() / size.max(1), bytes: Cow::Borrowed(bytes) }))
    }
}

impl Target for Arena {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> Result<()> {
        let ([start, count], []) = reference.as_chunks_mut::<8>() else {
            return parts(reference).map(drop);
        };
        let Some((elements, bytes)) = sequence else {
            (*start, *count) = (NULL.to_le_bytes(), [0; 8]);
            return Ok(());
        };
        memory::reserve(&mut self.bytes, bytes.len())?;
        (*start, *count) = ((self.bytes.len() as u64).to_le_bytes(), (elements as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl Datatype {
    /// The datatype values have in memory: variable-length parts are references into an [`Arena`]. Where that changes the size of
    /// a member, its compound is packed.
    ///
    /// ```
    /// use hyperslab_dtype::{Charset, Datatype};
    /// let (text, _) = Datatype::decode(&Datatype::var_string(Charset::Utf8).encode(hyperslab_dtype::Version::V1))?;
    /// assert_eq!(text.in_memory()?.size(), 16);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn in_memory(&self) -> Result<Datatype> {
        self.resized(&|class| matches!(class, Class::Vlen(_)).then_some(Arena::REFERENCE as u32))
    }

    /// The datatype values have in a file whose addresses have this width. Where that changes the size of a member, its compound is
    /// packed.
    ///
    /// ```
    /// use hyperslab_base::Width;
    /// use hyperslab_dtype::{Charset, Datatype};
    /// assert_eq!(Datatype::var_string(Charset::Utf8).in_file(Width::W4)?.size(), 12);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn in_file(&self, addresses: Width) -> Result<Datatype> {
        let address = addresses.bytes() as u32;
        self.resized(&|class| match class {
            Class::Vlen(_) => Some(4 + address + 4),
            Class::Reference(Reference::Object) => Some(address),
            Class::Reference(Reference::Region) => Some(address + 4),
            _ => None,
        })
    }

    /// The datatype values have in structured chunks with a section for what is of variable length. What references to regions and revised references say has no place
    /// in the heap of the file there: it is a sequence of bytes, named by a slot as those of variable length are. Where that changes the size of a member, its compound is
    /// packed. Other values are as in the rest of the file.
    ///
    /// ```
    /// use hyperslab_dtype::{Datatype, Reference};
    /// let region = Datatype::reference(12, Reference::Region)?.in_chunks()?;
    /// assert_eq!((region.size(), region.encoded_reference()), (16, Some(Reference::Region)));
    /// assert_eq!(Datatype::reference(8, Reference::Object)?.in_chunks()?.size(), 8);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn in_chunks(&self) -> Result<Datatype> {
        self.resized(&|class| class.is_indirect().then_some(Arena::REFERENCE as u32))
    }

    /// The kind of a reference that is a sequence of bytes, as [in structured chunks](Datatype::in_chunks) and in memory beside them; nothing for references as they are
    /// in the rest of a file.
    pub fn encoded_reference(&self) -> Option<Reference> {
        match self.class() {
            Class::Reference(kind) if self.class().is_indirect() && self.size() == Arena::REFERENCE => Some(*kind),
            _ => None,
        }
    }

    /// Whether values differ in how many bytes they have with all that they name: structured chunks have a section for that.
    pub fn varies(&self) -> bool {
        self.any(&mut |part| matches!(part.class(), Class::Vlen(_)) || part.class().is_indirect())
    }

    /// The same where parts of some classes have other sizes.
    fn resized(&self, size: &dyn Fn(&Class) -> Option<u32>) -> Result<Datatype> {
        let changes = self.any(&mut |part| size(part.class()).is_some_and(|size| size != part.size));
        if !changes {
            return Ok(self.clone());
        }
        let changed = self.map_parts(&|part| part.resized(size))?;
        let new = size(&changed.class).unwrap_or(changed.size);
        match changed.class {
            Class::Vlen(vlen) => Datatype::vlen_of_size(new, vlen),
            class => Datatype::checked(new, class),
        }
    }
}
