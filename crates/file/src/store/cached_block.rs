//! Blocks of metadata in memory.

use std::{any::Any, sync::Arc};

use hyperslab_meta::{Encoded, Entry, Failure};
use parking_lot::Mutex;

use crate::{Error, Result, Structure};

/// A block of metadata as it will be in the file.
pub(crate) struct CachedBlock {
    form: Form,
}

/// What is in memory of a block.
enum Form {
    /// Its bytes, shared with those who read them, and what they were understood as: that is gone when the bytes change.
    Bytes { bytes: Arc<Vec<u8>>, decoded: Mutex<Option<Decoded>> },
    /// The decoded structure alone. Encoded when it is written, or when its bytes are asked for.
    Structure(Arc<dyn Structure>),
}

/// A structure in memory, of a type that only its users know.
pub(crate) type Decoded = Arc<dyn Any + Send + Sync>;

impl CachedBlock {
    pub(crate) fn new(bytes: Arc<Vec<u8>>) -> CachedBlock {
        CachedBlock { form: Form::Bytes { bytes, decoded: Mutex::default() } }
    }

    /// Bytes with what they were understood as, if that is known.
    pub(crate) fn decoded_as(bytes: Arc<Vec<u8>>, decoded: Option<Decoded>) -> CachedBlock {
        CachedBlock { form: Form::Bytes { bytes, decoded: Mutex::new(decoded) } }
    }

    pub(crate) fn of(structure: Arc<dyn Structure>) -> CachedBlock {
        CachedBlock { form: Form::Structure(structure) }
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> Result<Arc<Vec<u8>>> {
        match &self.form {
            Form::Bytes { bytes, .. } => Ok(bytes.clone()),
            Form::Structure(structure) => structure.encode().map(Arc::new),
        }
    }

    /// Whether these are the bytes, and not others that are equal.
    pub(crate) fn has(&self, others: &Arc<Vec<u8>>) -> bool {
        matches!(&self.form, Form::Bytes { bytes, .. } if Arc::ptr_eq(bytes, others))
    }

    /// The structure, or what the bytes were understood as, if it is of this type.
    pub(crate) fn decoded<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        match &self.form {
            Form::Bytes { decoded, .. } => decoded.lock().clone()?.downcast().ok(),
            Form::Structure(structure) => {
                let structure: Decoded = structure.clone();
                structure.downcast().ok()
            }
        }
    }

    /// Keeps what the bytes were understood as.
    pub(crate) fn keep(&self, understood: Option<Decoded>) {
        if let Form::Bytes { decoded, .. } = &self.form {
            *decoded.lock() = understood;
        }
    }

    /// The bytes, to be changed. A thread that reads them keeps what was there.
    pub(crate) fn change(&mut self) -> Result<&mut [u8]> {
        if let Form::Structure(structure) = &self.form {
            *self = CachedBlock::new(Arc::new(structure.encode()?));
        }
        match &mut self.form {
            Form::Bytes { bytes, decoded } => {
                *decoded.get_mut() = None;
                Ok(Arc::make_mut(bytes).as_mut_slice())
            }
            Form::Structure(_) => Err(Error::broken("metadata cache", 0, "a block without bytes")),
        }
    }

    /// The structure, to be changed, without a copy if no other thread holds it. `decode` makes it of bytes.
    pub(crate) fn change_structure<T: Structure + Clone>(
        &mut self,
        decode: impl FnOnce(&Arc<Vec<u8>>) -> Result<T>,
    ) -> Result<&mut T> {
        if let Some(held) = self.decoded::<T>() {
            // One is in the block, one here.
            if Arc::strong_count(&held) > 2 || !matches!(self.form, Form::Structure(_)) {
                *self = CachedBlock::of(Arc::new((*held).clone()));
            }
        } else {
            *self = CachedBlock::of(Arc::new(decode(&self.bytes()?)?));
        }
        let structure = match &mut self.form {
            Form::Structure(structure) => Arc::get_mut(structure),
            Form::Bytes { .. } => None,
        };
        let structure = structure.and_then(|structure| (structure as &mut dyn Any).downcast_mut());
        structure.ok_or_else(|| Error::broken("metadata cache", 0, "a structure that is held twice"))
    }
}

impl Entry for CachedBlock {
    fn encode(&self) -> Result<Encoded, Failure> {
        Ok(self.bytes()?)
    }

    fn footprint(&self) -> usize {
        let value = match &self.form {
            Form::Bytes { bytes, .. } => bytes.len(),
            Form::Structure(structure) => structure.footprint(),
        };
        value + 128 // what the tables of the cache take
    }
}
