//! Truth values. Only 0 and 1 are: other bytes never become a `bool`.

use hyperslab_dtype::{Class, Datatype};

use super::{Element, Recipe};
use crate::{Error, Result, Sequences};

impl Element for bool {
    type Decoder = ();

    fn recipe(stored: &Datatype) -> Result<Recipe<()>> {
        match stored.class() {
            Class::Enum(_) | Class::Fixed(_) | Class::Bitfield(_) => u8::recipe(stored),
            _ => Err(Error::mismatch::<bool>(stored)),
        }
    }

    fn decode((): &(), bytes: &[u8], _: &Sequences<'_>) -> Result<bool> {
        match bytes {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Error::Value(format!("{bytes:?} is neither 0 (false) nor 1 (true); read it as u8"))),
        }
    }
}
