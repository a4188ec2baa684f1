//! Enums: what the derived code of one asks for.

use std::collections::HashMap;

use hyperslab_dtype::{Class, Datatype};

use super::Recipe;
use crate::{Error, Result};

/// Which variant each stored value is.
#[derive(Debug)]
pub struct Variants {
    by_value: HashMap<Box<[u8]>, usize>,
    wanted: &'static str,
}

impl Variants {
    /// The recipe for an enum whose variants have these names in files. Stored names that no variant has may be there as long
    /// as no value is one of them.
    pub fn recipe<T>(stored: &Datatype, names: &[&str]) -> Result<Recipe<Variants>> {
        let Class::Enum(enumeration) = stored.class() else { return Err(Error::mismatch::<T>(stored)) };
        let mut by_value = HashMap::new();
        for (name, value) in enumeration.members() {
            if let Some(nth) = names.iter().position(|wanted| wanted.as_bytes() == name.as_bytes()) {
                by_value.insert(value.into(), nth);
            }
        }
        Recipe::verbatim(stored, Variants { by_value, wanted: std::any::type_name::<T>() })
    }

    /// The number of the variant that a value is.
    pub fn find(&self, bytes: &[u8]) -> Result<usize> {
        let unknown = || {
            Error::Value(format!(
                "an enumeration's value {bytes:02x?} is no variant of {}; read it as an integer",
                self.wanted
            ))
        };
        self.by_value.get(bytes).copied().ok_or_else(unknown)
    }
}
