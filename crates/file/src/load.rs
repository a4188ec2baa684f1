//! The one door for metadata: blocks are read, verified, decoded and kept here.

use std::{cell::Cell, sync::Arc};

use hyperslab_base::{Defect, Fault, Malformed, memory};
use hyperslab_meta::Membership;

use crate::{
    Block, Error, Extent, OpenFile, Owned, Result, Structure,
    store::{CachedBlock, Decoded, Store},
    torn,
};

/// The front of a block that tells its own length is read to the stack if it has no more bytes, so that memory is taken once, for all of the block.
const FRONT: usize = 512;

/// Bytes that the metadata cache shares with those who read them.
type Bytes = Arc<Vec<u8>>;

impl Owned<'_> {
    /// The block at `address`, verified and decoded. While the file may be changed, it stays in the metadata cache.
    pub fn load<B: Block>(&self, block: &B, address: u64) -> Result<Arc<B::Value>> {
        let Some(store) = &self.store else { return self.read(block, address, |_, value| Arc::new(value)) };
        if B::IS_CHEAP {
            return self.load_missing(store, block, address);
        }
        match store.cache.look(address, self.owner, CachedBlock::decoded::<B::Value>)?.flatten() {
            Some(known) if block.fits(&known) => Ok(known),
            Some(_) => self.load_once(block, address).map(Arc::new),
            None => self.load_missing(store, block, address),
        }
    }

    /// Changes the block at `address` in place.
    pub fn change<B: Block, R>(
        &self,
        block: &B,
        address: u64,
        change: impl FnOnce(&mut B::Value) -> Result<R>,
    ) -> Result<R>
    where
        B::Value: Structure + Clone,
    {
        let store = self.store()?;
        let load = || Ok(CachedBlock::of(self.read(block, address, |_, value| Arc::new(value))?));
        let mut cached = store.cache.get_mut(address, Membership::user(self.owner), load).map_err(unpack)?;
        store.touch();
        change(cached.change_structure(|bytes| block.decode(self, address, bytes))?)
    }

    fn load_missing<B: Block>(&self, store: &Store, block: &B, address: u64) -> Result<Arc<B::Value>> {
        if let Some((own, all)) = self.cached_bytes(block, address)? {
            let value = Arc::new(block.decode(self, address, &own)?);
            if B::IS_CHEAP {
                return Ok(value);
            }
            // Another thread may have changed it meanwhile.
            if let Some(cached) = self.cached(address)?.filter(|cached| cached.has(&all)) {
                cached.keep(Some(value.clone()));
            }
            return Ok(value);
        }
        if let Extent::UpTo(length) = block.extent(self)
            && self.check(B::WHAT, address, length).is_err()
        {
            // The end of the file cuts it: the cache has whole blocks only.
            return self.load_once(block, address).map(Arc::new);
        }
        let load = || {
            let (bytes, value) = self.read(block, address, |bytes, value| (bytes, Arc::new(value)))?;
            Ok(match B::structure(&value) {
                Some(structure) => CachedBlock::of(structure),
                None => {
                    let cached = CachedBlock::new(bytes);
                    cached.keep(Some(value));
                    cached
                }
            })
        };
        let cached = store.cache.get(address, Membership::user(self.owner), load).map_err(unpack)?;
        match cached.decoded().filter(|value| block.fits(value)) {
            Some(value) => Ok(value),
            None => {
                drop(cached);
                self.load_once(block, address).map(Arc::new)
            }
        }
    }
}

impl OpenFile {
    /// As [`OpenFile::load`], of a block that its reader keeps, or wants once.
    pub fn load_once<B: Block>(&self, block: &B, address: u64) -> Result<B::Value> {
        match self.cached_bytes(block, address)? {
            Some((own, _)) => block.decode(self, address, &own),
            None => self.read(block, address, |_, value| value),
        }
    }

    /// The block at `address` in the metadata cache, if it is there.
    pub(crate) fn cached(&self, address: u64) -> Result<Option<hyperslab_meta::Shared<CachedBlock>>> {
        self.store.as_ref().map_or(Ok(None), |store| Ok(store.cache.peek(address)?))
    }

    /// The bytes of a block that is in memory, if all of them are, and the bytes that the cache has there.
    fn cached_bytes<B: Block>(&self, block: &B, address: u64) -> Result<Option<(Bytes, Bytes)>> {
        let Some(cached) = self.cached(address)? else { return Ok(None) };
        let all = cached.bytes()?;
        drop(cached);
        let length = match block.extent(self) {
            Extent::Exact(length) => length,
            Extent::UpTo(length) => length.min(all.len() as u64),
            Extent::Told(_) => block.length(self, address, &all).map_err(Error::at(address))?,
        };
        let own = match usize::try_from(length).ok().and_then(|length| all.get(..length)) {
            Some(own) if own.len() < all.len() => Arc::new(own.to_vec()),
            Some(_) => all.clone(),
            None => return Ok(None),
        };
        Ok(Some((own, all)))
    }

    /// Reads a block from the storage, again if another process may have been writing it. The result is what `keep` makes of bytes and value: values may be large, and are
    /// moved no more than they must.
    fn read<B: Block, T>(&self, block: &B, address: u64, keep: impl Fn(Arc<Vec<u8>>, B::Value) -> T) -> Result<T> {
        let (length, is_torn) = (Cell::new(0), Cell::new(false));
        let read = || {
            let bytes = Arc::new(self.read_bytes(block, address, (&length, &is_torn))?);
            let value = block.decode(self, address, &bytes)?;
            torn::check_noticed(is_torn.get(), B::WHAT, address)?;
            Ok(keep(bytes, value))
        };
        self.retry.run(address, read, || self.forget_pages(address, length.get()))
    }

    /// The bytes of a block; `length` is how many were read, also if they turn out to be too few, and `is_torn` whether they were torn.
    fn read_bytes<B: Block>(
        &self,
        block: &B,
        address: u64,
        (length, is_torn): (&Cell<u64>, &Cell<bool>),
    ) -> Result<Vec<u8>> {
        let tear = |bytes: &mut [u8]| is_torn.set(torn::tear(block.seal(bytes), bytes));
        let read = |wanted: u64| {
            length.set(wanted);
            let mut bytes = self.stored_metadata(B::WHAT, address, wanted)?;
            tear(&mut bytes);
            Ok(bytes)
        };
        let there = |wanted: u64| match self.end().saturating_sub(address).min(wanted) {
            0 => wanted,
            there => there,
        };
        match block.extent(self) {
            Extent::Exact(wanted) => read(wanted),
            Extent::UpTo(wanted) => read(there(wanted)),
            Extent::Told(first) => {
                let first = there(first);
                let (mut stack, mut heap) = ([0; FRONT], Vec::new());
                let front = match usize::try_from(first).ok().and_then(|first| stack.get_mut(..first)) {
                    Some(front) => {
                        length.set(first);
                        self.read_metadata(B::WHAT, address, front)?;
                        tear(front);
                        &*front
                    }
                    None => {
                        heap = read(first)?;
                        &heap
                    }
                };
                let whole = block.length(self, address, front).map_err(Error::at(address))?;
                if whole == heap.len() as u64 {
                    return Ok(heap);
                }
                match usize::try_from(whole).ok().and_then(|whole| front.get(..whole)) {
                    Some(bytes) => {
                        memory::copied(bytes).map_err(|_| Error::Memory { what: B::WHAT, address, length: whole })
                    }
                    None if self.check(B::WHAT, address, whole).is_ok() => read(whole),
                    None => Err(self.too_long::<B>(address, whole)),
                }
            }
        }
    }

    /// The error of a block that says of itself that it has `length` bytes.
    fn too_long<B: Block>(&self, address: u64, length: u64) -> Error {
        let why = format!("its {length} bytes reach over the end of the file at {:#x}", self.end());
        Error::Malformed { address, source: Malformed::new(Defect { what: B::WHAT, at: 0, fault: Fault::Length, why }) }
    }

    /// What the block at `address` is understood as from now on, as far as that is known: something changed that may not be in the block itself.
    pub(crate) fn keep_decoded(&self, address: u64, understood: Option<Decoded>) -> Result<()> {
        self.cached(address)?.into_iter().for_each(|cached| cached.keep(understood.clone()));
        Ok(())
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
