//! How far a read or an opening has come below virtual datasets.

use std::{cell::Cell, rc::Rc};

use crate::{Error, Result};

/// Virtual datasets above one another before they are called endless.
const MAX_DEPTH: u8 = 16;
/// Sources of sources that one request visits before it is called endless: mappings can multiply at each depth.
const MAX_VISITS: u32 = 1 << 20;

/// Where a request is. One that a caller makes is at the top.
#[derive(Clone, Default)]
pub(crate) struct Trip {
    depth: u8,
    visits: Rc<Cell<u32>>,
}

impl Trip {
    /// One source deeper.
    pub(crate) fn below(&self) -> Result<Trip> {
        let endless = |why: String| Error::Values(hyperslab_chunk::Error::Source(why));
        if self.depth == MAX_DEPTH {
            return Err(endless(format!("more than {MAX_DEPTH} virtual datasets stand above one another")));
        }
        if self.depth > 0 {
            self.visits.set(self.visits.get() + 1);
            if self.visits.get() > MAX_VISITS {
                return Err(endless(format!("virtual datasets lead to one another more than {MAX_VISITS} times")));
            }
        }
        Ok(Trip { depth: self.depth + 1, visits: self.visits.clone() })
    }
}
