//! Structs: what the derived code of one asks for, field by field.

use hyperslab_dtype::{Class, Datatype};

use super::{Element, Recipe};
use crate::{Error, Result, Sequences};

/// The members of a stored compound that a struct has fields for.
#[derive(Debug)]
pub struct Fields<'a> {
    stored: &'a Datatype,
    wanted: &'static str,
    from: Vec<(&'static str, u32, Datatype)>,
    to: Vec<(&'static str, u32, Datatype)>,
    /// Bytes of the fields so far.
    size: usize,
}

/// Where the bytes of a field are in a converted value, and how they are decoded.
#[derive(Debug)]
pub struct Field<D> {
    start: usize,
    end: usize,
    decoder: D,
}

impl<'a> Fields<'a> {
    /// The fields of the struct `wanted`; an error if values are no compound.
    pub fn of<T>(stored: &'a Datatype) -> Result<Fields<'a>> {
        let wanted = std::any::type_name::<T>();
        match stored.class() {
            Class::Compound(_) => Ok(Fields { stored, wanted, from: Vec::new(), to: Vec::new(), size: 0 }),
            _ => Err(Error::mismatch::<T>(stored)),
        }
    }

    /// A field that must be there.
    pub fn field<T: Element>(&mut self, name: &'static str) -> Result<Field<T::Decoder>> {
        let missing = || {
            let Class::Compound(compound) = self.stored.class() else { return String::new() };
            let names: Vec<_> = compound.members().iter().map(|member| member.name.to_string()).collect();
            format!("it has no member {name:?}, only {}; rename the field or give it a default", names.join(", "))
        };
        match self.field_if_there::<T>(name)? {
            Some(field) => Ok(field),
            None => {
                Err(Error::Mismatch { stored: self.stored.to_string(), wanted: self.wanted.into(), why: missing() })
            }
        }
    }

    /// A field that may be missing.
    pub fn field_if_there<T: Element>(&mut self, name: &'static str) -> Result<Option<Field<T::Decoder>>> {
        let Some(member) = self.stored.member(name) else { return Ok(None) };
        let Recipe { stored, memory, decoder } = T::recipe(&member.datatype).map_err(|why| self.within(name, why))?;
        let (start, end) = (self.size, self.size + memory.size());
        self.from.push((name, member.offset, stored));
        self.to.push((name, start as u32, memory));
        self.size = end;
        Ok(Some(Field { start, end, decoder }))
    }

    fn within(&self, name: &str, why: Error) -> Error {
        match why {
            Error::Mismatch { stored, wanted, why } => {
                Error::Mismatch { stored, wanted: format!("field {name} of {}, a {wanted}", self.wanted), why }
            }
            other => other,
        }
    }

    /// The recipe for a struct with these fields.
    pub fn recipe<D>(self, decoder: D) -> Result<Recipe<D>> {
        if self.to.is_empty() {
            return Recipe::verbatim(self.stored, decoder);
        }
        let stored = Datatype::compound_at(self.stored.size() as u32, self.from)?;
        Ok(Recipe { stored, memory: Datatype::compound_at(self.size as u32, self.to)?, decoder })
    }

    /// A field that is plain bytes, at an offset in the struct.
    pub fn field_at<T: Element>(&mut self, name: &'static str, offset: usize) -> Result<()> {
        self.field::<T>(name)?;
        if let Some((_, place, _)) = self.to.last_mut() {
            *place = offset as u32;
        }
        Ok(())
    }

    /// The recipe for a struct whose fields lie as in memory.
    pub fn recipe_in_place<T>(mut self) -> Result<Recipe<()>> {
        self.size = size_of::<T>();
        self.recipe(())
    }
}

impl<D> Field<D> {
    /// The field of a converted value.
    pub fn decode<T: Element<Decoder = D>>(&self, bytes: &[u8], sequences: &Sequences<'_>) -> Result<T> {
        T::decode(&self.decoder, bytes.get(self.start..self.end).unwrap_or_default(), sequences)
    }

    /// The references of the field.
    pub fn references<T: Element<Decoder = D>>(&self, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        T::references(&self.decoder, bytes.get(self.start..self.end).unwrap_or_default(), visit);
    }
}
