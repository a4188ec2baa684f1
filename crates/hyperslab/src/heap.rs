//! Variable-length values of a file: references followed, collections read once.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hyperslab_dtype::{HeapReference, Sequence, Source};
use hyperslab_structures::Collection;

use crate::{File, Result};

/// The global heap of a file. Collections stay in memory as long as this lives, up to a limit.
pub struct Heap<'a> {
    file: &'a File,
    collections: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    collections: HashMap<u64, Arc<Collection>>,
    bytes: usize,
}

/// More bytes of collections than this are not kept.
const MOST: usize = 64 << 20;

impl<'a> Heap<'a> {
    pub(crate) fn new(file: &'a File) -> Heap<'a> {
        Heap { file, collections: Mutex::default() }
    }

    /// The file that it belongs to.
    pub fn file(&self) -> &'a File {
        self.file
    }

    /// An object of the heap.
    pub fn object(&self, address: u64, index: u32) -> Result<Vec<u8>> {
        Ok(self.collection(address)?.get(index)?.to_vec())
    }

    fn collection(&self, address: u64) -> Result<Arc<Collection>> {
        let lock = || self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().collections.get(&address) {
            return Ok(known.clone());
        }
        let read = Arc::new(Collection::read(self.file.inner.context.file(), address)?);
        let mut kept = lock();
        if kept.bytes > MOST {
            *kept = Kept::default();
        }
        kept.bytes += read.size();
        kept.collections.insert(address, read.clone());
        Ok(read)
    }
}

impl Source for Heap<'_> {
    fn sequence(&self, reference: &[u8], size: usize) -> hyperslab_dtype::Result<Option<Sequence<'_>>> {
        let reference = HeapReference::decode(reference)?;
        if reference.is_null() || reference.count == 0 {
            return Ok(None);
        }
        let object = self.object(reference.address, reference.index);
        let bytes = object.map_err(|why| hyperslab_dtype::Error::Sequence(why.to_string()))?;
        let count = reference.count as usize;
        if bytes.len() < count.saturating_mul(size) {
            let why = format!("{count} elements of {size} bytes where the heap has {} bytes", bytes.len());
            return Err(hyperslab_dtype::Error::Sequence(why));
        }
        Ok(Some(Sequence { count, bytes: Cow::Owned(bytes) }))
    }
}
