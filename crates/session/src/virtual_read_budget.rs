//! How far a read or an opening has come below virtual datasets.

use std::{cell::Cell, rc::Rc, sync::Arc};

use hyperslab_base::{AnyError, ErrorKind};

use crate::{Error, Result, renewal::Renewal};

/// Virtual datasets above one another before they are called endless.
const MAX_DEPTH: u8 = 16;
/// Sources of sources that one request visits before it is called endless: mappings can multiply at each depth.
const MAX_VISITS: u32 = 1 << 20;
/// How often one request takes its own size from sources before it is called endless, for the same reason.
const MAX_TAKEN: u128 = 16;
/// What a request may take of sources however small it is, in bytes.
const ALWAYS: u128 = 64 << 20;

/// Where a request is. One that a caller makes is at the top.
#[derive(Clone, Default)]
pub(crate) struct VirtualReadBudget {
    depth: u8,
    visits: Rc<Cell<u32>>,
    /// Bytes that may still be taken, once a virtual dataset was asked.
    left: Rc<Cell<Option<u128>>>,
    /// If sources are to be read as their files have them now.
    pub(crate) renewal: Option<Arc<Renewal>>,
}

impl VirtualReadBudget {
    /// A request that reads all sources anew.
    pub(crate) fn renewing() -> VirtualReadBudget {
        VirtualReadBudget { renewal: Some(Arc::default()), ..VirtualReadBudget::default() }
    }

    /// A virtual dataset is asked for so many bytes.
    pub(crate) fn ask(&self, bytes: u128) {
        if self.left.get().is_none() {
            self.left.set(Some(bytes.saturating_mul(MAX_TAKEN).max(ALWAYS)));
        }
    }

    /// So many bytes are taken from a source.
    pub(crate) fn take(&self, bytes: u128) -> Result<()> {
        let Some(left) = self.left.get() else { return Ok(()) };
        let why = || format!("its sources overlap: more than {MAX_TAKEN} times the values that are read");
        self.left.set(Some(left.checked_sub(bytes).ok_or_else(|| endless(why()))?));
        Ok(())
    }

    /// One source deeper.
    pub(crate) fn below(&self) -> Result<VirtualReadBudget> {
        if self.depth == MAX_DEPTH {
            return Err(endless(format!("more than {MAX_DEPTH} virtual datasets stand above one another")));
        }
        if self.depth > 0 {
            self.visits.set(self.visits.get() + 1);
            if self.visits.get() > MAX_VISITS {
                return Err(endless(format!("virtual datasets lead to one another more than {MAX_VISITS} times")));
            }
        }
        Ok(VirtualReadBudget { depth: self.depth + 1, ..self.clone() })
    }
}

fn endless(why: String) -> Error {
    Error::Values(hyperslab_chunk::Error::SourceFailed(AnyError::new(ErrorKind::LinkLoop, why)))
}
