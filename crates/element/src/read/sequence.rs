//! Values of any length, and values that may be missing.

use hyperslab_dtype::{Class, Datatype, NoHeap, Padding, Plan};

use super::{Element, Recipe, array::inner, text::Text};
use crate::{Error, Result, Sequences};

/// How the elements of one value are found and decoded.
#[derive(Debug)]
pub struct Elements<D> {
    storage: SequenceStorage,
    plan: Plan,
    /// Bytes of an element, before and after conversion.
    sizes: (usize, usize),
    decoder: D,
}

#[derive(Debug)]
enum SequenceStorage {
    /// In the value itself.
    Here,
    /// In the value itself, without what pads it.
    Padded(Padding),
    /// In the heap.
    Heap,
}

impl<T: Element> Element for Vec<T> {
    type Decoder = Elements<T::Decoder>;

    fn recipe(stored: &Datatype) -> Result<Recipe<Self::Decoder>> {
        let byte = Datatype::of::<u8>();
        let (storage, mut base) = match stored.class() {
            Class::Vlen(vlen) if vlen.text.is_none() => (SequenceStorage::Heap, (*vlen.base).clone()),
            Class::Array(array) => (SequenceStorage::Here, array.base().clone()),
            Class::Opaque(_) => (SequenceStorage::Here, byte),
            _ => match Text::of(stored) {
                Some(Text::Variable) => (SequenceStorage::Heap, byte),
                Some(Text::Fixed(padding)) => (SequenceStorage::Padded(padding), byte),
                None => return Err(Error::mismatch::<Vec<T>>(stored)),
            },
        };
        let below = match T::recipe(&base) {
            Err(why) => match rows(stored)? {
                Some(row) => {
                    base = row;
                    T::recipe(&base)?
                }
                None => return Err(why),
            },
            below => below?,
        };
        let plan = Plan::new(&below.stored, &below.memory)?;
        let sizes = (base.size(), below.memory.size());
        Recipe::verbatim(stored, Elements { storage, plan, sizes, decoder: below.decoder })
    }

    fn decode(elements: &Self::Decoder, bytes: &[u8], sequences: &Sequences<'_>) -> Result<Vec<T>> {
        let size = elements.sizes.0.max(1);
        match elements.storage {
            SequenceStorage::Here => elements.decode(bytes.len() / size, bytes, sequences),
            SequenceStorage::Padded(padding) => {
                let bytes = padding.strip(bytes);
                elements.decode(bytes.len(), bytes, sequences)
            }
            SequenceStorage::Heap => {
                sequences.with(bytes, size, |count, bytes| elements.decode(count, bytes, sequences))
            }
        }
    }

    fn references(elements: &Self::Decoder, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        match elements.storage {
            SequenceStorage::Heap => visit(bytes),
            // Members keep their references as they are, so before or after conversion is the same for one that is verbatim.
            SequenceStorage::Here if elements.plan.is_copy() => {
                let each = bytes.chunks_exact(elements.sizes.0.max(1));
                each.for_each(|bytes| T::references(&elements.decoder, bytes, visit));
            }
            SequenceStorage::Here | SequenceStorage::Padded(_) => {}
        }
    }
}

/// The rows of an array of several dimensions: what its elements are if they are no numbers to the reader.
fn rows(stored: &Datatype) -> Result<Option<Datatype>> {
    match stored.class() {
        Class::Array(array) if array.dims().len() > 1 => inner(array),
        _ => Ok(None),
    }
}

impl<D> Elements<D> {
    fn decode<T: Element<Decoder = D>>(&self, count: usize, bytes: &[u8], sequences: &Sequences<'_>) -> Result<Vec<T>> {
        let size = self.sizes.1;
        let room = || Error::Memory { values: count as u64, size: size as u64 };
        if T::as_bytes(&mut []).is_some() {
            let mut values = T::zeros(count).ok_or_else(room)?;
            if let Some(places) = T::as_bytes(&mut values) {
                self.plan.convert(count, bytes, places, &NoHeap, &mut NoHeap)?;
            }
            return Ok(values);
        }
        let converted;
        let bytes = if self.plan.is_copy() {
            bytes
        } else {
            let mut places = hyperslab_session::room(count as u64, size)?;
            self.plan.convert(count, bytes, &mut places, &NoHeap, &mut NoHeap)?;
            converted = places;
            &converted
        };
        bytes.chunks_exact(size.max(1)).take(count).map(|bytes| T::decode(&self.decoder, bytes, sequences)).collect()
    }
}

impl<T: Element> Element for Option<T> {
    type Decoder = T::Decoder;

    fn recipe(stored: &Datatype) -> Result<Recipe<Self::Decoder>> {
        match stored.class() {
            Class::Vlen(_) => T::recipe(stored),
            _ => Err(Error::mismatch::<Option<T>>(stored)),
        }
    }

    fn decode(decoder: &Self::Decoder, bytes: &[u8], sequences: &Sequences<'_>) -> Result<Option<T>> {
        if sequences.is_null(bytes)? {
            return Ok(None);
        }
        T::decode(decoder, bytes, sequences).map(Some)
    }

    fn references(decoder: &Self::Decoder, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        T::references(decoder, bytes, visit);
    }
}
