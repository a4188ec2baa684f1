//! From values of a Rust type to bytes in memory that a conversion takes.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_dtype::{Arena, Class, Datatype, Plan};
use hyperslab_format::Widths;
use hyperslab_structures::Pile;

use super::{Storable, Storing, sequence::encode_each};
use hyperslab_session::{PileWriter, Piled, room};

use crate::{Error, Result};

/// Values that one thread encodes at a time; fewer are not worth another one.
const TOGETHER: usize = 4096;

/// How the values of one write become stored ones, worked out once.
pub struct Writing<T: Storable> {
    plan: Plan,
    /// The type of values in memory.
    memory: Datatype,
    encoder: T::Encoder,
}

impl<T: Storable> Writing<T> {
    /// Works out how values become stored ones; an error if they cannot.
    pub fn new(stored: &Datatype) -> Result<Writing<T>> {
        let Storing { memory, stored: seen, encoder } = T::storing(stored)?;
        let plan = Plan::new(&memory, &seen).map_err(|why| Error::no_conversion_from::<T>(stored, &why))?;
        Ok(Writing { plan, memory, encoder })
    }

    /// How encoded values become stored ones.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The type of values in memory.
    pub fn memory(&self) -> &Datatype {
        &self.memory
    }

    /// Values one after the other. Whatever cannot be stored is found out here, before anything changes.
    pub fn encode<'v>(&self, values: &'v [T]) -> Result<(Cow<'v, [u8]>, Arena)> {
        let mut arena = Arena::default();
        if let Some(plain) = T::bytes_of(values) {
            return Ok((Cow::Borrowed(plain), arena));
        }
        let mut bytes = room(values.len() as u64, self.memory.size())?;
        encode_each(values, &self.encoder, self.memory.size(), &mut bytes, &mut arena)?;
        Ok((Cow::Owned(bytes), arena))
    }

    /// Many values of variable length, converted on all cores: as they are stored, but for where they will be in the file. As with
    /// [`Writing::encode`], nothing changes. None where there is too little to do, or values name others in the heap.
    pub fn pile(&self, values: &[T], stored: &Datatype, widths: Widths) -> Result<Option<Piled>> {
        let is_plain = matches!(stored.class(), Class::Vlen(vlen) if !vlen.base.has_vlen());
        if !is_plain || values.len() < 2 * TOGETHER {
            return Ok(None);
        }
        let (from, to) = (self.memory.size(), stored.size().max(1));
        let mut bytes = room(values.len() as u64, to)?;
        let one = |(encoded, arena): &mut (Vec<u8>, Arena), (values, places): (&[T], &mut [u8])| -> Result<Pile> {
            let mut target = PileWriter(Pile::new(widths));
            if self.plan.is_move() {
                encode_each(values, &self.encoder, to, places, &mut target)?;
                return Ok(target.0);
            }
            memory::resize(encoded, values.len() * from, 0)?;
            arena.clear();
            encode_each(values, &self.encoder, from, encoded, arena)?;
            self.plan.convert(values.len(), encoded, places, arena, &mut target)?;
            Ok(target.0)
        };
        let blocks = values.chunks(TOGETHER).zip(bytes.chunks_mut(TOGETHER * to));
        let piles = cores::map(blocks.collect(), one)?;
        Ok(Some(Piled::new(bytes, to, TOGETHER, piles)))
    }
}
