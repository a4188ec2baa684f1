//! Values of any length, and values that may be missing.

use hyperslab_dtype::{Arena, Class, Datatype, Target, Vlen};

use super::{Storable, Storing, text::StoredText};
use hyperslab_session::room;

use crate::{Error, Result, read::inner};

/// How the elements of one value are encoded.
#[derive(Debug)]
pub struct StoredElements<E> {
    storage: SequenceStorage,
    /// Bytes of an element in memory.
    size: usize,
    /// None if the value is text.
    encoder: Option<E>,
}

#[derive(Debug)]
enum SequenceStorage {
    /// Into the value itself, which has room for so many.
    Here,
    Text(StoredText),
    /// Into the heap.
    Heap,
}

impl<T: Storable> Storable for [T] {
    type Encoder = StoredElements<T::Encoder>;

    fn datatype() -> Result<Datatype> {
        Ok(Datatype::vlen(T::datatype()?)?)
    }

    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>> {
        let refuse = || Error::not_from::<[T]>(stored);
        let (mut base, mut count) = match stored.class() {
            Class::Vlen(vlen) if vlen.text.is_none() => ((*vlen.base).clone(), None),
            Class::Array(array) => (array.base().clone(), Some(array.elements() as u32)),
            Class::Opaque(_) => (Datatype::of::<u8>(), Some(stored.size() as u32)),
            _ => {
                let is_bytes = T::bytes_of(&[]).is_some() && T::datatype()? == Datatype::of::<u8>();
                let text = StoredText::of(stored, true)?.filter(|_| is_bytes).ok_or_else(refuse)?;
                let encoder = StoredElements { storage: SequenceStorage::Text(text.encoder), size: 1, encoder: None };
                return Ok(Storing { memory: text.memory, stored: text.stored, encoder });
            }
        };
        let below = match (T::storing(&base), stored.class()) {
            // The rows of an array of several dimensions.
            (Err(_), Class::Array(array)) if array.dims().len() > 1 => {
                count = array.dims().first().copied();
                base = inner(array)?.ok_or_else(refuse)?;
                T::storing(&base)?
            }
            (below, _) => below?,
        };
        let size = below.memory.size();
        let encoder = |storage| StoredElements { storage, size, encoder: Some(below.encoder) };
        Ok(match count {
            Some(count) => Storing {
                memory: Datatype::array(below.memory, &[count])?,
                stored: Datatype::array(below.stored, &[count])?,
                encoder: encoder(SequenceStorage::Here),
            },
            None => Storing {
                memory: sequence(Arena::REFERENCE, below.memory)?,
                stored: sequence(stored.size(), below.stored)?,
                encoder: encoder(SequenceStorage::Heap),
            },
        })
    }

    fn encode(&self, elements: &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        let encoder = match (&elements.storage, &elements.encoder) {
            (SequenceStorage::Text(text), _) => {
                return text.encode(T::bytes_of(self).unwrap_or_default(), bytes, heap);
            }
            (_, Some(encoder)) => encoder,
            (_, None) => return Ok(()),
        };
        let size = elements.size.max(1);
        if matches!(elements.storage, SequenceStorage::Here) {
            let room = bytes.len() / size;
            if self.len() != room {
                return Err(Error::Length { values: self.len() as u64, room: room as u64 });
            }
            return encode_each(self, encoder, size, bytes, heap);
        }
        // As libhdf5 has it in heaps: a sequence without elements is null.
        if self.is_empty() && !heap.keeps_empty() {
            return Ok(heap.store(None, bytes)?);
        }
        if let Some(plain) = T::bytes_of(self) {
            return Ok(heap.store(Some((self.len(), plain)), bytes)?);
        }
        let mut encoded = room(self.len() as u64, size)?;
        encode_each(self, encoder, size, &mut encoded, heap)?;
        Ok(heap.store(Some((self.len(), &encoded)), bytes)?)
    }
}

/// Sequences of elements of a type, by references of so many bytes.
fn sequence(size: usize, base: Datatype) -> Result<Datatype> {
    Ok(Datatype::vlen_of_size(size as u32, Vlen { base: Box::new(base), text: None })?)
}

/// One value after the other.
pub(super) fn encode_each<T: Storable>(
    values: &[T],
    encoder: &T::Encoder,
    size: usize,
    bytes: &mut [u8],
    heap: &mut dyn Target,
) -> Result<()> {
    if let Some(plain) = T::bytes_of(values) {
        super::number::put(bytes, plain);
        return Ok(());
    }
    let mut places = bytes.chunks_exact_mut(size.max(1));
    values.iter().zip(&mut places).try_for_each(|(value, target)| value.encode(encoder, target, heap))
}

impl<T: Storable> Storable for Vec<T> {
    type Encoder = StoredElements<T::Encoder>;

    fn datatype() -> Result<Datatype> {
        <[T]>::datatype()
    }

    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>> {
        <[T]>::storing(stored)
    }

    fn encode(&self, elements: &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        self.as_slice().encode(elements, bytes, heap)
    }
}

impl<T: Storable> Storable for Option<T> {
    type Encoder = T::Encoder;

    fn datatype() -> Result<Datatype> {
        T::datatype()
    }

    fn storing(stored: &Datatype) -> Result<Storing<Self::Encoder>> {
        match stored.class() {
            Class::Vlen(_) => T::storing(stored),
            _ => Err(Error::not_from::<Option<T>>(stored)),
        }
    }

    fn encode(&self, encoder: &Self::Encoder, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        match self {
            Some(value) => value.encode(encoder, bytes, heap),
            None => Ok(heap.store(None, bytes)?),
        }
    }
}
