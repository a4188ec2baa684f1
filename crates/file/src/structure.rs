//! Blocks that are in memory as decoded structures, and are encoded when they are written.
//!
//! A structure that changes many times between two flushes is encoded and gets its checksum once. The order in which blocks are written does not
//! depend on which form they have in memory.

use std::{any::Any, sync::Arc};

use hyperslab_meta::Home;

use crate::{Error, OpenFile, Result, store::Block};

/// A block as a value.
pub trait Structure: Any + Send + Sync {
    /// The bytes of the block, all of them.
    fn encode(&self) -> Result<Vec<u8>>;

    /// About how many bytes of memory the value takes.
    fn footprint(&self) -> usize;
}

impl OpenFile {
    /// The structure at `address`, of `length` bytes or less, as `decode` understands it. While the file may be changed, it stays in the metadata
    /// cache.
    pub fn structure<T: Structure>(
        &self,
        what: &'static str,
        address: u64,
        length: u64,
        decode: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<Arc<T>> {
        let read = || decode(&self.metadata_up_to(what, address, length)?);
        let Some(store) = &self.store else { return read().map(Arc::new) };
        if let Some(structure) = store.cache.look(address, Block::decoded)?.flatten() {
            return Ok(structure);
        }
        let block = store.cache.get(address, Home::user(0), || Ok(Block::of(Arc::new(read()?)))).map_err(unpack)?;
        match block.decoded() {
            Some(structure) => Ok(structure),
            None => {
                drop(block);
                self.decoded(what, address, length, |bytes| decode(bytes))
            }
        }
    }

    /// The structure at `address` from now on: a new one, or a changed one.
    pub fn put_structure(&self, address: u64, structure: Arc<dyn Structure>) -> Result<()> {
        self.put_block(address, Block::of(structure))
    }

    /// Changes the structure of `length` bytes at `address` in place.
    pub fn change_structure<T: Structure + Clone, R>(
        &self,
        what: &'static str,
        (address, length): (u64, u64),
        decode: impl Fn(&[u8]) -> Result<T>,
        change: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let store = self.store()?;
        let load = || Ok(Block::of(Arc::new(decode(&self.metadata_up_to(what, address, length)?)?)));
        let mut block = store.cache.get_mut(address, Home::user(0), load).map_err(unpack)?;
        store.touch();
        change(block.change_structure(decode)?)
    }
}

/// The error of a load as it was before it went through the cache.
pub(crate) fn unpack(why: hyperslab_meta::Error) -> Error {
    match why {
        hyperslab_meta::Error::Load(why) => match why.downcast() {
            Ok(why) => why,
            Err(why) => hyperslab_meta::Error::Load(why).into(),
        },
        why => why.into(),
    }
}
