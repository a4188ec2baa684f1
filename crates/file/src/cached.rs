//! Blocks of the file through the metadata cache: their bytes, and what these decode to.

use std::{any::Any, sync::Arc};

use hyperslab_meta::{Home, Shared};

use crate::{
    OpenFile, Result,
    store::{Block, Decoded},
    structure::unpack,
};

/// What a block is, its address and its length.
type Wanted = (&'static str, u64, u64);

impl OpenFile {
    /// The block that begins at `address`, if it is in memory with all that is wanted of it.
    pub(crate) fn changed_block(&self, address: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let Some(store) = &self.store else { return Ok(None) };
        let Some(block) = store.cache.peek::<Block>(address)? else { return Ok(None) };
        let (bytes, length) = (block.bytes()?, usize::try_from(length).unwrap_or(usize::MAX));
        Ok(bytes.get(..length).map(<[u8]>::to_vec))
    }

    fn block(&self, address: u64) -> Result<Option<Shared<Block>>> {
        self.store.as_ref().map_or(Ok(None), |store| Ok(store.cache.peek(address)?))
    }

    /// The bytes from `address` on, at least `length` of them: without a copy if a block that begins there is in memory.
    pub fn view(&self, what: &'static str, address: u64, length: u64) -> Result<Arc<Vec<u8>>> {
        self.view_of(self.block(address)?, (what, address, length))
    }

    /// As [`OpenFile::view`], for a block of just `length` bytes: while the file may be changed, it stays in the metadata cache.
    pub fn view_block(&self, what: &'static str, address: u64, length: u64) -> Result<Arc<Vec<u8>>> {
        self.view_of(self.load(what, address, length)?, (what, address, length))
    }

    fn view_of(&self, block: Option<Shared<Block>>, (what, address, length): Wanted) -> Result<Arc<Vec<u8>>> {
        let bytes = block.map(|block| block.bytes()).transpose()?;
        match bytes.filter(|bytes| bytes.len() as u64 >= length) {
            Some(bytes) => Ok(bytes),
            None => self.metadata(what, address, length).map(Arc::new),
        }
    }

    /// The structure at `address`, of `length` bytes or less, as `decode` understands it. It is kept beside a block in memory until that
    /// changes.
    pub fn decoded<T: Any + Send + Sync>(
        &self,
        what: &'static str,
        address: u64,
        length: u64,
        decode: impl FnOnce(&Arc<Vec<u8>>) -> Result<T>,
    ) -> Result<Arc<T>> {
        match self.known(address)? {
            Some(known) => Ok(known),
            None => self.decoded_of(self.block(address)?, (what, address, length), decode),
        }
    }

    /// What the block at `address` was understood as, if it is in memory.
    fn known<T: Any + Send + Sync>(&self, address: u64) -> Result<Option<Arc<T>>> {
        let Some(store) = &self.store else { return Ok(None) };
        Ok(store.cache.look(address, Block::decoded)?.flatten())
    }

    /// As [`OpenFile::decoded`], for a block of just `length` bytes: while the file may be changed, it stays in the metadata cache.
    pub fn decoded_block<T: Any + Send + Sync>(
        &self,
        what: &'static str,
        address: u64,
        length: u64,
        decode: impl FnOnce(&Arc<Vec<u8>>) -> Result<T>,
    ) -> Result<Arc<T>> {
        match self.known(address)? {
            Some(known) => Ok(known),
            None => self.decoded_of(self.load(what, address, length)?, (what, address, length), decode),
        }
    }

    fn decoded_of<T: Any + Send + Sync>(
        &self,
        block: Option<Shared<Block>>,
        (what, address, length): Wanted,
        decode: impl FnOnce(&Arc<Vec<u8>>) -> Result<T>,
    ) -> Result<Arc<T>> {
        let Some(block) = block else {
            return decode(&Arc::new(self.metadata_up_to(what, address, length)?)).map(Arc::new);
        };
        let bytes = block.bytes()?;
        drop(block);
        let decoded = Arc::new(decode(&bytes)?);
        // Others may have changed it meanwhile.
        if let Some(block) = self.block(address)?.filter(|block| block.has(&bytes)) {
            block.keep(Some(decoded.clone()));
        }
        Ok(decoded)
    }

    /// A block of `length` bytes in the metadata cache, if the file may be changed. One that the end of the file cuts is not kept.
    fn load(&self, what: &'static str, address: u64, length: u64) -> Result<Option<Shared<Block>>> {
        let here = self.block(address)?;
        let Some(store) = self.store.as_ref().filter(|_| here.is_none() && self.check(what, address, length).is_ok())
        else {
            return Ok(here);
        };
        let load = || Ok(Block::new(Arc::new(self.metadata(what, address, length)?)));
        store.cache.get(address, Home::user(0), load).map(Some).map_err(unpack)
    }

    /// What the block at `address` is understood as from now on, as far as that is known: something changed that may not be in the block itself.
    pub(crate) fn keep_decoded(&self, address: u64, understood: Option<Decoded>) -> Result<()> {
        self.block(address)?.into_iter().for_each(|block| block.keep(understood.clone()));
        Ok(())
    }
}
