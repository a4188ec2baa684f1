//! Structs: what the derived code of one asks for, field by field.

use hyperslab_dtype::{Class, Datatype, Target};

use super::{Storable, Storing};
use crate::{Error, Result};

/// The members of a stored compound that a struct has fields for.
#[derive(Debug)]
pub struct StoredFields<'a> {
    stored: &'a Datatype,
    given: &'static str,
    from: Vec<(&'static str, u32, Datatype)>,
    to: Vec<(&'static str, u32, Datatype)>,
    /// Bytes of the fields so far.
    size: usize,
}

/// Where the bytes of a field go in an encoded value, and how it is encoded.
#[derive(Debug)]
pub struct StoredField<E> {
    start: usize,
    end: usize,
    encoder: E,
}

impl<'a> StoredFields<'a> {
    /// The fields of the struct `given`; an error if values are no compound.
    pub fn of<T>(stored: &'a Datatype) -> Result<StoredFields<'a>> {
        let given = std::any::type_name::<T>();
        match stored.class() {
            Class::Compound(_) => Ok(StoredFields { stored, given, from: Vec::new(), to: Vec::new(), size: 0 }),
            _ => Err(Error::not_from::<T>(stored)),
        }
    }

    /// A field that must have a member.
    pub fn field<T: Storable>(&mut self, name: &'static str) -> Result<StoredField<T::Encoder>> {
        let missing = || Error::Unstorable {
            stored: self.stored.to_string(),
            given: self.given.into(),
            why: format!("it has no member {name:?}; rename the field or give it a default"),
        };
        let missing = missing();
        self.field_if_there::<T>(name)?.ok_or(missing)
    }

    /// A field that is left out if there is no member for it.
    pub fn field_if_there<T: Storable>(&mut self, name: &'static str) -> Result<Option<StoredField<T::Encoder>>> {
        let Some(member) = self.stored.member(name) else { return Ok(None) };
        let Storing { memory, stored, encoder } = T::storing(&member.datatype).map_err(|why| self.within(name, why))?;
        let (start, end) = (self.size, self.size + memory.size());
        self.from.push((name, start as u32, memory));
        self.to.push((name, member.offset, stored));
        self.size = end;
        Ok(Some(StoredField { start, end, encoder }))
    }

    fn within(&self, name: &str, why: Error) -> Error {
        match why {
            Error::Unstorable { stored, given, why } => {
                Error::Unstorable { stored, given: format!("field {name} of {}, a {given}", self.given), why }
            }
            other => other,
        }
    }

    /// How a struct with these fields is stored.
    pub fn storing<E>(self, encoder: E) -> Result<Storing<E>> {
        if self.to.is_empty() {
            return Storing::verbatim(self.stored, encoder);
        }
        let stored = Datatype::compound_at(self.stored.size() as u32, self.to)?;
        Ok(Storing { memory: Datatype::compound_at(self.size as u32, self.from)?, stored, encoder })
    }

    /// A field that is plain bytes, at an offset in the struct.
    pub fn field_at<T: Storable>(&mut self, name: &'static str, offset: usize) -> Result<()> {
        self.field::<T>(name)?;
        if let Some((_, place, _)) = self.from.last_mut() {
            *place = offset as u32;
        }
        Ok(())
    }

    /// How a struct is stored whose fields lie as in memory.
    pub fn storing_in_place<T>(mut self) -> Result<Storing<()>> {
        self.size = size_of::<T>();
        self.storing(())
    }
}

impl<E> StoredField<E> {
    /// Writes the field of a value.
    pub fn encode<T: Storable<Encoder = E>>(&self, value: &T, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        value.encode(&self.encoder, bytes.get_mut(self.start..self.end).unwrap_or_default(), heap)
    }
}
