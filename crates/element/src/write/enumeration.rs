//! Enums: what the derived code of one asks for.

use hyperslab_dtype::{Class, Datatype, Order};

use super::{Storing, number::put};
use crate::{Error, Result};

/// The stored value of each variant.
#[derive(Debug)]
pub struct StoredVariants {
    values: Vec<Option<Box<[u8]>>>,
    names: &'static [&'static str],
    given: &'static str,
}

impl StoredVariants {
    /// The type of an enum with these names and numbers: over the smallest integer that holds all.
    pub fn datatype(names: &[&str], numbers: &[i128]) -> Result<Datatype> {
        let (least, most) =
            numbers.iter().fold((0, 0), |(least, most): (i128, i128), &number| (least.min(number), most.max(number)));
        let signed = least < 0;
        let fits = |size: &u32| {
            let bits = 8 * size - u32::from(signed);
            most < 1 << bits && least >= -(1 << bits)
        };
        let size = [1u32, 2, 4, 8].into_iter().find(fits).unwrap_or(16);
        let base = Datatype::integer(size, signed, Order::Little)?;
        Ok(Datatype::enumeration(base, names.iter().zip(numbers.iter().copied()))?)
    }

    /// How an enum is stored whose variants have these names in files. Variants that the stored type does not name may be there as
    /// long as no value is one of them.
    pub fn storing<T>(stored: &Datatype, names: &'static [&'static str]) -> Result<Storing<StoredVariants>> {
        let Class::Enum(enumeration) = stored.class() else { return Err(Error::not_from::<T>(stored)) };
        let value = |name: &&str| {
            let mut members = enumeration.members();
            members.find(|(known, _)| known.as_bytes() == name.as_bytes()).map(|(_, value)| value.into())
        };
        let values = names.iter().map(value).collect();
        Storing::verbatim(stored, StoredVariants { values, names, given: std::any::type_name::<T>() })
    }

    /// Writes the variant with this number.
    pub fn encode(&self, nth: usize, bytes: &mut [u8]) -> Result<()> {
        let unknown = || {
            let name = self.names.get(nth).copied().unwrap_or_default();
            Error::Value(format!("the stored enumeration has no value {name:?}, as {} has", self.given))
        };
        put(bytes, self.values.get(nth).and_then(Option::as_ref).ok_or_else(unknown)?);
        Ok(())
    }
}
