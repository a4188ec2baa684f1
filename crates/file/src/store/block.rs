//! Blocks of metadata in memory.

use std::{any::Any, sync::Arc};

use hyperslab_meta::{Entry, Failure};
use parking_lot::Mutex;

/// A block of metadata as it will be in the file, and what it was understood as.
pub(crate) struct Block {
    /// Shared with those who read it.
    pub(crate) bytes: Arc<Vec<u8>>,
    /// Gone when the bytes change.
    decoded: Mutex<Option<Decoded>>,
}

/// A structure in memory, of a type that only its users know.
pub(crate) type Decoded = Arc<dyn Any + Send + Sync>;

impl Block {
    pub(crate) fn new(bytes: Vec<u8>) -> Block {
        Block { bytes: Arc::new(bytes), decoded: Mutex::default() }
    }

    /// What the bytes were understood as, if it is of this type.
    pub(crate) fn decoded<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.decoded.lock().clone()?.downcast().ok()
    }

    /// Keeps what the bytes were understood as.
    pub(crate) fn keep(&self, decoded: Option<Decoded>) {
        *self.decoded.lock() = decoded;
    }

    /// The bytes, to be changed. Whoever reads them keeps what was there.
    pub(crate) fn change(&mut self) -> &mut [u8] {
        *self.decoded.get_mut() = None;
        Arc::make_mut(&mut self.bytes).as_mut_slice()
    }
}

impl Entry for Block {
    fn encode(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.bytes.to_vec())
    }

    fn footprint(&self) -> usize {
        self.bytes.len() + 128 // what the books take
    }
}
