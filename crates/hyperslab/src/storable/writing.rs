//! From values of a Rust type to bytes in memory that a conversion takes.

use std::borrow::Cow;

use hyperslab_dtype::{Arena, Datatype, Plan};

use super::{Storable, Storing, sequence::encode_each};
use crate::{Error, Result, dataset::room};

/// How the values of one write become stored ones, worked out once.
pub(crate) struct Writing<T: Storable> {
    plan: Plan,
    /// The type of values in memory.
    memory: Datatype,
    encoder: T::Encoder,
}

impl<T: Storable> Writing<T> {
    pub(crate) fn new(stored: &Datatype) -> Result<Writing<T>> {
        let Storing { memory, stored: seen, encoder } = T::storing(stored)?;
        let plan = Plan::new(&memory, &seen).map_err(|why| Error::no_conversion_from::<T>(stored, &why))?;
        Ok(Writing { plan, memory, encoder })
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The type of values in memory.
    pub(crate) fn memory(&self) -> &Datatype {
        &self.memory
    }

    /// Values one after the other. Whatever cannot be stored is found out here, before anything changes.
    pub(crate) fn encode<'v>(&self, values: &'v [T]) -> Result<(Cow<'v, [u8]>, Arena)> {
        let mut arena = Arena::default();
        if let Some(plain) = T::bytes_of(values) {
            return Ok((Cow::Borrowed(plain), arena));
        }
        let mut bytes = room(values.len() as u64, self.memory.size())?;
        encode_each(values, &self.encoder, self.memory.size(), &mut bytes, &mut arena)?;
        Ok((Cow::Owned(bytes), arena))
    }
}
